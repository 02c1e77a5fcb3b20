# ruff: noqa: E501 (programs are text, not code of ours)
"""What is there already when `make` works by a trusted Makefile, and speaks for no check of it."""

from __future__ import annotations

import shutil
from typing import Any

import pytest
from battery_world import Source
from real_sandboxes import source

from harena.core.models import ExecRequest, SandboxSpec
from harena.core.results import RunResult, Validity
from harena.scoring import load_scenarios, score_scenario
from harena.scoring.scorers.script_verifier import judged_place

__all__ = ["source"]  # a fixture
pytestmark = [
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.skipif(shutil.which("make") is None, reason="needs make"),
]

RUNS = "python solution.py > out.txt </dev/null\n"
GREPS = "\tgrep -qx 3628800 out.txt\n"
VERIFIES = f"all: verify-output\nverify-output:\n{GREPS}"
STAMPED = f"all: case1.ok\ncase1.ok: out.txt\n{GREPS}\ttouch $@\n"
TWO = "all: check-a check-b\ncheck-a:\n\tgrep -qx 5 a.txt\ncheck-b:\n\tgrep -qx 6 b.txt\n"
STAMP_OF_2096 = "import os\nopen('case1.ok', 'w')\nos.utime('case1.ok', (4e9, 4e9))\nprint(1)\n"
FORGED: dict[str, tuple[dict[str, str], str, dict[str, str]]] = {
    "a check": ({"solution.py": "print(1)", "verify-output": ""}, f"{RUNS}make -s", {"Makefile": VERIFIES}),
    "a check, late": ({"solution.py": "open('verify-output', 'w')\nprint(1)"}, f"{RUNS}make -s", {"Makefile": VERIFIES}),
    "a folder for a check, late": (
        {"solution.py": "import os\nos.mkdir('verify-output')\nprint(1)"}, f"{RUNS}make -s", {"Makefile": VERIFIES}
    ),
    "a goal, late": (
        {"solution.py": "open('spec', 'w')\nprint(1)"}, f"{RUNS}make -s spec", {"Makefile": f"spec:\n{GREPS}"}
    ),
    "one check of two": ({"solution.py": "open('a.txt', 'w').write('5\\n')", "check-b": ""}, f"{RUNS}make -s", {"Makefile": TWO}),
    "checks that fail": (
        {"solution.py": "", "t1": "", "t2": ""}, "make -s suite", {"Makefile": "suite: t1 t2\nt1:\n\tfalse\nt2:\n\tfalse\n"}
    ),
    "a check that names itself, late": (
        {"solution.py": "open('unit', 'w')\nprint(1)"},
        f"{RUNS}make -s unit",
        {"Makefile": "unit:\n\tpython check.py unit\n", "check.py": "assert open('out.txt').read() == '3628800\\n'\n"},
    ),
    "a check of several calls, late": (
        {"solution.py": "open('verify-output', 'w')\nprint(1)"}, "make -s out.txt\nmake -s", {"Makefile": f"{VERIFIES}out.txt: solution.py\n\tpython $< > $@ </dev/null\n"},
    ),
    "a check of a call within, late": (
        {"solution.py": "open('verify-output', 'w')\nprint(1)"}, f"{RUNS}make -s again", {"Makefile": f"{VERIFIES}again:\n\t$(MAKE) all\n"},
    ),
    "a stamp, late": ({"solution.py": STAMP_OF_2096}, f"{RUNS}make -s", {"Makefile": STAMPED}),
    "a stamp": (
        {"solution.py": "print(1)", "case1.ok": ""},
        "make -s",
        {"Makefile": f"all: case1.ok\ncase1.ok: solution.py\n\tpython solution.py > out.txt </dev/null\n{GREPS}\ttouch $@\n"},
    ),
    "a stamp of several calls": (
        {"solution.py": "print(1)", "case1.ok": ""},
        "make -s -C .\nmake -s",
        {"Makefile": f"all: case1.ok\ncase1.ok: solution.py\n\tpython solution.py > out.txt </dev/null\n{GREPS}\ttouch $@\n"},
    ),
    "a stamp of a pattern, late": (
        {"solution.py": "open('case1.ok', 'w')\nprint(1)"}, f"{RUNS}make -s case1.ok", {"Makefile": f"%.ok:\n{GREPS}\ttouch $@\n"}
    ),
    "an object, late": (
        {"solution.py": "import os\nopen('e.c', 'w').write('int main(void) { return 0; }\\n')\n"
         "os.system('gcc -c e.c -o check.o')\nos.utime('check.o', (4e9, 4e9))\nprint(1)\n"},
        f"{RUNS}make -s verify",
        {"Makefile": "verify: checker\n\t./checker\nchecker: check.o\n\tgcc -o $@ $^\n", "check.c": "int main(void) { return 1; }\n"},
    ),
}  # fmt: skip
HONEST: dict[str, tuple[dict[str, str], str, dict[str, str]]] = {
    "a check": ({"solution.py": "print(3628800)"}, f"{RUNS}make -s", {"Makefile": VERIFIES}),
    "a file of the name of a check": (
        {"solution.py": "open('verify-output', 'w')\nprint(3628800)", "all": ""}, f"{RUNS}make -s", {"Makefile": VERIFIES}
    ),
    "a package of the name of a check": (
        {"solution.py": "import unit\nprint(unit.ANSWER)", "unit/__init__.py": "ANSWER = 3628800\n"},
        f"{RUNS}make -s unit", {"Makefile": f"unit:\n{GREPS}"},
    ),
    "a stamp": ({"solution.py": "print(3628800)"}, f"{RUNS}make -s", {"Makefile": STAMPED}),
    "a folder that is made once": (
        {"solution.py": "import os\nos.path.isdir('build') or os.mkdir('build')\nprint(3628800)", "build/a.txt": "1"},
        f"{RUNS}make -s", {"Makefile": f"all: build verify\nbuild:\n\tmkdir $@\nverify: | build\n{GREPS}"},
    ),
    "a first version": (
        {"solution.py": "open('out.txt', 'w').write('3628800\\n')"}, "make -s out.txt\npython solution.py\nmake -s verify",
        {"Makefile": f"out.txt:\n\techo 1 > $@\nverify: out.txt\n{GREPS}"},
    ),
    "work that is done once, in two calls": (
        {"solution.py": "print(3628800)"}, f"make -s patched\n{RUNS}make -s verify",
        {"Makefile": f"patched:\n\tmkdir work\n\ttouch $@\nverify: patched\n\ttest -d work\n{GREPS}"},
    ),
    "what is up to date": (
        {"gen.py": "open('report', 'w').write('42')\n"},
        "make report\nmake report | grep -q 'up to date'\n[ $(cat report) = 42 ]", {"Makefile": "report:\n\tpython gen.py\n"},
    ),
    "a question": (
        {"gen.py": "open('report', 'w').write('42')\n"}, "make report\nmake -q report", {"Makefile": "report:\n\tpython gen.py\n"},
    ),
    "what nobody names": (
        {"gen.py": "open('report', 'w').write('42')\n"}, "make -s report run", {"Makefile": "report:\n\tpython gen.py\nrun: report\n\t[ $$(cat report) = 42 ]\n"},
    ),
    "a program that is built": (
        {"solution.c": '#include <stdio.h>\nint main(void) { puts("3628800"); return 0; }\n'},
        "make -s verify", {"Makefile": f"verify: solution\n\t./solution > out.txt\n{GREPS}solution: solution.c\n\tgcc -o $@ $<\n"},
    ),
    "objects by rules of make's own": (
        {"part.c": "int answer(void) { return 42; }\n"}, "make -s verify",
        {"Makefile": "verify: prog\n\t./prog\nprog: main.o part.o\n\t$(CC) -o $@ $^\n", "main.c": "int answer(void);\nint main(void) { return answer() != 42; }\n"},
    ),
    "a trusted file that could be made": (
        {"solution.py": "print(42)"}, f"{RUNS}make -s verify",
        {"Makefile": "verify: want.txt\n\tcmp out.txt want.txt\nwant.txt: ref.py\n\tpython ref.py > $@\n", "want.txt": "42\n", "ref.py": "raise SystemExit(1)\n"},
    ),
    "what the command has made itself": (
        {"solution.c": '#include <stdio.h>\nint main(void) { puts(SAID); return 0; }\n'},
        "gcc -DSAID='\"3628800\"' -o solution solution.c\nmake -s verify",
        {"Makefile": f"verify: solution\n\t./solution > out.txt\n{GREPS}solution: solution.c\n\tgcc -o $@ $<\n"},
    ),
    "rules that are made": (
        {"solution.py": "print(3628800)"}, f"{RUNS}make -s verify",
        {"Makefile": f"include more.mk\nverify: $(NEEDS)\n{GREPS}more.mk: gen.sh\n\tsh gen.sh > $@\n", "gen.sh": "echo NEEDS = out.txt\n"},
    ),
    "a build of its own": (
        {"solution.py": "import subprocess\nfor _ in '12': subprocess.run(['make', '-s', '-C', 'own', '-f', 'rules'], check=True)\nprint(open('own/x').read())\n",
         "own/rules": "x: y\n\tmkdir -p z\n\tcp y x\ny:\n\techo 3628800 > y\n"},
        "python solution.py | head -n 1 > out.txt\nmake -s", {"Makefile": VERIFIES},
    ),
}  # fmt: skip


