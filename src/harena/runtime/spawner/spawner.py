"""The spawner: one single-threaded process per node that makes templates, and templates' forks into sandboxes.

It is exec'd, never forked from the user's process (which has threads), and holds no policy: what to make, when to end
it and what a death means is its client's to decide. It speaks SOCK_SEQPACKET with marshal messages (its client is the
process that started it); every sandbox's own channel goes past it, directly from the client to the sandbox's init.

Clean-up cannot be missed: when the control socket closes, or the client's process ends by whatever means, it kills
its templates, removes its cgroups and ends. Should it be killed first, each template dies by parent-death signal and
by the end of its socket, and takes its sandboxes along, being pid 1 of the pid namespace above theirs.

    client -> spawner                                       spawner -> client
    ("template", t, plan, configuration)                    ("template", t, error or "", limits' enforcement)
    ("create", [(s, t, settings, limits, has layer)...])    ("created", s, error or "")        one for each
        + channels, each with the layer that comes with it
    ("kill", [s...])                                        ("dead", s, oom kills, from above, lacked processes)
    ("drop", t) / ("let_go", t, place)                      ("template_dead", t)
    ("time" / "oom" / "held", q, s)                         ("answer", q, value)
"""

from __future__ import annotations

import _socket
import errno
import marshal
import os
import resource
import select
import signal
import struct
import sys
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

from harena.runtime.fast_path import forker
from harena.runtime.guest import host_trees, launch, template
from harena.runtime.kernel import cgroups, namespaces, pidfds, proc_files
from harena.runtime.kernel.syscalls import StepError, prctl
from harena.runtime.spawner import guest_modules as guest
from harena.runtime.spawner import template_start
from harena.runtime.spawner.looks import Look, Looks, below_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar

    from harena.runtime.spawner import template_users

    T = TypeVar("T")

MAX_BATCH = 60
TEMPLATE_MEMORY_BYTES = 4 << 30
"""what the modules of a blueprint may take, in memory, before any sandbox writes to its copy"""
TEMPLATE_PROCESSES = 256
"""processes and threads of a template: what a module starts as it is imported, and sandboxes that are being made"""
TEMPLATE_GONE = "the template has ended"
TEMPLATES_OUT_OF_MEMORY = (
    "the memory that all templates of a workspace, or of all workspaces, have together was used up while its modules "
    "were imported, before they met a limit of their own; keep fewer modules warm, or import fewer blueprints at a time"
)
TEMPLATES_OUT_OF_PROCESSES = (
    "the processes that all templates of the workspace, or of all workspaces, may have together are used up, by what "
    "modules start while they are imported; there are some again when these imports have ended"
)
# Below 128 KiB: what is larger, malloc maps and unmaps each time.
_REQUEST_BYTES = 96 << 10
_ANSWER_BYTES = 8 << 10
_MOST_USERS = 500
"""users of the host that templates of one spawner have, see `single_users.IDS`"""
_CAP_SETUID, _CAP_SYS_ADMIN = 7, 21
_PR_SET_SECUREBITS, _NO_SETUID_FIXUP = 28, 4
_MOST_UNANSWERED = 128
"""orders that a template is told of at one time; more wait here, so that one that does not read holds up nobody else"""
_DESCRIPTOR_SPACE = _socket.CMSG_SPACE(4)
_WATCH_SECONDS = 0.1
_NO_CORE = 1
"""Limit of core dumps (RLIMIT_CORE) of everything that is started here. The kernel writes none of so few bytes, and
starts none of the host's programs for them either (`kernel.core_pattern` that begins with |), which it does with 0: as
root of the host, and outside of every cgroup."""
_KILLED_FIRST = 1000
"""What an import has for its `oom_score_adj`, and all that it starts. Where the memory of several templates is used up,
the kernel ends the process with most of it, and that could be a template whose sandboxes are in use."""
_BETWEEN_STEPS_SECONDS = 0.005
"""for which a step of a look waits at most for a moment without another event"""


