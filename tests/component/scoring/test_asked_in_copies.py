"""Objects of a candidate's are asked about other values where nobody sees what they do then."""

from __future__ import annotations

import math
import mmap
import operator
import os
import pickle
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from harena.scoring.guest import decoy_comparisons as asked_module
from harena.scoring.guest import process_copies
from harena.scoring.guest.decoy_comparisons import _Questions, answer_of, contains_some, says_yes_to_some, tells_apart
from harena.scoring.guest.judged_operations import Judged
from harena.scoring.guest.operator_effects import may_have_effects
from harena.scoring.guest.plain_values import Plain
from harena.scoring.guest.process_copies import FAILED, RAISED, NoCopyError, Snapshots
from harena.scoring.guest.secure_random import below

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass
class Point:
    x: int
    y: int


class Vector:
    def __init__(self, *at: float) -> None:
        self.at = list(at)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Vector) and self.at == other.at

    __hash__ = None  # type: ignore[assignment]

    def __add__(self, other: Vector) -> Vector:
        return Vector(*[one + two for one, two in zip(self.at, other.at, strict=True)])

    def __abs__(self) -> float:
        return math.sqrt(sum(each**2 for each in self.at))

    def __lt__(self, other: Vector) -> bool:
        return abs(self) < abs(other)

    def __contains__(self, number: float) -> bool:
        return number in self.at


class Doing:
    made = 0

    def __init__(self) -> None:
        self.count = 0
        self.told: list[Any] = []
        self.heard = [self.told.append]

    def __eq__(self, other: object) -> bool:
        self.count += 1
        return other == 7

    __hash__ = None  # type: ignore[assignment]

    def __add__(self, other: Any) -> Doing:
        return Doing()

    def __matmul__(self, other: Any) -> None:
        for heard in self.heard:
            heard(other)

    def __lshift__(self, other: Any) -> Doing:
        self.told.append(other)
        return self

    def __contains__(self, number: int) -> bool:
        while number > 1_000_000:
            pass
        return number == 7

    def __gt__(self, number: int) -> bool:
        return any(number < each for each in range(10))


@pytest.mark.parametrize(
    ("asked", "methods"),
    [
        (Point(1, 2), ("__eq__", "__ne__")),
        (Vector(1, 2), ("__eq__", "__ne__")),
        (Vector(1, 2), ("__lt__", "__contains__", "__abs__")),
        (object(), ("__eq__",)),
    ],
)
def test_a_plain_operator_is_seen_to_be_plain(asked: Any, methods: tuple[str, ...]) -> None:
    assert not may_have_effects(asked, methods)


@pytest.mark.parametrize("method", ["__eq__", "__add__", "__matmul__", "__lshift__", "__contains__", "__gt__"])
def test_an_operator_that_may_do_more_is_not_taken_for_plain(method: str) -> None:
    assert may_have_effects(Doing(), (method,))


def test_what_a_copy_does_is_not_done_here(tmp_path: Path) -> None:
    """Neither in memory, nor in files, by whatever descriptor or path, nor in a pipe."""
    by_path, opened, log = tmp_path / "path", tmp_path / "opened", []
    by_path.write_text("before")
    source, sink = os.pipe()
    with opened.open("w+") as file:

        def ask(value: int) -> str:
            log.append(value)
            file.write("more")
            file.flush()
            os.write(sink, b"more")
            by_path.write_text("after")
            with by_path.open("a") as appended:
                appended.write("more")
            return str(len(log))

        assert Snapshots().answers(None, ask, [(5, False), (6, True)]) == ["1", "2"]
        os.write(sink, b".")
        assert (log, file.tell(), os.read(source, 100)) == ([], 0, b".")
    os.close(source)
    os.close(sink)
    assert (by_path.read_text(), opened.read_text()) == ("before", "")


