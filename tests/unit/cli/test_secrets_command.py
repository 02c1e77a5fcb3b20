"""`harena secrets`: values come from standard input or a file, and are never written."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from typer.testing import CliRunner

from harena.cli import face, secrets
from harena.core.errors import PlatformError, ValidationError
from harena.core.records.secrets import Secret


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch) -> dict[str, tuple[str, list[str]]]:
    """name -> (value, hosts) of what the package was asked to keep."""
    known: dict[str, tuple[str, list[str]]] = {}

    def shown(name: str) -> Secret:
        return Secret(
            name=name, hosts=known[name][1], created_at="2030-01-01T00:00:00", updated_at="2030-01-01T00:00:00"
        )

    def keep(name: str, value: str, *, hosts: list[str]) -> Secret:
        known[name] = value, hosts
        return shown(name)

    verbs = SimpleNamespace(set=keep, list=lambda: [shown(name) for name in known], delete=known.pop)
    package: Any = SimpleNamespace(secrets=verbs)
    monkeypatch.setattr(face, "load", lambda: package)
    return known


def test_a_value_from_standard_input(kept: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Its one line end is not part of it; nothing shows it."""
    told = CliRunner().invoke(secrets.app, ["set", "TOKEN", "--host", "a.b", "--host", "c.d"], input="hush \n")
    assert (told.exit_code, kept) == (0, {"TOKEN": ("hush ", ["a.b", "c.d"])}), told.output
    listed = CliRunner().invoke(secrets.app, ["ls"])
    assert "TOKEN" in listed.output
    assert "hush" not in told.output + listed.output
    assert CliRunner().invoke(secrets.app, ["rm", "TOKEN"]).output == "TOKEN: removed\n"
    assert kept == {}


def test_a_value_from_a_file(kept: dict[str, Any], tmp_path: Path) -> None:
    """More than a line stays as it is, but for the last line's end."""
    (tmp_path / "value").write_bytes(b"one\ntwo\r\n")
    CliRunner().invoke(secrets.app, ["set", "TOKEN", "--host", "a.b", "--file", str(tmp_path / "value")])
    assert kept["TOKEN"][0] == "one\ntwo"
    absent = CliRunner().invoke(secrets.app, ["set", "TOKEN", "--host", "a.b", "--file", str(tmp_path / "absent")])
    assert isinstance(absent.exception, PlatformError)


def test_what_is_no_text(kept: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """It is refused with words, and a host must be named."""
    refused = CliRunner().invoke(secrets.app, ["set", "TOKEN", "--host", "a.b"], input=b"\xff")
    assert isinstance(refused.exception, ValidationError)
    assert CliRunner().invoke(secrets.app, ["set", "TOKEN"], input="x").exit_code == 2
    assert kept == {}


def test_the_command_line_takes_no_value(kept: dict[str, Any]) -> None:
    """Others can see it there."""
    assert CliRunner().invoke(secrets.app, ["set", "TOKEN", "hush", "--host", "a.b"]).exit_code == 2
    assert kept == {}
