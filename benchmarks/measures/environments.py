"""What environments of agents have to hold, side by side: images beside the default one, a pull beside skopeo and
umoci by hand, snapshots and forks beside new sandboxes, and a long chain of snapshots. Each row has its bar."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.figures import median
from benchmarks.measures import images, snapshots

_CHAIN = """
import sys, time
import harena
from harena import Sandbox

depth, archive = int(sys.argv[1]), sys.argv[2]
harena.images.import_archive("localhost/chain:1", archive)
options, begun = {"container_image": "localhost/chain:1"}, []
for number in range(depth):
    with Sandbox.run(**options) as sandbox:
        sandbox.write_file(f"/data/{number}", b"x").result()
        options = {"snapshot": sandbox.snapshot().result()}
    if number == 0:
        first = options
for _ in range(20):
    for which in (first, options):
        began = time.perf_counter()
        sandbox = Sandbox.run(**which).wait()
        begun.append(time.perf_counter() - began)
        if which is options:
            assert len(sandbox.list_files("/data").result()) == depth
        sandbox.stop().result()
print(sorted(begun[0::2])[10], sorted(begun[1::2])[10], flush=True)
"""
_CHAIN_BAR = 0.01
"""by how many seconds the last of a chain of snapshots may be slower to begin with than the first: up to 50 of its
layers lie above each other, and mounting them takes as long as there are"""
_PULL = "import sys, harena; harena.images.pull(sys.argv[1])"


def measure(*, count: int, first_count: int, megabytes: int, rounds: int, depth: int) -> dict[str, Any]:
    """`count` sandboxes of each image, `first_count` fresh processes, `rounds` of pulls and of snapshots, and a chain
    that is so deep."""
    made = images.measure(count=count, first_count=first_count, megabytes=megabytes)["rows"]
    taken = snapshots.measure(rounds=rounds)
    pulled = _pulled(megabytes, rounds)
    chained = _chained(depth)
    first = f"first sandbox of a process: {images.LARGE}", f"first sandbox of a process: {images.DEFAULT}"
    small = f"create: {images.SMALL}", f"create: {images.DEFAULT}"
    rows = taken["rows"]
    return {
        "count": count,
        "first_count": first_count,
        "megabytes": megabytes,
        "rounds": rounds,
        "depth": depth,
        "by_hand": pulled["by_hand"],
        "rows": [
            _row("create of an image, template warm", made[small[0]]["p50"], made[small[1]]["p50"], "x", 1.5),
            _row(f"first sandbox of {megabytes} MB", made[first[0]]["p50"], made[first[1]]["p50"], "more", 0.5),
            _row(f"pull and unpack {megabytes} MB", pulled["harena"], pulled["hand"], "x", 1.2),
            _row("snapshot in memory, 100 MB", rows[snapshots.TAKE]["p50"], None, "is", 0.02),
            _row(
                f"begin {snapshots.FORKS} with a snapshot on the disk",
                rows[snapshots.RESTORE_FROM_DISK]["p50"],
                rows[snapshots.CREATE]["p50"],
                "x",
                1.3,
            ),
            _row(snapshots.FORK, rows[snapshots.FORK]["p50"], rows[snapshots.CREATE]["p50"], "is", 0.15),
            _row(f"begin with the last of {depth} snapshots", chained[1], chained[0], "more", _CHAIN_BAR),
        ],
    }


def _row(label: str, seconds: float, beside: float | None, kind: str, bar: float) -> dict[str, Any]:
    """`kind` says what has to stay below the bar: the ratio to what is beside it (`x`), the seconds `more` than that,
    or the seconds themselves (`is`)."""
    found = seconds
    if beside is not None and kind != "is":
        found = seconds / beside if kind == "x" else seconds - beside
    return {"label": label, "seconds": seconds, "beside": beside, "kind": kind, "bar": bar, "found": found}


def _pulled(megabytes: int, rounds: int) -> dict[str, Any]:
    """Medians of a pull by a fresh process into an empty store, and of what somebody would type for the same."""
    skopeo, umoci = shutil.which("skopeo"), shutil.which("umoci")
    if skopeo is None:
        raise RuntimeError("this machine has no skopeo: apt-get install skopeo")
    times: dict[str, list[float]] = defaultdict(list)
    with tempfile.TemporaryDirectory(prefix="harena-pulls-") as name, _registry(Path(name), megabytes) as host:
        place = Path(name)
        environment = {**os.environ, "HARENA_REGISTRIES_WITHOUT_TLS": host}
        copy = [skopeo, "--insecure-policy", "copy", "--quiet", "--src-tls-verify=false", f"docker://{host}/large:1"]
        for _ in range(rounds):
            with tempfile.TemporaryDirectory(dir=place) as home:
                began = time.perf_counter()
                pull = [sys.executable, "-c", _PULL, f"{host}/large:1"]
                subprocess.run(pull, env={**environment, "HARENA_HOME": home}, check=True)
                times["harena"].append(time.perf_counter() - began)
            with tempfile.TemporaryDirectory(dir=place) as hand:
                began = time.perf_counter()
                subprocess.run([*copy, f"oci:{hand}/layout:1"], check=True)
                _unpacked(Path(hand), umoci)
                times["hand"].append(time.perf_counter() - began)
    by_hand = "skopeo and umoci" if umoci else "skopeo and tar (this machine has no umoci)"
    return {"harena": median(times["harena"]), "hand": median(times["hand"]), "by_hand": by_hand}


def _unpacked(place: Path, umoci: str | None) -> None:
    if umoci is not None:
        words = [umoci, "unpack", "--image", f"{place}/layout:1", f"{place}/bundle"]
        subprocess.run([*words, *([] if os.geteuid() == 0 else ["--rootless"])], check=True, stderr=subprocess.DEVNULL)
        return
    (place / "bundle").mkdir()
    for blob in (place / "layout/blobs/sha256").iterdir():
        with blob.open("rb") as content:
            is_layer = content.read(2) == b"\x1f\x8b"
        if is_layer:
            subprocess.run(["tar", "-C", str(place / "bundle"), "-xzf", str(blob)], check=True)


@contextmanager
def _registry(place: Path, megabytes: int) -> Iterator[str]:
    """Its address, which is a process of its own: neither side waits for the other's interpreter."""
    (place / "blobs").mkdir()
    command = [sys.executable, "-m", "benchmarks.registry", str(place / "blobs"), str(megabytes)]
    root = Path(__file__).parents[2]
    with subprocess.Popen(command, cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as serving:
        assert serving.stdout is not None
        try:
            yield serving.stdout.readline().strip()
        finally:
            serving.kill()


def _chained(depth: int) -> tuple[float, float]:
    """Medians of the time until a sandbox runs that begins with the first and with the last of so many snapshots."""
    with tempfile.TemporaryDirectory(prefix="harena-chain-") as name:
        place = Path(name)
        archive = snapshots.small_archive(place)
        command = [sys.executable, "-c", _CHAIN, str(depth), str(archive)]
        environment = {**os.environ, "HARENA_HOME": str(place / "home")}
        said = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True).stdout.split()
    return float(said[0]), float(said[1])


def render(results: dict[str, Any]) -> list[str]:
    """A markdown table: each row with what it stands beside, and whether its bar holds."""
    lines = [
        f"{results['count']} sandboxes of each image, {results['first_count']} fresh processes, {results['rounds']} "
        f"rounds of pulls and snapshots, a chain of {results['depth']}; by hand is {results['by_hand']}.",
        "",
        "| operation | p50 ms | beside it, ms | found | bar | holds |",
        "|---|---|---|---|---|---|",
    ]
    for row in results["rows"]:
        beside = "" if row["beside"] is None else f"{row['beside'] * 1e3:.1f}"
        lines.append(
            f"| {row['label']} | {row['seconds'] * 1e3:.1f} | {beside} | {_said(row['kind'], row['found'])} "
            f"| {_said(row['kind'], row['bar'])} | {'yes' if row['found'] <= row['bar'] else 'no'} |"
        )
    return lines


def _said(kind: str, value: float) -> str:
    if kind == "x":
        return f"{value:.2f} x"
    return f"{value * 1e3:.1f} ms" + (" more" if kind == "more" else "")
