"""Has a suite beside its candidate remember each assertion that fails. Standard library only, Python 3.8 and up.

The candidate may swallow the exception: by an `__exit__`, a decorator, an `except` around a function that the tests gave
it, or a thread. So a failure is remembered where it is raised: by the trusted files' own `assert` and `raise`, by
unittest's methods, by pytest's `fail`, and by assertions of libraries that the tests call. So is an exception by which
the body of a candidate's `with` is left before it has judged. The tests' own code may take a failure back: by its
`except`, by `assertRaises`, `raises` and `suppress` that its text calls, and by an `__exit__` of its own, where no frame of the
candidate's lies between the failure and that place. Code that gives `AssertionError` to the candidate tests how
it is swallowed, and forgives it.
"""  # noqa: E501

from __future__ import annotations

import ast
import builtins
import contextlib
import functools
import os
import sys
import unittest.case

from harena.scoring.guest.callback_errors import chain_of, crosses_a_judgement, is_of_a_call, judges_inside
from harena.scoring.guest.caught_assertions import Caught
from harena.scoring.guest.executed_assertions import JUDGING, call_of, located, written
from harena.scoring.guest.started_tests import BEGAN, StartedTests
from harena.scoring.guest.swallowing_exits import skips_a_judgement, sources
from harena.scoring.guest.vacuous_comparisons import THIS_FILE as HOLLOW_FILE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping
    from typing import Any

_FAILS, _RAISED, _CAUGHT = "__harena_fails__", "__harena_raised__", "__harena_caught__"
_LEFT, _EXITED, _FORGIVEN = "__harena_left__", "__harena_exited__", "__harena_forgiven__"
_JUDGED, _EXPECTED = "__harena_judged__", "__harena_expected__"
_CROSSED, _GUARDED, _WENT_ON = "__harena_crossed__", "__harena_guarded__", "__harena_went_on__"
_EXPECTING = frozenset({"assertRaises", "assertRaisesRegex", "assertRaisesRegexp", "raises", "RaisesExc", "RaisesGroup",
                        "suppress"})  # fmt: skip
_ASKING = frozenset({"isinstance", "issubclass", "assertIsInstance", "assertIs", "assertEqual", "type", "Mock",
                     "MagicMock", "AsyncMock", "patch", "object"})  # fmt: skip
_FAILURES = frozenset({"AssertionError", "failureException"})
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_GIVES = "harena_gives_failures"
"""attribute of a function in a tree: what `note_given` has found"""
_MOST_GROUPED = 100
_THIS_FILE = (lambda: None).__code__.co_filename


