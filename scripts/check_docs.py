"""Check the documentation: links lead somewhere, Python blocks compile, and what it names in the repository exists:
`make` targets, files, modules and tests.

    python scripts/check_docs.py        prints what is wrong, one a line, and exits with 1 if anything is

The Python blocks themselves are run by tests/integration/test_documented_code.py, each in a fresh process, except those
that say ```python no-run. One that says ```python continues is run in the process of the block before it.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
_LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)|!\[[^\]]*\]\(([^)\s]+)\)")
_FENCE = re.compile(r"^```(.*)$")
_FOLDERS = ("src", "tests", "docs", "scripts", "benchmarks", "examples")
_FILE = re.compile(r"`((?:[\w.-]+/)*[\w-]+\.(?:py|c|h))`")
_MODULE = re.compile(r"`harena((?:\.\w+)+)`")
_TEST = re.compile(r"`(test_\w+)`")
_ABOUT_THE_CODE = ("explanation", "decisions")
"""folders whose pages name files of the repository also without their folder; others speak of files of users, too"""
_MAKE = re.compile(r"`make ([a-z-]+)`|^\s*(?:\$ )?make ([a-z-]+)\s*(?:#.*)?$")


@dataclass(frozen=True)
class Block:
    """A fenced block: where, in which language, with which words behind it."""

    path: Path
    line: int
    language: str
    words: tuple[str, ...]
    text: str
    is_long: bool = False
    """It is several blocks."""

    @property
    def is_run(self) -> bool:
        """Tests run it."""
        return self.language == "python" and "no-run" not in self.words


def programs(path: Path) -> list[Block]:
    """Blocks that tests run, each with those that continue it; lines are those of the file."""
    found: list[Block] = []
    for block in blocks(path):
        if block.is_run and "continues" in block.words and found:
            first = found[-1]
            between = "\n" * (block.line - first.line - first.text.count("\n"))
            found[-1] = replace(first, text=first.text + between + block.text, is_long=True)
        elif block.is_run:
            found.append(block)
    return found


def documents(root: Path = ROOT) -> list[Path]:
    """Every Markdown file that people are meant to read."""
    return sorted([*root.glob("*.md"), *(root / "docs").rglob("*.md")])


def blocks(path: Path) -> Iterator[Block]:
    """The fenced blocks of a file."""
    start, head = 0, ""
    lines: list[str] = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        fence = _FENCE.match(line)
        if fence and start:
            words = head.split()
            yield Block(path, start, words[0] if words else "", tuple(words[1:]), "\n".join(lines) + "\n")
            start = 0
        elif fence:
            start, head, lines = number, fence[1], []
        elif start:
            lines.append(line)


def headings(path: Path) -> set[str]:
    """The anchors that a forge makes of the headings."""
    found = set()
    fenced = False
    for line in path.read_text(encoding="utf-8").splitlines():
        fenced ^= line.startswith("```")
        if line.startswith("#") and not fenced:
            title = line.lstrip("#").strip().lower()
            found.add(re.sub(r"[^\w\- ]", "", title).replace(" ", "-"))
    return found


def check_links(path: Path) -> Iterator[str]:
    """Relative links and anchors; the network is not asked."""
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        for match in _LINK.finditer(line):
            target = match[1] or match[2]
            if re.match(r"[a-z]+:", target):
                continue
            name, _, anchor = target.partition("#")
            file = (path.parent / name).resolve() if name else path
            if not file.exists():
                yield f"{path}:{number}: {target} does not exist"
            elif anchor and file.suffix == ".md" and anchor not in headings(file):
                yield f"{path}:{number}: {target}: no such heading"


def check_code(path: Path) -> Iterator[str]:
    """Python blocks are Python."""
    for block in blocks(path):
        if block.language == "python":
            try:
                compile(block.text, f"{path}:{block.line}", "exec")
            except SyntaxError as error:
                yield f"{path}:{block.line + (error.lineno or 0)}: {error.msg}"


def check_targets(path: Path, makefile: str) -> Iterator[str]:
    """`make` targets exist."""
    known = set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        for match in _MAKE.finditer(line):
            target = match[1] or match[2]
            if target not in known:
                yield f"{path}:{number}: the Makefile has no target {target}"


class Repository:
    """Names that documentation may refer to: files, modules with what they define, and tests."""

    def __init__(self, root: Path) -> None:
        self._package = root / "src" / "harena"
        self._files = {
            f"/{path.relative_to(root)}"
            for folder in _FOLDERS
            for path in (root / folder).rglob("*.*")
            if "__pycache__" not in path.parts
        }
        self._rooms = {path.name for path in self._package.glob("*/")}
        places = (root / "tests", self._package / "testing")
        tests = (path.read_text(encoding="utf-8") for place in places for path in place.rglob("*.py"))
        self._tests = {name for text in tests for name in re.findall(r"def (test_\w+)", text)}
        self._tests |= {Path(name).stem for name in self._files}

    def has_file(self, name: str, *, bare: bool) -> bool:
        """A path from any folder on; a name without a folder is looked for where `bare` is given."""
        first, slash, _ = name.partition("/")
        ours = first in (*_FOLDERS, *self._rooms) if slash else bare
        return not ours or any(path.endswith(f"/{name}") for path in self._files)

    def has_module(self, dotted: str) -> bool:
        """`.store.sealing.seal`: a module, or a name that stands in one. What is no room's is a public name."""
        names = dotted.strip(".").split(".")
        if names[0] not in self._rooms:
            return True
        place = self._package
        while names and (place / names[0]).is_dir():
            place /= names.pop(0)
        module = place / "__init__.py"
        if names and (place / f"{names[0]}.py").exists():
            module = place / f"{names.pop(0)}.py"
        text = module.read_text(encoding="utf-8")
        return all(re.search(rf"\b{name}\b", text) for name in names)

    def has_test(self, name: str) -> bool:
        """A test function, or a file of tests."""
        return name in self._tests


def check_names(path: Path, repository: Repository) -> Iterator[str]:
    """Files, modules and tests exist."""
    bare = path.parent.name in _ABOUT_THE_CODE
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        for name in _FILE.findall(line):
            if not repository.has_file(name, bare=bare):
                yield f"{path}:{number}: there is no file {name}"
        for name in _MODULE.findall(line):
            if not repository.has_module(name):
                yield f"{path}:{number}: there is no harena{name}"
        for name in _TEST.findall(line):
            if bare and not repository.has_test(name):
                yield f"{path}:{number}: there is no test {name}"


def check(root: Path = ROOT) -> list[str]:
    """Everything that is wrong."""
    makefile = (root / "Makefile").read_text(encoding="utf-8")
    repository = Repository(root)
    wrong: list[str] = []
    for path in documents(root):
        wrong += [*check_links(path), *check_code(path), *check_targets(path, makefile), *check_names(path, repository)]
    return wrong


def main() -> int:
    """Print and count."""
    wrong = check()
    for line in wrong:
        sys.stderr.write(line.replace(f"{ROOT}/", "") + "\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
