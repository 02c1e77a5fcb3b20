"""Scoring by a trusted command over the candidate's files: the `command` contract, whose trust is `shared` (but for
suites whose candidate has a sandbox of its own, see `score_apart`).

The candidate's code may run inside the trusted command, so nothing here is out of its reach for certain. What is
done: the sandbox is fresh, the candidate's files are put in first and the trusted ones over them, files with which a
candidate could steer a test run are left out, and passing takes positive evidence: exit code 0 *and* a word that only
the trusted part was given, on standard input, and that it must repeat at its end. Ending early proves nothing.

A command that runs the candidate's programs shares the sandbox with what they leave. Its trusted programs find modules
as `guest_sitecustomize` says, and what they said is believed only if no trusted file was touched meanwhile, be it that
it was put back (see `fingerprints`); but for those that the command itself changes, as one does with a candidate that
does nothing, those that nobody has read since, and those that the contract calls `changeable`.

A command that is killed (at its time limit, say) is run once more with a candidate that does nothing: if it is killed
then, too, the fault is the contract's, and there is no score.
"""

from __future__ import annotations

import base64
import importlib.util
import json
import secrets
from collections.abc import Collection, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import PurePosixPath

from harena.core.errors import SandboxFileError
from harena.core.models import ExecOutcome, ExecRequest, ExecResult
from harena.core.ports import FileWatch, ReadWatch, SandboxPort, WatchesFiles
from harena.core.results import Reason, Trust, Validity
from harena.scoring.contracts.contract import CommandContract
from harena.scoring.contracts.harbor import TEST_SCRIPT
from harena.scoring.guest import driver as guest_driver
from harena.scoring.guest.suite_protocol import HAS_TAKEN, NO_MODULE, NO_PYTEST, TAKES, TOOK
from harena.scoring.guest_sources import guest_argv, modules_of, source_of
from harena.scoring.name_patterns import NamePatterns
from harena.scoring.scorers.asserts import asserts_judge, score_asserts, shared_names
from harena.scoring.scorers.asserts_apart import modules_beside
from harena.scoring.scorers.changed_expectations import REPEATS, HiddenRun, repeats_expectations
from harena.scoring.scorers.driver_boot import driver_code
from harena.scoring.scorers.entry_names import with_own_name
from harena.scoring.scorers.fingerprints import fingerprints
from harena.scoring.scorers.git_index import asks_git
from harena.scoring.scorers.git_settings import WITHOUT_REPLACEMENTS, names_replacements, repositories_of
from harena.scoring.scorers.gold_runs import known_by_gold
from harena.scoring.scorers.last_changes import without_last_changes
from harena.scoring.scorers.leaked_proofs import hides_processes, look_at_processes, words_in_sight
from harena.scoring.scorers.library_files import hiding_library
from harena.scoring.scorers.literal_control import SAYS_NOTHING, Judge, equals_what_is_made
from harena.scoring.scorers.make_rules import VARIABLE, is_rules, working_anew
from harena.scoring.scorers.missing_programs import missing_of_image
from harena.scoring.scorers.program import WORKSPACE, Bench, output_file, overlaid, put_files
from harena.scoring.scorers.result_files import unwritten, written_by_python
from harena.scoring.scorers.start_up_files import (
    first_module_of,
    guard,
    guarded_scripts,
    guarded_shell,
    hiding_programs,
    without_compiled_files,
)
from harena.scoring.scorers.suite import score_suite, suite_judge
from harena.scoring.scorers.suite_shared import RUNNER_BYTES, run_beside, with_room_for_suite
from harena.scoring.scorers.tool_settings import steering_settings
from harena.scoring.scorers.trusted_names import optional_names, told
from harena.scoring.scorers.trusted_suite import (
    ENVIRONMENT,
    LIST_IT,
    REQUIRES_SECONDS,
    ends_alike,
    idle_bench,
    missing_modules,
    taking_part,
    without_its_folder,
)
from harena.scoring.scorers.verifier_leftovers import without_comments, written_paths
from harena.scoring.scorers.watched_files import content_of, folders_above
from harena.scoring.slices import SLICE, aside, last_line, size_of
from harena.scoring.verdict import (
    PASSED_BUT_TOOK,
    Verdict,
    broken_contract,
    failed,
    one_line,
    program_failure,
    tampered,
)

