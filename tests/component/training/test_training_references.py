"""What a request for training refers to, found when it is submitted."""

from __future__ import annotations

import json
import shutil
import threading
from collections.abc import AsyncIterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import pytest_asyncio
from stored_objects import Store, model_of, opened, world_of

from harena.core.errors import NotFoundError, PlatformError, ValidationError
from harena.core.file_trees import files_of, pack_files, tree_of
from harena.core.records.training_plans import RewardPlan, RLPlan
from harena.core.registry import ObjectKind
from harena.testing.conformance_registry import ROWS, TASK, capability, jsonl, stream, write
from harena.training.data.datasets import prompt_row_of
from harena.training.data.prompts import PromptRow
from harena.training.data.row_files import read_rows
from harena.training.requests import stored_references
from harena.training.requests.plan import plan_of
from harena.training.requests.references import ResolvedReferences
from harena.training.requests.request import parse_request
from harena.training.requests.text_checks import text_warnings

MINE = "mine"
SFT = {"trainer_type": "sft", "model": "tiny-llama", "config": {}}
RL = {"trainer_type": "rl", "model": "tiny-llama", "config": {"algorithm": "grpo"}}
ATIF = {
    "schema_version": "ATIF-v1.6", "agent": {"name": "a"},
    "steps": [{"source": "user", "message": "hi"}, {"source": "agent", "message": "hello"}],
}  # fmt: skip


@pytest_asyncio.fixture
async def registry(tmp_path: Path) -> AsyncIterator[Store]:
    """Over a database and a folder of its own."""
    async with opened(tmp_path, most_bytes=1_000_000) as store:
        yield store


async def push(registry: Store, kind: ObjectKind, place: Path, ref: str, workspace: str = MINE) -> dict[str, Any]:
    """Publish what lies there."""
    name, _, version = ref.partition("@")
    return await registry.push(workspace, kind, name, version, stream(b"".join(pack_files(files_of(place)))))


async def resolve(registry: Store, body: dict[str, Any], **config: Any) -> ResolvedReferences:
    """Of a request with these fields beside its own."""
    asked = {**body, "config": {**body["config"], **config.pop("config", {})}, **config}
    return await registry.resolve(MINE, parse_request(asked), registry.catalog.reader(MINE), world_of, model_of)


def data(folder: Path, **rows: list[dict[str, Any]]) -> Path:
    """A data set with these splits."""
    return write(folder, {f"{split}.jsonl": jsonl(of) for split, of in rows.items()})


def weights(folder: Path) -> Path:
    """A directory with all that a model needs, however little of it."""
    write(folder, {"config.json": '{"architectures": ["Tiny"], "max_position_embeddings": 64}', "tokenizer.json": "{}"})
    header = json.dumps({"a": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}).encode()
    (folder / "model.safetensors").write_bytes(len(header).to_bytes(8, "little") + header + b"\0" * 4)
    return folder


