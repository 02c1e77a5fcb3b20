"""GSM8K, and rows like it: a question, and a worked answer whose number stands behind `####`.

    {"question": "...", "answer": "... #### 18"}
    {"data_source": "openai/gsm8k", "prompt": [...], "reward_model": {"ground_truth": "18"}}        as verl writes it

An answer is judged by the number that it ends with, by the rule of the reward recipe `gsm8k_v1`: one rule, for training
and for everything else. The number is read outside of sandboxes, and compared as a text.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from decimal import Decimal
from functools import partial
from typing import Any

from harena.scoring.contracts.text import StringCheckContract
from harena.scoring.formats.asked_fields import asked_in, right_answer_in
from harena.scoring.formats.graders import conversation_asked
from harena.scoring.formats.rows import FieldError, Row, shown
from harena.scoring.formats.task import Family, Task, made

ENTRY = "answer.txt"
MARKED = re.compile(r"^#### ?\S", re.MULTILINE)
_NO_NUMBER = "(no number)"


def same_number(said: Decimal | None, wanted: Decimal) -> bool:
    """Whole numbers are equal or not; others may differ by a millionth."""
    if said is None:
        return False
    is_whole = wanted == wanted.to_integral_value()
    return said == wanted or (not is_whole and math.isclose(said, wanted, rel_tol=1e-6))


def number_in(answer: str, wanted: str) -> str:
    """The number that an answer ends with, as the contract of a row compares it: `wanted` where it is that one."""
    if not answer.strip():
        return answer
    from harena.scoring.formats.answers import final_answer  # which is loaded to read an answer, not to know a row

    said = _last_number(final_answer(answer))
    if same_number(said, Decimal(wanted)):
        return wanted
    return _NO_NUMBER if said is None else format(said, "f")


def wanted_number(text: str) -> str | None:
    """The right number in an answer of a data set, in the form in which it is compared; None = it has none."""
    number = _last_number(text)
    return None if number is None else format(number, "f")


def _last_number(text: str) -> Decimal | None:
    from harena.scoring.formats.final_number import last_number  # many patterns, which few data sets need

    return last_number(text)


def read(row: Row) -> Task:
    """One row. Raises FieldError."""
    statement, messages = conversation_asked(row)
    answer = right_answer_in(row.fields)
    wanted = wanted_number(answer) if isinstance(answer, str) else None
    if wanted is None:
        raise FieldError("answer", f"must end with a number behind ####, not {shown(answer)}")
    return Task(
        id=row.id(),
        statement=statement,
        messages=messages,
        contract=made(StringCheckContract, "answer", type="string_check", reference=wanted),
        solution=wanted,
        entry=ENTRY,
        number=wanted,
        read_answer=partial(number_in, wanted=wanted),
    )


def _fits(fields: Mapping[str, Any]) -> bool:
    """Its right answer has the mark, or it says where it comes from."""
    answer = right_answer_in(fields)
    if not isinstance(answer, str) or (fields.get("messages") is None and asked_in(fields) is None):
        return False
    return MARKED.search(answer) is not None or "gsm8k" in str(fields.get("data_source", "")).lower()


FAMILY = Family(name="gsm8k", needs="question, answer with its number behind ####", fits=_fits, read=read)
