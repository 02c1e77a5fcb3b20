"""RL jobs rewarded by more than a contract: episodes in a task's environment, and a model's judgement."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import repeat
from pathlib import Path
from typing import Any

import pytest
from training_node import written

import harena
from harena.core import settings
from harena.sdk.training_jobs import TrainingJob

pytestmark = [pytest.mark.thorough, pytest.mark.usefixtures("one_node")]

END_SECONDS = 100.0


def ended(job: TrainingJob) -> TrainingJob:
    """It is completed."""
    job = harena.training_jobs.wait(job, timeout=END_SECONDS)
    assert (job.state, job.error) == ("completed", None)
    return job


def samples_of(job: TrainingJob) -> list[dict[str, Any]]:
    """The rollouts that were kept for people."""
    folder = Path(harena.training_jobs.artifacts(job).folder)
    return [json.loads(line) for line in (folder / "samples.jsonl").read_text().splitlines()]


def called(command: str) -> str:
    return f'<tool_call name="run">{{"command": "{command}"}}</tool_call>'


GREET = """\
name: greet
version: 1.0.0
instruction: put {{word}} into a
inputs: {word: x}
provision: {script: setup.sh}
verification: {method: script, script: verify.sh}
"""


def greet(folder: Path) -> str:
    """A stored task, by its reference."""
    folder.mkdir()
    (folder / "task.yaml").write_text(GREET)
    (folder / "setup.sh").write_text('echo "$INPUT_WORD" > wanted\n')
    (folder / "verify.sh").write_text("cmp a wanted\n")
    return str(harena.registry.push("task", folder).ref)


def test_an_agent_learns_in_the_environment_of_a_stored_task(tmp_path: Path) -> None:
    """It was shown to write the right word and the wrong one; only the episode's verification tells them apart."""
    jobs = harena.training_jobs
    prompt, right, wrong = "put x into a>", called("echo x>a"), called("echo y>a")
    shown = [{"prompt": prompt, "completion": call} for call in (right, wrong)]
    shown += [{"prompt": f"{prompt}{call}exit code 0", "completion": "ok"} for call in (right, wrong)]
    lessons = {"dataset_ref": written(tmp_path / "shown.jsonl", shown), "steps": 80, "batch_size": 4}
    lessons["checkpoint_interval"] = 80
    teacher = ended(jobs.create(trainer_type="sft", model="tiny-llama", config=lessons))
    config: dict[str, Any] = {
        "algorithm": "grpo",
        "task_ref": greet(tmp_path / "greet"),
        "prompt_dataset_ref": written(tmp_path / "prompts.jsonl", [{"prompt": "{{instruction}}>"}]),
        "reward_recipe": {"name": "task_env_agent_v1", "params": {"reward_if_false": -1.0}},
        "max_turns": 3,
        "steps": 3,
        "batch_size": 2,
        "group_size": 4,
        "max_new_tokens": 80,
        "tuning": "full",
    }
    model = str(Path(jobs.artifacts(teacher).folder) / "model")
    job = ended(jobs.create(trainer_type="rl", model=model, config=config))
    told = jobs.metrics(job).metrics
    assert told["steps"] == [1, 2, 3]
    assert told["train/masked_share"] == told["train/environment_fault_share"] == [0.0] * 3
    assert any(-1 < reward < 1 for reward in told["train/reward"]), "some episodes pass, and some do not"
    assert all(1 < turns <= 3 for turns in told["train/turns/mean"])
    shown_to_people = [event.data for event in jobs.events(job) if event.kind == "step_complete"]
    assert {rollout["prompt"] for data in shown_to_people for rollout in data["rollouts"]} == {prompt}
    earned: dict[str, set[float]] = {right: set(), wrong: set()}
    for sample in samples_of(job):
        first, *others = sample["turns"]
        if first["text"] in earned and len(others) == 1:
            assert first["observation"] == "exit code 0"
            assert sample["stop"] == "answer"
            earned[first["text"]].add(sample["reward"]["value"])
    assert earned == {right: {1.0}, wrong: {-1.0}}


