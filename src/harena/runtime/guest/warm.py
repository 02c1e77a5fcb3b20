"""Warm programs: a fork of a started interpreter becomes what `python FILE`, `-c CODE` or `-m MODULE` would be.

Runs inside a sandbox's interpreter, so: standard library only, any Python 3 from 3.8 on, as few imports as possible
(each costs memory in every sandbox), and its top level runs before any other module of ours is loaded, because it
notes what a plain start leaves behind. `docs/explanation/warm-exec.md` says how the pieces work, what is taken to a
real start instead, and what still differs.

    prepare(modules)                     in the template: import what shall be warm, remember what a start looks like
    plan(argv, env, base_env, cwd)       in init: a Plan, or None = only a real start is right
    become(plan)                         in the forked child: argv, path, streams, signals, __main__ ...
    execute(plan)                        then: leave every frame of ours, run, end as the interpreter would (warm_end)
"""

from __future__ import annotations

import builtins
import os
import sys

_LOADED = list(sys.modules)
_STARTED = frozenset(_LOADED[: _LOADED.index("harena")] if "harena" in _LOADED else _LOADED)  # what came before us
if sys.version_info >= (3, 13):
    _STARTED -= {"linecache"}  # a start with -c loads it, another does not
_START_CACHES = frozenset(sys.path_importer_cache) - {os.getcwd()}  # which `from __future__` has just looked into
_START_MAIN = [name for name in sys.modules["__main__"].__dict__ if name[:2] == "__"]

import gc  # noqa: E402 (after the note above)

_START_COLLECTIONS = [generation["collections"] for generation in gc.get_stats()]

import _signal  # type: ignore[import-not-found]  # noqa: E402
import io  # noqa: E402

from harena.runtime.guest.warm_state import Baseline as Baseline  # noqa: E402
from harena.runtime.guest.warm_state import Plan as Plan  # noqa: E402

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

_REHEARSALS = 20  # so often the interpreter adapts a function's code, in place, before it lets it be


_baseline: Baseline | None = None
_warm_plan: Any = None  # our other modules: in a fork they are no longer found by import
_warm_end: Any = None


# -- in the template ---------------------------------------------------------------------------------------------------


def prepare(modules: list[str], *, hides_frames: bool = True) -> Baseline:
    """Import `modules` as a program would and note what a start looks like. Raises ImportError, saying which one.

    `hides_frames`: a program finds nothing below itself (see warm_frames).
    """
    global _baseline, _warm_plan, _warm_end
    from harena.runtime.guest import warm_end, warm_plan, warm_process

    _warm_plan, _warm_end = warm_plan, warm_end
    found = Baseline()
    found.hooks = {
        name: getattr(sys, name)
        for name in ("excepthook", "displayhook", "unraisablehook", "breakpointhook", "dont_write_bytecode")
    }
    found.environment = dict(os.environ)
    found.adds_directory = bool(sys.path) and sys.path[0] == ""
    if found.adds_directory:
        del sys.path[0]  # nothing of the working directory may become part of a template
    ours = {name: module for name, module in sys.modules.items() if name not in _STARTED}
    for name in ours:
        del sys.modules[name]
    _detach_from_parents(ours)
    for place in sys.path_importer_cache.keys() - _START_CACHES:
        del sys.path_importer_cache[place]
    before = warm_process.Process()
    found.observed = _import_all(modules)
    found.process = warm_process.changes(before, warm_process.Process())
    for name, module in list(sys.modules.items()):
        if isinstance(module, type(sys)):
            module.__dict__.pop("__warningregistry__", None)
        if name == "linecache":
            module.clearcache()
    found.modules = frozenset(sys.modules)
    found.shadowable = frozenset(name.partition(".")[0] for name in found.modules - _STARTED)
    for name, module in ours.items():
        sys.modules.setdefault(name, module)
    _note_interpreter(found)
    warm_end.prepare(hides_frames=hides_frames)
    _baseline = found
    return found


