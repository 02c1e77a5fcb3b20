"""What surrounds the tests: a host with things worth having, a neighbour, and the leak check at each module's end."""

from __future__ import annotations

import gc
import os
import secrets
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from escape_world import IMAGE, MACHINE, NAMED, World, seen_owners

from footprint import Footprint, spawners, wait_nothing_below
from harena.egress.link import EgressLink
from harena.runtime.host.linux import LinuxRuntime
from image_trees import FolderImages, image_root, put_programs, put_python

END_SECONDS = 30.0


@pytest.fixture(scope="module", autouse=True)
def _leaves_nothing() -> Iterator[None]:
    """When a module has ended: no process, descriptor, mount or cgroup directory of its runtimes is left."""
    before = Footprint.take()
    owners: list[int] = []
    seen_owners.clear()
    yield
    owners += seen_owners
    wait_nothing_below(os.getpid(), END_SECONDS, spare=list(before.below))
    gc.collect()
    assert Footprint.take(owners=owners).beyond(before) == []


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """What there is to find on the host: a secret in a file, in an environment and in a process; listeners."""
    secret = "host-secret-" + secrets.token_hex(16)
    place = tmp_path_factory.mktemp("canary")
    (place / "secret").write_text(secret)
    (place / "secret").chmod(0o644)
    canary = subprocess.Popen(
        [sys.executable, "-c", "import time; time.sleep(100000)"], env={**os.environ, "CANARY": secret}
    )
    listener = socket.create_server(("127.0.0.1", 0))
    abstract = socket.socket(socket.AF_UNIX)
    abstract.bind("\0harena-escape-" + secrets.token_hex(4))
    abstract.listen()
    named = place.parent / (place.name + ".socket")
    path_socket = socket.socket(socket.AF_UNIX)
    path_socket.bind(str(named))
    path_socket.listen()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HARENA_ESCAPE_CANARY", secret)
        yield {
            "secret": secret,
            "file": str(place / "secret"),
            "socket": str(named),
            "canary": canary,
            "pid": canary.pid,
            "port": listener.getsockname()[1],
            "abstract": abstract.getsockname().decode(),
            "name": socket.gethostname(),
        }
    for each in (listener, abstract, path_socket):
        each.close()
    canary.kill()
    canary.wait()


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=["real", "warm", "image", MACHINE])
async def shared_world(
    request: pytest.FixtureRequest, host: dict[str, Any], tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[World]:
    """A runtime for one kind of exec; `image` is a real start in a sandbox whose root is made of an image's layers,
    `machine` one in such a sandbox of that profile."""
    images = None
    if request.param in ("image", "machine"):
        layer = tmp_path_factory.mktemp("layer")
        put_programs(layer)
        put_python(layer)
        images = FolderImages({IMAGE: image_root(layer)})
    egress = EgressLink(table={NAMED: [["127.0.0.1"]]}, times={"head": 5.0, "dial": 3.0, "idle": 10.0, "answer": 5.0})
    runtime = LinuxRuntime(home=tmp_path_factory.mktemp("home"), images=images, egress=egress)
    await runtime.start()
    seen_owners.extend(spawners(os.getpid()))
    try:
        yield World(runtime, request.param, dict(host), host["canary"], Path(host["file"]))
    finally:
        await runtime.close()


@pytest_asyncio.fixture(loop_scope="module")
async def world(shared_world: World) -> AsyncIterator[World]:
    """The world with a living neighbour. The sandboxes that the test made are destroyed at its end."""
    await shared_world.settle_neighbour()
    yield shared_world
    for sandbox in shared_world.opened:
        await sandbox.destroy()
    shared_world.opened.clear()
