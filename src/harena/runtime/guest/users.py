"""Users of a sandbox: who is meant by a name, as the image's own /etc/passwd and /etc/group say. Runs in init.

A name is read as Docker reads USER: `user` or `user:group`, each a name or a number. A number need not stand in the
files. Without a group it is the user's own, and those that name the user as a member come with it. The files are a
sandbox's own: whatever they say, nobody outside is meant.
"""

from __future__ import annotations

import os

from harena.runtime.guest import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    Ids = tuple[int, int, list[int]]
    """user, group, further groups"""

_MOST_BYTES = 1 << 20
_MOST_GROUPS = 1000


def resolve(name: str, count: int) -> tuple[Ids, str]:
    """(ids, home) of a user in a sandbox that has ids below `count`. Raises ValueError, whose text is for the user."""
    user, _, group = name.partition(":")
    named, own_group, home = "", 0, "/"
    number = _number(user)
    if number is None or number < count:
        for line in _lines("/etc/passwd"):
            fields = line.split(":")
            if len(fields) < 7 or (fields[0] != user and (number is None or fields[2] != str(number))):
                continue
            own, groups = _number(fields[2]), _number(fields[3])
            if own is not None and groups is not None:
                named, home, number, own_group = fields[0], fields[5] or "/", own, groups
                break
    if number is None:
        raise ValueError("there is no user %s in /etc/passwd" % ascii(user))
    further: list[int] = []
    if group:
        numbered = _number(group)
        own_group = _group(group) if numbered is None else numbered
    elif named:
        further = _groups_of(named, count)
    for each in (number, own_group):
        if each >= count:
            raise ValueError("id %d is none of this sandbox: it has those from 0 to %d" % (each, count - 1))
    return (number, own_group, further), "/" if "\0" in home else home


def become(ids: Ids) -> None:
    """In a child: be that user, for good."""
    user, group, further = ids
    os.setgroups(further)
    os.setresgid(group, group, group)
    os.setresuid(user, user, user)


def _number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 10 else None


def _group(name: str) -> int:
    for line in _lines("/etc/group"):
        fields = line.split(":")
        number = _number(fields[2]) if len(fields) >= 3 and fields[0] == name else None
        if number is not None:
            return number
    raise ValueError("there is no group %s in /etc/group" % ascii(name))


def _groups_of(user: str, count: int) -> list[int]:
    found: list[int] = []
    for line in _lines("/etc/group"):
        fields = line.split(":")
        if len(fields) >= 4 and user in fields[3].split(","):
            number = _number(fields[2])
            if number is not None and number < count and len(found) < _MOST_GROUPS:
                found.append(number)
    return found


def _lines(path: str) -> Iterator[str]:
    """The lines of a file, as far as it is read; none where it is no regular file, or not there."""
    try:
        descriptor = files.open_regular(path, os.O_RDONLY, 0)[0]
    except OSError:
        return
    text = b""
    try:
        while len(text) < _MOST_BYTES:
            piece = os.read(descriptor, _MOST_BYTES - len(text))
            if not piece:
                break
            text += piece
    except OSError:
        return
    finally:
        os.close(descriptor)
    begin = 0
    while begin < len(text):  # not all at one time: a million empty ones would take a sandbox's memory
        end = text.find(b"\n", begin)
        end = len(text) if end < 0 else end
        yield text[begin:end].decode("utf-8", "surrogateescape")
        begin = end + 1
