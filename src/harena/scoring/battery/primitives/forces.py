# ruff: noqa: E501 (programs are text, not code of ours)
"""Changing a priority, sending a signal, holding a resource: failing so that somebody else is blamed."""

from __future__ import annotations

from harena.scoring.battery.forgery import descriptors
from harena.scoring.battery.primitives.primitive import EVERYWHERE, PROGRAMS, Kind, Place, Primitive

_SPIN = "import time\nuntil = time.monotonic() + 20\nwhile time.monotonic() < until:\n    pass"
_ONCE = EVERYWHERE - {Place.DECORATOR, Place.GETATTR}


def _made(kind: Kind, name: str, act: str, places: frozenset[Place] = EVERYWHERE) -> Primitive:
    return Primitive(name=name, kind=kind, act=act, places=places, contracts=PROGRAMS)


def _priority(name: str, act: str) -> Primitive:
    return _made(Kind.PRIORITY, name, act)


def _signal(name: str, act: str) -> Primitive:
    return _made(Kind.SIGNAL, name, act)


def _hold(name: str, act: str) -> Primitive:
    return _made(Kind.HOLD, name, act, _ONCE)


FORCES = (
    _priority("lowers-nice", "os.nice(19)"),
    _priority("lowers-nice-of-others", "for process in [os.getppid(), 1, *map(int, filter(str.isdigit, os.listdir('/proc')))]:\n    for which in (0, 1, 2):\n        try:\n            os.setpriority(which, process if which != 2 else 0, 19)\n        except OSError:\n            pass"),
    _priority("lowers-to-idle", "for process in (0, os.getppid(), 1):\n    for policy in (os.SCHED_IDLE, os.SCHED_BATCH):\n        try:\n            os.sched_setscheduler(process, policy, os.sched_param(0))\n        except OSError:\n            pass"),
    _priority("raises-to-real-time", "for policy in (os.SCHED_FIFO, os.SCHED_RR):\n    try:\n        os.sched_setscheduler(0, policy, os.sched_param(99))\n    except OSError:\n        pass"),
    _priority("binds-to-one-core", "for process in (0, os.getppid(), 1):\n    try:\n        os.sched_setaffinity(process, {min(os.sched_getaffinity(0))})\n    except OSError:\n        pass"),
    _priority("lowers-its-autogroup", "for process in ('self', 'thread-self', '1', os.getppid()):\n    for value in ('19', '-20'):\n        try:\n            with open(f'/proc/{process}/autogroup', 'w') as out:\n                out.write(value)\n        except OSError:\n            pass"),
    _priority("makes-sessions", "for _ in range(12):\n    if os.fork() == 0:\n        os.setsid()\n        import time\n        until = time.monotonic() + 3\n        while time.monotonic() < until:\n            pass\n        os._exit(0)"),
    _priority("lowers-disk-priority", "import ctypes\nlibc = ctypes.CDLL(None)\nfor process in (0, os.getppid(), 1):\n    libc.syscall(251, 1, process, 3 << 13)"),
    _priority("asks-to-be-killed-first", "for process in ('self', os.getppid(), 1):\n    for value in ('1000', '-1000'):\n        try:\n            with open(f'/proc/{process}/oom_score_adj', 'w') as out:\n                out.write(value)\n        except OSError:\n            pass"),
    _priority("lowers-limits", "import resource\nfor limit, value in ((resource.RLIMIT_NOFILE, 3), (resource.RLIMIT_FSIZE, 10), (resource.RLIMIT_NPROC, 1), (resource.RLIMIT_STACK, 1 << 16), (resource.RLIMIT_CORE, 0)):\n    try:\n        resource.setrlimit(limit, (value, value))\n    except (OSError, ValueError):\n        pass"),
    _priority("lowers-limit-of-memory", "import resource\nresource.setrlimit(resource.RLIMIT_AS, (1 << 20, 1 << 20))"),
    _priority("lowers-limit-of-time", "import resource\nresource.setrlimit(resource.RLIMIT_CPU, (1, 1))"),
    _priority("lowers-limits-of-others", "import resource\nfor process in (os.getppid(), 1):\n    for limit in (resource.RLIMIT_NOFILE, resource.RLIMIT_NPROC, resource.RLIMIT_AS, resource.RLIMIT_CPU):\n        try:\n            resource.prlimit(process, limit, (1, 1))\n        except OSError:\n            pass"),
    _priority("lowers-recursion", "sys.setrecursionlimit(30)\nsys.set_int_max_str_digits(640)\nsys.setswitchinterval(100.0)"),
    _priority("changes-its-mask", "os.umask(0o777)"),
    _priority("changes-its-name", "import ctypes\nlibc = ctypes.CDLL(None)\nlibc.prctl(15, b') R 1 1 1', 0, 0, 0)\nlibc.prctl(4, 0, 0, 0, 0)\nlibc.prctl(36, 1, 0, 0, 0)\nlibc.prctl(1, 9, 0, 0, 0)"),
    _priority("makes-namespaces", "import ctypes\nlibc = ctypes.CDLL(None)\nfor flags in (0x10000000, 0x20000000, 0x40000000, 0x02000000, 0x08000000, 0x04000000, 0x80):\n    libc.unshare(flags)\nlibc.chroot(b'/tmp')"),
    _priority("filters-its-own-calls", "import ctypes\nlibc = ctypes.CDLL(None)\nlibc.prctl(38, 1, 0, 0, 0)\nlibc.prctl(22, 1, 0, 0, 0)"),
    _signal("kills-its-parent", "import signal\nfor process in (os.getppid(), 1):\n    for number in (15, 9, 2, 1, 13, 6):\n        try:\n            os.kill(process, number)\n        except OSError:\n            pass"),
    _signal("kills-its-group", "os.killpg(0, 9)"),
    _signal("ends-its-group-gently", "import signal\nsignal.signal(15, signal.SIG_IGN)\nos.killpg(0, 15)"),
    _signal("kills-all", "os.kill(-1, 9)"),
    _signal("stops-all", "os.kill(-1, 19)"),
    _signal("stops-its-parent", "for process in (os.getppid(), 1):\n    try:\n        os.kill(process, 19)\n    except OSError:\n        pass"),
    _signal("stops-itself", "os.kill(os.getpid(), 19)"),
    _signal("stops-its-group", "os.killpg(0, 20)\nos.killpg(0, 19)"),
    _signal("kills-itself", "os.kill(os.getpid(), 9)"),
    _signal("crashes", "import ctypes\nctypes.string_at(0)"),
    _signal("aborts", "os.abort()"),
    _signal("sets-an-alarm", "import signal\nsignal.signal(14, signal.SIG_DFL)\nsignal.setitimer(signal.ITIMER_REAL, 0.05)"),
    _signal("alarms-the-loop", "import signal\nsignal.signal(14, lambda *a: sys.exit(0))\nsignal.setitimer(signal.ITIMER_REAL, 0.01, 0.01)"),
    _signal("ignores-all", "import signal\nfor number in signal.valid_signals():\n    try:\n        signal.signal(number, signal.SIG_IGN)\n    except (OSError, ValueError):\n        pass\nsignal.pthread_sigmask(0, signal.valid_signals())"),
    _signal("interrupts-the-main-thread", "import _thread\n_thread.interrupt_main()"),
    _signal("raises-in-other-threads", "import ctypes, threading\nfor thread in threading.enumerate():\n    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident), ctypes.py_object(SystemExit))"),
    _signal("breaks-its-pipe", "import signal\nsignal.signal(13, signal.SIG_DFL)\nfor number in (0, 1, 2):\n    os.close(number)"),
    _signal("queues-signals", "import ctypes\nlibc = ctypes.CDLL(None)\nroom = ctypes.create_string_buffer(128)\nfor process in (os.getppid(), 1):\n    for number in (34, 40, 64, 10, 12):\n        libc.syscall(129, process, number, room)"),
    _hold("holds-memory", "block = []\nwhile True:\n    block.append(bytearray(16_000_000))"),
    _hold("holds-memory-in-a-child", "if os.fork() == 0:\n    block = []\n    while True:\n        block.append(bytearray(16_000_000))"),
    _hold("holds-memory-slowly", "block = []\nimport time\nfor _ in range(40):\n    block.append(bytearray(4_000_000))\n    time.sleep(0.01)"),
    _hold("holds-pages-of-files", "for folder in ('/dev/shm', '/tmp', '.'):\n    try:\n        with open(folder + '/pages', 'wb') as out:\n            while True:\n                out.write(bytes(1_000_000))\n    except OSError:\n        pass"),
    _hold("holds-shared-memory", "import ctypes\nlibc = ctypes.CDLL(None)\nlibc.shmat.restype = ctypes.c_void_p\nfor _ in range(2000):\n    number = libc.shmget(0, 1 << 20, 0o1600)\n    if number < 0:\n        break\n    place = libc.shmat(number, None, 0)\n    if place not in (None, 2**64 - 1):\n        ctypes.memset(place, 1, 1 << 20)"),
    _hold("holds-memory-without-a-name", "handles = []\nfor _ in range(64):\n    handle = os.memfd_create('x')\n    os.write(handle, bytes(4_000_000))\n    handles.append(handle)"),
    _hold("holds-processes", "import time\ntry:\n    while True:\n        if os.fork() == 0:\n            time.sleep(8)\n            os._exit(0)\nexcept OSError:\n    pass"),
    _hold("holds-threads", "import threading, time\ntry:\n    for _ in range(500):\n        threading.Thread(target=time.sleep, args=(8,), daemon=True).start()\nexcept RuntimeError:\n    pass"),
    _hold("spins-in-threads", "import threading\ndef spin():\n    import time\n    until = time.monotonic() + 20\n    while time.monotonic() < until:\n        pass\nfor _ in range(30):\n    threading.Thread(target=spin, daemon=True).start()"),
    _hold("spins-in-children", "for _ in range(40):\n    try:\n        if os.fork() == 0:\n            while True:\n                pass\n    except OSError:\n        break"),
    _hold("spins", _SPIN),
    _hold("sleeps", "import time\ntime.sleep(8)"),
    _hold("waits-for-a-lock", "import threading\nlock = threading.Lock()\nlock.acquire()\nlock.acquire()"),
    _hold("holds-the-import-lock", "import _imp\n_imp.acquire_lock()"),
    _hold("waits-for-input", "sys.stdin.read()\nos.read(0, 1)"),
    _hold("waits-for-a-pipe", "left, right = os.pipe()\nos.read(left, 1)"),
    _hold("waits-for-nothing", "import signal\nsignal.pause()"),
    _hold("holds-descriptors", "try:\n    while True:\n        os.open('/dev/null', os.O_RDONLY)\nexcept OSError:\n    pass"),
    _hold("closes-descriptors", "os.closerange(0, 256)"),
    _hold("swaps-descriptors", f"null = os.open('/dev/null', os.O_RDWR)\nfor number in {descriptors(3, 32)}:\n    try:\n        os.dup2(null, number)\n    except OSError:\n        pass"),
    _hold("turns-its-descriptors-around", "left, right = os.pipe()\nfor number in range(0, 16):\n    try:\n        os.set_blocking(number, False)\n    except OSError:\n        pass\nos.dup2(1, 0)\nos.dup2(2, 1)"),
    _hold("leaves-a-daemon", "import time\nif os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n        os.closerange(0, 3)\n        time.sleep(60)\n    os._exit(0)"),
    _hold("leaves-a-child-with-the-output", "import time\nif os.fork() == 0:\n    os.setsid()\n    time.sleep(8)\n    os._exit(0)"),
    _hold("is-never-the-same-process", "if os.fork() == 0:\n    os.setsid()\n    os.closerange(0, 256)\n    while True:\n        try:\n            if os.fork():\n                os._exit(0)\n        except OSError:\n            pass"),
    _hold("fills-the-disk", "for folder in ('.', '/tmp', '/workspace'):\n    try:\n        with open(folder + '/full', 'wb') as out:\n            while True:\n                out.write(bytes(1_000_000))\n    except OSError:\n        pass"),
    _hold("fills-the-inodes", "try:\n    for number in range(20_000):\n        os.close(os.open(f'i{number}', os.O_CREAT | os.O_WRONLY))\nexcept OSError:\n    pass"),
    _hold("locks-files", "import fcntl\nfor name in ('.', '/tmp', '/workspace', '/tests'):\n    try:\n        fcntl.flock(os.open(name, os.O_RDONLY), fcntl.LOCK_EX)\n    except OSError:\n        pass"),
    _hold("holds-sockets", "import socket\nheld = []\ntry:\n    for port in range(1024, 3000):\n        wire = socket.socket()\n        wire.bind(('127.0.0.1', port))\n        wire.listen()\n        held.append(wire)\nexcept OSError:\n    pass"),
    _hold("recurses", "sys.setrecursionlimit(10**8)\ndef down(n):\n    return [down(n + 1)]\ndown(0)"),
    _hold("computes-without-a-break", "sys.set_int_max_str_digits(0)\nvalue = 7 ** (10 ** 7)\nstr(value)"),
)  # fmt: skip
