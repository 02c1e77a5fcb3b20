"""Scoring by the `harbor` contract: environment and candidate in one sandbox; the verifier, and the reward, in another.

What the candidate started has ended before the verifier starts. That has a fresh sandbox, which takes over working
places (see `sealed_verifier`), and in which the tests come last. Still it runs, and may load, what the candidate left,
so the trust is `shared`. Where a contract has `keep_processes`, the verifier runs in the candidate's own sandbox,
beside what goes on there, and nothing but the tests and the place of the reward is its own.

A verifier that leaves no reward that can be read says nothing about the candidate, unless it leaves one without the
candidate, or is cut off by a signal or its time limit, and without the candidate is not: then the candidate has broken
it, and scores 0. So does who gets none of a verifier that writes one for what is right alone (see `strict_verifiers`).
"""

from __future__ import annotations

import asyncio
import base64
import json
import re
import signal
from collections.abc import Callable, Iterable, Mapping
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from typing import ParamSpec, TypeVar

from harena.core.errors import HostUnsupportedError, SandboxFileError, SandboxValidationError
from harena.core.models import ExecOutcome, ExecRequest, ExecResult, SandboxSpec
from harena.core.network_policy import NO_NETWORK
from harena.core.ports import SandboxPort
from harena.core.results import Reason
from harena.scoring.contracts.harbor import SOLUTION_SCRIPT, TEST_SCRIPT, HarborContract, is_within
from harena.scoring.places import is_of_image
from harena.scoring.scenario import Candidate
from harena.scoring.scorers.fingerprints import fingerprints
from harena.scoring.scorers.git_index import asks_git, bring_up_to_date
from harena.scoring.scorers.git_settings import (
    WITHOUT_REPLACEMENTS,
    Repositories,
    UnreadableError,
    names_replacements,
    repositories_of,
    settle_repositories,
)
from harena.scoring.scorers.gold_runs import known_of_gold
from harena.scoring.scorers.installed_places import installed_places
from harena.scoring.scorers.languages import IDLE_SCRIPT
from harena.scoring.scorers.leaked_proofs import look_at_processes
from harena.scoring.scorers.leftover_links import (
    CLOSE_FOLDERS,
    FIND_LEFT,
    OPEN_FOLDERS,
    PART_LINKS,
    SPREAD_LINKS,
    STATE_OF_FOLDERS,
    STATE_OF_LINKS,
    LeftLinks,
    LinkState,
    come_to_be,
    folders_of,
    has_led_somewhere,
    links_above,
    modes_backwards,
    names_brought,
    parsed_left,
    parsed_states,
)
from harena.scoring.scorers.library_files import hiding_library
from harena.scoring.scorers.make_rules import (
    believed_without_work,
    checking_anew,
    is_rules,
    without_comments,
    words_behind_make,
)
from harena.scoring.scorers.program import Bench
from harena.scoring.scorers.redirecting_links import (
    FIND_CHANGED,
    LIST_LIVE,
    Led,
    Live,
    Texts,
    led_by,
    parsed_changed,
    parsed_live,
    targets_of,
)
from harena.scoring.scorers.result_files import unwritten, written_by_python
from harena.scoring.scorers.reward_writers import NOTE, TOLD, may_end_without, python_writers, tracing
from harena.scoring.scorers.sealed_verifier import (
    PLACES_OF_DEFAULT,
    WORKING_PLACES,
    SealingError,
    adopt_times,
    sealing_of,
    take_over,
)
from harena.scoring.scorers.searched_texts import searched
from harena.scoring.scorers.start_up_files import (
    StartUpFiles,
    StartUpFilesError,
    first_module_of,
    guard,
    guarded_scripts,
    original_copies,
    programs_on_path,
    remove_hiding_programs,
    without_compiled_files,
)
from harena.scoring.scorers.strict_verifiers import is_strict, lacking
from harena.scoring.scorers.suite_without_candidate import suite_key
from harena.scoring.scorers.tool_settings import steering_settings
from harena.scoring.scorers.verifier_changes import (
    NOTED,
    Change,
    FolderStates,
    changed_programs,
    folder_states,
    lists_home,
    program_states,
)
from harena.scoring.scorers.verifier_leftovers import (
    CLEAR_WRITTEN,
    FIND_STEERING,
    MAKE_ALL_WRITABLE,
    MAKE_WRITABLE,
    OF_TEST_RUNNERS,
    OPEN_TO_OTHERS,
    asks_for_modes,
    built_paths,
    copied_paths,
    folders_copied_to,
    folders_of_work,
    has_tests,
    hiding_makefiles,
    left_by_candidate,
    left_options,
    left_tests,
    made_paths,
    may_make,
    names_in,
    parsed,
    steering_above,
    written_paths,
)
from harena.scoring.scorers.verifier_scripts import COLLECTED, WatchedScripts, judging_files
from harena.scoring.scorers.watched_files import content_of
from harena.scoring.slices import aside, last_line, size_of
from harena.scoring.verdict import Verdict, broken_contract, failed, one_line, program_failure, tampered

P = ParamSpec("P")
T = TypeVar("T")

TESTS, SOLUTION, LOGS = "/tests", "/solution", "/logs"
REWARD_FILES = ("/logs/verifier/reward.txt", "/logs/verifier/reward.json")

_DECIMAL = re.compile(r"\s*\+?(?:\d{1,100}\.?\d{0,100}|\.\d{1,100})\s*")
"""a number as `bc` and `awk` write it: `.50` and `1.` are none of JSON's"""
_MAX_REWARD_BYTES = 64 * 1024
_PREPARE_SECONDS = 600.0
_END_ROUNDS = 50
"""rounds of killing what there is: what is left after them is a program that starts new ones faster"""
_PATH = re.compile(r"\$PATH\b|\$\{PATH\}")
_THERE = """\
for place in "$@"; do
    mkdir -p -- "$(readlink -m -- "$place")" || exit 1
done
"""
_WHO = 'echo "$(id -u):$(id -g)"'
_GIVEN = """\
owner=$1
shift
for place in "$@"; do
    target=$(readlink -m -- "$place")
    chown -Rh -- "$owner" "$target" 2>/dev/null || chmod -R a+rwX -- "$target" || exit 1
done
"""
"""gives folders to a user; root of the profile `strict` cannot, and opens them"""
_FRESH = """\
for place in "$@"; do
    target=$(readlink -- "$place" || printf %s "$place")
    rm -rf -- "$target" && mkdir -p -- "$target" || exit 1
    case "$place" in /logs/*) chmod 777 -- "$target" || exit 1;; esac
done
"""
"""in the default image these places are links into a directory that can be written to"""
_REAL = """\
printf '%s\\n' "$HOME"
readlink -m -- "$1" /app || exit 1
shift
for place in "$@"; do
    readlink -m -- "$place" || exit 1
done
"""
_EMPTIED = """\
for place in "$@"; do
    rm -rf -- "$place" && mkdir -p -- "$place" && [ "$(readlink -f -- "$place")" = "$place" ] || exit 1
    case "$place" in */verifier) chmod 777 -- "$place" || exit 1;; esac
done
"""
"""shell script that empties places; none may lie behind a link, as none did before the candidate"""
_IS_OPEN = """\
[ -w "${1%/*}" ] || exit 0
for place in "$@"; do
    [ -e "$place" ] || [ -L "$place" ] || continue
    { [ -f "$place" ] && [ ! -L "$place" ] && [ -w "$place" ]; } || exit 0
done
echo open
"""
"""whether a reward could be written over: what a verifier starts could leave one that its own fails to replace"""
_MAKE = re.compile(r"(?<![\w.-])make(?![\w.-])")
_MAKES = re.compile(r"(?<![\w.-])make(?![\w.-])(?![^\n;&|]{0,300}[ \t](?:-[a-z]{0,20}[qn]|--question|--dry-run))")
_GIT = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "core.fsmonitor", "GIT_CONFIG_VALUE_0": "false"}
"""a repository of the candidate's names no program that is run where its state is asked for"""
_KILLED = frozenset(128 + number for number in signal.valid_signals() if number != signal.SIGPIPE)
"""exit codes by which a shell says that a signal has ended what it waited for; who writes to nobody any more gets one
that nobody has sent"""
_ITS_SOLUTION = ", and with the gold solution neither"
_ELF = b"\x7fELF"
_ROOT = "0"
"""who makes the places of a task; what a candidate has left is looked through and removed as whom it ran"""
_STILL_SECONDS = 0.1
"""in which a reward does not change"""
_CLEAN_ROUNDS, _MOST_AT_ONCE = 2, 1000
_CLEAN_SECONDS = 120.0
"""for each command by which it is found what the candidate left, or removed"""
CLEANING_SECONDS = (2 * _CLEAN_ROUNDS + 8) * _CLEAN_SECONDS
"""longest time that all of the cleaning takes"""
_SEARCHES = 16
"""times that a text is read where it is looked through: texts of 1,024 characters are small"""
_MOST_PATH = 128 * 1024
"""characters of a variable that no program can be started with"""
_MOST_TARGETS = 100
"""targets of `make` that the verifier's texts are searched for, each by itself"""
_ENTRY_BYTES = 64
"""what a path counts where many are looked at"""
FULL = ("NO_SPACE", "NO_MEMORY")
"""reasons of file errors that a candidate brings about"""
_MOST_ORIGINALS = 100
_SCRATCH = ("/tmp", "/var/tmp")
_COPIES_TESTS = re.compile(r"\b(?:cp|rsync|mv|ln)\b[^\n;&|]{0,300}[ \t\"'](?:/tests)[/ \t\"']")
_TO_DEVICES = b"-/dev/"
"""what a link to a device says: a program may send its log to `/dev/stdout`"""
_MOST_LEFT = 20_000
"""links, test files, or files that steer tools: who leaves more means that no verifier follows"""


