"""Sessions: ownership, defaults, metrics."""

from __future__ import annotations

import gc
import sys
import types
from typing import Any

import pytest
from sdk_fake_node import NodeControl

import harena
from harena import Sandbox, SandboxDefaults, SandboxStatus, Session
from harena.core.errors import (
    SandboxExecutionError,
    SandboxNotFoundError,
    SandboxNotRunningError,
    SandboxValidationError,
)

METRICS = {
    "cwsandbox/sandboxes_created",
    "cwsandbox/executions",
    "cwsandbox/exec_completed_ok",
    "cwsandbox/exec_completed_nonzero",
    "cwsandbox/exec_failures",
    "cwsandbox/exec_completion_rate",
    "cwsandbox/exec_failure_rate",
    "cwsandbox/startup_count",
    "cwsandbox/avg_startup_seconds",
    "cwsandbox/min_startup_seconds",
    "cwsandbox/max_startup_seconds",
    "cwsandbox/avg_execs_per_sandbox",
    "cwsandbox/min_execs_per_sandbox",
    "cwsandbox/max_execs_per_sandbox",
}


def _statuses(node: NodeControl) -> list[SandboxStatus]:
    return node.do(lambda fake: [handle.info.status for handle in fake.handles])


def test_closing_ends_everything_that_it_owns(node: NodeControl) -> None:
    """Started, unstarted and adopted; not what is only found."""
    outside = Sandbox.run().wait()
    stranger = Sandbox.run().wait()
    with Session() as session:
        started = session.sandbox()
        started.exec(["echo"]).result()
        unstarted = session.sandbox()
        session.adopt(outside)
        assert session.sandbox_count == 3
        started.stop().result()
        assert session.sandbox_count == 2
    assert session.sandbox_count == 0
    assert _statuses(node) == [SandboxStatus.COMPLETED, SandboxStatus.RUNNING, SandboxStatus.COMPLETED]
    assert stranger.status is SandboxStatus.RUNNING
    with pytest.raises(SandboxNotRunningError):
        unstarted.exec(["echo"]).result()
    with pytest.raises(SandboxNotRunningError, match="closed"):
        session.sandbox()
    with pytest.raises(SandboxNotRunningError, match="closed"):
        session.adopt(stranger)
    session.close().result()


def test_sandboxes_have_the_sessions_defaults(node: NodeControl) -> None:
    """Given as an object or as a mapping, with what is said for one sandbox winning."""
    with Sandbox.session({"tags": ("a",), "environment_variables": {"X": "1"}}) as session:
        sandbox = session.sandbox(tags=["b"], environment_variables={"X": "2"})
        sandbox.start().result()
    spec = node.do(lambda fake: fake.handles[0].spec)
    assert (spec.tags, spec.env) == (("a", "b"), {"X": "2"})


def test_sandboxes_start_in_parallel_when_they_are_first_used(node: NodeControl) -> None:
    """The guides' one-liner: make, use and forget, many at once."""
    node.do(lambda fake: fake.create_gate.clear())
    with Session() as session:
        processes = [session.sandbox().exec(["echo", str(number)]) for number in range(10)]
        node.do(lambda fake: fake.create_gate.set())
        assert [process.result().stdout for process in processes] == [f"{number}\n" for number in range(10)]
        assert node.do(lambda fake: fake.most_creating) == 10


def test_a_sessions_sandbox_that_nothing_can_reach_ends_by_itself(node: NodeControl) -> None:
    """But not while one of its commands is still wanted."""
    session = Session()
    process = session.sandbox().exec(["cat"], stdin=True)
    process_output = process.stdout
    assert process.stdin is not None
    process.stdin.write("x").result()
    gc.collect()
    assert _statuses(node) == [SandboxStatus.RUNNING]
    process.stdin.close()
    assert "".join(process_output) == "x"
    process.result()
    assert _statuses(node) == [SandboxStatus.RUNNING]
    del process, process_output
    gc.collect()
    assert _statuses(node) == [SandboxStatus.COMPLETED]
    assert session.sandbox_count == 0
    session.close().result()


