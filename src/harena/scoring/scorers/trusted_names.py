"""Which names of a candidate's files are taken: by modules that a trusted part imports, and by what steers programs.

A trusted part finds a module by its name, in folders that also hold the candidate's files. The names that it may find
are computed: those of the standard library, of its own modules, of what the contract requires, and of everything that
is loaded with the modules that its programs import, asked of the image where no candidate can answer. A candidate's
file or folder of such a name is left out, whatever kind of module it would be. So are the files that start-up, tests
and builds are steered by, as far as anything reads them (`Reader`): the runner of a suite is steered by few of them,
and in a sandbox of the candidate's own nothing trusted looks for any. What is left out is told beside a verdict that
does not pass.
"""

from __future__ import annotations

import ast
import json
import re
import sys
import textwrap
import unicodedata
from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any
from weakref import WeakKeyDictionary

from harena.core.errors import PlatformError
from harena.core.models import ExecOutcome, ExecRequest
from harena.scoring.bounded_cache import BoundedCache
from harena.scoring.contracts.contract import CommandContract
from harena.scoring.contracts.parts import folders_of
from harena.scoring.digests import digest_of
from harena.scoring.python_source import syntax_tree
from harena.scoring.scorers.program import WORKSPACE, Bench
from harena.scoring.scorers.public_packages import PUBLIC_PACKAGES
from harena.scoring.slices import aside, size_of
from harena.scoring.verdict import one_line

_STEERING_NAMES = frozenset({
    "conftest.py", "pyproject.toml", "pytest.ini", "pytest.toml", "setup.cfg", "setup.py", "tox.ini", "noxfile.py",
    "makefile", "gnumakefile", "bsdmakefile", "justfile", "taskfile.yml", "taskfile.yaml", "rakefile", "package.json",
    "ctestcustom.cmake", "ctestcustom.ctest", "ctesttestfile.cmake", "dartconfiguration.tcl", "cmakecache.txt",
    "jest.config.js", "jest.config.cjs", "jest.config.mjs", "jest.config.ts", "jest.config.json", "vitest.config.js",
    "vitest.config.mjs", "vitest.config.ts", "karma.conf.js", "playwright.config.js", "playwright.config.ts",
    "phpunit.xml", "phpunit.xml.dist", "bunfig.toml",
})  # fmt: skip
"""in small letters"""
_STEERING_SUFFIXES = frozenset({".pth", ".pyc", ".pyo", ".pyd", ".so", ".egg-link", ".egg", ".whl", ".zip"})
_STEERING_FOLDERS = frozenset({"__pycache__", "node_modules"})
_STEERING_FOLDER_SUFFIXES = frozenset({".dist-info", ".egg-info", ".egg"})
_STEERING_MODULES = frozenset({"sitecustomize", "usercustomize", "conftest"})
"""wherever they lie"""
_LOOKED_FOR = frozenset({
    "org", "java", "_winreg", "vms_lib", "win32api", "win32con", "win32evtlog", "win32evtlogutil", "docutils",
    "sitecustomize", "usercustomize", "_manylinux", "_musllinux", "argcomplete", "exceptiongroup",
})  # fmt: skip
"""modules of other systems that the standard library, pip and pytest try to import: nobody has them, so that a
candidate's would be found"""
_OF_PYTEST = frozenset({"pytest", "_pytest", "pluggy", "iniconfig", "packaging", "py"})
ALWAYS_TAKEN = sys.stdlib_module_names | _LOOKED_FOR | _OF_PYTEST


@dataclass(frozen=True, slots=True)
class Reader:
    """What may find a candidate's files by their names alone, where it is judged."""

    files: frozenset[str]
    """names of files that it reads, in small letters"""
    modules: frozenset[str]
    """names of modules that it loads wherever they lie"""
    taken: frozenset[str]
    """names of modules that it has found elsewhere, or looks for, in the working directory"""
    hidden: bool = False
    """files whose names begin with a dot steer it"""
    compiled: bool = True
    """compiled modules, archives and what is installed may come to be loaded"""


