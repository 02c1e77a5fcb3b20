"""Task directories of terminal-bench's first format.

task/  task.yaml  Dockerfile  docker-compose.yaml  run-tests.sh  tests/...  solution.sh (or solution.yaml)

The verdict of such a task is what its `run-tests.sh` prints and ends with; here its exit code is the reward, as in the
tasks that were moved to Harbor's format.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from harena.scoring.contracts.harbor import TEST_SCRIPT, HarborContract
from harena.scoring.formats.compose import ComposeTask, compose_file, read_compose
from harena.scoring.formats.dockerfile import inside, text_of
from harena.scoring.formats.rows import FieldError, shown
from harena.scoring.formats.task import Task, made
from harena.scoring.formats.task_files import SOLUTION_ENTRY, files_of, script_of, with_binaries
from harena.scoring.formats.task_images import BuildFields, image_build
from harena.scoring.reading import read_yaml
from harena.scoring.scenario import ScenarioBuild
from harena.scoring.scorers.languages import IDLE_SCRIPT

CONFIGURATION = "task.yaml"
_RUN_TESTS = "run-tests.sh"
_REWARD = f"""\
bash /tests/{_RUN_TESTS}
if [ $? -eq 0 ]; then echo 1; else echo 0; fi > /logs/verifier/reward.txt
"""
_VARIABLES = {"T_BENCH_TEST_DIR": "/tests", "T_BENCH_CONTAINER_LOGS_PATH": "/logs/agent"}
_AGENT_SECONDS, _TEST_SECONDS = 360.0, 60.0
"""the format's own"""
_PARSERS = ("pytest", None)


def read_task_yaml(folder: Path) -> Task:
    """One directory. Raises FieldError."""
    config = read_yaml(text_of(inside(folder, CONFIGURATION)), CONFIGURATION).content
    if not isinstance(config, Mapping):
        raise FieldError("", f"must be a mapping, not {shown(config)}")
    instruction = config.get("instruction")
    if not isinstance(instruction, str) or not instruction.strip():
        raise FieldError("instruction", "is required")
    if config.get("parser_name") not in _PARSERS:
        raise FieldError(
            "parser_name", f"must be pytest, whose verdict is an exit code, not {shown(config['parser_name'])}"
        )
    if config.get("run_tests_in_same_shell"):
        raise FieldError("run_tests_in_same_shell", "the verifier has its own shell: say what it needs in run-tests.sh")
    if not (folder / _RUN_TESTS).is_file():
        raise FieldError("", f"the task has no {_RUN_TESTS}")
    file = compose_file(folder)
    if file is not None:
        container = read_compose(folder, file, _VARIABLES)
    elif (folder / "Dockerfile").is_file():
        container = ComposeTask(image=None, context=folder, dockerfile=inside(folder, "Dockerfile"))
    else:
        raise FieldError("", "the task has neither a Dockerfile nor a docker-compose.yaml")
    tests, binary_tests = files_of(folder, "tests") if (folder / "tests").is_dir() else ({}, {})
    if TEST_SCRIPT in tests or _RUN_TESTS in tests:
        raise FieldError("", f"tests/ may not hold {TEST_SCRIPT} or {_RUN_TESTS}, whose places are taken")
    solution = _solution(folder)
    contract: HarborContract = made(
        HarborContract,
        "",
        type="harbor",
        gold={} if solution is None else {SOLUTION_ENTRY: solution},
        workdir=container.workdir or "/app",
        in_workdir_of_image=container.workdir is None,
        env={"TEST_DIR": "/tests", **container.environment},
        user=container.user,
        verifier_user=container.user,
        profile="machine",
        tests={
            **tests,
            _RUN_TESTS: script_of(text_of(inside(folder, _RUN_TESTS))),
            TEST_SCRIPT: _REWARD,
        },
        binary_tests=binary_tests,
        timeout_seconds=_seconds(config, "max_agent_timeout_sec", _AGENT_SECONDS),
        verifier_timeout_seconds=_seconds(config, "max_test_timeout_sec", _TEST_SECONDS),
    )
    build = None
    if container.context is not None and container.dockerfile is not None:
        said = BuildFields(
            context=container.context,
            dockerfile=container.dockerfile,
            arguments=container.arguments,
            target=container.target,
            timeout_seconds=3600.0,
        )
        build = ScenarioBuild(
            image=image_build(folder, said), scoring=contract, required="task.yaml goes with a Dockerfile"
        )
    return Task(
        id=folder.resolve().name,
        statement=instruction.replace("\r\n", "\n"),
        contract=contract,
        solution=solution,
        idle=IDLE_SCRIPT,
        entry=SOLUTION_ENTRY,
        note="the verifier runs in what the candidate left",
        image=container.image if build is None else build.image.reference,
        build=build,
    )


def _solution(folder: Path) -> str | None:
    if (folder / "solution.sh").is_file():
        return with_binaries(script_of(text_of(inside(folder, "solution.sh"))), {})
    if not (folder / "solution.yaml").is_file():
        return None
    steps = read_yaml(text_of(inside(folder, "solution.yaml")), "solution.yaml").content
    if not isinstance(steps, list) or not steps:
        raise FieldError("solution.yaml", "must be a list of commands")
    lines = []
    for step in steps:
        command = step.get("command") if isinstance(step, Mapping) else step
        if not isinstance(command, str):
            raise FieldError("solution.yaml", f"a command must be a text, not {shown(command)}")
        if isinstance(step, Mapping) and step.get("append_enter") is False:
            raise FieldError("solution.yaml", f"{shown(command)} is a key for a terminal; write solution.sh")
        lines.append(command)
    return "\n".join(lines) + "\n"


def _seconds(config: Mapping[str, Any], name: str, default: float) -> float:
    value = config.get(name)
    if value is None:
        return default
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= 86_400:
        raise FieldError(name, f"must be more than 0 and at most 86400 (a day), not {shown(value)}")
    return float(value)
