# ruff: noqa: E501 (programs are text, not code of ours)
"""Functions of Python's that trusted code keeps, and calls from wherever it has put them."""

from __future__ import annotations

import ast
import sys
from types import ModuleType
from typing import Any

import pytest

from harena.scoring.guest import suite_rewriter

FORGER = "class L:\n    def __eq__(s, o): return True\n    __hash__ = None\ndef f(): return L()\n"
KEPT = {
    "a name": "same = operator.eq\nr = same(f(), 3)",
    "a table": "r = {'=': operator.eq}.get('=')(f(), 3)",
    "a named tuple": "c = collections.namedtuple('Case', 'op want')(operator.eq, 3)\nr = c.op(f(), c.want)",
    "an object": "r = types.SimpleNamespace(op=operator.eq).op(f(), 3)",
    "an attribute that is set": "class C: pass\nsetattr(C, 'op', operator.eq)\nr = C.op(f(), 3)",
    "attributes that are set together": "class C:\n    def __init__(s, **k): s.__dict__.update(k)\nr = C(op=operator.eq).op(f(), 3)",
    "a made class": "r = dataclasses.make_dataclass('C', ['op'])(operator.eq).op(f(), 3)",
    "a name that is set": "globals()['same'] = operator.eq\nr = same(f(), 3)",
    "a case": "match [operator.eq]:\n    case [op]: r = op(f(), 3)",
    "a name of another file": "from kept_elsewhere import EQ\nr = EQ(f(), 3)",
    "an attribute of another file": "import kept_elsewhere\nr = kept_elsewhere.EQ(f(), 3)",
    "a class of another file": "from kept_elsewhere import B\nclass T(B):\n    def go(s): return s.cmp(f(), 3)\nr = T().go()",
}  # fmt: skip
HEAD = "import collections, dataclasses, operator, types\n"
ELSEWHERE = "import operator\nEQ = operator.eq\nclass B:\n    cmp = staticmethod(operator.eq)\n"


def _run(text: str, names: dict[str, Any]) -> None:
    tree = ast.parse(text)
    suite_rewriter.ComparisonsBeside(tree, (), hands=True).visit(tree)
    names.update(suite_rewriter.comparisons(lambda kind: False, lambda value: False))
    exec(compile(ast.fix_missing_locations(tree), "suite", "exec"), names)  # the tests' code, as their process runs it


@pytest.mark.parametrize("name", KEPT)
def test_an_object_that_equals_everything_does_not_wherever_it_is_compared(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Most of these places were not among those from which a call was judged."""
    forger: dict[str, Any] = {}
    exec(FORGER, forger)  # the candidate's code
    elsewhere = ModuleType("kept_elsewhere")
    _run(ELSEWHERE, vars(elsewhere))
    monkeypatch.setitem(sys.modules, "kept_elsewhere", elsewhere)
    names = {"f": forger["f"], "__name__": "suite"}
    _run(HEAD + KEPT[name], names)
    assert names["r"] is False
