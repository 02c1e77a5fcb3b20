"""Sandboxes of images beside those of the default image: made with a warm template, and the first one of a process."""

from __future__ import annotations

import asyncio
import io
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
from collections import defaultdict
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from benchmarks.figures import spread

PROGRAMS = ("sh", "true", "echo")
SMALL, LARGE = "localhost/small:1", "localhost/large:1"
DEFAULT = "default"
_FIRST = """
import sys, time
from harena import Sandbox

options = {} if sys.argv[1] == "default" else {"container_image": sys.argv[1]}
began = time.perf_counter()
Sandbox.run(**options).exec(["echo", "x"]).result()
print(time.perf_counter() - began, flush=True)
"""


def measure(*, count: int, first_count: int, megabytes: int) -> dict[str, Any]:
    """`count` sandboxes of each image in turn, and `first_count` fresh processes; the large image has `megabytes`."""
    times: dict[str, list[float]] = defaultdict(list)
    with tempfile.TemporaryDirectory(prefix="harena-images-") as home:
        took = asyncio.run(_made(Path(home), count, megabytes, times))
        for _ in range(first_count):
            for image in (DEFAULT, LARGE):
                times[f"first sandbox of a process: {image}"].append(_first(image, home))
    return {
        "count": count,
        "first_count": first_count,
        "megabytes": megabytes,
        "import_seconds": took,
        "rows": {label: spread(values) for label, values in times.items()},
    }


async def _made(home: Path, count: int, megabytes: int, times: dict[str, list[float]]) -> float:
    from harena.core.clock import SystemClock
    from harena.core.models import ExecRequest, SandboxSpec
    from harena.node.images import NodeImages
    from harena.runtime.host.linux import LinuxRuntime

    images = NodeImages(home / "images", SystemClock(), for_server=False)
    store = images.store(DEFAULT)
    await store.import_(DEFAULT, SMALL, _tree(0))
    began = time.perf_counter()
    await store.import_(DEFAULT, LARGE, _tree(megabytes))
    took = time.perf_counter() - began
    runtime = LinuxRuntime(images=images, home=home, pool_size=0)
    await runtime.start()
    for number in range(count + 1):
        for image in (DEFAULT, SMALL, LARGE):
            began = time.perf_counter()
            sandbox = await runtime.create(SandboxSpec(image=image))
            made = time.perf_counter()
            result = await (await sandbox.exec(ExecRequest(argv=("true",)))).wait()
            ran = time.perf_counter()
            await sandbox.destroy()
            if result.returncode != 0:
                raise RuntimeError(f"`true` ended with {result.returncode} in {image}: {result.stderr.decode()}")
            if number:  # the first one has begun the template
                times[f"create: {image}"].append(made - began)
                times[f"exec true: {image}"].append(ran - made)
                times[f"destroy: {image}"].append(time.perf_counter() - ran)
    await runtime.close()
    await images.close()
    return took


def _first(image: str, home: str) -> float:
    environment = {**os.environ, "HARENA_HOME": home}
    command = [sys.executable, "-c", _FIRST, image]
    said = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True)
    return float(said.stdout)


async def _tree(megabytes: int) -> AsyncIterator[bytes]:
    """A root file system with a few of this machine's programs, and so many files of a megabyte."""
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as tar:
        for path in sorted(_files()):
            tar.add(os.path.realpath(path), arcname=path.lstrip("/"))
    yield made.getvalue().rstrip(b"\0") + bytes(1024)
    content = os.urandom(1 << 20)
    for number in range(megabytes):
        member = tarfile.TarInfo(f"data/{number % 100}/{number}")
        member.size = len(content)
        yield member.tobuf() + content
    yield bytes(1024)


def _files() -> set[str]:
    found: set[str] = set()
    for program in PROGRAMS:
        path = shutil.which(program)
        if path is None:
            raise RuntimeError(f"this machine has no {program}")
        libraries = subprocess.run(["ldd", path], capture_output=True, text=True, check=False).stdout.split()
        found |= {f"/bin/{program}", *(word for word in libraries if word.startswith("/"))}
    return found


def render(results: dict[str, Any]) -> list[str]:
    """A markdown table with each row's multiple of the default image's, and how much longer it takes."""
    rows = results["rows"]
    lines = [
        f"{results['count']} sandboxes of each image in turn, without a pool, and {results['first_count']} fresh "
        f"processes; the large image has {results['megabytes']} MB, imported in {results['import_seconds']:.1f} s.",
        "",
        "| operation | p50 ms | p90 ms | p50 x default | p50 ms more |",
        "|---|---|---|---|---|",
    ]
    for label, row in rows.items():
        default = rows[f"{label.partition(': ')[0]}: {DEFAULT}"]["p50"]
        lines.append(
            f"| {label} | {row['p50'] * 1e3:.2f} | {row['p90'] * 1e3:.2f} | {row['p50'] / default:.2f} "
            f"| {(row['p50'] - default) * 1e3:.2f} |"
        )
    return lines
