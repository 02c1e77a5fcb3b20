"""Decorators and other programs that look at the functions, streams and texts which a suite gives them."""

from __future__ import annotations

import textwrap
from typing import Any

import pytest
from shared_sandboxes import SHARED
from test_unittest_suites import scored

pytestmark = SHARED

ROUTE = """
def route(path):
    def decorated(f):
        f.path = path
        f.routes = getattr(f, "routes", []) + [path]
        return f
    return decorated
"""
COUNTED = """
def counted(f):
    f.calls = getattr(f, "calls", 0) + 1
    return f.calls
"""
RETRYING = """
def retrying(f):
    def again(*given):
        for _ in range(getattr(f, "retries", 1)):
            try:
                return f(*given)
            except ValueError:
                pass
        raise RuntimeError("gave up")
    return again
"""
PLAIN = """
import functools
def plain(f):
    @functools.wraps(f)
    def same(*given, **named):
        return f(*given, **named)
    return same
"""
TYPED = """
import functools, inspect
def typed(f):
    signature = inspect.signature(f)
    @functools.wraps(f)
    def checked(*given, **named):
        bound = signature.bind(*given, **named)
        bound.apply_defaults()
        for name, value in bound.arguments.items():
            wanted = f.__annotations__.get(name)
            if wanted and not isinstance(value, wanted):
                raise TypeError(name)
        return f(*bound.args, **bound.kwargs)
    return checked
"""
MEMO = """
import inspect
def memo(f):
    cache, signature = {}, inspect.signature(f)
    def remembered(*given, **named):
        bound = signature.bind(*given, **named)
        bound.apply_defaults()
        key = tuple(bound.arguments.items())
        if key not in cache:
            cache[key] = f(*given, **named)
        return cache[key]
    return remembered
"""
CURRY = """
def curry(f):
    wanted = f.__code__.co_argcount
    def more(*given):
        return f(*given) if len(given) >= wanted else lambda *rest: more(*given, *rest)
    return more
"""
KINDS = """
import functools, inspect
def logged(f):
    if inspect.iscoroutinefunction(f):
        async def same(*given):
            return ["coroutine", await f(*given)]
    elif inspect.isgeneratorfunction(f):
        def same(*given):
            yield "generator"
            return (yield from f(*given))
    else:
        def same(*given):
            return ["function", f(*given)]
    return same
"""
HINTS = """
import inspect, typing
def hints(f):
    return typing.get_type_hints(f)
def kinds(f):
    return [parameter.kind.name for parameter in inspect.signature(f).parameters.values()]
"""
PARTIAL = """
def name_of(f):
    return type(f).__name__
def twice(f, x):
    return f(f(x))
"""
ERRORS = """
def retry(f, times, on, nap):
    for left in reversed(range(times)):
        try:
            return f()
        except on as error:
            if not left:
                raise
            nap(getattr(error, "code", 0), str(error), type(error).__name__)
class Suppress:
    def __init__(self, *kinds): self.kinds = kinds
    def __enter__(self): return self
    def __exit__(self, kind, error, trace): return kind is not None and issubclass(kind, self.kinds)
def check(value, kind):
    if not value: raise kind(value)
    return value
"""
DEPRECATED = """
def deprecated(note):
    def decorated(f):
        f.__deprecated__ = note
        f.__doc__ = f"Deprecated: {note}. {f.__doc__ or ''}"
        f.__name__ = "old_" + f.__name__
        return f
    return decorated
"""
PRIMED = """
def coroutine(f):
    def begun(*given):
        steps = f(*given)
        next(steps)
        return steps
    return begun
@coroutine
def average():
    total, count = 0, 0
    said = None
    while True:
        said = yield said
        total, count = total + said, count + 1
        said = total / count
"""
STREAMS = """
import io
def kind(f):
    if isinstance(f, io.TextIOBase):
        return "text"
    return "bytes" if isinstance(f, (io.RawIOBase, io.BufferedIOBase)) else "none"
def last(f):
    return f.detach().read() if hasattr(f, "encoding") else f.read()
"""
WALK = """
def walk(value, visit):
    return [walk(part, visit) for part in value] if isinstance(value, list) else visit(value)
"""
PACKAGE = {
    "files": {
        "solution/__init__.py": """
import importlib.abc, importlib.machinery, sys, types
class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, name, path, target=None):
        return importlib.machinery.ModuleSpec(name, self) if name == "solution.made" else None
    def create_module(self, spec):
        made = types.ModuleType(spec.name)
        made.answer = lambda: 42
        return made
    def exec_module(self, module):
        pass
sys.meta_path.append(Finder())
"""
    },
    "entry": "solution/__init__.py",
}

