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
from harena.sdk import portal

END_SECONDS = 30


@pytest.fixture
def server(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[subprocess.Popen[str]]:
    """A server of its own home; the sdk of this process is its client."""
    process = subprocess.Popen(
        [sys.executable, "-m", "harena.cli.main", "serve", "--port", "0", "--drain", "5"],
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stderr is not None
        line = ""
        for line in process.stderr:
            if '"listening"' in line:
                break
        monkeypatch.setenv("HARENA_BASE_URL", json.loads(line)["url"])
        yield process
    finally:
        portal.shutdown()
        process.send_signal(signal.SIGTERM)
        _, log = process.communicate(timeout=END_SECONDS)
    assert process.returncode == 0, log
    assert [line for line in log.splitlines() if json.loads(line)["level"] in ("error", "critical")] == []


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
