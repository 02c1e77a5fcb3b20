"""Each printed snippet is run by a test that names its line, here or elsewhere."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from printed_snippets import ELSEWHERE, SEEDS, snippets

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/reference/seeds.md"
_NAMES = {"AVIATO": SEEDS[0], "COREWEAVE": SEEDS[1], "RUNLOOP": SEEDS[2]}


def lines_that_tests_name() -> dict[tuple[str, int], str]:
    """(seed, line) -> the test whose name has that line."""
    found = {}
    for file, seed in zip(("test_aviato.py", "test_coreweave.py", "test_runloop.py"), SEEDS, strict=True):
        for part in ast.parse((Path(__file__).parent / file).read_text()).body:
            if isinstance(part, ast.FunctionDef) and part.name.startswith("test_line"):
                for line in re.findall(r"_(\d+)(?=_)", part.name):
                    found[seed, int(line)] = f"tests/seeds/{file}::{part.name}"
    return found


def test_each_snippet_is_run() -> None:
    """By one test, of this folder or of another one."""
    printed = {(seed, line) for seed in SEEDS for line in snippets(seed)}
    ways = [set(lines_that_tests_name()), set(ELSEWHERE)]
    assert set().union(*ways) == printed
    assert sum(map(len, ways)) == len(printed)
    for test in ELSEWHERE.values():
        file, _, name = test.partition("::")
        assert (f"def {name}(" if name else "rft-epoch-42-reward-signals") in (ROOT / file).read_text()


@pytest.mark.parametrize("seed", SEEDS)
def test_the_page_says_the_same(seed: str) -> None:
    """The page of seeds has a row for each line, with its test."""
    rows = set(PAGE.read_text().splitlines())
    tests = {**lines_that_tests_name(), **ELSEWHERE}
    for line in snippets(seed):
        assert f"| {seed} | {line} | `{tests[seed, line]}` |" in rows
