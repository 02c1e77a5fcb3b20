"""Users of the host that a template is given: one, or a range of ids for a template of an image with several users.

A range has IDS ids. Its first one is root inside, is the owner of the template's namespaces, and the one for whom the
kernel counts whatever it counts for a user of a user namespace, in all ids of the range together (see `user_namespaces`
(7): what is counted in a namespace is counted for the namespace's owner, too). Under root a range lies above every
single id that a spawner gives (see `spawner`), and is claimed by a lock on a file in /run, which the kernel lets go of
with the spawner: two nodes never have one range. An ordinary user has the range of /etc/subuid and /etc/subgid, where
these name one that is large enough and newuidmap and newgidmap are installed.
"""

from __future__ import annotations

import errno
import fcntl
import os
import select
import signal
from dataclasses import dataclass

from harena.runtime.kernel import namespaces, pidfds, proc_files

IDS = 65_536
"""user and group ids that an image may use, as those who make images know"""
CLAIMS = "/run/harena/ids"
"""a file for each range that was ever claimed, locked by who has it; named by the range's number"""
_FIRST_RANGE, _END_OF_RANGES = 61_036, 65_534
"""numbers of ranges, in IDS: the first lies above 4.0e9, and the last two ids of all mean "no user\""""
_MAPPERS = ("newuidmap", "newgidmap")
_MAPPER_SECONDS = 10.0
"""in which newuidmap must have ended: it may ask a directory service of the network"""
_INSTALL = "install newuidmap and newgidmap (Debian and Ubuntu: apt-get install uidmap)"


@dataclass(slots=True)
class TemplateUsers:
    """The ids of the host that are a template's."""

    first: int
    """the user who is root inside, and whose namespaces they are"""
    group: int
    count: int = 1
    lock: int = -1
    """descriptor of the claim"""
    below: tuple[int, int] | None = None
    """an ordinary user's: the first user and group that are 1 inside; None = all ids follow the first"""
    why_one: str = ""
    """why there is no range, where one was wanted"""

    def map(self, pid: int) -> None:
        """Map a new user namespace's ids, and set `count` to how many there are. Raises OSError."""
        if self.below is None:
            namespaces.map_identity(str(pid), 0, self.first, self.group, self.count)
            return
        for program, own, below in zip(_MAPPERS, (self.first, self.group), self.below, strict=True):
            said = _run([program, str(pid), "0", str(own), "1", "1", str(below), str(IDS - 1)])
            if said and program != _MAPPERS[0]:
                raise OSError(errno.EPERM, said)
            if said:
                self.count, self.below, self.why_one = 1, None, said
                namespaces.map_identity(str(pid), 0, self.first, self.group)
                return

    def let_go(self) -> None:
        """Give the range back, when nothing is left that has one of its ids."""
        if self.lock >= 0:
            os.close(self.lock)
            self.lock = -1

    def said(self) -> str:
        """What users are told."""
        if self.count > 1:
            return f"{self.count} ids, " + ("of the range in /etc/subuid" if self.below else "of a range of its own")
        return f"one id: {self.why_one}"


def claimed(*, privileged: bool, otherwise: int) -> TemplateUsers:
    """A range, or where there is none the user `otherwise` alone, with the reason."""
    if not privileged:
        return _of_ordinary_user()
    why = f"no range of ids is free in {CLAIMS}"
    try:
        os.makedirs(CLAIMS, mode=0o700, exist_ok=True)
        size = _END_OF_RANGES - _FIRST_RANGE
        begin = int.from_bytes(os.urandom(4), "little")  # a range that was just let go of is seldom taken again
        for offset in range(size):
            number = _FIRST_RANGE + (begin + offset) % size
            lock = _claim(f"{CLAIMS}/{number}")
            if lock >= 0:
                first = number * IDS
                return TemplateUsers(first, first, IDS, lock)
    except OSError as error:
        why = f"{CLAIMS} cannot be used ({error.strerror})"
    return TemplateUsers(otherwise, otherwise, why_one=why)


def _claim(path: str) -> int:
    """A descriptor of a lock on the file, or -1 if another process has it."""
    lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(lock)
        return -1
    except OSError:
        os.close(lock)
        raise
    return lock


def _of_ordinary_user() -> TemplateUsers:
    user, group = os.geteuid(), os.getegid()
    missing = [program for program in _MAPPERS if not _found(program)]
    if missing:
        return TemplateUsers(user, group, why_one=f"{' and '.join(missing)} are not there; {_INSTALL}")
    names = _names_of(user)
    below = tuple(subordinate(_text(path), names) for path in ("/etc/subuid", "/etc/subgid"))
    if below[0] is None or below[1] is None:
        return TemplateUsers(
            user,
            group,
            why_one=f"/etc/subuid and /etc/subgid give {names[0]} no {IDS - 1} ids together; as root, "
            f"usermod --add-subuids 100000-165535 --add-subgids 100000-165535 {names[0]}",
        )
    return TemplateUsers(user, group, IDS, below=(below[0], below[1]))


def subordinate(text: str, names: list[str]) -> int | None:
    """The first id of a range that is large enough, in the text of /etc/subuid or /etc/subgid."""
    for line in text.splitlines():
        name, _, numbers = line.strip().partition(":")
        first, _, count = numbers.partition(":")
        if name in names and first.isdecimal() and count.isdecimal() and int(count) >= IDS - 1:
            return int(first)
    return None


def _names_of(user: int) -> list[str]:
    """The user's name, where there is one, and number."""
    import pwd  # only where there is an ordinary user

    try:
        return [pwd.getpwuid(user).pw_name, str(user)]
    except KeyError:
        return [str(user)]


def _text(path: str) -> str:
    try:
        return proc_files.read(path).decode(errors="replace")
    except OSError:
        return ""


def _found(program: str) -> str:
    for folder in os.environ.get("PATH", os.defpath).split(":"):
        path = f"{folder}/{program}"
        if folder and os.access(path, os.X_OK) and os.path.isfile(path):
            return path
    return ""


def _run(command: list[str]) -> str:
    """Run a program to its end; empty if it did what it was asked for, else what it lacks."""
    path = _found(command[0])
    if not path:
        return f"{command[0]} is not there; {_INSTALL}"
    nothing = (os.POSIX_SPAWN_OPEN, 0, "/dev/null", os.O_RDWR, 0)
    actions = [nothing, (os.POSIX_SPAWN_DUP2, 0, 1), (os.POSIX_SPAWN_DUP2, 0, 2)]
    pid = os.posix_spawn(path, command, {}, file_actions=actions, setsigdef=[signal.SIGINT])
    pidfd = pidfds.open_pidfd(pid)
    try:
        poll = select.poll()
        poll.register(pidfd, select.POLLIN)
        if not poll.poll(_MAPPER_SECONDS * 1000):
            pidfds.send_signal(pidfd, signal.SIGKILL)
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    finally:
        os.close(pidfd)
    return "" if code == 0 else f"{command[0]} has refused the range of /etc/{command[0][3:6]}"
