"""Files of a candidate's that a trusted tool would take in the place of a header or module of its own library.

Where a trusted text gives a compiler, perl or ruby a search path (`gcc -I.`, `use lib "."`, `prove -l`), what is there
comes before the tool's own library: a `stdlib.h` of the candidate's then compiles into the trusted checker, and a
`List/Util.pm` is what its `use List::Util` loads. Python's modules are `trusted_names`' matter.

So are shared libraries of the candidate's where a trusted text has the loader look for them in a folder of its own
(`LD_LIBRARY_PATH=lib`, `-rpath`): a tool that a text starts then runs what a `libm.so.6` there brings, before anything
of itself.

Which files are held is asked of the image: the modules that perl or ruby itself brings and, of headers, those of the C
library and the compiler that trusted programs include, and what these include themselves. A header of another name, or
a library that the candidate was to build, is its own; without it such a tool takes what its own library has.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from harena.core.models import ExecOutcome, ExecRequest
from harena.core.ports import SandboxPort
from harena.scoring.slices import aside

_SECONDS = 60.0
_MOST_BYTES = 1024 * 1024
_SEARCHES = 16
"""times that a text is read where it is looked through"""
_MOST_NAMES, _MOST_PROGRAMS = 2000, 1000
_MOST_NAMED = 50
"""files of the candidate's that are looked for in the texts"""


@dataclass(frozen=True, slots=True)
class _Tool:
    """A tool with a library."""

    name: str
    """its name in the script below"""
    started: re.Pattern[str]
    searches: re.Pattern[str]
    """what gives it a search path"""


