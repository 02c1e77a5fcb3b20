"""What is told of a function that lives in another process, and the function here that speaks for it. Standard library
only, Python 3.8 and up.

A decorator looks at what it is given: at the parameters and their defaults, at annotations, at attributes, at whether
it is a coroutine function. So a function that the candidate is given has the suite's parameters, also in its code, and
shares its attributes with the suite's. What it does not have is a body: a call is a question to the suite.

The default of a parameter may be what a callback expects (`lambda got, want=want: check(got == want)`). A candidate is
told those that a `def` of the suite writes as a literal, and None, True and False. For another default it has a
`WithheldDefault`, which is the default again where it is handed to the same parameter, and nothing anywhere else.
"""

from __future__ import annotations

import ast
import builtins
import functools
import inspect
import io
import keyword
import operator
import sys
import types

from harena.scoring.guest.driver import UncarriedError
from harena.scoring.guest.object_graph import GraphError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator
    from typing import Any

    from harena.scoring.guest.object_graph import Border

_PLAIN_DEFAULTS = (type(None), bool, int, float, str, bytes)
_LONGEST_DEFAULT = 1000
_MOST_LEVELS = 6
"""how deep an annotation may be; deeper ones are not told"""
_MOST_ARGUMENTS = 32
_KNOWN_MODULES = frozenset({
    "abc", "collections", "collections.abc", "datetime", "decimal", "enum", "fractions", "functools", "io", "numbers",
    "os", "pathlib", "re", "types", "typing", "uuid",
})  # fmt: skip
"""modules whose classes an annotation may name"""
_GENERIC = frozenset({
    "AsyncGenerator", "AsyncIterable", "AsyncIterator", "Awaitable", "Callable", "ChainMap", "Collection", "Container",
    "Coroutine", "Counter", "DefaultDict", "Deque", "Dict", "FrozenSet", "Generator", "Iterable", "Iterator",
    "KeysView", "List", "Literal", "Mapping", "MutableMapping", "MutableSequence", "MutableSet", "Optional",
    "OrderedDict", "Sequence", "Set", "Tuple", "Type", "Union", "ValuesView",
})  # fmt: skip
"""names of `typing` that take parameters"""
STREAMS = ("IOBase", "RawIOBase", "BufferedIOBase", "TextIOBase")
"""classes of `io` that an object of the suite's may be of to a candidate"""


def text_of_function(value: Any) -> Any:
    """Its docstring."""
    doc = getattr(value, "__doc__", None)
    return doc if type(doc) is str else None


# Telling.


def signature_of(value: Any, told_defaults: Collection[str] | None = None) -> Any:
    """((name, kind, default, annotation) of each parameter, annotation of what is returned); None where that is not
    known. A default is () = none, (value,) of a plain one, (value, "...") of another; `describe` reads it.
    `told_defaults`: the parameters whose plain defaults are told; None = all."""
    code = getattr(value, "__code__", None)
    if code is None or (isinstance(value, types.MethodType) and told_defaults is None):
        return None
    return _told_signature(value, told_defaults)


def signature_in(cls: Any, name: str) -> Any:
    """The signature of a class (or a bound method), or of what it has by this name, as an object of it has
    it; `__init__` is told with its `self`."""
    if not name:
        return _told_signature(cls)
    found = inspect.getattr_static(cls, name, None)
    is_method = isinstance(found, types.FunctionType)
    told = _told_signature(getattr(cls, name))
    return (told[0][1:], told[1]) if told is not None and is_method and name != "__init__" else told


def _told_signature(value: Any, told_defaults: Collection[str] | None = None) -> Any:
    def default(parameter: inspect.Parameter) -> Any:
        found = parameter.default
        if found is inspect.Parameter.empty:
            return ()
        may_be_told = told_defaults is None or parameter.name in told_defaults or type(found) in (bool, type(None))
        is_told = may_be_told and _is_plain_default(found)
        return (found,) if is_told else (None, "...")

    try:
        found = inspect.signature(value)
    except (TypeError, ValueError):
        return None
    parameters = tuple((p.name, int(p.kind), default(p), _annotation(p.annotation)) for p in found.parameters.values())
    return (parameters, _annotation(found.return_annotation))


