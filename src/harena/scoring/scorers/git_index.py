"""The index of a git repository, when its files have been moved to another sandbox.

git remembers of each file its number and times, and commands that do not look into files (`git diff-index --quiet
HEAD`, `git diff-files`) call one changed whose number is another. So a repository that a candidate left clean would be
dirty where its verifier runs. What the index says of a file that it knew to be unchanged is brought up to date here, by
no program of git's: that would run filters which the repository's settings name.
"""

from __future__ import annotations

import hashlib
import re
import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from harena.core.models import ExecOutcome, ExecRequest
from harena.core.ports import SandboxPort
from harena.scoring.scorers.watched_files import content_of
from harena.scoring.slices import aside

FIND_INDEXES = """\
command -v find >/dev/null || exit 0
for place in "$@"; do
    [ -d "$place" ] && find "$place/" -xdev -name node_modules -prune -o -path '*/.git/index' -type f -print0
done 2>/dev/null | head -c 65536
exit 0
"""
"""the index of each repository there"""
STATES_OF_WORK = """\
for place in "$@"; do
    find "$place" -xdev -path "$place/.git" -prune -o ! -type d -printf '%p\\0%C@ %T@ %D %i %U %G %s\\0'
    find "$place/.git/index" -printf '%p\\0%C@ %T@ %D %i %U %G %s\\0'
done 2>/dev/null
exit 0
"""
"""(path, times, numbers, owners and size) of each file of such repositories, and of their indexes"""
_NAMES_GIT = re.compile(r"(?<![\w.-])git(?![\w-])")
_ENTRY = struct.Struct(">10I")
_HEADER = 12
DIGEST = 20
_EXTENDED = 0x4000
_UNCHANGED, _AWAY = 0x8000, 0x4000
"""bits of the flags, and of the further ones, of an entry"""
_MOST_REPOSITORIES = 20
_MOST_BYTES = 64 * 1024 * 1024
_SECONDS = 120.0
_WRITE = 'cat > "$1" && touch -d "$2" -- "$1"'


@dataclass(frozen=True, slots=True)
class State:
    """What git remembers of a file."""

    changed: tuple[int, int]
    modified: tuple[int, int]
    """seconds, nanoseconds"""
    device: int
    number: int
    user: int
    group: int
    size: int

    def fields(self, mode: int) -> tuple[int, ...]:
        """The fields of an entry, each of 32 bits."""
        numbers = (*self.changed, *self.modified, self.device, self.number, mode, self.user, self.group, self.size)
        return tuple(number & 0xFFFFFFFF for number in numbers)


def asks_git(texts: Iterable[str]) -> bool:
    """The verifier may ask git whether something has changed."""
    return any(_NAMES_GIT.search(text) is not None for text in texts)


def repositories(told: bytes) -> list[str]:
    """The folders of which FIND_INDEXES tells the indexes, the first ones."""
    paths = [path.decode("utf-8", "surrogateescape") for path in told.split(b"\0")[:-1]]
    return [path.replace("//", "/").removesuffix("/.git/index") for path in paths][:_MOST_REPOSITORIES]


def parsed_states(told: bytes) -> dict[bytes, State]:
    """What STATES_OF_WORK says."""
    fields = told.split(b"\0")
    found = {}
    for path, said in zip(fields[::2], fields[1::2], strict=False):
        words = said.decode("ascii", "replace").split()
        if len(words) == 7:
            changed, modified = (_time(word) for word in words[:2])
            device, number, user, group, size = map(int, words[2:])
            found[path] = State(changed, modified, device, number, user, group, size)
    return found


def _time(word: str) -> tuple[int, int]:
    whole, _, rest = word.partition(".")
    return int(whole), int(rest[:9].ljust(9, "0"))


@dataclass(frozen=True, slots=True)
class Entry:
    """What an index says of a file."""

    begin: int
    fields: tuple[int, ...]
    name: bytes
    places: tuple[tuple[int, int], ...]
    """(where two bytes of flags are, the bit of them that says that nobody need look at the file)"""
    is_unseen: bool
    """one of these bits is set"""
    end: int


