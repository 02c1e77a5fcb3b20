"""Scoring by custom code: the `python` contract. The code runs in a sandbox of its own, on observations only."""

from __future__ import annotations

import ast
import json
import secrets
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from harena.core.errors import HarenaError, PlatformError
from harena.core.models import ExecOutcome, ExecRequest, ExecResult
from harena.core.results import Reason
from harena.scoring.contracts.contract import PythonContract
from harena.scoring.formats.answers import final_answer
from harena.scoring.guest import scorer as guest_scorer
from harena.scoring.guest import scorer_shapes
from harena.scoring.python_source import MOST_SCORER_TOKENS, syntax_tree
from harena.scoring.scorers.program import Bench, output_file, put_files, run_candidate
from harena.scoring.slices import aside, json_parts, last_line, size_of, text_of
from harena.scoring.verdict import (
    Verdict,
    broken_contract,
    digest_of_parts,
    failed,
    one_line,
    program_failure,
)

PATTERN_SECONDS = 10.0
PLAIN_ANSWERS = ("", "0\n", "0 0\n")
"""answers that a scorer which fails for a candidate is shown: nothing, and a text that is number, JSON and literal"""
MOST_ANSWERS = len(PLAIN_ANSWERS) + 3
_MOST_WORDS = 200


class ScorerFailedError(HarenaError):
    """The scorer gave no answer; the message says how it ended."""


class ScorerBrokenError(HarenaError):
    """The scorer has no answer for a candidate that does nothing, too: the contract's fault."""


@cache
def _scorer_program() -> str:
    return Path(guest_scorer.__file__).read_text(encoding="utf-8") + "\n\nmain()\n"


@cache
def _shapes_program() -> str:
    return Path(scorer_shapes.__file__).read_text(encoding="utf-8")


def _json(request: Mapping[str, Any]) -> bytes:
    return b"".join(part.encode("utf-8", "surrogatepass") for part in json_parts(request, ensure_ascii=False))


def _digest(seen: Mapping[str, Any]) -> str:
    return digest_of_parts(part.encode() for part in json_parts(seen, sort_keys=True))


async def _ask_scorer(bench: Bench, request: dict[str, Any], timeout_seconds: float) -> dict[str, Any]:
    """One answer of the scorer program, from a fresh sandbox with the job's own limits.

    Raises ScorerFailedError, and PlatformError where the platform is to blame."""
    nonce = secrets.token_hex(16)
    told = await aside(size_of(request), _json, {**request, "nonce": nonce})
    async with bench.sandboxes.sandbox(bench.base_spec) as sandbox:
        result = await bench.run_trusted(
            sandbox,
            ExecRequest(
                argv=("python", "-c", _scorer_program()),
                stdin=told,
                timeout_seconds=timeout_seconds,
            ),
        )
    if result.outcome is ExecOutcome.EXITED and result.returncode in (126, 127):
        raise PlatformError(_how_it_ended(result), step="start the scorer's interpreter")
    said, _, answer = result.stdout.partition(b" ")
    if result.outcome is not ExecOutcome.EXITED or result.returncode != 0 or said != nonce.encode():
        raise ScorerFailedError(_how_it_ended(result))
    made: dict[str, Any] = json.loads(answer)
    return made


def _how_it_ended(result: ExecResult) -> str:
    said = last_line(result.stderr)
    return one_line(f"the scorer ended with {result.outcome} {result.returncode}: {said}")


async def search_pattern(bench: Bench, pattern: str, text: str) -> str | None:
    """The first group (or the whole) of the last match. Not searched here, because a program can print what makes a
    search take for ever. Raises ScorerFailedError, ScorerBrokenError."""
    found = (await _ask_pattern(bench, {"pattern": pattern, "text": text}))["found"]
    return None if found is None else str(found)


async def matches_pattern(bench: Bench, pattern: str, text: str, *, whole: bool, multiline: bool) -> bool:
    """Whether the pattern is found in the text, or matches the whole of it. Raises ScorerFailedError,
    ScorerBrokenError."""
    request = {"pattern": pattern, "text": text, "mode": "whole" if whole else "anywhere", "multiline": multiline}
    return bool((await _ask_pattern(bench, request))["found"])


async def _ask_pattern(bench: Bench, request: dict[str, Any]) -> dict[str, Any]:
    try:
        return await _ask_scorer(bench, request, PATTERN_SECONDS)
    except ScorerFailedError as error:
        try:
            await _ask_scorer(bench, {**request, "text": ""}, PATTERN_SECONDS)
        except ScorerFailedError:
            raise ScorerBrokenError(f"no text can be searched for the pattern: {error}") from None
        raise


