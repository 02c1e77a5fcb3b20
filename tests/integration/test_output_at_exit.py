"""Programs that print much and end at once, without a wait for whoever reads it."""

from __future__ import annotations

import pytest
from battery_world import Source, scored_alone
from real_sandboxes import source

from harena.core.models import ExecRequest, SandboxSpec
from harena.core.results import RunResult
from harena.runtime.host import execs
from harena.runtime.host.wide_pipes import WidePipes
from harena.scoring import load_scenarios

__all__ = ["source"]  # a fixture
pytestmark = pytest.mark.asyncio(loop_scope="module")

LINES = 20_000
"""about 109,000 bytes: more than an ordinary pipe holds"""
PROGRAMS = {
    "main.js": f"for (let i = 0; i < {LINES}; i++) console.log(i)\nprocess.exit(0)\n",
    "main.py": f"import os\nprint(*range({LINES}), sep='\\n', flush=True)\nos._exit(0)\n",
    "main.sh": f"seq 0 {LINES - 1}\nexit 0\n",
}


async def scored(source: Source, entry: str, program: str, expected: str) -> RunResult:
    scoring = {"type": "stdio", "cases": [{"stdin": "", "stdout": expected}]}
    row = {"id": "one", "candidate": {"files": {entry: program}, "entry": entry}, "scoring": scoring}
    (scenario,) = load_scenarios([row]).scenarios
    return await scored_alone(source, scenario, timeout_seconds=20)


async def test_standard_output_holds_more_than_an_ordinary_pipe(source: Source) -> None:
    """However late somebody reads it: 256 KiB, where an ordinary one holds 64 (1032 is F_GETPIPE_SZ)."""
    program = "import fcntl\nprint(fcntl.fcntl(1, 1032) // 1024)\n"
    result = await scored(source, "main.py", program, "256\n")
    assert result.score == 1.0, result.detail


@pytest.mark.parametrize("entry", PROGRAMS)
async def test_what_was_printed_before_the_end_is_there(source: Source, entry: str) -> None:
    """Node writes to a full pipe later, and `process.exit` does not wait for that."""
    expected = "".join(f"{number}\n" for number in range(LINES))
    result = await scored(source, entry, PROGRAMS[entry], expected)
    assert result.score == 1.0, result.detail[-200:]


async def test_few_outputs_are_wide_at_one_time(source: Source, monkeypatch: pytest.MonkeyPatch) -> None:
    """The pipes of an ordinary user have a limit together, beyond which new ones are tiny."""
    monkeypatch.setattr(execs, "WIDE_PIPES", WidePipes(2))
    program = "import fcntl, sys\nprint(fcntl.fcntl(1, 1032) // 1024, flush=True)\nsys.stdin.read()\n"
    request = ExecRequest(argv=("python3", "-c", program), stdin_stream=True)
    sandbox = await source.runtime.create(SandboxSpec())
    try:
        for _ in range(2):
            running = [await sandbox.exec(request) for _ in range(2)]
            for each in running:
                each.close_stdin()
            done = [await each.wait() for each in running]
            assert [bytes(each.stdout) for each in done] == [b"256\n", b"64\n"]
    finally:
        await sandbox.destroy()
