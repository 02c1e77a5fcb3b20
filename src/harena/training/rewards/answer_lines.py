"""The line in which a prompt asks for the answer, as DAPO's prompts do, and what an answer says in such a line.

The last line of your response should be of the form Answer: $Answer       Answer: 34
"""

from __future__ import annotations

import re

_ASKED = re.compile(
    r"\banswer\s{0,3}:\s{0,3}(?:\$?\\?answer\b|\$?\\?boxed|[<\[{(]\s{0,3}[A-Za-z]|_{2,}|\.{3})", re.IGNORECASE
)
"""the form of such a line, with something that stands for the answer"""
_LINE = re.compile(
    r"^[ \t*#>_-]{0,10}(?:the[ \t])?(?:final[ \t])?answer[ \t*_]{0,5}:[ \t*_]{0,5}(\S[^\n]{0,1000})$",
    re.IGNORECASE | re.MULTILINE,
)
_MOST_READ = 200_000
"""characters of an answer, from its end, and of a prompt"""


def asks_for_line(prompt: str) -> bool:
    """Whether a prompt wants the answer behind `Answer:`, and in no box."""
    told = prompt[-_MOST_READ:]
    return "boxed" not in told and _ASKED.search(told) is not None


def last_line(text: str) -> str | None:
    """What the last such line says, without the signs of emphasis around it; None where there is none."""
    said = [found[1] for found in _LINE.finditer(text[-_MOST_READ:])]
    return said[-1].strip().strip("*_`").strip() if said else None


__all__ = ["asks_for_line", "last_line"]
