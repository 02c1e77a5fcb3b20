"""Prompts of every data format, and rows as trainers load them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from data_set_rows import (
    APPS,
    APPS_CALL,
    CODECONTESTS,
    COMMONOJ,
    EVALPLUS,
    GRADER_REQUEST,
    GRADERS,
    HARBOR,
    HUMANEVAL,
    LIVECODEBENCH,
    LIVECODEBENCH_CALL,
    MBPP,
    MBPP_FUSION,
    MBPP_SANITISED,
    RFT,
    VERIFICATION_INFO,
    harbor_task,
    only,
)
from sft_candidates import a_rule, scenario

from harena.scoring.verified_data.rows import PromptError, answer_of, checked_template, line_of, prompt_of, row_of

CHAT = a_rule()
ANSWER = [{"code": "x"}]


@pytest.mark.parametrize(
    ("row", "says"),
    [
        (HUMANEVAL, HUMANEVAL["prompt"]),
        (EVALPLUS, EVALPLUS["prompt"]),
        (MBPP, f"{MBPP['text']}\nYour code should pass these tests:\n\n" + "\n".join(MBPP["test_list"])),
        (MBPP_SANITISED, MBPP_SANITISED["prompt"]),
        (MBPP_FUSION, MBPP_FUSION["content"]),
        (APPS, APPS["question"]),
        (APPS_CALL, "Count the words.\n\ndef count(words):\n"),
        (LIVECODEBENCH, "Double\n\nPrint the double."),
        (LIVECODEBENCH_CALL, f"Double\n\nPrint the double.\n\n{LIVECODEBENCH_CALL['starter_code']}"),
        (CODECONTESTS, "Print the half."),
        (COMMONOJ, "Say yes."),
        (VERIFICATION_INFO, "Print the double."),
    ],
)
def test_the_data_sets_own_prompt_is_the_prompt(row: dict[str, Any], says: str) -> None:
    """As its authors wrote it, with the tests where those belong to it."""
    prompt = prompt_of(only([row], candidates=ANSWER), None, CHAT)
    assert isinstance(prompt, str)
    assert prompt.startswith(says)


def test_the_instruction_of_a_task_directory_is_its_prompt(tmp_path: Path) -> None:
    """And an answer to it is a script, as it was written."""
    script = "Here:\n```bash\necho\n```\n"
    task = only(harbor_task(tmp_path / "hello"), candidates=[{"task_id": "hello", "solution": script}])
    assert prompt_of(task, None, CHAT) == HARBOR["instruction.md"]
    assert (answer_of(task, "code"), answer_of(task, "original")) == (script, script)


def test_a_conversation_stays_one() -> None:
    """All its messages, as they are."""
    rft = only([RFT], candidates=ANSWER, grader=GRADERS["string_check"])
    prompt = prompt_of(rft, None, CHAT)
    assert list(prompt) == RFT["messages"]
    made = row_of(CHAT, prompt, "42")
    assert made == {"messages": [*RFT["messages"], {"role": "assistant", "content": "42"}]}
    with pytest.raises(
        PromptError, match="has a conversation for its prompt, and the form 'preference' takes one text"
    ):
        prompt_of(rft, None, a_rule(form="preference"))
    with pytest.raises(PromptError, match="has a system message of its own"):
        prompt_of(rft, None, a_rule(system="Be long."))
    alone = only([{**RFT, "messages": RFT["messages"][1:]}], candidates=ANSWER, grader=GRADERS["string_check"])
    assert prompt_of(alone, None, a_rule(form="prompt-completion")) == "6 * 7?"
    assert row_of(a_rule(system="Be brief."), prompt_of(alone, None, a_rule(system="Be brief.")), "42") == made


def test_a_missing_prompt_says_what_to_do() -> None:
    """A statement, or a template."""
    for given in (only([GRADER_REQUEST]), scenario("a", of_problem={"statement": " \n"})):
        with pytest.raises(PromptError, match="give its problem a `statement`, or make one with --prompt-template"):
            prompt_of(given, None, CHAT)


def test_a_template_names_the_statement_and_what_the_author_wrote() -> None:
    """The row's own fields come first; values that are no text are JSON."""
    own = scenario("a", of_problem={"metadata": {"level": [1, 2]}})
    template = "{{ item.problem }}: {{ item.statement }} Write {{ item.entry_point }}. {{item.metadata.level}}"
    assert prompt_of(own, template, CHAT) == "p: Solve p. Write f. [1, 2]"
    assert prompt_of(only([GRADER_REQUEST]), "Say {{ item.reference_answer }}", CHAT) == "Say 42"
    rft = only([RFT], candidates=ANSWER, grader=GRADERS["string_check"])
    assert prompt_of(rft, "{{ item.messages[1].content }}", a_rule(system="Be long.")) == "6 * 7?"
    with pytest.raises(PromptError, match=r"cannot fill the prompt template: item\.metadata\.year leads nowhere"):
        prompt_of(own, "{{ item.metadata.year }}", CHAT)


@pytest.mark.parametrize(
    ("template", "says"),
    [("Solve it.", "names nothing of a problem"), ("{{ item.statement }} {{sample.output_text}}", "names `sample`")],
)
def test_templates_that_can_never_be_right(template: str, says: str) -> None:
    """Told before any scenario is looked at."""
    with pytest.raises(PromptError, match=says):
        checked_template(template)


def test_the_original_or_the_code() -> None:
    """Of an answer with reasoning; a candidate that nobody wrote around is both."""
    written = scenario("a", "def f(x): return x\n", answer="Easy:\n```python\ndef f(x): return x\n```")
    assert answer_of(written, "original") == written.answer
    assert answer_of(written, "code") == "def f(x): return x\n"
    assert answer_of(scenario("b", "f = abs\n"), "original") == "f = abs\n"


def test_what_is_no_one_text_is_no_answer() -> None:
    """Several files, and what UTF-8 cannot carry."""
    several = scenario("a", {"files": {"solution.py": "", "b.py": ""}})  # type: ignore[arg-type]
    assert answer_of(several, "original") is None
    assert answer_of(scenario("b", answer="\ud800"), "original") is None
    assert answer_of(scenario("b", answer="\ud800"), "code") is not None


def test_rows_have_the_shape_that_trainers_load() -> None:
    """The columns of TRL's conversational and standard forms, and of OpenAI's chat files."""
    system = "You write Python."

    def said(role: str, content: str) -> dict[str, str]:
        return {"role": role, "content": content}

    asked = [said("system", system), said("user", "Q")]
    assert row_of(a_rule(system=system), "Q", "A") == {"messages": [*asked, said("assistant", "A")]}
    assert row_of(a_rule(form="prompt-completion"), "Q", "A") == {"prompt": "Q", "completion": "A"}
    assert row_of(a_rule(form="preference"), "Q", "A", "B") == {"prompt": "Q", "chosen": "A", "rejected": "B"}
    assert row_of(a_rule(form="preference-chat", system=system), "Q", "A", "B") == {
        "prompt": asked,
        "chosen": [said("assistant", "A")],
        "rejected": [said("assistant", "B")],
    }


def test_a_line_is_one_line_to_every_reader() -> None:
    """Also where the text holds what some take for the end of a line."""
    row = {"prompt": "a\u2028b\x85c\nd\x0b", "completion": "ü\x00"}
    line = line_of(row)
    assert line.decode("ascii").splitlines() == [line.decode()]
    assert json.loads(line) == row