_PROGRAMS = (".py", ".sh", ".bash", ".pl", ".rb", ".js")
_COMMAND_MISSING = (126, 127, NO_PYTEST)

_SPARE_BYTES = 256 * 1024
_SEARCHES = 16
"""times that a text is read where it is looked through: texts of 1,024 characters are small"""
_MAX_CHANGED_BYTES = 64 * 1024 * 1024
_PLACES_OF_GIT = (WORKSPACE, "/tmp")
_LINE_ENDS = (b"\n", b"\r")


@dataclass(frozen=True, slots=True)
class _Ran:
    """What a command did."""

    result: ExecResult
    proven: bool
    changed: Mapping[str, bytes | None]
    """the trusted files that were touched, and what they hold now"""
    events: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """how, as far as it can be told, see `harena.core.ports.FileWatch`"""
    unread: frozenset[str] = frozenset()
    """the trusted files of which nothing was read since they could first be changed, see
    `harena.core.ports.ReadWatch`"""
    settings: str | None = None
    """the settings of tools that the candidate has changed, in words (`tool_settings`); None = none"""
    programs: frozenset[str] = frozenset()
    """programs that hide the system's, in folders that the trusted texts put on PATH, and files that hide one of a
    tool's library, where the texts give it a search path"""
    repositories: frozenset[str] = frozenset()
    """files of repositories by which these say of themselves what the trusted texts do not"""
    removed: frozenset[str] = frozenset()
    """files of the candidate's that took no part because they hide one of a tool's library"""
    disk_is_full: bool = False
    """what the trusted part wrote may be missing, and two empty files are alike"""
    took: bool = False
    """asserts have passed, and what the candidate has taken of them is all that is held against it"""
    prepared: tuple[str, ...] = ()
    """files of the candidate's in the place of what the trusted part makes, and which it has not written"""


@dataclass(frozen=True, slots=True)
class _Guarded:
    """How a command is started."""

    environment: Mapping[str, str]
    files: Mapping[str, str]
    """the contract's, as they are written"""
    path: str = ""
    """path of the guard's file, see `guest_sitecustomize`; "" = there is none"""
    source: bytes = b""
    first: tuple[str, bytes] | None = None
    """path and content of a file beside it, see `first_module_of`"""
    argv: tuple[str, ...] = ()
    hides_processes: bool = False
    """other processes are hidden from the candidate, because the command gives the word of its proof away"""
    own_domains: bool = False
    """no program looks into the one that has started it; the command does not ask what others have open"""
    changeable: frozenset[str] = frozenset()
    """paths of the contract's files that the candidate may change"""
    results: tuple[str, ...] = ()
    """files of the candidate's that the command's own Python writes"""
    packages: tuple[str, ...] = ()
    """files of the candidate's in a package by whose name the command's shell writes a module"""


async def score_command(bench: Bench, contract: CommandContract) -> Verdict:
    """One trusted command. Raises PlatformError and SandboxError for what is nobody's doing."""
    if contract.suite:
        hidden = HiddenRun(_run_suite_once)
        verdict = await _told(bench, contract, await score_suite(bench, contract, hidden))
        if verdict.passed and (verdict.trust or contract.trust) is Trust.SHARED:
            verdict = await _unless_repeated(bench, contract, verdict, hidden)
        return await _unless_made(bench, contract, verdict, await suite_judge(bench, contract))
    if contract.asserts is not None:
        named = await with_own_name(bench, contract)
        if named.unclear:
            return broken_contract(named.unclear)
        bench, contract = named.bench, named.contract
        hidden = HiddenRun(_run_asserts_once)
        verdict = await score_asserts(bench, contract, _scored, hidden)
        was_called = contract.calls and await known_by_gold(bench, contract) in (None, "called")
        if verdict.passed and verdict.trust is Trust.SHARED and not was_called:
            verdict = await _unless_repeated(bench, contract, verdict, hidden)
        if contract.calls:
            return verdict  # each function has a process of its own, in which no other one's answer can be filled in
        return await _unless_made(bench, contract, verdict, await asserts_judge(bench, contract, _scored))
    return await _scored(bench, contract)


