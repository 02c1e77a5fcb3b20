# ruff: noqa: E501 (programs are text, not code of ours)
"""What a verifier holds in its memory is not to be read by the program of the candidate's that it has started."""

from __future__ import annotations

import os
from typing import Any

import pytest
from battery_world import Source
from real_sandboxes import source, verified
from test_command_steps import scored
from test_task_scripts import own_home, values

from harena.core import landlock
from harena.core.results import Validity

__all__ = ["own_home", "source"]  # fixtures
pytestmark = [
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.skipif(landlock.version() < 2, reason="needs Landlock that lets files be renamed: Linux 5.19"),
]

READS = r"""
import os, re, sys
def found_in(process, pattern):
    try:
        maps, memory = open(f'/proc/{process}/maps').readlines(), open(f'/proc/{process}/mem', 'rb', 0)
    except OSError:
        return []
    found = []
    for words in map(str.split, maps):
        first, last = (int(end, 16) for end in words[0].split('-'))
        if 'rw' in words[1] and last - first < 300 << 20:
            try:
                memory.seek(first)
                found += re.findall(pattern, memory.read(last - first))
            except (OSError, ValueError, OverflowError):
                pass
    return found
others = [int(name) for name in os.listdir('/proc') if name.isdigit() and int(name) != os.getpid()]
found = [each for other in {*others, os.getppid()} for each in found_in(other, rb'KEY[0-9]{3,12}END')]
print(found[0].decode() if found else '')
"""
"""a program that says the first key that it finds in another one's memory"""
RIGHT = "import sys\nprint(f'KEY{int(sys.argv[1]) ** 2}END')\n"
JS = "const c = require('child_process'), fs = require('fs'); const w = fs.readFileSync(0, 'utf8').trim();\nconst a = require('crypto').randomInt(1e4, 1e5); const kept = Buffer.from('KEY' + a * a + 'END');\nconst said = c.execFileSync('python', ['solution.py', String(a)], {stdio: ['ignore', 'pipe', 'inherit']}).toString().trim();\nif (said !== kept.toString()) process.exit(1);\nconsole.log('harena-proof ' + w);\n"
ASKS_IN_PERL = "my $a = 10000 + int(rand(90000)); my $key = 'KEY' . $a * $a . 'END'; my $said = `python3 {} $a </dev/null`; chomp $said; exit 1 if $said ne $key;"
PERL = f'my $w = <STDIN>; chomp $w; {ASKS_IN_PERL.format("solution.py")} print "harena-proof $w\\n";\n'
AWK = 'read -r w\nawk \'BEGIN {srand(); a = 10000 + int(rand() * 30000); key = "KEY" a * a "END"; ("python solution.py " a " </dev/null") | getline said; exit(said != key)}\' || exit 1\necho harena-proof $w'
C = '#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include <time.h>\nint main(void) {\n  char word[64], said[64] = {0}, key[64], line[64];\n  if (!fgets(word, 60, stdin)) return 1;\n  srand(time(0) ^ clock());\n  long a = 10000 + rand() % 90000;\n  sprintf(key, "KEY%ldEND", a * a);\n  sprintf(line, "python solution.py %ld </dev/null", a);\n  FILE *from = popen(line, "r");\n  fgets(said, 60, from);\n  said[strcspn(said, "\\n")] = 0;\n  if (strcmp(said, key)) return 1;\n  printf("harena-proof %s", word);\n  return 0;\n}\n'
PYTHON = "import random, subprocess, sys\na = random.randrange(10000, 100000)\nkey = f'KEY{a * a}END'\nsaid = subprocess.run([sys.executable, '{}', str(a)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True).stdout.strip()\nif said != key:\n    sys.exit(1)\n"
SHELL = 'a=$((10000 + RANDOM)); key=KEY$((a * a))END; [ "$(python3 {} $a </dev/null)" = "$key" ]'
CHECKERS: dict[str, tuple[Any, dict[str, str]]] = {
    "node": (["node", "check.js"], {"check.js": JS}),
    "node below a shell": ("node check.js", {"check.js": JS}),
    "perl": (["perl", "check.pl"], {"check.pl": PERL}),
    "awk": (AWK, {}),
    "C": ("gcc -w -o check check.c && exec ./check", {"check.c": C}),
    "C that stands alone": ("gcc -static -w -o check check.c && exec ./check", {"check.c": C}),
    "a shell": (["bash", "-c", f"read -r w; {SHELL.format('solution.py')} || exit 1; echo harena-proof $w"], {}),
}


