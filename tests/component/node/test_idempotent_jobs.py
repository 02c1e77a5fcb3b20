"""A job that is asked for twice is accepted once, whatever happens to the process in between."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from test_benchmark_jobs import HERE, Scorer, opened, request

from harena.core.errors import ValidationError
from harena.core.idempotency import IdempotencyKey

KEY = IdempotencyKey.of("mine", b"the request")

DIES = """
import asyncio, os, pathlib, signal, sys
sys.path.insert(0, sys.argv[2])
from stored_jobs import StoredJobs
from harena.store import benchmark_jobs as queries
from test_benchmark_jobs import HERE, Scorer, opened, request
from test_idempotent_jobs import KEY

def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)

async def main():
    if sys.argv[3] == "before the commit":
        claim = queries.claim
        def claim_and_die(*asked):
            claim(*asked)
            die()
        queries.claim = claim_and_die
    else:
        StoredJobs._run = die
    async with opened(pathlib.Path(sys.argv[1]), Scorer()) as jobs:
        await jobs.create(HERE, request("pass"), key=KEY)

asyncio.run(main())
"""


@pytest.mark.parametrize(("moment", "accepted"), [("before the commit", 0), ("after the commit", 1)])
async def test_a_create_that_is_repeated_after_kill_9(tmp_path: Path, moment: str, accepted: int) -> None:
    """Where the first was accepted, it is the one; where it was not, its key is free."""
    path = tmp_path / "harena.db"
    here = str(Path(__file__).parent)
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", DIES, str(path), here, moment, stderr=subprocess.PIPE
    )
    _, said = await process.communicate()
    assert process.returncode == -signal.SIGKILL, said.decode()
    async with opened(path, Scorer()) as jobs:
        before = (await jobs.list(HERE))["benchmark_jobs"]
        assert len(before) == accepted
        job = await jobs.create(HERE, request("pass"), key=KEY)
        await jobs.wait(HERE, job["id"])
        after = (await jobs.list(HERE))["benchmark_jobs"]
    assert [entry["id"] for entry in after] == [job["id"]]
    assert job["id"] == (before[0]["id"] if before else job["id"])
    assert job["progress"]["total"] == 1


async def test_two_processes_are_asked_with_one_key(tmp_path: Path) -> None:
    """At the same time and afterwards, one job is accepted and run."""
    path, scorers = tmp_path / "harena.db", [Scorer(), Scorer()]
    async with opened(path, scorers[0]) as one, opened(path, scorers[1]) as two:
        asked = [node.create(HERE, request("pass", "pass"), key=KEY) for node in (one, two, one)]
        made = {job["id"] for job in await asyncio.gather(*asked)}
        assert len(made) == 1
        await one.wait(HERE, made.pop())
        assert len((await two.list(HERE))["benchmark_jobs"]) == 1
    assert sum(len(scorer.calls) for scorer in scorers) == 2


async def test_an_earlier_answer_needs_nothing_of_what_was_asked(tmp_path: Path) -> None:
    """What the job was made of may be gone, such as its blueprint."""
    async with opened(tmp_path / "harena.db", Scorer()) as jobs:
        asked = {**request("pass"), "blueprint_id": "env"}
        job = await jobs.create(HERE, asked, key=KEY)
        again = await jobs.create(HERE, {**asked, "blueprint_id": "has gone"}, key=KEY)
        assert again["id"] == job["id"]
        with pytest.raises(ValidationError, match="used for another request"):
            await jobs.create(HERE, asked, key=IdempotencyKey.of("mine", b"another"))
        await jobs.wait(HERE, job["id"])
        await jobs.delete(HERE, job["id"])
        assert (await jobs.create(HERE, asked, key=KEY))["id"] != job["id"]


@pytest.mark.parametrize("key", ["", "x" * 201, "a\nb", "é"])
def test_keys_that_are_none(key: str) -> None:
    """They travel in a header."""
    with pytest.raises(ValidationError, match="idempotency-key"):
        IdempotencyKey.of(key, b"")
