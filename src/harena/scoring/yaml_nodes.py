"""The nodes of a YAML text, each with its line; and those of a JSON text, which is YAML nearly always.

Loaded where a file is YAML, or a mistake in a JSON file has to be shown: the library takes ten milliseconds, and most
data sets come as lines.
"""

from __future__ import annotations

import re
from itertools import chain
from typing import Any, NamedTuple, cast

import yaml
from yaml.composer import ComposerError
from yaml.constructor import ConstructorError

from harena.core.models import MIB
from harena.core.outside_json import MOST_VALUES
from harena.core.rows import MOST_BITS

_MAX_EXPANDED_NODES = 20_000_000
_MOST_EXPANDED_CHARACTERS = 64 * MIB
"""most of the texts that a YAML document stands for, where it is not longer itself: what could have been sent"""
_MOST_PLACED_NODES = 100_000
"""values of a JSON text whose lines are looked for: to find them takes a hundred times as long as to read it"""
_TOO_DEEP = "nested too deeply to be read"
MOST_DEPTH = 1000
"""deepest nesting of a document's collections"""
_TOO_MANY = f"holds more than {MOST_VALUES} values: write many rows as JSONL, one to a line"


class TooDeepError(yaml.MarkedYAMLError):
    """There are more than MOST_DEPTH collections in each other."""


class TooManyError(yaml.MarkedYAMLError):
    """There are more values than are read at once."""


class Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """YAML 1.2's core scalars: `yes` and `on` are text, 010 is ten, 1:30 and 2024-01-01 are text, 1e5 is a number.

    Nodes are made from the parser's events, in a loop: libyaml's own composer recurses on the stack of its thread, and
    where that ends the whole process does.
    """

    most_nodes = MOST_VALUES

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        """A node's value. Raises yaml.YAMLError, also where a tag that the text writes itself (`!!int []`) stands
        before what its constructor does not expect."""
        try:
            return super().construct_object(node, deep)
        except (AttributeError, IndexError, KeyError, OverflowError, TypeError) as error:
            tag = node.tag.replace("tag:yaml.org,2002:", "!!")
            raise ConstructorError(None, None, f"what is written is no {tag}", node.start_mark) from error

    def get_single_node(self) -> yaml.Node | None:
        """The document; None where the stream has none. Raises yaml.YAMLError, TooDeepError for one that is nested
        too deeply."""
        self.get_event()  # the stream begins
        if self.check_event(yaml.StreamEndEvent):
            return None
        self.get_event()  # the document begins
        root: yaml.Node = self._composed()
        self.get_event()  # the document ends
        if not self.check_event(yaml.StreamEndEvent):
            second = self.peek_event().start_mark
            raise ComposerError("expected a single document", root.start_mark, "but found another document", second)
        return root

    def _composed(self) -> Any:
        anchors: dict[str, yaml.Node] = {}
        open_nodes: list[yaml.CollectionNode] = []
        keys: list[yaml.Node | None] = []
        """for each open mapping, the key whose value comes next"""
        nodes = 0
        while True:
            event = self.get_event()
            if isinstance(event, yaml.CollectionEndEvent):
                node: Any = open_nodes.pop()
                keys.pop()
                node.end_mark = event.end_mark
            else:
                nodes += 1
                if nodes > self.most_nodes:
                    raise TooManyError(problem=_TOO_MANY, problem_mark=event.start_mark)
                node = self._node_of(event, anchors)
                if isinstance(node, yaml.CollectionNode) and not isinstance(event, yaml.AliasEvent):
                    if len(open_nodes) == MOST_DEPTH:
                        raise TooDeepError(problem=_TOO_DEEP, problem_mark=event.start_mark)
                    open_nodes.append(node)
                    keys.append(None)
                    continue
            if not open_nodes:
                return node
            above, key = open_nodes[-1], keys[-1]
            if isinstance(above, yaml.SequenceNode):
                above.value.append(node)
            elif key is None:
                keys[-1] = node
            else:
                above.value.append((key, node))
                keys[-1] = None

    def _node_of(self, event: Any, anchors: dict[str, yaml.Node]) -> Any:
        anchor, start, end = event.anchor, event.start_mark, event.end_mark
        if isinstance(event, yaml.AliasEvent):
            if anchor not in anchors:
                raise ComposerError(None, None, f"found undefined alias {anchor!r}", start)
            return anchors[anchor]
        tag, node = event.tag, cast("Any", None)
        if isinstance(event, yaml.ScalarEvent):
            if tag is None or tag == "!":
                tag = self.resolve(yaml.ScalarNode, event.value, event.implicit)
            node = yaml.ScalarNode(tag, event.value, start, end, style=event.style)
        else:
            kind = yaml.SequenceNode if isinstance(event, yaml.SequenceStartEvent) else yaml.MappingNode
            if tag is None or tag == "!":
                tag = self.resolve(kind, None, event.implicit)
            node = kind(tag, [], start, None, flow_style=event.flow_style)
        if anchor is not None:
            if anchor in anchors:
                first = anchors[anchor].start_mark
                raise ComposerError(f"found duplicate anchor {anchor!r}; first occurrence", first, "second", start)
            anchors[anchor] = node
        return node


def _construct_int(loader: Any, node: yaml.ScalarNode) -> int:
    text = node.value
    if not text.startswith(("0x", "0o")):
        return int(text)  # which refuses what nothing could write as a decimal number again
    if len(text) > MOST_BITS or (number := int(text[2:], 16 if text[1] == "x" else 8)).bit_length() > MOST_BITS:
        raise ValueError(f"a whole number of more than {MOST_BITS} bits is too long")
    return number


