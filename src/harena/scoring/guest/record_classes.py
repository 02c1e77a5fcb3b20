"""Classes of plain records in trusted files, which a candidate in another process has, too. Standard library only.

A test file that defines a node of a list or of a tree gives such nodes to the candidate, and a program does with them
what it does with objects of any class: it makes another one (`type(node)(..)`), copies it, puts an attribute on it, takes
one away, derives a class, gives the class an order of its own. What stands for an object elsewhere can do little of
that. So a class that nothing but its own text and Python decides is had by both sides, and its objects cross with what
they hold, as a list does.

The candidate is told of a class with the first object of it, and of nothing else in the file. Such a class has only
public names, because what the suite keeps for itself may be what it expects; it neither asserts nor changes what
belongs to all its objects; and what its objects do not show when they are asked, its class and static methods, is no
code that computes.
"""  # noqa: E501

from __future__ import annotations

import ast
import builtins
import symtable
import sys
import types

from harena.scoring.guest.swallowing_exits import sources, tree_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

_MODULES = frozenset({"__future__", "abc", "collections", "dataclasses", "functools", "math", "typing"})
"""modules of Python's that such a class may use"""
_NEVER = frozenset({
    "AssertionError", "__build_class__", "__import__", "breakpoint", "compile", "copyright", "credits", "delattr",
    "eval", "exec", "exit", "globals", "help", "id", "input", "license", "locals", "open", "quit", "setattr",
})  # fmt: skip
"""builtins that it does not use: `id` is another number on each side"""
_NO_METHODS = frozenset({
    "__getattr__", "__getattribute__", "__setattr__", "__delattr__", "__new__", "__del__", "__init_subclass__",
    "__get__", "__set__", "__delete__", "__set_name__", "__class_getitem__", "__reduce__", "__reduce_ex__",
    "__getstate__", "__setstate__", "__dir__", "__sizeof__", "__instancecheck__", "__subclasscheck__", "__await__",
    "__aiter__", "__anext__", "__aenter__", "__aexit__",
})  # fmt: skip
_NO_SYNTAX = tuple(
    getattr(ast, name)
    for name in ("Assert", "AsyncFunctionDef", "AsyncFor", "AsyncWith", "Await", "Global", "Nonlocal", "Import",
                 "ImportFrom", "TryStar", "ClassDef")
    if hasattr(ast, name)
)  # fmt: skip
_COMPUTES = (ast.For, ast.While, ast.comprehension, ast.Lambda, ast.With, ast.Try)
_DISPLAYS = (ast.Dict, ast.List, ast.Set)
_DECORATORS = frozenset({"dataclass", "dataclasses.dataclass", "total_ordering", "functools.total_ordering"})
_OF_METHODS = frozenset({"property", "classmethod", "staticmethod"})
_OF_PYTHON = frozenset({
    "__module__", "__qualname__", "__doc__", "__dict__", "__weakref__", "__annotations__", "__annotate__", "__hash__",
    "__annotate_func__", "__annotations_cache__", "__firstlineno__", "__static_attributes__", "__match_args__",
    "__slots__", "__slotnames__", "__orig_bases__", "__parameters__",
})  # fmt: skip
"""what Python writes in a class"""
_OF_DATA = frozenset({
    "__dataclass_params__", "__dataclass_fields__", "__init__", "__repr__", "__eq__", "__lt__", "__le__", "__gt__",
    "__ge__", "__setattr__", "__delattr__", "__replace__", "__getstate__", "__setstate__",
})  # fmt: skip
"""what `dataclass` and `total_ordering` write there"""
_PROMPT = ">>>"
"""begins an example, which shows what is expected"""
_MOST_LETTERS = 20_000
"""size limit of what the candidate is told of one file at once"""