ANY_TOOL = Reader(_STEERING_NAMES, _STEERING_MODULES, ALWAYS_TAKEN, hidden=True)
"""a trusted command, and a suite that starts programs"""
RUNS_PYTEST = Reader(frozenset(), _STEERING_MODULES, sys.stdlib_module_names | _OF_PYTEST)
"""it reads no settings (`-c /dev/null`); the library's own imports find nothing of the candidate's, see
`guest_module_precedence`"""
RUNS_PYTHON = Reader(frozenset(), _STEERING_MODULES - {"conftest"}, sys.stdlib_module_names)
"""unittest, and code of tests alone"""
NOBODY = Reader(frozenset(), frozenset(), sys.stdlib_module_names, compiled=False)
"""the candidate has a sandbox of its own, where nothing trusted looks for modules"""
_SHELL_IMPORT = re.compile(r"(?m)^[ \t]*(?:import|from)[ \t]+([A-Za-z_]\w*)")
_PATH_ENTRY = re.compile(r"(?:^|[\s;&|(\"'])(?:cd|pushd)\s+[\"']?([\w./-]+)|PYTHONPATH=[\"']?([^\s;&|\"']+)")
_MODULE_OPTION = re.compile(r"(?:^|\s)-m\s*([A-Za-z_]\w*)")
_HERE_DOCUMENT = re.compile(r"<<-?[ \t]*[\"']?(\w+)")
_QUOTED_PROGRAM = re.compile(r"-c[ \t]*(?:'(?P<single>[^']*)'|\"(?P<double>[^\"]*)\")")
_STARTS = re.compile(
    r"(?i)\b(?:\w*subprocess\w*|system|popen\w*|p?spawn\w*|exec[lv]\w*|startfile|pexpect|pty|sh|bash|plumbum|invoke|fabric|"
    r"delegator|nox|tox|runpy|pytester|testdir|console_scripts)\b"
)
"""words of texts that start programs"""
_ASK_SECONDS = 60.0
_MOST_TOLD = 5
_ASK = """\
import importlib.util, json, sys
from opcode import opmap
sys.path[:] = [path for path in sys.path if path]
found = set()
wanted = set()
said = set()

class Seen:
    def find_spec(name, path=None, target=None):
        frame = sys._getframe(1)
        while frame is not None and frame.f_code.co_filename.startswith("<frozen importlib"):
            frame = frame.f_back
        is_said = frame is not None and frame.f_code.co_code[frame.f_lasti] == opmap["IMPORT_NAME"]
        (said if is_said else wanted).add(name.partition(".")[0])

sys.meta_path.append(Seen)
for name in sys.argv[2:]:
    before = set(wanted), set(said)
    try:
        if importlib.util.find_spec(name):
            found.add(name)
            if sys.argv[1] == "load":
                __import__(name)
        else:
            wanted, said = before
    except BaseException:
        pass
loaded = found | wanted | {name.partition(".")[0] for name in sys.modules}
try:
    import importlib.metadata as metadata, re
    owners = metadata.packages_distributions()
    needed = set()
    for owner in {owner for name in loaded for owner in owners.get(name, ())}:
        for line in metadata.requires(owner) or ():
            if "extra ==" not in line:
                needed.add(re.match(r"[\\w.-]*", line)[0].lower().replace("_", "-"))
    for name, distributions in owners.items():
        if any(one.lower().replace("_", "-") in needed for one in distributions):
            loaded.add(name)
except Exception:
    pass
sys.stdout.write("\\n" + json.dumps([sorted(loaded), sorted(said - loaded)]))
"""
_known: WeakKeyDictionary[Any, BoundedCache[tuple[frozenset[str], frozenset[str]]]] = WeakKeyDictionary()
_MOST_KNOWN = 256


def own_names(contract: CommandContract, entry: str, trusted: Mapping[str, str]) -> frozenset[str]:
    """Names of the standard library's that the task itself gives to modules of the candidate's: its gold solution, or
    its entry, has a file of this name, and no trusted text imports or requires one."""
    named = {_stem(PurePosixPath(path).parts[0]) for path in (*contract.gold, entry)}
    imported, _ = _imported(contract, trusted)
    required = {name.partition(".")[0] for name in contract.requires}
    return frozenset(named & sys.stdlib_module_names) - imported - required


