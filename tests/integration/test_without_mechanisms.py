"""Each mechanism of a fast start can be switched off, and everything works without it, or without all of them, behind
the same walls."""

from __future__ import annotations

import asyncio
import marshal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.util import MAGIC_NUMBER
from pathlib import Path

import pytest

from harena.core.models import ExecOutcome, ExecRequest, ExecResult, KnownProgram, SandboxSpec
from harena.core.records.blueprints import Blueprint
from harena.runtime.fast_path import forker
from harena.runtime.host.linux import LinuxRuntime
from harena.runtime.host.mechanisms import MECHANISMS, Mechanisms, without
from harena.scoring.formats import import_scenarios
from harena.scoring.score import score_scenario
from harena.scoring.scorers.driver_boot import known_program
from sandbox_source import SandboxSource

pytestmark = pytest.mark.thorough

WARM = Blueprint(id="bp_warm", name="warm", warm=())
IMPORTS = Blueprint(id="bp_imports", name="imports", warm=("json", "decimal"), env={"GREETING": "hello"})
NAMES = [each.name for each in MECHANISMS]
SETS = [(), *((name,) for name in NAMES), tuple(NAMES)]
KNOWN_TEXT = "print('known' in globals())"
WALLS = """
import os
words = dict(line.split(":", 1) for line in open("/proc/self/status"))
print(*(words[name].strip() for name in ("CapPrm", "CapEff", "CapBnd", "NoNewPrivs", "Seccomp")))
for attempt in (lambda: open("/usr/new", "w"), lambda: open("/proc/1/environ"), lambda: os.chroot("/tmp")):
    try:
        attempt()
    except OSError as error:
        print(type(error).__name__)
"""
BEHIND_WALLS = (
    b"0000000000000000 0000000000000000 0000000000000000 1 2",
    b"OSError",
    b"PermissionError",
    b"PermissionError",
)
_FAULTS = "print(open('/proc/self/stat').read().rpartition(')')[2].split()[7])"
_IS_HIDDEN = "import sys; print(sys._getframe().f_back is None)"
ROW = {
    "task_id": "HumanEval/0",
    "prompt": "def add(a, b):\n",
    "canonical_solution": "    return a + b\n",
    "entry_point": "add",
    "test": "def check(candidate):\n    assert candidate(1, 2) == 3\n    assert candidate(-1, 1) == 0\n",
}


@asynccontextmanager
async def _started(home: Path, uses: Mechanisms) -> AsyncIterator[LinuxRuntime]:
    known = KnownProgram(
        text=KNOWN_TEXT,
        magic=MAGIC_NUMBER,
        namespace="known",
        preparation=(marshal.dumps(compile("made = 1", "<ahead>", "exec")),),
        program=marshal.dumps(compile("print('ahead')", "<string>", "exec")),
    )
    runtime = LinuxRuntime(home=home, mechanisms=uses, known_programs=lambda: (known, known_program()))
    await runtime.start()
    try:
        yield runtime
    finally:
        await runtime.close()


async def _ran(
    runtime: LinuxRuntime, blueprint: Blueprint | None, *argv: str, timeout_seconds: float = 60.0
) -> ExecResult:
    async with SandboxSource(runtime, blueprint or Blueprint(id="", name="none")).sandbox(SandboxSpec()) as sandbox:
        running = await sandbox.exec(ExecRequest(argv=argv, timeout_seconds=timeout_seconds))
        return await running.wait()


@pytest.mark.parametrize("off", SETS, ids=lambda off: " ".join(off) if len(off) < 2 else "all of them")
async def test_everything_works_without_it(off: tuple[str, ...], tmp_path: Path) -> None:
    """Programs with their output, errors and ends, files, side by side, at the deadline; and a verdict."""
    uses = without(*off)
    async with _started(tmp_path, uses) as runtime:
        for blueprint in (None, WARM, IMPORTS):
            warm = blueprint is not None and uses.warm_programs
            if blueprint is IMPORTS:
                warm = warm and uses.warm_imports and forker.is_possible()
            await _check_programs(runtime, blueprint, warm)
        said = await _ran(
            runtime, IMPORTS, "python", "-c", "import json, os; print(json.dumps(os.environ['GREETING']))"
        )
        assert said.stdout == b'"hello"\n'
        late = await _ran(runtime, WARM, "python", "-c", "while True: pass", timeout_seconds=0.2)
        assert late.outcome is ExecOutcome.TIMEOUT
        (right,) = import_scenarios([ROW]).scenarios
        (wrong,) = import_scenarios([{**ROW, "canonical_solution": "    return a - b\n"}]).scenarios
        sandboxes = SandboxSource(runtime, WARM)
        passed = [
            (await score_scenario(each, sandboxes=sandboxes, base_spec=SandboxSpec(), timeout_seconds=60.0)).passed
            for each in (right, wrong)
        ]
        assert passed == [True, False]


