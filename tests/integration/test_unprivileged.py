"""An ordinary user, without any cgroup; and environments as containers make them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest

import harena
from footprint import wait_nothing_below
from image_trees import PROGRAMS, archive_of, put_programs

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root: it becomes another user, or makes a container"),
    pytest.mark.usefixtures("adopting"),
]

PATIENCE = 60.0
NOBODY = 65534

TESTS = Path(__file__).parents[1]

# What is run as the other user: prints one JSON object.
START = (
    f"import sys\nsys.path.append({str(TESTS)!r})\n"
    + """
import asyncio, json, os, sys
from harena.core.errors import HarenaError
from harena.core.models import MIB, ExecRequest, SandboxSpec
from harena.core.records.sandboxes import Limits
from harena.runtime.host.linux import LinuxRuntime
from footprint import descendants

async def run(sandbox, *argv, **request):
    result = await (await sandbox.exec(ExecRequest(argv=argv, **request))).wait()
    return [result.outcome.value, result.returncode, result.stdout.decode(), result.stderr.decode()[-300:]]

async def python(sandbox, code, **request):
    return await run(sandbox, "python3", "-c", code, **request)

async def main():
    runtime = LinuxRuntime()
    said = {}
    try:
        await runtime.start()
        await work(runtime, said)
    except HarenaError as error:
        said["error"] = [type(error).__name__, str(error), getattr(error, "step", None)]
    finally:
        await runtime.close()
    said["left"] = [entry.pid for entry in descendants(os.getpid(), zombies=True)]
    print(json.dumps(said))
