"""Scoring contracts: what a candidate must do, and how that becomes a score. One class per `type`.

Every field is part of the published format (`docs/reference/scenario.md`, `scenario.schema.json`).
"""

from __future__ import annotations

from typing import Annotated, Literal, Self, TypeAlias

from pydantic import AfterValidator, Field, model_validator

from harena.core.results import Trust
from harena.scoring.compare import OutputComparison, Tolerance
from harena.scoring.contracts.calls import Check, Inputs, ReferenceContract, TestsContract
from harena.scoring.contracts.command import CommandContract, Proof
from harena.scoring.contracts.formula import FormulaError, check_formula
from harena.scoring.contracts.harbor import HarborContract
from harena.scoring.contracts.judge import JudgeMessage, LabelModelContract, SamplingParams, ScoreModelContract
from harena.scoring.contracts.parts import (
    Arguments,
    Contract,
    Gold,
    RelativePath,
    Score,
    Seconds,
    Strict,
    Text,
    Weight,
    no_collisions,
    regular_expression,
    scorer,
    weights_count,
)
from harena.scoring.contracts.scorer_trust import may_execute_text
from harena.scoring.contracts.text import RegexContract, StringCheckContract, TextSimilarityContract


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
    """for comparisons `numeric`, `float_tokens` and `folded_lines`"""
    abs_tol: Annotated[float, Field(ge=0)] = 0.0
    """for comparisons `numeric`, `float_tokens` and `folded_lines`"""
    check_timeout_seconds: Seconds | None = None
    """time of each case"""
    partial_credit: bool = False
    """score = the weighted share of the cases that passed; otherwise the first failure ends the run with 0"""
    fresh: bool = False
    """a sandbox of its own for each case (each is a process of its own either way)"""

    @model_validator(mode="after")
    def _weighted(self) -> Self:
        weights_count([case.weight for case in self.cases])
        return self

    @property
    def version(self) -> str:
        """Version of the scoring rules of `stdio`."""
        return "stdio-5"

    @property
    def tolerance(self) -> Tolerance:
        """For comparisons `numeric`, `float_tokens` and `folded_lines`."""
        return Tolerance(self.rel_tol, self.abs_tol)


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
                regular_expression(self.pattern)
            except ValueError as error:
                raise ValueError(f"`pattern` {error}") from None
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
    target: int | float | None = None
    """the right number: 1 if close enough, else 0; no relative tolerance makes two whole numbers equal"""
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
        """Version of the scoring rules of `numeric`."""
        return "numeric-4"

    @property
    def tolerance(self) -> Tolerance:
        """Around `target`."""
        return Tolerance(self.rel_tol, self.abs_tol)


class PythonContract(Contract):
    """Run the candidate as a program, then score what it did with custom code, in a sandbox of that code's own."""

    type: Literal["python"]
    source: Annotated[Text, AfterValidator(scorer)]
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
    gold: Gold = {}
    """files of a right solution, or its text (as `solution.py`); without `run_candidate`, a right answer. Where the
    scorer fails for a candidate, it is broken if it fails for this one, too"""

    @property
    def trust(self) -> Trust:
        """`separate` if the scorer is known to execute no text: else the candidate's could give the scorer's answer."""
        return Trust.SEPARATE if may_execute_text(self.source) is None else Trust.SHARED

    @property
    def shared_because(self) -> str | None:
        """Why the scorer may execute what the candidate wrote; None = it does not."""
        doubt = may_execute_text(self.source)
        return None if doubt is None else f"its scorer may execute what the candidate wrote: {doubt}"

    @property
    def version(self) -> str:
        """Version of the scoring rules of `python`."""
        return "python-7"


_Plain: TypeAlias = (
    TestsContract
    | ReferenceContract
    | StdioContract
    | CommandContract
    | NumericContract
    | PythonContract
    | StringCheckContract
    | TextSimilarityContract
    | RegexContract
    | ScoreModelContract
    | LabelModelContract
    | HarborContract
)
PlainContract = Annotated[_Plain, Field(discriminator="type")]


class Part(Strict):
    """One part of a `weighted` contract."""

    scoring: PlainContract
    """a contract of any other type"""
    weight: Weight = 1.0


def _part_name(name: str) -> str:
    if not name.isidentifier():
        raise ValueError(f"must be a word, so that a formula can name it, not {name!r}")
    return name


class WeightedContract(Contract):
    """Score by several contracts, and make one score of theirs."""

    type: Literal["weighted"]
    parts: Annotated[dict[Annotated[str, AfterValidator(_part_name)], Part], Field(min_length=1, max_length=100)]
    """by name, in order"""
    formula: str | None = None
    """over the parts' names, in place of the mean by `weight`"""
    pass_mark: Score = 1.0
    """passed = the score is at least this"""

    @model_validator(mode="after")
    def _computable(self) -> Self:
        if self.formula is None:
            weights_count([part.weight for part in self.parts.values()])
        else:
            try:
                check_formula(self.formula, tuple(self.parts))
            except FormulaError as error:
                raise ValueError(f"`formula`: {error}") from None
        for name, part in self.parts.items():
            if isinstance(part.scoring, TestsContract) and part.scoring.entry_point is None:
                raise ValueError(f"`entry_point` is required in part {name!r}: the function to call")
            if isinstance(part.scoring, CommandContract):
                _tests_are_trusted(part.scoring)
        return self

    @property
    def trust(self) -> Trust:
        """Trust of the weakest part."""
        shared = any(part.scoring.trust is Trust.SHARED for part in self.parts.values())
        return Trust.SHARED if shared else Trust.SEPARATE

    @property
    def shared_because(self) -> str | None:
        """The first part's reason, with the part's name; None = no part has one."""
        reasons = (f"{name}: {part.scoring.shared_because}" for name, part in self.parts.items()
                   if part.scoring.shared_because is not None)  # fmt: skip
        return next(reasons, None)

    @property
    def version(self) -> str:
        """Version of the scoring rules of `weighted`, and those of its parts."""
        return f"weighted-3({','.join(part.scoring.version for part in self.parts.values())})"


def _tests_are_trusted(contract: CommandContract) -> None:
    """Test files are trusted ones: none may come from the candidate."""
    for path in contract.test_files.values():
        if path not in contract.files:
            raise ValueError(f"{path!r} is not among the trusted `files` of its part")


AnyContract = Annotated[_Plain | WeightedContract, Field(discriminator="type")]

__all__ = [
    "AnyContract",
    "Case",
    "Check",
    "CommandContract",
    "Contract",
    "HarborContract",
    "Inputs",
    "JudgeMessage",
    "LabelModelContract",
    "NumericContract",
    "NumericSource",
    "Part",
    "Proof",
    "PythonContract",
    "ReferenceContract",
    "RegexContract",
    "SamplingParams",
    "ScoreModelContract",
    "StdioContract",
    "Strict",
    "StringCheckContract",
    "TestsContract",
    "TextSimilarityContract",
    "WeightedContract",
    "no_collisions",
]
