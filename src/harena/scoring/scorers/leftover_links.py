"""Links that a candidate leaves for its verifier: which are removed, and which have led it to something of its own.

A link into the places of a verifier's own files is removed, and one whose end depends on who follows it. One that leads
nowhere may be the right answer, or no matter; it may also lead to where the verifier will put something (`out.txt ->
expected.txt`). It stays, and when the verifier has ended it is asked whether something has come to be there. What was
there for a while only cannot be excluded where its folder has changed; then the verifier's own text decides, by the
names in it. A link to something that is there stays, too. Where the verifier may have put there what has come to be or
has changed behind a link (see `redirecting_links`), the candidate is judged anew with a copy in the link's place.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath

OPEN_FOLDERS = r"""
command -v find >/dev/null || exit 0
above() {
    local before='' real=$(readlink -m -- "$1") at rest
    while [ "$real" != "$before" ]; do
        rest=${real#/}/ at=
        while [ -n "$rest" ]; do
            at=$at/${rest%%/*} rest=${rest#*/}
            if [ -r "$at" ] && [ -x "$at" ]; then continue; fi
            find "$at" -maxdepth 0 -type d -exec chmod u+rwx -- {} \; -printf '%m\0%p\0' 2>/dev/null
        done
        before=$real real=$(readlink -m -- "$1")
    done
}
for place in "$@"; do above "$place"; done
for place in "$@"; do
    [ -d "$place" ] && find "$place/" -xdev -type d ! \( -readable -executable \) \
        -exec chmod u+rwx -- {} \; -printf '%m\0%p\0'
done
exit 0
"""
"""(its mode, path) of each folder that could not be listed or entered, and is open now: those above places and in them.
It is a script of bash"""
CLOSE_FOLDERS = """\
while IFS= read -r -d '' mode && IFS= read -r -d '' path; do
    if [ -d "$path" ] && [ ! -L "$path" ]; then chmod "$mode" -- "$path"; fi
done
exit 0
"""
"""What OPEN_FOLDERS has opened gets its modes back."""
FIND_LEFT = """\
command -v find >/dev/null || exit 0
elsewhere=$1
shift
nowhere=1/2/3/4/5/6/7/8/9/1/2/3/4/5/6/7/8/9/1/2/3/4/5/6/7/8/9/1/2/3/4/5/6/7/8/9
made=$(mktemp -d /tmp/XXXXXXXXXXXX) && made=$(readlink -f -- "$made")
export MADE="$made"
if [ -z "$made" ] || ! mkdir -p "$made/$nowhere" || ! cd "$made/$nowhere"; then
    cd "/proc/$$/task/$$/fdinfo" || exit 1
fi
: | { for place in "$@"; do
    real=$(readlink -m -- "$place")
    for other in /proc /tests /logs /solution $made $elsewhere; do
        case "$real/" in "$other"/*) printf '%s\\0!%s\\0' "$place" "$real"; esac
        case "$other/" in "${real%/}"/*) printf '%s\\0!%s\\0' "$place" "$real"; esac
    done
    start=$place
    [ ! -d "$place" ] || [ -L "$place" ] || start=$place/
    if [ ! -e "$start" ] && [ ! -L "$start" ]; then continue; fi
    behind=$start
    [ ! -d "$place" ] || behind=$place/
    [ "$behind" != "$start" ] || behind=
    find "$start" ${behind:+"$behind"} -ignore_readdir_race -xdev \\
    \\( -type d ! \\( -readable -executable \\) -printf '%p\\0!%U %m\\0' -prune \\) -o \\
    \\( -type d -name __pycache__ -printf '%p\\0\\0' -prune \\) -o -type f -links +1 -exec sh -c '
        for file do
            [ -z "$ALL" ] || printf "%s\\0=%s\\0" "$file" "$file"
        done' sh {} + -o -type l -exec sh -c '
        itself=$(readlink -m /proc/self/exe)
        lines=$(readlink -m -- "$@" | wc -l)
        own() {
            printf "%s\\0-" "$link"
            readlink -z -- "$link" || printf "\\0"
        }
        hidden() {
            at=$real
            while [ -n "$at" ] && [ ! -e "$at" ]; do at=${at%/*}; done
            at=${at:-/}
            if [ -O "$at" ]; then return 1; fi
            if [ "$at" = "$real" ]; then [ ! -r "$at" ]; else [ -d "$at" ] && [ ! -x "$at" ]; fi
        }
        judged() {
            case "$real/" in
                /proc/*|/tests/*|/logs/verifier/*|/solution/*|"$itself"/) own; return;;
                /dev/null/|/dev/zero/|/dev/full/|/dev/random/|/dev/urandom/|/dev/shm/*) ;;
                /dev/*) own; return;;
            esac
            for other in $0; do
                case "$real/" in "$other"/*) own; return;; esac
                [ "$other" != "$MADE" ] || continue
                case "$other/" in "${real%/}"/*) printf "%s\\0^%s\\0" "$link" "$real"; return;; esac
            done
            if [ -n "$OTHER" ] && hidden; then own; return; fi
            if [ -e "$link" ]; then
                [ -z "$ALL" ] || printf "%s\\0=%s\\0" "$link" "$real"
            else
                printf "%s\\0%s\\0" "$link" "$real"
            fi
        }
        if [ "$lines" -ne $# ]; then  # a line break in a name
            for link do
                real=$(readlink -m -- "$link"; echo .)
                real=${real%??}
                if [ -n "$real" ]; then judged; else own; fi
            done
            exit
        fi
        readlink -m -- "$@" | for link do
            IFS= read -r real
            judged
        done' "$made $elsewhere" {} + || exit 1
done; }
ended=$?
cd /
[ -z "$made" ] || rm -rf -- "$made"
exit $ended
"""
"""(path, "-" and what it says) of a link that is to be removed: it leads to where the verifier's files will be, to
whoever follows it or, with OTHER, to what whoever looks may not read, and does not own; (path, "") of a folder of
compiled modules; (path, where to) of a link that leads nowhere; (path, "=" and where to) of a link, also a hard one, to
what has one of NAMES, each between slashes; (path, "^" and where to) of a link to a folder that holds the places of the
verifier's files; (path, "!" and why) of what nobody can look into. It fails where `find` does. Where a link by way of
/proc/self or /dev/stdin leads depends on who follows it: here it is somebody whose working directory is known to
nobody, deeper than any from which `..` would lead to the same, and whose files are pipes"""
PART_LINKS = """\
while IFS= read -r -d '' link && IFS= read -r -d '' real; do
    made='' base=/tmp
    case "/tmp/" in "${real%/}"/*) base=/var/tmp;; esac
    [ "$real" = / ] || made=$(mktemp -d "$base/XXXXXXXXXXXX")
    if [ -n "$made" ] && cp -rp -- "$real" "$made/copy"; then
        rm -f -- "$link" && mv -- "$made/copy" "$link"
    else
        rm -f -- "$link"
    fi
    [ -z "$made" ] || rm -rf -- "$made"
done
exit 0
"""
"""a copy in the place of each link, or nothing where there can be none"""
SPREAD_LINKS = r"""
shopt -s lastpipe
elsewhere=$*
spread() {  # what is in the folder $1, but for the verifier's places, as links in the folder $2
    local entry real other is_other at=0 entries=() plain=() above=()
    mkdir -- "$2" || return
    for entry in "${1%/}"/* "${1%/}"/.[!.]* "${1%/}"/..?*; do
        if [ -e "$entry" ] || [ -L "$entry" ]; then entries+=("$entry"); fi
    done
    printf '%s\0' "${entries[@]}" | xargs -0 -r readlink -mz -- | while IFS= read -r -d '' real; do
        entry=${entries[at]} is_other=n at=$((at + 1))
        for other in $elsewhere; do
            case "$real/" in "$other"/*) is_other=y;; esac
            case "$other/" in "${real%/}"/*) [ "$is_other" = y ] || is_other=above;; esac
        done
        case "$is_other" in
            n) plain+=("$entry");;
            above) [ -L "$entry" ] || above+=("$entry");;
        esac
    done
    [ ${#plain[@]} -eq 0 ] || printf '%s\0' "${plain[@]}" | xargs -0 ln -s -t "$2" --
    for entry in "${above[@]}"; do spread "$entry" "$2/${entry##*/}"; done
}
while IFS= read -r -d '' link && IFS= read -r -d '' real; do
    if [ -L "$link" ]; then rm -f -- "$link" && spread "$real" "$link"; fi
