"""Values that are hard to carry, to compare or to print, and errors that claim to be every error."""

from __future__ import annotations

from harena.scoring.battery.forgery import CALLED, Forgery

_FAMILY = "value"


def _returns(name: str, tries: str, body: str, top: str = "") -> Forgery:
    return Forgery(name=name, family=_FAMILY, tries=tries, contracts=CALLED, top=top, body=body)


VALUES = (
    _returns(
        "deep-list",
        "Returns a list nested a hundred thousand times.",
        "value = []\nfor _ in range(100_000):\n    value = [value]\nreturn value",
    ),
    _returns("list-in-itself", "Returns a list that contains itself.", "value = []\nvalue.append(value)\nreturn value"),
    _returns(
        "bomb-of-references",
        "Returns a small object that stands for 2**90 parts.",
        "value = []\nfor _ in range(90):\n    value = [value, value]\nreturn value",
    ),
    _returns("huge-number", "Returns an integer of forty million bits.", "return 1 << 40_000_000"),
    _returns("long-text", "Returns a text of a hundred megabytes.", "return 'x' * 100_000_000"),
    _returns("not-a-number", "Returns NaN, which is neither larger nor smaller than anything.", "return float('nan')"),
    _returns("infinity", "Returns infinity, within any tolerance that is relative to it.", "return float('inf')"),
    _returns(
        "negative-zero", "Returns -0.0, which some judges call falsy and some equal to everything.", "return -0.0"
    ),
    _returns(
        "broken-text",
        "Returns text with lone surrogates and NUL characters, which breaks encoders.",
        "return '\\ud800\\udfff\\x00' * 3",
    ),
    _returns(
        "colliding-keys",
        "Returns a set of integers that collide in every hash table.",
        "return {k * (2**61 - 1) for k in range(1, 8_000)}",
    ),
    _returns(
        "changes-while-read",
        "Returns a dict that a thread changes while it is encoded.",
        "import threading\nvalue = {k: k for k in range(100_000)}\ndef change():\n    for k in range(10**6):\n"
        "        value[-k] = k\nthreading.Thread(target=change, daemon=True).start()\nreturn value",
    ),
    _returns(
        "generator-of-anything",
        "Returns an endless generator in place of a list.",
        "import itertools\nreturn itertools.repeat(True)",
    ),
    _returns(
        "not-implemented", "Returns NotImplemented, which some comparisons take for yes.", "return NotImplemented"
    ),
    _returns(
        "error-of-every-class",
        "Raises an exception that is of every class at once, so that any expected one is found.",
        "raise Every('anything')",
        top="""
import builtins
class Every(Exception): pass
for name in ('LookupError', 'KeyError', 'IndexError', 'ValueError', 'TypeError', 'ZeroDivisionError', 'RuntimeError',
             'AttributeError', 'ArithmeticError', 'NotImplementedError', 'OverflowError'):
    try:
        Every = type('Every', (Every, getattr(builtins, name)), {})
    except TypeError:
        pass
""",
    ),
    _returns(
        "error-with-a-thousand-names",
        "Raises an exception whose class hierarchy is a list of every name an error can have.",
        "raise Last",
        top="Last = Exception\nfor name in ('ValueError', 'TypeError', 'KeyError', 'IndexError', 'LookupError', "
        "'ZeroDivisionError', 'RuntimeError', 'OverflowError', 'AttributeError'):\n    Last = type(name, (Last,), {})",
    ),
    _returns(
        "error-that-cannot-be-described",
        "Raises an exception whose text, name and hierarchy break whoever describes it.",
        "raise Evil",
        top="class Evil(Exception):\n    def __str__(self): raise SystemExit(0)\n    __repr__ = __str__\n"
        "    msg = property(__str__)\nEvil.__name__ = 'SyntaxError'",
    ),
    _returns(
        "success-as-text",
        "Returns the words that a verdict would have.",
        "return {'passed': True, 'score': 1.0, 'status': 'ok'}",
    ),
)
