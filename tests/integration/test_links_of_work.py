# ruff: noqa: E501 (programs are text, not code of ours)
"""Links of a candidate's behind which something changes while the verifier runs: it decides whose doing that is."""

from __future__ import annotations

import pytest
from battery_world import Source
from real_sandboxes import source, verified

from harena.core.results import Validity
from harena.scoring.scorers.redirecting_links import Led, Texts, led_by

__all__ = ["source"]  # a fixture
pytestmark = pytest.mark.asyncio(loop_scope="module")

END = "\nif [ $r = 1 ]; then echo 1; else echo 0; fi > /logs/verifier/reward.txt\n"
GIT = "git init -q -b main .; git config user.email a@b; git config user.name b; "
GENERATES = {"gen.py": "import sys\nname = sys.argv[1] + 'nt.txt'\nopen(name, 'w').write(str(6 * 7))\n"}


def judged(line: str) -> str:
    return f"cd /app; r=0; {line} && r=1{END}"


HONEST: dict[str, tuple[str, str, dict[str, str]]] = {
    "a branch with what a link leads to": (
        f"{GIT}mkdir d; echo 41 > d/x; ln -s d/x link; git add -A; git commit -qm x; git checkout -q -b f; echo 42 > d/x; git commit -qam y; git checkout -q main",
        judged("git checkout -q f && [ $(cat link) = 42 ]"), {},
    ),
    "a data base elsewhere": (
        "mkdir -p /data/store; ln -s /data/store data; echo 'import sqlite3; c = sqlite3.connect(\"data/a.db\"); c.execute(\"create table t(x)\"); c.execute(\"insert into t values(42)\"); c.commit()' > init.py",
        judged("python3 init.py && [ $(sqlite3 data/a.db 'select x from t') = 42 ] && [ -L data ]"), {},
    ),
    "a log under two names, beside results": (
        "mkdir logs; touch logs/app.log; ln -s app.log logs/latest.log; echo 'echo 42 >> logs/app.log; echo done' > run.sh",
        judged("bash run.sh > /tmp/said.txt; cat logs/latest.log | tee /tmp/seen.txt | grep -q 42 && grep -q done /tmp/said.txt"), {},
    ),
    "a release that is deployed, beside results": (
        "printf 'mkdir -p releases/v2; echo 42 > releases/v2/version\n' > deploy.sh; ln -s releases/v2 current",
        judged("bash deploy.sh > /tmp/said.txt && cp current/version /tmp/copy && [ $(cat /tmp/copy) = 42 ] && [ -L current ]"), {},
    ),
    "a switch, beside results": (
        "mkdir a b; echo 41 > a/v; echo 42 > b/v; ln -s a current; echo 'import os; os.symlink(\"b\", \"t\"); os.replace(\"t\", \"current\")' > switch.py",
        judged("python3 switch.py | tee /tmp/said && [ $(cat current/v) = 42 ]"), {},
    ),
    "a program whose output is linked, and a check in Python": (
        "mkdir -p build/x86; ln -s build/x86 bin; printf 'mkdir -p build/x86; printf \"#!/bin/sh\\necho 42\\n\" > build/x86/prog; chmod +x build/x86/prog\n' > make.sh",
        judged("python3 /tests/c.py"),
        {"c.py": "import subprocess, sys\nsubprocess.run(['bash', 'make.sh'], check=True)\nsaid = subprocess.check_output(['bin/prog'])\nopen('/tmp/report.txt', 'wb').write(said)\nsys.exit(said != b'42\\n')\n"},
    ),
    "a link in the home folder to a project": ("mkdir dot; echo 42 > dot/vimrc; ln -s /app/dot/vimrc ~/.vimrc", judged("[ -L ~/.vimrc ] && grep -q 42 ~/.vimrc"), {}),
}  # fmt: skip
FORGERIES: dict[str, tuple[str, str, dict[str, str]]] = {
    "the verifier's environment": ("ln -s .venv/pyvenv.cfg out.txt", judged("python3 -m venv --without-pip .venv; grep -q home out.txt"), {}),
    "a file of a computed name": ("touch /tmp/want.txt; ln -s /tmp/want.txt out.txt", judged("python3 /tests/gen.py /tmp/wa; grep -q 42 out.txt"), GENERATES),
    "a file of a loop": (
        "mkdir -p /tmp/x; ln -s /tmp/x/ref_a out.txt", judged("mkdir -p /tmp/x; for n in a b; do echo 42 > /tmp/x/ref_$n; done; grep -q 42 out.txt"), {},
    ),
    "a file that is named like the link": (
        "mkdir /tmp/x; touch /tmp/x/result.txt; ln -s /tmp/x/result.txt result.txt",
        judged("python3 /tests/c.py"),
        {"c.py": "import os, sys\nplace = os.path.join('/tmp', 'x')\nos.makedirs(place, exist_ok=True)\nopen(os.path.join(place, 'result.txt'), 'w').write('42')\nsys.exit(open('/app/result.txt').read() != open(os.path.join(place, 'result.txt')).read())\n"},
    ),
    "the same path in another folder": (
        "mkdir -p /tmp/work/out; ln -s /tmp/work/out out", judged("mkdir -p /tmp/work/out; (cd /tmp/work; echo 42 > out/want.txt); cmp -s out/want.txt /tmp/work/out/want.txt"), {},
    ),
    "what an archive of the verifier's brings": (
        "mkdir -p ref; ln -s ref out", judged("mkdir -p /tmp/m ref; echo 42 > /tmp/m/$(printf w)ant; tar cf /tmp/m.tar -C /tmp/m .; tar xf /tmp/m.tar -C ref; grep -rq 42 out"), {},
    ),
    "a file, by a link that is named itself": ("ln -s /app/want.txt ~/out.txt", judged("echo 42 > want.txt; cmp -s ~/out.txt want.txt"), {}),
    "likewise by what a link is": ("ln -s /data/app/want.txt ~/out.txt", judged("echo 42 > want.txt; cmp -s ~/out.txt want.txt"), {}),
    "a file that is there, by a link that is named itself": ("touch want.txt; ln -s /app/want.txt ~/out.txt", judged("echo 42 > want.txt; cmp -s ~/out.txt want.txt"), {}),
    "a folder, by a link that is named itself": ("mkdir w; ln -s /app/w ~/out", judged("echo 42 > w/x; cmp -s ~/out/x w/x"), {}),
    "a file that is made last": (
        "touch want.txt; ln -s want.txt out.txt; echo 'print(1)' > main.py", judged("python3 main.py && python3 /tests/c.py && cmp -s out.txt want.txt"),
        {"c.py": "import pathlib\npathlib.Path('/app/want.txt').write_text('42')\n"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", HONEST)
async def test_what_a_candidates_own_programs_change_is_its_work(source: Source, name: str) -> None:
    """It was judged anew with a copy in the link's place, where the program's changes do not show. A wrong one beside
    it has 0."""
    done, verifier, tests = HONEST[name]
    result = await verified(source, f"cd /app\n{done}\n", {"test.sh": verifier, **tests})
    assert (result.score, result.validity) == (1.0, Validity.VALID), result.detail
    wrong = await verified(source, f"cd /app\n{done}\n".replace("42", "43"), {"test.sh": verifier, **tests})
    assert (wrong.score, wrong.validity) == (0.0, Validity.VALID), wrong.detail


@pytest.mark.parametrize("name", FORGERIES)
async def test_what_the_verifier_puts_behind_a_link_pays_nobody(source: Source, name: str) -> None:
    """Whether its texts name the file, make the name of parts, or bring files without a name."""
    done, verifier, tests = FORGERIES[name]
    result = await verified(source, f"cd /app\n{done}\n", {"test.sh": verifier, **tests})
    assert (result.score, result.validity in (Validity.VALID, Validity.SUSPECT)) == (0.0, True), result.detail


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("cat current/version", Led(asked=frozenset({b"/app/v2/version"}))),
        ("cat /app/current/version", Led(asked=frozenset({b"/app/v2/version"}))),
        ("cat version", Led(True)),
        ("echo > v2/version", Led(True)),
        ("cd /tmp; echo > current/version", Led(asked=frozenset({b"/app/v2/version"}))),
        ("cd /app; cat ../app/v2/version", Led(True)),
        ("echo > $X/version", Led(True)),
        ("echo > vers$X", Led(asked=frozenset({b"/app/v2/version"}))),
        ("echo > version$X", Led(True)),
        ("unzip x.zip", Led(True)),
        ("git checkout -q f", Led(asked=frozenset({b"/app/v2/version"}))),
        ("git -C /app apply x", Led(True)),
    ],
)
async def test_texts_tell_whose_a_file_is(text: str, expected: Led) -> None:
    folders = ("/app", "/tmp") if "/tmp" in text else ("/app",)
    texts = Texts((text,), frozenset({"test.sh"}), folders)
    assert led_by({b"/app/current": b"/app/v2"}, [b"/app/v2/version"], [], texts) == expected
