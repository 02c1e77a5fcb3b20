"""Scoring contracts: what a candidate must do, and how that becomes a score. One class per `type`.

Every field is part of the published format (`docs/reference/scenario.md`, `scenario.schema.json`).
"""

from __future__ import annotations

import hashlib
import keyword
import posixpath
import re
from functools import cached_property
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema, model_validator

from harena.core.results import Trust
from harena.scoring.carry import carried, defines, parsed
from harena.scoring.codec import canonical
from harena.scoring.compare import OutputComparison, Tolerance, ValueComparison
from harena.scoring.values import from_python, from_tagged

DEFINITION = "x-definition"
"""marks a part of the JSON Schema that `schema` defines"""

MAX_TEXT = 8 * 1024 * 1024
"""characters of one source, file or input"""

MAX_SECONDS = 86_400


class Strict(BaseModel):
    """Nothing is converted, nothing unknown is ignored, nothing changes afterwards."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, allow_inf_nan=False)


def _value(written: Any) -> Any:
    return carried(from_tagged(written))


def _path(path: str) -> str:
    parts = path.split("/")
    if not path or path.startswith("/") or "\0" in path or any(part in ("", ".", "..") for part in parts):
        raise ValueError("must be a relative path below the working directory, without '.', '..' or empty parts")
    return path


def _seconds(value: float) -> float:
    if not 0 < value <= MAX_SECONDS:
        raise ValueError(f"must be more than 0 and at most {MAX_SECONDS} (a day), not {value!r}")
    return value


def _program(source: str) -> str:
    parsed(source)
    return source


def _scorer(source: str) -> str:
    if not defines(parsed(source), "score"):
        raise ValueError("defines no function `score`; it must begin with something like `def score(run):`")
    return source


def _class_name(name: str) -> str:
    if not name.isidentifier() or keyword.iskeyword(name):
        raise ValueError(f"must be the name of an exception class alone, as ValueError, not {name!r}")
    return name


def _trusted_files(files: dict[str, str]) -> dict[str, str]:
    for path, text in files.items():
        if path.endswith(".py"):
            try:
                parsed(text)
            except ValueError as error:
                raise ValueError(f"{path!r} {error}") from None
    return files


def no_collisions(files: dict[str, str]) -> dict[str, str]:
    """The files themselves. Raises ValueError if one of them would have to be a folder for another."""
    for path in files:
        parent = posixpath.dirname(path)
        while parent:
            if parent in files:
                raise ValueError(f"{parent!r} is a file and cannot also hold {path!r}")
            parent = posixpath.dirname(parent)
    return files


_SECONDS_SCHEMA = {"type": "number", "exclusiveMinimum": 0, "maximum": MAX_SECONDS}

Value = Annotated[Any, BeforeValidator(_value), WithJsonSchema({DEFINITION: "Value"})]
"""a value in the tagged notation of `values`"""
Text = Annotated[str, Field(max_length=MAX_TEXT)]
RelativePath = Annotated[str, Field(max_length=1024), AfterValidator(_path)]
Files = Annotated[dict[RelativePath, Text], Field(max_length=1000), AfterValidator(no_collisions)]
Seconds = Annotated[float, AfterValidator(_seconds), WithJsonSchema(_SECONDS_SCHEMA)]
Weight = Annotated[float, Field(ge=0)]
Score = Annotated[float, Field(ge=0, le=1)]
Arguments = Annotated[tuple[str, ...], Field(strict=False)]


class Contract(Strict):
    """What all contracts share."""

    timeout_seconds: Seconds | None = None
    """wall time of everything that the candidate runs; None = the scenario's, else the job's"""

    @property
    def trust(self) -> Trust:
        """Whether candidate code can reach the place where the verdict is computed."""
        return Trust.SEPARATE

    @property
    def version(self) -> str:
        """Changes whenever the same run could get another score."""
        raise NotImplementedError

    @cached_property
    def fingerprint(self) -> str:
        """A digest of every field of the contract, for the evidence."""
        return hashlib.sha256(canonical(from_python(self.model_dump()))).hexdigest()


def _weights_count(weights: list[float]) -> None:
    if sum(weights) <= 0:
        raise ValueError("at least one weight must be more than 0")


class Check(Strict):
    """One call of the entry point and what it must give."""

    args: Annotated[tuple[Value, ...], Field(strict=False)] = ()
    kwargs: dict[str, Value] = {}
    expected: Value = None
    """what the call must return"""
    raises: Annotated[str, Field(min_length=1), AfterValidator(_class_name)] | None = None
    """the name of the exception class (or of a base of it) that the call must raise, in place of `expected`"""
    weight: Weight = 1.0
    hidden: bool = False
    """its arguments and its expected value never appear in a result's detail"""

    @model_validator(mode="after")
    def _one_outcome(self) -> Self:
        if self.raises is not None and "expected" in self.model_fields_set:
            raise ValueError("a check has either `expected` or `raises`")
        if self.raises is None and "expected" not in self.model_fields_set:
            raise ValueError("`expected` is required (write null for None), or `raises`")
        return self


