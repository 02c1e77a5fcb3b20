"""Finds the comparisons in test code whose result is used as an object, and not as a truth.

An object's `==` or `<` may give an object: a condition of a query, an expression, a mask. What the tests then call,
look into, index by, ask for its class, or hand on to the candidate claims nothing yet, and is given as it is. It is
followed by names, attributes, parameters of the tests' functions and fixtures, and by the places that it has in lists,
tuples and tables of parameters. Only where a truth has no part in any use is it an object; everywhere else a comparison
is a claim, and the candidate's result is believed or is no. Of an object that the tests have made themselves, of a
class that they name, what many comparisons gave may be asked for, too: it is that class which they test.

Part of the programs that run trusted tests in one process with a candidate. Standard library only, Python 3.8 and up.
"""

from __future__ import annotations

import ast

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    Path = tuple[int | None, ...]
    """where something has the object: a place in it, or any, and so on inwards"""

_TRUTHS = frozenset({"all", "any", "sum", "min", "max", "mean", "prod", "item", "tolist", "count", "count_nonzero"})
"""attributes by which the tests ask for one truth of many"""
_KEEPING = frozenset({
    "append", "appendleft", "add", "extend", "insert", "put", "setdefault", "format", "join", "send", "get", "pop",
    "index",
})  # fmt: skip
"""methods that may be those of plain values, which keep, show or seek what they are given"""
_OF_CLASS = frozenset({"isinstance", "type", "hasattr", "callable", "issubclass"})
"""builtins that ask what their first argument is, whatever it is worth"""
_OF_CLASS_ASSERTED = frozenset({"assertIsInstance", "assertNotIsInstance"})
_OF_MANY = frozenset({"len", "list", "tuple", "iter", "all", "any", "sum"})
"""builtins that go through what many comparisons gave"""
_SAME_PLACES = frozenset({"list", "tuple", "iter", "reversed"})
_JOINING = (ast.BitAnd, ast.BitOr, ast.BitXor)
_TELLS, _ANSWERS = "__harena_told__", ("told", "told_of")
"""what tells an answer to the host where the expected value is hidden (see `guest_reported_comparisons`)"""
_MOST_LOOKS = 10_000