def _is_plain_default(value: Any, levels: int = _MOST_LEVELS) -> bool:
    if type(value) is tuple:
        return (
            levels > 0 and len(value) <= _MOST_ARGUMENTS and all(_is_plain_default(each, levels - 1) for each in value)
        )
    return type(value) in _PLAIN_DEFAULTS and len(repr(value)) <= _LONGEST_DEFAULT


def lacks_part(told: Any) -> bool:
    """A default or an annotation of this signature is not told: who looks sees another one."""
    return told is not None and (any(len(each[2]) > 1 for each in told[0]) or lacks_annotations(told))


def lacks_annotations(told: Any) -> bool:
    """An annotation of this signature is not told, or is a text with a name that only its module knows."""
    if told is None:
        return False
    return any(map(_lacks, (*(each[3] for each in told[0]), told[1])))


def _lacks(told: Any) -> bool:
    if type(told) is not tuple or not told:
        return False
    if told[0] == "s":
        return not all(hasattr(builtins, name) for name in _names_in(told[1]))
    return told[0] == "?" or any(map(_lacks, told))


def _names_in(text: str) -> Iterator[str]:
    try:
        tree = ast.parse(text, mode="eval")
    except (SyntaxError, ValueError, MemoryError, RecursionError):  # nobody can evaluate it
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            yield node.id


def literal_defaults(function: Any, tree: ast.AST | None) -> frozenset[str]:
    """The parameters of a function whose defaults its `def` writes as literals; `tree`: of the file that it is in."""
    function = getattr(function, "__func__", function)
    if tree is None or not (function.__defaults__ or function.__kwdefaults__):
        return frozenset()
    if tree not in _literals:
        _literals[tree] = {
            (node.name, line): frozenset(_with_literals(node.args))
            for node in ast.walk(tree)
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
            for line in (node.lineno, *(decorator.lineno for decorator in node.decorator_list))
        }
    code = function.__code__
    return _literals[tree].get((code.co_name, code.co_firstlineno), frozenset())


_literals: dict[ast.AST, dict[tuple[str, int], frozenset[str]]] = {}


def _with_literals(args: ast.arguments) -> Iterator[str]:
    positional = [*args.posonlyargs, *args.args]
    pairs = [*zip(positional[::-1], args.defaults[::-1]), *zip(args.kwonlyargs, args.kw_defaults)]  # noqa: B905 (3.8)
    for parameter, default in pairs:
        plain = default.operand if isinstance(default, ast.UnaryOp) else default
        if isinstance(plain, ast.Constant):
            yield parameter.arg


def _annotation(value: Any, levels: int = _MOST_LEVELS) -> Any:
    """() = none; ("b", name) of a class of Python's own; ("s", text); ("n",) of None; ("N",) of its class; ("q",
    module, name) of another class of the standard library; ("g", origin, parameters) of `list[int]`; ("t", name,
    parameters) of a generic of `typing`; ("u", parameters) of `int | str`; ("v", value) and ("a", parameters) within
    parameters; ("?",) of any other."""
    if value is inspect.Parameter.empty:
        return ()
    if value is None:
        return ("n",)
    if value is type(None):
        return ("N",)
    if type(value) is str:
        return ("s", value[:_LONGEST_DEFAULT])
    name = getattr(value, "__name__", None) or getattr(value, "_name", None)
    if isinstance(value, type) and type(name) is str and getattr(builtins, name, None) is value:
        return ("b", name)
    if levels:
        told = _generic_annotation(value, levels - 1)
        if told is not None:
            return told
    module = getattr(value, "__module__", None)
    if type(module) is str and module in _KNOWN_MODULES and type(name) is str:
        found = getattr(sys.modules.get(module), name, None)
        return ("q", module, name) if found is value else ("?",)
    return ("?",)


def _generic_annotation(value: Any, levels: int) -> Any:
    cls = type(value)
    arguments = getattr(value, "__args__", None)
    if type(arguments) is not tuple or len(arguments) > _MOST_ARGUMENTS:
        return None
    if cls.__module__ == "types" and cls.__name__ in ("GenericAlias", "UnionType"):
        told = tuple(_argument(part, levels) for part in arguments)
        return ("u", told) if cls.__name__ == "UnionType" else ("g", _annotation(value.__origin__, levels), told)
    typing = sys.modules.get("typing")
    if typing is None or cls.__module__ != "typing":
        return None
    name = "Union" if value.__origin__ is typing.Union else getattr(value, "_name", None)
    name = name or getattr(value.__origin__, "_name", None)
    if name not in _GENERIC:
        return None
    return ("t", name, tuple(_argument(part, levels) for part in typing.get_args(value)))


