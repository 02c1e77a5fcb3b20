"""Recipes that decide by looking at row and text alone."""

from __future__ import annotations

import math
import re
from decimal import Decimal

from harena.scoring.formats.answers import final_answer
from harena.training.data.prompts import PromptRow
from harena.training.rewards.recipe import Rule

_WRITTEN = re.compile(r"(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?|\.\d+")
"""a comma stands between thousands only"""
_MARKED = re.compile(r"####\s*([^\n#]*)")
_OPENING = re.compile(r"[^\w.,/^√]{0,20}(?:boxed\{)?[^\w.,/^√]{0,20}\.?\d")
_UNIT_WORDS = 3
_MINUS = str.maketrans(dict.fromkeys("\u2010\u2011\u2012\u2013\u2212\ufe63\uff0d", "-"))
_CURRENCIES = "$€£¥₹"
_NOT_BEFORE = frozenset("./^√%\u00d7\u00f7\u00b7")
_OPERATOR = re.compile(
    r"""[\w)\]}%!.][ \t]*[+/%^\u00d7\u00f7\u00b7\u22c5][ \t]*$
    | [\w)\]}%!.][ \t]+\*{1,2}[ \t]+$ | [\w)\]}]\*{1,2}$ | \d\*{1,2}[ \t]+$  # but not the end of bold words
    | \\(?:times|cdot|div|ast|pm)[ \t]*$
    """,
    re.VERBOSE,
)
"""before a number that is computed with: behind a word, a number or a bracket of the same line"""
_PART = re.compile(
    r"""\d[:'\u2019_]$ | [A-Za-z\d^\])}]\([ \t]*$
    | [<\u2260\u2264\u2265\u221a][ \t]*$ | [!<>]=[ \t]*$ | (?<=[\w)])[ \t]+>[ \t]*$
    | (?:\b(?:not|minus|negative|plus|times|(?:divided|multiplied)\ by|sqrt|log|ln)|n['\u2019]t)[ \t]+$
    | \b(?:out|half|root)\ of[ \t]+$
    """,
    re.VERBOSE | re.IGNORECASE,
)
"""before a number that is a part of another one (3:42, sqrt(42)), or that is said not to be the answer"""
_BRACE = re.compile(r"(\\?[A-Za-z]+|[\w^\]}])\{[ \t\\]*$")
_TEXT_BRACES = frozenset({f"\\{name}" for name in ("boxed", "fbox", "text", "textbf", "mathbf", "mathrm", "bf", "rm")})
"""what LaTeX writes around a number that stays what it is, unlike roots, powers and fractions"""
_GROUP = re.compile(r"(?<!\d)\d{1,3}[ \u00a0\u2009\u202f]$")
_MULTIPLE = re.compile(
    r"[ \t]?(?:k|thousand|million|billion|trillion|dozen|hundred)\b"
    r"|[ \t]*[\u00b2\u00b3\u00b9\u2070-\u207f\u03c0\u221a]",
    re.IGNORECASE,
)
"""after a number that is multiplied by it; a unit (`42%`, `42 km`) and the end of a sentence (`42!`) are none"""
_LATER_LETTERS = "\u2e80"
"""from here on letters are of scripts that put no space between a word and a number"""


def exact_match(*, expected: str | None = None) -> Rule:
    """exact_match_v1"""

    def decide(row: PromptRow, text: str) -> float:
        wanted = expected if expected is not None else row.expected_output or ""
        return float(text.strip() == wanted.strip())

    return Rule(decide, name="exact_match_v1", mistakes=_nothing if expected is not None else _lacks_expected)


def contains(*, needle: str, reward_if_true: float = 1.0, reward_if_false: float = 0.0) -> Rule:
    """contains_v1"""
    # a needle of the reasoning's own marks is about the form of the whole
    said = (lambda text: text) if "think>" in needle else final_answer
    return Rule(
        lambda row, text: reward_if_true if needle in said(text) else reward_if_false,
        name="contains_v1",
        minimum=min(reward_if_true, reward_if_false),
        same_for_all=lambda row: reward_if_true if not needle or reward_if_true == reward_if_false else None,
    )


def row_reward(*, default: float = 0.0) -> Rule:
    """row_reward_v1"""

    def of_row(row: PromptRow) -> float:
        return default if row.reward is None else row.reward

    return Rule(lambda row, text: of_row(row), name="row_reward_v1", same_for_all=of_row)


