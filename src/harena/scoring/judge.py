"""One question to a judge: a chat completion of any server with OpenAI's interface.

The server is this node's: `HARENA_JUDGE_BASE_URL` (as `http://127.0.0.1:8000/v1`) and, if it wants one,
`HARENA_JUDGE_API_KEY`. Neither enters a sandbox, a result or an error.
"""

from __future__ import annotations

import http.client
import json
import os
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from typing import Any

from harena.core.errors import HarenaError, PlatformError

BASE_URL_VARIABLE, API_KEY_VARIABLE = "HARENA_JUDGE_BASE_URL", "HARENA_JUDGE_API_KEY"

_MAX_ANSWER_BYTES = 1024 * 1024
_BUSY = (408, 409, 425, 429, 502, 503, 504)
_STEP = "ask the judge"


class JudgeOverdueError(PlatformError):
    """The server took longer than it was given."""


class JudgeBusyError(PlatformError):
    """The server was not reached, or has no time for questions now, whatever they are."""


class JudgeRefusedError(HarenaError):
    """The server will never answer this question (a model that it does not have, for instance)."""


def missing_judge() -> str | None:
    """What is to be set before anything can be asked; None = there is a judge."""
    if os.environ.get(BASE_URL_VARIABLE, "").startswith(("http://", "https://")):
        return None
    return f"there is no judge: set {BASE_URL_VARIABLE} to the http(s) URL of its server"


def ask(messages: Sequence[Mapping[str, str]], parameters: Mapping[str, Any], timeout_seconds: float) -> str:
    """The text that the model answers; blocks. Raises PlatformError, worth another try (where time
    was over, JudgeOverdueError), and JudgeRefusedError."""
    if (missing := missing_judge()) is not None:
        raise JudgeBusyError(missing, step=_STEP)
    base = os.environ[BASE_URL_VARIABLE]
    headers = {"Content-Type": "application/json"}
    if key := os.environ.get(API_KEY_VARIABLE):
        headers["Authorization"] = f"Bearer {key}"
    body = json.dumps({"messages": list(messages), **parameters}).encode()
    request = urllib.request.Request(  # noqa: S310 (its scheme has just been checked)
        f"{base.rstrip('/')}/chat/completions", data=body, headers=headers, method="POST"
    )
    try:
        with urllib.request.urlopen(request, timeout=timeout_seconds) as response:  # noqa: S310 (see above)
            return _content(response.read(_MAX_ANSWER_BYTES))
    except urllib.error.HTTPError as error:
        with error:
            said = error.read(300).decode("utf-8", "replace")
        message = f"the judge's server answered {error.code}: {' '.join(said.split())}"
        if error.code in _BUSY:
            raise JudgeBusyError(message, step=_STEP) from None
        if error.code >= 500:  # a question can cause it, too
            raise PlatformError(message, step=_STEP) from None
        raise JudgeRefusedError(message) from None
    except TimeoutError:
        raise JudgeOverdueError(f"the judge gave no answer within {timeout_seconds:g} s", step=_STEP) from None
    except (OSError, http.client.HTTPException) as error:
        if isinstance(getattr(error, "reason", None), TimeoutError):  # as urllib says it of a connection
            raise JudgeOverdueError(f"the judge gave no answer within {timeout_seconds:g} s", step=_STEP) from None
        raise JudgeBusyError(f"the judge's server cannot be asked: {error}", step=_STEP) from None


def _content(body: bytes) -> str:
    try:
        content = json.loads(body)["choices"][0]["message"]["content"]
    except (ValueError, RecursionError, LookupError, TypeError):
        content = None
    if not isinstance(content, str):
        raise PlatformError("the judge's server gave no completion with a text", step=_STEP)
    return content
