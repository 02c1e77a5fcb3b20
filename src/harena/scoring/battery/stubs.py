"""Answers that need no thought: constants of each type, what was asked given back, and all plausible ones at once.

A contract that pays one of them pays for nothing. With partial credit each may earn a little by chance; how much the
best of them earns is what a right answer's score has to be compared with.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from harena.scoring.battery.forgery import (
    CALLED,
    JUDGED,
    TEXTS,
    Forgery,
    Target,
    as_entry,
    contract_type,
    parsed_tree,
    rendered,
)
from harena.scoring.contracts.contract import Contract, NumericContract, TestsContract, WeightedContract
from harena.scoring.scenario import Candidate, Scenario

CONSTANTS = ("0", "1", "-1", '""', "[]", "{}", "()", "set()", "None", "True", "False", "0.5")
"""Python's notation"""
EMPTY_OF_EACH = "returns what is empty of each kind"
WORDS = ("0", "1", "-1", "", "[]", "{}", "None", "True", "False", "0.5", "yes", "no", "YES", "NO", "true", "false",
         "A", "B", "C", "D", "correct", "I do not know.")  # fmt: skip
"""what a program prints, or a text is"""
_SHOTGUN = "\n".join(WORDS)
_READ = "import sys\n_read = sys.stdin.read()\n"
_ECHOES = {
    "prints what it reads": "print(_read, end='')",
    "prints the first line that it reads": "print(_read.split('\\n')[0])",
    "prints the last word that it reads": "print(_read.split()[-1] if _read.split() else '')",
}

_MOST_ERRORS = 3
"""expected exceptions of which a stub raises each"""
_GROUP = re.compile(r"\((?!\?)(?:\\.|\[(?:\\.|[^\]\\])*\]|[^()\[\\])*\)")
_SPACE = re.compile(r"\\s[*+?]?")
_NO_TEXT = re.compile(r"\\[bBAZ]|[\^$]|\.[*+]\??|(?<!\\)[*+?]")
"""in a regular expression: a group, white space, and what stands for no text that must be there"""


def _stub(name: str, body: str) -> Forgery:
    return Forgery(name=name, family="stub", tries=f"{name}.", body=body)


CALLED_STUBS = (
    *(_stub(f"returns {constant}", f"return {constant}") for constant in CONSTANTS),
    _stub("returns its first argument", "return arguments[0] if arguments else None"),
    _stub("returns its last argument", "return arguments[-1] if arguments else None"),
    _stub("returns its arguments", "return arguments[0] if len(arguments) == 1 else list(arguments)"),
    _stub("prints all that is plausible and returns nothing", f"print({_SHOTGUN!r})"),
)


def stubs(scenario: Scenario) -> Iterator[tuple[str, Candidate]]:
    """(what it does, the candidate) for each stub that applies to the scenario's contract."""
    target, kind = Target.of(scenario), contract_type(scenario.scoring)
    if kind in CALLED and target.functions:
        for stub in CALLED_STUBS:
            yield stub.name, rendered(stub, target)
        if (empty := _empty_of_each(scenario, target)) is not None:
            yield EMPTY_OF_EACH, empty
        for error in _expected_errors(scenario.scoring):
            yield f"raises {error}", rendered(_stub(f"raises {error}", f"raise {error}"), target)
    elif kind in TEXTS | JUDGED:
        for word in WORDS:
            if word:
                yield f"says {word}", _whole(target, word)
        yield "says all that is plausible", _whole(target, _SHOTGUN)
        if scenario.statement.strip():
            yield "says the question again", _whole(target, scenario.statement)
    elif kind == "harbor":
        yield "ends with 1", _whole(target, "exit 1\n")
        yield "makes each file that is empty", _whole(target, "touch answer.txt output.txt result.txt solution.py\n")
    else:
        for word in WORDS:
            yield f"prints {word!r}", _program(target, _printing(word, target))
        yield "prints all that is plausible", _program(target, _printing(_SHOTGUN, target))
        for text in _claims(scenario.scoring):
            yield "states the number that is worth most", _program(target, _printing(text, target))
        for name, line in _ECHOES.items():
            yield name, _program(target, _READ + line + "\n")


def _empty_of_each(scenario: Scenario, target: Target) -> Candidate | None:
    """A candidate whose functions give what is empty of the kind that those of the scenario's candidate give; None
    where that is of one kind alone, as another stub gives, or unknown. Each function may be paid for another nothing.
    """
    answers = empty_answers(scenario.candidate.source)
    of_modules = {path: empty_answers(scenario.candidate.files[path]) for path, _ in target.modules}
    if len({*answers.values(), *(each for found in of_modules.values() for each in found.values())}) < 2:
        return None
    return rendered(_stub(EMPTY_OF_EACH, "return None"), target, {target.entry: answers, **of_modules})


