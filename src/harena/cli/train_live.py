"""Draws a running training job in a terminal, from its tally."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TextIO

from harena.cli.following import Follower
from harena.cli.live import STATE_STYLES, clock
from harena.cli.progress import Picture
from harena.cli.train_tally import TrainingTally
from harena.core.printable import printable

if TYPE_CHECKING:
    from rich.console import Group

BARS = "▁▂▃▄▅▆▇█"
CURVE_WIDTH = 60
TEXT_WIDTH = 100

LINES: tuple[tuple[tuple[str, str, str], ...], ...] = (
    (("loss", "loss", ".4g"), ("gradient_norm", "gradient", ".3g"), ("learning_rate", "rate", ".2g")),
    (
        ("entropy", "entropy", ".3f"),
        ("k3_mu", "kl to sampler", ".2g"),
        ("clipped_low", "clipped low", ".1%"),
        ("clipped_high", "high", ".1%"),
        ("effective_sample_size", "effective samples", ".2f"),
    ),
    (
        ("length/p50", "length p50", ".0f"),
        ("length/p99", "p99", ".0f"),
        ("truncated_share", "cut off", ".1%"),
        ("constant_group_share", "constant groups", ".0%"),
        ("masked_share", "masked", ".1%"),
        ("staleness/max", "staleness", ".0f"),
        ("dedup_rate", "deduplicated", ".0%"),
    ),
    (
        ("seconds/step", "a step", ".2f"),
        ("seconds/generate", "generate", ".2f"),
        ("seconds/reward", "reward", ".2f"),
        ("seconds/train", "train", ".2f"),
        ("seconds/wait", "wait", ".2f"),
    ),
)
"""(metric, what it is called here, its format), line by line"""
PLAIN_LINES = 20
"""most lines about steps in a log file, however many steps there are"""


def watch(
    events: Callable[[int], Iterable[Any]],
    tally: TrainingTally,
    *,
    name: str,
    after: int = 0,
    out: TextIO | None = None,
) -> TrainingTally:
    """Show a job until its events end, as a picture in a terminal and as lines anywhere else; what they add up to.
    `events` gives those after a cursor; `tally` is what the job has come to at cursor `after`."""
    out = out or sys.stderr
    follower = Follower(events, cursor=after)

    def draw(idle: float, trouble: str) -> Group:
        return picture(tally, name, trouble=trouble)

    with Picture(tally.add, draw, out) if out.isatty() else _Lines(tally, out) as shown_by:
        follower.on_lost = shown_by.lost
        for event in follower:
            shown_by.add(event)
    return tally


class _Lines:
    """What is said, and now and then how far it is."""

    def __init__(self, tally: TrainingTally, out: TextIO) -> None:
        self._tally = tally
        self._out = out
        self._told = self._part()

    def __enter__(self) -> _Lines:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def add(self, event: Mapping[str, Any]) -> None:
        """Count it, and say what is worth a line."""
        self._tally.add(event)
        if event["message"] is not None:
            self._say(event["at"], one_line(event["message"]))
        if event["kind"] == "step_complete" and self._part() != self._told:
            self._told = self._part()
            self._say(event["at"], plain_line(self._tally))

    def lost(self, trouble: str) -> None:
        """The connection."""
        self._out.write(f"{printable(trouble) if trouble else 'the connection is back'}\n")

    def _part(self) -> int:
        return self._tally.step * PLAIN_LINES // max(1, self._tally.steps or 1)

    def _say(self, at: str, text: str) -> None:
        self._out.write(f"{at[11:19]} {printable(text)}\n")
        self._out.flush()


def picture(tally: TrainingTally, name: str, *, trouble: str = "") -> Group:
    """How far it is, how well it learns, where its time goes, and what it says. `trouble` is the connection's."""
    from rich.console import Group
    from rich.progress_bar import ProgressBar
    from rich.table import Table
    from rich.text import Text

    head = Table.grid(padding=(0, 1))
    left = tally.remaining_seconds()
    head.add_row(
        Text(printable(name), style="bold"),
        Text(tally.state, style=STATE_STYLES.get(tally.state, "")),
        ProgressBar(total=tally.steps or 1, completed=min(tally.step, tally.steps or 1), width=30),
        Text(f"{tally.step}/{tally.steps or '?'} steps"),
        Text(clock(tally.seconds)),
        Text("" if left is None else f"{clock(left)} left", style="dim"),
    )
    lines = [Text(printable(line), no_wrap=True, overflow="ellipsis") for line in detail_lines(tally)]
    said = [Text(printable(one_line(text)), style="yellow") for text in (*tally.said, tally.trouble, trouble) if text]
    return Group(head, *lines, *said)


def detail_lines(tally: TrainingTally) -> list[str]:
    """What is below the bar, without colours."""
    lines = []
    if tally.rewards:
        lines.append(f"  {tally.curve_name} {tally.rewards[-1][1]:.3f}  {sparkline([y for _, y in tally.rewards])}")
    if evaluated := [f"{name} {value:.3f}" for name, value in tally.newest.items() if name.startswith("eval/")]:
        lines.append(f"  {', '.join(evaluated)} (step {tally.eval_step})")
    for line in LINES:
        if told := [f"{word} {tally.newest[name]:{form}}" for name, word, form in line if name in tally.newest]:
            lines.append("  " + ", ".join(told))
    return lines + [f"  {rollout_line(rollout)}" for rollout in tally.rollouts]


def rollout_line(rollout: Mapping[str, Any]) -> str:
    """`1.00  the prompt -> what was said`, on one line."""
    reward = rollout.get("reward")
    said = f"{one_line(rollout.get('prompt'))} -> {one_line(rollout.get('text'))}"
    return f"{'  - ' if reward is None else f'{reward:.2f}'}  {said[:TEXT_WIDTH]}"


def one_line(text: Any) -> str:
    """Its line ends as spaces."""
    return " ".join(str(text or "").split())


def sparkline(values: Sequence[float], width: int = CURVE_WIDTH) -> str:
    """One character for each of `width` equal parts of the values, from the least to the greatest of their means."""
    count = min(width, len(values))
    parts = [values[place * len(values) // count : (place + 1) * len(values) // count] for place in range(count)]
    means = [sum(part) / len(part) for part in parts]
    low, high = min(means), max(means)
    scale = (len(BARS) - 1) / (high - low) if high > low else 0.0
    return "".join(BARS[round((mean - low) * scale)] for mean in means)


def plain_line(tally: TrainingTally) -> str:
    """One line for a log."""
    told = [f"{tally.step}/{tally.steps or '?'}"]
    names = (tally.curve_name, "gradient_norm", "entropy", "masked_share", "seconds/step")
    told += [f"{name} {tally.newest[name]:.4g}" for name in names if name in tally.newest]
    return "  ".join(told)
