"""How alike two texts are, from 0 to 1. Pure; every metric here is written after its published definition, without its
authors' code, so that numbers differ a little from other implementations (other words, no stemming, other smoothing).

Words: runs of letters, digits and underscores, and single other characters that are no white space; for ROUGE only the
former, in small letters.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Literal

Metric = Literal[
    "fuzzy_match", "bleu", "gleu", "meteor", "cosine", "rouge_1", "rouge_2", "rouge_3", "rouge_4", "rouge_5", "rouge_l"
]
MAX_CHARACTERS = 50_000
"""size limit of a compared text: the longest common subsequence takes time in proportion to the product of lengths"""

_WORD = re.compile(r"\w+|[^\w\s]")
_ALPHANUMERIC = re.compile(r"\w+")
_ORDER = 4
_FEW = 8
"""An item that stands in fewer places has no row kept, because a text of as many items has a row as long as itself for
each: 160 MiB for 50,000 different characters."""


def similarity(text: str, reference: str, metric: Metric) -> float:
    """From 0 to 1. Two empty texts are alike, an empty one and another are not."""
    if text == reference:
        return 1.0
    if metric == "fuzzy_match":
        return _shared(text, reference)
    if metric.startswith("rouge_"):
        words, wanted = _ALPHANUMERIC.findall(text.lower()), _ALPHANUMERIC.findall(reference.lower())
        if not words or not wanted:
            return 0.0
        return _shared(words, wanted) if metric == "rouge_l" else _rouge(words, wanted, int(metric[-1]))
    words, wanted = _WORD.findall(text), _WORD.findall(reference)
    if not words or not wanted:
        return float(words == wanted)
    return _OF_WORDS[metric](words, wanted)


def _shared(left: Sequence[str], right: Sequence[str]) -> float:
    """F1 of the longest common subsequence; of characters, this is the normalised insert-and-delete similarity."""
    if not left or not right:
        return float(not left and not right)
    return 2 * longest_subsequence(left, right) / (len(left) + len(right))


def longest_subsequence(left: Sequence[str], right: Sequence[str]) -> int:
    """The length of the longest common subsequence; bit-parallel (Hyyrö 2004): a row of the table is one integer."""
    sought = set(right)
    places: dict[str, list[int]] = {}
    for index, item in enumerate(left):
        if item in sought:
            places.setdefault(item, []).append(index)
    rows = {item: _bits(found) for item, found in places.items() if len(found) > _FEW}
    mask = (1 << len(left)) - 1
    row = mask
    for item in right:
        matches = row & (rows[item] if item in rows else _bits(places.get(item, ())))
        row = ((row + matches) | (row - matches)) & mask
    return len(left) - row.bit_count()


def _bits(places: Sequence[int]) -> int:
    bits = 0
    for place in places:
        bits |= 1 << place
    return bits


def _grams(words: Sequence[str], size: int) -> Counter[tuple[str, ...]]:
    return Counter(tuple(words[start : start + size]) for start in range(len(words) - size + 1))


def _f1(matched: int, found: int, wanted: int) -> float:
    return 2 * matched / (found + wanted) if matched else 0.0


def _rouge(words: Sequence[str], wanted: Sequence[str], size: int) -> float:
    left, right = _grams(words, size), _grams(wanted, size)
    return _f1((left & right).total(), left.total(), right.total())


def _bleu(words: Sequence[str], wanted: Sequence[str]) -> float:
    """Up to 4-grams (fewer where a text is shorter), one added to both counts above 1-grams; with brevity penalty."""
    logarithms = []
    for size in range(1, min(_ORDER, len(words), len(wanted)) + 1):
        found = _grams(words, size)
        matched, total = (found & _grams(wanted, size)).total(), found.total()
        if size > 1:
            matched, total = matched + 1, total + 1
        if not matched:
            return 0.0
        logarithms.append(math.log(matched / total))
    brevity = min(0.0, 1 - len(wanted) / len(words))
    return math.exp(brevity + sum(logarithms) / len(logarithms))


def _gleu(words: Sequence[str], wanted: Sequence[str]) -> float:
    """The smaller one of precision and recall, over all 1- to 4-grams together."""
    matched = found = sought = 0
    for size in range(1, _ORDER + 1):
        left, right = _grams(words, size), _grams(wanted, size)
        matched, found, sought = matched + (left & right).total(), found + left.total(), sought + right.total()
    return matched / max(found, sought)


def _meteor(words: Sequence[str], wanted: Sequence[str]) -> float:
    """Exact words only: no stems, no synonyms. Each word is aligned with the first equal one after its neighbour's,
    else with the first that is free. The same words in the same order are no fragment, and 1."""
    if [word.lower() for word in words] == [word.lower() for word in wanted]:
        return 1.0
    sought = [word.lower() for word in wanted]
    places: dict[str, list[int]] = {}
    for index in reversed(range(len(sought))):
        places.setdefault(sought[index], []).append(index)
    taken = bytearray(len(sought))
    matched = chunks = 0
    last = -2
    for word in map(str.lower, words):
        free = places.get(word, [])
        while free and taken[free[-1]]:
            free.pop()
        if not free:
            last = -2
            continue
        follows = 0 <= last + 1 < len(sought) and not taken[last + 1] and sought[last + 1] == word
        place = last + 1 if follows else free[-1]
        taken[place] = True
        chunks += place != last + 1
        matched, last = matched + 1, place
    if not matched:
        return 0.0
    precision, recall = matched / len(words), matched / len(wanted)
    mean = 10 * precision * recall / (recall + 9 * precision)
    return mean * (1 - 0.5 * (chunks / matched) ** 3)


def _cosine(words: Sequence[str], wanted: Sequence[str]) -> float:
    """Cosine of the counts of words, in small letters; no embeddings."""
    left, right = Counter(word.lower() for word in words), Counter(word.lower() for word in wanted)
    product = sum(count * right[word] for word, count in left.items())
    lengths = math.sqrt(sum(count**2 for count in left.values()) * sum(count**2 for count in right.values()))
    return min(1.0, product / lengths)


_OF_WORDS: dict[str, Callable[[Sequence[str], Sequence[str]], float]] = {
    "bleu": _bleu,
    "gleu": _gleu,
    "meteor": _meteor,
    "cosine": _cosine,
}
