"""The egress process with real connections: what gets through, and what is refused with which words."""

from __future__ import annotations

import asyncio
import ipaddress
import os
import signal
import socket
import ssl
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import dns.message
import dns.query
import dns.rcode
import pytest
import pytest_asyncio
from egress_world import Inside, authority, connected, inside, request, said, upstream

from harena.core.errors import NotFoundError, PlatformError, SandboxValidationError
from harena.core.network_policy import read_policy
from harena.egress.link import EgressLink

NAMES = {
    "a.test": [["127.0.0.1"]],
    "b.test": [["127.0.0.1"]],
    "private.test": [["10.1.2.3"]],
    "metadata.test": [["169.254.169.254"]],
    "mapped.test": [["::ffff:127.0.0.1"]],
    "nat64.test": [["64:ff9b::7f00:1"]],
    "rebinding.test": [["127.0.0.1"], ["10.0.0.1"]],
    "first-good.test": [["127.0.0.1"], ["127.0.0.2"]],
    "two.test": [["10.9.9.9", "127.0.0.1"]],
    "nobody.test": [["127.0.0.3"]],
}


@pytest_asyncio.fixture
async def link() -> AsyncIterator[EgressLink]:
    link = EgressLink(table=NAMES, times={"head": 5.0, "dial": 5.0, "idle": 20.0, "answer": 5.0})
    yield link
    await link.close()


async def ask(place: tuple[str, int], content: bytes) -> bytes:
    return await asyncio.to_thread(request, place, content)


def get(url: str, host: str, *more: str) -> bytes:
    return "\r\n".join((f"GET {url} HTTP/1.1", f"Host: {host}", "Connection: close", *more, "", "")).encode()


def status(answer: bytes) -> int:
    return int(answer.split(b" ", 2)[1]) if answer else 0


async def test_plain_http_goes_through_and_is_counted(link: EgressLink) -> None:
    with upstream() as server:
        async with inside(link, {"allow": [f"a.test:{server.port}", "127.0.0.1"]}, [80]) as sandbox:
            answer = await ask(sandbox.proxy, get(f"http://a.test:{server.port}/x?y", f"a.test:{server.port}",
                                                  "Proxy-Authorization: Basic c2VjcmV0", "X-Own: 1"))  # fmt: skip
            assert answer.endswith(b"hello from /x?y")
            path, headers = server.seen[0]
            assert (path, headers["X-Own"]) == ("/x?y", "1")
            assert "Proxy-Authorization" not in headers
            (entry,) = await sandbox.entries()
            assert (entry.way, entry.host, entry.port, entry.allowed) == ("proxy", "a.test", server.port, True)
            assert entry.sent_bytes > 30
            assert entry.received_bytes > len("hello from /x?y")


async def test_a_body_goes_both_ways_and_one_connection_serves_several_requests(link: EgressLink) -> None:
    with upstream() as server:
        async with inside(link, {"allow": [f"a.test:{server.port}", "127.0.0.1"]}, [80]) as sandbox:
            where = f"a.test:{server.port}"
            post = f"POST http://{where}/p HTTP/1.1\r\nHost: {where}\r\nContent-Length: 300000\r\n".encode()
            content = post + b"\r\n" + b"a" * 299_999 + b"b" + get(f"http://{where}/200000", where)
            answer = await ask(sandbox.proxy, content)
            assert answer.count(b"HTTP/1.1 200") == 2
            assert b"b" + b"a" * 299_999 in answer
            assert answer.endswith(b"x" * 200_000)
            chunked = f"POST http://{where}/p HTTP/1.1\r\nHost: {where}\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
            assert status(await ask(sandbox.proxy, chunked.encode())) in (200, 502)


