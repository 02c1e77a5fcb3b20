"""What is told of functions between a suite and a candidate, and what a hostile candidate may tell."""

from __future__ import annotations

import ast
import datetime
import inspect
import random
import types
import typing
from collections.abc import Callable
from typing import Any

import pytest

from harena.scoring.guest import functions
from harena.scoring.guest.functions import (
    Attributes,
    alias,
    alias_of,
    describe,
    fill_attributes,
    is_plain_annotation,
    literal_defaults,
    signature_of,
    speaker,
    told_attributes,
    with_defaults,
    withheld_default,
)
from harena.scoring.guest.object_graph import Border, GraphError

NO_PLACE = ("made", "somewhere", "")


def asked_by(function: Callable[..., Any]) -> tuple[Any, list[Any]]:
    """A function that speaks for it, and what it was asked."""
    asked: list[Any] = []
    told = signature_of(function, frozenset())
    made = speaker(function.__name__, None, told, NO_PLACE, lambda *operands: asked.append(operands), 7)
    return made, asked


def test_a_speaker_has_the_parameters_of_its_function() -> None:
    """By its code, its signature, its defaults, and by the mistakes that it tells."""

    def f(a: int, /, b: str, c: Any = None, *rest: Any, d: int, e: bool = True, **more: Any) -> None: ...

    made, asked = asked_by(f)
    for name in ("co_argcount", "co_posonlyargcount", "co_kwonlyargcount", "co_name"):
        assert getattr(made.__code__, name) == getattr(f.__code__, name)
    assert [p.kind for p in inspect.signature(made).parameters.values()] == [
        p.kind for p in inspect.signature(f).parameters.values()
    ]
    assert (made.__defaults__, made.__kwdefaults__) == (f.__defaults__, f.__kwdefaults__)
    made(1, "x", 2, 3, 4, d=5, g=6)
    made(1, b="x", d=2)
    assert asked == [((1, "x", 2, 3, 4), {"d": 5, "e": True, "g": 6}), ((1, "x", None), {"d": 2, "e": True})]
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'b'"):
        made(1, d=2)


@pytest.mark.parametrize("name", ["class", "a b", ".0", "_harena_ask", "f(x): pass #"])
def test_a_name_that_is_none_is_never_written_into_code(name: str) -> None:
    """A function with such a parameter takes any operands."""
    made = types.FunctionType(functions._maker(None, "", ""), {"_harena_ask": lambda *operands: operands})
    assert not functions._is_plain_name(name)
    assert made(1, x=2) == ((1,), {"x": 2})


def test_literals_of_a_def_are_told_and_no_other_default() -> None:
    """Names, calls and displays may be what a callback expects."""
    text = (
        "want = 3\n"
        "@staticmethod\n"
        "def f(a, b=1, c=want, d='x', e=-2, *, g=None, h=len, i=(1, 2), j=[3]): ...\n"
        "shown = lambda a, b=1: a\n"
    )
    names: dict[str, Any] = {}
    exec(compile(text, "suite.py", "exec"), names)
    tree = ast.parse(text)
    assert literal_defaults(names["f"].__func__, tree) == {"b", "d", "e", "g"}
    assert literal_defaults(names["shown"], tree) == frozenset()
    assert literal_defaults(names["f"].__func__, None) == frozenset()


def test_a_withheld_default_is_itself_only_where_it_belongs() -> None:
    """By its own parameter, or among any number; and never of another function."""
    expected = object()

    def tell(got: Any, want: Any = expected) -> Any: ...
    def other(got: Any, want: Any = None, *rest: Any, **more: Any) -> Any: ...

    default = withheld_default(tell, 3, "want")
    assert with_defaults(tell, 3, (1, default), ()) == ([1, expected], {})
    assert with_defaults(tell, 3, (1,), (("want", default),)) == ([1], {"want": expected})
    assert with_defaults(tell, 3, (default,), ()) == ([...], {})
    assert with_defaults(tell, 3, (), (("got", default),)) == ([], {"got": ...})
    assert with_defaults(tell, 4, (1, default), ()) == ([1, ...], {})
    assert with_defaults(other, 4, (1, default, default), (("own", default),)) == (
        [1, ..., expected],
        {"own": expected},
    )
    with pytest.raises(KeyError):
        withheld_default(tell, 3, "none")


PLAIN = [
    "int", "list[int]", "Optional['Node']", "a.b.C | None", "Callable[[int, str], bool]", "Literal['a b', -1]",
    "Annotated[int, 'any text (even this)']", "tuple[int, ...]", "dict[str, 'list[Node]']",
]  # fmt: skip
PROGRAMS = [
    "f()", "(exec('1'), int)[1]", "[x for x in y]", "lambda: 1", "a.__class__", "__import__", "(x := 1)", "f'{x}'",
    "a if b else c", "Optional['f()']", "Optional['Optional[\"f()\"]']", "a._b", "a + b", "not a", "int; f()", "",
    "x" * 2000, "{f(): 1}", "await a", "Literal[f()]", "Annotated[int, f()]",
]  # fmt: skip


@pytest.mark.parametrize("text", [*PLAIN, *PROGRAMS])
def test_an_annotation_that_is_a_program_is_not_evaluated(text: str) -> None:
    """Names of types are."""
    assert is_plain_annotation(text) == (text in PLAIN)


