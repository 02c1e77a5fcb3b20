"""A job whose packages are missing is refused when it is submitted, with the command that installs them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from harena.training.installed import NEEDED, missing_for_training

SUBMITS = """
import sys
for name in ("torch", "peft"):
    sys.modules[name] = None  # as where it is not installed: neither found nor imported
import harena
try:
    harena.training_jobs.create(trainer_type="sft", model="tiny-llama", config={"dataset_ref": sys.argv[1]})
except harena.ValidationError as error:
    print(error)
print(len(harena.training_jobs.list()))
"""


def test_what_is_missing_is_named() -> None:
    assert missing_for_training(lambda name: name) is None
    told = missing_for_training(lambda name: None if name == "torch" else name)
    assert told is not None
    assert told.startswith("training needs torch, which is not installed")
    assert "pip install 'harena[train]'" in told
    everything = missing_for_training(lambda name: None)
    assert everything is not None
    assert all(name in everything for name in NEEDED)


def test_no_job_is_accepted_that_would_die_at_its_first_import(tmp_path: Path) -> None:
    rows = tmp_path / "rows.jsonl"
    rows.write_text('{"prompt": "1", "completion": "2"}\n')
    words = [sys.executable, "-c", SUBMITS, str(rows)]
    env = {**os.environ, "HARENA_HOME": str(tmp_path / "home")}
    done = subprocess.run(words, capture_output=True, text=True, check=True, env=env)
    assert "training needs torch, peft, which are not installed where this node runs" in done.stdout
    assert done.stdout.splitlines()[-1] == "0"
