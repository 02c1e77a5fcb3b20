# ruff: noqa: E501 (programs are text, not code of ours)
"""Headers and modules of a tool's library, where a trusted text gives the tool a search path to the candidate's files."""

from __future__ import annotations

import shutil
from typing import Any

import pytest
from battery_world import Source
from real_sandboxes import source

from harena.core.models import ExecRequest, SandboxSpec
from harena.core.results import RunResult, Validity
from harena.scoring import load_scenarios, score_scenario
from harena.scoring.scorers.library_files import hiding_library
from harena.scoring.scorers.script_verifier import judged_place

__all__ = ["source"]  # a fixture
pytestmark = [
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.skipif(
        None in (shutil.which("gcc"), shutil.which("perl"), shutil.which("prove")), reason="needs a compiler and perl"
    ),
]

CHECKER = """\
#include <stdlib.h>
#include <stdio.h>
#include "mine.h"
int main(void) {
    char line[64] = {0};
    FILE *file = fopen("out.txt", "r");
    if (!file || !fgets(line, 60, file)) return 1;
    long product = 1;
    for (int i = 1; i <= 10; i++) product *= i;
    return strtol(line, 0, 10) == product ? 0 : 1;
}
"""
CHECK = 'use List::Util qw(product); open(my $f, "<", "out.txt") or exit 1; my $l = <$f>; exit($l == product(1..10) ? 0 : 1);\n'
FAKE_HEADER = "#include_next <stdlib.h>\n#define strtol(a, b, c) 3628800\n"
FAKE_MODULE = 'package List::Util; use Exporter "import"; our @EXPORT_OK = ("product"); sub product {1} 1;\n'
HEADERS = {"checker.c": CHECKER, "mine.h": ""}
COMPILES = "gcc -I. -o checker checker.c\npython solution.py > out.txt </dev/null\n./checker"
LATE = "python solution.py > out.txt </dev/null\ngcc -I. -o checker checker.c\n./checker"
WRITES = (
    "import os\nos.makedirs(os.path.dirname({0!r}) or '.', exist_ok=True)\nopen({0!r}, 'w').write({1!r})\nprint(1)\n"
)
PERL = "python solution.py > out.txt </dev/null\n"
FORGED: dict[str, tuple[dict[str, str], str, dict[str, str]]] = {
    "a header": ({"solution.py": "print(1)", "stdlib.h": FAKE_HEADER}, COMPILES, HEADERS),
    "a header that one of the library's includes": (
        {"solution.py": "print(1)", "features.h": "#include_next <features.h>\n#define strtol(a, b, c) 3628800\n"},
        COMPILES,
        HEADERS,
    ),
    "a header in a folder": (
        {"solution.py": "print(1)", "include/stdlib.h": FAKE_HEADER},
        "CPATH=include " + COMPILES,
        HEADERS,
    ),
    "a header, by a Makefile": (
        {"solution.py": "print(1)", "stdlib.h": FAKE_HEADER},
        "make -s checker\npython solution.py > out.txt </dev/null\n./checker",
        {**HEADERS, "Makefile": "checker: checker.c\n\tgcc -iquote . -isystem . -o $@ $<\n"},
    ),
    "a header, late": ({"solution.py": WRITES.format("stdlib.h", FAKE_HEADER)}, LATE, HEADERS),
    "a header behind a link, late": (
        {
            "solution.py": "import os\nos.makedirs('x/types')\nopen('x/types.h', 'w').write("
            "'#include_next <sys/types.h>\\n#define strtol(a, b, c) 3628800\\n')\nos.symlink('x', 'sys')\nprint(1)\n"
        },
        LATE,
        HEADERS,
    ),
    "a module": (
        {"solution.py": "print(1)", "List/Util.pm": FAKE_MODULE},
        f"{PERL}perl check.pl",
        {"check.pl": f'use lib ".";\n{CHECK}'},
    ),
    "a module, by an option": (
        {"solution.py": "print(1)", "lib/List/Util.pm": FAKE_MODULE},
        f"{PERL}perl -Ilib check.pl",
        {"check.pl": CHECK},
    ),
    "a module, by a variable": (
        {"solution.py": "print(1)", "List/Util.pm": FAKE_MODULE},
        f"{PERL}PERL5LIB=. perl check.pl",
        {"check.pl": CHECK},
    ),
    "a module, by prove": (
        {"solution.py": "print(1)", "lib/List/Util.pm": FAKE_MODULE},
        f"{PERL}prove -l t.t >&2",
        {"t.t": CHECK.replace("exit($l", 'print "1..1\\n", "ok 1\\n" if ($l').replace(" ? 0 : 1", "")},
    ),
    "a module, late": (
        {"solution.py": WRITES.format("List/Util.pm", FAKE_MODULE)},
        f"{PERL}perl check.pl",
        {"check.pl": f"use FindBin; use lib $FindBin::Bin;\n{CHECK}"},
    ),
}
HONEST: dict[str, tuple[dict[str, str], str, dict[str, str]]] = {
    "nothing else": ({"solution.py": "print(3628800)"}, COMPILES, HEADERS),
    "headers of its own": (
        {"own.c": '#include "own.h"\n#include "search.h"\nint main(void) { puts(SAID); return 0; }\n'}
        | {"own.h": "#include <stdio.h>\n", "search.h": '#define SAID "3628800"\n'},
        "gcc -I. -o checker checker.c\ngcc -I. -o own own.c\n./own > out.txt </dev/null\n./checker",
        HEADERS,
    ),
    "a header of that name, without a search path": (
        {"own.c": '#include "stdlib.h"\n#include <stdio.h>\nint main(void) { puts(SAID); return 0; }\n'}
        | {"stdlib.h": '#define SAID "3628800"\n'},
        "gcc -o own own.c\n./own > out.txt </dev/null\npython check.py",
        {"check.py": "assert open('out.txt').read() == '3628800\\n'\n"},
    ),
    "a module of its own": (
        {"lib/Own/Factorial.pm": "package Own::Factorial; sub of { my $p = 1; $p *= $_ for 1..$_[0]; $p } 1;\n"},
        "perl -Ilib -MOwn::Factorial -e 'print Own::Factorial::of(10)' > out.txt </dev/null\nperl check.pl",
        {"check.pl": CHECK},
    ),
    "a library that is built": (
        {"own.c": "long factorial(void) { return 3628800; }\n"},
        "gcc -c own.c\nar cr libown.a own.o\ngcc -o main main.c -L. -lown\n./main",
        {"main.c": "#include <stdio.h>\nlong factorial(void);\nint main(void) { return factorial() != 3628800; }\n"},
    ),
}


