"""How the process that the spawner has made becomes a template."""

from __future__ import annotations

import _socket
import fcntl
import os
import signal
from typing import NoReturn

from harena.runtime.guest import launch, template
from harena.runtime.kernel import cgroups, privileges, seccomp
from harena.runtime.spawner import guest_modules as guest
from harena.runtime.spawner import importing


def become_template(
    root: launch.TemplateRoot,
    plan: dict[str, object],
    control: int,
    entries: list[int],
    light: cgroups.LightWeight | None,
) -> NoReturn:
    """In the clone: go into its cgroups, take the steps, then exec the image's interpreter. `light`: see
    `importing.become_template`. Never returns."""
    channel = _socket.socket(fileno=control)
    try:
        launch.enter_groups(entries)
        for entry in entries:
            os.close(entry)
        os.setsid()  # where the kernel schedules by session, it is not one with the spawner and all other templates
        launch.apply(launch.TEMPLATE_STEPS, root)
        if root.shares_inodes:
            seccomp.load(plan["filter_of_shared_inodes"])  # type: ignore[arg-type]
        if plan["imports"]:
            importing.become_template(plan, plan["final_filter"], channel, light)  # type: ignore[arg-type]
        source = os.memfd_create("guest", os.MFD_CLOEXEC)
        os.write(source, guest.bundle())
        os.lseek(source, 0, os.SEEK_SET)
        null = os.open("/dev/null", os.O_RDWR)
        for target in (0, 1, 2):
            os.dup2(null, target)
        privileges.keep_what_launches_need(
            own_roots=bool(root.layers),
            users=root.ids > 1,
            is_machine=bool(plan["is_machine"]),
            listens=root.listens,
        )
        seccomp.load(plan["filter"])  # type: ignore[arg-type]
        source, control = _dup_high(source), _dup_high(control)
        os.dup2(control, 3)
        os.dup2(source, 4)
        for signum in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGINT, signal.SIGTERM):
            signal.signal(signum, signal.SIG_DFL)
        python = str(plan["python"])
        environment: dict[str, str] = plan["environment"]  # type: ignore[assignment]
        flags = [] if plan["warm"] else ["-I", "-S"]  # what it runs is harena's only
        os.execve(python, ["python3", *flags, "-c", guest.BOOTSTRAP], environment)
    except OSError as error:
        channel.send(template.ANSWER.pack(0, error.errno or 1) + str(error).encode())
    finally:
        os._exit(1)


def _dup_high(descriptor: int) -> int:
    return int(fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 64))
