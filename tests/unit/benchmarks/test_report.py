"""Every measure has its command, its heading and its place on the page."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks import report
from benchmarks.run import ALL, MEASURES, main

MACHINE = {
    **dict.fromkeys(("date", "cpu", "system", "kernel", "python", "user", "commit", "command"), "x"),
    "cpus": 2,
    "memory_gib": 1.0,
    "load_before": 0.1,
    "load_after": 0.2,
}
PAGES = {
    "runs": [10],
    "count": 1,
    "page": 100,
    "absent": "no server",
    "rows": {"SQLite, first page of 10 runs": {"p50": 0.004, "p90": 0.005, "p99": 0.006}},
}


def test_every_measure_is_run_by_all_and_can_be_rendered() -> None:
    """None is forgotten."""
    assert {words[0] for words in ALL} == set(MEASURES) == set(report._RENDER)


def test_a_stored_result_is_on_the_page(tmp_path: Path) -> None:
    """Saved, and read back by its name."""
    lines = report.save("pages", MACHINE, PAGES, directory=tmp_path)
    assert lines[0] == "## A page of results"
    assert "| SQLite, first page of 10 runs | 4.0 | 5.0 | 6.0 | 1.00 |" in lines
    assert "\n".join(lines[:-1]) in (tmp_path / "README.md").read_text()


def test_a_measure_with_a_hyphen_is_no_variant_of_another() -> None:
    """`workload-clean` is the workload's; `server-memory` is itself."""
    memory = {"jobs": 2, "runs": 5, "rss_kib": [1024, 2048, 2048], "slope_kib": 0.0, "slope_of_all_kib": 1.0}
    assert report.section({"name": "server-memory", "machine": MACHINE, "results": memory})[0] == (
        "## A server's memory over its runs"
    )


@pytest.mark.parametrize("words", [["orchestration", "--rounds", "0"], ["pages", "--runs", "x"], ["nonsense"]])
def test_what_cannot_be_measured_is_refused(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """Before anything runs."""
    with pytest.raises(SystemExit):
        main(words)
    assert "usage" in capsys.readouterr().err


def test_learning_is_a_line_for_each_seed_and_a_verdict(tmp_path: Path) -> None:
    """What a proof has no stage for has no column."""
    rows = [
        {"seed": seed, "seconds": 100.0, "cpu_seconds": None, "judged": 0.95, "results": {"sft": 0.3, "rl": rate}}
        for seed, rate in ((7, 0.96), (8, 0.88), (9, 0.91))
    ]
    results = {"proof": "noisy-teacher", "mode": "sync", "threads": 1, "rows": rows}
    lines = report.save("learning-noisy-teacher", MACHINE, results, directory=tmp_path)
    assert lines[0] == "## What training learns from execution: noisy-teacher"
    assert "| seed | SFT | RL | judged | wall s | CPU s |" in lines
    assert "| 8 | 0.300 | 0.880 | 0.950 | 100 |  |" in lines
    assert "| median | 0.300 | 0.910 | 0.950 | 100 | |" in lines
    assert "RL is above 0.9 in 2 of 3." in lines
