"""`harena world`: abstract games on a graph, and jobs that make trajectories in them."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from harena.address import server_address
from harena.cli import face
from harena.cli.report import Format, ListFormat, write_json, write_list
from harena.core.whole_files import replaced
from harena.core.worlds import (
    AGENT,
    DEFAULT_GOAL,
    DEFAULT_MAX_STEPS,
    DEFAULT_SEED,
    PRESETS,
    ROW_FORMS,
    SCRIPTED,
    STRATEGIES,
)

if TYPE_CHECKING:
    from harena.core.worlds import RowForm, Strategy, WorldPreset

FAILED_EXIT = 1

app = typer.Typer(no_args_is_help=True, help="Worlds: abstract games on a graph, to train players on.")

OneWorld = Annotated[str, typer.Argument(metavar="WORLD", help="Id or name (the newest of that name).")]
OneJob = Annotated[str, typer.Argument(metavar="JOB", help="Id of the job.")]
Json = Annotated[bool, typer.Option("--json", help="Print the answer as JSON.")]


class _Preset(StrEnum):
    SMALL, MEDIUM, LARGE, ENTERPRISE = PRESETS


class _Strategy(StrEnum):
    RANDOM, GREEDY, RECON_FIRST, SMART_RANDOM = STRATEGIES


class _RowForm(StrEnum):
    ATIF, MESSAGES, TEXT = ROW_FORMS


@app.command()
def create(
    name: Annotated[str, typer.Argument(help="What the world is called.")],
    preset: Annotated[_Preset, typer.Option(help="How large it is.")] = _Preset.SMALL,
    seed: Annotated[int, typer.Option(help="What everything is drawn from.")] = 0,
    users: Annotated[int | None, typer.Option("--num-users", help="Principals, in place of the preset's.")] = None,
    hosts: Annotated[int | None, typer.Option("--num-hosts", help="Hosts, in place of the preset's.")] = None,
    domains: Annotated[
        list[str] | None, typer.Option("--domain", help="Names of domains; may be given more than once.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Make a world of a manifest: the same one for the same manifest."""
    chosen: WorldPreset = preset.value
    made = face.load().world_manifests.create(
        name, preset=chosen, seed=seed, num_users=users, num_hosts=hosts, domains=domains or None
    )
    if as_json:
        write_json(face.plain(made))
    else:
        sys.stdout.write(f"{made.id}\n")


@app.command("ls")
def list_worlds(
    form: ListFormat = Format.TABLE,
    name: Annotated[str | None, typer.Option(help="Only those of this name.")] = None,
) -> None:
    """List the worlds, the newest first."""
    found = face.plain(face.load().world_manifests.list(name=name))
    rows = [(one["id"], *_facts(one["manifest"]), len(one["goals"]), one["created_at"][:19]) for one in found]
    columns = ("id", "name", "preset", "seed", "hosts", "principals", "goals", "created (UTC)")
    write_list(form, found, "worlds", columns, rows)


@app.command()
def get(world: OneWorld) -> None:
    """Print a world as JSON: its manifest, digest, and each goal with the steps of a shortest way."""
    write_json(face.plain(face.load().world_manifests.get(world)))


@app.command()
def show(
    world: OneWorld,
    svg: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the picture there, as SVG.")] = None,
    job: Annotated[str | None, typer.Option(help="A job of this world: its player's way is drawn.")] = None,
    episode: Annotated[int, typer.Option(help="Number of the job's episode, from 0.")] = 0,
) -> None:
    """Draw a world: in lines, or as SVG."""
    drawn = face.load().world_manifests.map(world, job=job, episode=episode)
    if svg is None:
        sys.stdout.write(drawn.text)
        return
    with replaced([svg]) as (out,):
        out.write(drawn.svg.encode())
    sys.stdout.write(f"{svg}\n")


@app.command("rm")
def remove(worlds: Annotated[list[str], typer.Argument(metavar="WORLD...", help="Worlds to forget.")]) -> None:
    """Forget worlds; data sets that were made of them stay."""
    for world in worlds:
        face.load().world_manifests.delete(world)
        sys.stdout.write(f"{world}: removed\n")


