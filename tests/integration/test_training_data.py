"""Training data from the example data set: the command, its sandboxes, its files and its lineage."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import harena
from harena.cli.main import main

pytestmark = pytest.mark.thorough

EXAMPLES = Path(__file__).parents[2] / "examples" / "sft"
PASSING = ["Own/0/1", "Own/0/2", "Own/0/3", "Own/1/1", "Own/1/3", "Own/2/2"]
"""of samples.jsonl, by hand"""


def rows(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_the_example_becomes_training_data(home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In sandboxes; then pairs of the same job, without any."""
    output = tmp_path / "verified.jsonl"
    files = ["--scenarios", str(EXAMPLES / "problems.jsonl"), "--candidates", str(EXAMPLES / "samples.jsonl")]
    words = ["sft", "validate", *files, "--output", str(output), "--report", str(tmp_path / "report.json")]
    assert main([*words, "--dedupe", "normalized", "--system", "You write Python."]) == 0
    report = json.loads((tmp_path / "report.json").read_text())
    lineage = rows(tmp_path / "verified.lineage.jsonl")
    assert [row["scenario"] for row in lineage] == [name for name in PASSING if name != "Own/0/3"]
    assert {row["trust"] for row in lineage} == {"separate"}
    totals = report["totals"]
    assert (totals["candidates"], totals["scored"], totals["passed"], totals["duplicates"]) == (15, 15, len(PASSING), 1)
    assert report["problems_without_pass"] == ["Own/3"]
    for row in rows(output):
        assert [message["role"] for message in row["messages"]] == ["system", "user", "assistant"]
        assert row["messages"][1]["content"].startswith(("def ", "from typing import List"))
    assert rows(output)[2]["messages"][2]["content"].startswith("<think>")
    assert main(["sft", "verify", str(output)]) == 0

    pairs = tmp_path / "pairs.jsonl"
    words[words.index(str(output))] = str(pairs)
    chosen = ["--form", "preference", "--completion", "code", "--keep", "shortest", "--overwrite"]
    assert main([*words, *chosen, "--job", report["job_id"]]) == 0
    assert [(row["scenario"], row["rejected"]["scenario"]) for row in rows(tmp_path / "pairs.lineage.jsonl")] == [
        ("Own/0/2", "Own/0/4"), ("Own/1/3", "Own/1/2"), ("Own/2/2", "Own/2/1"),
    ]  # fmt: skip
    for row in rows(pairs):
        assert row["chosen"].startswith(row["prompt"])
        assert row.keys() == {"prompt", "chosen", "rejected"}
    pairs.write_text(pairs.read_text().replace("Own", "own").replace("return", "yield", 1))
    assert main(["sft", "verify", str(pairs)]) == 1
    assert "pairs.jsonl: line 1: the data is not what was written there" in capsys.readouterr().out
    harena.shutdown()
    for left in home.iterdir():  # the store of the job
        if left.is_file():
            left.unlink()
