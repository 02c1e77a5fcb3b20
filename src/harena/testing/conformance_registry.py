"""What every transport must do with the objects that training refers to: tests."""

from __future__ import annotations

import io
import json
import tarfile
from collections.abc import AsyncIterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from harena.core.errors import NotFoundError, ValidationError
from harena.core.file_trees import files_of, pack_files, tree_of, unpack
from harena.core.ports import Operations
from harena.core.records.objects import CapabilityDescription, StoredObject
from harena.core.registry import VERSION_TAKEN, ObjectKind
from harena.core.requests import TrainingJobFields

CAPABILITY = "schema: 1\nname: solver\nversion: '{}'\ndescription: Solves sums.\n"
AGENT = "---\nmodel: any\n---\nYou add numbers.\n"
TASK = (
    "name: add\nversion: '{}'\ninstruction: Add {{{{a}}}} and {{{{b}}}}.\n"
    "verification: {{method: script, script: check.sh, timeout: 5}}\n"
)
BOMB = "a: &a [x, x]\n" + "".join(
    f"{name}: &{name} [*{before}, *{before}, *{before}, *{before}, *{before}, *{before}, *{before}, *{before}]\n"
    for before, name in pairwise("abcdefghijk")
)
"""a kilobyte that stands for more than a memory holds"""
ROWS = [{"prompt": f"{number} + 1", "expected_output": str(number + 1)} for number in range(3)]


def jsonl(rows: list[dict[str, Any]]) -> str:
    """Rows as the text of a JSON lines file."""
    return "".join(f"{json.dumps(row)}\n" for row in rows)


def write(folder: Path, files: dict[str, str]) -> Path:
    """A directory of these files."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
    return folder


def capability(folder: Path, version: str = "1.0.0", **files: str) -> Path:
    """One with an agent."""
    return write(folder, {"capability.yaml": CAPABILITY.format(version), "agents/main.md": AGENT, **files})


def chat_model(folder: Path) -> Path:
    """A directory with all that a model needs, however little of it, and a chat template."""
    write(folder, {"config.json": "{}", "tokenizer.json": "{}", "chat_template.jinja": "{{ messages }}"})
    (folder / "model.safetensors").write_bytes((2).to_bytes(8, "little") + b"{}")
    return folder


async def stream(content: bytes, size: int = 70_000) -> AsyncIterator[bytes]:
    """In pieces, as it comes from elsewhere."""
    for place in range(0, len(content), size):
        yield content[place : place + size]


async def push(operations: Operations, kind: ObjectKind, place: Path, ref: str) -> StoredObject:
    """Push an object in the way that the sdk does."""
    name, _, version = ref.partition("@")
    files = files_of(place)
    sent = stream(b"".join(pack_files(files)))
    return await operations.push_object(kind, name, version, sent, digest=tree_of(files).digest)


async def pulled(operations: Operations, kind: ObjectKind, ref: str, folder: Path) -> Path:
    """What comes back, unpacked."""
    content = b"".join([piece async for piece in operations.pull_object(kind, ref)])
    unpack(io.BytesIO(content), folder)
    return folder


def tar_of(*members: tuple[str, bytes | str]) -> bytes:
    """A tar stream of files; a text is the target of a link."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name, content in members:
            member = tarfile.TarInfo(name)
            if isinstance(content, str):
                member.type, member.linkname = tarfile.SYMTYPE, content
                archive.addfile(member)
            else:
                member.size = len(content)
                archive.addfile(member, io.BytesIO(content))
    return out.getvalue()


