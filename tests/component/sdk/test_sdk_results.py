"""Results by page, as rows, as files, and compared."""

from __future__ import annotations

import csv
import json
import sys
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest
from sdk_fake_node import NodeControl

from fake_answers import filled
from harena import benchmark_jobs
from harena.core.errors import NotFoundError, ValidationError
from harena.core.records.benchmark_jobs import BenchmarkResults, BenchmarkRun, Summary
from harena.core.records.result_rows import COLUMNS, MORE
from harena.sdk.result_files import FORMULA_BEGINS, ResultFormat, result_file
from harena.sdk.result_parquet import ROWS_PER_GROUP


def run(number: int, **more: Any) -> dict[str, Any]:
    """A run as results have it."""
    given = {
        "run": number,
        "scenario_id": f"s{number}",
        "attempt": 1,
        "score": 1.0,
        "passed": True,
        "validity": "valid",
        "reason": "passed",
        "detail": "",
        "duration_seconds": 0.5,
        "peak_memory_bytes": 1 << 40,
        "metadata": {"split": "train"},
        "expected": None,
        "verdict_right": None,
        **more,
    }
    return filled(BenchmarkRun, given).to_dict()


ODD = [
    run(0, detail="=HYPERLINK(1)", score=None, passed=False),
    run(1, scenario_id='-1,"x"\n', detail="\ud800"),
    run(2, score=-0.5, of_tomorrow="c@2"),
]


def test_runs_are_fetched_as_they_are_read(node: NodeControl) -> None:
    """Every one once, in order, by pages that follow each other; and a page can be asked for from a cursor."""
    benchmark_jobs.get("j")
    node.opened[0].runs["j"] = [run(number) for number in range(2500)]
    reader = benchmark_jobs.runs("j")
    assert next(reader).scenario_id == "s0"
    assert len(node.opened[0].pages) <= 2
    assert [one.run for one in reader] == list(range(1, 2500))
    assert node.opened[0].pages == [("j", 0), ("j", 1000), ("j", 2000)]
    rest = list(benchmark_jobs.results_pages("j", after=1400))
    assert [(len(page.runs), page.cursor) for page in rest] == [(1000, 2400), (100, 2500)]
    assert [(len(page.runs), page.state) for page in benchmark_jobs.results_pages("j", after=2500)] == [
        (0, "completed")
    ]


async def test_results_can_be_awaited(node: NodeControl) -> None:
    """All of the verbs."""
    await benchmark_jobs.aio.get("j")
    node.opened[0].runs.update({"j": [run(0)], "job-j": [run(0)], "job-k": [run(0, score=0.0, passed=False)]})
    assert [one.score async for one in benchmark_jobs.aio.runs("j")] == [1.0]
    assert [page.cursor async for page in benchmark_jobs.aio.results_pages("j")] == [1]
    assert (await benchmark_jobs.aio.summary("j")).summary.total == 1
    assert (await benchmark_jobs.aio.diff("j", "k")).changes["newly_failing"] == 1
    await benchmark_jobs.aio.delete("j")
    assert [one async for one in benchmark_jobs.aio.runs("j")] == []


@pytest.mark.parametrize("read", [1, 3])
def test_a_reader_that_is_left_lets_go(node: NodeControl, read: int) -> None:
    """`break` out of events that have not ended: what they were read from is closed, also while nothing comes."""
    for number, _ in enumerate(benchmark_jobs.events("endless"), 1):
        if number == read:
            break
    assert node.opened[0].events_closed.wait(10)


def test_rows_hold_everything(node: NodeControl) -> None:
    """Flat, the same columns for every run, and what has no column beside them."""
    rows = filled(BenchmarkResults, {"runs": ODD}).to_rows()
    assert [list(row) for row in rows] == [[*COLUMNS, MORE]] * 3
    assert (rows[0]["metadata"], rows[0]["expected"], rows[0][MORE]) == ({"split": "train"}, None, None)
    assert rows[2][MORE] == {"of_tomorrow": "c@2"}


def saved(node: NodeControl, path: Path, runs: list[dict[str, Any]]) -> Path:
    benchmark_jobs.get("j")
    node.opened[0].runs["j"] = runs
    benchmark_jobs.save_results("j", path)
    assert [entry.name for entry in path.parent.iterdir()] == [path.name], "nothing half-written stays"
    return path


@pytest.mark.parametrize("runs", [[], [run(0)], ODD])
def test_json_files(node: NodeControl, tmp_path: Path, runs: list[dict[str, Any]]) -> None:
    """One object: the runs as they are, and the summary."""
    whole = json.loads(saved(node, tmp_path / "r.json", runs).read_text())
    assert whole == {
        "runs": runs, "job_id": "j", "name": "n", "state": "completed", "error": None,
        "summary": filled(Summary, {"total": len(runs)}).to_dict(),
    }  # fmt: skip


