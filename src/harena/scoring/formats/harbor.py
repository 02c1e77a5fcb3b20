"""Harbor task directories: one task, or a folder of them.

    task/  instruction.md  task.toml  environment/Dockerfile  tests/test.sh ...  solution/solve.sh

A candidate is a shell script that stands for what an agent did; the task's own is the oracle, which must score 1, and
doing nothing must score 0. The environment is an image: `docker_image`, or what a job builds of the Dockerfile. Where
nobody builds it (a blueprint comes in its place, or the scenario is scored without a job), what of the Dockerfile a
sandbox can be given is carried out in the image that FROM names (`dockerfile`); what that cannot give must be in the
blueprint, and the task's note lists it.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from harena.core.checked import MOST_CORES
from harena.core.default_image import is_default
from harena.core.errors import ValidationError
from harena.core.network_policy import NO_NETWORK, OPEN_NETWORK, NetworkPolicy, read_policy
from harena.core.profiles import PROFILES
from harena.core.task_archives import configuration_of
from harena.scoring.contracts.harbor import TEST_SCRIPT, HarborContract, is_of_system
from harena.scoring.formats.compose import ComposeTask, compose_file, read_compose
from harena.scoring.formats.dockerfile import DOCKERFILE, Environment, inside, read_dockerfile, text_of
from harena.scoring.formats.rows import FieldError, Row, shown
from harena.scoring.formats.task import Task, made
from harena.scoring.formats.task_files import ENCODED, SOLUTION_ENTRY, files_of, script_of, with_binaries
from harena.scoring.formats.task_images import BuildFields, image_build
from harena.scoring.formats.terminal_bench import CONFIGURATION as TASK_YAML
from harena.scoring.formats.terminal_bench import read_task_yaml
from harena.scoring.reach import NOTHING_SAID, PhasePolicies
from harena.scoring.scenario import ScenarioBuild, ScenarioLimits
from harena.scoring.scorers.languages import IDLE_SCRIPT

CONFIGURATION = "task.toml"

_SOLUTION = "solution/solve.sh"
_VERSIONS = ("1.0", "1.1", "1.2", "1.3", "1.4")
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([MG])i?B?", re.IGNORECASE)
_NETWORKS = {"public": "open", "no-network": "none", "allowlist": ""}
_BUILD_MB = 2048
"""memory of a build, with the files that it writes, at least"""
_MOST_CONFIGURATION = 64 * 1024
"""characters: Python's reader takes time that grows with the square of a key"""
_HOST_VARIABLE = re.compile(r"\$\{(\w+)(?::-([^}]*))?\}")


def read(row: Row) -> Task:
    """One directory, with what links in it lead to, as long as that is in it, too. Raises FieldError."""
    folder = row.folder
    if folder is None:
        raise FieldError("", "is no task directory: these are read from a folder on this machine, never from a row")
    try:
        return read_task_yaml(folder) if configuration_of(folder) == TASK_YAML else _read(folder)
    except ValidationError:  # which says where
        raise
    except RecursionError:
        raise FieldError("", "what it holds lies too deep, lists within lists: write it flat") from None
    except (ValueError, OverflowError) as error:  # a number of 5000 digits, a name with a NUL
        raise FieldError("", f"cannot be read: {error}") from None
    except OSError as error:  # a name that no file has
        raise FieldError("", f"cannot be read: {error.strerror or error}") from None


