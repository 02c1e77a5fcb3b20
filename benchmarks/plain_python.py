"""The interpreter that the unsandboxed peers start: the same one that harena runs, with nothing installed beside it.

A site-packages with .pth hooks can make a bare `python -c pass` four times slower, and every comparison with it
flattering. The sandbox's interpreter sees no site-packages of the host, so the plain one gets a throw-away environment
without any either.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import venv
from pathlib import Path

ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/tmp", "LANG": "C.UTF-8", "PYTHONHASHSEED": "0"}
"""what every peer's programs see; a pinned hash seed, as harena pins it"""

DESCRIPTION = (
    "plain = the base interpreter of the one that runs harena, in a bare venv (empty site-packages, no .pth hooks), "
    "no flags, PYTHONHASHSEED=0, a new session, SIGKILL to its group at the deadline"
)


class PlainPython:
    """A bare virtual environment that is removed again. `executable` is its `python`."""

    def __init__(self) -> None:
        self._directory = Path(tempfile.mkdtemp(prefix="harena-benchmark-python-"))
        self.prefix = self._directory / "venv"
        self.base_prefix = Path(sys.base_prefix)
        venv.create(self.prefix, with_pip=False, symlinks=True)
        self.executable = str(self.prefix / "bin" / "python")

    def close(self) -> None:
        """Remove it."""
        shutil.rmtree(self._directory, ignore_errors=True)
