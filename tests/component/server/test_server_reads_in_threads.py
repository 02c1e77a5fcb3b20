"""What a user wrote is read in threads: to read it may take long, and all that others are answered runs in one loop."""

from __future__ import annotations

import difflib
import inspect
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import aiohttp
import pytest
from server_world import world

from harena.jobs import models
from harena.node import training_room
from harena.scoring import load
from harena.scoring.contracts import formula, parts
from harena.scoring.formats import importing
from harena.training.requests import request

READERS = (
    difflib.get_close_matches,
    models.parse_request,
    models.parse_score_request,
    load.load_scenarios,
    importing.import_problems,
    parts.regular_expression,
    formula.check_formula,
    request.parse_request,
    training_room._json_bytes,
)
"""functions whose time grows with what is read, or that compile it"""
SCORED = {
    "id": "one",
    "candidate": "print(1)",
    "scoring": {
        "type": "weighted",
        "parts": {
            "a": {"scoring": {"type": "regex", "pattern": "1+"}},
            "b": {"scoring": {"type": "regex", "pattern": "2"}},
        },
        "formula": "(a + b) / 2",
    },
}
HUMANEVAL = {
    "task_id": "H/0",
    "prompt": "def f():\n",
    "entry_point": "f",
    "test": "def check(c):\n    assert c() == 1\n",
}
TRAINING = {
    "trainer_type": "rl",
    "model": "m@1",
    "config": {"steps": 1, "no_such_key": 1, "reward_recipe": {"name": "row_reward_v1", "params": {"x": 1}}},
}
BODIES: dict[str, list[Any]] = {
    "/v1/scores": [{"scenario": SCORED}, {"scenario": {**SCORED, "unknown": 1}}, {"scenaria": SCORED}],
    "/v1/benchmark_jobs": [
        {"name": "n", "scenarios": [SCORED]},
        {"name": "n", "scenarios": [SCORED], "confg": {}},
        {"name": "n", "scenarios": [HUMANEVAL], "candidates": [{"task_id": "H/1", "completion": "    return 1\n"}]},
    ],
    "/v1/scoring_contracts": [{"name": "c", "contract": SCORED["scoring"]}, {"name": "d", "contract": {"type": "rgx"}}],
    "/v1/scenarios": [{"name": "s", "scenarios": [SCORED]}, {"name": "t", "scenarios": [{**SCORED, "candidat": 1}]}],
    "/v1/benchmark_job_defs": [{"name": "d", "request": {"scenarios": [SCORED]}}],
    "/v1/calibrations": [{"scenarios": [{**SCORED, "gold": "print(1)"}]}, {"scenarios": [{**SCORED, "golden": "x"}]}],
    "/v1/training_jobs": [TRAINING],
    "/v1/training_jobs/plan": [TRAINING],
}


@contextmanager
def calls_in_this_thread() -> Iterator[list[str]]:
    """Names of the readers that are called in this thread, in which the server's loop runs."""
    codes: dict[CodeType, str] = {
        inspect.unwrap(each).__code__: f"{each.__module__}.{each.__name__}" for each in READERS
    }
    found: list[str] = []

    def called(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code in codes:
            found.append(codes[frame.f_code])

    sys.setprofile(called)
    try:
        yield found
    finally:
        sys.setprofile(None)


@pytest.mark.parametrize("path", BODIES)
async def test_nothing_of_a_users_is_read_in_the_loop(tmp_path: Path, path: str) -> None:
    """Right and wrong bodies of every route that takes scenarios, contracts or requests of jobs."""
    loop_thread = threading.get_ident()
    async with world(tmp_path) as here, aiohttp.ClientSession(here.url) as http:
        here.runtime.isolates = True  # a calibration asks for it
        for body in BODIES[path]:
            with calls_in_this_thread() as found:
                async with http.post(path, json=body) as answer:
                    assert answer.status < 500, await answer.text()
                    assert threading.get_ident() == loop_thread
            assert found == [], body


def test_readers_are_noticed() -> None:
    """The measure of the other test notices a reader."""
    formula.check_formula.cache_clear()
    with calls_in_this_thread() as found:
        difflib.get_close_matches("a", ["b"])
        load.load_scenarios([SCORED])
    assert found[0] == "difflib.get_close_matches"
    assert {name.rpartition(".")[2] for name in found} >= {"load_scenarios", "regular_expression", "check_formula"}
