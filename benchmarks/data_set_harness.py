"""How data sets score programs by their own scripts: a process forked for each, 3 s of wall time, four side by side.

`python -m benchmarks.data_set_harness ROWS ANSWERS`, both in the form of HumanEval; prints how many passed. The design
is that of the scripts which come with such data sets, down to their defaults; there is no isolation beyond the process.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import sys
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

WORKERS = 4
SECONDS = 3.0
_PASSED = "passed"


def passes(program: str) -> bool:
    """Whether a program comes to its end in time, in a process of its own; another one keeps what it says."""
    with multiprocessing.Manager() as manager:
        said = manager.list()
        process = multiprocessing.Process(target=_execute, args=(program, said))
        process.start()
        process.join(SECONDS + 1.0)
        if process.is_alive():
            process.kill()
            process.join()
        return list(said) == [_PASSED]


def _execute(program: str, said: Any) -> None:
    silent = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(silent, stream)
    signal.setitimer(signal.ITIMER_REAL, SECONDS)  # the signal ends the process
    exec(compile(program, "program", "exec"), {"__name__": "program"})
    said.append(_PASSED)


def program(row: Mapping[str, Any], completion: str) -> str:
    """What is executed for an answer."""
    return f"{row['prompt']}{completion}\n{row['test']}\ncheck({row['entry_point']})\n"


def main() -> int:
    """Rows and answers as the two arguments."""
    rows = {row["task_id"]: row for row in _lines(sys.argv[1])}
    with ThreadPoolExecutor(WORKERS) as workers:
        programs = [program(rows[answer["task_id"]], answer["completion"]) for answer in _lines(sys.argv[2])]
        print(sum(workers.map(passes, programs)))
    return 0


def _lines(path: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in Path(path).read_text(encoding="utf-8").splitlines()]


if __name__ == "__main__":
    raise SystemExit(main())
