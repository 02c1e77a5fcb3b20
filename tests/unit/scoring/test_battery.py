# ruff: noqa: E501 (programs are text, not code of ours)
"""The battery as it is shipped: what a forgery becomes for a scenario, and that it knows no answer."""

from __future__ import annotations

import ast
from collections import Counter
from typing import Any

import pytest

from harena.scoring import load_scenarios
from harena.scoring.battery import BATTERY, Target, applicable, battery_version, defined_functions, rendered
from harena.scoring.battery.forgery import ANY, CALLED, JUDGED, SCRIPTS, TEXTS
from harena.scoring.battery.stubs import empty_answers


def scenario(scoring: dict[str, Any], candidate: Any = "def add(a, b):\n    return a + b\n") -> Any:
    """One scenario with this contract."""
    return load_scenarios([{"id": "one", "candidate": candidate, "scoring": scoring}]).scenarios[0]


TESTS = {"type": "tests", "entry_point": "Solver.add", "checks": [{"args": [1], "expected": "the-secret-answer"}]}


def test_the_battery_is_large_and_every_forgery_has_a_name_of_its_own() -> None:
    """Sixty at least, ten of every family; each says what it tries and where."""
    families = Counter(forgery.family for forgery in BATTERY)
    assert len({forgery.name for forgery in BATTERY}) == len(BATTERY) >= 60
    assert min(families.values()) >= 10
    known = ANY | TEXTS | JUDGED
    assert all(forgery.tries.endswith(".") and forgery.contracts <= known and forgery.contracts for forgery in BATTERY)


@pytest.mark.parametrize("contract", sorted(ANY))
@pytest.mark.parametrize("functions", [(), ("add",), ("Solver.add", "Solver.sub", "main")])
def test_every_forgery_is_a_program_for_every_target(contract: str, functions: tuple[str, ...]) -> None:
    """It compiles, no word of a template is left, and it defines what the contract calls."""
    target = Target(contract, functions, "pkg/answer.py", ("out.txt",))
    for forgery in BATTERY:
        if contract not in forgery.contracts:
            continue
        made = rendered(forgery, target)
        assert made.entry == "pkg/answer.py"
        for path, text in made.files.items():
            assert not {word for word in ("@FUNCTION@", "@ENTRY@", "@MODULE@", "@OUTPUT@", "@MARK@") if word in text}
            if path.endswith(".py") and (path != made.entry or contract not in SCRIPTS):
                compile(text, path, "exec")
        if contract in CALLED:
            assert set(functions) <= set(defined_functions(made.source))


def test_no_forgery_knows_an_answer() -> None:
    """What a forger is told of a scenario holds neither arguments nor expected values."""
    target = Target.of(scenario(TESTS))
    assert target == Target("tests", ("Solver.add",), "solution.py", ())
    assert not any("the-secret-answer" in text for f in BATTERY for text in rendered(f, target).files.values())


def test_a_target_names_the_files_that_are_read_back_and_the_functions_of_the_right_answer() -> None:
    """By contract."""
    numeric = {"type": "numeric", "target": 1, "source": {"file": "n.txt"}}
    judged = {"type": "python", "source": "def score(run): return 1", "output_files": ["a", "b"]}
    command = {"type": "command", "command": "true", "proof": {"file": "p"}}
    assert Target.of(scenario(numeric)).outputs == ("n.txt",)
    assert Target.of(scenario(judged)).outputs == ("a", "b")
    assert Target.of(scenario(command)) == Target("command", ("add",), "solution.py", ("p",))
    assert defined_functions("class A:\n    def __init__(self): pass\nclass B:\n    def f(self): pass\n") == (
        "A",
        "B.f",
    )
    assert defined_functions("def broken(:") == ()


def test_only_forgeries_that_fit_are_applicable() -> None:
    """A program that is run meets no lying comparison objects."""
    families = {forgery.family for forgery in applicable(scenario({"type": "stdio", "cases": [{"stdout": "1"}]}))}
    assert "comparison" not in families
    assert {"exit", "output", "file", "process", "resource"} <= families


def test_a_program_that_is_run_prints_what_it_makes() -> None:
    """The same body serves a call and a program."""
    forgery = next(entry for entry in BATTERY if entry.name == "endless-number")
    tree = ast.parse(rendered(forgery, Target("numeric")).source)
    assert ast.unparse(tree.body[-1]).startswith("if __name__ == '__main__'")


def test_the_version_follows_the_content() -> None:
    """It is a digest, and stable."""
    assert len(battery_version()) == 16
    assert battery_version() == battery_version()


def test_what_is_empty_of_each_kind() -> None:
    """By an annotation, or by the form of what is returned; a function of which neither tells it is left out."""
    source = (
        "def a(x) -> list[int]: return x\ndef b(x): return f'{x}'\ndef c(x): return x\ndef d(x):\n    if x: return {}\n    return {1: x}\n"
        "def e(x): return 'a' if x else 3\ndef g(x): return sorted(x)\ndef h(x): return ' '.join(x)\ndef i(x): return x > 1\n"
        "class K:\n    def m(self): return {s for s in 'a'}\n    def n(self): return 'a' + self.x\n"
    )
    assert empty_answers(source) == {
        "a": "[]", "b": '""', "d": "{}", "g": "[]", "h": '""', "i": "False", "K.m": "set()", "K.n": '""',
    }  # fmt: skip
