"""Training jobs whole: real workers, a tiny model, rewards from sandboxes."""

from __future__ import annotations

import json
import os
import re
import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest
import torch
from tokenizers import Regex, Tokenizer
from tokenizers.decoders import Fuse
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Split
from training_node import written
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

import harena
from footprint import command_line, descendants, wait_ended
from harena.core.errors import ValidationError
from harena.core.file_trees import files_of, tree_of
from harena.sdk.training_jobs import TrainingJob
from harena.training.data.templates import SIMPLE_TEMPLATE
from harena.training.loop.checkpoints import Checkpoints

pytestmark = [pytest.mark.thorough, pytest.mark.usefixtures("one_node")]

TEMPLATE = "def f(x):\n    return {completion}\n"
END_SECONDS = 100.0


def problems() -> list[dict[str, Any]]:
    """Prompts whose answer is an expression in x."""
    return [
        {
            "id": f"add-{n}",
            "prompt": f"add {n}>",
            "scoring": {
                "type": "tests",
                "entry_point": "f",
                "checks": [{"args": [x], "expected": x + n} for x in (1, 5)],
            },
        }
        for n in range(1, 5)
    ]


def taught(home: Path) -> TrainingJob:
    """A model that answers now rightly, now wrongly."""
    rows = [{"prompt": f"add {n}>", "completion": said} for n in range(1, 5) for said in (f"x+{n}", f"x-{n}")]
    return harena.training_jobs.create(
        trainer_type="sft",
        model="tiny-llama",
        name="teacher",
        config={
            "dataset_ref": written(home / "teacher.jsonl", rows),
            "eval_dataset_ref": written(home / "held.jsonl", rows[:2]),
            "steps": 60,
            "batch_size": 8,
            "eval_interval": 20,
            "checkpoint_interval": 30,
        },
    )


def learning(home: Path, model: str, **config: Any) -> TrainingJob:
    """RL on rewards from execution."""
    return harena.training_jobs.create(
        trainer_type="rl",
        model=model,
        config={
            "algorithm": "grpo",
            "prompt_dataset_ref": written(home / "prompts.jsonl", problems()),
            "steps": 4,
            "batch_size": 4,
            "group_size": 4,
            "max_new_tokens": 8,
            "checkpoint_interval": 1,
            "learning_rate": 1e-3,
            "tuning": "full",
            "reward_recipe": {"name": "code_tests_v1", "params": {"template": TEMPLATE, "blueprint_id": "python-warm"}},
            **config,
        },
    )


def workers() -> list[int]:
    return [entry.pid for entry in descendants(os.getpid()) if "harena.training.worker.main" in command_line(entry.pid)]


def below(pids: list[int]) -> list[int]:
    """The workers, and every process that they have started: spawners, templates, sandboxes."""
    return [*pids, *(entry.pid for pid in pids for entry in descendants(pid))]


def test_from_demonstrations_to_rewards(tmp_path: Path) -> None:
    """SFT exports a model, RL goes on from it in sandboxes; its worker is killed in the middle and nobody notices."""
    jobs = harena.training_jobs
    teacher = jobs.wait(taught(tmp_path), timeout=END_SECONDS)
    assert (teacher.state, teacher.error) == ("completed", None)
    told = jobs.metrics(teacher).metrics
    assert told["steps"] == [*range(1, 61)]
    assert told["train/loss"][-1] < told["train/loss"][0] / 2
    assert told["eval/steps"] == [20, 40, 60]
    assert told["train/num_examples"] == 8

    model = Path(jobs.artifacts(teacher).folder) / "model"
    job = learning(tmp_path, str(model))
    killed = False
    for event in jobs.events(job):
        if event.kind == "checkpoint_saved" and event.data["step"] == 2 and not killed:
            killed = True
            for pid in workers():
                os.kill(pid, 9)
    ended = jobs.wait(job)
    assert (ended.state, ended.error, ended.restarts) == ("completed", None, 1)
    told = jobs.metrics(job).metrics
    assert told["steps"] == [1, 2, 3, 4]
    assert any(0 < reward < 1 for reward in told["train/reward"]), "rewards come from execution"
    assert all(share == 0 for share in told["train/masked_share"])

    got = jobs.download(job, tmp_path / "out", below="model/")
    assert (tmp_path / "out/model/config.json") in got
    samples = [
        json.loads(line) for line in (Path(jobs.artifacts(job).folder) / "samples.jsonl").read_text().splitlines()
    ]
    assert {sample["prompt"] for sample in samples} <= {f"add {n}>" for n in range(1, 5)}
    assert max(sample["step"] for sample in samples) == told["steps"][-1], "those of the last step too"
    assert {sample["reward"]["reason"] for sample in samples} & {"passed", "wrong_answer"}
    last = [sample for sample in samples if sample["step"] == told["steps"][-1]]
    assert all("".join(one["said"]["text"]).startswith(one["text"]) for one in last)
    assert all(len(one["said"][name]) == one["said"]["count"] for one in last for name in ("logprob", "version"))
    assert all(value <= 0 for one in last for value in one["said"]["logprob"])
    assert all(isinstance(one["advantage"], float) for one in last)
    from transformers import AutoModelForCausalLM

    assert AutoModelForCausalLM.from_pretrained(tmp_path / "out/model") is not None