"""
)
END = "\nasyncio.run(main())\n"


def others_may_run(python: str) -> bool:
    """An ordinary user may start this interpreter, and it is new enough."""
    check = "import sys; sys.exit(sys.version_info < (3, 11))"
    try:
        return (
            subprocess.run([python, "-c", check], user=NOBODY, group=NOBODY, extra_groups=[], check=False).returncode
            == 0
        )
    except OSError:
        return False


@pytest.fixture(scope="module")
def python_of_others() -> str:
    """An interpreter that an ordinary user may run."""
    candidates = [os.path.realpath(sys.executable), "/usr/local/bin/python3", "/usr/bin/python3"]
    found = next((python for python in candidates if others_may_run(python)), None)
    if found is None:
        pytest.skip(f"user {NOBODY} may run none of {', '.join(candidates)} (or they are older than 3.11)")
    return found


@pytest.fixture(scope="module")
def open_source() -> Iterator[Path]:
    """The package, where every user can read it."""
    with tempfile.TemporaryDirectory(prefix="harena-source-") as name:
        Path(name).chmod(0o755)
        package = Path(harena.__file__).parent
        shutil.copytree(package, Path(name, "harena"), ignore=shutil.ignore_patterns("__pycache__"))
        yield Path(name)


@pytest.fixture
def others_home() -> Iterator[Path]:
    """A home that belongs to the ordinary user."""
    with tempfile.TemporaryDirectory(prefix="harena-home-") as name:
        os.chown(name, NOBODY, NOBODY)
        yield Path(name)
        assert [path.name for path in Path(name).rglob("*")] in ([], ["empty"])


def as_nobody(python: str, source: Path, home: Path, code: str) -> dict[str, Any]:
    """What the script says when an ordinary user runs it."""
    process = subprocess.run(
        [
            python,
            "-c",
            START + "async def work(runtime, said):\n" + textwrap.indent(textwrap.dedent(code), "    ") + END,
        ],
        user=NOBODY,
        group=NOBODY,
        extra_groups=[],
        cwd="/",
        env={"PATH": "/usr/bin:/bin", "PYTHONPATH": str(source), "HARENA_HOME": str(home), "HOME": "/nonexistent"},
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )
    assert process.returncode == 0, process.stderr
    assert wait_nothing_below(os.getpid(), PATIENCE) == []
    said: dict[str, Any] = json.loads(process.stdout)
    assert said.pop("left") == []
    return said


def test_an_ordinary_user_runs_programs(python_of_others: str, open_source: Path, others_home: Path) -> None:
    """Create, exec, files and time-out without any privilege; inside, the user is root of nothing but the sandbox."""
    said = as_nobody(python_of_others, open_source, others_home, """
        sandbox = await runtime.create(SandboxSpec())
        said["echo"] = await run(sandbox, "echo", "here")
        said["who"] = await run(sandbox, "sh", "-c", "id -u; cat /proc/self/uid_map; touch /usr/x; ls /home /work")
        await sandbox.write_file("/data/x", b"content")
        said["file"] = (await sandbox.read_file("/data/x", max_bytes=1 << 20)).decode()
        said["timeout"] = await run(sandbox, "sh", "-c", "sleep 3600 & sleep 3600", timeout_seconds=0.3)
        said["processes"] = [process.command for process in await sandbox.processes()]
        hidden = await runtime.create(SandboxSpec(hides_processes=True))
        for sandbox in (sandbox, hidden):
            asked = ("bash", "-c", "bash -c 'cat /proc/$PPID/cmdline; true'; true", "secret")
            said["seen"] = [*said.get("seen", ()), "secret" in (await run(sandbox, *asked, guarded=True))[2]]
        lasting = ("bash", "-c", "sleep 3600 & sleep 3600")
        said["hidden timeout"] = await run(hidden, *lasting, guarded=True, timeout_seconds=0.3)
        many = await asyncio.gather(*(runtime.create(SandboxSpec()) for _ in range(20)))
        said["many"] = [(await run(one, "echo", "x"))[2] for one in many]
    """)  # fmt: skip
    assert said["echo"] == ["exited", 0, "here\n", ""]
    assert said["file"] == "content"
    assert said["timeout"][0] == "timeout"
    assert said["processes"] == []
    assert said["seen"] == [True, False]
    assert said["hidden timeout"][0] == "timeout"
    assert said["many"] == ["x\n"] * 20
    outcome, _code, out, err = said["who"]
    assert outcome == "exited"
    assert out.split()[:2] == ["0", "0"]
    assert "Read-only" in err


def test_an_ordinary_users_blueprint_imports_without_rights(
    python_of_others: str, open_source: Path, others_home: Path
) -> None:
    """Its sandboxes start warm, with a user namespace of their own, though no cgroup counts memory or processes."""
    said = as_nobody(python_of_others, open_source, others_home, """
        from harena.core.records.blueprints import Blueprint
        warm = Blueprint(id="bp_warm", name="warm", warm=("json", "decimal"), env={"A": "b"})
        for _ in range(2):
            sandbox = await runtime.create(SandboxSpec(), warm)
            process = await sandbox.exec(ExecRequest(argv=("python3", "-c", "import json, os; print(os.environ['A'])")))
            result = await process.wait()
            said["program"] = [result.warm, result.stdout.decode()]
            said["status"] = await run(sandbox, "grep", "-E", "CapBnd|Seccomp:", "/proc/1/status")
            await sandbox.destroy()
    """)  # fmt: skip
    assert said["program"] == [True, "b\n"]
    assert said["status"][2].split() == ["CapBnd:", "0" * 16, "Seccomp:", "2"]


@pytest.fixture
def others_layer() -> Iterator[Path]:
    """An unpacked layer of an image that belongs to the ordinary user."""
    with tempfile.TemporaryDirectory(prefix="harena-layer-") as name:
        put_programs(Path(name))
        (Path(name) / "etc/motd").write_text("layer\n")
        for path in (Path(name), *Path(name).rglob("*")):
            os.chown(path, NOBODY, NOBODY, follow_symlinks=False)
        yield Path(name)


def test_an_ordinary_users_image(
    python_of_others: str, open_source: Path, others_home: Path, others_layer: Path
) -> None:
    """All of its files are root's inside, and can be written to; the layer stays as it is."""
    said = as_nobody(python_of_others, open_source, others_home, f"""
        import contextlib
        from pathlib import Path
        from harena.core.records.images import ImageRoot
        class Images:
            async def root_of(self, workspace, reference):
                layers = (Path({str(others_layer)!r}),)
                return ImageRoot(digest="sha256:x", layers=layers, environment={{}}, workdir="/new", user="",
                                 entrypoint=(), command=(), keeps_owners=False)
            def hold(self, workspace, digest):
                return contextlib.nullcontext()
        runtime._images = Images()
        script = "id -u; pwd; stat -c %u:%g /etc/motd /bin/sh; echo mine > /etc/motd; rm /bin/id; cat /etc/motd; ls /no"
        for name in ("first", "second"):
            sandbox = await runtime.create(SandboxSpec(image="any:1"))
            said[name] = await run(sandbox, "sh", "-c", script)
            await sandbox.destroy()
    """)  # fmt: skip
    for name in ("first", "second"):
        outcome, _, out, err = said[name]
        assert (outcome, out.split()) == ("exited", ["0", "/new", "0:0", "0:0", "mine"]), err
        assert "/no" in err
    assert (others_layer / "etc/motd").read_text() == "layer\n"


