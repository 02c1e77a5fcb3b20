"""Metrics as pictures: what goes into which panel, and files that are what their suffix says."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from harena.core.errors import ValidationError
from harena.sdk.training_plots import PANELS, draw, lines_of, running_mean

METRICS: dict[str, Any] = {
    "steps": [0, 1, 2],
    "train/reward": [0.25, None, 0.75],
    "train/loss": [0.1, 0.0, -0.1],
    "train/gradient_norm": [1.0, 0.5, 0.25],
    "train/seconds/generate": [0.5, 0.4, 0.4],
    "train/seconds/train": [0.3, 0.3, 0.3],
    "train/seconds/step": [0.8, 0.7, 0.7],
    "eval/steps": [1, 2],
    "eval/pass_rate": [0.3, 0.6],
    "model": "tiny",
}
BY_TITLE = {panel.title: panel for panel in PANELS}


def test_each_panel_has_its_metrics() -> None:
    """Along their own axis; steps without a value are left out, and so are single values."""
    assert lines_of(BY_TITLE["reward"], METRICS) == {
        "train/reward": ([0.0, 2.0], [0.25, 0.75]),
        "eval/pass_rate": ([1.0, 2.0], [0.3, 0.6]),
    }
    assert list(lines_of(BY_TITLE["seconds of a step"], METRICS)) == [
        "train/seconds/generate",
        "train/seconds/train",
        "train/seconds/step",
    ]
    assert lines_of(BY_TITLE["entropy (nats per token)"], METRICS) == {}


@pytest.mark.parametrize("suffix", [".png", ".svg"])
def test_a_picture_of_one_job_and_of_two(tmp_path: Path, suffix: str) -> None:
    """The same metrics give the same file, and other metrics another."""
    one, again, two = (tmp_path / f"{name}{suffix}" for name in ("one", "again", "two"))
    draw({"a": METRICS}, one, title="noisy teacher")
    draw({"a": METRICS}, again, title="noisy teacher")
    many = {"steps": list(range(100)), "train/reward": [step / 100 for step in range(100)]}
    draw({"a": METRICS, "b": many}, two)
    if suffix == ".svg":
        texts = [one.read_text(), two.read_text()]
        for text in texts:
            ElementTree.fromstring(text)
        assert "noisy teacher" in texts[0]
        assert "b: reward" in texts[1]
    else:
        assert one.read_bytes().startswith(b"\x89PNG\r\n")
        assert one.read_bytes() == again.read_bytes()
        assert one.read_bytes() != two.read_bytes()


def test_what_cannot_be_drawn(tmp_path: Path) -> None:
    """Told before anything is written."""
    with pytest.raises(ValidationError, match=r"one of \.png, \.svg"):
        draw({"a": METRICS}, tmp_path / "curve.gif")
    with pytest.raises(ValidationError, match="no folder"):
        draw({"a": METRICS}, tmp_path / "none" / "curve.svg")
    with pytest.raises(ValidationError, match="no step has been trained yet"):
        draw({"a": {"steps": []}}, tmp_path / "curve.svg")
    assert list(tmp_path.iterdir()) == []


def test_running_mean() -> None:
    """Of what there was so far, at the beginning."""
    assert running_mean([2.0, 4.0, 6.0, 8.0], 2) == [2.0, 3.0, 5.0, 7.0]


def test_a_time_is_no_reward() -> None:
    """Of two names that begin a metric's, the longer one has it; the parts of a reward stay with it."""
    metrics = {"steps": [0], "train/reward": [0.5], "train/reward/min": [0.0], "train/reward_seconds": [3.0],
               "train/reward_seconds/p90": [9.0]}  # fmt: skip
    assert list(lines_of(BY_TITLE["reward"], metrics)) == ["train/reward", "train/reward/min"]
    assert list(lines_of(BY_TITLE["seconds of a rollout"], metrics)) == [
        "train/reward_seconds",
        "train/reward_seconds/p90",
    ]
