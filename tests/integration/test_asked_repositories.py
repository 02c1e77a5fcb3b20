# ruff: noqa: E501 (programs are text, not code of ours)
"""Repositories of git that are asked whether a file has changed, and what a candidate has them say."""

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
    pytest.mark.skipif(shutil.which("git") is None, reason="needs git"),
]

INIT = "git init -q . && git config user.email a@b && git config user.name a && echo 1 > keep.txt && echo 0 > main.txt && git add . && git commit -qm a"
IS_CLEAN = '[ -z "$(git diff HEAD -- keep.txt)" ]'
IS_QUIET = "git diff --quiet HEAD -- keep.txt"
IS_LISTED = '[ -z "$(git status --porcelain keep.txt)" ]'
CHANGES = "; echo 5 > main.txt; echo 2 > keep.txt"
FORGED = {
    "nothing": ("true", IS_CLEAN),
    "a program that compares": ("git config diff.external /bin/true", IS_CLEAN),
    "a program that compares, in the form of a file": ("printf '[user]\\n\\tx = a # \\\\\\\\\\n[diff] external = true\\n' >> .git/config", IS_CLEAN),
    "a program that compares, behind a byte order mark": ("git config diff.external true; printf '\\357\\273\\277' | cat - .git/config > c; mv c .git/config", IS_CLEAN),
    "a program that compares, in a closed file": ("git config diff.external true; chmod 444 .git/config; chmod 555 .git", IS_CLEAN),
    "a program that compares, behind a link": ("git config diff.external true; mv .git/config c; ln -s ../c .git/config", IS_CLEAN),
    "a program that compares, in a file that is included": ("printf '[diff]\\nexternal = true\\n' > c; git config include.path ../c", IS_CLEAN),
    "a program that compares, in a folder for both": ("git config diff.external true; cp -r .git g; rm -rf .git/config .git/objects .git/refs; echo ../g > .git/commondir; rm g/HEAD", IS_CLEAN),
    "settings of a working tree": ("git config extensions.worktreeConfig true; git config --worktree diff.external true", IS_CLEAN),
    "a filter": ("git config filter.x.clean 'echo 1'; echo 'keep.txt filter=x' > .git/info/attributes", IS_QUIET),
    "a driver": ("echo '*.txt diff=x' > .gitattributes; git config diff.x.command /bin/true", IS_CLEAN),
    "a driver that makes texts": ("echo '*.txt diff=x' > .git/info/attributes; git config diff.x.textconv 'echo same #'", IS_CLEAN),
    "unchanged": ("git update-index --assume-unchanged keep.txt", IS_QUIET),
    "unchanged, in a split index": ("git update-index --split-index; git update-index --assume-unchanged keep.txt; git update-index --split-index", IS_QUIET),
    "unchanged, in an index of version 4": ("git update-index --index-version 4; git update-index --assume-unchanged keep.txt", IS_LISTED),
    "away": ("git update-index --skip-worktree keep.txt", IS_LISTED),
    "away, and gone": ("git update-index --skip-worktree keep.txt", IS_LISTED),
    "another working tree": ("mkdir w; cp keep.txt main.txt w; git config core.worktree $PWD/w", IS_QUIET),
    "times that count alone": ("git config core.trustctime false; git config core.checkStat minimal; touch -r keep.txt t", IS_QUIET),
    "a replaced object": ("echo 2 > x; git replace -f $(git rev-parse HEAD:keep.txt) $(git hash-object -w x)", IS_CLEAN),
}  # fmt: skip
AFTER = {"times that count alone": "; touch -r t keep.txt", "away, and gone": "; rm keep.txt"}
HONEST = {
    "work": ("echo 5 > main.txt", IS_CLEAN),
    "a stash": ("echo 5 > main.txt; git stash -q; git stash pop -q", IS_QUIET),
    "a branch": ("git checkout -qb f; echo 5 > main.txt; git commit -qam done", IS_LISTED),
    "a name of its own": ("git config user.name me; git config user.email m@e; echo 5 > main.txt; git commit -qam done", '[ "$(git log -1 --format=%an)" = me ] && ' + IS_CLEAN),
    "a remote": ("git remote add origin http://127.0.0.1/x; git config alias.st status; git config core.autocrlf input; echo 5 > main.txt", '[ "$(git remote get-url origin)" = http://127.0.0.1/x ] && [ "$(git config alias.st)" = status ] && ' + IS_CLEAN),
    "attributes": ("echo '* text=auto' > .gitattributes; echo '*.bin filter=lfs diff=lfs' >> .gitattributes; echo x > .gitignore; git add -A; git commit -qm b; echo 5 > main.txt", IS_LISTED),
    "moved and removed files": ("git mv main.txt m; git mv m main.txt; echo a > a; git add a; git commit -qm b; git rm -q a; git commit -qm c; echo 5 > main.txt", IS_LISTED),
    "a driver that is asked for": ("echo 5 > main.txt; git config diff.external /bin/true", '[ "$(git config diff.external)" = /bin/true ]'),
    "a filter that is asked for": ("echo 5 > main.txt; git config filter.up.clean 'tr a-z A-Z'", '[ "$(git config filter.up.clean)" = "tr a-z A-Z" ]'),
    "a part of the files": ("echo 5 > main.txt; mkdir d; echo 1 > d/a; git add -A; git commit -qm d; git sparse-checkout set --no-cone '/*' '!/d/'", f"[ ! -e d ] && [ -z \"$(git status --porcelain)\" ] && {IS_CLEAN}"),
    "a replaced object that is asked for": ("echo 5 > main.txt; git commit -qam b; git replace -f HEAD $(git commit-tree -m good HEAD^{tree})", '[ -n "$(git replace -l)" ] && [ "$(git log -1 --format=%s)" = good ]'),
    "unchanged files that are asked for": ("echo 5 > main.txt; git update-index --assume-unchanged keep.txt", "git ls-files -v | grep -q '^h keep.txt'"),
}  # fmt: skip
LATE = {
    "a program that compares, late": "git config diff.external /bin/true; echo 2 > keep.txt",
    "a filter, late": "git config filter.x.clean 'echo 1'; echo '*.txt filter=x' > .git/info/attributes; echo 2 > keep.txt",
    "unchanged, late": "git update-index --assume-unchanged keep.txt; echo 2 > keep.txt",
}


