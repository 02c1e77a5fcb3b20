"""The number that an answer ends with, as `gsm8k_v1` reads it.

A number is digits, with commas between thousands or not, and decimals. What its reader sees is read
(`harena.scoring.formats.shown_text`), from the last digit on. Before a number may stand a sign, a currency, opening
marks, text, and what a line begins with. Behind it may stand all that does not plainly go on with it: marks, units,
words, another sentence. What goes on with it (an operator with what it takes, a power, a fraction, a variable, a
multiplier, a denial) makes another number of it, or none: then there is none, and no other one is looked for.
"""

from __future__ import annotations

import re
import unicodedata
from decimal import Decimal
from itertools import takewhile
from typing import NamedTuple

from harena.scoring.formats.answers import without_tags_behind
from harena.scoring.formats.number_words import NUMBER_WORD, number_of_words
from harena.scoring.formats.shown_text import CHANGING, FUNCTIONS, shown

_WRITTEN = re.compile(r"(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?|\.\d+")
"""a comma stands between thousands only"""
_CURRENCIES = "$€£¥₹"
_MARKED = re.compile(
    r"####[*_ \t]*(?P<answer>(?i:(?:the[ ])?(?:final[ ])?answer)(?:[ ]is\b|(?=[*_\s]*[:=\n]))[*_:=\s]*)?\s*"
    r"(?P<line>[^\n#]*)"
)
_OPENING = re.compile(r"[^\w.,/^√]{0,20}(?:(?:Rs\.?|US|[A-Z]{2}D|EUR|GBP|INR|CHF|CNY|JPY|[A-Z](?=\$))[ $]{0,2})?\.?\d")
_HEADING = re.compile(r"[ \t]*\**\d{1,2}(?:[.):]|[ ]-)[ \t]+[\"'*_$(]*[A-Za-z]|[ \t]*\**\d{1,2}(?:st|nd|rd|th)\b")
"""`1. Add the eggs` and `2nd day`, which no claim looks like"""
_DENIAL = (
    r"(?:(?:this|that|it)[ ](?:is|was)[ ]|is[ ]|was[ ])?(?:wrong|incorrect|false|untrue"
    r"|not[ ](?:right|correct|valid|true|(?:the[ ])?(?:right[ ]|correct[ ])?(?:answer|solution)))(?=[ ]*(?:[).,;!]|$))"
)
"""a denial of what stands before it"""
_REMARK = re.compile(
    rf"(?<=[A-Za-z0-9%$}}] )(?<!times )\((?!or\b|{_DENIAL})[^()]*\)[.\s]*$"
    rf"|(?<!times )\((?!{_DENIAL})[^()\d]*\)$"
)
"""behind the number of a claim: `18 eggs (1.5 dozen)`"""

_TAGGED = re.compile(
    r"<answer>(?P<tag>(?:(?!</?answer>).){1,400})</answer>|\[ANSWER\](?P<mark>[^\[\]]{1,400})\[/ANSWER\]", re.DOTALL
)
_BOX = re.compile(r"\\(?:boxed|fbox)[ ]?\{")
_BOXED = "\u2042"
"""A sign that says nothing, put behind the brace of a box while the text is read: what is shown has no names of
commands."""
_ANSWER_LINE = re.compile(
    r"(?im)^[ \t>*_#-]*(?:the[ ])?(?:final[ ])?answer(?:[ ]is)?[*_ \t]*[:=][*_ \t]*(?P<line>[^\n]{1,120})$"
)
_SHORT = re.compile(r"[^\w\n]*(?:[A-Za-z]{2,3}[$ ])?[^\w\n]*[\d.,]+[%\W]*(?:[A-Za-z][\w/'-]*[\W_]*){0,4}(?:[(=].*)?")
"""a number, with its unit and no sentence behind it"""
_JSON_ANSWER = re.compile(r"[\"'](?:final_?)?answer[\"'][ \t]*:[ \t]*[\"']?(?=[-$]?\d)", re.IGNORECASE)
_BEHIND_A_REMARK = re.compile(
    r"(?P<kept>\d[%$*}]*(?:[ ](?!times\b)[A-Za-z]+[*]*){0,3})"
    rf"(?:(?:[ ]|[.]?\n{{1,2}})\((?!or\b|{_DENIAL})[^()\n]{{1,80}}\)|[ .]\[\d{{1,3}}\])[.*$\s]*$"
)
"""a remark in brackets behind the last number, and its unit: `60 minutes (1 hour)`, `18 dollars [1]`"""

