"""The host's half of the conversation: frames in any pieces, and what an answer is worth."""

from __future__ import annotations

import asyncio
import decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harena.core.models import ExecOutcome, ExecResult, ProcessorTime
from harena.core.output import OutputBuffer
from harena.core.results import Reason
from harena.scoring import codec, load_scenarios
from harena.scoring.codec import MalformedError
from harena.scoring.contracts import contract as contracts
from harena.scoring.scorers import output as score_program
from harena.scoring.scorers import reference as score_reference
from harena.scoring.scorers.drive import ArgumentsFailedError, Conversation, FrameReader, judge
from harena.scoring.scorers.fair_time import Stopwatch
from harena.scoring.scorers.reference import SolutionFailedError
from harena.scoring.values import from_python
from harena.scoring.verdict import StarvedError

CONTRACT = contracts.TestsContract.model_validate(
    {
        "type": "tests",
        "entry_point": "f",
        "checks": [{"expected": 3}, {"raises": "ValueError"}, {"expected": "secret", "hidden": True}],
    }
)
PLAIN, RAISING, HIDDEN = CONTRACT.checks


def filled(*chunks: bytes, limit_bytes: int = 10_000, closed: bool = True) -> OutputBuffer:
    buffer = OutputBuffer(limit_bytes)
    for chunk in chunks:
        buffer.append(chunk)
    if closed:
        buffer.close()
    return buffer


def frame(body: bytes) -> bytes:
    return b"%08x%b" % (len(body), body)


@given(st.lists(st.binary(min_size=1, max_size=40), max_size=5), st.data())
async def test_frames_arrive_whole_in_any_pieces(bodies: list[bytes], data: st.DataObject) -> None:
    """However the pipe cuts them."""
    stream = b"".join(map(frame, bodies))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=6)))
    pieces = [stream[start:end] for start, end in zip([0, *cuts], [*cuts, len(stream)], strict=True)]
    reader = FrameReader(filled(*pieces))
    assert [await reader.next() for _ in bodies] == bodies
    assert reader.is_exhausted
    assert await reader.next() is None


async def test_a_read_that_was_given_up_goes_on_where_it_was() -> None:
    """A frame whose second half comes after the time limit is still read as one frame."""
    buffer = filled(frame(b"hello")[:11], closed=False)
    reader = FrameReader(buffer)
    with pytest.raises(TimeoutError):
        await reader.next_within(0.0)
    buffer.append(frame(b"hello")[11:] + frame(b"again"))
    assert await reader.next_within(0.0) == b"hello"
    assert not reader.is_exhausted
    assert await reader.next_within(0.0) == b"again"


@pytest.mark.parametrize(
    "start", [b"00000000", b"-0000001", b"0x000001", b" 0000001", b"ffffffff", b"passed!!", b"\xff" * 8]
)
async def test_what_is_no_header_is_malformed(start: bytes) -> None:
    """Eight hexadecimal digits, a length that can be."""
    with pytest.raises(MalformedError):
        await FrameReader(filled(start + b"x" * 100)).next()


async def test_a_full_buffer_ends_the_stream() -> None:
    """A frame that can never arrive whole is not waited for."""
    reader = FrameReader(filled(frame(b"x" * 100), limit_bytes=50, closed=False))
    assert await reader.next_within(5.0) is None
    assert reader.is_full


async def test_what_is_left_over_is_noticed() -> None:
    """Bytes after the last answer, also those that were dropped."""
    reader = FrameReader(filled(frame(b"v"), b"more"))
    await reader.next()
    assert not reader.is_exhausted


def value(made: Any) -> bytes:
    return codec.encode(from_python(made))


@pytest.mark.parametrize(
    ("check", "kind", "rest", "passed", "reason"),
    [
        (PLAIN, b"v", value(3), True, Reason.PASSED),
        (PLAIN, b"v", value(3.0), False, Reason.WRONG_ANSWER),
        (PLAIN, b"r", value((("KeyError",), "3")), False, Reason.EXCEPTION),
        (PLAIN, b"r", value((("SystemExit", "BaseException"), "")), False, Reason.EXITED_EARLY),
        (PLAIN, b"x", value("Counter"), False, Reason.BAD_VALUE),
        (RAISING, b"r", value((("ValueError", "Exception"), "")), True, Reason.PASSED),
        (RAISING, b"r", value((("UnicodeError", "ValueError"), "")), True, Reason.PASSED),
        (RAISING, b"r", value((("KeyError", "LookupError"), "")), False, Reason.EXCEPTION),
        (RAISING, b"v", value(None), False, Reason.WRONG_ANSWER),
        (HIDDEN, b"v", value("public"), False, Reason.WRONG_ANSWER),
    ],
)
def test_what_an_answer_is_worth(
    check: contracts.Check, kind: bytes, rest: bytes, passed: bool, reason: Reason
) -> None:
    """Values against what was expected, exceptions against what had to be raised."""
    outcome = judge(check, CONTRACT, kind, rest)
    assert (outcome.passed, outcome.reason) == (passed, reason)
    assert "secret" not in outcome.detail


