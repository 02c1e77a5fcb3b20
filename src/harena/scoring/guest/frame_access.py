"""Whether a program that looks for frames uses of them nothing but what is everybody's.

A frame of the tests holds what they expect. What anybody may have of it is short: whose it is (`f_code` with its names),
where it stands (`f_lineno`), who has called it (`f_back`). So the place where a frame is got is found in the text of the
program, and each place where it goes from there is read: an attribute of that list, or a variable of one function that
is used so. Whatever else happens to it (a call that is given it, a name that is made, a place in a list) is not
understood, and counts as a use of everything.

What such a place is, is never the program's to say: the code that runs is the one that the text is compiled to, its
position there is known, and the functions that are called there are looked up as they are then. Standard library only,
Python 3.8 and up; before 3.11, where code has no positions, no look is understood but what the library does.
"""  # noqa: E501

from __future__ import annotations

import ast
import builtins
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import Any

globals()["__builtins__"] = dict(vars(builtins))
"""what this module's functions find, whatever a program puts in the place of a builtin while it looks for frames"""
FRAME, OWN, CODE, INFOS, INFO, PAIRS, MODULE = "frame", "own", "code", "infos", "info", "pairs", "module"
FRAMES = "frames"
"""what an expression holds: a frame of anybody's, one of the program's own, the code of one, a list of what `inspect`
tells of frames, one item of it, pairs with a frame, the module of a frame"""
_getframe = sys._getframe
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_SCOPES = (*_FUNCTIONS, ast.ClassDef, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_PLAIN = frozenset({"f_lineno", "f_lasti"})
_CONTENTS = frozenset({"f_locals", "f_globals", "f_builtins", "f_trace", "f_trace_lines", "f_trace_opcodes"})
_OF_CODE = frozenset({
    "co_name", "co_qualname", "co_filename", "co_firstlineno", "co_flags", "co_argcount", "co_varnames", "co_names",
    "co_kwonlyargcount", "co_posonlyargcount", "co_nlocals",
})  # fmt: skip
_OF_INFO = frozenset({"function", "lineno", "filename", "code_context", "index", "positions"})
_OF_GLOBALS = frozenset({"__name__", "__file__", "__package__"})
_OF_MODULE = frozenset({"__name__", "__file__", "__package__", "__doc__"})
_INFO_PARTS = 6
_GIVING = {
    "sys._getframe": FRAME, "inspect.currentframe": FRAME, "logging.currentframe": FRAME, "inspect.stack": INFOS,
    "inspect.trace": INFOS, "inspect.getouterframes": INFOS, "inspect.getinnerframes": INFOS,
    "traceback.walk_stack": PAIRS, "traceback.walk_tb": PAIRS,
}  # fmt: skip
"""functions that give frames, and what they give"""
_SHOWING: dict[str, str] = {
    **dict.fromkeys(
        (
            "inspect.getframeinfo", "inspect.getfile", "inspect.getsourcefile", "inspect.getlineno", "inspect.isframe",
            "traceback.print_stack", "traceback.format_stack", "traceback.extract_stack", "builtins.id",
            "builtins.bool", "builtins.len",
        ),
        "",
    ),
    "inspect.getmodule": MODULE, "inspect.getouterframes": INFOS, "traceback.walk_stack": PAIRS,
}  # fmt: skip
"""functions that may be given a frame, and what they give of it"""
_SAME_INFOS = frozenset({"builtins.list", "builtins.tuple", "builtins.reversed"})
_FOLDS = ("builtins.any", "builtins.all", "builtins.sum")
_OF_KEYS = ("builtins.set", "builtins.sorted", "builtins.list", "builtins.len", "builtins.tuple")
_OTHERS = ("sys.settrace", "sys.setprofile", "builtins.isinstance", *_FOLDS, *_OF_KEYS)
_BUILTIN_WAYS = frozenset({"eval", "exec", "compile", "globals", "__import__", "__builtins__", "getattr", "vars"})
_WAYS = frozenset({
    "__getattribute__", "__getattr__", "attrgetter", "methodcaller", "getmembers", "getattr_static",
    "getmembers_static", "classify_class_attrs", "resolve_name", "__dict__", "__get__", "modules", "builtins",
    "import_module", "exec_module", "runpy", "ctypes", "pickle", "marshal", "__globals__", "__builtins__", "__self__",
    "__closure__",
})  # fmt: skip
"""words by which a program gets what it has no word for"""
_PATCHES = frozenset({"setattr", "__setattr__", "patch", "reload"})
_OF_MEMORY = frozenset({"ctypes", "_ctypes", "cffi"})
"""libraries by which an address is an object"""
_OF_ARGUMENTS = frozenset({"inspect.getargvalues"})
_WORDS = frozenset({"_getframe", "currentframe", "stack", "trace", "getouterframes", "getinnerframes", "walk_stack",
                    "walk_tb", "tb_frame", "gi_frame", "cr_frame", "ag_frame", "f_back"})  # fmt: skip
_SAFE_BUILTINS = frozenset({
    "print", "len", "str", "repr", "int", "float", "format", "range", "bool", "tuple", "list", "dict", "set", "sorted",
    "enumerate", "zip", "id", "isinstance", "min", "max", "sum", "abs", "hash", "reversed", "type", "round",
    "ValueError", "TypeError", "RuntimeError", "KeyError", "Exception",
})  # fmt: skip
"""builtins that give nobody the variables of the function that calls them"""
_MAKES = (ast.List, ast.Dict, ast.Set, ast.JoinedStr, ast.Constant, ast.ListComp, ast.DictComp, ast.SetComp)


class Programs:
    """The candidate's programs, as their texts say."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        """`texts`: by path. It is made before the first instruction of any of them."""
        self._texts = dict(texts)
        self._read: dict[str, _Text | None] = {}
        self._holds: bool | None = None
        self._plain: bool | None = None
        self._genuine = list(_genuine((*_GIVING, *_SHOWING, *_OF_ARGUMENTS, *_SAME_INFOS, *_OTHERS)))

    def is_known(self, frame: Any) -> bool:
        """The frame's code is that of one of these texts."""
        return self._node_of_code(frame.f_code) is not None

    def understands(self, frame: Any, kind: str, attribute: str = "", target: Any = None) -> bool:
        """What the program does with what it gets at the place where this frame stands; `kind`: what that is.
        `attribute`: the one that is asked for; empty = a function is called, which has to be one that gives frames.
        `target`: the frame that is got, where it is known."""
        found = self._place(frame)
        if found is None:
            return False
        text, node = found
        if attribute:
            if not (isinstance(node, ast.Attribute) and node.attr == attribute):
                return False
        elif not (isinstance(node, ast.Call) and _GIVING.get(self._function(frame, node.func)) == kind):
            return False
        if target is None and kind == FRAME and isinstance(node, ast.Call):
            target = self._got(frame, node)
        if kind == FRAME and target is not None and self.is_known(target):
            kind = OWN
        return _Use(self, text, frame).of(node, kind)

    def counts_only(self, frame: Any) -> bool:
        """A list of objects is got here, and only its length or the program's own objects in it are used."""
        found = self._place(frame)
        if found is None:
            return False
        text, node = found
        above = text.parents.get(node)
        if isinstance(above, ast.Call):
            return above.args == [node] and not above.keywords and self._function(frame, above.func) == "builtins.len"
        if not isinstance(above, ast.comprehension) or above.iter is not node:
            return False
        if self._asks_identity(frame, text, above):
            return True
        if not above.ifs:
            return False
        test = above.ifs[0]
        test = test.values[0] if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) else test
        if not isinstance(test, ast.Call) or len(test.args) != 2 or test.keywords:
            return False
        kind = test.args[1]
        own = _found(frame, kind.id)[1] if isinstance(kind, ast.Name) else None
        return (
            self._function(frame, test.func) == "builtins.isinstance"
            and type(own) is type
            and isinstance(kind, ast.Name)
            and kind.id in text.classes
            and isinstance(test.args[0], ast.Name)
            and test.args[0].id == getattr(above.target, "id", "")
        )

    def _asks_identity(self, frame: Any, text: _Text, loop: ast.comprehension) -> bool:
        """Each object is asked only which one it is (`any(each is mine for each in gc.get_referrers(x))`)."""
        made = text.parents.get(loop)
        name = getattr(loop.target, "id", None)
        if not isinstance(made, (ast.GeneratorExp, ast.ListComp)) or len(made.generators) != 1 or name is None:
            return False
        user = text.parents.get(made)
        is_folded = isinstance(user, ast.Call) and user.args == [made] and self._function(frame, user.func) in _FOLDS
        if isinstance(made, ast.GeneratorExp) and not is_folded:
            return False
        uses = [part for each in (made.elt, *loop.ifs) for part in ast.walk(each)
                if isinstance(part, ast.Name) and part.id == name]  # fmt: skip
        places = [text.parents.get(each) for each in uses]
        return all(
            isinstance(each, ast.Compare) and all(isinstance(sign, (ast.Is, ast.IsNot)) for sign in each.ops)
            for each in places
        )

    def asks_for_keys(self, frame: Any) -> bool:
        """Nothing but the keys is used of a table of frames that is got here."""
        found = self._place(frame)
        if found is None:
            return False
        text, node = found
        above = text.parents.get(node)
        if isinstance(above, ast.Attribute):
            return above.attr == "keys"
        if isinstance(above, ast.Compare):
            return above.comparators == [node] and isinstance(above.ops[0], (ast.In, ast.NotIn))
        if isinstance(above, ast.Call):
            return above.args == [node] and self._function(frame, above.func) in _OF_KEYS
        return isinstance(above, (ast.For, ast.comprehension)) and above.iter is node

    def traces_by_name(self, frame: Any) -> bool:
        """A trace or profile is set here: none, or a function of the program's that uses frames so, and nothing of what
        else it is told."""
        found = self._place(frame)
        if found is None:
            return False
        _, node = found
        if not isinstance(node, ast.Call) or node.keywords:
            return False
        if not node.args:
            return isinstance(node.func, ast.Attribute) and _is_profiler(_value(frame, node.func.value))
        if self._function(frame, node.func) not in ("sys.settrace", "sys.setprofile") or len(node.args) != 1:
            return False
        set_one = node.args[0]
        if isinstance(set_one, ast.Constant):
            return set_one.value is None
        function, skipped = _set_function(frame, set_one)
        if function is None:
            return isinstance(set_one, ast.Name) and _found(frame, set_one.id) == (True, None)
        return self._takes_frames(function, skipped, 0) and self._traces_on(function)

    def _traces_on(self, function: Any) -> bool:
        """What a trace gives back, to go on with, is nothing or itself."""
        text, definition = self._node_of_code(function.__code__) or (None, None)
        if text is None or not isinstance(definition, ast.FunctionDef):
            return False
        given = [each.value for each in _walk(definition) if isinstance(each, ast.Return)]
        names = {getattr(each, "id", getattr(each, "attr", definition.name)) for each in given}
        is_plain = all(
            each is None
            or isinstance(each, (ast.Name, ast.Attribute))
            or (isinstance(each, ast.Constant) and each.value is None)
            for each in given
        )
        return is_plain and names <= {definition.name} and text.counts[definition.name] == 1

    def handles(self, function: Any, skipped: int) -> bool:
        """A function of the program's that is told a signal and a frame uses that as everybody may. `skipped`: how many
        parameters have a value already."""
        return self._takes_frames(function, skipped, 1)

    def _takes_frames(self, function: Any, skipped: int, at: int) -> bool:
        """`at`: the place of the frame among what the function is told. A third thing it may not use."""
        code = self._node_of_code(function.__code__)
        if code is None or isinstance(code[1], ast.Module):
            return False
        text, definition = code
        arguments = definition.args
        used = {each.id for each in _walk(definition) if isinstance(each, ast.Name)}
        given = [*getattr(arguments, "posonlyargs", []), *arguments.args][skipped:]
        if arguments.vararg is not None and arguments.vararg.arg in used:
            return False
        if any(each.arg in used for each in given[max(at + 1, 2) :]):
            return False
        return len(given) <= at or _Use(self, text, None).of_variable(definition, given[at].arg, FRAME)

    # What is read.

    def holds_frames(self) -> bool:
        """A variable of these programs has a frame in it, or may have one."""
        if self._holds is None:
            self._holds = any(text is None or text.holds_frames() for text in map(self._text, self._texts))
        return self._holds

    def is_plain(self) -> bool:
        """No program has a word for what it does not name."""
        if self._plain is None:
            self._plain = all(text is not None and text.is_plain for text in map(self._text, self._texts))
        return self._plain

    def names(self, words: frozenset[str]) -> bool:
        """A program has one of these names or attributes."""
        return any(text is None or words & text.names for text in map(self._text, self._texts))

    def _text(self, path: str) -> _Text | None:
        if path not in self._read:
            self._read[path] = _read(self._texts[path], path) if path in self._texts else None
        return self._read[path]

    def _node_of_code(self, code: Any) -> tuple[_Text, Any] | None:
        for path in self._texts:
            text = self._text(path)
            if text is not None and (node := text.node_of_code(code)) is not None:
                return text, node
        return None

    def _place(self, frame: Any) -> tuple[_Text, Any] | None:
        """The call or the attribute at which a frame stands."""
        code = frame.f_code
        found = self._node_of_code(code)
        if found is None or not hasattr(code, "co_positions"):
            return None
        positions = list(code.co_positions())
        at = frame.f_lasti // 2
        line, end = (positions[at][1], positions[at][3]) if 0 <= at < len(positions) else (None, None)
        node = found[0].ends.get((line, end))
        return None if node is None else (found[0], node)

    def _function(self, frame: Any, node: ast.expr) -> str:
        """The name of the library's function that is called by this expression; empty = another."""
        value = _value(frame, node)
        return next((name for name, function in self._genuine if function is value), "")

    def _got(self, frame: Any, node: ast.Call) -> Any:
        """The frame that this call gives, where its text says so."""
        name = self._function(frame, node.func)
        if name == "inspect.currentframe":
            return frame
        if name != "sys._getframe" or node.keywords or len(node.args) > 1:
            return None
        depth = node.args[0].value if node.args and isinstance(node.args[0], ast.Constant) else 0
        if (node.args and not isinstance(node.args[0], ast.Constant)) or type(depth) is not int or depth < 0:
            return None
        while frame is not None and depth:
            frame, depth = frame.f_back, depth - 1
        return frame

    def returned_to(self, frame: Any, function: Any) -> tuple[_Text, Any, Any] | None:
        """(text, place, frame) of who has called the function of this frame by its name."""
        caller = frame.f_back
        found = self._place(caller) if caller is not None else None
        if found is None or not isinstance(function, ast.FunctionDef) or function.decorator_list:
            return None
        text, node = found
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
            return None
        called = _value(caller, node.func)
        is_it = type(called) is type(_value) and called.__code__ is frame.f_code
        return (text, node, caller) if is_it else None


