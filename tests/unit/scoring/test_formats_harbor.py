"""Harbor task directories, and what of a Dockerfile a sandbox can be given."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from data_set_rows import HARBOR, harbor_task, mistakes_of, only

from harena.core.results import Trust
from harena.scoring.contracts.contract import HarborContract
from harena.scoring.formats import import_scenarios
from harena.scoring.formats.dockerfile import installs, read_dockerfile


def contract_of(folder: Path) -> HarborContract:
    contract = only(folder).scoring
    assert isinstance(contract, HarborContract)
    return contract


def test_a_task_directory_becomes_a_contract(tmp_path: Path) -> None:
    """Environment, limits, tests and times."""
    folder = harbor_task(tmp_path / "hello")
    scenario, contract = only(folder), contract_of(folder)
    assert contract.trust is Trust.SHARED
    assert (scenario.id, scenario.problem_id) == ("hello/oracle", "hello")
    files = {"solve.sh": HARBOR["solution/solve.sh"], "words/first.txt": "hello "}
    assert (scenario.candidate.files, scenario.candidate.entry) == (files, "solve.sh")
    assert scenario.statement == HARBOR["instruction.md"]
    assert (scenario.limits.cpu, scenario.limits.memory_mb, scenario.limits.disk_mb) == (1.0, 512, 1024)
    assert contract.workdir == "/app/work"
    assert contract.environment_files == {"/app/work/given/start.txt": "start\n"}
    assert contract.environment_commands == ("cd /app/work && echo prepared > prepared.txt",)
    assert contract.env == {"NAME": "world", "PATHS": "a b"}
    assert contract.verifier_env == {"WORD": "hello"}
    assert (contract.timeout_seconds, contract.verifier_timeout_seconds) == (20.0, 30.0)
    assert contract.tests.keys() == {"test.sh", "more/data.txt"}
    note = scenario.metadata["shared_because"]
    assert "FROM python:3.12-slim, RUN apt-get update && apt-get install -y" in note


def test_oracle_and_nop_have_known_verdicts(tmp_path: Path) -> None:
    """The second runs a script that does nothing, because the verifier must see that."""
    folder = harbor_task(tmp_path / "hello")
    oracle, nop = only(folder, candidates="oracle"), only(folder, candidates="nop")
    assert oracle.expected is not None
    assert oracle.expected.passed
    assert nop.expected is not None
    assert not nop.expected.passed
    assert nop.candidate.source.strip() == "true"


def test_a_folder_of_tasks_and_answers(tmp_path: Path) -> None:
    """By the names of their folders."""
    for name in ("b", "a"):
        harbor_task(tmp_path / "tasks" / name)
    batch = import_scenarios(tmp_path / "tasks", candidates=[{"task_id": "b", "solution": "echo"}])
    assert (batch.form, [scenario.id for scenario in batch.scenarios]) == ("harbor", ["b/1"])
    assert [scenario.id for scenario in import_scenarios(tmp_path / "tasks").scenarios] == ["a/oracle", "b/oracle"]
    assert import_scenarios(tmp_path / "tasks", form="harbor").form == "harbor"


def test_an_image_in_place_of_a_dockerfile(tmp_path: Path) -> None:
    """The task's candidates run in it, where it says; sizes of old versions are read."""
    toml = 'version = "1.0"\n[environment]\ndocker_image = "a/b:c"\nworkdir = "/srv"\nmemory = "2G"\nstorage = "100M"\n'
    folder = harbor_task(tmp_path / "hello", **{"task.toml": toml, "environment/Dockerfile": None})
    scenario = only(folder)
    assert scenario.image == "a/b:c"
    assert "the blueprint must have" not in scenario.metadata["shared_because"]
    assert (scenario.limits.memory_mb, scenario.limits.disk_mb) == (2048, 100)
    assert contract_of(folder).workdir == "/srv"


