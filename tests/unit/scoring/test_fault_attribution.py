"""Whose fault it is that a candidate could not be judged: over sandboxes that are none."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from harena.core.errors import (
    HarenaError,
    HostUnsupportedError,
    PlatformError,
    SandboxError,
    SandboxFileError,
    SandboxResourceExhaustedError,
    SandboxStartError,
    SandboxUnavailableError,
    SandboxValidationError,
)
from harena.core.models import ExecOutcome, ExecRequest, ExecResult, SandboxOrigin, SandboxSpec
from harena.core.ports import Death
from harena.core.results import Reason, RunResult, Validity
from harena.jobs.benchmark.job_acceptance import run_timeout
from harena.jobs.models import JobConfig
from harena.scoring import StarvedError, load_scenarios, score_scenario
from harena.scoring.battery.forgery import defined_functions
from harena.scoring.scorers.fair_time import SLACK_SECONDS
from harena.scoring.scorers.fault_attribution import MOST_JUDGINGS
from harena.scoring.scorers.judgement import score_judge
from harena.scoring.scorers.program import Bench
from harena.scoring.scorers.time_limits import wall_limit
from harena.scoring.scorers.trusted_suite import idle_bench

EVIL = "print('evil')\n"
STDIO = {"type": "stdio", "cases": [{"stdout": "right"}], "comparison": "decimal_lines"}
WEIGHTED = {"type": "weighted", "parts": {"a": {"scoring": STDIO}, "b": {"scoring": STDIO}}}
NUMERIC = {"type": "numeric", "target": 1.0}
COMMAND = {"type": "command", "command": ["true"]}


class Ended:
    """An exec that has ended."""

    def __init__(self, stdout: bytes) -> None:
        self.result = ExecResult(outcome=ExecOutcome.EXITED, returncode=0, stdout=stdout, stderr=b"")

    async def wait(self) -> ExecResult:
        return self.result


class Box:
    """A sandbox that fails once the candidate's text is in it."""

    def __init__(self, source: Failing) -> None:
        self.source = source
        self.origin = SandboxOrigin()
        self.holds_candidate = False

    async def exec(self, request: ExecRequest) -> Ended:
        if self.holds_candidate or self.source.fails_for_all:
            self.source.fail()
        return Ended(self.source.stdout)

    async def write_file(self, path: str, content: bytes, **_: Any) -> None:
        self.holds_candidate = self.holds_candidate or b"evil" in content

    async def wait_dead(self) -> Any:
        if self.source.lacks_processes:
            return Death(by_request=True, lacked_processes=True)
        raise TimeoutError


class Failing:
    """A source of such sandboxes."""

    def __init__(self, error: Callable[[], Exception] | None = None, *, times: int = 1_000, **options: Any) -> None:
        self.error, self.times = error, times
        self.stdout: bytes = options.get("stdout", b"wrong")
        self.fails_for_all: bool = options.get("fails_for_all", False)
        self.creation: Exception | None = options.get("creation")
        self.lacks_processes: bool = options.get("lacks_processes", False)
        self.made = 0

    def fail(self) -> None:
        if self.error is not None and self.times > 0:
            self.times -= 1
            raise self.error()

    @asynccontextmanager
    async def sandbox(self, spec: SandboxSpec) -> AsyncIterator[Any]:
        """A fresh one."""
        self.made += 1
        if self.creation is not None and self.made > 1:
            raise self.creation
        yield Box(self)


async def scored(source: Failing, scoring: Any = STDIO, candidate: Any = EVIL) -> RunResult:
    (made,) = load_scenarios([{"id": "one", "candidate": candidate, "scoring": scoring}]).scenarios
    return await score_scenario(made, sandboxes=source, base_spec=SandboxSpec(), timeout_seconds=30)


ERRORS: dict[str, Callable[[], Exception]] = {
    "a bug of the host": lambda: ZeroDivisionError("x"),
    "recursion": RecursionError,
    "memory": MemoryError,
    "time": TimeoutError,
    "a lost sandbox": lambda: SandboxUnavailableError("lost", reason="SANDBOX_LOST"),
    "a file operation": lambda: SandboxFileError("killed before it answered", reason="IO_FAILED"),
    "a path": lambda: SandboxValidationError("not a path"),
    "any sandbox error": lambda: SandboxError("?"),
    "any platform error": lambda: PlatformError("?"),
    "the host's files": lambda: OSError(24, "too many"),
}


@pytest.mark.parametrize("name", ERRORS)
async def test_an_error_that_follows_the_candidate_is_a_score_of_0(name: str) -> None:
    """Whatever is raised while it is judged, foreseen or not, under any contract."""
    for scoring in (STDIO, WEIGHTED, NUMERIC, COMMAND):
        result = await scored(Failing(ERRORS[name]), scoring)
        assert (result.score, result.validity, result.passed) == (0.0, Validity.VALID, False), scoring
        assert result.reason is Reason.SCORER_REJECTED
        assert type(ERRORS[name]()).__name__ in result.detail


