"""Data sets of every form as what is trained on: token rows for SFT, prompt rows for RL.

Every row is looked at before any work is done; what is wrong with them is one error, with file and line of each. Rows
that are too long are a matter of policy, never of silence: they are cut or left out as asked, counted, and reported.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal

from harena.core.errors import ValidationError
from harena.core.outside_json import read_outside
from harena.scoring.formats.asked_fields import ANSWER_FIELDS, asked_in, given
from harena.scoring.formats.rows import FieldError, numbered, row_name
from harena.training.data.conversations import (
    WITHOUT_TEMPLATE,
    Conversation,
    prompt_conversation_of,
)
from harena.training.data.demonstrations import conversation_to_learn, text_pair_to_learn
from harena.training.data.imported_rows import OWN_SOLUTION, ProgramForm, imported
from harena.training.data.prompts import PromptRow
from harena.training.data.row_files import Mistakes, Row, content_digest, read_rows, rows_of
from harena.training.data.templates import ChatTemplate
from harena.training.loop.batch import TrainingRow
from harena.training.ports import Tokenizer

__all__ = ["LoadReport", "TooLong", "content_digest", "prompt_rows", "read_rows", "training_rows"]

TooLong = Literal["left", "right", "leave_out", "error"]
"""What becomes of a row that is longer than allowed.

left       it loses its beginning: the last tokens stay, so the answer and what is nearest to it
right      it loses its end: the answer may be cut off, and then does not teach to stop
leave_out  it is not used
error      it is a mistake of the data set
"""
_READ = frozenset({"id", "messages", "tools", "reward", "scoring", "metadata", "reward_model", "split", OWN_SOLUTION})


@dataclass(slots=True, kw_only=True)
class LoadReport:
    """What became of a data set's rows."""

    rows: int = 0
    """number of rows that were read"""
    sequences: int = 0
    """to be trained on, or prompts"""
    too_long: int = 0
    """sequences that were longer than allowed: `cut` and `left_out` together"""
    cut: int = 0
    left_out: int = 0
    split_rows: int = 0
    """conversations that became a row for each answer, because the chat template rewrites earlier answers"""
    tokens: int = 0
    learnt_tokens: int = 0
    longest: int = 0
    """tokens of the longest sequence, before anything was cut"""

    def as_json(self) -> dict[str, int]:
        """For events and logs."""
        return asdict(self)


@dataclass(slots=True)
class _Loading:
    """Sequences as they are made, and what is counted."""

    most: int
    too_long: TooLong
    mistakes: Mistakes
    room: str = ""
    """what `most` comes of, for people"""
    report: LoadReport = field(default_factory=LoadReport)

    def allowed(self, row: TrainingRow, origin: str) -> TrainingRow | None:
        """The row, or what is left of it."""
        self.report.longest = max(self.report.longest, len(row.tokens))
        kept: TrainingRow | None = row
        if len(row.tokens) > self.most:
            self.report.too_long += 1
            if self.too_long == "error":
                room = f" ({self.room})" if self.room else ""
                self.mistakes.add(origin, f"it has {len(row.tokens)} tokens, and {self.most} are allowed{room}")
            kept = cut(row, self.most, self.too_long)
            self.report.cut += kept is not None
            self.report.left_out += kept is None
        if kept is not None:
            self.report.sequences += 1
            self.report.tokens += len(kept.tokens)
            self.report.learnt_tokens += sum(kept.mask)
        return kept


def cut(row: TrainingRow, most: int, policy: TooLong) -> TrainingRow | None:
    """At most so many tokens of a row; None where it is left out, or nothing to learn is left. The first token is
    given, never learnt: nothing stands before it."""
    if policy not in ("left", "right"):
        return None
    kept = slice(-most, None) if policy == "left" else slice(0, most)
    mask = (0, *row.mask[kept][1:])
    if not any(mask):
        return None
    return replace(row, tokens=row.tokens[kept], mask=mask, logprobs=row.logprobs[kept])


