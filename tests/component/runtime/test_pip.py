"""pip is stopped when its time is over, or when it writes too much, and only the end of what it says is kept."""

from __future__ import annotations

import os
import select
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from harena.core.errors import LimitExceededError
from harena.core.settings import PACKAGE_DOWNLOAD_BYTES, PACKAGE_SECONDS
from harena.runtime.host.layers import LayerStore
from harena.runtime.host.pip import MOST_SAID, Pip, PipLimits

pytestmark = pytest.mark.thorough

MIB = 1024 * 1024


class Index(ThreadingHTTPServer):
    """A package index: a wheel of `endless` has no end, and a page of `silent` is never answered."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Pages)
        self.sent = 0
        self.is_over = threading.Event()

    @property
    def options(self) -> tuple[str, ...]:
        """With which pip asks this index only."""
        return ("--isolated", "--index-url", f"http://127.0.0.1:{self.server_port}/simple")


class Pages(BaseHTTPRequestHandler):
    """What the index answers."""

    server: Index

    def do_GET(self) -> None:
        """See Index."""
        if self.path.startswith("/simple/silent"):
            self.server.is_over.wait()
            return
        self.send_response(200)
        if self.path.startswith("/simple/"):
            self.send_header("content-type", "text/html")
            self.end_headers()
            self.wfile.write(b'<!DOCTYPE html><a href="/endless-1.0-py3-none-any.whl">endless-1.0-py3-none-any.whl</a>')
            return
        self.send_header("content-type", "application/octet-stream")
        self.end_headers()
        with suppress(OSError):
            while not self.server.is_over.is_set():
                self.server.sent += self.wfile.write(bytes(64 * 1024))

    def log_message(self, *told: object) -> None:
        """Nothing is told."""


@pytest.fixture
def index() -> Iterator[Index]:
    """The index, on loopback."""
    server = Index()
    serving = threading.Thread(target=server.serve_forever)
    serving.start()
    yield server
    server.is_over.set()
    server.shutdown()
    serving.join()
    server.server_close()


def test_an_endless_wheel_is_not_downloaded_for_long(index: Index, tmp_path: Path) -> None:
    """What was written of it is removed, whether or not a workspace has a limit."""
    store = LayerStore(tmp_path / "layers", pip_options=index.options, limits=PipLimits(seconds=120, bytes=20 * MIB))
    for most in (None, 10 * MIB):
        index.sent = 0
        with pytest.raises(LimitExceededError, match=PACKAGE_DOWNLOAD_BYTES.name) as refused:
            store.install(["endless"], most_bytes=most)
        assert refused.value.reason == "BLUEPRINTS"
        assert index.sent > 5 * MIB
        assert [*(store.root / ".making").iterdir()] == []


def test_an_index_that_never_answers_is_left(index: Index, tmp_path: Path) -> None:
    """Long before pip itself gives up."""
    store = LayerStore(tmp_path / "layers", pip_options=index.options, limits=PipLimits(seconds=3, bytes=MIB))
    began = time.monotonic()
    with pytest.raises(LimitExceededError, match=PACKAGE_SECONDS.name):
        store.install(["silent"])
    assert time.monotonic() - began < 15  # pip waits as long for one answer, and asks six times
    assert [*(store.root / ".making").iterdir()] == []


def program(place: Path, script: str) -> str:
    """An interpreter that does this whatever it is asked."""
    place.write_text(f"#!/bin/sh\n{script}\n")
    place.chmod(0o755)
    return str(place)


def test_the_end_of_what_pip_says_is_kept(tmp_path: Path) -> None:
    """However much that is."""
    python = program(tmp_path / "python", "head -c 5000000 /dev/zero | tr '\\0' x >&2; echo the end >&2; exit 3")
    finished = Pip(python, tmp_path, PipLimits(seconds=60, bytes=MIB), is_cached=False).run(["index"])
    assert finished.returncode == 3
    assert len(finished.said) == MOST_SAID
    assert finished.said.endswith("x" * 1000 + "the end\n")


def test_pip_is_stopped_with_its_children(tmp_path: Path) -> None:
    """For another interpreter it starts a process of its own."""
    python = program(tmp_path / "python", f"echo $$ > {tmp_path}/pid; exec sleep 1000")
    limits = PipLimits(seconds=5, bytes=MIB)
    with pytest.raises(LimitExceededError, match=PACKAGE_SECONDS.name):
        Pip(python, tmp_path, limits, is_cached=False).run(["index"])
    with suppress(ProcessLookupError):  # it has been reaped already
        ended = os.pidfd_open(int((tmp_path / "pid").read_text()))
        try:  # the signal has been sent; the kernel ends the process when that gets a processor
            assert select.select([ended], [], [], 60.0)[0] == [ended]
        finally:
            os.close(ended)


def test_limits_are_the_operators() -> None:
    """Those of the settings, where they are set."""
    assert PipLimits.of({}) == PipLimits(float(PACKAGE_SECONDS.default or 0), int(PACKAGE_DOWNLOAD_BYTES.default or 0))
    chosen = {PACKAGE_SECONDS.name: "1.5", PACKAGE_DOWNLOAD_BYTES.name: "5"}
    assert PipLimits.of(chosen) == PipLimits(1.5, 5)
