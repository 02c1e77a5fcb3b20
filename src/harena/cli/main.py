"""`harena`: the command line. Every command is a thin call into the public sdk, which is loaded when a command runs.

Exit codes: 0 it went well; 2 what was asked for could not be done, with one message that says what happened and what to
do; 130 interrupted; any other as the command's help says.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from harena.cli import (
    benchmark,
    benchmark_def,
    blueprint,
    catalog,
    face,
    keys,
    registry,
    sandbox,
    scenario,
    serve,
    sft,
    train,
    workspaces,
)
from harena.cli.arguments import spread
from harena.cli.output import StreamError, flushed, missing_stream
from harena.core.errors import HarenaError

ERROR_EXIT = 2

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help="Run model-written programs in isolated sandboxes and score them.",
)
benchmark.app.add_typer(benchmark_def.app, name="def")
app.add_typer(benchmark.app, name="benchmark")
app.add_typer(scenario.app, name="scenario")
app.add_typer(sft.app, name="sft")
app.add_typer(train.app, name="train")
app.add_typer(catalog.contracts, name="contract")
app.add_typer(blueprint.app, name="blueprint")
app.add_typer(keys.app, name="keys")
app.add_typer(workspaces.app, name="workspaces")
registry.add_verbs(app)
app.command("exec")(sandbox.exec_command)
app.command("serve")(serve.serve)


def _print_version(wanted: bool) -> None:
    if wanted:
        version()
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[  # named after its option; the work is done by the callback
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """What may stand before the command."""


@app.command()
def doctor() -> None:
    """Say what this host can and cannot do, and which setting to change."""
    findings = face.plain(face.load().doctor())
    marks = {True: "ok", False: "NO", None: "--"}
    for finding in findings:
        sys.stdout.write(f"{marks[finding['ok']]:<3}{finding['name']}: {finding['detail']}\n")
        if finding["fix"]:
            sys.stdout.write(f"   change: {finding['fix']}\n")
    raise typer.Exit(1 if any(finding["ok"] is False for finding in findings) else 0)


@app.command()
def version() -> None:
    """Print the version."""
    sys.stdout.write(f"harena {face.load().__version__}\n")


def main(words: Sequence[str]) -> int:
    """Run one command; its exit code."""
    if missing := missing_stream():
        if sys.stderr is not None:
            sys.stderr.write(f"harena: {missing}\n")
        return ERROR_EXIT
    try:
        app(spread(words), prog_name="harena")
        code = 0
    except SystemExit as ended:  # how the parser ends: mistakes in the words, interruptions, a reader that has gone
        code = ended.code if isinstance(ended.code, int) else 0
    except (HarenaError, StreamError) as error:
        sys.stderr.write(f"harena: {error}\n")
        code = ERROR_EXIT
    except OSError as error:
        if error.filename is not None:  # not of a stream: a mistake of ours, to be seen whole
            raise
        sys.stderr.write(f"harena: the output could not be written: {error.strerror or error}\n")
        code = ERROR_EXIT
    return flushed(code, ERROR_EXIT)


def run() -> None:
    """The entry point of the `harena` program."""
    sys.exit(main(sys.argv[1:]))


if __name__ == "__main__":
    run()
