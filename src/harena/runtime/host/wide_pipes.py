"""The pipes that may be wider than usual are counted: the kernel bounds what the pipes of one user hold together.

Beyond that bound (fs.pipe-user-pages-soft, 64 MiB) new pipes hold 8 KiB, and none grows. A process with
CAP_SYS_RESOURCE or CAP_SYS_ADMIN has no such bound. Elsewhere few pipes are wide at one time, and workspaces share
them.
"""

from __future__ import annotations

import os
from collections.abc import Hashable
from functools import cache

from harena.runtime.host.shares import Shares
from harena.runtime.kernel import proc_files

MOST_WIDE_PIPES = 64
"""at one time, of a process that the kernel's bound binds: a quarter of it, as each has 256 KiB"""

_CAP_SYS_ADMIN, _CAP_SYS_RESOURCE = 21, 24
_FIRST_USER_NAMESPACE = 0xEFFFFFFD
"""inode number of /proc/self/ns/user on the host itself: a privilege in another one does not count here"""


class WidePipes(Shares):
    """The wide pipes of one process."""

    def __init__(self, most: int | None = None) -> None:
        """`most` at one time; None = as many as the kernel lets this process have."""
        super().__init__(MOST_WIDE_PIPES if most is None else most)
        self._asks_the_kernel = most is None

    def take(self, holder: Hashable, workspace: str) -> bool:
        """One more, for what is known as `holder` until `give_back`, may be wide."""
        if self._asks_the_kernel and not _is_bound():
            return True
        return super().take(holder, workspace)


WIDE_PIPES = WidePipes()
"""this process's"""


@cache
def _is_bound() -> bool:
    status = proc_files.read("/proc/self/status").decode(errors="replace")
    return not is_unbound(status, os.stat("/proc/self/ns/user").st_ino)


def is_unbound(status: str, user_namespace: int) -> bool:
    """Does the kernel let who has this /proc/PID/status have as many as it likes?"""
    words = dict(line.split(":", 1) for line in status.splitlines() if ":" in line)
    effective = int(words.get("CapEff", "0"), 16)
    has_one = effective >> _CAP_SYS_ADMIN & 1 or effective >> _CAP_SYS_RESOURCE & 1
    return bool(has_one) and user_namespace == _FIRST_USER_NAMESPACE
