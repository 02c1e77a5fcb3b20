"""Init: pid 1 of a sandbox. Starts programs, reaps them, opens files; holds no policy and no secret.

It is root inside, as most programs are, without any capability where that is the only user (see `privileges` for where
there are several), but is not dumpable: nothing inside can trace it or open its memory.
Its one descriptor that matters is the channel to its owner (see wire); programs never get it. It imports nothing once
a program may have run: a program could put a module of that name in the way.

Most of the time it is in machine code (see fast_path), which starts a program where nothing else runs and waits for it.
What is here does the rest, and on a machine without that code everything.

Whose process is whose. Normally an exec starts when nothing else runs here; then everything that is not init is its
tree, orphans included. If something does run (another exec, or a daemon that an earlier one left), the exec gets a
*leader*: a child of init that adopts its orphans (PR_SET_CHILD_SUBREAPER), so that its tree stays told apart.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]
import _socket
import ctypes
import errno
import marshal
import os
import select
import signal
import struct

from harena.runtime.fast_path import fast_path
from harena.runtime.guest import files, launch, links, programs, trees, users, warm, wire
from harena.runtime.guest.wire import DONE, EXITED, FAILED, OPENED
from harena.runtime.kernel import privileges
from harena.runtime.kernel.syscalls import close_from, libc

REPORT = struct.Struct("<iQQQB")

_REHEARSALS = 12  # 3.11 to 3.13 adapt an instruction after at most eight times
_TIOCSCTTY = 0x540E
_STOP_SECONDS = 5.0
"""in which everything must have come to its stop"""
_DEFAULTED = (signal.SIGINT, signal.SIGPIPE, signal.SIGXFSZ, signal.SIGCHLD)

_kept: list[object] = []


class Base:
    """What every sandbox of a template shares."""

    def __init__(
        self, environment: dict[str, str], *, has_fork_hooks: bool, in_machine_code: bool, ids: int = 1
    ) -> None:
        links.know(has_users=ids > 1)
        self.ids = ids
        """how many users and groups each has"""
        self.environment = environment
        self.poll = select.poll()
        self.program = launch.ProgramLaunch()
        self.fast = fast_path.FastPath(environment, has_fork_hooks=has_fork_hooks, wanted=in_machine_code)


class Become(BaseException):
    """Raised in a warm child: unwinds init's frames, so that the program starts near the bottom of the stack."""

    def __init__(self, plan: warm.Plan) -> None:
        super().__init__()
        self.plan = plan


def serve(connection: _socket.socket, base: Base, outcome: int | None) -> object:
    """Serve this sandbox's owner until it goes away. `outcome` is what the fast path has come back with, if it has been
    taken. Returns only in a warm child, with the program's plan."""
    init = _Init(connection, base)
    _kept.append((init, connection))
    return init.serve(outcome)


def rehearse(base: Base) -> None:
    """Start and reap a program a few times, here in the template.

    The interpreter adapts its code to what it meets while it runs, by writing into it. What it has adapted already it
    does not write to again; an init that starts its first program would otherwise copy a page for most of its code.
    """
    program = "true"
    if not programs.find(program, base.environment.get("PATH", ""))[0]:  # an image has its programs elsewhere
        program = programs.find(program, "/usr/bin:/bin")[0]
    if not program:
        return
    ours, theirs = _socket.socketpair(_socket.AF_UNIX, _socket.SOCK_SEQPACKET)
    nothing = os.open("/dev/null", os.O_RDWR | os.O_CLOEXEC)
    try:
        adjust = os.open("/proc/self/oom_score_adj", os.O_WRONLY | os.O_CLOEXEC)
    except OSError:  # a template's interpreter that parks cannot write to it
        adjust = os.open("/dev/null", os.O_RDWR | os.O_CLOEXEC)
    actor = _Init(theirs, base)
    actor.nothing, actor.oom_adjust = nothing, adjust
    message = wire.encode_order(1, 0, [program], None, "/", open_files=1024, cpu_seconds=0)
    streams = [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, struct.pack("2i", nothing, nothing))]
    for _ in range(_REHEARSALS):
        ours.sendmsg([message], streams)
        actor._request()
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT)
        actor._reap()
        ours.recv(wire.MAX_MESSAGE)
    ours.close()
    theirs.close()
    os.close(nothing)
    os.close(adjust)
    os.chdir("/")


