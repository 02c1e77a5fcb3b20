# ruff: noqa: E501 (programs are text, not code of ours)
"""Commands that run the candidate's programs, and then look at what these have left."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from battery_world import Source
from real_sandboxes import source

from harena.core.models import SandboxSpec
from harena.core.results import RunResult, Validity
from harena.scoring import load_scenarios, score_scenario

__all__ = ["source"]  # a fixture
pytestmark = pytest.mark.asyncio(loop_scope="module")


async def scored(
    source: Source,
    candidate: str | dict[str, str],
    command: Any,
    files: dict[str, str],
    problem: dict[str, Any] | None = None,
    **fields: Any,
) -> RunResult:
    theirs = {"solution.py": candidate} if isinstance(candidate, str) else candidate
    contract = {"type": "command", "command": command, "files": files, **fields}
    row = {
        "id": "one",
        "candidate": {"files": theirs, "entry": next(iter(theirs))},
        "scoring": contract,
        "problem": problem or {"id": "p"},
    }
    (made,) = load_scenarios([row]).scenarios
    return await score_scenario(made, sandboxes=source, base_spec=SandboxSpec(), timeout_seconds=30)


PROOF = "print('harena-proof', word)\n"
EVIL = "import __main__, os\nprint('harena-proof', getattr(__main__, 'word', 0), flush=True)\nos._exit(0)\n"
RUN = (
    "import subprocess, sys\nword = sys.stdin.readline().strip()\n"
    "said = subprocess.run([sys.executable, 'solution.py'], stdin=subprocess.DEVNULL, capture_output=True).stdout\n"
)
ASK = f"{RUN}assert said == b'42\\n', said\n{PROOF}"
SHELL = "read word\npython solution.py </dev/null >out.txt\n"
COMPARED = f'{SHELL}cmp -s out.txt expected.txt && echo "harena-proof $word"\n'
BODY = "import sys\nword = sys.argv[1]\n"


EARLY = """import posix
words = posix.read(posix.open("/proc/self/cmdline", 0), 9999).split(b"\\0")
posix.write(1, b"harena-proof " + words[-2] + b"\\n")
posix._exit(0)
"""
"""nothing can be decoded yet"""


def planted(path: str, text: str = EVIL) -> str:
    """A candidate that writes a file while it runs."""
    return f"import os\nos.makedirs(os.path.dirname({path!r}) or '.', exist_ok=True)\nopen({path!r}, 'w').write({text!r})\n"


def put_back(path: str, text: str) -> str:
    """A candidate that writes a file, and leaves a process that soon makes it what it was."""
    return (
        f"import os, time\nbefore = os.stat({path!r})\nkept = open({path!r}).read()\nopen({path!r}, 'w').write({text!r})\n"
        "if not os.fork():\n    os.setsid()\n    os.dup2(os.open('/dev/null', 2), 1)\n    os.dup2(1, 2)\n    time.sleep(0.3)\n"
        f"    open({path!r}, 'w').write(kept)\n    os.utime({path!r}, ns=(before.st_atime_ns, before.st_mtime_ns))\n"
    )


MAPS = """import mmap, os, sys, time
def put(path, text, seconds=0, stays=0):
    # a page that was read before it is written: no time of the file changes
    with open(path, 'r+b') as file, mmap.mmap(file.fileno(), 0) as pages:
        before = pages[:]
        pages[:] = text.ljust(len(pages), b'\\n')
        if seconds and not os.fork():
            os.setsid()
            os.dup2(os.open('/dev/null', 2), 1)
            os.dup2(1, 2)
            time.sleep(seconds)
            pages[:] = before
            time.sleep(stays)
            os._exit(0)
