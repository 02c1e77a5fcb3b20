"""What a trusted suite does without any candidate, and what it skips only because of one.

A suite that does not pass may be broken for everybody, and a test that is skipped may be skipped for everybody. Neither
is believed of a run with a candidate: the same suite is run once with nobody in its place (`guest_absent_candidate`),
and what that shows is remembered for all candidates.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
import secrets
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from harena.core.models import ExecOutcome, ExecRequest
from harena.scoring.contracts.contract import CommandContract, HarborContract
from harena.scoring.digests import digest_of
from harena.scoring.guest.missing_modules import AS_IT_IS, DENYING, GRANTING, GRANTING_MORE
from harena.scoring.guest.suite_protocol import COMPARES_NOTHING, NO_PYTEST, NOWHERE
from harena.scoring.scorers.program import WORKSPACE, Bench, put_files
from harena.scoring.scorers.public_packages import PUBLIC_PACKAGES
from harena.scoring.scorers.suite_apart import NOTHING_TOLD, Report, parsed_report
from harena.scoring.scorers.suite_settings import python_paths
from harena.scoring.scorers.suite_skips import settled_skips
from harena.scoring.scorers.time_limits import wall_limit
from harena.scoring.scorers.trusted_names import steers
from harena.scoring.scorers.trusted_suite import (
    ENVIRONMENT,
    LIST_IT,
    imported_paths,
    suite_argv,
    taking_part,
    trusted_paths,
)
from harena.scoring.scorers.watched_sandboxes import LACKED_PROCESSES, Creations
from harena.scoring.slices import LETTERS, aside, size_of
from harena.scoring.verdict import StarvedError

_MOST_REMEMBERED = 1024
_MOST_STUBS = 100
_NO_PYTEST = "the image has no pytest; add it to the blueprint's packages"
_FILE = re.compile(r"(?<![\w/-])[\w/-]++\.py\b|(?<=[\"'])[\w-][\w/-]*+\.\w{1,8}(?=[\"'])")
_LONGEST_NAME = 1024
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Nobody:
    """What a suite does without any candidate."""

    broken: str = ""
    told: Report = NOTHING_TOLD
    brings: bool = False
    """whether it breaks only where nobody brings the modules that it imports and that are not there"""


@dataclass(frozen=True, slots=True)
class TestCounts:
    """How often each test function is there with nobody as the candidate, run or excused."""

    granted: Mapping[str, int]
    more: Mapping[str, int]
    """where one more name is listed than the suite has words"""
    denied: Mapping[str, int]
    read: tuple[str, ...]
    unread: tuple[str, ...]
    """files that failed as they were read, so that their tests are unknown"""


@dataclass(frozen=True, slots=True)
class Norm:
    """What a suite runs if nothing of it is skipped because of the candidate."""

    may_skip: frozenset[str]
    functions: frozenset[str]
    """the tests, without their parameters, that are run"""
    is_of_gold: bool = False
    counts: Mapping[str, int] = field(default_factory=dict)
    """how often the gold solution has each test function"""
    shown: TestCounts | None = None
    hollow: Mapping[str, int] = field(default_factory=dict)
    """how often the gold solution's tests compared nothing, by place"""
    judged: frozenset[str] = frozenset()
    """the tests that executed a judgement of the gold solution"""
    unsettled: str = ""
    """why what may be skipped may be skipped because of the candidate all the same"""


class _Asking:
    """Callers that ask the same at one time."""

    def __init__(self) -> None:
        self.turn = asyncio.Lock()
        self.count = 0


class Remembered:
    """Answers that are the same for every candidate, asked for once at a time."""

    def __init__(self) -> None:
        self._known: OrderedDict[Hashable, Any] = OrderedDict()
        self._asking: dict[Hashable, _Asking] = {}

    async def get(self, bench: Bench, key: Hashable, ask: Callable[[], Awaitable[_T]], *, best: Any = None) -> _T:
        """The answer. `ask` makes its sandboxes by this bench. What raises is not remembered, nor is what the platform
        may have spoiled: it would be believed of every candidate for as long as this process lives. `best`: an answer
        that is believed also where a program was refused a process, because it did without. Raises StarvedError where
        that may be why it is another."""
        key = (id(asyncio.get_running_loop()), key)
        asking = self._asking.setdefault(key, _Asking())
        asking.count += 1
        try:
            async with asking.turn:
                if key not in self._known:
                    answer = await _asked_of(bench, ask, best)
                    self._known[key] = answer
                    while len(self._known) > _MOST_REMEMBERED:
                        self._known.popitem(last=False)
                    return answer
                found: _T = self._known[key]
                return found
        finally:
            asking.count -= 1
            if not asking.count:
                del self._asking[key]

    def known(self, key: Hashable) -> Any:
        """The answer if it is there, else None."""
        return self._known.get((id(asyncio.get_running_loop()), key))


async def _asked_of(bench: Bench, ask: Callable[[], Awaitable[_T]], best: Any) -> _T:
    watched = Creations(bench.sandboxes)
    bench.sandboxes = watched
    try:
        answer = await ask()
    finally:
        bench.sandboxes = watched.source
    if (best is None or answer != best) and await watched.lacked_processes():
        raise StarvedError(LACKED_PROCESSES)
    return answer


