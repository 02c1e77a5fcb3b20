"""Whether a scenario is fit for training: a right answer passes each time, nothing else does. Nothing is run here.

    calibration = Calibration(load_scenarios(file), gold_runs=5)
    report = calibration.report(runs)              # runs of `calibration.rows`, as a job's results hold them

For each problem and contract of the batch these are tried: every right candidate (one that is expected to pass, or of
which nothing is said), `gold_runs` times; every candidate that is known to be wrong, once; an empty program; a stub (it
defines what is asked for, and does nothing); the stubs that answer with a constant or with what they were asked;
mutants of the first right answer; and each forgery of the battery that applies to the contract. For audits also: a
table of the statement's examples, what the statement calls the answer, the right answer under the same tests in the
opposite order, and right answers to problems that are like this one. Honeypots are left out: there is no right answer
to them, and a forgery that passes one is what they are for.

A scenario gets one of four verdicts. `fit`: a right answer and forgeries were tried, and all is as it must be.
`not_fit`: there is a fault. `not_judged`: there was nothing to try, so nothing is known. `no_verdict`: the platform
gave some runs no score, also after the job's retries, and what was scored shows no fault; calibrate again when the host
is less busy.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any, Literal

from harena.core.errors import ValidationError
from harena.core.results import Reason, Validity
from harena.scoring.audit import findings, given_away, holds_solution, in_another_order, like_problems, lookups, renamed
from harena.scoring.battery import Forgery, Target, applicable, battery_version, contract_type, mutants, rendered, stubs
from harena.scoring.battery.forgery import JUDGED, TEXTS
from harena.scoring.contracts.contract import CommandContract, Contract, WeightedContract
from harena.scoring.digests import digest_of
from harena.scoring.formats.answers import final_answer
from harena.scoring.scenario import Candidate, Scenario, ScenarioBatch, ScenarioLimits
from harena.scoring.scorers.languages import NOTHING_BY_ENDING
from harena.scoring.scorers.weak_lines import weak_lines

MAX_GOLD_RUNS = 1000
_EMPTY = "# an empty answer\n"
_STUB = Forgery(name="stub", family="nothing", tries="Does nothing.")

Role = Literal[
    "gold", "known-wrong", "empty", "stub", "constant", "mutant", "forgery", "lookup", "leak", "reordered", "twin"
]
OF_AUDITS: frozenset[Role] = frozenset({"lookup", "leak", "reordered", "twin"})
"""roles that say something to an audit, and nothing about whether a scenario is fit"""
FitVerdict = Literal["fit", "not_fit", "not_judged", "no_verdict"]
Run = Mapping[str, Any]
NO_GOLD = "there is no candidate that is expected to pass; add a right one"
MOST_NAMES = 5
"""largest number of names that one fault lists"""
MOST_TOLD = 300
"""characters of one run's detail in a fault"""
LEAST_MUTANTS = 3
"""number of mutants that must have been scored before a fault says that none was noticed"""
REORDERED_RUNS = 2
"""runs of a right answer under the same tests in the opposite order"""
OUTLASTING_SECONDS = {"tests": 1.0, "reference": 1.0, "stdio": 1.0, "numeric": 1.0, "command": 2.0}
"""contract -> processor time of a forgery that waits for its end. What it tries, it tries at once; under a command a
test suite is loaded before it. Under other contracts it has all the time that a run has"""


@dataclass(frozen=True, slots=True)
class Trial:
    """One run of a calibration."""

    role: Role
    name: str
    """the right or wrong candidate's scenario id, or the forgery's name"""
    candidate: Candidate
    scoring: Contract | None = None
    """in place of the scenario's"""
    files: Mapping[str, str] = field(default_factory=dict)
    """over the problem's"""
    seconds: float | None = None
    """its time, where the scenario's own is not shorter"""