PHASES = ["reward"]
if os.environ.get("HARENA_TRAINING_PHASES"):  # a minute more
    PHASES += ["start", "generate", "train", "checkpoint"]


@pytest.mark.parametrize("phase", PHASES)
def test_cancelling_leaves_nothing_behind(tmp_path: Path, phase: str) -> None:
    """Whatever the worker is at: it, its node and its sandboxes have ended when `cancel` returns, or moments after."""
    jobs = harena.training_jobs
    more: dict[str, Any] = {"steps": 1000}
    if phase == "generate":
        more |= {"max_new_tokens": 240, "batch_size": 64, "group_size": 16}
    if phase == "train":  # 4000 rows, whose one token each is sampled and rewarded at once
        recipe = {"name": "contains_v1", "params": {"needle": "a"}}
        more |= {"max_new_tokens": 1, "batch_size": 250, "group_size": 16, "overlong": "score", "reward_recipe": recipe}
    if phase == "reward":
        endless = "def f(x):\n    while True: pass\n#{completion}"
        recipe = {"template": endless, "blueprint_id": "python-warm", "timeout_seconds": 600.0}
        more |= {"reward_recipe": {"name": "code_tests_v1", "params": recipe}, "overlong": "score"}
    job = learning(tmp_path, "tiny-llama", **more)
    wanted = "job_started" if phase == "start" else "training_start"
    next(event for event in jobs.events(job) if event.kind == wanted)
    folder = Path(jobs.artifacts(job).folder)
    if phase == "reward":
        wait_for(lambda: any(len(descendants(pid)) >= 3 for pid in workers()))  # spawner, template, sandbox
    if phase == "train":
        wait_for(lambda: is_training(folder / "ledger.sqlite"))
    if phase == "checkpoint":
        wait_for(lambda: any((folder / "checkpoints").glob("unfinished-*")))
    running = below(workers())
    cancelled = jobs.cancel(job)
    assert cancelled.state == "cancelled"
    assert wait_ended(running, 5.0) == []
    assert workers() == []
    again = Checkpoints(folder / "checkpoints").newest()
    assert again is None or again.step >= 1, "what was being written is no checkpoint"


def wait_for(happened: Callable[[], bool]) -> None:
    """Looks again and again: nobody tells."""
    while not happened():
        pass


def is_training(ledger: Path) -> bool:
    """A step has been written down, and is not done."""
    if not ledger.exists():
        return False
    with closing(sqlite3.connect(ledger)) as connection, suppress(sqlite3.Error):
        return bool(connection.execute("SELECT 1 FROM steps WHERE metrics IS NULL").fetchone())
    return False


