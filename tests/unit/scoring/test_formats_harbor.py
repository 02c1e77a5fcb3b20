"""Harbor task directories, and what of a Dockerfile a sandbox can be given."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from data_set_rows import HARBOR, harbor_task, mistakes_of, only

from harena.core.errors import ValidationError
from harena.core.models import SandboxSpec
from harena.core.network_policy import NO_NETWORK, OPEN_NETWORK, policy_in_words
from harena.core.results import Trust
from harena.scoring import load_scenarios
from harena.scoring.calibration import Calibration
from harena.scoring.compact import policies_of
from harena.scoring.contracts.contract import HarborContract
from harena.scoring.formats import import_scenarios
from harena.scoring.formats.dockerfile import installs, read_dockerfile
from harena.scoring.places import place_of

PYPI = policy_in_words("pypi")


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
        ("[agent]\nuser = true", "agent.user", "must be a user's name or number, not True"),
        ("[metadata]\nprofile = 'god'", "metadata.profile", "must be one of strict, machine, not 'god'"),
        ("[environment]\nnetwork_mode = 'some'", "environment.network_mode", "must be one of public, no-network"),
        ("[verifier]\nnetwork_mode = 'allowlist'\nallowed_hosts = 'a'", "verifier.allowed_hosts", "a list of hosts"),
        ("[agent]\nnetwork_mode = 'allowlist'\nallowed_hosts = ['open']", "agent.allowed_hosts", "'open' is none"),
        ("[environment]\nbuild_timeout_sec = -1", "environment.build_timeout_sec", "must be more than 0"),
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
    ],
)
def test_each_wrong_file_is_named(tmp_path: Path, files: dict[str, Any], field: str, message: str) -> None:
    """With the line of a Dockerfile."""
    ((_, wrong, said),) = mistakes_of(harbor_task(tmp_path / "hello", **files))
    assert wrong == field
    assert message in said


@pytest.mark.parametrize(
    ("dockerfile", "line", "message"),
    [
        ("FROM a\nFROM b", "environment/Dockerfile:2", "several stages"),
        ("FROM a\nUSER me", "environment/Dockerfile:2", "or root in a sandbox"),
        ("COPY ../../x /y", "environment/Dockerfile:1", "leads out of the task's folder"),
        ("COPY none /y", "environment/Dockerfile:1", "none is not in"),
        ("ADD https://a.b/c /y", "environment/Dockerfile:1", "downloaded"),
        ("COPY --from=x a /y", "environment/Dockerfile:1", "several stages"),
        ("RUN <<EOF\nls\nEOF", "environment/Dockerfile:1", "here-documents"),
        ('\n# x\nSHELL ["x"]', "environment/Dockerfile:3", "SHELL is not carried out"),
        (
            "FROM a\nWORKDIR sub",
            "environment/Dockerfile:2",
            "begins at the image's WORKDIR",
        ),
        (
            "FROM a\nCOPY Dockerfile ../x",
            "environment/Dockerfile:2",
            "begins at the image's",
        ),
        (
            "FROM a\nCOPY --chown=me Dockerfile /x",
            "environment/Dockerfile:2",
            "not carried out",
        ),
        (
            "FROM a\nCOPY --chmod=600 Dockerfile /x",
            "environment/Dockerfile:2",
            "not carried out",
        ),
        ("RUN [1", "environment/Dockerfile:1", "is not a list of words"),
        ("ENV A='", "environment/Dockerfile:1", "cannot be read"),
    ],
)
def test_what_no_sandbox_can_be_given_needs_a_build(tmp_path: Path, dockerfile: str, line: str, message: str) -> None:
    """The reason stands with the build, with the line of the Dockerfile."""
    build = only(harbor_task(tmp_path / "hello", **{"environment/Dockerfile": dockerfile})).build
    assert build is not None
    assert build.required.startswith(f"{line}: ")
    assert message in build.required


def test_what_needs_a_build_is_scored_by_a_job_only(tmp_path: Path) -> None:
    """Nothing runs in an image of which a part is missing."""
    scenario = only(harbor_task(tmp_path / "hello", **{"environment/Dockerfile": "FROM a\nFROM b\n"}))
    with pytest.raises(ValidationError, match="has to be built of its Dockerfile, which benchmark jobs do"):
        place_of(scenario, SandboxSpec())


def test_files_that_are_no_text_come_in_base64(tmp_path: Path) -> None:
    """Those of the verifier in the contract, those of the oracle with lines that unpack them."""
    folder = harbor_task(tmp_path / "hello")
    for name in ("tests", "solution"):
        (folder / name / "more.bin").write_bytes(b"\xff\xfe\x00")
    scenario = only(folder)
    assert contract_of(folder).binary_tests == {"more.bin": "//4A"}
    assert scenario.candidate.files["more.bin.base64"] == "//4A"
    assert "base64 -d < /solution/more.bin.base64 > /solution/more.bin\n" in scenario.candidate.source
    (folder / "environment" / "more.bin").write_bytes(b"\xff\xfe\x00")
    (folder / "environment" / "Dockerfile").write_text("FROM a\nCOPY more.bin /x\n")
    build = only(folder).build
    assert build is not None
    assert "more.bin is not UTF-8 text" in build.required


def test_a_build_is_named_by_what_it_is_built_of(tmp_path: Path) -> None:
    """Dockerfile, names, modes and contents; not by the folder's name, nor by times."""
    dockerfile = {"environment/Dockerfile": "FROM a\nFROM b\n"}

    def digest(name: str, **files: str) -> str:
        build = only(harbor_task(tmp_path / name, **{**dockerfile, **files})).build
        assert build is not None
        registry, _, digest = build.image.reference.partition(":")
        assert registry == f"localhost/harbor/{name.lower()}"
        return digest

    first = digest("One")
    assert digest("two", **{"instruction.md": "other\n"}) == first
    assert digest("three", **{"environment/new.txt": "x"}) != first
    assert digest("four", **{"environment/Dockerfile": "FROM a\nFROM c\n"}) != first
    place = harbor_task(tmp_path / "five", **dockerfile)
    (place / "environment/start.txt").chmod(0o600)
    build = only(place).build
    assert build is not None
    assert not build.image.reference.endswith(first)


