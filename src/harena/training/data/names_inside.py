"""What is inside an object names only what is inside.

Files of an object name other files: an index its shards, a tokenizer's settings its vocabulary, a saved data set its
splits. The libraries that read them join such a name to the directory and open what comes out. So every name is looked
at before they do, when an object is pushed and again when it is read: it must be a file of the object's own listing.
Names are compared with that listing and never looked up, so that no answer tells whether a path outside exists.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

from harena.core.checked import quote
from harena.core.errors import ValidationError
from harena.core.outside_json import JsonSizeError, read_outside

INDEX_ENDING = ".index.json"
ADAPTER_CONFIG, MODEL_CONFIG = "adapter_config.json", "config.json"
MOST_SETTINGS_BYTES = 64 * 1024 * 1024
MOST_TOLD = 20
_VOCABULARIES = frozenset({"tokenizer.json", "vocab.json", "added_tokens.json", "special_tokens_map.json"})
"""they hold tokens, which look like anything, and no library takes a file name out of them"""
_SETTINGS_ENDINGS = ("config.json", "configuration.json")
_ORIGINS = frozenset({"special_tokens_map_file", "name_or_path", "_name_or_path", "base_model_name_or_path"})
"""keys in which libraries note where something came from; nobody opens what they say, and published models have them"""
_TEXTS = frozenset({"chat_template", "content", "added_tokens_decoder", "id2label", "label2id"})
_TEXT_ENDINGS = ("_token", "_tokens")


def is_name_inside(name: str) -> bool:
    """Whether a file name, joined to a directory, cannot lead out of it. Nothing is looked up."""
    leads_out = name.startswith(("/", "~", "file:")) or ".." in PurePosixPath(name).parts
    return bool(name) and not leads_out and not any(sign in name for sign in ("\\", "\0", "://"))


def names_below(folder: Path) -> frozenset[str]:
    """The names of all files, with slashes. Links to directories are not followed."""
    return frozenset(
        Path(place, name).relative_to(folder).as_posix() for place, _, names in os.walk(folder) for name in names
    )


def check_names_inside(folder: Path) -> None:
    """Raises ValidationError that lists the names of files in this model, adapter or tokenizer that may lead out."""
    wrong = list(_wrong(folder, names_below(folder)))
    if wrong:
        more = [f"and {len(wrong) - MOST_TOLD} more"] if len(wrong) > MOST_TOLD else []
        raise ValidationError(
            "\n  ".join(["files of an object may name only files of the same object:", *wrong[:MOST_TOLD], *more])
        )


def index_mistakes(index: str, written: Any, names: frozenset[str]) -> Iterator[str]:
    """What is wrong with the shards that an index names; `index` is its name below the object."""
    shards = written.get("weight_map") if isinstance(written, dict) else None
    if not isinstance(shards, dict) or not all(isinstance(name, str) for name in shards.values()):
        yield f"{index} has no weight_map"
        return
    beside = PurePosixPath(index).parent
    for name in sorted(set(shards.values())):
        if not is_name_inside(name):
            yield f"{index} names {quote(name)}, which may lie outside"
        elif (beside / name).as_posix() not in names:
            yield f"{name} is missing, which {index} names"


def _wrong(folder: Path, names: frozenset[str]) -> Iterator[str]:
    if {ADAPTER_CONFIG, MODEL_CONFIG} <= names:
        yield (
            f"{ADAPTER_CONFIG} beside {MODEL_CONFIG}: the model would be loaded with an adapter, or from another base "
            "model: merge the adapter, or publish it as a checkpoint of its own"
        )
    for name in sorted(names):
        if name.endswith(INDEX_ENDING):
            yield from index_mistakes(name, _read(folder / name), names)
        elif name.endswith(_SETTINGS_ENDINGS) and PurePosixPath(name).name not in _VOCABULARIES:
            yield from (f"{name}: {what}" for what in _leading_out(_read(folder / name)))


def _leading_out(settings: Any) -> Iterator[str]:
    """What of a file of settings may name a place outside. Not recursive: the file is somebody's."""
    left: list[tuple[str, Any]] = [("", settings)]
    while left:
        where, value = left.pop()
        key = where.rpartition(".")[2]
        if key in _ORIGINS or key in _TEXTS or key.endswith(_TEXT_ENDINGS):
            continue
        if isinstance(value, dict):
            left += ((f"{where}.{name}".lstrip("."), part) for name, part in value.items())
        elif isinstance(value, list):
            left += ((where, part) for part in value)
        elif isinstance(value, str):
            if _looks_like_a_path_out(value):
                yield f"{where} names {quote(value)}, which may lie outside"
            elif "attn_implementation" in key and "/" in value:
                yield f"{where} names {quote(value)}: code of others is not loaded"


def _looks_like_a_path_out(value: str) -> bool:
    if value.startswith(("/", "~/", "file:")) and len(value) > 1:
        return True
    return ".." in value.replace("\\", "/").split("/") and len(value) > len("..")


def _read(path: Path) -> Any:
    """The JSON in a file; None where there is none. Raises ValidationError for more than settings need."""
    try:
        if path.stat().st_size > MOST_SETTINGS_BYTES:
            raise ValidationError(f"{path.name} is larger than {MOST_SETTINGS_BYTES} bytes, which no settings need")
        return read_outside(path.read_bytes())
    except JsonSizeError as error:  # what is not looked through could name anything
        raise ValidationError(f"{path.name} {error.what}, which no settings need") from None
    except (OSError, ValueError, RecursionError):
        return None