async def test_everything_that_a_request_names(registry: Store, tmp_path: Path) -> None:
    """With its version, digest, place and what is known of it; as JSON types, there and back."""
    await push(registry, "capability", capability(tmp_path / "c"), "solver@1.0.0")
    for version in ("1.9.0", "1.10.0"):
        place = write(tmp_path / version, {"task.yaml": TASK.format(version), "check.sh": "exit 0\n"})
        await push(registry, "task", place, f"add@{version}")
    made = await push(registry, "dataset", data(tmp_path / "d", train=ROWS, test=ROWS[:2]), "sums@2")
    found = await resolve(
        registry, RL, capability_ref={"name": "solver", "version": "1.0.0"},
        config={
            "prompt_dataset_ref": {"name": f"{MINE}/sums", "version": "2"}, "prompt_split": "test", "task_ref": "add",
            "eval_dataset_ref": {"name": "sums", "version": "2"},
        },
    )  # fmt: skip
    assert ResolvedReferences.from_json(json.loads(json.dumps(found.to_json()))) == found
    assert {ref.where: (ref.kind, ref.name, ref.version) for ref in found.refs} == {
        "model": ("model", "tiny-llama", None),
        "capability_ref": ("capability", "solver", "1.0.0"),
        "config.prompt_dataset_ref": ("dataset", "sums", "2"),
        "config.task_ref": ("task", "add", "1.10.0"),
        "config.eval_dataset_ref": ("dataset", "sums", "2"),
    }
    prompts, evaluated = found.find("config.prompt_dataset_ref"), found.find("config.eval_dataset_ref")
    assert prompts is not None
    assert evaluated is not None
    assert prompts.path is not None
    assert (prompts.digest, Path(prompts.path).is_dir()) == (made["digest"], True)
    assert (prompts.described["rows"], prompts.described["split"]) == (2, "test")
    assert (evaluated.described["rows"], evaluated.described["split"]) == (3, "train")
    scaffold, model = found.find("capability_ref"), found.find("model")
    assert scaffold is not None
    assert model is not None
    assert scaffold.described["prompt"] == "You add numbers."
    assert (model.path, model.described["shipped"]["layers"]) == (None, 3)


async def test_what_a_job_has_learned_is_a_model(registry: Store, tmp_path: Path) -> None:
    """It becomes a checkpoint that is named by its content, and outlives the job."""
    place = weights(tmp_path / "taught")
    asked = {"model": f"job:{place}", "config": {"dataset_ref": str(data(tmp_path / "d", train=ROWS) / "train.jsonl")}}
    first = (await resolve(registry, SFT, **asked)).find("model")
    assert first is not None
    assert (first.kind, first.name, str(first.version)[:7]) == ("checkpoint", "train_1", "sha256-")
    assert (await resolve(registry, SFT, **asked)).find("model") == first
    shutil.rmtree(place)
    again = (await resolve(registry, SFT, **{**asked, "model": first.ref})).find("model")
    assert again is not None
    assert (again.digest, Path(str(again.path), "config.json").is_file()) == (first.digest, True)
    with pytest.raises(NotFoundError, match="model: no training job has the id or name 'other'"):
        await resolve(registry, SFT, **{**asked, "model": "job:other"})


async def test_a_task_may_be_pinned(registry: Store, tmp_path: Path) -> None:
    """NAME@VERSION, whatever is newer."""
    for version in ("1.0.0", "2.0.0"):
        place = write(tmp_path / version, {"task.yaml": TASK.format(version), "check.sh": "exit 0\n"})
        await push(registry, "task", place, f"add@{version}")
    path = str(data(tmp_path / "d", train=ROWS) / "train.jsonl")
    found = await resolve(registry, RL, config={"prompt_dataset_ref": path, "task_ref": "add@1.0.0"})
    task = found.find("config.task_ref")
    assert task is not None
    assert task.version == "1.0.0"
    plan = plan_of(parse_request({**RL, "config": {**RL["config"], "prompt_dataset_ref": path}}), found)
    assert isinstance(plan, RLPlan)
    assert plan.reward == RewardPlan(name="task_verifier_v1", params={})


async def test_a_path_is_hashed_and_what_it_held_stays(registry: Store, tmp_path: Path) -> None:
    """A version named by its content; the file may change or go, and other content is another version."""
    path = tmp_path / "my rows.jsonl"
    path.write_text(jsonl(ROWS))
    first = (await resolve(registry, SFT, config={"dataset_ref": str(path)})).find("config.dataset_ref")
    again = (await resolve(registry, SFT, config={"dataset_ref": str(path)})).find("config.dataset_ref")
    assert first == again
    assert first is not None
    assert first.path is not None
    assert (first.name, first.version) == ("my-rows", f"sha256-{first.digest[:16]}")
    path.write_text(jsonl(ROWS[:1]))
    other = (await resolve(registry, SFT, config={"dataset_ref": str(path)})).find("config.dataset_ref")
    assert other is not None
    assert other.digest != first.digest
    assert Path(first.path).read_text() == jsonl(ROWS)
    assert (Path(first.path).name, first.described["rows"], other.described["rows"]) == ("my rows.jsonl", 3, 1)


