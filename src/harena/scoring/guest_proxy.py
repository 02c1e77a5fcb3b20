"""The candidate's modules, for a trusted test suite that runs in another process than they do. Standard library only.

The suite imports `solution` and gets a stand-in. What it calls is called in a child process, where the candidate really
lives, and only plain values come back (the codec of `guest_driver`), or stand-ins for objects that are no plain values.
So no code of the candidate runs beside the suite: there is no frame to dig in, no assertion to patch, and `==` is never
asked of the candidate. While test files are collected, no code of the candidate runs at all (it could rewrite those
that have not been read yet): a `def`, a `class` and a literal are known from the source, any other name is asked for
when it is first used.

What does not cross: functions as arguments, objects inside of lists, comparison of the candidate's objects.

The child may be in another sandbox than the parent, which then reaches it by descriptors that it is given.

    parent   (verb, target, name, positional, keywords); verbs: get, ref, call; an argument: (v, value), (o, number)
    child    (v, value) | (o, number, class name, callable) | (r, class names, message)
"""

from __future__ import annotations

import ast
import builtins
import importlib.abc
import importlib.machinery
import importlib.util
import os
import subprocess
import sys

from harena.scoring.guest_driver import UncarriedError, decode, describe, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from types import ModuleType
    from typing import Any

_FORWARDED = (
    "__len__", "__getitem__", "__setitem__", "__delitem__", "__contains__", "__str__", "__enter__", "__exit__",
    "__int__", "__float__", "__next__",
)  # fmt: skip
"""of an object's special methods; no comparison is among them, and no hash"""
_LONGEST_REPLY_BYTES = 9 * 1024 * 1024


def serve() -> None:
    """The child: load and call what the parent asks for, until it closes the pipe."""
    requests, replies = os.dup(0), os.dup(1)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.dup2(2, 1)
    sys.path.insert(0, os.getcwd())
    objects: list[Any] = []

    def argument(pair: Any) -> Any:
        return pair[1] if pair[0] == "v" else objects[pair[1]]

    def answer(request: Any) -> bytes:
        verb, target, name, positional, keywords = decode(request, 0)[0]
        owner: Any = __import__(target, fromlist=["*"]) if isinstance(target, str) else objects[target]
        value = getattr(owner, name) if name else owner
        if verb == "call":
            value = value(*map(argument, positional), **{key: argument(pair) for key, pair in keywords.items()})
        try:
            if verb != "ref":
                return encode(("v", value))
            raise UncarriedError("asked for as an object")
        except UncarriedError:
            objects.append(value)
            return encode(("o", len(objects) - 1, type(value).__name__, callable(value)))

    while True:
        request = read_frame(requests)
        if request is None:
            os._exit(0)
        try:
            reply = answer(request)
        except BaseException as error:  # noqa: BLE001 (whatever it raised is the answer)
            names, message = decode(describe(error), 0)[0]
            reply = encode(("r", names, message))
        write_frame(replies, reply)


def read_frame(descriptor: int) -> bytes | None:
    """A frame's body; None at the end of the stream, or where there is no frame."""
    size = int(_exactly(descriptor, 8) or b"0", 16)
    return _exactly(descriptor, size) if 0 < size <= _LONGEST_REPLY_BYTES else None


def _exactly(descriptor: int, size: int) -> bytes | None:
    got = b""
    while len(got) < size:
        piece = os.read(descriptor, size - len(got))
        if not piece:
            return None
        got += piece
    return got


def write_frame(descriptor: int, body: bytes) -> None:
    """Its length in eight hexadecimal digits, and the body."""
    rest = memoryview(b"%08x" % len(body) + body)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


class CandidateEndedError(Exception):
    """The candidate's process has ended, or said something that it may not say."""


