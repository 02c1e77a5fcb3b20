"""Sources are counted before a tree is made of them, and what was found of them is remembered without them."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest

from harena.scoring import python_source
from harena.scoring.contracts import scorer_trust
from harena.scoring.contracts.parts import program, scorer, trusted_files
from harena.scoring.contracts.scorer_trust import may_execute_text
from harena.scoring.formats import asked_names as known_names
from harena.scoring.formats.asked_names import asked_names
from harena.scoring.formats.asserts import NotChecksError, parse_tests
from harena.scoring.python_source import (
    MOST_SCORER_TOKENS,
    MOST_TOKENS,
    SourceTooLargeError,
    expression_tree,
    level,
    parts_of,
    sources_of,
    syntax_tree,
)
from harena.scoring.scorers import stated_excuses
from harena.scoring.scorers.assert_names import AssertNames, assert_names

MANY = "x=1\n" * (MOST_SCORER_TOKENS // 3 + 1)
SCORE = "def score(run):\n    return 1.0\n"


@pytest.mark.parametrize(
    ("source", "tokens"),
    [
        ("x = 1\n" * 10, 30),
        ('x = \'a b c\' + """d \'e\nf""" # g h i\n', 5),
        (r"x = 'a \' b' + r'c \' d'", 6),
        ("x = '" + "a b " * 100 + "'", 3),
        ("x = 'a b c'; f'{d}'", 14),
        ("x = 'a b c\ny = 1; z = 2", 2),  # not Python
        ("x = '''a b c d e f g", 2),
        ("\xe9 = [1,2]", 7),
    ],
)
def test_what_counts(source: str, tokens: int) -> None:
    """A text is one, unless one of them holds expressions; nothing behind what is not Python counts."""
    assert not python_source._has_more_tokens(source, tokens + 1)
    if tokens > 2:
        assert python_source._has_more_tokens(source, tokens - 1)


