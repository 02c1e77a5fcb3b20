"""Jobs of data sets: rows that are left out, and the blueprint of a job that names none; over a real store."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from stored_jobs import StoredJobs
from test_benchmark_jobs import Named, NoSandboxes, Scorer

from harena.core.blueprint_source import BlueprintSource
from harena.core.clock import SystemClock
from harena.core.errors import NotFoundError, ValidationError
from harena.core.node_config import NodeConfig
from harena.core.records.blueprints import Blueprint
from harena.core.workspace import DEFAULT_WORKSPACE as HERE
from harena.runtime.host.blueprints import BUILT_IN

ROW = {
    "task_id": "t/1",
    "prompt": "def f(n):\n",
    "canonical_solution": "    return n\n",
    "test": "def check(candidate):\n    assert candidate(1) == 1\n",
    "entry_point": "f",
}
ROWS = [ROW, {**ROW, "task_id": "t/2", "entry_point": "no name"}, {**ROW, "task_id": "t/3"}]
OWN = {
    "id": "a",
    "candidate": "def f(): return 1",
    "scoring": {"type": "tests", "entry_point": "f", "checks": [{"expected": 1}]},
}
ENV = Blueprint(id="bp_1", name="default", env={"A": "1"})


class Reader(Scorer):
    """Scores real scenarios, or hangs in the first."""

    def __init__(self, hang: bool = False) -> None:
        super().__init__()
        self.does = "hang" if hang else "pass"

    async def __call__(self, scenario: Any, **more: Any) -> Any:  # type: ignore[override]
        return await super().__call__(Named(scenario.id, self.does), **more)


class Recipes(BlueprintSource):
    """The built-in blueprints, and one more in place of `default`, if there is."""

    def __init__(self, default: Blueprint | None = None) -> None:
        self._known = {**BUILT_IN, **({"default": default} if default else {})}

    def find(self, workspace: str, name_or_id: str) -> Blueprint:
        for blueprint in self._known.values():
            if name_or_id in (blueprint.id, blueprint.name):
                return blueprint
        raise NotFoundError(name_or_id)


@asynccontextmanager
async def node(path: Path, scorer: Reader, recipes: Recipes | None = None) -> AsyncIterator[StoredJobs]:
    """A node's jobs."""
    config = NodeConfig(store_place=path, durable_jobs=True)
    jobs = StoredJobs(config, NoSandboxes(), recipes or Recipes(), SystemClock(), score=scorer, cores=2)
    await jobs.start()
    try:
        yield jobs
    finally:
        await jobs.close()


@pytest.mark.parametrize(
    ("rows", "more", "default", "wanted"),
    [
        ([ROW], {}, None, "python-warm"),
        ([ROW], {"blueprint_id": "default"}, None, "default"),
        ([ROW], {}, ENV, "default"),
        ([OWN], {}, None, "default"),
        ([{**ROW, "test": "def check(c):\n    for n in [1]:\n        assert c(n) == n\n"}], {}, None, "python-warm"),
    ],
    ids=["data set", "a blueprint is named", "another default", "own scenarios", "test code that is run"],
)
async def test_data_sets_of_python_programs_start_warm(
    tmp_path: Path, rows: list[Any], more: dict[str, Any], default: Blueprint | None, wanted: str
) -> None:
    """Where nobody says otherwise; the job says it, and its sandboxes are of it."""
    scorer, recipes = Reader(), Recipes(default)
    async with node(tmp_path / "harena.db", scorer, recipes) as jobs:
        job = await jobs.create(HERE, {"name": "n", "scenarios": rows, **more})
        await jobs.wait(HERE, job["id"])
    assert job["blueprint"] == wanted
    assert {spec.blueprint for _, _, _, spec in scorer.calls} == {recipes.find(HERE, wanted).id}


@pytest.mark.parametrize("setting", ["HARENA_WARM_PROGRAMS", "HARENA_HIDDEN_FRAMES"])
async def test_nothing_starts_warm_unasked_where_a_program_could_tell(
    tmp_path: Path, setting: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A setting has switched off what hides it."""
    monkeypatch.setenv(setting, "off")
    async with node(tmp_path / "harena.db", Reader()) as jobs:
        job = await jobs.create(HERE, {"name": "n", "scenarios": [ROW]})
        await jobs.wait(HERE, job["id"])
    assert job["blueprint"] == "default"


async def test_bad_rows_of_a_job_are_left_out_on_request(tmp_path: Path) -> None:
    """They are counted and named, also by the node that goes on with the job; unasked, they refuse it."""
    first, second = Reader(hang=True), Reader()
    async with node(tmp_path / "harena.db", first) as jobs:
        with pytest.raises(ValidationError, match="entry_point"):
            await jobs.create(HERE, {"name": "n", "scenarios": ROWS})
        job = await jobs.create(HERE, {"name": "n", "scenarios": ROWS, "config": {"skip_bad_rows": True}})
        whole = await jobs.create(HERE, {"name": "n", "scenarios": [ROW], "config": {"skip_bad_rows": True}})
        await asyncio.wait_for(first.hanging.wait(), 30)
    assert (job["progress"]["total"], job["left_out"]["rows"], job["lineage"]) == (2, 1, None)
    assert "entry_point: must be the name of a function" in job["left_out"]["told"][0]
    assert (whole["left_out"], whole["config"]["skip_bad_rows"]) == (None, True)
    async with node(tmp_path / "harena.db", second) as jobs:
        results = await jobs.wait(HERE, job["id"])
        again = await jobs.get(HERE, job["id"])
    assert [run["scenario_id"] for run in results["runs"]] == ["t/1/oracle", "t/3/oracle"]
    assert again["left_out"] == job["left_out"]
