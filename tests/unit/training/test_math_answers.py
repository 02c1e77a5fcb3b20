# ruff: noqa: E501 (a table)
r"""What `math_v1` takes for the same answer: right ones in the forms that models write, and wrong ones beside them."""

from __future__ import annotations

import pytest

from harena.training.data.prompts import PromptRow
from harena.training.rewards import reward_recipe
from harena.training.rewards.boxed import last_box, same_answer

SAME = [
    # fractions, decimals, integers
    (r"\frac{1}{2}", r"\dfrac{1}{2}"), (r"\frac{1}{2}", r"\tfrac12"), (r"\frac{1}{2}", r"\frac12"), (r"\frac{1}{2}", "1/2"),
    (r"\frac{1}{2}", "0.5"), (r"\frac{1}{2}", ".5"), ("0.5", r"\frac12"), (r"-\frac{3}{4}", r"\frac{-3}{4}"), (r"-\frac34", "-3/4"),
    (r"-\frac{3}{4}", r"\frac{3}{-4}"), (r"\frac{3}{2}", r"1\frac{1}{2}"), (r"\frac{3}{2}", "1.5"), (r"\frac{6}{4}", r"\frac32"), ("5", "5.0"), ("5", "5."),
    ("5", "+5"), ("-5", "\u22125"), ("-5", "- 5"), ("5", "05"), (r"\frac{1}{2}", r"{\frac{1}{2}}"), (r"\frac{17}{21}", "\\frac {17} {21}"),
    # thousands
    ("1000", "1,000"), ("1,000,000", "1000000"), ("32348", r"32{,}348"), ("32348", r"32\,348"), ("32,348", r"\$32,348"), ("12345", "12 345"),
    ("1,234.5", "1234.5"),
    # what only says how it looks
    ("5", r"\text{5}"), ("5", r"\mathbf{5}"), ("5", "$5$"), ("5", r"\(5\)"), ("(1,2)", r"\left(1,2\right)"), ("(1,2)", r"\left( 1, \, 2 \right)"),
    (r"2\pi", r"2\,\pi"), ("x+1", r"\displaystyle x + 1"), (r"\frac{1}{2}", r"\displaystyle\frac{1}{2}"), ("3", r"{3}"), (r"\{1,2\}", r"\left\{ 1,2 \right\}"),
    ("x^2", "x^{2}"), (r"\sqrt{2}", r"\sqrt2"), (r"\sqrt{2}", "\u221a2"), (r"\sqrt{2}", "sqrt(2)"), (r"2\pi", "2\u03c0"), (r"2\pi", "2pi"),
    # units, text, percent, degrees, money
    (r"5\text{ cm}", "5"), ("5", r"5\text{ cm}"), ("5", "5 cm"), ("5", r"5\,\text{cm}^2"), ("5", r"5\ \mathrm{m/s}"), ("5", r"5\text{ m}"), ("12", "12 inches"), ("12", r"12 \text{ square units}"),
    (r"\frac{1}{2}\text{ hours}", r"\frac12"), ("10", r"10\text{ dollars}"), ("10", r"\$10"), (r"\$10.50", "10.5"), ("50", r"50\%"), (r"50\%", "50"), (r"50\%", "0.5"), ("0.5", r"50\%"), (r"50\%", r"\frac12"),
    ("90", r"90^\circ"), (r"90^{\circ}", "90"), ("90", "90\u00b0"), ("90", r"90\text{ degrees}"), ("90", r"90\degree"), ("3", "3 hours"), ("60", "60 miles per hour"), ("7", r"7\text{ apples}"),
    # names before it, equations
    ("5", "x=5"), ("x=5", "5"), ("5", "x = 5"), ("x=5", "x=5"), ("y=2x+3", "2x+3"), ("y=2x+3", "y = 3 + 2x"), ("2x+3", "f(x)=2x+3"), ("(0,1)", r"x\in(0,1)"), ("x^2+y^2=4", "y^2+x^2=4"), ("x^2+y^2=4", "4=x^2+y^2"),
    # roots, constants
    (r"\frac{\sqrt{3}}{2}", r"\sqrt{3}/2"), (r"\frac{\sqrt{3}}{2}", r"\frac12\sqrt3"), (r"\frac{\sqrt{2}}{2}", r"\frac{1}{\sqrt{2}}"), (r"2\sqrt{2}", r"\sqrt{8}"), (r"2\sqrt{3}", r"2\cdot\sqrt{3}"),
    (r"2\sqrt{3}", r"\sqrt{3}\cdot 2"), (r"\frac{2\pi}{3}", r"\frac{2}{3}\pi"), (r"\frac{2\pi}{3}", r"2\pi/3"), (r"\sqrt[3]{2}", r"2^{1/3}"), (r"\frac{1+\sqrt{5}}{2}", r"\frac{\sqrt{5}+1}{2}"),
    (r"\frac{1+\sqrt{5}}{2}", r"\frac{1}{2}+\frac{\sqrt5}{2}"), (r"1+\sqrt{2}", r"\sqrt{2}+1"), (r"-2+\sqrt{7}", r"\sqrt{7}-2"), ("3+2i", "2i+3"), ("3-i", "-i+3"), (r"e^2", "e^{2}"), (r"\ln 2", r"\ln(2)"), (r"\log_2 3", r"\log_{2}{3}"),
    ("1024", "2^{10}"), (r"3\times10^5", "300000"), ("300000", r"3 \times 10^{5}"), ("2^{10}", "1024"), ("0.001", r"10^{-3}"),
    # formulas
    ("x^2+1", "1+x^2"), ("(x-1)(x+1)", "(x+1)(x-1)"), ("(x-1)(x+1)", r"(x+1)\cdot(x-1)"), ("2(x+1)^2", "2(1+x)^2"), ("xy", "yx"), ("2xy", r"2x \cdot y"), (r"\frac{x+1}{2}", "(x+1)/2"), (r"\frac{x}{2}", r"\frac12x"),
    (r"\frac{1}{x}", "1/x"), (r"\frac{1}{x}", "x^{-1}"), ("-x+1", "1-x"), ("-(x-1)", "1-x"), (r"\sin\theta", r"\sin(\theta)"), (r"\sin^2 x", r"(\sin x)^2"), ("a_1+a_2", "a_2+a_1"), ("a_{1}", "a_1"), (r"\frac{a}{b}", "a/b"), ("n!", "n!"),
    (r"\binom{n}{2}", r"\binom{n}{2}"),
    # lists, sets, plus and minus
    ("1,2,3", "1, 2, 3"), ("1,2,3", "3,2,1"), ("1,2", r"1 \text{ and } 2"), ("1,2", "1 and 2"), ("1,2", r"1\text{ or }2"), ("1, 2", r"\{1,2\}"), (r"\{1,2\}", r"\{2,1\}"), ("-1,1", r"\pm 1"), (r"\pm1", "1,-1"), ("-2, 2", r"x=\pm 2"),
    (r"2\pm\sqrt{3}", r"2+\sqrt{3}, 2-\sqrt{3}"), (r"\frac{1\pm\sqrt5}{2}", r"\frac{1+\sqrt5}{2},\frac{1-\sqrt5}{2}"), (r"1,\frac{1}{2}", r"0.5,1"), (r"\emptyset", r"\varnothing"),
    # tuples, intervals, unions
    ("(1,2)", "(1, 2)"), ("(1,2)", "1,2"), (r"\left(\frac12,3\right)", "(0.5,3)"), ("[0,1)", r"\left[0,1\right)"), (r"(1,\infty)", r"(1,+\infty)"), (r"(1,\infty)", "(1,\u221e)"), (r"(-\infty,1)\cup(2,\infty)", r"(2,\infty)\cup(-\infty,1)"), (r"(1,2) \cup [3,4]", "(1,2)\u222a[3,4]"),
    ("(1,2),(3,4)", "(3,4), (1,2)"), (r"\left(3, \frac{\pi}{2}\right)", r"(3,\pi/2)"), ("(-1,2)", "(\u22121,2)"), ("(1,-2,0)", "(1,-2,0)"), ("x>3", "x > 3"), (r"x\leq 3", r"x \le 3"), (r"x\ge3", "x\u22653"),
    # matrices
    (r"\begin{pmatrix}1&2\\3&4\end{pmatrix}", r"\begin{bmatrix} 1 & 2 \\ 3 & 4 \end{bmatrix}"), (r"\begin{pmatrix} 1/2 \\ 3 \end{pmatrix}", r"\begin{pmatrix} \frac12 \\ 3 \end{pmatrix}"),
    # words, choices, bases
    (r"\text{Evelyn}", "Evelyn"), ("Evelyn", r"\text{evelyn}"), (r"\text{(B)}", "B"), ("B", "(B)"), (r"\textbf{(B)}", r"\text{B}"), (r"\text{even}", r"\text{Even}"), (r"\text{No solution}", "no solution"), ("2516_8", "2516_{8}"), ("2516_8", "2516"), ("4:30", "4:30"), (r"\text{A, B}", "A, B"),
    ("1,2", r"x = 1 \text{ or } x = 2"), ("1,2", "x=1, x=2"), (r"\frac{3}{4}", r"\frac{3}{4}."), ("16", r"16\text{ cubic inches}"), (r"\frac{1}{2}", r"\left(\frac{1}{2}\right)"), (r"x^{2}+2x+1", r"x^2 + 2 x + 1"), ("6", r"6 \mbox{ cm}^2"),
    (r"\frac{\pi}{6}", r"\pi/6"), (r"-\frac{\pi}{6}", r"\frac{-\pi}{6}"), (r"\sqrt{13}", r"\sqrt{13}\text{ units}"), (r"11\sqrt{2}", r"11 \sqrt {2}"), (r"\frac{9}{7}", r"\cfrac{9}{7}"), ("0", "-0"), (r"3 \sqrt{13}", r"3\sqrt{13}"), (r"\text{east}", "East"), ("p - q", "p-q"), ("-50", "-50.0"), (r"\frac{3840289}{1}", "3840289"),
]  # fmt: skip
OTHER = [
    ("5", "6"), ("5", "-5"), ("5", "55"), (r"\frac12", r"\frac13"), (r"\frac12", r"\frac21"), ("0.5", "0.51"), (r"\frac13", "0.33"), ("0.33", r"\frac13"), ("1000", "1,00"), ("1000", "1001"),
    ("5", ""), ("5", r"\text{}"), ("5", r"5\text{ or }6"), ("5", "5,6"), ("5", "5, 5"), ("5", r"\{5,6\}"), ("1,2", "1"), ("1,2", "1,2,3"), ("1,2,2", "1,2"), ("5", r"1 \text{ or } 2 \text{ or } 3 \text{ or } 4 \text{ or } 5"), ("5", r"\pm 5"), (r"\pm5", "5"),
    ("5", "5x"), ("5", "x"), ("5", "?"), ("5", r"\text{five hundred}"), ("x", "y"), ("2x", "2y"), ("x=5", "y=5"), ("y=2x+3", "y=3x+2"), ("x+1", "x-1"), (r"\sqrt2", "1.414"), (r"\pi", "3.14"), (r"2\pi", r"\pi"), ("3+2i", "3-2i"),
    # the task itself
    ("405", r"3^4 \cdot 5"), ("5", "2+3"), ("6", r"2\cdot 3"), ("120", "5!"), ("7x", "3x+4x"), ("(x-1)(x+1)", "x^2-1"), ("x^2-1", "(x-1)(x+1)"), ("x^2+2x+1", "(x+1)^2"), (r"8\sqrt{2}", r"\sqrt{50}+\sqrt{18}"), ("2(x+1)", "2x+2"), ("0", "1-1"), ("1", "x/x"), ("x", r"\frac{x^2}{x}"),
    ("45", "1+2+3+4+5+6+7+8+9"), ("(x-1)(x+1)(x^2+1)", "(x^2-1)(x^2+1)"), (r"\frac{\sqrt3}{2}", r"\sin 60"), ("4", "|-4|"), (r"\frac{1}{2}", r"\sin(\frac{\pi}{6})"), ("7", r"\sqrt{49}+0"), ("3", r"\log_2 8"), ("1", r"\sin^2 x+\cos^2 x"),
    # tuples and sets
    ("(1,2)", "(2,1)"), ("(1,2)", "[1,2]"), ("(1,2)", "(1,2]"), ("[0,1)", "(0,1)"), (r"(1,\infty)", r"(-\infty,1)"), (r"(1,2)\cup(3,4)", "(1,2)"), ("(1,2)", "(1,2,3)"), ("(1,2)", "2,1"), (r"\{1,2\}", r"\{1\}"), ("(1,2),(3,4)", "(1,2)"), ("x>3", "x<3"), ("x>3", r"x\ge 3"), ("x>3", "3"),
    (r"\begin{pmatrix}1&2\\3&4\end{pmatrix}", r"\begin{pmatrix}1&3\\2&4\end{pmatrix}"), (r"\begin{pmatrix}1\\2\end{pmatrix}", r"\begin{pmatrix}1&2\end{pmatrix}"), (r"\begin{vmatrix}1&2\\3&4\end{vmatrix}", r"\begin{pmatrix}1&2\\3&4\end{pmatrix}"),
    ("B", "A"), ("B", "A, B, C, D"), ("Evelyn", "nylevE"), ("Evelyn", "Evelyn or Bob"), (r"\text{even}", r"\text{odd}"), (r"\text{Yes}", r"\text{No}"), ("2516_8", "2516_7"), ("2516_8", "2517"), ("4:30", "4:31"), ("50", "0.5"), (r"5\%", "5.1"), (r"\frac{x}{2}", r"\frac{2}{x}"), ("x^2", "x^3"), ("x^2", "x"), (r"\sqrt{2}", "2"), (r"\sqrt[3]{2}", r"\sqrt{2}"),
    (r"\text{no solution}", "0"), ("10^{9}", "10^{10}"), ("-2+\\sqrt{7}", "2-\\sqrt{7}"), ("3", "3^{1000000}"), ("a_1", "a_2"), ("abc", "ab"), ("5", "\\boxed{}"), ("12", "1 2"), ("100", "1 00"),
    ("5", r"5\text{ million}"), ("5", r"5\text{ dozen}"), ("5", "5 thousand"), ("5", r"\text{not }5"), ("5", r"x\ne 5"), ("5", r"\cancel{4}5"), ("2", r"\boxed{1},\boxed{2}"), ("0", r"0\cdot 5"), ("5", "4.9999999999"), ("5", "5^1^1"), ("5", "5!"), ("1", r"\frac{0}{0}"), ("5", r"1,2,3,4,5,6"), ("5", r"[1,10]"), ("5", r"5\in\{1,2\}"), ("5", "5>4"), ("5", r"\overline{5}"),
]  # fmt: skip


