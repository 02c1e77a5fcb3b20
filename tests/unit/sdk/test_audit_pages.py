"""An audit as a page, a badge and a report of OpenEnv's form."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from html.parser import HTMLParser
from typing import Any

import pytest

from harena.core.records.audits import AuditedProblem, AuditReport
from harena.core.records.calibrations import Finding
from harena.sdk.audit_pages import badge, openenv, page

HOSTILE = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>\u202e\x1b[31m"


def problem(name: str, *kinds: str, severity: str = "error", **fields: Any) -> AuditedProblem:
    """One with these findings."""
    made = [Finding(kind=kind, severity=severity, says=f"{kind} says", advice="Do it.") for kind in kinds]
    numbers = {"gold_runs": 5, "gold_passed": 5, "mutants": 4, "mutants_killed": 3, "forgeries": 9, **fields}
    return AuditedProblem(
        problem=name, contract="tests", trust="separate", fit=not made or severity != "error", findings=made, **numbers
    )


def report(*problems: AuditedProblem, data_set: str = "rows.jsonl") -> AuditReport:
    """An audit of them."""
    fit = sum(one.fit for one in problems)
    return AuditReport(
        version=1, data_set=data_set, source_digest="d", battery_version="b", gold_runs=5, fail_on="error",
        fit=fit == len(problems), fit_problems=fit, kinds={}, flake_rate=0.0, problems=list(problems),
    )  # fmt: skip


class Tags(HTMLParser):
    """The elements of a page, and what they would fetch or run."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []
        self.active: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)
        self.active += [f"{tag} {name}" for name, _ in attrs if name.startswith("on") or name in ("src", "href")]


def test_a_page_shows_hostile_names_as_text() -> None:
    """No element but ours, nothing that runs or fetches, no control characters; a policy that forbids it besides."""
    hostile = Finding(kind=HOSTILE, severity=HOSTILE, says=HOSTILE, advice=HOSTILE)
    one = AuditedProblem(problem=HOSTILE, contract=HOSTILE, trust=HOSTILE, fit=False, findings=[hostile])
    text = page(report(one, data_set=HOSTILE))
    tags = Tags()
    tags.feed(text)
    assert not {"script", "img", "link", "iframe"} & set(tags.seen)
    assert tags.active == []
    assert "default-src 'none'" in text
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "&lt;script&gt;" in text
    long = page(report(problem("x" * 100_000)))
    assert len(long) < 10_000


def test_a_page_has_a_bar_for_each_kill_share_in_the_reports_order() -> None:
    """And what to do."""
    text = page(report(problem("weak", "constant", mutants_killed=1), problem("sound")))
    assert text.index("weak") < text.index("sound")
    assert 'style="width:25%"' in text
    assert 'style="width:75%"' in text
    assert "Do it." in text


def test_a_badge_is_a_picture_that_says_how_many_are_fit() -> None:
    """Well-formed, also of no problem at all."""
    assert "1/2 fit" in badge(report(problem("weak", "constant"), problem("sound")))
    for made in (report(), report(problem("sound"))):
        assert ElementTree.fromstring(badge(made)).tag.endswith("svg")


@pytest.mark.parametrize(
    ("kind", "check"),
    [
        ("wrong_gold", "semantic.oracle_max"),
        ("look_up", "semantic.floor_gap"),
        ("forgery", "semantic.canary_floor"),
        ("leaked_answer", "semantic.no_solution_leakage"),
        ("flaky", "semantic.verifier_determinism"),
    ],
)
def test_openenvs_checks_fail_by_the_findings(kind: str, check: str) -> None:
    """Each of the five that an audit measures; the others of that level are skipped, with the reason."""
    told = openenv(report(problem("weak", kind), problem("sound")))
    assert (told["report_schema_version"], told["verdict"], told["levels_run"]) == ("2", "fail", [3])
    results = {result["check_id"]: result for result in told["results"]}
    assert [name for name, result in results.items() if result["status"] == "fail"] == [check]
    assert results[check]["evidence"] == [f"weak: {kind} says"]
    assert results[check]["remediation"]
    assert all(result["evidence"] for result in results.values() if result["status"] == "skip")


def test_openenvs_verdict_is_pass_or_warn_without_errors() -> None:
    """What needs a right answer is skipped where none was scored."""
    assert openenv(report(problem("sound")))["verdict"] == "pass"
    assert openenv(report(problem("twice", "duplicate", severity="warning")))["verdict"] == "warn"
    unknown = openenv(report(problem("bare", "no_gold", severity="warning", gold_runs=0)))
    assert {result["status"] for result in unknown["results"]} == {"skip"}
