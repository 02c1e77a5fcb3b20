"""The bottom of a warm program: run it as the interpreter's top level would, and end as the interpreter does.

A program must find nothing below itself. So the forked child raises out of every frame of ours; the interpreter, at
its own top level by then, reports that to sys.excepthook, which is our `_top_level`, called from C with no frame below
it. That one frame is hidden (see warm_frames) and taken out of the recursion budget.

Leaving is what Py_FinalizeEx does as far as a program can see it (threads, atexit, flushing, what the program's own
modules held), and then `os._exit`: taking down the rest of the interpreter costs ten times as much as all of this.
"""
# ruff: noqa: S102, S110, BLE001
# (exec is the purpose; what a program raises is data here, of whatever class; contextlib is not loaded in a start)

from __future__ import annotations

import _signal  # type: ignore[import-not-found]
import atexit
import gc
import os
import sys

from harena.runtime.guest import warm_frames, warm_process, warm_source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType, TracebackType
    from typing import Any, NoReturn

    from harena.runtime.guest.warm_state import Plan

_VERSION = sys.version_info[:2]  # a name of its own: newer checkers take what is below 3.11 for dead code
_display: Any = sys.__excepthook__
_display_unraisable: Any = sys.__unraisablehook__
_LONG = range(-(1 << 63), 1 << 63)  # a C long


class _Leave(BaseException):
    """Unwinds a warm child to the interpreter's top level."""


class _Program:
    """The one program that this process becomes."""

    __slots__ = ("code", "failures", "plan")

    plan: Plan
    code: CodeType | None
    failures: list[BaseException]


_program = _Program()
_program.failures = []


def launch(plan: Plan) -> NoReturn:
    """Compile the program, then go to the interpreter's top level, from where it runs."""
    _program.plan = plan
    _program.code = warm_source.load(plan)  # from here on nothing else is started in its place
    if plan.baseline.process:
        warm_process.make(plan.baseline.process)
    sys.excepthook = _top_level
    raise _Leave


# -- the top level -----------------------------------------------------------------------------------------------------


def _top_level(_type: object, leave: BaseException, _trace: object) -> None:
    """sys.excepthook of a warm child, for the one exception that is ours."""
    leave.__traceback__ = None
    sys.excepthook = _program.plan.baseline.hooks["excepthook"]  # type: ignore[assignment]
    _forget_last_error()
    code, plan = _program.code, _program.plan
    try:
        if code is None:
            import runpy

            _budget.enter(_budget.call_cost)
            runpy._run_module_as_main(plan.target, True)  # type: ignore[attr-defined]
        else:
            main = plan.main
            del plan
            _budget.enter(_budget.exec_cost)
            exec(code, main)
    except BaseException as error:  # a program may end with anything, which its end tells as an interpreter's
        _program.failures.append(error)
    code = main = None  # type: ignore[assignment]
    if _program.plan.kind == "file":
        _flush_quietly()
    _end()


_budget = warm_frames.RecursionBudget()
_flush_c_streams: Any = None
_unraisable_type: Any = None
_NAMES = globals()  # a hidden function cannot ask for them


def prepare(*, hides_frames: bool) -> None:
    """Called once in the template."""
    global _flush_c_streams, _unraisable_type
    if hides_frames:
        _hide_frames()
    _unraisable_type = _find_unraisable_type()
    try:
        import ctypes

        _flush_c_streams = ctypes.pythonapi.fflush
    except (ImportError, AttributeError):
        pass


def _hide_frames() -> None:
    for function in (
        _top_level,
        _end,
        _report,
        _exit_status,
        _call_hook,
        _finish_threads,
        _flush,
        _flush_quietly,
        _drop_program,
        _unraisable,
    ):
        warm_frames.hide(function)
    _budget.find()


def rehearse(plan: Plan) -> None:
    """Compile and run `plan`, and do what is done at its end but for ending; see `warm.rehearse`."""
    _program.plan = plan
    code = warm_source.load(plan)
    exec(code, plan.main)  # type: ignore[arg-type]
    _flush_quietly()
    _finish_threads()
    _flush()
    _drop_program()


