# ruff: noqa: E501 (programs are text, not code of ours)
"""Jobs build task directories of public shapes: of each the oracle has 1, and doing nothing 0."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from image_tasks import BASE, COMPILER, PYTEST
from test_server import started

import harena
from harbor_corpus import TASKS, HarborTask, checks
from harena.core.records.benchmark_jobs import BenchmarkJob, BenchmarkResults
from image_trees import put_modules, put_packages, put_python

HERE = [name for name, task in TASKS.items() if os.geteuid() == 0 or not task.needs_users]
USER = """\
FROM debian:12
ENV SITE=/srv/site
RUN echo dev:x:1000:1000::/home/dev:/bin/bash >> /etc/passwd && echo dev:x:1000: >> /etc/group \\
 && mkdir -p /home/dev && chown 1000:1000 /home/dev
"""


@pytest.fixture(scope="module", autouse=True)
def _images(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The images that tasks begin with, in a home of the module's own."""
    place = tmp_path_factory.mktemp("images")
    root = place / "root"
    put_packages(root, BASE)
    put_python(root)
    put_modules(root, PYTEST)
    for name in ("dev", "etc", "home", "mnt", "opt", "proc", "root", "run", "srv", "sys", "tmp"):
        (root / name).mkdir(exist_ok=True)
    (root / "tmp").chmod(0o1777)
    (root / "etc/passwd").write_text("root:x:0:0:root:/root:/bin/bash\nnobody:x:65534:65534:nobody:/:/bin/false\n")
    (root / "etc/group").write_text("root:x:0:\nnogroup:x:65534:\n")
    (root / "usr/bin/awk").exists() or (root / "usr/bin/awk").symlink_to("mawk")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HARENA_HOME", str(tmp_path_factory.mktemp("home")))
        for name in ("debian:12", "gcc:12"):
            if name == "gcc:12":
                put_packages(root, COMPILER)
                (root / "usr/bin/gcc").symlink_to("gcc-12")
            subprocess.run(["tar", "-C", root, "-cf", place / "root.tar", "."], check=True)
            harena.images.import_archive(name, place / "root.tar")
        (place / "user").mkdir()
        (place / "user/Dockerfile").write_text(USER)
        harena.images.build(place / "user", tags="ubuntu:24.04")
        yield


def begun(tasks: Path, who: str, **config: object) -> BenchmarkJob:
    """A job over a folder of tasks."""
    return harena.benchmark_jobs.create(name="tasks", scenarios=tasks, candidates=who, format="harbor", config=config)


def ran(tasks: Path, who: str, **config: object) -> BenchmarkResults:
    """What became of such a job."""
    return harena.benchmark_jobs.wait(begun(tasks, who, **config))


@pytest.mark.parametrize("name", HERE)
def test_the_oracle_has_1_and_doing_nothing_0(tmp_path: Path, name: str) -> None:
    TASKS[name].written(tmp_path / "tasks/one")
    jobs = {"oracle": begun(tmp_path / "tasks", "oracle"), "nop": begun(tmp_path / "tasks", "nop")}
    for who, score in (("oracle", 1.0), ("nop", 0.0)):
        (run,) = harena.benchmark_jobs.wait(jobs[who]).runs
        assert (who, run.score, run.validity) == (who, score, "valid"), run.detail


