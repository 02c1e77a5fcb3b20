"""What a repository of git says of itself when somebody asks git whether something has changed.

git runs what a repository's settings name where it compares (`diff.external`, filters, `textconv`), looks for files
where they say (`core.worktree`), and does not look at files that the index calls unchanged (`assume-unchanged`) or away
(`skip-worktree`). So before a verifier asks git, settings that are not known to steer nothing, and that the repository
had not before the candidate, are taken out of it, unless the verifier's texts name them, and no file that is there
counts as unchanged unseen. Attributes (`.gitattributes`) may stay: what they name is defined by settings alone.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from harena.core.models import ExecOutcome, ExecRequest
from harena.core.ports import SandboxPort
from harena.scoring.scorers.git_index import DIGEST, entries_of, has_shared_part
from harena.scoring.scorers.watched_files import content_of
from harena.scoring.slices import aside

FIND_SETTINGS = """\
command -v find >/dev/null && command -v xargs >/dev/null || exit 0
for place in "$@"; do
    [ -d "$place" ] && find "$place/" -xdev -name node_modules -prune -o ! -type d \\( -name config \\
        -o -name config.worktree -o -name index \\) -print0
done 2>/dev/null | xargs -0 sh -c 'for path do
    folder=${path%/*}
    [ -e "$folder/HEAD" ] || [ -e "$folder/objects" ] || [ -e "$folder/refs" ] || continue
    printf "%s\\0%s\\0" "$path" "$(readlink -f -- "$path")"
done' sh | head -c 1048576
exit 0
"""
"""(path, what it is after all links) of each file of settings, and each index, of a repository there"""
WITHOUT_REPLACEMENTS = {"GIT_NO_REPLACE_OBJECTS": "1"}
"""a variable by which git shows each object as it is"""
_MOST_FILES = 600
_MOST_BYTES = 1024 * 1024
_MOST_INDEX_BYTES = 64 * 1024 * 1024
_SECONDS = 60.0
_WRITE = 'chmod u+w -- "${1%/*}" "$1" 2>/dev/null; cat > "$1" && touch -d "$2" -- "$1"'
_UNSHARE = """\
cd "$1/.." && command -v git >/dev/null && git update-index --no-split-index >/dev/null 2>&1
exit 0
"""
_OF_ITS_OWN = {
    "GIT_CONFIG_COUNT": "3",
    "GIT_CONFIG_KEY_0": "core.fsmonitor",
    "GIT_CONFIG_VALUE_0": "false",
    "GIT_CONFIG_KEY_1": "core.hooksPath",
    "GIT_CONFIG_VALUE_1": "/dev/null",
    "GIT_CONFIG_KEY_2": "safe.directory",
    "GIT_CONFIG_VALUE_2": "*",
}
_HARMLESS = frozenset({
    "user", "author", "committer", "remote", "branch", "safe", "advice", "init", "alias", "color", "column", "push",
    "pull", "merge", "mergetool", "difftool", "rebase", "rerere", "commit", "tag", "gc", "credential", "http", "url",
    "lfs", "receive", "fetch", "pack", "gpg", "log", "format", "maintenance", "gui", "sendemail", "notes", "transfer",
    "uploadpack", "protocol", "clean", "clone", "checkout", "sequence", "stash", "worktree", "help", "i18n", "am",
    "apply", "gitflow", "hub", "versionsort", "web", "browser", "fsck", "repack", "revert", "bundle", "pager",
    "trailer", "blame", "grep", "show", "man", "instaweb", "splitindex",
})  # fmt: skip
"""sections of which no setting changes what git finds changed"""
_HARMLESS_OF_CORE = frozenset({
    "repositoryformatversion", "filemode", "bare", "logallrefupdates", "ignorecase", "symlinks", "precomposeunicode",
    "autocrlf", "eol", "safecrlf", "editor", "pager", "hookspath", "excludesfile", "quotepath", "sshcommand",
    "compression", "loosecompression", "bigfilethreshold", "abbrev", "whitespace", "commentchar", "askpass",
    "sharedrepository", "longpaths", "protecthfs", "protectntfs", "packedgitlimit", "packedgitwindowsize",
    "deltabasecachelimit", "multipackindex", "commitgraph", "fscache", "preloadindex", "sparsecheckout",
    "sparsecheckoutcone", "untrackedcache", "warnambiguousrefs", "notesref", "splitindex", "unsetenvvars",
    "checkroundtripencoding", "createobject", "disambiguate", "fsync", "fsyncmethod", "fsyncobjectfiles",
})  # fmt: skip
_HARMLESS_OTHERS = frozenset({
    ("extensions", "objectformat"), ("extensions", "partialclone"), ("extensions", "refstorage"),
    ("extensions", "noop"), ("extensions", "preciousobjects"), ("extensions", "worktreeconfig"),
    ("submodule", "url"), ("submodule", "active"),
    ("submodule", "path"), ("submodule", "branch"), ("submodule", "update"), ("submodule", "recurse"),
    ("submodule", "fetchjobs"), ("index", "version"), ("index", "threads"), ("index", "skiphash"),
    ("diff", "renames"), ("diff", "renamelimit"), ("diff", "algorithm"), ("diff", "mnemonicprefix"),
    ("diff", "colormoved"), ("diff", "tool"), ("diff", "guitool"), ("diff", "xfuncname"), ("diff", "indentheuristic"),
    ("diff", "context"), ("diff", "noprefix"), ("diff", "statgraphwidth"), ("diff", "submodule"), ("diff", "wordregex"),
    ("status", "short"), ("status", "branch"), ("status", "color"), ("status", "relativepaths"), ("status", "renames"),
    ("status", "aheadbehind"), ("status", "showstash"), ("feature", "manyfiles"), ("feature", "experimental"),
})  # fmt: skip
_LFS = {"clean": "git-lfs clean -- %f", "smudge": "git-lfs smudge -- %f", "process": "git-lfs filter-process"}
_SPACE = re.compile(r"(?:[ \t\r\n]+|[#;][^\n]*)*+")
_HEADER = re.compile(r"\[[ \t]*([A-Za-z0-9.-]+)(?:[ \t]+\"((?:[^\"\\\n]|\\.)*+)\")?[ \t]*\]")
_SETTING = re.compile(
    r"([A-Za-z][A-Za-z0-9-]*+)[ \t]*+"
    r"(?:=((?:\"(?:[^\"\\\n]|\\\r?\n|\\[^\n])*+\"|\\\r?\n|\\[^\n]|[^\"\\\n#;])*+))?(?:[#;][^\n]*)?"
)
_NAMES_REPLACEMENTS = re.compile(r"\bgit\b[^\n]{0,200}\breplace\b|refs/replace|\bgrafts\b")
_NAMES_BITS = re.compile(r"assume-unchanged|skip-worktree|sparse-checkout|\bls-files\b[^\n]{0,100}[ \t]-\w*[vtf]")


@dataclass(frozen=True, slots=True, order=True)
class Setting:
    """A line of a file of settings."""

    section: str
    below: str
    """the name between quotes, or behind a dot"""
    key: str
    value: str
    """what the file says, unchanged"""

    @property
    def name(self) -> str:
        """What `git config` calls it."""
        return ".".join(part for part in (self.section, self.below, self.key) if part)

    @property
    def is_harmless(self) -> bool:
        """It changes nothing of what git finds changed."""
        if self.section == "core":
            return self.key in _HARMLESS_OF_CORE
        if self.section == "filter" and self.below == "lfs":
            plain = self.value.strip().strip('"')
            return plain == ("true" if self.key == "required" else _LFS.get(self.key))
        return self.section in _HARMLESS or (self.section, self.key) in _HARMLESS_OTHERS


@dataclass(frozen=True, slots=True)
class Repositories:
    """What repositories say of themselves at one moment."""

    settings: Mapping[str, frozenset[Setting]] = field(default_factory=dict)
    """path of a file of settings -> what of it may steer"""
    unseen: Mapping[str, frozenset[bytes]] = field(default_factory=dict)
    """path of an index -> the files that it calls unchanged, or away"""
    is_all: bool = True
    """False: there are more than can be read"""

    def changes_to(self, after: Repositories) -> list[str]:
        """The files that say something new then."""
        none: frozenset[Setting] = frozenset()
        told = [path for path, now in after.settings.items() if now - self.settings.get(path, none)]
        return [*told, *(path for path, now in after.unseen.items() if now - self.unseen.get(path, frozenset()))]


_UNREADABLE = Setting("", "", "", "")
"""what stands for a file that nobody can read"""


class UnreadableError(Exception):
    """A repository's settings cannot be read, or there are too many; the message says which."""


def settings_of(text: str) -> list[Setting] | None:
    """Read a file of settings; None where git could not.

    >>> [one.name for one in settings_of('[user] name = a\\n[diff "x"]\\n\\tcommand = true # b\\n\\tbinary\\n')]
    ['user.name', 'diff.x.command', 'diff.x.binary']
    """
    found: list[Setting] = []
    section, below = "", ""
    at = _end(_SPACE, text, 1 if text[:1] == "\ufeff" else 0)
    while at < len(text):
        if (header := _HEADER.match(text, at)) is not None:
            section, _, behind = header[1].partition(".")
            section, below = section.lower(), behind.lower() if header[2] is None else header[2]
            at = header.end()
        elif (setting := _SETTING.match(text, at)) is not None and section:
            found.append(Setting(section, below, setting[1].lower(), (setting[2] or "").rstrip()))
            at = setting.end()
        else:
            return None
        at = _end(_SPACE, text, at)
    return found


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    return at if found is None else found.end()


def steering(text: str, named: str, by_value: bool = False) -> frozenset[Setting]:
    """What of a file of settings may steer git, and is not named by what is trusted: `named`. `by_value`: with its
    value."""
    settings = settings_of(text)
    if settings is None:
        return frozenset({_UNREADABLE})
    low = _plain(named) if by_value else named.lower()
    is_known = _has_value if by_value else _is_named
    return frozenset(one for one in settings if not one.is_harmless and not is_known(one, low))


def _plain(text: str) -> str:
    return " ".join(re.sub(r"[\"'\\]", "", text.lower()).split())


def _is_named(setting: Setting, named: str) -> bool:
    """It is written as `git config` writes it, or as files of settings do."""
    if setting.name.lower() in named or (setting.below and f"{setting.section}.{setting.below}".lower() in named):
        return True
    is_section = setting.section in named
    return is_section and ("get-regexp" in named or (f"[{setting.section}" in named and setting.key in named))


def _has_value(setting: Setting, named: str) -> bool:
    """It is written so with its value."""
    value = _plain(setting.value)
    return any(
        f"{words}{value}" in named for words in (f"{setting.name.lower()} ", f"{setting.key} = ", f"{setting.key}=")
    )


def without(text: str, settings: Collection[Setting]) -> str:
    """The file of settings without some.

    >>> without('[user]\\n\\tname = a\\n[diff]\\n\\texternal = true\\n', [Setting("diff", "", "external", " true")])
    '[user]\\n\\tname = a\\n'
    """
    lines: list[str] = []
    header = ("", "")
    for one in settings_of(text) or ():
        if one in settings:
            continue
        if header != (one.section, one.below):
            header = (one.section, one.below)
            lines.append(f'[{one.section} "{one.below}"]' if one.below else f"[{one.section}]")
        lines.append(f"\t{one.key} ={one.value}" if one.value else f"\t{one.key}")
    return "".join(f"{line}\n" for line in lines)


def names_replacements(texts: Iterable[str]) -> bool:
    """What asks git is about objects that stand for others."""
    return any(_NAMES_REPLACEMENTS.search(text) is not None for text in texts)


async def repositories_of(
    sandbox: SandboxPort, places: Sequence[str], texts: Iterable[str], *, by_value: bool = False
) -> Repositories:
    """What the repositories in these places say of themselves. `texts`: the trusted ones, of which it counts what they
    name or, `by_value`, what they have with its value."""
    paths = await _paths(sandbox, places) if places else {}
    if paths is None:
        return Repositories(is_all=False)
    named = "\n".join(texts)
    settings: dict[str, frozenset[Setting]] = {}
    unseen: dict[str, frozenset[bytes]] = {}
    looks_at_bits = _NAMES_BITS.search(named) is None
    for path, real in list(paths.items())[:_MOST_FILES]:
        if path.endswith("/index"):
            if looks_at_bits and (index := await content_of(sandbox, real, max_bytes=_MOST_INDEX_BYTES)) is not None:
                unseen[real] = await aside(len(index), unseen_of, index)
            continue
        content = await content_of(sandbox, real, max_bytes=_MOST_BYTES)
        if content is None:
            settings[real] = frozenset({_UNREADABLE})
        else:
            text = content.decode("utf-8", "surrogateescape")
            settings[real] = await aside(16 * (len(text) + len(named)), steering, text, named, by_value)
    return Repositories(settings, unseen, len(paths) <= _MOST_FILES)


def unseen_of(index: bytes) -> frozenset[bytes]:
    """The files that an index calls unchanged, or away; b"" where a part of it lies elsewhere."""
    found = {entry.name for entry in entries_of(index) if entry.is_unseen}
    return frozenset(found | ({b""} if has_shared_part(index) else set()))


def seen_again(index: bytes, names: Collection[bytes]) -> bytes:
    """The index in which these files are neither called unchanged nor away."""
    made = bytearray(index)
    for entry in entries_of(index):
        if entry.name in names:
            for at, bit in entry.places:
                value = int.from_bytes(made[at : at + 2], "big") & ~bit
                made[at : at + 2] = value.to_bytes(2, "big")
    if any(index[-DIGEST:]):  # else the repository keeps none
        made[-DIGEST:] = hashlib.sha1(bytes(made[:-DIGEST]), usedforsecurity=False).digest()
    return bytes(made)


async def settle_repositories(
    sandbox: SandboxPort, places: Sequence[str], texts: Sequence[str], before: Repositories
) -> None:
    """Take out of the repositories in these places what they had not before and what may steer git. Raises
    UnreadableError."""
    now = await repositories_of(sandbox, places, texts)
    if before.is_all and not now.is_all:
        raise UnreadableError("there are too many repositories")
    for path, said in now.settings.items():
        new = said - before.settings.get(path, frozenset())
        if _UNREADABLE in new:
            raise UnreadableError(f"{path} cannot be read")
        if new:
            content = await content_of(sandbox, path, max_bytes=_MOST_BYTES)
            text = (content or b"").decode("utf-8", "surrogateescape")
            made = await aside(16 * len(text), without, text, new)
            await _said(sandbox, _WRITE, (path, "now"), stdin=made.encode("utf-8", "surrogateescape"))
    for path, names in now.unseen.items():
        known = before.unseen.get(path, frozenset())
        if not names - known:
            continue
        if b"" in names - known:
            await _said(sandbox, _UNSHARE, (path.rpartition("/")[0],), environment=_OF_ITS_OWN)
        content = await content_of(sandbox, path, max_bytes=_MOST_INDEX_BYTES)
        if content is None:
            continue
        shown = await aside(len(content), unseen_of, content) - known - {b""} - await _away(sandbox, path, content)
        if shown:
            index = await aside(len(content), seen_again, content, shown)
            time = (await _said(sandbox, 'find "$1" -maxdepth 0 -printf %T@', (path,))).decode("ascii", "replace")
            # git does not believe what is not older than the index, so this keeps its time
            await _said(sandbox, _WRITE, (path, f"@{time}"), stdin=index)


async def _away(sandbox: SandboxPort, path: str, index: bytes) -> frozenset[bytes]:
    """The files that are not there, where the repository is to have a part of them only."""
    found: list[Setting] = []
    for name in ("config", "config.worktree"):
        content = await content_of(sandbox, f"{path.rpartition('/')[0]}/{name}", max_bytes=_MOST_BYTES)
        found += settings_of((content or b"").decode("utf-8", "surrogateescape")) or ()
    is_sparse = any(one.name == "core.sparsecheckout" and "true" in one.value for one in found)
    if not is_sparse:
        return frozenset()
    names = await aside(len(index), unseen_of, index)
    line = 'cd "$1" && while IFS= read -r -d "" name; do [ -e "$name" ] || printf "%s\\0" "$name"; done'
    argv = ("bash", "-c", line, "bash", path.removesuffix(".git/index"))
    request = ExecRequest(
        argv=argv, cwd="/", timeout_seconds=_SECONDS, warm=False, stdin=b"".join(name + b"\0" for name in names)
    )
    done = await (await sandbox.exec(request)).wait()
    return frozenset(done.stdout.split(b"\0")[:-1])


async def _paths(sandbox: SandboxPort, places: Sequence[str]) -> dict[str, str] | None:
    """Path -> what it is after all links; None where there is more than can be looked through."""
    argv = ("sh", "-c", FIND_SETTINGS, "sh", *places)
    request = ExecRequest(argv=argv, cwd="/", timeout_seconds=_SECONDS, warm=False)
    done = await (await sandbox.exec(request)).wait()
    if done.outcome is not ExecOutcome.EXITED or len(done.stdout) >= _MOST_BYTES:
        return None
    parts = [path.decode("utf-8", "surrogateescape").replace("//", "/") for path in done.stdout.split(b"\0")]
    return dict(zip(parts[::2], parts[1::2], strict=False))


async def _said(
    sandbox: SandboxPort,
    script: str,
    words: Sequence[str],
    *,
    stdin: bytes | None = None,
    environment: Mapping[str, str] | None = None,
) -> bytes:
    argv = ("sh", "-c", script, "sh", *words)
    request = ExecRequest(argv=argv, cwd="/", env=environment or {}, timeout_seconds=_SECONDS, warm=False, stdin=stdin)
    done = await (await sandbox.exec(request)).wait()
    return done.stdout if done.outcome is ExecOutcome.EXITED and done.returncode == 0 else b""
