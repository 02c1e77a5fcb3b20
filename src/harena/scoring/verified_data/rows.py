"""Prompts, and the lines of training files as trainers load them unchanged.

    chat               {"messages": [{"role": "user", "content": PROMPT}, {"role": "assistant", "content": ANSWER}]}
    prompt-completion  {"prompt": PROMPT, "completion": ANSWER}
    preference         {"prompt": PROMPT, "chosen": ANSWER, "rejected": ANSWER}
    preference-chat    {"prompt": [MESSAGE, ...], "chosen": [MESSAGE], "rejected": [MESSAGE]}

The prompt is the problem's statement, or its conversation where the data set has one, or what a template makes of
`{{ item.statement }}`, `item.problem`, `item.entry_point`, `item.metadata.*` and the row's own fields (`item.*`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from harena.scoring.contracts.contract import ReferenceContract, TestsContract
from harena.scoring.contracts.templates import TemplateError, check_template, filled, placeholders
from harena.scoring.scenario import Scenario, is_encodable
from harena.scoring.verified_data.rule import Rule

Prompt = str | tuple[Mapping[str, Any], ...]

_OF_SAMPLE = re.compile(r"\{\{\s*sample\b")
_SYSTEM_ROLES = ("system", "developer")


class PromptError(ValueError):
    """A scenario has no prompt of the form that is asked for; says what to do."""


def checked_template(template: str) -> str:
    """The template itself. Raises PromptError for one that can never make a prompt, whatever the scenario."""
    if next(placeholders(template), None) is None:
        raise PromptError("names nothing of a problem, as {{ item.statement }}: all prompts would be the same")
    if _OF_SAMPLE.search(template):
        raise PromptError("names `sample`, which is the answer; a prompt can only name `item`")
    return template


def prompt_of(scenario: Scenario, template: str | None, rule: Rule) -> Prompt:
    """A text, or the messages of a conversation. Raises PromptError."""
    prompt: Prompt = _from_template(scenario, template) if template else scenario.messages or scenario.statement
    if not prompt or (isinstance(prompt, str) and not prompt.strip()):
        raise PromptError("has no prompt: give its problem a `statement`, or make one with --prompt-template FILE")
    if isinstance(prompt, str):
        if not is_encodable(prompt):
            raise PromptError("has a prompt that cannot be written as UTF-8: half of a surrogate pair is in it")
        return prompt
    if rule.has_messages:
        if rule.system is not None and prompt[0].get("role") in _SYSTEM_ROLES:
            raise PromptError("has a system message of its own; leave out --system, or use --prompt-template FILE")
        return prompt
    only = prompt[0].get("content") if len(prompt) == 1 else None
    if not isinstance(only, str):
        raise PromptError(
            f"has a conversation for its prompt, and the form {rule.form!r} takes one text; use "
            f"{'preference-chat' if rule.makes_pairs else 'chat'!r}, or --prompt-template FILE"
        )
    return only


def _from_template(scenario: Scenario, template: str) -> str:
    contract = scenario.scoring
    names = isinstance(contract, TestsContract | ReferenceContract)
    item = {
        "statement": scenario.statement,
        "problem": scenario.problem_id or scenario.id,
        "entry_point": contract.entry_point if names else None,  # type: ignore[attr-defined]
        "metadata": scenario.metadata,
        **scenario.item,
    }
    try:
        check_template(template, item)
        return filled(template, item, "")
    except TemplateError as error:
        raise PromptError(f"cannot fill the prompt template: {error}") from None


def answer_of(scenario: Scenario, completion: str) -> str | None:
    """What is learned. None where that is no one text: a candidate of several files, or what UTF-8 cannot carry."""
    if completion == "original" and scenario.answer is not None:
        text = scenario.answer
    elif len(scenario.candidate.files) > 1:
        return None
    else:
        text = scenario.candidate.source
    return text if is_encodable(text) else None


def row_of(rule: Rule, prompt: Prompt, answer: str, rejected: str = "") -> dict[str, Any]:
    """One line of the file; `rejected` is only for pairs."""
    if rule.form == "chat":
        return {"messages": [*_messages(rule, prompt), *_said(answer)]}
    if rule.form == "preference-chat":
        return {"prompt": _messages(rule, prompt), "chosen": _said(answer), "rejected": _said(rejected)}
    if rule.form == "preference":
        return {"prompt": prompt, "chosen": answer, "rejected": rejected}
    return {"prompt": prompt, "completion": answer}


def line_of(row: Mapping[str, Any]) -> bytes:
    """The row as one line, without its end: ASCII, so that no reader takes another character for a line's end."""
    return json.dumps(row).encode()


def _messages(rule: Rule, prompt: Prompt) -> list[Mapping[str, Any]]:
    asked: Sequence[Mapping[str, Any]] = [{"role": "user", "content": prompt}] if isinstance(prompt, str) else prompt
    return [*([{"role": "system", "content": rule.system}] if rule.system is not None else []), *asked]


def _said(text: str) -> list[Mapping[str, Any]]:
    return [{"role": "assistant", "content": text}]
