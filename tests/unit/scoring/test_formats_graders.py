"""OpenAI's graders, with RFT rows or as requests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from data_set_rows import GRADER_REQUEST, GRADERS, RFT, mistakes_of, only, written

from harena.core.results import Trust
from harena.scoring.contracts.contract import (
    LabelModelContract,
    PythonContract,
    ScoreModelContract,
    StringCheckContract,
    TextSimilarityContract,
    WeightedContract,
)
from harena.scoring.formats import import_scenarios

ANSWERS = [{"output_text": "42"}]


def test_rft_rows_and_a_grader_of_their_own_file(tmp_path: Path) -> None:
    """Every field of a row is the item's; the conversation is the statement."""
    grader = tmp_path / "grader.json"
    grader.write_text(json.dumps(GRADERS["string_check"]))
    batch = import_scenarios(written(tmp_path / "rows.jsonl", [RFT]), candidates=ANSWERS, grader=grader)
    (scenario,) = batch.scenarios
    assert (batch.form, scenario.id) == ("rft", "0/1")
    assert scenario.statement == "system: Be brief.\n\nuser: 6 * 7?"
    assert scenario.candidate.files == {"answer.txt": "42"}
    contract = scenario.scoring
    assert isinstance(contract, StringCheckContract)
    assert (contract.reference, contract.operation) == ("{{ item.reference_answer }}", "ilike")
    assert contract.item == {"reference_answer": "42"}
    assert list(scenario.messages) == RFT["messages"]
    assert scenario.item == RFT
    assert contract.trust is Trust.SEPARATE


def test_the_grader_of_a_fine_tuning_job_is_found() -> None:
    """Wherever it is wrapped."""
    job = {"method": {"type": "reinforcement", "reinforcement": {"grader": GRADERS["string_check"]}}}
    assert isinstance(only([RFT], candidates=ANSWERS, grader=job).scoring, StringCheckContract)


def test_a_request_brings_its_grader_its_item_and_its_sample() -> None:
    """Whose verdict is not known."""
    scenario = only([GRADER_REQUEST])
    assert (scenario.id, scenario.candidate.source, scenario.expected) == ("0/sample", "The answer is 42", None)
    assert isinstance(scenario.scoring, StringCheckContract)


def test_text_similarity_and_its_threshold() -> None:
    """The older field is the mark."""
    contract = only([RFT], candidates=ANSWERS, grader=GRADERS["text_similarity"]).scoring
    assert isinstance(contract, TextSimilarityContract)
    assert (contract.evaluation_metric, contract.pass_mark) == ("fuzzy_match", 0.8)


@pytest.mark.parametrize(
    ("ends", "threshold", "mark"),
    [
        ([1, 7], 5.5, 0.75),
        ([0, 5], 1, 0.2),
        ([0, 1], 0.8, 0.8),
        (None, 0.8, 0.8),
        ([0, 5], None, 1.0),
        ([-1, 1], 0, 0.5),
    ],
)
def test_the_threshold_of_a_judge_is_in_the_units_of_its_range(ends: Any, threshold: Any, mark: float) -> None:
    """So OpenAI means it: 5.5 of 1 to 7."""
    given = {"range": ends, "pass_threshold": threshold}
    grader = {**GRADERS["score_model"], **{name: value for name, value in given.items() if value is not None}}
    if threshold is None:
        grader.pop("pass_threshold", None)
    if ends is None:
        grader.pop("range", None)
    contract = only([RFT], candidates=ANSWERS, grader=grader).scoring
    assert isinstance(contract, ScoreModelContract)
    assert contract.pass_mark == pytest.approx(mark)


def test_python_graders_run_in_the_scorers_sandbox() -> None:
    """As code of ours around theirs; nothing of it is run here."""
    contract = only([RFT], candidates=ANSWERS, grader=GRADERS["python"]).scoring
    assert isinstance(contract, PythonContract)
    assert not contract.run_candidate
    assert contract.scorer_timeout_seconds == 120.0
    assert repr(GRADERS["python"]["source"]) in contract.source


def test_multi_graders_are_weighted_by_their_formula() -> None:
    """With their parts by name, in both forms."""
    contract = only([RFT], candidates=ANSWERS, grader=GRADERS["multi"]).scoring
    assert isinstance(contract, WeightedContract)
    assert list(contract.parts) == ["exact", "near"]
    assert contract.formula == "0.7 * exact + 0.3 * near ^ 2"
    listed = [{**grader, "name": name} for name, grader in GRADERS["multi"]["graders"].items()]
    again = only([RFT], candidates=ANSWERS, grader={**GRADERS["multi"], "graders": listed}).scoring
    assert again == contract


def test_graders_that_ask_a_model() -> None:
    """Messages of text or of parts, and the sampling's own names."""
    scoring = only([RFT], candidates=ANSWERS, grader=GRADERS["score_model"]).scoring
    assert isinstance(scoring, ScoreModelContract)
    assert [message.content for message in scoring.messages] == [
        "Judge.",
        "{{ item.reference_answer }}?\n{{ sample.output_text }}",
    ]
    assert (scoring.range, scoring.sampling_params.max_completion_tokens) == ((0.0, 5.0), 50)
    assert scoring.item == {"reference_answer": "42"}
    label = only([RFT], candidates=ANSWERS, grader=GRADERS["label_model"]).scoring
    assert isinstance(label, LabelModelContract)
    assert (label.labels, label.passing_labels) == (("good", "bad"), ("good",))


