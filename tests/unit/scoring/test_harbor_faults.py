"""Whose fault it is that a sandbox fails after the candidate has run in it: `harbor`, over sandboxes that are none."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any

import pytest

from harena.core.errors import SandboxFileError
from harena.core.models import ExecOutcome, ExecRequest, ExecResult, ProcessorTime, SandboxOrigin, SandboxSpec
from harena.core.ports import Death
from harena.core.results import Reason, RunResult, Validity
from harena.scoring import load_scenarios, score_scenario

SCRIPT = "solve.sh"
KILLED = SandboxFileError("killed before it answered", reason="IO_FAILED")


class Ended:
    """An exec that has ended well, and says that the reward can be written over where it is asked for that."""

    def __init__(self, stdout: bytes = b"open\n") -> None:
        self.stdout = stdout

    async def wait(self) -> ExecResult:
        return ExecResult(outcome=ExecOutcome.EXITED, returncode=0, stdout=self.stdout, stderr=b"")


class Box:
    """A sandbox whose verifier gives 1, and which fails once one of its files holds a word, or what it takes over."""

    origin = SandboxOrigin()

    def __init__(self, source: Failing) -> None:
        self.source = source
        self.is_broken = False
        self.files: dict[str, bytes] = {}

    async def exec(self, request: ExecRequest) -> Ended:
        if not "".join(request.argv[2:3]).startswith("env -0"):
            return Ended()
        places = "".join(f"{path}\0n\0" for path in request.argv[4:])
        return Ended(f"PATH=/usr/bin\0HOME=/root\0\0{places}".encode())

    async def pack_tree(self, path: str) -> AsyncIterator[bytes]:
        yield b"".join(self.files.values())

    async def replace_tree(self, path: str, source: AsyncIterator[bytes], **_: Any) -> None:
        async for content in source:
            self.is_broken = self.is_broken or self.source.word.encode() in content

    async def adopt_times(self, path: str, source: AsyncIterator[bytes]) -> None:
        pass

    async def remove(self, path: str, **_: Any) -> None:
        pass

    async def processes(self) -> list[Any]:
        self.source.fail(self, "processes")
        return []

    async def write_file(self, path: str, source: bytes, **_: Any) -> None:
        self.is_broken = self.is_broken or self.source.word.encode() in source
        self.files[path] = source
        if path.startswith("/tests/"):
            self.source.fail(self, "write_file")

    async def stat(self, path: str) -> Any:
        return SimpleNamespace(kind="file" if "." in path else "directory", mode=0o644, size_bytes=1)

    async def list_dir(self, path: str) -> list[Any]:
        return []

    async def read_file(self, path: str, **_: Any) -> bytes:
        return self.files.get(path, b"1")

    async def wait_dead(self) -> Death:
        return Death(by_request=True)

    async def processor_time(self) -> ProcessorTime:
        return ProcessorTime()


class Failing:
    """A source of such sandboxes."""

    def __init__(self, error: Exception, *, word: str, operation: str = "processes", times: int = 1_000) -> None:
        self.error, self.word, self.operation, self.times = error, word, operation, times
        self.made = 0

    def fail(self, box: Box, operation: str) -> None:
        if box.is_broken and operation == self.operation and self.times > 0:
            self.times -= 1
            raise self.error

    @asynccontextmanager
    async def sandbox(self, spec: SandboxSpec) -> AsyncIterator[Any]:
        """A fresh one."""
        self.made += 1
        yield Box(self)


async def scored(source: Failing) -> RunResult:
    candidate = {"files": {SCRIPT: "echo evil\n"}, "entry": SCRIPT}
    row = {"id": "one", "candidate": candidate, "scoring": {"type": "harbor", "tests": {"test.sh": "true\n"}}}
    (made,) = load_scenarios([row]).scenarios
    return await score_scenario(made, sandboxes=source, base_spec=SandboxSpec(), timeout_seconds=30)


@pytest.mark.parametrize("operation", ["processes", "write_file"])
async def test_what_fails_twice_and_not_without_the_candidate_is_its_doing(operation: str) -> None:
    """Processes that end and start again at their limit, for instance."""
    result = await scored(Failing(KILLED, word="evil", operation=operation))
    assert (result.score, result.validity, result.reason) == (0.0, Validity.VALID, Reason.SCORER_REJECTED)
    assert "the candidate breaks the verifier: killed before it answered" in result.detail


async def test_what_fails_once_was_chance() -> None:
    """The second sandboxes are as fresh as the first: the candidate's in which it fails, and two more."""
    chance = Failing(KILLED, word="evil", times=1)
    assert (await scored(chance)).score == 1.0
    assert chance.made == 3


async def test_what_fails_without_the_candidate_too_is_the_platforms_fault() -> None:
    """Tried again, and no score in the end."""
    with pytest.raises(SandboxFileError):
        await scored(Failing(KILLED, word=""))


@pytest.mark.parametrize("reason", ["NO_SPACE", "NO_MEMORY"])
async def test_a_disk_or_memory_that_the_candidate_has_filled_is_its_doing(reason: str) -> None:
    """The verifier's files find no place then; nothing is tried twice."""
    full = Failing(SandboxFileError("no space left", reason=reason), word="evil", operation="write_file")
    result = await scored(full)
    assert (result.score, result.validity) == (0.0, Validity.VALID)
    assert "no space left" in result.detail
    assert full.made == 4
