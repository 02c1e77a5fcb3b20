"""A template: the image's own interpreter, in the image's root, waiting to be forked into sandboxes.

It is pid 1 of a pid namespace of its own, so its death ends every sandbox below. It is started by the spawner as
`python3 -c BOOTSTRAP` with the image's environment, and gets on descriptor 4 the sources of the few modules it needs
(see guest) and on descriptor 3 its control socket. Messages from the spawner are marshal, to it fixed structs:

    configure  first message: {"warm": [module...] | None, "filter": BPF, "environment": {...}, "python": path}
    fork       (number, settings) with the sandbox's socket; answer ANSWER(number, errno) + step, with the pidfd

It never reaps: SIGCHLD is ignored, so that a sandbox's end costs it nothing.
"""

from __future__ import annotations

import _socket
import gc
import marshal
import os
import signal
import struct
import sys

from harena.runtime import init, launch, warm
from harena.runtime.kernel import namespaces, privileges, seccomp
from harena.runtime.kernel.syscalls import StepError, close_from

ANSWER = struct.Struct("<Ii")
_CONTROL = 3
_MESSAGE_BYTES = 1 << 20


def serve() -> object:
    """Serve the spawner. Returns only in a warm child, with the plan of the program that it shall become."""
    control = _socket.socket(fileno=_CONTROL)
    configuration = marshal.loads(control.recv(_MESSAGE_BYTES))  # noqa: S302 (from our own spawner)
    modules = configuration["warm"]
    try:
        warmth = warm.prepare(list(modules)) if modules is not None else None
    except BaseException as error:  # noqa: BLE001 (whatever an image's module does at import is reported, not raised here)
        control.send(ANSWER.pack(0, 1) + ("import of the warm modules: %s: %s" % (type(error).__name__, error)).encode()[:4000])  # noqa: UP031
        os._exit(1)
    filter_ = seccomp.Filter(configuration["filter"])
    privileges.forbid_gains()
    privileges.set_dumpable(False)
    privileges.die_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    base = init.Base(configuration["environment"], configuration["python"], modules is not None)
    del configuration, modules, warmth
    sys.stdout.flush()
    gc.collect()
    gc.freeze()
    gc.disable()
    control.send(ANSWER.pack(0, 0))
    return _fork_on_request(control, filter_, base)


def _fork_on_request(control: _socket.socket, filter_: seccomp.Filter, base: init.Base) -> object:
    while True:
        message, ancillary, _flags, _address = control.recvmsg(
            _MESSAGE_BYTES, _socket.CMSG_SPACE(4), _socket.MSG_CMSG_CLOEXEC
        )
        if not message:
            os._exit(0)  # the spawner has gone
        number, settings = marshal.loads(message)  # noqa: S302 (from our own spawner)
        channel = struct.unpack("i", ancillary[0][2])[0]
        try:
            pid, pidfd = namespaces.clone(
                launch.SANDBOX_FLAGS | (namespaces.NEWUSER if settings["own_users"] else 0)
            )
        except StepError as error:
            control.send(ANSWER.pack(number, error.errno or 1) + str(error).encode())
            os.close(channel)
            continue
        if pid == 0:
            return _become_sandbox(channel, settings, filter_, base)
        control.sendmsg(
            [ANSWER.pack(number, 0)], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, struct.pack("i", pidfd))]
        )
        os.close(pidfd)
        os.close(channel)


def _become_sandbox(channel: int, settings: dict[str, object], filter_: seccomp.Filter, base: init.Base) -> object:
    os.dup2(channel, _CONTROL, inheritable=False)
    close_from(_CONTROL + 1)
    connection = _socket.socket(fileno=_CONTROL)
    try:
        launch.apply(launch.SANDBOX_STEPS, launch.SandboxRoot(settings, filter_))
    except StepError as error:
        connection.send(init.FAILED + str(error).encode())
        os._exit(1)
    return init.serve(connection, base)
