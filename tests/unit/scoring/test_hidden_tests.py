# ruff: noqa: E501 (programs are text, not code of ours)
"""What is left of trusted tests whose expected values are taken out, and what they tell."""

from __future__ import annotations

import ast
import math
import tempfile
from collections import Counter, OrderedDict
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harena.scoring import load_scenarios
from harena.scoring.contracts.contract import CommandContract
from harena.scoring.guest import reported_comparisons
from harena.scoring.scorers.hidden_expectations import HiddenTests, hidden_tests
from harena.scoring.scorers.hidden_siblings import siblings

GOLD = "def f(x):\n    return x\n"
CHECK = "def check(candidate):\n    {}\n\ncheck(f)\n"
SUITE = "import unittest\nimport helper\nfrom solution import f\n\nclass T(unittest.TestCase):\n    def test_it(self):\n        {}\n"


def contract(**scoring: Any) -> CommandContract:
    """One of type `command`."""
    row = {"id": "one", "candidate": GOLD, "scoring": {"type": "command", "gold": GOLD, **scoring}}
    made = load_scenarios([row]).scenarios[0].scoring
    assert isinstance(made, CommandContract)
    return made


def hidden(asserts: str) -> HiddenTests:
    """Test code without its values."""
    return hidden_tests(contract(asserts=asserts))


def hidden_suite(line: str) -> HiddenTests:
    """A suite with this line in a test."""
    return hidden_tests(contract(unittest=["test_it.py"], files={"test_it.py": SUITE.format(line), "helper.py": ""}))


def own(text: str) -> str:
    """The text without what tells."""
    return "\n".join(line for line in text.splitlines() if not line.startswith("exec("))