class EnvironmentFailedError(Exception):
    """The task's environment cannot be made in this image; the message says what failed."""


@dataclass(frozen=True, slots=True)
class OwnPlaces:
    """Where a verifier's own files are."""

    emptied: tuple[str, ...] = (SOLUTION, TESTS, f"{LOGS}/verifier")
    """folders that are empty when it starts, `tests` among them"""
    tests: str = TESTS
    clock: str = f"{LOGS}/.began"
    """a file that is made and removed, to read the time of"""


@dataclass(frozen=True, slots=True)
class Ground:
    """What is known of a sandbox before the candidate runs in it."""

    emptied: tuple[str, ...]
    """where tests, solution and logs are, after all links"""
    start_up: StartUpFiles | None = None
    """start-up files of the home folder; None in a sandbox that the verifier has for itself"""
    left: LeftLinks = field(default_factory=LeftLinks)
    """links, and folders of compiled modules, that are the environment's"""
    began: float | None = None
    """the time at which the candidate began, by the clock of files; None where that is not known"""
    steering: Mapping[str, str] = field(default_factory=dict)
    """files with the rules of tools, see `verifier_leftovers`"""
    absent_targets: tuple[str, ...] = ()
    """where something would have `make` leave out work (see `shadowing`), or where the verifier downloads or makes
    something, and nothing was"""
    needed_targets: frozenset[str] = frozenset()
    """targets of which a folder with something in it stays"""
    reals: Mapping[str, str] = field(default_factory=dict)
    """folders that a verifier works in, and what they are after all links"""
    places: tuple[str, ...] = ()
    """what is looked through for what a candidate leaves: what the verifier's sandbox takes over or, where the verifier
    has the candidate's own, what it works in"""
    absent_folders: tuple[str, ...] = ()
    """where the verifier copies a folder to, and nothing was"""
    programs: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """folders that the verifier puts on PATH, and what was in them"""
    library: frozenset[str] = frozenset()
    """files that hide one of a tool's library, and were there"""
    texts: Mapping[str, str] = field(default_factory=dict)
    """the verifier's files, as far as they are looked through"""
    tests: str = TESTS
    """where the verifier's files will be, as it names that place"""
    tests_real: str = TESTS
    """where they are after all links"""
    repositories: Repositories | None = None
    """what the environment's repositories say of themselves; None where the verifier does not ask git"""
    originals: Mapping[str, str] = field(default_factory=dict)
    """hooks and options of test runners that the environment has, by path"""
    trusted: tuple[str, ...] = ()
    """programs of the image's that lie where the candidate works"""
    is_writable: bool = False
    """whoever runs there may change the image's programs"""


@dataclass(frozen=True, slots=True)
class Ready:
    """What is known when a verifier can start: all that the candidate left is in order, and its files are there."""

    guard_path: str
    """the file that each Python loads as it starts; made last of all"""
    environment: Mapping[str, str]
    scripts: Mapping[str, str]
    """the verifier's files as they were written, by their path in its place"""
    dangling: Mapping[bytes, bytes]
    """the candidate's links that lead nowhere -> where they would lead"""
    own: Mapping[str, str]
    """what each Python loads as it starts, by absolute path"""
    steering: Mapping[str, str]
    """files with the rules of tools"""
    links: Mapping[bytes, bytes]
    """links into the verifier's places -> what they say, after `-`"""


@dataclass(frozen=True, slots=True)
class Reward:
    """What a verifier left."""

    value: float | None
    """None = nothing that can be read as a number from 0 to 1"""
    detail: str = ""
    """why there is no value"""
    ended: ExecResult | None = None
    """how `test.sh` came to its end by itself, where it left no file, or a reward"""
    is_cut_off: bool = False
    """a signal, or its time, has ended `test.sh` or what it has stopped for"""
    disagrees: bool = False
    """reward.txt and reward.json say two things"""
    rewritten: bool = False
    """it was written when the verifier had ended"""
    fault: SandboxFileError | None = None
    """the sandbox failed after the candidate had run in it"""
    is_closed: bool = False
    """no verifier could have written another one over it"""
    led: Led = field(default_factory=Led)
    """what has changed behind links of the candidate's"""
    own: frozenset[bytes] = frozenset()
    """the files, among those that were asked for, that have changed"""
    unwritten: tuple[str, ...] = ()
    """files of the candidate's that the verifier's texts write, and that it did not come to write"""
    changed: frozenset[Change] = frozenset()
    """what did not stay what it was while the verifier ran: its scripts, and what steers the programs that it starts"""


async def score_harbor(bench: Bench, contract: HarborContract) -> Verdict:
    """The verdict. Raises PlatformError and SandboxError for what is nobody's doing."""
    idle = Candidate(files={SOLUTION_SCRIPT: IDLE_SCRIPT}, entry=SOLUTION_SCRIPT)
    writes_for_the_right = False
    try:
        candidate, reward = await _run(bench, contract, bench.scenario.candidate)
        if reward.fault is not None:  # chance, or what the candidate left: a second fresh sandbox tells
            candidate, reward = await _run(bench, contract, bench.scenario.candidate)
        by_links = reward.led.is_the_verifiers
        if reward.led.asked:
            _, control = await _run(bench, contract, idle, asked=reward.led.asked)
            by_links = bool(control.own)
        if by_links:
            candidate, reward = await _run(bench, contract, bench.scenario.candidate, keeps_links=False)
        if reward.value and reward.unwritten:  # the verifier takes what was prepared for a result of its own, or not
            candidate, reward = await _run(
                bench, contract, bench.scenario.candidate, keeps_links=not by_links, without=reward.unwritten
            )
        if reward.value and (reward.changed or reward.is_closed):  # the verifier itself may do so
            _, control = await _run(bench, contract, idle, looks_anyway=True)
            if changed := sorted(reward.changed - control.changed):
                return tampered(f"changed while the verifier ran: {one_line(str(changed[0]), 100)}", outcomes=())
            if reward.is_closed and not control.is_closed:
                return tampered("the reward was closed against being written over", outcomes=())
        if reward.value is None and not (reward.disagrees or reward.rewritten):
            _, control = await _run(bench, contract, idle)
            if control.fault is not None:
                raise control.fault
            if control.value is None and (control.is_cut_off or not reward.is_cut_off):
                if not await _pays_what_is_right(bench, contract, control):
                    said = f"the verifier leaves no reward, without the candidate too: {control.detail}"
                    return broken_contract(f"{said}{_ITS_SOLUTION}" if contract.gold else said)
                writes_for_the_right = reward.ended is not None
        if reward.value == 0 and contract.gold and reward.ended is not None:
            printed = reward.ended.stdout + b"\n" + reward.ended.stderr
            lacks = await _looked(contract, lacking, contract.tests, contract.workdir, printed)
            if lacks and not await _pays_what_is_right(bench, contract, reward):
                return broken_contract(f"the verifier's reward is 0 for the gold solution, too: {one_line(lacks, 200)}")
    except EnvironmentFailedError as error:
        return broken_contract(str(error))
    observation = f"{candidate.outcome}:{candidate.returncode}:{reward.value}"
    if reward.disagrees:
        return tampered("reward.txt and reward.json say two things", outcomes=())
    if reward.rewritten:
        return tampered("the reward was written again when the verifier had ended", outcomes=())
    if writes_for_the_right:
        detail = f"the verifier writes a reward for what is right alone: {reward.detail}"
        return failed(Reason.SCORER_REJECTED, detail, observation=observation)
    if reward.value is None:
        detail = f"the candidate breaks the verifier: {reward.detail}"
        return failed(Reason.SCORER_REJECTED, detail, observation=observation, unjudged=True)
    passed = reward.value >= contract.pass_mark
    beside = "keep_processes: judged in the candidate's own sandbox, beside its processes" * contract.keep_processes
    failure = None if passed else program_failure(candidate)
    reason, detail = (Reason.PASSED, "") if passed else failure or (Reason.SCORER_REJECTED, "")
    return Verdict(
        score=reward.value,
        passed=passed,
        reason=reason,
        detail=detail or (beside if passed else f"the verifier's reward is {reward.value:g}"),
        checks_passed=int(passed),
        observations=(observation,),
    )


