# ruff: noqa: E501 (programs are text, not code of ours)
"""Greed: each program takes more than its sandbox may have."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from harena.core.models import MIB, ExecOutcome

ENDED = frozenset({ExecOutcome.EXITED, ExecOutcome.MEMORY})


@dataclass(frozen=True)
class Hog:
    """A greedy program: it says ESCAPED when it got more than its limits allow."""

    program: str
    outcomes: frozenset[ExecOutcome] = ENDED
    limits: dict[str, Any] = field(default_factory=dict)
    request: dict[str, Any] = field(default_factory=dict)


SMALL = {"memory_bytes": 64 * MIB}
TAKE = r"""
most = int(sys.argv[1]) << 20
def took(amount):
    if amount > most:
        escaped("took", amount >> 20, "MiB of", most >> 20)
        os._exit(0)
"""

# Each takes 160 MiB where 64 are allowed. Given: the number of MiB at which it has got out.
MEMORY = {
    "heap": "kept = []\nfor turn in range(160):\n    kept.append(b'x' * (1 << 20))\n    took(turn << 20)\n",
    "anonymous map": r"""
import mmap
page = mmap.mmap(-1, 160 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
for turn in range(0, 160 << 20, 4096):
    page[turn] = 1
    took(turn)
""",
    "shared map": r"""
import mmap
page = mmap.mmap(-1, 160 << 20)
for turn in range(0, 160 << 20, 4096):
    page[turn] = 1
    took(turn)
""",
    "memfd": r"""
kept = []
for turn in range(160):
    if turn % 16 == 0:
        kept.append(os.memfd_create("x"))
    os.write(kept[-1], b"x" * (1 << 20))
    took(turn << 20)
""",
    "secret memory": r"""
import mmap
descriptor = call(447, 0)
if descriptor >= 0:
    os.ftruncate(descriptor, 160 << 20)
    try:
        page = mmap.mmap(descriptor, 160 << 20)
    except OSError:
        page = None  # more than may be locked
    for turn in range(0, 160 << 20, 4096) if page else ():
        page[turn] = 1
        took(turn)
""",
    "files": r"""
for turn in range(160):
    with open(f"/tmp/{turn}", "wb") as file:
        file.write(b"x" * (1 << 20))
    took(turn << 20)
""",
    "files in /dev/shm": r"""
with open("/dev/shm/x", "wb", 0) as file:
    for turn in range(160):
        file.write(b"x" * (1 << 20))
        took(turn << 20)
""",
    "removed files": r"""
kept = []
for turn in range(160):
    kept.append(os.open("/tmp/x", os.O_CREAT | os.O_RDWR))
    os.unlink("/tmp/x")
    os.write(kept[-1], b"x" * (1 << 20))
    took(turn << 20)
""",
    "System V segments": r"""
libc.shmat.restype = ctypes.c_void_p
for turn in range(20):
    segment = libc.shmget(0, 8 << 20, 0o1600)
    address = libc.shmat(segment, None, 0) if segment >= 0 else ctypes.c_void_p(-1).value
    if address == ctypes.c_void_p(-1).value:
        break
    ctypes.memset(address, 1, 8 << 20)
    libc.shmdt(ctypes.c_void_p(address))
    took(turn * 8 << 20)
""",
    "many processes": r"""
import select, signal
def anonymous(name):
    return int(next(line for line in open(f"/proc/{name}/status") if line.startswith("RssAnon")).split()[1])
own = anonymous("self")  # a child counts it as its own although it is the parent's
for turn in range(20):
    if os.fork() == 0:
        kept = b"x" * (8 << 20)
        os.write(2, b".")
        while True:
            signal.pause()
def full():
    found = set()
    for name in os.listdir("/proc"):
        if name.isdigit() and name != "1":
            try:
                if anonymous(name) >= own + (8 << 10):
                    found.add(name)
            except (OSError, StopIteration):
                pass  # ended meanwhile
    return found
before = set()
for turn in range(60):
    now = full()
    took(len(now & before) * 8 << 20)  # full in two looks: all of them at the moment between the looks
    before = now
    select.select([], [], [], 0.01)
""",
    "pipes": r"""
import fcntl
kept, total = [], 0
try:
    while total < 160 << 20:
        read_end, write_end = os.pipe()
        os.set_blocking(write_end, False)
        try:
            fcntl.fcntl(write_end, 1031, 1 << 20)
        except OSError:
            pass
        kept.append(read_end)
        try:
            while True:
                total += os.write(write_end, b"x" * 65536)
        except BlockingIOError:
            took(total)
        kept.append(write_end)
except OSError:
    pass
""",
    "unix sockets": r"""
import socket
kept, total = [], 0
try:
    while total < 160 << 20:
        a, b = socket.socketpair()
        a.setblocking(False)
        kept += [a, b]
        try:
            while True:
                total += a.send(b"x" * 65536)
        except BlockingIOError:
            took(total)
except OSError:
    pass
""",
    "TCP over loopback": r"""
import socket
listener = socket.create_server(("127.0.0.1", 0), backlog=100)
kept, total = [], 0
try:
    while total < 160 << 20 and len(kept) < 400:
        a = socket.create_connection(listener.getsockname())
        b, _ = listener.accept()
        a.setblocking(False)
        kept += [a, b]
        try:
            while True:
                total += a.send(b"x" * 65536)
        except BlockingIOError:
            took(total)
except OSError:
    pass
""",
    "UDP over loopback": r"""
import socket, struct
kept, total = [], 0
try:
    while total < 160 << 20 and len(kept) < 400:
        a = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        a.bind(("127.0.0.1", 0))
        a.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 30)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as b:
            for _ in range(40):
                b.sendto(b"x" * 60000, a.getsockname())
        kept.append(a)
        a.setblocking(False)
        total = sum(struct.unpack_from("<9I", each.getsockopt(socket.SOL_SOCKET, 55, 36))[0] for each in kept)
        took(total)