_NOT_BEFORE = frozenset("./^√%\u00d7\u00f7\u00b7\u00ac")
_OPERATOR = re.compile(
    r"""(?:[\w)\]}%!.]|\d\$)[ \t]*[+/%^\u00d7\u00f7\u00b7][ \t]*$
    | [\w)\]}%!.][ \t]+\*{1,2}[ \t]+$ | [\w)\]}]\*{1,2}$ | \d\$?\*{1,2}[ \t]+$  # but not the end of bold words
    """,
    re.VERBOSE,
)
"""before a number that is computed with: behind a word, a number or a bracket of the same line"""
_PLUS_SIGN = re.compile(r"(?<=[A-Za-z]{2})[ \t]+\+$")
"""`it is +42`"""
_PART_NOUNS = (
    r"out|root|double|triple|square|cube|negative|digits?|reciprocal|inverse|opposite|factorial|log(?:arithm)?|power|multiple"
    r"|(?:per\ ?cent|half|third|quarter|fourth|fifth|sixth|seventh|eighth|ninth|tenth)s?"
)
_PART = re.compile(
    rf"""\d[:'_]$ | [^\W_]_$ | [)\]}}]_$ | (?<![A-Za-z])[A-Za-z]\([ \t"']*$ | [\d^\])}}]\([ \t]*$
    | (?<![A-Za-z])(?<!console\.)(?:math\.|np\.)?
      (?:{FUNCTIONS}|double|half|twice|triple|square|cube)\([ \t"']*$
    | [<\u2260\u2264\u2265\u221a][ \t]*$ | [!<>~/\\]=[ \t]*$
    | [A-Za-z_](?:[ \t]*[-+]|[ \t]+\*)=[ \t]*$
    | =/=[ \t]*$ | <>[ \t]*$ | (?<=[\w)])[ \t]+>[ \t]*$
    | (?<![\w!?.])!$ | \u00ac[ \t]*$ | (?:\u5206\u4e4b|\u4e0d\u662f|\u4e0d\u7b49\u4e8e|\u5e76\u975e)[ \t]*$
    | (?:\b(?<!\.)(?:not|never|minus|negative|plus|times|choose|modulo?|(?:divided|multiplied)\ by|sqrt|log|ln|exp)
      |n't)[ \t]+$
    | \b(?:instead\ of|rather\ than)[ \t]+$ | \b(?:{_PART_NOUNS})\ of[ \t]+$ | \d[ \t]+of[ \t]+$
    | \\{CHANGING}(?:\{{[^{{}}]{{0,40}}\}}|[ \t]*\d)?[ \t]*$
    | (?:\d|\b{NUMBER_WORD})[ \t]+(?:[a-z]+[ \t]+)?(?:less|more|fewer)[ \t]+than[ \t]+$
    | \b(?:subtract|take)[ \t]+(?:\d[\d,.]{{0,12}}|{NUMBER_WORD})[ \t]+(?:[a-z]{{1,12}}[ \t]+)?from[ \t]+$
    | \b(?:hundred|thousand|[mb]illion)[ \t]+(?:and[ \t]+)?$
    | %\ of[ \t]+$ | \b(?:twice|thrice|double|triple|quadruple|half)[ \t]+$
    """,
    re.VERBOSE | re.IGNORECASE,
)
"""before a number that is a part of another one (3:42, sqrt(42), twice 42), or that is said not to be the answer"""
_BRACE = re.compile(r"(?:\\[A-Za-z]+|[\d^_\])}]|(?<![A-Za-z])[A-Za-z])\{[ \t\\]*$")
"""a power, an index, a product, a function"""
_TWO_BRACES = re.compile(r"(?<![A-Za-z])\{(?=[^{}]*[A-Za-z]{2})[^{}\d]{2,60}\}\{[ \t]*$")
"""words in the braces before those of the number, that no command takes"""
_GROUP = re.compile(r"(?<!\d)\d{1,3} $")
_FACTOR = re.compile(r"\d[ \t]*[xX\u2022][ \t]*$")
_CURRENCY_CODE = re.compile(
    r"(?<![A-Za-z])(?:Rs|R|RM|Rp|[kK]r|[A-Z]{2}D|CHF|INR|EUR|GBP|JPY|CNY|RMB|KRW|MXN|BRL|PLN|SEK|NOK|DKK|RUB|PHP|PKR"
    r"|NGN|KES|ZAR|(?<=\$)(?:US|CA|AU))$"
)
"""`Rs18`, `USD18`, `$US18`"""
_CODE_OF_A_DEBT = re.compile(r"(?<=-)(?:Rs|[A-Z]{1,3})$")
"""between a minus and a number or a currency sign: `-US$18`"""