def test_jsonl_files(node: NodeControl, tmp_path: Path) -> None:
    """A run to a line, as it is."""
    assert [json.loads(line) for line in saved(node, tmp_path / "r.jsonl", ODD).read_text().splitlines()] == ODD


def test_csv_files_hold_no_formulas(node: NodeControl, tmp_path: Path) -> None:
    """What candidates write is text to a spreadsheet, and numbers stay numbers."""
    with open(saved(node, tmp_path / "r.csv", ODD), newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["detail"] for row in rows] == ["'=HYPERLINK(1)", "?", ""]
    assert [row["scenario_id"] for row in rows] == ["s0", '\'-1,"x"\n', "s2"]
    assert [row["score"] for row in rows] == ["", "1.0", "-0.5"]
    assert json.loads(rows[2]["more"]) == {"of_tomorrow": "c@2"}
    assert not any(cell.startswith(FORMULA_BEGINS) for row in rows for name, cell in row.items() if name != "score")


def test_parquet_files_have_types(node: NodeControl, tmp_path: Path) -> None:
    """Columns of their kind, None as null, exact text, row groups of a bounded size, and the job in the metadata."""
    many = [*ODD, *(run(number) for number in range(3, ROWS_PER_GROUP + 1500))]
    file = pyarrow.parquet.ParquetFile(saved(node, tmp_path / "r.parquet", many))
    assert file.metadata.num_row_groups == 2
    table = file.read()
    assert table.num_rows == len(many)
    kinds = {field.name: str(field.type) for field in table.schema}
    assert (kinds["score"], kinds["passed"], kinds["peak_memory_bytes"]) == ("double", "bool", "int64")
    first = table.slice(0, 3).to_pydict()
    assert first["score"] == [None, 1.0, -0.5]
    assert first["detail"][0] == "=HYPERLINK(1)"
    assert json.loads(first["metadata"][0]) == {"split": "train"}
    assert json.loads(file.metadata.metadata[b"harena.job"])["job_id"] == "j"


def test_parquet_without_pyarrow_says_how_to_get_it(
    node: NodeControl, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before anything is read or written."""
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    benchmark_jobs.get("j")
    with pytest.raises(ValidationError, match=r"pip install 'harena\[parquet\]'"):
        benchmark_jobs.save_results("j", tmp_path / "r.parquet")
    assert (list(tmp_path.iterdir()), node.opened[0].pages) == ([], [])


def test_a_file_is_whole_or_not_there(node: NodeControl, tmp_path: Path) -> None:
    """What broke off in the middle leaves the file that was there before."""
    path = tmp_path / "r.csv"
    path.write_text("before")

    def break_off() -> None:
        with result_file(path, ResultFormat.CSV) as writer:
            writer.add([BenchmarkRun.from_dict(run(0))])
            raise RuntimeError("it broke")

    with pytest.raises(RuntimeError, match="broke"):
        break_off()
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]


def test_places_and_formats_that_are_none(node: NodeControl, tmp_path: Path) -> None:
    """One message, with what would be right."""
    with pytest.raises(ValidationError, match="none of json, jsonl, csv, parquet"):
        benchmark_jobs.save_results("j", tmp_path / "results")
    with pytest.raises(ValidationError, match="'xlsx' is none of"):
        benchmark_jobs.save_results("j", tmp_path / "results.csv", format="xlsx")
    with pytest.raises(ValidationError, match="there is no folder"):
        benchmark_jobs.save_results("j", tmp_path / "nowhere" / "results.csv")
    with pytest.raises(ValidationError, match="is a folder"):
        benchmark_jobs.save_results("j", tmp_path, format="csv")
    with pytest.raises(ValidationError, match="no regular file"):
        benchmark_jobs.save_results("j", "/dev/null", format="csv")
    with pytest.raises(NotFoundError):
        benchmark_jobs.diff("missing", "j")


def test_a_link_stays_one(node: NodeControl, tmp_path: Path) -> None:
    """What it leads to is replaced."""
    (tmp_path / "link.csv").symlink_to(tmp_path / "kept.csv")
    benchmark_jobs.save_results("j", tmp_path / "link.csv")
    assert (tmp_path / "link.csv").is_symlink()
    assert (tmp_path / "kept.csv").read_text().startswith("scenario_id,")


def test_two_jobs_are_compared(node: NodeControl) -> None:
    """Both are named; one that has not ended is warned of."""
    benchmark_jobs.get("j")
    node.opened[0].runs.update({"job-a": [run(0), run(1)], "job-b": [run(0, score=0.0, passed=False), run(1)]})
    answer = benchmark_jobs.diff("a", "b")
    assert answer.jobs["a"]["id"] == "job-a"
    assert (answer.compared, answer.regressed, answer.significantly_worse) == (2, True, False)
    assert [entry["scenario_id"] for entry in answer.scenarios] == ["s0"]
    assert answer.warnings[0] == "a has not ended: what it lacks may come"
