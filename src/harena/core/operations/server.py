"""Operations that only a server has: leases, API keys, and what those ask who watch it."""

from __future__ import annotations

from typing import Any

from harena.core.operations.operation import ADMIN, READ, WRITE, Operation
from harena.core.records.server import ClientLease, NewApiKey, ServerHealth

_LEASES, _KEYS = "/v1/leases", "/v1/keys"
_Row = Operation[..., Any]

OPEN_LEASE: _Row = Operation(
    "leases",
    "open_lease",
    "POST",
    _LEASES,
    WRITE,
    None,
    ClientLease,
    body="LeaseBody",
    creates=True,
    starts_work=True,
)
RENEW: _Row = Operation("leases", "renew", "POST", f"{_LEASES}/{{lease_id}}/renew", WRITE, None, ClientLease)
CLOSE_LEASE: _Row = Operation("leases", "close", "DELETE", f"{_LEASES}/{{lease_id}}", WRITE)
ON_LEASES = (OPEN_LEASE, RENEW, CLOSE_LEASE)

CREATE_KEY: _Row = Operation("keys", "create", "POST", _KEYS, ADMIN, None, NewApiKey, body="KeyBody", creates=True)
LIST_KEYS: _Row = Operation("keys", "list_keys", "GET", _KEYS, ADMIN, None, "KeysAnswer")
REVOKE: _Row = Operation("keys", "revoke", "DELETE", f"{_KEYS}/{{key_id}}", ADMIN)
ON_KEYS = (CREATE_KEY, LIST_KEYS, REVOKE)

HEALTH: _Row = Operation("health", "healthz", "GET", "/healthz", None, None, ServerHealth)
METRICS: _Row = Operation("health", "metrics", "GET", "/metrics", READ, None, "text/plain")
ON_HEALTH = (HEALTH, METRICS)
