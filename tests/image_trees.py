"""Root file systems for tests, made of this machine's own programs, and a source of images that has them."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from harena.core.errors import NotFoundError
from harena.core.records.images import ImageRoot

PROGRAMS = (
    *(
        "sh",
        "cat",
        "ls",
        "id",
        "mkdir",
        "mknod",
        "ln",
        "rm",
        "mv",
        "chmod",
        "chown",
        "env",
        "sleep",
        "true",
        "pwd",
        "stat",
    ),
    *("grep", "head", "tail", "seq", "kill", "su", "mount", "umount", "newgrp", "chsh", "unshare", "nice"),
    *("timeout", "setsid", "cp", "renice"),
)


def put_programs(root: Path, names: Sequence[str] = PROGRAMS) -> None:
    """Give a root these programs of the host, with the libraries that they need."""
    (root / "usr/bin").mkdir(parents=True, exist_ok=True)
    (root / "etc").mkdir(exist_ok=True)
    (root / "etc/passwd").write_text("root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false\n")
    if not (root / "bin").exists():
        (root / "bin").symlink_to("usr/bin")
    for name in names:
        found = shutil.which(name, path="/usr/bin:/bin")
        if found is None:
            assert name not in ("sh", "cat", "env"), f"this machine lacks {name}"
            continue
        shutil.copy(os.path.realpath(found), root / "usr/bin" / name)
        put_libraries(root, Path(found))


def put_dpkg_state(root: Path) -> None:
    """Give a root with `put_programs` what dpkg looks for, of which nothing is installed."""
    for folder in ("var/lib/dpkg/info", "var/lib/dpkg/updates", "var/lib/dpkg/alternatives", "etc/dpkg", "sbin"):
        (root / folder).mkdir(parents=True, exist_ok=True)
    for name in ("status", "available"):
        (root / "var/lib/dpkg" / name).touch()
    for name in ("ldconfig", "start-stop-daemon"):
        (root / "usr/bin" / name).write_text("#!/bin/sh\nexit 0\n")
        (root / "usr/bin" / name).chmod(0o755)


def put_packages(root: Path, names: Sequence[str]) -> None:
    """Give a root what these Debian packages of the host have installed, but for documentation. Files are links to the
    host's: nobody may change one in place."""
    for name in ("bin", "sbin", "lib", "lib64"):
        (root / "usr" / name).mkdir(parents=True, exist_ok=True)
        if not (root / name).is_symlink():
            (root / name).symlink_to(f"usr/{name}")
    listed = subprocess.run(["dpkg", "-L", *names], capture_output=True, text=True, check=True).stdout
    left_out = ("/usr/share/doc", "/usr/share/man", "/usr/share/locale", "/usr/share/info", "/usr/share/lintian")
    for line in listed.splitlines():
        if not line.startswith("/") or line.startswith(left_out) or not os.path.lexists(line):
            continue
        place = root / os.path.realpath(os.path.dirname(line)).lstrip("/") / os.path.basename(line)
        if os.path.islink(line) and not os.path.lexists(place):
            place.parent.mkdir(parents=True, exist_ok=True)
            place.symlink_to(os.readlink(line))
        elif os.path.isfile(line) and not os.path.lexists(place):
            place.parent.mkdir(parents=True, exist_ok=True)
            _linked(line, str(place))
        elif os.path.isdir(line) and not os.path.islink(line):
            place.mkdir(parents=True, exist_ok=True)


def put_modules(root: Path, names: Sequence[str]) -> None:
    """Give a root with `put_python` these modules of this environment."""
    target = next((root / "usr/lib").glob("python3.*")) / "site-packages"
    for name in names:
        found = importlib.util.find_spec(name)
        assert found is not None, f"this environment lacks {name}"
        assert found.origin is not None, name
        origin = Path(found.origin)
        target.mkdir(exist_ok=True)
        if origin.name == "__init__.py":
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(origin.parent, target / name, copy_function=_linked, ignore=ignored)
        else:
            _linked(str(origin), str(target / origin.name))


def put_libraries(root: Path, program: Path) -> None:
    """Give a root the shared libraries of a program: where it looks for them, or where everything is looked for."""
    listed = subprocess.run(["ldd", str(program)], capture_output=True, text=True, check=False).stdout
    for word in listed.split():
        if word.startswith("/"):
            place = root / (
                "usr/lib/" + Path(word).name if word.startswith(("/root/", "/home/", "/opt/")) else word[1:]
            )
            if not place.exists():
                place.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(os.path.realpath(word), place)


def put_python(root: Path) -> None:
    """Give a root this interpreter at /usr/bin/python3, with its standard library."""
    executable = Path(os.path.realpath(getattr(sys, "_base_executable", None) or sys.executable))
    library = Path(os.__file__).parent
    version = library.name
    target = root / "usr/lib" / version
    shutil.copytree(
        library,
        target,
        symlinks=True,
        ignore=shutil.ignore_patterns(
            "site-packages", "dist-packages", "test", "tests", "idlelib", "ensurepip", "__pycache__", "config-*"
        ),
        copy_function=_linked,
    )
    (root / "usr/bin").mkdir(parents=True, exist_ok=True)
    for name in ("python3", "python"):
        shutil.copy(executable, root / "usr/bin" / name)
    for binary in (executable, *target.glob("lib-dynload/*.so")):
        put_libraries(root, binary)


def _linked(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


def archive_of(root: Path, archive: Path) -> None:
    """Write a root file system to an archive. Its files may be links to the host's, as another test makes them at the
    same time: tar then says that a file has changed, though only its count of links has, and ends with 1."""
    packed = subprocess.run(["tar", "-C", root, "-cf", archive, "."], capture_output=True, text=True)
    said = [line for line in packed.stderr.splitlines() if "file changed as we read it" not in line]
    assert packed.returncode in (0, 1), packed.stderr
    assert not said


class FolderImages:
    """Implements `ImageSource` over directories that lie here already."""

    def __init__(self, roots: Mapping[str, ImageRoot]) -> None:
        self.roots = dict(roots)
        self.held: dict[str, int] = {}

    async def root_of(self, workspace: str, reference: str) -> ImageRoot:
        """See `ImageSource`."""
        if reference not in self.roots:
            raise NotFoundError(f"there is no image {reference!r}", reason="IMAGE_NOT_FOUND")
        return self.roots[reference]

    @contextlib.contextmanager
    def hold(self, workspace: str, digest: str) -> Iterator[None]:
        """See `ImageSource`."""
        self.held[digest] = self.held.get(digest, 0) + 1
        try:
            yield
        finally:
            self.held[digest] -= 1


def image_root(*layers: Path, digest: str = "sha256:" + "0" * 64, **said: object) -> ImageRoot:
    """An image of these layers, the uppermost first."""
    settings: dict[str, object] = {
        "environment": {},
        "workdir": "",
        "user": "",
        "entrypoint": (),
        "command": (),
        "keeps_owners": os.geteuid() == 0,
        **said,
    }
    return ImageRoot(digest=digest, layers=layers, **settings)  # type: ignore[arg-type]
