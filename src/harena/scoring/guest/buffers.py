"""Memory that can be written to through a view, of which two processes each have a part. Standard library only.

`readinto(view)` fills what it is given. So a writable view is shared as a list is (see `guest_object_graph`): the other
side gets a view of memory of its own, and each side writes into its own what the other one has written, before it goes
on.
"""

from __future__ import annotations

import contextlib
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def is_of_all(view: memoryview) -> bool:
    """A view by which all of a bytearray can be written to: that is what both sides share."""
    return not view.readonly and type(view.obj) is bytearray and view.contiguous and view.nbytes == len(view.obj)


def can_be_filled(view: memoryview) -> bool:
    """A view by which memory can be written to, and that a view of other memory can stand for."""
    try:
        if view.readonly or is_of_all(view) or not (view.ndim == 1 or (view.c_contiguous and view.nbytes)):
            return False
        _shaped(bytearray(view.itemsize), view.format, None)
    except (ValueError, TypeError, NotImplementedError):  # it is released, or of items that no view is made of
        return False
    return True


def _shaped(memory: Any, form: Any, shape: Any) -> memoryview:
    view = memoryview(memory)
    if shape is not None and len(shape) != 1:
        view = view.cast(form, shape)
    elif form != "B":
        view = view.cast(form)
    return view


class Filled:
    """What is known of a view that both sides share."""

    def __init__(self, view: memoryview, *, is_made: bool = False) -> None:
        """`is_made`: it stands for one of the other side's."""
        self.form, self.shape = view.format, tuple(view.shape or ())
        self.size = view.nbytes
        self.owner: Any = None if is_made else view.obj
        """whose memory it is; None also where nobody says so, as io does not of what it has a stream fill"""
        self.memory: Any = view.obj if is_made else None
        """what is behind it here where it stands for another one"""
        self._told = b""

    def is_held(self) -> bool:
        """A view of its memory is left, of which only a made one is asked."""
        return sys.getrefcount(self.memory) > _ALONE

    def again(self) -> memoryview:
        """Another view of its memory."""
        return _shaped(self.memory, self.form, self.shape)

    def state(self, view: memoryview) -> list[Any]:
        """What each side tells of it. One that is released is as it was before."""
        if self.memory is not None:
            self._told = bytes(self.memory)
        else:
            with contextlib.suppress(ValueError):
                self._told = view.tobytes()
        return [self.form, list(self.shape), self._told]

    def fill(self, view: Any, content: Any) -> None:
        """Write into it what the other side has written. Raises ValueError for what is not of its size."""
        if type(content) is not bytes or len(content) != self.size:
            raise ValueError("no content of this buffer")
        if self.memory is not None:
            memoryview(self.memory)[:] = content
        elif not _is_released(view):
            if len(self.shape) == 1:
                view[:] = _shaped(content, self.form, None)
            else:
                view.cast("B")[:] = content


def _is_released(view: memoryview) -> bool:
    try:
        return view.nbytes < 0
    except ValueError:
        return True


def view_of(state: Any) -> memoryview:
    """A view that stands for one of the other side's of this state."""
    form, shape, content = state
    return _shaped(bytearray(content), form, shape)


class _Probe:
    def __init__(self) -> None:
        self.memory: Any = bytearray()


_ALONE = (lambda probe: sys.getrefcount(probe.memory))(_Probe())
"""the reference count of memory that only an attribute holds"""
