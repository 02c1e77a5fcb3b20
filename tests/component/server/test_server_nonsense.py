from __future__ import annotations

import re
from typing import Any

import aiohttp
import pytest

from harena.core.problems import CONTENT_TYPE, PROBLEMS, STATUSES
from harena.server import document

ROUTES = sorted((method.upper(), path) for path, route in document.openapi()["paths"].items() for method in route)
STEPS = ("x", "%00", "..", "a%20b", "%F0%9F%A6%86", "%FF", "9" * 50, "-1")
BODIES: tuple[Any, ...] = (None, {}, [], "x", 5, {"unknown": 1}, {"name": "x" * 100_000})
QUERIES = ("", "?path=/workspace", "?path=/%00", "?path=..", "?limit=-1&cursor=x", "?path=/a&path=/b", "?after=1e9")
CODES = {problem.code for problem in PROBLEMS}


@pytest.mark.parametrize(("method", "path"), ROUTES, ids=[" ".join(route) for route in ROUTES])
async def test_no_route_fails_over_nonsense(http: aiohttp.ClientSession, method: str, path: str) -> None:
    """Whatever is asked: an answer, or a problem from the table with its own status; never the server's failure."""
    async with http.post("/v1/sandboxes", json={}) as made:
        sandbox_id = (await made.json())["id"]
    if path.endswith("/wait"):  # else it does
        async with http.post(f"/v1/sandboxes/{sandbox_id}/stop", json={}) as stopped:
            assert stopped.status == 200
    for step in (sandbox_id, *STEPS):
        asked = re.sub(r"\{\w+\}", step, path)
        asked = asked.replace(f"/sandboxes/{step}/", f"/sandboxes/{sandbox_id}/") if step != sandbox_id else asked
        for body in BODIES if step == sandbox_id else BODIES[:2]:
            for query in QUERIES if body is None else QUERIES[:2]:
                async with http.request(method, f"{asked}{query}", json=body) as answer:
                    where = f"{method} {asked}{query} {str(body)[:50]}: {answer.status}"
                    if answer.status >= 400:
                        assert answer.status < 500, where
                        assert answer.status in STATUSES, where
                        assert answer.headers["content-type"] == CONTENT_TYPE, where
                        assert (await answer.json(content_type=None))["code"] in CODES, where
