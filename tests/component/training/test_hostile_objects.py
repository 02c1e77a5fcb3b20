"""An object that attacks whoever reads it: it reads nothing, stops nothing, and is refused in words.

Every function that reads what users pushed runs in a process of its own. The list of them is in this file, and a hook
into the interpreter shows that a node opens none of an object's files by another way.
"""

from __future__ import annotations

import gzip
import io
import json
import os
import pickle
import subprocess
import sys
import tarfile
import traceback
from collections.abc import AsyncIterator, Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from stored_objects import Store, model_of, opened, world_of

from harena.core import landlock
from harena.core.errors import ValidationError
from harena.core.file_trees import files_of, pack_files
from harena.core.registry import ObjectKind
from harena.testing.conformance_registry import BOMB, capability, chat_model, jsonl, stream, write
from harena.training.objects import MOST_DESCRIBED
from harena.training.objects.dataset import MOST_SPLITS
from harena.training.objects.registry import Registry
from harena.training.reading import FUNCTIONS
from harena.training.reading.marked import MODULES
from harena.training.requests.acceptance import accepted

MINE = "mine"
READ_APART = {
    "harena.training.data.model_files:check_model_directory",
    "harena.training.objects:describe",
    "harena.training.objects.dataset:_part_read",
    "harena.training.objects.model:_model_read",
    "harena.training.data.repeated_rows:evaluated_rows",
    "harena.training.data.repeated_rows:met_rows",
    "harena.training.data.row_files:_rows_told",
    "harena.training.data.row_files:names_stored_contracts",
    "harena.training.data.row_files:splits_of",
    "harena.training.environments.tasks:_task_told",
    "harena.training.data.tokenizer_files:_counts",
    "harena.training.data.tokenizer_files:_told",
}
MAY_OPEN = {"harena.core.file_trees"}
"""it counts, hashes and copies bytes"""
SCRIPT = "name: t\nversion: '1.0.0'\ninstruction: x\nverification: {method: script, script: %s}\n"


@pytest_asyncio.fixture
async def registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Store]:
    """Over a database and a home of its own."""
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HARENA_HOME", str(home))
    async with opened(home, most_bytes=100_000_000) as store:
        yield store


async def push_tar(registry: Registry, kind: ObjectKind, content: bytes) -> dict[str, Any]:
    """Publish what this stream holds."""
    return await registry.push(MINE, kind, "t", "1.0.0", stream(content))


async def push(registry: Registry, kind: ObjectKind, place: Path, name: str = "t") -> dict[str, Any]:
    """Publish what lies there."""
    return await registry.push(MINE, kind, name, "1.0.0", stream(b"".join(pack_files(files_of(place)))))


def test_what_reads_objects_is_listed() -> None:
    """A new function that is marked has to come here, and to be one of a module that the host process knows."""
    for module in MODULES:
        import_module(module)
    assert set(FUNCTIONS) == READ_APART
    assert {name.partition(":")[0] for name in FUNCTIONS} <= set(MODULES)


_watched: list[str] = []
_opened: set[tuple[str, str]] = set()
_hooked: list[bool] = []


def _hook(event: str, given: tuple[Any, ...]) -> None:
    if not _watched or event not in ("open", "os.listdir", "os.scandir"):
        return
    place = os.fsdecode(given[0]) if isinstance(given[0], str | bytes) else ""
    if place.startswith(_watched[0]) and ("/tree/" in place or "/trees/" in place):
        frames = [frame.f_globals["__name__"] for frame, _ in traceback.walk_stack(None)]
        who = next((name for name in frames if name.startswith("harena.")), "?")
        _opened.add((who, os.path.basename(place)))


@pytest.fixture
def opened_by() -> Iterator[Callable[[Path], set[tuple[str, str]]]]:
    """Who opens files below a folder, from now on."""
    if not _hooked:
        sys.addaudithook(_hook)
        _hooked.append(True)
    _opened.clear()

    def watch(folder: Path) -> set[tuple[str, str]]:
        _watched[:] = [str(folder)]
        return _opened

    yield watch
    _watched.clear()