async def _told(bench: Bench, contract: CommandContract, verdict: Verdict) -> Verdict:
    """A lowest score says which of the candidate's files took no part."""
    if verdict.score != 0.0:
        return verdict
    kept = await taking_part(bench, contract, is_apart=verdict.trust is Trust.SEPARATE)
    left_out = bench.scenario.candidate.files.keys() - kept.keys() - contract.files.keys()
    return replace(verdict, detail=verdict.detail + told(left_out))


async def _run_asserts_once(bench: Bench, contract: CommandContract) -> bool:
    beside = contract.model_copy(update={"isolate": False})
    bench = with_room_for_suite(bench, contract)
    ran = await _run(bench, beside, overlaid(await taking_part(bench, beside), bench.scenario.files))
    has_ended_them = ran.result.returncode == 0 and not ran.proven
    return ran.took or has_ended_them or ran.result.returncode == HAS_TAKEN


async def _run_suite_once(bench: Bench, contract: CommandContract) -> bool:
    return await run_beside(with_room_for_suite(bench, contract), contract)


async def _unless_repeated(bench: Bench, contract: CommandContract, verdict: Verdict, hidden: HiddenRun) -> Verdict:
    if not await repeats_expectations(bench, contract, hidden):
        return verdict
    return replace(tampered(REPEATS), trust=verdict.trust)


async def _unless_made(bench: Bench, contract: CommandContract, verdict: Verdict, judge: Judge) -> Verdict:
    if not verdict.passed or not await equals_what_is_made(bench, contract, judge):
        return verdict
    return replace(tampered(SAYS_NOTHING), trust=verdict.trust)


async def _scored(bench: Bench, contract: CommandContract) -> Verdict:
    """One run, and what is to be found out about it."""
    if contract.command is not None:  # what a problem brings is no candidate's, either
        contract = contract.model_copy(update={"files": {**bench.scenario.files, **contract.files}})
    kept = await taking_part(bench, contract)
    files = overlaid(kept, bench.scenario.files)
    ran = await _run(bench, contract, files)
    if ran.prepared:  # the command makes them itself, or takes what was prepared for its own
        files = {path: text for path, text in files.items() if path not in ran.prepared}
        ran = await _run(bench, contract, files)
    result = ran.result
    verdict = _verdict(result, ran.proven)
    if verdict.validity is Validity.SUSPECT and ran.took:
        return replace(verdict, observations=(*verdict.observations, PASSED_BUT_TOOK))
    if verdict.passed and ran.settings is not None:
        return tampered(f"{ran.settings}, which steers a tool of the trusted command, was made while it ran")
    if verdict.passed and ran.disk_is_full:
        return tampered("the disk was full when the command ended, so that what it compared may have been missing")
    if verdict.passed and (ran.programs or ran.repositories):
        idle = idle_bench(bench)
        alone = await _run(idle, contract, {**idle.scenario.candidate.files, **bench.scenario.files}, compares=True)
        if made := sorted(ran.programs - alone.programs):
            return tampered(f"{one_line(made[0], 100)}, which hides one of the system's, was made while it ran")
        if steered := sorted(ran.repositories - alone.repositories):
            return tampered(f"{one_line(steered[0], 100)}, which steers git, was made while it ran")
    if verdict.passed and not ran.changed:
        return await _with_words_in_sight(contract, verdict)
    if verdict.passed:
        idle = idle_bench(bench)
        theirs = {**idle.scenario.candidate.files, **bench.scenario.files}
        alone = await _run(idle, contract, theirs, compares=True)
        touched = _unexplained(contract, ran, alone)
        if touched:
            held = await aside(_looked_at(contract), without_last_changes, contract, touched)
            again = await _run(bench, held, files, unread=touched)
            if _verdict(again.result, again.proven).passed:
                touched = _unexplained(held, again, alone)
        return _touched(contract, touched[0]) if touched else await _with_words_in_sight(contract, verdict)
    left_out = (bench.scenario.candidate.files.keys() - kept.keys() - contract.files.keys()) | ran.removed
    verdict = replace(verdict, detail=verdict.detail + told(left_out))
    return await _broken_without_candidate(bench, contract, result) or verdict


