"""A scenario: one candidate, its scoring contract and its limits. And the rows in which people write scenarios."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    PlainValidator,
    Tag,
    WithJsonSchema,
    model_validator,
)
from pydantic_core import PydanticCustomError

from harena.core.catalog import NO_LINEAGE, Lineage
from harena.core.checked import LEAST_CORES, MOST_BYTES, MOST_CORES, quote
from harena.core.gateways import Gateway, gateways_to_json
from harena.core.images import MOST_REFERENCE
from harena.core.models import MIB
from harena.core.network_policy import NO_NETWORK, NetworkPolicy, policy_in_words
from harena.core.ports.image_builds import FolderBuild
from harena.core.records.sandboxes import Limits
from harena.core.results import Reason, RunResult
from harena.core.rows import MOST_LEVELS
from harena.scoring.contracts.contract import AnyContract, HarborContract
from harena.scoring.contracts.parts import (
    DEFINITION,
    MAX_TEXT,
    MOST_FILES,
    Contract,
    Files,
    Score,
    Seconds,
    Strict,
    Text,
    no_collisions,
    relative_path,
)
from harena.scoring.digests import digest_of
from harena.scoring.reach import NOTHING_SAID, PhasePolicies, WrittenGateways, WrittenNetwork

DEFAULT_ENTRY = "solution.py"
MOST_MB = MOST_BYTES // MIB
_FILES_TOLD, _TOLD = 10, 60
"""names, and characters of one, that a detail quotes"""
LONE_SURROGATE = "holds a lone surrogate, which is no text; write the character that was meant"


def _printable(written: str) -> str:
    if not written.isprintable():
        raise ValueError(f"must be printable, without control characters (got {quote(written)})")
    return written


Identifier = Annotated[str, Field(min_length=1, max_length=256), AfterValidator(_printable)]


def _any_text(written: Any) -> str:
    if not isinstance(written, str):
        raise PydanticCustomError("string_type", "text")
    return written


def _metadata(written: dict[str, Any]) -> dict[str, Any]:
    waiting: list[Any] = [written]
    below: list[Any] = []
    levels = 0
    while waiting:
        value = waiting.pop()
        if isinstance(value, str) and not is_encodable(value):
            raise ValueError(f"{LONE_SURROGATE}: {value[:40]!r}")
        if isinstance(value, Mapping):
            below += (*value.keys(), *value.values())
        elif isinstance(value, list | tuple):
            below += value
        if not waiting:
            waiting, below, levels = below, waiting, levels + 1
            if levels > MOST_LEVELS:
                raise ValueError(f"is nested more than {MOST_LEVELS} levels deep")
    return written


ImageName = Annotated[str, Field(min_length=1, max_length=MOST_REFERENCE), AfterValidator(_printable)]
CandidateText = Annotated[str, PlainValidator(_any_text), WithJsonSchema({"type": "string"})]
"""what a model wrote: data, whatever is in it, lone surrogates too"""
Metadata = Annotated[dict[str, Any], AfterValidator(_metadata)]


def is_encodable(text: str) -> bool:
    """It has no lone surrogates."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


