"""Checkpoints of a training job: folders that are there whole, or not at all.

    <folder>/step-00000040/   what the engine saved, and checkpoint.json: {"step", "state", "files": {name: bytes}}
    <folder>/best             the name of the checkpoint that is kept for being the best, if one is

A checkpoint is written into a folder of another name, forced onto the disk, and renamed: a process that is killed, or a
disk that is full, leaves the earlier ones as they are. What such a death leaves is removed before the next is saved.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harena.core.errors import PlatformError, ValidationError
from harena.training.ports import Engine

STATE_FILE = "checkpoint.json"
BEST_FILE = "best"
_PREFIX, _UNFINISHED = "step-", "unfinished-"


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """One that is whole. `step`: how many optimizer steps its weights have learned from."""

    step: int
    path: Path
    state: Mapping[str, Any]
    """what the loop gave to `save`: values of JSON"""


class Checkpoints:
    """The checkpoints in one folder: the newest few, and the best. For one process at a time."""

    def __init__(self, folder: Path, keep: int = 2) -> None:
        """The newest `keep` stay. Raises ValidationError for fewer than one."""
        if keep < 1:
            raise ValidationError(f"keep={keep}: at least one checkpoint must be kept")
        self._folder = folder
        self._keep = keep

    async def save(self, engine: Engine, step: int, state: Mapping[str, Any], *, best: bool = False) -> Checkpoint:
        """Save after `step` steps, over one of the same step, then remove those that are not kept; `best` keeps this
        one until there is a better. Raises PlatformError where it cannot be written; the earlier ones stay."""
        unfinished = self._folder / f"{_UNFINISHED}{step:08d}"
        try:
            await asyncio.to_thread(self._begin, unfinished)
            await engine.save(unfinished)
            return await asyncio.to_thread(self._finish, unfinished, step, state, best)
        except OSError as error:
            await asyncio.to_thread(shutil.rmtree, unfinished, ignore_errors=True)
            raise PlatformError(
                f"the checkpoint of step {step} could not be written below {self._folder}: {error.strerror or error}. "
                f"{self._what_is_left()} Make room there, or name another folder, and let the job go on",
                step="checkpoint",
            ) from error

    def newest(self) -> Checkpoint | None:
        """The newest that is whole: one whose files are damaged is passed over."""
        return next((found for path in self._paths() if (found := _read(path)) is not None), None)

    def best(self) -> Checkpoint | None:
        """The one that was last saved with `best`."""
        try:
            name = (self._folder / BEST_FILE).read_text()
        except FileNotFoundError:
            return None
        return _read(self._folder / name)

    def oldest_step(self) -> int:
        """A job goes on from no earlier step than this, as long as one of those that are kept is whole; 0 while there
        are fewer than are kept."""
        kept = self._paths()[: self._keep]
        oldest = _read(kept[-1]) if len(kept) == self._keep else None
        return 0 if oldest is None else oldest.step

    async def load(self, engine: Engine, checkpoint: Checkpoint) -> None:
        """Let the engine go on from there. Raises PlatformError where it cannot be read, ValidationError where it is of
        another model."""
        try:
            await engine.load(checkpoint.path)
        except OSError as error:
            raise PlatformError(
                f"the checkpoint {checkpoint.path} could not be read: {error.strerror or error}. Remove it, and the "
                "job goes on from the one before",
                step="checkpoint",
            ) from error

    def _begin(self, unfinished: Path) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        for left in self._folder.glob(f"{_UNFINISHED}*"):
            shutil.rmtree(left)
        unfinished.mkdir()

    def _finish(self, unfinished: Path, step: int, state: Mapping[str, Any], best: bool) -> Checkpoint:
        files = {str(path.relative_to(unfinished)): path.stat().st_size for path in _files(unfinished)}
        content: dict[str, Any] = {"step": step, "state": dict(state), "files": files}
        (unfinished / STATE_FILE).write_text(json.dumps(content, indent=1))
        for path in [*_files(unfinished), *(p for p in unfinished.rglob("*") if p.is_dir()), unfinished]:
            _force(path)
        final = self._folder / f"{_PREFIX}{step:08d}"
        if final.exists():  # of an earlier life of the job, which learned the same
            final.rename(self._folder / f"{_UNFINISHED}{step:08d}-before")
        unfinished.rename(final)
        _force(self._folder)
        if best:
            self._mark_best(final.name)
        self._remove_others()
        return Checkpoint(step, final, content["state"])

    def _mark_best(self, name: str) -> None:
        written = self._folder / f"{BEST_FILE}.new"
        written.write_text(name)
        _force(written)
        written.rename(self._folder / BEST_FILE)
        _force(self._folder)

    def _remove_others(self) -> None:
        best = self.best()
        for path in self._paths()[self._keep :]:
            if best is None or path != best.path:
                shutil.rmtree(path)
        for left in self._folder.glob(f"{_UNFINISHED}*"):
            shutil.rmtree(left)

    def _paths(self) -> list[Path]:
        """The newest first."""
        return sorted(self._folder.glob(f"{_PREFIX}*"), reverse=True)

    def _what_is_left(self) -> str:
        newest = self.newest()
        if newest is None:
            return "There is no earlier one."
        return f"The earlier one, of step {newest.step}, is intact."


def _files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def _read(path: Path) -> Checkpoint | None:
    try:
        content = json.loads((path / STATE_FILE).read_text())
        whole = all((path / name).stat().st_size == size for name, size in content["files"].items())
        return Checkpoint(content["step"], path, content["state"]) if whole else None
    except (OSError, ValueError, KeyError):
        return None


def _force(path: Path) -> None:
    """Onto the disk. Raises OSError."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
