"""Snapshots and forks of sandboxes, with the SDK as users have it, over an embedded node."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from image_trees import archive_of, put_programs, put_python

USES = """
import asyncio, json, os, sys
import harena
from harena import HarenaError, Limits, Sandbox, snapshots

IMAGE = "localhost/tools:1"
said = {}

def tells(sandbox, script):
    result = sandbox.exec(["sh", "-c", script]).result()
    assert result.returncode == 0, result.stderr
    return result.stdout

def refused(work):
    try:
        work()
    except HarenaError as error:
        return [type(error).__name__, error.reason, str(error)]

harena.images.import_archive(IMAGE, sys.argv[1])
with Sandbox.run(container_image=IMAGE, environment_variables={"WORD": "x"}, limits={"pids": 40}) as first:
    tells(first, "echo one > /data/one; echo changed > /etc/motd; (while :; do echo . >> /data/ticks; done) &"
                 " while [ ! -e /data/ticks ]; do :; done")
    taken = first.snapshot(name="one").result()
    ticks = int(tells(first, "stat -c %s /data/ticks"))
    while int(tells(first, "stat -c %s /data/ticks")) == ticks: pass
    said["taken"] = [taken.name, taken.parent, taken.image, taken.layers, taken.files > 3, taken.size_bytes > 0]
    said["again"] = refused(lambda: first.snapshot(name="one").result())
    said["wrong name"] = refused(lambda: first.snapshot(name="a/b").result())
    forks = first.fork(3).result()
    for number, fork in enumerate(forks):
        tells(fork, f"echo {number} > /data/mine")
    said["too many forks"] = refused(lambda: first.fork(1001))
    said["forks"] = [tells(fork, "cat /data/one /data/mine; echo $WORD").split() for fork in forks]
    said["limits"] = [fork.info.limits.pids for fork in forks]
    said["first"] = tells(first, "ls /data")
    for fork in forks: fork.stop().result()
    said["left after a fork"] = [one.name for one in snapshots.list()]
    first.stop(snapshot_on_stop="end").result()
    said["stopped"] = str(first.get_status())
    said["dead"] = refused(lambda: Sandbox.from_id(first.sandbox_id).result().snapshot().result())
with Sandbox.run(snapshot="one") as second:
    said["restored"] = tells(second, "cat /etc/motd; ls /data")
    tells(second, "rm /data/one; echo two > /data/two")
    child = second.snapshot(name="two").result()
    said["child"] = [child.parent == taken.id, child.image, child.layers]
snapshots.export_archive("two", "two.tar")
harena.images.import_archive("localhost/again:1", "two.tar")
with Sandbox.run(container_image="localhost/again:1") as imported:
    said["imported"] = tells(imported, "cat /etc/motd /data/two; ls /data")
harena.images.delete("localhost/again:1")
said["exported again"] = refused(lambda: snapshots.export_archive("two", "two.tar"))
said["exported unknown"] = refused(lambda: snapshots.export_archive("nobody", "nobody.tar"))
said["half"] = [name for name in os.listdir() if "nobody" in name]
with Sandbox.run(snapshot=child) as third:
    said["third"] = tells(third, "ls /data")
    third.snapshot(ttl_seconds=1000).result()
    harena.snapshots.delete("two")
    said["deleted under its sandbox"] = tells(third, "cat /data/two")
    said["in use"] = [[one.name, one.in_use] for one in snapshots.list()]
with Sandbox.run(snapshot="one", limits={"pids": 40}) as quiet:
    tells(quiet, "echo kept > /data/kept; echo changed > /data/one")
    moment = quiet.snapshot(in_memory=True).result()
    tells(quiet, "echo later > /data/later; echo later > /data/one")
    with Sandbox.run(snapshot=moment) as begun:
        said["moment"] = [tells(begun, "cat /data/one; ls /data"), tells(quiet, "cat /data/one"), moment.digest]
    said["in no list"] = moment.id in [one.id for one in snapshots.list()]
    snapshots.delete(moment.id)
    said["gone"] = refused(lambda: Sandbox.run(snapshot=moment).wait())
    said["moment with a name"] = refused(lambda: quiet.snapshot(name="x", in_memory=True).result())
    forks = quiet.fork(2).result()
    said["forks of the quiet"] = [tells(fork, "cat /data/one") for fork in forks]
    for fork in forks: fork.stop().result()

async def branches():
    from harena.training.data.prompts import PromptRow
    from harena.training.environments.sandbox import SandboxEnvironment
    def call(name, **given):
        return "<tool_call>" + json.dumps({"name": name, "arguments": given}) + "</tool_call>"
    first = SandboxEnvironment(container_image=IMAGE, answer_files=["a"], files={"a": "begin"})
    await first.reset(PromptRow(id="row", prompt="p"))
    await first.step(call("write_file", path="a", content="turn one"))
    forks = await first.fork(2)
    for number, fork in enumerate(forks):
        await fork.step(call("write_file", path="a", content=f"branch {number}"))
    answers = [(await one.answer())["files"]["a"] for one in (first, *forks)]
    for one in (first, *forks):
        await one.close()
    return answers

