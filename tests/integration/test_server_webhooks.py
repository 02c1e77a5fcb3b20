"""`harena serve` that is killed between a job's end and the delivery of its webhook, by the clock of the machine."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from test_server import END_SECONDS, started

import harena
from harena.sdk import portal

pytestmark = pytest.mark.thorough

SCENARIO = {
    "id": "a",
    "candidate": {"files": {"solution.py": "print(3)"}},
    "scoring": {"type": "stdio", "cases": [{"stdin": "", "stdout": "3"}]},
}


class Receiver:
    """Refuses some times, then accepts; remembers what it was told, of which it believes what was signed."""

    def __init__(self, secret: str, refusals: int) -> None:
        self.secret = secret
        self.refusals = refusals
        self.told: list[Any] = []
        self.news = threading.Semaphore(0)

    @contextmanager
    def listening(self) -> Iterator[str]:
        """Its URL."""

        class Hooks(BaseHTTPRequestHandler):
            def do_POST(hooks) -> None:  # noqa: N805 - `self` is the receiver
                body = hooks.rfile.read(int(hooks.headers["content-length"]))
                self.told.append(harena.webhooks.verify(dict(hooks.headers), body, self.secret))
                hooks.send_response(500 if len(self.told) <= self.refusals else 204)
                hooks.end_headers()
                self.news.release()

            def log_message(hooks, *_: object) -> None:  # noqa: N805
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Hooks)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/hooks"
        finally:
            server.shutdown()
            thread.join()
            server.server_close()


# A third try is made 15 s after the second one. tests/component/node/test_webhooks.py has more of them, and more kills,
# by a clock that hurries.
@pytest.mark.slow
@pytest.mark.parametrize("refusals", [1, pytest.param(2, marks=pytest.mark.soak)])
def test_a_server_that_is_killed_delivers_when_it_is_back(
    home: Path, monkeypatch: pytest.MonkeyPatch, refusals: int
) -> None:
    """kill -9 as the receiver refuses for the first time: the next server goes on, and the job says how it went."""
    receiver = Receiver(harena.webhooks.new_secret(), refusals)
    with receiver.listening() as hooks:
        process, url = started("--webhook-allow", "127.0.0.1")
        monkeypatch.setenv("HARENA_BASE_URL", url)
        try:
            harena.benchmark_job_defs.create(
                "told", scenarios=[SCENARIO], webhook={"url": hooks, "secret": receiver.secret}
            )
            job = harena.benchmark_job_defs.run("told", config={"attempts": 2})
            assert receiver.news.acquire(timeout=END_SECONDS)
        finally:
            portal.shutdown()
            process.kill()
            _, log = process.communicate(timeout=END_SECONDS)
        process, url = started("--webhook-allow", "127.0.0.1")
        monkeypatch.setenv("HARENA_BASE_URL", url)
        try:
            for _ in range(refusals):
                assert receiver.news.acquire(timeout=2 * END_SECONDS)
            # drained: what came of the last try is noted before the server ends
            process.send_signal(signal.SIGTERM)
            log += process.communicate(timeout=END_SECONDS)[1]
        finally:
            portal.shutdown()
            process.kill()
            process.wait()
        process, url = started()
        monkeypatch.setenv("HARENA_BASE_URL", url)
        try:
            found = harena.benchmark_jobs.get(job.id)
            kinds = [event.kind for event in harena.benchmark_jobs.events(job.id)]
        finally:
            portal.shutdown()
            process.send_signal(signal.SIGTERM)
            log += process.communicate(timeout=END_SECONDS)[1]
    for kept in ("harena.db", "harena.db.lock"):
        (home / kept).unlink()
    assert len({event.delivery_id for event in receiver.told}) == 1
    assert [(event.job_id, event.state, event.summary["passed"]) for event in receiver.told] == [
        (job.id, "completed", 2)
    ] * (refusals + 1)
    assert found.definition["ref"] == "told@1"
    assert found.webhook is not None
    assert found.webhook["state"] == "delivered"
    assert kinds[-2:] == ["job_ended", "webhook_delivered"]
    assert receiver.secret.removeprefix("whsec_") not in log
