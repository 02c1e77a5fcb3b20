"""For those who receive webhooks: whether what came is from the server that knows the secret, and what it says."""

from __future__ import annotations

import base64
import json
import secrets
import time
from collections.abc import Mapping

from harena.core.checked import quote
from harena.core.errors import ValidationError
from harena.core.records.benchmark_jobs import WebhookEvent
from harena.core.webhook_signature import (
    SECRET_PREFIX,
    TOLERANCE_SECONDS,
    SignatureError,
    check_signature,
)

__all__ = ["SignatureError", "WebhookEvent", "new_secret", "verify"]

_SECRET_BYTES = 32


def new_secret() -> str:
    """A fresh secret for `webhook={"url": ..., "secret": ...}`, to be kept by whoever receives."""
    return SECRET_PREFIX + base64.b64encode(secrets.token_bytes(_SECRET_BYTES)).decode()


def verify(
    headers: Mapping[str, str],
    body: bytes | str,
    secret: str,
    *,
    tolerance_seconds: float = TOLERANCE_SECONDS,
    now: float | None = None,
) -> WebhookEvent:
    """What a webhook says, after its signature was checked.

    `headers` and `body` are the request's, the body exactly as it came; `tolerance_seconds` is how far its timestamp
    may lie from `now` (seconds since 1970; None = this machine's clock). Raises SignatureError where it was not signed
    with this secret or too long ago, ValidationError for a secret that is none.
    """
    for name, given, kind in (("headers", headers, Mapping), ("body", body, bytes | str), ("secret", secret, str)):
        if not isinstance(given, kind):
            raise ValidationError(f"{name} must be those of the request (got {quote(type(given).__name__)})")
    raw = body.encode() if isinstance(body, str) else body
    check_signature(headers, raw, secret, now=time.time() if now is None else now, tolerance_seconds=tolerance_seconds)
    try:
        said = json.loads(raw)
    except ValueError:
        said = None
    if not isinstance(said, dict):
        raise SignatureError(
            "the webhook was signed with this secret, and holds no JSON object: harena did not send it"
        )
    try:
        return WebhookEvent.from_dict(said)
    except ValueError as error:
        raise SignatureError(
            f"the webhook was signed with this secret, and is none that this version of harena knows ({error})"
        ) from None
