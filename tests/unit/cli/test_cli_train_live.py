"""Training jobs, watched: what events add up to, and how it looks."""

from __future__ import annotations

import io
from datetime import UTC, datetime, timedelta
from typing import Any

from rich.console import Console

from harena.cli.train_live import detail_lines, picture, plain_line, rollout_line, sparkline
from harena.cli.train_tally import CURVE, ROLLOUTS, TrainingTally

BEGAN = datetime(2026, 1, 1, tzinfo=UTC)


def event(kind: str, seconds: float, **fields: Any) -> dict[str, Any]:
    return {"kind": kind, "at": (BEGAN + timedelta(seconds=seconds)).isoformat(), **fields}


def step(number: int, seconds: float, reward: float, **metrics: float) -> dict[str, Any]:
    told = {"train/reward": [reward], **{f"train/{name}": [value] for name, value in metrics.items()}}
    return event("step_complete", seconds, metrics={"steps": [number], **told})


def watched(*events: dict[str, Any]) -> TrainingTally:
    tally = TrainingTally.of({"state": "queued", "progress": {"step": 0, "steps": None}})
    for one in events:
        tally.add(one)
    return tally


def test_steps_and_time_add_up() -> None:
    """The pace is that of late, and tells how long the rest takes."""
    tally = watched(
        event("job_started", 10.0),
        event("training_start", 11.0, data={"steps": 12}),
        *[step(number, 18.0 + 2 * number, number / 10) for number in range(1, 11)],
    )
    assert (tally.state, tally.step, tally.steps, tally.seconds) == ("running", 10, 12, 28.0)
    assert (tally.rate(), tally.remaining_seconds()) == (2.0, 4.0)
    assert [reward for _, reward in tally.rewards] == [number / 10 for number in range(1, 11)]
    tally.add(event("job_ended", 60.0, data={"state": "completed"}))
    assert (tally.state, tally.remaining_seconds()) == ("completed", None)


def test_steps_that_are_trained_anew_replace_what_they_were() -> None:
    """After a worker was killed, the job goes on from its checkpoint."""
    tally = watched(step(1, 1.0, 0.1), step(2, 2.0, 0.2), step(3, 3.0, 0.3))
    tally.add(event("job_resumed", 9.0, message="its worker has gone"))
    tally.add(step(2, 10.0, 0.25))
    assert [*tally.rewards] == [(1, 0.1), (2, 0.25)]
    assert (tally.step, tally.rate()) == (2, None)


def test_nothing_grows_with_the_job() -> None:
    """Curve, rollouts and messages are the newest ones."""
    rollout = {"prompt": "p", "text": "t", "reward": 1.0}
    steps = [
        {**step(number, float(number), 0.5), "data": {"rollouts": [rollout]}, "level": "warning", "message": "late"}
        for number in range(2 * CURVE)
    ]
    tally = watched(*steps)
    assert (len(tally.rewards), len(tally.rollouts), tally.rewards[-1][0]) == (CURVE, ROLLOUTS, 2 * CURVE - 1)
    assert set(tally.said) == {"late"}


def test_a_pause_is_told_until_it_is_over() -> None:
    """As the loop tells it."""
    tally = watched(event("job_started", 0.0), event("training_paused", 1.0, message="6 % of rollouts are masked"))
    assert tally.trouble == "6 % of rollouts are masked"
    tally.add(event("training_continued", 2.0))
    assert tally.trouble == ""


def test_the_picture() -> None:
    """Everything that is known is on it, and nothing commands the terminal."""
    tally = watched(
        event("job_started", 0.0),
        step(1, 1.0, 0.25, loss=0.5, entropy=1.25, truncated_share=0.125),
        event("eval_complete", 2.0, metrics={"eval/steps": [1], "eval/pass_rate": [0.5]}),
        event("step_complete", 3.0, data={"rollouts": [{"prompt": "a\nb>", "text": "\x1b[31mred", "reward": 0.0}]}),
    )
    out = io.StringIO()
    Console(file=out, width=120, force_terminal=False).print(picture(tally, "first\x1b[2J", trouble="no server"))
    text = out.getvalue()
    for told in ("running", "1/? steps", "reward 0.250", "eval/pass_rate 0.500 (step 1)", "entropy 1.250", "12.5%"):
        assert told in text
    assert "no server" in text
    assert "a b> -> " in text
    assert "\x1b" not in text
    assert plain_line(tally) == "1/?  reward 0.25  entropy 1.25"


def test_an_sft_job_shows_its_loss() -> None:
    """Where there is no reward."""
    tally = watched(event("step_complete", 0.0, metrics={"steps": [1], "train/loss": [2.5]}))
    assert detail_lines(tally)[0] == "  loss 2.500  ▁"


def test_sparkline_and_rollouts() -> None:
    """From the least to the greatest; a rollout without a reward says so."""
    assert sparkline([0.0, 1.0, 2.0, 3.0]) == "▁▃▆█"
    assert sparkline([1.0] * 500, width=3) == "▁▁▁"
    assert rollout_line({"prompt": "p", "text": None, "reward": None}) == "  -   p -> "
