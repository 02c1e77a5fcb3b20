"""How a `python` scorer failed, and whether its source alone shows that the mistake is its author's.

A scorer may fail because of what a candidate wrote (`int(run.answer)`), so only what no answer can change is a fault
of the author's (`own_fault`): a name that nothing in the source binds, an import that fails, an attribute that a module
or `run` lacks, a key of `run.metadata` or a file that is written out in the source and that the problem does not give,
a file of that kind that is not there, a call that does not fit the function that it names, and a `score` that returns
nothing that could be a score. Modules and files that a scorer makes of the answer, or that a program which it runs may
write, are none of these.

The expression that raised is found by its position in the source, so a text that a candidate wrote cannot name one.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import itertools
import re
import sys
from functools import lru_cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType
    from typing import Any

    from harena.scoring.guest.scorer import NoScoreError, Run

_MOST_TEXT = 300
_FILLS_NAMES = frozenset({
    "__builtins__", "__dict__", "__import__", "builtins", "eval", "exec", "globals", "import_module", "locals", "runpy",
    "setattr", "vars",
})  # fmt: skip
"""what a text can give names by that stand nowhere in the source"""
_RUNS_PROGRAMS = frozenset({"subprocess", "system", "popen", "Popen", "check_output", "check_call", "multiprocessing"})
_MODULE_FILE = re.compile(r"(?:.*/)?(\w+)(?:\.py|/__init__\.py)?")
_OF_THE_RUN = re.compile(r"(?:/tmp/|/var/tmp/|(?!/)(?=.*[./])).*", re.DOTALL)
"""paths at which a program that the scorer runs may have written something; the name of a program is none"""
_OF_NOTHING = re.compile("NoneType|'bool'")
_ADDRESS = re.compile("0x[0-9a-fA-F]+")
_SCORER = "<scorer>"
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def failure_of(error: BaseException, source: str, *, is_idle: bool) -> dict[str, Any]:
    """What is told of a scorer that raised: kind, text, line, `fault` (what its author did wrong; "" = that cannot be
    told), `is_steady` (of a kind that an answer seldom causes, unless it causes it for some answers only) and
    `is_endless` (it would not have come to an end)."""
    sources = sources_of(source)
    frame = _last_frame(error.__traceback__, sources)
    text = _text(error)
    kind = type(error).__name__
    fills_names, is_raised = False, False
    if frame is not None:
        tree = tree_of(sources[frame.tb_frame.f_code.co_filename])
        fills_names = tree is not None and (_fills_names(tree) or _may_be_written(error, tree))
        is_raised = tree is not None and any(
            isinstance(node, ast.Raise) and node.lineno <= frame.tb_lineno <= (node.end_lineno or 0)
            for node in ast.walk(tree)
        )
    # None and False are what many functions give for a text that is not as they want it
    steady = isinstance(error, (TypeError, AttributeError, OSError, ImportError)) and not _OF_NOTHING.search(text)
    return {
        "kind": "" if isinstance(error, NoScoreError) else kind,
        "text": text,
        "line": 0 if frame is None else frame.tb_lineno,
        "fault": own_fault(error, source, is_idle=is_idle),
        "is_steady": steady and not fills_names and not is_raised,
        "is_endless": isinstance(error, (RecursionError, MemoryError)),
    }


def own_fault(error: BaseException, source: str, *, is_idle: bool) -> str:
    """What the author did wrong, where no answer could cause this error; else "". `is_idle`: the answer is none of a
    candidate's; what else a scorer executes could take a name, a module or an attribute away."""
    sources = sources_of(source)
    never = _fault_of_returns(sources)  # then it is broken, whatever it raised
    if never or isinstance(error, NoScoreError):
        return never
    place = _last_frame(error.__traceback__, sources)
    if place is None:
        return ""
    tree = tree_of(sources[place.tb_frame.f_code.co_filename])
    if tree is None or (_fills_names(tree) and not is_idle):
        return ""
    line = f"line {place.tb_lineno}"
    if isinstance(error, ImportError):
        statement = _node(tree, ast.Import, place) or _node(tree, ast.ImportFrom, place)
        is_own = statement is not None and _imported(statement).isdisjoint(_made_modules(tree))
        return f"{line} imports what cannot be imported" if is_own else ""
    if place.tb_next is not None:  # it was raised below: in a library, or in a text that was executed
        return ""
    if type(error) is NameError:
        return _fault_of_name(error, tree, place, line)
    if isinstance(error, AttributeError):
        return _fault_of_attribute(error, tree, place, line)
    if isinstance(error, FileNotFoundError):
        return _fault_of_file(error, tree, place, line)
    if type(error) is KeyError:
        return _fault_of_key(error, tree, place, line)
    return _fault_of_call(tree, place, line) if isinstance(error, TypeError) else ""


