"""The stock `dreadnode` client against a real server, each of its `dn train` commands, with a kill -9 in between.

It takes most of a gigabyte with what it stands on, so it is run where HARENA_TEST_DN names it:

    uv venv v && uv pip install -p v dreadnode==2.0.52
    HARENA_TEST_DN=v/bin/dn make test TESTS=tests/integration/test_dreadnode_client.py

What the client asks and takes is checked everywhere, of a recording: `tests/component/server/test_dreadnode_face.py`.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from server_lives import Server
from training_node import written

DN = os.environ.get("HARENA_TEST_DN")
VERSION = "2.0.52"

pytestmark = [pytest.mark.thorough, pytest.mark.timeout(900), pytest.mark.filterwarnings("ignore")]


class Client:
    """The client's command line, pointed at a server."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self.url = ""

    def run(self, *words: str, fails: bool = False) -> str:
        """What `dn train WORDS` prints."""
        assert DN is not None
        done = subprocess.run(
            [DN, "train", *words],
            env={
                **os.environ,
                "HOME": str(self._home),
                "DREADNODE_SERVER": self.url,
                "DREADNODE_API_KEY": "any",
                "DREADNODE_ORGANIZATION": "acme",
            },
            capture_output=True,
            text=True,
            check=False,
        )
        assert bool(done.returncode) == fails, done.stdout + done.stderr
        return done.stdout + done.stderr

    def json(self, *words: str) -> Any:
        """What `dn train WORDS --json` tells."""
        return json.loads(self.run(*words, "--json"))


def publish(folder: Path, url: str) -> None:
    """A model with a chat template, a capability, and two data sets."""
    from harena.training.engines.tiny import byte_pair_tokenizer, tiny_llama

    tokenizer = byte_pair_tokenizer(["1+1=2", "Answer."], 300)
    model = tiny_llama(len(tokenizer), seed=0, width=16, layers=1, heads=2)
    for part in (model, tokenizer):
        part.save_pretrained(folder / "model")
    (folder / "capability/agents").mkdir(parents=True)
    about = "schema: 1\nname: solver\nversion: 1.0.0\ndescription: Solves.\n"
    (folder / "capability/capability.yaml").write_text(about)
    (folder / "capability/agents/main.md").write_text("Answer.\n")
    written(folder / "rows.jsonl", [{"prompt": f"{n}+1=", "answer": str(n + 1)} for n in range(16)])
    written(folder / "prompts.jsonl", [{"prompt": f"{n}+1=", "expected_output": str(n + 1)} for n in range(16)])
    for kind, place, ref in (
        ("model", "model", "small@1"),
        ("capability", "capability", "solver@1.0.0"),
        ("dataset", "rows.jsonl", "rows@1"),
        ("dataset", "prompts.jsonl", "prompts@1"),
    ):
        command = [sys.executable, "-m", "harena.cli.main", "push", kind, str(folder / place), ref]
        subprocess.run(command, check=True, env={**os.environ, "HARENA_BASE_URL": url}, stdout=subprocess.DEVNULL)


if DN:

    def test_every_command_also_after_a_kill(tmp_path: Path) -> None:
        """A job that was accepted ends after its server was killed, and the client sees it to its end."""
        given = {"HARENA_HOME": str(tmp_path / "home"), "OMP_NUM_THREADS": "1"}
        client = Client(tmp_path / "user")
        server = Server.start(**given).listens()
        try:
            client.url = server.url
            publish(tmp_path, server.url)
            assert [model["tinker_id"] for model in client.json("catalog")["models"]] == ["tiny-llama", "small@1"]
            of_all = ("--capability", "acme/solver@1.0.0", "--json")
            sft = ("sft", "--model", "small@1", "--dataset", "rows@1", "--name", "taught", *of_all)
            made = json.loads(client.run(*sft, "--epochs", "40", "--checkpoint-interval", "5", "--tag", "a"))
            assert made["status"] in ("queued", "running")
            assert server.end(signal.SIGKILL) == -signal.SIGKILL

            server = Server.start(**given).listens()
            client.url = server.url
            client.run("wait", made["id"], "--poll-interval-sec", "0.2")
            found = client.json("get", made["id"])
            assert (found["status"], found["metrics"]["steps"]) == ("completed", [*range(1, 41)])
            assert "the job has completed" in client.run("logs", made["id"])
            assert client.json("artifacts", made["id"])["artifacts"]["adapter"] == "adapter"

            rl = ("rl", "--model", f"job:{made['id']}", "--algorithm", "ppo", "--prompt-dataset", "prompts@1", *of_all)
            greedy = ("--num-rollouts", "4", "--batch-size", "4", "--temperature", "0", "--weight-sync-interval", "2")
            ended = json.loads(
                client.run(
                    *rl, *greedy, *("--reward-recipe", "exact_match_v1", "--steps", "4", "--max-new-tokens", "4"),
                    *("--stop", "\n\n", "--stop", "END", "--wait", "--poll-interval-sec", "0.2"),
                )
            )  # fmt: skip
            assert (ended["status"], ended["algorithm"], ended["error"]) == ("completed", "ppo", None)

            long = json.loads(client.run(*sft, "--epochs", "100000"))
            assert client.json("cancel", long["id"], "--yes")["status"] == "cancelled"
            said = client.run("wait", long["id"], "--poll-interval-sec", "0.2", fails=True)
            assert "cancelled" in said
            assert [job["id"] for job in client.json("list")] == [long["id"], ended["id"], made["id"]]
            assert [job["id"] for job in client.json("list", "--status", "completed", "--trainer-type", "rl")] == [
                ended["id"]
            ]
            assert "batch_size" in client.run(*sft, "--batch-size", "0", fails=True)
        finally:
            if server.process.poll() is None:
                server.end()