async def _with_words_in_sight(contract: CommandContract, verdict: Verdict) -> Verdict:
    """A pass says by which line the candidate could have learned the word."""
    command = contract.command or ()
    given = await aside(_looked_at(contract), words_in_sight, command, contract.files)
    return replace(verdict, detail=f"{verdict.detail}{given[0].told}") if given else verdict


def _unexplained(contract: CommandContract, ran: _Ran, alone: _Ran) -> list[str]:
    """The trusted files that were touched, and not (in that way) by the command itself with a candidate that does
    nothing; but for those that nobody has read since, which is how a command leaves a snapshot or a log."""
    nothing: frozenset[str] = frozenset()
    return [
        path
        for path, after in sorted(ran.changed.items())
        if path not in ran.unread
        and (
            path not in alone.changed
            or not ran.events.get(path, nothing) <= alone.events.get(path, nothing)
            or (after != alone.changed[path] and _is_program(contract, path))
        )
    ]


async def _broken_without_candidate(bench: Bench, contract: CommandContract, result: ExecResult) -> Verdict | None:
    """The verdict where the trusted part cannot be applied, whoever the candidate is. A candidate may end a command in
    any way, too: that it is the command's own fault is believed only of a run with a candidate that does nothing."""
    if (missing := await missing_modules(bench, contract)) is not None:
        return broken_contract(missing)
    exited = result.outcome is ExecOutcome.EXITED
    if exited and result.returncode == NO_MODULE:
        detail = f"{one_line(last_line(result.stderr))}: the candidate is to bring it; {LIST_IT}"
        return failed(Reason.SCORER_REJECTED, detail, observation=f"{result.outcome}:{result.returncode}:False")
    if exited and result.returncode not in _COMMAND_MISSING:
        return None

    async def ended(idle: Bench) -> ExecResult:
        return (await _run(idle, contract, {**idle.scenario.candidate.files, **bench.scenario.files})).result

    alone = await ends_alike(bench, result, await taking_part(bench, contract), ended)
    if alone is None:
        return None
    if exited and result.returncode != NO_PYTEST:
        texts = [*contract.files.values(), *bench.scenario.files.values(), *(contract.command or ("python",))]
        text = "\n".join([*texts, *(f"PATH={path}" for name, path in contract.env.items() if name == "PATH")])
        if missing_of_image(alone.stderr, text, contract.files) is None and await _image_has_command(bench, contract):
            said = _last_line(alone) or f"exit code {result.returncode}"
            detail = f"the trusted command cannot go on without what the candidate is to make: {said}"
            return failed(Reason.SCORER_REJECTED, detail, observation=f"{result.outcome}:{result.returncode}:False")
    if exited:
        return broken_contract(f"the trusted command cannot be run: {_last_line(alone)}")
    _, why = program_failure(alone) or (None, str(alone.outcome))
    return broken_contract(f"the trusted command does not end well with a candidate that does nothing, too: {why}")


async def _image_has_command(bench: Bench, contract: CommandContract) -> bool:
    """False: what the contract starts is on no path of a sandbox without any candidate."""
    name = (contract.command or ("python",))[0]
    if "/" in name:
        return True
    async with bench.sandboxes.sandbox(bench.base_spec) as sandbox:
        argv = ("sh", "-c", 'command -v -- "$1"', "sh", name)
        request = ExecRequest(argv=argv, env=contract.env, cwd="/", timeout_seconds=REQUIRES_SECONDS)
        done = await (await sandbox.exec(request)).wait()
    return done.outcome is ExecOutcome.EXITED and done.returncode == 0


def _verdict(result: ExecResult, proven: bool) -> Verdict:
    observation = f"{result.outcome}:{result.returncode}:{proven}"
    failure = program_failure(result)
    if failure is not None and result.outcome is not ExecOutcome.EXITED:
        return failed(*failure, observation=observation, unjudged=True)
    said = one_line(last_line(result.stderr)) if result.returncode == HAS_TAKEN else ""
    if said.startswith(TAKES):
        return replace(tampered(said), observations=(observation,))
    if failure is not None:
        return failed(Reason.SCORER_REJECTED, failure[1], observation=observation)
    if not proven:
        detail = "exit code 0 without the proof that every check has run and passed"
        return failed(Reason.EXITED_EARLY, detail, observation=observation)
    return Verdict(score=1.0, passed=True, reason=Reason.PASSED, checks_passed=1, observations=(observation,))


