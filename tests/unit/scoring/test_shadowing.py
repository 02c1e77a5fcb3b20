"""Names by which a candidate's file would stand in the place of a trusted one, for tools that are not Python."""

from __future__ import annotations

import pytest

from harena.scoring.scorers.make_rules import rules_of, working_anew
from harena.scoring.scorers.shadowing import shadowing, taking_no_part

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
        ("a.ok", {"Makefile": "test: a.ok\n\n%.ok: %.txt; sh check.sh && touch $@\n", "t.sh": "make test"}),
        ("prog/x", {"Makefile": "prog: prog.c\n\tcc -o prog prog.c\nCC := gcc\n", "t.sh": "make"}),
        ("main.o", {"Makefile": "prog: main.o\n\tcc -o prog main.o\n", "t.sh": "make prog"}),
        ("unit", {"Makefile": "test: unit\nunit:\n\tsh check.sh\n", "t.sh": "make test | grep 'up to date'"}),
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
        ("prog", {"Makefile": "prog: prog.c\n\tcc -o prog prog.c\nall:\n\ttrue\n", "t.sh": "make all"}),
        ("prog", {"Makefile": "prog: prog.c\n\tcc -o prog prog.c\nCC := gcc\n"}),
        ("out.txt", {"Makefile": "out.txt:\n\techo > $@\n", "t.sh": "make"}),
        ("test/a.py", {"Makefile": ".PHONY: test\ntest:\n\ttrue\n", "t.sh": "make"}),
        ("test/a.py", {"Makefile": "test:\n\ttrue\n", "t.sh": "make test"}),
        ("main.c", {"Makefile": "main.c:\nprog: main.c\n\tcc main.c -o prog\n", "t.sh": "make"}),
        ("prog.c", {"prog.h": ""}),
    ],
)
def test_what_is_a_candidates_own(path: str, files: dict[str, str]) -> None:
    """Another name, or a file that the rule itself makes."""
    assert path not in taking_no_part([path], files)


KINDS = """\
all: prog check
prog: a.o b.o ; $(CC) -o $@ $^
spec: ; pytest spec/
%.ok:
\tgrep x y
\ttouch $@
unit:
\tpython -m unittest unit
out.txt:
\techo x > $@
gen.txt: gen.py
\tpython gen.py gen.txt
build:
\tmkdir -p $@
t1 t2:
\t./run_case.sh $@
stamp: x
\t@touch $@
foo: CFLAGS = -O2
check.txt:
\tgrep -q 42 check.txt
data/%:
\tsh gen.sh $@
case.ok:
\tsh check.sh && echo ok > case.ok
"""


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        ("made", ["prog", "out.txt", "gen.txt", "build", "stamp", "data/%"]),
        ("stamp", ["%.ok", "case.ok"]),
        ("check", ["spec", "unit", "t1", "t2", "check.txt"]),
        ("", ["all"]),
    ],
)
def test_what_a_recipe_makes_is_read(kind: str, names: list[str]) -> None:
    """A check makes no file, and a stamp is made when a check has passed."""
    rules = rules_of(KINDS)
    assert {name for name in rules.targets if rules.kind(name) == kind} == set(names)


@pytest.mark.parametrize(
    ("text", "flags"),
    [
        ("make -s", r"-B --eval=$$(foreach\ f,$$(wildcard\ out.txt),$$(eval\ $$(f):\ private\ SHELL\ =\ true))"),
        ("make -s\nmake all", "--eval=.PHONY:check"),
        ("for a in 1 2; do make; done", "--eval=.PHONY:check"),
        ("make -q", None),
        ("make | grep 'up to date'", None),
        ("cmake .", None),
        ("# no\npython make.py", None),
    ],
)
def test_how_make_is_started(text: str, flags: str | None) -> None:
    """Each recipe is run where none is run twice."""
    makefile = "check: out.txt\n\tgrep -q 42 out.txt\nout.txt:\n\techo 1 > $@\n"
    assert working_anew({"Makefile": makefile}, [text]).get("GNUMAKEFLAGS") == flags


def test_a_long_makefile_is_read_quickly() -> None:
    """A text of many lines without rules takes no time that grows with its square."""
    assert rules_of("a b " * 20_000 + "\n" * 20_000).targets == {}
    assert shadowing({"GNUmakefile": "x" * 100_000}) == set()
