"""Clocks that a trusted suite reads around what it asks of a candidate that lives elsewhere. Standard library only.

Each question is a message to another process and back, which takes many times what a call does. So what a suite sees
of the time between two looks at a clock says little of the candidate. A test that fails after that is noted as one that
cannot be served; or, for a suite that is run once more, clocks stand while the candidate is asked.
"""

from __future__ import annotations

import datetime
import signal
import sys
import time
import timeit
import types

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_CLOCKS = ("time", "monotonic", "perf_counter", "clock_gettime")
_ALARMS = ("alarm", "setitimer")
_TIMED = "it looks at a clock and asks the candidate, whose answers take longer on the way"
_ALARMED = "it sets an alarm, and the candidate's answers take longer on the way"
_OF_TIMEIT = frozenset({timeit.__file__, "<timeit-src>"})
_NOW = frozenset({"now", "utcnow"})
"""methods of `datetime`, a class that nothing can be put into"""
_SECONDS = {name: getattr(time, name) for name in ("localtime", "gmtime", "ctime", "asctime", "strftime")}
"""functions of `time` that tell the second"""
_line_of: Any = type.__dict__["__mro__"].__get__
_names_of_class: Any = type.__dict__["__dict__"].__get__
_DATES = (datetime, datetime.datetime)


class _InPlace:
    """What is called in the place of a builtin function, and looks like it: in a class it binds to no object."""

    def __init__(self, really: Any, function: Any) -> None:
        self._really = really
        self._function = function
        for name in ("__name__", "__qualname__", "__module__", "__doc__", "__self__", "__text_signature__"):
            setattr(self, name, getattr(really, name, None))

    __class__ = types.BuiltinFunctionType  # type: ignore[assignment]

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        if keywords:
            return self._really(*arguments, **keywords)  # these take none, and say so
        return self._function(*arguments)

    def __repr__(self) -> str:
        return repr(self._really)

    def __reduce__(self) -> str:
        return self._really.__reduce__()  # type: ignore[no-any-return]


class Clocks:
    """The clocks that the trusted files read."""

    def __init__(self, candidate: Any, known: frozenset[str], *, are_stopped: bool) -> None:
        """`known`: paths of the trusted files. `are_stopped`: they stand while the candidate is asked."""
        self._candidate = candidate
        self._known = known
        self._are_stopped = are_stopped
        self._asked: int | None = None
        """questions at the first look of the test under way; None = it has not looked yet"""
        self.is_timed = False
        """a test has looked at a clock before and after it had asked the candidate, or has failed after both"""

    def follow(self) -> None:
        """Put clocks that note who looks in the place of Python's, before a trusted file takes one of these."""
        clocks = {}
        for name in _CLOCKS:
            for each, unit in ((name, 1.0), (f"{name}_ns", 10**9)):
                really = getattr(time, each)
                clocks[really] = clock = self._read(really, unit)
                self._candidate.pythons[clock] = ("time", each)
                setattr(time, each, clock)
        for name in _ALARMS:
            really = getattr(signal, name)
            alarm = self._set(really)
            self._candidate.pythons[alarm] = ("signal", name)
            setattr(signal, name, alarm)
        _follow_timeit(clocks)

    def began(self) -> None:
        """A test begins."""
        self._asked = None

    def failed(self, error: BaseException | None) -> None:
        """A test has failed; note it if it has looked at a clock before it asked the candidate, which may have looked
        at one, too, or if code of its own that the error went through, or that set it up, asks what time it is now."""
        trace = None if error is None else error.__traceback__
        if self._asked is not None and self._candidate.asked > self._asked:
            self._has_timed()
            return
        while trace is not None:
            frame = trace.tb_frame
            if any(self._asks_for_time(code, frame.f_globals) for code in (frame.f_code, _set_up_of(frame))):
                self._has_timed()
                return
            trace = trace.tb_next

    def _asks_for_time(self, code: types.CodeType | None, held: dict[str, Any]) -> bool:
        if code is None or code.co_filename not in self._known:
            return False
        names = code.co_names
        found = [held.get(name) for name in names]
        if not _NOW.isdisjoint(names) and (
            "datetime" in names or any(each is kind for each in found for kind in _DATES)
        ):
            return True
        if not _SECONDS.keys().isdisjoint(names) and any(each is time for each in found):
            return True
        return any(each is function for each in found for function in _SECONDS.values())

    def _read(self, really: Any, unit: float) -> Any:
        def clock(*arguments: Any) -> Any:
            caller = sys._getframe(2).f_code.co_filename
            if caller not in self._known and caller not in _OF_TIMEIT:
                return really(*arguments)
            self._looked()
            now = really(*arguments)
            return now - type(now)(self._candidate.asking_seconds * unit) if self._are_stopped else now

        return _InPlace(really, clock)

    def _set(self, really: Any) -> Any:
        def alarm(*arguments: Any) -> Any:
            if any(arguments[:2][-1:]) and sys._getframe(2).f_code.co_filename in self._known:
                self._candidate.note(_ALARMED, is_doubt=False)
                self._candidate.is_changed = True  # one that goes off in a question leaves nobody to ask
            return really(*arguments)

        return _InPlace(really, alarm)

    def _looked(self) -> None:
        if self._candidate.is_serving:  # the candidate has asked for it
            return
        asked = self._candidate.asked
        if self._asked is None:
            self._asked = asked
        elif asked > self._asked:
            self._asked = asked
            self._has_timed()

    def _has_timed(self) -> None:
        self.is_timed = True
        self._candidate.note(_TIMED, is_doubt=False)

    def exchanged(self) -> dict[Any, Any]:
        """What trusted files shall have in the place of something else: a class `datetime` whose `now` stands, and the
        module with that class."""
        if not self._are_stopped:
            return {}
        candidate, really = self._candidate, datetime.datetime

        def stopped(now: Any) -> Any:
            return now - datetime.timedelta(seconds=candidate.asking_seconds)

        class Kind(type):
            def __instancecheck__(cls, value: object) -> bool:
                return isinstance(value, really)

        class Stopped(datetime.datetime, metaclass=Kind):
            def __new__(cls, *positional: Any, **keywords: Any) -> Any:
                return really(*positional, **keywords)

            @classmethod
            def now(cls, tz: Any = None) -> Any:
                return stopped(really.now(tz))

            @classmethod
            def utcnow(cls) -> Any:
                return stopped(really.utcnow())

        Stopped.__name__ = Stopped.__qualname__ = "datetime"
        module = types.ModuleType("datetime")
        vars(module).update({**vars(datetime), "datetime": Stopped})
        return {really: Stopped, datetime: module}


def _set_up_of(frame: types.FrameType) -> types.CodeType | None:
    """What sets up the test of unittest's whose method runs in a frame."""
    code = frame.f_code
    test = frame.f_locals.get(code.co_varnames[0]) if code.co_argcount else None
    found = [_names_of_class(kind).get("setUp") for kind in _line_of(type(test), type)]
    return next((each.__code__ for each in found if type(each) is types.FunctionType), None)


def _follow_timeit(clocks: dict[Any, Any]) -> None:
    """It has its clock as a default of its functions'."""
    really = timeit.default_timer
    clock = clocks.get(really, really)
    functions: list[Any] = [timeit.Timer.__init__, timeit.timeit, timeit.repeat]
    for function in functions:
        function.__defaults__ = tuple(clock if each is really else each for each in function.__defaults__)
    timeit.default_timer = clock
