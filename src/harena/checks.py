"""What harena can tell without a sandbox: about this host, and about scenario files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any


def doctor(*, cluster: bool = False) -> list[Any]:
    """What this host can and cannot do for sandboxes, and which setting to change; takes about 50 ms. With `cluster`
    also what the pod may that this process is in, and what its cloud needs for user namespaces.

    Findings have `name`, `ok`, `detail` and `fix`. `ok`: True, it works; False, sandboxes cannot run here; None, they
    run with the stated restriction.
    """
    from harena.node.host import doctor as examine

    return examine(cluster=cluster)


def load_scenarios(
    source: str | Path | Mapping[str, Any] | Sequence[Mapping[str, Any]],
    *,
    candidates: str | Path | Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
    format: str | None = None,  # noqa: A002 - the option's name, as on the command line
    grader: str | Path | Mapping[str, Any] | None = None,
) -> Any:
    """The scenarios of a file, or of objects made in Python; `.scenarios` of the answer holds them, `.form` names the
    format that they were written in: harena's own, or another that is told by its shape or given as `format`, with
    `candidates` as the answers to it ("oracle": its own solutions; "nop": answers that do nothing) and `grader` as that
    of rows that hold none of their own.

    Raises a ValidationError whose `mistakes` name file, line and field. Nothing is run.
    """
    from harena.node import scenario_files

    return scenario_files.load_scenarios(source, candidates=candidates, format=format, grader=grader)


def scenario_schema() -> dict[str, Any]:
    """The JSON Schema of scenario files."""
    from harena.node import scenario_files

    return scenario_files.scenario_schema()
