"""The page of the command line: every command, its arguments and options, as the parser has them."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import Any

import typer
from reference_text import GENERATED, sentence, table

from harena.cli.app import command_line

_KINDS = {str: "text", int: "integer", float: "number", Path: "path"}


def commands() -> Iterator[tuple[str, Any]]:
    """Every command with the words that name it, groups left out."""
    yield from _below("harena", typer.main.get_command(command_line([])))


def page() -> str:
    """All of it."""
    parts = [_part(name, command) for name, command in commands()]
    return f"""{GENERATED}
# Command line

`harena --help` lists the commands, and `harena COMMAND --help` explains one. Every command ends with exit code 0 if it
succeeded and 2 if what was asked for could not be done; the [table of exit codes](errors.md#exit-codes) has the others.
Commands use the server of `HARENA_BASE_URL`, or a node in their own process ([settings](settings.md)).

{"".join(parts)}"""


def _below(name: str, command: Any) -> Iterator[tuple[str, Any]]:
    below = getattr(command, "commands", None)
    if below is None:
        yield name, command
        return
    for word, each in below.items():
        yield from _below(f"{name} {word}", each)


def _part(name: str, command: Any) -> str:
    arguments = [each for each in command.params if each.param_type_name == "argument"]
    options = [each for each in command.params if each.param_type_name == "option" and each.name != "help"]
    usage = " ".join([name, *(["[OPTIONS]"] if options else []), *map(_usage, arguments)])
    of_arguments = table(
        ("argument", "meaning"),
        [(f"`{_metavar(each)}`", sentence(getattr(each, "help", "") or "")) for each in arguments],
    )
    of_options = table(("option", "value", "default", "meaning"), map(_option, options))
    text = inspect.cleandoc(command.help or "").replace("\f", "")
    return (
        "\n".join(each for each in (f"## {name}\n", f"    {usage}\n", text + "\n", of_arguments, of_options) if each)
        + "\n"
    )


def _usage(argument: Any) -> str:
    word = _metavar(argument)
    word += "..." if argument.nargs == -1 and not word.endswith("...") else ""
    return word if argument.required or word.startswith("[") else f"[{word}]"


def _metavar(argument: Any) -> str:
    return str(argument.metavar or argument.name).upper()


def _option(option: Any) -> tuple[str, str, str, str]:
    words = ", ".join(f"`{word}`" for word in [*option.opts, *option.secondary_opts])
    meaning = sentence(option.help or "")
    if option.envvar:
        meaning += f" Environment: `{option.envvar}`."
    return words, "" if option.is_flag else _value(option), _default(option), meaning


def _value(option: Any) -> str:
    if option.metavar:
        return f"`{option.metavar}`"
    kind = option.type_descriptor.annotation
    many = typing.get_origin(kind) is list
    kind = typing.get_args(kind)[0] if many else kind
    if isinstance(kind, type) and issubclass(kind, Enum):
        word = ", ".join(f"`{each.value}`" for each in kind)
    elif typing.get_origin(kind) is typing.Literal:
        word = ", ".join(f"`{each}`" for each in typing.get_args(kind))
    else:
        word = _KINDS[kind]
    least, most = getattr(option, "min", None), getattr(option, "max", None)
    bounds = " to ".join(f"{each:g}" for each in (least, most) if each is not None)
    if bounds and most is None:
        bounds = f"at least {bounds}"
    return f"{word}{f' ({bounds})' if bounds else ''}{', may be repeated' if many else ''}"


def _default(option: Any) -> str:
    if option.required:
        return "required"
    value = option.default
    if value is None or value in ("", [], (), False) or callable(value):
        return ""
    return f"`{getattr(value, 'value', value)}`"
