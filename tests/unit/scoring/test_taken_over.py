"""Looks into two sandboxes, by which it is decided what a verifier's takes over."""

from __future__ import annotations

from typing import Any

import pytest

from harena.core.errors import SandboxFileError
from harena.scoring.scorers import sealed_verifier
from harena.scoring.scorers.sealed_verifier import Tree


class Failing:
    """A sandbox in which each look fails for one reason."""

    def __init__(self, reason: str) -> None:
        self.reason = reason

    async def stat(self, path: str) -> Any:
        raise SandboxFileError(path, reason=self.reason)

    async def list_dir(self, path: str) -> Any:
        raise SandboxFileError(path, reason=self.reason)


async def looks(box: Any) -> list[object]:
    tree = Tree("/project/out/x")
    return [
        await sealed_verifier._new_folder(tree, (), box, box),
        await sealed_verifier._new_target(tree, (), box, box),
        await sealed_verifier._new_in("/opt", box, box),
        await sealed_verifier._is_folder(box, "/opt"),
        await sealed_verifier._is_empty(box, "/opt"),
        await sealed_verifier._is_same(box, "/opt/x", b"", 0o644),
    ]


@pytest.mark.parametrize("reason", ["NOT_FOUND", "NOT_A_DIRECTORY", "PERMISSION_DENIED"])
async def test_what_nobody_can_see_is_not_taken_over(reason: str) -> None:
    assert await looks(Failing(reason)) == [None, None, [], False, False, False]


@pytest.mark.parametrize("look", ["_new_folder", "_new_target"])
async def test_a_failure_of_the_platform_is_told(look: str) -> None:
    """Above a named path it counted as nothing to take over, and the candidate's work was left behind."""
    box: Any = Failing("IO_FAILED")
    with pytest.raises(SandboxFileError):
        await getattr(sealed_verifier, look)(Tree("/project/out/x"), (), box, box)
