"""For trusted runners that share their process with a candidate: are there objects that equal everything?

Its text stands before that of the runner inside the sandbox. Standard library only, Python 3.8 and up.
"""

from __future__ import annotations

import gc
import os


def equals_everything(here: str, trusted: list[str]) -> bool:
    """A class defined in the candidate's files calls two unrelated objects equal."""
    for found in gc.get_objects():
        if not isinstance(found, type):
            continue
        for name, wanted in (("__eq__", True), ("__ne__", False)):
            method = vars(found).get(name)
            code = getattr(method, "__code__", None)
            path = os.path.realpath(getattr(code, "co_filename", "/"))
            if code is None or not path.startswith(here + "/") or path in trusted:
                continue
            try:
                if method(type("Probe", (), {})(), object()) is wanted:  # type: ignore[misc]
                    return True
            except BaseException:  # noqa: BLE001, S112 (an honest comparison needs its own attributes)
                continue
    return False
