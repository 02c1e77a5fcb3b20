"""Blueprints of files: `blueprints.build` reads a recipe, has its image built, and records the blueprint."""

from __future__ import annotations

import asyncio
import json
import os
import re
import secrets as random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from harena.core.blueprint_recipes import (
    MOST_RECIPE_BYTES,
    BlueprintRecipe,
    RecipeFile,
    check_lock,
    check_npm_lock,
    contents_of,
    dockerfile_of,
    fault_in_words,
    read_recipe,
)
from harena.core.errors import ImageBuildError, NotFoundError, ValidationError
from harena.core.ports import Operations
from harena.core.records.blueprints import DEFAULT_BLUEPRINT, MOST_LOG_CHARACTERS, MOST_RECIPE_CHARACTERS, Blueprint
from harena.core.records.image_builds import BuildRequest, ImageBuildEvent
from harena.core.records.sandboxes import NO_LIMITS_SAID
from harena.core.snapshots import SCHEME
from harena.sdk.images import wait_for_build
from harena.sdk.portal import current_portal
from harena.sdk.yaml_files import YamlError, read_yaml_file

REPOSITORY = "localhost/harena-blueprints"
"""the images of blueprints have tags of this repository, one for each build"""
_KEPT = 4096
"""characters of what a command says that are kept for an error"""
_CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|[\0-\x08\x0b-\x1f\x7f\ud800-\udfff]")
"""what terminals are told, which a kept log is without"""
OnEvent = Callable[[ImageBuildEvent], object]


class _BuildOutput:
    """Hands events on, and keeps the end of what the command of the last step has said, and of what all have."""

    def __init__(self, on_event: OnEvent | None) -> None:
        self.text = ""
        self.log = ""
        self._on_event = on_event

    def __call__(self, event: ImageBuildEvent) -> None:
        if event.kind == "step":
            self.text = ""
            self._add(f"{event.text}\n")
        elif event.kind == "output":
            self.text = (self.text + event.text)[-_KEPT:]
            self._add(event.text)
        if self._on_event is not None:
            self._on_event(event)

    def _add(self, text: str) -> None:
        self.log += _CONTROL.sub("", text)
        if len(self.log) > 2 * MOST_LOG_CHARACTERS:  # not copied for each event
            self.log = self.end

    @property
    def end(self) -> str:
        """The end of the log, as it is kept."""
        return self.log[-MOST_LOG_CHARACTERS:]


def _kept_recipe(given: object) -> str:
    """The recipe as it is kept with its blueprint; empty where it is too long for that."""
    text = json.dumps(given, indent=1, default=str)
    return text if len(text) <= MOST_RECIPE_CHARACTERS else ""


