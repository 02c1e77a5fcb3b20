"""Harbor task directories: one task, or a folder of them.

    task/  instruction.md  task.toml  environment/Dockerfile  tests/test.sh ...  solution/solve.sh

A candidate is a shell script that stands for what an agent did; the task's own is the oracle, which must score 1, and
doing nothing must score 0. The environment is an image, that of `docker_image` or of the Dockerfile's FROM, with what
of the Dockerfile is carried out (`dockerfile`). Where package managers would have to add to it, all that cannot be had
must be in the blueprint, and the task's note lists it. Sandboxes have no network, whatever `network_mode` says.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from harena.core.checked import MOST_CORES
from harena.scoring.contracts.harbor import TEST_SCRIPT, HarborContract, is_of_system
from harena.scoring.formats.dockerfile import DOCKERFILE, Environment, inside, read_dockerfile, text_of
from harena.scoring.formats.rows import FieldError, Row, shown
from harena.scoring.formats.task import Family, Task, made
from harena.scoring.scenario import ScenarioLimits
from harena.scoring.scorers.harbor import IDLE

CONFIGURATION = "task.toml"

_SOLUTION = "solution/solve.sh"
_VERSIONS = ("1.0", "1.1", "1.2", "1.3", "1.4")
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([MG])i?B?", re.IGNORECASE)
_HOST_VARIABLE = re.compile(r"\$\{(\w+)(?::-([^}]*))?\}")


def task_folders(folder: Path) -> list[Path]:
    """The folder itself if it is a task, else the tasks below it, by name."""
    if (folder / CONFIGURATION).is_file():
        return [folder]
    return sorted(path.parent for path in folder.glob(f"*/{CONFIGURATION}"))


def read(row: Row) -> Task:
    """One directory, with what links in it lead to, as long as that is in it, too. Raises FieldError."""
    folder = row.folder
    if folder is None:
        raise FieldError("", "is no task directory: these are read from a folder on this machine, never from a row")
    config = _config(folder)
    _refuse_what_is_not_carried_out(config)
    for name in ("instruction.md", f"tests/{TEST_SCRIPT}"):
        if not (folder / name).is_file():
            raise FieldError("", f"the task has no {name}")
    environment, verifier = _table(config, "environment"), _table(config, "verifier")
    image = environment.get("docker_image")
    if image is not None and (not isinstance(image, str) or not image.strip()):
        raise FieldError("environment.docker_image", f"must be the name of an image, not {shown(image)}")
    if image is not None:  # it is what the Dockerfile makes
        built = Environment(left_to_blueprint=[f"FROM {image}"], base=image)
    elif (folder / DOCKERFILE).is_file():
        built = read_dockerfile(folder)
        image = built.image
    else:
        raise FieldError("environment.docker_image", "is required where there is no environment/Dockerfile")
    if environment.get("workdir") and any(path.startswith("./") for path in built.files):
        raise FieldError(DOCKERFILE, "copies to the image's WORKDIR, which is not known here; write the target in full")
    users = (_table(config, "agent").get("user"), verifier.get("user"))
    has_solution = (folder / _SOLUTION).is_file()
    contract: HarborContract = made(
        HarborContract,
        "",
        type="harbor",
        workdir=environment.get("workdir") or built.workdir or "/app",
        in_workdir_of_image=bool(image) and not (environment.get("workdir") or built.workdir),
        user="root" if built.as_root or any(user is not None for user in users) else None,
        working_places=_working_places(config),
        environment_files=built.files,
        environment_commands=built.commands,
        env={**built.env, **_variables(environment, "environment")},
        solution_env=_variables(_table(config, "solution"), "solution"),
        tests=_texts(folder, "tests"),
        verifier_env=_variables(verifier, "verifier"),
        timeout_seconds=_seconds(_table(config, "agent"), "agent"),
        verifier_timeout_seconds=_seconds(verifier, "verifier") or 600.0,
        keep_processes=_keeps_processes(config),
    )
    return Task(
        id=folder.resolve().name,
        statement=text_of(inside(folder, "instruction.md")).replace("\r\n", "\n"),
        contract=contract,
        solution=_script(text_of(inside(folder, _SOLUTION))) if has_solution else None,
        solution_files=_texts(folder, "solution") if has_solution else {},
        idle=IDLE,
        entry="solve.sh",
        limits=_limits(environment),
        note="; ".join(["the verifier runs in what the candidate left", *_needs(built, image)]),
        image=image,
    )


def _working_places(config: Mapping[str, Any]) -> list[str]:
    """[metadata] working_places, harena's own, and the sources of artifacts: what the verifier sees of the candidate's
    beside the usual places. An artifact that is where images have programs is not among them."""
    places = _table(config, "metadata").get("working_places", [])
    if not isinstance(places, list) or not all(isinstance(place, str) for place in places):
        raise FieldError("metadata.working_places", f"must be a list of paths, not {shown(places)}")
    artifacts = config.get("artifacts", [])
    if not isinstance(artifacts, list):
        raise FieldError("artifacts", f"must be a list, not {shown(artifacts)}")
    for artifact in artifacts:
        source = artifact.get("source") if isinstance(artifact, Mapping) else artifact
        if not isinstance(source, str):
            raise FieldError("artifacts", f"must be paths, or tables with a source, not {shown(artifact)}")
        path = posixpath.normpath(source)
        if path.startswith("/") and not any(sign in path for sign in "*?[") and not is_of_system(path):
            places = [*places, path]
    return list(dict.fromkeys(places))


def _needs(built: Environment, image: str | None) -> list[str]:
    if image is not None:
        return []
    return [f"the blueprint must have: {', '.join(built.left_to_blueprint)}"] if built.left_to_blueprint else []


def _config(folder: Path) -> Mapping[str, Any]:
    import tomllib  # by those who have task directories

    try:
        config = tomllib.loads(text_of(inside(folder, CONFIGURATION)))
    except tomllib.TOMLDecodeError as error:
        raise FieldError("", f"not TOML: {error}") from None
    version = config.get("schema_version", config.get("version", "1.0"))
    if str(version) not in _VERSIONS:
        raise FieldError("schema_version", f"must be one of {', '.join(_VERSIONS)}, not {shown(version)}")
    return config


def _table(config: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    table = config.get(name, {})
    if not isinstance(table, Mapping):
        raise FieldError(name, f"must be a table, not {shown(table)}")
    return table


def _refuse_what_is_not_carried_out(config: Mapping[str, Any]) -> None:
    """What would change the verdict, and is not there: better no score than another one."""
    environment, verifier = _table(config, "environment"), _table(config, "verifier")
    if config.get("steps"):
        raise FieldError("steps", "tasks of several steps are not carried out; split it into tasks of one step")
    if verifier.get("environment_mode") == "separate" or verifier.get("environment"):
        raise FieldError("verifier.environment_mode", "a separate environment for the verifier is not carried out")
    if verifier.get("collect"):
        raise FieldError("verifier.collect", "is not carried out")
    if str(environment.get("os", "linux")).lower() != "linux":
        raise FieldError("environment.os", f"sandboxes are linux, not {shown(environment['os'])}")
    if environment.get("gpus") or environment.get("tpu"):
        raise FieldError("environment.gpus", "sandboxes have no accelerators")
    for name in ("mcp_servers", "healthcheck"):
        if environment.get(name):
            raise FieldError(f"environment.{name}", "is not carried out")
    for table, name in ((_table(config, "agent"), "agent"), (verifier, "verifier")):
        if table.get("user") not in (None, "root", 0):
            raise FieldError(
                f"{name}.user", f"the user is the image's or root in a sandbox, not {shown(table['user'])}"
            )


def _keeps_processes(config: Mapping[str, Any]) -> bool:
    """[metadata] keep_processes: harena's own, for tasks that ask for a server."""
    value = _table(config, "metadata").get("keep_processes", False)
    if not isinstance(value, bool):
        raise FieldError("metadata.keep_processes", f"must be true or false, not {shown(value)}")
    return value


