"""The receiver's side."""

import json
import time

import pytest

import harena
from fake_answers import filled
from harena.core.errors import ValidationError
from harena.core.records.benchmark_jobs import WebhookEvent
from harena.core.webhook_signature import signature

SAID = filled(
    WebhookEvent,
    {"event": "benchmark_job.ended", "delivery_id": "msg_1", "at": "t", "job_id": "job_1", "state": "completed"},
).to_dict()


def headers(secret: str, body: bytes, at: int) -> dict[str, str]:
    """Of a delivery."""
    signed = signature(secret, "msg_1", at, body)
    return {"webhook-id": "msg_1", "webhook-timestamp": str(at), "webhook-signature": signed}


def test_what_was_signed_is_read() -> None:
    """With a secret that was just made, by this machine's clock or another; the body as bytes or text."""
    secret, body, at = harena.webhooks.new_secret(), json.dumps(SAID).encode(), int(time.time())
    event = harena.webhooks.verify(headers(secret, body, at), body, secret)
    assert (event.job_id, event.state, event.to_dict()) == ("job_1", "completed", SAID)
    assert harena.webhooks.verify(headers(secret, body, 77), body.decode(), secret, now=80.0) == event
    assert harena.webhooks.new_secret() != secret


def test_what_was_not_signed_is_refused() -> None:
    """Another secret, an old copy, something that harena does not send; all of them mistakes of the same kind."""
    secret, body, at = harena.webhooks.new_secret(), json.dumps(SAID).encode(), int(time.time())
    signed = headers(secret, body, at)
    for given, said, key in (
        (signed, body, harena.webhooks.new_secret()),
        (headers(secret, body, at - 9999), body, secret),
        (headers(secret, b"[]", at), b"[]", secret),
        (headers(secret, b"x", at), b"x", secret),
        (headers(secret, b"{}", at), b"{}", secret),
        ({}, body, secret),
    ):
        with pytest.raises(harena.webhooks.SignatureError):
            harena.webhooks.verify(given, said, key)


def test_wrong_types_are_named() -> None:
    """A parsed body cannot be checked any more: it is the first thing that goes wrong."""
    secret = harena.webhooks.new_secret()
    with pytest.raises(ValidationError, match="body must be those of the request"):
        harena.webhooks.verify({}, SAID, secret)  # type: ignore[arg-type]
    with pytest.raises(ValidationError, match="whsec_"):
        harena.webhooks.verify({}, b"", "secret")
