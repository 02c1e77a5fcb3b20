"""Layers of Python packages: installed once, named by what is in them, shared read-only by every sandbox.

A layer is made in three steps: pip downloads wheels (wheels only: nothing of a package runs on the host), their
sha256 sums, names, versions and the interpreter's ABI give the digest, and pip unpacks and byte-compiles them.

    layers/<digest>/site-packages/   what goes onto sys.path; scripts are in its bin/, with `#!/usr/bin/env python3`
    layers/<digest>/layer.json       the packages, for people and for `installed`
    layers/.making/<random>/         a layer in the making, locked by its maker; what a dead maker left is swept

A layer appears by one rename, so that it is whole or not there at all; of two makers of the same layer the second
takes what the first has made. Files are read-only and readable by everybody.

Not covered: a user who changes files of their own layers on purpose, and a power cut in the second after the rename.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import json
import os
import re
import secrets
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from zipfile import ZipFile

from harena.core.errors import LimitExceededError, NotFoundError, PlatformError, ValidationError
from harena.core.home import harena_home, private_folder
from harena.core.records.blueprints import Package
from harena.runtime.host.pip import Pip, PipLimits, is_ours

_DIGEST = re.compile(r"[0-9a-f]{64}")
_REQUIREMENT = re.compile(
    r"(?P<name>[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)"
    r"\s*+(?:\[[A-Za-z0-9._,\s-]*\]\s*+)?"
    r"(?P<versions>(?:(?:===|~=|==|!=|<=|>=|<|>)\s*+[A-Za-z0-9.*+!_-]+\s*+(?:,\s*+)?)*)"
    r"(?:;[^\n]*)?"
)
_FOLDER_MODE = 0o755
_SEALED_FOLDER_MODE = 0o555
_SEALED_PROGRAM_MODE = 0o555
_SEALED_FILE_MODE = 0o444
_ARCHIVES = (
    ".whl", ".zip", ".tar", ".tgz", ".tbz", ".txz", ".tlz", ".tar.gz", ".tar.bz2", ".tar.xz", ".tar.lz", ".tar.lzma",
)  # fmt: skip
"""endings by which pip takes a name for a file in its working directory, also where extras or markers follow"""
_NO_MATCH = re.compile(r"No matching distribution found for ([^\s;(]+)")
_UNREACHABLE = ("Retrying (Retry(", "ConnectionError", "ReadTimeoutError", "ProxyError", "SSLError")
_ABI = "import sysconfig; print(sysconfig.get_config_var('SOABI'))"
_MOST_LINES_OF_PIP = 12


@dataclass(frozen=True, slots=True)
class InstalledLayer:
    """A layer that is on this machine."""

    digest: str
    packages: tuple[Package, ...]
    bytes: int = field(default=0, compare=False)
    """what was added to the disk; 0 = it was there"""


class LayerStore:
    """The layers below `root` (default: `layers` in harena's home). Blocking; safe between threads and processes.

    `pip_options` go to `pip download` (and `pip index`), for instance ("--find-links", "wheels"); apart from them the
    user's own pip configuration counts.
    """

    def __init__(
        self, root: Path | None = None, *, pip_options: Sequence[str] = (), limits: PipLimits | None = None
    ) -> None:
        """`limits` of each installation: None = the operator's."""
        self.root = root or harena_home() / "layers"
        self._making = self.root / ".making"
        self._pip_options = tuple(pip_options)
        self._limits = limits

    def install(
        self, requirements: Sequence[str], *, python: str = sys.executable, most_bytes: int | None = None
    ) -> InstalledLayer:
        """The layer that holds `requirements` and all that they need, for the interpreter at path `python`.

        Raises ValidationError for requirements that are malformed, unknown, in conflict or only there as sources,
        LimitExceededError where the wheels are not here yet and hold more than `most_bytes` (None = any number), or
        are more than may be downloaded, or took too long, and PlatformError when the index cannot be reached or pip
        fails in another way. What is downloaded stays in pip's own cache where there is no `most_bytes` only: nobody
        counts what is there.
        """
        check_requirements(requirements)
        abi = _abi_of(python)
        self.remove_left()
        with self._workplace() as workplace:
            pip = Pip(python, workplace, self._limits or PipLimits.of(), is_cached=most_bytes is None)
            wheels = self._download(requirements, pip)
            packages = tuple(sorted((_package(wheel) for wheel in wheels), key=lambda p: (p.name, p.version)))
            digest, added = _digest(packages, abi), 0
            if not (self.root / digest).is_dir():
                _check_size(wheels, most_bytes)
                layer = workplace / "layer"
                _unpack(wheels, pip, layer / "site-packages")
                _make_portable(layer / "site-packages" / "bin")
                described = {"abi": abi, "packages": [asdict(package) for package in packages]}
                (layer / "layer.json").write_text(json.dumps(described, indent=1))
                _make_read_only(layer)
                added = sum(path.lstat().st_size for path in layer.rglob("*"))
                _publish(layer, self.root / digest)
        return InstalledLayer(digest, packages, added)

    def path(self, digest: str) -> Path:
        """The directory for `sys.path`. Raises NotFoundError."""
        return self._layer(digest) / "site-packages"

    def installed(self, digest: str) -> InstalledLayer:
        """What a layer holds. Raises NotFoundError."""
        described = json.loads((self._layer(digest) / "layer.json").read_text())
        return InstalledLayer(digest, tuple(Package(**package) for package in described["packages"]))

    def _layer(self, digest: str) -> Path:
        layer = self.root / digest
        if not _DIGEST.fullmatch(digest) or not layer.is_dir():
            message = f"layer {digest!r} is not in {self.root}: create the blueprint that needs it again"
            raise NotFoundError(message)
        return layer

    @contextmanager
    def _workplace(self) -> Iterator[Path]:
        """An empty directory that lives as long as the block, or until the next `remove_left` if this process dies."""
        workplace = self._making / secrets.token_hex(8)
        private_folder(self.root)
        private_folder(self._making)
        lock = os.open(f"{workplace}.lock", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            workplace.mkdir()
            yield workplace
        finally:
            _remove_tree(workplace)
            os.unlink(f"{workplace}.lock")
            os.close(lock)

    def remove_left(self) -> None:
        """Remove what makers that died have left: their locks are free. Raises OSError."""
        for lock_path in self._making.glob("*.lock"):
            try:
                lock = os.open(lock_path, os.O_RDWR | os.O_CLOEXEC)
            except FileNotFoundError:  # its owner has just finished
                continue
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if lock_path.with_suffix("").is_dir():  # a lock without a directory may be about to get one
                    _remove_tree(lock_path.with_suffix(""))
                    lock_path.unlink(missing_ok=True)
            except BlockingIOError:
                continue
            finally:
                os.close(lock)

    def _download(self, requirements: Sequence[str], pip: Pip) -> list[Path]:
        wheels = pip.folder / "wheels"
        options = ["--only-binary", ":all:", "--dest", str(wheels), "--quiet", *self._pip_options]
        finished = pip.run(["download", *options, "--", *requirements])
        if finished.returncode:
            raise self._why_not(requirements, pip, finished.said)
        return sorted(wheels.glob("*.whl"))

    def _why_not(self, requirements: Sequence[str], pip: Pip, said: str) -> Exception:
        asked = ", ".join(requirements)
        if any(sign in said for sign in _UNREACHABLE):
            message = f"the package index could not be reached to resolve {asked}; pip said:\n{_last_lines(said)}"
            return PlatformError(message, step="pip download")
        unmatched = _NO_MATCH.search(said)
        if unmatched is None:
            if "ResolutionImpossible" in said or "conflicting dependencies" in said:
                return ValidationError(f"the requirements {asked} contradict each other:\n{_last_lines(said)}")
            return PlatformError(f"pip could not download {asked}; it said:\n{_last_lines(said)}", step="pip download")
        name = unmatched[1]
        if self._has_sources(name, pip):
            return ValidationError(
                f"{name} has no wheel for {pip.python}, only sources, and harena installs wheels only: build one with "
                f"`pip wheel {name} -w DIRECTORY` and set PIP_FIND_LINKS=DIRECTORY, or ask for another version"
            )
        return ValidationError(
            f"no wheel of {name} for {pip.python} was found: check the name, the version and the index that pip is "
            f"configured to use (`pip config list`); pip said:\n{_last_lines(said)}"
        )

    def _has_sources(self, requirement: str, pip: Pip) -> bool:
        """Whether the index has source distributions of it. Nothing is downloaded or run."""
        named = _REQUIREMENT.match(requirement)
        name = named["name"] if named else requirement
        asked = ["index", "versions", "--no-binary", ":all:", *self._pip_options, "--", name]
        return pip.run(asked).returncode == 0


def check_requirements(requirements: Sequence[str]) -> None:
    """Raise ValidationError for what is not a plain requirement: options, paths, addresses, empty ones."""
    if isinstance(requirements, str):
        raise ValidationError(f"packages must be a list of requirements, not the string {requirements!r}")
    if not requirements:
        raise ValidationError("packages is empty: name at least one, such as 'numpy' or 'numpy>=2'")
    for requirement in requirements:
        if not isinstance(requirement, str) or not _is_plain(requirement.strip()):
            raise ValidationError(
                f"package {requirement!r} is not a requirement like 'numpy', 'numpy>=2,<3' or 'name[extra]==1.0'"
                + _hint(requirement)
            )


def _is_plain(requirement: str) -> bool:
    found = _REQUIREMENT.fullmatch(requirement)
    return found is not None and not found["name"].lower().endswith(_ARCHIVES)


def _hint(requirement: object) -> str:
    text = str(requirement).strip()
    if text.startswith("-"):
        return "; options of pip belong into pip's own configuration (`pip config set`)"
    if "/" in text or "@" in text or text.endswith(_ARCHIVES):
        return "; paths and addresses are not taken: put the wheel into a directory and set PIP_FIND_LINKS to it"
    return ""


def _unpack(wheels: Sequence[Path], pip: Pip, target: Path) -> None:
    options = ["--isolated", "--no-index", "--no-deps", "--no-warn-script-location", "--no-warn-conflicts"]
    options += ["--root-user-action", "ignore", "--compile", "--quiet", "--target", str(target)]
    finished = pip.run(["install", *options, "--", *map(str, wheels)])
    if finished.returncode:
        raise PlatformError(f"pip could not unpack the wheels:\n{_last_lines(finished.said)}", step="pip install")


def _abi_of(python: str) -> str:
    """Such as "cpython-311-x86_64-linux-gnu"."""
    if is_ours(python):
        return str(sysconfig.get_config_var("SOABI"))
    try:
        finished = subprocess.run([python, "-I", "-c", _ABI], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise ValidationError(f"{python} is not a Python interpreter that can be run: {error}") from error
    return finished.stdout.strip()


def _package(wheel: Path) -> Package:
    """From a wheel's file name (name-version[-build]-python-abi-platform.whl) and its bytes."""
    name, version = wheel.name.split("-")[:2]
    with wheel.open("rb") as file:
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    return Package(name=re.sub(r"[-_.]+", "-", name).lower(), version=version, sha256=sha256)


def _check_size(wheels: Sequence[Path], most_bytes: int | None) -> None:
    size = sum(entry.file_size for wheel in wheels for entry in ZipFile(wheel).infolist())
    if most_bytes is not None and size > most_bytes:
        raise LimitExceededError(
            f"these packages have {size} bytes, and this workspace may install {most_bytes} more (package_bytes): ask "
            "for fewer of them, or its operator for more",
            reason="BLUEPRINTS",
        )


def _digest(packages: Sequence[Package], abi: str) -> str:
    pinned = [[package.name, package.version, package.sha256] for package in packages]
    return hashlib.sha256(json.dumps([1, abi, pinned]).encode()).hexdigest()


def _make_portable(scripts: Path) -> None:
    """Let scripts start the sandbox's own interpreter: pip writes the path of the one that it runs with."""
    for script in scripts.glob("*"):
        content = script.read_bytes()
        first, _, rest = content.partition(b"\n")
        if first == b"#!/bin/sh" and rest.startswith(b"'''exec'"):  # pip's form for long interpreter paths
            rest = b"\n".join(rest.split(b"\n")[2:])
        elif not (first.startswith(b"#!") and b"python" in first):
            continue
        script.write_bytes(b"#!/usr/bin/env python3\n" + rest)


def _make_read_only(layer: Path) -> None:
    # the layer's own directory stays writable for its owner: a directory that is not cannot be renamed
    for folder, folders, files in os.walk(layer):
        for name in files:
            path = os.path.join(folder, name)
            runs = os.stat(path).st_mode & 0o100
            os.chmod(path, _SEALED_PROGRAM_MODE if runs else _SEALED_FILE_MODE)
        for name in folders:
            os.chmod(os.path.join(folder, name), _SEALED_FOLDER_MODE)
    os.chmod(layer, _FOLDER_MODE)


def _publish(layer: Path, destination: Path) -> None:
    try:
        os.rename(layer, destination)
    except OSError as error:
        if error.errno not in (errno.EEXIST, errno.ENOTEMPTY):  # these: another maker was first with the same layer
            raise


def _remove_tree(path: Path) -> None:
    """Remove a tree that may have read-only directories in it."""
    for folder, folders, _ in os.walk(path):
        for name in folders:
            os.chmod(os.path.join(folder, name), _FOLDER_MODE)
    shutil.rmtree(path, ignore_errors=True)


def _last_lines(text: str) -> str:
    return "\n".join(text.strip().splitlines()[-_MOST_LINES_OF_PIP:])
