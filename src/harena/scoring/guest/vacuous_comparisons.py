"""Notes the judgements of a suite that have compared nothing. Standard library only, Python 3.8 and up.

An array without elements equals, and is near, whatever it is compared with: `np.allclose([], 2.5)` is true, and so is
`(np.empty((0, 1)) == expected).all()`. A loop over an empty answer runs no assertion, and `zip` of it and of what is
expected has nothing either. So a comparison has not held in which one side has no elements and the other one has some,
and what is left of both is nothing:

    what operators and functions give for each element, if that has no elements
    a yes of a library's function, or its silence where it is named like an assertion
    `zip` and `map` of an answer without items and a table that has some

Without a gold solution this counts only where, in that test, the candidate has given something empty that no empty
argument of the tests explains: not where the tests have made it empty (`found[1:]`, `found[found > 1]`), where both
sides come from one value of the candidate's, where nothing equal is expected, or where the tests have asserted before,
by a size of their own, how large the answer is (`guest_comparison_origins`).

Nor has an assertion judged anything that says something of each part only (`all(x > 0 for x in found)`,
`(found > 0).all()`, `not any(...)`) where there are no parts, and the candidate has given such an empty answer.

What is empty on both sides is equal. A constant that a full answer meets at the same place (`(ones(n) == 1).all()`) may
meet an empty one, too. Where there is a gold solution, what it does at a place anybody may do there (the host compares
them), and a test of which it executes assertions is passed by no candidate for whom it executes none.

Where the candidate shares the process, nothing of this is found by a name of its own.
"""

from __future__ import annotations

import ast
import builtins
import functools
import itertools
import operator
import os
import re
import sys
import types
import weakref

from harena.scoring.guest.comparison_origins import EQUAL, MINUS, OF_LENGTH, PAIRED, kind_of, open_places
from harena.scoring.guest.executed_assertions import JUDGING, DeepTrees, call_of, located, two_sided, unwrapped

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Any

_EQUAL, _MINUS, _FREE, _CALLED, _JUDGES, _JUDGED, _ENTERED, _PASSED, _PAIRED, _EACH, _SETTLED = (
    f"__harena_hollow_{name}__"
    for name in (
        "equal", "minus", "free", "called", "judges", "judged", "entered", "passed", "paired", "each", "settled",
    )
)  # fmt: skip
OPERATED, FREE_OPERATED = "__harena_operated__", "__harena_operated_free__"
"""what operators call beside a candidate, and what they call for a difference whose size is told"""
_SIZED = frozenset({list, tuple, dict, set, frozenset, str, bytes, range})
_PYTHONS = frozenset({"builtins", "itertools", "collections", "array", "_io", "re"})
"""modules whose classes have what the tests put in their objects"""
_SCALARS = frozenset({bool, int, float, complex})
_PLAIN = _SCALARS | {str}
_NEVER = frozenset({"super", "locals", "globals", "vars", "dir", "eval", "exec", "compile", "breakpoint"})
"""builtins that look at who calls them"""
_KEEPING = frozenset({"list", "dict", "set", "tuple", "sorted", "frozenset", "len", "OrderedDict", "Counter"})
"""what keeps all that `zip` gives, so that its size is compared"""
_EXPECTING = frozenset({"raises", "warns", "skip", "xfail", "fail", "assertRaises", "assertRaisesRegex", "assertWarns"})
"""names like those of assertions that compare nothing"""
_RUNNERS = frozenset({"pytest", "_pytest"})
_INSTALLED = (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}")
_DEEPEST, _MOST_KEYS, _MOST_ITEMS, _MOST_PLACES = 6, 1000, 64, 200
_WAITING = (types.GeneratorType, map, filter, zip, enumerate, reversed)
_FUNCTIONS = (types.FunctionType, types.BuiltinFunctionType, types.MethodType)
_name_of = type.__dict__["__module__"].__get__
_frame, _hint, _chain, _zip, _map = sys._getframe, operator.length_hint, itertools.chain, zip, map
_equals = {operator.eq: "==", operator.ne: "!=", operator.sub: "-"}
THIS_FILE = (lambda: None).__code__.co_filename
_OF_FRAMES = re.compile(r"frame|stack|f_back|caller")
_GUEST = "<harena."
"""how the names of these modules' files begin where they run"""


def _itself(value: Any) -> Any:
    return value


