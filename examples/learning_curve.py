"""Curves of pass rates, drawn in the terminal and as SVG."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

Points = Sequence[tuple[float, float]]
"""(x, a share of 0 to 1), in the order of x"""
COLOURS = ("#1f6feb", "#d1242f", "#8250df", "#1a7f37", "#9a6700", "#57606a")
FONT = 'font-family="sans-serif" font-size="12"'
WIDTH, HEIGHT, LEFT, TOP, RIGHT, BOTTOM = 720, 400, 56, 40, 16, 48


def bar(share: float, width: int = 40) -> str:
    """A share, drawn."""
    return "█" * round(share * width) + "·" * (width - round(share * width))


def svg(curves: Mapping[str, Points], *, title: str, x_label: str) -> str:
    """An SVG picture of curves over the same axis. Raises ValueError where no curve has a point."""
    most = max(x for points in curves.values() for x, _ in points) or 1.0
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" {FONT}>',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        f'<text x="{LEFT}" y="22" font-size="15">{escape(title)}</text>',
        *_axes(most, x_label),
    ]
    for number, (name, points) in enumerate(curves.items()):
        colour = COLOURS[number % len(COLOURS)]
        path = " ".join(f"{_x(x, most):.1f},{_y(share):.1f}" for x, share in points)
        lines.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        at = HEIGHT - BOTTOM - 12 - 16 * (len(curves) - 1 - number)
        lines.append(f'<text x="{WIDTH - RIGHT - 8}" y="{at}" text-anchor="end" fill="{colour}">{escape(name)}</text>')
    return "\n".join([*lines, "</svg>", ""])


def _axes(most: float, x_label: str) -> list[str]:
    drawn = []
    for tenth in range(0, 11, 2):
        y = _y(tenth / 10)
        drawn.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}" stroke="#d0d7de"/>')
        drawn.append(f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{tenth / 10:.1f}</text>')
    for quarter in range(5):
        x = most * quarter / 4
        drawn.append(f'<text x="{_x(x, most):.1f}" y="{HEIGHT - 28}" text-anchor="middle">{x:.0f}</text>')
    drawn.append(
        f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 10}" text-anchor="middle">{escape(x_label)}</text>'
    )
    return drawn


def _x(value: float, most: float) -> float:
    return LEFT + (WIDTH - LEFT - RIGHT) * value / most


def _y(share: float) -> float:
    return TOP + (HEIGHT - TOP - BOTTOM) * (1 - share)
