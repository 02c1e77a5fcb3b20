r"""The answer in the last `\boxed{}` of a text, and whether it says the same as another one, as `math_v1` has it.

    \boxed{\dfrac{1}{2}}    \frac12, 1/2, 0.5, \frac{1}{2}\text{ cm}
    \boxed{(1,\infty)}      \left( 1, \infty \right)
    \boxed{2 \pm \sqrt 3}   2+\sqrt{3}, 2-\sqrt{3}

Two answers are the same where they read the same once all that only says how they look is left out: sizes, spaces,
fonts, units, degrees, percent and currency signs, commas between thousands. So are lists, sets, intervals, tuples and
matrices of such; and formulas that come to the same value, where the answer is worked out as far as what is wanted: it
has as many terms and factors, and leaves no more to compute. The task itself, written down again, is no answer to it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from harena.scoring.formats.final_number import NO_UNITS
from harena.scoring.formats.number_words import SCALES, number_of_words
from harena.scoring.formats.shown_text import STRUCK
from harena.training.rewards.answer_forms import (
    interval_of,
    last_side,
    other_units,
    residue,
    same_curve,
    usual_form,
    with_exponent,
    without_preface,
)
from harena.training.rewards.choices import same_choice, value_of_choice
from harena.training.rewards.maths import (
    FormulaError,
    Node,
    equal_values,
    factors,
    is_plain,
    parsed,
    size,
    terms,
    to_compute,
)
from harena.training.rewards.units import BARE_SYMBOLS, SYMBOLS, is_unit

_SAID = "\x01"
"""before words of a text, which are no variables"""
_BOX = re.compile(r"\\(?:boxed|fbox|framebox|bbox(?:\[[^\[\]]{0,40}\])?)(?![A-Za-z])[ ]*\n?")
_OPENS = r"[ \t]*(?:\$|\\[(\[])?[ \t]*$"
_DENIED = re.compile(
    r"\b(?:not|never|isn['\u2019]t|(?:false|wrong|untrue|incorrect)[ \t]+(?:that|to[ \t]+say)(?:[ \t]+it[ \t]+is)?)"
    + _OPENS,
    re.IGNORECASE,
)
_DENIED_BEHIND = re.compile(
    r"""[ \t$*_"')\]}]*(?:\\[)\]])?[ \t*]*"""
    r"""(?:\?[ \t*]*no\b|(?:is|was|would[ \t]+be)(?:n['\u2019]t\b|[ \t]+(?:also[ \t]+)?"""
    r"""(?:wrong|false|incorrect|untrue|not[ \t]+(?:the|my|correct|right|true|possible|valid))\b))""",
    re.IGNORECASE,
)
_OR = re.compile(rf"\bor{_OPENS}", re.IGNORECASE)
_BEFORE_A_BOX, _BEHIND_A_BOX = 80, 80
_MULTIPLES = ("hundred", "thousand", "million", "billion", "trillion", "dozen")
_COMPUTES_BEFORE = re.compile(
    r"(?:\\[dtc]?frac[ ]*(?:\{[^{}\n]{0,60}\}[ ]*)?\{|\\sqrt[ ]*(?:\[[^\]\n]{0,10}\][ ]*)?\{"
    r"|(?:\^|(?<=[A-Za-z\d})])_)[ ]*\{?"
    r"|\d|(?<![A-Za-z\\])[A-Za-z]|\\(?:cdot|times|div|pm|mp)|[-+/\u2212]|(?<=[\dA-Za-z)}])[ ]*(?<!\*)\*(?!\*))$"
    r"|(?:\d|(?<![A-Za-z])[A-Za-z]|[)}])[ \t]*(?:[-+/\u2212\u00d7\u00b7]|\\(?:cdot|times|div|pm|mp))[ \t]+$"
)
"""what a box is an operand of: a factor, a sign, a root, a power"""
_COMPUTES_BEHIND = re.compile(
    r"[ \t]*(?:\^(?!\{?\\circ)|\*[\d\\]|[-+/\u2212\u00d7\u00b7][ \t]*(?:[\d\\(]|[b-zB-HJ-Z](?![A-Za-z]))"
    r"|\\(?:cdot|times|div|pm|pi|sqrt|[dtc]?frac)(?![A-Za-z]))"
    rf"|_[{{\dA-Za-z]|\d|[A-Za-z](?![A-Za-z])|[ \t]+(?:{'|'.join(_MULTIPLES)})\b"
)
_FORMULA_BEGINS = re.compile(r"\$|\\[(\[]|\n|[=:]|(?<!\\)\b[A-Za-z]{2,}[ \t]|[.,;][ \t]")
_FORMULA_ENDS = re.compile(rf"\$|\\[)\]]|\n|[.,;](?![\d])|[ \t](?!(?:{'|'.join(_MULTIPLES)})\b)[A-Za-z]{{2,}}\b")
_SENTENCE = re.compile(r"[.!?;:](?:\s|\$)|\n")
_MOST_READ = 200_000
"""characters of an answer, from its end"""
_MOST_BOXES = 64
_LONGEST_ANSWER = 1_000
_MOST_PARTS = 64
_DEEPEST = 8
_FRACTION_SIGNS = (("\u00bd", 1, 2), ("\u2153", 1, 3), ("\u2154", 2, 3), ("\u00bc", 1, 4), ("\u00be", 3, 4))
_SIGNS = str.maketrans(
    {
        **dict.fromkeys("\u2212\u2013\u2010\u2011\uff0d", "-"),
        "\u00d7": "\\times ",
        "\u00b7": "\\cdot ",
        "\u22c5": "\\cdot ",
        "\u00f7": "\\div ",
        "\u03c0": "\\pi ",
        "\u221e": "\\infty ",
        "\u00b1": "\\pm ",
        "\u222a": "\\cup ",
        "\u2264": "\\le ",
        "\u2265": "\\ge ",
        "\u2260": "\\ne ",
        "\u2208": "\\in ",
        "\u221a": "\\sqrt ",
        "\u00b0": "^\\circ ",
        "\u00b2": "^2",
        "\u00b3": "^3",
        "\u03b8": "\\theta ",
        **{sign: f"\\frac{{{above}}}{{{below}}}" for sign, above, below in _FRACTION_SIGNS},
        "\uff0c": ",",
        "\uff08": "(",
        "\uff09": ")",
        "\u00a0": " ",
        "\u202f": " ",
        "\u2009": " ",
    }
)
_LOOKS = re.compile(
    r"\\(?:left|right|middle|[bB]ig{1,2}[lrm]?|displaystyle|textstyle|scriptstyle|limits|nolimits|strut"
    r"|mathopen|mathclose|quad|qquad|large|Large|normalsize|small)(?![A-Za-z])(?:[ ]*\.(?!\d))?"
    r"|(?<!\\)\\[,;:!> ()\[\]]|\$|~|&nbsp;"
)
_FRACTIONS = re.compile(r"\\[dtc]frac(?![A-Za-z])")
_NAMES = tuple(
    (re.compile(pattern), name)
    for pattern, name in (
        (r"\\(?:leq|leqslant)(?![A-Za-z])", r"\\le "),
        (r"\\(?:geq|geqslant)(?![A-Za-z])", r"\\ge "),
        (r"\\neq(?![A-Za-z])", r"\\ne "),
        (r"\\lbrace(?![A-Za-z])", r"\\{"),
        (r"\\rbrace(?![A-Za-z])", r"\\}"),
        (r"\\infin(?:ity)?(?![A-Za-z])|\binfinity\b|\binf\b", r"\\infty "),
        (r"(?<![\\A-Za-z])pi(?![A-Za-z])", r"\\pi "),
        (r"(?<![\\A-Za-z])sqrt(?![A-Za-z])[ ]*\(([^()]*)\)", r"\\sqrt{\1}"),
        (r"\\(?:emptyset|varnothing)(?![A-Za-z])", r"\\{\\}"),
        (r"\*\*", "^"),
        (r"\\operatorname\{(\w+)\}", r"\\\1 "),
    )
)
_WORDS = re.compile(
    r"\\(?:text(?:bf|it|rm|sf|tt|normal|up)?|mbox|hbox|mathrm|mathbf|mathit|mathsf|mathtt|emph|texttt|bf|rm|boldsymbol|bm|mathbb|mathcal)"
    r"(?![A-Za-z])[ ]*\{([^{}]*)\}"
)
_DEGREES = re.compile(r"\^[ ]*\{?[ ]*(?:\\circ|\\degree)(?![A-Za-z])[ ]*\}?|\\degree(?![A-Za-z])")
_CURRENCY = re.compile(r"\\\$|[\u20ac\u00a3\u00a5\u20b9]|\\(?:pounds|euro|yen)(?![A-Za-z])|\bUSD\b")
_PERCENT = re.compile(r"\\?%")
_THOUSANDS = re.compile(r"(?<![\d.,])(\d{1,3}(?:(?:,|\{,\}|\\,)\d{3})+)(?![\d,])(?:(?=\.)|(?!\.))")
_SPACED_THOUSANDS = re.compile(r"(?<![\d.,])\d{1,3}(?: \d{3})+(?![\d,])")
_UNIT = re.compile(
    r"[cmk]m|in|ft|f(?:ee|oo)t|yds?|mi|deg|rad|hrs?|mins?|secs?|lbs?|oz|kg|mg|ml|mph|sq|cu|per|[a-z]{4,20}"
)
"""a word that is a unit where it stands behind a number without saying that it is a text"""
_LONGEST_UNIT = 60
_UNIT_FRACTION = re.compile(r"(?<=[\d }])\\frac\{[ ]*([A-Za-z]{1,3})[ ]*\}[ ]*\{[ ]*([A-Za-z]{1,3})[ ]*\}$")
_IS_ONE = re.compile(r"(?:^|[= {\x01])(?:1|0?\.\d+|1/\d+)$|\\frac[^=]*$")
_UNITS_RAISED = re.compile(r"(\x01[ ]*[A-Za-z\u00b5\u03a9/ .]{1,30})\^[ ]*\{?[ ]*-?[1-4][ ]*\}?")
_UNIT_IN_BRACKETS = re.compile(r"(\x01[^\x01()\d]{0,30})\(([A-Za-z -]{1,30})\)[ ]*$")
_RAISED = re.compile(r"[ ]*\^[ ]*\{?[ ]*[23][ ]*\}?$")
_WORD = re.compile(r"[A-Z]?[a-z]{2,30}")
_INDEX = r"(?:_\{?\w+\}?)?"
_NAMED = re.compile(
    rf"^[ \x01]*(?:\((?:[A-Za-z]{_INDEX}[ ]*,[ ]*){{1,9}}[A-Za-z]{_INDEX}\)"
    rf"|(?:[A-Za-z]{{1,2}}|\\[a-z]+){_INDEX}(?:[ ]*\^[ ]*\{{-1\}}[ ]*)?(?:\([a-z](?:,[a-z])*\))?'?)"
    r"[ ]*(?:=|\\in(?![A-Za-z]))[ ]*"
)
_FUNCTION_OF_X = re.compile(r"^[a-z]\(x\)=")
_BASE_NAMES = dict(
    zip(("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"), map(str, range(2, 11)), strict=True)
)
_BASE = re.compile(rf"^\(?(-?\w+?)\)?[ ]*_[ ]*\{{?[ \x01]*(\d{{1,2}}|{'|'.join(_BASE_NAMES)})[ ]*\}}?$")
_RATIO = re.compile(r"\d{1,9}:\d{1,9}")
_QUOTIENT = re.compile(r"\d{1,9}/\d{1,9}|\\frac\{?\d{1,9}\}?\{?\d{1,9}\}?")
_TO = re.compile(rf"[ ]*(?:[ {_SAID}]to[ ]|:)[ ]*")
_BETWEEN_INTERVALS = re.compile(rf"(?<=[)\]])[ {_SAID}]*(?:or|and)[ ]*(?=[(\[])")
_POINT = re.compile(rf"^(?:[A-Z]|{_SAID}[ ]*(?:the[ ])?(?:point|vertex|center|origin)s?)[ ]*(?=\([^()]*,[^()]*\)$)")
_MATRIX = re.compile(r"^\\begin\{([pbBvV]?(?:small)?matrix|array)\}(?:\{[lcr| ]*\})?(.*)\\end\{\1\}$", re.DOTALL)
_AND = re.compile(r"[ \x01]*(?:,[ \x01]*)?(?<![A-Za-z\\])(?:and|or)(?![A-Za-z])[ ]*|[ ]*;[ ]*")
_OPENING, _CLOSING = "([{", ")]}"


