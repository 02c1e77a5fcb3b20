"""Programs that people use, in sandboxes with a network: curl, git, pip, Python; by the proxy and without one."""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import tarfile
import threading
import zipfile
from collections.abc import AsyncIterator, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pip
import pytest
import pytest_asyncio

from harena.core.errors import HostUnsupportedError, SandboxValidationError
from harena.core.models import ExecRequest, SandboxSpec
from harena.core.network_policy import read_policy
from harena.core.ports import SandboxPort
from harena.core.records.blueprints import Blueprint
from harena.egress.link import EgressLink
from harena.runtime.host.linux import LinuxRuntime

pytestmark = pytest.mark.asyncio(loop_scope="module")

NAMES = {name: [["127.0.0.1"]] for name in ("pages.test", "git.test", "index.test", "other.test")}
BACKEND = Path(subprocess.run(["git", "--exec-path"], capture_output=True, text=True, check=True).stdout.strip())


class _Git(BaseHTTPRequestHandler):
    """`git http-backend` behind a server."""

    folder: Path

    def do_GET(self) -> None:
        path, _, query = self.path.partition("?")
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        environment = {
            **os.environ,
            "GIT_PROJECT_ROOT": str(self.folder),
            "GIT_HTTP_EXPORT_ALL": "1",
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "REQUEST_METHOD": self.command,
            "CONTENT_TYPE": self.headers.get("Content-Type", ""),
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
            "HTTP_GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
        }
        done = subprocess.run(
            [BACKEND / "git-http-backend"], input=body, capture_output=True, env=environment, check=True
        )
        head, _, content = done.stdout.partition(b"\r\n\r\n")
        lines = [line.split(": ", 1) for line in head.decode().split("\r\n")]
        self.send_response(int(dict(lines).get("Status", "200").split()[0]))
        for name, value in lines:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    do_POST = do_GET  # noqa: N815 - http.server's name

    def log_message(self, *_: Any) -> None: ...


class _Index(BaseHTTPRequestHandler):
    """A package index with one package."""

    wheel: Path

    def do_GET(self) -> None:
        if self.path == "/simple/tiny-thing/":
            content, kind = f'<a href="/files/{self.wheel.name}">{self.wheel.name}</a>'.encode(), "text/html"
        elif self.path == f"/files/{self.wheel.name}":
            content, kind = self.wheel.read_bytes(), "application/zip"
        else:
            content, kind = b"a page", "text/plain"
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: Any) -> None: ...


def serving(handler: type[BaseHTTPRequestHandler]) -> Iterator[int]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield server.server_address[1]
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture(scope="module")
def git_port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    place = tmp_path_factory.mktemp("git")
    work = place / "work"
    settings = ["-c", "user.name=t", "-c", "user.email=t@t", "-c", "init.defaultBranch=main"]
    subprocess.run(["git", *settings, "init", "-q", str(work)], check=True)
    (work / "hello.txt").write_text("from the repository")
    subprocess.run(["git", "-C", str(work), "add", "."], check=True)
    subprocess.run(["git", "-C", str(work), *settings, "commit", "-q", "-m", "one"], check=True)
    subprocess.run(["git", "clone", "-q", "--bare", str(work), str(place / "thing.git")], check=True)
    yield from serving(type("Git", (_Git,), {"folder": place}))


