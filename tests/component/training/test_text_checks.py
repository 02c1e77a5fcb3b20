"""What a job's model cannot read is said when the job is submitted, as the tokenizer's files tell it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from transformers import AutoTokenizer

from harena.core.errors import ValidationError
from harena.core.records.objects import (
    ModelDescription,
    ResolvedReference,
    ShippedModel,
    ShippedModelDescription,
    UsedSplit,
)
from harena.core.records.training_plans import RewardPlan, RLPlan
from harena.training.data.tokenizer_files import tokenizer_facts
from harena.training.engines.tiny import byte_pair_tokenizer
from harena.training.engines.tokenizer import LocalTokenizer
from harena.training.requests.plan import plan_of
from harena.training.requests.references import ResolvedReferences
from harena.training.requests.request import parse_request
from harena.training.requests.text_checks import check_texts, text_facts, text_warnings

CHAT = {"messages": [{"role": "user", "content": "add one"}, {"role": "assistant", "content": "x + 1"}]}
ASKED = {"messages": CHAT["messages"][:1]}
TEXT = {"prompt": "add one", "completion": "x + 1"}
CONTEXT, MOST_NEW = 40, 8


@pytest.fixture(params=["template", "texts"])
def model(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """The directory of a model whose tokenizer has a chat template, or none."""
    tokenizer = byte_pair_tokenizer(["add one to x", "x + 1"], size=280)
    if request.param == "texts":
        tokenizer.chat_template = None
    tokenizer.save_pretrained(tmp_path / "model")
    return tmp_path / "model"


def model_description(model: Path | None, context: int) -> ModelDescription | ShippedModelDescription:
    """Of a directory; None = of a model of single characters that comes with harena."""
    if model is not None:
        return ModelDescription(architecture=None, context_length=context, adapter=None)
    made = ShippedModel(alphabet="adeno x+1", width=96, layers=3, heads=4, context_length=context)
    return ShippedModelDescription(shipped=made, context_length=context)


def check(
    model: Path | None, kind: str, rows: list[dict[str, Any]], *, also: tuple[str, ...] = (), **more: Any
) -> None:
    """A job over these rows."""
    folder = model.parent if model is not None else more.pop("folder")
    path = folder / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    field = "dataset_ref" if kind == "sft" else "prompt_dataset_ref"
    config = {"algorithm": "grpo", "max_new_tokens": MOST_NEW, field: "d"} if kind == "rl" else {field: "d"}
    body = {"trainer_type": kind, "model": "tiny-llama", "config": {**config, **more}}
    described = UsedSplit(rows=len(rows), split=None, uses=[], reward_recipe=None)
    refs = [
        ResolvedReference(
            where="model", kind="model", name="m", version=None, digest="0", path=None if model is None else str(model),
            described=model_description(model, CONTEXT),
        ),
        ResolvedReference(
            where=f"config.{field}", kind="dataset", name="d", version="1", digest="0", path=str(path),
            described=described,
        ),
    ]  # fmt: skip
    for where in also:
        refs.append(
            ResolvedReference(where=where, kind="capability", name="c", version="1", digest="0", path=str(path))
        )
    resolved = ResolvedReferences(refs=tuple(refs))
    check_texts(plan_of(parse_request(body), resolved), resolved)


def has_template(model: Path) -> bool:
    return LocalTokenizer(AutoTokenizer.from_pretrained(model)).chat_template is not None


def test_the_files_say_what_the_tokenizer_does(model: Path) -> None:
    texts = ["add one", " x", "x + 1 <|im_end|>", "", "\u00e9\n\n"]
    facts, loaded = tokenizer_facts(model, None), LocalTokenizer(AutoTokenizer.from_pretrained(model))
    assert facts.has_template is (loaded.chat_template is not None)
    assert facts.counts is not None
    assert facts.counts(texts) == [len(loaded.encode(text)) for text in texts]


def test_conversations_need_a_chat_template(model: Path) -> None:
    for kind, row in (("sft", CHAT), ("rl", ASKED)):
        if has_template(model):
            check(model, kind, [TEXT, row])
            continue
        with pytest.raises(ValidationError, match=r"d@1: 1 row .*\n *rows.jsonl:2: it is a conversation"):
            check(model, kind, [TEXT, row])


def test_a_capability_and_trajectories_need_a_chat_template(model: Path) -> None:
    also = ("capability_ref", "config.trajectory_dataset_refs[0]")
    if has_template(model):
        check(model, "sft", [TEXT], also=also)
        return
    with pytest.raises(ValidationError) as caught:
        check(model, "sft", [TEXT], also=also)
    assert all(f"{where}: " in str(caught.value) for where in also)
    assert "chat_template.jinja" in str(caught.value)


def test_prompts_leave_room_for_an_answer(model: Path) -> None:
    """To the token where they are given as they are; else where what is said is too long already."""
    count = tokenizer_facts(model, None).counts
    assert count is not None
    fitting = next(text for n in range(99, 0, -1) if count([text := "x " * n])[0] <= CONTEXT - MOST_NEW)
    check(model, "rl", [{"prompt": fitting}])
    with pytest.raises(ValidationError, match=r"rows.jsonl:2: it has .* tokens, and 32 are allowed \(the model's 40"):
        check(model, "rl", [{"prompt": "x"}, {"prompt": fitting + "x + 1 " * (20 if has_template(model) else 1)}])


def test_a_stop_text_has_any_number_of_tokens(model: Path) -> None:
    check(model, "rl", [TEXT], stop=["x", "<|im_end|>", "x + 1 add"])


def test_a_shipped_model_reads_characters(tmp_path: Path) -> None:
    check(None, "rl", [{"prompt": "x" * 32}], folder=tmp_path)
    for rows, says in (([{"prompt": "x" * 33}], "it has 33 tokens"), ([ASKED], "it is a conversation")):
        with pytest.raises(ValidationError, match=says):
            check(None, "rl", rows, folder=tmp_path)
    check(None, "rl", [TEXT], stop=["xx"], folder=tmp_path)
    with pytest.raises(ValidationError, match=r"config.stop: 'ü': this model's tokenizer has no token for it"):
        check(None, "rl", [TEXT], stop=["xx", "ü"], folder=tmp_path)


def test_a_tokenizer_that_tells_nothing_refuses_nothing(model: Path) -> None:
    for file in model.iterdir():
        file.write_text("?")
    (model / "chat_template.jinja").unlink(missing_ok=True)
    check(model, "rl", [ASKED, {"prompt": "x " * 999}], stop=["x y z"])
    check(model, "sft", [CHAT])


def planned(model: Path | None, rows: list[dict[str, Any]], folder: Path, *, context: int, **config: Any) -> RLPlan:
    """The plan of an RL job over these rows, and what is warned of."""
    path = folder / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    described = UsedSplit(rows=len(rows), split=None, uses=["prompts"], reward_recipe="code_tests_v1")
    refs = (
        ResolvedReference(
            where="model", kind="model", name="m", version=None, digest="0", path=None if model is None else str(model),
            described=model_description(model, context),
        ),
        ResolvedReference(
            where="config.prompt_dataset_ref", kind="dataset", name="d", version="1", digest="0", path=str(path),
            described=described,
        ),
    )  # fmt: skip
    body = {"trainer_type": "rl", "model": "m@1", "config": {"algorithm": "grpo", "prompt_dataset_ref": "d", **config}}
    resolved = ResolvedReferences(refs=refs)
    plan = plan_of(parse_request(body), resolved, text_facts(resolved))
    assert isinstance(plan, RLPlan)
    WARNED[:] = text_warnings(plan, resolved)
    return plan


WARNED: list[str] = []
"""by the plan that was made last"""
CODE = {"prompt": "def f(x):", "test": "def check(c):\n    assert c(1) == 2\n", "entry_point": "f", "task_id": "t"}
"""a row of HumanEval's shape"""