class Remembering(ast.NodeTransformer):
    """Has a trusted file tell of the assertions that fail in it, and of those that it catches itself."""

    def __init__(self, tree: ast.AST, installed: Collection[str]) -> None:
        """`installed`: names of modules that are no candidate's."""
        nodes = list(ast.walk(tree))
        self._own = {node.name for node in nodes if isinstance(node, _FUNCTIONS)}
        self._libraries = {"open", *_imported_of(nodes, installed)}

    def _visit_function(self, node: Any) -> Any:
        gives = getattr(node, _GIVES)
        self.generic_visit(node)
        if node.name in ("__exit__", "__aexit__"):
            for part in ast.walk(node):
                if isinstance(part, ast.Return) and part.value is not None:
                    part.value = located(call_of(_EXITED, [part.value]), part.value)
        if gives:
            has_text = isinstance(node.body[0], ast.Expr) and isinstance(node.body[0].value, ast.Constant)
            node.body.insert(int(has_text), located(ast.Expr(call_of(_FORGIVEN, [])), node.body[0]))
        first = int(isinstance(node.body[0], ast.Expr) and isinstance(node.body[0].value, ast.Constant))
        if node.body[first:]:
            node.body[first:] = [_telling(node.body[first:], _CROSSED, node.body[first])]
        return node

    visit_FunctionDef = visit_AsyncFunctionDef = _visit_function  # noqa: N815

    def visit_Lambda(self, node: ast.Lambda) -> Any:
        """One that asserts."""
        asserts = judges_inside(node)
        self.generic_visit(node)
        return located(call_of(_GUARDED, [node]), node) if asserts else node

    def visit_Assert(self, node: ast.Assert) -> Any:
        """`assert`, which pytest may have rewritten before."""
        self.generic_visit(node)
        raised = ast.Raise(call_of(_FAILS, [node.msg] if node.msg is not None else []), None)
        return located(ast.If(ast.UnaryOp(ast.Not(), node.test), [raised], []), node)

    def visit_Raise(self, node: ast.Raise) -> Any:
        """`raise` of something."""
        self.generic_visit(node)
        if node.exc is not None:
            node.exc = located(call_of(_RAISED, [node.exc]), node.exc)
        return node

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> Any:
        """`except` of the tests' own."""
        self.generic_visit(node)
        node.body.insert(0, located(ast.Expr(call_of(_CAUGHT, [])), node.body[0]))
        return node

    def _visit_with(self, node: Any) -> Any:
        is_own = all(self._is_of_library(item.context_expr) for item in node.items)
        self.generic_visit(node)
        if is_own:
            return node
        node.body = [_telling(node.body, _LEFT, node)]
        return [node, located(ast.Expr(call_of(_WENT_ON, [])), node)]

    visit_With = visit_AsyncWith = _visit_with  # noqa: N815

    def visit_Call(self, node: ast.Call) -> Any:
        """A call by a name of an assertion's."""
        self.generic_visit(node)
        func = written(node.func)
        name = _name(func)
        is_method = isinstance(func, ast.Attribute) and _name(func.value) == "self"
        if name in _EXPECTING:
            node.func = located(call_of(_EXPECTED, [node.func]), node.func)
        elif not is_method and name not in self._own and JUDGING.match(name.lower().lstrip("_")):
            node.func = located(call_of(_JUDGED, [node.func]), node.func)
        return node

    def _is_of_library(self, node: ast.expr) -> bool:
        """A manager that no candidate makes, as far as the text tells."""
        if not isinstance(node, ast.Call):
            return False
        if isinstance(node.func, ast.Attribute) and _name(node.func.value) == "self":
            return node.func.attr.startswith(("assert", "subTest"))
        return root_name(node.func) in self._libraries


