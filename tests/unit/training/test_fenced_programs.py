"""Programs of other languages than Python in what models write around them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from harena.scoring.formats.asked_names import asked_names
from harena.training.data.prompts import PromptRow
from harena.training.rewards import code_tests
from harena.training.rewards.code_tests import CodeTests
from harena.training.rollouts.scored import allowed_seconds
from harena.training.rollouts.trajectory import Candidate, Reward

JS = "console.log(1 + 1)\n"
SHELL = 'read -r a\necho "$a"\n'


def program(entry: str, answer: str) -> str:
    return CodeTests(extract="fenced", entry=entry).program(answer)


@pytest.mark.parametrize("entry", ["solution.js", "solution.mjs", "solution.cjs"])
@pytest.mark.parametrize("mark", ["js", "javascript", "JavaScript", "node", "nodejs", "mjs", "cjs", "jsx", ""])
def test_javascript_is_found_whatever_its_file_is_called(entry: str, mark: str) -> None:
    """Modules (.mjs) had no marks of their own: the whole answer was run, or what it said the program prints."""
    answer = f"<think>Two.</think>It reads:\n```\n1 2\n```\nThe program:\n```{mark}\n{JS}```\nIt prints:\n```\n2\n```\n"
    assert program(entry, answer) == JS


@pytest.mark.parametrize("entry", ["solution.sh", "solution.bash"])
@pytest.mark.parametrize("mark", ["sh", "bash", "zsh", "shell", "shellscript", "console", ""])
def test_a_script_is_found_and_no_session(entry: str, mark: str) -> None:
    """What is typed to try it, and what comes then, is no script."""
    tried = "Try it:\n```console\n$ echo 5 | bash solution.sh\n5\n```\n" if mark else "It prints:\n```\n5\n```\n"
    assert program(entry, f"The script:\n```{mark}\n{SHELL}```\n{tried}") == SHELL


@pytest.mark.parametrize(
    "run",
    [
        "bash solution.sh\n",
        "echo 2 3 | bash solution.sh\n",
        "chmod +x solution.sh\n./solution.sh < in.txt\n",
        "# try it\nsh ./solution.sh <<< 5",
    ],
)
def test_how_a_script_is_run_is_no_script(run: str) -> None:
    """It would call itself until no process can be made."""
    assert program("solution.sh", f"The script:\n```bash\n{SHELL}```\nRun it:\n```bash\n{run}```\n") == SHELL
    assert program("solution.sh", f"```bash\n{run}echo done\n```\n") == f"{run}echo done\n"


@pytest.mark.parametrize(
    ("entry", "mark", "text"),
    [
        ("a.pl", "perl", "print 1;\n"),
        ("a.pl", "", "print 1;\n"),
        ("a.rb", "ruby", "puts 1\n"),
        ("a.lua", "lua", "print(1)\n"),
        ("a.php", "php", "<?php echo 1;\n"),
    ],
)
def test_numbers_are_no_program_of_any_language(entry: str, mark: str, text: str) -> None:
    assert program(entry, f"Here:\n```{mark}\n{text}```\nOutput:\n```\n1\n```\n") == text


ASSERTS = "import math\nfor i in range(5):\n    assert dbl(i) == math.fsum((i, i))\n"


@pytest.mark.parametrize(
    "scoring",
    [
        {"type": "tests", "entry_point": "dbl", "checks": [{"args": [1], "expected": 2}]},
        {"type": "tests", "entry_point": "dbl.go", "checks": [{"args": [1], "expected": 2}]},
        {
            "type": "command",
            "asserts": "assert all(_candidate(i) == 2 * i for i in [1])",
            "calls": {"_candidate": "dbl"},
        },
        {"type": "command", "asserts": ASSERTS},
        {"type": "command", "asserts": "from solution import dbl\nassert dbl(1) == 2"},
        {"type": "command", "pytest": ["t.py"], "files": {"t.py": "from solution import dbl\ndef test(): dbl(1)\n"}},
        {"type": "command", "unittest": ["t.py"], "files": {"t.py": "import solution\nsolution.dbl(1)\n"}},
        {"type": "weighted", "parts": {"a": {"scoring": {"type": "command", "asserts": ASSERTS}}}},
    ],
)
def test_an_example_of_its_use_is_not_taken_in_place_of_a_program(scoring: dict[str, Any]) -> None:
    """Every contract that names what it calls says which block it is; chat models show how to use it at the end."""
    code = "def dbl(x):\n    return 2 * x\n"
    answer = f"Here:\n```python\n{code}```\nExample usage:\n```python\nprint(dbl(4))  # 8\n```\n"
    assert asked_names(scoring) == ["dbl"]
    assert CodeTests(extract="fenced").program(answer, asked_names(scoring)) == code


TEXT = {"type": "regex", "pattern": "a"}
JUDGE = {"type": "score_model", "model": "m", "messages": [{"role": "user", "content": "{{ sample.output_text }}"}]}


@pytest.mark.parametrize(
    "scoring",
    [
        TEXT,
        JUDGE,
        {"type": "weighted", "parts": {"a": {"scoring": TEXT}, "b": {"scoring": JUDGE}}},
        {"type": "python", "source": "def score(run):\n    return 1.0\n", "run_candidate": False},
    ],
)
async def test_a_contract_that_judges_texts_gets_all_of_one(
    monkeypatch: pytest.MonkeyPatch, scoring: dict[str, Any]
) -> None:
    """Else one clean block hid the rest from it, and an essay with an example was judged by the example alone."""
    seen: list[Candidate] = []

    async def judged(candidate: Candidate, judged_by: Mapping[str, Any], **options: Any) -> Reward:
        seen.append(candidate)
        return Reward(value=1.0)

    monkeypatch.setattr(code_tests, "judged", judged)
    said = "Recursion calls itself.\n```python\ndef f(n):\n    return f(n - 1)\n```\nEach call waits.\n"
    row = PromptRow(id="r", prompt="?", scoring=scoring)
    recipe = CodeTests(extract="fenced", deterministic=False)
    await recipe.reward(row, said)
    await recipe.reward(replace(row, scoring={"type": "stdio", "cases": [{"stdin": "", "stdout": ""}]}), said)
    assert seen == [said, "def f(n):\n    return f(n - 1)\n"]


CASES = [{"stdin": "", "stdout": ""}] * 12


@pytest.mark.parametrize(
    ("judged_by", "seconds"),
    [
        ({"scoring": {"type": "stdio", "cases": CASES}}, 10.0),
        ({"scoring": {"type": "stdio", "cases": CASES, "check_timeout_seconds": 4.0}}, 48.0),
        ({"scoring": {"type": "stdio", "cases": CASES * 9, "check_timeout_seconds": 4.0}}, 120.0),
        ({"scoring": {"type": "stdio", "cases": CASES, "check_timeout_seconds": 0.5}}, 10.0),
        ({"scoring": {"type": "command", "timeout_seconds": 60.0}}, 60.0),
        ({"scoring": {"type": "command", "timeout_seconds": 300.0}}, 300.0),
        ({"scoring": {"type": "command"}, "limits": {"timeout_seconds": 30.0}}, 30.0),
        ({"scoring": {"type": "tests", "checks": [{}] * 5, "check_timeout_seconds": None}}, 10.0),
        (
            {
                "scoring": {
                    "type": "weighted",
                    "parts": {"a": {"scoring": {"timeout_seconds": 20.0}}, "b": {"scoring": {}}},
                }
            },
            20.0,
        ),
    ],
)
def test_a_program_has_the_time_that_its_contract_allows(judged_by: dict[str, Any], seconds: float) -> None:
    """Where no parameter says less: else right programs earned 0 whose every case kept its limit."""
    assert allowed_seconds(judged_by, 10.0) == seconds


def test_a_contract_that_runs_the_whole_program_names_nothing() -> None:
    """Neither do asserts that cannot be read, or that use nothing of the candidate's."""
    assert asked_names({"type": "stdio", "cases": [{"stdin": "", "stdout": ""}]}) == []
    assert asked_names({"type": "command", "asserts": "assert ("}) == []
    assert asked_names({"type": "command", "asserts": "def f(a):\n    b = a\n    assert len([c for c in b])\n"}) == []


@pytest.mark.parametrize("text", ["1\n", "$ ls\n"])
def test_where_there_is_nothing_else_the_last_block_is_taken(text: str) -> None:
    assert program("a.js", f"Here:\n```\n{text}```\n") == text
