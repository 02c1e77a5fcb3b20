"""`harena sft`: what it asks the package for, what it prints, and how it ends."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest
from fake_face import Harena

from harena.cli import face
from harena.core.errors import PlatformError, ValidationError

COUNTS = (
    *("candidates", "scored", "valid", "passed", "failed", "flaky", "suspect", "honeypot", "invalid", "infra"),
    *("not_run", "kept", "duplicates", "beyond_limit", "unwritable", "pairs", "rows"),
)
NONE = dict.fromkeys(COUNTS, 0)


def report(*, form: str = "chat", without: tuple[str, ...] = (), **totals: Any) -> dict[str, Any]:
    """Of one problem, and what is said of all."""
    row = {**NONE, "candidates": 4, "scored": 3, "valid": 3, "passed": 2, "kept": 2, "rows": 2, **totals}
    rates = {"pass_rate": 2 / 3, "pass_rate_of_all": 0.5, "problems": 1, "problems_with_rows": 1}
    return {
        "rule": {"form": form},
        "totals": {**row, **rates, **totals},
        "problems": [{"problem": "add", **row}],
        "problems_without_pass": list(without),
        "job_id": "job_1",
        "job_state": "completed",
        "output": "v.jsonl",
    }


VERIFIED = {
    "ok": True, "rows": 2, "faulty": 0, "problems": 1, "job_ids": ["job_1"], "harena_versions": ["1"], "faults": [],
}  # fmt: skip


STARTED = {
    "cursor": 1, "kind": "job_started", "at": "2030-01-02T03:04:05+00:00", "total": 4, "effective_concurrency": 2,
}  # fmt: skip


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What the command line asks for; `answer` is what it gets, or an error that it meets."""
    seen: dict[str, Any] = {"answer": report(), "verified": VERIFIED}

    def validate(scenarios: str, *, follow: Any, **options: Any) -> dict[str, Any]:
        seen.update(scenarios=scenarios, options=options)
        if isinstance(seen["answer"], BaseException):
            raise seen["answer"]
        follow(SimpleNamespace(after=lambda cursor: [STARTED] if cursor == 0 else []))
        return dict(seen["answer"])

    def verify(data: str) -> dict[str, Any]:
        seen["data"] = data
        return dict(seen["verified"])

    fake = SimpleNamespace(validate=validate, verify=verify)
    monkeypatch.setattr(face, "load", lambda: SimpleNamespace(sft=fake))
    return seen


REQUIRED = ("sft", "validate", "--scenarios", "s.jsonl", "--output", "v.jsonl")


def test_only_what_is_given_is_asked_for(asked: dict[str, Any], harena: Harena) -> None:
    """The rest is as the package has it; the job is named after the scenarios."""
    assert harena(*REQUIRED) == 0
    assert asked["scenarios"] == "s.jsonl"
    assert asked["options"] == {
        "output": "v.jsonl", "form": "chat", "keep": "all", "dedupe": "exact", "completion": "original",
        "overwrite": False, "name": "s", "config": {},
    }  # fmt: skip


def test_every_option_reaches_the_package(asked: dict[str, Any], harena: Harena) -> None:
    """A job's options as its config."""
    words = (
        "--candidates a.jsonl --form preference-chat --keep random --dedupe none --max-per-problem 3 --max-pairs 4 "
        "--min-score 0.5 --seed 7 --completion code --system Hi --prompt-template p.txt --report r.json --overwrite "
        "--name n --format mbpp --grader g.json --blueprint b --concurrency 5 --timeout 9 --retry-attempts 2 "
        "--attempts 6 --require-trust separate --rescore-fraction 0.1"
    )
    assert harena(*REQUIRED, *words.split()) == 0
    assert asked["options"] == {
        "output": "v.jsonl", "candidates": "a.jsonl", "form": "preference-chat", "keep": "random", "dedupe": "none",
        "max_per_problem": 3, "max_pairs": 4, "min_score": 0.5, "seed": 7, "completion": "code", "system": "Hi",
        "prompt_template": "p.txt", "report": "r.json", "overwrite": True, "name": "n", "format": "mbpp",
        "grader": "g.json", "blueprint_id": "b",
        "config": {"concurrency": 5, "timeout_seconds": 9.0, "retry_attempts": 2, "attempts": 6,
                   "require_trust": "separate", "rescore_fraction": 0.1},
    }  # fmt: skip


