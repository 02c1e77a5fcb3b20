"""Images: what a sandbox's root is made of.

There is one kind today, the *default* image, which needs nothing installed: the host's /usr (read-only), the
interpreter that runs harena with its standard library, and files in /etc that name no one. Host packages
(site-packages, dist-packages) are hidden, so that a sandbox sees the same modules on every host.
"""

from __future__ import annotations

import os
import posixpath
import sys
import sysconfig
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from harena.core.checked import check_user
from harena.core.default_image import is_default, resolve
from harena.core.errors import HostUnsupportedError
from harena.runtime.host import own_domains

if TYPE_CHECKING:
    from harena.core.records.images import ImageRoot

__all__ = ["GUARD", "NETWORK_FILES", "Image", "Tree", "default_image", "is_default", "layered_image", "resolve"]

GUARD = "/opt/guard"
"""Copies of interpreters that can be executed and not read. The kernel makes a process that was started from such a
file undumpable: no other process of the sandbox, though it has the same user, can trace it or open its memory."""
OWN_DOMAINS = f"{GUARD}/domains"
"""A folder with what the loader is to load into each program of sandboxes whose programs have domains of their own,
which see it as `_PRELOADED`; others find nothing there. See `own_domains`."""
_PRELOADED = f"{GUARD}/preloaded"
_PRELOAD = "/etc/ld.so.preload"
_UNREADABLE = 0o111
_STARTERS = ("env", "nice", "nohup", "setsid", "stdbuf", "timeout", "xargs")
"""programs whose command line holds that of another one, which they start"""
_STARTER_BYTES = 1 << 20
"""largest size of one that is copied: some systems have one large program for all of them"""

_MERGED = ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
_TASK_PLACES = ("app", "logs", "solution", "tests")
"""where task directories expect to write: links into /data, to nothing until a scorer makes it"""
_DEVICES = ("null", "zero", "full", "random", "urandom", "tty")
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
"""where an image that sets no PATH has its programs"""

Tree = tuple[str, str, bool, bool]  # source, target, read only, is a file


@dataclass(frozen=True, slots=True)
class Image:
    """A root to be built: see `launch.TemplateRoot` for the fields' meaning."""

    name: str
    python: str
    environment: dict[str, str]
    trees: tuple[Tree, ...]
    links: tuple[tuple[str, str], ...] = ()
    files: tuple[tuple[str, bytes, int], ...] = ()
    directories: tuple[str, ...] = ()
    copies: tuple[tuple[str, str, int], ...] = ()
    packages_directory: str = ""
    """where a layer of Python packages is mounted"""
    hidden: tuple[str, ...] = ()
    """directories that are shown empty"""
    workdir: str = "/workspace"
    layers: tuple[str, ...] = ()
    """an OCI image's unpacked layers, the uppermost first, of which each sandbox has a root of its own; what else
    stands here is the root of the template only, whose interpreter is harena's"""
    user: str = ""
    """whom programs run as, in the words of the image; "" = root"""
    keeps_home: bool = True
    """HOME is said by the image; else another user than root has its own"""
    maps_owners: bool = False
    """root's files in the layers are shown as those of who is root inside"""
    interpreter_environment: Mapping[str, str] | None = None
    """what the template's interpreter starts with; None = `environment`"""
    details: dict[str, str] = field(default_factory=dict)


