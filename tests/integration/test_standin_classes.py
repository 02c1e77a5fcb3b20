"""Classes of a candidate's that a suite uses in ordinary ways, which stand-ins once refused."""

from __future__ import annotations

from typing import Any

import pytest
from shared_sandboxes import SHARED
from test_given_functions import replaced, suite_of
from test_unittest_suites import scored

pytestmark = SHARED

FROZEN = """
class Frozen(dict):
    @classmethod
    def fromkeys(cls, keys, value=None):
        return cls({key: value for key in keys})
    def __setitem__(self, key, value):
        raise TypeError("frozen")
"""
CASELESS = """
class Caseless(dict):
    def __init__(self, items):
        super().__init__({key.lower(): (key, value) for key, value in items.items()})
    def __eq__(self, other):
        return {key.lower(): value for key, value in other.items()} == {key: pair[1] for key, pair in dict.items(self)}
    def __ne__(self, other):
        return not self == other
"""

MULTI = """
class Multi(dict):
    def __init__(self, pairs):
        super().__init__(pairs)
        self.pairs = list(pairs)
    def items(self, multi=False):
        return list(self.pairs if multi else super().items())
    def inverted(self):
        return Multi([(value, key) for key, value in self.pairs])
"""

SERVED: dict[str, tuple[Any, str, tuple[str, str]]] = {
    "a method of a plain type's name with a parameter more": (
        MULTI,
        """
        found = Multi([("a", 1), ("b", 1)]).inverted()
        assert len(found.items(multi=True)) == 2 and len(found.items(True)) == 2
        assert list(found.items()) == [(1, "b")]
        """,
        ("self.pairs if multi else", "() if multi else"),
    ),
    "an attribute in the place of a plain type's method": (
        """
class Munch(dict):
    def __setattr__(self, name, value):
        try: object.__getattribute__(self, name)
        except AttributeError: self[name] = value
        else: object.__setattr__(self, name, value)
""",
        """
        found = Munch(a=1)
        assert callable(found.values)
        found.values = 3
        assert found.values == 3 and "values" not in found
        del found.values
        assert list(found.values()) == [1]
        """,
        ("object.__setattr__(self, name, value)", "self[name] = value"),
    ),
    "the end of a with is handled as the exception is": (
        """
import sys, traceback
class Logs:
    def __init__(self, told): self.told = told
    def __enter__(self): return self
    def __exit__(self, kind, error, trace):
        if kind is not None:
            self.told(traceback.format_exc())
            self.told(traceback.format_exception(kind, error, trace)[0])
            self.told(sys.exc_info()[1] is error and trace.tb_lineno > 0)
        return kind is ZeroDivisionError
""",
        """
        told = []
        with Logs(told.append): 1 / 0
        assert told[0].startswith("Traceback") and "ZeroDivisionError: division by zero" in told[0]
        assert told[1].startswith("Traceback") and told[2] is True
        with pytest.raises(ValueError):
            with Logs(told.append): int("x")
        assert len(told) == 6
        """,
        ("is ZeroDivisionError", "is ValueError"),
    ),
    "its exceptions, raised by a function of the suite's": (
        """
class Skip(Exception):
    def __init__(self, value=None): self.value = value
class Retry(Exception): pass
def memoize(function):
    memory = {}
    def inner(key):
        if key not in memory:
            try: memory[key] = function(key)
            except Skip as skip: return skip.value
        return memory[key]
    return inner
memoize.skip = Skip
def retried(function, times=3):
    for left in reversed(range(times)):
        try: return function()
        except Retry:
            if not left: raise
def fails(): raise Retry("again")
def counted(function):
    error = None
    for count in (1, 2, 3):
        try: return function()
        except Retry as found:
            found.count, found.args = count, (f"{count} times",)
            error = found
    raise error
""",
        """
        calls = []
        @memoize
        def inc(x):
            calls.append(x)
            if x == 2: raise memoize.skip
            if x == 3: raise memoize.skip(42)
            if x == 4: raise Skip(43)
            return x + 1
        assert [inc(x) for x in (1, 1, 2, 2, 3, 4)] == [2, 2, None, None, 42, 43] and calls == [1, 2, 2, 3, 4]
        left = [fails, fails]
        assert retried(lambda: left.pop()() if left else "done") == "done"
        with pytest.raises(Retry, match="again"): retried(lambda: fails())
        with pytest.raises(Retry, match="3 times") as found: counted(lambda: fails())
        assert found.value.count == 3
        """,
        ("return skip.value", "return 0"),
    ),
    "what both sides have, given and had back": (
        """
class Cache(dict):
    def __init__(self, choice=max, kind=list):
        super().__init__(a=1)
        self.choice, self.kind = choice, kind
    def chosen(self): return self.choice(3, 1)
""",
        """
        import collections, math
        cache = Cache(min, collections.OrderedDict)
        assert cache.choice is min and cache.kind is collections.OrderedDict and cache.chosen() == 1
        assert Cache(math.gcd).chosen() == 1 and Cache(math.gcd).choice is math.gcd
        assert vars(cache) == cache.__dict__ == {"choice": min, "kind": collections.OrderedDict}
        """,
        ("self.choice(3, 1)", "self.choice(3, 3)"),
    ),
    "attributes between underscores": (
        """
class Many(dict):
    __slots__ = ("z",)
class Abstract:
    def __init__(self): self.__isabstractmethod__ = True
    __version__ = "3"
    __annotations__ = {"x": int}
def made(): return [Abstract(), Many()]
""",
        """
        import abc
        found, many = made()
        assert found.__version__ == "3" and many.__slots__ == ("z",)
        assert found.__annotations__ == {"x": int} and not hasattr(many, "__annotations__")
        wanting = abc.ABCMeta("Wanting", (), {"method": found})
        with pytest.raises(TypeError): wanting()
        """,
        ("= True", "= False"),
    ),
    "operands that are called cls, self and name": (
        """
class Tag:
    def __init__(this, kind, **attributes): this.kind, this.attributes = kind, attributes
    def with_(this, **attributes): return Tag(this.kind, **attributes)
def tag(kind, **attributes): return [kind, attributes]
""",
        """
        made = Tag("a", cls="main", self=1, name="x")
        assert made.attributes == {"cls": "main", "self": 1, "name": "x"}
        assert made.with_(cls="b", self=2).attributes == {"cls": "b", "self": 2}
        assert tag("a", cls="c", self=3, name=4) == ["a", {"cls": "c", "self": 3, "name": 4}]
        """,
        ("[kind, attributes]", "[kind]"),
    ),
    "a class method of a plain type's name": (
        FROZEN,
        """
        frozen = Frozen.fromkeys(keys=["a"], value=3)
        assert isinstance(frozen, Frozen) and frozen["a"] == 3
        with pytest.raises(TypeError): frozen["b"] = 1
        """,
        ("key: value for", "key: None for"),
    ),
    "the equality of what is made of a dict": (
        CASELESS,
        """
        made = Caseless({"Aa": 1})
        assert made == {"aa": 1} and made == {"AA": 1} and made != {"aa": 2} and not made != {"aA": 1}
        """,
        ("key.lower(): value for", "key: value for"),
    ),
}


