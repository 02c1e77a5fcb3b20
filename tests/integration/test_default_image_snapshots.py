"""Snapshots and forks of sandboxes of the default image: of the folders that can be written to there."""

from __future__ import annotations

from typing import Any

import pytest
from test_snapshots_and_forks import uses

USES = r"""
import json, os
from pathlib import Path
import harena
from harena import HarenaError, Sandbox, snapshots

said = {}

def tells(sandbox, script):
    result = sandbox.exec(["sh", "-c", script]).result()
    assert result.returncode == 0, result.stderr
    return result.stdout.split()

def refused(work):
    try:
        work()
    except HarenaError as error:
        return [type(error).__name__, error.reason, str(error)]

harena.blueprints.create("written", files={"/workspace/given": "given"}, env={"WORD": "w"})
with Sandbox.run(blueprint="written", limits={"pids": 40}) as first:
    tells(first, "echo mine > given; cd /data; mkdir a b; echo one > a/one; ln -s one a/link; ln a/one a/twin;"
                 " echo shut > b/shut; chmod 0 b/shut b; touch -d @1.25 a; echo r > /root/.r; chmod 0700 /tmp;"
                 " echo shm > /dev/shm/x; printf x > $(printf 'n\\377'); truncate -s 20M sparse;"
                 " head -c 2000000 /dev/urandom > /tmp/large; ln -s /proc/1/root/etc out; mkfifo /root/pipe;"
                 " python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind(\"/root/socket\")';"
                 " (while :; do echo . >> /tmp/ticks; done) & while [ ! -e /tmp/ticks ]; do :; done")
    forks = first.fork(2).result()
    for number, fork in enumerate(forks):
        tells(fork, f"echo {number} > /data/number")
    look = ("cat /workspace/given a/link number /root/.r; stat -c '%a %n' b /tmp; stat -c '%.9Y' a;"
            " chmod 700 b; stat -c %a b/shut; chmod 600 b/shut; cat b/shut; echo $WORD; ls /dev/shm; LC_ALL=C ls -b;"
            " [ $(stat -c %b sparse) -lt 100 ] && echo hole")
    said["forks"] = [tells(fork, f"cd /data; {look}") for fork in forks]
    said["links"] = tells(forks[0], "readlink /data/out; ls -A /root")
    said["limits"] = [fork.info.limits.pids for fork in forks]
    said["first"] = tells(first, "test -e /data/number || echo no")
    for fork in forks: fork.stop().result()
    said["left after a fork"] = [one.name for one in snapshots.list()]
    taken = first.snapshot(name="plain").result()
    said["left out"] = dict(taken.left_out)
with Sandbox.run(snapshot="plain") as begun:
    tells(begun, "python3 -c 'import json; json.dump([1], open(\"/data/a/two\", \"w\"))'")
    below = begun.snapshot(name="below").result()
    said["begun"] = [*tells(begun, "ls /data/a; cat /workspace/given"), below.image, below.layers,
                     begun.info.image_digest == taken.digest]
said["tree"] = [before + (one.name if one else "") for before, one in snapshots.lines_of_tree(snapshots.list())]
said["too much"] = refused(lambda: Sandbox.run(snapshot="plain", limits={"disk_bytes": 1 << 20}).wait())
said["machine"] = refused(lambda: Sandbox.run(snapshot="plain", profile="machine").wait())
with Sandbox.run() as shut:
    tells(shut, "chmod 0 /data")
    said["shut"] = refused(lambda: shut.snapshot().result())
harena.blueprints.create("on-plain", image="snapshot://plain", files={"/workspace/given": "anew"})
with Sandbox.run(blueprint="on-plain") as made:
    said["blueprint"] = tells(made, "cat /workspace/given /data/a/one")
Path("from").mkdir()
Path("from/Dockerfile").write_text("FROM snapshot://plain\nRUN true\n")
said["build"] = refused(lambda: harena.images.build("from"))
snapshots.export_archive("below", "below.tar")
harena.images.import_archive("localhost/files:1", "below.tar")
with Sandbox.run(container_image="localhost/files:1") as files:
    said["exported"] = sorted(Path(one.path).name for one in files.list_files("/data/a").result())
print(json.dumps(said))
"""


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the program above has found."""
    return uses(USES, home=tmp_path_factory.mktemp("home"))


def test_forks_have_the_files(said: dict[str, Any]) -> None:
    """A blueprint's files are what the sandbox had made of them. Links, rights, times, holes and names are kept."""
    for number, fork in enumerate(said["forks"]):
        seen = ["mine", "one", str(number), "r", "0", "b", "700", "/tmp", "1.250000000", "0", "shut", "w"]
        assert fork == [*seen, "a", "b", "number", r"n\377", "out", "sparse", "hole"]
    assert said["limits"] == [40, 40]
    assert said["first"] == ["no"]
    assert said["left after a fork"] == []


def test_a_snapshot_of_the_default_image_leads_nowhere(said: dict[str, Any]) -> None:
    """A link is one in the fork; pipes and sockets are not there, and hold nothing up."""
    assert said["links"] == ["/proc/1/root/etc", ".r"]
    assert said["left out"] == {"sockets": 1}


def test_a_sandbox_begins_with_a_snapshot(said: dict[str, Any]) -> None:
    """It is one of the default image, its own snapshot lies below the first one, and a blueprint may begin so."""
    assert said["begun"] == ["link", "one", "twin", "two", "mine", "default", 1, True]
    assert said["tree"] == ["default", "└── plain", "    └── below"]
    assert said["blueprint"] == ["anewone"]


def test_an_exported_snapshot_has_the_files_alone(said: dict[str, Any]) -> None:
    assert said["exported"] == ["link", "one", "twin", "two"]


@pytest.mark.parametrize(
    ("what", "error", "reason", "text"),
    [
        ("build", "ImageBuildError", "DOCKERFILE", "nothing can be built on it"),
        ("machine", "SandboxValidationError", None, "name an image"),
        ("too much", "SandboxStartError", None, "No space left"),
        ("shut", "SandboxFileError", "PERMISSION_DENIED", "/data: "),
    ],
)
def test_what_cannot_be_is_told(said: dict[str, Any], what: str, error: str, reason: str | None, text: str) -> None:
    assert said[what][:2] == [error, reason]
    assert text in said[what][2]
