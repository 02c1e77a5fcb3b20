"""Where the candidates of a job run: where the job says, or in the image or blueprint that their scenario names."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple, Protocol, runtime_checkable

from harena.core.blueprint_source import BlueprintSource, found_in_thread
from harena.core.errors import NotFoundError, ValidationError
from harena.core.models import SandboxSpec
from harena.core.network_policy import Network
from harena.core.ports.image_builds import FolderBuild
from harena.core.records.blueprints import DEFAULT_BLUEPRINT, WARM_BLUEPRINT
from harena.core.workspace import NO_MACHINE

if TYPE_CHECKING:
    from harena.scoring.scenario import Scenario

MOST_PLACES = 1000
"""images and blueprints that the scenarios of one job name"""
PREPARED_AHEAD = 3
"""places for which the node gets ready while runs in the place before them begin"""
_MOST_NAMED = 10


class RunPlace(NamedTuple):
    """Where a scenario's candidate runs, as it says."""

    image: str | None
    blueprint: str | None
    yields: bool = False
    """a blueprint that the job names comes in its place"""
    built: str | None = None
    """name of the image that is built for it"""


Places = Mapping[RunPlace, SandboxSpec]


@runtime_checkable
class PreparesPlaces(Protocol):
    """Something that makes sandboxes and can get ready for some that are about to be asked for. Not all can."""

    def prepare_place(self, workspace: str, spec: SandboxSpec) -> Awaitable[None]:
        """Begin with what takes a while, the pull of an image among it. What is wrong is told to whoever asks for a
        sandbox."""


class PlacesAhead:
    """Has a node get ready for the places of a job in the order in which its scenarios name them, a few ahead of the
    runs that begin."""

    def __init__(self, prepare: Callable[[RunPlace, SandboxSpec], Awaitable[None]], places: Places) -> None:
        self._prepare = prepare
        self._order = {place: number for number, place in enumerate(places)}
        self._specs = list(places.items())
        self._next = 0
        self._under_way: set[asyncio.Future[None]] = set()

    def begins(self, place: RunPlace | None) -> None:
        """A run begins there; None = where the job says."""
        last = (-1 if place is None else self._order[place]) + PREPARED_AHEAD
        while self._next < len(self._specs) and self._next <= last:
            preparing = asyncio.ensure_future(self._prepare(*self._specs[self._next]))
            self._under_way.add(preparing)
            preparing.add_done_callback(self._under_way.discard)
            self._next += 1


async def base_spec(blueprints: BlueprintSource, workspace: str, blueprint_id: str) -> SandboxSpec:
    """What candidates run in. Raises NotFoundError."""
    try:
        blueprint = await found_in_thread(blueprints, workspace, blueprint_id)
    except NotFoundError:
        if blueprint_id == DEFAULT_BLUEPRINT:
            return SandboxSpec()
        raise
    return SandboxSpec(image=blueprint.image, blueprint=blueprint.id, limits=blueprint.limits)


def place_named(scenario: Scenario) -> RunPlace | None:
    """What a scenario names; None = nothing."""
    if scenario.image is None and scenario.blueprint is None and scenario.build is None:
        return None
    built = None if scenario.build is None else scenario.build.image.reference
    return RunPlace(scenario.image, scenario.blueprint, scenario.yields_place, built)


def names_own(blueprint: str) -> bool:
    """A job's blueprint was chosen by somebody; it is not what a job has that names none."""
    return blueprint not in (DEFAULT_BLUEPRINT, WARM_BLUEPRINT)


def scenarios_with_places(scenarios: Iterable[Scenario]) -> tuple[Scenario, ...]:
    """The scenarios that name where their candidates run."""
    from harena.scoring.compact import CompactScenarios

    if isinstance(scenarios, CompactScenarios):
        return scenarios.placed()
    return tuple(scenario for scenario in scenarios if place_named(scenario) is not None)


