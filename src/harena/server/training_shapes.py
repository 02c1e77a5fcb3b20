"""What requests about training jobs may hold and answers do hold."""

from __future__ import annotations

from typing import Any

from pydantic import ConfigDict, Field
from pydantic.json_schema import models_json_schema

from harena.core.training_jobs import RetryFrom
from harena.server.shapes import RequestBody
from harena.training.requests.request import RLRequest, SFTRequest


class RetryBody(RequestBody):
    """Where a job that has ended begins again."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, populate_by_name=True)

    start: RetryFrom = Field("checkpoint", alias="from")


def request_schemas() -> dict[str, Any]:
    """By name, for the document: what `harena.training.requests.request` takes. Rules about several fields are no
    schema."""
    _, made = models_json_schema(
        [(SFTRequest, "validation"), (RLRequest, "validation")], ref_template="#/components/schemas/{model}"
    )
    schemas: dict[str, Any] = made["$defs"]
    return schemas


TRAINING_REQUEST = {
    "requestBody": {
        "content": {
            "application/json": {
                "schema": {
                    "maxProperties": 100,
                    "oneOf": [{"$ref": f"#/components/schemas/{kind.__name__}"} for kind in (SFTRequest, RLRequest)],
                }
            }
        }
    }
}
"""how the body of a training job is documented"""