def _import_all(modules: list[str]) -> frozenset[str]:
    """Import them; gives the environment variables that were read meanwhile."""
    seen: set[object] = set()

    class Observed(dict):  # type: ignore[type-arg]
        def __getitem__(self, key: object) -> object:
            seen.add(key)
            return dict.__getitem__(self, key)

    held = os.environ._data  # type: ignore[attr-defined]
    os.environ._data = Observed(held)  # type: ignore[attr-defined]
    try:
        for name in modules:
            try:
                __import__(name)
            except BaseException as error:  # a module may raise anything, SystemExit too, while it is imported
                raise ImportError(
                    "warm module %r cannot be imported in this image: %s: %s; install it in the blueprint or take it "
                    "off the warm list" % (name, type(error).__name__, error)
                ) from error
    finally:
        held.clear()
        held.update(os.environ._data)  # type: ignore[attr-defined]
        os.environ._data = held  # type: ignore[attr-defined]
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()  # or every program would print it again
    return frozenset(os.fsdecode(key) for key in seen if isinstance(key, bytes))


def _note_interpreter(found: Baseline) -> None:
    found.executable = sys.executable
    found.executable_real = os.path.realpath(sys.executable)
    found.path = list(sys.path)
    found.meta_path = list(sys.meta_path)
    found.path_hooks = list(sys.path_hooks)
    found.caches = frozenset(sys.path_importer_cache)
    library = os.path.dirname(os.__file__)
    places = found.path.index(library) if library in found.path else len(found.path)
    found.early_directories = tuple(place for place in found.path[:places] if not place.endswith(".zip"))
    found.library_places = tuple(place + "/" for place in found.path if place not in found.early_directories)
    watched = list(found.path)
    user_site = getattr(sys.modules.get("site"), "USER_SITE", None)
    if user_site and user_site not in watched:
        watched.append(user_site)
    found.stamps = tuple((place, _warm_plan.stamp(place)) for place in watched)
    if sys.stdin is None or sys.stdout is None or sys.stderr is None:
        raise ImportError("a warm template must be started with descriptors 0, 1 and 2 open, for example to /dev/null")
    found.streams = tuple((stream.encoding, stream.errors or "") for stream in (sys.stdin, sys.stdout, sys.stderr))
    found.unbuffered = bool(getattr(sys.stdout, "write_through", False))
    found.thresholds = gc.get_threshold()
    found.collections = _START_COLLECTIONS
    found.is_main_usual = [*type(sys)("__main__").__dict__, "__annotations__", "__builtins__"] == _START_MAIN
    found.main_loader = sys.modules["__main__"].__dict__.get("__loader__")


def may_have_fork_hooks() -> bool:
    """Whether something that is loaded may have called os.register_at_fork."""
    names = {name.partition(".")[0] for name in sys.modules} - {"harena"}
    return not names.isdisjoint(_WITH_FORK_HOOKS) or not names <= getattr(sys, "stdlib_module_names", frozenset()) | {
        "__main__"
    }


_WITH_FORK_HOOKS = frozenset(("asyncio", "concurrent", "logging", "multiprocessing", "random", "ssl", "threading"))


def settle(base_env: dict[str, str] | None = None) -> None:
    """Do ahead, once, what every child would do first. The last thing in a template: what is not found by import from
    now on is what a program would not find either. A fork that does it writes to 300 pages of its own for it.

    `base_env` is what `plan` will get. Signals must be blocked, except those that a fork of the template wants to
    get: their handlers are a program's.
    """
    found = _baseline
    assert found is not None
    _reset_signals()
    _restore_import_state(found)
    for name, hook in found.hooks.items():
        setattr(sys, name, hook)
    found.replaced = (sys.stdin, sys.stdout, sys.stderr)
    found.ready = _streams_ahead(found)
    path = found.environment.get("PATH", "")
    found.executables = {(name, path): executable for name, executable in _warm_plan.names_of_python(found).items()}
    found.is_settled = True
    base_env = found.environment if base_env is None else base_env
    for _ in range(_REHEARSALS):
        for arguments in (["-c", "1"], ["/nowhere.py"], ["-m", "nowhere"]):
            plan(["python3", *arguments], base_env, base_env, "/")