async def test_connect_makes_a_tunnel_for_the_name_that_tls_says(link: EgressLink, tmp_path: Path) -> None:
    context, file = authority(tmp_path, "a.test", "b.test")
    with upstream(context=context) as server:
        async with inside(link, {"allow": [f"a.test:{server.port}", "127.0.0.1"]}, [80]) as sandbox:
            trusting = ssl.create_default_context(cafile=str(file))

            def tunnel(name: str) -> bytes:
                with connected(sandbox.proxy) as connection:
                    where = f"a.test:{server.port}"
                    connection.sendall(f"CONNECT {where} HTTP/1.1\r\nHost: {where}\r\n\r\n".encode())
                    head = b""
                    while not head.endswith(b"\r\n\r\n"):
                        head += connection.recv(1)
                    assert status(head) == 200
                    with trusting.wrap_socket(connection, server_hostname=name) as secure:
                        secure.sendall(get("/in", "a.test"))
                        return said(secure)

            assert (await asyncio.to_thread(tunnel, "a.test")).endswith(b"hello from /in")
            with pytest.raises(ssl.SSLError, match="ACCESS_DENIED"):
                await asyncio.to_thread(tunnel, "b.test")
            assert len(server.seen) == 1
            entries = await sandbox.entries()
            assert "'b.test'" in entries[-1].reason
            assert not entries[-1].allowed


@pytest.mark.skipif(os.geteuid() != 0, reason="port 443 is root's")
@pytest.mark.root
async def test_port_443_is_for_tls_with_the_right_name_only(link: EgressLink, tmp_path: Path) -> None:
    context, file = authority(tmp_path, "a.test")
    with upstream(("127.0.0.1", 443), context) as server:
        async with inside(link, {"allow": ["a.test", "b.test", "127.0.0.1"]}, [443]) as sandbox:
            trusting = ssl.create_default_context(cafile=str(file))
            local = await asyncio.to_thread(resolve, sandbox, "a.test")
            other = await asyncio.to_thread(resolve, sandbox, "b.test")

            def direct(address: str, name: str) -> bytes:
                with connected((address, sandbox.ports[443])) as connection:
                    with trusting.wrap_socket(connection, server_hostname=name) as secure:
                        secure.sendall(get("/in", name))
                        return said(secure)

            assert (await asyncio.to_thread(direct, local, "a.test")).endswith(b"hello from /in")
            for address, name in ((other, "a.test"), (local, "b.test"), ("127.0.0.9", "a.test")):
                with pytest.raises(ssl.SSLError, match="ACCESS_DENIED"):
                    await asyncio.to_thread(direct, address, name)
            plain = b"CONNECT a.test:443 HTTP/1.1\r\nHost: a.test:443\r\n\r\nGET / HTTP/1.1\r\n\r\n"
            assert b"Connection established" in await ask(sandbox.proxy, plain)
            assert "no TLS" in (await sandbox.entries())[-1].reason
            assert len(server.seen) == 1


def resolve(sandbox: Inside, name: str) -> str:
    question = dns.message.make_query(name, "A")
    answer = dns.query.udp(question, sandbox.dns_by_udp[0], port=sandbox.dns_by_udp[1], timeout=10)
    by_tcp = dns.query.tcp(question, sandbox.dns_by_tcp[0], port=sandbox.dns_by_tcp[1], timeout=10)
    assert by_tcp.answer == answer.answer
    if answer.rcode() == dns.rcode.NXDOMAIN:
        raise LookupError(name)
    return str(answer.answer[0][0])


async def test_programs_that_know_of_no_proxy_find_names_and_ports(link: EgressLink) -> None:
    with upstream() as server:
        async with inside(link, {"allow": [f"a.test:{server.port}", "127.0.0.1"]}, [80, server.port]) as sandbox:
            local = await asyncio.to_thread(resolve, sandbox, "a.test")
            with pytest.raises(LookupError):
                await asyncio.to_thread(resolve, sandbox, "b.test")
            answer = await ask((local, sandbox.ports[server.port]), get("/direct", "whatever"))
            assert answer.endswith(b"hello from /direct")
            refused = await ask((local, sandbox.ports[80]), get("/", "a.test"))
            assert status(refused) == 403  # a.test is allowed at another port
            assert b"set_network" in refused
            nowhere = await ask(("127.0.0.77", sandbox.ports[80]), get("/", "a.test"))
            assert status(nowhere) == 403
            assert b"look up a host's name first" in nowhere
            assert await ask(("127.0.0.77", sandbox.ports[server.port]), get("/", "a.test")) == b""


