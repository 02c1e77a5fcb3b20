r"""Forms of one answer that `math_v1` reads as the usual one: what a command only colours, `x < 2` as an interval,
`f(3) = -4` as its last side, and units that cannot be meant both."""

from __future__ import annotations

import re

from harena.training.rewards.final_number import NO_UNITS
from harena.training.rewards.maths import (
    FormulaError,
    Node,
    equal_values,
    names,
    parsed,
    products,
    to_compute,
    value_of,
)

_SAID = "\x01"
"""before words of a text, as in `boxed`"""
_USUAL = tuple(
    (re.compile(pattern), usual)
    for pattern, usual in (
        (r"\\(?:text)?color\{[A-Za-z0-9!]*\}[ ]*", ""),
        (r"\\(?:underline|[hH]uge|LARGE|Large|large|small|mathstrut|checkmark)(?![A-Za-z])[ ]*", " "),
        (r"\\phantom\{[^{}]*\}", ""),
        (r"\\[dt]binom(?![A-Za-z])", r"\\binom"),
        (r"\{([^{}\\]*)\\choose(?![A-Za-z])([^{}]*)\}", r"\\binom{\1}{\2}"),
        (r"\\[lr][vV]ert(?![A-Za-z])", "|"),
        (r"\\(sin|cos|tan)[ ]*\^[ ]*\{[ ]*-1[ ]*\}", r"\\arc\1 "),
        (r"\\cr(?![A-Za-z])", r"\\\\"),
        (r"\\langle(?![A-Za-z])", "("),
        (r"\\rangle(?![A-Za-z])", ")"),
        (r"\\\\\[[\d.]*[a-z]*\]", r"\\\\"),
        (r"\{:\}|\\text\{:\}|\\!:\\!", ":"),
        (r"\\mathbb(?:\{R\}|[ ]*R\b)|\\Reals(?![A-Za-z])|\u211d", r"(-\\infty,\\infty)"),
        (r"^(?:\\text\{)?[ ]*[Aa]ll real(?:s| numbers)?[ ]*\}?$", r"(-\\infty,\\infty)"),
        (r"(?<![\d.,/])(\d{1,6}) (\d{1,6})/(\d{1,6})(?![\d/])", r"\1\\frac{\2}{\3}"),
        (r"\\(?:simeq|doteq|thickapprox)(?![A-Za-z])|\u2248", r"\\approx "),
    )
)
_ANSWER = re.compile(rf"^{_SAID}[ ]*(?:the[ ]+)?(?:final[ ]+)?answer(?:[ ]+is)?[ ]*:?[ {_SAID}]*(?=.)", re.IGNORECASE)
_UNITS_OF_TEXT = re.compile(rf"\\frac\{{[ ]*{_SAID}([^{{}}{_SAID}]*)\}}[ ]*\{{[ ]*{_SAID}([^{{}}{_SAID}]*)\}}")
_RELATION = re.compile(r"(<=|>=|<|>|\\le(?![A-Za-z])|\\ge(?![A-Za-z]))")
_OTHER_RELATION = re.compile(
    r"[<>?]|\\(?:le|ge|ne|in|notin|to|implies|Rightarrow|rightarrow|iff|neq|sim|equiv|pmod|bmod|mod)(?![A-Za-z])"
)
_VARIABLE = re.compile(r"[ ]*(?:[a-zA-Z]|\\(?:theta|alpha|beta|lambda))(?:_\{?\w\}?)?[ ]*")
_OR = re.compile(rf"[ ]*,?[ {_SAID}]*(?<![A-Za-z\\])or(?![A-Za-z])[ ]*|[ ]*\\(?:cup|lor|vee)(?![A-Za-z])[ ]*")
_CALL = re.compile(r"(?<![A-Za-z\\])[A-Za-z][ ]*\([^()]*\)|_(?:\{[^{}]*\}|\w)")
_NAME = re.compile(
    rf"(?:[A-Za-z{_SAID} |+'().-]"
    r"|\\(?:angle|triangle|overline|operatorname|sin|cos|tan|det|arg|gcd|lcm|max|min|theta|alpha|beta|gamma|phi|cdot)"
    r"(?![A-Za-z])|[{}])+"
)
_NO_NAMES = frozenset({"not", "negative", "if", "let", "suppose", "half", "twice", "double", "maybe", "except"})
"""words that change what a name says, or only suppose it"""
_LONGEST_NAME = 60
_NEAR = 0.02
_UNITS = (
    (r"sec(?:ond)?s?", r"min(?:ute)?s?", r"h(?:ou)?rs?", "days?", "weeks?", "months?", "years?"),
    (
        "mm|millimet(?:er|re)s?", "cm|centimet(?:er|re)s?", "km|kilomet(?:er|re)s?",
        r"met(?:er|re)s?|(?<=[\d{])[ ]?m(?=[ }^/.]|$)", "inch(?:es)?",
        "f(?:oo|ee)?t", "y(?:ar)?ds?", "miles?",
    ),
    ("cents?", r"dollars?|\\\$"),
    (r"deg(?:ree)?s?|\\circ|\u00b0", "rad(?:ian)?s?"),
)  # fmt: skip
"""units by kind: two answers that name different ones of a kind say different things"""
_UNIT_PATTERNS = tuple(
    tuple(re.compile(rf"(?<![A-Za-z])(?:{unit})(?![A-Za-z])") for unit in family) for family in _UNITS
)