async def test_a_node_opens_no_file_of_an_object_itself(
    registry: Store, tmp_path: Path, opened_by: Callable[[Path], set[tuple[str, str]]]
) -> None:
    """From the push of every kind to accepted jobs of every kind, whose rows, rewards and texts are checked."""
    opened = opened_by(tmp_path / "home" / "objects")
    prompts = write(
        tmp_path / "p", {"train.jsonl": jsonl([{"prompt": f"{n}", "expected_output": "2"} for n in (1, 2)])}
    )
    said = [
        {"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": word}], "reward": reward}
        for word, reward in (("b", 0.0), ("c", 1.0))
    ]
    talks = write(tmp_path / "d", {"train.jsonl": jsonl(said)})
    await push(registry, "capability", capability(tmp_path / "c"), "solver")
    await push(registry, "task", write(tmp_path / "t", {"task.yaml": SCRIPT % "check.sh", "check.sh": "exit 0\n"}))
    await push(registry, "model", chat_model(tmp_path / "m"), "m")
    await push(registry, "checkpoint", chat_model(tmp_path / "k"), "k")
    await push(registry, "dataset", prompts, "p")
    await push(registry, "dataset", talks, "d")
    p, d, c = ({"name": name, "version": "1.0.0"} for name in ("p", "d", "solver"))

    async def resolve(workspace: str, request: Any) -> Any:
        return await registry.resolve(workspace, request, registry.catalog.reader(workspace), world_of, model_of)

    async def found(*_: str) -> None:
        return None

    rl = {"algorithm": "grpo", "steps": 1}
    for body in (
        {"trainer_type": "sft", "model": "m", "capability_ref": c, "config": {"dataset_ref": d, "eval_dataset_ref": d}},
        {"trainer_type": "sft", "model": "m", "config": {"dataset_ref": d, "skip_bad_rows": True}},
        {"trainer_type": "rl", "model": "k", "config": {**rl, "prompt_dataset_ref": p}},
        {"trainer_type": "rl", "model": "m", "config": {**rl, "prompt_dataset_ref": p, "skip_bad_rows": True}},
        {"trainer_type": "rl", "model": "m", "config": {**rl, "prompt_dataset_ref": p, "task_ref": "t"}},
        {"trainer_type": "rl", "model": "m", "config": {**rl, "offline": True, "trajectory_dataset_refs": [d]}},
    ):
        assert (await accepted(MINE, body, resolve, found))["plan"]
    assert {module for module, _ in opened} <= MAY_OPEN, opened
    assert ("harena.core.file_trees", "train.jsonl") in opened, "the hook sees nothing"


PROBE = """
import json, os, signal, socket, subprocess, sys
from pathlib import Path
from harena.core import landlock
if sys.argv[3] == "hidden":
    landlock.version = lambda: 0
from harena.training.reading.wall import stand_behind
from harena.training.reading.wire import Limits
mine, other = Path(sys.argv[1]), Path(sys.argv[2])
parent = os.getppid()
stand_behind(mine, Limits(memory_bytes=1 << 30, seconds=30, answer_bytes=1 << 20))
probes = {
    "another object": lambda: (other / "secret").read_text(),
    "by the way up": lambda: (mine / ".." / other.name / "secret").read_text(),
    "the database": lambda: (Path(os.environ["HARENA_HOME"]) / "harena.db").read_text(),
    "a link": lambda: (mine / "link").read_text(),
    "write": lambda: (mine / "new").write_text("x"),
    "remove": lambda: (mine / "own").unlink(),
    "socket": lambda: socket.socket(),
    "local socket": lambda: socket.socketpair(),
    "run": lambda: subprocess.run(["/bin/true"]),
    "fork": lambda: os._exit(0) if os.fork() == 0 else None,
    "signal": lambda: os.kill(parent, 0),
    "memory of the server": lambda: open(f"/proc/{parent}/mem", "rb"),
    "environment of the server": lambda: open(f"/proc/{parent}/environ", "rb").read(),
    "mount": lambda: os.unshare(0x10000000) if hasattr(os, "unshare") else open("/proc/self/x"),
    "much memory": lambda: bytearray(2 << 30),
}
through = ["own file" for _ in range((mine / "own").read_text() != "mine")]
for name, probe in probes.items():
    try:
        probe()
    except (OSError, MemoryError):
        continue
    through.append(name)
print(json.dumps(through))
"""


