"""A model's files are read by a thread that opens them, what Python needs, and nothing else."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from harena.core import landlock
from harena.training.reading.walled import within

pytestmark = pytest.mark.skipif(not landlock.version(), reason="this kernel has no Landlock")


@pytest.fixture
def trees(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """One's own object, and another one of the same home."""
    monkeypatch.setenv("HARENA_HOME", str(tmp_path))
    places = tmp_path / "objects" / "mine", tmp_path / "objects" / "other"
    for place in places:
        place.mkdir(parents=True)
        (place / "model.safetensors").write_text(place.name)
    return places


def test_only_the_objects_own_files_can_be_opened(trees: tuple[Path, Path]) -> None:
    """Not another object's, not the home's, and nothing is written; the rest of this process keeps its rights."""
    mine, other = trees
    assert within(mine, lambda: (mine / "model.safetensors").read_text()) == "mine"
    refused: list[Callable[[], object]] = [
        lambda: (other / "model.safetensors").read_text(),
        lambda: (mine / "../other/model.safetensors").read_text(),
        lambda: list(other.iterdir()),
        lambda: (mine / "new").write_text("x"),
        lambda: (mine / "model.safetensors").unlink(),
        lambda: Path.home().joinpath(".netrc").touch(),
    ]
    for work in refused:
        with pytest.raises(PermissionError):
            within(mine, work)
    assert (other / "model.safetensors").read_text() == "other"


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


def test_a_model_is_loaded_behind_the_wall(trees: tuple[Path, Path]) -> None:
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
