"""Whether a directory holds a whole Hugging Face model, told without loading it, and without torch."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from harena.core.errors import ValidationError
from harena.core.outside_json import read_outside
from harena.training.data.names_inside import check_names_inside
from harena.training.reading import apart

WEIGHTS = ("model.safetensors", "model.safetensors.index.json", "pytorch_model.bin", "pytorch_model.bin.index.json")
TOKENIZERS = ("tokenizer.json", "tokenizer.model", "spiece.model", "vocab.json")


@apart
def check_model_directory(path: Path) -> None:
    """Raises ValidationError, which lists every file that is missing or cut short."""
    if not path.is_dir():
        raise ValidationError(f"there is no model directory at {path}")
    if (path / "adapter_config.json").is_file() and not (path / "config.json").is_file():
        raise ValidationError(f"{path} holds an adapter, not a model: merge it into its model first")
    check_names_inside(path)
    wrong = list(_wrong(path))
    if wrong:
        raise ValidationError(f"{path} is no whole model directory:\n  " + "\n  ".join(wrong))


def _wrong(path: Path) -> Iterator[str]:
    if not (path / "config.json").is_file():
        yield "config.json is missing"
    else:
        yield from _wrong_json(path / "config.json")
    weights = next((name for name in WEIGHTS if (path / name).is_file()), None)
    if weights is None:
        yield f"its weights are missing ({' or '.join(WEIGHTS)})"
    elif weights.endswith(".index.json"):
        yield from _wrong_shards(path, weights)
    elif weights.endswith(".safetensors"):
        yield from _wrong_tensors(path / weights)
    if not any((path / name).is_file() for name in TOKENIZERS):
        yield f"its tokenizer is missing ({' or '.join(TOKENIZERS)})"


def _wrong_json(path: Path) -> Iterator[str]:
    if _object(path) is None:
        yield f"{path.name} holds no JSON object"


def _wrong_shards(path: Path, index: str) -> Iterator[str]:
    """`check_names_inside` has let all of them pass: they are files of the directory."""
    content = _object(path / index)
    for name in sorted(set(content["weight_map"].values())) if content is not None else ():
        if name.endswith(".safetensors"):
            yield from _wrong_tensors(path / name)


def _wrong_tensors(path: Path) -> Iterator[str]:
    """A safetensors file says at its beginning how long it is."""
    size = path.stat().st_size
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        try:
            entries = read_outside(file.read(length)) if 8 + length <= size else None
            ends = [entry["data_offsets"][1] for name, entry in (entries or {}).items() if name != "__metadata__"]
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            yield f"{path.name} is no safetensors file"
            return
    if entries is None or 8 + length + max(ends, default=0) != size:
        yield f"{path.name} is cut short, or no safetensors file: it has {size} bytes"


def _object(path: Path) -> dict[str, Any] | None:
    try:
        content = read_outside(path.read_bytes())
    except (ValueError, RecursionError):
        return None
    return content if isinstance(content, dict) else None
