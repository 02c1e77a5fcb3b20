"""Who may import whom. The table here is the list; the rooms are explained in docs/explanation/architecture.md."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from parsed_sources import tree_of

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src"

CORE = frozenset({"core"})
SIBLINGS = frozenset(
    {"sdk", "runtime", "image_store", "image_build", "egress", "scoring", "store", "worlds", "cluster"}
)
BELOW_NODE = CORE | SIBLINGS | {"jobs", "training"}

MAY_IMPORT: dict[str, frozenset[str]] = {
    "core": frozenset(),
    **dict.fromkeys(SIBLINGS, CORE),
    "jobs": CORE | {"scoring"},
    "training": CORE | {"sdk", "scoring", "worlds", "cluster"},
    "node": BELOW_NODE,
    "faces": CORE | {"training"},
    "server": BELOW_NODE | {"node", "faces"},
    "fleet": BELOW_NODE | {"node"},
    "integrations": CORE | {"sdk", "training"},
    "cli": CORE | {"sdk", "server", "harena"},
    "testing": CORE | {"training"},
    # the package's face: harena/__init__ and modules beside it
    "harena": CORE | {"sdk", "node", "harena"},
}
"""Room -> rooms that it may import, itself left out. "harena" is the face, which users see."""

SIDES_OF_THE_WALL: dict[str, frozenset[str]] = {
    "kernel": frozenset(),
    "fast_path": frozenset({"kernel", "guest"}),
    "guest": frozenset({"kernel", "fast_path"}),
    "spawner": frozenset({"kernel", "fast_path", "guest"}),
    "host": frozenset({"kernel", "fast_path", "guest", "spawner"}),
}
"""Folder of the runtime -> folders that it may import, itself left out"""


@dataclass(frozen=True)
class Import:
    """One import statement's target, as a module path, and the names that are taken from it."""

    importer: str
    target: str
    names: tuple[str, ...]
    line: int
    only_for_types: bool

    def __str__(self) -> str:
        return f"{self.importer}:{self.line} imports {self.target}"


def module_name(path: Path) -> str:
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def room_of(module: str) -> str:
    """`harena.runtime.kernel.mounts` -> runtime; the face for what lies directly in the package, but for `__main__`,
    where Python looks for a package's command line."""
    if module == "harena.__main__":
        return "cli"
    parts = module.split(".")
    if len(parts) > 1 and (SOURCE / "harena" / parts[1]).is_dir():
        return parts[1]
    return "harena"


def all_imports(tree: ast.AST, importer: str, for_types: bool = False) -> Iterator[Import]:
    """Every import in the file, those inside functions included."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(importer, alias.name, (), node.lineno, for_types)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{importer}:{node.lineno}: relative import"
            names = tuple(alias.name for alias in node.names)
            yield Import(importer, node.module or "", names, node.lineno, for_types)
        elif not isinstance(node, ast.expr):  # in which no statement is
            guarded = isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
            yield from all_imports(node, importer, for_types or guarded)


@cache
def source_imports() -> Sequence[Import]:
    """All imports of the package, read by the first test that asks and not by whoever collects tests."""
    found: list[Import] = []
    for path in sorted((SOURCE / "harena").rglob("*.py")):
        found += all_imports(tree_of(path), module_name(path))
    return found


def own_imports() -> list[Import]:
    """The imports of harena's own modules."""
    return [entry for entry in source_imports() if entry.target.split(".")[0] == "harena"]


def targets(entry: Import, modules: set[str]) -> set[str]:
    """The modules that an import loads: `from package import module` means the module."""
    below = {f"{entry.target}.{name}" for name in entry.names} & modules
    return below or ({entry.target} & modules)


MODULES = {module_name(path) for path in (SOURCE / "harena").rglob("*.py")}


def test_every_room_is_in_the_table() -> None:
    """A new room is a decision: it gets its line here first."""
    assert {room_of(module) for module in MODULES} <= set(MAY_IMPORT)


def test_rooms_import_only_what_they_may() -> None:
    """Types count too: a room that names another's types knows it."""
    wrong = [
        f"{entry} ({room_of(entry.importer)} may not import {room_of(target)})"
        for entry in own_imports()
        for target in targets(entry, MODULES) or {entry.target}
        if room_of(target) != room_of(entry.importer) and room_of(target) not in MAY_IMPORT[room_of(entry.importer)]
    ]
    assert wrong == []