class Answered:
    """A process that has said its last word."""

    def __init__(self, said: bytes) -> None:
        self.stdout = filled(said)


async def test_a_call_that_was_not_made_is_no_answer() -> None:
    """That arguments could not be built is raised, with the check: it is never a score by itself."""
    said = frame(b"0" * 16 + b"q" + value((("TypeError",), "unhashable type: 'list'")))
    conversation = Conversation(None, None, Answered(said), CONTRACT)  # type: ignore[arg-type]
    with pytest.raises(ArgumentsFailedError, match="TypeError: unhashable") as failure:
        await conversation.ask(RAISING, b"0" * 16, 1.0)
    assert failure.value.check is RAISING
    with pytest.raises(MalformedError):
        judge(PLAIN, CONTRACT, b"q", value("x"))


async def test_only_a_trusted_program_says_how_long_a_call_took() -> None:
    """Its word is taken off the answer; a candidate's is malformed."""
    said = frame(b"0" * 16 + b"t0x1p+1,0x1p-1;v" + value(3))
    timed = Conversation(None, None, Answered(said), CONTRACT, is_timed=True)  # type: ignore[arg-type]
    assert (await timed.ask(PLAIN, b"0" * 16, 1.0), timed.took) == ((b"v", value(3)), (2.0, 0.5))
    asked = await Conversation(None, None, Answered(said), CONTRACT).ask(PLAIN, b"0" * 16, 1.0)  # type: ignore[arg-type]
    assert asked is not None
    with pytest.raises(MalformedError):
        judge(PLAIN, CONTRACT, *asked)


@pytest.mark.parametrize(
    ("kind", "rest"),
    [(b"p", b""), (b"", b""), (b"v", b""), (b"v", b"NN"), (b"r", value("x")), (b"r", value(((), ""))),
     (b"r", value(((1,), ""))), (b"x", value(1)), (b"o", b"")],
)  # fmt: skip
def test_what_is_no_answer_is_malformed(kind: bytes, rest: bytes) -> None:
    """There is no word for a verdict, and every answer has its form."""
    with pytest.raises(MalformedError):
        judge(PLAIN, CONTRACT, kind, rest)


@pytest.mark.parametrize(
    ("names", "passed"),
    [
        (("ValueError", "Exception", "BaseException", "object"), True),
        (("Mine", "UnicodeDecodeError", "UnicodeError", "ValueError", "Exception", "BaseException", "object"), True),
        (("Mine", "ValueError", "KeyError", "LookupError", "Exception", "BaseException", "object"), True),
        (("Net", "ValueError", "KeyError", "TypeError", "LookupError", "Exception", "object"), False),
        (("ValueError", "TypeError", "KeyError", "IndexError", "Exception", "object"), False),
        (("TypeError", "Exception", "BaseException", "object"), False),
    ],
)
def test_an_error_of_every_class_is_no_answer(names: tuple[str, ...], passed: bool) -> None:
    """An exception is of one standard class, the first that it names, whatever else it derives from."""
    outcome = judge(RAISING, CONTRACT, b"r", codec.encode(from_python((names, "x"))))
    assert outcome.passed is passed


