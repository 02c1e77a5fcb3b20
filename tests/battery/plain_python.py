"""What plain Python makes of a program: run beside harena in ordinary processes of this machine."""

from __future__ import annotations

import asyncio
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

PATIENCE_SECONDS = 60.0


async def ended_well(
    files: Mapping[str, str], argv: Sequence[str], *, stdin: str = "", stdout: str | None = None
) -> bool:
    """These files in a folder of their own, this command of the same interpreter there: it ends with 0, and prints
    `stdout`, if that is given."""
    with tempfile.TemporaryDirectory(prefix="plain-") as folder:
        for path, text in files.items():
            place = Path(folder, path)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text, newline="")
        process = await asyncio.create_subprocess_exec(
            sys.executable, *argv, cwd=folder, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL, env={"HOME": folder, "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"},
        )  # fmt: skip
        async with asyncio.timeout(PATIENCE_SECONDS):
            printed, _ = await process.communicate(stdin.encode())
    return process.returncode == 0 and (stdout is None or printed.decode().split() == stdout.split())