def rehearse(take: Callable[[list[str]], Plan | None]) -> None:
    """Walk a child's way to its program, and compile and run one, here in the template, again and again.

    What is done for the first time writes to pages (caches, code that adapts to what it meets), and what was freed last
    is used next, so that a child finds what it needs close together. `take` gives the plan of a command line, as it
    will in the child. The last thing in a template, after the last collection, which empties such lists.
    """
    found = _baseline
    assert found is not None
    names = ("argv", "orig_argv", "executable", "_base_executable", *_STREAMS)
    before = {name: getattr(sys, name) for name in names if hasattr(sys, name)}
    main, path = sys.modules["__main__"], list(sys.path)
    ready = found.ready
    for _ in range(_REHEARSALS):
        plan = take(["python", "-c", SAMPLE])
        if plan is None:
            break
        found.ready = tuple(map(dict, ready))
        become(plan)
        gc.disable()
        exec(_warm_end.warm_source.load(plan), plan.main)  # noqa: S102 (a sample of our own)
        sys.path[:] = path
        for name, value in before.items():
            setattr(sys, name, value)
    found.ready = ready
    sys.modules["__main__"] = main
    _restore_import_state(found)  # from 3.13 on a program that is given as text loads a module, and no other one does


def stand_ready(base_env: dict[str, str]) -> tuple[list[str], list[str]] | None:
    """Become, here in the template, all of a plain program's process but its own text and arguments.

    Gives (names of the interpreter, directories that must be absent) for programs that may count on that; None where
    none may: with warm modules, what lies beside a program must be looked at first.
    """
    global _ready
    found = _baseline
    assert found is not None
    if found.shadowable or found.added or found.unbuffered or any(then for _, then in found.stamps):
        return None
    if "threading" in sys.modules or "multiprocessing.process" in sys.modules:
        return None  # they are told of a new process
    found.plain_names = {name: executable for (name, _), executable in found.executables.items()}
    for descriptor, kind, name in ((0, found.null, "stdin"), (1, 0, "stdout"), (2, 0, "stderr")):
        stream = found.ready[descriptor].pop(kind)  # nobody else shall keep it open
        setattr(sys, name, stream)
        setattr(sys, "__" + name + "__", stream)
    found.other_input = found.ready[0].pop(0)
    found.is_ready = True
    found.module_count = len(sys.modules)
    _kept.append(sys.stdin)
    _ready = found
    gc.set_threshold(*found.thresholds)
    made = found.plain = Plan("code", "", [], [])
    made.baseline = found
    made.environment = base_env
    return list(found.plain_names), [directory for directory, _ in found.stamps]


def rehearse_plain(received: memoryview, numbers: memoryview) -> None:
    """Rehearse `become_plain`, and a program's end, in the way of `rehearse`."""
    found = _ready
    modules = dict(sys.modules)
    main, path, interrupt = sys.modules["__main__"], list(sys.path), _signal.getsignal(_signal.SIGINT)
    for _ in range(_REHEARSALS):
        before = sys.argv, sys.orig_argv, become_plain(received, numbers)
        before[2].collections = _warm_end.collections()
        _warm_end.rehearse(before[2])
        gc.disable()
        _signal.signal(_signal.SIGINT, interrupt)
        sys.path[:] = path
        sys.modules["__main__"] = main
    sys.modules.clear()
    sys.modules.update(modules)  # in their order: an end lets go of `__main__`, which came back as the last one
    before[2].collections = _warm_end.collections()
    plan = found.plain
    _kept.append((before, sys.argv, sys.orig_argv, plan.argv, plan.rest, plan.target, plan.main))  # see template._kept


def become_plain(received: memoryview, numbers: memoryview) -> Plan:
    """`plan` and `become` in a child of a template that stands ready, for the order in `received`.

    `numbers` are the context's (see fast_path). Standard input is a pipe or a file where a third stream came,
    else /dev/null.
    """
    found = _ready
    plan = found.plain
    words = str(received[_ORDER_BYTES : numbers[_SIZE] - 1], _ENCODING, "surrogateescape").split("\0")
    del words[0]  # the working directory
    plan.executable = executable = found.plain_names[words[0]]
    if executable != sys.executable:
        sys.executable = sys._base_executable = executable  # type: ignore[attr-defined]
    plan.argv = sys.orig_argv = words
    if words[1] == "-c":
        plan.target = words[2]
        plan.rest = rest = words[3:]
        sys.argv = ["-c", *rest]
    else:
        plan.kind = "file"
        plan.target = words[1]
        plan.rest = words[2:]
        sys.argv = words[1:]
    if numbers[_STREAM_COUNT] == 3:
        given = found.ready[0].pop(_FILE) if _kind(0) == _FILE else found.other_input
        sys.stdin = sys.__stdin__ = given  # type: ignore[assignment, misc]
        found.other_input = None
    if len(sys.modules) != found.module_count:
        _restore_import_state(found)  # init has waited for a child, which makes posix import `resource`
    gc.freeze()  # as in `become`
    plan.main = _fresh_main(found)
    gc.enable()
    return plan


