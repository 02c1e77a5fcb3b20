"""Sandboxes of images that have several users: whose the files are, and which ids of the host stand for them."""

from __future__ import annotations

import io
import os
import tarfile
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from footprint import descendants, spawners
from harena.core.errors import SandboxFileError, SandboxValidationError
from harena.core.models import ExecOutcome, ExecRequest, SandboxSpec
from harena.core.ports import SandboxPort
from harena.runtime.host.linux import LinuxRuntime
from image_trees import FolderImages, image_root, put_programs

pytestmark = [
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root: files of several users are made"),
]
IDS = 65_536
FIRST_RANGE = 4_000_000_000
OWNERS = {"web": 33, "app": 1000, "last": IDS - 1, "outside": IDS, "far": 200_000}


@pytest.fixture(scope="module")
def layer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Programs, and files of several users."""
    layer = tmp_path_factory.mktemp("layer")
    put_programs(layer)
    (layer / "srv").mkdir()
    for name, owner in OWNERS.items():
        (layer / "srv" / name).write_text(name)
        os.chown(layer / "srv" / name, owner, owner)
        (layer / "srv" / name).chmod(0o644)
    (layer / "etc/passwd").write_text(
        "root:x:0:0:root:/root:/bin/sh\nbroken\nalso:x:y:z:::\napp:x:1000:1000::/home/app:/bin/sh\n"
        "web:x:33:33::/srv:/bin/sh\nfar:x:200000:33::/:/bin/sh\nnobody:x:65534:65534::/:/bin/sh\n"
    )
    (layer / "etc/group").write_text("root:x:0:\napp:x:1000:\nweb:x:33:app,other\nwheel:x:10:web,app\nbad:x:b:app\n")
    (layer / "home/app").mkdir(parents=True)
    os.chown(layer / "home/app", 1000, 1000)
    (layer / "srv/secret").write_text("secret")
    (layer / "srv/secret").chmod(0o600)
    os.chown(layer / "srv/secret", 1000, 1000)
    return layer


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def runtime(layer: Path, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[LinuxRuntime]:
    said: dict[str, dict[str, object]] = {
        "one": {},
        "two": {},
        "app": {"user": "app"},
        "number": {"user": "1000:33"},
        "strange": {"user": "4242", "environment": {"HOME": "/said"}},
        "absent": {"user": "absent"},
        "odd": {"user": "a b"},
    }
    images = FolderImages({name: image_root(layer, digest=f"sha256:{name}", **more) for name, more in said.items()})
    runtime = LinuxRuntime(home=tmp_path_factory.mktemp("home"), images=images)
    await runtime.start()
    yield runtime
    await runtime.close()


async def run(sandbox: SandboxPort, script: str, **request: Any) -> str:
    """What a shell script says."""
    made = ExecRequest(argv=("sh", "-c", script), timeout_seconds=60, **request)
    result = await (await sandbox.exec(made)).wait()
    assert (result.outcome, result.returncode) == (ExecOutcome.EXITED, 0), result
    return result.stdout.decode()


async def test_files_have_the_owners_that_the_image_says(runtime: LinuxRuntime) -> None:
    sandbox = await runtime.create(SandboxSpec(image="one"))
    said = await run(sandbox, "cd /srv; for name in web app last outside far; do stat -c %u:%g $name; done")
    assert said.split() == ["33:33", "1000:1000", "65535:65535", "65534:65534", "65534:65534"]
    assert (await run(sandbox, "cat /proc/self/uid_map /proc/self/gid_map")).split() == ["0", "0", str(IDS)] * 2
    await sandbox.destroy()


async def test_a_program_without_rights_is_no_other_user(runtime: LinuxRuntime) -> None:
    """It is root without any capability, as in an image whose files are all of one user."""
    sandbox = await runtime.create(SandboxSpec(image="one"))
    refused = "for what in 'cat /srv/secret' 'chown 33 /etc' 'su nobody -s /bin/sh -c true'; do $what || echo no; done"
    assert (await run(sandbox, f"{refused} 2>/dev/null")).split() == ["no"] * 3
    assert await run(sandbox, "echo more >> /srv/app || echo no") == "no\n"
    await sandbox.destroy()


async def test_each_template_has_a_range_of_its_own(runtime: LinuxRuntime) -> None:
    made = [await runtime.create(SandboxSpec(image=name)) for name in ("one", "two")]
    assert {each.enforcement["users"] for each in made} == {"65536 ids, of a range of its own"}
    plain = await runtime.create(SandboxSpec())
    assert "users" not in plain.enforcement
    (spawner,) = spawners(os.getpid())
    maps = [
        Path(f"/proc/{entry.pid}/{kind}").read_text().split()
        for entry in descendants(spawner)
        if entry.parent == spawner
        for kind in ("uid_map", "gid_map")
    ]
    ranges = {int(first) for _, first, count in maps if int(count) == IDS}
    singles = {int(first) for _, first, count in maps if int(count) == 1}
    assert (len(ranges), len(singles), len(maps)) == (2, 1, 6)
    assert all(first % IDS == 0 and first > FIRST_RANGE for first in ranges)
    assert max(singles) < FIRST_RANGE
    for each in (*made, plain):
        await each.destroy()


WHO = "id -u; id -g; id -G; echo $HOME"


async def who(runtime: LinuxRuntime, image: str, **request: Any) -> list[str]:
    """User, group, all groups, home."""
    sandbox = await runtime.create(SandboxSpec(image=image))
    said = (await run(sandbox, WHO, **request)).splitlines()
    await sandbox.destroy()
    return said


async def test_programs_run_as_the_user_that_the_image_says(runtime: LinuxRuntime) -> None:
    assert await who(runtime, "one") == ["0", "0", "0", "/root"]
    assert await who(runtime, "app") == ["1000", "1000", "1000 10 33", "/home/app"] or await who(runtime, "app") == [
        *("1000", "1000", "1000 33 10", "/home/app")
    ]
    assert await who(runtime, "number") == ["1000", "33", "33", "/home/app"]
    assert await who(runtime, "strange") == ["4242", "0", "0", "/said"]


async def test_a_command_may_name_another_user(runtime: LinuxRuntime) -> None:
    assert await who(runtime, "one", user="web") == ["33", "33", "33 10", "/srv"]
    assert await who(runtime, "one", user="web:app") == ["33", "1000", "1000", "/srv"]
    assert await who(runtime, "app", user="root") == ["0", "0", "0", "/root"]
    assert await who(runtime, "one", user="web", env={"HOME": "/tmp"}) == ["33", "33", "33 10", "/tmp"]
    assert await who(runtime, "one", user="65535:65535") == ["65535", "65535", "65535", "/"]


@pytest.mark.parametrize(
    ("user", "why"),
    [
        ("absent", "there is no user 'absent' in /etc/passwd"),
        ("app:absent", "there is no group 'absent' in /etc/group"),
        ("app:bad", "there is no group 'bad' in /etc/group"),
        ("also", "there is no user 'also' in /etc/passwd"),
        ("65536", "id 65536 is none of this sandbox"),
        ("1:65536", "id 65536 is none of this sandbox"),
        ("far", "id 200000 is none of this sandbox"),
        ("9999999999", "id 9999999999 is none of this sandbox"),
        ("app:1:2", "there is no group '1:2' in /etc/group"),
    ],
)
async def test_a_user_that_is_not_there_starts_nothing(runtime: LinuxRuntime, user: str, why: str) -> None:
    sandbox = await runtime.create(SandboxSpec(image="one"))
    if user.count(":") > 1:
        with pytest.raises(SandboxValidationError, match="user must be"):
            ExecRequest(argv=("true",), user=user)
    else:
        result = await (await sandbox.exec(ExecRequest(argv=("true",), user=user))).wait()
        assert (result.outcome, result.returncode) == (ExecOutcome.EXITED, 126)
        assert why in result.stderr.decode()
    assert await run(sandbox, "echo on") == "on\n"
    await sandbox.destroy()


async def test_an_images_user_that_is_not_there(runtime: LinuxRuntime) -> None:
    sandbox = await runtime.create(SandboxSpec(image="absent"))
    result = await (await sandbox.exec(ExecRequest(argv=("true",)))).wait()
    assert (result.returncode, "no user 'absent'" in result.stderr.decode()) == (126, True)
    assert await run(sandbox, "id -u", user="root") == "0\n"
    await sandbox.destroy()
    with pytest.raises(SandboxValidationError, match="USER of the image must be"):
        await runtime.create(SandboxSpec(image="odd"))


async def test_files_of_users_that_are_hostile_hold_nobody_up(runtime: LinuxRuntime) -> None:
    """Whatever /etc/passwd is by now, the answer comes, and nobody outside is meant."""
    sandbox = await runtime.create(SandboxSpec(image="one"))
    for change in (
        "rm /etc/passwd && mkdir /etc/passwd",
        "rm -r /etc/passwd && ln -s /etc/passwd /etc/passwd",
        "rm /etc/passwd && ln -s /proc/1/mem /etc/passwd",
        "rm /etc/passwd && ln -s /dev/zero /etc/passwd",
        "rm /etc/passwd && seq 100000 > /etc/passwd",
        "for n in $(seq 2000); do echo; done > /etc/passwd",
        "head -c 2000000 /dev/zero > /etc/passwd",
    ):
        await run(sandbox, change)
        result = await (await sandbox.exec(ExecRequest(argv=("id", "-u"), user="app"))).wait()
        assert (result.returncode, "no user 'app'" in result.stderr.decode()) == (126, True), (change, result)
        assert await run(sandbox, "id -u", user="1000") == "1000\n"
    await sandbox.destroy()


async def test_a_user_has_places_to_work_in_and_no_rights(runtime: LinuxRuntime) -> None:
    sandbox = await runtime.create(SandboxSpec(image="app"))
    await run(sandbox, "for place in /workspace /data /tmp /dev/shm ~; do echo x > $place/mine || exit 1; done")
    assert await run(sandbox, "echo > /etc/x || echo no") == "no\n"
    assert await run(sandbox, "cat /srv/secret; echo more >> /srv/app") == "secret"
    assert await run(sandbox, "echo out > /dev/stdout; echo err > /dev/stderr") == "out\n"
    for user in ("app", "root"):
        status = await run(sandbox, "grep -E 'Cap|NoNew' /proc/self/status", user=user)
        assert status.split()[1::2] == ["0" * 16] * 5 + ["1"]
    await sandbox.destroy()


async def test_whose_ever_files_they_are_what_is_asked_of_them_is_done(runtime: LinuxRuntime) -> None:
    sandbox = await runtime.create(SandboxSpec(image="app"))
    await run(sandbox, "mkdir -p /data/deep/er && echo mine > /data/deep/er/file && chmod -R go= /data/deep")
    assert await sandbox.read_file("/data/deep/er/file", max_bytes=100) == b"mine\n"
    await sandbox.write_file("/data/deep/er/file", b"changed")
    await sandbox.write_file("/data/deep/new", b"new")
    assert await run(sandbox, "cat /data/deep/er/file; ls /data/deep") == "changeder\nnew\n"
    assert b"changed" in b"".join([piece async for piece in sandbox.create_archive("/data/deep")])
    await sandbox.remove("/data/deep", recursive=True)
    assert await run(sandbox, "ls /data") == ""
    await sandbox.destroy()


async def test_an_exec_ends_whatever_its_processes_users_are(runtime: LinuxRuntime) -> None:
    sandbox = await runtime.create(SandboxSpec(image="app"))
    kept = await sandbox.exec(ExecRequest(argv=("sh", "-c", "sleep 3600"), user="web"))
    for user in ("app", "root", "nobody"):
        made = ExecRequest(argv=("sh", "-c", "setsid sleep 3600 & sleep 3600"), timeout_seconds=0.3, user=user)
        assert (await (await sandbox.exec(made)).wait()).outcome is ExecOutcome.TIMEOUT
    commands = [process.command for process in await sandbox.processes()]
    assert sorted(commands) in ([("sh", "-c", "sleep 3600"), ("sleep", "3600")], [("sleep", "3600")])
    kept.kill()
    assert (await kept.wait()).returncode == -9
    assert await sandbox.processes() == []
    await sandbox.destroy()


async def test_a_sandbox_without_users_says_so(runtime: LinuxRuntime) -> None:
    sandbox = await runtime.create(SandboxSpec())
    with pytest.raises(SandboxValidationError, match="no user but root"):
        await sandbox.exec(ExecRequest(argv=("true",), user="nobody"))
    assert await run(sandbox, "id -u", user="root") == "0\n"
    await sandbox.destroy()


async def test_an_init_with_users_has_the_rights_that_are_stated(runtime: LinuxRuntime) -> None:
    """CAP_DAC_OVERRIDE, CAP_FOWNER, CAP_KILL, CAP_SETGID, CAP_SETUID, of the threat model's table."""
    sandbox = await runtime.create(SandboxSpec(image="one"))
    status = await run(sandbox, "grep -E 'Cap|Seccomp_f' /proc/1/status")
    rights = f"{sum(1 << number for number in (1, 3, 5, 6, 7)):016x}"
    assert status.split()[1::2] == ["0" * 16, rights, rights, "0" * 16, "0" * 16, "2"]
    refused = await run(
        sandbox, "cat /proc/1/environ /proc/1/maps 2>&1; cat /proc/1/fd/3 2>&1; kill -9 1; kill -0 1 || echo x"
    )
    assert refused.count("Permission denied") == 3
    assert await run(sandbox, "echo on") == "on\n"
    await sandbox.destroy()


