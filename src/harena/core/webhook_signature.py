"""The signature of webhooks, as the Standard Webhooks specification (version 1, symmetric) has it.

What is signed is `ID.TIMESTAMP.BODY`, with HMAC-SHA256; a secret is written `whsec_` and its bytes in base64. Pure.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import re
from collections.abc import Mapping

from harena.core.errors import ValidationError

ID_HEADER = "webhook-id"
TIMESTAMP_HEADER = "webhook-timestamp"
SIGNATURE_HEADER = "webhook-signature"

SECRET_PREFIX = "whsec_"  # noqa: S105 - what every secret begins with, and no secret
LEAST_SECRET_BYTES = 24
MOST_SECRET_BYTES = 64
TOLERANCE_SECONDS = 300
"""how far a timestamp may lie from the receiver's clock, in either direction: bounds how long a copy can be replayed"""

_VERSION = "v1"
_MOST_SIGNATURES = 32


class SignatureError(ValidationError):
    """What came was not signed with this secret, or too long ago: nothing in it is to be believed."""


def secret_bytes(secret: str) -> bytes:
    """The key of a secret. Raises ValidationError, which does not repeat what was given."""
    encoded = secret.removeprefix(SECRET_PREFIX)
    try:
        key = base64.b64decode(encoded, validate=True) if secret != encoded else b""
    except (binascii.Error, ValueError):
        key = b""
    if not LEAST_SECRET_BYTES <= len(key) <= MOST_SECRET_BYTES:
        raise ValidationError(
            f"a webhook's secret is {SECRET_PREFIX!r} and {LEAST_SECRET_BYTES} to {MOST_SECRET_BYTES} random bytes in "
            "base64; harena.webhooks.new_secret() makes one"
        )
    return key


def signature(secret: str, delivery_id: str, timestamp: int, body: bytes) -> str:
    """The `webhook-signature` of a delivery; `timestamp` in seconds since 1970. Raises ValidationError (the secret)."""
    return f"{_VERSION},{base64.b64encode(_digest(secret_bytes(secret), delivery_id, str(timestamp), body)).decode()}"


def check_signature(
    headers: Mapping[str, str], body: bytes, secret: str, *, now: float, tolerance_seconds: float = TOLERANCE_SECONDS
) -> None:
    """Whether one of the signatures of a delivery is right and its timestamp near `now` (seconds since 1970).

    Raises SignatureError where not, ValidationError for a secret that is none.
    """
    key = secret_bytes(secret)
    lower = {name.lower(): value for name, value in headers.items()}
    missing = [name for name in (ID_HEADER, TIMESTAMP_HEADER, SIGNATURE_HEADER) if not lower.get(name)]
    if missing:
        raise SignatureError(f"this is no signed webhook: it has no header {', '.join(missing)}")
    written = lower[TIMESTAMP_HEADER]
    if not re.fullmatch("[0-9]{1,15}", written):
        raise SignatureError(f"the {TIMESTAMP_HEADER} of this webhook is no number of seconds")
    if abs(now - int(written)) > tolerance_seconds:
        raise SignatureError(
            f"the {TIMESTAMP_HEADER} of this webhook is more than {tolerance_seconds:g} seconds away from this clock: "
            "it is a copy that somebody has kept, or one of the two clocks is wrong"
        )
    right = _digest(key, lower[ID_HEADER], written, body)
    for entry in lower[SIGNATURE_HEADER].split(" ")[:_MOST_SIGNATURES]:
        version, _, encoded = entry.partition(",")
        if version == _VERSION and hmac.compare_digest(_decoded(encoded), right):
            return
    raise SignatureError("no signature of this webhook was made with this secret")


def _digest(key: bytes, delivery_id: str, timestamp: str, body: bytes) -> bytes:
    return hmac.digest(
        key, b".".join((delivery_id.encode("utf-8", "replace"), timestamp.encode(), body)), hashlib.sha256
    )


def _decoded(encoded: str) -> bytes:
    try:
        return base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError):
        return b""