async def test_rows_of_one_file_may_name_their_split(registry: Store, tmp_path: Path) -> None:
    """`prompt_split` chooses among them."""
    rows = [{**row, "split": "train" if number else "test"} for number, row in enumerate(ROWS)]
    place = data(tmp_path / "d", all=rows) / "all.jsonl"
    found = await resolve(registry, RL, config={"prompt_dataset_ref": str(place), "prompt_split": "train"})
    prompts = found.find("config.prompt_dataset_ref")
    assert prompts is not None
    assert (prompts.described["rows"], prompts.described["split"]) == (2, "train")
    with pytest.raises(ValidationError, match="no row says split: 'dev'"):
        await resolve(registry, RL, config={"prompt_dataset_ref": str(place), "prompt_split": "dev"})


@pytest.mark.parametrize("kind", ["model", "checkpoint"])
async def test_models_and_checkpoints(registry: Store, tmp_path: Path, kind: ObjectKind) -> None:
    """Of the registry, by version or the newest; and in a directory of this machine, which is not copied."""
    folder = weights(tmp_path / "weights")
    made = await push(registry, kind, folder, "small@1")
    rows = str(data(tmp_path / "d", train=ROWS))
    for name, version in (("small@1", "1"), ("small", "1"), (str(folder), None)):
        model = (await resolve(registry, SFT, model=name, config={"dataset_ref": rows})).find("model")
        assert model is not None
        assert (model.digest, model.version, model.described["context_length"]) == (made["digest"], version, 64)