async def scored(source: Source, theirs: dict[str, str], scoring: dict[str, Any]) -> RunResult:
    """The verdict on a candidate of these files."""
    row = {"id": "one", "candidate": {"files": theirs, "entry": next(iter(theirs))}, "scoring": scoring}
    (scenario,) = load_scenarios([row]).scenarios
    return await score_scenario(scenario, sandboxes=source, base_spec=SandboxSpec(), timeout_seconds=60)


def harbor(test: str, *commands: str) -> dict[str, Any]:
    """The contract of a verifier that asks the environment's repository."""
    script = (
        f'cd /app\nif {test} && [ "$(cat main.txt)" = 5 ]; then echo 1; else echo 0; fi > /logs/verifier/reward.txt\n'
    )
    return {"type": "harbor", "environment_commands": list(commands), "tests": {"test.sh": script}}


@pytest.mark.parametrize("name", FORGED)
async def test_a_changed_file_is_changed_for_a_verifier(source: Source, name: str) -> None:
    """Whatever the environment's repository was made to say."""
    done, test = FORGED[name]
    result = await scored(
        source, {"solve.sh": done + CHANGES + AFTER.get(name, "")}, harbor(test, f"cd /app && {INIT}")
    )
    assert (result.score, result.validity) == (0.0, Validity.VALID), result.detail


@pytest.mark.parametrize("name", ["a program that compares", "a filter", "unchanged", "away", "another working tree"])
async def test_a_changed_file_is_changed_in_a_candidates_repository(source: Source, name: str) -> None:
    """A repository that it has made itself."""
    done, test = FORGED[name]
    result = await scored(source, {"solve.sh": f"{INIT}; {done}{CHANGES}"}, harbor(test))
    assert (result.score, result.validity) == (0.0, Validity.VALID), result.detail


@pytest.mark.parametrize("name", HONEST)
async def test_a_repository_is_what_honest_work_has_made_of_it(source: Source, name: str) -> None:
    """Names, branches, ignored files, and settings that the verifier asks for."""
    done, test = HONEST[name]
    result = await scored(source, {"solve.sh": done}, harbor(test, f"cd /app && {INIT}"))
    assert (result.score, result.validity) == (1.0, Validity.VALID), result.detail


@pytest.mark.parametrize("name", LATE)
async def test_nothing_is_settled_while_a_verifier_runs(source: Source, name: str) -> None:
    """By a program of the candidate's."""
    done = f"echo 5 > main.txt; cat > run.sh <<'E'\n{LATE[name]}\nE\n"
    result = await scored(
        source, {"solve.sh": done}, harbor(f"sh run.sh && {IS_QUIET} && {IS_CLEAN}", f"cd /app && {INIT}")
    )
    assert (result.score, result.passed) == (0.0, False), result.detail