@dataclass
class _Template:
    number: int
    user: int
    pid: int
    pidfd: int
    control: _socket.socket
    group: cgroups.Group
    users: template_users.TemplateUsers | None = None
    """where its image has several users; None = `user` is its only one"""
    workspace: str | None = None
    """whose it is: all sandboxes of one have one part of the processors, however many they are"""
    imports: bool = False
    """its memory holds a blueprint's modules, and its forker is told calls instead of settings"""
    ready: bool = False
    waiting: dict[int, _Sandbox] = field(default_factory=dict)
    """told to be forked, and not answered yet"""
    unsent: deque[tuple[_Sandbox, bytes, int]] = field(default_factory=deque)
    """orders that wait for their turn: (sandbox, settings, its channel, which is this process's to close)"""
    released: bytes = b""
    """places of layers that it need not hold any more, and has not been told of"""
    listens_to_writes: bool = False
    ended_by: str = ""
    """what it did against the protocol, if it was ended for that"""


@dataclass
class _Sandbox:
    number: int
    group: cgroups.Group
    memory_bytes: int | None = None
    pid: int = 0
    pidfd: int = -1
    enters: bool = False
    """it was given the files of its cgroups, and goes into them itself"""
    over_memory: bool = False
    held_bytes: int = 0
    """what its processes held when this was looked at last, where no cgroup limits it"""
    layer: int = -1
    """the folder of an upper layer that its template is to hold from now on; until the template has been told"""


