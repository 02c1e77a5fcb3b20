"""What tests do with ordinary objects of a candidate's that lives in another process comes to what it comes to in plain
Python, or is noted, so that a failure does not count as the candidate's; and no object decides by it what is right."""

from __future__ import annotations

from pathlib import Path

import pytest
from operator_table import compared
from ordinary_objects import CANDIDATE, OPERATIONS

WRONG = (
    ("self.items = list(v)", "self.items = list(v) + [4, 9]"),
    ("self._d = k", "self._d = dict.fromkeys(k, 7)"),
    ("return self.a <= x < self.b", "return self.a < x <= self.b"),
    ("self['in'] = True; return self", "return dict(self)"),
    ("self.append('enter'); return self", "return self"),
    ("return iter(range(self))", "return iter(range(self + 1))"),
    ("return self * x", "return self + x"),
    ("return self.pop(0)", "return self.pop()"),
    ("return k * 2", "return k * 3"),
    ("super().__setitem__(k.upper(), v)", "super().__setitem__(k, v)"),
    ("super().__init__(code); self.code = code", "super().__init__(code); self.code = code + 1"),
    ("return self.n + x + sum(a) + k", "return self.n"),
    ("return self.t < o.t", "return self.t > o.t"),
    ("def total(self): return sum", "def total(self): return -sum"),
    ("yield i + total", "yield i"),
    ("return hash(self.k)", "return 3"),
    ("def __len__(self): return self.value", "def __len__(self): return 9"),
)
LIARS = """
import enum, typing
class Always:
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __hash__(self): return 0
    __lt__ = __gt__ = __le__ = __ge__ = __contains__ = __bool__ = lambda self, *other: True
    def __len__(self): return 3
    def __getitem__(self, key): return True
    def __call__(self, *given): return True
    def __enter__(self): return self
    def __exit__(self, *error): return True
    has = startswith = issuperset = equals = lambda self, *given: True
NAMES = {name: value for name, value in vars(Always).items() if name not in ("__dict__", "__weakref__")}
class Liar(enum.Enum):
    ONE = 1
    __contains__ = lambda self, other: True
class Wrong(enum.IntEnum):
    ONE = 1
    __contains__ = lambda self, other: True
    def __len__(self): return 3
def f(kind):
    if kind == "enum": return Liar(1)
    if kind == "int enum": return Wrong(1)
    base = {"int": int, "str": str, "list": list, "tuple": tuple, "dict": dict, "set": set, "float": float,
            "bytes": bytes, "error": Exception, "object": object}[kind]
    return type("liar", (base,), dict(NAMES))()
"""
KINDS = ("int", "str", "list", "tuple", "dict", "set", "float", "bytes", "error", "object", "enum",
         "int enum")  # fmt: skip
JUDGEMENTS = (
    "return 'right' in {}", "return {} == 'right'", "return 'right' == {}", "return {} == 5", "return len({}) == 3",
    "return {} > 4", "return [{}] == [5]", "return 5 in [{}]", "return {}['right'] is True",
    "return {}.startswith('right')",
    "return {}.equals('right')", "return {}.issuperset(['right'])", "return {} != 5 and False or {} == [1, 2]",
    "x = {}\nwith x: assert False\nreturn True", "return 5 in {}.values()",
)  # fmt: skip


@pytest.fixture(scope="module")
def right(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[str, str, list[str]]]:
    """What the right program's objects come to."""
    return compared(tmp_path_factory.mktemp("right"), CANDIDATE, OPERATIONS)


def test_ordinary_objects_are_served_or_noted(right: dict[str, tuple[str, str, list[str]]]) -> None:
    """Of more than a thousand operations, nearly all are served, and none is lost."""
    lost = {name: parts for name, parts in right.items() if parts[0] != parts[1] and not parts[2]}
    assert lost == {}
    served = sum(plain == apart for plain, apart, _ in right.values())
    assert served > 0.9 * len(OPERATIONS) > 1000


def test_what_is_wrong_is_seen(tmp_path: Path, right: dict[str, tuple[str, str, list[str]]]) -> None:
    """A wrong program's objects show where they differ from the right one's, as in plain Python."""
    text = CANDIDATE
    for edit in WRONG:
        assert edit[0] in text
        text = text.replace(*edit)
    wrong = compared(tmp_path, text, OPERATIONS[::4])
    differing = [name for name in wrong if wrong[name][0] != right[name][0]]
    assert len(differing) > 50
    # what is noted was judged as the plain value that the object is made of; the run in one process sees the rest
    unseen = [name for name in differing if wrong[name][1] == right[name][0] and not wrong[name][2]]
    assert unseen == []


@pytest.mark.parametrize("kind", KINDS)
def test_who_says_yes_to_all_is_not_believed(tmp_path: Path, kind: str) -> None:
    """Of no plain value, by whatever protocol: a value is what it is made of, and an object is not asked."""
    operations = [each.replace("{}", f"solution.f({kind!r})") for each in JUDGEMENTS]
    found = compared(tmp_path, LIARS, operations)
    assert {name: apart for name, (_, apart, _) in found.items() if apart == "True"} == {}
