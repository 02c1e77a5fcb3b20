"""One program in one harena sandbox, through the public SDK: what the three harena peers share."""

from __future__ import annotations

import asyncio

from benchmarks.verdicts import Ending
from harena import ExecOutcome, ProcessResult, Sandbox, SandboxCommandTimeoutError, shutdown

WARM_BLUEPRINT = "python-warm"
"""the built-in blueprint whose execs fork from a warm interpreter"""


async def run_program(sandbox: Sandbox, program: str, stdin: bytes | None, timeout_seconds: float) -> Ending:
    """`python -c PROGRAM` in the sandbox. A warm start or a real one is the sandbox's business."""
    try:
        result: ProcessResult = await sandbox.exec(
            ["python", "-c", program], timeout_seconds=timeout_seconds, stdin=stdin if stdin is not None else False
        )
    except SandboxCommandTimeoutError:
        return Ending(returncode=-9, stdout=b"", stderr=b"", timed_out=True)
    return Ending(
        returncode=result.returncode,
        stdout=result.stdout_bytes,
        stderr=result.stderr_bytes,
        out_of_memory=result.outcome is ExecOutcome.MEMORY,
    )


async def close_node() -> None:
    """End the embedded node, and with it every sandbox of this process."""
    await asyncio.to_thread(shutdown)


def unavailable() -> str | None:
    """Importing this module has already shown that harena is installed."""
    return None
