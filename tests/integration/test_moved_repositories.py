# ruff: noqa: E501 (programs are text, not code of ours)
"""Repositories of git that a candidate leaves, as plumbing sees them where the verifier runs."""

from __future__ import annotations

import pytest
from battery_world import Source
from real_sandboxes import source, verified

from harena.core.results import Validity

__all__ = ["source"]  # a fixture
pytestmark = pytest.mark.asyncio(loop_scope="module")

END = "\nif [ $r = 1 ]; then echo 1; else echo 0; fi > /logs/verifier/reward.txt\n"
GIT = "git init -q -b main .; git config user.email a@b; git config user.name b; mkdir d; echo 1 > a; echo 2 > d/b; ln -s a l; "
COMMITS = "git add -A; git commit -qm x"
AGES = "touch -h -d '2020-01-01 00:00:00.5' a d/b l; "
CLEAN = f"cd /app; r=0; git diff-index --quiet HEAD -- && git diff-files --quiet && r=1{END}"
DRIVER = "git config filter.x.clean 'touch /tmp/ran; cat'; echo 'a filter=x' > .gitattributes; "
HONEST = {
    "young files": f"{GIT}{COMMITS}",
    "old files": f"{GIT}{AGES}{COMMITS}",
    "an index of version 4": f"{GIT}{AGES}git config index.version 4; {COMMITS}",
    "an index of version 3": f"{GIT}{AGES}{COMMITS}; echo n > n; git add -N n; git commit -qm n n; git update-index --skip-worktree d/b",
    "no checksum": f"{GIT}{AGES}git config index.skipHash true; {COMMITS}",
    "a repository below": f"mkdir s; cd s; {GIT}{AGES}{COMMITS}; cd ..; git init -q -b main .; echo s > .gitignore; git config user.email a@b; git config user.name b; {COMMITS}",
}  # fmt: skip
DIRTY = {
    "a change": f"{GIT}{AGES}{COMMITS}; echo 3 > a",
    "a change that keeps size and time": f"{GIT}{AGES}{COMMITS}; echo 3 > a; touch -d '2020-01-01 00:00:00.5' a",
    "a change right after the commit": f"{GIT}{COMMITS}; echo 3 > a",
    "a staged change": f"{GIT}{AGES}{COMMITS}; echo 3 > a; git add a",
    "a file that has gone": f"{GIT}{AGES}{COMMITS}; rm d/b",
}  # fmt: skip


@pytest.mark.parametrize("name", HONEST)
async def test_a_clean_repository_is_clean_for_the_verifier(source: Source, name: str) -> None:
    """Each was dirty there: a moved file has another number."""
    result = await verified(source, f"cd /app\n{HONEST[name]}\n", {"test.sh": CLEAN})
    assert (result.score, result.validity) == (1.0, Validity.VALID), result.detail


@pytest.mark.parametrize("name", DIRTY)
async def test_a_dirty_one_is_dirty(source: Source, name: str) -> None:
    result = await verified(source, f"cd /app\n{DIRTY[name]}\n", {"test.sh": CLEAN})
    assert (result.score, result.validity) == (0.0, Validity.VALID), result.detail


async def test_no_program_that_a_repository_names_is_run_for_it(source: Source) -> None:
    script = f"cd /app\n{DRIVER}{GIT}{AGES}{COMMITS}; rm -f /tmp/ran\n"
    verifier = f"r=0; [ ! -e /tmp/ran ] && r=1 # git{END}"
    result = await verified(source, script, {"test.sh": verifier})
    assert (result.score, result.validity) == (1.0, Validity.VALID), result.detail