async def scored(source: Source, theirs: dict[str, str], scoring: dict[str, Any]) -> RunResult:
    """The verdict on a candidate of these files."""
    row = {"id": "one", "candidate": {"files": theirs, "entry": next(iter(theirs))}, "scoring": scoring}
    (scenario,) = load_scenarios([row]).scenarios
    return await score_scenario(scenario, sandboxes=source, base_spec=SandboxSpec(), timeout_seconds=60)


def command(lines: str, files: dict[str, str]) -> dict[str, Any]:
    """The contract of a trusted shell script."""
    script = f'read -r word\nset -e\n{lines}\necho "harena-proof $word"\n'
    return {"type": "command", "command": ["sh", "check.sh"], "files": {"check.sh": script, **files}}


@pytest.mark.parametrize("name", FORGED)
async def test_nothing_that_is_there_passes_a_check_of_a_command(source: Source, name: str) -> None:
    """Brought, or made while the command runs."""
    theirs, lines, files = FORGED[name]
    result = await scored(source, theirs, command(lines, files))
    assert (result.score, result.passed) == (0.0, False), result.detail
    assert result.validity is Validity.VALID, result.detail


@pytest.mark.parametrize("name", HONEST)
async def test_what_a_makefile_makes_of_honest_work_is_paid(source: Source, name: str) -> None:
    """Whatever is there before."""
    theirs, lines, files = HONEST[name]
    result = await scored(source, theirs, command(lines, files))
    assert (result.score, result.validity) == (1.0, Validity.VALID), result.detail


