"""Sandboxes of the profile `machine`: root's programs install packages, become other users and start services."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from harena.core.errors import SandboxValidationError
from harena.core.models import ExecOutcome, ExecRequest, SandboxSpec
from harena.core.ports import SandboxPort
from harena.runtime.host.linux import LinuxRuntime
from image_trees import FolderImages, image_root, put_dpkg_state, put_programs, put_python

pytestmark = [
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root: others have one id, mostly"),
]
RIGHTS = f"{sum(1 << number for number in (0, 1, 3, 4, 5, 6, 7, 8, 10, 18)):016x}"
DPKG = ("dpkg", "dpkg-deb", "dpkg-split", "tar", "diff", "find", "touch")


def make_package(place: Path) -> Path:
    """A Debian package whose maintainer script makes a place for a user, as those of services do."""
    tree = place / "tree"
    (tree / "DEBIAN").mkdir(parents=True)
    (tree / "DEBIAN/control").write_text(
        "Package: served\nVersion: 1\nArchitecture: all\nMaintainer: me <me@localhost>\nDescription: served\n"
    )
    (tree / "DEBIAN/postinst").write_text(
        "#!/bin/sh\nset -e\nmkdir -p /var/lib/served\nchown app:web /var/lib/served\nchmod 2750 /var/lib/served\n"
    )
    (tree / "DEBIAN/postinst").chmod(0o755)
    (tree / "usr/share/served").mkdir(parents=True)
    (tree / "usr/share/served/file").write_text("served\n")
    os.chown(tree / "usr/share/served/file", 33, 33)
    subprocess.run(["dpkg-deb", "-b", str(tree), str(place / "served.deb")], check=True, capture_output=True)
    return place / "served.deb"


@pytest.fixture(scope="module")
def layer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Programs, Python, users, and what dpkg needs."""
    layer = tmp_path_factory.mktemp("layer")
    put_programs(layer)
    put_programs(layer, DPKG)
    put_python(layer)
    put_dpkg_state(layer)
    (layer / "srv").mkdir()
    (layer / "etc/passwd").write_text(
        "root:x:0:0:root:/root:/bin/sh\napp:x:1000:1000::/home/app:/bin/sh\nweb:x:33:33::/srv:/bin/sh\n"
    )
    (layer / "etc/group").write_text("root:x:0:\napp:x:1000:\nweb:x:33:app\n")
    (layer / "srv/kept").write_text("kept")
    os.chown(layer / "srv/kept", 1000, 1000)
    return layer


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def runtime(layer: Path, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[LinuxRuntime]:
    images = FolderImages({"machine": image_root(layer)})
    runtime = LinuxRuntime(home=tmp_path_factory.mktemp("home"), images=images)
    await runtime.start()
    yield runtime
    await runtime.close()


@pytest_asyncio.fixture(loop_scope="module")
async def sandbox(runtime: LinuxRuntime) -> AsyncIterator[SandboxPort]:
    sandbox = await runtime.create(SandboxSpec(image="machine", profile="machine"))
    yield sandbox
    await sandbox.destroy()


async def run(sandbox: SandboxPort, *argv: str, **request: Any) -> str:
    """What a program says that ends well."""
    made = ExecRequest(argv=argv, timeout_seconds=60, **request)
    result = await (await sandbox.exec(made)).wait()
    assert (result.outcome, result.returncode) == (ExecOutcome.EXITED, 0), (result.stdout, result.stderr)
    return result.stdout.decode()


async def test_a_package_is_installed_with_its_owners_and_scripts(sandbox: SandboxPort, tmp_path: Path) -> None:
    if shutil.which("dpkg-deb") is None:
        pytest.skip("this machine has no dpkg")
    await sandbox.write_file("/tmp/served.deb", make_package(tmp_path).read_bytes())
    await run(sandbox, "dpkg", "-i", "/tmp/served.deb")
    listed = await run(sandbox, "stat", "-c", "%n %u:%g %a", "/usr/share/served/file", "/var/lib/served")
    assert listed.splitlines() == ["/usr/share/served/file 33:33 644", "/var/lib/served 1000:33 2750"]
    await run(sandbox, "dpkg", "-r", "served")
    await run(sandbox, "sh", "-c", "test ! -e /usr/share/served")


async def test_roots_programs_have_the_rights_that_are_stated(sandbox: SandboxPort) -> None:
    """And nobody else's, nor does a program gain any."""
    for user, rights in (("root", RIGHTS), ("app", "0" * 16)):
        said = await run(sandbox, "grep", "-E", "Cap|NoNew|Seccomp_f", "/proc/self/status", user=user)
        assert said.split()[1::2] == ["0" * 16, rights, rights, RIGHTS, "0" * 16, "1", "2"]


async def test_roots_programs_become_other_users_and_stay_them(sandbox: SandboxPort) -> None:
    program = (
        "import os\nos.setgroups([33]); os.setgid(1000); os.setuid(1000)\nprint(os.getresuid(), os.getgroups())\n"
        "print(open('/proc/self/status').read().split('CapEff:')[1].split()[0])\n"
        "for call in (os.setuid, os.setgid):\n    try: call(0)\n    except PermissionError: print('stays')\n"
        "try: open('/etc/x', 'w')\nexcept PermissionError: print('no')\n"
    )
    said = await run(sandbox, "python3", "-c", program)
    assert said.splitlines() == ["(1000, 1000, 1000) [33]", "0" * 16, "stays", "stays", "no"]


async def test_ids_end_where_the_range_ends(sandbox: SandboxPort) -> None:
    program = (
        "import os\nfor call in (lambda: os.setuid(65536), lambda: os.setgid(70000), lambda: os.setgroups([65536]),\n"
        "             lambda: os.chown('/srv/kept', 65536, 0), lambda: os.setuid(4000055296)):\n"
        "    try: call(); print('taken')\n    except (OSError, OverflowError) as error: print(error.errno)\n"
        "os.chown('/srv/kept', 65535, 65535)\nos.setuid(65535)\nprint(os.getuid())\n"
    )
    assert (await run(sandbox, "python3", "-c", program)).split() == ["22"] * 5 + ["65535"]


async def test_what_the_kernel_counts_for_users_is_counted_for_all_of_them_together(sandbox: SandboxPort) -> None:
    """Thirty users have no more than one has: of inotify instances, bytes of message queues, and queued signals."""
    program = """
import ctypes, os, resource, signal, sys
libc = ctypes.CDLL(None, use_errno=True)
def inotifies():
    count = 0
    while libc.inotify_init1(0) >= 0 and count < 900:
        count += 1
    return count
def queues():
    count = 0
    while count < 60 and libc.mq_open(b"/q%d-%d" % (os.getpid(), count), os.O_CREAT | os.O_RDWR, 0o600, None) >= 0:
        count += 1
    return count
def signals():
    signal.pthread_sigmask(signal.SIG_BLOCK, range(34, 64))
    most, count, value = resource.getrlimit(resource.RLIMIT_SIGPENDING)[0], 0, ctypes.c_void_p()
    while count < 3 * most and libc.sigqueue(os.getpid(), 40, value) == 0:
        count += 1
    return count
what = globals()[sys.argv[1]]
counts = []
for user in (0, *range(100, 130)):
    reads, writes = os.pipe()
    if os.fork() == 0:
        os.setuid(user)
        os.write(writes, b"%d\\n" % what())
        signal.pause()
    counts.append(int(os.read(reads, 20)))
print(*counts)
"""
    for what in ("inotifies", "signals"):
        counts = [int(word) for word in (await run(sandbox, "python3", "-c", program, what)).split()]
        assert counts[0] > 0, what
        assert sum(counts) <= 1.1 * counts[0] + 31, (what, counts)


async def test_a_process_is_ended_whoever_it_has_become(runtime: LinuxRuntime) -> None:
    sandbox = await runtime.create(SandboxSpec(image="machine", profile="machine"))
    program = (
        "import os, time\nfor user in range(1, 40):\n    if os.fork() == 0:\n        os.setsid(); os.setuid(user)\n"
        "        time.sleep(3600)\ntime.sleep(3600)"
    )
    kept = await sandbox.exec(ExecRequest(argv=("sleep", "3600"), user="web"))
    made = ExecRequest(argv=("python3", "-c", program), timeout_seconds=1.0)
    assert (await (await sandbox.exec(made)).wait()).outcome is ExecOutcome.TIMEOUT
    assert [process.command for process in await sandbox.processes()] == [("sleep", "3600")]
    kept.kill()
    await kept.wait()
    await sandbox.destroy()


async def test_a_root_is_changed_and_left_within_the_sandbox(sandbox: SandboxPort) -> None:
    """Who has the right to change its root leaves such a root, too, and comes to the sandbox's own."""
    program = (
        "import os\nbefore = sorted(os.listdir('/'))\nos.mkdir('/tmp/jail')\nhere = os.open('/', os.O_RDONLY)\n"
        "os.chroot('/tmp/jail')\nprint(os.listdir('/'))\nos.fchdir(here)\n"
        "for _ in range(100): os.chdir('..')\nos.chroot('.')\nprint(sorted(os.listdir('/')) == before)\n"
    )
    assert (await run(sandbox, "python3", "-c", program)).split() == ["[]", "True"]


async def test_the_profile_is_told_where_it_cannot_be_had(runtime: LinuxRuntime) -> None:
    with pytest.raises(SandboxValidationError, match="only sandboxes of an image"):
        await runtime.create(SandboxSpec(profile="machine"))
    strict = await runtime.create(SandboxSpec(image="machine"))
    assert await run(strict, "grep", "CapEff", "/proc/self/status") == "CapEff:\t" + "0" * 16 + "\n"
    await strict.destroy()
