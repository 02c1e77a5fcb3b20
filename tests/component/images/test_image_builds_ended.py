"""Builds that end early leave whole steps and nothing else, and say why."""

from __future__ import annotations

import asyncio
import base64
import bz2
import contextvars
import io
import os
import sys
import tarfile
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from build_world import WORKSPACE, NoSandboxes, archive, builds_over, is_whole

from harena.core.clock import SystemClock
from harena.core.errors import LimitExceededError, NotFoundError, PlatformError, ValidationError
from harena.core.records.image_builds import BuildState, ImageBuild
from harena.core.threads import IMAGES, work_for
from harena.image_build import building
from harena.image_build import builds as builds_module
from harena.image_build.building import Builder
from harena.image_build.builds import Builds
from harena.image_store.images import Images
from harena.image_store.manifests import this_platform
from harena.node import image_builds
from harena.node.image_builds import user_of

STEPS = "FROM scratch\n" + "".join(f"COPY f{number} /d/\n" for number in range(4)) + "WORKDIR /w\n"


@pytest.fixture
async def images(tmp_path: Path) -> AsyncIterator[Images]:
    found = Images(tmp_path / "images", SystemClock(), for_server=False)
    yield found
    await found.close()


async def built(builds: Builds, dockerfile: str, *files: tuple[str, bytes], **asked: object) -> ImageBuild:
    begun = await builds.build_image(WORKSPACE, archive(dockerfile, *files, **asked))
    return await builds.wait(WORKSPACE, begun.id)


def left(images: Path) -> list[str]:
    return os.listdir(images / "work")


async def test_a_build_that_is_cancelled_leaves_its_steps(images: Images, tmp_path: Path) -> None:
    builds, runner = builds_over(images)
    dockerfile = "FROM scratch\nCOPY a /a\nRUN wait"
    begun = await builds.build_image(WORKSPACE, archive(dockerfile, ("a", b"1")))
    await runner.begun.wait()
    told = await builds.cancel(WORKSPACE, begun.id)
    assert told.state is BuildState.CANCELLED
    assert left(tmp_path / "images") == []
    again = await built(builds, "FROM scratch\nCOPY a /a\n", ("a", b"1"))
    assert (again.state, again.steps_cached) == (BuildState.DONE, 1)
    events = [event async for event in builds.events(WORKSPACE, begun.id, after=0)]
    assert "begun\n" in [event.text for event in events if event.kind == "output"]
    assert [event.cursor for event in events] == list(range(1, len(events) + 1))