async def _check_programs(runtime: LinuxRuntime, blueprint: Blueprint | None, warm: bool) -> None:
    spec = SandboxSpec()
    async with SandboxSource(runtime, blueprint or Blueprint(id="", name="none")).sandbox(spec) as sandbox:
        await sandbox.write_file("/workspace/main.py", b"import sys\nprint(sys.argv, sys.stdin.read())\nsys.exit(3)\n")

        async def run(*argv: str, stdin: bytes | None = None) -> ExecResult:
            return await (await sandbox.exec(ExecRequest(argv=argv, stdin=stdin, timeout_seconds=60.0))).wait()

        result = await run("python", "main.py", "a", stdin=b"given")
        assert (result.returncode, result.stdout) == (3, b"['main.py', 'a'] given\n")
        assert (result.stderr, result.warm) == (b"", warm)
        result = await run("python", "-c", "def f(): raise KeyError(1)\nf()")
        assert (result.returncode, result.warm) == (1, warm)
        assert result.stderr.startswith(b'Traceback (most recent call last):\n  File "<string>", line 2, in <module>\n')
        result = await run("python", "-c", WALLS)
        assert tuple(result.stdout.splitlines()) == BEHIND_WALLS
        result = await run("python", "-m", "calendar", "2024", "2")
        assert (result.returncode, b"February 2024" in result.stdout) == (0, True)
        result = await run("sh", "-c", "echo out; echo err >&2; exit 4")
        assert (result.returncode, result.stdout, result.stderr) == (4, b"out\n", b"err\n")
        both = await asyncio.gather(*(run("python", "-c", f"print({number})") for number in range(3)))
        assert [each.stdout for each in both] == [b"0\n", b"1\n", b"2\n"]
        assert await sandbox.read_file("/workspace/main.py", max_bytes=1 << 20) != b""


async def test_it_is_off(tmp_path: Path) -> None:
    """Each of them can be seen from outside, on and off."""

    async def seen(name: str, uses: Mechanisms) -> object:
        async with _started(tmp_path, uses) as runtime:
            return await _LOOKS[name](runtime)

    assert _LOOKS.keys() == set(NAMES)
    for name in NAMES:
        on, off = await seen(name, Mechanisms()), await seen(name, without(name))
        if name in ("machine_code", "rehearsals"):
            assert isinstance(on, int)
            assert isinstance(off, int)
            assert on < off, name
        elif name == "warm_imports" and not forker.is_possible():
            assert (on, off) == (False, False)
        else:
            assert (on, off) == (True, False), name


async def _faults(runtime: LinuxRuntime) -> int:
    """Pages that a program's process has copied or got, in a sandbox whose kind is known."""
    await _ran(runtime, WARM, "python", "-c", _FAULTS)
    return min([int((await _ran(runtime, WARM, "python", "-c", _FAULTS)).stdout) for _ in range(3)])


async def _is_warm(runtime: LinuxRuntime) -> bool:
    return (await _ran(runtime, WARM, "python", "-c", "1")).warm


async def _has_warm_imports(runtime: LinuxRuntime) -> bool:
    return (await _ran(runtime, IMPORTS, "python", "-c", "1")).warm


async def _finds_nothing_below(runtime: LinuxRuntime) -> bool:
    return (await _ran(runtime, WARM, "python", "-c", _IS_HIDDEN)).stdout == b"True\n"


async def _is_known(runtime: LinuxRuntime) -> bool:
    return (await _ran(runtime, WARM, "python", "-c", KNOWN_TEXT)).stdout == b"ahead\n"


async def _is_made_ahead(runtime: LinuxRuntime) -> bool:
    for _ in range(3):
        await _ran(runtime, WARM, "true")
    pools = [*runtime._pools.values()]
    return any([await _fills(pool) for pool in pools])


async def _fills(pool: object) -> bool:
    filling = getattr(pool, "_filling", set())
    getattr(pool, "_fill")()  # noqa: B009 (what a timer would do a moment later)
    await asyncio.gather(*filling)
    return bool(getattr(pool, "has_ready"))  # noqa: B009


_LOOKS = {
    "machine_code": _faults,
    "warm_programs": _is_warm,
    "hidden_frames": _finds_nothing_below,
    "warm_imports": _has_warm_imports,
    "known_programs": _is_known,
    "rehearsals": _faults,
    "made_ahead": _is_made_ahead,
}
