"""Registries on loopback, one real and one that can be told to fail, and images that are made here."""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import json
import re
import shutil
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from layer_tars import member, tar

from harena.image_store.manifests import this_platform

MANIFEST = "application/vnd.oci.image.manifest.v1+json"
INDEX = "application/vnd.oci.image.index.v1+json"
CONFIG = "application/vnd.oci.image.config.v1+json"
LAYER = "application/vnd.oci.image.layer.v1.tar"
USER, PASSWORD = "somebody", "secret"
HTPASSWD = f"{USER}:$2b$05$FdyJJ.1uUPL9ntrh24.1/e.Es4kF9CXBIsVQ.TBPq5.lvEWO0HuKG\n"


def needed(*programs: str) -> None:
    """Skip, and say what is missing, where a program is."""
    missing = [program for program in programs if shutil.which(program) is None]
    if missing:
        pytest.skip(f"images are not tested: {', '.join(missing)} missing (as root, `make test` installs them)")


def digest(content: bytes) -> str:
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


@dataclass
class Made:
    """An image, as its blobs."""

    manifest: bytes
    blobs: dict[str, bytes]
    """digest -> content, the manifest's too"""
    layers: list[str]
    """digests, the lowest first"""

    @property
    def digest(self) -> str:
        return digest(self.manifest)

    def layout(self, folder: Path) -> Path:
        """An OCI layout of it."""
        blobs = folder / "blobs/sha256"
        blobs.mkdir(parents=True)
        for name, content in self.blobs.items():
            (blobs / name.removeprefix("sha256:")).write_bytes(content)
        (folder / "oci-layout").write_text('{"imageLayoutVersion":"1.0.0"}')
        entry = {"mediaType": MANIFEST, "digest": self.digest, "size": len(self.manifest)}
        (folder / "index.json").write_text(json.dumps({"schemaVersion": 2, "manifests": [entry]}))
        return folder


def made(
    *layers: bytes, config: Mapping[str, Any] | None = None, diff_ids: Sequence[str] | None = None, plain: bool = False
) -> Made:
    """An image of these tar archives."""
    blobs = [layer if plain else gzip.compress(layer, 1, mtime=0) for layer in layers]
    system, _, architecture = this_platform().partition("/")
    told = {
        "os": system,
        "architecture": architecture,
        "created": "2026-01-02T03:04:05Z",
        "config": config or {},
        "rootfs": {"type": "layers", "diff_ids": [*(map(digest, layers) if diff_ids is None else diff_ids)]},
    }
    configuration = json.dumps(told).encode()
    manifest = {
        "schemaVersion": 2,
        "mediaType": MANIFEST,
        "config": {"mediaType": CONFIG, "digest": digest(configuration), "size": len(configuration)},
        "layers": [
            {"mediaType": LAYER + ("" if plain else "+gzip"), "digest": digest(blob), "size": len(blob)}
            for blob in blobs
        ],
    }
    content = json.dumps(manifest).encode()
    return Made(content, {digest(one): one for one in (configuration, content, *blobs)}, [*map(digest, blobs)])


def small(text: str = "hello", **more: Any) -> Made:
    """An image of one layer with one file."""
    return made(tar(member("etc/text", text.encode())), **more)


