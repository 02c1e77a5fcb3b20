"""A traceback as a text of bounded length, for the log: what a request can make deep or long is cut in its middle."""

from __future__ import annotations

import traceback
from types import TracebackType
from typing import TypeAlias

MOST_FRAMES = 20
"""frames that are written of each end of a traceback"""
MOST_CHARACTERS = 16 * 1024
MOST_CHAINED = 8
"""exceptions of one chain of causes and contexts"""

ExceptionInfo: TypeAlias = tuple[type[BaseException], BaseException, TracebackType | None]


def fault_text(exc_info: ExceptionInfo) -> str:
    """The exception with its causes, as Python prints it. Of more than 2 * MOST_FRAMES frames those in the middle are
    left out, and of more than MOST_CHARACTERS characters those in the middle."""
    # source lines are read when the text is made: of the frames that are left
    told = traceback.TracebackException(*exc_info, lookup_lines=False)
    _cut(told, MOST_CHAINED)
    text = "".join(told.format()).rstrip("\n")
    if len(text) <= MOST_CHARACTERS:
        return text
    half = MOST_CHARACTERS // 2
    return f"{text[:half]}\n[{len(text) - 2 * half} characters left out]\n{text[-half:]}"


def _cut(told: traceback.TracebackException, chained: int) -> None:
    frames = list(told.stack)
    if len(frames) > 2 * MOST_FRAMES:
        between = traceback.FrameSummary(f"[{len(frames) - 2 * MOST_FRAMES} frames left out]", 0, "...", line="")
        told.stack = traceback.StackSummary.from_list([*frames[:MOST_FRAMES], between, *frames[-MOST_FRAMES:]])
    for name in ("__cause__", "__context__"):
        further = getattr(told, name)
        if further is None:
            continue
        if chained > 1:
            _cut(further, chained - 1)
        else:
            setattr(told, name, None)
