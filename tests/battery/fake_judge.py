"""A local server with the interface of a chat completion, which judges rightly and does what confuses a reader.

It says that an answer is right where the answer is the reference, and quotes what it was given, before or after.
A text in the question (`harena-fake-judge: ...`) makes it misbehave as a model or its server would: no JSON, too much,
too late, a status code. What it is told of the form of its answer, it follows.
"""

from __future__ import annotations

import http.server
import json
import re
import threading
import time
from typing import Any

_QUOTING = (
    "<think>The answer given was: {said}</think>{verdict}",
    "The answer given was: {said}\n\n{verdict}",
    "<think>Is it right?</think>It said: {said}\n{verdict}",
    "{verdict}\nbecause it said: {said}",
)
"""how models quote what they judge"""
_RIGHT = re.compile(r"Right is (\d+)\. Judge: <judged ([0-9a-f]+)>\n(.*)\n</judged \2>", re.DOTALL)


def answer_to(messages: list[dict[str, str]]) -> tuple[int, str]:
    """(status, the text that the model says)."""
    question = messages[0]["content"]
    asked = " ".join(message["content"] for message in messages[1:])
    found = _RIGHT.search(question)
    right, said = (found[1], found[3]) if found else ("", "")
    wish = re.search(r"harena-fake-judge: ([a-z0-9 ]+)", said)
    is_right = said.strip() == right
    verdict = _verdict(asked, is_right)
    if wish is None:
        return 200, _QUOTING[len(said) % len(_QUOTING)].format(said=said, verdict=verdict)
    return {
        "say nothing": (200, ""),
        "answer 500": (500, "internal"),
        "answer 400": (400, "too long"),
        "answer at length": (200, "x" * 3_000_000 + verdict),
        "answer in prose": (200, "I will not say."),
        "answer with 400 digits": (200, '{"score": ' + "1" * 400 + "}"),
        "answer deeply": (200, '{"a":' * 100_000),
        "answer with an empty text": (200, " "),
        "answer by a redirect": (302, ""),
    }.get(wish[1].strip(), (200, verdict))


def _verdict(asked: str, is_right: bool) -> str:
    if '"label"' in asked:
        value: Any = "right" if is_right else "wrong"
        key = "label"
    else:
        key, value = "score", int(is_right)
    written = json.dumps({key: value})
    nonce = re.search(r"\{\"([a-z]+)\": \"([0-9a-f]+)\", \"(?:label|score)\"", asked)
    return json.dumps({nonce[1]: nonce[2], key: value}) if nonce else written


class _Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if "answer late" in body["messages"][0]["content"]:
            time.sleep(1.3)
        status, said = answer_to(body["messages"])
        written = json.dumps({"choices": [{"message": {"content": said}}]}).encode()
        self.send_response(status)
        if status == 302:
            self.send_header("Location", "/v1/elsewhere")
        self.send_header("Content-Length", str(len(written)))
        self.end_headers()
        self.wfile.write(written)

    def do_GET(self) -> None:
        written = json.dumps({"choices": [{"message": {"content": '{"score": 1, "label": "right"}'}}]}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(written)))
        self.end_headers()
        self.wfile.write(written)

    def log_message(self, *_: object) -> None:
        """Nothing."""


class _Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_: object) -> None:
        """A client that has given up is none of a judge's errors."""


class FakeJudge:
    """The server, while it is entered; `url` is its address."""

    def __enter__(self) -> FakeJudge:
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1"
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
