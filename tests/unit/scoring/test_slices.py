"""Large texts in slices: what they give is what the simple way over the whole gives, and no step is long."""

from __future__ import annotations

import asyncio
import json
import os
import threading
import tracemalloc
from collections.abc import Callable
from functools import partial
from typing import Any, get_args

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from harena.core.threads import VERDICTS, work_for
from harena.scoring import slices
from harena.scoring.compare import OutputComparison, Tolerance, compare_output
from harena.scoring.slices import (
    Turns,
    aside,
    decoded,
    json_parts,
    last_line,
    lines,
    lines_beginning,
    sliced,
    text_of,
    words,
)

MIB = 1 << 20
EVERYTHING = 10**9
PIECES = st.sampled_from(
    ["a", "bc", " ", "  ", "\n", "\n\n", "\r\n", "\t", "\x1c", "\x85", "\xa0", "\u2003", "ß", "1", "1.0", "\U0001f600"]
)
TEXTS = st.lists(PIECES, max_size=40).map("".join)
SIZES = st.integers(1, 7)


@given(TEXTS, SIZES)
def test_words_of_slices_are_those_of_the_whole(text: str, size: int) -> None:
    """Wherever a slice ends."""
    assert list(words(sliced(text, size), EVERYTHING)) == text.split()


@given(st.lists(st.sampled_from([b"ab", b"a", b"b", b"\n", b"\r\n", b"\r", b"abab"]), max_size=40).map(b"".join), SIZES)
def test_lines_that_begin_so_are_those_of_the_whole(content: bytes, size: int) -> None:
    """However far one look goes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(slices, "SLICE", size)
        found = lines_beginning(content, b"ab", EVERYTHING)
        first = lines_beginning(content, b"ab", 1)
    assert found == [line for line in content.splitlines() if line.startswith(b"ab")]
    assert first == found[:1]


@given(TEXTS, SIZES)
@example("\n\n a\n\n b\n \n", 1)
def test_lines_of_slices_are_those_of_the_whole(text: str, size: int) -> None:
    """Empty ones at the end do not count; with both sides stripped, none at the beginning either."""
    right = [line.rstrip() for line in text.rstrip().split("\n")]
    assert list(lines(sliced(text, size), EVERYTHING, both_sides=False)) == (right if text.strip() else [])
    both = [line.strip() for line in text.strip().split("\n")]
    assert list(lines(sliced(text, size), EVERYTHING, both_sides=True)) == (both if text.strip() else [])


@given(TEXTS, SIZES, st.integers(0, 8), st.booleans())
def test_what_is_longer_than_anything_expected_stays_different(
    text: str, size: int, longest: int, both_sides: bool
) -> None:
    """Up to the first word or line that is longer all are as they are; that one is longer, however far it was read."""
    pairs: list[tuple[list[str], list[str]]] = [
        (list(words(sliced(text, size), longest)), text.split()),
        (
            list(lines(sliced(text, size), longest, both_sides=both_sides)),
            list(lines([text], EVERYTHING, both_sides=both_sides)),
        ),
    ]
    for found, whole in pairs:
        for got, want in zip(found, whole, strict=False):
            assert got == want or (len(got) > longest and len(want) > longest)
        assert len(found) == len(whole) or len(found[-1]) > longest


@given(st.binary(max_size=60), SIZES)
def test_bytes_of_slices_decode_as_the_whole(content: bytes, size: int) -> None:
    """Characters that a slice cuts through, and bytes that are no text."""
    assert "".join(decoded(content, size)) == content.decode("utf-8", "replace")


NESTED = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8) | st.floats(allow_nan=False),
    lambda below: st.lists(below, max_size=3) | st.dictionaries(st.text(max_size=4), below, max_size=3),
    max_leaves=10,
)


@given(NESTED, st.booleans(), st.booleans())
def test_json_in_parts_is_json(value: Any, sort_keys: bool, ensure_ascii: bool) -> None:
    """The same text."""
    whole = json.dumps(value, sort_keys=sort_keys, ensure_ascii=ensure_ascii)
    assert "".join(json_parts(value, sort_keys=sort_keys, ensure_ascii=ensure_ascii)) == whole


def test_long_texts_are_json_in_parts_that_are_not_long() -> None:
    """Escapes, characters of two halves and lone ones among them."""
    text = '"\\\n\x00\U0001f600\ud800é' * 30_000
    parts = list(json_parts({"a": text, "b": [1]}))
    assert "".join(parts) == json.dumps({"a": text, "b": [1]})
    assert max(map(len, parts)) <= 12 * slices.SLICE


def test_the_last_line_is_taken_from_the_end() -> None:
    """Of an error stream, of which it says why a program ended."""
    assert last_line(b"a\nValueError: x\n\n") == "ValueError: x"
    assert last_line(b"") == ""
    assert len(last_line(b"\xff" * 10_000)) <= 4096


def _reference(printed: bytes, expected: str, comparison: OutputComparison) -> bool:
    """The simple way, over lists of all."""
    text = printed.decode("utf-8", "replace")
    if comparison == "exact":
        return text.encode() == expected.encode()
    if comparison == "trimmed":
        left, right = ([line.rstrip() for line in each.rstrip().split("\n")] for each in (text, expected))
        return left == right
    return text.split() == expected.split()


@given(TEXTS, TEXTS, st.sampled_from(["exact", "trimmed", "tokens"]))
def test_verdicts_are_those_of_the_simple_way(printed: str, expected: str, comparison: OutputComparison) -> None:
    """Of texts that are nearly alike as well."""
    for text in (printed, expected, expected + "\n", expected.replace(" ", "  "), expected[:-1]):
        given_bytes = text.encode()
        found = compare_output(given_bytes, expected, comparison, Tolerance())
        assert found is _reference(given_bytes, expected, comparison)


FLOODS: dict[str, bytes] = {
    "short words": b"a " * (MIB // 2),
    "digits": b"1" * MIB,
    "lines": b"a\n" * (MIB // 2),
    "newlines": b"\n" * MIB,
    "spaces": b" " * MIB,
    "brackets": b"[" * MIB,
    "escapes": b"\\u0000" * (MIB // 6),
    "no text": b"\xff" * MIB,
    "wide characters": "\U0001f600".encode() * (MIB // 4),
    "cut characters": b"\xf0\x9f" * (MIB // 2),
    "numbers": b"1.0 " * (MIB // 4),
    "carriage returns": b"\r" * MIB,
    "zeros": b"\0" * MIB,
}


@pytest.mark.parametrize("name", FLOODS)
@pytest.mark.parametrize("comparison", [name for name in get_args(OutputComparison) if name != "exact"])
def test_memory_does_not_grow_with_what_was_printed(name: str, comparison: OutputComparison) -> None:
    """It took thirty times the size of the output: 1.9 GB of 64 MiB. A right beginning is no different."""
    for printed in (FLOODS[name], b"right\n" + FLOODS[name], FLOODS[name] + b"\nright"):
        tracemalloc.start()
        try:
            assert not compare_output(printed, "right\n1 2", comparison, Tolerance())
            assert tracemalloc.get_traced_memory()[1] < 4 * MIB
        finally:
            tracemalloc.stop()


@pytest.mark.parametrize("name", FLOODS)
def test_no_step_reads_more_than_a_slice(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The work between two steps is what holds the interpreter. It is counted, in place of the time that it takes."""
    taken: list[int] = []

    def counted(content: bytes) -> Any:
        for part in decoded(content):
            taken.append(len(part))
            yield part

    monkeypatch.setattr("harena.scoring.compare.decoded", counted)
    for comparison in get_args(OutputComparison):
        compare_output(FLOODS[name], "right\n1 2", comparison, Tolerance())
    assert taken
    assert max(taken) <= slices.SLICE


