"""What trusted commands and suites are started with: their programs, and the files that a candidate may bring."""

from __future__ import annotations

import ast
import json
import re
import secrets
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from harena.core.models import ExecOutcome, ExecRequest, ExecResult
from harena.scoring.contracts.contract import CommandContract
from harena.scoring.contracts.parts import folders_of
from harena.scoring.guest.missing_modules import AS_IT_IS
from harena.scoring.guest.module_names import module_name
from harena.scoring.guest_sources import guest_argv, guest_program, modules_of
from harena.scoring.name_patterns import NamePatterns
from harena.scoring.python_source import MOST_SCORER_TOKENS, MOST_TOKENS, syntax_tree
from harena.scoring.scenario import Candidate
from harena.scoring.scorers.languages import NOTHING_BY_ENDING
from harena.scoring.scorers.program import WORKSPACE, Bench, overlaid
from harena.scoring.scorers.public_packages import PUBLIC_PACKAGES
from harena.scoring.scorers.shadowing import taking_no_part
from harena.scoring.scorers.suite_settings import python_paths
from harena.scoring.scorers.trusted_names import (
    ALWAYS_TAKEN,
    ANY_TOOL,
    NOBODY,
    Hiding,
    Reader,
    own_names,
    reader_of,
    search_path,
    steers,
    taken_names,
)
from harena.scoring.slices import aside, last_line, size_of
from harena.scoring.verdict import one_line

if TYPE_CHECKING:
    from harena.scoring.scorers.skip_conditions import SkipCondition

REQUIRES_SECONDS = 60.0
NOTHING_CAUGHT: Mapping[str, int] = {}
NO_SKIPS: Mapping[str, SkipCondition | None] = {}
NO_ORACLES: Mapping[str, Sequence[int]] = {}
"""no assertion that has failed may be caught by the candidate"""
LIST_IT = "if the image should have it, list it in the contract's `requires` and in the blueprint's packages"
"""what the author of a contract is told whose tests import a module that is not there"""
_MOST_STUB_NAMES, _MOST_STUBS = 300, 100
_NEVER_STUBBED = ("__", "_answer")
"""names that the interpreter, or a stub itself, calls"""
_SEARCHES = 4
"""times that a trusted text is read where it is asked which files of a candidate's would shadow others"""
_SHELL = (".sh", ".bash")
_WORD = re.compile(r"[^\W\d]\w*")

ENVIRONMENT = {
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONNOUSERSITE": "1",
    "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
    "PYTEST_ADDOPTS": "",
    "PYTEST_PLUGINS": "",
}
"""environment variables of every trusted command"""
_FAILING_TEST = """import unittest


class TestOfNobody(unittest.TestCase):
    def test_that_fails(self):
        self.assertEqual(1, 2)
"""
_WITHOUT_ITS_FOLDER = (
    "import os, sys\nsys.path[:] = [path for path in sys.path if path and os.path.realpath(path) != os.getcwd()]\n"
)
_PYTEST_OPTIONS = ("-p", "no:cacheprovider", "-q", "--color=no", "--rootdir", WORKSPACE, "-c", "/dev/null")


def kept_files(
    contract: CommandContract,
    files: Mapping[str, str],
    taken: Collection[str] = (),
    problems: Collection[str] = (),
    own: Collection[str] = (),
    searched: Collection[str] = (),
    reader: Reader = ANY_TOOL,
) -> dict[str, str]:
    """The candidate's files that take part: not those that steer or hide a module (unless allowed), none that a trusted
    one hides. `taken`: see `trusted_names.taken_names`; `problems`: paths of the problem's files; `own`: see
    `trusted_names.own_names`; `searched`: see `python_paths`; `reader`: what may find them."""
    allowed = NamePatterns(contract.allow)
    folders = search_path(contract).union(f"{each}/" for each in searched)
    hiding = Hiding({*contract.files, *problems}, taken, folders, own, reader)
    return {
        path: text
        for path, text in overlaid(files, contract.files).items()
        if path not in contract.files
        and (not (steers(path, own, reader) or hiding.hides(path)) or allowed.matches(path))
    }


