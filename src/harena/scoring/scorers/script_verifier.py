"""A script that judges what somebody has left in a sandbox, and runs in that sandbox: the verifier of a training task.

It is prepared as the verifier of a Harbor task is (see `harbor`): what was left in the places of its own files and
scratch files, rules that steer its tools, and links to its text, or to whoever follows them, speak for nobody. The
script lies in a folder whose name nobody knows before. In an image without bash or GNU's find, start-up files of the
home folder are restored and Python's modules guarded, and nothing else is put in order.
"""

from __future__ import annotations

import secrets
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from typing import Protocol, Self

from harena.core.errors import SandboxFileError
from harena.core.models import ExecOutcome, ExecRequest, ExecResult
from harena.core.ports import SandboxPort
from harena.scoring.contracts.harbor import TEST_SCRIPT, HarborContract
from harena.scoring.scorers.harbor import (
    FULL,
    EnvironmentFailedError,
    Ground,
    OwnPlaces,
    Watching,
    end_processes,
    ground_of,
    made_ready,
)
from harena.scoring.scorers.leaked_proofs import look_at_processes
from harena.scoring.scorers.make_rules import MAKEFILES
from harena.scoring.scorers.redirecting_links import Led, computes_names
from harena.scoring.scorers.sealed_verifier import PLACES_OF_DEFAULT
from harena.scoring.scorers.start_up_files import (
    StartUpFiles,
    StartUpFilesError,
    first_module_of,
    guard,
    without_compiled_files,
)
from harena.scoring.scorers.verifier_changes import changes_of_a_script
from harena.scoring.slices import aside, size_of
from harena.scoring.verdict import one_line

_CAN_LOOK = """\
printf '%s\\n' "$HOME"
command -v bash >/dev/null && command -v xargs >/dev/null && find / -maxdepth 0 -printf '' 2>/dev/null || exit 9
[ ! -w /usr/bin ] || echo open
"""
_OPEN_PLACES = (*PLACES_OF_DEFAULT, "/dev/shm", "/var/tmp")
"""what anybody may write to, where the programs of the image are closed to whoever acts: who may change these is helped
by nothing, and more than the usual places is not looked at"""
_SECONDS = 60.0
_SHELLS = frozenset({"sh", "bash", "dash", "ash", "ksh", "zsh"})


@dataclass(frozen=True, slots=True)
class Judged:
    """What a script that judges did."""

    done: ExecResult
    passed: bool = False
    doubt: str = ""
    """why it did not pass, though it ended as one that passes"""


class LeftError(Exception):
    """What was left keeps the script from judging; the message says what it is."""


class JudgedPlace(Protocol):
    """One sandbox in which somebody acts, and a script judges afterwards."""

    async def judged(
        self, sandbox: SandboxPort, *, seconds: float, stdin: bytes, code: int, keeps_processes: bool = False
    ) -> Judged:
        """Run the script, whose exit code is `code` where what was left is right. `keeps_processes`: what was started
        may go on beside it. Raises LeftError."""
        ...


async def judged_place(
    sandbox: SandboxPort,
    script: str,
    *,
    workdir: str,
    files: Mapping[str, str] | None = None,
    environment: Mapping[str, str] | None = None,
) -> JudgedPlace:
    """Look at the sandbox before anybody acts in it. `files`: what the environment has, by absolute path;
    `environment`: variables that the script alone has. Raises EnvironmentFailedError."""
    variables = dict(environment or {})
    request = ExecRequest(argv=("sh", "-c", _CAN_LOOK), timeout_seconds=_SECONDS, warm=False)
    done = await (await sandbox.exec(request)).wait()
    home, *is_open = done.stdout.decode("utf-8", "replace").splitlines() or ("",)
    if done.outcome is ExecOutcome.EXITED and done.returncode == 0 and workdir.startswith("/"):
        place = await _SearchedPlace.of(sandbox, script, workdir=workdir, files=files or {}, is_open=bool(is_open))
        return replace(place, variables=variables)
    plain = await _PlainPlace.of(sandbox, script, workdir=workdir, home=home.rstrip("/"))
    return replace(plain, variables=variables)


