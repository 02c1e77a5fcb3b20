"""Tells which functions of the tests a candidate beside them was given, by the values that cross to it.

Trusted files tell of what they hand on, where they do: arguments of calls, what they set in attributes and places,
operands, and what their functions give to a candidate that calls them. Whatever is found in such a value (a function,
a method, an object of a class of theirs with all that this can do, a generator, and so on in what these hold) was given. A call
of the tests' own function hands nothing out, nor does one of `map`, `sorted` or `functools.partial` where nothing of the
candidate's is among its arguments: what becomes of their result is told where that goes. What a candidate decorates, and
classes that derive from its own, are its to use. Standard library only, Python 3.8 and up.
"""  # noqa: E501

from __future__ import annotations

import ast
import builtins
import functools
import gc
import itertools
import re
import sys
import types
from types import FunctionType, MethodType, ModuleType

from harena.scoring.guest.executed_assertions import call_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping
    from typing import Any

globals()["__builtins__"] = dict(vars(builtins))
"""what this module's functions find, whatever a program puts in the place of a builtin for a while"""
RECEIVER, HANDED, STORED = "__harena_receiver__", "__harena_handed__", "__harena_stored__"
GIVES, GOT, RAISES, SAYS = "__harena_gives__", "__harena_got__", "__harena_raises__", "__harena_says__"
FREE = "harena_is_free"
"""attribute of a function in a tree: what `note_free` has found"""
_LOOKS = frozenset({"__harena_look__", "__harena_own__", "__harena_bound__", "__harena_began__"})
"""words that hand nothing on"""
_OWN, _PURE, _KEPT, _CROSSES = 0, 1, 2, 3
"""what is known of a place where something is handed on: to the tests' own code, to a library's that keeps nothing and
calls nobody else, to another library, to anybody"""
_PLAIN = frozenset({int, float, complex, bool, str, bytes, bytearray, type(None), type(...), range, slice, memoryview})
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_SHIFTS = (ast.BitOr, ast.BitAnd, ast.RShift, ast.LShift, ast.MatMult)
"""operators by which objects are told functions (`pipe | step`)"""
_KEEPING_NOTHING = frozenset({"functools", "itertools", "operator", "collections", "math", "statistics"})
_OF_FIXTURES = ("_pytest.fixtures", "_pytest.mark", "asyncio.runners")
_NOT_PURE = frozenset({"setattr", "delattr", "exec", "eval", "compile", "__import__", "__build_class__", "open"})
_MOST_PARTS, _FEW_PARTS, _MOST_ITEMS, _FEW_ITEMS, _MOST_SCANS = 3000, 100, 256, 8, 3000
"""the most objects that are looked at for one value, and where many have been looked at; items of one container, items
where a place has been passed often, and how often that is"""
_MANY_LOOKS = 300_000
"""so many objects are looked at in one run, in half a second or so, before values are looked at in small part only"""
_OWN_NAMES = frozenset({"__name__", "__file__", "__module__", "__spec__", "__package__", "__qualname__"})
"""names by which tests have the name of a module of theirs"""
_MOST_TEXT = 2000
_OF_CALLS = frozenset({types.FrameType, types.CodeType, types.TracebackType})
_CODES = {types.GeneratorType: "gi_code", types.CoroutineType: "cr_code", types.AsyncGeneratorType: "ag_code"}
_LAZY = frozenset({
    *_CODES, FunctionType, MethodType, map, filter, zip, enumerate, reversed, functools.partial, type(iter([])),
    type(iter(())), *(each for each in vars(itertools).values() if isinstance(each, type)),
})  # fmt: skip
"""classes of what calls later what it holds"""
_line_of: Any = type.__dict__["__mro__"].__get__
_names_of_class: Any = type.__dict__["__dict__"].__get__
_names_of_module: Any = vars(ModuleType)["__dict__"].__get__
_referents = gc.get_referents
_LAZY_PARTS = 8
_GUEST = "<harena."
"""how the names of these modules' files begin where they run"""
_CACHE: Any = functools._lru_cache_wrapper


