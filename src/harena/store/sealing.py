"""Secrets of users as they lie in the database: encrypted with a key that is not in it.

The key is HARENA_SECRET_KEY (Fernet keys, separated by commas: the first seals, all of them open, so that a key can be
replaced), or else a file that is made at the first use: beside harena's home, so that a copy of the home has no key,
or in it where nothing can be written beside it. Servers that share a PostgreSQL need the same key: give all of them
the variable, or the same file. A text is sealed as `sealed:1:TOKEN`; a text without these words was stored before there
was this, and is itself.
"""

from __future__ import annotations

import base64
import os
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import Text
from sqlalchemy.types import TypeDecorator

from harena.core import settings
from harena.core.errors import PlatformError, ValidationError
from harena.core.home import harena_home, private_folder
from harena.core.sealed_text import SEALED_PREFIX, is_sealed

if TYPE_CHECKING:
    from cryptography.fernet import MultiFernet
    from sqlalchemy.engine import Dialect

_KEY_BYTES = 32


def seal(text: str) -> str:
    """The text as it is stored. Raises ValidationError where there is nothing to seal it with, PlatformError."""
    return SEALED_PREFIX + _keys().encrypt(text.encode()).decode()


def unseal(text: str) -> str:
    """What was sealed. A text that another key has sealed stays as it is, and `is_sealed`."""
    if not is_sealed(text):
        return text
    from cryptography.fernet import InvalidToken

    try:
        return _keys().decrypt(text.removeprefix(SEALED_PREFIX).encode()).decode()
    except InvalidToken:
        return text


class SealedText(TypeDecorator[str]):
    """Text that is sealed in the database, and open in this process."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: Dialect) -> Any:
        """The value in the form that is stored."""
        return value if value is None or is_sealed(value) else seal(value)

    def process_result_value(self, value: Any, dialect: Dialect) -> Any:
        """The value in the form that was given."""
        return None if value is None else unseal(value)


def _keys() -> MultiFernet:
    try:
        import cryptography.fernet  # noqa: F401 - whether it is there
    except ImportError:
        raise ValidationError(
            "secrets are stored encrypted, which needs cryptography: pip install 'harena[http]'"
        ) from None
    return _make_cipher(settings.SECRET_KEY.read() or _key_at(harena_home()))


@lru_cache(maxsize=4)
def _make_cipher(written: str) -> MultiFernet:
    from cryptography.fernet import Fernet, MultiFernet

    try:
        return MultiFernet([Fernet(part.strip()) for part in written.split(",")])
    except ValueError:
        raise PlatformError(
            f"{settings.SECRET_KEY.name} must be one or more Fernet keys, separated by commas: 32 random bytes each in "
            "URL-safe base64",
            step="secret key",
        ) from None


def _key_at(home: Path) -> str:
    home = home.resolve()
    inside = home / "secret.key"
    beside = home.with_name(f"{home.name}.key") if home.name else inside
    for place in (beside, inside):
        if place.exists():
            return _read(place)
    private_folder(home)
    key = base64.urlsafe_b64encode(os.urandom(_KEY_BYTES))
    for place in (beside, inside):
        try:
            return _write(place, key)
        except PermissionError:
            continue
        except OSError as error:
            raise PlatformError(f"{place} cannot be written: {error.strerror}", step="secret key") from error
    raise PlatformError(f"{inside} cannot be written: set {settings.SECRET_KEY.name}", step="secret key")


def _write(place: Path, key: bytes) -> str:
    """There whole or not at all, and the one of whoever was first."""
    draft = place.with_name(f".{place.name}.{os.getpid()}.draft")
    descriptor = os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600)
    try:
        with open(descriptor, "wb") as file:
            os.fchmod(descriptor, 0o600)
            file.write(key)
        try:
            os.link(draft, place)
        except FileExistsError:
            return _read(place)
    finally:
        draft.unlink()
    return key.decode()


def _read(place: Path) -> str:
    try:
        if place.stat().st_mode & 0o077:
            place.chmod(0o600)
        return place.read_text().strip()
    except OSError as error:
        raise PlatformError(f"{place} cannot be read: {error.strerror}", step="secret key") from error
