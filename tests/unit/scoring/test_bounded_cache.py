"""What is kept of contracts is bounded in number and in size, whatever contracts there are."""

from __future__ import annotations

import asyncio

import pytest

from harena.core.models import SandboxSpec
from harena.scoring import load_scenarios
from harena.scoring.bounded_cache import BoundedCache, kept_for_small
from harena.scoring.scorers import assert_names, defined_tests, leaked_proofs
from harena.scoring.scorers.program import Bench
from harena.scoring.scorers.suite_without_candidate import Remembered
from harena.scoring.slices import SMALL
from sandbox_source import SandboxSource


def test_the_oldest_values_go_when_there_are_too_many() -> None:
    kept = BoundedCache[str](2)
    for name in ("a", "b"):
        kept.keep(name, name)
    assert kept.get("a") == "a"
    kept.keep("c", "c")
    assert (kept.get("a"), kept.get("b"), kept.get("c")) == ("a", None, "c")


def test_the_oldest_values_go_when_they_are_too_large() -> None:
    """One that is too large by itself is not kept, and drops no other but the one of its key."""
    kept = BoundedCache[str](100, most_size=8000)
    for name in "abcdefghij":
        kept.keep(name, name * 900)
    assert kept.get("a") is kept.get("b") is None
    assert kept.get("j") == "j" * 900
    before = len(kept)
    kept.keep("k", "k" * 1001)
    assert kept.get("k") is None
    assert len(kept) == before
    kept.keep("j", "j" * 1001)
    assert kept.get("j") is None
    kept.keep("x" * 1001, "")
    assert len(kept) == before - 1


def test_answers_about_large_texts_are_found_anew() -> None:
    asked: list[str] = []

    @kept_for_small(2, size=5)
    def length(text: str, more: str | None = None) -> int:
        asked.append(text)
        return len(text) + len(more or "")

    assert [length(each) for each in ("a", "a", "abcdef", "abcdef")] == [1, 1, 6, 6]
    assert asked == ["a", "abcdef", "abcdef"]
    assert [length("abc", more="def"), length("abc", more="def")] == [6, 6]
    assert asked[3:] == ["abc", "abc"]


def test_large_texts_of_contracts_are_not_kept() -> None:
    """They were, whole, by the hundred."""
    large = "read word\n" + "#" * 2 * SMALL
    known = (leaked_proofs._is_kept_by_shell, leaked_proofs._is_kept_by_python, leaked_proofs._given_by)
    before = [_kept(each) for each in known]
    for number in range(3):
        text = f"{large}{number}"
        leaked_proofs.given_words(["sh", "-c", text], {"a.py": text, "b.sh": text})
        leaked_proofs.hides_processes(["sh", "-c", text], {"a.py": text, "b.sh": text})
    assert [_kept(each) for each in known] == before
    before = [_kept(assert_names.assert_names)]
    assert_names.assert_names("#" * 1_000_000, None)
    assert [_kept(assert_names.assert_names)] == before


def _kept(function: object) -> int:
    """How many answers are kept; the cache is a variable of the function."""
    found: list[int] = [
        each.cell_contents.cache_info().currsize
        for each in getattr(function, "__closure__")  # noqa: B009 (a callable has none, for mypy)
        if hasattr(each.cell_contents, "cache_info")
    ]
    return found[0]


def test_names_of_suites_are_not_kept_for_ever() -> None:
    for number in range(100):
        assert defined_tests._tops(frozenset({f"a{number}.b"})) == {f"a{number}"}
    assert defined_tests._tops.cache_info().currsize < 20


async def test_what_raises_leaves_nothing() -> None:
    """Each question that nobody could answer left its lock, for ever."""
    remembered = Remembered()
    row = {"id": "one", "candidate": "", "scoring": {"type": "command", "command": ["true"]}}
    bench = Bench(load_scenarios([row]).scenarios[0], SandboxSource(), SandboxSpec(), 1.0)
    asked = 0

    async def ask() -> int:
        nonlocal asked
        asked += 1
        await asyncio.sleep(0)
        if asked <= 2:
            raise ValueError("no answer")
        return asked

    found = await asyncio.gather(*(remembered.get(bench, "a", ask) for _ in range(4)), return_exceptions=True)
    assert [type(each) for each in found] == [ValueError, ValueError, int, int]
    assert asked == 3
    assert not remembered._asking
    waiting = asyncio.ensure_future(remembered.get(bench, "b", asyncio.Event().wait))
    await asyncio.sleep(0)
    assert len(remembered._asking) == 1
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert not remembered._asking
