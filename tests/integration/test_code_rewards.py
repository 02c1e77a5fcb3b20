"""What code_tests_v1 gives for answers to rows of data sets, by real sandboxes."""

from __future__ import annotations

import json

import pytest

from harena.training.data.datasets import prompt_row_of
from harena.training.rewards.code_tests import CodeTests

pytestmark = pytest.mark.usefixtures("one_node")
METHOD = "class Solution:\n    def twice(self, x: int) -> int:\n        return 2 * x\n"
ROW = {
    "id": "c", "question": "Twice.", "starter_code": "class Solution:\n    def twice(self, x):\n",
    "input_output": json.dumps({"fn_name": "twice", "inputs": [[2], [3]], "outputs": [4, 6]}),
    "solutions": json.dumps([METHOD]),
}  # fmt: skip
USE = "\nFor instance:\n```python\nprint(Solution().twice(2))\n```\n"
BESIDE = "class Solution:\n    def double(self, x): return 2 * x\n\ndef twice(x): return Solution().double(x)\n"


@pytest.mark.parametrize(
    ("answer", "value"),
    [
        (f"```python\n{METHOD}```\n", 1.0),
        (f"```python\n{METHOD}```\n{USE}", 1.0),
        (f"```python\n{METHOD.replace('2 *', '3 *')}```\n{USE}", 0.0),
        (f"```python\n{BESIDE}```\n", 1.0),
        (f"```python\n{BESIDE.replace('2 *', '3 *')}```\n", 0.0),
        ("```python\ndef twice(x): return 2 * x\n```\n", 1.0),
    ],
)
async def test_a_method_of_solution_is_found_and_called(answer: str, value: float) -> None:
    """In the block that defines it, though another one shows its use; a function beside another class is that."""
    row = prompt_row_of(ROW, id="c")
    reward = await CodeTests(extract="fenced").reward(row, answer)
    assert reward.value == value, reward