async def _pays_what_is_right(bench: Bench, contract: HarborContract, control: Reward) -> bool:
    """The verifier works, though it leaves no reward without the candidate (`control`)."""
    if not contract.gold:
        ended = control.ended
        if ended is None or control.is_cut_off:
            return False
        said = ended.stdout + b"\n" + ended.stderr
        return await _looked(contract, is_strict, contract.tests, contract.workdir, ended.returncode, said)

    async def is_paid() -> bool:
        gold = Candidate(files=contract.gold, entry=SOLUTION_SCRIPT)
        _, reward = await _run(bench.with_candidate(gold, files=bench.scenario.files), contract, gold)
        if reward.fault is not None:
            raise reward.fault
        return bool(reward.value)

    return await known_of_gold.get(bench, await suite_key(bench, contract, "pays"), is_paid, best=True)


async def _run(
    bench: Bench,
    contract: HarborContract,
    candidate: Candidate,
    *,
    keeps_links: bool = True,
    looks_anyway: bool = False,
    asked: frozenset[bytes] = frozenset(),
    without: tuple[str, ...] = (),
) -> tuple[ExecResult, Reward]:
    """(what the candidate's script did, what the verifier left). `keeps_links`: those that lead nowhere;
    `looks_anyway`: for what has changed, also where there is no reward; `asked`: files of which it is told whether the
    verifier has changed them; `without`: paths at which the verifier finds nothing. Raises EnvironmentFailedError."""
    async with AsyncExitStack() as stack:
        scenario = bench.scenario
        network = NO_NETWORK if scenario.network is None else scenario.network
        is_default = not is_of_image(bench.spec)
        spec = bench.spec if is_default else replace(bench.spec, network=network)
        sandbox = await _made_sandbox(stack, bench, contract, spec)
        verifier = await _user_of_verifier(sandbox, contract)
        contract = await _with_path_of_image(sandbox, await _in_workdir(sandbox, contract))
        await _prepare(sandbox, contract)
        await _fresh(sandbox, SOLUTION)
        for path, text in candidate.files.items():
            await _write(sandbox, f"{SOLUTION}/{path}", text)
        environment = {**contract.env, **contract.solution_env}
        ground = None
        if contract.keep_processes:
            looked = (contract.workdir, *PLACES_OF_DEFAULT, "/tmp")
            ground = await ground_of(sandbox, contract, looked, is_own=False, all_links=not keeps_links)
        argv = ("bash", f"{SOLUTION}/{candidate.entry}")
        request = _bash(contract, argv, environment, bench.timeout_seconds)
        done = await bench.run(sandbox, replace(request, user=contract.user))
        if done.outcome is ExecOutcome.MEMORY:
            return done, Reward(0.0)
        try:
            if not contract.keep_processes:
                await end_processes(sandbox)
            if ground is None:
                # what the candidate left is looked through as whom it ran
                spec = replace(bench.spec, gateways=())
                if not is_default:
                    spec = replace(spec, user=contract.user, network=scenario.verifier_network)
                elif scenario.verifier_network.is_on:
                    spec = replace(spec, network=scenario.verifier_network)
                fresh = await _made_sandbox(stack, bench, contract, spec)
                links = not keeps_links
                ground = await _sealed(contract, sandbox, fresh, verifier, is_default=is_default, all_links=links)
                sandbox = fresh
            ground = replace(ground, absent_targets=(*ground.absent_targets, *without))
            reward = await _verified(
                bench,
                sandbox,
                contract,
                ground,
                verifier,
                keeps_links=keeps_links,
                looks_anyway=looks_anyway,
                asked=asked,
            )
            return done, reward
        except EnvironmentFailedError as error:  # what could be made before the candidate ran
            return done, Reward(None, str(error))
        except SandboxFileError as error:
            return done, Reward(None, str(error), fault=None if error.reason in FULL else error)


async def _in_workdir(sandbox: SandboxPort, contract: HarborContract) -> HarborContract:
    """The contract with the working directory of the image, where it asks for that, and the files that lie in it."""
    told = contract.workdir
    if contract.in_workdir_of_image:
        request = ExecRequest(argv=("pwd",), timeout_seconds=_PREPARE_SECONDS, warm=False)
        done = await (await sandbox.exec(request)).wait()
        told = done.stdout.decode("utf-8", "replace").removesuffix("\n")
        if done.returncode != 0 or not told.startswith("/"):
            raise EnvironmentFailedError("the image's working directory cannot be found: it has no `pwd`")
    files = {
        str(PurePosixPath(told, path)) if path.startswith("./") else path: text
        for path, text in contract.environment_files.items()
    }
    return contract.model_copy(update={"workdir": told, "in_workdir_of_image": False, "environment_files": files})


async def _made_sandbox(
    stack: AsyncExitStack, bench: Bench, contract: HarborContract, spec: SandboxSpec
) -> SandboxPort:
    """A fresh one, for as long as the stack; in an image of this spec, with the contract's profile. Raises
    EnvironmentFailedError where it has not the user."""
    if not is_of_image(bench.spec):
        return await stack.enter_async_context(bench.sandbox(spec=spec))
    spec = replace(spec, profile=contract.profile)
    try:
        return await stack.enter_async_context(bench.sandbox(spec=spec))
    except SandboxValidationError as error:
        if error.reason == "MACHINE_PROFILE":  # it may be taken from the workspace between candidate and verifier
            raise
        raise EnvironmentFailedError(str(error)) from None
    except HostUnsupportedError as error:
        if error.step != "users" or spec.profile == "strict":
            raise
    return await stack.enter_async_context(bench.sandbox(spec=replace(spec, profile="strict")))


async def _user_of_verifier(sandbox: SandboxPort, contract: HarborContract) -> str | None:
    """Whom the verifier runs as in a sandbox whose programs run as the candidate does; None = as that. Both are there,
    and whom the image says is asked before the candidate runs. Raises EnvironmentFailedError."""
    for user in {contract.user, contract.verifier_user} - {None}:
        request = ExecRequest(argv=("true",), cwd="/", user=user, timeout_seconds=_PREPARE_SECONDS, warm=False)
        try:
            done = await (await sandbox.exec(request)).wait()
        except SandboxValidationError as error:
            raise EnvironmentFailedError(str(error)) from None
        if done.outcome is not ExecOutcome.EXITED or done.returncode != 0:
            said = one_line(last_line(done.stderr))
            raise EnvironmentFailedError(
                f"the image cannot run a program as the user {user!r} of the task"
                + (f" ({said})" if said else "")
                + "; make that user in the Dockerfile, or name another `user` of [agent] and [verifier] in task.toml"
            )
    if contract.user is None or contract.verifier_user is not None:
        return contract.verifier_user
    return (await _command(sandbox, ("sh", "-c", _WHO), "/", {})).strip()


