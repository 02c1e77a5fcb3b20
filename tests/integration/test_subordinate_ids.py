"""An ordinary user's sandboxes of images: several users by newuidmap, and one user where that is missing."""

from __future__ import annotations

import json
import os
import pwd
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from test_unprivileged import END, NOBODY, PATIENCE, START, open_source, others_home, others_layer, python_of_others

__all__ = ["open_source", "others_home", "others_layer", "python_of_others"]  # fixtures

TOOLS = ("unshare", "setpriv", "mount")
pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root: it becomes another user and gives it ids and cgroups"),
    pytest.mark.skipif(not all(map(shutil.which, TOOLS)), reason=f"needs {', '.join(TOOLS)}"),
    pytest.mark.usefixtures("adopting"),
]
CGROUPS = Path("/sys/fs/cgroup")
FIRST, COUNT = 200_000, 65_536
USES = """
async def work(runtime, said):
    import contextlib
    from pathlib import Path
    from harena.core.records.images import ImageRoot
    class Images:
        async def root_of(self, workspace, reference):
            return ImageRoot(digest="sha256:x", layers=(Path(sys.argv[1]),), environment={}, workdir="/data", user="",
                             entrypoint=(), command=(), keeps_owners=False)
        def hold(self, workspace, digest):
            return contextlib.nullcontext()
    runtime._images = Images()
    strict = await runtime.create(SandboxSpec(image="any:1"))
    said["users"] = strict.enforcement["users"]
    said["map"] = (await run(strict, "cat", "/proc/self/uid_map"))[2].split()
    try:
        said["nobody"] = await run(strict, "sh", "-c", "id -u; echo x > /etc/motd || echo no", user="nobody")
    except HarenaError as error:
        said["nobody"] = str(error)
    try:
        machine = await runtime.create(SandboxSpec(image="any:1", profile="machine"))
    except HarenaError as error:
        said["machine"] = str(error)
        return
    script = "echo mine > f; chown 1000:33 f; chmod 600 f; stat -c %u:%g f"
    said["machine"] = await run(machine, "sh", "-c", script)
    said["1000"] = await run(machine, "sh", "-c", "cat f; id -u; chown 0 f || echo no", user="1000")
    said["33"] = await run(machine, "sh", "-c", "cat f || echo no", user="33")
    said["file"] = (await machine.read_file("/data/f", max_bytes=100)).decode()
    layer = await machine.upper_layer()
    about = os.stat("upper/data/f", dir_fd=layer.folder) if layer.folder >= 0 else None
    said["outside"] = [about.st_uid, about.st_gid]
    await layer.close()
"""


@pytest.fixture
def cgroups() -> Iterator[list[Path]]:
    """Cgroups of the ordinary user, below those of this process: what a login session or a unit gives it."""
    made: list[Path] = []
    try:
        for line in Path("/proc/self/cgroup").read_text().splitlines():
            _, controllers, path = line.split(":", 2)
            top = CGROUPS / controllers
            if controllers in ("cpuset", "name=systemd") or not (top / "cgroup.procs").exists():
                continue
            place = top / path.strip("/") / f"ordinary-{os.getpid()}"
            place.mkdir()
            made.append(place)
            for name in (place, *place.iterdir()):
                os.chown(name, NOBODY, NOBODY)
        if not any((place / "pids.max").exists() for place in made):
            pytest.skip("this process cannot give another one a cgroup that limits processes")
        yield made
    except OSError as error:
        pytest.skip(f"this process cannot give another one its own cgroups: {error}")
    finally:
        for place in made:
            for below in sorted(place.rglob("*/"), reverse=True):
                with suppress(OSError):
                    below.rmdir()
            place.rmdir()


@pytest.fixture
def as_owner_of_ids(
    cgroups: list[Path], others_layer: Path, open_source: Path, others_home: Path, python_of_others: str
) -> Callable[[str], Any]:
    """What the program says, run with a PATH by the ordinary user in these cgroups, whom /etc/subuid and /etc/subgid
    name."""
    program, ids = open_source / "program.py", open_source / "ids"
    program.write_text(START + USES + END)
    ids.write_text(f"{pwd.getpwuid(NOBODY).pw_name}:{FIRST}:{COUNT}\n")
    ids.chmod(0o644)
    script = (
        'for cgroup in $3; do echo $$ > "$cgroup/cgroup.procs" || exit 9; done\n'
        'mount --bind "$1" /etc/subuid && mount --bind "$1" /etc/subgid || exit 8\n'
        'exec setpriv --reuid "$2" --regid "$2" --clear-groups "$4" "$5" "$6"\n'
    )
    words = [str(ids), str(NOBODY), " ".join(map(str, cgroups)), python_of_others, str(program), str(others_layer)]

    def run(path: str) -> Any:
        process = subprocess.run(
            ["unshare", "--mount", "--propagation", "private", "sh", "-c", script, "sh", *words],
            cwd="/",
            env={"PATH": path, "PYTHONPATH": str(open_source), "HARENA_HOME": str(others_home), "HOME": "/nonexistent"},
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE,
        )
        assert process.returncode == 0, process.stderr
        return json.loads(process.stdout)

    return run


def test_a_range_of_ids_by_newuidmap(as_owner_of_ids: Callable[[str], Any]) -> None:
    """Files have owners of the range, users are kept from each other's, and `machine` can be had."""
    mappers = shutil.which("newuidmap")
    if mappers is None or shutil.which("newgidmap") is None:
        pytest.skip("newuidmap and newgidmap are not installed (Debian: apt-get install uidmap)")
    said = as_owner_of_ids(f"/usr/bin:/bin:/usr/sbin:/sbin:{os.path.dirname(mappers)}")
    assert said["users"] == f"{COUNT} ids, of the range in /etc/subuid", said
    assert said["map"] == ["0", "0", "1", "1", "1", str(COUNT - 1)]
    assert said["nobody"][2].split() == [str(NOBODY), "no"]
    assert said["machine"][2].split() == ["1000:33"], said["machine"]
    assert said["1000"][2].split() == ["mine", "1000", "no"], said["1000"]
    assert said["33"][2].split() == ["no"], said["33"]
    assert said["file"] == "mine\n"
    assert said["outside"] == [FIRST + 999, FIRST + 32]


def test_one_user_without_newuidmap(as_owner_of_ids: Callable[[str], Any], open_source: Path) -> None:
    """It is root, and what it lacks is said with how to get it."""
    bare = open_source / "bin"
    bare.mkdir()
    said = as_owner_of_ids(_without_mappers(bare))
    assert said["users"].startswith("one id: newuidmap and newgidmap are not there; install")
    assert said["map"][-1] == "1"
    assert "newuidmap" in said["nobody"]
    assert "needs several users" in said["machine"]
    assert "newuidmap" in said["machine"]


def _without_mappers(folder: Path) -> str:
    """A PATH with what the program needs."""
    for name in (*TOOLS, "sh", "cat", "echo"):
        found = shutil.which(name)
        assert found is not None, name
        (folder / name).symlink_to(found)
    return str(folder)
