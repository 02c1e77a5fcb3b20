"""Steps inside a life, as the runtime reports them: from timestamps to milliseconds per step. Pure.

A runtime that wants its inside shown writes one JSON object per line to the file named by the environment variable
`HARENA_LIFE_LOG`: `{"life": ID, "step": NAME, "at_ns": N}`, where N is CLOCK_MONOTONIC in nanoseconds when that step
had ended. Lines of different lives and processes may come in any order; a life's first line starts its clock.
"""

from __future__ import annotations

import itertools
import json
from collections import defaultdict
from collections.abc import Iterable

VARIABLE = "HARENA_LIFE_LOG"


def durations(lines: Iterable[str]) -> dict[str, list[float]]:
    """Step -> its seconds in each life, steps in the order of the first life. Raises ValueError on a bad line."""
    lives: dict[str, list[tuple[int, str]]] = defaultdict(list)
    for number, line in enumerate(lines, 1):
        try:
            record = json.loads(line)
            lives[str(record["life"])].append((int(record["at_ns"]), str(record["step"])))
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"line {number} of the life log is not {{life, step, at_ns}}: {line.strip()!r}") from error
    taken: dict[str, list[float]] = defaultdict(list)
    for stamps in lives.values():
        stamps.sort()
        for (before, _), (at, step) in itertools.pairwise(stamps):
            taken[step].append((at - before) / 1e9)
    return dict(taken)
