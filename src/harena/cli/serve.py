"""`harena serve`: this host's sandboxes for many users, languages and machines."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from harena.core import settings
from harena.core.errors import PlatformError, ValidationError
from harena.core.workspace import LIMITS, WorkspaceLimits, parse_limits


def serve(
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port; 0 = any that is free.")] = 8642,
    drain: Annotated[
        float, typer.Option(min=0, max=3600, help="Seconds that work under way may take after SIGTERM.")
    ] = 30.0,
    keep_days: Annotated[
        float | None,
        typer.Option(
            min=0, max=36500, help="Days after its end for which a benchmark job is kept; without it until deleted."
        ),
    ] = None,
    limit: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=NUMBER",
            envvar=settings.LIMITS.name,
            help=f"What each workspace may use, may be repeated: {', '.join(LIMITS)}.",
        ),
    ] = None,
    webhook_allow: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NETWORK",
            help="An address or network (10.0.0.0/8) that webhooks may go to beside the public internet; may be "
            "given more than once.",
        ),
    ] = None,
    network_allow: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NETWORK",
            help="An address or network that sandboxes may reach beside the public internet, where their network "
            "names it; may be given more than once.",
        ),
    ] = None,
    training_jobs: Annotated[
        int, typer.Option(min=1, max=1000, help="Training jobs that run at one time; the others wait.")
    ] = 1,
    tls_certificate: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Speak TLS with this certificate, PEM, followed by its chain. SIGHUP reads it again."
        ),
    ] = None,
    tls_key: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Its private key, PEM, without a password.")
    ] = None,
) -> None:
    """Serve this host's sandboxes over HTTP until SIGTERM; point clients at it with HARENA_BASE_URL."""
    given: dict[str, Any] = {name: value for name, value in parse_limits(limit or ()).items() if value is not None}
    limits, keyless_limits = WorkspaceLimits(**given), WorkspaceLimits(**{"machine_profile": 1, **given})
    if (tls_certificate is None) != (tls_key is None):
        raise ValidationError("--tls-certificate and --tls-key are given together: TLS needs both")
    try:
        from harena.server import serve as serving
        from harena.server.tls import Certificate
    except ModuleNotFoundError as error:
        message = f"a server needs {error.name}, which is not installed: pip install 'harena[server]'"
        raise PlatformError(message, step="serve") from error
    serving.run(
        host=host,
        port=port,
        drain_seconds=drain,
        keep_seconds=keep_days and keep_days * 86400,
        webhook_allow=webhook_allow or [],
        network_allow=network_allow or [],
        limits=limits,
        keyless_limits=keyless_limits,
        training_jobs=training_jobs,
        certificate=None if tls_certificate is None or tls_key is None else Certificate(tls_certificate, tls_key),
    )