def default_image(empty: Path) -> Image:
    """The image that needs nothing installed. `empty` is an empty directory of the host, mounted over what is hidden.

    Raises HostUnsupportedError if this interpreter cannot be shown inside a sandbox.
    """
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    executable = os.path.realpath(getattr(sys, "_base_executable", None) or sys.executable)
    prefix = os.path.realpath(sys.base_prefix)
    if not executable.startswith(prefix + "/"):
        raise HostUnsupportedError(
            f"the interpreter {executable} does not lie below its prefix {prefix}; run harena with an ordinary CPython "
            "(the distribution's, python.org's, pyenv's, uv's or conda's)",
            step="default image",
        )
    trees: list[Tree] = [("/usr", "/usr", True, False)]
    links: list[tuple[str, str]] = []
    environment = {
        "PATH": "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin",
        "HOME": "/root",
        "LANG": "C.UTF-8",
        "PYTHONHASHSEED": "0",
        # the search for leaks at a program's end traces it, which is refused: it would fail each program
        "ASAN_OPTIONS": "detect_leaks=0",
        "LSAN_OPTIONS": "detect_leaks=0",
    }
    if prefix == "/usr" or prefix.startswith("/usr/"):
        python, packages, hidden = _in_usr(executable, prefix, version)
        links += [("/opt/bin/python", python), ("/opt/bin/python3", python)]
        environment["PATH"] = "/opt/bin:" + environment["PATH"]
    else:
        # not the whole prefix: its bin holds scripts for packages that are hidden here
        python = f"/opt/python/bin/python{version}"
        trees += [(f"{prefix}/lib", "/opt/python/lib", True, False), (executable, python, True, True)]
        links += [(f"/opt/python/bin/{name}", f"python{version}") for name in ("python", "python3")]
        packages, hidden = f"/opt/python/lib/python{version}/site-packages", ()
        environment["PATH"] = "/opt/python/bin:" + environment["PATH"]
        if sysconfig.get_config_var("Py_ENABLE_SHARED"):
            environment["LD_LIBRARY_PATH"] = "/opt/python/lib"
    for name in _MERGED:
        if os.path.islink(name):
            links.append((name, os.readlink(name).removeprefix("/")))
        elif os.path.isdir(name):
            trees.append((name, name, True, False))
    # read-only as all of the host is: what is written to a device does not go through its mount, but its times do, and
    # whoever may write to it may set them
    trees += [(f"/dev/{name}", f"/dev/{name}", True, True) for name in _DEVICES]
    settings = [(str(path), False) for path in sorted(Path("/etc").glob("java-*-openjdk"))]  # Debian's /usr links there
    for name, is_file in (
        ("/etc/alternatives", False), ("/etc/ld.so.cache", True), *settings
    ):  # fmt: skip
        if os.path.exists(name):
            trees.append((name, name, True, is_file))
    links += [
        ("/dev/fd", "/proc/self/fd"),
        ("/dev/stdin", "/proc/self/fd/0"),
        ("/dev/stdout", "/proc/self/fd/1"),
        ("/dev/stderr", "/proc/self/fd/2"),
        ("/dev/ptmx", "pts/ptmx"),
        ("/etc/mtab", "/proc/self/mounts"),
        ("/etc/os-release", "../usr/lib/os-release"),
        ("/var/tmp", "/tmp"),
        *((f"/{name}", f"/data/{name}") for name in _TASK_PLACES),
    ]
    if not prefix.startswith("/usr"):
        links.append((f"{GUARD}/lib", "/opt/python/lib"))
    shells = [name for name in ("bash", "dash") if os.path.isfile(f"/usr/bin/{name}")]
    links += [(f"{GUARD}/bin/{name}", f"python{version}") for name in ("python", "python3")]
    links += [(f"{GUARD}/bin/sh", shells[-1])] if shells else []
    files: tuple[tuple[str, bytes, int], ...] = _ETC
    directories: tuple[str, ...] = ("/home", "/mnt", "/opt", "/srv", "/var/lib", "/var/log")
    if code := own_domains.shared_object(os.uname().machine):
        links.append((_PRELOAD, f"{_PRELOADED}/{posixpath.basename(_PRELOAD)}"))
        path = f"{OWN_DOMAINS}/{own_domains.NAME}"
        files += ((path, code, 0o644), (f"{OWN_DOMAINS}/{posixpath.basename(_PRELOAD)}", f"{path}\n".encode(), 0o644))
        directories += (OWN_DOMAINS, _PRELOADED)
    starters = [name for name in _STARTERS if _is_small_program(f"/usr/bin/{name}")]
    return Image(
        name="default",
        python=python,
        environment=environment,
        trees=tuple(trees),
        links=tuple(links),
        files=files,
        directories=directories,
        copies=(
            (python, f"{GUARD}/bin/python{version}", _UNREADABLE),
            *((f"/usr/bin/{name}", f"{GUARD}/bin/{name}", _UNREADABLE) for name in (*shells, *starters)),
        ),
        packages_directory=packages,
        hidden=hidden,
        details={"empty": str(empty)},
    )


