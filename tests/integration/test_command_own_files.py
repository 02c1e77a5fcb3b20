# ruff: noqa: E501 (programs are text, not code of ours)
"""Commands that change trusted files of their own when they have read them: what was written is not read again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from battery_world import Source
from test_command_steps import COMPARED, MAPS, PY, SAID, SH, check, plain, planted, scored, source

from harena.core.results import Validity

__all__ = ["source"]
pytestmark = pytest.mark.asyncio(loop_scope="module")

OWN = {"solution.py": "print(42)\n"}
ASKED = f"said = {SAID}\nassert said == '42\\n'"
SNAP = {"tests/snap.json": '{"runs": 1}'}
HONEST: dict[str, tuple[dict[str, str], Any, dict[str, str]]] = {
    "a snapshot that is computed": (
        OWN, PY, {**check(f"import json\nrecord = json.load(open('tests/snap.json'))\n{ASKED}\nrecord['said'] = int(said)\n"
                          "with open('tests/snap.json', 'w') as file:\n    json.dump(record, file)"), **SNAP},
    ),
    "a snapshot that is written by a function": (
        OWN, PY, {**check("import json\ndef save(path, value):\n    with open(path, 'w') as file:\n        json.dump(value, file)\n"
                          f"{ASKED}\nsave('tests/snap.json', dict(said=said))"), **SNAP},
    ),
    "a snapshot that takes the old one's place": (
        OWN, PY, {**check(f"import json\nrecord = json.load(open('tests/snap.json'))\n{ASKED}\n"
                          "json.dump(dict(record, said=said), open('tests/snap.new', 'w'))\nos.replace('tests/snap.new', 'tests/snap.json')"), **SNAP},
    ),
    "a log beside itself": (
        OWN, ["python", "tests/check.py"],
        {"tests/check.py": check(f"here = os.path.dirname(os.path.abspath(__file__))\nfor case in range(3):\n    {ASKED.replace(chr(10), chr(10) + '    ')}\n"
                                 "    with open(os.path.join(here, 'log'), 'a') as log:\n        print('ok', case, file=log)")["check.py"], "tests/log": "begin\n"},
    ),
    "a log of shell, by a variable": (
        OWN, SH, {"check.sh": "read w\nset -e\nlog=logs/run.log\nfor n in 1 2; do [ $(python solution.py </dev/null) = 42 ]; echo ok $n | tee -a $log >/dev/null; done\necho harena-proof $w\n",
                  "logs/run.log": ""},
    ),
    "sed in a state file": (
        OWN, SH, {"check.sh": "read w\nset -e\ngrep -q state=new state.cfg\n[ $(python solution.py </dev/null) = 42 ]\nsed -i s/new/done/ state.cfg\necho harena-proof $w\n",
                  "state.cfg": "state=new\nmode=a\n"},
    ),
    "a counter": (
        OWN, SH, {"check.sh": "read w\nset -e\nn=$(cat count)\n[ $(python solution.py </dev/null) = 42 ]\necho $((n + 1)) > count\necho harena-proof $w\n", "count": "1\n"},
    ),
    "what was compared is copied over": (
        {"solution.py": "open('o.txt', 'w').write('42\\n')\n"}, SH,
        {"check.sh": "read w\nset -e\npython solution.py </dev/null\ncmp o.txt expected.txt\ncp o.txt expected.txt\necho harena-proof $w\n", "expected.txt": "42\n"},
    ),
}  # fmt: skip

RECORDS = {
    "check.sh": f"{COMPARED.replace(' && echo', ' && echo ok >> log && echo')}",
    "expected.txt": "42\n",
    "log": "",
}
LATER = "import os, sys, time\nprint(1, flush=True)\nif os.fork(): os._exit(0)\nos.setsid()\n"
WAITS = {"check.sh": "read w\npython solution.py </dev/null >out.txt\nsleep 0.6\ncmp -s out.txt expected.txt && { sleep 0.6; date > expected.txt; echo harena-proof $w; }\n",
         "expected.txt": "2\n"}  # fmt: skip
"""the command writes, in the end, what it has compared: a change before it is to be told from that"""
LISTED = {"check.sh": "read w\npython solution.py </dev/null >out.txt\nif grep -qf bad.txt out.txt; then exit 1; fi\necho $RANDOM > seen.txt\necho harena-proof $w\n",
          "bad.txt": "1\n", "seen.txt": ""}  # fmt: skip
FORGERIES: dict[str, tuple[str, dict[str, str]]] = {
    "writes what is compared": (planted("expected.txt", "1\n") + "print(1)\n", RECORDS),
    "writes it before the command does": (planted("expected.txt", "1\n") + "print(1)\n", WAITS),
    "puts it back": (f"{LATER}kept = open('expected.txt').read()\nopen('expected.txt', 'w').write('1\\n')\ntime.sleep(0.9)\nopen('expected.txt', 'w').write(kept)\n", WAITS),
    "writes it through memory": (f"{MAPS}print(1, flush=True)\nput('expected.txt', b'1\\n', 0.9)\n", WAITS),
    "opens it early and maps it late": (
        f"{LATER}import mmap\nfile = open('expected.txt', 'r+b')\npages = mmap.mmap(file.fileno(), 0)\ntime.sleep(0.2)\npages[:] = b'1\\n'\ntime.sleep(9)\n", WAITS),
    "puts another in its place": ("import os\nopen('e', 'w').write('1\\n')\nos.replace('e', 'expected.txt')\nprint(1)\n", WAITS),
    "puts a link in its place, and a file": (
        f"{LATER}os.mkdir('d')\nopen('d/e', 'w').write('1\\n')\nos.symlink(os.path.abspath('d/e'), 'd/l')\nopen('d/f', 'w').write('2\\n')\nos.chmod('d/f', os.stat('expected.txt').st_mode)\n"
        "os.replace('d/l', 'expected.txt')\ntime.sleep(0.9)\nos.replace('d/f', 'expected.txt')\n", WAITS),
    "moves it away, a link comes, a file comes": (
        f"{LATER}os.mkdir('d')\nopen('d/e', 'w').write('1\\n')\nos.symlink(os.path.abspath('d/e'), 'd/l')\nos.rename('expected.txt', 'd/kept')\n"
        "os.replace('d/l', 'expected.txt')\ntime.sleep(0.9)\nos.replace('d/kept', 'expected.txt')\n", WAITS),
    "removes a list of what is bad": ("import os\nprint(1)\nos.remove('bad.txt')\n", LISTED),
    "moves a list of what is bad": ("import os\nprint(1)\nos.rename('bad.txt', 'x')\n", LISTED),
    "closes a list of what is bad": ("import os\nprint(1)\nos.chmod('bad.txt', 0)\n", LISTED),
    "empties a list of what is bad": ("print(1)\nopen('bad.txt', 'w')\n", LISTED),
    "replaces a list of what is bad by nothing to read": ("import os\nprint(1)\nopen('e', 'w').write('9')\nos.chmod('e', 0)\nos.replace('e', 'bad.txt')\n", LISTED),
    "puts a pipe there": ("import os\nprint(1)\nos.symlink('nowhere', 'e')\nos.replace('e', 'bad.txt')\n", LISTED),
}  # fmt: skip


@pytest.mark.parametrize("name", HONEST)
async def test_a_command_may_write_what_it_does_not_read_again(source: Source, name: str, tmp_path: Path) -> None:
    """All but one, which a regular expression knew, had a 0, `suspect`."""
    candidate, command, files = HONEST[name]
    assert plain(tmp_path, candidate, command, files)
    result = await scored(source, candidate, command, files)
    assert (result.score, result.validity) == (1.0, Validity.VALID), result.detail
    idle = await scored(source, {"solution.py": ""}, command, files)
    assert (idle.score, idle.validity) == (0.0, Validity.VALID), idle.detail


@pytest.mark.parametrize("name", FORGERIES)
async def test_what_is_read_again_pays_nobody(source: Source, name: str) -> None:
    """Whatever the command itself changes after it."""
    candidate, files = FORGERIES[name]
    result = await scored(source, candidate, SH, files)
    assert (result.score, result.validity in (Validity.VALID, Validity.SUSPECT)) == (0.0, True), result.detail
