"""An audit as a page, a badge, and a report of OpenEnv's form.

The page is one file that fetches nothing. Data sets are written by anybody: every text of theirs is escaped, cut, and
rid of what no page shows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from typing import Any

from harena.core.records.audits import AuditedProblem, AuditReport

MOST_SHOWN = 400
"""characters of a text of a data set"""
_BADGE_WIDTH = 6.6
"""pixels of a character of a badge"""
_STYLE = """
:root { color-scheme: light dark; --line: #8884;
  --error: #c0392b; --warning: #b7791f; --note: #64748b; --fit: #2e8b57; }
body { font: 15px/1.45 system-ui, sans-serif; margin: 0 auto; max-width: 72rem; padding: 1rem; }
h1 { font-size: 1.3rem; overflow-wrap: anywhere; }
.totals { display: flex; flex-wrap: wrap; gap: .5rem 1.5rem; padding: 0; list-style: none; }
.totals b { font-size: 1.25rem; display: block; }
article { border-top: 1px solid var(--line); padding: .6rem 0; display: grid; gap: .2rem 1rem;
  grid-template-columns: minmax(9rem, 1fr) minmax(0, 3fr); }
article h2 { font-size: 1rem; margin: 0; overflow-wrap: anywhere; }
article p { margin: .1rem 0; overflow-wrap: anywhere; }
.small { font-size: .85rem; opacity: .8; }
.bar { background: var(--line); height: .6rem; width: 100%; max-width: 11rem; border-radius: .3rem; overflow: hidden; }
.bar i { display: block; height: 100%; background: var(--fit); }
.tag { color: #fff; border-radius: .25rem; padding: 0 .35rem; font-size: .8rem; }
.error { background: var(--error); } .warning { background: var(--warning); }
.note { background: var(--note); } .fit { background: var(--fit); }
@media (max-width: 40rem) { article { grid-template-columns: 1fr; } }
"""

_CHECKS: dict[str, tuple[tuple[str, ...], str]] = {
    "semantic.oracle_max": (("wrong_gold", "no_verdict"), "Correct the right answers that do not earn the maximum."),
    "semantic.floor_gap": (
        ("never_called", "empty_answer", "stub", "constant", "look_up", "partial_credit"),
        "Add checks that an answer without a thought does not pass.",
    ),
    "semantic.canary_floor": (
        ("forgery", "known_wrong", "blind_tests"),
        "Compute verdicts out of the candidate's reach, and check what wrong answers get wrong.",
    ),
    "semantic.no_solution_leakage": (("leaked_answer",), "Take the answers out of the statements."),
    "semantic.verifier_determinism": (("flaky", "order"), "Pin what verdicts depend on besides the answer."),
}
"""check of OpenEnv's that an audit measures -> (kinds of findings that fail it, what to do)"""
_UNMEASURED = ("semantic.verifier_portability", "semantic.resource_envelope", "semantic.replayability")
_MOST_EVIDENCE = 20


def page(report: AuditReport) -> str:
    """The report as an HTML file, the weakest problems first."""
    body = "\n".join([*_head(report), *(_article(problem) for problem in report.problems)])
    title = f"Audit of {_shown(report.data_set)}"
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{title}</title>\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<style>{_STYLE}</style>\n</head>\n<body>\n<h1>{title}</h1>\n{body}\n</body>\n</html>\n"
    )


def badge(report: AuditReport) -> str:
    """A picture (SVG) with the number of problems that are fit."""
    label, told = "rewards audited", f"{report.fit_problems}/{len(report.problems)} fit"
    told += f", {report.unproven_problems} unproven" if report.unproven_problems else ""
    share = report.fit_problems / len(report.problems) if report.problems else 0.0
    colour = "#2e8b57" if report.fit else "#b7791f" if share >= 0.9 else "#c0392b"
    left, right = (round(len(text) * _BADGE_WIDTH) + 12 for text in (label, told))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + right}" height="20" role="img" '
        f'aria-label="{label}: {told}"><title>{label}: {told}</title>'
        f'<rect width="{left}" height="20" rx="3" fill="#444"/>'
        f'<rect x="{left}" width="{right}" height="20" rx="3" fill="{colour}"/>'
        f'<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11" text-anchor="middle">'
        f'<text x="{left / 2:g}" y="14">{label}</text><text x="{left + right / 2:g}" y="14">{told}</text></g></svg>\n'
    )


