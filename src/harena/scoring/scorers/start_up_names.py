"""The start-up files that the texts of a verifier name stay as the candidate has left them; here they are found.

The candidate chooses the names, and the contract's author the texts, so both may be long. Each text is looked through
once, however many names there are, and in time that grows with its length.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

FILES = (
    ".bashrc", ".bash_profile", ".bash_login", ".bash_aliases", ".bash_env", ".profile", ".zshrc", ".zshenv",
    ".zprofile", ".inputrc", ".pythonrc", ".pythonrc.py", ".pythonstartup", ".pdbrc", ".pydistutils.cfg", ".netrc",
    ".gitconfig", ".curlrc", ".wgetrc", ".npmrc", ".yarnrc", ".yarnrc.yml", ".perlrc", ".perldb", ".irbrc", ".gemrc",
    ".condarc", ".tool-versions", ".coveragerc", ".ssh/config", ".ssh/rc", ".ssh/environment",
    ".sqliterc", ".psqlrc", ".my.cnf", ".vimrc", ".exrc", ".nanorc", ".gdbinit", ".lldbinit", ".Rprofile", ".Renviron",
)  # fmt: skip
FOLDERS = (
    ".local/lib", ".local/bin", ".config",
    ".jq", ".gnupg", ".vim", ".ipython", ".jupyter", ".docker",
    ".pip", ".node_modules", ".node_libraries", ".pyenv", ".cargo/bin", "bin",
    ".cargo/config", ".cargo/config.toml", ".m2", ".gradle", ".ivy2", ".sbt", ".npm/_npx", ".bundle", ".gem", ".cpan",
    ".perl5", ".composer", ".nuget", ".dotnet", ".julia", ".stack", ".cabal", ".mix", ".hex", ".lein", ".clojure",
    ".R", ".terminfo", ".fonts", ".cache/uv", ".cache/pip", ".cache/pypoetry", ".cache/pre-commit", ".cache/go-build",
    ".cache/node", ".cache/yarn", ".cache/bazel", ".cache/zig", ".cache/deno", ".cache/pytest", ".ccache",
    ".local/share/uv", ".local/share/pipx", ".local/share/virtualenv", ".local/share/virtualenvs", ".local/share/pnpm",
    ".local/share/mise", ".local/pipx", ".local/share/bash-completion", ".local/state/uv",
)  # fmt: skip
INSTALLED = (
    ".cargo/env", ".nvm", ".rustup", ".rbenv", ".sdkman", ".asdf", ".deno", ".bun", ".opam", ".ghcup", ".poetry",
    ".pixi", ".volta", ".linuxbrew", ".juliaup", ".pyenv", ".rvm", ".fnm", ".phpbrew", ".jenv", ".swiftly",
    "miniconda3", "anaconda3", "miniforge3", "mambaforge", "micromamba",
)  # fmt: skip
"""what installers leave; a verifier names it since it has run one, which fails without a network"""
PROGRAMS = (".local/bin", ".cargo/bin", "bin")
"""folders of programs, which a shell may have on PATH"""
_NAMED_FOR_OTHER_REASONS = (".local/bin/env",)
"""what an installer of tools leaves, which verifiers read after they have run it"""
_BIN = re.compile(r"(?:~|\$HOME|\$\{HOME\}|/root|/home/\w+|\.home\(\) / [\"'])/?bin\b")
"""how a text names what has no name of its own in it"""
_GIT_CONFIG = re.compile(r"\bgit\b\W+config\b")
_GLOBAL = re.compile(r"--global\b")
_GLOBAL_CONFIG = re.compile(r"\bGIT_CONFIG_GLOBAL\b")
_CONFIG = re.compile(r"(?<![\w.\]\)$-])\.config(?![\w-]|\.\w)(?:/([\w.-]+)|[\"'] ?[,/] ?[\"']([\w.-]+))?")
_BEFORE, _BEFORE_ANY = r"[\w.\]\)$-]", r"[\w.$-]"
"""what is no beginning of a word"""
_HIDDEN, _HIDDEN_ANYWHERE = re.compile(rf"(?<!{_BEFORE})\."), re.compile(rf"(?<!{_BEFORE_ANY})\.")
_NAME = re.compile(r"[\w.-]*+")
_PLAIN = re.compile(r"\.[\w.-]*(?:/[\w.-]+)*")
_LOGIN_SHELL = re.compile(r"\b(?:ba|da|z)?sh[\"']?,?[ \t]+[\"']?(?:-[a-km-z]*l\w*|--login)\b")
_PATH = re.compile(r"(?<!\w)PATH=[\"']?([^\s\"';&|()<>]{1,4096})")
_MOST_ON_PATH = 50
_ASSIGNED = re.compile(r"(?<![A-Z0-9_])[A-Z0-9_]++(?==)")
_LONGEST_NAME = 255
"""characters of a file's name, or of a variable's"""
_MOST_OTHER = 100
"""names with other characters than letters, digits, `_`, `.` and `-` that are looked for, each in all texts"""


@dataclass(frozen=True, slots=True)
class Named:
    """What texts name."""

    known: frozenset[str]
    """start-up files and folders of known names"""
    hidden: frozenset[str]
    """paths that were asked about and stand in a text as whole words"""
    in_config: frozenset[str] | None
    """entries of `.config`; None = the whole folder"""
    has_login_shell: bool
    """one of the texts starts a shell that reads a profile"""


def named_by(texts: Sequence[str], paths: Collection[str]) -> Named:
    """Look through the texts for known names and for `paths`, which a candidate may have chosen."""
    known: set[str] = set()
    for text in texts:
        own = text
        for other in _NAMED_FOR_OTHER_REASONS:
            own = own.replace(other, "")
        known |= {path for path in (*FILES, *FOLDERS) if path.startswith(".") and _is_named(path, own, _HIDDEN)}
        if _BIN.search(own):
            known.add("bin")
        if configures_git(own):
            known.add(".gitconfig")
    return Named(
        known=frozenset(known),
        hidden=frozenset(named_paths(texts, paths)),
        in_config=_in_config(texts),
        has_login_shell=any(_LOGIN_SHELL.search(text) for text in texts),
    )


def folders_on_path(texts: Iterable[str], home: str) -> list[str]:
    """Folders that lines of the texts put on PATH, the first ones."""
    found: dict[str, None] = {}
    for text in texts:
        for match in _PATH.finditer(text):
            for entry in match[1].split(":"):
                path = re.sub(r"^(?:~|\$HOME|\$\{HOME\})(?=/|$)", lambda _: home, entry)
                if path.startswith("/") and "$" not in path and ".." not in path.split("/"):
                    found.setdefault(str(PurePosixPath(path)))
                if len(found) >= _MOST_ON_PATH:
                    return list(found)
    return list(found)


def configures_git(text: str) -> bool:
    """The text names the user's own settings of git."""
    return _GLOBAL_CONFIG.search(text) is not None or sets_git(text)


