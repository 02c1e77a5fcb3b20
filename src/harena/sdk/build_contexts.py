"""The archive that begins a build of an image: what is built, and the context without what .dockerignore says."""

from __future__ import annotations

import json
import os
import stat
import tarfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from harena.core.errors import ValidationError
from harena.core.path_patterns import MOST_TEXT, PathPatternError, PathRules, rules_of_file
from harena.core.records.image_builds import BuildRequest

_PIECE_BYTES = 1024 * 1024
_MOST_RULES_BYTES = 4 * MOST_TEXT + 1
_IGNORE = ".dockerignore"


def packed_context(
    context: Path,
    request: BuildRequest,
    dockerfile: Path | None,
    *,
    only: Sequence[str] | None = None,
    more: Mapping[str, bytes] | None = None,
    spend: Callable[[int], None] | None = None,
) -> Iterator[bytes]:
    """A tar stream; no file is open while nobody asks for the next piece. `dockerfile`: the file that the request has
    the text of; rules that lie beside it take the place of the context's. `only`: paths of the context that are sent,
    whatever its rules say; None = all that these do not leave out. `more`: files that do not lie there, by their
    paths. `spend`: told the steps of comparing paths with rules before they are taken; may raise. Raises
    ValidationError, OSError."""
    text = _rules_text(context, dockerfile) if only is None else _rules_for([*only, *(more or {})])
    try:
        rules = rules_of_file(text)
    except PathPatternError as error:
        raise ValidationError(f"{_IGNORE}: {error}") from None
    content = json.dumps(replace(request, ignore=text).to_dict()).encode()
    first = tarfile.TarInfo("build.json")
    first.size = len(content)
    gathered = [first.tobuf(tarfile.GNU_FORMAT), content, bytes(-len(content) % tarfile.BLOCKSIZE)]
    for path, given in (more or {}).items():
        gathered += _member(path, given)
    size = 0
    for piece in _entries(str(context), rules, spend):
        gathered.append(piece)
        size += len(piece)
        if size >= _PIECE_BYTES:
            yield b"".join(gathered)
            gathered, size = [], 0
    yield b"".join([*gathered, bytes(2 * tarfile.BLOCKSIZE)])


def _rules_for(only: Sequence[str]) -> str:
    return "\n".join(["**", *(f"!{path}" for path in only)])


def _member(path: str, content: bytes) -> list[bytes]:
    member = tarfile.TarInfo(f"context/{path}")
    member.size, member.mode = len(content), 0o644
    return [member.tobuf(tarfile.GNU_FORMAT), content, bytes(-len(content) % tarfile.BLOCKSIZE)]


def _rules_text(context: Path, dockerfile: Path | None) -> str:
    beside = [] if dockerfile is None else [dockerfile.with_name(f"{dockerfile.name}{_IGNORE}")]
    for path in (*beside, context / _IGNORE):
        try:
            with path.open("rb") as file:  # what is longer is refused by who reads it
                return file.read(_MOST_RULES_BYTES).decode(errors="replace").replace("\r\n", "\n")
        except (FileNotFoundError, NotADirectoryError):
            continue
    return ""


def _entries(context: str, rules: PathRules, spend: Callable[[int], None] | None) -> Iterator[bytes]:
    waiting = [""]
    while waiting:
        above = waiting.pop()
        with os.scandir(os.path.join(context, above)) as found:
            entries = sorted(found, key=lambda entry: entry.name)
        for entry in entries:
            path = f"{above}/{entry.name}" if above else entry.name
            about = entry.stat(follow_symlinks=False)
            is_folder = stat.S_ISDIR(about.st_mode)
            is_left_out = rules.leaves_out(path, spend)
            if is_folder and (not is_left_out or rules.takes_back):
                waiting.append(path)
            if is_left_out or stat.S_ISSOCK(about.st_mode):
                continue
            yield from entry_of(os.path.join(context, path), f"context/{path}", about)


def entry_of(place: str, path: str, about: os.stat_result) -> Iterator[bytes]:
    """A file, directory or link as an archive's entry, without its owner and its times; no file is open while nobody
    asks for the next piece. Raises ValidationError for what is none of these, OSError."""
    member = tarfile.TarInfo(path)
    member.mode = stat.S_IMODE(about.st_mode)
    if stat.S_ISDIR(about.st_mode):
        member.type = tarfile.DIRTYPE
    elif stat.S_ISLNK(about.st_mode):
        member.type, member.linkname = tarfile.SYMTYPE, os.readlink(place)
    elif stat.S_ISREG(about.st_mode):
        member.size = about.st_size
    else:
        raise ValidationError(f"{path!r:.200} is neither a file, a directory nor a link: leave it out")
    yield member.tobuf(tarfile.GNU_FORMAT, "utf-8", "surrogateescape")
    left = member.size
    while left:
        with open(place, "rb") as file:
            file.seek(member.size - left)
            piece = file.read(min(left, _PIECE_BYTES))
        if not piece:
            raise ValidationError(f"{path!r:.200} became shorter while it was read: build again when nobody writes it")
        left -= len(piece)
        yield piece
    if member.size:
        yield bytes(-member.size % tarfile.BLOCKSIZE)