def last_box(text: str) -> str | None:
    """What the last box says; with it, as a list, the boxes that stand beside it in one sentence and say something
    else: none of them is the answer alone. None where there is no box that says something."""
    text = text[-_MOST_READ:]
    struck = [each.span() for each in STRUCK.finditer(text)]
    found = [(box, *_braced(text, box.end())) for box in list(_BOX.finditer(text))[-_MOST_BOXES:]]
    boxes = [
        (box.start(), end, _in_its_formula(text, box.start(), end, said))
        for box, said, end in found
        if said
        and not _DENIED.search(text[max(0, box.start() - _BEFORE_A_BOX) : box.start()])
        and not _DENIED_BEHIND.match(text[end : end + _BEHIND_A_BOX])
        and not any(first <= box.start() < last for first, last in struck)
    ]
    if not boxes:
        return None
    begin, _, last = boxes[-1]
    together = [last]
    for start, end, said in reversed(boxes[:-1]):
        is_apart = end > begin or _SENTENCE.search(text, end, begin) is not None
        if is_apart and not _OR.search(text[max(end, begin - _BEFORE_A_BOX) : begin]):
            break
        if not any(same_answer(said, other) for other in together):
            together.insert(0, said)
        begin = start
    return ", ".join(together)


def _in_its_formula(text: str, begin: int, end: int, said: str) -> str:
    """What a box says; with the rest of its formula, where that computes with it (`-\\boxed{5}`, `\\boxed{5}^2`)."""
    before, behind = text[max(0, begin - _BEFORE_A_BOX) : begin], text[end : end + _BEHIND_A_BOX]
    if _COMPUTES_BEFORE.search(before) is None and _COMPUTES_BEHIND.match(behind) is None:
        return said
    first = max((found.end() for found in _FORMULA_BEGINS.finditer(before)), default=0)
    last = _FORMULA_ENDS.search(behind)
    return f"{before[first:].lstrip()}{{{said}}}{behind if last is None else behind[: last.start()]}".strip()


