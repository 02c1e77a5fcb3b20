"""Typed configurations: what a type checker refuses is what a node refuses, and both are one declaration.

mypy reads this file with all others, and calls an `ignore` that ignores nothing a mistake: so each of the calls below
that has one is refused by it.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest

from harena import benchmark_jobs, training_jobs
from harena.core.errors import ValidationError
from harena.training.requests.request import parse_request

SCRIPT = Path(__file__).parents[3] / "scripts/config_types.py"


def what_an_editor_takes() -> None:
    """Nobody calls it."""
    training_jobs.create(trainer_type="sft", model="m", config={"dataset_ref": "rows.jsonl", "steps": 2})
    training_jobs.create(trainer_type="rl", model="m", config={"algorithm": "grpo", "temperature": 1, "tuning": None})
    training_jobs.create({"trainer_type": "rl", "model": "m", "config": {}}, idempotency_key="k")
    benchmark_jobs.create(name="n", scenarios=[], config={"concurrency": 8, "retry_on": ["platform", "timeout"]})


def what_an_editor_refuses() -> None:
    """Nobody calls it."""
    training_jobs.create(trainer_type="rll", model="m")  # type: ignore[arg-type]
    training_jobs.create(trainer_type="rl", model="m", config={"stepps": 3})  # type: ignore[typeddict-item]
    training_jobs.plan(trainer_type="sft", modle="m")  # type: ignore[call-arg]
    training_jobs.create.aio(trainer_type="rl", model="m", config={"algorithm": "grpoo"})  # type: ignore[typeddict-item]
    benchmark_jobs.create(name="n", scenarios=[], config={"timeout": 3})  # type: ignore[typeddict-unknown-key]
    benchmark_jobs.create(name="n", scenarios=[], config={"require_trust": "some"})  # type: ignore[typeddict-item]


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ({"trainer_type": "rll"}, "trainer_type"),
        ({"trainer_type": "rl", "config": {"algorithm": "grpo", "stepps": 3}}, "stepps"),
        ({"trainer_type": "rl", "config": {"algorithm": "grpoo"}}, "algorithm"),
    ],
)
def test_a_node_refuses_the_same(asked: dict[str, Any], says: str) -> None:
    """By the models that the types are made of."""
    with pytest.raises(ValidationError, match=says):
        parse_request({"model": "tiny-llama", "config": {}, **asked})


def test_the_types_are_those_of_the_models() -> None:
    """`python scripts/config_types.py` writes them."""
    spec = importlib.util.spec_from_file_location("config_types_script", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    assert script.PLACE.read_text(encoding="utf-8") == script.written()
