"""Users and groups of an image by their names, as --chown and USER write them."""

from __future__ import annotations

from harena.image_build.image_files import ImageFiles

_MOST_ID = (1 << 32) - 2


class UnknownOwnerError(ValueError):
    """The image has no user or group of this name."""


def owner_of(written: str, files: ImageFiles) -> tuple[int, int]:
    """Numbers of the user and the group that a text names; "" = root. A user without a group has its own one, and a
    number that /etc/passwd does not know has the number as its group, as Docker has it. Raises UnknownOwnerError,
    OSError."""
    if not written:
        return 0, 0
    user, colon, group = written.partition(":")
    users = _lines(files.text("/etc/passwd"))
    found = next((line for line in users if line[0] == user or (user.isdecimal() and line[2] == user)), None)
    number = _number(user)
    if number is None:
        if found is None:
            raise UnknownOwnerError(f"/etc/passwd of the image has no user {user!r:.80}")
        number = _number(found[2])
    own_group = _number(found[3]) if found is not None and len(found) > 3 else _number(user)
    if colon:
        own_group = _number(group)
        if own_group is None:
            groups = _lines(files.text("/etc/group"))
            line = next((line for line in groups if line[0] == group), None)
            own_group = _number(line[2]) if line is not None else None
            if own_group is None:
                raise UnknownOwnerError(f"/etc/group of the image has no group {group!r:.80}")
    if number is None:
        raise UnknownOwnerError(f"/etc/passwd of the image gives {user!r:.80} no number")
    return number, own_group or 0


def _lines(text: str) -> list[list[str]]:
    return [fields for line in text.splitlines() if len(fields := line.split(":")) > 2]


def _number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 11 and int(text) <= _MOST_ID else None
