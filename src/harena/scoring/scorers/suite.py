"""Suites of tests over a candidate's modules: the `command` contract with `pytest` or `unittest`.

How the candidate is kept apart is the contract's to say. With `isolate: auto` it has a sandbox of its own, unless the
contract's gold solution is not paid like that: then the strongest way in which it is paid is taken, and the result states
the trust. Where there is no gold, a suite that cannot be served like that ends without a score.

A suite that does not pass may be broken for everybody. That is never believed of the run itself: the same suite is run
once without any candidate (`guest_nobody`), and a test that fails there before it has asked for one fails for all.
"""  # noqa: E501

from __future__ import annotations

import asyncio
import secrets
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable, Iterable
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeVar, cast

from harena.core.models import ExecOutcome, ExecRequest
from harena.core.results import Reason, Trust
from harena.scoring.contracts.contract import CommandContract
from harena.scoring.digests import digest_of
from harena.scoring.guest import pytest as guest_pytest
from harena.scoring.guest.suite import NOWHERE
from harena.scoring.scenario import Candidate
from harena.scoring.scorers.program import WORKSPACE, Bench, put_files
from harena.scoring.scorers.suite_apart import Attempt, parsed_report, score_apart
from harena.scoring.scorers.suite_beside import score_beside
from harena.scoring.scorers.time_limits import wall_limit
from harena.scoring.scorers.trusted_suite import (
    ENVIRONMENT,
    LIST_IT,
    imported_paths,
    missing_modules,
    suite_argv,
    taking_part,
    trusted_paths,
    withheld_files,
)
from harena.scoring.verdict import Verdict, broken_contract, failed, one_line

Mode = Literal["sandbox", True, False]
_MODES: tuple[Mode, ...] = ("sandbox", True, False)
_MOST_REMEMBERED = 1024
_ADVICE = (
    "give the contract a `gold` solution, by which a weaker isolation is chosen, or set `isolate: false`; see the "
    "reference of `command`"
)
_SHARE_IT = "put it into the problem's `files` if candidates shall import it"
_NO_PYTEST = "the image has no pytest; add it to the blueprint's packages"
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Nobody:
    """What a suite does without any candidate."""

    broken: str = ""
    excused: frozenset[str] = frozenset()
    brings: bool = False
    """whether it breaks only where nobody brings the modules that it imports and that are not there"""


class _Remembered:
    """Answers that are the same for every candidate, asked for once at a time."""

    def __init__(self) -> None:
        self._known: OrderedDict[Hashable, Any] = OrderedDict()
        self._locks: dict[Hashable, asyncio.Lock] = {}

    async def get(self, key: Hashable, ask: Callable[[], Awaitable[_T]]) -> _T:
        """The answer. What raises is not remembered."""
        key = (id(asyncio.get_running_loop()), key)
        async with self._locks.setdefault(key, asyncio.Lock()):
            if key not in self._known:
                self._known[key] = await ask()
                while len(self._known) > _MOST_REMEMBERED:
                    self._locks.pop(self._known.popitem(last=False)[0], None)
            found: _T = self._known[key]
            return found

    def known(self, key: Hashable) -> Any:
        """The answer if it is there, else None."""
        return self._known.get((id(asyncio.get_running_loop()), key))


_nobodies = _Remembered()
_modes = _Remembered()


def _key(bench: Bench, contract: CommandContract, *more: Hashable) -> Hashable:
    files = digest_of([contract.fingerprint, dict(bench.scenario.files), bench.scenario.candidate.entry])
    return files, repr(bench.base_spec), repr(bench.spec), bench.timeout_seconds, *more