@pytest.mark.parametrize("name", SERVED)
async def test_what_its_classes_do_is_the_candidates(name: str) -> None:
    """A right program is paid, and a wrong one is not."""
    candidate, body, edit = SERVED[name]
    right = await scored(candidate, suite_of(body), kind="pytest")
    assert (right.score, right.detail) == (1.0, "")
    wrong = await scored(replaced(candidate, *edit), suite_of(body), kind="pytest")
    assert (wrong.score, str(wrong.validity)) == (0.0, "valid")


EQUAL_TO_ALL = """
class Caseless(dict):
    def __eq__(self, other): return isinstance(other, dict)
    def __ne__(self, other): return not self == other
"""


async def test_a_dict_that_equals_every_dict_is_not_paid() -> None:
    """What it says of a plain dict counts only where it tells dicts apart."""
    body = """
    assert Caseless({"Aa": 1}) == {"aa": 1}
    """
    result = await scored(EQUAL_TO_ALL, suite_of(body), kind="pytest")
    assert (result.score, str(result.validity)) == (0.0, "valid")


async def test_a_class_that_is_derived_from_with_a_keyword_called_name_is_not_served() -> None:
    """It is told as what cannot be served, and is no error of the stand-in's."""
    candidate = """
class Plugin:
    known = {}
    def __init_subclass__(cls, name=None): Plugin.known[name] = cls
"""
    body = """
    class Own(Plugin, name="own"): pass
    assert Plugin.known == {"own": Own}
    """
    result = await scored(candidate, suite_of(body), kind="pytest")
    assert (result.score, str(result.validity), "derives a class" in result.detail) == (None, "invalid", True)


