"""What `harena` understands: its groups and commands, of which only those are loaded that a command line can mean."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from typing import Annotated

import typer

from harena.cli import face

_GROUPS = {
    "benchmark": ("harena.cli.benchmark", "app"),
    "scenario": ("harena.cli.scenario", "app"),
    "sft": ("harena.cli.sft", "app"),
    "train": ("harena.cli.train", "app"),
    "contract": ("harena.cli.catalog", "contracts"),
    "blueprint": ("harena.cli.blueprint", "app"),
    "image": ("harena.cli.image", "app"),
    "secrets": ("harena.cli.secrets", "app"),
    "snapshot": ("harena.cli.snapshot", "app"),
    "keys": ("harena.cli.keys", "app"),
    "workspaces": ("harena.cli.workspaces", "app"),
}
"""name -> (module, its `Typer`), in the order of the help"""
WORDS_OF_ITS_OWN = {"allow_interspersed_args": False}
"""settings of a command that takes another command: from the first word of that on, no word is an option of ours"""


def command_line(words: Sequence[str]) -> typer.Typer:
    """The group that the first word names, alone: to load the others and prepare their parameters takes as long as all
    that the command line itself does. Else everything."""
    return _with_groups(words[0]) if words and words[0] in _GROUPS else _with_everything()


@cache
def _with_groups(*names: str) -> typer.Typer:
    app = typer.Typer(
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        help="Run model-written programs in isolated sandboxes and score them.",
    )
    for name in names:
        app.add_typer(_group(name), name=name)
    app.callback()(options)
    return app


@cache
def _group(name: str) -> typer.Typer:
    module, variable = _GROUPS[name]
    group: typer.Typer = getattr(import_module(module), variable)
    if name == "benchmark":
        from harena.cli import benchmark_def

        group.add_typer(benchmark_def.app, name="def")
    return group


@cache
def _with_everything() -> typer.Typer:
    from harena.cli import registry, sandbox, serve

    app = _with_groups(*_GROUPS)
    registry.add_verbs(app)
    app.command("exec", context_settings=WORDS_OF_ITS_OWN)(sandbox.exec_command)
    app.command("serve")(serve.serve)
    app.command()(doctor)
    app.command()(version)
    return app


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


def doctor() -> None:
    """Say what this host can and cannot do, and which setting to change.

    Exit code 0: no line begins with NO. 1: one does.
    """
    findings = face.plain(face.load().doctor())
    marks = {True: "ok", False: "NO", None: "--"}
    for finding in findings:
        sys.stdout.write(f"{marks[finding['ok']]:<3}{finding['name']}: {finding['detail']}\n")
        if finding["fix"]:
            sys.stdout.write(f"   change: {finding['fix']}\n")
    raise typer.Exit(1 if any(finding["ok"] is False for finding in findings) else 0)


def version() -> None:
    """Print the version."""
    sys.stdout.write(f"harena {face.load().__version__}\n")
