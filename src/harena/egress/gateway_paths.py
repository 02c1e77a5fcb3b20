"""Which requests a gateway lets through: targets are read in every way that an upstream could read them.

A target that two readers could understand in two ways is refused, or has to be allowed in each of them: an encoded
slash is a part of a name for one server and a slash for another, `;` begins a parameter or does not.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import unquote

from harena.core.gateways import ANY_METHOD, MOST_SEGMENTS, GatewayRule

MOST_TARGET = 8192
"""bytes of a request's target"""
_VISIBLE = re.compile(r"[!-~]+")
_ESCAPE = re.compile(r"%([0-9A-Fa-f]{2})?")
_TWICE = re.compile(r"%25[0-9A-Fa-f]{2}")
_NEVER_IN_A_PATH = frozenset('\\"<>^`{|}')
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_MEANINGFUL = "/\\.%;?#"
"""characters that must not appear when a server folds others into ASCII"""

Reading = tuple[str, ...]
"""parts of a path, decoded"""


class RefusedTargetError(ValueError):
    """A target that is not forwarded; the text says why."""


@dataclass(frozen=True, slots=True)
class Target:
    """What a request asks for."""

    path: str
    """in the one form in which it is forwarded"""
    query: str
    """what was sent behind the path; "" = nothing"""
    readings: tuple[Reading, ...]
    """each way in which a server could read the path"""


def read_target(target: bytes) -> Target:
    """The target of a request in origin form. Raises RefusedTargetError."""
    if len(target) > MOST_TARGET:
        raise RefusedTargetError(f"the request's target has more than {MOST_TARGET} bytes")
    text = target.decode("latin-1")
    if not text.startswith("/"):
        raise RefusedTargetError(
            "the request's target must be a path: this is a gateway to one upstream and no proxy (no CONNECT, no "
            "http://... target, no *)"
        )
    if not _VISIBLE.fullmatch(text) or "#" in text:
        raise RefusedTargetError("the request's target has a character that must be percent-encoded")
    path, _, query = text.partition("?")
    if not _NEVER_IN_A_PATH.isdisjoint(path):
        raise RefusedTargetError("the request's path has a backslash or another character that must be percent-encoded")
    canonical = _canonical(path)
    readings = tuple(dict.fromkeys(_readings(canonical)))
    for reading in readings:
        if any(part in (".", "..") for part in reading):
            raise RefusedTargetError("the request's path has a part . or .., however it is written")
        if "" in reading:
            raise RefusedTargetError("the request's path has an empty part (//)")
        if len(reading) > MOST_SEGMENTS:
            raise RefusedTargetError(f"the request's path has more than {MOST_SEGMENTS} parts")
    return Target(canonical, query, readings)


def allows(rules: Sequence[GatewayRule], method: str, target: Target) -> bool:
    """Whether the rules let a request through, whichever way its upstream reads it."""
    if any(_has(rule, method, reading, folded=True) for rule in rules if rule.deny for reading in target.readings):
        return False
    allowing = [rule for rule in rules if not rule.deny]
    return not allowing or all(
        any(_has(rule, method, reading, folded=False) for rule in allowing) for reading in target.readings
    )


def matches(pattern: str, reading: Reading, *, folded: bool = False) -> bool:
    """Whether the parts of a path fit a rule's path. `folded`: capital and small letters are alike."""
    wanted = _parts(pattern)
    if folded:
        wanted, reading = tuple(each.casefold() for each in wanted), tuple(each.casefold() for each in reading)
    return _fits(wanted, reading)


def _has(rule: GatewayRule, method: str, reading: Reading, *, folded: bool) -> bool:
    alike = ("GET", "HEAD") if method == "HEAD" else (method,)
    if ANY_METHOD not in rule.methods and not any(each in rule.methods for each in alike):
        return False
    return matches(rule.path, reading, folded=folded)


def _canonical(path: str) -> str:
    made = _ESCAPE.sub(_escape, path)
    if _TWICE.search(made):
        raise RefusedTargetError("the request's path is percent-encoded twice")
    try:
        decoded = unquote(made, errors="strict")
    except UnicodeDecodeError:
        raise RefusedTargetError("the request's path is not UTF-8") from None
    folded = unicodedata.normalize("NFKC", decoded)
    if any(folded.count(each) != decoded.count(each) for each in _MEANINGFUL):
        raise RefusedTargetError("the request's path has a character that some servers take for a slash or a dot")
    return made


def _escape(found: re.Match[str]) -> str:
    if found[1] is None:
        raise RefusedTargetError("the request's path has a % without two hexadecimal digits")
    character = chr(int(found[1], 16))
    if character in _UNRESERVED:
        return character
    if character == "\\" or (not character.isprintable() and character < "\x80") or character == "\x7f":
        raise RefusedTargetError("the request's path has an encoded backslash or control character")
    return f"%{found[1].upper()}"


def _readings(canonical: str) -> Iterator[Reading]:
    plain = tuple(unquote(part) for part in _split(canonical))
    decoded = _split(unquote(canonical))
    for reading in (plain, decoded):
        yield reading
        yield tuple(part.partition(";")[0] for part in reading)


def _split(path: str) -> Reading:
    """The parts of a path; a slash at its end says nothing."""
    parts = path.split("/")[1:]
    return tuple(parts[:-1] if parts[-1] == "" else parts)


def _parts(pattern: str) -> Reading:
    return _split(pattern)


def _fits(pattern: Reading, parts: Reading) -> bool:
    """Each run of parts between two `**` is found where it comes first: what is left for the others is most then."""
    runs: list[list[str]] = [[]]
    for each in pattern:
        if each == "**":
            runs.append([])
        else:
            runs[-1].append(each)
    first, *others = runs
    if len(parts) < sum(map(len, runs)) or not _run_at(first, parts, 0):
        return False
    if not others:
        return len(parts) == len(first)
    place = len(first)
    *between, last = others
    for run in between:
        end = len(parts) - len(run)
        while place <= end and not _run_at(run, parts, place):
            place += 1
        if place > end:
            return False
        place += len(run)
    return place <= len(parts) - len(last) and _run_at(last, parts, len(parts) - len(last))


def _run_at(run: Sequence[str], parts: Reading, place: int) -> bool:
    return len(parts) >= place + len(run) and all(
        _part_fits(wanted, parts[place + number]) for number, wanted in enumerate(run)
    )


def _part_fits(pattern: str, part: str) -> bool:
    """Text between two `*` is likewise found where it comes first."""
    if "*" not in pattern:
        return pattern == part
    first, *between, last = pattern.split("*")
    if len(part) < len(first) + len(last) or not part.startswith(first) or not part.endswith(last):
        return False
    place, end = len(first), len(part) - len(last)
    for text in between:
        found = part.find(text, place, end)
        if found < 0:
            return False
        place = found + len(text)
    return True
