"""Has test code compute and compare by `guest_judged_operations` where a candidate's value may be in it.

Part of the programs that run trusted tests in one process with a candidate. Standard library only, Python 3.8 and up.
"""

from __future__ import annotations

import ast
import builtins
import copy

from harena.scoring.guest.assertion_sides import are_by_place, are_elsewhere, give_by_place
from harena.scoring.guest.comparison_results import Valued
from harena.scoring.guest.executed_assertions import CALLED, call_of
from harena.scoring.guest.judged_builtins import CALLING, JUDGED_OPERATORS, LOOPS_IN_PLACE, Handed
from harena.scoring.guest.judged_operations import AS_IT_IS, OF_MANY, Judged, chained
from harena.scoring.guest.match_statements import with_guards
from harena.scoring.guest.unpacked_values import (
    LOOPING,
    LOOPING_METHODS,
    SHOWING,
    Unpacking,
    goes_through,
    looped_in_place,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

_SIGNS = {
    ast.Eq: "==", ast.NotEq: "!=", ast.In: "in", ast.NotIn: "not in",
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
}  # fmt: skip
_OPERATORS = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**",
    ast.LShift: "<<", ast.RShift: ">>", ast.BitOr: "|", ast.BitAnd: "&", ast.BitXor: "^", ast.MatMult: "@",
}  # fmt: skip
_SINGLE = {ast.UAdd: "+", ast.USub: "-", ast.Invert: "~"}
_ASSERTIONS = {
    **dict.fromkeys(
        ("assertEqual", "assertEquals", "assertSequenceEqual", "assertListEqual", "assertTupleEqual", "assertDictEqual",
         "assertSetEqual", "assertMultiLineEqual", "assertCountEqual"), "=="),
    "assertNotEqual": "!=", "assertLess": "<", "assertLessEqual": "<=", "assertGreater": ">",
    "assertGreaterEqual": ">=", "assertIn": "in", "assertNotIn": "not in", "assertAlmostEqual": "-",
}  # fmt: skip
"""assertions of unittest with two sides, and how they are judged"""
_TRUTHS = ("assertTrue", "assertFalse")
_COMPUTING = frozenset(
    {*("abs", "bool", "complex", "dict", "divmod", "float", "frozenset", "int", "list", "max", "min", "pow", "round")}
    | {*("set", "sorted", "sum", "tuple", "all", "any")}
)
"""builtins that compute with the values of what they are given"""
_LIBRARIES = frozenset(
    {*("math", "cmath", "statistics", "operator", "bisect", "heapq", "decimal", "fractions", "numpy", "string", "json")}
    | {"collections", "re"}
)
"""modules whose functions do"""
_METHODS = frozenset(
    {name for kind in (int, float, complex, str, bytes, tuple, frozenset) for name in dir(kind) if name[:1] != "_"}
    | {*("equals", "equal", "is_equal", "eq", "equal_to", "is_equal_to", "almost_equals", "almost_equal", "is_same")}
    | {*("same_as", "isclose", "is_close", "close_to", "allclose", "__eq__", "__contains__")}
    | LOOPING_METHODS
    | SHOWING
)
"""methods of plain values, and those that judge what they are given"""
_COMPARED, _PAIR, _CHAIN, _OPERATED, _SINGLED, _NUMBER, _TRUTH, _ARGUMENT, _MEASURED, _IS_INSTANCE, _METHOD = (
    f"__harena_{name}__"
    for name in ("compared", "pair", "chain", "operated", "single", "number", "truth", "argument", "measured",
                 "is_instance", "method")
)  # fmt: skip
_CHANGED, _SIDES, _FUNCTION = (f"__harena_{name}__" for name in ("changed", "sides", "function"))
_PYTHONS, _ALL_CALLED = "__harena_pythons__", "__harena_all_called__"
OPERATING, COMPARED, PAIR, METHOD = (_COMPARED, _OPERATED), _COMPARED, _PAIR, _METHOD
"""names of what stands in the place of operators with two sides, of comparisons, of the sides of assertions, and of
methods"""
TWO_SIDED = (_COMPARED, _OPERATED, _PAIR, _CHAIN, _CHANGED, _SIDES)
"""names of all that is given a sign, or signs, and sides"""