@dataclass
class FakeRegistry:
    """A registry whose answers a test can change. It keeps what it was asked for."""

    manifests: dict[str, bytes] = field(default_factory=dict)
    """"NAME/TAG or NAME/DIGEST" -> manifest or index"""
    blobs: dict[str, bytes] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    """paths, in the order in which they were asked for"""
    answer: Callable[[str], tuple[int, bytes] | None] = lambda path: None
    """a status and content in place of what there is"""
    headers: dict[str, str] = field(default_factory=dict)
    """of every answer, beside its own"""
    host: str = ""

    def put(self, name: str, tag: str, image: Made) -> None:
        self.manifests[f"{name}/{tag}"] = self.manifests[f"{name}/{image.digest}"] = image.manifest
        self.blobs |= image.blobs

    def blob_requests(self, name: str) -> int:
        return sum(path.endswith(f"/blobs/{name}") for path in self.asked)

    def found(self, path: str) -> tuple[int, bytes]:
        self.asked.append(path)
        if (changed := self.answer(path)) is not None:
            return changed
        if match := re.fullmatch(r"/v2/(.+)/manifests/(.+)", path):
            content = self.manifests.get(f"{match[1]}/{match[2]}")
        elif match := re.fullmatch(r"/v2/(.+)/blobs/(.+)", path):
            content = self.blobs.get(match[2])
        else:
            content = b"{}"
        if content is None:
            return 404, b'{"errors":[{"code":"MANIFEST_UNKNOWN","message":"manifest unknown"}]}'
        return 200, content


@contextlib.contextmanager
def fake_registry() -> Iterator[FakeRegistry]:
    """A registry in threads of this process."""
    registry = FakeRegistry()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            status, content = registry.found(self.path)
            self.send_response(status)
            if "/manifests/" in self.path and status == 200:
                kind = json.loads(content).get("mediaType", MANIFEST) if content.startswith(b"{") else MANIFEST
                self.send_header("content-type", kind)
                self.send_header("docker-content-digest", digest(content))
            for name, value in registry.headers.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            if self.command == "GET":
                with contextlib.suppress(OSError):  # the client has gone
                    self.wfile.write(content)

        do_HEAD = do_GET  # noqa: N815 - the library looks for this name

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    registry.host = f"localhost:{server.server_address[1]}"
    try:
        yield registry
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@contextlib.contextmanager
def real_registry(folder: Path, *, with_password: bool = False) -> Iterator[str]:
    """Debian's docker-registry; its host and port."""
    needed("docker-registry", "skopeo")
    auth = ""
    if with_password:
        (folder / "htpasswd").write_text(HTPASSWD)
        auth = f"auth: {{htpasswd: {{realm: here, path: {folder}/htpasswd}}}}\n"
    (folder / "config.yml").write_text(
        f"version: 0.1\nlog: {{level: info}}\nstorage: {{filesystem: {{rootdirectory: {folder}/kept}}}}\n"
        f"http: {{addr: 127.0.0.1:0}}\n{auth}"
    )
    process = subprocess.Popen(
        ["docker-registry", "serve", str(folder / "config.yml")],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stderr is not None
    try:
        for line in process.stderr:
            if match := re.search(r"listening on 127\.0\.0\.1:(\d+)", line):
                break
        else:
            raise AssertionError("docker-registry has not started")
        threading.Thread(target=process.stderr.read, daemon=True).start()  # else it would wait for a reader
        yield f"localhost:{match[1]}"
    finally:
        process.kill()
        process.wait()
        process.stderr.close()


def log_in(host: str, auth_file: Path) -> None:
    """Write the user and the password for a registry to a file."""
    subprocess.run(
        ["skopeo", "login", "--tls-verify=false", "--authfile", str(auth_file), "-u", USER, "-p", PASSWORD, host],
        check=True,
        stdout=subprocess.DEVNULL,
    )


def packed(folder: Path) -> bytes:
    """A folder as a tar archive, as people make one."""
    return subprocess.run(["tar", "-C", str(folder), "-c", "."], check=True, capture_output=True).stdout


def push(image: Made, folder: Path, target: str, *, password: bool = False) -> None:
    """To a real registry."""
    creds = ["--dest-creds", f"{USER}:{PASSWORD}"] if password else []
    subprocess.run(
        ["skopeo", "--insecure-policy", "copy", "--quiet", "--dest-tls-verify=false", "--preserve-digests", *creds,
         f"oci:{image.layout(folder)}", f"docker://{target}"],
        check=True,
    )  # fmt: skip
