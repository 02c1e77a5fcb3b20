"""References of images, as Docker reads them, and the words that belong to them.

python:3.12                     docker.io/library/python:3.12
company/env                     docker.io/company/env:latest
ghcr.io/company/env:1           as it is written
localhost:5000/env@sha256:...   the manifest with this digest, whatever a tag says
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from harena.core.errors import ValidationError

ArchiveFormat = Literal["oci", "docker"]
ARCHIVE_FORMATS: tuple[ArchiveFormat, ...] = ("oci", "docker")
MOST_REFERENCE = 512
"""characters of a reference"""
MOST_UNUSED_SECONDS = 100 * 366 * 24 * 3600
"""for which an image may be kept unused; longer is for ever"""
DIGEST_PATTERN = r"sha256:[0-9a-f]{64}"
DOCKER_HUB = "docker.io"
ID_PATTERN = r"img_[0-9a-f]{24}"
_ID_DIGITS = 24
_HOST = re.compile(r"(?:[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?|\[[0-9a-fA-F:]+\])(?::[0-9]{1,5})?")
_PATH = re.compile(r"[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*(?:/[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*)*")
_TAG = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageReference:
    """A reference in full."""

    registry: str
    """host of the registry, with its port where one is given"""
    repository: str
    """path of the repository there"""
    tag: str | None
    """None = the digest alone says which image is meant"""
    digest: str | None
    """sha256 of a manifest, with the prefix `sha256:`; None = the tag says it"""

    @property
    def name(self) -> str:
        """The registry and the repository."""
        return f"{self.registry}/{self.repository}"

    def __str__(self) -> str:
        tag = "" if self.tag is None else f":{self.tag}"
        return f"{self.name}{tag}" + ("" if self.digest is None else f"@{self.digest}")

    @property
    def pull_name(self) -> str:
        """What a registry is asked for: by the digest where there is one, since no registry takes both."""
        return f"{self.name}:{self.tag}" if self.digest is None else f"{self.name}@{self.digest}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageChanges:
    """What an image made from another one says otherwise. None = as the other one has it."""

    environment: Mapping[str, str] | None = None
    """ENV, all of it"""
    workdir: str | None = None
    user: str | None = None
    entrypoint: Sequence[str] | None = None
    """() = none"""
    command: Sequence[str] | None = None
    """() = none"""
    labels: Mapping[str, str] | None = None
    """LABEL, all of them"""
    exposed_ports: Sequence[str] | None = None
    """EXPOSE, all of them; each is written like `8080/tcp`"""
    volumes: Sequence[str] | None = None
    stop_signal: str | None = None
    shell: Sequence[str] | None = None
    made_by: str = ""
    """what its history says of how its layer was made"""


def parse_reference(text: object) -> ImageReference:
    """Raises ValidationError for what names no image."""
    if not isinstance(text, str) or not text or len(text) > MOST_REFERENCE:
        raise _wrong(text, f"1 to {MOST_REFERENCE} characters")
    named, at, digest = text.partition("@")
    if at and not re.fullmatch(DIGEST_PATTERN, digest):
        raise _wrong(text, "behind the @, sha256: and 64 hexadecimal digits in lower case")
    first, slash, rest = named.partition("/")
    if slash and (first == "localhost" or "." in first or ":" in first or first != first.lower()):
        registry, path = first, rest
    else:
        registry, path = DOCKER_HUB, named
    if registry in ("index.docker.io", "registry-1.docker.io", "registry.hub.docker.com"):
        registry = DOCKER_HUB
    path, colon, tag = path.partition(":")
    if not _HOST.fullmatch(registry):
        raise _wrong(text, f"{registry!r:.80} is no host of a registry")
    if not _PATH.fullmatch(path):
        raise _wrong(text, f"the repository {path!r:.80} has to be made of lower case letters, digits, and . _ - /")
    if colon and not _TAG.fullmatch(tag):
        raise _wrong(text, f"{tag!r:.80} is no tag")
    if registry == DOCKER_HUB and "/" not in path:
        path = f"library/{path}"
    named_tag = tag if colon else None if at else "latest"
    return ImageReference(registry=registry, repository=path, tag=named_tag, digest=digest if at else None)


def image_id(reference: ImageReference) -> str:
    """The id of the image that a workspace means by a reference. It can stand in a path, as references cannot."""
    return f"img_{hashlib.sha256(str(reference).encode()).hexdigest()[:_ID_DIGITS]}"


def _wrong(text: object, why: str) -> ValidationError:
    return ValidationError(
        f"{text!r:.200} names no image: {why}. Write it as python:3.12 or registry.example/company/env@sha256:..."
    )