def test_what_cannot_be_built_is_told_of_its_task_and_the_others_run(tmp_path: Path) -> None:
    """A base image that is nowhere, and one that nobody makes: each names what to do."""
    right = HarborTask(
        dockerfile="FROM debian:12\nWORKDIR /opt/x\n", verifier=checks("[ -e /app/x ]"), solution="touch /app/x\n"
    )
    folder = tmp_path / "tasks"
    right.written(folder / "b-right")
    for name, dockerfile in {
        "a-nowhere": "FROM localhost:1/nowhere:1\nRUN <<E\nE\n",
        "c-fails": "FROM debian:12\nRUN echo no such thing >&2 && exit 3\nUSER nobody\n",
        "d-wrong": "FROM debian:12\nCOPY missing /x\nUSER nobody\n",
    }.items():
        HarborTask(dockerfile=dockerfile, verifier=right.verifier, solution=right.solution).written(folder / name)
    HarborTask(
        dockerfile="",
        toml='[environment]\ndocker_image = "localhost:1/other:2"\n',
        verifier="true\n",
        solution="true\n",
    ).written(folder / "e-image")
    results = ran(folder, "oracle", retry_attempts=0)
    assert results.state == "completed"
    told = {run.scenario_id.partition("/")[0]: run for run in results.runs}
    assert told.pop("b-right").score == 1.0
    assert {run.validity for run in told.values()} == {"infra"}
    for name, words in {
        "a-nowhere": ("localhost:1/nowhere:1", "harena image import"),
        "c-fails": ("Dockerfile line 2", "exit code 3", "no such thing"),
        "d-wrong": ("Dockerfile line 2", "missing"),
        "e-image": ("localhost:1/other:2", "harena image import"),
    }.items():
        for word in words:
            assert word in told[name].detail, told[name].detail


def test_tasks_of_one_dockerfile_are_built_once(tmp_path: Path) -> None:
    """Each run of each task has what RUN has drawn."""
    for name in ("a", "b"):
        HarborTask(
            dockerfile='FROM debian:12\nRUN cat /proc/sys/kernel/random/uuid > /srv/drawn\nSHELL ["/bin/bash", "-c"]\n',
            verifier="cp /srv/drawn /app/\n[ -s /srv/drawn ] && ok=1\n" + checks("cmp /srv/drawn /tmp/seen"),
            solution="cp /srv/drawn /tmp/seen\n",
        ).written(tmp_path / "tasks" / name)
    assert [run.score for run in ran(tmp_path / "tasks", "oracle", attempts=2).runs] == [1.0] * 4


def test_the_first_format_of_terminal_bench_is_run(tmp_path: Path) -> None:
    files = {
        "task.yaml": "instruction: Add.\nparser_name: pytest\n",
        "Dockerfile": "FROM debian:12\nWORKDIR /app\nCOPY stats.py ./\n",
        "docker-compose.yaml": "services:\n  client:\n    build: {dockerfile: Dockerfile}\n    image: ${T_BENCH_IMAGE}\n"
        '    command: ["sh", "-c", "sleep infinity"]\n    environment: ["TEST_DIR=${T_BENCH_TEST_DIR}"]\n'
        "    volumes: ['${T_BENCH_TASK_LOGS_PATH}:${T_BENCH_CONTAINER_LOGS_PATH}']\n",
        "stats.py": "def mean(values):\n    return 0\n",
        "run-tests.sh": "#!/bin/bash\nPYTHONPATH=/app python3 -m pytest $TEST_DIR/test_outputs.py -q -rA -p no:cacheprovider\n",
        "tests/test_outputs.py": "from stats import mean\ndef test_mean():\n    assert mean([1, 3]) == 2\n",
        "solution.yaml": "- command: |-\n    cat > stats.py <<END\n    def mean(v):\n        return sum(v) / len(v)\n    END\n",
    }
    for path, text in files.items():
        (tmp_path / "task" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "task" / path).write_text(text)
    assert [ran(tmp_path / "task", who).runs[0].score for who in ("oracle", "nop")] == [1.0, 0.0]


def test_a_blueprint_in_place_of_a_build_is_refused_where_nothing_else_is_possible(tmp_path: Path) -> None:
    TASKS["here-documents of RUN"].written(tmp_path / "task")
    harena.blueprints.create(name="own-place")
    with pytest.raises(harena.ValidationError, match=r"Dockerfile:2: here-documents are not read"):
        harena.benchmark_jobs.create(name="x", scenarios=tmp_path / "task", blueprint_id="own-place")


def test_an_image_whose_path_leads_nowhere_starts(tmp_path: Path) -> None:
    """Nothing that harena does before the first program needs a program of the image."""
    (tmp_path / "Dockerfile").write_text("FROM debian:12\nENV PATH=/nowhere\n")
    build = harena.images.build(tmp_path)
    with harena.Sandbox.run(container_image=build.image) as sandbox:
        assert sandbox.exec(["/bin/sh", "-c", "echo $PATH"]).result().stdout == "/nowhere\n"


