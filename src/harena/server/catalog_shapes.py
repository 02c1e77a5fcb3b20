"""What requests about what is kept by name, and about calibrations, may hold; see `harena.server.shapes`."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from harena.core.catalog import NAME_PATTERN
from harena.core.parameters import MOST_WORD
from harena.core.records.blueprints import DEFAULT_BLUEPRINT
from harena.jobs.benchmark.calibrations import DEFAULT_GOLD_RUNS
from harena.jobs.models import JobConfig, JobWebhook
from harena.scoring.calibration import MAX_GOLD_RUNS
from harena.server.bounds import Mapping, Notes, Rows, Word
from harena.server.shapes import RequestBody, ScenarioFile

Name = Annotated[str, Field(pattern=NAME_PATTERN, max_length=MOST_WORD)]
ScenarioContent = Annotated[ScenarioFile | Rows | Mapping, Field(union_mode="left_to_right")]


class ScenariosBody(RequestBody):
    """Scenarios, or problems without candidates, to keep as a version of a name."""

    name: Name
    scenarios: ScenarioContent
    """a file, the scenarios or rows themselves, or a whole file's content as a mapping"""
    format: Word | None = Field(None, min_length=1)
    """format of `scenarios`; null = recognised by its shape"""
    grader: Mapping | None = None
    """grader of rows that hold none of their own"""
    metadata: Notes = {}


class ContractBody(RequestBody):
    """A scoring contract to keep as a version of a name."""

    name: Name
    contract: Annotated[ScenarioFile | Mapping, Field(union_mode="left_to_right")]
    """a file, or what is in it"""
    metadata: Notes = {}


class CalibrationBody(RequestBody):
    """A calibration to start."""

    scenarios: ScenarioContent
    """scenarios, in the forms that a benchmark job takes; {"ref": "NAME@2"} = stored ones"""
    candidates: Annotated[
        Literal["oracle"] | ScenarioFile | Rows | Mapping | None, Field(union_mode="left_to_right")
    ] = None
    """right answers, where the scenarios hold none"""
    format: Word | None = Field(None, min_length=1)
    grader: Mapping | None = None
    name: Word = Field("calibration", min_length=1, max_length=200)
    """name of the calibration's job"""
    gold_runs: int = Field(DEFAULT_GOLD_RUNS, ge=2, le=MAX_GOLD_RUNS)
    blueprint_id: Word = Field(DEFAULT_BLUEPRINT, min_length=1)
    config: JobConfig = JobConfig()
    """a job's; concurrency 8 and timeout_seconds 10 where nothing is said"""


class JobFieldsBody(RequestBody):
    """Any fields of a benchmark job's request; what is missing is left open, and null is a value."""

    name: Word | None = Field(None, min_length=1, max_length=200)
    """name of the job; without one, the definition's name"""
    scenarios: ScenarioContent | None = None
    candidates: Annotated[Literal["oracle", "nop"] | ScenarioContent | None, Field(union_mode="left_to_right")] = None
    format: Word | None = Field(None, min_length=1)
    grader: Mapping | None = None
    blueprint_id: Word | None = Field(None, min_length=1)
    config: JobConfig | None = None
    webhook: JobWebhook | None = None


class DefinitionBody(RequestBody):
    """A definition to keep as a version of a name."""

    name: Name
    request: JobFieldsBody
    metadata: Notes = {}