def test_nothing_is_removed_or_started_by_a_copy(tmp_path: Path) -> None:
    """Who tries that has not answered, and nothing else is known of it."""
    kept = tmp_path / "kept"
    kept.touch()

    def removes(value: int) -> str:
        kept.unlink()
        return "done"

    def starts(value: int) -> str:
        os.posix_spawn("/bin/true", ["true"], {})
        return "done"

    for ask in (removes, starts):
        assert Snapshots().answers(None, ask, [(5, False)]) == [FAILED]
        with pytest.raises(NoCopyError):
            Snapshots().answers(None, ask, [(5, False), (6, True)])
    assert kept.exists()


def test_a_question_without_an_end_is_ended_and_not_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process_copies, "_FAR_SECONDS", 0.02)
    copies, asked = Snapshots(), Doing()

    def ask(value: int) -> str:
        return str(value in asked)

    questions = [(10**30, False), (7, True), (8, False), (10**31, False)]
    for _ in range(2):
        assert copies.answers(asked, ask, questions)[1:3] == ["True", "False"]
        assert copies.is_too_large(asked, 10**30, 7)
        assert not copies.is_too_large(asked, 10**30, 10**30 + 1)
    assert copies._ended_left == process_copies._MOST_ENDED - 1


def test_a_copy_that_ends_or_raises_has_not_said_yes() -> None:
    def ask(value: int) -> str:
        if value == 5:
            os._exit(0)
        if value == 6:
            raise ValueError
        return "yes"

    questions = [(5, False), (6, False), (7, True)]
    assert Snapshots().answers(None, ask, questions) == [FAILED, RAISED, "yes"]


def test_who_is_slow_has_not_said_no(monkeypatch: pytest.MonkeyPatch) -> None:
    """About a value that is not far, it has as much time as about the known one, and what it says then is unknown."""
    monkeypatch.setattr(process_copies, "_MOST_SECONDS", 0.02)
    copies = Snapshots()

    def ask(value: int) -> str:
        while value == 8:
            pass
        return "yes"

    with pytest.raises(NoCopyError):
        copies.answers(Doing(), ask, [(8, False), (7, True)])
    assert not copies.is_too_large(Doing(), 8, 7)


def test_an_object_that_waits_in_a_copy_is_asked_in_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """What it waits for may be a thread, and a copy has no other."""
    monkeypatch.setattr(process_copies, "_BLOCKED_SECONDS", 0.05)
    copies, never = Snapshots(), threading.Event()
    for _ in range(2):
        with pytest.raises(NoCopyError):
            copies.answers(Doing(), lambda _: str(never.wait()), [(5, False), (6, True)])
    assert copies._left == process_copies._MOST_COPIES - 1


def test_there_are_so_many_copies_and_no_more() -> None:
    copies = Snapshots()
    copies._left = 1
    assert copies.answers(None, str, [(5, True)]) == ["5"]
    with pytest.raises(NoCopyError):
        copies.answers(None, str, [(5, True)])


def test_threads_do_not_keep_an_object_from_being_asked() -> None:
    ends = threading.Event()
    other = threading.Thread(target=ends.wait)
    other.start()
    try:
        assert Snapshots().answers(None, str, [(5, True)]) == ["5"]
    finally:
        ends.set()
        other.join()


def test_the_tests_own_question_is_the_only_one_that_is_seen() -> None:
    """Where it is compared, computed with, and looked into."""
    judged, asked = Judged(Plain(lambda kind: False)), Doing()
    assert judged.compared("==", asked, 7)
    assert asked.count == 1
    assert not judged.compared("==", asked, 8)
    assert asked.count == 2
    assert judged.changed("<<", asked, "a") is asked
    judged.operated("@", asked, "b")
    assert asked.told == ["a", "b"]
    assert judged.compared("in", 7, asked)
    assert not tells_apart(asked, 8, on_left=True)
    assert asked.count == 2


