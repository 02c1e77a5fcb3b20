"""`harena scenario push|ls|get|archive|rm` and `harena contract ...`: what is kept by name and version."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from harena.cli import face
from harena.cli.blueprint import pairs
from harena.cli.report import Format, ListFormat, write_json, write_list

Name = Annotated[str, typer.Argument(help="The name; letters, digits, '.', '_' and '-'.")]
Ref = Annotated[str, typer.Argument(help="NAME@2, or NAME: its newest version that is not archived.")]
OneVersion = Annotated[str, typer.Argument(help="NAME@2.")]
SomeVersions = Annotated[str, typer.Argument(help="NAME@2, or NAME: every version of it.")]
Metadata = Annotated[list[str] | None, typer.Option(metavar="NAME=VALUE", help="May be given more than once.")]
Prefix = Annotated[str, typer.Argument(help="Names that begin so.")]
Versions = Annotated[str | None, typer.Option("--versions", metavar="NAME", help="Every version of this name.")]
Archived = Annotated[bool, typer.Option("--archived", help="Every version of every name, archived ones too.")]

contracts = typer.Typer(no_args_is_help=True, help="Scoring contracts that are kept by name and version.")


def add_scenario_verbs(app: typer.Typer) -> None:
    """To `harena scenario`."""
    for name, verb in (("push", _push), ("ls", _list), ("get", _get), ("archive", _archive), ("rm", _delete)):
        app.command(name)(verb)


def _push(
    name: Name,
    file: Annotated[Path, typer.Argument(help="Scenario file or data set; it may hold problems without candidates.")],
    data_format: Annotated[
        str | None, typer.Option("--format", help="The data format, where its shape does not tell.")
    ] = None,
    grader: Annotated[Path | None, typer.Option(help="JSON file of the grader of rows that hold none.")] = None,
    metadata: Metadata = None,
) -> None:
    """Keep scenarios as the next version of NAME; the same content and metadata give the version that there is."""
    given = {"format": data_format, "grader": grader and str(grader)}
    made = face.load().scenarios.create(
        name,
        str(file),
        metadata=dict(pairs(metadata, "--metadata")),
        **{option: value for option, value in given.items() if value},
    )
    problems = "1 problem" if made["problems"] == 1 else f"{made['problems']} problems"
    sys.stdout.write(f"{made['ref']}: {problems}, {made['candidates']} with candidates, sha256 {made['digest'][:16]}\n")


def _list(
    prefix: Prefix = "",
    metadata: Metadata = None,
    versions: Versions = None,
    archived: Archived = False,
    form: ListFormat = Format.TABLE,
) -> None:
    """List stored scenarios, newest first."""
    found = found_entries(face.load().scenarios, prefix, metadata, versions, archived)
    rows = [
        (entry["ref"], entry["format"], entry["problems"], entry["candidates"], entry["trust"], *last_columns(entry))
        for entry in found
    ]
    header = ("scenarios", "format", "problems", "candidates", "trust", "stored (UTC)", "archived", "metadata")
    write_list(form, found, "stored scenarios", header, rows)


def _get(
    ref: Ref,
    content: Annotated[bool, typer.Option("--content", help="Also what was stored.")] = False,
) -> None:
    """Print a version of stored scenarios with its calibrations, as JSON."""
    write_json(face.plain(face.load().scenarios.get(ref, content=content)))


def _archive(ref: SomeVersions) -> None:
    """Hide a version; jobs that name it go on as before."""
    say_archived(ref, face.load().scenarios.archive(ref))


def _delete(ref: OneVersion) -> None:
    """Delete a version; results keep its digest."""
    face.load().scenarios.delete(ref)
    say_deleted(ref)


@contracts.command("push")
def push_contract(
    name: Name,
    file: Annotated[Path, typer.Argument(help="YAML or JSON file of one contract, a mapping with `type`.")],
    metadata: Metadata = None,
) -> None:
    """Keep a scoring contract as the next version of NAME; the same content gives the version that there is."""
    made = face.load().scoring_contracts.create(name, str(file), metadata=dict(pairs(metadata, "--metadata")))
    sys.stdout.write(f"{made['ref']}: {made['type']}, trust {made['trust']}, sha256 {made['digest'][:16]}\n")


@contracts.command("ls")
def list_contracts(
    prefix: Prefix = "",
    metadata: Metadata = None,
    versions: Versions = None,
    archived: Archived = False,
    form: ListFormat = Format.TABLE,
) -> None:
    """List stored scoring contracts, newest first."""
    found = found_entries(face.load().scoring_contracts, prefix, metadata, versions, archived)
    rows = [(entry["ref"], entry["type"], entry["trust"], *last_columns(entry)) for entry in found]
    header = ("scoring contract", "type", "trust", "stored (UTC)", "archived", "metadata")
    write_list(form, found, "stored scoring contracts", header, rows)


@contracts.command("get")
def get_contract(ref: Ref) -> None:
    """Print a version of a stored scoring contract, as JSON."""
    write_json(face.plain(face.load().scoring_contracts.get(ref)))


@contracts.command("archive")
def archive_contract(ref: SomeVersions) -> None:
    """Hide a version; what refers to it goes on as before."""
    say_archived(ref, face.load().scoring_contracts.archive(ref))


@contracts.command("rm")
def delete_contract(ref: OneVersion) -> None:
    """Delete a version; what was stored with a reference to it cannot be run any more."""
    face.load().scoring_contracts.delete(ref)
    say_deleted(ref)


def found_entries(
    noun: Any, prefix: str, metadata: list[str] | None, versions: str | None, archived: bool
) -> list[dict[str, Any]]:
    """Entries as they are listed, newest first."""
    wanted = dict(pairs(metadata, "--metadata"))
    found: list[dict[str, Any]] = face.plain(
        noun.list(prefix=prefix, metadata=wanted, name=versions, archived=archived)
    )
    return found


def last_columns(entry: dict[str, Any]) -> tuple[str, str, str]:
    """When an entry was stored, whether it is archived, and its metadata."""
    metadata = ", ".join(f"{name}={value}" for name, value in entry["metadata"].items())
    return entry["created_at"][:19], "yes" if entry["archived_at"] else "-", metadata or "-"


def say_archived(ref: str, count: int) -> None:
    """How many versions were archived."""
    said = {0: "was archived already", 1: "1 version archived"}.get(count, f"{count} versions archived")
    sys.stdout.write(f"{ref}: {said}\n")


def say_deleted(ref: str) -> None:
    """Say on standard output which version was deleted."""
    sys.stdout.write(f"{ref} deleted\n")
