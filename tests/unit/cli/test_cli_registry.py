"""`harena push|pull|ls`: what they ask for, and what they print."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from fake_face import Harena

from fake_answers import filled
from harena.cli import face
from harena.core.errors import ValidationError
from harena.core.records.objects import StoredObject

OBJECT = {
    "ref": "sums@2", "kind": "dataset", "name": "sums", "version": "2", "digest": "0123456789abcdef0123", "files": 1,
    "bytes": 77, "described": {"path": "", "parts": {}}, "created_at": "2030-01-02T03:04:05.678+00:00",
    "organization": "acme",
}  # fmt: skip


class Registry:
    """`harena.registry`, scripted."""

    def __init__(self) -> None:
        self.asked: list[Any] = []

    def push(self, kind: str, path: Path, ref: str | None, *, organization: bool) -> StoredObject:
        if ref == "sums@1":
            raise ValidationError("dataset sums@1 is published with other content")
        self.asked.append(("push", kind, str(path), ref, organization))
        return filled(StoredObject, OBJECT)

    def pull(self, kind: str, ref: str, path: Path, *, overwrite: bool) -> StoredObject:
        self.asked.append(("pull", kind, ref, str(path), overwrite))
        return filled(StoredObject, OBJECT)

    def publish(self, kind: str, ref: str) -> StoredObject:
        self.asked.append(("publish", kind, ref))
        return filled(StoredObject, OBJECT)

    def withdraw(self, kind: str, ref: str) -> StoredObject:
        self.asked.append(("withdraw", kind, ref))
        return filled(StoredObject, {**OBJECT, "organization": None})

    def list(self, kind: str | None, *, name: str | None, organization: bool) -> list[StoredObject]:
        self.asked.append(("list", kind, name, organization))
        return [filled(StoredObject, OBJECT)]


@pytest.fixture
def registry(monkeypatch: pytest.MonkeyPatch) -> Registry:
    """The face has it."""
    made = Registry()
    monkeypatch.setattr(face, "load", lambda: SimpleNamespace(registry=made))
    return made


def test_push(harena: Harena, registry: Registry, capsys: pytest.CaptureFixture[str]) -> None:
    """With a name, or as a capability says it."""
    assert harena("push", "dataset", "rows.jsonl", "sums@2") == 0
    assert capsys.readouterr().out == "dataset sums@2: 1 file, 77 bytes, sha256 0123456789abcdef\n"
    assert harena("push", "capability", "dir") == 0
    assert harena("push", "dataset", "rows.jsonl", "sums@2", "--org") == 0
    assert registry.asked == [
        ("push", "dataset", "rows.jsonl", "sums@2", False),
        ("push", "capability", "dir", None, False),
        ("push", "dataset", "rows.jsonl", "sums@2", True),
    ]
    assert harena("push", "dataset", "rows.jsonl", "sums@1") == 2
    assert "published with other content" in capsys.readouterr().err
    assert harena("push", "rows", "rows.jsonl", "sums@1") == 2


def test_pull(harena: Harena, registry: Registry, capsys: pytest.CaptureFixture[str]) -> None:
    """Into a directory of the object's name, or another."""
    assert harena("pull", "dataset", "sums@2") == 0
    assert capsys.readouterr().out == "dataset sums@2: 77 bytes in sums\n"
    assert harena("pull", "dataset", "sums", "there", "--overwrite") == 0
    assert registry.asked == [("pull", "dataset", "sums@2", "sums", False), ("pull", "dataset", "sums", "there", True)]


def test_ls(harena: Harena, registry: Registry, capsys: pytest.CaptureFixture[str]) -> None:
    """As a table, or as JSON."""
    assert harena("ls") == 0
    assert "sums@2" in capsys.readouterr().out
    assert harena("ls", "dataset", "--name", "sums", "--format", "json") == 0
    assert json.loads(capsys.readouterr().out) == [OBJECT]
    assert harena("ls", "--organization") == 0
    assert registry.asked == [
        ("list", None, None, False),
        ("list", "dataset", "sums", False),
        ("list", None, None, True),
    ]


def test_publish(harena: Harena, registry: Registry, capsys: pytest.CaptureFixture[str]) -> None:
    """To the organisation, which is told, and back."""
    assert harena("publish", "dataset", "sums@2") == 0
    assert capsys.readouterr().out == "dataset sums@2: published to acme\n"
    assert harena("withdraw", "dataset", "sums@2") == 0
    assert capsys.readouterr().out == "dataset sums@2: withdrawn\n"
    assert registry.asked == [("publish", "dataset", "sums@2"), ("withdraw", "dataset", "sums@2")]
