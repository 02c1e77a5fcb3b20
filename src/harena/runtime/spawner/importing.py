"""How a blueprint's modules come into a template's memory without ever having one of its rights.

A template that forks sandboxes has capabilities, and its forks mount and make namespaces. What a blueprint says (its
modules, its packages' start-up files, its environment) must run with none of that. Three processes share the work:

* The *template*: the process that the spawner has made, in the image's root. It executes the image's interpreter, and
  is held by the keeper before that has run an instruction. From then on it runs no code but the forker's (forker.py).
* The *importer*: a child that shares the template's memory and nothing else. It has namespaces of its own, its
  bounding set is empty, the filter of sandboxes is in force, and then the interpreter's first instruction runs there:
  imports the modules, gets ready, and waits in a call.
* The *keeper*: a fork of the spawner, which runs code of harena only and is not to be seen from where the importer is.
  It holds the template by ptrace. When the importer waits, the keeper notes its registers and kills it, and with it
  all that it has started (it is pid 1 of its namespace). Now nobody can change that memory any more. The keeper puts
  the forker's code into it once more, lets the template go on there, and ends.

A sandbox is a fork of the template. It does what a launch is made of in the forker's code, gives up every right, is put
behind the filter, and only then gets the importer's registers: the interpreter finds itself back from that call.

Nothing of the importer is left but memory: no process, no descriptor, and no memory that two sandboxes would share.
"""

from __future__ import annotations

import _socket
import errno
import os
import select
import signal
import struct
import time
from typing import NoReturn

from harena.runtime.fast_path import forker
from harena.runtime.guest import template
from harena.runtime.kernel import cgroups, mappings, pidfds, privileges, proc_files
from harena.runtime.kernel.ptrace import (
    EVENT_EXEC,
    OPTION_EXEC,
    OPTION_EXIT_KILL,
    OPTION_SYSCALL_MARK,
    Registers,
    Tracee,
)
from harena.runtime.kernel.syscalls import StepError, close_from
from harena.runtime.spawner import guest_modules as guest

TRACING = "ptrace"
"""the step that fails where this host forbids one process to hold another one"""
_FORBIDDEN = (errno.EPERM, errno.EACCES, errno.ENOSYS)
_TEMPLATE = 1
"""its number in its pid namespace"""
_NR_MMAP, _NR_CLONE, _NR_RECVFROM, _NR_SET_TID_ADDRESS = 9, 56, 45, 218
_READ_WRITE_EXECUTE, _PRIVATE_FIXED = 7, 0x12
_SYSCALL_INSTRUCTION = 0x050F
_INTERRUPTED = (1 << 64) - 512  # what a call has in rax that will be begun again
_TOP = 0x7FFFFFFFF000
_ACTION = struct.Struct("<B7x32s")
_RETRY_SECONDS = 0.002
_MOST_RETRIES = 5000
_TEXT_BYTES = 4000
_ENDED = template.ANSWER.pack(0, errno.ECHILD)
"""the answer where it has ended; the spawner sees why"""
_READY_BYTES = 8 << 10


def become_template(
    plan: dict[str, object], filter_: bytes, channel: _socket.socket, light: cgroups.LightWeight | None
) -> None:
    """In the process that the spawner has made, in its new root. Comes back only by raising OSError.

    `light` is put in force before the importer begins. What comes before, such as mounts, has the weight of any other
    process: it takes locks that others wait for."""
    reading, writing = os.pipe2(os.O_CLOEXEC)
    memory = os.memfd_create("template", os.MFD_CLOEXEC)
    gate, gate_end = os.pipe2(os.O_CLOEXEC)
    ours, theirs = _socket.socketpair(_socket.AF_UNIX, _socket.SOCK_SEQPACKET | _socket.SOCK_CLOEXEC)
    if os.fork() == 0:
        _keep(plan, filter_, channel, ours, (gate_end, writing, memory), light)
    os.close(writing)
    if os.read(reading, 1) != b"g":
        raise StepError("keeper", errno.ECHILD)
    source = os.memfd_create("guest", os.MFD_CLOEXEC)
    os.write(source, guest.bundle())
    os.lseek(source, 0, os.SEEK_SET)
    null = os.open("/dev/null", os.O_RDWR)
    places = {forker.CONTROL: channel.fileno(), forker.SOURCE: source, forker.REPORT: theirs.fileno(),
              forker.GATE: gate, forker.MEMORY: memory}  # fmt: skip
    high = {target: os.dup(descriptor) for target, descriptor in places.items()}
    while min(high.values()) <= forker.MEMORY:
        high = {target: os.dup(descriptor) for target, descriptor in high.items()}
    for target in (0, 1, 2):
        os.dup2(null, target)
    for target, descriptor in high.items():
        os.dup2(descriptor, target)
    close_from(forker.MEMORY + 1)
    privileges.keep_what_launches_need(listens=bool(plan["listens"]))
    for signum in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGINT, signal.SIGTERM, signal.SIGCHLD):
        signal.signal(signum, signal.SIG_DFL)
    environment: dict[str, str] = plan["environment"]  # type: ignore[assignment]
    try:
        os.execve(str(plan["python"]), ["python3", "-c", guest.BOOTSTRAP], environment)
    except OSError as error:  # the channel lies there now
        answer = _socket.socket(fileno=forker.CONTROL)
        answer.send(template.ANSWER.pack(0, error.errno or 1) + str(error).encode())
        os._exit(1)


