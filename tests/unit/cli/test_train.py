"""`harena train`: what it asks the package for, what it prints, and how it ends."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from fake_face import Harena

from fake_answers import Record
from harena.cli import face
from harena.cli.train_plan import plan_lines
from harena.core.records.training_jobs import PlannedTraining
from harena.core.records.training_plans import RewardPlan, RLPlan
from harena.training.requests.plan import plan_of
from harena.training.requests.references import ResolvedReferences
from harena.training.requests.request import parse_request

JOB = {
    "id": "train_1",
    "name": "n",
    "trainer_type": "rl",
    "state": "completed",
    "error": None,
    "created_at": "2030-01-02T03:04:05.678+00:00",
    "progress": {"step": 2, "steps": 4},
    "metrics": {"train/reward": 0.5},
    "cursor": 3,
}
EVENTS = [
    {"cursor": 4, "at": "2030-01-02T03:04:05+00:00", "kind": "log", "level": "info", "message": "be\n  gun"},
    {"cursor": 5, "at": "2030-01-02T03:04:06+00:00", "kind": "step_complete", "level": "info", "message": None},
    {"cursor": 6, "at": "2030-01-02T03:04:07+00:00", "kind": "job_ended", "level": "error", "message": "end\x1b[2J"},
]


def _planned() -> PlannedTraining:
    request = {"trainer_type": "rl", "model": "tiny-llama", "config": {"algorithm": "grpo", "prompt_dataset_ref": "p"}}
    plan = plan_of(parse_request(request), ResolvedReferences(refs=()))
    assert isinstance(plan, RLPlan)
    rewards = RewardPlan(name="code_tests_v1", params={"extract": "fenced"})
    return PlannedTraining(
        name="planned", trainer_type="rl", resolved=[], plan=replace(plan, reward=rewards, eval_interval=5),
        warnings=["short answers"], learned_from=9, held_out=1, evaluated_rows=0, first_evaluation=5,
        formats={"prompts": 9, "mbpp": 1}, longest_prompt=7, longest_solution=None,
    )  # fmt: skip


PLANNED = _planned()


@dataclass
class FakeTraining:
    """`harena.training_jobs`, scripted."""

    state: str = "completed"
    error: str | None = None
    interrupt: bool = False
    interrupts: dict[str, int] = field(default_factory=dict)
    """verb -> number of times that Ctrl-C is pressed while it runs"""
    calls: list[tuple[Any, ...]] = field(default_factory=list)

    def job(self) -> Record:
        return Record({**JOB, "state": self.state, "error": self.error})

    def create(self, request: Mapping[str, Any], *, idempotency_key: str | None = None) -> Record:
        self._interrupted_in("create")
        self.calls.append(("create", dict(request), idempotency_key))
        return self.job()

    def events(self, job: str, *, after: int = 0) -> Iterator[Record]:
        self.calls.append(("events", job, after))
        self._interrupted_in("events")
        if self.interrupt:
            raise KeyboardInterrupt
        yield from (Record(event) for event in EVENTS if event["cursor"] > after)  # type: ignore[operator]

    def logs(self, job: str, *, after: int = 0) -> list[Record]:
        self._interrupted_in("logs")
        return [Record(event) for event in EVENTS if event["message"]]

    def cancel(self, job: str) -> Record:
        self._interrupted_in("cancel")
        self.calls.append(("cancel", job, {}))
        return Record({**JOB, "state": "cancelled"})

    def _interrupted_in(self, verb: str) -> None:
        for _ in range(self.interrupts.get(verb, 0)):
            signal.raise_signal(signal.SIGINT)

    def plan(self, request: Mapping[str, Any]) -> PlannedTraining:
        self.calls.append(("plan", request))
        return PLANNED

    def metrics(self, job: str) -> Record:
        metrics = {"steps": [1, 2], "train/a": [0.25, None], "eval/steps": [2], "eval/b": [1.0], "count": 3}
        return Record({"metrics": metrics, "cursor": 6})

    def download(self, job: str, folder: Path, *, below: str) -> list[Path]:
        self.calls.append(("download", job, folder, below))
        return [folder / "model/x"]

    def list(self, **asked: Any) -> list[Record]:
        self.calls.append(("list", asked))
        return [self.job()]

    def __getattr__(self, verb: str) -> Any:
        def asked(job: Any, *_: Any, **more: Any) -> Record:
            self._interrupted_in(verb)
            self.calls.append((verb, job, more))
            return self.job()

        return asked


@pytest.fixture
def training(monkeypatch: pytest.MonkeyPatch) -> FakeTraining:
    """The face has these jobs; there is no server."""
    fake = FakeTraining()
    monkeypatch.delenv("HARENA_BASE_URL", raising=False)
    monkeypatch.setattr(face, "load", lambda: SimpleNamespace(training_jobs=fake))
    return fake


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, training: FakeTraining) -> None:
    """There is one."""
    monkeypatch.setenv("HARENA_BASE_URL", "http://127.0.0.1:1")


def test_the_request(training: FakeTraining, harena: Harena, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file, and over it what the options say; paths are made absolute, numbers are numbers."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p@1.jsonl").touch()
    (tmp_path / "r.json").write_text(json.dumps({"model": "m", "config": {"steps": 5, "seed": 1}, "tags": ["x"]}))
    words = "--request r.json --model tiny-llama --algorithm grpo --prompts p@1.jsonl --recipe code_tests_v1"
    code = harena("train", "rl", *words.split(), "--capability", "c@1.0.0", "--set", "steps=7", "--set", 'stop=[";"]')
    assert code == 0
    assert training.calls[0][1] == {
        "trainer_type": "rl",
        "model": "tiny-llama",
        "tags": ["x"],
        "capability_ref": {"name": "c", "version": "1.0.0"},
        "config": {
            "steps": 7,
            "seed": 1,
            "stop": [";"],
            "algorithm": "grpo",
            "prompt_dataset_ref": str(tmp_path / "p@1.jsonl"),
            "reward_recipe": {"name": "code_tests_v1"},
        },
    }
    harena("train", "sft", "--model", "m", "--dataset", "org/gsm8k@2", "--idempotency-key", "k")
    (asked,) = [call for call in training.calls[1:] if call[0] == "create"]
    assert asked[1]["config"] == {"dataset_ref": {"name": "org/gsm8k", "version": "2"}}
    assert asked[2] == "k"


def test_a_data_set_of_problems_is_all_that_training_needs(
    training: FakeTraining, harena: Harena, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The algorithm and what is held out have defaults, which may be given otherwise."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "problems.jsonl").touch()
    words = ("train", "rl", "--model", "m", "--dataset", "problems.jsonl")
    for more in ((), ("--algorithm", "ppo", "--set", "held_out=0.3"), ("--set", "eval_dataset_ref=e.jsonl")):
        assert harena(*words, *more) == 0
    asked = [call[1]["config"] for call in training.calls if call[0] == "create"]
    problems = {"prompt_dataset_ref": str(tmp_path / "problems.jsonl")}
    assert asked == [
        {**problems, "algorithm": "grpo", "held_out": 0.1},
        {**problems, "algorithm": "ppo", "held_out": 0.3},
        {**problems, "algorithm": "grpo", "eval_dataset_ref": "e.jsonl"},
    ]
    assert harena(*words, "--prompts", "problems.jsonl") == 2


def test_a_plan_starts_nothing(
    training: FakeTraining,
    harena: Harena,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """It is asked for with the request that would be started, with the template in a file; and told in sentences."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "problems.jsonl").touch()
    (tmp_path / "program.txt").write_text("x = {completion}\n")
    words = ["train", "rl", "--model", "job:first", "--dataset", "problems.jsonl", "--template", "program.txt"]
    assert harena(*words, "--plan") == 0
    told = capsys.readouterr().out
    assert "nothing has been started" in told
    assert "formats: prompts 9, mbpp 1" in told
    assert "9 are learned from, 1 are held out" in told
    assert "first evaluation: after step 5, then every 5 steps and after the last" in told
    at_once = replace(PLANNED, first_evaluation=0)
    assert "first evaluation: before the first step, then every 5 steps and after the last" in [*plan_lines(at_once)]
    assert "rewards: code_tests_v1 (extract 'fenced')" in told
    assert "warning: short answers" in told
    assert harena(*words, "--plan", "--json") == 0
    assert json.loads(capsys.readouterr().out) == PLANNED.to_dict()
    ((verb, asked), _) = training.calls
    assert (verb, asked["model"]) == ("plan", "job:first")
    params = {"template": "x = {completion}\n"}
    assert asked["config"]["reward_recipe"] == {"name": "code_tests_v1", "params": params}
    assert harena(*words[:-1], "missing.txt") == 2


