"""What a request refers to, as people read of it."""

from __future__ import annotations

from harena.core.records.objects import ResolvedReference
from harena.core.registry import ObjectKind
from harena.training.requests.references import ResolvedReferences

TREES = "/home/objects/trees"


def ref(kind: ObjectKind, name: str, version: str | None, path: str | None) -> ResolvedReference:
    return ResolvedReference(where="", kind=kind, name=name, version=version, digest="0", path=path)


def test_messages_name_objects_and_not_their_folders() -> None:
    """Of a data set of one file, its file; one tree under two names is called by the first."""
    resolved = ResolvedReferences(
        refs=(
            ref("model", "tiny-llama", None, None),
            ref("dataset", "sums", "2", f"{TREES}/ab/abc/rows.jsonl"),
            ref("task", "add", "1.0.0", f"{TREES}/cd/cde"),
            ref("dataset", "held", "1", f"{TREES}/ab/abc/rows.jsonl"),
            ref("model", "./mine", None, "/work/mine"),
        )
    )
    told = {
        f"{TREES}/ab/abc/rows.jsonl: 1 row cannot be used:\n  rows.jsonl:3: x": "sums@2: 1 row cannot be used:\n  "
        "rows.jsonl:3: x",
        f"{TREES}/cd/cde/task.yaml has mistakes": "add@1.0.0/task.yaml has mistakes",
        "/work/mine/config.json cannot be read": "./mine/config.json cannot be read",
        "nothing of the kind": "nothing of the kind",
    }
    assert {text: resolved.in_words(text) for text in told} == told
