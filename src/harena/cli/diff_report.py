"""Two jobs compared, for people: what changed, scenario by scenario, and what can be said of the whole."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any, TextIO

from harena.cli.report import write_table
from harena.core.printable import printable

ORDER = ("newly_failing", "newly_passing", "score", "reason", "unscored", "only_in_a", "only_in_b")
"""what is shown first"""
_SIGNIFICANT = 0.05


def write_diff(answer: Mapping[str, Any], *, show: int, out: TextIO | None = None) -> None:
    """Write what `benchmark_jobs.diff` answers, with `show` scenarios at most; of jobs that have nothing in common,
    which would be a list of all, none."""
    out = out or sys.stdout
    changed = [
        entry for entry in answer["scenarios"] if answer["compared"] or not entry["change"].startswith("only_in")
    ]
    listed = sorted(changed, key=lambda entry: (ORDER.index(entry["change"]), entry["scenario_id"]))
    if listed and show:
        rows = [
            (entry["scenario_id"], entry["change"].replace("_", " "), _side(entry["a"]), _side(entry["b"]),
             "-" if entry["difference"] is None else f"{entry['difference']:+.3f}")
            for entry in listed[:show]
        ]  # fmt: skip
        write_table("changed scenarios", ("scenario", "change", "a", "b", "score"), rows, out)
        if len(listed) > show:
            out.write(f"... and {len(listed) - show} more (--show, --format json)\n")
    out.write("".join(f"{line}\n" for line in diff_lines(answer)))


def diff_lines(answer: Mapping[str, Any]) -> list[str]:
    """The comparison in a few sentences."""
    jobs, changes, flaky = answer["jobs"], answer["changes"], answer["flaky"]
    counted = ", ".join(f"{changes[name]} {name.replace('_', ' ')}" for name in ORDER if changes[name])
    lines = [
        *(f"{side}: {job['name']} ({job['id']}), {job['state']}" for side, job in jobs.items()),
        f"{answer['compared']} scenarios are scored in both{_by_majority(answer)}; "
        + (f"{counted}; {answer['unchanged']} unchanged" if counted else "nothing changed"),
    ]
    if answer["pass_rate"] is not None:
        lines += [
            f"pass rate {_rate(answer['pass_rate'], percent=True)}",
            f"mean score {_rate(answer['mean_score'], percent=False)}",
            f"over {_over(answer['problems'])}: {_verdict(answer)}",
            "intervals: Agresti and Min's for matched pairs, over problems",
        ]
    if flaky["a"] or flaky["b"]:
        lines.append(f"flaky (attempts of one job disagree): {len(flaky['a'])} in a, {len(flaky['b'])} in b")
    return [printable(line) for line in (*lines, *(f"warning: {warning}" for warning in answer["warnings"]))]


def _rate(rate: Mapping[str, float], *, percent: bool) -> str:
    if percent:
        return (
            f"{rate['a']:.1%} -> {rate['b']:.1%}: {100 * rate['difference']:+.1f} points "
            f"(95% interval {100 * rate['low']:+.1f} to {100 * rate['high']:+.1f})"
        )
    return (
        f"{rate['a']:.3f} -> {rate['b']:.3f}: {rate['difference']:+.3f} "
        f"(95% interval {rate['low']:+.3f} to {rate['high']:+.3f})"
    )


def _by_majority(answer: Mapping[str, Any]) -> str:
    """How a scenario with several attempts is said to pass."""
    sides = [side for entry in answer["scenarios"] for side in (entry["a"], entry["b"]) if side is not None]
    return ", by the majority of their attempts" if any(side["scored"] > 1 for side in sides) else ""


def _over(problems: Mapping[str, int]) -> str:
    """What the statistics are over."""
    least, most = problems["least_answers"], problems["most_answers"]
    each = f"{least} to {most}" if least != most else f"{most}"
    return f"{problems['count']} problems ({each} scored answer{'s' * (most != 1)} to each, in each job)"


def _verdict(answer: Mapping[str, Any]) -> str:
    """In words: by a sign-flip test of the problems' rates where they have several answers, else by McNemar's exact
    test over those that changed sides."""
    flips, changed = answer["sign_flips"], answer["mcnemar"]
    if flips is None and changed["newly_passing"] + changed["newly_failing"] == 0:
        return "no problem changed sides"
    p_value = (flips or changed)["p_value"]
    chance = "more than chance explains" if p_value < _SIGNIFICANT else "no more than chance may do"
    if flips is None:
        return f"{chance} (McNemar's exact p = {p_value:.2g})"
    how = "exact" if flips["exact"] else f"{flips['flips']:,} drawn"
    return f"{chance} (sign-flip test of their pass rates, {how}: p = {p_value:.2g})"


def _side(attempts: Mapping[str, Any] | None) -> str:
    if attempts is None:
        return "-"
    reasons = " ".join([*attempts["reasons"], *attempts["unscored"]])
    if not attempts["scored"]:
        return f"no score ({reasons})"
    passed = f"{attempts['passed']}/{attempts['scored']} passed" if attempts["attempts"] > 1 else ""
    return f"{passed or format(attempts['score'], '.3f')} ({reasons})"