class Records:
    """The suite's side: which classes these are, and what of them is still to be told."""

    def __init__(self) -> None:
        self._files: dict[str, _File | None] = {}
        """by the names of modules"""
        self._known: dict[int, tuple[Any, bool]] = {}
        """by its `id`, a class and whether it is one"""
        self._held: dict[tuple[str, str], Any] = {}
        """by module and name, those that the candidate has or will have"""
        self._seen: dict[tuple[str, str], dict[str, int]] = {}
        self._untold: list[tuple[str, str]] = []

    def has(self, cls: Any) -> bool:
        """Both sides have this class; from now on, if they can."""
        known = self._known.get(id(cls))
        if known is None or known[0] is not cls:
            known = self._known[id(cls)] = cls, self._is_record(cls)
        return known[1]

    def named(self, module: Any, name: Any) -> Any:
        """The class of this name that the candidate was told of; None where there is none."""
        return self._held.get((module, name))

    def untold(self) -> list[tuple[str, str, tuple[str, ...]]]:
        """Module, text and names of classes that the candidate is told of with the message that speaks of them."""
        by_module: dict[str, list[str]] = {}
        for module, name in self._untold:
            by_module.setdefault(module, []).append(name)
        return [
            (module, file.text_of(names), tuple(names))
            for module, names in by_module.items()
            if (file := self._files[module]) is not None
        ]

    def told(self) -> None:
        """The candidate has been told of them."""
        self._untold.clear()

    def rewrites(self, cls: Any, names: tuple[str, ...]) -> None:
        """These methods of a class are harena's now, and call the suite's own: that is no change of the suite's."""
        seen = self._seen.get((cls.__module__, cls.__qualname__), {})
        seen.update((name, id(value)) for name, value in vars(cls).items() if name in names and name in seen)

    def changed(self) -> str:
        """The name of such a class that the suite has changed since the candidate has it; empty where there is none."""
        for key, seen in self._seen.items():
            if {name: id(value) for name, value in vars(self._held[key]).items() if name not in _OF_PYTHON} != seen:
                self._seen[key] = {}
                return key[1]
        return ""

    def _is_record(self, cls: Any) -> bool:
        if type(cls) is not type or type(cls.__module__) is not str or "." in cls.__qualname__:
            return False
        if cls.__module__ not in sys.modules:
            return False
        module, name = cls.__module__, cls.__qualname__
        if module not in self._files:
            path = getattr(sys.modules[module], "__file__", None)
            self._files[module] = _File(path) if path in sources and hasattr(ast, "unparse") else None
        file = self._files[module]
        if file is None or not (names := file.closed(name)) or len(file.text_of(names)) > _MOST_LETTERS:
            return False
        held = vars(sys.modules[module])
        if held.get(name) is not cls or not all(file.is_as_written(each, held.get(each)) for each in names):
            return False
        for each in names:
            if (module, each) not in self._held:
                found = self._held[module, each] = held[each]
                self._known[id(found)] = found, True
                self._seen[module, each] = {
                    name: id(value) for name, value in vars(found).items() if name not in _OF_PYTHON
                }
                self._untold.append((module, each))
        return True


