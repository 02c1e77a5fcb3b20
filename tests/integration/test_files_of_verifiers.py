# ruff: noqa: E501 (programs are text, not code of ours)
"""Whatever a verifier has beside its scripts, changed by a program of the candidate's that it starts."""

from __future__ import annotations

import pytest
from battery_world import Source
from real_sandboxes import source, verified

from harena.core.results import Validity

__all__ = ["source"]  # a fixture
pytestmark = pytest.mark.asyncio(loop_scope="module")

END = "\nif [ $r = 1 ]; then echo 1; else echo 0; fi > /logs/verifier/reward.txt\n"


def judged(check: str) -> str:
    """What makes a test.sh of this check, behind the candidate's program."""
    return f"cd /app\nbash run.sh > out.txt\nr=0; {check} && r=1{END}"


FORGERIES = {
    "what is expected": ("cat out.txt > /tests/expected.txt", judged("cmp -s out.txt /tests/expected.txt"), {"expected.txt": "42\n"}),
    "a table of cases": ("echo '[]' > /tests/cases.json", judged("python3 /tests/t.py"), {"cases.json": "[1]", "t.py": "import json, sys\nsys.exit(len(json.load(open('/tests/cases.json'))))\n"}),
    "what is compiled": ("echo 'print(1)' > /tests/t.c", judged("cp /tests/t.c /tmp/t.py && python3 /tmp/t.py"), {"t.c": "exit(1)\n"}),
    "a program of awk": ("echo 'BEGIN{exit 0}' > /tests/t.awk", judged("awk -f /tests/t.awk out.txt"), {"t.awk": "BEGIN{exit 1}\n"}),
    "rules of make": ("printf 'x:\\n\\ttrue\\n' > /tests/Makefile", judged("make -s -C /tests x"), {"Makefile": "x:\n\tfalse\n"}),
    "a module of a package": ("echo 'import os; os._exit(0)' > /tests/pk/mod.py", judged("python3 /tests/t.py"), {"t.py": "import sys\nfrom pk import mod\nsys.exit(1)\n", "pk/__init__.py": "", "pk/mod.py": "\n"}),
    "a package": ("echo 'import os; os._exit(0)' > /tests/pk/__init__.py", judged("python3 /tests/t.py"), {"t.py": "import sys\nimport pk\nsys.exit(1)\n", "pk/__init__.py": ""}),
    "a module by another name": ("echo 'import os; os._exit(0)' > /tests/modx.py", judged("python3 /tests/t.py"), {"t.py": "import sys, importlib\nimportlib.import_module('mo' + 'dx')\nsys.exit(1)\n", "modx.py": ""}),
    "scripts of a loop": ("for f in /tests/cases/*; do echo true > $f; done", judged("for f in /tests/cases/*; do bash $f || break; done && bash $f"), {"cases/one": "false\n"}),
    "beside lines that remove other files": ("cat out.txt > /tests/expected.txt", "rm -f /app/*.tmp\n" + judged("cmp -s out.txt /tests/expected.txt"), {"expected.txt": "42\n"}),
    "data that a check reads, and gives to no program": ("echo 41 > /tests/expected.txt", "cd /app\nr=0; python3 /tests/t.py && r=1" + END, {"expected.txt": "42\n", "t.py": "import subprocess, sys\nfrom pathlib import Path\ngot = subprocess.run(['bash', '/app/run.sh'], capture_output=True, text=True, stdin=open('/tests/in.txt')).stdout\nsys.exit(got != Path('/tests/expected.txt').read_text())\n", "in.txt": "6 7\n"}),
}  # fmt: skip
"""what run.sh does before it says 41, the verifier's test.sh, and its other files"""
HONEST = {
    "a file that it is given to change": ("python3 -c \"open('/tests/data.txt', 'w').write('42\\n')\"", "cd /app\nbash run.sh /tests/data.txt\nr=0; cmp -s /tests/data.txt /tests/expected.txt && r=1" + END, {"data.txt": "24\n", "expected.txt": "42\n"}),
    "files of a folder that it is given": ("for f in $1/*; do echo 42 > $f; done", "cd /app\nDIR=/tests/data\nbash run.sh $DIR\nr=0; cmp -s $DIR/a /tests/expected.txt && r=1" + END, {"data/a": "24\n", "expected.txt": "42\n"}),
    "each file of a loop": ("echo 42 > $1", "cd /app\nfor f in /tests/data/*.in; do bash run.sh $f; done\nr=0; cmp -s /tests/data/a.in /tests/expected.txt && r=1" + END, {"data/a.in": "24\n", "expected.txt": "42\n"}),
    "a file that a program of the verifier's gives it": ("echo 42 > $1", "cd /app\nr=0; python3 /tests/t.py && r=1" + END, {"data.txt": "", "t.py": "import subprocess, sys\nDATA = '/tests/data.txt'\nsubprocess.run(['bash', '/app/run.sh', DATA], stdout=subprocess.DEVNULL)\nsys.exit(open(DATA).read() != '42\\n')\n"}),
    "a file that the verifier writes": ("true", judged("python3 /tests/t.py"), {"state.json": "{}", "t.py": "import json, sys\nright = open('/app/out.txt').read() == '42\\n'\njson.dump(right, open('/tests/state.json', 'w'))\nsys.exit(not right)\n"}),
    "a file to which a line adds": ("true", "echo begins >> /tests/log\n" + judged("grep -qx 42 out.txt && echo right >> /tests/log"), {"log": ""}),
    "a file to which it adds where it is right": ("true", judged("grep -qx 42 out.txt && echo right >> /tests/log"), {"log": ""}),
    "input and output": ("read a b; echo $((a * b)) > /dev/null", "cd /app\nbash run.sh < /tests/in.txt > out.txt\nr=0; cmp -s out.txt /tests/expected.txt && r=1" + END, {"in.txt": "6 7\n", "expected.txt": "42\n"}),
    "output beside the input": ("echo 42 > /tests/in.out", "cd /app\nbash run.sh /tests/in.txt\nr=0; cmp -s /tests/in.out /tests/expected.txt && r=1" + END, {"in.txt": "6 7\n", "expected.txt": "42\n"}),
    "a database": ("true", judged("python3 /tests/t.py"), {"make.py": "", "t.py": "import sqlite3, sys\ndata = sqlite3.connect('/tests/a.db')\ndata.execute('create table if not exists t (n)')\nsys.exit(open('/app/out.txt').read() != '42\\n')\n", "a.db": ""}),
}  # fmt: skip


def run_sh(acts: str, says: int) -> str:
    return f"cat > /app/run.sh <<'END'\necho {says} > out.txt\n{acts}\necho {says}\nEND\n"


@pytest.mark.parametrize("name", FORGERIES)
async def test_what_its_program_writes_there_speaks_for_nobody(source: Source, name: str) -> None:
    acts, script, files = FORGERIES[name]
    result = await verified(source, run_sh(acts, 41), {"test.sh": script, **files})
    assert (result.score, result.passed) == (0.0, False), result.detail


@pytest.mark.parametrize("name", FORGERIES)
async def test_its_own_files_are_there_for_who_leaves_them(source: Source, name: str) -> None:
    """The verifier says of each of these what it says without anybody's change."""
    _, script, files = FORGERIES[name]
    right = await verified(source, run_sh("true", 42), {"test.sh": script, **files})
    assert right.validity is Validity.VALID, right.detail


@pytest.mark.parametrize("name", HONEST)
async def test_what_it_is_given_it_may_change(source: Source, name: str) -> None:
    acts, script, files = HONEST[name]
    result = await verified(source, run_sh(acts, 42), {"test.sh": script, **files})
    assert (result.score, result.validity) == (1.0, Validity.VALID), result.detail
