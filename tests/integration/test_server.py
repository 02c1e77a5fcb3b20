"""`harena serve` as users have it: the real runtime, a real server process, and the sdk's own verbs."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import harena
from harena.cli.main import main
from harena.sdk import portal

END_SECONDS = 30


def started(*options: str) -> tuple[subprocess.Popen[str], str]:
    """A server that listens, and its URL."""
    process = subprocess.Popen(
        [sys.executable, "-m", "harena.cli.main", "serve", "--port", "0", "--drain", "5", *options],
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    line = ""
    for line in process.stderr:
        if '"listening"' in line:
            break
    return process, json.loads(line)["url"]


@pytest.fixture
def server(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[subprocess.Popen[str]]:
    """A server of its own home; the sdk of this process is its client."""
    process, url = started()
    try:
        monkeypatch.setenv("HARENA_BASE_URL", url)
        yield process
    finally:
        portal.shutdown()
        process.send_signal(signal.SIGTERM)
        _, log = process.communicate(timeout=END_SECONDS)
        for kept in ("harena.db", "harena.db.lock", "blueprints/over-http@000001.json"):
            (home / kept).unlink(missing_ok=True)  # what a server keeps on purpose
        if (home / "blueprints").exists():
            for contents in (home / "blueprints").glob(".bp_*.files"):
                contents.unlink()
            (home / "blueprints").rmdir()
    assert process.returncode in (0, -signal.SIGKILL), log
    assert [line for line in log.splitlines() if json.loads(line)["level"] in ("error", "critical")] == []


@pytest.mark.usefixtures("server")
def test_sandboxes_from_the_command_line(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Listed, used, copied to and from, and ended, by their ids."""
    sandbox = harena.Sandbox.run(tags=["mine"]).wait()
    name = sandbox.sandbox_id
    assert name is not None

    def told(*words: str, code: int = 0) -> str:
        assert main(["sandbox", *words]) == code
        return capfd.readouterr().out

    (listed,) = json.loads(told("ls", "--tag", "mine", "--format", "json"))
    assert (listed["id"], listed["status"], listed["tags"]) == (name, "running", ["mine"])
    assert name in told("ls")
    assert name not in told("ls", "--tag", "theirs")
    (tmp_path / "given.txt").write_text("17")
    told("cp", str(tmp_path / "given.txt"), f"{name}:/workspace/")
    program = "print(int(open('given.txt').read()) + 1); raise SystemExit(3)"
    assert told("exec", "--cwd", "/workspace", name, "python3", "-c", program, code=3) == "18\n"
    told("cp", f"{name}:/workspace/given.txt", str(tmp_path / "back.txt"))
    assert (tmp_path / "back.txt").read_text() == "17"
    (tmp_path / "folder" / "below").mkdir(parents=True)
    (tmp_path / "folder" / "below" / "one").write_text("1")
    told("cp", str(tmp_path / "folder"), f"{name}:/workspace/folder")
    told("cp", f"{name}:/workspace/folder", str(tmp_path / "again"))
    assert (tmp_path / "again" / "below" / "one").read_text() == "1"
    told("cp", f"{name}:/workspace/none", str(tmp_path / "none"), code=2)
    assert not (tmp_path / "none").exists()
    told("cp", "a", "b", code=2)
    printed = told("logs", name)
    assert printed.startswith("$ python3 -c print(int(open")
    assert printed.endswith("18\n[exited 3]\n")
    assert sandbox.usage().result().memory_bytes > 0
    assert told("rm", name) == f"{name}: ended\n"
    assert told("logs", name) == printed
    (kept,) = json.loads(told("logs", name, "--format", "json"))
    assert (kept["outcome"], kept["returncode"], kept["stdout"]) == ("exited", 3, "18\n")
    told("rm", "nobodys", code=2)
    told("rm", "--missing-ok", "nobodys")
    assert name not in told("ls")


