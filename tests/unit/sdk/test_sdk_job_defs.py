"""Definitions of benchmark jobs, from the user's side."""

from pathlib import Path
from typing import Any

import pytest
from sdk_fake_node import NodeControl

from harena.core.errors import NotFoundError, ValidationError
from harena.sdk import benchmark_job_defs, benchmark_jobs


def test_only_what_is_given_is_kept(node: NodeControl) -> None:
    """In the form of a job's request; a job's name beside the definition's."""
    made = benchmark_job_defs.create(
        "nightly",
        scenarios=Path("problems.yaml"),
        candidates=({"code": text} for text in "xy"),
        format="rft",
        grader={"type": "python"},
        blueprint_id="env",
        config={"attempts": 4},
        webhook={"url": "http://x"},
        job_name="of the night",
        metadata={"team": "a"},
    )
    assert made.ref == "nightly@1"
    benchmark_job_defs.create("empty")
    first, second = node.opened[0].requests
    assert first == {
        "kind": "benchmark_job_defs",
        "name": "nightly",
        "request": {
            "name": "of the night",
            "scenarios": "problems.yaml",
            "candidates": [{"code": "x"}, {"code": "y"}],
            "format": "rft",
            "grader": {"type": "python"},
            "blueprint_id": "env",
            "config": {"attempts": 4},
            "webhook": {"url": "http://x"},
        },
        "metadata": {"team": "a"},
    }
    assert second == {"kind": "benchmark_job_defs", "name": "empty", "request": {}, "metadata": {}}


def test_a_run_names_the_definition_and_what_it_replaces(node: NodeControl) -> None:
    """By name, by version, or by what `get` gave."""
    job = benchmark_job_defs.run("nightly", name="j", candidates="c.jsonl", config={"concurrency": 200})
    assert isinstance(job, benchmark_jobs.BenchmarkJob)
    found = benchmark_job_defs.get("nightly@2")
    benchmark_job_defs.run(found, name="k", scenarios=[])
    assert node.opened[0].requests == [
        {"definition": "nightly", "name": "j", "candidates": "c.jsonl", "config": {"concurrency": 200}},
        {"definition": "nightly@2", "name": "k", "scenarios": []},
    ]


def test_the_same_key_is_for_the_same_run_of_the_same_definition(node: NodeControl) -> None:
    """The definition is a part of what is asked for."""
    fakes: list[Any] = []
    for definition in ("a", "a", "b"):
        benchmark_job_defs.run(definition, name="j", idempotency_key="once")
        fakes.append(node.opened[0].keys[-1])
    assert fakes[0] == fakes[1]
    assert (fakes[0].key, fakes[2].key) == ("once", "once")
    assert fakes[0].asked != fakes[2].asked


def test_looking_at_definitions(node: NodeControl) -> None:
    """Page after page; what is not there is an error."""
    assert [entry.ref for entry in benchmark_job_defs.list(prefix="n")] == [
        "benchmark_job_defs@2",
        "benchmark_job_defs@1",
    ]
    assert benchmark_job_defs.get("a", content=True).request == {}
    assert benchmark_job_defs.archive("a") == 3
    benchmark_job_defs.delete("a@1")
    assert node.opened[0].requests[-1] == {"kind": "benchmark_job_defs", "deleted": "a@1"}
    with pytest.raises(NotFoundError):
        benchmark_job_defs.get("missing")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"config": 3}, "config must be a mapping"),
        ({"webhook": "http://x"}, "webhook must be a mapping"),
        ({"scenarios": 3}, "scenarios must be"),
        ({"candidates": 3}, "candidates must be"),
    ],
)
def test_wrong_types_are_named_before_anything_is_asked(node: NodeControl, arguments: Any, says: str) -> None:
    """From both verbs."""
    for verb in (benchmark_job_defs.create, benchmark_job_defs.run):
        with pytest.raises(ValidationError, match=says):
            verb("d", **arguments)
    assert node.opened == []
