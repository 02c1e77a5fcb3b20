"""Gateways of real sandboxes: stock clients inside, an upstream with TLS outside, and nowhere a credential."""

from __future__ import annotations

import asyncio
import os
import re
import socket
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import pytest_asyncio
from aiohttp import web
from gateway_world import CREDENTIAL, tls_upstream

from harena.core import settings
from harena.core.errors import NotFoundError, SandboxValidationError, ValidationError
from harena.core.gateways import read_gateways
from harena.core.models import ExecRequest, SandboxSpec
from harena.core.secrets import OpenSecret
from harena.node.gateways import NodeGateways
from harena.runtime.host.box import LinuxSandbox
from harena.runtime.host.linux import LinuxRuntime

pytestmark = pytest.mark.asyncio(loop_scope="function")


@dataclass
class World:
    """A runtime whose sandboxes may have gateways to an upstream on loopback."""

    runtime: LinuxRuntime
    port: int

    async def sandbox(self, *names: str, secret: str = "KNOWN") -> LinuxSandbox:
        """A sandbox with these gateways."""
        given = {name: {"url": f"https://127.0.0.1:{self.port}/api", "secret": secret} for name in names}
        made = await self.runtime.create(SandboxSpec(gateways=read_gateways(given)))
        assert isinstance(made, LinuxSandbox)
        return made


async def run(sandbox: LinuxSandbox, program: str) -> str:
    """What a Python program writes."""
    running = await sandbox.exec(ExecRequest(argv=("python3", "-c", program)))
    result = await running.wait()
    assert result.returncode == 0, result.stderr
    return result.stdout.decode()


@pytest_asyncio.fixture(loop_scope="function")
async def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[World]:
    """With one secret, KNOWN."""

    async def who(request: web.Request) -> web.Response:
        good = request.headers.get("authorization") == f"Bearer {CREDENTIAL}"
        told = f"{request.headers.get('authorization')} {(await request.read()).decode()}"
        return web.Response(status=200 if good else 403, text=told)

    async def opened(workspace: str, name: str) -> OpenSecret:
        if name != "KNOWN":
            raise NotFoundError(f"no secret {name}")
        return OpenSecret(name=name, value=CREDENTIAL, hosts=(f"127.0.0.1:{port}",))

    async with tls_upstream(tmp_path, who) as (port, certificate):
        monkeypatch.setenv(settings.GATEWAY_NETWORKS.name, "127.0.0.0/8")
        monkeypatch.setenv(settings.GATEWAY_CA_FILE.name, str(certificate))
        gateways = NodeGateways()
        gateways.open_with(opened)
        runtime = LinuxRuntime(home=tmp_path, gateways=gateways)
        await runtime.start()
        try:
            yield World(runtime, port)
        finally:
            await runtime.close()


ASK = """
import os, urllib.request
asked = urllib.request.Request(os.environ["{0}_URL"] + "/x", data=b"body", headers={{"Authorization": "Bearer " + {1}}})
try:
    with urllib.request.urlopen(asked) as answer:
        print(answer.status, answer.read().decode(), end="")
except urllib.error.HTTPError as error:
    print(error.code, error.read().decode(), end="")
"""

SCAN = """
import glob, os

FIRST, SECOND = (half.encode() for half in {halves})

def has(content):
    # the two halves, one behind the other: this program itself never joins them
    place = content.find(FIRST)
    while place >= 0:
        if content.startswith(SECOND, place + len(FIRST)):
            return True
        place = content.find(FIRST, place + 1)
    return False

def looked(path):
    try:
        with open(path, "rb") as file:
            return has(file.read(1 << 20))
    except OSError:
        return False

found = {{name for name in ("environ", "cmdline") for path in glob.glob(f"/proc/[0-9]*/{{name}}") if looked(path)}}
for line in open("/proc/self/maps"):
    span, rights, *rest = line.split()
    begin, end = (int(part, 16) for part in span.split("-"))
    try:
        with open("/proc/self/mem", "rb", 0) as memory:
            memory.seek(begin)
            if "r" in rights and has(memory.read(end - begin)):
                found.add("memory")
    except (OSError, OverflowError, ValueError):
        pass
for root in ("/etc", "/tmp", "/workspace", "/root", "/home", "/run", "/var", "/dev/shm"):
    for folder, _, names in os.walk(root):
        places = (os.path.join(folder, name) for name in names)
        found |= {{"file" for place in places if os.path.isfile(place) and looked(place)}}
print(*sorted(found), end="")
"""


