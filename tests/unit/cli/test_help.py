"""The help of all commands: in sections, none forgotten; and verbs under both of their spellings."""

from __future__ import annotations

import pytest

from harena.cli.app import _GROUPS, _VERBS, SECTIONS
from harena.cli.main import main


def test_every_command_stands_in_one_section(capsys: pytest.CaptureFixture[str]) -> None:
    """The road from problems to a model comes first."""
    named = [name for names in SECTIONS.values() for name in names]
    assert sorted(named) == sorted({*_GROUPS, *_VERBS})
    assert main(["--help"]) == 0
    lines = capsys.readouterr().out.splitlines()
    first = lines.index("From problems to a model:")
    assert [line.split()[0] for line in lines[first + 1 : first + 6]] == ["demo", "audit", "eval", "train", "ui"]
    assert "More:" not in lines


@pytest.mark.parametrize("words", [("train", "ls"), ("train", "rm"), ("benchmark", "list"), ("sandbox", "delete")])
def test_groups_take_each_others_verbs(words: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    """`ls` means `list`, `rm` means `delete`; what neither has is no command."""
    assert main([*words, "--help"]) == 0
    assert capsys.readouterr().out.startswith(f"Usage: harena {' '.join(words)} ")
    assert main(["train", "remove"]) == 2
    assert "No such command 'remove'" in capsys.readouterr().err