class TestsContract(Contract):
    """Call a function of the candidate and compare what it returns, outside its process."""

    __test__: ClassVar[bool] = False  # its name would make pytest collect it
    type: Literal["tests"]
    entry_point: Annotated[str, Field(pattern=r"^[^\W\d]\w*(\.[^\W\d]\w*)*$")] | None = None
    """`function`, or `Class.method` (a new instance for each check); None = the problem's"""
    checks: Annotated[tuple[Check, ...], Field(strict=False, min_length=1)]
    comparison: ValueComparison = "exact"
    rel_tol: Annotated[float, Field(ge=0)] = 1e-9
    """for comparison `float`"""
    abs_tol: Annotated[float, Field(ge=0)] = 0.0
    """for comparison `float`"""
    check_timeout_seconds: Seconds | None = None
    """wall time of each check"""
    partial_credit: bool = False
    """score = the weighted share of the checks that passed; otherwise the first failure ends the run with 0"""
    setup: Annotated[Text, AfterValidator(_program)] | None = None
    """trusted code that runs in the candidate's module before the candidate's own (classes, imports)"""

    @model_validator(mode="after")
    def _weighted(self) -> Self:
        _weights_count([check.weight for check in self.checks])
        return self

    @property
    def version(self) -> str:
        """See Contract."""
        return "tests-1"

    @property
    def tolerance(self) -> Tolerance:
        """For comparison `float`."""
        return Tolerance(self.rel_tol, self.abs_tol)


class Case(Strict):
    """One run of the program: what it reads and what it must print."""

    stdin: Text = ""
    stdout: Text
    weight: Weight = 1.0
    hidden: bool = False
    """its input and output never appear in a result's detail"""


class StdioContract(Contract):
    """Run the candidate as a program, once per case, and compare what it prints."""

    type: Literal["stdio"]
    cases: Annotated[tuple[Case, ...], Field(strict=False, min_length=1)]
    args: Arguments = ()
    """command-line arguments of the program"""
    comparison: OutputComparison = "trimmed"
    rel_tol: Annotated[float, Field(ge=0)] = 1e-9
    """for comparison `numeric`"""
    abs_tol: Annotated[float, Field(ge=0)] = 0.0
    """for comparison `numeric`"""
    check_timeout_seconds: Seconds | None = None
    """wall time of each case"""
    partial_credit: bool = False
    """score = the weighted share of the cases that passed; otherwise the first failure ends the run with 0"""
    fresh: bool = False
    """a sandbox of its own for each case (each is a process of its own either way)"""

    @model_validator(mode="after")
    def _weighted(self) -> Self:
        _weights_count([case.weight for case in self.cases])
        return self

    @property
    def version(self) -> str:
        """See Contract."""
        return "stdio-1"

    @property
    def tolerance(self) -> Tolerance:
        """For comparison `numeric`."""
        return Tolerance(self.rel_tol, self.abs_tol)


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
    """Run a trusted command over the candidate's files, in a fresh sandbox. Trust is `shared`."""

    type: Literal["command"]
    command: Command | None = None
    """argv, or one string for `bash -c`"""
    pytest: Annotated[tuple[str, ...], Field(strict=False, min_length=1)] | None = None
    """in place of `command`: test files or pytest arguments, run by a trusted pytest runner that gives its own proof"""
    isolate: bool = True
    """with `pytest`: the candidate's modules live in a process of their own, and the tests see stand-ins for them"""
    files: Annotated[Files, AfterValidator(_trusted_files)] = {}
    """trusted files, written after the candidate's and over them"""
    env: dict[str, str] = {}
    proof: Proof = Proof()
    allow: Arguments = ()
    """patterns (`conftest.py`, `tests/*`) of candidate files that are kept though they can steer a test run"""

    @model_validator(mode="after")
    def _one_command(self) -> Self:
        if (self.command is None) == (self.pytest is None):
            raise ValueError("exactly one of `command` and `pytest` is required")
        return self

    @property
    def trust(self) -> Trust:
        """The candidate's code runs in the trusted command's process."""
        return Trust.SHARED

    @property
    def version(self) -> str:
        """See Contract."""
        return "command-2"


