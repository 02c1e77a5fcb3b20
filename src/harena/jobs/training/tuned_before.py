"""How a job trains what another job has made, where nothing says how: told where that job trained otherwise.

Defaults depend on the model. One that comes with harena is trained with all its weights, at a high rate; what a job has
made of it is read from files, as any other model is, and has the defaults of these.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from harena.core.records.objects import ResolvedReference
from harena.core.records.training_plans import TrainingPlan, plan_from_dict
from harena.core.training_store import StoredTrainingJob

_OF_TUNING = ("tuning", "lora_rank", "lora_alpha", "lora_target_modules")


def tuning_warnings(accepted: Mapping[str, Any], before: StoredTrainingJob) -> Iterator[str]:
    """Say that defaults of an accepted job differ from how the job `before`, whose model it begins with, trained."""
    try:
        earlier, plan = plan_from_dict(before.plan), plan_from_dict(accepted["plan"])
    except ValueError:  # another version made it, and how it trained is not known
        return
    given = accepted["request"].get("config") or {}
    otherwise = plan.tuning.kind != earlier.tuning.kind and not any(given.get(name) for name in _OF_TUNING)
    slower = plan.learning_rate != earlier.learning_rate and given.get("learning_rate") is None
    if not otherwise and not (slower and _began_with_a_shipped_model(before)):
        return
    open_fields = [
        *(["config.tuning"] if otherwise else []),
        *(["config.learning_rate"] if slower else []),
    ]
    yield (
        f"{', '.join(open_fields)}: not given, so that this job trains {_how(plan)}; job {before.id}, whose model it "
        f"begins with, trained {_how(earlier)}. What a job has made has the defaults of a model that is read from "
        "files, also where it was made of one that comes with harena: say which you mean"
    )


def _began_with_a_shipped_model(job: StoredTrainingJob) -> bool:
    refs = map(ResolvedReference.from_dict, job.resolved)
    return any(ref.where == "model" and ref.shipped is not None for ref in refs)


def _how(plan: TrainingPlan) -> str:
    return f"{plan.tuning.in_words} at a rate of {plan.learning_rate:g}"