def test_close_waits_for_what_is_ending_by_itself(node: NodeControl) -> None:
    """Nothing of a session runs after its close."""
    session = Session()
    node.do(lambda fake: fake.stop_gate.clear())
    session.sandbox().exec(["echo"]).result()
    gc.collect()
    assert node.do(lambda fake: fake.handles[0].stops) == [0.0]
    closed = session.close()
    node.do(lambda fake: None)
    assert not closed.done()
    node.do(lambda fake: fake.stop_gate.set())
    closed.result()
    assert _statuses(node) == [SandboxStatus.COMPLETED]


def test_close_waits_for_stops_that_nobody_waited_for(node: NodeControl) -> None:
    """As in the guides' loops: `sandbox.stop()` and on; and it says when one of them failed."""
    session = Session()
    sandboxes = [session.sandbox().wait() for _ in range(3)]
    node.do(lambda fake: (fake.stop_gate.clear(), fake.stop_errors.append(SandboxExecutionError("stuck"))))
    for sandbox in sandboxes:
        sandbox.stop()
    assert session.sandbox_count == 0
    closed = session.close()
    node.do(lambda fake: None)
    assert not closed.done()
    node.do(lambda fake: fake.stop_gate.set())
    with pytest.raises(SandboxExecutionError, match="stuck"):
        closed.result()
    assert sorted(_statuses(node)) == ["completed", "completed", "running"]
    assert not session._stops


def test_list_and_from_id_can_adopt(node: NodeControl) -> None:
    """A session's list shows what carries its tags; each sandbox is owned once."""
    mine = Sandbox.run(tags=["mine", "x"]).wait()
    Sandbox.run(tags=["x"]).wait()
    session = Session(SandboxDefaults(tags=("mine",)))
    assert len(session.list().result()) == 1
    assert session.sandbox_count == 0
    [found] = session.list(tags=["x"], adopt=True).result()
    assert session.sandbox_count == 1
    again = session.from_id(str(mine.sandbox_id)).result()
    assert (again.sandbox_id, session.sandbox_count) == (found.sandbox_id, 1)
    with pytest.raises(SandboxValidationError, match="another session"):
        Session().adopt(found)
    with pytest.raises(SandboxNotFoundError):
        session.from_id("none", adopt=False).result()
    session.close().result()
    assert _statuses(node) == [SandboxStatus.COMPLETED, SandboxStatus.RUNNING]


async def test_a_session_is_an_asynchronous_context_too(node: NodeControl) -> None:
    """And its close can be awaited."""
    async with Session() as session:
        sandbox = session.sandbox()
        await sandbox.exec(["echo"])
    assert sandbox.status is SandboxStatus.COMPLETED


def test_a_failed_clean_up_is_raised_unless_there_is_a_worse_error(node: NodeControl) -> None:
    """All sandboxes are tried."""

    def use(error: Exception | None) -> None:
        with Session() as session:
            sandboxes = [session.sandbox() for _ in range(3)]
            harena.wait(sandboxes)
            node.do(lambda fake: fake.stop_errors.append(SandboxExecutionError("first")))
            if error is not None:
                raise error

    with pytest.raises(SandboxExecutionError, match="first"):
        use(None)
    assert sorted(_statuses(node)) == ["completed", "completed", "running"]
    with pytest.raises(KeyError):
        use(KeyError())


def test_there_are_exactly_the_fourteen_metrics(node: NodeControl) -> None:
    """Also before anything was counted."""
    with Session() as session:
        assert session.get_metrics().keys() == METRICS
        assert set(session.get_metrics().values()) == {0}


