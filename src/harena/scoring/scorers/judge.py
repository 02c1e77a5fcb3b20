"""One question to a judge: a chat completion of any server with OpenAI's interface.

The server is this node's: `HARENA_JUDGE_BASE_URL` (as `http://127.0.0.1:8000/v1`) and, if it wants one,
`HARENA_JUDGE_API_KEY`. Neither enters a sandbox, a result or an error. No redirect is followed: the key would go along.

Questions are asked in threads of their own. The time limit is that of a whole question, however slowly an answer drips.
"""

from __future__ import annotations

import asyncio
import functools
import json
import os
import socket
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from harena.core import settings
from harena.core.errors import HarenaError, PlatformError
from harena.core.json_steps import parse

if TYPE_CHECKING:
    import http.client
    import urllib.request

_MAX_ANSWER_BYTES = 1024 * 1024
_BUSY = (408, 409, 425, 429, 502, 503)
"""the server says that it is busy, or not there; a question that is too long or breaks a worker brings these, too"""
_STEP = "ask the judge"
GRACE_SECONDS = 5.0
"""beyond its time limit, for a question that hangs where no time limit reaches: in the resolution of a name"""

Ask = Callable[[Sequence[Mapping[str, str]], Mapping[str, Any], float], str]
"""messages, parameters, seconds -> what the model answers; blocks"""


class JudgeFaultError(PlatformError):
    """The server failed at this question. Another question tells whether this one brought it about."""


class JudgeOverdueError(JudgeFaultError):
    """The server took longer than it was given."""


class JudgeLoadedError(JudgeFaultError):
    """The server says that it has no time for questions now. It says so of some questions only, too: those that need
    more than its share for a minute, or that break what answers them."""


class JudgeBusyError(PlatformError):
    """The server was not reached, whatever the question."""


class JudgeRefusedError(HarenaError):
    """The server will never answer this question (a model that it does not have, for instance)."""


def missing_judge() -> str | None:
    """What is to be set before anything can be asked; None = there is a judge."""
    if (settings.JUDGE_BASE_URL.read() or "").startswith(("http://", "https://")):
        return None
    return f"there is no judge: set {settings.JUDGE_BASE_URL.name} to the http(s) URL of its server"


async def asked(
    ask: Ask, messages: Sequence[Mapping[str, str]], parameters: Mapping[str, Any], timeout_seconds: float
) -> str:
    """What `ask` gives, called in a thread of its own: a judge may take minutes, and the threads that the event loop
    shares out are few. Raises what `ask` raises."""
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[str] = loop.create_future()

    def tell(give: Callable[[Any], None], value: Any) -> None:
        if not answer.done():
            give(value)

    def work() -> None:
        try:
            outcome = functools.partial(tell, answer.set_result, ask(messages, parameters, timeout_seconds))
        except Exception as error:  # noqa: BLE001 (raised where it is waited for)
            outcome = functools.partial(tell, answer.set_exception, error)
        with suppress(RuntimeError):  # the loop has been closed
            loop.call_soon_threadsafe(outcome)

    threading.Thread(target=work, name="judge", daemon=True).start()
    try:
        async with asyncio.timeout(timeout_seconds + GRACE_SECONDS):
            return await answer
    except TimeoutError:
        raise _overdue(timeout_seconds) from None