_INCLUDED = re.compile(r"^[ \t]*#[ \t]*(?:include|include_next|import)[ \t]*[<\"]([\w./+-]+)[>\"]", re.MULTILINE)
_TOOLS = (
    _Tool(
        "c",
        re.compile(r"(?<![\w.])(?:[\w-]+-)?(?:gcc|g\+\+|cc|c\+\+|clang|clang\+\+|tcc|cmake|make|CC|CXX)(?![\w.+])"),
        re.compile(
            r"(?<![\w-])-(?:I|iquote|isystem|L|B)|\bCPATH\b|\w*INCLUDE_PATH\b|\bLIBRARY_PATH\b"
            r"|\b(?:target_)?(?:include|link)_directories\b"
        ),
    ),
    _Tool(
        "perl",
        re.compile(r"\b(?:perl|prove)\b"),
        re.compile(
            r"(?<![\w-])-\w*I|\blib\b|\bPERL5LIB\b|\bPERLLIB\b|\bPERL_USE_UNSAFE_INC\b|\bFindBin\b|@INC\b"
            r"|\bprove\b[^\n;|&]{0,500}?[ \t]-\w*[lb]"
        ),
    ),
    _Tool(
        "ruby",
        re.compile(r"\b(?:ruby|rake|rspec)\b"),
        re.compile(r"(?<![\w-])-I|\bRUBYLIB\b|\$:|\bLOAD_PATH\b|\brake\b|\brspec\b"),
    ),
)
_LOADS = re.compile(r"\bLD_LIBRARY_PATH\b|\bLD_RUN_PATH\b|-rpath\b|\bpatchelf\b")
_PROGRAM = re.compile(r"(?<![\w.+-])[A-Za-z][\w.+-]{0,40}")
_OF_C = re.compile(r"lib(?:c|m|dl|rt|util|pthread|resolv|gcc_s|stdc\+\+|nss_\w+)\.so(?:\..*)?|ld-.*")
"""libraries that nearly each program loads: who names one does not mean another"""
_SHARED = re.compile(r"(lib[\w+-]+?)(?:-[\d.]+)?\.so(?:\..*)?")
_LIBRARIES = re.compile(r"(?<![\w-])-l([\w+-]+)")
_LINKED = ("c", "m", "gcc", "gcc_s", "stdc++", "pthread")
_FOUND = r"""\
command -v find >/dev/null && command -v xargs >/dev/null && command -v awk >/dev/null || exit 0
lines=$1
shift
names() { printf '%s\n' "$lines" | sed -n "s/^$1 //p"; }
bare=
names c | grep -qv '\.' && bare=y  # headers of C++ have no ending
tab=$(printf '\t')
found=$(find -H "$@" \( -name .git -o -path /proc -o -path /sys \) -prune -o ! -type d \
    \( -name '*.h' -o -name '*.hpp' -o -name '*.tcc' -o -name '*.pm' -o -name '*.pl' -o -name '*.pmc' -o -name '*.rb' \
    -o -name '*.so' -o -name '*.so.*' -o -name '*.a' -o -type l ${bare:+-o ! -name '*.*'} \) -print 2>/dev/null \
    | awk '{ rest = $0; while ((at = index(rest, "/")) > 0) { rest = substr(rest, at + 1); print rest "\t" $0 } }')
[ -n "$found" ] || exit 0
# what has a name, below any folder, that a file of the library has below its own
met() {
    {
        printf '%s\n' "$folders" | while IFS= read -r folder; do
            [ -d "$folder" ] && find -L "$folder/" -mindepth 1 -maxdepth 6 -printf '%P\n' 2>/dev/null
        done
        printf '\t\n%s\n' "$found"
    } | awk -F '\t' '/^\t$/ { theirs = 1; next } !theirs { ours[$0]; next } $1 in ours { print $1 }' | sort -u
}
reached() {
    [ -n "$(met)" ] || return
    new=$1
    all=
    while [ -n "$new" ]; do
        all=$(printf '%s\n%s\n' "$all" "$new" | sed '/^$/d' | sort -u)
        paths=$(printf '%s\n' "$new" | while IFS= read -r name; do
            printf '%s\n' "$folders" | while IFS= read -r folder; do
                [ -f "$folder/$name" ] && printf '%s\n' "$folder/$name"
            done
        done)
        [ -n "$paths" ] || break
        new=$(printf '%s\n' "$paths" | tr '\n' '\0' | loaded | sort -u | grep -vxF "$all")
    done
    printf '%s\n' "$all" | while IFS= read -r name; do
        printf '%s\n' "$folders" | while IFS= read -r folder; do
            [ -f "$folder/$name" ] && is_own "$folder/$name" && printf '%s\n' "$name" && break
        done
    done
}
held=
if [ -n "$(names c)" ]; then
    folders=$(ls -d /usr/lib/gcc/*/*/include /usr/lib/llvm*/lib/clang/*/include /usr/include /usr/local/include \
        /usr/include/*-linux-* /usr/include/c++/* /usr/include/c++/*/*-linux-* /usr/include/*-linux-*/c++/* 2>/dev/null)
    loaded() {
        xargs -0 grep -hE '^[ 	]*#[ 	]*include' 2>/dev/null | sed -nE 's/^[^<"]*[<"]([^>"]+)[>"].*/\1/p'
    }
    is_own() {
        case $1 in
            */gcc/*|*/clang/*|*/c++/*|*/bits/*|*/sys/*|*/asm*/*|*/linux/*|*/gnu/*) true ;;
            *) grep -qE 'features\.h|GNU C Library' "$1" ;;
        esac
    }
    held=$(reached "$(names c)" | sed 'p;:up
s|/[^/]*$||;t more
d
:more
p;b up' | sort -u)  # a link may stand for a folder
    folders=$(ls -d /lib /usr/lib /lib/*-linux-* /usr/lib/*-linux-* /usr/lib/gcc/*/* 2>/dev/null)
    held="$held
$(names link | while IFS= read -r name; do
        printf '%s\n' "$folders" | while IFS= read -r folder; do
            ls "$folder/$name.a" "$folder/$name.so" "$folder/$name".so.* 2>/dev/null | sed 's|.*/||'
        done
    done | sort -u)"
fi
if [ -n "$(names perl)" ] && command -v perl >/dev/null; then
    folders=$(cd / && PERL5LIB= PERL5OPT= perl -MConfig \
        -e 'print "$_\n" for @Config{qw(privlibexp archlibexp)}, grep { m{/perl-base$} } @INC')
    held="$held
$(met)
$(found=$(printf '%s\n' "$found" | sed -n "s/\.pmc$tab/.pm$tab/p"); met | sed 's/$/c/')"
fi
if [ -n "$(names ruby)" ] && command -v ruby >/dev/null; then
    folders=$(cd / && RUBYLIB= RUBYOPT= ruby -e 'puts $:')
    held="$held
$(met)"
fi
shared=$(printf '%s\n' "$found" | sed "s/$tab.*//" | grep -E '^[^/]+\.so(\.[^/]*)?$' | sort -u)
if [ -n "$(names load)" ] && [ -n "$shared" ]; then
    programs=$(names load | while IFS= read -r name; do command -v -- "$name"; done | grep '^/' | sort -u)
    modules=$(printf '%s\n' "$programs" | grep -E '/python[0-9.]*$' | while IFS= read -r python; do
        (cd / && "$python" -I -S -c 'import glob, sys
for folder in sys.path: print(*glob.glob(folder + "/*.so"), sep="\n")')
    done 2>/dev/null)
    if command -v ldd >/dev/null; then
        needed=$(cd / && printf '%s\n%s\n' "$programs" "$modules" | sed '/^$/d' | tr '\n' '\0' \
            | xargs -0 ldd 2>/dev/null | sed -nE 's/^[[:space:]]+([^[:space:]:]+)( .*|$)/\1/p' | sed 's|.*/||')
    else
        needed=$(ls /lib /usr/lib /lib64 /usr/lib64 /lib/*-linux-* /usr/lib/*-linux-* /usr/local/lib 2>/dev/null)
    fi
    held="$held
$(printf '%s\n' "$needed" libc.so.6 libm.so.6 libgcc_s.so.1 libstdc++.so.6; printf '%s\n' "$shared" | grep '^libnss_')"
fi
held=$(printf '%s\n' "$held" | sed '/^$/d' | sort -u)
[ -n "$held" ] || exit 0
printf '%s\n\t\n%s\n' "$held" "$found" \
    | awk -F '\t' '/^\t$/ { theirs = 1; next } !theirs { ours[$0]; next } $1 in ours { print $2 }' | tr '\n' '\0'
exit 0
"""


