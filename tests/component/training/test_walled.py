"""A model's files are read by a thread that opens them, what Python needs, and nothing else."""

from __future__ import annotations

import errno
import importlib.util
import json
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from harena.core import landlock, settings
from harena.core.errors import HostUnsupportedError
from harena.core.workspace import WorkspaceLimits, written_limits
from harena.training.reading import walled
from harena.training.reading.walled import within

HAS_LANDLOCK = bool(landlock.version())


@pytest.fixture(params=["Landlock", "mount namespace"])
def wall(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """One of the two; the other one where the kernel has no Landlock."""
    if request.param == "Landlock" and not HAS_LANDLOCK:
        pytest.skip("capability:landlock this kernel has none")
    if request.param == "mount namespace":
        if not may_mount():
            pytest.skip("capability:root needed for a mount namespace in one thread")
        monkeypatch.setattr(landlock, "version", lambda: 0)
    return str(request.param)


def may_mount() -> bool:
    """This process is root, and not one that has given up the right."""
    rights = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("CapEff"))
    return bool(int(rights.split()[1], 16) >> 21 & 1)


@pytest.fixture
def trees(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """One's own object, and another one of the same home."""
    monkeypatch.setenv("HARENA_HOME", str(tmp_path))
    places = tmp_path / "objects" / "mine", tmp_path / "objects" / "other"
    for place in places:
        place.mkdir(parents=True)
        (place / "model.safetensors").write_text(place.name)
    return places


def test_only_the_objects_own_files_can_be_opened(
    wall: str, trees: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not another object's, not the home's, and nothing is written; the rest of this process keeps its rights."""
    mine, other = trees
    monkeypatch.chdir(other)
    assert within(mine, lambda: (mine / "model.safetensors").read_text()) == "mine"
    refused: list[Callable[[], object]] = [
        lambda: (other / "model.safetensors").read_text(),
        lambda: (mine / "../other/model.safetensors").read_text(),
        lambda: list(other.iterdir()),
        lambda: (mine / "new").write_text("x"),
        lambda: (mine / "model.safetensors").unlink(),
        lambda: Path("model.safetensors").read_text(),
        lambda: (other.parent.parent / "new").touch(),
        *([lambda: Path.home().joinpath(".netrc").touch()] if wall == "Landlock" else []),
    ]
    for work in refused:
        with pytest.raises(OSError, match=r"denied|No such file|Read-only") as caught:
            within(mine, work)
        assert caught.value.errno in ((errno.EACCES,) if wall == "Landlock" else (errno.ENOENT, errno.EROFS))
    assert Path("model.safetensors").read_text() == "other"
    assert (mine / "model.safetensors").read_text() == "mine"
    assert (other / "model.safetensors").read_text() == "other"


def test_without_a_wall_nothing_of_a_workspace_is_loaded(
    trees: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """By a worker of a server's: it says what the host lacks. A user who has everything to themselves reads their own
    files as they are."""
    mine, _ = trees

    def refused(*_: object, **__: object) -> None:
        raise PermissionError(errno.EPERM, "unshare: Operation not permitted")

    monkeypatch.setattr(landlock, "version", lambda: 0)
    monkeypatch.setattr(walled, "hide_folder", refused)
    assert within(mine, lambda: (mine / "model.safetensors").read_text()) == "mine"
    monkeypatch.setenv(settings.WORKSPACE_LIMITS.name, written_limits(WorkspaceLimits()))
    with pytest.raises(HostUnsupportedError, match=r"no Landlock, and no mount namespace .*unshare"):
        within(mine, lambda: (mine / "model.safetensors").read_text())
    if importlib.util.find_spec("torch"):
        from harena.training.engines.models import load_model
        from harena.training.engines.tiny import byte_pair_tokenizer, tiny_llama

        (mine / "model.safetensors").unlink()
        tokenizer = byte_pair_tokenizer(["some text"] * 2, size=300)
        tiny_llama(len(tokenizer), seed=0, width=32, layers=1, heads=2, context_length=64).save_pretrained(mine)
        tokenizer.save_pretrained(mine)
        with pytest.raises(HostUnsupportedError):
            load_model(mine)


def test_a_fault_of_the_work_behind_a_mount_namespace_is_its_own(trees: tuple[Path, Path], wall: str) -> None:
    """It is no want of a wall, and nothing is done again without one."""
    mine, _ = trees
    done = []

    def work() -> None:
        done.append(1)
        raise OSError(errno.EIO, "broken")

    with pytest.raises(OSError, match="broken"):
        within(mine, work)
    assert done == [1]


@pytest.mark.skipif(not HAS_LANDLOCK, reason="capability:landlock this kernel has none")
def test_links_of_a_cache_are_followed(trees: tuple[Path, Path], tmp_path: Path) -> None:
    """A Hugging Face cache is made of them."""
    blob = tmp_path / "blobs" / "abc"
    blob.parent.mkdir()
    blob.write_text("weights")
    (trees[0] / "linked").symlink_to(blob)
    assert within(trees[0], lambda: (trees[0] / "linked").read_text()) == "weights"


@pytest.mark.skipif(landlock.version() < 4, reason="this kernel's Landlock knows no ports")
def test_nobody_is_asked_over_the_network(trees: tuple[Path, Path]) -> None:
    """Neither a model hub nor a server of this machine."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        with pytest.raises(PermissionError):
            within(trees[0], lambda: socket.create_connection(server.getsockname(), timeout=5))


def test_a_model_is_loaded_behind_the_wall(wall: str, trees: tuple[Path, Path]) -> None:
    """Whole, with its tokenizer; and names that lead out meet the wall where no check is before it."""
    pytest.importorskip("torch")
    from harena.training.engines.models import load_model
    from harena.training.engines.tiny import byte_pair_tokenizer, tiny_llama

    mine, other = trees
    (mine / "model.safetensors").unlink()
    tokenizer = byte_pair_tokenizer(["some text"] * 2, size=300)
    tiny_llama(len(tokenizer), seed=0, width=32, layers=1, heads=2, context_length=64).save_pretrained(mine)
    tokenizer.save_pretrained(mine)
    model, loaded = load_model(mine)
    assert loaded.encode("some") == tokenizer.encode("some")
    assert model.num_parameters() > 0
    (mine / "model.safetensors").rename(other / "model.safetensors")
    index = {"metadata": {}, "weight_map": dict.fromkeys(model.state_dict(), "../other/model.safetensors")}
    (mine / "model.safetensors.index.json").write_text(json.dumps(index))
    from transformers import AutoModelForCausalLM

    with pytest.raises(Exception, match=r"(?i)denied|no such file"):
        within(mine, lambda: AutoModelForCausalLM.from_pretrained(mine, local_files_only=True))
