"""`harena blueprint`: recipes for sandboxes."""

from __future__ import annotations

import json
import sys
from difflib import unified_diff
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any

import typer

from harena.cli import face
from harena.cli.gateways import HELP, METAVAR, gateways_in_words
from harena.cli.image_words import ArchiveForm, AsForm, NewFile, build_log, say_exported
from harena.cli.report import Format, ListFormat, write_json, write_list
from harena.core.errors import ValidationError
from harena.core.network_policy import policy_in_words

app = typer.Typer(no_args_is_help=True, help="Blueprints: what is installed in a sandbox, and what is kept warm.")
_NOT_COMPARED = ("id", "name", "created_at", "digest", "log")


@app.command()
def create(
    name: Annotated[str | None, typer.Argument(help="The blueprint's name; it comes first.")] = None,
    packages: Annotated[
        list[str] | None, typer.Option(help="Requirements, as pip knows them; several may follow.")
    ] = None,
    warm: Annotated[list[str] | None, typer.Option(help="Modules imported once; several may follow.")] = None,
    env: Annotated[
        list[str] | None, typer.Option(metavar="NAME=VALUE", help="Environment; several may follow.")
    ] = None,
    file: Annotated[list[str] | None, typer.Option(metavar="PATH=LOCAL", help="A file to put at PATH.")] = None,
    image: Annotated[str, typer.Option(help="The image that it is made of.")] = "default",
    profile: Annotated[
        str, typer.Option(help="strict, or for an image machine: packages can be installed.")
    ] = "strict",
    network: Annotated[
        str | None,
        typer.Option(
            metavar="none|open|ENTRY,...",
            help="What its sandboxes may reach: hosts, *.hosts, CIDRs, host:port and presets (pypi, npm, apt).",
        ),
    ] = None,
    gateway: Annotated[list[str] | None, typer.Option(metavar=METAVAR, help=HELP)] = None,
    bare_warm: Annotated[bool, typer.Option("--warm-interpreter", help="Keep a bare interpreter warm.")] = False,
) -> None:
    """Install packages (wheels only) into a new blueprint."""
    if name is None:
        raise ValidationError(
            "the blueprint's name is missing: it comes before the options, as in "
            "`harena blueprint create NAME --packages numpy` (every word after --packages is a package)"
        )
    reach = {"network": None if network is None else policy_in_words(network), "gateways": gateways_in_words(gateway)}
    warm_modules = warm if warm else ([] if bare_warm else None)
    blueprint = face.load().blueprints.create(
        name,
        image=image,
        profile=profile,
        packages=packages or [],
        files={path: _content(local, "--file") for path, local in pairs(file, "--file")},
        env=dict(pairs(env, "--env")),
        warm=warm_modules,
        **{name: value for name, value in reach.items() if value is not None},
    )
    described = face.plain(blueprint)
    pinned = [f"{package['name']}=={package['version']}" for package in described.get("packages", [])]
    sys.stdout.write(f"{described['name']} ({described['id']}): {', '.join(pinned) or 'no packages'}\n")


@app.command()
def build(
    file: Annotated[Path, typer.Argument(help="A blueprint.yaml, or a directory with one.")] = Path("blueprint.yaml"),
    secret: Annotated[
        list[str] | None,
        typer.Option(metavar="ID=FILE", help="A file below /run/secrets of the build's commands; several may follow."),
    ] = None,
    no_cache: Annotated[bool, typer.Option(help="Make each step anew.")] = False,
    timeout: Annotated[float, typer.Option(min=1, help="Seconds for the whole build.")] = 3600.0,
    memory_mb: Annotated[int, typer.Option(min=16, help="Memory of each command, its files among it.")] = 2048,
) -> None:
    """Make the blueprint that a file says: its image is built, and its steps are kept for the next build."""
    with build_log() as told:
        made = face.load().blueprints.build(
            file / "blueprint.yaml" if file.is_dir() else file,
            secrets={name: _content(path, "--secret") for name, path in pairs(secret, "--secret")},
            use_cache=not no_cache,
            timeout_seconds=timeout,
            memory_mb=memory_mb,
            on_event=told,
        )
    described = face.plain(made)
    sys.stdout.write(f"{described['name']} ({described['id']}): {described['image']}\n")


@app.command()
def diff(
    before: Annotated[str, typer.Argument(metavar="A", help="Name or id.")],
    after: Annotated[str, typer.Argument(metavar="B", help="Name or id.")],
) -> None:
    """Print what is different in two blueprints, as diff does. Exit code: 0 where nothing is."""
    blueprints = face.load().blueprints
    a, b = blueprints.get(before), blueprints.get(after)
    names = [f"{blueprint.name} ({blueprint.id})" for blueprint in (a, b)]
    told = [*unified_diff(_lines(a), _lines(b), names[0], names[1], n=0, lineterm="")]
    sys.stdout.writelines(f"{line}\n" for line in told)
    raise typer.Exit(1 if told else 0)


