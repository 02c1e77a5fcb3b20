"""Scenario files as plain objects, with the line of everything in them: YAML, JSON, JSONL, or made in Python."""

from __future__ import annotations

import gzip
import json
import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple, NoReturn, cast

import yaml
from yaml.composer import ComposerError
from yaml.constructor import ConstructorError

from harena.core.errors import ValidationError
from harena.core.json_steps import dict_of
from harena.core.models import MIB
from harena.core.near_names import cut
from harena.core.outside_json import (
    MOST_BYTES,
    MOST_VALUES,
    JsonSizeError,
    LineTooLongError,
    lines_in,
    read_outside,
)
from harena.core.rows import MOST_BITS, RowsFile

LINE_ENDINGS = (".jsonl", ".ndjson")
Place = tuple[str | int, ...]
"""keys and indexes from the root of a document"""

_MAX_EXPANDED_NODES = 20_000_000
_MOST_EXPANDED_CHARACTERS = 64 * MIB
"""most of the texts that a YAML document stands for, where it is not longer itself: what could have been sent"""
_MOST_STEP = 2000
"""characters of one key of a place that are shown: more than the longest path of a file has"""
MOST_MISTAKES = 1000
"""then the reading of a document ends"""
_MOST_DUPLICATES = 100
"""names that are written twice in one text, each of which is looked for in it"""
_MOST_PLACED_NODES = 100_000
"""values of a JSON text whose lines are looked for: to find them takes a hundred times as long as to read it"""


@dataclass(frozen=True, slots=True)
class Mistake:
    """One thing that is wrong with a scenario file."""

    file: str
    line: int | None
    """counted from 1; None where the input has no lines"""
    field: str
    """path of the field, as `scenarios[3].scoring.checks[0].expected`; empty = the whole file"""
    message: str
    """what is wrong and what to write instead"""

    def __str__(self) -> str:
        where = self.file if self.line is None else f"{self.file}:{self.line}"
        return f"{where}: {self.field}: {self.message}" if self.field else f"{where}: {self.message}"


def too_many_mistakes(file: str) -> Mistake:
    """The mistake that says why there are no more."""
    return Mistake(file, None, "", f"has {MOST_MISTAKES} mistakes or more; what follows was not read")


class ScenarioFileError(ValidationError):
    """Every mistake of a scenario file, in `mistakes`; the message shows the first fifty."""

    def __init__(self, mistakes: Sequence[Mistake]) -> None:
        self.mistakes = list(mistakes)
        shown = "\n".join(f"  {mistake}" for mistake in self.mistakes[:50])
        more = f"\n  ... and {len(self.mistakes) - 50} more" if len(self.mistakes) > 50 else ""
        count = "1 mistake" if len(self.mistakes) == 1 else f"{len(self.mistakes)} mistakes"
        super().__init__(f"{count} in the scenarios; nothing was run:\n{shown}{more}", reason="SCENARIO_FILE")


_PLAIN_STEP = re.compile(r"[^\W\d][\w-]*")


def _step_text(step: str | int) -> str:
    if isinstance(step, int):
        return f"[{step}]"
    step = cut(step, _MOST_STEP)
    return f".{step}" if _PLAIN_STEP.fullmatch(step) else f"[{json.dumps(step, ensure_ascii=False)}]"


class Document:
    """What a source says, and where it says it."""

    def __init__(self, file: str, content: Any, *, node: yaml.Node | None = None, text: str | None = None) -> None:
        self.file = file
        self.content = content
        self.early_mistakes: list[Mistake] = []
        """found while reading: duplicate keys, lines that are not JSON"""
        self._node = node
        self._json_text = text

    def field_of(self, place: Place) -> str:
        """How a person finds `place`: `scenarios[3].candidate.files["../x.py"]`."""
        field = "".join(map(_step_text, place)).removeprefix(".")
        return field.encode("utf-8", "backslashreplace").decode()

    def line_of(self, place: Place) -> int | None:
        """The line on which the deepest part of `place` that exists begins."""
        if self._node is None and self._json_text is not None:
            self._node = _compose_json(self._json_text)
        node = self._node
        if node is None:
            return None
        for step in place:
            below = _step_into(node, step)
            if below is None:
                break
            node = below
        return cast("int", node.start_mark.line) + 1