@pytest.mark.parametrize("name", ERRORS)
async def test_an_error_that_comes_for_every_candidate_is_nobodys(name: str) -> None:
    """There is no score; and what is raised is always harena's own, so that a job goes on."""
    with pytest.raises(HarenaError):
        await scored(Failing(ERRORS[name], fails_for_all=True))


async def test_an_error_that_does_not_come_again_changes_nothing() -> None:
    """The verdict is that of the next try; one that the platform calls its own may come twice."""
    for error, times in (("a bug of the host", 1), ("a lost sandbox", 2)):
        source = Failing(ERRORS[error], times=times, stdout=b"right")
        assert (await scored(source)).score == 1.0
    result = await scored(Failing(ERRORS["a lost sandbox"], times=2))
    assert (result.score, result.reason) == (0.0, Reason.WRONG_ANSWER)


@pytest.mark.parametrize(
    "error",
    [StarvedError("s"), HostUnsupportedError("h"), SandboxResourceExhaustedError("r")],
    ids=lambda error: type(error).__name__,
)
async def test_what_is_plainly_the_platforms_is_raised_at_once(error: HarenaError) -> None:
    """No other candidate is asked."""
    source = Failing(lambda: error)
    with pytest.raises(type(error)):
        await scored(source)
    assert source.made == 1


async def test_a_program_that_the_memory_of_all_sandboxes_has_ended_is_starved() -> None:
    """It met no limit of its own, as is counted outside of its sandbox; an idle one needs none, and has a verdict."""
    source = Failing(lambda: SandboxUnavailableError("lost", reason="NODE_OUT_OF_MEMORY"))
    with pytest.raises(StarvedError, match="lost"):
        await scored(source)
    assert source.made == 1


@pytest.mark.parametrize("error", [None, lambda: PlatformError("the image cannot run `python`")], ids=["wrong", "none"])
async def test_a_program_that_was_refused_a_process_by_no_limit_of_its_own_is_starved(
    error: Callable[[], Exception] | None,
) -> None:
    """Whatever it does then: its answer is wrong, or it does not even start, and no image is to be exchanged for it."""
    source = Failing(error, lacks_processes=True)
    with pytest.raises(StarvedError, match="processes that all sandboxes of the workspace"):
        await scored(source)
    assert source.made == 1


async def test_a_program_that_is_right_though_it_was_refused_a_process_is_right() -> None:
    """It did without."""
    assert (await scored(Failing(stdout=b"right", lacks_processes=True))).score == 1.0


async def test_a_sandbox_that_cannot_be_created_is_plainly_the_platforms() -> None:
    """Nothing of the candidate was in it, whatever the error is; also where it is the second one of a run."""
    for creation in (SandboxStartError("no"), OSError(12, "memory"), PlatformError("spawner")):
        source = Failing(creation=creation)
        with pytest.raises(type(creation)) if isinstance(creation, HarenaError) else pytest.raises(HarenaError):
            await scored(source, WEIGHTED)
        assert source.made == 2


async def test_no_text_of_a_candidate_keeps_another_from_being_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """The idle candidate defines what this one does, as far as that can be read."""

    def unreadable(bench: Any) -> Any:
        raise RecursionError

    monkeypatch.setattr("harena.scoring.scorers.trusted_suite.idle_bench", unreadable)
    result = await scored(Failing(ERRORS["recursion"]))
    assert (result.score, result.reason) == (0.0, Reason.SCORER_REJECTED)


async def test_no_candidate_makes_the_idle_one_slow_large_or_strange() -> None:
    """It has names that the trusted text mentions, and none that Python calls by itself."""
    program = "def __getattr__(name): pass\ndef _answer(): pass\ndef right(): pass\n"
    program += "".join(f"def f{index}(): pass\n" for index in range(10_000))
    row = {"id": "one", "candidate": program, "scoring": {**COMMAND, "files": {"check.py": "right(f1, __getattr__)"}}}
    bench = Bench(load_scenarios([row]).scenarios[0], Failing(), SandboxSpec(), 1.0, demands_separate=True)
    idle = idle_bench(bench).scenario.candidate.source
    assert [f"def {name}(" in idle for name in ("f1", "f2")] == [True, False]
    assert "def __getattr__" not in idle
    assert "def right(" in idle
    assert idle.count("def _answer(") == 1


async def test_a_candidate_that_is_judged_again_is_kept_apart_as_before() -> None:
    """What the job demands holds for every try."""
    bench = Bench(load_scenarios([{"id": "one", "candidate": EVIL, "scoring": COMMAND}]).scenarios[0], Failing(),
                  SandboxSpec(), 1.0, alone=True, demands_separate=True)  # fmt: skip
    again = bench.again()
    assert (again.demands_separate, again.share.alone) == (True, True)


