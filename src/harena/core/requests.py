"""What callers give where something is created: the fields of each request, by their names.

Nothing is checked yet where one of these crosses a port, so each value may still be anything: who creates checks all of
them once, and says every mistake in one sentence each. A field that is missing is left to its default.
"""

from __future__ import annotations

from typing import TypedDict


class Sources(TypedDict, total=False):
    """Scenarios, or rows of a data set and the answers to them; see `harena.jobs.models.JobRequest`."""

    scenarios: object
    candidates: object
    format: object
    grader: object


class BenchmarkJobFields(Sources, total=False):
    """A benchmark job; checked by `harena.jobs.models.JobRequest`."""

    name: object
    blueprint_id: object
    config: object
    webhook: object
    definition: object
    """NAME@2, or NAME: the stored definition that has what is missing here"""


class ScoreFields(TypedDict, total=False):
    """One candidate that is scored now; checked by `harena.jobs.models.ScoreRequest`."""

    scenario: object
    blueprint_id: object
    timeout_seconds: object
    retry_attempts: object
    require_trust: object


class CalibrationFields(Sources, total=False):
    """A calibration; checked by `harena.jobs.benchmark.calibrations`."""

    name: object
    gold_runs: object
    blueprint_id: object
    config: object


class EntryFields(TypedDict, total=False):
    """A version of a catalogue entry, which has the fields of its kind; checked by `harena.jobs.catalog`."""

    name: object
    metadata: object
    scenarios: object
    format: object
    grader: object
    contract: object
    request: object
    """fields of benchmark jobs, of a definition"""


class TrainingJobFields(TypedDict, total=False):
    """A training job; checked by `harena.training.requests.request`."""

    trainer_type: object
    model: object
    config: object
    name: object
    capability_ref: object
    project_ref: object
    run_ref: object
    tags: object
    backend: object