@pytest.mark.parametrize("name", CHECKERS)
async def test_a_checker_keeps_its_key_whatever_it_is_written_in(source: Source, name: str) -> None:
    """Of the first six, who read the key was paid."""
    command, files = CHECKERS[name]
    result = await scored(source, READS, command, files)
    assert (result.score, result.validity) == (0.0, Validity.VALID), result.detail
    result = await scored(source, RIGHT, command, files)
    assert (result.score, result.validity) == (1.0, Validity.VALID), result.detail


LATE = "const c = require('child_process'), fs = require('fs');\nc.execFileSync('python', ['solution.py'], {stdio: ['ignore', 'inherit', 'inherit']});\nfs.readFileSync(0, 'utf8');\n"
TAKES = """import os, re
for process in {os.getppid(), *filter(str.isdigit, os.listdir('/proc'))}:
    try:
        found = re.search(rb'[0-9a-f]{32}', os.read(os.open(f'/proc/{process}/fd/0', os.O_RDONLY | os.O_NONBLOCK), 100))
    except OSError:
        continue
    if found:
        print('harena-proof', found[0].decode(), flush=True)
"""


async def test_a_word_that_is_not_read_yet_is_out_of_reach(source: Source) -> None:
    """Paid before: the standard input of a process of its user's was the candidate's to open."""
    result = await scored(source, TAKES, ["node", "check.js"], {"check.js": LATE})
    assert (result.score, result.validity) == (0.0, Validity.VALID), result.detail


PAYS = "cd /app\nif {}; then echo 1 > /logs/verifier/reward.txt; else echo 0 > /logs/verifier/reward.txt; fi\n"
VERIFIERS: dict[str, dict[str, str]] = {
    "Python": {"test.sh": PAYS.format("python3 /tests/check.py"), "check.py": PYTHON.replace("{}", "main.py")},
    "perl": {"test.sh": PAYS.format("perl /tests/check.pl"), "check.pl": ASKS_IN_PERL.format("main.py")},
    "a shell": {"test.sh": PAYS.format(SHELL.format("main.py"))},
}


@pytest.mark.parametrize("name", VERIFIERS)
async def test_a_verifier_keeps_its_key_whatever_it_is_written_in(source: Source, name: str) -> None:
    """Each paid who read the key."""
    for program, score in ((READS, 0.0), (RIGHT, 1.0)):
        result = await verified(source, f"cat > /app/main.py <<'END'\n{program}END\n", VERIFIERS[name])
        assert (result.score, result.validity) == (score, Validity.VALID), result.detail


SCRIPTS = {
    "Python": f"cat > /tmp/check.py <<'END'\n{PYTHON.replace('{}', 'main.py')}END\npython3 /tmp/check.py\n",
    "perl": f"cat > /tmp/check.pl <<'END'\n{ASKS_IN_PERL.format('main.py')}\nEND\nperl /tmp/check.pl\n",
    "a shell": f"#!/bin/bash\n{SHELL.format('main.py')}\n",
}


async def test_a_script_of_a_task_keeps_its_key_whatever_it_is_written_in() -> None:
    """Paid who read the key, where Python or perl had it."""
    for program, value in ((READS, 0.0), (RIGHT, 1.0)):
        rows = {name: (f"cat > main.py <<'END'\n{program}END\n", script) for name, script in SCRIPTS.items()}
        assert await values(rows) == dict.fromkeys(SCRIPTS, value)


