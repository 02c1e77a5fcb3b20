"""The half of the `tests` contract that runs inside the candidate's sandbox. Standard library only, Python 3.8 and up.

Nothing here is trusted: the candidate shares this process and may replace any of it. All that it can win is to *state
values*; whether they are right is decided on the host, which alone knows what was expected (`drive`). So the aims here
are modest: keep what the program prints out of the reply channel, carry exact types (or what a subclass's instance is
made of), and be quick to start.

The host sends frames on standard input and reads frames on standard output; a frame is 8 hexadecimal digits (the length
of the body) and the body:

    host   L token16 value    load: (setup source, candidate source, file name, module name, entry point)
    host   C token16 value    call: (positional arguments, keyword arguments, None or all that is asked of the answer:
                              "truth" = its truth value, "not_none" = whether it is None or False, "items" = what a loop
                              over it gives, where it is a generator, a view, a range or the like; "arguments" = the
                              answer, and the arguments as they are afterwards, whether instances of subclasses are
                              sent as what they are made of: False, True, or "wide" for trusted test code in Python,
                              which gets Counters, iterators and the like back, and sends them as "exact")
    host   T token16 value    call, and say how long it took: as C
    guest  H                  the interpreter runs; sent before any code of the candidate
    guest  token16 o          loaded
    guest  token16 s|m|p|e value   not loaded: syntax error, missing entry point, setup raised, candidate raised:
                              (class names, message)
    guest  token16 v value    what the call returned
    guest  token16 r value    what the call raised: (class names, message)
    guest  token16 q value    the arguments could not be built: (class names, message)
    guest  token16 x value    the call returned something that the codec does not carry: its type's name
    guest  token16 tWALL,CPU;reply   to T: seconds that the call took (hexadecimal floats), then v, r or x

A value is tagged and length-prefixed, so that nothing is ever quoted, evaluated or unpickled (`codec` is the host's
half):

    N None   T True   F False   iHEX;   fHEXFLOAT;   cHEXFLOAT,HEXFLOAT;
    sBYTES:utf8 (lone surrogates pass)   bBYTES:raw
    lCOUNT:items list   tCOUNT:items tuple   eCOUNT:items set   zCOUNT:items frozenset   dCOUNT:key value ... dict
    oBYTES:name tuple   a value of the standard library, by the name of its class (`STANDARD`) and what it is made of
"""

from __future__ import annotations

import os
import sys
from os import getpid
from sys import intern
from time import perf_counter, process_time

TYPE_CHECKING = False  # importing `typing` would cost a third of the start of the interpreter
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Module = Any

PROMPT_SECONDS = 0.005
"""a module that loads in less is told of together with the first answer, whose question has come with it: one message
less. One that takes longer is told of at once, so that each has its own time"""
MAX_DEPTH = 100
MAX_PARTS = 250_000
MAX_BYTES = 8 * 1024 * 1024
MAX_INTERNED = 64
"""bytes of a text that there is one object of"""
TAGS: dict[Any, bytes] = {list: b"l", tuple: b"t", set: b"e", frozenset: b"z", dict: b"d"}
WHOLE = slice(None)
KEPT_FROM = 1 << 14
"""the highest descriptors that the host gives a driver: above what programs close that do not ask for their limit"""
MOST_FILES = 1 << 16
"""the highest descriptor, however many files may be open: the kernel's table is as long as that"""
MOST_BITS = 1 << 18
"""longest integers of a fraction or a range: to make one of them takes quadratic time"""
PLAIN: dict[Any, Callable[[Any], Any]] = {
    int: int.__pos__,
    float: float.__pos__,
    complex: complex.__pos__,
    str: str.__str__,
    bytes: lambda item: bytes.__getitem__(item, WHOLE),
    list: lambda item: list.__getitem__(item, WHOLE),
    tuple: lambda item: tuple.__getitem__(item, WHOLE),
    dict: lambda item: dict(dict.items(item)),
    set: lambda item: set(set.__iter__(item)),
    frozenset: lambda item: frozenset(frozenset.__iter__(item)),
}
"""base class -> what makes a value of exactly that class of an instance of a subclass, whatever that overrides"""
EXACT = (int, str, list, tuple, float, bool, type(None), dict, set, frozenset, bytes, complex)
OWNER: set[int] = set()
"""number of the process that answers; empty until it does"""


