"""Running the candidate as a program in a sandbox: files in, one exec, what it did out."""

from __future__ import annotations

import asyncio
import errno
import os
import weakref
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import replace

from harena.core.checked import MOST_BYTES
from harena.core.errors import (
    HarenaError,
    PlatformError,
    SandboxError,
    SandboxFileError,
    SandboxTerminatedError,
    SandboxValidationError,
)
from harena.core.models import ExecOutcome, ExecRequest, ExecResult, SandboxSpec
from harena.core.network_policy import NO_NETWORK, NetworkPolicy
from harena.core.ports import RunningExec, SandboxPort, SandboxSource
from harena.scoring.contracts.parts import Contract, folders_of
from harena.scoring.places import is_of_image
from harena.scoring.scenario import Candidate, Scenario
from harena.scoring.scorers.fair_time import SLACK_SECONDS, Control, Pressure, Stopwatch, control_of, is_fed, run_within
from harena.scoring.scorers.languages import PYTHON, PYTHON3, Language, language_of, unknown_ending
from harena.scoring.scorers.time_limits import charged_seconds, wall_limit
from harena.scoring.scorers.watched_files import content_of
from harena.scoring.verdict import Meter, Share, StarvedError, one_line

WORKSPACE = "/workspace"
MAX_OUTPUT_FILE_BYTES = 4 * 1024 * 1024
_PAGE_BYTES = 4096
_MOST_KNOWN = 10_000
"""images whose interpreter's name is remembered"""


class MemoryFilledError(HarenaError):
    """The candidate's sandbox died at its memory limit after a program had ended, or had no room for a file: what is in
    there fills it."""


class MissingInterpreterError(HarenaError):
    """Nothing here runs the language of the candidate's entry, whoever the candidate is."""


class Deadline:
    """The time of everything that one process runs, however many questions it is asked."""

    def __init__(self, seconds: float) -> None:
        self.watch = Stopwatch(max(0.001, seconds))

    def left(self, most: float | None = None) -> float:
        """The limit of one question: `most`, where that is less than the whole."""
        whole = self.watch.limit_seconds
        return whole if most is None else min(whole, most)


