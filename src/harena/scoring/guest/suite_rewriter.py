"""Has the trusted files of suites beside their candidate compute and compare as `guest_judged_operations` says.

Suites differ from asserts in what they make themselves: matchers (`ANY`, `approx`, one of a class of theirs), which are
believed, and records that they sort and go through, which stay what they are. What a matcher says is believed of plain
values only: an object that says of itself to be near one must tell it from others.

Part of the programs that run trusted suites in one process with a candidate. Standard library only, Python 3.8 and up.
"""

from __future__ import annotations

import ast
import operator
import sys

from harena.scoring.guest.comparison_rewriter import Comparisons, call_at, judging
from harena.scoring.guest.decoy_comparisons import heeds, tells_apart
from harena.scoring.guest.judged_operations import OPERATORS, Judged
from harena.scoring.guest.plain_values import ATOMS, NUMBERS, Plain, is_known, is_static, overrides

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_MOCK = "__harena_mock__"
_OF_LAST_CALL = frozenset({"assert_called_with", "assert_called_once_with"})
_OF_MOCKS = frozenset({
    *_OF_LAST_CALL, "assert_called", "assert_called_once", "assert_any_call", "assert_has_calls", "assert_not_called",
})  # fmt: skip
_line_of = type.__dict__["__mro__"].__get__


class ComparisonsBeside(Comparisons):
    """Puts the functions of `Judged` in the place of what a trusted file computes with and compares."""

    computing = frozenset({"abs", "bool", "complex", "divmod", "float", "int", "pow", "round", "sum"})
    libraries = frozenset({"math", "cmath", "statistics", "decimal", "fractions", "string", "json", "re"})
    reads_values = False

    def visit_FunctionDef(self, node: Any) -> Any:  # noqa: N802
        """A function: what is assigned in it is its own, also in a method."""
        around, self._depth = self._depth, 0
        try:
            return self.generic_visit(node)
        finally:
            self._depth = around

    visit_AsyncFunctionDef = visit_FunctionDef  # noqa: N815

    def visit_Call(self, node: ast.Call) -> ast.AST:  # noqa: N802
        """One call; assertions of a mock are those of its class."""
        found = super().visit_Call(node)
        if isinstance(node.func, ast.Attribute) and node.func.attr in _OF_MOCKS:
            node.func.value = call_at(node.func.value, _MOCK, [node.func.value])
        return found


class _JudgedBeside(Judged):
    """What is judged in a suite, whose matchers are asked as well. What a class says that its value holds is what
    plain Python sees: apart, the value itself was judged, and a pass rests on both."""

    reads_values = False

    def operated(self, sign: str, left: Any, right: Any, own: int = 0) -> Any:
        """What an operator gives. Two numbers of one class of the candidate's are not told what is expected."""
        if type(left) is type(right) and type(left) not in ATOMS and self._plain.base(left) in NUMBERS:
            return OPERATORS[sign](left, right)
        return super().operated(sign, left, right, own)

    def _sides(self, sign: str, left: Any, right: Any, own: int) -> tuple[Any, Any]:
        """Both sides; a collection or text with an equality of its own stays what it is, and is asked about others."""
        if sign in ("==", "!=") and (self._compares_itself(left) or self._compares_itself(right)):
            return left, right
        return super()._sides(sign, left, right, own)

    def _compares_itself(self, value: Any) -> bool:
        base = self._plain.base(value)
        return base is not None and base not in NUMBERS and overrides(type(value), base, "__eq__")

    def _is_equality_believed(self, left: Any, right: Any, own: int) -> bool:
        return self._is_matched(left, right) and super()._is_equality_believed(left, right, own)

    def is_told(self, given: Any, expected: Any) -> bool:
        """What a candidate gave, and what equals it, has not said so of other values."""
        return self._is_equality_believed(given, expected, 0)

    def _is_matched(self, left: Any, right: Any) -> bool:
        """Where one side is a matcher that knows what it expects (`approx`), an object on the other side tells that
        from other values."""
        for matcher, given in ((left, right), (right, left)):
            if self._is_made(matcher) and hasattr(matcher, "expected"):
                return _is_told(given, matcher.expected)
        return True


def _is_told(given: Any, expected: Any) -> bool:
    if type(given) in (list, tuple) and type(expected) in (list, tuple):
        return all(map(_is_told, given, expected))
    if type(given) is dict and type(expected) is dict:
        return all(_is_told(value, expected[key]) for key, value in given.items() if key in expected)
    if is_known(given) or is_static(given) or not is_known(expected):
        return True
    if not tells_apart(given, expected, True, must_equal=False):
        return False
    if not hasattr(type(given), "__sub__") and not hasattr(type(given), "__rsub__"):
        return True
    return heeds("-", lambda asked, value: value - asked, given, expected) or heeds("-", operator.sub, given, expected)


class _Mocks:
    """Assertions of mocks, as they are before the candidate's first instruction. A candidate may give a mock of the
    tests an attribute by the name of one, or have called it with an object that equals whatever is expected."""

    def __init__(self, judged: _JudgedBeside) -> None:
        self._judged = judged
        module = sys.modules.get("unittest.mock")
        self._kind: Any = getattr(module, "NonCallableMock", None)
        self._call: Any = getattr(module, "_Call", None)
        self._kept: dict[str, Any] = (
            {name: vars(self._kind)[name] for name in _OF_MOCKS} if self._kind is not None else {}
        )

    def of(self, asked: Any) -> Any:
        """What has the assertions in the place of a mock; anything else is what it was."""
        return _Asserting(self, asked) if self._kind in _line_of(type(asked), type) else asked

    def method(self, mock: Any, name: str) -> Any:
        """An assertion of the mock, by its name."""
        kept: Any = self._kept[name]
        if getattr(type(mock), name) is not kept:
            return getattr(mock, name)

        def asserted(*positional: Any, **named: Any) -> None:
            kept(mock, *positional, **named)
            is_one_of_them = name == "assert_any_call"
            calls = [mock.call_args] if name in _OF_LAST_CALL else [*mock.call_args_list] if is_one_of_them else []
            if calls and not any(self._is_told(each, positional, named) for each in calls):
                raise AssertionError("what the mock was called with equals other values, too")

        return asserted

    def _is_told(self, call: Any, positional: tuple[Any, ...], named: dict[str, Any]) -> bool:
        """What a mock was called with tells what is expected from other values."""
        if type(call) is not self._call:
            return False
        given, by_name = tuple(call)[-2:]
        pairs = [*zip(given, positional)]  # noqa: B905 (Python 3.8)
        pairs += [(by_name[key], value) for key, value in named.items() if key in by_name]
        return all(self._judged.is_told(each, value) for each, value in pairs)


class _Asserting:
    """The assertions of one mock."""

    def __init__(self, mocks: _Mocks, mock: Any) -> None:
        self._mocks, self._mock = mocks, mock

    def __getattr__(self, name: str) -> Any:
        return self._mocks.method(self._mock, name)


def comparisons(is_named: Callable[[type], bool], is_made: Callable[[Any], bool]) -> dict[str, Callable[..., Any]]:
    """What stands in the code of trusted files, by name. `is_named`: whether they name a class of the candidate's;
    `is_made`: whether they have made an object, to match more than one value."""
    judged = _JudgedBeside(Plain(is_named), is_made)
    return {**judging(judged), _MOCK: _Mocks(judged).of}