def test_an_ordinary_users_layer_is_sealed_whatever_its_rights(
    python_of_others: str, open_source: Path, others_home: Path, others_layer: Path
) -> None:
    """What nobody may read is read with the rights of who is root inside, and no more."""
    said = as_nobody(python_of_others, open_source, others_home, f"""
        import contextlib, harena, json, pathlib, shutil, subprocess, sys, tarfile
        from harena.core.records.images import ImageRoot
        from harena.image_store.sealing import seal
        from harena.image_store.store import ImageStore, in_threads
        from harena.image_store.unpacking import LayerLimits
        class Images:
            async def root_of(self, workspace, reference):
                layers = (pathlib.Path({str(others_layer)!r}),)
                return ImageRoot(digest="sha256:x", layers=layers, environment={{}}, workdir="", user="",
                                 entrypoint=(), command=(), keeps_owners=False)
            def hold(self, workspace, digest):
                return contextlib.nullcontext()
        runtime._images = Images()
        sandbox = await runtime.create(SandboxSpec(image="any:1", limits=Limits(pids=30)))
        script = "mkdir /data/in; echo shut > /data/shut; echo x > /data/in/x; rm /etc/motd"
        said["script"] = await run(sandbox, "sh", "-c", script + "; chmod 0 /data/shut /data/in")
        said["held"] = await sandbox.hold_files("snap_1", 60.0)
        fork = await runtime.create(SandboxSpec(image="snapshot://snap_1", limits=Limits(pids=30)))
        said["fork"] = await run(fork, "sh", "-c", "echo mine > /data/mine; ls /data /etc")
        await fork.destroy()
        said["after"] = await run(sandbox, "sh", "-c", "ls /data; echo after > /data/after")
        layer = await sandbox.upper_layer()
        await sandbox.destroy()
        store = ImageStore(pathlib.Path(os.environ["HARENA_HOME"]) / "store")
        store.open(0.0)
        async with in_threads(store.work()) as work:
            beneath = [pathlib.Path({str(others_layer)!r})]
            sealed = await seal(layer, work, LayerLimits(files=1000, bytes=1000000), layers=beneath)
            with tarfile.open(sealed.path) as found:
                said["seen"] = {{one.name: [one.uid, one.mode, one.size] for one in found}}
            tree = await seal(layer, work, LayerLimits(files=1000, bytes=1000000), layers=beneath, is_tree=True)
            about = (tree.path / "root/data/shut").stat()
            said["tree"] = [tree.digest == sealed.digest, about.st_mode & 0o777, about.st_uid == os.getuid()]
            question = dict(headers=str(tree.path / "headers"), root=str(tree.path / "root"),
                            target=str(work.path / "again"), digest=sealed.digest)
            program = "import sys; sys.path.insert(0, sys.argv[2]); "
            program += "from harena.image_store import layer_headers; layer_headers.main()"
            words = [sys.executable, "-I", "-S", "-c", program, json.dumps(question)]
            words.append(str(pathlib.Path(harena.__file__).parents[1]))
            said["again"] = json.loads(subprocess.run(words, capture_output=True, check=True).stdout)
            said["same"] = (work.path / "again").read_bytes() == sealed.path.read_bytes()
        await layer.close()
        shutil.rmtree(store.place)
    """)  # fmt: skip
    assert said["script"][:2] == ["exited", 0], said
    seen = said["seen"]
    assert (seen["data/shut"], seen["data/in"], seen["data/in/x"]) == ([0, 0, 5], [0, 0, 0], [0, 0o644, 2])
    assert "etc/.wh.motd" in seen
    assert "data/after" in seen
    assert said["tree"] == [True, 0, True]
    assert (said["again"]["fault"], said["same"]) == ("", True)
    assert said["held"] > 0
    assert said["fork"][2].split() == [
        "/data:",
        "in",
        "mine",
        "shut",
        "/etc:",
        "hostname",
        "hosts",
        "passwd",
        "resolv.conf",
    ]
    assert said["after"][2].split() == ["in", "shut"]