def rehearse_warm(base: Base) -> None:
    """Rehearse, here in the template, what a warm child does before its program; see `rehearse`."""
    fast = base.fast
    if fast.function is None:
        return

    def take(argv: list[str]) -> warm.Plan | None:
        message = wire.encode_order(1, wire.WARM, argv, None, "/workspace", open_files=1024, cpu_seconds=0)
        fast.received[: len(message)] = message
        fast.numbers[fast_path.SIZE] = len(message)
        return _plan(fast, base)[1]

    warm.rehearse(take)
    plain = warm.stand_ready(base.environment)
    if plain is not None:
        fast.know_plain(*plain)
        message = wire.encode_order(1, wire.WARM, ["python", "-c", warm.SAMPLE], None, "/", open_files=1, cpu_seconds=0)
        fast.received[: len(message)] = message
        fast.numbers[fast_path.SIZE] = len(message)
        warm.rehearse_plain(fast.received, fast.numbers)


def _plan(fast: fast_path.FastPath, base: Base) -> tuple[wire.Order, warm.Plan | None]:
    order = wire.decode_order(fast.message(), base.environment)
    return order, warm.plan(order.argv, order.env, base.environment, order.cwd)


class _Init:
    def __init__(self, connection: _socket.socket, base: Base) -> None:
        self.connection = connection
        self.base = base
        self.running: dict[int, tuple[int, bool, bool]] = {}  # pid -> (exec number, is a leader, was warm)
        self.reports: dict[int, tuple[int, int]] = {}  # pipe -> (exec number, leader's pid)
        self.operations: dict[int, int] = {}  # pid of a file operation's child -> its number
        self.condemned: set[int] = set()  # leaders that were killed with their trees
        self.terminating = False
        self.paused: set[int] | None = None  # what was stopped before everything was; None = nothing is paused
        self.times_run: dict[tuple[int, int], bytes] | None = None  # of what is paused; None = some of it was killed
        self.ended = launch.ENDED
        self.oom_adjust = launch.OOM_ADJUST
        self.nothing = launch.NOTHING
        self.poll = base.poll

    def serve(self, outcome: int | None) -> object:
        """Run the loop, and tell the owner of an error that ends it. Returns only in a child, with the program's
        plan."""
        trees.look_into(launch.PROCESSES)
        try:
            return self.loop(outcome)
        except Become as become:
            return become.plan
        except Exception as error:  # noqa: BLE001 (whatever it is, the owner shall read it: nobody else is here)
            if os.getpid() == 1:
                self.connection.send(FAILED + ("init: %s: %s" % (type(error).__name__, error)).encode()[:1000])
        os._exit(0)

    def loop(self, outcome: int | None) -> object:
        """One event after the other. Returns only in a child of the fast path, with the program's plan."""
        control = self.connection.fileno()
        fast = self.base.fast
        context, function = fast.context, fast.function
        received, numbers, become_plain = fast.received, fast.numbers, warm.become_plain
        while True:
            if outcome is not None or (function is not None and self._hand_over(context)):
                if outcome is None:
                    outcome = function()  # type: ignore[operator]
                if outcome == fast_path.PLAIN_CHILD:
                    return become_plain(received, numbers)
                if outcome == fast_path.CHILD:
                    return self._become_fast(fast)
                if outcome < 0:
                    raise OSError(-outcome, "init's loop: " + os.strerror(-outcome))
                outcome = None
                self._take_over(context)
                self._serve(fast.message(), fast.descriptors())
                continue
            for descriptor, _events in self.poll.poll():
                if descriptor == control:
                    self._request()
                elif descriptor == self.ended:
                    try:
                        os.read(self.ended, 128)
                    except BlockingIOError:
                        pass
                    nothing_left = self._reap()
                    if self.terminating and nothing_left:
                        os._exit(0)
                else:
                    self._report(descriptor)

    def _hand_over(self, context: fast_path.Context) -> bool:
        """Let the machine code go on, if what runs here is not more than it can see to."""
        if self.terminating or self.reports or self.operations or self.condemned or len(self.running) > 1:
            return False
        context.pid = 0
        for pid, (number, is_leader, was_warm) in self.running.items():
            if is_leader:
                return False
            context.pid, context.number, context.was_warm = pid, number, was_warm
        return True

    def _take_over(self, context: fast_path.Context) -> None:
        self.running.clear()
        if context.pid:
            self.running[context.pid] = (context.number, False, bool(context.was_warm))

    # -- requests ------------------------------------------------------------------------------------------------

    def _request(self) -> None:
        message, ancillary, flags, _address = self.connection.recvmsg(
            wire.MAX_MESSAGE, _socket.CMSG_SPACE(4 * wire.MAX_DESCRIPTORS), _socket.MSG_CMSG_CLOEXEC
        )
        if not message or flags & _socket.MSG_CTRUNC:
            os._exit(0)  # the owner has gone; or not all descriptors have come, and a program would lack a stream
        descriptors = list(struct.unpack("%di" % (len(ancillary[0][2]) // 4), ancillary[0][2])) if ancillary else []
        self._serve(message, descriptors)

    def _serve(self, message: bytes, descriptors: list[int]) -> None:
        request = self._decode(message)
        if request[0] == "m":
            request = self._decode(self._pieces(request[1]))  # type: ignore[arg-type]
        try:
            self._answer(request, descriptors)
        except Become:
            descriptors.clear()  # closed already
            raise
        except Exception as error:  # noqa: BLE001 (text, depth or load of a program's choice must not end its judge)
            if os.getpid() != 1:
                os._exit(126)
            self._refuse(request, descriptors, error)
        finally:
            for descriptor in descriptors:
                os.close(descriptor)

    def _pieces(self, size: int) -> bytes:
        """The next messages, put together. A file in memory would be its maker's, whoever keeps it."""
        pieces = []
        while size > 0:
            piece = self.connection.recv(wire.MAX_MESSAGE)
            if not piece:
                os._exit(0)  # the owner has gone
            pieces.append(piece)
            size -= len(piece)
        return b"".join(pieces)

    def _decode(self, message: bytes) -> tuple[object, ...]:
        if message[:1] == b"x":
            order = wire.decode_order(message, self.base.environment)
            return "x", order.number, order
        request: tuple[object, ...] = marshal.loads(message)  # noqa: S302 (from our owner)
        if request[0] != "a":
            return request
        order = wire.decode_order(request[3], self.base.environment)  # type: ignore[arg-type]
        order.user = request[2]  # type: ignore[assignment]
        return "x", order.number, order

    def _answer(self, request: tuple[object, ...], descriptors: list[int]) -> None:
        kind = request[0]
        if kind == "x":
            self._start(request[2], descriptors)  # type: ignore[arg-type]
        elif kind == "o":
            self._open(*request[1:])  # type: ignore[arg-type]
        elif kind == "k":
            self._kill(request[1])  # type: ignore[arg-type]
        elif kind == "f":
            self._operate(request[1], request[2], request[3], descriptors)  # type: ignore[arg-type]
        elif kind == "u":
            self._give(request[1], request[2])  # type: ignore[arg-type]
        elif kind == "p":
            self.connection.send(DONE.pack(b"D", request[1], self._pause()))
        elif kind == "c":
            self._resume()
            self.connection.send(DONE.pack(b"D", request[1], 0))
        elif kind == "q":
            self.connection.send(DONE.pack(b"D", request[1], 0 if self._is_quiet() else errno.EBUSY))
        elif kind == "t":
            self.terminating = True
            self.paused = None
            if self._reap():
                os._exit(0)
            trees.signal_all(signal.SIGTERM)
            trees.signal_all(signal.SIGCONT)

    def _refuse(self, request: tuple[object, ...], descriptors: list[int], error: Exception) -> None:
        """Answer that a request cannot be carried out."""
        code = getattr(error, "errno", None) or errno.EINVAL
        number: int = request[1]  # type: ignore[assignment]
        if request[0] == "x":
            os.write(descriptors[-1], ("harena: cannot start a process: %s\n" % _words(error)).encode())
            self._exited(number, 126 << 8, None, False)
        elif request[0] in ("o", "u"):
            self.connection.send(OPENED.pack(b"O", number, code, 0, 0))
        elif request[0] in ("p", "c", "q"):
            self.connection.send(DONE.pack(b"D", number, code))
        elif request[0] == "f":
            os.write(descriptors[0], ("error\0%d\0%s\0" % (code, _words(error))).encode())

    def _open(self, number: int, path: str, flags: int, mode: int) -> None:
        try:
            descriptor, size, permissions = files.open_regular(path, flags, mode) if path else files.open_nameless()
        except OSError as error:
            self.connection.send(OPENED.pack(b"O", number, error.errno or errno.EIO, 0, 0))
            return
        try:
            self._send_opened(number, descriptor, size, permissions)
        finally:
            os.close(descriptor)

    def _send_opened(self, number: int, descriptor: int, size: int = 0, permissions: int = 0) -> None:
        try:
            self.connection.sendmsg(
                [OPENED.pack(b"O", number, 0, size, permissions)],
                [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, struct.pack("i", descriptor))],
            )
        except OSError as error:  # too many descriptors of this user are on their way
            self.connection.send(OPENED.pack(b"O", number, error.errno or errno.EIO, 0, 0))

    def _give(self, number: int, which: str) -> None:
        """What the owner reads the upper layer by."""
        if which == wire.UPPER_LAYER:
            self._send_opened(number, launch.UPPER)
            return
        users = os.open("1/ns/user", os.O_RDONLY | os.O_CLOEXEC, dir_fd=launch.PROCESSES)
        try:
            self._send_opened(number, users)
        finally:
            os.close(users)

    def _pause(self) -> int:
        """Stop everything here; 0, or an error's number, with which nothing is paused. Where it is paused already: 0 if
        nothing has run since. The kernel lets a program go on that has a timer which says so."""
        if self.paused is None:
            stopped = trees.stop_all(_STOP_SECONDS)
            if stopped is None:
                return errno.EBUSY
            self.paused = stopped
            self.times_run = self._times_run()
        elif self.times_run is not None and self.times_run != self._times_run():
            return errno.EAGAIN
        return 0

    def _is_quiet(self) -> bool:
        """What has ended by now and was not heard of yet is heard of first."""
        self._reap()
        if self.running or self.reports or self.operations or self.condemned or self.terminating:
            return False
        return not trees.look() and not trees.leaves_memory()

    def _times_run(self) -> dict[tuple[int, int], bytes]:
        found = trees.times_run()
        return {thread: times for thread, times in found.items() if thread[0] not in self.operations}

    def _resume(self) -> None:
        if self.paused is not None:
            trees.continue_all(self.paused)
            self.paused = None

    def _operate(self, number: int, operation: str, arguments: tuple[object, ...], descriptors: list[int]) -> None:
        """In a child that is no program's: what runs here cannot trace it or open its memory. One that writes goes
        before init, and before programs that hold less than half of the memory, where that is used up."""
        pid = self._fork_first_to_go(b"1000") if operation in files.WRITES else os.fork()
        if pid == 0:
            try:
                self._in_child(descriptors)
                files.operate(operation, arguments, 3, 4)
            finally:
                os._exit(0)
        self.operations[pid] = number

    # -- starting ------------------------------------------------------------------------------------------------

    def _start(self, order: wire.Order, descriptors: list[int]) -> None:
        """`descriptors` are [stdin,] stdout and stderr, or a terminal's one."""
        stdio = [*([self.nothing] if len(descriptors) == 2 else []), *descriptors]
        if len(stdio) == 1:
            stdio *= 3
        if order.user:
            try:
                order.ids, home = users.resolve(order.user, self.base.ids)
            except ValueError as error:
                os.write(stdio[2], ("harena: cannot start a process: %s\n" % error).encode())
                self._exited(order.number, 126 << 8, None, False)
                return
            order.env = {"HOME": home, **order.env}
        try:
            if self._reap():
                pid, was_warm = self._spawn(order, stdio)
                if pid > 0:
                    self.running[pid] = (order.number, False, was_warm)
                else:
                    self._exited(order.number, -pid << 8, None, False)
            else:
                self._lead(order, stdio)
        except OSError as error:  # fork or spawn: no process left to the sandbox, for example
            os.write(stdio[2], ("harena: cannot start a process: %s\n" % error.strerror).encode())
            self._exited(order.number, 126 << 8, None, False)

    def _spawn(self, order: wire.Order, stdio: list[int]) -> tuple[int, bool]:
        """Start the program as a child of this process. Gives (pid, warm), or minus the exit code of a
        shell that cannot execute it."""
        argv, environment, cwd = order.argv, order.env, order.cwd
        if order.flags & wire.WARM and not order.flags & wire.TERMINAL:
            plan = warm.plan(argv, environment, self.base.environment, cwd)
            if plan is not None:
                self.base.program.prepare(programs.above(stdio))
                pid = self._fork_program()
                if pid == 0:
                    self._become(plan, order)
                return pid, True
        try:
            files.enter(cwd)
        except OSError as error:
            os.write(stdio[2], os.fsencode("harena: working directory %s: %s\n" % (cwd, error.strerror)))
            return -127, False
        program, refused = programs.find(argv[0], environment.get("PATH", ""))
        if not program:
            os.write(stdio[2], os.fsencode("harena: %s: %s\n" % (argv[0], refused or "command not found")))
            return -126 if refused else -127, False
        pid = self._fork_program()  # not posix_spawn: limits set from outside come when the program may be running
        if pid == 0:
            self._exec(program, order, stdio)
        return pid, False

    def _fork_program(self) -> int:
        """A child that goes before init when memory runs out; it inherits that, and a leader's child from its own."""
        return self._fork_first_to_go(b"500")

    def _fork_first_to_go(self, adjustment: bytes) -> int:
        is_init = os.getpid() == 1
        if is_init:
            os.pwrite(self.oom_adjust, adjustment, 0)
        try:
            pid = os.fork()
            is_init = is_init and pid != 0
            return pid
        finally:
            if is_init:
                os.pwrite(self.oom_adjust, b"0", 0)

    def _in_child(self, descriptors: list[int]) -> None:
        """After a fork: an ordinary process again. `descriptors` come to lie at 3, 4, ..."""
        os.setsid()
        for target, source in enumerate(programs.above(descriptors, 16), 3):
            os.dup2(source, target)
        close_from(3 + len(descriptors))
        for target in (0, 1, 2):
            null = os.open("/dev/null", os.O_RDWR)
            if null != target:
                os.dup2(null, target)
                os.close(null)
        for signum in _DEFAULTED:
            signal.signal(signum, signal.SIG_DFL)
        _signal.pthread_sigmask(_signal.SIG_SETMASK, [])

    def _become(self, plan: warm.Plan, order: wire.Order) -> None:
        """The rest of a warm child's way to its program; ends in `Become`."""
        self.base.program.run()
        try:
            files.enter(order.cwd)
        except OSError as error:
            programs.no_directory(order.cwd, error.errno or 0)
        self._limit(order)
        self._set_environment(order.env)
        warm.become(plan)
        # Kept for ever: freeing it would write to its pages; and freeing the socket would close a descriptor that may
        # be the program's by then.
        _kept.append((self, self.connection, order))
        raise Become(plan)

    def _become_fast(self, fast: fast_path.FastPath) -> object:
        """Go the rest of the way in a child that the machine code has made and prepared; it still has the channel."""
        order, plan = _plan(fast, self.base)
        _kept.append((self, self.connection, order))
        if fast.numbers[fast_path.ERROR]:
            programs.no_directory(order.cwd, fast.numbers[fast_path.ERROR])
        if plan is None:
            os.write(launch.CONTROL, wire.STARTED_REALLY.pack(b"N", order.number))
            programs.execute(order)
        os.close(launch.CONTROL)
        self._set_environment(order.env)
        warm.become(plan)
        return plan

    def _set_environment(self, environment: dict[str, str]) -> None:
        if environment is not self.base.environment and environment != self.base.environment:
            for name in [name for name in os.environ if name not in environment]:
                del os.environ[name]
            for name, value in environment.items():
                if os.environ.get(name) != value:
                    os.environ[name] = value

    def _exec(self, program: str, order: wire.Order, stdio: list[int]) -> None:
        """The rest of a child's way to another program. Does not return."""
        try:
            os.setsid()
            for target, source in enumerate(programs.above(stdio)):
                os.dup2(source, target)
            close_from(3)
            if order.flags & wire.TERMINAL:
                libc.ioctl(0, ctypes.c_ulong(_TIOCSCTTY), 0)
            self._limit(order)
            for signum in _DEFAULTED:
                signal.signal(signum, signal.SIG_DFL)
            _signal.pthread_sigmask(_signal.SIG_SETMASK, [])
            if order.ids is not None:
                users.become(order.ids)
            os.execve(program, order.argv, order.env)
        except OSError as error:
            os.write(2, ("harena: cannot start a process: %s\n" % error.strerror).encode())
        finally:
            os._exit(126)

    def _limit(self, order: wire.Order) -> None:
        programs.limit(programs.RLIMIT_NOFILE, order.open_files)
        if order.cpu_seconds:
            programs.limit(programs.RLIMIT_CPU, order.cpu_seconds)

    # -- leaders -------------------------------------------------------------------------------------------------

    def _lead(self, order: wire.Order, stdio: list[int]) -> None:
        """Start the program below a leader that keeps its tree together."""
        read_end, write_end = os.pipe()
        pid = self._fork_program()
        if pid == 0:
            os.close(read_end)
            main, was_warm = self._start_led(order, stdio)
            self._be_leader(main, was_warm, stdio, write_end)
        os.close(write_end)
        self.running[pid] = (order.number, True, False)
        self.reports[read_end] = (order.number, pid)
        self.poll.register(read_end, select.POLLIN)

    def _start_led(self, order: wire.Order, stdio: list[int]) -> tuple[int, bool]:
        """In the leader: what `_spawn` gives. Whatever fails is told as the program's end: init takes a leader that
        ends without a report for one that was killed, and ends what it can no longer tell apart."""
        leader = os.getpid()
        try:
            privileges.adopt_orphans()
            self.connection.detach()
            return self._spawn(order, stdio)
        except Become:
            raise
        except Exception as error:  # noqa: BLE001 (see above)
            if os.getpid() != leader:
                os._exit(126)
            try:
                os.write(stdio[2], ("harena: cannot start a process: %s\n" % _words(error)).encode())
            except OSError:
                pass  # nobody reads it any more
            return -126, False

    def _be_leader(self, main: int, was_warm: bool, stdio: list[int], report: int) -> None:
        os.closerange(0, 3)
        for descriptor in set(stdio):  # a terminal is all three streams
            if descriptor > 2:
                os.close(descriptor)
        if main < 0:
            os.write(report, REPORT.pack(-main << 8, 0, 0, 0, 0))
            os._exit(0)
        os.dup2(report, 3, inheritable=False)
        close_from(4)
        _signal.pthread_sigmask(_signal.SIG_SETMASK, [])
        while True:
            try:
                pid, status, usage = os.wait4(-1, 0)
            except ChildProcessError:
                os._exit(0)
            if pid == main:
                os.write(3, REPORT.pack(status, *_usage(usage), was_warm))
                os.close(3)

    def _report(self, pipe: int) -> None:
        """A leader says that its program has ended, or has been killed itself."""
        number, leader = self.reports.pop(pipe)
        text = os.read(pipe, REPORT.size)
        self.poll.unregister(pipe)
        os.close(pipe)
        if len(text) == REPORT.size:
            status, user, system, peak, was_warm = REPORT.unpack(text)
            self.connection.send(EXITED.pack(b"X", number, status, user, system, peak, was_warm))
        elif leader in self.condemned:
            self.condemned.discard(leader)
            self.connection.send(EXITED.pack(b"X", number, signal.SIGKILL, 0, 0, 0, 0))
        else:
            # Somebody inside killed the leader, so its tree can no longer be told apart: everything unled goes.
            trees.kill_below(1, self._others(), goes_on=self.paused is None)
            self.connection.send(EXITED.pack(b"X", number, signal.SIGKILL, 0, 0, 0, 0))

    def _others(self) -> frozenset[int]:
        """What is not of the one exec that has no leader: leaders, and the children that do file operations."""
        leaders = {pid for pid, (_number, is_leader, _warm) in self.running.items() if is_leader}
        return frozenset(leaders.union(self.operations))

    # -- ending --------------------------------------------------------------------------------------------------

    def _reap(self) -> bool:
        """Collect what has ended. True when no process is left in this sandbox."""
        while True:
            try:
                pid, status, usage = os.wait4(-1, os.WNOHANG)
            except ChildProcessError:
                return True
            if not pid:
                return False
            self.operations.pop(pid, None)
            entry = self.running.pop(pid, None)
            if entry is not None and not entry[1]:
                self._exited(entry[0], status, usage, entry[2])

    def _exited(self, number: int, status: int, usage: object, was_warm: bool) -> None:
        user, system, peak = _usage(usage) if usage is not None else (0, 0, 0)
        self.connection.send(EXITED.pack(b"X", number, status, user, system, peak, was_warm))

    def _kill(self, number: int) -> None:
        """Kill an exec's whole tree; its EXITED follows when its main process is reaped."""
        self.times_run = None
        for pid, (owner, is_leader, _warm) in list(self.running.items()):
            if owner == number and is_leader:
                self.condemned.add(pid)
                trees.kill_below(
                    pid, goes_on=self.paused is None
                )  # and itself: it may not have come to start its program yet
            elif owner == number:
                others = self._others()
                if others:
                    trees.kill_below(1, others, goes_on=self.paused is None)
                else:
                    self._kill_everything()
        for pid, owner in list(self.operations.items()):
            if owner == number:
                os.kill(pid, signal.SIGKILL)

    def _kill_everything(self) -> None:
        while True:
            try:
                trees.signal_all(signal.SIGKILL)  # everything else in this pid namespace, in one go
            except ProcessLookupError:
                break
            if self._reap():
                break
            self.poll.poll(20)


def _words(error: Exception) -> str:
    """What went wrong, in ASCII: the text of an error may hold what cannot be encoded."""
    text = getattr(error, "strerror", None) or "%s" % type(error).__name__
    return text.encode("ascii", "replace").decode()


def _usage(usage: object) -> tuple[int, int, int]:
    return int(usage[0] * 1e6), int(usage[1] * 1e6), int(usage[2])  # type: ignore[index]