class Candidate(Strict):
    """The program to be scored: its files, and which of them is run or loaded.

    Whoever writes scenarios gives it this shape; the names and the texts in it are a model's. A model's mistake is told
    by `mistake`, and scored: it would else end the job, or the training step, of all other candidates.
    """

    files: dict[CandidateText, CandidateText]
    entry: CandidateText = DEFAULT_ENTRY

    @model_validator(mode="before")
    @classmethod
    def _from_source(cls, written: Any) -> Any:
        return {"files": {DEFAULT_ENTRY: written}} if isinstance(written, str) else written

    @property
    def source(self) -> str:
        """The text of the entry; empty where there is none."""
        return self.files.get(self.entry, "")

    @property
    def mistake(self) -> tuple[Reason, str] | None:
        """Why nothing can be run of it, whatever the contract, and what is wrong in words."""
        if self.is_empty:
            return Reason.EMPTY_CANDIDATE, "the candidate is empty"
        if (wrong := _unwritable(self.files)) is not None:
            return Reason.INVALID_CANDIDATE, wrong
        for path, text in self.files.items():
            if not is_encodable(text):
                return Reason.SYNTAX_ERROR, f"{path} cannot be written as UTF-8: there are lone surrogates in it"
        if self.entry not in self.files:
            there = ", ".join(list(self.files)[:_FILES_TOLD])
            return Reason.MISSING_ENTRY_POINT, f"the entry {self.entry[:_TOLD]!r} is not among the files: {there}"
        return None

    @property
    def is_empty(self) -> bool:
        """Nothing but white space."""
        return not any(text.strip() for text in self.files.values())

    @property
    def digest(self) -> str:
        """sha256 over every file and which of them is run: what was scored."""
        return digest_of([self.entry, self.files])


def _unwritable(files: Mapping[str, str]) -> str | None:
    """Why the files cannot lie below one folder."""
    if len(files) > MOST_FILES:
        return f"the candidate has {len(files)} files, more than the {MOST_FILES} allowed"
    for path, text in files.items():
        if not is_encodable(path):
            return f"the name {path[:_TOLD]!r} {LONE_SURROGATE}"
        try:
            relative_path(path)
        except ValueError as error:
            return f"the name {path[:_TOLD]!r} {error}"
        if len(text.encode("utf-8", "surrogatepass")) > MAX_TEXT:
            return f"{path} is larger than the {MAX_TEXT} bytes allowed"
    try:
        no_collisions(files)
    except ValueError as error:
        return str(error)
    return None


class ScenarioLimits(Strict):
    """What the candidate may use; what is not given is as the job says."""

    memory_mb: Annotated[int, Field(ge=16, le=MOST_MB)] | None = None
    """at least 16: in less, an interpreter does not start"""
    disk_mb: Annotated[int, Field(gt=0, le=MOST_MB)] | None = None
    output_mb: Annotated[int, Field(gt=0, le=MOST_MB)] | None = None
    """kept of each output stream; more fails as output_limit"""
    pids: Annotated[int, Field(ge=4, le=4_194_304)] | None = None
    """4 to 4194304"""
    cpu: Annotated[float, Field(gt=LEAST_CORES, le=MOST_CORES)] | None = None
    """cores"""
    open_files: Annotated[int, Field(ge=64, le=1_048_576)] | None = None
    """64 to 1048576"""
    timeout_seconds: Seconds | None = None
    """time of everything that the candidate runs, see `time_limits`; the job's is the upper bound"""

    def applied_to(self, limits: Limits) -> Limits:
        """The job's limits with these in their place."""
        changes: dict[str, Any] = {
            "memory_bytes": self.memory_mb and self.memory_mb * MIB,
            "disk_bytes": self.disk_mb and self.disk_mb * MIB,
            "output_bytes": self.output_mb and self.output_mb * MIB,
            "pids": self.pids,
            "cpu": self.cpu,
            "open_files": self.open_files,
        }
        return replace(limits, **{name: value for name, value in changes.items() if value is not None})


def _reasons(written: Any) -> Any:
    return (written,) if isinstance(written, str) else written


ReasonName = Literal[
    "passed", "wrong_answer", "partial", "exception", "syntax_error", "missing_entry_point", "timeout", "memory_limit",
    "output_limit", "exited_early", "bad_value", "protocol", "empty_candidate", "invalid_candidate", "scorer_rejected",
    "scorer_error", "platform_error", "starved", "cancelled", "honeypot",
]  # fmt: skip
"""the values of core's `Reason` (a test compares them)"""


