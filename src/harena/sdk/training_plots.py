"""The metrics of training jobs as a picture, with matplotlib (the extra `plot`): a panel for each question that a
researcher has, and a line for each job.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from harena.core.errors import ValidationError
from harena.core.training_jobs import EVAL_STEPS, STEPS, axis_of

SUFFIXES = (".png", ".svg", ".pdf")
COLUMNS = 3
PANEL_INCHES = (4.6, 2.9)
DOTS_PER_INCH = 120
SMOOTHED_FROM = 60
"""steps; with as many, a line is drawn faintly and its running mean over a tenth of them on top"""

Metrics = Mapping[str, Any]
"""name -> an array along its axis (`steps`, or `eval/steps` for names that begin with "eval/"), None where there is no
value; or a number, which is not drawn"""


@dataclass(frozen=True, slots=True)
class Panel:
    """What is drawn into one set of axes. A name stands for the metrics that it equals or begins, before "/" or "_",
    and that no longer name of another panel equals or begins."""

    title: str
    names: tuple[str, ...]
    scale: Literal["linear", "log"] = "linear"
    stacked: bool = False
    """parts of a whole"""
    smooth: bool = True


PANELS = (
    Panel("reward", ("reward", "eval")),
    Panel("loss", ("loss",)),
    Panel("gradient norm", ("gradient_norm",), scale="log"),
    Panel("entropy (nats per token)", ("entropy",)),
    Panel("k3 KL", ("k3",)),
    Panel("clipped share", ("clipped", "capped")),
    Panel("importance weights", ("ratio",), scale="log"),
    Panel("effective sample size", ("effective_sample_size",)),
    Panel("tokens of an answer", ("length",)),
    Panel(
        "share of rollouts or groups", ("truncated_share", "constant_group_share", "too_small_group_share", "masked")
    ),
    Panel("staleness (versions)", ("staleness",), smooth=False),
    Panel("deduplicated share", ("dedup_rate",)),
    Panel("seconds of a step", ("seconds",), stacked=True),
    Panel("seconds of a rollout", ("generate_seconds", "reward_seconds"), scale="log"),
    Panel("learning rate", ("learning_rate",), smooth=False),
)
NOT_STACKED = ("step",)
"""metric below `seconds/` that is the sum of the others"""


def check_plot(path: Path) -> None:
    """Raises ValidationError for a path that no picture can be written to, or without matplotlib."""
    if path.suffix.lower() not in SUFFIXES:
        raise ValidationError(f"{path}: a plot is one of {', '.join(SUFFIXES)}; its suffix says which")
    if not path.absolute().parent.is_dir():
        raise ValidationError(f"{path}: there is no folder {path.absolute().parent}; make it first")
    try:
        import matplotlib  # noqa: F401 - only to see whether it is there
    except ModuleNotFoundError as error:
        raise ValidationError(
            f"a plot needs {error.name}, which is not installed: pip install 'harena[plot]'"
        ) from error


def draw(jobs: Mapping[str, Metrics], path: Path, *, title: str = "") -> None:
    """Write a picture of the metrics of one or more jobs, {name of the job: its metrics}. Raises ValidationError (see
    `check_plot`, and where there is nothing to draw), OSError."""
    check_plot(path)
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    panels = [panel for panel in PANELS if any(lines_of(panel, metrics) for metrics in jobs.values())]
    if not panels:
        raise ValidationError(
            f"{' and '.join(jobs) or 'no job'}: no step has been trained yet, so there is no curve to draw"
        )
    columns = min(COLUMNS, len(panels))
    rows = -(-len(panels) // columns)
    figure = Figure(figsize=(PANEL_INCHES[0] * columns, PANEL_INCHES[1] * rows), layout="constrained")
    FigureCanvasAgg(figure)
    if title:
        figure.suptitle(title)
    for place, panel in enumerate(panels):
        _draw_panel(figure.add_subplot(rows, columns, place + 1), panel, jobs)
    figure.savefig(path, dpi=DOTS_PER_INCH, metadata={"Date": None} if path.suffix.lower() == ".svg" else None)


def lines_of(panel: Panel, metrics: Metrics) -> dict[str, tuple[list[float], list[float]]]:
    """{name: (steps, values)} of what belongs into this panel and has a value, in the order of its names."""
    lines = {}
    for name, values in _series_of(panel, metrics):
        axis = metrics.get(axis_of(name))
        if not isinstance(values, Sequence) or not isinstance(axis, Sequence):
            continue
        points = [(float(x), float(y)) for x, y in zip(axis, values, strict=False) if y is not None]
        if points:
            lines[name] = ([x for x, _ in points], [y for _, y in points])
    return lines


def _series_of(panel: Panel, metrics: Metrics) -> Iterator[tuple[str, Any]]:
    for wanted in panel.names:
        for name, values in metrics.items():
            bare = name.removeprefix("train/")
            if name not in (STEPS, EVAL_STEPS) and _length_of_match(wanted, bare) == _longest_match(bare):
                yield name, values


def _length_of_match(wanted: str, bare: str) -> int:
    """Length of a panel's name that equals a metric's name or begins it; 0 = the metric is not of that panel."""
    return len(wanted) if bare == wanted or bare.startswith((f"{wanted}/", f"{wanted}_")) else 0


def _longest_match(bare: str) -> int:
    """Length of the longest panel name that begins a metric's name: `reward_seconds` is no reward. At least 1, so that
    what belongs nowhere is drawn nowhere."""
    return max(1, *(_length_of_match(name, bare) for panel in PANELS for name in panel.names))


def _draw_panel(axes: Any, panel: Panel, jobs: Mapping[str, Metrics]) -> None:
    if panel.stacked and len(jobs) == 1:
        _draw_stacked(axes, lines_of(panel, next(iter(jobs.values()))))
    else:
        for job, metrics in jobs.items():
            for name, (steps, values) in lines_of(panel, metrics).items():
                label = name.removeprefix("train/")
                _draw_line(axes, steps, values, label if len(jobs) == 1 else f"{job}: {label}", smooth=panel.smooth)
    axes.set_title(panel.title, fontsize="medium")
    axes.set_xlabel("step", fontsize="small")
    axes.tick_params(labelsize="small")
    axes.grid(alpha=0.25)
    if panel.scale == "log" and all(y > 0 for line in axes.get_lines() for y in line.get_ydata()):
        axes.set_yscale("log")
    axes.legend(fontsize="x-small")


def _draw_line(axes: Any, steps: list[float], values: list[float], label: str, *, smooth: bool) -> None:
    if len(steps) < SMOOTHED_FROM or not smooth:
        axes.plot(steps, values, label=label, linewidth=1.4, marker="o" if len(steps) < 3 else None)
        return
    [faint] = axes.plot(steps, values, linewidth=0.6, alpha=0.35)
    axes.plot(steps, running_mean(values, len(values) // 10), label=label, linewidth=1.6, color=faint.get_color())


def _draw_stacked(axes: Any, lines: Mapping[str, tuple[list[float], list[float]]]) -> None:
    parts = {name: line for name, line in lines.items() if not name.endswith(tuple(f"/{word}" for word in NOT_STACKED))}
    steps = next(iter(parts.values()))[0] if parts else []
    if parts and all(line[0] == steps for line in parts.values()):
        axes.stackplot(
            steps,
            *[values for _, values in parts.values()],
            labels=[name.removeprefix("train/") for name in parts],
            alpha=0.8,
        )
    for name in lines.keys() - parts.keys():
        axes.plot(*lines[name], label=name.removeprefix("train/"), color="black", linewidth=0.8)


def running_mean(values: Sequence[float], width: int) -> list[float]:
    """Mean of each value and the values before it, at most `width` values in total."""
    means, total = [], 0.0
    for place, value in enumerate(values):
        total += value - (values[place - width] if place >= width else 0.0)
        means.append(total / min(place + 1, width))
    return means
