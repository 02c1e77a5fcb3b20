"""`harena ui`: the page on which jobs, curves and sandboxes are looked at, in a browser of this machine."""

from __future__ import annotations

import sys
import webbrowser
from typing import Annotated

import typer

from harena.address import server_address
from harena.core.errors import PlatformError
from harena.core.home import harena_home
from harena.core.workspace import WorkspaceLimits

DRAIN_SECONDS = 5.0


def ui(
    port: Annotated[
        int | None,
        typer.Option(
            min=0, max=65535, help="The port of a server that is started; by itself 8642, or one that is free."
        ),
    ] = None,
    browser: Annotated[bool, typer.Option("--open", help="Open the page in a browser, too.")] = False,
) -> None:
    """Print the address of the page, and serve it until Ctrl-C.

    Where HARENA_BASE_URL is set, or a server of the same HARENA_HOME runs on this machine, the page is that server's,
    and the command ends. Else it starts one, for this machine only. A server that has keys asks for one on the page.
    """
    known = server_address()
    if known is not None:
        _tell(known, browser)
        return
    try:
        from harena.server import serve as serving
        from harena.server.addresses import running_server
        from harena.server.listening import is_free
    except ModuleNotFoundError as error:
        message = f"the page needs {error.name}, which is not installed: pip install 'harena[server]'"
        raise PlatformError(message, step="ui") from error
    running = running_server(harena_home())
    if running is not None:
        _tell(running, browser)
        return
    host = "127.0.0.1"
    if port is None:
        port = serving.DEFAULT_PORT if is_free(host, serving.DEFAULT_PORT) else 0
    serving.run(
        host=host,
        port=port,
        drain_seconds=DRAIN_SECONDS,
        keyless_limits=WorkspaceLimits(machine_profile=1),
        listening=lambda url: _tell(url, browser),
    )


def _tell(server: str, browser: bool) -> None:
    page = f"{server.rstrip('/')}/ui"
    sys.stdout.write(f"{page}\n")
    sys.stdout.flush()
    if browser:
        webbrowser.open(page)