class _Text:
    """One program."""

    def __init__(self, tree: ast.Module, code: Any) -> None:
        self.parents: dict[ast.AST, ast.AST] = {}
        self.ends: dict[tuple[Any, Any], Any] = {}
        self.names: set[str] = set()
        self.classes: set[str] = set()
        self.counts: dict[str, int] = {}
        """how often a name is bound"""
        self.bound: set[str] = set()
        definitions: dict[tuple[str, int], Any] = {}
        for node in _walk(tree):
            self.parents.update((child, node) for child in _children(node))
            if isinstance(node, (ast.Call, ast.Attribute)):
                self.ends[(node.end_lineno, node.end_col_offset)] = node
            self.names.update(getattr(node, field, "") for field in ("id", "attr", "name"))
            if isinstance(node, (ast.Name, ast.Attribute)) and not isinstance(node.ctx, ast.Load):
                name = getattr(node, "id", getattr(node, "attr", ""))
                self.bound.update({name} if isinstance(node, ast.Name) else ())
                self.counts[name] = self.counts.get(name, 0) + 1
            elif isinstance(node, ast.arg):
                self.bound.add(node.arg)
            elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                self.bound.add(node.name)
                self.counts[node.name] = self.counts.get(node.name, 0) + 1
                line = min([node.lineno, *(each.lineno for each in node.decorator_list)])
                definitions[(node.name, line)] = node
                if isinstance(node, ast.ClassDef) and not node.keywords:
                    self.classes.add(node.name)
            elif isinstance(node, ast.Lambda):
                definitions[("<lambda>", node.lineno)] = node
        self.is_plain = not any(map(self._gets_unnamed, list(self.parents)))
        self.is_patched = any(
            isinstance(node, ast.Attribute) and (node.attr in _PATCHES or not isinstance(node.ctx, ast.Load))
            for node in self.parents
        ) or bool({node.id for node in self.parents if isinstance(node, ast.Name)} & _PATCHES)
        """it may put something in the place of what a module has"""
        self.modules = {
            alias.asname or alias.name.partition(".")[0]
            for node in _walk(tree)
            if isinstance(node, ast.Import)
            for alias in node.names
        } - self.bound
        self._codes = [(each, definitions.get((each.co_name, each.co_firstlineno), tree)) for each in _codes(code)]

    def _gets_unnamed(self, node: Any) -> bool:
        """A part that gets what it has no word for."""
        if isinstance(node, ast.Name):
            above: Any = self.parents[node]
            is_called = isinstance(above, ast.Call) and above.func is node
            if node.id == "getattr" and is_called and len(above.args) > 1:
                return _is_way(getattr(above.args[1], "value", "__dict__"))
            return node.id in _BUILTIN_WAYS or node.id in _WAYS or (node.id == "locals" and not is_called)
        if isinstance(node, ast.Attribute):
            return node.attr in _WAYS
        if isinstance(node, ast.alias):
            return bool({*node.name.split("."), node.asname} & _WAYS)
        return isinstance(node, ast.ImportFrom) and bool({*(node.module or "").split(".")} & _WAYS)

    def node_of_code(self, code: Any) -> Any:
        """What defines this code here; None where it is none of this text's."""
        for each, node in self._codes:
            if each.co_name == code.co_name and each.co_firstlineno == code.co_firstlineno and _is_same(each, code):
                return node
        return None

    def function_of(self, node: Any) -> Any:
        """The innermost function around it; None where a class or the module is."""
        above = self.parents.get(node)
        while above is not None and not isinstance(above, _SCOPES):
            above = self.parents.get(above)
        return above if isinstance(above, _FUNCTIONS) else None

    def holds_frames(self) -> bool:
        """A variable of it may have a frame in it."""
        for node in self.parents:
            name = getattr(node, "attr", getattr(node, "id", ""))
            if name not in _WORDS or not isinstance(node, (ast.Name, ast.Attribute)):
                continue
            at: Any = node
            above: Any = self.parents.get(at)
            while isinstance(above, (ast.Attribute, ast.Subscript, ast.Call, ast.IfExp, ast.BoolOp, ast.Tuple)):
                is_of_use = getattr(above, "attr", "f_back") not in ("f_back", "frame", *_WORDS)
                if is_of_use or (isinstance(above, ast.Call) and above.func is not at):
                    break
                at, above = above, self.parents.get(above)
            if not isinstance(above, (ast.Attribute, ast.Call, ast.Expr, ast.FormattedValue)):
                return True
        return False


