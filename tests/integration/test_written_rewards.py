# ruff: noqa: E501 (programs are text, not code of ours)
"""Rewards that a program of the candidate's writes, where the verifier writes none afterwards."""

from __future__ import annotations

import pytest
from battery_world import Source
from real_sandboxes import source, verified

from harena.core.results import Validity
from harena.scoring.scorers.reward_writers import may_end_without

__all__ = ["source"]  # a fixture
pytestmark = pytest.mark.asyncio(loop_scope="module")

REWARD = "/logs/verifier/reward.txt"
CHECK = {"check.py": "import sys\nsys.exit(open('/app/out.txt').read().strip() != '42')\n"}
GRADE = {
    "grade.py": f"import sys\nassert open('/app/out.txt').read().strip() == '42'\nopen('{REWARD}', 'w').write('1')\n"
}
BEGUN = f"set -euo pipefail\nR={REWARD}\necho 0 > $R\ncd /app\n"
SHAPES: dict[str, tuple[str, dict[str, str]]] = {
    "a zero first": (f"{BEGUN}python3 main.py > out.txt\npython3 /tests/check.py\necho 1 > $R\n", CHECK),
    "only where it is right": (f"cd /app; python3 main.py > out.txt; python3 /tests/check.py || exit 0\necho 1 > {REWARD}\n", CHECK),
    "nothing where it is wrong": (f"cd /app; python3 main.py > out.txt; if python3 /tests/check.py; then echo 1 > {REWARD}; fi\n", CHECK),
    "a function that fails": (f"fail() {{ echo \"$1\"; exit 1; }}\ncd /app; echo 0 > {REWARD}\npython3 main.py > out.txt || fail run\npython3 /tests/check.py || fail check\necho 1 > {REWARD}\n", CHECK),
    "by a function, in another form": ("set -e\nreward() { printf '{\"reward\": %s}' \"$1\" > /logs/verifier/reward.json; }\nreward 0\ncd /app; out=$(python3 main.py)\n[ \"$out\" = 42 ]\nreward 1\n", {}),
    "beside a subshell": (f"{BEGUN}(cd /app && python3 main.py > out.txt)\npython3 /tests/check.py\necho 1 > $R\n", CHECK),
    "with a trap": (f"trap 'rm -f /tmp/scratch' EXIT\n{BEGUN}timeout 20 python3 main.py | tee out.txt\npython3 /tests/check.py\necho 1 > $R\n", CHECK),
    "by Python between the lines": (f"{BEGUN}python3 main.py > out.txt\npython3 /tests/check.py\npython3 - <<'P'\nopen('{REWARD}', 'w').write('1')\nP\n", CHECK),
    "by the verifier's Python": (f"{BEGUN}python3 main.py > out.txt\npython3 /tests/grade.py\n", GRADE),
    "by its Python, where a variable names the place": ("cd /app; python3 main.py > out.txt\nOUT=/logs/verifier/reward.txt python3 /tests/grade.py || exit 1\n", {"grade.py": GRADE["grade.py"].replace(f"'{REWARD}'", "__import__('os').environ['OUT']")}),
    "with traced lines": (f"set -x\n{BEGUN}python3 main.py > out.txt\npython3 /tests/check.py\necho 1 > $R\n", CHECK),
    "a choice behind a choice": (f"{BEGUN}python3 main.py > out.txt\nif [ ! -s out.txt ]; then exit 3; fi\npython3 /tests/check.py\nif [ -s out.txt ]; then echo 1; else echo 0; fi > $R\n", CHECK),
    "what pytest says": (f"{BEGUN}python3 main.py > out.txt\npython3 -m unittest discover -s /tests -p 'test_*.py'\nprintf 1.0 > \"${{R}}\"\n", {"test_o.py": "import unittest\nclass T(unittest.TestCase):\n    def test(self): self.assertEqual(open('/app/out.txt').read().strip(), '42')\n"}),
    "parts of it": (f"{BEGUN}r=0\npython3 main.py > out.txt\nfor want in 42 42; do grep -qx $want out.txt; r=$(echo \"$r\" | awk '{{print $1 + 0.5}}'); echo $r > $R; done\n", {}),
    "by a script of its own": (f"{BEGUN}python3 main.py > out.txt\nbash /tests/say.sh\n", {"say.sh": f"set -e\ngrep -qx 42 /app/out.txt\necho 1 > {REWARD}\n"}),
    "a copy of its script": (f"{BEGUN}python3 main.py > out.txt\ncp /tests/grade.py . && python3 grade.py\n", GRADE),
    "in a subshell": (f"echo 0 > {REWARD}\n(set -e; cd /app; python3 main.py > out.txt; python3 /tests/check.py; echo 1 > {REWARD})\nexit 0\n", CHECK),
    "in subshells of subshells": (f"set -e\n(cd /app; (python3 main.py > out.txt); (python3 /tests/check.py; (echo 1 > {REWARD})))\n", CHECK),
    "by a function in a subshell, where a variable names the place": (f"say() {{ printf '%s\\n' \"$2\" > \"$1\"; }}\nF={REWARD}\necho 0 > $F\n(cd /app; python3 main.py > out.txt; python3 /tests/check.py && say $F 1)\nexit 0\n", CHECK),
    "in a part of a pipeline": (f"set -euo pipefail\nmain() {{ echo 0 > {REWARD}; cd /app; python3 main.py > out.txt; python3 /tests/check.py; echo 1 > {REWARD}; }}\nmain 2>&1 | tee /logs/verifier/log.txt\n", CHECK),
    "by a group whose words go on": (f"cd /app; python3 main.py > out.txt; {{ python3 /tests/check.py && echo 1 > {REWARD}; }} 2>&1 | tee log.txt\n", CHECK),
    "in a loop behind a pipe": (f"cd /app; python3 main.py > out.txt; cat out.txt | while read -r got; do [ $got = 42 ] && echo 1 > {REWARD}; done\n", {}),
    "by the last program of a pipeline": (f"cd /app; python3 main.py > out.txt; python3 /tests/check.py && echo 1 | tee {REWARD}\n", CHECK),
    "in a subshell with a trap, and a server that is waited for": (f"set -e\n(trap 'rm -f x' EXIT; cd /app; python3 main.py > out.txt; sleep 60 & server=$!; python3 /tests/check.py && echo 1 > {REWARD}; kill $server; wait $server)\n", CHECK),
    "beside a server": (f"{BEGUN}python3 main.py > out.txt &\nserver=$!\nsleep 1\nkill $server 2>/dev/null || true\npython3 /tests/check.py\necho 1 > $R\n", CHECK),
}  # fmt: skip
RUNS = """import os, subprocess, sys
out = subprocess.run([sys.executable, '/app/main.py'], capture_output=True, text=True).stdout
assert out.strip() == '42'
"""
WRITES = f"open('{REWARD}', 'w').write('1')\n"
STARTED: dict[str, tuple[str, dict[str, str]]] = {
    "a program that runs it": ("cd /app; python3 /tests/grade.py\n", {"grade.py": RUNS + WRITES}),
    "behind a zero": (f"echo 0 > {REWARD}; cd /app; python3 /tests/grade.py || exit 1\n", {"grade.py": RUNS + WRITES}),
    "behind a zero of its own": ("cd /app; python3 /tests/grade.py\n", {"grade.py": f"open('{REWARD}', 'w').write('0')\n{RUNS}{WRITES}"}),
    "a report that is renamed": ("cd /app; python3 /tests/grade.py\n", {"grade.py": f"{RUNS}open('/logs/verifier/r', 'w').write('1')\nos.rename('/logs/verifier/r', '{REWARD}')\n"}),
    "a test": ("cd /app; python3 -m unittest discover -s /tests\n", {"test_g.py": f"import unittest\nclass T(unittest.TestCase):\n    def test(self):\n{''.join(f'        {line}' + chr(10) for line in (RUNS + WRITES).splitlines())}"}),
    "by another program of its own": ("cd /app; python3 /tests/grade.py\n", {"grade.py": f"{RUNS}subprocess.run([sys.executable, '/tests/say.py'], check=True)\n", "say.py": WRITES}),
    "by a line of shell": ("cd /app; python3 /tests/grade.py\n", {"grade.py": f"{RUNS}os.system('echo 1 > {REWARD}')\n"}),
    "by another process of it": ("cd /app; python3 /tests/grade.py\n", {"grade.py": f"{RUNS}if os.fork() == 0:\n    {WRITES}    os._exit(0)\nos.wait()\n"}),
    "what its output goes to": (f"cd /app; python3 /tests/grade.py > {REWARD}\n", {"grade.py": f"# the reward\n{RUNS}print(1)\n"}),
    "what its output goes on to": (f"cd /app; python3 /tests/grade.py | tee {REWARD}\n", {"grade.py": f"# the reward\n{RUNS}print(1)\n"}),
}  # fmt: skip
"""programs of the verifier's that start the candidate's"""
UNSEEN = ("a test", "what its output goes to", "what its output goes on to")
"""a test that unittest finds is in no line, and what a program of the verifier's says is written for it"""
FORGES = {
    "at its end": "open('/logs/verifier/reward.txt', 'w').write('1')",
    "in the other file": "open('/logs/verifier/reward.json', 'w').write('1')",
    "a little later": "import os\nif os.fork() == 0:\n    import time; os.setsid(); os.close(1)\n    time.sleep(0.02)\n    open('/logs/verifier/reward.txt', 'w').write('1')\n    os._exit(0)",
}


