"""Sandboxes of images that have several users: whose the files are, and which ids of the host stand for them."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from harena.core.models import ExecOutcome, ExecRequest, SandboxSpec
from harena.core.ports import SandboxPort
from harena.runtime.host.linux import LinuxRuntime
from harena.testing.footprint import descendants, spawners
from image_trees import FolderImages, image_root, put_programs

pytestmark = [
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root: files of several users are made"),
]
IDS = 65_536
FIRST_RANGE = 4_000_000_000
OWNERS = {"web": 33, "app": 1000, "last": IDS - 1, "outside": IDS, "far": 200_000}


@pytest.fixture(scope="module")
def layer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Programs, and files of several users."""
    layer = tmp_path_factory.mktemp("layer")
    put_programs(layer)
    (layer / "srv").mkdir()
    for name, owner in OWNERS.items():
        (layer / "srv" / name).write_text(name)
        os.chown(layer / "srv" / name, owner, owner)
        (layer / "srv" / name).chmod(0o644)
    (layer / "srv/secret").write_text("secret")
    (layer / "srv/secret").chmod(0o600)
    os.chown(layer / "srv/secret", 1000, 1000)
    return layer


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def runtime(layer: Path, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[LinuxRuntime]:
    images = FolderImages({name: image_root(layer, digest=f"sha256:{name}") for name in ("one", "two")})
    runtime = LinuxRuntime(home=tmp_path_factory.mktemp("home"), images=images)
    await runtime.start()
    yield runtime
    await runtime.close()


async def run(sandbox: SandboxPort, script: str, **request: Any) -> str:
    """What a shell script says."""
    made = ExecRequest(argv=("sh", "-c", script), timeout_seconds=60, **request)
    result = await (await sandbox.exec(made)).wait()
    assert (result.outcome, result.returncode) == (ExecOutcome.EXITED, 0), result
    return result.stdout.decode()


async def test_files_have_the_owners_that_the_image_says(runtime: LinuxRuntime) -> None:
    sandbox = await runtime.create(SandboxSpec(image="one"))
    said = await run(sandbox, "cd /srv; for name in web app last outside far; do stat -c %u:%g $name; done")
    assert said.split() == ["33:33", "1000:1000", "65535:65535", "65534:65534", "65534:65534"]
    assert (await run(sandbox, "cat /proc/self/uid_map /proc/self/gid_map")).split() == ["0", "0", str(IDS)] * 2
    await sandbox.destroy()


async def test_a_program_without_rights_is_no_other_user(runtime: LinuxRuntime) -> None:
    """It is root without any capability, as in an image whose files are all of one user."""
    sandbox = await runtime.create(SandboxSpec(image="one"))
    refused = "for what in 'cat /srv/secret' 'chown 33 /etc' 'su nobody -s /bin/sh -c true'; do $what || echo no; done"
    assert (await run(sandbox, f"{refused} 2>/dev/null")).split() == ["no"] * 3
    assert await run(sandbox, "echo more >> /srv/app || echo no") == "no\n"
    await sandbox.destroy()


async def test_each_template_has_a_range_of_its_own(runtime: LinuxRuntime) -> None:
    made = [await runtime.create(SandboxSpec(image=name)) for name in ("one", "two")]
    assert {each.enforcement["users"] for each in made} == {"65536 ids, of a range of its own"}
    plain = await runtime.create(SandboxSpec())
    assert "users" not in plain.enforcement
    (spawner,) = spawners(os.getpid())
    maps = [
        Path(f"/proc/{entry.pid}/{kind}").read_text().split()
        for entry in descendants(spawner)
        if entry.parent == spawner
        for kind in ("uid_map", "gid_map")
    ]
    ranges = {int(first) for _, first, count in maps if int(count) == IDS}
    singles = {int(first) for _, first, count in maps if int(count) == 1}
    assert (len(ranges), len(singles), len(maps)) == (2, 1, 6)
    assert all(first % IDS == 0 and first > FIRST_RANGE for first in ranges)
    assert max(singles) < FIRST_RANGE
    for each in (*made, plain):
        await each.destroy()