class Candidate:
    """The candidate's process, as the suite's process sees it."""

    def __init__(self, program: str = "", channel: tuple[int, int] | None = None) -> None:
        """`program` is started with the first thing that is asked; or `channel`, descriptors for questions and answers,
        leads to where it runs."""
        self._program = program
        self._channel = channel
        self._process: subprocess.Popen[bytes] | None = None
        self.may_run = False
        """set when every test file has been read"""
        self.errors: dict[str, type[BaseException]] = {}
        """classes of exceptions that the candidate defines, by name"""

    def ask(self, verb: str, target: Any, name: str, positional: Any = (), keywords: Any = None) -> Any:
        """What a name is, or what a call gives. Raises what the call raised."""
        if not self.may_run:
            raise CandidateEndedError("nothing of the candidate may run while tests are collected")
        given = {key: _crossing(value) for key, value in (keywords or {}).items()}
        request = encode((verb, target, name, [_crossing(value) for value in positional], given))
        questions, answers = self._channel or self._started()
        try:
            write_frame(questions, request)
            reply = read_frame(answers)
            answer = None if reply is None else decode(reply, 0)[0]
        except (OSError, ValueError, LookupError, TypeError, RecursionError) as error:
            raise CandidateEndedError(f"the candidate's process does not answer: {error!r}") from None
        if type(answer) is not tuple or len(answer) not in (2, 3, 4):
            raise CandidateEndedError("the candidate's process has ended")
        if answer[0] == "v":
            return answer[1]
        if answer[0] == "o" and type(answer[1]) is int:
            return RemoteObject(self, answer[1])
        raised = self._raised(answer)
        if isinstance(raised, (StopIteration, StopAsyncIteration)) and name != "__next__":
            # it would end a loop of the suite's as if all were well
            raise RuntimeError(f"the candidate raised {type(raised).__name__}")
        raise raised

    def end(self) -> None:
        """End the candidate's process, if it is ours, and wait for it: the time that it used counts from then on."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def _started(self) -> tuple[int, int]:
        process = self._process = subprocess.Popen(
            [sys.executable, "-c", self._program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
        )
        assert process.stdin is not None
        assert process.stdout is not None
        self._channel = process.stdin.fileno(), process.stdout.fileno()
        return self._channel

    def _raised(self, answer: Any) -> BaseException:
        names = [name for name in answer[1] if type(name) is str] if type(answer[1]) is tuple else []
        message = str(answer[2]) if len(answer) == 3 else ""
        for name in names:
            found = self.errors.get(name) or getattr(builtins, name, None)
            if isinstance(found, type) and issubclass(found, Exception):
                if found is self.errors.get(names[0]) or found.__name__ == names[0]:
                    return _made(found, message)
                derived: type[Exception] = type(names[0], (found,), {})
                return _made(derived, message)
        return CandidateEndedError(f"the candidate raised {names[:1]}: {message}")


def _made(cls: type[Exception], message: str) -> Exception:
    try:
        return cls(message)
    except TypeError:  # UnicodeDecodeError and the like take more than a message
        told = {"__init__": lambda self: None, "__str__": lambda self: message}
        plain: Callable[[], Exception] = type(cls.__name__, (cls,), told)
        return plain()


def _crossing(value: Any) -> tuple[str, Any]:
    if isinstance(value, RemoteObject):
        return "o", value._harena_number
    try:
        encode(value)
    except UncarriedError as error:
        raise TypeError(f"a {error} cannot be given to the candidate's process; set `isolate: false`") from None
    return "v", value


class RemoteObject:
    """An object of the candidate's. Two are equal if they are the same."""

    def __init__(self, candidate: Candidate, number: int) -> None:
        self.__dict__.update(_harena_candidate=candidate, _harena_number=number)

    if TYPE_CHECKING:
        _harena_candidate: Candidate
        _harena_number: int

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self._harena_candidate.ask("get", self._harena_number, name)

    def __setattr__(self, name: str, value: Any) -> None:
        self._harena_candidate.ask("call", self._harena_number, "__setattr__", (name, value))

    def __call__(self, *positional: Any, **keywords: Any) -> Any:
        return self._harena_candidate.ask("call", self._harena_number, "", positional, keywords)

    def __iter__(self) -> Any:
        found = self._harena_candidate.ask("call", self._harena_number, "__iter__")
        while True:
            try:
                yield found.__next__()
            except StopIteration:
                return