class _Use:
    """What becomes of one frame."""

    def __init__(self, programs: Programs, text: _Text, frame: Any) -> None:
        self._programs, self._text, self._frame = programs, text, frame
        self._seen: set[tuple[Any, ...]] = set()
        self._held: list[tuple[Any, str]] = []
        """(function, variable of it)"""

    def of(self, node: Any, kind: str) -> bool:
        """Everything that becomes of what this expression holds is understood."""
        return self._goes(node, kind) and all(self._is_closed(each) for each, _ in self._held)

    def of_variable(self, function: Any, name: str, kind: str) -> bool:
        """Everything that becomes of what this variable holds is understood."""
        return self._variable(function, name, kind) and all(self._is_closed(each) for each, _ in self._held)

    def _goes(self, node: Any, kind: str) -> bool:
        if (node, kind) in self._seen:
            return True
        self._seen.add((node, kind))
        above: Any = self._text.parents.get(node)
        if isinstance(above, (ast.Expr, ast.While, ast.If, ast.FormattedValue)):
            return True
        if isinstance(above, ast.UnaryOp):
            return isinstance(above.op, ast.Not)
        if isinstance(above, (ast.IfExp, ast.Assert)) and above.test is node:
            return True
        if isinstance(above, ast.Attribute):
            return self._attribute(above, kind)
        if isinstance(above, ast.Subscript) and above.value is node:
            return self._item(above, kind)
        if isinstance(above, ast.Compare):
            return all(isinstance(each, (ast.Is, ast.IsNot)) for each in above.ops)
        if isinstance(above, ast.IfExp):
            return self._goes(above, kind)
        if isinstance(above, ast.BoolOp):
            is_last = above.values[-1] is node
            return (isinstance(above.op, ast.And) and not is_last) or self._goes(above, kind)
        if isinstance(above, ast.NamedExpr):
            return self._target(above.target, kind) and self._goes(above, kind)
        if isinstance(above, (ast.Assign, ast.AnnAssign)):
            targets = above.targets if isinstance(above, ast.Assign) else [above.target]
            return all(self._target(each, kind) for each in targets)
        if isinstance(above, ast.Tuple):
            return self._in_a_tuple(node, above, kind)
        if isinstance(above, (ast.For, ast.comprehension)) and above.iter is node:
            return self._each(above, kind)
        if isinstance(above, ast.Call) and above.func is not node:
            return self._argument(node, above, kind)
        return isinstance(above, ast.Return) and self._returned(node, kind)

    def _attribute(self, node: ast.Attribute, kind: str) -> bool:
        name = node.attr
        if not isinstance(node.ctx, ast.Load):
            return False
        if kind in (FRAME, OWN):
            if name == "f_back":
                return self._goes(node, FRAME)
            if name == "f_code":
                return kind == OWN or self._goes(node, CODE)
            if name in _CONTENTS and kind == OWN:
                return self._may_have_contents()
            return name in _PLAIN or (name == "f_globals" and self._names_only(node))
        if kind == INFO and name == "frame":
            return self._goes(node, FRAME)
        return name in {CODE: _OF_CODE, INFO: _OF_INFO, MODULE: _OF_MODULE}.get(kind, frozenset())

    def _names_only(self, node: ast.Attribute) -> bool:
        """`f_globals["__name__"]`, and no more."""
        above = self._text.parents.get(node)
        if isinstance(above, ast.Subscript):
            return isinstance(above.slice, ast.Constant) and above.slice.value in _OF_GLOBALS
        call = self._text.parents.get(above) if isinstance(above, ast.Attribute) and above.attr == "get" else None
        if not isinstance(call, ast.Call) or call.func is not above or not call.args:
            return False
        return isinstance(call.args[0], ast.Constant) and call.args[0].value in _OF_GLOBALS

    def _may_have_contents(self) -> bool:
        """What the program's own frames hold is no frame of others'."""
        programs = self._programs
        return not programs.holds_frames() or (programs.is_plain() and not programs.names(_WORDS - {"currentframe"}))

    def _item(self, node: ast.Subscript, kind: str) -> bool:
        place = node.slice
        number = _number(place)
        if kind == INFOS:
            return self._goes(node, INFOS if isinstance(place, ast.Slice) else INFO)
        if kind != INFO:
            return False
        if isinstance(place, ast.Slice):
            first = _number(place.lower)
            return place.step is None and first is not None and 0 < first < _INFO_PARTS
        if number is None:
            return False
        return self._goes(node, FRAME) if number in (0, -_INFO_PARTS) else True

    def _target(self, target: Any, kind: str) -> bool:
        if isinstance(target, ast.Name):
            function = self._text.function_of(target)
            return function is not None and self._variable(function, target.id, kind)
        parts = target.elts if isinstance(target, (ast.Tuple, ast.List)) else []
        if kind == INFO and len(parts) == _INFO_PARTS and not any(isinstance(each, ast.Starred) for each in parts):
            return self._target(parts[0], FRAME)
        is_pair = kind == PAIRS and len(parts) == 2
        return is_pair and self._target(parts[0], FRAME)

    def _variable(self, function: Any, name: str, kind: str) -> bool:
        if (function, name, kind) in self._seen:
            return True
        self._seen.add((function, name, kind))
        nodes = [each for each in _walk(function) if isinstance(each, ast.Name) and each.id == name]
        others = (ast.Global, ast.Nonlocal)
        if any(isinstance(each, others) and name in each.names for each in _walk(function)):
            return False
        if any(self._is_within(each, function) for each in nodes):
            return False
        self._held.append((function, name))
        if kind == OWN and sum(not isinstance(each.ctx, ast.Load) for each in nodes) != 1:
            kind = FRAME
        return all(self._goes(each, kind) for each in nodes if isinstance(each.ctx, ast.Load))

    def _is_within(self, node: Any, function: Any) -> bool:
        """Another function lies between, which may keep the variable."""
        above = self._text.parents.get(node)
        while above is not None and above is not function:
            if isinstance(above, (*_FUNCTIONS, ast.ClassDef, ast.GeneratorExp)):
                return True
            above = self._text.parents.get(above)
        return False

    def _in_a_tuple(self, node: Any, above: ast.Tuple, kind: str) -> bool:
        """`frame, depth = frame.f_back, depth + 1`"""
        statement = self._text.parents.get(above)
        if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
            return False
        targets = getattr(statement.targets[0], "elts", [])
        parts = [*targets, *above.elts]
        if len(targets) != len(above.elts) or any(isinstance(each, ast.Starred) for each in parts):
            return False
        return self._target(targets[above.elts.index(node)], kind)

    def _each(self, loop: Any, kind: str) -> bool:
        kind = {INFOS: INFO, PAIRS: PAIRS}.get(kind, "")
        if isinstance(loop, ast.comprehension):
            return bool(kind) and self._in_comprehension(loop, kind)
        return bool(kind) and self._target(loop.target, kind)

    def _in_comprehension(self, loop: ast.comprehension, kind: str) -> bool:
        whole: Any = self._text.parents.get(loop)
        target: Any = loop.target
        if kind == PAIRS:
            if not isinstance(target, ast.Tuple) or len(target.elts) != 2:
                return False
            target, kind = target.elts[0], FRAME
        if not isinstance(target, ast.Name):
            return False
        nodes = [each for each in _walk(whole) if isinstance(each, ast.Name) and each.id == target.id]
        is_plain = not any(isinstance(each, (*_FUNCTIONS, ast.NamedExpr, ast.Await)) for each in _walk(whole))
        self._held.append((whole, target.id))
        return is_plain and all(self._goes(each, kind) for each in nodes if isinstance(each.ctx, ast.Load))

    def _argument(self, node: Any, call: ast.Call, kind: str) -> bool:
        if self._frame is None or not call.args or call.args[0] is not node:
            return False
        function = self._programs._function(self._frame, call.func)
        if not isinstance(node, ast.Call) and not self._programs.is_plain():
            return False  # between the look and the call somebody may have exchanged the function
        if function in _OF_ARGUMENTS:
            return kind == OWN and self._may_have_contents()
        if kind == INFOS:
            return function == "builtins.len" or (function in _SAME_INFOS and self._goes(call, INFOS))
        if kind == MODULE or function not in _SHOWING or function == "builtins.len":
            return False
        if function == "builtins.id" and self._programs.names(_OF_MEMORY):
            return False
        return not _SHOWING[function] or self._goes(call, _SHOWING[function])

    def _returned(self, node: Any, kind: str) -> bool:
        function = self._text.function_of(node)
        if function is None or self._frame is None or kind == PAIRS:
            return False
        found = self._programs.returned_to(self._frame, function)
        if found is None:
            return False
        text, place, frame = found
        return _Use(self._programs, text, frame).of(place, FRAME if kind == OWN else kind)

    def _is_closed(self, function: Any) -> bool:
        """Nobody whom this function calls gets its variables: what it calls is known, or nothing in the programs has a
        word for what it does not name."""
        calls = [each for each in _walk(function) if isinstance(each, ast.Call)]
        names = {each.func.id for each in calls if isinstance(each.func, ast.Name)}
        if names & {"locals", "vars", "eval", "exec", "dir", "globals"}:
            return False
        return self._programs.is_plain() or all(self._is_known_call(each, function) for each in calls)

    def _is_known_call(self, call: ast.Call, function: Any) -> bool:
        func = call.func
        if isinstance(func, ast.Name):
            return func.id in _SAFE_BUILTINS and func.id not in self._text.bound
        if not isinstance(func, ast.Attribute):
            return False
        root: Any = func.value
        while isinstance(root, ast.Attribute):
            root = root.value
        if isinstance(root, ast.Call):
            return func.value is root and self._is_known_call(root, function)
        if not isinstance(root, ast.Name):
            return isinstance(root, (ast.Constant, ast.JoinedStr))
        if root.id in self._text.modules:
            return not self._text.is_patched
        if func.value is not root:
            is_name = isinstance(func.value, ast.Attribute) and func.value.attr in _OF_CODE | _OF_INFO
            return is_name and any(held is function and name == root.id for held, name in self._held)
        stores = [each for each in _walk(function) if _binds(each, root.id)]
        above = [self._text.parents.get(each) for each in stores]
        return bool(above) and all(isinstance(each, ast.Assign) and isinstance(each.value, _MAKES) for each in above)