@pytest.mark.parametrize("image", ["one", "default"])
async def test_a_link_in_the_place_of_a_working_directory_leads_to_nothing_of_inits(
    runtime: LinuxRuntime, image: str
) -> None:
    """Init has descriptors of its own while it enters the directory: none is a way in, whoever the program runs as, and
    however it is started."""
    sandbox = await runtime.create(SandboxSpec(image=image, hides_processes=image == "default"))
    links = {f"d{number}": f"/proc/self/fd/{number}" for number in range(3, 40)}
    links |= {"root": "/proc/self/root", "cwd": "/proc/self/cwd", "init": "/proc/1/root", "task": "/proc/1/task/1/cwd"}
    made = "; ".join(f"ln -s {target} /data/{name}" for name, target in links.items())
    await run(sandbox, f"mkdir /data/plain; ln -s plain /data/link; {made}")
    for beside in (False, True):
        other = await sandbox.exec(ExecRequest(argv=("sleep", "1000"))) if beside else None
        for user in (None, "1000") if image == "one" else (None,):
            for argv in (("sh", "-c", "pwd"), ("python", "-c", "import os; print(os.getcwd())")):
                for name in links:
                    request = ExecRequest(argv=argv, cwd=f"/data/{name}", timeout_seconds=60, user=user)
                    result = await (await sandbox.exec(request)).wait()
                    assert (result.returncode, result.stdout) == (127, b""), (name, user, result)
                    assert f"harena: working directory /data/{name}" in result.stderr.decode()
        assert await run(sandbox, "pwd -P", cwd="/data/link") == "/data/plain\n"
        if other is not None:
            other.kill()
    await sandbox.destroy()


