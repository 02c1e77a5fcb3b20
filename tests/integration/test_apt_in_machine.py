"""`apt-get install` in a sandbox of the profile `machine`, through the network that its policy allows and no other."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import AsyncIterator, Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from test_machine_profile import DPKG, make_package
from test_sandbox_network import serving

from harena.core.models import ExecRequest, SandboxSpec
from harena.core.network_policy import read_policy
from harena.egress.link import EgressLink
from harena.runtime.host.box import LinuxSandbox
from harena.runtime.host.linux import LinuxRuntime
from image_trees import FolderImages, image_root, put_dpkg_state, put_libraries, put_programs

pytestmark = [
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root: others have one id, mostly"),
    pytest.mark.skipif(
        not all(map(shutil.which, ("apt-get", "dpkg-deb", "dpkg-scanpackages"))), reason="apt and dpkg are not here"
    ),
]
METHODS = Path("/usr/lib/apt/methods")
SOURCES = "deb [trusted=yes] http://mirror.test:{0}/ ./\ndeb [trusted=yes] http://other.test:{0}/ ./\n"


class _Files(SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None: ...


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """A repository with a package and another one that it needs."""
    place = tmp_path_factory.mktemp("repository")
    make_package(place)
    (place / "more/DEBIAN").mkdir(parents=True)
    (place / "more/DEBIAN/control").write_text(
        "Package: server\nVersion: 2\nArchitecture: all\nDepends: served\nMaintainer: me <me@localhost>\n"
        "Description: server\n"
    )
    (place / "more/usr/bin").mkdir(parents=True)
    (place / "more/usr/bin/server").write_text("#!/bin/sh\ncat /usr/share/served/file\n")
    (place / "more/usr/bin/server").chmod(0o755)
    subprocess.run(["dpkg-deb", "-b", str(place / "more"), str(place / "server.deb")], check=True, capture_output=True)
    listed = subprocess.run(["dpkg-scanpackages", "."], cwd=place, check=True, capture_output=True, text=True)
    (place / "Packages").write_text(listed.stdout)
    for tree in ("tree", "more"):
        shutil.rmtree(place / tree)
    yield from serving(partial(_Files, directory=str(place)))  # type: ignore[arg-type]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def runtime(port: int, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[LinuxRuntime]:
    """With an image that has apt, and a user whom it becomes when it downloads."""
    layer = tmp_path_factory.mktemp("layer")
    put_programs(layer)
    put_programs(layer, (*DPKG, "apt-get", "apt-config", "sed", "sort"))
    for name in ("http", "store", "file", "copy", "gpgv"):
        (layer / "usr/lib/apt/methods").mkdir(parents=True, exist_ok=True)
        shutil.copy(METHODS / name, layer / "usr/lib/apt/methods")
        put_libraries(layer, METHODS / name)
    shutil.copytree("/usr/share/dpkg", layer / "usr/share/dpkg")
    put_dpkg_state(layer)
    for folder in ("var/lib/apt/lists/partial", "var/cache/apt/archives/partial", "var/log", "usr/sbin"):
        (layer / folder).mkdir(parents=True, exist_ok=True)
    for folder in ("etc/apt/apt.conf.d", "etc/apt/preferences.d"):
        (layer / folder).mkdir(parents=True, exist_ok=True)
    (layer / "etc/apt/sources.list").write_text(SOURCES.format(port))
    users = {"root": 0, "_apt": 42, "app": 1000}
    (layer / "etc/passwd").write_text("".join(f"{name}:x:{one}:{one}::/:/bin/sh\n" for name, one in users.items()))
    (layer / "etc/group").write_text("root:x:0:\nweb:x:33:\nnogroup:x:65534:\n")
    egress = EgressLink(table={name: [["127.0.0.1"]] for name in ("mirror.test", "other.test")})
    images = FolderImages({"apt": image_root(layer)})
    runtime = LinuxRuntime(home=tmp_path_factory.mktemp("home"), images=images, egress=egress)
    await runtime.start()
    yield runtime
    await runtime.close()


async def test_packages_are_installed_through_the_policy(runtime: LinuxRuntime, port: int) -> None:
    """With what they need, owners and scripts; the other mirror is refused and in the log."""
    network = read_policy({"allow": [f"mirror.test:{port}", "127.0.0.1"]})
    sandbox = await runtime.create(SandboxSpec(image="apt", profile="machine", network=network))
    assert isinstance(sandbox, LinuxSandbox)

    async def says(script: str) -> tuple[int | None, str]:
        result = await (await sandbox.exec(ExecRequest(argv=("sh", "-c", script), timeout_seconds=60))).wait()
        return result.returncode, result.stdout.decode() + result.stderr.decode()

    updated = await says("apt-get update")
    assert "other.test" in updated[1], updated
    installed = await says("apt-get install -y --no-install-recommends server && server")
    assert (installed[0], installed[1].splitlines()[-1]) == (0, "served"), installed
    assert await says("stat -c '%u:%g' /usr/share/served/file /var/lib/served") == (0, "33:33\n1000:33\n")
    assert "Removing server" in (await says("apt-get remove -y server"))[1]
    log = await sandbox.network_log(limit=100)
    assert {(entry.host, entry.allowed) for entry in log.entries} == {("mirror.test", True), ("other.test", False)}
    await sandbox.destroy()
