"""Bad input is told before anything is sent: types, ranges, text that cannot be sent, misspelt keywords."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from sdk_fake_node import NodeControl

import harena
from harena import Limits, Sandbox, SandboxDefaults, Session, benchmark_jobs, blueprints
from harena.core.errors import SandboxError, SandboxValidationError, ValidationError
from harena.core.models import MIB
from harena.core.records.blueprints import Blueprint
from harena.sdk.keywords import keyword_names, refuse_unknown

HALF = "a\ud800"
Verb = Callable[[Any], Any]

_VERBS: list[tuple[str, Verb]] = [
    ("command", lambda s: s.exec(["echo", HALF])),
    ("env", lambda s: s.exec(["echo"], env={"A": HALF})),
    ("env", lambda s: s.exec(["echo"], env={HALF: "a"})),
    ("cwd", lambda s: s.exec(["echo"], cwd=f"/{HALF}")),
    ("stdin", lambda s: s.exec(["cat"], stdin=HALF)),
    ("path", lambda s: s.read_file(f"/{HALF}")),
    ("contents", lambda s: s.write_file("/tmp/x", HALF)),
    ("tags", lambda s: Sandbox(tags=[HALF])),
    ("annotations", lambda s: Sandbox(annotations={"a": HALF})),
    ("mounted_files", lambda s: Sandbox(mounted_files={f"/{HALF}": b""})),
    ("blueprint", lambda s: Sandbox(blueprint=HALF)),
    ("mode", lambda s: s.write_file("/tmp/x", b"", mode=0o10000)),
    ("mode", lambda s: s.write_file("/tmp/x", b"", mode="644")),
    ("cpu_seconds", lambda s: s.exec(["echo"], cpu_seconds=float("inf"))),
    ("cpu_seconds", lambda s: s.exec(["echo"], cpu_seconds=1e10)),
    ("timeout_seconds", lambda s: s.exec(["echo"], timeout_seconds=float("nan"))),
    ("output_bytes", lambda s: s.exec(["echo"], output_bytes=-1)),
    ("output_bytes", lambda s: s.exec(["echo"], output_bytes=1.5)),
    ("chunk_bytes", lambda s: s.read_file_streaming("/tmp/x", chunk_bytes=0)),
    ("seconds", lambda s: s.extend_lifetime(None)),
    ("seconds", lambda s: s.extend_lifetime(1e300)),
    ("max_lifetime_seconds", lambda s: Sandbox(max_lifetime_seconds=1e300)),
    ("graceful_shutdown_seconds", lambda s: s.stop(graceful_shutdown_seconds="x")),
    ("list of words", lambda s: s.exec("ls -l")),
    ("list of words", lambda s: s.exec(5)),
    ("list of words", lambda s: SandboxDefaults(args="ls -l")),
    ("stdin", lambda s: s.exec(["cat"], stdin=5)),
    ("standard input", lambda s: s.exec(["cat"], stdin=True).stdin.write(5)),
    ("warm", lambda s: s.exec(["echo"], warm="x")),
    ("env", lambda s: s.exec(["echo"], env="x")),
    ("tags", lambda s: Sandbox(tags=5)),
    ("tags", lambda s: Sandbox.list(tags={"a": "b"})),
    ("annotations", lambda s: Sandbox(annotations="x")),
    ("environment_variables", lambda s: Sandbox(environment_variables=["A"])),
    ("mounted_files", lambda s: Sandbox(mounted_files=5)),
    ("status", lambda s: Sandbox.list(status=5)),
    ("blueprint", lambda s: Sandbox(blueprint=5)),
    ("limits", lambda s: Sandbox(limits=5)),
    ("container_image", lambda s: SandboxDefaults(container_image=5)),
    ("command", lambda s: SandboxDefaults(command=5)),
    ("report_to", lambda s: Session(report_to="wandb")),
    ("list", lambda s: harena.wait(s)),
    ("list", lambda s: harena.as_completed(s)),
    ("result", lambda s: harena.result(5)),
    ("result", lambda s: harena.result("ab")),
    ("pid", lambda s: s.kill(2**40)),
    ("signal", lambda s: s.kill(2, 999)),
    ("sandbox_id", lambda s: Sandbox.from_id(5)),
    ("name or id", lambda s: blueprints.get(5)),  # type: ignore[arg-type]
    ("name or id", lambda s: blueprints.delete(5)),  # type: ignore[arg-type]
    ("packages", lambda s: blueprints.create("x", packages=5)),  # type: ignore[arg-type]
    ("files", lambda s: blueprints.create("x", files=5)),  # type: ignore[arg-type]
    ("env", lambda s: blueprints.create("x", env="x")),  # type: ignore[arg-type]
    ("id or name", lambda s: benchmark_jobs.get(5)),  # type: ignore[arg-type]
    ("id or name", lambda s: benchmark_jobs.events(5)),  # type: ignore[arg-type]
    ("config", lambda s: benchmark_jobs.create(name="x", scenarios=[], config="x")),  # type: ignore[arg-type]
]


@pytest.mark.parametrize(("field", "verb"), _VERBS)
def test_bad_input_is_named_and_nothing_is_sent(node: NodeControl, field: str, verb: Verb) -> None:
    """A validation error with the field's name, at once."""
    sandbox = Sandbox.run().wait()
    with pytest.raises(ValidationError, match=field) as caught:
        verb(sandbox)
    str(caught.value).encode()
    assert node.do(lambda fake: fake.requests) == []


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        ("memory_bytes", [8 * MIB, None], [8 * MIB - 1, 64e6, True, "64Mi", 1 << 70]),
        ("pids", [4, 4_194_304, None], [3, 4_194_305, 10.0, True]),
        ("cpu", [0.5, 4096, None], [0.001, 4097, float("nan"), float("inf"), True, "1"]),
        ("disk_bytes", [MIB], [MIB - 1, None, 2e6]),
        ("inodes", [100], [99, None, 200.0]),
        ("open_files", [64, 1_048_576], [63, 1_048_577, None]),
        ("output_bytes", [0], [-1, None, 1.0]),
        ("lifetime_seconds", [0.5, 60, None], [0, -1, 1e9, float("inf"), float("nan"), True]),
    ],
)
def test_limits(name: str, good: list[Any], bad: list[Any]) -> None:
    """Types and ranges, the same for the object and for a mapping of its fields."""
    for value in good:
        Limits(**{name: value})
        SandboxDefaults(limits={name: value})
    for value in bad:
        with pytest.raises(SandboxValidationError, match=name):
            Limits(**{name: value})
        with pytest.raises(SandboxValidationError, match=name):
            SandboxDefaults(limits={name: value})


