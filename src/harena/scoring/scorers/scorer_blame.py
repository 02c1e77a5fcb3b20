"""Whose fault it is that a `python` scorer failed: it raised, ended, ran out of time or memory, or gave no number from
0 to 1.

A wrong answer may make a good scorer fail (`float(run.answer)`), and then has the lowest score; a broken scorer gives
no score. If a candidate could make its own failure look like the scorer's, it could buy "no score" in the place of 0.
So whether a scorer is broken is decided by the contract alone, in this order:

1. by its source, where the expression that raised shows a mistake that no answer can cause (`guest.scorer_faults`);
   this is not asked of a scorer that may run or import the answer's text, which can make any expression fail;
2. by the contract's `gold`, where it has one: the scorer is broken if it fails for the gold, too;
3. else by answers that are not the candidate's: nothing, `0`, `0 0`, texts made of the words in the source, the
   constants in it, and texts of any form (`guest.scorer_shapes`). If one of them gets a score, the scorer works. If
   none does, it is broken if it fails before it has read anything of a candidate's, if the source shows a mistake
   (as in 1) for one of them, if it comes to an end for none, or if the same TypeError, AttributeError,
   OSError or ImportError comes for all. Any other failure is that of answers which are wrong.

What "read" means is told by the platform's process that runs the scorer, and is asked of those other answers only.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Hashable, Iterator, Mapping
from contextlib import suppress
from typing import Any

from harena.core.models import ExecOutcome
from harena.core.results import Trust
from harena.scoring.contracts.contract import PythonContract
from harena.scoring.digests import digest_of
from harena.scoring.python_source import MOST_SCORER_TOKENS, syntax_tree
from harena.scoring.scenario import Candidate
from harena.scoring.scorers.observed_run import observed
from harena.scoring.scorers.program import Bench
from harena.scoring.scorers.scorer_process import (
    Failure,
    ScorerBrokenError,
    ScorerFailedError,
    score_of_any_form,
    score_of_run,
)
from harena.scoring.scorers.suite_without_candidate import Remembered
from harena.scoring.slices import aside, size_at_least
from harena.scoring.verdict import one_line

PLAIN_ANSWERS = ("", "0\n", "0 0\n")
"""answers that a scorer which fails for a candidate is shown: nothing, and a text that is number, JSON and literal"""
MOST_ANSWERS = len(PLAIN_ANSWERS) + 3
_MOST_WORDS = 200

_working = Remembered()
"""scorers that are not broken: it is the same for every candidate"""


async def why_broken(bench: Bench, contract: PythonContract, seen: Mapping[str, Any], failure: Failure) -> str:
    """Why the scorer is broken that failed for a candidate like this; "" = it was the candidate's doing. Raises
    PlatformError and SandboxError."""
    if failure.fault and contract.trust is Trust.SEPARATE:
        return f"{failure.fault}: {failure.detail}"
    try:
        await _working.get(bench, await _key(bench, contract), lambda: _must_work(bench, contract, seen))
    except ScorerBrokenError as error:  # not remembered: what a busy host makes of a good scorer shall not stay
        return str(error)
    return ""


async def _key(bench: Bench, contract: PythonContract) -> Hashable:
    scenario = bench.scenario
    files, metadata = dict(scenario.files), dict(scenario.metadata)
    named = [contract.fingerprint, files, scenario.candidate.entry, scenario.id, metadata]
    shown = await aside(size_at_least(named), digest_of, named)
    return shown, repr(bench.base_spec), repr(bench.spec), bench.timeout_seconds


async def _must_work(bench: Bench, contract: PythonContract, seen: Mapping[str, Any]) -> None:
    """Raises ScorerBrokenError where the scorer is broken."""
    fault = await (_gold_fault(bench, contract) if contract.gold else _idle_fault(bench, contract, seen))
    if fault:
        raise ScorerBrokenError(one_line(fault, 500))


async def _gold_fault(bench: Bench, contract: PythonContract) -> str:
    entry, files = bench.scenario.candidate.entry, dict(contract.gold)
    if entry not in files and not contract.run_candidate and len(files) == 1:
        files = dict(zip((entry,), files.values(), strict=True))
    gold = Candidate(files=files, entry=entry if entry in files else next(iter(files)))
    seen, _ = await observed(bench.with_candidate(gold, files=bench.scenario.files), contract)
    try:
        await score_of_run(bench, contract, seen)
    except ScorerFailedError as error:
        return f"the gold solution has no score: {error}"
    return ""


async def _idle_fault(bench: Bench, contract: PythonContract, seen: Mapping[str, Any]) -> str:
    """What is wrong with a scorer that has no score for any answer; "" if it has one, or if that may be as it should:
    no such answer is right."""
    failures: list[Failure] = []
    for text in (*PLAIN_ANSWERS, *await aside(len(contract.source), _answers_by_words, contract.source)):
        try:
            await score_of_run(bench, contract, run_that_says(contract, seen, text), is_idle=True)
        except ScorerFailedError as error:
            failures.append(error.failure)
        else:
            return ""
        if not failures[0].has_read:
            return f"it fails before it reads anything of the candidate's: {failures[0].detail}"
    fault: str | None = ""
    with suppress(ScorerFailedError):  # out of time or memory: it says nothing
        fault = await score_of_any_form(bench, contract, run_that_says(contract, seen, ""))
    if fault is None:
        return ""
    if fault := fault or next((failure.fault for failure in failures if failure.fault), ""):
        return fault
    if all(failure.is_endless for failure in failures):
        return f"it comes to an end for no answer: {failures[0].detail}"
    if failures[0].steady and all(failure.steady == failures[0].steady for failure in failures):
        return f"it fails in the same way for every answer: {failures[0].detail}"
    return ""


def _answers_by_words(source: str) -> list[str]:
    """What may have the form that a scorer reads: JSON with each word of its text as a key, and lines that begin so."""
    words = list(dict.fromkeys(word for word in _texts(source) if word.strip()))[:_MOST_WORDS]
    return [json.dumps(dict.fromkeys(words, 0)), "".join(f"{word} 0\n" for word in words)] if words else []


def _texts(source: str) -> Iterator[str]:
    """The texts in a program; those of a grader that it holds, in the place of its source."""
    try:
        nodes = list(ast.walk(syntax_tree(source, most_tokens=MOST_SCORER_TOKENS)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    calls = (node for node in nodes if isinstance(node, ast.Call) and isinstance(node.func, ast.Name))
    held = {id(node.args[0]) for node in calls if node.func.id == "compile" and node.args}  # type: ignore[attr-defined]
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            if id(node) in held:
                yield from _texts(node.value)
            else:
                yield node.value


def run_that_says(contract: PythonContract, seen: Mapping[str, Any], text: str) -> dict[str, Any]:
    """What a scorer sees of a candidate that says no more than `text`, in the place of the one that was `seen`."""
    entry = seen["entry"]
    if not contract.run_candidate:
        return {**seen, "candidate": {entry: text}, "answer": text}
    program = f"print({text.strip()!r})\n" if text else ""
    files = dict.fromkeys(contract.output_files, text) if text else {}
    ended = {"exit_code": 0, "outcome": ExecOutcome.EXITED.value, "timed_out": False}
    return {
        **seen,
        **ended,
        "candidate": {entry: program},
        "answer": program,
        "stdout": text,
        "stderr": "",
        "files": files,
    }