@pytest.mark.parametrize(
    ("given", "field", "value"),
    [
        ("p.yaml", "prompt_dataset_ref", "{}/p.yaml"),
        ("./none.jsonl", "prompt_dataset_ref", "{}/none.jsonl"),
        ("he@2", "scenarios_ref", "he@2"),
        ("ref:he", "scenarios_ref", "he"),
    ],
)  # fmt: skip
def test_scenarios_are_a_file_or_stored(
    training: FakeTraining, harena: Harena, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    given: str, field: str, value: str,
) -> None:  # fmt: skip
    """A file is sent as a data set of prompts; every other word names what is stored."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.yaml").touch()
    harena("train", "rl", "--model", "m", "--algorithm", "grpo", "--scenarios", given)
    assert training.calls[0][1]["config"] == {"algorithm": "grpo", field: value.format(tmp_path)}


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["sft", "--set", "steps"], "FIELD=VALUE"),
        (["sft", "--request", "nowhere.json"], "nowhere.json"),
        (["sft", "--request", "rl.json"], "trainer_type 'rl'"),
        (["sft", "--request", "list.json"], "an object"),
        (["rl", "--capability", "c"], "NAME@VERSION"),
    ],
)
def test_mistakes(
    training: FakeTraining, harena: Harena, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str], words: list[str], says: str,
) -> None:  # fmt: skip
    """One message, and nothing is asked."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rl.json").write_text('{"trainer_type": "rl"}')
    (tmp_path / "list.json").write_text("[]")
    assert harena("train", *words) == 2
    assert says in capsys.readouterr().err
    assert training.calls == []


