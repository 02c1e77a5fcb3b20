"""Scoring by a trusted command over the candidate's files: the `command` contract, whose trust is `shared`.

The candidate's code may run inside the trusted command, so nothing here is out of its reach for certain. What is
done: the sandbox is fresh, the candidate's files are put in first and the trusted ones over them, files with which a
candidate could steer a test run are left out, and passing takes positive evidence: exit code 0 *and* a word that only
the trusted part was given, on standard input, and that it must repeat at its end. Ending early proves nothing.
"""

from __future__ import annotations

import fnmatch
import json
import secrets
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path, PurePosixPath
from types import ModuleType

from harena.core.models import ExecOutcome, ExecRequest, ExecResult
from harena.core.results import Reason
from harena.scoring import (
    guest_asserts,
    guest_calls,
    guest_driver,
    guest_equals,
    guest_imports,
    guest_proxy,
    guest_pytest,
)
from harena.scoring.contracts import CommandContract
from harena.scoring.program import WORKSPACE, Bench, output_file, put_files
from harena.scoring.verdict import Share, Verdict, broken_contract, failed, one_line, program_failure

_STEERING_NAMES = frozenset({
    "conftest.py", "sitecustomize.py", "usercustomize.py", "pyproject.toml", "pytest.ini", ".pytest.ini", "pytest.toml",
    ".pytest.toml", "setup.cfg", "setup.py", "tox.ini", "noxfile.py", "Makefile",
})  # fmt: skip
_STEERING_SUFFIXES = frozenset({".pth", ".pyc", ".pyo", ".so", ".egg-link"})
_STEERING_FOLDERS = frozenset({"__pycache__", ".git"})
_STEERING_FOLDER_SUFFIXES = frozenset({".dist-info", ".egg-info", ".egg"})
_SHADOWING = sys.stdlib_module_names | {"pytest", "_pytest", "pluggy", "iniconfig", "packaging", "py", "unittest"}

_ENVIRONMENT = {
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONNOUSERSITE": "1",
    "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
    "PYTEST_ADDOPTS": "",
    "PYTEST_PLUGINS": "",
}
_PYTEST_OPTIONS = ("-p", "no:cacheprovider", "-q", "--color=no", "--rootdir", WORKSPACE, "-c", "/dev/null")
_COMMAND_MISSING = (126, 127, guest_pytest.NO_PYTEST, guest_imports.NO_MODULE)


def steers(path: str) -> bool:
    """A candidate's file of this name could change how a trusted command runs, without being imported by its tests."""
    parts = PurePosixPath(path).parts
    first = parts[0].partition(".")[0]
    return (
        parts[-1] in _STEERING_NAMES
        or PurePosixPath(path).suffix in _STEERING_SUFFIXES
        or any(part in _STEERING_FOLDERS or PurePosixPath(part).suffix in _STEERING_FOLDER_SUFFIXES for part in parts)
        or first in _SHADOWING
    )


def kept_files(contract: CommandContract, files: Mapping[str, str]) -> dict[str, str]:
    """The candidate's files that take part: not those that steer (unless allowed), none that a trusted one hides."""
    trusted = set(contract.files)
    folders = {parent.as_posix() for path in trusted for parent in PurePosixPath(path).parents}
    return {
        path: text
        for path, text in files.items()
        if path not in trusted
        and path not in folders
        and not any(parent.as_posix() in trusted for parent in PurePosixPath(path).parents)
        and (not steers(path) or any(fnmatch.fnmatchcase(path, pattern) for pattern in contract.allow))
    }


async def score_command(bench: Bench, contract: CommandContract) -> Verdict:
    """One trusted command. Raises PlatformError and SandboxError for what is nobody's doing."""
    files = {**kept_files(contract, bench.scenario.candidate.files), **bench.scenario.files}
    result, proven = await _run(bench, contract, files)
    if result.outcome is ExecOutcome.EXITED and result.returncode in _COMMAND_MISSING:
        # a candidate may end with these codes, too: believed only of a run without it
        alone, _ = await _run(bench, contract, bench.scenario.files)
        if alone.returncode == result.returncode:
            return broken_contract(f"the trusted command cannot be run: {_last_line(alone)}")
    return _verdict(result, proven, bench.share)