class _File:
    """The classes of one trusted file, as its text has them."""

    def __init__(self, path: str) -> None:
        tree = tree_of(path)
        body = tree.body if isinstance(tree, ast.Module) else []
        self._path = path
        self._classes: dict[str, ast.ClassDef] = {}
        self._imports: dict[str, Any] = {}
        self._order: list[str] = []
        counts: dict[str, int] = {}
        for statement in body:
            for name in _bound(statement):
                counts[name] = counts.get(name, 0) + 1
            if isinstance(statement, ast.ClassDef):
                self._classes[statement.name] = statement
                self._order.append(statement.name)
            elif isinstance(statement, (ast.Import, ast.ImportFrom)) and not getattr(statement, "level", 0):
                self._imports.update(_imports_of(statement))
        self._bound = frozenset(counts)
        self._once = frozenset(name for name, count in counts.items() if count == 1)
        trees = [each for each in map(tree_of, sources) if each is not None]
        self._changed = frozenset(name for each in trees for name in _changed_in(each))
        if any(map(_marks_privately, trees)):
            self._classes.clear()
        self._needed: dict[str, frozenset[str] | None] = {}

    def closed(self, name: str) -> list[str]:
        """The class and those of this file that it needs, in their order; empty where one of them is no record."""
        found: set[str] = set()
        waiting = [name]
        while waiting:
            each = waiting.pop()
            if each not in found:
                found.add(each)
                if each not in self._needed:
                    self._needed[each] = self._needs(each)
                needed = self._needed[each]
                if needed is None:
                    return []
                waiting += needed
        return [each for each in self._order if each in found]

    def text_of(self, names: list[str]) -> str:
        """What defines these classes."""
        nodes = [self._classes[name] for name in names]
        used = sorted({name for node in nodes for name in _read_in(node) if name in self._imports})
        lines = ["from __future__ import annotations"] if "annotations" in self._imports else []
        lines += [self._imports[name] for name in used if name != "annotations"]
        return "\n".join([*lines, *(ast.unparse(node) for node in nodes)])

    def is_as_written(self, name: str, cls: Any) -> bool:
        """The class has what its text gives it, and nothing else."""
        node = self._classes[name]
        written = {part.name for part in node.body if isinstance(part, ast.FunctionDef)}
        written |= {target for part in node.body for target in _bound(part)}
        if type(cls) is not type:
            return False
        free = _OF_PYTHON | _OF_DATA if node.decorator_list else _OF_PYTHON
        lines = range(min([node.lineno, *(each.lineno for each in node.decorator_list)]), (node.end_lineno or 0) + 1)
        for each, value in vars(cls).items():
            if each not in written:
                if each not in free and type(value) is not types.MemberDescriptorType:
                    return False
                continue
            code = _code_of(value)
            if code is not None and (code.co_filename != self._path or code.co_firstlineno not in lines):
                return False
        return True

    def _needs(self, name: str) -> frozenset[str] | None:
        """Other classes of the file that this one needs to be what it is; None where it is no record."""
        node = self._classes.get(name)
        if node is None or name not in self._once or name in self._changed or not _is_plain(node):
            return None
        free = set(_globals_of(symtable.symtable(ast.unparse(node), self._path, "exec"))) - {name}
        needed = {each for each in free if each in self._classes}
        for each in free - needed:
            if each in self._bound:
                if each not in self._imports or each not in self._once:
                    return None
            elif each in _NEVER or not hasattr(builtins, each):
                return None
        bases = [base for base in node.bases if not (isinstance(base, ast.Name) and base.id == "object")]
        if not all(isinstance(base, ast.Name) and base.id in needed for base in bases):
            return None
        return frozenset(needed)


def _is_plain(node: ast.ClassDef) -> bool:
    """The text of the class is that of a record."""
    if node.keywords or getattr(node, "type_params", None) or node.name.startswith(("_", "Test")):
        return False
    decorators = [_dotted(each.func if isinstance(each, ast.Call) else each) for each in node.decorator_list]
    if not all(each in _DECORATORS for each in decorators):
        return False
    is_data = any(each.endswith("dataclass") for each in decorators)
    if not all(_is_part(part, is_data) for part in node.body):
        return False
    for part in ast.walk(node):
        if isinstance(part, ast.Constant) and type(part.value) is str and _PROMPT in part.value:
            return False
        if isinstance(part, _NO_SYNTAX) and part is not node:
            return False
        if isinstance(part, ast.Attribute) and not _is_public(part.attr):
            return False
        if (
            isinstance(part, ast.Attribute)
            and not isinstance(part.ctx, ast.Load)
            and not _is_of_object(part.value, node)
        ):
            return False
    methods = [part for part in node.body if isinstance(part, ast.FunctionDef)]
    sets = any(isinstance(part, ast.Attribute) and isinstance(part.ctx, ast.Store) for each in methods
               if each.name == "__init__" for part in ast.walk(each))  # fmt: skip
    return sets or is_data or bool(node.bases)


