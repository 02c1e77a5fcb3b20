"""What every transport must do with scenarios and scoring contracts that are kept by name: tests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from harena.core.catalog import CatalogKind
from harena.core.errors import NotFoundError, ValidationError
from harena.core.ports import Operations
from harena.core.requests import EntryFields

SUM = {"type": "stdio", "cases": [{"stdin": "1 2", "stdout": "3"}]}
MAX = {"type": "stdio", "cases": [{"stdin": "1 2", "stdout": "2"}]}


def program(what: str) -> str:
    """A candidate."""
    return f"print({what}(map(int, input().split())))"


def answers(problem: str) -> list[dict[str, Any]]:
    """Two candidates for one problem."""
    return [{"id": what, "problem": problem, "candidate": program(what)} for what in ("sum", "max")]


class CatalogConformance:
    """All of it."""

    async def test_contracts_have_versions(self, operations: Operations) -> None:
        """Other content is the next version, the same content the same; a bare name is the newest, and what is archived
        is found by its version only."""

        async def create(contract: dict[str, Any]) -> dict[str, Any]:
            request: EntryFields = {"name": "sums", "contract": contract}
            return (await operations.create_catalog_entry("scoring_contracts", request)).to_dict()

        first, second, again = await create(SUM), await create(MAX), await create(SUM)
        assert (first["ref"], second["ref"], again) == ("sums@1", "sums@2", first)
        assert (first["type"], first["trust"], first["archived_at"]) == ("stdio", "separate", None)
        found = await operations.get_catalog_entry("scoring_contracts", "sums")
        assert found.to_dict() == {**second, "contract": MAX}
        assert (await operations.get_catalog_entry("scoring_contracts", "sums@1"))["contract"] == SUM
        archived = await operations.archive_catalog_entry("scoring_contracts", "sums@2")
        assert archived.to_dict() == {"name": "sums", "archived": 1}
        assert (await operations.archive_catalog_entry("scoring_contracts", "sums@2"))["archived"] == 0
        assert (await operations.get_catalog_entry("scoring_contracts", "sums"))["ref"] == "sums@1"
        assert (await operations.get_catalog_entry("scoring_contracts", "sums@2"))["archived_at"] is not None
        await operations.archive_catalog_entry("scoring_contracts", "sums")
        with pytest.raises(NotFoundError, match="'sums' that is not archived"):
            await operations.get_catalog_entry("scoring_contracts", "sums")

    async def test_a_deleted_version_is_gone_and_its_number_with_it(self, operations: Operations) -> None:
        """It takes a version's name; the same content is stored as another version afterwards."""
        for kind, field, content in (
            ("scoring_contracts", "contract", SUM),
            ("scenarios", "scenarios", [{"id": "p", "candidate": "print(1)", "scoring": SUM}]),
            ("benchmark_job_defs", "request", {"config": {"attempts": 2}}),
        ):
            asked = {"name": "gone", field: content}
            for number in (1, 2, 3):
                made = await operations.create_catalog_entry(kind, asked)  # type: ignore[arg-type]
                assert made["ref"] == f"gone@{number}"
                if number < 3:
                    await operations.delete_catalog_entry(kind, made["ref"])  # type: ignore[arg-type]
                    with pytest.raises(NotFoundError, match=f"gone@{number}"):
                        await operations.get_catalog_entry(kind, made["ref"])  # type: ignore[arg-type]
            listed = await operations.list_catalog_entries(kind, name="gone", archived=True)  # type: ignore[arg-type]
            assert [entry["ref"] for entry in listed["entries"]] == ["gone@3"]
            with pytest.raises(ValidationError, match="names no version"):
                await operations.delete_catalog_entry(kind, "gone")  # type: ignore[arg-type]
            for ref in ("gone@1", "gone@2", "none@1"):
                with pytest.raises(NotFoundError, match=ref):
                    await operations.delete_catalog_entry(kind, ref)  # type: ignore[arg-type]

    async def test_a_job_runs_stored_problems_and_says_which(self, operations: Operations, tmp_path: Path) -> None:
        """Problems of a file, whose contract is stored too; candidates come with the job. What is stored afterwards
        changes nothing, and what is archived still runs by its version."""
        await operations.create_catalog_entry("scoring_contracts", {"name": "adding", "contract": SUM})
        file = tmp_path / "problems.yaml"
        file.write_text("problems:\n- {id: p, statement: add, scoring: {contract: adding}}\n")
        stored = await operations.create_catalog_entry(
            "scenarios", {"name": "add-set", "scenarios": str(file), "metadata": {"split": "train"}}
        )
        assert (stored["ref"], stored["format"], stored["problems"], stored["candidates"]) == (
            "add-set@1",
            "scenarios",
            1,
            0,
        )
        assert (stored["contracts"], stored["trust"], stored["metadata"]) == (
            ["adding@1"],
            "separate",
            {"split": "train"},
        )
        await operations.create_catalog_entry("scoring_contracts", {"name": "adding", "contract": MAX})
        await operations.archive_catalog_entry("scenarios", "add-set")
        job = await operations.create_benchmark_job(
            {"name": "of stored", "scenarios": {"ref": "add-set@1"}, "candidates": answers("p")}
        )
        results = await operations.wait_benchmark_job(job["id"])
        lineage = {"scenarios": "add-set@1", "digest": stored["digest"], "contracts": ["adding@1"]}
        assert job["lineage"].to_dict() == lineage
        assert {
            run["scenario_id"]: (run["score"], run["scenario_version"], run["contract_version"], run["scorer_version"])
            for run in results["runs"]
        } == {
            "sum": (1.0, "add-set@1", "adding@1", "stdio-5"),
            "max": (0.0, "add-set@1", "adding@1", "stdio-5"),
        }

    async def test_inline_scenarios_refer_to_stored_contracts(self, operations: Operations) -> None:
        """A reference is to the newest version or to one that it names; an inline contract has no version."""
        for contract in (SUM, MAX):
            await operations.create_catalog_entry("scoring_contracts", {"name": "inline", "contract": contract})
        scorings: dict[str, dict[str, Any]] = {
            "newest": {"contract": "inline"}, "first": {"contract": "inline@1"}, "own": SUM,
        }  # fmt: skip
        rows = [{"id": name, "candidate": program("sum"), "scoring": scoring} for name, scoring in scorings.items()]
        job = await operations.create_benchmark_job({"name": "inline refs", "scenarios": rows})
        results = await operations.wait_benchmark_job(job["id"])
        assert {run["scenario_id"]: (run["score"], run["contract_version"]) for run in results["runs"]} == {
            "newest": (0.0, "inline@2"),
            "first": (1.0, "inline@1"),
            "own": (1.0, None),
        }
        assert (await operations.get_benchmark_job(job["id"]))["lineage"].to_dict() == {
            "scenarios": None,
            "digest": None,
            "contracts": ["inline@1", "inline@2"],
        }

    async def test_a_whole_data_set_in_one_call(self, operations: Operations) -> None:
        """A thousand scenarios with their candidates: one version, one job; its content comes back as it was."""
        rows = [{"id": f"s{number}", "candidate": program("sum"), "scoring": SUM} for number in range(1000)]
        made = await operations.create_catalog_entry("scenarios", {"name": "thousand", "scenarios": rows})
        assert (made["problems"], made["candidates"], made["scorers"]) == (1000, 1000, ["stdio-5"])
        found = await operations.get_catalog_entry("scenarios", "thousand", content=True)
        assert found["scenarios"] == rows
        assert (found["calibrations"], found["calibration"]) == ([], None)
        assert "scenarios" not in await operations.get_catalog_entry("scenarios", "thousand")

    async def test_data_sets_of_other_formats_are_stored_as_they_are(self, operations: Operations) -> None:
        """With their format; answers come with the job, and "oracle" stands for their own solutions."""
        row = {
            "task_id": "HumanEval/0",
            "prompt": "def add(a, b):\n",
            "entry_point": "add",
            "canonical_solution": "    return a + b\n",
            "test": "def check(candidate):\n    assert candidate(1, 2) == 3\n",
        }
        made = await operations.create_catalog_entry("scenarios", {"name": "small-humaneval", "scenarios": [row]})
        assert (made["format"], made["problems"]) == ("humaneval", 1)
        wrong = {"task_id": "HumanEval/0", "completion": "    return a - b\n"}
        for candidates, score in (("oracle", 1.0), ([wrong], 0.0)):
            job = await operations.create_benchmark_job(
                {"name": "h", "scenarios": {"ref": "small-humaneval"}, "candidates": candidates}
            )
            (run,) = (await operations.wait_benchmark_job(job["id"]))["runs"]
            assert (run["score"], run["scenario_version"]) == (score, "small-humaneval@1")

    async def test_pages_of_names(self, operations: Operations) -> None:
        """By prefix, metadata and cursor; newest first, one line per name, and every version where it is asked for."""
        for number in range(5):
            row = {"id": "one", "candidate": program("sum"), "scoring": SUM, "metadata": {"n": number}}
            request: EntryFields = {
                "name": f"page-{number % 3}",
                "scenarios": [row],
                "metadata": {"even": str(number % 2 == 0)},
            }
            await operations.create_catalog_entry("scenarios", request)

        async def refs(**asked: Any) -> list[str]:
            page = await operations.list_catalog_entries("scenarios", prefix="page-", **asked)
            return [entry["ref"] for entry in page["entries"]]

        assert await refs() == ["page-1@2", "page-0@2", "page-2@1"]
        assert await refs(metadata={"even": "False"}) == ["page-0@2"]
        assert await refs(name="page-0") == ["page-0@2", "page-0@1"]
        first = await operations.list_catalog_entries("scenarios", prefix="page-", limit=2)
        assert [entry["ref"] for entry in first["entries"]] == ["page-1@2", "page-0@2"]
        assert await refs(cursor=first["next_cursor"]) == ["page-2@1"]
        await operations.archive_catalog_entry("scenarios", "page-1@2")
        assert await refs() == ["page-0@2", "page-2@1", "page-1@1"]
        assert len(await refs(archived=True)) == 5

    @pytest.mark.parametrize(
        ("kind", "request_", "says"),
        [
            ("scenarios", {"name": "a/b", "scenarios": [{}]}, "name"),
            ("scenarios", {"name": "a@1", "scenarios": [{}]}, "name"),
            ("scenarios", {"name": "x", "scenarios": [{"id": "a", "candidat": "x", "scoring": SUM}]}, "candidat"),
            ("scenarios", {"name": "x", "scenarios": [{"id": "a", "candidate": "x", "scoring": {"contract": "no"}}]},
             "no scoring contract 'no'"),
            ("scenarios", {"name": "x", "scenarios": []}, "no scenarios"),
            ("scenarios", {"name": "x", "scenarios": {"problems": [{"id": "p", "files": 3}]}}, "files"),
            ("scenarios", {"name": "x", "scenarios": [{"foo": 1}]}, "no data format is like this"),
            ("scenarios", {"name": "x", "scenarios": [{}], "colour": "red"}, "colour"),
            ("scenarios", {"name": "x", "scenarios": [{}], "metadata": {"a b": "c"}}, "a b"),
            ("scoring_contracts", {"name": "x", "contract": {"type": "best"}}, "must be one of tests"),
            ("scoring_contracts", {"name": "x", "contract": {"contract": "y"}}, "type"),
            ("scoring_contracts", {"name": "x"}, "contract: "),
        ],
    )  # fmt: skip
    async def test_bad_entries(self, operations: Operations, kind: CatalogKind, request_: Any, says: str) -> None:
        """What is wrong is named, and nothing is kept."""
        with pytest.raises(ValidationError, match=says):
            await operations.create_catalog_entry(kind, request_)
        assert not (await operations.list_catalog_entries(kind, name="x", archived=True))["entries"]

    async def test_a_mistake_in_a_file_has_its_line(self, operations: Operations, tmp_path: Path) -> None:
        """Also where the file's content travels."""
        file = tmp_path / "contract.json"
        file.write_text(json.dumps({**SUM, "comparision": "exact"}, indent=1))
        with pytest.raises(ValidationError, match=r"contract.json:9: comparision: .*comparison"):
            await operations.create_catalog_entry("scoring_contracts", {"name": "x", "contract": str(file)})

    @pytest.mark.parametrize(
        ("scenarios", "more", "error", "says"),
        [
            ({"ref": "nothing"}, {}, NotFoundError, "no scenarios 'nothing'"),
            ({"ref": "nothing@7"}, {}, NotFoundError, "nothing@7"),
            ({"ref": "a b"}, {}, ValidationError, "is no stored version"),
            ({"ref": 7}, {}, ValidationError, "is no stored version"),
            ({"ref": "nothing", "scenarios": []}, {}, ValidationError, "stands alone"),
            ({"ref": "lonely"}, {}, ValidationError, "candidates: missing; lonely@1 holds problems only"),
            (
                {"ref": "lonely"},
                {"candidates": answers("p1")},
                ValidationError,
                "no problem has the id 'p1'; did you mean",
            ),
            ({"ref": "lonely"}, {"format": "humaneval", "candidates": []}, ValidationError, "stored with its own"),
        ],
    )
    async def test_bad_references(
        self, operations: Operations, scenarios: Any, more: Any, error: type[Exception], says: str
    ) -> None:
        """One error, and no job."""
        lonely = {"problems": [{"id": "p", "scoring": SUM}]}
        await operations.create_catalog_entry("scenarios", {"name": "lonely", "scenarios": lonely})
        with pytest.raises(error, match=says):
            await operations.create_benchmark_job(more | {"name": "bad reference", "scenarios": scenarios})
        with pytest.raises(NotFoundError):
            await operations.get_benchmark_job("bad reference")

    async def test_unknown_entries(self, operations: Operations) -> None:
        """NotFoundError, from every verb, for every kind of name."""
        kind: CatalogKind
        for kind in ("scenarios", "scoring_contracts"):
            for ref in ("unknown", "unknown@1"):
                for verb in (operations.get_catalog_entry(kind, ref), operations.archive_catalog_entry(kind, ref)):
                    with pytest.raises(NotFoundError, match=ref):
                        await verb
        for waiting in (operations.get_calibration("job_none"), operations.wait_calibration("job_none")):
            with pytest.raises(NotFoundError, match="job_none"):
                await waiting
