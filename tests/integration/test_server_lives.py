"""kill -9 of a real server at random moments: accepted work ends exactly once, and nothing is left behind.

`HARENA_KILLS=50` is the whole proof; what runs by default is as long as a test may be.
"""

from __future__ import annotations

import itertools
import os
import signal
import sqlite3
import subprocess
import sys
import time
import urllib.error
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest
from server_lives import Judge, Lives, Server, a_judge, live_and_die, servers, stored

from footprint import Footprint, cgroup_directories, spawners, wait_ended, wait_nothing_below
from harena.jobs.capacity import EXECUTING_PER_CORE

sys.path.append(str(Path(__file__).parents[1]))

from postgres_server import postgres_server

pytestmark = pytest.mark.thorough

KILLS = int(os.environ.get("HARENA_KILLS", "6"))
SCENARIOS = 1000 if KILLS >= 50 else 50 * KILLS
SANDBOX_KILLS = max(3, KILLS // 8)
END_SECONDS = 60.0

JUDGED: dict[str, Any] = {
    "type": "score_model",
    "model": "ledger",
    "messages": [{"role": "user", "content": "{{ sample.output_text }}"}],
}


@pytest.fixture
def judge() -> Iterator[Judge]:
    """One for each test."""
    with a_judge() as judge:
        yield judge


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest, home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path | str]:
    """A store of its own for each test; servers find it by the environment."""
    if request.param == "sqlite":
        yield home / "harena.db"
    else:
        with postgres_server() as server:
            url = server.create("lives")
            monkeypatch.setenv("HARENA_DATABASE_URL", url)
            yield url
    for kept in ("access.db", "harena.db", "harena.db.lock", "harena.db-wal", "harena.db-shm"):
        (home / kept).unlink(missing_ok=True)  # what a server keeps on purpose


def judged(count: int) -> list[dict[str, Any]]:
    """Scenarios without a sandbox."""
    return [{"id": f"s{number}", "candidate": f"s{number}", "scoring": JUDGED} for number in range(count)]


def executed(count: int) -> list[dict[str, Any]]:
    """Scenarios that run in sandboxes first; the judge's answer is the score."""
    return [
        {
            "id": f"s{number}",
            "candidate": f"print('s{number}')",
            "scoring": {
                "type": "weighted",
                "parts": {
                    "ran": {"scoring": {"type": "stdio", "cases": [{"stdin": "", "stdout": f"s{number}"}]}},
                    "told": {"scoring": JUDGED},
                },
                "formula": "told * ran",
            },
        }
        for number in range(count)
    ]


HANGS: dict[str, Any] = {
    "id": "hangs",
    "candidate": {"files": {"solution.py": "while True: pass"}},
    "scoring": {"type": "stdio", "cases": [{"stdin": "", "stdout": "never"}]},
}


def check(lives: Lives, judge: Judge, *, scenarios: int, kills: int) -> None:
    """Each scenario has one terminal result, of its last execution; what was stored was never executed again."""
    everything = {f"s{number}" for number in range(scenarios)}
    results, ledger = lives.results["runs"], judge.ledger
    assert lives.results["state"] == "completed"
    assert Counter(run["scenario_id"] for run in results) == Counter(everything)
    ends = [event["scenario_id"] for event in lives.events if event["kind"] == "run_finished"]
    assert Counter(ends) == Counter(everything)
    assert [event["cursor"] for event in lives.events] == list(range(1, len(lives.events) + 1))
    assert [event["kind"] for event in lives.events].count("job_ended") == 1

    # nothing is executed in a life that began after its result was stored, nor twice in one life
    assert [asked for asked in ledger if asked.scenario_id in lives.stored_before[asked.life]] == []
    once_a_life = Counter((asked.scenario_id, asked.life) for asked in ledger)
    assert [name for name, times in once_a_life.items() if times > 1] == []
    # a stored result never changes; it is what the last execution gave, not an earlier one's that was lost
    last = {asked.scenario_id: asked.score for asked in ledger}
    scores = {run["scenario_id"]: run["score"] for run in results}
    assert scores == pytest.approx(last, abs=1e-9)
    for before in lives.stored_before:
        assert before.items() <= scores.items()
    assert {run["platform_retries"] for run in results} == {0}

    # the test proves something: most lives stored results, and some scores were lost with their life and made again
    assert len(lives.stored_before) == kills + 1
    assert len({len(before) for before in lives.stored_before}) > kills / 2
    assert len(ledger) > scenarios
    print(
        f"\n{kills} kills ({lives.killed_while_starting} of them while starting) in {lives.seconds:.0f} s: {scenarios} "
        f"results, {len(ledger)} executions, at most {max(Counter(a.scenario_id for a in ledger).values())} of one run"
    )