READS_IN_PERL = """
for my $maps (glob '/proc/[0-9]*/maps') {
    my ($process) = $maps =~ /(\\d+)/;
    open(my $places, '<', $maps) or next;
    open(my $memory, '<:raw', "/proc/$process/mem") or next;
    next if $process == $$;
    while (<$places>) {
        my ($first, $last) = /^([0-9a-f]+)-([0-9a-f]+) rw/ or next;
        sysseek($memory, hex $first, 0) or next;
        sysread($memory, my $found, hex($last) - hex($first)) or next;
        if ($found =~ /(KEY[0-9]{3,12}END)/) { print "$1\\n"; exit }
    }
}
"""
RIGHT_IN_PERL = "print 'KEY', $ARGV[0] ** 2, \"END\\n\";\n"
STARTS_PERL = PYTHON.replace("sys.executable, '{}'", "'perl', 'main.pl'")
APART = pytest.mark.skipif(os.uname().machine != "x86_64", reason="the code that each program loads is for x86-64")
READS_IN_JS = "const fs = require('fs');\nfor (const process of [...fs.readdirSync('/proc').filter(name => /^[0-9]+$/.test(name) && +name !== global.process.pid), global.process.ppid]) {\n  let maps, memory;\n  try { maps = fs.readFileSync(`/proc/${process}/maps`, 'utf8').split('\\n'); memory = fs.openSync(`/proc/${process}/mem`, 'r'); } catch { continue; }\n  for (const line of maps) {\n    const found = line.match(/^([0-9a-f]+)-([0-9a-f]+) rw/);\n    if (!found) continue;\n    const first = BigInt('0x' + found[1]), size = Number(BigInt('0x' + found[2]) - first);\n    if (size > 1 << 28) continue;\n    const part = Buffer.alloc(size);\n    try { fs.readSync(memory, part, 0, size, first); } catch { continue; }\n    const key = part.toString('latin1').match(/KEY[0-9]{3,12}END/);\n    if (key) { console.log(key[0]); global.process.exit(); }\n  }\n}\n"
RIGHT_IN_JS = "console.log(`KEY${process.argv[2] ** 2}END`);\n"
OTHERS: dict[str, tuple[str, str, str, str]] = {
    "perl": ("main.pl", "perl", READS_IN_PERL, RIGHT_IN_PERL),
    "node": ("main.js", "node", READS_IN_JS, RIGHT_IN_JS),
}


@APART
@pytest.mark.parametrize("name", [name for name in CHECKERS if name != "a shell"])
@pytest.mark.parametrize("other", OTHERS)
async def test_a_checker_keeps_its_key_whatever_the_candidate_is_written_in(
    source: Source, name: str, other: str
) -> None:
    """Paid who read the key, wherever neither of both was a Python program."""
    path, program, reads, right = OTHERS[other]

    def with_other(text: str) -> str:
        return (
            text.replace("'python', ['solution.py'", f"'{program}', ['{path}'")
            .replace("python3 solution.py", f"{program} {path}")
            .replace("python solution.py", f"{program} {path}")
        )

    command, files = CHECKERS[name]
    told = with_other(command) if isinstance(command, str) else command
    theirs = {checker: with_other(text) for checker, text in files.items()}
    for text, score in ((reads, 0.0), (right, 1.0)):
        result = await scored(source, {path: text}, told, theirs)
        assert (result.score, result.validity) == (score, Validity.VALID), result.detail


CLEANED = {
    "no variable": "env -u PYTHONPATH python solution.py",
    "no variables for Python": "python -I solution.py",
    "the system's Python without variables": "env -i /usr/bin/python3 -S solution.py",
}


@APART
@pytest.mark.parametrize("name", CLEANED)
async def test_a_checker_keeps_its_key_whatever_it_starts_the_candidate_with(source: Source, name: str) -> None:
    """As careful checkers do. Paid: the guard of Python programs is found by a variable."""
    files = {"check.pl": PERL.replace("python3 solution.py", CLEANED[name])}
    for text, score in ((READS, 0.0), (RIGHT, 1.0)):
        result = await scored(source, text, ["perl", "check.pl"], files)
        assert (result.score, result.validity) == (score, Validity.VALID), result.detail


OF_PYTHON: dict[str, str] = {
    "a file": f"cat > check.py <<'END'\n{STARTS_PERL}END\npython3 check.py",
    "a line": f"cat > check.py <<'END'\n{STARTS_PERL}END\npython3 -c \"exec(open('check.py').read())\"",
    "a module": f"mkdir -p checks; cat > checks/check.py <<'END'\n{STARTS_PERL}END\npython3 -m checks.check",
    "an environment of its own": f"cat > check.py <<'END'\n{STARTS_PERL}END\npython3 -m venv --without-pip own && own/bin/python check.py",
}


