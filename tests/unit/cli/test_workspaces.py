"""`harena workspaces` and `harena serve --limit`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harena.cli.main import main
from harena.core.errors import ValidationError
from harena.core.workspace import parse_limits


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty one."""
    monkeypatch.setenv("HARENA_HOME", str(tmp_path))
    monkeypatch.delenv("HARENA_DATABASE_URL", raising=False)
    return tmp_path


def test_limits_are_set_and_listed(capsys: pytest.CaptureFixture[str]) -> None:
    """Without a server; those that are not named stay."""
    assert main(["workspaces", "set", "team-a", "sandboxes=20", "requests_per_second=0.5"]) == 0
    assert main(["workspaces", "set", "team-a", "runs=4", "sandboxes=default"]) == 0
    assert main(["keys", "create", "--name", "ci", "--workspace", "team-b"]) == 0
    capsys.readouterr()
    assert main(["workspaces", "ls"]) == 0
    assert capsys.readouterr().out.splitlines() == ["team-a  requests_per_second=0.5  runs=4", "team-b"]


def test_a_workspace_is_put_into_an_organization(capsys: pytest.CaptureFixture[str]) -> None:
    """Alone or with limits; what is not named stays."""
    assert main(["workspaces", "set", "team-a", "--org", "acme"]) == 0
    assert main(["workspaces", "set", "team-a", "runs=4"]) == 0
    capsys.readouterr()
    assert main(["workspaces", "ls"]) == 0
    assert capsys.readouterr().out.splitlines() == ["team-a  organization=acme  runs=4"]
    for wrong in ([], ["--organization", "../x"]):
        assert main(["workspaces", "set", "team-a", *wrong]) == 2
    assert "organization '../x': use 1 to 64 letters" in capsys.readouterr().err


def test_lists_are_for_programs_too(capsys: pytest.CaptureFixture[str]) -> None:
    """As all lists: JSON, an entry to a line, or CSV."""
    assert main(["workspaces", "set", "team-a", "runs=4"]) == 0
    assert main(["keys", "create", "--name", "ci", "--workspace", "team-b"]) == 0
    capsys.readouterr()
    assert main(["workspaces", "ls", "--format", "csv"]) == 0
    assert capsys.readouterr().out.splitlines()[:2] == ["name,organization,limits.runs,limits", "team-a,default,4,"]
    assert main(["keys", "list", "--format", "jsonl"]) == 0
    (key,) = map(json.loads, capsys.readouterr().out.splitlines())
    assert (key["name"], key["workspace"], key["revoked_at"]) == ("ci", "team-b", None)


def test_a_file_of_an_earlier_version_is_taken_over(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """By the first command that needs the keys."""
    (home / "access.db").touch()
    assert main(["keys", "list"]) == 0
    assert capsys.readouterr().out == ""
    assert (home / "access.db.taken-over").exists()


@pytest.mark.parametrize("words", [["workspaces", "set", "w"], ["serve", "--limit"]])
def test_mistakes_are_told_all_at_once(words: list[str], capsys: pytest.CaptureFixture[str], home: Path) -> None:
    """Before anything is made."""
    wrong = ["sandbox=1", "runs=-1"] if words[0] == "workspaces" else ["sandbox=1", "--limit", "runs=-1"]
    assert main([*words, *wrong]) == 2
    told = capsys.readouterr().err
    assert "'sandbox=1': there is no such limit; there are requests_per_second" in told
    assert "'runs=-1': give a number from 0 to" in told
    assert list(home.iterdir()) == []


def test_a_workspace_has_a_plain_name(capsys: pytest.CaptureFixture[str]) -> None:
    """As everywhere."""
    assert main(["workspaces", "set", "../x", "runs=1"]) == 2
    assert "workspace '../x'" in capsys.readouterr().err


def test_limits_in_words() -> None:
    """Whole numbers but for the pace; None = what all may use."""
    assert parse_limits(["requests_per_second=1.5", "request_bytes=10", "open_jobs=default"]) == {
        "requests_per_second": 1.5,
        "request_bytes": 10,
        "open_jobs": None,
    }
    for word in (
        "runs",
        "runs=",
        "runs=1.5",
        "requests_per_second=0",
        "requests_per_second=nan",
        "=1",
        "sandboxes=1e9",
    ):
        with pytest.raises(ValidationError):
            parse_limits([word])
