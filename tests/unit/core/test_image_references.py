"""References of images are read as Docker reads them."""

from __future__ import annotations

import pytest

from harena.core.errors import ValidationError
from harena.core.images import MOST_REFERENCE, image_id, parse_reference

DIGEST = "sha256:" + "0a" * 32


@pytest.mark.parametrize(
    ("written", "meant", "asked"),
    [
        ("python", "docker.io/library/python:latest", None),
        ("python:3.12", "docker.io/library/python:3.12", None),
        ("company/env", "docker.io/company/env:latest", None),
        ("docker.io/python:3.12", "docker.io/library/python:3.12", None),
        ("index.docker.io/a/b:c", "docker.io/a/b:c", None),
        ("localhost/env", "localhost/env:latest", None),
        ("localhost:5000/a/b/c:1", "localhost:5000/a/b/c:1", None),
        ("ghcr.io/company/env:1.0_a-b", "ghcr.io/company/env:1.0_a-b", None),
        ("[::1]:5000/env", "[::1]:5000/env:latest", None),
        (f"python@{DIGEST}", f"docker.io/library/python@{DIGEST}", None),
        (f"python:3@{DIGEST}", f"docker.io/library/python:3@{DIGEST}", f"docker.io/library/python@{DIGEST}"),
    ],
)
def test_what_a_reference_means(written: str, meant: str, asked: str | None) -> None:
    """Registry, repository and tag are told apart, and what is left out is filled in."""
    found = parse_reference(written)
    assert str(found) == meant
    assert found.pull_name == (asked or meant)
    assert parse_reference(str(found)) == found
    assert image_id(found) == image_id(parse_reference(meant))


@pytest.mark.parametrize(
    "written",
    [
        "",
        "a/UPPER",
        "a//b",
        "a:",
        "a:b:c",
        "a@sha256:12",
        f"a@sha512:{'0' * 128}",
        "-a",
        "../a",
        "a/../b",
        "a b",
        "a\nb",
        "a:1\n",
        "--help",
        "docker://a",
        "reg.io:port/a",
        "caf\u00e9",
        "x" * (MOST_REFERENCE + 1),
        None,
        7,
    ],
)
def test_what_is_no_reference(written: object) -> None:
    """What cannot be a reference never becomes an argument of another program."""
    with pytest.raises(ValidationError, match="names no image"):
        parse_reference(written)