async def test_the_evidence_names_the_fault() -> None:
    """Two candidates that differ in their fault only differ in it."""
    digests = {(await scored(Failing(ERRORS[name]))).evidence for name in ("recursion", "memory")}
    assert len(digests) == 2


@pytest.mark.parametrize("printed", [b"1e99999999999999999999", b"-0e-99999999999999999999", b"1e999999999"])
async def test_numbers_beyond_all_exponents_are_wrong_answers(printed: bytes) -> None:
    """`decimal` raises for some of them."""
    scoring = {**STDIO, "cases": [{"stdout": "1"}]}
    result = await scored(Failing(stdout=printed), scoring)
    assert (result.score, result.reason) == (0.0, Reason.WRONG_ANSWER)


@pytest.mark.parametrize("said", ["9" * 400, "9" * 5000, "-" + "9" * 400, "NaN", "1e400", "-Infinity", "[" * 100_000])
async def test_numbers_of_a_judge_that_no_float_holds(said: str) -> None:
    """A candidate can have them quoted; there is a verdict all the same."""
    scoring = {
        "type": "score_model",
        "model": "m",
        "messages": [{"role": "user", "content": "{{ sample.output_text }}"}],
    }
    scoring["range"] = [0, 1]
    (made,) = load_scenarios([{"id": "one", "candidate": "evil", "scoring": scoring}]).scenarios
    bench = Bench(made, Failing(), SandboxSpec(), 9)

    def ask(messages: Any, parameters: Any, seconds: float) -> str:
        return f'{{"score": {said if "evil" in messages[0]["content"] else 1}}}'

    verdict = await score_judge(bench, made.scoring, ask)  # type: ignore[arg-type]
    assert (verdict.score, verdict.reason) == (0.0, Reason.SCORER_REJECTED)


def test_the_functions_of_any_text_can_be_listed() -> None:
    """Also of one that a parser fails on, or is kept busy by."""
    deep = "def f(): pass\nx = " + "-" * 90_000 + "1\nclass C: pass\n"
    assert set(defined_functions(deep)) <= {"f", "C"}
    long = "x = 1\n" * 100_000 + "def g(): pass\n"
    assert defined_functions(long) == ("g",)
    assert defined_functions(long + 'text = """\ndef if\nclass None\n"""\n') == ("g",)
    assert defined_functions("def f(:\0") == ()
    assert defined_functions("x = " + "(" * 5_000 + ")" * 5_000) == ()


def test_a_run_may_take_as_long_as_its_candidate_can_make_its_judging_take() -> None:
    """Else one that waits, and then makes its judging fail, would buy a fault of the platform."""
    config = JobConfig(timeout_seconds=2.0, run_timeout_seconds=3.0)
    assert run_timeout(config) == MOST_JUDGINGS * (wall_limit(2.0) + SLACK_SECONDS)
    assert run_timeout(JobConfig(timeout_seconds=2.0, run_timeout_seconds=5000.0)) == 5000.0
    assert run_timeout(JobConfig(timeout_seconds=2.0)) is None
    judge = {
        "type": "label_model",
        "model": "j",
        "labels": ["a", "b"],
        "passing_labels": ["a"],
        "messages": [{"role": "user", "content": "{{ sample.output_text }}"}],
        "judge_timeout_seconds": 100.0,
    }
    scorer = {"type": "python", "source": "def score(run): return 1", "scorer_timeout_seconds": 100.0}
    for scoring in (judge, scorer, {"type": "weighted", "parts": {"a": {"scoring": judge}, "b": {"scoring": scorer}}}):
        made = load_scenarios([{"id": "a", "candidate": "x", "scoring": scoring}]).scenarios
        assert (run_timeout(config, made) or 0) > MOST_JUDGINGS * (wall_limit(2.0) + SLACK_SECONDS + 200)
    parts = {name: {"scoring": {"type": "stdio", "cases": [{"stdout": "1"}]}} for name in "abc"}
    made = load_scenarios([{"id": "a", "candidate": "x", "scoring": {"type": "weighted", "parts": parts}}]).scenarios
    # each part has its own limit, and its cases may all be run once more
    assert run_timeout(config, made) == MOST_JUDGINGS * 3 * 2 * (wall_limit(2.0) + SLACK_SECONDS)


@pytest.mark.parametrize("scoring", [STDIO, COMMAND, {"type": "command", "unittest": ["t.py"], "files": {"t.py": ""}}])
async def test_a_file_of_harenas_own_that_has_gone_is_nobodys_fault(scoring: Any) -> None:
    """An upgrade or a switch of branches below the running process: it ends without a score."""

    def gone() -> Exception:
        return ModuleNotFoundError("No module named 'harena.scoring.battery'", name="harena.scoring.battery")

    with pytest.raises(PlatformError, match=r"harena\.scoring\.battery"):
        await scored(Failing(gone), scoring)