_NUMBER_WORDS = (
    r"(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|(?:thir|four|fif|six|seven|eigh|nine)teen"
    r"|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|thousand|[mbtr]illion|dozen|half)"
)
_LATER_LETTERS = "\u2e80"
"""from here on letters are of scripts that put no space between a word and a number"""
_OTHER_LETTERS = "\u0400"
"""from here on a letter alone is no variable of mathematics"""
_MULTIPLES_OF_CHINA = re.compile(
    r"[\u4e07\u842c\u4ebf\u5104\u5146](?!\u74e6)|[\u5343\u767e](?![\u7c73\u514b\u74e6\u5361\u8d6b\u5e15\u7126\u5206\u5468])"
    r"|\u5206\u4e4b|[\u591a\u51e0\u4f59]|\uc5b5|[\ub9cc\ucc9c](?![\uac00-\ud7a3]{2})"
)
"""ten thousands and more, but no kilometres and kilograms; so many parts; more than so many"""
_WORD = re.compile(r"[^\W\d_]+")
_UNIT_LETTERS = frozenset("aAcCdFghIJlLmNpsVwWy\u00c5\u03a9\u00b5")
"""words of one letter that are units, or an article"""
_WIDER_UNIT_LETTERS = frozenset("Kt")
"""units where they stand apart and nothing follows: `42 K`, `42 t`"""
_JOINED_LETTER = re.compile(
    r"[A-Za-z](?:[-'][^\W\d_]{2}|'s\b|&[A-Za-z])|[AB]\.[ ]?[CD]\b|[ap]\.[ ]?m\b|U\.[ ]?S\b", re.IGNORECASE
)
"""words that begin with one letter: `42 T-shirts`, `42 M&M's`, `6 o'clock`, `4 p.m.`, `42 U.S. dollars`"""
_ORDINAL = re.compile(
    r"(?<![\d.,])(?<!\ba[ ])(?<!\ban[ ])(?<!\bone[ ])(?:\d[\d,]*)?"
    r"(?:1[1-3]th|(?<!1)(?:1st|2nd|3rd)|1[04-9]th|(?<!1)[04-9]th)$"
)
"""`in 6th place`, `the 42nd`, but no `one 6th`"""
NO_UNITS = re.compile(
    r"""k|bn|mn|mln|mio|mrd|tn|mil|lakhs?|lacs?|crores?|cr|doz|dz|dozen|score|gross|grand|kk|st|nd|rd|th|sts|nds|rds|ths
    | hundreds?|thousands?|[mbtr]illions?|quadrillions?
    | (?:ten|hundred|thousand|million|four|fif|six|seven|eigh|nin)ths|thirds|halves|tens
    | mille|milliers?|mill[oi\u00f3]n(?:es|en)?|milh(?:\u00e3o|\u00f5es)|tausend|milliarden?|ribu|juta
    | \u0442\u044b\u0441\w{0,4}|\u043c\u043b\u043d|\u043c\u043b\u0440\u0434|\u043c\u0438\u043b\u043b\w{0,9}
    | pi|sqrt|cbrt|log|ln|exp|sin|cos|tan|mod|squared|cubed|factorial|modulo|or|plus|minus|divided|multiplied|choose
    """,
    re.VERBOSE | re.IGNORECASE,
)
"""words that make another number of what stands before them, or say that it may be another"""
_GOES_ON = re.compile(
    rf"""times[)\]}}*_"'$ \t]*
      (?:(?:{_NUMBER_WORDS}|itself)\b | (?!a\b|I\b)[A-Za-z](?![A-Za-z'-]) | \\{CHANGING}(?![A-Za-z])
        | \([ \t]*(?:(?!a\b)[A-Za-z]\b|\\{CHANGING}(?![A-Za-z])) | [-+/^\u00d7\u00f7\u00b7])
    | (?:over|by|less|fewer|more|point)[ \t]+(?:than[ \t]+)?{_NUMBER_WORDS}[ \t]*(?:[.,;:!?)}}*$]|$)
    | point[ \t]+(?:zero|one|{_NUMBER_WORDS})\b | to[ \t]+the[ \t]+(?:\w+[ \t]+power|power|{_NUMBER_WORDS}|\w+th)\b
    | per[ ]?cent[ \t]+of[ \t]+{_NUMBER_WORDS}\b
    | and[ \t]+(?:an?[ \t]+|one[ -]|two[ -]|three[ -])?(?:hal(?:f|ves)|thirds?|quarters?|fourths?|fifths?|tenths?|bit)\b
    | (?:in[ \t]+)?(?:base(?:[ -](?:{_NUMBER_WORDS}|\w{{1,2}}\b)|\d)|hex(?:adecimal)?\b|octal\b|binary\b)
    | below[ \t]+zero\b | (?:just[ ]+)?kidding\b | can(?:no|')t[ ]be[ ]*(?:[.,;!?]|$)
    | does(?:n't|[ ]not)[ \t]+(?:work|fit|hold|satisfy|make[ ]sense)\b
    | (?:is|was|would[ ]be|can(?:no|')t[ ]be|isn't|wasn't)[ \t]+(?:(?:not|clearly|obviously|also)[ \t]+)?
      (?:(?:the|an?|my|our)[ \t]+)?
      (?:not\b|wrong|incorrect|false|untrue|mistake|mistaken|error|impossible|invalid
        |too[ ](?:low|high|big|small|large|few|many)\b)
    | (?:is|was)(?:n't|[ ]not)[ \t]+(?:(?:the|an?|my|our)[ \t]+)?(?:\w+[ \t]+)?
      (?:right|correct|answer|solution|result|possible)
    """,
    re.VERBOSE | re.IGNORECASE,
)
"""words that compute with what stands before them and with what follows, or that deny it"""
_SILENT = re.compile(
    r"""[)\]}"'`|@%$€£¥₹\u00b0 \t.,;:!?~\[{] | _+(?![^\W_]|\{) | \\(?:[A-Za-z]+|.?)
    | -(?:[ \t]+(?=[^ \t])|(?=[^\W\d_]{2})) | /[ \t]?(?=[^\W\d_]|[({\\])""",
    re.VERBOSE,
)
"""what says nothing about a number before it: marks, a dash, and the beginning of `/hour` and `-year-old`"""
_ENDING = re.compile(r"[.;:!?](?=[^\w]|$)|,(?=[ \t])|[\u3002\u3001]|(?<=[ \t])\|(?=[ \t]|$)")
"""the end of a sentence, of a part of it, or of a cell"""
_STANDS = re.compile(
    r"""=|\u2014|--|-{1,2}>|>(?![ \t]*[\w\\($])|<-{1,2}(?=[ \t])|(?<=[ \t])-[ \t]*$|//|/\*|/-|-[)|]
    |(?<=,)-{1,2}|\#+[ \t]*[^\W\d_]{2}
    |&[ \t]+[^\W\d_]{2}""",
    re.VERBOSE,
)
"""signs after which something else begins: arrows, dashes, comments"""
_STARS = re.compile(r"\*+")
_BULLET = re.compile(r"[ \t]*\*[ \t]")
_CHANGED = re.compile(rf"\\{CHANGING}(?![A-Za-z])")
_BRACKET = re.compile(
    rf"\([ \t]*(?:(?P<letter>[^\W\d_])(?![^\W\d_])|\\{CHANGING}(?![A-Za-z])|[-+]|(?:in[ ])?base\b|hex|octal|binary)"
)
_RELATIONS = frozenset("\u2248\u2245\u2243\u2261\u220e\u2234\u2235\u21d2\u27f9")
_OPERATING = frozenset("\u00b7\u066a\u066b\u066c\u2020\u2021\u2022\u2031\u204e\u2051\u2055\u30fb")
"""signs of mathematics that say nothing about the number before them, and others that compute"""
_EXPONENT = re.compile(
    r"""(?P<unit>(?<=\d)[ \t~$\{]*{word}[ \t$\}]*(?:[ \t]?[/*\u00b7][ \t]?\{?{word}[$\}]*)*)
    [ \t]*(?:\^|\*\*)[ \t]*(?:-?[1-4](?!\d|\.\d)|\{[ ]*-?[1-4][ ]*\}) """.replace(
        "{word}",
        rf"(?!(?:{FUNCTIONS}|is|are|was|and|or)\b)(?:[A-Za-z\u00b5\u03a9]{{2,20}}|[dghlLmNsVWK])(?![A-Za-z])",
    ),
    re.VERBOSE,
)
"""a unit of areas or volumes, or one that is made of others: its exponent is no number"""
_NUMBERED_WORD = re.compile(
    r"(?<=\d)([ \t]+(?!Rs|R\d|[A-Z]{3}\d)(?:[A-Za-z]{1,12}/)?[A-Za-z]{1,12})\d{1,3}(?![\w.,]*\d)(?=[A-Za-z]{0,3}\b)"
)
"""`42 m2`, `42 CO2 bottles`, `42 H2O`: words that hold digits, behind a number"""