def read(item: Any, cls: Any, *names: str) -> tuple[Any, ...]:
    """Attributes by a standard class's own descriptors, whatever a subclass of it overrides."""
    return tuple([getattr(cls, name).__get__(item, type(item)) for name in names])


def offset_of(moment: Any, cls: Any) -> int | None:
    """Microseconds that its clock is ahead of UTC; None where it has no time zone."""
    offset = cls.utcoffset(moment)
    if offset is None:
        return None
    delta = next(base for base in type(offset).__mro__ if base.__module__ == "datetime")
    days, seconds, microseconds = read(offset, delta, "days", "seconds", "microseconds")
    ahead: int = (days * 86400 + seconds) * 1000000 + microseconds
    return ahead


STANDARD: dict[Any, Callable[[Any, Any], Any]] = {
    "fractions.Fraction": lambda item, cls: read(item, cls, "numerator", "denominator"),
    "decimal.Decimal": lambda item, cls: (cls.__str__(item),),
    "builtins.bytearray": lambda item, cls: (bytes(cls.__getitem__(item, WHOLE)),),
    "builtins.memoryview": lambda item, cls: (item.tobytes(),),
    "builtins.range": lambda item, cls: (item.start, item.stop, item.step),
    "builtins.dict_keys": lambda item, cls: (tuple(item),),
    "builtins.dict_items": lambda item, cls: (tuple(item),),
    "collections.deque": lambda item, cls: (list(cls.__iter__(item)), *read(item, cls, "maxlen")),
    "array.array": lambda item, cls: (*read(item, cls, "typecode"), cls.tolist(item)),
    "datetime.date": lambda item, cls: read(item, cls, "year", "month", "day"),
    "datetime.time": lambda item, cls: (
        *read(item, cls, "hour", "minute", "second", "microsecond"),
        offset_of(item, cls),
    ),
    "datetime.datetime": lambda item, cls: (
        *read(item, cls, "year", "month", "day", "hour", "minute", "second", "microsecond"),
        offset_of(item, cls),
    ),
    "datetime.timedelta": lambda item, cls: read(item, cls, "days", "seconds", "microseconds"),
}
"""name of a class -> what its instance is made of, given that class. By name, because none of these modules is loaded
by this program"""
WIDE: dict[Any, Callable[[Any], Any]] = {
    "collections.Counter": lambda item: (dict(dict.items(item)),),
    "collections.OrderedDict": lambda item: (list(item.items()),),
    "collections.defaultdict": lambda item: (getattr(item.default_factory, "__name__", None), dict(dict.items(item))),
    "builtins.dict_values": lambda item: (list(item),),
    "builtins.iterator": lambda item: (items_of(item),),
    "builtins.iterable": lambda item: (items_of(item),),
}
"""besides, for trusted test code that is Python itself"""
ALIKE: dict[Any, Callable[[Any], Any]] = {
    "collections.UserDict": lambda item: dict(item.data),
    "collections.UserList": lambda item: list(item.data),
    "collections.UserString": lambda item: str(item.data),
    "collections.ChainMap": dict,
    "builtins.mappingproxy": dict,
}
"""name of a class -> the plain value that equals its instance"""


def classes_of(item: Any, subclasses: Any) -> list[tuple[str, Any]]:
    """Its class by name and, where instances of subclasses count, that class's bases."""
    classes = type(item).__mro__ if subclasses in (True, "wide") else (type(item),)
    return [(f"{cls.__module__}.{cls.__qualname__}", cls) for cls in classes]


