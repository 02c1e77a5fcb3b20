"""The sampler as a process of its own: `python -m harena.training.engines.sampler_server --folder FOLDER`.

It reads a policy (see `policy_folder`), listens on the loopback interface, writes one line of JSON with its port to
standard output, and speaks `harena.training.rollouts.sampler_wire`. The token comes in the environment. It ends when
its standard input does, so it never outlives whoever started it.
"""

from __future__ import annotations

import argparse
import asyncio
import hmac
import json
import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import torch
from aiohttp import web
from safetensors import SafetensorError

from harena.core import settings
from harena.core.errors import HarenaError, ValidationError
from harena.training.engines.policy_folder import read_policy
from harena.training.engines.published_sampler import PublishedSampler
from harena.training.rollouts.sampler_wire import WEIGHTS_FILE, request_from_json, sampled_to_json
from harena.training.rollouts.trajectory import Sampled

MOST_BYTES = 64 * 2**30
LINES = "application/x-ndjson"
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class SamplerServer:
    """HTTP in front of one sampler."""

    def __init__(self, model: Any, *, token: str, pad_token: int = 0) -> None:
        """`model` as `read_policy` gives it. `token`: what callers show; not empty."""
        self._model = model
        self._token = token
        self._batches: dict[str, list[asyncio.Future[Sampled]]] = {}
        self._publishing = asyncio.Lock()
        self._sampler = PublishedSampler(model, pad_token=pad_token)

    def app(self) -> web.Application:
        """The routes."""
        app = web.Application(middlewares=[self._checked], client_max_size=MOST_BYTES)
        app.router.add_get("/v1/policy", self._policy)
        app.router.add_post("/v1/sample", self._sample)
        app.router.add_post("/v1/abort", self._abort)
        app.router.add_put(r"/v1/weights/{version:\d+}", self._publish)
        return app

    async def close(self) -> None:
        """End its thread."""
        await self._sampler.close()

    @web.middleware
    async def _checked(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        shown = request.headers.get("Authorization", "")
        if not hmac.compare_digest(shown.encode(), f"Bearer {self._token}".encode()):
            return web.json_response({"detail": "this sampler does not know the bearer token"}, status=401)
        try:
            return await handler(request)
        except (HarenaError, json.JSONDecodeError, SafetensorError) as error:
            return web.json_response({"detail": str(error)}, status=422)

    async def _policy(self, request: web.Request) -> web.Response:
        sizes = {
            "context_length": self._model.config.max_position_embeddings,
            "vocabulary_size": self._model.config.vocab_size,
        }
        return web.json_response({"version": self._sampler.version, **sizes})

    async def _sample(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        if not isinstance(body, dict) or set(body) != {"batch", "requests"} or body["batch"] in self._batches:
            raise ValidationError("a batch is {batch: a name of its own, requests: [...]}")
        size = self._model.config.vocab_size
        asked = [request_from_json(entry, vocabulary_size=size) for entry in body["requests"]]
        longest = max((len(entry.prompt) + entry.sampling.max_new_tokens for entry in asked), default=0)
        if longest > self._model.config.max_position_embeddings or not all(entry.prompt for entry in asked):
            raise ValidationError(f"{longest} tokens do not fit this policy's context, or a prompt is empty")
        futures = self._batches[body["batch"]] = self._sampler.submit(asked)
        try:
            return await self._answer(request, futures)
        finally:
            del self._batches[body["batch"]]
            for future in futures:
                future.cancel()

    async def _answer(self, request: web.Request, futures: list[asyncio.Future[Sampled]]) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": LINES})
        await response.prepare(request)
        rows = {future: row for row, future in enumerate(futures)}
        while rows:
            ended, _ = await asyncio.wait(rows, return_when=asyncio.FIRST_COMPLETED)
            lines = [_line(rows.pop(future), future) for future in sorted(ended, key=rows.__getitem__)]
            await response.write(b"".join(lines))
        await response.write_eof()
        return response

    async def _abort(self, request: web.Request) -> web.Response:
        body = await request.json()
        if not isinstance(body, dict) or set(body) != {"batch", "rows"}:
            raise ValidationError("what to abort is {batch, rows}")
        futures = self._batches.get(body["batch"], [])
        for row in body["rows"] if isinstance(body["rows"], list) else []:
            if isinstance(row, int) and 0 <= row < len(futures):
                futures[row].cancel()
        return web.json_response({})

    async def _publish(self, request: web.Request) -> web.Response:
        body = await request.read()
        if request.content_type == "application/json":
            body = await asyncio.to_thread(_read_weights, json.loads(body))
        version = int(request.match_info["version"])
        async with self._publishing:
            await asyncio.to_thread(self._sampler.publish, body, version)
        return web.json_response({"version": version})


def _read_weights(where: Any) -> bytes:
    if not isinstance(where, dict) or not isinstance(where.get("folder"), str):
        raise ValidationError(f"weights are a safetensors file, or {{folder: where {WEIGHTS_FILE} lies}}")
    try:
        return (Path(where["folder"]) / WEIGHTS_FILE).read_bytes()
    except OSError as error:
        raise ValidationError(f"the weights cannot be read: {error}") from error


def _line(row: int, future: asyncio.Future[Sampled]) -> bytes:
    if future.cancelled():
        return b""
    if (error := future.exception()) is not None:
        return json.dumps({"error": f"{type(error).__name__}: {error}"}).encode() + b"\n"
    return json.dumps(sampled_to_json(row, future.result())).encode() + b"\n"


async def serve(model: Any, *, token: str, pad_token: int) -> None:
    """Until standard input ends."""
    server = SamplerServer(model, token=token, pad_token=pad_token)
    runner = web.AppRunner(server.app(), handler_cancellation=True, access_log=None, shutdown_timeout=1.0)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    port = runner.addresses[0][1]
    print(json.dumps({"port": port}), flush=True)  # noqa: T201 - how its parent learns of it
    await asyncio.to_thread(sys.stdin.buffer.read)
    await runner.cleanup()
    await server.close()


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, required=True, help="a policy, as write_policy writes it")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--threads", type=int, help="of torch, on CPU")
    parser.add_argument("--pad-token", type=int, default=0)
    chosen = parser.parse_args()
    if not (token := os.environ.pop(settings.SAMPLER_TOKEN.name, "")):
        parser.error(f"{settings.SAMPLER_TOKEN.name} is not set: callers must show a token")
    if chosen.threads:
        torch.set_num_threads(chosen.threads)
    try:
        model = read_policy(chosen.folder, device=chosen.device)
    except (HarenaError, OSError) as error:
        parser.error(str(error))
    asyncio.run(serve(model, token=token, pad_token=chosen.pad_token))


if __name__ == "__main__":
    main()
