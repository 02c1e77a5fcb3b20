"""Tells whose doing a change is that was made behind a link of a candidate's while a verifier ran.

What a verifier puts behind such a link speaks for nobody: it would read its own data as the candidate's. What the
candidate's programs write there (a log under two names, a release that is deployed, files of a branch that is checked
out) is its work, and the link belongs to it. Files carry no mark of who wrote them, so a change counts as the
verifier's where its texts name the file otherwise than through the link, where they bring files of names that no text
holds, and where the verifier changes the same file without the candidate.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from harena.scoring.contracts.harbor import is_within

LIST_LIVE = """\
command -v find >/dev/null || exit 0
marker=$1 began=$2
shift 2
live() {
    for place in "$@"; do
        [ ! -L "$place" ] || set -- "$@" "$place/"
    done
    for place in "$@"; do
        [ ! -d "$place" ] || [ -L "$place" ] || place=${place%/}/
        [ -e "$place" ] || continue
        find "$place" -ignore_readdir_race -xdev \\( -type l ! -xtype l -o -type f -links +1 \\) \\
            -newerct "@$began" ! -newercm "$marker" -print0
    done 2>/dev/null | sort -zu | xargs -0 -r bash -c '
        for link do [ ! -e "$link" ] || printf "%s\\0" "$link"; done' bash
}
live "$@"
printf '//\\0'
live "$@" | xargs -0 -r readlink -mz --
exit 0
"""
"""The links to something, also hard ones, that the candidate has left (changed since `began`, and not since the
marker), and after `//` where each leads to"""
FIND_CHANGED = """\
command -v find >/dev/null || exit 0
export marker=$1
shift
export elsewhere=$*
xargs -0 -r -s 1000000 bash -c '
    pruned=(-path /proc) targets=()
    for other in $elsewhere; do pruned+=(-o -path "$other"); done
    for real do
        if [ -e "$real" ]; then targets+=("$real"); else printf "!%s\\0" "$real"; fi
    done
    [ ${#targets[@]} -eq 0 ] || find "${targets[@]}" -ignore_readdir_race -xdev \\( "${pruned[@]}" \\) -prune -o \\
        ! -type d -newercm "$marker" -print0 2>/dev/null' bash | head -c 4194304
exit 0
"""
"""The files, among the paths on standard input and in folders there, that have changed since the marker, and after `!`
what is not there. It is a script of bash"""
_MOST_CHANGED = 200
"""files, each behind one link, of which it is asked where the texts name them: with more, one is the verifier's"""
_MOST_TEXT = 1024 * 1024
_BRINGS = re.compile(
    r"(?<![\w.-])(?:tar|bsdtar|unzip|7z|cpio|unsquashfs|rsync|split|csplit|patch|base64|uudecode|curl|wget|eval"
    r"|git[ \t]+(?:-\S+[ \t]+(?:[^\s-]\S*[ \t]+)?){0,4}(?:clone|apply|am|pull|fetch))(?![\w.-])"
    r"|\bextract(?:all)?\(|\bunpack_archive\(|\bb(?:64|32|85)decode\(|\bdecompress\(|\bzlib\b"
)
"""what writes files of names that no text holds"""
_COMPUTES = re.compile(r"\bchr\(|\bformat\(|%[sd]|\bjoin\(|[\"'][ \t]*\+|\+[ \t]*f?[\"']|\bfromhex\(|\{\w")
_WORDS = re.compile(r"[A-Za-z]{4,}")
_BEFORE = re.compile(r"[\w./~${}+-]*$")
_LONGEST_BEFORE = 300


@dataclass(frozen=True, slots=True)
class Live:
    """The links to something that a candidate has left."""

    reals: Mapping[bytes, bytes]
    """a link -> where it leads to; a hard one leads to itself"""
    is_known: bool = True
    """where each leads to could be told"""


def parsed_live(told: bytes) -> Live:
    """What LIST_LIVE says."""
    links, _, reals = told.partition(b"//\0")
    names, targets = links.split(b"\0")[:-1], reals.split(b"\0")[:-1]
    return Live(dict(zip(names, targets, strict=False)), len(names) == len(targets))


def targets_of(reals: Iterable[bytes]) -> bytes:
    """What FIND_CHANGED reads: each place once, and none that lies in another."""
    kept: list[bytes] = []
    for real in sorted({real.rstrip(b"/") or b"/" for real in reals}, key=lambda path: path.split(b"/")):
        if not kept or not (real + b"/").startswith(kept[-1].rstrip(b"/") + b"/"):
            kept.append(real)
    return b"".join(real + b"\0" for real in kept)


def parsed_changed(told: bytes) -> tuple[frozenset[bytes], frozenset[bytes]]:
    """What FIND_CHANGED says: (what has changed, what is not there)."""
    paths = [path for path in told.split(b"\0") if path]
    gone = frozenset(path[1:] for path in paths if path.startswith(b"!"))
    return frozenset(path for path in paths if path.startswith(b"/")), gone


@dataclass(frozen=True, slots=True)
class Texts:
    """The words of a verifier, and where its relative paths begin."""

    texts: tuple[str, ...]
    names: frozenset[str]
    """names of its files and folders"""
    folders: tuple[str, ...]
    """where it works"""
    same: tuple[tuple[str, str], ...] = ()
    """(a folder as the verifier names it, what it is after all links)"""

    def brings_unnamed(self) -> bool:
        """They write files whose names they do not hold."""
        return any(_BRINGS.search(text) is not None for text in self.texts)

    def name(self, real: str, link: str, target: str) -> bool:
        """They name this file, which is what a link leads to or in it, otherwise than through the link."""
        base = posixpath.basename(real)
        if base in self.names or not base:
            return True
        through = posixpath.normpath(f"{link}/{posixpath.relpath(real, target)}")
        for text in self.texts:
            if any(not self._is_through(path, real, through) for path in _paths_with(base, text)):
                return True
        return any(_holds_part(word, text) for word in _WORDS.findall(base) for text in self.texts)

    def _is_through(self, path: str, real: str, through: str) -> bool:
        """A path of the texts is that of the link, whatever folder it begins in."""
        if "/" not in path or "$" in path or "{" in path or path.startswith("~"):
            return False
        meant = {self._after_links(posixpath.normpath(posixpath.join(folder, path))) for folder in self.folders}
        return self._after_links(through) in meant and self._after_links(real) not in meant

    def _after_links(self, path: str) -> str:
        for named, is_at in self.same:
            if is_within(path, named):
                return posixpath.normpath(is_at + path[len(named) :])
        return path


def computes_names(texts: Iterable[str]) -> bool:
    """They may make names of files of parts."""
    return any(_COMPUTES.search(text) is not None for text in texts)


def _paths_with(name: str, text: str) -> Iterator[str]:
    """The paths in a text that end with a name."""
    for found in re.finditer(rf"(?:(?<![\w.-])|(?<=[ \t]-[A-Za-z])){re.escape(name)}(?![\w/-]|\.\w)", text):
        before = _BEFORE.search(text, max(0, found.start() - _LONGEST_BEFORE), found.start())
        yield ("" if before is None else before[0]) + name


def _holds_part(word: str, text: str) -> bool:
    """The word stands beside what the running program puts in (`want_$i.txt`, `f"{n}_want"`, `"want" + ending`)."""
    begun, gone_on_with = rf"[$}}*?%][\w-]{{0,40}}{word}", rf"{word}[\w-]{{0,40}}(?:[$%{{*?]|[\"'][ \t]*[+%$])"
    return re.search(f"{begun}|{gone_on_with}", text) is not None


@dataclass(frozen=True, slots=True)
class Led:
    """What has changed behind links while a verifier ran."""

    is_the_verifiers: bool = False
    """by its texts, or since nothing tells"""
    asked: frozenset[bytes] = frozenset()
    """files of which only a run without the candidate tells"""


def led_by(reals: Mapping[bytes, bytes], changed: Iterable[bytes], gone: Iterable[bytes], texts: Texts) -> Led:
    """Tell whose doing the changes are. `reals`: a link -> where it leads to; `changed` and `gone`: files, as
    `parsed_changed` gives them."""
    links: dict[bytes, list[bytes]] = {}
    for link, real in reals.items():
        links.setdefault(real.rstrip(b"/"), []).append(link)
    behind: dict[bytes, list[tuple[bytes, bytes]]] = {}
    for path in {*changed, *gone}:
        above = path.rstrip(b"/")
        while above:
            for link in links.get(above, ()):
                behind.setdefault(path, []).append((link, above))
            above = above.rpartition(b"/")[0]
        if sum(map(len, behind.values())) > _MOST_CHANGED:
            return Led(True)
    if not behind:
        return Led()
    if sum(map(len, texts.texts)) > _MOST_TEXT or texts.brings_unnamed() or not behind.keys().isdisjoint(gone):
        return Led(True)
    for path, pairs in behind.items():
        for link, real in pairs:
            told = [part.decode("utf-8", "surrogateescape") for part in (path, link, real)]
            if link == real or texts.name(told[0], told[1], told[2]):  # both names of a hard link are the file's
                return Led(True)
    return Led(asked=frozenset(behind))