def loaded_names(texts: Iterable[str]) -> list[str]:
    """Lines of a tool and of the name of what it loads, for the tools that the texts start and give a search path."""
    text = "\n".join(texts)
    found: list[str] = []
    for tool in _TOOLS:
        if not tool.started.search(text) or not tool.searches.search(text):
            continue
        if tool.name != "c":
            found.append(f"{tool.name} all")
        elif names := dict.fromkeys(_INCLUDED.findall(text)):
            found += [f"c {name}" for name in (*names, "stdc-predef.h")][:_MOST_NAMES]
            found += [f"link lib{name}" for name in dict.fromkeys([*_LINKED, *_LIBRARIES.findall(text)])][:_MOST_NAMES]
    if _LOADS.search(text):
        found += [f"load {name}" for name in dict.fromkeys(("sh", "bash", "env", *_PROGRAM.findall(text)))][
            :_MOST_NAMES
        ]
    return found


def _named(texts: Collection[str], paths: Collection[str]) -> set[str]:
    """The paths that the texts name, but for what they include."""
    text = "\n".join(_INCLUDED.sub("", text) for text in texts)
    some = sorted(paths)[:_MOST_NAMED]
    return {
        path
        for path in some
        if re.search(rf"(?<![\w.-]){re.escape(path)}(?![\w/-]|\.\w)", text) or _is_library_of_text(path, text)
    }


def _is_library_of_text(path: str, text: str) -> bool:
    """The text is about this library, which is then the candidate's to build."""
    name = path.rpartition("/")[2]
    shared = _SHARED.fullmatch(name)
    if shared is None or _OF_C.fullmatch(name):
        return False
    return re.search(rf"(?<![\w-]){re.escape(shared[1])}(?![\w-])", text) is not None


async def hiding_library(
    sandbox: SandboxPort, texts: Collection[str], places: Collection[str], *, user: str | None = None
) -> frozenset[str]:
    """Absolute paths of files below these places that hide one of the library's from a tool of the trusted texts, and
    that these do not name. An image without `find` tells nothing."""
    size = _SEARCHES * sum(map(len, texts))
    names = await aside(size, loaded_names, texts)
    if not names or not places:
        return frozenset()
    argv = ("sh", "-c", _FOUND, "sh", "\n".join(names), *places)
    request = ExecRequest(argv=argv, cwd="/", user=user, timeout_seconds=_SECONDS, warm=False)
    done = await (await sandbox.exec(request)).wait()
    if done.outcome is not ExecOutcome.EXITED:  # there is more than can be looked through
        return frozenset({"a header or module of a library"})
    told = done.stdout[:_MOST_BYTES].decode("utf-8", "surrogateescape").split("\0")
    paths = {path for path in told if path}
    below = {path: _below(path, places) for path in paths}
    named = await aside(size, _named, texts, set(below.values())) if paths else set()
    return frozenset(path for path in paths if below[path] not in named and path not in named)


def _below(path: str, places: Iterable[str]) -> str:
    return next((path[len(place) :].lstrip("/") for place in places if path.startswith(f"{place}/")), path)
