# ruff: noqa: E501 (programs are text, not code of ours)
"""Task directories in the shapes that people write, each with a right solution and two wrong ones.

They need nothing but the default image with pytest, and no network.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

_FROM = "FROM python:3.11-slim\nWORKDIR /app\n"
_EXIT = (
    "\nif [ $? -eq 0 ]; then\n  echo 1 > /logs/verifier/reward.txt\nelse\n  echo 0 > /logs/verifier/reward.txt\nfi\n"
)
"""the end of Harbor's own template"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """What a task directory is made of, and who tries it."""

    verifier: str
    """test.sh"""
    right: str
    """solve.sh"""
    wrong: tuple[str, str]
    lines: str = ""
    """of the Dockerfile, behind FROM and WORKDIR"""
    files: Mapping[str, str | bytes]
    """of the environment and the tests"""
    keeps_processes: bool = False

    def directory(self) -> dict[str, bytes]:
        """Its files."""
        toml = "[metadata]\nkeep_processes = true\n" if self.keeps_processes else ""
        files: dict[str, str | bytes] = {
            "instruction.md": "Do it.\n",
            "task.toml": f'version = "1.0"\n{toml}',
            "environment/Dockerfile": f"{_FROM}{self.lines}",
            "tests/test.sh": f"#!/bin/bash\n{self.verifier}",
            "solution/solve.sh": f"#!/bin/bash\n{self.right}",
            **self.files,
        }
        return {path: text if isinstance(text, bytes) else text.encode() for path, text in files.items()}


