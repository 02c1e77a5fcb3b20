"""What users are told where a registry does not give an image."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

from harena.cli.image import import_archive
from harena.core.errors import NotFoundError
from harena.image_store.registries import fault, last_message
from harena.jobs.benchmark.job_builds import unavailable

ROOT = Path(__file__).parents[3]
UNREACHED = (
    'time="2026-11-28T23:22:00Z" level=fatal msg="Error parsing image name \\"docker://my/debian:13\\": pinging '
    'container registry: Get \\"https://registry-1.docker.io/v2/\\": dial tcp: lookup: no such host"'
)
UNKNOWN = 'level=fatal msg="reading manifest 13 in docker.io/my/debian: manifest unknown"'
HINT = re.compile(r"harena image import (\S+) ([\w.:/-]*\w)")


@pytest.mark.parametrize("said", [UNREACHED, UNKNOWN])
def test_the_hint_to_import_an_image_is_a_command_that_works(said: str) -> None:
    found = HINT.search(str(fault(said, "docker.io/my/debian:13")))
    assert found is not None
    assert list(inspect.signature(import_archive).parameters) == ["path", "reference"]
    assert found.groups() == ("FILE", "docker.io/my/debian:13")


def test_the_hint_for_an_image_of_a_scenario_has_the_same_order() -> None:
    found = HINT.search(str(unavailable("the image x cannot be had", NotFoundError("there is none"))))
    assert found is not None
    assert found.groups() == ("FILE", "REFERENCE")


def test_pages_import_a_file_under_a_name() -> None:
    for page in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]:
        for file, name in HINT.findall(page.read_text()):
            assert (file, name) == ("PATH", "REFERENCE") or (":" in name and ":" not in file), f"{page}: {file} {name}"


def test_what_skopeo_quotes_is_shown_as_it_was_said() -> None:
    assert last_message(UNREACHED).startswith('Error parsing image name "docker://my/debian:13": pinging')
    assert "\\" not in str(fault(UNREACHED, "docker.io/my/debian:13"))
    assert last_message('msg="one\\ntwo C:\\\\x"') == "one two C:\\x"