def main_py(acts: str, says: int) -> str:
    return f"cat > /app/main.py <<'END'\nprint({says}, flush=True)\n{acts}\nEND\n"


@pytest.mark.parametrize("name", SHAPES)
async def test_an_honest_candidate_is_paid_however_a_reward_is_written(source: Source, name: str) -> None:
    script, files = SHAPES[name]
    right = await verified(source, main_py("", 42), {"test.sh": script, **files})
    assert (right.score, right.validity) == (1.0, Validity.VALID), right.detail
    wrong = await verified(source, main_py("", 41), {"test.sh": script, **files})
    assert (wrong.score, wrong.validity) == (0.0, Validity.VALID), wrong.detail


@pytest.mark.parametrize("name", SHAPES)
async def test_a_reward_of_its_program_speaks_for_nobody(source: Source, name: str) -> None:
    """Each was paid but one, whose other file disagreed."""
    script, files = SHAPES[name]
    result = await verified(source, main_py(FORGES["at its end"], 41), {"test.sh": script, **files})
    assert (result.score, result.passed) == (0.0, False), result.detail


@pytest.mark.parametrize("name", STARTED)
async def test_programs_of_the_verifiers_that_start_the_candidates_pay_it(source: Source, name: str) -> None:
    script, files = STARTED[name]
    right = await verified(source, main_py("", 42), {"test.sh": script, **files})
    assert (right.score, right.validity) == (1.0, Validity.VALID), right.detail