class _Fails:
    def __del__(self) -> None:
        raise ValueError


def _find_unraisable_type() -> Any:
    """The class of what sys.unraisablehook gets; it has no public name."""
    seen: list[object] = []
    held = sys.unraisablehook
    sys.unraisablehook = lambda arguments: seen.append(type(arguments))
    _Fails()
    sys.unraisablehook = held
    return seen[0]


# -- ending ------------------------------------------------------------------------------------------------------------


def _end() -> NoReturn:
    """What Py_RunMain does once the program has run."""
    status, interrupted, exits = 0, False, False
    if _program.failures:
        exits = isinstance(_program.failures[0], SystemExit)
        status, interrupted = _report()
    if _program.plan.kind == "file" and not exits:
        for name in ("__file__", "__cached__"):  # so it is: atexit callbacks and threads no longer find them
            _program.plan.main.pop(name, None)
    _finish_threads()
    callbacks: Any = atexit if _VERSION >= (3, 10) else sys.modules.get("atexit", atexit)
    try:
        callbacks._run_exitfuncs()
    except BaseException:  # a program's callback may raise anything
        pass  # it has been printed
    if not _flush():
        status = 120
    _drop_program()
    if _flush_c_streams is not None:
        _flush_c_streams(None)
    if interrupted:
        _signal.signal(_signal.SIGINT, _signal.SIG_DFL)
        os.kill(os.getpid(), _signal.SIGINT)
    os._exit(status)


def _report() -> tuple[int, bool]:
    """Report what ended the program. Gives the exit status, and whether to die by SIGINT in the end."""
    error = _program.failures.pop()
    if isinstance(error, SystemExit):
        return _exit_status(error), False
    trace = error.__traceback__
    if trace is not None and trace.tb_frame.f_code is _top_level.__code__:
        trace = trace.tb_next
    error.__traceback__ = trace
    if _VERSION >= (3, 12):
        setattr(sys, "last_exc", error)  # noqa: B010 (not every version has it)
    sys.last_type, sys.last_value, sys.last_traceback = type(error), error, trace
    status = _call_hook(error, trace)
    return status, type(error) is KeyboardInterrupt


def _call_hook(error: BaseException, trace: TracebackType | None) -> int:
    try:
        hook = sys.excepthook
    except AttributeError:
        _write_error("sys.excepthook is missing\n")
        _display(type(error), error, trace)
        return 1
    try:
        hook(type(error), error, trace)
    except BaseException as caught:  # the hook is the program's
        failure = caught
    else:
        return 1
    if isinstance(failure, SystemExit):
        return _exit_status(failure)
    if failure.__traceback__ is not None and failure.__traceback__.tb_frame.f_code is _call_hook.__code__:
        failure.__traceback__ = failure.__traceback__.tb_next
    _write_error("Error in sys.excepthook:\n")
    _display(type(failure), failure, failure.__traceback__)
    _write_error("\nOriginal exception was:\n")
    _display(type(error), error, trace)
    return 1


def _exit_status(error: SystemExit) -> int:
    value: Any = error
    try:
        value = error.code
    except BaseException:  # the value is the program's, and its attributes may raise anything
        pass  # then the exception itself is printed
    if value is None:
        return 0
    if issubclass(type(value), int):
        number = int.__index__(value)
        return number & 0xFF if number in _LONG else 0xFF
    try:
        if getattr(sys, "stderr", None) is None:
            os.write(2, str(value).encode(errors="backslashreplace"))
        else:
            sys.stderr.write(str(value))
    except BaseException:  # the stream and the value are the program's
        pass  # as the interpreter does
    _write_error("\n")
    return 1


def _write_error(text: str) -> None:
    try:
        sys.stderr.write(text)
    except BaseException:  # the stream may be the program's
        os.write(2, text.encode())


def _finish_threads() -> None:
    threading: Any = sys.modules.get("threading")
    if threading is None:
        return
    try:
        threading._shutdown()
    except BaseException as caught:  # a program's thread or its own `_shutdown` may raise anything
        error = caught
    else:
        return
    if _VERSION >= (3, 13):
        _unraisable(error, None, "Exception ignored on threading shutdown %r" % threading)
    else:
        _unraisable(error, threading, None)


