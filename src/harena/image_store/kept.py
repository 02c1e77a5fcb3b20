"""What the store writes beside layers and blobs, as records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from harena.core.records.record import Record

Source = Literal["registry", "import", "commit", "build"]
"""where an image comes from"""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptLayer(Record):
    """An unpacked layer."""

    diff_id: str
    """sha256 of the layer as a tar archive, in hexadecimal digits"""
    files: int
    bytes: int
    disk_bytes: int
    keeps_owners: bool
    dropped: dict[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptBlob(Record):
    """A layer of an image, as its manifest and its configuration speak of it."""

    digest: str
    """sha256 of the blob, in hexadecimal digits"""
    diff_id: str
    size: int
    media_type: str


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptImage(Record):
    """An image that is here whole."""

    digest: str
    """what it is known by: sha256 of its manifest, in hexadecimal digits"""
    manifest: str
    """the OCI manifest that exports speak of, which skopeo may have made anew; in hexadecimal digits"""
    config: str
    """digest of its configuration, in hexadecimal digits"""
    layers: list[KeptBlob]
    """the lowest first"""
    platform: str
    created_at: str | None
    environment: dict[str, str]
    workdir: str
    user: str
    entrypoint: list[str]
    command: list[str]
    size_bytes: int
    unpacked_bytes: int
    keeps_owners: bool
    is_imported: bool
    """no registry has it: it is not removed to make room"""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptName(Record):
    """What a workspace means by a reference."""

    reference: str
    digest: str
    """digest of the manifest for the platform, in hexadecimal digits"""
    pulled_at: str
    source: Source


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptSnapshot(Record):
    """A snapshot of a workspace."""

    id: str
    name: str | None
    digest: str
    """the image that it is, which stays while the snapshot does; in hexadecimal digits"""
    layer: str
    """diff id of its own layer"""
    parent: str | None
    image: str
    sandbox: str
    files: int
    size_bytes: int
    left_out: dict[str, int]
    created_at: str
    expires_at: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptStep(Record):
    """What a step of a build has made."""

    digest: str
    """digest of the image with the step's layer, in hexadecimal digits"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Needs(Record):
    """What a pull under way needs: nobody removes it."""

    images: list[str]
    blobs: list[str]
    layers: list[str]