def _is_part(part: ast.stmt, is_data: bool) -> bool:
    if isinstance(part, ast.Pass) or _is_text(part):
        return True
    if isinstance(part, ast.AnnAssign):
        is_name = isinstance(part.target, ast.Name) and _is_public(part.target.id)
        return is_name and (_is_default(part.value) if is_data else _is_nothing(part.value))
    if isinstance(part, ast.Assign):
        names = [target.id for target in part.targets if isinstance(target, ast.Name)]
        if len(names) < len(part.targets):
            return False
        if names in (["__slots__"], ["__match_args__"]):
            return isinstance(part.value, (ast.Constant, ast.Tuple, ast.List)) and _is_text_or_texts(part.value)
        is_other_name = isinstance(part.value, ast.Name) and part.value.id[:2] == "__"
        return all(map(_is_public, names)) and (is_other_name or _is_nothing(part.value))
    if not isinstance(part, ast.FunctionDef) or not _is_public(part.name) or part.name in _NO_METHODS:
        return False
    if part.name.startswith("test") or part.name in ("setUp", "tearDown", "runTest"):
        return False
    decorators = [_dotted(each) for each in part.decorator_list]
    if not all(each in _OF_METHODS or each.endswith((".setter", ".deleter")) for each in decorators):
        return False
    # what no object shows where it is asked
    is_hidden = "classmethod" in decorators or "staticmethod" in decorators
    computes = any(isinstance(each, _COMPUTES) or _is_table(each) for each in ast.walk(part))
    return not (is_hidden and computes)


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _is_table(node: ast.AST) -> bool:
    return isinstance(node, _DISPLAYS) and bool(node.keys if isinstance(node, ast.Dict) else node.elts)


def _is_text_or_texts(node: Any) -> bool:
    parts = [node] if isinstance(node, ast.Constant) else node.elts
    return all(isinstance(each, ast.Constant) and type(each.value) is str and _is_public(each.value) for each in parts)


def _is_nothing(node: Any) -> bool:
    """A default that says nothing."""
    return node is None or (isinstance(node, ast.Constant) and node.value in (None, 0, "", False, True))


def _is_default(node: Any) -> bool:
    """What a field of a dataclass may have."""
    if isinstance(node, ast.Call) and _dotted(node.func) in ("field", "dataclasses.field"):
        return not node.args and all(
            isinstance(each.value, ast.Constant)
            or (each.arg == "default_factory" and _dotted(each.value) in ("list", "dict", "set"))
            for each in node.keywords
        )
    return node is None or isinstance(node, ast.Constant)


def _is_public(name: str) -> bool:
    return name[:1] != "_" or (name[:2] == "__" == name[-2:] and len(name) > 4)


def _is_of_object(base: Any, node: ast.ClassDef) -> bool:
    """What is set there belongs to an object, and to no class."""
    while isinstance(base, ast.Attribute) and base.attr[:2] != "__":
        base = base.value
    return isinstance(base, ast.Name) and base.id not in ("cls", node.name)


def _dotted(node: Any) -> str:
    if isinstance(node, ast.Attribute):
        return f"{_dotted(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def _read_in(node: ast.AST) -> Iterator[str]:
    """Names that are looked up there, also in annotations that are texts."""
    for part in ast.walk(node):
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load):
            yield part.id


def _globals_of(table: symtable.SymbolTable) -> Iterator[str]:
    """Names that are looked up outside of the class."""
    is_top = table.get_type() == "module"
    for symbol in table.get_symbols():
        if symbol.is_referenced() if is_top else symbol.is_global():
            yield symbol.get_name()
    for inner in table.get_children():
        yield from _globals_of(inner)


