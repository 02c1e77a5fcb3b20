"""What an image says of its programs, as a Dockerfile sets it."""

from __future__ import annotations

from dataclasses import dataclass, field

from harena.core.records.images import ImageRoot
from harena.core.records.record import Record


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthCheck(Record):
    """HEALTHCHECK of an image. Times are nanoseconds; null = none was given."""

    test: list[str]
    """NONE, or CMD and its words, or CMD-SHELL and a text"""
    interval: int | None = None
    timeout: int | None = None
    start_period: int | None = None
    start_interval: int | None = None
    retries: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageConfig(Record):
    """The part of an image that is no file."""

    environment: dict[str, str] = field(default_factory=dict)
    workdir: str = ""
    user: str = ""
    entrypoint: list[str] = field(default_factory=list)
    command: list[str] = field(default_factory=list)
    exposed: list[str] = field(default_factory=list)
    """ports with their protocols, as 80/tcp"""
    labels: dict[str, str] = field(default_factory=dict)
    volumes: list[str] = field(default_factory=list)
    stop_signal: str = ""
    shell: list[str] = field(default_factory=list)
    """[] = /bin/sh -c"""
    health: HealthCheck | None = None
    on_build: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class BuiltImage:
    """An image that a build begins with or has made."""

    root: ImageRoot
    config: ImageConfig

    @property
    def digest(self) -> str:
        """sha256 of its manifest, with the prefix `sha256:`."""
        return self.root.digest
