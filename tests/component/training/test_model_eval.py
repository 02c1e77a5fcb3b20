"""From a model and a data set to a file of answers and to scenarios."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from harena.cli.evaluate import evaluation_lines
from harena.core.errors import PlatformError, ValidationError
from harena.evaluation import _evaluation
from harena.scoring.load import load_document
from harena.scoring.reading import read_document
from harena.training.data.conversations import Conversation
from harena.training.data.prompts import PromptRow
from harena.training.engines.local_model import LocalModel
from harena.training.model_eval.answers_file import ModelAnswer
from harena.training.model_eval.models import Asking
from harena.training.model_eval.sampling import AnswerSettings, SampledAnswers, asked_problems, sampled_answers

CHECKS = [{"args": [1], "expected": 2}]
CONTRACT = {"type": "tests", "entry_point": "f", "checks": CHECKS}
HUMAN_EVAL = {
    "task_id": "HumanEval/0",
    "prompt": "def f(x):\n",
    "entry_point": "f",
    "canonical_solution": "    return x + 1\n",
    "test": "def check(candidate):\n    assert candidate(1) == 2\n",
}
CLASS_ROW = {
    "id": "c",
    "prompt": "write f",
    "scoring": CONTRACT,
    "program": {"class_scoring": {**CONTRACT, "entry_point": "Solution.f"}},
}


class Reciting:
    """Says what it was told to, some answers at a time."""

    name = "reciting"

    def __init__(self, text: str, *, in_chat: bool = False, ends_after: int | None = None) -> None:
        self._text = text
        self.in_chat = in_chat
        self._ends_after = ends_after
        self.asked: list[tuple[str, int]] = []

    def with_prompt(self, problem: PromptRow, conversation: Conversation) -> PromptRow:
        return replace(problem, prompt=problem.prompt or "said")

    def most_new_tokens(self, problems: Sequence[PromptRow]) -> int:
        return 9

    def check(self, problems: Sequence[PromptRow], asking: Asking) -> None:
        pass

    async def answers(
        self, wanted: Sequence[tuple[PromptRow, int]], asking: Asking
    ) -> AsyncIterator[list[ModelAnswer]]:
        for problem, sample in wanted:
            if self._ends_after is not None and len(self.asked) == self._ends_after:
                raise PlatformError("it is gone")
            self.asked.append((problem.id, sample))
            text = self._text.replace("{n}", str(sample))
            yield [ModelAnswer(problem=problem.id, sample=sample, text=text, tokens=2, cut_off=sample == 1)]

    async def close(self) -> None:
        pass


def write(path: Path, *rows: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def sampled(model: Any, dataset: Path, **asked: Any) -> SampledAnswers:
    folder = dataset.parent / "evaluations"
    heard: list[tuple[int, int]] = []
    found = asyncio.run(
        sampled_answers(
            model,
            asked_problems(dataset, AnswerSettings(**asked)),
            folder=folder,
            identity=model.name,
            progress=lambda done, wanted: heard.append((done, wanted)),
        )
    )
    assert heard[-1] == (found.answers, found.answers)
    return found


def programs(found: SampledAnswers) -> dict[str, str]:
    """The programs as a benchmark job reads them."""
    scenarios = load_document(read_document(found.scenarios)).scenarios
    return {scenario.id: scenario.candidate.source for scenario in scenarios}


def test_answers_become_scenarios_of_their_problems(tmp_path: Path) -> None:
    rows = [{"id": f"p{n}", "prompt": f"add {n}", "scoring": CONTRACT} for n in (1, 2)]
    template = "def f(x):\n    return {completion}\n"
    found = sampled(Reciting("x+{n}"), write(tmp_path / "p.jsonl", *rows), samples=2, template=template)
    assert programs(found) == {f"p{n}/{s + 1}": f"def f(x):\n    return x+{s}\n" for n in (1, 2) for s in (0, 1)}
    assert (found.answers, found.reused, found.cut_off, found.tokens, found.problems) == (4, 0, 2, 8, 2)
    assert (found.temperature, found.max_new_tokens) == (0.8, 9)
    scenario = load_document(read_document(found.scenarios)).scenarios[3]
    assert (scenario.problem_id, scenario.statement) == ("p2", "add 2")
    assert scenario.metadata == {"tokens": 2, "cut_off": True}


def test_a_data_set_is_asked_as_it_is(tmp_path: Path) -> None:
    """What a base model says goes on where the prompt ends; of a chat model's answer the program is taken."""
    dataset = write(tmp_path / "h.jsonl", HUMAN_EVAL)
    assert programs(sampled(Reciting("    return x + 1\n"), dataset)) == {
        "HumanEval/0/1": "def f(x):\n    return x + 1\n"
    }
    chat = Reciting("Here:\n```python\ndef f(x):\n    return x + 1\n```\nDone.", in_chat=True)
    assert programs(sampled(chat, dataset, seed=1))["HumanEval/0/1"].endswith("def f(x):\n    return x + 1\n")


