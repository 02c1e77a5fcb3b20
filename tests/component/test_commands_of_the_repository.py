"""The repository's one-command verbs and its shell scripts."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("target", ["demo", "test", "test-unit", "test-all", "test-battery", "lint", "bench", "docs"])
def test_make_has_the_verb_and_explains_it(target: str) -> None:
    """`make help` lists it."""
    done = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True)
    assert re.search(rf"^  make {target} +\w", done.stdout, re.MULTILINE)


@pytest.mark.parametrize("name", [".ci/run", "scripts/setup", "scripts/system-packages"])
def test_shell_scripts_are_executable_and_parse(name: str) -> None:
    """bash -n reads them without running them."""
    assert os.access(ROOT / name, os.X_OK)
    subprocess.run(["bash", "-n", ROOT / name], check=True)


APT = """#!/bin/sh
echo "$*" >>calls
[ "$1" = update ] || for word; do [ "$word" != unknown ] || exit 100; done
"""


@pytest.mark.parametrize(
    ("packages", "calls"),
    [
        (["one", "two"], ["install -y -q one two"]),
        (
            ["one", "unknown"],
            [
                "install -y -q one unknown",
                "update -q",
                "install -y -q one unknown",
                "install -y -q one",
                "install -y -q unknown",
            ],
        ),
    ],
)
def test_missing_packages_are_installed_at_once(tmp_path: Path, packages: list[str], calls: list[str]) -> None:
    """And one after the other only where not all can be had; what is missing in the end is named."""
    for name, text in {"apt-get": APT, "id": "#!/bin/sh\necho 0\n"}.items():
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    words = ["bash:bash", *(f"{package}:no-such-program-{package}" for package in packages)]
    path = f"{tmp_path}:{os.environ['PATH']}"
    command = [ROOT / "scripts/system-packages", *words]
    done = subprocess.run(
        command, cwd=tmp_path, env={"PATH": path}, capture_output=True, text=True, check=True
    )  # a package that cannot be had fails nothing
    assert (tmp_path / "calls").read_text().splitlines() == calls
    assert ("unknown could not be installed" in done.stderr) == ("unknown" in packages)