def _last_line(result: ExecResult) -> str:
    if result.returncode == NO_PYTEST:
        return "the image has no pytest; add it to the blueprint's packages"
    return one_line(last_line(result.stderr))


async def _run(
    bench: Bench,
    contract: CommandContract,
    files: Mapping[str, str],
    *,
    compares: bool = False,
    unread: Sequence[str] = (),
) -> _Ran:
    """`compares`: which files were touched is asked also where it does not pass. `unread`: trusted files of which it
    is asked, too, whether somebody has read them since they were changed."""
    word = secrets.token_hex(16)
    async with AsyncExitStack() as stack:
        guarded = await aside(_looked_at(contract), _guarded, contract, files)
        sandbox = await stack.enter_async_context(
            bench.sandbox(
                hides_processes=guarded.hides_processes,
                own_domains=guarded.own_domains,
                runner_bytes=RUNNER_BYTES if contract.asserts is not None else 0,
            )
        )
        await put_files(sandbox, files)
        await put_files(sandbox, guarded.files)
        removed = await _without_library(sandbox, contract)
        before: Mapping[str, str] = {}
        watch: FileWatch | None = None
        reads: ReadWatch | None = None
        if guarded.path:
            await sandbox.write_file(guarded.path, guarded.source)
            await sandbox.write_file(*without_compiled_files(guarded.path))
            if guarded.first is not None:
                await sandbox.write_file(*guarded.first)
            before = await fingerprints(sandbox, _watched(contract, guarded.path))
            if isinstance(sandbox, WatchesFiles):
                watch = await sandbox.watch_files(*_places(contract, guarded))
                stack.callback(watch.close)
                if unread:
                    reads = await sandbox.watch_reads(*_places(contract, guarded, unread))
                    stack.callback(reads.close)
        result = await bench.run(
            sandbox,
            ExecRequest(
                argv=guarded.argv or _argv(contract, files, bench.scenario.candidate.entry),
                env=guarded.environment,
                cwd=WORKSPACE,
                stdin=f"{word}\n{await _tests(bench, contract)}".encode(),
                timeout_seconds=bench.timeout_seconds,
                stdin_stream=True,  # of a pipe nobody reads the word again, as of a file
                guarded=True,
            ),
        )
        if contract.proof.file is None or contract.command is None:
            said = result.stdout
        elif result.returncode == 0:
            said = (await output_file(sandbox, contract.proof.file) or "").encode()
        else:
            said = b""
        proven = await aside(len(said), holds_at_end_of_line, said, f"harena-proof {word}".encode())
        took = contract.asserts is not None and await aside(len(said), holds_at_end_of_line, said, TOOK + word.encode())
        changed: dict[str, bytes | None] = {}
        events: Mapping[str, frozenset[str]] = {}
        left = frozenset() if reads is None else await reads.unread()  # before the files are looked at
        settings, disk_is_full = None, False
        programs: frozenset[str] = frozenset()
        repositories: frozenset[str] = frozenset()
        has_passed = result.outcome is ExecOutcome.EXITED and result.returncode == 0 and proven
        if guarded.path and (has_passed or compares):
            events = {} if watch is None else _of_contract(await watch.touched(), contract, guarded)
            changed = await _touched_files(sandbox, contract, guarded, before, events)
            # without the guard: the trusted part has ended
            argv = contract.command or ()
            environment = {**ENVIRONMENT, **contract.env}
            made = await steering_settings(sandbox, contract.files, argv, environment, guarded.path)
            settings = made[0] if made else None
            programs = await _hiding_programs(sandbox, contract, environment)
            programs |= await _hiding_library(sandbox, contract)
            repositories = await _steered_repositories(sandbox, contract)
        prepared: tuple[str, ...] = ()
        if has_passed and contract.command is not None:
            disk_is_full = await _is_full(sandbox)
            prepared = guarded.packages
            if guarded.results:
                paths = [f"{WORKSPACE}/{path}" for path in guarded.results]
                kept = await unwritten(sandbox, paths, guarded.path, 0.0)
                prepared += tuple(path.removeprefix(f"{WORKSPACE}/") for path in kept)
    ours = frozenset(path for path in unread if f"{WORKSPACE}/{path}" in left)
    return _Ran(
        result, proven, changed, events, ours, settings, programs, repositories, removed, disk_is_full, took, prepared
    )


