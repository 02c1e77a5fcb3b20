"""Definitions of benchmark jobs: parts of a request that are kept, and what a run of one adds or replaces. No I/O.

A definition holds any fields of a job's request. Who runs it may give any fields, too: each replaces the definition's
field as a whole, except `config`, where each key replaces the definition's key. None is a value like any other: it
resets a field to what a request without it means. A job that is given no name has the definition's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from harena.core.errors import ValidationError

HEADING = "this definition cannot be stored:"


def checked_fields(request: object) -> dict[str, Any]:
    """The fields of a definition, checked as those of a job are; what a definition leaves out it leaves to its runs.

    Scenarios, candidates and grader stay as they were given, and everything else becomes JSON. Raises
    ValidationError that lists every mistake.
    """
    from harena.jobs.models import parse_request

    if not isinstance(request, Mapping):
        raise ValidationError(
            f"{HEADING}\n  request: must be a mapping of a job's fields (got {type(request).__name__})"
        )
    required = {"name": "name", "scenarios": []}
    parsed = parse_request({**required, **request}, heading=HEADING)
    fields: dict[str, Any] = {field: getattr(parsed, field) for field in request}
    if "config" in fields:
        fields["config"] = parsed.config.model_dump(mode="json", exclude_unset=True)
    if parsed.webhook is not None:
        fields["webhook"] = parsed.webhook.model_dump(mode="json", exclude_none=True)
    return dict(sorted(fields.items()))


def merged(fields: Mapping[str, Any], overrides: Mapping[str, Any], *, name: str) -> dict[str, Any]:
    """The request of a run of a definition of this name. Nothing is checked here: a job's request is, whole."""
    request = {"name": name, **fields, **overrides}
    theirs, given = fields.get("config"), overrides.get("config")
    if isinstance(theirs, Mapping) and (given is None or isinstance(given, Mapping)):
        request["config"] = {**theirs, **(given or {})}
    return request


def with_secret(request: Mapping[str, Any], change: Callable[[str], str]) -> dict[str, Any]:
    """A definition's request with `change` applied to its webhook's secret, or as it is where it has none."""
    webhook = request.get("webhook")
    if not isinstance(webhook, Mapping) or webhook.get("secret") is None:
        return dict(request)
    return {**request, "webhook": {**webhook, "secret": change(webhook["secret"])}}


def without_secret(content: Mapping[str, Any]) -> dict[str, Any]:
    """The stored content of a definition, {request}, without its webhook's secret."""
    request = dict(content["request"])
    if request.get("webhook") is not None:
        request["webhook"] = shown_webhook(request["webhook"])
    return {**content, "request": request}


def shown_webhook(webhook: Mapping[str, Any]) -> dict[str, Any]:
    """{url, signed}: `signed` says whether there is a secret, which itself is left out."""
    return {"url": webhook["url"], "signed": webhook.get("secret") is not None}