def test_a_class_has_its_own_contract(tmp_path: Path) -> None:
    dataset = write(tmp_path / "c.jsonl", CLASS_ROW)
    said = "class Solution:\n    def f(self, x):\n        return x + 1\n"
    (scenario,) = load_document(read_document(sampled(Reciting(said), dataset).scenarios)).scenarios
    assert scenario.scoring.entry_point == "Solution.f"  # type: ignore[union-attr]
    (scenario,) = load_document(read_document(sampled(Reciting("f = 1"), dataset, seed=1).scenarios)).scenarios
    assert scenario.scoring.entry_point == "f"  # type: ignore[union-attr]


def test_an_evaluation_that_broke_off_goes_on(tmp_path: Path) -> None:
    dataset = write(tmp_path / "p.jsonl", *({"id": f"p{n}", "prompt": "x", "scoring": CONTRACT} for n in range(5)))
    with pytest.raises(PlatformError):
        sampled(Reciting("x", ends_after=3), dataset, samples=2)
    again = Reciting("x")
    found = sampled(again, dataset, samples=2)
    assert (found.reused, found.answers, len(again.asked)) == (3, 10, 7)
    more = Reciting("x")
    assert sampled(more, dataset, samples=4, temperature=0.8).reused == 10
    assert {sample for _, sample in more.asked} == {2, 3}
    other = Reciting("x")
    assert sampled(other, dataset, samples=2, seed=9).reused == 0
    few = sampled(Reciting("x"), dataset, samples=1, temperature=0.8, limit=2)
    assert (few.reused, few.answers, sorted(programs(few))) == (2, 2, ["p0/1", "p1/1"])


def test_answers_under_the_names_of_an_earlier_harena_are_not_used(tmp_path: Path) -> None:
    """It numbered rows without an id from 1: its answers to row `1` are none to the row that is called so now."""
    dataset = write(tmp_path / "p.jsonl", *({"prompt": f"x{n}", "scoring": CONTRACT} for n in range(2)))
    kept = tmp_path / "kept.jsonl"
    asked = asked_problems(dataset, AnswerSettings())
    ask = partial(sampled_answers, folder=tmp_path, identity="it", progress=lambda done, wanted: None)
    found = asyncio.run(ask(Reciting("x"), asked, answers=kept))
    assert sorted(programs(found)) == ["0/1", "1/1"]
    head, *said = kept.read_text().splitlines()
    earlier = {name: value for name, value in json.loads(head).items() if name != "unnamed_rows"}
    kept.write_text("".join(f"{line}\n" for line in (json.dumps(earlier), *said)))
    with pytest.raises(ValidationError, match=r"another evaluation .*unnamed_rows"):
        asyncio.run(ask(Reciting("x"), asked, answers=kept))


WRONG: dict[str, tuple[list[dict[str, Any]], str]] = {
    "no contract": ([{"id": "a", "prompt": "x"}], r"w.jsonl:1: it has no scoring contract"),
    "two of a name": ([{"id": "a", "prompt": "x", "scoring": CONTRACT}] * 2, r"w.jsonl:2: its id 'a' is that of"),
    "no prompt": ([{"id": "a", "scoring": CONTRACT}], r"w.jsonl:1: "),
    "a broken contract": ([{"id": "a", "prompt": "x", "scoring": {"type": "tests"}}], r"w.jsonl:1: .*"),
    "nothing": ([], "there is no problem in it"),
}


