"""What a function of the tests that a candidate calls may lose when an error leaves it. Standard library only, Python
3.8 and up.

A call of the candidate in such a function may raise, and the candidate that called the function may catch: what the
function would have judged then is never judged.
"""

from __future__ import annotations

import ast
import opcode
import sys

from harena.scoring.guest.swallowing_exits import CONDITIONS, FUNCTIONS, holds, judges, sources, spans, tree_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_SUSPENDING = 0x20 | 0x80 | 0x200
"""flags of the code of generators, coroutines and asynchronous generators"""
_MOST_CHAINED = 100
_RAISES = opcode.opmap["RAISE_VARARGS"]


def crosses_a_judgement(trace: Any) -> bool:
    """A frame of the trusted tests in this traceback has a judgement ahead of the place that the error has left."""
    while trace is not None:
        code = trace.tb_frame.f_code
        is_asked_for = code.co_name[:2] == "__" == code.co_name[-2:] and code.co_name != "__call__"
        if code.co_filename in sources and not is_asked_for:
            found = _function(code.co_filename, trace.tb_lineno, code.co_name)
            if found is not None and any(_ahead(found, trace.tb_lineno)):
                return True
        trace = trace.tb_next
    return False


def is_carried_past_a_judgement(trace: Any) -> bool:
    """It crosses a judgement, and is nothing that the tests themselves have raised: the innermost frame is another."""
    last = trace
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    is_of_tests = last is not None and last.tb_frame.f_code.co_filename in sources
    return not is_of_tests and crosses_a_judgement(trace)


def is_of_a_call(error: BaseException, trace: Any, is_own: Callable[[str], bool]) -> bool:
    """A call that goes out from the first frame of this traceback has raised the error. It may be thrown into what is
    suspended instead, by whoever closes or cancels that."""
    parts = []
    while trace is not None:
        parts.append(trace)
        trace = trace.tb_next
    if all(is_own(part.tb_frame.f_code.co_filename) for part in parts):
        return False
    is_cancelled = isinstance(error, getattr(sys.modules.get("asyncio"), "CancelledError", ()))
    if not is_cancelled and not isinstance(error, GeneratorExit):
        return True
    last = parts[-1]
    if is_cancelled and is_own(last.tb_frame.f_code.co_filename):
        return False
    is_suspended = all(part.tb_frame.f_code.co_flags & _SUSPENDING for part in parts[1:])
    return not is_suspended or last.tb_frame.f_code.co_code[last.tb_lasti] == _RAISES


def chain_of(error: Any) -> Iterator[BaseException]:
    """The error, and those that it came from."""
    waiting, seen = [error], 0
    while waiting and seen < _MOST_CHAINED:  # a chain may be a ring
        found, seen = waiting.pop(), seen + 1
        if found is not None:
            yield found
            waiting += [found.__cause__, found.__context__]


def judges_inside(function: ast.AST) -> bool:
    """A lambda asserts in its text."""
    return any(isinstance(part, ast.Call) and _asserts(part) for part in ast.walk(function))


def _function(path: str, line: int, name: str) -> Any:
    """The innermost function of this name around a line."""
    tree = tree_of(path)
    found = None
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, FUNCTIONS) and spans(node, line) and getattr(node, "name", "<lambda>") == name:
            found = node
    return found


def _ahead(function: Any, line: int) -> Iterator[bool]:
    """Whether each statement judges that the line, or what is around it, has before it in the function."""
    if isinstance(function, ast.Lambda):
        yield judges_inside(function)
        return
    body = function.body
    while body:
        inside: list[Any] = []
        for index, statement in enumerate(body):
            if not spans(statement, line):
                continue
            yield from (_judges_later(each) for each in body[index + 1 :])
            blocks = list(_blocks(statement))
            inside = next((block for block in blocks if holds(block, line)), [])
            if not inside:
                yield _judges_itself(statement) or any(_judges_later(each) for block in blocks for each in block)
            elif isinstance(statement, _LOOPS):
                # what comes before the line in this turn is ahead of it in the next one
                yield any(_judges_later(each) for block in blocks for each in block if not spans(each, line))
            elif isinstance(statement, CONDITIONS) and inside is getattr(statement, "body", None):
                is_try = hasattr(statement, "handlers")
                yield is_try and any(map(_judges_later, getattr(statement, "orelse", [])))
            break
        body = inside


def _blocks(statement: Any) -> Iterator[list[Any]]:
    if isinstance(statement, (*FUNCTIONS, ast.ClassDef)):
        return
    for name in ("body", "orelse", "finalbody"):
        yield getattr(statement, name, [])
    for part in (*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
        yield part.body


def _judges_later(statement: Any) -> bool:
    """What a function returns is its caller's to judge."""
    if isinstance(statement, (*FUNCTIONS, ast.ClassDef)):
        return False
    if isinstance(statement, ast.Return):
        return _judges_itself(statement)
    return judges(statement)


def _judges_itself(statement: ast.AST) -> bool:
    """It asserts, or compares what it does not return."""
    if isinstance(statement, ast.Assert):
        return True
    is_returned = isinstance(statement, ast.Return)
    return any(
        (isinstance(part, ast.Compare) and not is_returned) or (isinstance(part, ast.Call) and _asserts(part))
        for part in ast.walk(statement)
        if not isinstance(statement, (*FUNCTIONS, ast.ClassDef))
    )


def _asserts(call: ast.Call) -> bool:
    name = str(getattr(call.func, "id", None) or getattr(call.func, "attr", ""))
    return name.lower().lstrip("_").startswith("assert")
