"""YAML that users write: what is no YAML, or says a name twice, is refused by every verb and command that reads it."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from harena.cli.benchmark_def import _fields
from harena.cli.gateways import gateways_in_words
from harena.core.errors import ValidationError
from harena.sdk.blueprint_builds import _read
from harena.sdk.registry import _identity
from harena.sdk.yaml_files import YamlError, read_yaml_file

SOURCES = Path(__file__).parents[3] / "src/harena"


def written(folder: Path, text: str) -> Path:
    """A file with this text."""
    (file := folder / "task.yaml").write_text(text, encoding="utf-8")
    return file


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a: 1\na: 2\n", "'a' stands twice"),
        ("a:\n  - {b: 1, c: 2, b: 3}\n", "'b' stands twice"),
        ("{1: a, 0x1: b}\n", "'0x1' stands twice"),
        ("? {a: 1, a: 2}\n: b\n", "'a' stands twice"),
        ("base: &base {a: 1}\none: {<<: *base, b: 1, b: 2}\n", "'b' stands twice"),
        ("a: [\n", "while parsing"),
        ("a: 1\n---\nb: 2\n", "single document"),
        ("a: !!python/name:os.system x\n", "could not determine a constructor"),
        ("a: 2024-13-01\n", "month"),
        ("a: !!int []\n", "expected a scalar node"),
        ("[" * 3000, "nested too deeply"),
    ],
)
def test_what_is_refused(tmp_path: Path, text: str, says: str) -> None:
    """With what is wrong."""
    with pytest.raises(YamlError, match=says):
        read_yaml_file(written(tmp_path, text))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", None),
        ("a: 1\nb: {a: yes}\n", {"a": 1, "b": {"a": True}}),
        ("base: &base {a: 1, b: 1}\none: {<<: *base, a: 2}\n", {"base": {"a": 1, "b": 1}, "one": {"a": 2, "b": 1}}),
        ("{1: a, '1': b}\n", {1: "a", "1": "b"}),
    ],
)
def test_what_is_read(tmp_path: Path, text: str, value: object) -> None:
    """As the safe loader reads it; what is merged may be written anew."""
    assert read_yaml_file(written(tmp_path, text)) == value


def test_every_reader_refuses_a_name_that_stands_twice(tmp_path: Path) -> None:
    """Gateways, definitions, recipes of blueprints, and the description of an object to be pushed."""
    file = written(tmp_path, "name: one\nversion: '1'\nname: two\n")
    readers = (
        lambda: gateways_in_words([f"A=@{file}"]),
        lambda: _fields(file),
        lambda: _read(file),
        lambda: _identity("task", tmp_path, None),
    )
    for read in readers:
        with pytest.raises(ValidationError, match="'name' stands twice"):
            read()


def test_nobody_reads_yaml_otherwise() -> None:
    """Beside this reader there is that of scenario files alone."""
    found = {
        str(path.relative_to(SOURCES))
        for path in SOURCES.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Import) and any(one.name.split(".")[0] == "yaml" for one in node.names)
    }
    assert found == {"scoring/reading.py", "scoring/yaml_nodes.py", "sdk/yaml_files.py"}
