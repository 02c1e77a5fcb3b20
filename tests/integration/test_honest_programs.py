"""Honest programs in ordinary Python get what plain Python gives them: ones that print, and functions under asserts.

The two files hold them, `### name` before each. What is expected of a program is what it prints when this
interpreter runs it; the asserts of a function must hold here before they are asked there. None of them may be refused.
"""

from __future__ import annotations

import asyncio
import os
import re
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio
from battery_world import Source, linux_runtime

from harena.core.errors import HostUnsupportedError
from harena.core.models import SandboxSpec
from harena.core.results import RunResult
from harena.scoring import Scenario, StarvedError, load_scenarios, score_scenario
from harena.scoring.formats import import_scenarios

pytestmark = pytest.mark.asyncio(loop_scope="module")

HERE = Path(__file__).parent
LARGE = " ".join(map(str, range(100_000)))
AT_ONCE = 4
SHAPES = {
    "tabs": "def main():\n\tfor n in range(2):\n\t\tprint(n)\nmain()\n",
    "CRLF": "x = 1\r\nif x:\r\n    print('yes')\r\ntext = '''a\r\nb'''\r\nprint(len(text))\r\n",
    "a byte order mark": "\ufeffprint('marked')\n",
    "an encoding line": "# -*- coding: utf-8 -*-\nprint('é')\n",
    "a first line for shells": "#!/usr/bin/env python3\nprint('run')\n",
    "no last newline": "print('end')",
    "a form feed": "print(1)\n\f\nprint(2)\n",
    "names that are not ASCII": "größe = 3\nπ = 3.14\nprint(größe, π)\n",
    "a future import": '"""Text."""\nfrom __future__ import annotations\ndef f(x: Unknown): return x\nprint(f(1))\n',
}
"""programs whose text is unusual"""


def sections(name: str, part: str) -> Iterator[tuple[str, str, str]]:
    """(name, program, its `### part`) of each in a file."""
    pieces = re.split(r"^### (.+)\n", (HERE / name).read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    titles = list(zip(pieces[::2], pieces[1::2], strict=True))
    for index, (title, text) in enumerate(titles):
        if title != part:
            following = titles[index + 1] if index + 1 < len(titles) else ("", "")
            yield title, text, following[1] if following[0] == part else ""


PROGRAMS = [
    *(
        (name, text, LARGE if given == "LARGE\n" else given)
        for name, text, given in sections("honest_programs.txt", "stdin")
    ),
    *((name, text, "") for name, text in SHAPES.items()),
]
FUNCTIONS = list(sections("honest_functions.txt", "asserts"))


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def source(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Source]:
    """Fresh sandboxes."""
    runtime = linux_runtime(tmp_path_factory.mktemp("home"))
    try:
        await runtime.start()
    except HostUnsupportedError as error:
        pytest.skip(str(error))
    yield Source(runtime)
    await runtime.close()


async def plain(folder: Path, program: str, given: str, *arguments: str) -> tuple[int, bytes]:
    """(exit code, what it prints) of `python solution.py` here, or of `python` with other arguments."""
    folder.mkdir()
    (folder / "solution.py").write_bytes(program.encode("utf-8"))
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *(arguments or ("solution.py",)),
        cwd=folder,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "TMPDIR": str(folder)},
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    printed, _ = await process.communicate(given.encode())
    assert process.returncode is not None
    return process.returncode, printed


async def scored(source: Source, scenario: Scenario) -> RunResult:
    """As a job does it: what looks starved is tried again alone."""
    try:
        return await score_scenario(scenario, sandboxes=source, base_spec=SandboxSpec(), timeout_seconds=60)
    except StarvedError:
        return await score_scenario(scenario, sandboxes=source, base_spec=SandboxSpec(), timeout_seconds=60, alone=True)


async def refused(source: Source, scenarios: list[Scenario]) -> list[str]:
    """Which of them are not paid, and why."""
    turns = asyncio.Semaphore(AT_ONCE)

    async def one(scenario: Scenario) -> str:
        async with turns:
            result = await scored(source, scenario)
        return "" if result.score == 1.0 else f"{scenario.id}: {result.score} {result.reason} {result.detail}"

    return [line for line in await asyncio.gather(*map(one, scenarios)) if line]


async def test_no_honest_program_is_refused(source: Source, tmp_path: Path) -> None:
    """`stdio`: the same bytes as plain Python prints."""
    turns, failed = asyncio.Semaphore(AT_ONCE), list[str]()

    async def row(number: int, name: str, program: str, given: str) -> dict[str, object]:
        async with turns:
            code, printed = await plain(tmp_path / str(number), program, given)
        failed.extend([name] * (code != 0))
        case = {"stdin": given, "stdout": printed.decode()}
        scoring = {"type": "stdio", "cases": [case], "comparison": "exact"}
        return {"id": name, "candidate": program, "scoring": scoring, "limits": {"memory_mb": 512}}

    rows = await asyncio.gather(*(row(number, *program) for number, program in enumerate(PROGRAMS)))
    assert failed == []
    assert await refused(source, list(load_scenarios(rows).scenarios)) == []


