"""Tests that a suite does not define because of what the candidate lacks, or has.

Nobody is paid for a test that is not there. What a suite's definitions depend on, its text tells (`defined_tests`); where
they depend on the candidate, and there is no gold solution to compare with, three runs with nobody as the candidate
show which tests there are (`suite_without_candidate`): where every name is there that the suite has a word for, where one more is
there, and where only what must be there is. A candidate that passes

    has failed       if a test is missing that is there for everybody who has all names
    has no score     if that cannot be told: a test depends on more than whether something is there, the number of
                     tests is that of the candidate's names, or a test is missing that is there only for some
"""  # noqa: E501

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from harena.scoring.contracts.contract import CommandContract
from harena.scoring.guest.suite_protocol import BY_MARK
from harena.scoring.scorers.defined_tests import Dependence, dependence
from harena.scoring.scorers.program import Bench
from harena.scoring.scorers.skip_conditions import SkipCondition
from harena.scoring.scorers.stated_excuses import WORDS
from harena.scoring.scorers.suite_apart import Report
from harena.scoring.scorers.suite_without_candidate import Remembered, TestCounts, suite_key
from harena.scoring.scorers.trusted_suite import not_theirs
from harena.scoring.slices import aside, size_of

_dependences = Remembered()
_QUIET_OPTIONS = frozenset({"-q", "-v", "-vv", "-s", "-x", "-b", "-f"})
"""options of pytest and unittest that choose no tests"""


@dataclass(frozen=True, slots=True)
class Missing:
    """Why a pass is not one."""

    lacks: str = ""
    """a test that the candidate has made to be missing"""
    untold: str = ""
    """why it cannot be told whether one is missing"""


async def dependence_of(
    bench: Bench, contract: CommandContract, *, is_beside: bool, believes_names: bool = True
) -> Dependence:
    """What the suite's definitions depend on, found out once."""

    async def found() -> Dependence:
        trusted = {**bench.scenario.files, **contract.files}
        of_image = not_theirs(contract)
        named = set(contract.test_files.values())
        beside = {path for path in trusted if path.endswith("conftest.py")}
        tests = {path.rpartition("/")[0] for path in named | beside}
        folders = {folder for folder in tests if f"{folder}/__init__.py" not in trusted}
        return await aside(
            size_of(trusted),
            lambda: dependence(
                trusted,
                of_image,
                started=named if _names_files(contract, trusted) else None,
                folders=folders,
                is_beside=is_beside,
                believes_names=believes_names,
            ),
        )

    return await _dependences.get(bench, await suite_key(bench, contract, "defined", is_beside, believes_names), found)


async def own_skips(bench: Bench, contract: CommandContract) -> Mapping[str, SkipCondition | None]:
    """The places of skips that are stated, or may be, whoever the candidate is, and what the condition of each asks
    for, which a candidate could change; None where there is no condition."""
    trusted = {**bench.scenario.files, **contract.files}
    if not any(word in text for path, text in trusted.items() if path.endswith(".py") for word in WORDS):
        return {}
    on = await dependence_of(bench, contract, is_beside=contract.isolate is False, believes_names=False)
    return {place: on.asked.get(place) for place in on.skips}


@dataclass(frozen=True, slots=True)
class Excuses:
    """Tests of a candidate's run that are excused, by what the suite's text says of that."""

    stated: frozenset[str]
    """they are skipped, or fail, whoever the candidate is"""
    unknown: frozenset[str]
    """the suite itself skips them, on a condition that cannot be followed"""


def excuses_of(
    told: Report, on: Dependence, may_skip: frozenset[str] = frozenset(), *, is_beside: bool = False
) -> Excuses:
    """What a candidate's run says of its skips and expected failures, by the suite's text. `may_skip`: tests of which
    it is known. `is_beside`: what marks ask for may be what the candidate has put there."""
    kinds: dict[str, set[str]] = {}
    for test, place in told.skips:
        marked = on.marked.get(_last(test.partition("[")[0]), "") if place == BY_MARK else ""
        by_mark = marked if marked == "always" or not is_beside else ""
        kinds.setdefault(test, set()).add(by_mark if place == BY_MARK else on.skips.get(place, ""))
    expected = {test for test in told.expected if _last(test.partition("[")[0]) in on.expected}
    stated = {test for test, each in kinds.items() if each <= {"always", "own"}} | (expected - kinds.keys())
    unknown = {test for test, each in kinds.items() if "unknown" in each and "" not in each}
    known = may_skip.intersection(told.excused)
    return Excuses(known | stated, frozenset(unknown - known))