@pytest.mark.parametrize(
    ("given", "meant"), [("memory", "memory_bytes"), ("cpus", "cpu"), ("timeout", "lifetime_seconds"), ("pid", "pids")]
)
def test_an_unknown_limit_names_the_nearest_limit(given: str, meant: str) -> None:
    """And not an option of the sandbox."""
    with pytest.raises(TypeError, match=f"did you mean '{meant}'"):
        SandboxDefaults(limits={given: 1})


def test_misspelt_keywords_of_verbs(node: NodeControl) -> None:
    """The one that was meant is named."""
    sandbox: Any = Sandbox.run()
    with pytest.raises(TypeError, match="did you mean 'timeout_seconds'"):
        sandbox.exec(["echo"], timeout=5)
    with pytest.raises(TypeError, match="did you mean 'missing_ok'"):
        sandbox.stop(missingok=True)


def test_misspelt_keywords_of_modules(node: NodeControl) -> None:
    """The verb has its public name, the one that was meant is named, and nothing is sent."""
    create: Any = benchmark_jobs.create
    with pytest.raises(TypeError, match=r"^create\(\) got .* 'scenario'; did you mean 'scenarios'\?"):
        create(name="x", scenario=[])
    with pytest.raises(TypeError, match=r"^score\(\) got .* 'blueprint'; did you mean 'blueprint_id'\?"):
        harena.score("", {}, blueprint="python-warm")