async def _sealed(
    contract: HarborContract,
    theirs: SandboxPort,
    fresh: SandboxPort,
    verifier: str | None,
    *,
    is_default: bool,
    all_links: bool,
) -> Ground:
    """Make a fresh sandbox the verifier's: what is known of it before it takes over the candidate's working places."""
    await _prepare(fresh, contract)
    await _fresh(fresh, SOLUTION)
    try:
        sealing = await sealing_of(fresh, contract, verifier, is_default=is_default)
    except SealingError as error:
        raise EnvironmentFailedError(f"the verifier cannot be sealed: {error}") from None
    if contract.environment_files or contract.environment_commands:
        await adopt_times(sealing, theirs, fresh)
    ground = await ground_of(fresh, contract, sealing.places, all_links=all_links)
    await take_over(sealing, theirs, fresh)
    if await _looked(contract, asks_git, ground.texts.values()):
        await bring_up_to_date(sealing.places, theirs, fresh)
    return replace(ground, trusted=sealing.programs, is_writable=not is_default)


async def ground_of(
    sandbox: SandboxPort,
    contract: HarborContract,
    looked: tuple[str, ...],
    *,
    is_own: bool = True,
    all_links: bool = False,
    own: OwnPlaces | None = None,
) -> Ground:
    """Look at a sandbox before anything of a candidate's is in it. `looked`: the places that are looked through;
    `is_own`: the verifier has this sandbox for itself, else the candidate runs in it before, and its home folder is
    looked through, too; `own`: by default, those of a Harbor task. Raises EnvironmentFailedError."""
    own = own or OwnPlaces()
    told = await _command(sandbox, ("sh", "-c", _REAL, "sh", contract.workdir, *own.emptied), "/", dict(contract.env))
    home, *real = told.splitlines() or ("",)
    home = home.rstrip("/") if home.startswith("/") else ""
    start_up = None
    if not is_own and home:
        looked = tuple(dict.fromkeys((*looked, home)))
        try:
            start_up = await StartUpFiles.of(sandbox, sandbox.list_dir, home)
        except StartUpFilesError as error:
            raise EnvironmentFailedError(f"the environment cannot be judged here: {error}") from None
    reals = {contract.workdir: (real[:1] or [contract.workdir])[0], "/app": (real[1:2] or ["/app"])[0]}
    emptied = tuple(real[2:]) or own.emptied
    left, steering = (
        await _left(sandbox, contract, emptied, looked, all_links=all_links),
        await _steering(sandbox, contract, looked),
    )
    targets: list[str] = []
    needs: list[str] = []
    texts = await _looked(contract, searched, contract.tests)
    if await _looked(contract, may_make, texts, contract.environment_files):
        targets, needs = await _looked(contract, _targets, contract, texts)
    targets += await _looked(contract, made_paths, texts, contract.workdir)
    targets += await _looked(contract, installed_places, texts, contract.workdir)
    targets += await _looked(contract, built_paths, texts, contract.workdir)
    copies = set(await _looked(contract, folders_copied_to, texts, contract.workdir))
    absent = await _absent(sandbox, [*targets, *sorted(copies - set(targets))][:_MOST_AT_ONCE])
    folders = tuple(path for path in absent if path in copies)
    absent = tuple(path for path in absent if path in set(targets))
    works = (*reals, *reals.values())
    programs = await programs_on_path(sandbox.list_dir, home, list(texts.values()), works)
    began, tests_real = await _now(sandbox, own.clock), emptied[own.emptied.index(own.tests)]
    library = await _hiding_library(sandbox, contract, texts, (*works, *looked))
    repositories = None
    if await _looked(contract, asks_git, texts.values()):
        repositories = await repositories_of(sandbox, _below_root((*works, *looked)), _said_by(contract, texts))
    return Ground(
        repositories=repositories,
        library=library,
        originals=await _originals(sandbox, steering),
        emptied=emptied,
        start_up=start_up,
        left=left,
        began=began,
        steering=steering,
        absent_targets=absent,
        needed_targets=frozenset(needs),
        reals=reals,
        places=looked,
        absent_folders=folders,
        programs=programs,
        texts=texts,
        tests=own.tests,
        tests_real=tests_real,
    )


async def _hiding_library(
    sandbox: SandboxPort, contract: HarborContract, texts: Mapping[str, str], places: Iterable[str]
) -> frozenset[str]:
    """Files that hide one of a tool's library from the verifier's programs."""
    return await hiding_library(sandbox, _said_by(contract, texts), _below_root(places))


def _said_by(contract: HarborContract, texts: Mapping[str, str]) -> list[str]:
    """The verifier's texts, and what it is told by variables."""
    return [*texts.values(), *(f"{name}={value}" for name, value in {**contract.env, **contract.verifier_env}.items())]


def _below_root(places: Iterable[str]) -> list[str]:
    return [place for place in dict.fromkeys(places) if place.strip("/")]


