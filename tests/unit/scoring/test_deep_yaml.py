"""No nesting of a YAML document ends the process that reads it: libyaml composes by recursion in C."""

from __future__ import annotations

import threading

import pytest
import yaml

from harena.core.errors import ValidationError
from harena.scoring.reading import read_yaml
from harena.scoring.yaml_nodes import MOST_DEPTH, Loader


def _indented(line_break: str) -> str:
    """39,600 sequences in each other, no line of which looks deep: the indentation is what is."""
    lines = [" " * (198 * level) + "- " * 98 + "-" for level in range(400)]
    return line_break.join([*lines, " " * (198 * 400) + "x"])


DEEP = {
    "flow sequences": "a: " + "[" * 200_000,
    "flow mappings": "{a: " * 200_000,
    "compact sequences": "- " * 200_000 + "x",
    "compact keys": "? " * 200_000 + "x",
    "both in turn": "- ? " * 100_000 + "x",
    "indented": "".join(" " * depth + "a:\n" for depth in range(2_000)),
    **{f"indented behind {mark!r}": _indented(mark) for mark in ("\n", "\r", "\r\n", "\x85", "\u2028", "\u2029")},
    "within what libyaml takes, and Python does not": "[" * 900 + "]" * 900,
}


@pytest.mark.parametrize("name", DEEP)
def test_what_is_nested_too_deeply_is_refused(name: str) -> None:
    """In a thread, as a server reads it."""
    raised: list[BaseException] = []

    def read() -> None:
        try:
            read_yaml(DEEP[name], "a.yaml")
        except ValidationError as error:
            raised.append(error)

    thread = threading.Thread(target=read)
    thread.start()
    thread.join()
    assert [str(error).rpartition(": ")[2] for error in raised] == ["nested too deeply to be read"]


def test_what_only_looks_deep_is_read() -> None:
    """Brackets in texts, and many short lists."""
    assert read_yaml("a: '" + "[" * 5_000 + "'", "a.yaml").content == {"a": "[" * 5_000}
    assert len(read_yaml("- [1, [2]]\n" * 2_000, "a.yaml").content) == 2_000


def test_nodes_are_what_the_composer_of_the_library_makes() -> None:
    """Anchors, aliases, tags, explicit keys, merges, styles, empty values; the depth that is just allowed."""
    texts = ["", "a", "- 1\n-\n- ~\n", "? [a, b]\n: {c: d, e}\n", "a: &x {b: 1}\nc: *x\nd: {<<: *x, e: 2}\n"]
    texts += ["&r [*r, *r]", "a: !!str 1\nb: ! 2\nc: 'x'\nd: |\n  y\n", "%YAML 1.1\n---\n- x: y\n  z: [1, {}]\n...\n"]
    for text in texts:
        ours = Loader(text).get_single_node()
        theirs = super(Loader, loader := Loader(text)).get_single_node()
        assert _told(ours, set()) == _told(theirs, set()), text
        loader.dispose()
    for text in ("*x", "[&a 1, &a 2]", "a\n---\nb", "[1", "a: b: c", "\x01"):
        with pytest.raises(ValidationError, match="not YAML"):
            read_yaml(text, "a.yaml")
    assert Loader("[" * MOST_DEPTH + "]" * MOST_DEPTH).get_single_node() is not None


def _told(node: yaml.Node | None, above: set[int]) -> object:
    if node is None or id(node) in above:
        return "None or a cycle"
    where = [(mark.line, mark.column) for mark in (node.start_mark, node.end_mark)]
    value = node.value
    if not isinstance(node, yaml.ScalarNode):
        value = [
            [_told(part, above | {id(node)}) for part in (item if isinstance(item, tuple) else (item,))]
            for item in node.value
        ]
    return type(node), node.tag, where, value


@pytest.mark.parametrize("number", [f"0x{'f' * 4000}", f"0o{'7' * 6000}", f"0x{'f' * 5_000_000}", "9" * 5000])
@pytest.mark.parametrize("text", ["- {}", "scenarios:\n- id: {}\n", "- id: x\n  metadata: {{a: {}}}\n"])
def test_a_number_that_cannot_be_written_again_is_refused_in_words(text: str, number: str) -> None:
    """Python writes no whole number of more than 4,300 digits, and reads such a one where its digits are not tens."""
    with pytest.raises(ValidationError) as refused:
        read_yaml(text.format(number), "a.yaml")
    assert len(str(refused.value)) < 1000


def test_numbers_of_other_bases_are_read() -> None:
    assert read_yaml("[0xff, 0o17, 010, 0x0]", "a.yaml").content == [255, 15, 10, 0]