def said_by(tests: HiddenTests, **names: Any) -> dict[int, set[str]]:
    """What is told where the tests are run."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "told")
        text = (tests.contract.asserts or "").replace(reported_comparisons.TOLD_PATH, path.as_posix())
        exec(compile(text, "<tests>", "exec"), names)
        found: dict[int, set[str]] = {}
        for line in path.read_text().splitlines() if path.exists() else []:
            place, _, said = line.partition(" ")
            found.setdefault(int(place), set()).add(said)
    return found


@pytest.mark.parametrize("named", [["pkg"], ["pkg/test_it.py"], ["pkg/test_it.py::T::test_it"], ["-q", "pkg"]])
def test_values_are_hidden_however_the_suite_names_its_tests(named: list[str]) -> None:
    """By their folder, their file, or one of them; in a helper beside them, too."""
    files = {
        "pkg/test_it.py": SUITE.format("self.assertEqual(f(1), 345)"),
        "pkg/helper.py": "def g():\n    assert f(2) == 345\n",
    }
    made = hidden_tests(contract(pytest=named, files=files))
    assert [place.is_certain for place in made.places.values()] == [True, False]
    assert all("345" not in own(text) for text in made.contract.files.values())
    assert ("test_it" in made.contract.files["pkg/test_it.py"]) is any("::" in word for word in named)


@pytest.mark.parametrize(
    "line",
    ["assert f(1) == 345", "assert 345 == f(1), 'said 345'", "assert f(-2) == -345", "assert f('ab') == 'x345'", "assert len(f([1])) == 345",
     "assert f(2.5) == 345.5", "assert sorted(f([1, 2])) == [1, 345]", "assert f({}) == {'a': [345, ()]}", "assert f(1) == 345  # 345",
     "'345'\n    assert f(1) == 345", "assert f(1) == 345 and f(2) == 3455", "e = 345\n    assert f(1) == e", "e = 345\n    r = f(1)\n    assert r == e, e"],
)  # fmt: skip
def test_no_copy_of_a_value_is_left(line: str) -> None:
    """Nor of a comment, a docstring or a message that may repeat it."""
    for text in (line.replace("\n    ", "\n") + "\n", CHECK.format(line.replace("f(", "candidate("))):
        made = hidden(text)
        assert made.places
        assert "345" not in own(made.contract.asserts or "")
        assert all(place.is_certain and place.is_judged for place in made.places.values())


@pytest.mark.parametrize(
    "line",
    ["self.assertEqual(f(1), 345)", "self.assertEqual(345, f(1), 'of 345')", "self.assertListEqual(f(1), [345])", "assert f(1) == 345",
     "with self.subTest(1):\n            self.assertEqual(f(1), 345)", "for n in (1, 2):\n            self.assertEqual(f(n), 345)",
     "self.assertTrue(f(1) == 345)", "self.assertIsNone(f(345 - 1))", "self.assertTrue(f(1))", "self.assertFalse(f(1))"],
)  # fmt: skip
def test_assertions_of_suites(line: str) -> None:
    """Each is a place that whoever passes has come to."""
    made = hidden_suite(line)
    assert [place.is_certain for place in made.places.values()] == [True]
    assert "345)" not in own(made.contract.files["test_it.py"])
    assert "test_it" not in made.contract.files["test_it.py"]


@pytest.mark.parametrize(
    ("above", "is_certain"),
    [("@mock.patch('builtins.print')", True), ("@unittest.mock.patch.object(helper, 'x', 5)", True), ("@pytest.mark.slow", True),
     ("@pytest.mark.timeout(5)", True), ("@pytest.mark.skip", False), ("@pytest.mark.skipif(helper.x, reason='')", False),
     ("@pytest.mark.xfail()", False), ("@unittest.skip('no')", False), ("@helper.twice", False), ("@patched", False)],
)  # fmt: skip
def test_decorators_that_run_a_test(above: str, is_certain: bool) -> None:
    """Whoever passes comes to its assertions."""
    text = SUITE.format("self.assertEqual(f(1), 345)").replace(
        "    def test_it(self)", f"    {above}\n    def test_it(self, *_)"
    )
    made = hidden_tests(contract(unittest=["test_it.py"], files={"test_it.py": text, "helper.py": ""}))
    assert [place.is_certain for place in made.places.values()] == [is_certain]


@pytest.mark.parametrize(
    "line", ["def g(x): return x", "g = lambda x: (yield x)", "class G:\n            def g(self): return 1"]
)
def test_what_functions_in_a_test_return_does_not_end_it(line: str) -> None:
    """Its assertions are come to."""
    assert [
        place.is_certain for place in hidden_suite(f"{line}\n        self.assertEqual(f(1), 345)").places.values()
    ] == [True]
    assert [
        place.is_certain for place in hidden_suite("self.assertEqual(f(1), 345)\n        return").places.values()
    ] == [False]


@pytest.mark.parametrize(
    ("text", "is_whole"),
    [("assert f(1) == 345\n", True), ("def check(c):\n    assert c(1) == 3 and not c(2)\ncheck(f)\n", True), ("s = f(1)\nassert 1 in s and 3 not in s\n", True),
     ("for n, e in T:\n    assert f(n) == e\n", False), ("assert f(1) == 3\nassert f(2) in (1, 2)\n", False), ("assert abs(f(1) - 1) < 0.1\n", False),
     ("assert f(1) == 3\nassert f(2) == g\n", False), ("assert f(1) == 3 and f(2) > 1\n", False), ("if f(1) != 2:\n    raise AssertionError\n", False),
     ("assert f(1) == 3\nassert math.isclose(f(2), 1.4142)\n", False), ("assert f(1) == 3\nassert round(f(2) - 1.4142, 3) == 0\n", False),
     ("assert f(1) == 3\nassert all(f(n) == e for n, e in [(2, 4)])\n", False), ("assert f(1) == 3\nassert f(2).startswith('ab')\n", False),
     ("assert f(1) == 3\nnp.testing.assert_allclose(f(2), 4)\n", False), ("def check(c):\n    assert c(1) == 345\n", False)],
)  # fmt: skip
def test_whether_all_judgements_are_hidden(text: str, is_whole: bool) -> None:
    """A table, a tolerance, several values, a name and a function that compares leave one to be read."""
    assert hidden(text).is_whole is is_whole


TABLED = {
    "a loop": "for n, e in [(1, 345), (2, 345)]:\n            self.assertEqual(f(n), e)",
    "a name of a table": "table = [(1, 345), (2, 345)]\n        for n, e in table:\n            with self.subTest(n=n, e=e):\n                assert f(n) == e, e",
    "a row": "for row in [{'n': 1, 'e': 345}, {'n': 2, 'e': 345}]:\n            assert f(row['n']) == row['e']",
    "the end of a row": "for row in [(1, 345), (2, 345)]:\n            assert f(*row[:-1]) == row[-1]",
    "items": "for n, e in {1: 345, 2: 345}.items():\n            assert f(n) == e",
    "two lists": "for i, (n, e) in enumerate(zip([1, 2], [345, 345])):\n            assert f(n) == e",
    "a function": "check(1, 345)\n        check(2, e=345)\ndef check(n, e):\n    assert f(n) == e",
    "a constant of the class": "assert f(1) == self.E\n        assert f(2) == self.ROWS['two'][0]\n    E = 345\n    ROWS = {'two': [345]}",
    "parameters": "pass\n@pytest.mark.parametrize('n, e', [(1, 345), pytest.param(2, 345, id='two')])\ndef test_more(n, e):\n    assert f(n) == e",
    "another file": "from helper import CASES\n        for n, e in CASES:\n            assert f(n) == e",
}  # fmt: skip
"""345 is expected twice"""
USED = {
    "in the call": "for n, e in [(1, 345)]:\n            assert f(e) == e",
    "in another way": "for n, e in [(1, 345)]:\n            assert f(n) == e and f(n) < e + 1",
    "after the loop": "for n, e in [(1, 345)]:\n            assert f(n) == e\n        print(e)",
    "in another loop": "table = [(1, 345)]\n        for n, e in table:\n            assert f(n) == e\n        print([e for n, e in table])",
    "changed": "table = [(1, 345)]\n        table.append((2, 4))\n        for n, e in table:\n            assert f(n) == e",
    "a row as a whole": "for row in [(1, 345)]:\n            assert f(*row) == row[1]",
    "a computed row": "for n, e in [(1, 345), g()]:\n            assert f(n) == e",
    "a function that is given away": "check(1, 345)\n        list(map(check, [2], [4]))\ndef check(n, e):\n    assert f(n) == e",
    "a parameter that a fixture has": "pass\n@pytest.mark.parametrize('e', [345])\ndef test_more(e): assert f(1) == e\n@pytest.fixture\ndef one(e): return e",
}  # fmt: skip


@pytest.mark.parametrize("name", TABLED)
def test_values_that_stand_elsewhere(name: str) -> None:
    """They are taken out where all that becomes of them is a comparison, each with a place of its own."""
    helper = "CASES = [(1, 345), (2, 345)]\n" if name == "another file" else ""
    files = {"test_it.py": SUITE.format(TABLED[name]), "helper.py": helper}
    made = hidden_tests(contract(pytest=["test_it.py"], files=files))
    assert not any("345" in own(text) for text in made.contract.files.values())
    assert [(place.value, place.is_certain, place.is_sure) for place in made.places.values()] == [(345, True, True)] * 2
    assert {place.test.rpartition("::")[2] for place in made.places.values()} <= {"test_it", "test_more"}


@pytest.mark.parametrize("name", USED)
def test_values_with_another_use_stay(name: str) -> None:
    """The tests would do something else without them."""
    made = hidden_suite(USED[name])
    assert "345" in own(made.contract.files["test_it.py"])
    assert not made.places


def test_a_table_tells_one_answer_for_each_row() -> None:
    """The order of right answers is not free, and an object chooses among others."""
    text = "for n, e in [(1, 10), (2, 20)]:\n    assert f(n) == e\n"
    tests = hidden(text)
    assert said_by(tests, f=lambda n: 10 * n) == {place: {each.told} for place, each in tests.places.items()}
    turned = said_by(tests, f=lambda n: 30 - 10 * n)
    assert all(turned[place] != {each.told} for place, each in tests.places.items())
    among = hidden_tests(contract(asserts=text), (), {0, 1})
    assert said_by(among, f=lambda n: 10 * n) == {0: {"#10"}, 1: {"#20"}}
    assert hidden_tests(contract(asserts=text), {1}).contract.asserts is not None
    assert "(1, 10), (2, 20)" in (hidden_tests(contract(asserts=text), {1}).contract.asserts or "")


@pytest.mark.parametrize(
    "text",
    ["with g(1):\n    assert f(1) == 345\n", "for n in (1, 2):\n    if f(0): break\n    assert f(n) == 345\n",
     "def check(c):\n    if c(0): skip()\n    assert c(1) == 345\ncheck(f)\n",
     "self.assertSetEqual(f(1), {345})\n",
     "import inspect\ndef g(): return 1\nx = inspect.getsource(g)\nassert f(x) == 345\n",
     "def met(c): return c()\nassert met(f) == 345\n", "assert (lambda: f(1))() == 345\n"],
)  # fmt: skip
def test_what_only_a_gold_can_tell(text: str) -> None:
    """Without one nobody knows whether a failure is forgiven, the statement is come to, a function of the tests
    answers as it would with the expected values, or an answer depends on the text of the tests."""
    (place,) = hidden(text).places.values()
    assert (place.is_certain, place.is_sure) == (True, False)


@pytest.mark.parametrize("around", ["if polars is not None:", "try:", "for n in g():"])
def test_a_test_that_may_not_be_defined_is_not_certain(around: str) -> None:
    """As where a package is missing."""
    after = "except ImportError:\n    pass\n" if around == "try:" else ""
    text = f"{around}\n    def test_a():\n        assert f(1) == 345\n{after}def test_b():\n    assert f(2) == 9\n"
    made = hidden_tests(contract(pytest=["test_it.py"], files={"test_it.py": text}))
    assert {place.value: place.is_certain for place in made.places.values()} == {345: False, 9: True}


def test_a_set_of_parameters_that_may_fail_is_not_certain() -> None:
    """A mark on one set is enough."""
    marked = "@pytest.mark.parametrize('n', [1, pytest.param(2, marks=pytest.mark.xfail)])\ndef test_a(n):\n    assert f(n) == 345\n"
    made = hidden_tests(contract(pytest=["test_it.py"], files={"test_it.py": "import pytest\n" + marked}))
    assert [place.is_certain for place in made.places.values()] == [False]


def test_membership_does_not_say_which_way_it_is() -> None:
    """The text is the same whether the item is expected to be there."""
    texts = [hidden(f"assert 1 {word} f(2)\n") for word in ("in", "not in")]
    assert texts[0].contract.asserts == texts[1].contract.asserts
    assert texts[0].places[0].told != texts[1].places[0].told
    assert said_by(texts[1], f=lambda x: [7]) == {0: {texts[1].places[0].told}}


@pytest.mark.parametrize(
    "text",
    ["if f(1):\n    assert f(1) == 345\n", "while f(1):\n    assert f(1) == 345\n", "for n in f(1):\n    assert f(n) == 345\n",
     "def check(c):\n    assert c(1) == 345\n", "def check(c):\n    if c(0):\n        return\n    assert c(1) == 345\ncheck(f)\n",
     "@once\ndef check(c):\n    assert c(1) == 345\ncheck(f)\n"],
)  # fmt: skip
def test_a_value_that_not_everybody_comes_to_is_hidden_and_not_demanded(text: str) -> None:
    """A right candidate may make the tests go another way."""
    (place,) = hidden(text).places.values()
    assert (place.is_certain, place.is_judged) == (False, True)


@pytest.mark.parametrize("loop", ["range(0)", "range(5, 2)", "[*f(0)]"])
def test_a_loop_that_may_have_no_turn_demands_nothing(loop: str) -> None:
    """Nobody comes to what is in it."""
    (place,) = hidden(f"for n in {loop}:\n    assert f(n) == 345\n").places.values()
    assert (place.is_certain, place.is_sure) == (False, False)


@pytest.mark.parametrize(
    "more",
    ["def test_it(self): self.assertEqual(f(2), 456)", "del test_it", "test_it = None",
     "def test_more(self): pass\nclass T(unittest.TestCase):\n    def test_it(self): pass"],
)  # fmt: skip
def test_a_test_whose_name_is_bound_again_demands_nothing(more: str) -> None:
    """It is not run."""
    suite = hidden_suite(f"self.assertEqual(f(1), 345)\n    {more}")
    assert not suite.places[0].is_certain
    assert hidden_suite("self.assertEqual(f(1), 345)\n    def test_more(self): pass").places[0].is_sure


@pytest.mark.parametrize(
    ("text", "is_certain"),
    [("{0}    assert c(1) == 2\n{0}    assert c(1) == 345\ncheck(f)\n", [False, True]),
     ("{0}    assert c(1) == 2\ncheck(f)\n{0}    assert c(1) == 345\n", [False, False])],
)  # fmt: skip
def test_of_several_by_one_name_the_last_is_run(text: str, is_certain: list[bool]) -> None:
    """Where nothing uses that name before."""
    found = hidden(text.format("def check(c):\n"))
    assert [place.is_certain for place in found.places.values()] == is_certain


@pytest.mark.parametrize(
    "text",
    ["class T(unittest.TestCase):\n    def test_a(self): self.assertEqual(f(1), 345)\n    def assertEqual(self, a, b): super().assertEqual(a.strip(), b)\n",
     "class T(unittest.TestCase):\n    def setUp(self): self.addTypeEqualityFunc(str, same)\n    def test_a(self): self.assertEqual(f(1), '345')\n",
     "class T(unittest.TestCase):\n    def test_a(self): self.assertEqual(f(1), [345])\n    def assertListEqual(self, a, b): pass\n",
     "from solution import TestCase\nclass T(TestCase):\n    def test_a(self): self.assertEqual(f(1), 345)\n",
     "from solution import TestCase\nclass Base(TestCase): pass\nclass T(Base):\n    def test_a(self): self.assertEqual(f(1), 345)\n",
     "from solution import Checker\nclass T(unittest.TestCase):\n    def test_a(self):\n        t = Checker()\n        t.assertEqual(f(1), 345)\n",
     "class T(unittest.TestCase):\n    def test_a(self): self.assertEqual(*f(1), 345)\n"],
)  # fmt: skip
def test_an_assertion_of_another_meaning_stays(text: str) -> None:
    """The tests have defined it themselves, it is a method of the candidate's, or 345 may be the message."""
    suite = f"import unittest\nfrom solution import f\n{text}"
    made = hidden_tests(contract(unittest=["test_it.py"], files={"test_it.py": suite}))
    assert (dict(made.places), "345" in made.contract.files["test_it.py"]) == ({}, True)