REFUSED: dict[str, tuple[str, int, str]] = {
    "a name that is not allowed": ("evil.test", 403, "not allowed"),
    "a name that leads to a private address": ("private.test", 502, "leads to no public address"),
    "a name that leads to a metadata service": ("metadata.test", 502, "leads to no public address"),
    "a name that leads to a mapped address": ("mapped.test", 502, "leads to no public address"),
    "a name that leads to a translated address": ("nat64.test", 502, "leads to no public address"),
    "a name that leads nowhere": ("unknown.test", 502, "leads to no public address"),
    "an address that is not allowed": ("10.0.0.1", 403, "not allowed"),
    "hexadecimal": ("0x7f.1", 400, "usual form"),
    "decimal": ("2130706433", 400, "usual form"),
    "octal": ("0177.0.0.1", 400, "usual form"),
    "short": ("127.1", 400, "usual form"),
    "mapped": ("[::ffff:127.0.0.1]", 403, "not a public one"),
    "loopback of IPv6": ("[::1]", 403, "not a public one"),
    "a zone": ("[fe80::1%25lo]", 400, "usual form"),
    "a user": ("user@a.test", 400, "usual form"),
}


@pytest.mark.parametrize("case", REFUSED)
async def test_hosts_that_are_refused(link: EgressLink, case: str) -> None:
    host, wanted, words = REFUSED[case]
    network = {"allow": ["*", "*:8080"], "deny": ["evil.test", "10.0.0.1"]}
    if case == "a name that is not allowed":
        network = {"allow": ["a.test"]}
    if case == "an address that is not allowed":
        network = {"allow": ["a.test:8080", "10.0.0.2:8080"]}
    async with inside(link, network, [80]) as sandbox:
        for content in (
            get(f"http://{host}:8080/", f"{host}:8080"),
            f"CONNECT {host}:8080 HTTP/1.1\r\nHost: {host}:8080\r\n\r\n".encode(),
        ):
            answer = await ask(sandbox.proxy, content)
            assert status(answer) == wanted, answer
            assert words.encode() in answer
            assert case.startswith("an address") or b"10." not in answer  # what the node's network has is not told


def smuggled(port: int) -> dict[str, bytes]:
    where = f"a.test:{port}"
    line = f"http://{where}/"
    return {
        "two Host headers": get(line, where, "Host: b.test"),
        "another Host": get(line, "b.test"),
        "another port in Host": get(line, f"a.test:{port + 1}"),
        "an absolute target with another Host": get(f"http://b.test:{port}/", where),
        "both lengths": f"POST {line} HTTP/1.1\r\nHost: {where}\r\nContent-Length: 5\r\n"
        "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n".encode(),
        "two lengths": get(line, where, "Content-Length: 5", "Content-Length: 6"),
        "another coding": get(line, where, "Transfer-Encoding: gzip, chunked"),
        "a coding that is none": get(line, where, "Transfer-Encoding: xchunked"),
        "a space before the colon": get(line, where, "Host : b.test"),
        "a bare line feed in a target": f"GET {line}\nHost: b.test HTTP/1.1\r\nHost: {where}\r\n\r\n".encode(),
        "no Host": f"GET {line} HTTP/1.1\r\n\r\n".encode(),
        "https by GET": get(f"https://{where}/", where),
        "the proxy itself": get("/", where),
        "another scheme": get(f"ftp://{where}/", where),
        "CONNECT with another Host": f"CONNECT {where} HTTP/1.1\r\nHost: b.test:{port}\r\n\r\n".encode(),
        "CONNECT with a body": f"CONNECT {where} HTTP/1.1\r\nHost: {where}\r\nContent-Length: 3\r\n\r\nabc".encode(),
        "CONNECT without a port": b"CONNECT a.test HTTP/1.1\r\nHost: a.test\r\n\r\n",
        "CONNECT to port 0": b"CONNECT a.test:0 HTTP/1.1\r\nHost: a.test:0\r\n\r\n",
        "CONNECT to a path": f"CONNECT http://{where}/ HTTP/1.1\r\nHost: {where}\r\n\r\n".encode(),
        "a port that is none": get("http://a.test:99999/", "a.test:99999"),
        "a head without an end": get(line, where)[:-2] + b"X: " + b"y" * 40_000,
        "no HTTP": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
    }


