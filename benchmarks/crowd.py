"""Holding many sandboxes at once, through the public SDK."""

from __future__ import annotations

from harena import Sandbox

BATCH = 32
"""started at one time while the crowd grows"""


def grow(crowd: list[Sandbox], count: int, *, answering: bool = True) -> None:
    """Create sandboxes until `crowd` holds `count`; each runs and, if `answering`, has answered an exec.

    Raises RuntimeError if one does not answer.
    """
    while len(crowd) < count:
        batch = [Sandbox.run() for _ in range(min(BATCH, count - len(crowd)))]
        crowd.extend(batch)
        if not answering:
            for sandbox in batch:
                sandbox.wait()
            continue
        for answer in [sandbox.exec(["true"]) for sandbox in batch]:
            if answer.result().returncode != 0:
                raise RuntimeError(f"a sandbox did not answer `true` when {len(crowd)} were held: {answer.result()}")


def end(crowd: list[Sandbox]) -> None:
    """Stop them all, `BATCH` at a time."""
    while crowd:
        batch = [crowd.pop() for _ in range(min(BATCH, len(crowd)))]
        for stopping in [sandbox.stop() for sandbox in batch]:
            stopping.result()
