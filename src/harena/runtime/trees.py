"""Process trees inside a sandbox: who descends from whom, and killing a tree so that nothing of it is left.

Runs in init (pid 1), which sees every process of its pid namespace and adopts every orphan.
"""

from __future__ import annotations

import os
import signal


def parents() -> dict[int, int]:
    """pid -> parent pid of every process here but init."""
    found = {}
    for name in os.listdir("/proc"):
        if name.isdigit() and name != "1":
            try:
                descriptor = os.open("/proc/" + name + "/stat", os.O_RDONLY | os.O_CLOEXEC)
            except OSError:
                continue  # ended meanwhile
            try:
                text = os.read(descriptor, 4096)
            except OSError:
                continue
            finally:
                os.close(descriptor)
            fields = text[text.rindex(b")") + 2 :].split()
            if fields[0] not in (b"Z", b"X"):
                found[int(name)] = int(fields[1])
    return found


def descendants(root: int, parent_of: dict[int, int]) -> set[int]:
    """Everything below `root`."""
    children: dict[int, list[int]] = {}
    for pid, parent in parent_of.items():
        children.setdefault(parent, []).append(pid)
    found: set[int] = set()
    waiting = [root]
    while waiting:
        for child in children.get(waiting.pop(), ()):
            if child not in found:
                found.add(child)
                waiting.append(child)
    return found


def kill_below(root: int, spare: frozenset[int] = frozenset()) -> None:
    """Kill everything below `root`, except the processes in `spare` and what is below them.

    Stops first, kills then: a stopped process forks no more, and keeps its place in the process limit so that its
    siblings cannot either. Repeats until a look finds nothing new.
    """
    stopped: set[int] = set()
    while True:
        targets = _below(root, spare)
        fresh = targets - stopped
        if not fresh:
            break
        for pid in fresh:
            _signal(pid, signal.SIGSTOP)
        stopped |= fresh
    while targets:
        for pid in targets:
            _signal(pid, signal.SIGKILL)
        targets = _below(root, spare)


def _below(root: int, spare: frozenset[int]) -> set[int]:
    parent_of = parents()
    found = descendants(root, parent_of)
    for kept in spare:
        found.discard(kept)
        found -= descendants(kept, parent_of)
    return found


def _signal(pid: int, signum: int) -> None:
    try:
        os.kill(pid, signum)
    except OSError:
        return  # ended meanwhile