ASKS = "make -s -f /tests/Makefile"
ENVIRONMENT = {"environment_files": {"/app/Makefile": VERIFIES}}
TRAINED = {
    "environment_files": {"/app/Makefile": "eval: model\n\tcat model/* | grep -q 42\nmodel:\n\tpython train.py\n"}
}
BUILT = {
    "environment_files": {"/app/Makefile": "eval: build\n\tcat build/* | grep -q 42\nbuild:\n\tcmake -S . -B build\n"}
}


@pytest.mark.parametrize(
    ("done", "test", "tests", "environment", "score"),
    [
        ("echo 3628800 > out.txt", ASKS, {"Makefile": VERIFIES}, {}, 1.0),
        ("touch verify-output", ASKS, {"Makefile": VERIFIES}, {}, 0.0),
        ("mkdir verify-output", ASKS, {"Makefile": VERIFIES}, {}, 0.0),
        ("touch verify-output", "cp /tests/Makefile . && make -s", {"Makefile": VERIFIES}, {}, 0.0),
        ("touch verify-output", "make -s", {}, ENVIRONMENT, 0.0),
        ("echo 3628800 > out.txt", "make -s", {}, ENVIRONMENT, 1.0),
        ("touch case1.ok -d 2096-01-01; echo 1 > out.txt", ASKS, {"Makefile": STAMPED}, {}, 0.0),
        ("touch case1.ok", f"{ASKS} case1.ok", {"Makefile": f"%.ok:\n{GREPS}\ttouch $@\n"}, {}, 0.0),
        ("echo 'touch verify-output' > main.sh", f"sh main.sh && {ASKS}", {"Makefile": VERIFIES}, {}, 0.0),
        ("echo 'echo 3628800 > out.txt; touch verify-output' > main.sh", f"sh main.sh && {ASKS}", {"Makefile": VERIFIES}, {}, 1.0),
        ("mkdir model; echo 42 > model/a", "make -s eval", {}, TRAINED, 1.0),
        ("touch model; echo 42 > a", "make -s eval", {}, {"environment_files": {"/app/Makefile": "eval: model\n\tgrep -q 42 a\nmodel:\n\tfalse\n"}}, 0.0),
        ("mkdir verify-output; touch verify-output/a", ASKS, {"Makefile": VERIFIES}, {}, 0.0),
        ("echo 'mkdir build; echo 42 > build/a' > main.sh; sh main.sh", "make -s eval", {}, BUILT, 1.0),
        ("touch package.json deps", f"{ASKS} deps", {"Makefile": "deps: package.json\n\tnpm install\n"}, {}, 1.0),
        ("printf '#!/bin/sh\\n' > a.out; chmod +x a.out; touch main.c", "make -s lint && ./a.out", {}, {"environment_files": {"/app/Makefile": "lint:\n\ttrue\na.out: main.c\n\tgcc main.c\n"}}, 1.0),
    ],
)  # fmt: skip
async def test_nothing_that_is_there_passes_a_check_of_a_verifier(
    source: Source, done: str, test: str, tests: dict[str, str], environment: dict[str, Any], score: float
) -> None:
    """Left by the candidate, or by its program while the verifier runs; what a recipe could not bring stays."""
    script = f"cd /app\nif {test}; then echo 1; else echo 0; fi > /logs/verifier/reward.txt\n"
    scoring = {"type": "harbor", "tests": {"test.sh": script, **tests}, **environment}
    result = await scored(source, {"solve.sh": done}, scoring)
    assert (result.score, result.validity) == (score, Validity.VALID), result.detail


@pytest.mark.parametrize(
    ("done", "is_right"), [("echo 3628800 > out.txt", True), ("touch verify-output", False), ("touch all", False)]
)
async def test_nothing_that_is_there_passes_a_check_of_a_script(source: Source, done: str, is_right: bool) -> None:
    """A script that judges what was left, by the task's own Makefile."""
    async with source.sandbox(SandboxSpec()) as sandbox:
        await sandbox.write_file("/workspace/Makefile", VERIFIES.encode())
        place = await judged_place(sandbox, "make -s\n", workdir="/workspace", files={"/workspace/Makefile": VERIFIES})
        request = ExecRequest(argv=("sh", "-c", done), cwd="/workspace", timeout_seconds=60)
        assert (await (await sandbox.exec(request)).wait()).returncode == 0
        judged = await place.judged(sandbox, seconds=60, stdin=b"", code=0)
        assert judged.passed is is_right
