"""Several values after one option."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harena.cli.arguments import spread


@pytest.mark.parametrize(
    ("given_", "known"),
    [
        ("blueprint create n --packages a b --warm c", "blueprint create n --packages a --packages b --warm c"),
        ("blueprint create n --packages a --packages b", "blueprint create n --packages a --packages b"),
        ("blueprint create --packages=a n", "blueprint create --packages=a n"),
        ("blueprint create n --image x y", "blueprint create n --image x y"),
        ("blueprint create n --packages a -- b c", "blueprint create n --packages a -- b c"),
        ("benchmark run --packages a b", "benchmark run --packages a b"),
        ("exec -- tool --packages a b", "exec -- tool --packages a b"),
    ],
)
def test_spread(given_: str, known: str) -> None:
    """Only the options that take many values are repeated, and only in their command."""
    assert spread(given_.split()) == known.split()


@given(st.lists(st.sampled_from(["--packages", "--warm", "-x", "a", "b", "--"]), max_size=8))
def test_spread_is_stable(words: list[str]) -> None:
    """What has been spread stays as it is, and no word is lost."""
    once = spread(["blueprint", "create", *words])
    assert spread(once) == once
    assert [word for word in once if not word.startswith("-")] == [
        "blueprint",
        "create",
        *(w for w in words if w[0] != "-"),
    ]
