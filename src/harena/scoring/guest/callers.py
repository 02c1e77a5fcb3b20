"""Whether a candidate that lives apart from the tests looks at who has called it. Standard library only, Python 3.8
and up.

There, harena stands above the frames of the candidate's own, where the tests would: what a program makes of the
name, line or variables of its caller, of the depth of the stack, or of the calls that a trace or profile tells of, is
not what it is beside the tests. The interpreter tells of it: a frame is got by a function or an attribute that is
audited, and so is the code of one; a warning that is given in a caller's name leaves a register in the names of that
module. A library that finds a frame of the candidate's own does not look at its caller.
"""

from __future__ import annotations

import os
import sys
import threading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

LOOKED = "callers"
"""the word by which the tests' side is told"""
_OF_THREADS = frozenset({"sys._current_frames", "sys._current_exceptions"})
_HOLD_FRAMES = frozenset({"tb_frame", "gi_frame", "cr_frame", "ag_frame"})
_GUEST = "<harena."
_REGISTER = "__warningregistry__"
_TOOLS = 6
"""numbers of tools that may watch a program"""
_getframe, _gettrace, _getprofile, _thread = sys._getframe, sys.gettrace, sys.getprofile, threading.get_ident
_get_tool = getattr(getattr(sys, "monitoring", None), "get_tool", None)


class Callers:
    """The looks of this process's program at its callers."""

    def __init__(self, caller: dict[str, Any]) -> None:
        """It hears of them from now on. `caller`: the names of the module that calls the program."""
        self._has_looked = False
        self._inside: set[int] = set()
        self._own = [caller, vars(sys.modules["__main__"])]
        self._of_libraries = (os.path.dirname(os.__file__) + "/", os.path.join(sys.prefix, "lib") + "/", "<frozen ")
        for names in self._own:
            names.pop(_REGISTER, None)
        sys.addaudithook(self._heard)

    def is_watched(self) -> None:
        """The program leaves its own frames: it calls the tests, or has been called. A trace or profile that it has set
        tells it of harena's."""
        watches = _gettrace() is not None or _getprofile() is not None
        if watches or (_get_tool is not None and any(_get_tool(each) for each in range(_TOOLS))):
            self._has_looked = True

    def taken(self) -> str:
        """`LOOKED` if there has been a look since it was asked last."""
        for names in self._own:
            if names.pop(_REGISTER, None) is not None:
                self._has_looked = True
        has_looked, self._has_looked = self._has_looked, False
        return LOOKED if has_looked else ""

    def _heard(self, event: str, arguments: Any) -> None:
        if event == "object.__getattr__":
            if arguments[1] != "f_code" and arguments[1] not in _HOLD_FRAMES:
                return
        elif event != "sys._getframe" and event not in _OF_THREADS:
            return
        thread, inside = _thread(), self._inside
        if self._has_looked or thread in inside:
            return
        inside.add(thread)
        try:
            self._has_looked = self._looks_up(_getframe(1), event, arguments)
        finally:
            inside.discard(thread)

    def _looks_up(self, asker: Any, event: str, arguments: Any) -> bool:
        if self._is_own(asker):
            return False
        if event == "object.__getattr__" and arguments[1] == "f_code":
            return self._is_own(arguments[0])
        if not str(asker.f_code.co_filename).startswith(self._of_libraries):
            return True  # whatever it does with a frame: there is no event for the way to its caller
        return event == "sys._getframe" and bool(arguments) and self._is_own(arguments[0])

    def _is_own(self, frame: Any) -> bool:
        held = frame.f_globals
        return any(held is names for names in self._own) or str(frame.f_code.co_filename).startswith(_GUEST)
