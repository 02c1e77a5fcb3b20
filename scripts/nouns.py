"""Writes what every noun of the API needs and nobody has to think about.

It is made from the rows of nouns, their ports, and the parts of a node:

* `core/operations/__init__.py`: the table of all rows
* `core/ports/operations.py`: the port of all ports
* `sdk/http/from_table.py`: what a client asks of a server
* `node/from_table.py`: what a node answers by one of its parts, or by a store
* `nouns.py`: the records, modules of verbs and groups of commands that `harena` has

What a class of the client or of the node has by hand is left out. `python scripts/nouns.py` writes them, and a test
compares.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

WORDS = {"registry": "object", "catalog": "catalog_entry"}
"""part of a node -> what operations call what it keeps, where that is not the part's name in the singular"""
WIDTH = 120
MADE = "Made by `python scripts/nouns.py`."


@dataclass(frozen=True)
class Port:
    """One port of a noun."""

    module: str
    name: str
    methods: Sequence[str]


class Package:
    """The sources of harena below one folder."""

    def __init__(self, root: Path) -> None:
        self.root = root

    @property
    def made(self) -> dict[str, Callable[[], str]]:
        """Path below the root -> what gives its text, in an order in which each loads those before it alone."""
        return {
            "core/ports/operations.py": self._ports,
            "core/operations/__init__.py": self._table,
            "sdk/http/from_table.py": self._client,
            "node/from_table.py": self._node,
            "nouns.py": self._exported,
        }

    def write(self) -> None:
        """Write what has changed."""
        for path, text in self.made.items():
            place, wanted = self.root / path, text()
            if not place.exists() or place.read_text(encoding="utf-8") != wanted:
                place.write_text(wanted, encoding="utf-8")

    # -- the sources --

    def ports(self) -> list[Port]:
        """The ports of all nouns, in the order of their modules."""
        found = []
        for module, tree in self._modules("core/ports"):
            if module == "operations":
                continue
            for one in _classes(tree):
                if one.name.endswith("Operations"):
                    found.append(Port(module, one.name, [method.name for method in _methods(one)]))
        return found

    def by_hand(self, folder: str) -> set[str]:
        """Methods that some class of a folder has."""
        return {
            method.name
            for module, tree in self._modules(folder)
            if module != "from_table"
            for one in _classes(tree)
            for method in _methods(one)
        }

    def parts(self) -> list[str]:
        """The parts of a node: what `NodeParts` gives without being asked for anything."""
        tree = dict(self._modules("node"))["parts"]
        (parts,) = (one for one in _classes(tree) if one.name == "NodeParts")
        return [
            method.name
            for method in _methods(parts)
            if isinstance(method, ast.FunctionDef)
            and len(method.args.args) == 1
            and isinstance(method.returns, ast.Name)
            and method.returns.id not in ("bool", "datetime")
        ]

    def stores(self) -> dict[str, str]:
        """Module of `store` -> its store."""
        return {
            module: one.name
            for module, tree in self._modules("store")
            for one in _classes(tree)
            if one.name.endswith("Store")
        }

    def _modules(self, folder: str) -> Iterator[tuple[str, ast.Module]]:
        for path in sorted((self.root / folder).glob("*.py")):
            if path.stem != "__init__":
                yield path.stem, ast.parse(path.read_text(encoding="utf-8"))

    def _rows(self) -> Iterator[tuple[str, str, Any]]:
        """(module, name, row) of the rows that have a port, and a name in their module."""
        for module, table in self._tables():
            for name, row in vars(table).items():
                if isinstance(row, table.Operation) and row.port is not None:
                    yield module, name, row

    def _tables(self) -> Iterator[tuple[str, Any]]:
        for module, _ in self._modules("core/operations"):
            if module != "operation":
                yield module, import_module(f"harena.core.operations.{module}")

    # -- what is made of them --

    def _table(self) -> str:
        modules, rows = [], []
        for module, tree in self._modules("core/operations"):
            if module == "operation":
                continue
            modules.append(module)
            tables = [name for name in _assigned(tree) if name == "OPERATIONS" or name.startswith("ON_")]
            rows += [f"    *{module}.{name}," for name in tables]
        return _lines(
            f'"""The table of operations: what the API can do, one module for each noun. {MADE}"""',
            *("", "from __future__ import annotations", "", "from typing import Any", ""),
            *_imported("harena.core.operations", modules),
            "from harena.core.operations.operation import Operation",
            *("", '__all__ = ["OPERATIONS", "Operation"]', ""),
            *("OPERATIONS: tuple[Operation[..., Any], ...] = (", *rows, ")"),
        )

    def _ports(self) -> str:
        ports = self.ports()
        return _lines(
            f'"""The port of all ports: what a node can do for one workspace. {MADE}"""',
            *("", "from __future__ import annotations", "", "from typing import Protocol", ""),
            *(line for port in ports for line in _imported(f"harena.core.ports.{port.module}", [port.name])),
            *("", "", "class Operations("),
            *(f"    {port.name}," for port in ports),
            *("    Protocol,", "):"),
            '    """What a node can do for one workspace, and what a transport carries. One path for embedded and',
            '    server."""',
            "",
            "    async def close(self) -> None:",
            '        """End everything that this node owns."""',
        )

    def _exported(self) -> str:
        records = {
            f"harena.core.records.{module}": sorted(
                (one.name for one in _classes(tree) if not one.name.startswith("_")), key=str.casefold
            )
            for module, tree in self._modules("core/records")
            if module != "record"
        }
        verbs = [module for module, tree in self._modules("sdk") if "aio" in _assigned(tree)]
        commands = [module for module, tree in self._modules("cli") if module in verbs and "app" in _assigned(tree)]
        return _lines(
            f'"""The records and the modules of verbs that `harena` has. {MADE}"""',
            *("", "from __future__ import annotations", "", "from typing import TYPE_CHECKING", ""),
            "if TYPE_CHECKING:",
            *(f"    from {home} import {name} as {name}" for home, names in records.items() for name in names),
            *(f"    from harena.sdk import {name} as {name}" for name in verbs),
            *("", "RECORDS: dict[str, tuple[str, ...]] = {"),
            *(line for home, names in records.items() for line in _entry(home, names)),
            *("}", '"""module -> its records and enums"""'),
            *("NOUNS = (", *(f'    "{name}",' for name in verbs), ")"),
            '"""modules of `harena.sdk`, each with the verbs of a noun"""',
            f"COMMANDS = {_tuple(commands)}",
            '"""nouns that have a group of commands, a module of their name in `harena.cli`"""',
        )

    def _client(self) -> str:
        by_hand, lines, used, kinds = self.by_hand("sdk/http"), [], set(), set()
        for module, name, row in self._rows():
            if row.port.__name__ in by_hand or row.media_type == "text/event-stream":
                continue
            kind = "downloaded" if row.media_type != "application/json" else "over_http"
            kind = "uploaded" if row.body == "application/octet-stream" else kind
            used.add(module)
            kinds.add(kind)
            lines.append(f"    {row.port.__name__} = {kind}({module}.{name})")
        return _lines(
            f'"""What a client asks of a server as the table says. {MADE}"""',
            *("", "from __future__ import annotations", ""),
            *_imported("harena.core.operations", sorted(used)),
            *_imported("harena.sdk.http.calls", ["Calls", *sorted(kinds)]),
            *("", "", "class FromTable(Calls):", '    """Used from one event loop."""', ""),
            *lines,
        )

    def _node(self) -> str:
        by_hand, parts, stores = self.by_hand("node"), self.parts(), self.stores()
        rows = [row for _, table in self._tables() for row in getattr(table, "OPERATIONS", ())]
        frees = {row.port.__name__ for row in rows if row.frees}
        lines, used, kinds, opened = [], [], set(), []
        for port in self.ports():
            methods = [method for method in port.methods if method not in by_hand]
            if methods:
                used.append(port)
            for method in methods:
                asked = f"{port.name}.{method}"
                last = ["frees=True"] if method in frees else []
                if (found := part_of(method, port.module, parts)) is not None:
                    kinds.add("answered")
                    lines += _call(method, "answered", [asked, f"lambda parts: parts.{found[0]}().{found[1]}", *last])
                    continue
                kinds.add("stored")
                lines += _call(method, "stored", [asked, f"_{port.module}", f"lambda store: store.{method}", *last])
                if port.module not in opened:
                    opened.append(port.module)
        typed = ["if TYPE_CHECKING:", "    from harena.node.parts import NodeParts"]
        typed += [f"    from harena.store.{module} import {stores[module]}" for module in opened]
        return _lines(
            f'"""What a node answers by one of its parts, or by a store. {MADE}"""',
            *("", "from __future__ import annotations", ""),
            *(("from typing import TYPE_CHECKING", "") if opened else ()),
            *(line for port in used for line in _imported(f"harena.core.ports.{port.module}", [port.name])),
            *_imported("harena.node.answered", ["InWorkspace", *sorted(kinds)]),
            *(("", *typed) if opened else ()),
            *(line for module in opened for line in _opening(module, stores[module])),
            *("", "", "class FromTable(InWorkspace):"),
            *('    """What is answered as it is asked, with the workspace. Used from one event loop."""', ""),
            *lines,
        )


