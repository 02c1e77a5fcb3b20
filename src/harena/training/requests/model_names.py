"""What a request's `model` is: a shipped model, a path, a name of Hugging Face's, what another job has learned, or a
version of a stored object."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from harena.core.errors import ValidationError
from harena.core.training_sources import JOB_PREFIX, is_model_path
from harena.training.shipped_models import SHIPPED_MODELS

_HUGGING_FACE = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]{0,95}/[A-Za-z0-9][A-Za-z0-9._-]{0,95})(?:@([A-Za-z0-9._-]+))?")
DEFAULT_REVISION = "main"


@dataclass(frozen=True, slots=True)
class CachedModel:
    """A model in this machine's Hugging Face cache."""

    name: str
    """ORGANISATION/NAME"""
    commit: str
    folder: Path


def model_name_kind(model: str) -> Literal["shipped", "path", "job", "hugging_face", "stored"]:
    """What it is, by its looks alone."""
    if model in SHIPPED_MODELS:
        return "shipped"
    if is_model_path(model):
        return "path"
    if model.startswith(JOB_PREFIX):
        return "job"
    return "hugging_face" if "/" in model else "stored"


def cached_model(model: str, environ: Mapping[str, str] = os.environ) -> CachedModel:
    """ORGANISATION/NAME or ORGANISATION/NAME@REVISION, found in the cache without asking anybody. Raises
    ValidationError."""
    match = _HUGGING_FACE.fullmatch(model)
    if match is None:
        raise ValidationError(
            f"{model!r:.200} is no model: write ORGANISATION/NAME, a path that begins with / or ./, NAME@VERSION of a "
            f"stored one, or {' or '.join(SHIPPED_MODELS)}"
        )
    name, revision = match[1], match[2] or DEFAULT_REVISION
    folder = _cache(environ) / f"models--{name.replace('/', '--')}"
    noted = folder / "refs" / revision
    commit = noted.read_text(encoding="ascii").strip() if noted.is_file() else revision
    snapshot = folder / "snapshots" / commit
    if not re.fullmatch(r"[A-Za-z0-9._-]+", commit) or commit in (".", "..") or not snapshot.is_dir():
        raise ValidationError(
            f"{model} is not in this node's Hugging Face cache ({folder.parent}): fetch it there, as with `hf download "
            f"{name}`, or publish a directory with `harena push model PATH NAME@VERSION`"
        )
    return CachedModel(name, commit, snapshot)


def _cache(environ: Mapping[str, str]) -> Path:
    if named := environ.get("HF_HUB_CACHE"):
        return Path(named).expanduser()
    home = environ.get("HF_HOME") or Path(environ.get("XDG_CACHE_HOME") or "~/.cache") / "huggingface"
    return Path(home).expanduser() / "hub"