def imported_for_certain(contract: CommandContract, trusted: Mapping[str, str]) -> frozenset[str]:
    """Modules that the trusted part imports and does not do without; of code of tests only what is imported before
    anything else is decided. What the contract requires is not among them."""
    required = {name.partition(".")[0] for name in contract.requires}
    if contract.asserts is None:
        imported, optional = _imported(contract, trusted)
        return imported - optional - required
    body = getattr(_tree(contract.asserts), "body", [])
    imports = ast.Module([node for node in body if isinstance(node, ast.Import | ast.ImportFrom)], [])
    return frozenset(_imports_below(imports)) - required


def asks_for_a_candidates_module(contract: CommandContract, trusted: Mapping[str, str]) -> bool:
    """The trusted part imports a module that nobody but a candidate brings."""
    imported, optional = _imported(contract, trusted)
    theirs = {_stem(PurePosixPath(path).parts[0]) for path in trusted}
    required = {name.partition(".")[0] for name in contract.requires}
    return not imported <= optional | theirs | required | ALWAYS_TAKEN | PUBLIC_PACKAGES


def reader_of(contract: CommandContract, trusted: Mapping[str, str]) -> Reader:
    """What may find a candidate's files beside the trusted part. A suite whose texts start programs may start any."""
    if contract.command is not None or any(map(_STARTS.search, (*trusted.values(), contract.asserts or ""))):
        return ANY_TOOL
    return RUNS_PYTEST if contract.pytest else RUNS_PYTHON


def steers(path: str, own: Collection[str] = (), reader: Reader = ANY_TOOL) -> bool:
    """A candidate's file of this name could change how the trusted part runs, without being imported by its tests.
    `own`: see `own_names`."""
    parts = [unicodedata.normalize("NFKC", part) for part in PurePosixPath(path).parts]
    return (
        parts[-1].lower() in reader.files
        or (reader.compiled and PurePosixPath(parts[-1]).suffix.lower() in _STEERING_SUFFIXES)
        or any(_steers(part, reader) for part in parts)
        or _stem(parts[0]) in reader.taken.difference(own)
    )


def _steers(part: str, reader: Reader) -> bool:
    is_compiled = part in _STEERING_FOLDERS or PurePosixPath(part).suffix in _STEERING_FOLDER_SUFFIXES
    return (
        (reader.hidden and part.startswith(".")) or (reader.compiled and is_compiled) or _stem(part) in reader.modules
    )


class Hiding:
    """Where a trusted program looks for modules, a candidate's file can be found in the place of another one."""

    def __init__(
        self,
        trusted: Collection[str],
        taken: Collection[str] = (),
        searched: Collection[str] = (),
        own: Collection[str] = (),
        reader: Reader = ANY_TOOL,
    ) -> None:
        """`trusted`: the paths of trusted files; `taken`: names of modules that are found elsewhere; `searched`:
        folders that the contract itself has searched, see `search_path`; `own`: see `own_names`; `reader`: who looks
        in the working directory."""
        self._taken, self._own = frozenset(taken), frozenset(own)
        self._reader = reader
        self._folders = folders_of(trusted)
        self._modules: dict[str, set[str]] = {folder: set() for folder in (*_searched(trusted), *searched)}
        """folders that are searched, with an ending "/" -> names of trusted modules and packages in them"""
        for path in trusted:
            for folder in _above(path) if path.endswith(".py") else ():
                if folder in self._modules:
                    self._modules[folder].add(_stem(path[len(folder) :].partition("/")[0]))

    def hides(self, path: str) -> bool:
        """Whether a candidate's file of this path would be found so."""
        for folder in _above(path):
            if folder not in self._modules:
                continue
            first = path[len(folder) :].partition("/")[0]
            name = _stem(first)
            always = ALWAYS_TAKEN if folder and self._reader is not NOBODY else self._reader.taken
            is_taken = (name in always or name in self._taken) and name not in self._own
            is_taken = is_taken or name in self._modules[folder]
            if is_taken and folder + first not in self._folders:
                return True
        return False


def _above(path: str) -> Iterator[str]:
    """The working directory (""), and each folder above this path, with an ending "/"."""
    yield ""
    at = path.find("/")
    while at >= 0:
        yield path[: at + 1]
        at = path.find("/", at + 1)


def _searched(trusted: Collection[str]) -> Iterator[str]:
    """Folders in which programs look for modules: the working directory, and those of trusted programs that are in no
    package."""
    yield ""
    for folder in sorted({path.rpartition("/")[0] for path in trusted if path.endswith(".py") and "/" in path}):
        if f"{folder}/__init__.py" not in trusted:
            yield f"{folder}/"


