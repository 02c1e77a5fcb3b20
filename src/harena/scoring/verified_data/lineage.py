"""Where each line of training data comes from, and whether data and lineage still belong together.

One line for each line of data:

    {"line": 1, "sha256": of the data's line without its end, "problem", "scenario", "scenario_digest",
     "candidate_digest", "score", "trust", "scorer_version", "evidence": [one for each attempt],
     "scenario_version", "contract_version": of stored ones, as NAME@2,
     "profile", "image_digest", "blueprint_digest": what the candidate's sandbox was made of,
     "rejected": the same of a pair's worse candidate, "job_id", "rule": {...}, "harena_version"}
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from itertools import zip_longest
from typing import Any

from harena.scoring.verified_data.standing import Judged

STORED = ("scenario_version", "contract_version", "profile", "image_digest", "blueprint_digest")
"""fields of a run that a line has where they say something"""
MOST_FAULTS = 5


def origin_of(one: Judged) -> dict[str, Any]:
    """A candidate, what it was scored with, and what its score was."""
    first = one.runs[0]
    return {
        "scenario": one.scenario.id,
        "scenario_digest": first["scenario_digest"],
        "candidate_digest": first["candidate_digest"],
        "score": one.score,
        "trust": first["trust"],
        "scorer_version": first["scorer_version"],
        "evidence": [run["evidence"] for run in one.runs],
        **{name: first[name] for name in STORED if first.get(name)},
    }


def line_digest(line: bytes) -> str:
    """Digest of a line of data, its end left out."""
    return hashlib.sha256(line.rstrip(b"\r\n")).hexdigest()


def compared(data: Iterable[bytes], lineage: Iterable[bytes]) -> dict[str, Any]:
    """Whether each line of data has its line of lineage.

    {ok, rows, faulty, problems, job_ids, harena_versions, faults}: `faulty` counts the lines that do not belong
    together, and `ok` says that there are none; `faults` are sentences about the first `MOST_FAULTS` of them.
    """
    faults: list[str] = []
    rows = faulty = 0
    seen: dict[str, set[str]] = {"problem": set(), "job_id": set(), "harena_version": set()}
    for number, (line, written) in enumerate(zip_longest(data, lineage), 1):
        rows += line is not None
        record = _record(written)
        fault = _fault(number, line, written, record)
        if fault is None and record is not None:
            for name, values in seen.items():
                values.add(str(record.get(name)))
        elif fault is not None:
            faulty += 1
            faults += [fault] if faulty <= MOST_FAULTS else []
    return {
        "ok": not faulty,
        "rows": rows,
        "faulty": faulty,
        "problems": len(seen["problem"]),
        "job_ids": sorted(seen["job_id"]),
        "harena_versions": sorted(seen["harena_version"]),
        "faults": faults,
    }


def _record(written: bytes | None) -> Mapping[str, Any] | None:
    try:
        record = json.loads(written or b"")
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None


def _fault(number: int, line: bytes | None, written: bytes | None, record: Mapping[str, Any] | None) -> str | None:
    if written is None:
        return f"line {number}: the data has it, the lineage does not"
    if record is None:
        return f"line {number} of the lineage is not a JSON object"
    if line is None:
        return f"line {number}: the lineage has it, the data does not"
    if record.get("line") != number:
        return f"line {number} of the lineage is about line {record.get('line')!r}"
    if record.get("sha256") != line_digest(line):
        return f"line {number}: the data is not what was written there (changed, or lines were added, removed or moved)"
    return None