class RemoteName(RemoteObject):
    """An object that is asked for when it is first used."""

    def __init__(self, candidate: Candidate, module: str, name: str) -> None:
        self.__dict__.update(_harena_candidate=candidate, _harena_module=module, _harena_name=name)

    @property
    def _harena_number(self) -> int:  # type: ignore[override]
        found = self._harena_candidate.ask("ref", self.__dict__["_harena_module"], self.__dict__["_harena_name"])
        return int(found._harena_number)


def _forwarding(name: str) -> Callable[..., Any]:
    def method(self: RemoteObject, *positional: Any) -> Any:
        return self._harena_candidate.ask("call", self._harena_number, name, positional)

    return method


for _name in _FORWARDED:
    setattr(RemoteObject, _name, _forwarding(_name))


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Imports stand-ins for the candidate's modules, and trusted modules from texts that were read before it ran."""

    def __init__(self, candidate: Candidate, theirs: Mapping[str, str], trusted: Mapping[str, str]) -> None:
        """Module names and their source."""
        self._candidate = candidate
        self._theirs = theirs
        self._trusted = trusted

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: Any = None) -> Any:
        """See MetaPathFinder."""
        folder = any(known.startswith(name + ".") for known in (*self._theirs, *self._trusted))
        if name in self._theirs or name in self._trusted or folder:
            return importlib.machinery.ModuleSpec(name, self, is_package=folder)
        return None

    def create_module(self, spec: Any) -> ModuleType | None:
        """See Loader."""
        return None

    def exec_module(self, module: ModuleType) -> None:
        """See Loader."""
        name = module.__name__
        if name in self._trusted:
            exec(compile(self._trusted[name], f"{name}.py", "exec", dont_inherit=True), module.__dict__)  # noqa: S102 (a trusted file)
        elif name in self._theirs:
            self._stand_in(module, self._theirs[name])

    def _stand_in(self, module: ModuleType, source: str) -> None:
        for node in ast.parse(source).body:
            if isinstance(node, ast.ClassDef):
                module.__dict__[node.name] = self._class(module.__name__, node)
            elif isinstance(node, ast.FunctionDef):
                module.__dict__[node.name] = self._function(module.__name__, node.name)
        module.__dict__["__getattr__"] = lambda name: self._other(module.__name__, name)

    def _other(self, module: str, name: str) -> Any:
        """A name that is neither a `def` nor a `class`: only the candidate's process knows it."""
        if name.startswith("__"):
            raise AttributeError(name)
        if self._candidate.may_run:
            return self._candidate.ask("get", module, name)
        for node in ast.parse(self._theirs[module]).body:
            if isinstance(node, ast.Assign) and any(getattr(target, "id", None) == name for target in node.targets):
                try:
                    return ast.literal_eval(node.value)
                except (ValueError, TypeError, MemoryError, RecursionError):
                    break
        return RemoteName(self._candidate, module, name)

    def _function(self, module: str, name: str) -> Callable[..., Any]:
        def function(*positional: Any, **keywords: Any) -> Any:
            return self._candidate.ask("call", module, name, positional, keywords)

        function.__name__ = function.__qualname__ = name
        return function

    def _class(self, module: str, node: ast.ClassDef) -> Any:
        known = (self._error_class(base) for base in node.bases)
        base = next((found for found in known if found is not None), None)
        if base is not None:
            made: type[BaseException] = type(node.name, (base,), {})
            self._candidate.errors[node.name] = made
            return made
        return self._function(module, node.name)

    def _error_class(self, base: ast.expr) -> type[BaseException] | None:
        name = base.id if isinstance(base, ast.Name) else ""
        found = self._candidate.errors.get(name) or getattr(builtins, name, None)
        return found if isinstance(found, type) and issubclass(found, Exception) else None