def scan(text: str) -> str:
    """A program that says where it finds this text: in variables and arguments of all processes, in its own memory, in
    files."""
    return SCAN.format(halves=[text[:9], text[9:]])


async def test_a_program_has_a_token_and_no_credential(world: World) -> None:
    """It is let in by the upstream; what that repeats of the credential is masked; the log says what was asked."""
    sandbox = await world.sandbox("UP")
    said = await run(sandbox, ASK.format("UP", 'os.environ["UP"]'))
    assert said == f"200 Bearer {'*' * len(CREDENTIAL)} body"
    token = await run(sandbox, 'import os; print(os.environ["UP"], end="")')
    assert token.startswith("hgt_")
    log = await sandbox.gateway_log()
    assert [(entry.gateway, entry.method, entry.path, entry.status) for entry in log.entries] == [
        ("UP", "POST", "/x", 200)
    ]
    assert token not in repr(log)
    assert CREDENTIAL not in repr(log)


async def test_where_the_token_and_the_credential_are_found(world: World) -> None:
    """The token in the environment of programs, and in memory of theirs that comes from there; the credential nowhere:
    not in /proc, in memory, in files."""
    sandbox = await world.sandbox("UP")
    await run(sandbox, ASK.format("UP", 'os.environ["UP"]'))
    assert await run(sandbox, scan(CREDENTIAL)) == ""
    token = await run(sandbox, 'import os; print(os.environ["UP"], end="")')
    assert await run(sandbox, scan(token)) == "environ memory"


async def test_tokens_are_bound_to_their_sandbox(world: World) -> None:
    """One of another sandbox, or of another gateway, gets 401; others go on when a sandbox has ended."""
    one, two = await world.sandbox("UP", "ALSO"), await world.sandbox("UP")
    first, also = [await run(one, f'import os; print(os.environ["{name}"], end="")') for name in ("UP", "ALSO")]
    assert first != also
    for sandbox, token in ((two, first), (one, also)):
        said = await run(sandbox, ASK.format("UP", repr(token)))
        assert said.startswith("401 harena gateway UP: the token is not the one"), said
    assert (await run(one, ASK.format("ALSO", 'os.environ["ALSO"]'))).startswith("200 ")
    await one.destroy()
    assert (await run(two, ASK.format("UP", 'os.environ["UP"]'))).startswith("200 ")


async def test_what_a_sandbox_with_a_gateway_reaches(world: World) -> None:
    """Nothing but its gateways: not the upstream itself, and nothing of the host's."""
    sandbox = await world.sandbox("UP")
    with socket.create_server(("127.0.0.1", 0)) as host:
        ports = (world.port, host.getsockname()[1], 3128, 53, 3131)
        program = (
            "import socket\n"
            f"for port in {ports}:\n"
            "    try:\n"
            "        socket.create_connection(('127.0.0.1', port), 2)\n"
            "        print('reached', port)\n"
            "    except OSError:\n"
            "        pass\n"
        )
        assert await run(sandbox, program) == ""


async def test_secrets_that_are_missing_or_for_others(world: World) -> None:
    """No sandbox is made."""
    with pytest.raises(NotFoundError):
        await world.sandbox("UP", secret="UNKNOWN")
    given = {"UP": {"url": "https://evil.example", "secret": "KNOWN"}}
    with pytest.raises(ValidationError, match="may not be sent"):
        await world.runtime.create(SandboxSpec(gateways=read_gateways(given)))
    without = await world.runtime.create(SandboxSpec())
    assert isinstance(without, LinuxSandbox)
    with pytest.raises(SandboxValidationError, match="without gateways"):
        await without.gateway_log()


