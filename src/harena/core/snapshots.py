"""Names of snapshots, and how a sandbox's image names one."""

from __future__ import annotations

import re
import secrets

from harena.core.errors import ValidationError

SCHEME = "snapshot://"
"""with the name or the id of a snapshot behind it: an image that is a snapshot"""
ID_PATTERN = r"snap_[0-9a-f]{24}"
MOST_NAME = 128
MOST_TTL_SECONDS = 100 * 366 * 24 * 3600
"""longest life of a snapshot that ends by itself"""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")


def new_id() -> str:
    """An id that no snapshot has."""
    return f"snap_{secrets.token_hex(12)}"


def checked_name(name: str) -> str:
    """Raises ValidationError for what is no name of a snapshot."""
    if len(name) > MOST_NAME or not _NAME.fullmatch(name) or re.fullmatch(ID_PATTERN, name):
        raise ValidationError(
            f"{name!r:.200} is no name of a snapshot: give up to {MOST_NAME} letters, digits, and _ . - that begin "
            "with a letter or a digit, and are no id"
        )
    return name


def checked_snapshot(snapshot: str) -> str:
    """Raises ValidationError for what is neither a name nor an id."""
    return snapshot if re.fullmatch(ID_PATTERN, snapshot) else checked_name(snapshot)


def snapshot_in(image: str) -> str | None:
    """The snapshot that an image is, by its name or id; None = it is another image."""
    return image.removeprefix(SCHEME) if image.startswith(SCHEME) else None