@pytest.mark.parametrize(("wanted", "said"), SAME)
def test_an_answer_in_another_usual_form_is_the_same(wanted: str, said: str) -> None:
    assert same_answer(wanted, said)


@pytest.mark.parametrize(("wanted", "said"), OTHER)
def test_another_answer_is_not(wanted: str, said: str) -> None:
    assert not same_answer(wanted, said)


@pytest.mark.parametrize(
    ("text", "box"),
    [
        (r"So it is \boxed{5}.", "5"),
        (r"$\boxed{\frac{1}{2}}$", r"\frac{1}{2}"),
        (r"\boxed{\{1, 2\}}", r"\{1, 2\}"),
        (r"\boxed 5", "5"),
        (r"\fbox{5}", "5"),
        ("First \\boxed{3}.\nThen \\boxed{4}.", "4"),
        (r"First $\boxed{3}$. Then $\boxed{4}$.", "4"),
        (r"\boxed{4}, that is \boxed{4.0}", "4.0"),
        (r"\boxed{1} and \boxed{2}", "1, 2"),
        (r"\boxed{1}\boxed{2}\boxed{3}", "1, 2, 3"),
        (r"\boxed{5} (in \boxed{} as asked)", "5"),
        (r"\boxed{5", None),
        ("5", None),
        (r"\boxed{}", None),
        (r"\boxedx{5}", None),
    ],
)
def test_what_the_last_box_says(text: str, box: str | None) -> None:
    assert last_box(text) == box


