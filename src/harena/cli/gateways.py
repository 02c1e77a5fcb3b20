"""`--gateway NAME=URL,secret=NAME,...`: gateways as words of a command line, or as a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from harena.core.errors import ValidationError
from harena.sdk.yaml_files import YamlError, read_yaml_file

HELP = (
    "NAME=URL,secret=SECRET, perhaps with mechanism=git|header|..., field=, prefix=, username=, requests_per_minute=; "
    "or NAME=@FILE, YAML with these fields and rules. May be repeated."
)
METAVAR = "NAME=URL,secret=SECRET"
_NUMBERS = {"requests_per_minute": int, "request_bytes": int, "answer_bytes": int, "timeout_seconds": float}


def gateways_in_words(given: Sequence[str] | None) -> dict[str, Mapping[str, Any]] | None:
    """What `read_gateways` reads; None where nothing is given. Raises ValidationError."""
    found: dict[str, Mapping[str, Any]] = {}
    for words in given or ():
        name, equals, rest = words.partition("=")
        if not name or not equals or not rest:
            raise ValidationError(f"--gateway {words}: write it as {METAVAR}, or as NAME=@FILE")
        if name in found:
            raise ValidationError(f"--gateway {name} is given twice: give one of them another name")
        found[name] = _file(name, Path(rest[1:])) if rest.startswith("@") else _fields(name, rest)
    return found or None


def _fields(name: str, rest: str) -> dict[str, Any]:
    url, *others = rest.split(",")
    fields: dict[str, Any] = {"url": url}
    for other in others:
        field, equals, value = other.partition("=")
        if not equals:
            raise ValidationError(f"--gateway {name}: write {other!r} as FIELD=VALUE, as secret=GITHUB_TOKEN")
        try:
            fields[field] = _NUMBERS.get(field, str)(value)
        except ValueError:
            raise ValidationError(f"--gateway {name}: {field} must be a number (got {value!r})") from None
    return fields


def _file(name: str, path: Path) -> Mapping[str, Any]:
    try:
        fields = read_yaml_file(path)
    except OSError as error:
        raise ValidationError(f"--gateway {name}: {path} cannot be read: {error.strerror or error}") from None
    except (YamlError, UnicodeDecodeError) as error:
        raise ValidationError(f"--gateway {name}: {path} is no YAML: {error}") from None
    if not isinstance(fields, Mapping):
        raise ValidationError(f"--gateway {name}: {path} must have url, secret and what else it takes, each on a line")
    return fields
