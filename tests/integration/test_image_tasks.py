"""Tasks of Harbor's shape in images: of each the oracle has 1, and doing nothing 0."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
import pytest_asyncio
from battery_world import Source
from image_tasks import RULE, ImageTask, attacked, image_source, judged, scenario_of

from harena.core.results import Reason, Validity
from harena.scoring.scenario import Candidate

pytestmark = pytest.mark.asyncio(loop_scope="module")

DEBIAN, PYTHON, C, SETTLED = (f"localhost/tasks/{name}:1" for name in ("debian", "python", "c", "settled"))
ADDS = "def add(a, b):\n    return a + b\n"
TEST_ADD = "from solution import add\n\ndef test_add():\n    assert add(2, 3) == 5\n"
RUN_PYTEST = """\
cd /app
PYTHONPATH=/app python3 -m pytest -q /tests/test_add.py -p no:cacheprovider
if [ $? -eq 0 ]; then echo 1; else echo 0; fi > /logs/verifier/reward.txt
"""
CTRF = """\
import json, subprocess, sys
done = subprocess.run([sys.executable, "-m", "pytest", "-q", "/tests/test_add.py"], cwd="/app")
results = {"summary": {"passed": int(done.returncode == 0)}, "tool": {"name": "pytest"}}
open("/logs/verifier/ctrf.json", "w").write(json.dumps({"results": results}))
json.dump({"reward": results["summary"]["passed"], "tests": 1}, open("/logs/verifier/reward.json", "w"))
"""
TEST_FIVE = """\
import unittest
import solution
class Five(unittest.TestCase):
    def test_five(self):
        self.assertEqual(solution.x, 5)
