"""What a template runs whose memory holds a blueprint's modules (forker_c says what that is), laid out for its place.

One piece of memory: the machine code, `FORKER`, the calls that are made in the several processes, room for an order, a
stack. Nothing of it is read from anywhere else.
"""

from __future__ import annotations

import functools
import marshal
import struct
from collections.abc import Sequence
from dataclasses import dataclass, field

from harena.runtime.fast_path.fast_path import PARKED
from harena.runtime.fast_path.forker_code import X86_64
from harena.runtime.guest import launch
from harena.runtime.kernel import batch, privileges, ptrace
from harena.runtime.kernel.numbers import NUMBERS
from harena.runtime.kernel.ptrace import Registers
from harena.runtime.kernel.syscalls import StepError

PLACE_BYTES = 96 << 10
BEGIN, SERVE, HELD = 0, 16, 32
"""where the code begins: see forker.c"""
CONTROL, SOURCE, REPORT, GATE, MEMORY = 3, 4, 5, 6, 7
"""descriptors that the interpreter is started with: the spawner's socket, its own source; the socket of the process
that imports, a pipe that lets it begin, and this memory"""
ATTACHED = 10
"""SIGUSR1: from the spawner to a sandbox, when that is in its cgroups. Nothing of a blueprint runs in there before."""
ORDER = struct.Struct("<IIQQQ")
_NUMBER_BYTES = 4  # of the order, which the spawner puts before it
_CALL_BYTES = 56
_FORKER = struct.Struct("<Q2Q15Q2I2Q2Q2Q15Q2I4Q")
_CODE, _DATA, _MESSAGE, _STACK_END = 0, 4 << 10, 64 << 10, PLACE_BYTES - 64
_MESSAGE_BYTES = 16 << 10
_IMPORT_FLAGS = 0x100 | 17 | launch.SANDBOX_FLAGS  # CLONE_VM, SIGCHLD
_SIG_SETMASK, _SIGCHLD, _NO_ZOMBIES, _DIE, _WNOHANG = 2, 17, 2, 9, 1
_SET_FS, _ASK_FOR_EXTENDED_STATE, _TILES = 0x1002, 0x1023, 18
_PLAIN_FLOATS = (0x037F, 0x1F80)
_RESTORED = ("rsp", "rip", "rbx", "rbp", "r12", "r13", "r14", "r15", "rax", "rdi", "rsi", "rdx", "r8", "r9", "r10")


def is_possible() -> bool:
    """Whether this machine runs it. Elsewhere nothing of a blueprint is kept warm, and its programs start for real."""
    return ptrace.is_known()


@dataclass
class Parked:
    """How an interpreter waits that has imported everything: what its forks go on with."""

    registers: Registers
    float_controls: tuple[int, int]
    restartable_sequences: tuple[int, int, int] = (0, 0, 0)
    actions: Sequence[tuple[int, bytes]] = ()
    """for signals: (number, the kernel's struct)"""
    extended_states: int = 0
    """bit mask of the processor's extended states that it may use"""


class Calls:
    """A list of calls for another process."""

    def __init__(self) -> None:
        self.batch = batch.Batch()
        self.steps: list[str] = []

    def __call__(self, step: str, name: str, *arguments: int | bytes | None) -> int:
        self.steps.append(step)
        return self.batch.add(step, NUMBERS[name], *arguments)


def import_calls(filter_address: int, rlimits: Sequence[tuple[int, int]] = ()) -> Calls:
    """What the process that imports does before its first instruction: it is a sandbox without a place to write to."""
    calls = Calls()
    calls("wait for the gate", "read", GATE, bytes(8), 1)
    calls("session", "setsid")
    calls("proc", "mount", b"proc", b"/proc", b"proc", launch.PROC_FLAGS, None)
    calls("hostname", "sethostname", b"sandbox", 7)
    calls("report", "dup3", REPORT, CONTROL, 0)
    calls("close everything else", "close_range", SOURCE + 1, 0xFFFFFFFF, 0)
    calls("signal mask", "rt_sigprocmask", _SIG_SETMASK, bytes(8), None, 8)
    for which, value in rlimits:
        calls(f"rlimit {which}", "prlimit64", 0, which, struct.pack("<QQ", value, value), None)
    launch.forbid_gains(calls)
    launch.lock_down(calls, filter_address)
    return calls


def _prepare_calls() -> Calls:
    calls = Calls()
    calls("signal mask", "rt_sigprocmask", _SIG_SETMASK, b"\xff" * 8, None, 8)  # a fork must not miss ATTACHED
    calls("die with parent", "prctl", privileges.PR_SET_PDEATHSIG, _DIE, 0, 0, 0)
    calls("no zombies", "rt_sigaction", _SIGCHLD, struct.pack("<QQQQ", 0, _NO_ZOMBIES, 0, 0), None, 8)
    for _ in range(3):
        calls("wait", "wait4", -1, 0, _WNOHANG, 0)
    calls("close everything else", "close_range", CONTROL + 1, 0xFFFFFFFF, 0)
    launch.forbid_gains(calls)
    return calls


