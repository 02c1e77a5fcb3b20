"""A template: the image's own interpreter, in the image's root, waiting to be forked into sandboxes.

It is pid 1 of a pid namespace of its own, so its death ends every sandbox below. It is started by the spawner as
`python3 -c BOOTSTRAP` with the image's environment, and gets on descriptor 4 the sources of the few modules it needs
(see guest) and on descriptor 3 its control socket. Messages from the spawner are marshal, to it fixed structs:

    configure  first message: {"warm": [module...] | None, "filter": BPF (what its own filter lacks of its sandboxes'),
               "environment": {...},
               "fast_path": bool, "hides_frames": bool, "rehearses": bool, "parks": bool, "own_roots": bool, "ids": int,
               "is_machine": bool, "known": what `warm_source.know` takes}
    fork       number (4 bytes), marshalled settings, with the sandbox's socket and its cgroups' files; answer
               ANSWER(number, errno) + step, or with the pidfd. A sandbox that takes the place of another one comes with
               the folder of that one's upper layer behind its own socket, which is mounted first (`attach`), and held
    let go     number 0, then one byte for each place whose layer is not held any more; no answer

It never reaps: SIGCHLD is ignored, so that a sandbox's end costs it nothing.

An interpreter that `parks` imports a blueprint's modules and has no right at all: it only gets ready and waits, and
others fork its memory (see importing). Its control socket leads to its keeper.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]
import _socket
import errno
import gc
import marshal
import os
import select
import struct
import sys

from harena.runtime.fast_path import fast_path
from harena.runtime.guest import files, init, launch, warm, warm_source, wire
from harena.runtime.kernel import machine_code, mappings, mounts, namespaces, privileges, seccomp, signals
from harena.runtime.kernel.syscalls import StepError

ANSWER = struct.Struct("<Ii")
LET_GO = bytes(4)
"""in the place of a sandbox's number"""
CONFIGURATION_BYTES = 1 << 20
_REQUEST_BYTES = 4096


TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import NoReturn

_kept: list[object] = []


def serve() -> Callable[[], object]:
    """Serve the spawner. Returns only in a fork that has become a sandbox, with what its init does next. That way an
    init, and so a program of it, has no frame of the template below it that it would have to leave."""
    control = _socket.socket(fileno=launch.CONTROL)
    configuration = marshal.loads(control.recv(CONFIGURATION_BYTES))  # noqa: S302 (from our own spawner)
    modules = configuration["warm"]
    try:
        if modules is not None:
            found = warm.prepare(list(modules), hides_frames=configuration["hides_frames"])
            # only these directories can change: nothing else of a sandbox's path is writable
            found.stamps = tuple(stamp for stamp in found.stamps if stamp[0].startswith(launch.WRITABLE_PLACES))
            _keep_memory_private()
    except BaseException as error:  # noqa: BLE001 (whatever an image's module does at import is reported, not raised here)
        control.send(
            ANSWER.pack(0, 1) + ("import of the warm modules: %s: %s" % (type(error).__name__, error)).encode()[:4000]
        )
        os._exit(1)
    _end_everybody_else()
    if sys.path and not sys.path[0]:
        del sys.path[0]  # `-c` puts the working directory there; nothing of it may be imported here or in an init
    threads = len(os.listdir("/proc/self/task"))
    if threads > 1:
        text = (
            "the warm modules started %d threads, and a process with threads cannot be forked; take them off the "
            "warm list, or set what keeps them single-threaded in the blueprint's env" % (threads - 1)
        )
        control.send(ANSWER.pack(0, 1) + text.encode())
        os._exit(1)
    own_roots = configuration["own_roots"]
    parks = configuration["parks"]
    filter_ = seccomp.Filter(configuration["filter"])
    if not parks:  # who does has no rights by now
        privileges.forbid_gains(is_machine=configuration["is_machine"])
        privileges.set_dumpable(False)
        privileges.die_with_parent()
    # Blocked, not ignored: forks that become programs need only be unblocked.
    _signal.pthread_sigmask(_signal.SIG_BLOCK, range(1, _signal.NSIG))
    base = init.Base(
        configuration["environment"],
        has_fork_hooks=bool(modules) or warm.may_have_fork_hooks(),
        in_machine_code=configuration["fast_path"],
        ids=configuration["ids"],
    )
    rehearses = configuration["rehearses"]
    if rehearses:
        init.rehearse(base)
    signals.forget_children()
    is_warm = modules is not None
    if is_warm:
        warm_source.know(configuration["known"])
    del configuration, modules
    try:
        if own_roots:
            files.import_all()
            for finders in (sys.meta_path, sys.path, sys.path_importer_cache):
                finders.clear()
        sys.stdout.flush()
        if is_warm and rehearses:
            warm.settle(base.environment)
        gc.collect()
        gc.freeze()
        gc.disable()
        if is_warm and rehearses:
            init.rehearse_warm(base)
        if parks:
            parked = _Parked(control, base)
            control.send(ANSWER.pack(0, 0) + signals.describe_actions() + machine_code.extended_states())
            return parked.loop
        control.send(ANSWER.pack(0, 0))
        return _Template(control, filter_, base).loop
    except Exception as error:  # noqa: BLE001 (whatever it is, the spawner shall be told: nobody else can be)
        control.send(ANSWER.pack(0, 1) + ("template: %s: %s" % (type(error).__name__, error)).encode()[:4000])
        os._exit(1)