class Spawner:
    """The whole process; `run` returns when the client has gone."""

    def __init__(self, control: _socket.socket, client_pid: int) -> None:
        self.control = control
        self.privileged = _has_privilege()
        if self.privileged:
            os.setgroups([])
            prctl("securebits", _PR_SET_SECUREBITS, _NO_SETUID_FIXUP)  # see _clone_as: it keeps its capabilities
        hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        self.backend = cgroups.detect()
        cgroups.clean_stale(self.backend)
        self.backend, self.pool = cgroups.open_best(self.backend, cgroups.owner_id(os.getpid()))
        self.template_pool = self.backend.open_template_pool(cgroups.owner_id(os.getpid()))
        self.templates: dict[int, _Template] = {}
        self.own_badness = _own_badness()
        """its own `oom_score_adj`, which a template has again when its modules are imported"""
        self.first_user: int | None = None
        """the lowest user that is this spawner's alone; None = none is claimed yet"""
        self.users_lock = -1
        self.users_given = 0
        self.sandboxes: dict[int, _Sandbox] = {}
        self.epoll = select.epoll()
        self.on_event: dict[int, Callable[[], None]] = {}
        self.running = True
        self.watches_memory = self.backend.describe()["memory_bytes"].startswith("not enforced")
        self.next_look = 0.0
        self.looks = Looks()
        self.next_step = 0.0
        self._watch(control.fileno(), self._request)
        client = pidfds.open_pidfd(client_pid)
        self._watch(client, self._client_gone)

    def run(self) -> None:
        """Serve until the client goes away; then end everything."""
        try:
            while self.running:
                watching = self.watches_memory and self.sandboxes
                found = self.serve_events(0 if self.looks else _WATCH_SECONDS if watching else None)
                if self.looks and (not found or time.monotonic() >= self.next_step):
                    self._go_on_looking()
                if watching and time.monotonic() >= self.next_look:
                    self._watch_memory()
        finally:
            self._end()

    def serve_events(self, timeout_seconds: float | None) -> bool:
        """Deal with what has happened, or happens next; whether anything has.

        Who deals with one event may close the descriptor of another that was found with it, and a third one's handler
        may get that number for something else. What was found is not about that: a sandbox that has just been made
        would be taken for one that has died, or the end of a template that lives would be waited for."""
        found = [(each, self.on_event.get(each)) for each, _ in self.epoll.poll(timeout_seconds)]
        for descriptor, handler in found:
            if handler is not None and self.on_event.get(descriptor) is handler:
                handler()
        return bool(found)

    def _watch(self, descriptor: int, handler: Callable[[], None]) -> None:
        self.on_event[descriptor] = handler
        self.epoll.register(descriptor, select.EPOLLIN)

    def _unwatch(self, descriptor: int) -> None:
        del self.on_event[descriptor]
        self.epoll.unregister(descriptor)

    def _client_gone(self) -> None:
        self.running = False

    def _end(self) -> None:
        for made in self.templates.values():
            _kill(made.pidfd)
        for made in self.templates.values():
            try:
                os.waitpid(made.pid, 0)  # returns when the whole pid namespace below is empty
            except ChildProcessError:
                continue  # reaped already
        left = [*self.pool.close(), *self.template_pool.close()]
        if left:  # the next spawner removes them
            inside = sorted({pid for directory in left for pid in _processes_in(directory)})
            _report(f"left {left}", OSError(f"processes {inside} are still there"))

    def _say(self, *message: object) -> None:
        try:
            self.control.send(marshal.dumps(message, 2))  # type: ignore[arg-type]
        except OSError:
            self.running = False

    # -- requests ------------------------------------------------------------------------------------------------

    def _request(self) -> None:
        try:
            message, ancillary, _flags, _address = self.control.recvmsg(
                _REQUEST_BYTES, _socket.CMSG_SPACE(4 * MAX_BATCH), _socket.MSG_CMSG_CLOEXEC
            )
        except ConnectionError:
            message, ancillary = b"", []
        if not message:
            self.running = False
            return
        kind, *arguments = marshal.loads(message)  # noqa: S302 (from the process that started this one)
        if kind == "create":
            channels = struct.unpack(f"{len(ancillary[0][2]) // 4}i", ancillary[0][2])
            given = iter(channels)
            for number, made, settings, limits, has_layer in arguments[0]:
                self._create(number, made, settings, limits, next(given), next(given) if has_layer else -1)
        elif kind == "kill":
            for number in arguments[0]:
                sandbox = self.sandboxes.get(number)
                if sandbox is not None and sandbox.pidfd >= 0:
                    pidfds.send_signal(sandbox.pidfd, signal.SIGKILL)
        elif kind == "template":
            self._start_template(*arguments)
        elif kind == "drop":
            if arguments[0] in self.templates:
                _end_template(self.templates[arguments[0]])
        elif kind == "let_go":
            self._let_go(*arguments)
        elif kind == "time":
            self._begin_look(*arguments)
        elif kind == "oom":
            self._say("answer", arguments[0], self._look_at(arguments[1], _memory_kills, (0, 0)))
        elif kind == "held":
            self._say("answer", arguments[0], self._look_at(arguments[1], _charged_or_held, 0))

    # -- templates -----------------------------------------------------------------------------------------------

    def _start_template(self, number: int, plan: dict[str, object], configuration: dict[str, object]) -> None:
        try:
            made = self._clone_template(number, plan)
        except OSError as error:
            self._say("template", number, f"template: {error}", {})
            return
        self.templates[number] = made
        self._watch(made.control.fileno(), lambda: self._from_template(made))
        self._watch(made.pidfd, lambda: self._template_died(made))
        configuration["ids"] = made.users.count if made.users is not None else 1
        try:
            made.control.send(marshal.dumps(configuration, 2))
        except OSError:
            return  # it has failed already, and has said why

    def _clone_template(self, number: int, plan: dict[str, object]) -> _Template:
        trees: list[tuple[str, str, bool, bool]] = plan["trees"]  # type: ignore[assignment]
        layers: list[str] = plan["layers"]  # type: ignore[assignment]
        users: template_users.TemplateUsers | None = None
        imports, workspace = bool(plan["imports"]), str(plan["workspace"])
        group, entries, light = self._template_group(workspace, imports=imports)
        ours, theirs = _socket.socketpair(_socket.AF_UNIX, _socket.SOCK_SEQPACKET | _socket.SOCK_CLOEXEC)
        map_ready, map_done = os.pipe2(os.O_CLOEXEC)
        opened: list[host_trees.Tree] | None = None
        guest.bundle()  # read now: in the new root these files are not there
        try:
            users = self._several_users() if layers else None
            user = users.first if users is not None else self._free_user() if self.privileged else os.geteuid()
            if self.privileged:  # the template's user may not be able to reach these paths; we are
                opened = host_trees.opened(trees, privileged=True)
                count = users.count if users is not None else 1
                opened += _opened_layers(layers, user, count, mapped=bool(plan["maps_owners"]))
            pid, pidfd = self._clone_as(user)
            if pid == 0:
                os.close(map_done)
                root = launch.TemplateRoot(plan, opened, map_ready)
                template_start.become_template(root, plan, theirs.fileno(), entries, light)
            outside = (user, user) if self.privileged else (user, os.getegid())
            try:
                if not entries:
                    _attach(group, pid)
                if imports:  # before it has a child: all that an import starts has it from here
                    _say_who_is_killed_first(pid, _KILLED_FIRST)
                if users is None:
                    namespaces.map_identity(str(pid), 0, *outside)
                else:
                    users.map(pid)
                os.write(map_done, (users.count if users is not None else 1).to_bytes(4, "little"))
            except OSError:
                _kill(pidfd)
                os.waitpid(pid, 0)
                os.close(pidfd)
                raise
            return _Template(number, user, pid, pidfd, ours, group, users, workspace, imports)
        except OSError:
            self.template_pool.release(group)
            if users is not None:
                users.let_go()
            ours.close()
            raise
        finally:
            for descriptor in (map_ready, map_done, theirs.detach(), *entries, *(light.descriptors if light else ())):
                os.close(descriptor)
            host_trees.close(opened or ())

    def _template_group(
        self, workspace: str, *, imports: bool
    ) -> tuple[cgroups.Group, list[int], cgroups.LightWeight | None]:
        """(the group, the files by which a process goes into it, what makes it light while modules are imported). The
        descriptors are the caller's. Raises OSError that names nothing of the host."""
        group, entries = None, list[int]()
        try:
            group = self.template_pool.acquire(
                memory_bytes=TEMPLATE_MEMORY_BYTES, pids=TEMPLATE_PROCESSES, share=workspace
            )
            group.weigh(lightly=False)  # an import that has ended early left it light
            entries = group.open_entries()
            return group, entries, group.open_light_weight() if imports else None
        except OSError as error:
            for entry in entries:
                os.close(entry)
            if group is not None:
                self.template_pool.release(group)
            raise OSError(error.errno, f"cgroup: {_reason(error)}") from None

    def _clone_as(self, user: int) -> tuple[int, int]:
        """Fork into a template's namespaces. They are its own user's: what the kernel counts for a user of a user
        namespace (inotify instances, queued signals, bytes of message queues, namespaces), it counts for whoever made
        that namespace, too, and that would be one and the same for all templates."""
        if not self.privileged:
            return namespaces.clone(launch.TEMPLATE_FLAGS)
        os.seteuid(user)
        pid = 0
        try:
            pid, pidfd = namespaces.clone(launch.TEMPLATE_FLAGS)
        finally:
            if pid or sys.exc_info()[0] is not None:  # in the clone there is no such user any more
                os.seteuid(0)
        return pid, pidfd

    def _free_user(self) -> int:
        """A user of the host that no living template has, of this spawner or another one: what the kernel counts for
        each user (inotify instances, queued signals, descriptors in flight) is no template's but its own. The numbers
        go round, so that one comes again as late as possible."""
        if self.first_user is None:
            from harena.runtime.spawner import single_users  # not for an ordinary user's

            self.first_user, self.users_lock = single_users.claimed()
        taken = {made.user for made in self.templates.values()}
        for _ in range(_MOST_USERS):
            self.users_given += 1
            user = self.first_user + self.users_given % _MOST_USERS
            if user not in taken:
                return user
        raise OSError(errno.EUSERS, f"{_MOST_USERS} templates live, and each needs a user of its own")

    def _several_users(self) -> template_users.TemplateUsers:
        """For a template of an image with layers: a range of ids, or the one that it would have otherwise."""
        from harena.runtime.spawner import template_users  # not for those who have no such image

        one = self._free_user() if self.privileged else os.geteuid()
        if self.backend.describe()["pids"].startswith("not enforced"):  # each sandbox needs a user namespace of its own
            group = one if self.privileged else os.getegid()
            return template_users.TemplateUsers(one, group, why_one="no pids cgroup limits how many processes run")
        return template_users.claimed(privileged=self.privileged, otherwise=one)

    def _from_template(self, made: _Template) -> None:
        """One answer of a template, or room for what it is to be told. A template runs what a blueprint has made it
        import: whatever it says that no template says ends it, and nothing else."""
        if made.listens_to_writes:
            self._tell(made)
        try:
            message, ancillary, flags = _received(made.control)
        except BlockingIOError:
            return  # it was readiness to write
        descriptors = _descriptors(ancillary)
        try:
            fault = self._answered(made, message, descriptors, flags)
        except Exception as error:  # noqa: BLE001 (as in _look_at: it is about this template)
            _report(f"template {made.number} is ended, its answer cannot be dealt with", error)
            fault = "its answer cannot be dealt with"
        finally:
            for descriptor in descriptors:
                os.close(descriptor)
        if fault:
            self._misbehaved(made, fault)

    def _answered(self, made: _Template, message: bytes, descriptors: list[int], flags: int) -> str:
        """What is wrong with the answer; empty if nothing is. A descriptor that is kept is taken off the list."""
        if len(message) < template.ANSWER.size:
            return "it has closed its control socket"
        if flags & (_socket.MSG_TRUNC | _socket.MSG_CTRUNC):
            return "an answer is too long"
        number, code = template.ANSWER.unpack_from(message)
        text = message[template.ANSWER.size :].decode(errors="replace")
        if code == errno.EAGAIN and made.group.lacked_processes():
            text = TEMPLATES_OUT_OF_PROCESSES
        if number == 0:
            if made.ready or descriptors:
                return "it says twice that it is ready"
            made.ready = True
            if code:
                self._say("template", made.number, text or self._ended_early(made), {})
                return "it could not start"
            if made.imports:
                _say_who_is_killed_first(made.pid, self.own_badness)
                try:
                    made.group.weigh(lightly=False)  # from now on it runs the forker's code only
                    self._weigh_workspace(made)
                except OSError as error:
                    self._say("template", made.number, f"cgroup: {error}", {})
                    return "it has no weight"
            users = {} if made.users is None else {"users": made.users.said()}
            self._say("template", made.number, "", {**self.backend.describe(), **users})
            return ""
        sandbox = made.waiting.get(number)
        if sandbox is None or not made.ready:
            return f"it answers about sandbox {number}, which it was not told to make"
        if len(descriptors) != (0 if code else 1):
            return f"an answer with {len(descriptors)} descriptors"
        del made.waiting[number]
        if code:
            self._failed(sandbox, text)
        else:
            self._made(made, sandbox, descriptors.pop())
        self._tell(made)
        return ""

    def _made(self, made: _Template, sandbox: _Sandbox, pidfd: int) -> None:
        try:
            sandbox.pid = pidfds.pid_of(pidfd)
            if sandbox.pid <= 0 or sandbox.pid == made.pid:
                raise OSError(errno.ESRCH, "it has ended, or is not one of ours")
            if not sandbox.enters:
                sandbox.group.attach(sandbox.pid)
            if made.imports:  # it waits: see forker.c
                pidfds.send_signal(pidfd, forker.ATTACHED)
            self.epoll.register(pidfd, select.EPOLLIN)
        except (OSError, ValueError) as error:  # ValueError: it is no pidfd
            _kill(pidfd)
            os.close(pidfd)
            self._failed(sandbox, f"cgroup attach: {_reason(error)}")
            return
        sandbox.pidfd = pidfd
        self.on_event[pidfd] = lambda: self._sandbox_died(sandbox)
        self._say("created", sandbox.number, "")

    def _misbehaved(self, made: _Template, fault: str) -> None:
        """End a template, and with it its sandboxes. The news of its death does the rest."""
        if not made.ended_by:
            made.ended_by = fault
            _end_template(made)
            self._unwatch(made.control.fileno())

    def _template_died(self, made: _Template) -> None:
        self._unwatch(made.pidfd)
        if not made.ended_by:
            self._unwatch(made.control.fileno())
        os.close(made.pidfd)
        made.control.close()
        os.waitpid(made.pid, 0)
        del self.templates[made.number]
        for sandbox, _settings, channel in made.unsent:
            _close_given(sandbox, channel)
            self._failed(sandbox, TEMPLATE_GONE)
        for sandbox in made.waiting.values():
            self._failed(sandbox, TEMPLATE_GONE)
        if not made.ready:
            self._say("template", made.number, self._ended_early(made), {})
        if made.users is not None:
            made.users.let_go()
        self._say("template_dead", made.number)
        if made.imports:
            with suppress(OSError):
                self._weigh_workspace(made)
        self.template_pool.release(made.group)

    def _weigh_workspace(self, made: _Template) -> None:
        """Let its workspace's templates weigh as one process again, if it was the last whose modules were imported.
        Raises OSError."""
        others = (each for each in self.templates.values() if each is not made and each.workspace == made.workspace)
        if not any(each.imports and not each.ready for each in others):
            made.group.weigh_share()

    def _ended_early(self, made: _Template) -> str:
        own, from_above = made.group.memory_kills()
        if from_above:
            return TEMPLATES_OUT_OF_MEMORY
        why = made.ended_by or "one of its modules ended the interpreter"
        if own:
            why = f"its modules took more than {made.group.limits[0]} bytes of memory"
        return f"the template ended while it started ({why})"

    # -- sandboxes -----------------------------------------------------------------------------------------------

    def _create(
        self,
        number: int,
        template_number: int,
        settings: bytes,
        limits: tuple[int | None, int | None, float | None],
        channel: int,
        layer: int,
    ) -> None:
        """`channel` and `layer` (-1 = none) are this process's, to be sent and closed."""
        made = self.templates.get(template_number)
        if made is None or made.ended_by:
            os.close(channel)
            if layer >= 0:
                os.close(layer)
            self._say("created", number, TEMPLATE_GONE)
            return
        try:
            group = self.pool.acquire(memory_bytes=limits[0], pids=limits[1], cpu=limits[2], share=made.workspace)
        except OSError as error:
            os.close(channel)
            if layer >= 0:
                os.close(layer)
            self._say("created", number, f"cgroup: {_reason(error)}")
            return
        sandbox = _Sandbox(number, group, limits[0], layer=layer)
        self.sandboxes[number] = sandbox
        made.unsent.append((sandbox, forker.order(settings) if made.imports else settings, channel))
        self._tell(made)

    def _tell(self, made: _Template) -> None:
        """Send a template what waits for it, as much as it takes. Never blocks: it may have stopped reading."""
        if made.released and not self._tell_released(made):
            return
        while made.unsent and len(made.waiting) < _MOST_UNANSWERED:
            sandbox, settings, channel = made.unsent[0]
            try:
                entries = sandbox.group.open_entries()
            except OSError as error:
                made.unsent.popleft()
                _close_given(sandbox, channel)
                self._failed(sandbox, f"cgroup: {_reason(error)}")
                continue
            sandbox.enters = bool(entries)
            layers = [sandbox.layer] if sandbox.layer >= 0 else []
            try:
                _order(made, sandbox, settings, [channel, *layers, *entries])
            except BlockingIOError:
                self._listen_to_writes(made, True)
                return
            except OSError as error:
                if error.errno in (errno.ENOBUFS, errno.ENOMEM, errno.ETOOMANYREFS):
                    self._listen_to_writes(made, True)
                    return
                self._misbehaved(made, f"it cannot be told anything: {error.strerror}")
                return
            finally:
                for entry in entries:
                    os.close(entry)
            made.unsent.popleft()
            made.waiting[sandbox.number] = sandbox
            _close_given(sandbox, channel)
        self._listen_to_writes(made, False)

    def _let_go(self, number: int, place: int) -> None:
        """A template need not hold a layer any more."""
        made = self.templates.get(number)
        if made is not None and not made.ended_by:
            made.released += bytes([place])
            self._tell(made)

    def _tell_released(self, made: _Template) -> bool:
        """False if the template does not take it now."""
        try:
            made.control.send(template.LET_GO + made.released, _socket.MSG_DONTWAIT)
        except BlockingIOError:
            self._listen_to_writes(made, True)
            return False
        except OSError as error:
            self._misbehaved(made, f"it cannot be told anything: {error.strerror}")
            return False
        made.released = b""
        return True

    def _listen_to_writes(self, made: _Template, wanted: bool) -> None:
        if wanted != made.listens_to_writes:
            made.listens_to_writes = wanted
            self.epoll.modify(made.control.fileno(), select.EPOLLIN | (select.EPOLLOUT if wanted else 0))

    def _failed(self, sandbox: _Sandbox, text: str) -> None:
        self.sandboxes.pop(sandbox.number, None)
        self.pool.release(sandbox.group)
        self._say("created", sandbox.number, text)

    def _watch_memory(self) -> None:
        """Where no cgroup limits memory: kill a sandbox whose processes together hold more than they may."""
        self.next_look = time.monotonic() + _WATCH_SECONDS
        for sandbox in self.sandboxes.values():
            if sandbox.memory_bytes is not None and sandbox.pid and not sandbox.over_memory:
                sandbox.held_bytes = self._look_at(sandbox.number, _held_bytes, 0)
                if sandbox.held_bytes > sandbox.memory_bytes:
                    sandbox.over_memory = True
                    _kill(sandbox.pidfd)

    def _look_at(self, number: int, look: Callable[[_Sandbox], T], otherwise: T) -> T:
        """What a look at a sandbox finds; `otherwise` if there is no such sandbox. Programs in there decide about much
        of what is looked at. So whatever a look raises is the end of that sandbox, and of no other one."""
        sandbox = self.sandboxes.get(number)
        if sandbox is None:
            return otherwise
        try:
            return look(sandbox)
        except Exception as error:  # noqa: BLE001 (what it is cannot be known, and all sandboxes hang on this process)
            _report(f"sandbox {number} is ended, it cannot be looked at", error)
            if sandbox.pidfd >= 0:
                _kill(sandbox.pidfd)
            return otherwise

    def _begin_look(self, question: int, number: int) -> None:
        """Find out how long programs have waited for a processor, and how much time of processors they have used."""
        sandbox = self.sandboxes.get(number)
        if sandbox is None:
            self._say("answer", question, (0.0, 0.0, False))
            return
        counted = self._look_at(number, _counted_seconds, None)
        self.looks.add(sandbox.group.share, Look(question, number, sandbox.pid, counted))

    def _go_on_looking(self) -> None:
        """One step of one look."""
        workspace, look = self.looks.take()
        if self._look_at(look.number, lambda _: look.step(), True):
            self._say("answer", look.question, (look.longest, look.used, look.is_idle))
        else:
            self.looks.put_back(workspace, look)
        self.next_step = time.monotonic() + _BETWEEN_STEPS_SECONDS

    def _sandbox_died(self, sandbox: _Sandbox) -> None:
        self._unwatch(sandbox.pidfd)
        os.close(sandbox.pidfd)
        sandbox.pidfd = -1
        own, from_above = self._look_at(sandbox.number, _memory_kills, (0, 0))
        del self.sandboxes[sandbox.number]
        lacked = sandbox.group.lacked_processes()
        self._say("dead", sandbox.number, own + sandbox.over_memory, from_above, lacked)
        self.pool.release(sandbox.group, own + from_above)


