"""`harena serve`: a node of this host behind HTTP, until SIGTERM or SIGINT.

The first signal lets what is under way end, for at most the drain time; the second one ends at once. Either way every
sandbox has ended when this returns. SIGHUP reads the files of a TLS certificate again.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from importlib.metadata import version

import structlog

from harena.core.clock import SystemClock
from harena.core.errors import ValidationError
from harena.core.home import harena_home
from harena.core.workspace import WorkspaceLimits
from harena.node import open_for_server
from harena.node.node import Node
from harena.server.addresses import announced
from harena.server.fault_text import fault_text
from harena.server.identity import OpenAccess
from harena.server.keys import Keys
from harena.server.keys_at_home import access_at_home
from harena.server.listening import HttpServer, is_loopback
from harena.server.quotas import Quotas
from harena.server.shared_rates import SharedRates
from harena.server.state import ServerState
from harena.server.tls import Certificate
from harena.store.access import AccessStore
from harena.store.servers import ServersStore
from harena.store.workspaces import WorkspaceStore

DEFAULT_PORT = 8642
DRAIN_SECONDS = 30.0
SWITCH_SECONDS = 0.0005
"""for which a thread that computes keeps the interpreter while the event loop waits for it. A request asks for the
interpreter tens of times (before each of its steps); with CPython's 5 ms, and two threads of another workspace that
compute all the time, a claim takes half a second. The shorter turns cost no processor time that can be measured."""


def run(
    *,
    host: str,
    port: int,
    drain_seconds: float = DRAIN_SECONDS,
    keep_seconds: float | None = None,
    webhook_allow: Sequence[str] = (),
    network_allow: Sequence[str] = (),
    limits: WorkspaceLimits | None = None,
    keyless_limits: WorkspaceLimits | None = None,
    training_jobs: int = 1,
    listening: Callable[[str], None] | None = None,
    certificate: Certificate | None = None,
) -> None:
    """Serve until a signal; `keep_seconds`, `..._allow` and `training_jobs` as in `harena.node.open_for_server`,
    `limits`: what each workspace may use for which nothing else is set; `keyless_limits`: the same of a server without
    keys, which only listens on this machine, and whose clients are whoever runs it (None = `limits`). `listening` is
    called with the address once there is one, and the log then has warnings only: it is for somebody at a terminal.
    `certificate`: the server speaks TLS with it. Raises ValidationError, PlatformError, HostUnsupportedError."""
    os.umask(0o077)  # what a library writes is nobody else's either
    sys.setswitchinterval(SWITCH_SECONDS)
    _log_as_json(logging.INFO if listening is None else logging.WARNING)
    limits = limits or WorkspaceLimits()
    of_each = (limits, keyless_limits or limits)
    asyncio.run(
        _serve(
            host,
            port,
            drain_seconds,
            keep_seconds,
            webhook_allow,
            network_allow,
            of_each,
            training_jobs,
            listening,
            certificate,
        )
    )


async def _serve(
    host: str,
    port: int,
    drain_seconds: float,
    keep_seconds: float | None,
    webhook_allow: Sequence[str],
    network_allow: Sequence[str],
    of_each: tuple[WorkspaceLimits, WorkspaceLimits],
    training_jobs: int,
    listening: Callable[[str], None] | None,
    certificate: Certificate | None,
) -> None:
    clock = SystemClock()
    async with AsyncExitStack() as stack:
        database = await stack.enter_async_context(access_at_home(harena_home()))
        store = AccessStore(database)
        servers = None if database.is_one_machine else ServersStore(database)
        shared = None if servers is None else SharedRates(servers, clock)
        keyed = await store.has_keys()
        with_keys, without_keys = of_each
        limits = with_keys if keyed else without_keys
        quotas = Quotas(limits, WorkspaceStore(database), clock, shared=shared)
        if shared is not None:
            shared.start(quotas)
            stack.push_async_callback(shared.close)
        if not keyed and not is_loopback(host):
            raise ValidationError(
                f"--host {host} can be reached from other machines, and this server has no API keys: whoever reaches "
                "it could run programs here. Make one with `harena keys create --name NAME`, or listen on 127.0.0.1"
            )
        operations = await open_for_server(
            keep_seconds=keep_seconds,
            webhook_allow=webhook_allow,
            network_allow=network_allow,
            limits_of=quotas.limits_of,
            training_jobs=training_jobs,
        )
        stack.push_async_callback(operations.close)
        state = ServerState(
            operations,
            clock=clock,
            store=store,
            access=Keys(store, clock) if keyed else OpenAccess(),
            open_to_loopback=not keyed,
            version=version("harena"),
            quotas=quotas,
            begun=servers,
        )
        if certificate is not None:
            asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, _renew, certificate)
        server = HttpServer(state, host=host, port=port, certificate=certificate)
        await _until_told(server, state, operations, drain_seconds, listening)


async def _until_told(
    server: HttpServer,
    state: ServerState,
    node: Node,
    drain_seconds: float,
    listening: Callable[[str], None] | None,
) -> None:
    stop, hurry, loop = asyncio.Event(), asyncio.Event(), asyncio.get_running_loop()

    def told_to_stop() -> None:
        if stop.is_set():
            hurry.set()
            server.hurry()
        stop.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, told_to_stop)
    await server.start()
    log = structlog.get_logger("harena.server")
    log.info("listening", url=server.url, version=state.version, keys=not state.open_to_loopback)
    with announced(harena_home(), server.believed_url):
        if listening is not None:
            listening(server.url)
        await stop.wait()
    log.info("draining", seconds=drain_seconds)
    draining = asyncio.create_task(_drained(node, hurry, drain_seconds))
    await server.close(drain_seconds=drain_seconds)
    await draining
    state.leases.cancel_timers()


def _renew(certificate: Certificate) -> None:
    log = structlog.get_logger("harena.server")
    try:
        certificate.renew()
    except ValidationError as error:
        log.error("certificate not renewed", problem=str(error))
    else:
        log.info("certificate renewed")


async def _drained(node: Node, hurry: asyncio.Event, drain_seconds: float) -> None:
    """Runs of jobs may end, too: what is broken off is run again by the next server."""
    waits = [asyncio.create_task(node.drain()), asyncio.create_task(hurry.wait())]
    await asyncio.wait(waits, timeout=drain_seconds, return_when=asyncio.FIRST_COMPLETED)
    for wait in waits:
        wait.cancel()
    await asyncio.wait(waits)


def _log_as_json(level: int) -> None:
    """One line of JSON per event, on standard error; ours and those of libraries alike."""
    stamped: list[structlog.typing.Processor] = [
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.ExceptionRenderer(fault_text),
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
    logging.basicConfig(level=level, handlers=[handler], force=True)
    logging.getLogger("uvicorn").setLevel(logging.WARNING)