def search_path(contract: CommandContract) -> frozenset[str]:
    """Folders of the working directory in which the contract's command has modules looked for: those of PYTHONPATH, and
    those to which a line of shell changes, with an ending "/"."""
    texts = [text for path, text in contract.files.items() if path.endswith((".sh", ".bash"))]
    texts += list(contract.command or ())
    entries = contract.env.get("PYTHONPATH", "").split(":")
    for text in texts:
        for folder, path in _PATH_ENTRY.findall(text):
            entries += [folder] if folder else path.split(":")
    found = set()
    for entry in entries:
        entry = entry.removeprefix("$PWD/").removeprefix(f"{WORKSPACE}/")
        parts = [part for part in entry.split("/") if part not in ("", ".")]
        if parts and not entry.startswith("/") and ".." not in parts:
            found.add("/".join(parts) + "/")
    return frozenset(found)


def _stem(part: str) -> str:
    """Name that an `import` statement would use for a part of a path: Python reads names in this normal form."""
    return unicodedata.normalize("NFKC", part).partition(".")[0]


async def taken_names(bench: Bench, contract: CommandContract, trusted: Mapping[str, str]) -> frozenset[str]:
    """Names of modules that the trusted part gets from the image, and that no file of a candidate may have. Asked once
    for each set of imports."""
    required = frozenset(name.partition(".")[0] for name in contract.requires)
    size = size_of(trusted) + len(contract.asserts or "")
    imported, optional = await aside(size, _imported, contract, trusted)
    asked = tuple(sorted((required | imported) - sys.stdlib_module_names))
    if contract.command is not None:
        required |= optional - {_stem(PurePosixPath(bench.scenario.candidate.entry).parts[0])}
    if not asked:
        return required
    try:
        known = _known.setdefault(bench.source, BoundedCache(_MOST_KNOWN))
    except TypeError:  # a source that cannot be weakly referred to
        known = BoundedCache(_MOST_KNOWN)
    key = (bench.base_spec.image, str(bench.base_spec.blueprint), *asked)
    if (found := known.get(key)) is None:
        found = await _loaded(bench, asked)
        known.keep(key, found)
    loaded, sought = found
    return required | loaded | sought if contract.command is not None else required | loaded


async def _loaded(bench: Bench, names: tuple[str, ...]) -> tuple[frozenset[str], frozenset[str]]:
    """What is there and is loaded with these modules, or looked for by their code; and what statements of theirs import
    in vain, for which no candidate's is found where it is beside a suite (`guest_module_precedence`). Those of these
    names that are not in the image may be the candidate's. Raises PlatformError."""
    for how in ("load", "find"):  # a module may end the process that loads it
        async with bench.sandboxes.sandbox(bench.base_spec) as sandbox:
            request = ExecRequest(argv=("python", "-c", _ASK, how, *names), cwd="/", timeout_seconds=_ASK_SECONDS)
            result = await (await sandbox.exec(request)).wait()
        if result.outcome is ExecOutcome.EXITED and result.returncode == 0:
            loaded, sought = json.loads(result.stdout.rpartition(b"\n")[2])
            return frozenset(loaded), frozenset(sought)
    last = one_line(result.stderr.rstrip().rpartition(b"\n")[2].decode("utf-8", "replace"))
    raise PlatformError(f"the image cannot say which modules it has: {result.outcome} {last}", step="ask for modules")


_MOST_REMEMBERED = 64
_remembered = BoundedCache[tuple[frozenset[str], frozenset[str]]](_MOST_REMEMBERED)


def _imported(contract: CommandContract, trusted: Mapping[str, str]) -> tuple[frozenset[str], frozenset[str]]:
    """(names of the modules that the trusted part imports, as far as its programs' text tells; those of them that it
    does without where they are missing: no candidate is meant to bring one). The same for each candidate, and dear: it
    is remembered. Called in any thread."""
    key = digest_of([contract.fingerprint, dict(trusted)])
    if (found := _remembered.get(key)) is None:
        found = _read_imports(contract, trusted)
        _remembered.keep(key, found)
    return found


