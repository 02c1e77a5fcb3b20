"""What one workspace fills of that which all sandboxes, or all templates, have together: others have a part left."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import pytest_asyncio

from footprint import children, descendants, spawners
from harena.core.errors import HarenaError, HostUnsupportedError, PlatformError
from harena.core.models import MIB, ExecRequest, SandboxSpec
from harena.core.ports import LimitsMemoryOfAll, RunningExec, SandboxPort
from harena.core.records.blueprints import Blueprint
from harena.core.records.sandboxes import Limits
from harena.core.results import Reason, RunResult
from harena.runtime.host.linux import LinuxRuntime
from harena.runtime.kernel import cgroup_tree
from harena.scoring import load_scenarios, score_scenario

pytestmark = pytest.mark.asyncio(loop_scope="module")

LARGE = ("json", "asyncio", "http.client", "email", "sqlite3", "xml.dom.minidom")
"""modules that make a template larger than what a hostile import starts"""
NAMED = """
import ctypes, os, time
def name(text):
    ctypes.CDLL(None).prctl(15, text)
"""
FORKS = f"""{NAMED}
started = []
while True:
    try:
        pid = os.fork()
    except OSError:
        break
    if pid == 0:
        time.sleep(600)
        os._exit(0)
    started.append(pid)
for pid in started[:LEFT]:
    os.kill(pid, 9)
    os.waitpid(pid, 0)
name(b'full')
time.sleep(600)
"""
"""A program or module that starts what it may but LEFT, and is called `full` from then on."""
SMALL_PROCESSES = f"""{NAMED}
for _ in range(60):
    reading, writing = os.pipe()
    if os.fork() == 0:
        mine = os.urandom(6 << 20)
        os.write(writing, b'x')
        time.sleep(600)
    os.close(writing)
    os.read(reading, 1)
hoard = []
while True:
    hoard.append(os.urandom(1 << 20))
"""
"""A module that takes all memory that its workspace may have, by processes smaller than anybody's template, and then
more and more itself."""
FILLS_MEMORY = f"""{NAMED}
for _ in range(100):
    reading, writing = os.pipe()
    if os.fork() == 0:
        mine = os.urandom(8 << 20)
        os.write(writing, b'x')
        time.sleep(600)
    os.close(writing)
    os.read(reading, 1)
name(b'full')
time.sleep(600)
"""
"""A program that takes all memory that its workspace may have, and more; the kernel ends its processes one by one,
which are larger than what has started them."""


class Layers:
    """A directory for each text of a module that is called `hostile`."""

    def __init__(self, place: Path) -> None:
        self.place = place

    def path(self, digest: str) -> Path:
        """See `linux.Layers`."""
        return self.place / digest

    def blueprint(self, source: str) -> Blueprint:
        """One that imports it."""
        digest = f"layer{len(list(self.place.iterdir()))}"
        (self.place / digest).mkdir(mode=0o755)
        (self.place / digest / "hostile.py").write_text(source)
        return Blueprint(id=f"bp_{digest}", name=digest, layer=digest, warm=("hostile",))


@pytest_asyncio.fixture(loop_scope="module")
async def host(tmp_path: Path) -> AsyncIterator[tuple[LinuxRuntime, Layers]]:
    """A runtime whose ceilings the test makes small: its own, without a pool."""
    (tmp_path / "layers").mkdir()
    os.chmod(tmp_path, 0o755)
    layers = Layers(tmp_path / "layers")
    runtime = LinuxRuntime(layers=layers, home=tmp_path / "home", pool_size=0)
    await runtime.start()
    try:
        sandbox = await runtime.create(SandboxSpec())
        for limit in ("memory_bytes", "pids"):
            if not sandbox.enforcement[limit].startswith("cgroup"):
                pytest.skip(f"capability:cgroups {sandbox.enforcement[limit]}")
        await sandbox.destroy()
        yield runtime, layers
    finally:
        await runtime.close()


def own_spawner() -> int:
    """The youngest one of this process."""
    return max(spawners(os.getpid()))


def group_of(pid: int, controller: str) -> Path:
    """The directory of a process's cgroup, as this process sees it."""
    paths = cgroup_tree.parse_own_paths(Path(f"/proc/{pid}/cgroup").read_text())
    mounts = cgroup_tree.parse_mounts(Path("/proc/self/mountinfo").read_text(), "/sys")
    name = controller if controller in paths else ""
    mount = next(each for each in mounts if (name in each.controllers if name else each.version == 2))
    return Path(mount.directory_of(paths[name]))


