"""Checks that compile programs, or start Python with an environment of their own: they change nothing of the guard."""

from __future__ import annotations

import pytest
from battery_world import Source
from real_sandboxes import source, verified
from test_command_steps import scored

from harena.core.results import Validity

__all__ = ["source"]  # a fixture
pytestmark = pytest.mark.asyncio(loop_scope="module")

COMPILES = "python -c 'import py_compile; py_compile.compile(\"solution.py\")'"
ASKS = '[ "$(%s solution.py </dev/null)" = 42 ]'
SHELL = {
    "py_compile": f"python -m py_compile solution.py\n{ASKS % 'python'}",
    "compileall": f"python -m compileall -q .\n{ASKS % 'python'}",
    "py_compile within a program": f"{COMPILES}\n{ASKS % 'python'}",
    "an empty environment": ASKS % 'env -i "PATH=$PATH" python',
    "a variable less": ASKS % "env -u PYTHONDONTWRITEBYTECODE python",
    "a variable that is dropped for good": f"unset PYTHONDONTWRITEBYTECODE\n{ASKS % 'python'}",
    "a shell with an empty environment": 'env -i "PATH=$PATH" bash -c \'' + ASKS % "python" + "'",
}
ENVIRONMENTS = [
    "{}",
    "{'PATH': os.environ['PATH']}",
    "{name: value for name, value in os.environ.items() if not name.startswith('PYTHON')}",
]
CHECK = """\
import os, subprocess, sys
word = sys.stdin.readline().strip()
told = dict(stdin=subprocess.DEVNULL, capture_output=True, text=True, env=ENVIRONMENT)
assert subprocess.run([sys.executable, 'solution.py'], **told).stdout == '42\\n'
print('harena-proof', word)
"""


@pytest.mark.parametrize("name", SHELL)
async def test_a_check_in_shell_may_compile_and_drop_variables(source: Source, name: str) -> None:
    """A right program is paid, and a wrong one is not."""
    files = {"check.sh": f'set -e\nread -r word\n{SHELL[name]}\necho "harena-proof $word"\n'}
    for said, score in (("42", 1.0), ("41", 0.0)):
        result = await scored(source, {"solution.py": f"print({said})\n"}, ["bash", "check.sh"], files)
        assert (result.score, result.validity) == (score, Validity.VALID), (said, result.detail)


@pytest.mark.parametrize("environment", ENVIRONMENTS)
async def test_a_check_in_python_may_clean_the_environment(source: Source, environment: str) -> None:
    """As one that is careful with programs of others does."""
    files = {"check.py": CHECK.replace("ENVIRONMENT", environment)}
    for said, score in (("42", 1.0), ("41", 0.0)):
        result = await scored(source, {"solution.py": f"print({said})\n"}, ["python", "check.py"], files)
        assert (result.score, result.validity) == (score, Validity.VALID), (said, result.detail)


@pytest.mark.parametrize("name", SHELL)
async def test_so_may_a_verifier(source: Source, name: str) -> None:
    """What it compiles lies in no folder that is watched."""
    lines = (
        SHELL[name].replace("\n", " && ").replace("unset PYTHONDONTWRITEBYTECODE &&", "unset PYTHONDONTWRITEBYTECODE;")
    )
    script = f"cd /app\nif {lines}; then echo 1; else echo 0; fi > /logs/verifier/reward.txt\n"
    for said, score in (("42", 1.0), ("41", 0.0)):
        result = await verified(source, f"echo 'print({said})' > /app/solution.py", {"test.sh": script})
        assert (result.score, result.validity) == (score, Validity.VALID), (said, result.detail)


async def test_who_writes_beside_the_guard_is_still_seen(source: Source) -> None:
    """A candidate that finds the guard's folder, and takes away what keeps it from being compiled."""
    steals = (
        "import glob, os\n"
        "for place in glob.glob('/tmp/*/.start-*'):\n"
        "    os.unlink(f'{place}/__pycache__')\n"
        "    os.mkdir(f'{place}/__pycache__')\n"
        "print(42)\n"
    )
    files = {"check.sh": f'set -e\nread -r word\n{ASKS % "python"}\necho "harena-proof $word"\n'}
    result = await scored(source, {"solution.py": steals}, ["bash", "check.sh"], files)
    assert (result.score, result.validity) == (0.0, Validity.SUSPECT), result.detail