def standard_parts(item: Any, subclasses: Any) -> tuple[Any, Any] | None:
    """(name, parts) of a value of the standard library; None for every other one."""
    for name, cls in classes_of(item, subclasses):
        if name in STANDARD:
            return name, STANDARD[name](item, cls)
        if subclasses in ("wide", "exact") and name in WIDE:
            return name, WIDE[name](item)
    if (
        subclasses in ("wide", "exact")
        and hasattr(item, "__next__")
        and type(item).__module__ in ("builtins", "itertools")
    ):
        return "builtins.iterator", WIDE["builtins.iterator"](item)
    if subclasses == "wide" and is_own_iterable(type(item)):
        return "builtins.iterable", WIDE["builtins.iterable"](item)
    return None


def is_own_iterable(cls: Any) -> bool:
    """A class of a program's own whose objects are no plain values, and can be looped over again and again."""
    if not hasattr(cls, "__iter__") or any(hasattr(cls, name) for name in ("__next__", "__bool__", "__array__")):
        return False
    return all(
        "__slots__" in vars(base) or "__dict__" in vars(base) or base is object for base in cls.__mro__
    ) and not (issubclass(cls, tuple(PLAIN)) or any(name in ALIKE for name, _ in classes_of(cls, False)))


def rebuilt(name: str, parts: Any) -> Any:
    """The value that `standard_parts` took apart. Raises ValueError for a name that is not one of those."""
    if name not in STANDARD and name not in WIDE:
        raise ValueError(name)
    if name in ("fractions.Fraction", "builtins.range") and max([part.bit_length() for part in parts]) > MOST_BITS:
        raise ValueError("a longer number than is made here")
    if name == "builtins.iterator":
        return iter(parts[0])
    if name == "builtins.iterable":
        return list(parts[0])
    if name == "builtins.dict_keys":
        return dict.fromkeys(parts[0]).keys()
    if name == "builtins.dict_items":
        return dict(parts[0]).items()
    if name == "builtins.dict_values":
        return dict(enumerate(parts[0])).values()
    if name == "collections.defaultdict":
        parts = (
            {"int": int, "list": list, "set": set, "dict": dict, "str": str, "float": float}.get(parts[0]),
            parts[1],
        )
    module_name, _, class_name = name.rpartition(".")
    module = __import__(module_name)
    if name in ("datetime.datetime", "datetime.time") and parts[-1] is not None:
        parts = (*parts[:-1], module.timezone(module.timedelta(microseconds=parts[-1])))
    return getattr(module, class_name)(*parts)


class UncarriedError(Exception):
    """The value has a part that the codec does not carry; the argument names its type."""


def made_of(item: Any) -> Any:
    """What the instance of a subclass is made of: a Counter's dict, a named tuple's tuple. numpy's numbers are numbers.

    Raises UncarriedError for an instance of anything else."""
    if type(item).__module__ == "numpy" and hasattr(item, "item") and not getattr(item, "shape", None):
        return item.item()
    for kind, plain in PLAIN.items():
        if isinstance(item, kind):
            return plain(item)
    for name, _ in classes_of(item, True):
        if name in ALIKE:
            return ALIKE[name](item)
    raise UncarriedError(type(item).__name__)


def encode(value: Any, subclasses: Any = False, most_parts: int = MAX_PARTS) -> bytes:
    """One value as bytes. Raises UncarriedError: a subclass (unless `subclasses`), an unknown type, too deep, too many
    parts, too long."""
    parts: list[bytes] = []
    budget = [most_parts, MAX_BYTES]

    def put(item: Any, depth: int) -> None:
        budget[0] -= 1
        if budget[0] < 0:
            raise UncarriedError(f"more than {most_parts} parts")
        kind = type(item)
        made = None
        if kind not in EXACT:
            made = standard_parts(item, subclasses)
            if made is None and subclasses in (True, "wide"):
                item = made_of(item)
                kind = type(item)
        if made is not None:
            if depth == 0:
                raise UncarriedError(f"nested deeper than {MAX_DEPTH}")
            part = b"o%d:" % len(made[0]) + made[0].encode()
        elif kind is int:
            part = b"i%x;" % item
        elif kind is str:
            text = item.encode("utf-8", "surrogatepass")
            part = b"s%d:" % len(text) + text
        elif item is None:
            part = b"N"
        elif kind is bool:
            part = b"T" if item else b"F"
        elif kind is float:
            part = b"f%s;" % item.hex().encode()
        elif kind is list or kind is tuple or kind is set or kind is frozenset or kind is dict:
            if depth == 0:
                raise UncarriedError(f"nested deeper than {MAX_DEPTH}")
            part = b"%b%d:" % (TAGS[kind], len(item))
        elif kind is bytes:
            part = b"b%d:" % len(item) + item
        elif kind is complex:
            part = f"c{item.real.hex()},{item.imag.hex()};".encode()
        else:
            raise UncarriedError(kind.__name__)
        budget[1] -= len(part)
        if budget[1] < 0:
            raise UncarriedError(f"more than {MAX_BYTES} bytes")
        parts.append(part)
        if made is not None:
            put(made[1], depth - 1)
        elif kind is dict:
            for key, child in item.items():
                put(key, depth - 1)
                put(child, depth - 1)
        elif kind in TAGS:
            for child in item:
                put(child, depth - 1)

    put(value, MAX_DEPTH)
    return b"".join(parts)


