"""What `harena` understands: its groups and commands, of which only those are loaded that a command line can mean."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from copy import copy
from functools import cache
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperGroup
from typer.models import CommandInfo

from harena.cli import completion, face
from harena.nouns import COMMANDS

_GROUPS = {
    "benchmark": ("harena.cli.benchmark", "app"),
    "scenario": ("harena.cli.scenario", "app"),
    "sft": ("harena.cli.sft", "app"),
    "train": ("harena.cli.train", "app"),
    "contract": ("harena.cli.catalog", "contracts"),
    "blueprint": ("harena.cli.blueprint", "app"),
    "image": ("harena.cli.image", "app"),
    **{name: (f"harena.cli.{name}", "app") for name in COMMANDS},
    "sandbox": ("harena.cli.sandboxes", "app"),
    "snapshot": ("harena.cli.snapshot", "app"),
    "world": ("harena.cli.world", "app"),
    "keys": ("harena.cli.keys", "app"),
    "workspaces": ("harena.cli.workspaces", "app"),
}
"""name -> (module, its `Typer`), in the order of the help"""
WORDS_OF_ITS_OWN = {"allow_interspersed_args": False}
"""settings of a command that takes another command: from the first word of that on, no word is an option of ours"""


def command_line(words: Sequence[str]) -> typer.Typer:
    """The command that the first words name, alone: to load the others and prepare their parameters takes longer than
    all that the command line itself does. Else all of the group whose name is the first word, or everything."""
    if (before := completion.begin()) is not None:
        words = before
    first = words[0] if words else ""
    if first in _GROUPS:
        app = _empty()
        app.add_typer(_narrowed(_group(first, words[1:]), words[1:]), name=first)
        return app
    if first in _VERBS or first == "--version":
        app = _empty()
        _VERBS.get(first, _add_version)(app)
        return _narrowed(app, words)
    return _with_everything()


def _narrowed(group: typer.Typer, words: Sequence[str]) -> typer.Typer:
    """The group with no other command than the one whose name is the first word; as it is where there is none."""
    commands = [one for one in group.registered_commands if words and _name_of(one) == words[0]]
    if not commands and words:
        meant = OTHER_VERBS.get(words[0])
        commands = [_named(one, words[0]) for one in group.registered_commands if _name_of(one) == meant]
    if not commands:
        return group
    narrow = copy(group)
    narrow.registered_commands, narrow.registered_groups = commands, []
    return narrow


def _named(command: CommandInfo, name: str) -> CommandInfo:
    renamed = copy(command)
    renamed.name = name
    return renamed


def _name_of(command: CommandInfo) -> str:
    return command.name or (command.callback.__name__ if command.callback is not None else "")


def _empty() -> typer.Typer:
    app = typer.Typer(
        cls=Sections,
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        help="Run model-written programs in isolated sandboxes and score them.",
    )
    app.callback()(options)
    return app


def _group(name: str, words: Sequence[str] = ()) -> typer.Typer:
    """A group, whose commands the words are for; `benchmark` has a group in it, which its own commands do without."""
    module, variable = _GROUPS[name]
    group: typer.Typer = getattr(import_module(module), variable)
    if name != "benchmark" or _narrowed(group, words) is not group:
        return group
    from harena.cli import benchmark_def

    definitions = _narrowed(benchmark_def.app, words[1:] if words and words[0] == "def" else ())
    whole = copy(group)
    whole.registered_commands = group.registered_commands if definitions is benchmark_def.app else []
    whole.registered_groups = []
    whole.add_typer(definitions, name="def")
    return whole


@cache
def _with_everything() -> typer.Typer:
    app = _empty()
    for name in _GROUPS:
        app.add_typer(_group(name), name=name)
    for add in dict.fromkeys(_VERBS.values()):
        add(app)
    return app


def _add_registry(app: typer.Typer) -> None:
    from harena.cli import registry

    registry.add_verbs(app)


def _add_exec(app: typer.Typer) -> None:
    from harena.cli import sandbox

    app.command("exec", context_settings=WORDS_OF_ITS_OWN)(sandbox.exec_command)


def _add_eval(app: typer.Typer) -> None:
    from harena.cli import evaluate

    app.command("eval")(evaluate.evaluate)


def _add_audit(app: typer.Typer) -> None:
    from harena.cli import audit

    app.command("audit")(audit.audit)


def _add_demo(app: typer.Typer) -> None:
    from harena.cli import demo

    app.command("demo")(demo.demo)


def _add_serve(app: typer.Typer) -> None:
    from harena.cli import serve

    app.command("serve")(serve.serve)


def _add_ui(app: typer.Typer) -> None:
    from harena.cli import ui

    app.command("ui")(ui.ui)


def _add_completion(app: typer.Typer) -> None:
    app.command()(completion.completion)


def _add_doctor(app: typer.Typer) -> None:
    app.command()(doctor)


def _add_version(app: typer.Typer) -> None:
    app.command()(version)


_VERBS = {
    "demo": _add_demo,
    "audit": _add_audit,
    **dict.fromkeys(("push", "pull", "ls", "publish", "withdraw", "rm"), _add_registry),
    "eval": _add_eval,
    "exec": _add_exec,
    "serve": _add_serve,
    "ui": _add_ui,
    "doctor": _add_doctor,
    "completion": _add_completion,
    "version": _add_version,
}
"""command of no group -> what adds it, in the order of the help"""
SECTIONS = {
    "From problems to a model": ("demo", "audit", "eval", "train", "ui"),
    "Programs in sandboxes": ("exec", "sandbox", "benchmark", "scenario", "contract", "sft", "world"),
    "What sandboxes are made of": ("blueprint", "image", "snapshot", "secrets"),
    "Published data sets, models and tasks": ("push", "pull", "ls", "publish", "withdraw", "rm"),
    "This machine and its server": ("doctor", "serve", "keys", "workspaces", "completion", "version"),
}
"""heading -> commands below it, in the help of all of them"""
OTHER_VERBS = {"ls": "list", "list": "ls", "rm": "delete", "delete": "rm"}
"""spelling of a group's verb that is taken, too -> that of the help, or the other way round"""