SERVED: dict[str, tuple[Any, str, tuple[str, str]]] = {
    "an attribute that is set": (
        ROUTE,
        """
        @route("/a")
        @route("/b")
        def page(): return 1
        assert (page.path, page.routes, page()) == ("/a", ["/b", "/a"], 1)
        """,
        ("+ [path]", "+ []"),
    ),
    "an attribute that both change": (
        COUNTED,
        """
        def f(): pass
        assert (counted(f), counted(f), f.calls) == (1, 2, 2)
        f.calls = 10
        assert counted(f) == 11
        f.on = True
        assert counted(f) == 12
        """,
        ("+ 1", "+ 2"),
    ),
    "an attribute that the suite has set": (
        RETRYING,
        """
        calls = []
        def often():
            calls.append(1)
            if len(calls) < 3: raise ValueError
            return "done"
        often.retries = 3
        assert (retrying(often)(), len(calls)) == ("done", 3)
        """,
        ("retries", "tries"),
    ),
    "all that wraps copies": (
        PLAIN,
        """
        def f(a: int, b: "text" = 2, *rest, c, d=None, **named) -> int:
            "Adds."
            return a + b
        f.mark, f.level = {"k": [1]}, 3
        w = plain(f)
        told = (w.__name__, w.__doc__, w.__qualname__, w.__module__, w.__annotations__, w.__wrapped__)
        assert told == ("f", "Adds.", f.__qualname__, __name__, f.__annotations__, f)
        assert (w.mark, w.level, w(1, c=0)) == ({"k": [1]}, 3, 3)
        """,
        ("@functools.wraps(f)", ""),
    ),
    "defaults that are looked at": (
        TYPED,
        """
        @typed
        def greet(name: str, greeting: str = "Hello", *, times: int = -1, mark=None) -> str:
            return f"{greeting} {name} {times} {mark}"
        assert greet("Bob") == "Hello Bob -1 None"
        with pytest.raises(TypeError): greet(3)
        """,
        ("raise TypeError(name)", "pass"),
    ),
    "defaults that are none's to see": (
        TYPED,
        """
        base = [1]
        f = typed(lambda x, items=base, *, key=len: (x, items is base, key(items)))
        assert f(2) == (2, True, 1)
        """,
        ("*bound.args", "*bound.args[:1], []"),
    ),
    "defaults that are part of a key": (
        MEMO,
        """
        calls = []
        @memo
        def power(x, exponent=2):
            calls.append(x)
            return x ** exponent
        assert (power(3), power(3, 2), power(3, exponent=2), calls) == (9, 9, 9, [3])
        """,
        ("bound.apply_defaults()", "pass"),
    ),
    "how many parameters it has": (
        CURRY,
        """
        def add(a, b, c): return a + b + c
        assert curry(add)(1)(2)(3) == curry(lambda a, b, c: a + b + c)(1, 2)(3) == 6
        """,
        (">= wanted", "> wanted"),
    ),
    "which kind of function it is": (
        KINDS,
        """
        async def waits(x): return x
        def makes(x):
            sent = yield x
            return sent
        assert logged(abs)(-1) == ["function", 1]
        assert asyncio.run(logged(waits)(2)) == ["coroutine", 2]
        steps = logged(makes)(3)
        assert (next(steps), next(steps)) == ("generator", 3)
        with pytest.raises(StopIteration) as ended: steps.send(4)
        assert ended.value.value == 4
        """,
        ('yield "generator"', ""),
    ),
    "what its annotations are": (
        HINTS,
        """
        def f(a: list[int], /, b: typing.Optional[str], *, c: "int | None" = None, d: typing.Callable[[int], bool],
              e: typing.Literal["x", 2], g: datetime.date, **h: dict[str, typing.List[int]]) -> None: ...
        assert hints(f) == typing.get_type_hints(f)
        assert kinds(f)[:3] == ["POSITIONAL_ONLY", "POSITIONAL_OR_KEYWORD", "KEYWORD_ONLY"]
        """,
        ("typing.get_type_hints(f)", "f.__annotations__ and {}"),
    ),
    "a partial function": (
        PARTIAL,
        """
        assert name_of(functools.partial(pow, 2)) == "partial"
        assert twice(functools.partial(operator.add, 3), 1) == 7
        assert twice(functools.partial(lambda xs, x, y=0: xs + [x, y], [1], y=2), 3) == [1, [1, 3, 2], 2]
        """,
        ("f(f(x))", "f(x)"),
    ),
    "a docstring and a name that are set": (
        DEPRECATED,
        """
        @deprecated("use g")
        def f(): "Adds."
        @deprecated("use h")
        def g(): pass
        assert (f.__doc__, f.__name__, f.__deprecated__) == ("Deprecated: use g. Adds.", "old_f", "use g")
        assert g.__doc__ == "Deprecated: use h. "
        """,
        ('f"Deprecated: {note}.', 'f"{note}.'),
    ),
    "an attribute that is set back": (
        "def feature(f):\n    f.on = True\n    return lambda x: f(x) if f.on else None\n",
        """
        def f(x): return x + 1
        g, said = feature(f), []
        for f.on in (True, False, True, False):
            said.append(g(1))
        assert said == [2, None, 2, None]
        """,
        ("else None", "else f(x)"),
    ),
    "a generator that has begun": (
        PRIMED,
        """
        got = []
        @coroutine
        def sink(prefix):
            while True: got.append(prefix + (yield))
        steps = sink("a:")
        steps.send("x")
        steps.send("y")
        steps.close()
        mean = average()
        assert (got, mean.send(2), mean.send(4)) == (["a:x", "a:y"], 2, 3)
        """,
        ("total / count", "total"),
    ),
    "exceptions of its own": (
        ERRORS,
        """
        failing, naps = [Low(7), Base(5)], []
        def f():
            if failing: raise failing.pop()
            return "done"
        assert retry(f, 3, (Base,), lambda *told: naps.append(told)) == "done"
        assert naps == [(5, "base 5", "Base"), (7, "<low>", "Low")]
        def g(): raise Low(9)
        with pytest.raises(Base) as seen: retry(g, 2, Base, print)
        assert (type(seen.value), seen.value.code) == (Low, 9)
        def h(): raise KeyError("x")
        with pytest.raises(KeyError): retry(h, 2, Base, print)
        with Suppress(Base): raise Low(1)
        with pytest.raises(ValueError):
            with Suppress(Base): raise ValueError
        with pytest.raises(Low) as seen: check(0, Low)
        assert (seen.value.code, Low.level, check(1, Low)) == (0, 2, 1)
        """,
        ("except on", "except KeyError"),
    ),
    "which kind of stream it is": (
        STREAMS,
        """
        assert [kind(each) for each in (io.StringIO(), io.BytesIO(), [])] == ["text", "bytes", "none"]
        (tmp_path / "a").write_text("abc")
        assert (last(open(tmp_path / "a")), last(io.BytesIO(b"d"))) == (b"abc", b"d")
        """,
        ('"text"', '"words"'),
    ),
    "a text by its identity": (
        WALK,
        """
        skip, seen = "skip_this", []
        walk([1, [skip, "skip"]], lambda part: seen.append(part is skip))
        assert seen == [False, True, False]
        """,
        ("visit(value)", "visit(1)"),
    ),
    "a module that its own import system makes": (
        PACKAGE,
        """
        import solution.made
        made = solution.made
        assert (made.answer(), hasattr(made, "__path__"), made.__package__) == (42, False, "solution")
        with pytest.raises(ImportError): import solution.missing
        """,
        ("42", "41"),
    ),
}
HEAD = "import asyncio, datetime, functools, io, operator, typing\nimport pytest, solution\nfrom solution import *\n"
HEAD += """
class Base(Exception):
    def __init__(self, code):
        super().__init__(f"base {code}")
        self.code = code
class Low(Base):
    level = 2
    def __str__(self): return "<low>"
"""


