"""Servers as users have them, that are killed and stopped over one store, and a judge beside them that keeps a ledger.

The judge is a model's stand-in that scorers ask (`score_model`), outside of every server: what it was asked cannot be
taken back by a kill. Each of its answers is another number, so a stored score tells which execution it is of.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from sqlalchemy import create_engine, text
from sqlalchemy.exc import DBAPIError

from footprint import command_line, descendants, spawners

END_SECONDS = 60.0
STEP = 1e-6
"""between two answers of the judge"""


@dataclass(frozen=True, slots=True)
class Asked:
    """One execution of a scenario, as the judge saw it."""

    scenario_id: str
    score: float
    life: int


class Judge:
    """Answers every question with a new number, and remembers it. Used from several threads."""

    def __init__(self) -> None:
        self.ledger: list[Asked] = []
        self.held: frozenset[str] = frozenset()
        """scenarios that get no answer, until `let_go`"""
        self._changed = threading.Condition()
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.judge = self
        self._thread = threading.Thread(target=self._server.serve_forever, name="judge")
        self._thread.start()

    def for_life(self, life: int) -> dict[str, str]:
        """The environment of a server that asks this judge; what it asks is noted as of this life."""
        return {"HARENA_JUDGE_BASE_URL": f"http://127.0.0.1:{self._server.server_address[1]}/{life}"}

    def answer(self, question: str, life: int) -> float:
        """A score that no other answer has. Blocks while the scenario is held."""
        found = re.search(r"s\d+", question)
        assert found is not None
        with self._changed:
            self.ledger.append(Asked(found[0], round(len(self.ledger) * STEP, 6), life))
            score = self.ledger[-1].score
            self._changed.notify_all()
            self._changed.wait_for(lambda: found[0] not in self.held)
        return score

    def wait_asked(self, count: int) -> bool:
        """Until so many questions were asked in all; False after END_SECONDS."""
        with self._changed:
            return self._changed.wait_for(lambda: len(self.ledger) >= count, END_SECONDS)

    def let_go(self) -> None:
        """Answer what was held."""
        with self._changed:
            self.held = frozenset()
            self._changed.notify_all()

    def close(self) -> None:
        """End."""
        self.let_go()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Server(ThreadingHTTPServer):
    judge: Judge
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Who asked was killed."""


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def do_POST(self) -> None:
        messages = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["messages"]
        marked = re.search(r"<judged ([0-9a-f]{16})>", "\n".join(message["content"] for message in messages))
        score = self.server.judge.answer(messages[0]["content"], int(self.path.split("/")[1]))
        said = json.dumps({"key": marked[1] if marked else "", "score": score})
        body = json.dumps({"choices": [{"message": {"content": said}}]}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_request(self, *arguments: Any) -> None:
        """Quiet."""


@contextlib.contextmanager
def a_judge() -> Iterator[Judge]:
    """For one test."""
    judge = Judge()
    try:
        yield judge
    finally:
        judge.close()


@dataclass
class Server:
    """A process of `harena serve`."""

    process: subprocess.Popen[str]
    url: str = ""
    log: list[str] = field(default_factory=list)
    _reader: threading.Thread | None = None

    @classmethod
    def start(cls, *prefix: str, drain_seconds: int = 5, **env: str) -> Server:
        """With HARENA_HOME and the like, and perhaps by another program; it may not listen yet."""
        command = [*prefix, sys.executable, "-m", "harena.cli.main", "serve", "--port", "0"]
        command += ["--drain", str(drain_seconds)]
        process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env={**os.environ, **env})
        return cls(process)

    def listens(self) -> Server:
        """When it does."""
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.log.append(line)
            if '"listening"' in line:
                self.url = json.loads(line)["url"]
                break
        else:
            raise AssertionError(f"the server ended: {self.log}")
        self._reader = threading.Thread(target=lambda: self.log.extend(self.process.stderr or []))
        self._reader.start()
        return self

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        """The answer to a request."""
        request = urllib.request.Request(
            f"{self.url}/v1{path}",
            data=None if body is None else json.dumps(body).encode(),
            headers={"content-type": "application/json"},
            method=method,
        )
        with urllib.request.urlopen(request, timeout=END_SECONDS) as response:
            return json.loads(response.read() or b"null")

    def events(self, job_id: str, *, after: int = 0) -> Iterator[dict[str, Any]]:
        """Of a job, to its end. Raises ConnectionError where the stream breaks off."""
        url = f"{self.url}/v1/benchmark_jobs/{job_id}/events?after={after}"
        with urllib.request.urlopen(url, timeout=END_SECONDS) as lines:
            kind = ""
            for line in map(bytes.decode, lines):
                if line.startswith("event: "):
                    kind = line.removeprefix("event: ").strip()
                elif line.startswith("data: "):
                    if kind == "end":
                        return
                    yield json.loads(line.removeprefix("data: "))
        raise ConnectionError("the stream of events broke off")

    def end(self, number: int = signal.SIGTERM) -> int:
        """Send a signal and wait; the exit status."""
        self.process.send_signal(number)
        return self.ended()

    def ended(self) -> int:
        """Wait; the exit status."""
        assert self.process.stderr is not None
        if self._reader is None:
            self.log += self.process.stderr
        else:
            self._reader.join()
        self.process.stderr.close()
        return self.process.wait(END_SECONDS)

    def wait_logged(self, text: str) -> None:
        """Until the log says so."""
        self._wait(lambda: any(text in line for line in list(self.log)), f"no line has {text!r}")

    def candidates(self) -> list[int]:
        """The processes of programs that run in its sandboxes now, as they are seen outside."""
        return [entry.pid for entry in descendants(self.process.pid) if "solution.py" in command_line(entry.pid)]

    def wait_candidates(self, count: int) -> list[int]:
        """When so many run, at least."""
        self._wait(lambda: len(self.candidates()) >= count, f"there are not {count} candidates")
        return self.candidates()

    def wait_no_candidates(self) -> None:
        """When none runs any more."""
        self._wait(lambda: not self.candidates(), "there are still candidates")

    def _wait(self, met: Callable[[], bool], otherwise: str) -> None:
        deadline = time.monotonic() + END_SECONDS
        while not met():
            assert time.monotonic() < deadline, f"{otherwise}: {self.log}"
            with contextlib.suppress(subprocess.TimeoutExpired):
                status = self.process.wait(0.02)
                raise AssertionError(f"the server has ended with {status}: {self.log}")


