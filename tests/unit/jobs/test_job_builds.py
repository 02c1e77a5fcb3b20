"""Images of a job's scenarios: each is built once, and what fails is told of the scenarios that need it."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path

import pytest

from harena.core.errors import ImageBuildError, LimitExceededError, PlatformError, ValidationError
from harena.core.models import SandboxSpec
from harena.core.ports.image_builds import FolderBuild
from harena.jobs.benchmark.job_builds import JobBuilds, PlaceUnavailableError
from harena.jobs.benchmark.job_places import RunPlace, builds_of, place_named, places_of


def build_of(name: str) -> FolderBuild:
    return FolderBuild(reference=name, context=Path("/tasks/one/environment"), dockerfile=Path("/x"))


class Builder:
    """Builds what it is told to, when it is told to."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.cancelled: list[str] = []
        self.may_end = asyncio.Event()
        self.error: Exception | None = None

    async def build(self, build: FolderBuild) -> str:
        self.asked.append(build.reference)
        try:
            await self.may_end.wait()
        except asyncio.CancelledError:
            self.cancelled.append(build.reference)
            raise
        if self.error is not None:
            raise self.error
        return f"sha256:{build.reference}"


async def test_an_image_is_built_once_for_all_who_ask() -> None:
    builder = Builder()
    builds = JobBuilds(builder.build)
    builds.begin(build_of("a"))
    waiting = asyncio.gather(*(builds.image_of(build_of("a")) for _ in range(3)))
    await asyncio.sleep(0)
    builder.may_end.set()
    assert await waiting == ["sha256:a"] * 3
    assert builder.asked == ["a"]


@pytest.mark.parametrize("error", [ImageBuildError("line 2: RUN"), ValidationError("no such file")])
async def test_a_build_that_fails_is_told_to_all_and_not_made_again(error: Exception) -> None:
    builder = Builder()
    builder.may_end.set()
    builder.error = error
    builds = JobBuilds(builder.build)
    for _ in range(2):
        with pytest.raises(PlaceUnavailableError, match=f"the image of one cannot be built: {error}"):
            await builds.image_of(build_of("a"))
    assert builder.asked == ["a"]


@pytest.mark.parametrize("error", [PlatformError("the disk"), LimitExceededError("busy", retry_delay=None)])
async def test_what_the_platform_fails_at_is_tried_anew(error: Exception) -> None:
    builder = Builder()
    builder.may_end.set()
    builder.error = error
    builds = JobBuilds(builder.build)
    for _ in range(2):
        with pytest.raises((type(error), PlaceUnavailableError)):
            await builds.image_of(build_of("a"))
    assert builder.asked == (["a", "a"] if isinstance(error, PlatformError) else ["a"])


async def test_a_build_that_nobody_waits_for_any_more_is_ended() -> None:
    builder = Builder()
    builds = JobBuilds(builder.build)
    builds.begin(build_of("ahead"))
    first, second = (asyncio.ensure_future(builds.image_of(build_of("a"))) for _ in range(2))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    first.cancel()
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert builder.cancelled == ["ahead"]
    second.cancel()
    for one in (first, second):
        with pytest.raises(asyncio.CancelledError):
            await one
    await asyncio.sleep(0)
    assert builder.cancelled == ["ahead", "a"]


@dataclass(frozen=True)
class Named:
    """A scenario, as far as places are concerned."""

    id: str
    image: str | None = None
    yields_place: bool = False
    build: object = None
    blueprint: None = None


async def test_the_place_of_one_scenario_decides_for_no_other() -> None:
    """A task directory yields to the job's blueprint, a row that names the same image does not, in either order."""
    task, row = Named("task", "x:1", yields_place=True), Named("row", "x:1")
    job = SandboxSpec(blueprint="own")
    for scenarios in ([task, row], [row, task]):
        places = await places_of(None, "w", scenarios, job, has_own=True)  # type: ignore[arg-type]
        of_task, of_row = (place_named(one) for one in (task, row))
        assert of_task is not None
        assert of_row is not None
        assert (places[of_task].blueprint, places[of_row].blueprint) == ("own", None)
        assert places[of_row].image == "x:1"


@dataclass(frozen=True)
class Asked:
    """What a scenario's build says."""

    image: FolderBuild
    required: str = ""


async def test_what_needs_a_build_is_refused_where_there_is_none() -> None:
    optional, required = (
        Named(name, "x:1", True, Asked(build_of(name), why)) for name, why in (("a", ""), ("b", "RUN <<E"))
    )
    place = place_named(required)
    assert place == RunPlace("x:1", None, True, "b")
    assert builds_of([optional, required], can_build=True, has_own=False).keys() == {place_named(optional), place}  # type: ignore[list-item]
    for can_build in (True, False):
        assert builds_of([optional], can_build=can_build, has_own=True) == {}  # type: ignore[list-item]
        with pytest.raises(ValidationError, match="b: RUN <<E"):
            builds_of([required], can_build=can_build, has_own=True)  # type: ignore[list-item]