async def taking_part(bench: Bench, contract: CommandContract, *, is_apart: bool = False) -> dict[str, str]:
    """The files of the bench's candidate that take part. `is_apart`: in a sandbox of its own no trusted program looks
    for modules or settings, and a module that the task names may have the name of one of the standard library's."""
    trusted = {**bench.scenario.files, **contract.files}
    taken = await taken_names(bench, contract, trusted)
    candidate = bench.scenario.candidate
    own = await aside(size_of(trusted), own_names, contract, candidate.entry, trusted) if is_apart else ()
    size = _SEARCHES * (size_of(trusted) + sum(map(len, (*candidate.files, *trusted, *contract.allow))))
    return await aside(size, _taking_part, contract, candidate.files, taken, bench.scenario.files, own, is_apart)


def _taking_part(
    contract: CommandContract,
    files: Mapping[str, str],
    taken: Collection[str],
    problems: Mapping[str, str],
    own: Collection[str],
    is_apart: bool,
) -> dict[str, str]:
    trusted = {**problems, **contract.files}
    reader = NOBODY if is_apart else reader_of(contract, trusted)
    kept = kept_files(contract, files, taken, problems, own, python_paths(contract, problems), reader)
    shadowing = taking_no_part(kept, trusted, [" ".join(contract.command or ())])
    allowed = NamePatterns(contract.allow)
    return {path: text for path, text in kept.items() if path not in shadowing or allowed.matches(path)}


def idle_bench(bench: Bench, paths: Collection[str] = (), *, raises: bool = False) -> Bench:
    """Make a bench for a candidate that defines what the candidate defines, and does nothing: what breaks with it, too,
    is broken for any candidate. What it uses is not metered. `paths`: further files that take part; those of them that
    are modules have a stub, too. `raises`: each function raises, and else it returns None.

    Where the contract has trusted texts, only names that these mention are kept: else a candidate could choose how much
    memory and time the stub takes."""
    from harena.scoring.battery import Forgery, Target, defined_functions, rendered

    candidate = bench.scenario.candidate
    body = "raise RuntimeError('this candidate does nothing')" if raises else "return None"
    stub = Forgery(name="stub", family="nothing", tries="Does nothing.", body=body)
    words = _mentioned(bench)
    modules = [path for path in paths if path.endswith(".py") and path in candidate.files]
    files: dict[str, str] = {}
    left = _MOST_STUB_NAMES
    for path in [candidate.entry, *sorted(set(modules) - {candidate.entry})[:_MOST_STUBS]]:
        if path.endswith(_SHELL):  # sourced or started, it does nothing; Python there would be a broken script
            files[path] = "#!/bin/sh\ntrue\n"
            continue
        if (nothing := NOTHING_BY_ENDING.get(PurePosixPath(path).suffix)) is not None:
            files[path] = nothing
            continue
        defined = defined_functions(candidate.files[path])
        named = (name for name in defined if not name.startswith(_NEVER_STUBBED))
        names = tuple(name for name in named if words is None or words.issuperset(name.split(".")))[:left]
        left -= len(names)
        files[path] = rendered(stub, Target("command", names, path)).source
    return bench.with_candidate(Candidate(files=files, entry=candidate.entry), files=bench.scenario.files)


def _mentioned(bench: Bench) -> set[str] | None:
    """The words of the trusted texts; None where the contract has none."""
    contract = bench.scenario.scoring
    if not isinstance(contract, CommandContract):
        return None
    texts = [contract.asserts or "", repr(contract.calls), *contract.files.values(), *bench.scenario.files.values()]
    return {word for text in texts for word in _WORD.findall(text)}