async def test_contexts_of_builds_that_have_not_ended_have_one_bound(
    images: Images, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They lie on the disk until their builds end, and no budget counts them; what a refused one has sent goes."""
    monkeypatch.setenv("HARENA_BUILD_CONTEXT_BYTES", str(100_000))
    builds, _ = builds_over(images)

    def sent(size: int, workspace: str = WORKSPACE) -> Awaitable[ImageBuild]:
        return builds.build_image(workspace, archive("FROM scratch\nCOPY a /a\nRUN wait", ("a", bytes(size))))

    begun = [await sent(80_000), await sent(80_000)]
    for _ in range(3):
        with pytest.raises(LimitExceededError, match="wait for some of them") as refused:
            await sent(80_000)
        assert refused.value.reason == "BUSY"
    with pytest.raises(ValidationError, match="the context has more than 100000 bytes"):
        await sent(150_000)
    begun.append(await sent(1000))
    begun_by_others = await sent(80_000, "other")
    await builds.cancel(WORKSPACE, begun[0].id)
    begun.append(await sent(80_000))
    for one in begun[1:]:
        await builds.cancel(WORKSPACE, one.id)
    await builds.cancel("other", begun_by_others.id)
    assert not builds._context_bytes


async def test_a_build_ends_at_its_time(images: Images, tmp_path: Path) -> None:
    builds, _ = builds_over(images)
    told = await built(builds, "FROM scratch\nCOPY a /a\nRUN wait", ("a", b"1"), timeout_seconds=0.5)
    assert (told.state, told.reason) == (BuildState.FAILED, "BUILD_TIME")
    assert left(tmp_path / "images") == []


async def test_a_command_that_fails_names_its_line(images: Images, tmp_path: Path) -> None:
    builds, _ = builds_over(images)
    told = await built(builds, "FROM scratch\n\nCOPY a /a\nRUN broken", ("a", b"1"))
    assert told.error is not None
    assert told.error.startswith("Dockerfile line 4: RUN: broken.")
    assert told.reason == "DOCKERFILE"
    assert left(tmp_path / "images") == []


async def test_without_room_a_build_fails_and_leaves_nothing(
    images: Images, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HARENA_IMAGE_BYTES", "200000")
    builds, _ = builds_over(images)
    told = await built(builds, "FROM scratch\nCOPY a /a", ("a", bytes(1_000_000)))
    assert (told.state, told.reason) == (BuildState.FAILED, "IMAGE_SPACE")
    await images.collect(WORKSPACE, None)
    place = tmp_path / "images"
    assert [left(place), os.listdir(place / "images"), os.listdir(place / "layers")] == [[], [], []]
    assert os.listdir(place / "blobs/sha256") == []


def bomb(size: int) -> bytes:
    """An archive with one empty file, and much behind its end."""
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as archive:
        archive.addfile(tarfile.TarInfo("f"))
    return bz2.compress(made.getvalue() + bytes(size))


async def test_what_add_unpacks_goes_with_its_step(
    images: Images, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many there are: their layers may be empty, so that no budget of images counts them."""
    monkeypatch.setenv("HARENA_IMAGE_BYTES", str(4 << 20))
    builds, runner = builds_over(images)
    steps = "".join(f"ADD b /{number}/\n" for number in range(4))
    begun = await builds.build_image(WORKSPACE, archive(f"FROM scratch\n{steps}RUN wait", ("b", bomb(3 << 20))))
    await runner.begun.wait()
    lies = sum(file.stat().st_size for file in (tmp_path / "images").rglob("*") if file.is_file())
    assert lies < 1 << 20
    await builds.cancel(WORKSPACE, begun.id)


@pytest.mark.parametrize(
    "steps",
    [
        "ADD b b /x/",
        "COPY a a/../a /x/\nADD b c /x/",
        "COPY d /d\nRUN " + "".join(f"--mount=type=bind,source=d,target=/{name} " for name in "mno") + "wait",
    ],
)
async def test_what_a_build_lays_aside_has_one_bound(
    images: Images, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, steps: str
) -> None:
    monkeypatch.setenv("HARENA_IMAGE_BYTES", str(5 << 20))
    builds, _ = builds_over(images)
    files = [("a", b"1"), ("b", bomb(3 << 20)), ("c", bomb(3 << 20)), ("d/e", bytes(2 << 20))]
    told = await built(builds, f"FROM scratch\n{steps}", *files)
    assert told.state is BuildState.FAILED
    assert told.reason in ("IMAGE_TOO_LARGE", "IMAGE_SPACE")
    assert left(tmp_path / "images") == []


async def test_single_files_that_a_command_mounts_have_one_bound(
    images: Images, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The node holds them in memory until they are in the sandbox."""
    monkeypatch.setattr(building, "_MOST_MOUNTED_BYTES", 5 << 20)
    builds, _ = builds_over(images)
    mounts = "".join(f"--mount=type=bind,source=d,target=/{name} " for name in "mno")
    told = await built(builds, f"FROM scratch\nCOPY d /d\nRUN {mounts}wait", ("d", bytes(2 << 20)))
    assert (told.state, told.reason) == (BuildState.FAILED, "DOCKERFILE")
    assert "mounts have more than 5242880 bytes" in (told.error or "")


async def test_steps_go_before_images_that_have_names(
    images: Images, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    builds, _ = builds_over(images)
    kept = await built(builds, "FROM scratch\nCOPY a /a", ("a", bytes(200_000)), references=["localhost/kept:1"])
    await built(builds, "FROM scratch\nCOPY a /b", ("a", bytes(300_000)))
    monkeypatch.setenv("HARENA_IMAGE_BYTES", "600000")
    await images.collect(WORKSPACE, None)
    assert [image.digest for image in (await images.page(WORKSPACE, limit=9, cursor=None)).images] == [kept.image]
    assert len(os.listdir(tmp_path / "images/layers")) == 1
    assert is_whole(tmp_path / "images")


def test_a_command_runs_as_its_user_where_there_are_several() -> None:
    """Nobody is named as root, since an image so far may name somebody; with one user, all are root."""
    several, one = {"users": "65536 ids"}, {"users": "one id: no newuidmap"}
    assert [user_of(name, several) for name in ("app", "")] == ["app", "0:0"]
    assert [user_of(name, one) for name in ("app", "")] == [None, None]
    assert user_of("app", {}) is None


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "CONTEXT"),
        (b"no tar at all", "CONTEXT"),
        (b"\0" * 2048, "CONTEXT"),
    ],
)
async def test_what_is_no_archive_is_refused(images: Images, tmp_path: Path, content: bytes, reason: str) -> None:
    async def pieces() -> AsyncIterator[bytes]:
        yield content

    builds, _ = builds_over(images)
    with pytest.raises(ValidationError) as refused:
        await builds.build_image(WORKSPACE, pieces())
    assert refused.value.reason == reason
    assert left(tmp_path / "images") == []


async def test_bad_requests_are_refused_before_any_work(images: Images, tmp_path: Path) -> None:
    builds, _ = builds_over(images)
    for asked in (
        {"arguments": {"X": 1}}, {"network": "x:y"}, {"timeout_seconds": -1}, {"memory_mb": "x"}, {"target": "none"},
        {"secrets": {"a": "?"}}, {"references": ["UPPER CASE"]}, {"references": ["a"] * 21}, {"ignore": "["},
        {"arguments": {"unknown": "1"}},
    ):  # fmt: skip
        with pytest.raises(ValidationError):
            await builds.build_image(WORKSPACE, archive("FROM scratch\nCOPY a /", ("a", b""), **asked))
    for name in ("../up", "/abs"):
        with pytest.raises(ValidationError, match="outside"):
            await builds.build_image(WORKSPACE, archive("FROM scratch\nCOPY a /", (f"../{name}", b"")))
    assert left(tmp_path / "images") == []


async def test_builds_of_a_workspace_are_counted_and_its_own(images: Images, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(builds_module, "_MOST_OPEN", 2)
    builds, _ = builds_over(images)
    begun = [
        await builds.build_image(WORKSPACE, archive("FROM scratch\nCOPY a /\nRUN wait", ("a", b""))) for _ in range(2)
    ]
    with pytest.raises(LimitExceededError):
        await builds.build_image(WORKSPACE, archive("FROM scratch\nCOPY a /", ("a", b"")))
    with pytest.raises(NotFoundError):
        await builds.get("other", begun[0].id)
    await builds.close()
    assert {(await builds.get(WORKSPACE, one.id)).state for one in begun} == {BuildState.CANCELLED}


async def test_contexts_of_builds_that_wait_have_a_bound_of_memory(
    images: Images, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The index of a context is there until its build ends; another workspace has its own room."""
    monkeypatch.setattr(builds_module, "_MOST_INDEXED_BYTES", 90 * 1024)
    builds, _ = builds_over(images)
    files = [(f"{number}", b"") for number in range(90)]
    waits = "FROM scratch\nCOPY 0 /\nRUN wait"
    begun = await builds.build_image(WORKSPACE, archive(waits, *files))
    await builds.build_image("other", archive(waits, ("0", b"")))
    with pytest.raises(LimitExceededError, match="too many files"):
        await builds.build_image(WORKSPACE, archive(waits, *files))
    await builds.build_image("other", archive(waits, *files))
    await builds.cancel(WORKSPACE, begun.id)
    await builds.build_image(WORKSPACE, archive(waits, *files))
    await builds.close()


class AheadClock(SystemClock):
    """It may be later than it is."""

    ahead = 0.0

    def now(self) -> float:
        return super().now() + self.ahead


async def test_builds_of_one_workspace_hold_up_no_others(images: Images) -> None:
    """Those that last a day, and those that wait for them."""
    builds, _ = builds_over(images)
    waiting = [archive("FROM scratch\nCOPY a /\nRUN wait", ("a", b"")) for _ in range(4)]
    begun = [await builds.build_image("attacker", one) for one in waiting]
    assert (await built(builds, "FROM scratch\nCOPY a /", ("a", b"1"))).state is BuildState.DONE
    assert not any([(await builds.get("attacker", one.id)).state.is_over for one in begun])
    await builds.close()


async def test_a_builds_time_stands_still_while_it_waits_for_its_turn(images: Images) -> None:
    clock = AheadClock()
    runner = NoSandboxes()
    builds = Builds(images.building, runner, clock, platform=this_platform())
    waits = "FROM scratch\nCOPY a /\nRUN wait"
    first, _ = [await builds.build_image(WORKSPACE, archive(waits, ("a", b""))) for _ in range(2)]
    last = await builds.build_image(
        WORKSPACE, archive("FROM scratch\nCOPY a /\nRUN said", ("a", b"1"), timeout_seconds=600)
    )
    for _ in range(1_000_000):
        if builds._turns._waiting and len(runner.seconds) == 2:  # the other two are at their commands
            break
        await asyncio.sleep(0)
    clock.ahead = 100_000.0
    await builds.cancel(WORKSPACE, first.id)
    told = await builds.wait(WORKSPACE, last.id)
    assert (told.state, told.reason) == (BuildState.FAILED, "DOCKERFILE")
    assert runner.seconds[-1] > 60
    await builds.close()


async def test_what_a_program_says_byte_by_byte_is_gathered(images: Images) -> None:
    """A million small pieces make few events, and no more is kept than may be."""
    build = builds_module._Build("build_x", WORKSPACE, [])
    clock = SystemClock()
    for _ in range(100_000):
        build.say(b"x", clock)
    assert len(build.events) <= 3
    for _ in range(2_000):
        build.say("\N{SNOWMAN}".encode() * 2_000, clock)
    build.flush()
    assert sum(sys.getsizeof(event.text) for event in build.events) <= builds_module.MOST_LOG_BYTES
    (last,) = build.since(build.cursor - 1)
    assert last.cursor == build.cursor


async def test_caches_of_a_command_have_one_bound(tmp_path: Path) -> None:
    """A file without content may be of any length in a sandbox; what is more than all may have is kept empty."""

    class Sandbox:
        async def create_archive(self, path: str) -> AsyncIterator[bytes]:
            for _ in range(3):
                yield bytes(1 << 20)

    files = [tmp_path / name for name in "abc"]
    spent, room = 0, 5 << 20
    for file in files:
        file.touch()
        spent += await image_builds._keep(Sandbox(), "/c", file, room - spent)  # type: ignore[arg-type]
    assert [file.stat().st_size for file in files] == [3 << 20, 1024, 1024]
    assert spent == (3 << 20) + 2048


async def test_a_build_has_threads_of_its_workspace(images: Images, monkeypatch: pytest.MonkeyPatch) -> None:
    """The node's own would be all workspaces', and who removes a large tree has one for minutes."""
    owners = set[str]()
    run_for = IMAGES.run_for

    async def noted(owner: str, function: Callable[[], Any]) -> Any:
        owners.add(owner)
        return await run_for(owner, function)

    builds, _ = builds_over(images)
    context = contextvars.copy_context()
    context.run(work_for.set, WORKSPACE)
    monkeypatch.setattr(IMAGES, "run_for", noted)
    work = built(builds, "FROM scratch\nCOPY a /\nWORKDIR /w", ("a", b"1"))
    told = await asyncio.create_task(work, context=context)
    assert told.state is BuildState.DONE
    assert owners == {WORKSPACE}


async def test_a_fault_of_its_own_is_no_cancellation(images: Images, monkeypatch: pytest.MonkeyPatch) -> None:
    async def faulty(builder: Builder) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(Builder, "build", faulty)
    builds, _ = builds_over(images)
    begun = await builds.build_image(WORKSPACE, archive("FROM scratch\nCOPY a /", ("a", b"1")))
    told = await builds.wait(WORKSPACE, begun.id)
    assert (told.state, told.error) == (BuildState.FAILED, builds_module._OWN_FAULT)
    kept = builds._builds.get(begun.id)
    assert kept is not None
    task = kept.task
    assert task is not None
    with pytest.raises(ZeroDivisionError):
        await task


async def test_a_fault_tells_nothing_of_the_servers_files(images: Images, monkeypatch: pytest.MonkeyPatch) -> None:
    """As where a program that works for it has died, whose traceback the message has."""

    async def faulty(builder: Builder) -> None:
        here = f"{tempfile.gettempdir()}/harena-work/layer"
        raise PlatformError(
            f'{here} died\nTraceback (most recent call last):\n  File "{here}.py", line 1, in x', step="seal"
        )

    monkeypatch.setattr(Builder, "build", faulty)
    builds, _ = builds_over(images)
    begun = await builds.build_image(WORKSPACE, archive("FROM scratch\nCOPY a /", ("a", b"1")))
    assert (await builds.wait(WORKSPACE, begun.id)).error == "(a path of the server) died"


async def test_a_secret_lies_nowhere_while_a_build_runs(images: Images, tmp_path: Path) -> None:
    """Neither as it is nor as it was sent; what a build has for its context stays as long as it runs."""
    secret = b"never to be found"
    sent = base64.b64encode(secret)
    builds, runner = builds_over(images)
    mount = "--mount=type=secret,id=token,required=true"
    request = archive(f"FROM scratch\nCOPY a /\nRUN {mount} wait", ("a", b"1"), secrets={"token": sent.decode()})
    begun = await builds.build_image(WORKSPACE, request)
    await runner.begun.wait()
    files = [file.read_bytes() for file in (tmp_path / "images").rglob("*") if file.is_file()]
    assert any(b"context/a" in content for content in files)
    assert not [content for content in files if secret in content or sent in content]
    await builds.cancel(WORKSPACE, begun.id)