@pytest.mark.parametrize(("rows", "told"), WRONG.values(), ids=WRONG)
def test_rows_that_cannot_be_asked_are_named_before_anything_is(
    tmp_path: Path, rows: list[dict[str, Any]], told: str
) -> None:
    model = Reciting("x")
    with pytest.raises(ValidationError, match=told):
        sampled(model, write(tmp_path / "w.jsonl", *rows))
    assert not model.asked


@pytest.mark.parametrize(
    "asked",
    [{"samples": 0}, {"at_once": 0}, {"limit": 0}, {"max_new_tokens": 0}, {"temperature": -1.0}, {"top_p": 0.0},
     {"samples": 2, "temperature": 0.0}],
)  # fmt: skip
def test_settings_that_cannot_be(asked: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        AnswerSettings(**asked)


def test_a_local_model_says_the_same_whatever_is_asked_beside(tmp_path: Path) -> None:
    dataset = write(
        tmp_path / "p.jsonl", *({"id": f"p{n}", "prompt": f"say {n}", "scoring": CONTRACT} for n in range(6))
    )

    def texts(at_once: int, limit: int) -> dict[str, str]:
        model = LocalModel.shipped("tiny-llama", seed=0)
        try:
            found = asyncio.run(
                sampled_answers(
                    model,
                    asked_problems(dataset, AnswerSettings(samples=2, at_once=at_once, limit=limit, max_new_tokens=6)),
                    folder=tmp_path / f"{at_once} {limit}",
                    identity="tiny",
                    progress=lambda _done, _wanted: None,
                )
            )
        finally:
            asyncio.run(model.close())
        return programs(found)

    whole = texts(5, 6)
    assert len(set(whole.values())) > 6
    assert texts(2, 3) == {name: text for name, text in whole.items() if name[:2] in ("p0", "p1", "p2")}


def test_prompts_that_leave_no_room_are_named(tmp_path: Path) -> None:
    rows = [
        {"id": "short", "prompt": "x", "scoring": CONTRACT},
        {"id": "long", "prompt": "x" * 250, "scoring": CONTRACT},
    ]
    model = LocalModel.shipped("tiny-llama", seed=0)
    try:
        with pytest.raises(
            ValidationError, match=r"1 prompts are too long: .* 256 tokens.*max_new_tokens\):\n  long has 250"
        ):
            sampled(model, write(tmp_path / "p.jsonl", *rows), max_new_tokens=7)
    finally:
        asyncio.run(model.close())


def test_bad_rows_are_told_before_torch_is_loaded(tmp_path: Path) -> None:
    """In a process of its own: what is wrong with a data set is known in well under a second."""
    dataset = write(tmp_path / "w.jsonl", {"id": "a", "prompt": "x"})
    program = (
        "import sys, harena\n"
        "try:\n    harena.evaluate('tiny-llama', sys.argv[1])\n"
        "except harena.ValidationError as error:\n    print(error)\n"
        "print(sorted({'torch', 'transformers'} & sys.modules.keys()))\n"
    )
    told = subprocess.run([sys.executable, "-c", program, str(dataset)], capture_output=True, text=True, check=True)
    assert "w.jsonl:1: it has no scoring contract" in told.stdout
    assert told.stdout.endswith("[]\n")


def test_what_failed_is_told_with_an_example() -> None:
    """The commonest reason, and what was run."""
    runs = [
        SimpleNamespace(scenario_id=f"p/{n}", problem="p", score=0.0, passed=False, reason=reason, detail="it is 3")
        for n, reason in enumerate(("exception", "wrong_answer", "wrong_answer"), 1)
    ]
    summary = SimpleNamespace(scored=3, passed=0, mean_score=0.0)
    results = SimpleNamespace(runs=runs, job_id="j", name="n", summary=summary)
    scenarios = {"scenarios": [{"id": "p/2", "candidate": "def f(x):\n    return 3\n"}]}
    asked = SimpleNamespace(
        problems=1, answers=3, cut_off=0, tokens=9, max_new_tokens=4, temperature=0.8, path="a", scenarios=scenarios
    )
    found = _evaluation("m", "d", asked, results)  # type: ignore[arg-type]
    assert found.reasons == {"wrong_answer": 2, "exception": 1}
    lines = evaluation_lines(found)
    assert "not passed: wrong_answer 2, exception 1" in lines
    place = lines.index("for example p/2 (wrong_answer: it is 3):")
    assert lines[place + 1 : place + 3] == ["    def f(x):", "        return 3"]
