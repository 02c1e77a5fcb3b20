# ruff: noqa: E501 (programs are text, not code of ours)
"""Commands that give the word of their proof to a program as an argument, and pass whatever that program says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from battery_world import Source
from test_command_steps import plain, scored, source

from harena.core import landlock
from harena.core.results import Validity
from harena.scoring.battery import BATTERY, Target, rendered

__all__ = ["source"]
pytestmark = pytest.mark.asyncio(loop_scope="module")

CHECK = (
    "import subprocess, sys\nword = sys.argv[1]\n"
    "done = subprocess.run(['python', 'solution.py'], stdin=subprocess.DEVNULL, capture_output=True, text=True)\n"
    "if done.stdout != '42\\n':\n    sys.exit(f'wrong:\\n{done.stdout}')\nprint('harena-proof', word)\n"
)
SEEN = CHECK.replace("sys.exit(f'wrong:\\n{done.stdout}')", "print('wrong:', done.stdout); sys.exit(1)")
LOOKED = 'read w\npython solution.py </dev/null >out.txt\nsleep 0.1\npython compare.py "$w" | tee log.txt\nsleep 0.3\ncat out.txt'
COMPARED = "import sys, time\nif open('out.txt').read() == '42\\n':\n    print('harena-proof', sys.argv[1])\nelse:\n    time.sleep(0.5)\n    print('wrong', open('out.txt').read())\n"
SHELL = '[ "$(python solution.py </dev/null | tee out.txt)" = 42 ] && echo harena-proof "$1"\ncat out.txt\n'

LOOKS = """import os, re, time
def look():
    for number in filter(str.isdigit, os.listdir('/proc')):
        for name in ('cmdline', 'environ'):
            try:
                found = re.search(rb'\\b[0-9a-f]{32}\\b', open(f'/proc/{number}/{name}', 'rb').read())
            except OSError:
                continue
            if found:
                return found[0].decode()
"""
NOW = f"{LOOKS}print('harena-proof', look(), flush=True)\n"
LATER = f"""{LOOKS}print('wrong', flush=True)
if not os.fork():
    os.setsid()
    end = time.monotonic() + 2
    while time.monotonic() < end:
        if word := look():
            print('harena-proof', word, flush=True)
            os._exit(0)
"""
FORGERIES: dict[str, tuple[str, Any, dict[str, str]]] = {
    "an argument of python": (NOW, 'read w; python check.py "$w" || true', {"check.py": SEEN}),
    "an argument of python in a pipe": (NOW, 'read w; python check.py "$w" | tee log.txt', {"check.py": SEEN}),
    "an argument of python below a time limit": (NOW, 'read w; timeout 20 python check.py "$w" | tee log.txt', {"check.py": SEEN}),
    "an argument of python with an environment": (NOW, 'read w; env LANG=C nice python check.py "$w"; echo done', {"check.py": SEEN}),
    "an argument of a copy": (NOW, 'read w; mkdir run; cp check.py run/verify; python run/verify "$w" || true', {"check.py": SEEN}),
    "an argument of a shell": (NOW, 'read w; bash check.sh "$w"; echo done', {"check.sh": SHELL}),
    "an argument of another shell": (NOW, 'read w; sh check.sh "$w"; echo done', {"check.sh": SHELL}),
    "in a text of a shell": (NOW, 'read w; sh -c "w=$w; $(cat check.sh | sed s/\\$1/\\$w/)" x "$w"; echo done', {"check.sh": SHELL}),
    "a program's of a program": (
        NOW, "python start.py; true",
        {"check.py": SEEN, "start.py": "import subprocess, sys\nword = sys.stdin.readline().strip()\nsubprocess.run([sys.executable, 'check.py', word])\n"},
    ),
    "by a function of a shell": (NOW, 'read w\nprove() {\n  python check.py "$1"\n}\nprove "$w"; true', {"check.py": SEEN}),
    "an argument, later": (LATER, LOOKED, {"compare.py": COMPARED}),
}  # fmt: skip
RIGHT = {
    "prints": "print(42)\n",
    "looks at itself by ps": "import os, subprocess\nsaid = subprocess.run(['ps', '-o', 'pid=', '-p', str(os.getpid())], capture_output=True, text=True).stdout\n"
    "print(42 if int(said) == os.getpid() else said)\n",
    "looks at a child of its": "import os, subprocess, sys\nchild = subprocess.Popen(['sleep', '9'])\nopen(f'/proc/{child.pid}/status').read()\nchild.kill()\nprint(42)\n",
}  # fmt: skip


@pytest.mark.parametrize("name", FORGERIES)
async def test_an_argument_of_a_trusted_program_is_out_of_sight(source: Source, name: str) -> None:
    """Each paid: the command line of a process is everybody's to read. A right candidate is paid."""
    candidate, command, files = FORGERIES[name]
    result = await scored(source, candidate, command, files)
    assert (result.score, result.validity) == (0.0, Validity.VALID), result.detail
    for right in RIGHT.values():
        result = await scored(source, right, command, files)
        assert (result.score, result.validity) == (1.0, Validity.VALID), result.detail