class Judge(ThreadingHTTPServer):
    """A server with OpenAI's interface, whose model likes letters. `status`: what it answers the next questions with,
    and then 200. It has an address, and refuses connections until it is started."""

    def __init__(self) -> None:
        self.status: Iterator[int] = iter(())
        self.asked: list[dict[str, Any]] = []
        outer = self

        class Completions(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                outer.asked.append({"path": self.path, **body})
                marked = MARKED.search("\n".join(message["content"] for message in body["messages"]))
                for message in body["messages"]:
                    message["content"] = MARKED.sub(r"\2", message["content"])
                shown = next(each["content"] for each in body["messages"] if "The answer:\n" in each["content"])
                score = liked(shown.partition("The answer:\n")[2])
                said = json.dumps({"key": marked[1] if marked else "", "score": score})
                answer = json.dumps({"choices": [{"message": {"content": said}}]}).encode()
                self.send_response(next(outer.status, 200))
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *words: Any) -> None:
                pass

        super().__init__(("127.0.0.1", 0), Completions, bind_and_activate=False)
        self.server_bind()
        self._thread = threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.01})

    def start(self) -> None:
        """Accept connections."""
        self.server_activate()
        self._thread.start()

    def stop(self) -> None:
        """End. Without effect where it was not started."""
        if self._thread.is_alive():
            self.shutdown()
            self._thread.join()


MARKED = re.compile(r"<judged ([0-9a-f]{16})>\n(.*?)\n</judged \1>", re.DOTALL)
"""what is judged, between marks with a key"""


def liked(answer: str) -> float:
    """The share of its characters that are letters."""
    return round(sum(character.isalpha() for character in answer) / max(1, len(answer)), 3)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Judge]:
    """A judge that is not started yet, whose address is in the environment that workers inherit."""
    with Judge() as server:
        monkeypatch.setenv(settings.JUDGE_BASE_URL.name, f"http://127.0.0.1:{server.server_port}/v1")
        monkeypatch.setenv("no_proxy", "*")
        yield server
        server.stop()


def judged(folder: Path, **config: Any) -> TrainingJob:
    """RL of a model that was taught nothing, rewarded by the judge's number."""
    rows = [{"prompt": f"say {word}>"} for word in ("this", "that")]
    params = {"model": "judge-1", "rubric": "Letters are good.", "credit": "fraction", "system_prompt": "Be fair."}
    return harena.training_jobs.create(
        trainer_type="rl",
        model="tiny-llama",
        config={
            "algorithm": "grpo",
            "prompt_dataset_ref": written(folder / "prompts.jsonl", rows),
            "reward_recipe": {"name": "llm_judge_v1", "params": params},
            "steps": 3,
            "batch_size": 2,
            "group_size": 4,
            "max_new_tokens": 8,
            "overlong": "score",
            "tuning": "full",
            **config,
        },
    )


def test_a_models_judgement_is_the_reward(tmp_path: Path, server: Judge) -> None:
    """Of each answer, with its prompt and the rubric."""
    server.start()
    job = ended(judged(tmp_path))
    told = harena.training_jobs.metrics(job).metrics
    assert told["train/masked_share"] == [0.0] * 3
    samples = samples_of(job)
    assert [sample["reward"]["value"] for sample in samples] == [liked(sample["text"]) for sample in samples]
    assert len({sample["reward"]["value"] for sample in samples}) > 1
    (asked, *_), answers = server.asked, [question["messages"][1]["content"] for question in server.asked]
    assert (asked["path"], asked["model"], asked["messages"][0]["content"]) == (
        "/v1/chat/completions",
        "judge-1",
        "Be fair.",
    )
    for sample in samples:
        prompt = f"say {('this', 'that')[int(sample['prompt_id'])]}>"
        assert f"Letters are good.\n\nWhat was asked for:\n{prompt}\n\nThe answer:\n{sample['text']}" in answers
    assert len(server.asked) == 3 * 2 * 4


# Each try waits some 15 s for a judge that says that it is busy, so the job pauses only after a minute and a half. The
# other rows show the same of a job, and tests/component/scoring/test_judge.py shows how a busy judge is waited for.
@pytest.mark.parametrize("status", ["away", 404, pytest.param(503, marks=pytest.mark.soak)])
def test_a_job_waits_for_its_judge(tmp_path: Path, server: Judge, status: int | str) -> None:
    """Whether it is away, or busy, or refuses everything: nobody earns a 0 for that, and no step is learned from
    nothing."""
    if isinstance(status, int):
        server.status, said = repeat(status), f"the judge's server answered {status}"
        server.start()
    else:
        said = "the judge's server cannot be asked"
    job = judged(tmp_path)
    for event in harena.training_jobs.events(job):
        if event.kind == "training_paused":
            assert said in (event.message or "")
            if isinstance(status, int):
                server.status = iter(())
            else:
                server.start()
    job = ended(job)
    told = harena.training_jobs.metrics(job).metrics
    assert told["train/masked_share"] == [0.0] * 3, "what was lost meanwhile is asked for once more"
    kinds = [event.kind for event in harena.training_jobs.events(job)]
    assert (kinds.count("training_paused"), kinds.count("training_continued")) == (1, 1)