done
exit 0
"""
"""In the place of a link to a folder that holds the verifier's places, there is a folder of links to what else is in
it. It is a script of bash"""
STATE_OF_LINKS = """\
while IFS= read -r -d '' link && IFS= read -r -d '' real; do
    folder=${real%/*}
    while [ -n "$folder" ] && [ ! -d "$folder" ]; do folder=${folder%/*}; done
    there=n
    if [ -e "$link" ] || [ -e "$real" ]; then there=y; elif [ ! -L "$link" ]; then there=g; fi
    printf '%s\\0%s\\0%s\\0%s\\0' "$link" "$real" "$there" "${folder:-/}"
done
"""
"""(link, where to, whether something is there or the link has gone, the nearest folder that exists) of each"""
STATE_OF_FOLDERS = r"""
sort -zu | xargs -0 -r -I{} find {} -maxdepth 0 -printf '%p\0%i %C@\0'
"""

_LOOKS_AT_LINKS = re.compile(
    r"readlink|islink|is_symlink|lstat|realpath|\.resolve\(|-type[ \t=]*l\b|\[[^\]\[]*[ \t]-[hL][ \t]"
    r"|\btest[ \t]+(?:![ \t]+)?-[hL][ \t]|\bls[ \t]+-\w*l|%N"
)
_ANY_FOLDER = re.compile(r"\*/|\*\*|\brglob\b|\bfollowlinks\b|(?<![\w-])-(?:[A-Za-z]*[RL][A-Za-z]*|follow)\b")
"""patterns that stand for folders, and options by which programs go through links to folders"""
_LINES_AFTER = 4
"""number of lines after a look at a link, in which what it showed is compared"""
_MOST_NAMES = 200
"""names of links that all texts are searched for; with more, one of them may have been named"""
_WORDS = re.compile(r"[A-Za-z]{4,}")


@dataclass(frozen=True, slots=True)
class LeftLinks:
    """What a find has told."""

    removed: Mapping[bytes, bytes] = field(default_factory=dict)
    """a link -> what it says, after `-`; a folder of compiled modules -> nothing"""
    dangling: Mapping[bytes, bytes] = field(default_factory=dict)
    """a link that leads nowhere -> where it would lead"""
    alike: Mapping[bytes, bytes] = field(default_factory=dict)
    """a link -> what it leads to, where all links are asked for"""
    above: Mapping[bytes, bytes] = field(default_factory=dict)
    """a link -> the folder that it leads to, which holds places of the verifier's"""
    barred: Mapping[bytes, bytes] = field(default_factory=dict)
    """a folder that nobody can look into, or that is a place of the verifier's -> why"""

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self.removed) + len(self.dangling) + len(self.alike) + len(self.above) + len(self.barred)


