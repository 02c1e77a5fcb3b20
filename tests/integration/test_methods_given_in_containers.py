"""Bound methods of the candidate's objects that a suite gives back in lists, in dicts and side by side."""

from __future__ import annotations

import pytest
from shared_sandboxes import SHARED, judged

from harena.core.results import Trust, Validity
from harena.scoring import load_scenarios

pytestmark = SHARED
COMMANDS = """
class C:
    def __init__(self): self.n = 0
    def inc(self): self.n += 1; return self.n
    def add(self, k): self.n += k; return self.n
def run(fs): return [f() for f in fs]
class Cmd:
    def __init__(self, do, undo): self.do, self.undo = do, undo
class Button:
    def __init__(self): self.fs = []
    def on(self, *fs): self.fs.extend(fs)
    def press(self): return [f() for f in self.fs]
"""
USES = {
    "a list": "c = C(); assert run([c.inc]) == [1]; assert c.n == 1",
    "the same one twice": "c = C(); assert run((c.inc, c.inc)) == [1, 2]",
    "of several objects": "a, b = C(), C(); assert run([a.inc, b.inc, a.inc]) == [1, 1, 2]; assert b.n == 1",
    "two arguments": "c = C(); m = Cmd(c.inc, c.add); m.do(); m.undo(-1); assert c.n == 0",
    "two of any": "a, b = C(), C(); o = Button(); o.on(a.inc, b.inc); assert o.press() == [1, 1]; assert a.n == 1",
    "a nested one": "c = C(); assert run(dict([('x', c.inc)]).values()) == [1]; assert run({c.inc}) == [2]",
    "one alone": "c = C(); o = Button(); o.on(c.inc); o.press(); assert c.n == 1",
}


@pytest.mark.parametrize("name", USES)
async def test_a_bound_method_in_a_container_is_the_candidates_own_again(name: str) -> None:
    suite = f"from solution import *\ndef test_it():\n    {USES[name]}\n"
    scoring = {"type": "command", "pytest": ["test_it.py"], "files": {"test_it.py": suite}}
    for program, score in ((COMMANDS, 1.0), (COMMANDS.replace("+= 1", "+= 2"), 0.0)):
        row = {"id": "one", "candidate": {"files": {"solution.py": program}}, "scoring": scoring}
        found = await judged(load_scenarios([row]).scenarios[0])
        assert (found.score, found.validity) == (score, Validity.VALID), found.detail
        assert found.trust is Trust.SEPARATE