@pytest.mark.parametrize(
    "text",
    ["import unittest\nt = unittest.TestCase()\nt.assertEqual(f(1), 345)\n",
     "from unittest import TestCase\nclass Base(TestCase): pass\nclass T(Base):\n    def test_a(self):\n        def inner(n): self.assertEqual(f(n), 345)\n        inner(1)\n",
     "def check(case, n):\n    case.assertEqual(f(n), 345)\n"],
)  # fmt: skip
def test_an_assertion_of_unittest_is_known_by_its_object(text: str) -> None:
    """Made of its class, of one that derives from it, or given to a function."""
    assert [place.value for place in hidden(text).places.values()] == [345]


@pytest.mark.parametrize("line", ["x and check(1, 345)", "[check(n, 345) for n in f(0)]", "assert x or check(1, 345)"])
def test_a_call_within_another_expression_is_not_certain(line: str) -> None:
    """Nobody need come to what the function compares there."""
    text = f"def check(n, e):\n    assert f(n) == e\n{line}\ncheck(2, 678)\n"
    assert {place.value: place.is_certain for place in hidden(text).places.values()} == {345: False, 678: True}


LOOKED_AT = {
    "the name of a test": ("self.assertEqual(f(self._testMethodName), 'it')", "def test_it("),
    "its id": ("self.assertEqual(f(1), 'test_it.T.test_it')", "def test_it("),
    "documentation": ("'''One.'''\n        self.assertEqual(f(self.test_it.__doc__), 345)", "One."),
    "a variable by its name": ("e = 345\n        self.assertEqual(f(1), e)\n        self.assertEqual(eval('e + 1'), f(2))", "e = 345"),
    "a table by its name": ("CASES = [(1, 345)]\n        for n, e in CASES: self.assertEqual(f(n), e)\n        eval('CASES[0][1]')", "(1, 345)"),
}  # fmt: skip


