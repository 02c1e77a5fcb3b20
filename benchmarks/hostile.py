"""Thirty-two hostile behaviours of one workspace, all within a server's default limits.

Each is a program that runs in several sandboxes of the workspace until it is ended, or a client that sends requests
with the workspace's key (`benchmarks.hostile_requests`). `docs/reference/hostile-behaviours.md` publishes the list.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from itertools import combinations

SANDBOXES = 4
"""in which a program runs at the same time"""

_PRELUDE = r"""
import ctypes, fcntl, mmap, os, pty, select, signal, socket, struct, sys, tempfile, threading, time
libc = ctypes.CDLL(None)
def forever(step):
    while True:
        try:
            step()
        except (OSError, RuntimeError, MemoryError, ValueError):
            time.sleep(0.001)
def in_processes(count, step):
    for _ in range(count):
        try:
            if os.fork() == 0:
                forever(step)
        except OSError:
            break
    forever(lambda: time.sleep(1))
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Behaviour:
    """One way to harm neighbours."""

    name: str
    does: str
    """one sentence without its subject, for the published list"""
    program: str | None = None
    """Python source that runs in a sandbox; None = a client of the same name in `benchmarks.hostile_requests`"""

    def source(self) -> str:
        """What a sandbox is given. Raises ValueError for a behaviour that is a client's."""
        if self.program is None:
            raise ValueError(f"{self.name} is no program: it is a client's")
        return _PRELUDE + self.program