def _end_everybody_else() -> None:
    """Kill what the interpreter's start or a module has started: this process is pid 1 of its namespace, so that all of
    it becomes its child."""
    try:
        os.kill(-1, 9)
        while True:
            os.waitpid(-1, 0)
    except OSError:
        return  # nobody is there any more


def _keep_memory_private() -> None:
    """Replace what a warm module has mapped and all forks of this process would have in common, at its place, by a
    private copy: they would write to the same pages, or read what sandboxes before them wrote."""
    for mapping in mappings.shared_by_forks():
        mappings.replace_by_copy(mapping)


class _Parked:
    """Waits. In a sandbox, a fork of this memory comes back from that, and is its init."""

    def __init__(self, control: _socket.socket, base: init.Base) -> None:
        self.control = control
        self.base = base
        _kept.append(self)
        _prepare_init(base, parks=True)

    def loop(self) -> object:
        """Wait until a fork of this memory is to serve as the init of a sandbox; a template itself never comes back."""
        function, outcome = self.base.fast.function, None
        if function is not None:
            outcome = function()  # type: ignore[operator]
            if outcome == fast_path.PLAIN_CHILD:
                return warm.become_plain(self.base.fast.received, self.base.fast.numbers)
        elif len(self.control.recv(16)) != fast_path.PARKED:
            os._exit(0)
        self.base.fast.context.is_template = 0
        return init.serve(self.control, self.base, outcome)


def _prepare_init(base: init.Base, *, parks: bool) -> None:
    base.poll = select.poll()  # init's; made here so that forks need not
    base.poll.register(launch.CONTROL, select.POLLIN)
    base.poll.register(launch.ENDED, select.POLLIN)
    base.fast.serve_template((launch.CONTROL, launch.ENDED, launch.OOM_ADJUST, launch.NOTHING), parks=parks)


