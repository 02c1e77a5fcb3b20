"""Whether what trains is installed. No torch here: it is looked for, not loaded."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec

NEEDED = ("torch", "transformers", "peft", "safetensors", "numpy")
"""packages of the extra `train` without which every job would end at its first import"""

Find = Callable[[str], object | None]
"""from a module's name to whatever says that it is there; None = it is not"""


def missing_for_training(find: Find = find_spec) -> str | None:
    """What is to be done before a job can run here; None = nothing."""
    missing = [name for name in NEEDED if find(name) is None]
    if not missing:
        return None
    one = len(missing) == 1
    return (
        f"training needs {', '.join(missing)}, which {'is' if one else 'are'} not installed where this node runs: "
        "pip install 'harena[train]'"
    )


def missing_package(name: str, extra: str, find: Find = find_spec) -> str | None:
    """What is to be done where one package of an extra is not there; None = nothing."""
    return None if find(name) is not None else f"{name} is not installed: pip install 'harena[{extra}]'"
