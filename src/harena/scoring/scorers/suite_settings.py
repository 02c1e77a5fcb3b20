"""What trusted files of settings say of a suite: where pytest has modules looked for."""

from __future__ import annotations

import configparser
import tomllib
from collections.abc import Iterator, Mapping
from typing import Any

from harena.scoring.contracts.contract import CommandContract

_SECTIONS = {"pytest.ini": "pytest", ".pytest.ini": "pytest", "tox.ini": "pytest", "setup.cfg": "tool:pytest"}
_TABLE = "pyproject.toml"
_FIRST = ("pytest.ini", ".pytest.ini", _TABLE, "tox.ini", "setup.cfg")
"""files of settings as pytest looks for them; the first one that speaks of pytest counts"""
_MOST_SIZE = 100_000
_MOST_PATHS = 20


def python_paths(contract: CommandContract, problems: Mapping[str, str]) -> list[str]:
    """Folders of the working directory that the settings of a suite of pytest name as its `pythonpath`; `problems`: the
    problem's files."""
    if not contract.pytest:
        return []
    for name in _FIRST:
        text = contract.files.get(name, problems.get(name))
        said = None if text is None or len(text) > _MOST_SIZE else _said(name, text)
        if said is not None:
            return list(dict.fromkeys(_inside(said)))[:_MOST_PATHS]
    return []


def _said(name: str, text: str) -> list[str] | None:
    """None where the file has no settings of pytest, or is none."""
    try:
        if name == _TABLE:
            return _words_of_table(tomllib.loads(text))
        parser = configparser.ConfigParser(interpolation=None)
        parser.read_string(text)
        section = _SECTIONS[name]
        return parser[section].get("pythonpath", "").split() if parser.has_section(section) else None
    except (tomllib.TOMLDecodeError, configparser.Error, RecursionError):
        return None


def _words_of_table(table: dict[str, Any]) -> list[str] | None:
    found: Any = table
    for part in ("tool", "pytest", "ini_options"):
        found = found.get(part) if isinstance(found, dict) else None
    if not isinstance(found, dict):
        return None
    words = found.get("pythonpath", [])
    return words.split() if isinstance(words, str) else [str(word) for word in words] if isinstance(words, list) else []


def _inside(words: list[str]) -> Iterator[str]:
    for word in words:
        parts = [part for part in word.split("/") if part not in ("", ".")]
        if parts and ".." not in parts and not word.startswith("/"):
            yield "/".join(parts)
