"""The number that an answer ends with, as `gsm8k_v1` reads it.

A number is digits, with commas between thousands or not, and decimals. Before it may stand: a sign, a currency,
opening marks, text, and what a line begins with. Behind it may stand: closing marks, the end of a sentence, and a unit,
which is a word of two letters and more, a letter that units have, or a sign (`%`, a degree, a currency). All else makes
another number of it, or no number: then there is none, and no other one is looked for.
"""

from __future__ import annotations

import re
import unicodedata
from decimal import Decimal

from harena.scoring.formats.answers import without_tags_behind

_WRITTEN = re.compile(r"(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?|\.\d+")
"""a comma stands between thousands only"""
_LATEX_THOUSANDS = re.compile(r"(?<=\d)(?:,?\\[,!]|,?\{\\?[,!]\}|,\{\})(?=\d{3}(?!\d))")
_LATEX_SPACE = re.compile(r"(?<!\\)\\[,;:! ]|\{\\?[,;:! ]?\}|(?<=\d)~(?=\d)")
"""what LaTeX writes between thousands (`10\\,080`, `10,\\!080`, `10{,}080`), and all else that it shows as a space"""
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
    | \b(?:out|root|double|(?:per\ ?cent|half|third|quarter|fourth|fifth|sixth|seventh|eighth|ninth|tenth)s?)\ of[ \t]+$
    | \\(?:neq?|not=?|leq?|geq?|lt|gt|b?mod|sin|cos|tan|log|ln)[ \t]*$
    | %\ of[ \t]+$ | \b(?:twice|thrice|double|triple|quadruple|half)[ \t]+$
    """,
    re.VERBOSE | re.IGNORECASE,
)
"""before a number that is a part of another one (3:42, sqrt(42), twice 42), or that is said not to be the answer"""
_BRACE = re.compile(r"(\\?[A-Za-z]+|[\w^\]}])\{[ \t\\]*$")
_TEXT_BRACES = frozenset(
    f"\\{name}"
    for name in (
        *("bf", "boldsymbol", "boxed", "emph", "fbox", "framebox"),
        *("mathbf", "mathit", "mathrm", "mathsf", "mathtt", "rm"),
        *("text", "textbf", "textit", "textrm", "textsf", "texttt", "underline"),
    )
)
"""what LaTeX writes around a number that stays what it is, unlike roots, powers and fractions"""
_GROUP = re.compile(r"(?<!\d)\d{1,3}[ \u00a0\u2009\u202f]$")
_MULTIPLE = re.compile(
    r"[ \t]?(?:k|thousand|million|billion|trillion|dozen|hundred)\b"
    r"|[ \t]*[\u00b2\u00b3\u00b9\u2070-\u207f\u03c0\u221a]",
    re.IGNORECASE,
)
"""after a number that is multiplied by it; a unit (`42%`, `42 km`) and the end of a sentence (`42!`) are none"""
_FACTOR = re.compile(r"\d[ \t]*[xX\u2044\u2215\u2217\u2219\u2022][ \t]*$")
_FRACTION = re.compile(r"[ \t]?[\u00bc-\u00be\u2150-\u215e]")
"""`2 x` before a number, and `\u00bd` after it"""
_SQUARED = re.compile(
    r"(?<=\d)([ \t~\\]*(?:\\(?:text|mathrm)\{[ \t~\\]*)?"
    r"(?:[cdkm]?m|in|ft|yd|mi|inch(?:es)?|feet|foot|yards?|miles?|(?:centi|kilo|milli)?met(?:er|re)s?|units?)\}?)"
    r"[ \t]*\^[ \t]*(?:[23]\b|\{[23]\})"
)
"""a unit of areas or volumes: its exponent is no number"""
_HEADING = re.compile(r"[ \t]*\**\d{1,2}[.)][ \t]+\**[A-Za-z]")
_REMARK = re.compile(r"\([^()\d]*\)$")
_LATER_LETTERS = "\u2e80"
"""from here on letters are of scripts that put no space between a word and a number"""
_BEHIND = re.compile(
    r"""(?: [)\]}*_`"'\u2019\u201d\u00bb.,;:!?|%]
    | [\u2030\u00b0$\u20ac\u00a3\u00a5\u20b9~ \t\u00a0\u2009\u202f]
    | \\(?:[)\]%$,;:! \\{}]
        | (?:text|textrm|textbf|mathrm|mathbf|mbox|rm|bf|quad|qquad|right|degree|circ|end|big[a-z]*
            |(?:black)?square|hfill|qed|Box)\b[ ]*\{?)
    | \^\{?\\?(?:\u2218|circ\b)\}? | </?[A-Za-z][^<>\n]{0,40}> )*+
    (?P<next>.?)""",
    re.VERBOSE | re.IGNORECASE,
)
"""up to the word behind a number, or to a sign that is no mark"""
_WORD = re.compile(r"[^\W\d_]+")
_UNIT_LETTERS = frozenset("aAcCdFghIJlLmNsVwWy")
"""words of one letter that are units, or an article"""
_JOINED_LETTER = re.compile(r"[A-Za-z][-\u2019'][^\W\d_]{2}|[ap]\.[ ]?m\b|U\.[ ]?S\b", re.IGNORECASE)
"""words that begin with one letter: `42 T-shirts`, `6 o'clock`, `4 p.m.`, `42 U.S. dollars`"""
_NO_UNITS = re.compile(
    r"""k|bn|mn|mln|mio|mrd|tn|mil|lakhs?|lacs?|crores?|cr|doz|dz|dozens?|score|gross|kk|st|nd|rd|th|sts|nds|rds|ths|hundreds?|thousands?|[mbtr]illions?
    | quadrillions?|(?:ten|hundred|thousand|million|four|fif|six|seven|eigh|nin)ths?|thirds
    | pi|sqrt|squared|cubed|factorial|mod|modulo|or|plus|minus|times|divided|multiplied""",
    re.VERBOSE | re.IGNORECASE,
)
"""words that make another number of what stands before them, or say that it may be another"""
_TIMES = re.compile(
    r"""times(?: [)\]}*_"'\u2019\u201d$ \t]*(?:[.,;:!?]|$)
    | [ \t]+(?:as|more|per|each|every|in|over|during|daily|weekly|monthly|altogether|total)\b
    | [ \t]+an?[ \t]+(?:second|minute|hour|day|night|week|weekend|month|season|year|game|match)\b )""",
    re.VERBOSE | re.IGNORECASE,
)
"""`5 times` as an answer to how often or how many as much; `5 times x` is another number"""
_DASH = re.compile(
    r"""(?<!\w)(?!(?:is|are|was|were|be|been|equals?|to|of|than|at|by|about|gets?|gives?|becomes?|or|and|so|thus)\b)
    [^\W\d_]{2,}[\]"'*_]{0,4}[ \t]+-$""",
    re.VERBOSE | re.IGNORECASE,
)
"""a dash with spaces around it, behind a word that no minus follows: `Answer - 42`"""
_PER_UNIT = re.compile(r"/[ \t]?(?!(?:pi|sqrt)\b)[^\W\d_]{2}|-(?:[^\W\d_]{2}|[ \t])|--[ \t]|&[ \t]+[^\W\d_]{2}")
"""`42/hour`, `42-year-old`, a dash, and `42 & more`"""
_SIGNS = frozenset({"Po", "Sc", "So"})
_OPERATING = frozenset(
    "\u00b7\u066a\u066b\u066c\u2020\u2021\u2022\u2027\u2030\u2031\u204e\u2051\u2055\u30fb"
    "\ufe60\ufe61\ufe68\ufe6a\uff03\uff05\uff06\uff0a\uff0f\uff3c"
)
"""categories of signs that may stand behind a number (an ellipsis, a cent, a tick), and those of them that compute"""
_AND_A_PART = re.compile(r"and[ \t]+(?:an?[ \t]+|one[ -])?(?:half|third|quarter|fourth|fifth|tenth)\b", re.IGNORECASE)
_COLOURED = re.compile(r"\\(?:(?:text)?color|colorbox|fcolorbox\{[A-Za-z]{1,20}\})\{[A-Za-z]{1,20}\}(?=\{)")
_OPENED = re.compile(r"(?:[(\[{*_`\"'$\u20ac\u00a3\u00a5\u20b9|]|\\[A-Za-z]+\{|\\[(\[$])+$")
_OPENED_APART = re.compile(r"(?:[(\[{*_`\"'$\u20ac\u00a3\u00a5\u20b9| \t]|\\[A-Za-z]+[ \t]*\{|\\[(\[$])+$")
"""opened marks and currencies, and the same with spaces between them"""
_FACTOR_BESIDE = re.compile(r"\d(?:[)\]}]|\.)?$")
"""before an opened mark: `2(42)`, `\\boxed{2}\\boxed{42}`, `0.(42)`"""
_ABOVE = re.compile(
    r"""(?:\b(?:not|minus|negative|plus|times|(?:divided|multiplied)[ ]by)|n['\u2019]t)$
    | [\w)\]}][ \t]*[+/^\u00d7\u00f7\u00b7\u22c5]$ | \d[ \t]*-$ | \d[ \t]+\*$ | ^[ \t]*[-+]$
    """,
    re.VERBOSE | re.IGNORECASE,
)
"""at the end of the line above a number that begins its own"""
_ALTERNATIVE = re.compile(r"\d[^\n\d.;:=]{0,30}\b(?:or|versus|vs\.?)[ \t]*$", re.IGNORECASE)
"""before the second of two numbers of which either may be meant"""
_BESIDE = re.compile(r"(?<![\w.])[\d.,]*\d[ \t\u00a0\u2009\u202f]+$")
"""a number with nothing but spaces behind it"""


