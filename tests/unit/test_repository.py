"""The repository itself: its words, its documents, its one-command verbs and the rule about skipped tests."""

from __future__ import annotations

import ast
import json
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from harena.core.home import harena_home
from parsed_sources import tree_of

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

import check_docs  # noqa: E402
import no_skips  # noqa: E402

pytest_plugins = ["pytester"]

AVOIDED = {"manager", "helper", "helpers", "util", "utils", "common", "service", "services", "devbox"}
SOURCES = sorted((ROOT / "src").rglob("*.py"))


def our_names(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Names that we chose: of modules we define, not of what we call."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.lineno, node.name
        elif isinstance(node, ast.arg):
            yield node.lineno, node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.id


def words_of(name: str) -> set[str]:
    """`BlueprintStore_v2` -> {blueprint, store, v2}"""
    return {word.lower() for part in name.split("_") for word in re.findall(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])", part)}


def test_no_name_says_nothing() -> None:
    """A manager, a helper or a util could be anything; the house has a word for what it is."""
    empty = []
    for path in SOURCES:
        chosen = [(1, path.stem), *our_names(tree_of(path))]
        empty += [f"{path.relative_to(ROOT)}:{line}: {name}" for line, name in chosen if words_of(name) & AVOIDED]
    assert empty == []


def test_no_test_knows_the_home_of_its_user() -> None:
    """What another version of harena left there would decide whether a test passes."""
    user = Path.home() / ".local"
    assert not harena_home().is_relative_to(user)


def test_no_merge_was_left_half_done() -> None:
    """In the texts that tools do not parse."""
    marks = re.compile(r"^(<{7} |>{7} |={7}$)", re.MULTILINE)
    texts = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").rglob("*.y*ml")]
    assert len(texts) > 10
    assert [path.name for path in texts if marks.search(path.read_text(encoding="utf-8"))] == []


def test_words_are_found_in_every_style() -> None:
    """snake_case, CamelCase and abbreviations."""
    assert words_of("SandboxManager") == {"sandbox", "manager"}
    assert words_of("_http_util") == {"http", "util"}
    assert words_of("HTTPService") & AVOIDED == {"service"}
    assert words_of("community") & AVOIDED == set()


def test_every_suppressed_warning_gives_its_reason() -> None:
    """ruff finds a broad except, an unpickling, an exec; whoever knows better says why, behind it."""
    silent = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in SOURCES
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if re.search(r"# noqa: (BLE|S)\d+(, \w+)*\s*$", line)
    ]
    assert silent == []


def test_every_module_says_what_it_is() -> None:
    """The first lines of a file are its theory of operation."""
    silent = [str(path) for path in SOURCES if not ast.get_docstring(tree_of(path))]
    assert silent == []


def test_links_code_and_commands_in_the_documentation_are_right() -> None:
    """Links lead somewhere, Python compiles, make targets exist."""
    assert check_docs.check() == []