def test_a_policy_of_builds_or_tasks_that_is_none_is_refused_with_the_request(tmp_path: Path) -> None:
    TASKS["here-documents of RUN"].written(tmp_path / "task")
    for field in ("build_network", "task_network"):
        with pytest.raises(harena.ValidationError, match=field):
            ran(tmp_path / "task", "oracle", **{field: "no such thing"})


@pytest.mark.skipif(os.geteuid() != 0, reason="sandboxes of an ordinary user have one user")
def test_a_blueprint_whose_user_is_not_root_can_work_where_the_task_does(tmp_path: Path) -> None:
    """Folders that the image lacks are made for the candidate, and what the Dockerfile runs is done as root does it."""
    (tmp_path / "user").mkdir()
    (tmp_path / "user/Dockerfile").write_text("FROM ubuntu:24.04\nUSER dev\n")
    image = harena.images.build(tmp_path / "user", tags="localhost/dev:1").image
    blueprint = harena.blueprints.create("dev", image=image)
    HarborTask(
        dockerfile="FROM debian:12\nWORKDIR /app\nRUN echo made > made && touch /etc/of-root\n",
        verifier=checks('[ "$(cat /app/made)" = more ] && [ -e /etc/of-root ]'),
        solution='[ "$(id -u)" = 1000 ] && echo more > made\n',
    ).written(tmp_path / "tasks/one")
    job = harena.benchmark_jobs.create(
        name="tasks", scenarios=tmp_path / "tasks", candidates="oracle", format="harbor", blueprint_id=blueprint.id
    )
    (run,) = harena.benchmark_jobs.wait(job).runs
    assert (run.score, run.detail, run.blueprint_digest) == (1.0, "", blueprint.digest)


def test_a_server_builds_and_scores_the_task_directories_of_a_client(tmp_path: Path) -> None:
    """The command sends them, the server builds what it needs and judges as an embedded node does; links within a task
    and rights of files come with it, and nothing of it is left when the jobs have ended."""
    folder = tmp_path / "tasks"
    task = HarborTask(
        dockerfile="FROM debian:12\nWORKDIR /app\nCOPY tool /usr/bin/tool\nCOPY linked /srv/linked\nUSER root\nRUN <<E\nE\n",
        verifier=checks('[ "$(tool)" = 42 ] && [ "$(cat /srv/linked)" = 42 ] && cmp -s /app/said /srv/linked'),
        solution="tool > /app/said\n",
    )
    environment = task.written(folder / "b-links") / "environment"
    (environment / "tool").write_text("#!/bin/sh\necho 42\n")
    (environment / "tool").chmod(0o755)
    (environment / "number").write_text("42\n")
    (environment / "linked").symlink_to("number")
    HarborTask(dockerfile="FROM debian:12\nRUN exit 3\nUSER nobody\n", verifier="true\n", solution="true\n").written(
        folder / "c-fails"
    )
    process, url = started()
    try:
        words = ("--scenarios", folder, "--format", "harbor", "--retry-attempts", "0")
        command = [sys.executable, "-m", "harena.cli.main", "benchmark", "run", *words, "--format", "json"]
        at_server = {**os.environ, "HARENA_BASE_URL": url}
        ended = subprocess.run(command, env=at_server, capture_output=True, text=True, check=False)
        assert ended.returncode == 0, ended.stderr
        runs = {run["scenario_id"].partition("/")[0]: run for run in json.loads(ended.stdout)["runs"]}
        assert {name: run["score"] for name, run in runs.items()} == {"b-links": 1.0, "c-fails": None}
        assert "Dockerfile line 2" in runs["c-fails"]["detail"]
    finally:
        process.terminate()
        process.communicate(timeout=60)
    assert [*Path(os.environ["HARENA_HOME"]).rglob("harena-tasks-*")] == []
