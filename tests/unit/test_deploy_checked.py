"""What deploy/ holds was checked as it is: with helm, the schemas of Kubernetes, and the Compose specification."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

import check_deploy  # noqa: E402

VALUES = yaml.safe_load((check_deploy.CHART / "values.yaml").read_text())
SCHEMA = json.loads((check_deploy.CHART / "values.schema.json").read_text())


def test_the_files_are_those_that_were_checked() -> None:
    """Whoever changes the chart or the Compose file runs `python scripts/check_deploy.py`, which notes the digest."""
    assert json.loads(check_deploy.CHECKED.read_text())["digest"] == check_deploy.digest_of_files()


def names(values: dict[str, Any], schema: dict[str, Any], before: str = "") -> tuple[set[str], set[str]]:
    """The values that there are, and those that the schema knows, with dots between their parts."""
    there, known = set(), set()
    for name in {*values, *schema["properties"]} - {"global"}:
        below, part = values.get(name), schema["properties"].get(name, {})
        if isinstance(below, dict) and "properties" in part:
            more = names(below, part, f"{before}{name}.")
            there, known = there | more[0], known | more[1]
        else:
            there |= {f"{before}{name}"} if name in values else set()
            known |= {f"{before}{name}"} if name in schema["properties"] else set()
    return there, known


def test_the_schema_knows_each_value_and_no_other() -> None:
    there, known = names(VALUES, SCHEMA)
    assert there == known


def test_each_value_is_used() -> None:
    """A value that no template reads would be a promise that nothing keeps."""
    templates = "".join(path.read_text() for path in (check_deploy.CHART / "templates").iterdir())
    there, _ = names(VALUES, SCHEMA)
    assert [name for name in sorted(there) if f".Values.{name}" not in templates] == []


def test_the_server_is_not_privileged() -> None:
    """Neither in the chart, nor in the Compose file, whose database and server have no ports on the machine."""
    container = (check_deploy.CHART / "templates/statefulset.yaml").read_text()
    assert "privileged: false" in container
    assert container.count("allowPrivilegeEscalation: false") == 2
    assert container.count("drop: [ALL]") == 2
    compose = yaml.safe_load((check_deploy.DEPLOY / "compose/compose.yaml").read_text())["services"]
    assert [name for name, service in compose.items() if "ports" in service] == ["proxy"]
    assert [name for name, service in compose.items() if service.get("privileged")] == []
    assert compose["server"]["cap_drop"] == ["ALL"]
