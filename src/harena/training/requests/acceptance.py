"""What it takes to accept a training job: its request is checked, what it refers to is found, and a plan is made of
both, with nothing left open."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any, Concatenate, ParamSpec, TypeVar

from harena.cluster.address import cluster_address, missing_ray
from harena.core.errors import NotFoundError, ValidationError
from harena.core.records.training_plans import RLPlan, SFTPlan
from harena.core.threads import TRAINING
from harena.core.training_sources import HEADING
from harena.training.requests.offline_checks import check_offline
from harena.training.requests.plan import plan_of
from harena.training.requests.references import ResolvedReferences
from harena.training.requests.request import RLRequest, SFTRequest, backend_aliases, parse_request
from harena.training.requests.reward_checks import check_rewards, named_blueprints
from harena.training.requests.row_warnings import row_warnings
from harena.training.requests.text_checks import check_texts, text_facts, text_warnings

P = ParamSpec("P")
T = TypeVar("T")
Resolve = Callable[[str, SFTRequest | RLRequest], Awaitable[ResolvedReferences]]
"""(workspace, request) -> what it refers to; see `Registry.resolve`"""


FindBlueprint = Callable[[str, str], Awaitable[object]]
"""(workspace, name or id); raises NotFoundError, PlatformError"""


async def accepted(
    workspace: str,
    body: Mapping[str, Any],
    resolve: Resolve,
    find_blueprint: FindBlueprint,
    missing: Callable[[], str | None] = lambda: None,
) -> dict[str, Any]:
    """{name, trainer_type, request, resolved, plan, warnings, blueprints}, as JSON types, the last one being those that
    sandboxes of the job will be made of, as they are named; `missing` says what has to be installed
    before a job can run here. Raises ValidationError that lists every mistake, NotFoundError, PlatformError."""
    cluster = cluster_address() is not None
    request = await TRAINING.run(_parsed, body, cluster)
    advice = missing() or (missing_ray() if cluster and request.backend == "ray" else None)
    if advice is not None:
        raise ValidationError(f"{HEADING}\n  {advice}")
    resolved = await resolve(workspace, request)
    plan = plan_of(request, resolved, await TRAINING.run(text_facts, resolved), cluster=cluster)
    _check_room(plan, resolved)
    await TRAINING.run(_check_texts, plan, resolved)
    blueprints: list[str] = []
    if isinstance(plan, RLPlan):
        await TRAINING.run(_check_offline, plan, resolved)
        missing_blueprints: dict[str, NotFoundError] = {}
        blueprints = await TRAINING.run(_in_words, named_blueprints, plan, resolved)
        for name in blueprints:
            try:
                await find_blueprint(workspace, name)
            except NotFoundError as error:
                missing_blueprints[name] = error
                break  # the first is told of; rows may name thousands, and each would be looked for
        await TRAINING.run(_in_words, check_rewards, plan, resolved, missing_blueprints)
    held_out = request.config.held_out if isinstance(request, RLRequest) else None
    return {
        "warnings": await TRAINING.run(partial(_warnings, held_out=held_out), plan, resolved),
        "name": request.name or f"{request.trainer_type} {request.model}",
        "trainer_type": request.trainer_type,
        "request": {"backend": request.backend, **request.model_dump(mode="json", exclude_unset=True)},
        "resolved": resolved.to_json(),
        "plan": plan.to_dict(),
        "blueprints": blueprints,
    }


def _parsed(body: Mapping[str, Any], cluster: bool) -> SFTRequest | RLRequest:
    return parse_request(body, aliases=backend_aliases(), cluster=cluster)


def _warnings(plan: SFTPlan | RLPlan, resolved: ResolvedReferences, *, held_out: float | None) -> list[str]:
    return [*text_warnings(plan, resolved, held_out=held_out), *row_warnings(plan, resolved)]


def _check_texts(plan: SFTPlan | RLPlan, resolved: ResolvedReferences) -> None:
    try:
        check_texts(plan, resolved)
    except ValidationError as error:
        raise ValidationError(f"{HEADING}\n  {resolved.in_words(str(error))}") from None


def _check_offline(plan: RLPlan, resolved: ResolvedReferences) -> None:
    try:
        check_offline(plan, resolved)
    except ValidationError as error:
        raise ValidationError(f"{HEADING}\n  {resolved.in_words(str(error))}") from None


def _in_words(
    check: Callable[Concatenate[RLPlan, ResolvedReferences, P], T],
    plan: RLPlan,
    resolved: ResolvedReferences,
    /,
    *more: P.args,
    **named: P.kwargs,
) -> T:
    """What a check of the rewards gives, or raises in words that the user knows."""
    try:
        return check(plan, resolved, *more, **named)
    except ValidationError as error:
        raise ValidationError(f"{HEADING}\n  config.reward_recipe: {resolved.in_words(str(error))}") from None


def _check_room(plan: SFTPlan | RLPlan, resolved: ResolvedReferences) -> None:
    """Raises ValidationError where no prompt leaves room for an answer. Whether each of them does, its worker says."""
    model = resolved.find("model")
    if model is None or not isinstance(plan, RLPlan):
        return
    context = model.context_length
    if context is not None and plan.max_new_tokens >= context:
        raise ValidationError(
            f"{HEADING}\n  config.max_new_tokens: {plan.max_new_tokens} leaves no room for a prompt in the {context} "
            f"tokens of {model.name}: give less"
        )
