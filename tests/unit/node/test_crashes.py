"""kill -9 at any moment: no finished run is run again, none is lost, none has two results."""

import asyncio
import json
import sys
from collections import Counter
from pathlib import Path

import pytest
from crash_lives import ATTEMPTS, SCENARIOS
from test_benchmark_jobs import Scorer, opened

KILLS = 20


@pytest.mark.slow
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
        results = await jobs.results("job")
        events = [event async for event in jobs.events("job")]
    assert results["state"] == "completed"
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