@pytest.mark.parametrize(
    ("expected", "said", "value"),
    [
        (r"\frac12", r"<think>\boxed{3}</think>It is \boxed{0.5}.", 1.0),
        (r"\frac12", r"<think>It is \boxed{0.5}", 0.0),
        (r"\frac12", r"It is 0.5.", 0.0),
        (r"We add, so it is $\boxed{\frac12}$.", r"\boxed{1/2}", 1.0),
        ("2", r"\boxed{1} or \boxed{2}", 0.0),
        ("2", "\\boxed{2}\n\\boxed{1}", 0.0),
        ("1,2", r"The solutions are \boxed{1} and \boxed{2}.", 1.0),
    ],
)
async def test_the_recipe_reads_the_last_box(expected: str, said: str, value: float) -> None:
    row = PromptRow(id="r", prompt="?", expected_output=expected)
    assert (await reward_recipe("math_v1", {}).reward(row, said)).value == value


@pytest.mark.parametrize(
    "said",
    ["(" * 900, "{" * 900, "\\frac" * 150, "1" + "a" * 900, "1,2" * 300, "9" * 900, "9^" * 300 + "9", "-" * 900, "1!" + "!" * 400,
     "\\{" * 300, "\\sqrt" * 150 + "2", "1\\text{" + "and " * 200 + "}", "x_" * 300, "|" * 500, "((1,2)," * 100, "2^{9999999999}", "\x01" * 500, "1" + "a" * 990 + "!", "1 " + "metermeter" * 99, "1" + " cm" * 330],
)  # fmt: skip
def test_hostile_answers_end(said: str) -> None:
    assert not same_answer("5", said)
    assert same_answer(said, said) or not said.strip()
    last_box("\\boxed{" * 100 + said + "}" * 3)