def test_metrics_count_what_happened(node: NodeControl) -> None:
    """Per session and per sandbox; time-outs and cancellations are failures."""
    with Session(report_to=[]) as session:
        busy, idle = session.sandbox(), session.sandbox()
        busy.exec(["echo"]).result()
        busy.exec(["false"]).result()
        with pytest.raises(harena.SandboxTimeoutError):
            busy.exec(["sleep"], timeout_seconds=0.01).result()
        idle.exec(["echo"]).result()
        metrics = session.get_metrics()
        assert busy.exec_stats == {"exec_count": 3, "completed_ok": 1, "completed_nonzero": 1, "failures": 1}
        assert session.log_metrics(step=1) is False
        assert session.get_metrics() == metrics
    assert metrics["cwsandbox/sandboxes_created"] == metrics["cwsandbox/startup_count"] == 2
    assert (metrics["cwsandbox/executions"], metrics["cwsandbox/exec_completed_ok"]) == (4, 2)
    assert (metrics["cwsandbox/exec_completed_nonzero"], metrics["cwsandbox/exec_failures"]) == (1, 1)
    assert (metrics["cwsandbox/exec_completion_rate"], metrics["cwsandbox/exec_failure_rate"]) == (0.5, 0.25)
    assert (metrics["cwsandbox/min_execs_per_sandbox"], metrics["cwsandbox/max_execs_per_sandbox"]) == (1, 3)
    assert metrics["cwsandbox/avg_execs_per_sandbox"] == 2
    low, average, high = (metrics[f"cwsandbox/{kind}_startup_seconds"] for kind in ("min", "avg", "max"))
    assert 0 <= low <= average <= high < 10


class _Run:
    def __init__(self) -> None:
        self.logged: list[tuple[dict[str, Any], int | None]] = []

    def log(self, metrics: dict[str, Any], step: int | None = None) -> None:
        self.logged.append((metrics, step))


@pytest.fixture
def wandb_run(monkeypatch: pytest.MonkeyPatch) -> _Run:
    module = types.ModuleType("wandb")
    run = _Run()
    module.run = run  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "wandb", module)
    return run


def test_metrics_go_to_an_active_run_and_start_anew(node: NodeControl, wandb_run: _Run) -> None:
    """With reset, unless it is false; the rest goes at the close."""
    with Session(report_to=["wandb"]) as session:
        session.sandbox().exec(["echo"]).result()
        assert session.log_metrics(step=7, reset=False) is True
        assert session.log_metrics(step=8) is True
        assert session.get_metrics()["cwsandbox/executions"] == 0
        session.sandbox().exec(["echo"]).result()
    assert [(metrics["cwsandbox/executions"], step) for metrics, step in wandb_run.logged] == [
        (1, 7),
        (1, 8),
        (1, None),
    ]


def test_reporting_is_automatic_only_with_a_key_and_a_run(
    node: NodeControl, wandb_run: _Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is sent, and nothing is forgotten, where one of the two is missing or reporting is off."""
    monkeypatch.delenv("WANDB_API_KEY", raising=False)
    session = Session()
    session.sandbox().exec(["echo"]).result()
    assert session.log_metrics() is False
    monkeypatch.setenv("WANDB_API_KEY", "k")
    assert Session(report_to=[]).log_metrics() is False
    assert session.log_metrics() is True
    sys.modules["wandb"].run = None  # type: ignore[attr-defined]
    assert session.log_metrics() is False
    with pytest.raises(SandboxValidationError, match="report_to"):
        Session(report_to=["tensorboard"])
    session.close().result()


def test_a_broken_reporter_does_not_keep_sandboxes(
    node: NodeControl, wandb_run: _Run, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The clean-up goes on, and the log says what failed."""

    def fail(*_: object, **__: object) -> None:
        raise OSError("offline")

    monkeypatch.setattr(wandb_run, "log", fail)
    with Session(report_to=["wandb"]) as session:
        kept = session.sandbox().wait()
    assert kept.status is SandboxStatus.COMPLETED
    assert "offline" in caplog.text
