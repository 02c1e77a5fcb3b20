"""Answers to prompts that are the beginning of a program."""

from __future__ import annotations

import pytest
from data_set_rows import HUMANEVAL, only

from harena.scoring.formats.continuing import continued, has_solution_class, whole_prompt
from harena.training.data.imported_rows import ProgramForm
from harena.training.rewards.code_tests import CodeTests

HEAD = "from typing import List\n\ndef f(xs: List[int]) -> int:\n"
PROMPTS = [
    HEAD + '    """Sums."""\n',
    HEAD + "    # sums\n",
    HEAD + "    # sums\n    ",
    HEAD,
    HEAD + "\n\n",
    HEAD + "\t# sums\n",
    "from typing import List\nclass A:\n    pass\n\ndef f(xs: List[int]) -> int:\n    total = 0\n    for x in xs:\n",
]
WHOLE = "def f(xs: List[int]) -> int:\n    return sum(xs)\n"


def sums(program: str) -> None:
    names: dict[str, object] = {}
    exec(compile(program, "<program>", "exec", dont_inherit=True), names)
    assert names["f"]([1, 2]) == 3  # type: ignore[operator]


@pytest.mark.parametrize("prompt", PROMPTS)
@pytest.mark.parametrize(
    "code",
    [
        WHOLE,
        "\n" + WHOLE,
        "from __future__ import annotations\n" + WHOLE,
        "from __future__ import annotations; import math\n" + WHOLE,
        "from __future__ import (annotations)\n" + WHOLE,
        "from __future__ import (\n    annotations,\n    division,\n)\n" + WHOLE,
        "from __future__ import annotations as _\n" + WHOLE,
        "# all of it\n" + WHOLE,
    ],
)
def test_the_whole_once_more_keeps_what_the_prompt_imports(prompt: str, code: str) -> None:
    """Whether the prompt's function has a docstring, a comment, or nothing at all."""
    sums(continued(prompt, code, is_rest=False))


@pytest.mark.parametrize("prompt", [PROMPTS[0], PROMPTS[1], PROMPTS[3]])
@pytest.mark.parametrize("code", ["    return sum(xs)\n", "\n    return sum(xs)\n", "# adds\n    return sum(xs)\n"])
def test_a_block_whose_code_is_indented_is_the_rest(prompt: str, code: str) -> None:
    """Empty lines and comments before it say nothing of that."""
    sums(continued(prompt, code, is_rest=False))


def test_imported_and_rewarded_answers_are_continued_alike() -> None:
    """A fenced block that names what only the prompt imports."""
    answer = f"Here:\n```python\n\n{WHOLE}```\n"
    row = {**HUMANEVAL, "prompt": PROMPTS[1], "entry_point": "f", "test": "def check(c):\n    assert c([1, 2]) == 3\n"}
    program = only([row], candidates=[{"task_id": HUMANEVAL["task_id"], "completion": answer}]).candidate.source
    assert program == CodeTests(extract="fenced").program(answer, ["f"], ProgramForm(prefix=PROMPTS[1]))
    sums(program)


def test_a_prompt_that_is_no_python_is_left_out() -> None:
    """Prose, for instance."""
    assert whole_prompt("Write f(x)!") == ""
    assert continued("Write f(x)!", WHOLE, is_rest=False) == WHOLE


def test_a_class_that_a_docstring_names_is_none() -> None:
    """A function after it was looked for in a class that is not there."""
    assert not has_solution_class('"""notes\nclass Solution: is not used\n"""\ndef f(): ...\n', "f")
    assert has_solution_class('"""notes\nclass Solution: is used\n"""\nclass Solution:\n    def f(self): ...\n', "f")
    assert has_solution_class("class Solution(object):\n    def f(self): ...\n", "f")


def test_a_function_beside_a_class_of_other_methods_is_called_itself() -> None:
    """A program that has it both ways is asked for the method, as the data sets' graders do."""
    helper = "class Solution:\n    def g(self): ...\n"
    assert not has_solution_class(helper + "def f(): ...\n", "f")
    assert has_solution_class(helper + "    def f(self): ...\ndef f(): ...\n", "f")
    assert has_solution_class(helper + "x = '''\ndef f(): ...\n'''\n", "f")
    assert has_solution_class(helper, "f")