class LinesDocument(Document):
    """JSONL: each row is one line. Read while the rows are taken, once: a file may be larger than the memory.

    The first line may be `{"version": 1, "problems": [...]}`. `early_mistakes` grows with the reading.
    """

    def __init__(self, file: str, lines: Iterator[tuple[int, str]]) -> None:
        super().__init__(file, None)
        self._lines: list[int] = []
        """line number of each row"""
        self._header_line: int | None = None
        rows = self._read(lines)
        first = next(rows, None)
        header: dict[str, Any] = {}
        if isinstance(first, dict) and "problems" in first:
            header, self._header_line = first, self._lines.pop()
        elif self._lines:
            rows = chain([first], rows)
        self.content = {**header, "scenarios": rows}

    def _read(self, lines: Iterator[tuple[int, str]]) -> Iterator[Any]:
        for number, line in lines:
            if len(self.early_mistakes) >= MOST_MISTAKES:
                self.early_mistakes.append(too_many_mistakes(self.file))
                return
            duplicates: list[str] = []
            try:
                row = _parsed(line, duplicates)
            except JsonSizeError as error:
                self._note(number, str(error))
                continue
            except json.JSONDecodeError as error:
                self._note(number, f"not JSON: {error.msg} (column {error.colno})")
                continue
            except _NoJsonNumberError:
                self.early_mistakes += _constants(line, self.file, number)
                continue
            except RecursionError:
                self._note(number, "nested too deeply to be read")
                continue
            except ValueError as error:  # an integer of more digits than Python reads
                self._note(number, f"cannot be read: {error}; write such a value as {_BIG_INT}")
                continue
            self.early_mistakes += (
                _duplicate(self.file, number, key) for key in islice(dict.fromkeys(duplicates), _MOST_DUPLICATES)
            )
            self._lines.append(number)
            yield row

    def _note(self, line: int, message: str) -> None:
        self.early_mistakes.append(Mistake(self.file, line, "", message))

    def field_of(self, place: Place) -> str:
        """Below the row, which its line names: rows are not counted as lines are."""
        is_row = len(place) > 1 and place[0] == "scenarios"
        return super().field_of(place[2:] if is_row else place)

    def line_of(self, place: Place) -> int | None:
        """The line of the row."""
        if len(place) > 1 and place[0] == "scenarios" and isinstance(place[1], int):
            return self._lines[place[1]]
        return self._header_line


def read_document(source: str | Path | Mapping[str, Any] | Sequence[Mapping[str, Any]] | RowsFile) -> Document:
    """A file by its name's ending, or objects made in Python. Raises ScenarioFileError."""
    if not isinstance(source, str | Path):
        return Document("scenarios", source if isinstance(source, Mapping | RowsFile) else list(source))
    path = Path(source)
    ending = unpacked_ending(path)
    if ending in LINE_ENDINGS:
        return LinesDocument(str(path), _lines_of(path))
    reader = {".yaml": read_yaml, ".yml": read_yaml, ".json": read_json}
    if ending not in reader:
        _refuse(str(source), None, "the name of a scenario file ends in .yaml, .yml, .json or .jsonl (also in .gz)")
    try:
        with opened_unpacked(path) as file:
            content = file.read(MOST_BYTES + 1)
        if len(content) > MOST_BYTES:
            _refuse(str(path), None, f"is longer than {MOST_BYTES // MIB} MiB; write one row to a line, as JSONL")
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        _refuse_encoding(path, error.start)
    except (OSError, EOFError, zlib.error) as error:
        _refuse_unread(path, error)
    try:
        return reader[ending](text, str(path))
    except RecursionError:
        _refuse(str(path), None, "nested too deeply to be read")


def unpacked_ending(path: Path) -> str:
    """The ending of a file's name that says what is in it: of a packed one (.gz), the one before."""
    return (path.with_suffix("") if path.suffix.lower() == ".gz" else path).suffix.lower()


def opened_unpacked(path: Path) -> Any:
    """A file of bytes, unpacked as it is read. Raises OSError; reading raises EOFError and zlib.error, too."""
    return gzip.open(path, "rb") if path.suffix.lower() == ".gz" else path.open("rb")


def _refuse(file: str, line: int | None, message: str) -> NoReturn:
    raise ScenarioFileError([Mistake(file, line, "", message)])


def _refuse_encoding(path: Path, byte: int) -> NoReturn:
    _refuse(str(path), None, f"not UTF-8 text (byte {byte}); save the file as UTF-8")


