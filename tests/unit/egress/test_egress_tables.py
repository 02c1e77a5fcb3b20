"""What the egress process keeps of a sandbox: names, log, shares; and the answers that DNS gives."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from functools import partial
from typing import Any, cast

import dns.message
import dns.rcode
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harena.core.network_policy import read_policy
from harena.egress import dns_side
from harena.egress.gate import Gate, GateResources
from harena.egress.ledger import Ledger
from harena.egress.local_names import LocalNames
from harena.egress.shares import MOST_CONNECTIONS, MOST_OF_A_ROUND, Connections, Rate, Turns, may_open


def gate(written: Any) -> Gate:
    return Gate("sb", "w", read_policy(written), cast("GateResources", None))


def asked(of: Gate, name: str, kind: str = "A") -> dns.message.Message:
    said = dns_side.answer(of, dns.message.make_query(name, kind).to_wire())
    assert said is not None
    return dns.message.from_wire(said)


def test_each_name_has_an_address_of_its_own_and_keeps_it() -> None:
    names = LocalNames(3)
    first = [names.address_of(name) for name in ("a", "b", "c")]
    assert first == ["127.64.0.1", "127.64.0.2", "127.64.0.3"]
    assert names.name_of("127.64.0.1") == "a"
    assert names.address_of("b") == "127.64.0.2"
    assert names.address_of("d") == "127.64.0.3"  # "c" was used last longest ago
    assert names.name_of("127.64.0.3") == "d"
    assert names.address_of("c") == "127.64.0.1"
    assert names.name_of("127.0.0.1") is None


def test_the_log_is_bounded_and_its_sums_are_of_all() -> None:
    ledger = Ledger(5)
    for number in range(20):
        ledger.count(ledger.began("proxy", f"{number}.org", 443), 10, 100)
    page = ledger.page(read_policy("open"), 0, 100)
    assert [entry.host for entry in page.entries] == [f"{number}.org" for number in range(15, 20)]
    assert (page.connections, page.sent_bytes, page.received_bytes, page.policy) == (20, 200, 2000, "open")
    assert [entry.number for entry in ledger.page(read_policy("open"), 18, 1).entries] == [19]
    assert ledger.page(read_policy("open"), 20, 10).next_after == 20


def test_equal_refusals_are_one_line() -> None:
    ledger = Ledger(5)
    for _ in range(1000):
        ledger.refused("dns", "x" * 1000, 0, "y" * 10_000)
    ledger.refused("proxy", "a.org", 443, "no")
    first, second = ledger.page(read_policy("open"), 0, 10).entries
    assert (first.times, len(first.host), len(first.reason), second.host) == (1000, 253, 500, "a.org")
    for number in range(100):
        ledger.refused("dns", f"{number}", 0, "no")
    assert len(ledger._refusals) == len(ledger._lines) == 5


def test_connections_are_shared_when_they_run_short() -> None:
    assert may_open(0, 0, 0, 1)
    assert may_open(127, 127, 127, 1)
    assert not may_open(128, 128, 128, 1)
    assert may_open(100, 100, 1400, 20)
    assert not may_open(102, 102, 1800, 20)
    assert may_open(50, 50, 1800, 20)
    assert may_open(0, 0, 2047, 5000)
    assert not may_open(0, 0, 2048, 5000)


def test_no_workspace_has_all_connections_of_networks() -> None:
    """However many sandboxes it has, and whichever of them asks first."""
    held = [0] * 100
    for number in range(len(held)):
        while may_open(held[number], sum(held), sum(held), len(held) + 1):
            held[number] += 1
    assert sum(held) == 1024
    assert may_open(0, 0, sum(held), len(held) + 1)


async def waits_for_room(count: int, opens: Callable[[int], bool | None]) -> tuple[Connections, list[int]]:
    """A workspace that has all that it may have, with so many listeners that wait, and whose turn has come. `opens`:
    whether the next connection is there; None = its sandbox may have no more."""
    room, asked = Connections(), list[int]()
    room.sandboxes = count

    def resumed(number: int) -> bool:
        asked.append(number)
        if opens(number):
            room.opened("w")
        return opens(number) is not None

    for _ in range(MOST_CONNECTIONS // 2):
        room.opened("w")
    assert not room.may_open("w", 0)
    assert room.may_open("other", 0)
    for number in range(count):
        room.wait("w", cast("socket.socket", object()), partial(resumed, number))
    return room, asked


async def test_a_connection_that_ends_has_one_listener_looked_at() -> None:
    """However many wait, and they have their turns one after the other."""
    room, asked = await waits_for_room(3000, lambda number: None if number == 0 else True)
    room.ended("w")
    assert asked == []
    await asyncio.sleep(0)
    assert asked == [0, 1]  # the first may have no more
    for _ in range(2998):
        room.ended("w")
        await asyncio.sleep(0)
    assert asked == [*range(3000)]


async def test_nobody_waits_where_there_is_room() -> None:
    """A listener whose next connection has gone takes no room: the others are looked at, too, in turns."""
    room, asked = await waits_for_room(100, lambda _: False)
    room.ended("w")
    await asyncio.sleep(0)
    assert len(asked) == MOST_OF_A_ROUND
    for _ in range(100 // MOST_OF_A_ROUND):
        await asyncio.sleep(0)
    assert asked == [*range(100)]


async def test_each_round_of_turns_lets_every_sandbox_do_one_thing() -> None:
    turns, order = Turns(), list[str]()

    async def work(name: str, times: int) -> None:
        for _ in range(times):
            await turns.take("w", name)
            order.append(name)

    await asyncio.gather(*(work("many", 1) for _ in range(100)), work("one", 3))
    assert order.index("one") <= 2
    assert len(order[: len(order) - order[::-1].index("one")]) <= 8


async def test_a_workspace_of_many_sandboxes_has_no_more_turns() -> None:
    """They have theirs one after the other, and nobody's of them is forgotten."""
    turns, order = Turns(), list[str]()

    async def work(workspace: str, name: str, times: int) -> None:
        for _ in range(times):
            await turns.take(workspace, name)
            order.append(name)

    await asyncio.gather(*(work("w", f"{number}", 3) for number in range(100)), work("other", "one", 3))
    assert len(order[: len(order) - order[::-1].index("one")]) <= 3 * (MOST_OF_A_ROUND + 1)
    assert sorted(order[: len(order) - order[::-1].index("one")]) != ["one"] * 3
    assert {order.count(f"{number}") for number in range(100)} == {3}
    first = [name for name in order if name != "one"][:100]
    assert len(set(first)) == 100


