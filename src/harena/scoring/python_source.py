"""Programs as syntax trees, where a server looks into what was uploaded: a tree takes hundreds of times the size of its
source, and the interpreter is held until it is made. So what a source holds is counted before."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from typing import Any

MOST_CHARACTERS = 4 * 1024 * 1024
MOST_TOKENS = 400_000
"""names, numbers, texts and signs; the tree of the worst program of so many takes about 700 MB, for a second or two"""
MOST_SCORER_TOKENS = 100_000

_TOKEN = re.compile(r"#[^\n]*|'{3}|\"{3}|\w+|[^\s\w]")
_ENDS = {quote: re.compile(rf"\\.|{quote}", re.DOTALL) for quote in ("'''", '"""')} | {
    quote: re.compile(rf"\\.|{quote}|\n", re.DOTALL) for quote in ("'", '"')
}
_HOLDS_CODE = ("f", "t", "fr", "rf", "tr", "rt")
"""ends of what stands before a text that holds expressions"""


class SourceTooLargeError(ValueError):
    """The source is not looked into."""


def syntax_tree(source: str, *, most_tokens: int = MOST_TOKENS) -> ast.Module:
    """The tree of a program. Raises SourceTooLargeError, and what `ast.parse` raises."""
    _check_size(source, most_tokens)
    return ast.parse(source)


def expression_tree(source: str) -> ast.expr:
    """The tree of an expression, which may stand in a text of a program: there it counts as one token. Raises as
    `syntax_tree`."""
    _check_size(source, MOST_TOKENS)
    return ast.parse(source, mode="eval").body


def _check_size(source: str, most_tokens: int) -> None:
    """Raises SourceTooLargeError."""
    if len(source) > MOST_CHARACTERS:
        raise SourceTooLargeError(f"is longer than the {MOST_CHARACTERS} characters of a program that is looked into")
    if len(source) > most_tokens and _has_more_tokens(source, most_tokens):
        raise SourceTooLargeError(
            f"holds more than the {most_tokens} names, numbers, texts and signs of a program that is looked into: keep "
            "data in a file, or in one text"
        )


def sources_of(source: str, statements: Sequence[ast.stmt]) -> list[str]:
    """Each of these statements of a program as it is written there, whose first lines are at its left edge. The source
    is taken apart once, however many they are."""
    lines = source.replace("\r\n", "\n").replace("\r", "\n").encode().split(b"\n")
    found = []
    for one in statements:
        first = min([one.lineno, *(each.lineno for each in getattr(one, "decorator_list", ()))])
        rows = lines[first - 1 : one.end_lineno]
        rows[-1] = rows[-1][: one.end_col_offset]
        rows[0] = rows[0][one.col_offset :]
        found.append(b"\n".join(rows).decode())
    return found


def written(node: ast.AST) -> str | None:
    """The tree as source; None where that cannot be had: it is nested more deeply than Python's own writer goes, which
    is less than its parser does, or holds a number of more digits than Python writes."""
    try:
        return ast.unparse(node)
    except (RecursionError, ValueError):
        return None


_ALIKE_HOWEVER_JOINED = (ast.Add, ast.Mult, ast.BitOr, ast.BitAnd)


def level(tree: ast.AST) -> None:
    """Make sums and products of many terms trees of few levels, of the same terms in the same order: one of five
    hundred is nested more deeply than whoever looks at the parts of parts may call himself."""
    seen: set[int] = set()
    for node in ast.walk(tree):
        if id(node) in seen or not isinstance(node, ast.BinOp) or not isinstance(node.op, _ALIKE_HOWEVER_JOINED):
            continue
        terms, inner = [node.right], node.left
        while isinstance(inner, ast.BinOp) and type(inner.op) is type(node.op):
            seen.add(id(inner))
            terms.append(inner.right)
            inner = inner.left
        terms = [inner, *reversed(terms)]
        if len(terms) > 2:
            half = len(terms) // 2
            node.left, node.right = _joined(terms[:half], node), _joined(terms[half:], node)


def _joined(terms: list[ast.expr], like: ast.BinOp) -> ast.expr:
    if len(terms) == 1:
        return terms[0]
    half = len(terms) // 2
    return ast.copy_location(ast.BinOp(_joined(terms[:half], like), like.op, _joined(terms[half:], like)), like)


_KEPT_PARTS = "harena_parts"
_LEAVES = (ast.Constant, ast.expr_context, ast.operator, ast.unaryop, ast.cmpop, ast.boolop)


class _Branches(dict[type, bool]):
    """Kind of a field's value -> whether it is a node with parts; asked once for each kind."""

    def __missing__(self, kind: type) -> bool:
        found = self[kind] = issubclass(kind, ast.AST) and not issubclass(kind, _LEAVES)
        return found


_BRANCHES = _Branches()


def parts_of(tree: ast.AST) -> list[ast.AST]:
    """What `ast.walk` gives, in its order, without constants, contexts and operators, which have no parts. A whole
    module, which nobody may change afterwards, is walked once: the tests of a data set may hold a hundred thousand
    constants, and are looked through dozens of times."""
    if not isinstance(tree, ast.Module):
        return _walked(tree)
    found: list[ast.AST] | None = getattr(tree, _KEPT_PARTS, None)
    if found is None:
        found = _walked(tree)
        setattr(tree, _KEPT_PARTS, found)
    return found


def nested_parts(tree: ast.AST) -> int:
    """How often a part is met by whoever looks at the parts of each part: each as often as it is deep."""
    total, level = 0, [tree]
    depth = 1
    while level:
        below: list[ast.AST] = []
        for node in level:
            for name in node._fields:
                value = getattr(node, name, None)
                if type(value) is list:
                    total += depth * len(value)
                    below += [part for part in value if isinstance(part, ast.AST) and not isinstance(part, _LEAVES)]
                elif isinstance(value, ast.AST) and not isinstance(value, _LEAVES):
                    total += depth
                    below.append(value)
        level, depth = below, depth + 1
    return total


def _walked(tree: ast.AST) -> list[ast.AST]:
    found, branches = [tree], _BRANCHES
    for node in found:  # it grows meanwhile
        if type(node) is ast.Name:
            continue
        for name in node._fields:
            value: Any = getattr(node, name, None)
            if type(value) is list:
                found += [part for part in value if branches[type(part)]]
            elif branches[type(value)]:
                found.append(value)
    return found


def _has_more_tokens(source: str, most: int) -> bool:
    """Texts count as one, however long, unless there is one that holds expressions."""
    place, count, before, ended = 0, 0, "", -1
    while count <= most and (found := _TOKEN.search(source, place)):
        token, place = found[0], found.end()
        count += token[0] != "#"
        if (end := _ENDS.get(token)) is not None:
            if ended == found.start() and before.endswith(_HOLDS_CODE):
                return _has_more_words(source, most)
            closing = _closing(source, place, end, token)
            if closing is None:  # it is not Python: nothing behind this place is read
                return False
            place = closing
        before, ended = token[-2:].lower(), place
    return count > most


def _closing(source: str, place: int, end: re.Pattern[str], quote: str) -> int | None:
    while (found := end.search(source, place)) is not None:
        place = found.end()
        if found[0] == quote:
            return place
        if found[0] == "\n":
            return None
    return None


def _has_more_words(source: str, most: int) -> bool:
    return any(count >= most for count, _ in enumerate(re.finditer(r"\w+|[^\s\w]", source)))
