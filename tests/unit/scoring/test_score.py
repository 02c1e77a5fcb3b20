"""The envelope: what is data, what is raised, and what has no score."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest

from harena.core.errors import (
    PlatformError,
    SandboxFileError,
    SandboxNotRunningError,
    SandboxUnavailableError,
    ValidationError,
)
from harena.core.models import (
    MIB,
    ExecOutcome,
    ExecRequest,
    ExecResult,
    ProcessorTime,
    ResourceUsage,
    SandboxOrigin,
    SandboxSpec,
)
from harena.core.network_policy import NO_NETWORK, OPEN_NETWORK
from harena.core.output import OutputBuffer
from harena.core.ports import Death, SandboxPort
from harena.core.records.sandboxes import Limits
from harena.core.results import Reason, RunResult, Trust, Validity
from harena.scoring import StarvedError, infra_result, load_scenarios, score_scenario
from harena.scoring.scenario import Scenario
from harena.scoring.scorers.fair_time import SLACK_SECONDS
from harena.scoring.scorers.program import Bench
from harena.scoring.scorers.time_limits import wall_limit

SPEC = SandboxSpec(limits=Limits(memory_bytes=512 * MIB, pids=99))
TESTS = {"type": "tests", "entry_point": "f", "checks": [{"expected": 1}, {"expected": 2}]}
STDIO = {"type": "stdio", "cases": [{"stdout": "1"}]}


class ScriptedExec:
    """An exec that has ended, or that ends when it is killed."""

    def __init__(self, result: ExecResult | Exception) -> None:
        self.stdout, self.stderr = OutputBuffer(1000), OutputBuffer(1000)
        self.stdout.close()
        self._result = result

    async def wait(self) -> ExecResult:
        if isinstance(self._result, Exception):
            raise self._result
        return self._result

    def kill(self) -> None:
        pass

    async def write_stdin(self, data: bytes) -> None:
        pass

    def close_stdin(self) -> None:
        pass


class ScriptedSandbox:
    """Ends every exec with the same result."""

    id = "sb_scripted"
    origin = SandboxOrigin(image_digest="sha256:1", blueprint_digest="2", profile="machine")

    def __init__(self, result: ExecResult | Exception, death: Death | None = None, *, starts: bool = True) -> None:
        self.result = result
        self.starts = starts
        self.death = death
        self.requests: list[ExecRequest] = []
        self.written: dict[str, bytes] = {}

    async def exec(self, request: ExecRequest) -> ScriptedExec:
        self.requests.append(request)
        is_empty_program = request.argv[-2:] == ("-c", "")
        return ScriptedExec(exited(0) if is_empty_program and self.starts else self.result)

    async def write_file(self, path: str, source: bytes) -> None:
        self.written[path] = source

    async def processor_time(self) -> ProcessorTime:
        return ProcessorTime()

    async def wait_dead(self) -> Death:
        return self.death or Death(by_request=True)


class Scripted:
    """A source of one sandbox, again and again."""

    def __init__(self, sandbox: ScriptedSandbox) -> None:
        self.made = sandbox
        self.specs: list[SandboxSpec] = []

    @asynccontextmanager
    async def sandbox(self, spec: SandboxSpec) -> AsyncIterator[SandboxPort]:
        self.specs.append(spec)
        yield self.made  # type: ignore[misc]


def scenario(candidate: Any = "def f(): return 1", scoring: Any = TESTS, **fields: Any) -> Scenario:
    return load_scenarios([{"id": "s", "candidate": candidate, "scoring": scoring, **fields}]).scenarios[0]


def exited(code: int, **fields: Any) -> ExecResult:
    given: dict[str, Any] = {"outcome": ExecOutcome.EXITED, "stdout": b"", "stderr": b""}
    return ExecResult(returncode=code, **{**given, **fields})


MEMORY = exited(-9, outcome=ExecOutcome.MEMORY)


async def scored(source: Scripted, what: Scenario, **fields: Any) -> RunResult:
    return await score_scenario(what, sandboxes=source, base_spec=SPEC, timeout_seconds=9, **fields)


async def test_an_empty_candidate_scores_0_and_runs_nothing() -> None:
    """The floor that no forgery may rise above."""
    source = Scripted(ScriptedSandbox(exited(0)))
    result = await scored(source, scenario(" \n"), attempt=3)
    assert (result.score, result.reason, result.attempt) == (0.0, Reason.EMPTY_CANDIDATE, 3)
    assert (result.checks_planned, result.checks_run) == (2, 0)
    assert not source.specs


async def test_passing_a_honeypot_is_suspect_and_pays_nothing() -> None:
    """Whether the scenario or its problem says so; failing it is what an honest candidate does."""
    for fields in ({"honeypot": True}, {"problem": {"honeypot": True}}):
        caught = await scored(Scripted(ScriptedSandbox(exited(0, stdout=b"1"))), scenario(scoring=STDIO, **fields))
        assert (caught.score, caught.passed, caught.reason) == (0.0, False, Reason.HONEYPOT)
        assert caught.validity is Validity.SUSPECT
        honest = await scored(Scripted(ScriptedSandbox(exited(0, stdout=b"2"))), scenario(scoring=STDIO, **fields))
        assert (honest.score, honest.reason, honest.validity) == (0.0, Reason.WRONG_ANSWER, Validity.VALID)


async def test_limits_of_the_scenario_replace_the_jobs() -> None:
    """Those that it names; and the shorter of two time limits counts."""
    source = Scripted(ScriptedSandbox(exited(0, stdout=b"1")))
    limits = {"memory_mb": 64, "output_mb": 2, "timeout_seconds": 3}
    result = await scored(source, scenario(scoring=STDIO, limits=limits))
    assert result.score == 1.0
    assert source.specs[0].limits == Limits(memory_bytes=64 * MIB, output_bytes=2 * MIB, pids=99)
    assert source.made.requests[0].timeout_seconds == wall_limit(3) + SLACK_SECONDS
    await scored(source, scenario(scoring=STDIO, limits={"timeout_seconds": 300}))
    assert source.made.requests[1].timeout_seconds == wall_limit(9) + SLACK_SECONDS


async def test_what_an_exec_used_is_in_the_envelope() -> None:
    """Durations and processor time are added up, memory is the peak."""
    used = exited(0, stdout=b"1", duration_seconds=0.5, usage=ResourceUsage(user_seconds=0.2, peak_memory_bytes=7))
    cases = {"type": "stdio", "cases": [{"stdout": "1"}, {"stdout": "1"}]}
    result = await scored(Scripted(ScriptedSandbox(used)), scenario(scoring=cases))
    assert (result.duration_seconds, result.cpu_seconds, result.peak_memory_bytes) == (1.0, 0.4, 7)


async def test_time_is_shared_by_all_cases() -> None:
    """When the first cases have used it up, the rest does not run."""
    slow = exited(0, stdout=b"1", duration_seconds=6.0, usage=ResourceUsage(user_seconds=6.0))
    cases = {"type": "stdio", "cases": [{"stdout": "1"}] * 3}
    source = Scripted(ScriptedSandbox(slow))
    result = await scored(source, scenario(scoring=cases))
    assert (result.reason, result.checks_run, result.checks_planned) == (Reason.TIMEOUT, 2, 3)
    assert [request.timeout_seconds for request in source.made.requests] == [
        wall_limit(seconds) + SLACK_SECONDS for seconds in (9, 3)
    ]


async def test_a_lost_sandbox_is_raised() -> None:
    """The platform's failure is never a score."""
    lost = ScriptedSandbox(SandboxUnavailableError("lost"), Death(by_request=False, detail="gone"))
    for scoring in (TESTS, STDIO):
        with pytest.raises(SandboxUnavailableError):
            await scored(Scripted(lost), scenario(scoring=scoring))