def layered_image(root: ImageRoot, base: Image) -> Image:
    """The image whose sandboxes have unpacked layers for their root. `base` is the default image: its interpreter makes
    them, and is out of their sight then."""
    check_user(root.user or None, "USER of the image")
    environment = {"PATH": _PATH, "HOME": "/root", "PYTHONHASHSEED": "0", **root.environment}
    return replace(
        base,
        name=root.digest,
        environment=environment,
        interpreter_environment=base.environment,
        workdir=posixpath.normpath("/" + root.workdir.lstrip("/")),
        layers=tuple(map(str, root.layers)),
        user="" if is_root(root.user) else root.user,
        keeps_home="HOME" in root.environment,
        maps_owners=root.keeps_owners,
    )


def is_root(user: str) -> bool:
    """A user is root, with root's own group."""
    return user in ("", "0", "root", "0:0", "root:root", "root:0", "0:root")


def network_files(*, has_network: bool) -> tuple[tuple[str, bytes, int], ...]:
    """The files that are about a sandbox's own network; with one, DNS is asked where its listener is."""
    if not has_network:
        return NETWORK_FILES
    return tuple((path, _RESOLVER if path == "/etc/resolv.conf" else text, mode) for path, text, mode in NETWORK_FILES)


def with_network(image: Image) -> Image:
    """The default image for sandboxes with a network: DNS is asked inside, and the authorities that this host trusts
    are trusted."""
    own = network_files(has_network=True)
    others = tuple(file for file in image.files if file[0] not in {path for path, _, _ in own})
    trusted = tuple((path, path, True, False) for path in _CERTIFICATES if os.path.isdir(path))
    return replace(image, files=(*others, *own), trees=(*image.trees, *trusted))


def _is_small_program(path: str) -> bool:
    return os.path.isfile(path) and os.path.getsize(path) <= _STARTER_BYTES


def _in_usr(executable: str, prefix: str, version: str) -> tuple[str, str, tuple[str, ...]]:
    """(python, where packages go, what to hide) for an interpreter below /usr."""
    candidates = (
        f"/usr/local/lib/python{version}/dist-packages",
        f"{prefix}/lib/python{version}/site-packages",
        f"/usr/local/lib/python{version}/site-packages",
        f"/usr/lib64/python{version}/site-packages",
        f"/usr/lib/python{version}/site-packages",
        "/usr/lib/python3/dist-packages",
    )
    present = [path for path in dict.fromkeys(candidates) if os.path.isdir(path)]
    if not present:
        raise HostUnsupportedError(
            f"none of {', '.join(candidates)} exists, so there is no place for packages; create one of them (mkdir -p)",
            step="default image",
        )
    return executable, present[0], tuple(present[1:])


_PASSWD = b"root:x:0:0:root:/root:/bin/bash\nnobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n"
_NSSWITCH = b"passwd: files\ngroup: files\nhosts: files dns\nservices: files\nprotocols: files\n"
NETWORK_FILES = (
    ("/etc/hosts", b"127.0.0.1\tlocalhost sandbox\n::1\tlocalhost ip6-localhost ip6-loopback\n", 0o644),
    ("/etc/hostname", b"sandbox\n", 0o644),
    ("/etc/resolv.conf", b"", 0o644),
)
"""which a sandbox has whatever its image says, because they are about its own network"""
_RESOLVER = b"nameserver 127.0.0.1\noptions timeout:10 attempts:2\n"
_CERTIFICATES = ("/etc/ssl/certs", "/etc/pki/tls/certs")
_ETC = (
    ("/etc/passwd", _PASSWD, 0o644),
    ("/etc/group", b"root:x:0:\nnogroup:x:65534:\n", 0o644),
    *NETWORK_FILES,
    ("/etc/nsswitch.conf", _NSSWITCH, 0o644),
    ("/etc/ssl/openssl.cnf", b"[req]\ndistinguished_name = names\n[names]\ncommonName = Common Name\n", 0o644),
    ("/etc/shells", b"/bin/sh\n/bin/bash\n", 0o644),
)