@pytest.mark.usefixtures("server")
def test_the_sdk_over_http(tmp_path: Path) -> None:
    """Sandboxes, commands, streams, files, directories and lists, unchanged."""
    with harena.Sandbox.run(tags=["over-http"]) as sandbox:
        assert sandbox.exec(["python3", "-c", "print(6 * 7)"]).result().stdout == "42\n"
        sandbox.write_file("/workspace/x", "å" * 100_000).result()
        assert sandbox.read_file("/workspace/x").result().decode() == "å" * 100_000
        process = sandbox.exec(["cat"], stdin=True)
        process.stdin.write("hello").result()
        process.stdin.close()
        assert "".join(process.stdout) == "hello"
        with pytest.raises(harena.SandboxCommandTimeoutError):
            sandbox.exec(["sleep", "60"], timeout_seconds=0.3).result()
        with pytest.raises(harena.SandboxFileError) as caught:
            sandbox.read_file("/workspace/none").result()
        assert (caught.value.reason, caught.value.filepath) == ("NOT_FOUND", "/workspace/none")
        sandbox.download_dir("/workspace", tmp_path / "copy").result()
        assert (tmp_path / "copy" / "x").read_text() == "å" * 100_000
        assert [one.sandbox_id for one in harena.Sandbox.list(tags=["over-http"]).result()] == [sandbox.sandbox_id]
    assert harena.Sandbox.list(tags=["over-http"]).result() == []


@pytest.mark.usefixtures("server")
def test_sessions_functions_and_large_input_over_http() -> None:
    """What is built on sandboxes needs nothing of its own."""
    with harena.Session() as session:

        @session.function()
        def add(a: int, b: int) -> int:
            return a + b

        assert [ref.result() for ref in add.map([(1, 2), (3, 4)])] == [3, 7]
        sandbox = session.sandbox()
        given = b"x" * 20_000_000
        process = sandbox.exec(["wc", "-c"], stdin=True)
        process.stdin.write(given).result()
        process.stdin.close()
        assert process.result().stdout.strip() == "20000000"
        sandbox.write_file("/workspace/big", given).result()
        assert sum(map(len, sandbox.read_file_streaming("/workspace/big"))) == len(given)
    assert harena.Sandbox.list().result() == []


@pytest.mark.usefixtures("server")
def test_blueprints_and_benchmark_jobs_over_http(tmp_path: Path) -> None:
    """A job of a file of this machine, in a blueprint that is made on the server; its results are there afterwards."""
    harena.blueprints.create("over-http", files={"/data/word": b"3"}, warm=[])
    file = tmp_path / "scenarios.json"
    file.write_text(
        json.dumps(
            [
                {
                    "id": name,
                    "candidate": {"files": {"solution.py": f"print({code})"}},
                    "scoring": {"type": "stdio", "cases": [{"stdin": "", "stdout": "3"}]},
                }
                for name, code in (("right", "open('/data/word').read()"), ("wrong", "4"))
            ]
        )
    )
    job = harena.benchmark_jobs.create(name="http", scenarios=file, blueprint_id="over-http")
    kinds = [event.kind for event in harena.benchmark_jobs.events(job)]
    results = harena.benchmark_jobs.wait(job)
    assert (kinds[0], kinds[-1], kinds.count("run_finished")) == ("job_started", "job_ended", 2)
    assert {run.scenario_id: run.score for run in results.runs} == {"right": 1.0, "wrong": 0.0}
    assert [one.id for one in harena.benchmark_jobs.list()] == [job.id]


@pytest.mark.usefixtures("server")
def test_commands_at_the_same_time_over_http() -> None:
    """Two hundred of one client."""
    with harena.Sandbox.run() as sandbox:
        running: list[Any] = [sandbox.exec(["echo", str(number)]) for number in range(200)]
        assert [process.result().stdout for process in running] == [f"{number}\n" for number in range(200)]