def test_wrong_documentation_is_found(tmp_path: Path) -> None:
    """A dead link, a dead anchor, a block that is no Python, a target that is none."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "Makefile").write_text("test:\n\ttrue\n")
    (tmp_path / "README.md").write_text(
        "# A title\n[good](#a-title) [dead](docs/none.md) [anchor](#none)\n```python\nif\n```\nRun `make nothing`.\n"
    )
    wrong = check_docs.check(tmp_path)
    assert [line.rpartition(":")[2].strip() for line in wrong] == [
        "docs/none.md does not exist",
        "no such heading",
        "invalid syntax",
        "the Makefile has no target nothing",
    ]


def test_names_of_what_is_not_in_the_repository_are_found(tmp_path: Path) -> None:
    """A page names a file, a module or a test that has moved or was never there. Files of users are left out."""
    module = tmp_path / "src/harena/store/sealing.py"
    module.parent.mkdir(parents=True)
    module.write_text("def seal(): ...\n")
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests/test_sealing.py").write_text("def test_it_seals(): ...\n")
    (tmp_path / "Makefile").write_text("test:\n\ttrue\n")
    right = "`store/sealing.py` `sealing.py` `harena.store.sealing.seal` `harena.score` `test_it_seals` `test_sealing`"
    wrong = "`store/other.py` `moved.py` `tests/test_none.py` `harena.store.sealing.open` `test_nothing`"
    for folder in ("explanation", "how-to"):
        (tmp_path / "docs" / folder).mkdir(parents=True)
        (tmp_path / "docs" / folder / "page.md").write_text(f"{right}\n{wrong} `solution.py` `my/own.py`\n")
    said = [line.partition("docs/")[2] for line in check_docs.check(tmp_path)]
    assert said == [
        "explanation/page.md:2: there is no file store/other.py",
        "explanation/page.md:2: there is no file moved.py",
        "explanation/page.md:2: there is no file tests/test_none.py",
        "explanation/page.md:2: there is no file solution.py",
        "explanation/page.md:2: there is no harena.store.sealing.open",
        "explanation/page.md:2: there is no test test_nothing",
        "how-to/page.md:2: there is no file store/other.py",
        "how-to/page.md:2: there is no file tests/test_none.py",
        "how-to/page.md:2: there is no harena.store.sealing.open",
    ]


def test_a_block_that_says_so_is_not_run(tmp_path: Path) -> None:
    """```python no-run needs what a reader's machine may not have."""
    (tmp_path / "page.md").write_text("```python no-run\nx\n```\n\n```python\ny\n```\n\n```text\nz\n```\n")
    assert [(block.text, block.is_run) for block in check_docs.blocks(tmp_path / "page.md")] == [
        ("x\n", False),
        ("y\n", True),
        ("z\n", False),
    ]


def test_a_block_that_continues_is_run_with_the_one_before(tmp_path: Path) -> None:
    """As one program whose lines are those of the page, so that a traceback names them."""
    page = "```python\na = 1\n```\n\nText.\n\n```python continues\nb = a\n```\n```python\nc\n```\n"
    (tmp_path / "page.md").write_text(page)
    first, second = check_docs.programs(tmp_path / "page.md")
    assert (first.line, first.is_long, second.text, second.is_long) == (1, True, "c\n", False)
    assert first.text.splitlines()[8 - first.line - 1] == "b = a"
    assert page.splitlines()[8 - 1] == "b = a"


def test_the_changelog_has_the_version_of_the_package_on_top() -> None:
    """Users read there what they have."""
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    headings = re.findall(r"^## \[(.+?)\]", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert headings[0] == "Unreleased" or headings[0] == version


def test_the_typescript_packages_have_the_version_of_the_python_package() -> None:
    """One document is the contract between them, and one changelog says what has changed."""
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    client, alias = (json.loads((ROOT / path / "package.json").read_text("utf-8")) for path in ("ts", "ts/runloop"))
    assert (client["version"], alias["version"], alias["peerDependencies"]["@harena/sdk"]) == (version,) * 3


def test_the_typescript_client_is_installed_from_whichever_registry_its_user_has() -> None:
    """npm writes the address of each package into the lock file unless it is told not to."""
    locked = json.loads((ROOT / "ts/package-lock.json").read_text(encoding="utf-8"))["packages"]
    assert len(locked) > 10
    assert [name for name, about in locked.items() if "resolved" in about] == []
    assert "dependencies" not in json.loads((ROOT / "ts/package.json").read_text(encoding="utf-8"))


def test_ci_does_not_leave_the_typescript_client_out() -> None:
    """`make test` does where there is no Node.js; CI fails there."""
    assert " TS=must " in (ROOT / ".ci/run").read_text(encoding="utf-8")
    assert "scripts/test-ts $(TS)" in (ROOT / "Makefile").read_text(encoding="utf-8")


def test_the_description_of_the_package_has_no_link_into_the_repository() -> None:
    """An index shows it, and whoever installs a wheel has no folder that such a link could lead into."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    links = re.findall(r"\]\(([^)]*)\)", (ROOT / project["readme"]).read_text(encoding="utf-8"))
    assert [link for link in links if not link.startswith("https://")] == []


def test_the_glossary_is_sorted_and_says_each_word_once() -> None:
    """A word that is explained twice has two meanings."""
    words = re.findall(r"^\*\*(.+?)\*\*", (ROOT / "docs/glossary.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert words
    assert words == sorted(set(words), key=str.lower)


def test_the_architecture_page_names_every_room() -> None:
    """The page is the map: what is in the house is on it."""
    rooms = {path.name for path in (ROOT / "src/harena").iterdir() if any(path.glob("*.py"))}
    page = (ROOT / "docs/explanation/architecture.md").read_text(encoding="utf-8")
    assert {room for room in rooms if not re.search(rf"^\s*{room}/", page, re.MULTILINE)} == set()


SKIPPING = """
    import pytest
    def test_one(): pytest.skip("capability:userns not here")
    @pytest.mark.xfail
    def test_two(): assert False
    def test_three(): pass
"""


def test_a_skip_fails_the_session_where_skips_are_counted(pytester: pytest.Pytester) -> None:
    """It is named, and the closing line still is pytest's own."""
    pytester.makepyfile(SKIPPING)
    (pytester.path / "allowed").write_text("# nothing\n")
    result = run_without_skips(pytester)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["*skips that are not allowed here*", "*::test_one"])
    assert "1 passed, 1 skipped, 1 xfailed" in result.outlines[-1]


def test_a_skip_with_a_reason_in_the_file_is_allowed(pytester: pytest.Pytester) -> None:
    """The pattern is matched with the whole id."""
    pytester.makepyfile(SKIPPING)
    (pytester.path / "allowed").write_text("*::test_one | cannot run here\n")
    assert run_without_skips(pytester).ret == pytest.ExitCode.OK


def test_a_file_that_is_skipped_as_a_whole_counts_too(pytester: pytest.Pytester) -> None:
    """importorskip at the top hides every test in it."""
    pytester.makepyfile("import pytest\npytest.importorskip('no_such_module')\ndef test_one(): pass\n")
    pytester.makepyfile(test_other="def test_two(): pass\n")
    (pytester.path / "allowed").write_text("")
    assert run_without_skips(pytester).ret == pytest.ExitCode.TESTS_FAILED


def test_an_allowed_skip_needs_a_reason(pytester: pytest.Pytester) -> None:
    """Otherwise nobody knows when it can go."""
    with pytest.raises(ValueError, match=r"line 2: 'tests/x.py::\*' has no reason"):
        no_skips.read_allowed("# comment\ntests/x.py::*\n")
    (pytester.path / "allowed").write_text("x\n")
    assert run_without_skips(pytester).ret == pytest.ExitCode.USAGE_ERROR


def run_without_skips(pytester: pytest.Pytester) -> pytest.RunResult:
    return pytester.runpytest_inprocess("-p", "no_skips", "-p", "no:asyncio", "--allowed-skips=allowed")


def test_the_skips_that_are_allowed_in_ci_have_reasons() -> None:
    """The file that .ci/run uses is one that the plugin accepts."""
    no_skips.read_allowed((ROOT / ".ci/allowed-skips").read_text(encoding="utf-8"))
