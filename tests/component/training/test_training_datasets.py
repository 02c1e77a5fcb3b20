"""Data sets as token rows and prompt rows; what is too long is cut or left out as asked, and counted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from chat_tokenizer import Characters

from harena.core.errors import ValidationError
from harena.training.data.datasets import TooLong, cut, prompt_row_of, prompt_rows, training_rows
from harena.training.data.prompts import PromptRow
from harena.training.data.templates import ChatTemplate
from harena.training.loop.batch import TrainingRow
from harena.training.rewards.recipe import mistakes_of
from harena.training.rewards.registry import reward_recipe

TOKENIZER = Characters()
TEMPLATE = ChatTemplate(TOKENIZER)
PLAIN = Characters(None)
PAIR = {"prompt": "ab", "completion": "cd"}


def write(path: Path, *rows: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def texts(rows: list[TrainingRow]) -> list[tuple[str, str]]:
    """(all of it, what is learnt)"""
    return [
        ("".join(map(chr, r.tokens)), "".join(chr(t) for t, m in zip(r.tokens, r.mask, strict=True) if m)) for r in rows
    ]


def test_texts_and_conversations(tmp_path: Path) -> None:
    """A tokenizer without a chat template: texts as they are; with one, every row is a conversation."""
    path = write(tmp_path / "a.jsonl", PAIR)
    rows, report = training_rows(path, PLAIN, template=None, max_length=99)
    assert texts(rows) == [("abcd$", "cd$")]
    assert (report.rows, report.sequences, report.tokens, report.learnt_tokens) == (1, 1, 5, 3)
    rows, report = training_rows([path, path], TOKENIZER, template=TEMPLATE, max_length=99)
    assert texts(rows) == [("user:ab$\nassistant:cd$", "cd$")] * 2
    assert report.as_json()["longest"] == 22


def test_every_mistake_of_every_file_is_one_error(tmp_path: Path) -> None:
    one = write(tmp_path / "a.jsonl", PAIR, {"prompt": "a"})
    one.write_text(one.read_text() + "{\n")
    other = write(tmp_path / "b.jsonl", {"messages": [{"role": "user", "content": "hi"}]})
    with pytest.raises(ValidationError) as caught:
        training_rows([one, other], TOKENIZER, template=TEMPLATE, max_length=99)
    assert "3 rows cannot be used" in str(caught.value)
    assert [place in str(caught.value) for place in ("a.jsonl:2: ", "a.jsonl:3: ", "b.jsonl:1: ")] == [True] * 3


def test_a_conversation_and_no_chat_template(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", {"messages": [{"content": "a"}, {"role": "assistant", "content": "b"}]})
    with pytest.raises(ValidationError, match=r"a\.jsonl:1: .* no chat template"):
        training_rows(path, PLAIN, template=None, max_length=99)
    write(path, {"messages": [{"content": "a"}]})
    with pytest.raises(ValidationError, match=r"a\.jsonl:1: .* no chat template"):
        prompt_rows(path, PLAIN, template=None, max_prompt_tokens=99)


@pytest.mark.parametrize(
    ("policy", "kept"),
    [("left", ("ef$", "ef$"[1:])), ("right", ("abc", "c")), ("leave_out", None), ("error", None)],
)
def test_what_is_left_of_a_long_row(policy: TooLong, kept: tuple[str, str] | None) -> None:
    row = TrainingRow(tokens=tuple(map(ord, "abcdef$")), mask=(0, 0, 1, 1, 1, 1, 1))
    left = cut(row, 3, policy)
    assert (left and texts([left])[0]) == kept
    assert cut(TrainingRow(tokens=(1, 2, 3, 4), mask=(0, 0, 1, 1)), 2, "right") is None


def test_long_rows_are_counted(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", PAIR, {"prompt": "abcdefgh", "completion": "c"})
    for policy, counts in (("left", (2, 1, 1, 0)), ("right", (1, 1, 0, 1)), ("leave_out", (1, 1, 0, 1))):
        rows, report = training_rows(path, PLAIN, template=None, max_length=6, too_long=policy)  # type: ignore[arg-type]
        assert (len(rows), report.too_long, report.cut, report.left_out) == counts
        assert report.longest == 10
    with pytest.raises(ValidationError, match=r"a\.jsonl:2: it has 10 tokens, and 6 are allowed"):
        training_rows(path, PLAIN, template=None, max_length=6, too_long="error")
    with pytest.raises(ValidationError, match="of 2 rows none is left"):
        training_rows(path, PLAIN, template=None, max_length=2, too_long="leave_out")


def test_nothing_to_learn_and_nothing_to_answer(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl")
    with pytest.raises(ValidationError, match="has no rows"):
        training_rows(path, PLAIN, template=None, max_length=9)
    with pytest.raises(ValidationError, match="no prompt to answer: it has no rows"):
        prompt_rows(path, PLAIN, template=None, max_prompt_tokens=9)
    write(path, {"prompt": "", "completion": "a"})
    with pytest.raises(ValidationError, match="its prompt is empty"):
        training_rows(path, PLAIN, template=None, max_length=9)
    with pytest.raises(ValidationError, match="its prompt is empty"):
        prompt_rows(path, PLAIN, template=None, max_prompt_tokens=9)


def test_a_prompt_that_is_too_long(tmp_path: Path) -> None:
    """It is never cut: it would be another task."""
    path = write(tmp_path / "a.jsonl", {"prompt": "ab"}, {"prompt": "abcdef"})
    with pytest.raises(ValidationError, match=r"a\.jsonl:2: it has 6 tokens, and 4 are allowed"):
        prompt_rows(path, PLAIN, template=None, max_prompt_tokens=4)
    with pytest.raises(ValidationError, match=r"and 4 are allowed \(the model's 9, less 5\)$"):
        prompt_rows(path, PLAIN, template=None, max_prompt_tokens=4, room="the model's 9, less 5")
    rows, report = prompt_rows(path, PLAIN, template=None, max_prompt_tokens=4, too_long="leave_out")
    assert ([row.prompt for row in rows], report.too_long, report.left_out) == (["ab"], 1, 1)
    with pytest.raises(ValidationError, match="all 2 are longer than 1 tokens"):
        prompt_rows(path, PLAIN, template=None, max_prompt_tokens=1, too_long="leave_out")


def test_prompt_rows_of_every_form(tmp_path: Path) -> None:
    user = {"role": "user", "content": "hi"}
    path = write(
        tmp_path / "a.jsonl",
        {"id": "x", "prompt": "hi", "expected_output": "ho", "reward": 1, "scoring": {"type": "tests"}, "level": 3},
        {"prompt": [user]},
        {"messages": [user], "answer": "ho", "metadata": {"goal": "g"}, "inputs": {"flag": "f"}},
        {
            "data_source": "gsm8k",
            "prompt": [user],
            "ability": "math",
            "reward_model": {"style": "rule", "ground_truth": "72"},
            "extra_info": {"index": 4},
        },
    )
    rows, _ = prompt_rows(
        path, TOKENIZER, template=ChatTemplate(TOKENIZER, capability_prompt="s"), max_prompt_tokens=99
    )
    assert {row.prompt for row in rows} == {"system:s$\nuser:hi$\nassistant:"}
    assert [row.id for row in rows] == ["x", "1", "2", "3"]
    assert [row.expected_output for row in rows] == ["ho", None, "ho", "72"]
    assert [dict(row.metadata) for row in rows] == [
        {"level": 3},
        {},
        {"inputs": {"flag": "f"}, "goal": "g"},
        {"data_source": "gsm8k", "ability": "math", "extra_info": {"index": 4}, "reward_style": "rule"},
    ]
    assert (rows[0].reward, rows[0].scoring, rows[0].messages) == (1.0, {"type": "tests"}, (user,))
    write(path, {"prompt": "hi", "metadata": json.dumps({"a": 1})})
    assert prompt_rows(path, PLAIN, template=None, max_prompt_tokens=99)[0] == [
        PromptRow(id="0", prompt="hi", metadata={"a": 1})
    ]


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({"answer": ["42", "forty-two"]}, "its answer is a list"),
        ({"expected_output": {"low": 1, "high": 2}}, "its answer is an object"),
        ({"answer": True}, "truth value true"),
        ({"answer": 2, "choices": ["ten", "eleven", "twelve", "thirteen"]}, "a place in `choices`"),
        ({"answer": "B", "options": ["ten", "twelve"]}, "a place in `options`"),
        ({"answer": "B", "choices": {"text": ["ten", "twelve"], "label": ["A", "B"]}}, "a place in `choices`"),
        ({"reward_model": {"ground_truth": ["42"], "style": "rule"}}, "its answer is a list"),
        ({"answer": 42}, None),
        ({"answer": 0.1}, None),
        ({"answer": "[1, 2]"}, None),
        ({"answer": "twelve", "options": ["ten", "twelve"]}, None),
        ({"answer": "B", "options": ["A: ten", "B: twelve"], "question": "Which? A: ten B: twelve"}, None),
        ({"answer": 7, "options": [5, 7], "question": "5 or 7?"}, None),
        ({"answer": "B", "options": ["ten", "twelve"], "messages": [{"role": "user", "content": "ten, twelve"}]}, None),
    ],
)
def test_an_answer_that_no_reply_says_is_refused(values: dict[str, Any], told: str | None) -> None:
    """By recipes that compare texts; one that looks at the row itself may use it."""
    asked = {} if "messages" in values else {"question": "Six times seven?"}
    row = prompt_row_of({**asked, **values}, id="r")
    for name in ("exact_match_v1", "trajectory_imitation_v1", "math_v1"):
        assert mistakes_of(reward_recipe(name, {}), row) == ([row.answer_problem] if told else []), name
    assert told is None or told in mistakes_of(reward_recipe("gsm8k_v1", {}), row)[0]
    assert mistakes_of(reward_recipe("contains_v1", {"needle": "x"}), row) == []


def test_prompts_that_cannot_be_used(tmp_path: Path) -> None:
    path = write(
        tmp_path / "a.jsonl",
        {"id": "x", "prompt": "a"},
        {"id": "x", "prompt": "b"},
        {"prompt": "c", "reward": "much"},
        {"prompt": "d", "scoring": [1]},
        {"prompt": "e", "metadata": "{"},
    )
    with pytest.raises(ValidationError) as caught:
        prompt_rows(path, PLAIN, template=None, max_prompt_tokens=99)
    for place, text in zip((2, 3, 4, 5), ("id 'x'", "finite number", "is an object", "JSON text"), strict=True):
        assert any(f":{place}: " in line and text in line for line in str(caught.value).splitlines())