def test_of_a_job_that_exists_only_what_is_asked_for_is_passed_on(asked: dict[str, Any], harena: Harena) -> None:
    """The package refuses it."""
    assert harena(*REQUIRED, "--job", "job_1") == 0
    assert asked["options"]["job"] == "job_1"
    assert not asked["options"].keys() & {"name", "blueprint_id", "config"}
    assert harena("sft", "validate", "--scenarios", "ref:sums@2", "--output", "v.jsonl", "--job", "job_1") == 0
    assert asked["scenarios"] == {"ref": "sums@2"}
    assert not asked["options"].keys() & {"name", "blueprint_id", "config"}
    assert harena(*REQUIRED, "--job", "job_1", "--name", "n", "--blueprint", "b", "--timeout", "3") == 0
    wanted = {"name": "n", "blueprint_id": "b", "config": {"timeout_seconds": 3.0}}
    assert {name: asked["options"][name] for name in wanted} == wanted


def test_the_yield_is_a_table_and_a_few_sentences(
    asked: dict[str, Any], harena: Harena, capsys: pytest.CaptureFixture[str]
) -> None:
    """Both denominators, what was dropped and why, and problems that taught nothing."""
    asked["answer"] = report(duplicates=1, infra=1, suspect=1, without=("b", "c"))
    assert harena(*REQUIRED) == 0
    out, err = capsys.readouterr()
    assert "pairs" not in out
    assert out.endswith(
        "v.jsonl: 2 rows of 1 problem, from job job_1 (completed)\n"
        "passed 2: 66.7% of 3 scored, 50.0% of all 4 candidates\n"
        "passed and not kept: 1 duplicates\n"
        "neither passed nor failed: 1 suspect, 1 infra\n"
        "without any pass: 2 problems: b, c\n"
    )
    assert "4 runs, 2 at a time" in err
    asked["answer"] = report(form="preference", without=tuple(f"p{number}" for number in range(25)))
    assert harena(*REQUIRED, "--form", "preference") == 0
    out = capsys.readouterr().out
    assert "pairs" in out
    assert out.endswith("p18, p19 and 5 more\n")
    assert harena(*REQUIRED, "--show", "json") == 0
    assert json.loads(capsys.readouterr().out) == asked["answer"]


@pytest.mark.parametrize(
    ("totals", "says"),
    [
        ({"rows": 0, "kept": 0, "passed": 0}, "none of 4 candidates passed; 3 scored"),
        ({"rows": 0, "kept": 2, "form": "preference"}, "of 2 that passed, none has a valid fail"),
        ({"rows": 0, "kept": 0, "unwritable": 2}, "2 that passed are no one text each"),
    ],
)
def test_nothing_to_learn_from_ends_with_3_and_says_why(
    asked: dict[str, Any], harena: Harena, capsys: pytest.CaptureFixture[str], totals: dict[str, Any], says: str
) -> None:
    """Nobody trains on an empty file by mistake."""
    asked["answer"] = report(**totals)
    assert harena(*REQUIRED) == 3
    err = capsys.readouterr().err
    assert "there is nothing to learn from, and v.jsonl is empty: " in err
    assert says in err


@pytest.mark.parametrize(
    ("error", "code", "says"),
    [
        (ValidationError("keep: 'x' is not known"), 2, "harena: keep: 'x' is not known\n"),
        (PlatformError("the job failed"), 2, "harena: the job failed\n"),
        (KeyboardInterrupt(), 130, "--job makes training data of what had run)\n"),
    ],
)
def test_what_prevents_it_has_codes_of_its_own(
    asked: dict[str, Any],
    harena: Harena,
    capsys: pytest.CaptureFixture[str],
    error: BaseException,
    code: int,
    says: str,
) -> None:
    """One message, no traceback."""
    asked["answer"] = error
    assert harena(*REQUIRED) == code
    assert capsys.readouterr().err.endswith(says)


def test_verify_says_yes_or_where_not(
    asked: dict[str, Any], harena: Harena, capsys: pytest.CaptureFixture[str]
) -> None:
    """0 or 1."""
    assert harena("sft", "verify", "v.jsonl") == 0
    assert capsys.readouterr().out == "v.jsonl: 2 rows of 1 problem, from job_1: ok\n"
    asked["verified"] = {**VERIFIED, "rows": 0, "job_ids": [], "problems": 0}
    assert harena("sft", "verify", "v.jsonl") == 0
    assert capsys.readouterr().out == "v.jsonl: 0 rows: ok\n"
    asked["verified"] = {**VERIFIED, "ok": False, "faulty": 7, "faults": ["line 1: changed", "line 2: changed"]}
    assert harena("sft", "verify", "v.jsonl") == 1
    assert capsys.readouterr().out == "v.jsonl: line 1: changed\nv.jsonl: line 2: changed\nv.jsonl: and 5 lines more\n"
    assert harena("sft", "verify", "v.jsonl", "--show", "json") == 1
    assert json.loads(capsys.readouterr().out) == asked["verified"]