async def test_no_honest_function_is_refused(source: Source, tmp_path: Path) -> None:
    """Asserts as data sets have them: read as checks, or run beside the candidate where that is needed."""
    turns, failed = asyncio.Semaphore(AT_ONCE), list[str]()

    async def holds(number: int, name: str, program: str, asserts: str) -> None:
        test = f"import sys\nsys.path.insert(0, '')\nfrom solution import *\n{asserts}"
        async with turns:
            code, _ = await plain(tmp_path / str(number), program, "", "-c", test)
        failed.extend([name] * (code != 0))

    await asyncio.gather(*(holds(number, *function) for number, function in enumerate(FUNCTIONS)))
    assert failed == []
    rows = [
        {"task_id": name, "text": name, "code": program, "test_list": _asserts(asserts)}
        for name, program, asserts in FUNCTIONS
    ]
    assert await refused(source, list(import_scenarios(rows, form="mbpp").scenarios)) == []


def _asserts(text: str) -> list[str]:
    """One for each line, or all in one where they are more than asserts."""
    lines = text.strip().split("\n")
    return lines if all(line.startswith("assert ") for line in lines) else [text]


MODULES = {
    "a package that imports its module by a relative name": {
        "pkg/__init__.py": "from .main import f\n",
        "pkg/main.py": "from .beside import two\ndef f(): return 1 + two()\n",
        "pkg/beside.py": "def two(): return 2\n",
    },
    "a package that imports its module by its whole name": {
        "pkg/__init__.py": "from pkg.main import f\n",
        "pkg/main.py": "from pkg.beside import two\ndef f(): return 1 + two()\n",
        "pkg/beside.py": "def two(): return 2\n",
    },
    "a name of the package": {
        "pkg/__init__.py": "TWO = 2\n",
        "pkg/main.py": "from . import TWO\ndef f(): return 1 + TWO\n",
    },
    "a folder that is no package": {"pkg/main.py": "def f(): return 3\n"},
    "an object in the place of the module": {
        "pkg/main.py": "import sys\nclass M:\n    def f(self): return 3\nsys.modules[__name__] = M()\n",
    },
}
"""files of programs, of which `pkg/main.py` has the function that is asked for"""


async def test_a_program_is_loaded_as_an_import_loads_it(source: Source, tmp_path: Path) -> None:
    """Its package first, and once; plain Python imports each of them, too. With `setup` as well."""
    scenarios: list[Scenario] = []
    for number, (name, files) in enumerate(MODULES.items()):
        for path, text in files.items():
            target = tmp_path / str(number) / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text)
        test = "import importlib; assert importlib.import_module('pkg.main').f() == 3"
        assert (await plain(tmp_path / str(number) / "x", "", "", "-c", f"import os; os.chdir('..'); {test}"))[0] == 0
        for setup in ("", "THREE = 3"):
            scoring = {"type": "tests", "entry_point": "f", "checks": [{"args": [], "expected": 3}] * 2}
            candidate = {"files": files, "entry": "pkg/main.py"}
            rows = [{"id": name, "candidate": candidate, "scoring": scoring | ({"setup": setup} if setup else {})}]
            scenarios.extend(load_scenarios(rows).scenarios)
    assert await refused(source, scenarios) == []


DIFFERENCES = {
    "an __eq__ of its own": ("class A:\n    def __eq__(self, other): return other == 3\ndef f(): return A()\n", 3, "A"),
    "an int that lies": ("class A(int):\n    def __eq__(self, other): return True\ndef f(): return A(7)\n", 3, "got 7"),
    "a generator": ("def f(): return (n for n in [1])\n", [1], "generator"),
    "values of a dict": ("def f(): return {1: 2}.values()\n", [2], "dict_values"),
    "a main part": ("if __name__ == '__main__':\n    def f(): return 3\n", 3, "has no attribute 'f'"),
}
"""what the page says is different from plain Python: a program, what is expected of it, what is told"""


async def test_what_is_different_is_told(source: Source) -> None:
    """None of these is paid, and each says why; the reference page lists them."""
    for name, (program, expected, told) in DIFFERENCES.items():
        checks = [{"args": [], "expected": expected}]
        scoring = {"type": "tests", "entry_point": "f", "checks": checks, "comparison": "equal"}
        rows = [{"id": name, "candidate": program, "scoring": scoring}]
        result = await scored(source, load_scenarios(rows).scenarios[0])
        assert (result.score, told in result.detail) == (0.0, True), (name, result.detail)


async def test_what_is_alike_here_alone(source: Source) -> None:
    """NaN equals NaN; an argument that is changed is a copy; the end of the process runs nothing."""
    program = (
        "import atexit, os, threading\n"
        "atexit.register(os._exit, 9)\n"
        "threading.Thread(target=threading.Event().wait).start()\n"
        "def f(xs): xs.append(1); return float('nan')\n"
    )
    checks = [{"args": [[]], "expected": {"$float": "nan"}}] * 2
    scoring = {"type": "tests", "entry_point": "f", "checks": checks, "comparison": "equal"}
    rows = [{"id": "alike", "candidate": program, "scoring": scoring}]
    assert (await scored(source, load_scenarios(rows).scenarios[0])).score == 1.0


@pytest.mark.parametrize("body", ["xs.clear(); return []", "xs.clear(); return xs", "xs.clear(); return None"])
async def test_who_empties_what_it_was_given_is_not_paid(source: Source, body: str) -> None:
    """Where the tests use an answer, their own list stays what it was; that of a function that returns None may change,
    which then is no list."""
    tests = "for n in range(3):\n    xs = [n, 1, 0]\n    assert f(xs) == sorted(xs)\n"
    row = {"task_id": "empty", "text": "x", "code": "def f(xs): return sorted(xs)\n", "test_list": [tests]}
    answer = {"task_id": "empty", "solution": f"def f(xs): {body}\n"}
    result = await scored(source, import_scenarios([row], candidates=[answer], form="mbpp").scenarios[0])
    assert result.score == 0.0