def _braced(text: str, at: int) -> tuple[str | None, int]:
    """(what stands in braces there, where they end); without braces, the sign or the number."""
    if text[at : at + 1] != "{":
        plain = re.compile(r"\\?\w+").match(text, at)
        return (None, at) if plain is None else (plain[0], plain.end())
    depth, place = 0, at
    while place < min(len(text), at + _LONGEST_ANSWER):
        sign = text[place]
        if sign == "\\":
            place += 2
            continue
        depth += (sign == "{") - (sign == "}")
        place += 1
        if not depth:
            return text[at + 1 : place - 1].strip(), place
    return None, at


def wanted_answer(expected: str) -> str:
    """What a row's right answer says: the last box of a worked solution, or all of it."""
    boxed = last_box(expected)
    return expected.strip() if boxed is None else boxed


def same_answer(wanted: str, said: str, depth: int = 0) -> bool:
    """Whether they say the same."""
    if max(len(wanted), len(said)) > _LONGEST_ANSWER or depth > _DEEPEST:
        return wanted.strip() == said.strip()
    one, other = _plain(wanted), _plain(said)
    if not one or not other:
        return wanted.strip() == said.strip() and bool(wanted.strip())
    if _squeezed(one) == _squeezed(other) or _is_one_word(one, other):
        return True
    if not depth and other_units(wanted, said):
        return False
    return any(_same(first, second, depth) for first in _readings(one, is_wanted=True) for second in _readings(other))