@pytest.mark.parametrize("name", LOOKED_AT)
def test_what_tests_look_at_in_themselves_stays(name: str) -> None:
    """They judge it, or judge by it."""
    line, left = LOOKED_AT[name]
    assert left in hidden_suite(line).contract.files["test_it.py"]


def test_documentation_of_a_text_stays_its_documentation() -> None:
    """What tells the answers stands below it."""
    tree = ast.parse(hidden("'''One.'''\nassert f(__doc__) == 345\n").contract.asserts or "")
    assert ast.get_docstring(tree) == "One."


def test_a_variable_of_another_file_stays() -> None:
    """That file computes with it."""
    text = "from solution import f\nE = 345\ndef test_a(): assert f(1) == E\n"
    files = {"test_it.py": text, "test_more.py": "from test_it import E, f\ndef test_b(): assert f(2) == E + 1\n"}
    made = hidden_tests(contract(pytest=["test_it.py", "test_more.py"], files=files))
    assert "E = 345" in made.contract.files["test_it.py"]


def test_a_name_whose_value_is_taken_out_is_nobodys() -> None:
    """In asserts, one that the tests bind and never read would be the candidate's."""
    left = own(hidden("expected = 345\nassert f(1) == expected\n").contract.asserts or "")
    assert "expected" not in left


