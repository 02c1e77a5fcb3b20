"""Following a job over a connection that breaks off: nothing is missed, nothing comes twice."""

from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harena.cli.following import Follower
from harena.core.errors import NotFoundError, SandboxUnavailableError
from harena.core.reconnecting import LONGEST_PAUSE_SECONDS, MOST_AWAY_SECONDS


class Server:
    """Gives the events 1..last after a cursor, and breaks off as it is told to."""

    def __init__(self, last: int, breaks: list[int]) -> None:
        self.last = last
        self.breaks = breaks
        """how many events each connection gives before it is lost; afterwards it holds"""
        self.asked: list[int] = []

    def events(self, after: int) -> Iterator[Mapping[str, Any]]:
        self.asked.append(after)
        left = self.breaks.pop(0) if self.breaks else None
        # a server may repeat what was seen
        for cursor in range(max(1, after), self.last + 1):
            if left == 0:
                raise SandboxUnavailableError("the connection broke off", reason="CONNECTION_LOST")
            left = None if left is None else left - 1
            yield {"cursor": cursor}


@given(st.integers(0, 30), st.lists(st.integers(0, 8), max_size=8))
def test_every_event_comes_once(last: int, breaks: list[int]) -> None:
    """Wherever the connection breaks off, and whatever is sent again."""
    pauses: list[float] = []
    follower = Follower(Server(last, breaks).events, pause=pauses.append)
    assert [event["cursor"] for event in follower] == list(range(1, last + 1))
    assert len(pauses) <= 8


def test_pauses_grow_and_begin_anew_after_news() -> None:
    """And the follower says when it is away and when it is back."""
    pauses: list[float] = []
    said: list[str] = []
    server = Server(5, [0, 0, 0, 3, 0])
    follower = Follower(server.events, on_lost=said.append, pause=pauses.append)
    assert len(list(follower)) == 5
    assert pauses == [0.5, 1.0, 2.0, 0.5, 1.0]
    assert server.asked == [0, 0, 0, 0, 3, 3]
    assert [bool(text) for text in said] == [True, True, True, False, True, True, False]
    assert "broke off; asking again in" in said[0]


def test_a_server_that_stays_away_is_given_up() -> None:
    """After ten minutes, and with its own error."""
    pauses: list[float] = []
    with pytest.raises(SandboxUnavailableError, match="broke off"):
        list(Follower(Server(5, [0] * 1000).events, pause=pauses.append))
    assert max(pauses) == LONGEST_PAUSE_SECONDS
    assert MOST_AWAY_SECONDS <= sum(pauses) <= MOST_AWAY_SECONDS + LONGEST_PAUSE_SECONDS


@pytest.mark.parametrize("error", [NotFoundError("deleted"), SandboxUnavailableError("closed", reason="NODE_CLOSED")])
def test_what_will_not_come_back_is_not_waited_for(error: Exception) -> None:
    """A deleted job, a node of this process that was closed."""

    def events(_: int) -> Iterator[Mapping[str, Any]]:
        raise error
        yield {}

    def never(_: float) -> None:
        raise AssertionError("it waited")

    with pytest.raises(type(error)):
        list(Follower(events, pause=never))