def alias_of(value: Any) -> Any:
    """What is told of `list[int]`, `Optional[str]`, the class of None and the like, which are values, and of
    `dataclasses.MISSING`; None of any other value."""
    if value is type(None):
        return ("N",)
    if value is getattr(sys.modules.get("dataclasses"), "MISSING", _NOTHING):
        return ("S",)
    if type(value).__module__ not in ("typing", "types") or isinstance(value, types.FunctionType):
        return None
    told = _generic_annotation(value, _MOST_LEVELS)
    try:
        return told if told is not None and _annotated(told) == value else None
    except (GraphError, KeyError, TypeError, IndexError):  # the other side could not read it, either
        return None


def alias(told: Any) -> Any:
    """What `alias_of` tells of. Raises for anything else."""
    if told == ("S",):
        import dataclasses

        return dataclasses.MISSING
    found = _annotated(told) if told[0] in ("g", "t", "u", "N") else None
    if told[0] != "N" and type(found).__module__ not in ("typing", "types"):
        raise GraphError("no alias of a type")
    return found


_NOTHING = object()
_PLAIN_NODES = (
    ast.Expression, ast.Name, ast.Attribute, ast.Load, ast.Subscript, ast.Tuple, ast.List, ast.Constant, ast.Starred,
    ast.BinOp, ast.BitOr, ast.UnaryOp, ast.USub, getattr(ast, "Index", ast.Load),
)  # fmt: skip
_QUOTING = frozenset({"Annotated", "Literal"})


def is_plain_annotation(text: Any, levels: int = _MOST_LEVELS) -> bool:
    """An annotation that is a text may be evaluated: it names types, and calls and computes nothing."""
    if type(text) is not str or len(text) > _LONGEST_DEFAULT or levels < 0:
        return False
    try:
        tree = ast.parse(text, mode="eval")
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return False
    quoted: set[ast.AST] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Subscript) and getattr(node.value, "attr", getattr(node.value, "id", "")) in _QUOTING:
            quoted.update(each for each in ast.walk(node.slice) if isinstance(each, ast.Constant))
        name = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
        if not isinstance(node, _PLAIN_NODES) or name[:1] == "_":
            return False
        within = node.value if isinstance(node, ast.Constant) and node not in quoted else None
        if type(within) is str and not is_plain_annotation(within, levels - 1):
            return False
    return True


def guard_annotations() -> None:
    """Have this process evaluate no annotation that is more than names of types: whoever asks for the types of a
    candidate's function or class has its texts evaluated, which the candidate writes."""
    import typing

    def evaluating(really: Any) -> Any:
        def evaluate(self: Any, *positional: Any, **keywords: Any) -> Any:
            if not is_plain_annotation(self.__forward_arg__):
                raise NameError(_NO_TYPE)
            return really(self, *positional, **keywords)

        return evaluate

    for name in ("_evaluate", "evaluate"):  # the second since Python 3.14
        if hasattr(typing.ForwardRef, name):
            setattr(typing.ForwardRef, name, evaluating(getattr(typing.ForwardRef, name)))
    annotations_of: Any = getattr(inspect, "get_annotations", None)  # since Python 3.10

    def get_annotations(value: Any, **keywords: Any) -> Any:
        if keywords.get("eval_str"):
            told = annotations_of(value, **{**keywords, "eval_str": False})
            if any(isinstance(each, str) and not is_plain_annotation(each) for each in told.values()):
                raise NameError(_NO_TYPE)
        return annotations_of(value, **keywords)

    if annotations_of is not None:
        inspect.get_annotations = get_annotations  # type: ignore[assignment]


_NO_TYPE = "an annotation that is more than names of types is not evaluated"


def _argument(value: Any, levels: int) -> Any:
    if value is ...:
        return ("v", ...)
    if type(value) is list:  # of a Callable
        return ("a", tuple(_argument(part, levels) for part in value))
    if type(value) in (bool, int, bytes, str):  # of a Literal
        return ("v", value)
    return _annotation(value, levels)


# Reading what was told.