class Valued:
    """The comparisons of one file of tests."""

    def __init__(
        self,
        tree: ast.AST,
        is_own_call: Callable[[ast.expr], bool],
        is_made: Callable[[ast.expr], bool] = lambda side: False,
    ) -> None:
        """`is_own_call`: whether a call is one of a function of the tests', of Python's or of a library's; `is_made`:
        whether the tests make this of a class that they call by its name."""
        self._is_own_call, self._is_made = is_own_call, is_made
        self._above: dict[int, ast.AST] = {}
        self._loads: dict[str, list[ast.AST]] = {}
        self._attributes: dict[str, list[ast.AST]] = {}
        self._functions: dict[str, list[Any]] = {}
        self._left = _MOST_LOOKS
        self._is_of_many = False
        """a side of the comparison that is looked at is the tests' own object, of which such truths may be asked"""
        compared: list[ast.Compare] = []
        self._speaks_of_truths = False
        for node in ast.walk(tree):
            for part in ast.iter_child_nodes(node):
                self._above[id(part)] = node
            if isinstance(node, ast.Compare) and len(node.ops) == 1:
                compared.append(node)
            elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Store):
                self._loads.setdefault(node.id, []).append(node)
            elif isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Store):
                self._attributes.setdefault(node.attr, []).append(node)
            elif isinstance(node, ast.Constant) and node.value in ("True", "False"):
                self._speaks_of_truths = True
            elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                self._functions.setdefault(node.name, []).append(node)
            elif isinstance(node, (ast.Global, ast.Nonlocal)):
                for name in node.names:
                    self._loads.setdefault(name, []).append(node)
        self._found: dict[int, tuple[ast.AST, bool]] = {}
        for node in compared:
            self._sides = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
            for is_of_many in (False, True):
                self._is_of_many = is_of_many
                may_be = not is_of_many or any(map(self._is_made, (node.left, *node.comparators)))
                if may_be and self._is_object(node, frozenset()):
                    self._found[id(node)] = (node, is_of_many)
                    break
        for kept in (self._above, self._loads, self._attributes, self._functions):
            kept.clear()

    def __contains__(self, node: ast.AST) -> bool:
        return id(node) in self._found

    def is_of_many(self, node: ast.AST) -> bool:
        """The tests ask what one of their own objects gives for what many comparisons gave."""
        return node in self and self._found[id(node)][1]

    def _is_object(self, node: ast.AST, names: frozenset[str], path: Path = ()) -> bool:
        """What the expression gives, or has at this place, is used as an object. `names`: those by which it is, as
        looked at already."""
        above = self._above.get(id(node))
        if type(above).__name__ == "Index":  # Python 3.8
            node, above = above, self._above.get(id(above))  # type: ignore[assignment]
        self._left -= 1
        if self._left < 0:
            return False
        if isinstance(above, ast.keyword):
            call = self._above.get(id(above))
            return isinstance(call, ast.Call) and self._is_given(call, above, names, path)
        if isinstance(above, ast.Call) and above.func is not node:
            return self._is_given(above, node, names, path)
        if isinstance(above, (ast.Tuple, ast.List)) and isinstance(above.ctx, ast.Load):
            return self._is_object(above, names, (above.elts.index(node), *path))  # type: ignore[arg-type]
        if isinstance(above, ast.Assign) and len(above.targets) == 1:
            return self._is_bound(above.targets[0], names, path)
        if isinstance(above, (ast.Return, ast.Yield)):
            return self._is_returned(above, names, path)
        if path:
            return self._is_inner_object(node, above, names, path)
        if isinstance(above, ast.Attribute):
            return (above.attr not in _TRUTHS or self._is_of_many) and above.attr[:2] != "__"
        if isinstance(above, ast.Subscript):
            # of what is compared: anybody's table may have an item for a truth
            is_of_side = isinstance(above.value, ast.Name) and above.value.id in self._sides
            return (above.slice is node and is_of_side) or (above.value is node and self._is_of_many)
        if isinstance(above, ast.Call):
            return True
        if isinstance(above, ast.FormattedValue):
            return not self._speaks_of_truths
        if isinstance(above, ast.BinOp):
            return isinstance(above.op, _JOINING) and self._is_object(above, names)
        if isinstance(above, ast.UnaryOp):
            return isinstance(above.op, ast.Invert) and self._is_object(above, names)
        if isinstance(above, ast.Compare):
            sides = [above.left, *above.comparators]
            is_other_plain = any(isinstance(side, ast.Constant) for side in sides if side is not node)
            is_one = len(sides) == 2 and isinstance(above.ops[0], (ast.Eq, ast.NotEq))
            return is_one and not is_other_plain
        return False

    def _is_inner_object(self, node: ast.AST, above: Any, names: frozenset[str], path: Path) -> bool:
        """What a container has at this place is used as an object."""
        if isinstance(above, ast.Subscript) and above.value is node:
            place: Any = above.slice.value if type(above.slice).__name__ == "Index" else above.slice  # type: ignore[attr-defined]
            told = place.value if isinstance(place, ast.Constant) else None
            is_other = type(told) is int and told >= 0 and path[0] not in (None, told)
            return is_other or (not isinstance(place, ast.Slice) and self._is_object(above, names, path[1:]))
        if isinstance(above, (ast.For, ast.AsyncFor, ast.comprehension)) and above.iter is node:
            return self._is_bound(above.target, names, path[1:])
        if isinstance(above, ast.Starred):  # what is given on to the candidate
            call = self._above.get(id(above))
            return isinstance(call, ast.Call) and above in call.args and self._is_handed_on(call.func)
        return False

    def _is_bound(self, target: Any, names: frozenset[str], path: Path) -> bool:
        """What is bound to this is used as an object wherever it is had by that name."""
        if isinstance(target, (ast.Tuple, ast.List)):
            if not path or any(isinstance(each, ast.Starred) for each in target.elts):
                return False
            meant = target.elts if path[0] is None else target.elts[path[0] : path[0] + 1]
            return bool(meant) and all(self._is_bound(each, names, path[1:]) for each in meant)
        if isinstance(target, ast.Name):
            return self._is_used(target.id, self._loads.get(target.id, []), names, path)
        if isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name):
            return self._is_used("." + target.attr, self._attributes.get(target.attr, []), names, path)
        return False

    def _is_used(self, name: str, uses: list[ast.AST], names: frozenset[str], path: Path) -> bool:
        return bool(uses) and (name in names or all(self._is_object(each, names | {name}, path) for each in uses))

    def _is_returned(self, node: ast.AST, names: frozenset[str], path: Path) -> bool:
        """A function of the tests' gives it, and every call, or every parameter for a fixture, uses it as an object."""
        above: Any = self._above.get(id(node))
        while above is not None and not isinstance(above, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            above = self._above.get(id(above))
        if not isinstance(above, ast.FunctionDef) or len(self._functions.get(above.name, ())) != 1:
            return False
        if "()" + above.name in names:
            return True
        names |= {"()" + above.name}
        is_fixture = any("fixture" in ast.dump(each) for each in above.decorator_list)
        if above.decorator_list and not is_fixture:
            return False
        uses = self._loads.get(above.name, [])
        calls = [self._above.get(id(each)) for each in uses]
        if is_fixture:
            return bool(uses) and all(self._is_object(each, names, path) for each in uses)
        return bool(uses) and all(
            isinstance(call, ast.Call) and call.func is use and self._is_object(call, names, path)
            for use, call in zip(uses, calls)  # noqa: B905 (Python 3.8)
        )

    def _is_given(self, call: ast.Call, given: Any, names: frozenset[str], path: Path) -> bool:
        """A call takes its argument for an object, or hands it to the candidate."""
        func = call.func
        name = func.id if isinstance(func, ast.Name) else func.attr if isinstance(func, ast.Attribute) else ""
        place = call.args.index(given) if given in call.args else None
        is_named = isinstance(func, ast.Name)
        is_first = place == 0 and self._is_own_call(func)
        if isinstance(func, ast.Attribute) and name == "parametrize" and place in (None, 1):
            return (place == 1 or given.arg == "argvalues") and self._is_parameter(call, names, path)
        if name == "param" and self._is_own_call(func):
            return place is not None and self._is_object(call, names, (place, *path))
        if is_named and is_first and name in self._functions:
            return self._is_passed(call, given, names, path)
        if is_named and name in self._functions and self._is_own_call(func):
            return self._is_passed(call, given, names, path)
        if not path:
            if is_first and ((is_named and name in _OF_CLASS) or name in _OF_CLASS_ASSERTED):
                return True
            if is_first and is_named and name in _OF_MANY and self._is_of_many:
                return True
            return self._takes_objects(func)
        if is_named and place is not None and name in ("zip", "enumerate"):
            return self._is_object(call, names, (None, place if name == "zip" else 1, *path[1:]))
        if is_first and is_named and name in _SAME_PLACES:
            return self._is_object(call, names, (path[0] if name != "reversed" else None, *path[1:]))
        return (is_first and is_named and name == "len") or self._is_handed_on(func)

    def _is_passed(self, call: ast.Call, given: Any, names: frozenset[str], path: Path) -> bool:
        """The function of the tests' that this calls uses its parameter as an object."""
        found = self._functions[call.func.id]  # type: ignore[attr-defined]
        parameter = next(iter(_parameters(found[0], call, given)), "") if len(found) == 1 else ""
        if not parameter or found[0].decorator_list:
            return False
        return self._is_used(parameter, self._loads.get(parameter, []), names, path)

    def _is_parameter(self, call: ast.Call, names: frozenset[str], path: Path) -> bool:
        """A table of `pytest.mark.parametrize`: tests that have its parameters use them as objects."""
        named = (each.value for each in call.keywords if each.arg == "argnames")
        first = call.args[0] if call.args else next(named, None)
        if isinstance(first, ast.Constant) and isinstance(first.value, str):
            told = [name.strip() for name in first.value.split(",") if name.strip()]
            is_single = "," not in first.value
        elif isinstance(first, (ast.Tuple, ast.List)):
            told = [each.value if isinstance(each, ast.Constant) else "" for each in first.elts]  # type: ignore[misc]
            is_single = False
        else:
            return False
        if not path or (not is_single and len(path) < 2):  # a row, and a place in it
            return False
        inner = path[1:]
        if not is_single or (len(inner) > 0 and inner[0] == 0 and len(told) == 1 and _is_row(call)):
            place, inner = inner[0], inner[1:]
            meant = told if place is None else told[place : place + 1]
        else:
            meant = told
        return bool(meant) and all(self._is_used(name, self._loads.get(name, []), names, inner) for name in meant)

    def _is_handed_on(self, func: ast.expr) -> bool:
        """A call of the candidate's is given a container that has it."""
        if isinstance(func, ast.Attribute) and (func.attr in _KEEPING or func.attr in _TRUTHS):
            return False
        is_assertion = isinstance(func, ast.Attribute) and func.attr.startswith(("assert", "__"))
        return isinstance(func, (ast.Name, ast.Attribute)) and not is_assertion and not self._is_own_call(func)

    def _takes_objects(self, func: ast.expr) -> bool:
        """A call hands what it is given to the candidate, or shows it as a text, in a file that names no truth."""
        if isinstance(func, ast.Subscript) and isinstance(func.value, ast.Name) and func.value.id == _TELLS:
            index = func.slice.value if type(func.slice).__name__ == "Index" else func.slice  # type: ignore[attr-defined]
            return isinstance(index, ast.Constant) and index.value in _ANSWERS
        if isinstance(func, ast.Name) and func.id in ("str", "repr"):
            return not self._speaks_of_truths
        if isinstance(func, ast.Attribute):
            if func.attr in _KEEPING or func.attr in _TRUTHS or func.attr.startswith(("assert", "__")):
                return False
        elif not isinstance(func, ast.Name):
            return False
        return not self._is_own_call(func)


def _is_row(call: ast.Call) -> bool:
    """Each row of a table with one parameter is a `pytest.param`."""
    table = call.args[1] if len(call.args) > 1 else None
    rows = table.elts if isinstance(table, (ast.Tuple, ast.List)) else []
    return bool(rows) and all(isinstance(each, ast.Call) for each in rows)


def _parameters(function: Any, call: ast.Call, given: Any) -> Iterator[str]:
    """The name of the parameter that gets this argument."""
    parameters = [*function.args.posonlyargs, *function.args.args]
    if isinstance(given, ast.keyword):
        named = [*parameters, *function.args.kwonlyargs]
        yield from (each.arg for each in named if each.arg == given.arg)
    elif not any(isinstance(each, ast.Starred) for each in call.args):
        yield from (each.arg for each in parameters[call.args.index(given) :][:1])
