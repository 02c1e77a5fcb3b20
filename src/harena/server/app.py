"""The application: routes, how errors become problems, and the document that describes both."""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import JSONResponse, Response
from starlette.routing import compile_path

from harena.core.errors import HarenaError, NotFoundError, ValidationError
from harena.core.mistakes import reason_of
from harena.core.operations import OPERATIONS
from harena.server.answers import ProblemResponse
from harena.server.bodies import JSON
from harena.server.documented import BEFORE_ROUTES, MEANINGS, describe
from harena.server.face_routes import FACE_ROUTES
from harena.server.page.routes import page_routes
from harena.server.requests import Requests
from harena.server.routes import (
    benchmark_job_lines,
    benchmark_jobs,
    blueprints,
    catalog,
    execs,
    files,
    health,
    image_builds,
    images,
    keys,
    leases,
    sandboxes,
    training_jobs,
)
from harena.server.state import ServerState
from harena.server.table_routes import TableRoutes

MOST_MISTAKES = 20
"""most mistakes that one problem lists"""
MOST_SHOWN = 100
"""characters of a name or value that a mistake shows"""
MOST_SENTENCE = 400
"""characters of one mistake"""

_log = logging.getLogger("harena.server")

_WITH_MORE = (
    sandboxes,
    execs,
    files,
    leases,
    blueprints,
    catalog,
    benchmark_jobs,
    training_jobs,
    keys,
    health,
    images,
    image_builds,
)
"""nouns of which the table alone does not say all: they check bodies, or answer by hand"""
_SERVED_THERE = {operation for noun in _WITH_MORE for operation in noun.routes.operations}
_FROM_THE_TABLE = TableRoutes([operation for operation in OPERATIONS if operation not in _SERVED_THERE])
"""operations that need no more than their row: those of nouns without a module in `routes`"""


class _App(FastAPI):
    """Whose document has the problems of each route."""

    document: bytes | None = None
    """the OpenAPI document, encoded"""

    @cached_property
    def methods(self) -> list[tuple[re.Pattern[str], set[str]]]:
        """A pattern of each path, and its methods: who asks for another one may have no key."""
        paths = self.openapi()["paths"]
        return [(compile_path(path)[0], {method.upper() for method in paths[path]}) for path in paths]

    def openapi(self) -> dict[str, Any]:
        """Give the OpenAPI document, which is made once."""
        return self.openapi_schema or describe(super().openapi())


def create_app(state: ServerState) -> FastAPI:
    """The ASGI application over this state."""
    app = _App(
        title="harena",
        version=state.version,
        summary="Isolated sandboxes, scores that cannot be forged, and benchmark jobs for RL fine-tuning.",
        description="Beside what is said for each route, the server answers "
        + ", ".join(f"{status} ({MEANINGS[status][:-1].lower()})" for status in sorted(BEFORE_ROUTES))
        + " before there is one, with a problem, too.",
        openapi_url=None,  # it would be encoded for each request
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,  # they would make an address of the request's own header
    )
    app.state.harena = state
    app.router.routes += benchmark_job_lines.router.routes  # takes bodies of lines, before the route for bodies of JSON
    for routes in (*(noun.routes for noun in _WITH_MORE), _FROM_THE_TABLE, *FACE_ROUTES):
        # not `include_router`, which makes each route once more, for an address before it or answers beside its own
        app.router.routes += routes.router.routes
    app.add_route("/openapi.json", _document, include_in_schema=False)
    app.router.routes += page_routes(state)
    app.add_exception_handler(HarenaError, _harena_error)
    app.add_exception_handler(RequestValidationError, _mistakes)
    app.add_exception_handler(HTTPException, _http_error)
    app.add_exception_handler(ClientDisconnect, _nobody_there)
    app.add_exception_handler(Exception, _bug)
    app.add_middleware(Requests, state=state)
    return app


async def _document(request: Request) -> Response:
    app: _App = request.app
    if app.document is None:
        app.document = bytes(JSONResponse(app.openapi()).body)
    return Response(app.document, media_type=JSON)


def _request_id(request: Request) -> str | None:
    return getattr(request.state, "request_id", None)


async def _harena_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HarenaError)
    return ProblemResponse(error, _request_id(request))


async def _mistakes(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    found = error.errors()
    mistakes: dict[str, None] = {}
    for place, mistake in enumerate(found):
        mistakes[_cut(_sentence(mistake), MOST_SENTENCE)] = None
        if len(mistakes) == MOST_MISTAKES and place + 1 < len(found):
            mistakes[f"... and perhaps {len(found) - place - 1} more"] = None
            break
    message = "\n  ".join(["the request cannot be understood:", *mistakes])
    return ProblemResponse(ValidationError(message, reason="REQUEST"), _request_id(request))


def _sentence(mistake: Mapping[str, Any]) -> str:
    place: Sequence[str | int] = mistake["loc"]
    steps = [str(step) for step in (place[1:] if place[0] == "body" and len(place) > 1 else place)]
    # <...> is a member of a union, see `shapes`
    where = ".".join(_cut(step, MOST_SHOWN) for step in steps if not step.startswith("<"))
    if mistake["type"] == "extra_forbidden":
        return f"{where}: unknown field"
    if mistake["type"] == "json_invalid":
        return f"the body is no JSON: {mistake.get('ctx', {}).get('error', mistake['msg'])}"
    return f"{where}: {reason_of(mistake)}"


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 3]}..."


async def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    asked = f"{request.method} {_cut(request.url.path, MOST_SENTENCE)}"
    known: HarenaError
    if isinstance(error.__cause__, RequestValidationError):  # raised while FastAPI read the body, as what follows
        return await _mistakes(request, error.__cause__)
    if isinstance(error.__cause__, HarenaError):
        return ProblemResponse(error.__cause__, _request_id(request))
    if error.status_code == 404:
        known = NotFoundError(f"{asked}: there is no such route; see /openapi.json", reason="ROUTE_NOT_FOUND")
    elif error.status_code == 405:
        known = ValidationError(f"{asked}: the route has other methods; see /openapi.json", reason="METHOD_NOT_ALLOWED")
    else:
        known = ValidationError(f"{asked}: {error.detail}")
    answer = ProblemResponse(known, _request_id(request))
    answer.headers.update(error.headers or {})
    if error.status_code == 405 and (methods := _methods(request)):
        # a path's methods are several routes, of which Starlette tells the first one's
        answer.headers["allow"] = ", ".join(methods)
    return answer


def _methods(request: Request) -> list[str]:
    app: _App = request.app
    return sorted(set().union(*(methods for path, methods in app.methods if path.fullmatch(request.url.path))))


async def _nobody_there(request: Request, error: Exception) -> Response:
    """The caller has gone in the middle of its own request; this answer reaches nobody."""
    return ProblemResponse(ValidationError("the request broke off before its end"), _request_id(request))


async def _bug(request: Request, error: Exception) -> Response:
    request_id = _request_id(request)
    _log.error("request %s failed: this is a bug", request_id, exc_info=error)
    message = f"the server failed in a way that it should not; its log says more under request {request_id}"
    return ProblemResponse(HarenaError(message, reason="BUG"), request_id)