class Entrusted:
    """What was given to the candidate of the trusted files' functions."""

    def __init__(self, whose: Callable[[str], str], quietly: Callable[..., Any], stems: Collection[str],
                 is_called: Callable[[Any], bool], tells_of: Callable[[Any], None]) -> None:  # fmt: skip
        """`whose`: of a path, "tests", "library" or "candidate"; `quietly` calls a function without the interpreter's
        telling of it; `stems`: names of the test modules; `is_called`: the candidate has called what runs in a
        frame; `tells_of` is told of each code that the candidate hands out as its own."""
        self._tells_of = tells_of
        self._whose, self._quietly, self._is_called = whose, quietly, is_called
        self._names = re.compile("|".join(rf"\b{re.escape(stem)}\b" for stem in sorted(stems)) or r"(?!)")
        self.codes: set[int] = set()
        """`id` of each code that was given"""
        self.is_everything = False
        """the tests have told the name of a module of theirs, or given it"""
        self._may_say = False
        """a text of the tests' has the name of a module of theirs"""
        self._has_shown_name = self._has_shown_module = False
        """the candidate has given a text with such a name, or such a module"""
        self._came_out: dict[int, Any] = {}
        """each code, by `id`, of which the candidate had something before it was given"""
        self.looks = 0
        """objects that were looked at"""
        self._classes: set[int] = set()
        self._theirs: set[int] = set()
        """places where a name is called that is imported from the candidate"""
        self._kinds: list[int] = [_CROSSES]
        self._scans: list[int] = [0]
        self._waiting: dict[int, set[int]] = {}
        """what was handed to a library that keeps nothing, by place: it counts as given once anything of the
        candidate's is handed there"""

    # In the tests' code.

    def put_in(self, tree: ast.Module, known: Collection[str]) -> Any:
        """The tree of a trusted file, which tells of what it hands on. To be put behind whatever reads the tree.
        `known`: names of the file that are no candidate's, beside those of its own functions and classes."""
        self._may_say = self._may_say or any(
            getattr(part, "id", getattr(part, "attr", "")) in _OWN_NAMES or self.is_name(getattr(part, "value", None))
            for part in ast.walk(tree)
        )
        return _Handing(self, tree, known).visit(tree)

    def place(self, kind: int = _OWN, *, is_theirs: bool = False) -> int:
        """The number of one more place. `is_theirs`: a name of the candidate's is called there."""
        if is_theirs:
            self._theirs.add(len(self._kinds))
        self._kinds.append(kind)
        self._scans.append(0)
        return len(self._kinds) - 1

    def functions(self) -> dict[str, Any]:
        """What the tests call, by the name there."""
        kinds, plain, getframe = self._kinds, _PLAIN, sys._getframe

        def receiver(place: int, function: Any) -> Any:
            known = _behind(function)
            if place in self._theirs and not self._quietly(self._is_theirs, known):
                self._quietly(self._take_back, known)
            if kinds[place] != _CROSSES:
                kind = self._quietly(self._kind_of, known)
                kinds[place] = max(kinds[place], kind)
                self._waiting.pop(place, None)
            return function

        def handed(place: int, value: Any) -> Any:
            kind = type(value)
            if kinds[place] == _OWN:
                return value
            if kind is str:
                self._tell_name(place, value)
            elif type(kind) is not type or kind not in plain:  # a class of classes may say what its classes equal
                self._quietly(self._hand, place, value)
            return value

        def stored(owner: Any, value: Any) -> Any:
            kind = type(value)
            if (type(kind) is not type or kind not in plain) and not self._quietly(self._keeps, owner):
                self._quietly(self._hand, 0, value)
            return value

        def gives(value: Any) -> Any:
            kind = type(value)
            if (type(kind) is not type or kind not in plain) and self._quietly(self._is_given_out, getframe):
                self._quietly(self._hand, 0, value)
            return value

        def raises(value: Any) -> Any:
            self._quietly(self._hand, 0, value)  # whoever catches it: it goes through all frames up to there
            return value

        def says(place: int, value: Any) -> Any:
            if kinds[place] == _CROSSES:
                self.is_everything = True
            return value

        def got(place: int, value: Any) -> Any:
            if kinds[place] == _CROSSES:
                kind = type(value)
                if kind is str:
                    self._has_shown_name = self._has_shown_name or self.is_name(value)
                elif type(kind) is not type or kind not in plain:
                    self._quietly(self._take_back, value)
            return value

        return {
            RECEIVER: receiver, HANDED: handed, STORED: stored, GIVES: gives, GOT: got, RAISES: raises, SAYS: says,
        }  # fmt: skip

    def give(self, value: Any) -> None:
        """The candidate has this."""
        self._quietly(self._hand, 0, value)

    def _is_given_out(self, getframe: Callable[[int], Any]) -> bool:
        """What the tests' function gives that is under way goes to the candidate, or to a library that was given it."""
        frame = getframe(3)  # below this look, its silence, and the word
        return id(frame.f_code) in self.codes or self._is_called(frame)

    def _is_theirs(self, function: Any) -> bool:
        """A function of the candidate's own."""
        return type(function) is FunctionType and self.whose_function(function) == "candidate"

    def _take_back(self, value: Any) -> None:
        """The candidate has handed out what calls a function of the tests, or holds one. By handing that back, the
        tests give nothing that it did not have."""
        kind = type(value)
        lazy = [value]
        if kind is list or kind is tuple or kind is set or kind is frozenset:
            lazy = list(itertools.islice(value, _LAZY_PARTS))
        elif kind is dict:
            lazy = list(itertools.islice(itertools.chain(value.values(), value), _LAZY_PARTS))
        found = _ReachableObjects(self, _FEW_ITEMS)
        for part in lazy:
            if type(type(part)) is type and type(part) in _LAZY:
                found.look(part)
        for code in found.codes.values():
            self._tells_of(code)
        found = _ReachableObjects(self, _MOST_ITEMS)
        found.look(value)
        self._came_out.update((number, code) for number, code in found.codes.items() if number not in self.codes)
        self._has_shown_module = self._has_shown_module or found.is_everything
        self._has_shown_name = self._has_shown_name or found.has_name

    # What is found.

    def _tell_name(self, place: int, value: str) -> None:
        may_be = self._may_say and not self._has_shown_name  # else it may be a text of the candidate's
        if may_be and self._kinds[place] == _CROSSES and self.is_name(value):
            self.is_everything = True

    def is_name(self, value: Any) -> bool:
        """A text by which the candidate finds a test module."""
        return type(value) is str and len(value) < _MOST_TEXT and self._names.search(value) is not None

    def _keeps(self, owner: Any) -> bool:
        """It is an object of the tests' own that nobody was given."""
        return id(type(owner)) not in self._classes and self._kind_of_class(type(owner)) == _OWN

    def _hand(self, place: int, value: Any) -> None:
        self._scans[place] += place != 0
        most = _MOST_ITEMS if self._scans[place] < _MOST_SCANS else _FEW_ITEMS
        found = _ReachableObjects(self, most)
        found.look(value)
        found.codes = {number: code for number, code in found.codes.items() if number not in self._came_out}
        if self._kinds[place] == _PURE and not found.has_theirs:
            self._waiting.setdefault(place, set()).update(found.codes)
            return
        self._kinds[place] = max(self._kinds[place], _KEPT)
        self.codes |= found.codes.keys()
        self.codes |= self._waiting.pop(place, set())
        self._classes |= found.classes
        self.is_everything = self.is_everything or (found.is_everything and not self._has_shown_module)

    def _kind_of(self, function: Any) -> int:
        while type(function) is MethodType:
            function = function.__func__
        kind = type(function)
        if kind is _CACHE:
            return self._kind_of(function.__wrapped__)
        if kind is FunctionType:
            return self._kind_of_names(function.__globals__, function)
        if issubclass(kind, type):
            return self._kind_of_class(function)
        if kind is type(len):
            owner = function.__self__
            name = owner.__name__ if type(owner) is ModuleType else ""
            is_pure = name in ("builtins", *_KEEPING_NOTHING) or name.lstrip("_") in _KEEPING_NOTHING
            return _PURE if is_pure and function.__name__ not in _NOT_PURE else _KEPT
        return self._kind_of_class(kind)

    def _kind_of_names(self, names: Mapping[str, Any], function: Any) -> int:
        path, module = names.get("__file__"), names.get("__name__")
        whose = self._whose(path) if type(path) is str else ""
        if whose == "tests":
            return _OWN
        if type(module) is str and whose != "candidate":
            top = module.partition(".")[0]
            is_public = names.get(function.__name__) is function  # and not made by another, which may be somebody's
            if (top in _KEEPING_NOTHING and is_public) or top == "harena" or module.startswith(_OF_FIXTURES):
                return _PURE
        return _CROSSES if whose == "candidate" else _KEPT

    def whose_class(self, kind: type) -> str:
        """Tell whose a class is, by its module."""
        names = _names_of_class(kind)
        name = names.get("__module__")
        module = sys.modules.get(name) if type(name) is str else None
        if type(module) is ModuleType:
            path = _names_of_module(module).get("__file__")
            return self._whose(path) if type(path) is str else "library"
        functions = (each for each in list(names.values()) if type(each) is FunctionType)
        return next(map(self.whose_function, functions), "library")

    def _kind_of_class(self, kind: type) -> int:
        line = _line(kind)
        owners = [self.whose_class(each) for each in line if each is not object]
        if owners and all(each == "tests" for each in owners):
            return _OWN
        if "candidate" in owners or "tests" in owners:
            return _CROSSES
        name = str(_names_of_class(kind).get("__module__"))
        top = name.partition(".")[0].lstrip("_")
        is_pure = top in ("builtins", "harena") or top in _KEEPING_NOTHING or name.startswith(_OF_FIXTURES)
        return _PURE if is_pure else _KEPT

    def whose_function(self, function: Any) -> str:
        """Tell whose a function is, by its module."""
        path = function.__globals__.get("__file__")
        return self._whose(path) if type(path) is str else "library"