@pytest.mark.parametrize("way", ["landlock", "hidden"])
def test_a_process_that_reads_has_nothing_else(way: str, tmp_path: Path) -> None:
    """Neither files, network, processes nor memory: by Landlock, and by a mount namespace where there is none."""
    if way == "landlock" and not landlock.version():
        pytest.skip("this kernel has no Landlock")
    home = tmp_path / "home"
    mine, other = home / "objects" / "trees" / "aa", home / "objects" / "trees" / "bb"
    write(mine, {"own": "mine"})
    write(other, {"secret": "theirs"})
    (mine / "link").symlink_to(other / "secret")
    (home / "harena.db").write_text("rows")
    done = subprocess.run(
        [sys.executable, "-c", PROBE, str(mine), str(other), way],
        capture_output=True, text=True, timeout=120, env={**os.environ, "HARENA_HOME": str(home)},
    )  # fmt: skip
    assert done.stderr == ""
    # a mount namespace leaves what lies outside of the home as it is to whoever owns it
    allowed = set() if way == "landlock" else {"memory of the server", "environment of the server"}
    assert set(json.loads(done.stdout)) <= allowed


def tar(*members: tuple[tarfile.TarInfo, bytes]) -> bytes:
    """A stream of these."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for member, content in members:
            archive.addfile(member, io.BytesIO(content))
    return out.getvalue()


def member(name: str, kind: bytes = tarfile.REGTYPE, *, link: str = "", size: int = 0) -> tarfile.TarInfo:
    """Of this name and kind."""
    made = tarfile.TarInfo(name)
    made.type, made.linkname, made.size = kind, link, size
    return made


def gnu_sparse() -> bytes:
    """A file of 64 GiB in a kilobyte."""
    made = member("train.jsonl", tarfile.REGTYPE, size=0)
    made.pax_headers = {"GNU.sparse.major": "0", "GNU.sparse.minor": "1", "GNU.sparse.size": str(1 << 36),
                        "GNU.sparse.realsize": str(1 << 36), "GNU.sparse.map": f"0,0,{1 << 36},0"}  # fmt: skip
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as archive:
        archive.addfile(made)
    return out.getvalue()


STREAMS: dict[str, Callable[[], bytes]] = {
    "way up": lambda: tar((member("../train.jsonl", size=2), b"{}")),
    "absolute": lambda: tar((member("/etc/train.jsonl", size=2), b"{}")),
    "symbolic link": lambda: tar((member("train.jsonl", tarfile.SYMTYPE, link="/etc/passwd"), b"")),
    "hard link": lambda: tar((member("train.jsonl", tarfile.LNKTYPE, link="/etc/passwd"), b"")),
    "FIFO": lambda: tar((member("train.jsonl", tarfile.FIFOTYPE), b"")),
    "device": lambda: tar((member("train.jsonl", tarfile.CHRTYPE), b"")),
    "sparse": gnu_sparse,
    "says more than it has": lambda: tar((member("a", size=2), b"{}"))[:512],
    "compressed": lambda: gzip.compress(tar((member("train.jsonl", size=3), b"{}\n"))),
    "nothing": lambda: b"",
    "no tar": lambda: b"PK\x03\x04" * 1000,
}


@pytest.mark.parametrize("name", STREAMS)
async def test_a_hostile_stream_is_refused(name: str, registry: Store, tmp_path: Path) -> None:
    """And nothing of it stays."""
    with pytest.raises(ValidationError) as caught:
        await push_tar(registry, "dataset", STREAMS[name]())
    assert str(tmp_path) not in str(caught.value)
    assert [*(tmp_path / "home" / "objects" / "incoming").iterdir()] == []
    assert not (tmp_path / "home" / "objects" / "trees").exists()


DEEP = "[" * 200_000 + "]" * 200_000
TENSORS = (2).to_bytes(8, "little") + b"{}"


def _model(**files: str | bytes) -> dict[str, str | bytes]:
    return {"config.json": "{}", "tokenizer.json": "{}", "model.safetensors": TENSORS, **files}


CONTENTS: dict[str, tuple[ObjectKind, dict[str, str | bytes]]] = {
    "YAML bomb in a capability": ("capability", {"capability.yaml": BOMB}),
    "YAML bomb in a task": ("task", {"task.yaml": BOMB}),
    "deep YAML": ("task", {"task.yaml": f"a: {DEEP}"}),
    "deep JSON rows": ("dataset", {"train.jsonl": DEEP + "\n"}),
    "deep JSON file": ("dataset", {"train.json": DEEP}),
    "deep saved data set": ("dataset", {"dataset_dict.json": DEEP}),
    "no Parquet": ("dataset", {"train.parquet": b"PAR1" + b"\xff" * 4096 + b"PAR1"}),
    "no Arrow": ("dataset", {"state.json": '{"_data_files": [{"filename": "a.arrow"}]}', "a.arrow": b"\xff" * 4096}),
    "splits elsewhere": ("dataset", {"dataset_dict.json": '{"splits": ["../other"]}'}),
    "script of another": ("task", {"task.yaml": SCRIPT % "../../check.sh"}),
    "agent of another": (
        "capability",
        {"capability.yaml": "schema: 1\nname: t\nversion: '1.0.0'\ndescription: x\nagents: ['../../etc/passwd']\n"},
    ),
    "shards elsewhere": (
        "model",
        {"config.json": "{}", "tokenizer.json": "{}", "model.safetensors.index.json": '{"weight_map": {"a": "../x"}}'},
    ),
    "tokenizer elsewhere": ("model", _model(**{"tokenizer_config.json": '{"tokenizer_file": "/etc/passwd"}'})),
    "base model elsewhere": ("checkpoint", _model(**{"adapter_config.json": '{"base_model_name_or_path": "/etc"}'})),
    "deep configuration": ("model", _model(**{"config.json": DEEP})),
    "huge configuration": ("model", _model(**{"config.json": b" " * (65 << 20)})),
    "tensors without end": ("model", _model(**{"model.safetensors": b"\xff" * 8 + b"{}"})),
    "tensors of other kinds": ("model", _model(**{"model.safetensors": (9).to_bytes(8, "little") + b'{"a": []}'})),
}


@pytest.mark.parametrize("name", CONTENTS)
async def test_hostile_content_is_refused_in_words(name: str, registry: Store, tmp_path: Path) -> None:
    """By a sentence that tells no place of this machine; whoever comes next is served."""
    kind, files = CONTENTS[name]
    for path, content in files.items():
        (tmp_path / "it" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "it" / path).write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(ValidationError) as caught:
        await push(registry, kind, tmp_path / "it")
    assert str(tmp_path) not in str(caught.value)
    assert "died" not in str(caught.value)
    assert len(str(caught.value)) < 5_000
    rows = write(tmp_path / "next", {"train.jsonl": jsonl([{"prompt": "1", "expected_output": "2"}])})
    assert (await push(registry, "dataset", rows, "next"))["described"]["parts"][""]["rows"] == 1


async def test_a_bomb_meets_the_limits_of_the_process_that_reads(
    registry: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of memory, of time, and of what it may answer; each says which setting allows more."""
    bomb = tmp_path / "bomb"
    bomb.mkdir()
    with gzip.open(bomb / "train.jsonl.gz", "wb", compresslevel=1) as out:
        out.write(b'{"prompt": "')
        for _ in range(300):
            out.write(b"a" * 1_000_000)
        out.write(b'"}\n')
    monkeypatch.setenv("HARENA_READING_MEMORY_BYTES", str(200_000_000))
    with pytest.raises(ValidationError, match="HARENA_READING_MEMORY_BYTES"):
        await push(registry, "dataset", bomb)
    monkeypatch.delenv("HARENA_READING_MEMORY_BYTES")
    slow = tmp_path / "slow"
    slow.mkdir()
    with gzip.open(slow / "train.jsonl.gz", "wb", compresslevel=1) as out:
        for _ in range(40):
            out.write(b'{"prompt": "a", "expected_output": "b"}\n' * 100_000)
    monkeypatch.setenv("HARENA_READING_SECONDS", "1")
    with pytest.raises(ValidationError, match="HARENA_READING_SECONDS"):
        await push(registry, "dataset", slow)
    monkeypatch.delenv("HARENA_READING_SECONDS")
    monkeypatch.setenv("HARENA_READING_ANSWER_BYTES", "1000")
    many = write(tmp_path / "many", {f"s{number}/a.jsonl": jsonl([{"prompt": "a"}]) for number in range(50)})
    with pytest.raises(ValidationError, match="HARENA_READING_ANSWER_BYTES"):
        await push(registry, "dataset", many)


