"""Answers that stand in a problem's own statement.

What looks like an answer there (a program that defines what is asked for, an expression that is returned, words behind
`answer:`) is scored as a candidate: it is given away where that passes. So a broken program that is to be repaired, or
an example of the form in which to answer, is none.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from harena.scoring.audit.visible import statement_of
from harena.scoring.battery.forgery import CALLED, JUDGED, RUN, TEXTS, Target, as_entry, parsed_tree
from harena.scoring.formats.answers import program_in
from harena.scoring.formats.stubs import has_body
from harena.scoring.python_source import written
from harena.scoring.scenario import Candidate, Scenario

MOST_TRIED = 4
"""candidates that are made of one statement"""
LEAST_TOKENS = 10
"""names and signs that a solution must have, to be known again in a text"""
_COMMENT = re.compile(r"#[^\n]*")
_TOKEN = re.compile(r"\w+|[^\w\s]")
_RETURNED = re.compile(r"\breturn[ \t]+([^\n`]{1,300})")
_ANSWER = re.compile(
    r"\b(?:answer|solution|result|expected output)\b[ \t*:`]*(?:is|=|:)[ \t*`]*([^\n]{1,200})", re.IGNORECASE
)
_ANY_DEFINITION = re.compile(r"(?:async[ \t]+)?(?:def|class)[ \t]+(\w+)")
_IMPORT = re.compile(r"^[ \t>]*((?:import|from)[ \t]+\w[^\n]{0,200})$", re.MULTILINE)


def given_away(scenario: Scenario) -> Iterator[tuple[str, Candidate]]:
    """(what it is, the candidate) for what the statement says that may be the answer."""
    target, said = Target.of(scenario), statement_of(scenario)
    if not said:
        return
    found: dict[str, str] = {}
    if target.contract in TEXTS | JUDGED:
        for text in _answers(said):
            found.setdefault(text, "what the statement calls the answer")
    elif target.contract in CALLED and target.functions:
        for program in _programs(said, target.functions, scenario.candidate.source):
            found.setdefault(program, "the program that the statement shows")
    elif target.contract in RUN:
        program = program_in(said)
        if program is not said and program != said and parsed_tree(program) is not None:
            found.setdefault(as_entry(program, target), "the program that the statement shows")
        for text in _answers(said):
            found.setdefault(as_entry(f"print({text!r})\n", target), "what the statement calls the answer")
    for text, name in list(found.items())[:MOST_TRIED]:
        yield name, Candidate(files={target.entry: text}, entry=target.entry)


def _answers(said: str) -> Iterator[str]:
    for match in list(_ANSWER.finditer(said))[:MOST_TRIED]:
        whole = match[1].strip().strip("*`\"'").strip()
        short = whole.rstrip(".!;,)]}")
        yield from dict.fromkeys(text for text in (short, whole, *short.split()[:1]) if text)


def _programs(said: str, functions: tuple[str, ...], gold: str) -> Iterator[str]:
    names = dict.fromkeys(name.partition(".")[0] for name in functions)
    fenced = program_in(said, names)
    if fenced != said:
        yield from _with_body(fenced, functions)
    imports = "".join(f"{match[1]}\n" for match in list(_IMPORT.finditer(said))[:50])
    blocks = [block for name in names for block in _definitions(said, name)]
    for block in blocks:
        yield from _with_body(imports + block, functions)
    yield from _with_body("\n".join([imports, *blocks]), functions)
    yield from _returning(said, functions, gold)


def _with_body(program: str, functions: tuple[str, ...]) -> Iterator[str]:
    """The program, where it is one that does more than to name what is asked for."""
    asked = functions[0].rpartition(".")[2]
    if parsed_tree(program) is not None and f"{asked}(" in program and has_body(program, asked):
        yield program


def _definitions(said: str, name: str) -> Iterator[str]:
    """Each definition of a name with the lines that stand further in, wherever in the text it begins."""
    lines = said.splitlines()
    for number, line in enumerate(lines):
        text = line.lstrip(" \t>")
        found = _ANY_DEFINITION.match(text)
        if found is None or found[1] != name:
            continue
        indent = len(line) - len(text)
        block = [text]
        for below in lines[number + 1 :]:
            if below.strip() and below[: indent + 1].strip(" \t>"):
                break
            block.append(below[indent:])
        yield "\n".join(block).rstrip() + "\n"


def _returning(said: str, functions: tuple[str, ...], gold: str) -> Iterator[str]:
    """The right answer's own signature, which returns what the statement says is returned."""
    tree = parsed_tree(gold)
    asked = functions[0]
    if tree is None or "." in asked:
        return
    header = next((part for part in tree.body if isinstance(part, ast.FunctionDef) and part.name == asked), None)
    signature = None if header is None else written(header.args)
    if signature is None:
        return
    imports = [part for part in tree.body if isinstance(part, ast.Import | ast.ImportFrom)]
    before = "".join(f"{written(part)}\n" for part in imports)
    for match in list(_RETURNED.finditer(said))[:MOST_TRIED]:
        value = match[1].strip().rstrip(".;")
        program = f"{before}def {asked}({signature}):\n    return {value}\n"
        if not value.replace("_", "a").isalnum() and parsed_tree(program) is not None:
            yield program


def holds_solution(scenario: Scenario) -> bool:
    """The statement holds the right answer word for word, white space and comments aside; what it shows of it anyway (a
    signature, a docstring) does not count."""
    said, gold = statement_of(scenario), scenario.candidate.source
    tree = parsed_tree(gold)
    if not said or tree is None:
        return False
    asked = {name.partition(".")[0] for name in Target.of(scenario).functions}
    bodies = [part.body for part in tree.body if isinstance(part, ast.FunctionDef) and part.name in asked]
    statements = [inner for body in bodies for inner in body] or tree.body
    parts = [written(part) for part in statements if not _is_text(part)]
    solution = _words("\n".join(part for part in parts if part))
    if solution.count(" ") < LEAST_TOKENS:
        return False
    shown = _words(_COMMENT.sub("", said))
    return f" {solution} " in f" {shown} "


def _is_text(part: ast.stmt) -> bool:
    return isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant)


def _words(text: str) -> str:
    return " ".join(_TOKEN.findall(text.replace('"', "'")))
