"""An image is imported, sandboxes have it for their root, and it stays as long as they live: in a process of its own,
with the SDK, as users do."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest

from harena.image_store.layer_shapes import has_its_shape
from image_trees import archive_of, put_programs, put_python

USES = """
import json, sys
import harena
from harena import HarenaError, Sandbox

said = {}
made = harena.images.import_archive("localhost/tools:1", sys.argv[1])
with Sandbox.run(container_image="localhost/tools:1") as sandbox:
    result = sandbox.exec(["python3", "-c", "print(open('/etc/motd').read(), end='')"]).result()
    said["program"] = [result.returncode, result.stdout]
    said["used"] = [harena.images.get("localhost/tools:1").in_use, harena.images.collect(unused_seconds=0).layers]
    sandbox.write_file("/etc/motd", b"changed").result()
    said["changed"] = sandbox.exec(["cat", "/etc/motd"]).result().stdout
with Sandbox.run(container_image="localhost/tools:1") as sandbox:
    said["another"] = sandbox.exec(["cat", "/etc/motd"]).result().stdout
who = ["sh", "-c", "id -u; stat -c %u /etc/theirs; chown 7 /etc/motd 2>/dev/null; stat -c %u /etc/motd"]
if sys.argv[2] == "root":
    recipe = harena.blueprints.create("for-agents", image="localhost/tools:1", profile="machine")
    said["recipe"] = [recipe.profile, harena.blueprints.get("for-agents").profile, harena.blueprints.list()[0].profile]
    for name, options in {
        "strict": {"container_image": "localhost/tools:1"},
        "machine": {"container_image": "localhost/tools:1", "profile": "machine"},
        "blueprint": {"blueprint": "for-agents"},
    }.items():
        with Sandbox.run(**options) as sandbox:
            said[name] = [sandbox.exec(who, user=user).result().stdout.split() for user in (None, "1000")]
            said[name].append(sandbox.info.profile)
for options in ({"profile": "machine"}, {"profile": "other"}, {"profile": 1, "container_image": "localhost/tools:1"}):
    try:
        Sandbox.run(**options).wait()
    except HarenaError as error:
        said["refused %s" % options["profile"]] = [type(error).__name__, str(error)]
for image in ("No Image", "localhost:9/nobody/is-there:1"):
    try:
        Sandbox.run(container_image=image).wait()
    except HarenaError as error:
        said[image] = [type(error).__name__, str(error)]
print(json.dumps(said))
"""


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the program above has found, with an image made of a root file system's archive."""
    tree, place = tmp_path_factory.mktemp("tree"), tmp_path_factory.mktemp("used")
    put_programs(tree)
    put_python(tree)
    (tree / "etc/motd").write_text("from the image\n")
    (tree / "etc/theirs").write_text("")
    if os.geteuid() == 0:
        os.chown(tree / "etc/theirs", 1000, 1000)
    archive_of(tree, place / "root.tar")
    ended = subprocess.run(
        [sys.executable, "-c", USES, str(place / "root.tar"), "root" if os.geteuid() == 0 else "user"],
        env={**os.environ, "HARENA_HOME": str(place / "home")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    found: dict[str, Any] = json.loads(ended.stdout)
    layers = [*(place / "home").rglob("layers/*")]
    found["layers as they were"] = [has_its_shape(layer / "shape", layer / "root") for layer in layers]
    return found


def test_sandboxes_leave_layers_as_they_were_unpacked(said: dict[str, Any]) -> None:
    """Else the next process would take them for damaged."""
    assert said["layers as they were"] == [True]


def test_a_sandbox_has_an_imported_image_for_its_root(said: dict[str, Any]) -> None:
    assert said["program"] == [0, "from the image\n"]


def test_an_image_that_is_used_is_not_removed(said: dict[str, Any]) -> None:
    assert said["used"] == [True, 0]


def test_what_one_sandbox_writes_no_other_sees(said: dict[str, Any]) -> None:
    assert (said["changed"], said["another"]) == ("changed", "from the image\n")


def test_an_image_that_cannot_be_had_is_told(said: dict[str, Any]) -> None:
    kind, text = said["No Image"]
    assert kind.endswith("ValidationError")
    assert "names no image" in text
    kind, text = said["localhost:9/nobody/is-there:1"]
    assert "localhost:9" in text, kind


@pytest.mark.root
@pytest.mark.skipif(os.geteuid() != 0, reason="needs root: files of several users are unpacked")
def test_users_and_profile_are_asked_for_and_told(said: dict[str, Any]) -> None:
    """By options and by a blueprint; a file keeps the owner that it has in the archive."""
    assert said["recipe"] == ["machine"] * 3
    assert said["strict"] == [["0", "1000", "0"], ["1000", "1000", "0"], "strict"]
    assert said["machine"] == said["blueprint"] == [["0", "1000", "7"], ["1000", "1000", "7"], "machine"]


def test_a_profile_that_cannot_be_had_is_told(said: dict[str, Any]) -> None:
    for given, text in (
        ("machine", "only sandboxes of an image"),
        ("other", "strict, machine"),
        ("1", "strict, machine"),
    ):
        kind, why = said[f"refused {given}"]
        assert kind == "SandboxValidationError"
        assert text in why
