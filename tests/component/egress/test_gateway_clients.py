"""Stock clients behind a gateway: git, pip, curl, npm, requests, and a client of the OpenAI interface."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import io
import json
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
from aiohttp import web
from gateway_world import CREDENTIAL, TOKEN, Handler, cgi, gateway_world, program

BASIC = "Basic " + base64.b64encode(f"x-access-token:{CREDENTIAL}".encode()).decode()


def needs(name: str) -> str:
    """The program; the test is left out where the machine has none."""
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"this machine has no {name}")
    return found


def guarded(handler: Handler, authorization: str) -> Handler:
    """An upstream that lets in only who shows this."""

    async def asked(request: web.Request) -> web.StreamResponse:
        if request.headers.get("authorization") != authorization:
            return web.Response(status=401, headers={"www-authenticate": 'Basic realm="upstream"'})
        return await handler(request)

    return asked


@pytest.fixture
def repositories(tmp_path: Path) -> Path:
    """A folder with the bare repository team/private.git, which has one commit."""
    needs("git")
    root, work = tmp_path / "repositories", tmp_path / "work"
    git = ("git", "-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "init.defaultBranch=main")
    for words in (("init", "--bare", f"{root}/team/private.git"), ("init", f"{work}")):
        subprocess.run([*git, *words], check=True, capture_output=True)
    (work / "README").write_text("private\n" * 1000)
    for words in (("add", "."), ("commit", "-m", "one"), ("push", f"{root}/team/private.git", "HEAD:main")):
        subprocess.run([*git, "-C", str(work), *words], check=True, capture_output=True)
    subprocess.run(["git", "-C", f"{root}/team/private.git", "config", "http.receivepack", "true"], check=True)
    return root


def git_server(root: Path) -> Handler:
    """`git http-backend` over the repositories of a folder."""
    path = subprocess.run(["git", "--exec-path"], check=True, capture_output=True, text=True).stdout.strip()
    backend = Path(path) / "git-http-backend"
    if not backend.exists():
        pytest.skip("this machine's git has no http-backend")

    async def serve(request: web.Request) -> web.StreamResponse:
        environment = {"GIT_PROJECT_ROOT": str(root), "GIT_HTTP_EXPORT_ALL": "1"}
        return await cgi(str(backend), request, environment)

    return serve


@pytest.mark.parametrize("how", ["header", "userinfo"])
async def test_git_clones_and_pushes(tmp_path: Path, repositories: Path, how: str) -> None:
    """A private repository over smart HTTP, by a header and by an address with the token as its password."""
    upstream = guarded(git_server(repositories), BASIC)
    home = tmp_path / "home"
    home.mkdir()
    env = {"GIT_TERMINAL_PROMPT": "0", "GIT_CONFIG_NOSYSTEM": "1"}
    name = ("-c", "user.name=b", "-c", "user.email=b@example.com")
    async with gateway_world(tmp_path, upstream, mechanism="git") as world:
        base, more = world.url, ("-c", f"http.extraHeader=Authorization: Bearer {TOKEN}")
        if how == "userinfo":
            base, more = world.url.replace("://", f"://x:{TOKEN}@"), ()
        status, said = await program("git", *more, "clone", f"{base}/team/private.git", "c", env=env, cwd=home)
        assert status == 0, said
        assert (home / "c" / "README").read_text() == "private\n" * 1000
        (home / "c" / "large").write_bytes(bytes(range(256)) * 8000)
        for words in (("add", "."), ("commit", "-m", "two"), ("push", "origin", "HEAD:main")):
            status, said = await program("git", *more, *name, "-C", "c", *words, env=env, cwd=home)
            assert status == 0, said
        shown = await program("git", "log", "--format=%s", "main", env=env, cwd=repositories / "team" / "private.git")
        assert shown == (0, "two\none\n")
        status, said = await program("git", "clone", f"{world.url}/team/private.git", "d", env=env, cwd=home)
        assert status != 0
        for path in home.rglob("*"):
            assert path.is_dir() or CREDENTIAL.encode() not in path.read_bytes(), path


async def test_git_may_read_only(tmp_path: Path, repositories: Path) -> None:
    """A rule denies what a push asks for."""
    upstream = guarded(git_server(repositories), BASIC)
    rules = [{"path": "/team/**"}, {"path": "/**/git-receive-pack", "deny": True}]
    home = tmp_path / "home"
    home.mkdir()
    env = {"GIT_TERMINAL_PROMPT": "0", "GIT_CONFIG_NOSYSTEM": "1"}
    more = ("-c", f"http.extraHeader=Authorization: Bearer {TOKEN}", "-c", "user.name=b", "-c", "user.email=b@e.com")
    async with gateway_world(tmp_path, upstream, mechanism="git", rules=rules) as world:
        status, said = await program("git", *more, "clone", f"{world.url}/team/private.git", "c", env=env, cwd=home)
        assert status == 0, said
        await program("git", *more, "-C", "c", "commit", "--allow-empty", "-m", "two", env=env, cwd=home)
        status, said = await program("git", *more, "-C", "c", "push", "origin", "HEAD:main", env=env, cwd=home)
        assert status != 0
        assert "403" in said, said


def wheel() -> bytes:
    """One of the distribution `gated`."""
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        archive.writestr("gated.py", "ANSWER = 42\n")
        archive.writestr("gated-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: gated\nVersion: 1.0\n")
        archive.writestr(
            "gated-1.0.dist-info/WHEEL",
            "Wheel-Version: 1.0\nGenerator: a\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        )
        archive.writestr("gated-1.0.dist-info/RECORD", "gated.py,,\ngated-1.0.dist-info/RECORD,,\n")
    return held.getvalue()


async def test_pip_installs(tmp_path: Path) -> None:
    """From a private index, with the token as the password of `--index-url`."""
    content = wheel()

    async def index(request: web.Request) -> web.Response:
        if request.path == "/pypi/simple/gated/":
            digest = hashlib.sha256(content).hexdigest()
            link = f'<a href="/pypi/files/gated-1.0-py3-none-any.whl#sha256={digest}">gated-1.0-py3-none-any.whl</a>'
            return web.Response(text=f"<html><body>{link}</body></html>", content_type="text/html")
        if request.path == "/pypi/files/gated-1.0-py3-none-any.whl":
            return web.Response(body=content)
        return web.Response(status=404)

    basic = "Basic " + base64.b64encode(f"ci:{CREDENTIAL}".encode()).decode()
    async with gateway_world(tmp_path, guarded(index, basic), mechanism="basic", username="ci") as world:
        base = world.url.replace("://", f"://x:{TOKEN}@")
        pip = (sys.executable, "-m", "pip", "--isolated", "--disable-pip-version-check", "--no-cache-dir")
        words = ("install", "--no-input", "--index-url", f"{base}/pypi/simple", "--target", "out", "gated")
        status, said = await program(*pip, *words, env={}, cwd=tmp_path)
        assert status == 0, said
        assert (tmp_path / "out" / "gated.py").read_text() == "ANSWER = 42\n"


async def test_curl(tmp_path: Path) -> None:
    """With a header, with -u, and a large body that it waits with."""
    curl = needs("curl")

    async def count(request: web.Request) -> web.Response:
        return web.Response(text=f"{request.method} {len(await request.read())}")

    async with gateway_world(tmp_path, guarded(count, f"Bearer {CREDENTIAL}")) as world:
        quiet = (curl, "-sS", "--noproxy", "*")
        asked = await program(*quiet, "-H", f"Authorization: Bearer {TOKEN}", f"{world.url}/x", env={}, cwd=tmp_path)
        assert asked == (0, "GET 0")
        (tmp_path / "body").write_bytes(b"x" * 1_000_000)
        sent = await program(
            *quiet, "-u", f"x:{TOKEN}", "--data-binary", "@body", f"{world.url}/x", env={}, cwd=tmp_path
        )
        assert sent == (0, "POST 1000000")
        chunked = await program(
            *quiet, "-u", f"x:{TOKEN}", "-T", "-", "-X", "PUT", f"{world.url}/x", env={}, cwd=tmp_path
        )
        assert chunked == (0, "PUT 0")


async def test_npm_installs_and_does_not_publish(tmp_path: Path) -> None:
    """A scoped package of a private registry, through a gateway that lets programs read alone. The same registry would
    take what is published: an address that is read from is one that is written to."""
    npm = needs("npm")
    held = io.BytesIO()
    with tarfile.open(fileobj=held, mode="w:gz") as archive:
        for name, text in (
            ("package.json", '{"name": "@team/gated", "version": "1.0.0"}'),
            ("index.js", "module.exports=42"),
        ):
            entry = tarfile.TarInfo(f"package/{name}")
            entry.size = len(text)
            archive.addfile(entry, io.BytesIO(text.encode()))
    content = held.getvalue()
    tarball = "/npm/@team/gated/-/gated-1.0.0.tgz"
    world_url = ""

    async def registry(request: web.Request) -> web.Response:
        if request.method == "PUT":
            return web.json_response({"ok": True}, status=201)
        if request.path == tarball:
            return web.Response(body=content)
        integrity = "sha512-" + base64.b64encode(hashlib.sha512(content).digest()).decode()
        dist = {"tarball": f"{world_url}{tarball.removeprefix('/npm')}", "integrity": integrity}
        version = {"name": "@team/gated", "version": "1.0.0", "dist": dist}
        return web.json_response(
            {"name": "@team/gated", "dist-tags": {"latest": "1.0.0"}, "versions": {"1.0.0": version}}
        )

    upstream = guarded(registry, f"Bearer {CREDENTIAL}")
    reads = [{"path": "/**", "methods": ["GET"]}]
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "package.json").write_text('{"name": "@team/stolen", "version": "2.0.0", "files": ["data"]}')
    (mine / "data").write_text("what a program wants out")
    publish = ("publish", "--no-update-notifier")

    async with gateway_world(tmp_path, upstream, path="/npm", rules=reads) as world:
        world_url = world.url
        home = tmp_path / "home"
        home.mkdir()
        (home / ".npmrc").write_text(
            f"@team:registry={world.url}/\n//127.0.0.1:{world.port}/:_authToken={TOKEN}\nnoproxy=127.0.0.1\n"
        )
        words = ("install", "--no-audit", "--no-fund", "--no-update-notifier", "@team/gated")
        status, said = await program(npm, *words, env={}, cwd=home)
        assert status == 0, said
        assert (home / "node_modules/@team/gated/index.js").read_text() == "module.exports=42"
        assert any("%2F" in seen.raw_path for seen in world.seen)
        (mine / ".npmrc").write_text((home / ".npmrc").read_text())
        status, said = await program(npm, *publish, env={}, cwd=mine)
        assert status != 0
        assert "403" in said, said
        assert all(seen.method == "GET" for seen in world.seen)

    async with gateway_world(tmp_path, upstream, path="/npm") as world:
        (mine / ".npmrc").write_text(f"@team:registry={world.url}/\n//127.0.0.1:{world.port}/:_authToken={TOKEN}\n")
        status, said = await program(npm, *publish, env={}, cwd=mine)
        assert (status, [seen.method for seen in world.seen if seen.method == "PUT"]) == (0, ["PUT"]), said


REQUESTS = """
import os, requests
session = requests.Session()
session.trust_env = False
headers = {"Authorization": f"Bearer {os.environ['UP']}"}
answer = session.post(os.environ["UP_URL"] + "/items", json={"a": 1}, headers=headers)
answer.raise_for_status()
print(answer.json()["got"], end="")
"""


async def test_requests(tmp_path: Path) -> None:
    """JSON there and back, by the two variables."""

    async def items(request: web.Request) -> web.Response:
        return web.json_response({"got": await request.json()})

    async with gateway_world(tmp_path, guarded(items, f"Bearer {CREDENTIAL}")) as world:
        env = {"UP": TOKEN, "UP_URL": world.url}
        assert await program(sys.executable, "-c", REQUESTS, env=env, cwd=tmp_path) == (0, "{'a': 1}")


async def test_a_client_of_the_openai_interface(tmp_path: Path) -> None:
    """What such a client sends for `base_url` and `api_key`: a POST with a bearer token, and events as the answer."""

    async def completions(request: web.Request) -> web.StreamResponse:
        assert request.path == "/v1/chat/completions"
        asked = await request.json()
        assert asked["stream"] is True
        answer = web.StreamResponse(headers={"content-type": "text/event-stream"})
        await answer.prepare(request)
        for word in ("a", "b"):
            await answer.write(f"data: {json.dumps({'choices': [{'delta': {'content': word}}]})}\n\n".encode())
        await answer.write(b"data: [DONE]\n\n")
        return answer

    async with gateway_world(tmp_path, guarded(completions, f"Bearer {CREDENTIAL}"), path="/v1") as world:
        asked = json.dumps({"model": "m", "stream": True, "messages": []}).encode()
        head = (
            f"POST /chat/completions HTTP/1.1\r\nhost: 127.0.0.1:{world.port}\r\naccept: application/json\r\n"
            f"authorization: Bearer {TOKEN}\r\ncontent-type: application/json\r\ncontent-length: {len(asked)}\r\n"
            "x-stainless-lang: python\r\naccept-encoding: gzip, deflate\r\nconnection: close\r\n\r\n"
        )
        said = await world.raw(head.encode() + asked, whole=False)
        assert said.startswith(b"HTTP/1.1 200 ")
        assert said.count(b"data: ") == 3
    await asyncio.sleep(0)
