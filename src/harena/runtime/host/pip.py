"""Runs pip, with a limit of time, of what it writes and of what is kept of what it says.

pip takes what an index sends, for as long as it sends. So its temporary files lie in a directory that is looked at
while it runs, and it ends with its children when they are too many bytes, or when its time is over. It stays in the
caller's process group: an interrupt at a terminal reaches both.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from harena.core import settings
from harena.core.errors import LimitExceededError, PlatformError

LOOKED_AT_SECONDS = 0.1
"""between two looks at the directory; ten times as long as a look took where that is more"""
MOST_SAID = 64 * 1024
"""bytes of what pip says last that are kept"""


@dataclass(frozen=True, slots=True)
class Finished:
    """A call of pip that has ended."""

    returncode: int
    said: str
    """the end of its standard error"""


@dataclass(frozen=True, slots=True)
class PipLimits:
    """What one installation may take."""

    seconds: float
    bytes: int

    @classmethod
    def of(cls, environ: Mapping[str, str] | None = None) -> PipLimits:
        """The operator's, see `harena.core.settings`. Raises ValueError."""
        seconds, most = settings.PACKAGE_SECONDS, settings.PACKAGE_DOWNLOAD_BYTES
        return cls(float(seconds.read(environ) or seconds.default or 0), int(most.read(environ) or most.default or 0))


@dataclass(slots=True)
class Pip:
    """The pip of this interpreter, on behalf of the one at `python`. Blocking."""

    python: str
    folder: Path
    """where it works, with its temporary files"""
    limits: PipLimits
    is_cached: bool
    """It keeps what it downloads in the cache of its user."""
    _until: float = field(init=False)

    def __post_init__(self) -> None:
        self._until = time.monotonic() + self.limits.seconds

    def run(self, arguments: Sequence[str]) -> Finished:
        """Raises LimitExceededError (it took too long or wrote too much), PlatformError (it cannot be started)."""
        temporary = self.folder / "tmp"
        temporary.mkdir(exist_ok=True)
        env = {**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_NO_INPUT": "1", "PYTHONWARNINGS": "ignore"}
        env.pop("PYTHONPATH", None)
        env["TMPDIR"] = str(temporary)
        target = [] if is_ours(self.python) else ["--python", self.python]
        cache = [] if self.is_cached else ["--no-cache-dir"]
        command = [sys.executable, "-P", "-m", "pip", *target, *cache, *arguments]
        try:
            process = subprocess.Popen(
                command, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
            )
        except OSError as error:
            raise PlatformError(f"pip could not be started with {sys.executable}: {error}", step="pip") from error
        try:
            return Finished(*self._followed(process))
        finally:
            if process.poll() is None:
                _end(process)
            assert process.stderr is not None
            process.stderr.close()

    def _followed(self, process: subprocess.Popen[bytes]) -> tuple[int, str]:
        assert process.stderr is not None
        descriptor, said, is_open, look_at = process.stderr.fileno(), b"", True, 0.0
        poll = select.poll()
        poll.register(descriptor, select.POLLIN)
        while is_open:
            if poll.poll(LOOKED_AT_SECONDS * 1000):
                piece = os.read(descriptor, MOST_SAID)
                said, is_open = (said + piece)[-MOST_SAID:], bool(piece)
            began = time.monotonic()
            if began >= look_at:
                self._check(began)
                ended = time.monotonic()
                look_at = ended + max(LOOKED_AT_SECONDS, 10 * (ended - began))
        try:
            return process.wait(max(0.0, self._until - time.monotonic())), said.decode(errors="replace")
        except subprocess.TimeoutExpired:
            raise self._late() from None

    def _check(self, now: float) -> None:
        if now >= self._until:
            raise self._late()
        if sum(_sizes(self.folder)) > self.limits.bytes:
            raise LimitExceededError(
                f"these packages are more than the {self.limits.bytes} bytes that one installation may download "
                f"({settings.PACKAGE_DOWNLOAD_BYTES.name}): ask for fewer of them, or the operator for more",
                reason="BLUEPRINTS",
            )

    def _late(self) -> LimitExceededError:
        return LimitExceededError(
            f"these packages were not installed within {self.limits.seconds:g} seconds "
            f"({settings.PACKAGE_SECONDS.name}): ask for fewer of them, or again when the package index is faster",
            reason="BLUEPRINTS",
        )


def is_ours(python: str) -> bool:
    """The path is that of this interpreter."""
    return os.path.realpath(python) == os.path.realpath(sys.executable)


def _sizes(folder: Path) -> Iterator[int]:
    for place, _, files in os.walk(folder):
        for name in files:
            with suppress(FileNotFoundError):  # removed just now
                yield os.lstat(os.path.join(place, name)).st_size


def _end(process: subprocess.Popen[bytes]) -> None:
    for pid in [*_with_children(process.pid)]:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    process.wait()


def _with_children(pid: int) -> Iterator[int]:
    yield pid
    with suppress(OSError):  # it has ended, or the kernel does not tell
        for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
            yield from _with_children(int(child))
