"""Which texts of a candidate's state a value."""

from __future__ import annotations

import pytest

from harena.scoring.guest.driver import encode
from harena.scoring.guest.evaluated_texts import Heard, states_a_value

VALUES = [
    "1", "-1.5", "'a'", "[1, (2, {3})]", "{'a': nan}", "Point(1, y=[2])", "datetime.date(2024, 1, 2)", "nan", "1 + 2j",
    "Node(1, Node(2, None))", "set()", "frozenset({1})", "Color.RED", "Decimal('1')", "Mode.A | Mode.B", "Box(*[1])",
    "3 * (4 - 1.5) / -2", "7 // 2 % 3",
]  # fmt: skip
PROGRAMS = [
    "f()", "exec('x')", "__import__('os')", "(lambda: 1)()", "[x for x in y]", "a.b()", "os.system('x')", "Popen('x')",
    "Point(1).__class__", "(x := 1)", "x if y else z", "Point(1)(2)", "subprocess.Popen('x')", "import os", "",
    "f'{x()}'", "Thread(target=f)", "x[0]", "1 * 10**9", "getattr(a, 'b')", "Point(f())",
    "WANT", "x", "[x]", "A | B", "{'a': b}", "ANY", "Point(EXPECTED)", "EXPECTED.value", "mock.ANY", "'a' * 9",
    "Point(1) * 2", "[1] * 9",
]  # fmt: skip


@pytest.mark.parametrize("text", [*VALUES, *PROGRAMS])
def test_a_value_calls_classes_only(text: str) -> None:
    """Literals and names are values, too."""
    assert states_a_value(text) == (text in VALUES)


def test_a_text_is_known_again_in_and_around_what_was_told() -> None:
    """The whole, a part, and a text that was put into another one; not what nobody has told."""
    heard = Heard()
    heard.keep(
        encode(
            (
                "give",
                [("m", 1)],
                [(1, "d", ["__doc__", "__init__", "x", ">>> run(1)\n>>> run(2)"])],
                [],
                ([], "printed()"),
            )
        )
    )
    assert heard.has_told("run(2)\n")
    assert heard.has_told("x = [>>> run(1)\n>>> run(2)]")
    assert heard.has_told("printed()")
    assert not heard.has_told("other(2)")
    assert not heard.has_told("def __init__(self): given.__doc__")
    assert heard.has_sent(b"run(1)")
    assert not heard.has_sent(b"run(3)")


def test_only_the_last_messages_are_kept() -> None:
    """Their size is bounded."""
    heard = Heard()
    for number in range(40):
        heard.keep(encode((f"told({number})", b"x" * 1_000_000)))
    assert heard.has_told("told(39)")
    assert not heard.has_told("told(1)")