SHAPES: Mapping[str, Shape] = {
    "pytest plain": Shape(
        files={
            "tests/test_outputs.py": "from pathlib import Path\n\ndef test_file_exists():\n    assert Path('/app/hello.txt').exists()\n\ndef test_content():\n    assert Path('/app/hello.txt').read_text().strip() == 'Hello, world!'\n"
        },
        verifier="pip install pytest 2>/dev/null\npython3 -m pytest /tests/test_outputs.py -rA" + _EXIT,
        right="echo 'Hello, world!' > hello.txt\n",
        wrong=("echo Hello > hello.txt\n", "mkdir hello.txt\n"),
    ),
    "uv with fallback": Shape(
        files={
            "tests/test_outputs.py": "import json\ndef test_it():\n    with open('/app/report.json') as f:\n        d = json.load(f)\n    assert d['count'] == 3\n    assert sorted(d['names']) == ['a', 'b', 'c']\n"
        },
        verifier="if ! command -v uvx >/dev/null; then\n  curl -LsSf https://astral.sh/uv/0.9.7/install.sh | sh\n  source $HOME/.local/bin/env\nfi\nuvx -p 3.13 -w pytest==8.4.1 pytest /tests/test_outputs.py -rA || python3 -m pytest /tests/test_outputs.py -rA"
        + _EXIT,
        right="python3 -c \"import json; json.dump({'count':3,'names':['c','a','b']}, open('report.json','w'))\"\n",
        wrong=('echo \'{"count": 2, "names": []}\' > report.json\n', "echo 'nope' > report.json\n"),
    ),
    "set -e check": Shape(
        files={},
        verifier="set -e\ncd /app\ntest -f out.csv\n[ \"$(wc -l < out.csv)\" -eq 4 ]\nhead -1 out.csv | grep -qx 'name,total'\ngrep -qx 'bob,7' out.csv\necho 1 > /logs/verifier/reward.txt\n",
        right="printf 'name,total\\nann,3\\nbob,7\\ncyd,1\\n' > out.csv\n",
        wrong=("printf 'name,total\\nann,3\\nbob,8\\ncyd,1\\n' > out.csv\n", "touch out.csv\n"),
    ),
    "if check only": Shape(
        files={
            "tests/check.py": "import sys\nfrom decimal import Decimal\nv = Decimal(open('/app/answer.txt').read().strip())\nsys.exit(0 if v == Decimal('12.50') else 1)\n"
        },
        verifier="if python3 /tests/check.py; then\n  mkdir -p /logs/verifier\n  echo 1 > /logs/verifier/reward.txt\nfi\n",
        right="echo 12.5 > answer.txt\n",
        wrong=("echo 12.49 > answer.txt\n", "echo twelve > answer.txt\n"),
    ),
    "reward json": Shape(
        files={
            "tests/grade.py": "import json, pathlib\nchecks = {}\np = pathlib.Path('/app/config.ini')\nimport configparser\nc = configparser.ConfigParser()\ntry:\n    c.read(p)\n    checks['port'] = c.getint('server', 'port') == 8080\n    checks['debug'] = not c.getboolean('server', 'debug')\nexcept Exception as e:\n    print('error', e)\nr = 1.0 if checks and all(checks.values()) else 0.0\npathlib.Path('/logs/verifier/reward.json').write_text(json.dumps({'reward': r, **{k: float(v) for k, v in checks.items()}}))\n"
        },
        verifier="python3 /tests/grade.py\n",
        right="printf '[server]\\nport = 8080\\ndebug = false\\n' > config.ini\n",
        wrong=("printf '[server]\\nport = 8081\\ndebug = false\\n' > config.ini\n", "echo garbage > config.ini\n"),
    ),
    "partial reward": Shape(
        files={
            "tests/grade.py": "n = 0\nfor i, want in enumerate(['1', '4', '9', '16']):\n    try:\n        n += open(f'/app/out/{i}.txt').read().strip() == want\n    except OSError:\n        pass\nprint(n / 4)\n"
        },
        verifier="python3 /tests/grade.py > /logs/verifier/reward.txt\n",
        right="mkdir out; for i in 0 1 2 3; do echo $(( (i+1)*(i+1) )) > out/$i.txt; done\n",
        wrong=("mkdir out; for i in 0 1 2 3; do echo 7 > out/$i.txt; done\n", "echo 1 > out\n"),
    ),
    "where it is": Shape(
        files={},
        verifier='[ "$(pwd)" = /app ] && [ "$(cat here)" = "$PWD/app" ] && mkdir -p sub && cd sub && [ "$(pwd)" = /app/sub ]'
        + _EXIT,
        right="echo $(pwd)/app > here\n",
        wrong=("echo app > here\n", "pwd > here\n"),
    ),
    "bc reward": Shape(
        files={},
        verifier="total=0; ok=0\ncheck() { total=$((total+1)); if eval \"$1\"; then ok=$((ok+1)); fi; }\ncheck '[ -d /app/a/b/c ]'\ncheck '[ -L /app/link ]'\ncheck '[ \"$(readlink /app/link)\" = a/b ]'\necho \"scale=2; $ok/$total\" | bc > /logs/verifier/reward.txt\n",
        right="mkdir -p a/b/c && ln -s a/b link\n",
        wrong=("true\n", "mkdir a; echo x > a/b\n"),
    ),
    "C library": Shape(
        lines="COPY . .\n",
        files={
            "environment/stack.h": "#ifndef S_H\n#define S_H\nvoid push(int); int pop(void); int size(void);\n#endif\n",
            "environment/Makefile": "CC=gcc\nCFLAGS=-Wall -O1\nlibstack.a: stack.o\n\tar rcs $@ $^\nclean:\n\trm -f *.o *.a\n",
            "tests/test.c": '#include "stack.h"\n#include <assert.h>\n#include <stdio.h>\nint main(void){ for(int i=0;i<1000;i++) push(i); assert(size()==1000); for(int i=999;i>=0;i--) assert(pop()==i); assert(size()==0); puts("ALL OK"); return 0; }\n',
        },
        verifier="cd /app\nmake clean && make || { echo 0 > /logs/verifier/reward.txt; exit 0; }\ngcc -I. -o /tmp/t /tests/test.c -L. -lstack && /tmp/t | grep -q 'ALL OK'"
        + _EXIT,
        right="cat > stack.c <<'E'\n#include \"stack.h\"\nstatic int a[4096], n;\nvoid push(int x){a[n++]=x;}\nint pop(void){return a[--n];}\nint size(void){return n;}\nE\n",
        wrong=(
            "cat > stack.c <<'E'\n#include \"stack.h\"\nstatic int n;\nvoid push(int x){n++;}\nint pop(void){return --n;}\nint size(void){return 0;}\nE\n",
            "echo 'int x' > stack.c\n",
        ),
    ),
    "C program run": Shape(
        lines="COPY data.txt .\n",
        files={
            "environment/data.txt": "3\n1 2 3\n",
            "tests/test_outputs.py": "import subprocess\n\ndef run(data):\n    return subprocess.run(['/app/sum'], input=data, capture_output=True, text=True, timeout=5)\n\ndef test_binary():\n    import os\n    assert os.access('/app/sum', os.X_OK)\n\ndef test_runs():\n    assert run('3\\n1 2 3\\n').stdout.strip() == '6'\n\ndef test_empty():\n    assert run('0\\n').stdout.strip() == '0'\n",
        },
        verifier="python3 -m pytest /tests/test_outputs.py -q" + _EXIT,
        right='cat > sum.c <<\'E\'\n#include <stdio.h>\nint main(){int n,x;long s=0;scanf("%d",&n);while(n-->0){scanf("%d",&x);s+=x;}printf("%ld\\n",s);}\nE\ngcc -O2 -o sum sum.c\n',
        wrong=(
            "printf '#!/bin/sh\\necho 6\\n' > sum; chmod +x sum\n",
            "printf 'int main(){return 1;}' > s.c; gcc -o sum s.c\n",
        ),
    ),
    "git bisect fix": Shape(
        lines="RUN git init -q && git config user.email a@b.c && git config user.name A && printf 'def f(x):\\n    return x * 2\\n' > lib.py && git add . && git commit -qm first && printf 'def f(x):\\n    return x * 3\\n' > lib.py && git commit -qam second\n",
        files={},
        verifier='cd /app\ngit config --global --add safe.directory /app\ngit log --oneline | head\n[ "$(git rev-list --count HEAD)" -eq 3 ] && [ -z "$(git status --porcelain)" ] && git show HEAD --stat | grep -q lib.py && python3 -c \'import lib; assert lib.f(4) == 8\''
        + _EXIT,
        right="git revert --no-edit HEAD\n",
        wrong=("git reset -q --hard HEAD~1\n", "printf 'def f(x):\\n    return x * 2\\n' > lib.py\n"),
    ),
    "git branch merge": Shape(
        lines="RUN git init -q -b main && git config user.email a@b.c && git config user.name A && echo base > f && git add f && git commit -qm base && git checkout -qb feature && echo feature > g && git add g && git commit -qm feature && git checkout -q main && echo main >> f && git commit -qam main\n",
        files={
            "tests/test_outputs.py": "import subprocess\ndef git(*a):\n    return subprocess.run(['git', '-C', '/app', *a], capture_output=True, text=True, check=True).stdout.strip()\ndef test_merged():\n    assert git('branch', '--merged', 'main').count('feature') == 1\ndef test_parents():\n    assert len(git('rev-list', '--parents', '-n1', 'main').split()) == 3\ndef test_file():\n    assert git('show', 'main:g') == 'feature'\n"
        },
        verifier="python3 -m pytest -q /tests/test_outputs.py" + _EXIT,
        right="git merge -q --no-edit feature\n",
        wrong=("cp f g; git add g; git commit -qm g\n", "git checkout -q feature\n"),
    ),
    "sqlite query": Shape(
        lines="COPY setup.py .\nRUN python3 setup.py\n",
        files={
            "environment/setup.py": 'import sqlite3\nc = sqlite3.connect(\'/app/shop.db\')\nc.executescript(\'create table o(id integer primary key, who text, n int); insert into o(who,n) values ("a",1),("b",2),("a",5);\')\nc.commit()\n',
            "tests/test_outputs.py": "import sqlite3\ndef test_view():\n    c = sqlite3.connect('/app/shop.db')\n    assert dict(c.execute('select who, total from totals')) == {'a': 6, 'b': 2}\ndef test_index():\n    c = sqlite3.connect('/app/shop.db')\n    assert c.execute(\"select count(*) from sqlite_master where type='index' and tbl_name='o'\").fetchone()[0] == 1\n",
        },
        verifier="python3 -m pytest /tests/test_outputs.py -rA" + _EXIT,
        right="sqlite3 shop.db 'create view totals as select who, sum(n) total from o group by who; create index oi on o(who);'\n",
        wrong=(
            "sqlite3 shop.db 'create view totals as select who, max(n) total from o group by who; create index oi on o(who);'\n",
            "rm shop.db\n",
        ),
    ),
    "sqlite wal": Shape(
        lines="RUN python3 -c \"import sqlite3; c=sqlite3.connect('/app/a.db'); c.execute('pragma journal_mode=wal'); c.execute('create table t(x)'); c.executemany('insert into t values(?)', [(i,) for i in range(10)]); c.commit()\"\n",
        files={},
        verifier="cd /app\nn=$(sqlite3 a.db 'select count(*) from t where x >= 100')\n[ \"$n\" = 5 ] && sqlite3 a.db 'pragma integrity_check' | grep -qx ok"
        + _EXIT,
        right="sqlite3 a.db 'update t set x = x + 100 where x < 5'\n",
        wrong=("sqlite3 a.db 'update t set x = x + 100 where x < 4'\n", "echo x > a.db\n"),
    ),
    "service started by verifier": Shape(
        files={
            "tests/test_outputs.py": "import subprocess, time, urllib.request, json, pytest\n@pytest.fixture(scope='module')\ndef server():\n    p = subprocess.Popen(['python3', '/app/server.py'], cwd='/app')\n    for _ in range(50):\n        try:\n            urllib.request.urlopen('http://127.0.0.1:8000/')\n            break\n        except OSError:\n            time.sleep(0.1)\n    yield p\n    p.terminate()\ndef test_get(server):\n    d = json.load(urllib.request.urlopen('http://127.0.0.1:8000/x'))\n    assert d == {'path': '/x', 'ok': True}\n"
        },
        verifier="python3 -m pytest -q /tests/test_outputs.py" + _EXIT,
        right="cat > server.py <<'E'\nimport http.server, json, sys\nclass H(http.server.BaseHTTPRequestHandler):\n    def do_GET(self):\n        b = json.dumps({'path': self.path, 'ok': True}).encode()\n        self.send_response(200); self.send_header('Content-Type', 'application/json'); self.end_headers(); self.wfile.write(b)\n    def log_message(self, *a): pass\nhttp.server.HTTPServer(('127.0.0.1', 8000), H).serve_forever()\nE\n",
        wrong=(
            "cat > server.py <<'E'\nimport http.server, json, sys\nclass H(http.server.BaseHTTPRequestHandler):\n    def do_GET(self):\n        b = json.dumps({'path': self.path, 'ok': False}).encode()\n        self.send_response(200); self.send_header('Content-Type', 'application/json'); self.end_headers(); self.wfile.write(b)\n    def log_message(self, *a): pass\nhttp.server.HTTPServer(('127.0.0.1', 8000), H).serve_forever()\nE\n",
            "echo 'import time; time.sleep(1)' > server.py\n",
        ),
    ),
    "service left running": Shape(
        keeps_processes=True,
        files={},
        verifier="for i in $(seq 20); do curl -sf http://127.0.0.1:8000/health > /tmp/answer && break; sleep 0.2; done\ngrep -q '\"ok\": true' /tmp/answer"
        + _EXIT,
        right="cat > server.py <<'E'\nimport http.server, json, sys\nclass H(http.server.BaseHTTPRequestHandler):\n    def do_GET(self):\n        b = json.dumps({'path': self.path, 'ok': True}).encode()\n        self.send_response(200); self.send_header('Content-Type', 'application/json'); self.end_headers(); self.wfile.write(b)\n    def log_message(self, *a): pass\nhttp.server.HTTPServer(('127.0.0.1', 8000), H).serve_forever()\nE\nnohup python3 server.py > server.log 2>&1 &\n",
        wrong=(
            "cat > server.py <<'E'\nimport http.server, json, sys\nclass H(http.server.BaseHTTPRequestHandler):\n    def do_GET(self):\n        b = json.dumps({'path': self.path, 'ok': True}).encode()\n        self.send_response(200); self.send_header('Content-Type', 'application/json'); self.end_headers(); self.wfile.write(b)\n    def log_message(self, *a): pass\nhttp.server.HTTPServer(('127.0.0.1', 8000), H).serve_forever()\nE\n",
            "nohup python3 -m http.server 8000 >/dev/null 2>&1 &\n",
        ),
    ),
    "start script": Shape(
        files={},
        verifier='cd /app\nbash start.sh > /tmp/server.log 2>&1 &\nPID=$!\nsleep 1\nRC=1\n[ "$(curl -s http://127.0.0.1:8000/abc | jq \'.path == "/abc" and .ok\')" = true ] && RC=0\nkill $PID 2>/dev/null\npkill -f server.py\n[ $RC -eq 0 ]'
        + _EXIT,
        right="cat > server.py <<'E'\nimport http.server, json, sys\nclass H(http.server.BaseHTTPRequestHandler):\n    def do_GET(self):\n        b = json.dumps({'path': self.path, 'ok': True}).encode()\n        self.send_response(200); self.send_header('Content-Type', 'application/json'); self.end_headers(); self.wfile.write(b)\n    def log_message(self, *a): pass\nhttp.server.HTTPServer(('127.0.0.1', 8000), H).serve_forever()\nE\necho 'exec python3 server.py' > start.sh\n",
        wrong=("echo 'exec python3 -m http.server 8000' > start.sh\n", "echo 'exit 3' > start.sh\n"),
    ),
    "modes": Shape(
        lines="RUN mkdir -p secret && echo key > secret/id && chmod 644 secret/id && chmod 755 secret\n",
        files={
            "tests/test_outputs.py": "import os, stat\ndef mode(p): return stat.S_IMODE(os.stat(p).st_mode)\ndef test_modes():\n    assert mode('/app/secret') == 0o700\n    assert mode('/app/secret/id') == 0o600\n    assert mode('/app/run.sh') == 0o755\ndef test_runs():\n    import subprocess\n    assert subprocess.check_output(['/app/run.sh'], text=True) == 'key\\n'\n"
        },
        verifier="python3 -m pytest -q /tests" + _EXIT,
        right="chmod 700 secret; chmod 600 secret/id; printf '#!/bin/bash\\ncat /app/secret/id\\n' > run.sh; chmod 755 run.sh\n",
        wrong=(
            "chmod 700 secret; chmod 644 secret/id; printf '#!/bin/bash\\ncat /app/secret/id\\n' > run.sh; chmod 755 run.sh\n",
            "chmod 000 secret\n",
        ),
    ),
    "permission script": Shape(
        files={},
        verifier='cd /app\n[ "$(stat -c \'%a\' deploy.sh)" = "750" ] && [ -x deploy.sh ] && ./deploy.sh | grep -q deployed'
        + _EXIT,
        right="printf '#!/bin/sh\\necho deployed\\n' > deploy.sh; chmod 750 deploy.sh\n",
        wrong=(
            "printf '#!/bin/sh\\necho deployed\\n' > deploy.sh; chmod 755 deploy.sh\n",
            "printf '#!/bin/sh\\necho no\\n' > deploy.sh; chmod 750 deploy.sh\n",
        ),
    ),
    "log parse": Shape(
        lines="COPY access.log .\n",
        files={
            "environment/access.log": '10.0.0.0 - - [01/Jan/2025] "GET /p0 HTTP/1.1" 500 0\n10.0.0.1 - - [01/Jan/2025] "GET /p1 HTTP/1.1" 200 1\n10.0.0.2 - - [01/Jan/2025] "GET /p2 HTTP/1.1" 200 2\n10.0.0.3 - - [01/Jan/2025] "GET /p0 HTTP/1.1" 200 3\n10.0.0.4 - - [01/Jan/2025] "GET /p1 HTTP/1.1" 500 4\n10.0.0.0 - - [01/Jan/2025] "GET /p2 HTTP/1.1" 200 5\n10.0.0.1 - - [01/Jan/2025] "GET /p0 HTTP/1.1" 200 6\n10.0.0.2 - - [01/Jan/2025] "GET /p1 HTTP/1.1" 200 7\n10.0.0.3 - - [01/Jan/2025] "GET /p2 HTTP/1.1" 500 8\n10.0.0.4 - - [01/Jan/2025] "GET /p0 HTTP/1.1" 200 9\n10.0.0.0 - - [01/Jan/2025] "GET /p1 HTTP/1.1" 200 10\n10.0.0.1 - - [01/Jan/2025] "GET /p2 HTTP/1.1" 200 11\n10.0.0.2 - - [01/Jan/2025] "GET /p0 HTTP/1.1" 500 12\n10.0.0.3 - - [01/Jan/2025] "GET /p1 HTTP/1.1" 200 13\n10.0.0.4 - - [01/Jan/2025] "GET /p2 HTTP/1.1" 200 14\n10.0.0.0 - - [01/Jan/2025] "GET /p0 HTTP/1.1" 200 15\n10.0.0.1 - - [01/Jan/2025] "GET /p1 HTTP/1.1" 500 16\n10.0.0.2 - - [01/Jan/2025] "GET /p2 HTTP/1.1" 200 17\n10.0.0.3 - - [01/Jan/2025] "GET /p0 HTTP/1.1" 200 18\n10.0.0.4 - - [01/Jan/2025] "GET /p1 HTTP/1.1" 200 19\n10.0.0.0 - - [01/Jan/2025] "GET /p2 HTTP/1.1" 500 20\n10.0.0.1 - - [01/Jan/2025] "GET /p0 HTTP/1.1" 200 21\n10.0.0.2 - - [01/Jan/2025] "GET /p1 HTTP/1.1" 200 22\n10.0.0.3 - - [01/Jan/2025] "GET /p2 HTTP/1.1" 200 23\n10.0.0.4 - - [01/Jan/2025] "GET /p0 HTTP/1.1" 500 24\n10.0.0.0 - - [01/Jan/2025] "GET /p1 HTTP/1.1" 200 25\n10.0.0.1 - - [01/Jan/2025] "GET /p2 HTTP/1.1" 200 26\n10.0.0.2 - - [01/Jan/2025] "GET /p0 HTTP/1.1" 200 27\n10.0.0.3 - - [01/Jan/2025] "GET /p1 HTTP/1.1" 500 28\n10.0.0.4 - - [01/Jan/2025] "GET /p2 HTTP/1.1" 200 29\n10.0.0.0 - - [01/Jan/2025] "GET /p0 HTTP/1.1" 200 30\n10.0.0.1 - - [01/Jan/2025] "GET /p1 HTTP/1.1" 200 31\n10.0.0.2 - - [01/Jan/2025] "GET /p2 HTTP/1.1" 500 32\n10.0.0.3 - - [01/Jan/2025] "GET /p0 HTTP/1.1" 200 33\n10.0.0.4 - - [01/Jan/2025] "GET /p1 HTTP/1.1" 200 34\n10.0.0.0 - - [01/Jan/2025] "GET /p2 HTTP/1.1" 200 35\n10.0.0.1 - - [01/Jan/2025] "GET /p0 HTTP/1.1" 500 36\n10.0.0.2 - - [01/Jan/2025] "GET /p1 HTTP/1.1" 200 37\n10.0.0.3 - - [01/Jan/2025] "GET /p2 HTTP/1.1" 200 38\n10.0.0.4 - - [01/Jan/2025] "GET /p0 HTTP/1.1" 200 39\n10.0.0.0 - - [01/Jan/2025] "GET /p1 HTTP/1.1" 500 40\n10.0.0.1 - - [01/Jan/2025] "GET /p2 HTTP/1.1" 200 41\n10.0.0.2 - - [01/Jan/2025] "GET /p0 HTTP/1.1" 200 42\n10.0.0.3 - - [01/Jan/2025] "GET /p1 HTTP/1.1" 200 43\n10.0.0.4 - - [01/Jan/2025] "GET /p2 HTTP/1.1" 500 44\n10.0.0.0 - - [01/Jan/2025] "GET /p0 HTTP/1.1" 200 45\n10.0.0.1 - - [01/Jan/2025] "GET /p1 HTTP/1.1" 200 46\n10.0.0.2 - - [01/Jan/2025] "GET /p2 HTTP/1.1" 200 47\n10.0.0.3 - - [01/Jan/2025] "GET /p0 HTTP/1.1" 500 48\n10.0.0.4 - - [01/Jan/2025] "GET /p1 HTTP/1.1" 200 49\n10.0.0.0 - - [01/Jan/2025] "GET /p2 HTTP/1.1" 200 50\n10.0.0.1 - - [01/Jan/2025] "GET /p0 HTTP/1.1" 200 51\n10.0.0.2 - - [01/Jan/2025] "GET /p1 HTTP/1.1" 500 52\n10.0.0.3 - - [01/Jan/2025] "GET /p2 HTTP/1.1" 200 53\n10.0.0.4 - - [01/Jan/2025] "GET /p0 HTTP/1.1" 200 54\n10.0.0.0 - - [01/Jan/2025] "GET /p1 HTTP/1.1" 200 55\n10.0.0.1 - - [01/Jan/2025] "GET /p2 HTTP/1.1" 500 56\n10.0.0.2 - - [01/Jan/2025] "GET /p0 HTTP/1.1" 200 57\n10.0.0.3 - - [01/Jan/2025] "GET /p1 HTTP/1.1" 200 58\n10.0.0.4 - - [01/Jan/2025] "GET /p2 HTTP/1.1" 200 59\n10.0.0.0 - - [01/Jan/2025] "GET /p0 HTTP/1.1" 500 60\n10.0.0.1 - - [01/Jan/2025] "GET /p1 HTTP/1.1" 200 61\n10.0.0.2 - - [01/Jan/2025] "GET /p2 HTTP/1.1" 200 62\n10.0.0.3 - - [01/Jan/2025] "GET /p0 HTTP/1.1" 200 63\n10.0.0.4 - - [01/Jan/2025] "GET /p1 HTTP/1.1" 500 64\n10.0.0.0 - - [01/Jan/2025] "GET /p2 HTTP/1.1" 200 65\n10.0.0.1 - - [01/Jan/2025] "GET /p0 HTTP/1.1" 200 66\n10.0.0.2 - - [01/Jan/2025] "GET /p1 HTTP/1.1" 200 67\n10.0.0.3 - - [01/Jan/2025] "GET /p2 HTTP/1.1" 500 68\n10.0.0.4 - - [01/Jan/2025] "GET /p0 HTTP/1.1" 200 69\n10.0.0.0 - - [01/Jan/2025] "GET /p1 HTTP/1.1" 200 70\n10.0.0.1 - - [01/Jan/2025] "GET /p2 HTTP/1.1" 200 71\n10.0.0.2 - - [01/Jan/2025] "GET /p0 HTTP/1.1" 500 72\n10.0.0.3 - - [01/Jan/2025] "GET /p1 HTTP/1.1" 200 73\n10.0.0.4 - - [01/Jan/2025] "GET /p2 HTTP/1.1" 200 74\n10.0.0.0 - - [01/Jan/2025] "GET /p0 HTTP/1.1" 200 75\n10.0.0.1 - - [01/Jan/2025] "GET /p1 HTTP/1.1" 500 76\n10.0.0.2 - - [01/Jan/2025] "GET /p2 HTTP/1.1" 200 77\n10.0.0.3 - - [01/Jan/2025] "GET /p0 HTTP/1.1" 200 78\n10.0.0.4 - - [01/Jan/2025] "GET /p1 HTTP/1.1" 200 79\n10.0.0.0 - - [01/Jan/2025] "GET /p2 HTTP/1.1" 500 80\n10.0.0.1 - - [01/Jan/2025] "GET /p0 HTTP/1.1" 200 81\n10.0.0.2 - - [01/Jan/2025] "GET /p1 HTTP/1.1" 200 82\n10.0.0.3 - - [01/Jan/2025] "GET /p2 HTTP/1.1" 200 83\n10.0.0.4 - - [01/Jan/2025] "GET /p0 HTTP/1.1" 500 84\n10.0.0.0 - - [01/Jan/2025] "GET /p1 HTTP/1.1" 200 85\n10.0.0.1 - - [01/Jan/2025] "GET /p2 HTTP/1.1" 200 86\n10.0.0.2 - - [01/Jan/2025] "GET /p0 HTTP/1.1" 200 87\n10.0.0.3 - - [01/Jan/2025] "GET /p1 HTTP/1.1" 500 88\n10.0.0.4 - - [01/Jan/2025] "GET /p2 HTTP/1.1" 200 89\n10.0.0.0 - - [01/Jan/2025] "GET /p0 HTTP/1.1" 200 90\n10.0.0.1 - - [01/Jan/2025] "GET /p1 HTTP/1.1" 200 91\n10.0.0.2 - - [01/Jan/2025] "GET /p2 HTTP/1.1" 500 92\n10.0.0.3 - - [01/Jan/2025] "GET /p0 HTTP/1.1" 200 93\n10.0.0.4 - - [01/Jan/2025] "GET /p1 HTTP/1.1" 200 94\n10.0.0.0 - - [01/Jan/2025] "GET /p2 HTTP/1.1" 200 95\n10.0.0.1 - - [01/Jan/2025] "GET /p0 HTTP/1.1" 500 96\n10.0.0.2 - - [01/Jan/2025] "GET /p1 HTTP/1.1" 200 97\n10.0.0.3 - - [01/Jan/2025] "GET /p2 HTTP/1.1" 200 98\n10.0.0.4 - - [01/Jan/2025] "GET /p0 HTTP/1.1" 200 99\n',
            "tests/expected.txt": "25\n",
        },
        verifier="diff -q /app/count.txt /tests/expected.txt" + _EXIT,
        right="grep -c '\" 500 ' access.log > count.txt\n",
        wrong=("grep -c GET access.log > count.txt\n", "ln -s /tests/expected.txt count.txt\n"),
    ),
    "archive": Shape(
        lines="RUN mkdir src && for i in 1 2 3; do echo $i > src/$i.txt; done\n",
        files={},
        verifier="mkdir -p /tmp/x && tar xzf /app/out.tar.gz -C /tmp/x && diff -r /tmp/x/src /app/src && [ $(ls /tmp/x/src | wc -l) = 3 ]"
        + _EXIT,
        right="tar czf out.tar.gz src\n",
        wrong=("tar czf out.tar.gz src/1.txt\n", "echo x > out.tar.gz\n"),
    ),
    "unittest repo": Shape(
        lines="COPY . .\n",
        files={
            "environment/calc/__init__.py": "def add(a, b):\n    return a - b\n",
            "environment/tests/test_calc.py": "import unittest, calc\nclass T(unittest.TestCase):\n    def test_zero(self):\n        self.assertEqual(calc.add(0, 0), 0)\n",
            "tests/test_hidden.py": "import unittest, calc\nclass H(unittest.TestCase):\n    def test_add(self):\n        self.assertEqual(calc.add(2, 3), 5)\n",
        },
        verifier="cd /app\ncp /tests/test_hidden.py tests/\npython3 -m unittest discover -s tests" + _EXIT,
        right="sed -i 's/a - b/a + b/' calc/__init__.py\n",
        wrong=("sed -i 's/a - b/a * b/' calc/__init__.py\n", "rm -r calc\n"),
    ),
    "pytest repo": Shape(
        lines="COPY . .\n",
        files={
            "environment/pyproject.toml": "[project]\nname = 'tool'\nversion = '1'\n[tool.pytest.ini_options]\npythonpath = ['src']\n",
            "environment/src/tool/__init__.py": "from .core import slug\n",
            "environment/src/tool/core.py": "def slug(s):\n    return s\n",
            "environment/tests/conftest.py": "import pytest\n@pytest.fixture\ndef words():\n    return ['A b', 'C  D']\n",
            "environment/tests/test_old.py": "from tool import slug\ndef test_id(): assert slug('a') == 'a'\n",
            "tests/test_new.py": "from tool import slug\ndef test_slug(words):\n    assert [slug(w) for w in words] == ['a-b', 'c-d']\n",
        },
        verifier="cd /app && cp /tests/test_new.py tests/test_new.py && python3 -m pytest -q tests" + _EXIT,
        right='printf "def slug(s):\\n    return \'-\'.join(s.lower().split())\\n" > src/tool/core.py\nprintf \'from tool import slug\\ndef test_mine(): assert slug("X y") == "x-y"\\n\' > tests/test_mine.py\n',
        wrong=(
            "printf \"def slug(s):\\n    return s.lower().replace(' ', '-')\\n\" > src/tool/core.py\n",
            "printf 'def slug(s:\\n' > src/tool/core.py\n",
        ),
    ),
    "cli tool": Shape(
        files={
            "tests/test_outputs.py": "import subprocess\ndef run(*a):\n    return subprocess.run(['python3', 'wc.py', *a], cwd='/app', capture_output=True, text=True)\ndef test_count(tmp_path):\n    f = tmp_path / 'x'\n    f.write_text('a b\\nc\\n')\n    assert run(str(f)).stdout.split() == ['2', '3', '6']\ndef test_error():\n    r = run('/nonexistent')\n    assert r.returncode == 1 and 'wc.py' in r.stderr\n"
        },
        verifier="python3 -m pytest -q /tests/test_outputs.py -p no:cacheprovider" + _EXIT,
        right="cat > wc.py <<'E'\nimport sys\ntry:\n    s = open(sys.argv[1]).read()\nexcept OSError as e:\n    print(f'wc.py: {e}', file=sys.stderr); sys.exit(1)\nprint(s.count('\\n'), len(s.split()), len(s))\nE\n",
        wrong=("echo 'print(2, 3, 6)' > wc.py\n", "echo 'import sys; sys.exit(0)' > wc.py\n"),
    ),
    "ssl cert": Shape(
        files={},
        verifier='cd /app/ssl\nopenssl x509 -in server.crt -noout -subject | grep -q \'CN *= *dev.local\' || { echo 0 > /logs/verifier/reward.txt; exit 0; }\n[ "$(openssl x509 -in server.crt -noout -modulus)" = "$(openssl rsa -in server.key -noout -modulus)" ] && [ "$(stat -c %a server.key)" = 600 ]'
        + _EXIT,
        right="mkdir ssl && cd ssl && openssl req -x509 -newkey rsa:2048 -nodes -keyout server.key -out server.crt -days 365 -subj /CN=dev.local 2>/dev/null; chmod 600 server.key\n",
        wrong=(
            "mkdir ssl && cd ssl && openssl req -x509 -newkey rsa:2048 -nodes -keyout server.key -out server.crt -days 365 -subj /CN=dev.local 2>/dev/null; chmod 644 server.key\n",
            "mkdir ssl; touch ssl/server.crt ssl/server.key\n",
        ),
    ),
    "json transform": Shape(
        lines="COPY in.json .\n",
        files={
            "environment/in.json": '[{"n": "x", "v": 3}, {"n": "y", "v": 1}]',
            "tests/expected.json": '{"x": 3, "y": 1}',
        },
        verifier="python3 - <<'PY'\nimport json, sys\ntry:\n    got = json.load(open('/app/out.json'))\nexcept Exception as e:\n    print(e); sys.exit(1)\nsys.exit(got != json.load(open('/tests/expected.json')))\nPY"
        + _EXIT,
        right="jq 'map({(.n): .v}) | add' in.json > out.json\n",
        wrong=("jq . in.json > out.json\n", "cp in.json out.json\n"),
    ),
    "makefile work": Shape(
        lines="COPY main.c util.c ./\n",
        files={
            "environment/main.c": "int util(void); int main(void){return util()==7?0:1;}\n",
            "environment/util.c": "int util(void){return 7;}\n",
        },
        verifier="cd /app\nrm -f app *.o\nmake || { echo 0 > /logs/verifier/reward.txt; exit 0; }\n./app && touch util.c && make -n | grep -q util.c && make -q; [ -x app ] && ./app"
        + _EXIT,
        right="printf 'app: main.o util.o\\n\\tgcc -o $@ $^\\n%%.o: %%.c\\n\\tgcc -c $<\\n' > Makefile\n",
        wrong=("printf 'app:\\n\\ttouch app\\n' > Makefile\n", "printf 'all:\\n' > Makefile\n"),
    ),
    "deadline time file": Shape(
        lines="RUN touch -d '2024-01-02 03:04:05' stamp\n",
        files={},
        verifier='cd /app\n[ "$(date -r stamp +%F)" = 2024-01-02 ] && [ copy -ot stamp ] && [ "$(cat order.txt)" = \'copy stamp\' ]'
        + _EXIT,
        right="touch -d 2023-05-05 copy; echo copy stamp > order.txt\n",
        wrong=(
            "touch copy; echo copy stamp > order.txt\n",
            "touch stamp; touch -d 2023-05-05 copy; echo copy stamp > order.txt\n",
        ),
    ),
    "verifier trap": Shape(
        files={},
        verifier='set -uo pipefail\nREWARD=0\nfinish() { echo "$REWARD" > /logs/verifier/reward.txt; }\ntrap finish EXIT\ncd /app || exit 1\nout=$(python3 fib.py 10) || exit 1\n[[ "$out" == 55 ]] || exit 1\n[[ "$(python3 fib.py 1)" == 1 ]] || exit 1\nREWARD=1\n',
        right="printf 'import sys\\na, b = 0, 1\\nfor _ in range(int(sys.argv[1])): a, b = b, a + b\\nprint(a)\\n' > fib.py\n",
        wrong=("echo 'print(55)' > fib.py\n", "echo 'print(1/0)' > fib.py\n"),
    ),
    "venv": Shape(
        files={},
        verifier="cd /app\n[ -f .venv/pyvenv.cfg ] && .venv/bin/python -c 'import sys; assert sys.prefix != sys.base_prefix' && .venv/bin/python main.py | grep -qx ready"
        + _EXIT,
        right="python3 -m venv --without-pip .venv; echo 'print(\"ready\")' > main.py\n",
        wrong=(
            "mkdir -p .venv/bin; touch .venv/pyvenv.cfg; echo 'print(\"ready\")' > main.py\n",
            "python3 -m venv --without-pip .venv; echo 'print(\"red\")' > main.py\n",
        ),
    ),
    "binary fixture": Shape(
        files={
            "tests/golden.bin": bytes(range(256)),
            "tests/test_outputs.py": "from pathlib import Path\ndef test_bytes():\n    assert Path('/app/out.bin').read_bytes() == (Path(__file__).parent / 'golden.bin').read_bytes()\n",
        },
        verifier="cd /tests && python3 -m pytest -q test_outputs.py --junitxml=/logs/verifier/junit.xml" + _EXIT,
        right="python3 -c \"open('out.bin','wb').write(bytes(range(256)))\"\n",
        wrong=(
            "python3 -c \"open('out.bin','wb').write(bytes(range(255)))\"\n",
            "python3 -c \"open('out.bin','wb').write(b'')\"\n",
        ),
    ),
    "multi rewards": Shape(
        files={
            "tests/grade.py": "import json\nfrom pathlib import Path\ns = Path('/app/poem.txt').read_text() if Path('/app/poem.txt').is_file() else ''\nlines = s.strip().splitlines()\nr = {'lines': float(len(lines) == 3), 'rhyme': float(bool(lines) and all(l.endswith('e') for l in lines))}\nr['reward'] = float(all(r.values()))\nPath('/logs/verifier/reward.json').write_text(json.dumps(r, indent=1))\n"
        },
        verifier="python3 /tests/grade.py || echo '{\"reward\": 0}' > /logs/verifier/reward.json\n",
        right="printf 'see\\ntree\\nbee\\n' > poem.txt\n",
        wrong=("printf 'see\\ntree\\n' > poem.txt\n", "printf 'a\\nb\\nc\\n' > poem.txt\n"),
    ),
    "nodejs": Shape(
        files={
            "tests/t.test.js": "const assert = require('assert'); const m = require('/app/index.js');\nassert.deepStrictEqual(m.chunk([1,2,3],2), [[1,2],[3]]); assert.deepStrictEqual(m.chunk([],2), []); console.log('ok');\n"
        },
        verifier="cd /app && node /tests/t.test.js" + _EXIT,
        right="echo 'exports.chunk = (a, n) => a.length ? [a.slice(0,n), ...exports.chunk(a.slice(n), n)] : [];' > index.js\n",
        wrong=("echo 'exports.chunk = (a, n) => [a];' > index.js\n", "echo 'process.exit(0)' > other.js\n"),
    ),
}
