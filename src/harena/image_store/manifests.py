"""What registries and OCI layouts say of an image: manifests, indexes and configurations. Nothing here reads a disk."""

from __future__ import annotations

import platform
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harena.core.errors import ImagePullError, NotFoundError
from harena.core.images import DIGEST_PATTERN
from harena.core.json_steps import Pairs, dict_of, parse

MOST_BYTES = 512 * 1024
"""size limit of a manifest, an index or a configuration"""
MOST_ENVIRONMENT = 128 * 1024
"""characters of all variables of an image: each program gets them"""
MOST_WORKDIR, MOST_WORKDIR_PARTS = 200, 16
"""characters of a working directory, and its folders: what an image lacks of it is made in each sandbox"""
MOST_LAYERS = 300
"""the options of a mount have 4 KiB, and name each"""
_MOST_WORDS = 10_000
_MOST_INDEXED = 1000
_SCHEMA_1 = 1
_ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64", "armv7l": "arm", "i686": "386"}
_FOREIGN = re.compile(r"\.foreign\.|\.nondistributable\.")
"""in media types of layers that have to be had elsewhere; nobody is asked for them"""
_DIGEST = re.compile(r"([a-z0-9]+(?:[.+_-][a-z0-9]+)*):([A-Za-z0-9=_-]+)")


@dataclass(frozen=True, slots=True)
class Descriptor:
    """A blob, as a manifest speaks of it."""

    digest: str
    """with the prefix `sha256:`"""
    size: int
    media_type: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """One image for one platform."""

    config: Descriptor
    layers: Sequence[Descriptor]
    """the lowest first"""

    @property
    def bytes(self) -> int:
        """Size of its blobs."""
        return self.config.size + sum(layer.size for layer in {one.digest: one for one in self.layers}.values())


@dataclass(frozen=True, slots=True)
class Indexed:
    """One line of an index."""

    digest: str
    platform: str
    """operating system and architecture, as linux/amd64"""


@dataclass(frozen=True, slots=True)
class Configuration:
    """How the programs of an image start."""

    platform: str
    diff_ids: Sequence[str]
    """sha256 of each layer as a tar archive, in hexadecimal digits; the lowest first"""
    environment: Mapping[str, str]
    workdir: str
    user: str
    entrypoint: Sequence[str]
    command: Sequence[str]
    created_at: str | None


def this_platform() -> str:
    """The platform whose images run here."""
    machine = platform.machine()
    return f"linux/{_ARCHITECTURES.get(machine, machine)}"


def read_manifest(raw: bytes) -> Manifest | Sequence[Indexed]:
    """A manifest, or the lines of an index. Raises ImagePullError."""
    said = _mapping(raw, "manifest", _without_addresses)
    if said.get("schemaVersion") == _SCHEMA_1:
        raise broken("its manifest has schema 1, which registries have given up: push it again with a present tool")
    if isinstance(said.get("manifests"), list):
        if len(said["manifests"]) > _MOST_INDEXED:
            raise broken(f"its index has more than {_MOST_INDEXED} manifests")
        return [_indexed(entry) for entry in said["manifests"]]
    layers = said.get("layers")
    if not isinstance(layers, list) or not isinstance(said.get("config"), dict):
        raise broken("its manifest names no layers, or no configuration: it is no image that can be run")
    if len(layers) > MOST_LAYERS:
        raise broken(f"it has {len(layers)} layers, and may have {MOST_LAYERS}")
    made = [_descriptor(layer) for layer in layers]
    if any(_FOREIGN.search(layer.media_type) for layer in made):
        raise broken("it has a layer that its registry does not give away (a base image for Windows, mostly)")
    return Manifest(_descriptor(said["config"]), made)


def named_blobs(raw: bytes) -> Sequence[tuple[str, str]]:
    """(algorithm, digits) of all digests that a document of a layout names. Raises ImagePullError as `read_manifest`
    does, for addresses above all: whoever copies an image asks them, as the user of this process."""
    found: list[tuple[str, str]] = []

    def digests(pairs: Pairs) -> Mapping[str, Any]:
        for name, value in pairs:
            if name.casefold() == "digest" and isinstance(value, str) and (digest := _DIGEST.fullmatch(value)):
                found.append((digest[1], digest[2]))
        return _without_addresses(pairs)

    _mapping(raw, "layout", digests)
    return found


def choose_manifest(index: Sequence[Indexed], wanted: str) -> str:
    """The digest of the manifest for a platform. Raises NotFoundError."""
    for entry in index:
        if entry.platform == wanted or entry.platform.startswith(f"{wanted}/"):
            return entry.digest
    known = ", ".join(sorted({entry.platform for entry in index if "unknown" not in entry.platform})[:20])
    raise NotFoundError(f"the image is not made for {wanted}, but for {known or 'nothing'}", reason="IMAGE_NOT_FOUND")