@pytest.mark.parametrize(
    ("toml", "field", "message"),
    [
        ("[environment", "", "not TOML"),
        ('schema_version = "9"', "schema_version", "must be one of 1.0"),
        ("environment = 3", "environment", "must be a table, not 3"),
        ("[[steps]]\nname = 'x'", "steps", "split it"),
        ("[verifier]\nenvironment_mode = 'separate'", "verifier.environment_mode", "is not carried out"),
        ("[[verifier.collect]]\ncommand = 'x'", "verifier.collect", "is not carried out"),
        ("[environment]\nos = 'windows'", "environment.os", "sandboxes are linux, not 'windows'"),
        ("[environment]\ngpus = 1", "environment.gpus", "no accelerators"),
        ("[[environment.mcp_servers]]\nname = 'x'", "environment.mcp_servers", "is not carried out"),
        ("[agent]\nuser = 'me'", "agent.user", "root in a sandbox, not 'me'"),
        ("[agent]\ntimeout_sec = 0", "agent.timeout_sec", "must be more than 0"),
        ("[verifier]\nenv = { KEY = '${SECRET}' }", "verifier.env.KEY", "write the value, or a default"),
        ("[solution]\nenv = { KEY = 3 }", "solution.env", "must be a table of texts"),
        ("[environment]\ncpus = '2'", "environment.cpus", "must be a number"),
        ("[environment]\ncpus = 1e9", "environment.cpus", "at most 4096, not 1000000000.0"),
        ("[environment]\nmemory_mb = 1", "environment.memory_mb", "at least 16, not 1"),
        ("[environment]\nmemory = 'much'", "environment.memory", 'must be a size, as "2G"'),
        ("[metadata]\nkeep_processes = 1", "metadata.keep_processes", "must be true or false"),
    ],
)
def test_each_wrong_setting_is_named(tmp_path: Path, toml: str, field: str, message: str) -> None:
    """With its file; what would change the verdict and is not there is refused."""
    folder = harbor_task(tmp_path / "hello", **{"task.toml": toml})
    with pytest.raises(Exception, match=r"task\.toml"):
        import_scenarios(folder)
    ((line, wrong, said),) = mistakes_of(folder)
    assert (line, wrong) == (None, field)
    assert message in said


@pytest.mark.parametrize(
    ("files", "field", "message"),
    [
        ({"instruction.md": None}, "", "the task has no instruction.md"),
        ({"tests/test.sh": None}, "", "the task has no tests/test.sh"),
        ({"environment/Dockerfile": None}, "environment.docker_image", "is required where there is no"),
        ({"solution/solve.sh": None}, "", "holds no solution of its own"),
        ({"environment/Dockerfile": "FROM a\nFROM b"}, "environment/Dockerfile:2", "several stages"),
        ({"environment/Dockerfile": "FROM a\nUSER me"}, "environment/Dockerfile:2", "or root in a sandbox"),
        ({"environment/Dockerfile": "COPY ../../x /y"}, "environment/Dockerfile:1", "leads out of the task's folder"),
        ({"environment/Dockerfile": "COPY none /y"}, "environment/Dockerfile:1", "none is not in"),
        ({"environment/Dockerfile": "ADD https://a.b/c /y"}, "environment/Dockerfile:1", "downloaded"),
        ({"environment/Dockerfile": "COPY --from=x a /y"}, "environment/Dockerfile:1", "several stages"),
        ({"environment/Dockerfile": "RUN <<EOF\nls\nEOF"}, "environment/Dockerfile:1", "here-documents"),
        ({"environment/Dockerfile": '\n# x\nSHELL ["x"]'}, "environment/Dockerfile:3", "SHELL is not carried out"),
        (
            {"environment/Dockerfile": "FROM a\nWORKDIR sub"},
            "environment/Dockerfile:2",
            "begins at the image's WORKDIR",
        ),
        (
            {"environment/Dockerfile": "FROM a\nCOPY Dockerfile ../x"},
            "environment/Dockerfile:2",
            "begins at the image's",
        ),
        (
            {"environment/Dockerfile": "FROM a\nCOPY --chown=me Dockerfile /x"},
            "environment/Dockerfile:2",
            "not carried out",
        ),
        (
            {"environment/Dockerfile": "FROM a\nCOPY --chmod=600 Dockerfile /x"},
            "environment/Dockerfile:2",
            "not carried out",
        ),
        ({"environment/Dockerfile": "RUN [1"}, "environment/Dockerfile:1", "is not a list of words"),
        ({"environment/Dockerfile": "ENV A='"}, "environment/Dockerfile:1", "cannot be read"),
    ],
)
def test_each_wrong_file_is_named(tmp_path: Path, files: dict[str, Any], field: str, message: str) -> None:
    """With the line of a Dockerfile."""
    ((_, wrong, said),) = mistakes_of(harbor_task(tmp_path / "hello", **files))
    assert wrong == field
    assert message in said


def test_files_that_are_no_text_are_named(tmp_path: Path) -> None:
    """They must come from the blueprint."""
    folder = harbor_task(tmp_path / "hello")
    (folder / "tests" / "more.bin").write_bytes(b"\xff\xfe\x00")
    assert "more.bin is not UTF-8 text" in mistakes_of(folder)[0][2]


def test_a_folder_without_tasks_is_said_to_be_one(tmp_path: Path) -> None:
    """Instead of an empty job."""
    assert "there is no task.toml" in mistakes_of(tmp_path)[0][2]


def dockerfile(task: Path, text: str) -> Path:
    (task / "environment").mkdir(exist_ok=True)
    (task / "environment" / "Dockerfile").write_text(text)
    return task


