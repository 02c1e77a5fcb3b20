"""`harena scenario check`: what it asks the package for."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from fake_face import Harena

from harena.cli import face
from harena.core.errors import ValidationError


def test_an_empty_word_is_given_and_not_left_out(
    monkeypatch: pytest.MonkeyPatch, harena: Harena, capsys: pytest.CaptureFixture[str]
) -> None:
    """As `--candidates "$UNSET"` gives it: nobody wants the data set's own solutions checked in its place."""
    asked: dict[str, Any] = {}

    def load_scenarios(file: str, **options: Any) -> None:
        asked.update(options)
        raise ValidationError("candidates: names no file")

    monkeypatch.setattr(face, "load", lambda: SimpleNamespace(load_scenarios=load_scenarios))
    assert harena("scenario", "check", "s.jsonl", "--candidates", "") == 1
    assert asked == {"candidates": ""}
    assert capsys.readouterr().out == "candidates: names no file\n"