async def _looked(contract: HarborContract, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """What `work`, which looks through the verifier's files for many words, gives."""
    return await aside(_SEARCHES * size_of(contract.tests), work, *args, **kwargs)


async def _library_now(sandbox: SandboxPort, contract: HarborContract, ground: Ground) -> list[str]:
    """Such files that were not there before the candidate was."""
    places = (*ground.reals, *ground.reals.values(), *ground.places)
    return sorted(await _hiding_library(sandbox, contract, ground.texts, places) - ground.library)


def _copies_tests(tests: Mapping[str, str]) -> bool:
    """The verifier makes a copy of its own folder."""
    return any(map(_COPIES_TESTS.search, tests.values()))


def _targets(contract: HarborContract, tests: Mapping[str, str]) -> tuple[list[str], list[str]]:
    """(paths by whose names the verifier has `make` work, as its and the environment's Makefiles say; those of them
    that a check only needs to be there); not those that a text names as folders or in them."""
    folders = tuple(dict.fromkeys((contract.workdir, "/app")))
    own = {PurePosixPath(path).name: text for path, text in tests.items() if is_rules(path)}
    others: dict[str, str] = {}
    starting = list(tests.values())
    for path, text in contract.environment_files.items():
        if not is_rules(path):
            starting.append(text)
        elif str(PurePosixPath(path).parent) in folders:
            others[PurePosixPath(path).name] = text
    if not any(map(_MAKE.search, starting)):
        return [], []
    goals = words_behind_make("\n".join(starting))
    made = believed_without_work({**own, **others}, goals, ("made",)) if any(map(_MAKES.search, starting)) else set()
    stamps = believed_without_work(own, goals, ("stamp",))
    stamps |= believed_without_work(others, goals, ("stamp",), first_stamps=False)
    checks = believed_without_work({**own, **others}, goals, ("check",))
    texts = "\n".join(tests.values())
    for name in sorted(stamps | checks)[:_MOST_TARGETS]:
        word = re.escape(name)
        if re.search(rf"(?<![\w-]){word}/|/{word}(?![\w.-])", texts):
            made.discard(name)
        else:
            made.add(name)
    # what a tool makes by a name of its own is mostly a folder, and may be what cannot be made again in this time
    needs = (checks & made) - goals
    names = sorted(made)[:_MOST_AT_ONCE]
    return (
        [f"{folder}/{name}" for folder in folders for name in names],
        [f"{folder}/{name}" for folder in folders for name in names if name in needs],
    )


async def _absent(sandbox: SandboxPort, paths: list[str]) -> tuple[str, ...]:
    if not paths:
        return ()
    line = 'for path do [ -e "$path" ] || [ -L "$path" ] || printf "%s\\0" "$path"; done'
    told = await _told(sandbox, ("sh", "-c", line, "sh", *paths), "/", seconds=_CLEAN_SECONDS)
    return tuple(path for path in told.decode().split("\0") if path)


async def _without_full_folders(sandbox: SandboxPort, paths: list[str]) -> list[str]:
    """Leave out the paths of folders in which there is something."""
    if not paths:
        return []
    line = 'for path do [ -d "$path" ] && [ ! -L "$path" ] && [ -n "$(ls -A "$path")" ] || printf "%s\\0" "$path"; done'
    told = await _told(sandbox, ("sh", "-c", line, "sh", *paths), "/", seconds=_CLEAN_SECONDS)
    return [path for path in told.decode("utf-8", "replace").split("\0") if path]


async def _now(sandbox: SandboxPort, path: str) -> float | None:
    """The time of this file, which is changed now, and removed."""
    line = 'command -v find >/dev/null || exit 0; touch "$1" && find "$1" -maxdepth 0 -printf %C@ && rm -f -- "$1"'
    argv = ("sh", "-c", line, "sh", path)
    told = await _told(sandbox, argv, "/", seconds=_CLEAN_SECONDS, user=_ROOT)
    try:
        return float(told)
    except ValueError:
        return None


async def _steering(sandbox: SandboxPort, contract: HarborContract, looked: tuple[str, ...]) -> dict[str, str]:
    places = dict.fromkeys((contract.workdir, "/app", *looked))
    argv = ("bash", "-c", FIND_STEERING, "bash", *places)
    told = await _told(sandbox, argv, "/", seconds=_CLEAN_SECONDS)
    return await aside(len(told), lambda: parsed(told.decode("utf-8", "replace")))


async def _originals(sandbox: SandboxPort, steering: Mapping[str, str]) -> dict[str, str]:
    """What hooks and options of test runners say before the candidate; the first ones, and none that is large."""
    found: dict[str, str] = {}
    for path in sorted(path for path in steering if PurePosixPath(path).name in OF_TEST_RUNNERS)[:_MOST_ORIGINALS]:
        content = await content_of(sandbox, path, max_bytes=_MAX_REWARD_BYTES)
        if content is not None:
            found[path] = content.decode("utf-8", "surrogateescape")
    return found


async def _left(
    sandbox: SandboxPort,
    contract: HarborContract,
    elsewhere: tuple[str, ...],
    places: tuple[str, ...],
    *,
    all_links: bool,
) -> LeftLinks:
    """What a verifier's files could be read, written or replaced through; see `leftover_links`."""
    argv = ("sh", "-c", FIND_LEFT, "sh", " ".join(elsewhere), *places)
    environment = {"ALL": "y"} if all_links else {}
    if contract.user != contract.verifier_user:  # who may read what the candidate may not
        environment["OTHER"] = "y"
    told = await _told(sandbox, argv, "/", environment, seconds=_CLEAN_SECONDS)
    return await aside(len(told), parsed_left, told)


async def _live(sandbox: SandboxPort, ground: Ground, marker: str) -> Live:
    """The candidate's links to something, and where each leads to."""
    if ground.began is None:
        return Live({})
    argv = ("bash", "-c", LIST_LIVE, "bash", marker, f"{ground.began:.9f}", *ground.places)
    told = await _told(sandbox, argv, "/", seconds=_CLEAN_SECONDS)
    return await aside(len(told), parsed_live, told)


async def _changed_behind(
    sandbox: SandboxPort, ground: Ground, marker: str, reals: Iterable[bytes]
) -> tuple[frozenset[bytes], frozenset[bytes]]:
    """(what has changed since the marker of these files, and in these folders; what of them is not there)."""
    argv = ("bash", "-c", FIND_CHANGED, "bash", marker, *ground.emptied)
    told = await _told(sandbox, argv, "/", seconds=_CLEAN_SECONDS, stdin=targets_of(reals))
    return await aside(len(told), parsed_changed, told)


async def _clean(
    sandbox: SandboxPort, contract: HarborContract, ground: Ground, *, keeps_links: bool
) -> tuple[dict[bytes, bytes], Mapping[bytes, bytes]]:
    """Remove what of it the candidate has made. (the links that stay, since they lead nowhere; those into the
    verifier's places). Raises EnvironmentFailedError where that is too much."""
    for _ in range(_CLEAN_ROUNDS):  # a link into a folder that was removed leads nowhere
        left = await _left(sandbox, contract, ground.emptied, ground.places, all_links=not keeps_links)
        if any(ground.left.barred.get(path) != why for path, why in left.barred.items()):
            raise EnvironmentFailedError("the candidate leaves folders that cannot be looked into")
        new, dangling, alike = await aside(_ENTRY_BYTES * left.count, _made, ground.left, left, keeps_links)
        above = {path: real for path, real in left.above.items() if ground.left.above.get(path) != real}
        links = sum(1 for says in new.values() if says)
        if links + len(dangling) + len(alike) + len(above) > _MOST_LEFT:
            break
        leading = await _looked(contract, links_above, ground.texts.values(), ground.emptied, above)
        if leading:
            given = b"".join(link + b"\0" + real + b"\0" for link, real in above.items() if link in leading)
            argv = ("bash", "-c", SPREAD_LINKS, "bash", *ground.emptied)
            await _told(sandbox, argv, "/", seconds=_CLEAN_SECONDS, stdin=given)
        if alike:
            given = b"".join(link + b"\0" + real + b"\0" for link, real in alike.items())
            await _told(sandbox, ("bash", "-c", PART_LINKS), "/", seconds=_CLEAN_SECONDS, stdin=given)
        if not new and leading:  # links have taken the place of one
            left = await _left(sandbox, contract, ground.emptied, ground.places, all_links=False)
        if not new:
            return dangling, left.removed
        argv = ("xargs", "-0", "rm", "-rf", "--")
        await _told(sandbox, argv, "/", seconds=_CLEAN_SECONDS, stdin=b"".join(path + b"\0" for path in sorted(new)))
    raise EnvironmentFailedError("the candidate leaves too many links")


def _made(
    before: LeftLinks, now: LeftLinks, keeps_links: bool
) -> tuple[dict[bytes, bytes], dict[bytes, bytes], dict[bytes, bytes]]:
    """(what is to be removed, links that lead nowhere, links to what is alike) that the candidate has made."""
    dangling = {path: real for path, real in now.dangling.items() if before.dangling.get(path) != real}
    new = {path: says for path, says in now.removed.items() if before.removed.get(path) != says}
    if not keeps_links:
        new, dangling = {**new, **dangling}, {}
    return new, dangling, {path: real for path, real in now.alike.items() if before.alike.get(path) != real}


async def _opened(sandbox: SandboxPort, contract: HarborContract, ground: Ground) -> bytes:
    """Open the folders that a find could not look into, since a verifier opens by name what is in them; what has them
    as they were (see `CLOSE_FOLDERS`)."""
    argv = ("bash", "-c", OPEN_FOLDERS, "bash", *dict.fromkeys((*ground.places, contract.workdir, "/app", "/tmp")))
    told = await _told(sandbox, argv, "/", seconds=_CLEAN_SECONDS)
    return await aside(len(told), modes_backwards, told)


async def _make_writable(
    sandbox: SandboxPort, contract: HarborContract, ground: Ground, verifier: str | None, everywhere: list[str]
) -> None:
    """What the verifier writes to (`everywhere`) or copies to. Unlike elsewhere, root in a sandbox is bound by the
    modes of files."""
    copied = await _looked(contract, copied_paths, ground.texts, contract.workdir)
    targets = list(dict.fromkeys([*everywhere, *copied]))[:_MOST_AT_ONCE]
    places = dict.fromkeys((contract.workdir, "/app", "/tmp"))
    if not await _looked(contract, asks_for_modes, ground.texts.values()):
        await _told(sandbox, ("sh", "-c", MAKE_ALL_WRITABLE, "sh", *places), "/", seconds=_CLEAN_SECONDS)
    argv = ("sh", "-c", MAKE_WRITABLE, "sh", str(len(targets)), *targets, *places)
    names = {"NAMES": await _looked(contract, names_brought, ground.texts, everywhere)}
    await _told(sandbox, argv, "/", names, seconds=_CLEAN_SECONDS)
    if verifier is not None and verifier != contract.user and verifier.partition(":")[0] not in ("root", _ROOT):
        held = dict.fromkeys((contract.workdir, "/app", "/tmp", *WORKING_PLACES))
        theirs = [path for path in targets if any(is_within(path, place) and path != place for place in held)]
        argv = ("bash", "-c", OPEN_TO_OTHERS, "bash", str(len(theirs)), *theirs, *held)
        await _told(sandbox, argv, "/", names, seconds=_CLEAN_SECONDS, user=_ROOT)


async def _states(sandbox: SandboxPort, links: Mapping[bytes, bytes]) -> dict[bytes, LinkState]:
    """What of these links leads somewhere now."""
    if not links:
        return {}
    given = b"".join(link + b"\0" + real + b"\0" for link, real in links.items())
    told = await _told(sandbox, ("bash", "-c", STATE_OF_LINKS), "/", seconds=_CLEAN_SECONDS, stdin=given)
    folders = await aside(len(told), folders_of, told)
    changed = await _told(sandbox, ("sh", "-c", STATE_OF_FOLDERS), "/", seconds=_CLEAN_SECONDS, stdin=folders)
    return await aside(len(told) + len(changed), parsed_states, told, changed)


async def made_ready(
    sandbox: SandboxPort, contract: HarborContract, ground: Ground, verifier: str | None, *, keeps_links: bool
) -> Ready:
    """Put in order what the candidate has left, and write the verifier's files. Raises EnvironmentFailedError for what
    no verifier can follow."""
    await _command(sandbox, ("sh", "-c", _EMPTIED, "sh", *ground.emptied), "/", {}, user=_ROOT)
    opened = await _opened(sandbox, contract, ground)
    dangling, links = await _clean(sandbox, contract, ground, keeps_links=keeps_links)
    try:
        texts = list(ground.texts.values())
        if ground.start_up is not None:
            await ground.start_up.restore(sandbox, sandbox.list_dir, texts, most=_MOST_LEFT)
        await remove_hiding_programs(sandbox, sandbox.list_dir, ground.programs, texts, most=_MOST_LEFT)
    except StartUpFilesError as error:
        raise EnvironmentFailedError(str(error)) from None
    now = await _steering(sandbox, contract, ground.places)
    size = _SEARCHES * size_of(contract.tests) + _ENTRY_BYTES * len(now)
    theirs = await aside(size, left_tests, ground.steering, now)
    if len(theirs) > _MOST_LEFT:
        raise EnvironmentFailedError("the candidate leaves too many test files")
    left = await aside(size, left_by_candidate, ground.steering, now, ground.texts)
    if len(left) > _MOST_LEFT:
        raise EnvironmentFailedError("the candidate leaves too many files that steer tools")
    options = await aside(size, left_options, ground.steering, now, ground.texts)
    hiding = []
    if await _looked(contract, may_make, ground.texts, contract.environment_files):
        hiding = await aside(size, hiding_makefiles, ground.steering, now, left, ground.texts)
    for workdir, real in ground.reals.items():
        hiding += steering_above(left, real, workdir)
    hidden = set(hiding)
    left = [path for path in left if path not in hidden]
    hiding += [path for path in ground.absent_targets if path not in ground.needed_targets]
    hiding += await _without_full_folders(sandbox, [path for path in ground.absent_targets if path not in hiding])
    hiding += [path for path in await _library_now(sandbox, contract, ground) if path.startswith("/")]
    hiding += await aside(size, names_in, ground.absent_folders, [*contract.tests, *contract.binary_tests])
    if hiding:
        given = b"".join(path.encode("utf-8", "replace") + b"\0" for path in hiding)
        await _told(sandbox, ("xargs", "-0", "rm", "-rf", "--"), "/", seconds=_CLEAN_SECONDS, stdin=given)
    if opened:
        await _told(sandbox, ("bash", "-c", CLOSE_FOLDERS), "/", seconds=_CLEAN_SECONDS, stdin=opened)
    written = await _looked(contract, written_paths, ground.texts, contract.workdir)
    if written:
        other = {} if verifier is None else {"OTHER": "y"}
        await _command(sandbox, ("sh", "-c", CLEAR_WRITTEN, "sh", *written[:_MOST_AT_ONCE]), "/", other)
    everywhere = await _looked(contract, written_paths, ground.texts, contract.workdir, places=("/",))
    await _make_writable(sandbox, contract, ground, verifier, everywhere)
    rules = [*left, *options]
    originals = [path for path in rules if path in ground.originals]
    tests = ground.tests
    writers = await _looked(contract, python_writers, ground.texts)
    own = [f"{place}/{path}" for place in {tests, ground.tests_real} for path in contract.tests if path.endswith(".py")]
    path, guarding, environment = await _looked(
        contract,
        guard,
        tests,
        {**contract.env, **contract.verifier_env},
        ground.texts.values(),
        trusted=own,
        left=rules,
        has_tests=has_tests(contract.tests, ground.steering),
        left_tests=sorted(theirs),
        programs=ground.trusted,
        originals=originals,
        began=ground.began,
        copied=contract.tests,
        rewards=REWARD_FILES if writers else (),
        writers=writers,
        keeps_memory=not await _looked(contract, look_at_processes, ground.texts.values()),
        writes_tests=any(COLLECTED.fullmatch(PurePosixPath(path).name) for path in everywhere),
    )
    place = str(PurePosixPath(path).parent)
    scripted = await _looked(contract, guarded_scripts, contract.tests, place)
    for name, text in scripted.items():
        await _write(sandbox, f"{tests}/{name}", text)
    for name, text in contract.binary_tests.items():
        content = await aside(len(text), base64.b64decode, text)
        await _write_bytes(sandbox, f"{tests}/{name}", content, mode=0o755 if content[:4] == _ELF else 0o644)
    # below a file nothing can be kept, so nothing compiled that somebody has prepared is loaded before the guard is
    of_git = dict(_GIT)
    if ground.repositories is not None:
        said = _said_by(contract, ground.texts)
        try:
            await settle_repositories(sandbox, _places_of_git(ground), said, ground.repositories)
        except UnreadableError as error:
            raise EnvironmentFailedError(f"the candidate leaves what git cannot be asked about: {error}") from None
        of_git |= {} if await _looked(contract, names_replacements, said) else WITHOUT_REPLACEMENTS
    of_make = await _looked(contract, checking_anew, ground.texts)
    environment = {**of_git, **of_make, "PYTHONPYCACHEPREFIX": f"{path}/none", **environment}
    first = await _looked(contract, first_module_of, path, environment, ground.texts.values())
    shell: dict[str, bytes] = {}
    if "BASH_ENV" not in environment and await _looked(contract, may_end_without, contract.tests):
        note = f"{place}{NOTED}/{NOTE}"
        told = f"{place}{TOLD}"
        lines = await _looked(contract, tracing, contract.tests, REWARD_FILES, note, told, contract.workdir)
        environment["BASH_ENV"] = f"{place}/rewards.bash"
        shell = {environment["BASH_ENV"]: lines.encode()}
        await _write_bytes(sandbox, told, b"", mode=0o666)
    no_folder, _ = without_compiled_files(path)
    copies = original_copies(place, originals)
    written_last = {
        **{copy: ground.originals[of].encode("utf-8", "surrogateescape") for of, copy in copies},
        no_folder: b"",
        **shell,
        path: guarding,
        **(dict((first,)) if first is not None else {}),
    }
    for name, content in written_last.items():
        await _write_bytes(sandbox, name, content, mode=0o644)
    own_texts = {name: content.decode("utf-8", "surrogateescape") for name, content in written_last.items()}
    return Ready(path, environment, scripted, dangling, own_texts, now, links)


def _places_of_git(ground: Ground) -> list[str]:
    """Where repositories are looked for."""
    return _below_root((*ground.reals, *ground.reals.values(), *ground.places))


@dataclass(slots=True)
class Watching:
    """What is looked at while a verifier runs, and again when it has ended."""

    ground: Ground
    ready: Ready
    states: Mapping[bytes, LinkState]
    live: Live | None
    """None where no link was left that leads somewhere"""
    scripts: WatchedScripts
    verifier: str | None
    """whom it runs as; None = the sandbox's own user"""
    folders: FolderStates
    programs: Mapping[str, str]
    repositories: Repositories | None

    @classmethod
    async def begin(
        cls,
        sandbox: SandboxPort,
        contract: HarborContract,
        ground: Ground,
        ready: Ready,
        verifier: str | None,
        *,
        keeps_links: bool,
    ) -> Watching:
        """Begin it; `scripts.close` ends it."""
        is_listed = await _looked(contract, lists_home, ground.texts.values())
        makes_at_home = None if is_listed else ground.reals.get(contract.workdir, contract.workdir)
        folders = await folder_states(
            sandbox, ready.guard_path, _on_path(ground), user=verifier, makes=True, makes_at_home=makes_at_home
        )
        programs = await program_states(sandbox, user=verifier) if ground.is_writable else {}
        states = await _states(sandbox, ready.dangling)
        live = await _live(sandbox, ground, ready.guard_path) if keeps_links else None
        binary = tuple(contract.binary_tests)
        names = await _looked(contract, judging_files, ground.texts, ground.tests, contract.workdir, binary=binary)
        judging = await _contents(contract, ready.scripts, names)
        own = {path: text.encode("utf-8", "surrogateescape") for path, text in ready.own.items()}
        real = {path.replace(ground.tests, ground.tests_real, 1): content for path, content in own.items()}
        scripts = await WatchedScripts.begin(sandbox, ground.tests_real, judging, real)
        repositories = None
        if ground.repositories is not None:
            repositories = await repositories_of(sandbox, _places_of_git(ground), _said_by(contract, ground.texts))
        return cls(ground, ready, states, live, scripts, verifier, folders, programs, repositories)

    async def changed(self, sandbox: SandboxPort, contract: HarborContract) -> frozenset[Change]:
        """Tell what has changed that steers the programs which a verifier starts."""
        found = {Change.of_file(path, "script") for path in await self.scripts.changed(sandbox)}
        on_path, guard_path = _on_path(self.ground), self.ready.guard_path
        after = await folder_states(sandbox, guard_path, on_path, user=self.verifier, makes=False)
        found |= self.folders.changes_to(after)
        if self.programs:
            found |= changed_programs(self.programs, await program_states(sandbox, user=self.verifier))
        settings = await steering_settings(
            sandbox,
            self.ground.texts,
            (),
            {**contract.env, **contract.verifier_env},
            guard_path,
            place=self.ground.tests_real,
            user=self.verifier,
        )
        found.update(Change("settings", path) for path in settings)
        found.update(Change("settings", path) for path in await _library_now(sandbox, contract, self.ground))
        if self.repositories is not None:
            places, texts = _places_of_git(self.ground), _said_by(contract, self.ground.texts)
            after_all = await repositories_of(sandbox, places, texts)
            found.update(Change("repository", path) for path in self.repositories.changes_to(after_all))
        now = await _steering(sandbox, contract, self.ground.places)
        size = _SEARCHES * size_of(contract.tests) + _ENTRY_BYTES * len(now)
        new = [path for path in now if path not in self.ready.steering]
        rules = await aside(size, hiding_makefiles, self.ready.steering, now, new, self.ground.texts)
        found.update(Change("rules", path) for path in rules)
        looked = tuple(dict.fromkeys((*self.ground.places, *_SCRATCH)))  # where an archive is unpacked, and clones are
        left = await _left(sandbox, contract, self.ground.emptied, looked, all_links=False)
        links = [
            path
            for path, says in left.removed.items()
            if says and not says.startswith(_TO_DEVICES) and self.ready.links.get(path) != says
        ]
        if await _looked(contract, _copies_tests, self.ground.texts):  # `/tests` is a link in the default image
            copies = {b"-" + place.encode() for place in self.ground.emptied}
            links = [path for path in links if left.removed[path] not in copies or not path.endswith(b"/tests")]
        found.update(Change("link", path.decode("utf-8", "backslashreplace")) for path in links)
        return frozenset(found)

    async def led(self, sandbox: SandboxPort, contract: HarborContract) -> Led:
        """Tell whether a link of the candidate's may have led to what the verifier put there."""
        reals = {} if self.live is None else dict(self.live.reals)
        come: dict[bytes, bytes] = {}
        if self.live is not None and not self.live.is_known:
            return Led(True)
        if self.states:
            after = await _states(sandbox, self.ready.dangling)
            size = _SEARCHES * size_of(contract.tests) + _ENTRY_BYTES * len(self.states)
            if await aside(size, has_led_somewhere, self.states, after, contract.tests):
                return Led(True)
            come = come_to_be(self.states, after)
            reals.update(come)
        if not reals:
            return Led()
        changed, gone = await _changed_behind(sandbox, self.ground, self.ready.guard_path, reals.values())
        changed |= frozenset(come.values()) - gone
        if not changed and not gone:
            return Led()
        texts = await _looked(contract, _texts_of, contract, self.ground)
        size = _SEARCHES * size_of(contract.tests) * (1 + len(changed)) + _ENTRY_BYTES * len(reals)
        return await aside(size, led_by, reals, changed, gone, texts)


def _texts_of(contract: HarborContract, ground: Ground) -> Texts:
    """The words of the verifier, as `redirecting_links` reads them."""
    own = [*contract.tests, *contract.binary_tests]
    lines = [without_comments(path, text) for path, text in contract.tests.items()]
    return Texts(
        texts=(*lines, *contract.env.values(), *contract.verifier_env.values()),
        names=frozenset(part for path in own for part in PurePosixPath(path).parts),
        folders=tuple(dict.fromkeys(("/app", *folders_of_work(contract.tests, contract.workdir)))),
        same=tuple(ground.reals.items()),
    )


async def _contents(contract: HarborContract, scripts: Mapping[str, str], names: list[str]) -> dict[str, bytes]:
    """What these files of the verifier's hold."""
    binary = contract.binary_tests

    def contents() -> dict[str, bytes]:
        return {
            name: base64.b64decode(binary[name]) if name in binary else scripts[name].encode("utf-8", "surrogatepass")
            for name in names
        }

    return await aside(size_of(contract.tests) + sum(map(len, binary.values())), contents)


def _on_path(ground: Ground) -> list[str]:
    """Folders of programs that a verifier puts on PATH."""
    return [str(PurePosixPath(folder)) for folder in ground.programs]


async def _verified(
    bench: Bench,
    sandbox: SandboxPort,
    contract: HarborContract,
    ground: Ground,
    verifier: str | None,
    *,
    keeps_links: bool,
    looks_anyway: bool,
    asked: frozenset[bytes],
) -> Reward:
    """`looks_anyway`: for what has changed, also where there is no reward; `asked`: see `_run`."""
    ready = await made_ready(sandbox, contract, ground, verifier, keeps_links=keeps_links)
    watching = await Watching.begin(sandbox, contract, ground, ready, verifier, keeps_links=keeps_links)
    try:
        argv = ("bash", f"{TESTS}/{TEST_SCRIPT}")
        request = _bash(contract, argv, dict(ready.environment), contract.verifier_timeout_seconds)
        done = await bench.run(sandbox, replace(request, user=verifier))
        reward = await _reward(sandbox, done)
        if done.outcome is ExecOutcome.EXITED and (reward.value or looks_anyway):
            reward = replace(reward, changed=await watching.changed(sandbox, contract))
    finally:
        watching.scripts.close()
    if done.outcome is ExecOutcome.EXITED:
        is_open = await _told(sandbox, ("sh", "-c", _IS_OPEN, "sh", *REWARD_FILES), "/", seconds=_CLEAN_SECONDS)
        reward = replace(reward, is_closed=not is_open)
    if reward.value and await sandbox.processes():  # what a verifier has started, and not ended, writes no reward
        before = await fingerprints(sandbox, REWARD_FILES)
        await asyncio.sleep(_STILL_SECONDS)
        if await fingerprints(sandbox, REWARD_FILES) != before:
            return Reward(None, rewritten=True)
    if asked:
        own, _ = await _changed_behind(sandbox, ground, ready.guard_path, asked)
        return replace(reward, own=own)
    if reward.value:
        reward = replace(reward, led=await watching.led(sandbox, contract))
    if reward.value and ground.began is not None:
        results = await _looked(contract, written_by_python, contract.tests, contract.workdir)
        results = [path for path in results if not is_within(path, LOGS) and not is_within(path, TESTS)]
        if results := [path for path in results if path not in ground.absent_targets][:_MOST_AT_ONCE]:
            reward = replace(reward, unwritten=await unwritten(sandbox, results, ready.guard_path, ground.began))
    return reward


async def end_processes(sandbox: SandboxPort) -> None:
    """What the candidate has started in the background could write a reward when the verifier has ended."""
    for _ in range(_END_ROUNDS):
        left = await sandbox.processes()
        if not left:
            return
        for process in left:
            with suppress(SandboxValidationError):  # it has ended by itself
                await sandbox.signal(process.pid, signal.SIGKILL)
    raise EnvironmentFailedError("the candidate's processes do not end")


async def _with_path_of_image(sandbox: SandboxPort, contract: HarborContract) -> HarborContract:
    """The contract, `$PATH` in its variables `PATH` filled in, as a Dockerfile's `ENV PATH="/x/bin:$PATH"` means it."""
    tables = {"env": contract.env, "solution_env": contract.solution_env, "verifier_env": contract.verifier_env}
    if not any(_PATH.search(table.get("PATH", "")) for table in tables.values()):
        return contract
    path = await _command(sandbox, ("sh", "-c", 'printf %s "$PATH"'), "/", {})

    def filled(table: dict[str, str], path: str) -> dict[str, str]:
        if "PATH" not in table:
            return table
        parts = _PATH.split(table["PATH"])
        if len(parts) * len(path) > _MOST_PATH:
            raise EnvironmentFailedError(f"PATH would have more than {_MOST_PATH:,} characters")
        return {**table, "PATH": path.join(parts)}

    env = filled(contract.env, path)
    others = {name: filled(tables[name], env.get("PATH", path)) for name in ("solution_env", "verifier_env")}
    return contract.model_copy(update={"env": env, **others})


async def _prepare(sandbox: SandboxPort, contract: HarborContract) -> None:
    """Make the task's environment, as root does where a Dockerfile says it. Folders that are made for it are the
    candidate's: an image with another user than root knows nothing of them."""
    places = [place for place in dict.fromkeys(("/app", contract.workdir)) if not await _is_folder(sandbox, place)]
    await _command(sandbox, ("sh", "-c", _THERE, "sh", *places), "/", {}, user=_ROOT)
    await _fresh(sandbox, LOGS, f"{LOGS}/agent", f"{LOGS}/verifier", f"{LOGS}/artifacts")
    for path, text in contract.environment_files.items():
        await _write(sandbox, path, text)
    for line in contract.environment_commands:
        await _command(sandbox, ("bash", "-c", line), contract.workdir, contract.env, user=_ROOT)
    if places and (owner := await _user_of_candidate(sandbox, contract)) is not None:
        await _command(sandbox, ("sh", "-c", _GIVEN, "sh", owner, *places), "/", {}, user=_ROOT)


async def _user_of_candidate(sandbox: SandboxPort, contract: HarborContract) -> str | None:
    """Whom the candidate runs as, in numbers; None = root, or whoever owns all of the sandbox."""
    told = await _command(sandbox, ("sh", "-c", _WHO), "/", {}, user=contract.user)
    user = told.strip()
    return user if re.fullmatch(r"[1-9][0-9]*:[0-9]+", user) else None


async def _is_folder(sandbox: SandboxPort, path: str) -> bool:
    """It is there, and no link; a folder of the image's user may be closed to root's programs."""
    try:
        return (await sandbox.stat(path)).kind == "directory"
    except SandboxFileError as error:
        if error.reason == "IO_FAILED":
            raise
        return False


async def _fresh(sandbox: SandboxPort, *places: str) -> None:
    """These directories are there, and empty."""
    await _command(sandbox, ("sh", "-c", _FRESH, "sh", *places), "/", {}, user=_ROOT)


async def _command(
    sandbox: SandboxPort, argv: tuple[str, ...], cwd: str, env: dict[str, str], *, user: str | None = None
) -> str:
    """What it prints; `user`: see `ExecRequest`. Raises EnvironmentFailedError unless it succeeds."""
    return (await _told(sandbox, argv, cwd, env, user=user)).decode("utf-8", "replace")


async def _told(
    sandbox: SandboxPort,
    argv: tuple[str, ...],
    cwd: str,
    env: dict[str, str] | None = None,
    *,
    seconds: float = _PREPARE_SECONDS,
    stdin: bytes | None = None,
    user: str | None = None,
) -> bytes:
    request = ExecRequest(
        argv=argv, cwd=cwd, env=env or {}, user=user, timeout_seconds=seconds, warm=False, stdin=stdin
    )
    done = await (await sandbox.exec(request)).wait()
    if done.outcome is not ExecOutcome.EXITED or done.returncode != 0:
        last = one_line(last_line(done.stderr))
        what = one_line(" ".join(argv[2:]) if argv[:2] == ("bash", "-c") else argv[-1], 120)
        raise EnvironmentFailedError(
            f"the environment cannot be made here: `{what}` ended with {_ending(done)}"
            + (f": {last}" if last else "")
            + "; choose a blueprint that has it"
        )
    return done.stdout


def _ending(done: ExecResult) -> str:
    return f"exit code {done.returncode}" if done.outcome is ExecOutcome.EXITED else str(done.outcome)


async def _write(sandbox: SandboxPort, path: str, text: str) -> None:
    """Raises EnvironmentFailedError where the image lets nobody write."""
    mode = 0o755 if text[:2] == "#!" else 0o644
    await _write_bytes(sandbox, path, text.encode("utf-8", "surrogatepass"), mode=mode)


async def _write_bytes(sandbox: SandboxPort, path: str, content: bytes, *, mode: int) -> None:
    try:
        await sandbox.write_file(path, content, mode=mode)
    except SandboxFileError as error:
        if error.reason in (*FULL, "IO_FAILED"):
            raise
        raise EnvironmentFailedError(f"the environment cannot be made here: {path}: {error}") from None


def _bash(contract: HarborContract, argv: tuple[str, ...], env: dict[str, str], seconds: float) -> ExecRequest:
    # in the default image `/app` is a link, and a shell that is told this name of its directory says it (`pwd`)
    named = {"PWD": contract.workdir, **env}
    return ExecRequest(argv=argv, env=named, cwd=contract.workdir, timeout_seconds=seconds, warm=False)


async def _reward(sandbox: SandboxPort, verified: ExecResult) -> Reward:
    if verified.outcome is not ExecOutcome.EXITED:
        detail = f"test.sh ended with {verified.outcome} after {verified.duration_seconds:.0f} s"
        return Reward(None, detail, is_cut_off=True)
    texts = [await _text(sandbox, path) for path in REWARD_FILES]
    values = [_number(text) for text in texts if text is not None]
    if not values:
        detail = f"test.sh ended with exit code {verified.returncode} and left no reward file"
        return Reward(None, detail, ended=verified, is_cut_off=verified.returncode in _KILLED)
    if any(value is None for value in values):
        return Reward(None, "the reward file holds no number from 0 to 1, and no mapping with such a `reward`")
    if len(set(values)) > 1:
        return Reward(None, disagrees=True)
    return Reward(values[0], ended=verified)


async def _text(sandbox: SandboxPort, path: str) -> str | None:
    """A regular file's text; None where there is none."""
    try:
        if (await sandbox.stat(path)).kind != "file":
            return None
        written = await sandbox.read_file(path, max_bytes=_MAX_REWARD_BYTES)
    except SandboxFileError as error:
        if error.reason == "IO_FAILED":
            raise
        return None
    return written.decode("utf-8", "replace")


def _number(text: str) -> float | None:
    """A number, or that of the key `reward`."""
    try:
        value = float(text) if _DECIMAL.fullmatch(text) else json.loads(text)
    except (ValueError, RecursionError):
        return None
    if isinstance(value, dict):
        value = value.get("reward")
    # NaN compares with nothing, and an integer of 4,000 digits may not be asked whether it is finite
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        return None
    return float(value)
