"""One client's connections to one server: requests, their errors, and nothing about what they mean.

What the server refuses is raised as the exception that its problem names. What cannot be reached, or breaks off, is
SandboxUnavailableError: a fault of the platform, never of a program.
"""

from __future__ import annotations

import io
import json
import ssl
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from typing import Any, TypeVar
from urllib.parse import quote

import aiohttp
from yarl import URL

from harena.core.clock import Clock, SystemClock
from harena.core.errors import HarenaError, SandboxUnavailableError
from harena.core.operations.operation import Operation
from harena.core.problems import from_problem
from harena.core.records.record import Record
from harena.core.settings import CA_FILE
from harena.sdk.http.retry_after import is_idempotent, pause_seconds

CONNECT_SECONDS = 10.0
KEEP_ALIVE_SECONDS = 30.0
"""shorter than the server's, so that no request is sent on a connection that it closes in the same moment"""
MOST_OF_A_PROBLEM = 1024 * 1024
MOST_DIGITS = 9
"""most digits of the seconds after which a server wants to be asked again"""
CLOSED = "CLOSED"
"""reason of an error: this client was closed"""

R = TypeVar("R", bound=Record)

Query = Mapping[str, str | int | float | list[str]]


class Connection:
    """Used from one event loop. Opened with its first request, closed with `close`."""

    def __init__(
        self,
        base_url: str,
        *,
        api_key: str | None = None,
        authorities: ssl.SSLContext | None = None,
        clock: Clock | None = None,
    ) -> None:
        """`authorities`: by whom an https server's certificate may be signed; None = whom the system believes. `clock`
        is for tests."""
        self.base_url = base_url
        self._authorities = authorities
        self._clock = clock or SystemClock()
        self._headers = {"authorization": f"Bearer {api_key}"} if api_key else {}
        self._session: aiohttp.ClientSession | None = None
        self._closed = False

    @asynccontextmanager
    async def request(
        self,
        method: str,
        path: str,
        *,
        query: Query | None = None,
        body: Any = None,
        headers: Mapping[str, str] | None = None,
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        """The answer's begin. `path` is absolute and quoted, `body` bytes or an asynchronous iterable of them.

        A server that is too busy for this now is asked again when it says so (see `harena.sdk.http.retry_after`), where
        the body can be sent again. Raises the server's error, also where it comes before the body was sent.
        """
        again = body is None or isinstance(body, bytes)
        tries, waited = 0, 0.0
        while True:
            async with AsyncExitStack() as stack:
                try:
                    response = await stack.enter_async_context(self._send_request(method, path, query, body, headers))
                except HarenaError as error:
                    tries += 1
                    idempotent = is_idempotent(method, headers or {})
                    pause = pause_seconds(error, idempotent=idempotent, tries=tries, waited=waited)
                    if pause is None or not again:
                        raise
                else:
                    yield response
                    return
            await self._clock.sleep(pause)
            waited += pause

    @asynccontextmanager
    async def _send_request(
        self, method: str, path: str, query: Query | None, body: Any, headers: Mapping[str, str] | None
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        try:
            async with self._open_session().request(
                method,
                URL(self.base_url + path, encoded=True).with_query(_query_pairs(query)),
                data=io.BytesIO(body) if isinstance(body, bytes) else body,
                headers=headers,
                allow_redirects=False,
            ) as response:
                if response.status >= 300:
                    raise await _problem(response)
                yield response
        except aiohttp.ClientConnectorError as error:
            # nothing was sent, and the sentence says all: chained tracebacks of three libraries would hide it
            raise self._lost_error(f"{method} {path}", error) from None
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise self._lost_error(f"{method} {path}", error) from error

    async def json(
        self,
        method: str,
        path: str,
        *,
        query: Query | None = None,
        content: Any = None,
        headers: Mapping[str, str] | None = None,
    ) -> Any:
        """Send `content` as JSON where it is not None; the JSON that comes back, None where nothing does."""
        body = None if content is None else json.dumps(content, allow_nan=False).encode()
        sent = dict(headers or {})
        if body is not None:
            sent["content-type"] = "application/json"
        async with self.request(method, path, query=query, body=body, headers=sent) as response:
            answer = await response.read()
        return self.parse_json(answer) if answer else None

    async def record(
        self,
        kind: type[R],
        method: str,
        path: str,
        *,
        query: Query | None = None,
        content: Any = None,
        headers: Mapping[str, str] | None = None,
    ) -> R:
        """Ask as `json` does; the record that comes back."""
        return self.read(kind, await self.json(method, path, query=query, content=content, headers=headers))

    def read(self, kind: type[R], answer: Any) -> R:
        """The record of an answer. Raises SandboxUnavailableError for what is none."""
        try:
            return kind.from_dict(answer)
        except ValueError as error:
            raise self.broken(f"an answer cannot be understood ({error})") from error

    def parse_json(self, text: bytes) -> Any:
        """The JSON of an answer. Raises SandboxUnavailableError for what is none."""
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            raise self.broken(f"an answer is no JSON ({text[:80]!r})") from None

    def problem(self, written: Any) -> HarenaError:
        """The error that a problem inside an answer stands for."""
        return from_problem(written) if isinstance(written, dict) else self.broken("a problem is no object")

    @contextmanager
    def understanding(self, what: str) -> Iterator[None]:
        """Raises SandboxUnavailableError where an answer lacks what is read of it, or has another shape."""
        try:
            yield
        except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError) as error:
            raise self.broken(f"{what} cannot be understood ({error!r})") from error

    async def pause(self, seconds: float) -> None:
        """Wait before the next request."""
        await self._clock.sleep(seconds)

    async def send(self, method: str, path: str, body: bytes) -> None:
        """Send bytes; the answer holds nothing."""
        async with self.request(
            method, path, body=body, headers={"content-type": "application/octet-stream"}
        ) as response:
            await response.read()

    async def close(self) -> None:
        """Close every connection. May be called more than once."""
        self._closed = True
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    def broken(self, what: str) -> SandboxUnavailableError:
        """The error of an answer that is not what it should be."""
        return SandboxUnavailableError(f"{what}, from {self.base_url}", step="http", reason="BROKEN_ANSWER")

    def _open_session(self) -> aiohttp.ClientSession:
        if self._closed:
            raise SandboxUnavailableError(f"the connection to {self.base_url} was closed", reason=CLOSED)
        if self._session is None:
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(
                    limit=0, keepalive_timeout=KEEP_ALIVE_SECONDS, ssl=self._authorities or True
                ),
                timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_SECONDS),
                headers=self._headers,
                auto_decompress=False,
            )
        return self._session

    def _lost_error(self, what: str, error: BaseException) -> SandboxUnavailableError:
        if isinstance(error, aiohttp.ClientConnectorCertificateError):
            message = (
                f"the certificate of {self.base_url} is not believed ({error.certificate_error}): name the file of its "
                f"authority in {CA_FILE.name}, and use the name that the certificate has"
            )
            return SandboxUnavailableError(message, step="http", reason="SERVER_UNREACHABLE")
        if isinstance(error, aiohttp.ClientConnectorError):
            message = (
                f"no server answers at {self.base_url} ({error.os_error.strerror or error}): start one with "
                "`harena serve`, or set HARENA_BASE_URL to where one runs"
            )
            return SandboxUnavailableError(message, step="http", reason="SERVER_UNREACHABLE")
        why = str(error) or type(error).__name__
        message = f"the connection to {self.base_url} broke off during {what}: {why}"
        return SandboxUnavailableError(message, step="http", reason="CONNECTION_LOST")


