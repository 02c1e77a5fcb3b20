"""Drivers: modules that run in a process of their own, take an order as JSON, and print what they found as JSON."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeVar

from benchmarks.machine import OwnTree

_ROOT = Path(__file__).parents[1]


@dataclass(frozen=True, slots=True, kw_only=True)
class BaseOrder:
    """What a driver is told, as the only argument of its command line."""

    def as_json(self) -> str:
        """For the command line."""
        return json.dumps(asdict(self))


T = TypeVar("T", bound=BaseOrder)


def driven(driver: str, order: BaseOrder, what: str, *, environment: Mapping[str, str] | None = None) -> Any:
    """What the driver of this name has found. Raises RuntimeError, which names `what` failed."""
    done = subprocess.run(
        [sys.executable, "-m", f"benchmarks.{driver}", order.as_json()],
        cwd=_ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise RuntimeError(f"{what} failed ({done.returncode}):\n{done.stderr}")
    return json.loads(done.stdout)


def drive_once(kind: type[T], drive: Callable[[T, OwnTree], Coroutine[Any, Any, dict[str, Any]]]) -> int:
    """A driver's `main`: one order as the only argument, its figures on standard output."""
    order = kind(**json.loads(sys.argv[1]))
    with OwnTree() as tree:
        figures = asyncio.run(drive(order, tree))
    print(json.dumps(figures))
    return 0
