"""Examples that a problem's statement shows, and the answers that know nothing else.

    >>> double(4)            assert double(4) == 8            double(4) -> 8            Input: x = 4
    8                                                                                   Output: 8

A policy sees the statement, so it can learn to answer from a table of these. A contract that pays such an answer
checks nothing beyond what everybody has been told.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from harena.scoring.battery.forgery import CALLED, RUN, Forgery, Target, as_entry, rendered
from harena.scoring.scenario import Candidate, Scenario

MOST_READ = 64 * 1024
"""characters of a statement that are looked through"""
MOST_EXAMPLES = 100
_LONGEST_CALL, _LONGEST_VALUE = 2_000, 400
"""characters of one call, and of one value behind it"""
_BEHIND = re.compile(
    r"[ \t)`]{0,20}(?:==|=>|->|\u2192|\u279e|=|,?[ \t]{0,9}(?:should[ \t]{1,9})?"
    r"(?:returns?|gives?|outputs?|evaluates?[ \t]{1,9}to|is)\b(?:[ \t]{0,9}:)?"
    r"|(?:#|//)[ \t]{0,9}(?:=>|->|==|returns?\b)?|\n)[ \t]{0,99}"
)
"""what stands between a call and its value; every repetition has a bound, since a statement may be anybody's"""
_HEADING = re.compile(
    r"[\s\-*#>|`]{0,20}(?:sample|example)?s?[ \t]{0,9}(input|output)s?[ \t]{0,9}#?\d{0,3}[ \t]{0,9}"
    r"[-*#|`]{0,20}[ \t]{0,20}(?::(.*))?",
    re.IGNORECASE,
)
_ENDING = re.compile(r"[\s\-*#>|`]{0,20}(?:explanation|note|constraint|example|sample|scoring)s?\b", re.IGNORECASE)

LOOKUP = "answers the examples of the statement from a table"


@dataclass(frozen=True, slots=True)
class Example:
    """One call that a statement shows, in Python's notation, and what it gives."""

    arguments: str
    """repr of the positional arguments, as a tuple"""
    value: str


def lookups(scenario: Scenario) -> Iterator[tuple[str, Candidate]]:
    """(what it does, the candidate): the answer that knows the statement's examples, where it shows any."""
    target, said = Target.of(scenario), statement_of(scenario)
    if not said:
        return
    if target.contract in CALLED and target.functions:
        examples = [example for name in target.functions for example in examples_of(said, name)][:MOST_EXAMPLES]
        if examples:
            yield LOOKUP, rendered(_table_of_calls(examples), target)
    elif target.contract in RUN:
        samples = samples_of(said)
        if samples:
            program = as_entry(_table_of_inputs(samples), target)
            yield LOOKUP, Candidate(files={target.entry: program}, entry=target.entry)


def statement_of(scenario: Scenario) -> str:
    """All that a policy is told, no more of it than is looked through."""
    said = [str(message.get("content") or "") for message in scenario.messages]
    return "\n\n".join(said or [scenario.statement])[:MOST_READ]


def examples_of(statement: str, function: str) -> list[Example]:
    """Calls of a function (`name`, or `Class.method`) with literals, whose value stands behind them; and pairs of an
    input and an output that are arguments and a value."""
    name = function.rpartition(".")[2]
    found: list[Example] = []
    calls = re.finditer(rf"(?<![\w.]){re.escape(name)}\(|\.{re.escape(name)}\(", statement)
    for match in islice(calls, 2 * MOST_EXAMPLES):
        end = _closing(statement, match.end())
        arguments = None if end is None else _arguments(statement[match.end() : end])
        if arguments is None or end is None:
            continue
        behind = _BEHIND.match(statement, end + 1)
        value = None if behind is None else _value_at(statement, behind.end())
        if value is not None:
            found.append(Example(arguments, value))
    for stdin, stdout in samples_of(statement):
        arguments = _arguments(stdin.replace("\n", ", "))
        value = _value_at(stdout, 0)
        if arguments is not None and value is not None:
            found.append(Example(arguments, value))
    return found[:MOST_EXAMPLES]