async def ends_alike(
    bench: Bench, result: ExecResult, paths: Collection[str], run: Callable[[Bench], Awaitable[ExecResult]]
) -> ExecResult | None:
    """What one that does nothing did, if a trusted program ends with it as it did with the candidate; else None.
    There are two of them: tests may go on as long as a function answers None (`while not stack.is_empty()`), and
    others for as long as it raises."""
    ended = None
    for raises in (False, True):
        ended = await run(idle_bench(bench, paths, raises=raises))
        exited = ended.outcome is ExecOutcome.EXITED
        if ended.outcome is not result.outcome or (exited and ended.returncode != result.returncode):
            return None
    return ended


def trusted_paths(contract: CommandContract, files: Mapping[str, str]) -> list[str]:
    """The contract's files, and those of the problem's that are its tests."""
    return [*contract.files, *(path for path in contract.test_files.values() if path in files)]


def candidate_program() -> str:
    """In which the candidate's modules live, where they are in another process than a suite. What it imports itself is
    never the candidate's."""
    return _WITHOUT_ITS_FOLDER + guest_program(modules_of("candidate_process"), "serve")


def without_its_folder(argv: tuple[str, ...]) -> tuple[str, ...]:
    """The command line of a program, of `guest_argv`, that imports nothing from the working directory as it starts."""
    python, option, start, *words = argv
    return (python, option, _WITHOUT_ITS_FOLDER + start, *words)


def candidate_argv(on_both_sides: Sequence[str], open_files: int) -> tuple[str, ...]:
    """The command line of `candidate_program`, where nobody else is in its sandbox; with the names of the modules that
    are on both sides, and its limit of descriptors."""
    return (
        *without_its_folder(guest_argv(modules_of("candidate_process"), "serve")),
        ",".join(on_both_sides),
        str(open_files),
    )


def suite_argv(
    contract: CommandContract,
    ours: Sequence[str],
    theirs: Sequence[str],
    home: str,
    on_both_sides: Sequence[str] = (),
    stance: str = AS_IT_IS,
    answers: Mapping[str, bool] | None = None,
    may_catch: Mapping[str, int] | None = NOTHING_CAUGHT,
    skips: Mapping[str, SkipCondition | None] = NO_SKIPS,
    *,
    searched: Sequence[str] = (),
    stops_clocks: bool = False,
    notes_uses: bool = False,
    oracles: Mapping[str, Sequence[int]] = NO_ORACLES,
) -> tuple[str, ...]:
    """The trusted runner of the contract's suite; see `guest_suite`, also for `skips`, and `python_paths` for
    `searched`, `guest_missing_modules` for the stance of nobody, `guest_absent_candidate` for its `answers`,
    `guest_caught_assertions` for what `may_catch` allows, `guest_clocks` for `stops_clocks`,
    `guest_universal_equality` for `notes_uses`, and `lines_of_oracles` for `oracles`."""
    runner = "unittest" if contract.unittest else "pytest"
    modules = modules_of("asserts_apart", runner)  # `asserts_apart` is imported by the test module that asserts become
    program = without_its_folder(guest_argv(modules, "main"))
    caught = None if may_catch is None else dict(may_catch)
    given = json.dumps({"ours": list(ours), "theirs": list(theirs), "on_both_sides": list(on_both_sides), "home": home,
                        "stance": stance, "answers": dict(answers or {}), "may_catch": caught,
                        "stops_clocks": stops_clocks, "searched": list(searched), "notes_uses": notes_uses,
                        "is_confirmed": contract.isolate == "auto", "has_gold": bool(contract.gold),
                        "oracles": {path: list(lines) for path, lines in oracles.items()},
                        **_as_told(skips),
                        "not_theirs": not_theirs(contract)})  # fmt: skip
    options = () if contract.unittest else _PYTEST_OPTIONS
    return (*program, given, *options, *contract.suite)


