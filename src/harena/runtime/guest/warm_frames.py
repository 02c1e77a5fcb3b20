"""What lets a warm program find nothing below itself: hidden frames, and the whole recursion budget.

Both lean on CPython's insides, are looked up and tried in the template, and left out where they do not work.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_VERSION = sys.version_info[:2]  # a name of its own: checkers take what is below 3.11 for dead code
_opcodes: list[int] = []


def hide(function: Any) -> None:
    """Make frames of `function` invisible to sys._getframe, f_back and tracebacks.

    Since 3.11 the interpreter passes over a frame that has not come to its RESUME instruction: it is not complete
    yet. The frame of a function without that instruction never is.
    """
    if _VERSION < (3, 11):
        return
    if not _opcodes:
        import opcode

        _opcodes[:] = opcode.opmap["RESUME"], opcode.opmap["NOP"]
        _replace(_probe)
        if _probe() is _probe.__code__:
            _opcodes[:] = 0, 0  # this interpreter shows it all the same
    if _opcodes[0]:
        _replace(function)


def _replace(function: Any) -> None:
    resume, nothing = _opcodes
    instructions = bytearray(function.__code__.co_code)
    place = next(place for place in range(0, len(instructions), 2) if instructions[place] == resume)
    instructions[place : place + 2] = bytes((nothing, 0))
    function.__code__ = function.__code__.replace(co_code=bytes(instructions))


def _probe() -> object:
    return _caller()


def _caller() -> object:
    return sys._getframe(1).f_code


class RecursionBudget:
    """Lets a program recurse exactly as deep as in a real start, by writing the interpreter's own counter.

    The counter is a C int in the thread's state, beside the limit; both are found by changing the limit and looking
    which ints follow. Where they are not found (no ctypes; Python before 3.11) the program has a few frames less.
    """

    _INTS = 64

    def __init__(self) -> None:
        self.remaining: Any = None
        self.exec_cost = self.call_cost = 0

    def find(self) -> None:
        """Look for the counter and measure what running a program costs. Called once, in the template."""
        if _VERSION < (3, 11):
            return
        try:
            import ctypes
        except ImportError:
            return
        ctypes.pythonapi.PyThreadState_Get.restype = ctypes.c_void_p
        state = ctypes.pythonapi.PyThreadState_Get()
        ints = (ctypes.c_int * self._INTS).from_address(state)
        limit = sys.getrecursionlimit()
        looks = []
        for probe in (limit + 1237, limit + 4391):
            sys.setrecursionlimit(probe)
            looks.append((probe, list(ints)))
        sys.setrecursionlimit(limit)
        (first, before), (second, after) = looks
        for index in range(1, self._INTS):
            depth = first - before[index - 1]
            if before[index] == first and after[index] == second and 0 < depth < 200:  # noqa: SIM102
                if second - after[index - 1] == depth:
                    counter = (ctypes.c_int * 1).from_address(state + 4 * (index - 1))
                    self.remaining = memoryview(counter).cast("B").cast("i")
                    self._measure()
                    return

    def _measure(self) -> None:
        names = {"counter": self.remaining}
        outside = self.remaining[0]
        exec(compile("inside = counter[0]", "<string>", "exec"), names)  # noqa: S102 (a constant)
        self.exec_cost = outside - names["inside"]
        self.call_cost = outside - _look(self.remaining)

    def enter(self, cost: int) -> None:
        """The frame that is entered at `cost` from the caller shall be the first one."""
        if self.remaining is not None:
            self.remaining[0] = sys.getrecursionlimit() + cost - 1 - self.call_cost  # this call ends


def _look(counter: Any) -> int:
    return counter[0]  # type: ignore[no-any-return]
