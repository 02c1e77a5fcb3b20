# ruff: noqa: E501 (programs are text, not code of ours)
"""Programs of a candidate's whose own modules have names of the library's, as a verifier starts them."""

from __future__ import annotations

import pytest
from battery_world import Source
from real_sandboxes import source, verified

from harena.core.results import Validity

__all__ = ["source"]  # a fixture
pytestmark = pytest.mark.asyncio(loop_scope="module")

END = "\nif [ $r = 1 ]; then echo 1; else echo 0; fi > /logs/verifier/reward.txt\n"
OWN = "echo 'def mean(x): return 42' > statistics.py; printf 'import statistics\\nprint(statistics.mean([1]))\\n' > main.py"
PACKAGE = "mkdir -p app code; touch app/__init__.py; echo X=42 > code/__init__.py; printf 'import code\\nprint(code.X)\\n' > app/__main__.py"
ENDS = "printf 'import os; os._exit(0)\\n' > json.py"
CHECK = "import json, sys\nsys.exit(json.loads(open('/app/out.txt').read()) != 42)\n"


def judged(line: str) -> str:
    return f"r=0; {line} && r=1{END}"


HONEST: dict[str, tuple[str, str, dict[str, str]]] = {
    "from another folder": (OWN, judged("cd /tmp; [ $(python3 /app/main.py) = 42 ]"), {}),
    "from the root": (OWN, judged("cd /; [ $(python3 /app/main.py) = 42 ]"), {}),
    "from the tests": (OWN, judged("cd /tests; [ $(python3 /app/main.py) = 42 ]"), {}),
    "from a folder below": (f"{OWN}; mkdir sub", judged("cd sub; [ $(python3 ../main.py) = 42 ]"), {}),
    "by its first line": (f"{OWN}; sed -i '1i #!/usr/bin/env python3' main.py; chmod +x main.py", judged("cd /tmp; [ $(/app/main.py) = 42 ]"), {}),
    "by a Python of the verifier's": (
        OWN, judged("python3 /tests/c.py"),
        {"c.py": "import subprocess, sys\nsys.exit(subprocess.check_output([sys.executable, '/app/main.py'], cwd='/tmp') != b'42\\n')\n"},
    ),
    "as a module": ("echo X=42 > queue.py; echo 'import queue; print(queue.X)' > main.py", judged("[ $(python3 -m main) = 42 ]"), {}),
    "as a module, the words together": ("echo X=42 > queue.py; echo 'import queue; print(queue.X)' > main.py", judged("[ $(python3 -Bmmain) = 42 ]"), {}),
    "as a package": (PACKAGE, judged("[ $(python3 -m app) = 42 ]"), {}),
    "as a module of a package": ("mkdir p; echo X=42 > queue.py; echo 'import queue; print(queue.X)' > p/run.py", judged("[ $(python3 -m p.run) = 42 ]"), {}),
}  # fmt: skip
FORGERIES: dict[str, tuple[str, str, dict[str, str]]] = {
    "beside a check without an ending": (ENDS, judged("PYTHONPATH=/app python3 /tests/check"), {"check": CHECK}),
    "beside a check that takes a program's place": (f"{ENDS}; echo 'print(1)' > main.py", judged("cp -p /tests/check.py main.py; cd /tmp; python3 /app/main.py"), {"check.py": CHECK}),
    "beside a check that is written over a program": (f"{ENDS}; echo 'print(1)' > main.py", judged("sed s/xx/out/ /tests/check.txt > main.py; cd /tmp; python3 /app/main.py"), {"check.txt": CHECK.replace("out", "xx")}),
    "beside a check as a module": (f"{ENDS}; echo > check.py", judged("cp /tests/check.py .; python3 -m check"), {"check.py": CHECK}),
    "beside a written check as a module": (f"{ENDS}; echo > check.py", judged("sed s/xx/out/ /tests/check.txt > check.py; python3 -m check"), {"check.txt": CHECK.replace("out", "xx")}),
    "a check of the same name": (f"{ENDS}; cp json.py check.py", judged("cd /tests; PYTHONPATH=/app python3 -m check"), {"check.py": CHECK}),
    "a package in a check's place": (f"mkdir -p tests/run; {ENDS}; cp json.py tests/run/__init__.py; cp json.py tests/run/__main__.py", judged("cp /tests/run.py tests/; python3 -m tests.run"), {"run.py": CHECK}),
    "a package in the place of a written check": (f"mkdir -p run; {ENDS}; cp json.py run/__main__.py; cp json.py run/__init__.py", judged("sed s/xx/out/ /tests/run.txt > run.py; python3 -m run"), {"run.txt": CHECK.replace("out", "xx")}),
    "a tool of the library's": (f"{ENDS}; cp json.py unittest.py", judged("python3 -m unittest discover -s /tests"), {"test_o.py": "import unittest\nclass T(unittest.TestCase):\n    def test(self): self.assertEqual(open('/app/out.txt').read(), '42\\n')\n"}),
}  # fmt: skip


@pytest.mark.parametrize("name", HONEST)
async def test_a_program_finds_its_own_modules(source: Source, name: str) -> None:
    """They were the library's where the program was started from another folder, or by `-m`. A wrong one has 0."""
    done, verifier, tests = HONEST[name]
    result = await verified(source, f"cd /app\n{done}\n", {"test.sh": f"cd /app\n{verifier}", **tests})
    assert (result.score, result.validity) == (1.0, Validity.VALID), result.detail
    wrong = await verified(
        source, f"cd /app\n{done}\n".replace("42", "43"), {"test.sh": f"cd /app\n{verifier}", **tests}
    )
    assert (wrong.score, wrong.validity) == (0.0, Validity.VALID), wrong.detail


@pytest.mark.parametrize("name", FORGERIES)
async def test_a_check_finds_the_librarys_modules(source: Source, name: str) -> None:
    done, verifier, tests = FORGERIES[name]
    script = f"cd /app\necho 41 > out.txt; {done}\n"
    result = await verified(source, script, {"test.sh": f"cd /app\n{verifier}", **tests})
    assert (result.score, result.validity in (Validity.VALID, Validity.SUSPECT)) == (0.0, True), result.detail
    if "in a check's place" in name or "in the place" in name:
        return  # what the candidate left stays in the way
    right = await verified(source, script.replace("41", "42"), {"test.sh": f"cd /app\n{verifier}", **tests})
    assert (right.score, right.validity) == (1.0, Validity.VALID), right.detail
