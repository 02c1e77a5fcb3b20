"""The HTTP protocol of one connection, before there is a request: malformed, endless and unfinished heads.

They are answered with problems, as everywhere else. A request's head (its first line and its headers) has limits of
size and of time, so clients that are not authenticated yet can neither fill the memory nor hold connections.

What was read is parsed in slices. A request that comes before the answer to the one before it stays unparsed until
then, with all that follows; nothing more is read meanwhile. Bytes are all that it takes, however many requests they
hold.
"""

from __future__ import annotations

import asyncio
import http
import re
from typing import TYPE_CHECKING, Any

import httptools
from uvicorn.protocols.http.flow_control import HIGH_WATER_LIMIT, FlowControl
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from harena.core.errors import HarenaError, SandboxUnavailableError, ValidationError
from harena.server import kernel_memory
from harena.server.answers import ProblemResponse
from harena.server.connections import SERVER_FULL, Connections, network
from harena.server.parsing_turns import ParsingTurns

if TYPE_CHECKING:
    from harena.server.state import ServerState

MOST_URL_BYTES = 32 * 1024
MOST_HEAD_BYTES = 64 * 1024
"""size limit of a request's first line and headers together, and of all else that is no content: lines before chunks,
trailers, lines between requests"""
HEAD_SECONDS = 60.0
"""in which they must come, counted from the connection's begin or from their own"""
UNREAD_SECONDS = 60.0
"""for which nothing of an answer may be taken before its connection is dropped"""
KEYED_UNREAD_SECONDS = 600.0
"""longer with a key: who follows a command may be busy with what it has printed"""
MOST_UNREAD_BYTES = 64 * 1024
"""what is parsed of a body after its request's answer has begun, so that its end is found; behind more nothing is
answered"""
LINGER_SECONDS = 30.0
"""for which what comes then is thrown away: closed at once, its sender might not get to read the answer"""
HEADER_BYTES = 32
"""what a header counts beside its name and value, because of its memory (as in HTTP/2)"""
SLICE_BYTES = 8 * 1024
"""what is parsed at once, where it is not known to be one piece of a body"""
SLICE_EVENTS = 256
"""after which the rest of what was read waits for other connections"""
FEW_PIECES = 16
"""more pieces of a body are joined before they are handed on: fewer are so large that it would take longer"""

_MALFORMED = ("this is no HTTP request that can be understood", "HTTP")
_BODY_OF_UPGRADE = (
    "a request that asks for another protocol (CONNECT, Upgrade) has a body: this server has HTTP/1.1 only; send it "
    "without `upgrade`",
    "HTTP",
)
_TOO_LONG = (f"the address is longer than {MOST_URL_BYTES} bytes", "URL_TOO_LONG")
_TOO_LARGE = (f"the headers are larger than {MOST_HEAD_BYTES} bytes", "HEAD_TOO_LARGE")
_TOO_LONG_BETWEEN = (
    f"more than {MOST_HEAD_BYTES} bytes have come between pieces of a body, behind it or before a request",
    "HEAD_TOO_LARGE",
)


_BLANK_LINE = b"\r\n\r\n"
_KEPT = len(_BLANK_LINE) - 1
_SIZE_LINE = re.compile(rb"(?:\r\n)?([0-9A-Fa-f]{1,12})(?:;[^\r\n]*+)?\r\n")
"""the line before a chunk, behind the end of the chunk before"""
_MOST_SIZE_LINE = 64
_BODY_HEADERS = frozenset({b"content-length", b"transfer-encoding"})