LINKS = {
    "file": "/etc/victim/file",
    "away": "/etc/victim",
    "new": "/etc/victim/new",
    "closed": "/srv/secrets",
    "by": "away/../victim/file",
    "own": "real",
    "root": "/srv",
    "self": "/proc/self/root/etc/victim/file",
}


@pytest.mark.parametrize("operation", ["write", "read", "make", "remove", "list", "stat", "archive", "tree"])
async def test_no_link_of_a_user_leads_further_than_the_user_could_go(runtime: LinuxRuntime, operation: str) -> None:
    """Init has rights over all users: what a user may not do, no link of that user's does for it. A link to what the
    user may use leads there, and so does one of root's."""
    sandbox = await runtime.create(SandboxSpec(image="one"))
    await run(
        sandbox,
        "mkdir /etc/victim /srv/secrets; echo kept > /etc/victim/file; chmod 600 /etc/victim/file; "
        "echo kept > /srv/secrets/file; chmod 700 /srv/secrets; ln -s /etc/victim/file /srv/roots",
    )
    made = "; ".join(f"ln -s {target} {name}" for name, target in LINKS.items())
    await run(sandbox, f"cd /home/app; mkdir real; echo mine > real/file; {made}", user="1000")

    async def does(path: str) -> object:
        path = path if path.startswith("/") else f"/home/app/{path}"
        if operation == "write":
            return await sandbox.write_file(path, b"new")
        if operation == "read":
            return await sandbox.read_file(path, max_bytes=100)
        if operation == "make":
            return await sandbox.make_dir(f"{path}/made/deep", parents=True)
        if operation == "remove":
            return await sandbox.remove(path)
        if operation == "stat":
            return await sandbox.stat(path)
        if operation == "list":
            return await sandbox.list_dir(path)
        if operation == "archive":
            return [piece async for piece in sandbox.create_archive(path)]
        async with aclosing(tree_of_one_file()) as pieces:
            return await sandbox.extract_archive(path, pieces)

    refused = {
        "write": ("file", "new", "away/file", "away/made", "closed/file", "by", "self"),
        "read": ("file", "away/file", "closed/file", "by", "self"),
        "make": ("away", "new", "closed", "root"),
        "remove": ("away/file", "closed/file", "root/web"),
        "stat": ("closed/file",),
        "list": ("closed",),
        "archive": ("closed",),
        "tree": ("away", "new", "closed", "root"),
    }[operation]
    for path in refused:
        with pytest.raises(SandboxFileError) as caught:
            await does(path)
        assert caught.value.reason == "PERMISSION_DENIED", path
    allowed = {
        "write": ("own/file", "own/new/file", "/srv/roots"),
        "read": ("own/file", "root/web", "/srv/roots"),
        "make": ("own",),
        "remove": ("own/file", "file"),
        "stat": ("file", "own/file", "root/web", "away/file"),
        "list": ("own", "root"),
        "archive": ("own", "root"),
        "tree": ("own",),
    }[operation]
    for path in allowed:
        await does(path)
    kept = await run(sandbox, "ls /etc/victim /srv/secrets; cat /srv/secrets/file")
    assert kept == "/etc/victim:\nfile\n\n/srv/secrets:\nfile\nkept\n"
    await sandbox.destroy()


