"""What a training job must not forget: one SQLite file in the job's folder.

    job         what the job is: a ledger is never continued by another one
    lives       one row per start of the job: the step of the checkpoint that it went on from
    admissions  one row per rollout group that began: its prompt's place, the version that was published then
    rollouts    one row per rollout, written when its reward has come: what was said, and the life that sampled it. A
                reward that was lost to the platform may be replaced, before a step learns from it
    steps       one row per optimizer step, written before it is trained: its groups, the life that trained it last,
                and its metrics once it is done

A step is written down before its weights can be sampled from. So whatever a rollout was sampled from, the groups that
those weights have learned from are known: a job that goes on from a checkpoint trains the written steps again, from the
same groups in the same order. On an engine that computes the same to the bit these are the same weights, and every
stored rollout goes on being one of theirs. (On one that does not, they differ by rounding; the log-probabilities that
were stored are those that were sampled with, in any case.) There is one row per step and one per group, so each is in
the lineage of the weights once; `lineage` says which life computed a step, and which lives sampled its groups.
"""

from __future__ import annotations

import json
import sqlite3
import zlib
from array import array
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, fields
from itertools import islice
from pathlib import Path
from typing import Any

from harena.core.errors import PlatformError, ValidationError
from harena.training.loop.schedule import Admission
from harena.training.rollouts.trajectory import Group, Reward, RewardValidity, StopReason, Trajectory, Turn

_TABLES = """
CREATE TABLE IF NOT EXISTS job (content TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS lives (life INTEGER PRIMARY KEY, from_step INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS admissions (
    number INTEGER PRIMARY KEY, place INTEGER NOT NULL, readmissions INTEGER NOT NULL, version INTEGER NOT NULL,
    life INTEGER NOT NULL, UNIQUE (place, readmissions)
);
CREATE TABLE IF NOT EXISTS rollouts (
    number INTEGER NOT NULL, sample INTEGER NOT NULL, life INTEGER NOT NULL, content TEXT NOT NULL, columns BLOB,
    PRIMARY KEY (number, sample)
);
CREATE TABLE IF NOT EXISTS steps (
    step INTEGER PRIMARY KEY, groups TEXT NOT NULL, life INTEGER NOT NULL, metrics TEXT
);
"""
_FLAT = ("tokens", "versions", "logprobs", "mask")
_COLUMNS = {*_FLAT, "kept"}
"""fields of a trajectory with an entry for each token: packed they are many times smaller than as text"""
_CODES = "iidbii"
"""type codes of `array`: one for each of _FLAT, then how many tokens each of `kept` has, and those tokens"""


@dataclass(frozen=True, slots=True)
class PlannedStep:
    """A step that was trained, or about to be."""

    step: int
    groups: tuple[int, ...]
    life: int
    """the life that trained it last"""
    metrics: Mapping[str, Any] | None
    """None = it was not done"""


@dataclass(frozen=True, slots=True)
class Origin:
    """Where one step of the surviving weights comes from."""

    step: int
    trained_by: int
    """a life"""
    groups: Mapping[int, tuple[int, ...]]
    """group -> the lives that sampled its rollouts, in the order of samples"""


@dataclass(frozen=True, slots=True)
class SaidTokens:
    """Tokens that a policy chose; the lists are of one length."""

    tokens: list[int]
    logprobs: list[float]
    versions: list[int]