@dataclass(slots=True)
class Subject:
    """One problem under one contract, and the candidates that its file has for it."""

    id: str
    scenario: Scenario
    """the first right one, else the first"""
    right: list[Scenario] = field(default_factory=list)
    wrong: list[Scenario] = field(default_factory=list)
    like: list[Subject] = field(default_factory=list)
    """earlier ones of the batch that it may be again"""

    def trials(self, gold_runs: int) -> Iterator[Trial]:
        """What is to be run."""
        for gold in self.right:
            yield from (Trial("gold", gold.id, gold.candidate) for _ in range(gold_runs))
        yield from (Trial("known-wrong", wrong.id, wrong.candidate) for wrong in self.wrong)
        target = Target.of(self.scenario)
        nothing = NOTHING_BY_ENDING.get(PurePosixPath(target.entry).suffix, _EMPTY)
        yield Trial("empty", "empty", Candidate(files={target.entry: nothing}, entry=target.entry))
        if not target.takes_programs:
            return
        if target.contract not in TEXTS | JUDGED:
            yield Trial("stub", "stub", rendered(_STUB, target))
        said = self._right_words if target.contract in TEXTS else frozenset()
        for name, candidate in stubs(self.scenario):
            if _words_of(candidate) not in said:
                yield Trial("constant", name, candidate)
        for mutant in mutants(self.right[0]) if self.right else ():
            yield Trial("mutant", mutant.name, mutant.candidate)
        for forgery in applicable(self.scenario):
            seconds = OUTLASTING_SECONDS.get(target.contract) if forgery.outlasts else None
            yield Trial("forgery", forgery.name, rendered(forgery, target), seconds=seconds)
        yield from self._trials_of_audits()

    @property
    def _right_words(self) -> frozenset[str]:
        """The right answers as texts: to say one of them is no answer without a thought, however short it is."""
        return frozenset(_words_of(gold.candidate) for gold in self.right)

    def _trials_of_audits(self) -> Iterator[Trial]:
        """What tells whether answers are given away, the tests' order matters, or the problem is there twice."""
        for name, candidate in lookups(self.scenario):
            yield Trial("lookup", name, candidate)
        for name, candidate in given_away(self.scenario):
            yield Trial("leak", name, candidate)
        if not self.right:
            return
        gold = self.right[0]
        if holds_solution(gold):
            yield Trial("leak", "the right answer, which stands in the statement,", gold.candidate)
        turned = in_another_order(gold)
        if turned is not None:
            trial = Trial("reordered", gold.id, gold.candidate, scoring=turned.scoring, files=turned.files)
            yield from (trial for _ in range(REORDERED_RUNS))
        for other in self.like:
            answer = renamed(other.scenario, self.scenario) if other.right else None
            if answer is not None:
                yield Trial("twin", other.id, answer)

    @property
    def digest(self) -> str:
        """sha256 over all that decides a score, and the right answers: the version that a calibration holds for."""
        named = {
            "contract": self.scenario.scoring.fingerprint,
            "scorer_version": self.scenario.scoring.version,
            "files": dict(self.scenario.files),
            "limits": self.scenario.limits.model_dump(),
            "statement": self.scenario.statement,
            **self.scenario.place,
            **_networks(self.scenario),
            "right": [[gold.candidate.entry, dict(gold.candidate.files)] for gold in self.right],
        }
        return digest_of(named)