def test_what_the_tests_judge_by_is_no_message() -> None:
    """An argument `msg` of a mock's call or of a helper, and documentation that a candidate is to keep."""
    text = "sent.assert_called_with(msg='hi')\nself.assertFails(1, msg='empty')\nself.assertIn(1, f(1), msg='secret')\n"
    text += "@f\ndef one():\n    'One.'\ndef two():\n    'Two.'\ndef three():\n    'Three.'\nf(two)\nthree()\n"
    left = own(hidden(text).contract.asserts or "")
    assert [word in left for word in ("'hi'", "'empty'", "One.", "Two.", "secret", "Three.")] == [True] * 4 + [
        False
    ] * 2


@pytest.mark.parametrize("given", ["Raises(ValueError, f", "Warns(UserWarning, f", "RaisesRegex(ValueError, 'no', f"])
def test_what_an_assertion_gives_to_a_function_is_no_message(given: str) -> None:
    """It is called with that."""
    assert f"self.assert{given}, msg='')" in own(hidden(f"self.assert{given}, msg='')\n").contract.asserts or "")
    assert "secret" not in own(hidden("self.assertRaises(ValueError, msg='secret')\n").contract.asserts or "")


@pytest.mark.parametrize(
    "text",
    ["e = 0\ntry:\n    f(1)\nexcept ValueError as e:\n    assert 1 == e\n", "e = 0\nfrom solution import e\nassert 1 == e\n",
     "e = 0\nmatch f(1):\n    case e:\n        assert 1 == e\n", "e = 0\ndef e(): pass\nassert 1 == e\n"],
)  # fmt: skip
def test_a_name_that_is_bound_again_is_no_value(text: str) -> None:
    """By whatever statement."""
    assert "['told'](0, e)" in (hidden(text).contract.asserts or "")


