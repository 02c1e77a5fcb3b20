"""Which words of harena's in a tree of tests are told what they are given."""

from __future__ import annotations

import ast
from typing import Any

from harena.scoring.guest.shared_functions import HANDED, Entrusted


def handed(text: str, **names: Any) -> list[Any]:
    """What is told to be handed on where this code of the tests runs."""
    entrusted = Entrusted(lambda path: "library", lambda call, *given: call(*given), [], lambda frame: False, id)
    told: list[Any] = []

    def hand(place: int, value: Any) -> Any:
        told.append(value)
        return value

    tree = entrusted.put_in(ast.parse(text), [])
    exec(compile(tree, "<tests>", "exec"), {**names, **entrusted.functions(), HANDED: hand})
    return told


class Case:
    """A test that holds all others, by its runner."""

    def check(self, given: object) -> None:
        """An assertion."""


def test_a_word_around_the_function_that_is_called_is_handed_nothing() -> None:
    """An assertion is a method of the test: to look for what it holds would take longer than most tests do."""
    given = Case()
    for function in ("__harena_word__(case.check)", "__harena_word__(__harena_word__(case.check))"):
        told = handed(f"{function}(given)", case=Case(), given=given, __harena_word__=lambda f: f)
        assert told == [given]


def test_a_word_that_compares_is_handed_both_sides() -> None:
    """An operand may be an object with an operator of its own, which is told the other one."""
    one, other = Case(), Case()
    assert handed("__harena_word__(one, other)", one=one, other=other, __harena_word__=compare) == [one, other]


def compare(one: object, other: object) -> None:
    """A comparison."""
