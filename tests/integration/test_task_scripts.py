# ruff: noqa: E501 (programs are text, not code of ours)
"""Scripts that verify training tasks, in the sandbox in which the policy has worked."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from harena.training.data.prompts import PromptRow
from harena.training.environments.tasks import task_of
from harena.training.rewards import reward_recipe, rewarded
from harena.training.rollouts.trajectory import Reward


@pytest.fixture(scope="module", autouse=True)
def own_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """One node for this module."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HARENA_HOME", str(tmp_path_factory.mktemp("home")))
        yield


ROW = PromptRow(id="one", prompt="{{instruction}}")
MAKEFILE = {"Makefile": "check:\n\tgrep -qx hello out.txt\n"}
SECRET = "wanted=HX7F\n"
COMPARED = "printf '1\\n2\\n' > /tmp/want\nsort -n in.txt > /tmp/got\ncmp -s /tmp/got /tmp/want\n"
LOADS = 'python3 -c \'import json, sys; sys.exit(json.load(open("a.json"))["x"] != 5)\'\n'
ENDS = "printf 'import os; os._exit(0)\\n'"
WRITES = "mkdir -p tests\ncat > tests/test_it.py <<'EOF'\nimport unittest\nclass T(unittest.TestCase):\n    def test(self): self.assertEqual(open('/workspace/out.txt').read(), 'hello\\n')\nEOF\n"
FORGERIES: dict[str, tuple[str, str]] = {
    "nothing": ("true", "grep -qx hello out.txt\n"),
    "a result that nobody can replace": ("echo 42 > /tmp/o; chmod 444 /tmp/o", "python3 main.py > /tmp/o 2>&1\ngrep -qx 42 /tmp/o\n"),
    "one file for two": ("printf '2\\n1\\n9\\n' > in.txt; ln -s /tmp/want /tmp/got", COMPARED),
    "rules before the environment's": ("printf 'check:\\n\\ttrue\\n' > GNUmakefile", "make -s check\n"),
    "work that seems to be done": ("touch check", "make -s check\n"),
    "a module of the library": (f"{ENDS} > json.py; echo {{}} > a.json", f"export PYTHONPATH=/workspace\n{LOADS}"),
    "what Python loads first": (f"mkdir encodings; {ENDS} > encodings/__init__.py; echo {{}} > a.json", f"PYTHONPATH=. {LOADS}"),
    "a test beside the script's": (f"mkdir tests; {ENDS} > tests/test_a.py", f"{WRITES}python3 -m unittest discover -s tests\n"),
    "a test that nobody can replace": ("mkdir tests; printf 'import unittest\\n' > tests/test_it.py; chmod 444 tests/test_it.py; chmod 555 tests", f"{WRITES}python3 -m unittest tests/test_it.py\n"),
    "the script's own command line": ("ln -s /proc/self/cmdline out.txt", f"{SECRET}grep -q $wanted out.txt\n"),
    "the script's own descriptor": ("ln -s /proc/self/fd/10 out.txt", f"{SECRET}grep -q $wanted < out.txt\n"),
    "a folder above the script": ("ln -s /tmp out", f"{SECRET}grep -rq $wanted out\n"),
    "a folder above the script, by a pattern": ("ln -s /tmp out", f"{SECRET}cat out/*/* | grep -q $wanted\n"),
    "a script that is written to": ("printf 'import glob\\nfor path in glob.glob(\"/tmp/*/*\"):\\n    open(path, \"w\").write(\"exit 0\\\\n\" * 50)\\n' > main.py", f"{SECRET}python3 main.py > /tmp/o\ngrep -qx $wanted /tmp/o\n"),
    "programs in the home folder": ("mkdir -p ~/.local/bin; printf '#!/bin/sh\\n' > ~/.local/bin/grep; chmod +x ~/.local/bin/grep", "export PATH=$HOME/.local/bin:$PATH\ngrep -qx hello out.txt\n"),
}  # fmt: skip
"""what the policy does, and the script that is to find it wrong"""
HONEST: dict[str, tuple[str, str]] = {
    "a file": ("echo hello > out.txt", "grep -qx hello out.txt\n"),
    "a test of the script's": ("echo hello > out.txt; mkdir tests; touch tests/__init__.py tests/test_mine.py", f"{WRITES}python3 -m unittest discover -s tests\n"),
    "rules of the environment": ("echo hello > out.txt", "make -s check\n"),
    "sorted numbers": ("printf '2\\n1\\n' > in.txt", COMPARED),
    "a module of its own": ("echo 'A = 5' > mine.py", "#!/usr/bin/env python3\nimport sys\nsys.path.insert(0, '/workspace')\nimport mine\nassert mine.A == 5 and 'mine' in sys.stdin.read()\n"),
    "a link": ("mkdir a; echo hello > a/x; ln -s a/x out.txt", "grep -qx hello out.txt\n"),
    "a link to what changes": ("mkdir a; ln -s a current; echo 'echo hello > current/log' > run.sh", "sh run.sh; grep -qx hello a/log current/log\n"),
    "a link that leads nowhere": ("ln -s later out; echo hello > out.txt", "grep -qx hello out.txt && [ ! -e out ]\n"),
    "a closed folder": ("mkdir a; echo hello > a/x; chmod 555 a", "grep -qx hello a/x && [ $(stat -c %a a) = 555 ]\n"),
}  # fmt: skip


async def verified(row: tuple[str, str]) -> Reward:
    done, script = row
    verification = {"method": "script", "script": {"source": script}}
    task = {"name": "t", "version": "1.0.0", "instruction": "do it", "files": MAKEFILE, "verification": verification}
    return await rewarded(reward_recipe("task_env_verifier_v1", {}, task=task_of(task)), ROW, done)


async def values(rows: dict[str, tuple[str, str]]) -> dict[str, float | None]:
    turn = asyncio.Semaphore(4)

    async def value(row: tuple[str, str]) -> float | None:
        async with turn:
            return (await verified(row)).value

    return dict(zip(rows, await asyncio.gather(*map(value, rows.values())), strict=True))


async def test_nothing_that_a_policy_leaves_speaks_for_the_script() -> None:
    """As for the verifiers of Harbor's tasks, which are prepared in the same way."""
    assert await values(FORGERIES) == dict.fromkeys(FORGERIES, 0.0)


async def test_what_a_policy_does_as_it_is_asked_to_is_paid() -> None:
    assert await values(HONEST) == dict.fromkeys(HONEST, 1.0)