@pytest.mark.parametrize("case", smuggled(1))
async def test_requests_with_two_meanings_are_refused(link: EgressLink, case: str) -> None:
    with upstream() as server:
        async with inside(
            link, {"allow": [f"a.test:{server.port}", f"b.test:{server.port}", "127.0.0.1"]}, [80]
        ) as sandbox:
            answer = await ask(sandbox.proxy, smuggled(server.port)[case])
            assert 400 <= status(answer) < 600, answer
            assert b"harena: " in answer
            assert server.seen == []


async def test_a_folded_header_is_written_as_one_line(link: EgressLink) -> None:
    with upstream() as server:
        where = f"a.test:{server.port}"
        async with inside(link, {"allow": [where, "127.0.0.1"]}, [80]) as sandbox:
            answer = await ask(sandbox.proxy, get(f"http://{where}/", where, "X: 1\r\n Host: b.test"))
            assert status(answer) == 200
            headers = server.seen[0][1]
            assert (headers["Host"], headers["X"]) == (where, "1 Host: b.test")


async def test_a_name_is_looked_up_once_and_the_checked_address_is_connected_to(link: EgressLink) -> None:
    with upstream() as server:
        names = ("rebinding.test", "first-good.test", "two.test")
        allow = [f"{name}:{server.port}" for name in names]
        async with inside(link, {"allow": [*allow, "127.0.0.1"]}, [80]) as sandbox:
            for name in names:
                where = f"{name}:{server.port}"
                assert status(await ask(sandbox.proxy, get(f"http://{where}/", where))) == 200, name
            where = f"rebinding.test:{server.port}"
            assert b"leads to no public address" in await ask(sandbox.proxy, get(f"http://{where}/", where))
            where = f"first-good.test:{server.port}"
            assert b"leads to no public address" in await ask(sandbox.proxy, get(f"http://{where}/", where))


async def test_a_redirect_is_a_new_question(link: EgressLink) -> None:
    with upstream() as server:
        async with inside(link, {"allow": [f"a.test:{server.port}", "127.0.0.1"]}, [80]) as sandbox:
            where = f"a.test:{server.port}"
            answer = await ask(sandbox.proxy, get(f"http://{where}/to/http://evil.test/", where))
            assert status(answer) == 302
            assert b"Location: http://evil.test/" in answer
            assert status(await ask(sandbox.proxy, get("http://evil.test/", "evil.test"))) == 403


async def test_the_nodes_own_addresses_are_reached_only_where_they_are_named(link: EgressLink) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
        except OSError:
            pytest.skip("this machine has no address but loopback")
        own = probe.getsockname()[0]
    async with inside(link, {"allow": ["*"]}, [80]) as sandbox:
        answer = await ask(sandbox.proxy, get(f"http://{own}:8080/", f"{own}:8080"))
        assert status(answer) == 403
        assert b"node's own" in answer or b"not a public one" in answer