class Swallowed:
    """What has failed, and was not taken back. It is made before the candidate's first instruction, and what the tests'
    code calls of it are constants of that code."""

    installed: frozenset[str]
    """names of the modules that are there before anything of the candidate is"""

    def __init__(self, here: str, trusted: Collection[str], texts: Mapping[str, str], caught: Caught) -> None:
        """`here`: the folder of the suite and the candidate; `trusted`: paths; `texts`: what those hold that are
        modules; `caught` says which failures may be swallowed. It is made before anybody looks at what libraries
        consist of."""
        sources.update(texts)
        self._here = os.path.join(here, "")
        self._trusted = frozenset(trusted)
        self._caught = caught
        self._begun = StartedTests({os.path.splitext(os.path.basename(path))[0] for path in self._trusted})
        self._libraries = tuple({sys.prefix, sys.base_prefix, *(path for path in sys.path if os.path.isabs(path))})
        self._failed: list[tuple[BaseException, Any, str]] = []
        """(exception, the innermost part of its traceback that its catcher need not answer for, its place)"""
        self._crossed: list[tuple[BaseException, Any, list[Any], str]] = []
        """(exception of the candidate's, its traceback from where it left a function, the frames that were alive, its
        place)"""
        self._leaving: list[BaseException] = []
        """errors by which the body of a `with` was left, and none has gone on behind it since"""
        self._expecting: list[Any] = []
        self._is_forgiven = False
        self._known: list[Any] = []
        """functions and classes of libraries by which tests expect an error"""
        self._failure = AssertionError
        self._watch_unittest(texts)
        self._watch_exit(contextlib.suppress)
        self._known.append(contextlib.suppress)
        if any("pytest" in text for text in texts.values()):
            self._watch_pytest()

    def starts(self) -> None:
        """The runner is to run the body of a test."""
        self._begun.starts()

    def ended(self, test: str = "", *, has_passed: bool = False) -> BaseException | None:
        """A test has ended, by its name (`T.test_a`): an assertion that has failed in it, and that nobody has told
        of; or, where it `has_passed`, that it has not begun."""
        was_left_out = self._begun.was_left_out(test) and has_passed
        found: list[tuple[Any, ...]] = [] if self._is_forgiven else [*self._failed, *self._crossed]
        failed: list[BaseException] = [error for error, *_, place in found if not self._caught.may_be(place)]
        self._failed.clear()
        self._crossed.clear()
        self._expecting.clear()
        self._leaving.clear()
        self._is_forgiven = False
        if was_left_out and not self._caught.may_be(f"test {test}"):
            failed.append(self._failure("the candidate has kept the body of the test from being run"))
        return failed[0] if failed else None

    def known_names(self, tree: ast.AST) -> set[str]:
        """Names that a trusted file has of builtins, libraries and other trusted files."""
        nodes = list(ast.walk(tree))
        return {*vars(builtins), *_imported_of(nodes, self.installed | self._stems())}

    def _stems(self) -> set[str]:
        return {os.path.splitext(os.path.basename(path))[0] for path in self._trusted}

    def watch(self, tree: ast.Module) -> None:
        """Has the code of a trusted file tell what becomes of its assertions."""
        trusted = self._stems()
        nodes = list(ast.walk(tree))
        libraries = dict(_origins(nodes, self.installed))
        self._begun.watch(tree, set(_imported_of(nodes, self.installed | trusted)), libraries)
        Remembering(tree, self.installed).visit(tree)

    def functions(self) -> dict[str, Callable[..., Any]]:
        """By the names in the tests' code."""
        self.installed = frozenset(name for name in sys.modules if "." not in name)
        failure = self._failure

        def fails(*message: Any) -> BaseException:
            error = failure(*message)
            self._remember(error)
            return error

        def raised(error: Any) -> Any:
            made = error() if isinstance(error, type) and issubclass(error, failure) else error
            if isinstance(made, failure):
                self._remember(made)
            return made

        def caught() -> None:
            self._take_back(sys.exc_info()[1])

        def exited(swallows: Any) -> Any:
            if swallows:
                self._take_back(sys.exc_info()[1])
            return swallows

        def left() -> None:
            error = sys.exc_info()[1]
            if error is None or not skips_a_judgement(error.__traceback__):
                return
            if not isinstance(error, GeneratorExit) or is_of_a_call(error, error.__traceback__, self.is_own):
                self._remember(error, error.__traceback__)
                self._leaving.append(error)

        def went_on() -> None:
            self._leaving.clear()

        def crossed() -> None:
            self._cross(sys.exc_info()[1], sys._getframe(1))

        def guarded(function: Any) -> Any:
            @functools.wraps(function)
            def called(*positional: Any, **keywords: Any) -> Any:
                try:
                    return function(*positional, **keywords)
                except BaseException as error:
                    self._cross(error, sys._getframe())
                    raise

            return called

        def judged(function: Any) -> Any:
            is_plain = isinstance(function, (type, type(len)))
            return function if is_plain else self._judging(function)

        def forgiven() -> None:
            self._is_forgiven = True

        return {_FAILS: fails, _RAISED: raised, _CAUGHT: caught, _EXITED: exited, _LEFT: left, _JUDGED: judged,
                _EXPECTED: self._expected, _FORGIVEN: forgiven, _CROSSED: crossed, _GUARDED: guarded,
                _WENT_ON: went_on, BEGAN: self._begun.mark}  # fmt: skip

    def _remember(self, error: BaseException, trace: Any = None) -> None:
        if all(known is not error for known, *_ in self._failed):
            self._failed.append((error, trace, self._caught.place()))

    def _cross(self, error: Any, frame: Any) -> None:
        """An error leaves a function of the tests."""
        trace = error.__traceback__
        if any(known is error for known, *_ in self._crossed) or not crosses_a_judgement(trace):
            return
        if is_of_a_call(error, trace, self.is_own):
            alive = []
            while frame is not None:
                alive.append(frame)
                frame = frame.f_back
            self._crossed.append((error, trace, alive, self._caught.place(error)))

    def _is_straight(self, error: BaseException, end: Any, alive: list[Any]) -> bool:
        """From where it left a function it has come to where it is caught by the calls that were under way: nobody has
        kept it, to raise it in another call."""
        trace = error.__traceback__
        while trace is not None and trace is not end:
            frame = trace.tb_frame
            if not self.is_own(frame.f_code.co_filename) and all(frame is not each for each in alive):
                return False
            trace = trace.tb_next
        return True

    def _take_back(self, error: Any) -> None:
        """The tests have caught this one, where nothing but their own code lies between, or an `__exit__` that raised
        again what it was told of."""
        heard = list(chain_of(error))
        self._crossed[:] = [
            (known, end, alive, place)
            for known, end, alive, place in self._crossed
            if all(known is not each for each in heard) or not self._is_straight(error, end, alive)
        ]
        self._failed[:] = [each for each in self._failed if each[0] is not error or not self._is_heard(*each[:2])]
        for part in getattr(error, "exceptions", ())[:_MOST_GROUPED] if _is_group(error) else ():
            self._take_back(part)

    def _is_heard(self, error: BaseException, end: Any) -> bool:
        is_raised_again = end is not None and any(each is error for each in self._leaving)
        return is_raised_again or self._is_own_way(error, end)

    def _is_own_way(self, error: BaseException, end: Any) -> bool:
        trace = error.__traceback__
        while trace is not None and trace is not end:
            if not self.is_own(trace.tb_frame.f_code.co_filename):
                return False
            trace = trace.tb_next
        return trace is end

    def is_own(self, path: str) -> bool:
        """A file of the tests, or of a library."""
        if path in self._trusted or path in (_THIS_FILE, HOLLOW_FILE) or path[:8] == "<frozen ":
            return True
        return path.startswith(self._libraries) and not path.startswith(self._here)

    def _judging(self, function: Any) -> Any:
        """The function, whose own failures are remembered."""
        failure = self._failure

        @functools.wraps(function)
        def called(*positional: Any, **keywords: Any) -> Any:
            try:
                return function(*positional, **keywords)
            except failure as error:
                if self._is_own_way(error, None):
                    self._remember(error)
                raise

        return called

    def _expected(self, function: Any) -> Any:
        """What expects an error, called by the tests' text."""
        if not any(function is each or getattr(function, "__func__", None) is each for each in self._known):
            return function

        def called(*positional: Any, **keywords: Any) -> Any:
            last: list[BaseException] = []
            if len(positional) > 1 and callable(positional[1]):
                positional = (positional[0], _noting(positional[1], last), *positional[2:])
            found = function(*positional, **keywords)
            for error in last:
                self._take_back(error)
            if hasattr(found, "__exit__"):
                self._expecting.append(found)
            return found

        return called

    def _watch_unittest(self, texts: Mapping[str, str]) -> None:
        case = unittest.case.TestCase
        for name, function in list(vars(case).items()):
            if name.startswith(("assert", "fail")) and isinstance(function, type(_name)):
                setattr(case, name, self._judging(function))
        self._known += [found for name, found in vars(case).items() if name in _EXPECTING]
        if not any("addTypeEqualityFunc" in text for text in texts.values()):
            self._watch_equality(case)
        for name in ("_AssertRaisesContext", "_AssertWarnsContext", "_AssertLogsContext"):
            kind = getattr(unittest.case, name, None)
            if kind is None:  # one of a module of its own
                kind = getattr(sys.modules.get("unittest._log"), name, None)
            if kind is not None:
                self._watch_exit(kind)

    def _watch_equality(self, case: Any) -> None:
        """`assertEqual` asks no function by which somebody has said that two objects are equal, where no text of the
        tests gives one."""
        find = case._getAssertEqualityFunc

        @functools.wraps(find)
        def found(self_: Any, first: Any, second: Any) -> Any:
            added = [each for each in self_._type_equality_funcs.values() if not isinstance(each, str)]
            if any(self._is_foreign(each) for each in added):
                self._remember(self._failure("the candidate says which objects are equal (addTypeEqualityFunc)"))
            return find(self_, first, second)

        case._getAssertEqualityFunc = found

    def _is_foreign(self, function: Any) -> bool:
        """No function of the tests' or of a library's."""
        code = getattr(getattr(function, "__func__", function), "__code__", None)
        return code is None or not self.is_own(code.co_filename)

    def _watch_pytest(self) -> None:
        try:
            import pytest
        except ImportError:
            return
        failed: Any = pytest.fail.Exception
        made = failed.__init__

        def remembered(error: Any, *given: Any, **keywords: Any) -> None:
            made(error, *given, **keywords)
            if type(error) is failed:
                self._remember(error)

        failed.__init__ = remembered
        self._known.append(pytest.raises)
        for kind in {type(pytest.raises(KeyError)), getattr(pytest, "RaisesGroup", None)} - {None}:
            self._known.append(kind)
            self._watch_exit(kind)

    def _watch_exit(self, kind: Any) -> None:
        """Managers of this kind take back what they swallow, if the tests' text has made them."""
        leave = self._judging(kind.__exit__)

        @functools.wraps(kind.__exit__)
        def left(context: Any, *error: Any) -> Any:
            swallows = leave(context, *error)
            if swallows and any(each is context for each in self._expecting):
                self._take_back(error[1] if len(error) > 1 else None)
            return swallows

        kind.__exit__ = left