def all_of(pid: int, controller: str) -> Path:
    """The directory of all sandboxes, or of all templates, that this process's cgroup lies in."""
    group = group_of(pid, controller)
    names = ("sandboxes", "templates") if "cgroup.controllers" in os.listdir(group) else ("harena-",)
    return next(above for above in group.parents if above.name.startswith(names))


def leave(directory: Path, more: int) -> int:
    """Let all in there have so much more than they have now."""
    files = {
        "pids.max": "pids.current",
        "memory.max": "memory.current",
        "memory.limit_in_bytes": "memory.usage_in_bytes",
    }
    limit, used = next((name, files[name]) for name in files if (directory / name).exists())
    most = int((directory / used).read_text()) + more
    (directory / limit).write_text(str(most))
    return most


async def template_of(runtime: LinuxRuntime, blueprint: Blueprint, workspace: str) -> tuple[int, SandboxPort]:
    """A sandbox, and the process that it was forked from."""
    before = set(children(own_spawner()))
    sandbox = await runtime.create(SandboxSpec(), blueprint, workspace=workspace)
    (template,) = set(children(own_spawner())) - before
    return template, sandbox


async def until_full(making: asyncio.Future[object]) -> None:
    """Until something below the spawner is called so."""
    while not making.done():
        for entry in descendants(own_spawner()):
            try:
                if Path(f"/proc/{entry.pid}/comm").read_text() == "full\n":
                    return
            except OSError:
                continue
        await asyncio.sleep(0)
    raise AssertionError(f"it has ended: {making}")


async def says(sandbox: SandboxPort, *argv: str) -> str:
    """What a program prints."""
    result = await (await sandbox.exec(ExecRequest(argv=argv, timeout_seconds=60))).wait()
    assert result.returncode == 0, result.stderr
    return result.stdout.decode().strip()


async def test_an_import_that_starts_all_it_may_leaves_processes_for_other_templates(
    host: tuple[LinuxRuntime, Layers],
) -> None:
    """Those that make sandboxes, and those that are being made."""
    runtime, layers = host
    template, victim = await template_of(runtime, Blueprint(id="bp_v", name="v", warm=("json",)), "other")
    leave(all_of(template, "pids"), 80)
    making = asyncio.ensure_future(
        runtime.create(SandboxSpec(), layers.blueprint(FORKS.replace("LEFT", "0")), workspace="hostile")
    )
    await until_full(making)
    for blueprint in (Blueprint(id="bp_v", name="v", warm=("json",)), Blueprint(id="bp_w", name="w", warm=("json",))):
        another = await runtime.create(SandboxSpec(), blueprint, workspace="other")
        assert await says(another, "echo", "new") == "new"
        await another.destroy()
    assert await says(victim, "echo", "here") == "here"
    assert not making.done()
    making.cancel()
    for pid in set(children(own_spawner())) - {template}:
        os.kill(pid, signal.SIGKILL)
    with pytest.raises((HarenaError, asyncio.CancelledError)):
        await making