def step(name: str) -> str:
    """A name as one step of a path. Servers read %2F as a slash, so a slash is quoted twice: such a name is not found,
    unless it is looked for by a query."""
    return quote(name, safe="").replace("%2F", "%252F")


def address(operation: Operation[Any, Any], **steps: object) -> tuple[str, str]:
    """Method and path of an operation, for the things that these parameters of its path name."""
    return operation.method, operation.path.format(**{name: step(str(value)) for name, value in steps.items()})


def _query_pairs(query: Query | None) -> list[tuple[str, str]]:
    pairs: list[tuple[str, str]] = []
    for name, value in (query or {}).items():
        values = value if isinstance(value, list) else [value]
        pairs += [(name, ("true" if one else "false") if isinstance(one, bool) else str(one)) for one in values]
    return pairs


async def _problem(response: aiohttp.ClientResponse) -> HarenaError:
    text = await response.content.read(MOST_OF_A_PROBLEM)
    try:
        written = json.loads(text)
    except (ValueError, RecursionError):
        written = None
    if not isinstance(written, dict):
        shown = text[:200].decode("utf-8", "replace")
        written = {"status": response.status, "detail": f"something that is no harena server says {shown!r}"}
        seconds = response.headers.get("retry-after", "")
        if seconds.isdecimal() and len(seconds) <= MOST_DIGITS:  # a proxy, for a server that is away
            written["retry_after_seconds"] = int(seconds)
    return from_problem(written)
