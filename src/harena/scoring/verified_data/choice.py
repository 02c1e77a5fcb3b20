"""Which candidates of one problem are kept, and which pairs they make. Equal input gives equal output, in equal order.

Passing candidates are brought into the rule's order; of those that are one program the first stays; then they are cut
off at the rule's limit. Ties are broken by length (characters of the program), and then by place in the file.

Pairs: kept candidates are the better ones, in that order; the worse are the problem's valid fails, those with the
highest score first (they are the hardest to tell apart), then by place, each program once. In a first round the first
is paired with the first, the second with the second, and so on, until one side is used up: no candidate is in two
pairs. With `max_pairs` further rounds follow, each shifted by one, as long as pairs are wanted: no pair is made twice.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from harena.scoring.verified_data.rule import Rule
from harena.scoring.verified_data.sameness import program_key
from harena.scoring.verified_data.standing import Judged, Standing


@dataclass(frozen=True, slots=True)
class Choice:
    """What is kept of the candidates of one problem, and the pairs that are made of them."""

    kept: Sequence[Judged]
    pairs: Sequence[tuple[Judged, Judged]]
    """(better, worse); empty unless the rule makes pairs"""
    duplicates: int
    """passing candidates that are the same program as an earlier one"""
    beyond_limit: int
    """passing candidates that the limit leaves out"""


def choose(of_problem: Sequence[Judged], rule: Rule) -> Choice:
    """What is kept of the candidates of one problem."""
    passing = sorted((one for one in of_problem if one.standing is Standing.PASSED), key=_ORDERS[rule.keep](rule))
    different = _different(passing, rule.dedupe)
    kept = different[: rule.limit]
    pairs: list[tuple[Judged, Judged]] = []
    if rule.makes_pairs:
        failing = [one for one in of_problem if one.standing is Standing.FAILED and not one.is_empty]
        worse = _different(sorted(failing, key=lambda one: (-(one.score or 0.0), one.place)), rule.dedupe)
        most = min(len(kept), len(worse)) if rule.max_pairs is None else rule.max_pairs
        pairs = [(kept[better], worse[other]) for better, other in islice(rounds(len(kept), len(worse)), most)]
    return Choice(kept, pairs, len(passing) - len(different), len(different) - len(kept))


def rounds(better: int, worse: int) -> Iterator[tuple[int, int]]:
    """Every (index of a better one, index of a worse one), once; each round uses each of the fewer side once."""
    fewer, more = sorted((better, worse))
    for shift in range(more if fewer else 0):
        for index in range(fewer):
            other = (index + shift) % more
            yield (index, other) if better <= worse else (other, index)


def _different(ordered: Sequence[Judged], how: str) -> list[Judged]:
    if how == "none":
        return list(ordered)
    first: dict[str, Judged] = {}
    for one in ordered:
        first.setdefault(program_key(one.scenario.candidate, how), one)
    return list(first.values())


def _length(one: Judged) -> int:
    return sum(map(len, one.scenario.candidate.files.values()))


def _drawn(seed: int, one: Judged) -> bytes:
    """A lot that depends on nothing but the seed and the scenario's name: other candidates do not change it."""
    return hashlib.sha256(f"{seed} {one.scenario.id}".encode("utf-8", "surrogatepass")).digest()


_ORDERS: dict[str, Callable[[Rule], Callable[[Judged], Any]]] = {
    "all": lambda rule: lambda one: one.place,
    "first": lambda rule: lambda one: one.place,
    "best-of-n": lambda rule: lambda one: (-(one.score or 0.0), _length(one), one.place),
    "shortest": lambda rule: lambda one: (_length(one), one.place),
    "random": lambda rule: lambda one: _drawn(rule.seed or 0, one),
}