def _fault_of_name(error: NameError, tree: ast.Module, place: TracebackType, line: str) -> str:
    node = _node(tree, ast.Name, place)
    if node is None or node.id != error.name or node.id in _bound(tree) or _fills_names(tree):
        return ""
    return f"{line} names {node.id!r}, which nothing defines"


def _fault_of_attribute(error: AttributeError, tree: ast.Module, place: TracebackType, line: str) -> str:
    node, owner = _node(tree, ast.Attribute, place), error.obj
    if node is None or node.attr != error.name:
        return ""
    if isinstance(owner, Run):
        return f"{line} reads `run.{node.attr}`, which no run has"
    name = getattr(owner, "__name__", "")
    is_module = type(owner) is type(sys) and sys.modules.get(name) is owner
    if (is_module or isinstance(owner, type)) and not _fills_names(tree) and _is_fixed(node.value, tree):
        return f"{line} names {node.attr!r} of {name!r}, which lacks it"
    return ""


def _fault_of_key(error: KeyError, tree: ast.Module, place: TracebackType, line: str) -> str:
    """A constant key that no answer can bring: of what the problem gives, or of the files by their names."""
    node = _node(tree, ast.Subscript, place)
    key = node.slice if node is not None else None
    if not isinstance(key, ast.Constant) or error.args != (key.value,) or not _is_fixed(node.value, tree):
        return ""
    asked = _value_of(node.value, place)
    run = _run_in(error.__traceback__)
    if run is None or not isinstance(asked, dict):
        return ""
    fields = object.__getattribute__(run, "__dict__")
    is_given = any(asked is part for part in _given(fields.get("metadata"), error.__traceback__))
    is_never_there = asked is fields.get("files") and key.value not in Run._output_files
    return f"{line} reads {key.value!r}, which the problem does not give" if is_given or is_never_there else ""


def _given(metadata: Any, traceback: TracebackType | None) -> Iterator[Any]:
    """Every mapping that the problem gives; with a grader its item, and what a sample has whatever the answer is."""
    waiting = [metadata]
    while traceback is not None:
        frame, traceback = traceback.tb_frame, traceback.tb_next
        if frame.f_code.co_filename == _SCORER and frame.f_code.co_name == "score" and "namespace" in frame.f_globals:
            waiting.append(frame.f_globals.get("item"))
            sample = frame.f_locals.get("sample")
            if type(sample) is dict and type(sample.get("choices")) is list:
                yield sample
                waiting.append(sample["choices"])
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            yield part
            waiting += part.values()
        elif isinstance(part, list):
            waiting += part


def _run_in(traceback: TracebackType | None) -> Any:
    """What `score` was called with."""
    while traceback is not None:
        for value in list(traceback.tb_frame.f_locals.values()):
            if type(value) is Run:
                return value
        traceback = traceback.tb_next
    return None


def _value_of(node: ast.expr, place: TracebackType) -> Any:
    """What an expression of names, attributes of a run and constant keys stands for; None for any other."""
    if isinstance(node, ast.Name):
        frame = place.tb_frame
        return frame.f_locals.get(node.id, frame.f_globals.get(node.id))
    if not isinstance(node, (ast.Attribute, ast.Subscript)):
        return None
    owner = _value_of(node.value, place)
    if isinstance(node, ast.Attribute):
        return object.__getattribute__(owner, "__dict__").get(node.attr) if type(owner) is Run else None
    key = node.slice.value if isinstance(node.slice, ast.Constant) else None
    if type(owner) not in (dict, list) or type(key) not in (str, int):
        return None
    try:
        return owner[key]
    except LookupError:
        return None


def _fault_of_file(error: FileNotFoundError, tree: ast.Module, place: TracebackType, line: str) -> str:
    node = _node(tree, ast.Call, place)
    path = node.args[0] if node is not None and node.args else None
    if _may_be_written(error, tree):
        return ""
    is_written = isinstance(path, ast.Constant) and path.value == error.filename
    return f"{line} opens {error.filename!r}, which is not there" if is_written else ""