@pytest.fixture(scope="module")
def index_port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    wheel = tmp_path_factory.mktemp("index") / "tiny_thing-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("tiny_thing.py", "VALUE = 42\n")
        about = "tiny_thing-1.0.dist-info"
        archive.writestr(f"{about}/METADATA", "Metadata-Version: 2.1\nName: tiny-thing\nVersion: 1.0\n")
        archive.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{about}/RECORD", f"tiny_thing.py,,\n{about}/METADATA,,\n{about}/WHEEL,,\n{about}/RECORD,,\n")
    yield from serving(type("Index", (_Index,), {"wheel": wheel}))


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def runtime(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[LinuxRuntime]:
    runtime = LinuxRuntime(home=tmp_path_factory.mktemp("home"), egress=EgressLink(table=NAMES))
    await runtime.start()
    yield runtime
    await runtime.close()


async def made(runtime: LinuxRuntime, *allow: str, blueprint: Blueprint | None = None, **more: Any) -> SandboxPort:
    network = read_policy({"allow": [*allow, "127.0.0.1"], **more})
    return await runtime.create(SandboxSpec(network=network), blueprint)


async def says(sandbox: SandboxPort, script: str) -> str:
    result = await (await sandbox.exec(ExecRequest(argv=("bash", "-c", script), timeout_seconds=60))).wait()
    assert result.returncode == 0, (result.stdout, result.stderr)
    return result.stdout.decode()


needs_curl = pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")


@needs_curl
async def test_curl_by_the_proxy_and_without_one(runtime: LinuxRuntime, index_port: int) -> None:
    sandbox = await made(runtime, f"pages.test:{index_port}")
    url = f"http://pages.test:{index_port}/"
    assert await says(sandbox, f"curl -sS {url}") == "a page"
    assert await says(sandbox, f"curl -sS --noproxy '*' {url}") == "a page"
    refused = await says(sandbox, f"curl -sS http://other.test:{index_port}/")
    assert "other.test" in refused
    assert "set_network" in refused
    assert await says(sandbox, "curl -sS --noproxy '*' http://other.test/ 2>&1 || echo") != ""
    log = await sandbox.network_log()
    assert [entry.way for entry in log.entries if entry.allowed] == ["proxy", "direct"]
    assert {(entry.way, entry.host) for entry in log.entries if not entry.allowed} >= {("proxy", "other.test")}
    assert log.received_bytes > 2 * len("a page")
    later = await sandbox.network_log(after=log.entries[0].number, limit=1)
    assert [entry.number for entry in later.entries] == [2]
    await sandbox.destroy()


async def test_git_clones(runtime: LinuxRuntime, git_port: int) -> None:
    sandbox = await made(runtime, f"git.test:{git_port}")
    for way, folder in (("", "one"), ("env -u http_proxy -u HTTP_PROXY ", "two")):
        url = f"http://git.test:{git_port}/thing.git"
        assert await says(sandbox, f"cd /tmp && {way}git clone -q {url} {folder} && cat {folder}/hello.txt") == (
            "from the repository"
        )
    await sandbox.destroy()


async def test_pip_installs(runtime: LinuxRuntime, index_port: int) -> None:
    sandbox = await made(runtime, f"index.test:{index_port}")
    archive = Path(pip.__file__).parents[1]
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as tar:
        tar.add(archive / "pip", "pip", filter=lambda one: None if "__pycache__" in one.name else one)

    async def pieces() -> AsyncIterator[bytes]:
        yield packed.getvalue()

    await sandbox.make_dir("/data/lib")
    await sandbox.extract_archive("/data/lib", pieces())
    index = f"--index-url http://index.test:{index_port}/simple --trusted-host index.test"
    await says(sandbox, f"PYTHONPATH=/data/lib python3 -m pip install -q --target /data/got {index} tiny-thing")
    assert await says(sandbox, "PYTHONPATH=/data/got python3 -c 'import tiny_thing; print(tiny_thing.VALUE)'") == "42\n"
    await sandbox.destroy()


PYTHON = (
    "import urllib.request, sys\nprint(urllib.request.urlopen(sys.argv[1]).read().decode(), flush=True)\n"
    "opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))\n"
    "print(opener.open(sys.argv[1]).read().decode())"
)
KINDS = {
    "real": None,
    "warm": Blueprint(id="bp_warm", name="warm", warm=()),
    "imported": Blueprint(id="bp_json", name="json", warm=("json",)),
}


@pytest.mark.parametrize("kind", KINDS)
async def test_every_kind_of_launch_has_its_listeners(runtime: LinuxRuntime, index_port: int, kind: str) -> None:
    sandbox = await made(runtime, f"pages.test:{index_port}", blueprint=KINDS[kind])
    argv = ("python3", "-c", PYTHON, f"http://pages.test:{index_port}/")
    result = await (await sandbox.exec(ExecRequest(argv=argv, timeout_seconds=60))).wait()
    assert result.stdout == b"a page\na page\n", result.stderr
    assert result.warm == (kind != "real")
    await sandbox.destroy()


async def test_another_policy_while_it_runs(runtime: LinuxRuntime, index_port: int) -> None:
    sandbox = await made(runtime)
    ask = f"curl -sS -o /dev/null -w '%{{http_code}}' http://pages.test:{index_port}/"
    assert await says(sandbox, ask) == "403"
    await sandbox.set_network(read_policy({"allow": [f"pages.test:{index_port}", "127.0.0.1"]}))
    assert await says(sandbox, ask) == "200"
    await sandbox.set_network(read_policy("none"))
    assert await says(sandbox, ask) == "403"
    await sandbox.destroy()


async def test_with_the_proxy_only_services_may_have_the_ports(runtime: LinuxRuntime, index_port: int) -> None:
    sandbox = await made(runtime, f"pages.test:{index_port}", proxy_only=True)
    listening = "import socket; print(socket.create_server(('0.0.0.0', %d)).getsockname()[1])"
    assert await says(sandbox, f'python3 -c "{listening % index_port}"') == f"{index_port}\n"
    assert await says(sandbox, f"curl -sS http://pages.test:{index_port}/") == "a page"
    await sandbox.destroy()
    sandbox = await made(runtime, f"pages.test:{index_port}")
    assert "in use" in await says(sandbox, f'python3 -c "{listening % index_port}" 2>&1 || true')
    await sandbox.destroy()


async def test_a_runtime_that_serves_no_networks_says_so(tmp_path: Path) -> None:
    runtime = LinuxRuntime(home=tmp_path)
    await runtime.start()
    try:
        with pytest.raises(HostUnsupportedError, match="serves no networks"):
            await runtime.create(SandboxSpec(network=read_policy("open")))
        sandbox = await runtime.create(SandboxSpec())
        with pytest.raises(SandboxValidationError, match="without a network"):
            await sandbox.network_log()
    finally:
        await runtime.close()


async def test_sandboxes_made_ahead_have_the_policy_of_who_gets_them(runtime: LinuxRuntime, index_port: int) -> None:
    """They wait with their listeners, and nobody's policy."""
    for number in range(6):
        allowed = number % 2 == 0
        sandbox = await made(runtime, *([f"pages.test:{index_port}"] if allowed else [f"other.test:{index_port}"]))
        status = await says(sandbox, f"curl -sS -o /dev/null -w '%{{http_code}}' http://pages.test:{index_port}/")
        assert status == ("200" if allowed else "403")
        await sandbox.destroy()