def usual_form(text: str) -> str:
    """What only says how it looks, or has a usual name, as that; before words are told from formulas."""
    for pattern, usual in _USUAL:
        text = pattern.sub(usual, text)
    return text


def without_preface(text: str) -> str:
    """The text without `The answer is`, or `\\approx`, in front; a quotient of units is one unit."""
    text = _UNITS_OF_TEXT.sub(rf" {_SAID}\1/\2 ", text)
    return _ANSWER.sub("", text).removeprefix("\\approx").strip()


def other_units(one: str, other: str) -> bool:
    """Whether both name a unit of one kind, and not the same: hours and minutes."""
    for family in _UNIT_PATTERNS:
        named = [{place for place, pattern in enumerate(family) if pattern.search(text)} for text in (one, other)]
        if all(named) and named[0].isdisjoint(named[1]):
            return True
    return False


def last_side(said: str) -> str | None:
    r"""What `f(3) = -4`, `\frac{6}{36} = \frac16` and `\frac13 \approx 0.33` come to: what stands behind the name of
    a quantity, or the least to compute of sides that are worth the same, before what is about the same. None = it is
    none of these."""
    if _OTHER_RELATION.search(said):
        return None
    exact, *near = (part.strip() for part in said.split("\\approx"))
    *sides, last = (side.strip() for side in exact.split("="))
    if not (sides or near) or not last or not all(_is_name(side) or _are_equal(side, last) for side in sides):
        return None
    worth = [(to_compute(node), place) for place, side in enumerate((*sides, last)) if (node := _number(side))]
    if worth and _number(last):
        last = (*sides, last)[min(worth, key=lambda found: (found[0], -found[1]))[1]]
    return last if all(_is_near(last, part) for part in near) else None


def _is_name(side: str) -> bool:
    bare = _CALL.sub("", side)
    words = re.findall(r"[A-Za-z]+", side)
    return (
        bool(words)
        and len(side) <= _LONGEST_NAME
        and not side.startswith("-")
        and _NAME.fullmatch(bare or "a") is not None
        and not any(NO_UNITS.fullmatch(word) or word.lower() in _NO_NAMES for word in words if len(word) > 1)
    )


def _number(text: str) -> Node | None:
    try:
        node = parsed(text)
    except FormulaError:
        return None
    return None if names(node) else node


def _are_equal(one: str, other: str) -> bool:
    nodes = [_number(text) for text in (one, other)]
    return nodes[0] is not None and nodes[1] is not None and equal_values(nodes[0], nodes[1])


def _is_near(exact: str, about: str) -> bool:
    node, near = _number(exact), _number(about)
    if node is None or near is None or to_compute(near):
        return False
    value, rounded = value_of(node), value_of(near)
    return value is not None and rounded is not None and abs(value - rounded) <= _NEAR * abs(value)


def same_curve(one: str, other: str) -> bool:
    """Whether two equations differ only by what stands on which side: `x + y - 2 = 0` and `x + y = 2`. One that is
    solved for a variable is that of a question, or its answer, and is not the same as one that is not."""
    sides = [text.split("=") for text in (one, other)]
    if any(len(pair) != 2 or any(map(_VARIABLE.fullmatch, pair)) for pair in sides):
        return False
    try:
        read = [[parsed(side.replace(_SAID, " ")) for side in pair] for pair in sides]
    except FormulaError:
        return False
    if sum(map(products, read[0])) != sum(map(products, read[1])):
        return False
    first, second = (Node("+", (left, Node("neg", (right,)))) for left, right in read)
    if equal_values(first, Node("+", (first, first))):  # it says nothing
        return False
    return equal_values(first, second) or equal_values(first, Node("neg", (second,)))


def interval_of(text: str) -> tuple[str, str] | None:
    """(The variable, the interval) of `x < 2`, of `-1 \\le x < 3`, and of several of them with `or`. None = it is no
    such thing."""
    read = [_interval(_RELATION.split(piece.replace(_SAID, " "))) for piece in _OR.split(text)]
    found = [interval for interval in read if interval is not None]
    if len(found) < len(read) or len({variable for variable, _ in found}) != 1:
        return None
    return found[0][0], "\\cup".join(interval for _, interval in found)


def _interval(parts: list[str]) -> tuple[str, str] | None:
    """(The variable, the interval)."""
    signs = ["<=" if sign in ("<=", "\\le") else ">=" if sign in (">=", "\\ge") else sign for sign in parts[1::2]]
    sides = [part.strip() for part in parts[0::2]]
    if not all(sides) or len({sign[0] for sign in signs}) != 1 or len(sides) > 3:
        return None
    if signs[0][0] == ">":
        sides, signs = sides[::-1], [sign.replace(">", "<") for sign in signs[::-1]]
    if len(sides) == 2 and _VARIABLE.fullmatch(sides[0]):
        sides, signs = ["-\\infty", *sides], ["<", *signs]
    elif len(sides) == 2:
        sides, signs = [*sides, "\\infty"], [*signs, "<"]
    if not _VARIABLE.fullmatch(sides[1]) or _VARIABLE.fullmatch(sides[0]) or _VARIABLE.fullmatch(sides[2]):
        return None
    opening, closing = "[" if signs[0] == "<=" else "(", "]" if signs[1] == "<=" else ")"
    return sides[1], f"{opening}{sides[0]},{sides[2]}{closing}"


__all__ = ["interval_of", "last_side", "other_units", "same_curve", "usual_form", "without_preface"]