def _keep(
    plan: dict[str, object],
    filter_: bytes,
    channel: _socket.socket,
    importer: _socket.socket,
    rest: tuple[int, int, int],
    light: cgroups.LightWeight | None,
) -> NoReturn:
    """The keeper, from its fork on. It keeps no descriptor of the spawner's."""
    try:
        kept = [channel.fileno(), importer.fileno(), *rest, *(light.descriptors if light else ())]
        places = [os.dup(descriptor) for descriptor in kept]
        while min(places) < 64:
            places = [os.dup(descriptor) for descriptor in places]
        for target, descriptor in enumerate(places, 3):
            os.dup2(descriptor, target)
        close_from(3 + len(kept))
        light = cgroups.LightWeight(range(8, 3 + len(kept)), light.text) if light else None
        channel.detach()
        importer.detach()
        control = _socket.socket(fileno=3)
        importer = _socket.socket(fileno=4)
        keeper = Keeper(filter_, plan["rlimits"], control, importer, light, gate=5, memory=7)  # type: ignore[arg-type]
    except OSError:
        os._exit(1)  # the template finds that there is no keeper
    try:
        keeper.hold(start=6)
        text = keeper.watch()
        if text:
            control.send(text)
        else:
            keeper.let_go()
            control.send(template.ANSWER.pack(0, 0))
            os._exit(0)
    except ProcessLookupError:
        control.send(_ENDED)
    except ValueError as error:
        control.send(template.ANSWER.pack(0, 1) + f"template: {error}".encode())
    except OSError as error:
        part = TRACING if error.errno in _FORBIDDEN and not keeper.importer_pid else "template"
        control.send(template.ANSWER.pack(0, 1) + f"{part}: {error}".encode()[:1000])
    finally:
        os._exit(1)  # what it holds ends with it