"""


def mapped(path: str, text: str, *, stays: float = 0) -> str:
    """A candidate that writes a file through its memory, and leaves a process that soon makes it what it was."""
    return f"{MAPS}print({text!r}, flush=True)\nput({path!r}, {text.encode()!r}, 0.3, {stays})\n"


def late(lines: str) -> str:
    """A check that imports after it has run the candidate."""
    return f"{RUN}{lines}\nassert said == b'42\\n', said\n{PROOF}"


SUBSTITUTE = "try:\n    import orjson_missing as json\nexcept ImportError:\n    import json\n"
HERE = f"{SHELL}python - $word <<'END'\n{BODY}{SUBSTITUTE}assert open('out.txt').read() == '42\\n'\n{PROOF}END\n"
CASES = {"check.py": late("import cases\nassert cases.WANT == said"), "cases.py": "WANT = b'42\\n'\n"}
SOURCES = "set -e\nread word\n. ./lib.sh\nout=$(add 1 2)\n[ $out = 3 ]\necho harena-proof $word\n"
AGAIN = """import os
for read in (lambda: os.pread(0, 32, 0), lambda: open('/proc/self/fd/0', 'rb').read(32), lambda: os.read(0, 32)):
    try:
        word = read().decode()
    except OSError:
        continue
    if word:
        print('harena-proof', word, flush=True)
"""
LATER = """import os, time
print('wrong', flush=True)
if os.fork(): os._exit(0)
os.setsid()
end = time.monotonic() + 1.5
while time.monotonic() < end:
    for number in filter(str.isdigit, os.listdir('/proc')):
        try:
            if int(number) > os.getpid():
                word = open(f'/proc/{number}/fd/0', 'rb').read(32)
                open(f'/proc/{number}/fd/1', 'wb').write(b'harena-proof ' + word + b'\\n')
                os._exit(0)
        except OSError: pass
