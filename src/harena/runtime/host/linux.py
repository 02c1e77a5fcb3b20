"""Sandboxes on this machine: `LinuxRuntime` implements the `Runtime` port.

It owns one spawner, a template for each (workspace, image, blueprint) that was asked for, and a pool of sandboxes made
ahead. Two workspaces never share a template: it may have run a blueprint's code, and its sandboxes have one user of the
host, for whom the kernel counts and limits some things.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import os
import resource
import socket
from collections.abc import Callable, Iterable, Sequence
from dataclasses import astuple, dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from harena.core.default_image import DEFAULT_IMAGE
from harena.core.errors import (
    HarenaError,
    HostUnsupportedError,
    PlatformError,
    SandboxResourceExhaustedError,
    SandboxUnavailableError,
    SandboxValidationError,
)
from harena.core.home import harena_home, private_folder
from harena.core.models import DEFAULT_ORIGIN_IMAGE, KnownProgram, ProcessRules, SandboxOrigin, SandboxSpec
from harena.core.ports import SandboxMemory
from harena.core.records.blueprints import Blueprint
from harena.core.records.sandboxes import Limits
from harena.core.snapshots import snapshot_in
from harena.core.threads import BLUEPRINTS, CONTENT, NODE
from harena.core.turns import Turns
from harena.core.workspace import DEFAULT_WORKSPACE
from harena.runtime.fast_path import forker
from harena.runtime.guest import host_trees, launch
from harena.runtime.host import box_files, seccomp_filter
from harena.runtime.host import image as images
from harena.runtime.host.box import LinuxSandbox
from harena.runtime.host.default_places import lay_out
from harena.runtime.host.held_layers import MOST_BELOW, Chain, HeldLayer, HeldLayers, look_at, most_bytes
from harena.runtime.host.link import Limits as CgroupLimits
from harena.runtime.host.link import Order, SentDescriptor, SpawnerLink, TemplateGoneError, TemplatesFullError
from harena.runtime.host.mechanisms import Mechanisms, in_force
from harena.runtime.host.pool import Budget, Pool
from harena.runtime.host.templates import (
    Template,
    TemplateKey,
    enforcement_of,
    layers_of,
    says_what_runs,
    settings_of_fork,
)
from harena.runtime.kernel import network
from harena.runtime.kernel.cgroup_ceiling import memory_of_all
from harena.runtime.kernel.cgroup_tree import CgroupFiles
from harena.runtime.spawner import importing
from harena.runtime.spawner.spawner import TEMPLATE_MEMORY_BYTES, TEMPLATE_PROCESSES

if TYPE_CHECKING:
    from harena.core.network_policy import NetworkPolicy
    from harena.core.ports import Egress, Gateways, GatewaySet, SandboxPort
    from harena.core.ports.images import ImageSource
    from harena.core.profiles import Profile
    from harena.core.records.images import ImageRoot
    from harena.runtime.host.upper_layer import UpperLayer

MOST_IDLE_TEMPLATES = 32
"""Templates without a sandbox that are kept for the next one; of more, those that were used last longest ago end."""
IDLE_SECONDS = 60.0
"""one that was used since then is not ended to make room for another workspace's"""
IDLE_TO_END_SECONDS = 300.0
"""after so long without a sandbox a template ends in any case"""
TEMPLATES_PER_WORKSPACE = 32
"""number of one workspace's templates that live at one time: each holds what its blueprint's modules hold"""
_NODE_POOLS = 16
"""so many times the size of one pool are at most kept ready by a node: no limit of a workspace counts them"""
_DEFAULT_LIMITS = Limits()
READY_SECONDS = 120.0
"""in which a template's modules must be imported"""
FAILURE_SECONDS = 3.0, 60.0
"""For so long at least, and at most, a blueprint whose modules could not be imported is not tried again; between these,
as long as the failed import has run. A failure that is asked for again and again costs half of the time at most."""
START_SECONDS = 120.0
"""in which a template must have made a sandbox that it was told to make: one that does not answer is ended"""
_ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
"""For templates that import modules: a process with threads cannot be forked into sandboxes. Programs see these too,
warm or really started; a blueprint's own `env` comes after them."""


_WITHOUT_CGROUPS = [(resource.RLIMIT_AS, TEMPLATE_MEMORY_BYTES), (resource.RLIMIT_NPROC, TEMPLATE_PROCESSES)]
"""what a blueprint's modules may take as they are imported, where no cgroup limits it"""


_FILLED_AT_ONCE, _FILLED_BY_ONE = 64, 16
"""Sandboxes of the default image that are filled with a snapshot at one time, of all workspaces and of one: each takes
threads or a process, and descriptors."""