async def _hiding_programs(
    sandbox: SandboxPort, contract: CommandContract, environment: Mapping[str, str]
) -> frozenset[str]:
    texts = [*contract.files.values(), *(contract.command or ())]
    if not any("PATH=" in text for text in texts):
        return frozenset()
    argv = ("sh", "-c", 'printf %s "${HOME%/}"')
    request = ExecRequest(argv=argv, cwd="/", env=environment, timeout_seconds=REQUIRES_SECONDS, warm=False)
    home = (await (await sandbox.exec(request)).wait()).stdout.decode("utf-8", "surrogateescape")
    return await hiding_programs(sandbox.list_dir, home, texts, (WORKSPACE,))


async def _steered_repositories(sandbox: SandboxPort, contract: CommandContract) -> frozenset[str]:
    """Files of settings, and indexes, by which repositories say of themselves what no trusted text does."""
    texts = [*contract.files.values(), *(contract.command or ())]
    if contract.command is None or not await aside(_looked_at(contract), asks_git, texts):
        return frozenset()
    found = await repositories_of(sandbox, _PLACES_OF_GIT, texts, by_value=True)
    paths = {path for path, said in {**found.settings, **found.unseen}.items() if said}
    return frozenset(paths if found.is_all else {*paths, "a repository of many"})


async def _hiding_library(sandbox: SandboxPort, contract: CommandContract) -> frozenset[str]:
    """Files that hide one of a tool's library, but for trusted ones and those that the contract allows."""
    if contract.command is None:
        return frozenset()
    texts = [*contract.files.values(), *contract.command, *(f"{name}={value}" for name, value in contract.env.items())]
    found = await hiding_library(sandbox, [*texts, " ".join(contract.command)], (WORKSPACE,))
    allowed = NamePatterns(contract.allow)
    below = {path: path.removeprefix(f"{WORKSPACE}/") for path in found}
    return frozenset(path for path, name in below.items() if name not in contract.files and not allowed.matches(name))


async def _without_library(sandbox: SandboxPort, contract: CommandContract) -> frozenset[str]:
    """Remove such files before anybody has run; their paths below the working directory."""
    hiding = [path for path in await _hiding_library(sandbox, contract) if path.startswith(f"{WORKSPACE}/")]
    for path in hiding:
        await sandbox.remove(path, missing_ok=True)
    return frozenset(path.removeprefix(f"{WORKSPACE}/") for path in hiding)


async def _is_full(sandbox: SandboxPort) -> bool:
    """There is no room for another file of some size in the places where commands write."""
    name = f".{secrets.token_hex(8)}"
    for folder in (WORKSPACE, "/tmp"):
        try:
            await sandbox.write_file(f"{folder}/{name}", bytes(_SPARE_BYTES))
            await sandbox.remove(f"{folder}/{name}", missing_ok=True)
        except SandboxFileError as error:
            if error.reason in ("NO_SPACE", "NO_MEMORY"):
                return True
            if error.reason == "IO_FAILED":
                raise
    return False


def _looked_at(contract: CommandContract) -> int:
    """The characters that are read where the trusted texts are looked through, and their names."""
    named = (*contract.changeable, *contract.files) if contract.changeable else ()
    return _SEARCHES * (size_of(contract.files) + sum(map(len, (*(contract.command or ()), *named))))