"""
TASKS: dict[str, ImageTask] = {
    "a file": ImageTask(
        image=DEBIAN,
        dockerfile="WORKDIR /app\n",
        verifier=f'[ "$(cat /app/answer.txt)" = 42 ] && ok=1{RULE}',
        solution="echo 42 > answer.txt\n",
    ),
    "a link to an artifact": ImageTask(
        image=DEBIAN,
        dockerfile="WORKDIR /app\n",
        verifier=f'[ -L answer.txt ] && [ "$(cat /app/answer.txt)" = 42 ] && ok=1{RULE}',
        solution="echo 42 > /logs/artifacts/a.txt; ln -s /logs/artifacts/a.txt answer.txt\n",
    ),
    "a prebuilt image": ImageTask(
        image=DEBIAN,
        verifier=f'[ "$(pwd)" = / ] && [ "$(cat /app/answer.txt)" = 42 ] && ok=1{RULE}',
        solution="pwd > /tmp/where; echo 42 > /app/answer.txt\n",
    ),
    "the image's own directory, variables and tools": ImageTask(
        image=SETTLED,
        verifier=f"check && ok=1{RULE}",
        solution='[ "$(answer)" = 42 ] && awk -F, \'{s+=$2} END {print s}\' data.csv > sum; [ "$WANTED" = 3 ]\n',
    ),
    "pytest": ImageTask(
        image=PYTHON,
        dockerfile="WORKDIR /app\n",
        verifier=RUN_PYTEST,
        solution=f"cat > solution.py <<'END'\n{ADDS}END\n",
        files={"tests/test_add.py": TEST_ADD},
    ),
    "reward.json and ctrf.json": ImageTask(
        image=PYTHON,
        dockerfile="WORKDIR /app\nENV PYTHONPATH=/app\n",
        verifier="python3 /tests/judge.py\n",
        solution=f"cat > /app/solution.py <<'END'\n{ADDS}END\n",
        files={"tests/test_add.py": TEST_ADD, "tests/judge.py": CTRF},
    ),
    "a repair": ImageTask(
        image=PYTHON,
        dockerfile="WORKDIR /app\nCOPY broken.py /app/solution.py\n",
        verifier=RUN_PYTEST,
        solution="sed -i 's/a - b/a + b/' solution.py\n",
        files={"tests/test_add.py": TEST_ADD, "environment/broken.py": ADDS.replace("+", "-")},
    ),
    "C that the verifier compiles": ImageTask(
        image=C,
        dockerfile="WORKDIR /app\n",
        verifier=f'gcc -o /tmp/made /app/main.c && [ "$(/tmp/made 4 5)" = 20 ] && ok=1{RULE}',
        solution=(
            "cat > main.c <<'END'\n#include <stdio.h>\n#include <stdlib.h>\n"
            'int main(int n, char **v) { printf("%d\\n", atoi(v[1]) * atoi(v[2])); return 0; }\nEND\n'
        ),
    ),
    "a program that the candidate compiles": ImageTask(
        image=C,
        dockerfile="WORKDIR /app\nCOPY Makefile main.c ./\n",
        verifier=f'[ -x /app/main ] && [ "$(/app/main)" = built ] && ok=1{RULE}',
        solution="make\n",
        files={
            "environment/Makefile": "CC=gcc\nmain: main.c\n\t$(CC) -o $@ $<\n",
            "environment/main.c": '#include <stdio.h>\nint main(void) { puts("built"); return 0; }\n',
        },
    ),
    "a repository's own fixtures": ImageTask(
        image=PYTHON,
        dockerfile="WORKDIR /app\nCOPY conftest.py solution.py ./\n",
        verifier=f"cd /app\ncp /tests/test_x.py /app/test_x.py\npython3 -m pytest -q test_x.py && ok=1{RULE}",
        solution="sed -i s/4/5/ solution.py\n",
        files={
            "environment/conftest.py": "import pytest\n@pytest.fixture\ndef five():\n    return 5\n",
            "environment/solution.py": "x = 4\n",
            "tests/test_x.py": "from solution import x\ndef test_x(five):\n    assert x == five\n",
        },
    ),
    "a repository's own tests and settings": ImageTask(
        image=PYTHON,
        dockerfile="WORKDIR /app\nCOPY pytest.ini solution.py ./\nCOPY check_x.py tests/check_x.py\n",
        verifier=(
            "cd /app\npython3 -m pytest -q tests /tests/test_x.py --junitxml=/tmp/told.xml && "
            f"grep -q 'tests=\"2\"' /tmp/told.xml && ok=1{RULE}"
        ),
        solution="sed -i s/4/5/ solution.py\n",
        files={
            "environment/pytest.ini": "[pytest]\npython_files = check_*.py test_*.py\n",
            "environment/solution.py": "x = 4\n",
            "environment/check_x.py": "from solution import x\ndef test_own():\n    assert x == 5\n",
            "tests/test_x.py": "from solution import x\ndef test_x():\n    assert x == 5\n",
        },
    ),
    "a repository's own unittest": ImageTask(
        image=PYTHON,
        dockerfile="WORKDIR /app\nCOPY solution.py ./\nCOPY test_own.py tests/test_own.py\n",
        verifier=(
            "cd /app\ncp /tests/test_x.py tests/\npython3 -m unittest discover -s tests -t . > /tmp/told 2>&1; "
            f"grep -q 'Ran 2' /tmp/told && grep -q OK /tmp/told && ok=1{RULE}"
        ),
        solution="sed -i s/4/5/ solution.py; touch tests/__init__.py\n",
        files={
            "environment/solution.py": "x = 4\n",
            "environment/test_own.py": TEST_FIVE,
            "tests/test_x.py": TEST_FIVE,
        },
    ),
    "what was made is newer than what it is made of": ImageTask(
        image=C,
        dockerfile="WORKDIR /app\nCOPY Makefile in.txt ./\n",
        verifier=f"cd /app\nmake -q out.txt && ok=1{RULE}",
        solution="make out.txt\n",
        files={"environment/Makefile": "out.txt: in.txt\n\tcp $< $@\n", "environment/in.txt": "1\n"},
    ),
    "files that are copied to where the image works": ImageTask(
        image=SETTLED,
        dockerfile="COPY first.txt ./\nCOPY first.txt sub/second.txt\n",
        verifier=f'[ "$(cat /srv/work/first.txt /srv/work/sub/second.txt)" = "$(printf "1\\n2")" ] && ok=1{RULE}',
        solution="echo 2 > sub/second.txt\n",
        files={"environment/first.txt": "1\n"},
    ),
    "keys in a folder that has start-up files, too": ImageTask(
        image=DEBIAN,
        dockerfile="WORKDIR /app\n",
        verifier=(
            '[ "$(stat -c %a ~/.ssh)" = 700 ] && [ "$(ls -A ~/.ssh)" = authorized_keys ] '
            f"&& [ -s ~/.ssh/authorized_keys ] && ok=1{RULE}"
        ),
        solution="mkdir -m 700 -p ~/.ssh; echo key > ~/.ssh/authorized_keys; echo Host x > ~/.ssh/config\n",
    ),
    "a file with holes, and a folder of a group": ImageTask(
        image=DEBIAN,
        dockerfile="WORKDIR /app\n",
        verifier=f'[ "$(stat -c %s disk)" = 1073741824 ] && [ "$(stat -c %a shared)" = 2775 ] && ok=1{RULE}',
        solution="truncate -s 1G disk; mkdir shared; chmod 2775 shared\n",
    ),
    "settings below /etc": ImageTask(
        image=DEBIAN,
        dockerfile="WORKDIR /app\n",
        verifier=f"grep -q '^port = 8080$' /etc/service/main.conf && [ ! -e /etc/motd ] && ok=1{RULE}",
        solution="mkdir -p /etc/service; echo 'port = 8080' > /etc/service/main.conf; rm /etc/motd\n",
    ),
    "data below /var/lib and in the home folder": ImageTask(
        image=SETTLED,
        verifier=f'[ "$(cat /var/lib/service/data)" = 1 ] && [ "$(cat ~/notes.txt)" = 2 ] && ok=1{RULE}',
        solution="mkdir -p /var/lib/service; echo 1 > /var/lib/service/data; echo 2 > ~/notes.txt\n",
    ),
    "a user of the system": ImageTask(
        image=DEBIAN,
        dockerfile="WORKDIR /app\n",
        verifier=f"grep -q '^alice:x:1000:' /etc/passwd && [ -d /home/alice/mail ] && ok=1{RULE}",
        solution="echo 'alice:x:1000:1000::/home/alice:/bin/bash' >> /etc/passwd; mkdir -p /home/alice/mail\n",
    ),
    "what was removed, links and modes": ImageTask(
        image=DEBIAN,
        dockerfile="WORKDIR /app\nCOPY old.txt script.sh ./\n",
        verifier=(
            'cd /app; [ ! -e old.txt ] && [ -x script.sh ] && [ "$(readlink current)" = releases/2 ] '
            f'&& [ "$(cat current/name)" = two ] && [ "$(stat -c %a private)" = 700 ] && ok=1{RULE}'
        ),
        solution=(
            "rm old.txt; chmod +x script.sh; mkdir -p releases/2; echo two > releases/2/name; "
            "ln -s releases/2 current; mkdir -m 700 private\n"
        ),
        files={"environment/old.txt": "old\n", "environment/script.sh": "echo hello\n"},
    ),
    "a place that the task declares": ImageTask(
        image=DEBIAN,
        dockerfile="WORKDIR /app\n",
        toml='artifacts = ["/usr/bin/x", {source = "/var/cache/made"}]\n[metadata]\nworking_places = ["/opt/result"]\n',
        verifier=f'p=/opt; [ "$(cat $p/result/x)" = 1 ] && [ "$(cat /"var"/cache/made)" = 2 ] && ok=1{RULE}',
        solution="mkdir -p /opt/result; echo 1 > /opt/result/x; mkdir -p /var/cache; echo 2 > /var/cache/made\n",
    ),
    "a server that the verifier starts": ImageTask(
        image=PYTHON,
        dockerfile="WORKDIR /app\n",
        verifier="""\
