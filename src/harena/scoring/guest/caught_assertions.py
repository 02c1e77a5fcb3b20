"""Failed assertions of the tests that a candidate is meant to catch. Standard library only, Python 3.8 and up.

The task may be to catch what a callback raises (`run_all(callbacks)`, `retry(function, n)`). Whether a candidate may
catch an assertion that has failed in a function of the tests is told by the gold solution: what that catches, others
may catch at the same place of the tests' text, and as often.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from typing import Any


class Caught:
    """Counts where failed assertions were caught, and says whether they may be."""

    def __init__(self, here: str, trusted: Collection[str], allowed: Mapping[str, int] | None) -> None:
        """`here`: the folder of the suite; `trusted`: paths; `allowed`: how often an assertion may be caught, by its
        place (`test_it.py:7`); None allows everything, as with the gold solution."""
        self._here = os.path.join(here, "")
        self._trusted = frozenset(trusted)
        self._left = None if allowed is None else dict(allowed)
        self.places: dict[str, int] = {}
        """how often the candidate has caught an assertion, by its place"""

    def place(self, error: BaseException | None = None) -> str:
        """The innermost line of the tests that the error has passed; without an error, that runs now."""
        found: Any = None
        if error is None:
            frame: Any = sys._getframe(1)
            while frame is not None and found is None:
                found = (frame.f_code, frame.f_lineno) if frame.f_code.co_filename in self._trusted else None
                frame = frame.f_back
        trace = error.__traceback__ if error is not None else None
        while trace is not None:
            if trace.tb_frame.f_code.co_filename in self._trusted:
                found = (trace.tb_frame.f_code, trace.tb_lineno)
            trace = trace.tb_next
        if found is None:
            return ""
        code, line = found
        return f"{code.co_filename[len(self._here) :]}:{line}"

    def allows(self, place: str) -> bool:
        """Whether it may, where it has not yet; with the gold solution, always."""
        return self._left is None or self._left.get(place, 0) > 0

    def may_be(self, place: str) -> bool:
        """Tell that the candidate has caught a failure of this place; whether it may."""
        self.places[place] = self.places.get(place, 0) + 1
        if self._left is None:
            return True
        left = self._left.get(place, 0)
        self._left[place] = left - 1
        return left > 0
