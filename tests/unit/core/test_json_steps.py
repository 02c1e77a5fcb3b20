"""JSON that is parsed in steps has the value that the interpreter's library gives it, and no step is long."""

from __future__ import annotations

import io
import json
import random
import tarfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from harena.core import json_steps
from harena.core.errors import HarenaError
from harena.core.json_steps import WINDOW, parse, parse_kept
from harena.core.outside_json import read_outside
from harena.image_build import contexts, reading
from harena.image_store import archives
from harena.image_store.image_configs import read_image_config
from harena.image_store.manifests import named_blobs, read_manifest
from harena.scoring.contracts.templates import filled
from harena.scoring.scorers import judge

LARGE: dict[str, Callable[[], str]] = {
    "integers of many digits": lambda: "[" + ",".join(["9" * 4300] * 150) + "]",
    "numbers": lambda: "[" + ",".join(["1" * 57 + "e-300"] * 8_000) + "]",
    "names": lambda: "{" + ",".join(f'"{number:06x}":1' for number in range(25_000)) + "}",
    "lists": lambda: "[" + ",".join(["[]"] * 60_000) + "]",
    "texts": lambda: "[" + ",".join(['"' + "a\\n" * 20 + '"'] * 6_000) + "]",
    "rows": lambda: "[" + ",".join([json.dumps({"id": "a", "x": list(range(500))})] * 150) + "]",
}


@pytest.mark.parametrize("read", [read_outside])
@pytest.mark.parametrize("kind", LARGE)
def test_no_step_of_a_parser_is_long(read: Callable[[bytes], Any], kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Other threads run between two steps; none is given more than a window, whatever the text holds."""
    steps: list[int] = []
    plain, loads = json_steps._Steps.__init__, json.loads

    def watched(self: Any, text: str, decoder: Any) -> None:
        parsed = decoder.scan_once

        def scan(part: str, at: int) -> tuple[Any, int]:
            steps.append(len(part))
            value, end = parsed(part, at)
            steps[-1] = end - at
            return value, end

        decoder.scan_once = scan
        plain(self, text, decoder)

    def loaded(text: str | bytes, **hooks: Any) -> Any:
        steps.append(len(text))
        return loads(text, **hooks)

    monkeypatch.setattr(json_steps._Steps, "__init__", watched)
    monkeypatch.setattr(json, "loads", loaded)
    body = LARGE[kind]().encode()
    assert read(body) == loads(body)
    assert max(steps) <= WINDOW
    assert sum(steps) < 4 * len(body)


def build_request(body: bytes, folder: Path) -> object:
    """A `build.json`, at the beginning of an archive."""
    about = tarfile.TarInfo("build.json")
    about.size = len(body)
    with tarfile.open(folder / "x.tar", "w") as made:
        made.addfile(about, io.BytesIO(body))
    return contexts.read_archive(folder / "x.tar")


def saved_images(body: bytes, folder: Path) -> object:
    """A `manifest.json` of `docker save`."""
    (folder / "manifest.json").write_bytes(body)
    return archives._kind(folder)


OUTSIDE: dict[str, Callable[[bytes, Path], object]] = {
    "build request": build_request,
    "saved images": saved_images,
    "manifest": lambda body, _: read_manifest(body),
    "layout": lambda body, _: named_blobs(body),
    "configuration": lambda body, _: read_image_config(body),
    "answer": lambda body, _: filled("{{ sample.output_json.a }}", {}, body.decode()),
    "judge": lambda body, _: judge._content(body),
    "words": lambda body, _: reading._json_words(f"[{body.decode()}]"),
}


@pytest.mark.parametrize("kind", OUTSIDE)
def test_what_others_send_is_parsed_in_steps(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Documents of builds and of images, and answers: most of them are refused then, for what they say."""
    sizes: list[int] = []
    loads = json.loads

    def loaded(text: str | bytes, **hooks: Any) -> Any:
        sizes.append(len(text))
        return loads(text, **hooks)

    monkeypatch.setattr(json, "loads", loaded)
    body = json.dumps({"a": "b", "rootfs": {"diff_ids": []}, "x": [[]] * 30_000}).encode()
    asked: list[int] = []
    plain = json_steps._Steps.__init__

    def watched(self: Any, text: str, decoder: Any) -> None:
        asked.append(len(text))
        plain(self, text, decoder)

    monkeypatch.setattr(json_steps._Steps, "__init__", watched)
    with suppress(HarenaError):
        OUTSIDE[kind](body, tmp_path)
    assert max(sizes, default=0) <= WINDOW < len(body) <= max(asked)


@pytest.mark.parametrize("window", [8, 13, 64, 200])
def test_a_value_is_what_the_library_reads(window: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """So are its errors and their places."""
    monkeypatch.setattr(json_steps, "WINDOW", window)
    chance = random.Random(window)
    for _ in range(400):
        text = json.dumps(_value(chance, 0), ensure_ascii=chance.random() < 0.5, indent=chance.choice([None, 1]))
        if chance.random() < 0.5:
            at = chance.randrange(len(text))
            text = text[:at] + chance.choice(["", *'"{}[]\\1e- ,:\x01']) + text[at + chance.randrange(2) :]
        said = _said(parse, text)
        if "characters is too long" not in said:
            assert said == _said(json.loads, text)
        assert _said(parse, text.encode()) == said


def _said(read: Callable[[Any], Any], text: str | bytes) -> str:
    try:
        return repr(read(text))
    except json.JSONDecodeError as error:
        return f"{error} ({error.pos})"


def _value(chance: random.Random, depth: int) -> Any:
    kind = chance.random() if depth < 5 else 0
    if kind < 0.4:
        plain: list[Any] = [
            1,
            -2.5e-10,
            None,
            True,
            'a"\\\né🦆',
            "x" * chance.randrange(50),
            10**20,
            [],
            {},
            float("inf"),
            "",
        ]
        return chance.choice(plain)
    size = chance.randrange(8)
    if kind < 0.7:
        return [_value(chance, depth + 1) for _ in range(size)]
    return {chance.choice("abé\n") * chance.randrange(9): _value(chance, depth + 1) for _ in range(size)}


def test_nesting_makes_no_text_be_parsed_again_and_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """What does not fit into a window is not tried at each of its levels."""
    level, times = 150, 8
    text = "[" + ",".join(["[" * level + "1," * WINDOW + "1" + "]" * level] * times) + "]"
    parsed: list[int] = []
    plain = json_steps._Steps._in_window

    def noted(steps: json_steps._Steps, at: int) -> Any:
        found = plain(steps, at)
        if found is None:
            parsed.append(len(steps._window))
        return found

    monkeypatch.setattr(json_steps._Steps, "_in_window", noted)
    assert len(parse(text)) == times
    assert sum(parsed) < 4 * len(text)


def test_a_number_without_an_end_is_refused() -> None:
    """It would be read in one step."""
    with pytest.raises(json.JSONDecodeError, match=f"more than {WINDOW} characters is too long"):
        parse("[0." + "1" * 2 * WINDOW + "]")


def test_what_was_kept_is_read_at_any_depth() -> None:
    """Walking through a list takes two frames for each list around it."""
    value: Any = "a" * 2 * WINDOW
    for _ in range(600):
        value = [value]
    kept = json.dumps(value)
    with pytest.raises(RecursionError):
        parse(kept)
    assert json.dumps(parse_kept(kept)) == kept
