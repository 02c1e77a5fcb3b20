"""Honest programs on running sandboxes: what plain Python makes of each, harena makes of it, too.

HARENA_BATTERY_HONEST    programs (CI: 64; `make test-battery`: 600)
HARENA_BATTERY_SEED      the first seed
HARENA_BATTERY_SECONDS   no new round is begun after so many seconds
HARENA_BATTERY_BUSY      processes that compute beside it
"""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from battery_node import Trial, battery_node, busy_processes, judged, number_of, rounds
from composed_worlds import A, B, C, secret
from honest_programs import AS_NUMBER, AS_PROGRAM, HonestProgram, honest

from harena.core.errors import HostUnsupportedError
from harena.scoring import Candidate
from plain_python import ended_well

pytestmark = pytest.mark.timeout(2 * number_of("HARENA_BATTERY_SECONDS", 90) + 120)

CALLING = ("tests", "tests, warm", "tests, equal", "reference", "command", "command, asserts, calls", "weighted",
           "command, pytest, isolate True", "command, unittest, isolate sandbox", "command, asserts",
           "command, asserts, gold")  # fmt: skip
READING = ("stdio", "python", "stdio, numeric")
ROUND = 8
PLAIN_AT_ONCE = 4
_CALL = f"""import solution
assert [solution.secret(a) for a in ({A}, {B}, {C})] == [{secret(A)}, {secret(B)}, {secret(C)}]
assert type(solution.secret(3)) is int
"""


def places_of(program: HonestProgram) -> list[tuple[str, Candidate]]:
    """Where a program is judged: in two of the worlds that call it and one that reads what it prints, in turn."""
    if "prints to stdout" in program.name:
        called = [name for name in CALLING if name not in ("weighted", "command")]
    else:
        called = list(CALLING)
    seed = program.seed
    places = [
        (name, _candidate(program.source + (AS_PROGRAM if name == "weighted" else "")))
        for name in {called[seed % len(called)], called[(seed * 7 + 3) % len(called)]}
    ]
    if "prints to stdout" not in program.name:
        places.append((READING[seed % len(READING)], _candidate(program.source + AS_PROGRAM)))
        if seed % 3 == 0:
            places.append(("numeric, in a file", _candidate(program.source + AS_NUMBER.format(a=A))))
    return places


def _candidate(source: str) -> Candidate:
    return Candidate(files={"solution.py": source})


async def plainly(program: HonestProgram) -> bool:
    """Plain Python calls it right."""
    return await ended_well({"solution.py": program.source, "check.py": _CALL}, ["check.py"])


@pytest.mark.thorough
async def test_honest_programs_are_judged_as_plain_python_judges_them(tmp_path: Path) -> None:
    """Right ones are paid, wrong ones are not, whatever ordinary things they do."""
    count, first = number_of("HARENA_BATTERY_HONEST", 64), number_of("HARENA_BATTERY_SEED", 1) - 1
    seconds, busy = number_of("HARENA_BATTERY_SECONDS", 90), number_of("HARENA_BATTERY_BUSY", 0)
    found: list[str] = []
    tried: list[str] = []
    right: list[int] = []
    limit = asyncio.Semaphore(PLAIN_AT_ONCE)

    async def plain(program: HonestProgram) -> bool:
        async with limit:
            return await plainly(program)

    with busy_processes(busy):
        try:
            async with battery_node(tmp_path) as node:

                async def one_round(begin: int) -> None:
                    seeds = range(begin, min(begin + ROUND, first + count))
                    programs = [honest(seed, may_print=seed % 2 == 0) for seed in seeds]
                    wanted = await asyncio.gather(*map(plain, programs))
                    right.extend(program.seed for program, want in zip(programs, wanted, strict=True) if want)
                    trials = [
                        (Trial(f"{program.seed}/{number}", name, candidate, is_patient=True), program, want)
                        for program, want in zip(programs, wanted, strict=True)
                        for number, (name, candidate) in enumerate(places_of(program))
                    ]
                    runs = await judged(node, [trial for trial, _, _ in trials], name=f"honest-{begin}")
                    tried.extend(runs)
                    print(f"{len(tried)} runs of honest programs", flush=True)
                    for trial, program, want in trials:
                        run = runs[trial.id]
                        if run["score"] != float(want):
                            found.append(f"{trial.world} #{program.seed} {program.name}: plain Python says {want}, "
                                         f"harena {run['score']} {run['reason']}: {run['detail'][:200]}")  # fmt: skip
                            print(found[-1], flush=True)

                await rounds(one_round, range(first, first + count, ROUND), seconds=seconds)
        except HostUnsupportedError as error:
            pytest.skip(str(error))
    print(f"{len(tried)} runs, {len(right)} programs right, {len(found)} judged otherwise than by plain Python")
    assert found == []