def part_of(method: str, module: str, parts: Iterable[str]) -> tuple[str, str] | None:
    """The part of a node that answers an operation, and its method: what the port's is called without the noun. None =
    the noun has no part, and is answered by its store."""
    for part in parts:
        word = WORDS.get(part, part.removesuffix("s"))
        for noun in (word.removesuffix("y") + "ies" if word.endswith("y") else f"{word}s", word):
            if f"_{noun}_" in f"_{method}_":
                return part, f"_{method}_".replace(f"_{noun}_", "_", 1).strip("_")
    return (module, method) if module in parts else None


def _opening(module: str, store: str) -> list[str]:
    return [
        *("", "", f"async def _{module}(parts: NodeParts) -> {store}:"),
        f"    from harena.store.{module} import {store}",
        *("", f"    return {store}(await parts.database(), parts.clock)"),
    ]


def _call(name: str, kind: str, given: Sequence[str]) -> list[str]:
    line = f"    {name} = {kind}({', '.join(given)})"
    return [line] if len(line) <= WIDTH else [f"    {name} = {kind}(", f"        {', '.join(given)}", "    )"]


def _imported(module: str, names: Sequence[str]) -> list[str]:
    line = f"from {module} import {', '.join(names)}"
    return [line] if len(line) <= WIDTH else [f"from {module} import (", *(f"    {name}," for name in names), ")"]


def _tuple(names: Sequence[str]) -> str:
    written = ", ".join(f'"{name}"' for name in names)
    return f"({written},)" if len(names) == 1 else f"({written})"


def _entry(home: str, names: Sequence[str]) -> list[str]:
    line = f'    "{home}": {_tuple(names)},'
    return [line] if len(line) <= WIDTH else [f'    "{home}": (', *(f'        "{name}",' for name in names), "    ),"]


def _assigned(tree: ast.Module) -> list[str]:
    """Names that a module binds to values, in their order."""
    targets = (statement.targets[0] for statement in tree.body if isinstance(statement, ast.Assign))
    return [target.id for target in targets if isinstance(target, ast.Name)]


def _classes(tree: ast.Module) -> list[ast.ClassDef]:
    return [one for one in tree.body if isinstance(one, ast.ClassDef)]


def _methods(one: ast.ClassDef) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    functions = (method for method in one.body if isinstance(method, ast.FunctionDef | ast.AsyncFunctionDef))
    return [method for method in functions if not method.name.startswith("_")]


def _lines(*lines: str) -> str:
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    Package(Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[1] / "src/harena")).write()
