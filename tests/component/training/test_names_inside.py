"""What is inside an object names only what is inside, and no refusal tells what is outside."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harena.core.errors import ValidationError
from harena.core.outside_json import MOST_VALUES
from harena.core.records.objects import AdapterDescription
from harena.training.data.model_files import check_model_directory
from harena.training.data.names_inside import check_names_inside, is_name_inside
from harena.training.data.row_files import read_rows, splits_of
from harena.training.objects.model import read_model

TENSORS = (2).to_bytes(8, "little") + b"{}"
OUTSIDE = ("../secret/model.safetensors", "../../etc/passwd", "a/../../x", "/etc/passwd", "~/x", "..\\x", "file:///etc")


def made(folder: Path, files: Mapping[str, Any]) -> Path:
    """A model directory with these files beside what it needs."""
    folder.mkdir(parents=True)
    for name, content in {"config.json": {}, "tokenizer.json": {}, **files}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    return folder


def said(work: Callable[[], object], outside: Path) -> str:
    """What a refusal says, whatever the place outside is called."""
    with pytest.raises(ValidationError) as caught:
        work()
    return str(caught.value).replace(outside.name, "X")


LEAKS: dict[str, Callable[[str], Mapping[str, Any]]] = {
    "shard": lambda name: {"model.safetensors.index.json": {"metadata": {}, "weight_map": {"a": name}}},
    "shard of other weights": lambda name: {
        "model.safetensors": TENSORS,
        "pytorch_model.bin.index.json": {"weight_map": {"a": name}},
    },
    "vocabulary": lambda name: {"model.safetensors": TENSORS, "tokenizer_config.json": {"vocab_file": name}},
    "tokenizer": lambda name: {"model.safetensors": TENSORS, "tokenizer_config.json": {"tokenizer_file": name}},
    "tokenizers": lambda name: {
        "model.safetensors": TENSORS,
        "tokenizer_config.json": {"fast_tokenizer_files": [name]},
    },
    "weights": lambda name: {"model.safetensors": TENSORS, "config.json": {"transformers_weights": name}},
    "deep": lambda name: {"model.safetensors": TENSORS, "config.json": {"vision_config": {"a": [{"path": name}]}}},
    "code": lambda name: {"model.safetensors": TENSORS, "config.json": {"auto_map": {"AutoModel": f"{name}--x.Y"}}},
}


@pytest.mark.cheap
@pytest.mark.parametrize("name", OUTSIDE)
@pytest.mark.parametrize("leak", LEAKS)
def test_no_name_leads_out_of_a_model(leak: str, name: str, tmp_path: Path) -> None:
    """By any file that a library takes names from, at push and where it is read."""
    folder = made(tmp_path / "objects" / "model", LEAKS[leak](name))
    for check in (check_model_directory, lambda place: read_model(place, may_be_adapter=True)):
        with pytest.raises(ValidationError, match="may lie outside"):
            check(folder)


def test_settings_that_are_too_many_to_be_looked_through_are_refused(tmp_path: Path) -> None:
    """A name that leads outside may stand behind them: a library would read it all the same."""
    many = {"filler": [0] * (MOST_VALUES + 1), "transformers_weights": "/etc/passwd"}
    folder = made(tmp_path / "model", {"model.safetensors": TENSORS, "generation_config.json": many})
    with pytest.raises(ValidationError, match=r"generation_config\.json .*which no settings need"):
        check_names_inside(folder)


def test_a_refusal_does_not_tell_whether_a_path_exists(tmp_path: Path) -> None:
    """Of two names outside, one of which is there, it says the same."""
    (tmp_path / "there").write_bytes(TENSORS)
    answers = set()
    for name in ("there", "none"):
        folder = made(
            tmp_path / f"by-{name}" / "model", LEAKS["shard"](f"../../{name}") | {"tokenizer_config.json": {}}
        )
        answers.add(said(lambda folder=folder: check_model_directory(folder), tmp_path / name))
    assert len(answers) == 1


def test_a_model_with_an_adapter_beside_it_is_refused(tmp_path: Path) -> None:
    """Libraries would load the adapter, or the base model that it names, in its place."""
    adapter = {"base_model_name_or_path": str(tmp_path / "other")}
    folder = made(tmp_path / "model", {"model.safetensors": TENSORS, "adapter_config.json": adapter})
    with pytest.raises(ValidationError, match=r"adapter_config.json beside config.json"):
        check_model_directory(folder)


def test_honest_models_pass(tmp_path: Path) -> None:
    """With shards, tokens that look like paths, templates, and notes of where something came from."""
    settings = {
        "special_tokens_map_file": "/root/.cache/huggingface/special_tokens_map.json",
        "name_or_path": "/home/me/model",
        "bos_token": "/", "additional_special_tokens": ["../x", "~/"],
        "added_tokens_decoder": {"0": {"content": "/../"}},
        "chat_template": "/{% for m in messages %}../{{ m }}{% endfor %}",
        "auto_map": {"AutoTokenizer": ["tokenization_x.X", None]},
    }  # fmt: skip
    folder = made(
        tmp_path / "model",
        {
            "model.safetensors.index.json": {"weight_map": {"a": "model-1.safetensors", "b": "parts/2.safetensors"}},
            "model-1.safetensors": TENSORS,
            "parts/2.safetensors": TENSORS,
            "config.json": {
                "_name_or_path": "/data/base",
                "architectures": ["LlamaForCausalLM"],
                "id2label": {"0": "/"},
            },
            "tokenizer_config.json": settings,
            "vocab.json": {"/etc": 0, "../..": 1},
        },
    )
    check_model_directory(folder)


def test_an_adapter_alone_may_say_what_it_was_trained_on(tmp_path: Path) -> None:
    """Nobody follows it."""
    folder = tmp_path / "adapter"
    folder.mkdir()
    (folder / "adapter_config.json").write_text(json.dumps({"base_model_name_or_path": "/data/base"}))
    (folder / "adapter_model.safetensors").write_bytes(TENSORS)
    assert read_model(folder, may_be_adapter=True).adapter == AdapterDescription(base_model="/data/base")


@pytest.mark.parametrize("name", ["../other", "/etc", "..", "a/b", "a\\b"])
def test_no_split_leads_out_of_a_data_set(name: str, tmp_path: Path) -> None:
    """A saved data set names its splits and their files."""
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "state.json").write_text(json.dumps({"_data_files": [{"filename": "x.arrow"}]}))
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "dataset_dict.json").write_text(json.dumps({"splits": [name]}))
    for work in (lambda: splits_of(tmp_path / "data"), lambda: read_rows(tmp_path / "data", split=name)):
        with pytest.raises(ValidationError, match="which is no directory of the data set"):
            work()


@given(st.text(st.sampled_from("./\\~ab\0:"), max_size=12))
def test_a_name_inside_stays_inside(name: str) -> None:
    """Joined to a directory and normalised, it is below it."""
    if is_name_inside(name):
        parts = Path("/top/object", name).parts
        assert parts[:3] == ("/", "top", "object")
        assert ".." not in parts


KEYS = st.sampled_from(["weight_map", "vocab_file", "content", "metadata", "x"])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.sampled_from(OUTSIDE) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=12,
)


@given(index=JSON, config=JSON, tokenizer=JSON, raw=st.binary(max_size=30))
def test_no_file_of_settings_breaks_the_check(
    index: Any, config: Any, tokenizer: Any, raw: bytes, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """It passes or is refused; what passes names nothing outside."""
    folder = made(
        tmp_path_factory.mktemp("fuzzed") / "model",
        {
            "model.safetensors.index.json": index,
            "config.json": config,
            "tokenizer_config.json": tokenizer,
            "a.bin": raw,
        },
    )
    (folder / "generation_config.json").write_bytes(raw)
    try:
        check_names_inside(folder)
    except ValidationError as error:
        told = str(error)
        assert str(folder) not in told
    else:
        assert isinstance(index, dict)
        assert not index["weight_map"], "none of the names that are drawn is a file of the directory"
