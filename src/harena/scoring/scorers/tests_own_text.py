"""Finds what trusted tests say and look at of their own text: names and documentation, and variables by their names.

What is taken out of tests must not be what they judge. Where a test asks for its own name or documentation, these stay
as they are, and so does a variable that is also used by a text with its name (`eval`, `format`) or by another file.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass

_NAMES = re.compile(
    r"_testMethodName|\bself\.id\(|\.__(?:qual)?name__|co_name|\.node(?:id)?\b|inspect\.stack|PYTEST_CURRENT_TEST"
)
_DOCUMENTATION = re.compile(r"__doc__|getdoc|shortDescription|doctest")
_SOURCE = re.compile(r"getsource|getcomments|findsource|linecache|lineno|traceback|\bstack\(|extract_stack|__code__")
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Looks:
    """What the tests of one contract look at."""

    at_names: bool
    at_documentation: bool
    at_source: bool
    """at lines or the text of programs, their own may be among them: it is another one where values are taken out"""
    said: str
    """all strings of the tests, but for their documentation"""
    words: frozenset[str]
    """words of these, names that one file has from another, and attributes"""


def words_of(text: str) -> list[str]:
    """The words of a text, each of which may be the name of a variable."""
    return _WORD.findall(text)


def looks_of(trees: Collection[ast.Module], texts: Collection[str]) -> Looks:
    """What these texts look at; `trees`: what they are parsed to."""
    said = "\n".join(text for tree in trees for text in _strings(tree))
    nodes = [node for tree in trees for node in ast.walk(tree)]
    words = {*words_of(said)}
    words |= {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    words |= {alias.name for node in nodes if isinstance(node, ast.ImportFrom) for alias in node.names}
    return Looks(
        at_names=any(_NAMES.search(text) for text in texts),
        at_documentation=any(_DOCUMENTATION.search(text) for text in texts),
        at_source=any(_SOURCE.search(text) for text in texts),
        said=said,
        words=frozenset(words),
    )


def documentation(tree: ast.AST) -> set[int]:
    """The ids of strings that stand alone."""
    return {
        id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }


def _strings(tree: ast.Module) -> Iterator[str]:
    alone = documentation(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in alone:
            yield node.value
