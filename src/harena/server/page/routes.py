"""/ui and /docs: files that lie in this package, with a policy that lets them load and ask this server only."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from harena.core.errors import NotFoundError
from harena.server.state import ServerState

_FILES = Path(__file__).parent / "files"
_KINDS = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
}
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
)
"""Programs wrote much of what the page shows. Should any of it ever get into the page as markup, it runs nothing and
reaches nobody; and markup cannot be made of text at all (trusted types)."""
_HEADERS = {
    "content-security-policy": POLICY,
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "x-frame-options": "DENY",
    "cache-control": "no-cache",  # asked for again each time, and answered with 304 where nothing has changed
}


@dataclass(frozen=True, slots=True)
class PageFile:
    """One file, as it is sent."""

    content: bytes
    kind: str
    tag: str
    """its entity tag, made of its content"""


def page_files(*, version: str, wants_keys: bool) -> Mapping[str, PageFile]:
    """Every file by its name. The pages are told what they would otherwise have to ask for: the server's version, and
    whether it wants keys (to ask without one would be refused, and browsers show that as an error)."""
    told = {"{{version}}": escape(version), "{{keys}}": "yes" if wants_keys else "no"}
    found = {}
    for path in sorted(_FILES.iterdir()):
        content = path.read_bytes()
        if path.suffix == ".html":
            for mark, value in told.items():
                content = content.replace(mark.encode(), value.encode())
        tag = f'"{hashlib.sha256(content).hexdigest()[:32]}"'
        found[path.name] = PageFile(content, _KINDS[path.suffix], tag)
    return found


def page_routes(state: ServerState) -> list[Route]:
    """The routes. They need no key: the files hold nothing of anybody's, and they are in memory."""
    files = page_files(version=state.version, wants_keys=not state.open_to_loopback)

    async def page(request: Request) -> Response:
        return _answer(request, files["index.html"])

    async def reference(request: Request) -> Response:
        return _answer(request, files["docs.html"])

    async def file(request: Request) -> Response:
        name = request.path_params["name"]
        if name not in files or name.endswith(".html"):
            raise NotFoundError(f"the page has no file {name[:100]!r}: it is at /ui", reason="ROUTE_NOT_FOUND")
        return _answer(request, files[name])

    async def to_page(request: Request) -> Response:
        # relative, so that it holds behind a proxy's prefix, and says nothing of the request's own host
        return Response(status_code=307, headers={**_HEADERS, "location": "../ui"})

    return [
        Route("/ui", page, include_in_schema=False),
        Route("/ui/", to_page, include_in_schema=False),
        Route("/ui/{name}", file, include_in_schema=False),
        Route("/docs", reference, include_in_schema=False),
    ]


def _answer(request: Request, file: PageFile) -> Response:
    headers = {**_HEADERS, "etag": file.tag}
    if request.headers.get("if-none-match") == file.tag:
        return Response(status_code=304, headers=headers)
    return Response(file.content, headers=headers, media_type=file.kind)