async def build_recipe(
    recipe: str | os.PathLike[str] | Mapping[str, Any],
    *,
    context: str | os.PathLike[str] | None,
    options: BuildRequest,
    on_event: OnEvent | None,
) -> Blueprint:
    """Build the recipe's image on the node, if it needs one, and create the blueprint. `options` is the build's request
    as far as the caller says it; what the recipe says takes the place of the rest. `blueprints.build` describes the
    other parameters. Raises ValidationError, ImageBuildError, NotFoundError."""
    place = Path(context) if context is not None else Path() if isinstance(recipe, Mapping) else Path(recipe).parent
    written = recipe if isinstance(recipe, Mapping) else await asyncio.to_thread(_read, Path(recipe))
    asked = read_recipe(written)
    if missing := [name for name in asked.build_secrets if name not in options.secrets]:
        raise ValidationError(f"build.secrets: {missing[0]} has no value; give one, as --secret {missing[0]}=FILE")
    await asyncio.to_thread(_check_files, asked, place)
    operations = await current_portal().operations()
    if not asked.needs_build:
        return await operations.create_blueprint(
            asked.name,
            packages=asked.pip,
            files={path: await asyncio.to_thread(_content, place, file) for path, file in asked.files.items()},
            env=asked.env,
            warm=asked.warm,
            network=asked.network,
            gateways=asked.gateways,
            daemons=asked.daemons,
            limits=asked.limits,
            recipe=_kept_recipe(written),
        )
    base, env, files = await _base(operations, asked, on_event)
    whole = replace(asked, files={**files, **asked.files})
    request = replace(
        options,
        dockerfile=dockerfile_of(whole, base, env=env),
        references=[reference_of(asked.name)],
        secrets={name: options.secrets[name] for name in asked.build_secrets},
        network=asked.build_network,
    )
    from harena.sdk.build_contexts import packed_context  # not for those who build nothing

    sent = packed_context(place, request, None, only=_sources(asked), more=contents_of(whole))
    said = _BuildOutput(on_event)
    try:
        made = await wait_for_build(sent, place, said)
    except ImageBuildError as error:
        words = fault_in_words(str(error), said.text, whole, env)
        raise ImageBuildError(words, reason=error.reason) from None
    image = made.image or ""
    if (same := await _newest(operations, asked, image)) is not None:
        for reference in request.references:
            await operations.remove_image(reference)
        return same
    return await operations.create_blueprint(
        asked.name,
        image=image,
        profile=asked.profile,
        network=asked.network,
        gateways=asked.gateways,
        daemons=asked.daemons,
        limits=asked.limits,
        recipe=_kept_recipe(written),
        log=said.end,
    )


async def exported_image(name_or_id: str) -> str:
    """The image that a blueprint's sandboxes begin with, its files and variables included, by its digest. Raises
    NotFoundError, ValidationError."""
    operations = await current_portal().operations()
    blueprint = await operations.get_blueprint(name_or_id)
    if blueprint.image == "default":
        raise ValidationError(
            f"blueprint {blueprint.name!r} is of this machine's own /usr, which is no image: make one of an image "
            "(base: in blueprint.yaml) to export it"
        )
    if not blueprint.files and not blueprint.env:
        return blueprint.image
    recipe = BlueprintRecipe(name=blueprint.name, base_kind="blueprint", base=blueprint.id)
    base, env, files = await _base(operations, recipe)
    recipe = replace(recipe, files=files)
    from harena.sdk.build_contexts import packed_context

    request = BuildRequest(
        dockerfile=dockerfile_of(recipe, base, env=env),
        references=[reference_of(recipe.name)],
    )
    made = await wait_for_build(packed_context(Path(), request, None, only=[], more=contents_of(recipe)), Path(), None)
    return made.image or ""


async def _base(
    operations: Operations, recipe: BlueprintRecipe, on_event: OnEvent | None = None
) -> tuple[str, Mapping[str, str], Mapping[str, RecipeFile]]:
    """(the image that it begins with, variables and files that its blueprint adds)."""
    if recipe.base_kind == "image":
        return recipe.base, {}, {}
    if recipe.base_kind == "snapshot":
        return f"{SCHEME}{recipe.base}", {}, {}
    blueprint = await operations.get_blueprint(recipe.base)
    if blueprint.image == "default":
        raise ValidationError(
            f"base: blueprint {recipe.base!r} is of this machine's own /usr, into which nothing is built; name one of "
            "an image"
        )
    if on_event is not None and (left := not_taken_over(recipe, blueprint)):
        on_event(ImageBuildEvent(cursor=0, kind="output", build=None, text=f"{left}\n"))
    files = {
        path: RecipeFile(content=content) for path, content in (await asyncio.to_thread(dict, blueprint.files)).items()
    }
    return blueprint.image, blueprint.env, files


def not_taken_over(recipe: BlueprintRecipe, base: Blueprint) -> str:
    """What the base's sandboxes have and those of the recipe will not, in words; empty = nothing. An image holds files
    only."""
    lacking = [
        *([f"profile {base.profile}"] if base.profile != recipe.profile == "strict" else []),
        *(["network"] if base.network.is_on and not recipe.network.is_on else []),
        *(
            [f"gateways {', '.join(each.name for each in base.gateways)}"]
            if base.gateways and not recipe.gateways
            else []
        ),
        *(["limits"] if base.limits != NO_LIMITS_SAID == recipe.limits else []),
        *([f"daemons {', '.join(each.name for each in base.daemons)}"] if base.daemons and not recipe.daemons else []),
    ]
    if not lacking:
        return ""
    told = "; ".join(lacking)
    return f"base {base.name}: only its image is taken over, and not its {told}: say in the recipe what it is to have"