# What is run as the other user with the whole package, as users have it: prints one JSON object.
WHOLE = """
import http.server, json, sys, threading
import harena
from harena import Sandbox, benchmark_jobs

place, said = sys.argv[1], {}
harena.images.import_archive("debian:12", f"{place}/root.tar")
harena.images.build(f"{place}/context", tags=["localhost/made:1"])
with Sandbox.run(container_image="localhost/made:1") as sandbox:
    looks = "id -u; pwd; cat /made/who /made/file; stat -c %u /made/file"
    said["built"] = sandbox.exec(["sh", "-c", looks], check=True).result().stdout.split()
with Sandbox.run() as sandbox:
    sandbox.exec(["sh", "-c", "cd /data; mkdir in; echo shut > in/shut; chmod 0 in/shut in"], check=True).result()
    looks = "cd /data; stat -c %a in; chmod 700 in; stat -c %a in/shut; chmod 600 in/shut; cat in/shut"
    (fork,) = sandbox.fork(1).result()
    said["fork"] = fork.exec(["sh", "-c", looks], check=True).result().stdout.split()
    fork.stop().result()
for who in ("oracle", "nop"):
    runs = benchmark_jobs.wait(benchmark_jobs.create(name=who, scenarios=f"{place}/task", candidates=who)).runs
    said[who] = [[run.score, str(run.validity), run.detail] for run in runs]

class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("content-length", "4")
        self.end_headers()
        self.wfile.write(b"page")

    def log_message(self, *_):
        pass

servers = [http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page) for _ in range(2)]
for each in servers:
    threading.Thread(target=each.serve_forever, daemon=True).start()
open_port, other_port = (each.server_address[1] for each in servers)
ASKS = '''
import sys, urllib.error, urllib.request
opener = urllib.request.build_opener(urllib.request.ProxyHandler({"http": "http://127.0.0.1:3128"}))
for port in sys.argv[1:]:
    try:
        print(opener.open("http://127.0.0.1:" + port).read().decode())
    except urllib.error.HTTPError as error:
        print(error.code)
    except OSError as error:
        print("no proxy")
'''
asked = ["python3", "-c", ASKS, str(open_port), str(other_port)]
with Sandbox.run(network={"allow": [f"127.0.0.1:{open_port}"]}) as sandbox:
    said["network"] = sandbox.exec(asked, env={"no_proxy": "", "NO_PROXY": ""}).result().stdout.split()
    said["log"] = [each.allowed for each in sandbox.network_log().result().entries]
    sandbox.set_network({"allow": []}).result()
    said["closed"] = sandbox.exec(asked, env={"no_proxy": "", "NO_PROXY": ""}).result().stdout.split()
with Sandbox.run() as sandbox:
    said["none"] = sandbox.exec(asked, env={"no_proxy": "", "NO_PROXY": ""}).result().stdout.split()
print(json.dumps(said))
"""
TASK = {
    "instruction.md": "Write 42 to /app/answer.\n",
    "task.toml": 'version = "1.0"\n',
    "environment/Dockerfile": "FROM debian:12\nWORKDIR /app\n",
    "solution/solve.sh": "#!/bin/sh\necho 42 > /app/answer\n",
    "tests/test.sh": (
        '#!/bin/sh\nif [ "$(cat /app/answer)" = 42 ]; then echo 1; else echo 0; fi > /logs/verifier/reward.txt\n'
    ),
}
BUILT = "FROM debian:12\nRUN mkdir /made && id -u > /made/who\nCOPY --chown=7:7 f /made/file\nWORKDIR /made\n"


