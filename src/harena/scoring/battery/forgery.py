"""What a forgery is, and how it becomes a candidate of a scenario.

A forgery is a small program that wants a score without solving anything. It knows what any candidate may know (the name
of the function that is asked for, the name of its own file, the names of the files that are read back) and no answer.
It is written as parts: `top` runs when the program is loaded, `body` is what the asked-for function does, `files` lie
beside the program. Words in @...@ are replaced: @FUNCTION@, @ENTRY@, @MODULE@, @OUTPUT@.
"""

from __future__ import annotations

import ast
import keyword
import posixpath
import re
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice

from harena.scoring.contracts.contract import (
    CommandContract,
    Contract,
    HarborContract,
    NumericContract,
    PythonContract,
    ReferenceContract,
    StdioContract,
    TestsContract,
    WeightedContract,
)
from harena.scoring.guest.driver import KEPT_FROM
from harena.scoring.guest.module_names import module_name
from harena.scoring.scenario import Candidate, Scenario
from harena.scoring.scorers.languages import PYTHON, SHELLS, language_of, unknown_ending

CALLED = frozenset({"tests", "reference", "command", "weighted"})
"""contracts that call a function of the candidate"""
RUN = frozenset({"stdio", "numeric", "python", "weighted"})
"""contracts that run the candidate as a program"""
SCRIPTS = frozenset({"harbor"})
"""contracts whose candidate is a shell script; a forgery is a program that the script starts"""
ANY = CALLED | RUN | SCRIPTS
TEXTS = frozenset({"string_check", "text_similarity", "regex"})
"""contracts that compare the candidate's text"""
JUDGED = frozenset({"score_model", "label_model"})
"""contracts that show the candidate's text to a model"""
MOST_READ = 100_000
"""characters of a program whose functions are looked for"""

ENTRY = "solution.py"
MARK = "harena-battery-mark"
"""in the name or the text of everything that a forgery leaves behind, so that it can be looked for"""


_MOST_NAMES, _LONGEST_NAME = 1_000, 100
"""how many names of a program are listed, and how long each may be: its author may have written them to fill the memory
of whoever lists them"""
_MOST_MODULES = 20
_NO_ANSWERS: Mapping[str, str] = {}
_NO_ANSWERS_OF_FILES: Mapping[str, Mapping[str, str]] = {}
_DEFINED = re.compile(r"^(?:async )?(?:def|class) ([A-Za-z_][A-Za-z0-9_]*)\b", re.MULTILINE)


def descriptors(first: int, end: int) -> str:
    """Source of the numbers that a forgery tries: these, those that /proc shows, and those at which drivers keep their
    own: from 1000 on, around the limit of descriptors, and below KEPT_FROM."""
    limit = "__import__('resource').getrlimit(7)[0]"
    kept = f"*range(1000, 1004), *range({limit} - 4, {limit} + 4), *range({KEPT_FROM - 4}, {KEPT_FROM})"
    kept += ", *map(int, __import__('os').listdir('/proc/self/fd'))"
    return f"(*range({first}, {end}), {kept})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgery:
    """One way to a score without an answer."""

    name: str
    family: str
    tries: str
    """one sentence"""
    contracts: frozenset[str] = ANY
    """types of scoring contract that it applies to"""
    top: str = ""
    body: str = "return None"
    files: Mapping[str, str] = field(default_factory=dict)
    """beside the program; names may hold @...@ words, too"""
    text: str | None = None
    """for contracts that run nothing: the whole answer"""
    is_harmless: bool = False
    """it may be run without any isolation"""
    outlasts: bool = False
    """it is still there when its time is over, however long that was: all that it tries, it tries at once"""


