# ruff: noqa: E501 (a table)
r"""What stands around a box: `math_v1` reads the formula that it is a part of, and what is denied or struck out not."""

from __future__ import annotations

import pytest

from harena.training.data.prompts import PromptRow
from harena.training.rewards.rules import boxed_answer

COMPUTED = [
    r"-\boxed{5}", r"2\boxed{5}", r"\sqrt{\boxed{5}}", r"\frac{1}{\boxed{5}}", r"\frac{\boxed{5}}{2}", r"10^{\boxed{5}}",
    r"\boxed{5}^2", r"\boxed{5} + 1", r"1 - \boxed{5}", r"\boxed{5}x", r"\boxed{5}i", r"\boxed{5}/2", r"\boxed{5}\cdot 2",
    r"\boxed{5} \times 10^3", r"\boxed{5} million", r"\boxed{5}\pi", r"x_\boxed{5}", r"3 \cdot \boxed{5}", r"x - \boxed{5}",
]  # fmt: skip
DENIED = [
    r"\boxed{5} is wrong.", r"\boxed{5}? No.", r"\boxed{5} is not the answer; I do not know.", r"It is false that \boxed{5}.",
    r"It would be wrong to say $\boxed{5}$.", r"~~\boxed{5}~~", r"\sout{\boxed{5}} forty", r"\boxed{5} isn't right.",
    "Either \\boxed{5}.\nOr \\boxed{6}.", r"not \boxed{5}",
]  # fmt: skip
SAID = [
    r"\boxed{5}", r"$\boxed{5}$", r"\[\boxed{5}\]", r"**\boxed{5}**", r"*\boxed{5}* (see above)", r"_\boxed{5}_", r"- \boxed{5}",
    "The answer - \\boxed{5} - is small.", r"\text{Answer: }\boxed{5}", r"\(x=\boxed{5}\)", r"\boxed{5}^\circ", r"\boxed{5}\%",
    r"\boxed{5} \text{ cm}", r"\boxed{5} - a nice number", r"\boxed{5}, which is not 6.", r"Not \boxed{4} but \boxed{5}.",
    r"\cancel{\boxed{4}} \boxed{5}", "\u7b54\u6848\u662f\\boxed{5}", r"(A) \boxed{5}", r"{\boxed{5}}", r"\textbf{\boxed{5}}",
    r"\boxed{4} is wrong. \boxed{5}", r"$$\displaystyle\boxed{5}$$", "1. Add.\n2. \\boxed{5}", r"\boxed{5}!", r"\boxed{5}.",
]  # fmt: skip


def paid(expected: str, said: str) -> float:
    """What the recipe pays."""
    value = boxed_answer().decide(PromptRow(id="1", prompt="q", expected_output=expected), said)
    assert isinstance(value, float)
    return value


@pytest.mark.parametrize("said", COMPUTED)
def test_a_box_that_its_formula_computes_with_is_not_the_answer(said: str) -> None:
    assert (paid("5", said), paid("5", f"So ${said}$.")) == (0.0, 0.0)


@pytest.mark.parametrize("said", DENIED)
def test_what_is_denied_struck_out_or_left_open_is_no_answer(said: str) -> None:
    assert paid("5", said) == 0.0


@pytest.mark.parametrize("said", SAID)
def test_what_leaves_a_box_what_it_is_is_read_past(said: str) -> None:
    assert paid("5", said) == 1.0


@pytest.mark.parametrize(
    ("expected", "said"),
    [("-5", r"-\boxed{5}"), (r"5\pi", r"\boxed{5}\pi"), ("10^5", r"10^{\boxed{5}}"), ("25", r"$x = \boxed{5}^2$"), ("-5", r"x = -\boxed{5}.")],
)  # fmt: skip
def test_the_formula_is_the_answer(expected: str, said: str) -> None:
    assert paid(expected, said) == 1.0