async def test_a_model_of_the_hugging_face_cache(
    registry: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By its commit; nothing is fetched."""
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    cache = tmp_path / "hub" / "models--acme--small"
    weights(cache / "snapshots" / "abc123")
    write(cache, {"refs/main": "abc123"})
    rows = str(data(tmp_path / "d", train=ROWS))
    for name in ("acme/small", "acme/small@main", "acme/small@abc123"):
        model = (await resolve(registry, SFT, model=name, config={"dataset_ref": rows})).find("model")
        assert model is not None
        assert (model.name, model.version, model.path) == ("acme/small", "abc123", str(cache / "snapshots" / "abc123"))
    with pytest.raises(ValidationError, match="acme/large is not in this node's Hugging Face cache"):
        await resolve(registry, SFT, model="acme/large", config={"dataset_ref": rows})


async def test_what_is_missing_is_one_error(registry: Store, tmp_path: Path) -> None:
    """With a line for each; what another workspace has is missing, too."""
    await push(registry, "dataset", data(tmp_path / "d", train=ROWS), "sums@2", workspace="theirs")
    with pytest.raises(NotFoundError) as raised:
        await resolve(
            registry, RL, model="small@1", capability_ref={"name": "solver", "version": "1.0.0"},
            config={"prompt_dataset_ref": {"name": "sums", "version": "2"}, "task_ref": "add"},
        )  # fmt: skip
    assert [line.split(" is published")[0] for line in str(raised.value).split("\n  ")] == [
        "this training job cannot run:",
        "model: no model or checkpoint 'small@1'",
        "capability_ref: no capability 'solver@1.0.0'",
        "config.prompt_dataset_ref: no dataset 'sums@2'",
        "config.task_ref: no task 'add'",
    ]


@pytest.mark.parametrize(
    ("body", "config", "says"),
    [
        (SFT, {"dataset_ref": "rows/none.jsonl"}, r"config.dataset_ref: there is no file or directory .*none.jsonl"),
        (SFT, {"dataset_ref": {"name": "a b", "version": "1"}}, "config.dataset_ref: 'a b@1' names no object"),
        (SFT, {"dataset_ref": "PROMPTS"}, r"cannot be used for SFT: train.jsonl:1: it has a prompt and no answer"),
        (SFT, {"trajectory_dataset_refs": ["ROWS"]},
         r"trajectory_dataset_refs\[0\]: .* cannot be used as trajectories: train.jsonl:1: it is no trajectory"),
        (SFT, {"dataset_ref": "ROWS", "eval_dataset_ref": "PROMPTS"}, "config.eval_dataset_ref: .* cannot be used"),
        (RL, {"prompt_dataset_ref": "ATIF"}, "cannot be used as prompts: train.jsonl:1: it is a trajectory"),
        (RL, {"prompt_dataset_ref": "ROWS", "prompt_split": "dev"}, "has the splits test, train: it has no split"),
        (RL, {"prompt_dataset_ref": "OTHERS"}, r"has the splits a, b: name one \(prompt_split\)"),
        (SFT, {"dataset_ref": "BROKEN"}, r"1 row cannot be used:\n  train.jsonl:2: not JSON"),
    ],
)  # fmt: skip
async def test_what_does_not_fit_is_said(
    registry: Store, tmp_path: Path, body: dict[str, Any], config: dict[str, Any], says: str
) -> None:
    """With the file and the line that stand in the way."""
    places = {
        "ROWS": data(tmp_path / "rows", train=ROWS, test=ROWS),
        "PROMPTS": data(tmp_path / "prompts", train=[{"prompt": "x"}]),
        "ATIF": data(tmp_path / "atif", train=[ATIF]),
        "OTHERS": data(tmp_path / "others", a=ROWS, b=ROWS),
        "BROKEN": write(tmp_path / "broken", {"train.jsonl": jsonl(ROWS[:1]) + "{\n"}),
    }
    asked = json.loads(json.dumps(config))
    for name, place in places.items():
        asked = json.loads(json.dumps(asked).replace(f'"{name}"', json.dumps(str(place))))
    with pytest.raises(ValidationError, match=says):
        await resolve(registry, body, config=asked)


async def test_a_capability_without_an_agent_is_no_scaffold(registry: Store, tmp_path: Path) -> None:
    """It can be published, and not be trained with."""
    place = capability(tmp_path / "c")
    shutil.rmtree(place / "agents")
    await push(registry, "capability", place, "solver@1.0.0")
    rows = str(data(tmp_path / "d", train=ROWS))
    with pytest.raises(ValidationError, match=r"capability_ref: solver@1.0.0 has no agent: training uses its entry"):
        await resolve(
            registry, SFT, capability_ref={"name": "solver", "version": "1.0.0"}, config={"dataset_ref": rows}
        )


async def test_files_that_are_gone_are_a_fault_of_the_platform(registry: Store, tmp_path: Path) -> None:
    """Said with what to do; to publish the same again mends it."""
    place = data(tmp_path / "d", train=ROWS)
    made = await push(registry, "dataset", place, "sums@1")
    shutil.rmtree(registry.place(made["digest"]))
    with pytest.raises(PlatformError, match=r"the files of dataset sums@1 are not in .* push it again"):
        await resolve(registry, SFT, config={"dataset_ref": {"name": "sums", "version": "1"}})
    await push(registry, "dataset", place, "sums@1")
    assert await resolve(registry, SFT, config={"dataset_ref": {"name": "sums", "version": "1"}})


async def test_an_object_may_not_be_larger_than_the_node_takes(registry: Store, tmp_path: Path) -> None:
    """It is refused while it comes, and nothing of it stays."""
    place = write(tmp_path / "d", {"rows.jsonl": jsonl([{"prompt": "x" * 1_100_000, "answer": "y"}])})
    with pytest.raises(ValidationError, match="larger than 1000000 bytes") as raised:
        await push(registry, "dataset", place, "big@1")
    assert raised.value.reason == "TOO_LARGE"
    assert list((tmp_path / "objects" / "incoming").iterdir()) == []


async def test_the_same_content_lies_there_once(registry: Store, tmp_path: Path) -> None:
    """Whatever it is called, and in whichever workspace."""
    place = data(tmp_path / "d", train=ROWS)
    one = await push(registry, "dataset", place, "a@1")
    two = await push(registry, "dataset", place, "b@1", workspace="theirs")
    assert one["digest"] == two["digest"] == tree_of(files_of(place)).digest
    assert len(list((tmp_path / "objects" / "trees").glob("*/*"))) == 1


HUMAN_EVAL = [
    {
        "task_id": f"T/{n}", "prompt": f"def f(x):\n    # add {n}\n", "canonical_solution": f"    return x + {n}\n",
        "test": f"def check(candidate):\n    assert candidate(1) == {1 + n}\n", "entry_point": "f",
    }
    for n in (1, 2)
]  # fmt: skip
OWN = {
    "problems": [
        {"id": "add", "statement": "add one", "entry_point": "f", "scoring": {"contract": "plus@1"},
         "limits": {"memory_mb": 64}, "honeypot": True},
    ],
    "scenarios": [{"id": "add/1", "problem": "add", "candidate": "pass"}],
}  # fmt: skip
PLUS = {"type": "tests", "checks": [{"args": [{"$tuple": [1, 2]}], "expected": {"$set": [3]}}]}


async def kept(registry: Store) -> None:
    """A data set, a scenario file and a contract, all of them stored."""
    catalog = registry.catalog
    await catalog.create(MINE, "scoring_contracts", {"name": "plus", "contract": PLUS})
    await catalog.create(MINE, "scenarios", {"name": "he", "scenarios": HUMAN_EVAL})
    await catalog.create(MINE, "scenarios", {"name": "own", "scenarios": OWN})


def prompts_in(resolved: ResolvedReferences) -> list[PromptRow]:
    """The prompts of a job, as its worker reads them."""
    assert resolved.prompts is not None
    assert resolved.prompts.path is not None
    return [prompt_row_of(row.values, id="") for row in read_rows(Path(resolved.prompts.path))]


async def test_stored_scenarios_are_prompts_with_their_contracts(registry: Store) -> None:
    """In harena's own format and in a data set's; with limits, honeypots and contracts that are stored apart. The plan
    rewards by the contracts."""
    await kept(registry)
    resolved = await resolve(registry, RL, config={"scenarios_ref": "he"})
    first = prompts_in(resolved)[0]
    assert (first.id, first.prompt) == ("T/1", HUMAN_EVAL[0]["prompt"])
    assert first.scoring is not None
    assert first.scoring["checks"] == [{"args": [1], "kwargs": {}, "expected": 2}]
    assert first.program is not None
    assert first.program.prefix == HUMAN_EVAL[0]["prompt"]
    plan = plan_of(parse_request({**RL, "config": {**RL["config"], "scenarios_ref": "he"}}), resolved)
    assert isinstance(plan, RLPlan)
    assert plan.reward is not None
    assert plan.reward.name == "code_tests_v1"

    (own,) = prompts_in(await resolve(registry, RL, config={"scenarios_ref": "own@1"}))
    assert (own.id, own.prompt, own.scoring) == ("add", "add one", {**PLUS, "checks": PLUS["checks"]})
    assert own.program is not None
    assert (own.program.problem, own.program.limits) == ({"entry_point": "f", "honeypot": True}, {"memory_mb": 64})


async def test_what_rows_name_is_pinned_when_the_job_is_submitted(registry: Store, tmp_path: Path) -> None:
    """A stored scenario of any format, and a stored contract; what is stored later changes nothing."""
    await kept(registry)
    rows = [
        {"prompt": "a", "scoring": {"scenario": "he@1", "id": "T/2"}},
        {"prompt": "b", "scoring": {"scenario": "own", "id": "add/1"}},
        {"prompt": "c", "scoring": {"contract": "plus@1"}},
    ]
    place = data(tmp_path / "d", rows=rows) / "rows.jsonl"
    found = prompts_in(await resolve(registry, RL, config={"prompt_dataset_ref": str(place)}))
    assert [row.prompt for row in found] == ["a", "b", "c"]
    assert [row.scoring["type"] for row in found if row.scoring is not None] == ["tests"] * 3
    assert found[0].program is not None
    assert found[0].program.prefix == HUMAN_EVAL[1]["prompt"]


async def test_references_to_what_is_not_stored_name_their_rows(registry: Store, tmp_path: Path) -> None:
    """All of them, when the job is submitted."""
    await kept(registry)
    rows = [
        {"prompt": "a", "scoring": {"scenario": "he@1", "id": "T/2"}},
        {"prompt": "b", "scoring": {"scenario": "he@1", "id": "T/3"}},
        {"prompt": "c", "scoring": {"scenario": "other@1", "id": "T/1"}},
        {"prompt": "d", "scoring": {"contract": "plus@7"}},
        {"prompt": "e", "scoring": {"scenario": "own@1", "id": "ad"}},
    ]
    place = data(tmp_path / "d", rows=rows) / "rows.jsonl"
    with pytest.raises(ValidationError) as error:
        await resolve(registry, RL, config={"prompt_dataset_ref": str(place)})
    told = str(error.value)
    assert "4 rows cannot be used" in told
    assert "rows.jsonl:1" not in told
    for part in ("rows.jsonl:2: he@1 holds neither", "rows.jsonl:3: no scenarios", "rows.jsonl:4: ", "mean 'add'?"):
        assert part in told
    with pytest.raises(NotFoundError, match=r"config\.scenarios_ref: no scenarios 'other'"):
        await resolve(registry, RL, config={"scenarios_ref": "other"})


async def test_bad_rows_are_left_out_on_request(registry: Store, tmp_path: Path) -> None:
    """Those that cannot be read, are no prompt, have no contract, name what is not stored, or have the id of another;
    each is counted and named, and the job learns from the others."""
    await kept(registry)
    broken = {**HUMAN_EVAL[1], "task_id": "T/9", "entry_point": "no name"}
    rows = [
        HUMAN_EVAL[0],
        broken,
        HUMAN_EVAL[0],
        {"prompt": "a", "scoring": {"scenario": "he@1", "id": "T/2"}},
        {"prompt": "b", "scoring": {"scenario": "he@1", "id": "T/3"}},
        {"prompt": "c", "scoring": {"type": "best"}},
    ]
    place = write(tmp_path / "d", {"rows.jsonl": jsonl(rows) + "{\n"}) / "rows.jsonl"
    with pytest.raises(ValidationError):
        await resolve(registry, RL, config={"prompt_dataset_ref": str(place)})
    asked = {**RL, "config": {**RL["config"], "prompt_dataset_ref": str(place), "skip_bad_rows": True}}
    resolved = await resolve(registry, asked)
    assert [row.prompt for row in prompts_in(resolved)] == [HUMAN_EVAL[0]["prompt"], "a"]
    assert resolved.prompts is not None
    assert resolved.prompts.described["rows"] == 2
    (warning,) = text_warnings(plan_of(parse_request(asked), resolved), resolved)
    assert "5 of 7 rows are left out" in warning
    for number in (2, 3, 5, 6, 7):
        assert f"rows.jsonl:{number}: " in warning
    text = tmp_path / "text.jsonl"
    text.write_text(jsonl([{"prompt": "a", "completion": "b"}, {"prompt": "a"}]))
    config = {"dataset_ref": str(text), "skip_bad_rows": True}
    (found,) = [ref for ref in (await resolve(registry, SFT, config=config)).refs if ref.where == "config.dataset_ref"]
    assert (found.described["rows"], found.described["left_out"]["rows"]) == (1, 1)
    text.write_text(jsonl([{"prompt": "a"}]))
    with pytest.raises(ValidationError, match=r"text.jsonl:1: "):
        await resolve(registry, SFT, config=config)


async def test_a_world_is_the_prompt_that_begins_it(registry: Store) -> None:
    """Named by its content; a world that is not there, and a goal that it does not have, are named."""
    config = {"algorithm": "grpo", "world_manifest_id": "lab", "world_goal": "Help Desk"}
    found = (await resolve(registry, RL, config=config)).prompts
    assert found is not None
    assert (found.where, found.kind, found.name, found.rows) == ("config.world_manifest_id", "dataset", "lab-world", 1)
    again = (await resolve(registry, RL, config={**config, "world_goal": "Help Desk@alpha"})).prompts
    assert again is not None
    assert again.digest == found.digest
    with pytest.raises(NotFoundError, match=r"config\.world_manifest_id: the workspace has no world 'nobodys'"):
        await resolve(registry, RL, config={**config, "world_manifest_id": "nobodys"})
    with pytest.raises(ValidationError, match=r"config\.world_manifest_id: goal: the world has no group 'Kings'"):
        await resolve(registry, RL, config={**config, "world_goal": "Kings"})


async def test_rows_are_written_in_threads(registry: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows that are left when those that cannot be used are taken out: there may be hundreds of megabytes of them, and
    the event loop has others to serve."""
    loop_thread, threads = threading.get_ident(), set[int]()

    def dumps(row: Any, **given: Any) -> str:
        threads.add(threading.get_ident())
        return json.dumps(row, **given)

    monkeypatch.setattr(stored_references, "json", SimpleNamespace(dumps=dumps))
    text = tmp_path / "text.jsonl"
    text.write_text(jsonl([{"prompt": "a", "completion": "b"}, {"prompt": "a"}]))
    await resolve(registry, SFT, config={"dataset_ref": str(text), "skip_bad_rows": True})
    assert threads
    assert loop_thread not in threads


async def test_a_world_is_sampled_before_a_job_learns(registry: Store) -> None:
    """By an agent of the runtime, into trajectories that come before those that are given; the same request gives the
    same. Where nothing is learned from failures there are none."""
    config = {
        "algorithm": "grpo",
        "world_manifest_id": "lab",
        "world_runtime_id": "scripted",
        "world_goal": "Help Desk",
    }
    (found,) = (made := await resolve(registry, RL, config=config)).trajectories
    assert (found.where, found.kind, found.name) == ("config.world_runtime_id", "dataset", "lab-sampled")
    assert made.prompts is None
    rows = [json.loads(line) for line in Path(str(found.path)).read_text().splitlines()]
    assert len(rows) == found.rows == 20
    assert {(row["agent"]["name"], row["success"], row["seed"]) for row in rows} == {("recon-first", True, 42)}
    assert {row["extra"]["goal"]["target_name"] for row in rows} == {"Help Desk@alpha"}
    (again,) = (await resolve(registry, RL, config=config)).trajectories
    assert again == found
    asked = {**config, "world_agent_name": "random", "offline": True, "max_episode_steps": 3, "seed": 7}
    given = {"name": found.name, "version": found.version}
    sampled, after = (await resolve(registry, RL, config={**asked, "trajectory_dataset_refs": [given]})).trajectories
    assert (sampled.rows, after.ref) == (20, found.ref)
    row = json.loads(Path(str(sampled.path)).read_text().splitlines()[0])
    assert (row["agent"]["name"], row["seed"], row["step_count"] <= 3) == ("random", 7, True)
    with pytest.raises(ValidationError, match=r"config\.world_runtime_id: none of 20 episodes of random reached"):
        await resolve(registry, RL, config={**asked, "offline": None})
    plan = plan_of(parse_request({**RL, "config": config}), made)
    assert isinstance(plan, RLPlan)
    assert (plan.reward and plan.reward.name, plan.max_turns) == ("trajectory_imitation_v1", None)
