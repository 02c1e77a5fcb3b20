"""Commands of an image's build where the workspace may not have the profile `machine`."""

from __future__ import annotations

from typing import Any

import pytest

from harena.core.errors import SandboxValidationError
from harena.core.models import SandboxSpec
from harena.core.ports.image_builds import BuildCommand
from harena.core.workspace import WorkspaceLimits, check_profile
from harena.node.image_builds import SandboxRunner


class StoppedError(Exception):
    """Instead of the command."""


class Port:
    """A sandbox in which nothing runs."""

    enforcement = {"users": "65536 users"}

    async def exec(self, request: object) -> Any:
        raise StoppedError


class Handle:
    """Such a sandbox, for a node."""

    port = Port()

    async def stop(self) -> None:
        """It has ended."""


class Creations:
    """A node's sandboxes, of which one workspace may have `machine`."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str]] = []

    async def create(self, workspace: str, spec: SandboxSpec) -> Handle:
        check_profile(WorkspaceLimits(machine_profile=int(workspace == "trusted")), spec.profile)
        if spec.image == "refused":
            raise SandboxValidationError("for another reason")
        self.asked.append((workspace, spec.profile))
        return Handle()


class Image:
    """A built one."""

    digest = "sha256:0"


COMMAND = BuildCommand(argv=("true",), environment={}, workdir="/", user="", memory_bytes=1 << 30, timeout_seconds=9.0)


async def test_an_image_is_built_in_strict_where_the_workspace_may_not_have_machine() -> None:
    """Its log says so and what to do; a workspace that may have it has it, before and afterwards."""
    made, said = Creations(), list[bytes]()
    runner = SandboxRunner(made)  # type: ignore[arg-type]
    for workspace in ("trusted", "other", "trusted"):
        with pytest.raises(StoppedError):
            async with runner.run(workspace, Image(), COMMAND, said.append):  # type: ignore[arg-type]
                pass
    assert made.asked == [("trusted", "machine"), ("other", "strict"), ("trusted", "machine")]
    assert [b"profile strict" in line and b"machine_profile=1" in line for line in said] == [True]
    other = Image()
    other.digest = "refused"
    with pytest.raises(SandboxValidationError, match="another reason"):
        async with runner.run("trusted", other, COMMAND, said.append):  # type: ignore[arg-type]
            pass