@pytest.mark.parametrize(
    ("toml", "agent", "verifier"),
    [
        ("", "none", "none"),
        ("[environment]\nallow_internet = true", "open", "open"),
        ("[environment]\nallow_internet = false", "none", "none"),
        ("[environment]\nnetwork_mode = 'public'\n[agent]\nnetwork_mode = 'no-network'", "none", "open"),
        ("[verifier]\nnetwork_mode = 'allowlist'\nallowed_hosts = ['pypi.org', '*.a.org']", "none", "pypi.org,*.a.org"),
        ("[environment]\nnetwork_mode = 'allowlist'\nallowed_hosts = ['192.0.2.0/24']", "192.0.2.0/24", "192.0.2.0/24"),
    ],
)
def test_each_phase_has_the_network_that_the_task_names(tmp_path: Path, toml: str, agent: str, verifier: str) -> None:
    files = {"task.toml": f'version = "1.0"\n{toml}\n', "environment/Dockerfile": "FROM a\nFROM b\n"}
    folder = harbor_task(tmp_path / "hello", **files)
    scenario, contract = only(folder), contract_of(folder)
    assert contract.profile == "machine"
    said = policy_in_words(agent), policy_in_words(verifier)
    assert (scenario.network or NO_NETWORK, scenario.verifier_network) == said
    assert policies_of(scenario) == {*said} - {NO_NETWORK}
    assert scenario.build is not None
    assert scenario.in_built("x").network == scenario.network


def test_a_network_is_that_of_the_image_which_is_built(tmp_path: Path) -> None:
    """What of a Dockerfile is carried out without a build runs without a network, as it always has."""
    files = {"task.toml": "[environment]\nallow_internet = true\n", "environment/Dockerfile": "FROM a\n"}
    scenario = only(harbor_task(tmp_path / "hello", **files))
    assert (scenario.network, scenario.verifier_network) == (None, NO_NETWORK)
    assert policies_of(scenario) == {OPEN_NETWORK}
    built = scenario.in_built("x")
    assert (built.network, built.verifier_network) == (OPEN_NETWORK, OPEN_NETWORK)
    told = scenario.with_network("pypi")
    assert (told.network, told.verifier_network) == (PYPI, PYPI)


def test_a_calibration_reaches_what_its_task_says(tmp_path: Path) -> None:
    """Otherwise the right solution of a task that needs a network would fail."""
    toml = "[agent]\nnetwork_mode = 'allowlist'\nallowed_hosts = ['pypi']\n[environment]\ndocker_image = 'a'\n"
    folder = harbor_task(tmp_path / "hello", **{"task.toml": toml, "environment/Dockerfile": None})
    row = Calibration(import_scenarios(folder), gold_runs=2).rows[0]
    made = load_scenarios([row]).scenarios[0]
    assert (made.network, made.verifier_network) == (PYPI, NO_NETWORK)


def test_users_are_those_that_the_task_names(tmp_path: Path) -> None:
    files = {"task.toml": '[agent]\nuser = "me"\n[verifier]\nuser = 1000\n'}
    contract = contract_of(harbor_task(tmp_path / "hello", **files))
    assert (contract.user, contract.verifier_user) == ("me", "1000")


COMPOSE = "environment/docker-compose.yaml"
ONE = """\
services:
  main:
    build: {context: ., dockerfile: Dockerfile, args: [A=1, "B=${X:-2}"], target: last}
    image: ${MAIN_IMAGE_NAME}
    command: [sleep, infinity]
    environment: {MODE: run, COUNT: 3, ON: true}
    working_dir: /srv
    user: "1000:1000"
    network_mode: none
    volumes: ["${HOST_VERIFIER_LOGS_PATH}:/logs/verifier", "named:/data"]
"""


