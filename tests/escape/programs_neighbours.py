"""What a sandbox tries upon its neighbours: by files that both see, and by what the kernel counts for a user."""

from __future__ import annotations

KEEP = r"""
import fcntl, os, sys
where, device = sys.argv[1:]
kept = []
for path in (where + "/file", where, device):
    there = os.open(path, os.O_RDONLY)
    fcntl.flock(there, fcntl.LOCK_EX)
    kept.append(there)
fcntl.lockf(kept[0], fcntl.LOCK_SH)
os.write(1, b"kept\n")
sys.stdin.read()
for path in (where + "/file", device):  # what an inotify of somebody else would tell of
    os.close(os.open(path, os.O_RDONLY))
"""
"""Locks what it sees; at the end of its input, looks at it once more. Run by the host, or in another workspace."""

LOOK = {
    "flock": r"""
import fcntl
where, device = sys.argv[1:]
for path in (where + "/file", where, device):
    try:
        fcntl.flock(os.open(path, os.O_RDONLY), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        escaped("somebody else has locked", path)
os.write(1, b"looked\n")
sys.stdin.read()
done()
""",
    "fcntl": r"""
import fcntl, struct
where, device = sys.argv[1:]
there = os.open(where + "/file", os.O_RDONLY)
for command in (5, 36):  # F_GETLK, F_OFD_GETLK
    asked = struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 0, 0, 0)
    if struct.unpack("hhqqi4x", fcntl.fcntl(there, command, asked))[0] != fcntl.F_UNLCK:
        escaped("somebody else has locked the file")
os.write(1, b"looked\n")
sys.stdin.read()
done()
""",
    "inotify": r"""
where, device = sys.argv[1:]
watch = libc.inotify_init1(os.O_NONBLOCK)
for path in (where, where + "/file", device):
    if libc.inotify_add_watch(watch, path.encode(), 0xFFF) < 0:
        escaped("an honest program was refused: inotify", path)
os.write(1, b"looked\n")
sys.stdin.read()
try:
    escaped("somebody else has opened", os.read(watch, 4096))
except BlockingIOError:
    pass
done()
""",
}
"""Run beside `KEEP`; each has looked when it says so, and looks again when its input ends, after `KEEP` has ended."""

ALONE = {
    "socket of the host": r"""
import socket
where, device = sys.argv[1:]
client = socket.socket(socket.AF_UNIX)
if tried("connect", lambda: client.connect(where + "/socket") or "connected").errno != 111:
    escaped("the host's socket was found")
datagram = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
tried("send", lambda: datagram.sendto(b"word", where + "/socket"))
done()
""",
    "named pipe of the host": r"""
where, device = sys.argv[1:]
tried("write", lambda: os.open(where + "/pipe", os.O_WRONLY | os.O_NONBLOCK))
there = os.open(where + "/pipe", os.O_RDONLY | os.O_NONBLOCK)
if os.read(there, 10):
    escaped("read from the host's pipe")
done()
""",
    "file systems of the host": r"""
seen = set()
for line in open("/proc/self/mountinfo"):
    before, after = line.split(" - ")
    seen.add(after.split()[0])
    if after.split()[0] not in ("overlay", "tmpfs", "proc", "devpts"):
        escaped("a file system of the host's own:", line)
if "overlay" not in seen:
    escaped("no overlay", seen)
done()
""",
}

USE_UP = {
    "inotify instances": r"""
count = 0
while libc.inotify_init1(0) >= 0:
    count += 1
os.write(1, b"used up %d\n" % count)
sys.stdin.read()
""",
    "inotify watches": r"""
watch, count = libc.inotify_init1(0), 0
for number in range(5000):
    os.mkdir(f"/tmp/{number}")
    count += libc.inotify_add_watch(watch, f"/tmp/{number}".encode(), 2) >= 0
os.write(1, b"used up %d\n" % count)
sys.stdin.read()
""",
    "queued signals": r"""
import signal
signal.pthread_sigmask(signal.SIG_BLOCK, [40])
value, count = ctypes.create_string_buffer(16), 0
while libc.sigqueue(os.getpid(), 40, value) == 0:
    count += 1
os.write(1, b"used up %d\n" % count)
sys.stdin.read()
""",
    "message queues": r"""
import struct
count = 0
for number in range(1000):
    if call(240, b"queue%d" % number, os.O_CREAT | os.O_RDWR, 0o600, struct.pack("8q", 0, 10, 8192, 0, 0, 0, 0, 0)) < 0:
        break
    count += 1
os.write(1, b"used up %d\n" % count)
sys.stdin.read()
""",
    "pipe buffers": r"""
import fcntl
count = 0
try:
    for _ in range(400):
        count += fcntl.fcntl(os.pipe()[1], 1031, 1 << 20) == 1 << 20
except OSError:
    pass
os.write(1, b"used up %d\n" % count)
sys.stdin.read()
""",
}
"""Each takes all of something that the kernel counts for a user, and keeps it until its input ends."""

STILL_THERE = r"""
import fcntl, signal, struct
if libc.inotify_add_watch(libc.inotify_init1(0), b"/tmp", 2) < 0:
    escaped("no inotify is left")
signal.pthread_sigmask(signal.SIG_BLOCK, [40])
if libc.sigqueue(os.getpid(), 40, ctypes.create_string_buffer(16)) != 0:
    escaped("no signal can be queued")
if call(240, b"mine", os.O_CREAT | os.O_RDWR, 0o600, struct.pack("8q", 0, 10, 8192, 0, 0, 0, 0, 0)) < 0:
    escaped("no message queue is left")
if fcntl.fcntl(os.pipe()[1], 1031, 1 << 20) != 1 << 20:
    escaped("no buffer of a pipe is left")
done()
"""
"""What an honest program of another workspace asks for meanwhile."""

HOLD_INODE = r"""
import ctypes, os, sys, threading
libc = ctypes.CDLL(None)
size = 256 << 20
there = os.open("/workspace/held", os.O_RDWR | os.O_CREAT)
began = threading.Semaphore(0)
def hold():
    while True:
        # memory for all of it, and none again: nobody else has the inode meanwhile
        libc.fallocate(there, 0, ctypes.c_long(0), ctypes.c_long(size))
        libc.fallocate(there, 3, ctypes.c_long(0), ctypes.c_long(size))
        began.release()
for _ in range(200):
    threading.Thread(target=hold, daemon=True).start()
for _ in range(2):
    began.acquire()
os.write(1, b"held\n")
sys.stdin.read()
os._exit(0)
"""
"""Many threads that want the lock of one inode: whoever else wants it waits for a turn of each."""