class Bench:
    """One scenario at work: its sandboxes, its time, and what it has used so far."""

    def __init__(
        self,
        scenario: Scenario,
        sandboxes: SandboxSource,
        base_spec: SandboxSpec,
        timeout_seconds: float,
        *,
        alone: bool = False,
        demands_separate: bool = False,
        source: SandboxSource | None = None,
        trusted_spec: SandboxSpec | None = None,
        python: Language = PYTHON,
    ) -> None:
        self.demands_separate = demands_separate
        self.trusted_spec = with_network_alone(base_spec if trusted_spec is None else trusted_spec)
        """where harena's own programs run that need nothing of the candidate's image"""
        self.scenario = scenario
        self.sandboxes = sandboxes
        self.source = sandboxes if source is None else source
        """whose sandboxes they are, also while `blame` watches their creation: what is known of it is known of this"""
        self._place = base_spec
        self.base_spec = with_network_alone(base_spec, scenario.verifier_network)
        """where trusted programs run that need the candidate's image; what it may reach is the candidate's alone"""
        self.spec = replace(
            base_spec,
            limits=scenario.limits.applied_to(base_spec.limits),
            network=base_spec.network if scenario.network is None else scenario.network,
            gateways=base_spec.gateways if scenario.gateways is None else scenario.gateways,
        )
        self._most_seconds = timeout_seconds
        own = scenario.scoring.timeout_seconds or scenario.limits.timeout_seconds
        self.timeout_seconds = min(own, timeout_seconds) if own else timeout_seconds
        self.meter = Meter()
        self.python = python
        """what runs the candidate's Python programs, see `python_of`"""
        self.share = Share(alone=alone)
        self._charged_seconds = 0.0
        self._pressure = Pressure()
        self._used: weakref.WeakKeyDictionary[SandboxPort, float] = weakref.WeakKeyDictionary()
        """the processor time of each sandbox before its latest exec"""

    @property
    def control(self) -> Control:
        """The honest loop beside this candidate and its neighbours."""
        return control_of(self.source, self.trusted_spec)

    def files(self) -> dict[str, str]:
        """The candidate's files and the problem's over them."""
        return overlaid(self.scenario.candidate.files, self.scenario.files)

    @property
    def candidate_fills_the_disk(self) -> bool:
        """Its files alone, in whole pages, take at least nine tenths of what the sandbox may write."""
        sizes = (len(text.encode("utf-8", "surrogatepass")) for text in self.scenario.candidate.files.values())
        return sum(-(-size // _PAGE_BYTES) * _PAGE_BYTES for size in sizes) >= 0.9 * self.spec.limits.disk_bytes

    @property
    def seconds_left(self) -> float:
        """Rest of the time for everything that the candidate runs. Creating sandboxes does not count."""
        return max(0.0, self.timeout_seconds - self._charged_seconds)

    @property
    def charged_seconds(self) -> float:
        """Used part of the time for everything that the candidate runs."""
        return self._charged_seconds

    def charge_back(self, seconds: float) -> None:
        """What was used since `charged_seconds` was so many does not count: it is run again."""
        self._charged_seconds = seconds

    def used_before(self, sandbox: SandboxPort) -> float:
        """The processor time that a sandbox had used before its latest exec."""
        return self._used.get(sandbox, 0.0)

    def with_candidate(self, candidate: Candidate, *, files: Mapping[str, str]) -> Bench:
        """Make a bench of this scenario for another candidate; what that one uses is not metered here."""
        scenario = replace(self.scenario, candidate=candidate, files=files)
        return Bench(scenario, self.sandboxes, self._place, self._most_seconds, alone=self.share.alone,
                     demands_separate=self.demands_separate, source=self.source,
                     trusted_spec=self.trusted_spec, python=self.python)  # fmt: skip

    def again(self) -> Bench:
        """Make this bench anew, from the beginning and with all of its time."""
        return Bench(self.scenario, self.sandboxes, self._place, self._most_seconds, alone=self.share.alone,
                     demands_separate=self.demands_separate, source=self.source,
                     trusted_spec=self.trusted_spec, python=self.python)  # fmt: skip

    def with_files(self, candidate: Candidate, files: Mapping[str, str]) -> Bench:
        """Make a bench for the same run with other texts; what is used is metered in this one."""
        made = self.with_candidate(candidate, files=files)
        made.spec, made.timeout_seconds = self.spec, self.timeout_seconds
        made.meter, made.share = self.meter, self.share
        return made

    def for_part(self, part: Contract) -> Bench:
        """A bench for one part of the contract, with all of that part's own limit; what is used is metered in this one.
        Parts that shared a limit would score by their order."""
        own = part.timeout_seconds or self.scenario.scoring.timeout_seconds
        scenario = replace(self.scenario, scoring=part.model_copy(update={"timeout_seconds": own}))
        made = Bench(scenario, self.sandboxes, self._place, self._most_seconds, alone=self.share.alone,
                     demands_separate=self.demands_separate, source=self.source,
                     trusted_spec=self.trusted_spec, python=self.python)  # fmt: skip
        made.meter, made.share = self.meter, self.share
        return made

    @asynccontextmanager
    async def sandbox(
        self,
        *,
        hides_processes: bool = False,
        own_domains: bool = False,
        spec: SandboxSpec | None = None,
        runner_bytes: int = 0,
    ) -> AsyncIterator[SandboxPort]:
        """A fresh one for the candidate; `spec`: another one than its own; `runner_bytes`: memory of a trusted program
        that shares it, beside the candidate's limit. Raises MemoryFilledError where it dies at
        its memory limit, or a file is more than is left of it, whatever it was asked to do then: pages of files and of
        shared memory stay when the program that wrote them has ended."""
        spec = spec or replace(self.spec, hides_processes=hides_processes, own_domains=own_domains)
        async with AsyncExitStack() as stack:
            made = await self._opened(stack, spec, runner_bytes)
            self.meter.origin = made.origin
            try:
                yield made
            except SandboxTerminatedError:
                raise
            except SandboxError as error:
                if isinstance(error, SandboxFileError) and error.reason == "NO_MEMORY":
                    raise MemoryFilledError(str(error)) from error
                is_answer = isinstance(error, SandboxFileError) and error.reason != "IO_FAILED"
                if is_answer or not await died_of_memory(made):
                    raise
                raise MemoryFilledError("what the candidate left fills the memory limit") from error

    async def _opened(self, stack: AsyncExitStack, spec: SandboxSpec, runner_bytes: int) -> SandboxPort:
        own = spec.limits.memory_bytes
        if runner_bytes and own is not None:
            larger = replace(spec.limits, memory_bytes=min(own + runner_bytes, MOST_BYTES))
            with suppress(SandboxValidationError):  # more than a sandbox may have in this workspace: they share it then
                return await stack.enter_async_context(self.sandboxes.sandbox(replace(spec, limits=larger)))
        return await stack.enter_async_context(self.sandboxes.sandbox(spec))

    async def run_trusted(self, sandbox: SandboxPort, request: ExecRequest) -> ExecResult:
        """A program that is not the candidate's, within its own limit and not metered."""
        ours = Bench(self.scenario, self.sandboxes, self._place, self._most_seconds, alone=self.share.alone,
                     source=self.source, trusted_spec=self.trusted_spec, python=self.python)  # fmt: skip
        return await ours.run(sandbox, request)

    async def run(self, sandbox: SandboxPort, request: ExecRequest) -> ExecResult:
        """One exec from start to end, metered. Its limit is kept as `time_limits` says. Raises StarvedError where
        the host kept the candidate from using it."""
        if request.timeout_seconds is None:
            return await self.finish(sandbox, await sandbox.exec(request))
        used_before = (await sandbox.processor_time()).used_seconds if sandbox in self._used else 0.0
        self._used[sandbox] = used_before
        watch = Stopwatch(request.timeout_seconds, used_before=used_before)
        last = wall_limit(request.timeout_seconds) + SLACK_SECONDS
        running = await sandbox.exec(replace(request, timeout_seconds=last))
        over = await self._is_over(running, sandbox, watch)
        charged = self._charged_seconds
        result = await self.finish(sandbox, running, over=over)
        if over:  # on a host under pressure, too, where less is charged of what ends in time
            self._charged_seconds = max(self._charged_seconds, charged + request.timeout_seconds)
        if result.outcome is ExecOutcome.TIMEOUT and not over and result.duration_seconds >= last:
            raise StarvedError(f"this node was stopped or stuck, and the program ran for {last:.0f} s meanwhile")
        return result

    async def _is_over(self, running: RunningExec, sandbox: SandboxPort, watch: Stopwatch) -> bool:
        """Wait for its end; whether its time was over first. Raises StarvedError."""
        try:
            return await run_within(running, sandbox, watch, lambda: self.control) is None
        except StarvedError:
            if not await self.blames_candidate():
                raise
            return True
        except (SandboxError, PlatformError):
            return False  # `finish` meets it again and says what it means

    async def blames_candidate(self) -> bool:
        """Whether it is the candidate's own doing that it, and the control beside it, were found starved. It has been
        starved before, nothing else of its job runs, and an honest loop is fed as soon as it has gone."""
        return self.share.alone and await is_fed(self.control)

    async def finish(self, sandbox: SandboxPort, running: RunningExec, *, over: bool = False) -> ExecResult:
        """Its result, metered. A sandbox that died at its memory limit is the program's doing, and so a result; so is
        whatever keeps a program from being ended whose time is `over`."""
        try:
            result = await running.wait()
        except SandboxTerminatedError:
            raise
        except (SandboxError, PlatformError):
            by_memory = await died_of_memory(sandbox)
            if not by_memory and not over:
                raise
            outcome = ExecOutcome.MEMORY if by_memory else ExecOutcome.TIMEOUT
            result = ExecResult(outcome=outcome, returncode=-9, stdout=b"", stderr=b"")
        if over and result.outcome is not ExecOutcome.MEMORY:
            result = replace(result, outcome=ExecOutcome.TIMEOUT, returncode=-9)
        self.meter.add(result)
        self._charged_seconds += charged_seconds(
            wall_seconds=result.duration_seconds,
            cpu_seconds=result.usage.cpu_seconds,
            pressed=self._pressure.is_high(),
        )
        self._pressure = Pressure()
        return result


def with_network_alone(spec: SandboxSpec, network: NetworkPolicy = NO_NETWORK) -> SandboxSpec:
    """The sandbox with this network alone, and without gateways, whatever its blueprint says."""
    if spec.blueprint is None and spec.policy == network and not spec.gateways:
        return spec
    return replace(spec, network=network, gateways=())


async def died_of_memory(sandbox: SandboxPort) -> bool:
    """Whether the sandbox is dead because it met its memory limit."""
    try:
        async with asyncio.timeout(1.0):
            return (await sandbox.wait_dead()).memory
    except TimeoutError:
        return False


async def starts(bench: Bench) -> bool:
    """Whether an empty program runs to its end in a fresh sandbox under the scenario's limits. It is not metered."""
    async with bench.sandboxes.sandbox(bench.spec) as sandbox:
        running = await sandbox.exec(ExecRequest(argv=bench.python.does_nothing, cwd="/", timeout_seconds=30))
        try:
            return (await running.wait()).outcome is not ExecOutcome.MEMORY
        except SandboxTerminatedError:
            raise
        except (SandboxError, PlatformError):
            if not await died_of_memory(sandbox):
                raise
            return False


def overlaid(theirs: Mapping[str, str], ours: Mapping[str, str]) -> dict[str, str]:
    """The candidate's files, and trusted ones over them: none is kept that a trusted one replaces, or needs the place
    of, be it as its folder or as what it holds."""
    folders = folders_of(ours)
    taken = folders_of(theirs) & ours.keys()
    kept = {
        path: text
        for path, text in theirs.items()
        if path not in folders and (not taken or taken.isdisjoint(folders_of([path])))
    }
    return {**kept, **ours}


async def put_files(sandbox: SandboxPort, files: Mapping[str, str]) -> None:
    """Write text files below the working directory."""
    for path, text in files.items():
        await sandbox.write_file(f"{WORKSPACE}/{path}", text.encode("utf-8", "surrogatepass"))


async def run_candidate(
    bench: Bench, sandbox: SandboxPort, *, args: tuple[str, ...], stdin: str, timeout_seconds: float
) -> ExecResult:
    """`python ENTRY ARGS` in the working directory, or what else runs the entry's language. Raises PlatformError where
    there is no Python, MissingInterpreterError where there is no other interpreter."""
    candidate = bench.scenario.candidate
    if (wrong := unknown_ending(candidate.entry)) is not None:
        raise MissingInterpreterError(wrong)
    language = language_of(candidate.entry, candidate.source)
    language = bench.python if language is PYTHON else language
    result = await bench.run(
        sandbox,
        ExecRequest(
            argv=(language.interpreter, candidate.entry, *args),
            cwd=WORKSPACE,
            stdin=stdin.encode("utf-8", "surrogatepass"),
            timeout_seconds=timeout_seconds,
        ),
    )
    exited = result.outcome is ExecOutcome.EXITED
    is_image = is_of_image(bench.spec)
    if (exited and result.returncode in (126, 127)) or (
        is_image and result.returncode and not _starts(bench, language)
    ):
        await _require_interpreter(bench, language)
    return result


_pythons: weakref.WeakKeyDictionary[SandboxSource, dict[tuple[str, str | None], Language]] = weakref.WeakKeyDictionary()
"""what runs Python programs, by image and blueprint"""


async def python_of(bench: Bench) -> Language:
    """`python`, or `python3` where the image has that name alone. Asked once for each image, in a sandbox in which no
    candidate has been; what else may be wrong with an interpreter is told when a program is run by it."""
    known = _pythons.setdefault(bench.source, {})
    place = (bench.spec.image, bench.spec.blueprint)
    if (found := known.get(place)) is not None:
        return found
    found = PYTHON
    async with bench.sandboxes.sandbox(bench.spec) as fresh:
        first = await _does_nothing(fresh, PYTHON)
        if first.outcome is not ExecOutcome.EXITED:  # the host is busy, or the limits are too small
            return PYTHON
        if first.returncode in (126, 127):
            second = await _does_nothing(fresh, PYTHON3)
            if second.outcome is ExecOutcome.EXITED and second.returncode == 0:
                found = PYTHON3
    if len(known) >= _MOST_KNOWN:
        known.pop(next(iter(known)))
    known[place] = found
    return found


async def _does_nothing(sandbox: SandboxPort, language: Language) -> ExecResult:
    running = await sandbox.exec(ExecRequest(argv=language.does_nothing, cwd="/", timeout_seconds=30))
    return await running.wait()


_started: weakref.WeakKeyDictionary[SandboxSource, set[tuple[str, str | None, str]]] = weakref.WeakKeyDictionary()
"""interpreters that were seen to run an empty program, by image, blueprint and name"""


def _starts(bench: Bench, language: Language) -> bool:
    """It was seen to start in this image."""
    seen = _started.get(bench.source, set())
    return (bench.spec.image, bench.spec.blueprint, language.interpreter) in seen


NO_PYTHON = (
    "choose an image with a `python` or `python3` on PATH, as python:3.12-slim; one of Debian gets it by "
    "`packages: {system: [python3]}` of a blueprint"
)


_NO_PROCESS = f"cannot start a process: {os.strerror(errno.EAGAIN)}".encode()
"""what init says of a program that it was not given a process for"""


def not_started(spec: SandboxSpec, result: ExecResult, *, code: bool = False) -> PlatformError:
    """What is said of an interpreter that has not started in a sandbox of this spec; `code`: with how it has ended."""
    words = one_line(result.stderr[-300:].decode(errors="replace"))
    step = "start the interpreter"
    if _NO_PROCESS in result.stderr:  # whatever image it is
        advice = "run fewer sandboxes at a time, or raise pids of this one"
        return PlatformError(f"no process was left to run `python` with: {words}; {advice}", step=step)
    how = f" (code {result.returncode})" if code else ""
    advice = f"; {NO_PYTHON}" if not code or result.returncode in (126, 127) else ""
    return PlatformError(f"image {spec.image!r} cannot run `python`{how}: {words}{advice}", step=step)


async def _require_interpreter(bench: Bench, language: Language) -> None:
    """A program may exit with these codes, too; an image that cannot run an empty program is broken. Asked in a fresh
    sandbox: in the candidate's own, what it left (a usercustomize.py) could answer for every interpreter."""
    async with bench.sandboxes.sandbox(bench.spec) as fresh:
        probe = await _does_nothing(fresh, language)
    runs = probe.outcome is ExecOutcome.EXITED and probe.returncode == 0
    if runs:
        seen = _started.setdefault(bench.source, set())
        seen.add((bench.spec.image, bench.spec.blueprint, language.interpreter))
    # what an image calls by this name may be no interpreter, or one that does not start there
    is_broken = is_of_image(bench.spec) and probe.outcome in (ExecOutcome.EXITED, ExecOutcome.SIGNALED) and not runs
    if not is_broken and (probe.outcome is not ExecOutcome.EXITED or probe.returncode not in (126, 127)):
        return
    if language not in (PYTHON, PYTHON3):
        raise MissingInterpreterError(
            f"the image has no `{language.interpreter}` to run {bench.scenario.candidate.entry} with; "
            "add it to the blueprint, or choose an image that has it"
        )
    raise not_started(bench.spec, probe)


async def output_file(sandbox: SandboxPort, path: str) -> str | None:
    """The text of a regular file that the candidate may have written; None if there is none that can be read."""
    full_path = f"{WORKSPACE}/{path}"
    try:
        if (await sandbox.stat(full_path)).kind != "file":
            return None
    except SandboxFileError:
        return None
    written = await content_of(sandbox, full_path, max_bytes=MAX_OUTPUT_FILE_BYTES)
    return None if written is None else written.decode("utf-8", "replace")