def _read(folder: Path) -> Task:
    config = _config(folder)
    _refuse_what_is_not_carried_out(config)
    for name in ("instruction.md", f"tests/{TEST_SCRIPT}"):
        if not (folder / name).is_file():
            raise FieldError("", f"the task has no {name}")
    environment, verifier = _table(config, "environment"), _table(config, "verifier")
    image = environment.get("docker_image")
    if image is not None and (not isinstance(image, str) or not image.strip()):
        raise FieldError("environment.docker_image", f"must be the name of an image, not {shown(image)}")
    has_solution = (folder / _SOLUTION).is_file()
    tests, binary_tests = files_of(folder, "tests")
    script = script_of(text_of(inside(folder, _SOLUTION))) if has_solution else None
    beside, binaries = files_of(folder, "solution") if has_solution else ({}, {})
    solution = with_binaries(script, binaries) if script is not None else None
    solution_files = {**beside, **{f"{name}{ENCODED}": text for name, text in binaries.items()}}
    everywhere = {
        "type": "harbor",
        "gold": {**solution_files, SOLUTION_ENTRY: solution} if solution is not None else {},
        "working_places": _working_places(config),
        "solution_env": _variables(_table(config, "solution"), "solution"),
        "tests": tests,
        "binary_tests": binary_tests,
        "verifier_env": _variables(verifier, "verifier"),
        "timeout_seconds": _seconds(_table(config, "agent"), "agent"),
        "verifier_timeout_seconds": _seconds(verifier, "verifier") or 600.0,
        "keep_processes": _keeps_processes(config),
    }
    in_image = {
        **everywhere,
        "workdir": environment.get("workdir") or "/app",
        "in_workdir_of_image": not environment.get("workdir"),
        "env": _variables(environment, "environment"),
        "user": _user(_table(config, "agent"), "agent"),
        "verifier_user": _user(verifier, "verifier"),
        "profile": _profile(config),
    }
    networks = PhasePolicies.said(_network(config, "agent"), _network(config, "verifier"))
    note, build = "the verifier runs in what the candidate left", None
    file = compose_file(folder / "environment")
    container = None if image is not None or file is None else read_compose(folder, file, {})
    if container is not None:
        in_image = _with_container(in_image, container, environment)
        image = container.image
        networks = NOTHING_SAID if container.has_no_network else networks
    if image is not None:  # it is what the Dockerfile makes
        contract: HarborContract = made(HarborContract, "", **in_image)
    elif container is not None and container.context is not None and container.dockerfile is not None:
        contract = made(HarborContract, "", **in_image)
        said = BuildFields(
            context=container.context,
            dockerfile=container.dockerfile,
            arguments=container.arguments,
            target=container.target,
            timeout_seconds=_seconds_of(environment, "build_timeout_sec", "environment") or 600.0,
            memory_mb=max(_BUILD_MB, _megabytes(environment, "memory") or 0),
        )
        why = "its docker-compose file says how it is built"
        build = ScenarioBuild(image=image_build(folder, said), scoring=contract, networks=networks, required=why)
        image = build.image.reference
    elif (folder / DOCKERFILE).is_file():
        contract, image, build, note = _of_dockerfile(folder, config, everywhere, in_image, networks)
        if build is None or not build.required:
            networks = NOTHING_SAID  # scored without the build, it is carried out where there is no network
    else:
        raise FieldError("environment.docker_image", "is required where there is no environment/Dockerfile")
    return Task(
        id=folder.resolve().name,
        statement=text_of(inside(folder, "instruction.md")).replace("\r\n", "\n"),
        contract=contract,
        solution=solution,
        solution_files=solution_files,
        idle=IDLE_SCRIPT,
        entry=SOLUTION_ENTRY,
        limits=_limits(environment),
        note=note,
        image=image,
        build=build,
        networks=networks,
    )


def _with_container(
    fields: Mapping[str, Any], container: ComposeTask, environment: Mapping[str, Any]
) -> dict[str, Any]:
    """What a docker-compose file says, as far as task.toml does not say it otherwise."""
    changes: dict[str, Any] = {"env": {**container.environment, **fields["env"]}}
    if container.workdir is not None and not environment.get("workdir"):
        changes |= {"workdir": container.workdir, "in_workdir_of_image": False}
    for name in ("user", "verifier_user"):
        changes[name] = fields[name] if fields[name] is not None else container.user
    return {**fields, **changes}


def _of_dockerfile(
    folder: Path,
    config: Mapping[str, Any],
    everywhere: Mapping[str, Any],
    in_image: Mapping[str, Any],
    networks: PhasePolicies,
) -> tuple[HarborContract, str | None, ScenarioBuild | None, str]:
    """(the contract without the build, the image that it needs then, the build, what has to be said of it)."""
    environment, verifier = _table(config, "environment"), _table(config, "verifier")
    try:
        built, why = read_dockerfile(folder), ""
        if environment.get("workdir") and any(path.startswith("./") for path in built.files):
            raise FieldError(DOCKERFILE, "copies to the image's WORKDIR, which is not known here")
        if any(table.get("user") not in (None, "root", 0) for table in (_table(config, "agent"), verifier)):
            raise FieldError("agent.user", "there is no other user than the image's or root")
    except FieldError as error:
        built, why = Environment(), str(error).removeprefix(": ")
    note = "the verifier runs in what the candidate left"
    build = None
    if why or built.image is None or not is_default(built.image) or built.needs_more_places:
        context = inside(folder, "environment")
        said = BuildFields(
            context=context,
            dockerfile=inside(folder, DOCKERFILE),
            timeout_seconds=_seconds_of(environment, "build_timeout_sec", "environment") or 600.0,
            memory_mb=max(_BUILD_MB, _megabytes(environment, "memory") or 0),
        )
        in_built: HarborContract = made(HarborContract, "", **in_image)
        build = ScenarioBuild(image=image_build(folder, said), scoring=in_built, networks=networks, required=why)
        if why:
            return in_built, build.image.reference, build, note
    asks_root = built.as_root or any(table.get("user") is not None for table in (_table(config, "agent"), verifier))
    contract: HarborContract = made(
        HarborContract,
        "",
        **everywhere,
        workdir=environment.get("workdir") or built.workdir or "/app",
        in_workdir_of_image=bool(built.image) and not (environment.get("workdir") or built.workdir),
        user="root" if asks_root else None,
        verifier_user="root" if asks_root else None,
        environment_files=built.files,
        environment_commands=built.commands,
        env={**built.env, **_variables(environment, "environment")},
    )
    return contract, built.image, build, "; ".join([note, *_needs(built)])


