"""What a model's tokenizer is known to do before anything is loaded: from its files, and without torch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from harena.core.errors import ValidationError
from harena.core.outside_json import read_outside
from harena.core.records.objects import ShippedModel
from harena.training.reading import apart

Counts = Callable[[Sequence[str]], list[int]]
"""texts -> how many tokens each is written as"""
_SETTINGS, _VOCABULARY, _TEMPLATE = "tokenizer_config.json", "tokenizer.json", "chat_template.jinja"


@dataclass(frozen=True, slots=True)
class TokenizerFacts:
    """Facts about one model's tokenizer; a field is None where it is known only after loading."""

    has_template: bool | None
    """a chat template"""
    counts: Counts | None


def tokenizer_facts(folder: Path | None, shipped: ShippedModel | None) -> TokenizerFacts:
    """Facts about the tokenizer in a model's directory, or of a shipped model."""
    if shipped is not None:
        return TokenizerFacts(False, lambda texts: [len(text) for text in texts])  # a token is a character
    if folder is None:
        return TokenizerFacts(None, None)
    told = _told(folder)
    return TokenizerFacts(told["has_template"], partial(_counted, folder) if told["counts"] else None)


def unwritable(texts: Sequence[str], shipped: ShippedModel | None) -> list[str]:
    """Find the texts that a shipped model's tokenizer has no token for; of others it is known after loading only."""
    return [] if shipped is None else [text for text in texts if not set(text) <= set(shipped.alphabet)]


def stop_mistake(texts: Sequence[str]) -> str:
    """Say what is wrong with texts of `config.stop` that a tokenizer cannot write."""
    return f"{', '.join(map(repr, texts))}: this model's tokenizer has no token for it: leave it out"


def _has_template(folder: Path) -> bool | None:
    if (folder / _TEMPLATE).is_file():
        return True
    try:
        settings = read_outside((folder / _SETTINGS).read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    template = settings.get("chat_template") if isinstance(settings, dict) else None
    if isinstance(template, str):
        return True
    others = any(folder.glob("*chat_template*"))  # older forms, and several templates
    return None if others or template is not None else False


def _counted(folder: Path, texts: Sequence[str]) -> list[int]:
    return _counts(folder, texts=list(texts)) if texts else []


@apart
def _told(folder: Path) -> dict[str, Any]:
    """{has_template, counts: whether it can be told how many tokens a text has}."""
    return {"has_template": _has_template(folder), "counts": _loaded(folder) is not None}


@apart
def _counts(folder: Path, *, texts: list[str]) -> list[int]:
    tokenizer = _loaded(folder)
    if tokenizer is None:
        raise ValidationError(f"{_VOCABULARY} is not what it was")
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return [len(encoding.ids) for encoding in tokenizer.encode_batch_fast(texts, add_special_tokens=False)]


def _loaded(folder: Path) -> Any:
    if not (folder / _VOCABULARY).is_file():
        return None
    try:
        from tokenizers import Tokenizer
    except ImportError:  # a node that only takes jobs in
        return None
    try:
        return Tokenizer.from_file(str(folder / _VOCABULARY))
    except BaseException as error:
        if isinstance(error, MemoryError):
            raise
        return None