def _annotated(told: Any, levels: int = _MOST_LEVELS) -> Any:
    """What `_annotation` tells of."""
    if not told or told[0] == "?" or levels < 0:
        return inspect.Parameter.empty
    kind = told[0]
    if kind == "b":
        return _a_class(vars(builtins)[told[1]])
    if kind == "q":
        return _of_a_known_module(*told[1:])
    if kind in ("g", "t", "u"):
        return _generic_annotated(kind, told, levels - 1)
    if kind == "v" or (kind == "s" and levels < _MOST_LEVELS):
        return told[1] if type(told[1]) is not str or is_plain_annotation(told[1]) else inspect.Parameter.empty
    if kind == "a":
        return [_annotated(part, levels - 1) for part in told[1]]
    return None if kind == "n" else type(None) if kind == "N" else told[1]


def _of_a_known_module(module: Any, name: Any) -> Any:
    """A class, or a form of `typing`; nothing else that a module has may be looked at in this way."""
    if module not in _KNOWN_MODULES or type(name) is not str or name[:1] == "_":
        raise GraphError("no class that an annotation may name")
    found = getattr(sys.modules.get(module), name, None)
    is_known = isinstance(found, type) or type(found).__module__ == "typing"
    return found if is_known else inspect.Parameter.empty


def _a_class(found: Any) -> Any:
    if not isinstance(found, type):
        raise GraphError("no class of Python's own")
    return found


def _generic_annotated(kind: str, told: Any, levels: int) -> Any:
    is_literal = kind == "t" and told[1] == "Literal"
    arguments = tuple(part[1] if is_literal and part[0] == "v" else _annotated(part, levels) for part in told[-1])
    if inspect.Parameter.empty in arguments or len(arguments) > _MOST_ARGUMENTS:
        return inspect.Parameter.empty
    if kind == "u":
        return functools.reduce(operator.or_, arguments)
    if kind == "g":
        origin: Any = _annotated(told[1], levels)
        is_class = isinstance(origin, type)
        return origin[arguments] if is_class else inspect.Parameter.empty
    if told[1] not in _GENERIC:
        raise GraphError("no generic class")
    import typing

    generic: Any = getattr(typing, told[1])
    return generic[arguments[0] if len(arguments) == 1 else arguments]


def describe(
    function: Any,
    doc: Any,
    signature: Any,
    withheld: Callable[[str], Any] = lambda _: ...,
    met: Callable[[Any], Any] | None = None,
) -> None:
    """Give a function that speaks for another one that one's docstring, signature, defaults and annotations, as far as
    they are told; `withheld` gives the default of a parameter whose own is not, and `met` the class that a reference in
    the place of an annotation refers to. Raises for what `signature_of` does not tell."""

    def annotated(told: Any) -> Any:
        is_reference = met is not None and bool(told) and told[0] in ("k", "c")
        return met(told) if is_reference and met is not None else _annotated(told)

    function.__doc__ = doc if type(doc) is str else None
    if signature is None:
        return
    empty = inspect.Parameter.empty
    told, returned = signature
    parameters, annotations = [], {}
    for name, kind, default, annotation in told:
        value = empty if not default else default[0] if len(default) == 1 else withheld(name)
        meant = annotated(annotation)
        if meant is not empty:
            annotations[name] = meant
        parameters.append(inspect.Parameter(name, inspect._ParameterKind(kind), default=value, annotation=meant))
    meant = annotated(returned)
    if meant is not empty:
        annotations["return"] = meant
    function.__signature__ = inspect.Signature(parameters, return_annotation=meant)
    function.__annotations__ = annotations
    positional = [p.default for p in parameters if p.kind <= 1 and p.default is not empty]
    named = {
        p.name: p.default for p in parameters if p.kind == inspect.Parameter.KEYWORD_ONLY and p.default is not empty
    }
    function.__defaults__, function.__kwdefaults__ = tuple(positional) or None, named or None


# A function that speaks for one of the suite's.


class WithheldDefault:
    """What stands, where the candidate is, for the default of a parameter of the suite's."""

    __slots__ = ("_harena_name", "_harena_number", "_harena_value")

    def __init__(self, number: int, name: str, value: Any = ...) -> None:
        """Number of the function, its parameter, and the default, which only the suite knows."""
        self._harena_number = number
        self._harena_name = name
        self._harena_value = value

    def __repr__(self) -> str:
        return f"<the default of {self._harena_name}>"

    def __copy__(self) -> WithheldDefault:
        return self

    def __deepcopy__(self, memo: Any) -> WithheldDefault:
        return self


