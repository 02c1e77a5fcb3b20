"""The `command` contract: a trusted command, a suite of tests, or a piece of test code over the candidate's files."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema, model_validator

from harena.core.results import Trust
from harena.scoring.contracts.calls import EntryPoint
from harena.scoring.contracts.parts import (
    Contract,
    Files,
    Gold,
    Patterns,
    RelativePath,
    Seconds,
    Strict,
    Text,
    program,
    trusted_files,
)


class Proof(Strict):
    """Where the trusted part leaves the word that it was given on standard input, when everything has passed."""

    file: RelativePath | None = None
    """a file that holds `harena-proof WORD`; None = a line of standard output"""


def _shell(written: Any) -> Any:
    return ("bash", "-c", written) if isinstance(written, str) else written


Command = Annotated[
    tuple[str, ...],
    BeforeValidator(_shell),
    Field(strict=False, min_length=1),
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}, "minItems": 1}]}),
]


class CommandContract(Contract):
    """Run a trusted command or suite over the candidate's files, in a fresh sandbox. Trust is `shared`, unless the
    candidate has a sandbox of its own."""

    type: Literal["command"]
    command: Command | None = None
    """argv, or one string for `bash -c`"""
    pytest: Annotated[tuple[str, ...], Field(strict=False, min_length=1)] | None = None
    """in place of `command`: test files or pytest arguments, run by a trusted pytest runner that gives its own proof"""
    unittest: Annotated[tuple[RelativePath, ...], Field(strict=False, min_length=1)] | None = None
    """in place of `command`: test files of unittest's, run by a trusted runner that gives its own proof"""
    asserts: Annotated[Text, AfterValidator(program)] | None = None
    """in place of `command`: trusted code that names what the candidate's module has as if it stood below it, run by a
    trusted runner that gives its own proof; it passes if it raises nothing, and code that executes no assertion judges
    nobody. The candidate has a sandbox of its own and the code sees stand-ins for it; only where `gold` is not paid
    like that, or, without a gold, where stand-ins cannot show something of the candidate, they share a process. Who
    passes apart must pass in one process, too"""
    calls: dict[str, EntryPoint] = {}
    """with `asserts`: their names for functions of the candidate, which then runs in another process than they do; only
    plain values cross, and the trust is `shared`. Where `gold` is not paid like that, it is as without `calls`; with
    `isolate: false` it runs in theirs"""
    isolate: bool | Literal["auto", "sandbox"] = "auto"
    """with `asserts`: false: in one process; with `pytest` and `unittest`: "sandbox": the candidate's modules live in a
    sandbox of their own, and the tests see stand-ins for them, which makes the trust `separate`; true: in a process of
    their own in the suite's sandbox; false: in the suite's process; "auto": the first of these three that pays `gold`,
    or the first without a gold"""
    gold: Gold = {}
    """with `isolate: auto`: files of a right solution, or its text (as `solution.py`); it decides how the suite runs,
    and with `asserts` where the candidate does, and which names it shares with them"""
    scorer_timeout_seconds: Seconds = 30.0
    """with `isolate: sandbox` and `auto`: time of the suite itself, what it waits for the candidate's answers not
    counted"""
    requires: Annotated[tuple[str, ...], Field(strict=False, max_length=100)] = ()
    """modules that the trusted part imports and the image must have: where one is missing, a run that does not pass has
    no score"""
    files: Annotated[Files, AfterValidator(trusted_files)] = {}
    """trusted files, written after the candidate's and over them"""
    changeable: Patterns = ()
    """with `command`: patterns (`*.db`) of trusted files that the candidate may change; a run in which another one is
    touched by the candidate proves nothing"""
    env: dict[str, str] = {}
    proof: Proof = Proof()
    allow: Patterns = ()
    """patterns (`conftest.py`, `tests/*`) of candidate files that are kept though they can steer a test run"""

    @model_validator(mode="after")
    def _one_command(self) -> Self:
        if sum(part is not None for part in (self.command, self.pytest, self.unittest, self.asserts)) != 1:
            raise ValueError("exactly one of `command`, `pytest`, `unittest` and `asserts` is required")
        if any(not path.endswith(".py") for path in self.unittest or ()):
            raise ValueError("`unittest` names test files, which end in .py")
        if self.isolate == "sandbox" and self.pytest is None and self.unittest is None:
            raise ValueError("`isolate: sandbox` is for `pytest` and `unittest`")
        if self.gold and (self.command is not None or self.isolate != "auto"):
            raise ValueError("`gold` is for `pytest`, `unittest` and `asserts` with `isolate: auto`")
        if any(not all(part.isidentifier() for part in name.split(".")) for name in self.requires):
            raise ValueError("`requires` names modules, as `numpy` or `yaml.nodes`")
        if self.changeable and self.command is None:
            raise ValueError("`changeable` is for `command`")
        if self.calls and self.asserts is None:
            raise ValueError("`calls` is for `asserts`")
        if any(not name.isidentifier() for name in self.calls):
            raise ValueError("the names in `calls` are words, as the asserts call them")
        return self

    @property
    def trust(self) -> Trust:
        """The candidate's code can reach the trusted command's process, or at least its sandbox; unless it has one of
        its own, as with a suite and with `asserts` without `calls`. A result whose tests had to share their process
        says so."""
        if self.suite:
            return Trust.SEPARATE if self.isolate in ("auto", "sandbox") else Trust.SHARED
        is_apart = self.asserts is not None and not self.calls and self.isolate is not False
        return Trust.SEPARATE if is_apart else Trust.SHARED

    @property
    def version(self) -> str:
        """Version of the scoring rules of `command`."""
        return "command-31"

    @property
    def suite(self) -> tuple[str, ...]:
        """What a trusted runner is to run: test files, and pytest's arguments; () = it is no suite."""
        return self.pytest or self.unittest or ()

    @property
    def test_files(self) -> dict[int, str]:
        """The test files that the suite names, by their index in it."""
        paths = {index: argument.partition("::")[0] for index, argument in enumerate(self.suite)}
        return {index: path for index, path in paths.items() if not path.startswith("-") and path.endswith(".py")}
