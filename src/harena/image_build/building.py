"""Makes the stages of one build, step by step: what is here is taken, COPY writes a layer, RUN works in a sandbox."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TypeVar

from harena.core.errors import HarenaError, PlatformError, ValidationError
from harena.core.image_configs import BuiltImage, ImageConfig
from harena.core.network_policy import NO_NETWORK, NetworkPolicy, policy_in_words
from harena.core.ports.image_builds import BuildCommand, BuildRoom, BuildRunner
from harena.core.threads import IMAGES
from harena.image_build.contexts import Received
from harena.image_build.copying import Item, Selection, check_sources, select, write_copy, write_folder
from harena.image_build.faults import DockerfileError, fault, shown
from harena.image_build.image_files import ImageFiles
from harena.image_build.keys import cache_key, end_key, network_words, step_key
from harena.image_build.layer_tars import LayerTar, LayerTooLargeError
from harena.image_build.planning import (
    SCRIPT,
    BuildPlan,
    CopyStep,
    FolderStep,
    ImageSource,
    LayerStep,
    MountStep,
    RunStep,
    StagePlan,
    plan_stage,
)
from harena.image_build.source_trees import FILE, Budget, ImageTree, SourceTree, find, search_budget
from harena.image_build.work_files import WorkFiles

T = TypeVar("T")
_MIB = 1024 * 1024
_PLACES = ("/data", "/root", "/tmp", "/workspace")
"""which every sandbox has, whatever its image"""
_MOUNTED = ("/dev", "/proc")
_MOST_MOUNTED_BYTES = 64 * _MIB
"""bytes of all single files that one command mounts: the node holds them in memory"""
_SECRET_MODE, _SECRET_MODE_FOR_OTHERS = 0o400, 0o444


@dataclass(frozen=True, slots=True)
class BuildLimits:
    """What a layer that a build writes may hold."""

    bytes: int
    files: int
    room: int
    """bytes that the images of the workspace may take"""

    @property
    def largest(self) -> int:
        """Bytes that anything may have which the build writes: more would never fit."""
        return min(self.bytes, self.room)


@dataclass(slots=True)
class Reports:
    """Who is told how far a build is."""

    planned: Callable[[int], None]
    """the number of steps is known"""
    began: Callable[[LayerStep], None]
    ended: Callable[[bool], None]
    """a step was made; whether it was here already"""
    said: Callable[[bytes], None]
    """a command has said something"""


@dataclass(slots=True)
class Builder:
    """One build. Used from one event loop."""

    room: BuildRoom
    runner: BuildRunner
    workspace: str
    received: Received
    plan: BuildPlan
    limits: BuildLimits
    reports: Reports
    deadline: Callable[[], float]
    """seconds that are left"""
    _images: dict[str, BuiltImage] = field(default_factory=dict)
    """images by their references"""
    _stages: dict[int, BuiltImage | None] = field(default_factory=dict)
    _plans: dict[int, StagePlan] = field(default_factory=dict)
    _stop: threading.Event = field(default_factory=threading.Event)
    _budget: Budget = field(default_factory=search_budget)
    _work: WorkFiles = field(init=False)

    async def pull(self) -> None:
        """Have the images that stages begin with. Raises as `BuildRoom.base`."""
        for reference in sorted(self.plan.references):
            self._images[reference] = await self.room.base(reference)

    async def build(self) -> BuiltImage:
        """The image of the target. Raises DockerfileError, ValidationError, HarenaError."""
        self._work = WorkFiles(self.room.path, self.limits.largest)
        self._budget.stop = self.received.context.stop = self._stop.is_set
        self.received.context.budget = self._budget
        await self._thread(self._plan_all)
        self.reports.planned(sum(len(plan.steps) for plan in self._plans.values()))
        for number in self.plan.needed:
            self._stages[number] = await self._stage(number)
        made = self._stages[self.plan.needed[-1]]
        if made is None:
            raise DockerfileError("the image has no files: give it some (COPY, ADD or RUN)", reason="DOCKERFILE")
        return made

    async def _thread(self, function: Callable[[], T]) -> T:
        work = asyncio.ensure_future(IMAGES.run_for(self.workspace, function))
        try:
            return await asyncio.shield(work)
        except asyncio.CancelledError:
            self._stop.set()
            while not work.done():  # it writes where nothing may be left behind, however often this is cancelled
                with suppress(asyncio.CancelledError):
                    await asyncio.wait([work])
            if not work.cancelled():
                work.exception()  # it was stopped, which nobody need be told
            raise
        except LayerTooLargeError as error:
            reason = "IMAGE_TOO_LARGE" if self.limits.largest == self.limits.bytes else "IMAGE_SPACE"
            raise ValidationError(f"the layer is too large: {error}", reason=reason) from None
        except OSError as error:
            raise _disk(error) from error

    # -- what can be said before anything is made --

    def _plan_all(self) -> None:
        """Plan all stages, and look whether the context has what they copy."""
        for number in self.plan.needed:
            base = self.plan.bases[number]
            if base.stage is not None:
                config = self._plans[base.stage].config
            else:
                config = self._images[base.reference].config if base.reference else ImageConfig()
            self._plans[number] = planned = plan_stage(self.plan, number, config)
            for step, _ in planned.steps:
                if isinstance(step, CopyStep) and step.from_ is None:
                    check_sources(step, self.received.context)
                elif isinstance(step, RunStep):
                    self._check_run(step)

    def _check_run(self, step: RunStep) -> None:
        for mount in step.mounts:
            if mount.kind == "secret" and mount.required and mount.id not in self.received.secrets:
                raise fault(
                    step.line,
                    "RUN",
                    f"the build was given no secret {shown(mount.id)}",
                    f"Give it: --secret {mount.id}=FILE.",
                )

    # -- stages --

    async def _stage(self, number: int) -> BuiltImage | None:
        base = self.plan.bases[number]
        planned = self._plans[number]
        image = self._stages[base.stage] if base.stage is not None else self._images.get(base.reference)
        key = image.digest if image is not None else "scratch"
        for step, config in planned.steps:
            self.reports.began(step)
            image, key, was_here = await self._step(step, config, image, key)
            self.reports.ended(was_here)
        if image is None:
            return None
        key = end_key(key, planned.config)
        return await self._cached(key) or await self.room.commit(image, None, planned.config, key)

    async def _cached(self, key: str) -> BuiltImage | None:
        return await self.room.cached(key) if self.received.request.use_cache else None

    async def _step(
        self, step: LayerStep, config: ImageConfig, image: BuiltImage | None, parent: str
    ) -> tuple[BuiltImage | None, str, bool]:
        """The image with the step's layer, its key, and whether it was here already."""
        if isinstance(step, RunStep):
            return await self._run(step, config, image, parent)
        files = _files(image)
        selection: Selection | None = None
        contents: Sequence[str] = ()
        if isinstance(step, CopyStep):
            selection = await self._selected(step)
            contents = [await self._thread(selection.digest)]
        key = step_key(parent, step, config, contents)
        found = await self._cached(key)
        layer = None
        if found is None:
            layer = await self._thread(partial(self._write, step, selection, files))
        if selection is not None:
            await self._remove(selection.archives)
        if found is not None:
            return found, key, True
        if layer is None:
            return image, key, True
        return await self.room.commit(image, layer, config, key), key, False

    async def _remove(self, files: Iterable[Path]) -> None:
        await self._thread(partial(self._work.remove, files))

    async def _selected(self, step: CopyStep) -> Selection:
        tree, where = await self._tree(step.from_)
        return await self._thread(partial(select, step, tree, where, self._work))

    async def _tree(self, source: ImageSource | None) -> tuple[SourceTree, str]:
        """What a step copies from, and its name for people."""
        if source is None:
            return self.received.context, "the context"
        if source.stage is not None:
            return self._image_tree(self._stages[source.stage]), f"stage {source.stage}"
        if source.is_scratch:
            return self._image_tree(None), "scratch"
        if source.reference not in self._images:
            self._images[source.reference] = await self.room.base(source.reference)
        return self._image_tree(self._images[source.reference]), source.reference

    def _image_tree(self, image: BuiltImage | None) -> ImageTree:
        tree = ImageTree(_files(image))
        tree.stop, tree.budget = self._stop.is_set, self._budget
        return tree

    def _write(self, step: CopyStep | FolderStep, selection: Selection | None, files: ImageFiles) -> Path | None:
        """The layer as a tar file; None = there is nothing to change."""
        descriptor, path = self._work.new("layer-")
        with open(descriptor, "wb") as file:
            layer = LayerTar(file, most_bytes=self._work.left, most_files=self.limits.files)
            if isinstance(step, FolderStep):
                write_folder(step, files, layer)
            else:
                assert selection is not None
                write_copy(step, selection, files, layer)
            layer.close()
        if not layer.entries:
            self._work.remove([path])
            return None
        return self._work.let_go(path)

    # -- RUN --

    async def _run(
        self, step: RunStep, config: ImageConfig, image: BuiltImage | None, parent: str
    ) -> tuple[BuiltImage, str, bool]:
        if image is None:
            raise fault(step.line, "RUN", "there is no program in scratch", "COPY one, or begin with another image.")
        mounted = [(mount, await self._mounted(step, mount)) for mount in step.mounts if mount.kind == "bind"]
        contents = [await self._thread(selection.digest) for _, selection in mounted]
        network = policy_in_words(self.received.request.network) if step.has_network else NO_NETWORK
        newest = self.plan.options.newest_seconds
        times = [] if newest is None else [f"times {newest}"]
        key = step_key(parent, step, config, [*contents, *network_words(network), *times])
        if (found := await self._cached(key)) is not None:
            return found, key, True
        files = _files(image)
        targets = {
            mount.target: "/" + "/".join(await self._thread(partial(_resolve_path, step, files, mount.target)))
            for mount in step.mounts
            if mount.target
        }
        command, caches = await self._command(step, mounted, targets, network)
        command = replace(command, places=await self._thread(partial(_lacking, files)))
        async with self.runner.run(self.workspace, image, command, self.reports.said) as ended:
            if ended.why or ended.layer is None:
                raise fault(step.line, "RUN", ended.why, "What it said stands in the build's log.")
            without = [*targets.values(), *ended.empty, *_MOUNTED]
            made = await self.room.commit(image, ended.layer, config, key, without=without, newest_seconds=newest)
        await self._remove([file for _, file in command.trees if file is not None])
        for name, file in caches:
            with suppress(HarenaError):  # the step is made, and a cache may be lost at any time
                await self.room.commit(None, file, ImageConfig(), cache_key(name))
            await self._remove([file])  # where it was kept, it is no more here
        return made, key, False

    async def _command(
        self,
        step: RunStep,
        mounted: Sequence[tuple[MountStep, Selection]],
        targets: Mapping[str, str],
        network: NetworkPolicy,
    ) -> tuple[BuildCommand, Sequence[tuple[str, Path]]]:
        """The command, and the caches that it may change, with the files that they come in."""
        environment = {**step.hidden, **step.environment}
        laid: dict[str, tuple[bytes, int]] = {}
        trees: list[tuple[str, Path | None]] = []
        kept: list[tuple[str, Path]] = []
        caches: list[tuple[str, Path]] = []
        if step.script is not None:
            laid[SCRIPT] = step.script.encode(), 0o755
        for mount in step.mounts:
            if mount.kind == "secret" and (content := self.received.secrets.get(mount.id)) is not None:
                if mount.variable:
                    environment[mount.variable] = content.decode(errors="replace")
                if mount.target:
                    mode = mount.mode if mount.mode is not None else _SECRET_MODE
                    laid[targets[mount.target]] = content, mode if not mount.uid else _SECRET_MODE_FOR_OTHERS
            elif mount.kind == "tmpfs":
                trees.append((targets[mount.target], None))
            elif mount.kind == "cache":
                image = await self.room.cached(cache_key(mount.id))
                file = await self._thread(self._empty_file)
                trees.append((targets[mount.target], self.room.layer_archive(image) if image is not None else None))
                kept.append((targets[mount.target], file))
                caches.append((mount.id, file))
        left = _MOST_MOUNTED_BYTES
        for mount, selection in mounted:
            if (one := await self._thread(partial(_one_file, mount, selection))) is not None:
                content = await self._thread(partial(_content, step, one, left))
                left -= len(content)
                laid[targets[mount.target]] = content, one.node.mode
                continue
            written = partial(self._write_tree, step, mount, selection)
            trees.append((targets[mount.target], await self._thread(written)))
        command = BuildCommand(
            argv=step.argv,
            environment=environment,
            workdir=step.workdir,
            user=step.user,
            memory_bytes=self.received.request.memory_mb * _MIB,
            timeout_seconds=max(1.0, self.deadline()),
            files=laid,
            trees=trees,
            kept=kept,
            kept_bytes=min(self._work.left, 2 * self.received.request.memory_mb * _MIB),
            network=network,
        )
        return command, caches

    async def _mounted(self, step: RunStep, mount: MountStep) -> Selection:
        return await self._selected(_as_copy(step, mount))

    def _write_tree(self, step: RunStep, mount: MountStep, selection: Selection) -> Path:
        """A tar file of what is mounted, with paths below the target."""
        descriptor, path = self._work.new("mount-")
        with open(descriptor, "wb") as file:
            layer = LayerTar(file, most_bytes=self._work.left, most_files=self.limits.files)
            write_copy(_as_copy(step, mount), selection, ImageFiles((), keeps_owners=False), layer)
            layer.close()
            self._work.grow(path, layer.bytes)
        return path

    def _empty_file(self) -> Path:
        descriptor, path = self._work.new("cache-")
        os.close(descriptor)
        return path