class Keeper:
    """Holds the template while a blueprint's code has its memory."""

    def __init__(
        self,
        filter_: bytes,
        rlimits: list[tuple[int, int]],
        control: _socket.socket,
        importer: _socket.socket,
        light: cgroups.LightWeight | None,
        *,
        gate: int,
        memory: int,
    ) -> None:
        self.filter = filter_
        self.rlimits = rlimits
        self.control = control
        self.importer = importer
        self.light = light
        self.gate = gate
        self.memory = memory
        self.importer_pid = 0

    def hold(self, start: int) -> None:
        """From before the interpreter's first instruction until the importer may begin."""
        configuration = self.control.recv(template.CONFIGURATION_BYTES)
        self.importer.send(configuration)
        options = OPTION_SYSCALL_MARK | OPTION_EXEC | OPTION_EXIT_KILL
        self.template = held = Tracee(_TEMPLATE, options)
        os.write(start, b"g")
        os.close(start)
        while held.wait_stop()[1] != EVENT_EXEC:
            held.go_on()
        held.to_syscall()  # execve's end
        begun = held.registers
        self.layout = forker.Layout(_free_place(), self.filter, begun, self.rlimits)
        self._fill()
        word = held.peek(begun["rip"])
        held.poke(begun["rip"], word & ~0xFFFF | _SYSCALL_INSTRUCTION)
        held.registers = {**begun, "rax": _NR_MMAP, "orig_rax": (1 << 64) - 1}
        held.to_syscall()
        self._map()
        held.poke(begun["rip"], word)
        self._jump(begun, forker.BEGIN)
        while True:
            held.to_syscall()  # clone's entry
            held.to_syscall()  # and its end
            now = held.registers
            if now["orig_rax"] == _NR_CLONE:
                break
        if now["rax"] >> 63:
            raise StepError("clone", (1 << 64) - now["rax"])
        self.importer_pid = now["rax"]
        self._jump(now, forker.HELD)
        held.to_syscall()
        if self.light is not None:
            self.light.put_in_force()
            self.light.close()
        os.write(self.gate, b"g")
        os.close(self.gate)

    def watch(self) -> bytes:
        """Until the importer waits, and has been ended. Where it did not come so far: what to answer."""
        message = self._message()
        if len(message) < template.ANSWER.size:
            return _ENDED
        number, code = template.ANSWER.unpack_from(message)
        rest = message[template.ANSWER.size :]
        if number or code:
            return template.ANSWER.pack(0, 1) + (rest or _failed_step(number, self.rlimits).encode())[:_TEXT_BYTES]
        if len(rest) % _ACTION.size or len(rest) > 65 * _ACTION.size:
            return template.ANSWER.pack(0, 1) + b"template: the interpreter got ready in an unknown way"
        found = [_ACTION.unpack_from(rest, place) for place in range(0, len(rest), _ACTION.size)]
        waiting = self._waiting()
        waiting.actions = [(number, action) for number, action in found if 0 < number <= 64]
        waiting.extended_states = sum(int.from_bytes(text[:8], "little") for number, text in found if number == 0)
        self.layout.parked = waiting
        return b""

    def _message(self) -> bytes:
        """What it says first; empty if it ends: its socket has no end, because the template has it too."""
        ended = pidfds.open_pidfd(self.importer_pid)
        poll = select.poll()
        poll.register(ended, select.POLLIN)
        poll.register(self.importer.fileno(), select.POLLIN)
        poll.poll()
        os.close(ended)
        try:
            return self.importer.recv(_READY_BYTES, _socket.MSG_DONTWAIT)
        except BlockingIOError:
            return b""

    def _waiting(self) -> forker.Parked:
        """How it waits; then it is killed, with everything below it."""
        importer = Tracee(self.importer_pid, OPTION_SYSCALL_MARK)
        for _ in range(_MOST_RETRIES):
            importer.interrupt()
            importer.wait_stop()
            registers = importer.registers
            if registers["orig_rax"] == _NR_RECVFROM and registers["rax"] == _INTERRUPTED:
                break
            importer.go_on()  # it has said that it is ready, and is on its way to that call
            time.sleep(_RETRY_SECONDS)
        else:
            raise ValueError("the interpreter has not got ready")
        found = forker.Parked(registers, importer.float_controls(), importer.restartable_sequences())
        # At its end the kernel would write into the memory that stays: 0 for the number of its thread.
        importer.to_syscall()  # the same call, begun again
        importer.registers = {**importer.registers, "orig_rax": _NR_SET_TID_ADDRESS, "rdi": 0}
        importer.to_syscall()
        os.kill(self.importer_pid, signal.SIGKILL)
        importer.wait_end()
        return found

    def let_go(self) -> None:
        """Nobody else has the template's memory any more: it goes on in the forker's code."""
        _refuse_company()
        _refuse_shared_memory(self.layout.place, self.memory)
        self._fill()
        held = self.template
        self._map()
        self._jump(held.registers, forker.SERVE)
        held.detach()

    def _fill(self) -> None:
        content = self.layout.content()
        if os.pwrite(self.memory, content, 0) != len(content):
            raise StepError("forker", errno.ENOMEM)

    def _map(self) -> None:
        """The template has come to the entry of some call: make it map the forker's memory instead."""
        held, layout = self.template, self.layout
        held.registers = {
            **held.registers,
            "orig_rax": _NR_MMAP,
            "rdi": layout.place,
            "rsi": forker.PLACE_BYTES,
            "rdx": _READ_WRITE_EXECUTE,
            "r10": _PRIVATE_FIXED,
            "r8": forker.MEMORY,
            "r9": 0,
        }
        held.to_syscall()
        if held.registers["rax"] != layout.place:
            raise StepError("map the forker", errno.ENOMEM)

    def _jump(self, registers: Registers, entry: int) -> None:
        layout = self.layout
        self.template.registers = {
            **registers,
            "rip": layout.place + entry,
            "rsp": layout.stack,
            "rdi": layout.forker,
            "orig_rax": (1 << 64) - 1,
        }


def _failed_step(outcome: int, rlimits: list[tuple[int, int]]) -> str:
    steps = forker.import_calls(0, rlimits).steps
    step = steps[min(outcome >> 16, len(steps) - 1)]
    return f"template: {step}: {os.strerror(outcome & 0xFFFF)}"


def _free_place() -> int:
    """Where the template's memory has room, above all that will ever be mapped by itself if possible."""
    ranges = [line.split(b" ", 1)[0].split(b"-") for line in proc_files.lines(f"/proc/{_TEMPLATE}/maps")]
    areas = [(int(start, 16), int(end, 16)) for start, end in ranges]
    areas = [area for area in areas if area[1] <= _TOP]
    above = areas[-1][1] + (1 << 16)
    if above + forker.PLACE_BYTES < _TOP:
        return above
    return areas[0][0] - (1 << 16) - forker.PLACE_BYTES


def _refuse_company() -> None:
    """A process that lives beside the template and the keeper: none can, since what the importer has started was in its
    namespace, and ended before it did."""
    for name in os.listdir("/proc"):
        if name.isdigit() and int(name) not in (_TEMPLATE, os.getpid()):
            state = proc_files.fields_after_name(proc_files.read(f"/proc/{name}/stat"))[0]
            if state not in (b"Z", b"X"):
                raise ValueError("something that its modules have started lives on")


def _refuse_shared_memory(place: int, memory: int) -> None:
    """What two sandboxes would have in common. An interpreter that is well has replaced it by copies. At `place` lies
    the forker's memory, which is mapped anew; it is known by its file, too, to which this process has a descriptor."""
    own = mappings.file_of(memory)
    for mapping in mappings.shared_by_forks(_TEMPLATE):
        is_at_the_place = place <= mapping.place and mapping.place + mapping.size <= place + forker.PLACE_BYTES
        if not (is_at_the_place and mapping.file == own):
            raise ValueError(f"its modules share memory between sandboxes: {mapping.name[:80]!r}")
