"""Whether data and lineage belong together."""

from __future__ import annotations

import json

import pytest

from harena.scoring.verified_data.lineage import compared, line_digest

DATA = [b'{"prompt": "a"}\n', b'{"prompt": "b"}\n', b'{"prompt": "c"}\n']


def lineage(data: list[bytes]) -> list[bytes]:
    """What would have been written beside these lines."""
    shared = {"job_id": "job_1", "harena_version": "1"}
    return [
        json.dumps({"line": number, "sha256": line_digest(line), "problem": f"p{number // 2}", **shared}).encode()
        for number, line in enumerate(data, 1)
    ]


def test_what_was_written_together_belongs_together() -> None:
    """Ends of lines do not count."""
    unix, dos = DATA, [line.replace(b"\n", b"\r\n") for line in DATA]
    for data in (unix, dos, [*unix[:2], unix[2].rstrip()]):
        assert compared(data, lineage(DATA)) == {
            "ok": True, "rows": 3, "faulty": 0, "faults": [],
            "problems": 2, "job_ids": ["job_1"], "harena_versions": ["1"],
        }  # fmt: skip
    assert compared([], [])["ok"]


@pytest.mark.parametrize(
    ("data", "origins", "fault"),
    [
        ([DATA[0], b'{"prompt": "B"}\n', DATA[2]], lineage(DATA), "line 2: the data is not what was written there"),
        (DATA[:2], lineage(DATA), "line 3: the lineage has it, the data does not"),
        (DATA, lineage(DATA)[:2], "line 3: the data has it, the lineage does not"),
        (DATA, [*lineage(DATA)[:2], b"{"], "line 3 of the lineage is not a JSON object"),
        (DATA, [*lineage(DATA)[:2], b"[1]"], "line 3 of the lineage is not a JSON object"),
        (DATA, [*lineage(DATA)[:2], b"\xff"], "line 3 of the lineage is not a JSON object"),
        (DATA, [*lineage(DATA)[:2], b"{}"], "line 3 of the lineage is about line None"),
    ],
)
def test_each_difference_is_told(data: list[bytes], origins: list[bytes], fault: str) -> None:
    """With its line."""
    answer = compared(data, origins)
    assert (answer["ok"], answer["faulty"]) == (False, 1)
    assert answer["faults"][0].startswith(fault)


def test_lines_that_changed_places_are_told_and_many_are_counted() -> None:
    """The first few in full."""
    assert compared([DATA[1], DATA[0], DATA[2]], lineage(DATA))["faulty"] == 2
    many = [b"%d\n" % number for number in range(50)]
    answer = compared(many[1:], lineage(many))
    assert (answer["faulty"], answer["rows"], len(answer["faults"])) == (50, 49, 5)
