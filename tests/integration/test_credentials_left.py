"""What a sandbox with a gateway leaves behind holds no credential: snapshots, archives of snapshots and images, what a
job says of its runs, and everything else below harena's home."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import io
import json
import os
import sys
import tarfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from gateway_world import CREDENTIAL, tls_upstream

from harena.core import settings
from image_trees import archive_of, put_programs, put_python

ASKS = """
import glob, os, urllib.request
asked = urllib.request.Request(os.environ["UP_URL"] + "/x", headers={"Authorization": "Bearer " + os.environ["UP"]})
with urllib.request.urlopen(asked) as answer:
    said = answer.read().decode()
print(answer.status, said)
os.makedirs("/data/seen", exist_ok=True)
with open("/data/seen/answer", "w") as file:
    file.write(said + str(answer.headers))
for number, path in enumerate(glob.glob("/proc/[0-9]*/environ") + glob.glob("/proc/[0-9]*/cmdline")):
    try:
        with open(path, "rb") as source, open("/data/seen/%d" % number, "wb") as file:
            file.write(source.read())
    except OSError:
        pass
"""
"""asks the upstream, which repeats the credential, and writes down what it is told and what it finds"""

USES = """
import json, sys
import harena
from harena import Sandbox, benchmark_jobs, snapshots

port, asks = int(sys.argv[1]), sys.argv[2]
said = {}
harena.secrets.set("KNOWN", sys.stdin.read(), hosts=[f"127.0.0.1:{port}"])
gateways = {"UP": {"url": f"https://127.0.0.1:{port}/api", "secret": "KNOWN"}}
harena.images.import_archive("localhost/py:1", "root.tar")
with Sandbox.run(container_image="localhost/py:1", gateways=gateways) as sandbox:
    said["asked"] = sandbox.exec(["python3", "-c", asks], check=True).result().stdout
    said["token"] = sandbox.exec(["sh", "-c", "echo $UP"], check=True).result().stdout.strip()
    sandbox.snapshot(name="taken").result()
    forks = sandbox.fork(1).result()
    said["forks"] = [one.exec(["python3", "-c", asks], check=True).result().stdout for one in forks]
    for one in forks:
        one.stop().result()
    said["log"] = [(one.path, one.status) for one in sandbox.gateway_log().result().entries]
    sandbox.stop(snapshot_on_stop="ended").result()
for name in ("taken", "ended"):
    snapshots.export_archive(name, f"{name}.tar")
    harena.images.import_archive(f"localhost/{name}:1", f"{name}.tar")
    harena.images.export_archive(f"localhost/{name}:1", f"{name}-again.tar", form="docker")
with Sandbox.run(snapshot="taken", gateways=gateways) as sandbox:
    said["from a snapshot"] = sandbox.exec(["python3", "-c", asks], check=True).result().stdout
    old = asks.replace('os.environ["UP"]', repr(said["token"]))
    said["old token"] = sandbox.exec(["python3", "-c", old]).result().stderr.strip().splitlines()[-1]
scenario = {
    "id": "asks",
    "candidate": asks + "\\nprint(dict(os.environ))",
    "scoring": {"type": "python", "source": "def score(run):\\n    return float(run.stdout.startswith('200'))\\n"},
    "gateways": gateways,
}
job = benchmark_jobs.create(name="asks", scenarios=[scenario])
results = benchmark_jobs.wait(job)
said["results"] = results.to_dict()
said["events"] = [event.to_dict() for event in benchmark_jobs.events(job)]
print(json.dumps(said))
"""


def forms(credential: str) -> list[bytes]:
    """How a credential may stand somewhere."""
    plain = credential.encode()
    encoded = {base64.b64encode(bytes(before) + plain)[before + bool(before) : -4] for before in range(3)}
    return sorted({plain, plain[::-1], plain.hex().encode(), *encoded})


def contents(path: Path) -> Iterator[tuple[str, bytes]]:
    """(where, content) of a file, and of what it holds where it is an archive or compressed."""
    content = path.read_bytes()
    yield str(path), content
    for wbits in (31, 15):
        try:
            unpacked = zlib.decompressobj(wbits).decompress(content)
        except zlib.error:
            continue
        yield f"{path} (unpacked)", unpacked
        content = unpacked if wbits == 31 else content
    try:
        with tarfile.open(fileobj=io.BytesIO(content)) as archive:
            for entry in archive:
                file = archive.extractfile(entry) if entry.isfile() else None
                if file is not None:
                    held = file.read()
                    yield f"{path}: {entry.name}", held
                    with contextlib.suppress(zlib.error):
                        yield f"{path}: {entry.name} (unpacked)", zlib.decompressobj(31).decompress(held)
    except tarfile.TarError:
        pass


@pytest.mark.asyncio(loop_scope="function")
async def test_what_is_left_has_no_credential(tmp_path: Path) -> None:
    """The program has an answer that repeats it, and writes down all that it sees. A token that lies in a snapshot is
    good for nobody: whoever begins with it has one of their own."""

    async def who(request: web.Request) -> web.Response:
        return web.Response(text=f"{request.headers.get('authorization')} {CREDENTIAL}", headers={"x-seen": CREDENTIAL})

    tree, work, home = tmp_path / "tree", tmp_path / "work", tmp_path / "home"
    work.mkdir()
    put_programs(tree)
    put_python(tree)
    archive_of(tree, work / "root.tar")
    async with tls_upstream(tmp_path, who) as (port, certificate):
        running = await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", USES, str(port), ASKS),
            env={
                **os.environ,
                "HARENA_HOME": str(home),
                settings.GATEWAY_NETWORKS.name: "127.0.0.0/8",
                settings.GATEWAY_CA_FILE.name: str(certificate),
            },
            cwd=work,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        out, err = await running.communicate(CREDENTIAL.encode())
    assert running.returncode == 0, err.decode()
    said: dict[str, Any] = json.loads(out)
    masked = "*" * len(CREDENTIAL)
    answer = f"200 Bearer {masked} {masked}\n"
    assert [said["asked"], *said["forks"], said["from a snapshot"]] == [answer] * 3
    assert "401" in said["old token"]
    assert [run["score"] for run in said["results"]["runs"]] == [1.0]
    assert ("/x", 200) in [tuple(entry) for entry in said["log"]]
    token = said["token"].encode()
    with_token: set[str] = set()
    looked = 0
    (work / "said").write_bytes(out + err)
    for path in [*home.rglob("*"), *work.rglob("*")]:
        if path.is_symlink() or not path.is_file():
            continue
        for where, content in contents(path):
            looked += 1
            assert not any(form in content for form in forms(CREDENTIAL)), where
            if token in content:
                with_token.add(where.removeprefix(f"{path.parent}/").partition(":")[0])
    assert looked > 100
    assert {
        "taken.tar",
        "ended.tar",
        "taken-again.tar",
        "ended-again.tar",
    } <= with_token  # what a program wrote is found


def test_forms_of_a_credential_are_found() -> None:
    """The search above would find them."""
    for held in (
        CREDENTIAL,
        base64.b64encode(f"x-access-token:{CREDENTIAL}".encode()).decode(),
        base64.b64encode(f"somebody:{CREDENTIAL}".encode()).decode(),
        CREDENTIAL.encode().hex(),
    ):
        assert any(form in held.encode() for form in forms(CREDENTIAL)), held
