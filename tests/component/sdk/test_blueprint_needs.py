"""Steps of a recipe in an image that lacks what they need."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from harena.core.blueprint_recipes import dockerfile_of, read_recipe


@pytest.mark.parametrize(
    ("packages", "told"),
    [
        ({"pip": "requirements.lock"}, "packages.pip: the image has no pip: add python3-pip to packages.system"),
        ({"npm": "package-lock.json"}, "packages.npm: the image has no npm: add nodejs npm to packages.system"),
    ],
)
def test_a_step_names_what_its_image_lacks(tmp_path: Path, packages: dict[str, str], told: str) -> None:
    recipe = read_recipe({"name": "n", "base": "debian:12", "packages": packages})
    (step,) = [line for line in dockerfile_of(recipe, "debian:12").splitlines() if line.startswith("RUN ")]
    command = json.loads(step[step.index("[") :])
    ended = subprocess.run(command, env={"PATH": str(tmp_path)}, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr.splitlines() == [f"{told}, or take a base that has it"]
