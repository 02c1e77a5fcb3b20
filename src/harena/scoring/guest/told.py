"""Tells what tests compare with expected values that they do not hold; see `hidden_expectations`.

The text of this module stands in tests whose expected values were taken out. What a candidate's function answers is
written to a file of the sandbox, as a digest of its canonical form, and the host knows what is right. The candidate
shares the process and may write there what it likes: it does not know what. Standard library only, Python 3.8 and up.
"""

from __future__ import annotations

import hashlib
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

TOLD_PATH = "/tmp/.harena-told"
OPAQUE = "?"
"""what is told of an answer that is no plain value"""
_BRACKETS: dict[type, str] = {list: "[]", tuple: "()", set: "{}", frozenset: "{}"}
_MOST_TOLD = 10_000


def canonical(value: Any) -> str:
    """A text that is the same for plain values that are equal. Raises TypeError for what is no plain value."""
    kind = type(value)
    if kind is bool or kind is int:
        return hex(value)
    if kind is float:
        return hex(int(value)) if value.is_integer() else value.hex()
    if kind is str or kind is bytes or value is None:
        return repr(value)
    if kind is dict:
        return "{:" + ",".join(sorted(canonical(key) + ":" + canonical(each) for key, each in value.items())) + "}"
    if kind not in _BRACKETS:
        raise TypeError(kind)
    parts = [canonical(each) for each in value]
    if kind is set or kind is frozenset:
        parts.sort()
    return _BRACKETS[kind][0] + ",".join(parts) + _BRACKETS[kind][1]


def digest(value: Any) -> str:
    """Digest of the canonical form, in hexadecimal digits. Raises as `canonical`."""
    return hashlib.sha256(canonical(value).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def chosen(answer: Any, choices: list[Any]) -> str:
    """`#` and the index of the only choice that the answer equals; `#` where there is none, or more than one."""
    found = [index for index, choice in enumerate(choices) if answer == choice]
    return "#" + str(found[0]) if len(found) == 1 else "#"


_seen: set[tuple[int, str]] = set()


def told(place: int, answer: Any, choices: Any = None) -> bool:
    """Tell the answer at a place of the tests. `choices`: it is told which of these it equals."""
    try:
        said = digest(answer) if choices is None else chosen(answer, choices)
    except Exception:  # noqa: BLE001 (whatever an object of the candidate's raises)
        said = OPAQUE if choices is None else "#"
    _write(place, said)
    return True


def truth(place: int, answer: Any) -> bool:
    """Tell whether the answer is true."""
    _write(place, digest(bool(answer)))
    return True


def _write(place: int, said: str, opened: Any = os.open, written: Any = os.write, closed: Any = os.close) -> None:
    if (place, said) in _seen or len(_seen) >= _MOST_TOLD:
        return
    _seen.add((place, said))
    file = opened(TOLD_PATH, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
    try:
        written(file, f"{place} {said}\n".encode())
    finally:
        closed(file)