def test_a_large_source_is_refused_before_it_is_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A scorer's and a trusted file's with a sentence; test code is run, not read; much data in a text is fine."""
    sizes: list[int] = []
    parse = ast.parse

    def counted(source: str, *more: Any, **options: Any) -> Any:
        sizes.append(len(source))
        return parse(source, *more, **options)

    monkeypatch.setattr(ast, "parse", counted)
    with pytest.raises(SourceTooLargeError, match="more than the 100000 names"):
        scorer(MANY + SCORE)
    with pytest.raises(SourceTooLargeError, match="longer than the 4194304 characters"):
        syntax_tree("#" * 5_000_000)
    assert may_execute_text(MANY + SCORE) == "it cannot be read"
    large = MANY * 5
    with pytest.raises(NotChecksError):
        parse_tests(large)
    with pytest.raises(ValueError, match=r"'a\.py' holds more than the 400000"):
        trusted_files({"a.py": large, "b.txt": large})
    assert program(large) == large
    assert sizes == []
    assert scorer(f"DATA = '{'1 2 3 ' * 200_000}'\n{SCORE}")
    assert len(set(sizes)) == 1


def test_what_is_known_of_scorers_is_small() -> None:
    """Their texts are not kept, and a name that is long is told in part."""
    doubt = may_execute_text(f"import {'a' * 100_000}\n")
    assert doubt is not None
    assert len(doubt) < 1100
    assert all(len(digest) == 32 for digest in scorer_trust._known)
    before = dict(scorer_trust._known)
    for number in range(scorer_trust._MOST_KNOWN + 1):
        scorer_trust._known[number.to_bytes(32, "big")] = None
    may_execute_text("x = 'one more'\n")
    assert len(scorer_trust._known) == scorer_trust._MOST_KNOWN
    scorer_trust._known.clear()
    scorer_trust._known.update(before)


def test_names_of_asserts_beyond_the_bound_are_not_looked_into() -> None:
    """Test code that is too large to be read is run, and shares no name."""
    assert assert_names("x = 1\n" * (MOST_TOKENS // 3 + 1), None) == AssertNames()


def test_parts_are_those_of_a_walk_in_its_order_and_found_once() -> None:
    """All but constants, contexts and operators; within a statement as in a whole module."""
    tree = ast.parse(
        "@cache\ndef f(x: int = 1, *y) -> str:\n    return [a.b(1, c=not d) for a in x if -1 < a] or y[1:2]\n"
    )
    left_out = (ast.Constant, ast.expr_context, ast.operator, ast.unaryop, ast.cmpop, ast.boolop)
    for part in (tree, tree.body[0]):
        assert parts_of(part) == [node for node in ast.walk(part) if not isinstance(node, left_out)]
    assert parts_of(tree) is parts_of(tree)


def test_a_sum_of_many_terms_has_few_levels() -> None:
    """Its value and the order of its terms are the same; other operators stay as they are."""
    text = f"x = {'+'.join(repr(chr(97 + each % 26)) for each in range(1000))}; y = 9 - 3 - 2 * 3 * 4 + 1 + 2"
    tree = ast.parse(text)
    level(tree)
    found: dict[str, object] = {}
    exec(compile(tree, "here", "exec"), found)
    assert (found["x"], found["y"]) == ("".join(chr(97 + each % 26) for each in range(1000)), -15)
    depth, below = 0, [tree.body[0]]
    while below:
        depth, below = depth + 1, [part for node in below for part in ast.iter_child_nodes(node)]  # type: ignore[misc]
    assert depth < 20


def test_statements_as_they_are_written() -> None:
    """With their decorators and comments, in lines that end in any way, behind each other, and beyond ASCII."""
    text = "x = 'é'; assert f(x) == 'ü'  # so\r\n@a\n@b\ndef g():\n    # why\n    return '''1\n2'''\rassert (\n  g)\n"
    assert sources_of(text, ast.parse(text).body) == [
        "x = 'é'",
        "assert f(x) == 'ü'",
        "@a\n@b\ndef g():\n    # why\n    return '''1\n2'''",
        "assert (\n  g)",
    ]


def test_an_expression_within_a_text_is_counted_before_it_is_parsed() -> None:
    """In the program that has the text it is one token."""
    large = "a," * MOST_TOKENS
    with pytest.raises(SourceTooLargeError, match="more than the 400000"):
        expression_tree(large)
    assert isinstance(expression_tree("a, b"), ast.Tuple)
    assert len(parts_of(syntax_tree(f"skipif({large!r})"))) < 10
    assert stated_excuses._evaluated(ast.Constant(large)) is None


def test_names_that_tests_ask_for_are_looked_for_in_what_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a contract's text, however many candidates it has, once; and its text is not kept."""
    parsed: list[int] = []
    parse = ast.parse
    monkeypatch.setattr(ast, "parse", lambda source, *more, **options: parsed.append(1) or parse(source))
    large = "a," * MOST_TOKENS
    assert asked_names({"pytest": True, "files": {"test_a.py": large}}) == []
    assert asked_names({"asserts": large}) == []
    assert parsed == []
    small = f"from solution import g\nassert f(1) == {'1' * 20_000!r}"
    assert asked_names({"asserts": small}) == asked_names({"asserts": small}) == ["f", "g"]
    assert parsed == [1]
    assert all(len(digest) == 32 for _, digest in known_names._known._values)  # type: ignore[misc]
    assert asked_names({"asserts": "\n".join(f"n{number}" for number in range(known_names.MOST_NAMES + 1))}) == []


BOUNDED = {
    "sdk/function_source.py": "a function of whoever runs this process",
    "scoring/python_source.py": "it counts",
    "scoring/audit/visible.py": "_LONGEST_CALL and _LONGEST_VALUE characters",
    "scoring/contracts/formula.py": "_MAX_LENGTH characters",
    "scoring/scorers/changed_literals.py": "a text of harena's",
    "scoring/scorers/computed_answers.py": "_MOST_SOURCE characters",
    "scoring/scorers/driver_boot.py": "a source of harena's",
    "scoring/scorers/hidden_expectations.py": "_MOST_SOURCE characters",
    "scoring/scorers/oracle_functions.py": "a text of harena's",
    "scoring/scorers/leaked_proofs.py": "_MOST_TEXT characters",
    "scoring/battery/digging.py": "written for sandboxes",
    "scoring/battery/forgery.py": "MOST_READ characters",
}
"""modules that parse, and what bounds what they parse"""


def test_nothing_is_parsed_that_nobody_has_counted() -> None:
    """A server parses texts that users send; what runs in sandboxes may parse what it likes."""
    rooms = Path(python_source.__file__).parents[1]
    modules = (path for path in rooms.rglob("*.py") if path.parent.name != "guest")
    assert {path.relative_to(rooms).as_posix() for path in modules if "ast.parse(" in path.read_text()} == {*BOUNDED}