def test_a_client_that_is_killed_leaves_nothing_running(server: subprocess.Popen[str]) -> None:
    """Its command ends with its connection; its sandbox would end with its lease, and ends with the server here."""
    code = (
        "import harena, sys\n"
        "sandbox = harena.Sandbox.run(tags=['orphan'])\n"
        "process = sandbox.exec(['sh', '-c', 'echo up; sleep 3600'])\n"
        "print(next(iter(process.stdout)), end='', flush=True)\n"
        "sys.stdin.read()\n"
    )
    client = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=dict(os.environ)
    )
    assert client.stdout is not None
    assert client.stdout.readline() == "up\n"
    client.kill()
    client.communicate()
    [orphan] = harena.Sandbox.list(tags=["orphan"]).result()
    assert (
        orphan.exec(["sh", "-c", "while grep -qs sleep /proc/[0-9]*/comm; do :; done"], timeout_seconds=10).wait() == 0
    )


def harena_command(*words: str, **env: str) -> subprocess.CompletedProcess[str]:
    """One run of the command line."""
    command = [sys.executable, "-m", "harena.cli.main", *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=END_SECONDS, env={**os.environ, **env})


def test_no_server_without_keys_beyond_loopback(home: Path) -> None:
    """It says what to do, and has started nothing."""
    ended = harena_command("serve", "--host", "0.0.0.0", "--port", "0")
    assert ended.returncode == 2
    assert "harena keys create" in ended.stderr
    for kept in ("harena.db", "harena.db.lock"):
        (home / kept).unlink()


def test_keys_from_the_command_line(home: Path) -> None:
    """Made, listed without what opens anything, revoked."""
    key = harena_command("keys", "create", "--name", "ci", "--workspace", "w", "--scopes", "read").stdout.strip()
    listed = harena_command("keys", "list").stdout
    assert key.startswith("hk_")
    assert ("ci" in listed, "w" in listed, "revoked" in listed, key in listed) == (True, True, False, False)
    assert harena_command("keys", "revoke", key.split("_")[1]).returncode == 0
    assert "revoked" in harena_command("keys", "list").stdout
    assert harena_command("keys", "revoke", "nobody").returncode == 2
    for kept in ("harena.db", "harena.db.lock"):
        (home / kept).unlink()


@pytest.mark.usefixtures("home")
def test_jobs_go_on_after_kill_9(server: subprocess.Popen[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """The next server runs what is left; what had a result is not run again, and nothing has two."""
    scenarios = [
        {
            "id": f"s{number}",
            "candidate": {"files": {"solution.py": f"print({number})"}},
            "scoring": {"type": "stdio", "cases": [{"stdin": "", "stdout": str(number)}]},
        }
        for number in range(60)
    ]
    asked: dict[str, Any] = {"name": "killed", "scenarios": scenarios, "config": {"concurrency": 2}}
    job = harena.benchmark_jobs.create(**asked, idempotency_key="mine")
    finished: dict[str, float] = {}
    for event in harena.benchmark_jobs.events(job):
        if event.kind == "run_finished":
            finished[event.scenario_id] = event.cursor
        if len(finished) == 10:
            break
    server.kill()
    server.wait()
    portal.shutdown()
    second, url = started()
    try:
        monkeypatch.setenv("HARENA_BASE_URL", url)
        assert harena.benchmark_jobs.create(**asked, idempotency_key="mine").id == job.id
        results = harena.benchmark_jobs.wait(job.id)
        events = [event for event in harena.benchmark_jobs.events(job.id) if event.kind == "run_finished"]
    finally:
        portal.shutdown()
        second.send_signal(signal.SIGTERM)
        second.communicate(timeout=END_SECONDS)
    assert sorted(run.scenario_id for run in results.runs) == sorted(scenario["id"] for scenario in scenarios)
    assert [run.score for run in results.runs] == [1.0] * 60
    assert sorted(event.scenario_id for event in events) == sorted(scenario["id"] for scenario in scenarios)
    assert {event.scenario_id: event.cursor for event in events}.items() >= finished.items()
