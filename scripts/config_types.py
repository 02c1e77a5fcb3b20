"""Writes `src/harena/sdk/config_types.py`: what jobs are asked for, as an editor checks it while it is typed.

It is made from the strict models by which a node reads requests, which the SDK may not import: each model becomes a
`TypedDict` with the same fields, types and texts. `python scripts/config_types.py` writes it, and a test compares.
"""

from __future__ import annotations

import ast
import inspect
import sys
import types
import typing
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

from pydantic import BaseModel

from harena.jobs.models import JobConfig, JobWebhook
from harena.training.requests.request import (
    NamedPolicy,
    RLConfig,
    SFTConfig,
    TrainingConfig,
    TrainingRequest,
    VersionRef,
)

PLACE = Path(__file__).parents[1] / "src/harena/sdk/config_types.py"
MODELS: dict[type[BaseModel], str] = {
    VersionRef: "VersionRef",
    NamedPolicy: "NamedPolicy",
    TrainingConfig: "TrainingConfig",
    SFTConfig: "SFTConfig",
    RLConfig: "RLConfig",
    TrainingRequest: "TrainingFields",
    JobConfig: "BenchmarkConfig",
    JobWebhook: "BenchmarkWebhook",
}
"""model -> the name of its `TypedDict`; one that others here extend comes before them"""
MORE: dict[type[BaseModel], dict[str, str]] = {TrainingRequest: {"config": "SFTConfig | RLConfig"}}
"""fields that a model's own models have"""
WIDTH = 120
BEGINNING = '''"""What jobs are asked for, as types: editors refuse fields that are not there, and unknown words.

Made by `python scripts/config_types.py` of the models by which nodes read requests. They are for type checkers: what
does not fit is refused when it is sent, with every mistake.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypedDict
'''


def written() -> str:
    """The module's text."""
    return BEGINNING + "".join(f"\n\n{_class(model, name)}" for model, name in MODELS.items())


def _class(model: type[BaseModel], name: str) -> str:
    base = next((each for each in model.__mro__[1:] if each in MODELS), None)
    extends = "TypedDict" if base is None else MODELS[base]
    lines = [f"class {name}({extends}, total=False):", f'    """{inspect.getdoc(model)}"""', ""]
    hints = get_type_hints(model, include_extras=True)
    texts = dict(_texts(model))
    for field in model.model_fields:
        if base is not None and field in base.model_fields and field not in vars(model)["__annotations__"]:
            continue
        lines += _declared(field, type_words(hints[field]))
        if field in texts:
            lines += [f'    """{texts[field]}"""']
    for field, words in MORE.get(model, {}).items():
        lines += [f"    {field}: {words}"]
    return "\n".join(lines) + "\n"


def _declared(field: str, words: str) -> Iterator[str]:
    """Lines of one field, as `ruff format` has them."""
    line = f"    {field}: {words}"
    if len(line) <= WIDTH:
        yield line
        return
    outer, literal, values = words.removesuffix("]]").partition("[Literal[")
    yield from (f"    {field}: {outer}[", f"        {literal[1:]}")
    yield from (f"            {value}," for value in values.split(", "))
    yield from ("        ]", "    ]")


def type_words(annotation: Any) -> str:
    """A type without what only a model needs, as it is written."""
    origin, parts = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return type_words(parts[0])
    if origin is Literal:
        return f"Literal[{', '.join(_quoted(part) for part in parts)}]"
    if origin in (typing.Union, types.UnionType):
        return " | ".join(dict.fromkeys(type_words(part) for part in parts))
    if origin is tuple:
        return f"Sequence[{type_words(parts[0])}]"
    if origin is not None:
        return f"{origin.__name__}[{', '.join(map(type_words, parts))}]"
    if annotation is type(None):
        return "None"
    return MODELS.get(annotation) or str(annotation.__name__)


def _quoted(value: object) -> str:
    return f'"{value}"' if isinstance(value, str) else repr(value)


def _texts(model: type[BaseModel]) -> Iterator[tuple[str, str]]:
    """(field, the text below it), of the model and of those that it extends."""
    for owner in model.__mro__:
        if not issubclass(owner, BaseModel) or owner.__module__.startswith("pydantic"):
            continue
        (tree,) = ast.parse(inspect.getsource(owner)).body
        assert isinstance(tree, ast.ClassDef)
        for declared, below in zip(tree.body, tree.body[1:], strict=False):
            if isinstance(declared, ast.AnnAssign) and isinstance(declared.target, ast.Name):
                match below:
                    case ast.Expr(value=ast.Constant(value=str(text))):
                        yield declared.target.id, text


if __name__ == "__main__":
    PLACE.write_text(written(), encoding="utf-8")
    sys.stdout.write(f"{PLACE}\n")
