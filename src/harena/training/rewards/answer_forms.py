r"""Forms of one answer that `math_v1` reads as the usual one: what a command only colours, `x < 2` as an interval,
`f(3) = -4` as its last side, and units that cannot be meant both."""

from __future__ import annotations

import re
from collections.abc import Callable

from harena.scoring.formats.final_number import NO_UNITS
from harena.training.rewards.maths import (
    FUNCTION_NAMES,
    FormulaError,
    Node,
    equal_values,
    names,
    parsed,
    products,
    to_compute,
    value_of,
)
from harena.training.rewards.units import is_thing, other_measure

_SAID = "\x01"
"""before words of a text, as in `boxed`"""


def _half_of_day(found: re.Match[str]) -> str:
    return f"{found[1]}{found[2].lower()}m"


_USUAL: tuple[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]], ...] = tuple(
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
        (r"\\(?:[vV]ert(?![A-Za-z])|\|)", "|"),
        (r"\\(?:bf|rm|it|tt|sf|em|bfseries)(?![A-Za-z])(?![ ]*\{)", " "),
        (r"\\[hv]space\*?\{[^{}]{0,20}\}|\\hfill(?![A-Za-z])|^[ ]*\\therefore(?![A-Za-z])", " "),
        (r"\\(?:blacksquare|square|Box|qed)(?![A-Za-z])[ ]*$", " "),
        (r"\\(?:mathbf|mathrm|mathsf|mathtt|boldsymbol|bm|emph|texttt)[ ]*\{(?=[^{}]*\{)", "{"),
        (r"\\(?:nice|s|x)frac(?![A-Za-z])", r"\\frac"),
        (r"^\{?([^{}\\]{1,40})\}?[ ]*\\over(?![A-Za-z])[ ]*\{?([^{}\\]{1,40})\}?$", r"\\frac{\1}{\2}"),
        (r"\{([^{}\\]{1,40})\\over(?![A-Za-z])([^{}]{1,40})\}", r"\\frac{\1}{\2}"),
        (r"(?<![\^_A-Za-z])\{([-+])\}", r"\1"),
        (r"\\text\{[ ]*\([ ]*mod[ ]*(\d{1,40})[ ]*\)[ ]*\}", r"\\pmod{\1}"),
        (r"\\mod(?![A-Za-z])[ ]*\{?[ ]*(\d{1,40})[ ]*\}?", r"\\pmod{\1}"),
        (r"\\pmod[ ]*\{?[ ]*(\d{1,40})[ ]*\}?", r"\\pmod{\1}"),
        (r"(?<=\.)(\d{0,20})\\(?:bar|dot|overline)[ ]*(?:\{(\d{1,20})\}|(\d))", r"\1\\overline{\2\3}"),
        (r"\\imath(?![A-Za-z])", "i"),
        (r"(?<![A-Za-z\\_{])i[ ]?(\d{1,20})(?![\d.^])", r"\1i"),
        (r"\\[bx]?cancel\{[ ]*\\(?:text|mathrm)\{[^{}]{0,30}\}[ ]*\}[ ]*$", " "),
        (r"\\colon(?![A-Za-z])|:(?==)", ":"),
        (r":=", "="),
        (r"\\text\{[ ]*(?:Rs|INR)\.?[ ]*\}", " "),
        (r"(?<=\d)((?:[ ]|\\[ ,;]|\\text\{|\}){0,6})([aApP])\.?[ ]?[mM]\b\.?(?=\}?$)", _half_of_day),
        (r"(?<=[\w}])[ ]*\\q?quad[ ]*(?=[a-z][ ]*=)", ", "),
        (r"\](-?[^][(),]{1,40}),([^][(),]{1,40})\[", r"(\1,\2)"),
    )
)
_OF_PROGRAMS = re.compile(r"([-+]?\d{1,40}(?:\.\d{0,40})?)[eE]([-+]?\d{1,3})")
_WITH_EULER = re.compile(r"[-+]?\d+e[-+]\d")
_ANSWER = re.compile(
    rf"^{_SAID}[ ]*(?:the[ ]+)?(?:final[ ]+)?answer(?:[ ]+is)?[ ]*[:=]?[ {_SAID}]*(?=.)", re.IGNORECASE
)
_ABOUT = re.compile(rf"^{_SAID}[ ]*(?:approximately|approx\.?|about|roughly)[ {_SAID}]*(?=[\d\\-])", re.IGNORECASE)
_TITLE = re.compile(rf"^{_SAID}[ ]*([A-Za-z][A-Za-z ]{{2,30}})[ ]?:[ {_SAID}]*(?=[\d\\(-])")
_UNITS_OF_TEXT = re.compile(rf"\\frac\{{[ ]*{_SAID}([^{{}}{_SAID}]*)\}}[ ]*\{{[ ]*{_SAID}([^{{}}{_SAID}]*)\}}")
_RELATION = re.compile(r"(<=|>=|<|>|\\le(?![A-Za-z])|\\ge(?![A-Za-z]))")
_OTHER_RELATION = re.compile(
    r"[<>?]|\\(?:le|ge|ne|in|notin|to|implies|Rightarrow|rightarrow|iff|neq|sim|equiv|pmod|bmod|mod)(?![A-Za-z])"
)
_BUILDER = re.compile(
    r"^\\\{[ ]*([a-z])[ ]*(?:\\in[ ]*\(-\\infty,\\infty\)[ ]*)?(?:\\mid(?![A-Za-z])|:|\|)(.*)\\\}$", re.DOTALL
)
_VARIABLE = re.compile(r"[ ]*(?:[a-zA-Z]|\\(?:theta|alpha|beta|lambda))(?:_\{?\w\}?)?[ ]*")
_OR = re.compile(rf"[ ]*,?[ {_SAID}]*(?<![A-Za-z\\])or(?![A-Za-z])[ ]*|[ ]*\\(?:cup|lor|vee)(?![A-Za-z])[ ]*")
_CALL = re.compile(
    r"(?<![A-Za-z\\])(?:\\?[A-Za-z]{1,12}|\([a-z][ ]*\\circ[ ]*[a-z]\))"
    r"[ ]*'{0,3}(?:\^\{[ ]*-1[ ]*\})?'{0,3}[ ]*\([^()]*\)"
    r"|_(?:\{[^{}]*\}|\w)|\[[A-Z]{3,8}\]"
)
"""a function of something, an index, and the area of a figure"""
_COMPUTED = re.compile(
    r"\\(?:lim|int|iint|sum|prod|lfloor|lceil|sup|inf|gcd|lcm|max|min|det|deg|dim|sin|cos|tan)(?![A-Za-z])"
)
_QUANTITY = re.compile(rf"[\w\\{{}}()\[\]^_+*/|.,<>&! '{_SAID}=-]+")
"""what a limit, an integral, a sum, and what is rounded, are written with"""
_CONGRUENCE = re.compile(
    r"^(?:([^=\\]{1,40}|\\[a-z]{1,10})\\equiv)?[ ]*(\d{1,40})[ ]*\(?\\pmod[ ]*\{?[ ]*(\d{1,40})[ ]*\}?\)?$"
)
_NAME = re.compile(
    rf"(?:[A-Za-z{_SAID} |+'().-]"
    r"|\\(?:angle|triangle|overline|operatorname|sin|cos|tan|det|arg|gcd|lcm|max|min|theta|alpha|beta|gamma|phi|cdot|vec|hat|rank)"
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


def with_exponent(text: str, *, is_wanted: bool) -> str | None:
    r"""A number as programs write it, as a power of ten: `1.2e-5` is `1.2\times 10^{-5}`; None = it is none. With
    `is_wanted` it is none either where it is a plain formula with Euler's number, too (`2e-1`), of another value."""
    found = _OF_PROGRAMS.fullmatch(text)
    if found is None or (is_wanted and _WITH_EULER.fullmatch(text)):
        return None
    return f"{found[1]}\\times 10^{{{int(found[2])}}}"


def without_preface(text: str) -> str:
    """The text without `The answer is`, or `\\approx`, in front; a quotient of units is one unit."""
    text = _UNITS_OF_TEXT.sub(rf" {_SAID}\1/\2 ", text)
    text = _ABOUT.sub("", _ANSWER.sub("", text)).removeprefix("\\approx").strip()
    titled = _TITLE.match(text)
    return text[titled.end() :] if titled is not None and is_thing(titled[1]) else text


def other_units(one: str, other: str) -> bool:
    """Whether both name a unit of one kind, and not the same: hours and minutes."""
    for family in _UNIT_PATTERNS:
        named = [{place for place, pattern in enumerate(family) if pattern.search(text)} for text in (one, other)]
        if all(named) and named[0].isdisjoint(named[1]):
            return True
    return other_measure(one, other)


def last_side(said: str) -> str | None:
    r"""What `f(3) = -4`, `\frac{6}{36} = \frac16` and `\frac13 \approx 0.33` come to: what stands behind the name of
    a quantity, or the least to compute of sides that are worth the same, before what is about the same. None = it is
    none of these."""
    exact, *near = (part.strip() for part in said.split("\\approx"))
    *sides, last = (side.strip() for side in _sides(exact))
    if _OTHER_RELATION.search(last if len(sides) == 1 and _is_computed(sides[0]) else said):
        return None
    bare = last.lstrip(f" {_SAID}").partition(_SAID)[0].strip()
    if not (sides or near) or not last or not all(_is_name(side) or _are_equal(side, bare) for side in sides):
        return None
    if _number(bare) and bare == last.lstrip(f" {_SAID}"):
        worth = [(node, side) for side in (*sides, bare) if (node := _number(side)) and _are_equal(side, bare)]
        last = min(reversed(worth), key=lambda found: to_compute(found[0]))[1]
    return last if all(_is_near(last, part) for part in near) else None


def residue(said: str) -> str:
    r"""The number in `x \\equiv 5 \\pmod 7`, where it is the least one of its class; all of it where it is not."""
    found = _CONGRUENCE.match(said)
    if found is None or int(found[2]) >= int(found[3]) or (found[1] and not _is_name(found[1].strip())):
        return said
    return found[2]


def _sides(text: str) -> list[str]:
    """Sides of an equation, between signs that stand in no brackets."""
    sides, depth, at = [], 0, 0
    for place, sign in enumerate(text):
        depth += (sign in "([{") - (sign in ")]}")
        if sign == "=" and depth <= 0:
            sides.append(text[at:place])
            at = place + 1
    return [*sides, text[at:]]


def _is_computed(side: str) -> bool:
    """Whether it is a limit, a sum or such, of which no value is known here."""
    return len(side) <= _LONGEST_NAME and _COMPUTED.search(side) is not None and _QUANTITY.fullmatch(side) is not None


def _is_name(side: str) -> bool:
    if _is_computed(side):
        return True
    bare = _CALL.sub("a", side)
    words = re.findall(r"[A-Za-z]+", side)
    if not words or len(side) > _LONGEST_NAME or side.startswith("-"):
        return False
    if any(NO_UNITS.fullmatch(word) or word.lower() in _NO_NAMES for word in words if _is_word(word)):
        return False
    return _NAME.fullmatch(bare) is not None or _is_quantity(bare)


def _is_word(word: str) -> bool:
    return len(word) > 1 and word not in ("sin", "cos", "tan", "log", "ln")


def _is_quantity(side: str) -> bool:
    r"""Whether it is a formula of several variables, or a function of one (`x^2 + y^2`, `\cos\theta`): what is told
    is its value, and no variable's."""
    if _SAID in side or re.search(r"(?<![A-Za-z\\])[A-Za-z]{3}", side):
        return False
    try:
        node = parsed(side)
    except FormulaError:
        return False
    return len(names(node)) > 1 or (bool(names(node)) and node.kind in FUNCTION_NAMES)


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
    builder = _BUILDER.match(text)
    text = builder[2] if builder is not None else text
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


__all__ = [
    "interval_of",
    "last_side",
    "other_units",
    "residue",
    "same_curve",
    "usual_form",
    "with_exponent",
    "without_preface",
]
