"""Mutants of a right answer: which mistakes are made, that each is one, and that no source breaks their maker."""

from __future__ import annotations

import ast
from typing import Any

import pytest

from harena.scoring import load_scenarios
from harena.scoring.battery import defined_functions, mutants

STDIO = {"type": "stdio", "cases": [{"stdout": "1"}]}


def made(source: str, scoring: dict[str, Any] | None = None, **options: Any) -> dict[str, str]:
    """name -> source of each mutant."""
    row = {"id": "gold", "candidate": source, "scoring": scoring or STDIO}
    return {mutant.name: mutant.candidate.source for mutant in mutants(load_scenarios([row]).scenarios[0], **options)}


@pytest.mark.parametrize(
    ("source", "mutant"),
    [
        ("print(a < b)", "print(a <= b)"),
        ("print(a == b)", "print(a != b)"),
        ("print(a + b)", "print(a - b)"),
        ("x //= y", "x *= y"),
        ("print(a and b)", "print(a or b)"),
        ("if a:\n    b()", "if not a:\n    b()"),
        ("print(7)", "print(8)"),
        ("print(True)", "print(False)"),
        ("print('a')", "print('ax')"),
        ("list(range(n))", "list(range(n - 1))"),
        ("print(a[:n])", "print(a[:n - 1])"),
        ("def f():\n    return a", "def f():\n    return None"),
        ("print([a for a in b if a])", "print([a for a in b])"),
        ("print(sorted(set(a)))", "print(sorted(a))"),
        ("print(sorted(set(a)))", "print(set(a))"),
        ("print(sorted(a, key=len, reverse=True))", "print(a)"),
        ("print(a.lower().count('b'))", "print(a.count('b'))"),
        ("print(a.strip())", "print(a)"),
        ("print(abs(a))", "print(a)"),
        ("print(round(a, 2))", "print(a)"),
        ("print(int(a / b))", "print(a / b)"),
        ("print(list(a))", "print(a)"),
        ("print(list(reversed(a)))", "print(list(a))"),
        ("print(math.floor(a))", "print(a)"),
        ("a.sort()\nprint(a)", "a\nprint(a)"),
        ("a = set(b)\nprint(len(a), c in a)", "a = b\nprint(len(a), c in a)"),
        ("def f(n):\n    f(n[1:])", "def f(n):\n    n[1:]"),
        ("print(sum(a))", "print(max(a))"),
        ("print(min(a, b))", "print(max(a, b))"),
        ("print(a.startswith(b))", "print(a.endswith(b))"),
    ],
)
def test_each_kind_of_mistake_is_made(source: str, mutant: str) -> None:
    """Operators, constants, comparisons, boundaries, returns; and nothing else is changed."""
    assert mutant in [text.strip() for text in made(source).values()]


@pytest.mark.parametrize(
    "source",
    [
        "a = (b, sum(list(c)))",
        "a = max(sorted(b))",
        "print(c in set(b))",
        "a = set(b)\nprint(c in a, d in a)",
        "for c in list(a):\n    print(c)",
        "a = list(b)\na.append(c)",
        "a = list(map(f, b))",
        "a = int(b)",
        "a = int(b.strip())",
        "a = input().strip()",
        "a = b.strip().split()",
        "a.strip()",
        "a = set(b) & set(c)",
        "print(*list(a))",
        "a = f(b)",
        "a = sorted(*b)",
        "a = range(b, c).index(d)",
    ],
)
def test_no_call_is_left_out_whose_loss_nothing_can_tell(source: str) -> None:
    """Or every run: what is read is converted, and a set's operations need sets."""
    assert [name for name in made(source) if "is left out" in name] == []


def test_each_kind_of_mistake_gets_its_share() -> None:
    """However many constants a program has: the one call that matters is among the mutants."""
    table = "".join(f"    b[{n}] = {n + 1}\n" for n in range(60))
    assert "line 63: a call of lower is left out" in made(f"def f(a):\n    b = dict()\n{table}    return a.lower()\n")


LONG = "def f(a, b):\n    'Says 3.'\n" + "".join(
    f"    if a < {n} and b > {n}:\n        a += b * {n}\n" for n in range(20)
)


def test_mutants_are_few_different_and_the_same_each_time() -> None:
    """Each compiles, differs from the gold and from the others, and leaves docstrings alone."""
    first, again = made(LONG), made(LONG)
    assert first == again
    assert len(first) == len(set(first.values())) == 12
    assert len(made(LONG, most=3)) == 3
    for text in first.values():
        assert "Says 3." in text
        assert ast.dump(ast.parse(text)) != ast.dump(ast.parse(LONG))


def test_a_text_and_a_script_are_changed_too() -> None:
    """A number that is one more, a line that is left out."""
    assert made("the answer is 41", {"type": "regex", "pattern": "41"})["at 14: 41 becomes 42"] == "the answer is 42"
    script = made("cd /app\necho 7 > out\n", {"type": "harbor", "tests": {"test.sh": ""}})
    assert script["line 2 is left out"] == "cd /app\n"


HOSTILE = {
    "many brackets": "(" * 100_000 + ")" * 100_000,
    "many lists": "[" * 5_000 + "]" * 5_000,
    "many signs": "x = " + "-" * 100_000 + "1\n",
    "many attributes": "x" + ".a" * 100_000 + "\n",
    "many operators": "x = " + "1 + " * 50_000 + "1\n",
    "many calls": "f" + "()" * 50_000 + "\n",
    "many branches": "if a: pass\n" + "elif a: pass\n" * 20_000,
    "many levels": "".join(" " * n + "if a:\n" for n in range(99)) + " " * 99 + "pass\n",
    "many names of one set": "a = set(b)\n" * 3_000 + "a in a\n" * 3_000,
    "many functions in functions": "".join(" " * n + "def f():\n" for n in range(99)) + " " * 99 + "pass\n",
    "much": "a = 1\n" * 400_000,
    "NUL": "a = '\x00'\n",
    "a surrogate": "a = '\ud800'\n",
    "no Python": "def broken(:",
    "a huge number": "x = " + "9" * 10_000 + "\n",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_no_source_breaks_a_reader(name: str) -> None:
    """Whatever a candidate is, its functions and its mutants are some or none."""
    assert isinstance(defined_functions(HOSTILE[name]), tuple)
    assert isinstance(made(HOSTILE[name]), dict)
