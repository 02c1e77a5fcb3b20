"""Records as HTML, for notebooks: small tables and curves that need no script, no style sheet and no network.

All that is shown is escaped: candidates, models and users wrote some of it. Colours are legible on light and on dark
pages.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

MOST_ROWS = 20
"""rows of a table; those beyond are counted below it"""
_LONGEST = 120
"""characters of one cell"""
_GOOD, _BAD, _NEITHER = "#2a9d4a", "#d1495b", "#b08900"
_WIDTH, _HEIGHT, _MARGIN = 260, 110, 22
_CURVES = 12
"""curves of one picture of metrics"""


def text(value: object) -> str:
    """One cell: short, escaped, numbers rounded to four digits."""
    if value is None:
        return "&ndash;"
    if isinstance(value, float):
        return html.escape(f"{value:.4g}")
    shown = str(value).encode("utf-8", "replace").decode()  # a notebook is stored as UTF-8
    return html.escape(shown if len(shown) <= _LONGEST else shown[: _LONGEST - 1] + "…")


def coloured(value: object, verdict: bool | None) -> str:
    """A cell of a run that passed (True), failed (False), or has no score (None)."""
    colour = _NEITHER if verdict is None else _GOOD if verdict else _BAD
    return f'<span style="color:{colour};font-weight:600">{text(value)}</span>'


def table(heads: Sequence[str], rows: Iterable[Sequence[str]], *, title: str = "", left_out: int = 0) -> str:
    """A table of cells that are HTML already (`text`, `coloured`); `left_out` rows are counted below it."""
    head = "".join(f'<th style="text-align:left">{html.escape(name)}</th>' for name in heads)
    body = "".join(
        "<tr>" + "".join(f'<td style="text-align:left">{cell}</td>' for cell in cells) + "</tr>" for cells in rows
    )
    caption = f"<p><b>{html.escape(title)}</b></p>" if title else ""
    more = f"<p>&hellip; and {left_out} more</p>" if left_out > 0 else ""
    return f"{caption}<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


def fields_table(kind: str, told: Mapping[str, Any]) -> str:
    """The fields of one record, those without a value left out."""
    rows = [(html.escape(name), text(value)) for name, value in told.items() if value not in (None, "", [], {})]
    return table(("field", "value"), rows[:MOST_ROWS], title=kind, left_out=len(rows) - MOST_ROWS)


def curves(series: Mapping[str, tuple[Sequence[float], Sequence[float]]], *, title: str = "") -> str:
    """Small pictures side by side, one for each {name: (steps, values)}; the last value stands in the head of each."""
    shown = dict(list(series.items())[:_CURVES])
    parts = "".join(_curve(name, steps, values) for name, (steps, values) in shown.items())
    caption = f"<p><b>{html.escape(title)}</b></p>" if title else ""
    left_out = len(series) - len(shown)
    more = f"<p>&hellip; and {left_out} more</p>" if left_out else ""
    return f'{caption}<div style="display:flex;flex-wrap:wrap;gap:12px">{parts}</div>{more}'


def _curve(name: str, steps: Sequence[float], values: Sequence[float]) -> str:
    low, high = min(values), max(values)
    first, last = steps[0], steps[-1]
    points = " ".join(
        f"{_MARGIN + (_WIDTH - 2 * _MARGIN) * _share(step, first, last):.1f},"
        f"{_HEIGHT - _MARGIN - (_HEIGHT - 2 * _MARGIN) * _share(value, low, high):.1f}"
        for step, value in zip(steps, values, strict=True)
    )
    label = 'font-size="10" fill="currentColor"'
    bottom = _HEIGHT - 6
    return (
        f'<svg width="{_WIDTH}" height="{_HEIGHT}" role="img" aria-label="{html.escape(name)}">'
        f'<text x="{_MARGIN}" y="13" {label}>{text(name)}: {text(float(values[-1]))}</text>'
        f'<polyline points="{points}" fill="none" stroke="#3a7ca5" stroke-width="1.6"/>'
        f'<text x="{_MARGIN}" y="{bottom}" {label}>{text(float(first))}</text>'
        f'<text x="{_WIDTH - _MARGIN}" y="{bottom}" text-anchor="end" {label}>{text(float(last))}</text>'
        f'<text x="{_WIDTH - _MARGIN}" y="13" text-anchor="end" {label}>{text(float(low))} to {text(float(high))}'
        "</text></svg>"
    )


def _share(value: float, low: float, high: float) -> float:
    return 0.5 if high == low else (value - low) / (high - low)


def progress_bar(name: str, done: int, total: int, told: str) -> str:
    """One line for a job that runs."""
    return (
        f"<div><b>{text(name)}</b> "
        f'<progress max="{max(1, total)}" value="{min(done, max(1, total))}"></progress> {text(told)}</div>'
    )