@app.command()
def trajectories(
    world: OneWorld,
    goal: Annotated[str, typer.Option(help="The group whose member the player is to become.")] = DEFAULT_GOAL,
    count: Annotated[int, typer.Option(help="Episodes, 1 to 100.")] = 1,
    strategy: Annotated[_Strategy, typer.Option(help="Who plays.")] = _Strategy.RECON_FIRST,
    max_steps: Annotated[int, typer.Option(help="Steps of an episode at the most, 1 to 1000.")] = DEFAULT_MAX_STEPS,
    seed: Annotated[int, typer.Option(help="What the player's choices are drawn from.")] = DEFAULT_SEED,
    threads: Annotated[int, typer.Option(help="Episodes at one time, 1 to 16.")] = 1,
    only_successful: Annotated[bool, typer.Option("--only-successful", help="Leave out what failed.")] = False,
    form: Annotated[_RowForm, typer.Option(help="How rows are written.")] = _RowForm.ATIF,
    model: Annotated[
        str | None, typer.Option(help="A model that plays instead of a strategy, named as in `harena train`.")
    ] = None,
    capability: Annotated[
        str | None, typer.Option(metavar="NAME@VERSION", help="The capability whose prompt the model is given.")
    ] = None,
    dataset: Annotated[str | None, typer.Option(metavar="NAME", help="The data set to publish them in.")] = None,
    wait: Annotated[
        bool, typer.Option("--wait", help="Return when the job has ended; exit code 1 unless it completed.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Make trajectories of a world, and publish them as a version of a data set."""
    jobs = face.load().world_jobs
    player: Strategy = strategy.value
    written: RowForm = form.value
    made = jobs.create(
        world,
        goal=goal,
        count=count,
        strategy=player,
        max_steps=max_steps,
        seed=seed,
        threads=threads,
        only_successful=only_successful,
        form=written,
        mode=AGENT if model is not None or capability is not None else SCRIPTED,
        agent_model=model,
        capability=capability,
        dataset=dataset,
    )
    if wait or server_address() is None:  # a job of this process would end with it
        made = jobs.wait(made)
        if not only_successful and made.state.value == "completed" and made.reached < made.played:
            sys.stderr.write(
                f"harena: warning: {made.played - made.reached} of {made.played} episodes failed, and are in the data "
                "set with the others: --only-successful leaves them out\n"
            )
    _say(made, as_json=as_json)


@app.command("jobs")
def list_jobs(form: ListFormat = Format.TABLE) -> None:
    """List the jobs that make trajectories, the newest first."""
    found = face.plain(face.load().world_jobs.list())
    rows = [
        (
            one["id"],
            one["manifest"]["name"],
            one["order"]["agent_model"] or one["order"]["strategy"],
            one["state"],
            f"{one['played']}/{one['order']['count']}",
            one["reached"],
            one["dataset"],
        )
        for one in found
    ]
    write_list(form, found, "jobs", ("id", "world", "player", "state", "played", "reached", "data set"), rows)


@app.command()
def job(job: OneJob) -> None:
    """Print a job as JSON."""
    write_json(face.plain(face.load().world_jobs.get(job)))


@app.command()
def cancel(job: OneJob) -> None:
    """End a job; no effect on one that has ended."""
    _say(face.load().world_jobs.cancel(job), as_json=False, fails=False)


@app.command("rm-job")
def remove_job(jobs: Annotated[list[str], typer.Argument(metavar="JOB...", help="Jobs that have ended.")]) -> None:
    """Forget jobs that have ended; their data sets stay."""
    for one in jobs:
        face.load().world_jobs.delete(one)
        sys.stdout.write(f"{one}: removed\n")


def _facts(manifest: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(manifest[field] for field in ("name", "preset", "seed", "num_hosts", "num_users"))


def _say(job: Any, *, as_json: bool, fails: bool = True) -> None:
    if as_json:
        write_json(face.plain(job))
    else:
        told = f"{job.id}: {job.state.value}, {job.reached} of {job.played} reached the goal"
        told += f", {job.rows} rows in {job.dataset}" if job.state.value == "completed" else ""
        sys.stdout.write(f"{told}\n" + (f"{job.error}\n" if job.error else ""))
    if fails and job.state.value in ("failed", "cancelled"):
        raise typer.Exit(FAILED_EXIT)