def test_a_fixture_that_tests_ask_for_keeps_its_name() -> None:
    """Also where its name begins as that of a test does."""
    files = {
        "test_it.py": "import pytest\n@pytest.fixture\ndef test_room(): pass\ndef test_it(test_room): assert f(1) == 345\n"
    }
    left = hidden_tests(contract(pytest=["test_it.py"], files=files)).contract.files["test_it.py"]
    assert "def test_room(" in left


def test_what_is_nested_too_deeply_is_left_as_it_is() -> None:
    """It ends no job."""
    text = "assert f(1) == 345\nassert " + " + ".join(["f(1)"] * 2000) + " == 690000\n"
    made = hidden(text)
    assert (made.contract.asserts, dict(made.places), made.is_whole) == (text, {}, False)


def test_a_failure_that_the_tests_take_back_is_not_judged() -> None:
    """Their `try` decides."""
    (place,) = hidden("try:\n    assert f(1) == 1\nexcept AssertionError:\n    pass\n").places.values()
    assert (place.is_certain, place.is_judged) == (False, False)


@pytest.mark.parametrize(
    "text",
    ["assert f(1) in (1, 2)\n", "assert f(1) == 1 or f(1) == 2\n", "assert abs(f(1) - 1) < 0.1\n", "assert f(1) == g\n", "assert f(1) != 1\n",
     "assert f(1) == 1 == 1\n", "x = 1\nassert x\n", "assert 1 == 1\n", "assert f(1) == {**x}\n", "assert f(1) == [g]\n"],
)  # fmt: skip
def test_what_is_no_comparison_with_a_literal_stays(text: str) -> None:
    """Nothing is told of it."""
    made = hidden(text)
    assert not made.places
    assert ast.unparse(ast.parse(text)) in (made.contract.asserts or "")