def _opened_layers(places: list[str], user: int, count: int, *, mapped: bool) -> list[host_trees.Tree]:
    """An image's layers; `mapped`: root's files on the disk are this user's, who is root in the template, and those of
    users 1, 2, ... below `count` those of the users who follow."""
    if not mapped or not places:
        return host_trees.opened_layers(places, -1)
    owners = namespaces.with_map(0, user, count)
    try:
        return host_trees.opened_layers(places, owners)
    finally:
        os.close(owners)


def _own_badness() -> int:
    try:
        return int(proc_files.read("/proc/self/oom_score_adj"))
    except (OSError, ValueError):
        return 0


def _say_who_is_killed_first(pid: int, badness: int) -> None:
    """Set the `oom_score_adj` of a process, and of all that share its memory."""
    with suppress(OSError):  # where that is forbidden, the kernel ends the largest process
        file = os.open(f"/proc/{pid}/oom_score_adj", os.O_WRONLY | os.O_CLOEXEC)
        try:
            os.write(file, str(badness).encode())
        finally:
            os.close(file)


def _end_template(made: _Template) -> None:
    """SIGKILL, with the weight of any other process: its end takes locks of the kernel that others wait for."""
    if made.imports and not made.ready:
        with suppress(OSError):
            made.group.weigh(lightly=False)
    _kill(made.pidfd)


