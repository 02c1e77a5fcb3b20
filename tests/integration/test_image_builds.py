"""Dockerfiles are built without Docker: in a process of its own, with the SDK, as users do. The images that they begin
with are made here."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from dockerfile_corpus import SAMPLES
from image_trees import PROGRAMS, archive_of, put_libraries, put_modules, put_packages, put_programs, put_python

SECRET = "very secret"
BUILT = [
    name
    for name, sample in SAMPLES.items()
    if not sample.needs_network and (os.geteuid() == 0 or not sample.needs_users)
]
ALWAYS = "a secret that is in no layer"
"""is built for the tests that are about all builds, too"""
ROOTS = {
    "root": ("debian:12", "python:3.11-slim"), "apt": ("debian:bookworm",), "git": ("debian:git",),
    "node": ("node:20-slim",),
}  # fmt: skip
BUILDS = """
import json, sys, time
from pathlib import Path
import harena
from harena import HarenaError, Sandbox

place, secret = Path(sys.argv[1]), sys.argv[2]
for root, names in ROOTS.items():
    for name in names:
        harena.images.import_archive(name, place / f"{root}.tar")
said = {}
for folder in sorted(place.glob("sample-*")):
    texts = []
    def told(event):
        texts.append(f"{event.kind} {event.text}")
    try:
        first = harena.images.build(folder, tags=f"localhost/{folder.name}:1", secrets={"token": secret}, on_event=told)
        again = harena.images.build(folder, tags=f"localhost/{folder.name}:1", secrets={"token": secret})
        with Sandbox.run(container_image=first.image) as sandbox:
            result = sandbox.exec(["sh", "-c", (folder.parent / f"{folder.name}.says").read_text()]).result()
        said[folder.name] = {
            "steps": [first.steps, again.steps_cached], "same": first.image == again.image,
            "result": [result.returncode, result.stderr], "log": "".join(texts),
        }
    except HarenaError as error:
        said[folder.name] = {"error": str(error), "log": "".join(texts)}
print(json.dumps(said))
""".replace("ROOTS", repr(ROOTS))


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


def put_root(root: Path, name: str) -> None:
    """What samples begin with, of this machine's programs."""
    packages = {"apt": ("apt", "dpkg", "libc-bin", "tar"), "git": ("git",)}
    if name in packages:
        put_packages(root, packages[name])
    put_programs(root, (*PROGRAMS, "bash", "tr", "wc", "touch", "readlink", "cut", "sha256sum", "diff"))
    (root / "etc/group").write_text("root:x:0:\nnogroup:x:65534:\n")
    if name == "root":
        put_python(root)
        put_modules(root, ["pip"])
    elif name == "apt":
        for program in ("apt-get", "dpkg", "dpkg-deb", "tar", *(root / "usr/lib/apt/methods").iterdir()):
            put_libraries(root, Path("/usr/bin", program) if isinstance(program, str) else program)
        (root / "var/lib/dpkg/status").write_text("")
    elif name == "git":
        put_libraries(root, Path("/usr/bin/git"))
    elif name == "node":
        put_programs(root, ("node",))
        npm = Path(shutil.which("npm") or "").resolve().parents[1]
        for folder in (npm, Path("/usr/share/nodejs")):
            if folder.is_dir():
                shutil.copytree(folder, root / str(folder)[1:], symlinks=True, dirs_exist_ok=True)
        (root / "usr/bin/npm").symlink_to(npm / "bin/npm-cli.js")