class Hollow:
    """What one run of a suite has compared."""

    def __init__(self, here: str) -> None:
        """`here`: the folder of the suite and the candidate."""
        self._here = os.path.join(here, "")
        self._met: dict[str, set[str]] = {}
        """place -> what a side with elements has met there"""
        self._hollow: list[tuple[str, str, str]] = []
        """(place, kind of comparison, what a side without elements has met there)"""
        self._found: list[tuple[str, str, str]] = []
        """places of the test under way"""
        self._unexplained: list[tuple[str, str, str]] = []
        """places that only an empty answer of the candidate's explains"""
        self._open_places: set[tuple[str, str]] = set()
        """(place, kind) of comparisons which may be of nothing"""
        self._paths: set[str] = set()
        """files of the tests"""
        self._theirs: dict[str, bool] = {}
        self._objects: list[tuple[Callable[[], Any], list[Any]]] = []
        """what gives objects that the candidate has given, where it shares the process, and what these held then that
        has no elements"""
        self._is_in_body = False
        self._has_given = self._has_given_for_all = self._is_explained = False
        self._loops = itertools.count()
        self._open: dict[int, bool] = {}
        self._has_idle_loop = False
        self._judged = self._of_nothing = 0
        self._tests: dict[str, int] = {}
        self._idle: set[str] = set()
        self._installed: dict[str, bool] = {}
        self.hears_calls = False
        """the candidate shares the process, and its calls are heard where the tests make them"""
        self.noting: Callable[[Any], Any] = _itself
        """what gives the function that the tests call in the place of another one, with the same `__wrapped__`"""
        self.plain: Callable[[Any], Any] = _itself
        """what a library is given in the place of a value"""
        self.put_more: Callable[[Any], Any] = _itself
        """what else is put into the tree of a trusted file, where no candidate shares the process"""
        self.heard_equal: Callable[[Any, Any, Any], Any] = lambda left, right, answer: answer
        """what is told of each `==` there: its sides and what it gave"""

    # What became of it.

    def ended(self, test: str) -> None:
        """A test has ended, by its name."""
        if test:
            if self._of_nothing and (self._has_given or self._has_given_for_all) and not self._is_explained:
                self._has_idle_loop = True
            else:
                self._judged += self._of_nothing
            self._tests[test] = self._tests.get(test, 0) + self._judged
            if self._has_idle_loop:
                self._idle.add(test)
        self._judged, self._of_nothing, self._has_idle_loop = 0, 0, False
        self._open.clear()
        if test:
            self._settle()
            self._has_given = self._is_explained = False

    def _settle(self) -> None:
        if (self._has_given or self._has_given_for_all) and not self._is_explained:
            self._unexplained += [each for each in self._found if each[:2] not in self._open_places]
        self._hollow += self._found
        self._found.clear()

    def places(self) -> dict[str, int]:
        """How often nothing was compared, by place."""
        self._settle()
        return self._counted(self._hollow)

    def unexplained(self) -> dict[str, int]:
        """How often nothing was compared, by place, that only an empty answer of the candidate's explains."""
        self._settle()
        return self._counted(self._unexplained)

    def _counted(self, places: list[tuple[str, str, str]]) -> dict[str, int]:
        found: dict[str, int] = {}
        for place, _, key in places:
            if key not in self._met.get(place, ()):
                found[place] = found.get(place, 0) + 1
        return dict(list(found.items())[:_MOST_PLACES])

    def judged(self) -> dict[str, int]:
        """How many judgements were executed, by test."""
        return {test: count for test, count in self._tests.items() if count}

    def silent(self) -> list[str]:
        """Tests that executed no judgement."""
        return sorted(test for test, count in self._tests.items() if not count)

    def unjudged(self) -> list[str]:
        """Tests that have assertions in loops which had nothing to go through, and that executed no other."""
        return sorted(test for test in self._idle if not self._tests[test])

    def watching(self, judged: Callable[..., Any]) -> Callable[..., Any]:
        """What compares or computes in the place of Python's operators, and is noted as these are."""

        def computed(sign: str, left: Any, right: Any, *more: Any) -> Any:
            if type(left) not in _SCALARS or type(right) not in _SCALARS:
                left, right = self._plain_of(left), self._plain_of(right)
            result = judged(sign, left, right, *more)
            return self.computed(sign, left, right, result, _frame(1)) if sign in ("==", "!=", "-") else result

        return computed

    def functions(self) -> dict[str, Callable[..., Any]]:
        """By the names in the tests' code."""
        return {
            _EQUAL: self._compare,
            _MINUS: lambda left, right, compute: self.computed("-", left, right, compute(left, right), _frame(1)),
            _FREE: operator.sub,
            _CALLED: self._called,
            _JUDGES: self._judges,
            _JUDGED: self._judge,
            _ENTERED: self._enter,
            _PASSED: self._pass,
            _PAIRED: self._paired,
            _EACH: self._each,
            _SETTLED: self._settled,
        }

    # What the candidate gives.

    def read(self, path: str, text: str) -> None:
        """The text of a trusted file, before anything of it is run."""
        self._paths.add(path)
        try:
            with DeepTrees():
                found = open_places(ast.parse(text), self._here)
        except (SyntaxError, ValueError, RecursionError):  # its import tells it
            return
        self._open_places.update((f"{self._named(path)}:{line}", kind) for line, kind in found)

    def meets(self, programs: Iterable[str]) -> None:
        """The texts of a candidate that shares the process. Who looks at frames finds those that it would find without
        harena: what it gives is not heard, and counts as nothing."""
        if any(_OF_FRAMES.search(text) for text in programs):
            self.hears_calls, self._has_given_for_all = False, True

    def in_body(self, is_in_body: bool) -> None:
        """What runs now is the body of a test, or no longer; what is given outside of one is there for each."""
        self._is_in_body = is_in_body

    def gave(self, answer: Any, given: Sequence[Any], named: Sequence[Any] = ()) -> None:
        """The candidate has answered the tests, which gave it this."""
        if any(self._has_nothing(each) for each in (*given, *named)):
            if not self._is_data(answer):
                self._is_explained = True  # an object that was made of nothing, or has been told of it
        elif given and type(given[0]) is int and given[0] == 0:
            pass  # the size of what is asked for, as it may be
        elif self._has_nothing(answer) or hasattr(type(answer), "__next__"):  # what such a one gives is seen later
            self._has_given_nothing()
        elif self.hears_calls and not self._is_data(answer) and len(self._objects) < _MOST_KEYS:
            # it ends when the tests hold it no more; what it holds of nothing is kept
            empty = [each for each in _attributes(answer) if self._has_nothing(each)]
            self._objects.append((_weakly(answer), empty))

    def _has_given_nothing(self) -> None:
        self._has_given = True
        self._has_given_for_all |= not self._is_in_body

    def _is_data(self, value: Any) -> bool:
        return type(value) in _PLAIN or type(value) in _SIZED or self._shape(value) is not None

    def _has_nothing(self, value: Any, depth: int = 0) -> bool:
        """It has no elements, or a part of it has none; nothing of the candidate's is asked."""
        kind = type(value)
        if kind in _SIZED:
            is_deep = depth < _DEEPEST and kind not in (str, bytes, range)
            parts = itertools.islice(value.values() if kind is dict else value, _MOST_ITEMS if is_deep else 0)
            return not value or any(self._has_nothing(each, depth + 1) for each in parts)
        if hasattr(kind, "__next__"):
            return _name_of(kind, type) in ("builtins", "itertools") and _hint(value, 1) == 0
        return self._shape(value) is not None and self._count(value, is_list=True) == 0

    def _plain_of(self, value: Any) -> Any:
        """What a library is given in the place of a value. An object that stands for an array without items was given
        by the candidate."""
        found = self.plain(value)
        if found is not value and self._has_nothing(found):
            self._has_given_nothing()
        return found

    def _met_empty(self, side: Any) -> None:
        """A side without items; an object that is of no class of Python's or a library's is the candidate's, and so is
        what an attribute of the candidate's objects holds."""
        module = _name_of(type(side), type)
        is_theirs = type(module) is not str or (module not in _PYTHONS and not self.is_installed(module))
        if is_theirs or any(held is side for given, empty in self._objects for held in (*empty, *_attributes(given()))):
            self._has_given_nothing()

    # What the tests' code calls.

    def _judge(self) -> None:
        self._judged += 1

    def _judges(self, function: Any) -> Any:
        self._judged += 1
        return self._called(function)

    def _enter(self, place: int) -> None:
        self._open[place] = True

    def _pass(self, place: int) -> None:
        if not self._open.pop(place, False):
            self._has_idle_loop = True

    def _each(self, place: int, value: Any) -> Any:
        """What an assertion says something of each part of."""
        if type(value) in _WAITING:
            return self._entering(place, value)
        shape = self._shape(value)
        if (0 not in shape) if shape is not None else (type(value) not in _SIZED or bool(value)):
            self._open[place] = True
        return value

    def _entering(self, place: int, parts: Any) -> Iterator[Any]:
        for part in parts:
            self._open[place] = True
            yield part

    def _settled(self, place: int) -> None:
        """The assertion has held; of nothing, it has judged nothing."""
        if not self._open.pop(place, False):
            self._judged -= 1
            self._of_nothing += 1

    def _compare(self, left: Any, right: Any, compute: Any, sign: str = "==") -> Any:
        answer = compute(left, right)
        if sign == "==":
            self.heard_equal(left, right, answer)
        return self.computed(sign, left, right, answer, _frame(1))

    def computed(self, sign: str, left: Any, right: Any, result: Any, frame: Any) -> Any:
        """The result of an operator; it is noted if it is one of nothing."""
        kind = type(result)
        if kind is bool and type(left) in _PLAIN and type(right) in _PLAIN:
            return result
        if kind is bool:
            if result is (sign == "==") and sign != "-":
                for one, other in _pairs(left, right):
                    self._note(one, other, frame, EQUAL, is_list=False)
        elif self._shape(result) is not None:
            sort = MINUS if sign == "-" else EQUAL
            self._note(left, right, frame, sort, is_list=True, shape=self._shape(result))
        return result

    def _called(self, function: Any) -> Any:
        """The function; one of a library's in such a way that what it says of nothing is noted."""
        function = self.noting(function)
        named, kind = function, type(function)
        while kind is types.FunctionType and "__wrapped__" in vars(named):
            named = vars(named)["__wrapped__"]
            kind = type(named)
        if kind in _FUNCTIONS:
            if kind is types.BuiltinFunctionType and named in _equals:
                sign = _equals[named]
                return lambda left, right: self.computed(sign, left, right, function(left, right), _frame(1))
            module = getattr(named, "__module__", None)
            if not self.is_installed(module) or str(module).partition(".")[0] in _RUNNERS:
                return self._answering(function)
        elif not self._is_of_numpy(kind):
            return self._answering(function)

        plain, known = self.plain, named

        def called(*positional: Any, **named: Any) -> Any:
            if plain is not _itself:
                positional = tuple(map(self._plain_of, positional))
                named = {key: self._plain_of(value) for key, value in named.items()}
            result = function(*positional, **named)
            self._heard(known, positional, named, result, _frame(1))
            return result

        return called

    def _answering(self, function: Any) -> Any:
        """The function; where it is the candidate's and shares the process, so that what it gives is heard."""
        if not self.hears_calls or not self._is_theirs(function):
            return function

        def answering(*positional: Any, **named: Any) -> Any:
            answer = function(*positional, **named)
            self.gave(answer, positional, [*named.values()])
            return answer

        answering.__wrapped__ = function  # type: ignore[attr-defined]
        return answering

    def _is_theirs(self, function: Any) -> bool:
        kind = type(function)
        while kind in (functools._lru_cache_wrapper, functools.partial):
            function = function.func if kind is functools.partial else function.__wrapped__
            kind = type(function)
        if kind is types.MethodType:
            function, kind = function.__func__, type(function.__func__)
        if kind is types.FunctionType:
            path = function.__code__.co_filename
            is_ours = path in self._paths or path.startswith(_GUEST)
            return not is_ours and os.path.realpath(path).startswith(self._here)
        if kind is types.BuiltinFunctionType:
            return False
        module = _name_of(function, type) if isinstance(function, type) else _name_of(kind, type)
        if type(module) is not str:
            return False
        if module not in self._theirs:
            path = getattr(sys.modules.get(module), "__file__", None)
            is_here = type(path) is str and os.path.realpath(path).startswith(self._here)
            self._theirs[module] = is_here and path not in self._paths
        return self._theirs[module]

    def _heard(self, function: Any, positional: Any, named: Any, result: Any, frame: Any) -> None:
        name = str(getattr(function, "__name__", ""))
        given = [*positional[:2], *[each for key, each in named.items() if "tol" not in key][: 2 - len(positional[:2])]]
        if len(given) < 2:
            return
        shape = self._shape(result)
        is_yes = shape == () and str(getattr(result, "dtype", "")) == "bool" and bool(result)
        is_silent = result is None and JUDGING.match(name.lower().lstrip("_")) and "less" not in name
        if result is True or is_yes or is_silent:
            for one, other in _pairs(given[0], given[1]):
                self._note(one, other, frame, kind_of(name), is_list=True)
        elif shape and (self._is_ufunc(function) or str(getattr(result, "dtype", "")).endswith("bool")):
            self._note(given[0], given[1], frame, kind_of(name), is_list=True, shape=shape)

    def _paired(self, function: Any) -> Any:
        """`zip` or `map`, which note that one side has nothing for what is on the other."""
        if function is not _zip and function is not _map:
            return function

        def paired(*given: Any, **named: Any) -> Any:
            sides = given[1:] if function is _map else given
            first = given[:1] if function is _map else ()
            if named or len(sides) < 2:
                return function(*given, **named)
            place = self._place(_frame(1))
            return function(*first, *self._sides(sides, place))

        return paired

    def _sides(self, sides: Any, place: str) -> list[Any]:
        sizes = [_length(each) for each in sides]
        told = next((_key(each) for each, size in _zip(sides, sizes) if size), None)
        if told is None:
            return list(sides)
        if 0 in sizes:
            self._met_empty(sides[sizes.index(0)])
            self._found.append((place, PAIRED, told))
            return list(sides)
        if None not in sizes:
            self._keep(place, told)
            return list(sides)
        at = next(index for index, size in enumerate(sizes) if size)
        full, whole = iter(sides[at]), sizes[at]

        def ends(index: int) -> Iterator[Any]:
            if whole is not None and whole - _hint(full, -1) <= int(index > at):
                self._met_empty(sides[index])
                self._found.append((place, PAIRED, told))
            else:
                self._keep(place, told)
            return
            yield

        return [
            full if index == at else _chain(each, ends(index)) if size is None else each
            for index, (each, size) in enumerate(_zip(sides, sizes))
        ]

    # What has elements.

    def _note(self, one: Any, other: Any, frame: Any, sort: str, *, is_list: bool, shape: Any = None) -> None:
        """Two sides that were compared, in a comparison of this `sort`; `shape`: that of what was computed for each
        element. `is_list`: a list is taken for an array."""
        shapes = self._shape(one), self._shape(other)
        if shapes == (None, None) and not is_list:
            return
        counts = self._count(one, is_list=is_list), self._count(other, is_list=is_list)
        if None in counts:
            return
        if shape is not None and shape != _broadcast(_of_lists(one, shapes[0]), _of_lists(other, shapes[1])):
            return
        if 0 not in counts:
            self._meet(one, other, frame)
        elif counts != (0, 0):
            empty, full = (one, other) if not counts[0] else (other, one)
            self._met_empty(empty)
            place = self._place(frame)
            if (place, sort + OF_LENGTH) in self._open_places and _length(empty) == 0:
                sort += OF_LENGTH
            self._found.append((place, sort, _key(full)))

    def _meet(self, one: Any, other: Any, frame: Any) -> None:
        place = self._place(frame)
        for each in (one, other):
            self._keep(place, _key(each))

    def _keep(self, place: str, key: str) -> None:
        met = self._met.setdefault(place, set())
        if len(met) < _MOST_KEYS:
            met.add(key)

    def _place(self, frame: Any) -> str:
        return f"{self._named(frame.f_code.co_filename)}:{frame.f_lineno}"

    def _named(self, path: str) -> str:
        return path[len(self._here) :] if path.startswith(self._here) else os.path.basename(path)

    def _count(self, value: Any, depth: int = 0, *, is_list: bool) -> int | None:
        """1 where it has elements, 0 where it has none, None where it is nothing of elements."""
        kind = type(value)
        if kind in _SCALARS:
            return 1
        if kind in (list, tuple):
            if depth > _DEEPEST or (not is_list and not depth and value):
                return 1
            parts = (self._count(part, depth + 1, is_list=True) for part in value[:_MOST_ITEMS])
            return int(any(part != 0 for part in parts))
        if _is_approx(kind):
            expected = value.expected
            return self._count([*expected.values()] if type(expected) is dict else expected, depth, is_list=True)
        shape = self._shape(value)
        if shape is None:
            return None
        if 0 in shape:
            return 0
        mask = getattr(value, "mask", None) if hasattr(kind, "_baseclass") else None
        return 1 if mask is None or (not shape and not mask) else int(not bool(getattr(mask, "all", lambda: mask)()))

    def _shape(self, value: Any) -> tuple[int, ...] | None:
        """The shape of an array, whichever library has made its class."""
        kind = type(value)
        if kind in _SCALARS or kind in (str, bytes, list, tuple, dict, type(None)):
            return None
        if not self.is_installed(_name_of(kind, type)):
            return None
        shape = getattr(value, "shape", None)
        try:
            return tuple(int(each) for each in shape) if shape is not None and not callable(shape) else None
        except (TypeError, ValueError):
            return None

    def is_installed(self, module: Any) -> bool:
        """It is a module of a library's that is not Python's own."""
        if type(module) is not str:
            return False
        top = module.partition(".")[0]
        found = self._installed.get(top)
        if found is None:
            path = getattr(sys.modules.get(top), "__file__", None)
            found = type(path) is str and not path.startswith(self._here) and any(part in path for part in _INSTALLED)
            self._installed[top] = found
        return found

    def _is_of_numpy(self, kind: Any) -> bool:
        return type(kind) is type and str(_name_of(kind, type)).partition(".")[0] == "numpy"

    def _is_ufunc(self, function: Any) -> bool:
        return type(function).__name__ == "ufunc"

    # The tests' code.

    def put_statements(self, tree: Any) -> Any:
        """The tree, which tells of the assertions that it executes, and of loops that run none."""
        return _Statements(self._loops).visit(self.put_pairs(tree))

    def put_pairs(self, tree: Any) -> Any:
        """The tree, in which `zip` and `map` tell what they join. It is as its author wrote it but for other names."""
        return _Pairs(tree).visit(tree)

    def put_calls(self, tree: Any, *, is_apart: bool) -> Any:
        """The tree, in which comparisons and calls tell what they compare. `is_apart`: comparisons are Python's own
        still."""
        tree = _Calls(tree, is_apart=is_apart).visit(tree)
        return self.put_more(tree) if is_apart else tree