def _order(made: _Template, sandbox: _Sandbox, settings: bytes, descriptors: list[int]) -> None:
    """Raises OSError."""
    made.control.sendmsg(
        [sandbox.number.to_bytes(4, "little"), settings],
        [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, struct.pack(f"{len(descriptors)}i", *descriptors))],
        _socket.MSG_DONTWAIT,
    )


def _received(control: _socket.socket) -> tuple[bytes, list[tuple[int, int, bytes]], int]:
    """(message, what came with it, flags); an empty message at the end. Raises BlockingIOError. That the other side has
    closed without reading all is told before what it had said, once: so what it had said is asked for again."""
    for _ in range(2):
        try:
            return control.recvmsg(_ANSWER_BYTES, _DESCRIPTOR_SPACE, _socket.MSG_CMSG_CLOEXEC | _socket.MSG_DONTWAIT)[
                :3
            ]
        except ConnectionError:
            continue
    return b"", [], 0


def _descriptors(ancillary: list[tuple[int, int, bytes]]) -> list[int]:
    """All that came with a message; each is this process's now."""
    found: list[int] = []
    for level, kind, data in ancillary:
        if (level, kind) == (_socket.SOL_SOCKET, _socket.SCM_RIGHTS):
            count = len(data) // 4
            found += struct.unpack(f"{count}i", data[: 4 * count])
    return found


