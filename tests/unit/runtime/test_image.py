"""Images: which names stand for the default one, and what that one shows of the host."""

from __future__ import annotations

import os
import sys
import sysconfig
from pathlib import Path

import pytest

from harena.core.errors import HostUnsupportedError, NotFoundError
from harena.runtime.host import image as images

HERE = f"{sys.version_info.major}.{sys.version_info.minor}"
EXACT = f"{HERE}.{sys.version_info.micro}"


@pytest.fixture(autouse=True)
def _no_aliases(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HARENA_IMAGE_ALIASES", raising=False)


@pytest.mark.parametrize(
    "name",
    [
        *("default", "python", "python:3", "python:latest", f"python:{HERE}", f"python:{EXACT}"),
        *(f"python:{HERE}-slim", f"python:{HERE}-slim-bookworm", f"python:{HERE}-bookworm"),
    ],
)
def test_names_of_the_default_image(name: str) -> None:
    """The versions that this interpreter is."""
    assert images.resolve(name) == "default"


@pytest.mark.parametrize(
    "name",
    [
        *("python:2", "python:3.999", f"python:{HERE}9", f"python:{EXACT}9", "python:", "python:3.", "ubuntu", ""),
        *("PYTHON:3", f"python:{HERE}-alpine", f"evil/python:{HERE}", f"python:{HERE}\n", "default "),
    ],
)
def test_other_images_are_refused_with_a_way_out(name: str) -> None:
    """The error says what there is, and how to give it the other name."""
    with pytest.raises(NotFoundError) as caught:
        images.resolve(name)
    text = str(caught.value)
    assert f"python:{HERE}" in text
    assert "HARENA_IMAGE_ALIASES=" in text
    assert caught.value.reason == "IMAGE_NOT_FOUND"


def test_aliases(monkeypatch: pytest.MonkeyPatch) -> None:
    """The setting that the error names works, for several names, with blanks; an alias of nothing does not."""
    monkeypatch.setenv("HARENA_IMAGE_ALIASES", "company/env:1 = default, other=python:3,,broken=nothing")
    assert images.resolve("company/env:1") == "default"
    assert images.resolve("other") == "default"
    with pytest.raises(NotFoundError, match="nothing"):
        images.resolve("broken")


def test_what_the_default_image_shows(tmp_path: Path) -> None:
    """/usr and the interpreter, read-only; a few harmless devices; nothing else of the host."""
    image = images.default_image(tmp_path)
    prefix = os.path.realpath(sys.base_prefix)
    directories = {source for source, _, _, is_file in image.trees if not is_file}
    files = {source for source, _, _, is_file in image.trees if is_file}
    allowed = {"/usr", prefix, "/etc/alternatives", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"}
    allowed |= {str(path) for path in Path("/etc").glob("java-*-openjdk")}  # as packages of a distribution bring them
    assert {path for path in directories if not path.startswith(prefix + "/")} <= allowed
    devices = {f"/dev/{name}" for name in ("null", "zero", "full", "random", "urandom", "tty")}
    assert {path for path in files if not path.startswith(prefix + "/")} <= {"/etc/ld.so.cache", *devices}
    writable = [source for source, _, read_only, _ in image.trees if not read_only]
    assert all(source.startswith("/dev/") for source in writable)


def test_its_files_name_nobody(tmp_path: Path) -> None:
    """The files in /etc are made up: no user, host or resolver of this machine is in them."""
    image = images.default_image(tmp_path)
    contents = {path: content.decode(errors="replace") for path, content, _ in image.files}
    assert {"/etc/passwd", "/etc/group", "/etc/hosts", "/etc/hostname", "/etc/resolv.conf"} <= set(contents)
    assert [line.split(":")[0] for line in contents["/etc/passwd"].splitlines()] == ["root", "nobody"]
    assert contents["/etc/resolv.conf"] == ""
    assert os.uname().nodename not in "".join(contents.values()).split() or os.uname().nodename == "sandbox"


def test_its_environment_is_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of this process's environment gets in; the hash seed is pinned."""
    monkeypatch.setenv("SECRET_TOKEN", "x")
    environment = images.default_image(tmp_path).environment
    assert set(environment) <= {
        "PATH",
        "HOME",
        "LANG",
        "PYTHONHASHSEED",
        "LD_LIBRARY_PATH",
        "ASAN_OPTIONS",
        "LSAN_OPTIONS",
    }
    assert environment["PYTHONHASHSEED"] == "0"
    assert environment["HOME"] == "/root"


def test_python_is_on_its_path(tmp_path: Path) -> None:
    """The interpreter lies in a tree or behind a link that is first on PATH."""
    image = images.default_image(tmp_path)
    first = image.environment["PATH"].split(":")[0]
    if first == "/opt/bin":
        assert dict(image.links)["/opt/bin/python3"] == image.python
    else:
        assert image.python == f"{first}/python{HERE}"
        shown = [(source, target) for source, target, _, _ in image.trees if target.startswith("/opt/python")]
        assert shown
        assert {source.removeprefix(os.path.realpath(sys.base_prefix)) for source, _ in shown} == {
            target.removeprefix("/opt/python") for _, target in shown
        }


def test_host_packages_are_hidden(tmp_path: Path) -> None:
    """Where the host's packages lie, the image shows a layer or nothing."""
    image = images.default_image(tmp_path)
    assert image.packages_directory.endswith(("site-packages", "dist-packages"))
    if image.python.startswith("/opt/python"):
        inside = sysconfig.get_path("purelib", vars={"base": "/opt/python"})
        assert image.packages_directory == inside
    else:
        assert all(path.endswith(("site-packages", "dist-packages")) for path in image.hidden)


def test_an_interpreter_outside_its_prefix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It could not be shown inside: refused, with what to use instead."""
    monkeypatch.setattr(sys, "base_prefix", str(tmp_path))
    with pytest.raises(HostUnsupportedError, match="ordinary CPython"):
        images.default_image(tmp_path)


def test_tools_find_their_settings(tmp_path: Path) -> None:
    """Those of /etc without which Java and openssl do not start; and programs with a sanitizer do not end in a search
    that is refused."""
    made = images.default_image(tmp_path)
    wanted = list(Path("/etc").glob("java-*-openjdk"))
    assert {str(path) for path in wanted} <= {inside for _, inside, *_ in made.trees}
    assert "/etc/ssl/openssl.cnf" in {path for path, _, _ in made.files}
    assert made.environment["ASAN_OPTIONS"] == made.environment["LSAN_OPTIONS"] == "detect_leaks=0"
