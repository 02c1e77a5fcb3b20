"""Programs and commands that other clients' users know, against a server, in processes of their own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from served import Served

from harena.testing.conformance_training import asked

END_SECONDS = 60
TRAINING = """
import json, sys
import harena.aliases
from dreadnode.app.api.client import ApiClient
from dreadnode.app.api.models import CreateTinkerSFTJobRequest, TinkerSFTJobConfig
client = ApiClient(sys.argv[1], api_key=sys.argv[2])
job = client.create_training_job("acme", "main", json.loads(sys.argv[3]))
again = client.get_training_job("acme", "main", job.id)
listed = client.list_training_jobs("acme", "main", page_size=1, trainer_type=job.trainer_type)
client.list_training_job_logs("acme", "main", job.id)
client.get_training_job_artifacts("acme", "main", job.id)
ended = client.cancel_training_job("acme", "main", job.id)
print(json.dumps([again.id == job.id, again.organization_id, listed.items[0].id == job.id, ended.status]))
try:
    request = CreateTinkerSFTJobRequest(
        model="tiny", capability_ref={"name": "none", "version": "1.0.0"}, config=TinkerSFTJobConfig(bacth_size=1)
    )
    client.create_training_job("acme", "main", request)
except harena.ValidationError as error:
    print(error)
"""


def run(server: Served, *words: str, **env: str) -> subprocess.CompletedProcess[str]:
    names = {"HARENA_BASE_URL": server.world.url, "HARENA_API_KEY": server._token, **env}
    environment = {**os.environ, **{name: value for name, value in names.items() if value}}
    return subprocess.run(
        [sys.executable, *words], env=environment, capture_output=True, text=True, timeout=END_SECONDS, check=False
    )


def test_dreadnodes_training_calls(served: Served, tmp_path: Path) -> None:
    """By the address and the key that the client is made with; a mistake is told as harena tells it."""
    prompts = tmp_path / "prompts.jsonl"
    prompts.write_text(json.dumps({"prompt": "1+1=", "answer": "2"}) + "\n")
    request = json.dumps(asked(prompts))
    done = run(served, "-c", TRAINING, served.world.url, served._token, request, HARENA_BASE_URL="", HARENA_API_KEY="")
    assert done.returncode == 0, done.stderr
    first, rest = done.stdout.split("\n", 1)
    assert json.loads(first)[:3] == [True, "acme", True]
    assert json.loads(first)[3] in ("cancelled", "running", "completed")
    assert "bacth_size" in rest


def test_sandboxes_are_listed_and_stopped(served: Served) -> None:
    """By id and by tag; what is not there is an error."""
    command = ("-m", "harena.cli.main", "sandbox")
    one = served.made("/v1/sandboxes", {"tags": ["batch", "one"]})
    two = served.made("/v1/sandboxes", {"tags": ["batch"]})
    listed = json.loads(run(served, *command, "ls", "--tag", "batch", "--format", "json").stdout)
    assert sorted(row["id"] for row in listed) == sorted([one, two])
    table = run(served, *command, "ls", "--tag", "one").stdout
    assert (one in table, two in table) == (True, False)
    assert run(served, *command, "stop", one).stdout == f"{one}: stopped\n"
    assert run(served, *command, "stop", "--tag", "batch").stdout == f"{two}: stopped\n"
    gone = run(served, *command, "stop", "sb_none")
    assert (gone.returncode, "sb_none" in gone.stderr) == (2, True)
    assert run(served, *command, "stop").returncode == 2