class Evil:
    """Runs a command where it is unpickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        return os.system, ("touch $HARENA_PWNED",)


@pytest.mark.parametrize("name", ["pytorch_model.bin", "model.safetensors"])
def test_pickled_weights_run_nothing(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever they are called; also those of a policy's folder."""
    pytest.importorskip("torch")
    from harena.training.engines.models import load_model
    from harena.training.engines.policy_folder import read_policy
    from harena.training.engines.tiny import byte_pair_tokenizer, tiny_llama

    monkeypatch.setenv("HARENA_PWNED", str(tmp_path / "pwned"))
    tokenizer = byte_pair_tokenizer(["some text"] * 2, size=300)
    folder = tmp_path / "policy" / "model"
    tiny_llama(len(tokenizer), seed=0, width=32, layers=1, heads=2, context_length=64).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    (folder / "model.safetensors").unlink()
    (folder / name).write_bytes(pickle.dumps(Evil(), protocol=2))
    with pytest.raises(ValidationError):
        load_model(folder)
    with pytest.raises(Exception):  # noqa: B017, PT011 - whatever the library raises
        read_policy(tmp_path / "policy")
    assert not (tmp_path / "pwned").exists()


async def test_what_is_left_over_of_a_push_stops_no_other(registry: Store, tmp_path: Path) -> None:
    """Also where it lies deeper than Python recurses: of a version that took such an object."""
    incoming = tmp_path / "home" / "objects" / "incoming"
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as archive:
        archive.addfile(tarfile.TarInfo("a/" * 1500 + "x"))
    with pytest.raises(ValidationError, match="put it less deep"):
        await registry.push(MINE, "dataset", "deep", "1.0.0", stream(out.getvalue()))
    assert not any(incoming.iterdir())
    left_over = incoming / "of-yesterday"
    for depth in range(1200):
        os.mkdir(f"{left_over}{'/a' * depth}")
    os.utime(left_over, (0, 0))
    await push(registry, "dataset", write(tmp_path / "p", {"train.jsonl": jsonl([{"prompt": "x"}] * 2)}), "p")
    assert not any(incoming.iterdir())
    assert registry._arriving.workspaces == {}


