"""A model behind a server with OpenAI's interface (`/chat/completions`), such as vLLM, SGLang or llama.cpp."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import aiohttp

from harena.core.errors import PlatformError, ValidationError
from harena.core.outside_json import read_outside
from harena.training.data.conversations import Conversation
from harena.training.data.prompts import PromptRow
from harena.training.model_eval.answers_file import ModelAnswer
from harena.training.model_eval.models import Asking
from harena.training.requests.plan import NEW_TOKENS_IN_CHAT

MOST_BYTES = 16 * 2**20
"""size limit of one answer"""
ANSWER_SECONDS = 600.0
TRIES = 6
FIRST_PAUSE_SECONDS = 0.5
"""before the second try; each further pause is twice as long, and at most LONGEST_PAUSE_SECONDS"""
LONGEST_PAUSE_SECONDS = 30.0
_WORTH_A_TRY = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
_STEP = "ask the model"
ADVICE = (
    "check the URL, and that the model's server runs and may be reached from here; answers that have come are kept, "
    "and the same command goes on with the others"
)


class _Again(Exception):  # noqa: N818 - it is no error yet
    """Worth another try; the text says what happened."""

    def __init__(self, said: str, after: float | None = None) -> None:
        super().__init__(said)
        self.after = after
        """seconds that the server asks to wait"""


class ServedModel:
    """Implements `AskedModel`. No redirect is followed: the key would go along."""

    def __init__(self, base_url: str, model: str, *, api_key: str | None = None) -> None:
        """`base_url` ends before `/chat/completions`, as `http://127.0.0.1:8000/v1`. Raises ValidationError."""
        if not base_url.startswith(("http://", "https://")):
            raise ValidationError(f"{base_url!r:.200} is no http(s) URL of a model's server")
        self._name = f"{model} at {base_url}"
        self._url = f"{base_url.rstrip('/').removesuffix('/chat/completions')}/chat/completions"
        self._model = model
        self._headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
        self._session: aiohttp.ClientSession | None = None

    @property
    def name(self) -> str:
        """The model and its server."""
        return self._name

    @property
    def in_chat(self) -> bool:
        """It is asked over the interface for conversations."""
        return True

    def with_prompt(self, problem: PromptRow, conversation: Conversation) -> PromptRow:
        """The problem with its conversation; a text is what a user says."""
        text = "\n\n".join(str(message.get("content") or "") for message in conversation.messages)
        return replace(problem, prompt=problem.prompt or text, messages=conversation.messages)

    def most_new_tokens(self, problems: Sequence[PromptRow]) -> int:
        """The length that training gives a chat model: 1024."""
        return NEW_TOKENS_IN_CHAT

    def check(self, problems: Sequence[PromptRow], asking: Asking) -> None:
        """Check nothing: the length of the model's context is not known before the model is asked."""

    async def answers(
        self, wanted: Sequence[tuple[PromptRow, int]], asking: Asking
    ) -> AsyncIterator[list[ModelAnswer]]:
        """Ask for `asking.at_once` answers side by side, and give each when it has come. Raises PlatformError where the
        server cannot be reached or fails again and again, ValidationError where it refuses a question for good."""
        slots = asyncio.Semaphore(asking.at_once)

        async def one(problem: PromptRow, sample: int) -> ModelAnswer:
            async with slots:
                return await self._answer(problem, sample, asking)

        asked = [asyncio.ensure_future(one(problem, sample)) for problem, sample in wanted]
        try:
            for ended in asyncio.as_completed(asked):
                yield [await ended]
        finally:
            for task in asked:
                task.cancel()
            await asyncio.gather(*asked, return_exceptions=True)

    async def close(self) -> None:
        """Close its connections."""
        if self._session is not None:
            await self._session.close()

    async def _answer(self, problem: PromptRow, sample: int, asking: Asking) -> ModelAnswer:
        body = {
            "model": self._model,
            "messages": [dict(message) for message in problem.messages],
            "max_tokens": asking.max_new_tokens,
            "temperature": asking.temperature,
            "top_p": asking.top_p,
            "seed": asking.seed + sample,
        }
        pause = FIRST_PAUSE_SECONDS
        for number in range(TRIES):
            try:
                return _read(await self._post(body), problem, sample)
            except _Again as again:
                if number == TRIES - 1:
                    raise PlatformError(f"{self._name}: {again}, {TRIES} times: {ADVICE}", step=_STEP) from None
                await asyncio.sleep(min(LONGEST_PAUSE_SECONDS, again.after or pause))
                pause *= 2
        raise AssertionError

    async def _post(self, body: Mapping[str, Any]) -> bytes:
        if self._session is None:
            self._session = aiohttp.ClientSession(
                headers=self._headers,
                timeout=aiohttp.ClientTimeout(total=ANSWER_SECONDS),
                cookie_jar=aiohttp.DummyCookieJar(),
            )
        try:
            async with self._session.post(self._url, json=body, allow_redirects=False) as response:
                said = await response.content.read(MOST_BYTES + 1)
                while not response.content.at_eof() and len(said) <= MOST_BYTES:
                    said += await response.content.read(MOST_BYTES + 1 - len(said))
                status, after = response.status, response.headers.get("Retry-After")
        except TimeoutError:
            raise _Again(f"no answer within {ANSWER_SECONDS:g} seconds") from None
        except (aiohttp.ClientError, OSError) as error:
            raise _Again(f"it cannot be reached ({type(error).__name__})") from None
        if len(said) > MOST_BYTES:
            raise PlatformError(f"{self._name}: an answer has more than {MOST_BYTES} bytes", step=_STEP)
        if status == 200:
            return said
        shown = f"status {status}: {' '.join(said[:300].decode('utf-8', 'replace').split())}"
        if status in _WORTH_A_TRY:
            raise _Again(shown, _seconds(after))
        raise ValidationError(f"{self._name} refuses to answer: {shown}")


def _read(said: bytes, problem: PromptRow, sample: int) -> ModelAnswer:
    try:
        told = read_outside(said.decode())
        choice = told["choices"][0]
        text = choice["message"].get("content") or ""
    except (ValueError, RecursionError, LookupError, TypeError, AttributeError):
        raise _Again("what it answers is no chat completion") from None
    if not isinstance(text, str):
        raise _Again("the content of its message is no text")
    usage = told.get("usage")
    tokens = usage.get("completion_tokens") if isinstance(usage, Mapping) else None
    return ModelAnswer(
        problem=problem.id,
        sample=sample,
        text=text,
        tokens=tokens if isinstance(tokens, int) else None,
        cut_off=choice.get("finish_reason") == "length",
    )


def _seconds(after: str | None) -> float | None:
    with suppress(TypeError, ValueError):
        return max(0.0, float(after or ""))
    return None