def _readings(text: str, *, is_wanted: bool = False) -> list[str]:
    """The text; it without commas between thousands; and the number that it is as programs write it."""
    power = with_exponent(text, is_wanted=is_wanted)
    return list(dict.fromkeys((text, _without_commas(text), *([power] if power is not None else []))))


def _plain(text: str) -> str:
    """Without all that only says how it looks."""
    text = usual_form(text.translate(_SIGNS))
    text = _SCALED.sub(_times_power, text)
    text = _LOOKS.sub(" ", _THOUSANDS_OF_LATEX.sub(",", _CURRENCY.sub("", text)))
    text = _FRACTIONS.sub(r"\\frac", text)
    for pattern, name in _NAMES:
        text = pattern.sub(name, text)
    text = _DEGREES.sub("", text)
    for _ in range(3):
        text = _WORDS.sub(f" {_SAID}\\1 ", text)
    text = without_preface(re.sub(r"[ \t\n]+", " ", text).strip())
    while text.endswith((".", ",", ":", "\\")) and len(text) > 1:
        text = text[:-1].rstrip()
    return _outer_braces(text)


_SCALED = re.compile(rf"(?<=\d)(?:[ ]|\\[ ,;])*(?:\\text\{{[ ]*)?({'|'.join(SCALES)})\b(?:[ ]*\}})?")