def suite_of(body: str) -> str:
    """A suite of one test."""
    fixture = "tmp_path" if "tmp_path" in body else ""
    return f"{HEAD}def test({fixture}):\n{textwrap.indent(textwrap.dedent(body), '    ')}"


def replaced(candidate: Any, old: str, new: str) -> Any:
    """The candidate with another text in its place."""
    if isinstance(candidate, str):
        assert old in candidate
        return candidate.replace(old, new)
    return {**candidate, "files": {path: text.replace(old, new) for path, text in candidate["files"].items()}}


@pytest.mark.parametrize("name", SERVED)
async def test_what_is_given_is_what_it_is_in_one_process(name: str) -> None:
    """A right program is paid, and a wrong one is not."""
    candidate, body, edit = SERVED[name]
    right = await scored(candidate, suite_of(body), kind="pytest")
    assert (right.score, right.detail) == (1.0, "")
    wrong = await scored(replaced(candidate, *edit), suite_of(body), kind="pytest")
    assert (wrong.score, str(wrong.validity)) == (0.0, "valid")


CALLBACK = "def solve(tell):\n    {}\n"
CALLED = """
want = [40 + 2]
def tell(got, want=want[0]):
    return got
assert solve(tell) == 42 and solve(lambda got, want=want[0]: got) == 42
"""
FORGED = {
    "a default": CALLBACK.format("return tell.__defaults__[0]"),
    "a default, by the signature": CALLBACK.format(
        "import inspect; return inspect.signature(tell).parameters['want'].default"
    ),
    "a default, as another operand": CALLBACK.format("return tell(tell.__defaults__[0])"),
    "a default, by another name": CALLBACK.format("return tell(got=tell.__defaults__[0], want=1)"),
    "a default, in a list": CALLBACK.format("return tell([tell.__defaults__[0]])[0]"),
    "what stands for a default": CALLBACK.format("d = tell.__defaults__[0]; return getattr(d, '_harena_value', d)"),
    "a default, in an attribute": CALLBACK.format("tell.a = tell.__defaults__[0]; return tell.a"),
}


