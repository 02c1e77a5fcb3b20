"""Task directories whose Dockerfile does what Dockerfiles do: the task's own solution is paid, and doing nothing is
not."""

from __future__ import annotations

from pathlib import Path

import pytest
from battery_world import Source, scored_alone
from real_sandboxes import source

from harena.core.results import Validity
from harena.scoring.formats import import_scenarios
from harena.training.environments.tasks import task_of

__all__ = ["source"]  # a fixture
pytestmark = pytest.mark.asyncio(loop_scope="module")

END = '\nif [ "$r" = 1 ]; then echo 1; else echo 0; fi > /logs/verifier/reward.txt\n'
IS_42 = f'r=0; [ "$(cat /app/answer.txt)" = 42 ] && r=1{END}'
Files = dict[str, str]
TASKS: dict[str, tuple[str, str, str, Files]] = {
    # name: (Dockerfile after WORKDIR, test.sh, solve.sh, further files)
    "line ends of what is given": (
        "COPY a.txt /app/",
        f"r=1; grep -q $'\\r' /app/a.txt && r=0{END}",
        "sed -i 's/\\r$//' /app/a.txt",
        {"environment/a.txt": "one\r\ntwo\r\n"},
    ),
    "line ends that count": (
        "COPY a.txt /app/",
        f'r=0; [ "$(cat /app/n)" = 10 ] && r=1{END}',
        "wc -c < /app/a.txt > /app/n",
        {"environment/a.txt": "one\r\ntwo\r\n"},
    ),
    "line ends that are expected": (
        "",
        f"r=0; cmp -s /app/o.txt /tests/expected.txt && r=1{END}",
        "printf 'a\\r\\nb\\r\\n' > /app/o.txt",
        {"tests/expected.txt": "a\r\nb\r\n"},
    ),
    "scripts that were checked out with carriage returns": (
        "",
        IS_42.replace("\n", "\r\n"),
        "read n <<< 42\r\necho $n > answer.txt\r\n",
        {},
    ),
    "a folder before the image's": (
        'ENV PATH="/app/bin:$PATH"\nENV PATH=/app/more:${PATH}',
        IS_42,
        "mkdir bin; printf '#!/bin/sh\\necho 42\\n' > bin/answers; chmod +x bin/answers; answers > answer.txt",
        {},
    ),
    "a command that needs the image's path": (
        'ENV PATH="/app/bin:$PATH"\nRUN ls / > list', IS_42, "echo 42 > answer.txt", {}
    ),
    "a value in place of one": ("ENV P=${Q:-42}", IS_42, 'echo "$P" > answer.txt', {}),
    "a sign that is no variable": (
        "ENV P='$5' Q=\\$6", f"r=0; [ \"$(cat /app/p)\" = '$5$6' ] && r=1{END}", 'echo "$P$Q" > /app/p', {}
    ),
    "an argument of the build": ("ARG V=42\nRUN echo $V > made", IS_42, "cp made answer.txt", {}),
    "a file into the folder": ("COPY a.txt /app", IS_42, "cp a.txt answer.txt", {"environment/a.txt": "42\n"}),
    "a file over what a command made": (
        "RUN echo 41 > a.txt\nCOPY a.txt a.txt", IS_42, "cp a.txt answer.txt", {"environment/a.txt": "42\n"}
    ),
    "a command over what was copied": (
        "COPY a.txt a.txt\nRUN echo 42 > a.txt", IS_42, "cp a.txt answer.txt", {"environment/a.txt": "41\n"}
    ),
}  # fmt: skip


def made(folder: Path, name: str) -> Path:
    built, verifier, solution, more = TASKS[name]
    files = {
        "instruction.md": "Write the answer.\n",
        "task.toml": 'version = "1.0"\n',
        "environment/Dockerfile": f"FROM python\nWORKDIR /app\n{built}\n",
        "tests/test.sh": verifier,
        "solution/solve.sh": f"{solution}\n" if not solution.endswith("\n") else solution,
    }
    for path, text in {**files, **more}.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, newline="")
    return folder


@pytest.mark.parametrize("name", TASKS)
async def test_an_environment_is_what_its_dockerfile_says(source: Source, tmp_path: Path, name: str) -> None:
    """Of each, the solution had the lowest score, nobody had any, or doing nothing was paid."""
    task = made(tmp_path / "task", name)
    for who, score in (("oracle", 1.0), ("nop", 0.0)):
        (scenario,) = import_scenarios(str(task), candidates=who).scenarios
        result = await scored_alone(source, scenario, timeout_seconds=30)
        assert (who, result.score, result.validity) == (who, score, Validity.VALID), result.detail


async def test_files_of_a_task_keep_their_line_ends(tmp_path: Path) -> None:
    """In an environment of training, too."""
    (tmp_path / "environment").mkdir()
    (tmp_path / "environment" / "a.txt").write_text("one\r\ntwo\r", newline="")
    written = {"name": "t", "version": "1.0.0", "instruction": "Do it.", "files": "environment"}
    task = task_of({**written, "verification": {"method": "flag", "expected": "42"}}, folder=tmp_path)
    assert task.files == {"a.txt": "one\r\ntwo\r"}