SERVER = {
    "solution.py": "import http.server\nclass Handler(http.server.BaseHTTPRequestHandler):\n    def do_GET(self):\n        self.send_response(200)\n        self.end_headers()\n        self.wfile.write(b'42')\n    def log_message(self, *words): pass\n"
    "http.server.HTTPServer(('127.0.0.1', 8123), Handler).serve_forever()\n"
}
ASKS = "import sys, time, urllib.request\nfor _ in range(200):\n    try:\n        said = urllib.request.urlopen('http://127.0.0.1:8123').read()\n        break\n    except OSError:\n        time.sleep(0.05)\nassert said == b'42'\nprint('harena-proof', sys.argv[1])\n"
HONEST: dict[str, tuple[dict[str, str], Any, dict[str, str]]] = {
    "a server that the command looks for": (
        SERVER, 'read w; python solution.py & pid=$!; ps -p $pid >/dev/null || exit 1; pgrep -f solution.py >/dev/null || exit 1; python ask.py "$w"; end=$?; kill $pid; exit $end', {"ask.py": ASKS}
    ),
    "a server that it ends": (SERVER, 'read w; python solution.py & pid=$!; kill -0 $pid || exit 1; python ask.py "$w" && kill $pid', {"ask.py": ASKS}),
}  # fmt: skip


@pytest.mark.parametrize("name", HONEST)
async def test_a_command_that_looks_for_its_processes_finds_them(source: Source, name: str, tmp_path: Path) -> None:
    """Where processes were hidden from it, it would refuse everybody."""
    candidate, command, files = HONEST[name]
    assert plain(tmp_path, candidate, command, files)
    result = await scored(source, candidate, command, files)
    assert (result.score, result.validity) == (1.0, Validity.VALID), result.detail


FOLLOWED = "python solution.py </dev/null; sleep 0.2; python check.py"
SHOWN: dict[str, tuple[str, dict[str, str], float]] = {
    "an argument of node": ('read w; node check.js "$w"; true', {"check.js": "require('child_process').execSync('python solution.py </dev/null', {stdio: 'inherit'}); process.exit(1);\n"}, 0.0 if landlock.version() >= 2 else 1.0),
    "an exported word": (f"read w; export w; {FOLLOWED}; true", {"check.py": "raise SystemExit(1)\n"}, 1.0),
    "a word in a file": (f"read w; echo $w > word.txt; {FOLLOWED}; true", {"check.py": "raise SystemExit(1)\n"}, 1.0),
    "an argument of python": (f'read w; {FOLLOWED} "$w"; true', {"check.py": "import time\ntime.sleep(0.5)\n"}, 0.0),
    "a word that is kept": (f"read w; {FOLLOWED} && echo harena-proof $w; true", {"check.py": "raise SystemExit(1)\n"}, 0.0),
}  # fmt: skip


@pytest.mark.parametrize("name", SHOWN)
async def test_what_no_sandbox_hides_is_told(source: Source, name: str) -> None:
    """A calibration's forgery finds it, and each pass names the line. With Landlock the forgery, a Python program, sees
    no process but its own in a sandbox that hides them."""
    command, files, score = SHOWN[name]
    (forgery,) = (forgery for forgery in BATTERY if forgery.name == "word-in-sight")
    candidate = rendered(forgery, Target("command"))
    result = await scored(source, dict(candidate.files), command, files)
    assert result.score == score, result.detail
    assert not score or result.detail.startswith("line 1 of the command "), result.detail