@pytest.fixture(scope="module")
def said(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, home: Path) -> dict[str, Any]:
    """What became of each sample that a test of this session asks for, by its name."""
    rows = [item.callspec for item in request.session.items if item.path == request.path and hasattr(item, "callspec")]
    asked = {ALWAYS, *(row.params.get("name") for row in rows)}
    built = [name for name in BUILT if name in asked]
    place = tmp_path_factory.mktemp("builds")
    for name in ROOTS:
        put_root(place / name, name)
        archive_of(place / name, place / f"{name}.tar")
    for number, name in enumerate(built):
        folder = place / f"sample-{number:02}"
        for path, content in SAMPLES[name].context.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(content)
        folder.mkdir(exist_ok=True)
        (folder / "Dockerfile").write_text(SAMPLES[name].text)
        (place / f"{folder.name}.says").write_text(SAMPLES[name].says)
    ended = subprocess.run(
        [sys.executable, "-c", BUILDS, str(place), SECRET],
        env={**os.environ, "HARENA_HOME": str(home)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    found: dict[str, Any] = json.loads(ended.stdout)
    return {name: found[f"sample-{number:02}"] for number, name in enumerate(built)}


@pytest.mark.parametrize("name", BUILT)
def test_a_sample_builds_and_has_what_it_says(said: dict[str, Any], name: str) -> None:
    told = said[name]
    assert "error" not in told, told
    assert told["result"] == [0, ""], told["log"]


@pytest.mark.parametrize("name", BUILT)
def test_a_sample_is_built_once(said: dict[str, Any], name: str) -> None:
    """The second build takes each step as it is, and gives the same image."""
    assert said[name].get("steps") == [SAMPLES[name].steps] * 2
    assert said[name]["same"]


RECIPE = """
name: agent
version: 1.2
base: debian:12
files:
  /etc/app.conf: {from: app.conf, mode: "0640"}
  /etc/motd: "of $HOME\\n"
env: {GREETING: 'hi $USER "q"'}
build:
  commands: ['echo "$GREETING" >/greeting; wc -c </run/secrets/token >/count']
  secrets: [token]
workdir: /work
network: {allow: [pypi]}
limits: {cpu: 1.5, memory_mb: 300, disk_mb: 100, pids: 40}
"""
BLUEPRINTS = """
import json, sys
from pathlib import Path
import harena
from harena import HarenaError, Sandbox

place, secret = Path(sys.argv[1]), {"token": sys.argv[2]}
made = harena.blueprints.build(place / "blueprint.yaml", secrets=secret)
said = {"again": harena.blueprints.build(place / "blueprint.yaml", secrets=secret).id == made.id}
with Sandbox.run(blueprint="agent") as sandbox:
    looks = "pwd; cat /etc/motd /greeting /count; ls -a /run/secrets"
    said["inside"] = sandbox.exec(["sh", "-c", looks]).result().stdout
    said["policy"] = sandbox.network_log().result().policy
    limits = sandbox.info.limits
    said["limits"] = [limits.cpu, limits.memory_bytes >> 20, limits.disk_bytes >> 20, limits.pids]
    said["digest"] = sandbox.info.blueprint_digest == made.digest
    sandbox.exec(["sh", "-c", "echo kept >/work/x"]).result()
    sandbox.snapshot(name="kept").result()
with Sandbox.run(blueprint="agent", limits={"pids": 50}) as sandbox:
    said["own"] = [sandbox.info.limits.pids, sandbox.info.limits.memory_bytes >> 20]
said["log"] = made.log
other = {**json.loads(made.recipe), "env": {"GREETING": "other"}}
harena.blueprints.build(other, context=place, secrets=secret)
said["versions"] = len(harena.blueprints.list(name="agent"))
said["diff"] = json.loads(harena.blueprints.get("agent").recipe)["env"]
harena.blueprints.delete(harena.blueprints.get("agent").id)
derived = {"name": "derived", "base": {"blueprint": "agent"}, "build": {"commands": ["cat /greeting >y"]}}
of_snapshot = {"name": "of-snapshot", "base": {"snapshot": "kept"}, "files": {"/etc/more": "more"}}
for recipe, asks in ((derived, "cat /work/y"), (of_snapshot, "cat /work/x /etc/more")):
    with Sandbox.run(blueprint=harena.blueprints.build(recipe)) as sandbox:
        said[recipe["name"]] = sandbox.exec(["sh", "-c", asks]).result().stdout
harena.blueprints.create("plain", image="debian:12", env={"A": "x y"}, files={"/etc/q": b"text"})
harena.blueprints.export_archive("plain", place / "plain.tar")
harena.images.import_archive("localhost/back:1", place / "plain.tar")
with Sandbox.run(container_image="localhost/back:1") as sandbox:
    said["back"] = sandbox.exec(["sh", "-c", "echo $A; cat /etc/q"]).result().stdout
asks = "import urllib.request; print(urllib.request.urlopen('http://127.0.0.1:8000').status)"
web = {"name": "web", "command": ["python", "-m", "http.server", "8000"], "ready": ["python", "-c", asks]}
with Sandbox.run(blueprint=harena.blueprints.build({"name": "served", "daemons": [web]})) as sandbox:
    said["served"] = sandbox.exec(["python", "-c", asks]).result().stdout
knows = {"commands": ["echo dev:x:1000:1000::/home/dev:/bin/sh >>/etc/passwd"]}
owned = {"name": "owned", "base": "debian:12", "user": "dev", "workdir": "/home/dev", "build": knows}
with Sandbox.run(blueprint=harena.blueprints.build(owned)) as sandbox:
    said["owned"] = sandbox.exec(["sh", "-c", "pwd; echo mine >x; cat x"]).result().stdout
for name, recipe in {
    "ghost": {"name": "f", "base": "debian:12", "user": "ghost"},
    "fails": {"name": "f", "base": "debian:12", "build": {"commands": ["true", "exit 3"]}},
    "no secret": {"name": "f", "base": "debian:12", "build": {"secrets": ["token"]}},
    "no file": {"name": "f", "base": "debian:12", "files": {"/x": {"from": "is-not-there"}}},
    "on the host": {"name": "f", "base": {"blueprint": "python-warm"}},
}.items():
    try:
        harena.blueprints.build(recipe, context=place)
    except HarenaError as error:
        said[name] = str(error)
print(json.dumps(said))
"""


def test_a_blueprint_of_a_file(said: dict[str, Any], home: Path, tmp_path: Path) -> None:
    """Built once, and begun with by others; its image goes out and comes back; what is wrong makes no blueprint."""
    assert said  # the image that it begins with is here
    (tmp_path / "blueprint.yaml").write_text(RECIPE)
    (tmp_path / "app.conf").write_text("conf\n")
    ended = subprocess.run(
        [sys.executable, "-c", BLUEPRINTS, str(tmp_path), SECRET],
        env={**os.environ, "HARENA_HOME": str(home)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    told = json.loads(ended.stdout)
    assert told["inside"].split("\n")[:4] == ["/work", "of $HOME", 'hi $USER "q"', str(len(SECRET))]
    assert "token" not in told["inside"]
    assert (told["again"], told["digest"], told["policy"]) == (True, True, {"allow": ["pypi"]})
    assert (told["derived"], told["of-snapshot"], told["back"]) == ('hi $USER "q"\n', "kept\nmore", "x y\ntext")
    assert told["served"] == "200\n"
    assert (told["limits"], told["own"]) == ([1.5, 300, 100, 40], [50, 300])
    assert "RUN" in told["log"]
    assert (told["versions"], told["diff"]) == (2, {"GREETING": "other"})
    assert told["owned"] == "/home/dev\nmine\n"
    assert os.geteuid() != 0 or "user: the command has ended with exit code 126" in told["ghost"]
    assert told["fails"].startswith("build.commands[1]: the command has ended with exit code 3")
    assert "build.secrets: token has no value" in told["no secret"]
    assert "is-not-there is not beside the recipe" in told["no file"]
    assert "this machine's own /usr" in told["on the host"]


def test_a_secret_is_in_no_layer_and_in_no_record(said: dict[str, Any], home: Path) -> None:
    """Nothing that the node keeps on its disk holds it."""
    looked = 0
    for folder, _, names in os.walk(home):
        for name in names:
            path = Path(folder) / name
            if path.is_file() and not path.is_symlink():
                looked += 1
                assert SECRET.encode() not in path.read_bytes().replace(b"= 'very secret'", b""), path
    assert looked > 100


def test_nothing_of_a_build_is_left_behind(said: dict[str, Any], home: Path) -> None:
    (work,) = home.glob("images/*/work")
    assert os.listdir(work) == []
