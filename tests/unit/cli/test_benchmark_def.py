"""`harena benchmark def`, and webhooks from the command line."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from fake_face import FakeJobs, Harena

from fake_answers import Record
from harena.cli import face

ENTRY = {
    "ref": "nightly@2", "name": "nightly", "version": 2, "digest": "d" * 64, "fields": ["config", "scenarios"],
    "problems": 3, "created_at": "2030-01-02T03:04:05+00:00", "archived_at": None, "metadata": {"team": "a"},
}  # fmt: skip


@dataclass
class FakeDefs:
    """`harena.benchmark_job_defs`, scripted."""

    jobs: FakeJobs
    calls: list[tuple[Any, ...]] = field(default_factory=list)

    def create(self, name: str, **given: Any) -> Record:
        self.calls.append((name, given))
        return Record({**ENTRY, "problems": 3 if "scenarios" in given else None})

    def run(self, ref: str, **overrides: Any) -> Record:
        self.calls.append((ref, overrides))
        return self.jobs.job()

    def list(self, **asked: Any) -> list[Record]:
        self.calls.append(("list", asked))
        return [Record(ENTRY)]

    def get(self, ref: str, *, content: bool) -> Record:
        return Record({**ENTRY, "request": {}} if content else ENTRY)

    def archive(self, ref: str) -> int:
        return 2


@pytest.fixture
def defs(jobs: FakeJobs, monkeypatch: pytest.MonkeyPatch) -> FakeDefs:
    """The face has these, too."""
    fake = FakeDefs(jobs)
    nouns = SimpleNamespace(benchmark_jobs=jobs, benchmark_job_defs=fake, __version__="0.1.0")
    monkeypatch.setattr(face, "load", lambda: nouns)
    monkeypatch.delenv("HARENA_BASE_URL", raising=False)
    monkeypatch.delenv("HARENA_WEBHOOK_SECRET", raising=False)
    return fake


def test_a_file_is_a_definition(
    defs: FakeDefs, harena: Harena, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its files are beside it; words and stored scenarios are no files; `name` is the job's."""
    file = tmp_path / "nightly.yaml"
    file.write_text("name: of the night\nscenarios: p.yaml\ncandidates: oracle\nconfig: {attempts: 4}\n")
    assert harena("benchmark", "def", "push", "nightly", str(file), "--metadata", "team=a") == 0
    file.write_text("scenarios: ref:set@3\ncandidates: sub/c.jsonl\n")
    assert harena("benchmark", "def", "push", "nightly", str(file)) == 0
    file.write_text("config: {}\n")
    assert harena("benchmark", "def", "push", "nightly", str(file)) == 0
    assert [given for _, given in defs.calls] == [
        {
            "job_name": "of the night",
            "scenarios": str(tmp_path / "p.yaml"),
            "candidates": "oracle",
            "config": {"attempts": 4},
            "metadata": {"team": "a"},
        },
        {"scenarios": {"ref": "set@3"}, "candidates": str(tmp_path / "sub/c.jsonl"), "metadata": {}},
        {"config": {}, "metadata": {}},
    ]
    said = capsys.readouterr().out.splitlines()
    assert said[0] == f"nightly@2: problems: 3, sha256 {'d' * 16}"
    assert said[2].startswith("nightly@2: no scenarios")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("- a\n", "must be a mapping of a job's fields"),
        ("1: a\n", "must be a mapping of a job's fields"),
        ("a: [\n", "is no YAML"),
        ("scenario: p.yaml\n", "unknown field scenario; there are name, scenarios"),
        (None, "cannot be read: No such file"),
        (b"\xff\xfe\xff", "cannot be read"),
    ],
)
def test_files_that_are_none(
    defs: FakeDefs, harena: Harena, tmp_path: Path, capsys: pytest.CaptureFixture[str], text: Any, says: str
) -> None:
    """One error that names the file, and nothing is kept."""
    file = tmp_path / "def.yaml"
    if text is not None:
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
    assert harena("benchmark", "def", "push", "d", str(file)) == 2
    said = capsys.readouterr().err
    assert says in said
    assert str(file) in said
    assert defs.calls == []


def test_a_run_overrides_what_is_given(
    defs: FakeDefs, jobs: FakeJobs, harena: Harena, capsys: pytest.CaptureFixture[str]
) -> None:
    """Values of the configuration are JSON, or else text; the job is followed to its end and its rewards printed."""
    words = ("--candidates", "c.jsonl", "--config", "attempts=4", "--config", "require_trust=separate", "--name", "j")
    assert harena("benchmark", "def", "run", "nightly", *words, "--config", 'retry_on=["platform"]') == 0
    config = {"attempts": 4, "require_trust": "separate", "retry_on": ["platform"]}
    assert defs.calls == [("nightly", {"name": "j", "candidates": "c.jsonl", "config": config})]
    assert "passed 2 of 2 scored" in capsys.readouterr().out
    jobs.answer["state"] = "failed"
    assert harena("benchmark", "def", "run", "nightly@1") == 2
    assert defs.calls[1] == ("nightly@1", {})


def test_a_run_may_be_left_to_the_server(
    defs: FakeDefs, harena: Harena, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where there is one: a job of this process would end with it."""
    assert harena("benchmark", "def", "run", "nightly", "--detach") == 2
    assert "HARENA_BASE_URL" in capsys.readouterr().err
    assert defs.calls == []
    monkeypatch.setenv("HARENA_BASE_URL", "http://127.0.0.1:1")
    assert harena("benchmark", "def", "run", "nightly", "--detach") == 0
    assert capsys.readouterr().out == "job_1\n"


def test_looking_at_definitions(defs: FakeDefs, harena: Harena, capsys: pytest.CaptureFixture[str]) -> None:
    """As of scenarios."""
    assert harena("benchmark", "def", "ls", "night", "--metadata", "team=a") == 0
    assert defs.calls == [("list", {"prefix": "night", "metadata": {"team": "a"}, "name": None, "archived": False})]
    table = capsys.readouterr().out
    assert "nightly@2" in table
    assert "config, scenarios" in table
    assert harena("benchmark", "def", "ls", "--format", "json") == 0
    assert json.loads(capsys.readouterr().out) == [ENTRY]
    assert harena("benchmark", "def", "get", "nightly", "--content") == 0
    assert json.loads(capsys.readouterr().out)["request"] == {}
    assert harena("benchmark", "def", "archive", "nightly") == 0
    assert capsys.readouterr().out == "nightly: 2 versions archived\n"


def test_a_webhooks_secret_is_in_the_environment(
    defs: FakeDefs, jobs: FakeJobs, harena: Harena, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not on the command line, where others see it; for every command that starts a job."""
    run = ("benchmark", "run", "--scenarios", "c.yaml", "--webhook", "http://x")
    harena(*run)
    monkeypatch.setenv("HARENA_WEBHOOK_SECRET", "whsec_x")
    harena(*run)
    harena("benchmark", "def", "run", "nightly", "--webhook", "http://x")
    asked = [call[1]["webhook"] for call in jobs.calls if call[0] == "create"] + [defs.calls[0][1]["webhook"]]
    assert asked == [
        {"url": "http://x"},
        {"url": "http://x", "secret": "whsec_x"},
        {"url": "http://x", "secret": "whsec_x"},
    ]