def _is_approx(kind: Any) -> bool:
    return kind.__name__.startswith("Approx") and str(_name_of(kind, type)).partition(".")[0] in ("_pytest", "pytest")


def _expected(value: Any) -> Any:
    return value.expected if _is_approx(type(value)) else value


def _pairs(left: Any, right: Any, depth: int = 0) -> Iterator[tuple[Any, Any]]:
    """What is compared with what, where both sides are lists of one length or have the same names."""
    one, other = _expected(left), _expected(right)
    if depth < _DEEPEST and type(one) is dict and type(other) is dict:
        for key, each in one.items():
            if key in other:
                yield from _pairs(each, other[key], depth + 1)
    elif (
        depth < _DEEPEST
        and type(one) in (list, tuple)
        and type(other) in (list, tuple)
        and len(one) == len(other)
        and any(type(each) not in _SCALARS for each in (*one[:_MOST_ITEMS], *other[:_MOST_ITEMS]))
    ):
        for pair in _zip(one, other):
            yield from _pairs(*pair, depth + 1)
    else:
        yield one, other


def _of_lists(value: Any, shape: Any) -> Any:
    """The shape of an array, or of nested lists that are taken for one."""
    found: tuple[int, ...] = ()
    while shape is None and type(value) in (list, tuple) and len(found) < _DEEPEST:
        found = (*found, len(value))
        value = value[0] if value else None
    return found if shape is None else shape


