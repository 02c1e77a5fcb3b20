"""docs/reference: the published schema is the models', and every example on the page is a scenario file."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from harena.core.results import Reason
from harena.scoring import explain, scenario
from harena.scoring.contracts import contract as contracts
from harena.scoring.contracts.contract import ReferenceContract, Strict
from harena.scoring.load import load_scenarios
from harena.scoring.scenario import ReasonName
from harena.scoring.schema import json_schema, schema_text

REFERENCE = Path(__file__).parents[3] / "docs" / "reference"
PAGE = (REFERENCE / "scenario.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```(yaml|json|jsonl)\n(.*?)```", PAGE, re.DOTALL)
TYPES = set(explain._TYPES)
MODELS: list[type[Strict]] = [
    model
    for module in (contracts, scenario)
    for model in vars(module).values()
    if isinstance(model, type) and issubclass(model, Strict) and model.model_fields
]


def test_the_published_schema_is_the_models() -> None:
    """The docstring of `harena.scoring.schema` has the command that makes it."""
    assert (REFERENCE / "scenario.schema.json").read_text(encoding="utf-8") == schema_text()


@pytest.mark.parametrize(("language", "text"), EXAMPLES, ids=range(len(EXAMPLES)))
def test_every_example_loads(language: str, text: str, tmp_path: Path) -> None:
    """What the page shows can be used as it is."""
    path = tmp_path / f"example.{language}"
    path.write_text(text, encoding="utf-8")
    assert len(load_scenarios(path)) > 0


def _class(name: str) -> str:
    return "".join(word.capitalize() for word in name.split("_"))


def test_every_contract_has_an_example() -> None:
    """One at least."""
    shown = set(re.findall(r"type: (\w+)", PAGE))
    assert {name for name in vars(contracts) if name.endswith("Contract")} >= {
        f"{_class(name)}Contract" for name in TYPES
    }
    assert shown >= TYPES


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_every_field_is_on_the_page(model: type[Strict]) -> None:
    """A field that nobody can read about does not exist."""
    missing = [name for name in model.model_fields if f"`{name}`" not in PAGE]
    assert not missing


def test_every_tag_and_reason_is_on_the_page() -> None:
    """The closed tables are printed whole."""
    tags = [tag for tag in json_schema()["$defs"]["Value"]["anyOf"] if "required" in tag]
    assert all(f"`{tag['required'][0]}`" in PAGE for tag in tags)
    assert all(f"`{reason.value}`" in PAGE for reason in Reason)


def test_the_names_of_reasons_are_cores() -> None:
    """The format's closed table is the envelope's."""
    assert set(ReasonName.__args__) == {reason.value for reason in Reason}  # type: ignore[attr-defined]


def references(schema: Any) -> set[str]:
    if isinstance(schema, dict):
        found = {schema["$ref"]} if isinstance(schema.get("$ref"), str) else set()
        return found.union(*(references(part) for part in schema.values()))
    return set().union(*(references(part) for part in schema)) if isinstance(schema, list) else set()


def test_the_schema_is_whole_and_closed() -> None:
    """Every reference leads somewhere, and no mapping of ours takes unknown fields."""
    schema = json_schema()
    assert references(schema) <= {f"#/$defs/{name}" for name in schema["$defs"]}
    for name, definition in schema["$defs"].items():
        if "properties" in definition:
            assert definition["additionalProperties"] is False, name
    assert json.loads(json.dumps(schema)) == schema


def test_answers_for_minus_zero_are_not_those_for_zero() -> None:
    """The fingerprint takes both for one value; a solution need not."""

    def key(value: float) -> str:
        fields = {
            "type": "reference",
            "entry_point": "f",
            "solution": "def f(x): return x",
            "inputs": [{"args": [value]}],
        }
        return ReferenceContract.model_validate(fields).exact_inputs

    assert key(0.0) != key(-0.0)
    assert key(0.0) == key(0.0)
