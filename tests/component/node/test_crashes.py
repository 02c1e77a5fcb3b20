"""kill -9 at any moment: no finished run is run again, none is lost, none has two results."""

import asyncio
import json
import signal
import sys
from collections import Counter
from pathlib import Path

import cancelled_lives
import pytest
from crash_lives import ATTEMPTS, SCENARIOS
from deadly_lives import DOES
from stored_jobs import StoredJobs
from test_benchmark_jobs import HERE, NoSandboxes, Recipes, Scorer, load, opened

from harena.core.clock import SystemClock
from harena.core.node_config import NodeConfig
from harena.jobs.retry import MOST_INTERRUPTIONS

KILLS = 20


@pytest.mark.slow
@pytest.mark.thorough
@pytest.mark.parametrize("seed", [1])
async def test_a_node_that_is_killed_again_and_again_ends_its_job_once(tmp_path: Path, seed: int) -> None:
    """Twenty deaths before, within and after writes, then one life to the end."""
    await check_lives(tmp_path / "harena.db", tmp_path / "log", seed=seed)


async def check_lives(place: Path | str, log: Path, *, seed: int) -> None:
    """Let them live and die, and count."""
    program = Path(__file__).with_name("crash_lives.py")
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, str(program), str(place), str(log), str(seed), str(KILLS)), stdout=asyncio.subprocess.PIPE
    )
    report = json.loads((await process.communicate())[0])
    lives = report["lives"]
    assert [life["killed"] for life in lives] == [True] * KILLS + [False]
    assert lives[-1]["status"] == 0

    everything = {f"s{number} {attempt + 1}" for number in range(SCENARIOS) for attempt in range(ATTEMPTS)}
    async with opened(place, Scorer()) as jobs:
        results = await jobs.results(HERE, "job")
        progress = (await jobs.get(HERE, "job"))["progress"]
        events = [event async for event in jobs.events(HERE, "job")]
    assert results["state"] == "completed"
    assert (progress["done"], progress["running"], progress["queued"]) == (len(everything), 0, 0)
    assert progress["passed"] == results["summary"]["passed"]
    # exactly one terminal result for each attempt, and the event that tells of it
    assert Counter(f"{run['scenario_id']} {run['attempt']}" for run in results["runs"]) == Counter(everything)
    ends = [event for event in events if event["kind"] == "run_finished"]
    assert Counter(f"{event['scenario_id']} {event['attempt']}" for event in ends) == Counter(everything)
    assert all(run["score"] == float(int(run["scenario_id"][1:]) % 3 > 0) for run in results["runs"])
    assert [event["cursor"] for event in events] == list(range(1, len(events) + 1))
    assert [event["kind"] for event in events].count("job_ended") == 1

    # nothing is executed in a life that began after its result was stored
    by_life = {life["pid"]: set(life["stored_before"]) for life in lives}
    assert [run for pid, run in report["executed"] if run in by_life[pid]] == []
    # the test proves something: results came in many lives, and some scores were lost and made again
    assert len({len(life["stored_before"]) for life in lives}) > KILLS / 3
    assert len(report["executed"]) > len(everything)


async def test_a_run_that_ends_its_node_each_time_is_given_up(tmp_path: Path) -> None:
    """After a stated number of nodes, as the platform's failure; what ran beside it has its scores."""
    place, program = tmp_path / "harena.db", Path(__file__).with_name("deadly_lives.py")
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, str(program), str(place), str(tmp_path / "log")), stdout=asyncio.subprocess.PIPE
    )
    report = json.loads((await process.communicate())[0])
    # the first start of all may be lost with its node before it is stored
    assert report["statuses"] in (
        [-signal.SIGKILL] * MOST_INTERRUPTIONS + [0],
        [-signal.SIGKILL] * (MOST_INTERRUPTIONS + 1) + [0],
    )
    assert report["executed"].count("s2") == len(report["statuses"]) - 1
    async with opened(place, Scorer()) as jobs:
        results = await jobs.results(HERE, "job")
    by_id = {run["scenario_id"]: run for run in results["runs"]}
    assert results["state"] == "completed"
    deadly = by_id.pop("s2")
    assert (deadly["score"], deadly["validity"], deadly["reason"]) == (None, "infra", "platform_error")
    assert deadly["detail"].startswith(f"{MOST_INTERRUPTIONS} nodes were lost while this run was under way")
    assert [run["score"] for run in by_id.values()] == [1.0] * (len(DOES) - 1)


@pytest.mark.parametrize("writes", [1, 3])
async def test_a_cancellation_that_is_cut_short_is_finished(tmp_path: Path, writes: int) -> None:
    """The next server starts nothing of the job, cancels the rest, and no run has ended twice."""
    place, program = tmp_path / "harena.db", Path(cancelled_lives.__file__)
    process = await asyncio.create_subprocess_exec(sys.executable, str(program), str(place), str(writes))
    assert await process.wait() == -signal.SIGKILL
    scorer, runs = Scorer(), cancelled_lives.SCENARIOS * cancelled_lives.ATTEMPTS
    async with opened(place, Scorer()) as jobs:
        before = (await jobs.get(HERE, "job"))["progress"]
    assert 0 < before["cancelled"] < runs
    config = NodeConfig(store_place=place, durable_jobs=True)
    jobs = StoredJobs(config, NoSandboxes(), Recipes(), SystemClock(), load=load, score=scorer)  # type: ignore[arg-type]
    await jobs.start()
    results = await jobs.wait(HERE, "job")
    events = [event["run"] async for event in jobs.events(HERE, "job") if event["kind"] == "run_cancelled"]
    await jobs.close()
    assert (results["state"], results["summary"]["cancelled"], scorer.calls) == ("cancelled", runs, [])
    assert sorted(events) == sorted(run["run"] for run in results["runs"]) == list(range(runs))
