"""`harena`: the command line. Every command is a thin call into the public sdk, which is loaded when a command runs.

Exit codes: 0 it went well; 2 what was asked for could not be done, with one message that says what happened and what to
do; 130 interrupted; any other as the command's help says.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

import typer

from harena.cli import benchmark, blueprint, face, sandbox, scenario
from harena.cli.arguments import spread
from harena.core.errors import HarenaError

ERROR_EXIT = 2

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help="Run model-written programs in isolated sandboxes and score them.",
)
app.add_typer(benchmark.app, name="benchmark")
app.add_typer(scenario.app, name="scenario")
app.add_typer(blueprint.app, name="blueprint")
app.command("exec")(sandbox.exec_command)


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
    try:
        app(spread(words), prog_name="harena")
    except SystemExit as ended:  # how the parser ends: mistakes in the words, interruptions, a reader that has gone
        return ended.code if isinstance(ended.code, int) else 0
    except HarenaError as error:
        sys.stderr.write(f"harena: {error}\n")
        return ERROR_EXIT
    return 0


def run() -> None:
    """The entry point of the `harena` program."""
    sys.exit(main(sys.argv[1:]))


if __name__ == "__main__":
    run()
