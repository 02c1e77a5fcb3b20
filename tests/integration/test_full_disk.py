"""A disk that is really full: nothing is lost, nothing accepted that cannot be kept, and all goes on with room."""

from __future__ import annotations

import contextlib
import os
import subprocess
import urllib.error
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from server_lives import Judge, a_judge, servers
from test_server_lives import executed, judged

pytestmark = [pytest.mark.thorough, pytest.mark.root]


@dataclass(frozen=True)
class Disk:
    """harena's home on a disk of its own, which is small, and which only those see who enter."""

    enter: tuple[str, ...]
    """what starts a program there"""
    place: Path
    """where it is seen from outside"""

    def fill(self) -> None:
        """Take all that is free."""
        with open(self.place / "ballast", "wb", buffering=0) as file:
            for size in (1 << 20, 1 << 12, 1):
                with contextlib.suppress(OSError):
                    while file.write(bytes(size)) == size:
                        pass
        assert os.statvfs(self.place).f_bavail == 0

    def make_room(self) -> None:
        """Give it back."""
        (self.place / "ballast").unlink()


@pytest.fixture
def disk(home: Path) -> Iterator[Disk]:
    """In a mount namespace that a process holds open, so that no other test sees it."""
    home.mkdir()
    mount = f"mount -t tmpfs -o size=48m,mode=700 harena-test {home} && echo mounted && exec cat"
    command = ["unshare", "--mount", "--propagation", "private", "sh", "-c", mount]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdin is not None
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"mounted\n"
        yield Disk(("nsenter", f"--mount=/proc/{holder.pid}/ns/mnt"), Path(f"/proc/{holder.pid}/root/{home}"))
        holder.stdin.close()
    home.rmdir()


@pytest.fixture
def judge() -> Iterator[Judge]:
    """One for each test."""
    with a_judge() as judge:
        yield judge


def test_a_full_disk_pauses_jobs_and_loses_nothing(disk: Disk, judge: Judge) -> None:
    """In the middle of a job with sandboxes: what was scored waits in memory, nothing new starts, a new job is refused
    with the reason, and with room again every run ends once, as it would have."""
    count = 60
    judge.held = frozenset({"s20", "s21"})
    with servers(judge, *disk.enter) as start:
        server = start().listens()
        request = {"name": "n", "scenarios": executed(count), "config": {"concurrency": 2}}
        job_id = server.ask("POST", "/benchmark_jobs", request)["id"]
        assert judge.wait_asked(22)  # both places are taken
        disk.fill()
        judge.let_go()
        server.wait_logged("paused")
        with pytest.raises(urllib.error.HTTPError) as refused:
            server.ask("POST", "/benchmark_jobs", {"name": "refused", "scenarios": judged(2000)})
        said = refused.value.read().decode()
        sandbox = server.ask("POST", "/sandboxes", {})  # what needs no disk goes on
        assert sandbox["status"] == "running"
        disk.make_room()
        events = list(server.events(job_id))
        results = server.ask("GET", f"/benchmark_jobs/{job_id}/results")
        jobs = server.ask("GET", "/benchmark_jobs")["benchmark_jobs"]
        assert server.end() == 0
    assert (refused.value.code, "full" in said) == (503, True), said
    assert [job["id"] for job in jobs] == [job_id]
    assert results["state"] == "completed"
    last = {asked.scenario_id: asked.score for asked in judge.ledger}
    assert {run["scenario_id"]: run["score"] for run in results["runs"]} == pytest.approx(last)
    assert (len(results["runs"]), len(judge.ledger)) == (count, count)
    assert {run["platform_retries"] for run in results["runs"]} == {0}
    kinds = Counter(event["kind"] for event in events)
    assert kinds["job_paused"] == kinds["job_continued"] >= 1
    assert "full" in next(event["error"] for event in events if event["kind"] == "job_paused")
    assert [event["cursor"] for event in events] == list(range(1, len(events) + 1))


def test_sandboxes_need_no_room_on_the_disk(disk: Disk, judge: Judge) -> None:
    """The first one of a server, too."""
    with servers(judge, *disk.enter) as start:
        server = start().listens()
        disk.fill()
        assert server.ask("POST", "/sandboxes", {})["status"] == "running"
        assert server.end() == 0


def test_a_server_that_cannot_open_its_store_says_why(disk: Disk, judge: Judge) -> None:
    """It does not start without one; with room again it does."""
    with servers(judge, *disk.enter) as start:
        assert start().listens().end() == 0
        disk.fill()
        refused = start()
        assert refused.ended() == 2
        assert any("Make room on its disk" in line for line in refused.log), refused.log
        disk.make_room()
        assert start().listens().end() == 0