def _one_file(mount: MountStep, selection: Selection) -> Item | None:
    """What is mounted, where that is a file and not a directory."""
    if len(selection.items) != 1 or selection.items[0].node.kind != FILE:
        return None
    item = selection.items[0]
    source = find(item.tree, mount.source or "/")
    return item if source is not None and source.kind == FILE else None


def _content(step: RunStep, item: Item, left: int) -> bytes:
    if item.node.size > left:
        raise fault(
            step.line,
            "RUN",
            f"the single files that it mounts have more than {_MOST_MOUNTED_BYTES} bytes",
            "Mount the directories that they lie in, or COPY them.",
        )
    return b"".join(item.tree.content(item.node))


def _as_copy(step: RunStep, mount: MountStep) -> CopyStep:
    return CopyStep(
        line=step.line,
        text=step.text,
        sources=(mount.source or "/",),
        destination="/",
        files=(),
        from_=mount.from_,
        owner="",
        mode=None,
        keeps_parents=False,
        excludes=(),
        unpacks=False,
    )


def _resolve_path(step: RunStep, files: ImageFiles, target: str) -> tuple[str, ...]:
    """Where a path leads in an image: what is mounted there is left out of the layer by that name."""
    try:
        return files.find(target).parts
    except OSError as error:
        raise fault(
            step.line, "RUN", f"nothing can be mounted at {shown(target)}: {error}", "Choose another."
        ) from None


def _lacking(files: ImageFiles) -> Sequence[str]:
    """Places of sandboxes that an image has not."""
    root = files.root()
    return [path for path in _PLACES if files.child(root, path[1:]).about is None]


def _files(image: BuiltImage | None) -> ImageFiles:
    return ImageFiles.of(image.root) if image is not None else ImageFiles((), keeps_owners=False)


def _disk(error: OSError) -> PlatformError:
    return PlatformError(f"the disk failed while the image was built: {error.strerror or error}", step="build")
