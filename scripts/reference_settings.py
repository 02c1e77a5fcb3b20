"""The page of settings: environment variables, and what a workspace may use."""

from __future__ import annotations

import ast
import inspect
from dataclasses import fields

from reference_text import GENERATED, sentence, table

from harena.core import workspace
from harena.core.settings import SETTINGS, Setting
from harena.core.workspace import WorkspaceLimits

_UNITS = (("_bytes", "bytes"), ("_seconds", "seconds"), ("_per_second", "requests per second"), ("_cpu", "cores"))


def page() -> str:
    """All of it."""
    variables = [(f"`{each.name}`", _default(each), each.unit, each.reader, each.meaning) for each in SETTINGS]
    said = _field_docstrings()
    defaults = WorkspaceLimits()
    limits = [
        (
            f"`{field.name}`",
            _number(getattr(defaults, field.name), _unit(field.name)),
            _unit(field.name),
            sentence(said.get(field.name, "")),
        )
        for field in fields(WorkspaceLimits)
    ]
    return f"""{GENERATED}
# Settings

## Environment variables

They are read when they are needed: a program may set them after `import harena`, before its first sandbox or job.

{table(("variable", "default", "unit or form", "read by", "meaning"), variables)}
## Limits of a workspace

`harena serve --limit NAME=NUMBER`, or `HARENA_LIMITS`, sets a limit for every workspace, and
`harena workspaces set WORKSPACE NAME=NUMBER` for one ([serve others](../how-to/serve.md#what-a-workspace-may-use)). An
embedded node has no such limits.

{table(("limit", "default", "unit", "meaning"), limits)}"""


def _default(setting: Setting) -> str:
    if setting.default is None:
        return ""
    if isinstance(setting.default, int):
        return _number(setting.default, setting.unit)
    return f"`{setting.default}`" if setting.default else "empty"


def _number(value: float | None, unit: str) -> str:
    if value is None:
        return ""
    if unit != "bytes":
        return f"{value:.0f}" if value == int(value) else f"{value}"
    whole = int(value)
    return f"{whole} ({whole >> 30} GiB)" if whole % (1 << 30) == 0 else f"{whole} ({whole >> 20} MiB)"


def _unit(name: str) -> str:
    return next((unit for ending, unit in _UNITS if name.endswith(ending)), "number")


def _field_docstrings() -> dict[str, str]:
    """Field -> the text below it in the source."""
    tree = ast.parse(inspect.getsource(workspace))
    limits = next(node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == "WorkspaceLimits")
    below = zip(limits.body, limits.body[1:], strict=False)
    return {
        field.target.id: str(text.value.value)
        for field, text in below
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)
        if isinstance(text, ast.Expr) and isinstance(text.value, ast.Constant)
    }
