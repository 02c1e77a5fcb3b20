"""What Prometheus is told. Each server has a registry of its own."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST

CONTENT_TYPE = CONTENT_TYPE_LATEST


class Metrics:
    """The server's numbers since its start."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._requests = Counter(
            "harena_http_requests", "Requests answered", ("method", "route", "status"), registry=self._registry
        )
        self._seconds = Histogram(
            "harena_http_request_seconds", "Time until an answer was complete", ("route",), registry=self._registry
        )
        self.execs_running = Gauge("harena_execs_running", "Commands that run", registry=self._registry)
        self.sandboxes_created = Counter("harena_sandboxes_created", "Sandboxes created", registry=self._registry)
        self._sandboxes_running = Gauge("harena_sandboxes_running", "Sandboxes that run", registry=self._registry)

    def answered(self, method: str, route: str, status: int, seconds: float) -> None:
        """One request. `route` is the pattern, never a path that somebody made up."""
        self._requests.labels(method, route, str(status)).inc()
        self._seconds.labels(route).observe(seconds)

    def page(self, *, sandboxes_running: int) -> bytes:
        """Everything, as Prometheus reads it."""
        self._sandboxes_running.set(sandboxes_running)
        return generate_latest(self._registry)
