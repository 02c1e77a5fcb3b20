"""An image of many files: imported, begun with, written to and looked at again by the next process."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

import pytest

from image_trees import archive_of, put_programs

pytestmark = [pytest.mark.thorough, pytest.mark.slow]

FOLDERS = 300
IMPORTS = """
import json, sys
import harena
image = harena.images.import_archive("localhost/many:1", sys.argv[1])
print(json.dumps([image.layers, image.unpacked_bytes]))
"""
USES = """
import json, sys
import harena
from harena import Sandbox

said = {"inside": []}
for _ in range(3):
    with Sandbox.run(container_image="localhost/many:1") as sandbox:
        looks = "set -- /many/*; echo $#; set -- /many/7/*; echo $#; cat /many/299/LAST; ls /many/1/mine 2>/dev/null"
        said["inside"].append(sandbox.exec(["sh", "-c", looks]).result().stdout.split())
        sandbox.exec(["sh", "-c", "echo x > /many/299/LAST; rm -r /many/0; echo > /many/1/mine"], check=True).result()
        changed = "cat /many/299/LAST; ls -d /many/0 2>/dev/null; true"
        said["changed"] = sandbox.exec(["sh", "-c", changed]).result().stdout.split()
        if "snapshot" not in said:
            said["snapshot"] = sandbox.snapshot(name="kept").result().files
with Sandbox.run(snapshot="kept") as sandbox:
    said["again"] = sandbox.exec(["sh", "-c", "cat /many/299/LAST; ls -d /many/0 /many/2"]).result().stdout.split()
print(json.dumps(said))
"""


@pytest.mark.parametrize("files", [20_000, pytest.param(100_000, marks=pytest.mark.soak)])
def test_an_image_of_many_files(tmp_path: Path, files: int) -> None:
    """A layer of its own above a few programs; what is written is a few files, not the image."""
    tree = tmp_path / "tree"
    put_programs(tree)
    for folder in range(FOLDERS):
        (tree / "many" / str(folder)).mkdir(parents=True)
    for number in range(files):
        (tree / "many" / str(number % FOLDERS) / str(number)).write_text(f"{number}\n")
    archive_of(tree, tmp_path / "root.tar")
    shutil.rmtree(tree)
    with tarfile.open(tmp_path / "root.tar") as archive:
        assert sum(1 for _ in archive) > files
    layers, unpacked = _said(tmp_path, IMPORTS, str(tmp_path / "root.tar"))
    assert layers == 1
    assert unpacked > files
    last = files // FOLDERS * FOLDERS - 1  # the newest in folder 299
    said = _said(tmp_path, USES.replace("LAST", str(last)))
    of_a_folder = len(range(7, files, FOLDERS))
    assert said["inside"] == [[str(FOLDERS), str(of_a_folder), str(last)]] * 3
    assert said["changed"] == ["x"]
    assert said["again"] == ["x", "/many/2"]
    assert said["snapshot"] < 100
    shutil.rmtree(tmp_path / "home")  # pytest keeps what tests leave


def _said(place: Path, program: str, *words: str) -> Any:
    """What a program says in a process of its own."""
    ended = subprocess.run(
        [sys.executable, "-c", program, *words],
        env={**os.environ, "HARENA_HOME": str(place / "home")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    return json.loads(ended.stdout)