said["branches"] = asyncio.run(branches())
said["tree"] = [before + (one.name or "-" if one else "") for before, one in snapshots.lines_of_tree(snapshots.list())]
said["unknown"] = refused(lambda: Sandbox.run(snapshot="nobody").wait())
said["both"] = refused(lambda: Sandbox.run(snapshot="one", container_image=IMAGE))
harena.blueprints.create("of-snapshot", image="snapshot://one", env={"FROM": "blueprint"})
with Sandbox.run(blueprint="of-snapshot") as made:
    said["blueprint"] = tells(made, "cat /data/one; echo $FROM")
for one in snapshots.list(): snapshots.delete(one.id)
harena.blueprints.delete("of-snapshot")
def disk():
    return [len(os.listdir(os.path.join(os.environ["HARENA_HOME"], "images/default", place)))
            for place in ("layers", "images", "work", "blobs/sha256")]
while disk() != [1, 1, 0, 3]: harena.snapshots.list()
said["images kept"] = [one.reference for one in harena.images.list()]
said["disk"] = disk()
print(json.dumps(said))
"""


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("snapshots")
    put_programs(place / "tree")
    put_python(place / "tree")
    archive_of(place / "tree", place / "root.tar")
    return place / "root.tar"


def uses(program: str, *words: str, home: Path, **environment: str) -> dict[str, Any]:
    ended = subprocess.run(
        [sys.executable, "-c", program, *words],
        env={**os.environ, "HARENA_HOME": str(home), **environment},
        cwd=home,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    found: dict[str, Any] = json.loads(ended.stdout)
    return found


@pytest.fixture(scope="module")
def said(archive: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the program above has found."""
    return uses(USES, str(archive), home=tmp_path_factory.mktemp("home"))


def test_a_snapshot_of_a_sandbox_that_goes_on(said: dict[str, Any]) -> None:
    assert said["taken"] == ["one", None, "localhost/tools:1", 2, True, True]


def test_a_sandbox_begins_with_a_snapshot(said: dict[str, Any]) -> None:
    assert said["restored"] == "changed\none\nticks\n"
    assert said["child"] == [True, "localhost/tools:1", 3]
    assert said["third"] == "ticks\ntwo\n"
    assert said["blueprint"] == "one\nblueprint\n"


def test_a_snapshot_is_exported_and_imported(said: dict[str, Any]) -> None:
    """By its name; what is there is not written over, and an export that fails leaves no file."""
    assert said["imported"] == "changed\ntwo\nticks\ntwo\n"
    assert said["half"] == []


def test_forks_have_the_files_and_write_for_themselves(said: dict[str, Any]) -> None:
    assert said["forks"] == [["one", str(number), "x"] for number in range(3)]
    assert said["limits"] == [40, 40, 40]
    assert "mine" not in said["first"]
    assert said["left after a fork"] == ["one"]


def test_a_sandbox_begins_with_a_moment_of_another_one(said: dict[str, Any]) -> None:
    """A snapshot in memory is what was there when it was taken, is in no list, and goes when it is removed."""
    assert said["moment"] == ["changed\nkept\none\nticks\n", "later\n", ""]
    assert said["in no list"] is False
    assert said["forks of the quiet"] == ["later\n", "later\n"]


def test_rollouts_branch(said: dict[str, Any]) -> None:
    """Environments in forks of a sandbox go on from one turn, each for itself."""
    assert said["branches"] == ["turn one", "branch 0", "branch 1"]


def test_what_is_removed_stays_while_a_sandbox_has_it(said: dict[str, Any]) -> None:
    assert said["deleted under its sandbox"] == "two\n"
    assert dict(said["in use"])["end"] is False


def test_lineage_is_a_tree(said: dict[str, Any]) -> None:
    """The snapshot of one whose own is gone stands below the image."""
    assert said["tree"] == ["localhost/tools:1", "├── one", "├── end", "└── -"]


def test_a_snapshot_at_the_end(said: dict[str, Any]) -> None:
    assert "completed" in said["stopped"].lower()


@pytest.mark.parametrize(
    ("what", "error", "reason", "text"),
    [
        ("again", "ValidationError", "SNAPSHOT_NAME", "there is a snapshot called one"),
        ("wrong name", "ValidationError", None, "is no name of a snapshot"),
        ("dead", "SandboxTerminatedError", "SANDBOX_TERMINATED", "create a new one"),
        ("too many forks", "SandboxValidationError", None, "count must be a whole number from 0 to 1000"),
        ("unknown", "NotFoundError", "SNAPSHOT_NOT_FOUND", "has no snapshot 'nobody'"),
        ("exported again", "ValidationError", None, "is there: name a new file"),
        ("exported unknown", "NotFoundError", "SNAPSHOT_NOT_FOUND", "has no snapshot 'nobody'"),
        ("gone", "NotFoundError", "SNAPSHOT_NOT_FOUND", "has no snapshot 'snap_"),
        ("moment with a name", "ValidationError", None, "in no list, so it has no name"),
        ("both", "SandboxValidationError", None, "begins with one of them"),
    ],
)
def test_what_cannot_be_is_told(said: dict[str, Any], what: str, error: str, reason: str | None, text: str) -> None:
    assert said[what][:2] == [error, reason]
    assert text in said[what][2]


def test_the_disk_is_given_back(said: dict[str, Any]) -> None:
    assert said["images kept"] == ["localhost/tools:1"]
    assert said["disk"] == [1, 1, 0, 3]
