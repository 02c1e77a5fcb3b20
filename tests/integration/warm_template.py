"""The smallest template that can serve warm programs: what the runtime's template and init do, without any isolation.

BOOTSTRAP has the shape of the runtime's own (see harena.runtime.spawner.guest_modules), and `SERVE` is in the place
of its template.
"""

from __future__ import annotations

import marshal
import os
import signal
import socket
import struct
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import harena.runtime.guest

INTERPRETER = os.environ.get("HARENA_WARM_PYTHON") or os.path.realpath(sys._base_executable)  # type: ignore[attr-defined]
BASE_ENVIRONMENT = {
    "PATH": os.path.dirname(INTERPRETER) + ":/usr/bin:/bin",
    "HOME": "/nonexistent",
    "LANG": "C.UTF-8",
    "PYTHONHASHSEED": "0",
}
_ANSWER = struct.Struct("<cidd")

MODULES = ("warm_state", "warm", "warm_plan", "warm_frames", "warm_source", "warm_process", "warm_end")
CONTROL, SOURCES = 200, 201  # (BOOTSTRAP knows the second) descriptors that this process surely has not in use

BOOTSTRAP = """\
def load():
    import marshal, os, sys
    with open(201, "rb") as file:
        sources = marshal.load(file)
    kind = type(sys)
    for name in ("harena", "harena.runtime", "harena.runtime.guest"):
        sys.modules[name] = kind(name)
        sys.modules[name].__path__ = []
    sys.modules["harena"].runtime = sys.modules["harena.runtime"]
    sys.modules["harena.runtime"].guest = sys.modules["harena.runtime.guest"]
    for name, source in sources:
        module = sys.modules[name] = kind(name)
        setattr(sys.modules["harena.runtime.guest"], name.rpartition(".")[2], module)
        exec(compile(source, "<" + name + ">", "exec", dont_inherit=True), module.__dict__)
    return sys.modules["harena.runtime.guest.template"].serve, sys.modules["harena.runtime.guest.warm"].execute
serve, execute = load()
execute(serve())
"""

SERVE = """
import _socket, ctypes, gc, importlib.util, marshal, os, select, signal, struct, sys, time
from harena.runtime.guest import warm

def serve():
    control = _socket.socket(fileno=CONTROL)
    modules, base = marshal.loads(control.recv(1 << 16))
    try:
        warm.prepare(modules)
    except BaseException as error:
        control.send(("%s: %s" % (type(error).__name__, error)).encode())
        os._exit(1)
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    warm.settle(base)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    gc.collect()
    gc.freeze()
    gc.disable()
    control.send(b"ready")
    while True:
        message, ancillary, _flags, _address = control.recvmsg(1 << 18, _socket.CMSG_SPACE(16))
        if not message:
            os._exit(0)
        descriptors = struct.unpack("4i", ancillary[0][2])
        if os.fork() == 0:
            control.close()
            return init(base, descriptors, *marshal.loads(message))
        for descriptor in descriptors:
            os.close(descriptor)

def init(base, descriptors, argv, environment, cwd):
    answer = descriptors[3]
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    plan = warm.plan(argv, environment, base, cwd)
    if plan is None:
        os.write(answer, struct.pack("<cidd", b"R", 0, 0, 0))
        os._exit(0)
    pid = os.fork()
    if pid:
        for descriptor in (0, 1, 2, *descriptors[:3]):
            os.close(descriptor)
        _pid, status, usage = os.wait4(pid, 0)
        os.write(answer, struct.pack("<cidd", b"W", status, usage.ru_utime, usage.ru_stime))
        os._exit(0)
    os.setsid()
    for target in range(3):
        os.dup2(descriptors[target], target)
    os.closerange(3, 1024)
    os.chdir(cwd)
    if environment != base:
        for name in [name for name in os.environ if name not in environment]:
            del os.environ[name]
        for name, value in environment.items():
            if os.environ.get(name) != value:
                os.environ[name] = value
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    warm.become(plan)
    return plan
"""