class Expected(Strict):
    """The verdict that is known beforehand: of a calibration or of a demo."""

    passed: bool
    reason: Annotated[
        tuple[ReasonName, ...],
        BeforeValidator(_reasons),
        Field(strict=False),
        WithJsonSchema({"anyOf": [{DEFINITION: "Reason"}, {"type": "array", "items": {DEFINITION: "Reason"}}]}),
    ] = ()
    """one reason, or a list of those that are right"""
    score: Score | None = None

    @model_validator(mode="after")
    def _agrees(self) -> Self:
        if self.passed and self.reason and "passed" not in self.reason:
            raise ValueError(f"a run that passes has the reason 'passed', not {' or '.join(map(repr, self.reason))}")
        if not self.passed and set(self.reason) == {"passed"}:
            raise ValueError("a run that does not pass cannot have the reason 'passed'")
        return self

    def matches(self, result: RunResult) -> bool:
        """The verdict is the known one."""
        return (
            result.passed == self.passed
            and (not self.reason or result.reason.value in self.reason)
            and (self.score is None or (result.score is not None and abs(result.score - self.score) < 1e-9))
        )

    @property
    def reasons(self) -> tuple[Reason, ...]:
        """Reasons in the form that the envelope writes; empty = any."""
        return tuple(Reason(name) for name in self.reason)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScenarioBuild:
    """An image that is built for a scenario before its candidate runs, and how that is scored there."""

    image: FolderBuild
    scoring: Contract
    networks: PhasePolicies = NOTHING_SAID
    """what candidates and verifiers may reach there"""
    required: str = ""
    """why the scenario cannot be had without the build; "" = its own contract scores it without"""


def _check_one_place(image: str | None, blueprint: str | None) -> None:
    if image is not None and blueprint is not None:
        raise ValueError("`image` and `blueprint` are two places for a candidate; a blueprint has its own image")


class InlineProblem(Strict):
    """A problem written inside its only scenario."""

    id: Identifier | None = None
    statement: Text = ""
    entry_point: str | None = None
    """for `tests` contracts that name none"""
    language: Literal["python"] = "python"
    files: Files = {}
    """put beside the candidate's, and over them"""
    scoring: AnyContract | None = None
    limits: ScenarioLimits | None = None
    image: ImageName | None = None
    """image that its candidates run in, in place of the job's blueprint; not with every contract, see
    docs/how-to/scenarios-in-images.md"""
    blueprint: Identifier | None = None
    """blueprint that its candidates run in, in place of the job's; not beside `image`"""
    network: WrittenNetwork | None = None
    """what its candidates may reach, in place of what their blueprint says; or {agent, verifier}"""
    gateways: WrittenGateways | None = None
    """gateways of its candidates' sandboxes, in place of their blueprint's"""
    honeypot: bool = False
    """no honest candidate can pass it: whoever does has cheated"""
    metadata: Metadata = {}

    @model_validator(mode="after")
    def _has_one_place(self) -> Self:
        _check_one_place(self.image, self.blueprint)
        return self


class Problem(InlineProblem):
    """What several scenarios share."""

    id: Identifier


class ScenarioRow(Strict):
    """One scenario as it is written."""

    id: Identifier
    problem: (
        Annotated[
            Annotated[Identifier, Tag("id")] | Annotated[InlineProblem, Tag("inline")],
            Discriminator(lambda written: "inline" if isinstance(written, Mapping) else "id"),
        ]
        | None
    ) = None
    """the id of a problem of the same file, or a problem"""
    candidate: Candidate
    """also written `candidate_solution` or `solution`"""
    scoring: AnyContract | None = None
    """in place of the problem's"""
    limits: ScenarioLimits | None = None
    """over the problem's, field by field"""
    image: ImageName | None = None
    """in place of the problem's image or blueprint"""
    blueprint: Identifier | None = None
    """likewise"""
    network: WrittenNetwork | None = None
    """in place of the problem's"""
    gateways: WrittenGateways | None = None
    """in place of the problem's"""
    expected: Expected | None = None
    honeypot: bool = False
    """no honest candidate can pass it; also if its problem says so"""
    metadata: Metadata = {}

    @model_validator(mode="after")
    def _has_one_place(self) -> Self:
        _check_one_place(self.image, self.blueprint)
        return self