except OSError:
    pass
""",
    "message queues": r"""
kept = 0
for turn in range(2000):
    queue = libc.msgget(0, 0o600)
    if queue < 0:
        break
    message = ctypes.create_string_buffer(8 + 8192)
    message[0] = 1
    for _ in range(2):
        if libc.msgsnd(queue, message, 8192, 0o4000) == 0:
            kept += 8192
            took(kept)
""",
    "locks and timers": r"""
import fcntl, struct
descriptor = os.open("/tmp/x", os.O_CREAT | os.O_RDWR)
for turn in range(3000):
    try:
        fcntl.fcntl(descriptor, fcntl.F_SETLK, struct.pack("hhqqi", fcntl.F_WRLCK, 0, turn * 2, 1, 0))
    except OSError:
        break
""",
    "epoll and event descriptors": r"""
import select
kept = []
try:
    while True:
        kept.append(select.epoll())
        kept.append(os.eventfd(0))
except OSError:
    pass
if len(kept) > 1100:
    escaped(len(kept))
""",
}  # fmt: skip

OTHERS = {
    "fork bomb": Hog(
        "while True:\n    try:\n        os.fork()\n    except OSError:\n        pass\n",
        frozenset({ExecOutcome.TIMEOUT}), {"pids": 64}, {"timeout_seconds": 1.0},
    ),
    "fork bomb of shells": Hog(
        "os.execv('/bin/sh', ['sh', '-c', 'f() { f | f & }; f; while :; do f; done'])",
        frozenset({ExecOutcome.TIMEOUT, ExecOutcome.EXITED}), {"pids": 64}, {"timeout_seconds": 1.0},
    ),
    "thread bomb": Hog(
        "import threading\nstop = threading.Event()\ncount = 0\n"
        "try:\n    while count < 1000:\n        threading.Thread(target=stop.wait).start(); count += 1\n"
        "except RuntimeError:\n    pass\n"
        "if count > 64:\n    escaped(count)\ndone()\nos._exit(0)",
        frozenset({ExecOutcome.EXITED}), {"pids": 64},
    ),
    "process counter": Hog(
        "count = 0\ntry:\n    while count < 1000:\n        if os.fork() == 0:\n            import signal; signal.pause()\n"
        "        count += 1\nexcept OSError:\n    pass\nif count > 64:\n    escaped(count)\ndone()",
        frozenset({ExecOutcome.EXITED}), {"pids": 64},
    ),
    "disk": Hog(
        "total = 0\ntry:\n    while total < 64 << 20:\n"
        "        for place in ('/tmp', '/data', '/workspace', '/root', '/dev/shm', '/var/tmp'):\n"
        "            total += os.write(os.open(f'{place}/{total}', os.O_CREAT | os.O_WRONLY), b'x' * (1 << 18))\n"
        "except OSError:\n    pass\nif total > 8 << 20:\n    escaped(total)\ndone()",
        frozenset({ExecOutcome.EXITED}), {"disk_bytes": 8 * MIB},
    ),
    "reserved disk": Hog(
        "descriptor = os.open('/tmp/x', os.O_CREAT | os.O_RDWR)\n"
        "tried('fallocate', lambda: os.posix_fallocate(descriptor, 0, 64 << 20))\n"
        "if os.fstat(descriptor).st_blocks * 512 > 8 << 20:\n    escaped()\ndone()",
        frozenset({ExecOutcome.EXITED}), {"disk_bytes": 8 * MIB},
    ),
    "inodes": Hog(
        "count = 0\ntry:\n    while count < 5000:\n        os.symlink('x', f'/tmp/{count}'); os.mkdir(f'/data/{count}'); count += 2\n"
        "except OSError:\n    pass\nif count > 500:\n    escaped(count)\ndone()",
        frozenset({ExecOutcome.EXITED}), {"inodes": 500},
    ),
    "extended attributes": Hog(
        "count = 0\ntry:\n    for file in range(2000):\n        name = f'/tmp/{file}'; open(name, 'w').close()\n"
        "        for turn in range(8):\n            os.setxattr(name, f'user.{turn}', b'x' * 60000); count += 60000\n"
        "except OSError:\n    pass\nif count > 96 << 20:\n    escaped(count)\ndone()",
        ENDED, {**SMALL},
    ),
    "descriptors": Hog(
        "kept = []\ntry:\n    while len(kept) < 5000:\n        kept.append(os.open('/dev/null', 0))\nexcept OSError:\n    pass\n"
        "if len(kept) > 64:\n    escaped(len(kept))\ndone()",
        frozenset({ExecOutcome.EXITED}), {"open_files": 64},
    ),
    "terminals of the whole host": Hog(
        "count = 0\nfor child in range(4):\n    if os.fork() == 0:\n        try:\n            while True:\n"
        "                os.open('/dev/ptmx', os.O_RDWR | os.O_NOCTTY)\n        except OSError:\n            pass\n"
        "        os.write(2, b'.')\n        import signal; signal.pause()\n"
        "import select, time\nend = time.monotonic() + 1\nwhile time.monotonic() < end:\n    select.select([], [], [], 0.05)\n"
        "total = len(os.listdir('/dev/pts'))\nif total > 512:\n    escaped(total, 'terminals')\ndone()",
        frozenset({ExecOutcome.EXITED}),
    ),
    "descriptors in flight": Hog(
        "import array, socket\nkept = []\ntry:\n    while len(kept) < 40:\n        a, b = socket.socketpair(); kept += [a, b]\n"
        "        for _ in range(4):\n"
        "            a.sendmsg([b'x'], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array('i', [0] * 250))])\n"
        "except OSError:\n    pass\ndone()\nsys.stdout.flush()\nif os.fork() == 0:\n    os.setsid(); import signal; signal.pause()",
        frozenset({ExecOutcome.EXITED}),
    ),
    "processor": Hog("os.nice(19)\nwhile True:\n    pass", frozenset({ExecOutcome.TIMEOUT}), {}, {"timeout_seconds": 0.5}),
    "processor time": Hog(
        "import signal\nsignal.signal(signal.SIGXCPU, signal.SIG_IGN)\nwhile True:\n    pass",
        frozenset({ExecOutcome.SIGNALED}), {}, {"cpu_seconds": 1.0, "timeout_seconds": 20.0},
    ),
    "core dump": Hog(
        "import resource\ntry:\n    resource.setrlimit(resource.RLIMIT_CORE, (1 << 30, 1 << 30))\nexcept (OSError, ValueError):\n    pass\n"
        "os.chdir('/tmp')\nos.abort()",
        frozenset({ExecOutcome.SIGNALED}),
    ),
    "deep directories": Hog(
        "os.chdir('/tmp')\ncount = 0\ntry:\n    while count < 3000:\n        os.mkdir('d' * 200); os.chdir('d' * 200); count += 1\n"
        "except OSError:\n    pass\ndone()",
        frozenset({ExecOutcome.EXITED}),
    ),
    "pending signals": Hog(
        "import signal\nsignal.pthread_sigmask(signal.SIG_BLOCK, range(34, 64))\n"
        "for turn in range(300000):\n    if call(129, os.getpid(), 40, bytes(128)) < 0:\n        break\ndone()",
        ENDED, {**SMALL},
    ),
}  # fmt: skip

HOLD = r"""
import mmap, select, signal
kinds = {"private": mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, "shared": mmap.MAP_SHARED | mmap.MAP_ANONYMOUS}
for turn in range(6):
    if os.fork() == 0:
        page = mmap.mmap(-1, 24 << 20, flags=kinds[sys.argv[1]])
        for place in range(0, 24 << 20, 4096):
            page[place] = 1
        signal.pause()
select.select([], [], [], 1)
held = 0
for name in os.listdir("/proc"):
    if name.isdigit() and name != "1":
        rss = sum(int(line.split()[1]) for line in open(f"/proc/{name}/status") if line.startswith(("RssAnon", "RssShmem")))
        held += 24 if rss >= 24 << 10 else 0
if held > 96:
    escaped("held for a second:", held, "MiB")
done()
"""
"""six processes of 24 MiB each: where nobody counts all the time, somebody must look now and then"""