def read_configuration(raw: bytes) -> Configuration:
    """Raises ImagePullError."""
    said = _mapping(raw, "configuration")
    fields = said.get("config") or {}
    root = said.get("rootfs")
    diff_ids = root.get("diff_ids") if isinstance(root, dict) else None
    if not isinstance(fields, dict) or not isinstance(diff_ids, list):
        raise broken("its configuration names no layers")
    if not all(isinstance(one, str) and re.fullmatch(DIGEST_PATTERN, one) for one in diff_ids):
        raise broken("its configuration names a layer by what is no sha256")
    variables, workdir = _words(fields, "Env"), _word(fields, "WorkingDir")
    if sum(map(len, variables)) > MOST_ENVIRONMENT:
        raise broken(f"its ENV has more than {MOST_ENVIRONMENT} characters")
    if len(workdir) > MOST_WORKDIR or workdir.count("/") > MOST_WORKDIR_PARTS:
        raise broken(f"its WORKDIR has more than {MOST_WORKDIR} characters, or more than {MOST_WORKDIR_PARTS} parts")
    pairs = [word.partition("=") for word in variables]
    return Configuration(
        platform=f"{_word(said, 'os') or 'linux'}/{_word(said, 'architecture') or 'unknown'}",
        diff_ids=[hexadecimal(one) for one in diff_ids],
        environment={name: value for name, _, value in pairs if name},
        workdir=workdir,
        user=_word(fields, "User"),
        entrypoint=_words(fields, "Entrypoint"),
        command=_words(fields, "Cmd"),
        created_at=_word(said, "created")[:64] or None,
    )


def hexadecimal(digest: str) -> str:
    """The digits of a digest without its prefix."""
    return digest.removeprefix("sha256:")


def broken(why: str) -> ImagePullError:
    """The error for an image that is not what it should be."""
    return ImagePullError(f"the image is broken: {why}", step="pull", reason="IMAGE_BROKEN")


class _AddressesError(ValueError):
    """A blob is to be downloaded from an address of the image's own choice."""


def _without_addresses(pairs: Pairs) -> Mapping[str, Any]:
    """A JSON object, as it is read here. skopeo takes names in letters of any case, and joins objects that stand twice:
    each of them is looked at."""
    if any(name.casefold() == "urls" and value for name, value in pairs):
        raise _AddressesError
    return dict_of(pairs)


def _mapping(raw: bytes, what: str, made: Callable[[Pairs], Mapping[str, Any]] | None = None) -> Mapping[str, Any]:
    """A document. `made` makes each of its objects, of some more than once; None = as they are."""
    if len(raw) > MOST_BYTES:
        raise broken(f"its {what} has more than {MOST_BYTES} bytes")
    try:
        said = parse(raw, object_pairs_hook=made)
    except _AddressesError:
        raise broken(
            f"its {what} gives addresses (urls) of blobs, which its registry does not give away (as base images for "
            "Windows, mostly): nothing is downloaded from there"
        ) from None
    except (ValueError, RecursionError):
        raise broken(f"its {what} is no JSON") from None
    if not isinstance(said, dict):
        raise broken(f"its {what} is no JSON object")
    return said


def _descriptor(given: object) -> Descriptor:
    if not isinstance(given, dict):
        raise broken("its manifest has a blob without a digest")
    digest, size, kind = given.get("digest"), given.get("size"), given.get("mediaType")
    if not isinstance(digest, str) or not re.fullmatch(DIGEST_PATTERN, digest):
        raise broken(f"its manifest names a blob by {digest!r:.100}, which is no sha256")
    if not isinstance(size, int) or isinstance(size, bool) or not 0 <= size < 1 << 50:
        raise broken(f"its manifest gives blob {digest[:19]} no size")
    return Descriptor(digest, size, kind if isinstance(kind, str) else "")


def _indexed(given: object) -> Indexed:
    digest = _descriptor({**given, "size": 0} if isinstance(given, dict) else None).digest
    told = given.get("platform") if isinstance(given, dict) else None
    if not isinstance(told, dict):
        return Indexed(digest, "unknown/unknown")
    parts = [_word(told, "os"), _word(told, "architecture"), _word(told, "variant")]
    return Indexed(digest, "/".join(filter(None, parts)))


def _word(fields: Mapping[str, Any], name: str) -> str:
    value = fields.get(name)
    if value is not None and not _is_text(value):
        raise broken(f"{name} of its configuration is no text")
    return value or ""


def _is_text(value: object) -> bool:
    """A text that can be a program's word: without NUL, and without halves of characters."""
    return isinstance(value, str) and "\0" not in value and not re.search("[\ud800-\udfff]", value)


def _words(fields: Mapping[str, Any], name: str) -> list[str]:
    value = fields.get(name) or []
    if not isinstance(value, list) or len(value) > _MOST_WORDS:
        raise broken(f"{name} of its configuration is no list")
    if not all(map(_is_text, value)):
        raise broken(f"{name} of its configuration has entries that are no text")
    return value