class Calibration:
    """What is run for a batch of scenarios, and what its runs say."""

    def __init__(self, batch: ScenarioBatch, *, gold_runs: int) -> None:
        """Raises ValidationError for a number of runs that says nothing about flakes, or never ends."""
        if type(gold_runs) is not int or not 2 <= gold_runs <= MAX_GOLD_RUNS:
            raise ValidationError(f"gold_runs must be a whole number from 2 to {MAX_GOLD_RUNS} (got {gold_runs!r})")
        self.gold_runs = gold_runs
        self.subjects = _subjects(batch)
        if not self.subjects:
            raise ValidationError(
                "there is nothing to calibrate: every scenario is a honeypot, which nothing shall pass"
            )
        self.rows: list[dict[str, Any]] = []
        """scenarios of a benchmark job"""
        self._trials: dict[str, tuple[int, Trial]] = {}
        for index, subject in enumerate(self.subjects):
            for number, trial in enumerate(subject.trials(gold_runs)):
                row = _row(subject, trial, f"{subject.id[:150]}/{trial.role}/{number}-{trial.name[:60]}")
                self.rows.append(row)
                self._trials[row["id"]] = (index, trial)

    def report(self, runs: Sequence[Run]) -> dict[str, Any]:
        """What `runs` say, as JSON types.

        {version, battery_version, gold_runs, fit, verdicts: {verdict: number of scenarios}, flake_rate,
         scenarios: [{scenario, contract, trust, digest, fit,
         verdict: "fit" | "not_fit" | "not_judged" | "no_verdict", why: sentence, faults: [sentence],
         gold: {runs, scored, passed, flake_rate}, known_wrong: {runs, passed: [id]}, empty_score, stub_score,
         constants: {tried, best, best_score, passed: [name]}, mutants: {tried, scored, killed, survived: [name]},
         battery: {tried, paid: [{forgery, score, tries}], unscored: [forgery]}, unscored_by_platform: number of runs,
         notes: [sentence about a line of a `command` whose answer a candidate can arrange],
         findings: [{kind, severity: "error" | "warning" | "note", says, advice}],
         true_positive_rate, false_positive_rate}]}

        Rates are shares of scored runs, None where nothing was scored. A flake is a scored run of a right candidate
        whose score is not this candidate's most frequent one.
        """
        of_subject: list[list[tuple[Trial, Run]]] = [[] for _ in self.subjects]
        for run in runs:
            index, trial = self._trials[run["scenario_id"]]
            of_subject[index].append((trial, run))
        judged = [_judged(subject, made, self) for subject, made in zip(self.subjects, of_subject, strict=True)]
        scored = sum(row["gold"]["scored"] for row in judged)
        flakes = sum(row["gold"]["flakes"] for row in judged)
        return {
            "version": 1,
            "battery_version": battery_version(),
            "gold_runs": self.gold_runs,
            "fit": all(row["fit"] for row in judged),
            "verdicts": dict(Counter(row["verdict"] for row in judged)),
            "flake_rate": flakes / scored if scored else None,
            "scenarios": judged,
        }


def _subjects(batch: ScenarioBatch) -> list[Subject]:
    """By problem, contract and place, in order of appearance."""
    found: dict[tuple[str, str, str], Subject] = {}
    ids: Counter[str] = Counter()
    for scenario in batch.scenarios:
        if scenario.honeypot:
            continue
        named = scenario.problem_id or scenario.id
        key = (named, scenario.scoring.fingerprint, repr(scenario.place))
        if key not in found:
            ids[named] += 1
            found[key] = Subject(named if ids[named] == 1 else f"{named}#{ids[named]}", scenario)
        subject = found[key]
        is_right = scenario.expected is None or scenario.expected.passed
        if is_right and not subject.right:
            subject.scenario = scenario
        (subject.right if is_right else subject.wrong).append(scenario)
    subjects = list(found.values())
    for index, others in like_problems([subject.scenario for subject in subjects]).items():
        subjects[index].like = [subjects[other] for other in others]
    return subjects


def _row(subject: Subject, trial: Trial, row_id: str) -> dict[str, Any]:
    return {
        "id": row_id,
        "candidate": trial.candidate,
        "scoring": subject.scenario.scoring if trial.scoring is None else trial.scoring,
        "limits": _limits(subject.scenario, trial),
        **subject.scenario.place,
        **_networks(subject.scenario),
        "problem": {"id": subject.id[:256], "files": {**subject.scenario.files, **trial.files}},
        "metadata": dict(subject.scenario.metadata),
    }