def _attach(group: cgroups.Group, pid: int) -> None:
    """Raises OSError that names nothing of the host."""
    try:
        group.attach(pid)
    except OSError as error:
        raise OSError(error.errno, f"cgroup attach: {_reason(error)}") from None


def _reason(error: OSError | ValueError) -> str:
    """What users are told: without the host's paths and pids."""
    return os.strerror(error.errno) if isinstance(error, OSError) and error.errno else type(error).__name__


def _close_given(sandbox: _Sandbox, channel: int) -> None:
    """What came with the request for it."""
    os.close(channel)
    if sandbox.layer >= 0:
        os.close(sandbox.layer)
        sandbox.layer = -1


def _kill(pidfd: int) -> None:
    """SIGKILL, where the descriptor is a process's at all."""
    try:
        pidfds.send_signal(pidfd, signal.SIGKILL)
    except OSError:
        return  # a template's answer may hold any descriptor


def _report(what: str, error: Exception) -> None:
    """One line for whoever reads what this process writes to its standard error."""
    with suppress(OSError, ValueError):
        os.write(2, f"harena spawner: {what} ({type(error).__name__}: {str(error)[:200]!r})\n".encode())


def _memory_kills(sandbox: _Sandbox) -> tuple[int, int]:
    """Processes that its own memory limit has killed, and those that one above it has."""
    return sandbox.group.memory_kills()


