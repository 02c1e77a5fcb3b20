"""Task directories of the shapes that public sets of Harbor tasks have, each with its Dockerfile.

Those that need no network are built and run by tests; `NEEDS_NETWORK` are for a machine with mirrors. The images that
they begin with (`debian:12` with Python and pytest, `gcc:12` with a compiler, `ubuntu:24.04` with a user) are made by
tests under these names.
"""

# ruff: noqa: E501 - a line of a Dockerfile or of a shell is not broken

from __future__ import annotations

import io
import tarfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

RULE = '\nif [ "$ok" = 1 ]; then echo 1; else echo 0; fi > /logs/verifier/reward.txt\n'
PNG = b"\x89PNG\r\n\x1a\n\x00\x01\xff\xfe" + bytes(range(256))
TEST_MEAN = """\
from stats import mean

def test_mean():
    assert mean([1, 2, 6]) == 3

def test_nothing():
    assert mean([]) is None
"""
STATS = "def mean(values):\n    return sum(values) / len(values) if values else None\n"
SERVER = """\
import http.server
class Answers(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"pong")
    def log_message(self, *args): pass
http.server.HTTPServer(("127.0.0.1", 8000), Answers).serve_forever()
"""
ASKS = """\
python3 /app/server.py > /logs/verifier/server.log 2>&1 &
for _ in $([ -e /app/server.py ] && seq 200); do
    python3 -c 'import urllib.request as u; print(u.urlopen("http://127.0.0.1:8000/").read().decode())' > /tmp/told 2>/dev/null && break
    sleep 0.05
done
[ "$(cat /tmp/told)" = pong ] && ok=1
"""


def tar_of(**files: str) -> bytes:
    """An archive of these files."""
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w:gz") as archive:
        for name, text in files.items():
            about = tarfile.TarInfo(name)
            about.size = len(text)
            archive.addfile(about, io.BytesIO(text.encode()))
    return made.getvalue()


@dataclass(frozen=True, kw_only=True)
class HarborTask:
    """What a task directory is made of."""

    dockerfile: str
    verifier: str
    """test.sh"""
    solution: str
    """solve.sh"""
    toml: str = ""
    files: Mapping[str, str | bytes] = field(default_factory=dict)
    links: Mapping[str, str] = field(default_factory=dict)
    """path -> where it leads"""
    needs_users: bool = False
    """a sandbox must have several users"""

    def written(self, folder: Path) -> Path:
        """The directory."""
        files: dict[str, str | bytes] = {
            "instruction.md": "Do it.\n",
            "task.toml": f'version = "1.0"\n{self.toml}\n',
            "environment/Dockerfile": self.dockerfile,
            "tests/test.sh": self.verifier,
            "solution/solve.sh": self.solution,
            **self.files,
        }
        for path, content in files.items():
            if content:
                (folder / path).parent.mkdir(parents=True, exist_ok=True)
                (folder / path).write_bytes(content.encode() if isinstance(content, str) else content)
        for path, target in self.links.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).symlink_to(target)
        return folder


def checks(condition: str) -> str:
    """A verifier that pays where a shell's condition holds."""
    return f"{condition} && ok=1{RULE}"


