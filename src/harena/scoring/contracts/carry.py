"""What a contract may ask for: values that the codec carries and that the guest can build, and programs that parse.

A mistake here would become a candidate's 0, so it is found before anything runs. Nothing is executed, and no set or
dict of the contract's values is built: their hashes are not ours to trust.
"""

from __future__ import annotations

import ast
import hashlib
import sys
import warnings
from collections.abc import Iterable, Iterator
from typing import Any

from harena.scoring.codec import MAX_BYTES, MAX_PARTS, canonical, encode, in_order
from harena.scoring.compare import python_equal
from harena.scoring.python_source import MOST_TOKENS, SourceTooLargeError, syntax_tree
from harena.scoring.values import MAX_DEPTH, Bag, NotationError, show

_CONTAINERS = (list, tuple, Bag)


def carried(value: Any) -> Any:
    """The host value itself. Raises NotationError if no program can be given it, or can return it."""
    parts = least_bytes = 0
    for part in _parts(value, "", MAX_DEPTH):
        parts += 1
        if isinstance(part, str | bytes):  # texts that are there many times take memory when they are encoded
            least_bytes += len(part)
            if least_bytes > MAX_BYTES:
                raise NotationError(f"{least_bytes} bytes or more, and a value has at most {MAX_BYTES}")
    if parts > MAX_PARTS:
        raise NotationError(f"{parts} parts, and a value has at most {MAX_PARTS}")
    if type(value) not in (bool, int, float, type(None)) and (size := len(encode(value))) > MAX_BYTES:
        raise NotationError(f"{size} bytes, and a value has at most {MAX_BYTES}")
    return value


def _parts(value: Any, where: str, depth: int, *, is_named: bool = False) -> Iterator[Any]:
    """Every part of a value, itself first; `is_named`: it is in a member that `_name` was made of. Raises NotationError
    for what cannot be built of them."""
    yield value
    if type(value) not in _CONTAINERS:
        return
    if depth == 0:
        raise NotationError(f"nested deeper than {MAX_DEPTH}", where)
    if not isinstance(value, Bag):
        for index, item in enumerate(value):
            yield from _parts(item, f"{where}[{index}]", depth - 1, is_named=is_named)
        return
    is_dict = value.kind == "dict"
    if not is_named:
        _require_members([pair[0] for pair in value.items] if is_dict else value.items, value.kind, where)
    for item in value.items:
        if is_dict:
            yield from _parts(item[0], where, depth - 1, is_named=True)
            yield from _parts(item[1], f"{where}.{show(item[0], 40)}", depth - 1)
        else:
            yield from _parts(item, where, depth - 1, is_named=True)


def _require_members(members: Iterable[Any], kind: str, where: str) -> set[bytes]:
    """Their names. Raises NotationError unless all of them are hashable, and no two of them are equal to Python."""
    what = "a key of a dict" if kind == "dict" else f"a member of a {kind}"
    seen: set[bytes] = set()
    for member in members:
        if (culprit := _unhashable(member)) is not None:
            raise NotationError(
                f"{show(member, 40)} cannot be {what}, because a {culprit} has no hash; write a $tuple or a $frozenset",
                where,
            )
        name = _name(member, where)
        if name in seen:
            raise NotationError(f"{show(member, 40)} is {what} twice (to Python, 1, 1.0 and True are equal)", where)
        seen.add(name)
    return seen


def _name(member: Any, where: str) -> bytes:
    """Bytes that are equal for all that Python takes for equal. What is inside of a member is named once, however many
    sets are around it. Raises NotationError."""
    if type(member) is tuple:
        return b"t" + _digest(_name(item, where) for item in member)
    if isinstance(member, Bag):
        return b"s" + _digest(in_order(_require_members(member.items, member.kind, where)))
    return b"v" + canonical(python_equal(member))


def _digest(names: Iterable[bytes]) -> bytes:
    whole = hashlib.sha256()
    for name in names:
        whole.update(b"%d:%b" % (len(name), name))
    return whole.digest()


def _unhashable(member: Any) -> str | None:
    """The name of the kind that has no hash, or None."""
    if type(member) is list:
        return "list"
    if isinstance(member, Bag):
        return None if member.kind == "frozenset" else member.kind
    if type(member) is tuple:
        return next((found for item in member if (found := _unhashable(item)) is not None), None)
    return None


def parsed(source: str, *, most_tokens: int = MOST_TOKENS) -> ast.Module:
    """The program as a tree; it is not run. Raises ValueError with the line and what is wrong, as
    SourceTooLargeError where it is not looked into."""
    version = f"Python {sys.version_info.major}.{sys.version_info.minor}"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # they are for whoever runs it
            return syntax_tree(source, most_tokens=most_tokens)
    except SyntaxError as error:
        raise ValueError(f"is not {version}: {error.msg} (line {error.lineno} of it)") from None
    except SourceTooLargeError:
        raise
    except (ValueError, RecursionError, MemoryError) as error:
        raise ValueError(f"is not {version}: {error or 'nested too deeply'}") from None


def defines(tree: ast.Module, name: str) -> bool:
    """Whether running it could bind `name` at its top level."""
    return any(_binds(statement, name) for statement in tree.body)


def _binds(statement: ast.stmt, name: str) -> bool:
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return statement.name == name
    for node in ast.walk(statement):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id == name:
            return True
        if isinstance(node, ast.alias) and (node.asname or node.name) in (name, "*"):
            return True
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name == name:
            return True
    return False