async def test_only_what_is_large_goes_to_a_thread() -> None:
    """And no more than two at one time, whoever asks."""
    loop = asyncio.get_running_loop()
    ours = asyncio.current_task()

    def task() -> Any:
        try:
            return asyncio.current_task()
        except RuntimeError:
            return None

    assert await aside(slices.SMALL, task) is ours
    assert await aside(slices.SMALL + 1, task) is None
    running, most = 0, 0
    hold = [loop.create_future() for _ in range(5)]

    def work(number: int) -> None:
        nonlocal running, most
        running += 1
        most = max(most, running)
        asyncio.run_coroutine_threadsafe(_wait(hold[number]), loop).result()
        running -= 1

    tasks = [asyncio.ensure_future(aside(EVERYTHING, work, number)) for number in range(5)]
    for future in hold:
        future.set_result(None)
    await asyncio.gather(*tasks)
    assert 1 <= most <= 2


async def test_no_turn_is_held_by_who_waits_for_threads() -> None:
    """Texts of an owner whose threads are all at work do not hold up those of another one."""
    held = threading.Event()
    work_for.set("hostile")
    stuck = [asyncio.ensure_future(VERDICTS.run(held.wait)) for _ in range(8)]
    stuck += [asyncio.ensure_future(aside(EVERYTHING, held.wait)) for _ in range(8)]
    await asyncio.sleep(0)
    work_for.set("other")
    try:
        assert await asyncio.wait_for(aside(EVERYTHING, held.is_set), 30) is False
    finally:
        held.set()
    assert await asyncio.gather(*stuck) == [True] * 16


async def _wait(future: asyncio.Future[None]) -> None:
    await future


def test_text_of_any_size_is_the_same() -> None:
    """Above the size of a slice as below."""
    content = "aé\U0001f600".encode() * 30_000 + b"\xf0\x9f"
    make: Callable[[bytes], str] = partial(bytes.decode, encoding="utf-8", errors="replace")
    assert text_of(content) == make(content)


def test_a_free_turn_goes_to_the_owner_that_has_fewest() -> None:
    """One who waits with much work of its own before another one comes gets no more than the other one."""
    turns, ran = Turns(2), []
    ends = [threading.Event() for _ in range(5)]
    begun = [threading.Event() for _ in range(5)]

    def work(number: int, owner: str) -> None:
        with turns.one(owner):
            ran.append(owner)
            begun[number].set()
            ends[number].wait(10)

    threads = [threading.Thread(target=work, args=(number, "long")) for number in range(4)]
    for number, thread in enumerate(threads):
        thread.start()
        if number < 2:
            assert begun[number].wait(10)
        else:
            while turns.waiting < number - 1:
                os.sched_yield()
    threads.append(threading.Thread(target=work, args=(4, "other")))
    threads[4].start()
    while turns.waiting < 3:
        os.sched_yield()
    ends[0].set()
    assert begun[4].wait(10)
    assert ran == ["long", "long", "other"]
    for end in ends:
        end.set()
    for thread in threads:
        thread.join(10)
    assert sorted(ran) == ["long"] * 4 + ["other"]
    assert turns.waiting == 0