def _fault_of_call(tree: ast.Module, place: TracebackType, line: str) -> str:
    """A call whose arguments do not fit a function of the source, whatever their values are."""
    node = _node(tree, ast.Call, place)
    if node is None or not isinstance(node.func, ast.Name) or _fills_names(tree):
        return ""
    if any(isinstance(part, ast.Starred) for part in node.args) or any(part.arg is None for part in node.keywords):
        return ""
    if any(isinstance(part, ast.Name) and part.id == node.func.id for part in _stored(tree)):
        return ""
    defined = [part for part in tree.body if isinstance(part, ast.FunctionDef) and part.name == node.func.id]
    code, called = place.tb_frame.f_code, place.tb_frame.f_globals.get(node.func.id)
    is_local = node.func.id in (*code.co_varnames, *code.co_cellvars, *code.co_freevars)
    if len(defined) != 1 or defined[0].decorator_list or is_local or not inspect.isfunction(called):
        return ""
    try:
        inspect.signature(called).bind(*node.args, **{str(part.arg): None for part in node.keywords})
    except TypeError:
        return f"{line} calls {node.func.id!r} with arguments that it does not take"
    return ""


def _fault_of_returns(sources: dict[str, str]) -> str:
    """`score` returns nothing, or nothing but values that are no scores."""
    inner = [text for name, text in sources.items() if name != _SCORER]
    name, text = ("grade", inner[0]) if inner else ("score", sources[_SCORER])
    tree = tree_of(text)
    found = [] if tree is None else [
        node for node in ast.walk(tree) if isinstance(node, _FUNCTIONS[:2]) and node.name == name
    ]  # fmt: skip
    is_bound = tree is not None and any(isinstance(node, ast.Name) and node.id == name for node in _stored(tree))
    if len(found) != 1 or tree is None or is_bound or found[0] not in tree.body or found[0].decorator_list:
        return ""
    nodes = list(_own_nodes(found[0]))
    if isinstance(found[0], ast.AsyncFunctionDef) or any(isinstance(n, (ast.Yield, ast.YieldFrom)) for n in nodes):
        return f"`{name}` is no plain function"
    returned = [node.value for node in nodes if isinstance(node, ast.Return) and node.value is not None]
    return "" if any(map(_may_be_score, returned)) else f"`{name}` returns no score for any answer"


def _may_be_score(value: ast.expr) -> bool:
    if isinstance(value, ast.IfExp):
        return _may_be_score(value.body) or _may_be_score(value.orelse)
    if isinstance(value, ast.UnaryOp) and isinstance(value.op, ast.USub) and isinstance(value.operand, ast.Constant):
        return value.operand.value == 0
    if isinstance(value, ast.Dict) and all(isinstance(key, ast.Constant) for key in value.keys):
        pairs = zip(value.keys, value.values)  # noqa: B905 (no strict= before 3.10)
        found = [part for key, part in pairs if getattr(key, "value", None) == "score"]
        return any(map(_may_be_score, found))
    if isinstance(value, ast.Constant):
        try:
            return 0 <= float(value.value) <= 1  # type: ignore[arg-type]
        except (TypeError, ValueError, OverflowError):
            return False
    return not isinstance(value, (ast.List, ast.Tuple, ast.Set, ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp))


def _is_fixed(value: ast.expr, tree: ast.Module) -> bool:
    """Whether an expression stands for one thing, whatever the answer is: names, attributes and constant keys, and no
    name that anything else is given to."""
    waiting: list[ast.expr] = [value]
    names: set[str] = set()
    while waiting:
        value = waiting.pop()
        while isinstance(value, ast.Attribute) or (
            isinstance(value, ast.Subscript) and isinstance(value.slice, ast.Constant)
        ):
            if isinstance(value, ast.Attribute) and value.attr in ("metadata", "files"):
                break  # a run has them, and there is one run
            value = value.value
        if isinstance(value, ast.Attribute) or (isinstance(value, ast.Name) and value.id in names):
            continue
        given = _given_to(value.id, tree) if isinstance(value, ast.Name) else None
        if given is None:
            return False
        names.add(getattr(value, "id", ""))
        waiting += given
    return not any(isinstance(node, ast.Attribute) for node in _stored(tree))


def _given_to(name: str, tree: ast.Module) -> list[ast.expr] | None:
    """What is assigned to a name; None where it gets a value in another way, but by `import`, `class` and `def`, and as
    what `score` or `grade` is called with."""
    given: list[ast.expr] = []
    called = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name in ("score", "grade")]
    outer = {id(part) for function in called for part in function.args.args}
    for node in ast.walk(tree):
        if isinstance(node, ast.arg) and node.arg == name and id(node) not in outer:
            return None
        if not isinstance(node, ast.Assign):
            continue
        for target in node.targets:
            pairs = [(target, node.value)]
            if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                pairs = list(zip(target.elts, node.value.elts))  # noqa: B905 (no strict= before 3.10)
            given += [part for one, part in pairs if isinstance(one, ast.Name) and one.id == name]
    stored = [node for node in _stored(tree) if isinstance(node, ast.Name) and node.id == name]
    return given if len(stored) == len(given) else None