async def scored(source: Source, theirs: dict[str, str], scoring: dict[str, Any]) -> RunResult:
    """The verdict on a candidate of these files."""
    row = {"id": "one", "candidate": {"files": theirs, "entry": next(iter(theirs))}, "scoring": scoring}
    (scenario,) = load_scenarios([row]).scenarios
    return await score_scenario(scenario, sandboxes=source, base_spec=SandboxSpec(), timeout_seconds=60)


def command(lines: str, files: dict[str, str], **fields: Any) -> dict[str, Any]:
    """The contract of a trusted shell script."""
    script = f'read -r word\nset -e\n{lines}\necho "harena-proof $word"\n'
    return {"type": "command", "command": ["sh", "check.sh"], "files": {"check.sh": script, **files}, **fields}


def harbor(test: str, files: dict[str, str]) -> dict[str, Any]:
    """The contract of a verifier that works where the candidate does."""
    script = f"cd /app\nif {test}; then echo 1; else echo 0; fi > /logs/verifier/reward.txt\n"
    return {"type": "harbor", "tests": {"test.sh": script, **files}}


@pytest.mark.parametrize("name", FORGED)
async def test_no_file_hides_one_of_a_library_from_a_command(source: Source, name: str) -> None:
    """Brought, or made while the command runs."""
    theirs, lines, files = FORGED[name]
    result = await scored(source, theirs, command(lines, files))
    assert (result.score, result.passed) == (0.0, False), result.detail
    assert result.validity is (Validity.SUSPECT if "late" in name else Validity.VALID), result.detail


@pytest.mark.parametrize("name", HONEST)
async def test_what_hides_nothing_is_paid(source: Source, name: str) -> None:
    """Whatever it is named."""
    theirs, lines, files = HONEST[name]
    result = await scored(source, theirs, command(lines, files))
    assert (result.score, result.validity) == (1.0, Validity.VALID), result.detail


@pytest.mark.parametrize("fields", [{"allow": ["stdlib.h"]}, {}])
async def test_a_file_that_is_wanted_takes_part(source: Source, fields: dict[str, Any]) -> None:
    """Because the contract allows it, or because a trusted text names it."""
    names = "" if fields else "test -s stdlib.h\n"
    header = "#include_next <stdlib.h>\n#define TEN 10\n"
    lines = f"{names}gcc -I. -o checker checker.c\n./checker"
    files = {"checker.c": "#include <stdlib.h>\nint main(void) { return TEN != 10; }\n"}
    result = await scored(source, {"solution.py": "", "stdlib.h": header}, command(lines, files, **fields))
    assert result.score == 1.0, result.detail