def test_a_verb_that_takes_any_keyword_takes_them() -> None:
    """What a scenario or a request has no field for is told by those who read it."""
    names = keyword_names(lambda request=None, **fields: None)
    refuse_unknown("create", ["request", "trainer_type", "timeout"], names)
    with pytest.raises(TypeError, match="did you mean 'timeout_seconds'"):
        refuse_unknown("score", ["timeout"], names | {"timeout_seconds"})


def test_a_relative_path_is_answered_with_an_absolute_one(node: NodeControl) -> None:
    """The one that it has in the default working directory, unless it leaves that."""
    sandbox = Sandbox.run()
    with pytest.raises(
        SandboxValidationError, match=r"absolute path .*, as '/workspace/out/a\.txt' \(got 'out/a\.txt'\)"
    ):
        sandbox.read_file("out/a.txt")
    with pytest.raises(SandboxValidationError, match=r"absolute path inside the sandbox \(got '\.\./a\.txt'\)"):
        sandbox.read_file("../a.txt")


def test_a_remote_function_without_parentheses(node: NodeControl) -> None:
    """`@session.function` is `@session.function()`; anything else is a clear error."""
    session = Session()

    @session.function
    def add(first: int, second: int) -> int:
        return first + second

    assert add.local(1, 2) == 3
    with pytest.raises(TypeError, match="by name"):
        session.function("python:3.11")  # type: ignore[call-overload]


def test_output_as_bytes(node: NodeControl) -> None:
    """What is not UTF-8 comes through, from the begin, also beside the text; 0 bytes to keep keeps nothing."""
    sandbox = Sandbox.run()
    process = sandbox.exec(["cat"], stdin=b"\xff\x00\r\n")
    output, errors = process.byte_streams()
    assert (b"".join(output), b"".join(errors), process.result().stdout) == (b"\xff\x00\r\n", b"", "\ufffd\0\r\n")
    nothing = sandbox.exec(["echo", "x"], output_bytes=0).result()
    assert (nothing.stdout, nothing.stdout_truncated) == ("", True)


def test_a_signal_to_nobody_says_so(node: NodeControl) -> None:
    """The process, the reason, and how to see those there are."""
    sandbox = Sandbox.run().wait()

    async def refuse(pid: int, signum: int) -> None:
        raise SandboxValidationError(f"cannot send signal {signum} to process {pid}: None: No such process")

    node.do(lambda fake: setattr(fake.handles[0].fake, "signal", refuse))
    with pytest.raises(
        SandboxError, match=r"^signal 9 could not be sent to process 99999: No such process; `processes"
    ):
        sandbox.kill(99999).result()


def test_a_blueprint_is_removed(node: NodeControl) -> None:
    """By name; a blueprint object names itself to a job."""
    made = blueprints.create("mine")
    benchmark_jobs.create(name="j", scenarios=[], blueprint_id=made)
    assert node.do(lambda fake: fake.requests[0]["blueprint_id"]) == made.id
    assert isinstance(made, Blueprint)
    blueprints.delete("mine")
    assert blueprints.list() == []


@pytest.mark.parametrize("name", ["aviato", "cwsandbox"])
def test_everything_of_an_alias_can_be_imported(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """`from cwsandbox import *` and the version."""
    import sys

    monkeypatch.delitem(sys.modules, name, raising=False)
    harena.install_aliases(name, force=True)
    found: dict[str, Any] = {}
    exec(f"from {name} import *", found)
    assert found["Sandbox"] is Sandbox
    assert found["__version__"] == sys.modules[name].__version__ == harena.__version__
    del sys.modules[name]
