"""Contents of files in requests: decoded where nobody else waits for it."""

from __future__ import annotations

import ast
import asyncio
import base64
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

import harena.server
from harena.core.errors import ValidationError
from harena.core.threads import BODIES, work_for
from harena.server import contents
from harena.server.bodies import AT_ONCE_BYTES
from harena.server.contents import PIECE, decoded, decoded_files

SIZES = (0, 1, 2, 3, AT_ONCE_BYTES, PIECE // 4 * 3 - 1, PIECE // 4 * 3, PIECE // 4 * 3 + 1, 3 * PIECE)


async def test_contents_come_back_as_they_were() -> None:
    """Of every length around the bounds, one by one and together."""
    draw = random.Random(7)
    files = {f"/{size}": draw.randbytes(size) for size in SIZES}
    texts = {path: base64.b64encode(content).decode() for path, content in files.items()}
    assert await decoded_files(texts) == files
    for path, content in files.items():
        assert await decoded(texts[path], "stdin") == content


@pytest.mark.parametrize("text", ["a", "aa=", "aaa=" * 2, "a b=", "ä===", "aaa=" + "aaaa" * PIECE,
                                  "a" * (PIECE - 4) + "aaa=" + "aaaa", "aaaa" * PIECE + "?"])  # fmt: skip
async def test_what_is_no_base64_is_told_with_its_name(text: str) -> None:
    """Also where a piece of it would be."""
    with pytest.raises(ValidationError, match=r"^files: /x: not base64 \("):
        await decoded_files({"/x": text})


async def test_large_contents_are_decoded_in_threads_of_their_workspace() -> None:
    """The loop has turns meanwhile, and no other workspace's threads are taken; also of many small files."""

    async def threads_for(workspace: str, texts: dict[str, str]) -> bool:
        work_for.set(workspace)
        await decoded_files(texts)
        return workspace in BODIES._pools

    large = "A" * (AT_ONCE_BYTES + 4)
    for workspace, texts, expected in (
        ("small", {"/x": "AAAA"}, False),
        ("large", {"/x": large}, True),
        ("many", {f"/{n}": "A" * 4096 for n in range(AT_ONCE_BYTES // 4096 + 1)}, True),
    ):
        assert await asyncio.create_task(threads_for(workspace, texts)) is expected, workspace


def test_no_route_decodes_by_itself() -> None:
    """Whatever a request brings as base64 goes through one place."""

    def names(tree: ast.AST) -> Iterator[str]:
        for node in ast.walk(tree):
            if isinstance(node, ast.Name):
                yield node.id
            elif isinstance(node, ast.Attribute):
                yield node.attr

    files = Path(str(harena.server.__file__)).parent.rglob("*.py")
    found = {file for file in files if {"bytes_of", "b64decode"} & {*names(ast.parse(file.read_text()))}}
    assert found == {Path(contents.__file__)}