def _refuse_unread(path: Path, error: Exception) -> NoReturn:
    _refuse(str(path), None, f"cannot be read: {getattr(error, 'strerror', None) or error}; check the path")


def read_json(text: str, file: str) -> Document:
    """One JSON value."""
    duplicates: list[str] = []
    try:
        content = _parsed(text, duplicates)
    except JsonSizeError as error:
        _refuse(file, None, str(error))
    except json.JSONDecodeError as error:
        _refuse(file, error.lineno, f"not JSON: {error.msg} (column {error.colno})")
    except _NoJsonNumberError:
        raise ScenarioFileError(_constants(text, file, 1)) from None
    except ValueError as error:  # an integer of more digits than Python reads
        _refuse(file, None, f"cannot be read: {error}; write such a value as {_BIG_INT}")
    document = Document(file, content, text=text)
    for key in islice(dict.fromkeys(duplicates), _MOST_DUPLICATES):
        line = text[: _second_index(text, json.dumps(key))].count("\n") + 1
        document.early_mistakes.append(_duplicate(file, line, key))
    return document


def _parsed(text: str, duplicates: list[str]) -> Any:
    return read_outside(text, object_pairs_hook=partial(_object, duplicates), parse_constant=_refuse_constant)


def _lines_of(path: Path) -> Iterator[tuple[int, str]]:
    """The lines of a file that are not empty, each with its number."""
    start = 0
    try:
        with opened_unpacked(path) as file:
            for number, line in enumerate(lines_in(file), 1):
                text = line.decode("utf-8-sig" if number == 1 else "utf-8")
                if text and not text.isspace():
                    yield number, text
                start += len(line)
    except LineTooLongError as error:
        _refuse(str(path), error.number, str(error))
    except UnicodeDecodeError as error:
        _refuse_encoding(path, start + error.start)
    except (OSError, EOFError, zlib.error) as error:
        _refuse_unread(path, error)


_BIG_INT = '{"$int": "0x..."}'
_CONSTANT = re.compile(r'"(?:[^"\\]|\\.)*+(?:"|\Z)|(NaN|-?Infinity)', re.DOTALL)
_MOST_CONSTANTS = 100
_FLOAT_TEXT = {"NaN": "nan", "Infinity": "inf", "-Infinity": "-inf"}


class _NoJsonNumberError(Exception):
    """There is NaN or Infinity, which Python reads, but JSON does not have."""


def _refuse_constant(name: str) -> NoReturn:
    raise _NoJsonNumberError(name)


def _constants(text: str, file: str, first_line: int) -> list[Mistake]:
    """One mistake for each of the first hundred NaN and Infinity outside of quotes."""
    mistakes: list[Mistake] = []
    line, counted = first_line, 0
    for found in _CONSTANT.finditer(text):
        if len(mistakes) == _MOST_CONSTANTS:
            break
        if name := found[1]:
            line, counted = line + text.count("\n", counted, found.start()), found.start()
            column = found.start() - text.rfind("\n", 0, found.start())
            advice = f'a value of a check is written {{"$float": "{_FLOAT_TEXT[name]}"}}'
            mistakes.append(Mistake(file, line, "", f"{name} (column {column}) is no number of JSON; {advice}"))
    return mistakes


