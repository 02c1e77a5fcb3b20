from __future__ import annotations

import base64
import fcntl
import hashlib
import os
import subprocess
import sys
import zipfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from harena.core.errors import LimitExceededError, NotFoundError, PlatformError, ValidationError
from harena.runtime.host.layers import LayerStore, check_requirements

pytestmark = pytest.mark.thorough

MakeWheel = Callable[..., Path]


@pytest.fixture
def wheels(tmp_path: Path) -> Path:
    """An empty directory for wheels."""
    directory = tmp_path / "wheels"
    directory.mkdir()
    return directory


@pytest.fixture
def make_wheel(wheels: Path) -> MakeWheel:
    """Makes a wheel by hand."""

    def make(name: str, version: str = "1.0", *, requires: str = "", script: str = "", code: str = "value = 1") -> Path:
        members = {
            f"{name}/__init__.py": code,
            f"{name}-{version}.dist-info/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
            + (f"Requires-Dist: {requires}\n" if requires else ""),
            f"{name}-{version}.dist-info/WHEEL": "Wheel-Version: 1.0\nGenerator: t\nRoot-Is-Purelib: true\n"
            "Tag: py3-none-any\n",
        }
        if script:
            members[f"{name}-{version}.dist-info/entry_points.txt"] = f"[console_scripts]\n{script}={name}:main\n"
        record = f"{name}-{version}.dist-info/RECORD"
        path = wheels / f"{name}-{version}-py3-none-any.whl"
        with zipfile.ZipFile(path, "w") as archive:
            lines = [f"{record},,"]
            for member, text in members.items():
                archive.writestr(member, text)
                digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
                lines.append(f"{member},sha256={digest},{len(text.encode())}")
            archive.writestr(record, "\n".join(lines) + "\n")
        return path

    return make


@pytest.fixture
def store(tmp_path: Path, wheels: Path) -> LayerStore:
    """A store that finds wheels in the directory only."""
    return LayerStore(tmp_path / "layers", pip_options=("--no-index", "--find-links", str(wheels)))


def everything(root: Path) -> list[Path]:
    """All paths below a directory."""
    return [Path(folder, name) for folder, folders, files in os.walk(root) for name in [*folders, *files]]


def test_install_with_dependencies(store: LayerStore, make_wheel: MakeWheel) -> None:
    """A layer holds what was asked for and what that needs, pinned by sha256, importable, compiled and read-only."""
    base = make_wheel("base_part", code="value = 20")
    make_wheel("top", "2.1", requires="base-part>=1", script="topper", code="import base_part\ndef main(): print('hi')")
    layer = store.install(["top>=2"])
    assert [(package.name, package.version) for package in layer.packages] == [("base-part", "1.0"), ("top", "2.1")]
    assert layer.packages[0].sha256 == hashlib.sha256(base.read_bytes()).hexdigest()
    assert store.installed(layer.digest) == layer
    path = store.path(layer.digest)
    environment = {"PYTHONPATH": str(path), "PATH": os.environ["PATH"]}
    code = "import top; print(top.base_part.value)"
    imported = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, check=True)
    assert imported.stdout == b"20\n"
    assert list((path / "top" / "__pycache__").glob("*.pyc"))
    assert (path / "bin" / "topper").read_bytes().startswith(b"#!/usr/bin/env python3\n")
    ran = subprocess.run([path / "bin" / "topper"], env=environment, capture_output=True, check=True)
    assert ran.stdout == b"hi\n"
    for inside in everything(path):
        mode = inside.stat().st_mode
        assert mode & 0o222 == 0
        assert mode & 0o444 == 0o444


def test_same_wheels_are_installed_once(store: LayerStore, make_wheel: MakeWheel) -> None:
    """The digest depends on the wheels alone, and an existing layer is reused as it is."""
    make_wheel("one")
    make_wheel("two", requires="one")
    first = store.install(["two"])
    made_at = (store.root / first.digest / "layer.json").stat().st_mtime_ns
    assert store.install(["one", "two==1.0"]) == first
    assert (store.root / first.digest / "layer.json").stat().st_mtime_ns == made_at
    assert sorted(path.name for path in store.root.iterdir()) == sorted([".making", first.digest])
    assert list((store.root / ".making").iterdir()) == []


def test_other_bytes_are_another_layer(store: LayerStore, make_wheel: MakeWheel) -> None:
    """The same name and version with other contents is another layer, and the first one stays."""
    make_wheel("one", code="value = 1")
    first = store.install(["one"])
    make_wheel("one", code="value = 2")
    second = store.install(["one"])
    assert first.digest != second.digest
    assert "1" in (store.path(first.digest) / "one" / "__init__.py").read_text()


def test_concurrent_installers(store: LayerStore, make_wheel: MakeWheel) -> None:
    """Two installers of one layer at the same time both get it, whole."""
    make_wheel("one")
    with ThreadPoolExecutor(2) as threads:
        first, second = threads.map(store.install, [["one"], ["one"]])
    assert first == second
    assert (store.path(first.digest) / "one" / "__init__.py").is_file()
    assert list((store.root / ".making").iterdir()) == []