def _limits(scenario: Scenario, trial: Trial) -> ScenarioLimits:
    own = scenario.limits
    if trial.seconds is None or (own.timeout_seconds is not None and own.timeout_seconds <= trial.seconds):
        return own
    return own.model_copy(update={"timeout_seconds": trial.seconds})


def _networks(scenario: Scenario) -> dict[str, Any]:
    """What the scenario's sandboxes may reach, as a row says it: {} = what their places say."""
    if scenario.network is None:
        return {}
    phases = {"agent": scenario.network.to_json(), "verifier": scenario.verifier_network.to_json()}
    return {"network": phases}


def _judged(subject: Subject, made: Sequence[tuple[Trial, Run]], calibration: Calibration) -> dict[str, Any]:
    golds = [(trial, run) for trial, run in made if trial.role == "gold"]
    wrongs = [(trial, run) for trial, run in made if trial.role == "known-wrong"]
    forged = [(trial, run) for trial, run in made if trial.role == "forgery"]
    without_thought = [(trial, run) for trial, run in made if trial.role == "constant"]
    if not golds and contract_type(subject.scenario.scoring) in TEXTS and _may_be_right(without_thought):
        without_thought = [(trial, run) for trial, run in without_thought if not run["passed"]]
    constants = _constants(without_thought)
    nothing = {trial.role: run for trial, run in made if trial.role in ("empty", "stub")}
    idle = [run["score"] for run in nothing.values()]
    most = max((score for score in (*idle, constants["best_score"]) if score is not None), default=0.0)
    scored = [run for _, run in golds if run["score"] is not None]
    others = [
        run
        for trial, run in made
        if trial.role not in ("gold", "mutant") and trial.role not in OF_AUDITS and run["score"] is not None
    ]
    tries = {forgery.name: forgery.tries for forgery in applicable(subject.scenario)}
    row: dict[str, Any] = {
        "scenario": subject.id,
        "contract": contract_type(subject.scenario.scoring),
        "trust": str(subject.scenario.scoring.trust),
        "digest": subject.digest,
        "gold": {
            "runs": len(golds),
            "scored": len(scored),
            "passed": sum(1 for run in scored if run["passed"]),
            "flakes": _flakes(golds),
            "flake_rate": _flakes(golds) / len(scored) if scored else None,
        },
        "known_wrong": {"runs": len(wrongs), "passed": [trial.name for trial, run in wrongs if run["passed"]]},
        "empty_score": nothing["empty"]["score"] if "empty" in nothing else None,
        "stub_score": nothing["stub"]["score"] if "stub" in nothing else None,
        "constants": constants,
        "mutants": _mutants([(trial, run) for trial, run in made if trial.role == "mutant"]),
        "battery": {
            "tried": len(forged),
            "paid": [
                {"forgery": trial.name, "score": run["score"], "tries": tries[trial.name]}
                for trial, run in forged
                if run["score"] is not None and (run["passed"] or run["score"] > most)
            ],
            "unscored": [trial.name for trial, run in forged if run["score"] is None and not _is_platforms(run)],
        },
        "unscored_by_platform": sum(_is_platforms(run) for _, run in made),
        "notes": _weak_lines(subject.scenario),
        "true_positive_rate": sum(1 for run in scored if run["passed"]) / len(scored) if scored else None,
        "false_positive_rate": sum(1 for run in others if run["passed"]) / len(others) if others else None,
    }
    planned = Counter(trial.role for trial in subject.trials(calibration.gold_runs))
    row["faults"] = [*_faults(row, made, missing=planned.total() - len(made))]
    row["verdict"], row["why"] = _fit_verdict(
        row, [run for _, run in made if _is_platforms(run)], Target.of(subject.scenario)
    )
    row["findings"] = _findings(row, made)
    return {**row, "fit": row["verdict"] == "fit"}