def _telling(body: list[ast.stmt], name: str, at: ast.AST) -> Any:
    """Statements, which tell what error leaves them."""
    told = ast.ExceptHandler(None, None, [ast.Expr(call_of(name, [])), ast.Raise(None, None)])
    return located(ast.Try(body, [told], [], []), at)


def _noting(function: Any, last: list[BaseException]) -> Any:
    """The function, whose last exception is kept."""

    @functools.wraps(function)
    def called(*positional: Any, **keywords: Any) -> Any:
        try:
            return function(*positional, **keywords)
        except BaseException as error:
            last[:] = [error]
            raise

    return called


def _is_group(error: Any) -> bool:
    return isinstance(error, getattr(builtins, "BaseExceptionGroup", ()))


def _name(node: ast.AST) -> str:
    return str(getattr(node, "id", None) or getattr(node, "attr", ""))


def root_name(node: ast.AST) -> str:
    """What a dotted name begins with; "" where it is no name."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _imported_of(nodes: list[ast.AST], installed: Collection[str]) -> Iterator[str]:
    """Names of what is imported from these modules."""
    for node in nodes:
        modules: list[tuple[str, str]] = []
        if isinstance(node, ast.Import):
            modules = [(alias.asname or alias.name.partition(".")[0], alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            modules = [(alias.asname or alias.name, node.module) for alias in node.names]
        yield from (name for name, module in modules if module.partition(".")[0] in installed)


def _origins(nodes: list[ast.AST], installed: Collection[str]) -> Iterator[tuple[str, str]]:
    """Names that stand for what a library has, and the module that it is of."""
    yield from ((name, "builtins") for name in vars(builtins))
    for node in nodes:
        if isinstance(node, ast.Import):
            pairs = [(alias.asname or alias.name.partition(".")[0], alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            pairs = [(alias.asname or alias.name, node.module) for alias in node.names]
        else:
            continue
        yield from ((name, module) for name, module in pairs if module.partition(".")[0] in installed)


def note_given(tree: ast.AST) -> None:
    """Note which functions of a trusted file give the class of failed assertions away, as their author wrote them:
    before other calls stand in the place of `isinstance` and comparisons."""
    for node in ast.walk(tree):
        if isinstance(node, _FUNCTIONS):
            setattr(node, _GIVES, _gives_failures(node))


def _gives_failures(function: Any) -> bool:
    """It gives the class of failed assertions away, other than to what asks for it."""
    for node in ast.walk(function):
        if isinstance(node, ast.Call) and _name(node.func) not in _EXPECTING | _ASKING:
            given = [part for each in node.args for part in (each.elts if isinstance(each, ast.Tuple) else [each])]
            given += [each.value for each in node.keywords if each.arg != "side_effect"]
            if any(_name(each) in _FAILURES for each in given if isinstance(each, (ast.Name, ast.Attribute))):
                return True
    return False