def test_leftovers_of_the_dead_are_swept(store: LayerStore, make_wheel: MakeWheel) -> None:
    """What a maker that died has left is removed by the next one; what a living one holds is not."""
    make_wheel("one")
    making = store.root / ".making"
    for name in ("dead", "alive"):
        (making / name / "sealed").mkdir(parents=True)
        (making / f"{name}.lock").touch()
        (making / name / "sealed").chmod(0o555)
    with (making / "alive.lock").open() as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        store.install(["one"])
        assert sorted(path.name for path in making.iterdir()) == ["alive", "alive.lock"]


def test_other_interpreter(store: LayerStore, make_wheel: MakeWheel, tmp_path: Path) -> None:
    """Something that is no interpreter is refused by name before anything is made."""
    make_wheel("one")
    with pytest.raises(ValidationError, match="no-python"):
        store.install(["one"], python=str(tmp_path / "no-python"))
    assert not store.root.exists()


def test_sources_only(store: LayerStore, wheels: Path) -> None:
    """A requirement that exists only as sources is refused by name, and its code is not run."""
    (wheels / "onlysrc-1.0.tar.gz").write_bytes(b"never opened")
    with pytest.raises(ValidationError, match=r"onlysrc has no wheel .* only sources"):
        store.install(["onlysrc"])


def test_unknown_package(store: LayerStore) -> None:
    """A requirement that nobody has is refused by name, and nothing is left."""
    with pytest.raises(ValidationError, match="no wheel of nosuchthing"):
        store.install(["nosuchthing>=3"])
    assert [path.name for path in store.root.iterdir()] == [".making"]
    assert list((store.root / ".making").iterdir()) == []


def test_contradicting_requirements(store: LayerStore, make_wheel: MakeWheel) -> None:
    """Requirements that cannot be met together are refused."""
    make_wheel("one", "1.0")
    make_wheel("one", "2.0")
    make_wheel("two", requires="one<2")
    with pytest.raises(ValidationError, match="contradict"):
        store.install(["one>=2", "two"])


def test_unreachable_index(tmp_path: Path) -> None:
    """An index that does not answer is the platform's failure."""
    options = ("--index-url", "http://127.0.0.1:9/simple", "--retries", "1", "--timeout", "1")
    store = LayerStore(tmp_path / "layers", pip_options=options)
    with pytest.raises(PlatformError, match="could not be reached"):
        store.install(["onlythere"])


@pytest.mark.parametrize(
    "requirement",
    ["numpy", "numpy>=2,<3", "a.b-c_d[x,y]==1.*", "n ~= 1.0 ; python_version > '3'", "t===1!2+local", "t != 3"],
)
def test_good_requirements(requirement: str) -> None:
    """Names, extras, versions and markers are taken."""
    check_requirements([requirement])


@pytest.mark.parametrize(
    ("requirement", "said"),
    [
        ("", "not a requirement"),
        ("--index-url=http://x", "options of pip"),
        ("-r", "options of pip"),
        ("./local", "paths and addresses"),
        ("/tmp/x.whl", "paths and addresses"),
        ("x.whl", "paths and addresses"),
        ("x-1.0-py3-none-any.whl;", "not a requirement"),
        ("x-1.0-py3-none-any.whl[a]", "not a requirement"),
        ("x-1.0.tar.gz ; python_version > '3'", "not a requirement"),
        ("x.TGZ", "not a requirement"),
        ("x.tar.bz2[a]==1", "not a requirement"),
        ("name @ http://x/y.whl", "paths and addresses"),
        ("git+https://x/y", "paths and addresses"),
        ("a b", "not a requirement"),
        ("a\n-r x", "not a requirement"),
        ("a==1\n--pre", "not a requirement"),
        ("a>", "not a requirement"),
    ],
)
def test_bad_requirements(requirement: str, said: str) -> None:
    """Everything else is refused before anything is done, with what to do instead."""
    with pytest.raises(ValidationError, match=said):
        check_requirements(["fine", requirement])


def test_a_string_is_not_a_list() -> None:
    """One string instead of a list is refused, and so is an empty list."""
    with pytest.raises(ValidationError, match="list"):
        check_requirements("numpy")
    with pytest.raises(ValidationError, match="empty"):
        check_requirements([])


def test_packages_beyond_a_limit_are_not_unpacked(store: LayerStore, make_wheel: MakeWheel) -> None:
    """Nothing of them stays; what is on the disk already is given, whatever the limit is."""
    make_wheel("numberslib", code="x = 1\n" * 10_000)
    with pytest.raises(LimitExceededError, match=r"package_bytes") as refused:
        store.install(["numberslib"], most_bytes=10_000)
    assert refused.value.reason == "BLUEPRINTS"
    assert [path for path in everything(store.root) if path.is_file()] == []
    made = store.install(["numberslib"], most_bytes=100_000)
    assert made.bytes >= 60_000
    again = store.install(["numberslib"], most_bytes=0)
    assert (again.digest, again.bytes) == (made.digest, 0)


@pytest.mark.parametrize("digest", ["0" * 64, "..", "", "../" + "0" * 61])
def test_unknown_layer(store: LayerStore, digest: str) -> None:
    """A layer that is not there, or could never be, is NotFoundError."""
    with pytest.raises(NotFoundError):
        store.path(digest)
