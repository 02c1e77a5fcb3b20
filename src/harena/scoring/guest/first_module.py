"""Loaded by a guarded Python in the place of `encodings`, the first module that it looks for on its search path.

What PYTHONPATH names comes before the library there, so a candidate's folder in it would give each module that is
imported before `sitecustomize` has put the guard in its place. Here these folders are moved behind the library, and
`sitecustomize` moves them back. Built-in modules only, Python 3.8 syntax; nothing can be decoded yet.
"""

import sys
from posix import environ

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def become_the_librarys(module: "dict[str, Any]") -> None:
    """Move the folders, and make the module what the library's `encodings` is."""
    own = module["__file__"].rpartition("/")[0]
    count = environ.get(b"PYTHONPATH", b"").count(b":") + 1
    moved = [place for place in sys.path[:count] if place != own]
    library = sys.path[count:]
    finder: Any = next(finder for finder in sys.meta_path if getattr(finder, "__name__", "") == "PathFinder")
    spec = finder.find_spec("encodings", library)
    sys.path[:] = [own, *library, *moved]
    code = spec.loader.get_code("encodings")
    for name in ("TYPE_CHECKING", "become_the_librarys", "environ", "sys"):
        module.pop(name, None)
    module.update(
        MOVED_PLACES=moved,
        __doc__=None,
        __file__=spec.origin,
        __cached__=spec.cached,
        __loader__=spec.loader,
        __package__="encodings",
        __path__=spec.submodule_search_locations,
        __spec__=spec,
    )
    exec(code, module)  # noqa: S102 (the library's own)


if __name__ == "encodings":
    become_the_librarys(globals())
