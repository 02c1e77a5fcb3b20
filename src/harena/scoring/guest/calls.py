"""Runs a trusted piece of test code that calls a candidate's functions in another process, and gives the proof at its
end.

For test code that needs nothing of the candidate but calls with plain values. The candidate never shares a process with
it: its answers come over pipes, by the driver and the codec of the `tests` contract, and are built anew here. So an
object that equals everything cannot come across, and neither the proof's word nor the tests can be read from the
candidate's frames. (This process is started so that no other one of the sandbox can open its memory.)

Standard input: the proof's word on a line, then one JSON object: source, calls (name in the source -> the candidate's
function), path (of the candidate's entry), driver (`guest_driver` as its source and as compiled by the interpreter with
a magic number), modules (see `guest_executed_assertions`).
"""

from __future__ import annotations

import ast
import binascii
import builtins
import json
import marshal
import os
import re
import subprocess
import sys

from harena.scoring.guest.early_imports import import_for
from harena.scoring.guest.executed_assertions import JUDGED_NOTHING, DeepTrees, Executed, Failures
from harena.scoring.guest.suite_protocol import NOTHING

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

STATEMENT = "_harena_statement"
TOKEN = b"0" * 16  # one process asks, one answers, in turn: there is nothing to tell apart

CANDIDATE = """\
import marshal, os
size, got = int(os.read(0, 8), 16), b""
while len(got) < size:
    got += os.read(0, size - len(got)) or os._exit(0)
driver = {"__name__": "harena_guest_driver"}
exec(marshal.loads(got), driver)
driver["main"]()
"""
"""program of a candidate's process: it takes the driver in one frame, and serves"""

ITERATING = ("next", "__next__", "Iterator")
"""words of tests that need an iterator as one"""
MAPPINGS = {"Counter": ("Counter", "most_common", "elements", "subtract"), "defaultdict": ("defaultdict",)}
"""class -> words of tests that need it as it is"""


class UnansweredError(BaseException):
    """A call has no answer that could cross, or the candidate has ended. No tests can expect this: it is no Exception,
    and where they catch it all the same, `unanswered` keeps it."""

    def __init__(self, what: str) -> None:
        super().__init__(what)
        unanswered.append(self)


unanswered: list[UnansweredError] = []


class Callee:
    """One function of the candidate, in a process of its own that starts with the first call."""

    def __init__(self, path: str, driver: bytes, codec: dict[str, Any], function: str) -> None:
        self.path = path
        self.driver = driver
        self.codec = codec
        self.function = function
        self.child: subprocess.Popen[bytes] | None = None

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        """The answer; the arguments stay as they are."""
        return self.call(arguments, keywords, is_statement=False)

    def call(self, arguments: Any, keywords: Any, *, is_statement: bool) -> Any:
        """The answer. Where that is used, the arguments stay as they are: a candidate that empties its list would make
        `f(xs) == sorted(xs)` true."""
        question = (arguments, keywords, "arguments", "wide")
        if self.child is None:
            self.start(question)
        else:
            self.send(b"C", question)
        kind, value = self.answer()
        if kind == b"v":
            answer, changed, changed_keywords = value
            if is_statement:
                take_over((arguments, keywords), (changed, changed_keywords))
            return answer
        if kind == b"r":
            raise remade(*value)
        raise UnansweredError("the candidate returned a " + str(value))

    def start(self, question: Any) -> None:
        """Load the candidate and ask the first question: the driver reads both before the candidate runs. Raises
        UnansweredError for whatever keeps it from loading."""
        command = [sys.executable, "-c", CANDIDATE]
        self.child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        with open(self.path, encoding="utf-8-sig") as file:
            program = file.read()
        stem = os.path.splitext(self.path)[0].replace("/", ".")
        self.write(self.driver)
        self.read()  # it runs
        self.send(b"L", ("", program, os.path.abspath(self.path), stem, self.function))
        self.send(b"C", question)
        kind, value = self.answer()
        if kind != b"o":
            raise UnansweredError("the candidate could not be loaded: " + ": ".join(map(str, value[0][:1] + value[1:])))

    def end(self) -> None:
        """End its process and wait for it: the time that it used counts from then on."""
        if self.child is not None:
            self.child.kill()
            self.child.wait()

    def send(self, kind: bytes, question: Any) -> None:
        """One question to the candidate's process. Raises UnansweredError where it has ended."""
        self.write(kind + TOKEN + self.codec["encode"](question, "exact"))

    def write(self, body: bytes) -> None:
        """One frame to the candidate's process. Raises UnansweredError where it has ended."""
        assert self.child is not None
        assert self.child.stdin is not None
        try:
            self.child.stdin.write(b"%08x" % len(body) + body)
            self.child.stdin.flush()
        except BrokenPipeError:
            raise UnansweredError("the candidate ended by itself") from None

    def answer(self) -> tuple[bytes, Any]:
        """(kind, value) of the next answer."""
        answer = self.read()
        return answer[16:17], self.codec["decode"](answer, 17)[0] if len(answer) > 17 else None

    def read(self) -> bytes:
        """One frame. Raises UnansweredError where the candidate has ended."""
        assert self.child is not None
        assert self.child.stdout is not None
        header = self.child.stdout.read(8)
        body = self.child.stdout.read(int(header, 16)) if len(header) == 8 else b""
        if not body:
            raise UnansweredError("the candidate ended by itself")
        return body


