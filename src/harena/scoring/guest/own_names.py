"""The names by which harena's own modules are found in a sandbox, where a candidate has modules, too. Standard library
only, Python 3.8 and up."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

_OWN = "harena"


def leave_no_names(files: Iterable[str] = (_OWN,)) -> None:
    """Nothing of what serves or judges is found by name, if one of these files has its name: each part has what it
    needs from here on."""
    if any(file.partition("/")[0].partition(".")[0] == _OWN for file in files):
        for name in [name for name in sys.modules if name == _OWN or name.startswith(f"{_OWN}.")]:
            del sys.modules[name]
