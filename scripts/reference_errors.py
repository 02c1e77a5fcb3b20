"""The page of errors: exceptions, their reasons, HTTP statuses and exit codes."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator

import reference_cli
from reference_text import GENERATED, docstring, table

from harena.cli import main
from harena.core import errors
from harena.core.problems import PROBLEMS, status_of
from harena.core.reasons import ERROR_REASONS


def page() -> str:
    """All of it."""
    tree = inspect.getdoc(errors) or ""
    drawing = "\n".join(line for line in tree.splitlines() if line.startswith("    "))
    codes = {problem.error: problem for problem in PROBLEMS}
    exceptions = [
        (
            f"`{kind.__name__}`",
            ", ".join(f"`{base.__name__}`" for base in kind.__bases__),
            f"`{codes[kind].code}`" if kind in codes else "",
            str(codes[kind].status) if kind in codes else "",
            docstring(kind),
        )
        for kind in _exceptions()
    ]
    reasons = [(f"`{each.code}`", _statuses(each.code), each.meaning, each.advice) for each in ERROR_REASONS]
    general = docstring(main).partition("Exit codes:")[2]
    commands = [(f"`{name}`", text) for name, text in _exit_codes()]
    return f"""{GENERATED}
# Errors

What a *program* does (exit code 1, a time-out, too much memory) is data in its result. An exception is raised where the
input is wrong, where the platform failed, or where the caller asked for a program's success. Why a run has its score is
said by the [reasons of results](scenario.md#results).

## Exceptions

They are in `harena.core.errors`, most of them also in `harena`. Over HTTP an error is `application/problem+json` with
the status and the `code` of this table, `detail` with the message, and `reason`, `metadata` and `retry_after_seconds`
where the exception has them. An exception without a code is sent as its nearest base that has one.

{drawing}

{table(("exception", "bases", "code", "status", "meaning, and what to do"), exceptions)}
## Reasons

`error.reason`, or `reason` in a problem, is one of these or missing. A status in this table replaces that of the
exception.

{table(("reason", "status", "meaning", "what to do"), reasons)}
## Exit codes

{_general(general)}

{table(("command", "exit codes"), commands)}"""


def _exceptions() -> Iterator[type[errors.HarenaError]]:
    for value in vars(errors).values():
        if isinstance(value, type) and issubclass(value, errors.HarenaError):
            yield value


def _statuses(reason: str) -> str:
    return ", ".join(
        sorted({str(status_of(each.code, reason)) for each in PROBLEMS if status_of(each.code, reason) != each.status})
    )


def _general(text: str) -> str:
    return "All commands: " + " ".join(text.split())


def _exit_codes() -> Iterator[tuple[str, str]]:
    for name, command in reference_cli.commands():
        help_text = " ".join((command.help or "").split())
        said = re.search(r"(?i)(exit codes?\b.*)", help_text)
        if said:
            yield name, said[1][0].upper() + said[1][1:]
