"""`harena scenario push|ls|get|archive|rm` and `harena contract ...`: what they ask for, and what they print."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from fake_face import FakeJobs, Harena

from fake_answers import Record
from harena.cli import face
from harena.cli.arguments import stored_or_file
from harena.core.errors import NotFoundError

ENTRY = {
    "ref": "add@2",
    "name": "add",
    "version": 2,
    "digest": "0123456789abcdef0123",
    "metadata": {"split": "train"},
    "created_at": "2030-01-02T03:04:05.678+00:00",
    "archived_at": None,
    "trust": "separate",
    "format": "scenarios",
    "problems": 3,
    "candidates": 0,
    "type": "tests",
}


class Noun:
    """`harena.scenarios` or `harena.scoring_contracts`, scripted."""

    def __init__(self) -> None:
        self.asked: list[Any] = []

    def create(self, *given: Any, **more: Any) -> Record:
        self.asked.append((given, more))
        return Record(ENTRY)

    def list(self, **more: Any) -> list[Record]:
        self.asked.append(more)
        return [Record(ENTRY), Record({**ENTRY, "ref": "add@1", "metadata": {}, "archived_at": "x"})]

    def get(self, ref: str, **more: Any) -> Record:
        if ref == "missing":
            raise NotFoundError("no scenarios 'missing'")
        self.asked.append((ref, more))
        return Record(ENTRY)

    def archive(self, ref: str) -> int:
        return {"add@2": 1, "add": 3}.get(ref, 0)

    def delete(self, ref: str) -> None:
        if ref == "missing@1":
            raise NotFoundError("no scenarios 'missing@1'")
        self.asked.append(("deleted", ref))


@pytest.fixture
def nouns(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """The face has these two."""
    made = SimpleNamespace(scenarios=Noun(), scoring_contracts=Noun())
    monkeypatch.setattr(face, "load", lambda: made)
    return made


def test_push(nouns: SimpleNamespace, harena: Harena, capsys: pytest.CaptureFixture[str]) -> None:
    """A file becomes a version."""
    words = ("scenario", "push", "add", "s.jsonl", "--format", "mbpp", "--metadata", "split=train", "--metadata", "a=b")
    assert harena(*words) == 0
    assert nouns.scenarios.asked == [(("add", "s.jsonl"), {"metadata": {"split": "train", "a": "b"}, "format": "mbpp"})]
    assert capsys.readouterr().out == "add@2: 3 problems, 0 with candidates, sha256 0123456789abcdef\n"
    assert harena("contract", "push", "add", "c.yaml") == 0
    assert nouns.scoring_contracts.asked == [(("add", "c.yaml"), {"metadata": {}})]
    assert capsys.readouterr().out == "add@2: tests, trust separate, sha256 0123456789abcdef\n"
    assert harena("scenario", "push", "add", "s.jsonl", "--metadata", "split") == 2


@pytest.mark.parametrize(("group", "noun"), [("scenario", "scenarios"), ("contract", "scoring_contracts")])
def test_list(
    nouns: SimpleNamespace,
    harena: Harena,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    group: str,
    noun: str,
) -> None:
    """As a table and as JSON."""
    monkeypatch.setenv("COLUMNS", "200")
    assert harena(group, "ls", "a", "--metadata", "split=train", "--versions", "add", "--archived") == 0
    out = capsys.readouterr().out
    assert "add@2" in out
    assert "split=train" in out
    assert getattr(nouns, noun).asked == [
        {"prefix": "a", "metadata": {"split": "train"}, "name": "add", "archived": True}
    ]
    assert harena(group, "ls", "--format", "json") == 0
    assert json.loads(capsys.readouterr().out)[0] == ENTRY


def test_get(nouns: SimpleNamespace, harena: Harena, capsys: pytest.CaptureFixture[str]) -> None:
    """JSON; what is not there ends with 2."""
    assert harena("scenario", "get", "add@2", "--content") == 0
    assert nouns.scenarios.asked == [("add@2", {"content": True})]
    assert json.loads(capsys.readouterr().out) == ENTRY
    assert harena("contract", "get", "add") == 0
    assert harena("scenario", "get", "missing") == 2
    assert capsys.readouterr().err == "harena: no scenarios 'missing'\n"


def test_a_server_that_knows_of_no_such_thing_is_named(
    nouns: SimpleNamespace, harena: Harena, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who has forgotten the variable looks for the thing in the wrong place."""
    monkeypatch.setenv("HARENA_BASE_URL", "http://127.0.0.1:9")
    assert harena("scenario", "get", "missing") == 2
    assert capsys.readouterr().err == (
        "harena: no scenarios 'missing' (asked http://127.0.0.1:9, as HARENA_BASE_URL says)\n"
    )


def test_archive(nouns: SimpleNamespace, harena: Harena, capsys: pytest.CaptureFixture[str]) -> None:
    """How many versions."""
    for group in ("scenario", "contract"):
        for ref in ("add@2", "add", "add@1"):
            assert harena(group, "archive", ref) == 0
    said = "add@2: 1 version archived\nadd: 3 versions archived\nadd@1: was archived already\n"
    assert capsys.readouterr().out == 2 * said


def test_rm(nouns: SimpleNamespace, harena: Harena, capsys: pytest.CaptureFixture[str]) -> None:
    """One version of either."""
    for group, noun in (("scenario", nouns.scenarios), ("contract", nouns.scoring_contracts)):
        assert harena(group, "rm", "add@2") == 0
        assert noun.asked == [("deleted", "add@2")]
    assert capsys.readouterr().out == 2 * "add@2 deleted\n"
    assert harena("scenario", "rm", "missing@1") == 2


def test_stored_scenarios_in_place_of_a_file(jobs: FakeJobs, harena: Harena) -> None:
    """A reference is told from a path."""
    assert harena("benchmark", "run", "--scenarios", "ref:add@2", "--candidates", "a.jsonl", "--name", "n") == 0
    assert jobs.calls[0][1]["scenarios"] == {"ref": "add@2"}
    assert stored_or_file(Path("/x/ref:add@2")) == "/x/ref:add@2"
    assert stored_or_file(Path("add@2")) == "add@2"
