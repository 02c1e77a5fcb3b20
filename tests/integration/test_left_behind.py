"""What a candidate leaves behind for its verifier: in the home folder, the working directory, the place of others."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from battery_world import Source

from harena.core.models import SandboxSpec
from harena.core.results import RunResult, Validity
from harena.runtime.host.linux import LinuxRuntime
from harena.scoring import load_scenarios, score_scenario

pytestmark = pytest.mark.asyncio(loop_scope="module")

REWARD = "/logs/verifier/reward.txt"
VERIFIER = f"""\
cd /app
echo 0 > {REWARD}
python3 -m json.tool answer.json > /dev/null || exit 0
python3 -c 'import json; assert json.load(open("answer.json")) == 42' || exit 0
python3 - <<'END' || exit 0
import helper, subprocess
assert helper.ANSWER == 42
END
[ "$(python3 main.py)" = 42 ] || exit 0
echo 1 > {REWARD}
"""
HONEST = """\
echo 42 > answer.json
echo 'ANSWER = 42' > helper.py
echo 'def get(): return 42' > queue.py
echo 'import queue; print(queue.get())' > main.py
"""
SITE = "site=$(python3 -m site --user-site); mkdir -p $site\n"
DONE = f"import os; os.path.isdir('/logs/verifier') and open('{REWARD}', 'w').write('1'); os._exit(0)"
FORGERIES = {
    "a module of the library": f'echo "{DONE}" > json.py\n',
    "a package of the library": f'mkdir json; echo "{DONE}" > json/__init__.py; echo "{DONE}" > json/tool.py\n',
    "what the library loads": f'for name in re codecs subprocess argparse; do echo "{DONE}" > $name.py; done\n',
    "the user's packages": f'{SITE}echo "{DONE}" > $site/usercustomize.py\n',
    "a path file": f'{SITE}echo "{DONE}" > $site/x.pth\n',
    "links": "rm -rf /data/logs/verifier; mkdir w; echo 1 > w/reward.txt; ln -s /app/w /data/logs/verifier\n"
    "rm -rf /data/tests; ln -s /app /data/tests\n",
    "a pipe": "rm -rf /data/logs/verifier; mkdir -p /logs/verifier; mkfifo /logs/verifier/reward.txt\n",
}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def source(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Source]:
    """Real sandboxes: a home folder of their own takes one."""
    runtime = LinuxRuntime(home=tmp_path_factory.mktemp("home"))
    await runtime.start()
    yield Source(runtime)
    await runtime.close()


async def scored(source: Source, script: str, verifier: str = VERIFIER) -> RunResult:
    contract = {"type": "harbor", "tests": {"test.sh": verifier}, "environment_commands": ["echo kept > ~/.profile"]}
    row = {"id": "one", "candidate": {"files": {"solve.sh": script}, "entry": "solve.sh"}, "scoring": contract}
    (made,) = load_scenarios([row]).scenarios
    return await score_scenario(made, sandboxes=source, base_spec=SandboxSpec(), timeout_seconds=60)


async def test_an_honest_candidate_names_its_modules_as_it_likes(source: Source) -> None:
    """Its own program finds its own `queue`, and the verifier finds the helper."""
    result = await scored(source, HONEST)
    assert (result.score, result.detail) == (1.0, "")


@pytest.mark.parametrize("name", FORGERIES)
async def test_nothing_that_is_left_behind_answers_for_the_verifier(source: Source, name: str) -> None:
    """Each paid, or could not be scored, when a verifier ran in all that was left."""
    result = await scored(source, FORGERIES[name])
    assert (result.score, result.validity) == (0.0, Validity.VALID), result.detail


async def test_the_home_folder_is_as_it_was(source: Source) -> None:
    """But for what the verifier names: its sandbox has a home folder of its own."""
    script = "echo evil > ~/.profile; mkdir -p ~/.config/git ~/.ssh; touch ~/.bashrc ~/.ssh/rc ~/.npmrc ~/notes\n"
    look = (
        '[ -e ~/.npmrc ] && [ $(cat ~/.pro*) = kept ] && [ -z "$(ls ~/.s*)" ] && '
        '[ -z "$(ls -A ~ | grep -e local -e bashr)" ]\n'
        f"echo $((1-$?)) > {REWARD}\n"
    )
    assert (await scored(source, script, look)).score == 1.0


TOLD = f"echo 0 > {REWARD}\n"
OPTIONAL = "try:\n    import orjson_missing as json\nexcept ImportError:\n    import json\n"
EVIL = f"import os; open('{REWARD}', 'w').write('1'); os._exit(0)"
COPIED = f"cd /app; cp /tests/test.sh .; grep 42 out.txt && echo 1 > {REWARD}"
REACHED = {
    "a link to the answer": ("ln -s /tests/test.sh /app/out", f"grep -q 42 /app/out && echo 1 > {REWARD}"),
    "a link in shared memory": ("ln -s /tests/test.sh /dev/shm/a", f"grep -q 42 /dev/shm/a && echo 1 > {REWARD}"),
    "a link in /var/tmp": ("ln -s /tests/test.sh /var/tmp/a", f"grep -q 42 /var/tmp/a && echo 1 > {REWARD}"),
    "a link to the command line": ("ln -s /proc/self/cmdline out", f"grep -q 42 out && echo 1 > {REWARD}"),
    "a link to what comes": (
        "ln -s /tmp/b /tmp/a", f"echo x > /tmp/a; echo y > /tmp/b; cmp /tmp/a /tmp/b && echo 1 > {REWARD}"
    ),
    "a link to what is there for a while": (
        "ln -s expected_1.txt out.txt", "cd /app; for i in 1; do echo 42 > expected_$i.txt; "
        f"cmp out.txt expected_$i.txt && echo 1 > {REWARD}; rm expected_$i.txt; done",
    ),
    "a link to what is overwritten": ("touch test.sh; ln -s test.sh out.txt", COPIED),
    "a hard link to what is overwritten": ("touch test.sh; ln test.sh out.txt", COPIED),
    "a link to what is written": (
        "touch want; ln -s want out.txt", COPIED.replace("cp /tests/test.sh .", "echo 42 > want")
    ),
    "a link to what comes and stays": (
        "ln -s expected out.txt",
        f"cd /app; for n in expect; do echo 42 > ${{n}}ed; done; grep 42 out.txt && echo 1 > {REWARD}",
    ),
    "a link that is written through": (
        "ln -s out.txt expected.txt", f"cd /app; echo 42 > expected.txt; cmp out.txt expected.txt && echo 1 > {REWARD}"
    ),
    "a link without a name in Unicode": ("ln -s /tests/test.sh $'a\\xff'", f"grep -q 42 a* && echo 1 > {REWARD}"),
    "a link with a line break in its name": ("ln -s /tests/test.sh $'a\\nb'", f"grep -q 42 a* && echo 1 > {REWARD}"),
    "too many links": (
        "python3 -c 'import os; [os.symlink(\"/tests/x\", f\"l{i}\") for i in range(45_000)]'", f"echo 1 > {REWARD}"
    ),
    "a start-up file": ("echo 42 > ~/.any_rc", f"cat ~/.any* | grep -q 42 && echo 1 > {REWARD}"),
    "a file system monitor": (
        f"git init -q; git config core.fsmonitor 'echo 1 > {REWARD}; :'", "cd /app; git status --porcelain; true"
    ),
    "a substitute": (f'echo "{EVIL}" > orjson_missing.py', f"cd /app; python3 - <<'END'\n{OPTIONAL}END"),
    "a module of another system": (
        f'mkdir -p org/python; touch org/__init__.py org/python/__init__.py; echo "{EVIL}" > org/python/core.py',
        "cd /app; python3 -c 'import copy, pickle'",
    ),
    "a compiled module": (
        "echo 'import sys; sys.exit(0)' > check.py; python3 -c 'import py_compile as p; "
        "p.compile(\"check.py\", invalidation_mode=p.PycInvalidationMode.UNCHECKED_HASH)'",
        f"cd /app; echo 'import sys; sys.exit(1)' > check.py; python3 -m check && echo 1 > {REWARD}",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REACHED)
async def test_nothing_leads_to_the_verifier(source: Source, name: str) -> None:
    """Each paid."""
    script, verifier = REACHED[name]
    result = await scored(source, f"cd /app\n{script}\n", f"{TOLD}{verifier}\nexit 0\n")
    assert (result.score, result.validity) == (0.0, Validity.VALID), result.detail


KEPT = {
    "that is asked for": ("ln -s releases/2 current", '[ "$(readlink current)" = releases/2 ]'),
    "in a folder that is there": (
        "mkdir releases; ln -s releases/2 current",
        'python3 -c \'import os; assert os.readlink("current")[-1] == "2"\'; [ $? = 0 ]',
    ),
    "in a repository": (
        "git init -q .; ln -s ../vendor/x dep; git add -A; git -c user.name=a -c user.email=a@b commit -qm x",
        "! git status --porcelain | grep -q .",
    ),
    "without a name in Unicode": ("ln -s nothing $'a\\xff'", "[ $(ls | wc -l) = 1 ]"),
    "with a line break in its name": ("ln -s nothing $'a\\nb'; ln -s none b", "[ $(find . -type l | wc -l) = 3 ]"),
    "in circles": ("ln -s b a; ln -s a b", "touch new; [ -L a ] && [ -L b ]"),
    "beside one that leads to a file": (
        "ln -s none a; echo 42 > test.sh; ln -s test.sh out.txt",
        "grep -q 42 out.txt; [ $? = 0 ] && [ -L a ]",
    ),
    "among others": ("ln -s none a; echo 42 > out.txt", "cp /tests/test.sh t; grep -q 42 out.txt; [ $? = 0 ]"),
}


@pytest.mark.parametrize("name", KEPT)
async def test_links_that_lead_nowhere_stay(source: Source, name: str) -> None:
    """They may be the answer; they were removed."""
    script, verifier = KEPT[name]
    result = await scored(source, f"cd /app\n{script}\n", f"{TOLD}cd /app\nif {verifier}; then echo 1 > {REWARD}; fi\n")
    assert (result.score, result.validity) == (1.0, Validity.VALID), result.detail
