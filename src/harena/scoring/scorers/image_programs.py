"""What an image has as programs where a candidate works, or where a verifier's files name something.

None of it is a candidate's: a verifier that starts it, or compares with it, is to find what the image has. Below `/opt`
that is every file of the image's. Elsewhere, where tasks ask for changes of settings and data, a program is told by its
mode, its ending or name, and by the lines of the verifier's files that run it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

_ENDINGS = (
    "sh", "bash", "zsh", "ksh", "dash", "fish", "csh", "py", "pyc", "pyo", "pyw", "pyz", "pth", "pyx", "pxd", "ipynb",
    "pl", "pm", "t", "rb", "erb", "rake", "gemspec", "js", "mjs", "cjs", "jsx", "ts", "mts", "cts", "tsx", "wasm",
    "jar", "war", "class", "java", "kt", "kts", "scala", "groovy", "gradle", "clj", "php", "phar", "lua", "tcl", "exp",
    "R", "r", "Rmd", "jl", "awk", "gawk", "sed", "jq", "sql", "xsl", "xslt", "bats", "mk", "mak", "make", "cmake",
    "ninja", "bzl", "nix", "just", "c", "h", "cc", "hh", "cpp", "hpp", "cxx", "hxx", "inc", "s", "S", "asm", "ll",
    "o", "a", "m", "go", "rs", "zig", "nim", "d", "f", "f90", "f95", "pas", "ml", "mli", "hs", "lhs", "ex", "exs",
    "erl", "beam", "lisp", "el", "scm", "rkt", "v", "sv", "vhd", "swift", "cs", "csx", "fs", "fsx", "dll", "exe", "ps1",
    "vim", "gdb", "gp", "plt", "sage", "bc", "dc", "egg", "whl",
)  # fmt: skip
"""endings of what is run, compiled, or loaded by what is run"""
_PROGRAM_NAMES = (
    "*.so*", "activate*", "env", "*[Mm]akefile*", "[Jj]ustfile", "Rakefile", "Gemfile", "CMakeLists.txt", "SConstruct",
    "SConscript", "meson.build", "BUILD", "WORKSPACE", "Taskfile*", "build.xml", "pom.xml", "package.json", "go.mod",
    "Cargo.toml", "pytest.ini", ".pytest.ini", "tox.ini", "setup.cfg", "pyproject.toml", "pyvenv.cfg",
)  # fmt: skip
_RUNS = re.compile(
    r"(?:(?<![\w-])(?:python[\d.]*|pypy[\d.]*|bash|sh|dash|zsh|ksh|ash|busybox|node|deno|bun|perl|ruby|php|lua[\d.]*|tclsh"
    r"|expect|Rscript|julia|java|[gmn]?awk|bats|pytest|source|exec|sudo|nohup|xargs|eval|go|cargo|gcc|cc|g\+\+|clang|tcc"
    r"|rustc|psql|sqlite3|mysql|gdb|bc)(?![\w.-])|(?:^|[\n;&|({])[ \t]*\.(?=[ \t]))[\"']?,?[ \t]*+"
    r"(?:[\"']?-[^\s,]{1,64}[ \t,]{1,8}){0,8}<?[ \t]*+[\"']?(?:\w+=\S{1,64}[ \t]+)?([\w./${}~+-]{1,1024})"
)
"""what runs a file, and the first word behind its options"""
_BEHIND_AN_OPTION = re.compile(
    r"(?:[ \t\"',]-(?:f|C|x|jar|cp|m)|--(?:file|from-file|makefile|directory|source|script|classpath))"
    r"[\"']?(?:[ \t,]{0,8}|=)[\"']?([\w./${}~+-]{1,1024})"
)
_READ_BY_A_SHELL = re.compile(
    r"\bcat[ \t]+[\"']?([\w./${}~+-]{1,1024})[\"']?[ \t]*\|[ \t]*(?:\w{1,64}[ \t]+)?(?:ba|da|z|k)?sh\b"
)
_NAME = re.compile(r"[\w+-][\w.+-]*")
_MOST_NAMES = 200

FIND_INSTALLED = """\
command -v find >/dev/null || { echo 'it has no find' >&2; exit 1; }
for place in "$@"; do
    [ -d "$place" ] || continue
    find "$place" -xdev \\( -name node_modules -o -name conda-meta \\) -type d -print0 -prune \\
        -o -name pyvenv.cfg -print0
done
exit 0
"""
"""virtual environments and packages of Node, below working places"""
FIND_FILES = """\
command -v find >/dev/null || { echo 'it has no find' >&2; exit 1; }
for place in "$@"; do
    [ -e "$place" ] || continue
    count=$(find "$place" -xdev ! -type d -exec sh -c 'for file do echo; done' sh {} + | head -n 1001 | wc -l) || exit 1
    if [ "$count" -gt 1000 ]; then printf '%s\\0' "$place"; else find "$place" -xdev ! -type d -print0; fi
done
exit 0
"""
"""every file there; of a folder with more than a thousand the folder"""
FIND_LINKED = """\
for folder in "$@"; do
    for file in "$folder"/*; do
        [ -L "$file" ] || continue
        real=$(readlink -m -- "$file"; echo .)
        printf '%s\\0' "${real%??}"
    done
done
exit 0
"""
"""what programs that are links lead to"""
_FIND_PROGRAMS = """\
command -v find >/dev/null || { echo 'it has no find' >&2; exit 1; }
for place in "$@"; do
    [ -e "$place" ] || continue
    find "$place" -xdev \\( -name bin -o -name sbin -o -name lib -o -name lib32 -o -name lib64 -o -name libexec \\
        -o -name site-packages -o -name node_modules \\) -print0 -prune -o ! -type d \\( -perm -u+x -o NAMED \\) -print0
    above=$place
    while [ -n "$above" ] && [ "$above" != /var/lib ]; do
        case "${above##*/}" in
            bin|sbin|lib|lib32|lib64|libexec|site-packages|node_modules) printf '%s\\0' "$above";;
        esac
        [ ! -e "$above/pyvenv.cfg" ] && [ ! -e "$above/conda-meta" ] || printf '%s\\0' "$above"
        above=${above%/*}
    done
done
exit 0
"""


def find_programs(texts: Iterable[str]) -> str:
    """A script that finds programs, and folders of programs, that the image has in the given places, or above them.
    `texts`: of the verifier, which may run what no ending tells."""
    names = [*(f"*.{ending}" for ending in _ENDINGS), *_PROGRAM_NAMES, *run_names(texts)]
    return _FIND_PROGRAMS.replace("NAMED", " -o ".join(f"-name '{name}'" for name in names))


def run_names(texts: Iterable[str]) -> list[str]:
    """Names of files that lines of these texts run, or give to what runs them; the first ones."""
    found: dict[str, None] = {}
    for text in texts:
        for pattern in (_RUNS, _BEHIND_AN_OPTION, _READ_BY_A_SHELL):
            for match in pattern.finditer(text):
                name = next(filter(None, match.groups()), "").rstrip("/").rpartition("/")[2]
                if _NAME.fullmatch(name):
                    found.setdefault(name)
                if len(found) >= _MOST_NAMES:
                    return list(found)
    return list(found)