def test_a_chat_model_is_asked_for_fenced_programs_and_has_room_for_them(model: Path) -> None:
    """By default; what a request says itself stays. A composite's parts too, however deep they stand."""
    chat = has_template(model)
    plan = planned(model, [CODE], model.parent, context=8192)
    assert plan.reward == RewardPlan(name="code_tests_v1", params={"extract": "fenced"} if chat else {})
    assert plan.max_new_tokens == (1024 if chat else 128)
    assert WARNED == []
    part = {"recipe": "code_tests_v1"}
    within = {"recipe": "composite_v1", "params": {"parts": {"b": part}}}
    recipe = {"name": "composite_v1", "params": {"parts": {"a": part, "within": within}}}
    plan = planned(model, [CODE], model.parent, context=8192, reward_recipe=recipe)
    assert plan.reward is not None
    parts = plan.reward.params["parts"]
    for found in (parts["a"], parts["within"]["params"]["parts"]["b"]):
        assert found == ({**part, "params": {"extract": "fenced"}} if chat else part)
    recipe = {"name": "code_tests_v1", "params": {"extract": "raw"}}
    plan = planned(model, [CODE], model.parent, context=8192, reward_recipe=recipe, max_new_tokens=100)
    assert (plan.reward, plan.max_new_tokens) == (RewardPlan(name="code_tests_v1", params={"extract": "raw"}), 100)
    assert [warning.partition(":")[0] for warning in WARNED] == (
        ["config.max_new_tokens", "config.reward_recipe"] if chat else []
    )


