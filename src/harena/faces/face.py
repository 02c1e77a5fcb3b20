"""What a face is: the routes of another wire, the header that carries its key, and who answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from harena.core.operations.operation import Operation
from harena.core.ports import WholeNode

AnyOperation = Operation[Any, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Face:
    """One wire."""

    name: str
    prefix: str
    """every route's path begins with it; no route of harena's own does"""
    key_header: str
    """header in which its clients send the API key, in lower case"""
    operations: Sequence[AnyOperation]
    """its routes; the methods are those of what `port` makes"""
    port: Callable[[WholeNode, str], Any]
    """makes what answers, for (the node, a workspace)"""
    requests: Mapping[AnyOperation, Callable[[Mapping[str, Any]], Mapping[str, Any]]] = field(default_factory=dict)
    """what checks the JSON body of an operation whose port takes a `request`, and gives what the port is asked with"""