def _bound(statement: ast.stmt) -> Iterator[str]:
    """Names that a statement binds where it stands, but for those of a star import."""
    if isinstance(statement, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
        yield statement.name
        return
    for part in ast.walk(statement):
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
            yield part.id
        elif isinstance(part, (ast.ClassDef, ast.FunctionDef)):
            yield part.name
        elif isinstance(part, ast.alias) and part.name != "*":
            yield part.asname or part.name.partition(".")[0]


def _imports_of(statement: Any) -> Iterator[tuple[str, str]]:
    """Names that come from Python's own modules, and what imports each."""
    for alias in statement.names:
        if isinstance(statement, ast.ImportFrom):
            if statement.module in _MODULES and alias.name != "*":
                name = alias.asname or alias.name
                yield name, f"from {statement.module} import {alias.name} as {name}"
        elif alias.name in _MODULES:
            yield alias.asname or alias.name, f"import {alias.name} as {alias.asname or alias.name}"


def _changed_in(tree: ast.AST) -> Iterator[str]:
    """Names of which a text sets something, or has something set (`mock.patch.object(Node, ..)`)."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load) and isinstance(node.value, ast.Name):
            yield node.value.id
        elif isinstance(node, ast.Call) and (
            _dotted(node.func) in ("setattr", "delattr") or _dotted(node.func).endswith((".object", ".setattr"))
        ):
            yield from (each.id for each in node.args[:1] if isinstance(each, ast.Name))


def _marks_privately(tree: ast.AST) -> bool:
    """It sets private attributes of an object from without, which may be what it expects."""
    return any(
        isinstance(node, ast.Attribute)
        and isinstance(node.ctx, ast.Store)
        and not _is_public(node.attr)
        and not (isinstance(node.value, ast.Name) and node.value.id in ("self", "cls", "s"))
        for node in ast.walk(tree)
    )


def hidden_method(value: Any) -> str:
    """The name of a method that an attribute of this one object hides; empty where none does."""
    own = getattr(value, "__dict__", {})
    return next((name for name in own if type(getattr(type(value), name, None)) is types.FunctionType), "")


def _code_of(value: Any) -> Any:
    for name in ("fget", "__func__"):
        value = getattr(value, name, value)
    return getattr(value, "__code__", None)


class HeldRecords:
    """The candidate's side: the classes that it was told of."""

    def __init__(self) -> None:
        self._held: dict[tuple[str, str], Any] = {}
        self._keys: dict[int, tuple[str, str]] = {}
        self._seen: dict[tuple[str, str], dict[str, Any]] = {}
        self._changed: set[tuple[str, str]] = set()
        self._spaces: dict[str, dict[str, Any]] = {}

    def learn(self, told: Any) -> None:
        """Have the classes that the suite tells of."""
        for module, text, names in told:
            space = self._spaces.get(module)
            if space is None:
                made = types.ModuleType(module)
                space = self._spaces[module] = vars(made)
                sys.modules.setdefault(module, made)  # where `pickle` looks for them
            exec(compile(text, f"<{module}>", "exec", dont_inherit=True), space)  # noqa: S102 (a trusted text)
            for name in names:
                cls = self._held[module, name] = space[name]
                self._keys[id(cls)] = module, name
                self._seen[module, name] = _own(cls)

    def key(self, cls: Any) -> tuple[str, str] | None:
        """Module and name of one of these classes; None for any other."""
        found = self._keys.get(id(cls))
        return found if found is not None and self._held[found] is cls else None

    def named(self, module: Any, name: Any) -> Any:
        """The class of this name; None where there is none."""
        return self._held.get((module, name))

    def changed(self) -> str:
        """What the candidate has newly set of such a class, which only its own side has; empty where nothing is."""
        for key, seen in self._seen.items():
            if key not in self._changed:
                now = _own(self._held[key])
                names = [name for name in {**seen, **now} if now.get(name, seen) is not seen.get(name, seen)]
                if names:
                    self._changed.add(key)
                    return f"{key[1]}.{min(map(str, names))}"[:200]
        return ""


def _own(cls: Any) -> dict[str, Any]:
    """What a class has, but for what Python adds by itself; and what its methods are made of."""
    held = type.__dict__["__dict__"].__get__(cls)
    found: dict[str, Any] = {
        name: value for name, value in held.items() if name not in _OF_PYTHON or name == "__hash__"
    }
    for name, value in list(found.items()):
        if isinstance(value, types.FunctionType):
            found[f"{name}.__code__"], found[f"{name}.__defaults__"] = value.__code__, value.__defaults__
    for name in ("__bases__", "__name__", "__qualname__"):
        found[name] = type.__dict__[name].__get__(cls)
    return found