def _lines(blueprint: Any) -> list[str]:
    """What decides what its sandboxes are, each on a line of its own."""
    told = {name: value for name, value in face.plain(blueprint).items() if name not in _NOT_COMPARED}
    if told["recipe"]:
        told["recipe"] = json.loads(told["recipe"])
    told["files"] = {path: f"sha256:{sha256(content).hexdigest()}" for path, content in blueprint.files.items()}
    return json.dumps(told, indent=1, sort_keys=True).splitlines()


@app.command("export")
def export_archive(
    name: Annotated[str, typer.Argument(help="Name or id.")],
    path: NewFile,
    form: AsForm = ArchiveForm.OCI,
) -> None:
    """Write the image of a blueprint, its files and variables included, into a file."""
    face.load().blueprints.export_archive(name, path, form=form.value)
    say_exported(name, path)


@app.command()
def get(name: Annotated[str, typer.Argument(help="Name or id.")]) -> None:
    """Print a blueprint as JSON."""
    write_json(face.plain(face.load().blueprints.get(name)))


@app.command()
def publish(name: Annotated[str, typer.Argument(help="Name (its newest version) or id.")]) -> None:
    """Show a blueprint to all workspaces of your organisation. A key needs the scope publish for it."""
    made = face.load().blueprints.publish(name)
    sys.stdout.write(f"{made.name} ({made.id}): published\n")


@app.command()
def withdraw(
    name: Annotated[str, typer.Argument(help="Name (every version of it) or id (one version).")],
) -> None:
    """Show a blueprint to your own workspace alone."""
    made = face.load().blueprints.withdraw(name)
    sys.stdout.write(f"{made.name}: withdrawn\n")


@app.command("rm")
def remove(
    name: Annotated[str, typer.Argument(help="Name (every version of it) or id (one version).")],
    image: Annotated[bool, typer.Option("--image", help="Remove the images that its builds have made, too.")] = False,
) -> None:
    """Forget a blueprint; the packages that were installed for it stay on disk, and without --image its images."""
    harena = face.load()
    made = _images_of(harena, name) if image else []
    harena.blueprints.delete(name)
    sys.stdout.write(f"{name}: removed\n")
    for reference in made:
        harena.images.delete(reference)
        sys.stdout.write(f"{reference}: removed\n")


def _images_of(harena: Any, name: str) -> list[str]:
    """References of images that builds of the blueprint have made: of every version, or of the one with this id."""
    from harena.sdk.blueprint_builds import is_reference_of

    blueprint = harena.blueprints.get(name)
    return [
        image["reference"]
        for image in face.plain(harena.images.list())
        if is_reference_of(blueprint.name, image["reference"])
        and (name == blueprint.name or image["digest"] == blueprint.image)
    ]


@app.command()
def logs(name: Annotated[str, typer.Argument(help="Name or id.")]) -> None:
    """Print the end of what the build of a blueprint's image has said: its steps, and the output of their commands."""
    blueprint = face.load().blueprints.get(name)
    if not blueprint.log:
        raise ValidationError(f"blueprint {blueprint.name} ({blueprint.id}) has no log: no image was built for it")
    sys.stdout.write(blueprint.log)


@app.command("ls")
def list_blueprints(
    form: ListFormat = Format.TABLE,
    versions: Annotated[str | None, typer.Option(metavar="NAME", help="Every version of this blueprint.")] = None,
    organization: Annotated[
        bool, typer.Option("--organization", "--org", help="Those that were published to your organisation.")
    ] = False,
) -> None:
    """List the blueprints, the newest version of each; newest first."""
    blueprints = face.plain(face.load().blueprints.list(name=versions, organization=organization))
    rows = [
        (blueprint["name"], blueprint["id"], blueprint["image"], ", ".join(blueprint["requested"]) or "-",
         "-" if blueprint["warm"] is None else ", ".join(blueprint["warm"]) or "interpreter")
        for blueprint in blueprints
    ]  # fmt: skip
    write_list(form, blueprints, "blueprints", ("name", "id", "image", "packages", "warm"), rows)


def pairs(values: list[str] | None, option: str) -> list[tuple[str, str]]:
    """NAME=VALUE, split. Raises ValidationError."""
    split = []
    for value in values or []:
        name, equals, rest = value.partition("=")
        if not name or not equals:
            raise ValidationError(f"{option} {value}: write it as NAME=VALUE")
        split.append((name, rest))
    return split


def _content(local: str, option: str) -> bytes:
    try:
        return Path(local).read_bytes()
    except OSError as error:
        raise ValidationError(f"{option}: {local} cannot be read: {error.strerror}") from None
