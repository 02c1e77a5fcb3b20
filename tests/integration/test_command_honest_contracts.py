# ruff: noqa: E501 (programs are text, not code of ours)
"""Commands as people write them, with a right candidate: what guards the word refuses none of them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from battery_world import PYTEST_LAYER, Source, linux_runtime
from test_command_steps import plain, scored

from harena.core.results import Validity

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def source(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Source]:
    """Real sandboxes that have pytest."""
    runtime = linux_runtime(tmp_path_factory.mktemp("home"))
    await runtime.start()
    yield Source(runtime, PYTEST_LAYER)
    await runtime.close()


TWICE = {"solution.py": "for line in open(0):\n    print(2 * int(line))\n"}
ADDS = {"solution.py": "def add(a, b):\n    return a + b\n"}
BYTES = {"in.txt": "1\n2\n3\n", "expected.txt": "2\n4\n6\n"}
TESTS = {"test_it.py": "import solution\ndef test_add():\n    assert solution.add(2, 3) == 5\n"}
C_PROGRAM = {
    "prog.c": '#include <stdio.h>\nint main(void) { long n; while (scanf("%ld", &n) == 1) printf("%ld\\n", 2 * n); return 0; }\n'
}
NODE = {
    "solution.js": "require('fs').readFileSync(0, 'utf8').split('\\n').filter(Boolean).forEach(n => console.log(2 * n));\n"
}
VERIFY = "import subprocess, sys\nsaid = subprocess.run([sys.executable, 'solution.py'], input='4\\n', capture_output=True, text=True).stdout\nif said != '8\\n':\n    sys.exit(f'wrong: {said}')\nprint('harena-proof', sys.argv[1])\n"
BENCH = "import json, solution, sys, time\nbegan = time.perf_counter()\nfor n in range(1000):\n    assert solution.add(n, 1) == n + 1\njson.dump({'seconds': time.perf_counter() - began, 'ok': True}, open('bench.json', 'w'))\n"
RUNNER = 'read -r word\nset -euo pipefail\ndir=$(mktemp -d)\ntrap \'rm -rf "$dir"\' EXIT\nfor n in 1 2 3; do\n  echo $n > "$dir/in"\n  python solution.py < "$dir/in" > "$dir/out"\n  [ "$(cat "$dir/out")" = $((2 * n)) ]\n  echo "case $n ok" | tee -a run.log\ndone\ngrep -c ok run.log\necho "harena-proof $word"\n'
CONTRACTS: dict[str, tuple[dict[str, str], Any, dict[str, str]]] = {
    "pytest is called": (ADDS, "read w; python -m pytest -q test_it.py </dev/null && echo harena-proof $w", TESTS),
    "pytest, with a log": (ADDS, "read w; set -o pipefail; python -m pytest -q test_it.py </dev/null 2>&1 | tee test.log && grep -q passed test.log && echo harena-proof $w", TESTS),
    "a report of pytest's that is read": (
        ADDS, 'read w; python -m pytest -q --junitxml=report.xml test_it.py </dev/null; python report.py "$w"',
        {**TESTS, "report.py": "import sys, xml.etree.ElementTree as tree\nsuite = tree.parse('report.xml').getroot().find('testsuite')\nassert suite.get('failures') == suite.get('errors') == '0' and suite.get('tests') == '1', suite.attrib\nprint('harena-proof', sys.argv[1])\n"},
    ),
    "diff of a process": (TWICE, "read w; diff <(python solution.py < in.txt) expected.txt && echo harena-proof $w", BYTES),
    "diff with a log": (TWICE, "read w; python solution.py < in.txt > out.txt; diff out.txt expected.txt > diff.log 2>&1 || { cat diff.log; exit 1; }; echo harena-proof $w", BYTES),
    "cmp in a script": (TWICE, ["bash", "check.sh"], {**BYTES, "check.sh": "read w\nset -e\npython solution.py < in.txt > out.txt\ncmp out.txt expected.txt\necho \"harena-proof $w\"\n"}),
    "an expectation that is made": (TWICE, "read w; set -e; python gold.py < in.txt > want.txt; python solution.py < in.txt > got.txt; cmp got.txt want.txt; echo harena-proof $w", {**BYTES, "gold.py": TWICE["solution.py"]}),
    "temporary files and a log": (TWICE, ["bash", "run.sh"], {"run.sh": RUNNER}),
    "a log that grows": (TWICE, "read w; set -e; echo begin > log; python solution.py < in.txt > o; echo ran >> log; cmp o expected.txt; echo same >> log; [ -s log ]; grep -q same log; echo harena-proof $w", BYTES),
    "make test": (ADDS, "read w; make -s test && echo harena-proof $w", {"Makefile": ".PHONY: test\ntest:\n\tpython -c 'import solution; assert solution.add(1, 2) == 3'\n"}),
    "make with a variable": (TWICE, 'read w; make -s check WORD="$w"', {**BYTES, "Makefile": ".PHONY: check\ncheck:\n\t@python solution.py < in.txt | cmp - expected.txt\n\t@echo harena-proof $(WORD)\n"}),
    "C": (C_PROGRAM, "read w; set -e; gcc -O1 -o prog prog.c; ./prog < in.txt | cmp - expected.txt; echo harena-proof $w", BYTES),
    "C below a sanitizer": (C_PROGRAM, "read w; set -e; gcc -g -fsanitize=address,undefined -o prog prog.c; timeout 10 ./prog < in.txt > out.txt; cmp out.txt expected.txt; python prove.py \"$w\"", {**BYTES, "prove.py": "import sys\nprint('harena-proof', sys.argv[1])\n"}),
    "C with a harness": (
        {"add.c": "int add(int a, int b) { return a + b; }\n"}, "read w; set -e; gcc -o t harness.c add.c; ./t; python prove.py $w",
        {"harness.c": "#include <assert.h>\nint add(int, int);\nint main(void) { assert(add(2, 3) == 5); return 0; }\n", "prove.py": "import sys\nprint('harena-proof', sys.argv[1])\n"},
    ),
    "node": (NODE, "read w; node solution.js < in.txt | diff - expected.txt && echo harena-proof $w", BYTES),
    "a check in node": (
        NODE, 'read w; node check.js "$w"',
        {"check.js": "const {execFileSync} = require('child_process');\nconst said = execFileSync('node', ['solution.js'], {input: '4\\n'}).toString();\nif (said !== '8\\n') { console.error(said); process.exit(1); }\nconsole.log('harena-proof ' + process.argv[2]);\n"},
    ),
    "a check with an argument": (TWICE, 'read w; python verify.py "$w"', {"verify.py": VERIFY}),
    "a check with an argument, below a limit": (TWICE, 'read w; timeout 20 python verify.py "$w" | tee verify.log', {"verify.py": VERIFY}),
    "a check with an argument, with its own environment": (TWICE, 'read w; env -u HOME LANG=C nice -n 1 python verify.py "$w"; rm -rf scratch', {"verify.py": VERIFY}),
    "a script with an argument": (TWICE, 'read w; bash verify.sh "$w"', {**BYTES, "verify.sh": "set -e\ncmp <(python solution.py < in.txt) expected.txt\necho \"harena-proof $1\"\n"}),
    "xargs": (TWICE, 'read w; set -e; printf "1\\n2\\n" | xargs -I{} sh -c \'[ "$(echo {} | python solution.py)" = $((2 * {})) ]\'; python prove.py "$w"', {"prove.py": "import sys\nprint('harena-proof', sys.argv[1])\n"}),
    "background jobs": (TWICE, 'read w; for n in 1 2 3; do (echo $n | python solution.py > out.$n) & done; wait; cat out.1 out.2 out.3 | cmp - expected.txt && python prove.py "$w"', {**BYTES, "prove.py": "import sys\nprint('harena-proof', sys.argv[1])\n"}),
    "a benchmark that writes json": (ADDS, 'read w; set -e; python bench.py; python -c "import json, sys; assert json.load(open(\'bench.json\'))[\'ok\']; print(\'harena-proof\', sys.argv[1])" "$w"', {"bench.py": BENCH}),
    "a measure of time": (TWICE, "read w; began=$(date +%s); python solution.py < in.txt > o; ended=$(date +%s); [ $((ended - began)) -le 60 ] && cmp o expected.txt && echo harena-proof $w", BYTES),
    "coverage": (ADDS, "read w; set -e; python -m trace --count --coverdir=cov drive.py > trace.log; [ -s cov/*solution.cover ]; grep -q '1: *return a + b' cov/*solution.cover; echo harena-proof $w", {"drive.py": "import solution\nassert solution.add(1, 1) == 2\n"}),
    "a data base": (
        {"solution.py": "import sqlite3\nwith sqlite3.connect('made.db') as base:\n    base.execute('create table t (n)')\n    base.executemany('insert into t values (?)', [(1,), (2,)])\n"},
        'read w; python solution.py; [ "$(sqlite3 made.db "select sum(n) from t")" = 3 ] && python prove.py "$w"', {"prove.py": "import sys\nprint('harena-proof', sys.argv[1])\n"},
    ),
    "a candidate that starts others": (
        {"solution.py": "import subprocess, sys\nfrom multiprocessing import Pool\nif __name__ == '__main__':\n    with Pool(2) as pool:\n        made = pool.map(abs, [-20, -21])\n    out = subprocess.run([sys.executable, '-c', 'print(1)'], capture_output=True, text=True).stdout\n    print(sum(made) + int(out))\n"},
        'read w; python check.py "$w"', {"check.py": "import subprocess, sys\nassert subprocess.run(['python', 'solution.py'], capture_output=True, text=True).stdout == '42\\n'\nprint('harena-proof', sys.argv[1])\n"},
    ),
    "a candidate in shell": ({"solution.sh": "while read -r n; do echo $((2 * n)); done\n"}, 'read w; bash solution.sh < in.txt | cmp - expected.txt && python prove.py "$w"', {**BYTES, "prove.py": "import sys\nprint('harena-proof', sys.argv[1])\n"}),
}  # fmt: skip


@pytest.mark.parametrize("name", CONTRACTS)
async def test_a_right_candidate_is_paid(source: Source, name: str, tmp_path: Path) -> None:
    """Where it is paid without a sandbox; one that does nothing is not."""
    candidate, command, files = CONTRACTS[name]
    assert plain(tmp_path, candidate, command, files)
    result = await scored(source, candidate, command, files)
    assert (result.score, result.validity) == (1.0, Validity.VALID), result.detail
    idle = await scored(source, {next(iter(candidate)): ""}, command, files)
    assert (idle.score, idle.validity) == (0.0, Validity.VALID), idle.detail