def _construct_float(loader: Any, node: yaml.ScalarNode) -> float:
    return float(node.value.lower().replace(".inf", "inf").replace(".nan", "nan"))


_MERGE = "tag:yaml.org,2002:merge"
_KEPT_TAGS = {"tag:yaml.org,2002:null", _MERGE}
Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag in _KEPT_TAGS]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
Loader.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile(r"^(?:true|True|TRUE|false|False|FALSE)$"), "tTfF")
Loader.add_implicit_resolver(
    "tag:yaml.org,2002:int", re.compile(r"^(?:[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+)$"), "-+0123456789"
)
Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(
        r"^(?:[-+]?(?:\.[0-9]+|[0-9]+\.[0-9]*|[0-9]+(?=[eE]))(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$"
    ),
    "-+.0123456789",
)
Loader.add_constructor("tag:yaml.org,2002:int", _construct_int)
Loader.add_constructor("tag:yaml.org,2002:float", _construct_float)


def why_too_large(root: yaml.Node, length: int) -> str | None:
    """Why all that a document of so many characters stands for is not read; None = it is."""
    sizes: dict[int, _Size] = {}
    values, characters, _ = _expanded_size(root, sizes)
    most_characters = max(length, _MOST_EXPANDED_CHARACTERS)
    if values > _MAX_EXPANDED_NODES:
        return "its aliases stand for more than 20 million values; write fewer"
    if characters > most_characters:
        message = f"its aliases stand for texts of {characters} characters together, and {most_characters} are read"
        return f"{message}; write fewer, or many rows as JSONL"
    if sum(size.merged for size in sizes.values()) > MOST_VALUES:
        return f"its merge keys (<<) copy more than {MOST_VALUES} values; write fewer"
    return None


class _Size(NamedTuple):
    """What a node stands for once every alias is replaced by what it names."""

    values: int
    characters: int
    merged: int = 0
    """names that merge keys copy into it: unlike what an alias names, each mapping has its own"""


def _expanded_size(node: yaml.Node, sizes: dict[int, _Size]) -> _Size:
    if id(node) in sizes:
        return sizes[id(node)]
    sizes[id(node)] = _Size(1, 0)  # an alias to a node that contains it
    if isinstance(node, yaml.ScalarNode):
        sizes[id(node)] = size = _Size(1, len(node.value))
        return size
    is_mapping = isinstance(node, yaml.MappingNode)
    parts = chain.from_iterable(node.value) if is_mapping else node.value
    below = tuple(_expanded_size(part, sizes) for part in parts)
    values, characters = 1 + sum(part.values for part in below), sum(part.characters for part in below)
    merged = 0
    for key, value in node.value if is_mapping else ():
        if key.tag == _MERGE:
            sources = value.value if isinstance(value, yaml.SequenceNode) else [value]
            merged += sum(len(source.value) + sizes[id(source)].merged for source in sources)
    sizes[id(node)] = size = _Size(values, characters, merged)
    return size


def duplicate_keys(root: yaml.Node, most: int) -> list[tuple[int, str]]:
    """(line, key) of keys that are written twice in one mapping; so many at most."""
    found: list[tuple[int, str]] = []
    _find_duplicate_keys(root, found, most, set())
    return found


def _find_duplicate_keys(node: yaml.Node, found: list[tuple[int, str]], most: int, visited: set[int]) -> None:
    if id(node) in visited or isinstance(node, yaml.ScalarNode):
        return
    visited.add(id(node))
    if isinstance(node, yaml.SequenceNode):
        for item in node.value:
            _find_duplicate_keys(item, found, most, visited)
        return
    seen: set[str] = set()
    for key, value in node.value:
        if len(found) >= most:
            return
        if isinstance(key, yaml.ScalarNode):
            if key.value in seen and key.tag != _MERGE:
                found.append((key.start_mark.line + 1, key.value))
            seen.add(key.value)
        _find_duplicate_keys(value, found, most, visited)


_SURROGATE = re.compile(r"\\u[dD][89a-fA-F][0-9a-fA-F]{2}")
"""JSON writes some characters in two halves, which YAML does not read; for lines, any character will do"""


def compose_json(text: str) -> yaml.Node | None:
    """JSON is YAML, nearly always; where it is not, or where it holds very much, there are no lines to show."""
    try:
        loader = Loader(_SURROGATE.sub(r"\\ufffd", text))
    except yaml.YAMLError:
        return None
    loader.most_nodes = _MOST_PLACED_NODES
    try:
        return cast("yaml.Node", loader.get_single_node())
    except (yaml.YAMLError, RecursionError):
        return None
    finally:
        loader.dispose()


def step_into(node: yaml.Node, step: str | int) -> yaml.Node | None:
    """The node of a key or an index below one; None where there is none."""
    if isinstance(node, yaml.SequenceNode) and isinstance(step, int):
        return node.value[step] if step < len(node.value) else None
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if isinstance(key, yaml.ScalarNode) and key.value == str(step):
                # a scalar's own line is its key's; a block's first line would be one too low
                return value if isinstance(value, yaml.CollectionNode) else _at(value, key)
    return None


def _at(value: yaml.Node, key: yaml.Node) -> yaml.Node:
    return yaml.ScalarNode(value.tag, value.value, key.start_mark, value.end_mark)
