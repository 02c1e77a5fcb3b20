"""Whether the model of a job can read its rows: told when the job is submitted, as far as the tokenizer's files tell.

A chat template is not applied here. Of a conversation what others than the assistant say is counted, which every
template writes; how long it becomes exactly, and whether its prompt has room then, the worker says.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from harena.core.errors import ValidationError
from harena.core.records.objects import ResolvedReference
from harena.core.records.training_plans import RLPlan, SFTPlan
from harena.scoring.formats.asked_fields import ANSWER_FIELDS, asked_in, given
from harena.training.data.conversations import (
    WITHOUT_TEMPLATE,
    prompt_conversation_of,
)
from harena.training.data.datasets import prompt_row_of
from harena.training.data.demonstrations import text_pair_to_learn
from harena.training.data.imported_rows import OWN_SOLUTION, imported
from harena.training.data.row_files import Mistakes, Row, read_rows
from harena.training.data.tokenizer_files import Counts, TokenizerFacts, stop_mistake, tokenizer_facts, unwritable
from harena.training.requests.plan import TextFacts
from harena.training.requests.references import ResolvedReferences
from harena.training.requests.reward_checks import MOST_ROWS

NO_TEMPLATE = "the model's tokenizer has no chat template: add chat_template.jinja to the model's directory"
LEAST_IN_CHAT = 256
"""tokens of an answer, below which a chat model is warned of"""
_OF_A_QUESTION = ("code", "context", "choices", "options", "passage", "document", "schema", "table")
"""columns of data sets of questions, beside the question"""
_CUT_OFF = {
    "zero": "earn nothing",
    "score": "are scored as they are",
    "mask": "are no part of what is learned",
    "soft": "earn less",
}
"""by what becomes of answers that are cut off"""
_MERGED = 2
"""tokens by which a text may become shorter where it stands between others"""


def text_facts(resolved: ResolvedReferences) -> TextFacts:
    """What a plan is made with. Raises ValidationError for a data set that cannot be read."""
    model = resolved.find("model")
    if model is None:
        return TextFacts()
    facts = _facts(model)
    in_chat = model.path is not None and facts.has_template is not False
    if (ref := resolved.prompts) is None or facts.counts is None:
        return TextFacts(in_chat=in_chat)
    rows = _first_rows(ref)
    return TextFacts(
        in_chat=in_chat,
        longest_prompt=max((_least_tokens(facts, row.values) for row in rows), default=0),
        longest_solution=max(_solution_lengths(facts.counts, rows), default=0),
    )


def text_warnings(plan: SFTPlan | RLPlan, resolved: ResolvedReferences, *, held_out: float | None = None) -> list[str]:
    """What the job does as it was asked, and most likely was not meant to. `held_out`: the share that was asked for."""
    return [
        *_left_out(resolved),
        *held_out_warnings(plan, held_out),
        *_not_asked(resolved),
        *_cut_off(plan, resolved),
    ]


def held_out_warnings(plan: SFTPlan | RLPlan, asked: float | None) -> Iterator[str]:
    """Say that of the share that was `asked` for nothing is held out."""
    if asked is not None and isinstance(plan, RLPlan) and plan.held_out is None:
        yield (
            "config.held_out: there is one prompt, and none is held out of it: nothing will say whether what is "
            "learned holds for other problems; give two or more, or name others in eval_dataset_ref"
        )


def _not_asked(resolved: ResolvedReferences) -> Iterator[str]:
    """Columns without which a prompt can hardly be answered, and that are no part of it."""
    learnt_from, prompts = resolved.find("config.dataset_ref"), resolved.prompts
    for ref in filter(None, (learnt_from, prompts)):
        rows = [imported(row.values) if ref is prompts else row.values for row in _first_rows(ref)]
        asked = [(values, asked_in(values)) for values in rows if values.get("messages") is None]
        for name in _OF_A_QUESTION:
            lacking = [found[0] for values, found in asked if found and values.get(name) and "scoring" not in values]
            if lacking and lacking[0] != name:
                yield (
                    f"{ref.where}: {len(lacking)} of {len(rows)} rows have `{name}`, which is no part of what is "
                    f"asked: a prompt is the row's `{lacking[0]}` alone; write it in there, if answers need it"
                )


def _left_out(resolved: ResolvedReferences) -> Iterator[str]:
    for ref in resolved.refs:
        if ref.used is not None and (left_out := ref.used.left_out) is not None:
            named = "; ".join(left_out.told)
            yield f"{ref.where}: {left_out.rows} of {left_out.of} rows are left out (skip_bad_rows): {named}"


def _cut_off(plan: SFTPlan | RLPlan, resolved: ResolvedReferences) -> list[str]:
    model, ref = resolved.find("model"), resolved.prompts
    if model is None or not isinstance(plan, RLPlan) or plan.reward is None:
        return []
    facts, most = _facts(model), plan.max_new_tokens
    warnings: list[str] = []
    if ref is not None and facts.counts is not None:
        rows = _first_rows(ref)
        if longer := [length for length in _solution_lengths(facts.counts, rows) if length > most]:
            warnings.append(
                f"config.max_new_tokens: the right answers of {len(longer)} of {len(rows)} rows have more than {most} "
                f"tokens (the longest has {max(longer)}): answers are cut off there, and {_CUT_OFF[plan.overlong]}"
            )
    if model.path is None or not facts.has_template:
        return warnings
    if most < LEAST_IN_CHAT and not warnings:
        warnings.append(
            f"config.max_new_tokens: {most} is little for a model with a chat template, which explains what it does: "
            f"answers are cut off there, and {_CUT_OFF[plan.overlong]}"
        )
    params = plan.reward.params
    if plan.reward.name == "exact_match_v1":
        warnings.append(
            "config.reward_recipe: exact_match_v1 pays answers that are the expected output and nothing else, and a "
            "model with a chat template explains: name gsm8k_v1 for numbers, math_v1 for formulas in a box, "
            "contains_v1 or llm_judge_v1 for others, or let the prompt ask for nothing but the answer"
        )
    if plan.reward.name == "code_tests_v1" and params.get("extract") == "raw" and "template" not in params:
        warnings.append(
            "config.reward_recipe: extract is raw, and a model with a chat template writes more than a program: give "
            "extract fenced, or leave it out"
        )
    return warnings


def check_texts(plan: SFTPlan | RLPlan, resolved: ResolvedReferences) -> None:
    """Raises one ValidationError that lists, by field, what this model cannot read: of each data set the first
    MOST_ROWS rows."""
    model = resolved.find("model")
    if model is None:
        return
    facts = _facts(model)
    wrong = [*_without_template(resolved)] if facts.has_template is False else []
    read: Callable[[Row], str | None] = partial(_pair_mistake, facts)
    learnt_from = "config.dataset_ref"
    if isinstance(plan, RLPlan):
        if cannot := unwritable(plan.stop, model.shipped):
            wrong.append(f"config.stop: {stop_mistake(cannot)}")
        read = partial(_prompt_mistake, facts, _room(plan, model))
        learnt_from = resolved.prompts.where if resolved.prompts is not None else ""
    if resolved.find("capability_ref") is None or facts.has_template is not False:
        for ref in filter(None, map(resolved.find, (learnt_from, "config.eval_dataset_ref"))):
            wrong += [f"{ref.where}: {mistake}" for mistake in _mistakes(ref, read)]
    if wrong:
        raise ValidationError("\n  ".join(wrong))


def _without_template(resolved: ResolvedReferences) -> Iterator[str]:
    if (capability := resolved.find("capability_ref")) is not None:
        yield f"{capability.where}: its prompt is a message, and {NO_TEMPLATE}, or leave the capability out"
    for ref in resolved.trajectories:
        yield f"{ref.where}: {ref.ref} holds conversations, and {NO_TEMPLATE}"


def _room(plan: RLPlan, model: ResolvedReference) -> tuple[float, str]:
    """(tokens that a prompt may have, what they come of)."""
    context = model.context_length
    left = math.inf if context is None else context - plan.max_new_tokens
    return left, f"the model's {context}, less max_new_tokens {plan.max_new_tokens}"


def _mistakes(ref: ResolvedReference, read: Callable[[Row], str | None]) -> Iterator[str]:
    mistakes = Mistakes(ref.ref)
    for row in _first_rows(ref):
        if (mistake := read(row)) is not None:
            mistakes.add(row.origin, mistake)
    try:
        mistakes.check()
    except ValidationError as error:
        yield str(error)


def _pair_mistake(facts: TokenizerFacts, row: Row) -> str | None:
    try:
        if facts.has_template is False:
            text_pair_to_learn(row.values)
    except ValueError as error:
        return str(error)
    return None


def _prompt_mistake(facts: TokenizerFacts, room: tuple[float, str], row: Row) -> str | None:
    made, (most, told) = prompt_row_of(row.values, id="row"), room
    if facts.has_template is False and made.messages:
        return WITHOUT_TEMPLATE
    if (least := _least_tokens(facts, row.values)) <= most:
        return None
    return f"it has {'at least ' if facts.has_template else ''}{least} tokens, and {most} are allowed ({told})"


def _facts(model: ResolvedReference) -> TokenizerFacts:
    return tokenizer_facts(None if model.path is None else Path(model.path), model.shipped)


def _first_rows(ref: ResolvedReference) -> list[Row]:
    return [] if ref.path is None else read_rows(Path(ref.path), split=ref.split, most=MOST_ROWS)


def _least_tokens(facts: TokenizerFacts, values: Mapping[str, Any]) -> int:
    """Least number of tokens of a prompt; 0 where the tokenizer's files do not tell."""
    if facts.has_template is None or facts.counts is None:
        return 0
    if facts.has_template:
        messages = prompt_conversation_of(imported(values)).messages
        said = [message["content"].strip() for message in messages if message["role"] != "assistant"]
        return sum(max(0, length - _MERGED) for length in facts.counts(said))
    (least,) = facts.counts([prompt_row_of(values, id="row").prompt])
    return least


def _solution_lengths(counts: Counts, rows: Sequence[Row]) -> list[int]:
    """Tokens of what the rows say is right, of those that say it."""
    made = [imported(row.values) for row in rows]
    said = [values.get(OWN_SOLUTION) or (given(values, ANSWER_FIELDS) or ("", None))[1] for values in made]
    return counts([text for text in said if isinstance(text, str)])
