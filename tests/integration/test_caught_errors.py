# ruff: noqa: E501 (programs are text, not code of ours)
"""Exceptions that a candidate has caught, and keeps or gives out: they have the tracebacks that they had."""

from __future__ import annotations

import pytest
from shared_sandboxes import SHARED
from test_unittest_suites import scored

pytestmark = SHARED

CANDIDATE = """
import traceback

def attempt(function):
    try: return function(), None
    except Exception as error: return None, error

def inner(): return 1 / 0
def failing(): return attempt(inner)[1]

class Task:
    def __init__(self): self.error = None
    def run(self):
        try: self.work()
        except Exception as error:
            self.error = error
            raise
    def work(self): raise KeyError("k")
    def report(self): return "".join(traceback.format_exception(type(self.error), self.error, self.error.__traceback__))
"""
GIVEN = "error = failing()\n    assert isinstance(error, ZeroDivisionError) and error.__traceback__ is not None"
SHOWN = "shown = traceback.format_exception(None, (error := failing()), error.__traceback__)\n    assert shown[0].startswith('Traceback') and shown[-1] == 'ZeroDivisionError: division by zero\\n'"
KEPT = "task = Task()\n    with pytest.raises(KeyError): task.run()\n    assert 'in work' in task.report()"
NAMED = "assert 'inner' in ''.join(traceback.format_tb(failing().__traceback__))"


def suite(body: str) -> str:
    """One test of it."""
    return f"import traceback\nimport pytest\nfrom solution import Task, failing\ndef test_a():\n    {body}\n"


@pytest.mark.parametrize("body", [GIVEN, SHOWN, KEPT])
async def test_a_traceback_stays_with_its_error(body: str) -> None:
    paid = await scored(CANDIDATE, suite(body), "pytest")
    assert (paid.score, str(paid.validity)) == (1.0, "valid"), paid.detail


async def test_what_frames_it_had_is_not_served() -> None:
    """Who fails in one process as well has failed."""
    right = await scored(CANDIDATE, suite(NAMED), "pytest")
    assert (right.score, "the traceback of an exception" in right.detail) == (None, True), right.detail
    wrong = await scored(CANDIDATE.replace("inner", "other"), suite(NAMED), "pytest")
    assert (wrong.score, str(wrong.validity)) == (0.0, "valid"), wrong.detail
