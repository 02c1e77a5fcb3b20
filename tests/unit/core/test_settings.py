from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from harena.core import settings

ROOT = Path(__file__).parents[3]
NAME = re.compile(r"HARENA_[A-Z_]+")
NOT_READ = {"HARENA_FAKE_EXEC", "HARENA_END", "HARENA_COMPLETE", "HARENA_HOST", "HARENA_SERVE_OPTIONS"}
"""words that only look like names of environment variables that harena reads: a mark that the fake runtime finds in
programs, the end of a program that a shell reads, a part of the one by which a shell asks to complete a word, and what
the files in deploy/ read, from which services are started"""


def constants(path: Path) -> Iterator[str]:
    """Texts of a Python file that are the name of a variable and nothing else."""
    source = path.read_text(encoding="utf-8")
    for node in ast.walk(ast.parse(source)) if NAME.search(source) else ():
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and NAME.fullmatch(node.value):
            yield node.value


def test_environment_variables_are_declared_in_one_place() -> None:
    """A variable that another module spells itself would be missing in the reference."""
    spelled = [
        f"{path.relative_to(ROOT)}: {name}"
        for path in sorted((ROOT / "src").rglob("*.py"))
        if path != Path(settings.__file__)
        for name in constants(path)
        if name not in NOT_READ
    ]
    assert spelled == []


def test_every_variable_that_a_text_names_exists() -> None:
    """Documentation and messages name variables that harena, or a test or benchmark that they speak of, reads."""
    known = {setting.name for setting in settings.SETTINGS}
    texts = [ROOT / "README.md", ROOT / "scripts/setup", *(ROOT / "docs").rglob("*.md"), *(ROOT / "src").rglob("*.py")]
    programs = [path for folder in ("tests", "benchmarks") for path in (ROOT / folder).rglob("*.py")]
    written = [path.read_text(encoding="utf-8") for path in texts]
    found = {name for text in written for name in NAME.findall(text)}
    assert found - known - NOT_READ <= {name for path in programs for name in constants(path)}
    assert [name for name in known if not any(name in text for text in written)] == []  # of other clients, too


def test_a_setting_is_read_when_it_is_needed() -> None:
    """None is told from an empty text, which switches some settings off."""
    assert settings.HOME.read({}) is None
    assert settings.TRAINING_ALIASES.read({"HARENA_TRAINING_ALIASES": ""}) == ""
