"""Run as a program by an ordinary user, with any Python that has the standard library: lets the attacks loose in a node
of that user's own, and prints what came of each as JSON: {"class/kind/name": problem or null}.

    python3 ordinary_user.py '{"file": ..., "socket": ..., "pid": ..., "port": ..., "abstract": ...}'
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from attacks import PRELUDE
from programs_kernel import FORBIDDEN, REFUSED
from programs_kernel import PROGRAMS as KERNEL
from programs_network import PROGRAMS as NETWORK
from programs_resources import HOLD, MEMORY, OTHERS, SMALL, TAKE
from programs_sight import PROGRAMS as SIGHT
from programs_sight import SECRET

from harena.core.errors import HarenaError
from harena.core.models import MIB, ExecOutcome, ExecRequest, ExecResult, SandboxSpec
from harena.core.records.blueprints import Blueprint
from harena.core.records.sandboxes import Limits
from harena.runtime.host.linux import LinuxRuntime

WARM = Blueprint(id="bp_escape", name="escape", warm=())
NEEDS_CGROUPS = {"unix sockets", "TCP over loopback", "UDP over loopback", "extended attributes", "many processes"}
"""memory of the kernel that nothing else counts (see docs/explanation/escape-suite.md); many processes: see `HOLD`"""
CLASSES = {
    "kernel": KERNEL,
    "sight": SIGHT,
    "network": NETWORK,
    "memory": {name: program for name, program in MEMORY.items() if name not in NEEDS_CGROUPS},
    "resources": {name: hog for name, hog in OTHERS.items() if name not in NEEDS_CGROUPS},
    "held": {"private": HOLD, "shared": HOLD},
}
WARM_TOO = {"sight", "memory"}
"""where a warm program's descent from init could make a difference"""
NAMES = [f"{group}/real/{name}" for group, programs in CLASSES.items() for name in programs]
NAMES += [f"{group}/warm/{name}" for group, programs in CLASSES.items() if group in WARM_TOO for name in programs]
NAMES.append("kernel/real/every forbidden call")


def words_of(name: str, host: dict[str, Any]) -> tuple[str, ...]:
    """Arguments of a program that looks for something of the host."""
    if name == "the host's files by name":
        return host["file"], host["socket"]
    if name == "the host's and the neighbour's processes":
        return (str(host["pid"]),)
    return tuple(map(str, (host["port"], 1, host["abstract"].lstrip("\0"), "neighbour", host["socket"])))


async def attack(runtime: LinuxRuntime, kind: str, program: str, *words: str, **more: Any) -> ExecResult:
    """In a fresh sandbox."""
    limits = more.pop("limits", {})
    sandbox = await runtime.create(SandboxSpec(limits=Limits(**limits)), WARM if kind == "warm" else None)
    try:
        request = {"timeout_seconds": 30.0, **more}
        argv = ("python3", "-c", PRELUDE + program, *words)
        return await (await sandbox.exec(ExecRequest(argv=argv, **request))).wait()
    finally:
        await sandbox.destroy()


async def problem_of(runtime: LinuxRuntime, key: str, host: dict[str, Any]) -> str | None:
    """What went wrong, or None."""
    group, kind, name = key.split("/", 2)
    outcomes, ends = frozenset({ExecOutcome.EXITED}), True
    if name == "every forbidden call":
        result = await attack(runtime, kind, REFUSED, *(f"{call}={number}" for call, number in FORBIDDEN.items()))
    elif group == "held":
        outcomes, ends = frozenset({ExecOutcome.EXITED, ExecOutcome.MEMORY, ExecOutcome.SIGNALED}), False
        result = await attack(runtime, kind, HOLD, name, limits=SMALL)
    elif group == "memory":
        outcomes, ends = frozenset({ExecOutcome.EXITED, ExecOutcome.MEMORY, ExecOutcome.SIGNALED}), False
        limits = {**SMALL, "disk_bytes": 64 * MIB}
        result = await attack(runtime, kind, TAKE + MEMORY[name] + "\ndone()", "96", limits=limits)
    elif group == "resources":
        hog = OTHERS[name]
        outcomes, ends = hog.outcomes | {ExecOutcome.EXITED}, False
        result = await attack(runtime, kind, hog.program, limits=hog.limits, **hog.request)
    else:
        program = (SECRET if group == "sight" else "") + CLASSES[group][name]  # type: ignore[operator]
        result = await attack(runtime, kind, program, *words_of(name, host))
    done = result.stdout.endswith(b"done\n") or not ends
    if b"ESCAPED" in result.stdout or result.outcome not in outcomes or not done:
        return f"{result.outcome} {result.returncode} {result.stdout[-1000:]!r} {result.stderr[-1000:]!r}"
    after = await attack(runtime, kind, "done()")
    return None if after.stdout == b"done\n" else f"the next sandbox: {after}"


async def main(host: dict[str, Any]) -> dict[str, str | None]:
    """Every attack, one after the other."""
    runtime = LinuxRuntime()
    await runtime.start()
    found: dict[str, str | None] = {}
    try:
        for key in NAMES:
            try:
                found[key] = await problem_of(runtime, key, host)
            except HarenaError as error:
                found[key] = f"{type(error).__name__}: {error}"
    finally:
        await runtime.close()
    return found


if __name__ == "__main__":
    print(json.dumps(asyncio.run(main(json.loads(sys.argv[1])))))