def _guarded(contract: CommandContract, files: Mapping[str, str]) -> _Guarded:
    """What a command is started with: a guard for its Python programs, and lines of shell that keep it."""
    if contract.command is None:
        return _Guarded({**ENVIRONMENT, **contract.env}, contract.files)
    trusted = [f"{WORKSPACE}/{path}" for path in contract.files if path.endswith(".py")]
    optional = optional_names(contract, contract.files)
    hides = hides_processes(contract.command, contract.files)
    is_blind = not look_at_processes((*contract.command, *contract.files.values()))
    folder = f"/tmp/{secrets.token_hex(8)}"
    path, source, environment = guard(
        folder,
        {**ENVIRONMENT, **contract.env, **_options_of_make(contract), **_options_of_git(contract)},
        trusted=trusted,
        optional=optional,
        beside_candidate=True,
        hides_processes=hides,
    )
    place = PurePosixPath(path).parent.as_posix()
    texts = guarded_scripts(contract.files, place, contract.command)
    argv = contract.command
    if argv[1:2] == ("-c",) and PurePosixPath(argv[0]).name in ("sh", "bash", "dash"):
        argv = (*argv[:2], guarded_shell(argv[2], place), *argv[3:]) if len(argv) > 2 else argv
    changeable = NamePatterns(contract.changeable)
    may_change = frozenset(path for path in contract.files if changeable.matches(path))
    first = first_module_of(path, environment, [*contract.files.values(), *contract.command])
    results, packages = _made_by_command(contract, files)
    return _Guarded(environment, texts, path, source, first, argv, hides, is_blind, may_change, results, packages)


def _options_of_make(contract: CommandContract) -> dict[str, str]:
    """Variables by which the command's `make` believes no file of the candidate's that a check has passed."""
    texts = [without_comments(path, text) for path, text in contract.files.items() if not is_rules(path)]
    texts.append(" ".join(contract.command or ()))
    options = working_anew(contract.files, texts, contract.files.keys())
    given = contract.env.get(VARIABLE, "")
    return {name: f"{value} {given}".rstrip() for name, value in options.items()}


def _options_of_git(contract: CommandContract) -> dict[str, str]:
    texts = [*contract.files.values(), *(contract.command or ())]
    return dict(WITHOUT_REPLACEMENTS) if asks_git(texts) and not names_replacements(texts) else {}