def statement(*arguments: Any, **keywords: Any) -> Any:
    """Call a function whose value is not used, as `f(x)` that is a statement of its own. The function stands before its
    arguments, so the name that the tests have for it does not matter."""
    function, *rest = arguments
    if isinstance(function, Callee):
        return function.call(tuple(rest), keywords, is_statement=True)
    return function(*rest, **keywords)


class Statements(ast.NodeTransformer):
    """Has `f(x)` told to be a statement where its value is not used: it is called for what it does to its arguments. So
    it is in a statement of its own, in `x = f(a)` where `x` is read nowhere, and in `assert f(a) is None`, which has no
    other value to use. What the candidate returns decides nothing: it may return None where a value is asked for."""

    def __init__(self, names: Any, tree: ast.AST) -> None:
        self.others = set(vars(builtins)) - set(names)
        self.read = {
            node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Store)
        }

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        """One statement."""
        self.rename(node.value)
        return self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        """One assignment."""
        if all(isinstance(target, ast.Name) and target.id not in self.read for target in node.targets):
            self.rename(node.value)
        return self.generic_visit(node)

    def visit_Assert(self, node: ast.Assert) -> ast.AST:
        """One assertion."""
        test = node.test
        if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], (ast.Is, ast.Eq)):
            other = test.comparators[0]
            if isinstance(other, ast.Constant) and other.value is None:
                self.rename(test.left)
        return self.generic_visit(node)

    def rename(self, call: ast.AST) -> None:
        """Have a call that may be one of the candidate's function take over what becomes of its arguments."""
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id not in self.others:
            call.args.insert(0, call.func)
            call.func = ast.copy_location(ast.Name(STATEMENT, ast.Load()), call.func)


def rebuilding(rebuilt: Any, source: str) -> Any:
    """What makes a value of its name and parts, with `rebuilt`, for tests with this text.

    An iterator is true, equals nothing and is empty at its second use, whatever it gives; a Counter and a defaultdict
    have every key; a deque with a length forgets what is added. Tests that do not speak of these expect plain values,
    and get them; in the place of an object of the candidate's own that can be looped over there is always a list."""
    words = set(re.findall(r"\w+", source))

    def made(name: str, parts: Any) -> Any:
        class_name = name.rpartition(".")[2]
        if name == "builtins.dict_values" or (name == "builtins.iterator" and words.isdisjoint(ITERATING)):
            return list(parts[0])
        if class_name in MAPPINGS and words.isdisjoint(MAPPINGS[class_name]):
            return dict(parts[-1])
        if class_name == "deque" and "maxlen" not in words:
            parts = (parts[0],)
        return rebuilt(name, parts)

    return made