def decode(body: bytes, at: int, depth: int = 2 * MAX_DEPTH) -> tuple[Any, int]:
    """The value that starts at `at`, and where it ends. Raises ValueError for numbers and sizes that `encode` would not
    have written so, and for values nested too deep (a call tells of arguments that may be as deep as any value)."""
    tag = body[at : at + 1]
    at += 1
    if tag in b"NTF":
        return (None if tag == b"N" else tag == b"T"), at
    end = body.index(b";" if tag in b"ifc" else b":", at)
    head = body[at:end].decode()
    at = end + 1
    if tag == b"i":
        number = int(head, 16)
        if f"{number:x}" != head:
            raise ValueError("a number that is not written as it should be")
        return number, at
    if tag == b"f":
        return float.fromhex(head), at
    if tag == b"c":
        real, imaginary = head.split(",")
        return complex(float.fromhex(real), float.fromhex(imaginary)), at
    size = int(head)
    if str(size) != head or size < 0:
        raise ValueError("a size that is not written as it should be")
    if tag == b"s":
        text = body[at : at + size].decode("utf-8", "surrogatepass")
        # one object, as a constant of a program is: `is` tells such texts apart by what they say
        return intern(text) if size <= MAX_INTERNED and text.isidentifier() else text, at + size
    if tag == b"b":
        return body[at : at + size], at + size
    if depth == 0:
        raise ValueError("nested too deep")
    if tag == b"o":
        made, end = decode(body, at + size, depth - 1)
        return rebuilt(body[at : at + size].decode(), made), end
    items = []
    for _ in range(size * 2 if tag == b"d" else size):
        item, at = decode(body, at, depth - 1)
        items.append(item)
    if tag == b"d":
        return dict(zip(items[::2], items[1::2])), at  # noqa: B905 (no strict= before 3.10)
    if tag == b"l":
        return items, at
    return {b"t": tuple, b"e": set, b"z": frozenset}[tag](items), at


def is_forked_child() -> bool:
    """A child that the candidate forked has come back out of its code, as it would to any caller. It answers nothing:
    it ends as a program of Python does."""
    return bool(OWNER) and getpid() not in OWNER


def describe(error: BaseException) -> bytes:
    """(class names, most derived first; message) of an exception, whatever its own methods do."""
    names = tuple(str(cls.__name__) for cls in type(error).__mro__[:12])
    try:
        message = str(error)[:300]
        if type(error).__name__ == "SyntaxError":
            message = f"{getattr(error, 'msg', message)} (line {getattr(error, 'lineno', '?')})"
    except BaseException:  # noqa: BLE001 (the candidate's own __str__)
        message = ""
    return encode((names, "".join(message)))


def find_entry(module: Module, entry: str) -> Callable[[], Any]:
    """Something that gives the callable for the next check. A method gets a new instance for each check."""
    owner_name, _, method_name = entry.rpartition(".")
    if not owner_name:
        function = getattr(module, entry)
        return lambda: function
    owner: Any = module
    for name in owner_name.split("."):
        owner = getattr(owner, name)
    if not hasattr(owner, method_name):
        getattr(owner() if isinstance(owner, type) else owner, method_name)  # what a constructor makes of an instance
    return lambda: getattr(owner() if isinstance(owner, type) else owner, method_name)