@dataclass(frozen=True, slots=True)
class _SearchedPlace:
    """In an image with bash and GNU's find: whatever was left is looked through."""

    contract: HarborContract
    ground: Ground
    argv: tuple[str, ...]
    """the command line of the script"""
    variables: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    async def of(
        cls, sandbox: SandboxPort, script: str, *, workdir: str, files: Mapping[str, str], is_open: bool
    ) -> Self:
        """`is_open`: whoever acts may change the image's programs."""
        folder = f"/tmp/{secrets.token_hex(16)}"
        argv, name = _started(script)
        rules = {path: text for path, text in files.items() if PurePosixPath(path).name in MAKEFILES}
        contract = HarborContract(
            type="harbor", workdir=workdir, tests={TEST_SCRIPT: "", name: script}, environment_files=rules
        )
        looked = tuple(dict.fromkeys((workdir, "/app", "/tmp", *(_OPEN_PLACES if not is_open else ()))))
        places = OwnPlaces(emptied=(folder,), tests=folder, clock=f"/tmp/{secrets.token_hex(16)}")
        ground = await ground_of(sandbox, contract, looked, is_own=False, own=places)
        return cls(contract, ground, (*argv, f"{folder}/{name}"))

    async def judged(
        self, sandbox: SandboxPort, *, seconds: float, stdin: bytes, code: int, keeps_processes: bool = False
    ) -> Judged:
        """What the script does, whose exit code is `code` where what was left is right. Where something has changed
        behind a link while it ran, it is run once more, with a copy in the link's place. Raises LeftError."""
        request = ExecRequest(
            argv=self.argv, cwd=self.contract.workdir, timeout_seconds=seconds, stdin=stdin, warm=False
        )
        try:
            judged, has_led = await self._judged(sandbox, request, code, keeps_links=True)
            if has_led:
                if not keeps_processes:
                    await end_processes(sandbox)
                judged, _ = await self._judged(sandbox, request, code, keeps_links=False)
        except EnvironmentFailedError as error:  # before anybody acted the same could be done
            raise LeftError(str(error)) from None
        except SandboxFileError as error:
            if error.reason not in FULL:
                raise
            raise LeftError(str(error)) from None
        return judged

    async def _judged(
        self, sandbox: SandboxPort, request: ExecRequest, code: int, *, keeps_links: bool
    ) -> tuple[Judged, bool]:
        """(what it did, whether a link has led it somewhere)."""
        ready = await made_ready(sandbox, self.contract, self.ground, None, keeps_links=keeps_links)
        watching = await Watching.begin(sandbox, self.contract, self.ground, ready, None, keeps_links=keeps_links)
        try:
            done = await (await sandbox.exec(replace(request, env={**self.variables, **ready.environment}))).wait()
            if done.outcome is not ExecOutcome.EXITED or done.returncode != code:
                return Judged(done), False
            changes = await watching.changed(sandbox, self.contract)
            if changed := changes_of_a_script(changes, list(self.ground.texts.values())):
                return Judged(done, doubt=f"changed while the script ran: {one_line(str(changed[0]), 100)}"), False
            led = await watching.led(sandbox, self.contract) if keeps_links else Led()
            # there is no run without whoever acts, so names that are computed may be any
            texts = self.contract.tests
            computes = bool(led.asked) and await aside(size_of(texts), computes_names, texts.values())
            has_led = led.is_the_verifiers or computes
            return Judged(done, passed=True), has_led
        finally:
            watching.scripts.close()
            await sandbox.remove(self.ground.tests_real, recursive=True, missing_ok=True)


@dataclass(frozen=True, slots=True)
class _PlainPlace:
    """In an image without them."""

    script: str
    workdir: str
    start_up: StartUpFiles
    variables: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    async def of(cls, sandbox: SandboxPort, script: str, *, workdir: str, home: str) -> Self:
        """`home`: the home folder of whoever acts."""
        try:
            return cls(script, workdir, await StartUpFiles.of(sandbox, sandbox.list_dir, home))
        except StartUpFilesError as error:
            raise EnvironmentFailedError(str(error)) from None

    async def judged(
        self, sandbox: SandboxPort, *, seconds: float, stdin: bytes, code: int, keeps_processes: bool = False
    ) -> Judged:
        """Run it behind `guard`, when the start-up files are as they were. Raises LeftError."""
        try:
            await self.start_up.restore(sandbox, sandbox.list_dir, [self.script])
        except StartUpFilesError as error:
            raise LeftError(str(error)) from None
        folder = f"/tmp/{secrets.token_hex(16)}"
        argv, name = _started(self.script)
        path, source, environment = guard(folder, {}, keeps_memory=not look_at_processes([self.script]))
        await sandbox.write_file(f"{folder}/{name}", self.script.encode("utf-8", "surrogatepass"), mode=0o700)
        await sandbox.write_file(path, source)
        await sandbox.write_file(*without_compiled_files(path))
        if (early := first_module_of(path, environment, [self.script])) is not None:
            await sandbox.write_file(*early)
        request = ExecRequest(
            argv=(*argv, f"{folder}/{name}"),
            cwd=self.workdir,
            env={**self.variables, **environment},
            timeout_seconds=seconds,
            stdin=stdin,
            warm=False,
        )
        try:
            done = await (await sandbox.exec(request)).wait()
        finally:
            await sandbox.remove(folder, recursive=True, missing_ok=True)
        return Judged(done, passed=done.outcome is ExecOutcome.EXITED and done.returncode == code)


def _started(script: str) -> tuple[tuple[str, ...], str]:
    """What starts a script, and a name by which it is known what it is written in."""
    first = script.split("\n", 1)[0]
    argv = tuple(shlex.split(first[2:])) if first.startswith("#!") else ("sh",)
    programs = {PurePosixPath(word).name for word in argv}
    if any(name.startswith("python") for name in programs):
        return argv, "script.py"
    return argv, TEST_SCRIPT if programs & _SHELLS else "script"