SOLVE = "def solve(tell): return 0\n"
MADE = "from typing import Optional\nclass Made:\n    __annotations__ = {'tell': TYPE}\n"
EVALUATED = {
    "of a function": SOLVE + "solve.__annotations__ = {'tell': PROGRAM}\n",
    "within a list": SOLVE + "solve.__annotations__ = {'tell': list[PROGRAM], 'return': str}\n",
    "of a class": SOLVE + MADE.replace("TYPE", "PROGRAM"),
    "within an alias": SOLVE + MADE.replace("TYPE", "Optional[PROGRAM]"),
}
PROGRAM = "\"(setattr(__import__('builtins'), 'found', 42), int)[1]\""
ASKED = """
import builtins, inspect
def annotations(f): inspect.get_annotations(f, eval_str=True)
def signature(f): inspect.signature(f, eval_str=True)
for asked in (solve, getattr(solution, "Made", solve)):
    for ask in (typing.get_type_hints, annotations, signature):
        try: ask(asked)
        except (NameError, TypeError, ValueError): pass
assert builtins.found == 42
"""


@pytest.mark.parametrize("isolate", ["sandbox", True])
@pytest.mark.parametrize("name", EVALUATED)
async def test_no_annotation_runs_beside_the_suite(name: str, isolate: Any) -> None:
    """Whoever asks for the types of a candidate's annotations evaluates texts that the candidate wrote."""
    candidate = EVALUATED[name].replace("PROGRAM", PROGRAM)
    result = await scored(candidate, suite_of(ASKED), kind="pytest", isolate=isolate)
    assert result.score in (0.0, None)
    assert "found" in result.detail or result.score is None


@pytest.mark.parametrize("name", FORGED)
async def test_a_callback_tells_no_answers(name: str) -> None:
    """What a callback compares with is not the candidate's to see, to hand back or to change."""
    result = await scored(FORGED[name], suite_of(CALLED), kind="pytest")
    assert (result.score, str(result.validity)) == (0.0, "valid")


async def test_attributes_that_say_what_a_test_is_are_not_the_candidates_to_set() -> None:
    """A function of the suite's keeps its marks, whatever a candidate sets."""
    candidate = (
        "def mark(f):\n    f.pytestmark, f.__test__, f.patchings, f.is_hypothesis_test = [1], False, [2], 3\n"
        "    f.seen = 4\n    return f\n"
    )
    body = """
    def f(): pass
    f.own = io
    marked = mark(f)
    assert marked is f and vars(f) == {"own": io, "seen": 4}
    """
    result = await scored(candidate, suite_of(body), kind="pytest", isolate="sandbox")
    assert (result.score, result.detail) == (1.0, "")


NOT_SERVED = {
    "a loop of its own": (
        "import asyncio\ndef sync(f): return lambda *given: asyncio.run(f(*given))\n",
        """
        @sync
        async def f(x):
            await asyncio.sleep(0.001)
            return x
        assert f(3) == 3
        """,
        ("f(*given)", "f(0)"),
        "coroutine that waits",
    ),
    "what is printed": (
        "import contextlib, io\ndef grab(f):\n    held = io.StringIO()\n"
        "    with contextlib.redirect_stdout(held): f()\n    return held.getvalue()\n",
        "assert grab(lambda: print('a')) == 'a\\n'",
        ("return held", "return '' and held"),
        "prints",
    ),
}


@pytest.mark.parametrize("name", NOT_SERVED)
async def test_what_a_function_cannot_be_in_another_process_is_no_failure(name: str) -> None:
    """A right program has no score, and a reason; a wrong one has 0."""
    candidate, body, edit, why = NOT_SERVED[name]
    right = await scored(candidate, suite_of(body), kind="pytest")
    assert (right.score, str(right.reason), why in right.detail) == (None, "scorer_error", True)
    wrong = await scored(replaced(candidate, *edit), suite_of(body), kind="pytest")
    assert (wrong.score, str(wrong.validity)) == (0.0, "valid")
