"""A life of a sandbox (create, exec, stop) over loopback, by the TypeScript client and by Python's, in turn."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

from benchmarks.figures import spread
from benchmarks.server import server

CLIENT = Path(__file__).parents[2] / "ts"
WARM_UP = 20
PAUSE_SECONDS = 0.02
"""between two lives, so that a sandbox waits in the pool for each of them"""


def measure(*, count: int) -> dict[str, Any]:
    """`count` rounds; in each, one life by either client. Raises RuntimeError where one of them prints nothing."""
    node = shutil.which("node")
    if node is None or not (CLIENT / "dist/esm/index.js").exists():
        raise RuntimeError("this needs Node.js 20.5 and a built client: run `npm ci && npm run build` in ts/")
    with tempfile.TemporaryDirectory(prefix="harena-benchmark-home-") as home, server(Path(home)) as serving:
        os.environ["HARENA_BASE_URL"] = serving.url
        import harena

        words = [node, str(CLIENT / "bench/client.mjs")]
        other = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        taken: dict[str, list[float]] = defaultdict(list)
        try:
            for number in range(WARM_UP + count):
                if number == WARM_UP:
                    taken.clear()
                time.sleep(PAUSE_SECONDS)
                taken["TypeScript"].append(_asked(other))
                time.sleep(PAUSE_SECONDS)
                began = time.perf_counter()
                sandbox = harena.Sandbox.run()
                said = sandbox.exec(["echo", "hello"]).result().stdout
                sandbox.stop().result()
                taken["Python"].append(time.perf_counter() - began)
                if said != "hello\n":
                    raise RuntimeError(f"the command printed {said!r}")
        finally:
            assert other.stdin is not None
            other.stdin.close()
            other.wait()
            harena.shutdown()
            del os.environ["HARENA_BASE_URL"]
    rows = {label: spread(values) for label, values in taken.items()}
    return {"count": count, "rows": rows, "ratio_p50": rows["TypeScript"]["p50"] / rows["Python"]["p50"]}


def _asked(client: subprocess.Popen[str]) -> float:
    """Seconds that one life has taken there."""
    assert client.stdin is not None
    assert client.stdout is not None
    client.stdin.write("one\n")
    client.stdin.flush()
    answer = client.stdout.readline()
    if not answer:
        raise RuntimeError("the TypeScript client has ended: its error is above")
    return float(answer) / 1e3


def render(results: dict[str, Any]) -> list[str]:
    """One table."""
    lines = [
        f"{results['count']} rounds, each client once per round, one at a time: create, `echo hello`, stop. p50 of the "
        f"TypeScript client is {results['ratio_p50']:.2f} x that of Python's.",
        "",
        "| | p50 ms | p90 ms | p99 ms | mean ms |",
        "|---|---|---|---|---|",
    ]
    for label, row in results["rows"].items():
        lines.append(f"| {label} | {' | '.join(f'{row[key] * 1e3:.1f}' for key in ('p50', 'p90', 'p99', 'mean'))} |")
    return lines