def _findings(row: Mapping[str, Any], made: Sequence[tuple[Trial, Run]]) -> list[dict[str, str]]:
    passed = {trial.role for trial, run in made if run["passed"]}
    idle = {role: role in passed for role in ("empty", "stub")}
    tried: dict[str, list[dict[str, Any]]] = {
        role: [
            {"name": trial.name, "passed": run["passed"], "lost": _is_platforms(run)}
            for trial, run in made
            if trial.role == role
        ]
        for role in OF_AUDITS
    }
    return findings({**row, "idle_passed": idle}, tried)


def _weak_lines(scenario: Scenario) -> list[str]:
    contract = scenario.scoring
    parts = contract.parts.values() if isinstance(contract, WeightedContract) else ()
    found: list[str] = []
    for each in (contract, *(part.scoring for part in parts)):
        if isinstance(each, CommandContract) and each.command is not None:
            found += weak_lines(each.command, {**scenario.files, **each.files}, scenario.candidate.files)
    return found


def _fit_verdict(row: Mapping[str, Any], lost: Sequence[Run], target: Target) -> tuple[FitVerdict, str]:
    """(the verdict, why): nothing is fit of which nothing was tried. `lost`: runs without a score because of the
    platform."""
    unlike = "" if target.takes_programs else f": forgeries are programs in Python, and its candidate is {target.entry}"
    if not row["gold"]["runs"]:
        return "not_judged", NO_GOLD
    if not row["battery"]["tried"]:
        return "not_judged", f"no forgery was run against the contract {row['contract']!r}{unlike}"
    if row["faults"]:
        return "not_fit", row["faults"][0]
    if lost:
        reason, told = _most_told(lost)
        mostly = f", mostly {told}" if told else ""
        advice = "; calibrate again on a less busy host" if reason in ("", Reason.STARVED) else ""
        return "no_verdict", f"{len(lost)} runs have no score because of the platform{mostly}{advice}"
    return "fit", ""


def _most_told(runs: Sequence[Run]) -> tuple[str, str]:
    """(the reason that most of them have, that reason with the detail of the first one); empty where none has any."""
    reasons = Counter(str(run.get("reason") or "") for run in runs)
    reason = reasons.most_common(1)[0][0] if reasons else ""
    details = (str(run.get("detail") or "") for run in runs if str(run.get("reason") or "") == reason)
    return reason, ": ".join(part for part in (reason, next(details, "")[:MOST_TOLD]) if part)


def _is_platforms(run: Run) -> bool:
    """The platform gave no score, also after its retries: nothing about the scenario."""
    return run["score"] is None and run.get("validity") == Validity.INFRA


def _words_of(candidate: Candidate) -> str:
    """What a text says, whatever its letters' size."""
    return final_answer(candidate.source).strip().casefold()


def _may_be_right(made: Sequence[tuple[Trial, Run]]) -> bool:
    """Whether all that passes of these is one word: it may be what is right, where nobody knows that."""
    return len({_words_of(trial.candidate) for trial, run in made if run["passed"]}) == 1


def _constants(made: Sequence[tuple[Trial, Run]]) -> dict[str, Any]:
    """What answers without a thought earn."""
    scored = [(run["score"], trial.name) for trial, run in made if run["score"] is not None]
    best_score, best = max(scored, key=lambda pair: pair[0], default=(None, None))
    passed = [trial.name for trial, run in made if run["passed"]]
    return {"tried": len(made), "best": best if best_score else None, "best_score": best_score, "passed": passed}


def _mutants(made: Sequence[tuple[Trial, Run]]) -> dict[str, Any]:
    """How many mistakes the contract notices; a run of which there is no score says nothing."""
    scored = [(trial, run) for trial, run in made if run["score"] is not None]
    survived = [trial.name for trial, run in scored if run["passed"]]
    killed = len(scored) - len(survived)
    return {"tried": len(made), "scored": len(scored), "killed": killed, "survived": survived}


