"""`harena` itself, and its smaller commands."""

import io
import json
import os
import subprocess
import sys
from concurrent.futures import CancelledError
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import typer
from fake_face import FakeJobs, Harena

from harena.cli import face
from harena.cli.app import command_line
from harena.cli.main import runs_a_job
from harena.core.errors import NotFoundError, ValidationError
from harena.core.records.blueprints import Blueprint, Package


def faced(monkeypatch: pytest.MonkeyPatch, **names: Any) -> None:
    """Give the face these names."""
    monkeypatch.setattr(face, "load", lambda: SimpleNamespace(**names))


def said_by(code: str) -> str:
    """What an interpreter of its own prints, which ends well and without a warning."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_help_loads_nothing_heavy() -> None:
    """The help text comes without a node, a database, a modelling library or a progress bar."""
    code = (
        "import sys\n"
        "from harena.cli.main import main\n"
        "main(['--help'])\n"
        "heavy = [m for m in ('sqlalchemy', 'pydantic', 'rich', 'harena.node') if m in sys.modules]\n"
        "sys.exit(' '.join(heavy) or 0)\n"
    )
    assert "benchmark" in said_by(code)


def test_a_group_loads_no_other_group() -> None:
    """Each command pays for its own parameters only, and its words are parsed without a node."""
    code = (
        "import sys\n"
        "from harena.cli.main import main\n"
        "main(['benchmark', 'run', '--help'])\n"
        "others = ('train', 'sft', 'scenario', 'keys', 'workspaces', 'registry', 'serve', 'sandbox')\n"
        "heavy = ['rich', 'sqlalchemy', 'yaml', 'harena.node', *(f'harena.cli.{name}' for name in others)]\n"
        "sys.exit(' '.join(name for name in heavy if name in sys.modules) or 0)\n"
    )
    assert "harena benchmark run" in said_by(code)


def test_a_command_ends_without_a_look_at_all_that_it_loaded() -> None:
    """The interpreter's last collections find nothing to look at, and what is registered to be closed is."""
    code = (
        "import atexit, gc, sys\n"
        "from harena.cli.main import run\n"
        "sys.argv = ['harena', 'version']\n"
        "atexit.register(lambda: print('closed', gc.get_freeze_count() > 1000, len(gc.get_objects()) < 1000))\n"
        "run()\n"
    )
    assert said_by(code).splitlines()[1:] == ["closed True True"]


@pytest.mark.parametrize("words", [["--help"], ["bogus"], []], ids=str)
def test_what_names_no_group_has_everything_to_choose_from(words: list[str]) -> None:
    """The help lists all of it, and a mistyped word is compared with all of it."""
    everything = command_line(words)
    assert {group.name for group in everything.registered_groups} >= {"benchmark", "train", "keys"}
    assert len(everything.registered_commands) > 4
    assert [group.name for group in command_line(["train", "bogus"]).registered_groups] == ["train"]


def commands_of(words: list[str]) -> dict[tuple[str, ...], list[str]]:
    """Path of each command that the parser for these words knows -> its options and arguments."""
    found: dict[tuple[str, ...], list[str]] = {}
    waiting: list[tuple[tuple[str, ...], Any]] = [((), typer.main.get_command(command_line(words)))]
    while waiting:
        path, command = waiting.pop()
        if below := getattr(command, "commands", None):
            waiting += [((*path, name), one) for name, one in below.items()]
        else:
            found[path] = [str(parameter.opts) for parameter in command.params]
    return found


def test_a_command_that_is_named_is_prepared_alone() -> None:
    """As it is among all others, which would take longer than its own parameters do."""
    everything = commands_of(["--help"])
    assert {("benchmark", "run"), ("benchmark", "def", "run"), ("push",), ("version",)} <= everything.keys()
    for path, parameters in everything.items():
        assert commands_of([*path, "--help"]) == {path: parameters}
    assert commands_of(["--version"]) == {("version",): []}
    assert commands_of(["benchmark", "bogus"]).keys() == {path for path in everything if path[0] == "benchmark"}
    assert commands_of(["benchmark", "def"]).keys() == commands_of(["benchmark"]).keys()


@pytest.mark.parametrize(
    ("words", "needs_a_node"),
    [
        ("benchmark run --scenarios x.yaml", True),
        ("benchmark run --scenarios x.yaml --help", False),
        ("benchmark run", False),
        ("benchmark ls", False),
        ("run --scenarios x.yaml", False),
        ("", False),
    ],
)
def test_a_node_is_opened_ahead_for_jobs_only(words: str, needs_a_node: bool) -> None:
    """Other commands may need none."""
    assert runs_a_job(words.split()) is needs_a_node