_FILE = -1
"""kind of a descriptor that is a regular file"""
_ORDER_BYTES, _STREAM_COUNT, _SIZE = 32, 14, 16  # as in wire and fast_path, which this file shall not need
_ENCODING = sys.getfilesystemencoding()
_kept: list[object] = []
_ready = Baseline()

_STREAMS = ("stdin", "stdout", "stderr", "__stdin__", "__stdout__", "__stderr__")
SAMPLE = """
def add(a, b):
    return a + b
assert add(1, 2) == 3
print("harena", add(1, 2))
class A:
    def f(self, x=None, *a, **k):
        try:
            return [y for y in range(3) if y] or {x: k} or f"{x}"
        except ValueError as e:
            raise
"""


def _streams_ahead(found: Baseline) -> tuple[dict[int, object], ...]:
    """Streams over /dev/null, over pipes and, to read, over a file, which is what a program gets; a stream remembers
    what it was made over."""
    made: tuple[dict[int, object], ...] = ({}, {}, {})
    kept = [os.dup(number) for number in (0, 1, 2)]
    null = os.open("/dev/null", os.O_RDWR)
    found.null = _kind(null)
    reading, writing = os.pipe()
    try:
        file = os.memfd_create("stdin")
    except OSError:  # refused where no cgroup counts such memory; any file that can be read will do
        file = os.open(os.__file__, os.O_RDONLY)
    try:
        for number in range(3):
            for source in (null, writing) if number else (null, reading, file):
                os.dup2(source, number)
                made[number][_kind(number)] = _stream(number, found, found.unbuffered)
    finally:
        for number, source in enumerate(kept):
            os.dup2(source, number)
        for descriptor in (*kept, null, reading, writing, file):
            os.close(descriptor)
    return made


def _kind(descriptor: int) -> int:
    """0 for a pipe, the number of a character device, -1 for a file, -2 for anything else."""
    try:
        status = os.fstat(descriptor)
    except OSError:
        return -2
    form = status.st_mode & 0o170000
    return 0 if form == 0o010000 else status.st_rdev if form == 0o020000 else _FILE if form == 0o100000 else -2


# -- in init -----------------------------------------------------------------------------------------------------------


def plan(argv: list[str], env: dict[str, str], base_env: dict[str, str], cwd: str) -> Plan | None:
    """How to run this warm, or None where only a real start is right (see warm_plan)."""
    return None if _baseline is None else _warm_plan.plan(_baseline, argv, env, base_env, cwd)


# -- in the child ------------------------------------------------------------------------------------------------------


def become(plan: Plan) -> None:
    """Make this process what the interpreter is right before it runs `plan`. Standard descriptors, environment,
    working directory, session and signal mask are the request's already; no other descriptor is open."""
    found = plan.baseline
    for name, value in found.added.items():
        if os.environ.get(name) != value:
            os.environ[name] = value
    if not found.is_settled:
        _reset_signals()
        for name, hook in found.hooks.items():
            setattr(sys, name, hook)
    _restore_import_state(found)
    sys.argv = [{"code": "-c", "module": "-m"}.get(plan.kind, plan.target), *plan.rest]
    if hasattr(sys, "orig_argv"):
        sys.orig_argv = list(plan.argv)
    if plan.executable != sys.executable:
        sys.executable = plan.executable
        sys._base_executable = plan.executable  # type: ignore[attr-defined]
    gc.freeze()  # what is here now need not be looked at when the program's own objects are collected
    plan.collections = [generation["collections"] for generation in gc.get_stats()]
    plan.main = _fresh_main(found)  # after the line above, or what it holds could not be let go at the end
    for descriptor, name in enumerate(("stdin", "stdout", "stderr")):
        stream = _get_stream(descriptor, found, plan)
        setattr(sys, name, stream)
        setattr(sys, "__" + name + "__", stream)
    _renew_randomness()
    gc.set_threshold(*found.thresholds)
    gc.enable()