def _times_power(found: re.Match[str]) -> str:
    return f" \\times 10^{{{SCALES[found[1]]}}} "


_THOUSANDS_OF_LATEX = re.compile(r"(?<=\d)(?:\{,\}|\\,|\{\\,\}|,\\!|\\ )(?=\d{3}(?!\d))")


def _outer_braces(text: str) -> str:
    while text.startswith("{") and _braced(text, 0)[1] == len(text):
        text = text[1:-1].strip()
    return text


def _squeezed(text: str) -> str:
    return re.sub(r"[\s\x01]+", "", re.sub(r"(?<=\d)\s+(?=\d)", "_", text))


def _without_commas(text: str) -> str:
    text = _THOUSANDS.sub(lambda found: re.sub(r"\D", "", found[1]), text)
    return _SPACED_THOUSANDS.sub(lambda found: found[0].replace(" ", ""), text)


def _is_one_word(one: str, other: str) -> bool:
    words = [text.strip(f" {_SAID}") for text in (one, other)]
    return words[0].casefold() == words[1].casefold() and all(map(_WORD.fullmatch, words))


def _same(one: str, other: str, depth: int) -> bool:
    value = value_of_choice(one, other)
    if value is not None:
        return same_answer(one, value, depth + 1)
    behind = value_of_choice(other, one)
    if behind is not None:
        return same_answer(behind, other, depth + 1)
    chosen = same_choice(one, other)
    if chosen is not None:
        return chosen
    if "\\pmod" in other and "\\pmod" not in one:
        other = residue(other)
    if ":" in one and _RATIO.fullmatch(_squeezed(one)):
        terms_of = _squeezed(_TO.sub("/", other))
        is_quotient = ":" not in other and _QUOTIENT.fullmatch(terms_of) is not None
        return is_quotient and _same_number(_squeezed(one).replace(":", "/"), terms_of)
    if "\\cup" in one and "\\cup" not in other:
        other = _BETWEEN_INTERVALS.sub(r"\\cup ", other)
    if one.startswith("("):
        other = _POINT.sub("", other)
    if ("=" in other and "=" not in one) or ("\\approx" in other and "\\approx" not in one):
        last = last_side(other)
        if last is not None:
            return same_answer(one, last, depth + 1)
    names = [_NAMED.match(text) for text in (one, other)]
    if all(names) and len({_FUNCTION_OF_X.sub("y=", _squeezed(name[0])) for name in names if name}) > 1:
        return False
    one, other = (_outer_braces(_without_name(text)) for text in (one, other))
    if "=" in one and "=" in other:
        return _same_equation(one, other) or same_curve(one, other)
    intervals = [interval_of(text) for text in (one, other)]
    if len({found[0] for found in intervals if found is not None}) == 1:
        one, other = (text if found is None else found[1] for text, found in zip((one, other), intervals, strict=True))
    for read in (_lists, _unions, _matrices, _tuples):
        found = read(one, other, depth)
        if found is not None:
            return found
    return _same_number(one, other)