async def test_on_a_server_policies_reach_what_its_operator_permits(tmp_path: Path) -> None:
    for permitted, wanted in (([], 403), ([ipaddress.ip_network("127.0.0.0/8")], 200)):
        link = EgressLink(table=NAMES, permitted=permitted)
        with upstream() as server:
            where = f"127.0.0.1:{server.port}"
            async with inside(link, {"allow": [where, f"a.test:{server.port}", "127.0.0.0/8"]}, [80]) as sandbox:
                answer = await ask(sandbox.proxy, get(f"http://{where}/", where))
                assert status(answer) == wanted
                assert wanted == 200 or b"--network-allow" in answer
                where = f"a.test:{server.port}"
                by_name = await ask(sandbox.proxy, get(f"http://{where}/", where))
                assert status(by_name) == (200 if wanted == 200 else 502)
        await link.close()


async def test_nobody_there_is_said(link: EgressLink) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    async with inside(link, {"allow": [f"nobody.test:{port}", "127.0.0.0/8"]}, [80]) as sandbox:
        answer = await ask(sandbox.proxy, get(f"http://nobody.test:{port}/", f"nobody.test:{port}"))
        assert status(answer) == 502
        assert b"could not be connected to: Connection refused" in answer


async def test_another_policy_ends_what_it_does_not_allow(link: EgressLink) -> None:
    with upstream() as server:
        network: dict[str, Any] = {"allow": [f"a.test:{server.port}", "127.0.0.1"]}
        where = f"a.test:{server.port}"
        async with inside(link, network, [80]) as sandbox:
            with connected(sandbox.proxy) as connection:
                connection.sendall(f"CONNECT {where} HTTP/1.1\r\nHost: {where}\r\n\r\n".encode())
                assert status(await asyncio.to_thread(connection.recv, 1000)) == 200
                await link.change(sandbox.name, read_policy(network))
                connection.sendall(b"GET /still HTTP/1.1\r\nHost: a.test\r\n\r\n")
                answered = b""
                while b"hello from /still" not in answered:  # head and body may come one after the other
                    answered += (piece := await asyncio.to_thread(connection.recv, 1000))
                    assert piece
                await link.change(sandbox.name, read_policy({"allow": ["pypi"]}))
                assert await asyncio.to_thread(said, connection) == b""
            assert status(await ask(sandbox.proxy, get(f"http://{where}/", where))) == 403
            await link.change(sandbox.name, read_policy("none"))
            assert status(await ask(sandbox.proxy, get("http://pypi.org/", "pypi.org"))) == 403
            assert (await link.log(sandbox.name)).policy == "none"


async def test_a_policy_that_leads_nowhere_here_does_not_take_the_place_of_another() -> None:
    link = EgressLink(permitted=[ipaddress.ip_network("127.0.0.0/8")], table=NAMES)
    try:
        with upstream() as server:
            where = f"a.test:{server.port}"
            async with inside(link, {"allow": [where, "127.0.0.1"]}, [80]) as sandbox:
                with pytest.raises(SandboxValidationError, match=r"10\.0\.0\.0/8 in allow has no public address"):
                    await link.change(sandbox.name, read_policy({"allow": ["10.0.0.0/8"]}))
                assert status(await ask(sandbox.proxy, get(f"http://{where}/", where))) == 200
                await link.change(sandbox.name, read_policy({"allow": ["127.0.0.0/16"]}))
    finally:
        await link.close()


async def test_a_process_that_was_killed_is_started_anew_with_all_listeners(link: EgressLink) -> None:
    with upstream() as server:
        async with inside(link, {"allow": [f"a.test:{server.port}", "127.0.0.1"]}, [80]) as sandbox:
            first = link.pid
            assert first is not None
            os.kill(first, 9)
            where = f"a.test:{server.port}"
            assert status(await ask(sandbox.proxy, get(f"http://{where}/", where))) == 200
            assert link.pid != first


