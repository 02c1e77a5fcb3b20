"""A real `harena serve` for the time of a measurement, with a home of its own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

END_SECONDS = 60


@dataclass(frozen=True, slots=True)
class Server:
    """Where it listens, and its process."""

    url: str
    pid: int


@contextmanager
def server(home: Path, database_url: str | None = None, limits: Mapping[str, int] | None = None) -> Iterator[Server]:
    """Started on a free port of the loopback, and ended afterwards; `limits` of all workspaces, None = the usual.
    Raises RuntimeError if it does not listen."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("HARENA_")}
    environment["HARENA_HOME"] = str(home)
    if database_url is not None:
        environment["HARENA_DATABASE_URL"] = database_url
    words = [sys.executable, "-m", "harena.cli.main", "serve", "--port", "0", "--drain", "5"]
    words += [f"--limit={name}={value}" for name, value in (limits or {}).items()]
    # a session of its own, as a service has: where the kernel groups by session, what runs beside the benchmark would
    # otherwise share one part of the processors with the server
    process = subprocess.Popen(words, env=environment, stderr=subprocess.PIPE, text=True, start_new_session=True)
    assert process.stderr is not None
    said = []
    reading: threading.Thread | None = None
    try:
        for line in process.stderr:
            said.append(line)
            if '"listening"' in line:
                break
        else:
            raise RuntimeError(f"harena serve did not listen:\n{''.join(said)}")
        # what it says from now on is read, so that it never waits for room in the pipe
        reading = threading.Thread(target=process.stderr.read, daemon=True)
        reading.start()
        yield Server(json.loads(said[-1])["url"], process.pid)
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if reading is not None:
            reading.join()
        process.stderr.close()
