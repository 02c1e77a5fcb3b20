"""`harena serve`: this host's sandboxes for many users, languages and machines."""

from __future__ import annotations

from typing import Annotated

import typer

from harena.core.errors import PlatformError


def serve(
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port; 0 = any that is free.")] = 8642,
    drain: Annotated[
        float, typer.Option(min=0, max=3600, help="Seconds that work under way may take after SIGTERM.")
    ] = 30.0,
) -> None:
    """Serve this host's sandboxes over HTTP until SIGTERM; point clients at it with HARENA_BASE_URL."""
    try:
        from harena.server import serve as serving
    except ModuleNotFoundError as error:
        message = f"a server needs {error.name}, which is not installed: pip install 'harena[server]'"
        raise PlatformError(message, step="serve") from error
    serving.run(host=host, port=port, drain_seconds=drain)
