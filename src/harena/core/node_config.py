"""What an operator decides of one node."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from harena.core.home import harena_home

if TYPE_CHECKING:
    from ipaddress import IPv4Network, IPv6Network

    from harena.core.workspace import LimitsOf


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeConfig:
    """The settings of one node. The defaults are those of a node that is embedded in a program."""

    store_place: Path | str
    """a SQLite file, or the URL of a PostgreSQL"""
    durable_jobs: bool = False
    """jobs outlive the node, as a server's do; else they end with its process"""
    keep_seconds: float | None = None
    """how long benchmark jobs are kept after their end, by a node with durable jobs; None = until they are deleted"""
    webhook_networks: Sequence[IPv4Network | IPv6Network] | None = None
    """where webhooks may go beside the public internet; None = anywhere"""
    sandbox_networks: Sequence[IPv4Network | IPv6Network] | None = None
    """which addresses that are not public, or this machine's own, the networks of sandboxes may name; None = all"""
    limits_of: LimitsOf | None = None
    """what a workspace may use; None = everything"""
    training_jobs: int = 1
    """training jobs that run at one time"""
    training_worker: Sequence[str] | None = None
    """program and arguments of a worker; None = `harena.training.worker.main`"""

    @property
    def works_for_server(self) -> bool:
        """Whoever asks for its sandboxes is not who runs this process: a server's node, or one that works for it."""
        return self.durable_jobs or self.sandbox_networks is not None

    @property
    def images_place(self) -> Path:
        """Directory of images: in harena's home, which is the machine's even where the store is elsewhere."""
        return self.home / "images"

    @property
    def home(self) -> Path:
        """Directory of objects and of training jobs: beside the store where that is a file, else harena's home."""
        return self.store_place.parent if isinstance(self.store_place, Path) else harena_home()