def training_rows(
    paths: Path | Sequence[Path],
    tokenizer: Tokenizer,
    *,
    template: ChatTemplate | None,
    max_length: int,
    too_long: TooLong = "left",
    split: str | None = None,
) -> tuple[list[TrainingRow], LoadReport]:
    """Rows to learn from, out of data sets that are read one after the other. With a template every row is a
    conversation, of which what the assistant says is learnt; without one rows are prompt and completion as text, of
    which the completion is learnt, and the token that ends it. Raises ValidationError: one, with every mistake."""
    paths = [paths] if isinstance(paths, Path) else list(paths)
    loading = _Loading(max_length, too_long, Mistakes(", ".join(map(str, paths))))
    made: list[TrainingRow] = []
    for path in paths:
        for row in rows_of(path, loading.mistakes, split=split):
            loading.report.rows += 1
            try:
                sequences = _sequences(row.values, tokenizer, template)
            except ValueError as error:
                loading.mistakes.add(row.origin, str(error))
                continue
            loading.report.split_rows += len(sequences) > 1
            made += [kept for one in sequences if (kept := loading.allowed(one, row.origin)) is not None]
    loading.mistakes.check()
    if not made:
        raise ValidationError(_nothing(loading.mistakes.name, loading.report, max_length))
    return made, loading.report


def _sequences(values: Mapping[str, Any], tokenizer: Tokenizer, template: ChatTemplate | None) -> list[TrainingRow]:
    if template is not None:
        return template.rows(conversation_to_learn(values))
    prompt, completion = text_pair_to_learn(values)
    given_tokens, said = tokenizer.encode(prompt), tokenizer.encode(completion) + tokenizer.end_tokens[:1]
    if not given_tokens:
        raise ValueError("its prompt is empty: nothing stands before what is learnt")
    return [TrainingRow(tokens=given_tokens + said, mask=(0,) * len(given_tokens) + (1,) * len(said))]


def _nothing(name: str, report: LoadReport, most: int) -> str:
    if not report.rows:
        return f"{name} has no rows: there is nothing to learn from"
    return (
        f"{name}: of {report.rows} rows none is left; all are longer than {most} tokens (the longest has "
        f"{report.longest}), with nothing to learn in what would stay: allow more tokens"
    )


def prompt_rows(
    path: Path,
    tokenizer: Tokenizer,
    *,
    template: ChatTemplate | None,
    max_prompt_tokens: int,
    too_long: Literal["leave_out", "error"] = "error",
    split: str | None = None,
    room: str = "",
) -> tuple[list[PromptRow], LoadReport]:
    """Prompts to be answered. With a template each is a conversation that the template writes; without one each is a
    text. A prompt is never cut: it would be another task. `room` says in errors what `max_prompt_tokens` comes of.
    Raises ValidationError: one, with every mistake."""
    loading = _Loading(max_prompt_tokens, too_long, Mistakes(str(path)), room)
    rows = rows_of(path, loading.mistakes, split=split)
    loading.report.rows = len(rows)
    made: list[PromptRow] = []
    ids: dict[str, str] = {}
    for number, row in enumerate(rows):
        try:
            prompt, tokens = _prompt(row, number, tokenizer, template)
        except ValueError as error:
            loading.mistakes.add(row.origin, str(error))
            continue
        if prompt.id in ids:
            loading.mistakes.add(row.origin, f"its id {prompt.id!r} is that of {ids[prompt.id]} too")
        ids.setdefault(prompt.id, row.origin)
        if loading.allowed(TrainingRow(tokens=tokens, mask=(0,) * len(tokens)), row.origin) is not None:
            made.append(prompt)
    loading.mistakes.check()
    if not made:
        few = f"all {len(rows)} are longer than {max_prompt_tokens} tokens" if rows else "it has no rows"
        raise ValidationError(f"{path}: there is no prompt to answer: {few}")
    return made, loading.report


def _prompt(
    row: Row, number: int, tokenizer: Tokenizer, template: ChatTemplate | None
) -> tuple[PromptRow, tuple[int, ...]]:
    values = imported(row.values)
    made = prompt_row_of(values, id=numbered(number))
    if template is None:
        if made.messages:
            raise ValueError(WITHOUT_TEMPLATE)
        tokens = tokenizer.encode(made.prompt)
    else:
        conversation = prompt_conversation_of(values)
        encoded = template.prompt(conversation)
        made = replace(made, prompt=encoded.text, messages=conversation.messages)
        tokens = encoded.tokens
    if not tokens:
        raise ValueError("its prompt is empty")
    return made, tokens


