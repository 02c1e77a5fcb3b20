"""Completion of command lines: `harena completion bash` prints what a shell is told, and names are completed, too.

    eval "$(harena completion bash)"

Names of jobs and blueprints are asked of the node, or of the server, each time that somebody presses the key.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable
from enum import StrEnum
from typing import Annotated, Any

import typer

from harena.cli import face

VARIABLE = "_HARENA_COMPLETE"
"""set by the shell's script, in the environment of a command that completes"""
MOST_JOBS = 100
"""newest jobs whose names are completed"""


class Shell(StrEnum):
    """Shells that have a script."""

    BASH = "bash"
    ZSH = "zsh"
    FISH = "fish"


def completion(shell: Annotated[Shell, typer.Argument(help="The shell that the script is for.")]) -> None:
    """Print a script that completes commands, options, and names of jobs and blueprints.

    eval "$(harena completion bash)"
    """
    from typer._completion_shared import get_completion_script

    script = get_completion_script(prog_name="harena", complete_var=VARIABLE, shell=str(shell))
    sys.stdout.write(f"{script}\n")


def begin() -> list[str] | None:
    """The words before the one that is completed, where this command completes; None = it does not."""
    if VARIABLE not in os.environ:
        return None
    from typer._completion_classes import completion_init

    completion_init()
    words = os.environ.get("COMP_WORDS", os.environ.get("_TYPER_COMPLETE_ARGS", "")).split()
    return words[1:-1]


def training_job(incomplete: str) -> list[str]:
    """Names of training jobs that begin so, the newest first."""
    return _named(incomplete, lambda harena: (job.name for job in harena.training_jobs.list(limit=MOST_JOBS)))


def benchmark_job(incomplete: str) -> list[str]:
    """Names of benchmark jobs that begin so, the newest first."""
    return _named(incomplete, lambda harena: (job.name for job in harena.benchmark_jobs.list(limit=MOST_JOBS)))


def blueprint(incomplete: str) -> list[str]:
    """Names of blueprints that begin so."""
    return _named(incomplete, lambda harena: (one.name for one in harena.blueprints.list()))


def _named(incomplete: str, names: Callable[[Any], Iterable[str]]) -> list[str]:
    try:
        found = dict.fromkeys(names(face.load()))
    except Exception:  # noqa: BLE001 - an error would be written into somebody's line: nothing is completed then
        return []
    return [name for name in found if name.startswith(incomplete)]