def reference_of(name: str) -> str:
    """A new reference for the image of a build of this blueprint."""
    return f"{REPOSITORY}:{name}-{random.token_hex(8)}"


def is_reference_of(name: str, reference: str) -> bool:
    """An image has this reference because a build of this blueprint made it."""
    return re.fullmatch(rf"{re.escape(f'{REPOSITORY}:{name}')}-[0-9a-f]{{16}}", reference) is not None


async def _newest(operations: Operations, recipe: BlueprintRecipe, image: str) -> Blueprint | None:
    """The newest version of the name, where it is what the recipe says."""
    try:
        newest = await operations.get_blueprint(recipe.name)
    except NotFoundError:
        return None
    is_same = (newest.image, newest.profile, newest.network, newest.gateways, newest.daemons, newest.limits) == (
        *(image, recipe.profile, recipe.network, recipe.gateways, recipe.daemons, recipe.limits),
    )
    return newest if is_same and not newest.files and not newest.env and newest.name != DEFAULT_BLUEPRINT else None


def _sources(recipe: BlueprintRecipe) -> Sequence[str]:
    """What of the context the build needs."""
    found = [file.source for file in recipe.files.values() if file.content is None]
    if recipe.pip_lock:
        found.append(recipe.pip_lock)
    if recipe.npm_lock:
        found += [recipe.npm_lock, _beside(recipe.npm_lock)]
    return found


def _beside(npm_lock: str) -> str:
    folder, slash, _ = npm_lock.rpartition("/")
    return f"{folder}{slash}package.json"


def _check_files(recipe: BlueprintRecipe, place: Path) -> None:
    """What is copied is there, and locks are locks, before anything is sent."""
    for source in _sources(recipe):
        if not os.path.lexists(place / source):
            raise ValidationError(f"{source} is not beside the recipe, in {place.resolve()}")
    if recipe.pip_lock:
        check_lock(_beside_recipe(place, recipe.pip_lock).decode(errors="replace"), recipe.pip_lock)
    if recipe.npm_lock:
        check_npm_lock(_beside_recipe(place, recipe.npm_lock).decode(errors="replace"), recipe.npm_lock)


def _content(place: Path, file: RecipeFile) -> bytes:
    if file.content is not None:
        return file.content
    if file.mode:
        raise ValidationError(f"files: on the base `host` the mode of {file.source} cannot be said; leave it out")
    return _beside_recipe(place, file.source)


def _beside_recipe(place: Path, source: str) -> bytes:
    """Content of a file. A recipe may be somebody else's: no link leads out of its folder."""
    try:
        folder = place.resolve()
        path = (folder / source).resolve()
        if not path.is_relative_to(folder):
            raise ValidationError(
                f"{source} is a link that leads out of the recipe's folder: put the file itself there"
            )
        if path.exists() and not path.is_file():
            raise ValidationError(f"{source} is no file: name each file")
        return path.read_bytes()
    except (OSError, RuntimeError) as error:  # the latter for links in a circle, until Python 3.13
        raise ValidationError(f"{source} cannot be read: {getattr(error, 'strerror', None) or error}") from None


def _read(path: Path) -> object:
    try:
        if path.stat().st_size > MOST_RECIPE_BYTES:
            raise ValidationError(f"{path} has more than {MOST_RECIPE_BYTES} bytes; put large files beside it")
        return read_yaml_file(path)
    except OSError as error:
        raise ValidationError(f"{path} cannot be read: {error.strerror or error}") from None
    except (YamlError, UnicodeDecodeError) as error:
        raise ValidationError(f"{path} is no YAML: {error}") from None