def prompt_row_of(values: Mapping[str, Any], *, id: str) -> PromptRow:  # noqa: A002 - the field is called so
    """A row of any form; its prompt is the text it has, or "" where it has messages. `id`: of a row that says none.
    Raises ValueError."""
    values = imported(values)
    conversation = prompt_conversation_of(values)
    text = asked_in(values) if values.get("messages") is None else None
    plain = text[1] if text is not None and isinstance(text[1], str) else None
    rewarded_by = values.get("reward_model")
    answer = given(values, ANSWER_FIELDS)
    if answer is None and isinstance(rewarded_by, Mapping):
        answer = given(rewarded_by, ("ground_truth",))
    used = {
        *_READ,
        *(("program",) if isinstance(_program(values), Mapping) else ()),
        *(("instruction", "input") if text and text[0] == "instruction" else (text[0] if text else "",)),
        answer[0] if answer else "",
    }
    metadata = {name: value for name, value in values.items() if name not in used and value is not None}
    if isinstance(rewarded_by, Mapping) and rewarded_by.get("style") is not None:
        metadata["reward_style"] = rewarded_by["style"]
    metadata |= _mapping(values, "metadata") or {}
    return PromptRow(
        id=_name(values, id),
        prompt=plain or "",
        messages=() if plain is not None else conversation.messages,
        expected_output=None if answer is None else as_text(answer[1]),
        answer_problem=None if answer is None else problem_of_answer(answer[1], values, _shown(plain, conversation)),
        reward=_number(values.get("reward")),
        scoring=_mapping(values, "scoring"),
        program=ProgramForm.of(_program(values)),
        metadata=metadata,
    )


def _name(values: Mapping[str, Any], otherwise: str) -> str:
    """A row with a scoring contract has the name that audits and benchmark jobs give it. Raises ValueError."""
    if values.get("scoring") is None:
        return str(values["id"]) if values.get("id") is not None else otherwise
    try:
        return row_name(values, otherwise, "scenario_id")
    except FieldError as error:
        raise ValueError(f"its {error}") from None


def _shown(plain: str | None, conversation: Conversation) -> str:
    return plain if plain is not None else as_text([message.get("content") for message in conversation.messages])


def _program(values: Mapping[str, Any]) -> Any:
    """A column of this name that is no object, or without a contract beside it, is the author's own."""
    return values.get("program") if values.get("scoring") is not None else None


def _mapping(values: Mapping[str, Any], name: str) -> Mapping[str, Any] | None:
    """Parquet files carry what has no fixed fields as JSON text."""
    value = values.get(name)
    if isinstance(value, str):
        try:
            value = read_outside(value)
        except (ValueError, RecursionError):
            raise ValueError(f"its {name} is no object, and no JSON text of one") from None
    if value is not None and not isinstance(value, Mapping):
        raise ValueError(f"its {name} is an object, not {type(value).__name__}")
    return value


def _number(value: Any) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool | int | float) and math.isfinite(value):
        return float(value)
    raise ValueError(f"its reward is a finite number, not {value!r}")


_CHOICES = ("choices", "options", "endings")


def problem_of_answer(answer: Any, values: Mapping[str, Any], shown: str) -> str | None:
    """Why a reply to the row hardly ever says the answer as it is written there; None = it may. Data sets of questions
    with several right answers have lists (TriviaQA, NQ), those with choices have a place in another column (MMLU).
    `shown`: what the prompt says."""
    if isinstance(answer, bool):
        return f'its answer is the truth value {str(answer).lower()}: write the text that is wanted ("yes", "True")'
    if isinstance(answer, Mapping) or (isinstance(answer, Sequence) and not isinstance(answer, str)):
        kind = "an object" if isinstance(answer, Mapping) else "a list"
        return f"its answer is {kind}: give one text, or a `scoring` contract that says which answers are right"
    hidden = next((name for name in _CHOICES if _are_hidden(values.get(name), shown)), None)
    if hidden is not None and (isinstance(answer, int) or (isinstance(answer, str) and len(answer.strip()) == 1)):
        return (
            f"its answer is a place in `{hidden}`, which its prompt does not show: write the choices into the prompt, "
            "and the letter or text of the right one as the answer"
        )
    return None


def _are_hidden(choices: Any, shown: str) -> bool:
    texts = choices.get("text") if isinstance(choices, Mapping) else choices
    return isinstance(texts, list | tuple) and bool(texts) and not all(str(text).strip() in shown for text in texts)


def as_text(value: Any) -> str:
    """A column's value as the text that answers are compared with. A number has all its digits: an exponent, as JSON
    writes one for 1e20, is read as a formula elsewhere."""
    if isinstance(value, float) and math.isfinite(value):
        return format(Decimal(repr(value)), "f")
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
