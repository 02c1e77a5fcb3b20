"""`harena serve`: a node of this host behind HTTP, until SIGTERM or SIGINT.

The first signal lets what is under way end, for at most the drain time; the second one ends at once. Either way every
sandbox has ended when this returns.
"""

from __future__ import annotations

import asyncio
import logging
import signal
import sys
from contextlib import AsyncExitStack
from importlib.metadata import version

import structlog

from harena.core.clock import SystemClock
from harena.core.errors import ValidationError
from harena.core.home import harena_home
from harena.node import open_for_server
from harena.server.identity import OpenAccess
from harena.server.keys import Keys
from harena.server.keys_at_home import FILE_NAME
from harena.server.listening import HttpServer, is_loopback
from harena.server.state import ServerState
from harena.store.access import AccessStore

DEFAULT_PORT = 8642
DRAIN_SECONDS = 30.0


def run(*, host: str, port: int, drain_seconds: float = DRAIN_SECONDS) -> None:
    """Serve until a signal. Raises ValidationError, PlatformError, HostUnsupportedError."""
    _log_as_json()
    asyncio.run(_serve(host, port, drain_seconds))


async def _serve(host: str, port: int, drain_seconds: float) -> None:
    clock = SystemClock()
    async with AsyncExitStack() as stack:
        store = await AccessStore.open(harena_home() / FILE_NAME)
        stack.push_async_callback(store.close)
        keyed = await store.has_keys()
        if not keyed and not is_loopback(host):
            raise ValidationError(
                f"--host {host} can be reached from other machines, and this server has no API keys: whoever reaches "
                "it could run programs here. Make one with `harena keys create --name NAME`, or listen on 127.0.0.1"
            )
        operations = await open_for_server()
        stack.push_async_callback(operations.close)
        state = ServerState(
            operations,
            clock=clock,
            store=store,
            access=Keys(store, clock) if keyed else OpenAccess(),
            open_to_loopback=not keyed,
            version=version("harena"),
        )
        await _until_told(HttpServer(state, host=host, port=port), state, drain_seconds)


async def _until_told(server: HttpServer, state: ServerState, drain_seconds: float) -> None:
    stop, loop = asyncio.Event(), asyncio.get_running_loop()

    def told_to_stop() -> None:
        if stop.is_set():
            server.hurry()
        stop.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, told_to_stop)
    await server.start()
    log = structlog.get_logger("harena.server")
    log.info("listening", url=server.url, version=state.version, keys=not state.open_to_loopback)
    await stop.wait()
    log.info("draining", seconds=drain_seconds)
    await server.close(drain_seconds=drain_seconds)
    state.leases.cancel_timers()


def _log_as_json() -> None:
    """One line of JSON per event, on standard error; ours and those of libraries alike."""
    stamped: list[structlog.typing.Processor] = [
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
    ]
    structlog.configure(
        processors=[*stamped, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=stamped,
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                structlog.processors.JSONRenderer(),
            ],
        )
    )
    logging.basicConfig(level=logging.INFO, handlers=[handler], force=True)
    logging.getLogger("uvicorn").setLevel(logging.WARNING)