_nobodies = Remembered()
_norms = Remembered()


async def suite_key(bench: Bench, contract: CommandContract | HarborContract, *more: Hashable) -> Hashable:
    """What one suite is known by, whoever the candidate is."""
    files = dict(bench.scenario.files)
    named = [contract.fingerprint, files, bench.scenario.candidate.entry]
    digest = await aside(size_of(files) // LETTERS, digest_of, named)
    others = hashlib.sha256(repr(more).encode("utf-8", "surrogatepass")).hexdigest()  # names of files are among them
    return digest, repr(bench.base_spec), repr(bench.spec), bench.timeout_seconds, others


def norm_of_report(report: Report) -> Norm:
    """What a right candidate skips, anybody may skip."""
    return Norm(
        frozenset(report.excused),
        _functions(report),
        is_of_gold=True,
        counts=report.counts,
        hollow=report.hollow,
        judged=frozenset(report.judged),
    )


def compared_nothing(candidate: Report, norm: Norm | None) -> str:
    """A judgement of which nothing was compared, where the gold solution's has something; empty if there is none.
    Without a gold solution it is one that only an empty answer of the candidate's explains."""
    allowed = norm.hollow if norm is not None else {}
    for place, count in (candidate.unexplained if norm is None else candidate.hollow).items():
        if count > allowed.get(place, 0):
            return f"{place} {COMPARES_NOTHING}"
    excused = {name.partition("[")[0].replace("::", ".") for name in candidate.excused}
    judged = norm.judged if norm is not None else frozenset()
    for test in candidate.silent:
        if test in judged and not any(f".{name}".endswith(f".{test}") for name in excused):
            return f"{test} executed no assertion, and does for the gold solution"
    return ""


async def norm_of_nobody(
    bench: Bench, contract: CommandContract, *, sees_files: bool, counts: bool, skips: bool
) -> Norm:
    """What may be skipped whoever the candidate is: what is skipped where everything that it could bring is there, and
    is not run where only what must be there is, nor (`skips`: the candidate's run skips something) where answers are
    mixed, see `suite_skips`. `sees_files`: the suite may look at the candidate's files. `counts`: which tests there
    are depends on the candidate."""
    theirs = tuple(sorted(await taking_part(bench, contract)))
    trusted = {**bench.scenario.files, **contract.files}
    size = size_of(trusted)
    files = await aside(size, _files_named, trusted) if sees_files else ()
    anything = sorted({*theirs, *await aside(size, _candidates_paths, contract, trusted)})
    certain = await aside(size, _certain_paths, contract, trusted)

    async def granting(answers: Mapping[str, bool]) -> Report:
        return (await _run_without(bench, contract, anything, GRANTING, files, answers)).told

    async def denying(answers: Mapping[str, bool]) -> Report:
        return (await _run_without(bench, contract, certain, DENYING, (), answers)).told

    async def ends() -> tuple[Report, Report]:
        return await granting({}), await denying({})

    async def settled() -> tuple[frozenset[str], str]:
        granted, denied = both
        run = {*granted.ran, *granted.read, *denied.ran, *denied.read}
        may_skip = frozenset(granted.excused) - run
        return await settled_skips(may_skip, ((granted, granting), (denied, denying)))

    both = await _norms.get(bench, await suite_key(bench, contract, "ends", files, theirs), ends)

    async def found() -> Norm:
        granted, denied = both
        run = {*granted.ran, *granted.read, *denied.ran, *denied.read}
        norm = Norm(frozenset(granted.excused) - run, _functions(granted))
        if not counts:
            return norm
        more = (await _run_without(bench, contract, anything, GRANTING_MORE, files)).told
        unread = tuple({*granted.unread, *more.unread, *denied.unread})
        shown = TestCounts(granted.counts, more.counts, denied.counts, granted.read, unread)
        return replace(norm, shown=shown)

    norm = await _norms.get(bench, await suite_key(bench, contract, "norm", files, counts, theirs), found)
    if not skips:
        return norm
    may_skip, why = await _norms.get(bench, await suite_key(bench, contract, "skips", files, theirs), settled)
    return replace(norm, may_skip=may_skip, unsettled=why)


def skipped_because_of(candidate: Report, norm: Norm, otherwise: frozenset[str] = frozenset()) -> str:
    """A test that is not run because of the candidate; empty if there is none. `otherwise`: tests of which the suite's
    text says more than such runs."""
    if more := frozenset(candidate.excused) - norm.may_skip - otherwise:
        hint = "" if norm.is_of_gold else " (only a `gold` solution tells that a right candidate skips it)"
        hint = f" (a module that is not there is the candidate's to bring; {LIST_IT})" if candidate.sought else hint
        return f"skipped, which it is not by itself: {min(more)[:300]}{hint}"
    ran = _functions(candidate)
    if not ran:  # there are too many to be told
        return ""
    missing = norm.functions - ran
    if norm.is_of_gold:
        return f"not run, and the gold solution runs it: {min(missing)}" if missing else ""
    missing -= {_function(name) for name in candidate.excused}
    if candidate.sought and missing:
        return f"not there, because a module is missing that the candidate may bring: {min(missing)}"
    return ""


def unsettled_skip(candidate: Report, norm: Norm) -> str:
    """Why it cannot be told whether a test is skipped because of the candidate; empty if it can."""
    if not norm.unsettled or not candidate.excused:
        return ""
    skipped = min(candidate.excused)[:300]
    return f"{skipped} is skipped, and the candidate may be why, as far as runs without it show: {norm.unsettled}"


def fewer_than_gold(candidate: Report, norm: Norm) -> str:
    """A test function that has fewer sets of parameters than with the gold solution; empty if there is none. Which they
    are may differ: they may be the candidate's own."""
    for test, count in sorted(norm.counts.items()):
        if candidate.counts and candidate.counts.get(test, 0) < count:
            return f"{test} is there {candidate.counts.get(test, 0)} times, and {count} times with the gold solution"
    return ""


def _functions(report: Report) -> frozenset[str]:
    return frozenset(map(_function, report.ran))


def _function(test: str) -> str:
    return test.partition("[")[0]


def _certain_paths(contract: CommandContract, trusted: dict[str, str]) -> tuple[str, ...]:
    return imported_paths(contract, trusted, is_certain=True)


def _candidates_paths(contract: CommandContract, trusted: dict[str, str]) -> tuple[str, ...]:
    """Files of modules that a candidate could be asked for. A well-known package is the image's to bring, unless a
    trusted file is named after it (test_toml.py): for every honest candidate the suite would break without it."""
    named = " ".join(trusted)
    images = {package for package in PUBLIC_PACKAGES if package not in named}
    paths = imported_paths(contract, trusted)
    return tuple(path for path in paths if path.removesuffix(".py").partition("/")[0] not in images)


def _files_named(trusted: dict[str, str]) -> tuple[str, ...]:
    """Files that the trusted ones may look for."""
    named = {name.lstrip("/-") for text in trusted.values() for name in _FILE.findall(text)}
    found = {name for name in named if len(name) <= _LONGEST_NAME and name[0] != "."}
    folders = {"/".join(name.split("/")[:count]) for name in found for count in range(1, name.count("/") + 1)}
    return tuple(sorted(name for name in found - set(trusted) - folders if not steers(name))[:_MOST_STUBS])


async def nobody_of(bench: Bench, contract: CommandContract) -> Nobody:
    """What the suite does without any candidate, asked for once."""
    theirs = tuple(sorted(await taking_part(bench, contract)))
    return await _nobodies.get(
        bench, await suite_key(bench, contract, theirs), lambda: _nobody_at_all(bench, contract, theirs)
    )


async def _nobody_at_all(bench: Bench, contract: CommandContract, theirs: tuple[str, ...]) -> Nobody:
    """Where the suite breaks, it is run once more with nothing of this candidate's: with every module that it imports,
    that is not there and that a candidate could bring. Else one could leave its module out, or bring one by which the
    suite breaks."""
    nobody = await _run_without(bench, contract, theirs)
    if not nobody.broken or nobody.broken == _NO_PYTEST:
        return nobody
    trusted = {**bench.scenario.files, **contract.files}
    imported = await aside(size_of(trusted), _candidates_paths, contract, trusted)
    again = await _run_without(bench, contract, imported)
    return nobody if again.broken else Nobody("", nobody.told, brings=True)


async def _run_without(
    bench: Bench,
    contract: CommandContract,
    theirs: Iterable[str],
    stance: str = AS_IT_IS,
    files: Iterable[str] = (),
    answers: Mapping[str, bool] | None = None,
) -> Nobody:
    trusted = {**bench.scenario.files, **contract.files}
    ours = trusted_paths(contract, bench.scenario.files)
    word = secrets.token_hex(16)
    async with bench.sandboxes.sandbox(bench.base_spec) as sandbox:
        await put_files(sandbox, {**dict.fromkeys(files, ""), **trusted})
        request = ExecRequest(
            argv=suite_argv(
                contract,
                ours,
                [path for path in theirs if path not in ours],
                NOWHERE,
                stance=stance,
                answers=answers,
                searched=python_paths(contract, bench.scenario.files),
            ),
            env={**ENVIRONMENT, **contract.env},
            cwd=WORKSPACE,
            stdin=word.encode() + b"\n",
            timeout_seconds=wall_limit(contract.scorer_timeout_seconds) + 5.0,
        )
        result = await (await sandbox.exec(request)).wait()
    if result.outcome is ExecOutcome.EXITED and result.returncode == NO_PYTEST:
        return Nobody(_NO_PYTEST)
    marker = f"harena-report {word} ".encode()
    found = result.stdout.find(marker)
    if found < 0:
        # it hangs, or ends, without a report: that no candidate can change it, the caller finds out by itself
        return Nobody()
    size = int(result.stdout[found - 8 : found], 16)  # nothing of a candidate is there
    report = await aside(size, parsed_report, result.stdout[found : found + size], word)
    return Nobody(report.broken, report)
