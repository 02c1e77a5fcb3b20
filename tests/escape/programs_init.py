# ruff: noqa: E501 (programs are text, not code of ours)
"""Attacks on pid 1 of the sandbox."""

from __future__ import annotations

# What is done to init; afterwards the sandbox must still do everything that it is asked for.
PROGRAMS = {
    "every signal": r"""
import signal
for number in range(0, 65):
    try:
        os.kill(1, number)
    except (OSError, ValueError):
        pass
    call(234, 1, 1, number)
    call(129, 1, number, bytes(128))
try:
    descriptor = os.pidfd_open(1)
    for number in range(1, 65):
        call(424, descriptor, number, 0, 0)
except OSError:
    pass
done()
""",
    "a flood of signals": r"""
import signal
for turn in range(20000):
    for number in (signal.SIGCHLD, signal.SIGTERM, 40, 64):
        try:
            os.kill(1, number)
        except OSError:
            pass
done()
""",
    "limits of descriptors": r"""
import resource
for which in ("NOFILE", "NPROC", "FSIZE", "STACK", "DATA"):
    try:
        resource.prlimit(1, getattr(resource, "RLIMIT_" + which), (0, 0))
    except (OSError, ValueError):
        pass
done()
""",
    "limit of address space": r"""
import resource
try:
    resource.prlimit(1, resource.RLIMIT_AS, (0, 0))
except (OSError, ValueError):
    pass
done()
""",
    "limit of processor time": r"""
import resource
try:
    resource.prlimit(1, resource.RLIMIT_CPU, (0, 0))
except (OSError, ValueError):
    pass
done()
""",
    "priority": r"""
for act in (lambda: os.sched_setscheduler(1, os.SCHED_IDLE, os.sched_param(0)), lambda: os.setpriority(os.PRIO_PROCESS, 1, 19),
            lambda: os.sched_setaffinity(1, {max(os.sched_getaffinity(0))}), lambda: call(251, 1, 1, 3 << 13)):
    try:
        act()
    except OSError:
        pass
policy = os.sched_getscheduler(1)
if policy != os.SCHED_OTHER or os.getpriority(os.PRIO_PROCESS, 1) > 0:
    escaped("init runs only when nobody else wants to", policy, os.getpriority(os.PRIO_PROCESS, 1))
done()
""",
    "memory": r"""
for path in ("/proc/1/mem", "/proc/1/clear_refs", "/proc/1/attr/current", "/proc/1/oom_adj", "/proc/1/coredump_filter"):
    try:
        descriptor = os.open(path, os.O_RDWR)
    except OSError:
        continue
    if path.endswith("mem"):
        escaped(path)
if call(310, 1, 0, 0, 0, 0, 0) >= 0 or call(311, 1, 0, 0, 0, 0, 0) >= 0 or call(101, 16, 1, 0, 0) >= 0:
    escaped("init's memory")
done()
""",
    "garbage into every descriptor": r"""
for number in range(0, 1024):
    for chunk in (b"R", b"X" * 41, b"O" * 21, b"E", bytes(64)):
        try:
            os.write(number, chunk if number > 2 else b"")
        except OSError:
            pass
done()
""",
    "descriptors closed and moved": r"""
for number in range(3, 1024):
    try:
        os.dup2(0, number)
    except OSError:
        pass
done()
sys.stdout.flush()
os.closerange(0, 1024)
os._exit(0)
""",
    "a crowd of orphans": r"""
for _ in range(200):
    if os.fork() == 0:
        if os.fork() == 0:
            os._exit(1)
        os._exit(0)
    os.wait()
done()
""",
    "names that confuse": r"""
libc.prctl(15, b"x) R 1 1 (", 0, 0, 0)
if os.fork() == 0:
    os.setsid()
    libc.prctl(15, b"\n) Z 1 (\xff", 0, 0, 0)
    import signal
    print("up", flush=True)
    signal.pause()
done()
""",
    "a huge working directory": r"""
for turn in range(20000):
    os.close(os.open(f"/workspace/{turn}", os.O_CREAT | os.O_WRONLY))
done()
""",
    "a working directory that is gone": r"""
os.mkdir("/workspace/x")
os.chdir("/workspace/x")
os.rmdir("/workspace/x")
done()
""",
    "references in flight": r"""
import array, signal, socket
kept = []
try:
    while True:
        a, b = socket.socketpair()
        kept += [a, b]
        for _ in range(4):
            a.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [0] * 250))])
except OSError:
    pass
done()
sys.stdout.flush()
if os.fork() == 0:
    os.setsid()
    signal.pause()
""",
    "the killer's favourite": r"""
try:
    os.write(os.open("/proc/1/oom_score_adj", os.O_WRONLY), b"1000")
except OSError:
    pass
pid = os.fork()
if pid == 0:
    kept = [b"x" * (1 << 20) for _ in range(200)]
os.waitpid(pid, 0)
done()
""",
}  # fmt: skip

FILL = r"""
import signal
try:
    while True:
        if os.fork() == 0:
            os.setsid()
            signal.pause()
except OSError:
    pass
print("full", flush=True)
signal.pause()
"""

STARVE = r"""
for act in (lambda: os.sched_setscheduler(1, os.SCHED_IDLE, os.sched_param(0)), lambda: os.setpriority(os.PRIO_PROCESS, 1, 19),
            lambda: os.sched_setaffinity(1, {0})):
    try:
        act()
    except OSError:
        pass
for _ in range(60):
    if os.fork() == 0:
        break
while True:
    pass
"""
