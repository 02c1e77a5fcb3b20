"""The reference says what the code does: generated pages are up to date, and no reason of an error is missing."""

from __future__ import annotations

import ast
import inspect
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import harena
from harena.core.reasons import ERROR_REASONS
from parsed_sources import tree_of

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

import reference  # noqa: E402
import reference_sdk  # noqa: E402

CODE = re.compile(r"[A-Z][A-Z_]+")
NAMED_TEST = re.compile(r"`(?:[^`]*\b)?(?:test_|Test|tests/|python -m benchmarks)[^`]*`")
PLACES = ("_MALFORMED", "_TOO_LONG", "_TOO_LARGE", "_REASONS")
"""constants of modules that hold reasons beside other things"""


@pytest.mark.parametrize("name", reference.PAGES)
def test_the_page_is_what_the_code_says(name: str) -> None:
    """`make reference` writes it anew."""
    assert (ROOT / "docs/reference" / name).read_text(encoding="utf-8") == reference.PAGES[name](), "make reference"


def test_every_verb_of_a_public_class_is_on_the_page() -> None:
    """Those with several signatures, too; what a class has from another public one is told there."""
    page = (ROOT / "docs/reference/sdk.md").read_text(encoding="utf-8")
    classes = [value for name in harena.__all__ if isinstance(value := getattr(harena, name), type)]
    verbs = {
        (kind.__name__, name)
        for kind in classes
        for name, verb in inspect.getmembers(kind, inspect.isroutine)
        if not name.startswith("_") and str(getattr(verb, "__module__", "")).startswith("harena")
        if (owner := verb.__qualname__.split(".")[0]) == kind.__name__ or owner not in harena.__all__
    }
    missing = {f"{kind}.{name}" for kind, name in verbs if f"### {kind}.{name}\n" not in page}
    assert ("Session", "function") in verbs
    assert {one for one in missing if one.rpartition(".")[2] not in reference_sdk.BETWEEN_MODULES} == set()


def test_every_command_that_is_named_exists() -> None:
    """In pages and in messages of the code: `harena GROUP COMMAND`."""
    heads = re.findall(r"^## harena (.*)$", (ROOT / "docs/reference/cli.md").read_text(encoding="utf-8"), re.M)
    commands = {tuple(head.split()) for head in heads}
    groups = {command[:length] for command in commands for length in range(1, len(command))}
    files = [*(ROOT / "src").rglob("*.py"), *(ROOT / "docs").rglob("*.md"), *ROOT.glob("*.md")]
    named = {
        (path.relative_to(ROOT), tuple(found.split()))
        for path in files
        for found in re.findall(r"`harena ((?:[a-z]+ ?)+)", path.read_text(encoding="utf-8"))
    }
    unknown = {
        (str(path), words)
        for path, words in named
        if words not in groups and not any(words[: len(command)] == command for command in commands)
    }
    assert len(named) > 50
    assert unknown == set()


def reasons(tree: ast.Module) -> Iterator[str]:
    """Reasons that a module raises: texts given as `reason=`, and constants that are given so by name."""
    constants = {
        target.id: node.value
        for node in tree.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for name in PLACES:
        yield from texts(constants.get(name))
    for node in ast.walk(tree):
        if isinstance(node, ast.keyword) and node.arg == "reason":
            value = constants.get(node.value.id) if isinstance(node.value, ast.Name) else node.value
            if isinstance(value, ast.Constant):
                yield from texts(value)


def texts(node: ast.expr | None) -> Iterator[str]:
    for each in ast.walk(node) if node is not None else ():
        if isinstance(each, ast.Constant) and isinstance(each.value, str) and CODE.fullmatch(each.value):
            yield each.value


def test_every_reason_of_an_error_is_explained() -> None:
    """And each that is explained is raised somewhere: in alphabetical order, each once."""
    raised = {
        reason
        for path in (ROOT / "src/harena").rglob("*.py")
        if "scoring/battery" not in str(path) and "testing" not in path.parts
        for reason in reasons(tree_of(path))
    }
    explained = [reason.code for reason in ERROR_REASONS]
    assert explained == sorted(set(explained))
    assert raised - set(explained) == set()
    everywhere = " ".join(path.read_text(encoding="utf-8") for path in (ROOT / "src/harena").rglob("*.py"))
    assert [code for code in explained if everywhere.count(f'"{code}"') < 2] == []


@pytest.mark.parametrize("name", sorted(path.name for path in (ROOT / "docs/explanation").glob("threat-model*.md")))
def test_every_promise_and_wall_of_the_threat_model_names_a_test(name: str) -> None:
    """Whatever tables promise is shown somewhere, or is said not to be held. That the tests are there is looked at by
    `scripts/check_docs.py`."""
    without, promises = [], False
    for line in (ROOT / "docs/explanation" / name).read_text(encoding="utf-8").splitlines():
        if not line.startswith("|"):
            promises = False
        elif line in ("| promise | test |", "| wall | made of |"):
            promises = True
        elif promises and not line.startswith(("|---", "| Not held: ")) and NAMED_TEST.search(line) is None:
            without.append(line[:100])
    assert without == []