@pytest.mark.parametrize(
    ("done", "is_right"),
    [
        ("true", True),
        ("git config user.name b; git checkout -qb x; echo 1 > y; git add y; git commit -qm y", True),
        ("git config diff.external /bin/true; echo 2 > keep.txt", False),
        ("git update-index --assume-unchanged keep.txt; echo 2 > keep.txt", False),
        ("echo 'git config diff.external /bin/true; echo 2 > keep.txt' > run.sh", False),
    ],
)
async def test_a_changed_file_is_changed_for_a_script(source: Source, done: str, is_right: bool) -> None:
    """A script that judges what was left."""
    async with source.sandbox(SandboxSpec()) as sandbox:

        async def ran(line: str) -> None:
            request = ExecRequest(argv=("sh", "-c", line), cwd="/workspace", timeout_seconds=60)
            assert (await (await sandbox.exec(request)).wait()).returncode == 0

        await ran(INIT)
        script = f"[ ! -e run.sh ] || sh run.sh\n{IS_CLEAN}\n"
        place = await judged_place(sandbox, script, workdir="/workspace")
        await ran(done)
        judged = await place.judged(sandbox, seconds=60, stdin=b"", code=0)
        assert judged.passed is is_right


OWN = "git init -q .; git config user.email a@b; git config user.name a; echo 1 > keep.txt; git add keep.txt; git commit -qm a\n"
RUNS = "python solution.py </dev/null\n"


def command(lines: str) -> dict[str, Any]:
    """The contract of a trusted shell script."""
    return {"type": "command", "command": ["sh", "-c", f'read -r word\nset -e\n{lines}\necho "harena-proof $word"\n']}


def solution(line: str) -> dict[str, str]:
    """A program that runs a line of shell."""
    return {"solution.py": f"import subprocess\nsubprocess.run({line!r}, shell=True, check=True)\n"}


@pytest.mark.parametrize(
    ("line", "test"),
    [
        *((line, f"{OWN}{RUNS}{IS_QUIET}; {IS_CLEAN}") for line in LATE.values()),
        ("git config diff.external /bin/true; echo 2 > keep.txt", f"mkdir r; cd r; {OWN}cp ../solution.py .; {RUNS}{IS_CLEAN}"),
        ("echo 2 > keep.txt; git replace -f $(git rev-parse HEAD:keep.txt) $(git hash-object -w keep.txt)", f"{OWN}{RUNS}{IS_CLEAN}"),
        ("git config filter.x.clean 'echo 1'; echo '*.txt filter=x' > .git/info/attributes; echo 2 > keep.txt",
         f"{OWN}git config filter.x.clean cat; {RUNS}{IS_QUIET}"),
    ],
)  # fmt: skip
async def test_a_changed_file_is_changed_for_a_command(source: Source, line: str, test: str) -> None:
    """In a repository of the command's own."""
    result = await scored(source, solution(line), command(test))
    assert (result.score, result.passed) == (0.0, False), result.detail


@pytest.mark.parametrize(
    ("line", "test"),
    [
        ("true", f"{OWN}{RUNS}{IS_QUIET}; {IS_CLEAN}"),
        ("git config user.name b; git checkout -qb x; git commit -q --allow-empty -m x", f"{OWN}{RUNS}{IS_QUIET}; {IS_CLEAN}"),
        ("git init -q .; git config core.autocrlf input; git remote add o http://x; git commit -q --allow-empty -m x", f"export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a\n{RUNS}[ $(git rev-list --count HEAD) = 1 ]"),
        ("echo 1 > keep.txt", f"{OWN}git config diff.external /bin/true; git update-index --assume-unchanged keep.txt; {RUNS}{IS_CLEAN}"),
        ("git replace -f HEAD $(git commit-tree -m good HEAD^{tree})", f'{OWN}{RUNS}git replace -l | grep -q .; [ "$(git log -1 --format=%s)" = good ]'),
    ],
)  # fmt: skip
async def test_a_repository_of_honest_work_is_paid_by_a_command(source: Source, line: str, test: str) -> None:
    """Also where the command itself sets what steers git."""
    result = await scored(source, solution(line), command(test))
    assert (result.score, result.validity) == (1.0, Validity.VALID), result.detail
