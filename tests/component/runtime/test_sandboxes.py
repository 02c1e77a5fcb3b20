from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Any

import pytest

from harena.core.blueprint_source import BlueprintSource
from harena.core.errors import (
    HostUnsupportedError,
    LimitExceededError,
    NotFoundError,
    PlatformError,
    SandboxFailedError,
    SandboxNotFoundError,
    SandboxNotRunningError,
    SandboxTerminatedError,
    SandboxUnavailableError,
    SandboxValidationError,
)
from harena.core.models import ExecRequest, SandboxSpec
from harena.core.network_policy import NO_NETWORK, NetworkPolicy, read_policy
from harena.core.records.blueprints import Blueprint
from harena.core.records.sandboxes import Limits, SandboxStatus
from harena.core.workspace import DEFAULT_WORKSPACE as HERE
from harena.core.workspace import WorkspaceLimits
from harena.runtime.host.sandboxes import LOOKED_AT_ONCE, MOST_ENDING, MOST_NOTED, MOST_REMEMBERED_BYTES, Sandboxes
from harena.testing import FakeClock, FakeRuntime, FakeSandbox

SPEC = SandboxSpec()
PYPI = read_policy({"allow": ["pypi"]})


class OneBlueprint(BlueprintSource):
    """Knows the blueprint `torch`."""

    def find(self, workspace: str, name_or_id: str) -> Blueprint:
        if name_or_id != "torch":
            raise NotFoundError(f"no blueprint {name_or_id}")
        return Blueprint(id="bp_torch", name="torch", image="python:torch", network=PYPI, digest="digest")


class Home:
    """A node's sandboxes over a fake runtime and a clock that stands still."""

    def __init__(self, *, most_remembered: int = 100) -> None:
        self.runtime = FakeRuntime()
        self.clock = FakeClock(auto_jump=False)
        self.sandboxes = Sandboxes(self.runtime, OneBlueprint(), self.clock, most_remembered=most_remembered)

    def fake(self, sandbox_id: str) -> FakeSandbox:
        return self.runtime.sandboxes[sandbox_id]


def lifetime(seconds: float | None) -> SandboxSpec:
    return SandboxSpec(limits=Limits(lifetime_seconds=seconds))


async def test_a_sandbox_has_the_network_of_its_blueprint_unless_it_says_another() -> None:
    """A policy that the node does not serve makes no sandbox."""
    home = Home()
    own = read_policy({"allow": ["a.org"]})
    for asked, had in ((None, PYPI), (NO_NETWORK, NO_NETWORK), (own, own)):
        await home.sandboxes.create(HERE, SandboxSpec(blueprint="torch", network=asked))
        assert home.runtime.created[-1].spec.policy == had
    await home.sandboxes.create(HERE, SPEC)
    assert home.runtime.created[-1].spec.policy == NO_NETWORK

    def refuse(policy: NetworkPolicy) -> None:
        raise SandboxValidationError(f"network: {policy.allow[0]}")

    sandboxes = Sandboxes(home.runtime, OneBlueprint(), home.clock, check_network=refuse)
    with pytest.raises(SandboxValidationError, match="pypi"):
        await sandboxes.create(HERE, SandboxSpec(blueprint="torch"))
    assert len(home.runtime.created) == 4


async def test_life_of_a_sandbox() -> None:
    """Created, used, stopped: status, times and errors follow."""
    home = Home()
    record = await home.sandboxes.create(HERE, SandboxSpec(tags=("a",), annotations={"k": "v"}))
    info = record.info
    assert (info.status, info.tags, info.annotations, info.blueprint) == (
        SandboxStatus.RUNNING,
        ("a",),
        {"k": "v"},
        None,
    )
    assert info.started_at == home.clock.utcnow()
    assert info.enforcement["isolation"].startswith("none")
    result = await (await record.port.exec(ExecRequest(argv=("echo", "x")))).wait()
    assert result.stdout == b"x\n"
    assert await record.refresh() == info
    await home.clock.advance(5)
    await record.stop()
    ended = await record.wait_terminal()
    assert (ended.status, ended.status_reason) == (SandboxStatus.COMPLETED, None)
    assert ended.stopped_at == home.clock.utcnow()
    assert home.runtime.sandboxes == {}
    with pytest.raises(SandboxTerminatedError, match=info.id):
        _ = record.port
    await record.stop()
    assert home.clock.pending == 0