_DASH = re.compile(
    r"""(?<!\w)(?!(?:is|are|was|were|be|been|equals?|to|of|than|at|by|about|gets?|gives?|becomes?|or|and|so|thus)\b)
    [^\W\d_]{2,}(?:[\]"'*_]{0,4}[ \t]+|[\]"'*_]{0,4}:[\]"'*_]{0,4})-$""",
    re.VERBOSE | re.IGNORECASE,
)
"""a dash before a space, behind a word that no minus follows, or behind its colon: `Answer - 42`, `Answer:- 42`"""
_OPENED = re.compile(r"(?:[(\[{*_`\"'$\u20ac\u00a3\u00a5\u20b9|]|\\[A-Za-z]+\{)+$")
_OPENED_APART = re.compile(r"(?:[(\[{*_`\"'$\u20ac\u00a3\u00a5\u20b9| \t]|\\[A-Za-z]+[ \t]*\{)+$")
"""opened marks and currencies, and the same with spaces between them"""
_FACTOR_BESIDE = re.compile(r"\d(?:[)\]}]|\.)?$")
"""before an opened mark: `2(42)`, `\\boxed{2}\\boxed{42}`, `0.(42)`"""
_ABOVE = re.compile(
    r"""(?:\b(?:not|minus|negative|plus|times|(?:divided|multiplied)[ ]by)|n't)$
    | [\w)\]}][ \t]*[+/^\u00d7\u00f7\u00b7]$ | \d[ \t]*-$ | \d[ \t]+\*$ | ^[ \t]*[-+]$
    """,
    re.VERBOSE | re.IGNORECASE,
)
"""at the end of the line above a number that begins its own"""
_ALTERNATIVE = re.compile(r"(\d[\d,]*(?:\.\d+)?)[^\n\d.;:=]{0,30}\b(?:or|versus|vs\.?)[ \t]*$", re.IGNORECASE)
"""before the second of two numbers of which either may be meant"""
_PERCENT_BEFORE = re.compile(r"(?:^|[=:(]|\b(?:is|are|was))[ \t]*%$")
"""`= %42`"""
_BESIDE = re.compile(r"(?<![\w.])[\d.,]*\d[ \t]+$")
"""a number with nothing but spaces behind it"""
_VARIABLES = re.compile(
    r"(?:(?<![^\s($,;])(?<![\d}][ ])|\blet[ ]|\bvariable[ ])\$?([A-Za-z])\$?(?:[ \t]*=(?!=)|[ ](?:be|represents?)\b)"
)
"""letters that the text uses as variables: `y =`, `let y be`"""
_LOOKED_AT = 80
_LONGEST_BOX = 200