BEHAVIOURS: tuple[Behaviour, ...] = (
    Behaviour(
        name="fork-storm",
        does="forks processes that fork, until the limit of processes is reached, again and again",
        program="forever(os.fork)",
    ),
    Behaviour(
        name="thread-storm",
        does="starts threads that compute and end, as many at once as it may",
        program="""
def burn():
    sum(range(2000))
forever(lambda: threading.Thread(target=burn, daemon=True).start())
""",
    ),
    Behaviour(
        name="sessions",
        does="starts as many sessions as it may, of a process each that computes, to be many groups for the scheduler",
        program="""
def session():
    if os.getsid(0) != os.getpid():
        os.setsid()
    sum(range(100000))
in_processes(1000, session)
""",
    ),
    Behaviour(
        name="memory-to-the-limit",
        does="takes memory until its limit kills it, again and again",
        program="""
def eat():
    pid = os.fork()
    if pid == 0:
        kept = []
        while True:
            kept.append(bytearray(os.urandom(1 << 16)) * 256)
    os.waitpid(pid, 0)
forever(eat)
""",
    ),
    Behaviour(
        name="files-to-the-limit",
        does="fills its disk with large files, reads them back, removes them, and begins again",
        program="""
def fill():
    names = []
    try:
        while True:
            names.append(tempfile.mkstemp(dir="/workspace"))
            for _ in range(64):
                os.write(names[-1][0], bytes(1 << 20))
    finally:
        for there, name in names:
            os.close(there)
            os.unlink(name)
forever(fill)
""",
    ),
    Behaviour(
        name="inode-locks",
        does="keeps one inode locked from 200 threads (fallocate), while its key reads and writes that file",
        program="""
there = os.open("/workspace/held", os.O_RDWR | os.O_CREAT)
def hold():
    libc.fallocate(there, 0, ctypes.c_long(0), ctypes.c_long(64 << 20))
    libc.fallocate(there, 3, ctypes.c_long(0), ctypes.c_long(64 << 20))
for _ in range(200):
    threading.Thread(target=forever, args=(hold,), daemon=True).start()
forever(lambda: time.sleep(1))
""",
    ),
    Behaviour(
        name="leases",
        does="takes leases (F_SETLEASE) on its own files and on those that every sandbox sees, and opens them",
        program="""
signal.signal(signal.SIGIO, signal.SIG_IGN)
def lease():
    for name in ("/etc/passwd", "/usr/bin/env", sys.executable, "/workspace/leased"):
        there = os.open(name, os.O_RDONLY | (os.O_CREAT if name.startswith("/workspace") else 0))
        try:
            fcntl.fcntl(there, fcntl.F_SETLEASE, fcntl.F_RDLCK)
            os.close(os.open(name, os.O_RDONLY | os.O_NONBLOCK))
        finally:
            os.close(there)
in_processes(8, lease)
""",
    ),
    Behaviour(
        name="file-locks",
        does="locks files that every sandbox sees (flock), and bytes of the kernel's own shared inodes (fcntl)",
        program="""
kept = [os.open(name, os.O_RDONLY) for name in ("/etc/passwd", "/usr/bin/env", sys.executable, "/dev/null")]
for there in kept:
    try:
        fcntl.flock(there, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        pass
shared = select.epoll().fileno()
place = 0
def lock():
    global place
    place += 2
    fcntl.fcntl(shared, fcntl.F_SETLK, struct.pack("hhqqi", fcntl.F_WRLCK, 0, place, 1, 0))
forever(lock)
""",
    ),
    Behaviour(
        name="inotify",
        does="makes inotify instances and watches until there are no more, and events at all of them",
        program="""
watches = []
def watch():
    try:
        watches.append(libc.inotify_init1(0o4000))
        for name in (b"/tmp", b"/workspace", b"/etc", b"/usr/bin"):
            libc.inotify_add_watch(watches[-1], name, 0xFFF)
    finally:
        for _ in range(100):
            os.close(os.open("/tmp/noticed", os.O_RDWR | os.O_CREAT))
in_processes(4, watch)
""",
    ),
    Behaviour(
        name="huge-outputs",
        does="writes to its standard output, 64 KiB at a time, for ever, while its key reads all of it",
        program="text = b'x' * 65535 + b'\\n'\nforever(lambda: os.write(1, text))",
    ),
    Behaviour(
        name="short-words",
        does="writes two bytes at a time to both of its outputs, for ever, while its key reads all of it",
        program="forever(lambda: (os.write(1, b'x\\n'), os.write(2, b'y\\n')))",
    ),
    Behaviour(
        name="sockets",
        does="opens and closes connections over loopback, and sends datagrams and descriptors to itself",
        program="""
listener = socket.create_server(("127.0.0.1", 0), backlog=1000)
def connect():
    with socket.create_connection(listener.getsockname()) as one:
        other, _ = listener.accept()
        one.sendall(bytes(4096))
        other.close()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as datagrams:
        datagrams.bind(("127.0.0.1", 0))
        for _ in range(20):
            datagrams.sendto(bytes(60000), datagrams.getsockname())
    one, other = socket.socketpair()
    with one, other:
        socket.send_fds(one, [b"x"], [listener.fileno()] * 200)
in_processes(8, connect)
""",
    ),
    Behaviour(
        name="terminals",
        does="opens terminals until there are no more, and writes through all of them",
        program="""
kept = []
def terminal():
    if len(kept) < 200:
        kept.append(pty.openpty())
    for one, other in kept:
        os.set_blocking(other, False)
        os.set_blocking(one, False)
        os.write(other, b"x" * 1000)
        os.read(one, 4096)
in_processes(4, terminal)
""",
    ),
    Behaviour(
        name="tiny-files",
        does="makes and removes small files, thousands at a time, from several processes",
        program="""
def tiny():
    place = tempfile.mkdtemp(dir="/workspace")
    names = [f"{place}/{number}" for number in range(2000)]
    for name in names:
        os.close(os.open(name, os.O_CREAT | os.O_WRONLY))
    for name in names:
        os.unlink(name)
    os.rmdir(place)
in_processes(4, tiny)
""",
    ),
    Behaviour(
        name="deep-directories",
        does="makes directories thousands deep and leaves them to be removed with the sandbox",
        program="""
def deepen():
    os.chdir(tempfile.mkdtemp(dir="/workspace"))
    for _ in range(3000):
        os.mkdir("d" * 200)
        os.chdir("d" * 200)
forever(deepen)
""",
    ),
    Behaviour(
        name="sparse-files",
        does="makes files of a terabyte that hold nothing, maps and reads them, while its key reads them too",
        program="""
def sparse():
    there = os.open("/workspace/held", os.O_RDWR | os.O_CREAT)
    try:
        os.ftruncate(there, 1 << 40)
        page = mmap.mmap(there, 1 << 30, prot=mmap.PROT_READ)
        for place in range(0, 1 << 30, 1 << 16):
            page[place]
        page.close()
    finally:
        os.close(there)
in_processes(4, sparse)
""",
    ),
    Behaviour(
        name="signals",
        does="sends signals among its processes as fast as it can, and queues as many as it may",
        program="""
for number in (signal.SIGUSR1, signal.SIGUSR2):
    signal.signal(number, lambda *_: None)
signal.pthread_sigmask(signal.SIG_BLOCK, [40])
for _ in range(16):
    if os.fork() == 0:
        break
def send():
    os.killpg(0, signal.SIGUSR1)
    libc.sigqueue(os.getpid(), 40, ctypes.create_string_buffer(16))
forever(send)
""",
    ),
    Behaviour(
        name="timers",
        does="arms timers of microseconds in every process that it may have",
        program="""
signal.signal(signal.SIGALRM, lambda *_: None)
def arm():
    signal.setitimer(signal.ITIMER_REAL, 1e-6, 1e-6)
    select.select([], [], [], 0.1)
in_processes(100, arm)
""",
    ),
    Behaviour(
        name="futexes",
        does="has 100 threads in each of two processes wait for one lock and wake each other",
        program="""
lock = threading.Condition()
def contend():
    with lock:
        lock.notify_all()
        lock.wait(0.001)
os.fork()
for _ in range(100):
    threading.Thread(target=forever, args=(contend,), daemon=True).start()
forever(contend)
""",
    ),
    Behaviour(
        name="mappings",
        does="maps, touches and unmaps memory as fast as it can, in several processes",
        program="""
def remap():
    page = mmap.mmap(-1, 16 << 20)
    for place in range(0, 16 << 20, 4096):
        page[place] = 1
    page.close()
in_processes(4, remap)
""",
    ),
    Behaviour(
        name="exec-storm",
        does="starts /bin/true as fast as it can, in several processes",
        program="in_processes(8, lambda: os.waitpid(os.posix_spawn('/bin/true', ['true'], {}), 0))",
    ),
    Behaviour(name="created-and-dropped", does="makes sandboxes, 40 at a time, and has all of them ended at once"),
    Behaviour(name="templates-that-hang", does="makes blueprints whose warm modules never end, and uses them"),
    Behaviour(name="warm-lists-that-die", does="makes blueprints whose warm modules kill their process, and uses them"),
    Behaviour(name="worst-bodies", does="sends megabytes of wrong values to every route that takes JSON"),
    Behaviour(
        name="slow-readers",
        does="asks for large files and documents over 200 connections and reads nothing, or ends no request",
    ),
    Behaviour(name="events", does="keeps jobs of 500 short runs going, and reads their events from the first one on"),
    Behaviour(name="cursor-loops", does="turns pages of one entry, with cursors right and wrong, without a pause"),
    Behaviour(name="cancelled-jobs", does="submits jobs of endless programs and cancels or deletes them at once"),
    Behaviour(
        name="listings",
        does="asks for lists of 20,000 files and of hundreds of processes, and packs both as archives, without a pause",
    ),
    Behaviour(
        name="templates-sum",
        does="makes 32 blueprints at a time whose warm modules take all memory and processes that they get",
    ),
    Behaviour(
        name="sandboxes-sum",
        does="makes 100 sandboxes in which programs take all memory and processes that they get, and keep them",
    ),
)  # fmt: skip

BY_NAME = {behaviour.name: behaviour for behaviour in BEHAVIOURS}


def drawn_pairs(seed: int, count: int) -> list[tuple[Behaviour, Behaviour]]:
    """So many pairs of different behaviours, none twice. Raises ValueError where there are not so many."""
    every = list(combinations(BEHAVIOURS, 2))
    if count > len(every):
        raise ValueError(f"{count} pairs: {len(BEHAVIOURS)} behaviours have {len(every)}")
    return random.Random(seed).sample(every, count)