def test_the_check_itself_sees_a_crossed_border() -> None:
    """The walk finds imports in functions, in TYPE_CHECKING blocks, and of modules by `from package import module`."""
    code = (
        "from typing import TYPE_CHECKING\n"
        "if TYPE_CHECKING:\n    from harena.store import tables\n"
        "def late():\n    import harena.node.wiring\n"
    )
    found = list(all_imports(ast.parse(code), "harena.sdk.example"))
    assert [(entry.target, entry.only_for_types) for entry in found[1:]] == [
        ("harena.store", True),
        ("harena.node.wiring", False),
    ]
    assert targets(found[1], {"harena.store", "harena.store.tables"}) == {"harena.store.tables"}


def test_core_imports_only_the_standard_library() -> None:
    """Everything rests on it."""
    foreign = [
        str(entry)
        for entry in source_imports()
        if room_of(entry.importer) == "core"
        and entry.target.split(".")[0] != "harena"
        and entry.target.split(".")[0] not in sys.stdlib_module_names
    ]
    assert foreign == []


def test_what_runs_in_the_spawner_and_in_sandboxes_needs_the_standard_library_only() -> None:
    """It runs as `python -I -S`, in images that have nothing else."""
    foreign = [
        str(entry)
        for entry in source_imports()
        if entry.importer.startswith("harena.runtime.")
        and not entry.only_for_types
        and entry.target.split(".")[0] not in {"harena", *sys.stdlib_module_names}
    ]
    assert foreign == []


def test_what_runs_in_sandboxes_never_imports_what_runs_on_the_host() -> None:
    """Inside `runtime`, who may import whom follows the wall: see SIDES_OF_THE_WALL."""
    crossing = [
        str(entry)
        for entry in own_imports()
        for target in targets(entry, MODULES)
        if (side := side_of(entry.importer))
        and (other := side_of(target))
        and other not in {side, *SIDES_OF_THE_WALL[side]}
    ]
    assert crossing == []


def side_of(module: str) -> str | None:
    """`harena.runtime.guest.init` -> guest; None outside the runtime."""
    parts = module.split(".")
    return parts[2] if parts[:2] == ["harena", "runtime"] and len(parts) > 3 else None


def test_no_module_imports_a_private_name_of_another() -> None:
    """A leading underscore means: this module only, or for a module's own name: this room only."""
    crossing = [
        f"{entry} ({', '.join(entry.names) or entry.target})"
        for entry in own_imports()
        if is_private(entry)
        and (any(map(has_underscore, entry.names)) or room_of(entry.target) != room_of(entry.importer))
    ]
    assert crossing == []


def is_private(entry: Import) -> bool:
    return any(map(has_underscore, (*entry.target.split("."), *entry.names)))


def has_underscore(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


@pytest.mark.parametrize("folder", ["benchmarks", "examples", "scripts"])
def test_nothing_beside_the_package_imports_its_private_names(folder: str) -> None:
    """Only tests may look behind the curtain."""
    crossing = [
        str(entry)
        for path in sorted((ROOT / folder).rglob("*.py"))
        for entry in all_imports(tree_of(path), str(path.relative_to(ROOT)))
        if entry.target.split(".")[0] == "harena" and is_private(entry)
    ]
    assert crossing == []


def test_there_are_no_import_cycles() -> None:
    """Not even behind imports inside functions: every module can be read, and tested, alone."""
    graph: dict[str, set[str]] = {module: set() for module in MODULES}
    for entry in own_imports():
        if not entry.only_for_types:
            graph[entry.importer] |= targets(entry, MODULES) - {entry.importer}
    assert find_cycle(graph) is None


def test_cycles_would_be_found() -> None:
    """The search finds the cycle and not what only leads to it."""
    assert find_cycle({"a": {"b"}, "b": {"c"}, "c": {"b"}}) == ["b", "c", "b"]
    assert find_cycle({"a": {"b", "c"}, "b": {"c"}, "c": set()}) is None


def find_cycle(graph: dict[str, set[str]]) -> list[str] | None:
    done: set[str] = set()

    def walk(module: str, path: list[str]) -> list[str] | None:
        if module in path:
            return [*path[path.index(module) :], module]
        if module in done:
            return None
        for target in sorted(graph[module]):
            if cycle := walk(target, [*path, module]):
                return cycle
        done.add(module)
        return None

    for module in sorted(graph):
        if cycle := walk(module, []):
            return cycle
    return None
