"""What a trusted suite does beside calling the candidate, and what a candidate elsewhere would not notice. Standard
library only.

A suite that writes a file which the candidate shall read, that sets a variable of the environment, or that replaces
`time.sleep`, cannot be served by a candidate in another sandbox. A test that fails after such a thing says nothing.
"""

from __future__ import annotations

import os
import sys
import types

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_EVENTS = frozenset({
    "os.putenv", "os.unsetenv", "os.chdir", "os.mkdir", "os.remove", "os.rename", "os.rmdir", "os.link", "os.symlink",
    "os.truncate", "sqlite3.connect", "tempfile.mkstemp", "tempfile.mkdtemp", "subprocess.Popen", "socket.bind",
    "socket.connect", "os.system", "os.fork",
})  # fmt: skip
_CODE = (".py", ".pyc", ".so", ".pth", ".toml", ".cfg", ".ini")
_SERVED = frozenset({("builtins", "input"), ("sys", "stdin"), ("sys", "stdout")})


def watch(candidate: Any, trusted: list[str]) -> None:
    """From here on, note what this process does to the world that it does not share with the candidate."""
    known = frozenset(trusted)

    def is_of_suite() -> bool:
        """Trusted files do it, by way of the standard library: not the runner for its own ends."""
        frame = sys._getframe(2)
        while frame is not None:
            name = frame.f_code.co_filename
            if name in known:
                return True
            if "/_pytest/" in name or "/unittest/" in name or name.startswith("<harena"):
                return False
            frame = frame.f_back  # type: ignore[assignment]
        return False

    def heard(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open":
            path = arguments[0]
            if isinstance(path, bytes):
                path = os.fsdecode(path)
            if (
                not isinstance(path, str)
                or path.endswith(_CODE)
                or path.startswith(("/dev/", "/proc/", sys.prefix, sys.base_prefix))
            ):
                return
            if os.path.realpath(path) not in known and is_of_suite():
                candidate.note(f"it uses the file {os.path.basename(path)}, which is not where the candidate is")
        elif event in _EVENTS and is_of_suite():
            candidate.note(f"it uses {event}, of which the candidate notices nothing")

    sys.addaudithook(heard)
    _watch_mocks(candidate)
    _watch_monkeypatches(candidate)


def _watch_mocks(candidate: Any) -> None:
    import unittest.mock

    patches: Any = unittest.mock._patch
    enter, leave = patches.__enter__, patches.__exit__

    def entered(self: Any) -> Any:
        found = enter(self)
        what = _replaced(self.target, self.attribute)
        if what:
            candidate.replaced.append(what)
            self._harena_replaced = what
        return found

    def left(self: Any, *error: Any) -> Any:
        what = self.__dict__.pop("_harena_replaced", None)
        if what in candidate.replaced:
            candidate.replaced.remove(what)
        return leave(self, *error)

    patches.__enter__, patches.__exit__ = entered, left


def _watch_monkeypatches(candidate: Any) -> None:
    module = sys.modules.get("_pytest.monkeypatch")
    if module is None:
        return
    patches: Any = module.MonkeyPatch
    set_attribute, undo = patches.setattr, patches.undo

    def replaced(self: Any, target: Any, name: Any, *more: Any, **keywords: Any) -> None:
        set_attribute(self, target, name, *more, **keywords)
        what = target if isinstance(target, str) else _replaced(target, name)
        if what and tuple(what.rsplit(".", 1)) not in _SERVED:
            candidate.replaced.append(what)

    def undone(self: Any) -> None:
        candidate.replaced.clear()
        undo(self)

    patches.setattr, patches.undo = replaced, undone


def _replaced(target: Any, name: str) -> str:
    """What is replaced, if it is in a module or a class that the candidate may have, too."""
    owner = target.__name__ if isinstance(target, (types.ModuleType, type)) else ""
    if (
        not owner
        or (owner, name) in _SERVED
        or "__harena__" in vars(target)
        or hasattr(type(target), "_harena_candidate")
    ):
        return ""
    return f"{owner}.{name}"
