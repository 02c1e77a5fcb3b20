"""The `tests` contract: the host's half of the conversation with `guest_driver`.

The candidate's process is asked one check after the other, and knows of a check only when it is asked. Its answers are
decoded and compared here; expected values never leave this process. Each question carries a fresh token that its answer
must repeat, so an answer given before its question was asked is seen. What else the other side can do: answer wrongly,
end, fall silent, or speak out of turn. The first three are failures of the program, the last is marked as suspect.
"""

from __future__ import annotations

import asyncio
import builtins
import posixpath
import secrets
from collections.abc import Awaitable, Callable
from typing import TypeVar

from harena.core.clock import STOPPED_SECONDS
from harena.core.errors import PlatformError, SandboxError, SandboxExecutionError
from harena.core.models import ExecOutcome, ExecRequest, ExecResult
from harena.core.output import OutputBuffer
from harena.core.ports import RunningExec, SandboxPort
from harena.core.results import Reason
from harena.scoring import codec
from harena.scoring.codec import MalformedError
from harena.scoring.compare import compare_values
from harena.scoring.contracts.contract import Check, TestsContract
from harena.scoring.scorers.driver_boot import BOOT, NEEDS_SOURCE, code_frame, frame, room_for_files, source_frame
from harena.scoring.scorers.fair_time import SLACK_SECONDS, Stopwatch, within
from harena.scoring.scorers.program import WORKSPACE, Bench, Deadline, not_started
from harena.scoring.scorers.time_limits import wall_limit
from harena.scoring.values import Bag, show
from harena.scoring.verdict import CheckOutcome, StarvedError, digest, one_line

START_SECONDS = 10.0
"""time that the interpreter may take, whatever the candidate's limit is: its start is the platform's work, and on a
busy host it takes longer than many a limit"""
_HEADER_BYTES = 8
_MAX_FRAME_BYTES = codec.MAX_BYTES + 64
_HEX_DIGITS = frozenset(b"0123456789abcdef")
_LOOP_LATENESS_SECONDS = 0.05
_END_SECONDS = 2.0
"""for an interpreter to end by itself"""
_MOST_UNRELATED_ERRORS = 2
"""standard exceptions, none a base of another, that an honest class derives from (KeyError and AttributeError, say)"""
_MOST_OWN_ERRORS = 4
"""classes of the candidate's own that an exception may have, from its class upwards, to be one of them"""
_STANDARD_ERRORS = {
    name: cls for name, cls in vars(builtins).items() if isinstance(cls, type) and issubclass(cls, BaseException)
}
"""Python's own, also by their second names (IOError)"""
_LOAD_FAILURES = {
    b"s": Reason.SYNTAX_ERROR,
    b"m": Reason.MISSING_ENTRY_POINT,
    b"e": Reason.EXCEPTION,
}


Heard = TypeVar("Heard")


class SetupFailedError(Exception):
    """The other side says that the contract's `setup` failed. To be believed only without the candidate's files."""


class ArgumentsFailedError(Exception):
    """The other side says that the arguments of `check` cannot be built. To be believed only without the candidate."""

    def __init__(self, check: Check, detail: str) -> None:
        super().__init__(detail)
        self.check = check