@pytest.fixture(scope="module")
def whole(python_of_others: str, open_source: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the program above says, run by an ordinary user."""
    libraries = Path(aiohttp.__file__).parents[1]
    check = f"import sys; sys.path.insert(0, {str(libraries)!r}); import aiohttp"
    if subprocess.run([python_of_others, "-c", check], user=NOBODY, group=NOBODY, check=False).returncode:
        pytest.skip(f"user {NOBODY} cannot read the libraries that this environment has, or has another Python")
    tree = tmp_path_factory.mktemp("tree")
    put_programs(tree, (*PROGRAMS, "bash", "find", "mktemp", "readlink", "sed", "sort", "touch", "tr", "wc"))
    with tempfile.TemporaryDirectory(prefix="harena-others-") as name:
        place = Path(name)
        archive_of(tree, place / "root.tar")
        files = {f"task/{path}": text for path, text in TASK.items()}
        for path, text in {**files, "context/f": "file\n", "context/Dockerfile": BUILT}.items():
            (place / path).parent.mkdir(parents=True, exist_ok=True)
            (place / path).write_text(text)
        for path in (place, *place.rglob("*")):
            os.chown(path, NOBODY, NOBODY)
        process = subprocess.run(
            [python_of_others, "-c", WHOLE, name],
            user=NOBODY,
            group=NOBODY,
            extra_groups=[],
            cwd="/",
            env={
                "PATH": "/usr/bin:/bin",
                "PYTHONPATH": f"{open_source}:{libraries}",
                "HARENA_HOME": str(place / "home"),
                "HOME": "/nonexistent",
            },
            capture_output=True,
            text=True,
            check=False,
        )
    assert process.returncode == 0, process.stderr
    said: dict[str, Any] = json.loads(process.stdout)
    return said


def test_an_ordinary_user_builds_an_image(whole: dict[str, Any]) -> None:
    """RUN and COPY of a Dockerfile; where the user has one id only, all files are root's."""
    who, folder, made_by, content, owner = whole["built"]
    assert (who, folder, made_by, content) == ("0", "/made", "0", "file")
    assert owner in ("0", "7")


def test_an_ordinary_user_forks_a_sandbox_of_the_default_image(whole: dict[str, Any]) -> None:
    """What nobody may read is in the fork, and stays so."""
    assert whole["fork"] == ["0", "0", "shut"]


def test_an_ordinary_user_scores_a_harbor_task(whole: dict[str, Any]) -> None:
    """Whose Dockerfile is built: its own solution has 1, and doing nothing 0."""
    assert [run[:2] for run in whole["oracle"]] == [[1.0, "valid"]], whole["oracle"]
    assert [run[:2] for run in whole["nop"]] == [[0.0, "valid"]], whole["nop"]


def test_an_ordinary_users_network(whole: dict[str, Any]) -> None:
    """A policy allows what it names and nothing else, until another one allows less; without one there is no proxy."""
    assert whole["network"] == ["page", "403"]
    assert whole["log"] == [True, False]
    assert whole["closed"] == ["403", "403"]
    assert whole["none"] == ["no", "proxy"] * 2


def test_fallback_limits(python_of_others: str, open_source: Path, others_home: Path) -> None:
    """Without cgroups memory and processes are limited all the same, and the sandbox says how, and what is not."""
    said = as_nobody(python_of_others, open_source, others_home, """
        limits = Limits(memory_bytes=128 * MIB, pids=24)
        sandbox = await runtime.create(SandboxSpec(limits=limits))
        other = await runtime.create(SandboxSpec(limits=limits))
        said["enforcement"] = dict(sandbox.enforcement)
        said["one process"] = await python(sandbox, "kept = bytearray(300_000_000); print('no')")
        said["after"] = await run(sandbox, "echo", "on")
        many = ("import os, time\\nfor _ in range(6):\\n    if os.fork() == 0:\\n"
                "        kept = bytearray(b'x' * 40_000_000); time.sleep(3600)\\ntime.sleep(3600)")
        said["several"] = await python(other, many, timeout_seconds=30)
        death = await asyncio.wait_for(other.wait_dead(), 20)
        said["death"] = [death.by_request, death.memory]
        third = await runtime.create(SandboxSpec(limits=limits))
        bomb = ("import os\\nn = 0\\ntry:\\n    while os.fork(): n += 1\\n"
                "    os._exit(0)\\nexcept OSError: print(n < 24)")
        said["forks"] = await python(third, bomb)
        endless = "import os\\nwhile True:\\n    try: os.fork()\\n    except OSError: pass"
        said["bomb"] = await python(third, endless, timeout_seconds=1)
        said["third"] = await run(third, "echo", "on")
        said["first"] = await run(sandbox, "echo", "on")
        kept = await asyncio.gather(*(runtime.create(SandboxSpec(limits=limits)) for _ in range(3)))
        said["neighbours"] = [(await python(one, bomb))[2] for one in kept]
    """)  # fmt: skip
    enforcement = said["enforcement"]
    assert set(enforcement) >= {"memory_bytes", "pids", "cpu", "disk_bytes", "open_files"}
    assert "RLIMIT_AS" in enforcement["memory_bytes"]
    assert "RLIMIT_NPROC" in enforcement["pids"]
    assert enforcement["cpu"].startswith("not enforced: ")
    assert said["one process"][1] == 1
    assert "MemoryError" in said["one process"][3]
    assert said["after"][2] == "on\n"
    assert said["several"][0] == "memory"
    assert said["death"] == [False, True]
    assert "True" in said["forks"][2]
    assert said["bomb"][0] == "timeout"
    assert said["third"] == said["first"] == ["exited", 0, "on\n", ""]
    assert all("True" in out for out in said["neighbours"])


def test_killed_client_of_an_ordinary_user(python_of_others: str, open_source: Path, others_home: Path) -> None:
    """kill -9 ends everything for an ordinary user as well."""
    code = START + textwrap.dedent("""
        async def work(runtime, said):
            for _ in range(4):
                sandbox = await runtime.create(SandboxSpec())
                await sandbox.exec(ExecRequest(argv=("sh", "-c", "setsid sleep 3600 & sleep 3600")))
            os.kill(os.getpid(), 9)
    """) + END  # fmt: skip
    process = subprocess.run(
        [python_of_others, "-c", code],
        user=NOBODY,
        group=NOBODY,
        extra_groups=[],
        cwd="/",
        env={"PATH": "/usr/bin:/bin", "PYTHONPATH": str(open_source), "HARENA_HOME": str(others_home)},
        check=False,
        timeout=PATIENCE,
    )
    assert process.returncode == -9
    assert wait_nothing_below(os.getpid(), PATIENCE) == []


# -- containers ----------------------------------------------------------------------------------------------------

IN_CONTAINER = """
async def work(runtime, said):
    sandbox = await runtime.create(SandboxSpec())
    said["echo"] = await run(sandbox, "echo", "here")
    said["enforcement"] = dict(sandbox.enforcement)
"""
MASK = (
    "for f in kcore keys timer_list; do mount --bind /dev/null /proc/$f; done; "
    "mount --bind /proc/sys /proc/sys; mount -o remount,bind,ro /proc/sys; "
    "mount -t tmpfs none /proc/scsi 2>/dev/null; "
)


FORBID_USER_NAMESPACES = "echo 0 > /proc/sys/user/max_user_namespaces; "
ROOTFUL = ("--mount", "--pid", "--fork", "--kill-child", "--mount-proc")
ROOTLESS = ("--user", "--map-root-user", *ROOTFUL)
"""as a container looks that root has made, and one that an ordinary user has made: root of a user namespace"""
kinds = pytest.mark.parametrize("kind", [ROOTFUL, ROOTLESS], ids=["rootful", "rootless"])


def in_container(
    kind: tuple[str, ...], setup: str, home: Path, code: str = START + IN_CONTAINER + END
) -> dict[str, Any]:
    """What the script says in namespaces of its own, after the shell commands `setup`."""
    process = subprocess.run(
        ["unshare", *kind, "sh", "-c", setup + 'exec "$0" -c "$1"', sys.executable, code],
        env={**os.environ, "HARENA_HOME": str(home)},
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )
    if process.returncode == 1 and "unshare" in process.stderr:
        pytest.skip(f"no container can be made here: {process.stderr.strip()}")
    assert process.returncode == 0, process.stderr
    assert wait_nothing_below(os.getpid(), PATIENCE) == []
    found: dict[str, Any] = json.loads(process.stdout.splitlines()[-1])
    return found


@kinds
def test_in_a_container(kind: tuple[str, ...], home: Path) -> None:
    """In namespaces of its own with a whole /proc a node works."""
    said = in_container(kind, "", home)
    assert "error" not in said, said["error"]
    assert said["echo"] == ["exited", 0, "here\n", ""]
    assert said["left"] == []


@kinds
def test_in_a_container_that_masks_proc(kind: tuple[str, ...], home: Path) -> None:
    """Where /proc is masked, as docker does it, one clear error names the failed step, the reason and the doctor."""
    said = in_container(kind, MASK, home)
    name, text, step = said["error"]
    assert name == "HostUnsupportedError", text
    assert "harena doctor" in text
    assert "masks /proc" in text
    assert "proc" in step
    assert said["left"] == []


@kinds
def test_doctor_in_a_container_that_masks_proc(kind: tuple[str, ...], home: Path) -> None:
    """The doctor names the same cause, and what to change."""
    code = textwrap.dedent("""
        import json
        from harena.runtime.host import doctor
        found = doctor.report()
        bad = [[finding.name, finding.detail, finding.fix] for finding in found if finding.ok is False]
        print(json.dumps({"usable": doctor.usable(found), "bad": bad}))
    """)
    said = in_container(kind, MASK, home, code)
    assert said["usable"] is False
    assert [name for name, _, _ in said["bad"]] == ["fresh /proc"]
    assert "systempaths=unconfined" in said["bad"][0][2]


def test_without_user_namespaces(home: Path) -> None:
    """Where no user namespace can be made, the error says so and nothing stays; nor does asking again hang.

    Only in a user namespace of its own: the setting belongs to the namespace in which it is made.
    """
    code = START + textwrap.dedent("""
        async def work(runtime, said):
            for _ in range(2):
                try:
                    await runtime.create(SandboxSpec())
                except HarenaError as error:
                    said.setdefault("errors", []).append([type(error).__name__, str(error)])
    """) + END  # fmt: skip
    said = in_container(ROOTLESS, FORBID_USER_NAMESPACES, home, code)
    assert "error" not in said, said["error"]
    assert len(said["errors"]) == 2
    assert {kind for kind, _ in said["errors"]} == {"HostUnsupportedError"}
    assert all("harena doctor" in text for _, text in said["errors"])
    assert said["left"] == []