async def score_suite(bench: Bench, contract: CommandContract) -> Verdict:
    """One suite over one candidate. Raises PlatformError and SandboxError for what is nobody's doing."""
    if contract.isolate != "auto":
        verdict, _ = await _scored(bench, contract, contract.isolate)
        return verdict
    if not contract.gold:
        verdict, unserved = await _scored(bench, contract, "sandbox")
        if verdict.passed:
            return await _without_doubt(bench, contract, verdict, unserved)
        if unserved:
            return await _unserved_verdict(bench, contract, unserved)
        lacking = await _lacks_trusted_files(bench, contract, verdict)
        return broken_contract(_unserved(lacking)) if lacking else verdict
    key = _key(bench, contract)
    if _modes.known(key) is None:
        verdict, doubt = await _scored(bench, contract, "sandbox")
        if verdict.passed:
            return await _without_doubt(bench, contract, verdict, doubt)
    found = await _modes.get(key, lambda: _strongest(bench, contract))
    if isinstance(found, str) and found != "sandbox":
        return broken_contract(f"the gold solution is not paid: {found}")
    if found != "sandbox" and bench.demands_separate:
        return broken_contract("the gold solution is paid only beside the suite, and this job demands trust `separate`")
    verdict, doubt = await _scored(bench, contract, cast(Mode, found), pays_gold=True)
    if verdict.passed and found == "sandbox":
        return await _without_doubt(bench, contract, verdict, doubt)
    return replace(verdict, trust=Trust.SEPARATE if found == "sandbox" else Trust.SHARED)


async def _lacks_trusted_files(bench: Bench, contract: CommandContract, verdict: Verdict) -> str:
    """Why nothing is known of a candidate that imports what is withheld from it: it passes with these files, which may
    tell it the answers. One that does not pass even so has failed."""
    if verdict.score != 0.0:
        return ""
    withheld = withheld_files(contract, await taking_part(bench, contract))
    if not withheld or not (await score_apart(bench, contract, withheld)).verdict.passed:
        return ""
    return (
        f"the candidate imports {', '.join(withheld)}, which it is not given because it may hold answers; {_SHARE_IT}"
    )


async def _unserved_verdict(bench: Bench, contract: CommandContract, unserved: str) -> Verdict:
    """The verdict where stand-ins could not serve a suite. What a suite does may depend on what the candidate gave it
    (an object to pickle in the place of a number), so this excuses only who passes in the suite's own process: whoever
    fails there, too, is wrong. Nobody is paid for passing there."""
    beside, _ = await _scored(bench.again(), contract, False)
    if beside.score is None or beside.passed:
        return broken_contract(_unserved(unserved))
    return beside


async def _without_doubt(bench: Bench, contract: CommandContract, verdict: Verdict, doubt: str) -> Verdict:
    """The verdict on a candidate that passes apart. Where the suite did what cannot be served, a pass may say nothing
    (that nobody slept, or logged): it is believed of who passes in the suite's own process, too, with that trust."""
    if not doubt:
        return verdict
    beside, _ = await _scored(bench.again(), contract, False)
    if beside.passed and not bench.demands_separate:
        return beside
    if beside.score is None or beside.passed:
        return broken_contract(_unserved(doubt))
    if (
        contract.gold
        and not (
            await _modes.get(_key(bench, contract, "beside"), lambda: _gold_verdict(bench, contract, False))
        ).passed
    ):
        return broken_contract(_unserved(f"{doubt}; and the gold solution is not paid in the suite's own process"))
    return beside


def _unserved(what: str) -> str:
    return one_line(f"the suite cannot be run with the candidate in a sandbox of its own: {what}; {_ADVICE}", 600)


def _touched(contract: CommandContract, theirs: Iterable[str]) -> str:
    """The first file of the candidate's that a trusted file names as one: to read it, or to run it."""
    texts = [text for path, text in contract.files.items() if path.endswith(".py")]
    for path in sorted(theirs):
        name = path.rpartition("/")[2]
        if any(name in text or f"{name.removesuffix('.py')}.__file__" in text for text in texts):
            return path
    return ""


async def _gold_verdict(bench: Bench, contract: CommandContract, mode: Mode) -> Verdict:
    entry = bench.scenario.candidate.entry
    files = dict(contract.gold)
    gold = Candidate(files=files, entry=entry if entry in files else next(iter(files)))
    verdict, _ = await _scored(bench.with_candidate(gold, files=bench.scenario.files), contract, mode)
    return verdict


async def _strongest(bench: Bench, contract: CommandContract) -> Mode | str:
    """The strongest isolation in which the gold solution is paid; else why it is not."""
    why = ""
    for mode in _MODES:
        verdict = await _gold_verdict(bench, contract, mode)
        if verdict.passed:
            return mode
        why = why or verdict.detail or str(verdict.reason)
    return f"in no isolation ({why})"


