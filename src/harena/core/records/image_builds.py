"""Builds of images as they are answered, and what one is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import ClassVar

from harena.core.records.record import Record

MOST_LOG_BYTES = 2 * 1024 * 1024
"""what is kept of what a build says"""


class BuildState(Enum):
    """Where a build is."""

    WAITING = "waiting"
    """other builds come first"""
    PULLING = "pulling"
    """images that its stages begin with are pulled where they are not here"""
    RUNNING = "running"
    """its steps are made"""
    DONE = "done"
    """the image can be used"""
    FAILED = "failed"
    """`error` says why"""
    CANCELLED = "cancelled"
    """somebody has cancelled it; steps that were made are kept for the next build"""

    @property
    def is_over(self) -> bool:
        """Nothing follows."""
        return self in (BuildState.DONE, BuildState.FAILED, BuildState.CANCELLED)


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildRequest(Record):
    """What is built: the first member of the archive that begins a build, called `build.json`."""

    MOST_ITEMS: ClassVar[Mapping[str, int]] = {"references": 20}

    dockerfile: str
    """its text"""
    references: list[str] = field(default_factory=list)
    """names that the workspace finds the image by; without one it is only checked and kept as long as there is room"""
    arguments: dict[str, str] = field(default_factory=dict)
    """values of ARG"""
    target: str = ""
    """name or number of a stage; "" = the last one"""
    secrets: dict[str, str] = field(default_factory=dict)
    """id -> content in base64; what RUN --mount=type=secret asks for"""
    ignore: str | None = None
    """rules in place of the context's .dockerignore; null = that file's"""
    use_cache: bool = True
    """steps that were made before are taken as they are"""
    timeout_seconds: float = 3600.0
    """for the whole build"""
    memory_mb: int = 2048
    """memory of a sandbox in which a RUN works, with the files that it writes"""
    network: str = "none"
    """what RUN may reach: `none`, `open`, or entries of a network policy with commas between them"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageBuild(Record):
    """A build, and how far it is."""

    id: str
    """names the build for an hour after its end"""
    state: BuildState
    """where it is"""
    references: list[str]
    """what its image will be found by, in full"""
    steps: int | None
    """number of the steps of its stages that make layers; null = not known yet"""
    steps_done: int
    """how many of these are made"""
    steps_cached: int
    """how many of those were here already"""
    step: str | None
    """the step that is made, as the Dockerfile writes it; null = none"""
    image: str | None = None
    """digest of the image, with the prefix `sha256:`; null = it is not done"""
    error: str | None = None
    """why it failed; null = it did not"""
    reason: str | None = None
    """reason of that error; null = it has none"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageBuildEvent(Record):
    """A change of a build, or something that a command of it has said."""

    cursor: int
    """grows with each event of the build"""
    kind: str
    """the build's state; `step` = another step begins; `output` = a command has said something"""
    build: ImageBuild | None
    """the build after the change; null with `output`"""
    text: str
    """what was said; with `step`, the step and whether it was here already"""