async def score_python(bench: Bench, contract: PythonContract) -> Verdict:
    """Run, observe, ask the scorer. Raises PlatformError and SandboxError for what is not the program's doing."""
    source = bench.scenario.candidate.source
    seen: dict[str, Any] = {
        "scenario_id": bench.scenario.id,
        "candidate": dict(bench.scenario.candidate.files),
        "entry": bench.scenario.candidate.entry,
        "answer": await aside(len(source), final_answer, source),
        "metadata": dict(bench.scenario.metadata),
        "stdout": "",
        "stderr": "",
        "exit_code": None,
        "outcome": None,
        "timed_out": False,
        "files": {},
    }
    failure: tuple[Reason, str] | None = None
    if contract.run_candidate:
        failure = await _observe(bench, contract, seen)
    try:
        score, said = await _scored(bench, contract, seen)
    except ScorerFailedError as error:
        return await _scorer_failure(bench, contract, seen, str(error))
    passed = score >= contract.pass_mark
    reason, detail = (Reason.PASSED, "") if passed else failure or (Reason.SCORER_REJECTED, "")
    return Verdict(
        score=score,
        passed=passed,
        reason=reason,
        detail=one_line(said) or detail,
        checks_passed=int(passed),
        observations=(await aside(size_of(seen), _digest, seen), repr(score)),
    )


async def _scored(bench: Bench, contract: PythonContract, seen: dict[str, Any]) -> tuple[float, str]:
    """(score from 0 to 1, detail). Raises ScorerFailedError, and PlatformError where the platform is to blame."""
    answer = await _ask_scorer(bench, {"source": contract.source, "run": seen}, contract.scorer_timeout_seconds)
    score = answer["score"]
    if not 0 <= score <= 1:  # as NaN
        raise ScorerFailedError(f"the scorer gave {score!r}; a score is a number from 0 to 1")
    return score, answer["detail"]


async def _scorer_failure(bench: Bench, contract: PythonContract, seen: dict[str, Any], detail: str) -> Verdict:
    """Whose fault it is that the scorer failed: the candidate's (it printed what breaks a parser, or fills memory), if
    the scorer has an answer for a program that does nothing, for one that prints a number, or for any form that it may
    ask of a text (`scorer_shapes`). So no candidate can buy itself a run without a score, also where a scorer reads a
    number, an object or a match without asking whether there is one."""
    by_words = await aside(len(contract.source), _answers_by_words, contract.source)
    for text in (*PLAIN_ANSWERS, *by_words):
        try:
            await _scored(bench, contract, _seen_of(bench, contract, seen, text))
        except ScorerFailedError:
            continue
        return failed(Reason.SCORER_REJECTED, f"what the candidate did breaks the scorer: {detail}")
    if await _takes_some_form(bench, contract, seen):
        return failed(Reason.SCORER_REJECTED, f"what the candidate did has no form that the scorer takes: {detail}")
    return broken_contract(detail)


async def _takes_some_form(bench: Bench, contract: PythonContract, seen: Mapping[str, Any]) -> bool:
    run = {**_seen_of(bench, contract, seen, ""), "output_files": contract.output_files}
    request = {"shapes": _shapes_program(), "source": contract.source, "run": run}
    try:
        await _ask_scorer(bench, request, contract.scorer_timeout_seconds)
    except ScorerFailedError:
        return False
    return True


def _answers_by_words(source: str) -> list[str]:
    """What may have the form that a scorer reads: JSON with each word of its text as a key, and lines that begin so."""
    try:
        nodes = list(ast.walk(syntax_tree(source, most_tokens=MOST_SCORER_TOKENS)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    found = [node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    words = list(dict.fromkeys(word for word in found if word.strip()))[:_MOST_WORDS]
    return [json.dumps(dict.fromkeys(words, 0)), "".join(f"{word} 0\n" for word in words)] if words else []


def _seen_of(bench: Bench, contract: PythonContract, seen: Mapping[str, Any], text: str) -> dict[str, Any]:
    """What a scorer sees of a candidate that says no more than `text`."""
    entry = bench.scenario.candidate.entry
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


async def _observe(bench: Bench, contract: PythonContract, seen: dict[str, Any]) -> tuple[Reason, str] | None:
    """Run the candidate and note what it did in `seen`; why it failed, if it did."""
    async with bench.sandbox() as sandbox:
        await put_files(sandbox, bench.files())
        result = await run_candidate(
            bench, sandbox, args=contract.args, stdin=contract.stdin, timeout_seconds=bench.timeout_seconds
        )
        failure = program_failure(result)
        seen.update(
            stdout=await aside(len(result.stdout), text_of, result.stdout),
            stderr=await aside(len(result.stderr), text_of, result.stderr),
            exit_code=result.returncode,
            outcome=result.outcome.value,
            timed_out=result.outcome is ExecOutcome.TIMEOUT,
        )
        if result.outcome is not ExecOutcome.MEMORY:  # the sandbox may be gone
            for path in contract.output_files:
                text = await output_file(sandbox, path)
                if text is not None:
                    seen["files"][path] = text
    return failure