def _broadcast(one: Any, other: Any) -> tuple[int, ...] | None:
    """The shape of what is computed for each element of both; None where their shapes do not fit."""
    longest = max(len(one), len(other))
    rows = [(1,) * (longest - len(each)) + tuple(each) for each in (one, other)]
    if any(a != b and 1 not in (a, b) for a, b in _zip(*rows)):
        return None
    return tuple(b if a == 1 else a for a, b in _zip(*rows))


def _length(value: Any) -> int | None:
    """How many items it has, where that is known beforehand."""
    kind = type(value)
    if kind in (list, tuple, dict, set, frozenset, str, bytes, range):
        return len(value)
    if hasattr(kind, "__next__") or not hasattr(kind, "__len__") or not hasattr(kind, "__iter__"):
        return None
    try:
        return len(value)
    except Exception:  # noqa: BLE001 (of the candidate's own methods)
        return None


def _weakly(value: Any) -> Callable[[], Any]:
    """What gives the object as long as somebody else holds it, where its class allows that."""
    try:
        return weakref.ref(value)
    except TypeError:  # without attributes it tells nothing
        return (lambda: value) if _attributes(value) else (lambda: None)


def _attributes(value: Any) -> list[Any]:
    """What the attributes of an object hold; nothing of its class is run."""
    try:
        found = object.__getattribute__(value, "__dict__")
    except AttributeError:
        return []
    return [*found.values()] if type(found) is dict else []