def _genuine(names: Iterable[str]) -> Iterator[tuple[str, Any]]:
    """What the library has by these names."""
    for name in dict.fromkeys(names):
        module, _, function = name.partition(".")
        if module in sys.modules:
            yield name, vars(sys.modules[module]).get(function)


def _is_way(name: Any) -> bool:
    return type(name) is not str or name in {"locals", *_WAYS, *_BUILTIN_WAYS, *_WORDS, *_CONTENTS}


def _binds(node: Any, name: str) -> bool:
    return (isinstance(node, ast.Name) and node.id == name and not isinstance(node.ctx, ast.Load)) or (
        isinstance(node, ast.arg) and node.arg == name
    )


def _read(source: str, path: str) -> _Text | None:
    try:
        tree: Any = compile(source, path, "exec", ast.PyCF_ONLY_AST, dont_inherit=True)
        return _Text(tree, compile(source, path, "exec", dont_inherit=True))
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # nobody runs it
        return None


def _children(node: ast.AST) -> Iterator[ast.AST]:
    for field in node._fields:
        value = getattr(node, field, None)
        yield from (each for each in (value if type(value) is list else [value]) if isinstance(each, ast.AST))


def _walk(node: ast.AST) -> Iterator[ast.AST]:
    waiting = [node]
    while waiting:
        each = waiting.pop()
        waiting += _children(each)
        yield each


