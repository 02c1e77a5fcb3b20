"""A registry on loopback that has one image of random files: `python -m benchmarks.registry FOLDER MEGABYTES` makes it,
prints its address, and serves it until its standard input ends."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import re
import sys
import tarfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

LAYERS = 4
FILE_BYTES = 64 * 1024
_MANIFEST, _CONFIG = "application/vnd.oci.image.manifest.v1+json", "application/vnd.oci.image.config.v1+json"
_LAYER = "application/vnd.oci.image.layer.v1.tar+gzip"
_PIECE = 1 << 20


def make(folder: Path, megabytes: int) -> str:
    """Write the image's blobs by their digests; gives that of its manifest. Half of each file can be compressed."""
    diff_ids, layers = [], []
    for number in range(LAYERS):
        tree, packed = hashlib.sha256(), folder / f"layer-{number}"
        with gzip.open(packed, "wb", compresslevel=1) as out:
            for piece in _tar(number, megabytes * (1 << 20) // LAYERS // FILE_BYTES):
                tree.update(piece)
                out.write(piece)
        with packed.open("rb") as content:
            digest = hashlib.file_digest(content, "sha256").hexdigest()
        layers.append({"mediaType": _LAYER, "digest": f"sha256:{digest}", "size": packed.stat().st_size})
        packed.rename(folder / digest)
        diff_ids.append(f"sha256:{tree.hexdigest()}")
    machine = {"x86_64": "amd64", "aarch64": "arm64"}.get(os.uname().machine, os.uname().machine)
    rootfs = {"type": "layers", "diff_ids": diff_ids}
    config = _kept(folder, {"os": "linux", "architecture": machine, "config": {}, "rootfs": rootfs})
    about = {"mediaType": _CONFIG, "digest": f"sha256:{config}", "size": (folder / config).stat().st_size}
    return _kept(folder, {"schemaVersion": 2, "mediaType": _MANIFEST, "config": about, "layers": layers})


def _kept(folder: Path, document: dict[str, Any]) -> str:
    content = json.dumps(document).encode()
    digest = hashlib.sha256(content).hexdigest()
    (folder / digest).write_bytes(content)
    return digest


def _tar(layer: int, files: int) -> Any:
    for number in range(files):
        member = tarfile.TarInfo(f"data/{layer}/{number % 100}/{number}")
        member.size = FILE_BYTES
        yield member.tobuf() + os.urandom(FILE_BYTES // 2) + bytes(FILE_BYTES // 2)
    yield io.BytesIO(bytes(2 * tarfile.BLOCKSIZE)).getvalue()


def serve(folder: Path, manifest: str) -> ThreadingHTTPServer:
    """A server of them, whatever the image is called."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            asked = re.fullmatch(r"/v2/[a-z]+/(manifests|blobs)/(?:sha256:)?(\w+)", self.path)
            name = (manifest if asked and asked[1] == "manifests" else asked[2]) if asked else ""
            size = (folder / name).stat().st_size if name else 2
            self.send_response(200)
            if asked and asked[1] == "manifests":
                self.send_header("content-type", _MANIFEST)
                self.send_header("docker-content-digest", f"sha256:{manifest}")
            self.send_header("content-length", str(size))
            self.end_headers()
            if self.command == "GET" and not name:
                self.wfile.write(b"{}")
            elif self.command == "GET":
                with (folder / name).open("rb") as content:
                    while piece := content.read(_PIECE):
                        self.wfile.write(piece)

        do_HEAD = do_GET  # noqa: N815 - the library looks for this name

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


if __name__ == "__main__":
    place = Path(sys.argv[1])
    print(f"localhost:{serve(place, make(place, int(sys.argv[2]))).server_address[1]}", flush=True)
    sys.stdin.read()
