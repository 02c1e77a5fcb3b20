# ruff: noqa: E501 (programs are text, not code of ours)
"""What a program does with a frame is understood by reading where it goes; all else counts as a use of everything."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from harena.scoring.guest.frame_access import FRAME, Programs

PATH = "/nowhere/solution.py"


def understood(text: str) -> bool:
    """Whether each look of `f()` is."""
    programs = Programs({PATH: text})
    names: dict[str, Any] = {"__name__": "solution"}
    exec(compile(text, PATH, "exec", dont_inherit=True), names)
    found: list[bool] = []
    looking = sys._getframe

    def heard(frame: Any, event: str, function: Any) -> None:
        if event == "c_call" and function is looking and frame.f_code.co_filename == PATH:
            found.append(programs.understands(frame, FRAME))

    def caller() -> None:
        sys.setprofile(heard)
        try:
            names["f"]()
        finally:
            sys.setprofile(None)

    caller()
    assert found
    return all(found)


def function(*lines: str, above: str = "") -> str:
    return f"import sys, inspect, traceback\n{above}\ndef f():\n" + "".join(f"    {line}\n" for line in lines)


@pytest.mark.parametrize(
    "text",
    [
        function("return sys._getframe(1).f_code.co_name"),
        function("return get(1).f_lineno", above="from sys import _getframe as get"),
        function("return sys._getframe(1).f_globals.get('__name__')"),
        function("fr = sys._getframe(1)", "return fr.f_code.co_filename, fr.f_lineno"),
        function("fr = sys._getframe()", "n = 0", "while fr is not None:", "    n += 1", "    fr = fr.f_back"),
        function("fr, n = sys._getframe(), 0", "while fr:", "    fr, n = fr.f_back, n + 1"),
        function("names = []", "fr = sys._getframe(1)", "while fr:", "    names.append(fr.f_code.co_name)", "    fr = fr.f_back"),
        function("if (fr := sys._getframe(1)) is not None: return f'{fr.f_lineno} {fr}'"),
        function("return inspect.getframeinfo(sys._getframe(1)).lineno"),
        function("return traceback.extract_stack(sys._getframe(1))[-1].name"),
        function("return up().f_lineno", above="def up(): return sys._getframe(2)"),
        function("x = 1", "return sys._getframe().f_locals['x']"),
        function("x = 1", "return g()", above="def g(): return sys._getframe(1).f_locals['x']"),
        function("fr = sys._getframe(1)", "return g(fr.f_lineno)", above="def g(x): return x"),
        function("fr = sys._getframe(1)", "return fr.f_lineno, str(fr.f_code.co_name)", above="def g(o, n): return getattr(o, n)"),
    ],
)  # fmt: skip
def test_what_is_everybodys_is_understood(text: str) -> None:
    assert understood(text)


@pytest.mark.parametrize(
    "text",
    [
        function("return sys._getframe(1).f_locals"),
        function("return sys._getframe(1).\uff46_locals"),
        function("return sys._getframe(1).f_code.co_consts"),
        function("return sys._getframe(1).f_globals.get('expected')"),
        function("name = '__name__'", "return sys._getframe(1).f_globals.get(name)"),
        function("return getattr(sys._getframe(1), 'f_lo' + 'cals')"),
        function("return '{0.f_locals}'.format(sys._getframe(1))"),
        function("kept.extend(map(up, [1]))", above="kept = []\ndef up(n): return sys._getframe(n)"),
        function("sys._getframe(1) == 1"),
        function("global fr", "fr = sys._getframe(1)", "return fr.f_lineno"),
        function("fr = sys._getframe(1)", "return lambda: fr.f_lineno"),
        function("fr = sys._getframe(1)", "return [fr]"),
        function("fr = sys._getframe(1)", "return (fr.f_lineno for _ in [1])"),
        function("fr = sys._getframe(1)", "return locals()"),
        function("fr = sys._getframe(1)", "get()", above="import builtins\nget = getattr(builtins, 'loc' + 'als')"),
        function("fr = sys._getframe(1)", "return g()", above="def g(): return sys._getframe(1).f_locals['fr']"),
        function("fr = sys._getframe()", "return fr.f_locals['fr'].f_back"),
        function("self.fr = sys._getframe(1)", above="class self: pass"),
        function("try: assert False, sys._getframe(1)", "except AssertionError: pass"),
        function("yield_ = (lambda: sys._getframe(1))()"),
        function("fr = sys._getframe(1)", "fr.f_trace = None"),
        "import sys\nexec('def g(): return sys._getframe(1).f_lineno')\ndef f(): return sys._getframe(1), g()",
    ],
)
def test_everything_else_is_not(text: str) -> None:
    assert not understood(text)


def test_a_code_that_says_where_it_is_is_not_believed() -> None:
    """It has the name, the lines and the positions of another one."""
    text = function(
        "return type(named)(code, globals())()",
        above="def named(): return sys._getframe(1).f_code.co_name\ndef taking(): return sys._getframe(1).f_locals.values\n"
        "told = {name: getattr(named.__code__, name) for name in ('co_name', 'co_linetable', 'co_firstlineno')}\n"
        "code = taking.__code__.replace(**told)",
    )
    assert not understood(text)