class Sections(TyperGroup):
    """Writes the commands of the help below headings."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the sections; a command that is in none comes last."""
        found = {name: command for name in self.list_commands(ctx) if (command := self.get_command(ctx, name))}
        others = [name for name in found if not any(name in names for names in SECTIONS.values())]
        room = formatter.width - 6 - max(map(len, found), default=0)
        for heading, names in (*SECTIONS.items(), ("More", others)):
            rows = [(name, found[name].get_short_help_str(room)) for name in names if name in found]
            if rows:
                with formatter.section(heading):
                    formatter.write_dl(rows)


def _print_version(wanted: bool) -> None:
    if wanted:
        version()
        raise typer.Exit


def options(
    version: Annotated[  # named after its option; the work is done by the callback
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """What may stand before the command."""


def doctor(
    cluster: Annotated[
        bool, typer.Option("--cluster", help="Also what this pod may, and what its cloud needs for user namespaces.")
    ] = False,
    form: Annotated[
        str, typer.Option("--format", metavar="table|json|jsonl|csv", help="How the findings are printed.")
    ] = "table",
) -> None:
    """Say what this host can and cannot do, and which setting to change.

    Exit code 0: no line begins with NO. 1: one does.
    """
    findings = face.plain(face.load().doctor(cluster=cluster))
    if form != "table":
        from harena.cli.report import write_in  # with all that results need

        write_in(form, findings)
        raise typer.Exit(_doctors_code(findings))
    marks = {True: "ok", False: "NO", None: "--"}
    for finding in findings:
        sys.stdout.write(f"{marks[finding['ok']]:<3}{finding['name']}: {finding['detail']}\n")
        if finding["fix"]:
            sys.stdout.write(f"   change: {finding['fix']}\n")
    raise typer.Exit(_doctors_code(findings))


def _doctors_code(findings: Sequence[Mapping[str, Any]]) -> int:
    return 1 if any(finding["ok"] is False for finding in findings) else 0


def version() -> None:
    """Print the version."""
    sys.stdout.write(f"harena {face.load().__version__}\n")