async def test_a_sandbox_that_died_of_memory_is_the_programs_doing() -> None:
    """Its limit killed all of it: that is a result."""
    killed = ScriptedSandbox(SandboxUnavailableError("lost"), Death(by_request=False, memory=True))
    for scoring in (TESTS, STDIO):
        result = await scored(Scripted(killed), scenario(scoring=scoring))
        assert (result.score, result.reason, result.validity) == (0.0, Reason.MEMORY_LIMIT, Validity.VALID)


async def test_limits_in_which_no_interpreter_starts_are_the_contracts_fault() -> None:
    """An empty program dies of them, too: no verdict on the candidate."""
    lost, death = SandboxUnavailableError("lost"), Death(by_request=False, memory=True)
    for killed in (ScriptedSandbox(lost, death, starts=False), ScriptedSandbox(MEMORY, starts=False)):
        for scoring in (TESTS, STDIO):
            result = await scored(Scripted(killed), scenario(scoring=scoring))
            assert (result.score, result.reason, result.validity) == (None, Reason.SCORER_ERROR, Validity.INVALID)
            assert "raise `memory_mb`" in result.detail


async def test_a_program_that_used_memory_and_time_is_not_asked_about() -> None:
    """It has run: the limit is its own doing, and no further sandbox is made."""
    used = replace(MEMORY, usage=ResourceUsage(user_seconds=0.1))
    source = Scripted(ScriptedSandbox(used, starts=False))
    result = await scored(source, scenario(scoring=STDIO))
    assert (result.score, result.reason, len(source.specs)) == (0.0, Reason.MEMORY_LIMIT, 1)


