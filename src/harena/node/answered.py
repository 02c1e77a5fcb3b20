"""Operations of a workspace that a part of the node, or a store, answers as they are asked."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Coroutine
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar, cast

if TYPE_CHECKING:
    from harena.node.parts import NodeParts

P = ParamSpec("P")
R = TypeVar("R")
S = TypeVar("S")
T = TypeVar("T")


class InWorkspace:
    """The parts of a node, as one workspace has them."""

    workspace: str
    _parts: NodeParts


def answered(
    port: Callable[Concatenate[Any, P], R],
    by: Callable[[NodeParts], Callable[Concatenate[str, P], R]],
    *,
    frees: bool = False,
) -> Callable[Concatenate[Any, P], R]:
    """The method of a workspace that a method of a part answers, which takes the workspace and then what the port's
    takes. `frees`: the workspace stores less afterwards, and is counted anew."""

    async def awaited(self: InWorkspace, /, *args: Any, **kwargs: Any) -> Any:
        found = await cast("Any", by(self._parts)(self.workspace, *args, **kwargs))
        if frees:
            self._parts.deleted(self.workspace)
        return found

    def begun(self: InWorkspace, /, *args: P.args, **kwargs: P.kwargs) -> R:
        return by(self._parts)(self.workspace, *args, **kwargs)

    method = cast("Callable[Concatenate[Any, P], R]", awaited if inspect.iscoroutinefunction(port) else begun)
    method.__name__, method.__doc__ = port.__name__, port.__doc__
    return method


def stored(
    port: Callable[Concatenate[Any, P], Coroutine[Any, Any, T]],
    opened: Callable[[NodeParts], Awaitable[S]],
    by: Callable[[S], Callable[Concatenate[str, P], Coroutine[Any, Any, T]]],
    *,
    frees: bool = False,
) -> Callable[Concatenate[Any, P], Coroutine[Any, Any, T]]:
    """The method of a workspace that a method of a store answers, as `answered` has it of a part."""

    async def awaited(self: InWorkspace, /, *args: P.args, **kwargs: P.kwargs) -> T:
        found = await by(await opened(self._parts))(self.workspace, *args, **kwargs)
        if frees:
            self._parts.deleted(self.workspace)
        return found

    awaited.__name__, awaited.__doc__ = port.__name__, port.__doc__
    return awaited