@pytest.mark.parametrize("name", OF_PYTHON)
async def test_a_python_verifier_keeps_its_key_whatever_the_candidate_is_written_in(source: Source, name: str) -> None:
    """Paid in a verifier of Harbor's, and in a script of a task, who read the key."""
    line = f"{OF_PYTHON[name]}\n"
    for program, score in ((READS_IN_PERL, 0.0), (RIGHT_IN_PERL, 1.0)):
        work = f"cat > main.pl <<'END'\n{program}END\n"
        result = await verified(source, work, {"test.sh": PAYS.format(f"(\n{line})")})
        assert (result.score, result.validity) == (score, Validity.VALID), result.detail
        assert await values({name: (work, line)}) == {name: score}


async def test_a_python_of_the_systems_keeps_its_key(source: Source) -> None:
    """Paid: only the image's Python that is found on PATH was out of reach."""
    checks = (
        f"import random, subprocess, sys\nw = sys.stdin.readline().strip()\n{STARTS_PERL}print('harena-proof', w)\n"
    )
    for program, score in ((READS_IN_PERL, 0.0), (RIGHT_IN_PERL, 1.0)):
        result = await scored(source, {"main.pl": program}, "/usr/bin/python3 check.py", {"check.py": checks})
        assert (result.score, result.validity) == (score, Validity.VALID), result.detail


async def test_a_verifier_that_looks_into_its_processes_sees_them(source: Source) -> None:
    """Its texts say that it does; so its own Python programs are left as they are."""
    looks = "python3 -m http.server 8123 2>/dev/null & pid=$!; until readlink /proc/$pid/fd/3; do :; done; kill $pid\n"
    test = f"cd /app\n{looks}python3 main.py 5 | grep -qx KEY25END && echo 1 > /logs/verifier/reward.txt\n"
    result = await verified(source, f"cat > /app/main.py <<'END'\n{RIGHT}END\n", {"test.sh": test})
    assert (result.score, result.validity) == (1.0, Validity.VALID), result.detail
    waits = "cat > /app/main.py <<'END'\nimport time\ntime.sleep(60)\nEND\n"
    looks = 'python3 main.py & pid=$!; until [ "$(readlink /proc/$pid/cwd)" = /data/app ]; do :; done; kill $pid\n'
    result = await verified(source, waits, {"test.sh": f"cd /app\n{looks}echo 1 > /logs/verifier/reward.txt\n"})
    assert (result.score, result.validity) == (1.0, Validity.VALID), result.detail