class Ledger:
    """The past of one job. Raises PlatformError where the file cannot be read or written."""

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            self._connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
            self._connection.execute("PRAGMA journal_mode=WAL")
            # a killed process loses nothing; before a checkpoint counts, `flush` makes it outlive the machine too
            self._connection.execute("PRAGMA synchronous=NORMAL")
            self._connection.executescript(_TABLES)
        except sqlite3.Error as error:
            raise self._failed(error) from error
        self._life = -1

    def open(self, job: Mapping[str, Any]) -> None:
        """Begin to use it, for this job (values of JSON). Raises ValidationError where it is another one's."""
        content = json.dumps(dict(job), sort_keys=True)
        row = self._read("SELECT content FROM job").fetchone()
        if row is None:
            self._write("INSERT INTO job VALUES (?)", (content,))
        elif row[0] != content:
            was = json.loads(row[0])
            other = sorted(name for name in {*was, *job} if was.get(name) != json.loads(content).get(name))
            raise ValidationError(
                f"the ledger {self._path} is of a job with other {', '.join(other)}: go on with what that job had, or "
                "start in an empty folder"
            )

    def begin_life(self, *, from_step: int) -> int:
        """This process goes on from the checkpoint of this step, 0 without one; the number of its life, from 0."""
        self._write("INSERT INTO lives VALUES ((SELECT coalesce(max(life), -1) + 1 FROM lives), ?)", (from_step,))
        self._life = int(self._read("SELECT max(life) FROM lives").fetchone()[0])
        return self._life

    def add_admissions(self, admitted: Sequence[Admission]) -> None:
        """These groups begin; all are written, or none."""
        rows = [(entry.number, entry.prompt, entry.readmissions, entry.version, self._life) for entry in admitted]
        self._write_as_last("INSERT INTO admissions VALUES (?, ?, ?, ?, ?)", rows)

    def add_rollout(self, number: int, trajectory: Trajectory) -> None:
        """A rollout of this group has its reward, or lost it to the platform."""
        content, columns = _packed(trajectory)
        values = (number, trajectory.sample, self._life, content, columns)
        self._write_as_last("INSERT INTO rollouts VALUES (?, ?, ?, ?, ?)", [values])

    def replace_lost(self, number: int, trajectory: Trajectory) -> None:
        """A rollout that lost its reward to the platform has it after all; every other one stays as it was written."""
        content, _ = _packed(trajectory)
        self._write_as_last(
            "UPDATE rollouts SET content = ? WHERE number = ? AND sample = ? "
            "AND json_extract(content, '$.reward.validity') = ?",
            [(content, number, trajectory.sample, RewardValidity.INFRA)],
        )

    def plan_step(self, step: int, numbers: Sequence[int]) -> None:
        """Step `step` (from 0) is about to learn from these groups, in this order; or, in a job that goes on, again
        from the same."""
        self._write_as_last(
            "INSERT INTO steps VALUES (?, ?, ?, NULL) ON CONFLICT (step) DO UPDATE SET life = excluded.life",
            [(step, json.dumps(list(numbers)), self._life)],
        )

    def finish_step(self, step: int, metrics: Mapping[str, Any]) -> None:
        """Step `step` is done, and its weights published."""
        self._write("UPDATE steps SET metrics = ? WHERE step = ?", (json.dumps(dict(metrics)), step))

    def planned(self) -> list[PlannedStep]:
        """Every step that was written down, in order."""
        rows = self._read("SELECT step, groups, life, metrics FROM steps ORDER BY step").fetchall()
        return [
            PlannedStep(step, tuple(json.loads(groups)), life, None if metrics is None else json.loads(metrics))
            for step, groups, life, metrics in rows
        ]

    def steps(self) -> Iterator[tuple[int, list[int], dict[str, Any]]]:
        """(step, its groups, its metrics) of the steps that are done, in order."""
        for entry in self.planned():
            if entry.metrics is not None:
                yield entry.step, list(entry.groups), dict(entry.metrics)

    def admissions(self) -> list[Admission]:
        """Every group that began, in order."""
        rows = self._read("SELECT number, place, version, readmissions FROM admissions ORDER BY number")
        return [Admission(*row) for row in rows.fetchall()]

    def rollouts(self, number: int) -> dict[int, Trajectory]:
        """sample -> trajectory, of the rollouts of this group that have ended."""
        rows = self._read("SELECT sample, content, columns FROM rollouts WHERE number = ? ORDER BY sample", (number,))
        return {sample: self._unpacked(number, content, columns) for sample, content, columns in rows.fetchall()}

    def samples_of(self, number: int) -> list[int]:
        """The sample numbers of this group's rollouts that have ended."""
        rows = self._read("SELECT sample FROM rollouts WHERE number = ? ORDER BY sample", (number,))
        return [sample for (sample,) in rows.fetchall()]

    def group(self, number: int) -> tuple[Group, int, int] | None:
        """(the group with what has ended of it, its place, the version of its admission), if it began."""
        row = self._read("SELECT place, version FROM admissions WHERE number = ?", (number,)).fetchone()
        trajectories = tuple(self.rollouts(number).values())
        if row is None or not trajectories:
            return None
        return Group(number=number, prompt_id=trajectories[0].prompt_id, trajectories=trajectories), row[0], row[1]

    def samples(self, step: int, *, limit: int = 16) -> list[dict[str, Any]]:
        """Rollouts that this step learned from, for people: everything of a trajectory but what is of single tokens,
        with `group` and `life`."""
        rows = self._read(
            "SELECT number, life, content FROM rollouts WHERE number IN "
            "(SELECT value FROM steps, json_each(steps.groups) WHERE step = ?) ORDER BY number, sample LIMIT ?",
            (step, limit),
        )
        return [{"group": number, "life": life, **json.loads(content)} for number, life, content in rows.fetchall()]

    def said_tokens(self, number: int, sample: int) -> SaidTokens | None:
        """What the policy chose in this rollout, token by token; None where its tokens were dropped."""
        row = self._read("SELECT columns FROM rollouts WHERE number = ? AND sample = ?", (number, sample)).fetchone()
        if row is None or row[0] is None:
            return None
        tokens, versions, logprobs, mask, *_ = _columns(row[0])
        chosen = [place for place, was_chosen in enumerate(mask) if was_chosen]
        return SaidTokens(*([column[place] for place in chosen] for column in (tokens, logprobs, versions)))

    def rewards_of(self, number: int) -> dict[int, float]:
        """sample -> reward, of the rollouts of this group that have one."""
        rows = self._read(
            "SELECT sample, json_extract(content, '$.reward.value') FROM rollouts WHERE number = ? ORDER BY sample",
            (number,),
        )
        return {sample: float(value) for sample, value in rows.fetchall() if value is not None}

    def lineage(self) -> list[Origin]:
        """Lineage of the weights after the last step that is done."""
        lives: dict[int, list[int]] = {}
        for number, life in self._read("SELECT number, life FROM rollouts ORDER BY number, sample").fetchall():
            lives.setdefault(number, []).append(life)
        return [
            Origin(entry.step, entry.life, {number: tuple(lives.get(number, ())) for number in entry.groups})
            for entry in self.planned()
            if entry.metrics is not None
        ]

    def forget_tokens(self, *, before_step: int) -> None:
        """Drop the tokens of what earlier steps learned from: no checkpoint needs them. What was said stays."""
        self._write(
            "UPDATE rollouts SET columns = NULL WHERE columns IS NOT NULL AND number IN "
            "(SELECT value FROM steps, json_each(steps.groups) WHERE step < ?)",
            (before_step,),
        )

    def flush(self) -> None:
        """Force everything onto the disk."""
        self._read("PRAGMA wal_checkpoint(FULL)").fetchall()

    def close(self) -> None:
        """Close the file."""
        with closing(self._connection):
            pass

    def _write_as_last(self, statement: str, rows: Sequence[tuple[Any, ...]]) -> None:
        """All rows or none, unless another process has gone on with the job since."""
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                (last,) = self._connection.execute("SELECT coalesce(max(life), -1) FROM lives").fetchone()
                if last != self._life:
                    raise PlatformError(
                        f"another process goes on with the job of {self._path}: this one ends, its work is not kept",
                        step="store",
                    )
                self._connection.executemany(statement, rows)
            except BaseException:
                self._connection.execute("ROLLBACK")
                raise
            self._connection.execute("COMMIT")
        except sqlite3.Error as error:
            raise self._failed(error) from error

    def _write(self, statement: str, values: tuple[Any, ...]) -> None:
        try:
            self._connection.execute(statement, values)
        except sqlite3.Error as error:
            raise self._failed(error) from error

    def _read(self, statement: str, values: tuple[Any, ...] = ()) -> sqlite3.Cursor:
        try:
            return self._connection.execute(statement, values)
        except sqlite3.Error as error:
            raise self._failed(error) from error

    def _unpacked(self, number: int, content: str, columns: bytes | None) -> Trajectory:
        if columns is None:
            raise PlatformError(
                f"the training ledger {self._path} has dropped the tokens of group {number}, because newer "
                "checkpoints were there, and they are not any more: start again in an empty folder",
                step="store",
            )
        return _unpacked(content, columns)

    def _failed(self, error: sqlite3.Error) -> PlatformError:
        return PlatformError(
            f"the training ledger {self._path} could not be used: {error}. See that its disk has room and can be "
            "written to, and let the job go on",
            step="store",
        )