@pytest.mark.parametrize("scoring", [TESTS, STDIO])
async def test_a_candidate_too_big_for_its_disk_is_no_platform_error(scoring: Any) -> None:
    """The same refusal for a small candidate is the host's disk."""
    full = Scripted(ScriptedSandbox(exited(0)))

    async def refuse(path: str, source: bytes) -> None:
        raise SandboxFileError("full", filepath=path, reason="NO_SPACE")

    full.made.write_file = refuse  # type: ignore[method-assign]
    limits = {"disk_mb": 1}
    beside = {"solution.py": "print(1)", "more.txt": "x" * 1_000_000}
    result = await scored(full, scenario({"files": beside}, scoring=scoring, limits=limits))
    assert (result.score, result.validity, result.reason) == (0.0, Validity.VALID, Reason.MEMORY_LIMIT)
    with pytest.raises(SandboxFileError):
        await scored(full, scenario({"files": {**beside, "more.txt": "x"}}, scoring=scoring, limits=limits))


@pytest.mark.parametrize("scoring", [TESTS, STDIO])
async def test_files_for_which_there_is_no_memory_are_no_platform_error(scoring: Any) -> None:
    """They count for the memory limit, and what is in the way is the candidate's, or is the candidate."""
    full = Scripted(ScriptedSandbox(exited(0)))

    async def refuse(path: str, source: bytes) -> None:
        raise SandboxFileError("larger than the memory; raise memory_mb", filepath=path, reason="NO_MEMORY")

    full.made.write_file = refuse  # type: ignore[method-assign]
    beside = {"solution.py": "print(1)", "more.txt": "x"}
    result = await scored(full, scenario({"files": beside}, scoring=scoring))
    assert (result.score, result.validity, result.reason) == (0.0, Validity.VALID, Reason.MEMORY_LIMIT)
    assert "raise memory_mb" in result.detail


async def test_memory_that_is_filled_by_what_a_candidate_leaves_is_its_doing() -> None:
    """Pages of files stay when their writer has ended; whoever comes next, be it a reader of ours, has no room."""
    filled = ScriptedSandbox(exited(0), Death(by_request=False, memory=True))

    async def die(path: str) -> None:
        raise SandboxNotRunningError("has ended: out of memory")

    filled.stat = die  # type: ignore[attr-defined]
    contract = {"type": "numeric", "target": 1, "source": {"file": "n.txt"}}
    both = {"type": "weighted", "parts": {"a": {"scoring": contract}, "b": {"scoring": contract}}}
    for scoring in (contract, both):
        result = await scored(Scripted(filled), scenario(scoring=scoring))
        assert (result.score, result.validity, result.reason) == (0.0, Validity.VALID, Reason.MEMORY_LIMIT)
        assert "what the candidate left fills the memory limit" in result.detail
    filled.death = Death(by_request=False, detail="lost")
    with pytest.raises(SandboxNotRunningError):
        await scored(Scripted(filled), scenario(scoring=contract))


@pytest.mark.parametrize("scoring", [TESTS, STDIO, {"type": "numeric", "target": 1}])
async def test_text_that_is_no_unicode_is_a_syntax_error(scoring: Any) -> None:
    """It cannot be a program: scored, in its place, and no sandbox is made."""
    source = Scripted(ScriptedSandbox(exited(0)))
    result = await scored(source, scenario("x = '\ud800'", scoring=scoring))
    assert (result.score, result.reason, result.validity) == (0.0, Reason.SYNTAX_ERROR, Validity.VALID)
    assert result.detail == "solution.py cannot be written as UTF-8: there are lone surrogates in it"
    assert len(result.evidence) == 64
    assert not source.specs


async def test_an_interpreter_that_does_not_start_is_raised() -> None:
    """Before the candidate's first line nothing can be its fault."""
    with pytest.raises(PlatformError, match="cannot run `python`"):
        await scored(Scripted(ScriptedSandbox(exited(127))), scenario())
    silent = exited(-9, outcome=ExecOutcome.CANCELLED)
    with pytest.raises(StarvedError):
        await scored(Scripted(ScriptedSandbox(silent)), scenario())


@pytest.mark.parametrize("scoring", [TESTS, STDIO])
async def test_no_image_is_blamed_where_no_process_is_left(scoring: Any) -> None:
    """The words of init, which no line of the candidate has preceded."""
    words = b"harena: cannot start a process: Resource temporarily unavailable\n"
    full = replace(exited(126), stderr=words)
    with pytest.raises(PlatformError, match="no process was left") as caught:
        await scored(Scripted(ScriptedSandbox(full, starts=False)), scenario(scoring=scoring))
    assert "image" not in str(caught.value)
    assert caught.value.step == "start the interpreter"


