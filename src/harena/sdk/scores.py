"""Scoring one candidate now, without a job. `score` blocks; `score.aio` is awaited."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from harena.core.errors import ValidationError
from harena.core.records.blueprints import Blueprint
from harena.core.results import RunResult
from harena.sdk.options import checked_blueprint
from harena.sdk.portal import current_portal
from harena.sdk.twins import Twin

if TYPE_CHECKING:
    from harena.core.requests import ScoreFields


async def _score(
    candidate: str | Mapping[str, Any],
    scoring: Mapping[str, Any],
    *,
    blueprint_id: str | Blueprint | None = None,
    timeout_seconds: float = 10.0,
    retry_attempts: int = 1,
    require_trust: str | None = None,
    **scenario: Any,
) -> RunResult:
    """Run `candidate` in a fresh sandbox and score it against the contract `scoring`.

    `scenario` are further fields of a scenario: id, limits, metadata (docs/reference/scenario.md). The answer's `score`
    is None, with validity "infra", where the platform failed `retry_attempts` + 1 times. Raises ValidationError,
    NotFoundError.
    """
    if not isinstance(scoring, Mapping):
        raise ValidationError(f"scoring must be a scoring contract as a mapping (got {type(scoring).__name__})")
    row = {"id": "candidate", **scenario, "candidate": candidate, "scoring": dict(scoring)}
    request: ScoreFields = {
        "scenario": row,
        "timeout_seconds": timeout_seconds,
        "retry_attempts": retry_attempts,
        "require_trust": require_trust,
    }
    if (blueprint := checked_blueprint(blueprint_id)) is not None:
        request["blueprint_id"] = blueprint
    operations = await current_portal().operations()
    return await operations.score(request)


score = Twin(_score)
