"""What RUN of a Dockerfile may reach is what the build says."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from image_trees import archive_of, put_programs, put_python

BUILDS = """
import json, sys
from pathlib import Path
import harena

place, port = Path(sys.argv[1]), sys.argv[2]
harena.images.import_archive("localhost/base:1", place / "root.tar")
told, said = [], []


def hear(event):
    said.append(event.text)


for network in ("none", f"localhost:{port},127.0.0.1:{port}", "127.0.0.1"):
    try:
        made = harena.images.build(place, network=network, use_cache=False, on_event=hear)
        with harena.Sandbox.run(container_image=made.image) as sandbox:
            told.append(sandbox.read_file("/page").result().decode())
    except harena.ImageBuildError as error:
        told.append(f"error: {error}")
print(json.dumps([told, [line for line in "\\n".join(said).splitlines() if line.startswith("harena: refused")]]))
"""
PROGRAM = """
import http.client, sys
connection = http.client.HTTPConnection("127.0.0.1", 3128, timeout=20)
connection.request("GET", "http://localhost:PORT/page")
answer = connection.getresponse()
open("/page", "wb").write(answer.read())
sys.exit(answer.status != 200)
"""


class _Page(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "4")
        self.end_headers()
        self.wfile.write(b"page")

    def log_message(self, *_: object) -> None:
        """Nothing."""


@pytest.fixture
def port() -> Iterator[int]:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Page) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server.server_port
        server.shutdown()
        thread.join()


def test_run_reaches_what_the_build_says(tmp_path: Path, port: int) -> None:
    """And nothing without a word, nor by another host or port."""
    root, home = tmp_path / "root", tmp_path / "home"
    put_programs(root)
    put_python(root)
    archive_of(root, tmp_path / "root.tar")
    (tmp_path / "fetch.py").write_text(PROGRAM.replace("PORT", str(port)))
    (tmp_path / ".dockerignore").write_text("*\n!fetch.py\n")
    (tmp_path / "Dockerfile").write_text("FROM localhost/base:1\nCOPY fetch.py /fetch.py\nRUN python3 /fetch.py\n")
    ended = subprocess.run(
        [sys.executable, "-c", BUILDS, str(tmp_path), str(port)],
        env={**os.environ, "HARENA_HOME": str(home)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    (none, named, other), refusals = json.loads(ended.stdout)
    assert "exit code 1" in none
    assert named == "page"
    assert "exit code 1" in other
    assert len(refusals) == 1
    assert refusals[0].startswith(f"harena: refused: localhost:{port}: ")