class _Template:
    """Forks itself into sandboxes. In Python, where the fast path has not been told how, or cannot be had."""

    def __init__(self, control: _socket.socket, filter_: seccomp.Filter, base: init.Base) -> None:
        self.control = control
        self.filter = filter_
        self.base = base
        self.launches: dict[bytes, launch.SandboxLaunch] = {}
        self.held_launch: dict[bytes, launch.SandboxLaunch] = {}
        """the last one that has to do with layers that are held: there is no end to these"""
        _kept.append(self)  # a fork that let go of it would write to what it is made of
        _prepare_init(base, parks=False)

    def loop(self) -> object:
        """Serve the spawner. Returns only in a warm child of a sandbox's init, with the plan of its program."""
        fast = self.base.fast
        function, context, received, numbers = fast.function, fast.context, fast.received, fast.numbers
        become_plain = warm.become_plain
        while True:
            if function is None:
                message, descriptors = self._receive()
            else:
                outcome = function()  # type: ignore[operator]
                if outcome == fast_path.PLAIN_CHILD:
                    return become_plain(received, numbers)
                if not context.is_template:  # the rest of this loop was in the template; this is a sandbox's
                    if outcome == fast_path.FAILED_STEP:
                        step = fast.launches[context.launched].step(context.step)
                        _say_failed(self.control, context.descriptors[0], StepError(step, context.error))
                    return init.serve(self.control, self.base, outcome)
                if outcome < 0:
                    raise OSError(-outcome, "the template's loop: " + os.strerror(-outcome))
                message, descriptors = fast.message(), fast.descriptors()
            made = self._fork(message, descriptors)
            if made is not None:
                return init.serve(self.control, self.base, None)

    def _receive(self) -> tuple[bytes, list[int]]:
        space = _socket.CMSG_SPACE(4 * wire.MAX_DESCRIPTORS)
        message, ancillary, flags, _ = self.control.recvmsg(_REQUEST_BYTES, space, _socket.MSG_CMSG_CLOEXEC)
        if not message:
            os._exit(0)  # the spawner has gone
        numbers = ancillary[0][2] if ancillary else b""
        descriptors = list(struct.unpack("<%di" % (len(numbers) // 4), numbers))
        if flags & _socket.MSG_CTRUNC:  # not all have come: the sandbox would lack some of its limits
            _close(descriptors)
            return message, []
        return message, descriptors

    def _fork(self, message: bytes, descriptors: list[int]) -> launch.SandboxLaunch | None:
        """Not None in the sandbox. `descriptors` are its channel, and its cgroups' files, see `launch.enter_groups`."""
        if message[:4] == LET_GO:
            self._let_go(message[4:])
            return None
        if not descriptors:
            self.control.send(ANSWER.pack(int.from_bytes(message[:4], "little"), errno.EMFILE) + b"descriptors")
            return None
        settings, channel = message[4:], descriptors[0]
        made = self.launches.get(settings) or self.held_launch.get(settings)
        try:
            if made is None:
                made = self._launch(settings, descriptors)
            made.prepare(channel)
            pid, pidfd = namespaces.clone(made.flags)
        except StepError as error:
            self.control.send(message[:4] + (error.errno or 1).to_bytes(4, "little") + str(error).encode())
            _close(descriptors)
            return None
        if pid == 0:
            self.base.fast.context.is_template = 0
            _become_sandbox(made, self.control, descriptors)
            return made
        self.control.sendmsg(
            (message[:4] + b"\0\0\0\0",),
            ((_socket.SOL_SOCKET, _socket.SCM_RIGHTS, pidfd.to_bytes(4, "little")),),
        )
        os.close(pidfd)
        _close(descriptors)
        return None

    def _launch(self, settings: bytes, descriptors: list[int]) -> launch.SandboxLaunch:
        said: dict[str, object] = marshal.loads(settings)  # noqa: S302 (from our own spawner)
        layers: launch.Layers | None = said["layers"]  # type: ignore[assignment]
        if not layers or not layers["held"]:
            made = self.launches[settings] = launch.SandboxLaunch(said, self.filter)
            self.base.fast.know_launch(settings, made)
            return made
        if said["attach"]:
            folder = descriptors.pop(1)
            try:
                mounts.attach_tree(folder, launch.held_place(layers["held"][0]))
            finally:
                os.close(folder)
        made = launch.SandboxLaunch(said, self.filter)
        if not said["attach"]:
            self.held_launch = {settings: made}
            self.base.fast.know_passing_launch(settings, made)
        return made

    def _let_go(self, places: bytes) -> None:
        for place in places:
            try:
                mounts.unmount(launch.held_place(place))
            except OSError:
                continue  # it could not be mounted


def _close(descriptors: list[int]) -> None:
    for descriptor in descriptors:
        os.close(descriptor)


def _become_sandbox(made: launch.SandboxLaunch, control: _socket.socket, descriptors: list[int]) -> None:
    channel = descriptors[0]
    try:
        launch.enter_groups(descriptors[1:])
        made.run()  # `control` is the sandbox's own channel afterwards: it has taken over the descriptor
    except StepError as error:
        _say_failed(control, channel, error)


def _is_channel(descriptor: int) -> bool:
    try:
        connection = _socket.socket(fileno=os.dup(descriptor))
    except OSError:
        return False
    try:
        return connection.family == _socket.AF_UNIX
    finally:
        connection.close()


def _say_failed(control: _socket.socket, channel: int, error: StepError) -> NoReturn:
    if _is_channel(channel):  # else it has come past that step, and another file may have the number
        os.dup2(channel, launch.CONTROL)
    control.send(wire.FAILED + str(error).encode())
    os._exit(1)