def test_places_keep_their_numbers() -> None:
    """Whichever of them are shown, or have the value among others."""
    text = "from __future__ import annotations\nassert f(1) == 11\nassert f(2) == 22\nassert f(3) == 33\n"
    made = hidden_tests(contract(asserts=text), {0}, {1})
    assert "assert f(1) == 11" in (made.contract.asserts or "")
    assert made.places[1].told == "#22"
    assert made.places[0] == hidden(text).places[0]
    assert made.places[2] == hidden(text).places[2]


def test_what_tests_tell() -> None:
    """The right answer tells what is expected, another one something else, and an object that it is one."""
    text = "assert f(1) == 1\nassert f(1) == [1, 2.0]\nassert f(0)\nassert f(1) is True\nclass T:\n    def t(self):\n        assert f(5) == {1, 2}\nT().t()\n"
    tests = hidden(text)
    right = iter([True, [1.0, 2], [0], True, frozenset({2, 1})])
    assert said_by(tests, f=lambda x: next(right)) == {place: {each.told} for place, each in tests.places.items()}
    others = said_by(tests, f=lambda x: (1, 2))
    assert all(
        others[place] != {each.told} for place, each in tests.places.items() if each.value is not True or place != 2
    )
    assert said_by(tests, f=lambda x: [object()])[0] == {reported_comparisons.OPAQUE}


class Either:
    """Equals what it is told to."""

    def __init__(self, *values: Any) -> None:
        self.values = values

    def __eq__(self, other: object) -> bool:
        return other in self.values

    __hash__ = None  # type: ignore[assignment]


def test_an_object_chooses_one_of_many() -> None:
    """Who equals several of them equals none."""
    tests = hidden_tests(contract(asserts="assert f(1) == [3, 7]\n"), (), {0})
    assert said_by(tests, f=lambda x: Either([3, 7])) == {0: {tests.places[0].told}}
    assert said_by(tests, f=lambda x: Either([4, 7])) != {0: {tests.places[0].told}}
    both = sorted([9, siblings([3, 7]).index([3, 7])])
    assert said_by(tests, f=lambda x: Either([3, 7], siblings([3, 7])[9])) == {0: {"#{},{}".format(*both)}}
    assert said_by(tests, f=lambda x: 5) == {0: {"#"}}