def _object(duplicates: list[str], pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict_of(pairs)
    if len(made) != len(pairs):
        seen: set[str] = set()
        duplicates.extend(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
    return made


def _second_index(text: str, part: str) -> int:
    first = text.find(part)
    return max(text.find(part, first + 1), first, 0)


def _duplicate(file: str, line: int | None, key: str) -> Mistake:
    return Mistake(file, line, key, "written twice in one mapping; keep one of them")


MOST_DEPTH = 1000
"""deepest nesting of a document's collections"""
_TOO_DEEP = "nested too deeply to be read"
_TOO_MANY = f"holds more than {MOST_VALUES} values: write many rows as JSONL, one to a line"


class _TooDeepError(yaml.MarkedYAMLError):
    """There are more than MOST_DEPTH collections in each other."""


class _TooManyError(yaml.MarkedYAMLError):
    """There are more values than are read at once."""


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
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
        """The document; None where the stream has none. Raises yaml.YAMLError, _TooDeepError for one that is nested
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
                    raise _TooManyError(problem=_TOO_MANY, problem_mark=event.start_mark)
                node = self._node_of(event, anchors)
                if isinstance(node, yaml.CollectionNode) and not isinstance(event, yaml.AliasEvent):
                    if len(open_nodes) == MOST_DEPTH:
                        raise _TooDeepError(problem=_TOO_DEEP, problem_mark=event.start_mark)
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
_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag in _KEPT_TAGS]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_Loader.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile(r"^(?:true|True|TRUE|false|False|FALSE)$"), "tTfF")
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:int", re.compile(r"^(?:[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+)$"), "-+0123456789"
)
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(
        r"^(?:[-+]?(?:\.[0-9]+|[0-9]+\.[0-9]*|[0-9]+(?=[eE]))(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$"
    ),
    "-+.0123456789",
)
_Loader.add_constructor("tag:yaml.org,2002:int", _construct_int)
_Loader.add_constructor("tag:yaml.org,2002:float", _construct_float)


def read_yaml(text: str, file: str) -> Document:
    """One YAML document."""
    try:
        loader = _Loader(text)
    except yaml.YAMLError as error:  # a character that YAML does not have, by the reader in Python
        _refuse(file, None, f"not YAML: {error}")
    try:
        node = loader.get_single_node()
        if node is None:
            return Document(file, None)
        _check_expanded(node, file, max(len(text), _MOST_EXPANDED_CHARACTERS))
        document = Document(file, loader.construct_document(node), node=node)
        _find_duplicate_keys(node, document, set())
    except (_TooDeepError, _TooManyError) as error:
        line = None if error.problem_mark is None else error.problem_mark.line + 1
        _refuse(file, line, str(error.problem))
    except (yaml.YAMLError, ValueError, TypeError) as error:
        mark = getattr(error, "problem_mark", None)
        line = None if mark is None else mark.line + 1
        what = " ".join(part for part in (getattr(error, "problem", None), getattr(error, "context", None)) if part)
        _refuse(file, line, f"not YAML: {what or error}")
    except RecursionError:
        _refuse(file, None, _TOO_DEEP)
    finally:
        loader.dispose()
    return document


def _check_expanded(root: yaml.Node, file: str, most_characters: int) -> None:
    sizes: dict[int, _Size] = {}
    values, characters, _ = _expanded_size(root, sizes)
    if values > _MAX_EXPANDED_NODES:
        _refuse(file, None, "its aliases stand for more than 20 million values; write fewer")
    if characters > most_characters:
        message = f"its aliases stand for texts of {characters} characters together, and {most_characters} are read"
        _refuse(file, None, f"{message}; write fewer, or many rows as JSONL")
    if sum(size.merged for size in sizes.values()) > MOST_VALUES:
        _refuse(file, None, f"its merge keys (<<) copy more than {MOST_VALUES} values; write fewer")


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


def _find_duplicate_keys(node: yaml.Node, document: Document, visited: set[int]) -> None:
    if id(node) in visited or isinstance(node, yaml.ScalarNode):
        return
    visited.add(id(node))
    if isinstance(node, yaml.SequenceNode):
        for item in node.value:
            _find_duplicate_keys(item, document, visited)
        return
    seen: set[str] = set()
    for key, value in node.value:
        if len(document.early_mistakes) > MOST_MISTAKES:
            return
        if isinstance(key, yaml.ScalarNode):
            if key.value in seen and key.tag != _MERGE:
                document.early_mistakes.append(_duplicate(document.file, key.start_mark.line + 1, key.value))
                if len(document.early_mistakes) == MOST_MISTAKES:
                    document.early_mistakes.append(too_many_mistakes(document.file))
                    return
            seen.add(key.value)
        _find_duplicate_keys(value, document, visited)


_SURROGATE = re.compile(r"\\u[dD][89a-fA-F][0-9a-fA-F]{2}")
"""JSON writes some characters in two halves, which YAML does not read; for lines, any character will do"""


def _compose_json(text: str) -> yaml.Node | None:
    """JSON is YAML, nearly always; where it is not, or where it holds very much, there are no lines to show."""
    try:
        loader = _Loader(_SURROGATE.sub(r"\\ufffd", text))
    except yaml.YAMLError:
        return None
    loader.most_nodes = _MOST_PLACED_NODES
    try:
        return cast("yaml.Node", loader.get_single_node())
    except (yaml.YAMLError, RecursionError):
        return None
    finally:
        loader.dispose()


def _step_into(node: yaml.Node, step: str | int) -> yaml.Node | None:
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