async def test_what_is_said_of_an_object_is_small(registry: Store, tmp_path: Path) -> None:
    """It is a part of every answer about the object, and of every row of a list of them."""
    place = capability(tmp_path / "c", **{"agents/main.md": "say\n" * (MOST_DESCRIBED // 4)})
    with pytest.raises(ValidationError, match=r"may have 1048576; most of it is its `prompt`"):
        await push(registry, "capability", place, "solver")
    await push(registry, "capability", capability(tmp_path / "d"), "solver")
    assert (await registry.find(MINE, "capability", "solver")).version == "1.0.0"


async def test_a_data_set_has_so_many_splits(registry: Store, tmp_path: Path) -> None:
    """Each is read by itself: reading thousands of tiny ones would keep a thread that others wait for."""
    row = jsonl([{"prompt": "x", "completion": "y"}])
    many = {f"split{number}.jsonl": row for number in range(MOST_SPLITS + 1)}
    with pytest.raises(ValidationError, match=rf"has {MOST_SPLITS + 1} splits .* may have {MOST_SPLITS}: put files"):
        await push(registry, "dataset", write(tmp_path / "many", many), "many")
    parts = {f"train-{number:05}.jsonl": row for number in range(MOST_SPLITS + 1)}
    await push(registry, "dataset", write(tmp_path / "one", parts), "one")
    assert list((await registry.find(MINE, "dataset", "one")).described["parts"]) == ["train"]
