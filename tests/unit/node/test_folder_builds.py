"""Images that jobs build of task directories: what a workspace builds holds up nobody else, and names no place."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterable
from pathlib import Path
from typing import cast

import pytest

from harena.core.errors import ImageBuildError, PlatformError
from harena.core.ports.image_builds import FolderBuild
from harena.core.records.image_builds import BuildState, ImageBuild
from harena.image_build import source_trees
from harena.image_build.builds import Builds
from harena.node.folder_builds import FolderBuilds


class EndlessBuilds:
    """Those of the workspace `slow` never end."""

    def __init__(self) -> None:
        self.begun: Counter[str] = Counter()
        self.news = asyncio.Event()

    async def build_image(self, workspace: str, tree: AsyncIterable[bytes]) -> ImageBuild:
        async for _ in tree:
            pass
        self.begun[workspace] += 1
        self.news.set()
        return self._told(BuildState.RUNNING)

    async def wait(self, workspace: str, build: str) -> ImageBuild:
        if workspace == "slow":
            await asyncio.Event().wait()
        return self._told(BuildState.DONE)

    async def cancel(self, workspace: str, build: str) -> ImageBuild:
        return self._told(BuildState.CANCELLED)

    def _told(self, state: BuildState) -> ImageBuild:
        return ImageBuild(
            id="build_1", state=state, references=[], steps=1, steps_done=1, steps_cached=0, step=None, image="sha256:a"
        )  # fmt: skip


def folder_build(place: Path, number: int = 0) -> FolderBuild:
    (place / "task/environment").mkdir(parents=True, exist_ok=True)
    (place / "task/environment/Dockerfile").write_text("FROM x\n")
    context = place / "task/environment"
    return FolderBuild(reference=f"localhost/x:{number}", context=context, dockerfile=context / "Dockerfile")


async def test_builds_of_one_workspace_do_not_hold_up_another(tmp_path: Path) -> None:
    builds = EndlessBuilds()
    folders = FolderBuilds(lambda: cast("Builds", builds))
    slow = [
        asyncio.ensure_future(folders.build_folder("slow", folder_build(tmp_path, number), network="none"))
        for number in range(6)
    ]
    while builds.begun["slow"] < 4:
        await builds.news.wait()
        builds.news.clear()
    assert await folders.build_folder("other", folder_build(tmp_path), network="none") == "sha256:a"
    assert builds.begun == {"slow": 4, "other": 1}
    for task in slow:
        task.cancel()
    await asyncio.wait(slow)


async def test_rules_of_a_context_take_a_bounded_number_of_steps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They come from a client, with the files that they are compared with."""
    monkeypatch.setattr(source_trees, "_MOST_COMPARED", 1000)
    build = folder_build(tmp_path)
    (build.context / ".dockerignore").write_text("**/a*b*c*\n" * 100)
    folders = FolderBuilds(lambda: cast("Builds", EndlessBuilds()))
    assert await folders.build_folder("one", build, network="none") == "sha256:a"
    for number in range(20):
        (build.context / f"{number}abc").touch()
        (build.context / f"{number}abcabc").touch()
    (build.context / ("xabc" * 50)).touch()
    with pytest.raises(ImageBuildError, match=r"comparing the context with \.dockerignore takes too long"):
        await folders.build_folder("one", build, network="none")


async def test_an_error_names_the_task_and_no_place(tmp_path: Path) -> None:
    folders = FolderBuilds(lambda: cast("Builds", EndlessBuilds()))
    build = folder_build(tmp_path)
    with build.dockerfile.open("wb") as file:
        file.truncate(4 * 1024 * 1024 + 1)
    with pytest.raises(ImageBuildError, match="Dockerfile has more than 4194304 bytes"):
        await folders.build_folder("one", build, network="none")
    build.dockerfile.unlink()
    with pytest.raises(PlatformError, match="files that task is built of cannot be read: No such file") as caught:
        await folders.build_folder("one", build, network="none")
    assert str(tmp_path) not in str(caught.value)
