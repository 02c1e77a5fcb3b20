"""A capability: a directory with capability.yaml. Training uses the prompt of its entry agent."""

from __future__ import annotations

import re
from pathlib import Path

from harena.core.checked import quote
from harena.core.records.objects import CapabilityDescription
from harena.training.objects.manifest import Manifest

FILE = "capability.yaml"
SCHEMA = 1
_LISTS = ("agents", "tools", "commands", "skills", "hooks", "policies", "workers", "workflows", "outputs", "checks")
_OTHERS = ("mcp", "flags", "dependencies", "secrets")
_FIELDS = ("schema", "name", "version", "description", "entry_agent", *_LISTS, *_OTHERS)
_FRONT_MATTER = re.compile(r"\A---[ \t]*\r?\n.*?^---[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE)
_AGENT_ENDINGS = (".md", ".txt")


def read_capability(folder: Path, *, name: str, version: str) -> CapabilityDescription:
    """What capability.yaml and the agents' files say. Raises ValidationError that lists every mistake."""
    manifest = Manifest(folder, FILE, what="capability")
    manifest.known(_FIELDS)
    schema = manifest.fields.get("schema")
    if schema != SCHEMA or isinstance(schema, bool):
        manifest.wrong("schema", f"must be {SCHEMA} (got {quote(schema)})")
    manifest.identity(name, version)
    description = manifest.text("description")
    for field in _LISTS:
        _check_list(manifest, field)
    agents = _agents(manifest)
    entry = _entry(manifest, agents)
    prompt = None if entry is None else _prompt(manifest, entry)
    manifest.check()
    return CapabilityDescription(
        description=description,
        entry_agent=None if entry is None else entry.stem,
        prompt=prompt,
        agents=[path.stem for path in agents],
    )


def _check_list(manifest: Manifest, field: str) -> None:
    value = manifest.fields.get(field)
    if value is not None and not (isinstance(value, list) and all(isinstance(entry, str | dict) for entry in value)):
        manifest.wrong(field, f"must be a list; [] = none, left out = all that are there (got {quote(value)})")


def _agents(manifest: Manifest) -> list[Path]:
    """The files that describe agents: those that are listed, or all of agents/."""
    listed = manifest.fields.get("agents")
    if isinstance(listed, list):
        found = [manifest.file("agents", entry) for entry in listed if isinstance(entry, str)]
        return [path for path in found if path is not None]
    folder = manifest.folder / "agents"
    if not folder.is_dir():
        return []
    return sorted(path for path in folder.iterdir() if path.suffix in _AGENT_ENDINGS and path.is_file())


def _entry(manifest: Manifest, agents: list[Path]) -> Path | None:
    wanted = manifest.text("entry_agent", need=False)
    if not wanted:
        return agents[0] if agents else None
    for path in agents:
        if path.stem == wanted:
            return path
    there = ", ".join(path.stem for path in agents) or "none"
    manifest.wrong("entry_agent", f"there is no agent {wanted!r}; there are {there}")
    return None


def _prompt(manifest: Manifest, entry: Path) -> str | None:
    where = entry.relative_to(manifest.folder).as_posix()
    try:
        text = _FRONT_MATTER.sub("", entry.read_text(encoding="utf-8"), count=1).strip()
    except UnicodeDecodeError:
        manifest.mistakes.append(f"{where}: is not UTF-8")
        return None
    if not text:
        manifest.mistakes.append(f"{where}: says nothing below its front matter: the agent's prompt is missing")
    return text
