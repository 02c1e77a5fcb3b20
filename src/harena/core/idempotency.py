"""Idempotency keys: whoever asks again with the same key gets the answer that the first one got."""

from __future__ import annotations

from dataclasses import dataclass

from harena.core.errors import ValidationError

MOST_CHARACTERS = 200
BEGUN_ELSEWHERE = "BEGUN_ELSEWHERE"
"""reason of an error: another server of the same store has created what was asked for"""


@dataclass(frozen=True, slots=True)
class IdempotencyKey:
    """A key, and what was asked for with it. A workspace's keys for one noun are apart from all others."""

    key: str
    asked: str
    """a fingerprint of the request: the same key with another request is a mistake"""
    noun: str = "benchmark_jobs"
    """what is created, where that is a benchmark job of its own kind"""

    @classmethod
    def of(cls, key: str, request: bytes) -> IdempotencyKey:
        """The key of this request, as it was sent. Raises ValidationError."""
        if not 0 < len(key) <= MOST_CHARACTERS or not (key.isascii() and key.isprintable()):
            raise ValidationError(f"idempotency-key: give 1 to {MOST_CHARACTERS} printable ASCII characters")
        import hashlib  # here: whoever imports the ports need not load it

        return cls(key, hashlib.sha256(request).hexdigest())

    def check_same(self, asked: str) -> None:
        """Raises ValidationError where the key came with another request before."""
        if asked != self.asked:
            raise ValidationError(
                f"idempotency-key {self.key!r} was used for another request before: give each request its own",
                reason="IDEMPOTENCY_KEY_REUSED",
            )