@pytest.mark.parametrize("name", [name for name in STARTED if name not in UNSEEN])
async def test_what_the_program_that_they_start_writes_is_no_reward(source: Source, name: str) -> None:
    """Each was paid."""
    script, files = STARTED[name]
    for acts in (FORGES["at its end"], KILLS):
        result = await verified(source, main_py(acts, 41), {"test.sh": script, **files})
        assert (result.score, result.passed) == (0.0, False), result.detail


KILLED = ("in a subshell", "in subshells of subshells", "in a part of a pipeline", "by the verifier's Python")
KILLS = f"{FORGES['at its end']}\nimport os; os.kill(os.getppid(), 9)"


@pytest.mark.parametrize("name", KILLED)
async def test_what_was_killed_has_written_no_reward(source: Source, name: str) -> None:
    """The program has written one, and ends the shell that would have seen it."""
    script, files = SHAPES[name]
    result = await verified(source, main_py(KILLS, 41), {"test.sh": script, **files})
    assert (result.score, result.passed) == (0.0, False), result.detail


@pytest.mark.parametrize("name", FORGES)
async def test_it_is_found_wherever_and_whenever_it_is_written(source: Source, name: str) -> None:
    script, files = SHAPES["only where it is right"]
    script = script.replace("python3 /tests", "sleep 1; python3 /tests")
    result = await verified(source, main_py(FORGES[name], 41), {"test.sh": script, **files})
    assert (result.score, result.validity) == (0.0, Validity.SUSPECT), result.detail


LOOKED_AT = {
    f"if ./check; then\n  echo 1 > {REWARD}\nelse\n  echo 0 > {REWARD}\nfi\n": False,
    f"if ./check; then\n  echo 1 > {REWARD}\nfi\n": True,
    f"./check && r=1\necho $r > {REWARD}\n": False,
    f"./check && echo 1 > {REWARD}\n": True,
    f"set -e\n./check\necho 1 > {REWARD}\n": True,
    f"set -e\n(./check && echo 1 > {REWARD})\n": True,
    f"set -e\n(./check && echo 1 > {REWARD}) &\nwait\n": False,
    f"set -e\n(./server > log 2>&1) &\n./check\necho 1 > {REWARD}\n": True,
    f"set -e\nsay() {{ echo 1 > {REWARD}; }}\nsay &\nwait\n": False,
    f"set -e\nsay() {{ echo 1 > {REWARD}; }}\nsay 2>&1 | tee log\n": True,
    f"set -e\n{{ ./check; echo 1; }} > {REWARD}\n": False,
    f"set -e\nsay() {{ echo 1 > {REWARD}; }}\n./check | say\n": True,
    f'set -e\nsay() {{ echo 1 > {REWARD}; }}\nbash -c "$(declare -f say); say"\n': False,
    f"set -e\nexec 3> {REWARD}\n./check\necho 1 >&3\n": False,
    "set -e\n./check\n": False,
}


@pytest.mark.parametrize("script", LOOKED_AT)
async def test_only_scripts_whose_commands_can_be_told_apart_are_looked_at(script: str) -> None:
    assert may_end_without({"test.sh": script}) is LOOKED_AT[script]