async def test_a_container_that_is_pickled_is_not_served() -> None:
    """What is made of it anew is in the suite's process alone."""
    candidate = """
class Multi(dict):
    def __init__(self, pairs=()):
        super().__init__()
        for key, value in pairs: super().setdefault(key, []).append(value)
    def __reduce__(self): return Multi, ([(key, value) for key, values in super().items() for value in values],)
    def __getitem__(self, key): return super().__getitem__(key)[-1]
"""
    body = """
    import pickle
    again = pickle.loads(pickle.dumps(Multi([("a", 1), ("a", 2)])))
    assert (again["a"], type(again).__name__) == (2, "Multi")
    """
    result = await scored(candidate, suite_of(body), kind="pytest")
    assert result.score is None or (result.score, str(result.trust)) == (1.0, "shared")


STARRED = {
    "test_it.py": "from solution import *\ndef test_add(): assert compose(1, 2) == 3\n",
    "test_other.py": "from solution import compose\ndef test_it(): assert compose(1, 1) == 2\n",
    "helper.py": "from solution import *\n",
    "test_more.py": "def wanted(): return 4\nfrom helper import *\ndef test_more(): assert compose(2, 2) == wanted()\n",
}


@pytest.mark.parametrize("named", [["test_it.py"], ["test_more.py"], ["test_it.py", "test_more.py", "test_other.py"]])
async def test_a_star_import_brings_what_another_file_imports_by_name(named: list[str]) -> None:
    """It once brought no name that any trusted file bound, though only its own file's names may not be taken."""
    right = "def compose(a, b): return a + b\n"
    found = await scored(right, "", kind="pytest", pytest=named, files=STARRED)
    assert (found.score, found.detail) == (1.0, "")
    for wrong in (right.replace("a + b", "a - b"), "def compose(a, b): return 9\ndef wanted(): return 9\n"):
        found = await scored(wrong, "", kind="pytest", pytest=named, files=STARRED)
        assert (found.score, str(found.validity)) == (0.0, "valid")


CHECKED = {
    "helper.py": "def check(a, b): assert a == b\n",
    "pack/__init__.py": "",
    "pack/helper.py": "def check(a, b): assert a == b\n",
    "pack/other.py": "from .helper import *\n",
}
HELPED = ["from helper import *", "from pack.helper import *", "from pack.other import *"]


@pytest.mark.parametrize("helped", HELPED)
@pytest.mark.parametrize("is_last", [True, False])
async def test_a_star_import_takes_no_name_of_a_trusted_module(helped: str, is_last: bool) -> None:
    """What a test has of a helper by a star import stays the helper's, whatever the candidate lists."""
    lines = [helped, "from solution import *"] if is_last else ["from solution import *", helped]
    suite = "\n".join([*lines, "def test_it(): check(add(1, 2), 3)\n"])
    files = {**CHECKED, "test_it.py": suite}
    right = await scored("def add(a, b): return a + b\n", "", kind="pytest", files=files)
    assert (right.score, right.detail) == (1.0, "")
    forged = "def add(a, b): return 9\ndef check(a, b): pass\n__all__ = ['add', 'check']\n"
    for isolate in ("sandbox", "auto"):
        wrong = await scored(forged, "", kind="pytest", files=files, isolate=isolate)
        assert (wrong.score, str(wrong.validity)) == (0.0, "valid")


HANGING = """
import os, tempfile
from solution import Store
def test_it():
    place = tempfile.mkdtemp()  # of which the candidate notices nothing
    store = Store(place)
    store.write("x")
    while not os.path.exists(os.path.join(place, "x")):
        pass
"""
STORE = """
import os
class Store:
    def __init__(self, place): self.place = place
    def write(self, name):
        os.makedirs(self.place, exist_ok=True)
        open(os.path.join(self.place, name), "w").close()
"""


async def test_a_suite_that_is_cut_off_counts_what_it_did_in_its_test() -> None:
    """What stand-ins cannot serve in the test under way excuses it as it does when the test fails; where the candidate
    fails it in the suite's process, too, it is the candidate's doing."""
    found = await scored(STORE, HANGING, kind="pytest", scorer_timeout_seconds=1.0, timeout_seconds=1.0)
    assert (found.score, str(found.validity)) == (None, "invalid"), found.detail
    wrong = STORE.replace('os.path.join(self.place, name), "w"', 'os.path.join(self.place, name + "y"), "w"')
    found = await scored(wrong, HANGING, kind="pytest", scorer_timeout_seconds=1.0, timeout_seconds=1.0)
    assert (found.score, str(found.validity)) == (0.0, "valid"), found.detail