def judging(judged: Judged) -> dict[str, Any]:
    """What stands in the tests' code, by its name there."""
    handed = Handed(judged)
    return {
        _COMPARED: judged.compared,
        _PAIR: judged.pair,
        _CHAIN: chained(judged),
        _OPERATED: judged.operated,
        _SINGLED: judged.single,
        _NUMBER: judged.number,
        _TRUTH: judged.truth,
        _ARGUMENT: judged.argument,
        _MEASURED: judged.measured,
        _IS_INSTANCE: judged.is_instance,
        _METHOD: judged.method,
        _CHANGED: judged.changed,
        _SIDES: judged.sides,
        _FUNCTION: handed.judging,
        _PYTHONS: handed.pythons,
        CALLED: handed.called,
        _ALL_CALLED: handed.all_called,
        **judged.unpacked.functions(),
    }


class _Names:
    """What the names in test code stand for, as far as its text tells."""

    def __init__(self, tree: ast.AST, others: Any) -> None:
        """`others`: names of builtins that are the candidate's, and of modules that are."""
        self.modules: dict[str, str] = {}
        """name -> the module that it is, or is from"""
        self.packages: set[str] = set()
        """names that are modules"""
        self.operators: dict[str, str] = {}
        """name -> the function of `operator` that it is, wherever it stands"""
        self.functions: dict[str, str] = {}
        """name -> what it is called in the module that it is from"""
        classes: set[str] = set()
        definitions: set[str] = set()
        bound: dict[str, list[ast.expr | None]] = {}
        """name -> what it is bound to, None where that is anything"""
        for node in ast.walk(tree):
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                self._import(node, others)
            elif isinstance(node, ast.ClassDef):
                classes.add(node.name)
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                definitions.add(node.name)
            for name, value in _bindings(node):
                bound.setdefault(name, []).append(value)
        self.operators = {name: function for name, function in self.operators.items() if name not in bound}
        self.defined = {name for name, values in bound.items() if values == [None] and name in definitions}
        """names that one definition binds, and nothing else"""
        self._own = {*self.modules, *(classes - {name for name in classes if len(bound[name]) > 1})}
        self.builtins = set(vars(builtins)) - set(bound) - set(others) - set(self.modules)
        fixtures = {
            node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and _is_fixture_of_object(node)
        }
        changed = {
            node.target.id
            for node in ast.walk(tree)
            if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name)
        }
        self._made = {
            name
            for name, values in bound.items()
            if all(value is not None and _is_named_call(value) for value in values)
            or (name in fixtures and not any(values))
        } - changed
        """names that stand for what the tests make of a class by its name, and for no result of an operator"""
        self._made_attributes = _attributes_made(tree)
        self._clean: set[str] = set()
        while True:
            more = {
                name
                for name, values in bound.items()
                if name not in self._clean and all(value is not None and self.is_clean(value) for value in values)
            }
            if not more:
                break
            self._clean |= more
        self._own -= self._others_classes(tree)

    def _others_classes(self, tree: ast.AST) -> set[str]:
        """Classes of the tests that have something of the candidate's: they derive from its classes, or call it."""
        uses = {node.name: _names_used(node) for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}
        found: set[str] = set()
        while True:
            known = (self._own - found) | self._clean | self.builtins
            more = {name for name, used in uses.items() if name not in found and not used <= known}
            if not more:
                return found
            found |= more

    def _import(self, node: ast.Import | ast.ImportFrom, others: Any) -> None:
        for alias in node.names:
            module = node.module if isinstance(node, ast.ImportFrom) else alias.name
            if (
                module is None
                or (isinstance(node, ast.ImportFrom) and node.level)
                or module.partition(".")[0] in others
            ):
                continue
            name = alias.asname or alias.name.partition(".")[0]
            self.modules[name] = module.partition(".")[0]
            if isinstance(node, ast.ImportFrom):
                self.functions[name] = alias.name
                if module == "operator":
                    self.operators[name] = alias.name
            if isinstance(node, ast.Import):
                self.packages.add(name)

    def is_clean(self, node: ast.expr) -> bool:
        """It is a plain number or text of the tests' own, whatever the candidate does."""
        if isinstance(node, ast.Name):
            return node.id in self._clean
        if isinstance(node, ast.BinOp):
            return self.is_clean(node.left) and self.is_clean(node.right)
        if isinstance(node, ast.UnaryOp):
            return self.is_clean(node.operand)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            return node.func.id in ("len", "range") and node.func.id in self.builtins
        return isinstance(node, ast.Constant)

    def is_made(self, node: ast.expr) -> bool:
        """The tests make it by calling a class by its name, as far as their text tells: a name of capitals at least."""
        if isinstance(node, ast.Attribute):
            is_of_case = isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")
            return is_of_case and node.attr in self._made_attributes
        return node.id in self._made if isinstance(node, ast.Name) else _is_named_call(node)

    def is_own(self, node: ast.expr) -> bool:
        """It is made of what the tests have imported and of classes of theirs alone."""
        return all(
            part.id in self._own or part.id in self._clean or part.id in self.builtins
            for part in ast.walk(node)
            if isinstance(part, ast.Name)
        ) and not any(isinstance(part, (ast.Lambda, ast.comprehension, ast.NamedExpr)) for part in ast.walk(node))