def check_nothing_left(lives: Lives, before: Footprint, adopting: Callable[[], None]) -> None:
    """No process, no mount, no cgroup directory."""
    assert wait_nothing_below(os.getpid(), END_SECONDS, spare=list(before.below)) == []
    adopting()
    assert cgroup_directories(lives.spawners) == []
    assert Footprint.take().mounted == before.mounted


@pytest.mark.slow
@pytest.mark.timeout(120 + 20 * KILLS)
def test_kill_9_at_random_moments(place: Path | str, judge: Judge, adopting: Callable[[], None]) -> None:
    """Scoring costs little here, so that many moments are tried."""
    before = Footprint.take()
    request = {"name": "n", "scenarios": judged(SCENARIOS), "config": {"concurrency": 8}}
    lives = live_and_die(request, judge, place, kills=KILLS, seed=KILLS, on_top=10)
    check(lives, judge, scenarios=SCENARIOS, kills=KILLS)
    check_nothing_left(lives, before, adopting)


@pytest.mark.slow
@pytest.mark.parametrize("place", ["sqlite"], indirect=True)
@pytest.mark.timeout(120 + 20 * KILLS)
def test_kill_9_with_sandboxes(place: Path | str, judge: Judge, adopting: Callable[[], None]) -> None:
    """Programs run when their server is killed; they end with it, and nothing of them stays."""
    before = Footprint.take()
    count = 20 * SANDBOX_KILLS
    request = {"name": "n", "scenarios": executed(count), "config": {"concurrency": 8}}
    lives = live_and_die(request, judge, place, kills=SANDBOX_KILLS, seed=1)
    check(lives, judge, scenarios=count, kills=SANDBOX_KILLS)
    check_nothing_left(lives, before, adopting)


@pytest.mark.slow
@pytest.mark.parametrize("place", ["sqlite", "postgres"] if KILLS >= 50 else ["sqlite"], indirect=True)
def test_a_server_that_is_stopped_loses_its_job(place: Path | str, judge: Judge) -> None:
    """Its process is there and does not beat: another server goes on. When it wakes up it finds its lease gone, writes
    nothing, and ends its sandboxes."""
    judge.held = frozenset({"s3"})
    with servers(judge) as start:
        frozen = start().listens()
        request = {
            "name": "n",
            "scenarios": [HANGS, *judged(12)],
            "config": {"concurrency": 8, "timeout_seconds": 3600},
        }
        job_id = frozen.ask("POST", "/benchmark_jobs", request)["id"]
        assert judge.wait_asked(12)
        left_behind = frozen.wait_candidates(1)
        freeze(frozen, place)
        other = start().listens()
        assert judge.wait_asked(13)  # the run that was under way, by the other server
        judge.let_go()  # the first one's answer lies in its socket now
        finished = list(itertools.islice(ended_runs(other, job_id), 12))
        frozen.process.send_signal(signal.SIGCONT)
        assert wait_ended(left_behind, END_SECONDS) == []
        assert frozen.ask("GET", f"/benchmark_jobs/{job_id}")["state"] == "running"
        other.ask("POST", f"/benchmark_jobs/{job_id}/cancel")
        events = list(other.events(job_id))
        results = [server.ask("GET", f"/benchmark_jobs/{job_id}/results") for server in (frozen, other)]
        assert [server.end() for server in (frozen, other)] == [0, 0]
    kinds = Counter(event["kind"] for event in events)
    assert (kinds["job_resumed"], kinds["run_requeued"], kinds["run_finished"], kinds["run_cancelled"]) == (1, 2, 12, 1)
    assert sorted(event["scenario_id"] for event in finished) == sorted(f"s{number}" for number in range(12))
    assert [event["cursor"] for event in events] == list(range(1, len(events) + 1))
    assert results[0]["runs"] == results[1]["runs"]
    by_id = {run["scenario_id"]: run for run in results[0]["runs"]}
    last = judge.ledger[-1]
    assert (last.scenario_id, last.life, len(judge.ledger)) == ("s3", 1, 13)
    assert by_id["s3"]["score"] == pytest.approx(last.score)
    assert (by_id["hangs"]["score"], by_id["hangs"]["reason"]) == (None, "cancelled")


