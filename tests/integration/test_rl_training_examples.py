"""The guides' scripts in examples/rl_training: run as they are, with a tiny model where they load one.

Real `openpipe-art` takes half a gigabyte: its rollout is run by the Python that HARENA_TEST_ART_PYTHON names, which has
`openpipe-art` and what harena needs (`uv pip install openpipe-art==0.5.18 pydantic pyyaml aiohttp`).
"""

from __future__ import annotations

import ast
import importlib
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples/rl_training"
ART_PYTHON = os.environ.get("HARENA_TEST_ART_PYTHON")
GUIDES_FLAGS = {
    "--backend": "local", "--model": "gpt-5.1-codex-mini", "--base-model": "Qwen/Qwen3-8B", "--num-problems": 10,
    "--num-steps": 5, "--trajectories-per-problem": 2, "--base-url": None, "--project": "cwsandbox-mbpp",
    "--run-name": "train-001", "--learning-rate": 1e-5, "--dry-run": "store_true",
}  # fmt: skip

pytestmark = pytest.mark.filterwarnings("ignore")  # those of TRL and of what it stands on


def environment(home: Path, **more: str) -> dict[str, str]:
    return {**os.environ, "HARENA_HOME": str(home), "OMP_NUM_THREADS": "1", **more}


def run(home: Path, script: str, *words: str, python: str = sys.executable, **env: str) -> tuple[int, str]:
    """(exit status, output) of one of the scripts."""
    command = [python, str(EXAMPLES / script), *words]
    done = subprocess.run(command, env=environment(home, **env), capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def test_reward_function(tmp_path: Path) -> None:
    """What the guide prints: what is done first is told first, and the summary is in order. A W&B run has the metrics
    of its session."""
    offline = {"WANDB_MODE": "offline", "WANDB_DIR": str(tmp_path), "WANDB_SILENT": "true"}
    status, said = run(tmp_path, "reward_function.py", "--report-to", "wandb", **offline)
    assert status == 0, said
    told = [line for line in said.splitlines() if line.startswith("[")]
    assert len(told) == 5
    assert told[-1] == "[5/5] Problem 4 (slow-list): PASS"
    assert "Problem 3 (syntax-error): reward=0.0 [FAIL] OK" in said
    assert "Total reward: 3.0/5\nPass rate: 3/5 (60%)" in said
    (reported,) = tmp_path.glob("wandb/offline-run-*/*.wandb")
    assert b"cwsandbox/executions" in reported.read_bytes()


def test_unsloth_says_what_is_missing(tmp_path: Path) -> None:
    """Its reward function works anywhere; the rest needs a GPU, and is not begun without one."""
    status, said = run(tmp_path, "unsloth_grpo.py", "--check")
    assert "reward function: [1.0, 0.0] OK" in said, said
    missing = "missing: the package unsloth is not installed: pip install unsloth" in said
    assert (status, said.splitlines()[-1]) == (
        (1, "not ready") if missing or "no GPU" in said else (0, "ready to train")
    )


def test_art_has_the_guides_flags() -> None:
    """Eleven, with their defaults."""
    found: dict[str, Any] = {}
    for node in ast.walk(ast.parse((EXAMPLES / "art/train.py").read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "add_argument":
            given = {word.arg: word.value for word in node.keywords}
            default = given.get("default") or given.get("action")
            assert default is not None
            found[ast.literal_eval(node.args[0])] = ast.literal_eval(default)
    assert found == GUIDES_FLAGS


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """The script for TRL as a module, over a node of its own."""
    monkeypatch.setenv("HARENA_HOME", str(tmp_path / "home"))
    monkeypatch.syspath_prepend(str(EXAMPLES))
    before = {name: sys.modules.get(name) for name in ("aviato", "cwsandbox", "runloop")}
    yield importlib.import_module("trl_grpo_integration")
    importlib.import_module("harena").shutdown()
    for name, module in before.items():
        if module is None:
            sys.modules.pop(name, None)


@pytest.mark.thorough
@pytest.mark.parametrize("style", ["answer", "fenced"])
def test_trl_trains_for_ten_steps(
    script: ModuleType, tmp_path: Path, style: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """With the reward function of either guide; each step's rewards come from sandboxes."""
    import torch

    from harena.training.engines.tiny import character_tokenizer, tiny_llama

    torch.set_num_threads(1)
    tokenizer = character_tokenizer("".join(map(chr, range(32, 127))) + "\n")
    model = tiny_llama(len(tokenizer), seed=0, width=16, layers=1, heads=2, context_length=128)
    defaults = script.SandboxDefaults(container_image="python:3.11", tags=("trl-grpo",))
    with script.cwsandbox.Session(defaults, report_to=[]) as session:
        reward = script.answer_reward(session) if style == "answer" else script.fenced_reward(defaults)
        assert reward([[{"content": "<answer>print(1)</answer>"}], "```python\n1/0\n```"]) == (
            [1.0, 0.0] if style == "answer" else [0.0, 0.0]
        )
        trainer = script.build_trainer(
            reward,
            model=model,
            processing_class=tokenizer,
            chat=False,
            max_completion_length=4,
            output_dir=str(tmp_path / "out"),
            use_cpu=True,
            bf16=False,
            gradient_checkpointing=False,
            disable_tqdm=True,
        )
        trainer.train()
    assert trainer.state.global_step == 10
    assert sum("reward" in entry for entry in trainer.state.log_history) == 10
    said = [line for line in capsys.readouterr().out.splitlines() if line.startswith(("[CWSandbox]", "[aviato]"))]
    assert len(said) == 11


class OneThatRepairs(BaseHTTPRequestHandler):
    """An OpenAI-compatible stand-in: it writes a file, uses it wrongly, reads the error, and hands in what is right."""

    asked: list[dict[str, Any]]

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.asked.append(body)
        heard = [message["content"] for message in body["messages"] if message["role"] == "tool"]
        calls = [
            ("execute_code", "open('kept.py', 'w').write('def add(a, b):\\n    return a + b\\n')"),
            ("execute_code", "import kept; assert kept.add(1, 2) == 4"),
            ("submit_solution", "from kept import add"),
        ]
        name, code = calls[len(heard)]
        call = {
            "id": f"c{len(heard)}",
            "type": "function",
            "function": {"name": name, "arguments": json.dumps({"code": code})},
        }
        message = {"role": "assistant", "content": None, "tool_calls": [call]}
        choice = {"index": 0, "finish_reason": "tool_calls", "message": message}
        answer = {"id": "x", "object": "chat.completion", "created": 0, "model": body["model"], "choices": [choice]}
        said = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(said)))
        self.end_headers()
        self.wfile.write(said)

    def log_request(self, *arguments: Any) -> None:
        """Quiet."""


ROLLOUT = """
import asyncio, json, os, sys
sys.path.insert(0, {folder!r})
import harena.aliases
import train
from openai import AsyncOpenAI

async def main():
    asked = train.flags().parse_args(["--trajectories-per-problem", "2"])
    client = AsyncOpenAI(base_url=os.environ["STAND_IN"], api_key="none")
    async with train.cwsandbox.Session() as session:
        (group,) = await train.collect(client, asked, train.load_problems(1), session, 1)
    print(json.dumps([[t.reward, t.metrics["turns"], [m["content"] for m in t.messages() if m["role"] == "tool"]]
                      for t in group.trajectories]))

asyncio.run(main())
"""

if ART_PYTHON:

    def test_art_rolls_out_step_by_step(tmp_path: Path) -> None:
        """A file that one step writes is there in the next; what went wrong is heard; what is right earns 1."""
        rows = tmp_path / "mbpp.jsonl"
        rows.write_text(json.dumps({"task_id": 1, "text": "Add.", "test_list": ["assert add(1, 2) == 3"]}) + "\n")
        OneThatRepairs.asked = []
        server = ThreadingHTTPServer(("127.0.0.1", 0), OneThatRepairs)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            done = subprocess.run(
                [ART_PYTHON, "-c", ROLLOUT.format(folder=str(EXAMPLES / "art"))],
                env=environment(
                    tmp_path / "home",
                    PYTHONPATH=str(ROOT / "src"),
                    MBPP_FILE=str(rows),
                    STAND_IN=f"http://127.0.0.1:{server.server_port}/v1",
                ),
                capture_output=True,
                text=True,
                check=False,
            )
        finally:
            server.shutdown()
            server.server_close()
            thread.join()
        assert done.returncode == 0, done.stderr
        for reward, turns, heard in json.loads(done.stdout.splitlines()[-1]):
            assert (reward, turns) == (1.0, 3)
            assert heard[0] == "exit=0\n"
            assert "AssertionError" in heard[1]
            assert heard[2] == "passed"
        assert {tool["function"]["name"] for tool in OneThatRepairs.asked[0]["tools"]} == {
            "execute_code",
            "submit_solution",
        }

    def test_art_dry_run(tmp_path: Path) -> None:
        """Loads the problems, tries a sandbox, trains nothing."""
        rows = tmp_path / "mbpp.jsonl"
        rows.write_text(json.dumps({"task_id": 1, "text": "Add.", "test_list": ["assert add(1, 2) == 3"]}) + "\n")
        status, said = run(
            tmp_path, "art/train.py", "--dry-run", python=ART_PYTHON, PYTHONPATH=str(ROOT / "src"), MBPP_FILE=str(rows)
        )
        assert status == 0, said
        assert "Loaded 1 problems\nSandbox: ready\nDry run: nothing was collected or trained" in said