_PROXY = f"http://127.0.0.1:{network.PROXY_PORT}"
_NOT_BY_PROXY = "localhost,127.0.0.1,::1"
_PROXIES = {
    **dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), _PROXY),
    **dict.fromkeys(("no_proxy", "NO_PROXY"), _NOT_BY_PROXY),
}
"""variables of sandboxes with a network"""


class Layers(Protocol):
    """Where installed packages lie (see `layers.LayerStore`)."""

    def path(self, digest: str) -> Path:
        """The directory of one layer."""


@dataclass(eq=False, slots=True)
class _Point:
    """Files of a sandbox as they were when they were held, for others to begin with."""

    template: Template
    chain: Chain
    timer: asyncio.TimerHandle


class LinuxRuntime:
    """Implements `Runtime`. Lives in one event loop; raises the soft limit of open files to the hard one.

    `images`: where other images than the default one come from; None = there are no others.
    `egress`: what serves sandboxes that have a network; None = none can have one. `gateways`: likewise.
    `pool_size`: how many sandboxes of one template are at most kept ready; it is reached only while they are in demand.
    `mechanisms`: those that are in force (None = as settings and the interpreter have it).
    `templates_per_workspace`: how many blueprints and images one workspace may have sandboxes of at one time.
    `known_programs`: asked when a warm template is started, which does ahead what these begin with.
    """

    isolates = True

    def __init__(
        self,
        *,
        layers: Layers | None = None,
        images: ImageSource | None = None,
        egress: Egress | None = None,
        gateways: Gateways | None = None,
        home: Path | None = None,
        pool_size: int = 8,
        mechanisms: Mechanisms | None = None,
        known_programs: Callable[[], Sequence[KnownProgram]] = tuple,
        templates_per_workspace: int = TEMPLATES_PER_WORKSPACE,
    ) -> None:
        self._layers = layers
        self._images = images
        self._egress = egress
        self._gateways = gateways
        self._home = home or harena_home()
        self._mechanisms = in_force() if mechanisms is None else mechanisms
        self._pool_size = pool_size if self._mechanisms.made_ahead else 0
        self._known_programs = known_programs
        self._templates_per_workspace = templates_per_workspace
        self._link: SpawnerLink | None = None
        self._starting: asyncio.Task[SpawnerLink] | None = None
        self._templates: dict[TemplateKey, asyncio.Task[Template]] = {}
        self._retired: set[Template] = set()
        """templates that make no more sandboxes, and live as long as one of theirs is somebody's"""
        self._sandboxes: dict[int, LinuxSandbox] = {}
        self._pools: dict[tuple[object, ...], Pool] = {}
        self._ready_budget = Budget(_NODE_POOLS * pool_size)
        self._preparing: set[asyncio.Task[None]] = set()
        self._filling = Turns(_FILLED_AT_ONCE, _FILLED_BY_ONE)
        self._failures: dict[TemplateKey, tuple[float, Callable[[str], PlatformError], str]] = {}
        """imports that have failed: until when that is remembered, the error's class and step, its text"""
        self._held = HeldLayers(self._let_go_of_layer)
        self._points: dict[tuple[str, str], _Point] = {}
        """by workspace and id"""
        self._closed = False
        self._looking: asyncio.TimerHandle | None = None

    async def start(self) -> None:
        """Raise this process's limit of open files, and start the spawner."""
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        if soft != hard:
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        await self._spawner()

    def memory_of_sandboxes(self) -> SandboxMemory | None:
        """Read what all sandboxes have and may have together; None = nothing limits it."""
        if self._link is None or not self._link.memory_directory:
            return None
        found = memory_of_all(CgroupFiles(), self._link.memory_directory)
        if found is None:
            return None
        most, used, share = found
        return SandboxMemory(most_bytes=most, used_bytes=used, workspace_bytes=share)

    async def create(
        self, spec: SandboxSpec, blueprint: Blueprint | None = None, *, workspace: str = DEFAULT_WORKSPACE
    ) -> SandboxPort:
        """Take a sandbox from a pool or have one made by the blueprint's template. Raises SandboxError,
        PlatformError."""
        bound = await self._bind_gateways(spec, workspace) if spec.gateways else None
        try:
            template, sandbox = await self._claim(spec, blueprint, workspace)
        except TemplateGoneError:  # it was killed, and the news had not arrived yet
            template, sandbox = await self._claim(spec, blueprint, workspace)
        if bound is not None:
            await self._serve_gateways(sandbox, bound, len(spec.gateways or ()))
        if spec.policy.is_on:
            await self._admit(sandbox, spec.policy)
            sandbox.orders.environment = {**template.environment, **_PROXIES, **spec.env}
        else:
            sandbox.orders.environment = {**template.environment, **spec.env} if spec.env else template.environment
        sandbox.orders.keeps_home = template.image.keeps_home or "HOME" in spec.env
        if spec.user is not None:
            try:
                sandbox.orders.run_as(spec.user)
            except HarenaError:
                await sandbox.destroy()
                raise
        if bound is not None:
            sandbox.orders.environment = {**sandbox.orders.environment, **bound.environment}
        sandbox.workdir = spec.cwd or template.image.workdir
        files = {**spec.files}
        if blueprint is not None and blueprint.files and not _begins_with_another(spec, blueprint):
            # their contents may be on the disk
            files = {**await BLUEPRINTS.run_for(workspace, lambda: dict(blueprint.files.items())), **spec.files}
        if files:
            try:
                for path, content in files.items():
                    await sandbox.write_file(path, content)
            except HarenaError:
                await sandbox.destroy()
                raise
        return sandbox

    async def _bind_gateways(self, spec: SandboxSpec, workspace: str) -> GatewaySet:
        """Before anything is made: a secret may be missing."""
        if self._gateways is None:
            raise HostUnsupportedError("this node serves no gateways: leave gateways out", step="gateways")
        gateways = spec.gateways or ()
        return await self._gateways.bound(workspace, gateways, network.gateway_urls(len(gateways)))

    async def _serve_gateways(self, sandbox: LinuxSandbox, bound: GatewaySet, count: int) -> None:
        assert self._gateways is not None  # asked before it was made
        try:
            await sandbox.network.begin_gateways(self._gateways, bound, count)
        except BaseException:  # a cancellation, too, as below
            await sandbox.destroy()
            raise

    async def _admit(self, sandbox: LinuxSandbox, policy: NetworkPolicy) -> None:
        assert self._egress is not None  # asked before it was made
        try:
            await sandbox.network.begin(self._egress, policy)
        except BaseException:  # a cancellation, too: what has no network that it was promised is nobody's
            await sandbox.destroy()
            raise

    def prepare(self, image: str, blueprint: Blueprint | None, *, workspace: str = DEFAULT_WORKSPACE) -> None:
        """Begin to start the template of an image or blueprint whose first sandbox is about to be asked for, and return
        at once. What fails is told to whoever asks for a sandbox."""
        if not self._closed:
            preparing = asyncio.ensure_future(self._prepared(workspace, image, blueprint))
            self._preparing.add(preparing)
            preparing.add_done_callback(self._preparing.discard)

    async def _prepared(self, workspace: str, image: str, blueprint: Blueprint | None) -> None:
        with contextlib.suppress(HarenaError, OSError):
            name, root, _ = await self._image(workspace, image)
            profile: Profile = blueprint.profile if blueprint else "strict"
            key = TemplateKey(workspace, name, blueprint.id if blueprint else "", profile, has_network=False)
            template = await self._template(key, blueprint, root)
            self._let_go(template, object())  # its idle time begins

    async def _image(self, workspace: str, reference: str) -> tuple[str, ImageRoot | None, ImageRoot | None]:
        """(the name under which templates of an image are kept, its layers; None for the default image, the snapshot
        that is copied into sandboxes of the default image; None for others). Raises as `ImageSource.root_of`, or
        NotFoundError where this node has only the default image."""
        if self._images is None or images.is_default(reference):
            return images.resolve(reference), None, None
        root = await self._images.root_of(workspace, reference)
        if root.is_of_default:
            return DEFAULT_IMAGE, None, root
        return root.digest, root, None

    async def _claim(
        self, spec: SandboxSpec, blueprint: Blueprint | None, workspace: str
    ) -> tuple[Template, LinuxSandbox]:
        if spec.policy.is_on and self._egress is None:
            raise HostUnsupportedError("this node serves no networks: leave network out", step="network")
        point = self._points.get((workspace, snapshot_in(spec.image) or ""))
        if point is not None:
            return await self._made_with(point, spec)
        name, root, begun = await self._image(workspace, spec.image)
        if root is None and spec.profile == "machine":
            raise SandboxValidationError(
                "profile: only sandboxes of an image can be `machine`, and this one is of the host's own /usr, which "
                "nothing can be installed into; name an image (container_image), or leave the profile out"
            )
        has_network = spec.policy.is_on or bool(spec.gateways)
        key = TemplateKey(workspace, name, blueprint.id if blueprint else "", spec.profile, has_network)
        template = await self._template(key, blueprint, root)
        waiting = object()
        template.claimed.add(waiting)  # it is not idle
        try:
            sandbox = await self._ready_or_made(
                template, spec.limits, spec.process_rules, spec.policy, len(spec.gateways or ())
            )
            template.claimed.add(sandbox.number)
            if begun is not None:
                await self._lay_out(sandbox, begun)
            return template, sandbox
        except TemplateGoneError:
            self._template_died(key, template)
            raise
        finally:
            self._let_go(template, waiting)

    async def _lay_out(self, sandbox: LinuxSandbox, begun: ImageRoot) -> None:
        """Copy the files of a snapshot into a new sandbox of the default image. Raises SandboxFileError where they are
        more than its limits allow."""
        assert self._images is not None  # it has said what the snapshot is
        try:
            with self._images.hold(sandbox.workspace, begun.digest):
                async with self._filling.turn(sandbox.workspace):
                    await lay_out(sandbox, begun.layers[0])
        except BaseException:  # a cancellation, too: what has half of the files is nobody's
            await asyncio.shield(asyncio.ensure_future(sandbox.destroy()))
            raise
        sandbox.begun_with = begun.digest
        sandbox.origin = replace(sandbox.origin, image_digest=begun.digest)

    async def _made_with(self, point: _Point, spec: SandboxSpec) -> tuple[Template, LinuxSandbox]:
        """A sandbox that begins with files that are held."""
        template = point.template
        if (spec.profile, spec.policy.is_on or bool(spec.gateways)) != (template.key.profile, False):
            raise SandboxValidationError(
                "a fork has the profile of its sandbox, and neither a network nor gateways, as that has none: leave "
                "profile, network and gateways out, or take a snapshot and begin with that"
            )
        waiting = object()
        template.claimed.add(waiting)
        self._held.hold(point.chain)
        try:
            settings = settings_of_fork(
                spec.limits, template, rules=spec.process_rules, listeners=[], chain=point.chain
            )
            sandbox = await self._make(
                template, spec.limits, *settings, None, 0, rules=spec.process_rules, chain=point.chain
            )
            template.claimed.add(sandbox.number)
            return template, sandbox
        finally:
            self._held.release(point.chain)
            self._let_go(template, waiting)

    async def _hold(
        self, template: Template, sandbox: LinuxSandbox, layer: UpperLayer, identity: str, seconds: float
    ) -> int | None:
        """Have the sandbox go on as another one, whose uppermost layer is empty, and keep the old layer for forks; None
        = it cannot be done here."""
        number = await sandbox.quiet()
        if number is None or template.is_forgotten or len(sandbox.chain) >= MOST_BELOW:
            return None
        try:
            found = await CONTENT.run_for(sandbox.id, functools.partial(look_at, layer.folder))
        except OSError:
            return None
        place = self._held.place(sandbox.workspace, template.number, found.bytes, most_bytes())
        if place is None or found.has_shared_memory or not sandbox.is_still_quiet(number):
            return None
        held = HeldLayer(sandbox.workspace, template.number, place, layer.take_folder(), found.bytes, found.root_mode)
        self._held.add(held)
        chain = (held, *sandbox.chain)
        self._held.hold(chain)
        waiting = object()
        template.claimed.add(waiting)
        try:
            settings, limits = settings_of_fork(
                sandbox.limits,
                template,
                rules=sandbox.rules,
                listeners=[],
                chain=chain,
                goes_on=True,
            )
            try:
                folder = SentDescriptor(os.dup(held.folder))
                other = await self._make(
                    template,
                    sandbox.limits,
                    settings,
                    limits,
                    None,
                    0,
                    rules=sandbox.rules,
                    chain=chain,
                    layer=folder,
                )
            except (HarenaError, OSError):  # the kernel does not let it, or the host has no room
                return None
            former = sandbox.number
            if not await sandbox.become(other, number):
                return None
            self._sandboxes[sandbox.number] = sandbox
            template.claimed.add(sandbox.number)
            self._let_go(template, former)
            self._add_point(template, chain, sandbox.workspace, identity, seconds)
            return found.bytes
        finally:
            self._held.release(chain)
            self._let_go(template, waiting)

    def _add_point(self, template: Template, chain: Chain, workspace: str, identity: str, seconds: float) -> None:
        timer = asyncio.get_running_loop().call_later(seconds, lambda: self.forget_held(identity, workspace=workspace))
        point = self._points[workspace, identity] = _Point(template, chain, timer)
        self._held.hold(chain)
        template.claimed.add(point)

    def forget_held(self, identity: str, *, workspace: str = DEFAULT_WORKSPACE) -> bool:
        """Let go of files that are held in memory; whether there were any."""
        point = self._points.pop((workspace, identity), None)
        if point is not None:
            point.timer.cancel()
            self._held.release(point.chain)
            self._let_go(point.template, point)
        return point is not None

    def _let_go_of_layer(self, template: int, place: int) -> None:
        if self._link is not None and not self._link.closed:
            self._link.let_go(template, place)

    def _let_go(self, template: Template, claim: object) -> None:
        template.claimed.discard(claim)
        if not template.claimed:
            template.used_at = asyncio.get_running_loop().time()
            if template.is_forgotten:
                self._end_template(template)
            elif self._looking is None and not self._closed:
                self._looking = asyncio.get_running_loop().call_later(IDLE_TO_END_SECONDS, self._end_idle_templates)

    def _end_idle_templates(self) -> None:
        """End templates that have had no sandbox for IDLE_TO_END_SECONDS, and look again when the next may be due."""
        self._looking = None
        now = asyncio.get_running_loop().time()
        unused = [template for _, template in self._made_templates() if not template.claimed]
        for template in unused:
            if template.used_at <= now - IDLE_TO_END_SECONDS:
                self._end_template(template)
        left = [template.used_at for template in unused if template.used_at > now - IDLE_TO_END_SECONDS]
        if left and not self._closed:
            when = min(left) + IDLE_TO_END_SECONDS
            self._looking = asyncio.get_running_loop().call_at(when, self._end_idle_templates)

    def forget_blueprint(self, blueprint_id: str, *, workspace: str = DEFAULT_WORKSPACE) -> None:
        """Make no more sandboxes by templates of a blueprint; each ends when nobody has one of its sandboxes."""
        self._forget(key for key in self._templates if (key.workspace, key.blueprint) == (workspace, blueprint_id))

    def forget_image(self, digest: str, *, workspace: str = DEFAULT_WORKSPACE) -> None:
        """Make no more sandboxes by templates of an image; each ends when nobody has one of its sandboxes."""
        self._forget(key for key in self._templates if (key.workspace, key.image) == (workspace, digest))

    def _forget(self, keys: Iterable[TemplateKey]) -> None:
        forgotten = {*keys}
        for key, template in self._made_templates():
            if key in forgotten:
                template.is_forgotten = True
                if not template.claimed:
                    self._end_template(template)

    def _made_templates(self) -> list[tuple[TemplateKey, Template]]:
        return [(key, task.result()) for key, task in self._templates.items() if _has_succeeded(task)]

    def _retire(self, template: Template) -> None:
        """It makes no more sandboxes. Those that somebody has are theirs: a host under load is slow, too."""
        self._template_died(template.key, template)
        template.is_forgotten = True
        self._retired.add(template)
        if not template.claimed:
            self._end_template(template)

    def _end_template(self, template: Template) -> None:
        """End a template and the sandboxes that its pool keeps ready."""
        self._template_died(template.key, template)
        self._retired.discard(template)
        if self._link is not None:
            self._link.drop_template(template.number)

    async def close(self) -> None:
        """End every sandbox and template, and the spawner."""
        self._closed = True
        if self._looking is not None:
            self._looking.cancel()
        for pool in self._pools.values():
            pool.close()
        for workspace, identity in [*self._points]:
            self.forget_held(identity, workspace=workspace)
        if self._starting is not None:
            await asyncio.wait([self._starting])
        for sandbox in self._sandboxes.values():
            sandbox.expect_end()
        if self._link is not None:
            await self._link.close()
        if self._egress is not None:
            await self._egress.close()
        if self._gateways is not None:
            await self._gateways.close()
        if self._preparing:
            await asyncio.wait(self._preparing)
        self._pools.clear()
        self._templates.clear()
        await self._held.close()

    def after_fork_in_child(self) -> None:
        """In a forked child: close every descriptor that belongs to the parent's sandboxes."""
        for sandbox in self._sandboxes.values():
            sandbox.forget()
        self._held.forget()
        if self._link is not None:
            self._link.forget()
        if self._egress is not None:
            self._egress.after_fork_in_child()
        if self._gateways is not None:
            self._gateways.after_fork_in_child()
        self._closed = True

    # -- spawner and templates -----------------------------------------------------------------------------------

    async def _spawner(self) -> SpawnerLink:
        if self._closed:
            raise SandboxUnavailableError("this node has been closed; start another one", reason="NODE_CLOSED")
        if self._link is not None and not self._link.closed:
            return self._link
        if self._starting is None:
            self._starting = asyncio.ensure_future(self._start_spawner())
            self._starting.add_done_callback(lambda _: setattr(self, "_starting", None))
        return await asyncio.shield(self._starting)

    async def _start_spawner(self) -> SpawnerLink:
        if self._link is not None:
            await self._link.reaped()  # or its cgroups would look as if they were in use
        link = SpawnerLink()
        await link.start()
        self._link = link
        self._templates.clear()
        self._retired.clear()
        self._pools.clear()
        self._ready_budget = Budget(_NODE_POOLS * self._pool_size)
        return link

    async def _template(self, key: TemplateKey, blueprint: Blueprint | None, root: ImageRoot | None) -> Template:
        link = await self._spawner()
        task = self._templates.get(key)
        if task is None:
            self._refuse_failed(key)
            self._drop_idle_templates()
            self._keep_quota(key.workspace)
            task = self._templates[key] = asyncio.ensure_future(self._start_template(link, key, blueprint, root))
        try:
            return await asyncio.shield(task)
        except (HarenaError, OSError):
            self._templates.pop(key, None)  # the next one tries again
            raise

    def _refuse_failed(self, key: TemplateKey) -> None:
        """Raise again what an import of this blueprint has failed with a moment ago."""
        now = asyncio.get_running_loop().time()
        self._failures = {each: failure for each, failure in self._failures.items() if failure[0] > now}
        if key in self._failures:
            until, failed, text = self._failures[key]
            again = failed(f"{text} (the next attempt is possible in {until - now:.0f} s)")
            if not isinstance(again, HostUnsupportedError):  # a slow host may do better then
                again.retry_delay = timedelta(seconds=until - now)
            raise again

    def _note_failure(self, key: TemplateKey, began: float, error: PlatformError) -> None:
        now = asyncio.get_running_loop().time()
        least, most = FAILURE_SECONDS
        again = functools.partial(type(error), step=error.step)  # not the error, which holds frames and what is in them
        pause = min(most, max(least, now - began))
        self._failures[key] = now + pause, again, str(error)
        if not isinstance(error, HostUnsupportedError):
            error.retry_delay = timedelta(seconds=pause)

    def _drop_idle_templates(self) -> None:
        """Make room for one more: a server of many workspaces does not keep a process for each that ever came."""
        now = asyncio.get_running_loop().time()
        idle = [made for _, made in self._made_templates() if not made.claimed and made.used_at < now - IDLE_SECONDS]
        idle.sort(key=lambda made: made.used_at)
        for template in idle[: max(0, len(idle) + 1 - MOST_IDLE_TEMPLATES)]:
            self._end_template(template)

    def _keep_quota(self, workspace: str) -> None:
        """Make room for one more of this workspace. Raises SandboxResourceExhaustedError where all are in use."""
        retired = sum(template.key.workspace == workspace for template in self._retired)
        while retired + sum(key.workspace == workspace for key in self._templates) >= self._templates_per_workspace:
            mine = [template for key, template in self._made_templates() if key.workspace == workspace]
            idle = min((made for made in mine if not made.claimed), key=lambda made: made.used_at, default=None)
            if idle is None:
                raise SandboxResourceExhaustedError(
                    f"workspace {workspace!r} has sandboxes of {self._templates_per_workspace} different blueprints "
                    "and images, and no more may be held in memory at one time; stop those of one of them first",
                )
            self._end_template(idle)

    async def _start_template(
        self,
        link: SpawnerLink,
        key: TemplateKey,
        blueprint: Blueprint | None,
        root: ImageRoot | None,
        *,
        may_import: bool = True,
    ) -> Template:
        uses = self._mechanisms
        empty = self._home / "empty"
        image = await NODE.run(_default_image, empty)
        layers: launch.Layers | None = None
        if root is not None:
            image = images.layered_image(root, image)
            layers = await NODE.run(layers_of, image, key.has_network)
        elif key.has_network:
            image = await NODE.run(images.with_network, image)
        environment = dict(image.environment)
        may_be_warm = uses.warm_programs and not image.layers
        warm = list(blueprint.warm) if may_be_warm and blueprint and blueprint.warm is not None else None
        imports = warm is not None and blueprint is not None and says_what_runs(blueprint)
        if imports and not (may_import and uses.warm_imports and forker.is_possible()):
            warm, imports = None, False
        if warm:
            environment.update(_ONE_THREAD)
        if blueprint is not None and blueprint.layer is not None:
            environment["PATH"] = f"{image.packages_directory}/bin:{environment['PATH']}"
        environment.update(blueprint.env if blueprint else {})
        packages = host_trees.NOTHING
        if blueprint is not None and blueprint.layer is not None:
            if self._layers is None:
                raise PlatformError("this node was made without a layer store", step="packages")
            packages = str(self._layers.path(blueprint.layer))
        trees = [
            (str(empty), host_trees.EMPTY_LAYER, True, False),
            *image.trees,
            (packages, image.packages_directory, True, False),
            *((host_trees.NOTHING, hidden, True, False) for hidden in image.hidden),
        ]
        profile = key.profile
        own_roots = bool(image.layers)
        whole_filter = seccomp_filter.current(counts_memory=link.counts_memory, profile=profile)
        rest_of_filter = seccomp_filter.behind_templates(
            counts_memory=link.counts_memory, own_roots=own_roots, profile=profile
        )
        plan: dict[str, object] = {
            "trees": trees,
            "layers": list(image.layers),
            "maps_owners": image.maps_owners,
            "links": list(image.links),
            "files": list(image.files),
            "directories": list(image.directories),
            "copies": list(image.copies),
            "python": image.python,
            "environment": environment if imports else dict(image.interpreter_environment or image.environment),
            "workspace": key.workspace,
            "listens": key.has_network,
            "imports": imports,
            "warm": warm is not None,
            "filter": seccomp_filter.for_templates(own_roots=own_roots, profile=profile),
            "is_machine": profile == "machine",
            "final_filter": whole_filter,
            "rlimits": [] if link.counts_memory else _WITHOUT_CGROUPS,
            "filter_of_shared_inodes": seccomp_filter.for_shared_inodes(),
        }
        configuration: dict[str, object] = {
            "warm": warm,
            "filter": whole_filter if imports else rest_of_filter,
            "environment": environment,
            "fast_path": uses.machine_code,
            "hides_frames": uses.hidden_frames,
            "rehearses": uses.rehearsals,
            "parks": imports,
            "own_roots": own_roots,
            "is_machine": profile == "machine",
            "known": list(map(astuple, self._known_programs())) if uses.known_programs and warm is not None else [],
        }
        budgets = Budget(self._pool_size), self._ready_budget
        origin = SandboxOrigin(
            image_digest=DEFAULT_ORIGIN_IMAGE if root is None else root.digest,
            blueprint_digest=blueprint.digest if blueprint else "",
            profile=profile,
        )
        template = Template(
            link.next_number(), key, image, environment, warm is not None, imports, budgets, layers, origin
        )
        began = asyncio.get_running_loop().time()
        held = contextlib.ExitStack()
        if root is not None and self._images is not None:
            held.enter_context(self._images.hold(key.workspace, root.digest))

        def died() -> None:
            held.close()  # not before: its sandboxes have the layers for their roots
            self._template_died(key, template)

        try:
            async with asyncio.timeout(READY_SECONDS):
                described = await link.start_template(template.number, plan, configuration, died)
        except (HostUnsupportedError, TemplatesFullError) as error:
            held.close()
            if imports and error.step == importing.TRACING:
                return await self._start_template(link, key, blueprint, root, may_import=False)
            if imports:
                self._note_failure(key, began, error)
            raise
        except TimeoutError:
            link.drop_template(template.number)
            slow = PlatformError(
                f"the modules that the blueprint keeps warm were not imported within {READY_SECONDS:.0f} s; take the "
                "slow one off its warm list",
                step="template",
            )
            if imports:
                self._note_failure(key, began, slow)
            raise slow from None
        template.enforcement = enforcement_of(described)
        if profile == "machine" and not template.has_users:
            link.drop_template(template.number)
            raise HostUnsupportedError(
                "a sandbox of the profile `machine` needs several users, and this node can give it "
                f"{template.enforcement['users']}",
                step="users",
            )
        return template

    def _template_died(self, key: TemplateKey, template: Template) -> None:
        task = self._templates.get(key)
        if task is not None and _has_succeeded(task) and task.result() is template:
            del self._templates[key]
        for pool_key, pool in list(self._pools.items()):
            if pool_key[0] == template.number:
                pool.close()
                del self._pools[pool_key]
        for (workspace, identity), point in list(self._points.items()):
            if point.template is template:
                self.forget_held(identity, workspace=workspace)

    # -- sandboxes -----------------------------------------------------------------------------------------------

    async def _ready_or_made(
        self, template: Template, limits: Limits, rules: ProcessRules, policy: NetworkPolicy, gateways: int
    ) -> LinuxSandbox:
        ports = policy.listens_at if policy.is_on else None
        key = (template.number, limits, rules, ports, gateways)
        is_repeated = template.repeats.note(key[1:], asyncio.get_running_loop().time())
        pool = self._pools.get(key)
        if pool is None:
            settings = settings_of_fork(limits, template, rules=rules, listeners=network.listeners(ports, gateways))
            if not is_repeated and key[1:] != (
                _DEFAULT_LIMITS,
                ProcessRules(),
                None,
                0,
            ):  # perhaps nobody asks for these again
                return await self._make(template, limits, *settings, ports, gateways, rules=rules)
            pool = self._pools[key] = Pool(
                lambda: self._make(template, limits, *settings, ports, gateways, rules=rules),
                self._pool_size,
                template.budgets,
                lambda: self._drop_pool(key, pool),
            )
        return await pool.claim()

    def _drop_pool(self, key: tuple[object, ...], pool: Pool | None) -> None:
        if self._pools.get(key) is pool:
            del self._pools[key]

    async def _make(
        self,
        template: Template,
        limits: Limits,
        settings: bytes,
        cgroup_limits: CgroupLimits,
        ports: tuple[int, ...] | None,
        gateways: int,
        *,
        rules: ProcessRules,
        chain: Chain = (),
        layer: SentDescriptor | None = None,
    ) -> LinuxSandbox:
        """`layer`: the folder of the uppermost one of the chain, where the template does not hold it yet; closed in any
        case."""
        try:
            link = await self._spawner()
        except BaseException:
            if layer is not None:
                layer.close()
            raise
        try:
            ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        except OSError as error:
            if layer is not None:
                layer.close()
            raise box_files.no_more_descriptors(error) from None
        ours.setblocking(False)
        sandbox = LinuxSandbox(
            link,
            link.next_number(),
            ours,
            workspace=template.key.workspace,
            limits=limits,
            environment=template.environment,
            workdir=template.image.workdir,
            warm=template.warm,
            user=template.image.user if template.has_users else None,
            enforcement=template.enforcement,
            holds_modules=template.imports,
            image_digest=None if template.layers is None else template.image.name,
            origin=template.origin,
            ports=ports,
            gateways=gateways,
            chain=chain,
            hold=None if template.layers is None else functools.partial(self._hold, template),
            rules=rules,
        )
        created: asyncio.Future[None] = sandbox.loop.create_future()
        number = sandbox.number

        def dead(oom_kills: int, kills_from_above: int, lacked_processes: bool) -> None:
            self._forget_sandbox(template, number)
            has_layers.close()
            lived = sandbox.successor_of or sandbox
            if lived.number == number:
                lived.died(oom_kills, kills_from_above, lacked_processes)

        has_layers = contextlib.ExitStack()
        self._held.hold(chain)
        has_layers.callback(self._held.release, chain)
        self._sandboxes[number] = sandbox
        link.order(Order(number, template.number, settings, cgroup_limits, theirs, created, dead, layer))
        try:
            async with asyncio.timeout(START_SECONDS):
                await created
                await sandbox.ready
        except BaseException as error:  # cancellation too: no half-made sandbox may stay
            self._forget_sandbox(template, number)
            has_layers.close()
            said = sandbox.abandon()
            if isinstance(error, TimeoutError):
                self._retire(template)
                raise TemplateGoneError(f"no sandbox was made within {START_SECONDS:.0f} s", step="template") from None
            if said and isinstance(error, PlatformError):
                raise PlatformError(f"sandbox start: {said}", step=said.partition(":")[0]) from None
            raise
        return sandbox

    def _forget_sandbox(self, template: Template, number: int) -> None:
        self._sandboxes.pop(number, None)
        if number in template.claimed:
            self._let_go(template, number)


def _default_image(empty: Path) -> images.Image:
    """The image, over an empty directory that is made where it is missing. Looks at the host's disk."""
    private_folder(empty.parent)
    empty.mkdir(exist_ok=True)
    if empty.stat().st_mode & 0o777 != 0o755:  # programs of another user look into it, whatever the umask
        empty.chmod(0o755)
    return images.default_image(empty)


def _begins_with_another(spec: SandboxSpec, blueprint: Blueprint) -> bool:
    """It begins with a snapshot that is not the blueprint's: a fork of one of the blueprint's sandboxes, which has what
    that one has made of the blueprint's files."""
    return snapshot_in(spec.image) is not None and spec.image != blueprint.image


def _has_succeeded(task: asyncio.Task[Template]) -> bool:
    return task.done() and not task.cancelled() and task.exception() is None
