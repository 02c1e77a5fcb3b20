"""Whether the model of a job can read its rows: told when the job is submitted, as far as the tokenizer's files tell.

A chat template is not applied here. Of a conversation what others than the assistant say is counted, which every
template writes; how long it becomes exactly, and whether its prompt has room then, the worker says.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from harena.core.errors import ValidationError
from harena.training.conversations import WITHOUT_TEMPLATE, prompt_conversation_of, text_pair_of
from harena.training.datasets import prompt_row_of
from harena.training.imported_rows import imported
from harena.training.plan import RLPlan, SFTPlan
from harena.training.references import Resolved, ResolvedRef
from harena.training.reward_checks import MOST_ROWS
from harena.training.row_files import Mistakes, Row, read_rows
from harena.training.tokenizer_files import TokenizerFacts, stop_mistake, tokenizer_facts

NO_TEMPLATE = "the model's tokenizer has no chat template: add chat_template.jinja to the model's directory"
_MERGED = 2
"""tokens by which a text may become shorter where it stands between others"""


def check_texts(plan: SFTPlan | RLPlan, resolved: Resolved) -> None:
    """Raises one ValidationError that lists, by field, what this model cannot read: of each data set the first
    MOST_ROWS rows."""
    model = resolved.find("model")
    if model is None:
        return
    facts = tokenizer_facts(None if model.path is None else Path(model.path), model.described.get("shipped"))
    wrong = [*_without_template(resolved)] if facts.has_template is False else []
    read: Callable[[Row], str | None] = partial(_pair_mistake, facts)
    learnt_from = "config.dataset_ref"
    if isinstance(plan, RLPlan):
        if facts.counts is not None:
            lengths = dict(zip(plan.stop, facts.counts(plan.stop), strict=True))
            wrong += [f"config.stop: {mistake}" for mistake in filter(None, [stop_mistake(lengths)])]
        read = partial(_prompt_mistake, facts, _room(plan, model))
        learnt_from = resolved.prompts.where if resolved.prompts is not None else ""
    if resolved.find("capability_ref") is None or facts.has_template is not False:
        for ref in filter(None, map(resolved.find, (learnt_from, "config.eval_dataset_ref"))):
            wrong += [f"{ref.where}: {mistake}" for mistake in _mistakes(ref, read)]
    if wrong:
        raise ValidationError("\n  ".join(wrong))


def _without_template(resolved: Resolved) -> Iterator[str]:
    if (capability := resolved.find("capability_ref")) is not None:
        yield f"{capability.where}: its prompt is a message, and {NO_TEMPLATE}, or leave the capability out"
    for ref in resolved.all_of("config.trajectory_dataset_refs"):
        yield f"{ref.where}: {ref.ref} holds conversations, and {NO_TEMPLATE}"


def _room(plan: RLPlan, model: ResolvedRef) -> tuple[float, str]:
    """(tokens that a prompt may have, what they come of)."""
    context = model.described.get("context_length")
    left = math.inf if context is None else context - plan.max_new_tokens
    return left, f"the model's {context}, less max_new_tokens {plan.max_new_tokens}"


def _mistakes(ref: ResolvedRef, read: Callable[[Row], str | None]) -> Iterator[str]:
    if ref.path is None:
        return
    mistakes = Mistakes(ref.ref)
    for row in read_rows(Path(ref.path), split=ref.described.get("split"))[:MOST_ROWS]:
        if (mistake := read(row)) is not None:
            mistakes.add(row.origin, mistake)
    try:
        mistakes.check()
    except ValidationError as error:
        yield str(error)


def _pair_mistake(facts: TokenizerFacts, row: Row) -> str | None:
    try:
        if facts.has_template is False:
            text_pair_of(row.values)
    except ValueError as error:
        return str(error)
    return None


def _prompt_mistake(facts: TokenizerFacts, room: tuple[float, str], row: Row) -> str | None:
    made, (most, told) = prompt_row_of(row.values, id="row"), room
    if facts.has_template is False and made.messages:
        return WITHOUT_TEMPLATE
    if facts.has_template is None or facts.counts is None:
        return None
    if facts.has_template:
        said = [
            m["content"].strip()
            for m in prompt_conversation_of(imported(row.values)).messages
            if m["role"] != "assistant"
        ]
        least = sum(max(0, length - _MERGED) for length in facts.counts(said))
    else:
        (least,) = facts.counts([made.prompt])
    if least <= most:
        return None
    return f"it has {'at least ' if facts.has_template else ''}{least} tokens, and {most} are allowed ({told})"
