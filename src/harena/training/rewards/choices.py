r"""The letter of a choice in a box, and what stands behind it.

    B, (B), \text{B)}, \textbf{(B) } 12, \text{B. }12, \text{Option B}      the choice B

What stands behind a letter is the text of that choice: no other letter, and nothing that is said about it.
"""

from __future__ import annotations

import re

_SAID = "\x01"
"""before words of a text, as in `boxed`"""
_CALLED = rf"(?:(?i:the[ ])?(?i:option|choice|answer)[ {_SAID}:]*)?"
_ALONE = re.compile(rf"[ {_SAID}]*{_CALLED}(?:\([ {_SAID}]*)?([A-Z])[ ]*\)?[.:]?[ ]*")
_LABEL = re.compile(rf"[ {_SAID}]*{_CALLED}(?:\([ {_SAID}]*([A-Z])[ ]*\)|([A-Z])(?:\)|[ ]?[.:](?![\d=])))[ {_SAID}]*")
_FIGURE = re.compile(
    rf"\\(?:triangle|angle|overline|vec|overrightarrow|overleftrightarrow|widehat|mathbb|mathcal)[ ]*"
    rf"\{{?[ {_SAID}]*[A-Z]+[ ]*\}}?|(?<![A-Za-z])A(?=[ ](?!(?:is|was|or|and|too|as)\b)[a-z])"
)
"""names of figures and sets, and an article"""
_OTHER = re.compile(r"(?<![A-Za-z\\])[A-H]+(?![a-z])")
_ABOUT_IT = re.compile(
    rf"""^[ {_SAID}(:,.;-]*(?:is|isn't|isn\u2019t|was|wasn't|are|can|cannot|can't|could|would|seems|fails|does|doesn't
      |has|or|and|nor)\b
    | ^[ {_SAID}(:,.;-]*(?:not|wrong|incorrect|untrue)[ ).!{_SAID}]*$
    | \b(?:is|was|isn't|wasn't)[ ](?:not[ ])?(?:wrong|incorrect|false|untrue|right|correct|true)\b | \?""",
    re.VERBOSE | re.IGNORECASE,
)
"""what is no text of a choice, but speaks of it"""


def _labelled(text: str) -> tuple[str, str] | None:
    """(The letter, what stands behind it); None where it begins with no letter of a choice."""
    alone = _ALONE.fullmatch(text)
    if alone is not None:
        return alone[1], ""
    label = _LABEL.match(text)
    return None if label is None else (label[1] or label[2], text[label.end() :].strip())


def _is_its_text(letter: str, text: str) -> bool:
    """Whether it may be the text of that choice, and says no other one."""
    others = {found[0] for found in _OTHER.finditer(_FIGURE.sub(" ", text))}
    return others <= {letter} and _ABOUT_IT.search(text) is None


def same_choice(wanted: str, said: str) -> bool | None:
    """Whether they are one choice; None where one of them is none, or both have a value and no letter alone."""
    choices = _labelled(wanted), _labelled(said)
    if choices[0] is None or choices[1] is None or (choices[0][1] and choices[1][1]):
        return None
    return choices[0][0] == choices[1][0] and _is_its_text(*choices[1])


def value_of_choice(wanted: str, said: str) -> str | None:
    r"""What stands behind the letter in `\textbf{(C)}\ 12`, where the other one is a value; None where that is a
    choice, too, or nothing stands there."""
    choice = _labelled(said)
    if choice is None or not choice[1] or choice[0] > "J" or _labelled(wanted) is not None:
        return None
    return choice[1] if _is_its_text(*choice) else None


__all__ = ["same_choice", "value_of_choice"]