def take_over(mine: Any, theirs: Any) -> Any:
    """What an argument is after the call: the tests' own list, dict, set or bytearray, changed as the candidate has
    changed its copy of it."""
    if type(mine) is not type(theirs):
        return theirs
    if type(mine) is tuple and len(mine) == len(theirs):
        return tuple(map(take_over, mine, theirs))
    if type(mine) is list:
        mine[:] = [take_over(*pair) for pair in zip(mine, theirs)] + theirs[len(mine) :]  # noqa: B905 (no strict= before 3.10)
    elif isinstance(mine, dict):
        kept = {key: take_over(mine[key], value) if key in mine else value for key, value in theirs.items()}
        mine.clear()
        mine.update(kept)
    elif type(mine) is set:
        mine.clear()
        mine.update(theirs)
    elif type(mine) is bytearray:
        mine[:] = theirs
    else:
        return theirs if mine != theirs else mine
    return mine


def remade(names: tuple[str, ...], message: str) -> Exception:
    """An exception like the candidate's, for tests that expect one: of the nearest builtin class."""
    for name in names:
        found = getattr(builtins, name, None)
        if isinstance(found, type) and issubclass(found, Exception) and found is not Exception:
            # these would end a loop of the tests' as if all were well
            if issubclass(found, (StopIteration, StopAsyncIteration)):
                break
            try:
                return found(message)
            except TypeError:  # UnicodeDecodeError takes more
                continue
    return RuntimeError(message)


def is_candidates(path: str) -> bool:
    """A place where the candidate has files."""
    real = os.path.realpath(path)
    if any(real.startswith(os.path.join(os.path.realpath(own), "lib", "")) for own in {sys.prefix, sys.base_prefix}):
        return False
    places = (os.getcwd(), "/workspace")
    return any((real + "/").startswith(os.path.realpath(place).rstrip("/") + "/") for place in places)


def compiled(magic: str, compiled: str, source: str) -> bytes:
    """A module's code as `marshal` writes it: as it came, or the source's where an interpreter of another version has
    compiled it."""
    own = getattr(sys.modules.get("_frozen_importlib_external"), "MAGIC_NUMBER", b"")
    if own and magic == own.hex():
        return binascii.a2b_base64(compiled)
    return marshal.dumps(compile(source, "<driver>", "exec", dont_inherit=True))


def main() -> None:
    """Run the source to its end."""
    word, _, written = sys.stdin.buffer.read().decode().partition("\n")
    request = json.loads(written)
    sys.path[:] = [path for path in sys.path if path and not is_candidates(path)]
    import_for(request["source"])
    codec: dict[str, Any] = {"__name__": "codec"}
    driver = compiled(**request["driver"])
    exec(marshal.loads(driver), codec)  # noqa: S102, S302 (harena's own)
    codec["rebuilt"] = rebuilding(codec["rebuilt"], request["source"])
    namespace: dict[str, Any] = {"__name__": "tests"}
    path = request["path"]
    callees = {name: Callee(path, driver, codec, function) for name, function in request["calls"].items()}
    namespace.update(callees)
    namespace[STATEMENT] = statement
    failures = Failures()
    namespace.update(failures.functions())
    tree = ast.parse(request["source"])
    with DeepTrees():
        executed = Executed(tree, request["modules"])
        tests = executed.visit(ast.fix_missing_locations(Statements(request["calls"], tree).visit(tree)))
        code = compile(tests, "<asserts>", "exec", dont_inherit=True)
    try:
        exec(code, namespace)  # noqa: S102 (the purpose of this process)
        if unanswered:
            raise unanswered[0]
        if failures.has_judged:
            os.write(1, b"\nharena-proof " + word.encode() + b"\n")
        else:
            os.write(2, NOTHING.encode() + b"\n")
    finally:
        for callee in callees.values():
            callee.end()
    os._exit(0 if failures.has_judged else JUDGED_NOTHING)
