"""JSON of answers: what is large is encoded in threads, by calls that are short."""

from __future__ import annotations

import asyncio
import json
import math
import threading
from typing import Any, ClassVar

import pytest
from starlette.types import Message

from harena.core.records.catalog import ArchivedVersions, CatalogPage, ScoringContract
from harena.server.answers import JsonAnswer, answer_list
from harena.server.encoding import PIECE, encoded, is_large, pieces

CONTRACT = ScoringContract(
    ref="a@1",
    name="a",
    version=1,
    digest="d",
    metadata={},
    created_at="",
    archived_at=None,
    type="stdio",
    trust="separate",
    scorer_version="1",
    contract={"cases": [{"stdin": "é\U0001f600\ud800" * 3000, "n": number} for number in range(40)]},
)
LARGE = {
    "one text": 'é\U0001f600\ud800"\\\n' * 400_000,
    "many numbers": list(range(200_000)),
    "many names": {f"name {number}": None for number in range(50_000)},
    "nested": {"a": [{"b": ["x" * 50_000] * 5, "c": ()}, [], {}], "d": "y" * PIECE * 3, "e": 1},
    "a record": CONTRACT,
    "records": {"entries": [CONTRACT, ArchivedVersions(name="a", archived=1)] * 3, "next_cursor": None},
    "a page": CatalogPage(entries=[CONTRACT] * 2, next_cursor=3),
    "many lists": [[number] for number in range(50_000)],
}


class Watched(CatalogPage):
    """Notes the threads in which it is told."""

    threads: ClassVar[set[int]] = set()

    def to_dict(self) -> dict[str, Any]:
        self.threads.add(threading.get_ident())
        return super().to_dict()


def plain(value: Any) -> Any:
    """What the encoder of the standard library is given."""
    return json.loads(json.dumps(value, default=lambda record: record.to_dict()))


@pytest.mark.parametrize("name", LARGE)
async def test_large_values_are_encoded_by_short_calls(name: str) -> None:
    """Every piece is some hundred KiB at most, and together they are the JSON of the value."""
    assert is_large(LARGE[name])
    made = [*pieces(LARGE[name])]
    assert max(map(len, made)) <= 16 * PIECE
    assert b"".join(made) == json.dumps(plain(LARGE[name]), separators=(",", ":")).encode()
    assert await encoded(LARGE[name]) == b"".join(made)


async def test_a_large_value_is_told_in_another_thread() -> None:
    """A small one is told at once."""
    Watched.threads.clear()
    await encoded([Watched(entries=[CONTRACT], next_cursor=None)])
    assert Watched.threads
    assert threading.get_ident() not in Watched.threads
    await encoded([Watched(entries=[], next_cursor=None)])
    assert threading.get_ident() in Watched.threads


@pytest.mark.parametrize("value", [{}, [], "", None, 1, {"a": [1, {"b": None}]}, CONTRACT.as_created()])
async def test_small_values_are_encoded_at_once(value: Any) -> None:
    assert not is_large(value)
    assert json.loads(await encoded(value)) == plain(value)


@pytest.mark.parametrize("count", [0, 1, 500, 501, 1000, 1001, 2500])
async def test_entries_of_a_long_list_are_told_in_another_thread(count: int) -> None:
    """The event loop does nothing for each of them."""
    threads = set()

    def told(entry: int) -> dict[str, int]:
        threads.add(threading.get_ident())
        return {"entry": entry}

    answer = await answer_list("entries", range(count), told)
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    async def receive() -> Message:
        await asyncio.Event().wait()
        raise AssertionError("unreachable")

    await answer({"type": "http"}, receive, send)
    body = b"".join(message.get("body", b"") for message in sent)
    assert json.loads(body) == {"entries": [{"entry": entry} for entry in range(count)]}
    assert (threading.get_ident() in threads) == (0 < count <= 500)


async def test_numbers_that_are_not_finite_are_refused() -> None:
    """Large or small: nothing of them can be sent."""
    for value in ([math.nan], [math.inf] * 100_000):
        with pytest.raises(ValueError, match="JSON compliant"):
            await encoded(value)


async def sent(answer: JsonAnswer) -> tuple[dict[bytes, bytes], bytes]:
    """Its head and body, as a server passes them on."""
    told: list[Message] = []

    async def send(message: Message) -> None:
        told.append(message)

    async def receive() -> Message:
        return {"type": "http.disconnect"}

    await answer({"type": "http"}, receive, send)
    return dict(told[0]["headers"]), b"".join(message["body"] for message in told[1:])


@pytest.mark.parametrize("value", [None, {}, CONTRACT.as_created(), LARGE["nested"]])
async def test_an_answer_says_how_long_it_is(value: Any) -> None:
    """Large or small."""
    head, body = await sent(JsonAnswer(value, headers={"x-other": "1"}))
    assert json.loads(body) == plain(value)
    assert head == {
        b"content-length": str(len(body)).encode(), b"content-type": b"application/json", b"x-other": b"1"
    }  # fmt: skip


async def test_a_small_answer_has_its_body_when_it_is_made() -> None:
    """A connection that is refused gets its problem without ASGI; what is changed later is not told."""
    value = {"a": 1}
    answer = JsonAnswer(value)
    value["a"] = 2
    assert (answer.body, answer.headers["content-length"]) == (b'{"a":1}', "7")
    with pytest.raises(ValueError, match="JSON compliant"):
        JsonAnswer([math.nan])


async def test_long_names_count() -> None:
    """A mapping of long names to small values is told by short calls, too."""
    names = {f"{number} {'n' * 4000}": number for number in range(1000)}
    made = [*pieces(names)]
    assert max(map(len, made)) <= 2 * PIECE
    assert json.loads(b"".join(made)) == names


def test_deep_values_are_told() -> None:
    """As deep as a request may be, with something large below."""
    value: Any = "x" * (2 * PIECE)
    for _ in range(100):
        value = {"a": [value]}
    assert b"".join(pieces(value)) == json.dumps(value, separators=(",", ":")).encode()
