"""A model or a checkpoint: a Hugging Face directory that is whole; a checkpoint may be an adapter alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from harena.core.errors import ValidationError
from harena.core.records.objects import ModelDescription
from harena.training.data.model_files import check_model_directory
from harena.training.data.names_inside import check_names_inside
from harena.training.reading import apart

ADAPTER = "adapter_config.json"
_ADAPTER_WEIGHTS = ("adapter_model.safetensors", "adapter_model.bin")
_LENGTHS = ("max_position_embeddings", "n_positions", "max_sequence_length", "n_ctx")


def read_model(folder: Path, *, may_be_adapter: bool) -> ModelDescription:
    """What config.json says. Raises ValidationError that lists every file that is missing or broken."""
    return ModelDescription.from_dict(_model_read(folder, may_be_adapter=may_be_adapter))


@apart
def _model_read(folder: Path, *, may_be_adapter: bool) -> dict[str, Any]:
    if may_be_adapter and (folder / ADAPTER).is_file() and not (folder / "config.json").is_file():
        if not any((folder / name).is_file() for name in _ADAPTER_WEIGHTS):
            raise ValidationError(f"an adapter's weights are missing ({' or '.join(_ADAPTER_WEIGHTS)})")
        check_names_inside(folder)
        base = _json(folder / ADAPTER).get("base_model_name_or_path")
        return {"architecture": None, "context_length": None, "adapter": {"base_model": _text(base)}}
    check_model_directory(folder)
    config = _json(folder / "config.json")
    names = config.get("architectures")
    length = next((config[name] for name in _LENGTHS if type(config.get(name)) is int), None)
    return {
        "architecture": str(names[0]) if isinstance(names, list) and names else _text(config.get("model_type")),
        "context_length": length,
        "adapter": None,
    }


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _json(path: Path) -> dict[str, Any]:
    try:
        written = json.loads(path.read_bytes())
    except (ValueError, RecursionError):
        written = None
    if not isinstance(written, dict):
        raise ValidationError(f"{path.name} holds no JSON object")
    return written