async def test_a_process_that_hangs_is_ended_and_started_anew(link: EgressLink) -> None:
    """One that answers nothing from one look at it to the next; one that answers goes on."""
    with upstream() as server:
        async with inside(link, {"allow": [f"a.test:{server.port}", "127.0.0.1"]}, [80]) as sandbox:
            first = link.pid
            assert first is not None
            link._look()
            await sandbox.entries()
            link._look()
            assert link.pid == first
            os.kill(first, signal.SIGSTOP)
            asked = asyncio.ensure_future(sandbox.entries())
            await asyncio.sleep(0)
            link._look()
            if link.pid == first:  # it had said something before it was stopped
                link._look()
            with pytest.raises(PlatformError, match="has ended"):
                await asked
            where = f"a.test:{server.port}"
            assert status(await ask(sandbox.proxy, get(f"http://{where}/", where))) == 200
            assert link.pid != first


async def test_an_empty_line_before_a_request_and_a_fragment_behind_it_are_nothing(link: EgressLink) -> None:
    with upstream() as server:
        async with inside(link, {"allow": [f"a.test:{server.port}", "127.0.0.1"]}) as sandbox:
            where = f"a.test:{server.port}"
            assert status(await ask(sandbox.proxy, b"\r\n\r\n" + get(f"HTTP://{where}/x#y", where))) == 200
            assert server.seen[-1][0] == "/x"


async def test_a_process_that_was_killed_often_is_started_anew_each_time(link: EgressLink) -> None:
    """Nothing is asked of it meanwhile: that it serves again is enough to count as a start."""
    with upstream() as server:
        async with inside(link, {"allow": [f"a.test:{server.port}", "127.0.0.1"]}, [80]) as sandbox:
            where = f"a.test:{server.port}"
            pids = set()
            for _ in range(8):
                assert status(await ask(sandbox.proxy, get(f"http://{where}/", where))) == 200
                assert link.pid is not None
                pids.add(link.pid)
                os.kill(link.pid, 9)
            assert len(pids) == 8


async def test_the_longest_policy_and_log_end_no_process(link: EgressLink) -> None:
    with upstream() as server:
        where = f"a.test:{server.port}"
        async with (
            inside(link, {"allow": [where, "127.0.0.1"]}, name="sb_2") as other,
            inside(link, {"allow": []}) as sandbox,
        ):
            first = link.pid
            entries = [f"a{number}." + ("c" * 60 + ".") * 3 + "org" for number in range(200)]
            longest = read_policy({"allow": entries, "deny": entries})
            await link.change(sandbox.name, longest)
            for number in range(100):
                name = f"{number}." + ("b" * 60 + ".") * 3 + "test"
                assert status(await ask(sandbox.proxy, f"CONNECT {name}:443 HTTP/1.1\r\n\r\n".encode())) in (400, 403)
            assert (await link.log(sandbox.name)).policy == longest.to_json()
            async with inside(link, {"allow": entries, "deny": entries}, [80], name="sb_3") as third:
                assert (await link.log(third.name)).policy == longest.to_json()
            assert status(await ask(other.proxy, get(f"http://{where}/", where))) == 200
            assert link.pid == first


async def test_a_policy_may_change_while_a_sandbox_is_admitted(link: EgressLink) -> None:
    admission = asyncio.ensure_future(
        link.admit("sb", "w", read_policy("open"), [socket.create_server(("127.0.0.1", 0)).detach()], [])
    )
    await asyncio.sleep(0)  # it waits for the process now
    await link.change("sb", read_policy({"allow": ["pypi"]}))
    await admission
    assert (await link.log("sb")).policy == {"allow": ["pypi"]}
    link.forget("sb")


async def test_what_is_no_listener_is_refused(link: EgressLink) -> None:
    ours, theirs = socket.socketpair()
    with pytest.raises(PlatformError, match="cannot be served"):
        await link.admit("sb", "w", read_policy("open"), [ours.detach()], [])
    theirs.close()
    with pytest.raises(NotFoundError):
        await link.log("sb")