async def test_get() -> None:
    """Living and ended sandboxes are found by id; others are an error that names the id."""
    home = Home()
    record = await home.sandboxes.create(HERE, SPEC)
    assert home.sandboxes.get(record.info.id) is record
    await record.stop()
    assert home.sandboxes.get(record.info.id) is record
    with pytest.raises(SandboxNotFoundError, match="sb_other") as caught:
        home.sandboxes.get("sb_other")
    assert caught.value.sandbox_id == "sb_other"


async def test_list() -> None:
    """Tags are all needed, statuses are alternatives, ended ones come only on request."""
    home = Home()
    both = await home.sandboxes.create(HERE, SandboxSpec(tags=("a", "b")))
    one = await home.sandboxes.create(HERE, SandboxSpec(tags=("b",)))
    gone = await home.sandboxes.create(HERE, SandboxSpec(tags=("a", "b", "c")))
    await gone.stop()
    elsewhere = await home.sandboxes.create("elsewhere", SandboxSpec(tags=("a", "b")))
    listed = partial(home.sandboxes.list_of, HERE)
    assert await listed() == [both, one]
    assert await listed(tags=["b", "a"]) == [both]
    assert await listed(include_terminal=True) == [gone, both, one]
    assert await listed(tags=["b", "a"], include_terminal=True) == [gone, both]
    assert await listed(statuses=[SandboxStatus.COMPLETED]) == [gone]
    assert await listed(statuses=[SandboxStatus.RUNNING, SandboxStatus.COMPLETED], tags=["b"]) == [gone, both, one]
    assert await listed(statuses=[SandboxStatus.FAILED]) == []
    assert home.sandboxes.list(include_terminal=True) == [gone, both, one, elsewhere]
    assert home.sandboxes.list(statuses=[SandboxStatus.COMPLETED]) == [gone]
    await home.sandboxes.close()


async def test_a_list_lets_others_go_on() -> None:
    """However many tags a workspace has; and it looks at no record of another one's."""
    home = Home(most_remembered=1000)
    ended = [
        await home.sandboxes.create(HERE, SandboxSpec(tags=tuple(f"{number}" for number in range(500))))
        for _ in range(20)
    ]
    for record in ended:
        await record.stop()
    for tags, found in ((["0", "499"], ended), (["0", "no"], [])):
        listing = asyncio.create_task(home.sandboxes.list_of(HERE, tags=tags, include_terminal=True))
        passes = 0
        while not listing.done():
            await asyncio.sleep(0)
            passes += 1
        assert listing.result() == found
        assert passes >= 20 * 500 // LOOKED_AT_ONCE // 2
    listing = asyncio.create_task(home.sandboxes.list_of("elsewhere", tags=["0"], include_terminal=True))
    await asyncio.sleep(0)
    assert listing.done()


async def test_ended_ones_are_forgotten_in_time() -> None:
    """Only so many ended sandboxes are remembered, the newest ones."""
    home = Home(most_remembered=2)
    records = [await home.sandboxes.create(HERE, SPEC) for _ in range(3)]
    for record in records:
        await record.stop()
    assert home.sandboxes.list(include_terminal=True) == records[1:]
    with pytest.raises(SandboxNotFoundError):
        home.sandboxes.get(records[0].info.id)


