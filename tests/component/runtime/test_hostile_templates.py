"""What a template says to the spawner: it runs a blueprint's modules, so it may say anything, or stop listening."""

from __future__ import annotations

import ctypes
import errno
import fcntl
import mmap
import os
import random
import select
import signal
import socket
import struct
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from footprint import resident_bytes
from harena.runtime.guest.template import ANSWER
from harena.runtime.guest.wire import MAX_DESCRIPTORS
from harena.runtime.kernel import pidfds
from harena.runtime.spawner import spawner
from harena.runtime.spawner.spawner import Spawner

MESSAGES = int(os.environ.get("HARENA_FUZZ_MESSAGES", "5000"))
LIMITS = (None, None, None)


class Told:
    """Collects what the spawner says to its client."""

    def __init__(self) -> None:
        self.messages: list[tuple[object, ...]] = []

    def __call__(self, *message: object) -> None:
        self.messages.append(message)

    def about(self, kind: str) -> list[tuple[object, ...]]:
        """The messages of one kind, without it."""
        return [message[1:] for message in self.messages if message[0] == kind]


def asleep() -> tuple[int, int]:
    """(pid, pidfd) of a process that waits, as a template and a fork of it do."""
    pid = os.posix_spawn("/bin/sleep", ["sleep", "600"], {})
    return pid, pidfds.open_pidfd(pid)


class Shadows:
    """Processes that wait for a minute, made ten times as fast as `asleep` makes them: they have this process's memory
    and descriptors, a stack of their own, and do nothing but call the C library's `sleep`."""

    CLONE_VM, CLONE_FS, CLONE_FILES = 0x100, 0x200, 0x400
    STACKS, STACK_BYTES, SECONDS = 256, 1 << 14, 60

    def __init__(self) -> None:
        libc = ctypes.CDLL(None, use_errno=True)
        self._clone, self._sleep = libc.clone, ctypes.cast(libc.sleep, ctypes.c_void_p)
        self._clone.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p]
        self._memory = mmap.mmap(-1, self.STACKS * self.STACK_BYTES)
        self._lowest = ctypes.addressof(ctypes.c_char.from_buffer(self._memory))
        self._stacks: deque[tuple[int, int]] = deque((number, 0) for number in range(self.STACKS))
        """(number of a stack, the process that has it or had it), the one that was taken longest ago first"""

    def __call__(self) -> tuple[int, int]:
        """(pid, pidfd), as of `asleep`."""
        top = self._lowest + (self._free_stack() + 1) * self.STACK_BYTES - 64
        shared = self.CLONE_VM | self.CLONE_FS | self.CLONE_FILES
        pid = self._clone(self._sleep, top, shared | signal.SIGCHLD, self.SECONDS)
        if pid < 0:
            raise OSError(ctypes.get_errno(), "clone")
        self._stacks[-1] = self._stacks[-1][0], pid
        return pid, pidfds.open_pidfd(pid)

    def _free_stack(self) -> int:
        """One that no process has which has not been waited for: it would come back from its call some day."""
        for _ in range(self.STACKS):
            self._stacks.rotate(-1)
            number, pid = self._stacks[-1]
            if not pid or not Path(f"/proc/{pid}").exists():
                return number
        raise AssertionError(f"{self.STACKS} of them have not ended")


