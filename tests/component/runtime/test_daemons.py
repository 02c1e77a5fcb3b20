"""Daemons of blueprints: started in each sandbox before anybody else's program, and ready, or one clear error."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from harena.core.blueprint_source import BlueprintSource
from harena.core.daemons import daemons_to_json, read_daemons
from harena.core.errors import SandboxFailedError, SandboxValidationError
from harena.core.models import SandboxSpec
from harena.core.records.blueprints import Blueprint
from harena.core.records.sandboxes import Limits
from harena.core.workspace import DEFAULT_WORKSPACE as HERE
from harena.runtime.host.sandboxes import Sandboxes
from harena.testing import FakeClock, FakeRuntime


class OneBlueprint(BlueprintSource):
    """Has these daemons."""

    def __init__(self, daemons: list[dict[str, Any]]) -> None:
        self.found = Blueprint(id="bp_served", name="served", daemons=read_daemons(daemons))

    def find(self, workspace: str, name_or_id: str) -> Blueprint:
        return self.found


def home(*daemons: dict[str, Any]) -> tuple[Sandboxes, FakeRuntime]:
    runtime = FakeRuntime()
    return Sandboxes(runtime, OneBlueprint([*daemons]), FakeClock()), runtime


def shell(text: str) -> list[str]:
    return ["sh", "-c", text]


SPEC = SandboxSpec(blueprint="served")


async def test_daemons_are_ready_before_the_first_program_in_their_order() -> None:
    """One that ends well has left something behind; the others run as long as their sandbox."""
    one = {"name": "one", "command": shell("echo one >>/workspace/log; exec sleep 1000")}
    two = {"name": "two", "command": shell("echo two >>/workspace/log")}
    sandboxes, runtime = home(
        *({**each, "ready": ["grep", each["name"], "/workspace/log"], "ready_seconds": 600} for each in (one, two))
    )
    async with sandboxes.source(HERE).sandbox(SPEC) as sandbox:
        assert await sandbox.read_file("/workspace/log", max_bytes=100) == b"one\ntwo\n"
        assert [process.command[0] for process in await sandbox.processes()] == ["sleep"]
    await sandboxes.close()
    assert runtime.sandboxes == {}


NEVER: dict[str, tuple[dict[str, Any], str]] = {
    "not ready": (
        {
            "command": shell("echo starts >&2; touch /workspace/up; exec sleep 1000"),
            "ready": shell("while ! test -e /workspace/up; do sleep 0.01; done; echo no; exit 2"),
            "ready_seconds": 5,
        },
        "daemon 'db' of the blueprint: it was not ready in 5 s: `ready` has ended with exit code 2 and said: no; it "
        "has said: starts",
    ),
    "broken": (
        {"command": shell("echo broken >&2; exit 3"), "ready": ["false"], "ready_seconds": 600},
        "daemon 'db' of the blueprint: it has ended with exit code 3; it has said: broken",
    ),
    "no program": (
        {"command": ["is-not-there"], "ready": ["false"], "ready_seconds": 600},
        "has ended with exit code 127",
    ),
}


ENDS = {
    "no program": (["is-not-there"], "exit code 127"),
    "a code": (shell("echo broken; exit 3"), "exit code 3; it has said: broken"),
    "a signal": (shell("kill -9 $$"), "signal 9"),
}


@pytest.mark.parametrize("ready", [[], ["true"]])
@pytest.mark.parametrize("name", ENDS)
async def test_a_daemon_that_ends_badly_at_once_is_no_sandbox(name: str, ready: list[str]) -> None:
    """Neither where nothing says when it is ready, nor where that is said of whatever happens; among others that run.
    A clock that stands still shows that its end is waited for."""
    command, told = ENDS[name]
    runtime = FakeRuntime()
    others = {"name": "other", "command": ["sleep", "1000"]}
    blueprint = OneBlueprint([{"name": "db", "command": command, "ready": ready}, others])
    sandboxes = Sandboxes(runtime, blueprint, FakeClock(auto_jump=False))
    with pytest.raises(SandboxFailedError, match=f"daemon 'db' of the blueprint: it has ended with {told}"):
        async with sandboxes.source(HERE).sandbox(SPEC):
            pass
    assert runtime.sandboxes == {}


@pytest.mark.parametrize("name", NEVER)
async def test_a_blueprint_that_never_gets_ready_is_one_error(name: str) -> None:
    """Its sandbox goes, and others do not wait for it again at once."""
    daemon, told = NEVER[name]
    sandboxes, runtime = home({"name": "db", **daemon})
    with pytest.raises(SandboxFailedError, match=told):
        await sandboxes.create(HERE, SPEC)
    assert runtime.sandboxes == {}
    (failed,) = sandboxes.list(include_terminal=True)
    assert "daemon 'db'" in (failed.info.status_reason or "")
    if name == "not ready":
        with pytest.raises(SandboxFailedError, match=f"{told} .the next attempt is possible in 5 s"):
            await sandboxes.create(HERE, SPEC)
        assert len(runtime.created) == 1


async def test_a_sandbox_that_is_asked_for_otherwise_is_tried() -> None:
    """What it was asked to be may have been why: no other one is refused for that."""
    sandboxes, runtime = home({"name": "db", "command": ["sleep", "1000"], "ready": ["false"], "ready_seconds": 5})
    few = replace(SPEC, limits=Limits(pids=4))
    for spec, created in ((few, 1), (few, 1), (SPEC, 2), (replace(SPEC, tags=("other",)), 2)):
        with pytest.raises(SandboxFailedError, match="it was not ready in 5 s"):
            await sandboxes.create(HERE, spec)
        assert len(runtime.created) == created


async def test_a_workspace_does_not_fail_for_another_one() -> None:
    """A published blueprint's daemons may lack a secret in one workspace: others try, and read none of its words."""
    blueprint = OneBlueprint([{"name": "db", "command": ["sleep", "1000"], "ready": ["false"], "ready_seconds": 5}])
    runtime = FakeRuntime()
    sandboxes = Sandboxes(runtime, blueprint, FakeClock())
    for workspace, created in (("a", 1), ("a", 1), ("b", 2), ("b", 2)):
        with pytest.raises(SandboxFailedError, match="it was not ready in 5 s"):
            await sandboxes.create(workspace, SPEC)
        assert len(runtime.created) == created