class NumericSource(Strict):
    """Where the number is."""

    pattern: Annotated[str, Field(max_length=1000)] | None = None
    """a regular expression whose last match's first group (or whole) is the number"""
    file: RelativePath | None = None
    """a file that the program writes; None = its standard output"""

    @model_validator(mode="after")
    def _compiles(self) -> Self:
        if self.pattern is not None:
            try:
                re.compile(self.pattern)
            except re.error as error:
                raise ValueError(f"`pattern` is not a regular expression: {error}") from None
        return self


class NumericContract(Contract):
    """Run the candidate as a program and turn one number that it gives into a score."""

    type: Literal["numeric"]
    source: NumericSource = NumericSource()
    """without pattern: the last line that is not empty"""
    stdin: Text = ""
    args: Arguments = ()
    range: Annotated[tuple[float, float], Field(strict=False)] | None = None
    """[what gives 0, what gives 1], linear between and clipped; [10, 2] = lower is better"""
    target: float | None = None
    """the right number: 1 if close enough, else 0"""
    rel_tol: Annotated[float, Field(ge=0)] = 1e-9
    abs_tol: Annotated[float, Field(ge=0)] = 0.0
    pass_mark: Score = 1.0
    """passed = the score is at least this"""

    @model_validator(mode="after")
    def _one_mapping(self) -> Self:
        if (self.range is None) == (self.target is None):
            raise ValueError("exactly one of `range` and `target` is required")
        if self.range is not None and self.range[0] == self.range[1]:
            raise ValueError("the ends of `range` must differ")
        return self

    @property
    def version(self) -> str:
        """See Contract."""
        return "numeric-1"

    @property
    def tolerance(self) -> Tolerance:
        """Around `target`."""
        return Tolerance(self.rel_tol, self.abs_tol)


class PythonContract(Contract):
    """Run the candidate as a program, then score what it did with custom code, in a sandbox of that code's own."""

    type: Literal["python"]
    source: Annotated[Text, AfterValidator(_scorer)]
    """defines `score(run)`, which gives a number from 0 to 1, a bool, or {"score": ..., "detail": ...}"""
    stdin: Text = ""
    args: Arguments = ()
    output_files: Annotated[tuple[RelativePath, ...], Field(strict=False, max_length=100)] = ()
    """files that the program may write and the scorer reads"""
    run_candidate: bool = True
    """False = the scorer sees the source only, and nothing is run"""
    pass_mark: Score = 1.0
    """passed = the score is at least this"""
    scorer_timeout_seconds: Seconds = 30.0

    @property
    def version(self) -> str:
        """See Contract."""
        return "python-1"


AnyContract = Annotated[
    TestsContract | StdioContract | CommandContract | NumericContract | PythonContract, Field(discriminator="type")
]

__all__ = [
    "AnyContract",
    "Case",
    "Check",
    "CommandContract",
    "Contract",
    "NumericContract",
    "NumericSource",
    "Proof",
    "PythonContract",
    "StdioContract",
    "Strict",
    "TestsContract",
    "no_collisions",
]
