"""What is wrong with a problem, how grave that is, and what to do: from what its runs gave.

Only what a run has shown is called an error or a warning. Where one fault explains others (an empty answer is paid, so
every forgery is, too) the others are left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from harena.scoring.battery.forgery import JUDGED, TEXTS

Severity = Literal["error", "warning", "note"]

ADVICE: dict[str, tuple[Severity, str]] = {
    "wrong_gold": ("error", "Correct the right answer or the tests that refuse it; what the image lacks, add to it."),
    "flaky": (
        "error",
        "Pin what the tests or the answer depend on (time, random numbers, the order of sets), or give more time.",
    ),
    "never_called": ("error", "Call what is asked for in the tests, and compare what it gives."),
    "empty_answer": ("error", "Remove the checks that expect what nothing gives, or give them no weight."),
    "stub": ("error", "Add inputs whose right answer is something."),
    "constant": ("error", "Add inputs with other right answers, so that no single one passes."),
    "look_up": ("error", "Add inputs that the statement does not show."),
    "leaked_answer": ("error", "Take the answer out of the statement."),
    "forgery": (
        "error",
        "Compare answers outside of the candidate's process: use `tests` or `stdio`, and take no word of the "
        "candidate's for a verdict.",
    ),
    "known_wrong": ("error", "Add a check that this answer fails."),
    "blind_tests": ("error", "Add inputs that reach what the right answer computes."),
    "unscored": ("error", "Make the scorer give 0 for what it cannot read."),
    "weak_tests": ("warning", "Add inputs that tell the mutants which pass from the right answer."),
    "order": ("warning", "Make each test set up what it needs, and leave nothing behind."),
    "duplicate": ("warning", "Keep one of the two, or both on one side of a split."),
    "partial_credit": ("warning", "Give checks that an answer without a thought passes less weight."),
    "weak_line": ("note", "Let the command compare the candidate's output with what only you know."),
    "no_gold": ("warning", "Add a right answer: without one nobody knows whether the tests can be passed."),
    "no_mutants": (
        "warning",
        "Add wrong answers that the tests must refuse, or check yourself that their inputs reach all of the right one.",
    ),
    "few_mutants": (
        "note",
        "Take the share of noticed mutants for no measure of these tests: check their inputs yourself.",
    ),
    "not_attacked": ("note", "Look at this one yourself: no forgery could be tried."),
    "no_verdict": ("error", "Audit again when the host is less busy."),
    "survivors": ("note", "Look at these mutants: an input may be missing that tells them apart."),
    "shared_trust": (
        "note",
        "Use `tests` or `stdio` where answers are plain values; forgeries that nobody knows yet may score here.",
    ),
}
"""kind of a finding -> how grave it is, what to do"""
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")
"""the gravest first"""
CALLS = frozenset({"tests", "reference", "command"})
"""contracts under which nothing but calls can tell a right answer"""
VALUES = frozenset({"tests", "reference", "stdio"})
"""contracts that compare plain values outside: what a forgery is paid for there is the value that it happens to give"""
LEAST_MUTANTS, LEAST_KILLED = 4, 0.5
"""mutants that must be scored, and the share of them that sound tests notice"""
FEW_MUTANTS = 3
"""with fewer mutants, the share that is noticed says nothing about the tests"""
ONE_ANSWER = TEXTS | JUDGED | {"numeric"}
"""contracts without inputs, whose strength no mutants measure: they compare one answer, or ask a model about it"""
HARVEST = 0.5
"""partial credit that an answer without a thought may earn"""
_MOST_NAMES = 5

Said = tuple[str, str]
"""kind of the finding, what it says"""


def findings(row: Mapping[str, Any], tried: Mapping[str, Sequence[Mapping[str, Any]]]) -> list[dict[str, str]]:
    """Findings of one problem, the gravest first. `row`: as a calibration reports it; `tried`: the runs of what is
    tried for audits alone, by role (`lookup`, `leak`, `reordered`, `twin`), each {name, passed, lost: by the
    platform}."""
    told = [*_of_gold(row), *_of_nothing(row, tried), *_of_mistakes(row), *_beside(row, tried)]
    if row["verdict"] == "not_fit" and not any(ADVICE[kind][0] == "error" for kind, _ in told):
        told.append(("unscored", row["why"]))
    made = [{"kind": kind, "severity": ADVICE[kind][0], "says": says, "advice": ADVICE[kind][1]} for kind, says in told]
    return sorted(made, key=lambda finding: SEVERITIES.index(ADVICE[finding["kind"]][0]))


def _of_gold(row: Mapping[str, Any]) -> Iterator[Said]:
    gold = row["gold"]
    if not gold["runs"]:
        yield "no_gold", "there is no right answer"
        return
    fault = next((said for said in row["faults"] if said.startswith("the right answer passed")), None)
    if fault is None:
        if gold["flakes"]:
            yield "flaky", f"{gold['flakes']} of {gold['scored']} runs of the right answer scored otherwise"
    elif gold["passed"]:
        yield "flaky", fault
    else:
        yield "wrong_gold", fault


def _of_nothing(row: Mapping[str, Any], tried: Mapping[str, Sequence[Mapping[str, Any]]]) -> Iterator[Said]:
    """Answers without a thought: the least of them that is paid explains why the others are."""
    if row["idle_passed"]["empty"]:
        kind = "never_called" if row["contract"] in CALLS else "empty_answer"
        yield (
            kind,
            "an empty answer passes" + (": the tests ask the candidate nothing" if kind != "empty_answer" else ""),
        )
        return
    if row["empty_score"] and row["contract"] != "text_similarity":
        yield "empty_answer", f"an empty answer scores {row['empty_score']:.6g}"
    given = [run["name"] for run in tried.get("leak", ()) if run["passed"]]
    if given:
        yield "leaked_answer", f"{given[0]} passes"
    if row["known_wrong"]["passed"]:
        yield "known_wrong", f"{_few(row['known_wrong']['passed'])}, known to be wrong, passes"
    if row["idle_passed"]["stub"]:
        yield "stub", "a stub that does nothing passes"
    elif row["constants"]["passed"]:
        yield "constant", f"an answer without a thought passes: {_few(row['constants']['passed'])}"
    elif any(run["passed"] for run in tried.get("lookup", ())):
        yield "look_up", "a table of the examples in the statement passes"
    elif (row["constants"]["best_score"] or 0.0) >= HARVEST:
        best = row["constants"]
        yield "partial_credit", f"an answer that {best['best']} earns {best['best_score']:.6g} of partial credit"
    yield from _of_forgeries(row)


def _of_forgeries(row: Mapping[str, Any]) -> Iterator[Said]:
    """Forgeries are told apart from answers that are paid without one."""
    paid = row["battery"]["paid"]
    idle = row["idle_passed"]["stub"] or row["constants"]["passed"]
    if paid and not idle:
        names = _few([one["forgery"] for one in paid])
        if row["contract"] in VALUES:
            yield "constant", f"what {len(paid)} forgeries answer without having seen a question passes: {names}"
        else:
            yield "forgery", f"{len(paid)} of {row['battery']['tried']} forgeries are paid: {names}"
    if row["battery"]["unscored"] and row["gold"]["passed"]:
        yield "unscored", f"forgeries without a score: {_few(row['battery']['unscored'])}"


def _of_mistakes(row: Mapping[str, Any]) -> Iterator[Said]:
    """What the tests notice."""
    if not row["gold"]["passed"] or row["idle_passed"]["empty"]:
        return
    yield from _of_survivors(row["mutants"])
    tried = row["mutants"]["tried"]
    if row["contract"] in ONE_ANSWER or tried >= FEW_MUTANTS:
        return
    if tried:
        made = "only 1 mutant" if tried == 1 else f"only {tried} mutants"
        yield "few_mutants", f"{made} of the right answer could be tried, which says little about the tests"
    elif not row["known_wrong"]["runs"]:
        yield "no_mutants", "no mutant of the right answer could be made: how strong the tests are is unknown"


def _of_survivors(mutated: Mapping[str, Any]) -> Iterator[Said]:
    """The mutants that pass, by how many of all they are."""
    if not mutated["survived"]:
        return
    killed = f"{mutated['killed']} of {mutated['scored']} mutants of the right answer are noticed"
    if mutated["scored"] >= 3 and not mutated["killed"]:
        yield "blind_tests", killed
    elif mutated["scored"] >= LEAST_MUTANTS and mutated["killed"] < LEAST_KILLED * mutated["scored"]:
        yield "weak_tests", f"{killed}; not noticed: {_few(mutated['survived'])}"
    else:
        yield "survivors", f"{killed}; not noticed: {_few(mutated['survived'])}"


def _beside(row: Mapping[str, Any], tried: Mapping[str, Sequence[Mapping[str, Any]]]) -> Iterator[Said]:
    gold = row["gold"]
    turned = tried.get("reordered", ())
    steady = gold["passed"] == gold["runs"]
    if steady and turned and not any(run["passed"] or run["lost"] for run in turned):
        yield "order", "the right answer fails where the tests run in the opposite order"
    twins = [run["name"] for run in tried.get("twin", ()) if run["passed"]]
    if twins and not row["idle_passed"]["empty"]:
        yield (
            "duplicate",
            f"the right answer to {twins[0]} passes here, too: the tests tell no difference",
        )
    yield from (("weak_line", note) for note in row["notes"])
    if gold["runs"] and not row["battery"]["tried"]:
        yield "not_attacked", row["why"] or "no forgery was run"
    if row["verdict"] == "no_verdict":
        yield "no_verdict", row["why"]
    if row["trust"] == "shared":
        yield "shared_trust", "the tests run in one sandbox with the candidate (trust `shared`)"


def _few(names: Sequence[str]) -> str:
    more = f", ... ({len(names)} in all)" if len(names) > _MOST_NAMES else ""
    return ", ".join(names[:_MOST_NAMES]) + more