def entries_of(index: bytes) -> Iterator[Entry]:
    """The entries of an index; none where it is of a form that is not known, the first ones where it is broken."""
    if len(index) < _HEADER + DIGEST or index[:4] != b"DIRC":
        return
    version, count = struct.unpack(">II", index[4:_HEADER])
    if version not in (2, 3, 4):
        return
    at, name, end = _HEADER, b"", len(index) - DIGEST
    for _ in range(count):
        begin = at
        at += _ENTRY.size + DIGEST
        if at + 4 > end:
            return
        flags = int.from_bytes(index[at : at + 2], "big")
        more = int.from_bytes(index[at + 2 : at + 4], "big") if flags & _EXTENDED else 0
        places = ((at, _UNCHANGED), *(((at + 2, _AWAY),) if flags & _EXTENDED else ()))
        at += 4 if flags & _EXTENDED else 2
        if version == 4:
            left, at = _number(index, at)
            stop = index.find(b"\0", at, end)
            if left > len(name) or stop < 0:
                return
            name = name[: len(name) - left] + index[at:stop]
            at = stop + 1
        else:
            stop = index.find(b"\0", at, end)
            if stop < 0:
                return
            name = index[at:stop]
            at = begin + (stop - begin + 8) // 8 * 8
        fields = _ENTRY.unpack_from(index, begin)
        yield Entry(begin, fields, name, places, bool(flags & _UNCHANGED or more & _AWAY), at)


def has_shared_part(index: bytes) -> bool:
    """Some of its entries are in a file of their own (`git update-index --split-index`)."""
    at = _HEADER
    for entry in entries_of(index):
        at = entry.end
    while at + 8 <= len(index) - DIGEST:
        if index[at : at + 4] == b"link":
            return True
        at += 8 + int.from_bytes(index[at + 4 : at + 8], "big")
    return False


def moved(index: bytes, folder: bytes, before: Mapping[bytes, State], after: Mapping[bytes, State]) -> bytes | None:
    """The index with what is true of each file after the move, where it said what was true before it; None where there
    is nothing to bring up to date, or it is of a form that is not known. `folder`: of the repository."""
    made, is_other = bytearray(index), False
    for entry in entries_of(index):
        path = folder + b"/" + entry.name
        was, now = before.get(path), after.get(path)
        if was is None or now is None or was.size != now.size or not _is_true(entry.fields, was):
            continue
        _ENTRY.pack_into(made, entry.begin, *now.fields(entry.fields[6]))
        is_other = True
    if not is_other:
        return None
    if any(index[-DIGEST:]):  # else the repository keeps none
        made[-DIGEST:] = hashlib.sha1(bytes(made[:-DIGEST]), usedforsecurity=False).digest()
    return bytes(made)


def _is_true(fields: tuple[int, ...], state: State) -> bool:
    """The entry says what is true of the file; nobody compares devices. An entry may lack nanoseconds."""
    true = state.fields(fields[6])
    said = list(fields)
    for at in (1, 3):
        said[at] = true[at] if not said[at] else said[at]
    said[4] = true[4]
    return tuple(said) == true


def _number(index: bytes, at: int) -> tuple[int, int]:
    """(a number as version 4 writes it, what follows it)."""
    value = index[at] & 0x7F
    while index[at] & 0x80 and at + 1 < len(index):
        at += 1
        value = (value + 1 << 7) + (index[at] & 0x7F)
    return value, at + 1


async def bring_up_to_date(places: Sequence[str], theirs: SandboxPort, ours: SandboxPort) -> None:
    """Do it for each repository in `places` of `ours`, which were taken over from `theirs`, and whose programs have all
    ended. What cannot be read or written stays as it is: git looks into files of which it is not sure."""
    found = repositories(await _said(ours, FIND_INDEXES, places))
    if not found:
        return
    states = []
    for sandbox in (theirs, ours):
        told = await _said(sandbox, STATES_OF_WORK, found)
        states.append(await aside(len(told), parsed_states, told))
    before, after = states
    for folder in found:
        path = f"{folder}/.git/index"
        was = before.get(path.encode("utf-8", "surrogateescape"))
        content = await content_of(ours, path, max_bytes=_MOST_BYTES)
        if was is None or content is None:
            continue
        name = folder.encode("utf-8", "surrogateescape")
        if (made := await aside(len(content), moved, content, name, before, after)) is not None:
            # git does not believe what is not older than the index, so this keeps its time
            await _said(ours, _WRITE, (path, f"@{was.modified[0]}.{was.modified[1]:09d}"), stdin=made)


async def _said(sandbox: SandboxPort, script: str, words: Sequence[str], *, stdin: bytes | None = None) -> bytes:
    argv = ("sh", "-c", script, "sh", *words)
    request = ExecRequest(argv=argv, cwd="/", timeout_seconds=_SECONDS, warm=False, stdin=stdin)
    done = await (await sandbox.exec(request)).wait()
    return done.stdout if done.outcome is ExecOutcome.EXITED and done.returncode == 0 else b""