def last_number(text: str) -> Decimal | None:
    """The number after `####`, or else the last one. None where there is none, where it is a part of something else
    (`1/42`, `10-7`, `0x42`, `4,2`), or where several marked ones differ."""
    said = _LATEX_THOUSANDS.sub(",", without_tags_behind(text).translate(_MINUS))
    said = _LATEX_SPACE.sub(" ", said)
    plain = _SQUARED.sub(r"\1", _COLOURED.sub(r"\\text", said))
    claims = [claim for claim in _MARKED.findall(plain) if _OPENING.match(claim)]
    claims = [claim for claim in claims if not _HEADING.match(claim)] or claims
    if not claims:
        return _number_at_end(plain)
    numbers = {_claimed(claim) for claim in claims}
    return numbers.pop() if len(numbers) == 1 else None


def _claimed(claim: str) -> Decimal | None:
    """The number of one line after `####`, behind which only a unit may stand."""
    claim = _REMARK.sub("", claim.rstrip())
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
    if not _may_stand_before(before[-60:]) or not _may_follow(text[end : end + 60].partition("\n")[0]):
        return None
    signed = before.rstrip(f"{_CURRENCIES} \t")
    if signed.endswith("-"):
        if _is_operand(signed[:-1]):
            return None
        if signed != before and before[len(signed)].isspace() and _DASH.search(signed[-60:]):
            return Decimal(written.replace(",", ""))
        return Decimal(written.replace(",", "")).copy_negate()  # a minus would round it, and raises for a long one
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
    if _FACTOR.search(near) or _FRACTION.match(after):
        return True
    return is_group or bool(_OPERATOR.search(near) or _PART.search(near) or _MULTIPLE.match(after))


