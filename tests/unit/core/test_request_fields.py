"""What callers may give is what is checked: the fields that a port names are those of the checks behind it."""

from __future__ import annotations

from typing import Any

import pytest

from harena.core import requests
from harena.jobs import catalog, models
from harena.jobs.benchmark import calibrations
from harena.training.requests.request import RLRequest, SFTRequest

CHECKED = {
    "BenchmarkJobFields": {*models.JobRequest.model_fields, "definition"},
    "ScoreFields": {*models.ScoreRequest.model_fields},
    "CalibrationFields": {*calibrations._FIELDS},
    "EntryFields": {name for names in catalog._FIELDS.values() for name in names},
    "TrainingJobFields": {*SFTRequest.model_fields, *RLRequest.model_fields},
}


@pytest.mark.parametrize("name", CHECKED)
def test_a_request_names_the_fields_that_are_checked(name: str) -> None:
    """No more and no fewer, also where a field is added to one of them."""
    fields: Any = getattr(requests, name)
    assert fields.__optional_keys__ | fields.__required_keys__ == CHECKED[name]
