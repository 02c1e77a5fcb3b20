"""Blueprints and benchmark jobs, blocking and awaited."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import pytest
from sdk_fake_node import NodeControl

from fake_answers import filled
from harena import Blueprint, benchmark_jobs, blueprints
from harena.core.errors import NotFoundError, SandboxTimeoutError, ValidationError
from harena.core.records.benchmark_jobs import BenchmarkRun, ResultsPage
from harena.core.records.training_jobs import TrainingFile
from harena.core.results import RunResult
from harena.jobs.summary import summarise


def test_blueprints_are_made_found_and_listed(node: NodeControl) -> None:
    """Plain objects at once."""
    made = blueprints.create("ml", packages=["numpy"], files={"/a": "ü"}, env={"A": "1"}, warm=["numpy"])
    assert isinstance(made, Blueprint)
    assert (made.requested, made.files, made.env, made.warm) == (
        ("numpy",),
        {"/a": "ü".encode()},
        {"A": "1"},
        ("numpy",),
    )
    assert blueprints.get("ml").id == blueprints.get("bp-ml").id == made.id
    (listed,) = blueprints.list()
    assert (listed.id, listed.requested, listed.warm) == (made.id, made.requested, made.warm)
    assert (listed.files, listed.file_bytes) == (1, 2)
    with pytest.raises(NotFoundError):
        blueprints.get("none")
    with pytest.raises(ValidationError, match="not one text"):
        blueprints.create("x", packages="numpy")


async def test_the_same_verbs_can_be_awaited(node: NodeControl) -> None:
    """`aio` has all of them."""
    made = await blueprints.aio.create("ml")
    assert await blueprints.aio.get("ml") == made
    assert [found.id for found in await blueprints.aio.list()] == [made.id]
    job = await benchmark_jobs.aio.create(name="j", scenarios=[])
    assert (await benchmark_jobs.aio.get(job.id)).state == "running"
    assert (await benchmark_jobs.aio.wait(job)).runs[0].score is None
    assert len(await benchmark_jobs.aio.list()) == 2
    assert (await benchmark_jobs.aio.cancel(job)).state == "cancelled"
    assert (await benchmark_jobs.aio.results(job)).job_id == job.id
    assert [event.cursor async for event in benchmark_jobs.aio.events(job, after=1)] == [2, 3]


def test_verbs_keep_their_names_and_texts() -> None:
    """Help shows what the function says."""
    assert blueprints.get.__doc__ is not None
    assert "Raises NotFoundError" in blueprints.get.__doc__
    assert blueprints.get.__wrapped__.__name__ == "_get"  # type: ignore[attr-defined]


def test_a_job_as_in_the_guide(node: NodeControl) -> None:
    """Create, wait, read the signals."""
    blueprint = blueprints.create("python-ml-training-env")
    job = benchmark_jobs.create(
        name="epoch-42",
        scenarios=[{"id": "s1"}],
        blueprint_id=blueprint.id,
        config={"concurrency": 200, "timeout_seconds": 120, "retry_attempts": 1},
    )
    assert (job.id, job.name, job.state, job.progress.total) == ("job-epoch-42", "epoch-42", "running", 2)
    results = benchmark_jobs.wait(job.id)
    assert [(run.scenario_id, run.score) for run in results.runs] == [("s1", None)]
    run = results.runs[0]
    assert (run.passed, run.duration_seconds, run.validity, run.trust, run.reason) == (
        False,
        0.5,
        "infra",
        "separate",
        "platform_error",
    )
    assert results.summary.total == 1
    assert run.metadata == {"split": "train"}
    assert node.opened[0].requests == [
        {
            "name": "epoch-42",
            "scenarios": [{"id": "s1"}],
            "blueprint_id": "bp-python-ml-training-env",
            "config": {"concurrency": 200, "timeout_seconds": 120, "retry_attempts": 1},
        }
    ]


def test_scenarios_in_each_form(node: NodeControl) -> None:
    """A path of either kind, a file's content, or anything that can be iterated."""
    benchmark_jobs.create(name="a", scenarios=Path("x.yaml"))
    benchmark_jobs.create(name="b", scenarios="y.yaml")
    benchmark_jobs.create(name="c", scenarios=({"id": str(number)} for number in range(2)))
    given = [request["scenarios"] for request in node.opened[0].requests]
    assert given[:2] == ["x.yaml", "y.yaml"]
    assert [*given[2]] == [{"id": "0"}, {"id": "1"}], "made one by one, and taken by the node"
    assert "blueprint_id" not in node.opened[0].requests[0]
    benchmark_jobs.create(name="d", scenarios={"problems": []})
    assert node.opened[0].requests[3]["scenarios"] == {"problems": []}
    with pytest.raises(ValidationError, match="scenarios must be"):
        benchmark_jobs.create(name="d", scenarios=3)  # type: ignore[arg-type]


