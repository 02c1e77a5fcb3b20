"""Benchmark jobs that cannot be: one clear error before any work, the same over every transport."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harena.core.errors import HarenaError, NotFoundError, ValidationError
from harena.core.ports import Operations

ADDING = {"type": "stdio", "cases": [{"stdin": "1 2", "stdout": "3"}]}
"""a scoring contract"""
GOOD, BAD = (
    {
        "id": name,
        "candidate": {"files": {"solution.py": f"print({what}(map(int, input().split())))"}},
        "scoring": ADDING,
    }
    for name, what in (("good", "sum"), ("bad", "max"))
)
YEAR = 365 * 24 * 3600
"""characters of one file of a candidate, see docs/reference/scenario.md"""


def job(*scenarios: Any, **more: Any) -> Any:
    """A request, of one good scenario where none is given."""
    return {"name": "x", "scenarios": list(scenarios or [GOOD]), **more}


def configured(**config: Any) -> Any:
    """A request with this configuration."""
    return job(config=config)


def scenario(**changes: Any) -> Any:
    """A request of one scenario with these fields."""
    return job({**GOOD, **changes})


def deep(levels: int) -> Any:
    """Lists in each other."""
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


BAD_JOBS: dict[str, tuple[Any, str]] = {
    "unknown field": (job(retries=1), "retries: unknown"),
    "unknown setting": (configured(concurency=1), "config.concurency: unknown"),
    "unknown field of a scenario": (scenario(candidat=1), r"\[0\].candidat: unknown field; did you mean `candidate`"),
    "unknown field of a contract": (scenario(scoring={**ADDING, "casess": 1}), r"\[0\].scoring.casess: unknown field"),
    "no name": ({"scenarios": [GOOD]}, "name: "),
    "name that is a number": ({**job(), "name": 5}, "name: .*string"),
    "empty name": ({**job(), "name": ""}, "name: "),
    "long name": ({**job(), "name": "x" * 201}, "name: .*200"),
    "name of two lines": ({**job(), "name": "a\nb"}, "name: must be printable"),
    "name with NUL": ({**job(), "name": "a\0b"}, "name: must be printable"),
    "name with an escape": ({**job(), "name": "a\x1b[31mb"}, "name: must be printable"),
    "name with half a pair": ({**job(), "name": "a\ud800"}, "name: "),
    "no scenarios": ({"name": "x"}, "scenarios: "),
    "empty batch": ({"name": "x", "scenarios": []}, "there are no scenarios"),
    "empty mapping": ({"name": "x", "scenarios": {}}, "there are no scenarios"),
    "scenarios that are a number": ({"name": "x", "scenarios": 5}, "scenarios: must be"),
    "scenario that is none": ({"name": "x", "scenarios": [GOOD, None]}, r"\[1\]: must be a mapping"),
    "same id twice": (job(GOOD, GOOD), r"\[1\].id: 'good' is the id of the scenario at \[0\] too"),
    "id of two lines": (scenario(id="a\nb"), r"\[0\].id: must be printable"),
    "id with NUL": (scenario(id="a\0b"), r"\[0\].id: must be printable"),
    "id with half a pair": (scenario(id="\ud800"), r"\[0\].id: holds a lone surrogate"),
    "file with a NUL in its name": ({"name": "x", "scenarios": "a\0b.yaml"}, "NUL"),
    "file that is not there": ({"name": "x", "scenarios": "/nowhere/at/all.yaml"}, "all.yaml.* cannot be read"),
    "unknown format": (job(format="nope"), "there is no format 'nope'; there are"),
    "blueprint that is a number": (job(blueprint_id=5), "blueprint_id: .*string"),
    "config that is a list": (job(config=[1]), "config: "),
    "concurrency as text": (configured(concurrency="8"), "config.concurrency: .*integer"),
    "concurrency as truth": (configured(concurrency=True), "config.concurrency: .*integer"),
    "negative concurrency": (configured(concurrency=-1), "config.concurrency: .*greater than or equal to 1"),
    "no concurrency": (configured(concurrency=0), "config.concurrency: .*greater than or equal to 1"),
    "huge concurrency": (configured(concurrency=10**9), "config.concurrency: .*less than or equal to 1000"),
    "endless concurrency": (configured(concurrency=10**5000), "config.concurrency: "),
    "no time": (configured(timeout_seconds=0), "config.timeout_seconds: .*greater than 0"),
    "negative time": (configured(timeout_seconds=-1), "config.timeout_seconds: .*greater than 0"),
    "a year": (configured(timeout_seconds=YEAR), "config.timeout_seconds: .*less than or equal to 86400"),
    "time that is no number": (configured(timeout_seconds=math.nan), "config.timeout_seconds: .*finite"),
    "endless time": (configured(timeout_seconds=math.inf), "config.timeout_seconds: .*finite"),
    "time of 400 digits": (configured(timeout_seconds=10**400), "config.timeout_seconds: "),
    "a year for the job": (configured(job_timeout_seconds=YEAR), "config.job_timeout_seconds: .*2592000"),
    "a run shorter than its candidate": (
        configured(timeout_seconds=30.0, run_timeout_seconds=30.0),
        "config: run_timeout_seconds must be more than timeout_seconds",
    ),
    "endless time for a run": (configured(run_timeout_seconds=math.inf), "config.run_timeout_seconds: .*finite"),
    "no time for a scenario": (scenario(limits={"timeout_seconds": 0}), r"\[0\].limits.timeout_seconds: .*more than 0"),
    "a year for a scenario": (scenario(limits={"timeout_seconds": YEAR}), r"timeout_seconds: .*at most 86400"),
    "no number for a scenario": (scenario(limits={"timeout_seconds": math.nan}), r"timeout_seconds: .*finite"),
    "memory beyond all": (scenario(limits={"memory_mb": 10**30}), r"\[0\].limits.memory_mb: must be at most"),
    "too many runs": (
        job(*({**GOOD, "id": str(number)} for number in range(1001)), config={"attempts": 1000}),
        "1 to 1000000 runs; 'x' would have 1001000",
    ),
    "deep metadata": (scenario(metadata={"x": deep(100_000)}), "nested more than 200 levels"),
    "less deep metadata": (scenario(metadata={"x": deep(201)}), "nested more than 200 levels"),
    "candidates that are a number": (job(candidates=5), "candidates: must be"),
    "grader that is a number": (job(grader=5), "grader: "),
}


class BadJobConformance:
    """What is wrong is told at once, and nothing is there afterwards."""

    @pytest.mark.parametrize("name", BAD_JOBS)
    async def test_bad_jobs(self, operations: Operations, name: str) -> None:
        """A ValidationError that names the place; there is no job."""
        request, says = BAD_JOBS[name]
        before = await operations.list_benchmark_jobs()
        with pytest.raises(ValidationError, match=says) as caught:
            await operations.create_benchmark_job(request)
        assert len(str(caught.value)) < 2000
        assert await operations.list_benchmark_jobs() == before

    async def test_every_mistake_at_once(self, operations: Operations) -> None:
        """One error lists every mistake of the request, and of all scenarios."""
        wrong: Any = {"nome": "x", "scenarios": [GOOD], "config": {"concurrency": 0, "retries": 1}, "blueprint_id": ""}
        with pytest.raises(ValidationError) as caught:
            await operations.create_benchmark_job(wrong)
        places = ("nome: ", "name: ", "config.concurrency: ", "config.retries: ", "blueprint_id: ")
        assert [place for place in places if place not in str(caught.value)] == []
        rows = [{**GOOD, "id": str(number), "scoring": {**ADDING, "cases": []}} for number in range(5)]
        with pytest.raises(ValidationError, match="5 mistakes") as caught:
            await operations.create_benchmark_job(job(*rows))
        assert all(f"[{number}].scoring.cases: " in str(caught.value) for number in range(5))

    async def test_mistakes_beyond_counting(self, operations: Operations) -> None:
        """Fifty are shown, and how many there are; a document is read until it has a thousand."""
        for rows, mistakes in ((900, 900), (10_000, 1001)):  # the last one says that reading has stopped
            with pytest.raises(ValidationError, match=f"{mistakes} mistakes") as caught:
                await operations.create_benchmark_job(job(*({"id": str(number)} for number in range(rows))))
            assert str(caught.value).count("\n") < 60

    @pytest.mark.parametrize("ending", ["jsonl", "json", "yaml"])
    async def test_files_that_are_not_utf8(self, operations: Operations, tmp_path: Path, ending: str) -> None:
        """The file and the byte are named."""
        file = tmp_path / f"latin.{ending}"
        file.write_bytes(json.dumps([{**GOOD, "id": "x"}]).encode().replace(b"x", b"\xe9", 1))
        with pytest.raises(ValidationError, match=rf"latin.{ending}.* not UTF-8.*byte \d+"):
            await operations.create_benchmark_job({"name": "x", "scenarios": str(file)})

    async def test_unknown_blueprint(self, operations: Operations) -> None:
        """It says which there are."""
        for name in ("nope", "a\0", "'; drop table benchmark_jobs; --", "../../etc/passwd"):
            with pytest.raises(NotFoundError, match=r"no blueprint .* there are: .*default"):
                await operations.create_benchmark_job(job(blueprint_id=name))

    async def test_names_that_are_only_strange(self, operations: Operations) -> None:
        """SQL, paths, wildcards and other scripts are plain names: of jobs, of scenarios, and of candidates' files."""
        strange = "'; DROP TABLE benchmark_jobs; -- %_*?[]{}$(id)`id`\\ ../../x 🦆"
        made = await operations.create_benchmark_job(scenario(id=strange) | {"name": strange})
        results = await operations.wait_benchmark_job(strange)
        assert (results["job_id"], results["name"]) == (made["id"], strange)
        assert [(run["scenario_id"], run["passed"]) for run in results["runs"]] == [(strange, True)]
        for name in ("%", "_", "' OR '1'='1", "*"):
            with pytest.raises(NotFoundError):
                await operations.get_benchmark_job(name)
        await operations.delete_benchmark_job(strange)
        with pytest.raises(HarenaError, match="no benchmark job"):
            await operations.get_benchmark_job(made["id"])

    async def test_what_is_made_one_by_one(self, operations: Operations) -> None:
        """Scenarios may come from a generator, which is taken once."""
        rows = ({**GOOD, "id": f"s{number}"} for number in range(300))
        made = await operations.create_benchmark_job({"name": "generated", "scenarios": rows})
        assert made["progress"]["total"] == 300
        await operations.cancel_benchmark_job(made["id"])
        await operations.delete_benchmark_job(made["id"])

    async def test_what_breaks_while_it_is_made(self, operations: Operations) -> None:
        """Its own error comes back; and what JSON would change is named."""

        def broken() -> Iterator[Any]:
            yield GOOD
            raise ValueError("no more of it")

        before = await operations.list_benchmark_jobs()
        with pytest.raises(ValueError, match=r"^no more of it$"):
            await operations.create_benchmark_job({"name": "x", "scenarios": broken()})
        odd = iter([GOOD, {**GOOD, "id": "odd", "metadata": {"x": (1, 2)}}])
        with pytest.raises(ValidationError, match=r"scenarios: \[1\].metadata.x: .* a tuple"):
            await operations.create_benchmark_job({"name": "x", "scenarios": odd})
        with pytest.raises(ValidationError, match="there are no scenarios"):
            await operations.create_benchmark_job({"name": "x", "scenarios": iter([])})
        assert await operations.list_benchmark_jobs() == before
