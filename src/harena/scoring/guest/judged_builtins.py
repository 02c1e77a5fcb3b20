"""Functions of Python's that are judged where test code calls them, and are Python's own where it hands them to others.

What a candidate is given is what it would be anywhere: `operator.add` has its name, its parameters and its place in a
table of the candidate's. Where the tests call it themselves, by whatever name or place they have kept it, `Judged` says
what comes of it.

Part of the programs that run trusted tests in one process with a candidate. Standard library only, Python 3.8 and up.
"""

from __future__ import annotations

import builtins
import functools
import operator

from harena.scoring.guest.safe_iteration import LOOPS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from harena.scoring.guest.judged_operations import Judged

_COMPARING = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
_OPERATING = {"sub": "-", "add": "+", "truediv": "/", "mod": "%"}
JUDGED_OPERATORS = frozenset({*_COMPARING, *_OPERATING})
"""functions of the module `operator` that are judged"""
LOOPS_IN_PLACE = frozenset(LOOPS)
"""builtins that are others where the tests call them"""
CALLING = {
    "builtins": frozenset({"map", "filter", "sorted", "min", "max", "iter"}),
    "functools": frozenset({"reduce", "cmp_to_key"}),
    "itertools": frozenset({"starmap", "accumulate", "filterfalse", "takewhile", "dropwhile", "groupby"}),
    "numpy": frozenset({"vectorize", "frompyfunc"}),
}
"""module -> functions that call what they are given, and hand it to nobody else"""


_Partial = functools.partial


class Handed:
    """These functions, as they are before the candidate's first instruction."""

    def __init__(self, judged: Judged) -> None:
        self._pythons: dict[str, Any] = {name: getattr(operator, name) for name in JUDGED_OPERATORS}
        self._judging: dict[str, Any] = {
            **{name: _asked(self._pythons[name], judged.compared, sign) for name, sign in _COMPARING.items()},
            **{name: _asked(self._pythons[name], judged.operated, sign) for name, sign in _OPERATING.items()},
            **LOOPS,
        }
        self._pythons.update((name, getattr(builtins, name)) for name in LOOPS)
        self._by_identity = {id(self._pythons[name]): function for name, function in self._judging.items()}

    def judging(self, name: str) -> Any:
        """What the tests call by this name."""
        return self._judging[name]

    def pythons(self, name: str) -> Any:
        """What they hand to others by it."""
        return self._pythons[name]

    def called(self, function: Any) -> Any:
        """What the tests call for a function that they have kept, also where that gives some of the operands."""
        if type(function) is _Partial and (known := self._by_identity.get(id(function.func))) is not None:
            return _Partial(known, *function.args, **function.keywords)
        return self._by_identity.get(id(function), function)

    def all_called(self, functions: Iterable[Any]) -> list[Any]:
        """The arguments of a call, each as it is called."""
        return [*map(self.called, functions)]


def _asked(really: Callable[..., Any], judge: Callable[..., Any], sign: str) -> Callable[..., Any]:
    def asked(*operands: Any, **keywords: Any) -> Any:
        if keywords or len(operands) != 2:
            return really(*operands, **keywords)
        return judge(sign, *operands)

    return asked