def stored(place: Path | str) -> dict[str, float | None]:
    """The scenarios whose result is stored -> its score."""
    url = f"sqlite:///{place}" if isinstance(place, Path) else place.replace("postgresql:", "postgresql+psycopg:")
    engine = create_engine(url)
    try:
        with engine.connect() as connection, contextlib.suppress(DBAPIError):  # before the first life: no tables yet
            rows = connection.execute(text("SELECT scenario_id, score FROM runs WHERE ended_cursor IS NOT NULL"))
            return {row.scenario_id: row.score for row in rows}
        return {}
    finally:
        engine.dispose()


@dataclass
class Lives:
    """What happened to a job over many lives of its server."""

    stored_before: list[dict[str, float | None]] = field(default_factory=lambda: [{}])
    """what was stored when a life began"""
    spawners: list[int] = field(default_factory=list)
    results: dict[str, Any] = field(default_factory=dict)
    events: list[dict[str, Any]] = field(default_factory=list)
    killed_while_starting: int = 0
    seconds: float = 0.0


@contextlib.contextmanager
def servers(judge: Judge, *prefix: str, drain_seconds: int = 5) -> Iterator[Callable[[], Server]]:
    """Gives what starts a server, of the next life, perhaps by another program; those that still run in the end are
    killed. `drain_seconds`: how long a server waits, when it is told to stop, for runs that are under way."""
    started: list[Server] = []

    def start() -> Server:
        environment = judge.for_life(len(started))
        started.append(Server.start(*prefix, drain_seconds=drain_seconds, **environment))
        return started[-1]

    try:
        yield start
    finally:
        for server in started:
            if server.process.returncode is None:
                server.end(signal.SIGKILL)


def live_and_die(
    request: dict[str, Any], judge: Judge, place: Path | str, *, kills: int, seed: int, on_top: int = 0
) -> Lives:
    """Start a server, kill it with -9 at a random moment, start the next one over the same store, and so on; the last
    one is left to end the job, and is told to stop then.

    A moment is so many executions, and up to 60 ms, after a life has begun (a write to the store follows an execution
    within 50 ms or so); one life in ten is killed while it starts. `on_top`: how much is executed in the 60 ms.
    """
    lives, chosen, began = Lives(), random.Random(seed), time.monotonic()
    with servers(judge) as start:
        server = start().listens()
        job_id = server.ask("POST", "/benchmark_jobs", request)["id"]
        for life in range(kills):
            if life and chosen.random() < 0.1:
                lives.killed_while_starting += 1
            else:
                if life:
                    server.listens()
                left = len(request["scenarios"]) - len(lives.stored_before[-1])
                share = left // (kills - life + 1)
                asked = sum(asked.life < life for asked in judge.ledger)
                assert judge.wait_asked(asked + chosen.randint(1, max(1, share - on_top))), server.log
            with contextlib.suppress(subprocess.TimeoutExpired):
                server.process.wait(chosen.uniform(0.0, 0.06))
            lives.spawners += spawners(server.process.pid)
            assert server.end(signal.SIGKILL) == -signal.SIGKILL
            lives.stored_before.append(stored(place))
            server = start()
        server.listens()
        lives.events = list(server.events(job_id))
        lives.results = server.ask("GET", f"/benchmark_jobs/{job_id}/results")
        lives.spawners += spawners(server.process.pid)
        assert server.end() == 0, server.log
    lives.seconds = time.monotonic() - began
    return lives