def _lock_calls(filter_address: int) -> Calls:
    calls = Calls()
    calls("signal mask", "rt_sigprocmask", _SIG_SETMASK, b"\xff" * 8, None, 8)
    calls("not dumpable", "prctl", privileges.PR_SET_DUMPABLE, 0, 0, 0, 0)
    launch.lock_down(calls, filter_address)
    return calls


def _resume_calls(parked: Parked) -> Calls:
    """What a fork inherits of a process, and not of its memory."""
    calls = Calls()
    calls("thread", "arch_prctl", _SET_FS, parked.registers["fs_base"])
    for number, action in parked.actions:
        calls("signal", "rt_sigaction", number, action, None, 8)
    address, size, signature = parked.restartable_sequences
    if address:
        calls("restartable sequences", "rseq", address, size, 0, signature)
    if parked.extended_states >> _TILES & 1:
        calls("extended states", "arch_prctl", _ASK_FOR_EXTENDED_STATE, _TILES)
    return calls


def _registers(values: Registers, float_controls: tuple[int, int]) -> tuple[int, ...]:
    control, vector = float_controls
    return (*(values.get(name, 0) for name in _RESTORED), vector, control)


@dataclass
class Layout:
    """The memory for one template, at one address."""

    place: int
    filter_: bytes
    start: Registers
    rlimits: Sequence[tuple[int, int]] = ()
    """(resource, limit) of the process that imports"""
    parked: Parked | None = None
    _data: bytearray = field(default_factory=bytearray)

    @property
    def forker(self) -> int:
        """The address of `FORKER`."""
        return self.place + _DATA

    @property
    def stack(self) -> int:
        """Where the code's stack begins."""
        return self.place + _STACK_END

    def content(self) -> bytes:
        """All of it. Raises StepError where it does not fit."""
        self._data = bytearray(_FORKER.size)
        instructions = self._add(self.filter_)
        program = self._add(struct.pack("<H6xQ", len(self.filter_) // 8, instructions))
        imports = import_calls(program, self.rlimits)
        rows = [self._add_calls(calls) for calls in (imports, _prepare_calls(), _lock_calls(program))]
        resume: tuple[int, ...] = (0, 0)
        parked: tuple[int, ...] = (0,) * 17
        if self.parked is not None:
            resume = self._add_calls(_resume_calls(self.parked))
            parked = _registers({**self.parked.registers, "rax": PARKED}, self.parked.float_controls)
        start = _registers({name: self.start[name] for name in ("rsp", "rip")}, _PLAIN_FLOATS)
        importing, prepare, lock = rows
        tail = (self.place + _MESSAGE, _MESSAGE_BYTES, CONTROL, REPORT)
        _FORKER.pack_into(self._data, 0, _IMPORT_FLAGS, *importing, *start, *prepare, *lock, *resume, *parked, *tail)
        if _DATA + len(self._data) > _MESSAGE or len(X86_64) > _DATA:
            raise StepError("forker", 7)
        return (X86_64.ljust(_DATA, b"\0") + bytes(self._data)).ljust(PLACE_BYTES, b"\0")

    def _add(self, content: bytes) -> int:
        address = self.forker + len(self._data)
        self._data += content + bytes(-len(content) % 8)
        return address

    def _add_calls(self, calls: Calls) -> tuple[int, int]:
        address = self.forker + len(self._data)
        rows, texts, _ = calls.batch.laid_out(address)
        self._add(rows + texts)
        return address, len(calls.steps)


@functools.lru_cache(maxsize=256)
def order(settings: bytes) -> bytes:
    """What a forker is told, but for the number: how to make a sandbox with these settings."""
    made = launch.SandboxLaunch(marshal.loads(settings), None)  # noqa: S302 (from our own client)
    steps = made.steps()
    rows, texts, addresses = made.laid_out(ORDER.size, 0)
    # behind the calls come two tables, whose size is known now
    gap = 4 * (len(addresses) + len(steps))
    gap += -gap % 8
    rows, texts, addresses = made.laid_out(ORDER.size, gap)
    names, names_place = b"", ORDER.size + len(rows) + gap + len(texts)
    places = []
    for step in steps:
        places.append(names_place + len(names))
        names += step.encode() + b"\0"
    tables = struct.pack(f"<{len(addresses) + len(places)}I", *addresses, *places).ljust(gap, b"\0")
    head = ORDER.pack(0, made.channel_call, made.flags, len(steps), len(addresses))
    message = head + rows + tables + texts + names
    if len(message) > _MESSAGE_BYTES:
        raise StepError("order", 7)
    return message[_NUMBER_BYTES:]
