"""Server-sent events, read from pieces that are cut anywhere."""

import itertools
from collections.abc import AsyncIterator

from hypothesis import given
from hypothesis import strategies as st

from harena.sdk.http.events import read_events

SENT = b': events\n\nid: 1\nevent: run_started\ndata: {"run": 1}\n\n: still here\n\nid: 2\nevent: end\ndata: {}\n\n'


@given(st.lists(st.integers(0, len(SENT))))
async def test_pieces_are_put_together(cuts: list[int]) -> None:
    """Many events in a piece, one event in many pieces, and comments between them."""
    borders = [0, *sorted(cuts), len(SENT)]

    async def pieces() -> AsyncIterator[bytes]:
        for begin, end in itertools.pairwise(borders):
            yield SENT[begin:end]

    assert [one async for one in read_events(pieces())] == [("run_started", {"run": 1}), ("end", {})]


async def test_an_event_that_is_not_whole_is_none() -> None:
    """The connection broke off in it: it is asked for again."""

    async def broken() -> AsyncIterator[bytes]:
        yield SENT[:-1]

    assert [kind async for kind, _ in read_events(broken())] == ["run_started"]
