"""Write down what the stock `dreadnode` client asks and expects, for tests that do not have it.

    PYTHON_OF_THE_CLIENT scripts/record_dreadnode.py tests/component/server/dreadnode.json

It is run by the Python that the client is installed for (`uv venv v && uv pip install -p v dreadnode==2.0.52`). Each
`dn train` command runs against a server here that answers as little as the client takes; what the command has asked
is recorded, and with it the JSON schemas of the models that the client reads answers with.
"""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.metadata import version
from pathlib import Path
from typing import Any

JOB = "JOB"
"""stands for a job's id in what is recorded"""
NOW = "2026-01-01T00:00:00+00:00"
TRAIN_SFT = ["sft", "--model", "MODEL", "--capability", "acme/solver@1.0.0"]
TRAIN_RL = ["rl", "--model", "MODEL", "--capability", "solver@1.0.0", "--algorithm"]
COMMANDS: dict[str, list[str]] = {
    "sft": [
        *TRAIN_SFT, *("--dataset", "rows@1", "--eval-dataset", "rows@1", "--name", "taught", "--tag", "a"),
        *("--run-ref", "r", "--max-sequence-length", "64", "--batch-size", "4", "--gradient-accumulation-steps", "2"),
        *("--learning-rate", "0.001", "--steps", "3", "--epochs", "2", "--lora-rank", "4", "--lora-alpha", "8"),
        *("--checkpoint-interval", "2", "--json"),
    ],
    "rl": [
        *TRAIN_RL, "ppo", *("--prompt-dataset", "prompts@1", "--reward-recipe", "exact_match_v1", "--steps", "3"),
        *("--execution-mode", "fully_async", "--max-steps-off-policy", "2", "--num-rollouts", "8", "--batch-size", "4"),
        *("--temperature", "0.7", "--stop", ";", "--stop", "END", "--max-new-tokens", "8", "--lora-rank", "4"),
        *("--eval-dataset", "prompts@1", "--eval-interval", "2", "--eval-max-rollouts", "4", "--project-ref", "p"),
    ],
    "rl, greedy": [
        *TRAIN_RL, "importance_sampling", *("--prompt-dataset", "prompts@1", "--reward-recipe", "contains_v1"),
        *("--reward-params", '{"needle": "1"}', "--temperature", "0", "--num-rollouts", "4", "--batch-size", "4"),
        *("--weight-sync-interval", "2", "--steps", "2", "--max-new-tokens", "4", "--wait"),
    ],
    "list": ["list"],
    "list, filtered": ["list", "--page", "1", "--page-size", "2", "--status", "completed", "--backend", "tinker"],
    "get": ["get", JOB],
    "wait": ["wait", JOB],
    "logs": ["logs", JOB],
    "artifacts": ["artifacts", JOB],
    "cancel": ["cancel", JOB, "--yes"],
    "catalog": ["catalog", "--query", "tiny", "--algorithm", "sft", "--max-size-b", "8", "--limit", "5"],
    "list, of a workspace and a project": ["list", "--workspace", "default", "--project", "p"],
}  # fmt: skip
MODELS = (
    *("User", "Organization", "Workspace", "Project", "TrainingJob", "TrainingJobList", "TrainingJobLogList"),
    *("TrainingJobArtifacts", "TrainingCatalogResponse"),
)
"""classes of `dreadnode.app.api.models`"""
SECONDS = dict.fromkeys(
    (
        "effective_max_sandbox_runtime_seconds",
        "effective_default_sandbox_runtime_seconds",
        "platform_max_sandbox_runtime_seconds",
        "platform_default_sandbox_runtime_seconds",
    ),
    1,
)
LEVELS = dict.fromkeys(("max_sandbox_runtime_source_level", "default_sandbox_runtime_source_level"), "platform")
TIMES = {"created_at": NOW, "updated_at": NOW}
NAMED = {"id": "x", "name": "x", "key": "default", **TIMES}
TRAINING_JOB = {
    "id": JOB, "organization_id": "acme", "workspace_id": "default", "status": "completed", "backend": "tinker",
    "trainer_type": "sft", "model": "m", "capability": {"name": "solver", "version": "1.0.0"}, "created_at": NOW,
}  # fmt: skip


def least(path: str) -> Any:
    """Give the smallest answer that the client takes."""
    parts = path.partition("?")[0].strip("/").split("/")[2:]
    match parts:
        case ["user"]:
            return {"id": "u", "email_address": "", "username": "u"}
        case ["training", "catalog"]:
            return {"models": [], "total": 0, "limit": 20}
        case ["org", _]:
            return {**NAMED, **SECONDS, **LEVELS}
        case ["org", _, "ws"]:
            return [{**NAMED, "org_id": "x", "is_default": True}]
        case ["org", _, "ws", _]:
            return {**NAMED, "org_id": "x"}
        case ["org", _, "ws", _, "projects", _]:
            return NAMED
        case [*_, "logs"]:
            return {"items": []}
        case [*_, "artifacts"]:
            return {"artifacts": {}}
        case [*_, "training", "jobs"] if "?" in path:
            return {"items": [], "total": 0, "page": 1, "page_size": 20}
    return TRAINING_JOB


class Recorder(BaseHTTPRequestHandler):
    """Answers as little as the client takes, and notes what it asks."""

    asked: list[dict[str, Any]]

    def answer(self) -> None:
        """Note one request."""
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        headers = {name.lower(): value for name, value in self.headers.items() if name.lower().startswith("x-")}
        entry = {"method": self.command, "path": self.path, "headers": headers}
        self.asked.append(entry | ({"body": json.loads(body)} if body else {}))
        said = json.dumps(least(self.path)).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(said)))
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(said)

    do_GET = do_POST = answer  # noqa: N815 - named by http.server

    def log_request(self, *arguments: Any) -> None:
        """Say nothing."""


def record(dn: Path) -> dict[str, Any]:
    """Command -> the requests that it makes, those of equal paths in their order."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Recorder)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    recorded = {}
    with tempfile.TemporaryDirectory() as home:
        environ = {
            **os.environ,
            "HOME": home,
            "DREADNODE_SERVER": f"http://127.0.0.1:{server.server_port}",
            "DREADNODE_API_KEY": "KEY",
            "DREADNODE_ORGANIZATION": "acme",
        }
        for name, arguments in COMMANDS.items():
            Recorder.asked = []
            subprocess.run([dn, "train", *arguments], check=True, env=environ, stdout=subprocess.DEVNULL)
            recorded[name] = sorted(Recorder.asked, key=lambda one: (one["method"], len(one["path"]), one["path"]))
    server.shutdown()
    return recorded


def main() -> None:
    """Write the file that the command line names."""
    models: Any = importlib.import_module("dreadnode.app.api.models")

    written = {
        "client": f"dreadnode {version('dreadnode')}",
        "commands": record(Path(sys.executable).parent / "dn"),
        "models": {name: getattr(models, name).model_json_schema(mode="validation") for name in MODELS},
    }
    Path(sys.argv[1]).write_text(json.dumps(written, indent=1, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
