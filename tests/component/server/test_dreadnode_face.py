"""Hosted training for the stock `dreadnode` client: what the client was seen to ask, and what its models take.

`dreadnode.json` was recorded of the real client by `scripts/record_dreadnode.py`, and says its version; the client
itself is run by `tests/integration/test_dreadnode_client.py`, where it is installed.
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import aiohttp
import jsonschema_rs
import pytest
import pytest_asyncio
from server_world import World, world
from tokenizers import Regex, Tokenizer, models, pre_tokenizers

from harena.core.file_trees import files_of, pack_files
from harena.core.pages import PageRoom
from harena.core.training_jobs import Metrics, merge_metrics
from harena.faces.dreadnode import port
from harena.faces.dreadnode.amounts import NewestLogs, leave_newest
from harena.faces.dreadnode.records import HostedLog
from harena.training.data.templates import SIMPLE_TEMPLATE

RECORDED = json.loads((Path(__file__).parent / "dreadnode.json").read_text(encoding="utf-8"))
MODEL = "tiny-chat@1"
KINDS = (
    (r"/user$", "User"),
    (r"/org/[^/]+$", "Organization"),
    (r"/ws/[^/]+$", "Workspace"),
    (r"/projects/[^/]+$", "Project"),
    (r"/catalog$", "TrainingCatalogResponse"),
    (r"/logs$", "TrainingJobLogList"),
    (r"/artifacts$", "TrainingJobArtifacts"),
    (r"/jobs/[^/]+(/cancel|/retry)?$", "TrainingJob"),
)
"""the end of a path -> the client's model of the answer"""


def checked(path: str, method: str, answer: Any) -> Any:
    """The answer, as the client's own model takes it."""
    path = path.partition("?")[0]
    if path.endswith("/ws"):
        for entry in answer["workspaces"]:
            _check("Workspace", entry)
        return answer
    if path.endswith("/jobs"):
        _check("TrainingJobList" if method == "GET" else "TrainingJob", answer)
        return answer
    _check(next(kind for ending, kind in KINDS if re.search(ending, path)), answer)
    return answer


def _check(model: str, answer: Any) -> None:
    jsonschema_rs.validator_for(RECORDED["models"][model]).validate(answer)


class Client:
    """Sends what the client was seen to send."""

    def __init__(self, session: aiohttp.ClientSession, key: str) -> None:
        self._session = session
        self._key = key

    async def ask(self, method: str, path: str, body: Any = None, *, status: int | None = None) -> Any:
        """The answer, which the client takes; or the problem of this status."""
        async with self._session.request(method, path, json=body, headers={"x-api-key": self._key}) as answer:
            found = await answer.json()
            if status is not None:
                assert answer.status == status, found
                return found
            assert answer.status < 300, found
            return checked(path, method, found)

    async def run(self, command: str, *, job: str = "", **changes: Any) -> Any:
        """All that this command asks; the answer to the last of its requests."""
        found = None
        for entry in sorted(RECORDED["commands"][command], key=lambda one: "/training/" in one["path"]):
            body = entry.get("body")
            if body is not None:
                body = {**body, "model": MODEL, **changes}
            path = entry["path"].replace("JOB", job)
            if job or "JOB" not in entry["path"]:
                found = await self.ask(entry["method"], path, body)
        return found


def small_model(folder: Path) -> Path:
    """The files of a model with a chat template, which a capability's prompt needs; nobody loads its weights."""
    tokens = ["<pad>", "<end>", "<unknown>", *map(chr, range(32, 127))]
    vocabulary = {token: number for number, token in enumerate(tokens)}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="<unknown>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex(r"[\s\S]"), behavior="isolated")
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "tokenizer_config.json").write_text(json.dumps({"chat_template": SIMPLE_TEMPLATE}))
    described = {"architectures": ["LlamaForCausalLM"], "max_position_embeddings": 256}
    (folder / "config.json").write_text(json.dumps(described))
    (folder / "model.safetensors").write_bytes((2).to_bytes(8, "little") + b"{}")
    return folder


async def push(here: World, kind: Any, name: str, version: str, place: Path) -> None:
    async def tree() -> AsyncIterator[bytes]:
        for piece in pack_files(files_of(place)):
            yield piece

    await here.state.operations.push_object(kind, name, version, tree())


