"""Upper layers of sandboxes that stay in memory, as they were at one time, for other sandboxes to begin with.

A layer is held by the template whose sandbox has written it, which mounts it for those that it makes (see launch). It
is held for as long as a sandbox lives that has it among its layers, or somebody may ask for one. The sandbox that has
written it does not pay for it any more, so a workspace may hold so many bytes and no more.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from harena.core import settings
from harena.core.errors import HostUnsupportedError
from harena.core.threads import NODE
from harena.runtime.guest import launch

_CLOSED_LATER_SECONDS = 0.2
"""after which the node lets go of a layer: the last one who does frees all its files, and that shall be neither the
template nor the event loop"""
_FILE_BYTES = 2048
"""what the kernel takes for a file, folder, link or name, whatever it holds: a node and an entry of a folder, with 255
bytes for its name; attributes count for nodes, too"""
_SHARE_OF_MACHINE = 2
"""part of the machine's memory that all held layers together may take"""
MOST_BELOW = 48
"""held layers above each other: to look for a name takes the kernel longer with each"""


@dataclass(eq=False, slots=True)
class HeldLayer:
    """An upper layer that nobody writes to any more."""

    workspace: str
    template: int
    place: int
    """where the template has it"""
    folder: int
    """descriptor of the folder that it has the name `upper` in"""
    bytes: int
    """memory that its files take"""
    root_mode: int
    """mode of its root"""
    holders: int = 0


Chain = tuple[HeldLayer, ...]
"""held layers above those of an image, the uppermost first"""


@dataclass(slots=True)
class HeldLayers:
    """All of a runtime. `let_go` tells a template (by its number) that it need not hold what is in a place."""

    let_go: Callable[[int, int], None]
    most_of_node: int = field(default_factory=lambda: _memory_of_machine() // _SHARE_OF_MACHINE)
    """bytes that those of all workspaces together may have"""
    _held: set[HeldLayer] = field(default_factory=set)
    _later: dict[HeldLayer, asyncio.TimerHandle] = field(default_factory=dict)
    """layers that nobody has any more -> what closes them"""
    _closing: set[asyncio.Future[None]] = field(default_factory=set)

    def place(self, workspace: str, template: int, size: int, most_bytes: int) -> int | None:
        """A free place for one more of so many bytes; None = there is none, or no room in the workspace or the node."""
        if size + sum(one.bytes for one in self._held if one.workspace == workspace) > most_bytes:
            return None
        if size + sum(one.bytes for one in self._held) > self.most_of_node:
            return None
        taken = {one.place for one in self._held if one.template == template}
        return next((place for place in range(launch.MOST_HELD) if place not in taken), None)

    def add(self, layer: HeldLayer) -> None:
        """It is counted, and its place taken, until its last holder has released it."""
        self._held.add(layer)

    def hold(self, chain: Sequence[HeldLayer]) -> None:
        """One more who has these."""
        for layer in chain:
            layer.holders += 1

    def release(self, chain: Sequence[HeldLayer]) -> None:
        """One less."""
        for layer in chain:
            layer.holders -= 1
            if not layer.holders:
                self._held.discard(layer)
                self.let_go(layer.template, layer.place)
                loop = asyncio.get_running_loop()
                self._later[layer] = loop.call_later(_CLOSED_LATER_SECONDS, self._close, layer)

    def _close(self, layer: HeldLayer) -> None:
        del self._later[layer]
        closing = asyncio.ensure_future(NODE.run(os.close, layer.folder))
        self._closing.add(closing)
        closing.add_done_callback(self._closing.discard)

    async def close(self) -> None:
        """Let go of all, when no sandbox is left."""
        left = [*self._held, *self._later]
        for timer in self._later.values():
            timer.cancel()
        self._held.clear()
        self._later.clear()
        await asyncio.gather(*self._closing, *(NODE.run(os.close, layer.folder) for layer in left))

    def forget(self) -> None:
        """In a forked child: let go of the parent's descriptors."""
        for layer in (*self._held, *self._later):
            os.close(layer.folder)
        self._held.clear()
        self._later.clear()


def _memory_of_machine() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def most_bytes() -> int:
    """What the layers that are held for one workspace may take. Raises HostUnsupportedError."""
    text = settings.FORK_BYTES.read() or str(settings.FORK_BYTES.default)
    if not text.isdecimal():
        raise HostUnsupportedError(
            f"{settings.FORK_BYTES.name} must be a whole number (got {text!r:.40})", step="hold files"
        )
    return int(text)


@dataclass(frozen=True, slots=True)
class WrittenLayer:
    """What was found in the folder of an upper layer."""

    bytes: int
    root_mode: int
    has_shared_memory: bool
    """files in /dev/shm, which are in no layer"""


def look_at(folder: int) -> WrittenLayer:
    """Look at the folder of an upper layer, which a sandbox has given. Raises OSError."""
    told = os.fstatvfs(folder)
    about = os.stat("upper", dir_fd=folder, follow_symlinks=False)
    shared = os.open("shm", os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
    try:
        with os.scandir(shared) as entries:
            has_shared = next(entries, None) is not None
    finally:
        with suppress(OSError):
            os.close(shared)
    size = (told.f_blocks - told.f_bfree) * told.f_frsize + (told.f_files - told.f_ffree) * _FILE_BYTES
    return WrittenLayer(size, about.st_mode & 0o7777, has_shared)