@pytest.mark.parametrize(
    ("daemons", "told"),
    [
        ("redis", "daemons must be a list"),
        ([{"name": "a"}], "a mapping with name and command"),
        ([{"name": "A", "command": ["x"]}], "the name 'A' must be"),
        ([{"name": "a", "command": "x y"}], "daemons: a: command is a list of words"),
        ([{"name": "a", "command": []}], "daemons: a: "),
        ([{"name": "a", "command": ["x"], "ready": "x"}], "daemons: a: ready is a list"),
        ([{"name": "a", "command": ["x"], "ready_seconds": 0}], "daemons: a: ready_seconds"),
        ([{"name": "a", "command": ["x"], "ready_seconds": 601}], "ready_seconds is at most 600"),
        ([{"name": "a", "command": ["x"], "port": 1}], "no field 'port'"),
        ([{"name": "a", "command": ["x"]}] * 2, "two are called a"),
        ([{"name": f"a{number}", "command": ["x"]} for number in range(17)], "at most 16"),
    ],
)
def test_what_is_no_daemon(daemons: Any, told: str) -> None:
    """One sentence with the daemon's name."""
    with pytest.raises(SandboxValidationError, match=told):
        read_daemons(daemons)


def test_daemons_as_json_are_read_again() -> None:
    """Every field."""
    made = read_daemons([{"name": "a", "command": ["x", "y"], "ready": ["z"], "ready_seconds": 3, "user": "me"}])
    assert read_daemons(daemons_to_json(made)) == made
