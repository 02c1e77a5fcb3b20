"""What Prometheus is told: the whole server's figures to its operator, and to everybody else those of their workspace.
Each server has registries of its own."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST

from harena.core.operations.operation import ADMIN
from harena.core.workspace import DEFAULT_WORKSPACE
from harena.server.identity import Caller

CONTENT_TYPE = CONTENT_TYPE_LATEST


class _Figures:
    def __init__(self) -> None:
        self.registry = registry = CollectorRegistry()
        self.requests = Counter(
            "harena_http_requests", "Requests answered", ("method", "route", "status"), registry=registry
        )
        self.seconds = Histogram(
            "harena_http_request_seconds", "Time until an answer was complete", ("route",), registry=registry
        )
        self.execs_running = Gauge("harena_execs_running", "Commands that run", registry=registry)
        self.sandboxes_created = Counter("harena_sandboxes_created", "Sandboxes created", registry=registry)
        self.sandboxes_running = Gauge("harena_sandboxes_running", "Sandboxes that run", registry=registry)


class Metrics:
    """The server's numbers since its start."""

    def __init__(self) -> None:
        self._whole = _Figures()
        self._of: dict[str, _Figures] = {}
        """workspace -> its own; only of those that have keys, so they are as many as the operator made"""

    def answered(self, method: str, route: str, status: int, seconds: float, *, workspace: str | None = None) -> None:
        """One request; `workspace`: its caller's, None = nobody who is known. `route` is the pattern, never a path that
        somebody made up."""
        for figures in self._counted_in(workspace):
            figures.requests.labels(method, route, str(status)).inc()
            figures.seconds.labels(route).observe(seconds)

    def exec_began(self, workspace: str) -> None:
        """A command runs."""
        for figures in self._counted_in(workspace):
            figures.execs_running.inc()

    def exec_ended(self, workspace: str) -> None:
        """It does not any more."""
        for figures in self._counted_in(workspace):
            figures.execs_running.dec()

    def sandbox_created(self, workspace: str) -> None:
        """One more."""
        for figures in self._counted_in(workspace):
            figures.sandboxes_created.inc()

    def page(self, *, sandboxes_running: int, workspace: str | None = None) -> bytes:
        """What is counted, as Prometheus reads it; None = of the whole server."""
        figures = self._whole if workspace is None else self._of.setdefault(workspace, _Figures())
        figures.sandboxes_running.set(sandboxes_running)
        return generate_latest(figures.registry)

    def _counted_in(self, workspace: str | None) -> list[_Figures]:
        return [self._whole] if workspace is None else [self._whole, self._of.setdefault(workspace, _Figures())]


def sees_the_whole(caller: Caller) -> bool:
    """Whether this is the server's operator: there are no keys, or it is an admin one of the default workspace."""
    return caller.key_id is None or (caller.workspace == DEFAULT_WORKSPACE and ADMIN in caller.scopes)
