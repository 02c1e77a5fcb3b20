"""Settings, tokenizers and tensors with something wrong in them, against the libraries that are installed.

Whatever stands there is loaded, or refused as a ValidationError, and the process that asked lives on. The mutations are
the same on every run; `HARENA_FUZZ_MESSAGES` says how many. `make test-oldest` runs this with the oldest libraries that
pyproject.toml allows.
"""

from __future__ import annotations

import json
import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harena.core.errors import ValidationError
from harena.core.records.objects import ModelDescription
from harena.training.data.tokenizer_files import tokenizer_facts
from harena.training.objects.model import read_model

MESSAGES = int(os.environ.get("HARENA_FUZZ_MESSAGES", "80"))
LOADED = MESSAGES // 2
"""of them, also by the library that loads weights, which takes longer"""
ODD = (
    None, True, -1, 0, 2**31, 2**63, 10**30, 1e308, "", "x" * 10_000, "../../x", "/etc/passwd", [], {}, [[[[]]]],
    {"a": {}}, "\ud7ff\u0000", ["a"] * 1000,
)  # fmt: skip
"""values that no field means"""
pytestmark = pytest.mark.timeout(0 if MESSAGES > 10_000 else 240)


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small model that loads."""
    pytest.importorskip("torch")
    from harena.training.engines.tiny import byte_pair_tokenizer, tiny_llama

    folder = tmp_path_factory.mktemp("good")
    tokenizer = byte_pair_tokenizer(["some text"] * 2, size=300)
    tiny_llama(len(tokenizer), seed=0, width=32, layers=1, heads=2, context_length=64).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def changed(draw: random.Random, value: Any, depth: int = 0) -> Any:
    """The same with one part replaced, left out, or said twice as deep."""
    if draw.random() < 0.15 or not isinstance(value, dict | list) or not value:
        return draw.choice(ODD)
    if isinstance(value, dict):
        name = draw.choice(list(value))
        if draw.random() < 0.15:
            return {key: part for key, part in value.items() if key != name}
        return {**value, name: changed(draw, value[name], depth + 1)}
    place = draw.randrange(len(value))
    if draw.random() < 0.15:
        return value[:place]
    return [*value[:place], changed(draw, value[place], depth + 1), *value[place + 1 :]]


def mutated(draw: random.Random, good: Path, folder: Path) -> str:
    """A copy with something wrong in one file: its name."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(good, folder)
    path = folder / draw.choice(sorted(file.name for file in good.iterdir()))
    content = path.read_bytes()
    kind = draw.randrange(4)
    if path.suffix == ".json" and kind < 3:
        path.write_text(json.dumps(changed(draw, json.loads(content))))
    elif kind == 0 or not content:
        path.write_bytes(content[: draw.randrange(len(content) + 1)])
    else:
        place = draw.randrange(min(len(content), 2000) if path.suffix == ".safetensors" else len(content))
        path.write_bytes(
            content[:place] + draw.randbytes(draw.choice((1, 8))) + content[place + draw.choice((0, 1, 8)) :]
        )
    return path.name


def outcome(work: Any) -> str:
    """What became of it; anything but a result and a ValidationError is raised."""
    try:
        work()
    except ValidationError:
        return "refused"
    return "taken"


def told(folder: Path) -> ModelDescription:
    """What a server asks of a model's files."""
    described = read_model(folder, may_be_adapter=True)
    facts = tokenizer_facts(folder, None)
    if facts.counts is not None:
        assert len(facts.counts(["some text", "", "\ud7ff\u0000"])) == 3
    return described


def outcomes(seed: int, messages: int, good: Path, place: Path, load: Callable[[Path], object]) -> set[str]:
    """What became of so many mutations of a good model."""
    draw, found = random.Random(seed), set[str]()
    for number in range(messages):
        name = mutated(draw, good, place)
        try:
            found.add(outcome(lambda: load(place)))
        except BaseException as error:
            raise AssertionError(f"message {number}, {name}: {error!r}") from error
    return found


def test_a_server_takes_or_refuses_whatever_was_pushed(good: Path, tmp_path: Path) -> None:
    """In the process that reads: neither an exception of a library nor its end comes through."""
    assert outcomes(1, MESSAGES, good, tmp_path / "it", told) == {"taken", "refused"}


def test_a_worker_takes_or_refuses_whatever_was_pushed(good: Path, tmp_path: Path) -> None:
    """By the libraries that load weights and tokenizers, behind the wall."""
    from harena.training.engines.models import load_model

    assert outcomes(2, LOADED, good, tmp_path / "it", load_model) == {"taken", "refused"}
