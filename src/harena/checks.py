"""What harena can tell without a sandbox: about this host, and about scenario files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any


def doctor() -> list[Any]:
    """What this host can and cannot do for sandboxes, and which setting to change; takes about 50 ms.

    Findings have `name`, `ok`, `detail` and `fix`. `ok`: True, it works; False, sandboxes cannot run here; None, they
    run with the stated restriction.
    """
    from harena.node.host import doctor as examine

    return examine()


def load_scenarios(source: str | Path | Mapping[str, Any] | Sequence[Mapping[str, Any]]) -> Any:
    """The scenarios of a file, or of objects made in Python; `.scenarios` of the answer holds them.

    Raises a ValidationError whose `mistakes` name file, line and field. Nothing is run.
    """
    from harena.node import scenario_files

    return scenario_files.load_scenarios(source)


def scenario_schema() -> dict[str, Any]:
    """The JSON Schema of scenario files."""
    from harena.node import scenario_files

    return scenario_files.scenario_schema()
