"""What an import has set in its process is set again in another one, and never more than that one may have."""

from __future__ import annotations

import subprocess
import sys

WITHIN_LIMITS = """
import resource
from harena.runtime.guest import warm_process

FILES = resource.RLIMIT_NOFILE
resource.setrlimit(FILES, (50, 60))
asked = [(55, None), (1000, None), (None, 1000), (1000, 1000), (None, 58), (40, 57)]
for soft, hard in asked:
    warm_process.set_limit(FILES, soft, hard)
    print(resource.getrlimit(FILES))
"""
ONLY_WHAT_DIFFERS = """
import os
import signal
from harena.runtime.guest import warm_process

before = warm_process.Process()
assert warm_process.changes(before, warm_process.Process()) == []
os.umask(0o051)
signal.signal(signal.SIGUSR1, signal.SIG_IGN)
calls = warm_process.changes(before, warm_process.Process())
print(len(calls))
os.umask(0o022)
signal.signal(signal.SIGUSR1, signal.SIG_DFL)
refused = (os.chdir, ("/nowhere",)), (signal.signal, (9, signal.SIG_IGN))
warm_process.make([*refused, *calls])
print(oct(os.umask(0)), signal.getsignal(signal.SIGUSR1) is signal.SIG_IGN)
"""


def printed(program: str) -> list[str]:
    """By an interpreter of its own, whose process it may change."""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def test_a_limit_never_rises_above_the_hard_one() -> None:
    """Also for root, who could raise it."""
    assert printed(WITHIN_LIMITS) == ["(55, 60)", "(60, 60)", "(60, 60)", "(60, 60)", "(58, 58)", "(40, 57)"]


def test_only_what_differs_is_set_again_and_what_is_refused_is_left_out() -> None:
    """Nearly every import sets nothing, and then nothing is done for it."""
    assert printed(ONLY_WHAT_DIFFERS) == ["2", "0o51 True"]