def test_a_text_within_an_annotation_is_no_program() -> None:
    """`get_type_hints` evaluates texts that stand in `list[...]` and the like."""
    for told in (("g", ("b", "list"), (("v", "f()"),)), ("t", "Optional", (("s", "f()"),)), ("u", (("s", "f()"),))):
        with pytest.raises(GraphError):
            alias(told)
    assert alias(("t", "Literal", (("v", "f()"),))) == typing.Literal["f()"]


ALIASES = [
    list[int], dict[str, list[int]], typing.List[int], typing.Optional[str], typing.Union[int, str, None], int | str,  # noqa: UP006, UP007, UP045
    typing.Callable[[int, str], bool], typing.Callable[..., Any], typing.Literal["x", 2], tuple[int, ...], type(None),
    typing.Dict[str, typing.Tuple[int, ...]], type[int], list[datetime.date],  # noqa: UP006
]  # fmt: skip


@pytest.mark.parametrize("value", ALIASES, ids=repr)
def test_an_alias_crosses(value: Any) -> None:
    """It is equal on the other side."""
    assert alias(alias_of(value)) == value


def test_what_is_no_alias_is_none() -> None:
    """Classes and values are told in other ways."""
    assert [alias_of(value) for value in (int, 3, len, typing, lambda: 0, "x")] == [None] * 6


HOSTILE = [
    ("g", ("q", "os", "environ"), (("b", "int"),)),
    ("q", "os", "system"),
    ("q", "subprocess", "Popen"),
    ("t", "cast", ()),
    ("g", ("q", "typing", "sys"), (("b", "int"),)),
    ("u", (("q", "os", "environ"), ("b", "int"))),
    ("b", "exec"),
    ("q", "typing", "_SpecialForm"),
    ("t", "List", (("g", ("b", "print"), ()),)),
    ("u", ()),
    ("g",),
    ("t", "Union", None),
]


@pytest.mark.parametrize("told", HOSTILE, ids=repr)
def test_no_annotation_names_what_is_no_class(told: Any) -> None:
    """A candidate that writes its own messages is refused, or has said nothing."""

    def shown(): ...  # type: ignore[no-untyped-def]

    for read in (lambda: alias(told), lambda: describe(shown, None, ((("a", 1, (), told),), ()))):
        try:
            read()
        except (GraphError, KeyError, TypeError, IndexError, ValueError):
            continue
    assert all(isinstance(each, type) for each in shown.__annotations__.values())


def test_an_annotation_that_is_nested_without_end_is_none() -> None:
    """It is refused, however deep."""
    told: Any = ("b", "int")
    for _ in range(80):
        told = ("g", ("b", "list"), (told,))
    with pytest.raises(GraphError):
        alias(told)


def test_an_attribute_that_comes_back_is_told_again() -> None:
    """True, False, True: the third is no value that the other side still has."""
    border = Border(0)
    suites, candidates = Attributes(1, is_suites=True), Attributes(1)
    for owner, value in ((candidates, True), (suites, False), (suites, True), (candidates, False), (suites, True)):
        owner["on"] = value
        other = suites if owner is candidates else candidates
        fill_attributes(border, other, told_attributes(border, owner))
        assert other["on"] is value


def test_what_the_suite_counts_by_is_not_the_candidates_to_set() -> None:
    """A name stays what the suite says where it has set it first, and is both's where the candidate has."""
    border = Border(0)
    suites = Attributes(1, {"calls": 2}, is_suites=True)
    fill_attributes(border, suites, [1, "calls", 1, "seen", 1])
    assert suites == {"calls": 2, "seen": 1}
    fill_attributes(border, suites, [1])
    assert suites == {"calls": 2}


def test_attributes_keep_what_steers_tests() -> None:
    """Whatever a candidate tells, names of test runners stay the suite's, and values that did not cross stay there."""

    def f() -> None:
        """Adds."""

    border = Border(0)
    held = Attributes(1, {"own": object(), "told": 3, "pytestmark": [1]}, is_suites=True)
    held.belong_to(f)
    f.__dict__ = held
    border.refer = lambda value: (_ for _ in ()).throw(TypeError("withheld"))  # type: ignore[method-assign]
    state = told_attributes(border, held)
    assert (state[0], dict(zip(state[1::2], state[2::2], strict=True))["told"], held.untold) == (1, 3, {"own"})
    rng = random.Random(11)
    steering = ["pytestmark", "__test__", "__wrapped__", "__unittest_skip__", "patchings", 3, None]
    names = [*steering, "a", "_b", "__c__", "told"]
    for _ in range(200):
        chosen = rng.sample(names, rng.randint(0, len(names)))
        fill_attributes(border, held, [1, *(part for name in chosen for part in (name, rng.choice([1, "x", None])))])
        assert (held["pytestmark"], "own" in held) == ([1], True)
        assert not set(steering[1:]) & set(held)
    fill_attributes(border, held, [1, "__doc__", "Other.", "__name__", "g", "__name__", 3])
    assert (f.__doc__, held.names["__doc__"]) == ("Other.", "Other.")
