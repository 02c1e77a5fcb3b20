"""Compiled code that is kept between processes."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from harena.core.kept_code import kept_code


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A module's file, in a folder where its compiled form is kept."""
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.setattr(sys, "pycache_prefix", None)
    (tmp_path / "__pycache__").mkdir()
    file = tmp_path / "maker.py"
    file.write_text("first")
    return file


def kept_in(module: Path) -> list[Path]:
    """The files that lie where compiled modules do."""
    return sorted((module.parent / "__pycache__").iterdir())


def unasked() -> bytes:
    """Stand in for what has been made before."""
    raise AssertionError("it was made again")


def making(made: bytes) -> Callable[[], bytes]:
    """What makes this."""
    return lambda: made


def test_what_an_earlier_process_made_is_taken(module: Path) -> None:
    """Also what is empty."""
    for sources, made in ((b"a", b"code"), (b"b", b"")):
        assert kept_code(str(module), sources, making(made)) == made
        assert kept_code(str(module), sources, unasked) == made
    assert [path.suffix for path in kept_in(module)] == [".kept"]


def test_other_sources_are_compiled_anew(module: Path) -> None:
    """Those that are given, and the module that compiles them: an upgrade, or a switch of branches."""
    assert kept_code(str(module), b"ab", making(b"one")) == b"one"
    assert kept_code(str(module), b"a", making(b"two")) == b"two"
    assert kept_code(str(module), b"a", unasked) == b"two"
    module.write_text("other")
    assert kept_code(str(module), b"a", making(b"three")) == b"three"


def test_a_module_keeps_several_things_by_their_names(module: Path) -> None:
    """None takes the place of another."""
    for name in ("", "one", "two"):
        kept_code(str(module), b"a", making(name.encode()), name=name)
    for name in ("", "one", "two"):
        assert kept_code(str(module), b"a", unasked, name=name) == name.encode()


def test_what_another_version_of_python_made_is_not_taken(module: Path) -> None:
    """Interpreters of one tag may still differ in their code."""
    kept_code(str(module), b"a", making(b"theirs"))
    (kept,) = kept_in(module)
    kept.write_bytes(b"none" + kept.read_bytes()[4:])
    assert kept_code(str(module), b"a", making(b"ours")) == b"ours"


def test_no_part_of_a_file_is_taken(module: Path) -> None:
    """Cut anywhere, or with any byte changed."""
    kept_code(str(module), b"sources", making(b"made of them"))
    (kept,) = kept_in(module)
    whole = kept.read_bytes()
    cut = [whole[:size] for size in range(len(whole))]
    changed = [whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :] for at in range(len(whole))]
    for damaged in [*cut, *changed, whole + b"x", bytes(len(whole))]:
        kept.write_bytes(damaged)
        assert kept_code(str(module), b"sources", making(b"anew")) == b"anew"


def test_where_nothing_can_be_kept_it_is_made(module: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An installation that nobody may write to, and a module that is no file."""
    (module.parent / "__pycache__").rmdir()
    assert kept_code(str(module), b"a", making(b"made")) == b"made"
    assert not (module.parent / "__pycache__").exists()
    (module.parent / "__pycache__").mkdir()
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    assert kept_code(str(module), b"a", making(b"made")) == b"made"
    assert kept_in(module) == []
    assert kept_code(str(module.parent / "archive.zip" / "maker.py"), b"a", making(b"made")) == b"made"