def put_file(path: str, source: str) -> None:
    """Write the program into its own file, where that is in the working directory and not there yet: for whatever reads
    it (`inspect`, `open(__file__)`, a process that imports it anew)."""
    if not path.startswith(os.getcwd() + "/"):
        return
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
    except OSError:
        return
    try:
        rest = memoryview(source.encode("utf-8", "surrogatepass"))
        while rest:
            rest = rest[os.write(file, rest) :]
    except OSError:  # the disk is full: the program is loaded all the same
        pass
    os.close(file)


def imported_with_its_package(name: str, path: str) -> Module | None:
    """Import the package that the program's file is in, as an import of the file would, before the file. The program,
    where its package has imported it; else None."""
    package = name.rpartition(".")[0]
    if not package or not os.path.exists(os.path.dirname(path) + "/__init__.py"):
        return None
    __import__(package)
    found = sys.modules.get(name)
    return found if getattr(found, "__file__", None) == path else None


def empty_module(name: str, path: str) -> Module:
    """A module as an import of the file begins it, under its name."""
    spec = sys.modules["_frozen_importlib_external"].spec_from_file_location(name, path)
    # there is none for a file whose ending is not Python's
    module = type(sys)(name) if spec is None else sys.modules["_frozen_importlib"].module_from_spec(spec)
    module.__file__ = path
    sys.modules[name] = module
    return module


def load(request: Any) -> tuple[bytes, Any]:
    """(reply, what gives the callable or None)."""
    setup, source, file_name, module_name, entry = request
    put_file(file_name, source)
    source = source[1:] if source[:1] == "\ufeff" else source  # as in a file, where it is a mark of UTF-8
    stage = b"e"
    try:
        module = imported_with_its_package(module_name, file_name)
        if setup or module is None:
            module = empty_module(module_name, file_name)
            stage = b"p"
            if setup:
                exec(compile(setup, "<setup>", "exec", dont_inherit=True), module.__dict__)  # noqa: S102 (the purpose of this process)
            stage = b"s"
            code = compile(source, file_name, "exec", dont_inherit=True)
            stage = b"e"
            exec(code, module.__dict__)  # noqa: S102 (the purpose of this process)
        module = sys.modules.get(module_name, module)  # a module may put something else in its own place
    except BaseException as error:  # sys.exit() included: it is what the candidate did
        if is_forked_child():
            raise
        return stage + describe(error), None
    try:
        return b"o", find_entry(module, entry)
    except BaseException as error:  # noqa: BLE001 (a module's __getattr__ may raise anything)
        return b"m" + describe(error), None


def items_of(value: Any) -> list[Any]:
    """What a loop over it gives; of an endless one, more than can be sent."""
    items = []
    for item in value:
        items.append(item)
        if len(items) > MAX_PARTS:
            break
    return items


def call(function: Any, request: Any) -> bytes:
    """The reply to one check."""
    arguments, keywords, asked, subclasses = request
    try:
        value = function()(*arguments, **keywords)
        if asked == "arguments":
            value = (value, arguments, keywords)
        elif asked == "items":
            value = value if isinstance(value, EXACT) else items_of(value)
        elif asked is not None:
            value = bool(value) if asked == "truth" else value if value is None or value is False else True
    except BaseException as error:  # whatever it raised is the answer
        if is_forked_child():
            raise
        return b"r" + describe(error)
    try:
        return b"v" + encode(value, subclasses)
    except UncarriedError as error:
        return b"x" + encode(str(error)[:100])
    except BaseException as error:  # noqa: BLE001 (recursion limit, memory, a container changed by a thread)
        return b"x" + encode(type(error).__name__[:100])


def timed_call(function: Any, request: Any) -> bytes:
    """The reply to one check with the time that it took, also that of its child processes."""
    began, used, children = perf_counter(), process_time(), sum(os.times()[2:4])
    reply = call(function, request)
    wall, used = perf_counter() - began, process_time() - used + sum(os.times()[2:4]) - children
    return b"t%s,%s;" % (wall.hex().encode(), used.hex().encode()) + reply


