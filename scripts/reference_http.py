"""The page of routes, from the OpenAPI document of the server."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from reference_text import GENERATED, sentence, table

from harena.server import document

Schema = Mapping[str, Any]
_BOUNDS = (
    ("minimum", "at least {}"),
    ("exclusiveMinimum", "more than {}"),
    ("maximum", "at most {}"),
    ("exclusiveMaximum", "less than {}"),
    ("minLength", "at least {} characters"),
    ("maxLength", "at most {} characters"),
    ("minItems", "at least {} entries"),
    ("maxItems", "at most {} entries"),
)


def page() -> str:
    """All of it."""
    whole = document.openapi()
    routes = [
        (method.upper(), path, operation)
        for path, methods in whole["paths"].items()
        for method, operation in methods.items()
    ]
    groups = list(dict.fromkeys(_group(operation) for _, _, operation in routes))
    meanings = {
        name.removeprefix("Problem"): answer["description"] for name, answer in whole["components"]["responses"].items()
    }
    overview = [
        (f"`{method}`", f"[`{path}`](#{_anchor(method, path)})", _scope(operation), sentence(_first_line(operation)))
        for method, path, operation in routes
    ]
    parts = []
    for group in groups:
        parts.append(f"## {group.capitalize()}\n")
        parts += [_route(*route) for route in routes if _group(route[2]) == group]
    shapes = [_shape(name, schema) for name, schema in sorted(whole["components"]["schemas"].items())]
    return f"""{GENERATED}
# HTTP

{whole["info"]["description"]}

Requests carry `Authorization: Bearer KEY`; a key's scope `write` includes `read`, and `admin` includes both. Bodies are
JSON where nothing else is said. [Serve others](../how-to/serve.md#without-the-sdk) explains keys, idempotency, lines of
scenarios and the frames of a command's output; [openapi.json](openapi.json) is this page for machines.

{table(("method", "path", "scope", "what it does"), overview)}
## Statuses of errors

Errors are `application/problem+json`, a [ProblemAnswer](#problemanswer); [the page of errors](errors.md) explains
`code` and `reason`.

{table(("status", "meaning"), sorted(meanings.items()))}
{chr(10).join(parts)}
## Shapes

{chr(10).join(shapes)}"""


def _group(operation: Schema) -> str:
    return str(operation["tags"][0])


def _anchor(method: str, path: str) -> str:
    kept = "".join(each for each in f"{method} {path}".lower() if each.isalnum() or each in "_- ")
    return kept.replace(" ", "-")


def _first_line(operation: Schema) -> str:
    return str(operation.get("description", "")).split("\n\n")[0]


def _scope(operation: Schema) -> str:
    return ", ".join(
        scope for scheme in operation.get("security", []) for scopes in scheme.values() for scope in scopes
    )


def _route(method: str, path: str, operation: Schema) -> str:
    lines = [f"### {method} {path}\n", operation.get("description", "") + "\n"]
    if scope := _scope(operation):
        lines.append(f"* Scope: `{scope}`")
    else:
        lines.append("* Scope: none; no key is needed")
    if "requestBody" in operation:
        lines.append(f"* Request: {_content(operation['requestBody']['content'])}")
    good = {status: answer for status, answer in operation["responses"].items() if "$ref" not in answer}
    for status, answer in good.items():
        lines.append(f"* Answer: {status}{_of(answer)}")
    problems = [status for status in operation["responses"] if status not in good]
    lines.append(f"* Errors: {', '.join(sorted(problems))}\n")
    rows = [
        (
            f"`{each['name']}`",
            each["in"],
            _kind(each["schema"]),
            "required" if each.get("required") else _default(each["schema"]),
        )
        for each in operation.get("parameters", [])
    ]
    return "\n".join([*lines, table(("parameter", "in", "type", "default"), rows)])


def _of(answer: Schema) -> str:
    return f", {_content(answer['content'])}" if answer.get("content") else ", empty"


def _content(content: Schema) -> str:
    kinds = []
    for media, about in content.items():
        schema = about.get("schema", {})
        said = _kind(schema) if schema and schema.get("format") != "binary" else ""
        plain = media == "application/json" and said
        kinds.append(said if plain else f"`{media}`" + (f" ({said})" if said and said != "text" else ""))
    return " or ".join(kinds)


def _shape(name: str, schema: Schema) -> str:
    required = set(schema.get("required", ()))
    rows = [
        (
            f"`{field}`",
            _kind(about),
            "required" if field in required else _default(about),
            sentence(about.get("description", "")),
        )
        for field, about in schema.get("properties", {}).items()
    ]
    text = str(schema.get("description", "")).strip()
    if not rows:
        text = "\n\n".join(
            each for each in (text, _kind({key: schema[key] for key in schema if key != "description"})) if each
        )
    return "\n".join(
        each
        for each in (f"### {name}\n", text + "\n", table(("field", "type", "default", "meaning"), rows))
        if each.strip()
    )


def _default(schema: Schema) -> str:
    if "default" not in schema:
        return ""
    value = schema["default"]
    if value is None:
        return ""
    return "empty" if value in ([], {}, "") else f"`{json.dumps(value)}`"


def _kind(schema: Schema) -> str:
    return " or ".join(dict.fromkeys(_kinds(schema))) or "any JSON"


def _kinds(schema: Schema) -> Iterator[str]:
    if "$ref" in schema:
        name = str(schema["$ref"]).rpartition("/")[2]
        yield f"[{name}](#{name.lower()})"
    elif "anyOf" in schema or "oneOf" in schema:
        for each in schema.get("anyOf", schema.get("oneOf", ())):
            yield from _kinds(each)
    elif "allOf" in schema:
        for each in schema["allOf"]:
            yield from _kinds(each)
    elif "enum" in schema:
        yield ", ".join(f"`{value}`" for value in schema["enum"])
    elif "const" in schema:
        yield f"`{schema['const']}`"
    elif schema.get("type") == "array":
        yield f"list of {_kind(schema.get('items', {}))}{_bounds(schema)}"
    elif schema.get("type") == "object":
        below = schema.get("additionalProperties")
        yield f"object of {_kind(below)}" if isinstance(below, Mapping) and below else "object"
    elif "type" in schema:
        words = {"string": "text", "boolean": "boolean", "null": "null"}
        kind = schema["type"]
        for each in kind if isinstance(kind, list) else [kind]:
            yield words.get(each, each) + _bounds(schema)


def _bounds(schema: Schema) -> str:
    said = [
        text.format(f"{schema[key]:,}" if isinstance(schema[key], int) else schema[key])
        for key, text in _BOUNDS
        if key in schema
    ]
    return f" ({', '.join(said)})" if said else ""