def _without_name(text: str) -> str:
    """The text without the name of what it is: `x =`, `(x, y) =`; not one of several, nor names in another order."""
    found = _NAMED.match(text)
    if found is None or text.count("=") > 1:
        return text
    named = re.findall("[A-Za-z]+", found[0]) if found[0].lstrip(" \x01").startswith("(") else []
    return text[found.end() :] if named == sorted(named) else text


def _same_equation(one: str, other: str) -> bool:
    sides = [[side.strip() for side in text.split("=")] for text in (one, other)]
    if len(sides[0]) != len(sides[1]):
        return False
    return all(map(_same_side, *sides)) or all(map(_same_side, sides[0], reversed(sides[1])))


def _same_side(one: str, other: str) -> bool:
    return bool(one and other) and (_squeezed(one) == _squeezed(other) or _same_number(one, other))


def _split(text: str, sign: str) -> list[str]:
    """Parts between a sign that stands in no brackets."""
    parts, depth, at, place = [], 0, 0, 0
    while place < len(text):
        here = text[place]
        if here in _OPENING:
            depth += 1
        elif here in _CLOSING:
            depth -= 1
        elif depth <= 0 and text.startswith(sign, place):
            parts.append(text[at:place])
            place += len(sign)
            at = place
            continue
        place += 1
    return [part.strip() for part in [*parts, text[at:]]]


def _elements(text: str) -> tuple[list[str], bool]:
    r"""(Elements of a list or a set, whether it is written as a set.) `a \pm b` are two."""
    is_set = text.startswith("\\{") and text.endswith("\\}")
    inner = text[2:-2] if is_set else text
    parts = [part for whole in _split(_AND.sub(",", inner), ",") for part in _plus_and_minus(whole) if part]
    return parts, is_set


def _plus_and_minus(text: str) -> list[str]:
    if len(re.findall(r"\\(?:pm|mp)(?![A-Za-z])", text)) != 1:
        return [text]
    return [re.sub(r"\\(?:pm|mp)(?![A-Za-z])", sign, text) for sign in "+-"]


def _lists(one: str, other: str, depth: int) -> bool | None:
    (wanted, is_set), (said, other_set) = _elements(one), _elements(other)
    if not (is_set or other_set or len(wanted) > 1 or len(said) > 1):
        return None
    if max(len(wanted), len(said)) > _MOST_PARTS:
        return False
    if len(wanted) == 1 and not is_set and not other_set:  # one is a tuple, or a number with commas
        return _bare_tuple(one, said, depth)
    if len(said) == 1 and not is_set and not other_set:
        return _bare_tuple(other, wanted, depth, is_wanted_bare=True)
    return _same_bag(wanted, said, depth)


def _bare_tuple(text: str, parts: Sequence[str], depth: int, *, is_wanted_bare: bool = False) -> bool:
    """`(1,2)`, `1, 2` and `x = 1, y = 2`."""
    if not (text.startswith("(") and text.endswith(")")):
        return False
    named = [_NAMED.match(part) for part in parts]
    if len({found[0] for found in named if found}) < sum(found is not None for found in named):
        return False  # two values of one variable
    if all(named):
        parts = sorted(parts)
    in_brackets = _split(text[1:-1], ",")
    return _same_row(parts, in_brackets, depth) if is_wanted_bare else _same_row(in_brackets, parts, depth)


def _same_bag(wanted: Sequence[str], said: Sequence[str], depth: int) -> bool:
    left = list(said)
    for part in wanted:
        place = next((place for place, other in enumerate(left) if same_answer(part, other, depth + 1)), None)
        if place is None:
            return False
        del left[place]
    return not left