class LoadFailedError(Exception):
    """The candidate could not be loaded; no check can be asked."""

    def __init__(self, reason: Reason, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason
        self.detail = detail


def _frame_size(header: bytes) -> int:
    size = int(header, 16) if _HEX_DIGITS.issuperset(header) else 0
    if not 0 < size <= _MAX_FRAME_BYTES:
        raise MalformedError(f"a frame begins with {header!r}")
    return size


class FrameReader:
    """Frames out of an exec's standard output, read once and forward. A read that was given up can go on."""

    def __init__(self, buffer: OutputBuffer) -> None:
        self._buffer = buffer
        self._index = 0
        self._pending = bytearray()
        self._received_bytes = 0
        self._size: int | None = None  # of the frame whose header has been read

    async def next(self) -> bytes | None:
        """The next frame's body; None at the end of the stream. Raises MalformedError."""
        while (body := self._arrived()) is None:
            nothing_can_come = self.is_full and self._received_bytes == self._buffer.size_bytes
            if nothing_can_come or await self._buffer.next_chunk(self._index) is None:
                return None
        return body

    async def next_within(self, seconds: float) -> bytes | None:
        """The next frame's body. Raises TimeoutError. What has arrived in time counts, should this loop be late; where
        nothing has, and it is so late that the whole machine may have been stopped, StarvedError."""
        if (body := self._arrived()) is not None:  # with the one before: no clock need be set for it
            return body
        loop = asyncio.get_running_loop()
        deadline = loop.time() + seconds
        try:
            async with asyncio.timeout_at(deadline):
                return await self.next()
        except TimeoutError:
            late = loop.time() - deadline
        try:
            async with asyncio.timeout(_LOOP_LATENESS_SECONDS):
                return await self.next()
        except TimeoutError:
            if late <= STOPPED_SECONDS:
                raise
            raise StarvedError(f"this node was stopped or stuck for {late:.1f} s while the program ran") from None

    @property
    def is_exhausted(self) -> bool:
        """Everything that arrived has been read as frames."""
        return not self._pending and self._received_bytes == self._buffer.size_bytes + self._buffer.dropped_bytes

    @property
    def is_full(self) -> bool:
        """The output limit is reached: no further frame can arrive whole."""
        return self._buffer.size_bytes >= self._buffer.limit_bytes

    def _arrived(self) -> bytes | None:
        """The next frame's body, if all of it is there. Raises MalformedError."""
        arrived, self._index = self._buffer.content_since(self._index)
        self._received_bytes += len(arrived)
        self._pending += arrived
        if self._size is None and len(self._pending) >= _HEADER_BYTES:
            self._size = _frame_size(self._cut(_HEADER_BYTES))
        if self._size is None or len(self._pending) < self._size:
            return None
        body, self._size = self._cut(self._size), None
        return body

    def _cut(self, size: int) -> bytes:
        taken = bytes(self._pending[:size])
        del self._pending[:size]
        return taken


class Conversation:
    """One guest process, asked about some checks in order."""

    def __init__(
        self,
        bench: Bench,
        sandbox: SandboxPort,
        running: RunningExec,
        contract: TestsContract,
        whole: Stopwatch | None = None,
        is_timed: bool = False,
    ) -> None:
        """`whole`: the time of all questions together; None = without a limit. `is_timed`: the other side, a trusted
        program, says of each call how long it took."""
        self._bench = bench
        self._sandbox = sandbox
        self._running = running
        self._contract = contract
        self._whole = whole
        self._replies = FrameReader(running.stdout)
        self._heard_from = False
        self._limit_seconds = 0.0
        self._is_timed = is_timed
        self.took = (0.0, 0.0)
        """wall and processor time of the call that was answered last, if calls are timed"""

    @classmethod
    async def open(
        cls,
        bench: Bench,
        sandbox: SandboxPort,
        contract: TestsContract,
        deadline: Deadline,
        *,
        is_timed: bool = False,
    ) -> Conversation:
        """Start the guest's interpreter."""
        request = ExecRequest(
            argv=(bench.python.interpreter, "-c", BOOT, str(bench.spec.limits.open_files)),
            cwd=WORKSPACE,
            open_files=room_for_files(bench.spec.limits.open_files),
            stdin_stream=True,
            # should this process be too busy to keep time
            timeout_seconds=wall_limit(START_SECONDS) + wall_limit(deadline.left()) + SLACK_SECONDS,
        )
        running = await sandbox.exec(request)
        return cls(bench, sandbox, running, contract, deadline.watch, is_timed)

    async def load(self, first: Check, limit_seconds: float) -> bytes | None:
        """Send the driver, the candidate and the first question; its token. None if the process ended meanwhile.

        Raises LoadFailedError, SetupFailedError, MalformedError, TimeoutError.
        """
        candidate = self._bench.scenario.candidate
        source = self._bench.files()[candidate.entry]
        stem = posixpath.splitext(candidate.entry)[0].replace("/", ".")
        path = f"{WORKSPACE}/{candidate.entry}"
        token = _token()
        contract = self._contract
        loading = codec.encode((contract.setup or "", source, path, stem, contract.entry_point))
        question, first_token = _question(first, self._contract, self._is_timed)
        self._limit_seconds = START_SECONDS
        asked = frame(b"L" + token + loading) + question
        starting = self._asking()
        await self._send(code_frame() + asked, starting)
        reply = await self._hear(starting)
        if reply == NEEDS_SOURCE:
            await self._send(source_frame() + asked, starting)
            reply = await self._hear(starting)
        if reply != b"H":
            return None
        self._heard_from = True
        self._limit_seconds = limit_seconds
        if self._whole is not None:
            self._whole.start()
        check = self._asking()
        body = await self._hear(check)
        if body is None:
            return None
        kind, rest = _answer(body, token)
        if kind == b"o" and not rest:
            return first_token
        names, message = _error(rest)
        detail = f"{names[0]}: {message}" if message else names[0]
        if kind == b"p":
            raise SetupFailedError(detail)
        if kind not in _LOAD_FAILURES:
            raise MalformedError(f"unknown answer {kind!r}")
        reason = _raised(names) if kind == b"e" else _LOAD_FAILURES[kind]
        raise LoadFailedError(reason, detail)

    async def ask(self, check: Check, token: bytes | None, limit_seconds: float) -> tuple[bytes, bytes] | None:
        """Ask one check (with `token`, it has been asked already): (kind, rest) of the answer, None if the process
        ended. Raises ArgumentsFailedError, MalformedError, TimeoutError."""
        self._limit_seconds = limit_seconds
        asking = self._asking()
        if token is None:
            question, token = _question(check, self._contract, self._is_timed)
            await self._send(question, asking)
        body = await self._hear(asking)
        if body is None:
            return None
        kind, rest = _answer(body, token)
        if kind == b"q":
            names, message = _error(rest)
            raise ArgumentsFailedError(check, f"{names[0]}: {message}")
        if kind == b"t" and self._is_timed:
            wall, used, rest = _times(rest)
            self.took = (wall, used)
            kind, rest = rest[:1], rest[1:]
        return kind, rest

    def _asking(self) -> Stopwatch:
        """The time of one question."""
        watch = Stopwatch(self._limit_seconds, used_before=None)
        watch.start()
        return watch

    async def _hear(self, check: Stopwatch) -> bytes | None:
        """The next frame. Raises TimeoutError, StarvedError, MalformedError."""
        return await self._within(self._replies.next_within, check)

    async def _within(self, wait: Callable[[float], Awaitable[Heard]], check: Stopwatch) -> Heard:
        """What `wait` gives, see `fair_time.within`. Raises TimeoutError, StarvedError."""
        whole = self._whole if self._heard_from else None
        watches = (
            (check,) if whole is None else (whole,) if whole.limit_seconds <= check.limit_seconds else (whole, check)
        )
        try:
            return await within(wait, self._sandbox, watches, lambda: self._bench.control)
        except StarvedError:
            self._running.kill()
            if not await self._bench.blames_candidate():
                raise
            raise TimeoutError from None

    async def close(self) -> bool:
        """All is asked: let it end. False if it said more than was asked."""
        self._running.close_stdin()
        await self._wait(_END_SECONDS)
        await self._bench.finish(self._sandbox, self._running)
        return self._replies.is_exhausted

    async def abort(self, *, grace_seconds: float, over: bool = False) -> ExecResult:
        """What it did until its end, which is given `grace_seconds` to come by itself; `over`: its time was. Raises
        StarvedError and PlatformError if no line of the candidate has run."""
        if not self._heard_from and not over:  # how an interpreter that does not start ends says why
            grace_seconds = max(grace_seconds, _END_SECONDS)
        await self._wait(grace_seconds)
        result = await self._bench.finish(self._sandbox, self._running, over=over)
        if not self._heard_from and result.outcome is not ExecOutcome.MEMORY:
            self._blame_platform(result)
        return result

    async def _wait(self, seconds: float) -> None:
        """Kill it if it has not ended by then."""
        try:
            async with asyncio.timeout(seconds):
                await self._running.wait()
        except TimeoutError:
            self._running.kill()
        except (SandboxError, PlatformError):
            return  # `finish` meets it again and says what it means

    def failure(self, result: ExecResult, *, timed_out: bool) -> tuple[Reason, str]:
        """Why no answer came."""
        if result.outcome is ExecOutcome.MEMORY:
            return Reason.MEMORY_LIMIT, "killed at the memory limit"
        if self._replies.is_full:
            return Reason.OUTPUT_LIMIT, "its answers are longer than the output limit"
        if timed_out or result.outcome is ExecOutcome.TIMEOUT:
            return Reason.TIMEOUT, f"no answer within {self._limit_seconds:.3g} s"
        if result.outcome is ExecOutcome.CANCELLED:
            return Reason.EXITED_EARLY, "the program closed its side of the conversation"
        how = f"signal {-result.returncode}" if result.returncode < 0 else f"exit code {result.returncode}"
        return Reason.EXITED_EARLY, f"the program ended by itself ({how})"

    def _blame_platform(self, result: ExecResult) -> None:
        """Not one line of the candidate has run."""
        if result.outcome in (ExecOutcome.CANCELLED, ExecOutcome.TIMEOUT):
            raise StarvedError(f"the interpreter did not start within {result.duration_seconds:.2f} s")
        raise not_started(self._bench.spec, result, code=True)

    async def _send(self, frames: bytes, check: Stopwatch) -> None:
        """The question's time runs. Raises TimeoutError if the other side does not read, StarvedError."""
        sending = asyncio.ensure_future(self._running.write_stdin(frames))

        async def sent(seconds: float) -> None:
            done, _ = await asyncio.wait((sending,), timeout=seconds)
            if not done:
                raise TimeoutError
            sending.result()

        try:
            await self._within(sent, check)
        except SandboxExecutionError:
            return  # it closed its end; that no answer comes tells the rest
        finally:
            sending.cancel()


def _token() -> bytes:
    return secrets.token_hex(8).encode()


def _question(check: Check, contract: TestsContract, is_timed: bool = False) -> tuple[bytes, bytes]:
    token = _token()
    keywords = Bag("dict", tuple(check.kwargs.items()))
    comparison = check.comparison or contract.comparison
    asked = (
        comparison if comparison in ("truth", "not_none") else "items" if comparison in ("items", "members") else None
    )
    request = (check.args, keywords, asked, contract.takes_subclasses(check))
    return frame((b"T" if is_timed else b"C") + token + codec.encode(request)), token


def _times(rest: bytes) -> tuple[float, float, bytes]:
    """(wall time, processor time, the answer proper)."""
    times, _, answer = rest.partition(b";")
    try:
        wall, used = (float.fromhex(time.decode()) for time in times.split(b","))
    except (ValueError, OverflowError):
        raise MalformedError("not the time of a call") from None
    return wall, used, answer


def _answer(body: bytes, token: bytes) -> tuple[bytes, bytes]:
    if not secrets.compare_digest(body[:16], token):
        raise MalformedError("an answer to something that was not asked")
    return body[16:17], body[17:]


def _error(rest: bytes) -> tuple[tuple[str, ...], str]:
    """(class names, most derived first; message) of an exception that the guest describes."""
    described = codec.decode(rest)
    if type(described) is tuple and len(described) == 2:
        names, message = described
        if type(names) is tuple and names and all(type(name) is str for name in names) and type(message) is str:
            return tuple(one_line(name, 100) for name in names), one_line(message)
    raise MalformedError("not the description of an exception")


def _raised(names: tuple[str, ...]) -> Reason:
    """Labels only: each of them scores 0."""
    if "SystemExit" in names:
        return Reason.EXITED_EARLY
    return Reason.MEMORY_LIMIT if "MemoryError" in names else Reason.EXCEPTION


def _is_right(answer: object, check: Check, contract: TestsContract) -> bool:
    comparison, tolerance = check.comparison or contract.comparison, contract.tolerance(check)
    return any(
        compare_values(answer, expected, comparison, tolerance) for expected in (check.expected, *check.alternatives)
    )


def answered_value(kind: bytes, rest: bytes) -> tuple[str, object]:
    """("value", what a call returned), or (what happened in place of it, a description). Raises MalformedError."""
    if kind == b"v":
        return "value", codec.decode(rest)
    if kind == b"r":
        names, message = _error(rest)
        return "raised", f"{names[0]}: {message}" if message else names[0]
    if kind == b"x":
        name = codec.decode(rest)
        return "returned what cannot cross the border", one_line(name if type(name) is str else show(name), 100)
    raise MalformedError(f"unknown answer {kind!r}")


def _is_raised(wanted: str, names: tuple[str, ...]) -> bool:
    """Whether an exception with these class names, most derived first, counts as one of the wanted class.

    The names are the candidate's word, so one exception makes one claim: its own class, at most a few classes of the
    candidate's own above it, and one standard class, the first among the names, with that class's own bases. A class
    that derives from ValueError and from KeyError is a ValueError only."""
    asked = _STANDARD_ERRORS.get(wanted)
    if asked is None:
        own = [name for name in names if name not in _STANDARD_ERRORS]
        return wanted == names[0] or wanted in own[:_MOST_OWN_ERRORS]
    standard = [cls for name in names if (cls := _STANDARD_ERRORS.get(name)) is not None]
    unrelated = [cls for cls in standard if not any(other is not cls and issubclass(other, cls) for other in standard)]
    return len(unrelated) <= _MOST_UNRELATED_ERRORS and bool(standard) and issubclass(standard[0], asked)


def judge(check: Check, contract: TestsContract, kind: bytes, rest: bytes) -> CheckOutcome:
    """Whether an answer is right. Raises MalformedError."""
    observation = f"{kind.decode('latin-1')}:{digest(rest)}"
    if kind == b"v":
        answer = codec.decode(rest)
        if check.raises is None and _is_right(answer, check, contract):
            return CheckOutcome(passed=True, reason=Reason.PASSED, observation=observation)
        wanted = show(check.expected) if check.raises is None else f"{check.raises} to be raised"
        detail = "" if check.hidden else f"expected {wanted}, got {show(answer)}"
        return CheckOutcome(passed=False, reason=Reason.WRONG_ANSWER, detail=detail, observation=observation)
    if kind == b"r":
        names, message = _error(rest)
        if check.raises is not None and _is_raised(check.raises, names):
            return CheckOutcome(passed=True, reason=Reason.PASSED, observation=observation)
        detail = f"{names[0]}: {message}" if message else names[0]
        if check.hidden:  # the name of a class of the candidate's own may say what it was given
            detail = next((name for name in names if name in _STANDARD_ERRORS), "an exception")
        return CheckOutcome(passed=False, reason=_raised(names), detail=detail, observation=observation)
    if kind == b"x":
        name = codec.decode(rest)
        if type(name) is not str:
            raise MalformedError("not the name of a type")
        detail = "returned a value that cannot cross the border" + ("" if check.hidden else f": {one_line(name, 100)}")
        return CheckOutcome(passed=False, reason=Reason.BAD_VALUE, detail=detail, observation=observation)
    raise MalformedError(f"unknown answer {kind!r}")
