"""The number that an answer ends with: each form that is read, and what is refused."""

from __future__ import annotations

import re
from decimal import Decimal

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from harena.scoring.formats.final_number import last_number

_BEFORE = ("", "$", "**", "(", "The answer is ", "x = ", "#### ", "\\boxed{", "so: ", "about ", "She needs ", "\u662f")
_CLOSING = {"**": "**", "(": ")", "\\boxed{": "}"}
_HONEST_UNITS = (
    "", " apples", " km", "km", "%", " %", " m", "cm", " dollars", "\u00b0C", " km/h", " more apples", "-year-old",
    "\\%", "\\text{ kg}", " a day", " quarters", " (in total)", "/hour", " / day",
    "\u00a2", " \u2103", "\u2026", " \u2713", " \u2705", " \U0001f389", " -- done", " & more", " \u2764\ufe0f",
)  # fmt: skip
_SPOILING = (
    " bn", "bn", "k", " k", "K", " M", " mn", " lakh", " crore", "/x", "/ x", " / x", "x", " x", "i", "n", "\u03c0",
    " pi", "^n", "^{n}", "\u00b2", "\u00bd", " or so", "+", " dozen", " squared", " times x", "\\pi", "\\times x",
    "\\sqrt{x}", "e", " < x", "_n", " and a half", " hundredths", "#", "&", " &", " & \\\\",
    "\\cdot x", " mod n", " score", " doz", "nds", "ths", " gross",
)  # fmt: skip
_SPOILED = (
    "-({})", "- ({})", "-[{}]", "-**{}**", "-\\boxed{{{}}}", "minus ({})", "\u00b1{}", "4 {}", "41 or {}",
    "$41 or ${}", "41 (or {})", "1 {}", "41 apples or {}", "not ({})", "2\u00a0{}",
    "2\u00d7({})", "2\u00b7({})", "1+ ({})", "100 - $ {}", "0.({})", "-|{}|", "- \\boxed{{{}}}", "2\\boxed{{{}}}",
    "\\boxed{{2}}\\boxed{{{}}}", "2 \u00d7 **{}**", "1 + $({})", "\\sqrt{{\\text{{{}}}}}", "**not** {}",
    "minus **{}**", "minus\n{}", "negative\n\n**{}**", "it is not\n{}", "100 -\n{}", "2 \u00d7\n({})",
    "twice {}", "thrice {}", "double **{}**", "Half ({})", "triple ${}", "a third of {}", "20% of {}",
    "the double of {}", "2\\,\\cdot\\,{}", "7 \\times\\; {}", "4\\;{}", "4~{}", "4\\ {}", "x \\neq {}", "\\geq\\,{}",
    "5 \\bmod {}", "\\sin {}",
)  # fmt: skip


@given(
    st.integers(0, 10**9), st.booleans(), st.booleans(), st.sampled_from(_BEFORE), st.sampled_from(_HONEST_UNITS),
    st.sampled_from(["", ".", "!", "\n", " .", "<|im_end|>", " <|endoftext|>", "</s>\n"]),
)  # fmt: skip
def test_a_final_number_is_read_in_each_of_its_forms(
    number: int, negative: bool, grouped: bool, before: str, unit: str, end: str
) -> None:
    """Sign, thousands, marks, currency and units, each with each."""
    sign = "-" if negative and before not in ("$", "\u662f") else ""
    written = f"{before}{sign}{number:,}" if grouped else f"{before}{sign}{number}"
    text = f"{written}{_CLOSING.get(before, '')}{unit}{end}"
    assert last_number(text) == Decimal(f"{sign}{number}"), text


@given(st.integers(5, 999), st.sampled_from(_BEFORE), st.sampled_from(_SPOILING), st.sampled_from(_SPOILED))
def test_what_makes_another_number_of_it_is_refused(number: int, before: str, behind: str, form: str) -> None:
    """Behind it, before it, or around it; no other number is read instead."""
    assume(number != 41)  # `41 or 41` is 41
    if (before, behind) != ("#### ", "#"):  # a heading of Markdown may end with such signs
        assert last_number(f"{before}{number}{behind}") is None
    assert last_number(form.format(number)) is None
    assert last_number(f"It is {form.format(number)}") is None


@given(st.text(alphabet="4 2.,-+*/()[]{}$%^_#<>=\\kbnorx\n\u2212\u00bd\u00b0", max_size=40))
def test_a_final_number_of_any_text_is_found_in_it(text: str) -> None:
    """Or there is none; it never raises."""
    number = last_number(text)
    assert number is None or str(abs(number)).lstrip("0") in re.sub(r"[,\\{}]", "", text) or number == 0