async def _scored(
    bench: Bench, contract: CommandContract, mode: Mode, *, pays_gold: bool = False
) -> tuple[Verdict, str]:
    """(the verdict, what of the suite cannot be served if that is why nothing is known of the candidate). `pays_gold`:
    the gold solution is paid like this, so that the suite is not broken: a module that is missing is the candidate's to
    bring."""
    attempt = await (score_apart(bench, contract) if mode == "sandbox" else score_beside(bench, contract, mode))
    verdict = replace(attempt.verdict, trust=Trust.SEPARATE if mode == "sandbox" else Trust.SHARED)
    if verdict.passed:
        verdict = await _without_excuses(bench, contract, attempt, verdict)
        return verdict, attempt.unserved if verdict.passed else ""
    if verdict.score is None or pays_gold:
        return verdict, ""
    if (missing := await missing_modules(bench, contract)) is not None:
        return broken_contract(missing), ""
    nobody = await _nobody(bench, contract)
    if nobody.broken and (touched := _touched(contract, await taking_part(bench, contract))):
        return broken_contract(_unserved(f"it touches the candidate's file {touched} ({nobody.broken[:200]})")), ""
    if nobody.broken:
        return broken_contract(one_line(f"the suite fails without any candidate, too: {nobody.broken}", 600)), ""
    if nobody.brings:
        detail = one_line(f"{verdict.detail} (a module that is not there is the candidate's to bring; {LIST_IT})", 600)
        return replace(verdict, detail=detail), ""
    return verdict, attempt.unserved


async def _without_excuses(bench: Bench, contract: CommandContract, attempt: Attempt, verdict: Verdict) -> Verdict:
    """Tests that are skipped count as not the candidate's doing only if they are skipped without it, too."""
    if not attempt.excused:
        return verdict
    more = attempt.excused - (await _nobody(bench, contract)).excused
    if not more:
        return verdict
    detail = f"skipped, which it is not by itself: {one_line(min(more))}"
    return failed(Reason.EXITED_EARLY, detail, observation="skipped")


async def _nobody(bench: Bench, contract: CommandContract) -> Nobody:
    theirs = tuple(sorted(await taking_part(bench, contract)))
    return await _nobodies.get(_key(bench, contract, theirs), lambda: _nobody_at_all(bench, contract, theirs))


async def _nobody_at_all(bench: Bench, contract: CommandContract, theirs: tuple[str, ...]) -> Nobody:
    """Where the suite breaks, it is run once more with nothing of this candidate's: with every module that it imports
    and that is not there. Else one could leave its module out, or bring one by which the suite breaks."""
    nobody = await _run_without(bench, contract, theirs)
    if not nobody.broken or nobody.broken == _NO_PYTEST:
        return nobody
    imported = imported_paths(contract, {**bench.scenario.files, **contract.files})
    again = await _run_without(bench, contract, imported)
    return nobody if again.broken else Nobody("", nobody.excused, brings=True)


async def _run_without(bench: Bench, contract: CommandContract, theirs: tuple[str, ...]) -> Nobody:
    trusted = {**bench.scenario.files, **contract.files}
    ours = trusted_paths(contract, bench.scenario.files)
    word = secrets.token_hex(16)
    async with bench.sandboxes.sandbox(bench.base_spec) as sandbox:
        await put_files(sandbox, trusted)
        request = ExecRequest(
            argv=suite_argv(contract, ours, [path for path in theirs if path not in ours], NOWHERE),
            env={**ENVIRONMENT, **contract.env},
            cwd=WORKSPACE,
            stdin=word.encode() + b"\n",
            timeout_seconds=wall_limit(contract.scorer_timeout_seconds) + 5.0,
        )
        result = await (await sandbox.exec(request)).wait()
    if result.outcome is ExecOutcome.EXITED and result.returncode == guest_pytest.NO_PYTEST:
        return Nobody(_NO_PYTEST)
    marker = f"harena-report {word} ".encode()
    found = result.stdout.find(marker)
    if found < 0:
        # it hangs, or ends, without a report: that no candidate can change it, the caller finds out by itself
        return Nobody()
    size = int(result.stdout[found - 8 : found], 16)
    report = parsed_report(result.stdout[found : found + size], word)
    return Nobody(report.broken, frozenset(report.excused))
