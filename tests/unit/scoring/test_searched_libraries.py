"""Which trusted texts give a tool a search path."""

from __future__ import annotations

import pytest

from harena.scoring.scorers.library_files import loaded_names


@pytest.mark.parametrize(
    "line",
    [
        "prove -lv t",
        "use FindBin;\n# perl",
        "PERL5LIB=. perl x",
        "perl -w -I lib x",
        "RUBYLIB=. ruby x",
        "rspec",
        "export LD_LIBRARY_PATH=/app/lib",
        "gcc -Wl,-rpath,lib x.c",
        "CPATH=include cc -c x.c\n#include <stdio.h>",
    ],
)
def test_a_search_path_is_seen(line: str) -> None:
    """By an option, a variable, or a line of the program."""
    assert loaded_names([line])


@pytest.mark.parametrize(
    "line", ["perl x.pl", "ruby x.rb", "prove t", "gcc -O2 x.c\n#include <a.h>", "python -I x.py", "gcc -I. x.c"]
)
def test_nothing_is_looked_for_without_one(line: str) -> None:
    """Nor for a compiler where no trusted text includes anything."""
    assert not loaded_names([line])
