"""Images as they are answered, and what a sandbox needs to know of one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import ClassVar

from harena.core.records.record import Record


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageRoot:
    """An image on this machine: the directories that make a sandbox's root, and how its programs start."""

    digest: str
    """sha256 of the image's manifest, with the prefix `sha256:`"""
    layers: tuple[Path, ...]
    """directories of unpacked layers, the uppermost first; lower directories for overlayfs with `userxattr`"""
    environment: Mapping[str, str]
    """ENV of the image"""
    workdir: str
    """WORKDIR; "" = none"""
    user: str
    """USER as the image writes it (a name or a number, perhaps with a group behind a colon); "" = root"""
    entrypoint: tuple[str, ...]
    """ENTRYPOINT; () = none"""
    command: tuple[str, ...]
    """CMD; () = none"""
    keeps_owners: bool
    """the files have the image's user and group ids, since root unpacked them; False = all are the node's user's"""
    is_of_default: bool = False
    """a snapshot of a sandbox of the default image: its uppermost layer has the folders that can be written to there,
    and the rest of the root is the default image"""


class PullState(Enum):
    """Where a pull is."""

    WAITING = "waiting"
    """other pulls, or another one of the image, come first"""
    RESOLVING = "resolving"
    """the registry is asked what the reference names"""
    DOWNLOADING = "downloading"
    """blobs that are not here are downloaded"""
    UNPACKING = "unpacking"
    """layers that are not here are unpacked"""
    DONE = "done"
    """the image can be used"""
    FAILED = "failed"
    """it cannot be had; `error` says why"""
    CANCELLED = "cancelled"
    """somebody has cancelled it; blobs that had arrived whole are kept for the next pull"""

    @property
    def is_over(self) -> bool:
        """Nothing follows."""
        return self in (PullState.DONE, PullState.FAILED, PullState.CANCELLED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Image(Record):
    """An image that this workspace has pulled or imported."""

    id: str
    """made from the reference; names the image in paths"""
    reference: str
    """in full, with its registry and its tag or digest"""
    digest: str
    """sha256 of the manifest for the platform, with the prefix `sha256:`"""
    platform: str
    """operating system and architecture, as linux/amd64"""
    layers: int
    """number of layers"""
    size_bytes: int
    """size of its blobs: layers as they are transferred, manifest and configuration"""
    unpacked_bytes: int
    """size of the files in its layers"""
    created_at: str | None
    """when the image was made, as it says itself; null = it does not say"""
    pulled_at: str
    """when the reference was last resolved, or imported"""
    last_used_at: str
    """when a sandbox last began with it; before the first one, `pulled_at`"""
    in_use: bool
    """a sandbox of this node has it as its root"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImagesPage(Record):
    """One page of images, by their references."""

    MOST_ITEMS: ClassVar[Mapping[str, int]] = {"images": 500}

    images: list[Image]
    """up to as many as were asked for"""
    next_cursor: int | None
    """asks for what follows; null = this was the last page"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImagePull(Record):
    """A pull of one image, and how far it is."""

    id: str
    """names the pull for an hour after its end"""
    reference: str
    """in full, with its registry and its tag or digest"""
    state: PullState
    """where it is"""
    total_bytes: int | None
    """size of the image's blobs; null = not known yet"""
    downloaded_bytes: int
    """how many of these are here"""
    layers: int | None
    """number of layers; null = not known yet"""
    layers_unpacked: int
    """how many of these are unpacked"""
    digest: str | None = None
    """sha256 of the manifest, with the prefix `sha256:`; null = not known yet"""
    error: str | None = None
    """why it failed; null = it did not"""
    reason: str | None = None
    """reason of that error; null = it has none"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImagePullEvent(Record):
    """A change of a pull."""

    cursor: int
    """grows with each event of the pull"""
    kind: str
    """the pull's state"""
    pull: ImagePull
    """the pull after the change"""


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectedImages(Record):
    """What was removed to make room."""

    images: int
    """references that are gone"""
    layers: int
    """unpacked layers that are gone"""
    freed_bytes: int
    """disk space that this gave back"""