async def test_the_workspace_that_has_ended_most_is_forgotten_first() -> None:
    """By number, and by what it noted: others' sandboxes stay known, and the memory is bounded."""
    home = Home(most_remembered=4)
    mine = await home.sandboxes.create(HERE, SPEC)
    await mine.stop()
    for _ in range(6):
        await (await home.sandboxes.create("other", SPEC)).stop()
    assert home.sandboxes.get(mine.id) is mine
    home = Home(most_remembered=10_000)
    notes = SandboxSpec(annotations={"k": "v" * (MOST_NOTED - 1)})
    mine = await home.sandboxes.create(HERE, SandboxSpec(annotations={"k": "v"}))
    await mine.stop()
    others = [await home.sandboxes.create("other", notes) for _ in range(MOST_REMEMBERED_BYTES // MOST_NOTED + 2)]
    for record in others:
        await record.stop()
    assert home.sandboxes.get(mine.id).info.annotations == {"k": "v"}
    assert len(home.sandboxes.list(include_terminal=True)) <= MOST_REMEMBERED_BYTES // MOST_NOTED + 1
    assert others[0].info.annotations == {}
    with pytest.raises(SandboxValidationError, match="tags and annotations have"):
        await home.sandboxes.create(HERE, SandboxSpec(tags=("t",), annotations=notes.annotations))


async def test_lifetime() -> None:
    """When its lifetime is over a sandbox ends as TERMINATED, and says so."""
    home = Home()
    record = await home.sandboxes.create(HERE, lifetime(60))
    assert record.info.expires_at == home.clock.utcnow() + timedelta(seconds=60)
    await home.clock.advance(59)
    assert record.info.status is SandboxStatus.RUNNING
    await home.clock.advance(1)
    info = await record.wait_terminal()
    assert (info.status, info.status_reason) == (SandboxStatus.TERMINATED, "its lifetime is over")
    with pytest.raises(SandboxTerminatedError, match="lifetime"):
        _ = record.port
    with pytest.raises(SandboxTerminatedError, match="lifetime"):
        await record.extend_lifetime(5)
    assert home.runtime.sandboxes == {}


async def test_extension() -> None:
    """An extension counts from now, never shortens, and the old deadline is gone."""
    home = Home()
    record = await home.sandboxes.create(HERE, lifetime(60))
    await home.clock.advance(50)
    assert (await record.extend_lifetime(5)).expires_at == home.clock.utcnow() + timedelta(seconds=10)
    assert (await record.extend_lifetime(100)).expires_at == home.clock.utcnow() + timedelta(seconds=100)
    await home.clock.advance(99)
    assert record.info.status is SandboxStatus.RUNNING
    await home.clock.advance(1)
    assert (await record.wait_terminal()).status is SandboxStatus.TERMINATED


@pytest.mark.parametrize("seconds", [0, -1, float("inf"), float("nan")])
async def test_bad_lifetimes(seconds: float) -> None:
    """Lifetimes and extensions that are no positive number are refused."""
    home = Home()
    with pytest.raises(SandboxValidationError):
        await home.sandboxes.create(HERE, lifetime(seconds))
    assert home.runtime.created == []
    record = await home.sandboxes.create(HERE, SPEC)
    with pytest.raises(SandboxValidationError):
        await record.extend_lifetime(seconds)
    with pytest.raises(SandboxValidationError):
        await record.stop(grace_seconds=-1)
    await record.stop()


async def test_without_lifetime() -> None:
    """Without a limit there is no timer, and an extension changes nothing."""
    home = Home()
    record = await home.sandboxes.create(HERE, lifetime(None))
    assert home.clock.pending == 0
    assert (await record.extend_lifetime(5)).expires_at is None
    await record.stop()


async def test_sandboxes_that_are_being_created_are_listed_and_can_be_stopped() -> None:
    """With their tags, in the order of their creation. One that was stopped meanwhile has gone when it was made, and
    whoever asked for it is told; one whose creation was given up is no longer there."""
    home = Home()
    home.runtime.may_create.clear()
    first, stopped, given_up = (
        asyncio.create_task(home.sandboxes.create(HERE, SandboxSpec(tags=("mine", f"{number}")))) for number in range(3)
    )
    await home.runtime.asked_for(3)
    pending = await home.sandboxes.list_of(HERE, tags=["mine"])
    assert [record.info.tags[1] for record in pending] == ["0", "1", "2"]
    assert {record.info.status for record in pending} == {SandboxStatus.PENDING}
    assert home.sandboxes.list(statuses=[SandboxStatus.PENDING]) == [*pending] == home.sandboxes.pending(HERE)
    assert home.sandboxes.list(statuses=[SandboxStatus.RUNNING]) == home.sandboxes.pending("elsewhere") == []
    with pytest.raises(SandboxNotRunningError, match="still being created"):
        _ = pending[0].port
    assert home.sandboxes.get(pending[1].id) is pending[1]
    stop = asyncio.create_task(pending[1].stop())
    given_up.cancel()
    with pytest.raises(asyncio.CancelledError):
        await given_up
    assert pending[2].info.status is SandboxStatus.FAILED
    assert not stop.done()

    home.runtime.may_create.set()
    running = await first
    assert (running is pending[0], running.info.status) == (True, SandboxStatus.RUNNING)
    assert home.sandboxes.get(running.pending_id) is home.sandboxes.get(running.id) is running
    with pytest.raises(SandboxTerminatedError, match="stopped while it was being created"):
        await stopped
    await stop
    assert pending[1].info.status is SandboxStatus.COMPLETED
    assert home.sandboxes.list() == [running]
    assert list(home.runtime.sandboxes) == [running.id]


async def test_stops_are_one_stop() -> None:
    """Concurrent stops, one of them cancelled, share one end, and all but that one wait for it."""
    home = Home()
    record = await home.sandboxes.create(HERE, SPEC)
    fake = home.fake(record.info.id)
    calls: list[float] = []
    destroy, may_end = fake.destroy, asyncio.Event()

    async def slow_destroy(*, grace_seconds: float = 0.0) -> None:
        calls.append(grace_seconds)
        await may_end.wait()
        await destroy()

    fake.destroy = slow_destroy  # type: ignore[method-assign]
    stops = [asyncio.ensure_future(record.stop(grace_seconds=grace)) for grace in (3, 0, 0)]
    await asyncio.sleep(0)
    stops[0].cancel()
    await asyncio.sleep(0)
    assert record.info.status is SandboxStatus.TERMINATING
    with pytest.raises(SandboxTerminatedError):
        _ = record.port
    may_end.set()
    await asyncio.gather(*stops[1:])
    assert calls == [3]
    assert (await record.wait_terminal()).status is SandboxStatus.COMPLETED


@pytest.mark.parametrize(("memory", "said"), [(False, "the spawner died"), (True, "memory limit of 536870912 bytes")])
async def test_death_is_noticed(memory: bool, said: str) -> None:
    """A sandbox that ends by itself is FAILED with the reason, without anybody asking, and its timer is gone."""
    home = Home()
    record = await home.sandboxes.create(HERE, SPEC)
    waiting = asyncio.ensure_future(record.wait_terminal())
    await asyncio.sleep(0)
    await home.fake(record.info.id).die("the spawner died", memory=memory)
    info = await waiting
    assert info.status is SandboxStatus.FAILED
    assert said in (info.status_reason or "")
    with pytest.raises(SandboxNotRunningError, match=said):
        _ = record.port
    await record.stop()
    assert record.info.status is SandboxStatus.FAILED
    assert home.clock.pending == 0


async def test_end_that_fails() -> None:
    """A sandbox that cannot be ended is FAILED, and everyone who wanted its end is told."""
    home = Home()
    record = await home.sandboxes.create(HERE, SPEC)
    fake = home.fake(record.info.id)
    destroy = fake.destroy

    async def failing(*, grace_seconds: float = 0.0) -> None:
        raise PlatformError("still mounted")

    fake.destroy = failing  # type: ignore[method-assign]
    with pytest.raises(PlatformError, match="1 of 1 sandboxes could not be ended; the first: still mounted"):
        await home.sandboxes.close()
    assert record.info.status is SandboxStatus.FAILED
    assert "still mounted" in (record.info.status_reason or "")
    await destroy()


async def test_creation_that_fails() -> None:
    """What could not be created is remembered as FAILED, and is both a failed sandbox and the platform's failure."""
    home = Home()
    home.runtime.fail_next_create(PlatformError("no cgroup"), ValueError("a bug"))
    for said in ("no cgroup", "a bug"):
        with pytest.raises(SandboxFailedError, match=said) as caught:
            await home.sandboxes.create(HERE, SandboxSpec(tags=("t",)))
        assert isinstance(caught.value, PlatformError)
        assert caught.value.status_reason == said
        assert caught.value.sandbox_id is not None
        info = home.sandboxes.get(caught.value.sandbox_id).info
        assert (info.status, info.status_reason, info.tags) == (SandboxStatus.FAILED, said, ("t",))
        with pytest.raises(SandboxNotRunningError, match=said):
            _ = home.sandboxes.get(info.id).port
    assert len(home.sandboxes.list(statuses=[SandboxStatus.FAILED])) == 2
    assert home.sandboxes.list() == []


async def test_unsupported_host_stays_what_it_is() -> None:
    """An error that names a setting to change is not wrapped, but the failure is remembered."""
    home = Home()
    home.runtime.fail_next_create(HostUnsupportedError("set kernel.unprivileged_userns_clone=1"))
    with pytest.raises(HostUnsupportedError, match="unprivileged_userns_clone"):
        await home.sandboxes.create(HERE, SPEC)
    assert len(home.sandboxes.list(include_terminal=True)) == 1


async def test_bad_input_is_no_sandbox() -> None:
    """An unknown image or blueprint is an error of the caller: nothing is recorded."""
    home = Home()
    with pytest.raises(NotFoundError, match="nonsense"):
        await home.sandboxes.create(HERE, SandboxSpec(image="nonsense"))
    with pytest.raises(NotFoundError, match="other"):
        await home.sandboxes.create(HERE, SandboxSpec(blueprint="other"))
    assert home.sandboxes.list(include_terminal=True) == []


async def test_blueprint_is_resolved() -> None:
    """The runtime gets the blueprint and its image, which may be said once more; its digest is told."""
    home = Home()
    records = [
        await home.sandboxes.create(HERE, SandboxSpec(blueprint="torch", image=image))
        for image in ("default", "python:torch")
    ]
    for made in home.runtime.created:
        assert made.blueprint is not None
        assert (made.blueprint.id, made.spec.image) == ("bp_torch", "python:torch")
    assert [each.info.blueprint_digest for each in records] == ["digest"] * 2
    await home.sandboxes.close()


class KnowsSnapshots(FakeRuntime):
    """Begins with any snapshot."""

    async def create(
        self, spec: SandboxSpec, blueprint: Blueprint | None = None, *, workspace: str = HERE
    ) -> FakeSandbox:
        return await super().create(replace(spec, image="default"), blueprint, workspace=workspace)


async def test_a_blueprints_digest_names_what_runs() -> None:
    """Another image beside it is refused, and a snapshot, as forks have it, has no digest of a blueprint."""
    home = Home()
    with pytest.raises(SandboxValidationError, match=r"both the image 'debian:12' and the blueprint 'torch' are given"):
        await home.sandboxes.create(HERE, SandboxSpec(blueprint="torch", image="debian:12"))
    assert home.runtime.created == []
    home.sandboxes = Sandboxes(KnowsSnapshots(), OneBlueprint(), home.clock)
    fork = await home.sandboxes.create(HERE, SandboxSpec(blueprint="torch", image="snapshot://x"))
    assert (fork.info.blueprint, fork.info.blueprint_digest) == ("torch", "")
    await home.sandboxes.close()


async def test_borrowed_sandbox() -> None:
    """`sandbox()` gives a running sandbox and ends it: before a block that fails or is cancelled is left. It has no
    record."""
    home = Home()
    async with home.sandboxes.source(HERE).sandbox(SPEC) as sandbox:
        await sandbox.write_file("/tmp/x", b"1")
        assert home.sandboxes.list(include_terminal=True) == []
        assert len(home.runtime.sandboxes) == 1
    assert (await sandbox.wait_dead()).by_request
    assert home.runtime.sandboxes == {}
    with pytest.raises(ZeroDivisionError):
        async with home.sandboxes.source(HERE).sandbox(SPEC):
            _ = 1 / 0

    entered = asyncio.Event()

    async def endless() -> None:
        async with home.sandboxes.source(HERE).sandbox(SPEC) as sandbox:
            entered.set()
            await (await sandbox.exec(ExecRequest(argv=("sleep", "3600")))).wait()

    task = asyncio.ensure_future(endless())
    await entered.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert home.runtime.sandboxes == {}
    assert home.sandboxes.list(include_terminal=True) == []


async def test_the_runtime_is_told_whose_sandbox_it_is() -> None:
    """It keeps workspaces apart: created or lent."""
    home = Home()
    await home.sandboxes.create("one", SPEC)
    async with home.sandboxes.source("two").sandbox(SPEC):
        pass
    assert [made.workspace for made in home.runtime.created] == ["one", "two"]


class SlowEnds(FakeRuntime):
    """Its sandboxes end when they may; `refused`: the first try of each fails."""

    def __init__(self, *, refused: bool = False) -> None:
        super().__init__()
        self.may_end = asyncio.Event()
        self.refused = refused
        self.tried: list[str] = []
        self.one_too_many = asyncio.Event()

    async def create(
        self, spec: SandboxSpec, blueprint: Blueprint | None = None, *, workspace: str = HERE
    ) -> FakeSandbox:
        sandbox = await super().create(spec, blueprint, workspace=workspace)
        destroy = sandbox.destroy

        async def slow(*, grace_seconds: float = 0.0) -> None:
            self.tried.append(sandbox.id)
            if len(self.tried) > MOST_ENDING:
                self.one_too_many.set()
            await self.may_end.wait()
            if self.refused and self.tried.count(sandbox.id) == 1:
                raise PlatformError("it does not end", step="destroy sandbox")
            await destroy()

        sandbox.destroy = slow  # type: ignore[method-assign]
        return sandbox


async def test_the_end_of_a_borrowed_sandbox_is_not_waited_for_until_too_many_end() -> None:
    """So a run's slot is free while the kernel takes down its sandbox; and what is being taken down is bounded."""
    home = Home()
    home.runtime = slow = SlowEnds()
    home.sandboxes = Sandboxes(slow, OneBlueprint(), home.clock)

    async def borrow() -> None:
        async with home.sandboxes.source(HERE).sandbox(SPEC):
            pass

    for _ in range(MOST_ENDING):
        await borrow()
    assert len(slow.sandboxes) == MOST_ENDING
    one_more = asyncio.ensure_future(borrow())
    await slow.one_too_many.wait()
    assert not one_more.done()
    slow.may_end.set()
    await one_more
    await home.sandboxes.close()
    assert slow.sandboxes == {}


async def test_a_borrowed_sandbox_that_does_not_end_is_ended_by_close(caplog: pytest.LogCaptureFixture) -> None:
    """It is not forgotten, and the log has it."""
    home = Home()
    slow = SlowEnds(refused=True)
    slow.may_end.set()
    sandboxes = Sandboxes(slow, OneBlueprint(), home.clock)
    async with sandboxes.source(HERE).sandbox(SPEC) as sandbox:
        pass
    await asyncio.wait(sandboxes._endings)
    assert f"sandbox {sandbox.id} could not be ended: it does not end" in caplog.text
    assert list(slow.sandboxes) == [sandbox.id]
    await sandboxes.close()
    assert slow.sandboxes == {}


async def test_close_ends_what_is_borrowed() -> None:
    """Whoever still has it finds it ended; giving it back then is fine, and there is no other."""
    home = Home()
    async with home.sandboxes.source(HERE).sandbox(SPEC) as sandbox:
        await home.sandboxes.close()
        assert home.runtime.sandboxes == {}
        assert (await sandbox.wait_dead()).by_request
    with pytest.raises(SandboxUnavailableError, match="closed"):
        async with home.sandboxes.source(HERE).sandbox(SPEC):
            raise AssertionError("never entered")


async def test_close() -> None:
    """close() ends all, refuses new ones, ends one that was being created meanwhile, and may be called again."""
    home = Home()
    records = [await home.sandboxes.create(HERE, SPEC) for _ in range(3)]
    create, may_go = home.runtime.create, asyncio.Event()

    async def slow_create(
        spec: SandboxSpec, blueprint: Blueprint | None = None, *, workspace: str = HERE
    ) -> FakeSandbox:
        await may_go.wait()
        return await create(spec, blueprint)

    home.runtime.create = slow_create  # type: ignore[method-assign]
    late = asyncio.ensure_future(home.sandboxes.create(HERE, SPEC))
    await asyncio.sleep(0)
    await home.sandboxes.close()
    assert {record.info.status for record in records} == {SandboxStatus.COMPLETED}
    may_go.set()
    with pytest.raises(SandboxUnavailableError, match="closed"):
        await late
    with pytest.raises(SandboxUnavailableError, match="closed"):
        await home.sandboxes.create(HERE, SPEC)
    assert home.runtime.sandboxes == {}
    await home.sandboxes.close()


async def test_one_task_per_sandbox() -> None:
    """A living sandbox costs one task and one timer."""
    home = Home()
    before = len(asyncio.all_tasks())
    for _ in range(5):
        await home.sandboxes.create(HERE, SPEC)
    assert len(asyncio.all_tasks()) - before == 5
    assert home.clock.pending == 5
    await home.sandboxes.close()


async def test_info_is_a_value() -> None:
    """What was given out does not change afterwards."""
    home = Home()
    record = await home.sandboxes.create(HERE, SPEC)
    before = record.info
    copy = replace(before)
    await record.stop()
    assert before == copy


async def test_limits_are_checked_before_any_work() -> None:
    """Whoever asks: a limit that no sandbox can have is refused, and the runtime is never asked."""
    home = Home()
    limits: list[dict[str, Any]] = [{"memory_bytes": 1}, {"pids": True}, {"lifetime_seconds": 1e300}, {"open_files": 1}]
    for bad in limits:
        with pytest.raises(SandboxValidationError, match="limits: "):
            await home.sandboxes.create(HERE, SandboxSpec(limits=Limits(**bad)))
    assert home.runtime.created == []
    record = await home.sandboxes.create(HERE, SPEC)
    with pytest.raises(SandboxValidationError, match="extended"):
        await record.extend_lifetime(1e300)


async def test_no_limit_is_the_ceiling_and_more_is_refused() -> None:
    """Also of sandboxes that jobs make. A default that is more than the ceiling is the ceiling."""
    small = {"sandbox_memory_bytes": 64 << 20, "sandbox_output_bytes": 1000}
    ceilings = WorkspaceLimits(sandbox_pids=100, sandbox_cpu=2.5, **small)

    async def limits_of(workspace: str) -> WorkspaceLimits:
        return ceilings

    runtime = FakeRuntime()
    sandboxes = Sandboxes(runtime, OneBlueprint(), FakeClock(auto_jump=False), limits_of=limits_of)
    asked = Limits(pids=None, cpu=None, lifetime_seconds=None)
    made = (await sandboxes.create(HERE, SandboxSpec(limits=asked))).info.limits
    assert (made.pids, made.memory_bytes, made.output_bytes) == (100, 64 << 20, 1000)
    assert (made.cpu, made.lifetime_seconds) == (ceilings.sandbox_cpu, ceilings.sandbox_lifetime_seconds)
    greedy = SandboxSpec(limits=Limits(pids=101, disk_bytes=1 << 50, output_bytes=1001))
    with pytest.raises(SandboxValidationError) as refused:
        await sandboxes.create(HERE, greedy)
    assert [word in str(refused.value) for word in ("pids", "disk_bytes", "output_bytes")] == [True] * 3
    with pytest.raises(SandboxValidationError):
        async with sandboxes.lend(HERE, greedy):
            pass
    await sandboxes.close()


class OfMachines(BlueprintSource):
    """Knows a blueprint of the profile `machine`."""

    def find(self, workspace: str, name_or_id: str) -> Blueprint:
        return Blueprint(id="bp_m", name="m", image="debian:12", profile="machine")


async def test_no_workspace_of_a_server_has_the_profile_machine_by_itself() -> None:
    """Neither by a spec nor by a blueprint, nor where a job is lent one; words say what to do. An embedded node has no
    limits, and another workspace is not this one."""
    limits = {"trusted": WorkspaceLimits(machine_profile=1)}

    async def limits_of(workspace: str) -> WorkspaceLimits:
        return limits.get(workspace, WorkspaceLimits())

    clock = FakeClock(auto_jump=False)
    sandboxes = Sandboxes(FakeRuntime(), OfMachines(), clock, limits_of=limits_of)
    for asked in (SandboxSpec(image="debian:12", profile="machine"), SandboxSpec(blueprint="m")):
        with pytest.raises(SandboxValidationError, match="machine_profile=1") as refused:
            await sandboxes.create(HERE, asked)
        assert refused.value.reason == "MACHINE_PROFILE"
        with pytest.raises(SandboxValidationError, match="machine_profile=1"):
            async with sandboxes.lend(HERE, asked):
                pass
    await sandboxes.create(HERE, SandboxSpec())
    embedded = Sandboxes(FakeRuntime(), OfMachines(), clock)
    for node, workspace in ((sandboxes, "trusted"), (embedded, HERE)):
        planned, _ = await node._planned(workspace, SandboxSpec(blueprint="m"))
        assert planned.profile == "machine"
    await sandboxes.close()
    await embedded.close()


async def test_a_creation_waits_while_the_workspace_has_as_many_as_it_may() -> None:
    """Where its node is to wait, as that of a training job's worker; each end lets one more begin, and others' do not
    count."""
    home = Home()

    async def limits_of(_: str) -> WorkspaceLimits:
        return WorkspaceLimits(sandboxes=2)

    sandboxes = Sandboxes(home.runtime, OneBlueprint(), home.clock, limits_of=limits_of, waits=True)
    coming = [asyncio.create_task(sandboxes.create(HERE, SPEC)) for _ in range(5)]
    await asyncio.wait(coming, return_when=asyncio.FIRST_COMPLETED)
    for _ in range(50):
        await asyncio.sleep(0)
    begun = [task for task in coming if task.done()]
    assert len(begun) == 2
    await sandboxes.create("other", SPEC)
    await (begun[0].result()).stop()
    for _ in range(50):
        await asyncio.sleep(0)
    assert sum(task.done() for task in coming) == 3
    await sandboxes.close()
    ends = await asyncio.gather(*coming, return_exceptions=True)
    assert [type(end) for end in ends if isinstance(end, BaseException)] == [SandboxUnavailableError] * 2


async def test_a_workspace_that_may_have_no_sandboxes() -> None:
    """Nothing waits for what never comes."""
    home = Home()

    async def limits_of(_: str) -> WorkspaceLimits:
        return WorkspaceLimits(sandboxes=0)

    sandboxes = Sandboxes(home.runtime, OneBlueprint(), home.clock, limits_of=limits_of, waits=True)
    with pytest.raises(LimitExceededError, match="no sandboxes"):
        await sandboxes.create(HERE, SPEC)
