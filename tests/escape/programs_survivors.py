"""Staying: each program leaves something running."""

from __future__ import annotations

# Each leaves something behind that bears the word sys.argv[1] in its command line, then waits for its time-out.
PROGRAMS = {
    "a daemon": """
os.spawnv(os.P_NOWAIT, "/bin/sh", ["sh", "-c", "while :; do sleep 1000; done", sys.argv[1]])
""",
    "a double fork with a session of its own": """
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.execv("/bin/sh", ["sh", "-c", "while :; do sleep 1000; done", sys.argv[1]])
    os._exit(0)
os.wait()
""",
    "a stopped process": """
import signal
if os.fork() == 0:
    os.setsid()
    os.execv("/bin/sh", ["sh", "-c", "kill -STOP $$; sleep 1000", sys.argv[1]])
""",
    "itself, stopped": """
import signal
print("up", flush=True)
os.kill(os.getpid(), signal.SIGSTOP)
""",
    "one that ignores every signal": """
import signal
if os.fork() == 0:
    os.setsid()
    for number in range(1, 65):
        try:
            signal.signal(number, signal.SIG_IGN)
        except (OSError, ValueError):
            pass
    os.execv("/bin/sh", ["sh", "-c", "trap '' TERM HUP INT; while :; do sleep 1000; done", sys.argv[1]])
""",
    "one that forks again when it is signalled": """
import signal
if os.fork() == 0:
    os.setsid()
    def again(*_):
        if os.fork() == 0:
            os.setsid()
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGCONT, signal.SIGCHLD, signal.SIGTSTP):
        signal.signal(number, again)
    print("up", flush=True)
    while True:
        signal.pause()
""",
    "a chain of forks": """
if os.fork() == 0:
    os.setsid()
    while True:
        if os.fork():
            os._exit(0)
""",
    "one that waits in vfork": """
if os.fork() == 0:
    os.setsid()
    code = machine_code("b83a000000 0f05 85c0 7402 c3 90 b822000000 0f05 ebf7")
    code()
""",
    "a group whose leader has exited": """
import threading, time
def stay():
    while True:
        time.sleep(1000)
threading.Thread(target=stay).start()
print("up", flush=True)
call(60, 0)
""",
    "a sibling (CLONE_PARENT)": """
pid = os.fork()
if pid == 0:
    child = call(56, 0x8000 | 17, 0, 0, 0, 0)
    if child == 0:
        os.setsid()
        os.execv("/bin/sh", ["sh", "-c", "while :; do sleep 1000; done", sys.argv[1]])
    os._exit(0)
os.waitpid(pid, 0)
""",
    "orphans below a subreaper of its own": """
libc.prctl(36, 1, 0, 0, 0)
if os.fork() == 0:
    os.setsid()
    libc.prctl(36, 1, 0, 0, 0)
    if os.fork() == 0:
        os.execv("/bin/sh", ["sh", "-c", "while :; do sleep 1000; done", sys.argv[1]])
    os._exit(0)
""",
    "children without a signal at their end": """
child = call(56, 0, 0, 0, 0, 0)
if child == 0:
    os.setsid()
    os.execv("/bin/sh", ["sh", "-c", "while :; do sleep 1000; done", sys.argv[1]])
""",
    "zombies": """
for _ in range(50):
    if os.fork() == 0:
        os._exit(0)
""",
    "one that wakes and stops all others": """
import signal
if os.fork() == 0:
    os.setsid()
    print("up", flush=True)
    while True:
        for name in os.listdir("/proc"):
            if name.isdigit() and int(name) not in (1, os.getpid()):
                for number in (signal.SIGCONT, signal.SIGSTOP):
                    try:
                        os.kill(int(name), number)
                    except OSError:
                        pass
""",
}  # fmt: skip
WAIT = """
print("up", flush=True)
import time
time.sleep(100000)
"""

# Processes that live for some microseconds each: a look at the list of processes never finds one.
COMETS = """
import time
code = machine_code("b838000000 bf11010000 31f6 31d2 4d31d2 4d31c0 0f05 85c0 74e6 31ff b83c000000 0f05")
def fork():
    while True:
        try:
            return os.fork()
        except BlockingIOError:  # the places of processes killed just now are given back a moment later
            time.sleep(0.01)
for _ in range(8):
    if fork() == 0:
        os.setsid()
        code()
"""