def _key(value: Any) -> str:
    """What was met, in a few characters."""
    try:
        found = value.tolist() if hasattr(type(value), "tolist") else value
        return repr(found)[:200]
    except Exception:  # noqa: BLE001 (of the candidate's own methods)
        return "?"


def _name(func: ast.expr) -> str:
    """The name by which something is called, below what stands around it here."""
    while isinstance(func, ast.Call) and isinstance(func.func, ast.Name) and func.func.id.startswith("__harena"):
        if not func.args:
            return ""
        func = func.args[-1] if not isinstance(func.args[-1], ast.Constant) else func.args[0]
    return func.attr if isinstance(func, ast.Attribute) else func.id if isinstance(func, ast.Name) else ""


def _is_judgement(node: ast.AST) -> bool:
    """It judges something, and does not only fail where it is reached."""
    if isinstance(node, ast.Assert):
        return not isinstance(node.test, ast.Constant)
    if not isinstance(node, ast.Call):
        return False
    name = _name(node.func)
    return name not in _EXPECTING and JUDGING.match(name.lower().lstrip("_")) is not None


def _of_each(test: ast.expr, *, is_true: bool) -> list[tuple[ast.AST, str, int | None]]:
    """Where the values stand of which a condition says something of each part (`all(x > 0 for x in found)`,
    `(found > 0).all()`, `not any(...)`), and says nothing else; none where it says more."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return _of_each(test.operand, is_true=not is_true)
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) and is_true:
        parts = [_of_each(each, is_true=True) for each in test.values]
        return [each for part in parts for each in part] if all(parts) else []
    if not isinstance(test, ast.Call) or test.keywords or _name(test.func) != ("all" if is_true else "any"):
        return []
    if isinstance(test.func, ast.Attribute) and not test.args:
        return [(test.func, "value", None)]
    return [(test, "args", 0)] if len(test.args) == 1 and not isinstance(test.args[0], ast.Starred) else []


class _Statements(ast.NodeTransformer):
    def __init__(self, loops: Iterator[int]) -> None:
        self._loops = loops

    def visit_Assert(self, node: ast.Assert) -> Any:
        """`assert`."""
        judged = located(ast.Expr(call_of(_JUDGED, [])), node)
        return [judged, node, *self._settles(node, node.test, is_true=True)]

    def visit_Expr(self, node: ast.Expr) -> Any:
        """`self.assertTrue(...)`"""
        self.generic_visit(node)
        call = node.value
        is_true = {"assertTrue": True, "assertFalse": False}.get(_name(call.func) if isinstance(call, ast.Call) else "")
        if is_true is None or not isinstance(call, ast.Call) or not call.args:
            return node
        return [node, *self._settles(node, call.args[0], is_true=is_true)]

    def _settles(self, node: ast.stmt, test: ast.expr, *, is_true: bool) -> list[ast.stmt]:
        """A statement behind an assertion that may hold of nothing, where the text has such a one."""
        found = _of_each(test, is_true=is_true)
        if not found:
            return []
        place = ast.Constant(next(self._loops))
        for holder, name, index in found:
            given = getattr(holder, name) if index is None else getattr(holder, name)[index]
            told = located(call_of(_EACH, [place, given]), given)
            if index is None:
                setattr(holder, name, told)
            else:
                getattr(holder, name)[index] = told
        return [located(ast.Expr(call_of(_SETTLED, [place])), node)]

    def _visit_loop(self, node: Any) -> Any:
        is_judging = any(_is_judgement(part) for each in node.body for part in ast.walk(each))
        self.generic_visit(node)
        if not is_judging:
            return node
        place = ast.Constant(next(self._loops))
        node.body.insert(0, located(ast.Expr(call_of(_ENTERED, [place])), node.body[0]))
        return [node, located(ast.Expr(call_of(_PASSED, [place])), node)]

    visit_For = visit_AsyncFor = _visit_loop  # noqa: N815


class _Pairs(ast.NodeTransformer):
    """Differences of which the tests ask the size are free: nothing is lost where that is told."""

    def __init__(self, tree: ast.AST) -> None:
        nodes = list(ast.walk(tree))
        measured = [found for found in map(_measured, nodes) if found is not None]
        names = {node.id for node in measured if isinstance(node, ast.Name)}
        bound = [node.value for node in nodes if isinstance(node, ast.Assign) and _is_bound_to(node, names)]
        self._measured = {id(node) for node in (*measured, *bound)}
        kept = [node.args for node in nodes if isinstance(node, ast.Call) and _name(node.func) in _KEEPING]
        self._kept = {id(unwrapped(part)) for args in kept for part in args}
        self._bound = {node.id for node in nodes if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)}

    def visit_Call(self, node: ast.Call) -> Any:
        """One call."""
        self.generic_visit(node)
        name = _name(node.func)
        if isinstance(node.func, ast.Name) and node.func.id == OPERATED and id(node) in self._measured:
            node.func = located(ast.Name(FREE_OPERATED, ast.Load()), node.func)
        is_plain = name in ("zip", "map") and not isinstance(node.func, ast.Attribute)
        if is_plain and name not in self._bound and id(node) not in self._kept and _are_apart(node.args):
            node.func = located(call_of(_PAIRED, [node.func]), node.func)
        return node

    def visit_BinOp(self, node: ast.BinOp) -> Any:
        """A difference, which is Python's own still."""
        self.generic_visit(node)
        is_free = isinstance(node.op, ast.Sub) and id(node) in self._measured
        return located(call_of(_FREE, [node.left, node.right]), node) if is_free else node