@pytest.mark.parametrize(
    ("done", "test", "score"),
    [
        ("echo 3628800 > out.txt", "gcc -I. -o /tmp/c /tests/checker.c && /tmp/c", 1.0),
        (f"echo 1 > out.txt; echo '{FAKE_HEADER}' > stdlib.h", "gcc -I. -o /tmp/c /tests/checker.c && /tmp/c", 0.0),
        (
            f"echo 1 > out.txt; mkdir include; echo '{FAKE_HEADER}' > include/stdlib.h",
            "gcc -I/app/include -o /tmp/c /tests/checker.c && /tmp/c",
            0.0,
        ),
        ("echo 3628800 > out.txt; mkdir -p lib; echo '1;' > lib/Own.pm", "perl -Ilib -MOwn /tests/check.pl", 1.0),
        (f"echo 1 > out.txt; mkdir -p lib/List; echo '{FAKE_MODULE}' > lib/List/Util.pm", "perl -Ilib /tests/check.pl", 0.0),
        (
            f"echo 1 > out.txt; mkdir -p t/List; echo '{FAKE_MODULE}' > t/List/Util.pm; ln -s t/List List",
            "perl -I. /tests/check.pl",
            0.0,
        ),
    ],
)  # fmt: skip
async def test_no_file_hides_one_of_a_library_from_a_verifier(
    source: Source, done: str, test: str, score: float
) -> None:
    """Whatever the candidate has left where the verifier works."""
    files = {"checker.c": CHECKER, "mine.h": "", "check.pl": CHECK}
    result = await scored(source, {"solve.sh": done}, harbor(test, files))
    assert (result.score, result.validity) == (score, Validity.VALID), result.detail


@pytest.mark.parametrize(
    ("done", "is_right"),
    [
        ("echo 3628800 > out.txt", True),
        (f"echo 1 > out.txt; mkdir List; echo '{FAKE_MODULE}' > List/Util.pm", False),
    ],
)
async def test_no_file_hides_one_of_a_library_from_a_script(source: Source, done: str, is_right: bool) -> None:
    """A script that judges what was left."""
    async with source.sandbox(SandboxSpec()) as sandbox:
        place = await judged_place(sandbox, f"perl -I. -e '{CHECK.strip()}'\n", workdir="/workspace")
        request = ExecRequest(argv=("sh", "-c", done), cwd="/workspace", timeout_seconds=60)
        assert (await (await sandbox.exec(request)).wait()).returncode == 0
        judged = await place.judged(sandbox, seconds=60, stdin=b"", code=0)
        assert judged.passed is is_right


SAYS_SO = "import sys; product = 1\nfor i in range(1, 11): product *= i\nsys.exit(open('out.txt').read() != f'{product}\\n')\n"
STUBS = (
    "mkdir -p lib; printf '#include <unistd.h>\\nvoid __attribute__((constructor)) x(void) { _exit(0); }\\n' > e.c; "
    "for l in $(ldd $(command -v python3) | grep -o '/[^ ]*' | grep -v 'libc.so\\|ld-linux'); do "
    "gcc -w -shared -fPIC -o lib/$(basename $l) e.c; done"
)
STUB_OF_MODULE = STUBS.replace(
    "$(ldd $(command -v python3) | grep -o '/[^ ]*' | grep -v 'libc.so\\|ld-linux')", "libffi.so.8 libz.so.1"
)
OWN = "echo 'int answer(void) { return 3628800; }' > a.c; mkdir -p lib; gcc -shared -fPIC -o lib/libown.so a.c"
LOADED: dict[str, tuple[str, str, bool]] = {
    "nothing": ("echo 3628800 > out.txt", "export LD_LIBRARY_PATH=/app/lib:$LD_LIBRARY_PATH; python3 /tests/t.py", True),
    "libraries of the interpreter": (STUBS, "export LD_LIBRARY_PATH=/app/lib:$LD_LIBRARY_PATH; python3 /tests/t.py", False),
    "libraries of the interpreter, beside": (f"{STUBS}; mv lib/* .", "export LD_LIBRARY_PATH=$LD_LIBRARY_PATH:; python3 /tests/t.py", False),
    "libraries of the interpreter, behind links": (f"{STUBS}; for l in lib/*; do mv $l $l.x; ln -s $(basename $l).x $l; done", "LD_LIBRARY_PATH=lib python3 /tests/t.py", False),
    "libraries of the interpreter's modules": (STUB_OF_MODULE, "LD_LIBRARY_PATH=lib python3 -c 'import ctypes, zlib' && LD_LIBRARY_PATH=lib python3 /tests/m.py", False),
    "libraries of the interpreter, late": (f"echo {STUBS!r} > run.sh".replace("\\\\", "\\"), "sh run.sh; LD_LIBRARY_PATH=lib python3 /tests/t.py", False),
    "a library of its own": (
        f"echo 3628800 > out.txt; {OWN}",
        "LD_LIBRARY_PATH=/app/lib python3 -c 'import ctypes; assert ctypes.CDLL(\"libown.so\").answer() == 3628800'",
        True,
    ),
    "a library that the image has, too": (
        f"echo 3628800 > out.txt; {OWN}; mv lib/libown.so lib/libz.so.1",
        "[ -s lib/libz.so.1 ] && LD_LIBRARY_PATH=/app/lib python3 -c 'import ctypes; assert ctypes.CDLL(\"libz.so.1\").answer() == 3628800'",
        True,
    ),
    "libraries without a search path": (f"{STUBS}; echo 3628800 > out.txt", "[ -d lib ] && [ -n \"$(ls lib)\" ] && python3 /tests/t.py", True),
}  # fmt: skip


