"""What test code uses of libraries while it shares its process with a candidate: is it still what it was?

Its text stands before that of the runner inside the sandbox. Standard library only, Python 3.8 and up.
"""

from __future__ import annotations

import ast
import dis
import sys
from opcode import opmap
from types import CodeType, FunctionType, ModuleType

from harena.scoring.guest.added_methods import Added
from harena.scoring.guest.module_names import imported
from harena.scoring.guest.plain_values import PROTECTED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

_DEFINED = "__harena_defined__"
_ABSENT = object()
_PARTS = ("__code__", "__defaults__", "__kwdefaults__")
"""what decides what a function does, and can be replaced in place"""
_PLAIN = (bool, int, float, complex, str, bytes, tuple, type(None))
_TABLES = (dict, list, set)
_STORE, _EXTENDED = opmap["STORE_GLOBAL"], opmap["EXTENDED_ARG"]
_HEAP_TYPE, _IMMUTABLE = 1 << 9, 1 << 8
"""Py_TPFLAGS_HEAPTYPE and, since Python 3.10, Py_TPFLAGS_IMMUTABLETYPE: who can set attributes of a class"""
_PATCHES = frozenset({"patch", "setattr", "delattr", "monkeypatch", "__dict__", "vars", "exec", "eval"})
"""names by which test code replaces what it does not write as an assignment"""
_HOOKS = frozenset({
    "json.encoder.JSONEncoder.default", "json.JSONEncoder.default", "logging.lastResort", "pdb.set_trace",
    "threading.excepthook", "warnings.filters", "warnings.formatwarning", "warnings.showwarning",
    "warnings._showwarnmsg_impl",
})  # fmt: skip
"""what libraries offer to be replaced, and programs do; pytest and doctest put a debugger of their own in the place of
pdb's, which judges nothing"""
_OF_THE_PROCESS = frozenset({"builtins", "__main__", "sys", "os", "posix", "site"})
"""modules of which programs set parts for the whole process: only what the tests name in them has to stay"""


