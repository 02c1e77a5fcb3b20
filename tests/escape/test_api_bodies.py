"""Bodies of requests, read in this process by what a server reads them with: from bytes to models, or to mistakes.

A server takes some milliseconds for a request, most of them for its route, its store and its connection:
`test_api_application.py` and `test_api_attacker.py` go that way. Here HARENA_FUZZ_MESSAGES bodies are read, of all
routes that take JSON.
"""

from __future__ import annotations

import importlib
import json
import os
import pkgutil
import random
from typing import Any

import pytest
from fastapi import Request
from fastapi.exceptions import RequestValidationError
from test_api_attacker import body_of, nonsense

from footprint import resident_bytes
from harena.core.errors import HarenaError
from harena.server import routes
from harena.server.answers import ProblemResponse
from harena.server.app import _mistakes
from harena.server.bodies import JsonRoute
from harena.server.strict_json import json_in

MESSAGES = int(os.environ.get("HARENA_FUZZ_MESSAGES", "5000"))
READERS = {
    (method, route.path): route.body_field
    for module in pkgutil.iter_modules(routes.__path__)
    if hasattr(read := importlib.import_module(f"{routes.__name__}.{module.name}"), "routes")
    for route in read.routes.router.routes
    if isinstance(route, JsonRoute) and route.body_field is not None
    for method in route.methods
}
"""(method, path) -> what makes a model of a body"""


def garbled(draw: random.Random, body: bytes) -> bytes:
    """Sometimes cut off, with other bytes, or in another encoding."""
    kind = draw.randrange(12)
    if kind == 0:
        return body[: draw.randrange(len(body) + 1)]
    if kind == 1 and body:
        place = draw.randrange(len(body))
        return body[:place] + draw.randbytes(draw.randrange(1, 5)) + body[place + 1 :]
    if kind == 2:
        return body.decode("utf-8", "replace").encode(draw.choice(("utf-16", "utf-8-sig", "utf-32")), "replace")
    if kind == 3:
        return body.replace(b'"', draw.choice((b"'", b'""', b"\\", b"[" * 300)))
    return body


@pytest.mark.timeout(0 if MESSAGES > 50_000 else 120)
async def test_bodies_of_a_fuzzer_are_models_or_mistakes() -> None:
    """Each body is a model of its route, or a mistake that is told in a bounded answer; no memory is left."""
    draw, memory, taken = random.Random(11), 0, {"model": 0, "mistakes": 0, "unreadable": 0}
    request = Request({"type": "http", "method": "POST", "path": "/", "headers": [], "query_string": b""})
    ways = sorted(READERS)
    assert len(ways) > 15
    values = [nonsense(draw, 2) for _ in range(2000)]  # to draw them takes longer than to read them

    def value_of(draw: random.Random) -> Any:
        place = draw.randrange(len(values))
        if draw.random() < 0.01:
            values[place] = nonsense(draw, draw.randrange(3))
        return values[place]

    for sent in range(MESSAGES):
        if sent == MESSAGES // 10:  # by now caches are full
            memory = resident_bytes()
        method, path = draw.choice(ways)
        body = garbled(draw, json.dumps(body_of(draw, path, method, value_of)).encode())
        outcome, answer = "unreadable", None
        try:
            value = json_in(body)
            outcome = "mistakes"
            _, mistakes = READERS[method, path].validate(value, {}, loc=("body",))
            if mistakes:
                answer = await _mistakes(request, RequestValidationError(mistakes))
            else:
                outcome = "model"
        except HarenaError as error:
            answer = ProblemResponse(error, None)
        if answer is not None:
            assert answer.status_code in (413, 422), f"{sent}: {path} {body[:200]!r}"
            assert len(answer.body) < 20_000, f"{sent}: {path} {body[:200]!r}"
        taken[outcome] += 1
    assert min(taken.values()) > MESSAGES // 200, taken
    assert resident_bytes() < memory + (32 << 20)