def _measured(node: ast.AST) -> ast.expr | None:
    """What this part of a text asks for its size."""
    if isinstance(node, ast.Attribute) and node.attr in ("shape", "size", "ndim"):
        return node.value
    if not isinstance(node, ast.Call) or _name(node.func) != "len" or not node.args:
        return None
    given = node.args[0]  # what stands around it where it is judged
    if isinstance(given, ast.Call) and _name(given.func) == "__harena_measured__":
        return given.args[0]
    return given


def _is_bound_to(node: ast.Assign, names: set[str]) -> bool:
    return any(isinstance(target, ast.Name) and target.id in names for target in node.targets)


class _Calls(ast.NodeTransformer):
    def __init__(self, tree: ast.AST, *, is_apart: bool) -> None:
        self._is_apart = is_apart
        nodes = list(ast.walk(tree))
        self._own = {node.name for node in nodes if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))}

    def visit_Compare(self, node: ast.Compare) -> Any:
        """One comparison."""
        self.generic_visit(node)
        if not self._is_apart or len(node.ops) != 1 or not isinstance(node.ops[0], (ast.Eq, ast.NotEq)):
            return node
        if any(
            isinstance(side, ast.Constant) and type(side.value) in (str, bytes)
            for side in (node.left, node.comparators[0])
        ):
            return node
        compute = two_sided(lambda a, b: ast.Compare(a, node.ops, [b]))
        sign = ["!="] if isinstance(node.ops[0], ast.NotEq) else []
        given = [node.left, node.comparators[0], compute, *map(ast.Constant, sign)]
        return located(call_of(_EQUAL, given), node)

    def visit_BinOp(self, node: ast.BinOp) -> Any:
        """A difference."""
        self.generic_visit(node)
        if not self._is_apart or not isinstance(node.op, ast.Sub):
            return node
        if isinstance(node.left, ast.Constant) and isinstance(node.right, ast.Constant):
            return node
        compute = two_sided(lambda a, b: ast.BinOp(a, node.op, b))
        return located(call_of(_MINUS, [node.left, node.right, compute]), node)

    def visit_Call(self, node: ast.Call) -> Any:
        """One call."""
        name = _name(node.func)
        self.generic_visit(node)
        func = node.func
        if not self._may_be_a_librarys(func, name):
            return node
        is_judging = JUDGING.match(name.lower().lstrip("_")) is not None
        node.func = located(call_of(_JUDGES if is_judging else _CALLED, [func]), func)
        return node

    def _may_be_a_librarys(self, func: ast.expr, name: str) -> bool:
        if not name or name in _NEVER or name in self._own or name.startswith(("__harena", "@pytest")):
            return False
        if isinstance(func, ast.Call):
            return isinstance(func.func, ast.Name) and func.func.id.startswith("__harena")
        root = func.value if isinstance(func, ast.Attribute) else func
        return not (isinstance(root, ast.Name) and root.id.startswith("@pytest"))


def _are_apart(args: list[ast.expr]) -> bool:
    """No two of them are of one value (`zip(x, x[1:])`), as far as the text tells."""
    roots = [_root(each) for each in args]
    named = [root for root in roots if root]
    return len(named) == len(set(named)) and not any(isinstance(each, ast.Starred) for each in args)


def _root(node: ast.AST) -> str:
    while True:
        if isinstance(node, (ast.Subscript, ast.Attribute, ast.Starred)):
            node = node.value
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            node = node.func.value
        else:
            return node.id if isinstance(node, ast.Name) else ""


_of_process: list[Hollow] = []


def put_in_builtins(hollow: Hollow, functions: dict[str, Callable[..., Any]] | None = None) -> None:
    """Have the code of trusted files find what it calls, where no candidate shares its process. `functions`: those of
    what `put_more` puts there."""
    _of_process[:] = [hollow]
    for name, function in {**hollow.functions(), **(functions or {})}.items():
        setattr(builtins, name, function)


def watched(tree: Any) -> Any:
    """The tree of a trusted file, which tells what it compares."""
    for hollow in _of_process:
        tree = hollow.put_calls(hollow.put_statements(tree), is_apart=True)
    return tree