def trajectory_imitation(*, reward_if_true: float = 1.0, reward_if_false: float = 0.0) -> Rule:
    """trajectory_imitation_v1"""

    def decide(row: PromptRow, text: str) -> float:
        return right(row) if text.strip() == (row.expected_output or "").strip() else reward_if_false

    def right(row: PromptRow) -> float:
        return reward_if_true if row.reward is None else row.reward

    return Rule(
        decide,
        name="trajectory_imitation_v1",
        minimum=min(reward_if_true, reward_if_false),
        mistakes=_lacks_expected,
        same_for_all=lambda row: reward_if_false if right(row) == reward_if_false else None,
    )


def gsm8k() -> Rule:
    """gsm8k_v1. A text without a number gets 0; whole numbers are equal or not, others may differ by a millionth."""

    def decide(row: PromptRow, text: str) -> float:
        wanted, said = _last_number(row.expected_output or ""), _last_number(final_answer(text))
        if said is None or wanted is None:
            return 0.0
        return float(said == wanted or (not _is_whole(wanted) and math.isclose(said, wanted, rel_tol=1e-6)))

    def mistakes(row: PromptRow) -> list[str]:
        if row.expected_output is not None and _last_number(row.expected_output) is None:
            return ["its expected_output holds no number"]
        return _lacks_expected(row)

    return Rule(decide, name="gsm8k_v1", mistakes=mistakes)


def _nothing(row: PromptRow) -> list[str]:
    return []


def _lacks_expected(row: PromptRow) -> list[str]:
    return ["it has no expected_output"] if row.expected_output is None else []


def _last_number(text: str) -> Decimal | None:
    """The number after `####`, or else the last one. None where there is none, where it is a part of something else
    (`1/42`, `10-7`, `0x42`, `4,2`), or where several marked ones differ."""
    plain = text.translate(_MINUS).replace("{,}", ",")
    claims = [claim for claim in _MARKED.findall(plain) if _OPENING.match(claim)]
    if not claims:
        return _number_at_end(plain)
    numbers = {_claimed(claim) for claim in claims}
    return numbers.pop() if len(numbers) == 1 else None


def _claimed(claim: str) -> Decimal | None:
    """The number of one line after `####`, behind which only a unit may stand."""
    end = _after_digits(claim)
    unit = claim[end:].strip()
    if len(unit.split()) > _UNIT_WORDS or unit[:1] in ("^", "²", "³"):
        return None
    start = _before_digits(claim, end)
    return _number_at_end(claim) if not any(sign.isdecimal() for sign in claim[:start]) else None


def _number_at_end(text: str) -> Decimal | None:
    end = _after_digits(text)
    start = _before_digits(text, end)
    written = text[start:end].lstrip(",")
    before = text[: end - len(written)]
    if not _WRITTEN.fullmatch(written) or _is_part(before, written, text[end : end + 12]):
        return None
    signed = before.rstrip(_CURRENCIES).rstrip(" \t") if before[-1:] in _CURRENCIES else before.rstrip(" \t")
    if signed.endswith("-"):
        if _is_operand(signed[:-1]):
            return None
        return -Decimal(written.replace(",", ""))
    previous = before[-1:]
    is_part = (previous.isalnum() and previous < _LATER_LETTERS) or previous in _NOT_BEFORE
    is_computed = previous in ("*", "+") and _is_operand(before.rstrip("*+"))
    return None if is_part or is_computed else Decimal(written.replace(",", ""))


def _is_part(before: str, written: str, after: str) -> bool:
    """Whether what stands around a number makes another one of it, as in `2 * 42`, `1 042` and `42 million`."""
    near = before[-40:].rpartition("\n")[2]
    if after.startswith("*") and near.endswith("*"):  # bold
        near = near.rstrip("*")
    near = near.rstrip(_CURRENCIES)
    is_group = len(written.partition(".")[0]) == 3 and _GROUP.search(near) is not None
    brace = _BRACE.search(near)
    if brace is not None and brace[1] not in _TEXT_BRACES:
        return True
    return is_group or bool(_OPERATOR.search(near) or _PART.search(near) or _MULTIPLE.match(after))


def _is_operand(text: str) -> bool:
    """Whether a minus after it would subtract."""
    last, beside = text.rstrip(" \t")[-1:], text[-1:]
    return last.isdecimal() or last == ")" or beside == "-" or (beside.isalnum() and beside < _LATER_LETTERS)


def _after_digits(text: str) -> int:
    """The end of the last number; 0 if there is none."""
    return next((index + 1 for index in range(len(text) - 1, -1, -1) if text[index].isdecimal()), 0)


def _before_digits(text: str, end: int) -> int:
    start = end
    while start and (text[start - 1].isdecimal() or text[start - 1] in ".,"):
        start -= 1
    return start


def _is_whole(number: Decimal) -> bool:
    return number == number.to_integral_value()