def _flakes(golds: Sequence[tuple[Trial, Run]]) -> int:
    """Scored runs that do not agree with most of the same candidate's."""
    scores: dict[str, Counter[float]] = {}
    for trial, run in golds:
        if run["score"] is not None:
            scores.setdefault(trial.name, Counter())[run["score"]] += 1
    return sum(counted.total() - counted.most_common(1)[0][1] for counted in scores.values())


def _faults(row: Mapping[str, Any], made: Sequence[tuple[Trial, Run]], *, missing: int) -> Iterator[str]:
    """Why the scenario is not fit for training, one sentence each."""
    if not row["gold"]["runs"]:
        yield NO_GOLD
    yield from _faults_of_gold(row, made)
    yield from _faults_of_nothing(row, made)
    for name in row["known_wrong"]["passed"]:
        yield f"{name}, which is known to be wrong, passes"
    yield from _faults_of_the_unscored(made)
    mutated = row["mutants"]
    if mutated["scored"] >= LEAST_MUTANTS and not mutated["killed"]:
        yield f"none of {mutated['scored']} mutants of the right answer is noticed"
    battery = row["battery"]
    for paid in battery["paid"]:
        yield f"the forgery {paid['forgery']} scores {paid['score']:.6g}: {paid['tries']}"
    if battery["unscored"]:
        yield f"forgeries without a score: {_few(battery['unscored'])}"
    if missing:
        yield f"{missing} runs did not end"


_CALLED: dict[Role, str] = {"known-wrong": "answers known to be wrong", "constant": "constants", "mutant": "mutants"}


def _few(names: Sequence[str]) -> str:
    """The first ones, and how many there are where they are more."""
    more = f", ... ({len(names)} in all)" if len(names) > MOST_NAMES else ""
    return ", ".join(names[:MOST_NAMES]) + more


def _faults_of_the_unscored(made: Sequence[tuple[Trial, Run]]) -> Iterator[str]:
    """A wrong answer without a score is one that a contract cannot judge: it is neither paid nor noticed."""
    for role, called in _CALLED.items():
        names = [t.name for t, run in made if t.role == role and run["score"] is None and not _is_platforms(run)]
        if names:
            yield f"{len(names)} {called} have no score: {_few(names)}"


def _faults_of_gold(row: Mapping[str, Any], made: Sequence[tuple[Trial, Run]]) -> Iterator[str]:
    gold = row["gold"]
    starved = sum(_is_platforms(run) for trial, run in made if trial.role == "gold")
    judged = gold["runs"] - starved
    if gold["passed"] < judged:
        unscored = judged - gold["scored"]
        failed = [run for t, run in made if t.role == "gold" and not run["passed"] and not _is_platforms(run)]
        _, told = _most_told(failed)
        yield f"the right answer passed {gold['passed']} of {judged} runs" + (
            (f" ({unscored} had no score)" if unscored else "") + (f": {told}" if told else "")
        )
    if gold["flakes"]:
        yield f"{gold['flakes']} runs of the right answer did not score as the others did"


def _faults_of_nothing(row: Mapping[str, Any], made: Sequence[tuple[Trial, Run]]) -> Iterator[str]:
    """What an answer earns that nobody has thought about."""
    for kind in ("empty", "stub"):
        runs = [run for trial, run in made if trial.role == kind]
        if runs and row[f"{kind}_score"] is None and not any(map(_is_platforms, runs)):
            yield f"the {kind} answer has no score"
    passed = {trial.role for trial, run in made if run["passed"]}
    # by text_similarity any text is a little like the right one
    if row["empty_score"] and (row["contract"] != "text_similarity" or "empty" in passed):
        yield f"an empty answer scores {row['empty_score']:.6g}"
    if "stub" in passed or row["stub_score"] == 1.0:
        yield f"a stub that does nothing scores {row['stub_score']:.6g}"
    if row["constants"]["passed"]:
        yield f"an answer without a thought passes: {_few(row['constants']['passed'])}"
