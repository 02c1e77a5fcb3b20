"""What forgeries of the battery try of a driver, in a process as its driver starts in."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from harena.scoring import battery
from harena.scoring.battery.forgery import descriptors


def test_the_drivers_descriptors_are_among_those_that_forgeries_try() -> None:
    """A forgery that tries another range would try nothing of what the driver keeps; the limit is lowered to below."""
    program = (
        "import resource\n"
        "from harena.scoring.guest.driver import out_of_reach\n"
        "kept = set(out_of_reach(0, 1))\n"
        "limit = resource.getrlimit(resource.RLIMIT_NOFILE)\n"
        f"print(len(kept), kept <= set({descriptors(0, 3)}), min(kept) > max(limit), limit[0] == limit[1])\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["2", "True", "True", "True"]
    folder = Path(battery.__file__).parent
    written = [str(path.relative_to(folder)) for path in folder.rglob("*.py") if "range(1000," in path.read_text()]
    assert written == ["forgery.py"]


def test_a_candidate_may_have_a_module_of_a_name_that_the_driver_needs(tmp_path: Path) -> None:
    """The driver's is the standard library's, and what the candidate imports afterwards is its own."""
    (tmp_path / "resource.py").write_text("mine = True\n")
    program = (
        "import sys\n"
        "sys.path[:0] = ['']\n"
        "from harena.scoring.guest.driver import without_trace\n"
        "theirs = without_trace('resource')\n"
        "import resource\n"
        "print(hasattr(theirs, 'setrlimit'), resource.mine, sys.path[0] == '')\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert done.stdout.split() == ["True", "True", "True"]
