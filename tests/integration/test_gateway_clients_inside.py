"""git, pip, curl and Python of one sandbox, each through a gateway of its own to one upstream with TLS."""

from __future__ import annotations

import base64
import hashlib
import io
import subprocess
import tarfile
import zipfile
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pip
import pytest
from aiohttp import web
from gateway_world import CREDENTIAL, cgi, tls_upstream

from harena.core import settings
from harena.core.gateways import read_gateways
from harena.core.models import ExecRequest, SandboxSpec
from harena.core.secrets import OpenSecret
from harena.node.gateways import NodeGateways
from harena.runtime.host.box import LinuxSandbox
from harena.runtime.host.linux import LinuxRuntime

pytestmark = pytest.mark.asyncio(loop_scope="function")

BACKEND = Path(subprocess.run(["git", "--exec-path"], capture_output=True, text=True, check=True).stdout.strip())


def repository(root: Path) -> None:
    """A bare repository team/private.git with one commit, which may be pushed to."""
    work, bare = root / "work", root / "team/private.git"
    git = ("git", "-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "init.defaultBranch=main")
    for words in (("init", "-q", "--bare", str(bare)), ("init", "-q", str(work))):
        subprocess.run([*git, *words], check=True)
    (work / "README").write_text("private\n")
    for words in (("add", "."), ("commit", "-qm", "one"), ("push", "-q", str(bare), "HEAD:main")):
        subprocess.run([*git, "-C", str(work), *words], check=True)
    subprocess.run(["git", "-C", str(bare), "config", "http.receivepack", "true"], check=True)


def pushed(bare: Path) -> list[str]:
    """Subjects of the commits of its branch main, the newest first."""
    words = ["git", "-C", str(bare), "log", "--format=%s", "main"]
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout.splitlines()


def wheel() -> bytes:
    """A package whose module says 42."""
    held, about = io.BytesIO(), "gated-1.0.dist-info"
    with zipfile.ZipFile(held, "w") as archive:
        archive.writestr("gated.py", "ANSWER = 42\n")
        archive.writestr(f"{about}/METADATA", "Metadata-Version: 2.1\nName: gated\nVersion: 1.0\n")
        archive.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{about}/RECORD", f"gated.py,,\n{about}/METADATA,,\n{about}/WHEEL,,\n{about}/RECORD,,\n")
    return held.getvalue()


def upstream(root: Path) -> Any:
    """A server of repositories, of an index and of an interface, each for whoever shows the credential as it wants
    it."""
    content, name = wheel(), "gated-1.0-py3-none-any.whl"

    def basic(user: str) -> str:
        return "Basic " + base64.b64encode(f"{user}:{CREDENTIAL}".encode()).decode()

    async def answer(request: web.Request) -> web.StreamResponse:
        shown = request.headers.get("authorization")
        kind = request.path.split("/")[1]
        wanted = {"git": basic("x-access-token"), "pypi": basic("ci"), "api": f"Bearer {CREDENTIAL}"}[kind]
        if shown != wanted:
            return web.Response(status=401, headers={"www-authenticate": 'Basic realm="upstream"'})
        if kind == "git":
            environment = {"GIT_PROJECT_ROOT": str(root / "served"), "GIT_HTTP_EXPORT_ALL": "1"}
            return await cgi(str(BACKEND / "git-http-backend"), request, environment)
        if kind == "api":
            return web.Response(text=f"{request.method} {len(await request.read())}")
        if request.path == "/pypi/simple/gated/":
            link = f'<a href="../../files/{name}#sha256={hashlib.sha256(content).hexdigest()}">{name}</a>'
            return web.Response(text=link, content_type="text/html")
        if request.path == f"/pypi/files/{name}":
            return web.Response(body=content)
        return web.Response(status=404)

    return answer


async def test_git_pip_and_curl_of_one_sandbox(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A clone, a push, an installation and requests, as these programs are told on the page of gateways; without a
    network policy, and with no proxy that they could take instead."""
    (tmp_path / "repositories").mkdir()
    repository(tmp_path / "repositories")
    (tmp_path / "served/git").mkdir(parents=True)
    (tmp_path / "repositories/team").rename(tmp_path / "served/git/team")

    async def opened(_workspace: str, name: str) -> OpenSecret:
        return OpenSecret(name=name, value=CREDENTIAL, hosts=(f"127.0.0.1:{port}",))

    async with tls_upstream(tmp_path, upstream(tmp_path)) as (port, certificate):
        monkeypatch.setenv(settings.GATEWAY_NETWORKS.name, "127.0.0.0/8")
        monkeypatch.setenv(settings.GATEWAY_CA_FILE.name, str(certificate))
        gateways = NodeGateways()
        gateways.open_with(opened)
        runtime = LinuxRuntime(home=tmp_path, gateways=gateways)
        await runtime.start()
        base = f"https://127.0.0.1:{port}"
        given = {
            "GIT": {"url": f"{base}/git", "secret": "S", "mechanism": "git"},
            "PYPI": {"url": f"{base}/pypi", "secret": "S", "mechanism": "basic", "username": "ci"},
            "API": {"url": f"{base}/api", "secret": "S", "rules": [{"path": "/items"}]},
        }
        try:
            made = await runtime.create(SandboxSpec(gateways=read_gateways(given)))
            assert isinstance(made, LinuxSandbox)
            said = await used(made)
            log = await made.gateway_log()
            await made.destroy()
        finally:
            await runtime.close()
    assert said["cloned"] == "private\n"
    assert said["installed"] == "42\n"
    assert said["asked"] == ["GET 0", "POST 1000000", "403"]
    assert said["shown"] == "False\n"
    assert pushed(tmp_path / "served/git/team/private.git") == ["two", "one"]
    assert {entry.gateway for entry in log.entries} == {"GIT", "PYPI", "API"}
    assert [entry.path for entry in log.entries if entry.status == 403] == ["/closed"]


async def used(sandbox: LinuxSandbox) -> dict[str, Any]:
    """What the clients have said."""

    async def says(script: str) -> str:
        result = await (await sandbox.exec(ExecRequest(argv=("bash", "-c", script), cwd="/data"))).wait()
        assert result.returncode == 0, result.stderr.decode()
        return result.stdout.decode()

    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        folder = Path(pip.__file__).parent
        archive.add(folder, "pip", filter=lambda one: None if "__pycache__" in one.name else one)

    async def pieces() -> AsyncIterator[bytes]:
        yield packed.getvalue()

    await sandbox.make_dir("/data/lib")
    await sandbox.extract_archive("/data/lib", pieces())
    git = 'git -c "http.extraHeader=Authorization: Bearer $GIT" -c user.name=b -c user.email=b@example.com'
    await says(f"export GIT_TERMINAL_PROMPT=0; {git} clone -q $GIT_URL/team/private.git clone")
    await says(f"cd clone; echo more >> more; git add more; {git} commit -qm two; {git} push -q origin HEAD:main")
    index = "--index-url http://x:$PYPI@${PYPI_URL#http://}/simple"
    await says(f"PYTHONPATH=lib python3 -m pip install -q --no-cache-dir --no-input --target got {index} gated")
    curl = 'curl -sS -H "Authorization: Bearer $API"'
    many = "head -c 1000000 /dev/zero | " + curl + " --data-binary @- $API_URL/items"
    closed = f"{curl} -o /dev/null -w '%{{http_code}}' $API_URL/closed"
    halves = [CREDENTIAL[:9], CREDENTIAL[9:]]
    looked = (
        "import os\nfound = False\n"
        "for folder, _, names in os.walk('/data'):\n"
        "    for name in names:\n"
        "        path = os.path.join(folder, name)\n"
        f"        found |= os.path.isfile(path) and ''.join({halves}).encode() in open(path, 'rb').read()\n"
        "print(found)"
    )
    return {
        "cloned": await says("cat clone/README"),
        "installed": await says("PYTHONPATH=got python3 -c 'import gated; print(gated.ANSWER)'"),
        "asked": [await says(one) for one in (f"{curl} $API_URL/items", many, closed)],
        "shown": await says(f'python3 -c "{looked}"'),
    }