DOES: dict[str, str] = {
    "moves files into another folder": "os.makedirs('a/b'); os.mkdir('c'); open('a/b/x', 'w').close(); os.rename('a/b/x', 'c/x'); os.rename('a/b', 'c/b'); os.replace('c/x', 'c/b/x')",
    "links into another folder": "os.mkdir('a'); open('x', 'w').close(); os.link('x', 'a/x'); os.symlink('x', 'a/y'); assert os.stat('x').st_nlink == 2",
    "links a file without a name": "os.mkdir('a'); file = os.open('.', os.O_TMPFILE | os.O_WRONLY); os.link(f'/proc/self/fd/{file}', 'a/x', src_dir_fd=os.open('.', os.O_RDONLY)); assert os.path.exists('a/x')",
    "moves files out of a folder that is gone": "import shutil, tempfile\nwith tempfile.TemporaryDirectory() as place:\n    open(place + '/x', 'w').close(); shutil.move(place + '/x', 'x')\nassert os.path.exists('x')",
    "changes its root folder": "os.mkdir('a'); os.chdir('a'); open('x', 'w').close(); os.mkdir('b'); os.rename('x', '../y'); os.rename('../y', 'b/x'); os.chdir('..')",
    "works in processes": "import multiprocessing\nfor kind in ('fork', 'forkserver', 'spawn') if __name__ == '__main__' else ():\n    with multiprocessing.get_context(kind).Pool(2) as pool:\n        assert pool.map(abs, [-1, -2]) == [1, 2]\nif __name__ != '__main__': print = len",
    "shares memory": "from multiprocessing import shared_memory\nmemory = shared_memory.SharedMemory(create=True, size=10); other = shared_memory.SharedMemory(memory.name); other.buf[0] = 5; assert memory.buf[0] == 5; other.close(); memory.close(); memory.unlink()",
    "signals a child": "import signal, subprocess\nchild = subprocess.Popen(['sleep', '60']); child.send_signal(signal.SIGTERM); assert child.wait() == -15",
    "is signalled by a child": "import signal, subprocess\nseen = []; signal.signal(signal.SIGUSR1, lambda *_: seen.append(1)); subprocess.run(['sh', '-c', 'kill -USR1 $PPID']); assert seen",
    "looks at a child": "import subprocess\nchild = subprocess.Popen(['sleep', '60'], env={'A': 'b'})\nwhile b'sleep' not in open(f'/proc/{child.pid}/cmdline', 'rb').read(): pass\nassert b'A=b' in open(f'/proc/{child.pid}/environ', 'rb').read(); os.listdir(f'/proc/{child.pid}/fd'); os.readlink(f'/proc/{child.pid}/exe'); open(f'/proc/{child.pid}/maps').read(); child.kill()",
    "is looked at by a child": "import subprocess\nsaid = subprocess.run(['cat', f'/proc/{os.getpid()}/stat', f'/proc/{os.getpid()}/cmdline'], capture_output=True).stdout; assert b'solution.py' in said, said",
    "looks at itself": "[open('/proc/self/' + name, 'rb').read() for name in ('stat', 'maps', 'cmdline', 'status', 'smaps', 'limits')]; os.listdir('/proc/self/fd'); os.readlink('/proc/self/exe'); os.readlink('/proc/self/cwd')",
    "starts itself twenty times": "import subprocess\nif len(sys.argv) == 2: sys.argv.append('0')\nif int(sys.argv[2]) < 20:\n    print(subprocess.run([sys.executable, 'solution.py', sys.argv[1], str(int(sys.argv[2]) + 1)], capture_output=True, text=True).stdout.strip()); sys.exit()",
    "has threads and sockets": "import socket, threading\na, b = socket.socketpair(); server = socket.socket(socket.AF_UNIX); server.bind('\\0name'); server.listen(); client = socket.socket(socket.AF_UNIX); client.connect('\\0name'); thread = threading.Thread(target=a.send, args=(b'x',)); thread.start(); thread.join(); assert b.recv(1) == b'x'",
    "loads ctypes": "import ctypes, resource\nassert ctypes.CDLL(None).getpid() == os.getpid(); resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))",
    "has the usual modules": "assert not {'ctypes', 'resource', 'struct'} & set(sys.modules), sorted(sys.modules)",
    "has the usual descriptors": "assert sorted(map(int, os.listdir('/proc/self/fd')))[:4] == [0, 1, 2, 3] and len(os.listdir('/proc/self/fd')) == 4",
    "keeps a database": "import sqlite3\nwith sqlite3.connect('x.db') as base: base.execute('create table t (a)'); base.execute('insert into t values (1)')\nassert sqlite3.connect('x.db').execute('select a from t').fetchall() == [(1,)]",
    "unpacks an archive": "import shutil\nos.makedirs('a/b'); open('a/b/x', 'w').close(); shutil.make_archive('y', 'gztar', 'a'); shutil.unpack_archive('y.tar.gz', 'z'); shutil.copytree('z', 'w'); shutil.rmtree('z')",
}  # fmt: skip


@pytest.mark.parametrize("name", DOES)
@pytest.mark.parametrize("checker", ["node", "a shell"])
async def test_nothing_else_is_kept_from_a_program(source: Source, name: str, checker: str) -> None:
    """`node`: in a sandbox that hides processes; `a shell`: in one that does not."""
    command, files = CHECKERS[checker]
    result = await scored(source, f"import os, sys\n{DOES[name]}\n{RIGHT}", command, files)
    assert (result.score, result.validity) == (1.0, Validity.VALID), result.detail


WAITS = "read -r w\npython solution.py </dev/null & pid=$!\nuntil [ -e ready ]; do :; done\n{}\necho harena-proof $w"
ENDS = {
    "a signal": "kill $pid; wait $pid; [ $? = 143 ] || exit 1",
    "a limit of time": "kill $pid; wait $pid; timeout -k 1 1 python solution.py; [ $? = 124 ] || exit 1",
}


@pytest.mark.parametrize("name", ENDS)
async def test_a_verifier_ends_what_it_has_started(source: Source, name: str) -> None:
    waits = "import time\nopen('ready', 'w').close()\ntime.sleep(60)\n"
    result = await scored(source, waits, WAITS.format(ENDS[name]), {})
    assert (result.score, result.validity) == (1.0, Validity.VALID), result.detail