class Tools:
    """What a piece of test code uses of the modules that it imports, and of those that these are made of: where a
    function, a class or a value that it names is another when the tests have ended, what the tests compared with it
    proves nothing.

    It is made when the tests' imports are loaded and nothing of the candidate has run. What the tests replace
    themselves, and what libraries offer to be replaced, may change; so may plain values that the tests do not name.
    """

    def __init__(self, tree: ast.AST) -> None:
        self._named = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom):
                self._named.update(alias.name for alias in node.names)
        names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        self.replaces_anything = bool((self._named | names) & _PATCHES)
        """the tests replace what nobody can tell"""
        self.set_by_tests = {
            node.attr
            for node in ast.walk(tree)
            if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load)
        }
        self.modules = _with_their_parts(set(imported(tree)))
        """by full name: those that the tests import, and what these are made of"""
        self._imported = {} if "modules" in self._named else {name: sys.modules.get(name) for name in imported(tree)}
        self.before = dict(self._found())
        """full name -> what it meant before anything of the candidate had run"""
        self._bound: dict[str, set[str]] = {}
        self._settable: dict[str, set[str]] = {}
        self._own: list[tuple[str, Any, dict[str, Any]]] = []
        self.added = Added([tree])

    def marked(self, tree: ast.Module) -> ast.Module:
        """The tests, which tell of each class and function that they define outside of functions."""
        body: list[ast.stmt] = []
        for node in tree.body:
            body.append(node)
            is_own = isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) and not node.decorator_list
            if is_own and not self.replaces_anything:
                names: list[ast.expr] = [ast.Constant(node.name), ast.Name(node.name, ast.Load())]  # type: ignore[attr-defined]
                told = ast.Expr(ast.Call(ast.Name(_DEFINED, ast.Load()), names, []))
                body.append(ast.fix_missing_locations(ast.copy_location(told, node)))
        tree.body = body
        return tree

    @property
    def imports(self) -> list[str]:
        """What the tests import, unless they change the table of modules themselves."""
        return [] if self.replaces_anything else list(self._imported)

    def functions(self) -> dict[str, Any]:
        """What the tests call, by the name there."""

        def defined(name: str, value: Any) -> None:
            self._own.append((name, value, dict(_defined(name, value))))
            if isinstance(value, type):
                self.added.add_class(value)

        return {_DEFINED: defined}

    def bound_by(self, owner: str) -> set[str]:
        """The global names of a module that its own functions bind anew."""
        if owner not in self._bound:
            self._bound[owner] = _stored(self._functions_of(owner, self.modules[owner]))
        return self._bound[owner]

    def _offered_by(self, owner: str) -> set[str]:
        """The global names of a module that a public function of its own binds to what it is given: the library offers
        to replace them (`logging.setLogRecordFactory`)."""
        if owner not in self._settable:
            functions = (code for code in self._functions_of(owner, self.modules[owner]) if code.co_name[:1] != "_")
            self._settable[owner] = {name for code in functions for name in _given(code)}
        return self._settable[owner]

    def replaced(self) -> str:
        """The name of something that is another than before; empty where nothing is."""
        if self.replaces_anything:
            return ""
        if self.added.exchanged and not self.set_by_tests.intersection(self.added.exchanged.split(".")):
            return self.added.exchanged
        for own_name, own, had in self._own:
            for name, value in _defined(own_name, own):
                if had.get(name, _ABSENT) is value or not self.set_by_tests.isdisjoint(name.split(".")):
                    continue
                inner = name[len(own_name) + 1 :].partition(".")[0]
                if f"{own_name}.{inner}" in had or not isinstance(own, type) or not self.added.is_free(own, inner):
                    return name
        for module in (sys.modules.get("re"),):
            for cache in ("_cache", "_cache2"):
                for key, pattern in list(getattr(module, cache, {}).items()):
                    if type(key) is tuple and len(key) > 1 and getattr(pattern, "pattern", key[1]) != key[1]:
                        return f"re.{cache}"
        for name, module in self._imported.items():
            if module is not None and sys.modules.get(name) is not module:
                return name
        now = dict(self._found())
        for name, value in self.before.items():
            if now.get(name, _ABSENT) is not value and not self._is_librarys_doing(name, value, now.get(name, _ABSENT)):
                return name
        return ""

    def _is_librarys_doing(self, name: str, before: Any, now: Any) -> bool:
        """A function of the module binds this name to what it is given, or binds it anew (`mimetypes.init`, tables that
        are filled at first use), and what it holds is of the same kind. It is nothing that could not be changed where
        it lies: a table, or an object of a library's with attributes; functions in them are looked at beside it."""
        owners = (owner for owner in self.modules if name.startswith(owner + "."))
        if any(name[len(owner) + 1 :].partition(".")[0] in self._offered_by(owner) for owner in owners):
            return True
        kind = type(before)
        has_state = kind in _TABLES or (_can_change(kind) and type(getattr(before, "__dict__", None)) is dict)
        if type(now) is not kind or not has_state or isinstance(before, (type, FunctionType, ModuleType)):
            return False
        for owner, module in self.modules.items():
            inner = name[len(owner) + 1 :] if name.startswith(owner + ".") else ""
            if inner and "." not in inner and inner in self.bound_by(owner):
                return not self._holds_another_kind(owner, module)
        return False

    def _holds_another_kind(self, owner: str, module: ModuleType) -> bool:
        """In a name that held no such thing at first, the module has an object of a class that nobody knew."""
        known = {id(value) for value in self.before.values() if isinstance(value, type)}
        names = [name for name in vars(module) if name[:2] != "__" and f"{owner}.{name}" not in self.before]
        new = [vars(module)[name] for name in names]
        return any(type(value).__flags__ & _HEAP_TYPE and id(type(value)) not in known for value in new)

    def _functions_of(self, owner: str, module: ModuleType) -> Iterator[CodeType]:
        """The code of the module's own functions, as it was at first."""
        for name, code in self.before.items():
            if name.startswith(owner + ".") and name.endswith(".__code__") and isinstance(code, CodeType):
                member = self.before.get(name[: -len(".__code__")])
                function = getattr(member, "__func__", member)
                if isinstance(function, FunctionType) and function.__globals__ is vars(module):
                    yield code

    def _found(self) -> Iterator[tuple[str, Any]]:
        for cls in PROTECTED:
            yield from _described(f"{cls.__module__}.{cls.__name__}", cls, cls.__module__)
        for module_name, module in self.modules.items():
            for name, value in list(vars(module).items()):
                if name in self.set_by_tests or f"{module_name}.{name}" in _HOOKS:
                    continue
                is_inner = module_name not in _OF_THE_PROCESS and name[:2] != "__" and not isinstance(value, _PLAIN)
                if name in self._named or is_inner:
                    yield from _described(f"{module_name}.{name}", value, module_name)
                if is_inner:
                    yield from _held(f"{module_name}.{name}", value, module_name)