def _reset_signals() -> None:
    _signal.set_wakeup_fd(-1)
    default, ignored = _signal.SIG_DFL, _signal.SIG_IGN
    for number in range(1, _signal.NSIG):
        current = _signal.getsignal(number)
        if number == _signal.SIGINT:
            wanted: object = _signal.default_int_handler
        else:
            wanted = ignored if number in (_signal.SIGPIPE, _signal.SIGXFSZ) else default
        if current not in (wanted, None) and number not in (_signal.SIGKILL, _signal.SIGSTOP):
            _signal.signal(number, wanted)


def _restore_import_state(found: Baseline) -> None:
    # Looking at every module would write to a page of each (its name's reference count); what came later stands last.
    later = {}
    for name in reversed(sys.modules):
        if name in found.modules:
            break
        later[name] = sys.modules[name]
    if later:
        found.ours.update(later)
        for name in later:
            del sys.modules[name]
        _detach_from_parents(later)
    if sys.path != found.path:
        sys.path[:] = found.path
    if sys.meta_path != found.meta_path:
        sys.meta_path[:] = found.meta_path  # type: ignore[assignment]
    if sys.path_hooks != found.path_hooks:
        sys.path_hooks[:] = found.path_hooks  # type: ignore[assignment]
    if len(sys.path_importer_cache) != len(found.caches):
        for place in sys.path_importer_cache.keys() - found.caches:
            del sys.path_importer_cache[place]


def _detach_from_parents(modules: Mapping[str, object]) -> None:
    """Importing a.b leaves `b` on a, where a program that did not import it would find it."""
    for name, module in modules.items():
        parent, _, leaf = name.rpartition(".")
        holder = sys.modules.get(parent)
        if holder is not None and holder.__dict__.get(leaf) is module:
            delattr(holder, leaf)


def _fresh_main(found: Baseline) -> dict[str, object]:
    module = type(sys)("__main__")
    names = module.__dict__
    if not found.is_main_usual:
        names.clear()
        for name in _START_MAIN:
            names[name] = None
        names["__name__"] = "__main__"
    names["__loader__"] = found.main_loader
    names["__annotations__"] = {}
    names["__builtins__"] = builtins
    sys.modules["__main__"] = module
    return names


def _get_stream(descriptor: int, found: Baseline, plan: Plan) -> object:
    if found.is_ready and plan.unbuffered == found.unbuffered:
        kind = _kind(descriptor)
        if descriptor == 0 and kind == 0:
            return found.other_input
        if kind == (0 if descriptor else found.null):
            return getattr(sys, ("stdin", "stdout", "stderr")[descriptor])
    if found.ready and plan.unbuffered == found.unbuffered:
        ready = found.ready[descriptor].pop(_kind(descriptor), None)  # nobody else shall keep it open
        if ready is not None:
            return ready
    return _stream(descriptor, found, plan.unbuffered)


def _stream(descriptor: int, found: Baseline, unbuffered: bool) -> object:
    """A standard stream, made as the interpreter makes it; None if the descriptor is closed."""
    writing = descriptor > 0
    try:
        file: Any = open(descriptor, "wb" if writing else "rb", 0 if unbuffered and writing else -1, closefd=False)  # noqa: SIM115
    except OSError:
        return None
    raw = file if unbuffered and writing else file.raw
    raw.name = ("<stdin>", "<stdout>", "<stderr>")[descriptor]
    by_line = not unbuffered and (descriptor == 2 or raw.isatty())
    encoding, errors = found.streams[descriptor]
    stream: Any = io.TextIOWrapper(file, encoding, errors, "\n", by_line, unbuffered)
    stream.mode = "w" if writing else "r"
    return stream


def _renew_randomness() -> None:
    """What is seeded once per process is seeded again; `random` sees to itself after a fork."""
    legacy = sys.modules.get("numpy.random.mtrand")
    if legacy is not None:
        legacy.seed()
    process = sys.modules.get("multiprocessing.process")
    if process is not None:
        process.current_process().authkey = os.urandom(32)
    threading = sys.modules.get("threading")
    if threading is not None:
        main = threading.main_thread()
        if hasattr(main, "_set_native_id"):
            main._set_native_id()


def execute(plan: Plan) -> None:
    """Run it, and end the process as the interpreter would. Does not return: it unwinds to the interpreter's top
    level (so no frame on the way may catch BaseException) and goes on from there."""
    _warm_end.launch(plan)
