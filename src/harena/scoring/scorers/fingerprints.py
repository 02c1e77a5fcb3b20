"""Whether files of a sandbox are untouched, by what `stat` says of them. Content can be put back; the time at which the
kernel last changed a file, or anything about it, cannot be set by anybody, and a file that takes another one's place is
another file. What is written through a map, or to a folder that was moved meanwhile, leaves no time: who needs to know
compares content, too, and has files watched (`harena.core.ports.WatchesFiles`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from harena.core.errors import PlatformError
from harena.core.models import ExecOutcome, ExecRequest
from harena.core.ports import SandboxPort
from harena.scoring.scorers.program import WORKSPACE
from harena.scoring.slices import aside, last_line
from harena.scoring.verdict import one_line

_AT_ONCE = 500
"""paths on one command line"""
_STAT_SECONDS = 60.0
_NO_PROGRAM = (126, 127)


async def fingerprints(sandbox: SandboxPort, paths: Sequence[str]) -> Mapping[str, str]:
    """The inode number and the time of the last change of each path that exists. Relative paths are below the working
    directory; links are not followed. {} where the image has no `stat`. Raises PlatformError and SandboxError."""
    found: dict[str, str] = {}
    for start in range(0, len(paths), _AT_ONCE):
        argv = ("stat", "-c", "%i %z %n", "--", *paths[start : start + _AT_ONCE])
        request = ExecRequest(argv=argv, cwd=WORKSPACE, timeout_seconds=_STAT_SECONDS, warm=False)
        done = await (await sandbox.exec(request)).wait()
        if done.outcome is ExecOutcome.EXITED and done.returncode in _NO_PROGRAM:
            return {}
        if done.outcome is not ExecOutcome.EXITED or done.returncode > 1:  # 1: a path is not there
            raise PlatformError(f"stat: {done.outcome} {one_line(last_line(done.stderr))}", step="compare files")
        found.update(await aside(len(done.stdout), _told, done.stdout))
    return found


def _told(stdout: bytes) -> dict[str, str]:
    """What `stat` says, by path."""
    found: dict[str, str] = {}
    for line in stdout.decode("utf-8", "surrogateescape").split("\n"):
        number, _, rest = line.partition(" ")
        day, _, rest = rest.partition(" ")
        moment, _, rest = rest.partition(" ")
        zone, _, path = rest.partition(" ")
        found[path] = f"{number} {day} {moment} {zone}"
    return found