def samples_of(statement: str) -> list[tuple[str, str]]:
    """(input, output) for each pair below headings of these names."""
    found: list[tuple[str, str]] = []
    stdin: list[str] | None = None
    stdout: list[str] | None = None

    def close() -> None:
        if stdin is not None and stdout is not None and "".join(stdout).strip():
            found.append((_block(stdin), _block(stdout)))

    for line in statement.splitlines():
        heading = _HEADING.fullmatch(line)
        if heading is not None:
            beside = [heading[2].strip(" *`")] if heading[2] and heading[2].strip(" *`") else []
            if heading[1].lower() == "input":
                close()
                stdin, stdout = beside, None
            elif stdin is not None and stdout is None:
                stdout = beside
        elif stdout is not None and (_ENDING.match(line) or (not line.strip() and "".join(stdout).strip())):
            close()
            stdin = stdout = None
        elif stdout is not None:
            stdout.append(line)
        elif stdin is not None:
            stdin.append(line)
        if len(found) >= MOST_EXAMPLES:
            return found
    close()
    return found


def _block(lines: list[str]) -> str:
    return "\n".join(line for line in lines if not line.strip().startswith(("```", "~~~"))).strip()


def _closing(text: str, start: int) -> int | None:
    """Where the bracket closes that was opened just before `start`."""
    depth, quote, at = 1, "", start
    for at in range(start, min(len(text), start + _LONGEST_CALL)):
        sign = text[at]
        if quote:
            quote = "" if sign == quote and text[at - 1] != "\\" else quote
        elif sign in "'\"":
            quote = sign
        elif sign in "([{":
            depth += 1
        elif sign in ")]}":
            depth -= 1
            if depth == 0:
                return at
    return None


def _arguments(written: str) -> str | None:
    """The repr of arguments that are literals, also such as have names; None where they are no such thing."""
    if len(written) > _LONGEST_CALL:
        return None
    try:
        call = ast.parse(f"_({written})", mode="eval").body
        if not isinstance(call, ast.Call):
            return None
        return repr(tuple(ast.literal_eval(part) for part in [*call.args, *(named.value for named in call.keywords)]))
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError):
        return None


def _value_at(text: str, start: int) -> str | None:
    """The longest literal that begins there, on that line."""
    line = text[start : start + _LONGEST_VALUE].split("\n", 1)[0].rstrip()
    if line.startswith("`"):
        line = line[1:].split("`", 1)[0]
    ends = [at for at in range(len(line), 0, -1) if line[at - 1] in ")]}'\"" or line[at - 1].isalnum()]
    for end in ends[:200]:
        if end < len(line) and line[end].isalnum() and line[end - 1].isalnum():
            continue
        try:
            tree = ast.parse(line[:end].strip(), mode="eval").body
            if isinstance(tree, ast.Tuple) and line.lstrip()[:1] != "(":
                continue  # a value, a comma, and what belongs to neither
            return repr(ast.literal_eval(tree))
        except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError):
            continue
    return None


def _table_of_calls(examples: list[Example]) -> Forgery:
    values = Counter(example.value for example in examples)
    table = "{" + ", ".join(f"{example.arguments!r}: {example.value}" for example in examples) + "}"
    body = f"return {table}.get(repr((*arguments, *keywords.values())), {values.most_common(1)[0][0]})"
    return Forgery(name="lookup", family="stub", tries=LOOKUP, body=body)


def _table_of_inputs(samples: list[tuple[str, str]]) -> str:
    table = {tuple(stdin.split()): stdout for stdin, stdout in samples}
    return f"import sys\ntable = {table!r}\nprint(table.get(tuple(sys.stdin.read().split()), {samples[0][1]!r}))\n"
