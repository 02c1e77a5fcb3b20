"""An engine that trains here and samples in another process, over HTTP: tokens in, tokens out.

The sampler is harena's own (`sampler_server`), started here or running somewhere on this machine. Both sides hold the
same policy; what is trained is sent after each step, in a request's body or through a folder that both see.
"""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import aiohttp
import torch
from safetensors.torch import save as safetensors_bytes

from harena.core import settings
from harena.core.errors import PlatformError, ValidationError
from harena.training.engines.local import LocalTrainer
from harena.training.engines.policy_folder import check_folder, trained_weights, write_policy
from harena.training.rollouts.sampler_wire import WEIGHTS_FILE, request_to_json, sampled_from_json
from harena.training.rollouts.trajectory import Sampled, SampleRequest

LOG_FILE = "sampler.log"
LONGEST_LINE = 2**26
"""bytes of one sequence"""
SECONDS_TO_END = 10.0


class SamplerProcess:
    """A sampler that was started here, and ends with this process at the latest."""

    def __init__(self, process: asyncio.subprocess.Process, url: str, token: str) -> None:
        self._process = process
        self.url = url
        self.token = token

    @property
    def pid(self) -> int:
        """Process id of the server."""
        return self._process.pid

    @classmethod
    async def start(
        cls, folder: Path, *, device: str = "cpu", threads: int | None = None, pad_token: int = 0
    ) -> SamplerProcess:
        """Start one over the policy in `folder`, where its log goes too. Raises ValidationError for a folder without
        one, PlatformError if it does not start."""
        check_folder(folder)
        token = secrets.token_urlsafe()
        module = "harena.training.engines.sampler_server"
        argv = ["-m", module, "--folder", str(folder), "--device", device, "--pad-token", str(pad_token)]
        if threads:
            argv += ["--threads", str(threads)]
        with (folder / LOG_FILE).open("wb") as log:
            process = await asyncio.create_subprocess_exec(
                sys.executable,
                *argv,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=log,
                env={**os.environ, settings.SAMPLER_TOKEN.name: token},
            )
        assert process.stdout is not None
        try:
            said = await process.stdout.readline()
        except BaseException:
            process.kill()
            raise
        if not said:
            await process.wait()
            last = (folder / LOG_FILE).read_text(errors="replace").strip().splitlines()[-3:]
            raise PlatformError("the sampler did not start: " + (" | ".join(last) or "no reason given"), step="sampler")
        return cls(process, f"http://127.0.0.1:{json.loads(said)['port']}", token)

    async def end(self) -> None:
        """Let it end, and wait. May be called more than once."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        try:
            await asyncio.wait_for(self._process.wait(), SECONDS_TO_END)
        except TimeoutError:
            self._process.kill()
            await self._process.wait()


class HttpEngine(LocalTrainer):
    """Implements `Engine`. Made by `start` or `connect`."""

    def __init__(
        self, model: Any, tokenizer: Any, *, url: str, token: str, weights_folder: Path | None = None, **settings: Any
    ) -> None:
        """`settings` as of LocalTrainer. `weights_folder`: publish through this folder, which the sampler can read,
        instead of a request's body."""
        super().__init__(model, tokenizer, **settings)
        self._version = 0
        self._url = url.rstrip("/")
        self._weights_folder = weights_folder
        self._process: SamplerProcess | None = None
        self._connection = aiohttp.ClientSession(
            headers={"Authorization": f"Bearer {token}"},
            timeout=aiohttp.ClientTimeout(total=None),
            connector=aiohttp.TCPConnector(limit=0),
            read_bufsize=LONGEST_LINE,
        )
        self._asking: set[asyncio.Task[None]] = set()

    @classmethod
    async def start(
        cls, model: Any, tokenizer: Any, folder: Path, *, sampler_threads: int | None = None, **settings: Any
    ) -> HttpEngine:
        """With a sampler of its own, whose policy is written into the empty `folder`. Raises OSError, PlatformError."""
        await asyncio.to_thread(write_policy, model, folder)
        device = settings.get("device", "cpu")
        pad = tokenizer.pad_token_id or 0
        process = await SamplerProcess.start(folder, device=device, threads=sampler_threads, pad_token=pad)
        engine = cls(model, tokenizer, url=process.url, token=process.token, **settings)
        engine._process = process
        return engine

    @classmethod
    async def connect(cls, model: Any, tokenizer: Any, *, url: str, token: str, **settings: Any) -> HttpEngine:
        """With a sampler that runs already, over the same kind of policy: gives it this model's weights as version 0.
        Raises PlatformError, ValidationError."""
        engine = cls(model, tokenizer, url=url, token=token, **settings)
        try:
            await engine._publish(0)
        except BaseException:
            await engine.close()
            raise
        return engine

    @property
    def version(self) -> int:
        """Version of the weights that the samplers have."""
        return self._version

    def sample(self, requests: Sequence[SampleRequest]) -> list[asyncio.Future[Sampled]]:
        """Send the requests to a sampler in the background. Raises ValidationError for a prompt that leaves no room for
        an answer. A sampler that is lost is a PlatformError of each future."""
        self._check(requests)
        futures: list[asyncio.Future[Sampled]] = [asyncio.get_running_loop().create_future() for _ in requests]
        if requests:
            self._in_background(self._ask(secrets.token_hex(8), list(requests), futures))
        return futures

    async def close(self) -> None:
        """Cancel what is asked for, and end the connections and the sampler's process, if it was started here."""
        for task in self._asking:
            task.cancel()
        await asyncio.gather(*self._asking, return_exceptions=True)
        await self._connection.close()
        if self._process is not None:
            await self._process.end()
        await super().close()

    def _in_background(self, work: Any) -> None:
        task = asyncio.ensure_future(work)
        self._asking.add(task)
        task.add_done_callback(self._asking.discard)

    async def _ask(self, batch: str, requests: list[SampleRequest], futures: list[asyncio.Future[Sampled]]) -> None:
        for row, future in enumerate(futures):
            future.add_done_callback(partial(self._abort_if_cancelled, batch, row))
        body = {"batch": batch, "requests": [request_to_json(request) for request in requests]}
        try:
            async with self._connection.post(f"{self._url}/v1/sample", json=body) as response:
                await _refuse(response)
                async for line in response.content:
                    _settle(json.loads(line), futures)
            error: Exception | None = None
        except (aiohttp.ClientError, ValueError, KeyError, TypeError) as problem:
            error = _lost(problem)
        except (PlatformError, ValidationError) as problem:
            error = problem
        for future in futures:
            if not future.done():
                future.set_exception(error or _lost("it ended its answer early"))

    def _abort_if_cancelled(self, batch: str, row: int, future: asyncio.Future[Sampled]) -> None:
        if future.cancelled() and not self._connection.closed:
            self._in_background(self._abort(batch, row))

    async def _abort(self, batch: str, row: int) -> None:
        try:
            async with self._connection.post(f"{self._url}/v1/abort", json={"batch": batch, "rows": [row]}):
                pass
        except aiohttp.ClientError:
            pass  # a sampler that is lost samples nothing

    async def _publish(self, version: int) -> None:
        if self._weights_folder is None:
            sent: dict[str, Any] = {"data": await self._on_thread(self._weights)}
        else:
            path = self._weights_folder / WEIGHTS_FILE
            await self._on_thread(lambda: _write_whole(path, self._weights()))
            sent = {"json": {"folder": str(self._weights_folder)}}
        try:
            async with self._connection.put(f"{self._url}/v1/weights/{version}", **sent) as response:
                await _refuse(response)
        except aiohttp.ClientError as error:
            raise _lost(error) from error
        self._version = version

    def _weights(self) -> bytes:
        with torch.no_grad():
            return safetensors_bytes(trained_weights(self._model))


def _settle(entry: dict[str, Any], futures: list[asyncio.Future[Sampled]]) -> None:
    if "error" in entry:
        raise PlatformError(f"the sampler failed: {entry['error']}", step="sampler")
    row, sampled = sampled_from_json(entry)
    if not futures[row].done():
        futures[row].set_result(sampled)


async def _refuse(response: aiohttp.ClientResponse) -> None:
    if response.status < 400:
        return
    try:
        detail = (await response.json())["detail"]
    except (aiohttp.ClientError, ValueError, KeyError, TypeError):
        detail = response.reason
    if response.status == 422:
        raise ValidationError(f"the sampler refuses: {detail}")
    raise PlatformError(f"the sampler answers {response.status}: {detail}", step="sampler")


def _lost(reason: Exception | str) -> PlatformError:
    why = reason if isinstance(reason, str) else f"{type(reason).__name__}: {reason}"
    return PlatformError(
        f"the sampler was lost ({why}); its log is {LOG_FILE} in its folder, and the job can go on from a checkpoint",
        step="sampler",
    )


def _write_whole(path: Path, content: bytes) -> None:
    part = path.with_suffix(".part")
    part.write_bytes(content)
    part.replace(path)