def with_defaults(function: Any, number: int, positional: Any, keywords: Any) -> tuple[list[Any], dict[str, Any]]:
    """The operands of a call, where each default that was withheld is that default again if it is handed to its own
    parameter, or is one of any number, as a function that wraps another one hands them on; and else nothing (`...`)."""
    positional, keywords = list(positional), dict(keywords)
    if not any(type(each) is WithheldDefault for each in (*positional, *keywords.values())):
        return positional, keywords
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        parameters = []
    names = [parameter.name for parameter in parameters if parameter.kind <= 1]
    named = {parameter.name for parameter in parameters if parameter.kind in (1, 3)}

    def known(each: Any, name: str) -> Any:
        if type(each) is not WithheldDefault:
            return each
        is_its_own = (each._harena_number, each._harena_name) == (number, name)
        return each._harena_value if is_its_own or not name else ...

    names += [""] * (len(positional) - len(names))
    return (
        [known(each, name) for each, name in zip(positional, names)],  # noqa: B905 (no strict= before 3.10)
        {name: known(each, name if name in named else "") for name, each in keywords.items()},
    )


def withheld_default(function: Any, number: int, name: str) -> WithheldDefault:
    """What the candidate hands back for the default of a parameter. Raises for a function without such a one."""
    default = inspect.signature(function).parameters[name].default
    return WithheldDefault(number, name, ... if default is inspect.Parameter.empty else default)


def kind_of_function(function: Any) -> str:
    """Whether it is a coroutine function, a generator function, or neither."""
    if inspect.iscoroutinefunction(function):
        return "coroutine"
    return "generator" if inspect.isgeneratorfunction(function) else ""


_WAYS = {"": ("", ""), "coroutine": ("async ", "await "), "generator": ("", "yield from ")}
"""how the definition of a function of each kind begins, and its return"""
_makers: dict[tuple[Any, ...], Any] = {}
_MOST_MAKERS = 1000


def speaker(
    name: str,
    doc: Any,
    signature: Any,
    place: Any,
    ask: Callable[..., Any],
    number: int,
    met: Callable[[Any], Any] | None = None,
) -> Any:
    """A function that asks another one: of its name, docstring and parameters, and of its `place`: (qualified name,
    module, kind of function). `ask` gets the positional operands and the keywords of each call; `met` finds the classes
    that its annotations refer to."""
    qualified, module, kind = place
    shape = None if signature is None else tuple((each[0], each[1]) for each in signature[0])
    if shape is not None and not all(_is_plain_name(each) for each, _ in shape):
        shape = None
    key = (shape, kind)
    if key not in _makers:
        if len(_makers) > _MOST_MAKERS:
            _makers.clear()
        _makers[key] = _maker(shape, *_WAYS[kind])
    # without a variable of a function around, so that a candidate may set the code that such a function has
    made = types.FunctionType(_makers[key].replace(co_name=name), {"__name__": __name__, "_harena_ask": ask})
    made.__name__, made.__qualname__, made.__module__ = name, qualified, module
    describe(made, doc, signature, lambda parameter: WithheldDefault(number, parameter), met)
    return made


def _is_plain_name(name: str) -> bool:
    return name.isidentifier() and not keyword.iskeyword(name) and not name.startswith("_harena")


def _maker(shape: Any, opening: str, waiting: str) -> Any:
    """The code of a function of these parameters ((name, kind) each; None = any) that hands its operands on."""
    by_kind: dict[int, list[str]] = {kind: [] for kind in range(5)}
    for name, kind in shape if shape is not None else (("positional", 2), ("keywords", 4)):
        by_kind[int(kind)].append(name)
    only, free, rest, named, more = (by_kind[kind] for kind in range(5))
    written = [*only, *(["/"] if only else []), *free]
    written += ["*" + each for each in rest] or (["*"] if named else [])
    written += [*named, *("**" + each for each in more)]
    positional = "".join(f"{each}, " for each in (*only, *free, *("*" + each for each in rest)))
    keywords = ", ".join([*(f"{each!r}: {each}" for each in named), *("**" + each for each in more)])
    source = (
        f"{opening}def speaking({', '.join(written)}):\n"
        f" return ({waiting}_harena_ask(({positional}), {{{keywords}}}))\n"
    )
    names: dict[str, Any] = {"__name__": __name__}
    exec(compile(source, "<a function of the suite's>", "exec", dont_inherit=True), names)  # noqa: S102 (written above, of names)
    return names["speaking"].__code__