def _may_stand_before(text: str) -> bool:
    """Whether a number may follow: no sign outside of marks, no other number that may be meant as well; and nothing
    before the marks, or at the end of the line above, that makes another one of it."""
    above, _, line = text.rpartition("\n")
    apart = _OPENED_APART.sub("", line)
    marks = line[len(apart) :]
    if not apart.strip(" \t#>") and _ABOVE.search(above.rstrip().rpartition("\n")[2].rstrip("*_ \t")):
        return False
    braces = re.findall(r"\\[A-Za-z]+(?=[ \t]*\{)", marks)
    if not _TEXT_BRACES.issuperset(braces) or (marks and _OPERATOR.search(apart)) or _PART.search(f"{apart} "):
        return False
    if marks.strip() and not marks[0].isspace() and marks[0] not in "*_`|'\"" and _FACTOR_BESIDE.search(apart):
        return False
    bare = _OPENED.sub("", line)
    opened = line[len(bare) :]
    spaced = bare.rstrip(" \t") if any(mark in opened for mark in "([{") else bare
    if opened.strip("$\u20ac\u00a3\u00a5\u20b9") and spaced.endswith("-"):
        return False
    if opened and re.search(r"\b(?:minus|negative|not)[ \t]+$", bare, re.IGNORECASE):
        return False
    return not (bare.endswith(("\u00b1", "\u2213")) or _ALTERNATIVE.search(bare) or _BESIDE.search(bare))


def _may_follow(line: str) -> bool:
    """Whether what stands behind a number on its line leaves it what it is."""
    line = "".join("~" if _is_mere_sign(sign) else sign for sign in line)
    found = _BEHIND.match(line)
    assert found is not None  # it matches nothing, too
    word = _WORD.match(line, found.start("next"))
    if word is None:
        is_end = found["next"] in ("", "(", "=", "\u2014")
        return is_end or _PER_UNIT.match(line, found.start("next")) is not None
    if any(mark in line[: word.start()] for mark in ".,;:!?"):
        return True  # another sentence, or another part of it
    if word[0][0] >= _LATER_LETTERS:
        return True
    if len(word[0]) == 1:
        return word[0] in _UNIT_LETTERS or _JOINED_LETTER.match(line, word.start()) is not None
    if _TIMES.match(line, word.start()):
        return True
    return not (_NO_UNITS.fullmatch(word[0]) or _AND_A_PART.match(line, word.start()))


def _is_mere_sign(sign: str) -> bool:
    """Whether it says nothing about a number before it: an ellipsis, a currency, a tick, an emoji and its variants."""
    is_one = sign > "\x7f" and unicodedata.category(sign) in _SIGNS and sign not in _OPERATING
    return is_one or sign in "\ufe0e\ufe0f\u200b\u200d\u220e"


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