@dataclass(frozen=True, slots=True)
class Target:
    """What a forger knows of a scenario."""

    contract: str
    functions: tuple[str, ...] = ()
    """what the contract calls: `function` or `Class.method`"""
    entry: str = ENTRY
    outputs: tuple[str, ...] = ()
    """files that the contract reads back"""
    modules: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """the candidate's other modules that a suite may ask, and what they define"""

    @classmethod
    def of(cls, scenario: Scenario) -> Target:
        """The target that a scenario is; the functions of a `command` contract are those that its candidate defines."""
        contract = scenario.scoring
        functions = _asked_functions(contract)
        if not functions and not isinstance(contract, TestsContract | HarborContract):
            functions = defined_functions(scenario.candidate.source)
        entry = scenario.candidate.entry
        if _runs_any_language(contract) and language_of(entry, scenario.candidate.source) is not PYTHON:
            entry = ENTRY
        modules = _other_modules(scenario.candidate) if isinstance(contract, CommandContract) else ()
        return cls(contract_type(contract), functions, entry, _outputs(contract), modules)

    @property
    def takes_programs(self) -> bool:
        """A forgery, which is a program in Python, can be one of its candidates."""
        if self.contract != "command":
            return True
        return unknown_ending(self.entry) is None and language_of(self.entry, "") in (PYTHON, *SHELLS)


def contract_type(contract: Contract) -> str:
    """`tests`, `stdio`, `command` ...: as scenario files write it."""
    written: str = getattr(contract, "type", "")
    return written


def _asked_functions(contract: Contract) -> tuple[str, ...]:
    """What the contract itself names."""
    if isinstance(contract, TestsContract | ReferenceContract):
        return (contract.entry_point,) if contract.entry_point else ()
    if isinstance(contract, WeightedContract):
        parts = [_asked_functions(part.scoring) for part in contract.parts.values()]
        return tuple(dict.fromkeys(name for part in parts for name in part))
    return ()


def _outputs(contract: Contract) -> tuple[str, ...]:
    if isinstance(contract, WeightedContract):
        return tuple(dict.fromkeys(path for part in contract.parts.values() for path in _outputs(part.scoring)))
    if isinstance(contract, NumericContract):
        return (contract.source.file,) if contract.source.file else ()
    if isinstance(contract, PythonContract):
        return contract.output_files
    return (contract.proof.file,) if isinstance(contract, CommandContract) and contract.proof.file else ()


def _other_modules(candidate: Candidate) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Modules beside the entry that define something, and what that is."""
    paths = [path for path in candidate.files if path.endswith(".py") and path != candidate.entry][:_MOST_MODULES]
    found = ((path, defined_functions(candidate.files[path])) for path in paths)
    return tuple((path, functions) for path, functions in found if functions)


def defined_functions(source: str) -> tuple[str, ...]:
    """The names that a program's users can call: its functions, and `Class.method`; () if it is not Python.

    A program may be written to make a parser fail, or to keep it busy: of one that is very long, or that cannot be
    parsed for another reason than its syntax, the names at the beginnings of lines are taken."""
    if len(source) > MOST_READ:
        return _named_at_line_starts(source)
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return ()
    except (RecursionError, MemoryError):
        return _named_at_line_starts(source)
    return tuple(islice(_defined(tree), _MOST_NAMES))


def _defined(tree: ast.Module) -> Iterator[str]:
    for node in tree.body:
        if isinstance(node, _NAMED) and len(node.name) <= _LONGEST_NAME:
            if not isinstance(node, ast.ClassDef):
                yield node.name
                continue
            methods = [part.name for part in node.body if isinstance(part, _FUNCTIONS)]
            shown = [name for name in methods if not name.startswith("__") and len(name) <= _LONGEST_NAME]
            yield from (f"{node.name}.{method}" for method in shown)
            if not shown:
                yield node.name


_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_NAMED = (*_FUNCTIONS, ast.ClassDef)


def _named_at_line_starts(source: str) -> tuple[str, ...]:
    found = (match[1] for match in islice(_DEFINED.finditer(source), _MOST_NAMES))
    return tuple(dict.fromkeys(name for name in found if len(name) <= _LONGEST_NAME and not keyword.iskeyword(name)))


def parsed_tree(source: str) -> ast.Module | None:
    """A program's tree; None if it is not Python, or nested or long beyond what a parser takes."""
    if len(source) > MOST_READ:
        return None
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # the last two: nesting that its author chose
        return None