def without_trace(name: str) -> Any:
    """A module of the standard library: not the candidate's of that name in this folder, which is still to be found
    under it afterwards."""
    known, path = set(sys.modules), sys.path[:]
    sys.path[:] = [entry for entry in path if entry]
    try:
        return __import__(name)
    finally:
        sys.path[:] = path
        for added in set(sys.modules) - known:
            del sys.modules[added]


def out_of_reach(*files: int, theirs: int = MOST_FILES) -> list[int]:
    """Copies of open files above the limit of descriptors, where programs that close all that they did not open do not
    look: the limit is lowered to below them, and to `theirs`."""
    try:
        resource = without_trace("resource")
        limit = min(*resource.getrlimit(resource.RLIMIT_NOFILE), MOST_FILES) - len(files) - 1
        copies = [os.dup2(file, limit + 1 + index, False) for index, file in enumerate(files)]
        limit = min(limit, theirs)
        resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
    except (OSError, ValueError, ImportError):  # the limit is 0, there is none, or Debian's python3-minimal
        copies = [os.dup(file) for file in files]
    leave_open(copies)
    return copies


def leave_open(files: list[int]) -> None:
    """To programs that close whatever /proc/self/fd lists, or a range that ends nowhere, these files are not open."""
    really_close, really_range = os.close, os.closerange

    def close(fd: int) -> None:
        if fd in files:
            raise OSError(9, os.strerror(9))
        really_close(fd)

    def closerange(low: int, high: int, /) -> None:
        for file in sorted(files):
            if low <= file < high:
                really_range(low, file)
                low = file + 1
        really_range(low, high)

    os.close, os.closerange = _InPlaceOf("close", close), _InPlaceOf("closerange", closerange)


class _InPlaceOf:
    """A function in the place of one of `os`, which no class binds to its instances, as it binds none in C, and which
    is pickled by its name."""

    __module__ = "os"

    def __init__(self, name: str, function: Callable[..., None]) -> None:
        self.__name__ = self.__qualname__ = name
        self._function = function

    def __call__(self, *positional: Any, **keywords: Any) -> None:
        self._function(*positional, **keywords)

    def __reduce__(self) -> str:
        return self.__name__


def main() -> None:
    """Serve the host until it closes standard input. The last argument, if any, is the candidate's limit of
    descriptors."""
    requests, replies = out_of_reach(0, 1, theirs=int(sys.argv.pop()) if sys.argv[1:] else MOST_FILES)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    os.dup2(2, 1)  # what the program prints is not part of the conversation
    OWNER.add(getpid())

    def read(size: int) -> bytes:
        pieces = b""
        while len(pieces) < size:
            piece = os.read(requests, size - len(pieces))
            if not piece:
                os._exit(0)  # no atexit, no waiting for threads: the host has all that it wanted
            pieces += piece
        return pieces

    def framed(body: bytes) -> bytes:
        return b"%08x" % len(body) + body

    def write(frames: bytes) -> None:
        rest = memoryview(frames)
        while rest:
            rest = rest[os.write(replies, rest) :]

    write(framed(b"H"))
    function: Any = None
    held = ahead = b""
    while True:
        body = ahead or read(int(read(8), 16))
        ahead = b""
        token = body[1:17]
        try:
            request, _ = decode(body, 17)
        except BaseException as error:  # noqa: BLE001 (whatever it is, no call has been made)
            write(held + framed(token + b"q" + describe(error)))
            held = b""
            continue
        if body[:1] == b"L":
            ahead = read(int(read(8), 16))  # the first question, which comes with it: read before the candidate runs
            began = perf_counter()
            reply, function = load(request)
            if function is not None and perf_counter() - began < PROMPT_SECONDS and not is_forked_child():
                held = framed(token + reply)
                continue
        else:
            reply = (timed_call if body[:1] == b"T" else call)(function, request)
        if is_forked_child():
            raise SystemExit
        write(held + framed(token + reply))
        held = b""
        if function is None:
            os._exit(0)