class Steps:
    """A coroutine or generator of the suite's, for one here that hands its steps on. Its end is told to the suite only
    while that listens: the collector of garbage may end one at any time."""

    def __init__(self, inner: Any, listens: Callable[[], bool]) -> None:
        self._inner = inner
        self._listens = listens

    def __await__(self) -> Steps:
        self._inner = self._inner.__await__()
        return self

    def __iter__(self) -> Steps:
        return self

    def __next__(self) -> Any:
        return next(self._inner)

    def send(self, value: Any) -> Any:
        """Send a value into the inner generator."""
        return next(self._inner) if value is None else self._inner.send(value)

    def throw(self, *error: Any) -> Any:
        """Raise an error inside the inner generator."""
        return self._inner.throw(*error)

    def close(self) -> None:
        """Close the inner generator, if it would notice."""
        if self._listens():
            self._inner.close()


# Functions written in C, which both sides have.

_PURE_BUILTINS = (
    "abs", "all", "any", "ascii", "bin", "chr", "divmod", "hex", "len", "max", "min", "oct", "ord", "pow", "print",
    "repr", "round", "sorted", "sum",
)  # fmt: skip
_PURE_OPERATORS = (
    "abs", "add", "and_", "concat", "contains", "countOf", "eq", "floordiv", "ge", "getitem", "gt", "index", "indexOf",
    "inv", "invert", "is_", "is_not", "le", "lshift", "lt", "matmul", "mod", "mul", "ne", "neg", "not_", "or_", "pos",
    "pow", "rshift", "sub", "truediv", "truth", "xor",
)  # fmt: skip


def pure_functions() -> dict[tuple[str, str], Any]:
    """(module, name) -> a function of Python's own in C that changes nothing but what it is given, so that a candidate
    may hand it to a suite as itself: `OPERATORS["+"] is operator.add`."""
    import math

    found = {("builtins", name): getattr(builtins, name) for name in _PURE_BUILTINS}
    found.update((("operator", name), getattr(operator, name)) for name in _PURE_OPERATORS)
    for name, function in vars(math).items():
        if isinstance(function, types.BuiltinFunctionType):
            found["math", name] = function
    for kind in (str, bytes, int, float, tuple, frozenset):
        for name, method in vars(kind).items():
            if name[:1] != "_" and isinstance(method, types.MethodDescriptorType):
                found["builtins", f"{kind.__name__}.{name}"] = method
    return found


# Attributes.


class Attributes(dict):  # type: ignore[type-arg]
    """The `__dict__` of a function of the suite's, and of the one that speaks for it: both have its attributes."""

    __slots__ = ("function", "heard", "is_suites", "made", "names", "number", "own", "theirs", "untold")

    def __init__(self, number: int, held: Any = (), *, is_suites: bool = False) -> None:
        """Number of the function; whether this is the suite's side."""
        super().__init__(held)
        self.is_suites = is_suites
        self.own: set[str] = set()
        """names that the suite has set first, which may be what it counts by: those are not the candidate's to set"""
        self.number = number
        self.untold: set[str] = set()
        """names whose values do not cross"""
        self.heard: dict[str, Any] = {}
        """values that the other side has told, and was not told other ones since"""
        self.theirs: set[str] = set()
        """names that the other side has told"""
        self.function: Any = None
        self.names: dict[str, Any] = {}
        """`_ASIDE` as both sides have it"""
        self.made: dict[str, Any] = {}
        """what else the function that speaks for it was made of"""

    def belong_to(self, function: Any) -> None:
        """The function whose attributes these are, as both sides have it."""
        self.function = function
        for name in _ASIDE:
            if name in self.names:  # told before the function was
                setattr(function, name, self.names[name])
            self.names[name] = getattr(function, name)
        if not self.is_suites:
            self.made = _made_of(function)

    def has_changed(self) -> bool:
        """There is something to tell."""
        return bool(self) or bool(self.changed_names()) or bool(self.unserved())

    def unserved(self) -> list[str]:
        """What the candidate has set of the function that speaks for this one, and the function itself is not told."""
        if self.is_suites or self.function is None:
            return []
        now = _made_of(self.function)
        found = [name for name, value in self.made.items() if not _is_same(now[name], value)]
        found += [name for name in ("__wrapped__", "__signature__") if name in self]
        return found if self.function.__dict__ is self else [*found, "__dict__"]

    def see_own(self) -> None:
        """Keep what the suite has set before the candidate has."""
        if self.is_suites:
            self.own.update(name for name in self if name not in self.theirs)

    def changed_names(self) -> dict[str, Any]:
        """What this side has changed of `_ASIDE`."""
        now = {} if self.function is None else {name: getattr(self.function, name) for name in _ASIDE}
        return {name: value for name, value in now.items() if type(value) is str and value != self.names.get(name)}