@dataclass
class Outcome:
    """How a program ended; `status` as from subprocess, negative for a signal."""

    status: int
    stdout: bytes
    stderr: bytes
    is_warm: bool = True
    cpu_seconds: float = 0.0


class Template:
    """One started interpreter."""

    def __init__(
        self, modules: list[str], environment: dict[str, str] | None = None, interpreter: str = INTERPRETER
    ) -> None:
        self.environment = dict(BASE_ENVIRONMENT if environment is None else environment)
        self.interpreter = interpreter
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        read_end, write_end = os.pipe()
        os.dup2(theirs.fileno(), CONTROL)
        os.dup2(read_end, SOURCES)
        self._process = subprocess.Popen(
            [interpreter, "-c", BOOTSTRAP],
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            pass_fds=(CONTROL, SOURCES),
        )
        os.close(CONTROL)
        os.close(SOURCES)
        theirs.close()
        os.close(read_end)
        with os.fdopen(write_end, "wb") as file:
            file.write(marshal.dumps(_sources(), 2))
        self._control.send(marshal.dumps((modules, self.environment), 2))
        answer = self._control.recv(1 << 16)
        if answer != b"ready":
            self.close()
            raise ImportError(answer.decode())

    def run(self, argv: list[str], environment: dict[str, str], cwd: Path, stdin: bytes | None) -> Outcome:
        """Run a program warm. `is_warm` False: the plan said that only a real start is right."""
        out_end, out = os.pipe()
        err_end, err = os.pipe()
        with ThreadPoolExecutor(2) as readers:
            texts = [readers.submit(_read_all, end) for end in (out_end, err_end)]
            answer, status, seconds = self._start(argv, environment, cwd, stdin, out, err)
            return Outcome(
                os.waitstatus_to_exitcode(status), *(text.result() for text in texts), answer == b"W", seconds
            )

    def _start(
        self, argv: list[str], environment: dict[str, str], cwd: Path, stdin: bytes | None, out: int, err: int
    ) -> tuple[bytes, int, float]:
        ours, theirs = os.pipe()
        with stdin_file(stdin) as given:
            message = marshal.dumps((argv, environment, str(cwd)), 2)
            socket.send_fds(self._control, [message], [given.fileno(), out, err, theirs])
        for descriptor in (theirs, out, err):
            os.close(descriptor)
        with os.fdopen(ours, "rb") as file:
            kind, status, user, system = _ANSWER.unpack(file.read(_ANSWER.size))
        return kind, status, user + system

    def close(self) -> None:
        """End it."""
        self._control.close()
        self._process.wait(10)


def run_really(
    interpreter: str, argv: list[str], environment: dict[str, str], cwd: Path, stdin: bytes | None
) -> Outcome:
    """The same program in an interpreter of its own."""
    with stdin_file(stdin) as given:
        done = subprocess.run(
            argv, env=environment, cwd=cwd, stdin=given, capture_output=True, start_new_session=True, check=False,
            preexec_fn=_default_signals,
        )  # fmt: skip
        return Outcome(done.returncode, done.stdout, done.stderr, False)


def _read_all(descriptor: int) -> bytes:
    with open(descriptor, "rb") as file:
        return file.read()


def stdin_file(stdin: bytes | None):  # type: ignore[no-untyped-def]
    """An open file with that content, /dev/null for None."""
    if stdin is None:
        return open(os.devnull, "rb")
    file = tempfile.TemporaryFile()  # noqa: SIM115 (the caller closes it)
    file.write(stdin)
    file.seek(0)
    return file


def _default_signals() -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def _sources() -> list[tuple[str, str]]:
    room = Path(harena.runtime.guest.__file__).parent
    sources = [("harena.runtime.guest." + name, (room / f"{name}.py").read_text()) for name in MODULES]
    return [*sources, ("harena.runtime.guest.template", f"CONTROL = {CONTROL}\n" + SERVE)]
