"""Files that a trusted tool would take in the place of a trusted file, or of work that it is to do.

Python's modules are `trusted_names`' matter. Other tools look for names in an order of their own: `require("./lib")` of
Node takes `lib.js` before `lib/index.js`, perl a `.pmc` before the `.pm`, gcc a `.gch` before the header. And of what
is there `make` believes that it is up to date (see `make_rules`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath

from harena.scoring.contracts.parts import folders_of
from harena.scoring.scorers.make_rules import (
    MAKEFILES,
    believed_without_work,
    is_rules,
    starts_make,
    without_comments,
    words_behind_make,
    working_anew,
)

_REQUIRED = re.compile(r"(?<=[\"'`/])[^\"'`/]{1,255}+(?=/?[\"'`])")
_NODE = (".js", ".json", ".node")
"""in the order in which `require` tries them"""
_OF_NODE = (*_NODE, ".mjs", ".cjs", ".jsx", ".ts", ".tsx")
_SHADOWS = {".pm": (".pmc",), ".h": (".h.gch",), ".hpp": (".hpp.gch",), ".el": (".elc",)}
_COMPILED = {
    ".java": (".class",), ".c": (".o",), ".cc": (".o",), ".cpp": (".o",), ".f90": (".o", ".mod"), ".s": (".o",),
    ".hs": (".o", ".hi"), ".ml": (".cmi", ".cmo", ".cmx", ".o"), ".mli": (".cmi",), ".erl": (".beam",),
}  # fmt: skip
"""what compilers make, and take where it is there"""


def shadowing(files: Mapping[str, str]) -> set[str]:
    """Paths that nothing may have at the end, see the module's text: no trusted part makes them itself. `files`: the
    trusted ones."""
    found: set[str] = set()
    required = _required([text for path, text in files.items() if path.endswith(_OF_NODE) and path[-5:] != ".json"])
    for path in files:
        stem, dot, ending = path.rpartition(".")
        ending = dot + ending
        name = PurePosixPath(path).name
        if ending in _OF_NODE and PurePosixPath(stem).name in required:
            earlier = _NODE[: _NODE.index(ending)] if ending in _NODE else _NODE
            found |= {stem, *(stem + other for other in earlier)}
        folder = PurePosixPath(path).parent
        if ending in _OF_NODE and PurePosixPath(stem).name == "index" and folder.name in required:
            found |= {f"{folder}{other}" for other in _OF_NODE} | {f"{folder}/package.json"}
        found |= {stem + other for other in _SHADOWS.get(ending, ())}
        if name in MAKEFILES:
            earlier = MAKEFILES[: MAKEFILES.index(name)]
            found |= {str(PurePosixPath(path).with_name(other)) for other in earlier}
    return found - files.keys() - folders_of(files)


def _required(texts: Iterable[str]) -> set[str]:
    """The last names of what programs may name as modules, without their endings."""
    return {found[0] for text in texts for found in _REQUIRED.finditer(text)}


def taking_no_part(paths: Iterable[str], files: Mapping[str, str], texts: Iterable[str] = ()) -> set[str]:
    """The paths at which a candidate's file takes no part: it, or a folder of it, stands for work of a Makefile's.
    `texts`: what starts `make`, beside the trusted files."""
    compiled = {
        stem + other
        for stem, dot, ending in (one.rpartition(".") for one in files)
        for other in _COMPILED.get(dot + ending, ())
    } - files.keys()
    done = _done_already(files, list(texts)) - files.keys() - folders_of(files)
    hiding = compiled | shadowing(files)
    return {path for path in paths if path in hiding or path in done or not done.isdisjoint(folders_of([path]))}


def _done_already(files: Mapping[str, str], texts: list[str]) -> set[str]:
    """Paths of which `make` would believe that their work is done; without checks where it is told to run them."""
    starting = [*texts, *(without_comments(path, text) for path, text in files.items() if not is_rules(path))]
    if not starts_make(starting):
        return set()
    kinds = ("stamp", "made") if working_anew(files, starting) else ("check", "stamp", "made")
    return believed_without_work(files, words_behind_make("\n".join(starting)), kinds)