def test_a_compose_file_of_one_service_is_read(tmp_path: Path) -> None:
    """What task.toml says goes before."""
    folder = harbor_task(tmp_path / "hello", **{COMPOSE: ONE})
    scenario, contract = only(folder), contract_of(folder)
    assert scenario.build is not None
    image = scenario.build.image
    assert (dict(image.arguments), image.target, image.context.name) == ({"A": "1", "B": "2"}, "last", "environment")
    assert contract.env == {"MODE": "run", "COUNT": "3", "ON": "true"}
    assert (contract.workdir, contract.user, scenario.network) == ("/srv", "1000:1000", None)


@pytest.mark.parametrize(
    ("text", "field", "message"),
    [
        ("services: {a: {image: x}, b: {image: y}}", "services", "a, b: a task of several containers"),
        ("services: {a: {build: ., privileged: true}}", "a.privileged", "is not carried out"),
        ("services: {a: {build: ., volumes: ['/etc:/x']}}", "a.volumes", "a folder of the host"),
        ("services: {a: {build: ., volumes: ['./data:/x']}}", "a.volumes", "a folder of the host"),
        ("services: {a: {build: https://x.y/z}}", "a.build.context", "would have to be downloaded"),
        ("services: {a: {build: ../../..}}", "services", "leads out of the task's folder"),
        ("services: {a: {build: {context: ., ssh: default}}}", "a.build.ssh", "is not carried out"),
        ("services: {a: {build: {dockerfile: None}}}", "a.build.dockerfile", "is not in environment"),
        ("services: []", "services", "must be a mapping"),
    ],
)
def test_each_compose_file_that_one_sandbox_cannot_be_is_refused(
    tmp_path: Path, text: str, field: str, message: str
) -> None:
    [(_, wrong, said)] = mistakes_of(harbor_task(tmp_path / "hello", **{COMPOSE: text}))
    assert wrong == f"docker-compose.yaml: {field}"
    assert message in said


def first_format(folder: Path, **changes: str | None) -> Path:
    """A directory of terminal-bench's first format."""
    files: dict[str, str | None] = {
        "task.yaml": "instruction: |-\n  Do it.\nparser_name: pytest\nmax_agent_timeout_sec: 90.0\n",
        "Dockerfile": "FROM a\n",
        "docker-compose.yaml": "services:\n  client:\n    build: {dockerfile: Dockerfile}\n    environment:\n"
        "      - TEST_DIR=${T_BENCH_TEST_DIR}\n"
        "    volumes:\n      - ${T_BENCH_TASK_LOGS_PATH}:${T_BENCH_CONTAINER_LOGS_PATH}\n",
        "run-tests.sh": "pytest $TEST_DIR/test_outputs.py\n",
        "tests/test_outputs.py": "def test_x(): pass\n",
        "solution.sh": "echo\n",
        **changes,
    }
    for path, text in files.items():
        if text is not None:
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text)
    return folder


def test_the_first_format_of_terminal_bench_is_read(tmp_path: Path) -> None:
    folder = first_format(tmp_path / "old")
    scenario, contract = only(folder), contract_of(folder)
    assert (scenario.id, scenario.statement, scenario.candidate.source) == ("old/oracle", "Do it.", "echo\n")
    assert scenario.build is not None
    assert scenario.build.image.context == folder
    assert (contract.timeout_seconds, contract.verifier_timeout_seconds) == (90.0, 60.0)
    assert contract.tests.keys() == {"test.sh", "run-tests.sh", "test_outputs.py"}
    assert contract.env == {"TEST_DIR": "/tests"}


def test_commands_of_a_solution_become_a_script(tmp_path: Path) -> None:
    steps = "- command: cd /app\n  min_timeout_sec: 1\n- command: |-\n    cat > x <<E\n    1\n    E\n"
    folder = first_format(tmp_path / "old", **{"solution.sh": None, "solution.yaml": steps})
    assert only(folder).candidate.source == "cd /app\ncat > x <<E\n1\nE\n"


@pytest.mark.parametrize(
    ("changes", "field", "message"),
    [
        ({"task.yaml": "instruction: x\nparser_name: swebench\n"}, "parser_name", "must be pytest"),
        ({"task.yaml": "instruction: x\nrun_tests_in_same_shell: true\n"}, "run_tests_in_same_shell", "its own shell"),
        ({"task.yaml": "parser_name: pytest\n"}, "instruction", "is required"),
        ({"run-tests.sh": None}, "", "the task has no run-tests.sh"),
        ({"Dockerfile": None, "docker-compose.yaml": None}, "", "neither a Dockerfile nor"),
        ({"solution.sh": None, "solution.yaml": "- {command: q, append_enter: false}\n"}, "solution.yaml", "a key for"),
    ],
)
def test_each_mistake_of_the_first_format_is_named(
    tmp_path: Path, changes: dict[str, str | None], field: str, message: str
) -> None:
    [(_, wrong, said)] = mistakes_of(first_format(tmp_path / "old", **changes))
    assert wrong == field
    assert message in said


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
    if name in ("environment/first.txt", "environment/words/first.txt"):  # a build has it as the link that it is
        build = only(task).build
        assert build is not None
        message = build.required
    else:
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
