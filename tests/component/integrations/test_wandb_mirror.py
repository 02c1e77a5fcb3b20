"""A job in W&B: written offline by the real wandb, and read back from its file."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from harena.integrations.wandb import points, rollout_rows

MIRRORED = """
import sys
from types import SimpleNamespace
sys.path.append(sys.argv[2])
from harena.integrations import wandb
from fake_answers import Record

job = Record({"id": "train_1", "name": "noisy", "trainer_type": "rl", "state": "completed", "config": {"steps": 2}})
events = [
    {"cursor": 1, "metrics": {"steps": [1], "train/reward": [0.25]}, "data": {}},
    {"cursor": 2, "metrics": {"eval/steps": [1], "eval/pass_rate": [0.5]}, "data": {}},
    {"cursor": 3, "metrics": {"steps": [2], "train/reward": [0.75]},
     "data": {"rollouts": [{"step": 2, "prompt": "p", "text": "t", "reward": 1.0, "reason": "passed"}]}},
]
wandb.training_jobs = SimpleNamespace(get=lambda job: job if isinstance(job, Record) else made,
                                      events=lambda job: [Record(event) for event in events])
made = job
print(wandb.mirror("noisy", project="sums", mode="offline", folder=sys.argv[1]))
"""


def records(path: Path) -> list[Any]:
    """What a run's file holds. The format is LevelDB's log: blocks of 32 KiB with records in pieces, each behind a head
    of checksum, length and kind; the file begins with 7 bytes of wandb's."""
    from wandb.proto import wandb_internal_pb2

    content, place, piece, found = path.read_bytes(), 7, b"", []
    while place + 7 <= len(content):
        left = 32768 - place % 32768
        if left < 7:
            place += left
            continue
        length = int.from_bytes(content[place + 4 : place + 6], "little")
        kind = content[place + 6]
        piece += content[place + 7 : place + 7 + length]
        place += 7 + length
        if kind in (1, 4):  # whole, or the last piece
            record = wandb_internal_pb2.Record()
            record.ParseFromString(piece)
            found.append(record)
            piece = b""
    return found


def test_a_job_is_mirrored_and_can_be_read_back(tmp_path: Path) -> None:
    """Each step along its own axis, the rollouts as a table, the request as the config; the job's end is the run's."""
    fake_answers = str(Path(__file__).parents[2])
    done = subprocess.run(
        [sys.executable, "-c", MIRRORED, str(tmp_path), fake_answers],
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "train_1"
    [path] = tmp_path.glob("wandb/offline-run-*/run-train_1.wandb")
    told = records(path)
    history = [
        {item.key or "/".join(item.nested_key): json.loads(item.value_json) for item in record.history.item}
        for record in told
        if record.WhichOneof("record_type") == "history"
    ]
    points_of = [{name: value for name, value in row.items() if not name.startswith("_")} for row in history]
    for row in points_of:
        if "eval/step" in row:
            row.pop("step", None)  # wandb may repeat the newest value of an axis
    assert points_of[:3] == [
        {"step": 1, "train/reward": 0.25},
        {"eval/step": 1, "eval/pass_rate": 0.5},
        {"step": 2, "train/reward": 0.75},
    ]
    assert any(name.startswith("rollouts") for name in points_of[3])
    [run] = [record.run for record in told if record.WhichOneof("record_type") == "run"]
    config = {item.key: json.loads(item.value_json) for item in run.config.update}
    assert (run.project, run.display_name, config["steps"], config["trainer_type"]) == ("sums", "noisy", 2, "rl")
    [end] = [record.exit for record in told if record.WhichOneof("record_type") == "exit"]
    assert end.exit_code == 0


def test_points_of_an_event() -> None:
    """Values that are not there are left out, and so are scalars."""
    told = {
        "steps": [1, 2],
        "train/a": [None, 2.0],
        "train/b": [3.0],
        "model": "tiny",
        "eval/steps": [2],
        "eval/c": [4.0],
    }
    assert list(points(told)) == [
        {"step": 1, "train/b": 3.0},
        {"step": 2, "train/a": 2.0},
        {"eval/step": 2, "eval/c": 4.0},
    ]
    assert list(points({})) == []
    assert list(rollout_rows({})) == []