def _names_used(node: ast.ClassDef) -> set[str]:
    """Names that a class has from elsewhere."""
    parts = [*ast.walk(node)]
    names = [part for part in parts if isinstance(part, ast.Name)]
    bound = {part.id for part in names if not isinstance(part.ctx, ast.Load)}
    bound |= {part.arg for part in parts if isinstance(part, ast.arg)}
    bound |= {part.name for part in parts if isinstance(part, (ast.FunctionDef, ast.AsyncFunctionDef))}
    return {part.id for part in names if part.id not in bound} - {node.name, "super", "__class__"}


def _is_named_call(node: ast.AST) -> bool:
    """It calls what has a class's name, itself or as a name of a module."""
    if not isinstance(node, ast.Call):
        return False
    func = node.func
    if isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name):
        return func.attr.lstrip("_")[:1].isupper()
    return isinstance(func, ast.Name) and func.id.lstrip("_")[:1].isupper()


def _is_fixture_of_object(node: ast.FunctionDef) -> bool:
    """A fixture of pytest's that gives an object which it makes."""
    if not any("fixture" in ast.dump(each) for each in node.decorator_list):
        return False
    given = [part.value for part in ast.walk(node) if isinstance(part, (ast.Return, ast.Yield))]
    return bool(given) and all(value is not None and _is_named_call(value) for value in given)


def _attributes_made(tree: ast.AST) -> set[str]:
    """Attributes to which nothing is assigned but what a class gives that is called by its name."""
    made = {
        target
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and _is_named_call(node.value)
        for target in node.targets
    }
    others = {
        part.attr
        for part in ast.walk(tree)
        if isinstance(part, ast.Attribute) and isinstance(part.ctx, ast.Store) and part not in made
    }
    return {target.attr for target in made if isinstance(target, ast.Attribute)} - others


def _bindings(node: ast.AST) -> Iterator[tuple[str, ast.expr | None]]:
    """Names that a node binds, with what they are bound to where that is said."""
    if isinstance(node, ast.Assign):
        for target in node.targets:
            if isinstance(target, ast.Name):
                yield target.id, node.value
    elif isinstance(node, (ast.AugAssign, ast.AnnAssign, ast.NamedExpr)):
        if isinstance(node.target, ast.Name) and node.value is not None:
            yield node.target.id, node.value
    elif isinstance(node, (ast.For, ast.comprehension)):
        ranged = node.iter if isinstance(node.iter, ast.Call) else None
        is_range = ranged is not None and isinstance(ranged.func, ast.Name) and ranged.func.id == "range"
        if isinstance(node.target, ast.Name):
            yield node.target.id, node.iter if is_range else None
    elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        yield node.name, None
    elif isinstance(node, ast.arg):
        yield node.arg, None
    elif isinstance(node, (ast.Global, ast.Nonlocal)):
        yield from ((name, None) for name in node.names)
    elif isinstance(node, ast.ExceptHandler) and node.name:
        yield node.name, None
    elif isinstance(node, (ast.Tuple, ast.List)) and isinstance(node.ctx, ast.Store):
        for part in ast.walk(node):
            if isinstance(part, ast.Name):
                yield part.id, None
    elif isinstance(node, ast.withitem) and isinstance(node.optional_vars, ast.Name):
        yield node.optional_vars.id, None
    elif type(node).__name__ in ("MatchAs", "MatchStar") and node.name:  # type: ignore[attr-defined]
        yield node.name, None  # type: ignore[attr-defined]
    elif type(node).__name__ == "MatchMapping" and node.rest:  # type: ignore[attr-defined]
        yield node.rest, None  # type: ignore[attr-defined]