async def tree_of_one_file() -> AsyncGenerator[bytes, None]:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as archive:
        archive.addfile(tarfile.TarInfo("put"))
    yield made.getvalue()


async def test_an_archive_is_written_through_no_link_of_a_user(runtime: LinuxRuntime) -> None:
    """Init writes with rights over all users: what another user has put in the place of a file is replaced."""
    sandbox = await runtime.create(SandboxSpec(image="one"))
    await run(sandbox, "mkdir /etc/victim; echo kept > /etc/victim/file")
    await run(sandbox, "mkdir -p /home/app/d/real", user="1000")
    script = (
        "cd /home/app; ln -s /etc/victim/file pw; ln -s /etc/victim/new out; ln -s /etc/victim d/away; ln -s real d/to"
    )
    await run(sandbox, script, user="1000")
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as archive:
        for name in ("pw", "out", "d/to/file", "d/new/deep/file", "d/to/file"):
            member = tarfile.TarInfo(name)
            member.size, member.mode = 3, 0o640
            archive.addfile(member, io.BytesIO(b"new"))

    async def pieces(content: bytes) -> AsyncIterator[bytes]:
        yield content

    await sandbox.extract_archive("/home/app", pieces(made.getvalue()))
    assert await run(sandbox, "cat /etc/victim/*; ls /etc/victim") == "kept\nfile\n"
    found = "cd /home/app; stat -c '%F %a %n' pw out d/to d/real/file d/new/deep/file"
    assert (await run(sandbox, found, user="1000")).splitlines() == [
        *("regular file 640 pw", "regular file 640 out", "symbolic link 777 d/to"),
        *("regular file 640 d/real/file", "regular file 640 d/new/deep/file"),
    ]
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        archive.addfile(tarfile.TarInfo("d/away/file"))
    with pytest.raises(SandboxFileError):
        await sandbox.extract_archive("/home/app", pieces(out.getvalue()))
    assert await run(sandbox, "cat /etc/victim/file") == "kept\n"
    await sandbox.destroy()
