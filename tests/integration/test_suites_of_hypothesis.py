# ruff: noqa: E501 (programs are text, not code of ours)
"""Property tests and state machines of hypothesis, which reads the tests' text and makes code for them itself."""

from __future__ import annotations

import pytest
from test_unittest_suites import scored

COUNTER = "class Counter:\n    def __init__(self): self.n = 0\n    def inc(self): self.n += 1\n    def dec(self):\n        if not self.n: raise ValueError('zero')\n        self.n -= 1\n"
MACHINE = """
import pytest
from hypothesis import settings
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from solution import Counter

class Machine(RuleBasedStateMachine):
    def __init__(self):
        super().__init__()
        self.counter, self.model = Counter(), 0
    @rule()
    def inc(self):
        self.counter.inc()
        self.model += 1
    @precondition(lambda self: self.model > 0)
    @rule()
    def dec(self):
        self.counter.dec()
        self.model -= 1
    @precondition(lambda self: self.model == 0)
    @rule()
    def refuses(self):
        with pytest.raises(ValueError):
            self.counter.dec()
    @invariant()
    def same(self):
        assert self.counter.n == self.model

Machine.TestCase.settings = settings(max_examples=10, deadline=None, database=None, stateful_step_count=8)
TestMachine = Machine.TestCase
"""


@pytest.mark.parametrize("isolate", [pytest.param("auto", marks=pytest.mark.thorough), False])
async def test_a_machine_judges_as_in_plain_pytest(isolate: object) -> None:
    paid = await scored(COUNTER, MACHINE, "pytest", by_this_interpreter=True, isolate=isolate)
    assert (paid.score, str(paid.validity)) == (1.0, "valid"), paid.detail
    wrong = COUNTER.replace("self.n -= 1", "self.n -= self.n > 1")
    unpaid = await scored(wrong, MACHINE, "pytest", by_this_interpreter=True, isolate=isolate)
    assert (unpaid.score, str(unpaid.validity)) == (0.0, "valid"), unpaid.detail
