"""A sandbox's life and verbs, against a node that does what the test says."""

from __future__ import annotations

import concurrent.futures
import gc
import threading
from datetime import UTC, datetime

import pytest
from sdk_fake_node import NodeControl

import harena
from harena import Sandbox, SandboxDefaults, SandboxStatus
from harena.core.errors import (
    SandboxFailedError,
    SandboxNotFoundError,
    SandboxNotRunningError,
    SandboxRequestTimeoutError,
    SandboxTerminatedError,
    SandboxTimeoutError,
    SandboxValidationError,
)
from harena.core.models import MIB


def test_a_program_runs_in_a_fresh_sandbox_that_ends_with_the_block(node: NodeControl) -> None:
    """The core pattern: with, exec, result, and nothing left."""
    with Sandbox.run() as sandbox:
        result = sandbox.exec(["echo", "hello"]).result()
        assert (result.returncode, result.stdout, result.stdout_bytes) == (0, "hello\n", b"hello\n")
        assert sandbox.status is SandboxStatus.RUNNING
    assert sandbox.status is SandboxStatus.COMPLETED


def test_creation_does_not_block_and_is_not_serial(node: NodeControl) -> None:
    """All creations are under way at one time, and `run` returned while none of them had ended."""
    node.do(lambda fake: fake.create_gate.clear())
    sandboxes = [Sandbox.run() for _ in range(50)]
    assert {sandbox.status for sandbox in sandboxes} == {SandboxStatus.CREATING}
    node.do(lambda fake: fake.create_gate.set())
    done, pending = harena.wait(sandboxes)
    assert (len(done), pending) == (50, [])
    assert node.do(lambda fake: fake.most_creating) == 50


def test_many_are_created_at_once(node: NodeControl) -> None:
    """`run_many` gives that many different sandboxes of one kind."""
    sandboxes = Sandbox.run_many(5, tags=["batch"])
    assert len({sandbox.sandbox_id for sandbox in sandboxes}) == 5
    assert {sandbox.tags for sandbox in sandboxes} == {("batch",)}
    assert Sandbox.run_many(0) == []
    with pytest.raises(SandboxValidationError, match="count"):
        Sandbox.run_many(-1)


def test_options_reach_the_node_merged_over_the_defaults(node: NodeControl) -> None:
    """Tags add up, mappings merge, single values are replaced, quantities are understood."""
    defaults = SandboxDefaults(
        container_image="python:3.12",
        tags=("a",),
        environment_variables={"A": "1", "B": "1"},
        annotations={"team": "x"},
        max_lifetime_seconds=60,
    )
    sandbox = Sandbox.run(
        defaults=defaults,
        tags=["b"],
        environment_variables={"B": "2"},
        resources={"limits": {"cpu": "500m", "memory": "64Mi"}},
        working_dir="/data",
        mounted_files=[{"mount_path": "/data/x", "file_content": b"1"}],
        blueprint="bp",
    ).wait()
    spec = node.do(lambda fake: fake.handles[0].spec)
    assert (spec.image, spec.blueprint, spec.tags, spec.env, spec.cwd) == (
        "python:3.12",
        "bp",
        ("a", "b"),
        {"A": "1", "B": "2"},
        "/data",
    )
    assert (spec.limits.cpu, spec.limits.memory_bytes, spec.limits.lifetime_seconds) == (0.5, 64 * MIB, 60)
    assert (spec.files, spec.annotations) == ({"/data/x": b"1"}, {"team": "x"})
    assert sandbox.tags == ("a", "b")


def test_an_unstarted_sandbox_starts_with_its_first_verb(node: NodeControl) -> None:
    """Nothing is created before, and one creation is enough for many verbs."""
    sandbox = Sandbox()
    assert (sandbox.status, sandbox.sandbox_id, sandbox.started_at, sandbox.info) == (None, None, None, None)
    processes = [sandbox.exec(["echo", str(number)]) for number in range(3)]
    assert [process.result().stdout for process in processes] == ["0\n", "1\n", "2\n"]
    assert node.do(lambda fake: len(fake.handles)) == 1


async def test_what_is_known_holds_up_no_event_loop(node: NodeControl) -> None:
    """It would wait in the loop's own thread: an error says what to await. Afterwards there is nothing to wait for."""
    node.do(lambda fake: fake.create_gate.clear())
    sandbox = Sandbox.run()
    for name in ("sandbox_id", "info", "created_at", "started_at"):
        with pytest.raises(RuntimeError, match=r"await sandbox\.start\(\)"):
            getattr(sandbox, name)
    assert sandbox.status == "creating"
    node.do(lambda fake: fake.create_gate.set())
    await sandbox.start()
    assert sandbox.sandbox_id == "sb-1"


