"""One operation of the API, declared once: the server's route, its part of the document and the client's request are
made from it."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from functools import cache
from types import SimpleNamespace
from typing import (
    Annotated,
    Any,
    Concatenate,
    Generic,
    Literal,
    ParamSpec,
    TypeVar,
    get_args,
    get_origin,
    get_type_hints,
)

from harena.core.parameters import Bounds

P = ParamSpec("P")
R = TypeVar("R", covariant=True)

Method = Literal["GET", "POST", "PUT", "DELETE"]
Scope = Literal["read", "write", "admin", "publish"]
SCOPES: tuple[Scope, Scope, Scope, Scope] = ("read", "write", "admin", "publish")
READ, WRITE, ADMIN, PUBLISH = SCOPES
"""scopes of keys: `write` includes `read`, `admin` both; `publish`, which reaches other workspaces of the organisation,
is in none of them and includes none"""
INCLUDED_IN: Mapping[Scope, frozenset[Scope]] = {
    READ: frozenset({READ, WRITE, ADMIN}),
    WRITE: frozenset({WRITE, ADMIN}),
    ADMIN: frozenset({ADMIN}),
    PUBLISH: frozenset({PUBLISH}),
}
"""scope that an operation asks for -> those of a key that allow it"""
NOT_IN_THE_ADDRESS = frozenset({"self", "request", "tree", "key"})
"""parameters of ports that travel as the body and as the idempotency key"""


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of an operation's address."""

    name: str
    kind: Any
    """its type"""
    bounds: Bounds
    default: Any
    """`inspect.Parameter.empty` = it must be given"""
    in_path: bool
    """else it is in the query, or a field of the body"""

    @property
    def required(self) -> bool:
        """It has no default."""
        return self.default is inspect.Parameter.empty


@dataclass(frozen=True, eq=False)
class Operation(Generic[P, R]):
    """One operation. Those with a `port` are methods of a port: its signature says what the address carries."""

    noun: str
    name: str
    """NOUN_NAME is its id in the document"""
    method: Method
    path: str
    scope: Scope | None
    """scope that the caller's key must have; None = no key is needed"""
    port: Callable[Concatenate[Any, P], R] | None = None
    """the port's method; None = only the server has it"""
    answer: type | str | None = None
    """record that is answered, name of its schema in the document, or media type of what is no JSON; None = nothing"""
    _: KW_ONLY
    body: str | None = None
    """name of the body's schema in the document, or media type of a body that is not JSON; None = there is none"""
    fixed: Mapping[str, Any] = field(default_factory=dict)
    """arguments of the port's method that do not travel: the path says them"""
    creates: bool = False
    """it is answered with 201, and takes an idempotency key"""
    starts_work: bool = False
    """a server that is about to stop refuses it"""
    waits: Callable[[Any, str], Awaitable[Any]] | None = None
    """returns at the end of the thing of this name, for a port: with `wait_seconds` the answer comes then"""
    frees: bool = False
    """the workspace stores less afterwards, and is counted anew"""
    told: str | None = None
    """what it does, for the document; None = the docstring of the port's method, before what it raises"""
    errors: frozenset[int] = frozenset()
    """HTTP statuses of its problems, beside those that its address, its body and its scope bring"""

    @property
    def id(self) -> str:
        """Its id in the document."""
        return f"{self.noun}_{self.name}".replace(" ", "_")

    @property
    def description(self) -> str:
        """What the document says that it does."""
        return self.told or inspect.cleandoc((self.port and self.port.__doc__) or "").partition("\n\nRaises")[0]

    @property
    def status(self) -> int:
        """HTTP status of its answer."""
        return 201 if self.creates else 204 if self.answer is None else 200

    @property
    def media_type(self) -> str:
        """Kind of the answer's content."""
        return self.answer if isinstance(self.answer, str) and "/" in self.answer else "application/json"

    @property
    def has_key(self) -> bool:
        """The port's method keeps the creation with its idempotency key."""
        return self.port is not None and "key" in inspect.signature(self.port).parameters

    @property
    def has_fields(self) -> bool:
        """The fields of its JSON body are parameters of the port's method, and not one that is named `request`."""
        if self.port is None or self.body is None or "/" in self.body:
            return False
        return "request" not in inspect.signature(self.port).parameters

    def parameters(self) -> Sequence[Parameter]:
        """The parameters of its address, in the order of the port's signature."""
        return [one for one in self._travelling() if one.in_path or not self.has_fields]

    def fields(self) -> Sequence[Parameter]:
        """The fields of its JSON body, in that order, where they are parameters of the port's method."""
        return [one for one in self._travelling() if self.has_fields and not one.in_path]

    def _travelling(self) -> Sequence[Parameter]:
        return () if self.port is None else _parameters(self)

    def arguments(self, *args: P.args, **kwargs: P.kwargs) -> Mapping[str, Any]:
        """Arguments of the port's method by their names, with its defaults. Raises TypeError."""
        assert self.port is not None
        bound = inspect.signature(self.port).bind(None, *args, **kwargs)
        bound.apply_defaults()
        return {name: value for name, value in bound.arguments.items() if name != "self"}

    def of(self, port: Any, given: Mapping[str, Any]) -> R:
        """What this port gives for these arguments."""
        assert self.port is not None
        made: R = getattr(port, self.port.__name__)(**self.fixed, **given)
        return made


@cache
def _parameters(operation: Operation[Any, Any]) -> tuple[Parameter, ...]:
    assert operation.port is not None
    known = inspect.signature(operation.port).parameters
    left_out = NOT_IN_THE_ADDRESS | operation.fixed.keys()
    written = {name: one.annotation for name, one in known.items() if name not in left_out}
    # the types of answers are loaded by those who need them: a port's signature alone does not
    hints = get_type_hints(
        SimpleNamespace(__annotations__=written),
        getattr(operation.port, "__globals__", None),
        include_extras=True,
    )
    return tuple(
        Parameter(name, *_told_apart(hints[name]), known[name].default, f"{{{name}}}" in operation.path)
        for name in written
    )


def _told_apart(hint: Any) -> tuple[Any, Bounds]:
    if get_origin(hint) is Annotated:
        kind, *more = get_args(hint)
        return kind, next((entry for entry in more if isinstance(entry, Bounds)), Bounds())
    return hint, Bounds()
