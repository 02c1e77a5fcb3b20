"""`harena completion`: the scripts, and what is completed: commands, options, names."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from fake_face import Harena

from harena.cli import completion, face


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What the face lists."""

    def listing(*found: str) -> Any:
        return SimpleNamespace(list=lambda **_: [SimpleNamespace(name=name) for name in found])

    known = {
        "training_jobs": listing("nightly", "night", "nightly", "other"),
        "benchmark_jobs": listing("eval one", "nine"),
        "blueprints": listing("default", "python-warm"),
    }
    monkeypatch.setattr(face, "load", lambda: SimpleNamespace(**known))
    return known


def completed(harena: Harena, monkeypatch: pytest.MonkeyPatch, line: str, capsys: pytest.CaptureFixture[str]) -> str:
    """What bash is told when the key is pressed at the end of a line."""
    monkeypatch.setenv(completion.VARIABLE, "complete_bash")
    monkeypatch.setenv("COMP_WORDS", line)
    monkeypatch.setenv("COMP_CWORD", str(len(line.split(" ")) - 1))
    assert harena() == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("shell", completion.Shell)
def test_a_script_for_each_shell(harena: Harena, capsys: pytest.CaptureFixture[str], shell: completion.Shell) -> None:
    """It calls this program with the variable that begins a completion."""
    assert harena("completion", str(shell)) == 0
    assert completion.VARIABLE in capsys.readouterr().out


@pytest.mark.usefixtures("names")
@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("harena tra", ["train"]),
        ("harena train wa", ["wait", "watch"]),
        ("harena train watch ni", ["nightly", "night"]),
        ("harena benchmark results n", ["nine"]),
        ("harena audit rows.jsonl --blueprint py", ["python-warm"]),
        ("harena train rl --pl", ["--plan"]),
        ("harena train watch x", []),
    ],
)
def test_words_are_completed(
    harena: Harena, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], line: str, told: list[str]
) -> None:
    """Commands, options, and names, each once, the newest first."""
    assert completed(harena, monkeypatch, line, capsys).split() == told


def test_nothing_is_completed_where_nobody_answers(
    harena: Harena, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """An error would be written into the middle of the line."""

    def gone() -> Any:
        raise OSError("no server")

    monkeypatch.setattr(face, "load", gone)
    assert completed(harena, monkeypatch, "harena train watch ni", capsys).strip() == ""
