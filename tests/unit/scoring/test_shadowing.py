"""Names by which a candidate's file would stand in the place of a trusted one, for tools that are not Python."""

from __future__ import annotations

import pytest

from harena.scoring.scorers.shadowing import phony_targets, shadowing, taking_no_part

NODE = {"check.js": "const a = require('./lib')\n", "lib/index.js": "", "data.json": "{}"}


@pytest.mark.parametrize(
    ("path", "files"),
    [
        ("lib.js", NODE),
        ("lib/package.json", NODE),
        ("lib", {"check.js": "require('./lib')", "lib.js": ""}),
        ("Same.pmc", {"Same.pm": ""}),
        ("want.h.gch", {"want.h": ""}),
        ("Check.class", {"Check.java": ""}),
        ("test", {"Makefile": "test:\n\tfalse\n"}),
        ("unit/a.py", {"Makefile": "test: unit\n\nunit: ; sh check.sh\n"}),
        ("GNUmakefile", {"Makefile": ""}),
    ],
)
def test_what_stands_in_a_trusted_files_place(path: str, files: dict[str, str]) -> None:
    """Tools would take it first, or not work at all."""
    assert path in taking_no_part([path], files)


@pytest.mark.parametrize(
    ("path", "files"),
    [
        ("data.js", NODE),
        ("lib/part.js", NODE),
        ("solution.js", {"solution.test.js": "require('./solution')"}),
        ("prog", {"Makefile": "prog: prog.c\n\tcc -o prog prog.c\nCC := gcc\n"}),
        ("out.txt", {"Makefile": "out.txt:\n\techo > $@\n"}),
        ("test/a.py", {"Makefile": ".PHONY: test\ntest:\n\ttrue\n"}),
        ("test/a.py", {"Makefile": "test:\n\ttrue\n", "test/b.py": ""}),
        ("main.c", {"Makefile": "main.c:\nprog: main.c\n\tcc main.c -o prog\n"}),
        ("prog.c", {"prog.h": ""}),
    ],
)
def test_what_is_a_candidates_own(path: str, files: dict[str, str]) -> None:
    """Another name, or a file that the rule itself makes."""
    assert path not in taking_no_part([path], files)


def test_a_long_makefile_is_read_quickly() -> None:
    """A text of many lines without rules takes no time that grows with its square."""
    assert phony_targets({"Makefile": "a b " * 20_000 + "\n" * 20_000}) == {}
    assert shadowing({"GNUmakefile": "x" * 100_000}) == set()
