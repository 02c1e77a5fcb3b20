"""What a reader sees of an answer: each sign once, however it is written, and nothing of what only says how it looks.

    1\u200b18, **\\text{\\large 18}**, <b>18</b>, \\left(18\\right)      118, **{18}**, 18, (18)

Signs that show nothing are left out, signs of one look become the plain one, brackets and quotes of all scripts the
ASCII ones. Of LaTeX and HTML remain the braces of what stands around a number and leaves it what it is, and commands
that compute with it, or that show a sign of their own. What is struck out, hidden or a label is not said.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

_SIGNS = {
    **dict.fromkeys("\u2010\u2011\u2012\u2013\u2212\ufe63\uff0d\u2796", "-"),
    **dict.fromkeys("\u2014\u2015", "\u2014"),
    **dict.fromkeys("\u2044\u2215", "/"),
    **dict.fromkeys("\u2715\u2716\u2a2f", "\u00d7"),
    **dict.fromkeys("\u22c5\u2219\u2027", "\u00b7"),
    **dict.fromkeys("\r\v\f\x85\u2028\u2029", "\n"),
    **dict.fromkeys("\u2018\u2019\u201b", "'"),
    "\u2217": "*",
    "\u2795": "+",
    "\u2797": "\u00f7",
    "\u301c": "~",
    "\uff0c": ", ",
    "\n": "\n",
    "\t": "\t",
}
_UNSEEN = frozenset("\u115f\u1160\u17b4\u17b5\u20de\u20e3\u3164\uffa0")
_PARTLY = frozenset("\u2308\u2309\u230a\u230b")
"""brackets that round what is in them"""
_LOOKS = ("<wide>", "<narrow>", "<small>", "<font>")

_BRACES = r"\{(?:[^{}]|\{[^{}]{0,60}\}){0,120}\}"
_THIN_THOUSANDS = re.compile(r"(?<![\d.,])\d{1,3}(?:([\u2009\u202f'\u2019_])\d{3})(?:\1\d{3})*(?![\d_'\u2019])")
_LATEX_THOUSANDS = re.compile(r"(?<=\d)(?:,?\\[,!]|,?\{\\?[,!]\}|,\{\})(?=\d{3}(?!\d))")
_LAKHS = re.compile(r"(?<![\d.,])\d{1,2}(?:,\d{2})+,\d{3}(?![\d,])")
"""thousands with thin spaces, apostrophes and low lines, as LaTeX writes them, and as India does"""
_LATEX_SPACE = re.compile(r"(?<!\\)\\[,;:! ]|\{\\?[,;:! ]?\}|(?<=\d)~(?=\d)|(?<=\{)~")
STRUCK = re.compile(
    r"~~(?=\S)[^~\n]{1,200}~~"
    r"|<(s|del|strike)>.{0,200}?</\1>"
    r"|<!--.{0,400}?-->"
    rf"|\\(?:[bx]?cancel|sout|st|xout|[hv]?phantom|tag\*?|label|eqref|ref|cite|footnote|[hv]space\*?)[ ]*{_BRACES}",
    re.DOTALL,
)
_COMPUTED_ASIDE = re.compile(r"<<[^<>\n]{0,80}>>(?=\$?\d)")
"""what GSM8K writes before the result of a step: `$<<9*2=18>>18`"""
_BESIDE = re.compile(
    r"\\(?:under|over)(?:brace|bracket|paren)[ ]*\{((?:[^{}]|\{[^{}]{0,60}\}){0,80})\}"
    r"[_^]\{(?:[^{}\d]|\{[^{}\d]{0,60}\}){0,80}\}"
)
"""a brace with words below it"""
_STYLE_TAG = re.compile(
    r"</?(?:a|b|big|code|em|font|i|ins|kbd|mark|math|mi|mn|mrow|samp|small|span|strong|tt|u|var)(?:[ ][^<>\n]{0,80})?>",
    re.IGNORECASE,
)
_RAISED_TAG = re.compile(r"<(su[bp])>([^<>\n]{0,40})</\1>", re.IGNORECASE)
_TAG = re.compile(r"</?[A-Za-z][\w:-]{0,30}(?:\s[^<>\n]{0,80})?/?>|<\|[^|<>\n]{1,40}\|>")
_NAME_TAG = re.compile(r"(?<![\w\\\])}])\[/?[A-Za-z][A-Za-z_ ]{1,30}\](?!\()")
"""`<answer>`, `[ANSWER]`, and words in such brackets"""
_ADDRESS = re.compile(r"(?<=\])\((?:https?:|/|#)[^()\s]{0,300}\)")
_TWICE_ESCAPED = re.compile(r"(?<!\\)\\\\(?=[A-Za-z)\]$%]|[(\[](?!\d))")
_NEW_LINE = re.compile(
    r"\\\\(?:\[[^\]\n]{0,20}\])?|\\n(?![A-Za-z])|\\(?:newline|par|item)(?![A-Za-z])"
    r"|\\(?:begin|end)\{[A-Za-z]{1,20}\*?\}(?:\{[lcr|@ ]{0,20}\})?"
)
_STYLE = re.compile(
    r"\\(?:left|right|middle|[bB]ig{1,2}[lrm]?|(?:display|text|script|scriptscript)style|tiny|scriptsize|footnotesize"
    r"|small|normalsize|[lL]arge|LARGE|[hH]uge|(?:bf|rm|it|sf|tt|sl|md|up)(?:series|shape|family)?|em|boldmath"
    r"|centering|noindent|(?:no)?limits|(?:math)?strut|relax|null|mathopen|mathclose)(?![A-Za-z])[ ]*"
    r"(?:\.(?=[ ]*[^\s\d]))?"
    r"|\\(?:(?:text)?color|colorbox|fcolorbox\{[^{}\n]{1,40}\}|pagecolor|enclose|href|fontsize\{[^{}\n]{1,20}\}"
    r"|raisebox|scalebox|resizebox\{[^{}\n]{1,20}\}|parbox|class|style|cssId|overset|stackrel|underset)[ ]*"
    r"(?:\[[^\]\n]{0,40}\])?[ ]*\{[^{}\n]{1,60}\}[ ]*"
    r"|\\bbox[ ]*(?:\[[^\]\n]{0,60}\])?"
)
"""LaTeX that has no sign of its own: sizes, fonts, colours, and what is said about them before what is shown"""
_OPTIONS = re.compile(r"(\\[A-Za-z]+)\*?[ ]*\[[^\]\n{}]{0,60}\](?=[ ]*\{)")
_COMMAND = re.compile(r"\\([A-Za-z]+)\*?[ ]*(?=\{)|(?<![A-Za-z\\])boxed(?=\{)")
_DEGREES = re.compile(r"\^[ ]*\{?[ ]*\\?(?:\u2218|circ|degrees?)(?![A-Za-z])[ ]*\}?|\\(?:text)?degree(?![A-Za-z])")
_UNITS_OVER_UNITS = re.compile(r"(?<=[\d ~{}$])\\[dt]?frac\{{1,2}([A-Za-z]{1,15})\}{1,2}\{{1,2}([A-Za-z]{1,15})\}{1,2}")
_BEFORE_DIGITS = re.compile(r"(\\[A-Za-z]+)(?=\d)")
_ESCAPED = re.compile(r"\\([^\w\s\\])")
_MATHS = str.maketrans("()[]", "$$$$")

FUNCTIONS = (
    r"(?:arc|a)?(?:sin|cos|tan|cot|sec|csc)h?|log\d*|ln|lg|exp|sqrt|cbrt|abs|gcd|lcm|max|min|mod|pow|floor|ceil"
    r"|fact(?:orial)?|neg|det|sgn|sum|prod|not"
)
"""names of what computes another number"""
CHANGING = (
    rf"(?:{FUNCTIONS}|[a-z]*(?:frac|root|binom|cancelto|bar|hat|vec|tilde|dot)|overline|over|choose|norm|o?int"
    r"|[bp]mod|times|div|ast|pm|mp|o(?:plus|times)|wedge|vee|cup|cap|setminus|lim"
    r"|lt|gt|[ln]?[lg]eq?(?:q|slant)?|[lg]nsim|ll|gg|neq?|lnot|not[a-z]*|n(?:less|gtr|mid|sim)"
    r"|alpha|beta|[gG]amma|[dD]elta|(?:var)?epsilon|zeta|eta|(?:var)?[tT]heta|iota|kappa|[lL]ambda|nu|[xX]i|(?:var)?[pP]i"
    r"|(?:var)?rho|[sS]igma|tau|[uU]psilon|(?:var)?[pP]hi|chi|[pP]si|omega|infty)"
)
"""commands of LaTeX that compute with the number beside them or in their braces, multiply it, compare it or deny it"""
_CHANGING = re.compile(CHANGING)


def shown(text: str) -> str:
    """The text as its reader sees it."""
    text = _THIN_THOUSANDS.sub(lambda found: found[0].replace(found[1], ","), unicodedata.normalize("NFC", text))
    text = text.translate({ord(sign): _plain(sign) for sign in set(text)})
    text = _LAKHS.sub(lambda found: found[0].replace(",", ""), _LATEX_THOUSANDS.sub(",", text))
    text = _RAISED_TAG.sub(lambda found: f"{'^' if found[1] in ('sup', 'SUP') else '_'}{{{found[2]}}}", text)
    text = _COMPUTED_ASIDE.sub("", STRUCK.sub(" ", text))
    text = _TAG.sub("\n", _STYLE_TAG.sub(_nothing_but_a_space, text))
    text = _ADDRESS.sub("", _NAME_TAG.sub(" ", text))
    return _without_latex(text)


def _without_latex(text: str) -> str:
    if "\\" not in text and "^" not in text and "{" not in text:
        return _LATEX_SPACE.sub(" ", text)
    text = _DEGREES.sub("\u00b0", _NEW_LINE.sub("\n", _TWICE_ESCAPED.sub(r"\\", text)))
    text = _LATEX_SPACE.sub(" ", _STYLE.sub(_nothing_but_a_space, _BESIDE.sub(r"{\1}", text)))
    text = _COMMAND.sub(_of_its_braces, _OPTIONS.sub(r"\1", text))
    text = _BEFORE_DIGITS.sub(r"\1 ", _UNITS_OVER_UNITS.sub(r"{\1/\2}", text))
    return _ESCAPED.sub(lambda found: found[1].translate(_MATHS), text)


def _nothing_but_a_space(found: re.Match[str]) -> str:
    """What it shows: nothing, or a space, where two words would become one."""
    before = found.string[found.start() - 1 : found.start()]
    return " " if before.isalpha() or (found[0][0] == "\\" and before.isalnum()) else ""


def _of_its_braces(found: re.Match[str]) -> str:
    name = found[1] or ""
    return found[0] if _CHANGING.fullmatch(name) else ""


@lru_cache(maxsize=4096)
def _plain(sign: str) -> str:
    """The plain sign of one look; nothing, where it has none."""
    if " " <= sign <= "~":
        return sign
    if sign in _SIGNS:
        return _SIGNS[sign]
    category = unicodedata.category(sign)
    if (
        category in ("Cc", "Cf", "Cn", "Co", "Cs")
        or sign in _UNSEEN
        or unicodedata.name(sign, "").startswith("VARIATION")
    ):
        return ""
    if category == "Zs":
        return " "
    if unicodedata.decomposition(sign).partition(" ")[0] in _LOOKS:
        plain = unicodedata.normalize("NFKC", sign)
        return "".join(map(_plain, plain)) if plain != sign else sign
    if category in ("Ps", "Pe") and sign not in _PARTLY:
        is_quote = sign in "\u201a\u201e"
        return '"' if is_quote else "(" if category == "Ps" else ")"
    return '"' if category in ("Pi", "Pf") else sign
