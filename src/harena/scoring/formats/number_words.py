"""Numbers in English words: `forty-two`, `one hundred and five`, `three million`."""

from __future__ import annotations

import re

_SMALL = {
    "zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
    "ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16,
    "seventeen": 17, "eighteen": 18, "nineteen": 19, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50,
    "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90,
}  # fmt: skip
SCALES = {"thousand": 3, "million": 6, "billion": 9, "trillion": 12}
"""what multiplies the number before it, by its power of ten"""
_LONGEST = 200
NUMBER_WORD = rf"(?:{'|'.join([*_SMALL, 'hundred', *SCALES])})"
"""a word of a number, as a part of a pattern"""


def number_of_words(text: str) -> int | None:
    """The number that the words say; None where they say something else, or more."""
    if len(text) > _LONGEST:
        return None
    words = re.findall(r"[a-z]+|[^a-z \t-]", text.lower())
    whole, part, last = 0, 0, ""
    for place, word in enumerate(words):
        if word in _SMALL:
            value = _SMALL[word]
            if part % 100 and not (part % 10 == 0 and part % 100 >= 20 and 0 < value < 10):
                return None
            part += value
        elif word == "hundred" and part in range(1, 100):
            part *= 100
        elif word in SCALES and part:
            whole, part = whole + part * 10 ** SCALES[word], 0
        elif word == "and" and last in ("hundred", *SCALES) and place + 1 < len(words):
            pass
        elif word == "a" and not place and words[1:2] and words[1] in ("hundred", *SCALES):
            part = 1
        else:
            return None
        last = word
    return whole + part if words else None


__all__ = ["NUMBER_WORD", "SCALES", "number_of_words"]
