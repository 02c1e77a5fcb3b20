"""A template: the image's own interpreter, in the image's root, waiting to be forked into sandboxes.

It is pid 1 of a pid namespace of its own, so its death ends every sandbox below. It is started by the spawner as
`python3 -c BOOTSTRAP` with the image's environment, and gets on descriptor 4 the sources of the few modules it needs
(see guest) and on descriptor 3 its control socket. Messages from the spawner are marshal, to it fixed structs:

    configure  first message: {"warm": [module...] | None, "filter": BPF, "environment": {...}, "python": path}
    fork       number (4 bytes), marshalled settings, with the sandbox's socket; answer ANSWER(number, errno) + step,
               or with the pidfd

It never reaps: SIGCHLD is ignored, so that a sandbox's end costs it nothing.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]
import _socket
import gc
import marshal
import os
import select
import struct
import sys

from harena.runtime import init, launch, warm, wire
from harena.runtime.kernel import namespaces, network, privileges, seccomp, signals
from harena.runtime.kernel.syscalls import StepError

ANSWER = struct.Struct("<Ii")
_CONTROL = 3
_CONFIGURATION_BYTES = 1 << 20
_REQUEST_BYTES = 4096


TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_kept: list[object] = []


def serve() -> Callable[[], object]:
    """Serve the spawner. Returns only in a fork that has become a sandbox, with what its init does next. That way an
    init, and so a program of it, has no frame of the template below it that it would have to leave."""
    control = _socket.socket(fileno=_CONTROL)
    configuration = marshal.loads(control.recv(_CONFIGURATION_BYTES))  # noqa: S302 (from our own spawner)
    modules = configuration["warm"]
    try:
        if modules is not None:
            found = warm.prepare(list(modules))
            # only these directories can change: nothing else of a sandbox's path is writable
            found.stamps = tuple(stamp for stamp in found.stamps if stamp[0].startswith(launch.WRITABLE_PLACES))
    except BaseException as error:  # noqa: BLE001 (whatever an image's module does at import is reported, not raised here)
        control.send(
            ANSWER.pack(0, 1) + ("import of the warm modules: %s: %s" % (type(error).__name__, error)).encode()[:4000]
        )
        os._exit(1)
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
    filter_ = seccomp.Filter(configuration["filter"])
    privileges.forbid_gains()
    privileges.set_dumpable(False)
    privileges.die_with_parent()
    # Blocked, not ignored: forks that become programs need only be unblocked.
    _signal.pthread_sigmask(_signal.SIG_BLOCK, range(1, _signal.NSIG))
    base = init.Base(configuration["environment"], bool(modules) or warm.may_have_fork_hooks())
    init.rehearse(base)
    signals.forget_children()
    is_warm = modules is not None
    del configuration, modules
    sys.stdout.flush()
    if is_warm:
        warm.settle(base.environment)
    gc.collect()
    gc.freeze()
    gc.disable()
    try:
        if is_warm:
            init.rehearse_warm(base)
        control.send(ANSWER.pack(0, 0))
        return _fork_on_request(control, filter_, base)
    except Exception as error:  # noqa: BLE001 (whatever it is, the spawner shall be told: nobody else can be)
        control.send(ANSWER.pack(0, 1) + ("template: %s: %s" % (type(error).__name__, error)).encode()[:4000])
        os._exit(1)


def _fork_on_request(control: _socket.socket, filter_: seccomp.Filter, base: init.Base) -> Callable[[], object]:
    # What this loop writes to between two forks, every fork keeps a copy of: it is written to touch little.
    launches: dict[bytes, launch.SandboxLaunch] = {}
    networks = network.Recycled()
    _kept.extend((launches, networks, control, filter_))  # a fork that let go of them would copy what they lie in
    base.poll = select.poll()  # init's; made here so that forks need not
    base.poll.register(launch.CONTROL, select.POLLIN)
    base.poll.register(launch.ENDED, select.POLLIN)
    receive, space, flags = control.recvmsg, _socket.CMSG_SPACE(4), _socket.MSG_CMSG_CLOEXEC
    while True:
        message, ancillary, _flags, _address = receive(_REQUEST_BYTES, space, flags)
        if not message:
            os._exit(0)  # the spawner has gone
        channel = int.from_bytes(ancillary[0][2], "little")
        settings = message[4:]
        made = launches.get(settings)
        if made is None:
            made = launches[settings] = launch.SandboxLaunch(marshal.loads(settings), filter_)  # noqa: S302 (from our own spawner)
        used = None if made.own_users else networks.take()
        try:
            pid, pidfd = namespaces.clone(made.prepare(channel, used[0] if used else -1))
        except StepError as error:
            control.send(message[:4] + (error.errno or 1).to_bytes(4, "little") + str(error).encode())
            os.close(channel)
            continue
        if pid == 0:
            return _become_sandbox(made, control, channel, base)
        control.sendmsg(
            (message[:4] + b"\0\0\0\0",),
            ((_socket.SOL_SOCKET, _socket.SCM_RIGHTS, pidfd.to_bytes(4, "little")),),
        )
        if made.own_users or not networks.give(used, pid, pidfd):
            os.close(pidfd)
        os.close(channel)


def _become_sandbox(
    made: launch.SandboxLaunch, control: _socket.socket, channel: int, base: init.Base
) -> Callable[[], object]:
    try:
        made.run()  # `control` is the sandbox's own channel afterwards: it has taken over the descriptor
    except StepError as error:
        os.dup2(channel, launch.CONTROL)
        control.send(wire.FAILED + str(error).encode())
        os._exit(1)
    return init.start(control, base)
