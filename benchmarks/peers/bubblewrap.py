"""bubblewrap + prlimit: a fresh set of namespaces and a real interpreter start per program, limits by address space."""

from __future__ import annotations

import shutil

from benchmarks.peers.child import run_child
from benchmarks.peers.port import Setting
from benchmarks.plain_python import ENVIRONMENT, PlainPython
from benchmarks.verdicts import Ending


class Bubblewrap:
    """Runs the interpreter of plain_subprocess, bound read-only at its own path."""

    def __init__(self) -> None:
        self._python = PlainPython()
        prefixes = {str(self._python.base_prefix), str(self._python.prefix)} - {"/usr"}
        binds = [word for prefix in sorted(prefixes) for word in ("--ro-bind", prefix, prefix)]
        settings = [word for name, value in ENVIRONMENT.items() for word in ("--setenv", name, value)]
        self._argv = [
            *("bwrap", "--unshare-all", "--die-with-parent", "--new-session"),
            *("--ro-bind", "/usr", "/usr", "--symlink", "usr/lib", "/lib", "--symlink", "usr/lib64", "/lib64"),
            *("--symlink", "usr/bin", "/bin", "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"),
            *binds,  # after /tmp, which may hold them
            *("--chdir", "/tmp", "--uid", "65534", "--gid", "65534", "--clearenv"),
            *settings,
        ]

    async def start(self) -> None:
        """Nothing is kept between programs."""

    async def run(self, program: str, stdin: bytes | None, timeout_seconds: float, memory_bytes: int) -> Ending:
        """At the deadline SIGKILL goes to bwrap's group, and its --die-with-parent ends the rest."""
        limited = ["prlimit", f"--as={memory_bytes}", self._python.executable, "-c", program]
        return await run_child([*self._argv, *limited], stdin=stdin, timeout_seconds=timeout_seconds, env=ENVIRONMENT)

    async def close(self) -> None:
        """Remove the environment."""
        self._python.close()


def make(setting: Setting) -> Bubblewrap:
    """The peer."""
    del setting
    return Bubblewrap()


def unavailable() -> str | None:
    """bwrap and prlimit must be installed."""
    missing = [name for name in ("bwrap", "prlimit") if shutil.which(name) is None]
    return f"{' and '.join(missing)} not installed (Debian: bubblewrap, util-linux)" if missing else None
