"""A batch of scenarios and what a benchmark job says about them, made into training data, its lineage and a report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from harena.core.errors import ValidationError
from harena.scoring.scenario import Scenario, ScenarioBatch
from harena.scoring.verified_data.choice import Choice, choose
from harena.scoring.verified_data.lineage import STORED, line_digest, origin_of
from harena.scoring.verified_data.rows import (
    Prompt,
    PromptError,
    answer_of,
    checked_template,
    line_of,
    prompt_of,
    row_of,
)
from harena.scoring.verified_data.rule import Rule, refuse
from harena.scoring.verified_data.standing import (
    SCORED,
    Judged,
    Run,
    Standing,
    judged,
    without_cheats,
    without_contradictions,
)

MOST_NAMED = 20
_KEPT_FIELDS = (
    *("attempt", "score", "passed", "validity", "reason", "trust", "rescore", "verdict_right"),
    *("scorer_version", "evidence", "scenario_digest", "candidate_digest", *STORED),
)


class Selection:
    """`add` every run of the job, `finish`, then read `lines` and `report`."""

    def __init__(self, batch: ScenarioBatch, rule: Rule, template: str | None = None) -> None:
        """Raises ValidationError with every scenario that has no prompt."""
        self.rule = rule
        self._scenarios = batch.scenarios
        self._places = {scenario.id: place for place, scenario in enumerate(batch.scenarios)}
        self._prompts: dict[str, Prompt] = {}
        self._runs: dict[str, list[Run]] = {}
        self._strangers: list[str] = []
        self._judged: dict[str, list[Judged]] = {}
        self._choices: dict[str, Choice] = {}
        refuse(self._take_prompts(template))

    def add(self, run: Run) -> None:
        """One of the job's results."""
        if run["scenario_id"] not in self._places:
            self._strangers.append(run["scenario_id"])
            return
        self._runs.setdefault(run["scenario_id"], []).append({name: run.get(name) for name in _KEPT_FIELDS})

    def finish(self, *, attempts: int) -> None:
        """Every run was added. Raises ValidationError if they are not those of this batch."""
        self._check_that_they_belong()
        candidates = [
            judged(scenario, place, self._runs.get(scenario.id, ()), self.rule, attempts=attempts)
            for place, scenario in enumerate(self._scenarios)
        ]
        for one in without_cheats(candidates):
            self._judged.setdefault(_problem(one.scenario), []).append(one)
        for problem, ones in self._judged.items():
            self._judged[problem] = without_contradictions(ones)
            self._choices[problem] = choose(
                [one for one in self._judged[problem] if self._may_be_chosen(one)], self.rule
            )

    def lines(self, *, job_id: str, harena_version: str) -> Iterator[tuple[bytes, bytes]]:
        """(line of data, line of its lineage), both without their ends: problems in the order of the batch."""
        named = {"job_id": job_id, "rule": self.rule.as_json(), "harena_version": harena_version}
        number = 0
        for problem, choice in self._choices.items():
            for better, worse in choice.pairs if self.rule.makes_pairs else [(one, None) for one in choice.kept]:
                number += 1
                line = self._line(problem, better, worse)
                origin = {"line": number, "sha256": line_digest(line), "problem": problem, **origin_of(better)}
                if worse is not None:
                    origin["rejected"] = origin_of(worse)
                yield line, line_of({**origin, **named})

    def report(self) -> dict[str, Any]:
        """What was kept of what, as JSON types.

        {version, rule, totals: {problems, problems_with_rows, ROW, pass_rate, pass_rate_of_all}, problems_without_pass:
         [id], problems: [{problem, ROW}]} where ROW is candidates, scored, valid, passed, failed, flaky, suspect,
        honeypot, invalid, infra, not_run (candidates by their standing: `scored` are the first four, `valid` the first
        two), kept, duplicates, beyond_limit, unwritable (which passed, and are not kept), pairs and rows.

        `passed` is by the rule. `pass_rate` is of the scored, None where there are none; `pass_rate_of_all` of all.
        """
        rows: list[dict[str, Any]] = [{"problem": problem, **self._counts(problem)} for problem in self._judged]
        totals: Counter[str] = Counter()
        for row in rows:
            totals.update({name: count for name, count in row.items() if name != "problem"})
        return {
            "version": 1,
            "rule": {**self.rule.as_json(), "limit": self.rule.limit, "system": self.rule.system},
            "totals": {
                "problems": len(rows),
                "problems_with_rows": sum(1 for row in rows if row["rows"]),
                **totals,
                "pass_rate": totals["passed"] / totals["scored"] if totals["scored"] else None,
                "pass_rate_of_all": totals["passed"] / totals["candidates"] if totals["candidates"] else None,
            },
            "problems_without_pass": [row["problem"] for row in rows if not row["passed"]],
            "problems": rows,
        }

    def _take_prompts(self, template: str | None) -> list[str]:
        """Every problem's prompt; sentences about those that have none."""
        mistakes: list[str] = []
        try:
            template = None if template is None else checked_template(template)
        except PromptError as error:
            return [f"the prompt template {error}"]
        for scenario in self._scenarios:
            if scenario.honeypot:
                continue
            try:
                prompt = prompt_of(scenario, template, self.rule)
            except PromptError as error:
                mistakes.append(f"scenario {scenario.id!r} {error}")
                continue
            if self._prompts.setdefault(_problem(scenario), prompt) != prompt:
                mistakes.append(f"scenario {scenario.id!r} has another prompt than others of {_problem(scenario)!r}")
        more = len(mistakes) - MOST_NAMED
        return [*mistakes[:MOST_NAMED], *([f"... and {more} scenarios more"] if more > 0 else [])]

    def _check_that_they_belong(self) -> None:
        if self._strangers:
            raise ValidationError(
                f"the job ran scenarios that are not among these: {_named(self._strangers)}; give the scenarios and "
                "candidates that it was made of, and their --format, if it had one"
            )
        changed = [name for name, runs in self._runs.items() if any(self._differs(name, run) for run in runs)]
        if changed:
            raise ValidationError(
                f"what the job ran is not what the files hold now: {_named(changed)} (their digests differ, or an "
                "earlier harena recorded none); run them again, without --job"
            )

    def _differs(self, name: str, run: Run) -> bool:
        """A scored run is of another version of its scenario or of its candidate."""
        if run["score"] is None:
            return False
        scenario = self._scenarios[self._places[name]]
        return (run["scenario_digest"], run["candidate_digest"]) != (scenario.digest, scenario.candidate.digest)

    def _may_be_chosen(self, one: Judged) -> bool:
        """Passed or failed for certain, and an answer that can be written as one text."""
        certain = one.standing in (Standing.PASSED, Standing.FAILED)
        return certain and answer_of(one.scenario, self.rule.completion) is not None

    def _line(self, problem: str, better: Judged, worse: Judged | None) -> bytes:
        texts = [answer_of(one.scenario, self.rule.completion) or "" for one in (better, worse) if one is not None]
        return line_of(row_of(self.rule, self._prompts[problem], *texts))

    def _counts(self, problem: str) -> dict[str, int]:
        ones, choice = self._judged[problem], self._choices[problem]
        standings = Counter(one.standing for one in ones)
        dropped = choice.duplicates + choice.beyond_limit
        return {
            "candidates": len(ones),
            "scored": sum(standings[standing] for standing in SCORED),
            "valid": standings[Standing.PASSED] + standings[Standing.FAILED],
            **{str(standing): standings[standing] for standing in Standing},
            "kept": len(choice.kept),
            "duplicates": choice.duplicates,
            "beyond_limit": choice.beyond_limit,
            "unwritable": standings[Standing.PASSED] - len(choice.kept) - dropped,
            "pairs": len(choice.pairs),
            "rows": len(choice.pairs) if self.rule.makes_pairs else len(choice.kept),
        }


def _problem(scenario: Scenario) -> str:
    return scenario.problem_id or scenario.id


def _named(names: Sequence[str]) -> str:
    different = sorted(set(names))
    more = f" and {len(different) - MOST_NAMED} more" if len(different) > MOST_NAMED else ""
    return ", ".join(different[:MOST_NAMED]) + more
