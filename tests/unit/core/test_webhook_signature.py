"""Webhooks are signed as the Standard Webhooks specification says, and whoever changes a byte is found out."""

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harena.core.errors import ValidationError
from harena.core.webhook_signature import (
    LEAST_SECRET_BYTES,
    MOST_SECRET_BYTES,
    SignatureError,
    check_signature,
    secret_bytes,
    signature,
)

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
OTHER = "whsec_" + base64.b64encode(bytes(32)).decode()
KNOWN_ID, KNOWN_TIME, KNOWN_BODY = "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, b'{"test": 2432232314}'
KNOWN = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def headers(signed: str, *, at: int = KNOWN_TIME, delivery_id: str = KNOWN_ID) -> dict[str, str]:
    """As a receiver gets them."""
    return {"Webhook-Id": delivery_id, "WEBHOOK-TIMESTAMP": str(at), "webhook-signature": signed}


def test_the_signature_is_that_of_the_specification() -> None:
    """The example that implementations of the specification are tested with."""
    assert signature(SECRET, KNOWN_ID, KNOWN_TIME, KNOWN_BODY) == KNOWN
    check_signature(headers(KNOWN), KNOWN_BODY, SECRET, now=KNOWN_TIME)


@given(st.binary(max_size=200), st.integers(0, 10**11), st.integers(0, 199))
def test_what_was_signed_is_accepted_and_what_was_changed_is_not(body: bytes, at: int, position: int) -> None:
    """Body, timestamp, id and secret all count."""
    signed = signature(SECRET, "id", at, body)
    check_signature(headers(signed, at=at, delivery_id="id"), body, SECRET, now=at)
    changed = body[:position] + b"x" + body[position:]
    for wrong_headers, wrong_body, secret in (
        (headers(signed, at=at, delivery_id="id"), changed, SECRET),
        (headers(signed, at=at + 1, delivery_id="id"), body, SECRET),
        (headers(signed, at=at, delivery_id="other"), body, SECRET),
        (headers(signed, at=at, delivery_id="id"), body, OTHER),
    ):
        with pytest.raises(SignatureError):
            check_signature(wrong_headers, wrong_body, secret, now=at)


def test_one_right_signature_among_others_is_enough() -> None:
    """Senders sign with two secrets while one replaces the other; signatures of other versions are passed over."""
    check_signature(headers(f"v1a,abc v1,%%% v1,AAAA {KNOWN}"), KNOWN_BODY, SECRET, now=KNOWN_TIME)
    for none in (KNOWN.removeprefix("v1,"), KNOWN.replace("v1", "v2"), "v1,", "v1", " "):
        with pytest.raises(SignatureError, match="no signature of this webhook"):
            check_signature(headers(none), KNOWN_BODY, SECRET, now=KNOWN_TIME)


@pytest.mark.parametrize(("late", "accepted"), [(0, True), (300, True), (301, False), (-300, True), (-301, False)])
def test_a_copy_that_was_kept_is_refused(late: int, accepted: bool) -> None:
    """Five minutes in either direction; more where the receiver says so."""
    if accepted:
        check_signature(headers(KNOWN), KNOWN_BODY, SECRET, now=KNOWN_TIME + late)
        return
    with pytest.raises(SignatureError, match="more than 300 seconds away"):
        check_signature(headers(KNOWN), KNOWN_BODY, SECRET, now=KNOWN_TIME + late)
    check_signature(headers(KNOWN), KNOWN_BODY, SECRET, now=KNOWN_TIME + late, tolerance_seconds=400)


@pytest.mark.parametrize("name", ["Webhook-Id", "WEBHOOK-TIMESTAMP", "webhook-signature"])
def test_a_header_that_is_missing_is_named(name: str) -> None:
    """Also where it is empty."""
    given_headers = headers(KNOWN)
    for without in ({**given_headers, name: ""}, {key: value for key, value in given_headers.items() if key != name}):
        with pytest.raises(SignatureError, match=f"no header {name.lower()}"):
            check_signature(without, KNOWN_BODY, SECRET, now=KNOWN_TIME)


@pytest.mark.parametrize("written", ["-1614265330", "1e9", "16142653300000000000", "¹", "1614265330 "])
def test_a_timestamp_that_is_no_number_is_refused(written: str) -> None:
    """And not guessed at."""
    with pytest.raises(SignatureError, match="no number of seconds"):
        check_signature({**headers(KNOWN), "WEBHOOK-TIMESTAMP": written}, KNOWN_BODY, SECRET, now=KNOWN_TIME)


@given(st.binary(max_size=100))
def test_a_secret_is_so_many_bytes(key: bytes) -> None:
    """Written in base64 behind its prefix."""
    written = base64.b64encode(key).decode()
    if LEAST_SECRET_BYTES <= len(key) <= MOST_SECRET_BYTES:
        assert secret_bytes(f"whsec_{written}") == key
    else:
        with pytest.raises(ValidationError):
            secret_bytes(f"whsec_{written}")
    with pytest.raises(ValidationError):
        secret_bytes(written)


def test_a_bad_secret_is_not_repeated() -> None:
    """It may have been a password that somebody typed into the wrong field."""
    with pytest.raises(ValidationError, match="new_secret") as refused:
        secret_bytes("whsec_hunter2!")
    assert "hunter2" not in str(refused.value)