async def test_a_workspace_whose_imports_have_all_its_processes_is_told_so(host: tuple[LinuxRuntime, Layers]) -> None:
    """Where a template cannot fork, whatever it is made of, and where another one cannot start. No host is blamed."""
    runtime, layers = host
    warm, plain = Blueprint(id="bp_v", name="v", warm=("json",)), Blueprint(id="bp_p", name="p")
    template, _ = await template_of(runtime, warm, "hostile")
    await template_of(runtime, plain, "hostile")
    share = group_of(template, "pids").parent
    if not (group_of(template, "pids") / "pids.peak").exists():
        pytest.skip("capability:kernel does not count the most processes of a cgroup")
    leave(share, 40)
    hostile = layers.blueprint(FORKS.replace("LEFT", "0"))
    making = asyncio.ensure_future(runtime.create(SandboxSpec(), hostile, workspace="hostile"))
    await until_full(making)
    for blueprint in (warm, plain, Blueprint(id="bp_n", name="n", warm=("json",))):
        with pytest.raises(PlatformError, match=r"all templates of the workspace.*are used up") as caught:
            await runtime.create(SandboxSpec(), blueprint, workspace="hostile")
        assert not isinstance(caught.value, HostUnsupportedError)
        assert (caught.value.step, "doctor" in str(caught.value)) == ("template", False)
    making.cancel()


async def test_an_import_that_takes_all_memory_ends_no_template_in_use(host: tuple[LinuxRuntime, Layers]) -> None:
    """Neither another workspace's nor one of its own, though both are larger than what it has started: it ends itself,
    and is told whose memory was used up."""
    runtime, layers = host
    of_other, victim = await template_of(runtime, Blueprint(id="bp_v", name="v", warm=LARGE), "other")
    leave(all_of(of_other, "memory"), 200 * MIB)
    own, mine = await template_of(runtime, Blueprint(id="bp_m", name="m", warm=LARGE), "hostile")
    with pytest.raises(PlatformError, match=r"all templates of a workspace.*was used up") as caught:
        await runtime.create(SandboxSpec(), layers.blueprint(SMALL_PROCESSES), workspace="hostile")
    assert "took more than" not in str(caught.value)
    assert "doctor" not in str(caught.value)
    assert caught.value.retry_delay is not None
    assert {of_other, own} <= set(children(own_spawner()))
    for sandbox in (victim, mine):
        assert await says(sandbox, "echo", "here") == "here"
    for workspace, blueprint in (("other", "v"), ("hostile", "m")):
        spec = Blueprint(id=f"bp_{blueprint}", name=blueprint, warm=LARGE)
        another = await runtime.create(SandboxSpec(), spec, workspace=workspace)
        assert await says(another, "echo", "new") == "new"


async def test_what_an_import_starts_is_what_the_kernel_ends_first(host: tuple[LinuxRuntime, Layers]) -> None:
    """Until it is ready: then its template counts as others do."""
    runtime, layers = host
    own = Path("/proc/self/oom_score_adj").read_text()
    template, _ = await template_of(runtime, layers.blueprint("fine = True\n"), "other")
    assert Path(f"/proc/{template}/oom_score_adj").read_text() == own
    forks = "import os, time\nfor _ in range(5):\n    os.fork()\ntime.sleep(600)\n"
    before = {entry.pid for entry in descendants(own_spawner())}
    making = asyncio.ensure_future(runtime.create(SandboxSpec(), layers.blueprint(forks), workspace="hostile"))
    importing: list[int] = []
    while len(importing) < 34:  # the template, its keeper, the importer and what it starts
        await asyncio.sleep(0)
        importing = [entry.pid for entry in descendants(own_spawner()) if entry.pid not in before]
    assert {Path(f"/proc/{pid}/oom_score_adj").read_text() for pid in importing} == {"1000\n"}
    making.cancel()


class Sandboxes:
    """A workspace's, for a scorer."""

    is_fake = False

    def __init__(self, runtime: LinuxRuntime, workspace: str) -> None:
        self._runtime = runtime
        self._workspace = workspace

    @asynccontextmanager
    async def sandbox(self, spec: SandboxSpec) -> AsyncIterator[SandboxPort]:
        """See `SandboxSource`."""
        made = await self._runtime.create(spec, None, workspace=self._workspace)
        try:
            yield made
        finally:
            await made.destroy()