WHOLE = """
import sys, harena
from harena import Sandbox
port = int(sys.argv[1])
harena.secrets.set("KNOWN", sys.stdin.read(), hosts=[f"127.0.0.1:{port}"])
gateway = {"url": f"https://127.0.0.1:{port}/api", "secret": "KNOWN", "rules": [{"path": "/x"}]}
with Sandbox.run(gateways={"UP": gateway}) as sandbox:
    print(sandbox.exec(["python3", "-c", sys.argv[2]]).result().stdout)
    print(sandbox.exec(["python3", "-c", sys.argv[2].replace("/x", "/y")]).result().stdout)
    log = sandbox.gateway_log().result()
    print([(entry.path, entry.status) for entry in log.entries])
harena.blueprints.create("with-gateway", gateways={"UP": gateway})
with Sandbox.run(blueprint="with-gateway") as sandbox:
    print("blueprint", sandbox.exec(["python3", "-c", sys.argv[2]]).result().stdout)
with Sandbox.run(blueprint="with-gateway", gateways={}, network="none") as sandbox:
    print("without", "UP" in sandbox.exec(["env"]).result().stdout)
harena.secrets.delete("KNOWN")
try:
    with Sandbox.run(gateways={"UP": gateway}) as sandbox:
        sandbox.exec(["true"]).result()
except harena.NotFoundError as error:
    print(error)
"""


@pytest.mark.parametrize("served", [False, True], ids=["embedded", "server"])
async def test_the_whole_road(tmp_path: Path, served: bool) -> None:
    """A secret is set, a program uses it, a rule and the log hold, and without the secret there is no sandbox; in one
    process, and by a server. The credential is in no file of harena's home."""

    async def who(request: web.Request) -> web.Response:
        return web.Response(text=f"{request.path} {request.headers['authorization'] == f'Bearer {CREDENTIAL}'}")

    home = tmp_path / "home"
    async with tls_upstream(tmp_path, who) as (port, certificate):
        env = {
            **os.environ,
            "HARENA_HOME": str(home),
            settings.GATEWAY_NETWORKS.name: "127.0.0.0/8",
            settings.GATEWAY_CA_FILE.name: str(certificate),
        }
        server = None
        try:
            if served:
                words = (sys.executable, "-m", "harena.cli.main", "serve", "--port", "0")
                server = await asyncio.create_subprocess_exec(
                    *words, env=env, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
                )
                assert server.stdout is not None
                line = b""
                while b"http://" not in line:
                    line = await server.stdout.readline()
                    assert line, "the server has ended"
                found = re.search(rb"http://127\.0\.0\.1:\d+", line)
                assert found is not None
                env["HARENA_BASE_URL"] = found[0].decode()
            ask = ASK.format("UP", 'os.environ["UP"]')
            running = await asyncio.create_subprocess_exec(
                *(sys.executable, "-c", WHOLE, str(port), ask),
                env=env,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.STDOUT,
            )
            said, _ = await running.communicate(CREDENTIAL.encode())
        finally:
            if server is not None:
                server.terminate()
                await server.communicate()
    lines = said.decode().splitlines()
    assert lines[0] == "200 /api/x True", said.decode()
    assert lines[1].startswith("403 harena gateway UP: POST /y is not allowed by the rules")
    assert "[('/x', 200), ('/y', 403)]" in lines
    assert "blueprint 200 /api/x True" in lines
    assert "without False" in lines
    assert "no secret 'KNOWN'" in lines[-1]
    for path in home.rglob("*"):
        assert not path.is_file() or CREDENTIAL.encode() not in path.read_bytes(), path