def _stored(tree: ast.Module) -> list[ast.expr]:
    """Names and attributes that are given a value."""
    kinds = (ast.Name, ast.Attribute)
    return [node for node in ast.walk(tree) if isinstance(node, kinds) and not isinstance(node.ctx, ast.Load)]


def _own_nodes(function: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a function, without those of functions in it."""
    waiting = list(ast.iter_child_nodes(function))
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
            waiting += ast.iter_child_nodes(node)


def sources_of(source: str) -> dict[str, str]:
    """Texts of the author's by the file names that their code bears: the scorer, and a grader that it holds."""
    sources = {_SCORER: source}
    tree = tree_of(source)
    for node in () if tree is None else ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "compile":
            text, name = [part.value if isinstance(part, ast.Constant) else None for part in (*node.args, node)[:2]]
            if isinstance(text, str) and isinstance(name, str):
                sources.setdefault(name, text)
    return sources


@lru_cache(8)
def tree_of(source: str) -> ast.Module | None:
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _fills_names(tree: ast.Module) -> bool:
    named = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    named |= {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    return not named.isdisjoint(_FILLS_NAMES) or bool(_made_modules(tree))


def _made_modules(tree: ast.Module) -> set[str]:
    """Modules that the source imports and may make of the answer: it has a text that is the name or the file of one."""
    texts = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    made = {found[1] for found in map(_MODULE_FILE.fullmatch, texts) if found is not None}
    kinds = (ast.Import, ast.ImportFrom)
    return made & {name for node in ast.walk(tree) if isinstance(node, kinds) for name in _imported(node)}


def _imported(node: ast.Import | ast.ImportFrom) -> set[str]:
    """The first parts of the names of the modules that a statement imports, but for Python's own."""
    names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""]
    return {name.partition(".")[0] for name in names} - set(getattr(sys, "stdlib_module_names", ()))


def _may_be_written(error: BaseException, tree: ast.Module) -> bool:
    """The file that is missing, or cannot be used, would be there if a program that the scorer runs had written it."""
    named = {getattr(node, "id", None) or getattr(node, "attr", None) for node in ast.walk(tree)}
    imported = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    runs = _fills_names(tree) or not _RUNS_PROGRAMS.isdisjoint(named | imported)
    path = error.filename if isinstance(error, OSError) else None
    return runs and isinstance(path, str) and _OF_THE_RUN.fullmatch(path) is not None


def _bound(tree: ast.Module) -> set[str]:
    """Every name that the source gives a value somewhere, and Python's own."""
    bound = {"__name__", "__file__", *vars(builtins)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            bound.add(node.id)
        elif isinstance(node, ast.arg):
            bound.add(node.arg)
        elif isinstance(node, ast.alias):
            bound.add((node.asname or node.name).partition(".")[0])
        elif isinstance(node, (ast.Global, ast.Nonlocal)):
            bound |= set(node.names)
        else:  # a function, a class, a handler of exceptions, a pattern of `match`
            names = (getattr(node, "name", None), getattr(node, "rest", None))
            bound |= {name for name in names if isinstance(name, str)}
    if any(isinstance(node, ast.ImportFrom) and node.names[0].name == "*" for node in ast.walk(tree)):
        bound |= {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    return bound


def _last_frame(traceback: TracebackType | None, sources: dict[str, str]) -> TracebackType | None:
    found = None
    while traceback is not None:
        code = traceback.tb_frame.f_code
        if code.co_filename in sources:
            found = traceback
        traceback = traceback.tb_next
    return found


def _node(tree: ast.Module, kind: Any, place: TracebackType) -> Any:
    """The node of this kind that ends where the expression or statement ends that raised."""
    positions = getattr(place.tb_frame.f_code, "co_positions", None)  # Python 3.10 has none
    if positions is None:
        return None
    position = next(itertools.islice(positions(), place.tb_lasti // 2, None), (None,) * 4)
    if position[1] is None or position[3] is None:
        return None
    for node in ast.walk(tree):
        if isinstance(node, kind) and (node.end_lineno, node.end_col_offset) == (position[1], position[3]):
            return node
    return None


def _text(error: BaseException) -> str:
    try:
        return _ADDRESS.sub("0x", str(error)[:_MOST_TEXT])
    except BaseException:  # noqa: BLE001 - an exception's own code may raise anything
        return ""
