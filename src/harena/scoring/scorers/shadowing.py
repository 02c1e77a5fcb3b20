"""Files that a trusted tool would take in the place of a trusted file, or of work that it is to do.

Python's modules are `trusted_names`' matter. Other tools look for names in an order of their own: `require("./lib")` of
Node takes `lib.js` before `lib/index.js`, perl a `.pmc` before the `.pm`, gcc a `.gch` before the header. And whoever
makes a file or folder of the name of a target of make which is no file has `make` say that it is up to date.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath

from harena.scoring.contracts.parts import folders_of
from harena.scoring.scorers.verifier_ground import MAKEFILES

NAMES_OF_WORK = frozenset({"test", "tests", "check", "all", "run", "verify", "lint", "score", "grade", "validate"})
_RULE = re.compile(
    r"(?m)^(?P<targets>[\w./ -]++)[ \t]*+::?(?![=:])(?P<needs>[^\n;]*)(?P<same>;[^\n]*)?"
    r"(?P<recipe>(?:\n(?:\t[^\n]*|[ \t]*(?=\n)))*)"
)
_MOST_RULES = 1000
_VALUE = re.compile(r"\$[({](\w+)[)}]")
_WORD = re.compile(r"[\w./-]+")
_MAKES_TEST = re.compile(r"(?:-o|>|\btouch\b|\bmkdir\b(?: -p)?)[ \t]*test(?![\w./-])")
_REQUIRED = re.compile(r"(?<=[\"'`/])[^\"'`/]{1,255}+(?=/?[\"'`])")
_LONGEST_LINE = 10_000
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
    found = {target for target in phony_targets(files) if PurePosixPath(target).name in NAMES_OF_WORK}
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


def taking_no_part(paths: Iterable[str], files: Mapping[str, str]) -> set[str]:
    """The paths at which a candidate's file takes no part: it, or a folder of it that is a target of make."""
    compiled = {
        stem + other
        for stem, dot, ending in (one.rpartition(".") for one in files)
        for other in _COMPILED.get(dot + ending, ())
    } - files.keys()
    targets = phony_targets(files).keys() - folders_of(files)
    hiding = compiled | shadowing(files)
    return {path for path in paths if path in hiding or not targets.isdisjoint(folders_of([path]))}


def made_files(files: Mapping[str, str], goals: Iterable[str]) -> list[str]:
    """Names of the files of the working directory that `make` makes for these goals, by the rules of the Makefiles
    among `files`; without a goal for the first one. Pattern rules, also the built-in ones for objects, name none but
    what other rules need of them; what needs nothing is never made anew where it is there.

    >>> made_files({"Makefile": "check: prog\\n\\t./prog\\nprog: a.o b.o\\n\\tcc -o $@ $^\\n"}, ["check"])
    ['prog', 'b.o', 'a.o']
    """
    found: dict[str, None] = {}
    for path, text in files.items():
        if path.rpartition("/")[2] not in MAKEFILES:
            continue
        lines = text.replace("\\\n", " ").split("\n")
        rules = list(_RULE.finditer("\n".join(line if len(line) <= _LONGEST_LINE else "" for line in lines)))
        needs: dict[str, list[str]] = {}
        made: set[str] = set()
        for rule in rules[:_MOST_RULES]:
            needed = _variables(rule["needs"], text).split()
            for name in _variables(rule["targets"], text).split():
                needs.setdefault(name, []).extend(needed)
                if "$@" in rule["recipe"] or name in set(_WORD.findall(rule["recipe"])):
                    made.add(name)
        patterns = (".o", *(name[1:] for name in needs if name[:1] == "%"))
        asked = [goal for goal in goals if goal in needs] or [name for name in needs if name[0] not in ".%"][:1]
        seen: dict[str, None] = {}
        while asked:
            name = asked.pop()
            if name not in seen:
                seen[name] = None
                asked += needs.get(name, [])
        found.update((name, None) for name in seen if (name in made and needs[name]) or name.endswith(patterns))
    return list(found)


def _variables(words: str, text: str) -> str:
    """The words of a rule with the Makefile's own plain variables filled in."""

    def value(found: re.Match[str]) -> str:
        assigned = re.search(rf"(?m)^[ \t]*{re.escape(found[1])}[ \t]*[:?]?=[ \t]*([^\n#$]*)", text)
        return assigned[1] if assigned else ""

    return _VALUE.sub(value, words[:_LONGEST_LINE])


def phony_targets(files: Mapping[str, str]) -> dict[str, str]:
    """Paths of the working directory -> the Makefile. A target that its recipe makes (it names it, or `$@`) is a file;
    one of `.PHONY` is made whatever there is."""
    found: dict[str, str] = {}
    for path, text in files.items():
        if path.rpartition("/")[2] not in MAKEFILES and not path.endswith(".mk"):
            continue
        # a rule may begin anywhere in a line and end anywhere: of a long one that takes the square of its length
        lines = text.replace("\\\n", " ").split("\n")
        text = "\n".join(line if len(line) <= _LONGEST_LINE else "" for line in lines)
        rules = list(_RULE.finditer(text))
        phony = {name for rule in rules if ".PHONY" in rule["targets"].split() for name in rule["needs"].split()}
        folder = path.rpartition("/")[0]
        for rule in rules:
            recipe = (rule["same"] or "") + rule["recipe"]
            if not recipe.strip() or "$@" in recipe:
                continue
            named = set(_WORD.findall(recipe))
            for name in set(rule["targets"].split()) - phony:
                is_made = _MAKES_TEST.search(recipe) is not None if name == "test" else name in named
                if name[0] in "./" or is_made:
                    continue
                found[name] = path
                if folder:
                    found[f"{folder}/{name}"] = path
    return found
