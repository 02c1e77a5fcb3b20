"""One run of test code over a candidate that shares its sandbox: beside it in one process, or calling functions that
have a process of their own.

Passing takes positive evidence, as it does for a trusted command (`command`): exit code 0 and a word that only the test
code's part was given, on standard input.
"""

from __future__ import annotations

import base64
import importlib.util
import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache

from harena.core.models import ExecResult
from harena.core.results import Validity
from harena.scoring.contracts.contract import CommandContract
from harena.scoring.guest import driver as guest_driver
from harena.scoring.guest.suite_protocol import HAS_TAKEN, TOOK
from harena.scoring.guest_sources import guest_argv, modules_of, source_of
from harena.scoring.scorers.asserts import shared_names
from harena.scoring.scorers.asserts_apart import modules_beside
from harena.scoring.scorers.command_verdicts import (
    broken_without_candidate,
    command_verdict,
    holds_at_end_of_line,
    with_words_in_sight,
)
from harena.scoring.scorers.driver_boot import driver_code
from harena.scoring.scorers.program import Bench, overlaid
from harena.scoring.scorers.suite_shared import run_in_shared_sandbox, with_room_for_suite
from harena.scoring.scorers.trusted_names import told
from harena.scoring.scorers.trusted_suite import taking_part, without_its_folder
from harena.scoring.slices import aside, size_of
from harena.scoring.verdict import PASSED_BUT_TOOK, Verdict


@dataclass(frozen=True, slots=True)
class _Ran:
    """What test code did."""

    result: ExecResult
    proven: bool
    took: bool
    """asserts have passed, and what the candidate has taken of them is all that is held against it"""


async def score_asserts_once(bench: Bench, contract: CommandContract) -> Verdict:
    """One run, and what is to be found out about it."""
    kept = await taking_part(bench, contract)
    ran = await _run(bench, contract, overlaid(kept, bench.scenario.files))
    verdict = command_verdict(ran.result, ran.proven)
    if verdict.validity is Validity.SUSPECT and ran.took:
        return replace(verdict, observations=(*verdict.observations, PASSED_BUT_TOOK))
    if verdict.passed:
        return await with_words_in_sight(contract, verdict, size_of(contract.files))
    left_out = bench.scenario.candidate.files.keys() - kept.keys() - contract.files.keys()
    verdict = replace(verdict, detail=verdict.detail + told(left_out))

    async def ended(idle: Bench) -> ExecResult:
        return (await _run(idle, contract, {**idle.scenario.candidate.files, **bench.scenario.files})).result

    return await broken_without_candidate(bench, contract, ran.result, ended) or verdict


async def takes_of_asserts(bench: Bench, contract: CommandContract) -> bool:
    """Run test code once beside the candidate; whether this has taken anything of it, or has ended it early."""
    beside = contract.model_copy(update={"isolate": False})
    bench = with_room_for_suite(bench, contract)
    ran = await _run(bench, beside, overlaid(await taking_part(bench, beside), bench.scenario.files))
    has_ended_them = ran.result.returncode == 0 and not ran.proven
    return ran.took or has_ended_them or ran.result.returncode == HAS_TAKEN


async def _run(bench: Bench, contract: CommandContract, files: Mapping[str, str]) -> _Ran:
    word = secrets.token_hex(16)
    stdin = f"{word}\n{await _tests(bench, contract)}".encode()
    argv = asserts_argv(contract, bench.scenario.candidate.entry)
    result = await run_in_shared_sandbox(bench, contract, files, argv, stdin)
    said = result.stdout
    proven = await aside(len(said), holds_at_end_of_line, said, f"harena-proof {word}".encode())
    took = await aside(len(said), holds_at_end_of_line, said, TOOK + word.encode())
    return _Ran(result, proven, took)


def asserts_argv(contract: CommandContract, entry: str) -> tuple[str, ...]:
    """The words by which a sandbox starts test code."""
    if _is_apart(contract):
        return without_its_folder(guest_argv(modules_of("calls"), "main"))
    return (*without_its_folder(guest_argv(modules_of("asserts"), "main")), entry)


def _is_apart(contract: CommandContract) -> bool:
    """The asserts call a candidate that has a process of its own."""
    return bool(contract.calls) and contract.isolate is not False


@cache
def _driver_in_both_forms() -> Mapping[str, str]:
    """The guest's half of the conversation, compiled for interpreters like this one and as source for all others."""
    compiled = base64.b64encode(driver_code()).decode()
    magic = importlib.util.MAGIC_NUMBER.hex()
    return {"magic": magic, "compiled": compiled, "source": source_of(guest_driver)}


async def _tests(bench: Bench, contract: CommandContract) -> str:
    """What the runner of `asserts` is given below the word."""
    modules, entry = modules_beside(contract), bench.scenario.candidate.entry
    if _is_apart(contract):
        request = {"source": contract.asserts, "calls": contract.calls, "path": entry}
        return json.dumps({**request, "modules": modules, "driver": _driver_in_both_forms()})
    names = await shared_names(contract, entry)
    fields = {**names.fields(), "aliases": contract.calls}
    theirs = sorted(bench.scenario.candidate.files.keys() - contract.files.keys() - bench.scenario.files.keys())
    return json.dumps({"source": contract.asserts, "names": fields, "modules": modules, "theirs": theirs})
