# ruff: noqa: E501 (programs are text, not code of ours)
"""Verifiers that write a reward for what is right alone, and broken ones, which leave none either."""

from __future__ import annotations

import pytest
from battery_world import Source
from real_sandboxes import source, verified

from harena.core.results import Validity

__all__ = ["source"]  # a fixture
pytestmark = pytest.mark.asyncio(loop_scope="module")

REWARD = "/logs/verifier/reward.txt"
TEST = "import unittest\nclass T(unittest.TestCase):\n    def test(self): self.assertEqual(open('/app/out.txt').read().strip(), '42')\n"
JSON = "import json\nassert open('/app/out.txt').read().strip() == '42'\njson.dump({'reward': 1.0}, open('/logs/verifier/reward.json', 'w'))\n"
STRICT: dict[str, dict[str, str]] = {
    "if": {"test.sh": f'if [ "$(cat /app/out.txt)" = 42 ]; then echo 1 > {REWARD}; fi\n'},
    "and": {"test.sh": f"grep -qx 42 /app/out.txt && echo 1 > {REWARD}\n"},
    "set -e": {
        "test.sh": f"set -euo pipefail\ncd /app\nbash run.sh > got.txt\ngrep -qx 42 got.txt\necho 1 > {REWARD}\n"
    },
    "an exit": {"test.sh": f"cmp -s /app/out.txt /tests/want.txt || exit 1\necho 1 > {REWARD}\n", "want.txt": "42\n"},
    "unittest": {"test.sh": f"cd /tests && python3 -m unittest -q test_o && echo 1 > {REWARD}\n", "test_o.py": TEST},
    "a program of its own": {"test.sh": "python3 /tests/check.py\n", "check.py": JSON},
    "a module of the candidate's": {
        "test.sh": f"cd /app; python3 -c 'import own; assert own.f() == 42' && echo 1 > {REWARD}\n"
    },
}
"""verifiers of these files, by how they do it"""
RIGHT = "echo 42 > out.txt\necho 'echo 42' > run.sh\necho 'f = lambda: 42' > own.py\n"
WRONG = RIGHT.replace("42", "41")
BROKEN: dict[str, dict[str, str]] = {
    "a program that is nowhere": {"test.sh": f"set -e\nno-such-tool /app/out.txt\necho 1 > {REWARD}\n"},
    "another script that is nowhere": {"test.sh": f"bash /tests/none.sh && echo 1 > {REWARD}\n"},
    "no shell script": {"test.sh": f"if grep -q 42 /app/out.txt; then\necho 1 > {REWARD}\n"},
    "a module that is nowhere": {"test.sh": f"python3 -m pytest_asyncio.none /app && echo 1 > {REWARD}\n"},
    "no Python": {"test.sh": f"python3 /tests/check.py && echo 1 > {REWARD}\n", "check.py": "def f(:\n"},
    "a name that is nowhere": {"test.sh": f"python3 /tests/check.py && echo 1 > {REWARD}\n", "check.py": "chekc()\n"},
    "no network": {
        "test.sh": f"set -e\npip install -q none >/dev/null 2>&1\ngrep -q 42 /app/out.txt\necho 1 > {REWARD}\n"
    },
    "no reward at all": {"test.sh": "grep -q 42 /app/out.txt\n"},
}


@pytest.mark.parametrize("name", STRICT)
async def test_who_gets_no_reward_of_a_strict_verifier_is_wrong(source: Source, name: str) -> None:
    """Each had no score."""
    right = await verified(source, RIGHT, STRICT[name])
    assert (right.score, right.validity) == (1.0, Validity.VALID), right.detail
    for wrong in (WRONG, "true\n"):
        result = await verified(source, wrong, STRICT[name])
        assert (result.score, result.validity) == (0.0, Validity.VALID), result.detail


@pytest.mark.parametrize("name", BROKEN)
async def test_a_broken_verifier_scores_nobody(source: Source, name: str) -> None:
    for gold in ("", RIGHT):
        result = await verified(source, WRONG, BROKEN[name], gold=gold)
        assert (result.score, result.validity) == (None, Validity.INVALID), result.detail


async def test_a_solution_that_is_paid_shows_that_a_verifier_works(source: Source) -> None:
    """Whatever it looks like: this one asks for a package, and goes on without it."""
    tests = {
        "test.sh": f"pip install -q none >/dev/null 2>&1\nno-such-tool\ngrep -qx 42 /app/out.txt && echo 1 > {REWARD}\n"
    }
    known = await verified(source, WRONG, tests, gold=RIGHT)
    assert (known.score, known.validity) == (0.0, Validity.VALID), known.detail
    unknown = await verified(source, WRONG, tests)
    assert (unknown.score, unknown.validity) == (None, Validity.INVALID), unknown.detail


UVX = (
    "curl -LsSf https://astral.sh/uv/install.sh | sh\nsource $HOME/.local/bin/env\nuvx pytest /tests/test_o.py -rA\n"
    f"if [ $? -eq 0 ]; then echo 1 > {REWARD}; else echo 0 > {REWARD}; fi\n"
)
LACKS: dict[str, dict[str, str]] = {
    "uvx": {"test.sh": UVX, "test_o.py": TEST},
    "a module": {
        "test.sh": f"r=0; python3 -m pytest_asyncio.none /tests/test_o.py && r=1; echo $r > {REWARD}\n",
        "test_o.py": TEST,
    },
    "its own script": {"test.sh": f"if bash /tests/none.sh; then echo 1; else echo 0; fi > {REWARD}\n"},
    "a word of shell": {"test.sh": f"echo 0 > {REWARD}\nif grep -qx 42 /app/out.txt; then echo 1 > {REWARD}\n"},
}


@pytest.mark.parametrize("name", LACKS)
async def test_nobody_is_wrong_where_a_verifier_lacks_what_it_judges_with(source: Source, name: str) -> None:
    """Right answers had a valid 0: what Harbor's own template does without a network."""
    for who in (RIGHT, WRONG):
        result = await verified(source, who, LACKS[name], gold=RIGHT)
        assert (result.score, result.validity) == (None, Validity.INVALID), result.detail
        assert "the gold solution, too" in result.detail


async def test_who_says_that_a_tool_is_missing_is_not_excused(source: Source) -> None:
    """Nor is anybody where the verifier goes on without it."""
    tests = {"test.sh": UVX.replace("-rA", "|| (cd /tests && python3 -m unittest test_o)"), "test_o.py": TEST}
    right = await verified(source, RIGHT, tests, gold=RIGHT)
    assert (right.score, right.validity) == (1.0, Validity.VALID), right.detail
    says = {"test.sh": f"if bash /app/run.sh | grep -qx 42; then echo 1; else echo 0; fi > {REWARD}\n"}
    for script, files in ((WRONG, tests), ("echo 'echo bash: uvx: command not found >&2' > run.sh\n", says)):
        wrong = await verified(source, script, files, gold=RIGHT)
        assert (wrong.score, wrong.validity) == (0.0, Validity.VALID), wrong.detail