def test_a_data_set_with_its_answers(node: NodeControl) -> None:
    """Candidates, format and grader are passed on only as they are asked for, in each form."""
    benchmark_jobs.create(
        name="a",
        scenarios="rows.jsonl",
        candidates=Path("s.jsonl"),
        format="rft",
        grader={"type": "python"},
    )
    benchmark_jobs.create(name="b", scenarios=[{}], candidates=({"code": text} for text in "xy"))
    first, second = node.opened[0].requests
    assert (first["candidates"], first["format"], first["grader"]) == ("s.jsonl", "rft", {"type": "python"})
    assert [*second["candidates"]] == [{"code": "x"}, {"code": "y"}]
    assert "format" not in second
    with pytest.raises(ValidationError, match="candidates must be"):
        benchmark_jobs.create(name="c", scenarios=[], candidates=3)  # type: ignore[arg-type]
    with pytest.raises(ValidationError, match="grader must be"):
        benchmark_jobs.create(name="c", scenarios=[], grader=3)  # type: ignore[arg-type]


def test_an_idempotency_key_goes_with_what_was_asked(node: NodeControl) -> None:
    """The same request has the same fingerprint, another one another."""
    for name, key in (("a", "k"), ("a", "k"), ("b", "k"), ("a", None)):
        benchmark_jobs.create(name=name, scenarios=[{"id": "s"}], config={"attempts": 2}, idempotency_key=key)
    first, second, other, none = node.opened[0].keys
    assert first is not None
    assert other is not None
    assert first == second
    assert (first.key, other.key, none) == ("k", "k", None)
    assert first.asked != other.asked
    for wrong in ("", 5, "é"):
        with pytest.raises(ValidationError):
            benchmark_jobs.create(name="a", scenarios=[], idempotency_key=wrong)  # type: ignore[arg-type]


def test_other_verbs_of_jobs(node: NodeControl) -> None:
    """By id, by name or by the job itself."""
    job = benchmark_jobs.create(name="j", scenarios=[])
    assert benchmark_jobs.get("j").progress.done == 1
    assert [listed.name for listed in benchmark_jobs.list()] == ["b", "a"]
    assert [listed.name for listed in benchmark_jobs.list(limit=1)] == ["b"]
    assert [listed.name for listed in benchmark_jobs.list(name="a")] == ["a"]
    for wrong in ({"limit": 0}, {"limit": "1"}, {"name": 3}):
        with pytest.raises(ValidationError):
            benchmark_jobs.list(**wrong)  # type: ignore[arg-type]
    assert benchmark_jobs.results(job).runs[0].scenario_id == "s1"
    assert benchmark_jobs.cancel(job).state == "cancelled"
    assert [event.kind for event in benchmark_jobs.events(job)] == ["run_finished"] * 3
    with pytest.raises(NotFoundError):
        benchmark_jobs.get("missing")


def test_waiting_for_a_job_can_have_a_limit(node: NodeControl) -> None:
    """The job goes on."""
    job = benchmark_jobs.create(name="j", scenarios=[])
    node.do(lambda fake: fake.file_gate.clear())
    with pytest.raises(SandboxTimeoutError, match="had not ended"):
        benchmark_jobs.wait(job, timeout=0.01)


def test_a_misspelt_attribute_is_told_with_what_there_is(node: NodeControl) -> None:
    """No silent None."""
    job = benchmark_jobs.create(name="j", scenarios=[])
    with pytest.raises(AttributeError, match=r"has no 'stat'; it has blueprint, config, .*, state, webhook"):
        _ = job.stat


def test_records_are_values() -> None:
    """Equal by content, with keys, picklable, and given back as they came."""
    fields = {"job_id": "1", "state": "running", "runs": [{"run": 0, "score": 0.5}], "cursor": 3}
    page = filled(ResultsPage, fields)
    assert (page.runs[0].score, page["runs"][0].score, page.cursor, page["cursor"]) == (0.5, 0.5, 3, 3)
    assert page == ResultsPage.from_dict(page.to_dict())
    assert hash(page) == hash(ResultsPage.from_dict(page.to_dict()))
    assert page != filled(ResultsPage, {**fields, "cursor": 4})
    assert json.loads(json.dumps(page.to_dict())) == page.to_dict()
    assert ("cursor" in page, "absent" in page, sorted(page)) == (True, False, ["cursor", "job_id", "runs", "state"])
    assert {**page}["state"] == "running"
    long = filled(TrainingFile, {"path": "x" * 100})
    assert repr(long) == f"TrainingFile(path='{'x' * 56}..., size_bytes=0)"
    assert pickle.loads(pickle.dumps(page)) == page
    with pytest.raises(AttributeError):
        page.cursor = 4  # type: ignore[misc]


def test_what_is_no_record_is_told() -> None:
    """By the record's name, and the field's."""
    for given, says in (
        ({"job_id": "1", "state": "running"}, "ResultsPage: runs, cursor missing"),
        ({"job_id": "1", "state": "running", "runs": 3, "cursor": 0}, "ResultsPage.runs: must be a list"),
        ({"job_id": "1", "state": "running", "runs": [{}], "cursor": 0}, "ResultsPage.runs: BenchmarkRun: run, "),
        ([], "ResultsPage: must be a mapping"),
    ):
        with pytest.raises(ValueError, match=says):
            ResultsPage.from_dict(given)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"RunResult.reason: "):
        filled(RunResult, {"reason": 3})


def test_words_of_another_version_stay_words() -> None:
    """A reason that this version does not know is shown, counted and sent on as it is."""
    run = filled(BenchmarkRun, {"reason": "luck", "score": 1.0, "passed": True, "validity": "valid"})
    assert (run.reason, run.to_dict()["reason"], run.to_row()["reason"]) == ("luck", "luck", "luck")
    assert summarise([run], total=1, duration_seconds=1.0).by_reason == {"luck": 1}