def test_what_cannot_be_trained_on(tmp_path: Path) -> None:
    """It is refused at submission, with the field or the row."""
    rows = problems()
    config: dict[str, Any] = {
        "algorithm": "grpo",
        "prompt_dataset_ref": written(tmp_path / "good.jsonl", rows),
        "reward_recipe": {"name": "code_tests_v1", "params": {}},
    }
    request: dict[str, Any] = {"trainer_type": "rl", "model": "tiny-llama"}
    with pytest.raises(ValidationError, match="max_new_tokens: 300 leaves no room"):
        harena.training_jobs.create(request, config={**config, "max_new_tokens": 300})
    rows[2]["scoring"] = {"type": "nothing"}
    bad = {**config, "prompt_dataset_ref": written(tmp_path / "bad.jsonl", rows)}
    with pytest.raises(ValidationError, match=r"bad\.jsonl:3"):
        harena.training_jobs.create(request, config=bad)
    with pytest.raises(ValidationError, match=r"config\.stop: '\u00e9'"):
        harena.training_jobs.create(request, config={**config, "stop": ["two", "\u00e9"]})
    unknown = {**config["reward_recipe"], "params": {"blueprint_id": "nowhere"}}
    with pytest.raises(ValidationError, match=r"config.reward_recipe: .* no blueprint 'nowhere'"):
        harena.training_jobs.create(request, config={**config, "reward_recipe": unknown})


def test_rows_that_a_model_cannot_read_are_told_by_reference_and_line(tmp_path: Path) -> None:
    """At submission, and what only its worker finds out; nobody who reads of it knows the folders of stored objects."""
    row = {"id": "a", "prompt": "add", "completion": "b"}

    def asked(version: str, *rows: dict[str, Any]) -> dict[str, Any]:
        harena.registry.push("dataset", written(tmp_path / "rows.jsonl", [row, *rows]), f"words@{version}")
        config = {"algorithm": "grpo", "prompt_dataset_ref": {"name": "words", "version": version}}
        return {"trainer_type": "rl", "model": "tiny-llama", "config": config}

    said = "config.prompt_dataset_ref: words@1: 1 row cannot be used:\n  rows.jsonl:2: it has 300 tokens, and 128 are "
    with pytest.raises(ValidationError, match=re.escape(said)):
        harena.training_jobs.create(asked("1", {"prompt": "a" * 300, "completion": "b"}))
    failed = harena.training_jobs.wait(harena.training_jobs.create(asked("2", row)), timeout=END_SECONDS)
    said = (
        "config.prompt_dataset_ref (words@2): 1 row cannot be used:\n  rows.jsonl:2: its id 'a' is that of rows.jsonl:1"
    )
    assert (failed.state, str(failed.error)[: len(said)]) == ("failed", said)


def test_a_job_begins_with_a_checkpoint_of_another(tmp_path: Path) -> None:
    """`job:NAME@STEP`: the last one is the model that the job has exported, an earlier one is another; and it is a
    model like all others."""
    rows = [{"prompt": f"add {n}>", "completion": f"x+{n}"} for n in range(1, 5)]
    config = {"dataset_ref": written(tmp_path / "rows.jsonl", rows), "steps": 2, "batch_size": 4}
    settings = {"checkpoint_interval": 1, "keep_checkpoints": 2, "learning_rate": 0.01}
    asked: dict[str, Any] = {"trainer_type": "sft", "model": "tiny-llama", "name": "first", "config": config | settings}
    job = harena.training_jobs.wait(harena.training_jobs.create(asked))
    assert job.state == "completed", job.error
    exported = tree_of(files_of(harena.training_jobs.model(job))).digest

    def model_of(name: str) -> Any:
        planned = harena.training_jobs.plan(trainer_type="sft", model=name, config=config)
        return next(ref for ref in planned.resolved if ref.where == "model")

    last, first = model_of("job:first@newest"), model_of(f"job:{job.id}@1")
    assert (last.kind, last.name, last.digest) == ("checkpoint", job.id, exported)
    assert (first.kind, first.name) == ("checkpoint", job.id)
    assert first.digest != exported
    with pytest.raises(ValidationError, match="has no checkpoint '7': those of these steps are kept: 1, 2"):
        model_of("job:first@7")
    again = harena.training_jobs.wait(harena.training_jobs.create(asked, model="job:first@1", name="second"))
    assert again.state == "completed", again.error
    assert next(ref.digest for ref in again.resolved if ref.where == "model") == first.digest