def _codes(code: Any) -> Iterator[Any]:
    waiting = [code]
    while waiting:
        each = waiting.pop()
        yield each
        waiting += [part for part in each.co_consts if isinstance(part, type(code))]


def _is_same(one: Any, other: Any) -> bool:
    positions = getattr(one, "co_positions", None)
    return bool(one == other) and (positions is None or list(positions()) == list(other.co_positions()))


def _number(node: Any) -> int | None:
    """The whole number that stands there."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        number = _number(node.operand)
        return None if number is None else -number
    value = node.value if isinstance(node, ast.Constant) else None
    return value if type(value) is int else None


def _found(frame: Any, name: str) -> tuple[bool, Any]:
    """(whether this name has a value where the frame stands, the value)"""
    for names in (frame.f_locals, frame.f_globals, frame.f_builtins):
        if type(names) is dict and name in names:
            return True, names[name]
    return False, None


def _value(frame: Any, node: Any) -> Any:
    """The value of a name, or of what a module has by one, where the frame stands. Nothing of anybody's runs for it."""
    if isinstance(node, ast.Name):
        return _found(frame, node.id)[1]
    if not isinstance(node, ast.Attribute):
        return None
    module = _value(frame, node.value)
    return vars(module).get(node.attr) if type(module) is type(sys) else None


def _set_function(frame: Any, node: Any) -> tuple[Any, int]:
    """(the function that a trace is set to, how many parameters of it have a value already)"""
    value = _value(frame, node)
    if type(value) is type(_value):
        return value, 0
    if not isinstance(node, ast.Attribute) or not isinstance(node.value, ast.Name):
        return None, 0
    whose = _found(frame, node.value.id)[1]
    line = type.__dict__["__mro__"].__get__(type(whose)) if type(type(whose)) is type else ()
    if not line or any(name in vars(kind) for kind in line[:-1] for name in ("__getattribute__", "__getattr__")):
        return None, 0
    try:
        if node.attr in object.__getattribute__(whose, "__dict__"):
            return None, 0
    except AttributeError:  # it has slots
        pass
    for kind in line:
        if node.attr in vars(kind):
            found = vars(kind)[node.attr]
            return (found, 1) if type(found) is type(_value) else (None, 0)
    return None, 0


def _is_profiler(value: Any) -> bool:
    """It is an object of `cProfile`, which keeps to itself what it sees."""
    kind = getattr(sys.modules.get("_lsprof"), "Profiler", None)
    own = getattr(sys.modules.get("cProfile"), "Profile", None)
    return kind is not None and (type(value) is kind or type(value) is own)
