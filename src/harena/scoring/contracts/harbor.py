"""The `harbor` contract: a task directory's environment and its verifier, which looks at what the candidate left."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from harena.core.results import Trust
from harena.scoring.contracts.parts import Contract, Files, Score, Seconds, Text


def _absolute(path: str) -> str:
    if not path.startswith("/") or "\0" in path or any(part in (".", "..") for part in path.split("/")):
        raise ValueError("must be an absolute path without '.' or '..'")
    return path


AbsolutePath = Annotated[str, Field(max_length=1024), AfterValidator(_absolute)]
TEST_SCRIPT = "test.sh"


class HarborContract(Contract):
    """Run the candidate's entry, a shell script, in the task's environment; then the verifier's `test.sh`, which leaves
    a reward. Trust is `shared`: the verifier runs in what the candidate left."""

    type: Literal["harbor"]
    workdir: AbsolutePath = "/app"
    """where the scripts run"""
    environment_files: Annotated[dict[AbsolutePath, Text], Field(max_length=1000)] = {}
    """what the environment holds (path: text), before anything runs"""
    environment_commands: Annotated[tuple[str, ...], Field(strict=False, max_length=1000)] = ()
    """shell commands that prepare it, in order; all must succeed"""
    env: dict[str, str] = {}
    """environment variables of every command; `$PATH` in a `PATH` is the image's"""
    solution_env: dict[str, str] = {}
    """further environment variables of the candidate"""
    tests: Files
    """what is put into /tests after the candidate has ended; `test.sh` among them"""
    verifier_env: dict[str, str] = {}
    """further environment variables of the verifier"""
    verifier_timeout_seconds: Seconds = 600.0
    """time of `test.sh`; `timeout_seconds` is that of the candidate"""
    keep_processes: bool = False
    """what the candidate has started in the background goes on beside the verifier, for tasks that ask for a server; it
    could write a reward"""
    pass_mark: Score = 1.0
    """passed = the reward is at least this"""

    @model_validator(mode="after")
    def _has_script(self) -> Self:
        if TEST_SCRIPT not in self.tests:
            raise ValueError(f"`tests` must hold {TEST_SCRIPT!r}, which leaves the reward")
        return self

    @property
    def trust(self) -> Trust:
        """The verifier runs in the sandbox that the candidate has changed."""
        return Trust.SHARED

    @property
    def version(self) -> str:
        """See Contract."""
        return "harbor-8"