def says_one_word(folder: Path, word: str) -> Path:
    """A model that answers everything with one word, whatever is drawn: its layers do nothing, so the next token
    follows from the last one alone."""
    tokens = ["<pad>", "<end>", "<unknown>", word, "\n", *map(chr, range(32, 127))]
    tokenizer = Tokenizer(WordLevel({token: number for number, token in enumerate(tokens)}, unk_token="<unknown>"))
    tokenizer.pre_tokenizer = Split(Regex(rf"{word}|[\s\S]"), behavior="isolated")
    tokenizer.decoder = Fuse()
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<end>", unk_token="<unknown>").save_pretrained(
        folder
    )
    config = LlamaConfig(
        vocab_size=len(tokens), hidden_size=16, intermediate_size=16, num_hidden_layers=1, num_attention_heads=2,
        max_position_embeddings=4096, eos_token_id=1, pad_token_id=0, bos_token_id=None, tie_word_embeddings=False,
    )  # fmt: skip
    model = LlamaForCausalLM(config)
    with torch.no_grad():
        for layer in model.model.layers:
            layer.self_attn.o_proj.weight.zero_()
            layer.mlp.down_proj.weight.zero_()
        embedded, head = model.model.embed_tokens.weight, model.lm_head.weight
        embedded.zero_()
        head.zero_()
        embedded[:, 0] = 1.0
        embedded[3, :2] = torch.tensor([0.0, 1.0])
        head[3, 0] = head[1, 1] = 50.0
    model.save_pretrained(folder)
    return folder


def test_a_model_plays_in_a_world(tmp_path: Path) -> None:
    """A real one that only ever looks around: its trajectories say what it did, and can be learned from."""
    harena.registry.push("model", says_one_word(tmp_path / "model", "enumerate"), "looks@1")
    harena.world_manifests.create("lab", seed=5)
    job = harena.world_jobs.create("lab", mode="agent", agent_model="looks@1", count=2, max_steps=3)
    job = harena.world_jobs.wait(job)
    assert (job.state, job.error, job.played, job.reached, job.rows) == ("completed", None, 2, 0, 2)
    harena.registry.pull("dataset", job.dataset, tmp_path / "played")
    (file,) = (tmp_path / "played").iterdir()
    for row in map(json.loads, file.read_text().splitlines()):
        assert (row["agent"]["model_name"], row["termination_reason"]) == ("looks@1", "max_steps_reached")
        assert [step["tool_calls"][0]["function_name"] for step in row["steps"][2:]] == ["enumerate"] * 3
    (tmp_path / "model/chat_template.jinja").write_text(SIMPLE_TEMPLATE)
    harena.registry.push("model", tmp_path / "model", "chats@1")
    learned = harena.training_jobs.plan(
        trainer_type="rl",
        model="chats@1",
        config={
            "algorithm": "grpo",
            "world_manifest_id": "lab",
            "world_runtime_id": "scripted",
            "world_agent_name": "greedy",
            "trajectory_dataset_refs": [dict(zip(("name", "version"), job.dataset.split("@"), strict=True))],
        },
    )
    found = [(ref.where, ref.rows) for ref in learned.resolved if ref.where != "model"]
    assert found == [
        ("config.world_runtime_id", 15),
        ("config.trajectory_dataset_refs[0]", 2),
    ]  # of 20, five have failed


def test_blueprints_are_those_of_its_acceptance(tmp_path: Path) -> None:
    """A name that means something else when rollouts are made, or nothing any more, changes no reward of a job."""
    for said in ("older", "right"):
        harena.blueprints.create("told", env={"SAID": said}, warm=[])
    has = "any(c in 'aeiou0123' for c in r'''{completion}''')"
    template = f"import os\ndef f(x):\n    return [os.environ['SAID'], {has}]\n"
    contract = {"type": "tests", "entry_point": "f", "checks": [{"args": [1], "expected": ["right", True]}]}
    rows = [{"prompt": f"{n}>", "scoring": contract} for n in range(2)]
    job = learning(
        tmp_path,
        "tiny-llama",
        prompt_dataset_ref=written(tmp_path / "rows.jsonl", rows),
        steps=2,
        batch_size=2,
        overlong="score",
        reward_recipe={"name": "code_tests_v1", "params": {"template": template, "blueprint_id": "told"}},
    )
    harena.blueprints.create("told", env={"SAID": "wrong"}, warm=[])
    harena.blueprints.delete("told")
    ended = harena.training_jobs.wait(job, timeout=END_SECONDS)
    assert (ended.state, ended.error) == ("completed", None)
    told = harena.training_jobs.metrics(job).metrics
    assert told["train/masked_share"] == [0, 0]
    assert max(told["train/reward"]) > 0