class Comparisons(ast.NodeTransformer):
    """Puts the functions of `Judged` in the place of operators, comparisons, truths and calls."""

    computing = _COMPUTING
    libraries = _LIBRARIES
    reads_values = True
    """what is gone through is what a plain value holds"""

    def __init__(self, tree: ast.AST, others: Any = (), *, hands: bool | None = None) -> None:
        """`others`: names of builtins that are the candidate's, and of modules that are; `hands`: whether the tests
        have functions that are judged also where they do not call them, as `hands_functions` tells of their texts."""
        self._names = _Names(tree, others)
        self._hands = hands_functions(tree) if hands is None else hands
        self._valued = Valued(tree, self._is_own_call, self._names.is_made)
        self._made = 0
        self._depth = 0
        """how many classes, comprehensions and lambdas are around, where an assignment in an expression ends"""

    def visit_Module(self, node: ast.Module) -> ast.AST:
        """A file of tests."""
        self.generic_visit(node)
        return Unpacking().visit(node) if self.reads_values else node

    def _is_own_call(self, func: ast.expr) -> bool:
        """It calls a function of the tests' own, of Python's, of a library's, or of a value that stands there."""
        root = func
        while isinstance(root, (ast.Attribute, ast.Call)):
            root = root.value if isinstance(root, ast.Attribute) else root.func
        if not isinstance(root, ast.Name):
            return True
        names = self._names
        is_of_tests = root.id in ("self", "cls") or root.id in names.defined or root.id in names.modules
        return is_of_tests or (root is func and root.id in names.builtins)

    def _own(self, *sides: ast.expr) -> int:
        return sum(1 << place for place, side in enumerate(sides) if self._names.is_own(side))

    def _made_by_name(self, *sides: ast.expr) -> int:
        return sum(1 << place for place, side in enumerate(sides) if self._names.is_made(side))

    def _are_clean(self, *sides: ast.expr) -> bool:
        return all(map(self._names.is_clean, sides))

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        """One comparison. A chain becomes pairs that are joined by `and`, each side of which is computed once."""
        if all(isinstance(sign, (ast.Is, ast.IsNot)) for sign in node.ops):
            return self.generic_visit(node)
        sides = [node.left, *node.comparators]
        clean = [self._are_clean(*pair) for pair in zip(sides, sides[1:])]  # noqa: B905, RUF007 (Python 3.8)
        is_object = (AS_IT_IS if node in self._valued else 0) + (OF_MANY if self._valued.is_of_many(node) else 0)
        owns = [self._own(*pair) + is_object for pair in zip(sides, sides[1:])]  # noqa: B905, RUF007
        made_ones = [self._made_by_name(*pair) for pair in zip(sides, sides[1:])]  # noqa: B905, RUF007
        judged = [type(sign) in _SIGNS and not is_clean for sign, is_clean in zip(node.ops, clean)]  # noqa: B905
        self.generic_visit(node)
        if not any(judged):
            return node
        sides = [node.left, *node.comparators]
        between = sides[1:-1]
        if not all(isinstance(side, (ast.Name, ast.Constant)) for side in between):
            if self._depth:
                simple = all(isinstance(side, (ast.Name, ast.Constant)) for side in sides[2:])
                if not simple or not all(type(sign) in _SIGNS for sign in node.ops):
                    return node
                signs = ast.Tuple([ast.Constant(_SIGNS[type(sign)]) for sign in node.ops], ast.Load())
                return call_at(node, _CHAIN, [signs, *sides])
            for place in range(1, len(sides) - 1):
                self._made += 1
                name = f"__harena_side_{self._made}__"
                kept = ast.NamedExpr(ast.Name(name, ast.Store()), sides[place])
                sides[place] = ast.fix_missing_locations(ast.copy_location(kept, node))
        pairs: list[ast.expr] = []
        for place, sign in enumerate(node.ops):
            left, right = sides[place], sides[place + 1]
            if place and isinstance(left, ast.NamedExpr):
                left = ast.copy_location(ast.Name(left.target.id, ast.Load()), node)
            if judged[place]:
                given = [ast.Constant(_SIGNS[type(sign)]), left, right, ast.Constant(owns[place])]
                given += [ast.Constant(made_ones[place])] if made_ones[place] else []
                pairs.append(call_at(node, _COMPARED, given))
            else:
                pairs.append(ast.copy_location(ast.Compare(left, [sign], [right]), node))
        made = pairs[0] if len(pairs) == 1 else ast.BoolOp(ast.And(), pairs)
        return ast.fix_missing_locations(ast.copy_location(made, node))

    def _within(self, node: Any) -> ast.AST:
        self._depth += 1
        try:
            return self.generic_visit(node)
        finally:
            self._depth -= 1

    visit_ClassDef = visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = visit_Lambda = _within  # noqa: N815

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        """One operator."""
        is_clean, own = self._are_clean(node.left, node.right), self._own(node.left, node.right)
        self.generic_visit(node)
        if is_clean:
            return node
        sign = ast.Constant(_OPERATORS[type(node.op)])
        return call_at(node, _OPERATED, [sign, node.left, node.right, ast.Constant(own)])

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        """A number that is added to another one; `x -= y` of a name is `x = x - y`, which is judged."""
        is_clean, own = self._are_clean(node.value), self._own(node.target, node.value)
        self.generic_visit(node)
        if isinstance(node.target, ast.Name) and not (is_clean and self._are_clean(node.target)):
            had = ast.copy_location(ast.Name(node.target.id, ast.Load()), node.target)
            given = [ast.Constant(_OPERATORS[type(node.op)]), had, node.value, ast.Constant(own)]
            made = ast.Assign([node.target], call_at(node.value, _CHANGED, given))
            return ast.fix_missing_locations(ast.copy_location(made, node))
        if not is_clean:
            node.value = call_at(node.value, _NUMBER, [node.value])
        return node

    def _function_of(self, node: ast.expr) -> str:
        """The function of `operator` that is judged, by its own name or that of its module; empty if this is none."""
        name = ""
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            name = self._names.operators.get(node.id, "")
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load) and isinstance(node.value, ast.Name):
            name = node.attr if self._names.modules.get(node.value.id) == "operator" else ""
        return name if name in JUDGED_OPERATORS else ""

    def visit_Name(self, node: ast.Name) -> ast.AST:
        """What is judged where the tests call it is Python's own where they hand it to others."""
        is_loop = isinstance(node.ctx, ast.Load) and node.id in LOOPS_IN_PLACE and node.id in self._names.builtins
        name = node.id if is_loop else self._function_of(node)
        return call_at(node, _PYTHONS, [ast.Constant(name)]) if name else node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        """One by the name of its module."""
        name = self._function_of(node)
        return call_at(node, _PYTHONS, [ast.Constant(name)]) if name else self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        """One operator with one operand."""
        is_clean = self._are_clean(node.operand)
        if isinstance(node.op, ast.Not):
            node.operand = self._truth(node.operand)
            return node
        self.generic_visit(node)
        return node if is_clean else call_at(node, _SINGLED, [ast.Constant(_SINGLE[type(node.op)]), node.operand])

    def _truth(self, node: ast.expr) -> ast.expr:
        """An expression of which only the truth is used."""
        if isinstance(node, ast.BoolOp):
            node.values = [self._truth(value) for value in node.values]
            return node
        is_said = isinstance(node, ast.Compare) or (isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not))
        is_said = is_said or self._are_clean(node)
        found: ast.expr = self.visit(node)
        return found if is_said else call_at(node, _TRUTH, [found])

    def _tested(self, node: Any) -> ast.AST:
        """A statement or an expression with a condition."""
        condition = self._truth(node.test)
        node.test = ast.Constant(True)
        self.generic_visit(node)
        node.test = condition
        return ast.fix_missing_locations(node)  # type: ignore[no-any-return]

    visit_Assert = visit_If = visit_While = visit_IfExp = _tested  # noqa: N815

    def visit_comprehension(self, node: ast.comprehension) -> ast.AST:
        """A part of a comprehension."""
        conditions = [self._truth(condition) for condition in node.ifs]
        node.ifs = []
        self.generic_visit(node)
        node.ifs = conditions
        return node

    def visit_Match(self, node: Any) -> ast.AST:
        """A statement whose patterns compare."""
        return self.generic_visit(with_guards(node))

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """One call."""
        func = node.func
        own = [self._names.is_own(each) for each in node.args]
        made = self._made_by_name(*node.args[:2])
        if name := self._function_of(func):
            node.func = call_at(func, _FUNCTION, [ast.Constant(name)])
            return self.generic_visit(node)
        is_loop = isinstance(func, ast.Name) and func.id in LOOPS_IN_PLACE
        if isinstance(func, ast.Name):  # a name that is called stays that name
            node.func = ast.copy_location(ast.Constant(None), func)
        kinds = copy.deepcopy(_kinds_of(node, func))
        self.generic_visit(node)
        if kinds is not None:
            node.args[1] = kinds
        if isinstance(func, ast.Name):
            node.func = func
            if func.id in self._names.builtins:
                self._builtin(node, func, own)
            elif self._names.modules.get(func.id) in self.libraries:
                self._give(node, own)
            elif self._goes_through(self._names.modules.get(func.id, ""), self._names.functions.get(func.id, "")):
                node.args = [*map(looped_in_place, node.args)]
        elif isinstance(func, ast.Attribute):
            self._method(node, func, own, made)
        if self._hands and not is_loop and self._is_kept(func):
            node.func = call_at(node.func, CALLED, [node.func])
        if self._hands and self._calls_what_it_is_given(func):
            node.args = [_called(each) for each in node.args]
            for keyword in node.keywords:
                keyword.value = _called(keyword.value) if keyword.arg else keyword.value
        return node

    def _is_kept(self, func: ast.expr) -> bool:
        """What is called may be a function that trusted files have kept: by a name, also of another file, a place in a
        table or an object, or as what another call gives. A library's own functions, builtins and what the tests define
        are none."""
        root = func
        while isinstance(root, ast.Attribute):
            root = root.value
        if isinstance(root, ast.Name) and self._names.modules.get(root.id) in self.libraries:
            return False
        if isinstance(func, ast.Name):
            return func.id not in self._names.builtins and func.id not in self._names.defined
        if isinstance(func, ast.Attribute):
            is_own = isinstance(func.value, ast.Name) and func.value.id in ("self", "cls")
            return not (is_own and func.attr.startswith("assert")) and not isinstance(func.value, ast.Constant)
        return not isinstance(func, (ast.Lambda, ast.Constant))

    def _calls_what_it_is_given(self, func: ast.expr) -> bool:
        """It is a function of Python's that calls what it is given, and hands it to nobody else."""
        if isinstance(func, ast.Name):
            module = "builtins" if func.id in self._names.builtins else self._names.modules.get(func.id, "")
            return self._names.functions.get(func.id, func.id) in CALLING.get(module, ())
        if isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name):
            return func.attr in CALLING.get(self._names.modules.get(func.value.id, ""), ())
        return False

    def _goes_through(self, module: str, function: str) -> bool:
        return self.reads_values and goes_through(module, function)

    def _builtin(self, node: ast.Call, func: ast.Name, own: list[bool]) -> None:
        if func.id == "isinstance" and len(node.args) == 2 and not node.keywords:
            node.func = ast.copy_location(ast.Name(_IS_INSTANCE, ast.Load()), func)
        elif func.id == "len" and len(node.args) == 1 and not isinstance(node.args[0], ast.Starred):
            node.args = [call_at(node, _MEASURED, node.args)]
        elif func.id in ("all", "any") and any(
            isinstance(each, (ast.GeneratorExp, ast.ListComp)) for each in node.args
        ):
            return
        elif func.id in self.computing:
            self._give(node, own)
        if self.reads_values and func.id in LOOPING and not (func.id in ("max", "min") and len(node.args) > 1):
            node.args = [*map(looped_in_place, node.args)]

    def _method(self, node: ast.Call, func: ast.Attribute, own: list[bool], made: int) -> None:
        root: ast.expr = func
        while isinstance(root, ast.Attribute):
            root = root.value
        if isinstance(root, ast.Name) and root.id in self._names.modules:
            is_library = root.id in self._names.packages and self._names.modules[root.id] in self.libraries
            if is_library:
                self._give(node, own)
            elif self._goes_through(self._names.modules[root.id], func.attr):
                node.args = [*map(looped_in_place, node.args)]
            return
        is_plain = not any(isinstance(each, ast.Starred) for each in node.args[:2])
        if func.attr in _ASSERTIONS and are_elsewhere(node):
            give_by_place(node, call_at(node, _SIDES, [ast.Constant(_ASSERTIONS[func.attr])]))
        elif func.attr in _ASSERTIONS and are_by_place(node):
            given = [ast.Constant(_ASSERTIONS[func.attr]), *node.args[:2], ast.Constant(own[0] + 2 * own[1])]
            given += [ast.Constant(made)] if made else []
            node.args[:2] = [ast.copy_location(ast.Starred(call_at(node, _PAIR, given), ast.Load()), node)]
        elif func.attr in _TRUTHS and node.args and is_plain:
            node.args[0] = call_at(node, _TRUTH, [node.args[0]])
        elif func.attr in _METHODS:
            node.func = call_at(func, _METHOD, [func.value, ast.Constant(func.attr)])

    def _give(self, node: ast.Call, own: list[bool]) -> None:
        """Give the arguments as plain values."""
        for place, given in enumerate(node.args):
            if own[place]:
                continue
            if isinstance(given, ast.Starred):
                given.value = call_at(given.value, _ARGUMENT, [given.value])
            else:
                node.args[place] = call_at(given, _ARGUMENT, [given])