def _read_imports(contract: CommandContract, trusted: Mapping[str, str]) -> tuple[frozenset[str], frozenset[str]]:
    programs = [text for path, text in trusted.items() if path.endswith(".py")]
    command = " ".join(contract.command or ())
    programs += [word for option, word in zip(contract.command or (), (contract.command or ())[1:], strict=False)
                 if option == "-c"]  # fmt: skip
    programs += [contract.asserts] if contract.asserts else []
    names = {found[1] for found in _MODULE_OPTION.finditer(command)}
    names |= {"pytest"} if contract.pytest else set()
    shell = [text for path, text in trusted.items() if path.endswith((".sh", ".bash"))]
    for text in (*shell, *(contract.command or ())):
        names |= set(_SHELL_IMPORT.findall(text))
        programs += _programs_within(text)
    optional: set[str] = set()
    for tree in map(_tree, programs):
        imports, without = Counter(_imports_below(tree)), Counter(_optional_imports(tree))
        names |= imports.keys()
        optional |= {name for name, count in without.items() if imports[name] == count}
    return frozenset(names), frozenset(optional)


def _programs_within(shell: str) -> Iterator[str]:
    """What a text of shell gives to an interpreter: here documents, and quoted words of some lines."""
    yield from _here_documents(shell)
    for found in _QUOTED_PROGRAM.finditer(shell):
        yield found["single"] if found["single"] is not None else found["double"]


def _here_documents(shell: str) -> Iterator[str]:
    """In one pass over the text: a search for the end of each would take quadratic time where there is none."""
    ends: dict[str, list[tuple[int, int]]] = {}
    at = 0
    for line in shell.split("\n"):
        ends.setdefault(line.strip(" \t"), []).append((at, at + len(line)))
        at += len(line) + 1
    at = end_of_line = 0
    while (found := _HERE_DOCUMENT.search(shell, at)) is not None:
        at = found.start() + 1
        if found.end() > end_of_line and (end_of_line := shell.find("\n", found.end())) < 0:
            return
        places = ends.get(found[1], [])
        index = bisect_left(places, (end_of_line + 1, 0))
        if index < len(places):
            yield textwrap.dedent(shell[end_of_line + 1 : places[index][0]])
            at = places[index][1]


def optional_names(contract: CommandContract, trusted: Mapping[str, str]) -> frozenset[str]:
    """Modules that the trusted programs do without where they are missing, also in programs within lines of shell."""
    return _imported(contract, trusted)[1] - {_stem(path) for path in trusted if "/" not in path}


def _optional_imports(tree: ast.AST) -> Iterator[str]:
    """Modules without which the program goes on: `try: import numpy` with `except ImportError`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Try) and any(_is_for_imports(handler) for handler in node.handlers):
            for statement in node.body:
                yield from _imports_below(statement)


def _is_for_imports(handler: ast.ExceptHandler) -> bool:
    caught = {node.id for node in ast.walk(handler.type) if isinstance(node, ast.Name)} if handler.type else set()
    goes_on = not any(_ends(node) for part in handler.body for node in ast.walk(part))
    return goes_on and (not caught or bool(caught & {"ImportError", "ModuleNotFoundError", "Exception"}))


def _ends(node: ast.AST) -> bool:
    """It ends the program, a test or a function: a module whose absence does that may be the candidate's."""
    if not isinstance(node, ast.Call):
        return isinstance(node, ast.Raise | ast.Return)
    called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    return called in ("exit", "_exit", "quit", "abort", "fail", "skip")


def _tree(program: str) -> ast.AST:
    try:
        return syntax_tree(program)
    except (SyntaxError, ValueError, RecursionError):  # a line of shell, for instance
        return ast.Module(body=[], type_ignores=[])


def _imports_below(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.partition(".")[0]
        elif isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if called in ("import_module", "__import__", "importorskip") and isinstance(node.args[0].value, str):
                yield node.args[0].value.partition(".")[0]


def told(left_out: Collection[str]) -> str:
    """What is told of files that take no part; "" = there are none."""
    if not left_out:
        return ""
    shown = ", ".join(sorted(left_out)[:_MOST_TOLD]) + (", ..." if len(left_out) > _MOST_TOLD else "")
    return one_line(f"; left out of the candidate's files, because their names are taken: {shown}")