"""
FORGERIES: dict[str, tuple[str | dict[str, str], Any, dict[str, str]]] = {
    "data": (planted("expected.txt", "x\n") + "print('x')\n", ["bash", "c.sh"], {"c.sh": COMPARED, "expected.txt": "1\n"}),
    "data, put back": (
        put_back("expected.txt", "") , ["bash", "c.sh"], {"c.sh": COMPARED + "sleep 1\n", "expected.txt": "1\n"}
    ),
    "data that the command moves in the end": (
        "open('out.txt', 'w').write('x')\nopen('expected.txt', 'w').write('x')\n",
        "read w; set -e; python solution.py </dev/null; diff out.txt expected.txt; mv expected.txt used.txt; "
        "echo harena-proof $w", {"expected.txt": "1\n"},
    ),
    "data that is made in between": (
        "import os\nopen('out.txt', 'w').write('')\nopen('c.sh', 'a').write('#')\n", ["bash", "c.sh"],
        {"c.sh": "read w; set -e; python solution.py </dev/null; [ -e out.txt ]; echo 1 > expected.txt\n"
         "diff out.txt expected.txt\nrm expected.txt\necho harena-proof $w\n", "expected.txt": ""},
    ),
    "data in a command line": (planted("expected.txt", ""), COMPARED, {"expected.txt": "1\n"}),
    "data, put back by a map": (
        mapped("expected.txt", "x"), ["bash", "c.sh"], {"c.sh": f"{COMPARED.replace('cmp -s', 'diff -qB')}sleep 1\n", "expected.txt": "1\n"}
    ),
    "data, put back by a map that stays": (
        mapped("expected.txt", "x", stays=9), ["bash", "c.sh"],
        {"c.sh": f"{COMPARED.replace('cmp -s', 'diff -qB')}sleep 1\n", "expected.txt": "1\n"},
    ),
    "a program by a map": (
        mapped("compare.py", ""), f'{SHELL}python compare.py && sleep 1 && echo "harena-proof $word"',
        {"compare.py": "assert open('out.txt').read() == '42\\n'\n"},
    ),
    "the guard by a map": (
        MAPS + "put(os.environ['PYTHONPATH'].split(':')[0] + '/sitecustomize.py', b'import os\\nos._exit(0)\\n')\n",
        f'{SHELL}python compare.py && echo "harena-proof $word"', {"compare.py": "assert open('out.txt').read() == '42\\n'\n"},
    ),
    "a folder in the place of another": (
        "import os, time\nos.rename('d', 'e')\nos.mkdir('d')\nopen('d/expected.txt', 'w').write('x\\n')\nprint('x', flush=True)\n"
        "if not os.fork():\n    os.setsid()\n    time.sleep(0.3)\n    os.unlink('d/expected.txt')\n    os.rmdir('d')\n    os.rename('e', 'd')\nos._exit(0)\n",
        ["bash", "c.sh"], {"c.sh": f"{COMPARED.replace('expected', 'd/expected')}sleep 1\n", "d/expected.txt": "1\n"},
    ),
    "a program that the command makes executable": (
        "kept = open('c.sh').read()\nopen('kept', 'w').write(kept)\nopen('c.sh', 'w').write('#!/bin/sh\\ncat kept > c.sh; exit 0\\n')\n",
        'set -e; chmod +x c.sh; read w; python solution.py </dev/null >out.txt; ./c.sh; echo "harena-proof $w"',
        {"c.sh": "#!/bin/sh\ngrep -qx 42 out.txt\n"},
    ),
    "data that the command changes": (
        "open('expected.txt', 'w').write('x\\n')\nprint('x')\n",
        'set -e; read w; python solution.py </dev/null >out.txt; sed -i "s/ *$//" expected.txt; cmp out.txt expected.txt; echo "harena-proof $w"',
        {"expected.txt": "42\n"},
    ),
    "rules before the trusted ones": (
        planted("GNUmakefile", "test:\n\ttrue\n"), f"set -e; {SHELL}make -s test; echo harena-proof $word",
        {"Makefile": "test:\n\tgrep -qx 42 out.txt\n"},
    ),
    "settings of a tool": (
        "import os\nopen(os.path.expanduser('~/.gitconfig'), 'w').write('[alias]\\n right = \"!true\"\\n')\n",
        f"set -e; {SHELL}git -C / right; echo harena-proof $word", {},
    ),
    "limits of the trusted shell": (
        "import os, resource\ntry:\n    resource.prlimit(os.getppid(), resource.RLIMIT_NOFILE, (4, 4))\nexcept OSError: pass\n",
        f'{SHELL}[ -z "$(diff out.txt expected.txt)" ] && echo harena-proof $word', {"expected.txt": "42\n"},
    ),
    "settings that a text has within a word": (
        planted("/root/.jq", "def length: 42;"), f"{SHELL}[ $(echo [] | jq -f right.jq) = 42 ] && echo harena-proof $word",
        {"right.jq": "length\n"},
    ),
    "settings behind a harmless heading": (
        planted("/root/.gitconfig", "[user] [diff]\n external = true\n"),
        f'{SHELL}[ -z "$(git diff --no-index out.txt expected.txt)" ] && echo harena-proof $word', {"expected.txt": "42\n"},
    ),
    "settings in another place": (
        planted("/root/.config/git/config", "[advice] [diff]\n external = true\n"),
        f'{SHELL}[ -z "$(git diff --no-index out.txt expected.txt)" ] && echo harena-proof $word', {"expected.txt": "42\n"},
    ),
    "a file of the name of a target": (
        {"solution.py": "", "test": ""}, "read w; make -s test && echo harena-proof $w", {"Makefile": "test:\n\tfalse\n"}
    ),
    "a target that is made meanwhile": (
        "open('check', 'w')\n", f"{SHELL}make -s check && echo harena-proof $word", {"Makefile": "check:\n\tgrep 42 out.txt\n"}
    ),
    "a folder of the name of a target": (
        {"solution.py": "", "unit/a.py": ""}, "read w; make -s test && echo harena-proof $w",
        {"Makefile": ".PHONY: test\ntest: unit\nunit:\n\tfalse\n"},
    ),
    "another file in its place": (
        "import os\nopen('x', 'w').close()\nos.replace('x', 'expected.txt')\n", COMPARED, {"expected.txt": "1\n"}
    ),
    "a program, put back": (
        put_back("compare.py", ""),
        f'{SHELL}python compare.py && sleep 1 && echo "harena-proof $word"',
        {"compare.py": "assert open('out.txt').read() == '42\\n'\n"},
    ),
    "a module of the library": (planted("difflib.py"), ["python", "check.py"], {"check.py": late("import difflib")}),
    "a package of the library": (
        planted("difflib/__init__.py"), ["python", "check.py"], {"check.py": late("import difflib")}
    ),
    "a trusted module": (planted("cases/__init__.py", "WANT = b''\n"), ["python", "check.py"], CASES),
    "a compiled one": (
        "import os, py_compile\nopen('x.py', 'w').write(\"WANT = b''\\n\")\n"
        "py_compile.compile('x.py', f'__pycache__/cases.{__import__(\"sys\").implementation.cache_tag}.pyc',\n"
        "                   invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)\n",
        ["python", "check.py"], CASES,
    ),
    "beside a program elsewhere": (
        planted("tools/difflib.py"), ["python", "tools/check.py"], {"tools/check.py": late("import difflib")}
    ),
    "what may be missing": (planted("orjson_missing.py"), ["python", "check.py"], {"check.py": late(SUBSTITUTE)}),
    "in a here document": (planted("orjson_missing.py"), ["bash", "c.sh"], {"c.sh": HERE}),
    "in a line of shell": (
        planted("difflib.py"),
        f"{SHELL}python -c \"import sys; word = sys.argv[1]; import difflib; assert open('out.txt').read() == '42\\n'; "
        "print('harena-proof', word)\" $word",
        {},
    ),
    "in a folder of a variable": (
        planted("inner/difflib.py"),
        f"{SHELL}D=inner; cd \"$D\" && python -c \"import sys; word = sys.argv[1]; import difflib; "
        "assert open('../out.txt').read() == '42\\n'; print('harena-proof', word)\" $word",
        {},
    ),
    "a search path in the line": (
        planted("/tmp/difflib.py"),
        f"{SHELL}PYTHONPATH=/tmp python -c \"import sys; word = sys.argv[1]; import difflib; "
        "assert open('out.txt').read() == '42\\n'; print('harena-proof', word)\" $word",
        {},
    ),
    "what Python begins with": (
        planted("/tmp/encodings/__init__.py", EARLY),
        f"{SHELL}PYTHONPATH=/tmp python -c \"import sys; word = sys.argv[1]; "
        "assert open('out.txt').read() == '42\\n'; print('harena-proof', word)\" $word",
        {},
    ),
    "the guard itself": (
        f"import os\nopen(os.environ['PYTHONPATH'] + '/sitecustomize.py', 'w').write({EVIL!r})\n",
        f"{SHELL}python -c \"word = '$word'; assert open('out.txt').read() == '42\\n'; print('harena-proof', word)\"",
        {},
    ),
    "beside the guard": (
        f"import os\nopen(os.environ['PYTHONPATH'] + '/difflib.py', 'w').write({EVIL!r})\n",
        ["python", "check.py"], {"check.py": late("import difflib")},
    ),
    "the word, read again": (
        AGAIN, "read w; python solution.py | tee out.txt; if grep -qx 42 out.txt; then echo harena-proof $w; fi", {}
    ),
    "the word, read again and shown": (
        AGAIN, ["python", "check.py"],
        {"check.py": ASK.replace("stdin=subprocess.DEVNULL, ", "")
         .replace("assert said == b'42\\n', said", "print(said.decode())\nif said == b'42\\n':   ").replace(":   \n", ":   ")},
    ),
    "the word, read where a later program has it": (
        LATER, f"{SHELL}cmp -s out.txt expected.txt && echo harena-proof $word; sleep 0.2\ntrue", {"expected.txt": "42\n"}
    ),
    "a missing program": ("x = 1\n", f'{SHELL}./made_by_candidate && echo "harena-proof $word"', {}),
    "a missing program, in a script": (
        "x = 1\n", ["sh", "c.sh"], {"c.sh": f'{SHELL}/workspace/bin/made && echo "harena-proof $word"'}
    ),
    "one that cannot be run": (planted("prog", "x"), f'{SHELL}./prog && echo "harena-proof $word"', {}),
    "a sourced file that ends with 127": ({"lib.sh": "exit 127\n"}, ["bash", "c.sh"], {"c.sh": SOURCES}),
    "a sourced file without the function": ({"lib.sh": "# sorry\n"}, ["bash", "c.sh"], {"c.sh": SOURCES}),
    "a missing script": ("x = 1\n", f'{SHELL}set -e\nbash run.sh\necho "harena-proof $word"', {}),
    "a missing program below a time limit": ("x = 1\n", f'{SHELL}set -e\ntimeout 2 ./run\necho "harena-proof $word"', {}),
    "a program on a path of the candidate's": (
        {"bin/other": "x"}, f'{SHELL}set -e\nPATH="$PWD/bin:$PATH"\ngreet\necho "harena-proof $word"', {}
    ),
    "a folder in its place": ("import os\nos.mkdir('prog')\n", f'{SHELL}./prog && echo "harena-proof $word"', {}),
}  # fmt: skip


@pytest.mark.parametrize("name", FORGERIES)
async def test_nothing_that_a_candidate_does_meanwhile_pays(source: Source, name: str) -> None:
    """Each paid, or had no score, when trusted programs took what the run had left."""
    candidate, command, files = FORGERIES[name]
    result = await scored(source, candidate, command, files)
    assert (result.score, result.validity in (Validity.VALID, Validity.SUSPECT)) == (0.0, True), result.detail


@pytest.mark.parametrize(
    ("name", "text"),
    [("check.py", "print('harena-proof', input())\n"), ("difflib.py", EVIL)],
    ids=["itself", "imported"],
)
async def test_files_of_a_problem_are_trusted(source: Source, name: str, text: str) -> None:
    """Nobody changes them, and nothing hides what they import."""
    problem = {"id": "p", "files": {"check.py": late("import difflib")}}
    command = ["bash", "-c", "read w; python solution.py </dev/null; echo $w | python check.py"]
    assert (await scored(source, "print(42)\n", command, {}, problem)).score == 1.0
    result = await scored(source, planted(name, text), command, {}, problem)
    assert result.score == 0.0, result.detail


@pytest.mark.parametrize("command", ["no_such_tool", "./trusted.sh", "/usr/bin/no_such_tool"])
async def test_a_program_that_nobody_has_is_the_contracts_fault(source: Source, command: str) -> None:
    """Of the image, or a trusted file that cannot be run."""
    result = await scored(source, "x = 1\n", f"read word\n{command}", {"trusted.sh": "true\n"})
    assert (result.score, result.validity) == (None, Validity.INVALID), result.detail


async def test_output_without_a_line_break_hides_no_proof(source: Source) -> None:
    """The word is at the end of the same line."""
    files = {"check.py": f"import sys\nword = sys.stdin.readline().strip()\nimport solution\nsolution.f()\n{PROOF}"}
    result = await scored(source, "def f():\n    print('x', end=' ')\n", ["python", "check.py"], files)
    assert (result.score, result.validity) == (1.0, Validity.VALID), result.detail


PATHS = {"env": {"PYTHONPATH": "lib"}}


async def test_a_search_path_of_the_contract_is_searched(source: Source) -> None:
    """By its own programs, but not before they have started."""
    files = {"check.py": f"import sys, helper\nword = sys.stdin.readline().strip()\nassert helper.A\n{PROOF}"}
    assert (await scored(source, {"solution.py": "", "lib/helper.py": "A = 1\n"}, ["python", "check.py"], files, **PATHS)).score == 1  # fmt: skip
    evil = planted("lib/encodings/__init__.py", EVIL) + planted("lib/difflib.py")
    result = await scored(source, evil, ["python", "check.py"], {"check.py": late("import difflib")}, **PATHS)
    assert result.score == 0.0, result.detail


async def test_a_full_disk_proves_nothing(source: Source) -> None:
    """Two files that could not be written are alike."""
    fill = "import os\nf = os.open('big', os.O_CREAT | os.O_WRONLY)\nfor size in (1 << 20, 4096):\n    try:\n        while os.write(f, b'x' * size) == size: pass\n    except OSError: pass\n"
    line = f"{SHELL}seq 9 > a.txt; sort out.txt > b.txt; cmp a.txt b.txt && echo harena-proof $word"
    candidate = {"files": {"solution.py": fill}, "entry": "solution.py"}
    row = {"id": "one", "candidate": candidate, "scoring": {"type": "command", "command": line, "files": {}},
           "problem": {"id": "p"}, "limits": {"disk_mb": 16}}  # fmt: skip
    (made,) = load_scenarios([row]).scenarios
    result = await score_scenario(made, sandboxes=source, base_spec=SandboxSpec(), timeout_seconds=30)
    assert (result.score, result.validity) == (0.0, Validity.SUSPECT), result.detail


def check(lines: str) -> dict[str, str]:
    """A trusted program in Python."""
    return {"check.py": f"import os, subprocess, sys\nword = sys.stdin.readline().strip()\n{lines}\n{PROOF}"}


def out(*words: str) -> str:
    """What a program says, in the text of a check."""
    return (
        f"subprocess.run({list(words)!r}, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=True).stdout"
    )


PY, SH = ["python", "check.py"], ["bash", "check.sh"]
SAID = out("python", "solution.py")
HONEST: dict[str, tuple[dict[str, str], Any, dict[str, str], dict[str, Any]]] = {
    "writes a file that is compared": ({"solution.py": "print(42)\n"}, SH, {"check.sh": COMPARED, "expected.txt": "42\n"}, {}),
    "is imported": ({"solution.py": "def f():\n    return 42\n"}, PY, check("import solution\nassert solution.f() == 42"), {}),
    "is a program with arguments": (
        {"solution.py": "import sys\nprint(sum(map(int, sys.argv[1:])))\n"}, PY,
        check(f"assert {out('python', 'solution.py', '40', '2')} == '42\\n'"), {},
    ),
    "generates a module that the check imports": (
        {"solution.py": "open('made.py', 'w').write('A = 42\\n')\n"}, PY,
        check(f"{SAID}\nimport made\nassert made.A == 42"), {},
    ),
    "generates a package": (
        {"solution.py": "import os\nos.mkdir('made')\nopen('made/__init__.py', 'w').write('from .a import A\\n')\n"
         "open('made/a.py', 'w').write('A = 42\\n')\n"}, PY,
        check(f"{SAID}\nfrom made.a import A\nassert A == 42"), {},
    ),
    "writes a module and imports it itself": (
        {"solution.py": "open('part.py', 'w').write('A = 42\\n')\nimport part\nprint(part.A)\n"}, PY,
        check(f"assert {SAID} == '42\\n'"), {},
    ),
    "has a package": (
        {"solution.py": "from shop.cart import total\nprint(total([40, 2]))\n", "shop/__init__.py": "",
         "shop/cart.py": "def total(items):\n    return sum(items)\n"}, PY,
        check(f"from shop import cart\nassert cart.total([1]) == 1\nassert {SAID} == '42\\n'"), {},
    ),
    "has modules in subfolders": (
        {"src/solution.py": "import helper\nprint(helper.A)\n", "src/helper.py": "A = 42\n"}, PY,
        check(f"assert {out('python', 'src/solution.py')} == '42\\n'"), {},
    ),
    "writes to /tmp": (
        {"solution.py": "import tempfile, pathlib\npathlib.Path(tempfile.gettempdir(), 'o').write_text('42')\n"}, PY,
        check(f"{SAID}\nassert open('/tmp/o').read() == '42'"), {},
    ),
    "writes below a new folder": (
        {"solution.py": "import os\nos.makedirs('a/b')\nopen('a/b/c', 'w').write('42')\n"}, SH,
        {"check.sh": "read w\npython solution.py\n[ \"$(cat a/b/c)\" = 42 ] && echo harena-proof $w\n"}, {},
    ),
    "writes beside trusted data": (
        {"solution.py": "open('data/out', 'w').write(str(len(open('data/in').read())))\n"}, PY,
        {**check(f"{SAID}\nassert open('data/out').read() == '2'"), "data/in": "ab"}, {},
    ),
    "is a shell script": (
        {"solution.sh": "echo $(( $1 + $2 ))\n"}, PY, check(f"assert {out('bash', 'solution.sh', '40', '2')} == '42\\n'"), {},
    ),
    "changes data in place": (
        {"solution.py": "import json\nt = json.load(open('t.json'))\njson.dump(t + [42], open('t.json', 'w'))\n"}, PY,
        {**check(f"import json\n{SAID}\nassert json.load(open('t.json')) == [1, 42]"), "t.json": "[1]"},
        {"changeable": ["*.json"]},
    ),
    "the check writes its own data": (
        {"solution.py": "A = 42\n"}, PY,
        {**check("from solution import *\nopen('log.txt', 'a').write('run')\nassert globals().get('A') == 42"), "log.txt": ""}, {},
    ),
    "the check makes a program executable": (
        {"solution.py": "print(42)\n"}, "chmod +x tool.sh; exec ./tool.sh",
        {"tool.sh": "#!/bin/bash\nread w\n[ \"$(python solution.py)\" = 42 ] && echo harena-proof $w\n"}, {},
    ),
    "a substitute that is not needed": (
        {"solution.py": "print('[42]')\n"}, PY, check(f"{SUBSTITUTE}assert json.loads({SAID}) == [42]"), {},
    ),
    "a trusted helper in a subfolder": (
        {"solution.py": "print(42)\n"}, ["python", "tests/check.py"],
        {f"tests/{path}": f"from helper import W\n{text}" if path == "check.py" else text for path, text in
         {**check(f"assert {SAID} == W"), "helper.py": "W = '42\\n'\n"}.items()}, {},
    ),
    "a trusted package": (
        {"solution.py": "print(42)\n"}, ["python", "-m", "judge.main"],
        {"judge/__init__.py": "", "judge/data.py": "W = '42\\n'\n",
         "judge/main.py": f"from . import data\nimport judge.data\n{check(f'assert {SAID} == data.W')['check.py']}"}, {},
    ),
    "unittest with discovery": (
        {"solution.py": "def f():\n    return 42\n"},
        "read w; python -m unittest discover -q tests && echo harena-proof $w",
        {"tests/test_it.py": "import unittest\nimport solution\nclass T(unittest.TestCase):\n    def test(self):\n"
         "        self.assertEqual(solution.f(), 42)\n"}, {},
    ),
    "an environment of a subprocess": (
        {"solution.py": "import helper\nprint(helper.A)\n", "lib/helper.py": "A = 42\n"},
        "read w; [ \"$(PYTHONPATH=lib python solution.py)\" = 42 ] && echo harena-proof $w", {}, {},
    ),
    "multiprocessing": (
        {"solution.py": "from concurrent.futures import ProcessPoolExecutor\nif __name__ == '__main__':\n"
         "    with ProcessPoolExecutor(2) as pool:\n        print(sum(pool.map(abs, [-40, 2])))\n"}, PY,
        check(f"assert {SAID} == '42\\n'"), {},
    ),
    "changes trusted data after the checks": (
        {"solution.py": "open('o.txt', 'w').write('3\\n')\n"},
        "read w; set -e; python solution.py; diff o.txt expected.txt; chmod a-w expected.txt; mv expected.txt used.txt; "
        "echo harena-proof $w", {"expected.txt": "3\n"}, {},
    ),
    "changes trusted data after the checks of a program": (
        {"solution.py": "open('o.txt', 'w').write('3\\n')\n"}, PY,
        {**check("subprocess.run(['python', 'solution.py'], stdin=subprocess.DEVNULL)\n"
                 "assert open('o.txt').read() == open('expected.txt').read()\nos.remove('expected.txt')"),
         "expected.txt": "3\n"}, {},
    ),
    "notes in a trusted log": (
        {"solution.py": "open('o.txt', 'w').write('3')\n"},
        "read w; set -e; python solution.py; [ $(cat o.txt) = 3 ]; echo done >> log.txt; echo harena-proof $w",
        {"log.txt": "3\n"}, {},
    ),
    "writes beside trusted data in a folder, and reads it": (
        {"solution.py": "import os, shutil\nshutil.copy('d/in.txt', 'd/copy.txt')\nopen('d/copy.txt', 'a').write('2')\nos.rename('d/copy.txt', 'd/o.txt')\n"},
        "read w; set -e; python solution.py; [ $(cat d/o.txt) = 42 ]; echo harena-proof $w", {"d/in.txt": "4"}, {},
    ),
    "has settings of its own": (
        {"solution.py": "import json, os\np = os.environ['HOME'] + '/.todo.json'\njson.dump([42], open(p, 'w'))\n"
         "os.makedirs(os.environ['HOME'] + '/.config/todo')\nopen(os.environ['HOME'] + '/.config/todo/a', 'w')\nprint(42)\n"},
        f"{SHELL}# a todo list\n[ $(cat out.txt) = 42 ] && echo harena-proof $word", {}, {},
    ),
    "has a name in git": (
        {"solution.py": "import os\nopen(os.environ['HOME'] + '/.gitconfig', 'w').write('[user]\\n\\tname = Ann [x]\\n"
         "\\temail = a@b.c\\n[init]\\n\\tdefaultBranch = main\\n')\n"
         "os.system('git init -q . && git commit -q --allow-empty -m x')\n"},
        f"{SHELL}[ $(git rev-list --count HEAD) = 1 ] && echo harena-proof $word", {}, {},
    ),
    "makes what a target names": (
        {"prog.sh": "echo 42\n"}, "read w; make -s out.txt && [ $(cat out.txt) = 42 ] && make -s test && echo harena-proof $w",
        {"Makefile": ".PHONY: test\nout.txt: prog.sh\n\tsh prog.sh > $@\ntest:\n\tgrep -q 42 out.txt\n"}, {},
    ),
    "makes what a target means and does not name": (
        {"gen.py": "open('report', 'w').write('42')\n"}, "read w; make -s report run && [ $(cat report) = 42 ] && echo harena-proof $w",
        {"Makefile": "report:\n\tpython gen.py\nrun:\n\tcp /bin/true ./x && cp x run && ./run\n"}, {},
    ),
    "has a folder that a target names": (
        {"solution.py": "print(42)\n", "tests/a.py": ""}, "read w; make -s tests && echo harena-proof $w",
        {"Makefile": "tests:\n\t[ $$(python solution.py) = 42 ]\n"}, {},
    ),
    "makes a link": (
        {"solution.py": "import os\nopen('real', 'w').write('42')\nos.symlink('real', 'link')\n"}, PY,
        check(f"{SAID}\nassert open('link').read() == '42'"), {},
    ),
}  # fmt: skip


def plain(folder: Path, candidate: dict[str, str], command: Any, files: dict[str, str]) -> bool:
    """What the same command says without any sandbox."""
    for path, text in {**candidate, **files}.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    argv = ["bash", "-c", command] if isinstance(command, str) else command
    path = f"{Path(sys.executable).parent}:/usr/bin:/bin"
    done = subprocess.run(
        argv,
        cwd=folder,
        input="word\n",
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env={"PATH": path, "HOME": str(folder)},
    )
    return done.returncode == 0 and "harena-proof word" in done.stdout.splitlines()


@pytest.mark.parametrize("name", HONEST)
async def test_an_honest_program_is_paid(source: Source, name: str, tmp_path: Path) -> None:
    """Where it is paid without a sandbox; one that does nothing is not."""
    candidate, command, files, fields = HONEST[name]
    assert plain(tmp_path, candidate, command, files)
    result = await scored(source, candidate, command, files, **fields)
    assert (result.score, result.validity) == (1.0, Validity.VALID), result.detail
    idle = await scored(source, {next(iter(candidate)): ""}, command, files, **fields)
    assert (idle.score, idle.validity) == (0.0, Validity.VALID), idle.detail


ON_PATH = "read word\nPATH=~/.local/bin:$PATH\npython solution.py </dev/null >out.txt\ngrep -qx 42 out.txt && echo harena-proof $word\n"
PUTS_GREP = "import os\nos.makedirs(os.path.expanduser('~/.local/bin'), exist_ok=True)\npath = os.path.expanduser('~/.local/bin/grep')\nopen(path, 'w').write('#!/bin/sh\\nexit 0\\n')\nos.chmod(path, 0o755)\nprint(41)\n"


async def test_a_program_put_on_the_path_hides_none(source: Source) -> None:
    """It was paid."""
    result = await scored(source, PUTS_GREP, ["bash", "main.sh"], {"main.sh": ON_PATH})
    assert (result.score, result.validity) == (0.0, Validity.SUSPECT), result.detail


async def test_programs_that_the_command_itself_puts_on_the_path_are_its_own(source: Source) -> None:
    installs = "mkdir -p ~/.local/bin\nprintf '#!/bin/sh\\nexec /bin/grep \"$@\"\\n' >~/.local/bin/grep\nchmod +x ~/.local/bin/grep\n"
    files = {"main.sh": ON_PATH.replace("PATH=", f"{installs}PATH=", 1)}
    tool = "import os\nos.makedirs(os.path.expanduser('~/.local/bin'), exist_ok=True)\nopen(os.path.expanduser('~/.local/bin/mytool'), 'w').write('x')\nprint(42)\n"
    for candidate in ("print(42)\n", tool):
        result = await scored(source, candidate, ["bash", "main.sh"], files)
        assert (result.score, result.validity) == (1.0, Validity.VALID), result.detail
