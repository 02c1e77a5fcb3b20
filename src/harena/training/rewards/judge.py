"""llm_judge_v1: a model's judgement of what was said, by the `score_model` scorer.

The judge's server is the node's (`HARENA_JUDGE_BASE_URL`); what is judged is part of its question, and may try to talk
it into something. A judge that cannot be asked is a fault of the platform, and no reward.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from harena.core.errors import ValidationError
from harena.training.data.prompts import PromptRow
from harena.training.environments.tasks import judge_contract
from harena.training.rollouts.scored import contract_mistakes, judged, passes_all
from harena.training.rollouts.trajectory import MINIMUM, Candidate, Reward


@dataclass(frozen=True, slots=True, kw_only=True)
class LLMJudge:
    """The reward is the judge's number ("fraction"), or 1 where it reaches the threshold ("all")."""

    model: str
    rubric: str
    passing_threshold: float = 0.5
    system_prompt: str | None = None
    credit: Literal["all", "fraction"] = "all"

    name = "llm_judge_v1"
    minimum = MINIMUM
    deterministic = False

    def __post_init__(self) -> None:
        judge_contract(model=self.model, rubric=self.rubric, passing_threshold=self.passing_threshold)
        if self.credit not in ("all", "fraction"):
            raise ValidationError(f"credit must be all or fraction (got {self.credit!r})")

    def check(self, row: PromptRow) -> list[str]:
        """List the mistakes of the row's scoring contract."""
        return contract_mistakes("x", {"scoring": self._contract(row)})

    def constant(self, row: PromptRow) -> float | None:
        """1 where every number reaches the threshold; None = it depends on the answer."""
        return 1.0 if passes_all(self._contract(row), self.credit) else None

    async def reward(self, row: PromptRow, text: Candidate) -> Reward:
        """Let the judge model read the prompt and the candidate, and reward by what it says."""
        said = (
            text if isinstance(text, str) else "\n\n".join(f"{path}:\n{part}" for path, part in text["files"].items())
        )
        scoring = self._contract(row)
        return await judged(said, {"scoring": scoring}, idle="x", credit=self.credit, timeout_seconds=120.0)

    def _contract(self, row: PromptRow) -> dict[str, object]:
        return judge_contract(
            model=self.model,
            rubric=self.rubric,
            passing_threshold=self.passing_threshold,
            system_prompt=self.system_prompt,
            task=row.prompt,
        )
