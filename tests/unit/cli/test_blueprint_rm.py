"""`harena blueprint`: what goes with one that is removed, its log, and what is different in two."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from fake_face import Harena

from harena.cli import face
from harena.core.records.blueprints import Blueprint

OURS = "localhost/harena-blueprints:web-0123456789abcdef"
OLDER = "localhost/harena-blueprints:web-fedcba9876543210"
BLUEPRINT = Blueprint(id="bp_2", name="plain", image="sha256:2")
OTHERS = ("localhost/harena-blueprints:web-b-0123456789abcdef", "debian:12")


@pytest.mark.parametrize(
    ("words", "gone"),
    [(["web"], []), (["--image", "web"], [OURS, OLDER]), (["--image", "bp_1"], [OURS])],
)
def test_images_go_where_that_is_asked(
    words: list[str], gone: list[str], harena: Harena, monkeypatch: pytest.MonkeyPatch
) -> None:
    removed: list[str] = []
    images = [{"reference": OURS, "digest": "sha256:1"}, {"reference": OLDER, "digest": "sha256:0"}]
    images += [{"reference": reference, "digest": "sha256:1"} for reference in OTHERS]
    blueprint = SimpleNamespace(name="web", image="sha256:1")
    faced: Any = SimpleNamespace(
        blueprints=SimpleNamespace(get=lambda name: blueprint, delete=lambda name: None),
        images=SimpleNamespace(list=lambda: images, delete=removed.append),
    )
    monkeypatch.setattr(face, "load", lambda: faced)
    monkeypatch.setattr(face, "plain", lambda given: given)
    assert harena("blueprint", "rm", *words) == 0
    assert removed == gone


def test_the_log_of_a_build_is_printed(
    harena: Harena, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    told = {"web": SimpleNamespace(name="web", id="bp_1", log="[1/2] RUN true\n"), "plain": BLUEPRINT}
    faced: Any = SimpleNamespace(blueprints=SimpleNamespace(get=told.get))
    monkeypatch.setattr(face, "load", lambda: faced)
    assert harena("blueprint", "logs", "web") == 0
    assert capsys.readouterr().out == "[1/2] RUN true\n"
    assert harena("blueprint", "logs", "plain") == 2
    assert "plain (bp_2) has no log" in capsys.readouterr().err


def test_recipes_are_compared_line_by_line(
    harena: Harena, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What its build has said is not."""
    told = {
        "a": replace(BLUEPRINT, recipe='{"env": {"A": "1"}, "name": "x"}', log="first"),
        "b": replace(BLUEPRINT, recipe='{"env": {"A": "2"}, "name": "x"}', log="second"),
    }
    faced: Any = SimpleNamespace(blueprints=SimpleNamespace(get=told.get))
    monkeypatch.setattr(face, "load", lambda: faced)
    assert harena("blueprint", "diff", "a", "b") == 1
    assert [line.split() for line in capsys.readouterr().out.splitlines() if line[1:2] == " "] == [
        ["-", '"A":', '"1"'],
        ["+", '"A":', '"2"'],
    ]