def test_no_node_is_opened_ahead_of_a_server() -> None:
    """The job runs there."""
    code = (
        "import sys\n"
        "from harena.ahead import open_ahead\n"
        "open_ahead()\n"
        "from harena.sdk.portal import current_portal\n"
        "sys.exit('harena.node' in sys.modules or current_portal()._thread is not None)\n"
    )
    env = {**os.environ, "HARENA_BASE_URL": "http://127.0.0.1:9"}
    assert subprocess.run([sys.executable, "-c", code], env=env, check=False).returncode == 0


def test_bad_words(jobs: FakeJobs, harena: Harena, capsys: pytest.CaptureFixture[str]) -> None:
    """A mistyped option is named, with the one that was meant, and exit code 2."""
    assert harena("benchmark", "run", "--nam", "x") == 2
    assert "--name" in capsys.readouterr().err


def test_version(jobs: FakeJobs, harena: Harena, capsys: pytest.CaptureFixture[str]) -> None:
    """The package's version."""
    assert harena("version") == 0
    assert harena("--version") == 0
    assert capsys.readouterr().out == "harena 0.1.0\nharena 0.1.0\n"


def test_doctor(harena: Harena, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """One line for each finding, the setting to change below it, and exit code 1 where sandboxes cannot run."""
    good = {"name": "cgroups", "ok": None, "detail": "v1 only", "fix": ""}
    bad = {"name": "namespaces", "ok": False, "detail": "refused", "fix": "sysctl x=1"}
    faced(monkeypatch, doctor=lambda *, cluster: [good, bad] if cluster else [good])
    assert harena("doctor") == 0
    assert harena("doctor", "--cluster") == 1
    assert "NO namespaces: refused\n   change: sysctl x=1\n" in capsys.readouterr().out
    assert harena("doctor", "--cluster", "--format", "json") == 1
    assert json.loads(capsys.readouterr().out) == [good, bad]
    assert harena("doctor", "--format", "xml") == 2


def test_scenario_check(harena: Harena, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """A good file is counted; of a bad one every mistake is a line, and the exit code is 1."""

    def load(source: str) -> Any:
        if source == "bad.yaml":
            error = ValidationError("2 mistakes")
            error.mistakes = ["bad.yaml:3: id: missing", "bad.yaml:9: candidate: empty"]  # type: ignore[attr-defined]
            raise error
        rest: dict[str, Any] = {"metadata": {}, "scoring": SimpleNamespace(shared_because=None)}
        named = [SimpleNamespace(id=f"a/{n}", problem_id="a", **rest) for n in range(3)]
        return SimpleNamespace(scenarios=[*named, SimpleNamespace(id="alone", problem_id=None, **rest)])

    faced(monkeypatch, load_scenarios=load, scenario_schema=lambda: {"title": "scenarios"})
    assert harena("scenario", "check", "good.yaml") == 0
    assert capsys.readouterr().out == "4 scenarios, 2 problems: ok\n"
    assert harena("scenario", "check", "bad.yaml") == 1
    assert capsys.readouterr().out == "bad.yaml:3: id: missing\nbad.yaml:9: candidate: empty\n"
    assert harena("scenario", "schema") == 0
    assert json.loads(capsys.readouterr().out) == {"title": "scenarios"}


def test_scenario_check_of_a_data_set(
    harena: Harena, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its format is named, and the problems whose trust is `shared`, with the reason."""
    asked: list[dict[str, Any]] = []

    def load(source: str, **options: Any) -> Any:
        asked.append(options)
        shared = [{"shared_because": f"line {n}"} if n else {} for n in range(23)]
        plain = SimpleNamespace(shared_because=None)
        scenarios = [
            SimpleNamespace(id=f"{n}/1", problem_id=str(n), metadata=metadata, scoring=plain)
            for n, metadata in enumerate(shared)
        ]
        return SimpleNamespace(scenarios=scenarios, form="humaneval")

    faced(monkeypatch, load_scenarios=load)
    words = ("--candidates", "s.jsonl", "--format", "humaneval", "--grader", "g.json")
    assert harena("scenario", "check", "rows.jsonl", *words) == 0
    assert asked == [{"candidates": "s.jsonl", "format": "humaneval", "grader": "g.json"}]
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == ["23 scenarios, 23 problems: ok (humaneval)", "1: trust `shared`: line 1"]
    assert lines[-1] == "... and 2 more problems with trust `shared`"


def test_blueprint_create(harena: Harena, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """The issue's command line: several packages after one option, and what was installed is said."""
    asked: list[tuple[str, dict[str, Any]]] = []

    def create(name: str, **options: Any) -> Blueprint:
        asked.append((name, options))
        return Blueprint(id="bp_1", name=name, packages=(Package(name="numpy", version="2.0", sha256="0"),))

    faced(monkeypatch, blueprints=SimpleNamespace(create=create))
    words = ["blueprint", "create", "python-ml-training-env", "--packages", "numpy", "pytest", "--warm", "numpy"]
    assert harena(*words) == 0
    assert capsys.readouterr().out == "python-ml-training-env (bp_1): numpy==2.0\n"
    assert harena("blueprint", "create", "bare", "--env", "A=1", "B=2=3") == 0
    assert asked == [
        (
            "python-ml-training-env",
            {
                "image": "default",
                "profile": "strict",
                "packages": ["numpy", "pytest"],
                "files": {},
                "env": {},
                "warm": ["numpy"],
            },
        ),
        (
            "bare",
            {
                "image": "default",
                "profile": "strict",
                "packages": [],
                "files": {},
                "env": {"A": "1", "B": "2=3"},
                "warm": None,
            },
        ),
    ]
    assert harena("blueprint", "create", "x", "--env", "novalue") == 2
    assert "--env novalue: write it as NAME=VALUE" in capsys.readouterr().err


class FakeSandbox:
    """A sandbox whose commands do what the test says."""

    def __init__(self, returncode: int | BaseException) -> None:
        self.returncode = returncode
        self.output = b"put"
        self.asked: dict[str, Any] = {}
        self.closed = False
        self.cancelled = False

    def __enter__(self) -> "FakeSandbox":
        return self

    def __exit__(self, *error: object) -> None:
        self.closed = True

    def run(self, **options: Any) -> "FakeSandbox":
        self.asked["sandbox"] = options
        return self

    def exec(self, command: list[str], **options: Any) -> Any:
        self.asked["command"], self.asked["options"] = command, options

        def result() -> Any:
            if isinstance(self.returncode, BaseException):
                raise self.returncode
            return SimpleNamespace(returncode=self.returncode)

        def cancel() -> None:
            self.cancelled = True

        return SimpleNamespace(
            byte_streams=lambda: (iter([b"out ", self.output]), iter([b"wrong"])),
            stdin=None,
            result=result,
            cancel=cancel,
        )


class TimedOutError(Exception):
    """The face's SandboxCommandTimeoutError."""


@pytest.mark.parametrize(("returncode", "code"), [(0, 0), (7, 7), (-9, 137), (TimedOutError("too long"), 124)])
def test_exec_passes_everything_through(
    returncode: int | Exception,
    code: int,
    harena: Harena,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Words after -- are the command's own; output and exit code come through; the sandbox is gone afterwards."""
    sandbox = FakeSandbox(returncode)
    faced(monkeypatch, Sandbox=sandbox, SandboxCommandTimeoutError=TimedOutError)
    assert harena("exec", "--blueprint", "env", "--timeout", "5", "--", "python", "-c", "--version") == code
    said = capsys.readouterr()
    assert said.out == "out put"
    assert said.err.startswith("wrong")
    assert sandbox.asked["command"] == ["python", "-c", "--version"]
    assert sandbox.asked["sandbox"] == {"blueprint": "env"}
    assert sandbox.asked["options"]["timeout_seconds"] == 5.0
    assert sandbox.closed


def test_exec_takes_a_command_without_dashes_before_it(
    harena: Harena, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """From the first word of the command on, nothing is an option of harena's: as with docker, ssh and env."""
    sandbox = FakeSandbox(0)
    faced(monkeypatch, Sandbox=sandbox, SandboxCommandTimeoutError=TimedOutError)
    assert harena("exec", "--timeout", "5", "python", "-c", "pass", "--timeout", "--", "--help") == 0
    assert sandbox.asked["command"] == ["python", "-c", "pass", "--timeout", "--", "--help"]
    assert sandbox.asked["options"]["timeout_seconds"] == 5.0


def test_exec_into_a_reader_that_goes(
    harena: Harena, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`harena exec -- yes | head -1`: the command is ended, and there is no traceback."""

    class Gone(io.FileIO):
        def write(self, _: Any) -> int:
            raise BrokenPipeError(32, "gone")

    sandbox = FakeSandbox(CancelledError())
    faced(monkeypatch, Sandbox=sandbox, SandboxCommandTimeoutError=TimedOutError)
    with io.TextIOWrapper(Gone(tmp_path / "out", "wb")) as gone:  # type: ignore[type-var]
        monkeypatch.setattr(sys, "stdout", gone)
        assert harena("exec", "--", "yes") == 141
    assert sandbox.cancelled
    assert capsys.readouterr().err == "wrong"


def test_exec_that_cannot_start(
    harena: Harena, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A sandbox that cannot be made is one message, and its streams say nothing more."""
    sandbox = FakeSandbox(NotFoundError("no image"))
    faced(monkeypatch, Sandbox=sandbox, SandboxCommandTimeoutError=TimedOutError)
    assert harena("exec", "--", "ls") == 2
    assert capsys.readouterr().err.endswith("harena: no image\n")


def test_broken_pipe_is_quiet(jobs: FakeJobs, harena: Harena, monkeypatch: pytest.MonkeyPatch) -> None:
    """`harena ... | head` ends without a traceback."""

    class Gone(io.StringIO):
        def write(self, text: str) -> int:
            raise BrokenPipeError(32, "gone")

    monkeypatch.setattr(sys, "stdout", Gone())
    assert harena("version") == 1


def test_exec_begins_with_a_snapshot(harena: Harena, monkeypatch: pytest.MonkeyPatch) -> None:
    """By its name; no other option is made up."""
    sandbox = FakeSandbox(0)
    faced(monkeypatch, Sandbox=sandbox, SandboxCommandTimeoutError=TimedOutError)
    assert harena("exec", "--snapshot", "prepared", "--", "x") == 0
    assert sandbox.asked["sandbox"] == {"snapshot": "prepared"}


def test_exec_passes_bytes(harena: Harena, monkeypatch: pytest.MonkeyPatch, capfdbinary: Any) -> None:
    """What is not UTF-8 comes out as it went in."""
    sandbox = FakeSandbox(0)
    sandbox.output = b"\xff\x00\r\n"
    faced(monkeypatch, Sandbox=sandbox, SandboxCommandTimeoutError=TimedOutError)
    assert harena("exec", "--", "x") == 0
    assert capfdbinary.readouterr().out == b"out \xff\x00\r\n"


@pytest.mark.parametrize("words", [("exec", "--", "yes"), ("version",), ("benchmark", "results", "--job", "n")])
def test_a_full_disk_is_one_message(
    words: tuple[str, ...], jobs: FakeJobs, harena: Harena, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    """`harena ... > /dev/full`: not a traceback, and not exit code 0."""
    names = vars(face.load())
    faced(monkeypatch, **names, Sandbox=FakeSandbox(0), SandboxCommandTimeoutError=TimedOutError)
    with open("/dev/full", "w") as full:
        monkeypatch.setattr(sys, "stdout", full)
        assert harena(*words) == 2
    said = capsys.readouterr().err.removeprefix("wrong")
    assert said.count("\n") == 1
    assert "No space left on device" in said


def test_a_closed_output_is_one_message() -> None:
    """`harena version >&-`: said before anything is opened in its place."""
    command = (
        f"exec {sys.executable} -c \"import sys; from harena.cli.main import main; sys.exit(main(['version']))\" >&-"
    )
    done = subprocess.run(["/bin/sh", "-c", command], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "standard output is closed" in done.stderr


def test_exec_speaks_of_its_own_option(
    harena: Harena, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """--timeout, and not the name that it has in Python."""
    faced(monkeypatch, Sandbox=FakeSandbox(TimedOutError("x")), SandboxCommandTimeoutError=TimedOutError)
    assert harena("exec", "--timeout", "5", "--", "x") == 124
    assert "passed --timeout 5 and" in capsys.readouterr().err
    assert harena("exec", "--timeout", "-1", "--", "x") == 2
    assert "--timeout must be a positive number" in capsys.readouterr().err


def test_a_blueprint_without_a_name(jobs: FakeJobs, harena: Harena, capsys: pytest.CaptureFixture[str]) -> None:
    """`--packages numpy NAME` takes NAME for a package: the message says where the name belongs."""
    assert harena("blueprint", "create", "--packages", "numpy", "mine") == 2
    assert "harena blueprint create NAME --packages" in capsys.readouterr().err


def test_blueprint_rm(harena: Harena, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """The name goes to the sdk."""
    removed: list[str] = []
    faced(monkeypatch, blueprints=SimpleNamespace(delete=removed.append))
    assert harena("blueprint", "rm", "mine") == 0
    assert (removed, capsys.readouterr().out) == (["mine"], "mine: removed\n")