def _described(name: str, value: Any, module: str) -> Iterator[tuple[str, Any]]:
    yield name, value
    if isinstance(value, FunctionType):
        for part in _PARTS:
            yield f"{name}.{part}", getattr(value, part)
    elif isinstance(value, type) and value.__module__ == module and _can_change(value):
        for inner, member in list(vars(value).items()):
            if f"{name}.{inner}" in _HOOKS:
                continue
            function = getattr(member, "__func__", member)
            if callable(function) or isinstance(member, property):
                yield f"{name}.{inner}", member
            if isinstance(function, FunctionType):
                for part in _PARTS:
                    yield f"{name}.{inner}.{part}", getattr(function, part)


def _held(name: str, value: Any, module: str) -> Iterator[tuple[str, Any]]:
    """What a library's own object or table does: functions in it, and methods that nothing of its own hides."""
    if type(value) is dict:
        for key, function in list(value.items()):
            if isinstance(key, type) and callable(function):
                yield f"{name}[{key.__name__}]", function
    elif type(type(value)) is type and type(value).__module__.partition(".")[0] == module.partition(".")[0]:
        own = getattr(value, "__dict__", None)
        if type(own) is dict:
            for inner in dir(type(value)):
                if inner[:2] != "__" and callable(getattr(type(value), inner, None)):
                    yield f"{name}.{inner}", own.get(inner, _ABSENT)
            for inner, function in list(own.items()):
                if callable(function):
                    yield f"{name}.{inner}", function


def _defined(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """What decides what a class or a function of the tests does; special methods that it gets later, too."""
    if isinstance(value, FunctionType):
        for part in _PARTS:
            yield f"{name}.{part}", getattr(value, part)
    elif isinstance(value, type):
        for inner, member in list(vars(value).items()):
            function = getattr(member, "__func__", member)
            if callable(function) or isinstance(member, property):
                yield f"{name}.{inner}", member
            if isinstance(function, FunctionType):
                for part in _PARTS:
                    yield f"{name}.{inner}.{part}", getattr(function, part)


def _stored(codes: Iterator[CodeType]) -> set[str]:
    """The global names that these functions bind."""
    found: set[str] = set()
    waiting = list(codes)
    while waiting:
        code = waiting.pop()
        waiting += [part for part in code.co_consts if isinstance(part, CodeType)]
        higher = 0
        for operation, low in zip(code.co_code[::2], code.co_code[1::2]):  # noqa: B905 (no strict= before 3.10)
            operand = higher | low
            higher = operand << 8 if operation == _EXTENDED else 0
            if operation == _STORE:
                found.add(code.co_names[operand])
    return found


def _given(code: CodeType) -> Iterator[str]:
    """The global names that a function binds to its arguments as they are."""
    lines = dis.get_instructions(code)
    before = None
    arguments = code.co_varnames[: code.co_argcount]
    for line in lines:
        is_given = before is not None and before.opname.startswith("LOAD_FAST") and before.argval in arguments
        if line.opname == "STORE_GLOBAL" and is_given:
            yield line.argval
        before = line


def _can_change(cls: type) -> bool:
    return bool(cls.__flags__ & _HEAP_TYPE) and not cls.__flags__ & _IMMUTABLE


def _with_their_parts(names: Any) -> dict[str, ModuleType]:
    """The modules of these names, those that their functions and classes come from, and so on within one package."""
    found: dict[str, ModuleType] = {}
    waiting = [(name, "") for name in names]
    while waiting:
        name, user = waiting.pop()
        module = sys.modules.get(name)
        if name in found or not isinstance(module, ModuleType) or name in ("builtins", "__main__"):
            continue
        found[name] = module
        if user and user.partition(".")[0] != name.partition(".")[0]:
            continue
        for attribute, value in list(vars(module).items()):
            of = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None)
            if attribute[:2] != "__" and isinstance(of, str):
                waiting.append((of, name))
    return found