class ScenarioFile(Strict):
    """A batch as it is written."""

    model_config = ConfigDict(title="harena scenarios")

    version: Literal[1] = 1
    problems: Annotated[tuple[Problem, ...], Field(strict=False)] = ()
    scenarios: Annotated[tuple[ScenarioRow, ...], Field(strict=False, min_length=1)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """One candidate with everything that it takes to score it."""

    id: str
    candidate: Candidate
    scoring: Contract
    limits: ScenarioLimits
    expected: Expected | None
    metadata: Mapping[str, Any]
    problem_id: str | None
    statement: str
    files: Mapping[str, str]
    """the problem's, put over the candidate's"""
    honeypot: bool = False
    """passing it makes a run `suspect`"""
    lineage: Lineage = NO_LINEAGE
    """the stored versions that it was made of"""
    answer: str | None = None
    """what a model wrote, from which the candidate was taken; None = the candidate is all there is"""
    messages: tuple[Mapping[str, Any], ...] = ()
    """the prompt as a conversation, where it is one; else it is the statement"""
    item: Mapping[str, Any] = field(default_factory=dict)
    """fields of a data set's row that are its author's own"""
    image: str | None = None
    """image that the candidate runs in; None = the job's, or that of `blueprint`"""
    blueprint: str | None = None
    """blueprint that the candidate runs in; None = the job's, or none where `image` is given"""
    network: NetworkPolicy | None = None
    """what the candidate may reach; None = what its place says"""
    verifier_network: NetworkPolicy = NO_NETWORK
    """what trusted programs may reach in sandboxes apart from the candidate's"""
    gateways: tuple[Gateway, ...] | None = None
    """gateways of the candidate's sandboxes; None = what its place says"""
    yields_place: bool = False
    """a blueprint that the job names comes in place of its image: a task directory's own"""
    build: ScenarioBuild | None = None
    """an image that is built for it, unless a blueprint comes in its place"""

    def in_built(self, image: str) -> Scenario:
        """The scenario in the image that was built for it."""
        assert self.build is not None
        agent, verifier = self.build.networks
        scoring = self.build.scoring
        return replace(self, image=image, scoring=scoring, network=agent, verifier_network=verifier, build=None)

    def with_network(self, policy: str) -> Scenario:
        """The scenario, where a task directory was read, with what its candidate and its verifier may reach."""
        if not isinstance(self.scoring, HarborContract):
            return self
        read = policy_in_words(policy)
        return replace(self, network=read, verifier_network=read)

    @property
    def place(self) -> dict[str, str]:
        """Where the candidate runs, as far as the scenario says it: {} = where the job says."""
        named = {"image": self.image, "blueprint": self.blueprint}
        return {name: value for name, value in named.items() if value is not None}

    @property
    def digest(self) -> str:
        """sha256 over all but the candidate that decides a score, and the statement: the version of the scenario."""
        named = {
            "contract": self.scoring.fingerprint,
            "scorer_version": self.scoring.version,
            "files": dict(self.files),
            "limits": self.limits.model_dump(),
            "statement": self.statement,
            "honeypot": self.honeypot,
            **self.place,
            **({} if self.network is None else {"network": str(self.network.to_json())}),
            **({"verifier_network": str(self.verifier_network.to_json())} if self.verifier_network.is_on else {}),
            **({} if self.gateways is None else {"gateways": str(gateways_to_json(self.gateways))}),
        }
        return digest_of(named)


@dataclass(frozen=True, slots=True)
class ScenarioBatch:
    """Scenarios in the order in which they were written; their ids differ."""

    scenarios: Sequence[Scenario]
    form: str = "scenarios"
    """the data format that they were written in"""
    left_out: tuple[Any, ...] = ()
    """the mistakes (`reading.Mistake`) of rows that were left out because that was asked for"""

    def __len__(self) -> int:
        return len(self.scenarios)