TAKES_MEMORY = """
def f(n):
    taken = bytearray(n << 20)
    for place in range(0, len(taken), 4096):
        taken[place] = 1
    return len(taken) >> 20
"""
STARTS_PROGRAMS = """
import subprocess
def f(n):
    return int(subprocess.run(['echo', str(n)], stdout=subprocess.PIPE, check=True).stdout)
"""


async def filled(runtime: LinuxRuntime, program: str, controller: str, more: int) -> RunningExec:
    """What has filled all that sandboxes of its workspace may have."""
    first = await runtime.create(SandboxSpec(), workspace="other")
    reader = await first.exec(ExecRequest(argv=("sh", "-c", "echo up; exec cat"), stdin_stream=True))
    await anext(aiter(reader.stdout))
    inside = max(entry.pid for entry in descendants(own_spawner()))
    leave(all_of(inside, controller), more)
    await first.destroy()
    limits = Limits(memory_bytes=2048 * MIB)  # it meets its workspace's
    hostile = await runtime.create(SandboxSpec(limits=limits), workspace="hostile")
    running = await hostile.exec(ExecRequest(argv=("python3", "-c", program), warm=False))
    await until_full(asyncio.ensure_future(running.wait()))
    return running


async def scored(runtime: LinuxRuntime, program: str, workspace: str) -> RunResult:
    """What the program has for its answer to one question."""
    checks = [{"args": [80], "expected": 80}]
    texts = [{"id": "one", "candidate": program, "scoring": {"type": "tests", "entry_point": "f", "checks": checks}}]
    (scenario,) = load_scenarios(texts).scenarios
    return await score_scenario(
        scenario, sandboxes=Sandboxes(runtime, workspace), base_spec=SandboxSpec(), timeout_seconds=60
    )


@pytest.mark.parametrize(
    ("fills", "controller", "more", "right"),
    [(FILLS_MEMORY, "memory", 480 * MIB, TAKES_MEMORY), (FORKS.replace("LEFT", "0"), "pids", 120, STARTS_PROGRAMS)],
    ids=["memory", "processes"],
)
async def test_a_workspace_that_fills_what_sandboxes_have_leaves_some_to_others(
    host: tuple[LinuxRuntime, Layers], fills: str, controller: str, more: int, right: str
) -> None:
    """A right program of theirs is scored right beside it."""
    runtime, _ = host
    running = await filled(runtime, fills, controller, more)
    result = await scored(runtime, right, "other")
    assert (result.score, result.reason) == (1.0, Reason.PASSED), result.detail
    running.kill()


@pytest.mark.parametrize("left", [0, 1, 2])
async def test_a_right_program_of_a_workspace_that_has_no_processes_left_has_no_wrong_score(
    host: tuple[LinuxRuntime, Layers], left: int
) -> None:
    """None of 0: its interpreter does not start, or a program that it starts, by no limit of its sandbox, and its image
    is not blamed. Where few are left it may be right, too."""
    runtime, _ = host
    running = await filled(runtime, FORKS.replace("LEFT", str(left)), "pids", 120)
    for program in (STARTS_PROGRAMS, "def f(n):\n    return n\n"):
        found: object
        try:
            found = (await scored(runtime, program, "hostile")).score
        except PlatformError as error:
            found = error
        assert isinstance(found, PlatformError) or (found == 1.0 and left)
        assert "image" not in str(found)
    running.kill()


async def test_what_all_sandboxes_have_of_their_memory_is_told(host: tuple[LinuxRuntime, Layers]) -> None:
    """By files of the kernel's, as one takes some: whoever begins runs looks at it."""
    runtime, _ = host
    assert isinstance(runtime, LimitsMemoryOfAll)
    sandbox = await runtime.create(SandboxSpec(), workspace="other")
    before = runtime.memory_of_sandboxes()
    assert before is not None
    assert before.workspace_bytes == before.most_bytes - before.most_bytes // 4
    await sandbox.write_file("/tmp/large", b"x" * (64 * MIB))
    after = runtime.memory_of_sandboxes()
    assert after is not None
    assert after.used_bytes >= before.used_bytes + 60 * MIB
    await sandbox.destroy()