def test_an_answer_fits_into_what_the_longest_prompt_leaves(model: Path) -> None:
    """Half of it, so that a template has room too; and it is as long as what is known to be right."""
    facts = tokenizer_facts(model, None)
    assert facts.counts is not None
    long = {**CODE, "task_id": "u", "prompt": "def f(x):\n    # " + "add one " * 40}
    (length,) = facts.counts([long["prompt"].strip()])
    plan = planned(model, [CODE, long], model.parent, context=length + 600)
    if has_template(model):
        assert 290 <= plan.max_new_tokens <= 302
    solved = {**CODE, "canonical_solution": "    return x + 1\n" * 300}
    (wanted,) = facts.counts([solved["prompt"] + solved["canonical_solution"]])
    assert planned(model, [solved], model.parent, context=100_000).max_new_tokens == max(
        wanted, 1024 if has_template(model) else 128
    )


def test_right_answers_that_would_be_cut_off_are_warned_of(tmp_path: Path) -> None:
    """With how many there are, how long they are, and what becomes of them."""
    rows = [{"prompt": "add one", "answer": "x + 1"}, {"prompt": "add", "answer": "x"}]
    planned(None, rows, tmp_path, context=64, max_new_tokens=3)
    (warning,) = WARNED
    assert "the right answers of 1 of 2 rows have more than 3 tokens (the longest has 5)" in warning
    assert "earn nothing" in warning
    planned(None, rows, tmp_path, context=64, max_new_tokens=5)
    assert WARNED == []


def test_a_chat_model_whose_answers_must_be_nothing_else_is_warned_of(model: Path) -> None:
    """It explains, and `exact_match_v1` pays nothing that does."""
    rows = [{"prompt": "add one", "answer": "x + 1"}]
    planned(model, rows, model.parent, context=8192, reward_recipe={"name": "exact_match_v1"})
    assert [warning.split()[1] for warning in WARNED] == (["exact_match_v1"] if has_template(model) else [])
    planned(model, rows, model.parent, context=8192, reward_recipe={"name": "gsm8k_v1"})
    assert WARNED == []


def test_what_a_question_needs_and_its_prompt_lacks_is_told(tmp_path: Path) -> None:
    """A program whose output is asked for, the choices of a question; not what stands beside a contract."""
    rows = [{"code": "def f(x): ...", "input": "1", "output": "2"}, {"question": "q", "choices": ["a"], "answer": "a"}]
    planned(None, [*rows, {"prompt": "x", "answer": "x", "context": ""}], tmp_path, context=256)
    assert [warning.partition(":")[2].split(",")[0] for warning in WARNED] == [
        " 1 of 3 rows have `code`",
        " 1 of 3 rows have `choices`",
    ]
    scoring = {"type": "stdio", "cases": [{"stdin": "", "stdout": "1"}]}
    planned(None, [{"prompt": "x", "code": "y", "scoring": scoring}, CODE], tmp_path, context=256)
    assert WARNED == []