def test_a_dockerfile_is_read_instruction_by_instruction(tmp_path: Path) -> None:
    """Working directories, variables, folders, continued lines and lists of words."""
    context = tmp_path / "environment"
    (context / "src" / "deep").mkdir(parents=True)
    (context / "src" / "deep" / "a.txt").write_text("a")
    (context / "b.txt").write_text("b")
    made = read_dockerfile(
        dockerfile(
            tmp_path,
            'FROM x\nARG V=1\nENV A=${V}2 B="c d"\nENV OLD a b\nWORKDIR /w\nWORKDIR sub\nCOPY src ./here\n'
            'COPY b.txt .\nCOPY ["b.txt", "/etc/c.txt"]\nRUN ["echo", "a b"]\nRUN echo \\\n  $A\nEXPOSE 80\n',
        )
    )
    assert made.env == {"A": "12", "B": "c d", "OLD": "a b"}
    assert made.workdir == "/w/sub"
    assert made.files == {"/w/sub/here/deep/a.txt": "a", "/w/sub/b.txt": "b", "/etc/c.txt": "b"}
    assert made.commands == ["cd /w/sub && echo 'a b'", "cd /w/sub && echo    $A"]
    assert made.left_to_blueprint == ["FROM x"]


@pytest.mark.parametrize(
    ("command", "is_install"),
    [
        ("apt-get update && apt-get install -y curl && rm -rf /var/lib/apt/lists/*", True),
        ("DEBIAN_FRONTEND=noninteractive apt-get install -y git", True),
        ("python3 -m pip install numpy", True),
        ("pip install numpy; python make.py", False),
        ("rm -rf /x", False),
        ("echo hi", False),
    ],
)
def test_what_package_managers_do_is_left_to_the_blueprint(command: str, is_install: bool) -> None:
    """Only where nothing else is done in the same line."""
    assert installs(command) is is_install


@pytest.mark.parametrize(
    "name",
    [
        "task.toml",
        "instruction.md",
        "environment/Dockerfile",
        "environment/first.txt",
        "environment/words/first.txt",
        "tests/test.sh",
        "tests/more.txt",
        "solution/solve.sh",
        "solution/more.txt",
    ],
)
def test_a_file_outside_of_the_folder_is_not_read_through_a_link(tmp_path: Path, name: str) -> None:
    """Whoever runs a task that somebody else made gives away none of their own files."""
    copies = {"environment/Dockerfile": "FROM x\nCOPY first.txt /a\nCOPY words /b\n", "environment/first.txt": "x",
              "environment/words/first.txt": "x", "tests/more.txt": "x", "solution/more.txt": "x"}  # fmt: skip
    task = harbor_task(tmp_path / "task", **copies)
    secret = tmp_path / "secret"
    secret.write_text((task / name).read_text())
    assert only(task)
    (task / name).unlink()
    (task / name).symlink_to(secret)
    [(_, _, message)] = mistakes_of(task)
    assert "leads out" in message


@pytest.mark.parametrize("form", [None, "harbor"])
def test_a_row_names_no_folder(tmp_path: Path, form: str | None) -> None:
    """Rows may come from anybody; a folder is what the user of this process has named."""
    task = harbor_task(tmp_path / "task")
    assert only(task)
    for row in ({"task_directory": str(task)}, {"folder": str(task)}, {"path": str(task), "task_directory": str(task)}):
        [(_, _, message)] = mistakes_of([row], form=form)
        assert ("never from a row" if form else "no data format is like this") in message


@pytest.mark.parametrize(
    ("dockerfile", "files"),
    [
        ("FROM a\nCOPY one.txt ./\nCOPY one.txt sub/\n", {"./one.txt", "./sub/one.txt"}),
        ("FROM a\nCOPY one.txt two.txt .\n", {"./one.txt", "./two.txt"}),
        ("FROM a\nCOPY one.txt d/a\nCOPY two.txt d\n", {"./d/a", "./d/two.txt"}),
        ("FROM a\nWORKDIR /w\nCOPY one.txt ./\n", {"/w/one.txt"}),
        ("FROM a\nWORKDIR /w\nWORKDIR sub\nCOPY one.txt ./\n", {"/w/sub/one.txt"}),
        ("FROM a\nRUN apt-get update\nCOPY one.txt ./\n", {"/one.txt"}),
        ("FROM scratch\nCOPY one.txt ./\n", {"/one.txt"}),
    ],
)
def test_files_are_copied_to_where_the_image_works(tmp_path: Path, dockerfile: str, files: set[str]) -> None:
    """`./`: what that is, the sandbox says."""
    copied = {"environment/one.txt": "1", "environment/two.txt": "2", "environment/Dockerfile": dockerfile}
    assert contract_of(harbor_task(tmp_path / "hello", **copied)).environment_files.keys() == files


def test_a_task_that_asks_for_root_says_so(tmp_path: Path) -> None:
    """In its Dockerfile, or in task.toml: an image may have another user."""
    assert contract_of(harbor_task(tmp_path / "none")).user is None
    dockerfile = {"environment/Dockerfile": "FROM a\nUSER root\nWORKDIR /app\n"}
    assert contract_of(harbor_task(tmp_path / "says", **dockerfile)).user == "root"
