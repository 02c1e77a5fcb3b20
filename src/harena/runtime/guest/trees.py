"""Process trees inside a sandbox: who descends from whom, and killing a tree so that nothing of it is left.

Runs in init (pid 1), which sees every process of its pid namespace and adopts every orphan.
"""

from __future__ import annotations

import os
import signal
import time

_folder: str | int = "/proc"
_THREADS = 17
"""place of the number of threads in a process's `stat`, behind its name"""
_SURE_SECONDS = 0.01
"""for which a process waits in the kernel before it is believed to wait for its child"""


def look_into(descriptor: int) -> None:
    """From now on look at the processes of this `/proc`, which is open: what programs see there may be less."""
    global _folder
    _folder = descriptor


def look() -> dict[int, tuple[int, str]]:
    """pid -> (parent pid, state letter) of every process here but init and those that have ended. One whose first
    thread has ended has not, while others of its threads run. It is stopped ("T") where all its threads are; else the
    state is that of one that is not, and "D" only where no other one is."""
    folder = os.open(_folder, os.O_RDONLY | os.O_CLOEXEC) if isinstance(_folder, str) else _folder
    try:
        return _look(folder)
    finally:
        if folder is not _folder:
            os.close(folder)


def _look(folder: int) -> dict[int, tuple[int, str]]:
    found = {}
    for name in os.listdir(folder):
        if name.isdigit() and name != "1":
            try:
                descriptor = os.open(name + "/stat", os.O_RDONLY | os.O_CLOEXEC, dir_fd=folder)
            except OSError:
                continue  # ended meanwhile
            try:
                text = os.read(descriptor, 4096)
            except OSError:
                continue
            finally:
                os.close(descriptor)
            fields = text[text.rindex(b")") + 2 :].split()
            state = fields[0].decode()
            if int(fields[_THREADS]) > 1:
                state = _state_of_threads(folder, name) or state
            if state not in "ZX":
                found[int(name)] = (int(fields[1]), state)
    return found


def _state_of_threads(folder: int, process: str) -> str:
    """The one that says most about all of them; "" = they have ended."""
    states = {_state(folder, process, name) for name in _threads(folder, process)} - {"", "Z", "X"}
    others = states - {"T", "t", "D"}
    if others:
        return min(others)
    return "D" if "D" in states else min(states, default="")


def _threads(folder: int, process: str) -> list[str]:
    try:
        threads = os.open(process + "/task", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=folder)
    except OSError:
        return []  # ended meanwhile
    try:
        return os.listdir(threads)
    except OSError:
        return []
    finally:
        os.close(threads)


def _state(folder: int, process: str, thread: str) -> str:
    try:
        descriptor = os.open("%s/task/%s/stat" % (process, thread), os.O_RDONLY | os.O_CLOEXEC, dir_fd=folder)
    except OSError:
        return ""
    try:
        text = os.read(descriptor, 4096)
    except OSError:
        return ""
    finally:
        os.close(descriptor)
    return text[text.rindex(b")") + 2 :].split()[0].decode()


def times_run() -> dict[tuple[int, int], bytes]:
    """How often each thread of every process here but init has got a processor, by pid and its own number. Where the
    kernel does not count, it is always the same."""
    folder = os.open(_folder, os.O_RDONLY | os.O_CLOEXEC) if isinstance(_folder, str) else _folder
    found: dict[tuple[int, int], bytes] = {}
    try:
        for pid in _look(folder):
            for name in _threads(folder, str(pid)):
                found[pid, int(name)] = _times_run(folder, "%d/task/%s/schedstat" % (pid, name))
    finally:
        if folder is not _folder:
            os.close(folder)
    return found


def leaves_memory() -> bool:
    """Whether there is something in the kernel that outlives processes: shared memory, semaphores or messages of System
    V."""
    folder = os.open(_folder, os.O_RDONLY | os.O_CLOEXEC) if isinstance(_folder, str) else _folder
    try:
        for name in ("shm", "sem", "msg"):
            try:
                descriptor = os.open("sysvipc/" + name, os.O_RDONLY | os.O_CLOEXEC, dir_fd=folder)
            except FileNotFoundError:
                continue  # this kernel has none
            try:
                if os.read(descriptor, 4096).count(b"\n") > 1:
                    return True
            finally:
                os.close(descriptor)
        return False
    finally:
        if folder is not _folder:
            os.close(folder)