def _processes_in(directory: str) -> list[int]:
    """Processes of a cgroup; none where that cannot be read."""
    try:
        return cgroups.CgroupFiles().processes(directory)
    except OSError:
        return []


def _held_bytes(sandbox: _Sandbox) -> int:
    return sum(_resident_bytes(pid) for pid in below_of(sandbox.pid))


def _charged_or_held(sandbox: _Sandbox) -> int:
    """Memory of its programs and files, by its group where that counts. Where it does not, a sandbox that has a limit
    is watched, and nobody who asks has its processes, of which there may be thousands, looked at once more."""
    try:
        charged = sandbox.group.charged_bytes()
    except OSError:
        charged = None  # no figure is worth a sandbox's end
    if charged is not None:
        return charged
    if sandbox.memory_bytes is None or not sandbox.held_bytes:
        sandbox.held_bytes = _held_bytes(sandbox)
    return sandbox.held_bytes


def _has_privilege() -> bool:
    """Effective CAP_SETUID and CAP_SYS_ADMIN in this user namespace."""
    own = proc_files.lines("/proc/self/status")
    effective = next(int(line.split()[1], 16) for line in own if line.startswith(b"CapEff:"))
    wanted = (1 << _CAP_SETUID) | (1 << _CAP_SYS_ADMIN)
    if os.geteuid() != 0 or effective & wanted != wanted:
        return False
    # root of a user namespace has these too, but no other users to map to
    return [line.split() for line in proc_files.lines("/proc/self/uid_map")] == [[b"0", b"0", b"4294967295"]]


