"""When a refused request is sent again."""

from __future__ import annotations

from datetime import timedelta

import pytest

from harena.core.errors import HarenaError, LimitExceededError, PlatformError, ValidationError
from harena.core.problems import from_problem
from harena.sdk.http.retry_after import MOST_SECONDS, is_idempotent, pause_seconds


def busy(reason: str, seconds: float | None) -> LimitExceededError:
    delay = None if seconds is None else timedelta(seconds=seconds)
    return LimitExceededError("too many", reason=reason, retry_delay=delay)


AWAY = from_problem({"status": 503, "retry_after_seconds": 3, "detail": "a proxy"})


@pytest.mark.parametrize(
    ("error", "idempotent", "pause"),
    [
        (busy("REQUEST_RATE", 2.0), False, 2.0),
        (busy("REQUEST_RATE", 0.001), False, 0.05),
        (busy("REQUEST_RATE", None), True, None),
        (busy("REQUEST_RATE", MOST_SECONDS + 1), True, None),
        (busy("SANDBOXES", 1.0), True, None),
        (busy("OPEN_JOBS", 1.0), True, None),
        (AWAY, True, 3.0),
        (AWAY, False, None),
        (ValidationError("no"), True, None),
        (PlatformError("no"), True, None),
    ],
)
def test_what_is_sent_again(error: HarenaError, idempotent: bool, pause: float | None) -> None:
    """After how long; None = it is not."""
    assert pause_seconds(error, idempotent=idempotent, tries=1, waited=0.0) == pause


def test_pauses_grow_and_end() -> None:
    """Twice as long each time, and never more than MOST_SECONDS in all."""
    waited, pauses = 0.0, []
    while pause := pause_seconds(busy("REQUEST_RATE", 0.01), idempotent=True, tries=len(pauses) + 1, waited=waited):
        pauses.append(pause)
        waited += pause
    assert pauses[:4] == [0.05, 0.1, 0.2, 0.4]
    assert MOST_SECONDS / 2 < waited <= MOST_SECONDS


def test_what_is_the_same_once_and_twice() -> None:
    """By its method, or because it carries a key."""
    assert is_idempotent("GET", {})
    assert is_idempotent("PUT", {})
    assert not is_idempotent("POST", {"content-type": "application/json"})
    assert is_idempotent("POST", {"idempotency-key": "k"})