def _times_run(folder: int, path: str) -> bytes:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC, dir_fd=folder)
    except OSError:
        return b""
    try:
        return os.read(descriptor, 256).split()[-1]
    finally:
        os.close(descriptor)


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


def kill_below(root: int, spare: frozenset[int] = frozenset(), *, goes_on: bool = True) -> None:
    """Kill everything below `root`, except the processes in `spare` and what is below them; and `root`, if it is not
    init. With `goes_on` False everything else stays stopped.

    Everything in the pid namespace is stopped first, in one call that nothing can outrun, however fast it forks; then
    it is looked at until nothing is left to kill, and what is not to be killed goes on. That is one call, too: a
    process that is just being forked cannot be seen yet, but the kernel keeps for it what is sent to everybody, the
    stop and so the end of it. What somebody else had stopped is stopped again.

    A root that has not come to its stop may be forking, and a look that sees it stopped may have listed the processes
    before that child was there. Once the root is killed, nobody could tell whose child that was. So what is seen counts
    only from the look on that begins after the root was seen to be stopped; it is killed before it can go on.
    """
    stopped_before = {pid for pid, (_parent, state) in look().items() if state in "Tt"}
    try:
        signal_all(signal.SIGSTOP)
        forks_no_more = root == 1
        while True:
            seen = look()
            if not _kill_what_is_seen(root, spare, seen) and forks_no_more:
                break
            forks_no_more = root not in seen or seen[root][1] in "Tt"
            os.sched_yield()
            signal_all(signal.SIGSTOP)
        stopped_before.discard(root)
        if root != 1:
            _signal(root, signal.SIGKILL)
    except ProcessLookupError:
        return
    if goes_on:
        continue_all(stopped_before)


def _kill_what_is_seen(root: int, spare: frozenset[int], seen: dict[int, tuple[int, str]]) -> bool:
    """Whether there was anything to kill."""
    parent_of = {pid: parent for pid, (parent, _state) in seen.items()}
    targets = descendants(root, parent_of)
    for kept in spare:
        targets.discard(kept)
        targets -= descendants(kept, parent_of)
    for pid in targets:
        _signal(pid, signal.SIGKILL)
    return bool(targets)


def stop_all(most_seconds: float) -> set[int] | None:
    """Stop everything in this pid namespace, in one call that nothing can outrun, however fast it forks. Gives what was
    stopped before; None if something has not come to its stop in that time, and then all goes on.

    A process that starts another one by vfork waits in the kernel until that one has begun its program or has ended,
    and does not come to a stop before. Where that one is stopped, it runs no more than what is stopped."""
    stopped_before = {pid for pid, (_parent, state) in look().items() if state in "Tt"}
    began = time.monotonic()
    deadline = began + most_seconds
    while True:
        try:
            signal_all(signal.SIGSTOP)  # again: one that had not come to its stop yet may have continued another one
        except ProcessLookupError:
            return stopped_before
        seen = look()
        if all(state in "Tt" for _parent, state in seen.values()):
            return stopped_before
        now = time.monotonic()
        if now >= began + _SURE_SECONDS and not _moving(seen):
            return stopped_before
        if now >= deadline:
            continue_all(stopped_before)
            return None
        os.sched_yield()


def _moving(seen: dict[int, tuple[int, str]]) -> set[int]:
    """What is neither stopped nor waits in the kernel above a child of its own that is still."""
    moving = {pid for pid, (_parent, state) in seen.items() if state not in "Tt"}
    still = set(seen) - moving
    while True:
        above = {seen[pid][0] for pid in still} & moving
        waiting = {pid for pid in above if seen[pid][1] == "D"}
        if not waiting:
            return moving
        moving -= waiting
        still = waiting


def continue_all(stopped_before: set[int]) -> None:
    """Undo `stop_all`."""
    try:
        signal_all(signal.SIGCONT)
    except ProcessLookupError:
        return
    for pid in stopped_before:
        _signal(pid, signal.SIGSTOP)


def signal_all(signum: int) -> None:
    """Send a signal to everything in this pid namespace but init itself. Raises ProcessLookupError if there is none."""
    if os.getpid() != 1:
        raise RuntimeError("only the init of a sandbox may signal everything")
    os.kill(-1, signum)


def _signal(pid: int, signum: int) -> None:
    try:
        os.kill(pid, signum)
    except OSError:
        return  # ended meanwhile