TASKS: Mapping[str, HarborTask] = {
    "here-documents of RUN": HarborTask(
        dockerfile="FROM debian:12\nRUN <<EOF\nset -e\nmkdir -p /opt/made\necho 41 > /opt/made/start\nEOF\nWORKDIR /app\n",
        verifier=checks('[ "$(cat /app/answer)" = 42 ]'),
        solution="echo $(($(cat /opt/made/start) + 1)) > answer\n",
    ),
    "here-documents of COPY, with variables": HarborTask(
        dockerfile='FROM debian:12\nENV WHO=world\nCOPY <<greeting.txt <<"raw.txt" /app/\nhello $WHO\ngreeting.txt\n$WHO\nraw.txt\n',
        verifier=checks('[ "$(cat /app/both)" = "$(printf \'hello world\\n$WHO\')" ]'),
        solution="cd /app && cat greeting.txt raw.txt > both\n",
    ),
    "two stages, the first compiles": HarborTask(
        dockerfile=(
            "FROM gcc:12 AS build\nWORKDIR /src\nCOPY tool.c .\nRUN gcc -O1 -o /out/tool tool.c || "
            "(mkdir -p /out && gcc -O1 -o /out/tool tool.c)\n"
            "FROM debian:12\nCOPY --from=build /out/tool /usr/local/bin/tool\nWORKDIR /work\n"
        ),
        verifier=checks('[ "$(cat /work/out.txt)" = "7 squared is 49" ]'),
        solution="tool 7 > out.txt\n",
        files={
            "environment/tool.c": "#include <stdio.h>\n#include <stdlib.h>\nint main(int n, char **v) {"
            ' int x = atoi(v[1]); printf("%d squared is %d\\n", x, x * x); return 0; }\n'
        },
    ),
    "a stage that is not needed begins with an image that is nowhere": HarborTask(
        dockerfile="FROM nowhere.invalid/base:1 AS unused\nRUN false\nFROM debian:12 AS used\nRUN echo 1 > /etc/made\n",
        verifier=checks("[ -s /app/done ] && [ -s /etc/made ]"),
        solution="cp /etc/made /app/done\n",
    ),
    "arguments before and behind FROM": HarborTask(
        dockerfile="ARG TAG=12\nFROM debian:${TAG}\nARG NAME=data\nWORKDIR /srv/${NAME}\nRUN echo ${NAME} > name\n",
        verifier=checks('[ "$(cat /srv/data/copy)" = data ]'),
        solution="cat name > copy\n",
    ),
    "variables of the base image": HarborTask(
        dockerfile='FROM ubuntu:24.04\nENV COPY="$SITE/sub" PATH="/opt/own/bin:$PATH"\nCOPY --chmod=755 greet /opt/own/bin/\n',
        verifier=checks('[ "$(cat /app/x)" = "hello /srv/site/sub" ]'),
        solution='greet "$COPY" > /app/x\n',
        files={"environment/greet": '#!/bin/sh\necho "hello $1"\n'},
    ),
    "WORKDIR that begins at the one before": HarborTask(
        dockerfile="FROM debian:12\nWORKDIR /srv\nWORKDIR site\nWORKDIR pages\nCOPY index.txt .\n",
        verifier=checks('[ "$(cat /srv/site/pages/index.txt)" = new ]'),
        solution='[ "$PWD" = /srv/site/pages ] && echo new > index.txt\n',
        files={"environment/index.txt": "old\n"},
    ),
    "an entry point and a command": HarborTask(
        dockerfile='FROM debian:12\nWORKDIR /app\nENTRYPOINT ["/bin/false"]\nCMD ["sleep", "infinity"]\n',
        verifier=checks("[ -e /app/ran ]"),
        solution="touch ran\n",
    ),
    "a health check, ports, volumes, labels, a stop signal": HarborTask(
        dockerfile=(
            "FROM debian:12\nLABEL org.example.task=x\nEXPOSE 80 443/tcp\nVOLUME /data/in\nSTOPSIGNAL SIGINT\n"
            "HEALTHCHECK --interval=1s CMD test -e /app || exit 1\nWORKDIR /app\n"
        ),
        verifier=checks("[ -e /data/in/ran ]"),
        solution="mkdir -p /data/in && touch /data/in/ran\n",
    ),
    "a service that the verifier starts": HarborTask(
        dockerfile="FROM debian:12\nWORKDIR /app\nEXPOSE 8000\n",
        verifier=f"{ASKS}{RULE}",
        solution=f"cat > server.py <<'END'\n{SERVER}END\n",
    ),
    "a service that the candidate starts and asks": HarborTask(
        dockerfile="FROM debian:12\nWORKDIR /app\nCOPY server.py .\n",
        verifier=checks('[ "$(cat /app/told)" = pong ]'),
        solution=ASKS.replace("/logs/verifier", "/tmp") + "cp /tmp/told /app/told\n",
        files={"environment/server.py": SERVER},
    ),
    "background work that has ended when the verifier looks": HarborTask(
        dockerfile="FROM debian:12\nWORKDIR /app\n",
        verifier=checks('[ "$(cat /app/count)" -ge 1 ]'),
        solution="nohup sh -c 'while :; do echo 1 >> log; sleep 0.02; done' >/dev/null 2>&1 &\n"
        "until [ -s log ]; do sleep 0.02; done; wc -l < log > count\n",
    ),
    "settings below /etc": HarborTask(
        dockerfile="FROM debian:12\nCOPY app.conf /etc/app/app.conf\n",
        verifier=checks("grep -qx 'port = 9000' /etc/app/app.conf"),
        solution="sed -i 's/8000/9000/' /etc/app/app.conf\n",
        files={"environment/app.conf": "port = 8000\n"},
    ),
    "files of a home": HarborTask(
        dockerfile="FROM debian:12\nRUN mkdir -p /home/dev/notes && echo one > /home/dev/notes/a.txt\n",
        verifier=checks('[ "$(cat /home/dev/notes/all.txt)" = "$(printf "one\\ntwo")" ] && [ ! -e /home/dev/notes/a.txt ]'),
        solution="cd /home/dev/notes && { cat a.txt; echo two; } > all.txt && rm a.txt\n",
    ),
    "work below /opt that the task declares": HarborTask(
        dockerfile="FROM debian:12\nRUN mkdir -p /opt/service && echo off > /opt/service/state\n",
        verifier=checks('[ "$(cat /opt/service/state)" = on ]'),
        solution="echo on > /opt/service/state\n",
        toml='[metadata]\nworking_places = ["/opt/service"]\n',
    ),
    "data below /var": HarborTask(
        dockerfile="FROM debian:12\nRUN mkdir -p /var/lib/shop /var/log/shop && printf 'a 1\\nb 2\\n' > /var/log/shop/sales.log\n",
        verifier=checks('[ "$(cat /var/lib/shop/total)" = 3 ]'),
        solution="awk '{s += $2} END {print s}' /var/log/shop/sales.log > /var/lib/shop/total\n",
    ),
    "a binary file of the environment": HarborTask(
        dockerfile="FROM debian:12\nWORKDIR /app\nCOPY image.png ./\n",
        verifier=checks("cmp -s /app/image.png /app/copy.png && [ $(wc -c < /app/copy.png) = 268 ]"),
        solution="cp image.png copy.png\n",
        files={"environment/image.png": PNG},
    ),
    "a binary file of the verifier's": HarborTask(
        dockerfile="FROM debian:12\nWORKDIR /app\n",
        verifier=checks("cmp -s /app/out.bin /tests/data/expected.bin"),
        solution="python3 -c \"import sys; sys.stdout.buffer.write(bytes.fromhex('89504e470d0a1a0a0001fffe') + bytes(range(256)))\""
        " > out.bin\n",
        files={"tests/data/expected.bin": PNG},
    ),
    "a binary file of the solution": HarborTask(
        dockerfile="FROM debian:12\nWORKDIR /app\n",
        verifier=checks("cmp -s /app/out.bin /tests/expected.bin"),
        solution="#!/bin/bash\nset -e\ncp /solution/parts/whole.bin out.bin\n",
        files={"tests/expected.bin": PNG, "solution/parts/whole.bin": PNG},
    ),
    "pytest of the image": HarborTask(
        dockerfile="FROM debian:12\nWORKDIR /app\nCOPY stats.py .\n",
        verifier="cd /app\nPYTHONPATH=/app python3 -m pytest -q /tests/test_mean.py -p no:cacheprovider\n[ $? = 0 ] && ok=1" + RULE,
        solution=f"cat > stats.py <<'END'\n{STATS}END\n",
        files={"environment/stats.py": "def mean(values):\n    return 0\n", "tests/test_mean.py": TEST_MEAN},
    ),
    "rewards with further numbers": HarborTask(
        dockerfile="FROM debian:12\nWORKDIR /app\n",
        verifier="python3 /tests/judge.py\n",
        solution="seq 1 5 > numbers\n",
        files={
            "tests/judge.py": "import json, pathlib\np = pathlib.Path('/app/numbers')\n"
            "n = len(p.read_text().split()) if p.exists() else 0\n"
            "json.dump({'reward': n / 5, 'lines': n, 'speed': 1.5}, open('/logs/verifier/reward.json', 'w'))\n"
        },
    ),
    "owners and modes of COPY": HarborTask(
        dockerfile="FROM ubuntu:24.04\nCOPY --chown=dev:dev --chmod=640 secret.txt /home/dev/\nCOPY --chmod=0755 run /usr/local/bin/run\n",
        verifier=checks('[ "$(cat /app/told)" = "640 1000 ran" ]'),
        solution='echo "$(stat -c "%a %u" /home/dev/secret.txt) $(run)" > /app/told\n',
        files={"environment/secret.txt": "x\n", "environment/run": "#!/bin/sh\necho ran\n"},
        needs_users=True,
    ),
    "an archive that ADD unpacks": HarborTask(
        dockerfile="FROM debian:12\nADD data.tar.gz /srv/data/\n",
        verifier=checks('[ "$(cat /app/sum)" = 30 ]'),
        solution="cat /srv/data/a /srv/data/b | awk '{s += $1} END {print s}' > /app/sum\n",
        files={"environment/data.tar.gz": tar_of(a="10\n", b="20\n")},
    ),
    "a .dockerignore": HarborTask(
        dockerfile="FROM debian:12\nWORKDIR /app\nCOPY . .\n",
        verifier=checks('[ "$(cat /app/list)" = "Dockerfile a.txt " ]'),
        solution="ls | grep -v list | tr '\\n' ' ' > list\n",
        files={"environment/.dockerignore": "*.log\nanswers\n", "environment/a.txt": "a", "environment/b.log": "b",
               "environment/answers/key": "secret"},
    ),
    "bash for all RUN lines": HarborTask(
        dockerfile='FROM debian:12\nSHELL ["/bin/bash", "-o", "pipefail", "-c"]\nRUN x=(a b c); echo "${x[2]}" | tee /srv/third\n',
        verifier=checks('[ "$(cat /app/third)" = c ]'),
        solution="cp /srv/third /app/third\n",
    ),
    "the exec form of RUN": HarborTask(
        dockerfile='FROM debian:12\nRUN ["mkdir", "-p", "/srv/two words"]\nRUN ["python3", "-c", "open(\'/srv/two words/x\', \'w\').write(\'1\')"]\n',
        verifier=checks('[ "$(cat "/app/two words/x")" = 1 ]'),
        solution='cp -r "/srv/two words" /app/\n',
    ),
    "mounts of RUN": HarborTask(
        dockerfile=(
            "FROM debian:12\nRUN --mount=type=cache,target=/root/.cache --mount=type=tmpfs,target=/scratch "
            "--mount=type=bind,source=words.txt,target=/words.txt sort /words.txt > /scratch/x && cp /scratch/x /srv/sorted\n"
        ),
        verifier=checks('[ "$(cat /app/first)" = apple ] && [ ! -e /words.txt ]'),
        solution="head -n 1 /srv/sorted > /app/first\n",
        files={"environment/words.txt": "pear\napple\n"},
    ),
    "a user of the image": HarborTask(
        dockerfile="FROM ubuntu:24.04\nUSER dev\nWORKDIR /home/dev/work\nRUN echo $(id -un) > who\n",
        verifier=checks('[ "$(cat /home/dev/work/told)" = "dev 1000 dev" ] && [ "$(id -u)" = 1000 ]'),
        solution='echo "$(cat who) $(id -u) $(stat -c %U who)" > told\n',
        needs_users=True,
    ),
    "a user made by RUN": HarborTask(
        dockerfile=(
            "FROM debian:12\nRUN echo 'agent:x:1001:1001::/home/agent:/bin/bash' >> /etc/passwd && "
            "echo 'agent:x:1001:' >> /etc/group && mkdir -p /home/agent && chown agent:agent /home/agent && chmod 700 /home/agent\n"
            "USER agent:agent\nWORKDIR /home/agent\n"
        ),
        verifier=checks('[ "$(cat ~/told)" = "/home/agent" ]'),
        solution="echo $HOME > told\n",
        needs_users=True,
    ),
    "the candidate has a user of its own, the verifier is root": HarborTask(
        dockerfile="FROM ubuntu:24.04\nRUN mkdir /app && chown dev /app && echo x > /root/closed && chmod 600 /root/closed\nWORKDIR /app\n",
        verifier=checks('[ "$(id -u)" = 0 ] && [ "$(cat /app/told)" = "1000 closed" ] && [ "$(stat -c %u /app/told)" = 1000 ]'),
        solution='echo "$(id -u) $(cat /root/closed 2>/dev/null || echo closed)" > told\n',
        toml='[agent]\nuser = "dev"\n',
        needs_users=True,
    ),
    "the verifier has a user of its own": HarborTask(
        dockerfile="FROM ubuntu:24.04\nWORKDIR /app\n",
        verifier=checks('[ "$(id -un)" = dev ] && [ "$(cat /app/told)" = 0 ]'),
        solution="id -u > told\n",
        toml="[verifier]\nuser = 1000\n",
        needs_users=True,
    ),
    "a user other than the image's is root": HarborTask(
        dockerfile="FROM ubuntu:24.04\nUSER dev\nWORKDIR /home/dev\n",
        verifier=checks('[ "$(cat /srv/told)" = 0 ] && [ "$(id -u)" = 0 ]'),
        solution="id -u > /srv/told\n",
        toml='[agent]\nuser = "root"\n[verifier]\nuser = "root"\n',
        needs_users=True,
    ),
    "links and names of all kinds": HarborTask(
        dockerfile="FROM debian:12\nWORKDIR /app\nCOPY tree ./tree\n",
        verifier=checks('[ "$(cat "/app/tree/b c/ü.txt")" = 2 ] && [ -L /app/tree/link ] && [ "$(cat /app/tree/link)" = 2 ]'),
        solution='echo 2 > "tree/b c/ü.txt"\n',
        files={"environment/tree/b c/ü.txt": "1\n"},
        links={"environment/tree/link": "b c/ü.txt"},
    ),
    "C that the verifier compiles": HarborTask(
        dockerfile="FROM gcc:12\nWORKDIR /app\nCOPY main.c .\n",
        verifier=checks('gcc -Wall -o /tmp/made /app/main.c && [ "$(/tmp/made)" = 120 ]'),
        solution="sed -i 's/return 1;/return n < 2 ? 1 : n * f(n - 1);/' main.c\n",
        files={
            "environment/main.c": "#include <stdio.h>\nint f(int n) { return 1; }\n"
            'int main(void) { printf("%d\\n", f(5)); return 0; }\n'
        },
    ),
    "a program that RUN has built, and the candidate builds anew": HarborTask(
        dockerfile="FROM gcc:12\nWORKDIR /app\nCOPY Makefile main.c ./\nRUN make\n",
        verifier=checks('[ "$(/app/main)" = fixed ]'),
        solution="sed -i s/broken/fixed/ main.c && touch -d '+10 seconds' main.c && make\n",
        files={
            "environment/Makefile": "main: main.c\n\tgcc -o $@ $<\n",
            "environment/main.c": '#include <stdio.h>\nint main(void) { puts("broken"); return 0; }\n',
        },
    ),
    "a virtual environment in the working directory": HarborTask(
        dockerfile="FROM debian:12\nWORKDIR /app\nRUN python3 -m venv --without-pip --system-site-packages .venv\nENV PATH=/app/.venv/bin:$PATH\n",
        verifier=checks('[ "$(python /tests/ask.py)" = "/app/.venv 9" ]'),
        solution="echo 'nine = 9' > lib.py\n",
        files={"tests/ask.py": "import runpy, sys\nprint(sys.prefix, runpy.run_path('/app/lib.py')['nine'])\n"},
    ),
    "a data base": HarborTask(
        dockerfile="FROM debian:12\nWORKDIR /data\nCOPY make.py /tmp/make.py\nRUN python3 /tmp/make.py && rm /tmp/make.py\n",
        verifier=checks("python3 /tests/judge.py"),
        solution="python3 -c \"import sqlite3; c = sqlite3.connect('shop.db'); c.execute('delete from t where x < 0'); c.commit()\"\n",
        files={
            "environment/make.py": "import sqlite3\nc = sqlite3.connect('shop.db')\nc.execute('create table t(x)')\n"
            "c.executemany('insert into t values(?)', [(-1,), (2,), (3,)])\nc.commit()\n",
            "tests/judge.py": "import sqlite3, sys\n"
            "rows = sqlite3.connect('/data/shop.db').execute('select x from t order by x').fetchall()\n"
            "sys.exit(rows != [(2,), (3,)])\n",
        },
    ),
    "modes that the candidate sets": HarborTask(
        dockerfile="FROM debian:12\nWORKDIR /srv/share\nRUN touch a b\n",
        verifier=checks('[ "$(stat -c %a /srv/share /srv/share/a | tr "\\n" " ")" = "2775 600 " ]'),
        solution="chmod 2775 . && chmod 600 a\n",
    ),
    "a script whose lines end as on Windows": HarborTask(
        dockerfile="FROM debian:12\r\nWORKDIR /app\r\nRUN echo ready > state\r\n",
        verifier=checks('[ "$(cat /app/state)" = "done" ]').replace("\n", "\r\n"),
        solution="#!/bin/bash\r\nif [ -e state ]; then\r\n  echo done > state\r\nfi\r\n",
    ),
    "an image that is there already": HarborTask(
        dockerfile="",
        verifier=checks('[ "$(cat /srv/site/x)" = "/srv/site" ]'),
        solution='mkdir -p "$SITE" && echo $SITE > $SITE/x\n',
        toml='[environment]\ndocker_image = "ubuntu:24.04"\n',
    ),
    "limits, times and variables of task.toml": HarborTask(
        dockerfile="FROM debian:12\nWORKDIR /app\nENV BOTH=image\n",
        verifier=checks('[ "$(cat /app/told)" = "task agent" ] && [ "$WORD" = verifier ]'),
        solution='echo "$BOTH $ROLE" > told\n',
        toml=(
            "[agent]\ntimeout_sec = 60.0\n[verifier]\ntimeout_sec = 60.0\nenv = { WORD = '${NOT_HERE:-verifier}' }\n"
            "[solution]\nenv = { ROLE = 'agent' }\n[environment]\nbuild_timeout_sec = 300.0\ncpus = 1\nmemory_mb = 512\n"
            "storage_mb = 1024\nallow_internet = false\nenv = { BOTH = 'task' }\n"
        ),
    ),
    "a large file that the candidate makes": HarborTask(
        dockerfile="FROM debian:12\nWORKDIR /app\nRUN head -c 4000000 /dev/zero > zeros\n",
        verifier=checks("[ $(wc -c < /app/twice) = 8000000 ]"),
        solution="cat zeros zeros > twice\n",
    ),
    "a working directory that is another one in task.toml": HarborTask(
        dockerfile="FROM debian:12\nWORKDIR /app\nRUN mkdir /srv/other\n",
        verifier=checks('[ "$(pwd)" = /srv/other ] && [ -e /srv/other/x ]'),
        solution="touch x\n",
        toml='[environment]\nworkdir = "/srv/other"\n',
    ),
    "a platform that is the machine's own": HarborTask(
        dockerfile="FROM --platform=$BUILDPLATFORM debian:12\nARG TARGETARCH\nRUN echo ${TARGETARCH} > /srv/arch\n",
        verifier=checks("[ -s /app/arch ] && cmp -s /app/arch /srv/arch"),
        solution="cp /srv/arch /app/arch\n",
    ),
    "comments and continued lines": HarborTask(
        dockerfile="# syntax=docker/dockerfile:1\nFROM debian:12\nRUN mkdir -p /srv/a && \\\n    # a comment\n\n    touch /srv/a/x && \\\n    touch /srv/a/y\n",
        verifier=checks('[ "$(cat /app/n)" = 2 ]'),
        solution="ls /srv/a | wc -l > /app/n\n",
    ),
    "docker-compose with one service": HarborTask(
        dockerfile="FROM debian:12\nARG WORD=none\nENV WORD=$WORD\nWORKDIR /app\n",
        verifier=checks('[ "$(cat /app/told)" = "built run" ]'),
        solution='echo "$WORD $MODE" > told\n',
        files={
            "environment/docker-compose.yaml": "services:\n  main:\n    build:\n      context: .\n      args:\n        WORD: built\n"
            '    environment:\n      - MODE=run\n    command: ["sleep", "infinity"]\n'
        },
    ),
}  # fmt: skip