@pytest.mark.parametrize("between", ["\\,", ",\\!", "\\!", "{,}", ",\\,", "{\\,}", ",{}"])
@pytest.mark.parametrize(
    "form", ["{}", "${}$", "\\boxed{{{}}}", "\\boxed{{{}\\,\\text{{m}}}}", "so\\; {}\\ m", "#### {}"]
)
def test_thousands_are_read_as_latex_writes_them(between: str, form: str) -> None:
    """Never as the digits behind the last mark alone."""
    assert last_number(form.format(f"10{between}080")) == 10_080
    assert last_number(form.format(f"1{between}000{between}000")) == 1_000_000


@pytest.mark.parametrize("between", ["\\;", "\\:", "\\ ", "~", "{ }", "{}"])
def test_digits_apart_are_no_number(between: str) -> None:
    """Behind a space that is none between thousands."""
    assert last_number(f"10{between}080") is None


@pytest.mark.parametrize(
    "text",
    [
        "\\underline{42}", "\\mathit{42}", "\\color{red}{42}", "\\boxed{\\textcolor{blue}{42}}",
        "\\fcolorbox{a}{b}{42}",
        "**Answer:** 42", "| Total | 42 |", "---\n42", "So it rose by 20%\n42", "It is:\n\n**42**", "- **42**",
        "forty-two (42)", "\\text{Answer: }\\boxed{42}", "1. (42)", "6 \u00d7 7 = (42)", "It was not.\n42", "41\n42",
        "It doubled: 42", "Twice that is 42", "He did it twice.\n42", "twice, so 42", "a total of 42",
        "it doubles to 42", "half the apples: 42", "the number of thirds is 42",
    ],
)  # fmt: skip
def test_marks_around_a_number_leave_it_what_it_is(text: str) -> None:
    """And so does what the line above ends with, unless it computes or denies."""
    assert last_number(text) == 42


@pytest.mark.parametrize(
    "text",
    [
        "42 times", "He refills it 42 times.", "**42 times**", "\\boxed{42\\text{ times}}", "#### 42 times",
        "She has 42 times as many", "42 times more", "42 times a day", "42 times per week", "42 times in total.",
    ],
)  # fmt: skip
def test_times_may_be_a_unit(text: str) -> None:
    """Where they answer how often, or how many as much; a product they are elsewhere."""
    assert last_number(text) == 42
    for operand in ("x", "seven", "itself", "(x + 1)", "\\pi"):
        product = text.replace("42 times", f"42 times {operand}").replace("{ times}", f"{{ times }} {operand} ")
        assert last_number(product) is None, product


@pytest.mark.parametrize("text", [
    "She bought 42 T-shirts.", "The film ends at 42 p.m.", "It ends at 42 P.M.", "at 42 o'clock", "at 42 o\u2019clock",
    "42 U.S. dollars", "42 e-books", "\\boxed{42 \\text{ T-shirts}}", "#### 42 T-shirts", "#### 42 p.m.",
])  # fmt: skip
def test_a_unit_may_begin_with_one_letter(text: str) -> None:
    """That is joined to more of the word; a letter by itself is a variable."""
    assert last_number(text) == 42
    assert last_number("2x = 84, that is 42 x") is last_number("42 t-3 days") is None


@pytest.mark.parametrize("dash", ["-", "\u2013"])
@pytest.mark.parametrize("before", ["Answer", "**Answer**", "Final answer", "Total cost"])
def test_a_dash_behind_a_word_is_no_minus(before: str, dash: str) -> None:
    """It has spaces around it, and no verb before it."""
    assert last_number(f"{before} {dash} 42") == last_number(f"{before} {dash} $42.") == 42
    assert last_number(f"{before}: {dash}42") == last_number(f"The change is {dash} 42") == -42
    assert last_number(f"100 {dash} 42") is None


@pytest.mark.parametrize(
    "text",
    [
        "x = {} \u220e",
        "x = {}. \u220e",
        "x = {} $\\blacksquare$",
        "x = {} \\quad \\square",
        "{} \\qed",
        "\\framebox{{{}}}",
    ],
)
def test_the_end_of_a_proof_is_no_operator(text: str) -> None:
    """Some answers end with its sign; a frame is as good as a box."""
    assert last_number(text.format(42)) == 42
    assert last_number(text.format("2 * 42")) is None


def test_a_negative_number_of_any_length_is_what_it_is() -> None:
    """It is neither rounded nor too long to be one."""
    assert last_number("-" + "1" * 40 + "2") != last_number("-" + "1" * 40 + "3")
    longest = last_number("-" + "9" * 1_000_001)
    assert longest is not None
    assert longest < 0
