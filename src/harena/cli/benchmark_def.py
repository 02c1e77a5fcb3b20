"""`harena benchmark def`: definitions of benchmark jobs, kept by name and version, and run with overrides."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from harena.address import server_address
from harena.cli import completion, face
from harena.cli.arguments import STORED, stored_or_file
from harena.cli.benchmark import Output, ShowRuns, to_its_end
from harena.cli.blueprint import pairs
from harena.cli.catalog import (
    Archived,
    Metadata,
    Name,
    OneVersion,
    Prefix,
    Ref,
    SomeVersions,
    Versions,
    found_entries,
    last_columns,
    say_archived,
    say_deleted,
)
from harena.cli.job_options import webhook_of
from harena.cli.report import Format, ListFormat, write_json, write_list
from harena.core.errors import ValidationError
from harena.sdk.yaml_files import YamlError, read_yaml_file

app = typer.Typer(no_args_is_help=True, help="Definitions of benchmark jobs: kept by name, run again and again.")

FIELDS = ("name", "scenarios", "candidates", "format", "grader", "blueprint_id", "config", "webhook")
"""fields of a job's request that a definition's file may hold"""
WORDS = ("oracle", "nop")
"""candidates that are no file"""


@app.command()
def push(
    name: Name,
    file: Annotated[Path, typer.Argument(help="YAML or JSON file with fields of a job's request; see the guide.")],
    metadata: Metadata = None,
) -> None:
    """Keep a definition as the next version of NAME; the same content gives the version that there is.

    Files that it names are looked for beside it, and kept as what they hold.
    """
    fields = _fields(file)
    if "name" in fields:
        fields["job_name"] = fields.pop("name")
    made = face.load().benchmark_job_defs.create(name, **fields, metadata=dict(pairs(metadata, "--metadata")))
    problems = "no scenarios" if made["problems"] is None else f"problems: {made['problems']}"
    sys.stdout.write(f"{made['ref']}: {problems}, sha256 {made['digest'][:16]}\n")


@app.command("ls")
def list_definitions(
    prefix: Prefix = "",
    metadata: Metadata = None,
    versions: Versions = None,
    archived: Archived = False,
    form: ListFormat = Format.TABLE,
) -> None:
    """List definitions, newest first."""
    found = found_entries(face.load().benchmark_job_defs, prefix, metadata, versions, archived)
    rows = [
        (entry["ref"], ", ".join(entry["fields"]) or "-", "-" if entry["problems"] is None else entry["problems"],
         *last_columns(entry))
        for entry in found
    ]  # fmt: skip
    header = ("definition", "fields", "problems", "stored (UTC)", "archived", "metadata")
    write_list(form, found, "definitions of benchmark jobs", header, rows)


@app.command()
def get(
    ref: Ref,
    content: Annotated[bool, typer.Option("--content", help="Also what was kept, without a webhook's secret.")] = False,
) -> None:
    """Print a version of a definition as JSON."""
    write_json(face.plain(face.load().benchmark_job_defs.get(ref, content=content)))


@app.command()
def archive(ref: SomeVersions) -> None:
    """Hide a version; it can still be run by NAME@2."""
    say_archived(ref, face.load().benchmark_job_defs.archive(ref))


@app.command("rm")
def delete(ref: OneVersion) -> None:
    """Delete a version; jobs that were made of it have all that they need."""
    face.load().benchmark_job_defs.delete(ref)
    say_deleted(ref)


@app.command()
def run(
    ref: Ref,
    name: Annotated[str | None, typer.Option(help="The job's name, in place of the definition's.")] = None,
    scenarios: Annotated[
        Path | None, typer.Option(help="As of `harena benchmark run`; ref:NAME@2: stored ones.")
    ] = None,
    candidates: Annotated[
        str | None, typer.Option(help="File of answers; 'oracle': the data set's own solutions; 'nop': none.")
    ] = None,
    data_format: Annotated[str | None, typer.Option("--data-format", help="The data set's format.")] = None,
    grader: Annotated[Path | None, typer.Option(help="JSON file of the grader of rows that hold none.")] = None,
    blueprint: Annotated[
        str | None,
        typer.Option(help="Name or id of the blueprint that candidates run in.", autocompletion=completion.blueprint),
    ] = None,
    config: Annotated[
        list[str] | None,
        typer.Option(metavar="KEY=VALUE", help="A key of the configuration, as attempts=4; may be given repeatedly."),
    ] = None,
    webhook: Annotated[str | None, typer.Option(metavar="URL", help="As of `harena benchmark run`.")] = None,
    detach: Annotated[bool, typer.Option("--detach", help="Start it on the server, print its id, and return.")] = False,
    form: Annotated[
        Format, typer.Option("--format", help="How to print the results: table, json, jsonl or csv.")
    ] = Format.TABLE,
    show_runs: ShowRuns = 0,
    output: Output = None,
) -> None:
    """Run a definition; what is given replaces what it says. Exit codes are those of `harena benchmark run`."""
    if detach and server_address() is None:
        raise ValidationError("--detach: a job of this process would end with it; set HARENA_BASE_URL to a server")
    given = {
        "name": name,
        "scenarios": None if scenarios is None else stored_or_file(scenarios),
        "candidates": candidates,
        "format": data_format,
        "grader": grader and str(grader),
        "blueprint_id": blueprint,
        "config": {key: _value(text) for key, text in pairs(config, "--config")} or None,
        "webhook": None if webhook is None else webhook_of(webhook),
    }
    overrides = {field: value for field, value in given.items() if value is not None}
    job = face.load().benchmark_job_defs.run(ref, **overrides)
    if detach:
        sys.stdout.write(f"{job.id}\n")
        return
    raise typer.Exit(to_its_end(job, form, show_runs=show_runs, output=output))


def _fields(file: Path) -> dict[str, Any]:
    """What the file says, with the files that it names where they are."""
    try:
        fields = read_yaml_file(file)
    except (OSError, UnicodeDecodeError) as error:
        raise ValidationError(f"{file} cannot be read: {getattr(error, 'strerror', None) or error}") from None
    except YamlError as error:
        raise ValidationError(f"{file} is no YAML: {error}") from None
    if not isinstance(fields, dict) or not all(isinstance(field, str) for field in fields):
        raise ValidationError(f"{file} must be a mapping of a job's fields, as `scenarios: problems.yaml`")
    if unknown := sorted(set(fields) - set(FIELDS)):
        raise ValidationError(f"{file}: unknown field {', '.join(unknown)}; there are {', '.join(FIELDS)}")
    for field in ("scenarios", "candidates", "grader"):
        given = fields.get(field)
        if isinstance(given, str) and given.startswith(STORED):
            fields[field] = {"ref": given.removeprefix(STORED)}
        elif isinstance(given, str) and given not in WORDS:
            fields[field] = str(file.parent / given)
    return fields


def _value(text: str) -> Any:
    """A number, a list, true or null as JSON has them; everything else is text."""
    try:
        return json.loads(text)
    except ValueError:
        return text