def rendered(
    forgery: Forgery, target: Target, answers: Mapping[str, Mapping[str, str]] = _NO_ANSWERS_OF_FILES
) -> Candidate:
    """The forgery as a candidate for this target. `answers`: what functions of its files give in place of the forgery's
    answer, by the path of the file and the function's name."""
    if forgery.text is not None:
        return Candidate(files={target.entry: filled_in(forgery.text, target)}, entry=target.entry)
    source = "\n".join([
        "import sys",
        forgery.top.strip("\n"),
        "def _answer(*arguments, **keywords):",
        textwrap.indent(textwrap.dedent(forgery.body).strip("\n"), "    "),
        definitions(target.functions, answers.get(target.entry, _NO_ANSWERS)) if target.contract in CALLED else "",
        "" if target.functions and target.contract in CALLED - RUN else _AS_PROGRAM,
    ])  # fmt: skip
    files = {filled_in(name, target): filled_in(text, target) for name, text in forgery.files.items()}
    program = as_entry(filled_in(source, target), target)
    return Candidate(files={**_beside(target, answers), **files, target.entry: program}, entry=target.entry)


def _beside(target: Target, answers: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
    """The other modules that a suite asks for: each function does what the entry's do."""
    if not target.entry.endswith(".py"):
        return {}
    start = f"from {module_name(target.entry)} import _answer\n"
    return {path: start + definitions(functions, answers.get(path, _NO_ANSWERS)) for path, functions in target.modules}


def as_entry(program: str, target: Target) -> str:
    """The text of a target's entry that runs a Python program."""
    if target.contract in SCRIPTS:
        return script_around(program)
    if unknown_ending(target.entry) is None and language_of(target.entry, "") in SHELLS:
        start = "program=$(mktemp) && cat > \"$program\" <<'HARENA_END'"
        return f'{start}\n{program}\nHARENA_END\nexec python3 "$program" "$@"\n'
    return program


def _runs_any_language(contract: Contract) -> bool:
    """The candidate's entry alone says by what it is run, so that a program in Python is as good a candidate."""
    if isinstance(contract, WeightedContract):
        return all(_runs_any_language(part.scoring) for part in contract.parts.values())
    if isinstance(contract, PythonContract):
        return contract.run_candidate
    return isinstance(contract, NumericContract | StdioContract)


def script_around(program: str) -> str:
    """A shell script that runs a Python program where it is started."""
    return f"python3 - <<'HARENA_END'\n{program}\nHARENA_END\nexit 0\n"


_AS_PROGRAM = """
if __name__ == "__main__":
    _made = _answer()
    if _made is not None:
        print(_made)
"""


def definitions(functions: tuple[str, ...], answers: Mapping[str, str] = _NO_ANSWERS) -> str:
    """Source that defines what a contract calls; each calls `_answer`, or gives what it has among the `answers`.
    Objects of its classes can be made of anything."""
    lines: list[str] = []
    classes: dict[str, list[str]] = {}
    for name in functions:
        owner, _, method = name.rpartition(".")
        if owner:
            classes.setdefault(owner.partition(".")[0], []).append(method)
        else:
            answer = answers.get(name, "_answer(*arguments, **keywords)")
            lines += [f"def {name}(*arguments, **keywords):", f"    return {answer}"]
    for owner, methods in classes.items():
        lines += [f"class {owner}:", "    def __init__(self, *arguments, **keywords):", "        pass"]
        for method in methods:
            answer = answers.get(f"{owner}.{method}", "_answer(*arguments, **keywords)")
            lines += [f"    def {method}(self, *arguments, **keywords):", f"        return {answer}"]
    return "\n".join(lines)


def _words(target: Target) -> dict[str, str]:
    stem = posixpath.splitext(target.entry)[0]
    return {
        "@FUNCTION@": target.functions[0].rpartition(".")[2] if target.functions else "solve",
        "@ENTRY@": target.entry,
        "@MODULE@": stem.replace("/", "."),
        "@OUTPUT@": target.outputs[0] if target.outputs else "result.txt",
        "@MARK@": MARK,
    }


def filled_in(text: str, target: Target) -> str:
    """A text with the target's names in the place of words in @...@."""
    for word, replacement in _words(target).items():
        text = text.replace(word, replacement)
    return text