def test_what_is_known_waits_for_a_creation_that_is_under_way(node: NodeControl) -> None:
    """`sandbox_id` right after `run` is the id, never None."""
    sandbox = Sandbox.run()
    assert sandbox.sandbox_id == "sb-1"
    assert isinstance(sandbox.started_at, datetime)
    assert sandbox.started_at.tzinfo is UTC
    assert sandbox.created_at is not None
    assert sandbox.info is not None
    assert sandbox.get_status() is SandboxStatus.RUNNING
    assert "sb-1" in repr(sandbox)


def test_a_failed_creation_is_told_by_every_verb(node: NodeControl) -> None:
    """The reason is not lost, and stopping such a sandbox is fine."""
    node.do(lambda fake: fake.create_errors.append(SandboxFailedError("no room on this host")))
    sandbox = Sandbox.run()
    with pytest.raises(SandboxFailedError, match="no room"):
        sandbox.exec(["echo", "x"]).result()
    with pytest.raises(SandboxFailedError, match="no room"):
        sandbox.wait()
    assert (sandbox.status, sandbox.status_reason, sandbox.sandbox_id) == (
        SandboxStatus.FAILED,
        "no room on this host",
        None,
    )
    sandbox.stop().result()


def test_a_slow_creation_hits_the_time_limits_that_were_asked_for(node: NodeControl) -> None:
    """`wait(timeout)` gives up waiting only; `request_timeout_seconds` gives up the creation."""
    node.do(lambda fake: fake.create_gate.clear())
    with pytest.raises(SandboxTimeoutError, match="did not run"):
        Sandbox.run().wait(timeout=0.01)
    with pytest.raises(SandboxRequestTimeoutError, match=r"request_timeout_seconds=0\.01"):
        Sandbox.run(request_timeout_seconds=0.01).wait()
    node.do(lambda fake: fake.create_gate.set())


def test_concurrent_stops_share_one_end(node: NodeControl) -> None:
    """Every caller waits for the real end, and the node is asked once."""
    sandbox = Sandbox.run().wait()
    node.do(lambda fake: fake.stop_gate.clear())
    stops = [sandbox.stop(graceful_shutdown_seconds=3) for _ in range(4)]
    with pytest.raises(concurrent.futures.TimeoutError):
        stops[0].result(0.01)
    node.do(lambda fake: fake.stop_gate.set())
    assert harena.results(stops) == [None] * 4
    assert node.do(lambda fake: fake.handles[0].stops) == [3]
    with pytest.raises(SandboxTerminatedError):
        sandbox.exec(["echo"]).result()
    with pytest.raises(SandboxValidationError, match="graceful"):
        sandbox.stop(graceful_shutdown_seconds=-1)


def test_stop_can_tolerate_that_the_sandbox_is_gone(node: NodeControl) -> None:
    """With missing_ok only; a later stop asks again."""
    sandbox = Sandbox.run().wait()
    node.do(lambda fake: fake.stop_errors.extend([SandboxNotFoundError("gone"), SandboxNotFoundError("gone")]))
    with pytest.raises(SandboxNotFoundError):
        sandbox.stop().result()
    sandbox.stop(missing_ok=True).result()


def test_stopping_what_was_never_started_keeps_it_from_starting(node: NodeControl) -> None:
    """No sandbox is created for it."""
    sandbox = Sandbox()
    sandbox.stop().result()
    with pytest.raises(SandboxNotRunningError, match="before it was started"):
        sandbox.exec(["echo"]).result()
    assert node.do(lambda fake: fake.handles) == []


def test_stop_during_creation_ends_what_was_created(node: NodeControl) -> None:
    """A stop that comes early waits for the creation and then ends it."""
    node.do(lambda fake: fake.create_gate.clear())
    sandbox = Sandbox.run()
    assert node.do(lambda fake: fake.creating) == 1
    stop = sandbox.stop()
    node.do(lambda fake: fake.create_gate.set())
    stop.result(5)
    assert node.do(lambda fake: fake.handles[0].info.status) is SandboxStatus.COMPLETED