python3 /app/server.py & server=$!
for _ in $(seq 100); do [ -e /tmp/ready ] && break; sleep 0.05; done
got=$(python3 -c "import urllib.request as r; print(r.urlopen('http://127.0.0.1:8000/').read().decode())")
kill $server
[ "$got" = hello ] && ok=1"""
        + RULE,
        solution="""\
cat > server.py <<'END'
import http.server, pathlib
class Answers(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"hello")
made = http.server.HTTPServer(("127.0.0.1", 8000), Answers)
pathlib.Path("/tmp/ready").touch()
made.serve_forever()
END
""",
    ),
    "links among settings, and a release that is current": ImageTask(
        image=DEBIAN,
        dockerfile="WORKDIR /app\n",
        verifier=(
            "at=/etc/web/enabled/site; [ -L /etc/web/enabled/site ] && grep -q 80 /etc/web/enabled/site "
            '&& [ "$(readlink /opt/app/current)" = releases/2 ] && [ "$(cat /opt/app/current/x)" = 2 ] '
            f'&& [ "$(stat -c %Y /var/lib/service/stamp)" = 978307200 ] && ok=1{RULE}'
        ),
        solution=(
            "mkdir -p /etc/web/available /etc/web/enabled /opt/app/releases/2 /var/lib/service; "
            "echo 'listen 80' > /etc/web/available/site; ln -s ../available/site /etc/web/enabled/site; "
            "echo 2 > /opt/app/releases/2/x; ln -s releases/2 /opt/app/current; "
            "touch -d @978307200 /var/lib/service/stamp\n"
        ),
    ),
    "folders of the task's at the root": ImageTask(
        image=DEBIAN,
        dockerfile="RUN mkdir /project\nWORKDIR /usr/src/app\n",
        verifier=(
            '[ "$(cat /project/out.txt)" = 42 ] && [ "$(cat /results.txt)" = 7 ] '
            f'&& [ "$(cat /usr/src/app/main.txt)" = 1 ] && ok=1{RULE}'
        ),
        solution="echo 42 > /project/out.txt; echo 7 > /results.txt; echo 1 > main.txt\n",
    ),
    "what lies beside what is named": ImageTask(
        image=PYTHON,
        dockerfile="WORKDIR /app\n",
        verifier=(
            '[ "$(python3 /opt/service/main.py)" = 42 ] && [ "$(cat /opt/*/a.conf)" = 7 ] '
            f'&& [ "$(cat /root/*.txt)" = 1 ] && ok=1{RULE}'
        ),
        solution=(
            "mkdir -p /opt/service /opt/other; echo 'N = 42' > /opt/service/helper.py; echo 7 > /opt/other/a.conf; "
            "printf 'import helper\\nprint(helper.N)\\n' > /opt/service/main.py; echo 1 > /root/n.txt\n"
        ),
    ),
    "a path that is joined": ImageTask(
        image=PYTHON,
        dockerfile="WORKDIR /app\n",
        verifier=f"python3 /tests/check.py && ok=1{RULE}",
        solution="echo a > /root/a.txt\n",
        files={"tests/check.py": "from pathlib import Path\nassert (Path('/root') / 'a.txt').exists()\n"},
    ),
    "a partial reward": ImageTask(
        image=DEBIAN,
        dockerfile="WORKDIR /app\n",
        verifier='n=$(ls /app/done 2>/dev/null | wc -l); echo "{\\"reward\\": 1.0, \\"n\\": $n}" > /tmp/r\n'
        "[ $n = 3 ] || echo '{\"reward\": 0.0}' > /tmp/r\ncp /tmp/r /logs/verifier/reward.json\n",
        solution="mkdir done; touch done/a done/b done/c\n",
    ),
}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def source(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Source]:
    async with image_source(tmp_path_factory.mktemp("images")) as made:
        yield made


@pytest.mark.parametrize("name", TASKS)
async def test_the_oracle_is_paid_and_nothing_is_not(source: Source, tmp_path: Path, name: str) -> None:
    folder = TASKS[name].written(tmp_path / "task")
    for who, score in (("oracle", 1.0), ("nop", 0.0)):
        result = await judged(source, scenario_of(folder, who))
        assert (who, result.score, result.validity) == (who, score, Validity.VALID), result.detail


@pytest.mark.root
@pytest.mark.skipif(os.geteuid() != 0, reason="needs root: files of several users are made")
async def test_files_that_were_given_to_somebody_are_theirs(source: Source, tmp_path: Path) -> None:
    """In a folder of root's, too, where their owner could make nothing."""
    task = ImageTask(
        image=DEBIAN,
        verifier=(
            '[ "$(stat -c %U:%a /srv/key)" = nobody:640 ] && [ "$(stat -c %U:%a /srv/d)" = nobody:700 ] '
            f'&& [ "$(stat -c %u /srv/link)" = 1234 ] && ok=1{RULE}'
        ),
        solution=(
            "mkdir -p /srv/d; echo k > /srv/key; echo x > /srv/d/x; ln -s key /srv/link; chmod 640 /srv/key; "
            "chmod 700 /srv/d; chown nobody /srv/key; chown -R nobody /srv/d; chown -h 1234 /srv/link\n"
        ),
    )
    result = await judged(source, scenario_of(task.written(tmp_path / "task"), "oracle"))
    assert (result.score, result.validity) == (1.0, Validity.VALID), result.detail