async def test_a_program_whose_time_is_over_is_slow() -> None:
    """However long its threads waited for a processor: whether the host starved it was told while it ran."""
    late: dict[str, Any] = {"outcome": ExecOutcome.TIMEOUT, "duration_seconds": 9.0, "run_delay_seconds": 8.9}
    slow = await scored(Scripted(ScriptedSandbox(exited(-9, **late))), scenario(scoring=STDIO))
    assert (slow.score, slow.reason) == (0.0, Reason.TIMEOUT)


async def test_a_job_may_demand_separate_trust() -> None:
    """Before anything runs."""
    source = Scripted(ScriptedSandbox(exited(0)))
    with pytest.raises(ValidationError, match="separate"):
        await scored(source, scenario(scoring={"type": "command", "command": ["true"]}), require_trust=Trust.SEPARATE)
    assert not source.specs
    assert (await scored(source, scenario(scoring=STDIO), require_trust=Trust.SEPARATE)).trust is Trust.SEPARATE


def test_after_the_last_retry_there_is_no_score() -> None:
    """The platform's failure is told apart from starvation, and neither is 0."""
    lost = infra_result(scenario(), PlatformError("no\nroom", step="create"), attempt=2, platform_retries=3)
    assert (lost.score, lost.validity, lost.reason) == (None, Validity.INFRA, Reason.PLATFORM_ERROR)
    assert (lost.attempt, lost.platform_retries, lost.detail) == (2, 3, "no room")
    assert infra_result(scenario(), StarvedError("late")).reason is Reason.STARVED
    fault = PlatformError(f"{tempfile.gettempdir()}/harena-work is full", step="create")
    assert infra_result(scenario(), fault).detail == "(a path of the server) is full"


async def test_evidence_depends_on_contract_candidate_and_observations() -> None:
    """And on nothing that varies between equal runs."""

    async def evidence(stdout: bytes = b"1", seconds: float = 0.1, **fields: Any) -> str:
        source = Scripted(ScriptedSandbox(exited(0, stdout=stdout, duration_seconds=seconds)))
        return (await scored(source, scenario(**{"scoring": STDIO, **fields}))).evidence

    reference = await evidence()
    assert await evidence(seconds=0.9) == reference
    others = [
        await evidence(stdout=b"2"),
        await evidence(candidate="print(1)"),
        await evidence(scoring={**STDIO, "comparison": "tokens"}),
        await evidence(problem={"files": {"a": "b"}}),
    ]
    assert len({reference, *others}) == 5


async def test_a_result_names_what_the_candidate_ran_in() -> None:
    """What its sandbox was made of; nothing where it was in none."""
    ran = await scored(Scripted(ScriptedSandbox(exited(0, stdout=b"1"))), scenario(scoring=STDIO))
    assert (ran.profile, ran.image_digest, ran.blueprint_digest) == ("machine", "sha256:1", "2")
    empty = await scored(Scripted(ScriptedSandbox(exited(0))), scenario(scoring=STDIO, candidate=""))
    assert (empty.profile, empty.image_digest, empty.blueprint_digest) == ("", "", "")


async def test_what_judges_has_no_network_whatever_the_candidate_may_reach() -> None:
    """Nor gateways: both are the candidate's alone, and its blueprint's unless the job says another one."""
    made = scenario(scoring=STDIO)
    for spec in (SandboxSpec(blueprint="bp"), SandboxSpec(network=OPEN_NETWORK)):
        bench = Bench(made, Scripted(ScriptedSandbox(exited(0))), spec, 10)
        assert bench.spec.network == spec.network
        for trusted in (bench.base_spec, bench.trusted_spec, bench.again().base_spec):
            assert (trusted.network, trusted.gateways) == (NO_NETWORK, ())
        assert bench.again().spec.network == bench.for_part(made.scoring).spec.network == spec.network


async def test_digests_name_what_was_run() -> None:
    """The candidate's files, and all else that decides a score; ids and results do not count."""

    async def digests(**fields: Any) -> tuple[str, str]:
        result = await scored(
            Scripted(ScriptedSandbox(exited(0, stdout=b"1"))), scenario(**{"scoring": STDIO, **fields})
        )
        return result.scenario_digest, result.candidate_digest

    reference = await digests()
    assert [len(digest) for digest in reference] == [64, 64]
    assert await digests(id="another") == reference
    other_candidate = await digests(candidate="print(1)")
    assert other_candidate[0] == reference[0]
    assert other_candidate[1] != reference[1]
    changed = [
        await digests(scoring={**STDIO, "comparison": "tokens"}),
        await digests(limits={"memory_mb": 100}),
        await digests(honeypot=True),
        await digests(problem={"files": {"a": "b"}}),
        await digests(problem={"statement": "Print 1."}),
    ]
    assert {candidate for _, candidate in changed} == {reference[1]}
    assert len({reference[0], *(named for named, _ in changed)}) == 6
