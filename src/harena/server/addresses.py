"""Where the servers of one home listen: each keeps a file there with its address while it does, so that `harena ui`
opens the page of one that runs already and starts none beside it.

A server that was killed leaves its file behind: whoever reads it asks the address, and removes the file of one that
does not answer and whose process is gone.
"""

from __future__ import annotations

import http.client
import json
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

from harena.core.home import private_file, private_folder

_FOLDER = "servers"
_ASK_SECONDS = 2.0
_EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}  # noqa: S104 - looked for, not listened on


@contextmanager
def announced(home: Path, url: str) -> Iterator[None]:
    """Keep the address in the home meanwhile. A home that cannot be written to does without."""
    path = home / _FOLDER / f"{socket.gethostname()}-{os.getpid()}"
    with suppress(OSError):
        private_folder(path.parent)
        private_file(path)
        path.write_text(url, encoding="utf-8")
    try:
        yield
    finally:
        with suppress(OSError):
            path.unlink()


def running_server(home: Path) -> str | None:
    """The address of a server of this home on this machine that answers; None = there is none."""
    try:
        found = sorted((home / _FOLDER).glob(f"{socket.gethostname()}-*"))
    except OSError:
        return None
    for path in found:
        with suppress(OSError):
            url = reachable(path.read_text(encoding="utf-8"))
            if _answers(url):
                return url
            if not Path("/proc", path.name.rpartition("-")[2]).exists():
                path.unlink()
    return None


def reachable(url: str) -> str:
    """The address at which this machine reaches a server that listens there: of one that listens on every address, that
    of the machine itself."""
    host = urlsplit(url).hostname or ""
    here = _EVERYWHERE.get(host)
    return url if here is None else url.replace(f"[{host}]" if ":" in host else host, here, 1)


def _answers(url: str) -> bool:
    address = urlsplit(url)
    if address.scheme != "http" or address.hostname is None:
        return False
    connection = http.client.HTTPConnection(address.hostname, address.port, timeout=_ASK_SECONDS)
    try:
        connection.request("GET", "/healthz")
        told = json.loads(connection.getresponse().read(1 << 16))
    except (OSError, ValueError, http.client.HTTPException):
        return False
    finally:
        connection.close()
    return isinstance(told, dict) and told.get("status") == "ok"