class _Claim(NamedTuple):
    """A line after `####` that opens with a number, the number that it claims, and whether text follows before the
    next such line."""

    line: str
    number: Decimal | None
    is_called_answer: bool
    is_followed: bool


_DENIED = re.compile(
    r"""\bneither\b[^.!?]{1,40}\bnor[ \t]+$ | \b(?:any|every)thing[ \t]+(?:but|except|other[ \t]+than)[ \t]+$
    | \b(?:other[ ]than|apart[ ]from|aside[ ]from|excluding|except(?:[ ]for)?|ruling[ ]out|unlike)[ \t]+$
    | (?:^|[.!?:,;][ \t]+)(?:(?:but|so)[ ])?(?:the|a|one)[ ](?:wrong|incorrect|false|common)[ ]
      (?:answer|result|solution|mistake|error)[ \t]+(?:is|was|would[ ]be)[ \t]+$
    | \b(?:it|that)(?:[ ]is|'s|[ ]was|[ ]would[ ]be)[ ](?:wrong|incorrect|false|a[ ]mistake|an[ ]error)[ ]
      (?:to[ ](?:say|answer|write|claim|think)|that)\b[^.!?,;:=\d]{0,30}$
    | (?:^|[.!?:,;][ \t]+)(?:please[ ])?(?:do(?:n['\u2019]t|[ ]not)|never|n(?:obody|o[ ]one)[ ](?:would|should))[ ]
      (?:say|answer|write|claim|choose|pick)[ \t]+$
    | \bnot[ \t]+equal[ \t]+to[ \t]+$ | \b(?:can|could)(?:n['\u2019]t|['\u2019]t|[ \t]?not)[ \t]+(?:be|equal)[ \t]+$
    | \b(?:I|we)\b[^.!?\d]{0,12}(?:n['\u2019]t|['\u2019]t|\b(?:can)?not|\bunable|\brefuse)\b[^.!?\d]{0,36}
      \b(?:question|problem|exercise|task|puzzle)[ \t]*(?:number|no\.|\#)?[ \t]*$
    """,
    re.VERBOSE | re.IGNORECASE,
)
"""before a number that is said not to be the answer, or to be that of a question which is not answered"""
_DENIED_BEHIND = re.compile(
    rf"""[)\]}}$*_"' ]{{0,8}}(?:\?[ \t"'*]{{0,8}}No\b[.!* ]*$
      | [ ]?\([ ]?{_DENIAL} | ,?[ ]which[ ](?:is|was)[ ]{_DENIAL} | [ ]?[-\u2013\u2014:][ ]{_DENIAL} )""",
    re.VERBOSE,
)
_WORDS_OF_A_NUMBER = rf"(?:a[ ])?{NUMBER_WORD}(?:(?:[ -]|[ ]and[ ]){NUMBER_WORD}){{0,12}}"
_CORRECTED = re.compile(
    rf"""[)\]}}$*_"']{{0,8}}(?:[.,;!\u2014-]|[ ])*
    (?:(?:no|actually|wait|sorry|oops|correction|rather|or|i[ ]mean|make[ ](?:that|it)|(?:just[ ])?kidding|it[ ]is
      |it's|that[ ]is|if[ ]it[ ](?:is|isn't|is[ ]not))(?:[,.!:;\u2014-]|[ ])+|(?<=,[ ])){{1,5}}
    (?P<words>{_WORDS_OF_A_NUMBER})(?:,[ ]{_WORDS_OF_A_NUMBER}){{0,4}}[ .!*_"')]{{0,8}}$""",
    re.VERBOSE | re.IGNORECASE,
)
"""another number in words behind the last one, up to the end of the text"""
_ALTERNATIVE_IN_WORDS = re.compile(rf"\b({_WORDS_OF_A_NUMBER})[ \t]*,?[ \t]+or[ \t]+$", re.IGNORECASE)


