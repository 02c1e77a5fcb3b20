"""Claim + echo and scored runs of one workspace, quiet and beside thirty-two hostile behaviours of another workspace.

Everything goes through one `harena serve` with its default limits. Each behaviour, and each drawn pair of them, stands
between two quiet windows; its ratio is p99 beside it over p99 of the windows before and after it together.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.figures import percentile
from benchmarks.hostile import BEHAVIOURS, BY_NAME, drawn_pairs
from benchmarks.scenarios import scenario_rows
from benchmarks.server import server
from benchmarks.ways import BLUEPRINT, TIMEOUT_SECONDS
from benchmarks.workload import suite

if TYPE_CHECKING:
    from harena.core.workspace import WorkspaceLimits

MOST_RATIO = 5.0
"""the bar"""
PAUSE_SECONDS = 0.01
"""between two claims, so that the pool has sandboxes"""
WINDOW_SECONDS = 6.0
"""a window with fewer claims than asked for ends then"""
SCORE_SECONDS = 0.5
"""between two scored jobs"""
_ROOT = Path(__file__).parents[2]


@dataclass(slots=True)
class Window:
    """What the honest workspace met in one window."""

    seconds: list[float] = field(default_factory=list)
    """time of each claim + echo"""
    runs: int = 0
    wrong: list[str] = field(default_factory=list)
    """runs whose verdict is not the known one"""
    lost: list[str] = field(default_factory=list)
    """claims and jobs that failed, and runs without a score"""


def measure(*, seed: int, pairs: int, claims: int, names: Sequence[str] | None = None) -> dict[str, Any]:
    """`names`: these behaviours; None = all. Raises RuntimeError if the hostile client itself fails."""
    chosen = [BY_NAME[name] for name in names] if names is not None else list(BEHAVIOURS)
    cases = [[each.name] for each in chosen] + [[one.name, other.name] for one, other in drawn_pairs(seed, pairs)]
    with tempfile.TemporaryDirectory(prefix="harena-benchmark-home-") as home:
        keys = {workspace: new_key(Path(home), workspace) for workspace in ("honest", "hostile")}
        with server(Path(home)) as serving:
            rows = asyncio.run(_cases(serving.url, serving.pid, keys, cases, claims))
            peak = memory_bytes(serving.pid, "VmHWM")
    return {
        "seed": seed,
        "claims": claims,
        "rows": rows,
        "bar": MOST_RATIO,
        "peak_bytes": peak,
        "bound_bytes": bound_bytes(workspaces=2) + rows[0]["rss_bytes"],
    }


def bound_bytes(*, workspaces: int, limits: WorkspaceLimits | None = None) -> int:
    """What so many workspaces may make a server hold by their limits: requests under way and kept outputs. None = the
    default ones."""
    from harena.core.workspace import WorkspaceLimits

    limits = limits or WorkspaceLimits()
    return workspaces * (limits.request_memory_bytes + limits.output_bytes)


def new_key(home: Path, workspace: str) -> str:
    """An admin's key of a workspace. Raises RuntimeError if none is printed."""
    words = [sys.executable, "-m", "harena.cli.main", "keys", "create", "--name", workspace, "--workspace", workspace]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("HARENA_")}
    made = subprocess.run(
        [*words, "--scopes", "read,write,admin"],
        env={**environment, "HARENA_HOME": str(home)},
        capture_output=True,
        text=True,
        check=True,
    )
    found = re.search(r"^hk_[\w-]+$", made.stdout, re.MULTILINE)
    if found is None:
        raise RuntimeError(f"harena keys create printed no key: {made.stdout!r}")
    return found[0]


async def _cases(url: str, pid: int, keys: dict[str, str], cases: list[list[str]], claims: int) -> list[dict[str, Any]]:
    from harena.sdk.http import open_http

    operations = await open_http(url, api_key=keys["honest"])
    rows = []
    try:
        await window(operations, claims=20)  # pools and templates are there
        before = await window(operations, claims=claims)
        for case in cases:
            rss = memory_bytes(pid, "VmRSS")
            async with hostile(url, keys["hostile"], case) as answered:
                beside = await window(operations, claims=claims)
            after = await window(operations, claims=claims)
            rows.append({"names": case, "rss_bytes": rss, "answered": answered, **_figures(before, beside, after)})
            print(_line(rows[-1]), file=sys.stderr, flush=True)
            before = after
    finally:
        await operations.close()
    return rows


def _figures(before: Window, beside: Window, after: Window) -> dict[str, Any]:
    quiet = [*before.seconds, *after.seconds]
    row: dict[str, Any] = {
        "claims": len(beside.seconds),
        "runs": beside.runs,
        "wrong": beside.wrong,
        "lost": beside.lost,
    }
    row["quiet_lost"] = before.lost + after.lost
    row["quiet_wrong"] = before.wrong + after.wrong
    for place in (0.50, 0.99):
        name = f"p{place * 100:.0f}"
        row[f"{name}_quiet"] = percentile(quiet, place)
        row[name] = percentile(beside.seconds, place) if beside.seconds else None
        row[f"{name}_ratio"] = row[name] / row[f"{name}_quiet"] if beside.seconds else None
    return row


async def window(operations: Any, *, claims: int) -> Window:
    """So many times claim + echo, one after the other, with jobs of scored runs beside them."""
    found, over = Window(), asyncio.Event()
    scoring = asyncio.ensure_future(_score(operations, found, over))
    deadline = time.perf_counter() + WINDOW_SECONDS
    try:
        while len(found.seconds) + len(found.lost) < claims and time.perf_counter() < deadline:
            await _claim(operations, found)
            await asyncio.sleep(PAUSE_SECONDS)
    finally:
        over.set()
        await scoring
    return found