def test_an_error_in_the_block_is_not_hidden_by_a_failed_clean_up(node: NodeControl) -> None:
    """The block's own error wins; without one the clean-up's is raised."""

    def use(error: Exception | None) -> None:
        with Sandbox.run() as sandbox:
            sandbox.wait()
            node.do(lambda fake: fake.stop_errors.append(SandboxNotFoundError("gone")))
            if error is not None:
                raise error

    with pytest.raises(KeyError):
        use(KeyError("mine"))
    with pytest.raises(SandboxNotFoundError):
        use(None)


async def test_everything_can_be_awaited_in_the_callers_own_loop(node: NodeControl) -> None:
    """A running event loop, as in a notebook, is no obstacle."""
    async with Sandbox.run() as sandbox:
        assert await sandbox is sandbox
        result = await sandbox.exec(["echo", "hi"])
        assert result.stdout == "hi\n"
        await sandbox.write_file("/tmp/x", b"1")
        assert await sandbox.read_file("/tmp/x") == b"1"
    assert sandbox.status is SandboxStatus.COMPLETED
    again = Sandbox.run()
    await again.start()
    await again.stop()


def test_one_sandbox_is_used_from_many_threads(node: NodeControl) -> None:
    """Every thread gets its own result, and the counts add up."""
    sandbox = Sandbox.run()
    results: dict[int, str] = {}

    def use(number: int) -> None:
        for _ in range(20):
            results[number] = sandbox.exec(["echo", str(number)]).result().stdout

    threads = [threading.Thread(target=use, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == {number: f"{number}\n" for number in range(8)}
    assert sandbox.exec_stats == {"exec_count": 160, "completed_ok": 160, "completed_nonzero": 0, "failures": 0}


def test_list_filters_by_tags_and_one_or_several_statuses(node: NodeControl) -> None:
    """Tags are all needed; ended sandboxes come only when asked for."""
    first = Sandbox.run(tags=["run:1", "x"]).wait()
    Sandbox.run(tags=["run:1"]).wait()
    Sandbox.run(tags=["run:2"]).wait()
    assert len(Sandbox.list(tags=["run:1"]).result()) == 2
    assert [found.sandbox_id for found in Sandbox.list(tags=["run:1", "x"]).result()] == [first.sandbox_id]
    assert len(Sandbox.list(status=[SandboxStatus.RUNNING, SandboxStatus.PENDING]).result()) == 3
    assert Sandbox.list(status="pending").result() == []
    first.stop().result()
    assert len(Sandbox.list(tags=["run:1"]).result()) == 1
    assert len(Sandbox.list(tags=["run:1"], show_terminated=True).result()) == 2
    assert len(Sandbox.list(status=SandboxStatus.COMPLETED).result()) == 1
    with pytest.raises(SandboxValidationError, match="status must be"):
        Sandbox.list(status="runing")
    with pytest.raises(SandboxValidationError, match="not one text"):
        Sandbox.list(tags="run:1")


def test_a_sandbox_is_found_and_deleted_by_id(node: NodeControl) -> None:
    """The found object works like the one that created it."""
    created = Sandbox.run(tags=["t"])
    assert created.sandbox_id is not None
    found = Sandbox.from_id(created.sandbox_id).result()
    assert found.exec(["echo", "x"]).result().returncode == 0
    assert (found.tags, found.sandbox_id, found.wait()) == (("t",), created.sandbox_id, found)
    Sandbox.delete(created.sandbox_id).result()
    assert created.status is SandboxStatus.COMPLETED
    with pytest.raises(SandboxNotFoundError):
        Sandbox.delete("sb-none").result()
    Sandbox.delete("sb-none", missing_ok=True).result()
    with pytest.raises(SandboxNotFoundError):
        Sandbox.from_id("sb-none").result()


def test_a_dropped_sandbox_goes_on_and_is_found_again(node: NodeControl) -> None:
    """`Sandbox.run` without a name for the result is no leak that ends by chance."""
    Sandbox.run(tags=["orphan"]).wait()
    gc.collect()
    [orphan] = Sandbox.list(tags=["orphan"]).result()
    orphan.stop(missing_ok=True).result()


def test_the_main_command_is_run_and_ends_the_sandbox(node: NodeControl) -> None:
    """Its words arrive unchanged, its output is the log, its end is the sandbox's, and it is no exec of the user's."""
    sandbox = Sandbox.run("python", "-c", "print(1)")
    assert sandbox.wait_until_complete(timeout=5).result() is sandbox
    assert (sandbox.returncode, sandbox.status) == (0, SandboxStatus.COMPLETED)
    request = node.do(lambda fake: fake.handles[0].fake.execs[0].request)
    assert request.argv == ("/bin/sh", "-c", 'exec "$@" 2>&1', "sh", "python", "-c", "print(1)")
    assert "".join(sandbox.stream_logs()).endswith("print(1)\n")
    assert sandbox.exec_stats["exec_count"] == 0


def test_logs_can_be_followed_and_cut(node: NodeControl) -> None:
    """The last lines of what was there, then what comes, until the command ends."""

    async def two_steps(running) -> int:  # type: ignore[no-untyped-def]
        running.stdout.append(b"one\ntwo\n")
        await running.port.node.file_gate.wait()
        running.stdout.append("dréi\n".encode()[:3])
        running.stdout.append("dréi\n".encode()[3:])
        return 0

    node.do(lambda fake: (fake.file_gate.clear(), fake.programs.update({"/bin/sh": two_steps})))
    sandbox = Sandbox.run("x")
    logs = sandbox.stream_logs(follow=True, tail_lines=1)
    assert next(logs) == "two\n"
    node.do(lambda fake: fake.file_gate.set())
    assert "".join(logs) == "dréi\n"
    assert list(Sandbox.run().stream_logs(follow=True)) == []


def test_waiting_for_the_end_tells_how_it_ended(node: NodeControl) -> None:
    """By itself, by a stop, by its lifetime, or not in time."""
    lost = Sandbox.run().wait()
    node.do(lambda fake: fake.handles[0].end(SandboxStatus.FAILED, "out of memory"))
    with pytest.raises(SandboxFailedError, match="out of memory") as caught:
        lost.wait_until_complete().result()
    assert (caught.value.status_reason, caught.value.sandbox_id) == ("out of memory", "sb-1")
    stopped = Sandbox.run().wait()
    stopped.stop().result()
    with pytest.raises(SandboxTerminatedError):
        stopped.wait_until_complete().result()
    assert stopped.wait_until_complete(raise_on_termination=False).result() is stopped
    expired = Sandbox.run().wait()
    node.do(lambda fake: fake.handles[2].end(SandboxStatus.TERMINATED, "lifetime"))
    with pytest.raises(SandboxTerminatedError, match="lifetime"):
        expired.wait_until_complete().result()
    with pytest.raises(SandboxTimeoutError):
        Sandbox.run().wait_until_complete(timeout=0.01).result()


def test_processes_signals_and_lifetime(node: NodeControl) -> None:
    """The verbs beyond the guides reach the node as they were given."""
    sandbox = Sandbox.run()
    sandbox.exec(["sleep"])
    [info] = sandbox.processes().result()
    assert info.command == ("sleep",)
    sandbox.kill(info.pid, 15).result()
    assert node.do(lambda fake: fake.handles[0].fake.signals) == [(info.pid, 15)]
    assert sandbox.extend_lifetime(60).result() == datetime(2030, 1, 1, 0, 1, tzinfo=UTC)
    for bad in (1, 0, -5, True):
        with pytest.raises(SandboxValidationError, match="pid"):
            sandbox.kill(bad)
    with pytest.raises(SandboxValidationError, match="seconds"):
        sandbox.extend_lifetime(0)


def test_the_network_is_asked_for_changed_and_looked_at(node: NodeControl) -> None:
    """One policy, read where it is given; what is wrong with it is said before anything starts."""
    sandbox = Sandbox.run(network={"allow": ["pypi"]}, defaults=SandboxDefaults(network="open"))
    sandbox.wait()
    assert node.do(lambda fake: fake.handles[0].spec.network.to_json()) == {"allow": ["pypi"]}
    sandbox.set_network("open").result()
    log = sandbox.network_log(after=5, limit=7).result()
    assert (log.policy, log.next_after, log.received_bytes) == ("open", 12, 2)
    with pytest.raises(SandboxValidationError, match="network"):
        Sandbox.run(network={"allow": ["http://a.org"]})
    with pytest.raises(SandboxValidationError, match="network"):
        SandboxDefaults(network=5)
    with pytest.raises(SandboxValidationError, match="limit"):
        sandbox.network_log(limit=101)
    with pytest.raises(SandboxValidationError, match="network"):
        sandbox.set_network("pypi")


def test_status_of_what_was_never_started_is_an_error(node: NodeControl) -> None:
    """There is no one to ask."""
    with pytest.raises(SandboxNotRunningError):
        Sandbox().get_status()
