"""What the events of a training job add up to, for whoever watches it. Pure: events in, and what there is to show.

Memory does not grow with the job.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from harena.core.training_jobs import EVAL_STEPS, STEPS, newest_metrics

CURVE = 400
"""newest steps whose rewards are kept"""
ROLLOUTS = 4
SAID = 4
RECENT = 20
"""steps over which the pace is measured"""


@dataclass(slots=True)
class TrainingTally:
    """The state of one job. Events must come in order, and each once."""

    state: str = "queued"
    step: int = 0
    """steps that are done"""
    steps: int | None = None
    newest: dict[str, float] = field(default_factory=dict)
    """name -> its newest value; names without "train/" """
    eval_step: int | None = None
    rewards: deque[tuple[int, float]] = field(default_factory=lambda: deque(maxlen=CURVE))
    """(step, reward in RL, loss in SFT), oldest first"""
    rollouts: deque[Mapping[str, Any]] = field(default_factory=lambda: deque(maxlen=ROLLOUTS))
    said: deque[str] = field(default_factory=lambda: deque(maxlen=SAID))
    trouble: str = ""
    """why it stands still; empty = it does not"""
    seconds: float = 0.0
    """from the job's start to the last event"""
    _began: float | None = None
    _recent: deque[tuple[int, float]] = field(default_factory=lambda: deque(maxlen=RECENT))

    @classmethod
    def of(cls, job: Mapping[str, Any]) -> TrainingTally:
        """For a job as the sdk answers it."""
        progress = job["progress"]
        return cls(state=job["state"], step=progress["step"] or 0, steps=progress["steps"])

    @property
    def curve_name(self) -> str:
        """What `rewards` holds."""
        return "reward" if "reward" in self.newest else "loss"

    def add(self, event: Mapping[str, Any]) -> None:
        """One more event."""
        kind, at = event["kind"], datetime.fromisoformat(event["at"]).timestamp()
        metrics, data = event.get("metrics") or {}, event.get("data") or {}
        if kind == "job_started" or self._began is None:
            self._began = at
        self.seconds = at - self._began
        if kind in ("job_queued", "job_started", "job_resumed"):
            self.state = "queued" if kind == "job_queued" else "running"
            self._recent.clear()
        elif kind == "job_ended":
            self.state = data.get("state", self.state)
        self._note_trouble(kind, event.get("message") or "")
        self._measure(metrics)
        if kind == "step_complete":
            self._recent.append((self.step, at))
        self.steps = data.get("steps", self.steps)
        self.rollouts.extend(data.get("rollouts") or ())
        if event.get("message") and (kind == "log" or event.get("level") in ("warning", "error")):
            self.said.append(str(event["message"]))

    def rate(self) -> float | None:
        """Seconds of a step, of late; None = not known yet."""
        if len(self._recent) < 2:
            return None
        (first, began), (last, ended) = self._recent[0], self._recent[-1]
        return (ended - began) / (last - first) if last > first else None

    def remaining_seconds(self) -> float | None:
        """Until the last step, at the pace of late."""
        rate = self.rate()
        if rate is None or self.steps is None or self.state != "running":
            return None
        return max(0, self.steps - self.step) * rate

    def _note_trouble(self, kind: str, message: str) -> None:
        if kind in ("training_paused", "job_released"):
            self.trouble = message or kind
        elif kind in ("training_continued", "job_started", "job_resumed", "step_complete", "job_ended"):
            self.trouble = ""

    def _measure(self, metrics: Mapping[str, Any]) -> None:
        for name, value in newest_metrics(metrics).items():
            if name not in (STEPS, EVAL_STEPS) and isinstance(value, int | float):
                self.newest[name.removeprefix("train/")] = float(value)
        for place, step in enumerate(metrics.get(STEPS) or ()):
            while self.rewards and self.rewards[-1][0] >= step:
                self.rewards.pop()  # trained anew since a restart
            self.step = step
            values = metrics.get(f"train/{self.curve_name}") or metrics.get(self.curve_name) or []
            if place < len(values) and values[place] is not None:
                self.rewards.append((step, float(values[place])))
        if metrics.get(EVAL_STEPS):
            self.eval_step = metrics[EVAL_STEPS][-1]
