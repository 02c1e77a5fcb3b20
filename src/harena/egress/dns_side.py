"""DNS of sandboxes: an address in 127.0.0.0/8 for each name that the policy allows, and nothing for others.

Nobody outside is asked. A name that a program looks up would otherwise be a message to whoever serves that name.
"""

from __future__ import annotations

import contextlib
import socket

import dns.exception
import dns.flags
import dns.message
import dns.name
import dns.opcode
import dns.rcode
import dns.rdataclass
import dns.rdatatype
import dns.rrset

from harena.core.network_policy import read_name
from harena.egress import relay
from harena.egress.gate import Gate

MOST_QUESTION = 512
"""bytes of a message that is looked at: a name has 255, and what comes with it (EDNS) is short"""
MOST_BY_TCP = 4096
_TTL_SECONDS = 60
_DNS_PORT = 0
_HEAD_BYTES = 12
_ONE_QUESTION = (1, 0, 0)
"""questions, answers and authorities of a message that asks; beside them it may have one more record (EDNS)"""


def load_all() -> None:
    """Load what dnspython loads with the first record of each type."""
    for kind in (dns.rdatatype.A, dns.rdatatype.AAAA):
        asked = dns.message.from_wire(dns.message.make_query("example.org", kind, use_edns=True).to_wire())
        said = dns.message.make_response(asked)
        said.answer.append(_record(asked.question[0].name, "127.64.0.1"))
        said.to_wire()


def _record(name: dns.name.Name, address: str) -> dns.rrset.RRset:
    return dns.rrset.from_text(name, _TTL_SECONDS, "IN", "A", address)


def answer(gate: Gate, question: bytes) -> bytes | None:
    """The answer to a message; None where none can be made."""
    if len(question) > MOST_QUESTION or len(question) < _HEAD_BYTES:
        return None
    *counts, more = (int.from_bytes(question[place : place + 2], "big") for place in range(4, _HEAD_BYTES, 2))
    if tuple(counts) != _ONE_QUESTION or more > 1:
        return _not_implemented(question)  # reading many records takes a time that everybody would wait for
    try:
        asked = dns.message.from_wire(question, ignore_trailing=False)
        if asked.flags & dns.flags.QR:
            return None
        said = dns.message.make_response(asked, recursion_available=True)
    except (dns.exception.DNSException, ValueError, NotImplementedError):
        return None
    if asked.opcode() != dns.opcode.QUERY or len(asked.question) != 1:
        said.set_rcode(dns.rcode.NOTIMP)
        return said.to_wire()
    one = asked.question[0]
    text = one.name.to_text(omit_final_dot=True)
    if text.lower() == "localhost" or text.lower().endswith(".localhost"):  # RFC 6761: it is nobody's name
        if one.rdtype == dns.rdatatype.A:
            said.answer.append(_record(one.name, "127.0.0.1"))
        return said.to_wire()
    name = _allowed_name(gate, text)
    if name is None or one.rdclass != dns.rdataclass.IN:
        said.set_rcode(dns.rcode.NXDOMAIN)
    elif one.rdtype in (dns.rdatatype.A, dns.rdatatype.ANY):
        address = gate.names.address_of(name)
        said.answer.append(_record(one.name, address))
    return said.to_wire()


def _not_implemented(question: bytes) -> bytes | None:
    """An answer without any record; None for what is an answer itself."""
    flags = int.from_bytes(question[2:4], "big")
    if flags & dns.flags.QR:
        return None
    said = dns.flags.QR | (flags & (0x7800 | dns.flags.RD)) | dns.rcode.NOTIMP
    return question[:2] + said.to_bytes(2, "big") + bytes(8)


def _allowed_name(gate: Gate, text: str) -> str | None:
    try:
        host = read_name(text)
    except ValueError:
        host = None
    if isinstance(host, str) and gate.policy.allows_name(host):
        return host
    reason = f"{text[:253]} is not allowed by this sandbox's network policy, so that it has no address here"
    gate.ledger.refused("dns", text, _DNS_PORT, reason)
    return None


def serve_datagram(gate: Gate, datagrams: socket.socket) -> None:
    """Answer one datagram. Nothing waits, whatever else the socket says: others may have copies of it."""
    with contextlib.suppress(OSError):  # nobody is there any more, or takes no more answers now
        question, sender = datagrams.recvfrom(MOST_QUESTION + 1, socket.MSG_DONTWAIT)
        if (said := answer(gate, question)) is not None:
            datagrams.sendto(said, socket.MSG_DONTWAIT, sender)


async def serve_stream(gate: Gate, client: socket.socket, _: int) -> None:
    """Answer the questions of one connection."""
    received = b""
    while True:
        while len(received) < 2 or len(received) < 2 + int.from_bytes(received[:2], "big"):
            more = await relay.received(gate, client, gate.served.times.head)
            if not more:
                return
            received += more
            if len(received) > MOST_BY_TCP:
                return
        size = int.from_bytes(received[:2], "big")
        said = answer(gate, received[2 : 2 + size])
        received = received[2 + size :]
        if said is None:
            return
        await relay.send_all(gate, client, len(said).to_bytes(2, "big") + said)
        if received:
            await gate.turn()  # one receipt may have brought hundreds of questions