def last_number(text: str) -> Decimal | None:
    r"""The number after `####`; or else that of the last place that is marked as the answer (`\\boxed{}`, a line that
    begins with `Answer:`, `<answer>`); or else the last one. None where there is none, where it is a part of something
    else (`1/42`, `10-7`, `0x42`, `4,2`), or where several after `####` differ."""
    tagged = [found["tag"] or found["mark"] for found in _TAGGED.finditer(text)]
    read = tagged[-1] if tagged and "####" not in text else without_tags_behind(text)
    said = shown(_BOX.sub(rf"\g<0>{_BOXED}", read.replace(_BOXED, "")))
    marked = _NUMBERED_WORD.sub(r"\1", _EXPONENT.sub(r"\g<unit>", said))
    plain = marked.replace(_BOXED, "")
    claims = _claims(plain)
    if not claims:
        end = _marked_end(plain, _boxes(marked))
        if end is not None:
            return _number_ending(plain, end)
        return _number_at_end(_without_a_remark(plain))
    numbers = {claim.number for claim in claims}
    return numbers.pop() if len(numbers) == 1 else None


def _claims(text: str) -> list[_Claim]:
    """The lines after `####` that claim a number. A heading does not: it numbers what follows, or says what it is
    about (`#### 1. Add`, and `#### 3 eggs eaten` with text below, where there are several)."""
    marked = list(_MARKED.finditer(text))
    ends = [*(found.start() for found in marked[1:]), len(text)]
    opening = [
        _Claim(
            found["line"],
            _claimed(found["line"]),
            found["answer"] is not None,
            bool(text[found.end() : end].strip(" \t\n#")),
        )
        for found, end in zip(marked, ends, strict=False)  # there is an end at least
        if _OPENING.match(found["line"]) and not _HEADING.match(found["line"])
    ]
    opening = [claim for claim in opening if not (claim.is_called_answer and claim.number is None)]
    if len({claim.number for claim in opening}) < 2:
        return opening
    return [
        claim
        for claim in opening
        if claim.is_called_answer or not claim.is_followed or not _WORD.search(claim.line, _after_digits(claim.line))
    ]


def _claimed(line: str) -> Decimal | None:
    """The number of one line after `####`, in which no other one may stand."""
    line = _REMARK.sub("", line.rstrip())
    first, equals, _ = line.partition(" = ")
    if equals and len(re.findall(r"\d[\d,.]*", first)) == 1:  # `18 = 9 * 2`; of `9 * 2 = 18` the last part is claimed
        line = first
    elif equals:
        line = line.rpartition(" = ")[2]
    start = _before_digits(line, _after_digits(line))
    return _number_at_end(line) if not any(sign.isdecimal() for sign in line[:start]) else None


def _without_a_remark(text: str) -> str:
    far = max(0, len(text) - 5 * _LOOKED_AT)
    return text[:far] + _BEHIND_A_REMARK.sub(r"\g<kept>", text[far:])