def _seconds(table: Mapping[str, Any], name: str) -> float | None:
    value = table.get("timeout_sec")
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= 86_400:
        raise FieldError(f"{name}.timeout_sec", f"must be more than 0 and at most 86400 (a day), not {shown(value)}")
    return float(value)


def _variables(table: Mapping[str, Any], name: str) -> dict[str, str]:
    """`env`; `${NAME:-default}` is its default, because nothing of the host enters a sandbox."""
    written = table.get("env", {})
    if not isinstance(written, Mapping) or not all(isinstance(value, str) for value in written.values()):
        raise FieldError(f"{name}.env", "must be a table of texts")
    filled = {}
    for key, value in written.items():
        for found in _HOST_VARIABLE.finditer(value):
            if found[2] is None:
                message = f"${{{found[1]}}} would be this host's, which no sandbox sees; write the value, or a default"
                raise FieldError(f"{name}.env.{key}", message)
        filled[key] = _HOST_VARIABLE.sub(lambda found: found[2], value)
    return filled


def _limits(environment: Mapping[str, Any]) -> ScenarioLimits:
    cpus = environment.get("cpus")
    if cpus is not None and (isinstance(cpus, bool) or not isinstance(cpus, int | float) or not 0 < cpus <= MOST_CORES):
        raise FieldError(
            "environment.cpus", f"must be a number, more than 0 and at most {MOST_CORES}, not {shown(cpus)}"
        )
    limits: ScenarioLimits = made(
        ScenarioLimits,
        "environment",
        cpu=None if cpus is None else float(cpus),
        memory_mb=_megabytes(environment, "memory"),
        disk_mb=_megabytes(environment, "storage"),
    )
    return limits


def _megabytes(environment: Mapping[str, Any], name: str) -> int | None:
    value = environment.get(f"{name}_mb")
    if value is not None:
        if isinstance(value, bool) or not isinstance(value, int) or value < 16:
            raise FieldError(f"environment.{name}_mb", f"must be a whole number, at least 16, not {shown(value)}")
        return value
    old = environment.get(name)
    if old is None:
        return None
    found = _SIZE.fullmatch(old) if isinstance(old, str) else None
    if found is None:
        raise FieldError(f"environment.{name}", f'must be a size, as "2G", not {shown(old)}')
    return max(16, int(float(found[1]) * (1024 if found[2].upper() == "G" else 1)))


def _script(text: str) -> str:
    """A script of the task's own. One whose lines all end with a carriage return was checked out so: no shell takes
    them for anything but a part of its words."""
    is_checked_out_so = "\r\n" in text and text.count("\r\n") == text.count("\n")
    return text.replace("\r\n", "\n") if is_checked_out_so else text


def _texts(task: Path, name: str) -> dict[str, str]:
    """Every file below a folder of the task's own."""
    files = {}
    folder = task / name
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_file() and "__pycache__" not in path.parts:
            text = text_of(inside(task, path.relative_to(task).as_posix()))
            files[name] = _script(text) if name.endswith(".sh") else text
    return files


FAMILY = Family(
    name="harbor",
    needs="a folder with task.toml, or of such folders",
    fits=lambda _: False,  # a folder is no row: see `recognised`
    read=read,
)
