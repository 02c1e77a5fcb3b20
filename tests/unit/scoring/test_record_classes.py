# ruff: noqa: E501 (programs are text, not code of ours)
"""Which classes of a test file are plain records, that a candidate elsewhere has, too."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from harena.scoring.guest import swallowing_exits
from harena.scoring.guest.record_classes import HeldRecords, Records

NODE = "class Node:\n    def __init__(self, val=0, next=None): self.val, self.next = val, next\n"
RECORDS = {
    "a node": NODE,
    "a tree": "from typing import Optional\nclass Node:\n    'A tree.'\n    def __init__(self, val: int = 0, left: Optional['Node'] = None):\n        self.val = val\n        self.left = left\n    def __repr__(self): return f'Node({self.val})'\n    def __lt__(self, other): return self.val < other.val\n    @property\n    def is_leaf(self): return self.left is None\n",
    "a loop of its own": "class Node:\n    def __init__(self, val, next=None): self.val, self.next = val, next\n    def __iter__(self):\n        at = self\n        while at:\n            yield at.val\n            at = at.next\n    def keys(self): return ['val', 'next']\n",
    "a dataclass": "from __future__ import annotations\nfrom dataclasses import dataclass, field\n@dataclass(order=True)\nclass Node:\n    val: int = 7\n    children: list[Node] = field(default_factory=list)\n    def add(self, other): self.children.append(other)\n",
    "slots": "class Node:\n    __slots__ = ('val',)\n    def __init__(self, val): self.val = val\n",
    "a class beside it": "class Edge:\n    def __init__(self, to): self.to = to\nclass Node:\n    def __init__(self, val): self.val, self.edges = val, []\n    def link(self, other): self.edges.append(Edge(other))\n",
    "a base": "class Base:\n    def __init__(self, val): self.val = val\nclass Node(Base):\n    @classmethod\n    def free(cls): return cls(0)\n",
    "an order": "import functools\n@functools.total_ordering\nclass Node:\n    def __init__(self, val): self.val = val\n    def __lt__(self, o): return self.val < o.val\n    def __eq__(self, o): return self.val == o.val\n",
}
OTHERS = {
    "an example": 'class Node:\n    """Is made.\n\n    >>> answer(Node(3))\n    4\n    """\n    def __init__(self, val): self.val = val\n',
    "private names": "class Node:\n    def __init__(self, val): self._val = val\n",
    "names that are changed": "class Node:\n    def __init__(self, val): self.__val = val\n",
    "an assertion": "class Node:\n    def __init__(self, val): self.val = val\n    def see(self, n): assert n == self.val\n",
    "an error of assertions": "class Node:\n    def __init__(self, val): self.val = val\n    def see(self, n):\n        if n != self.val: raise AssertionError(n)\n",
    "a table": "class Node:\n    WANTED = (3, 6)\n    def __init__(self, val): self.val = val\n",
    "a table in a class method": "class Node:\n    def __init__(self, val): self.val = val\n    @classmethod\n    def all(cls): return [3, 6]\n",
    "an oracle": "class Node:\n    def __init__(self, val): self.val = val\n    @staticmethod\n    def best(n): return sum(each for each in range(n))\n",
    "a name of the file": "LIMIT = 5\nclass Node:\n    def __init__(self, val): self.val = val + LIMIT\n",
    "a function of the file": "def values(n): return []\nclass Node:\n    def __init__(self, val): self.val = val\n    def all(self): return values(self)\n",
    "a builtin of the file's own": "def len(x): return 3\nclass Node:\n    def __init__(self, val): self.val = len(val)\n",
    "a count of its objects": "class Node:\n    made = 0\n    def __init__(self, val):\n        self.val = val\n        Node.made += 1\n",
    "a count by its class": "class Node:\n    made = 0\n    def __init__(self, val):\n        self.val = val\n        type(self).made += 1\n",
    "a list of its objects": "class Node:\n    made = []\n    def __init__(self, val):\n        self.val = val\n        self.made.append(self)\n",
    "changed by the file": NODE + "Node.__repr__ = lambda self: 'n'\n",
    "changed unseen": NODE + "for each in [Node]: type.__setattr__(each, 'x', 1)\n",
    "bound twice": NODE + "if Node: Node = type('Node', (), {})\n",
    "another base": "class Node(list):\n    def __init__(self, val): self.val = val\n",
    "another decorator": "def kept(cls): return cls\n@kept\nclass Node:\n    def __init__(self, val): self.val = val\n",
    "what finds any name": "class Node:\n    def __init__(self, val): self.val = val\n    def __getattr__(self, name): return 3\n",
    "the file system": "class Node:\n    def __init__(self, val): self.val = open(val)\n",
    "a module": "import os\nclass Node:\n    def __init__(self, val): self.val = os.getcwd()\n",
    "marks from without": NODE + "def mark(n): n._wanted = 3\n",
    "a default of the file's": "LIMIT = 5\nclass Node:\n    def __init__(self, val=LIMIT): self.val = val\n",
    "no data": "class Node:\n    def hi(self): return 3\n",
}


@pytest.fixture
def loaded(tmp_path: Path) -> Iterator[ModuleType]:
    """Makes a module of a trusted file's text."""
    made = ModuleType("loads")
    names = []

    def load(text: str) -> ModuleType:
        path = tmp_path / f"records_{len(names)}.py"
        path.write_text(text)
        swallowing_exits.sources[str(path)] = text
        spec = importlib.util.spec_from_file_location(path.stem, path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[path.stem] = module
        names.append((path.stem, str(path)))
        spec.loader.exec_module(module)
        return module

    made.load = load  # type: ignore[attr-defined]
    yield made
    for name, path in names:
        del sys.modules[name]
        swallowing_exits.sources.pop(path)


@pytest.mark.parametrize("name", RECORDS)
def test_a_plain_record_is_had_by_both_sides(name: str, loaded: ModuleType) -> None:
    """The other side has a class of this name, with the same methods, and is told of it once."""
    module = loaded.load(RECORDS[name])
    records, held = Records(), HeldRecords()
    assert records.has(module.Node)
    told = records.untold()
    records.told()
    space = sys.modules.pop(module.__name__)
    try:
        held.learn(told)
    finally:
        sys.modules[module.__name__] = space
    theirs = held.named(module.__name__, "Node")
    assert theirs is not module.Node
    assert held.key(theirs) == (module.__name__, "Node")
    methods = {name for name, value in vars(module.Node).items() if callable(value) or isinstance(value, property)}
    assert methods <= set(vars(theirs))
    assert records.has(module.Node)
    assert records.untold() == []
    assert (records.changed(), held.changed()) == ("", "")
    assert theirs.__doc__ == module.Node.__doc__


@pytest.mark.parametrize("name", OTHERS)
def test_any_other_class_is_the_suites_alone(name: str, loaded: ModuleType) -> None:
    records = Records()
    assert not records.has(loaded.load(OTHERS[name]).Node)
    assert records.untold() == []


def test_classes_that_were_changed_are_told_of(loaded: ModuleType) -> None:
    """On either side, once."""
    module = loaded.load(NODE)
    records, held = Records(), HeldRecords()
    assert records.has(module.Node)
    held.learn(records.untold())
    theirs = held.named(module.__name__, "Node")
    theirs.__lt__ = lambda self, other: True
    assert (held.changed(), held.changed()) == ("Node.__lt__", "")
    module.Node.size = 3
    assert records.changed() == "Node"


def test_a_class_of_no_trusted_file_is_none() -> None:
    class Node:
        def __init__(self, val: int) -> None:
            self.val = val

    assert not any(map(Records().has, (Node, int, type, Path, Records)))
