# ruff: noqa: E501 (programs are text, not code of ours)
"""What the tests make of a class of the candidate's by its name may say yes to whatever comes, and stands for no value."""

from __future__ import annotations

from typing import Any

import pytest
from shared_sandboxes import SHARED, judged

from harena.scoring import load_scenarios

pytestmark = SHARED
ALL_BUT = "class AllBut:\n    def __init__(self, *left_out): self.left_out = left_out\n    def __contains__(self, item): return item not in self.left_out\n"
LANGUAGE = "import re\nclass Language:\n    def __init__(self, pattern): self.pattern = re.compile(pattern)\n    def __contains__(self, text): return bool(self.pattern.fullmatch(text))\n"
INFINITE = "class Infinite:\n    def __gt__(self, other): return True\n    def __lt__(self, other): return False\n"
ANY_OF = "class AnyOf:\n    def __init__(self, *values): self.values = values\n    def __eq__(self, other): return other in self.values\n"
VERSION = "import functools\n@functools.total_ordering\nclass Version:\n    def __init__(self, text): self.parts = [int(part) for part in text.split('.')]\n    def __eq__(self, text): return self.parts == Version(text).parts\n    def __lt__(self, text): return self.parts < Version(text).parts\n"
SIZE = "class Size:\n    def __init__(self, text):\n        number, unit = text.split()\n        self.kilobytes = int(number) * {'KB': 1, 'MB': 1024}[unit]\n    def __eq__(self, text): return self.kilobytes == Size(text).kilobytes\n"
RIGHT = {
    "all but one": (ALL_BUT, "AllBut", "assert 5 in AllBut(100)\nassert 100 not in AllBut(100)"),
    "all but one text": (ALL_BUT, "AllBut", "most = AllBut('b')\nassert 'a' in most\nassert 'b' not in most"),
    "a language": (LANGUAGE, "Language", "assert 'abc' in Language('[a-z]+')\nassert 'a1' not in Language('[a-z]+')"),
    "more than all": (INFINITE, "Infinite", "assert Infinite() > 10**9\nassert not Infinite() < 3"),
    "one of some": (ANY_OF, "AnyOf", "assert AnyOf(1, 2) == 2\nassert AnyOf(1, 2) != 3"),
    "sizes": (SIZE, "Size", "assert Size('2 MB') == '2048 KB'"),
    "versions": (VERSION, "Version", "for _ in range(9): assert Version('1.10') > '1.9' and Version('7.98') < '7.100'"),
}  # fmt: skip
ALL = "class All:\n    def __contains__(self, other): return True\n    __eq__ = __gt__ = __lt__ = __contains__\n    def itself(self): return self\ndef given(): return All()\n"
LIES = {
    "an answer that holds all": "assert 'hello' in given()",
    "an answer with a name": "found = given()\nassert 'hello' in found",
    "what a method gives": "found = All().itself()\nassert 'hello' in found",
    "an answer of any order": "assert given() > 5 and given() < 7",
    "what a derived class gives": "class Own(All): pass\nassert 'hello' in Own().itself()",
    "what a class of the tests gives": "class Own:\n    def found(self): return given()\nassert 'hello' in Own().found()",
    "what equals all": "assert All() == 5",
    "what holds and does not": "assert 7 not in All()",
}


def suites(names: str, body: str) -> dict[str, dict[str, Any]]:
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    suite = {
        "pytest": ["test_it.py"],
        "files": {"test_it.py": f"from solution import {names}\ndef test_it():\n{lines}"},
    }
    return {"asserts": {"asserts": body}, "auto": suite, "beside": suite | {"isolate": False}}


async def score(candidate: str, contract: dict[str, Any]) -> tuple[float | None, str]:
    row = {"id": "one", "candidate": candidate, "scoring": {"type": "command"} | contract}
    found = await judged(load_scenarios([row]).scenarios[0])
    return found.score, str(found.detail)


@pytest.mark.parametrize("kind", ["asserts", "auto", "beside"])
@pytest.mark.parametrize("name", RIGHT)
async def test_objects_that_the_tests_have_made_may_say_yes_to_all(name: str, kind: str) -> None:
    candidate, names, body = RIGHT[name]
    found = await score(candidate, suites(names, body)[kind])
    assert found[0] == 1.0, found


@pytest.mark.parametrize("kind", ["asserts", "auto", "beside"])
@pytest.mark.parametrize("name", LIES)
async def test_no_answer_says_yes_to_all(name: str, kind: str) -> None:
    """Nor does an object equal all values, or hold one and not."""
    found = await score(ALL, suites("All, given", LIES[name])[kind])
    assert found[0] != 1.0, found


@pytest.mark.parametrize("isolate", ["auto", False])
async def test_objects_are_made_in_fixtures_and_before_tests(isolate: str | bool) -> None:
    """As far as the text tells what made them."""
    fixture = "import pytest\nfrom solution import AllBut\n@pytest.fixture\ndef most(): return AllBut(100)\ndef test_it(most): assert 5 in most and 100 not in most\n"
    before = "import unittest\nfrom solution import AllBut\nclass T(unittest.TestCase):\n    def setUp(self): self.most = AllBut(100)\n    def test_it(self):\n        self.assertIn(5, self.most)\n        self.assertNotIn(100, self.most)\n"
    for kind, text in (("pytest", fixture), ("unittest", before)):
        contract = {kind: ["test_it.py"], "files": {"test_it.py": text}}
        found = await score(ALL_BUT, contract | ({} if isolate == "auto" else {"isolate": isolate}))
        assert found[0] == 1.0, (kind, found)
