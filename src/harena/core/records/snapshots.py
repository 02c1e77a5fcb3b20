"""Snapshots as they are answered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from harena.core.records.record import Record


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot(Record):
    """The files of a sandbox as they were at one time: a layer above those of the image that the sandbox was one of.
    Processes, memory and connections are no part of it."""

    id: str
    """names the snapshot; so does its name"""
    name: str | None
    """unique in the workspace; null = it has none"""
    parent: str | None
    """id of the snapshot that the sandbox had begun with; null = it had begun with an image, or that one is gone"""
    image: str
    """the image at the root of its line, as its first sandbox named it"""
    digest: str
    """sha256 of the manifest of the image that it is, with the prefix `sha256:`; empty = it is in memory"""
    sandbox: str
    """id of the sandbox"""
    layers: int
    """number of layers, those of the image included; 0 = it is in memory"""
    files: int
    """entries of its own layer; 0 = it is in memory, and nobody has counted them"""
    size_bytes: int
    """disk space of its own layer, as an archive and unpacked, or memory that it takes"""
    left_out: Mapping[str, int]
    """what no layer can hold, such as sockets -> how many there were"""
    created_at: str
    """when it was taken"""
    expires_at: str | None
    """when it is removed; null = not by itself"""
    in_use: bool
    """a sandbox of this node has it as its root"""


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotsPage(Record):
    """One page of snapshots, the oldest first."""

    MOST_ITEMS: ClassVar[Mapping[str, int]] = {"snapshots": 500}

    snapshots: list[Snapshot]
    """up to as many as were asked for"""
    next_cursor: int | None
    """asks for what follows; null = this was the last page"""
