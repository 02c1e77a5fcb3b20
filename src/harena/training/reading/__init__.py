"""What users pushed is read by a process of its own, behind a wall.

A function that reads files of an object is marked with `apart`. Its caller notices nothing but that it takes some
milliseconds: a host process (`harena.training.reading.host`), which has read nothing itself, forks for each call; the
fork gives up all but the object's own files and what the interpreter has (`harena.training.reading.wall`), reads, and
answers JSON. It has limits of memory, time and of the size of its answer.
"""

from __future__ import annotations

from harena.training.reading.marked import FUNCTIONS, apart

__all__ = ["FUNCTIONS", "apart"]