def _resident_bytes(pid: int) -> int:
    """Memory that is this process's own or shared: resident pages less those of files."""
    try:
        lines = proc_files.lines(f"/proc/{pid}/status")
    except OSError:
        return 0  # ended meanwhile
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith((b"RssAnon:", b"RssShmem:")))


def _counted_seconds(sandbox: _Sandbox) -> float | None:
    try:
        return sandbox.group.counted_seconds()
    except OSError:
        return None  # no processor time is worth a sandbox's end


def main() -> None:
    """`python -I -S -c "... main()" DESCRIPTOR CLIENT_PID`."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C in a terminal is for the client
    with suppress(OSError, ValueError):  # an ordinary user whose limit is 0 cannot raise it
        resource.setrlimit(resource.RLIMIT_CORE, (_NO_CORE, _NO_CORE))
    control = _socket.socket(fileno=int(sys.argv[1]))
    os.set_inheritable(control.fileno(), False)
    try:
        spawner = Spawner(control, int(sys.argv[2]))
    except OSError as error:
        control.send(marshal.dumps(("failed", str(error)), 2))
        return
    spawner._say("ready", spawner.privileged, not spawner.watches_memory, spawner.pool.memory_directory)
    spawner.run()


__all__ = ["MAX_BATCH", "Spawner", "StepError", "main"]
