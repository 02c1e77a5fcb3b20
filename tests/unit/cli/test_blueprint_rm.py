"""`harena blueprint rm`: what goes with a blueprint."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from fake_face import Harena

from harena.cli import face

OURS = "localhost/harena-blueprints:web-0123456789abcdef"
OLDER = "localhost/harena-blueprints:web-fedcba9876543210"
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