OWNED = ImageTask(
    image="localhost/tasks/owned:1",
    verifier=(
        f'[ "$(id -u)" = 1000 ] && [ "$(stat -c %u:%a made)" = 1000:600 ] && [ "$(cat made)" = 1000 ] '
        f'&& [ "$HOME" = /home/app ] && [ -e ~/.cache/x ] && ok=1{RULE}'
    ),
    solution="id -u > made; chmod 600 made; mkdir -p ~/.cache; touch ~/.cache/x\n",
)


@pytest.mark.root
@pytest.mark.skipif(os.geteuid() != 0, reason="needs root: files of several users are made")
async def test_a_task_in_an_image_with_a_user_runs_as_that_user(source: Source, tmp_path: Path) -> None:
    """Candidate and verifier, and what is taken over is still its own."""
    folder = OWNED.written(tmp_path / "task")
    for who, score in (("oracle", 1.0), ("nop", 0.0)):
        result = await judged(source, scenario_of(folder, who))
        assert (who, result.score, result.validity) == (who, score, Validity.VALID), result.detail
    liar = "echo 1000 > made; chmod 600 made; echo 'echo 1 > /logs/verifier/reward.txt; exit 0' > ~/.bashrc\n"
    assert (await attacked(source, folder, liar + "ln -s /logs/verifier/reward.txt x; rm -rf ~/.cache\n")).score == 0.0


