"""Dockerfiles are built without Docker: in a process of its own, with the SDK, as users do. The images that they begin
with are made here."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from dockerfile_corpus import SAMPLES
from image_trees import PROGRAMS, archive_of, put_programs, put_python

SECRET = "very secret"
BUILT = [
    name
    for name, sample in SAMPLES.items()
    if not sample.needs_network and (os.geteuid() == 0 or not sample.needs_users)
]
BUILDS = """
import json, sys, time
from pathlib import Path
import harena
from harena import HarenaError, Sandbox

place, secret = Path(sys.argv[1]), sys.argv[2]
for name in ("debian:12", "python:3.11-slim"):
    harena.images.import_archive(name, place / "root.tar")
said = {}
for folder in sorted(place.glob("sample-*")):
    texts = []
    def told(event):
        texts.append(f"{event.kind} {event.text}")
    try:
        first = harena.images.build(folder, tags=f"localhost/{folder.name}:1", secrets={"token": secret}, on_event=told)
        again = harena.images.build(folder, tags=f"localhost/{folder.name}:1", secrets={"token": secret})
        with Sandbox.run(container_image=first.image) as sandbox:
            result = sandbox.exec(["sh", "-c", (folder.parent / f"{folder.name}.says").read_text()]).result()
        said[folder.name] = {
            "steps": [first.steps, again.steps_cached], "same": first.image == again.image,
            "result": [result.returncode, result.stderr], "log": "".join(texts),
        }
    except HarenaError as error:
        said[folder.name] = {"error": str(error), "log": "".join(texts)}
print(json.dumps(said))
"""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory, home: Path) -> dict[str, Any]:
    """What became of each sample, by its name."""
    place = tmp_path_factory.mktemp("builds")
    root = place / "root"
    put_programs(root, (*PROGRAMS, "bash", "tr", "wc", "touch", "readlink"))
    put_python(root)
    (root / "etc/group").write_text("root:x:0:\nnogroup:x:65534:\n")
    archive_of(root, place / "root.tar")
    for number, name in enumerate(BUILT):
        folder = place / f"sample-{number:02}"
        for path, content in SAMPLES[name].context.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(content)
        folder.mkdir(exist_ok=True)
        (folder / "Dockerfile").write_text(SAMPLES[name].text)
        (place / f"{folder.name}.says").write_text(SAMPLES[name].says)
    ended = subprocess.run(
        [sys.executable, "-c", BUILDS, str(place), SECRET],
        env={**os.environ, "HARENA_HOME": str(home)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    found: dict[str, Any] = json.loads(ended.stdout)
    return {name: found[f"sample-{number:02}"] for number, name in enumerate(BUILT)}


@pytest.mark.parametrize("name", BUILT)
def test_a_sample_builds_and_has_what_it_says(said: dict[str, Any], name: str) -> None:
    told = said[name]
    assert "error" not in told, told
    assert told["result"] == [0, ""], told["log"]


@pytest.mark.parametrize("name", BUILT)
def test_a_sample_is_built_once(said: dict[str, Any], name: str) -> None:
    """The second build takes each step as it is, and gives the same image."""
    assert said[name].get("steps") == [SAMPLES[name].steps] * 2
    assert said[name]["same"]


def test_a_secret_is_in_no_layer_and_in_no_record(said: dict[str, Any], home: Path) -> None:
    """Nothing that the node keeps on its disk holds it."""
    looked = 0
    for folder, _, names in os.walk(home):
        for name in names:
            path = Path(folder) / name
            if path.is_file() and not path.is_symlink():
                looked += 1
                assert SECRET.encode() not in path.read_bytes().replace(b"= 'very secret'", b""), path
    assert looked > 100


def test_nothing_of_a_build_is_left_behind(said: dict[str, Any], home: Path) -> None:
    (work,) = home.glob("images/*/work")
    assert os.listdir(work) == []