def empty_answers(source: str) -> dict[str, str]:
    """What is empty of the kind that each function of a program says that it gives, by an annotation or by what it
    returns; without those of which that is not known."""
    tree = parsed_tree(source)
    found: dict[str, str] = {}
    for node in tree.body if tree is not None else ():
        if isinstance(node, ast.FunctionDef):
            found[node.name] = _empty_of(node)
        elif isinstance(node, ast.ClassDef):
            methods = (each for each in node.body if isinstance(each, ast.FunctionDef))
            found.update((f"{node.name}.{each.name}", _empty_of(each)) for each in methods)
    return {name: empty for name, empty in found.items() if empty}


def _empty_of(function: ast.FunctionDef) -> str:
    if function.returns is not None:
        kind = function.returns.value if isinstance(function.returns, ast.Subscript) else function.returns
        return _EMPTY_OF_NAMES.get(getattr(kind, "id", getattr(kind, "attr", "")).lower(), "")
    values = [node.value for node in ast.walk(function) if isinstance(node, ast.Return) and node.value is not None]
    found = {_empty_of_value(value) for value in values} - {""}
    return found.pop() if len(found) == 1 else ""


def _empty_of_value(value: ast.expr) -> str:
    """What is empty of the kind of an expression, where its form tells the kind."""
    if isinstance(value, ast.Constant):
        return _EMPTY_OF_NAMES.get(type(value.value).__name__, "")
    if isinstance(value, ast.Call):
        called = value.func
        return (
            _EMPTY_OF_NAMES.get(called.id, "")
            if isinstance(called, ast.Name)
            else _OF_METHODS.get(_attribute(called), "")
        )
    if isinstance(value, ast.BinOp):
        return next(filter(None, map(_empty_of_value, (value.left, value.right))), "")
    return next((empty for kinds, empty in _EMPTY_OF_FORMS if isinstance(value, kinds)), "")


def _attribute(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else ""


_EMPTY_OF_NAMES = {"str": '""', "list": "[]", "sorted": "[]", "sequence": "[]", "iterable": "[]", "dict": "{}",
                   "mapping": "{}", "tuple": "()", "set": "set()", "frozenset": "frozenset()", "bytes": 'b""',
                   "int": "0", "len": "0", "sum": "0", "float": "0.0", "bool": "False", "any": "False",
                   "all": "True"}  # fmt: skip
"""names of classes, and of builtins by what they give"""
_OF_METHODS = {"join": '""', "format": '""', "strip": '""', "replace": '""', "lower": '""', "upper": '""',
               "split": "[]", "union": "set()", "intersection": "set()", "difference": "set()"}  # fmt: skip
_EMPTY_OF_FORMS: tuple[tuple[tuple[type[ast.expr], ...], str], ...] = (
    ((ast.JoinedStr,), '""'), ((ast.List, ast.ListComp), "[]"), ((ast.Dict, ast.DictComp), "{}"), ((ast.Tuple,), "()"),
    ((ast.Set, ast.SetComp), "set()"), ((ast.Compare,), "False"),
)  # fmt: skip


def _whole(target: Target, source: str) -> Candidate:
    return Candidate(files={target.entry: source}, entry=target.entry)


def _program(target: Target, source: str) -> Candidate:
    return _whole(target, as_entry(source, target))


def _printing(text: str, target: Target) -> str:
    written = "".join(f"open({path!r}, 'w').write({text!r})\n" for path in target.outputs)
    return f"print({text!r})\n{written}"


def _expected_errors(contract: Contract) -> list[str]:
    checks = contract.checks if isinstance(contract, TestsContract) else ()
    return list(dict.fromkeys(check.raises for check in checks if check.raises is not None))[:_MOST_ERRORS]


def _claims(contract: Contract) -> Iterator[str]:
    """What a program prints that wants the whole of a `range`: the number is its own word."""
    if isinstance(contract, WeightedContract):
        for part in contract.parts.values():
            yield from _claims(part.scoring)
    elif isinstance(contract, NumericContract) and contract.range is not None:
        number = repr(contract.range[1])
        pattern = contract.source.pattern
        yield number if pattern is None else f"{number}\n{_matching(pattern, number)}"


def _matching(pattern: str, number: str) -> str:
    """A text that a simple regular expression finds the number in."""
    group = _GROUP.search(pattern)
    if group is None:
        return number
    around = (pattern[: group.start()], pattern[group.end() :])
    before, behind = (re.sub(r"\\(.)", r"\1", _NO_TEXT.sub("", _SPACE.sub(" ", part))) for part in around)
    return f"{before}{number}{behind}"
