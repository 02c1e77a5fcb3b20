"""From a candidate and a scoring contract to a reward, through the execution plane.

A fault that follows the candidate into a fresh sandbox, while another program runs there, is the candidate's own, and
earns the minimum (also where the execution plane does not take a candidate at all, because it is too large), as
`suspect` and `invalid` do: otherwise breaking the sandbox would be a way out of a bad reward.
What is invalid is nobody's doing, and no reward, as long as nobody has passed by this contract: it is broken, or the
image. With a 0 for all, a job would complete that has learned nothing. Garbage is no way to it: the execution plane
itself tells a scorer that is broken from one that an answer makes fail. Once somebody has passed, it is no excuse.
A judge is believed only where it refuses every question, also about a candidate that does nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Literal

from harena.core.errors import HarenaError, HostUnsupportedError
from harena.core.results import Reason, Validity
from harena.scoring.scorers.languages import CHOSEN_LANGUAGE
from harena.sdk.scores import score
from harena.training.data.prompts import digest
from harena.training.rollouts.trajectory import MINIMUM, Candidate, Reward, RewardValidity

FOLLOWS = "fault_follows_candidate"
_JUDGES = ("score_model", "label_model")
_CALLS = ("cases", "checks", "inputs")
_MOST_OF_CALLS_SECONDS = 120.0
_WITH_MARKS = ("score_model", "text_similarity", "weighted")
_ANSWER = "{{ sample.output_text }}"
"""what a text contract judges where it does not say"""
_LONGEST_TRIED = 200
"""characters of a pattern that is searched for in the shortest of texts"""
_MOST_PROVED = 100_000
_proved: set[str] = set()
"""digests of contracts, with what is judged by them and where, by which somebody has passed: what they say is broken
there is not so for everybody"""
_LACKING = re.compile(r"the image (?:has no|lacks)|cannot be run")
_OF_TEXTS = (*_JUDGES, "string_check", "text_similarity", "regex")


async def judged(
    candidate: Candidate,
    judged_by: Mapping[str, Any],
    *,
    idle: Candidate,
    minimum: float = MINIMUM,
    credit: Literal["all", "fraction"] = "all",
    blueprint_id: str | None = None,
    timeout_seconds: float,
) -> Reward:
    """The reward of a candidate, run and scored in fresh sandboxes. `judged_by` are fields of a scenario, `scoring`
    among them; `idle` is a candidate that does nothing."""
    fields = {**judged_by, "blueprint_id": blueprint_id, "timeout_seconds": timeout_seconds, "retry_attempts": 2}
    may_err = asks_a_model(judged_by["scoring"])  # a judge that refuses one question, as an answer may make it do
    result = await _tried(candidate, fields)
    if _may_be_nobodys(result):
        nothing = await _tried(idle, fields)
        if isinstance(nothing, HarenaError):
            if isinstance(result, HarenaError):
                raise result
            raise nothing
        if not _may_be_nobodys(nothing):
            # the platform may have been down, and be up again: the candidate is asked once more before it is blamed
            result = await _tried(candidate, fields)
            if isinstance(result, HarenaError):
                return Reward(value=minimum, reason=FOLLOWS, detail=str(result))
            is_unproved = _is_broken(result) and not may_err and not _is_proved(judged_by, blueprint_id)
            if _may_be_nobodys(result) and not is_unproved:
                reason = FOLLOWS if result.validity == Validity.INFRA else result.reason
                return Reward(value=minimum, reason=reason, detail=result.detail)
        elif isinstance(result, HarenaError):
            return Reward(value=None, validity=RewardValidity.INFRA, reason=nothing.reason, detail=str(result))
    if _is_broken(result) and not may_err and _is_proved(judged_by, blueprint_id):
        return Reward(value=minimum, reason=result.reason, detail=result.detail)
    if _is_nobodys(result):
        return Reward(value=None, validity=RewardValidity.INFRA, reason=result.reason, detail=result.detail)
    if result.validity != Validity.VALID or result.score is None:
        return Reward(value=minimum, reason=result.reason, detail=result.detail)
    if result.passed:
        _note_proved(judged_by, blueprint_id)
    value = float(result.passed) if credit == "all" else float(result.score)
    return Reward(value=value, reason=result.reason, detail=result.detail)


async def nobodys_score(
    idle: Candidate, judged_by: Mapping[str, Any], *, blueprint_id: str | None = None, timeout_seconds: float
) -> str:
    """Why a contract has no score for a candidate that does nothing, where that is so for every other one; "" where it
    may have one, and where the platform cannot be asked now."""
    fields = {**judged_by, "blueprint_id": blueprint_id, "timeout_seconds": timeout_seconds, "retry_attempts": 2}
    result = await _tried(idle, fields)
    if isinstance(result, HarenaError) or not (_is_broken(result) or _lacks_language(result)):
        return ""
    detail = str(result.detail or result.reason).removesuffix(CHOSEN_LANGUAGE).strip()
    # a command, or a verifier in its image, may come to no end with a candidate that does nothing, and with no other
    of_commands = judged_by["scoring"].get("type") in ("command", "harbor", "weighted")
    return "" if of_commands and _LACKING.search(detail) is None else detail


def _is_nobodys(result: Any) -> bool:
    """It has no score for the platform's sake, or the contract's."""
    return result.validity in (Validity.INFRA, Validity.INVALID) or _lacks_language(result)


def _may_be_nobodys(result: Any) -> bool:
    return isinstance(result, HarenaError) or (_is_nobodys(result) and result.reason != Reason.STARVED)


def _lacks_language(result: Any) -> bool:
    """Nothing runs the entry, which the job has named: an idle candidate of the same name meets the same."""
    is_missing: bool = result.reason == Reason.MISSING_ENTRY_POINT and result.detail.endswith(CHOSEN_LANGUAGE)
    return is_missing


def _is_broken(result: Any) -> bool:
    """The contract is said to be broken. A right answer may be the first that comes to what is broken in it."""
    return bool(result.validity == Validity.INVALID)


def _is_proved(judged_by: Mapping[str, Any], blueprint_id: str | None) -> bool:
    """Somebody has passed: whoever comes to what is broken in that contract could have done otherwise."""
    return _key(judged_by, blueprint_id) in _proved


def _note_proved(judged_by: Mapping[str, Any], blueprint_id: str | None) -> None:
    if len(_proved) >= _MOST_PROVED:
        _proved.clear()
    _proved.add(_key(judged_by, blueprint_id))


def _key(judged_by: Mapping[str, Any], blueprint_id: str | None) -> str:
    """What a contract is known by. In another image, or beside other files, it may be broken for everybody."""
    return digest(json.dumps([judged_by, blueprint_id], sort_keys=True, default=str))


async def _tried(candidate: Candidate, fields: Mapping[str, Any]) -> Any:
    """What the execution plane says, or the error that it raises; not one that is about its host."""
    try:
        return await score.aio(candidate, **fields)
    except HostUnsupportedError:
        raise
    except HarenaError as error:
        return error


def asks_a_model(scoring: Mapping[str, Any]) -> bool:
    """The contract, or a part of it, is judged by a model."""
    parts = scoring.get("parts", {}) if scoring.get("type") == "weighted" else {}
    return scoring.get("type") in _JUDGES or any(asks_a_model(part["scoring"]) for part in parts.values())


def runs_programs(scoring: Mapping[str, Any]) -> bool:
    """The contract, or a part of it, runs what it judges; the others judge a text, and find its answer themselves."""
    parts = scoring.get("parts", {}) if scoring.get("type") == "weighted" else {}
    if parts:
        return any(runs_programs(part["scoring"]) for part in parts.values())
    return scoring.get("type") not in _OF_TEXTS and scoring.get("run_candidate") is not False


def allowed_seconds(judged_by: Mapping[str, Any], least: float) -> float:
    """What a candidate is given where nobody says how long: as long as the contract and the limits say, or as all of
    its calls may take together, up to what a benchmark gives; at least `least`."""
    scoring, limits = judged_by["scoring"], judged_by.get("limits") or {}
    said = (scoring.get("timeout_seconds"), limits.get("timeout_seconds"))
    calls = max((len(scoring.get(name) or ()) for name in _CALLS), default=0)
    of_calls = min(_MOST_OF_CALLS_SECONDS, calls * (scoring.get("check_timeout_seconds") or 0.0))
    parts = scoring.get("parts", {}) if scoring.get("type") == "weighted" else {}
    of_parts = (allowed_seconds({"scoring": part["scoring"]}, least) for part in parts.values())
    return float(max(least, of_calls, *(seconds for seconds in said if seconds is not None), *of_parts))


def passes_all(scoring: Mapping[str, Any], credit: Literal["all", "fraction"] = "all") -> bool:
    """Whether a contract that judges texts passes every one, so that nothing can be learned from it; `credit`: what is
    paid of a score below 1."""
    if not scoring or runs_programs(scoring):
        return False
    kind, mark = scoring.get("type"), scoring.get("pass_mark", 1.0)
    if kind == "label_model":
        return set(scoring.get("labels") or ()) <= set(scoring.get("passing_labels") or ())
    if kind == "regex":
        return not scoring.get("whole") and _matches_all(str(scoring.get("pattern", "")))
    return kind in _WITH_MARKS and credit == "all" and isinstance(mark, int | float) and mark <= 0


def unseen(scoring: Mapping[str, Any]) -> list[str]:
    """What is wrong with a contract that never looks at the answer: it says the same of all."""
    kind = scoring.get("type")
    if kind in _JUDGES:
        written = [str(message.get("content", "")) for message in scoring.get("messages") or () if message]
        if not any("sample" in text for text in written):
            return ["scoring.messages: none holds the answer ({{ sample.output_text }}), so the judge never sees it"]
    if kind in ("string_check", "text_similarity", "regex"):
        held, reference = str(scoring.get("input", _ANSWER)), str(scoring.get("reference", ""))
        if "sample" not in held and "sample" not in reference:
            return ["scoring.input: holds nothing of the answer ({{ sample.output_text }})"]
        if held == reference:
            return ["scoring.input: is compared with itself"]
    return []


def _matches_all(pattern: str) -> bool:
    """Whether a search finds it in texts that have nothing in common."""
    if len(pattern) > _LONGEST_TRIED:
        return False
    try:
        made = re.compile(pattern)
    except (re.error, RecursionError, OverflowError):
        return False
    return all(made.search(text) for text in ("", "q", "\n\x00", "Zz 7"))


def contract_mistakes(idle: Candidate, judged_by: Mapping[str, Any]) -> list[str]:
    """What is wrong with the fields of a scenario; a candidate is put in."""
    from harena.scoring.load import load_scenarios
    from harena.scoring.reading import ScenarioFileError

    try:
        load_scenarios([{"id": "row", "candidate": idle, **judged_by}])
    except ScenarioFileError as error:
        return [f"{mistake.field.partition('.')[2]}: {mistake.message}" for mistake in error.mistakes]
    return []