def _names_files(contract: CommandContract, trusted: Mapping[str, str]) -> bool:
    """The suite runs the files that it names, and no folder, plugin or option may add to them."""
    others = (each for index, each in enumerate(contract.suite) if index not in contract.test_files)
    if any(each not in _QUIET_OPTIONS for each in others):
        return False
    return not any("addopts" in text for path, text in trusted.items() if path.endswith((".ini", ".cfg", ".toml")))


def may_lack(told: Report, on: Dependence) -> bool:
    """A test may be missing, as far as the text of the suite tells."""
    return on.is_counted or not told.counts or not on.conditional <= set(map(_last, told.counts))


def unheard_skip_of(told: Report, on: Dependence) -> str:
    """Why it cannot be told whether a test is skipped because of the candidate, as the suite's text tells; empty if it
    can. A file of tests speaks for its own tests, every other one (`conftest.py`, a helper) for all."""
    for path, line in on.unheard.items():
        is_own = re.compile(rf"{re.escape(path)}(::|$)|{re.escape(path[:-3].replace('/', '.'))}\.").match
        speaks_for_all = not any(map(is_own, (*told.excused, *told.counts)))
        skipped = [name for name in told.excused if speaks_for_all or is_own(name)]
        if skipped:
            what = f"{min(skipped)[:300]} is skipped, and the candidate may be why"
            return f"{what}: {path}:{line} asks for its identity or its kind, which no stand-in shows"
    return ""


def missing_from(told: Report, on: Dependence, shown: TestCounts) -> Missing:
    """What is missing from the tests that a candidate has passed."""
    if not told.counts:
        return Missing(untold="there are too many tests to be compared")
    by_name = [set(map(_last, counts)) for counts in (shown.granted, shown.more, shown.denied)]
    granted = by_name[0] & by_name[1]
    others = (by_name[0] | by_name[1] | by_name[2]) - granted
    names = set(map(_last, told.counts))
    # who runs what is there only for some may be right without the rest
    is_certain = not on.is_by_content and names.isdisjoint(others)
    unread = _unread(on, shown)
    gone = on.conditional - names
    wanted = gone if on.is_by_content or unread else gone & (granted | others)
    if is_certain and wanted & granted:
        return Missing(lacks=min(wanted & granted))
    if wanted:
        return Missing(untold=f"{min(wanted)} is there only for some candidates")
    return _miscounted(told.counts, shown, unread, is_certain) if on.is_counted else Missing()


def _miscounted(counts: Mapping[str, int], shown: TestCounts, unread: str, is_certain: bool) -> Missing:
    if unread:
        return Missing(untold=f"which tests {unread} defines depends on what the candidate answers")
    untold = ""
    for test in sorted({*shown.granted, *shown.more, *shown.denied}):
        most = max(each.get(test, 0) for each in (shown.granted, shown.more, shown.denied))
        if counts.get(test, 0) >= most:
            continue
        if is_certain and shown.granted.get(test, 0) == shown.more.get(test, 0) == most:
            times = f" ({counts.get(test, 0)} of {most})" if most > 1 else ""
            return Missing(lacks=f"{test}{times}")
        untold = untold or f"how often {test} is there depends on the candidate's names"
    return Missing(untold=untold)


def _unread(on: Dependence, shown: TestCounts) -> str:
    """A file of which nobody shows no tests, although these depend on the candidate."""
    unread = {name.partition("::")[0] for name in shown.unread}
    if unread & on.files:
        return min(unread & on.files)
    others = on.files - unread - set(shown.read)  # whose hooks and functions decide for other files
    return min(unread) if others and unread else ""


def _last(test: str) -> str:
    """`test_it.py::TestIt::test_one` and `test_it.TestIt.test_one` -> test_one"""
    return test.rpartition("::")[2].rpartition(".")[2]
