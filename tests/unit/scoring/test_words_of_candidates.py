"""Whether a candidate has a word for what a frame holds is told by what the interpreter reads of its text."""

from __future__ import annotations

import pytest

from harena.scoring.guest.taken import words_of


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("fr.\uff46_locals", "f_locals"),
        ("'{0.f_lo' 'cals}'.format(fr)", "f_locals"),
        ("'{0.\\x66_locals}'.format(fr)", "f_locals"),
        ("text.format(fr)", "vformat"),
    ],
)
def test_words_are_those_that_the_interpreter_reads(text: str, word: str) -> None:
    assert word in words_of(text)


def test_a_text_that_is_formatted_where_it_stands_says_what_it_shows() -> None:
    assert words_of("'{0.a} {1}'.format(first, 1)") == {"a", "format", "first"}
