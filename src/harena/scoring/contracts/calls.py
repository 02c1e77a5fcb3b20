"""The contracts that call a function of the candidate: `tests` and `reference`."""

from __future__ import annotations

import hashlib
from functools import cached_property
from typing import Annotated, ClassVar, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from harena.scoring.codec import encode
from harena.scoring.compare import PYTHON_COMPARISONS, Tolerance, ValueComparison
from harena.scoring.contracts.parts import (
    Contract,
    Seconds,
    Strict,
    Text,
    Value,
    Weight,
    class_name,
    program,
    weights_count,
)


class Check(Strict):
    """One call of the entry point and what it must give."""

    args: Annotated[tuple[Value, ...], Field(strict=False)] = ()
    kwargs: dict[str, Value] = {}
    expected: Value = None
    """what the call must return"""
    raises: Annotated[str, Field(min_length=1), AfterValidator(class_name)] | None = None
    """the name of the exception class (or of a base of it) that the call must raise, in place of `expected`"""
    alternatives: Annotated[tuple[Value, ...], Field(strict=False)] = ()
    """other values that are right as well as `expected`"""
    comparison: ValueComparison | None = None
    """in place of the contract's"""
    rel_tol: Annotated[float, Field(ge=0)] | None = None
    """in place of the contract's"""
    abs_tol: Annotated[float, Field(ge=0)] | None = None
    """in place of the contract's"""
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


EntryPoint = Annotated[str, Field(pattern=r"^[^\W\d]\w*(\.[^\W\d]\w*)*$")]
"""`function`, or `Class.method`: a new instance for each check"""


class TestsContract(Contract):
    """Call a function of the candidate and compare what it returns, outside its process."""

    __test__: ClassVar[bool] = False  # its name would make pytest collect it
    type: Literal["tests"]
    entry_point: EntryPoint | None = None
    """None = the problem's"""
    checks: Annotated[tuple[Check, ...], Field(strict=False, min_length=1)]
    comparison: ValueComparison = "exact"
    rel_tol: Annotated[float, Field(ge=0)] = 1e-9
    """for comparisons `float`, `close_floats` and `close_json`"""
    abs_tol: Annotated[float, Field(ge=0)] = 0.0
    """for comparisons `float`, `close_floats` and `close_json`"""
    check_timeout_seconds: Seconds | None = None
    """time of each check"""
    partial_credit: bool = False
    """score = the weighted share of the checks that passed; otherwise the first failure ends the run with 0"""
    setup: Annotated[Text, AfterValidator(program)] | None = None
    """trusted code that runs in the candidate's module before the candidate's own (classes, imports)"""

    @model_validator(mode="after")
    def _weighted(self) -> Self:
        weights_count([check.weight for check in self.checks])
        return self

    @property
    def version(self) -> str:
        """Version of the scoring rules of `tests`."""
        return "tests-9"

    def tolerance(self, check: Check) -> Tolerance:
        """Tolerance of one check."""
        relative = self.rel_tol if check.rel_tol is None else check.rel_tol
        return Tolerance(relative, self.abs_tol if check.abs_tol is None else check.abs_tol)

    def takes_subclasses(self, check: Check) -> bool:
        """An answer of a subclass (Counter, a named tuple, a number of numpy) is taken for what it is made of."""
        return (check.comparison or self.comparison) in PYTHON_COMPARISONS


class Inputs(Strict):
    """Arguments of one call, for which a trusted solution says what is right."""

    args: Annotated[tuple[Value, ...], Field(strict=False)] = ()
    kwargs: dict[str, Value] = {}
    weight: Weight = 1.0
    hidden: bool = False
    """they and the expected value never appear in a result's detail"""


class ReferenceContract(Contract):
    """Call a function of the candidate with arguments for which a trusted solution, run in a sandbox of its own, gives
    the expected values."""

    type: Literal["reference"]
    entry_point: EntryPoint
    """entry point of the candidate and of the solution"""
    solution: Annotated[Text, AfterValidator(program)]
    """the trusted program"""
    inputs: Annotated[tuple[Inputs, ...], Field(strict=False, min_length=1)]
    """in order"""
    comparison: ValueComparison = "exact"
    rel_tol: Annotated[float, Field(ge=0)] = 1e-9
    """for comparisons `float`, `close_floats` and `close_json`"""
    abs_tol: Annotated[float, Field(ge=0)] = 0.0
    """for comparisons `float`, `close_floats` and `close_json`"""
    check_timeout_seconds: Seconds | None = None
    """time of each call; `slowdown` may make it more"""
    slowdown: Annotated[float, Field(ge=1)] | None = None
    """each call may take this many times the longest call of the solution, if that is more"""
    partial_credit: bool = False
    """score = the weighted share of what passed; see `tests`"""

    @model_validator(mode="after")
    def _weighted(self) -> Self:
        weights_count([inputs.weight for inputs in self.inputs])
        return self

    @property
    def version(self) -> str:
        """Version of the scoring rules of `reference`."""
        return "reference-9"

    @cached_property
    def exact_inputs(self) -> str:
        """A digest that tells -0.0 from 0.0, for which solutions may return different values and a fingerprint is
        one."""
        digest = hashlib.sha256()
        for inputs in self.inputs:
            digest.update(encode(inputs.args))
            for name, value in inputs.kwargs.items():
                digest.update(encode((name, value)))
            digest.update(b"\n")
        return digest.hexdigest()