def has_ended(pid: int) -> bool:
    """It is a zombie. Raises FileNotFoundError if somebody has waited for it."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].startswith("Z")


class Bench:
    """A spawner of which only the templates are not real: processes that wait, and sockets that the test holds."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        ours, self.client = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.spawner = Spawner(ours, os.getpid())  # type: ignore[arg-type]
        self.said = Told()
        monkeypatch.setattr(self.spawner, "_say", self.said)
        self.asleep: Callable[[], tuple[int, int]] = asleep
        self.numbers = 0
        self.sockets: dict[int, socket.socket] = {}

    def template(self) -> spawner._Template:
        """One that has not said yet that it is ready."""
        self.numbers += 1
        pid, pidfd = self.asleep()
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        theirs.setblocking(False)
        group = self.spawner.template_pool.acquire()
        made = spawner._Template(self.numbers, 0, pid, pidfd, ours, group)  # type: ignore[arg-type]
        self.spawner.templates[made.number] = made
        self.spawner._watch(made.control.fileno(), lambda: self.spawner._from_template(made))
        self.spawner._watch(made.pidfd, lambda: self.spawner._template_died(made))
        self.sockets[made.number] = theirs
        return made

    def order(self, made: spawner._Template) -> int:
        """A sandbox of it."""
        self.numbers += 1
        channel = os.open("/dev/null", os.O_RDWR)
        self.spawner._create(self.numbers, made.number, b"settings", LIMITS, channel, -1)
        return self.numbers

    def say(self, made: spawner._Template, message: bytes, *descriptors: int) -> None:
        """As the template."""
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, struct.pack(f"{len(descriptors)}i", *descriptors))]
        with suppress(OSError):
            self.sockets[made.number].sendmsg([message], rights if descriptors else [])

    def work(self) -> None:
        """Everything that the spawner can do now."""
        while self.spawner.serve_events(0):
            continue

    def until(self, met: Callable[[], bool]) -> None:
        """Work until it is so. However long a process that was killed takes to end, its end is not missed."""
        while not met():
            if not self.spawner.serve_events(1):
                missed = [made.number for made in self.spawner.templates.values() if has_ended(made.pid)]
                assert missed == [] or self.spawner.serve_events(0), f"nobody has seen the end of templates {missed}"

    def close(self) -> None:
        """End what is left."""
        for made in self.spawner.templates.values():
            made.control.close()
        self.spawner._end()
        for theirs in (*self.sockets.values(), self.client, self.spawner.control):
            theirs.close()
        self.spawner.epoll.close()


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
    """One spawner in this process."""
    made = Bench(monkeypatch)
    yield made
    made.close()


READY = ANSWER.pack(0, 0)


def ended(bench: Bench, made: spawner._Template) -> bool:
    return made.number not in bench.spawner.templates


def test_one_that_keeps_to_the_protocol_is_left_alone(bench: Bench) -> None:
    """Ready, then each sandbox once, in any order, made or not."""
    made = bench.template()
    bench.say(made, READY)
    first, second = bench.order(made), bench.order(made)
    pid, pidfd = asleep()
    bench.say(made, ANSWER.pack(second, 1) + b"mount: no")
    bench.say(made, ANSWER.pack(first, 0), pidfd)
    os.close(pidfd)
    bench.work()
    assert not ended(bench, made)
    assert bench.said.about("created") == [(second, "mount: no"), (first, "")]
    os.kill(pid, signal.SIGKILL)
    bench.until(lambda: (first, 0, 0, False) in bench.said.about("dead"))
    os.waitpid(pid, 0)


@pytest.mark.parametrize(
    "message",
    [b"", b"\0", b"\0\0\0\0\0\0\0", READY, ANSWER.pack(77, 0), ANSWER.pack(77, 1) + b"no", b"\xff" * 9000],
    ids=["nothing", "one byte", "too short", "ready again", "unasked", "unasked failure", "too long"],
)
def test_what_no_template_says_ends_it_alone(bench: Bench, message: bytes) -> None:
    """Those who wait for it are told that it is gone; another template serves on."""
    other, made = bench.template(), bench.template()
    for each in (other, made):
        bench.say(each, READY)
    waiting, others = bench.order(made), bench.order(other)
    bench.say(made, message)
    bench.until(lambda: ended(bench, made))
    assert (waiting, spawner.TEMPLATE_GONE) in bench.said.about("created")
    assert bench.said.about("template_dead") == [(made.number,)]
    pid, pidfd = asleep()
    bench.say(other, ANSWER.pack(others, 0), pidfd)
    os.close(pidfd)
    bench.until(lambda: (others, "") in bench.said.about("created"))
    os.kill(pid, signal.SIGKILL)
    bench.until(lambda: (others, 0, 0, False) in bench.said.about("dead"))
    os.waitpid(pid, 0)


def test_one_that_closes_its_socket_does_not_keep_the_spawner_busy(bench: Bench) -> None:
    """The end of a socket can be read for ever."""
    made = bench.template()
    bench.say(made, READY)
    bench.sockets[made.number].close()
    bench.until(lambda: ended(bench, made))


