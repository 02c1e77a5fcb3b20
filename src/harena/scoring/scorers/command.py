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

import secrets
from collections.abc import Collection, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath

from harena.core.errors import SandboxFileError
from harena.core.models import ExecOutcome, ExecRequest, ExecResult
from harena.core.ports import FileWatch, ReadWatch, SandboxPort, WatchesFiles
from harena.scoring.contracts.contract import CommandContract
from harena.scoring.contracts.harbor import TEST_SCRIPT
from harena.scoring.name_patterns import NamePatterns
from harena.scoring.scorers.command_verdicts import (
    broken_without_candidate,
    command_verdict,
    holds_at_end_of_line,
    with_words_in_sight,
)
from harena.scoring.scorers.fingerprints import fingerprints
from harena.scoring.scorers.git_index import asks_git
from harena.scoring.scorers.git_settings import WITHOUT_REPLACEMENTS, names_replacements, repositories_of
from harena.scoring.scorers.last_changes import without_last_changes
from harena.scoring.scorers.leaked_proofs import hides_processes, look_at_processes
from harena.scoring.scorers.library_files import hiding_library
from harena.scoring.scorers.make_rules import VARIABLE, is_rules, without_comments, working_anew
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
from harena.scoring.scorers.tool_settings import steering_settings
from harena.scoring.scorers.trusted_names import optional_names, told
from harena.scoring.scorers.trusted_suite import (
    ENVIRONMENT,
    REQUIRES_SECONDS,
    idle_bench,
    taking_part,
)
from harena.scoring.scorers.verifier_leftovers import written_paths
from harena.scoring.scorers.watched_files import content_of, folders_above
from harena.scoring.slices import aside, size_of
from harena.scoring.verdict import (
    Verdict,
    one_line,
    tampered,
)

_PROGRAMS = (".py", ".sh", ".bash", ".pl", ".rb", ".js")

_SPARE_BYTES = 256 * 1024
_SEARCHES = 16
"""times that a text is read where it is looked through: texts of 1,024 characters are small"""
_MAX_CHANGED_BYTES = 64 * 1024 * 1024
_PLACES_OF_GIT = (WORKSPACE, "/tmp")


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
    prepared: tuple[str, ...] = ()
    """files of the candidate's in the place of what the trusted part makes, and which it has not written"""


@dataclass(frozen=True, slots=True)
class _Guarded:
    """How a command is started."""

    environment: Mapping[str, str]
    files: Mapping[str, str]
    """the contract's, as they are written"""
    path: str
    """path of the guard's file, see `guest_sitecustomize`"""
    source: bytes
    first: tuple[str, bytes] | None
    """path and content of a file beside it, see `first_module_of`"""
    argv: tuple[str, ...]
    hides_processes: bool
    """other processes are hidden from the candidate, because the command gives the word of its proof away"""
    own_domains: bool
    """no program looks into the one that has started it; the command does not ask what others have open"""
    changeable: frozenset[str]
    """paths of the contract's files that the candidate may change"""
    results: tuple[str, ...]
    """files of the candidate's that the command's own Python writes"""
    packages: tuple[str, ...]
    """files of the candidate's in a package by whose name the command's shell writes a module"""


