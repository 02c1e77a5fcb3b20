"""The published JSON Schema of scenario files, made from the models; `docs/reference/scenario.schema.json` is its text.

python -c "from harena.scoring.schema import schema_text; print(schema_text(), end='')"
"""

from __future__ import annotations

import copy
import json
from typing import Any

from harena.core.results import Reason
from harena.scoring.contracts.parts import DEFINITION
from harena.scoring.contracts.stored import FIELD
from harena.scoring.load import OTHER_NAMES
from harena.scoring.scenario import ScenarioFile

_TAGGED: dict[str, dict[str, Any]] = {
    "$tuple": {"type": "array", "items": {"$ref": "#/$defs/Value"}},
    "$set": {"type": "array", "items": {"$ref": "#/$defs/Value"}},
    "$frozenset": {"type": "array", "items": {"$ref": "#/$defs/Value"}},
    "$bytes": {"type": "string", "contentEncoding": "base64"},
    "$float": {"type": ["string", "number"]},
    "$int": {"type": ["string", "integer"]},
    "$complex": {"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2},
    "$dict": {
        "type": "array",
        "items": {"type": "array", "items": {"$ref": "#/$defs/Value"}, "minItems": 2, "maxItems": 2},
    },
}

_VALUE: dict[str, Any] = {
    "description": "A Python value: JSON's own, or a tag that stands alone in its mapping.",
    "anyOf": [
        {"type": ["null", "boolean", "number", "string"]},
        {"type": "array", "items": {"$ref": "#/$defs/Value"}},
        {
            "type": "object",
            "propertyNames": {"not": {"pattern": r"^\$"}},
            "additionalProperties": {"$ref": "#/$defs/Value"},
        },
        *(
            {"type": "object", "properties": {tag: schema}, "required": [tag], "additionalProperties": False}
            for tag, schema in _TAGGED.items()
        ),
    ],
}

_STORED: dict[str, Any] = {
    "title": "StoredContract",
    "description": "A stored scoring contract, as NAME (its newest version) or NAME@2.",
    "type": "object",
    "properties": {FIELD: {"type": "string"}},
    "required": [FIELD],
    "additionalProperties": False,
}


def json_schema() -> dict[str, Any]:
    """JSON Schema (2020-12) of a whole file: a mapping with `scenarios`, or a bare list of scenarios."""
    schema = _with_references(ScenarioFile.model_json_schema())
    definitions: dict[str, Any] = schema.pop("$defs")
    definitions["Value"] = _VALUE
    definitions["Reason"] = {"type": "string", "enum": [reason.value for reason in Reason]}
    source = {"type": "string", "description": "The text of solution.py."}
    definitions["Candidate"] = {"title": "Candidate", "anyOf": [source, definitions["Candidate"]]}
    definitions["StoredContract"] = _STORED
    for row in ("ScenarioRow", "Problem", "InlineProblem"):
        definitions[row]["properties"]["scoring"]["anyOf"].insert(0, {"$ref": "#/$defs/StoredContract"})
        _allow_other_names(definitions[row])
    definitions["ScenarioFile"] = {key: value for key, value in schema.items() if key != "title"}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "harena scenarios",
        "anyOf": [
            {"$ref": "#/$defs/ScenarioFile"},
            {"type": "array", "items": {"$ref": "#/$defs/ScenarioRow"}, "minItems": 1},
        ],
        "$defs": dict(sorted(definitions.items())),
    }


def _with_references(part: Any) -> Any:
    """The models name what is defined here, which pydantic does not know, by a mark of its own."""
    if isinstance(part, dict):
        rest = {key: _with_references(value) for key, value in part.items() if key != DEFINITION}
        return {**rest, "$ref": f"#/$defs/{part[DEFINITION]}"} if DEFINITION in part else rest
    return [_with_references(item) for item in part] if isinstance(part, list) else part


def _allow_other_names(row: dict[str, Any]) -> None:
    properties = row["properties"]
    required = row.get("required", [])
    choices = []
    for name in dict.fromkeys(OTHER_NAMES.values()):
        if name not in properties:
            continue
        names = [name, *(other for other, target in OTHER_NAMES.items() if target == name)]
        for other in names[1:]:
            properties[other] = {**copy.deepcopy(properties[name]), "description": f"Another name of `{name}`."}
        if name in required:
            required.remove(name)
            choices.append({"oneOf": [{"required": [choice]} for choice in names]})
    if choices:
        row["allOf"] = choices
    if not required:
        row.pop("required", None)


def schema_text() -> str:
    """Text of the schema, in the form that is published."""
    return json.dumps(json_schema(), indent=2, ensure_ascii=False) + "\n"