class _ReachableObjects:
    """What lies in one value."""

    def __init__(self, entrusted: Entrusted, most: int) -> None:
        self._entrusted, self._most = entrusted, most
        self.codes: dict[int, Any] = {}
        self.classes: set[int] = set()
        self.has_theirs = False
        self.is_everything = False
        self.has_name = False
        """a text in it names a module of the tests"""
        self._waiting: list[Any] = []
        self._seen: set[int] = set()

    def look(self, value: Any) -> None:
        """Look at it, and at what it holds: what lies nearest first, and functions before anything else."""
        most = _MOST_PARTS if self._entrusted.looks < _MANY_LOOKS else _FEW_PARTS
        level = [value]
        count = 0
        while level:
            level.sort(key=_is_no_function)
            for part in level:
                kind = type(part)
                if id(part) in self._seen:
                    continue
                if type(kind) is type and kind in _PLAIN:
                    self.has_name = self.has_name or (kind is str and self._entrusted.is_name(part))
                    continue
                if count >= most:
                    break
                count += 1
                self._seen.add(id(part))
                self._part(part)
            self._entrusted.looks += len(level)
            level, self._waiting = self._waiting if count < most else [], []

    def _part(self, part: Any) -> None:
        kind = type(part)
        if kind is list or kind is tuple:
            self._waiting += self._some(part)
        elif kind is dict:
            self._waiting += [*self._some(list(part.values())), *self._some(list(part))]
        elif kind is set or kind is frozenset:
            self._waiting += self._some(list(part))
        elif kind is FunctionType:
            self._function(part)
        elif kind is MethodType:
            self._waiting += (part.__self__, part.__func__)
        elif issubclass(kind, type):
            self._class(part)
        elif issubclass(kind, ModuleType):
            path = _names_of_module(part).get("__file__")
            whose = self._entrusted._whose(path) if type(path) is str else "library"
            self.has_theirs = self.has_theirs or whose == "candidate"
            self.is_everything = self.is_everything or whose == "tests"
        elif type(kind) is type and kind in _CODES:
            code = getattr(part, _CODES[kind])
            self.codes[id(code)] = code
            self._waiting += _referents(part)
        elif type(kind) is type and kind in _OF_CALLS:
            return
        else:
            self._object(part, kind)

    def _some(self, items: Any) -> Any:
        if len(items) <= self._most:
            return items
        half = self._most // 2
        return [*items[:half], *items[half :: len(items) // half]]

    def _function(self, function: Any) -> None:
        whose = self._entrusted.whose_function(function)
        if whose == "candidate":
            self.has_theirs = True
            return
        code = function.__code__
        self.codes[id(code)] = code
        self._waiting += list(function.__dict__.values())
        if whose == "library":  # one that a decorator has made
            for cell in function.__closure__ or ():
                self._waiting += _referents(cell)

    def _class(self, kind: type) -> None:
        line = _line(kind)
        owners = [self._entrusted.whose_class(each) for each in line]
        self.has_theirs = self.has_theirs or "candidate" in owners
        if "tests" not in owners:
            return
        if type(kind) is not type:
            self._waiting.append(type(kind))
        for each, whose in zip(line, owners):  # noqa: B905 (no strict= before 3.10)
            if whose == "tests":
                self.classes.add(id(each))
                self._waiting += list(_names_of_class(each).values())

    def _object(self, part: Any, kind: type) -> None:
        whose = self._entrusted.whose_class(kind)
        if whose == "candidate":
            self.has_theirs = True
            return
        module = str(_names_of_class(kind).get("__module__")).partition(".")[0]
        if module in ("numpy", "pandas", "torch", "re", "datetime", "decimal", "fractions", "pathlib", "uuid"):
            return
        self._waiting.append(kind)
        self._waiting += self._some(_referents(part))


def _is_no_function(part: Any) -> bool:
    kind = type(part)
    return kind is not FunctionType and kind is not MethodType


def _line(kind: type) -> tuple[type, ...]:
    """A class and its bases; nothing of one in C that nobody has used yet."""
    return _line_of(kind, type) or ()


def _placed(made: Any, at: Any) -> Any:
    """The node, in the place of another one, which may say only where it begins."""
    ast.copy_location(made, at)
    if getattr(made, "end_lineno", None) is None:
        made.end_lineno, made.end_col_offset = made.lineno, made.col_offset
    return ast.fix_missing_locations(made)


def _is_trivial(node: Any) -> bool:
    """It can hold no function."""
    if isinstance(node, (ast.Constant, ast.JoinedStr)):
        return True
    if isinstance(node, ast.UnaryOp):
        return _is_trivial(node.operand)
    if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
        return all(map(_is_trivial, node.elts))
    if isinstance(node, ast.Dict):
        return all(each is None or _is_trivial(each) for each in [*node.keys, *node.values])
    return isinstance(node, ast.BinOp) and _is_trivial(node.left) and _is_trivial(node.right)


def _is_of_harness(node: ast.expr) -> bool:
    """A name of what harena or pytest has put there."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name) and (node.id[:9] == "__harena_" or node.id[:1] == "@")


def _behind(function: Any) -> Any:
    """The function that one of harena's calls in its place, to hear what it gives (see `guest_vacuous_comparisons`)."""
    while type(function) is FunctionType and function.__code__.co_filename.startswith(_GUEST):
        wrapped = vars(function).get("__wrapped__")
        if wrapped is None:
            break
        function = wrapped
    return function


class _Handing(ast.NodeTransformer):
    """Puts a word around what is handed on."""

    def __init__(self, entrusted: Entrusted, tree: ast.AST, known: Collection[str]) -> None:
        self._known = known
        imports = [node for node in ast.walk(tree) if isinstance(node, (ast.Import, ast.ImportFrom))]
        names = {alias.asname or alias.name.partition(".")[0] for node in imports for alias in node.names}
        self._imported = names.difference(known)
        self._entrusted = entrusted
        self._owner = ""
        """the first parameter of the method that is gone through"""
        self._is_in_class = False
        self._around: set[int] = set()
        """`id` of each call of a word that stands in the place of a function"""
        self._defined = {node.name for node in ast.walk(tree) if isinstance(node, (*_FUNCTIONS, ast.ClassDef))}

    def _handed(self, place: int, node: Any) -> Any:
        if isinstance(node, ast.Starred):
            node.value = self._handed(place, node.value)
            return node
        return _placed(call_of(HANDED, [ast.Constant(place), node]), node)

    def _says(self, node: ast.AST) -> bool:
        """A text that is, or may be, the name of a test module."""
        return any(
            isinstance(part, ast.JoinedStr) or (isinstance(part, ast.Constant) and self._entrusted.is_name(part.value))
            for part in ast.walk(node)
        )

    def visit_Call(self, node: ast.Call) -> Any:
        """What it is given. A word of harena's around the function that is called is given nothing to keep."""
        word: Any = node.func
        while isinstance(word, ast.Call) and _is_of_harness(word.func):
            self._around.add(id(word))
            word = word.args[-1] if word.args else None
        self.generic_visit(node)
        given = [*node.args, *(each.value for each in node.keywords)]
        is_harness = _is_of_harness(node.func)
        if is_harness and (getattr(node.func, "id", "") in _LOOKS or id(node) in self._around):
            return node
        root = _root(node.func)
        is_theirs = root in self._imported
        may_be_theirs = not is_harness and (is_theirs or self._may_be_theirs(root, node.func))
        if all(map(_is_trivial, given)) and not may_be_theirs and (is_harness or not any(map(self._says, given))):
            return node
        place = self._entrusted.place(_PURE if is_harness else _OWN, is_theirs=is_theirs)
        if not is_harness:
            node.func = _placed(call_of(RECEIVER, [ast.Constant(place), node.func]), node.func)
        node.args = [self._argument(place, each) for each in node.args]
        for keyword in node.keywords:
            keyword.value = self._argument(place, keyword.value)
        return _placed(call_of(GOT, [ast.Constant(place), node]), node) if may_be_theirs else node

    def _argument(self, place: int, node: Any) -> Any:
        if any(isinstance(part, ast.Constant) and self._entrusted.is_name(part.value) for part in ast.walk(node)):
            said = node.value if isinstance(node, ast.Starred) else node
            said = _placed(call_of(SAYS, [ast.Constant(place), said]), said)
            if isinstance(node, ast.Starred):
                node.value = said
            else:
                node = said
        return node if _is_trivial(node) and not self._says(node) else self._handed(place, node)

    def _may_be_theirs(self, root: str, function: Any) -> bool:
        """What is called may be the candidate's: a variable is, or a part of an object."""
        if root in self._known or root in self._defined:
            return False
        return root not in (self._owner, "self", "cls") or isinstance(getattr(function, "value", None), ast.Attribute)

    def _stored(self, node: Any, targets: list[Any]) -> Any:
        self.generic_visit(node)
        parts = [part for each in targets for part in ast.walk(each)]
        places = [each for each in parts if isinstance(each, (ast.Attribute, ast.Subscript))
                  and isinstance(each.ctx, ast.Store)]  # fmt: skip
        is_open = isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name)
        if node.value is None or not (places or is_open) or (_is_trivial(node.value) and not places):
            return node
        owners = {getattr(each.value, "id", "") for each in places if isinstance(each, ast.Attribute)}
        is_own = (
            bool(self._owner) and owners == {self._owner} and all(isinstance(each, ast.Attribute) for each in places)
        )
        if is_own:
            told = call_of(STORED, [ast.Name(self._owner, ast.Load()), node.value])
        else:
            told = call_of(HANDED, [ast.Constant(0), node.value])
        node.value = _placed(told, node.value)
        return node

    def visit_Assign(self, node: ast.Assign) -> Any:
        """What is set in an attribute or a place."""
        return self._stored(node, node.targets)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> Any:
        """What is set there with an annotation."""
        return self._stored(node, [node.target])

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        """What is added to something."""
        return self._stored(node, [node.target])

    def visit_BinOp(self, node: ast.BinOp) -> Any:
        """Operands that may be functions."""
        self.generic_visit(node)
        place = self._entrusted.place(_PURE)
        for side in ("left", "right"):
            part = getattr(node, side)
            names = {getattr(part, "id", ""), getattr(getattr(part, "func", None), "id", "")}
            if (isinstance(node.op, _SHIFTS) and not _is_trivial(part)) or names & self._defined:
                setattr(node, side, self._handed(place, part))
        return node

    def _given(self, node: Any) -> Any:
        self.generic_visit(node)
        for field in ("value", "elt"):
            part = getattr(node, field, None)
            if part is not None and not _is_trivial(part):
                setattr(node, field, _placed(call_of(GIVES, [part]), part))
        return node

    visit_Return = visit_Yield = visit_YieldFrom = visit_GeneratorExp = _given  # noqa: N815

    def visit_Raise(self, node: ast.Raise) -> Any:
        """What it raises."""
        self.generic_visit(node)
        for field in ("exc", "cause"):
            part = getattr(node, field)
            if part is not None and not _is_trivial(part):
                setattr(node, field, _placed(call_of(RAISES, [part]), part))
        return node

    def visit_Lambda(self, node: ast.Lambda) -> Any:
        """What it gives."""
        self.generic_visit(node)
        if not _is_trivial(node.body):
            node.body = _placed(call_of(GIVES, [node.body]), node.body)
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> Any:
        """A class, in whose methods the first parameter is the object."""
        before, self._is_in_class = self._is_in_class, True
        self.generic_visit(node)
        self._is_in_class = before
        return node

    def _visit_function(self, node: Any) -> Any:
        arguments = [*getattr(node.args, "posonlyargs", []), *node.args.args]
        owner, is_in_class = self._owner, self._is_in_class
        self._owner = arguments[0].arg if is_in_class and arguments else ""
        self._is_in_class = False
        returns, node.returns = node.returns, None
        annotations = [(each, each.annotation) for each in ast.walk(node.args) if isinstance(each, ast.arg)]
        for each, _ in annotations:
            each.annotation = None
        self.generic_visit(node)
        for each, annotation in annotations:
            each.annotation = annotation
        node.returns = returns
        self._owner, self._is_in_class = owner, is_in_class
        return node

    visit_FunctionDef = visit_AsyncFunctionDef = _visit_function  # noqa: N815


def note_free(tree: ast.AST, known: Collection[str]) -> None:
    """Note which functions of a trusted file are the candidate's to call, as their author wrote them: what it
    decorates, and what stands in a class that it decorates or that is made of its own. `known`: names of the file that
    are no candidate's, beside those of its own functions and classes."""
    nodes = list(ast.walk(tree))
    known = {*known, *(node.name for node in nodes if isinstance(node, (*_FUNCTIONS, ast.ClassDef)))}
    classes = {node.name: node for node in nodes if isinstance(node, ast.ClassDef)}
    theirs: set[str] = set()
    while True:
        more = {name for name, node in classes.items() if name not in theirs and _is_theirs(node, known, theirs)}
        if not more:
            break
        theirs |= more
    for node in nodes:
        is_decorated = isinstance(node, _FUNCTIONS) and any(_root(each) not in known for each in node.decorator_list)
        if is_decorated or (isinstance(node, ast.ClassDef) and node.name in theirs):
            for part in ast.walk(node):
                setattr(part, FREE, True)


def _is_theirs(node: ast.ClassDef, known: Collection[str], theirs: Collection[str]) -> bool:
    makers = [*node.bases, *(each.value for each in node.keywords if not isinstance(each.value, ast.Constant))]
    roots = {_root(each) for each in [*makers, *node.decorator_list]}
    return not roots.issubset(known) or not roots.isdisjoint(theirs)


def _root(node: ast.AST) -> str:
    """The name that an expression begins with, also where harena has put a word around it."""
    while isinstance(node, (ast.Attribute, ast.Call, ast.Subscript)):
        if isinstance(node, ast.Call):
            node = node.args[-1] if node.args and _is_of_harness(node.func) else node.func
        else:
            node = node.value
    return node.id if isinstance(node, ast.Name) else ""