def openenv(report: AuditReport) -> dict[str, Any]:
    """A report of version 2 of OpenEnv's validation: of the checks of level 3, those that an audit measures."""
    results = [_check(report, name, kinds, advice) for name, (kinds, advice) in _CHECKS.items()]
    results += [_result(name, "skip", {}, ["an audit of problems does not measure it"], None) for name in _UNMEASURED]
    failed = any(result["status"] == "fail" for result in results)
    warned = any(finding.severity == "warning" for problem in report.problems for finding in problem.findings)
    return {
        "report_schema_version": "2",
        "target": report.data_set,
        "source_digest": f"sha256:{report.source_digest}" if report.source_digest else "",
        "signature": "task.toml" if all(one.contract == "harbor" for one in report.problems) else "openenv.yaml",
        "manifest": None,
        "policy_version": "v2",
        "lane": "local",
        "levels_run": [3],
        "results": results,
        "verdict": "fail" if failed else "warn" if warned else "pass",
    }


def _check(report: AuditReport, name: str, kinds: Sequence[str], advice: str) -> dict[str, Any]:
    found = [(one, finding) for one in report.problems for finding in one.findings if finding.kind in kinds]
    concerned = {one.problem for one, _ in found}
    measured: dict[str, Any] = {"problems": len(report.problems), "failing": len(concerned)}
    if name == "semantic.verifier_determinism":
        measured["flake_rate"] = report.flake_rate
    if name == "semantic.canary_floor":
        measured["forgeries"] = sum(one.forgeries for one in report.problems)
        measured["forgeries_paid"] = sum(one.forgeries_paid for one in report.problems)
    if not any(one.gold_runs for one in report.problems) and not concerned:
        return _result(name, "skip", measured, ["there is no right answer that was scored"], None)
    evidence = [f"{one.problem}: {finding.says}"[:MOST_SHOWN] for one, finding in found[:_MOST_EVIDENCE]]
    return _result(name, "fail" if concerned else "pass", measured, evidence, advice if concerned else None)


def _result(
    name: str, status: str, measured: dict[str, Any], evidence: list[str], remediation: str | None
) -> dict[str, Any]:
    return {
        "check_id": name,
        "status": status,
        "measured": measured,
        "evidence": evidence,
        "remediation": remediation,
        "duration_s": 0.0,
    }


def _shown(text: str) -> str:
    """A text of anybody's as a page may show it."""
    cut = text if len(text) <= MOST_SHOWN else text[:MOST_SHOWN] + " ..."
    return escape("".join(sign if sign.isprintable() else "\ufffd" for sign in cut), quote=True)


def _head(report: AuditReport) -> Iterator[str]:
    killed = sum(problem.mutants_killed for problem in report.problems)
    mutants = sum(problem.mutants for problem in report.problems)
    rate = "-" if report.flake_rate is None else f"{report.flake_rate:.2%}"
    totals = (
        (f"{report.fit_problems} of {len(report.problems)}", "problems are fit"),
        *(
            [(f"{report.unproven_problems}", "are unproven: no right answer, or no mutant of it")]
            if report.unproven_problems
            else ()
        ),
        (f"{killed / mutants:.0%}" if mutants else "-", "of the mutants are noticed, where right answers pass"),
        (f"{sum(problem.forgeries_paid for problem in report.problems)}", "forgeries are paid"),
        (rate, "flake rate"),
    )
    yield '<ul class="totals">' + "".join(f"<li><b>{number}</b>{what}</li>" for number, what in totals) + "</ul>"
    if report.kinds:
        yield "<p>" + " &middot; ".join(f"{_shown(kind)} {count}" for kind, count in report.kinds.items()) + "</p>"
    yield f'<p class="small">Battery {_shown(report.battery_version)}; right answers ran {report.gold_runs} times.</p>'


def _article(problem: AuditedProblem) -> str:
    share = problem.kill_share
    worth = [f"right answer {problem.gold_passed}/{problem.gold_runs}"]
    bar = ""
    if share is not None:
        worth.append(f"mutants noticed {problem.mutants_killed}/{problem.mutants}")
        bar = f'<div class="bar"><i style="width:{share:.0%}"></i></div>'
    worth.append(f"forgeries paid {problem.forgeries_paid}/{problem.forgeries}")
    colour = {"fit": "fit", "unproven": "warning"}.get(problem.verdict, "error")
    left = (
        f'<h2>{_shown(problem.problem)}</h2><p><span class="tag {colour}">{problem.verdict}</span> '
        f'<span class="small">{_shown(problem.contract)}, trust {_shown(problem.trust)}</span></p>{bar}'
    )
    right = "".join(
        f'<p><span class="tag {_severity(finding.severity)}">{_shown(finding.kind)}</span> {_shown(finding.says)}'
        f'<br><span class="small">{_shown(finding.advice)}</span></p>'
        for finding in problem.findings
    )
    return f'<article><div>{left}</div><div>{right}<p class="small">{", ".join(worth)}</p></div></article>'


def _severity(word: str) -> str:
    return word if word in ("error", "warning", "note") else "note"