@pytest.mark.parametrize(
    "value",
    [0, 8, -14, 2.5, 12.0, "Ab9", "x", "a12", [1, 2], {"a": [1, ()]}, ("x", 5), True, [True, "", False], 1234567890123,
     "user12", "z25", "A-99", ["zz9", 4], [1, 2, 3, 5, 9], {0, 1, 2}, [{3, 4}, "q"], -0.25, 3.14159, [True, 5], ["ab", 1.5]],
)  # fmt: skip
def test_a_value_does_not_stand_out_among_others(value: Any) -> None:
    """Each of them is among the same ones, in the same order, and they are of the same kinds."""
    found = siblings(value)
    assert value in found
    assert len({reported_comparisons.digest(each) for each in found}) == len(found)
    assert all(siblings(each) == found for each in found[:: max(1, len(found) // 20)])
    if not isinstance(value, bool) and value not in ("x", [True, "", False]):
        assert len(found) >= 256


def test_some_values_are_alone() -> None:
    """Nothing else is of their kind, or they are too long."""
    assert siblings(None) == siblings([]) == siblings("") == siblings(list(range(1000))) == siblings(b"ab") == []


@pytest.mark.parametrize("value", [[1, 2, 3, 5, 9], ["ab1", "cd2"], {"a": 5, "b": (7, 2.5)}, {3, 4, 5}])
def test_no_leaf_is_shown_by_choices(value: Any) -> None:
    """Each is another one in most of them, and its own value in few."""
    parts = [list(each.values()) if isinstance(each, dict) else sorted(each) for each in siblings(value)]
    for leaves in zip(*parts, strict=True):
        assert max(leaves.count(leaf) for leaf in leaves) <= len(leaves) / 20


@pytest.mark.parametrize("value", [2.5, 0.5, 12.0, -14.25, 3.14159, 1 / 3, 1e30, 99.9, [1.5, 2.25]])
def test_choices_of_floats_lie_far_apart(value: Any) -> None:
    """A comparison with a tolerance equals one of them."""
    found = [each[0] if isinstance(each, list) else each for each in siblings(value)]
    close = [
        other
        for other in found
        for mine in [value[0] if isinstance(value, list) else value]
        if math.isclose(mine, other, rel_tol=0.005)
    ]
    assert len(set(close)) == 1


plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=4) | st.binary(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.lists(inner, max_size=3).map(tuple) | st.dictionaries(st.integers(-2, 2) | st.booleans() | st.text(max_size=1), inner, max_size=3),
    max_leaves=6,
)  # fmt: skip


@given(plain)
def test_siblings_have_the_value_or_are_none(value: Any) -> None:
    """Whichever it is: a contract with such a value is scored."""
    found = [reported_comparisons.digest(each) for each in siblings(value)]
    assert not found or (reported_comparisons.digest(value) in found and len(set(found)) == len(found))


@given(st.from_regex(r"[a-zA-Z0-9 ]{0,4}[a-z0-9]{1,3}[0-9]{0,2}", fullmatch=True))
def test_texts_have_siblings(value: str) -> None:
    """Each ends with a letter or a digit."""
    assert value in siblings(value)


@given(plain, plain)
def test_equal_values_have_one_canonical_form(one: Any, other: Any) -> None:
    """And others have others."""
    assert (reported_comparisons.canonical(one) == reported_comparisons.canonical(other)) is (one == other)
    assert reported_comparisons.canonical(one) == reported_comparisons.canonical(one)


def test_standard_objects_have_the_form_of_the_plain_value_that_they_equal() -> None:
    """Whatever a candidate answers with; others have none."""
    equal: list[tuple[Any, Any]] = [
        (Counter("aab"), {"a": 2, "b": 1}), (Counter(), {}), (OrderedDict(a=[Fraction(4)]), {"a": [4]}),
        (Fraction(1, 2), 0.5), (Decimal("2.50"), 2.5), (Decimal(10) ** 30, 10**30), (3 + 0j, 3), (bytearray(b"a"), b"a"),
        ({1: 2}.keys(), {1}), ({1: 2}.items(), {(1, 2)}), ({}.keys(), set()),
    ]  # fmt: skip
    for one, other in equal:
        assert one == other
        assert reported_comparisons.canonical(one) == reported_comparisons.canonical(other)
    for odd in (Fraction(1, 3), Decimal("0.1"), Decimal("NaN"), 1j):
        with pytest.raises(TypeError):
            reported_comparisons.canonical(odd)


def test_canonical_forms_of_numbers_and_sets() -> None:
    """Numbers are alike that Python calls equal, and an order that says nothing is none."""
    assert reported_comparisons.canonical([True, 1.0, -0.0, {1, 2}]) == reported_comparisons.canonical(
        [1, 1, 0, frozenset({2, 1})]
    )
    assert reported_comparisons.canonical({1: 2, "a": 3}) == reported_comparisons.canonical({"a": 3, 1.0: 2})
    for one, other in ([(1,), [1]], ["1", 1], [b"1", "1"], [{}, set()], [[[], 1], [[1]]], [0.1, 0.1 + 1e-17 * 5]):
        assert reported_comparisons.canonical(one) != reported_comparisons.canonical(other)
    with pytest.raises(TypeError):
        reported_comparisons.canonical([object()])


def test_an_answer_that_cannot_read_a_choice_does_not_equal_it() -> None:
    """It may equal another one, and say so."""

    class Size:
        def __eq__(self, other: object) -> bool:
            return int(str(other).split()[0]) == 2048

        __hash__ = None  # type: ignore[assignment]

    assert reported_comparisons.chosen(Size(), ["no number", "2048 KB", "17 MB", ""]) == "#1"