async def places_of(
    blueprints: BlueprintSource,
    workspace: str,
    scenarios: Iterable[Scenario],
    job: SandboxSpec,
    *,
    has_own: bool = False,
    builds: bool = False,
) -> dict[RunPlace, SandboxSpec]:
    """The sandboxes of each place that scenarios name, in their order. `has_own`: the job names a blueprint, see
    `Scenario.yields_place`; `builds`: images can be built. Raises NotFoundError (a blueprint), ValidationError (too
    many)."""
    from harena.scoring.places import in_image

    found: dict[RunPlace, SandboxSpec] = {}
    for scenario in scenarios:
        named = place_named(scenario)
        if named is None or named in found:
            continue
        if len(found) >= MOST_PLACES:
            raise ValidationError(
                f"the scenarios name more than {MOST_PLACES} images and blueprints, which is the most for one job"
            )
        image, blueprint, yields, built = named
        if has_own and yields:
            found[named] = job
        elif built is not None and builds:
            found[named] = in_image(built, job)
        elif image is not None:
            found[named] = in_image(image, job)
        elif blueprint is None:
            found[named] = job
        else:
            made = await base_spec(blueprints, workspace, blueprint)
            found[named] = replace(job, image=made.image, blueprint=made.blueprint, limits=made.limits)
    return found


def check_networks(scenarios: Iterable[Scenario], permitted: Sequence[Network] | None) -> None:
    """Raises ValidationError where a scenario's network has an entry that this node connects no sandbox to, before
    anything runs. `permitted`: see `NetworkPolicy.why_refused`."""
    from harena.scoring.compact import CompactScenarios, policies_of
    from harena.scoring.scenario import Scenario

    if permitted is None:
        return
    if isinstance(scenarios, CompactScenarios):
        policies = scenarios.policies
    else:
        policies = {policy for one in scenarios if isinstance(one, Scenario) for policy in policies_of(one)}
    for policy in policies:
        if (why := policy.why_refused(permitted)) is not None:
            raise ValidationError(f"a scenario's network: {why}")


def builds_of(scenarios: Iterable[Scenario], *, can_build: bool, has_own: bool) -> dict[RunPlace, FolderBuild]:
    """What is built for places that scenarios name. Raises ValidationError for what can be had by a build only, where
    the job names a blueprint or nobody can build."""
    found: dict[RunPlace, FolderBuild] = {}
    told: list[str] = []
    count = 0
    for scenario in scenarios:
        build, named = scenario.build, place_named(scenario)
        if build is None or named is None:
            continue
        if can_build and not (has_own and named.yields):
            found[named] = build.image
        elif build.required:
            count += 1
            if len(told) < _MOST_NAMED:
                told.append(f"{scenario.id}: {build.required}")
    if told:
        more = f"; and {count - len(told)} more" if count > len(told) else ""
        why = "leave the job's blueprint out" if can_build else "run them as a job of an embedded node"
        raise ValidationError(
            f"{count} scenarios need an image that is built of their Dockerfile: {why} ({'; '.join(told)}{more})"
        )
    return found


def check_contracts(
    scenarios: Iterable[Scenario],
    everybody: Iterable[Scenario],
    job: SandboxSpec,
    places: Places,
    *,
    machine: bool = True,
) -> None:
    """Raises ValidationError where a contract cannot be scored in the image that its candidates run in, before anything
    runs. `scenarios` name their places, see `scenarios_with_places`; of `everybody` the rest are where the job says.
    `machine`: whether sandboxes of the workspace may have that profile."""
    from harena.scoring.places import is_of_image, why_not_in_image

    told: list[str] = []
    count = 0
    for scenario in everybody if is_of_image(job) else scenarios:
        named = place_named(scenario)
        where = job if named is None else places[named]
        build = scenario.build
        is_built = build is not None and named is not None and where.image == named.built
        contract = build.scoring if build is not None and is_built else scenario.scoring
        why = why_not_in_image(contract) if is_of_image(where) else None
        if why is None and not machine and is_of_image(where) and getattr(contract, "profile", "") == "machine":
            why = NO_MACHINE
        if why is not None:
            count += 1
            if len(told) < _MOST_NAMED:
                told.append(f"{scenario.id} (image {where.image}): {why}")
    if told:
        more = f"; and {count - len(told)} more" if count > len(told) else ""
        raise ValidationError(f"{count} scenarios cannot be scored in their image: {'; '.join(told)}{more}")
