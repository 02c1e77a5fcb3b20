"""Heads of requests and answers at a gateway: what is refused, and what is passed on.

h11 reads what a program sends, behind a look at the bytes of each head that refuses what h11 would put up with (bare
line feeds, folded lines). A request is never passed on as it came, but made anew from its parts, and so is an answer:
nothing that two readers could understand in two ways gets through. Everything here is a function of what it is given.
"""

from __future__ import annotations

import re

from harena.core.gateways import Gateway
from harena.egress.credentials import Headers

END_OF_HEAD = b"\r\n\r\n"
_METHOD = re.compile(r"[A-Z][A-Z-]{0,31}")
_NEVER = frozenset({"CONNECT", "TRACE", "TRACK"})
_OF_ONE_HOP = frozenset(
    {"connection", "keep-alive", "proxy-connection", "proxy-authenticate", "proxy-authorization", "te", "trailer",
     "transfer-encoding", "upgrade", "expect", "host", "http2-settings", "content-length"}
)  # fmt: skip
_NOT_FROM_PROGRAMS = frozenset(
    {"accept-encoding", "forwarded", "via", "x-http-method", "x-http-method-override", "x-method-override",
     "x-original-url", "x-rewrite-url", "x-original-uri", "x-real-ip", "origin-url"}
)  # fmt: skip
"""headers with which a program would tell an upstream another method, path or sender than the one that was checked"""
_NOT_FROM_UPSTREAMS = frozenset(
    {"set-cookie", "set-cookie2", "alt-svc", "strict-transport-security", "clear-site-data"}
)


class RefusedError(Exception):
    """A request is not served; the text says why. `more` are headers of that answer."""

    def __init__(self, status: int, said: str, *more: tuple[str, str]) -> None:
        super().__init__(said)
        self.status = status
        self.more = more


def check_lines(head: bytes) -> None:
    """Raises RefusedError for lines that one reader takes for two, or two for one."""
    if b"\n" in head.replace(b"\r\n", b"") or b"\r" in head.replace(b"\r\n", b"").rstrip(b"\r"):
        raise RefusedError(400, "the request has a line that does not end with CR LF")
    if b"\r\n " in head or b"\r\n\t" in head:
        raise RefusedError(400, "the request has a header that goes on in another line")
    if b"\0" in head:
        raise RefusedError(400, "the request's head has a NUL")


def checked_framing(head: bytes, version: bytes) -> int | None:
    """How long the body is; None = it comes in chunks. `head` as it came: h11 makes one of equal headers. Raises
    RefusedError."""
    lines = head.partition(END_OF_HEAD)[0].split(b"\r\n")[1:]
    headers = [(name.strip().lower(), value.strip()) for name, _, value in (line.partition(b":") for line in lines)]
    names = [name for name, _ in headers]
    if b"content-length" in names and b"transfer-encoding" in names:
        raise RefusedError(400, "the request has both a content-length and a transfer-encoding")
    for name in (b"content-length", b"transfer-encoding", b"host", b"authorization"):
        if names.count(name) > 1:
            raise RefusedError(400, f"the request has the header {name.decode()} twice")
    if b"transfer-encoding" in names:
        if version != b"1.1":
            raise RefusedError(400, f"an HTTP/{version.decode()} request has a transfer-encoding")
        return None
    length = next((value for name, value in headers if name == b"content-length"), b"0")
    if not length.isdigit() or len(length) > 15:
        raise RefusedError(400, "the request's content-length is no number")
    return int(length)


def check_method(method: str) -> None:
    if method in _NEVER or not _METHOD.fullmatch(method):
        raise RefusedError(405, f"a gateway takes no {method[:20]}")


def unknown_token(gateway: Gateway, has_one: bool) -> RefusedError:
    said = (
        f"the token is not the one of this sandbox's gateway {gateway.name}"
        if has_one
        else f"the request has no token; send ${gateway.name} as `Authorization: Bearer` or as a password"
    )
    return RefusedError(401, said, ("www-authenticate", f'Basic realm="harena gateway {gateway.name}"'))


def passed_on(headers: Headers) -> Headers:
    """What an upstream is told of a program's headers."""
    listed = {each.strip().lower() for name, value in headers if name == "connection" for each in value.split(",")}
    kept = [
        (name, value)
        for name, value in headers
        if name not in _OF_ONE_HOP
        and name not in _NOT_FROM_PROGRAMS
        and name not in listed
        and not name.startswith("x-forwarded-")
        and "_" not in name  # CGI takes A_B for A-B
    ]
    return [*kept, ("accept-encoding", "identity")]


def answered(headers: object) -> Headers:
    found: Headers = [(str(name).lower(), str(value)) for name, value in headers]  # type: ignore[attr-defined]
    listed = {each.strip().lower() for name, value in found if name == "connection" for each in value.split(",")}
    return [
        (name, value)
        for name, value in found
        if name not in _OF_ONE_HOP and name not in _NOT_FROM_UPSTREAMS and name not in listed
    ]


def printable(reason: bytes) -> bytes:
    return bytes(each for each in reason if 32 <= each < 127)[:100]
