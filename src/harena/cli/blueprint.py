"""`harena blueprint`: recipes for sandboxes."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from harena.cli import face
from harena.cli.gateways import HELP, METAVAR, gateways_in_words
from harena.cli.report import Format, ListFormat, write_json, write_list
from harena.core.errors import ValidationError
from harena.core.network_policy import policy_in_words

app = typer.Typer(no_args_is_help=True, help="Blueprints: what is installed in a sandbox, and what is kept warm.")


@app.command()
def create(
    name: Annotated[str | None, typer.Argument(help="The blueprint's name; it comes first.")] = None,
    packages: Annotated[
        list[str] | None, typer.Option(help="Requirements, as pip knows them; several may follow.")
    ] = None,
    warm: Annotated[list[str] | None, typer.Option(help="Modules imported once; several may follow.")] = None,
    env: Annotated[
        list[str] | None, typer.Option(metavar="NAME=VALUE", help="Environment; several may follow.")
    ] = None,
    file: Annotated[list[str] | None, typer.Option(metavar="PATH=LOCAL", help="A file to put at PATH.")] = None,
    image: Annotated[str, typer.Option(help="The image that it is made of.")] = "default",
    profile: Annotated[
        str, typer.Option(help="strict, or for an image machine: packages can be installed.")
    ] = "strict",
    network: Annotated[
        str,
        typer.Option(
            metavar="none|open|ENTRY,...",
            help="What its sandboxes may reach: hosts, *.hosts, CIDRs, host:port and presets (pypi, npm, apt).",
        ),
    ] = "none",
    gateway: Annotated[list[str] | None, typer.Option(metavar=METAVAR, help=HELP)] = None,
    bare_warm: Annotated[bool, typer.Option("--warm-interpreter", help="Keep a bare interpreter warm.")] = False,
) -> None:
    """Install packages (wheels only) into a new blueprint."""
    if name is None:
        raise ValidationError(
            "the blueprint's name is missing: it comes before the options, as in "
            "`harena blueprint create NAME --packages numpy` (every word after --packages is a package)"
        )
    warm_modules = warm if warm else ([] if bare_warm else None)
    blueprint = face.load().blueprints.create(
        name,
        image=image,
        profile=profile,
        packages=packages or [],
        files={path: _content(local) for path, local in pairs(file, "--file")},
        env=dict(pairs(env, "--env")),
        warm=warm_modules,
        network=policy_in_words(network),
        gateways=gateways_in_words(gateway),
    )
    described = face.plain(blueprint)
    pinned = [f"{package['name']}=={package['version']}" for package in described.get("packages", [])]
    sys.stdout.write(f"{described['name']} ({described['id']}): {', '.join(pinned) or 'no packages'}\n")


@app.command()
def get(name: Annotated[str, typer.Argument(help="Name or id.")]) -> None:
    """Print a blueprint as JSON."""
    write_json(face.plain(face.load().blueprints.get(name)))


@app.command("rm")
def remove(name: Annotated[str, typer.Argument(help="Name (every version of it) or id (one version).")]) -> None:
    """Forget a blueprint; the packages that were installed for it stay on disk."""
    face.load().blueprints.delete(name)
    sys.stdout.write(f"{name}: removed\n")


@app.command("ls")
def list_blueprints(form: ListFormat = Format.TABLE) -> None:
    """List the blueprints, newest first."""
    blueprints = face.plain(face.load().blueprints.list())
    rows = [
        (blueprint["name"], blueprint["id"], blueprint["image"], ", ".join(blueprint["requested"]) or "-",
         "-" if blueprint["warm"] is None else ", ".join(blueprint["warm"]) or "interpreter")
        for blueprint in blueprints
    ]  # fmt: skip
    write_list(form, blueprints, "blueprints", ("name", "id", "image", "packages", "warm"), rows)


def pairs(values: list[str] | None, option: str) -> list[tuple[str, str]]:
    """NAME=VALUE, split. Raises ValidationError."""
    split = []
    for value in values or []:
        name, equals, rest = value.partition("=")
        if not name or not equals:
            raise ValidationError(f"{option} {value}: write it as NAME=VALUE")
        split.append((name, rest))
    return split


def _content(local: str) -> bytes:
    try:
        return Path(local).read_bytes()
    except OSError as error:
        raise ValidationError(f"--file: {local} cannot be read: {error.strerror}") from None
