"""What `meteor` costs, and that its values are those of the plain search for a word's place."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence

import pytest

from harena.scoring.contracts.similarity import MAX_CHARACTERS, similarity


def plain(words: Sequence[str], wanted: Sequence[str]) -> float:
    """The score by a search through all places that are free."""
    free = {word: [index for index, other in enumerate(wanted) if other == word] for word in wanted}
    matched = chunks = 0
    last = -2
    for word in words:
        places = free.get(word)
        if not places:
            last = -2
            continue
        place = last + 1 if last + 1 in places else places[0]
        places.remove(place)
        chunks += place != last + 1
        matched, last = matched + 1, place
    if not matched:
        return 0.0
    precision, recall = matched / len(words), matched / len(wanted)
    mean = 10 * precision * recall / (recall + 9 * precision)
    return mean * (1 - 0.5 * (chunks / matched) ** 3)


def test_meteor_has_the_values_of_the_plain_search() -> None:
    """Whatever words come again, and wherever."""
    drawn = random.Random(0)
    for _ in range(2000):
        words, wanted = (drawn.choices("abcd"[: drawn.randint(1, 4)], k=drawn.randint(1, 12)) for _ in range(2))
        if words != wanted:
            assert similarity(" ".join(words), " ".join(wanted), "meteor") == plain(words, wanted)


def cost(work: Callable[[], object]) -> float:
    """Processor time of this thread, of the best of three times."""

    def once() -> float:
        begun = time.thread_time()
        work()
        return time.thread_time() - begun

    return min(once() for _ in range(3))


@pytest.mark.parametrize(("text", "reference"), [("a b ", "b a "), ("a ", "a b "), ("b a ", "a ")])
def test_meteor_takes_linear_time(text: str, reference: str) -> None:
    """Of words that come again without end; `cosine` of the same texts is the measure."""
    texts = [(piece * MAX_CHARACTERS)[:MAX_CHARACTERS] for piece in (text, reference)]
    measure = cost(lambda: similarity(texts[0], texts[1], "cosine"))
    assert cost(lambda: similarity(texts[0], texts[1], "meteor")) < 12 * measure