def _kinds_of(node: ast.Call, func: ast.expr) -> ast.expr | None:
    """The classes that `isinstance` is asked for, where a loop is one of them: what the tests have made by it is of
    the class that stands in its place."""
    if not isinstance(func, ast.Name) or func.id not in ("isinstance", "issubclass") or len(node.args) != 2:
        return None
    kinds = node.args[1]
    parts = kinds.elts if isinstance(kinds, ast.Tuple) else [kinds]
    return kinds if any(isinstance(part, ast.Name) and part.id in LOOPS_IN_PLACE for part in parts) else None


def _called(given: ast.expr) -> ast.expr:
    """What a function is given that calls it, as it is called."""
    if isinstance(given, ast.Starred):
        given.value = call_at(given.value, _ALL_CALLED, [given.value])
        return given
    return given if isinstance(given, (ast.Constant, ast.Lambda)) else call_at(given, CALLED, [given])


def hands_functions(tree: ast.AST) -> bool:
    """The text of a test file speaks of `operator`, or of a loop that it does not call."""
    called = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            called.add(id(node.func))
    return "operator" in _imported_modules(tree) or any(
        isinstance(node, ast.Name) and node.id in LOOPS_IN_PLACE and id(node) not in called for node in ast.walk(tree)
    )


def _imported_modules(tree: ast.AST) -> set[str | None]:
    found: set[str | None] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            found.add(node.module)
    return found


def call_at(at: ast.expr, name: str, given: list[Any]) -> ast.Call:
    """A call of what has this name, in the place of an expression."""
    made = call_of(name, given)
    return ast.fix_missing_locations(ast.copy_location(made, at))