def test_without_a_server_it_stays_to_the_end(
    training: FakeTraining, harena: Harena, capsys: pytest.CaptureFixture[str]
) -> None:
    """And says what happens; its exit code is the job's."""
    training.state, training.error = "failed", "nan\nthe end"
    assert harena("train", "sft", "--model", "m") == 1
    out, err = capsys.readouterr()
    assert out == "train_1 (n): failed, step 2/4\nnan\nthe end\n"
    assert err == "n: train_1\n03:04:05 be gun\n03:04:07 end\ufffd[2J\n"
    training.interrupt = True
    assert harena("train", "sft", "--model", "m") == 130
    assert training.calls[-1] == ("cancel", "train_1", {})


def test_with_a_server_it_leaves(
    training: FakeTraining, server: None, harena: Harena, capsys: pytest.CaptureFixture[str]
) -> None:
    """Ctrl-C during --wait leaves the job alone."""
    assert harena("train", "sft", "--model", "m") == 0
    assert capsys.readouterr().out == "train_1\n"
    training.interrupt = True
    assert harena("train", "sft", "--model", "m", "--wait") == 130
    assert "harena train logs --follow train_1" in capsys.readouterr().err
    assert "cancel" not in [call[0] for call in training.calls]


@pytest.mark.parametrize(
    "interrupts",
    [{}, {"logs": 1}, {"events": 1}, {"events": 1, "cancel": 3}, {"logs": 2, "cancel": 1}],
    ids=str,
)
@pytest.mark.parametrize(
    ("words", "verb"), [(("sft", "--model", "m"), "create"), (("retry", "n"), "retry")], ids=["sft", "retry"]
)
def test_ctrl_c_cancels_a_job_of_this_process_whenever_it_comes(
    training: FakeTraining, harena: Harena, interrupts: dict[str, int], words: tuple[str, ...], verb: str
) -> None:
    """Also before there is an id to cancel, more than once, and while it is being cancelled; then it works as ever."""
    training.interrupts = interrupts or {verb: 2}
    assert harena("train", *words) == 130
    assert training.calls[-1] == ("cancel", "train_1", {})
    assert [call[0] for call in training.calls].count("cancel") == 1
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_wait_and_retry(
    training: FakeTraining, server: None, harena: Harena, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 1 for every end but completed."""
    assert harena("train", "wait", "n", "--timeout-sec", "5") == 0
    training.state = "cancelled"
    assert harena("train", "wait", "n", "--json") == 1
    assert json.loads(capsys.readouterr().out.partition("\n")[2])["state"] == "cancelled"
    assert harena("train", "retry", "n", "--from", "scratch") == 0
    assert training.calls[0] == ("wait", "n", {"timeout": 5.0})
    assert training.calls[-2:] == [("get", "n", {}), ("retry", "train_1", {"start": "scratch"})]


def test_looking(training: FakeTraining, harena: Harena, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """List, logs, metrics, artifacts."""
    assert harena("train", "list", "--state", "completed", "--type", "rl") == 0
    assert training.calls[-1] == (
        "list", {"name": None, "state": "completed", "trainer_type": "rl", "limit": 100}
    )  # fmt: skip
    assert "train/reward 0.500" in capsys.readouterr().out
    assert harena("train", "list", "--format", "json") == 0
    assert isinstance(json.loads(capsys.readouterr().out), list)
    assert harena("train", "logs", "n") == 0
    assert capsys.readouterr().out.splitlines()[0] == "2030-01-02T03:04:05 info    be gun"
    assert harena("train", "logs", "n", "--follow", "--json", "--after", "4") == 0
    assert [json.loads(line)["cursor"] for line in capsys.readouterr().out.splitlines()] == [6]
    assert harena("train", "artifacts", "n", "--output", str(tmp_path), "--below", "model/") == 0
    assert training.calls[-1] == ("download", "n", tmp_path, "model/")
    assert harena("train", "delete", "a", "b") == 0
    assert [call[1] for call in training.calls[-2:]] == ["a", "b"]


def test_metrics(training: FakeTraining, harena: Harena, capsys: pytest.CaptureFixture[str]) -> None:
    """A line for each metric, or for each step; a name that there is not is told, in every format."""
    assert harena("train", "metrics", "n") == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["│", "train/a", "│", "0.25", "│", "0.25", "│", "0.25", "│"] in lines
    assert ["│", "count", "│", "3", "│"] in lines
    assert harena("train", "metrics", "n", "--name", "train/a") == 0
    assert ["│", "1", "│", "0.25", "│"] in [line.split() for line in capsys.readouterr().out.splitlines()]
    assert harena("train", "metrics", "n", "--format", "csv") == 0
    assert capsys.readouterr().out == "step,train/a\n1,0.25\n2,\nstep,eval/b\n2,1.0\n"
    assert harena("train", "metrics", "n", "--format", "jsonl") == 0
    assert [json.loads(line) for line in capsys.readouterr().out.splitlines()] == [
        {"steps": 1, "train/a": 0.25}, {"steps": 2, "train/a": None}, {"eval/steps": 2, "eval/b": 1.0},
    ]  # fmt: skip
    assert harena("train", "metrics", "n", "--format", "json", "--name", "count") == 0
    assert json.loads(capsys.readouterr().out) == {"count": 3}
    assert harena("train", "metrics", "n", "--format", "csv", "--name", "a", "--name", "eval/c") == 2
    said = capsys.readouterr().err
    assert "'a'; did you mean 'train/a'?" in said
    assert "'eval/c'; did you mean 'eval/b'?" in said


def test_metrics_of_a_job_that_has_not_begun(
    training: FakeTraining, harena: Harena, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """No mistake, and not silence."""
    monkeypatch.setattr(training, "metrics", lambda job: Record({"metrics": {}, "cursor": 1}), raising=False)
    assert harena("train", "metrics", "n", "--name", "train/a") == 0
    assert "nothing has been measured yet" in capsys.readouterr().err


def test_watching_and_plotting(
    training: FakeTraining, harena: Harena, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """From the first event, and Ctrl-C leaves the job alone."""
    training.state = "cancelled"
    assert harena("train", "watch", "n") == 1
    out, err = capsys.readouterr()
    assert err == "03:04:05 be gun\n03:04:07 end\ufffd[2J\n"
    assert "cancelled" in out
    assert ("events", "train_1", 0) in training.calls
    training.interrupt = True
    assert harena("train", "watch", "n") == 130
    assert "cancel" not in {call[0] for call in training.calls}
    assert harena("train", "plot", "a", "b", "-o", str(tmp_path / "c.svg")) == 0
    assert training.calls[-1][:2] == ("plot", ["a", "b"])
    assert harena("train", "plot", "a/b c", "d") == 0
    assert capsys.readouterr().out.endswith("\na-b-c.svg\n")