async def score_trusted_command(bench: Bench, contract: CommandContract) -> Verdict:
    """One run of the contract's `command`, and what is to be found out about it. Raises PlatformError and SandboxError
    for what is nobody's doing."""
    # what a problem brings is no candidate's, either
    contract = contract.model_copy(update={"files": {**bench.scenario.files, **contract.files}})
    kept = await taking_part(bench, contract)
    files = overlaid(kept, bench.scenario.files)
    ran = await _run(bench, contract, files)
    if ran.prepared:  # the command makes them itself, or takes what was prepared for its own
        files = {path: text for path, text in files.items() if path not in ran.prepared}
        ran = await _run(bench, contract, files)
    result = ran.result
    verdict = command_verdict(result, ran.proven)
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
        return await with_words_in_sight(contract, verdict, _looked_at(contract))
    if verdict.passed:
        idle = idle_bench(bench)
        theirs = {**idle.scenario.candidate.files, **bench.scenario.files}
        alone = await _run(idle, contract, theirs, compares=True)
        touched = _unexplained(contract, ran, alone)
        if touched:
            held = await aside(_looked_at(contract), without_last_changes, contract, touched)
            again = await _run(bench, held, files, unread=touched)
            if command_verdict(again.result, again.proven).passed:
                touched = _unexplained(held, again, alone)
        if touched:
            return _touched(contract, touched[0])
        return await with_words_in_sight(contract, verdict, _looked_at(contract))
    left_out = (bench.scenario.candidate.files.keys() - kept.keys() - contract.files.keys()) | ran.removed
    verdict = replace(verdict, detail=verdict.detail + told(left_out))

    async def ended(idle: Bench) -> ExecResult:
        return (await _run(idle, contract, {**idle.scenario.candidate.files, **bench.scenario.files})).result

    return await broken_without_candidate(bench, contract, result, ended) or verdict


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
            bench.sandbox(hides_processes=guarded.hides_processes, own_domains=guarded.own_domains)
        )
        await put_files(sandbox, files)
        await put_files(sandbox, guarded.files)
        removed = await _without_library(sandbox, contract)
        watch: FileWatch | None = None
        reads: ReadWatch | None = None
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
                argv=guarded.argv,
                env=guarded.environment,
                cwd=WORKSPACE,
                stdin=f"{word}\n".encode(),
                timeout_seconds=bench.timeout_seconds,
                stdin_stream=True,  # of a pipe nobody reads the word again, as of a file
                guarded=True,
            ),
        )
        if contract.proof.file is None:
            said = result.stdout
        elif result.returncode == 0:
            said = (await output_file(sandbox, contract.proof.file) or "").encode()
        else:
            said = b""
        proven = await aside(len(said), holds_at_end_of_line, said, f"harena-proof {word}".encode())
        changed: dict[str, bytes | None] = {}
        events: Mapping[str, frozenset[str]] = {}
        left = frozenset() if reads is None else await reads.unread()  # before the files are looked at
        settings, disk_is_full = None, False
        programs: frozenset[str] = frozenset()
        repositories: frozenset[str] = frozenset()
        has_passed = result.outcome is ExecOutcome.EXITED and result.returncode == 0 and proven
        if has_passed or compares:
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
        if has_passed:
            disk_is_full = await _is_full(sandbox)
            prepared = guarded.packages
            if guarded.results:
                paths = [f"{WORKSPACE}/{path}" for path in guarded.results]
                kept = await unwritten(sandbox, paths, guarded.path, 0.0)
                prepared += tuple(path.removeprefix(f"{WORKSPACE}/") for path in kept)
    ours = frozenset(path for path in unread if f"{WORKSPACE}/{path}" in left)
    return _Ran(
        result, proven, changed, events, ours, settings, programs, repositories, removed, disk_is_full, prepared
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
    if not await aside(_looked_at(contract), asks_git, texts):
        return frozenset()
    found = await repositories_of(sandbox, _PLACES_OF_GIT, texts, by_value=True)
    paths = {path for path, said in {**found.settings, **found.unseen}.items() if said}
    return frozenset(paths if found.is_all else {*paths, "a repository of many"})


async def _hiding_library(sandbox: SandboxPort, contract: CommandContract) -> frozenset[str]:
    """Files that hide one of a tool's library, but for trusted ones and those that the contract allows."""
    command = contract.command or ()
    texts = [*contract.files.values(), *command, *(f"{name}={value}" for name, value in contract.env.items())]
    found = await hiding_library(sandbox, [*texts, " ".join(command)], (WORKSPACE,))
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
    assert contract.command is not None, "other forms have no guard"
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
