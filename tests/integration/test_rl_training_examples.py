"""The guides' scripts in examples/rl_training: run as they are, with a tiny model where they load one.

Real `openpipe-art` takes half a gigabyte: its rollout is run by the Python that HARENA_TEST_ART_PYTHON names, which has
what `examples/rl_training/art/requirements.txt` asks for and what harena needs (`uv pip install -r
examples/rl_training/art/requirements.txt pydantic pyyaml aiohttp`; `uv` is needed for two of the tests).
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
    keys: set[str | None] = set()

    def do_POST(self) -> None:
        self.keys.add(self.headers["Authorization"])
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


@pytest.fixture
def stand_in() -> Iterator[str]:
    """The address of `OneThatRepairs`."""
    OneThatRepairs.asked, OneThatRepairs.keys = [], set()
    server = ThreadingHTTPServer(("127.0.0.1", 0), OneThatRepairs)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/v1"
    server.shutdown()
    server.server_close()
    thread.join()


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

SEED = (ROOT / "tests/seeds/printed/coreweave-sandboxes-rl.txt").read_text()
PINNED = {"openpipe-art": "0.5.7", "openai": "2.15.0", "datasets": "4.5.0", "wandb": "0.24.0"}


def printed(line: int) -> str:
    """What the guide prints from this line on."""
    return SEED.partition(f"#### {line}\n")[2].partition("#### ")[0]


def test_art_is_pinned_as_in_the_guide() -> None:
    """To the versions that it lists."""
    lines = (EXAMPLES / "art/requirements.txt").read_text().splitlines()
    assert dict(line.split("==") for line in lines if "==" in line and not line.startswith("#")) == PINNED


AS_PRINTED = """
import ast, asyncio, json, os, sys, warnings
sys.path.insert(0, {folder!r})
import harena.aliases
import train
from rollout import rollout

class Backend:  # stands in for a GPU, and for Tinker's service
    async def train(self, model, groups, learning_rate):
        rewards = [[t.reward for t in group.trajectories] for group in groups]
        return [model.name, model.project, model.base_model, rewards, learning_rate]

async def main():
    client = train.inference_client(os.environ["STAND_IN"])
    backend = train.make_backend("tinker")
    async with train.cwsandbox.Session() as session:
        async def collect_trajectories(problem):
            return await train.art.TrajectoryGroup(rollout(client, "m", problem, session) for _ in range(2))
        names = dict(problems=train.load_problems(1), backend=Backend(), collect_trajectories=collect_trajectories)
        code = compile({printed!r}, "478", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        await eval(code, names)
    keys = [os.environ["TINKER_API_KEY"], os.environ["WANDB_API_KEY"]]
    print(json.dumps([type(backend).__name__, *keys, names["result"]]))

asyncio.run(main())
"""

if ART_PYTHON:

    def test_art_rolls_out_step_by_step(tmp_path: Path, stand_in: str) -> None:
        """A file that one step writes is there in the next; what went wrong is heard; what is right earns 1."""
        rows = tmp_path / "mbpp.jsonl"
        rows.write_text(json.dumps({"task_id": 1, "text": "Add.", "test_list": ["assert add(1, 2) == 3"]}) + "\n")
        done = subprocess.run(
            [ART_PYTHON, "-c", ROLLOUT.format(folder=str(EXAMPLES / "art"))],
            env=environment(tmp_path / "home", PYTHONPATH=str(ROOT / "src"), MBPP_FILE=str(rows), STAND_IN=stand_in),
            capture_output=True,
            text=True,
            check=False,
        )
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

    @pytest.mark.parametrize(("line", "more"), [(418, ""), (425, "--dry-run ")])
    def test_art_is_installed_by_what_is_printed(line: int, more: str) -> None:
        """The first command finds all that it asks for; the second one, whose packages need a GPU, can be resolved."""
        command = printed(line).replace("uv pip install ", f"uv pip install {more}")
        env = {**os.environ, "VIRTUAL_ENV": str(Path(ART_PYTHON).parents[1])}
        done = subprocess.run(["bash", "-ec", command], cwd=ROOT, env=env, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        asked = "from importlib.metadata import version as v; print(*map(v, %r))" % [*PINNED]
        there = subprocess.run([ART_PYTHON, "-c", asked], capture_output=True, text=True, check=True).stdout.split()
        assert there == [*PINNED.values()]

    def test_art_trains_as_printed(tmp_path: Path, stand_in: str) -> None:
        """With the keys that the guide exports, each of which gets to where it belongs."""
        program = AS_PRINTED.format(folder=str(EXAMPLES / "art"), printed=printed(478))
        rows = tmp_path / "mbpp.jsonl"
        rows.write_text(json.dumps({"task_id": 1, "text": "Add.", "test_list": ["assert add(1, 2) == 3"]}) + "\n")
        env = environment(
            tmp_path / "home", PYTHONPATH=str(ROOT / "src"), MBPP_FILE=str(rows), STAND_IN=stand_in, PROGRAM=program,
            WANDB_MODE="offline", ART_PYTHON=ART_PYTHON,
        )  # fmt: skip
        command = f'{printed(413)}\nexec "$ART_PYTHON" -c "$PROGRAM"'
        done = subprocess.run(
            ["bash", "-ec", command], cwd=tmp_path, env=env, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        backend, tinker_key, wandb_key, result = json.loads(done.stdout.splitlines()[-1])
        assert (backend, tinker_key, wandb_key) == ("TinkerBackend", "your-tinker-key", "your-wandb-key")
        assert result == ["train-001", "cwsandbox-mbpp", "Qwen/Qwen3-8B", [[1.0, 1.0]], 1e-5]
        assert OneThatRepairs.keys == {"Bearer your-openai-key"}
        assert "a key and no address" in done.stderr or "CWSANDBOX_API_KEY" in done.stderr