def _made_by_command(contract: CommandContract, files: Mapping[str, str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Files of the candidate's (that its own Python writes, in a package by whose name its shell writes a module)."""
    theirs = [path for path in files if path not in contract.files]
    programs = [path for path in contract.files if path.endswith((".py", ".sh", ".bash"))]
    if not theirs or not (programs or contract.command):
        return (), ()
    texts = {path: contract.files[path] for path in programs} | {TEST_SCRIPT: "\n".join(contract.command or ())}
    results = {path.removeprefix(f"{WORKSPACE}/") for path in written_by_python(texts, WORKSPACE)}
    written = written_paths(texts, WORKSPACE, places=(f"{WORKSPACE}/",))
    modules = {f"{path.removeprefix(f'{WORKSPACE}/').removesuffix('.py')}/" for path in written if path.endswith(".py")}
    packages = {module for module in modules if f"{module}__init__.py" in files}
    return (
        tuple(path for path in theirs if path in results),
        tuple(path for path in theirs if any(path.startswith(package) for package in packages)),
    )


def holds_at_end_of_line(text: bytes, line: bytes) -> bool:
    """One of the lines of a text ends so; no list of them all is made. What comes before may be a candidate's output
    without a line break: who knows the word could as well have written one."""
    start = 0
    while start < len(text):  # slice by slice: see `slices`
        at = text.find(line, start, start + SLICE)
        if at < 0:
            start += SLICE - len(line)
            continue
        end = at + len(line)
        if end == len(text) or text[end : end + 1] in _LINE_ENDS:
            return True
        start = end
    return False


async def _touched_files(
    sandbox: SandboxPort,
    contract: CommandContract,
    guarded: _Guarded,
    before: Mapping[str, str],
    events: Mapping[str, frozenset[str]],
) -> dict[str, bytes | None]:
    """The watched files that are no longer what they were before the command, with their content; the files that
    `CommandContract.changeable` names are not watched."""
    after = await fingerprints(sandbox, _watched(contract, guarded.path))
    changed: dict[str, bytes | None] = {}
    folder = PurePosixPath(guarded.path).parent.as_posix()
    guard_now = await content_of(sandbox, guarded.path, max_bytes=_MAX_CHANGED_BYTES)
    first = "" if guarded.first is None else guarded.first[0]
    if (
        guard_now != guarded.source
        or first in events
        or any(before.get(path) != after.get(path) or path in events for path in (guarded.path, folder))
    ):
        changed[guarded.path] = None
    for path, text in guarded.files.items():
        if path in guarded.changeable:
            continue
        # content is compared, too: who maps a file changes it at a time that no file system notes
        now = await content_of(sandbox, f"{WORKSPACE}/{path}", max_bytes=_MAX_CHANGED_BYTES)
        is_untouched = before.get(path) == after.get(path) and path not in events
        if not is_untouched or now != text.encode("utf-8", "surrogatepass"):
            changed[path] = now
    return changed


def _watched(contract: CommandContract, guard_path: str) -> list[str]:
    return [*contract.files, guard_path, PurePosixPath(guard_path).parent.as_posix()]


def _places(
    contract: CommandContract, guarded: _Guarded, only: Collection[str] | None = None
) -> tuple[list[str], list[str]]:
    """(files, folders) that are watched. `only`: of the files, these."""
    kept = [path for path in contract.files if path not in guarded.changeable]
    files = [f"{WORKSPACE}/{path}" for path in kept if only is None or path in only]
    if only is None:
        files += [guarded.path, *([guarded.first[0]] if guarded.first is not None else [])]
    return files, folders_above(files)


def _of_contract(
    touched: Mapping[str, frozenset[str]], contract: CommandContract, guarded: _Guarded
) -> dict[str, frozenset[str]]:
    """Events by the contract's own paths; what happens to a folder happens to each file in it."""
    found: dict[str, frozenset[str]] = {}
    if not touched:
        return found
    for name in [*contract.files, guarded.path, *([guarded.first[0]] if guarded.first is not None else [])]:
        place, events = name if name.startswith("/") else f"{WORKSPACE}/{name}", set[str]()
        while place:
            events |= touched.get(place, frozenset())
            place = place.rpartition("/")[0]
        if events:
            found[name] = frozenset(events)
    return found


def _is_program(contract: CommandContract, path: str) -> bool:
    return path.startswith("/") or path.endswith(_PROGRAMS) or path in (contract.command or ())


def _touched(contract: CommandContract, path: str) -> Verdict:
    if path not in contract.files:
        return tampered("the guard of the trusted programs was changed while the command ran")
    advice = (
        "; a command that changes it itself shall take a copy; if the candidate may change it, name it in `changeable`"
    )
    advice = "" if _is_program(contract, path) else advice
    return tampered(f"the trusted {path} was changed while the command ran{advice}")


def _argv(contract: CommandContract, files: Mapping[str, str], entry: str) -> tuple[str, ...]:
    if contract.command is not None:
        return contract.command
    if _is_apart(contract):
        return without_its_folder(guest_argv(modules_of("calls"), "main"))
    assert contract.asserts is not None
    return (*without_its_folder(guest_argv(modules_of("asserts"), "main")), entry)


def _is_apart(contract: CommandContract) -> bool:
    """The asserts call a candidate that has a process of its own."""
    return bool(contract.calls) and contract.isolate is not False


@cache
def _driver_in_both_forms() -> Mapping[str, str]:
    """The guest's half of the conversation, compiled for interpreters like this one and as source for all others."""
    compiled = base64.b64encode(driver_code()).decode()
    magic = importlib.util.MAGIC_NUMBER.hex()
    return {"magic": magic, "compiled": compiled, "source": source_of(guest_driver)}


async def _tests(bench: Bench, contract: CommandContract) -> str:
    """What the runner of `asserts` is given below the word."""
    if contract.asserts is None:
        return ""
    modules, entry = modules_beside(contract), bench.scenario.candidate.entry
    if _is_apart(contract):
        request = {"source": contract.asserts, "calls": contract.calls, "path": entry}
        return json.dumps({**request, "modules": modules, "driver": _driver_in_both_forms()})
    names = await shared_names(contract, entry)
    fields = {**names.fields(), "aliases": contract.calls}
    theirs = sorted(bench.scenario.candidate.files.keys() - contract.files.keys() - bench.scenario.files.keys())
    return json.dumps({"source": contract.asserts, "names": fields, "modules": modules, "theirs": theirs})