def ask(messages: Sequence[Mapping[str, str]], parameters: Mapping[str, Any], timeout_seconds: float) -> str:
    """The text that the model answers; blocks. Raises PlatformError, worth another try (JudgeFaultError where it may be
    the question's doing), and JudgeRefusedError."""
    import http.client  # by the few who ask a model: to load them takes as long as ten scorers take
    import urllib.error
    import urllib.request

    if (missing := missing_judge()) is not None:
        raise JudgeBusyError(missing, step=_STEP)
    base = os.environ[settings.JUDGE_BASE_URL.name]
    headers = {"Content-Type": "application/json"}
    if key := settings.JUDGE_API_KEY.read():
        headers["Authorization"] = f"Bearer {key}"
    body = json.dumps({"messages": list(messages), **parameters}).encode()
    request = urllib.request.Request(  # noqa: S310 (its scheme has just been checked)
        f"{base.rstrip('/')}/chat/completions", data=body, headers=headers, method="POST"
    )
    deadline = _Deadline(timeout_seconds)
    try:
        with _opener(deadline).open(request, timeout=timeout_seconds) as response:
            answer = response.read(_MAX_ANSWER_BYTES + 1)
    except urllib.error.HTTPError as error:
        with error:
            said = error.read(300).decode("utf-8", "replace")
        raise _refusal(error.code, " ".join(said.split())) from None
    except (OSError, http.client.HTTPException) as error:
        if deadline.passed or isinstance(error, TimeoutError) or isinstance(getattr(error, "reason", 0), TimeoutError):
            raise _overdue(timeout_seconds) from None
        kind = JudgeFaultError if deadline.connected else JudgeBusyError
        raise kind(f"the judge's server cannot be asked: {error}", step=_STEP) from None
    finally:
        deadline.close()
    if deadline.passed:
        raise _overdue(timeout_seconds)
    if len(answer) > _MAX_ANSWER_BYTES:
        raise JudgeFaultError(f"the judge's answer is longer than {_MAX_ANSWER_BYTES} bytes", step=_STEP)
    return _content(answer)


def _overdue(seconds: float) -> JudgeOverdueError:
    return JudgeOverdueError(f"the judge gave no answer within {seconds:g} s", step=_STEP)


def _refusal(status: int, said: str) -> HarenaError:
    message = f"the judge's server answered {status}: {said}"
    if status in _BUSY:
        return JudgeLoadedError(message, step=_STEP)
    return JudgeFaultError(message, step=_STEP) if status >= 500 else JudgeRefusedError(message)


class _Deadline:
    """Ends the connections of one question when its time is over."""

    def __init__(self, seconds: float) -> None:
        self.passed = False
        self.connected = False
        self._sockets: list[socket.socket] = []
        self._timer = threading.Timer(seconds, self._pass)
        self._timer.daemon = True
        self._timer.start()

    def connect(self, *arguments: Any) -> socket.socket:
        """Connect, and keep the socket to close it when the time is over; one that comes too late is closed at once."""
        made = socket.create_connection(*arguments)
        self.connected = True
        self._sockets.append(made.dup())  # its own: TLS takes the other one over
        if self.passed:
            self._pass()
        return made

    def _pass(self) -> None:
        self.passed = True
        for connected in self._sockets:
            with suppress(OSError):
                connected.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """The question has been answered."""
        self._timer.cancel()
        for connected in self._sockets:
            connected.close()


def _opener(deadline: _Deadline) -> urllib.request.OpenerDirector:
    """For http and https, by the environment's proxies; without redirects."""
    import http.client
    import urllib.request

    def made(kind: type[http.client.HTTPConnection], host: str, **options: Any) -> http.client.HTTPConnection:
        connection = kind(host, **options)
        connection._create_connection = deadline.connect  # type: ignore[attr-defined]
        return connection

    class Http(urllib.request.HTTPHandler):
        def http_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
            return self.do_open(functools.partial(made, http.client.HTTPConnection), req)

    class Https(urllib.request.HTTPSHandler):
        def https_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
            return self.do_open(functools.partial(made, http.client.HTTPSConnection), req)

    opener = urllib.request.OpenerDirector()
    for handler in (
        urllib.request.ProxyHandler(),
        Http(),
        Https(),
        urllib.request.HTTPDefaultErrorHandler(),
        urllib.request.HTTPErrorProcessor(),
    ):
        opener.add_handler(handler)
    return opener


def _content(body: bytes) -> str:
    try:
        choice = parse(body)["choices"][0]
        content, ended = choice["message"]["content"], choice.get("finish_reason")
    except (ValueError, RecursionError, LookupError, TypeError, AttributeError):
        content = ended = None
    if not isinstance(content, str):  # a judge that declines to speak says null, too
        raise JudgeFaultError("the judge's server gave no completion with a text", step=_STEP)
    if ended == "length":
        raise JudgeFaultError("the judge's answer was cut off at its most tokens", step=_STEP)
    return content
