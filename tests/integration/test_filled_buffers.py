"""Memory that the candidate fills through a view, or has filled by the suite, is filled on both sides."""

from __future__ import annotations

import pytest
from shared_sandboxes import SHARED
from test_unittest_suites import scored

from harena.core.results import Reason

pytestmark = SHARED

PROGRAM = """
import array, io, shutil, struct
def peeked(raw):
    buffered = io.BufferedReader(raw)
    return buffered.peek(3)[:3], buffered.read()
def changed(raw):
    both = io.BufferedRandom(raw)
    both.write(b"xy")
    both.seek(0)
    return both.read()
def lines(raw): return [line for line in io.BufferedReader(raw, 16)]
def copied(source, sink): shutil.copyfileobj(io.BufferedReader(source), sink)
def received(raw):
    filled = bytearray(10)
    count = raw.readinto(memoryview(filled)[:5])
    count = count or raw.readinto(memoryview(filled))
    del filled[count:]
    return filled
def packed(view): struct.pack_into("<I", view, 0, 258)
def doubled(view):
    for index in range(len(view)): view[index] *= 2
def released(view):
    with view.cast("B") as octets: octets[:2] = b"ab"
    view.release()
def halves(one, other): one[:], other[:] = bytes(other), bytes(one)
def filled_by(fill):
    memory = bytearray(4)
    fill(memoryview(memory)[1:3])
    return bytes(memory)
def floats(): return array.array("d", [1.5, 2])
class Raw(io.RawIOBase):
    def __init__(self, content): self.content = content
    def readable(self): return True
    def readinto(self, view):
        count = min(len(view), 3, len(self.content))
        view[:count], self.content = self.content[:count], self.content[count:]
        return count
class Cursor:
    def __init__(self, view): self.view = view[1:]
    def put(self, octet): self.view[0], self.view = octet, self.view[1:]
    def get(self): return bytes(self.view)
class Block:
    def __init__(self): self.memory = bytearray(4)
    def view(self): return memoryview(self.memory)[1:3]
    def value(self): return bytes(self.memory)
"""
SUITE = """
import array, io
from solution import *
def test_streams():
    assert peeked(io.BytesIO(b"abcdef")) == (b"abc", b"abcdef")
    assert changed(io.BytesIO(b"abcd")) == b"xycd"
    assert lines(io.BytesIO(b"ab\\n" * 20)) == [b"ab\\n"] * 20
    sink = io.BytesIO()
    copied(io.BytesIO(b"abc"), sink)
    assert sink.getvalue() == b"abc"
    assert received(io.BytesIO(b"abc")) == b"abc"
def test_views():
    memory = bytearray(6)
    packed(memoryview(memory)[1:5])
    assert memory == b"\\0\\2\\1\\0\\0\\0"
    doubled(memoryview(memory)[::2])
    assert memory == b"\\0\\2\\2\\0\\0\\0"
    doubled(memoryview(memory)[2:].cast("H"))
    assert memory == b"\\0\\2\\4\\0\\0\\0"
    memory.append(1)
    with memoryview(memory)[1:] as view: released(view)
    halves(memoryview(memory)[1:2], memoryview(memory)[2:3])
    assert memory == b"\\0ba\\0\\0\\0\\1"
    stream = io.BytesIO(b"abcd")
    doubled(stream.getbuffer()[1:2])
    stream.write(b"abcdefgh")
    assert stream.getvalue() == b"abcdefgh"
def test_of_the_suite():
    def fill(view): view[:] = b"xy"
    assert filled_by(fill) == b"\\0xy\\0"
def test_raw():
    assert io.BufferedReader(Raw(b"abcdefgh")).read() == b"abcdefgh"
    raw, memory, place = Raw(b"abcdefgh"), bytearray(10), 0
    while count := raw.readinto(memoryview(memory)[place:]): place += count
    assert memory[:place] == b"abcdefgh"
def test_kept():
    memory = bytearray(b"abcdef")
    cursor = Cursor(memoryview(memory)[1:])
    cursor.put(65)
    assert memory == b"abAdef"
    memory[3] = 66
    assert cursor.get() == b"Bef"
def test_given_back():
    block = Block()
    view = block.view()
    assert view == b"\\0\\0" and not view.readonly
    view[:] = b"xy"
    assert block.value() == b"\\0xy\\0"
def test_arrays():
    numbers = array.array("i", [1, 2, 3])
    doubled(numbers)
    doubled(memoryview(numbers))
    assert numbers == array.array("i", [4, 8, 12]) and floats() == array.array("d", [1.5, 2])
"""
METERED = """
import io
class MeteredFile(io.BufferedRandom):
    def __init__(self, *given):
        super().__init__(*given)
        self.count = 0
    def __next__(self):
        line = super().readline()
        self.count += len(line)
        if line: return line
        raise StopIteration
"""
METERED_SUITE = """
import io, unittest
from solution import MeteredFile
class T(unittest.TestCase):
    def test_lines(self):
        metered = MeteredFile(io.BytesIO(b"ab\\ncd\\n"))
        self.assertEqual(list(metered), [b"ab\\n", b"cd\\n"])
        self.assertEqual(metered.count, 6)
    def test_written(self):
        with MeteredFile(io.BytesIO()) as metered:
            self.assertEqual(metered.write(b"abc"), 3)
"""


async def test_who_fills_memory_is_paid() -> None:
    """Streams of io's over the suite's, slices, items of several bytes, what is kept, and what is given back."""
    result = await scored(PROGRAM, SUITE, "pytest")
    assert result.score == 1.0, result.detail
    result = await scored(METERED, METERED_SUITE)
    assert result.score == 1.0, result.detail


@pytest.mark.parametrize(
    ("right", "wrong"),
    [("buffered.read()", "buffered.read(1)"), ("*= 2", "*= 3"), ("octet, self", "66, self")],
    ids=["a stream", "a view", "a kept view"],
)  # fmt: skip
async def test_who_fills_it_otherwise_has_zero(right: str, wrong: str) -> None:
    """What the suite sees is what was written, also where that is not what it waits for."""
    result = await scored(PROGRAM.replace(right, wrong), SUITE, "pytest")
    assert (result.score, result.reason) == (0.0, Reason.SCORER_REJECTED), result.detail


async def test_one_memory_that_is_given_twice_is_not_served() -> None:
    """Each is another one where the candidate is."""
    program = "def seen(memory, view):\n    view[0] = 65\n    return bytes(memory)\n"
    suite = """
from solution import seen
def test():
    memory = bytearray(b"abcd")
    assert seen(memory, memoryview(memory)[1:]) == b"aAcd"
"""
    result = await scored(program, suite, "pytest")
    assert (result.score, result.reason) == (None, Reason.SCORER_ERROR), result.detail
    assert "one memory twice" in result.detail