def ended_runs(server: Server, job_id: str) -> Iterator[dict[str, Any]]:
    """As their events come."""
    return (event for event in server.events(job_id) if event["kind"] == "run_finished")


def freeze(server: Server, place: Path | str) -> None:
    """Stop it, and not in the middle of a write: nobody else could write to a SQLite file then."""
    while True:
        server.process.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, server.process.pid, os.WSTOPPED)
        if not isinstance(place, Path):
            return
        with closing(sqlite3.connect(place, timeout=0)) as connection, suppress(sqlite3.OperationalError):
            connection.execute("BEGIN IMMEDIATE")
            return
        server.process.send_signal(signal.SIGCONT)


def test_a_database_that_is_stopped_and_started_again(
    home: Path, judge: Judge, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the middle of a job: runs pause, what was scored waits, and with the database everything goes on."""
    judge.held = frozenset({"s20", "s21"})
    with postgres_server() as database, servers(judge) as start:
        monkeypatch.setenv("HARENA_DATABASE_URL", database.create("away"))
        server = start().listens()
        request = {"name": "n", "scenarios": judged(60), "config": {"concurrency": 2}}
        job_id = server.ask("POST", "/benchmark_jobs", request)["id"]
        assert judge.wait_asked(22)  # both places are taken
        database.stop()
        judge.let_go()
        server.wait_logged("paused")
        with pytest.raises(urllib.error.HTTPError) as refused:
            server.ask("POST", "/benchmark_jobs", request)
        refused.value.close()
        database.start()
        events = list(server.events(job_id))
        results = server.ask("GET", f"/benchmark_jobs/{job_id}/results")
        assert server.end() == 0
    assert (refused.value.code, results["state"], len(judge.ledger)) == (503, "completed", 60)
    last = {asked.scenario_id: asked.score for asked in judge.ledger}
    assert {run["scenario_id"]: run["score"] for run in results["runs"]} == pytest.approx(last)
    kinds = Counter(event["kind"] for event in events)
    assert kinds["job_paused"] == kinds["job_continued"] >= 1
    assert [event["cursor"] for event in events] == list(range(1, len(events) + 1))
    (home / "access.db").unlink(missing_ok=True)


@pytest.mark.slow
@pytest.mark.parametrize("place", ["sqlite"], indirect=True)
@pytest.mark.usefixtures("place")
def test_a_server_that_was_stopped_for_a_while_blames_no_candidate(judge: Judge) -> None:
    """Programs that ended in time while it was stopped have ended in time; one that did not has not."""
    slow = "import time\ndef f():\n    time.sleep(0.7)\n    return 7\n"
    scenarios = [
        {
            "id": "stdio",
            "candidate": {"files": {"solution.py": f"{slow}print(f())"}},
            "scoring": {"type": "stdio", "cases": [{"stdin": "", "stdout": "7"}]},
        },
        {
            "id": "tests",
            "candidate": slow,
            "scoring": {"type": "tests", "entry_point": "f", "checks": [{"args": [], "expected": 7}]},
        },
        {**HANGS, "id": "endless"},
    ]
    with servers(judge) as start:
        server = start().listens()
        request = {"name": "n", "scenarios": scenarios, "config": {"concurrency": 3, "timeout_seconds": 6}}
        job_id = server.ask("POST", "/benchmark_jobs", request)["id"]
        server.wait_candidates(2)
        server.process.send_signal(signal.SIGSTOP)
        with suppress(subprocess.TimeoutExpired):
            server.process.wait(8.0)  # what is measured is that this time does not count
        server.process.send_signal(signal.SIGCONT)
        list(server.events(job_id))
        results = server.ask("GET", f"/benchmark_jobs/{job_id}/results")
        assert server.end() == 0
    found = {run["scenario_id"]: (run["score"], run["reason"]) for run in results["runs"]}
    # where others hold the processor, the endless one may have been starved; it has not passed
    assert found.pop("endless") in ((0.0, "timeout"), (None, "starved"))
    assert found == {"stdio": (1.0, "passed"), "tests": (1.0, "passed")}


@pytest.mark.parametrize("place", ["sqlite"], indirect=True)
@pytest.mark.usefixtures("place")
def test_cancellation_stops_what_runs_within_a_second(judge: Judge) -> None:
    """Every program has ended then, busy as it was, and the job says so; the best of five, because others may hold the
    processor."""
    took = []
    with servers(judge) as start:
        server = start().listens()
        request = {"name": "n", "scenarios": [{**HANGS, "id": f"h{n}"} for n in range(200)]}
        request["config"] = {"concurrency": 200, "timeout_seconds": 3600}
        for _ in range(5):
            job = server.ask("POST", "/benchmark_jobs", request)
            server.wait_candidates(EXECUTING_PER_CORE)  # so many that spin are under way in any case
            asked = time.monotonic()
            cancelled = server.ask("POST", f"/benchmark_jobs/{job['id']}/cancel")
            server.wait_no_candidates()  # those that began while it was asked are among them
            took.append(time.monotonic() - asked)
            assert (cancelled["state"], cancelled["progress"]["cancelled"]) == ("cancelled", 200)
            if took[-1] < 1.0:
                break
        assert server.end() == 0
    assert min(took) < 1.0


@pytest.mark.parametrize("place", ["sqlite"], indirect=True)
def test_runs_under_way_end_before_their_server_does(place: Path | str, judge: Judge) -> None:
    """As far as its drain time allows; no other starts, and none is run again by the next server."""
    judge.held = frozenset({"s3"})
    with servers(judge) as start:
        server = start().listens()
        request = {"name": "n", "scenarios": judged(10), "config": {"concurrency": 1}}
        job_id = server.ask("POST", "/benchmark_jobs", request)["id"]
        assert judge.wait_asked(4)
        server.process.send_signal(signal.SIGTERM)
        server.wait_logged("draining")
        judge.let_go()
        assert server.ended() == 0
        assert sorted(stored(place)) == ["s0", "s1", "s2", "s3"]
        server = start().listens()
        events = list(server.events(job_id))
        assert server.end() == 0
    assert [asked.life for asked in judge.ledger] == [0] * 4 + [1] * 6
    assert {asked.scenario_id for asked in judge.ledger} == {f"s{number}" for number in range(10)}
    assert [event["kind"] for event in events].count("run_requeued") == 0


@pytest.mark.parametrize("place", ["sqlite"], indirect=True)
@pytest.mark.usefixtures("place")
def test_a_server_that_is_told_to_stop_lets_go_of_its_jobs(judge: Judge, adopting: Callable[[], None]) -> None:
    """Its streams end and say that there is more to come, its sandboxes end, its status is 0; the next goes on, and
    nothing is held against the runs."""
    before = Footprint.take()
    lives = Lives()
    with servers(judge, drain_seconds=1) as start:  # what is under way never ends, and is waited for twice
        server = start().listens()
        request = {"name": "n", "scenarios": [HANGS, *judged(3)], "config": {"concurrency": 2, "timeout_seconds": 3600}}
        job_id = server.ask("POST", "/benchmark_jobs", request)["id"]
        seen: list[dict[str, Any]] = []
        busy: list[int] = []

        def follow() -> None:
            for event in server.events(job_id):
                seen.append(event)
                if [one["kind"] for one in seen].count("run_finished") == 3 and not busy:
                    busy.extend(server.wait_candidates(1))
                    server.process.send_signal(signal.SIGTERM)

        with pytest.raises(ConnectionError):
            follow()
        lives.spawners += spawners(server.process.pid)
        assert (server.ended(), wait_ended(busy, END_SECONDS)) == (0, [])
        server = start().listens()
        cursor = seen[-1]["cursor"]
        rest = list(itertools.islice(server.events(job_id, after=cursor), 3))
        again = server.wait_candidates(1)
        lives.spawners += spawners(server.process.pid)
        assert server.end() == 0
        assert wait_ended(again, END_SECONDS) == []
    assert [event["kind"] for event in rest] == ["job_released", "job_resumed", "run_requeued"]
    assert [event["cursor"] for event in rest] == [cursor + 1, cursor + 2, cursor + 3]
    assert (rest[2]["scenario_id"], rest[2]["interruptions"]) == ("hangs", 0)
    check_nothing_left(lives, before, adopting)