def _as_told(skips: Mapping[str, SkipCondition | None]) -> dict[str, Any]:
    """What the runner is told of skips; what many places ask for stands there once."""
    conditions: list[dict[str, Any]] = []
    places: dict[str, int | None] = {}
    for place, asked in skips.items():
        told = None
        if asked is not None:
            own = {name: list(values) for name, values in asked.own.items()}
            told = {"asks": asked.asks and list(asked.asks), "own": own, "free": sorted(asked.free)}
            if told not in conditions:
                conditions.append(told)
        places[place] = None if told is None else conditions.index(told)
    return {"skips": places, "conditions": conditions}


def with_failing_test(contract: CommandContract) -> CommandContract | None:
    """The contract with one more test file, whose test fails whoever the candidate is. None where the suite's words
    choose tests (`-k`, `test_it.py::test_one`), by which that test might be left out."""
    if any(word not in contract.files for word in contract.suite):
        return None
    folder = contract.suite[-1].rpartition("/")[0]
    path = f"{folder}/test_{secrets.token_hex(4)}.py".removeprefix("/")
    words = (*contract.suite, path)
    return contract.model_copy(
        update={
            "files": {**contract.files, path: _FAILING_TEST},
            **({"pytest": words} if contract.pytest else {"unittest": words}),
        }
    )


def files_on_both_sides(contract: CommandContract) -> list[str]:
    """The trusted modules that the candidate's sandbox has, too: those that hold classes of plain records, as nodes of
    a tree, whose instances the suite may give to the candidate; and those that the gold solution imports. What holds
    data, or code that computes, may hold answers."""
    tests = set(contract.test_files.values())
    modules = {path for path in contract.files if path.endswith(".py") and path not in tests}
    found = {path for path in modules if _holds_records(contract.files[path])}
    by_name: dict[str, list[str]] = {}
    for path in modules - found:
        by_name.setdefault(module_name(path), []).append(path)
    waiting = list(contract.gold.values())
    while waiting:
        for name in set(_imported(waiting.pop())):
            imported = by_name.pop(name, [])
            found.update(imported)
            waiting += (contract.files[path] for path in imported)
    return sorted(found)


def withheld_files(contract: CommandContract, candidate: Mapping[str, str], trusted: Mapping[str, str]) -> list[str]:
    """Trusted modules that the candidate's files import, and that its sandbox does not have; and the contract's other
    files that texts in the candidate name, and no text in the `trusted` files: what the tests read may be what they
    expect."""
    there, tests = {*files_on_both_sides(contract)}, {*contract.test_files.values()}
    names = {
        name for path, text in candidate.items() if path.endswith(".py") for name in _imported(text, MOST_SCORER_TOKENS)
    }
    has_data = any(not path.endswith(".py") for path in contract.files)
    said = _texts_in(candidate) if has_data else []
    read = _texts_in(trusted) if said else []
    return sorted(
        path
        for path in contract.files
        if path not in there
        and path not in tests
        and path not in candidate
        and (
            module_name(path) in names
            if path.endswith(".py")
            else _is_named(path, said) and not _may_be_read(path, read)
        )
    )


def _texts_in(files: Mapping[str, str]) -> list[str]:
    """The texts that stand in Python files."""
    return [
        node.value
        for path, text in files.items()
        if path.endswith(".py")
        for node in _nodes(text, MOST_SCORER_TOKENS)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]


def _is_named(path: str, texts: Iterable[str]) -> bool:
    """One of these texts ends with the file's name."""
    name = PurePosixPath(path).name
    return any(text.endswith(name) for text in texts)


def _may_be_read(path: str, texts: Iterable[str]) -> bool:
    """One of these texts ends as the file's name does (`*.json`), or holds its path."""
    name = PurePosixPath(path)
    return any(text.endswith(name.suffix or name.name) or path in text for text in texts)


def not_theirs(contract: CommandContract) -> list[str]:
    """Modules that the image would have to bring, and no candidate: those of the standard library of any version, those
    that the contract requires, and well-known packages."""
    required = {name.partition(".")[0] for name in contract.requires}
    return sorted(required | ALWAYS_TAKEN | PUBLIC_PACKAGES)


