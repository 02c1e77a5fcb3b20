"""The sdk's way to a server: `Operations` over HTTP. aiohttp is imported when a server is first used."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from harena.core.errors import PlatformError, ValidationError
from harena.core.settings import CA_FILE

if TYPE_CHECKING:
    import ssl

    from harena.core.ports import Operations


async def open_http(base_url: str, *, api_key: str | None = None, ca_file: str | None = None) -> Operations:
    """The server at `base_url`, as in "http://127.0.0.1:8642". Nothing is sent before the first operation.

    `ca_file` has certificates of authorities that are believed beside the system's.

    Sandboxes that are made through it end when it is closed, or when this process has not been heard of for the length
    of its lease. Raises ValidationError for an address or a file that is none, PlatformError where aiohttp is not
    installed.
    """
    if not _is_address(base_url):
        raise ValidationError(
            f"HARENA_BASE_URL={base_url}: give the address of a server, as http://127.0.0.1:8642; "
            "unset it to run sandboxes inside this process"
        )
    try:
        from harena.sdk.http.operations import HttpOperations
    except ModuleNotFoundError as error:
        message = f"a server is spoken to with {error.name}, which is not installed: pip install 'harena[http]'"
        raise PlatformError(message, step="open server") from error
    return HttpOperations(base_url.rstrip("/"), api_key=api_key, authorities=_authorities(ca_file))


def _authorities(ca_file: str | None) -> ssl.SSLContext | None:
    """Whom a client believes that was told of a file; None = it was not, and the system's are those."""
    if not ca_file:
        return None
    import ssl

    context = ssl.create_default_context()
    try:
        context.load_verify_locations(ca_file)
    except (OSError, ValueError) as error:
        raise ValidationError(
            f"{CA_FILE.name}={ca_file}: {getattr(error, 'strerror', None) or error}; name a file of certificates as PEM"
        ) from error
    return context


def _is_address(base_url: str) -> bool:
    try:
        parts = urlsplit(base_url)
        return (
            parts.scheme in ("http", "https")
            and bool(parts.hostname)
            and parts.port != 0
            and not (parts.query or parts.fragment)
        )
    except ValueError:  # a port that is none, half of an IPv6 address
        return False
