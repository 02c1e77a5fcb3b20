# ruff: noqa: E501 (programs are text, not code of ours)
"""Candidates that set what a function, a class or an object of the suite's is made of."""

from __future__ import annotations

import pytest
from shared_sandboxes import SHARED
from test_unittest_suites import scored

from harena.core.results import Trust

pytestmark = SHARED

FUNCTION = "from solution import change\ndef g(a, b=1, *, c=2): return (a, b, c)\ndef test_a():\n    assert g(0) == (0, 1, 2)\n    change(g)\n    assert {}\n"
CLASS = "from solution import change\nclass Other:\n    def hi(self): return 'other'\nclass First:\n    def hi(self): return 'first'\nclass K(First):\n    x: int = 1\n    def m(self, v=3): return self.x, v\ndef test_a():\n    o = K()\n    change({})\n    assert {}\n"
SETS: dict[str, tuple[str, str]] = {
    "defaults": ("g(0) == (0, 10, 2)", "f.__defaults__ = (10,)"),
    "defaults by their name": ("g(0) == (0, 10, 2)", "setattr(f, '__defaults__', (10,))"),
    "no defaults": ("g.__defaults__ is None", "del f.__defaults__"),
    "defaults of keywords": ("g(0) == (0, 1, 9)", "f.__kwdefaults__ = {'c': 9}"),
    "one default": ("g(0) == (0, 1, 9)", "f.__kwdefaults__['c'] = 9"),
    "annotations": ("g.__annotations__ == {'a': int}", "f.__annotations__ = {'a': int}"),
    "one annotation": ("g.__annotations__ == {'a': int}", "f.__annotations__['a'] = int"),
    "all attributes": ("g.tag == 5", "f.__dict__ = {'tag': 5}"),
    "what it wraps": ("g.__wrapped__ == 5", "f.__wrapped__ = 5"),
    "its signature": ("str(__import__('inspect').signature(g)) == '(z)'", "import inspect; f.__signature__ = inspect.Signature([inspect.Parameter('z', inspect.Parameter.POSITIONAL_OR_KEYWORD)])"),
    "its module": ("g.__module__ == 'm'", "f.__module__ = 'm'"),
    "its qualified name": ("g.__qualname__ == 'q'", "f.__qualname__ = 'q'"),
}  # fmt: skip
"""what a test asks for -> what the candidate does"""
SERVED: dict[str, tuple[str, str]] = {
    "an attribute": ("g.tag == 5", "f.__dict__['tag'] = 5"),
    "attributes": ("g.tag == 5", "f.__dict__.update(tag=5)"),
    "its name": ("g.__name__ == 'q'", "f.__name__ = 'q'"),
    "its docstring": ("g.__doc__ == 'q'", "f.__doc__ = 'q'"),
}
OBJECTS: dict[str, tuple[str, str, str]] = {
    "class": ("[o, Other]", "o.hi() == 'other'", "f[0].__class__ = f[1]"),
    "attributes": ("[o]", "o.m() == (7, 3)", "f[0].__dict__.update(x=7)"),
    "all attributes": ("[o]", "o.m() == (7, 3)", "f[0].__dict__ = {'x': 7}"),
    "docstring": ("[o]", "o.__doc__ == 'q'", "f[0].__doc__ = 'q'"),
    "bases": ("[K, Other]", "o.hi() == 'other'", "f[0].__bases__ = (f[1],)"),
    "an attribute of a class": ("[K]", "o.m() == (8, 3)", "f[0].x = 8"),
    "the name of a class": ("[K]", "K.__name__ == 'q'", "f[0].__name__ = 'q'"),
    "annotations of a class": ("[K]", "K.__annotations__['y'] is str", "f[0].__annotations__['y'] = str"),
    "a method": ("[K]", "o.m() == 8", "f[0].m = lambda self: 8"),
    "defaults of a method": ("[K]", "o.m() == (1, 8)", "f[0].m.__defaults__ = (8,)"),
}
NOTHING = "def change(f): pass\n"


def program(body: str) -> str:
    return f"def change(f):\n    {body}\n"


@pytest.mark.parametrize("name", SETS)
async def test_what_is_set_of_a_function_and_not_told_is_no_failure(name: str) -> None:
    """Without a gold solution nobody is paid in the tests' process, and who fails there, too, is wrong."""
    asks, does = SETS[name]
    found = await scored(program(does), FUNCTION.format(asks), "pytest")
    assert (found.score, str(found.validity)) == (None, "invalid"), found.detail
    assert "of a function of the suite's" in str(found.detail)


async def test_who_sets_something_else_is_wrong() -> None:
    """What cannot be told is no excuse for who fails in the suite's process."""
    for does in ("f.__defaults__ = (11,)", "f.__wrapped__ = 1", "pass"):
        found = await scored(program(does), FUNCTION.format("g(0) == (0, 10, 2)"), "pytest")
        assert (found.score, str(found.validity)) == (0.0, "valid"), found.detail


async def test_with_a_gold_solution_it_is_paid() -> None:
    asks, does = SETS["defaults"]
    gold = {"solution.py": program(does)}
    found = await scored(program(f"{does}\n    return f"), FUNCTION.format(asks), "pytest", gold=gold)
    assert (found.score, found.trust) == (1.0, Trust.SHARED), found.detail
    wrong = await scored(NOTHING, FUNCTION.format(asks), "pytest", gold=gold)
    assert (wrong.score, str(wrong.validity)) == (0.0, "valid"), wrong.detail


async def test_a_function_that_is_given_to_nobody_keeps_its_defaults() -> None:
    suite = "from solution import f\ndef wanted(n, k=2): return n * k\ndef test_a():\n    for n in range(1, 4): assert f(n) == wanted(n)\n"
    forgery = "def f(n):\n    import test_it\n    test_it.wanted.__defaults__ = (0,)\n    return 0\n"
    found = await scored(forgery, suite, "pytest", isolate=False)
    assert found.score == 0.0, found.detail


@pytest.mark.parametrize("name", SERVED)
async def test_what_both_sides_are_told_is_served(name: str) -> None:
    asks, does = SERVED[name]
    found = await scored(program(does), FUNCTION.format(asks), "pytest")
    assert (found.score, found.trust) == (1.0, Trust.SEPARATE), found.detail


@pytest.mark.parametrize("name", OBJECTS)
async def test_nor_is_what_is_set_of_objects_and_classes(name: str) -> None:
    given, asks, does = OBJECTS[name]
    found = await scored(program(does), CLASS.format(given, asks), "pytest")
    assert (found.score, str(found.validity)) in ((None, "invalid"), (1.0, "valid")), found.detail