_ASIDE = ("__doc__", "__name__")
"""what a function has beside its attributes that a decorator may change"""
_UNCHANGED = ("=",)
_UNSERVED = "!"
"""no name of an attribute: before what the candidate has set, and the suite's function is not told"""
_MADE_OF = ("__code__", "__defaults__", "__kwdefaults__", "__annotations__", "__module__", "__qualname__")
_NOTHING = object()


def _made_of(function: Any) -> dict[str, Any]:
    """What a function is made of; mappings as they are now."""
    found = {name: getattr(function, name, None) for name in _MADE_OF}
    return {name: dict(value) if type(value) is dict else value for name, value in found.items()}


def _is_same(now: Any, made: Any) -> bool:
    """No value is asked what it equals."""
    if type(now) is dict and type(made) is dict:
        return now.keys() == made.keys() and all(now[name] is value for name, value in made.items())
    return now is made


def told_attributes(border: Border, attributes: Attributes, *, is_compared: bool = False) -> list[Any]:
    """[number, name, item, name, item ...] of those that cross."""
    state: list[Any] = [attributes.number]
    attributes.see_own()
    for name, value in {**attributes.names, **attributes.changed_names()}.items():
        state += [name, value]
    untold = set()
    for name, value in list(attributes.items()):
        if not _crosses(name):
            continue
        is_as_heard = attributes.heard.get(name, _NOTHING) is value
        if not (is_as_heard or is_compared):
            attributes.heard.pop(name, None)  # from now on the other side has this one
        try:
            state += [name, _UNCHANGED if is_as_heard else border.item(value)]
        except (TypeError, UncarriedError):  # what is withheld
            untold.add(name)
    if not is_compared:
        attributes.untold = untold
    unserved = attributes.unserved()
    return [*state, _UNSERVED, " ".join(unserved)] if unserved else state


def unserved_in(state: Any) -> str:
    """What the candidate says that it has set of a function, and that is not told; empty where it is nothing."""
    is_told = len(state) > 2 and state[-2] == _UNSERVED and type(state[-1]) is str
    return state[-1][:200] if is_told else ""


def fill_attributes(border: Border, attributes: Attributes, state: Any) -> None:
    """Make of the attributes that cross what the other side has."""
    attributes.see_own()
    pairs = {state[index]: state[index + 1] for index in range(1, len(state), 2) if state[index] not in attributes.own}
    for name in _ASIDE:
        if type(pairs.get(name)) is str:
            attributes.names[name] = pairs[name]
            if attributes.function is not None:
                setattr(attributes.function, name, pairs[name])
    items = {name: item for name, item in pairs.items() if _crosses(name)}
    told = {name: border.value(item) for name, item in items.items() if item != _UNCHANGED}
    attributes.heard.update(told)
    attributes.theirs.update(told)
    kept = attributes.untold | attributes.own
    for name in [each for each in attributes if _crosses(each) and each not in kept and each not in items]:
        del attributes[name]
    attributes.update(told)


def _crosses(name: Any) -> bool:
    """Not an attribute by which Python or a test runner tells functions apart."""
    return (
        type(name) is str
        and name.isidentifier()
        and name not in _OF_PYTHON
        and not any(word in name for word in ("pytest", "hypothesis", "unittest", "harena"))
    )


_OF_PYTHON = frozenset({
    "__isabstractmethod__", "__signature__", "__test__", "__tracebackhide__", "__wrapped__", "patchings", "place_as",
})  # fmt: skip


def streams_of(value: Any) -> list[str]:
    """The classes of `io` that it is of."""
    return [name for name in STREAMS if isinstance(value, getattr(io, name))]


def count_as_streams(cls: Any, streams: Any) -> None:
    """Make objects of a class be of classes of `io` to `isinstance`."""
    for name in streams:
        getattr(io, name).register(cls)