def _marked_end(text: str, boxes: list[tuple[int, int]]) -> int | None:
    """Where the digits end of the number in the last place that is marked as the answer; None = there is no such
    place. `boxes`: where the contents of boxes begin and end."""
    ends = [_after_digits(text[:end]) for begin, end in boxes if any(map(str.isdecimal, text[begin:end]))]
    for line in _ANSWER_LINE.finditer(text):
        if _SHORT.fullmatch(line["line"]) and _claimed(line["line"]) is not None:
            ends.append(line.start("line") + _end_of_first(line["line"]))
    ends += [found.end() + _end_of_first(text[found.end() : found.end() + 60]) for found in _JSON_ANSWER.finditer(text)]
    return max(ends, default=None)


def _boxes(marked: str) -> list[tuple[int, int]]:
    """Where the contents of closed boxes begin and end in the text without the marks of boxes."""
    found: list[tuple[int, int]] = []
    pieces = marked.split(_BOXED)
    text, begin = "".join(pieces), 0
    for piece in pieces[:-1]:
        begin += len(piece)
        depth, end = 1, begin
        while depth and end < min(len(text), begin + _LONGEST_BOX):
            depth += {"{": 1, "}": -1}.get(text[end], 0)
            end += 1
        if not depth:
            found.append((begin, end))
    return found


def _end_of_first(text: str) -> int:
    """The end of the first number's digits; 0 if there is none."""
    found = re.search(r"\d(?:[\d,]*\d)?(?:\.\d+)?", text)
    return found.end() if found is not None else 0


def _number_at_end(text: str) -> Decimal | None:
    return _number_ending(text, _after_digits(text))


def _number_ending(text: str, end: int) -> Decimal | None:
    """The number whose digits end there."""
    start = _before_digits(text, end)
    written = text[start:end].lstrip(",")
    before = text[: end - len(written)]
    if written[:1] == "." and (written[1:2] == "." or before[-1:].isalpha() or before[-1:] in (")", "]")):
        written = written.lstrip(".")  # the end of a word, or of what is left out
        before = text[: end - len(written)].rstrip(".") + " "
    if not _WRITTEN.fullmatch(written) or _is_part(before, written, text[end : end + 1]):
        return None
    if not _may_stand_before(before[-_LOOKED_AT:], written) or not _may_follow(text, start, end):
        return None
    signed = _CODE_OF_A_DEBT.sub("", before.rstrip(f"{_CURRENCIES} \t"))
    if signed.endswith("-"):
        if _is_operand(signed[:-1]):
            return None
        if signed != before and before[len(signed)].isspace() and _DASH.search(signed[-60:]):
            return _value(written)
        return _value(written).copy_negate()  # a minus would round it, and raises for a long one
    previous = before[-1:]
    is_joined = previous.isalnum() and previous < _LATER_LETTERS and not _CURRENCY_CODE.search(before[-8:])
    is_sign = previous in _NOT_BEFORE and not _PERCENT_BEFORE.search(before[-_LOOKED_AT:])
    is_part = is_joined or is_sign or unicodedata.category(previous or " ").startswith("M")
    is_computed = previous in ("*", "+") and _is_operand(before.rstrip("*+"))
    return None if is_part or is_computed else _value(written)


def _is_part(before: str, written: str, after: str) -> bool:
    """Whether what stands before a number makes another one of it, as in `2 * 42` and `1 042`."""
    near = before[-_LOOKED_AT:].rpartition("\n")[2]
    if after == "*" and near.endswith("*"):  # bold
        near = near.rstrip("*")
    near = _PERCENT_BEFORE.sub("=", near)
    near = _PLUS_SIGN.sub(" ", near.rstrip(_CURRENCIES))
    is_group = len(written.partition(".")[0]) == 3 and _GROUP.search(near) is not None
    if _BRACE.search(near) and not _TWO_BRACES.search(near):
        return True
    if _DENIED.search(near.rstrip("([{*_`\"'$#")):
        return True
    return is_group or bool(_FACTOR.search(near) or _OPERATOR.search(near) or _PART.search(near))


def _may_stand_before(text: str, written: str) -> bool:
    """Whether a number may follow: no sign outside of marks, no other number that may be meant as well; and nothing
    before the marks, or at the end of the line above, that makes another one of it."""
    above, _, line = text.rpartition("\n")
    apart = _OPENED_APART.sub("", line)
    marks = line[len(apart) :]
    if not apart.strip(" \t#>") and _ABOVE.search(above.rstrip().rpartition("\n")[2].rstrip("*_ \t")):
        return False
    if "\\" in marks or (marks and _OPERATOR.search(apart)) or _PART.search(f"{apart} "):
        return False
    if marks.strip() and not marks[0].isspace() and marks[0] not in "*_`|'\"" and _FACTOR_BESIDE.search(apart):
        return False
    bare = _OPENED.sub("", line)
    opened = line[len(bare) :]
    spaced = bare.rstrip(" \t") if any(mark in opened for mark in "([{") else bare
    if opened.strip(_CURRENCIES) and spaced.endswith("-"):
        return False
    if opened and re.search(r"\b(?:minus|negative|not)[ \t]+$", bare, re.IGNORECASE):
        return False
    other, in_words = _ALTERNATIVE.search(bare), _ALTERNATIVE_IN_WORDS.search(bare)
    is_alternative = (other is not None and _value(other[1]) != _value(written)) or (
        in_words is not None and number_of_words(in_words[1]) != _value(written)
    )  # the same one twice is none
    return not (bare.endswith(("\u00b1", "\u2213")) or is_alternative or _BESIDE.search(bare))


