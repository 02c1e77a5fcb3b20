"""Standard input as a file in memory."""

import asyncio
import os

from harena.core.input_files import SLICE, input_file, input_file_in_turns


async def test_a_large_input_leaves_the_event_loop_its_turns() -> None:
    """Others run between its slices, and what is read is what was given."""
    data, turns = os.urandom(4096) * (SLICE // 512) + b"end", 0
    making = asyncio.ensure_future(input_file_in_turns(data))
    while not making.done():
        await asyncio.sleep(0)
        turns += 1
    assert turns >= len(data) // SLICE > 4
    for made in (making.result(), input_file(data)):
        assert content(made) == data


def content(descriptor: int) -> bytes:
    """All that can be read; the descriptor is closed."""
    with open(descriptor, "rb") as file:
        return file.read()
