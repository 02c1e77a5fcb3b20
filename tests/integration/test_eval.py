"""`harena eval`: models that are served and models that are trained here, from the command line and from Python."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

import harena

CHECKS = (-4, 0, 9)


def problem(number: int) -> dict[str, Any]:
    checks = [{"args": [x], "expected": x + number} for x in CHECKS]
    contract = {"type": "tests", "entry_point": "f", "checks": checks}
    return {"id": f"add-{number}", "prompt": f"add {number}>", "scoring": contract}


def saved(path: Path, *rows: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


class Answering(BaseHTTPRequestHandler):
    """Adds right to even numbers, and is wrong half of the time about odd ones."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        number = int(body["messages"][-1]["content"].strip("ad >"))
        sign = "-" if number % 2 and body["seed"] % 2 else "+"
        text = f"Of course.\n```python\ndef f(x):\n    return x {sign} {number}\n```"
        choice = {"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
        content = json.dumps({"choices": [choice], "usage": {"completion_tokens": 20}}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Answering) as served:
        thread = threading.Thread(target=served.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{served.server_address[1]}/v1"
        served.shutdown()
        thread.join()


def command(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-m", "harena.cli.main", *words]
    return subprocess.run(line, cwd=cwd, capture_output=True, text=True, timeout=300, check=False)


def test_a_served_model_is_evaluated_and_compared(tmp_path: Path, server: str) -> None:
    saved(tmp_path / "problems.jsonl", *map(problem, range(1, 5)))
    words = ("eval", server, "problems.jsonl", "--served-model", "adder", "-n", "2")
    first = command(*words, "--format", "json", "--name", "before", cwd=tmp_path)
    assert first.returncode == 0, first.stderr
    told = json.loads(first.stdout)
    assert (told["problems"], told["answers"], told["scored"], told["passed"]) == (4, 8, 8, 6)
    assert [(one["k"], one["rate"]) for one in told["pass_rates"]] == [(1, 0.75), (2, 1.0)]
    assert (told["tokens"], told["cut_off"]) == (160, 0)
    again = command(*words, "--compare", "before", cwd=tmp_path)
    assert again.returncode == 0, again.stderr
    assert "answers 8/8\n" in again.stderr  # all of them were there
    assert "pass@1 75.0%" in again.stdout
    assert "nothing changed" in again.stdout


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("no-such-model", "problems.jsonl"), "no-such-model"),
        (("http://127.0.0.1:9/v1", "problems.jsonl"), "--served-model NAME"),
        (("tiny-llama", "nothing.jsonl"), "nothing.jsonl: cannot be read: No such file or directory; check the path"),
        (("job:nothing", "problems.jsonl"), "nothing"),
        (("tiny-llama", "problems.jsonl", "--compare", "nothing"), "nothing"),
        (("tiny-llama", "problems.jsonl", "-n", "0"), "samples must be at least 1"),
        (("tiny-llama", "problems.jsonl", "--template", "nothing.py"), "--template: nothing.py cannot be read"),
        (("tiny-llama", "problems.jsonl", "--answers", "."), ". is a folder: name a file"),
    ],
)
def test_what_cannot_be_evaluated_is_told_before_anything_is_sampled(
    tmp_path: Path, words: tuple[str, ...], told: str
) -> None:
    saved(tmp_path / "problems.jsonl", problem(1))
    ended = command("eval", *words, cwd=tmp_path)
    assert ended.returncode == 2, ended.stderr
    assert told in ended.stderr
    assert "Traceback" not in ended.stderr
    assert "answers" not in ended.stderr


def test_what_a_training_job_has_made_is_evaluated(tmp_path: Path) -> None:
    """A model that was taught every answer knows nearly all of them, and the same model without it none."""
    template = "def f(x):\n    return {completion}\n"
    problems = [problem(number) for number in range(1, 7)]
    dataset = saved(tmp_path / "problems.jsonl", *problems)
    taught = [{"prompt": one["prompt"], "completion": f"x+{number}"} for number, one in enumerate(problems, 1)]
    demonstrations = saved(tmp_path / "taught.jsonl", *taught)
    job = harena.training_jobs.create(
        trainer_type="sft",
        model="tiny-llama",
        name="taught",
        config={"dataset_ref": str(demonstrations), "steps": 60, "batch_size": 6},
    )
    assert harena.training_jobs.wait(job).state == "completed"
    asked: dict[str, Any] = {"template": template, "max_new_tokens": 8}
    before = harena.evaluate("tiny-llama", dataset, **asked)
    after = harena.evaluate("job:taught", dataset, **asked)
    assert before.passed == 0
    assert after.passed >= 5
    assert after.temperature == 0
    again = harena.evaluate("job:taught", dataset, **asked)
    assert again.answers_file == after.answers_file  # the model is fetched anew, and is the same
    assert after.pass_rates[0].low > before.pass_rates[0].high - 0.2
    assert harena.benchmark_jobs.diff(before.job_id, after.job_id).changes["newly_passing"] == after.passed
    config = {"algorithm": "grpo", "prompt_dataset_ref": str(dataset)}
    there = len(harena.training_jobs.list())
    planned = harena.training_jobs.plan(trainer_type="rl", model="job:taught", config=config)
    (model,) = [ref for ref in planned.resolved if ref.where == "model"]
    assert (model.name, planned.name) == (job.id, "rl job:taught")
    (tuned,) = [warning for warning in planned.warnings if warning.startswith("config.tuning, ")]
    assert f"job {job.id}, whose model it begins with, trained all weights at a rate of 0.003" in tuned
    assert any("all weights, learning rate 0.003" in said.message for said in harena.training_jobs.logs(job))
    assert len(harena.training_jobs.list()) == there