async def test_who_sends_more_than_its_share_waits() -> None:
    rate = Rate(1000.0)
    began = asyncio.get_running_loop().time()
    for _ in range(4):
        await rate.pay(100)
    assert asyncio.get_running_loop().time() - began >= 0.1


def test_dns_answers_for_allowed_names_only() -> None:
    of = gate({"allow": ["a.org", "*.b.org:8443", "10.0.0.1"]})
    assert [str(rr) for rr in asked(of, "A.org").answer[0]] == ["127.64.0.1"]
    assert [str(rr) for rr in asked(of, "x.b.org").answer[0]] == ["127.64.0.2"]
    assert asked(of, "a.org", "AAAA").rcode() == dns.rcode.NOERROR
    assert asked(of, "a.org", "AAAA").answer == []
    assert asked(of, "_http._tcp.a.org", "SRV").rcode() == dns.rcode.NXDOMAIN
    for name in ("b.org", "evil.org", "10.0.0.1", "secret.data.evil.org", "1.0.0.10.in-addr.arpa", "."):
        assert asked(of, name).rcode() == dns.rcode.NXDOMAIN, name
    log = of.ledger.page(of.policy, 0, 100)
    assert "secret.data.evil.org" in [entry.host for entry in log.entries]
    assert all(not entry.allowed and entry.way == "dns" for entry in log.entries)


def test_dns_gives_no_name_to_what_is_denied() -> None:
    of = gate({"allow": ["*"], "deny": ["*.bad.org"]})
    assert asked(of, "x.bad.org").rcode() == dns.rcode.NXDOMAIN
    assert asked(of, "good.org").answer
    for name in ("localhost", "x.LocalHost."):
        assert [str(rr) for rr in asked(of, name).answer[0]] == ["127.0.0.1"]


@pytest.mark.parametrize("question", [b"", b"\0" * 11, b"\xff" * 12, b"\0" * 12, b"\xab\xcd\x81\x80" + b"\0" * 8,
                                      dns.message.make_query("a.org", "A", id=7).to_wire() + b"more"])  # fmt: skip
def test_what_is_no_question_has_no_answer_or_a_refusal(question: bytes) -> None:
    said = dns_side.answer(gate("open"), question)
    assert said is None or dns.message.from_wire(said).rcode() != dns.rcode.NOERROR


@pytest.mark.parametrize("counts", [(2, 0, 0, 0), (0, 0, 0, 0), (1, 1, 0, 0), (1, 0, 300, 1), (1, 0, 0, 2)])
def test_records_beside_the_one_question_are_not_read(counts: tuple[int, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading a message full of them took seconds, and everybody waited."""
    query = dns.message.make_query("a.org", "A", id=7).to_wire()
    question = query[:4] + b"".join(count.to_bytes(2, "big") for count in counts) + query[12:]
    with monkeypatch.context() as patched:
        patched.delattr(dns.message, "from_wire")
        said = dns_side.answer(gate("open"), question)
        assert dns_side.answer(gate("open"), question[:2] + b"\x81\0" + question[4:]) is None
        assert dns_side.answer(gate("open"), query + bytes(500)) is None
    assert said is not None
    answer = dns.message.from_wire(said)
    assert (answer.id, answer.rcode(), answer.sections) == (7, dns.rcode.NOTIMP, [[], [], [], []])


def test_questions_with_edns_are_answered() -> None:
    query = dns.message.make_query("a.org", "A", use_edns=True, want_dnssec=True, pad=128, payload=1232)
    said = dns_side.answer(gate("open"), query.to_wire())
    assert said is not None
    assert dns.message.from_wire(said).answer


@given(st.binary(max_size=300))
def test_no_bytes_break_dns(noise: bytes) -> None:
    of = gate("open")
    query = dns.message.make_query("a.org", "A").to_wire()
    for question in (noise, query[:12] + noise, query[:-4] + noise, noise[:12] + query[12:]):
        dns_side.answer(of, question)