@dataclass(frozen=True, slots=True)
class LinkState:
    """One link that leads nowhere, at one moment."""

    real: bytes
    there: bytes
    """y: something is there; g: the link has gone; n: neither"""
    folder: bytes
    """the nearest that exists above what is missing"""
    changed: bytes = b""
    """the folder's number and the time of its last change"""


def parsed_left(told: bytes) -> LeftLinks:
    """What FIND_LEFT says. Names need not be UTF-8."""
    fields = told.split(b"\0")
    pairs = [(path, real) for path, real in zip(fields[::2], fields[1::2], strict=False) if path.startswith(b"/")]
    return LeftLinks(
        {path: real for path, real in pairs if real[:1] in (b"", b"-")},
        {path: real for path, real in pairs if real.startswith(b"/")},
        {path: real[1:] for path, real in pairs if real.startswith(b"=")},
        {path: real[1:] for path, real in pairs if real.startswith(b"^")},
        {path: real[1:] for path, real in pairs if real.startswith(b"!")},
    )


def modes_backwards(told: bytes) -> bytes:
    """What OPEN_FOLDERS says, as CLOSE_FOLDERS reads it: what was opened first is closed last."""
    fields = told.split(b"\0")
    pairs = list(zip(fields[::2], fields[1::2], strict=False))
    return b"".join(mode + b"\0" + path + b"\0" for mode, path in reversed(pairs))


def folders_of(told: bytes) -> bytes:
    """The folders that STATE_OF_LINKS names, as STATE_OF_FOLDERS reads them."""
    return b"".join(folder + b"\0" for folder in sorted(set(told.split(b"\0")[3::4])))


def parsed_states(told: bytes, folders: bytes) -> dict[bytes, LinkState]:
    """What STATE_OF_LINKS and STATE_OF_FOLDERS say."""
    fields = folders.split(b"\0")
    changed = dict(zip(fields[::2], fields[1::2], strict=False))
    parts = told.split(b"\0")
    rows = zip(parts[::4], parts[1::4], parts[2::4], parts[3::4], strict=False)
    return {link: LinkState(real, there, folder, changed.get(folder, b"")) for link, real, there, folder in rows}


