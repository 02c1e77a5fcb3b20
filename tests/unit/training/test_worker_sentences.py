"""What a worker says to people."""

from __future__ import annotations

from typing import Any

import pytest

from harena.core.errors import ValidationError
from harena.core.records.objects import ResolvedReference
from harena.training.worker.job import told_by_field
from harena.training.worker.sentences import (
    UNTAUGHT_STEPS,
    ConstantRewardWarning,
    counted,
    first_batch_said,
    paused_said,
    prompts_said,
    readmitted_said,
    rows_said,
    went_on_said,
)

EQUAL = {"constant_group_share": 0.75, "too_small_group_share": 0.25, "reward": 0.0}
REASONS = ["syntax_error", "", "cut_off", "syntax_error"]
LEARNT = {**EQUAL, "constant_group_share": 0.5}


def test_numbers() -> None:
    """One of a thing is one."""
    assert (counted(1, "step"), counted(2, "step"), counted(0, "step")) == ("1 step", "2 steps", "0 steps")
    assert prompts_said(1, 0) == "1 prompt"
    assert prompts_said(2, 3) == "2 prompts, evaluated on 3"


def first_batch(**content: Any) -> dict[str, Any]:
    empty = {"answers": 8, "unscored": 0, "rewards": [[0.0, 8]], "other_rewards": 0, "groups": 2, "compared_groups": 0}
    return {**empty, **content}


def test_what_the_first_answers_earned() -> None:
    mixed = first_batch(rewards=[[0.0, 5], [1.0, 1]], other_rewards=1, unscored=1, compared_groups=1)
    assert first_batch_said(mixed) == (
        "the first 8 answers, before anything is learned: 5 earned 0, 1 earned 1, 1 earned something else, 1 have no "
        "reward; 1 of 2 prompts has answers to compare"
    )
    assert "no prompt has answers that earned differently" in first_batch_said(first_batch())
    assert "teach it by SFT first" in first_batch_said(first_batch(rewards=[], unscored=8))


def test_rows_that_were_cut_are_always_told() -> None:
    """Nothing is cut in silence."""
    assert rows_said({"sequences": 2, "rows": 2, "too_long": 0, "cut": 0, "left_out": 0}) == "2 sequences of 2 rows"
    said = rows_said({"sequences": 2, "rows": 3, "too_long": 2, "cut": 1, "left_out": 1})
    assert said == "2 sequences of 3 rows; 2 too long: 1 cut, 1 left out"


@pytest.mark.parametrize(
    ("step", "again", "stored", "says"),
    [
        (20, 0, 0, "goes on after step 20"),
        (20, 1, 8, "goes on after step 20; 1 step trained again from stored rollouts; 8 rollouts of unfinished steps "
         "kept"),
        (0, 3, 0, "begins again: there was no checkpoint yet; 3 steps trained again from stored rollouts"),
    ],
)  # fmt: skip
def test_where_a_job_goes_on(step: int, again: int, stored: int, says: str) -> None:
    """In words, and not by the name of an event."""
    assert went_on_said({"life": 1, "step": step, "steps_again": again, "rollouts_stored": stored}) == says


def test_a_pause_says_why() -> None:
    """What was the matter with the last rollout that was lost, where that is known."""
    lost = {"step": 1, "masked": 8, "window": 64}
    assert paused_said({**lost, "why": "no judge"}).endswith(
        "8 of the last 64 rollouts: the job waits until rewards can be had again; the last one: no judge"
    )
    assert paused_said({**lost, "why": ""}).endswith("the job waits until rewards can be had again")


def test_readmitted_groups() -> None:
    """Steps count from 1 for people."""
    assert readmitted_said({"step": 4, "groups": [7, 9]}).startswith("step 5: 2 groups aborted")


def test_steps_that_teach_nothing_are_told_ever_less_often() -> None:
    """After some of them in a row, then after twice as many, also where a step between them has taught something."""
    untaught = ConstantRewardWarning()
    said = [untaught.after(EQUAL, REASONS) for _ in range(4 * UNTAUGHT_STEPS)]
    told = [place + 1 for place, text in enumerate(said) if text]
    assert told == [UNTAUGHT_STEPS, 2 * UNTAUGHT_STEPS, 4 * UNTAUGHT_STEPS]
    assert "(mean reward 0, most often syntax_error)" in str(said[UNTAUGHT_STEPS - 1])
    assert f"no step of the last {2 * UNTAUGHT_STEPS} " in str(said[2 * UNTAUGHT_STEPS - 1])
    assert untaught.after(LEARNT, []) is None
    again = [bool(untaught.after(EQUAL, REASONS)) for _ in range(8 * UNTAUGHT_STEPS)]
    assert again.index(True) == 8 * UNTAUGHT_STEPS - 1


def test_what_the_platform_lost_is_another_matter() -> None:
    """Groups without rewards are no sign of a task that is too hard."""
    untaught = ConstantRewardWarning()
    lost = {**EQUAL, "constant_group_share": 0.0, "too_small_group_share": 1.0}
    assert [untaught.after(lost, []) for _ in range(UNTAUGHT_STEPS)] == [None] * UNTAUGHT_STEPS


def test_mistakes_in_data_name_the_field_and_not_the_nodes_file() -> None:
    """Whoever sent the rows knows the one, and has never seen the other."""
    ref = ResolvedReference(
        where="config.prompt_dataset_ref",
        kind="dataset",
        name="sums",
        version="1",
        digest="0",
        path="/n/trees/0/a.jsonl",
    )
    with pytest.raises(ValidationError) as caught, told_by_field([ref]):
        raise ValidationError("/n/trees/0/a.jsonl: 1 row cannot be used:\n  a.jsonl:1: it is empty")
    assert str(caught.value) == "config.prompt_dataset_ref (sums@1): 1 row cannot be used:\n  a.jsonl:1: it is empty"
