"""Requests: strict, with sentences that help."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harena.core.errors import ValidationError
from harena.core.records.benchmark_jobs import JobConfiguration
from harena.jobs.models import JobConfig, parse_request

GOOD: dict[str, Any] = {"name": "epoch-1", "scenarios": [{"id": "a"}], "blueprint_id": "bp_1"}


def test_defaults() -> None:
    """Only a name and scenarios are needed."""
    parsed = parse_request({"name": "n", "scenarios": Path("x.yaml")})
    assert parsed.blueprint_id is None  # "default", or the warm one for data sets: see node.job_scenarios
    assert parsed.config == JobConfig(
        concurrency=8, timeout_seconds=120.0, retry_attempts=1, attempts=1, require_trust=None, rescore_fraction=0.0
    )


def test_answers_have_the_configuration_of_requests() -> None:
    """Field by field, with the same defaults; a job that an earlier version has stored lacks some."""
    asked = JobConfig().model_dump(mode="json")
    assert JobConfiguration.from_dict(asked).to_dict() == asked
    assert JobConfiguration().to_dict() == asked
    assert JobConfiguration.from_dict({"attempts": 2}).attempts == 2


def test_the_guides_request() -> None:
    """Whole seconds are fine for a time-out; lists and tuples for scenarios."""
    parsed = parse_request(
        {
            **GOOD,
            "scenarios": ({"id": "a"},),
            "config": {"concurrency": 200, "timeout_seconds": 120, "retry_attempts": 1},
        }
    )
    assert parsed.config.concurrency == 200
    assert parsed.config.timeout_seconds == 120.0
    assert parsed.scenarios == [{"id": "a"}]


@pytest.mark.parametrize(
    ("request_", "sentence"),
    [
        ({**GOOD, "config": {"concurency": 2}}, "config.concurency: unknown key; did you mean 'concurrency'?"),
        ({**GOOD, "blueprint": "x"}, "blueprint: unknown key; did you mean 'blueprint_id'?"),
        ({**GOOD, "zzz": 1}, "zzz: unknown key; valid keys are name, scenarios, blueprint_id, config"),
        ({"scenarios": []}, "name: missing"),
        ({"name": "n"}, "scenarios: missing"),
        ({**GOOD, "scenarios": 7}, "scenarios: must be the path of a scenario file or a list of scenarios"),
        (
            {**GOOD, "candidates": 7},
            "candidates: must be the path of a file of answers, a list of",
        ),
        ({**GOOD, "grader": 7}, "grader: must be the path of a grader's JSON file, or the grader as a mapping"),
        ({**GOOD, "format": ""}, "format: string should have at least 1 character"),
        ({**GOOD, "config": {"concurrency": "8"}}, "config.concurrency: input should be a valid integer (got '8')"),
        ({**GOOD, "config": {"concurrency": True}}, "config.concurrency"),
        ({**GOOD, "config": {"concurrency": 1001}}, "less than or equal to 1000 (got 1001)"),
        ({**GOOD, "config": {"timeout_seconds": float("inf")}}, "config.timeout_seconds"),
        ({**GOOD, "config": {"timeout_seconds": 0}}, "config.timeout_seconds: input should be greater than 0"),
        (
            {**GOOD, "config": {"require_trust": "total"}},
            "config.require_trust: input should be 'separate' or 'shared'",
        ),
        ({**GOOD, "config": [1]}, "config"),
        ({**GOOD, "name": " x"}, "name: must be printable text without spaces around it (got ' x')"),
        ({**GOOD, "name": ""}, "name"),
    ],
)
def test_every_mistake_is_named(request_: dict[str, Any], sentence: str) -> None:
    """Field, what is wrong, and what would be right."""
    with pytest.raises(ValidationError) as caught:
        parse_request(request_)
    assert sentence in str(caught.value)


def test_all_mistakes_at_once() -> None:
    """Nobody has to fix them one by one."""
    with pytest.raises(ValidationError) as caught:
        parse_request({"nam": "x", "config": {"attempts": 0}})
    assert len(str(caught.value).splitlines()) == 5  # the heading, nam, name, scenarios, attempts


@given(st.dictionaries(st.text(max_size=8), st.none() | st.integers() | st.text(max_size=5) | st.lists(st.integers())))
def test_any_mapping_is_parsed_or_refused(mapping: dict[str, Any]) -> None:
    """Any mapping with a key too many is refused with our own error, and any other one is accepted."""
    if mapping:
        with pytest.raises(ValidationError, match="unknown key"):
            parse_request({**GOOD, **{f"_{key}": value for key, value in mapping.items()}})
    else:
        assert parse_request({**GOOD, **mapping}).name == GOOD["name"]
