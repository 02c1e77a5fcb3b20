"""A candidate that is nobody, for a trusted suite that is run without any. Standard library only.

A suite that fails before it has asked the candidate anything fails for every candidate: then the contract is broken. So
the suite is run once with modules that have every name and do nothing but tell that they were asked.
"""

from __future__ import annotations

import types

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class NobodyAskedError(Exception):
    """There is nobody who could answer."""


class Nobody:
    """In place of `guest_proxy.Candidate`."""

    def __init__(self) -> None:
        self.asked = 0
        self.notes: list[str] = []
        self.doubts: list[str] = []
        self.is_changed = False
        self.is_collected = False

    def ask(self, *question: Any) -> Any:
        """Tell that somebody was asked."""
        self.asked += 1
        raise NobodyAskedError("there is no candidate")


def name_of(nobody: Nobody, name: str) -> Any:
    """Something that a suite may import, derive from, expect to be raised, and use as a decorator's argument."""

    class Anything(type):
        def __init__(cls, name: str, bases: Any, namespace: Any, **_: Any) -> None:
            super().__init__(name, bases, namespace)
            if "__harena_anything__" not in namespace:
                nobody.asked += nobody.is_collected  # a test that derives a class asks what the base says to that

        def __call__(cls, *_: Any, **__: Any) -> Any:
            nobody.ask()

        def __getattr__(cls, wanted: str) -> Any:
            if wanted[:2] == "__" or wanted.startswith(("_pytest", "pytest")):
                raise AttributeError(wanted)
            nobody.asked += 1
            return name_of(nobody, wanted)

        def __iter__(cls) -> Any:
            return nobody.ask()

        def __getattribute__(cls, wanted: str) -> Any:
            if wanted in ("__name__", "__qualname__", "__doc__", "__module__"):
                nobody.asked += 1
            return super().__getattribute__(wanted)

        def __eq__(cls, other: object) -> Any:
            nobody.asked += 1
            return cls is other

        def __hash__(cls) -> int:
            nobody.asked += 1
            return id(cls)

        def __instancecheck__(cls, instance: Any) -> bool:
            nobody.asked += 1
            return False

        def __subclasscheck__(cls, subclass: Any) -> bool:
            nobody.asked += 1
            return super().__subclasscheck__(subclass)

        def __repr__(cls) -> str:
            nobody.asked += 1
            return "anything"

        def __bool__(cls) -> bool:
            nobody.asked += 1
            return True

        __contains__: Any
        __or__: Any
        __contains__ = __getitem__ = __len__ = __add__ = __radd__ = __mul__ = __rmul__ = __mod__ = __iter__
        __lt__ = __gt__ = __or__ = __iter__

    return Anything(name, (Exception,), {"__module__": "solution", "__harena_anything__": True, "__test__": False})


_SOUGHT = frozenset({
    "__all__", "__bases__", "__cached__", "__class_getitem__", "__code__", "__file__",
    "__func__", "__loader__", "__package__", "__path__", "__spec__", "__test__",
    "__unittest_skip__", "__unittest_skip_why__", "__wrapped__", "__dir__", "__getattr__", "__notes__",
    "__text_signature__", "__signature__", "__warningregistry__", "__initializing__",
})  # fmt: skip
"""what Python and the runners look for in any module"""


class NobodysModule(types.ModuleType):
    """One in which every name is something."""

    def __getattr__(self, name: str) -> Any:
        nobody: Nobody | None = self.__dict__.get("__harena__")
        if nobody is None or (name[:2] == "__" and name in _SOUGHT):
            raise AttributeError(name)
        if name[:2] == "__":
            nobody.asked += 1  # as `__version__`: only a real module has it
        nobody.asked += nobody.is_collected  # to import a name is not to ask for anything
        return name_of(nobody, name)
