# ruff: noqa: E501 (programs are text, not code of ours)
"""Descriptors that a candidate makes, in classes of the suite's: no right program has a valid 0 for one."""

from __future__ import annotations

import pytest
from shared_sandboxes import SHARED
from test_unittest_suites import scored

pytestmark = SHARED
LAZY = "def lazy(f):\n    name = '_' + f.__name__\n    @{0}\n    def g(self):\n        if not hasattr(self, name): setattr(self, name, f(self))\n        return getattr(self, name)\n    return g\n"
ONCE = "from solution import lazy\ndef test():\n    calls = []\n    class A:\n        @lazy\n        def prop(self):\n            calls.append(1)\n            return 7\n    a = A()\n    assert a.prop == 7 and a.prop == 7\n    assert len(calls) == 1\n"
TYPED = "def typed(name, kind):\n    at = '_' + name\n    @property\n    def p(self): return getattr(self, at)\n    @p.setter\n    def p(self, value):\n        if not isinstance(value, kind): raise TypeError(name)\n        setattr(self, at, value)\n    return p\n"
CHECKED = "import pytest\nfrom solution import typed\nclass P:\n    age = typed('age', int)\n    def __init__(self, age): self.age = age\ndef test():\n    p = P(3)\n    assert p.age == 3\n    with pytest.raises(TypeError): p.age = 'x'\n    p.age = 5\n    assert p.age == 5\n"
UNSERVED = {
    "a property": (LAZY.format("property"), ONCE),
    "of a class that derives from it": ("class P(property): pass\n" + LAZY.format("P"), ONCE),
    "an abstract one": ("import abc\n" + LAZY.format("abc.abstractproperty"), ONCE),
    "of an enumeration": ("import types\n" + LAZY.format("types.DynamicClassAttribute"), ONCE),
    "with a setter": (TYPED, CHECKED),
}  # fmt: skip
SERVED = {
    "a cached one": ("import functools\ndef lazy(f):\n    found = functools.cached_property(f)\n    found.__set_name__(None, 'prop')\n    return found\n", ONCE),
    "a property without state": ("def lazy(f): return property(lambda self: f(self))\n", ONCE.replace("== 1\n", "== 2\n")),
    "a class method": ("def mk(f): return classmethod(f)\n", "from solution import mk\ndef test():\n    class A: f = mk(lambda cls: 5)\n    assert A.f() == 5\n"),
    "a static method": ("def mk(f): return staticmethod(f)\n", "from solution import mk\ndef test():\n    class A: f = mk(lambda: 5)\n    assert A.f() == 5 and A().f() == 5\n"),
    "a partial method": ("import functools\ndef mk(f, *given): return functools.partialmethod(f, *given)\n", "from solution import mk\ndef test():\n    class A:\n        def g(self, a, b): return a - b\n        f = mk(g, 3)\n    assert A().f(1) == 2\n"),
    "a cache": ("import functools\ndef memo(f): return functools.lru_cache(None)(f)\n", "from solution import memo\ndef test():\n    seen = []\n    class A:\n        @memo\n        def f(self, x):\n            seen.append(x)\n            return 2 * x\n    a = A()\n    assert (a.f(2), a.f(2), seen) == (4, 4, [2])\n"),
    "a function": ("def mk(k):\n    def f(self, x): return self.n + k + x\n    return f\n", "from solution import mk\ndef test():\n    class A:\n        n, f = 3, mk(2)\n    assert A().f(2) == 7\n"),
}  # fmt: skip


@pytest.mark.parametrize("name", UNSERVED)
async def test_a_descriptor_that_is_not_served_is_no_valid_nothing(name: str) -> None:
    """A right program is not taught that it is wrong."""
    candidate, suite = UNSERVED[name]
    result = await scored(candidate, suite, kind="pytest")
    assert (result.score, str(result.validity)) == (None, "invalid"), result.detail
    assert "a class of its own has a descriptor of the candidate's" in result.detail


async def test_a_wrong_descriptor_scores_nothing() -> None:
    """The run in one process tells."""
    for candidate, suite in (
        ("lazy = property\n", ONCE),
        ("def typed(name, kind): return property(lambda self: 3)\n", CHECKED),
    ):
        result = await scored(candidate, suite, kind="pytest")
        assert (result.score, str(result.validity)) == (0.0, "valid"), result.detail


@pytest.mark.parametrize("name", SERVED)
async def test_a_descriptor_that_needs_nothing_private_is_paid(name: str) -> None:
    """Its methods are the candidate's."""
    candidate, suite = SERVED[name]
    result = await scored(candidate, suite, kind="pytest")
    assert (result.score, result.detail) == (1.0, "")