class HttpProtocol(HttpToolsProtocol):
    """One connection."""

    _refusal = _MALFORMED
    """what is wrong, and the reason"""
    _in_head = True
    _head_bytes = 0
    _unfinished_bytes = 0
    """what the parser may keep, because it was told to nobody"""
    _timer: asyncio.TimerHandle | None = None

    _unparsed = b""
    """what was last read"""
    _parsed = 0
    """how many bytes of it are parsed"""
    _last_bytes = b""
    """the end of what is parsed: a blank line may begin there"""
    _body_left = 0
    """bytes of the body, or of its chunk, that are to come"""
    _in_chunks = False
    """the next chunk of a body, or the end of the one before, is to be parsed"""
    _size_line = b""
    """a part of the line before a chunk that is parsed"""
    _is_whole = True
    """the end of the request has come"""
    _held_bytes = 0
    """what was parsed of a body since the application took some"""
    _left_unread = 0
    """bytes of a body that are parsed yet though its answer has begun"""
    _lingers = False
    """the request was answered, and its body is too long to wait for its end"""
    _events = 0
    """what the parser has told in a slice"""

    _watching: asyncio.TimerHandle | None = None
    """until when its client has to take something"""
    _untaken = 0
    """bytes of answers that the client had not taken when that began"""

    _is_keyed = False
    _counted: Connections | None = None
    _turns: ParsingTurns
    _address: str
    _pieces: list[bytes]
    """parts of a body which are parsed and not handed on"""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Count the connection, and refuse it where its client or the server has too many."""
        super().connection_made(transport)
        self.flow, self._pieces = _Flow(self), []
        # writing is paused from the first byte that is not taken to the last one; TLS would pause at 0 bytes, for ever
        transport.set_write_buffer_limits(high=0 if transport.get_extra_info("ssl_object") is None else 1, low=0)
        state: ServerState = self.config.app.state.harena  # type: ignore[union-attr]
        self._turns, self._address = state.parsing_turns, network(None if self.client is None else self.client[0])
        if state.greetings is not None and (ours := transport.get_extra_info("socket")) is not None:
            state.greetings.ended(ours.fileno())
        if state.connections.add(self, None if self.client is None else self.client[0]):
            self._counted = state.connections
            self._wind()
        else:
            self._answer_and_close(SandboxUnavailableError(SERVER_FULL, reason="CONNECTIONS"))

    def connection_lost(self, exc: Exception | None) -> None:
        """Give back what the connection held: its place, its turn to be parsed and its timers."""
        self._unwind()
        self._stop_watching()
        self._turns.leave(self)
        self._unparsed, self._parsed = b"", 0
        if self._counted is not None:
            self._counted.remove(self)
        super().connection_lost(exc)

    def may_be_closed(self) -> bool:
        """Tell whether the connection waits for its client and may be closed to make room."""
        return self._waits_for_its_client() and not (self._is_keyed and self.flow.read_paused)

    def drop(self) -> None:
        """Close the connection at once, and drop what the kernel has not sent yet."""
        if (ours := self.transport.get_extra_info("socket")) is not None:
            kernel_memory.forget_what_is_left(ours)
        self.transport.abort()

    def identified(self, workspace: str) -> None:
        """A request with a key of the workspace came. Raises LimitExceededError."""
        is_first, self._is_keyed = not self._is_keyed, True
        if is_first:
            self._turns.leave(self)
            if self.has_unparsed():
                self.parse_soon()
        if self._counted is None:
            return
        try:
            self._counted.identified(self, workspace)
        except HarenaError:
            self.cycle.keep_alive = False  # it is closed behind the answer
            raise
        if is_first and (ours := self.transport.get_extra_info("socket")) is not None:
            kernel_memory.widen(ours, kernel_memory.bytes_for(self._counted.count_with(self)))

    def _waits_for_its_client(self) -> bool:
        """For a request, or for more of one; not where one that has come is answered, unless nobody's key is known and
        the client does not take the answer."""
        if self.cycle is None or (self.flow.write_paused and not self._is_keyed):
            return True
        return bool(self.cycle.response_complete or self.cycle.more_body)

    def _note(self) -> None:
        if self._counted is not None:
            self._counted.heard(self, quiet=self._waits_for_its_client())

    def pause_writing(self) -> None:
        """Stop writing, and close the connection if the client reads nothing for a while."""
        super().pause_writing()
        self._watch()
        self._note()

    def resume_writing(self) -> None:
        """Write on: the client has read what was sent."""
        self._stop_watching()
        super().resume_writing()
        self._note()

    def _watch(self) -> None:
        self._stop_watching()
        self._untaken = self.transport.get_write_buffer_size()
        seconds = KEYED_UNREAD_SECONDS if self._is_keyed else UNREAD_SECONDS
        self._watching = self.loop.call_later(seconds, self._look_at_reader)

    def _look_at_reader(self) -> None:
        if self.transport.get_write_buffer_size() < self._untaken:
            self._watch()
        else:
            self.drop()

    def _stop_watching(self) -> None:
        if self._watching is not None:
            self._watching.cancel()
            self._watching = None

    def on_response_complete(self) -> None:
        """Note that an answer is complete, for this connection's limits."""
        super().on_response_complete()
        if self._counted is not None:
            self._counted.answered(self)
        self._note()

    def data_received(self, data: bytes) -> None:
        """Take what has arrived, and parse it now if the request has a known key, else in the connection's turn."""
        self._unparsed = self._unparsed[self._parsed :] + data  # mostly nothing was left: else reading is paused
        self._parsed = 0
        if self._is_keyed:
            self.parse_slice()
        else:
            self._unset_keepalive_if_required()
            self.flow.pause_reading()
            self.parse_soon()

    def parse_slice(self) -> int:
        """Parse a bounded part of what has arrived; gives the number of the parser's events."""
        self._unset_keepalive_if_required()
        events = 0
        if self.cycle is None or not self.cycle.body:
            self._held_bytes = 0
        while self.has_unparsed() and not self._answers() and events < SLICE_EVENTS:
            events += self._feed()
        self._hand_on_body()
        self._note()
        holds = self._holds_body()
        if holds or self.has_unparsed():
            self.flow.pause_reading()
        if not holds:
            self.flow.resume_reading()
        self._await_next()
        return events

    def _await_next(self) -> None:
        """What comes behind an answer and begins no request, as blank lines and the rest of a body that was refused do,
        has ended the time for which a quiet connection is kept: it begins anew."""
        is_quiet = self.cycle is not None and self.cycle.response_complete and not self.has_unparsed()
        has_timer = self._timer is not None or self.timeout_keep_alive_task is not None
        if is_quiet and not has_timer and not self.transport.is_closing():
            self.timeout_keep_alive_task = self.loop.call_later(
                self.timeout_keep_alive, self.timeout_keep_alive_handler
            )

    def has_unparsed(self) -> bool:
        """Something that was read waits for its turn, or for the answer to a request before it."""
        if self._parsed == len(self._unparsed) or self.transport.is_closing() or self._lingers:
            self._unparsed, self._parsed = b"", 0
        return bool(self._unparsed)

    def parse_soon(self) -> None:
        """Ask for a turn to parse what is left, unless it has to wait for an answer."""
        if self._answers():
            return
        if self._is_keyed:
            self._turns.ask(self)
        else:
            self._turns.ask_unknown(self, self._address)

    def _answers(self) -> bool:
        """The answer to a request is to be whole before more is parsed: all of the request has come, or of its body as
        much as is looked at beside an answer."""
        if self.cycle is None or self.cycle.response_complete:
            return False
        return not self.cycle.more_body or self._left_unread < 0

    def _holds_body(self) -> bool:
        """What has come of a body is to be taken before there is more of it. The lines between its pieces count."""
        if self.cycle is None or self.cycle.response_complete:
            return False
        return bool(self.cycle.body) and self._held_bytes > HIGH_WATER_LIMIT

    def _feed(self) -> int:
        """Parse a slice. It ends where a head may end, so that it holds no second one. How many events it was."""
        begin = self._parsed
        if self._body_left:
            end = begin + self._body_left
        elif self._in_chunks:
            end = self._chunks_end(begin)
        else:
            end = self._blank_line_end(begin)
        self._body_left = max(0, end - len(self._unparsed))
        end -= self._body_left
        piece = self._unparsed[begin:end]
        self._last_bytes = (self._last_bytes + piece[-_KEPT:])[-_KEPT:]
        self._parsed, self._events = end, 1
        self._unfinished_bytes += len(piece)
        self._held_bytes += len(piece)
        try:
            self.parser.feed_data(piece)
        except httptools.HttpParserUpgrade:  # always at the end of a head, which is the slice's
            self._unsupported_upgrade_warning()
        except httptools.HttpParserError:
            self.logger.warning("Invalid HTTP request received.")
            self.send_400_response("")
        # a header or trailer that never ends is told to nobody before its end
        if self._unfinished_bytes > MOST_HEAD_BYTES and not self.transport.is_closing():
            self._refusal = _TOO_LARGE if self._in_head else _TOO_LONG_BETWEEN
            self.send_400_response("")
        if self.cycle is not None and self.cycle.response_started and not self._is_whole:
            self._left_unread -= len(piece)
            if self._left_unread < 0 and self.cycle.response_complete and not self.transport.is_closing():
                self._linger()
        return self._events

    def _blank_line_end(self, begin: int) -> int:
        end = min(len(self._unparsed), begin + SLICE_BYTES)
        seen = self._last_bytes + self._unparsed[begin:end]
        blank = seen.find(_BLANK_LINE)
        return end if blank < 0 else begin + blank + len(_BLANK_LINE) - len(self._last_bytes)

    def _chunks_end(self, begin: int) -> int:
        """The end of whole chunks, or of the first one, which may not have come whole. Looking for blank lines would
        take longer than all else."""
        end = begin
        while end < min(begin + SLICE_BYTES, len(self._unparsed)):
            if self._size_line:
                line, place = self._size_line + self._unparsed[end : end + _MOST_SIZE_LINE], 0
            else:
                line, place = self._unparsed, end
            size = _SIZE_LINE.match(line, place, place + _MOST_SIZE_LINE)
            if size is None and len(rest := line[place:]) < _MOST_SIZE_LINE and rest.count(b"\n") < 2:
                self._size_line = rest  # it may have come in part
                return len(self._unparsed)
            if size is None or not (length := int(size[1], 16)):  # the last one, whose trailers end with a blank line
                self._in_chunks = end > begin
                return end if end > begin else self._blank_line_end(begin)
            end += size.end() - place - len(self._size_line) + length
            self._size_line = b""
        return end

    def on_message_begin(self) -> None:
        """Start a new request's counts, and its time limit."""
        super().on_message_begin()
        self.scope["state"]["connection"] = self
        self._in_head, self._head_bytes = True, 0
        self._wind()

    def on_url(self, url: bytes) -> None:
        """Take one more piece of the request's address."""
        super().on_url(url)
        if len(self.url) > MOST_URL_BYTES:
            self._refuse(_TOO_LONG)

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take one whole header. A trailer is counted, too, and is no header of the request that is under way."""
        if self._in_head:
            super().on_header(name, value)
        self._events += 1
        self._head_bytes += len(name) + len(value) + HEADER_BYTES
        if self._head_bytes > MOST_HEAD_BYTES:
            self._refuse(_TOO_LARGE)

    def on_headers_complete(self) -> None:
        """The request begins."""
        self._in_head, self._is_whole = False, False
        self._unfinished_bytes, self._held_bytes, self._left_unread = 0, 0, MOST_UNREAD_BYTES
        self._unwind()
        told = {name: value for name, value in self.headers if name in _BODY_HEADERS}
        self._in_chunks, self._size_line = b"transfer-encoding" in told, b""
        # the parser has refused what is no number
        self._body_left = 0 if self._in_chunks else int(told.get(b"content-length", b"0"))
        if (self._in_chunks or self._body_left) and self.parser.should_upgrade():
            # the parser takes it for another protocol's bytes, and what follows it must not become a request
            self._refuse(_BODY_OF_UPGRADE)
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """A piece of it, which can be one byte: they are handed on together."""
        self._events += 1
        self._unfinished_bytes = 0
        self._pieces.append(body)

    def on_message_complete(self) -> None:
        """The request has come whole."""
        self._in_chunks, self._is_whole, self._unfinished_bytes, self._body_left = False, True, 0, 0
        self._hand_on_body()
        super().on_message_complete()

    def _hand_on_body(self) -> None:
        if self._pieces:
            pieces, self._pieces = self._pieces, []
            for piece in pieces if len(pieces) <= FEW_PIECES else (b"".join(pieces),):
                super().on_body(piece)

    def send_400_response(self, msg: str) -> None:
        """What cannot be understood is answered with a problem, and the connection closed; in the middle of an answer a
        problem would be taken for a part of it."""
        if self.cycle is not None and self.cycle.response_started and not self.cycle.response_complete:
            self.transport.close()
            return
        message, reason = self._refusal
        self._answer_and_close(ValidationError(message, reason=reason))

    def _answer_and_close(self, error: HarenaError) -> None:
        answer = ProblemResponse(error, None)
        phrase = http.HTTPStatus(answer.status_code).phrase
        head: list[Any] = [f"HTTP/1.1 {answer.status_code} {phrase}".encode()]
        head += (name + b": " + value for name, value in answer.raw_headers)
        self.transport.write(b"\r\n".join([*head, b"connection: close", b"", bytes(answer.body)]))
        self.transport.close()

    def _refuse(self, refusal: tuple[str, str]) -> None:
        self._refusal = refusal
        raise ValueError(refusal[0])  # the parser stops, and `send_400_response` is called

    def _linger(self) -> None:
        self._lingers = True
        if self.transport.can_write_eof():  # TLS has no such half of an end
            self.transport.write_eof()
        self._wind(LINGER_SECONDS)

    def _wind(self, seconds: float | None = None) -> None:
        self._unwind()
        self._timer = self.loop.call_later(HEAD_SECONDS if seconds is None else seconds, self.transport.close)

    def _unwind(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


class _Flow(FlowControl):
    """Reads on when what was read is parsed."""

    def __init__(self, connection: HttpProtocol) -> None:
        super().__init__(connection.transport)
        self._connection = connection

    def resume_reading(self) -> None:
        """Parse what was left first, and read from the socket only when nothing was."""
        if self._connection.has_unparsed():
            self._connection.parse_soon()
        else:
            super().resume_reading()
