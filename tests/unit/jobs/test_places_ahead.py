"""A node gets ready for the images of a job a few places ahead of its runs, each once."""

from __future__ import annotations

import asyncio

from harena.core.models import SandboxSpec
from harena.jobs.benchmark.job_places import PREPARED_AHEAD, PlacesAhead, RunPlace

PLACES: dict[RunPlace, SandboxSpec] = {
    RunPlace(f"image:{number}", None): SandboxSpec(image=f"image:{number}") for number in range(10)
}


async def test_places_are_prepared_in_their_order_and_each_once() -> None:
    prepared: list[str] = []

    async def prepare(place: RunPlace, spec: SandboxSpec) -> None:
        prepared.append(spec.image)

    ahead = PlacesAhead(prepare, PLACES)
    ahead.begins(None)
    await asyncio.sleep(0)
    assert prepared == [f"image:{number}" for number in range(PREPARED_AHEAD)]
    for number in (0, 0, 2, 1):
        ahead.begins(RunPlace(f"image:{number}", None))
    await asyncio.sleep(0)
    assert prepared == [f"image:{number}" for number in range(2 + PREPARED_AHEAD + 1)]
    ahead.begins(RunPlace("image:9", None))
    await asyncio.sleep(0)
    assert prepared == [spec.image for spec in PLACES.values()]
