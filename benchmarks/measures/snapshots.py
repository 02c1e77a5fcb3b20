"""Snapshots and forks of sandboxes of an image, beside new sandboxes of that image, in the same minutes.

The image has no program: files come and go over the API, so that nothing runs in a sandbox that is forked.
"""

from __future__ import annotations

import io
import tarfile
import tempfile
import time
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.figures import median, spread

FORKS = 32
FOLDERS, FILES_IN_EACH = 100, 100
LARGE_FILES, LARGE_BYTES = 10, 10_000_000
_IMAGE = "localhost/benchmark-snapshots:1"
_LIMITS = {"memory_bytes": 2 << 30, "disk_bytes": 1 << 30}
CREATE = f"create {FORKS} at once"
RESTORE = f"begin with a snapshot in memory, {FORKS} at once"
RESTORE_FROM_DISK = f"begin with a snapshot on the disk, {FORKS} at once"
FORK = f"fork({FORKS}) with 10,000 files"
TAKE, TAKE_TO_DISK = "snapshot in memory, 100 MB", "snapshot on the disk, 100 MB"
BESIDE_CREATE = (RESTORE, RESTORE_FROM_DISK, FORK)


def measure(*, rounds: int) -> dict[str, Any]:
    """`rounds` rounds; each takes every operation once, so that all rows saw the same machine."""
    import harena
    from harena import Sandbox

    times: dict[str, list[float]] = defaultdict(list)

    def timed(label: str, began: float) -> None:
        times[label].append(time.perf_counter() - began)

    def end(sandboxes: Sequence[Any]) -> None:
        for ending in [one.stop() for one in sandboxes]:
            ending.result()

    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        harena.images.import_archive(_IMAGE, small_archive(place))
        large = Sandbox.run(container_image=_IMAGE, limits=_LIMITS).wait()
        many = Sandbox.run(container_image=_IMAGE, limits=_LIMITS).wait()
        for number in range(LARGE_FILES):
            large.write_file(f"/data/{number}", bytes([number]) * LARGE_BYTES).result()
        many.upload_dir(_tree(place / "tree"), "/data/tree").result()
        began = time.perf_counter()
        on_disk = large.snapshot().result()
        timed(TAKE_TO_DISK, began)
        end([Sandbox.run(snapshot=on_disk).wait()])
        for _ in range(rounds):
            began = time.perf_counter()
            in_memory = large.snapshot(in_memory=True).result()
            timed(TAKE, began)
            for label, options in (
                (CREATE, {"container_image": _IMAGE}),
                (RESTORE, {"snapshot": in_memory}),
                (RESTORE_FROM_DISK, {"snapshot": on_disk}),
            ):
                began = time.perf_counter()
                made = [Sandbox.run(limits=_LIMITS, **options) for _ in range(FORKS)]
                for one in made:
                    one.wait()
                timed(label, began)
                end(made)
            harena.snapshots.delete(in_memory.id)
            began = time.perf_counter()
            forks = many.fork(FORKS).result()
            timed(FORK, began)
            end(forks)
        end([large, many])
        harena.snapshots.delete(on_disk.id)
        harena.images.delete(_IMAGE)
    ratios = {label: median(times[label]) / median(times[CREATE]) for label in BESIDE_CREATE}
    return {"rows": {label: spread(values) for label, values in times.items()}, "ratios": ratios}


def small_archive(place: Path) -> Path:
    """Write an image as good as without anything in it."""
    text = b"root:x:0:0:root:/root:/bin/sh\n"
    about = tarfile.TarInfo("etc/passwd")
    about.size = len(text)
    with tarfile.open(place / "root.tar", "w") as archive:
        archive.addfile(about, io.BytesIO(text))
    return place / "root.tar"


def _tree(root: Path) -> Path:
    for folder in range(FOLDERS):
        (root / str(folder)).mkdir(parents=True)
        for number in range(FILES_IN_EACH):
            (root / str(folder) / str(number)).write_text(f"{folder}.{number}\n")
    return root


def render(results: dict[str, Any]) -> list[str]:
    """A markdown table; the ratios are of medians."""
    lines = ["| operation | n | p50 ms | p90 ms | beside create |", "|---|---|---|---|---|"]
    for label, row in results["rows"].items():
        ratio = f"{results['ratios'][label]:.2f}" if label in results["ratios"] else ""
        lines.append(f"| {label} | {row['n']} | {row['p50'] * 1e3:.1f} | {row['p90'] * 1e3:.1f} | {ratio} |")
    return lines