def _unraisable(error: BaseException, where: object, message: str | None) -> None:
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_globals is _NAMES:
        trace = trace.tb_next
    arguments = _unraisable_type((type(error), error, trace, message, where))
    try:
        sys.unraisablehook(arguments)
    except BaseException:  # the hook is the program's
        _display_unraisable(arguments)


def _flush() -> bool:
    """Flush standard output and error. False if one of them failed."""
    flushed = True
    for name in ("stdout", "stderr"):
        stream: Any = getattr(sys, name, None)
        if stream is None:
            continue
        try:
            closed = bool(stream.closed)
        except BaseException:  # the stream may be the program's: what cannot say that it is closed is open
            closed = False
        if closed:
            continue
        try:
            stream.flush()
            continue
        except BaseException as caught:  # the stream may be the program's
            error = caught
        flushed = False
        if name == "stdout" and _VERSION >= (3, 13):
            _unraisable(error, None, "Exception ignored on flushing sys.stdout")
        elif name == "stdout":
            _unraisable(error, stream, None)
    return flushed


def _flush_quietly() -> None:
    """What the interpreter does when the last line of a file has run, before it reports anything."""
    for name in ("stderr", "stdout"):
        try:
            getattr(sys, name).flush()
        except BaseException:  # the stream may be the program's
            pass  # as the interpreter does


def _was_collected() -> bool:
    """Whether a real start would by now have looked through its modules for garbage.

    This decides in which order the collector meets the program's objects, and so in which order `__del__` runs at the
    end: where it has, as they were made; where not, as they are reached from the module, as they are here when the
    module hangs on nothing but a new list. Ten collections of the youngest objects bring about one of the next kind.
    """
    before, then, now = _program.plan.baseline.collections, _program.plan.collections, collections()
    return before[1] > 0 or now[1] + now[2] > then[1] + then[2] or before[0] + now[0] - then[0] > 10


def collections() -> list[int]:
    """How many collections there have been of each generation."""
    return [generation["collections"] for generation in gc.get_stats()]


def _drop_program() -> None:
    """Let go of all that only the program's own modules hold: files are flushed, `__del__` runs. What is left of the
    interpreter would tell nobody anything by going too."""
    sys.settrace(None)
    sys.setprofile(None)
    found = _program.plan.baseline
    modules = [sys.modules.get("__main__")]
    _program.plan.main = {}
    added = []
    for name in reversed(sys.modules):  # as in warm._restore_import_state
        if name in found.modules:
            break
        added.append(name)
    for name in reversed(added):
        origin = getattr(sys.modules[name], "__file__", None)
        if isinstance(origin, str) and not origin.startswith(found.library_places):
            modules.append(sys.modules.pop(name))
    if not _was_collected():
        sys.modules.pop("__main__", None)  # see _was_collected
        modules = [*modules]
    is_young = not gc.callbacks and collections() == _program.plan.collections
    if gc.isenabled():
        gc.collect(0 if is_young else 2)  # a full collection also empties the lists of free objects, page by page
    _forget_last_error()
    for name in ("stdin", "stdout", "stderr"):
        try:
            setattr(sys, name, getattr(sys, "__" + name + "__", None))
        except BaseException:  # what it replaces may be the program's, whose end raises anything
            pass  # what was there before refused to go
    for name, hook in found.hooks.items():
        setattr(sys, name, hook)
    for number in range(1, _signal.NSIG):
        if callable(_signal.getsignal(number)):
            _signal.signal(number, _signal.SIG_DFL)
    modules.clear()
    sys.modules.pop("__main__", None)
    gc.callbacks.clear()
    gc.collect(1 if is_young else 2)
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except BaseException:  # the stream may be the program's
            pass  # so late the interpreter does not say so either


def _forget_last_error() -> None:
    for name in ("last_type", "last_value", "last_traceback", "last_exc"):
        if name in sys.__dict__:
            delattr(sys, name)