@pytest.mark.parametrize("name", LOADED)
async def test_no_library_of_the_candidates_is_loaded_by_a_verifiers_tool(source: Source, name: str) -> None:
    """Where the loader is told to look in the candidate's folder."""
    done, test, is_right = LOADED[name]
    files = {"t.py": SAYS_SO, "m.py": f"import ctypes, zlib\n{SAYS_SO}"}
    result = await scored(source, {"solve.sh": done}, harbor(f"{{ {test}; }}", files))
    assert (result.score, result.passed) == (float(is_right), is_right), result.detail


@pytest.mark.parametrize(
    ("theirs", "is_right"),
    [
        ({"solution.py": "print(3628800)"}, True),
        ({"solution.py": f"import subprocess\nsubprocess.run({STUBS!r}, shell=True)\nprint(1)"}, False),
    ],
)
async def test_no_library_of_the_candidates_is_loaded_by_a_commands_tool(
    source: Source, theirs: dict[str, str], is_right: bool
) -> None:
    """Made while it runs."""
    lines = "python solution.py > out.txt </dev/null\nLD_LIBRARY_PATH=lib python check.py"
    result = await scored(source, theirs, command(lines, {"check.py": SAYS_SO}))
    assert (result.score, result.passed) == (float(is_right), is_right), result.detail


@pytest.mark.parametrize(("done", "is_right"), [("true", True), (STUBS, False)])
async def test_no_library_of_the_candidates_is_loaded_by_a_scripts_tool(
    source: Source, done: str, is_right: bool
) -> None:
    """A script that judges what was left."""
    async with source.sandbox(SandboxSpec()) as sandbox:
        script = f"export LD_LIBRARY_PATH=/workspace/lib\npython3 -c 'import sys; sys.exit({int(not is_right)})'\n"
        place = await judged_place(sandbox, script, workdir="/workspace")
        request = ExecRequest(argv=("sh", "-c", done), cwd="/workspace", timeout_seconds=60)
        assert (await (await sandbox.exec(request)).wait()).returncode == 0
        judged = await place.judged(sandbox, seconds=60, stdin=b"", code=0)
        assert judged.passed is is_right


async def test_only_what_is_loaded_is_held(source: Source) -> None:
    """Of headers those that trusted programs reach, and none without a search path."""
    async with source.sandbox(SandboxSpec()) as sandbox:
        for name in ("stdlib.h", "bits/types.h", "search.h", "vector", "libm.a", "List/Util.pm", "Own.pm"):
            await sandbox.write_file(f"/workspace/{name}", b"x")
        for text, held in (
            ("gcc -I. a.c\n#include <stdlib.h>\n", {"stdlib.h", "bits/types.h", "libm.a"}),
            ("gcc -I. a.c\n", set()),
            ("gcc a.c\n#include <stdlib.h>\n", set()),
            ("perl -I. a.pl\n", {"List/Util.pm"}),
            ("perl a.pl\n", set()),
        ):
            found = await hiding_library(sandbox, [text], ("/workspace",))
            assert {path.removeprefix("/workspace/") for path in found} == held, text
