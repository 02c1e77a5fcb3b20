"""Where the runs of a benchmark job are scored that do not run on the machine of its owner: a port."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import TYPE_CHECKING, Any, Protocol

from harena.core.errors import ValidationError
from harena.core.results import RunResult
from harena.jobs.slots import Slots

if TYPE_CHECKING:
    from harena.jobs.models import Execution


class ScoresElsewhere(Protocol):
    """Scores runs on other machines; everything else of a job stays where it was accepted."""

    @property
    def slots(self) -> Slots:
        """Runs that are under way there at one time, all jobs together."""

    async def begin(self) -> None:
        """A job wants to run there. Raises PlatformError, ValidationError."""

    async def end(self) -> None:
        """A job that has begun has ended."""

    def score(self, workspace: str, scenario: Any, **given: Any) -> Awaitable[RunResult]:
        """Score one attempt, as `harena.scoring.score.score_scenario` does. Raises PlatformError."""


def chosen(execution: Execution, there: ScoresElsewhere | None) -> ScoresElsewhere | None:
    """Where the runs of a job are scored; None = on this machine. Raises ValidationError where there is no such
    place."""
    if execution == "local":
        return None
    if there is None:
        raise ValidationError(
            f"config.execution: {execution!r} needs a Ray cluster, and this node has none: set HARENA_RAY_ADDRESS "
            "where it runs, and install harena[ray] there"
        )
    return there
