"""Sandboxes of images: their root is an overlay of the image's layers, and nothing of the host is in it."""

from __future__ import annotations

import os
import subprocess
import textwrap
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from footprint import descendants, spawners
from harena.core.errors import NotFoundError
from harena.core.models import ExecOutcome, ExecRequest, SandboxSpec
from harena.core.ports import SandboxPort
from harena.core.records.sandboxes import Limits
from harena.runtime.host.linux import LinuxRuntime
from image_trees import FolderImages, image_root, put_programs

pytestmark = pytest.mark.asyncio(loop_scope="module")
MIB = 1024 * 1024
MOST_LAYERS = 126
"""above the one of `base`: no more can be in an image of Docker's"""
ODD = os.fsdecode(b"caf\xe9 \xff")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Layers: `base` has programs and some files, `over` changes them, `static` is one program without a library."""
    place = tmp_path_factory.mktemp("layers")
    base, over, bare = place / "base", place / "over", place / "bare"
    put_programs(base)
    for name in ("opt/kept", "opt/gone", "opt/opaque", "srv/tool"):
        (base / name).mkdir(parents=True)
    (base / "etc/motd").write_text("base\n")
    (base / "etc/resolv.conf").symlink_to("/run/elsewhere")
    (base / "opt/kept/file").write_text("base\n")
    (base / "opt/gone/file").write_text("base\n")
    (base / "opt/opaque/below").write_text("base\n")
    (over / "opt/opaque").mkdir(parents=True)
    (over / "opt/opaque/above").write_text("over\n")
    os.setxattr(over / "opt/opaque", "user.overlay.opaque", b"y")
    (over / "opt/kept").mkdir()
    (over / "opt/kept/file").write_text("over\n")
    os.mknod(over / "opt/gone", 0o020000, os.makedev(0, 0))
    bare.mkdir()
    source = place / "hello.c"
    source.write_text(
        textwrap.dedent(
            """\
            #include <unistd.h>
            int main(void) { return write(1, "no library\\n", 11) != 11; }
            """
        )
    )
    subprocess.run(["gcc-12", "-static", "-o", bare / "hello", source], check=True)
    for number in range(MOST_LAYERS):
        layer = place / f"layer-{number}/d"
        layer.mkdir(parents=True)
        (layer / f"{number}").touch()
        (layer / "top").write_text(f"{number}\n")
    (layer / ODD).write_text("odd")
    return place


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def images(place: Path, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[FolderImages]:
    base, over, bare = place / "base", place / "over", place / "bare"
    yield FolderImages(
        {
            "base": image_root(base, digest="sha256:base"),
            "changed": image_root(over, base, digest="sha256:changed"),
            "many": image_root(
                *(place / f"layer-{number}" for number in reversed(range(MOST_LAYERS))), base, digest="sha256:many"
            ),
            "bare": image_root(bare, digest="sha256:bare"),
            "said": image_root(
                base, digest="sha256:said", environment={"PATH": "/bin", "GREETING": "hi"}, workdir="/srv/tool/new/deep"
            ),
        }
    )


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def runtime(images: FolderImages, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[LinuxRuntime]:
    runtime = LinuxRuntime(home=tmp_path_factory.mktemp("home"), images=images)
    await runtime.start()
    yield runtime
    await runtime.close()
    assert set(images.held.values()) <= {0}


async def run(sandbox: SandboxPort, *argv: str, **request: Any) -> tuple[ExecOutcome, int | None, str, str]:
    result = await (await sandbox.exec(ExecRequest(argv=argv, timeout_seconds=60, **request))).wait()
    return result.outcome, result.returncode, result.stdout.decode(), result.stderr.decode()


async def says(runtime: LinuxRuntime, image: str, script: str, **limits: Any) -> str:
    """What a shell script says in a fresh sandbox of an image."""
    sandbox = await runtime.create(SandboxSpec(image=image, limits=Limits(**limits)))
    try:
        outcome, code, out, err = await run(sandbox, "sh", "-c", script)
        assert (outcome, code) == (ExecOutcome.EXITED, 0), err
        return out
    finally:
        await sandbox.destroy()


async def test_a_sandbox_has_the_images_files_and_no_others(runtime: LinuxRuntime) -> None:
    names = set((await says(runtime, "base", "ls /; ls /usr 2>/dev/null; true")).split())
    assert names == {"bin", "data", "dev", "etc", "lib", "lib64", "opt", "proc", "root", "srv", "tmp", "workspace"} | (
        names & {"lib32", "usr"}
    )
    mounted = await says(runtime, "base", "cat /proc/self/mountinfo")
    points = [line.split()[4] for line in mounted.splitlines()]
    assert "/" in points
    assert all(point == "/" or point.startswith(("/dev", "/proc")) for point in points)


async def test_layers_lie_one_over_the_other(runtime: LinuxRuntime) -> None:
    script = "cat /opt/kept/file /etc/motd; ls /opt; ls /opt/opaque"
    assert (await says(runtime, "changed", script)).split() == ["over", "base", "kept", "opaque", "above"]
    assert (await says(runtime, "base", script)).split() == ["base", "base", "gone", "kept", "opaque", "below"]


async def test_many_layers_and_names_that_are_no_utf_8(runtime: LinuxRuntime) -> None:
    """As many layers as an image may have; a name is bytes, inside and for who lists and reads from outside."""
    sandbox = await runtime.create(SandboxSpec(image="many"))
    script = "cat /d/top; ls /d | grep -c '^[0-9]'; echo new > /d/0; cat /d/0 /d/caf*"
    assert await run(sandbox, "sh", "-c", script) == (ExecOutcome.EXITED, 0, "125\n126\nnew\nodd", "")
    assert ODD in [each.name for each in await sandbox.list_dir("/d")]
    await sandbox.write_file(f"/d/{ODD}", b"changed")
    assert await sandbox.read_file(f"/d/{ODD}", max_bytes=100) == b"changed"
    assert (await run(sandbox, "sh", "-c", "cat /d/caf*"))[2] == "changed"
    await sandbox.destroy()


async def test_everything_can_be_written_to_and_nobody_else_sees_it(runtime: LinuxRuntime, place: Path) -> None:
    change = (
        "echo mine > /etc/motd && rm -r /opt/kept && mkdir /opt/kept && echo new > /opt/kept/other"
        " && chmod 700 /srv/tool && mv /opt/opaque /opt/moved && cat /etc/motd /opt/kept/* /opt/moved/below"
    )
    assert (await says(runtime, "base", change)).split() == ["mine", "new", "base"]
    assert (await says(runtime, "base", "cat /etc/motd /opt/kept/*; ls /opt")).split() == [
        *("base", "base"),
        *("gone", "kept", "opaque"),
    ]
    assert sorted(path.name for path in (place / "base/opt").iterdir()) == ["gone", "kept", "opaque"]
    assert (place / "base/etc/motd").read_text() == "base\n"


async def test_root_owns_what_root_owns_in_the_image(runtime: LinuxRuntime) -> None:
    assert (await says(runtime, "base", "id -u; stat -c %u:%g /etc/motd /opt /bin/sh /")).split() == ["0", *["0:0"] * 4]


async def test_a_program_without_libraries_is_enough_for_an_image(runtime: LinuxRuntime) -> None:
    sandbox = await runtime.create(SandboxSpec(image="bare"))
    assert await run(sandbox, "/hello") == (ExecOutcome.EXITED, 0, "no library\n", "")
    outcome, code, _, err = await run(sandbox, "sh", "-c", "true")
    assert (outcome, code, err) == (ExecOutcome.EXITED, 127, "harena: sh: command not found\n")
    await sandbox.write_file("/etc/new", b"content")
    assert await sandbox.read_file("/etc/new", max_bytes=100) == b"content"
    await sandbox.destroy()


async def test_environment_and_working_directory_are_the_images(runtime: LinuxRuntime) -> None:
    sandbox = await runtime.create(SandboxSpec(image="said"))
    _, _, out, _ = await run(sandbox, "sh", "-c", "pwd; echo $GREETING $PATH $HOME; ls -d /workspace /tmp")
    assert out.split() == ["/srv/tool/new/deep", "hi", "/bin", "/root", "/tmp", "/workspace"]
    await sandbox.destroy()
    assert "/usr/local/bin" in await says(runtime, "base", "echo $PATH")


async def test_a_link_in_the_place_of_a_network_file_leads_nobody_out(runtime: LinuxRuntime) -> None:
    script = "stat -c %F /etc/resolv.conf /etc/hosts; cat /etc/hostname; cat /etc/hosts; ls -A /run 2>/dev/null; true"
    out = (await says(runtime, "base", script)).splitlines()
    assert out[:3] == ["regular empty file", "regular file", "sandbox"]
    assert out[3].startswith("127.0.0.1")
    assert len(out) == 5


async def test_what_is_written_counts_and_ends_at_the_limits(runtime: LinuxRuntime) -> None:
    fill = "why=$(cat /dev/zero 2>&1 > /opt/full); echo $why; stat -c %s /opt/full"
    out = await says(runtime, "base", fill, disk_bytes=4 * MIB)
    assert "No space left" in out
    assert 3 * MIB < int(out.split()[-1]) <= 4 * MIB
    sandbox = await runtime.create(SandboxSpec(image="base", limits=Limits(memory_bytes=24 * MIB)))
    outcome, *_ = await run(sandbox, "sh", "-c", "cat /dev/zero > /opt/full")
    assert outcome is ExecOutcome.MEMORY
    await sandbox.destroy()


async def test_a_program_of_an_image_has_no_rights(runtime: LinuxRuntime) -> None:
    status = await says(runtime, "base", "cat /proc/self/status")
    fields = dict(line.split(":", 1) for line in status.splitlines())
    for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
        assert int(fields[name], 16) == 0
    assert fields["NoNewPrivs"].strip() == "1"
    assert fields["Seccomp"].strip() == "2"
    refused = await says(runtime, "base", "mknod /tmp/null c 1 3 2>&1; chown 1 /etc/motd 2>&1; true")
    assert refused.count("not permitted") == 2 or "Invalid argument" in refused


async def test_an_archive_is_made_whatever_a_program_has_made_of_the_temporary_directory(runtime: LinuxRuntime) -> None:
    sandbox = await runtime.create(SandboxSpec(image="base"))
    await sandbox.write_file("/data/x/file", b"content")
    for change in ("rm -r /tmp", "ln -s /proc/1/cwd /tmp"):
        assert (await run(sandbox, "sh", "-c", change))[1] == 0
        assert b"content" in b"".join([piece async for piece in sandbox.create_archive("/data/x")])
    await sandbox.destroy()


async def test_an_unknown_image_is_told(runtime: LinuxRuntime) -> None:
    with pytest.raises(NotFoundError):
        await runtime.create(SandboxSpec(image="absent:1"))


async def test_an_image_is_held_while_its_template_lives(runtime: LinuxRuntime, images: FolderImages) -> None:
    sandbox = await runtime.create(SandboxSpec(image="base"))
    assert images.held["sha256:base"] == 1
    await sandbox.destroy()


async def test_init_imports_nothing_of_an_image(
    runtime: LinuxRuntime, images: FolderImages, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """The image has modules of the names and in the places where the template's interpreter would look for its own."""
    layer = tmp_path_factory.mktemp("hostile")
    put_programs(layer)
    for folder in {os.path.dirname(os.__file__), f"/opt/python/lib/{os.path.basename(os.path.dirname(os.__file__))}"}:
        (layer / folder[1:]).mkdir(parents=True)
        for name in ("tarfile", "shutil", "stat", "copyreg", "warnings", "zlib", "bz2", "lzma", "pwd", "grp"):
            (layer / folder[1:] / f"{name}.py").write_text("import os\nos.mkdir('/taken')\n")
    images.roots["hostile"] = image_root(layer, digest="sha256:hostile")
    sandbox = await runtime.create(SandboxSpec(image="hostile"))
    await sandbox.write_file("/data/in/file", b"content")
    content = b"".join([piece async for piece in sandbox.create_archive("/data/in")])

    async def pieces() -> AsyncIterator[bytes]:
        yield content

    await sandbox.extract_archive("/data/out", pieces())
    await sandbox.remove("/data/in", recursive=True)
    assert await sandbox.read_file("/data/out/file", max_bytes=100) == b"content"
    assert [entry.name for entry in await sandbox.list_dir("/data")] == ["out"]
    assert "taken" not in [entry.name for entry in await sandbox.list_dir("/")]
    await sandbox.destroy()


async def test_a_template_of_an_image_has_the_rights_that_are_stated(runtime: LinuxRuntime) -> None:
    """The threat model has a table of them: CAP_CHOWN, CAP_DAC_OVERRIDE, CAP_FOWNER, CAP_FSETID beside the six, and
    where the node has ids for several users CAP_KILL."""
    sandbox = await runtime.create(SandboxSpec(image="base"))
    (spawner,) = spawners(os.getpid())
    kill = (5,) if sandbox.enforcement["users"].startswith("65536") else ()
    rights = set()
    for entry in descendants(spawner):
        if entry.parent == spawner:
            lines = Path(f"/proc/{entry.pid}/status").read_text().splitlines()
            status = dict(line.split(":", 1) for line in lines)
            rights.add((int(status["CapEff"], 16), int(status["CapBnd"], 16), status["Seccomp_filters"].strip()))
    assert rights == {(sum(1 << number for number in (0, 1, 3, 4, *kill, 6, 7, 8, 12, 21, 31)), 0, "1")}
    await sandbox.destroy()