class RegistryConformance:
    """All of it."""

    async def test_an_object_comes_back_as_it_was(self, operations: Operations, tmp_path: Path) -> None:
        """Names, contents and rights; larger than a piece, with names that are long and not ASCII."""
        long = "n" * 120
        place = capability(tmp_path / "one", **{f"tools/{long}.py": "x" * 3_000_000, "skills/åäö/SKILL.md": "text"})
        (place / "tools" / f"{long}.py").chmod(0o755)
        made = await push(operations, "capability", place, "solver@1.0.0")
        assert (made["ref"], made["kind"], made["files"]) == ("solver@1.0.0", "capability", 4)
        assert made.described == CapabilityDescription(
            description="Solves sums.", entry_agent="main", prompt="You add numbers.", agents=["main"]
        )
        assert await operations.get_object("capability", "solver") == made
        back = await pulled(operations, "capability", "solver@1.0.0", tmp_path / "back")
        assert tree_of(files_of(back)).digest == made["digest"]
        assert (back / "tools" / f"{long}.py").stat().st_mode & 0o111 == 0o111

    async def test_a_version_never_changes(self, operations: Operations, tmp_path: Path) -> None:
        """Equal content again gives the object that exists; other content under its name is refused, and changes
        nothing."""
        first = capability(tmp_path / "first", "3.0.0")
        made = await push(operations, "capability", first, "solver@3.0.0")
        assert await push(operations, "capability", first, "solver@3.0.0") == made
        other = capability(tmp_path / "other", "3.0.0", **{"tools/new.py": "pass"})
        with pytest.raises(ValidationError, match=r"solver@3.0.0 is published with other content .* another ver") as no:
            await push(operations, "capability", other, "solver@3.0.0")
        assert no.value.reason == VERSION_TAKEN
        assert await operations.get_object("capability", "solver@3.0.0") == made

    async def test_a_version_is_deleted(self, operations: Operations, tmp_path: Path) -> None:
        """A version is deleted by its whole name; others of the same content stay, and it can be published anew."""
        place = write(tmp_path / "rows", {"rows.jsonl": jsonl(ROWS)})
        for version in "12":
            await push(operations, "dataset", place, f"gone@{version}")
        with pytest.raises(ValidationError, match="names no version"):
            await operations.delete_object("dataset", "gone")
        await operations.delete_object("dataset", "gone@1")
        for work in (operations.get_object, operations.delete_object):
            with pytest.raises(NotFoundError):
                await work("dataset", "gone@1")
        assert (await operations.get_object("dataset", "gone"))["ref"] == "gone@2"
        await pulled(operations, "dataset", "gone@2", tmp_path / "back")
        await operations.delete_object("dataset", "gone@2")
        other = write(tmp_path / "other", {"rows.jsonl": jsonl(ROWS[:1])})
        assert (await push(operations, "dataset", other, "gone@1"))["described"]["parts"][""]["rows"] == 1

    async def test_versions_of_a_task_are_numbers(self, operations: Operations, tmp_path: Path) -> None:
        """The newest is the highest, whichever was published last; of a data set the one that was published last."""
        for version in ("1.10.0", "1.9.0"):
            place = write(tmp_path / version, {"task.yaml": TASK.format(version), "check.sh": "exit 0\n"})
            await push(operations, "task", place, f"add@{version}")
            await push(operations, "dataset", write(tmp_path / f"d{version}", {"r.jsonl": jsonl(ROWS)}), f"d@{version}")
        found = await operations.get_object("task", "add")
        assert (found["version"], found["described"]["variables"]) == ("1.10.0", ["a", "b"])
        assert (await operations.get_object("dataset", "d"))["version"] == "1.9.0"

    async def test_objects_are_listed(self, operations: Operations, tmp_path: Path) -> None:
        """By kind and name, newest first, page after page."""
        place = write(tmp_path / "rows", {"rows.jsonl": jsonl(ROWS)})
        for version in "abc":
            await push(operations, "dataset", place, f"listed@{version}")
        page = await operations.list_objects("dataset", name="listed", limit=2)
        assert [entry["ref"] for entry in page["objects"]] == ["listed@c", "listed@b"]
        rest = await operations.list_objects("dataset", name="listed", limit=2, cursor=page["next_cursor"])
        assert ([entry["ref"] for entry in rest["objects"]], rest["next_cursor"]) == (["listed@a"], None)
        assert not (await operations.list_objects("model", name="listed"))["objects"]
        assert (await operations.list_objects(limit=1))["objects"][0]["ref"] == "listed@c"

    async def test_a_data_set_says_what_it_is_good_for(self, operations: Operations, tmp_path: Path) -> None:
        """Each split, and of what it cannot be used for, why."""
        trajectory = {
            "schema_version": "ATIF-v1.6", "agent": {"name": "a"}, "success": True,
            "steps": [
                {"source": "user", "message": "add"},
                {"source": "agent", "message": "", "tool_calls": [
                    {"tool_call_id": "c1", "function_name": "sum", "arguments": {"of": [1, 2]}}],
                 "observation": {"results": [{"source_call_id": "c1", "content": "3"}]}},
            ],
        }  # fmt: skip
        place = write(tmp_path / "many", {"train.jsonl": jsonl(ROWS), "test.jsonl": jsonl([trajectory])})
        parts = (await push(operations, "dataset", place, "mixed@1"))["described"]["parts"]
        assert parts["train"]["uses"] == ["sft", "prompts"]
        assert (parts["train"]["rows"], parts["train"]["reward_recipe"]) == (3, "exact_match_v1")
        assert "train.jsonl:1: it is no trajectory" in parts["train"]["cannot"]["trajectories"]
        assert (parts["test"]["uses"], parts["test"]["reward_recipe"]) == (["sft", "trajectories"], None)

    @pytest.mark.parametrize(
        ("kind", "ref", "files", "says"),
        [
            ("capability", "solver@2.0.0", {"readme.md": "x"}, "directory with capability.yaml, and there is none"),
            ("capability", "solver@2.0.0", {"capability.yaml": "- a"}, "capability.yaml holds no mapping"),
            ("capability", "solver@2.0.0", {"capability.yaml": "a: ["}, r"published:\n  capability.yaml:2: not YAML"),
            ("capability", "solver@2.0.0", {"capability.yaml": BOMB}, "stand for more than"),
            ("task", "add@2.0.0", {"task.yaml": BOMB}, "stand for more than"),
            ("capability", "solver@2.0.0", {"capability.yaml": CAPABILITY.format("2.0.1")},
             "version: is '2.0.1', and it is to be published as solver@2.0.0"),
            ("capability", "other@2.0.0", {"capability.yaml": CAPABILITY.format("2.0.0")}, "name: is 'solver', and"),
            ("capability", "solver@2.0.0", {"capability.yaml": CAPABILITY.format("2.0.0") + "agent: x"},
             "agent: unknown field; did you mean 'agents'"),
            ("capability", "solver@2.0.0", {"capability.yaml": CAPABILITY.format("2.0.0").replace("1\n", "2\n", 1)},
             r"schema: must be 1 \(got 2\)"),
            ("capability", "solver@2.0.0", {"capability.yaml": CAPABILITY.format("2.0.0") + "entry_agent: x"},
             "entry_agent: there is no agent 'x'; there are none"),
            ("capability", "solver@2.0.0",
             {"capability.yaml": CAPABILITY.format("2.0.0"), "agents/a.md": "---\na: b\n---"},
             "agents/a.md: says nothing below its front matter"),
            ("task", "add@2.0.0", {"task.yaml": TASK.format("2.0.0")}, "verification.script: check.sh cannot be read"),
            ("task", "add@2.0.0", {"task.yaml": TASK.format("2.0.0").replace("check.sh", "../x")},
             r"verification.script: ../x is outside of the task's folder"),
            ("task", "add@2.0.0", {"task.yaml": TASK.format("2.0.0").replace("script, ", "best, ", 1)},
             "task.yaml: verification.method: must be one of flag, script,"),
            ("task", "add@2.0.0", {"task.yaml": TASK.format("2.0.0").replace("script, ", "flag, ", 1)},
             "verification: needs `hash`"),
            ("task", "add@2.0.0", {"task.yaml": TASK.format("2.0.0").replace(
                "script, script: check.sh, timeout: 5", "scoring, scoring: {type: best}")}, "must be one of tests"),
            ("dataset", "d@9", {"rows.jsonl": jsonl(ROWS) + '{"prompt": \n'}, r"rows.jsonl:4: not JSON"),
            ("dataset", "d@9", {"rows.jsonl": jsonl([*ROWS, {"text": "x"}])}, r"rows.jsonl:4: it has"),
            ("dataset", "d@9", {"rows.jsonl": jsonl([*ROWS, {"text": "x"}, ROWS[0], {"text": "y"}])},
             r"rows.jsonl:4: it has[^\n]*\n  rows.jsonl:6: it has"),
            ("dataset", "d@9", {"rows.jsonl": jsonl([*ROWS, {"text": "x"}]) + '{"prompt": \n'},
             r"2 rows cannot be used:\n  rows.jsonl:5: not JSON[^\n]*\n  rows.jsonl:4: it has"),
            ("dataset", "d@9", {"rows.jsonl": "\n"}, "the data set has no rows"),
            ("dataset", "d@9", {"rows.txt": "x"}, "rows.txt: rows are read from files that end in"),
            ("model", "m@1", {"config.json": "{}"}, "its weights are missing"),
            ("model", "m@1", {"config.json": "{}", "tokenizer.json": "{}",
                              "model.safetensors.index.json": '{"weight_map": {"a": "part-1.safetensors"}}'},
             "part-1.safetensors is missing, which model.safetensors.index.json names"),
            ("checkpoint", "c@1", {"adapter_config.json": "{}"}, "an adapter's weights are missing"),
        ],
    )  # fmt: skip
    async def test_what_is_not_whole_is_refused(
        self, operations: Operations, tmp_path: Path, kind: ObjectKind, ref: str, files: dict[str, str], says: str
    ) -> None:
        """When it is published, with what is wrong and where; nothing is kept."""
        with pytest.raises(ValidationError, match=says) as raised:
            await push(operations, kind, write(tmp_path / "bad", files), ref)
        assert "incoming" not in str(raised.value)
        with pytest.raises(NotFoundError):
            await operations.get_object(kind, ref)

    @pytest.mark.parametrize(
        ("sent", "says"),
        [
            (b"", "no files|no whole tar stream"),
            (b"no tar" * 200, "no whole tar stream"),
            (tar_of(("rows.jsonl", b"x" * 2000))[:1500], "no whole tar stream"),
            (tar_of(("../rows.jsonl", b"{}")), "could lie outside"),
            (tar_of(("/etc/rows.jsonl", b"{}")), "could lie outside"),
            (tar_of(("rows.jsonl", "/etc/passwd")), "neither a plain file nor a directory"),
            (tar_of(("a", b"{}"), ("a/rows.jsonl", b"{}")), "comes twice, or below a file"),
            (tar_of(("a", b"{}"), ("a", b"{}")), "comes twice, or below a file"),
            (tar_of(("rows.jsonl", b'{"prompt": "x", "answer": "y"}')), "did not arrive as it was sent"),
        ],
    )
    async def test_streams_are_not_trusted(self, operations: Operations, sent: bytes, says: str) -> None:
        """Nothing is written outside, and nothing is kept."""
        with pytest.raises(ValidationError, match=says):
            await operations.push_object("dataset", "bad", "1", stream(sent), digest="0" * 64)
        with pytest.raises(NotFoundError, match="no dataset 'bad'"):
            await operations.get_object("dataset", "bad")

    async def test_a_training_job_names_paths_and_versions(self, operations: Operations, tmp_path: Path) -> None:
        """A path of whoever asks becomes a version that is named by its content, over every transport the same."""
        await push(operations, "capability", capability(tmp_path / "c", "4.0.0"), "solver@4.0.0")
        rows = write(tmp_path / "d", {"my rows.jsonl": jsonl(ROWS)}) / "my rows.jsonl"
        model = chat_model(tmp_path / "model")
        request: TrainingJobFields = {
            "trainer_type": "rl", "model": str(model), "tags": ["steps:1"],
            "capability_ref": {"name": "solver", "version": "4.0.0"},
            "config": {"algorithm": "grpo", "prompt_dataset_ref": str(rows)},
        }  # fmt: skip
        with pytest.raises(ValidationError, match="capability_ref: its prompt is a message"):
            await operations.create_training_job({**request, "model": "tiny-llama"})
        job = await operations.create_training_job(request)
        found = {ref["where"]: ref for ref in job["resolved"]}
        prompts = found["config.prompt_dataset_ref"]
        digest = tree_of(files_of(rows)).digest
        assert (prompts["name"], prompts["version"], prompts["digest"]) == ("my-rows", f"sha256-{digest[:16]}", digest)
        assert found["capability_ref"]["version"] == "4.0.0"
        assert found["model"]["digest"] == tree_of(files_of(model)).digest
        assert (await operations.wait_training_job(job["id"]))["state"] == "completed"

    async def test_rows_that_cannot_be_rewarded(self, operations: Operations, tmp_path: Path) -> None:
        """They are named when the job is submitted, with their lines."""
        rows = write(tmp_path / "d", {"rows.jsonl": jsonl([*ROWS, {"prompt": "1 + 1", "reward": 1.0}])}) / "rows.jsonl"
        recipe = {"name": "exact_match_v1"}
        request: TrainingJobFields = {
            "trainer_type": "rl", "model": "tiny-llama",
            "config": {"algorithm": "grpo", "prompt_dataset_ref": str(rows), "reward_recipe": recipe},
        }  # fmt: skip
        says = (
            r"config.reward_recipe: reward recipe exact_match_v1 cannot be applied to 1 of 4 rows "
            r"of rows@sha256-[0-9a-f]+:\n  rows.jsonl:4: "
        )
        with pytest.raises(ValidationError, match=says):
            await operations.create_training_job(request)

    @pytest.mark.parametrize(
        ("config", "says"),
        [
            ({"prompt_dataset_ref": "./none.jsonl"}, "config.prompt_dataset_ref: there is no file or directory"),
            ({"prompt_dataset_ref": "BROKEN"}, "config.prompt_dataset_ref: .*rows.jsonl:2: not JSON"),
            ({"prompt_dataset_ref": {"name": "none", "version": "1"}, "task_ref": "none@1.0.0"},
             "config.prompt_dataset_ref: no dataset 'none@1' .*config.task_ref: no task 'none@1.0.0' is published"),
        ],
    )  # fmt: skip
    async def test_references_to_nothing(
        self, operations: Operations, tmp_path: Path, config: dict[str, Any], says: str
    ) -> None:
        """One error that names each of them, and no job."""
        broken = write(tmp_path / "broken", {"rows.jsonl": jsonl(ROWS[:1]) + "{\n"})
        config = {name: str(broken) if value == "BROKEN" else value for name, value in config.items()}
        request: TrainingJobFields = {
            "trainer_type": "rl",
            "model": "tiny-llama",
            "config": {"algorithm": "grpo", **config},
        }
        with pytest.raises((NotFoundError, ValidationError), match=rf"(?s)this training job cannot run:.*{says}"):
            await operations.create_training_job({**request, "name": "refers to nothing"})
        with pytest.raises(NotFoundError):
            await operations.get_training_job("refers to nothing")

    @pytest.mark.parametrize("ref", ["nothing", "nothing@1.0.0"])
    async def test_unknown_objects(self, operations: Operations, ref: str) -> None:
        """NotFoundError, from every verb."""
        with pytest.raises(NotFoundError, match=f"no task '{ref}' is published"):
            await operations.get_object("task", ref)
        with pytest.raises(NotFoundError, match=f"no task '{ref}' is published"):
            _ = [piece async for piece in operations.pull_object("task", ref)]

    async def test_names_that_are_none(self, operations: Operations) -> None:
        """Refused with what would be right, before anything is sent."""
        for kind, name, version, says in (
            ("task", "add", "1", "version: three numbers"),
            ("dataset", "a b", "1", "name: 1 to 128 letters"),
            ("dataset", "a", "1/2", "version: 1 to 128 letters"),
            ("datasets", "a", "1", "'datasets' is no kind of object"),
        ):
            with pytest.raises(ValidationError, match=says):
                await operations.push_object(kind, name, version, stream(b""))  # type: ignore[arg-type]
        with pytest.raises(ValidationError, match="names no object"):
            await operations.get_object("dataset", "a@b@c")