def _same_row(wanted: Sequence[str], said: Sequence[str], depth: int) -> bool:
    if len(wanted) != len(said) or len(wanted) > _MOST_PARTS:
        return False
    return all(same_answer(part, other, depth + 1) for part, other in zip(wanted, said, strict=True))


def _unions(one: str, other: str, depth: int) -> bool | None:
    wanted, said = _split(one, "\\cup"), _split(other, "\\cup")
    if len(wanted) == 1 and len(said) == 1:
        return None
    return len(wanted) <= _MOST_PARTS and _same_bag(wanted, said, depth)


def _tuples(one: str, other: str, depth: int) -> bool | None:
    """Intervals, points and vectors: brackets and elements are the same."""
    wanted, said = (
        _split(text[1:-1], ",") if text[:1] in ("(", "[") and text[-1:] in (")", "]") else [] for text in (one, other)
    )
    if len(wanted) < 2 and len(said) < 2:
        return None
    brackets = [(text[:1], text[-1:]) for text in (one, other)]
    return brackets[0] == brackets[1] and _same_row(wanted, said, depth)


def _matrices(one: str, other: str, depth: int) -> bool | None:
    one, other = (
        text[1:-1].strip() if text[:1] in ("(", "[") and text[1:].lstrip().startswith("\\begin{") else text
        for text in (one, other)
    )
    found = [_MATRIX.match(text) for text in (one, other)]
    if not any(found):
        return None
    rows = []
    for text, matrix in zip((one, other), found, strict=True):
        if matrix is not None:
            rows.append([row.split("&") for row in re.split(r"\\\\", matrix[2]) if row.strip()])
        elif text[:1] in ("(", "[", "\\"):  # a column as a tuple
            rows.append([[part] for part in _split(text.strip("()[]"), ",")])
        else:
            return False
    kinds = {matrix[1] in ("vmatrix", "Vmatrix") for matrix in found if matrix is not None}
    return (
        len(kinds) == 1
        and len(rows[0]) == len(rows[1])
        and all(_same_row([*map(str.strip, a)], [*map(str.strip, b)], depth) for a, b in zip(*rows, strict=True))
    )


def _same_number(one: str, other: str) -> bool:
    """Formulas, numbers with units, and words."""
    bases = [_BASE.match(text) for text in (one, other)]
    if any(bases):
        digits = [base[1] if base else text for base, text in zip(bases, (one, other), strict=True)]
        said_bases = {_BASE_NAMES.get(base[2], base[2]) for base in bases if base}
        if bases[0] is None:
            said_bases.add("10")
        if bases[1] is None and not re.search("[0-9A-Z]", digits[1]):
            return False  # a name, and the same with an index
        return digits[0].strip("() ") == digits[1].strip("() ") and len(said_bases) == 1
    percents = [_PERCENT.search(text) is not None for text in (one, other)]
    one_bare, other_bare = (_PERCENT.sub("", text).strip() for text in (one, other))
    unit = re.sub(rf"[ {_SAID}]+", " ", _number_and_words(one_bare)[1]).strip()
    wanted, said = _formulas(one_bare), _formulas(other_bare, unit)
    if not wanted or not said:
        return _same_words(one, other)
    if any(_worked_out(first, second) for first in wanted for second in said):
        return True
    return percents[0] != percents[1] and _same_share(wanted[-1], said[-1], percents[0])


def _same_share(wanted: Node, said: Node, is_wanted_in_percent: bool) -> bool:
    """`50\\%` and `0.5`."""
    if to_compute(wanted) or to_compute(said):
        return False
    percent, share = (wanted, said) if is_wanted_in_percent else (said, wanted)
    return equal_values(Node("/", (percent, Node("number", text="100"))), share)


def _formulas(text: str, unit: str | None = None) -> list[Node]:
    """It as a formula, and without its unit; `unit` is one that is known for one. Words are none."""
    found = []
    for written in dict.fromkeys((text, _without_unit(text, unit))):
        if re.search(r"\x01[ ]*[^\W\d_]{2}|(?<![\\A-Za-z])[A-Za-z]{4}", written):
            continue
        try:
            found.append(parsed(written.replace(_SAID, " ")))
        except FormulaError:
            continue
    return found