def test_one_that_ends_at_once_ends_nobody_else(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before it could be told what to import."""
    made = bench.template()
    bench.sockets[made.number].close()
    monkeypatch.setattr(bench.spawner, "_clone_template", lambda number, plan: made)
    for descriptor in (made.control.fileno(), made.pidfd):
        bench.spawner._unwatch(descriptor)
    bench.spawner._start_template(made.number, {}, {"warm": None})
    bench.until(lambda: ended(bench, made))
    assert [number for number, *_ in bench.said.about("template")] == [made.number]


def test_what_is_wrong_with_a_cgroup_names_nothing_of_the_host(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """It reaches the user: the reason, without the path and the pids that were written."""

    def refused(*_: object, **__: object) -> None:
        raise OSError(errno.EBUSY, "writing '12345': busy", "/sys/fs/cgroup/memory/of/this/host")

    made = bench.template()
    bench.say(made, READY)
    told = bench.order(made)
    bench.spawner.sandboxes[told].enters = False  # as where a group has no entries
    monkeypatch.setattr(bench.spawner.sandboxes[told].group, "attach", refused)
    closed = bench.spawner.pool.acquire()
    monkeypatch.setattr(closed, "open_entries", refused)
    monkeypatch.setattr(bench.spawner.pool, "acquire", lambda **_: closed)
    bench.order(made)
    monkeypatch.setattr(bench.spawner.pool, "acquire", refused)
    monkeypatch.setattr(bench.spawner.template_pool, "acquire", refused)
    bench.order(made)
    bench.spawner._start_template(
        77, {"trees": [], "layers": [], "maps_owners": False, "imports": False, "workspace": "default"}, {}
    )
    pid, pidfd = asleep()
    bench.say(made, ANSWER.pack(told, 0), pidfd)
    os.close(pidfd)
    bench.work()
    os.waitpid(pid, 0)
    texts = [str(text) for kind in ("created", "template") for _, text, *_ in bench.said.about(kind) if text]
    assert [text for text in texts if "busy" not in text or "/" in text or "12345" in text] == []
    assert len(texts) == 4


def test_only_an_import_is_light(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """A template's group has its whole weight while the namespaces are made, also where an earlier import has left it
    light, and again before an import that has not ended is killed."""
    weights: list[bool] = []
    made = bench.template()
    monkeypatch.setattr(made.group, "weigh", lambda *, lightly: weights.append(lightly))
    monkeypatch.setattr(bench.spawner.template_pool, "acquire", lambda **_: made.group)
    _, entries, light = bench.spawner._template_group("default", imports=True)
    assert weights == [False]
    made.imports = True
    bench.spawner._misbehaved(made, "it says what no template says")
    assert weights == [False, False]
    for descriptor in (*entries, *(light.descriptors if light else ())):
        os.close(descriptor)


def test_a_workspace_is_light_until_its_last_import_has_ended(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether that gets ready or not; another workspace's import has no say in it."""
    weighed: list[str] = []
    one, two, others = (bench.template() for _ in range(3))
    for made, name, workspace in ((one, "first", "one"), (two, "second", "one"), (others, "other's", "other")):
        made.imports, made.workspace = True, workspace
        monkeypatch.setattr(made.group, "weigh_share", lambda name=name: weighed.append(name))
    bench.say(one, READY)
    bench.work()
    assert weighed == []
    bench.say(others, READY)
    bench.work()
    os.kill(two.pid, signal.SIGKILL)
    bench.until(lambda: ended(bench, two))
    assert weighed == ["other's", "second"]


def test_a_sandbox_goes_into_its_cgroups_itself(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is given the files for that with its channel, and the spawner moves it nowhere: that would wait until no
    process of the machine is being forked."""
    made = bench.template()
    bench.say(made, READY)
    group = bench.spawner.pool.acquire()
    moved: list[int] = []
    monkeypatch.setattr(group, "open_entries", lambda: [os.memfd_create("entry"), os.memfd_create("entry")])
    monkeypatch.setattr(group, "attach", moved.append)
    monkeypatch.setattr(bench.spawner.pool, "acquire", lambda **_: group)
    before = len(os.listdir("/proc/self/fd"))
    told = bench.order(made)
    bench.work()
    given = received(bench.sockets[made.number])
    for descriptor in given:
        os.close(descriptor)
    pid, pidfd = asleep()
    bench.say(made, ANSWER.pack(told, 0), pidfd)
    os.close(pidfd)
    bench.work()
    assert len(given) == 3
    assert (told, "") in bench.said.about("created")
    assert moved == []
    assert len(os.listdir("/proc/self/fd")) == before + 1  # the sandbox's pidfd
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    bench.until(lambda: told not in bench.spawner.sandboxes)


def test_what_happened_to_a_closed_descriptor_is_not_told_of_the_next_one(bench: Bench) -> None:
    """A template's death and the end of its socket are found at once. Its descriptors are closed, and two others answer
    with new sandboxes, whose descriptors have the same numbers: neither of them has died."""
    made, *others = (bench.template() for _ in range(3))
    for each in (made, *others):
        bench.say(each, READY)
    told = [bench.order(each) for each in others]
    bench.work()
    freed = {made.pidfd, made.control.fileno()}
    sleepers = [asleep() for _ in others]
    os.kill(made.pid, signal.SIGKILL)
    select.select([made.pidfd], [], [])
    for each, number, (_, pidfd) in zip(others, told, sleepers, strict=True):
        bench.say(each, ANSWER.pack(number, 0), pidfd)
    bench.sockets[made.number].close()
    assert bench.spawner.serve_events(0)
    assert ended(bench, made)
    assert {bench.spawner.sandboxes[number].pidfd for number in told} == freed
    bench.work()
    assert bench.said.about("dead") == []
    for pid, pidfd in sleepers:
        os.kill(pid, signal.SIGKILL)
        os.close(pidfd)
        os.waitpid(pid, 0)
    bench.until(lambda: {number for number, *_ in bench.said.about("dead")} == set(told))


def received(theirs: socket.socket) -> list[int]:
    """The descriptors of the next order."""
    _, ancillary, _, _ = theirs.recvmsg(100, socket.CMSG_SPACE(4 * MAX_DESCRIPTORS))
    return spawner._descriptors(ancillary)


def test_one_that_does_not_read_holds_up_nobody(bench: Bench) -> None:
    """What it is to be told waits, and is told when it reads again; what waited when it died is not lost."""
    made = bench.template()
    bench.say(made, READY)
    made.control.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1)
    numbers = [bench.order(made) for _ in range(400)]
    bench.work()
    assert made.unsent
    heard = []
    theirs = bench.sockets[made.number]
    while len(heard) < 50:
        with suppress(BlockingIOError):
            message, ancillary, _, _ = theirs.recvmsg(100, socket.CMSG_SPACE(4 * MAX_DESCRIPTORS))
            for descriptor in spawner._descriptors(ancillary):
                os.close(descriptor)
            heard.append(int.from_bytes(message[:4], "little"))
            bench.say(made, ANSWER.pack(heard[-1], 1) + b"no")
        bench.work()
    assert heard == numbers[:50]
    os.kill(made.pid, signal.SIGKILL)
    bench.until(lambda: ended(bench, made))
    told = bench.said.about("created")
    assert sorted(number for number, _ in told) == numbers  # type: ignore[misc]
    assert told.count((numbers[-1], spawner.TEMPLATE_GONE)) == 1


class Sleepers:
    """Processes that a template says are its forks: the last twenty live, and most are given as several sandboxes."""

    def __init__(self, made: Callable[[], tuple[int, int]]) -> None:
        self._made = made
        self._living: deque[tuple[int, int]] = deque()

    def pidfd(self, drawn: random.Random) -> int:
        """Of one of them, or of a new one; to be closed by the caller."""
        if not self._living or drawn.random() < 0.05:
            self._living.append(self._made())
            if len(self._living) > 20:
                self.end_first()
        return os.dup(drawn.choice(self._living)[1])

    def end_first(self) -> None:
        """The one that was made first; it may have ended."""
        pid, pidfd = self._living.popleft()
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        os.close(pidfd)

    def end(self) -> None:
        """All."""
        while self._living:
            self.end_first()


def children() -> set[str]:
    """This process's, by number; of other tests, too."""
    return set(Path(f"/proc/self/task/{os.getpid()}/children").read_text().split())


def answered(bench: Bench, asked: set[int]) -> None:
    """Take the answers that orders have had off those that wait for one: each has one answer."""
    for number, _ in bench.said.about("created"):
        asked.remove(number)  # type: ignore[arg-type]
    bench.said.messages.clear()


def drawn_message(drawn: random.Random, made: spawner._Template, sleepers: Sleepers) -> tuple[bytes, list[int]]:
    """What a template says, with descriptors that are to be closed. Half of it may be right, where something waits."""
    kind = drawn.choice(("right", "right", "right", "failed", "number", "bytes", "ready", "file", "two", "self"))
    number = drawn.choice([*list(made.waiting)[-4:], drawn.randrange(1 << 32)])
    message = ANSWER.pack(number, 0)
    if kind == "right" and made.waiting:
        return ANSWER.pack(next(iter(made.waiting)), 0), [sleepers.pidfd(drawn)]
    if kind == "failed":
        message = ANSWER.pack(number, drawn.randrange(-(1 << 31), 1 << 31)) + drawn.randbytes(drawn.randrange(40))
    elif kind == "bytes":
        message = drawn.randbytes(drawn.choice((0, 1, 7, 8, 9, 100, 9000)))
    elif kind == "ready":
        message = READY
    elif kind in ("file", "two"):
        return message, [os.open("/dev/null", os.O_RDONLY) for _ in range(1 if kind == "file" else 3)]
    elif kind == "self":
        return message, [pidfds.open_pidfd(made.pid)]
    return message, []


AT_ONE_TIME = 16
"""templates that talk: while one that has been ended is dying, others go on, so that no message waits for a death"""


def another(bench: Bench, drawn: random.Random) -> spawner._Template:
    """A template, which says that it is ready before anything else, or does not."""
    made = bench.template()
    if drawn.random() < 0.9:
        bench.say(made, READY)
        bench.work()
    return made


def nothing_left(bench: Bench, asked: set[int], open_files: int) -> None:
    """End all templates and sandboxes: each order has had its answer, and no descriptor is open that was not before."""
    for made in bench.spawner.templates.values():
        with suppress(ProcessLookupError):
            os.kill(made.pid, signal.SIGKILL)
    bench.until(lambda: not bench.spawner.templates)
    for number in list(bench.sockets):
        bench.sockets.pop(number).close()
    bench.work()
    answered(bench, asked)
    assert asked == set()
    assert not bench.spawner.sandboxes
    assert len(os.listdir("/proc/self/fd")) == open_files


@pytest.mark.timeout(0 if MESSAGES > 50_000 else 120)
def test_no_message_of_a_template_ends_the_spawner(bench: Bench) -> None:
    """Random messages, with random descriptors, before and after it is ready, and after it was ended: at most that
    template ends, each order is answered once, and after each 20,000 messages no descriptor, process or memory is left.
    HARENA_FUZZ_MESSAGES sets how many there are."""
    drawn = random.Random(11)
    asked: set[int] = set()
    bench.asleep = Shadows()
    memory, open_before, children_before = 0, len(os.listdir("/proc/self/fd")), children()
    sleepers, talking = Sleepers(bench.asleep), list[spawner._Template]()
    for sent in range(MESSAGES):
        if sent % 1000 == 0:
            answered(bench, asked)
        if sent == MESSAGES // 10:  # by now it has its buffers
            memory = resident_bytes()
        if sent % 20_000 == 19_999:
            sleepers.end()
            bench.until(lambda: not bench.spawner.sandboxes)
            nothing_left(bench, asked, open_before)
            talking.clear()
            assert children() <= children_before
        while True:
            for made in [made for made in talking if ended(bench, made)]:
                talking.remove(made)
                bench.sockets.pop(made.number).close()
            if len(talking) == AT_ONE_TIME:
                break
            talking.append(another(bench, drawn))
        made = drawn.choice(talking)
        if made.ended_by and drawn.random() < 0.8:  # most of what is said is said by those who live
            made = next((each for each in talking if not each.ended_by), made)
        if drawn.random() < 0.3:
            asked.add(bench.order(made))
        message, descriptors = drawn_message(drawn, made, sleepers)
        bench.say(made, message, *descriptors)
        for descriptor in descriptors:
            os.close(descriptor)
        bench.work()
    sleepers.end()
    nothing_left(bench, asked, open_before)
    assert children() <= children_before
    assert resident_bytes() < memory + (16 << 20)
    assert fcntl.fcntl(bench.spawner.control.fileno(), fcntl.F_GETFD) >= 0