def _user(table: Mapping[str, Any], name: str) -> str | None:
    user = table.get("user")
    if user is None:
        return None
    if isinstance(user, bool) or not isinstance(user, str | int) or user == "":
        raise FieldError(f"{name}.user", f"must be a user's name or number, not {shown(user)}")
    return str(user)


def _profile(config: Mapping[str, Any]) -> str:
    """[metadata] profile, harena's own; Docker's containers are most like `machine`."""
    profile = _table(config, "metadata").get("profile", "machine")
    if profile not in PROFILES:
        raise FieldError("metadata.profile", f"must be one of {', '.join(PROFILES)}, not {shown(profile)}")
    return str(profile)


def _network(config: Mapping[str, Any], phase: str) -> NetworkPolicy:
    """What a phase may reach; a task that says nothing has no network."""
    environment, own = _table(config, "environment"), _table(config, phase)
    says = own if own.get("network_mode") is not None else environment
    place = phase if says is own else "environment"
    mode = says.get("network_mode")
    if mode is None:
        return OPEN_NETWORK if environment.get("allow_internet") is True else NO_NETWORK
    if mode not in _NETWORKS:
        raise FieldError(f"{place}.network_mode", f"must be one of {', '.join(_NETWORKS)}, not {shown(mode)}")
    hosts = says.get("allowed_hosts") or []
    if not isinstance(hosts, list) or not all(isinstance(host, str) and host and "," not in host for host in hosts):
        raise FieldError(f"{place}.allowed_hosts", f"must be a list of hosts, not {shown(hosts)}")
    if named := [host for host in hosts if host in _NETWORKS.values()]:  # modes, written in the wrong place
        raise FieldError(f"{place}.allowed_hosts", f"must be hosts; {shown(named[0])} is none")
    if mode != "allowlist":
        return read_policy(_NETWORKS[mode])
    try:
        return read_policy({"allow": hosts})
    except ValidationError as error:
        raise FieldError(f"{place}.allowed_hosts", str(error)) from None


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


def _needs(built: Environment) -> list[str]:
    if built.image is not None:
        return []
    left = ", ".join(built.left_to_blueprint)
    return [f"without a build, the blueprint must have: {left}"] if left else []


def _config(folder: Path) -> Mapping[str, Any]:
    import tomllib  # by those who have task directories

    text = text_of(inside(folder, CONFIGURATION))
    if len(text) > _MOST_CONFIGURATION:
        raise FieldError("", f"{CONFIGURATION} has more than {_MOST_CONFIGURATION} characters")
    try:
        config = tomllib.loads(text)
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


def _keeps_processes(config: Mapping[str, Any]) -> bool:
    """[metadata] keep_processes: harena's own, for tasks that ask for a server."""
    value = _table(config, "metadata").get("keep_processes", False)
    if not isinstance(value, bool):
        raise FieldError("metadata.keep_processes", f"must be true or false, not {shown(value)}")
    return value


def _seconds(table: Mapping[str, Any], name: str) -> float | None:
    return _seconds_of(table, "timeout_sec", name)


def _seconds_of(table: Mapping[str, Any], field: str, name: str) -> float | None:
    value = table.get(field)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= 86_400:
        raise FieldError(f"{name}.{field}", f"must be more than 0 and at most 86400 (a day), not {shown(value)}")
    return float(value)


def _variables(table: Mapping[str, Any], name: str) -> dict[str, str]:
    """`env`; `${NAME:-default}` is its default, because nothing of the host enters a sandbox."""
    written = table.get("env", {})
    if not isinstance(written, Mapping) or not all(isinstance(value, str) for value in written.values()):
        raise FieldError(f"{name}.env", "must be a table of texts")
    filled = {}
    for key, value in written.items():
        end = value.rfind("}") + 1  # behind it is no variable, and each ${X:- would be looked through to the end
        for found in _HOST_VARIABLE.finditer(value, 0, end):
            if found[2] is None:
                message = f"${{{found[1]}}} would be this host's, which no sandbox sees; write the value, or a default"
                raise FieldError(f"{name}.env.{key}", message)
        filled[key] = _HOST_VARIABLE.sub(lambda found: found[2], value[:end]) + value[end:]
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