@pytest.mark.parametrize(
    ("error", "classes"),
    [
        (type("Both", (ValueError, KeyError), {}), {"Both", "ValueError"}),
        (type("Both", (KeyError, ValueError), {}), {"Both", "KeyError", "LookupError"}),
        (type("Stack", (type("Mine", (IndexError,), {}),), {}), {"Stack", "Mine", "IndexError", "LookupError"}),
        (FileNotFoundError, {"FileNotFoundError", "OSError", "IOError", "EnvironmentError"}),
        (type("Plain", (Exception,), {}), {"Plain"}),
        (type("ValueError", (KeyError,), {}), {"ValueError"}),
        (decimal.DivisionByZero, {"DivisionByZero", "DecimalException", "ZeroDivisionError", "ArithmeticError"}),
    ],
)
def test_one_exception_is_of_one_standard_class(error: type[Exception], classes: set[str]) -> None:
    """Its own class, and the bases of the first standard class among its own: not every name that its MRO carries."""
    names = tuple(cls.__name__ for cls in error.__mro__[:12])
    asked = {*classes, "Exception", "ValueError", "KeyError", "TypeError", "IndexError", "LookupError", "OSError"}
    for wanted in asked:
        contract = contracts.TestsContract.model_validate(
            {"type": "tests", "entry_point": "f", "checks": [{"raises": wanted}]}
        )
        outcome = judge(contract.checks[0], contract, b"r", codec.encode(from_python((names, "x"))))
        assert outcome.passed is (wanted in {*classes, "Exception"}), wanted


def test_a_chain_of_invented_classes_is_none_of_them() -> None:
    """An exception has at most four classes of the candidate's own."""
    names = (*(f"Error{number}" for number in range(10)), "Exception")
    contract = contracts.TestsContract.model_validate(
        {"type": "tests", "entry_point": "f", "checks": [{"raises": name} for name in names[:10]]}
    )
    said = codec.encode(from_python((names, "x")))
    paid = [judge(check, contract, b"r", said).passed for check in contract.checks]
    assert paid == [True] * 4 + [False] * 6


@pytest.mark.parametrize("answered", [True, False])
async def test_a_node_that_was_stopped_blames_no_candidate(answered: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """An answer that came meanwhile counts; that there is none may be the whole machine's fault, and is tried again."""
    buffer, loop = filled(closed=False), asyncio.get_running_loop()
    waiting = asyncio.create_task(FrameReader(buffer).next_within(60))
    await asyncio.sleep(0)
    before = loop.time
    monkeypatch.setattr(loop, "time", lambda: before() + 1000)
    if answered:
        loop.call_soon(buffer.append, frame(b"hello"))
        assert await waiting == b"hello"
    else:
        with pytest.raises(StarvedError, match="was stopped or stuck for 9"):
            await waiting


class SlowStart:
    """A program whose interpreter starts later than its limit, on an idle host: sandbox, bench and control in one."""

    def __init__(self) -> None:
        self.stdout = filled(closed=False)
        self.scenario = load_scenarios([{"id": "one", "candidate": "pass\n", "scoring": CONTRACT}]).scenarios[0]
        self.control = self

    def files(self) -> dict[str, str]:
        return dict(self.scenario.candidate.files)

    async def share(self) -> float:
        return 1.0

    async def processor_time(self) -> ProcessorTime:
        return ProcessorTime()

    async def write_stdin(self, frames: bytes) -> None:
        loop = asyncio.get_running_loop()
        loop.call_later(0.5, self.stdout.append, frame(b"H"))
        loop.call_later(0.5, self.stdout.close)


async def test_the_start_of_the_interpreter_is_not_the_candidates_time() -> None:
    """A limit of 10 ms is one of what comes after it."""
    slow = SlowStart()
    conversation = Conversation(slow, slow, slow, CONTRACT, Stopwatch(60))  # type: ignore[arg-type]
    assert await conversation.load(PLAIN, 0.01) is None
    assert slow.stdout.closed


def test_a_hidden_check_says_nothing_that_the_program_wrote() -> None:
    """Neither names of its own classes nor standard error: an honest exception tells what it was given."""
    raised = value((("saw_77", "KeyError", "Exception"), "77"))
    own = value((("saw_77",), "77"))
    for kind, rest, detail in (
        (b"r", raised, "KeyError"),
        (b"r", own, "an exception"),
        (b"x", value("saw_77"), "returned a value that cannot cross the border"),
    ):
        assert judge(HIDDEN, CONTRACT, kind, rest).detail == detail
    contract = contracts.StdioContract.model_validate(
        {"type": "stdio", "cases": [{"stdin": "77", "stdout": "1", "hidden": True}]}
    )
    ended = ExecResult(outcome=ExecOutcome.EXITED, returncode=1, stdout=b"77", stderr=b"ValueError: '77'")
    assert score_program._judge(contract.cases[0], contract, ended).detail == "exit code 1"
    with pytest.raises(SolutionFailedError, match=r"raised for inputs\[0\]$"):
        score_reference._value((b"r", raised), 0, is_hidden=True)
