"""Where the servers of one home listen, so that `harena ui` opens the page of one that runs already.

A server holds an abstract Unix socket meanwhile, whose name has a digest of the home and the server's address. Nothing
of it is on a disk, and it ends with the process, however that ends. Programs of other users could hold such a name, and
be shown somebody's key: only a socket of the same user, or of root, counts.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import socket
import struct
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

_SOCKETS = Path("/proc/net/unix")
_CREDENTIALS = struct.Struct("3i")
"""process, user and group of a socket's other end"""
_BACKLOG = 16
_ASK_SECONDS = 2.0
_EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - looked for, not listened on


@contextmanager
def announced(home: Path, url: str) -> Iterator[None]:
    """Hold a name for this address meanwhile, on the running loop. Where it is taken, or cannot be had, the server does
    without."""
    loop = asyncio.get_running_loop()
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as held:
        held.setblocking(False)
        with suppress(OSError):
            held.bind("\0" + _name(home) + reachable(url))
            held.listen(_BACKLOG)
            loop.add_reader(held, _turn_away, held)
        try:
            yield
        finally:
            loop.remove_reader(held)


def running_server(home: Path) -> str | None:
    """The address of a server of this home on this machine; None = there is none."""
    name = f"@{_name(home)}"
    try:
        lines = _SOCKETS.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return None
    found = {words[-1].removeprefix(name) for line in lines if (words := line.split()) and words[-1].startswith(name)}
    return next((url for url in sorted(found) if _is_ours(f"\0{name[1:]}{url}")), None)


def reachable(url: str) -> str:
    """The address at which this machine reaches a server that listens there: of one that listens on every address, that
    of the machine itself."""
    address = urlsplit(url)
    here = _EVERYWHERE.get(address.hostname or "")
    if here is None:
        return url
    return f"{address.scheme}://{f'[{here}]' if ':' in here else here}:{address.port}"


def _name(home: Path) -> str:
    digest = hashlib.sha256(os.fsencode(home.resolve())).hexdigest()[:24]
    return f"harena-server/{digest}/"


def _turn_away(held: socket.socket) -> None:
    """Who connects wants to know whose the socket is, which it learns of the kernel."""
    with suppress(OSError):
        held.accept()[0].close()


def _is_ours(name: str) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as asking:
        asking.settimeout(_ASK_SECONDS)
        try:
            asking.connect(name)
            told = asking.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
        except OSError:
            return False
    _, user, _ = _CREDENTIALS.unpack(told)
    return user in (0, os.geteuid())