def sets_git(text: str) -> bool:
    """A line of the text sets what git has for all of a user's repositories."""
    return follows_in_line(text, _GIT_CONFIG, _GLOBAL)


def follows_in_line(text: str, first: re.Pattern[str], then: re.Pattern[str]) -> bool:
    """`then` is found behind a place of `first`, before the line ends. One expression for both would look to the end of
    the line from each place of `first`; here each line is looked through once."""
    end = -1  # of the line in which there was none behind an earlier place
    for found in first.finditer(text):
        if found.end() <= end:
            continue
        end = text.find("\n", found.end())
        end = len(text) if end < 0 else end
        if then.search(text, found.end(), end):
            return True
    return False


def variables_assigned(names: Collection[str], texts: Iterable[str]) -> bool:
    """A text has one of the variables' names, or a longer one that ends so, before a `=`; or a name is too long to be
    looked for. `names`: of capital letters, digits and `_`."""
    names = frozenset(names)
    lengths = sorted({len(name) for name in names})
    if lengths and lengths[-1] > _LONGEST_NAME:
        return True
    ends = {found[0][-_LONGEST_NAME:] for text in texts for found in _ASSIGNED.finditer(text)} if names else ()
    return any(end[-length:] in names for end in ends for length in lengths if length <= len(end))


def named_paths(texts: Iterable[str], paths: Collection[str], *, after_parentheses: bool = False) -> set[str]:
    """The paths, of hidden files or in hidden folders, that the texts name by whole words: `app.config` does not name
    `.config`. `after_parentheses`: a name may stand behind `)` and `]`."""
    plain = {path for path in paths if _PLAIN.fullmatch(path)}
    folders = {path[:at] for path in plain for at, char in enumerate(path) if char == "/"}
    begins = _HIDDEN_ANYWHERE if after_parentheses else _HIDDEN
    texts = list(texts)
    found: set[str] = set()
    for text in texts if plain else ():
        for begin in begins.finditer(text):
            found.update(plain.intersection(_words_from(text, begin.start(), folders)))
    others = sorted(set(paths) - plain, key=lambda path: (path not in FILES, path))[:_MOST_OTHER]
    found.update(path for path in others if any(_is_named(path, text, begins) for text in texts))
    return found


def _words_from(text: str, start: int, folders: Collection[str]) -> Iterator[str]:
    """What a word that begins here may name: itself, and what is in the folder that it names."""
    at = start
    while True:
        end = _NAME.match(text, at, at + _LONGEST_NAME + 2).end()  # type: ignore[union-attr]  # it may be empty
        yield from (text[start:at] + word for word in _beginnings(text[at:end]))
        if text[end : end + 1] != "/" or text[start:end] not in folders:
            return
        at = end + 1


def _beginnings(word: str) -> Iterator[str]:
    """The names that a word of a text stands for: `.a.` and `.a..b` name `.a`, which ends a sentence there."""
    if len(word) <= _LONGEST_NAME:  # of a longer one this is no end
        yield word
    for at in range(1, min(len(word), _LONGEST_NAME + 1)):
        if word[at] == "." and word[at + 1 : at + 2] in ("", ".", "-"):
            yield word[:at]


def _is_named(path: str, text: str, begins: re.Pattern[str]) -> bool:
    name = rf"(?<!{_BEFORE_ANY if begins is _HIDDEN_ANYWHERE else _BEFORE}){re.escape(path)}(?![\w-]|\.\w)"
    return path in text and re.search(name, text) is not None


def _in_config(texts: Iterable[str]) -> frozenset[str] | None:
    meant = set()
    for text in texts:
        for found in _CONFIG.finditer(text):
            if not (name := found[1] or found[2]):
                return None
            meant.add(name)
    return frozenset(meant)
