"""The differential suite inside real sandboxes: each program really started and warm, each time in a fresh sandbox."""

from __future__ import annotations

import asyncio
import marshal
import re
import sys
from importlib.util import MAGIC_NUMBER

import pytest
from warm_programs import CASES, Case

from harena.core.models import ExecOutcome, ExecRequest, ExecResult, KnownProgram, SandboxSpec
from harena.core.records.blueprints import Blueprint
from harena.runtime.host.linux import LinuxRuntime
from harena.runtime.host.mechanisms import Mechanisms

WARM = Blueprint(id="bp_warm", name="warm", warm=())
PLACE = "/workspace/case"
AT_ONCE = 8
# libc's posix_spawn, by which real starts are made, leaves its own signals 32 and 33 ignored in what it starts
NOT_COMPARED = ("dispositions in the kernel",)

# numbers of processes, inodes, times: different in any two starts
_VARYING = re.compile(rb"0x[0-9a-f]{6,}|\b\d{5,}\b|\b\d+\.\d{3}s")


def _is_plain(case: Case) -> bool:
    """Text files only, and an interpreter by a name that PATH knows."""
    contents = [case.program, *case.files.values()]
    return (
        case.warm
        and sys.version_info[:2] < case.before
        and case.name not in NOT_COMPARED
        and case.command[0] in ("python", "python3")
        and all(isinstance(content, str) for content in contents)
        and not any("{" in word and "}" in word for word in case.command)
        and not any("{" in value for value in case.env.values())
    )


PLAIN = [case for case in CASES if _is_plain(case)]


async def _run(runtime: LinuxRuntime, case: Case, *, warm: bool, busy: bool) -> ExecResult:
    """`busy`: while another program runs in the same sandbox."""
    sandbox = await runtime.create(SandboxSpec(), WARM)
    try:
        if busy:
            await sandbox.exec(ExecRequest(argv=("sleep", "1000")))
        files = {"main.py": case.program, **case.files} if case.program else case.files
        await sandbox.make_dir(PLACE)
        for name, content in files.items():
            assert isinstance(content, str)
            await sandbox.write_file(f"{PLACE}/{name}", content.encode())
        running = await sandbox.exec(
            ExecRequest(
                argv=case.command,
                env=case.env,
                cwd=PLACE,
                stdin=case.stdin,
                warm=None if warm else False,
                timeout_seconds=60,
            )
        )
        return await running.wait()
    finally:
        await sandbox.destroy()


def _visible(result: ExecResult) -> tuple[ExecOutcome, int, bytes, bytes]:
    return (
        result.outcome,
        result.returncode,
        _VARYING.sub(b"N", result.stdout),
        _VARYING.sub(b"N", result.stderr),
    )


@pytest.mark.parametrize(
    ("fast_path", "busy"), [(True, False), (False, False), (True, True)], ids=["fast path", "in Python", "led"]
)
async def test_warm_programs_equal_real_starts_in_sandboxes(fast_path: bool, busy: bool) -> None:
    """stdout, stderr and how it ended are the same, for every plain case of the suite, and the warm one was warm."""
    runtime = LinuxRuntime(mechanisms=Mechanisms(machine_code=fast_path))
    await runtime.start()
    slots = asyncio.Semaphore(AT_ONCE)

    async def both(case: Case) -> str | None:
        async with slots:
            real, warm = [await _run(runtime, case, warm=warm, busy=busy) for warm in (False, True)]
        if _visible(real) == _visible(warm) and warm.warm and not real.warm:
            return None
        return f"{case.name}: really {_visible(real)}, warm ({warm.warm}) {_visible(warm)}"

    try:
        different = [text for text in await asyncio.gather(*map(both, PLAIN)) if text]
    finally:
        await runtime.close()
    assert len(PLAIN) > 90
    assert not different, "\n".join(different)


@pytest.mark.parametrize(
    "argv",
    [
        ("python", "-O", "-c", "print(__debug__)"),
        ("python", "-I", "-c", "import sys; print(sys.flags.isolated)"),
        ("/usr/bin/env", "python", "-c", "print(1)"),
    ],
    ids=["an option", "isolated", "another program"],
)
async def test_what_cannot_be_warm_is_really_started(argv: tuple[str, ...]) -> None:
    """Options that change the interpreter, and other programs, take the real start."""
    runtime = LinuxRuntime()
    await runtime.start()
    try:
        sandbox = await runtime.create(SandboxSpec(), WARM)
        result = await (await sandbox.exec(ExecRequest(argv=argv))).wait()
        assert (result.returncode, result.warm, result.stderr) == (0, False, b"")
    finally:
        await runtime.close()


def _known(text: str, *, magic: bytes = MAGIC_NUMBER) -> KnownProgram:
    """It tells whether it was done ahead, and as which process."""
    return KnownProgram(
        text=text,
        magic=magic,
        namespace="known_names",
        preparation=(marshal.dumps(compile("import os; made = __name__, os.getpid(), []", "<ahead>", "exec")),),
        program=marshal.dumps(
            compile("import os; print('ahead', *known_names['made'], os.getpid() > 1)", "<string>", "exec")
        ),
    )


@pytest.mark.parametrize("fast_path", [True, False], ids=["fast path", "in Python"])
async def test_what_a_known_program_begins_with_is_done_once_in_the_template(fast_path: bool) -> None:
    """Each program finds it as it was made there; any other text, and a text for another interpreter, runs as it is."""
    texts = [f"print({number}, 'known_names' in globals())" for number in range(3)]
    known = [_known(texts[0]), _known(texts[1], magic=b"none")]
    runtime = LinuxRuntime(mechanisms=Mechanisms(machine_code=fast_path), known_programs=lambda: known)
    await runtime.start()
    try:
        said = []
        for text in (*texts, texts[0]):
            sandbox = await runtime.create(SandboxSpec(), WARM)
            result = await (await sandbox.exec(ExecRequest(argv=("python", "-c", text)))).wait()
            said.append((result.warm, result.stdout.decode(), result.stderr))
            await sandbox.destroy()
        really = await (await runtime.create(SandboxSpec(), WARM)).exec(
            ExecRequest(argv=("python", "-I", "-c", texts[0]))
        )
        assert (await really.wait()).stdout == b"0 False\n"
    finally:
        await runtime.close()
    ahead = (True, "ahead known_names 1 [] True\n", b"")
    assert said == [ahead, (True, "1 False\n", b""), (True, "2 False\n", b""), ahead]


async def test_a_template_that_was_prepared_is_the_one_that_sandboxes_come_from() -> None:
    """One template is made, whoever asks first; a runtime that is closed meanwhile leaves nothing of it."""
    runtime = LinuxRuntime()
    await runtime.start()
    try:
        runtime.prepare("default", WARM)
        runtime.prepare("default", WARM)
        sandbox = await runtime.create(SandboxSpec(), WARM)
        assert len(runtime._templates) == 1
        await sandbox.destroy()
        runtime.prepare("default", Blueprint(id="bp_other", name="other", warm=()))
    finally:
        await runtime.close()
    runtime.prepare("default", WARM)
    assert not runtime._preparing
    assert not runtime._templates