def names_brought(tests: Iterable[str], written: Iterable[str]) -> str:
    """NAMES of FIND_LEFT: of a verifier's files and folders, and of those that its lines of shell write."""
    names = {part for path in tests for part in PurePosixPath(path).parts}
    names |= {name for name in (PurePosixPath(path).name for path in written) if "*" not in name}
    return "/" + "".join(f"{name}/" for name in sorted(names - {"", "/"}))


def links_above(texts: Iterable[str], elsewhere: Iterable[str], above: Mapping[bytes, bytes]) -> frozenset[bytes]:
    """The links, among some to folders that hold these places, from which a text may go on to them: by a name of theirs
    (`a/tests`, `"tests"`, where `a` is a link to what holds `tests`); by a pattern for folders; or since it names the
    link, of which it may read all that is below. A link of which it asks where it leads stays."""
    texts = list(texts)
    folders = _folders_gone_on_from(texts, elsewhere, above.values())
    found = {link for link, real in above.items() if real in folders}
    if any(_LOOKS_AT_LINKS.search(text) for text in texts):
        return frozenset(found)
    if any(_ANY_FOLDER.search(text) for text in texts):
        return frozenset(above)
    names = {link: PurePosixPath(link.decode("utf-8", "replace")).name for link in above}
    asked = sorted(set(names.values()))[:_MOST_NAMES]
    named = {name for name in asked if any(_is_named(name, text) for text in texts)}
    return frozenset(found | {link for link, name in names.items() if name in named})


def _folders_gone_on_from(texts: list[str], elsewhere: Iterable[str], reals: Iterable[bytes]) -> frozenset[bytes]:
    elsewhere = list(elsewhere)
    found = set()
    for real in set(reals):
        folder = PurePosixPath(real.decode("utf-8", "replace"))
        held = [PurePosixPath(path) for path in (*elsewhere, "/tests", "/solution", "/logs")]
        names = {path.relative_to(folder).parts[0] for path in held if folder in path.parents}
        if any(_is_named_within(name, text) for name in names for text in texts):
            found.add(real)
    return frozenset(found)


def _is_named_within(name: str, text: str) -> bool:
    return re.search(rf"(?:[\w.~}})$*?\]\"']/+|(?<![\w./~-])){re.escape(name)}(?![\w-])", text) is not None


def has_led_somewhere(
    before: Mapping[bytes, LinkState], after: Mapping[bytes, LinkState], texts: Mapping[str, str]
) -> bool:
    """Something that is not there any more may have been read or written through one of these links while the verifier
    ran."""
    text = "\n".join([*_without_looks(texts.values()), *texts])
    asked: set[str] = set()
    for link, was in before.items():
        now = after.get(link)
        if now is None:
            return True
        if now.there == b"y":  # see `redirecting_links`
            continue
        has_gone = now.there == b"g"
        is_untouched = (was.folder, was.changed) == (now.folder, now.changed) and bool(was.changed)
        if has_gone or not is_untouched:
            names = _names(was, link if has_gone else b"") - asked
            asked |= names
            if len(asked) > _MOST_NAMES or any(_is_named(name, text) for name in names):
                return True
    return False


def come_to_be(before: Mapping[bytes, LinkState], after: Mapping[bytes, LinkState]) -> dict[bytes, bytes]:
    """The links, among these, that lead to something now -> where."""
    return {link: was.real for link, was in before.items() if link in after and after[link].there == b"y"}


def _without_looks(texts: Iterable[str]) -> Iterable[str]:
    """Their lines without those which look at a link itself."""
    for text in texts:
        skipped = 0
        for line in text.split("\n"):
            skipped = _LINES_AFTER if _LOOKS_AT_LINKS.search(line) else skipped - 1
            if skipped < 0:
                yield line


def _names(was: LinkState, link: bytes) -> set[str]:
    """The first and the last name of what is missing, and the link's own."""
    missing = was.real[len(was.folder.rstrip(b"/")) :].decode("utf-8", "replace").strip("/")
    names = {missing.split("/")[0], PurePosixPath(missing).name}
    return (names | {PurePosixPath(link.decode("utf-8", "replace")).name}) - {""}


def _is_named(name: str, text: str) -> bool:
    """The text holds the name, or what it may be made of."""
    if re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w-])", text):
        return True
    return any(word in text for word in _WORDS.findall(PurePosixPath(name).stem))