def _number_and_words(text: str) -> tuple[str, str]:
    """(What stands before the words behind the last number, the words)."""
    text = _UNITS_RAISED.sub(r"\1", _UNIT_IN_BRACKETS.sub(r"\1\2", _UNIT_FRACTION.sub(_said_fraction, text)))
    bare = _RAISED.sub("", text) if text[-12:].strip().endswith(("2", "3", "}")) else text
    end = max(*(bare.rfind(sign) + 1 for sign in "0123456789})!"), (bare.rfind("\\pi") + 1 or -2) + 2)
    return (bare[:end].strip(), bare[end:]) if end else (text, "")


def _said_fraction(found: re.Match[str]) -> str:
    return f" {_SAID}{found[1]}/{found[2]}" if {found[1], found[2]} <= SYMBOLS else found[0]


def _without_unit(text: str, wanted: str | None) -> str:
    """It without the unit behind its last number; `wanted` is a unit, whatever it says, and None where any words are
    one, as in what is wanted."""
    bare, unit = _number_and_words(text)
    words = re.findall(r"[^\W\d_]+", unit)
    is_said = unit.lstrip().startswith(_SAID) and "\\" not in unit.replace("\\cdot", "")
    is_known = len(unit) <= _LONGEST_UNIT and re.fullmatch(r"[A-Za-z ./]*", unit) is not None
    if not words:
        return text
    if wanted is None and not any(NO_UNITS.fullmatch(word) for word in words):
        return bare if is_said or (is_known and all(map(_UNIT.fullmatch, words))) else text
    if not (is_said or is_known):
        return text
    phrase = re.sub(rf"[ {_SAID}]+", " ", unit.replace("\\cdot", "/")).strip()
    if phrase == wanted or _is_said_again(bare, phrase):
        return bare
    is_bare_letter = not is_said and len(words) == 1 and len(words[0]) == 1
    if is_bare_letter and not (unit.startswith(" ") and words[0] in BARE_SYMBOLS):
        return text
    return bare if is_unit(phrase, is_one=_IS_ONE.search(bare) is not None) else text


def _is_said_again(bare: str, phrase: str) -> bool:
    """Whether the words are the number before them: `6 (six)`."""
    number = number_of_words(phrase)
    return number is not None and str(number) == re.sub(r"[ ,$\x01]", "", bare)


def _worked_out(wanted: Node, said: Node) -> bool:
    """Whether both come to one value, and what is said is worked out as far as what is wanted."""
    if not equal_values(wanted, said):
        return False
    is_power = said.kind == "^" and all(map(is_plain, said.parts))
    is_scientific = (
        said.kind == "*" and len(said.parts) == 2 and said.parts[0].kind == "number"
        and said.parts[1].kind == "^" and said.parts[1].parts[0].text == "10"
    )  # fmt: skip
    if is_power or is_scientific:
        return True
    return (
        terms(said) == terms(wanted)
        and factors(said) == factors(wanted)
        and to_compute(said) <= to_compute(wanted)
        and size(said) <= size(wanted) + 1 + size(wanted) // 4
    )


def _same_words(one: str, other: str) -> bool:
    if "?" in other and "?" not in one:
        return False
    said = [_without_endings(re.sub(r"[\W_]+", " ", text).strip().casefold()) for text in (one, other)]
    has_words = all(re.search(r"[^\W\d_]{2}", text) for text in said)
    has_signs = any(re.search(r"[\\^=+*/<>|{}]", text) for text in (one, other))
    return said[0] == said[1] and has_words and not has_signs


def _without_endings(words: str) -> str:
    """The words without an article, and without what makes many of one."""
    return re.sub(r"(?<=[a-z]{3})s\b", "", re.sub(r"^(?:an?|the|there (?:is|are)) ", "", words))


__all__ = ["last_box", "same_answer", "wanted_answer"]
