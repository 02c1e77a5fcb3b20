# ruff: noqa: E501 (programs are text, not code of ours)
"""A verifier's own programs start Python without the variables that they were given."""

from __future__ import annotations

import pytest
from battery_world import Source
from real_sandboxes import source, verified

from harena.core.results import Validity

__all__ = ["source"]  # a fixture
pytestmark = pytest.mark.asyncio(loop_scope="module")

END = "\nif [ $r = 1 ]; then echo 1; else echo 0; fi > /logs/verifier/reward.txt\n"
CHECK = "import json, sys; sys.exit(open('/app/out.txt').read() != '42\\n')\n"
TESTS = {"check.py": CHECK}
DROPS = {
    "node": 'node -e \'process.exit(require("child_process").spawnSync("python3", ["-c", require("fs").readFileSync("/tests/check.py", "utf8")], {env: {PATH: process.env.PATH}}).status)\'',
    "perl": 'perl -e \'%ENV = (PATH => $ENV{PATH}); exit(system("python3", "-c", `cat /tests/check.py`) >> 8)\'',
    "make": "printf 'unexport PYTHONPATH\\nx:\\n\\tcat /tests/check.py | python3 -\\n' > /tmp/mk; make -s -f /tmp/mk x",
    "a shell": "for name in $(env | cut -d= -f1 | grep PY); do unset $name; done; python3 - < /tests/check.py",
    "Python": 'python3 -c \'import subprocess, sys; sys.exit(subprocess.call(["/usr/bin/env", "-i", "PATH=/opt/python/bin:/usr/local/bin:/usr/bin", "python3", "-c", open("/tests/check.py").read()]))\'',
}


@pytest.mark.parametrize("name", DROPS)
async def test_a_module_of_the_candidates_hides_none_without_variables_either(source: Source, name: str) -> None:
    """The first four were paid."""
    test_sh = f"cd /app; r=0; {DROPS[name]} && r=1{END}"
    wrong = await verified(
        source, "cd /app; echo 'raise SystemExit(0)' > json.py; echo 41 > out.txt", {"test.sh": test_sh, **TESTS}
    )
    assert (wrong.score, wrong.passed) == (0.0, False), wrong.detail
    right = await verified(source, "cd /app; echo 'A = 1' > json.py; echo 42 > out.txt", {"test.sh": test_sh, **TESTS})
    assert (right.score, right.validity) == (1.0, Validity.VALID), right.detail


async def test_a_program_of_the_candidates_finds_its_own_modules(source: Source) -> None:
    test_sh = f'cd /; r=0; [ "$(perl -e \'%ENV = (PATH => $ENV{{PATH}}); exec("python3", "/app/main.py")\')" = 42 ] && r=1{END}'
    candidate = "cd /app; echo 'A = 42' > queue.py; echo 'import queue; print(queue.A)' > main.py"
    right = await verified(source, candidate, {"test.sh": test_sh})
    assert (right.score, right.validity) == (1.0, Validity.VALID), right.detail


@pytest.mark.parametrize(
    "acts",
    [
        "rm -r ~/.local/lib/python3*/site-packages",
        "for f in ~/.local/lib/python3*/site-packages/*.pth; do echo > $f; done",
    ],
)
async def test_who_takes_the_line_away_is_found(source: Source, acts: str) -> None:
    test_sh = f"cd /app; bash run.sh; r=0; {DROPS['perl']} && r=1{END}"
    candidate = f"cd /app; echo 'raise SystemExit(0)' > json.py; echo 41 > out.txt; echo '{acts}' > run.sh"
    wrong = await verified(source, candidate, {"test.sh": test_sh, **TESTS})
    assert (wrong.score, wrong.validity) == (0.0, Validity.SUSPECT), wrong.detail
