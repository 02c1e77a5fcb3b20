# ruff: noqa: E501 (programs are text, not code of ours)
"""Files of a candidate's that lie where a trusted command makes its own."""

from __future__ import annotations

from typing import Any

import pytest
from battery_world import Source
from real_sandboxes import source
from test_command_steps import scored

from harena.core.results import Validity

__all__ = ["source"]  # a fixture
pytestmark = pytest.mark.asyncio(loop_scope="module")

TEST = "import unittest, solution\\nclass T(unittest.TestCase):\\n    def test(self): self.assertEqual(solution.add(1, 2), 3)\\n"
REPORT = (
    "import json\nfrom solution import add\nassert add(1, 2) == 3\njson.dump({'ok': True}, open('report.json', 'w'))\n"
)
PATH = "import pathlib\nfrom solution import add\nif add(1, 2) == 3:\n    pathlib.Path('out.txt').write_text('PASS')\n"
COMMANDS: dict[str, tuple[Any, dict[str, str], dict[str, str]]] = {
    "a report": ("read w; python check.py; grep -q true report.json && echo harena-proof $w", {"check.py": REPORT}, {"report.json": '{"ok": true}\n'}),
    "by a path": (["bash", "run.sh"], {"run.sh": "read w\npython check.py </dev/null\n[ \"$(cat out.txt)\" = PASS ] && echo harena-proof $w\n", "check.py": PATH}, {"out.txt": "PASS"}),
    "a package by the name of a written test": (f"read w; printf '{TEST}' > test_it.py; python -m unittest -q test_it </dev/null && echo harena-proof $w", {}, {"test_it/__init__.py": "import unittest\nclass T(unittest.TestCase):\n    def test(self): pass\n"}),
    "by a script's here-document": (["bash", "run.sh"], {"run.sh": f"read w\ncat > test_it.py <<'E'\n{TEST}E\npython -m unittest -q test_it </dev/null && echo harena-proof $w\n".replace("\\n", "\n")}, {"test_it/__init__.py": "import unittest\nclass T(unittest.TestCase):\n    def test(self): pass\n"}),
}  # fmt: skip
RIGHT, WRONG = "def add(a, b):\n    return a + b\n", "def add(a, b):\n    return a - b\n"


@pytest.mark.parametrize("name", COMMANDS)
async def test_what_was_prepared_stands_for_nothing(source: Source, name: str) -> None:
    """Each was paid, whatever the program did."""
    command, files, prepared = COMMANDS[name]
    result = await scored(source, {"solution.py": WRONG, **prepared}, command, files)
    assert (result.score, result.validity) == (0.0, Validity.VALID), result.detail


@pytest.mark.parametrize("name", COMMANDS)
async def test_who_leaves_such_files_and_is_right_is_paid(source: Source, name: str) -> None:
    command, files, prepared = COMMANDS[name]
    for theirs in ({}, prepared):
        result = await scored(source, {"solution.py": RIGHT, **theirs}, command, files)
        assert (result.score, result.validity) == (1.0, Validity.VALID), result.detail


async def test_a_file_that_its_program_needs_stays(source: Source) -> None:
    """Also where the trusted part writes it afterwards."""
    theirs = {"solution.py": f"import json\njson.load(open('report.json'))\n{RIGHT}", "report.json": "{}"}
    command, files, _ = COMMANDS["a report"]
    result = await scored(source, theirs, command, files)
    assert (result.score, result.validity) == (1.0, Validity.VALID), result.detail