def _verdict(result: ExecResult, proven: bool, share: Share) -> Verdict:
    observation = f"{result.outcome}:{result.returncode}:{proven}"
    failure = program_failure(result, share)
    if failure is not None and result.outcome is not ExecOutcome.EXITED:
        return failed(*failure, observation=observation)
    if failure is not None:
        return failed(Reason.SCORER_REJECTED, failure[1], observation=observation)
    if not proven:
        detail = "exit code 0 without the proof that every check has run and passed"
        return failed(Reason.EXITED_EARLY, detail, observation=observation)
    return Verdict(score=1.0, passed=True, reason=Reason.PASSED, checks_passed=1, observations=(observation,))


def _last_line(result: ExecResult) -> str:
    if result.returncode == guest_pytest.NO_PYTEST:
        return "the image has no pytest; add it to the blueprint's packages"
    if result.returncode == guest_imports.NO_MODULE:
        line = one_line(result.stderr.rstrip().rpartition(b"\n")[2].decode("utf-8", "replace"))
        return f"{line}; add it to the blueprint's packages"
    return one_line(result.stderr.rstrip().rpartition(b"\n")[2].decode("utf-8", "replace"))


async def _run(bench: Bench, contract: CommandContract, files: Mapping[str, str]) -> tuple[ExecResult, bool]:
    """(what the command did, whether its proof is there)."""
    word = secrets.token_hex(16)
    async with bench.sandboxes.sandbox(bench.spec) as sandbox:
        await put_files(sandbox, files)
        await put_files(sandbox, contract.files)
        result = await bench.run(
            sandbox,
            ExecRequest(
                argv=_argv(contract, files, bench.scenario.candidate.entry),
                env={**_ENVIRONMENT, **contract.env},
                cwd=WORKSPACE,
                stdin=f"{word}\n{_tests(contract, bench.scenario.candidate.entry)}".encode(),
                timeout_seconds=bench.timeout_seconds,
                guarded=True,
            ),
        )
        if contract.proof.file is None or contract.command is None:
            lines = result.stdout.splitlines()
        elif result.returncode == 0:
            lines = (await output_file(sandbox, contract.proof.file) or "").encode().splitlines()
        else:
            lines = []
    return result, f"harena-proof {word}".encode() in lines


def _argv(contract: CommandContract, files: Mapping[str, str], entry: str) -> tuple[str, ...]:
    if contract.command is not None:
        return contract.command
    if contract.calls:
        return ("python", "-c", _program((guest_imports, guest_calls), "main"))
    if contract.asserts is not None:
        return ("python", "-c", _program((guest_equals, guest_imports, guest_asserts), "main"), entry)
    assert contract.pytest is not None
    runner = _program((guest_driver, guest_proxy, guest_equals, guest_pytest), "main")
    child = _program((guest_driver, guest_proxy), "serve") if contract.isolate else ""
    theirs = ",".join(path for path in files if path not in contract.files)
    return ("python", "-c", runner, ",".join(contract.files), theirs, child, *_PYTEST_OPTIONS, *contract.pytest)


def _tests(contract: CommandContract, entry: str) -> str:
    """What the runner of `asserts` is given below the word."""
    if not contract.calls:
        return contract.asserts or ""
    driver = Path(guest_driver.__file__).read_text(encoding="utf-8")
    return json.dumps({"source": contract.asserts, "calls": contract.calls, "path": entry, "driver": driver})


@cache
def _program(modules: tuple[ModuleType, ...], start: str) -> str:
    """A program that has these modules, under the names that they have here, and calls a function of the last one."""
    sources = {module.__name__: Path(module.__file__ or "").read_text(encoding="utf-8") for module in modules}
    return (
        "import sys, types\n"
        "for name in ('harena', 'harena.scoring'):\n    sys.modules[name] = types.ModuleType(name)\n"
        f"for name, source in {sources!r}.items():\n"
        "    module = sys.modules[name] = types.ModuleType(name)\n"
        "    exec(compile(source, f'<{name}>', 'exec'), module.__dict__)\n"
        f"module.{start}()\n"
    )