async def _claim(operations: Any, found: Window) -> None:
    from harena.core.errors import HarenaError
    from harena.core.models import ExecRequest, SandboxSpec

    began = time.perf_counter()
    try:
        sandbox = await operations.create_sandbox(SandboxSpec())
        try:
            result = await (await sandbox.port.exec(ExecRequest(argv=("echo", "hello")))).wait()
            found.seconds.append(time.perf_counter() - began)
            if result.stdout != b"hello\n":
                found.lost.append(f"echo: {result}")
        finally:
            await sandbox.port.destroy()
    except HarenaError as error:
        found.lost.append(f"claim: {error}")


async def _score(operations: Any, found: Window, over: asyncio.Event) -> None:
    from harena.core.errors import HarenaError

    number = 0
    while not over.is_set():
        number += 1
        request = {
            "name": f"honest {number}",
            "scenarios": scenario_rows(suite("clean", 10, seed=number)),
            "blueprint_id": BLUEPRINT,
            "config": {"concurrency": 2, "timeout_seconds": TIMEOUT_SECONDS},
        }
        try:
            job = await operations.create_benchmark_job(request)
            results = await operations.wait_benchmark_job(job["id"])
            verdicts = results["summary"]["verdicts"]
            found.runs += verdicts["expected"]
            for run in results["runs"]:
                if run["verdict_right"] is False:
                    found.wrong.append(f"{run['scenario_id']}: {run['score']}, {run['reason']}: {run['detail']}")
            found.lost += [f"job {job['id']}: {verdicts}"] * verdicts["no_score"]
        except HarenaError as error:
            found.lost.append(f"job: {error}")
        try:
            await asyncio.wait_for(over.wait(), SCORE_SECONDS)
        except TimeoutError:
            continue


@asynccontextmanager
async def hostile(url: str, key: str, names: Sequence[str]) -> AsyncIterator[dict[str, int]]:
    """These behaviours, by a client in a session of its own; filled at the end with what it was answered."""
    order = json.dumps({"url": url, "key": key, "behaviours": list(names)})
    client = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "benchmarks.hostile_requests", order,
        cwd=_ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True,
    )  # fmt: skip
    assert client.stdin is not None
    assert client.stdout is not None
    answered: dict[str, int] = {}
    try:
        if await client.stdout.readline() != b"behaving\n":
            raise RuntimeError(f"the hostile client did not begin: {' and '.join(names)}")
        yield answered
        client.stdin.close()
        answered.update(json.loads(await client.stdout.read() or b"{}"))
    finally:
        if not answered and client.returncode is None:
            client.kill()
        if await client.wait() != 0:
            raise RuntimeError(f"the hostile client failed: {' and '.join(names)}")


def memory_bytes(pid: int, field_name: str) -> int:
    """A field of /proc/PID/status: VmRSS, or VmHWM, the peak of it."""
    found = re.search(rf"^{field_name}:\s+(\d+) kB$", Path(f"/proc/{pid}/status").read_text(), re.MULTILINE)
    assert found is not None
    return int(found[1]) * 1024


def _line(row: dict[str, Any]) -> str:
    if row["p99"] is None:
        return f"{' + '.join(row['names'])}: no claim was answered; lost: {row['lost'][:3]}"
    return (
        f"{' + '.join(row['names'])}: p99 {row['p99'] * 1e3:.1f} ms, {row['p99_ratio']:.1f} x; {row['runs']} runs, "
        f"{len(row['wrong'])} wrong, {len(row['lost'])} lost {[*row['wrong'][:2], *row['lost'][:2]]}; "
        f"answers: {row['answered']}"
    )


def render(results: dict[str, Any]) -> list[str]:
    """A markdown table, and what was over the bar."""
    rows = results["rows"]
    over = [row for row in rows if row["p99_ratio"] is None or row["p99_ratio"] > results["bar"]]
    lines = [
        f"{len(rows)} cases, pairs drawn with seed {results['seed']}; {results['claims']} times claim + echo in each "
        "window, jobs of scored runs beside them, all over HTTP. Quiet: the windows before and after together.",
        "",
        "| behaviour | quiet p50 ms | p99 ms | beside it p50 ms | p99 ms | p50 x | p99 x | runs | wrong | lost |",
        "|" + "---|" * 10,
    ]
    for row in rows:
        times = [f"{row[name] * 1e3:.1f}" if row[name] else "-" for name in ("p50_quiet", "p99_quiet", "p50", "p99")]
        ratios = [f"{row[name]:.1f}" if row[name] else "-" for name in ("p50_ratio", "p99_ratio")]
        counts = [str(row["runs"]), str(len(row["wrong"])), str(len(row["lost"]))]
        lines.append(f"| {' | '.join([' + '.join(row['names']), *times, *ratios, *counts])} |")
    wrong, lost = sum(len(row["wrong"]) for row in rows), sum(len(row["lost"]) for row in rows)
    lines += [
        "",
        f"**{len(rows) - len(over)} of {len(rows)} within {results['bar']:.0f} x; {wrong} runs wrong, {lost} lost; "
        f"the server's memory was {results['peak_bytes'] / 2**20:.0f} MiB at its peak, of "
        f"{results['bound_bytes'] / 2**20:.0f} MiB that two workspaces may make it hold.**",
    ]
    lines += [f"* over the bar: {_line(row)}" for row in over]
    return lines