def imported_paths(
    contract: CommandContract, trusted: Mapping[str, str], *, is_certain: bool = False
) -> tuple[str, ...]:
    """Files in which a candidate might bring what the trusted modules import; not what the contract requires.
    `is_certain`: without what is imported in a `try`, which may as well be missing."""
    found = _imported_without_fail if is_certain else _imported
    names = {name for path, text in trusted.items() if path.endswith(".py") for name in found(text)}
    required = {name.partition(".")[0] for name in contract.requires}
    parts = [name.split(".") for name in names if name.partition(".")[0] not in required]
    return tuple(sorted({"/".join(each[:count]) + ".py" for each in parts for count in range(1, len(each) + 1)}))


def named_files(contract: CommandContract, on_both_sides: Sequence[str]) -> dict[str, str]:
    """Files on both sides by every path under which a suite may import them: beside a test, also without the folder."""
    tests = {path.rpartition("/")[0] for path in contract.test_files.values()}
    searched = {folder for folder in tests if f"{folder}/__init__.py" not in contract.files}
    found = {path: contract.files[path] for path in on_both_sides}
    for path in on_both_sides:
        for folder in folders_of([path]) & searched:
            found[path[len(folder) + 1 :]] = contract.files[path]
    return found


def _imported(text: str, most_tokens: int = MOST_TOKENS) -> Iterator[str]:
    yield from _names_of(_nodes(text, most_tokens))


def _imported_without_fail(text: str) -> Iterator[str]:
    """What is imported outside of every `try`."""
    waiting = _nodes(text)[:1]
    while waiting:
        node = waiting.pop()
        yield from _names_of([node])
        if not isinstance(node, ast.Try):
            waiting += ast.iter_child_nodes(node)


def _names_of(nodes: Iterable[ast.AST]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _holds_records(text: str) -> bool:
    nodes = _nodes(text)
    if not nodes or not isinstance(nodes[0], ast.Module):
        return False
    kinds = (ast.ClassDef, ast.Import, ast.ImportFrom)
    body = nodes[0].body
    return (
        any(isinstance(node, ast.ClassDef) for node in body)
        and all(isinstance(node, kinds) or _is_text(node) for node in body)
        and not any(isinstance(node, _COMPUTES) for node in nodes)
        and not any(isinstance(node, _DISPLAYS) and _parts(node) for node in nodes)
    )


_COMPUTES = (ast.For, ast.While, ast.comprehension, ast.Lambda, ast.AsyncFor, ast.With, ast.Try)
_DISPLAYS = (ast.Dict, ast.List, ast.Set)


def _parts(node: ast.Dict | ast.List | ast.Set) -> int:
    return len(node.keys) if isinstance(node, ast.Dict) else len(node.elts)


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _nodes(text: str, most_tokens: int = MOST_TOKENS) -> list[ast.AST]:
    try:
        return list(ast.walk(syntax_tree(text, most_tokens=most_tokens)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []


async def missing_modules(bench: Bench, contract: CommandContract) -> str | None:
    """What is wrong if the image lacks a module that the contract requires; asked where no candidate can answer."""
    if not contract.requires:
        return None
    program = "\n".join(["import sys", "sys.path[:] = [path for path in sys.path if path]",
                         *(f"import {name}" for name in contract.requires)])  # fmt: skip
    async with bench.sandboxes.sandbox(bench.base_spec) as sandbox:
        request = ExecRequest(argv=("python", "-c", program), cwd="/", timeout_seconds=REQUIRES_SECONDS)
        result = await (await sandbox.exec(request)).wait()
    if result.outcome is ExecOutcome.EXITED and result.returncode == 0:
        return None
    line = one_line(last_line(result.stderr))
    return f"the contract requires {', '.join(contract.requires)}: {line}; add it to the blueprint's packages"