def _value(written: str) -> Decimal:
    return Decimal(written.replace(",", ""))


def _may_follow(text: str, start: int, end: int) -> bool:
    """Whether what stands behind a number on its line leaves it what it is."""
    line = text[end : end + _LOOKED_AT].partition("\n")[0]
    if _DENIED_BEHIND.match(line):
        return False
    corrected = _CORRECTED.match(text[end : end + 2 * _LOOKED_AT].rstrip())
    if corrected is not None and number_of_words(corrected["words"]) != _value(text[start:end].strip(".,")):
        return False
    at = 0
    while at < len(line):
        if _ENDING.match(line, at) or _STANDS.match(line, at):
            return True
        if line[at].isalpha():
            return _leaves(text, start, end, line, at)
        bracket = _BRACKET.match(line, at)
        if line[at] == "(":
            return bracket is None or (bracket["letter"] or "") in _UNIT_LETTERS
        stars = _STARS.match(line, at)
        silent = _SILENT.match(line, at)
        if stars is not None and _is_closing(text[:start].rpartition("\n")[2], line, stars):
            at = stars.end()
        elif silent is not None and not _CHANGED.match(line, at):
            at = silent.end()
        elif _is_mere_sign(line[at]):
            at += 1
        else:
            return False
    return True


def _leaves(text: str, start: int, end: int, line: str, at: int) -> bool:
    """Whether the word there leaves the number before it what it is: a unit, or the rest of a sentence."""
    found = _WORD.match(line, at)
    assert found is not None
    word = "".join(takewhile(str.isalpha, found[0]))
    if _GOES_ON.match(line, at):
        return False
    if word[0] >= _LATER_LETTERS:
        return _MULTIPLES_OF_CHINA.match(line, at) is None
    if len(word) > 1 or word[0] >= _OTHER_LETTERS:
        if at == 0 and _ORDINAL.search(f"{text[max(0, end - _LOOKED_AT) : end]}{word}"):
            return True
        is_divided = "/" in line[:at] and re.fullmatch(_NUMBER_WORDS, word, re.IGNORECASE)
        return not (is_divided or NO_UNITS.fullmatch(word))
    if _JOINED_LETTER.match(line, at):
        return True
    if word in _WIDER_UNIT_LETTERS:
        is_apart = at > 0 and re.fullmatch(r"[)\]}$*_\"'` \t]*(?:[.,;:!?].*)?", line[at + 1 :]) is not None
        return (
            is_apart and text[:start].rstrip()[-1:] not in tuple(_CURRENCIES) and word not in _variables(text[:start])
        )
    return word in _UNIT_LETTERS and word not in _variables(text[:start])


def _variables(text: str) -> set[str]:
    return set(_VARIABLES.findall(text))


def _is_closing(before: str, line: str, stars: re.Match[str]) -> bool:
    """Whether stars behind a number end what is bold, or begin it, and multiply nothing."""
    following = line[stars.end() :][:1]
    is_spaced = line[stars.start() - 1 : stars.start()].isspace()
    if is_spaced and following.isspace():
        return not line[stars.end() :].strip() or _is_bold(before)
    return is_spaced or not (following.isalnum() or following in ("(", "\\")) or _is_bold(before)


def _is_bold(before: str) -> bool:
    bullet = _BULLET.match(before)
    return len(_STARS.findall(before[bullet.end() if bullet is not None else 0 :])) % 2 == 1


def _is_mere_sign(sign: str) -> bool:
    """Whether it says nothing about a number before it: an ellipsis, a currency, a tick, an arrow, an emoji."""
    if sign <= "\x7f" or sign in _OPERATING:
        return False
    category = unicodedata.category(sign)
    is_arrow = "\u2190" <= sign <= "\u21ff" or "\u27f0" <= sign <= "\u27ff"
    return sign in _RELATIONS or is_arrow or (category[0] in "PS" and category != "Sm")


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