def _packed(trajectory: Trajectory) -> tuple[str, bytes]:
    rest = {entry.name: getattr(trajectory, entry.name) for entry in fields(trajectory) if entry.name not in _COLUMNS}
    rest["reward"], rest["turns"] = asdict(trajectory.reward), [asdict(turn) for turn in trajectory.turns]
    values = [getattr(trajectory, name) for name in _FLAT]
    values += [[len(among) for among in trajectory.kept], [token for among in trajectory.kept for token in among]]
    arrays = [array(code, column) for code, column in zip(_CODES, values, strict=True)]
    lengths = array("q", [len(column) for column in arrays])
    return json.dumps(rest), zlib.compress(b"".join(column.tobytes() for column in (lengths, *arrays)), 1)


def _unpacked(content: str, packed: bytes) -> Trajectory:
    rest = json.loads(content)
    reward = Reward(**{**rest["reward"], "validity": RewardValidity(rest["reward"]["validity"])})
    *given, counts, among = _columns(packed)
    ids = iter(among)
    kept = tuple(tuple(islice(ids, count)) for count in counts)
    named = {name: tuple(column) for name, column in zip(_FLAT, given, strict=True)}
    turns = tuple(Turn(**{**turn, "stop": StopReason(turn["stop"])}) for turn in rest["turns"])
    stop = StopReason(rest["stop"])
    rest |= {"kept": kept, "turns": turns, "starts": tuple(rest["starts"])}
    return Trajectory(**{**rest, **named, "reward": reward, "stop": stop})


def _columns(packed: bytes) -> list[array[Any]]:
    """One for each of `_CODES`."""
    flat = memoryview(zlib.decompress(packed))
    lengths, place = array("q"), 8 * len(_CODES)
    lengths.frombytes(flat[:place])
    columns = []
    for code, length in zip(_CODES, lengths, strict=True):
        column = array(code)
        end = place + length * column.itemsize
        column.frombytes(flat[place:end])
        columns.append(column)
        place = end
    return columns