SECRETS = (
    "mkdir -p /srv/open /srv/closed && echo HX7F | tee /srv/open/flag /srv/closed/flag > /dev/null",
    "chmod 600 /srv/open/flag && chmod 700 /srv/closed && echo 1 > /srv/open/all && chmod 755 /srv/open",
)


@pytest.mark.root
@pytest.mark.skipif(os.geteuid() != 0, reason="needs root: files of several users are made")
async def test_a_verifier_reads_nothing_for_a_candidate_that_may_not(source: Source, tmp_path: Path) -> None:
    """A link to what is root's was followed by a verifier that is root, and paid."""
    task = ImageTask(
        image=OWNED.image,
        toml='[verifier]\nuser = "root"\n',
        verifier=f"cmp -s /home/app/work/flag /tests/flag && ok=1{RULE}",
        solution="true\n",
        files={"tests/flag": "HX7F\n"},
    )
    honest = scenario_of(task.written(tmp_path / "task"), "nop")
    scoring = honest.scoring.model_copy(update={"environment_commands": SECRETS})
    for script, score in {
        "ln -s /srv/open/flag flag": 0.0,
        "ln -s /srv/closed/flag flag": 0.0,
        "ln -s ../../../srv/closed/flag flag": 0.0,
        "echo HX7F > own; ln -s own flag": 1.0,
        "echo HX7F > flag; ln -s /srv/open/all other; ln -s /nowhere/x third": 1.0,
    }.items():
        candidate = Candidate(files={"solve.sh": f"mkdir -p ~/work; cd ~/work; {script}\n"}, entry="solve.sh")
        result = await judged(source, replace(honest, candidate=candidate, expected=None, scoring=scoring))
        assert (script, result.score, result.validity) == (script, score, Validity.VALID), result.detail


@pytest.mark.root
@pytest.mark.skipif(os.geteuid() != 0, reason="needs root: files of several users are made")
@pytest.mark.parametrize(
    ("asks", "agent", "verifier"),
    [
        ({"dockerfile": "USER root\nWORKDIR /app\n"}, 0, 0),
        ({"toml": '[agent]\nuser = "root"\n'}, 0, 1000),
        ({"toml": '[verifier]\nuser = "root"\n'}, 1000, 0),
    ],
)
async def test_root_in_an_image_with_another_user_is_had(
    source: Source, tmp_path: Path, asks: dict[str, str], agent: int, verifier: int
) -> None:
    task = ImageTask(
        image=OWNED.image,
        verifier=f'[ "$(id -u)" = {verifier} ] && [ "$(cat /tmp/told)" = {agent} ] && ok=1{RULE}',
        solution="id -u > /tmp/told\n",
        **asks,  # type: ignore[arg-type]
    )
    result = await judged(source, scenario_of(task.written(tmp_path / "task"), "oracle"))
    assert (result.score, result.validity) == (1.0, Validity.VALID), result.detail


@pytest.mark.root
@pytest.mark.skipif(os.geteuid() != 0, reason="needs root: files of several users are made")
async def test_a_user_whom_the_image_does_not_know_is_no_zero(source: Source, tmp_path: Path) -> None:
    """What cannot be had has no score."""
    task = ImageTask(image=OWNED.image, toml='[agent]\nuser = "nemo"\n', verifier=f"ok=1{RULE}", solution="true\n")
    result = await judged(source, scenario_of(task.written(tmp_path / "task"), "oracle"))
    assert (result.score, result.reason) == (None, Reason.SCORER_ERROR), result.detail
    assert "the user 'nemo' of the task" in result.detail
    assert "task.toml" in result.detail


async def test_root_in_an_image_of_roots_is_what_it_has(source: Source, tmp_path: Path) -> None:
    task = ImageTask(
        image=DEBIAN, dockerfile="USER root\n", verifier=f'[ "$(id -u)" = 0 ] && ok=1{RULE}', solution="true\n"
    )
    result = await judged(source, scenario_of(task.written(tmp_path / "task"), "oracle"))
    assert result.score == 1.0, result.detail
