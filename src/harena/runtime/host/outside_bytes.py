"""What the node itself writes into sandboxes is counted: the kernel charges such pages to the node, not to the sandbox.

A process of the sandbox costs some milliseconds, so the node writes small content itself. All of that has a bound, for
each sandbox and for the machine, and a workspace has no more than are left for others; whatever exceeds it is written
by a process of the sandbox, whose memory limit counts it. A program can keep what it was given for as long as its
sandbox lives (a file, or a descriptor of a standard input), so nothing is given back before. Used from one event loop.
"""

from __future__ import annotations

import os
from collections import Counter
from functools import cache

MOST_AT_ONCE = 1 << 18
"""bytes of one file, or piece of a file, or standard input that the node writes itself"""
MOST_OF_SANDBOX = 4 << 20
"""bytes that one sandbox holds of what the node has written; with a memory limit, at most SHARE_OF_LIMIT of that"""
SHARE_OF_LIMIT = 16
SHARE_OF_MACHINE = 32
"""part of the machine's memory that all sandboxes together hold of it, and at most MOST_OF_ALL"""
MOST_OF_ALL = 512 << 20
"""bytes, as a container may have less memory than its machine"""
_PAGE_BYTES = 4096


class OutsideBytes:
    """Bytes that one process has written into its sandboxes, by sandbox."""

    def __init__(self, most: int | None = None) -> None:
        """`most` for all sandboxes; None = what this machine has for it."""
        self._most = most
        self._held: dict[str, tuple[str, int]] = {}
        self._of_workspaces: Counter[str] = Counter()
        self._total = 0

    def take(self, sandbox: str, workspace: str, size: int, memory_bytes: int | None) -> bool:
        """Whether the node may write so many bytes more into the sandbox, which are counted then. `memory_bytes` is the
        sandbox's limit."""
        if not size:
            return True
        cost = size + _PAGE_BYTES  # the last page, and that before the first byte, are whole ones
        held = self._held.get(sandbox, ("", 0))[1]
        own = MOST_OF_SANDBOX if memory_bytes is None else min(MOST_OF_SANDBOX, memory_bytes // SHARE_OF_LIMIT)
        most = _most_of_machine() if self._most is None else self._most
        if size > MOST_AT_ONCE or held + cost > own or self._of_workspaces[workspace] + cost > most - self._total:
            return False
        self._held[sandbox] = workspace, held + cost
        self._of_workspaces[workspace] += cost
        self._total += cost
        return True

    def give_back(self, sandbox: str) -> None:
        """Nothing of the sandbox runs any more, so its memory is gone."""
        workspace, held = self._held.pop(sandbox, ("", 0))
        if held:
            self._total -= held
            self._of_workspaces[workspace] -= held
            if not self._of_workspaces[workspace]:
                del self._of_workspaces[workspace]


OUTSIDE_BYTES = OutsideBytes()
"""this process's"""


@cache
def _most_of_machine() -> int:
    return min(MOST_OF_ALL, os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // SHARE_OF_MACHINE)