class _Log:
    """What the copies of a process have been asked, in memory that all of them share: (copy, value), in order."""

    def __init__(self) -> None:
        self._shared, self._here = mmap.mmap(-1, 1 << 20), os.getpid()

    def add(self, value: Any) -> int:
        """The number of this copy; 0 in the process itself."""
        if os.getpid() == self._here:
            return 0
        kept = self.questions()
        number = len({each for each, _ in kept} | {os.getpid()})
        self._shared.seek(0)
        self._shared.write(pickle.dumps([*kept, (os.getpid(), value)]))
        return number

    def questions(self) -> list[tuple[int, Any]]:
        self._shared.seek(0)
        if self._shared[:1] == b"\0":
            return []
        found: list[tuple[int, Any]] = pickle.load(self._shared)
        return found


@dataclass
class _Numbered:
    """An object that knows in which copy it is asked, and says yes, or gives the operand's own number, in some."""

    log: _Log
    yes_in: tuple[int, ...]

    def _says(self, value: Any) -> bool:
        return self.log.add(value) in self.yes_in

    def __eq__(self, other: object) -> bool:
        return self._says(other)

    __hash__ = None  # type: ignore[assignment]

    def __contains__(self, other: object) -> bool:
        return self._says(other)

    def startswith(self, other: object) -> bool:
        return self._says(other)

    def __sub__(self, other: Any) -> float:
        return 0.0 if self._says(other) else float(10**6 + below(10**9))


KNOWN_BY_COPY: dict[str, tuple[Any, Callable[[Any, Any], Any]]] = {
    "==": (12345, lambda asked, known: tells_apart(asked, known, on_left=True)),
    "== text": ("hello", lambda asked, known: tells_apart(asked, known, on_left=True)),
    "in": ("hello", contains_some),
    "startswith": ("hello", lambda asked, known: says_yes_to_some(_Numbered.startswith, asked, known, "startswith")),
    "-": (1.41421356, lambda asked, known: answer_of("-", operator.sub, asked, known)(0.0) == 0.0),
}


@pytest.mark.parametrize("name", KNOWN_BY_COPY)
@pytest.mark.parametrize("yes_in", [(1,), (2,), (2, 3)])
def test_no_copy_is_known_to_be_about_the_known_value(
    name: str, yes_in: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The known value is asked about as often as those that are like it, in copies in any order; so an object that
    knows them all, and their number, is not believed each time."""
    known, ask = KNOWN_BY_COPY[name]
    places, believed = set(), []
    for _ in range(40):
        monkeypatch.setattr(asked_module, "COPIES", Snapshots())
        log = _Log()
        believed.append(bool(ask(_Numbered(log, (0, *yes_in)), known)))
        questions = log.questions()
        asked_in: dict[int, list[Any]] = {}
        for copy, value in questions:
            asked_in.setdefault(copy, []).append(value)
        alone = [values[0] for values in asked_in.values() if len(values) == 1]
        first = alone[: alone.index(known) + 1]
        times = [sum(value == each for _, value in questions) for each in first]
        assert times == [times[-1]] * len(first), (first, times)
        places.add(len(first))
        if len(places) > 1 and False in believed:
            return
    raise AssertionError((places, believed))


def test_the_number_of_copies_does_not_tell_the_value_that_has_no_answer() -> None:
    """An object that leaves each copy at once is asked about all values all the same."""
    copies = Snapshots()
    for at in range(3):
        left = copies._left
        with pytest.raises(NoCopyError):
            copies.answers_apart(None, lambda _: os._exit(0), [(each, each == at) for each in range(3)])
        assert left - copies._left == 3
        with pytest.raises(NoCopyError):
            copies.answers(None, lambda _: os._exit(0), [(each, each == at) for each in range(3)])
        assert left - copies._left == 6


def test_which_numbers_are_far_does_not_tell_the_known_one() -> None:
    """What an object does for ever about tells what is far from all that may be the known value."""
    for known in (1_000_001, 9_999_998):
        questions = _Questions(known, [[10**12], [1_000_001, 9_999_998, 5_000_000]], 1)
        assert questions.size == 9_999_998