def lines(path: Path, rows: list[Mapping[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small_model(tmp_path_factory.mktemp("model"))


@pytest_asyncio.fixture
async def hosted(tmp_path: Path, model: Path) -> AsyncIterator[Client]:
    """A server without keys, which takes any, with what the recorded commands refer to."""
    capability = tmp_path / "capability"
    (capability / "agents").mkdir(parents=True)
    (capability / "capability.yaml").write_text("schema: 1\nname: solver\nversion: 1.0.0\ndescription: Solves.\n")
    (capability / "agents/main.md").write_text("Answer.\n")
    (tmp_path / "home").mkdir()
    async with world(tmp_path / "home") as here:
        await push(here, "model", "tiny-chat", "1", model)
        await push(here, "capability", "solver", "1.0.0", capability)
        rows = [{"prompt": f"{n}+1=", "answer": str(n + 1)} for n in range(8)]
        await push(here, "dataset", "rows", "1", lines(tmp_path / "rows.jsonl", rows))
        asked = [{"prompt": row["prompt"], "expected_output": row["answer"]} for row in rows]
        await push(here, "dataset", "prompts", "1", lines(tmp_path / "prompts.jsonl", asked))
        async with aiohttp.ClientSession(here.url) as session:
            yield Client(session, "KEY")


async def ended(client: Client, job: str) -> Any:
    while (found := await client.run("wait", job=job))["status"] not in ("completed", "failed", "cancelled"):
        pass
    return found


async def test_every_command_of_the_client(hosted: Client) -> None:
    """Each request that it was seen to make gets an answer that its own models take."""
    made = await hosted.run("sft", tags=["steps:2"])
    assert (made["status"], made["backend"], made["trainer_type"]) == ("queued", "tinker", "sft")
    assert (made["organization_id"], made["workspace_id"], made["run_ref"]) == ("acme", "default", "r")
    assert made["dataset_ref"] == {"name": "rows", "version": "1"}
    assert made["capability"]["artifact_id"] == "solver@1.0.0"
    job = made["id"]
    done = await ended(hosted, job)
    assert (done["status"], done["metrics"]["steps"], done["error"]) == ("completed", [1, 2], None)
    assert done["metrics"]["train/reward"] == [0.1, 0.2]
    assert done["started_at"] <= done["completed_at"]
    logs = await hosted.run("logs", job=job)
    assert logs["items"][-1]["message"] == "the job has completed"
    written = (await hosted.run("artifacts", job=job))["artifacts"]
    assert (written["capability"], written["dataset"]) == ("solver@1.0.0", "rows@1")
    assert await hosted.run("cancel", job=job) == {**done, "metrics": await newest(hosted, job)}

    other = await hosted.run("rl", tags=["steps:1"])
    assert (other["algorithm"], other["project_ref"]) == ("ppo", "p")
    await ended(hosted, other["id"])
    greedy = await hosted.run("rl, greedy", tags=["steps:1"])
    assert (greedy["config"]["temperature"], greedy["config"]["weight_sync_interval"]) == (0, 2)
    await ended(hosted, greedy["id"])
    listed = [one["id"] for one in (await hosted.run("list"))["items"]]
    assert listed == [greedy["id"], other["id"], job]
    page = await hosted.run("list, filtered")
    assert (page["total"], page["page_size"], len(page["items"])) == (3, 2, 2)
    assert (await hosted.run("list, of a workspace and a project"))["total"] == 3
    assert [one["tinker_id"] for one in (await hosted.run("catalog"))["models"]] == ["tiny-llama", MODEL]


async def newest(client: Client, job: str) -> Any:
    """Metrics of the job as a list tells them."""
    page = await client.ask("GET", "/api/v1/org/acme/ws/default/training/jobs")
    return next(one["metrics"] for one in page["items"] if one["id"] == job)


async def test_a_job_is_retried(hosted: Client) -> None:
    """The client's command line has no word for it, its API has."""
    job = (await hosted.run("sft", tags=["fail:no luck"]))["id"]
    failed = await ended(hosted, job)
    assert (failed["status"], "no luck" in failed["error"]) == ("failed", True)
    path = f"/api/v1/org/acme/ws/default/training/jobs/{job}/retry"
    assert (await hosted.ask("POST", path))["status"] in ("queued", "running")
    await ended(hosted, job)


async def test_pages_are_counted(hosted: Client) -> None:
    """By number, from 1, and the last one may be empty."""
    jobs = [(await hosted.run("sft", tags=["steps:1"], name=f"n{number}"))["id"] for number in range(3)]
    for job in jobs:
        await ended(hosted, job)
    listing = "/api/v1/org/acme/ws/default/training/jobs?page_size=2&page="
    pages = [await hosted.ask("GET", f"{listing}{number}") for number in (1, 2, 3)]
    assert [[one["name"] for one in page["items"]] for page in pages] == [["n2", "n1"], ["n0"], []]
    assert {page["total"] for page in pages} == {3}
    none = await hosted.ask("GET", "/api/v1/org/acme/ws/default/training/jobs?project_ref=other")
    assert none["total"] == 0


async def test_what_is_wrong_is_said(hosted: Client) -> None:
    """In `detail`, which the client prints."""
    (entry,) = (one for one in RECORDED["commands"]["sft"] if one["method"] == "POST")
    body = {**entry["body"], "model": MODEL}
    jobs = entry["path"]

    async def problem(change: Mapping[str, Any], status: int) -> str:
        said: str = (await hosted.ask("POST", jobs, {**body, **change}, status=status))["detail"]
        return said

    assert "tinker and ray" in await problem({"backend": "local"}, 422)
    assert "capability_ref: missing" in await problem({"capability_ref": None}, 422)
    config = {**body["config"], "steps": 0, "surprise": 1, "group_size": 4}
    said = await problem({"config": config}, 422)
    assert all(name in said for name in ("config.steps", "config.surprise", "config.group_size"))
    absent = {**body["config"], "dataset_ref": {"name": "acme/none", "version": "1"}}
    assert "none@1" in await problem({"config": absent}, 404)
    assert "path of your own machine" in await problem({"model": "./model"}, 422)
    for path in ("/org/acme/ws/other", "/org/acme/ws/other/training/jobs", "/org/acme/ws/default/training/jobs/no"):
        assert (await hosted.ask("GET", f"/api/v1{path}", status=404))["detail"]
    assert (await hosted.ask("GET", f"{jobs}?colour=red", status=422))["detail"]


async def test_jobs_of_other_backends_are_left_to_harena(hosted: Client, tmp_path: Path) -> None:
    """The client's models have no words for them."""
    local = {
        "trainer_type": "sft",
        "model": MODEL,
        "config": {"dataset_ref": {"name": "rows", "version": "1"}},
        "tags": ["steps:1"],
    }
    async with hosted._session.post("/v1/training_jobs", json=local) as answer:
        job = (await answer.json())["id"]
    assert (await hosted.run("list"))["items"] == []
    problem = await hosted.ask("GET", f"/api/v1/org/acme/ws/default/training/jobs/{job}", status=404)
    assert f"harena train get {job}" in problem["detail"]
    async with hosted._session.get(f"/v1/training_jobs/{job}?wait_seconds=30") as answer:
        assert (await answer.json())["state"] == "completed"


async def test_keys_and_scopes(tmp_path: Path) -> None:
    """The client's header carries harena's key; a workspace is that of its key, and a key may be for reading only."""
    async with world(tmp_path, keyed=True) as here:
        keys: Any = here.state.access
        reader, _ = await keys.create(name="r", workspace="team", scopes=["read"])
        async with aiohttp.ClientSession(here.url) as session:
            client = Client(session, reader)
            assert (await client.ask("GET", "/api/v1/org/acme/ws"))["workspaces"][0]["key"] == "team"
            await client.ask("GET", "/api/v1/org/acme/ws/default", status=404)
            await client.ask("POST", "/api/v1/org/acme/ws/team/training/jobs", {"backend": "tinker"}, status=403)
            await client.ask("GET", "/v1/training_jobs", status=401)  # harena's own routes take their own header
            await Client(session, "wrong").ask("GET", "/api/v1/user", status=401)


async def test_a_page_of_large_jobs_is_refused(hosted: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """This wire has no cursor where a page could be cut, as harena's own lists are: fewer jobs can be asked for."""
    monkeypatch.setattr(port, "PageRoom", lambda: PageRoom(10_000))
    for number in range(3):
        await hosted.run("rl", name=f"n{number}", tags=["steps:1", *(f"{tag:>1000}" for tag in range(4))])
    listing = "/api/v1/org/acme/ws/default/training/jobs?page_size="
    refused = await hosted.ask("GET", f"{listing}500", status=422)
    assert "ask for fewer on a page" in refused["detail"]
    page = await hosted.ask("GET", f"{listing}1")
    assert (len(page["items"]), page["total"]) == (1, 3)


def test_the_newest_messages_are_kept() -> None:
    """By their number and by their bytes; the last one stays however large it is."""
    logs = [HostedLog(timestamp="", level="info", message=f"{number:>1000}", data={}) for number in range(10)]
    few, small = NewestLogs(3, 1 << 20), NewestLogs(100, 2500)
    for kept in (few, small):
        kept.add(logs[:5])
        kept.add(logs[5:])
    assert (few.items(), small.items()) == (logs[-3:], logs[-2:])
    small.add([replace(logs[0], message="x" * 9000)])
    assert len(small.items()) == 1


def test_the_newest_values_are_left() -> None:
    """Of both axes, whose arrays stay as long as their steps."""
    metrics: Metrics = {"lr": 0.5}
    for step in range(100):
        merge_metrics(metrics, {"steps": [step], "train/a": [0.1]})
    merge_metrics(metrics, {"eval/steps": [9, 99], "eval/a": [1.0, 2.0]})
    leave_newest(metrics, 120)
    assert metrics["steps"] == [*range(50, 100)]
    assert (metrics["train/a"], metrics["eval/steps"], metrics["eval/a"]) == ([0.1] * 50, [99], [2.0])