def changed(kind: str, **fields: Any) -> dict[str, Any]:
    return {**GRADERS[kind], **fields}


@pytest.mark.parametrize(
    ("grader", "field", "message"),
    [
        (changed("score_model", input="x"), "grader.input", "must be a list of messages, not 'x'"),
        (changed("score_model", input=["x"]), "grader.input[0]", "must be a message, not 'x'"),
        (changed("score_model", input=[{"content": 3}]), "grader.input[0].content", "must be text (a template), not 3"),
        (changed("score_model", input=[]), "grader", "messages: must not be empty"),
        (changed("score_model", input=[{"role": "x", "content": ""}]), "grader", "messages[0].role: must be one of"),
        (changed("score_model", range=[1, 1]), "grader", "must be less than the second"),
        (changed("score_model", model=None), "grader", "model: must be text"),
        (changed("score_model", sampling_params=3), "grader.sampling_params", "must be a mapping"),
        (changed("score_model", sampling_params={"heat": 1}), "grader", "heat: unknown field"),
        (changed("label_model", passing_labels=["maybe"]), "grader", "'maybe', which is not among `labels`"),
        (changed("label_model", labels=None), "grader", "labels: must be a list"),
        (changed("string_check", type="guess"), "grader.type", "must be one of string_check, text_similarity"),
        (changed("string_check", type=3), "grader.type", "not 3"),
        (changed("string_check", reference=None), "grader.reference", "must be text (a template), not null"),
        (changed("string_check", input=["x"]), "grader.input", "must be text (a template), not a list"),
        (changed("string_check", operation="is"), "grader", "operation: must be one of"),
        (changed("string_check", reference="{{ item.none }}"), "grader", "leads nowhere: there is no 'none'"),
        (changed("string_check", input="{{ sample.output_audio }}"), "grader", "is not known"),
        (changed("text_similarity", evaluation_metric="vibes"), "grader", "evaluation_metric: must be one of"),
        (changed("text_similarity", pass_threshold="x"), "grader.pass_threshold", "must be a number"),
        (changed("text_similarity", pass_threshold=3), "grader", "pass_mark: must be at most 1"),
        (changed("python", source=3), "grader.source", "must be text (a program), not 3"),
        (changed("python", source="def grade(:"), "grader.source", "is not Python"),
        (changed("python", source="x = 1"), "grader.source", "defines no function `grade(sample, item)`"),
        (changed("python", source="#" * 300_000), "grader.source", "is longer than"),
        (changed("multi", graders={}), "grader.graders", "must be a mapping of graders"),
        (changed("multi", graders={"a": 3}), "grader.graders.a", "must be a grader, not 3"),
        (changed("multi", graders={"a": GRADERS["multi"]}), "grader.graders.a", "cannot be part of another"),
        (changed("multi", calculate_output=None), "grader.calculate_output", "must be a formula"),
        (changed("multi", calculate_output="a + c"), "grader", "'a' is none of exact, near"),
    ],
)
def test_each_wrong_field_of_a_grader_is_named(grader: dict[str, Any], field: str, message: str) -> None:
    """With the row it was applied to."""
    ((_, wrong, said),) = mistakes_of([RFT], candidates=ANSWERS, grader=grader)
    assert wrong == f"[0].{field}"
    assert message in said


@pytest.mark.parametrize(
    ("row", "field", "message"),
    [
        (RFT, "grader", "name the grader's file with --grader"),
        ({**GRADER_REQUEST, "item": 3}, "item", "must be a mapping, not 3"),
        ({**GRADER_REQUEST, "model_sample": 3}, "model_sample", "must be text, not 3"),
        ({**GRADER_REQUEST, "grader": 3}, "grader", "must be a mapping"),
        ({**RFT, "messages": 3, "grader": GRADERS["string_check"]}, "messages", "must be a list of messages"),
    ],
)
def test_each_wrong_field_of_a_row_is_named(row: dict[str, Any], field: str, message: str) -> None:
    """As of every data set."""
    ((_, wrong, said),) = mistakes_of([row])
    assert wrong == f"[0].{field}"
    assert message in said


@pytest.mark.parametrize(
    ("content", "message"), [("{", "not JSON"), ("[]", "a grader is a mapping"), ('{"name": "x"}', "with `type`")]
)
def test_grader_files_that_hold_none(tmp_path: Path, content: str, message: str) -> None:
    """The file is named."""
    path = tmp_path / "grader.json"
    path.write_text(content)
    assert message in mistakes_of([RFT], grader=path)[0][2]
    assert "cannot be read" in mistakes_of([RFT], grader=tmp_path / "none.json")[0][2]


def test_harenas_own_scenarios_take_no_grader() -> None:
    """Their scoring is in them."""
    own = [{"id": "a", "candidate": "x", "scoring": {"type": "regex", "pattern": "x"}}]
    assert "take no grader" in mistakes_of(own, form="scenarios", grader=GRADERS["python"])[0][2]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b'{"type": "\xff"}', "not UTF-8 text (byte 10); save it as UTF-8"),
        (b"[" * 100_000, "nested too deeply to be read"),
    ],
)
def test_a_grader_that_cannot_be_read_is_told(tmp_path: Path, content: bytes, says: str) -> None:
    """As every other file."""
    (tmp_path / "grader.json").write_bytes(content)
    ((_, _, message),) = mistakes_of([RFT], candidates=ANSWERS, grader=tmp_path / "grader.json")
    assert message == says
