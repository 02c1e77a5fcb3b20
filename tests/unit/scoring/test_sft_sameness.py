"""When two programs count as one."""

from __future__ import annotations

import pytest

from harena.scoring.scenario import Candidate
from harena.scoring.verified_data.sameness import MOST_TOKENISED, program_key


def key(text: str, how: str = "normalized", path: str = "solution.py") -> str:
    return program_key(Candidate(files={path: text}, entry=path), how)


CODE = "def f(x):\n    return (x + 1)\n"


@pytest.mark.parametrize(
    "other",
    [
        "# adds\ndef f(x):  # one\n\n\n        return (x+1)\n\n",
        "def f( x ):\n\treturn (x  + 1)",
        "def f(x):\r\n    return (\r\n        x + 1  # one\r\n    )\r\n",
    ],
)
def test_comments_and_layout_are_not_seen(other: str) -> None:
    """Nor line ends; but character by character they differ."""
    assert key(other) == key(CODE)
    assert key(other, "exact") != key(CODE, "exact")


@pytest.mark.parametrize(
    "other",
    [
        "def f(y):\n    return (y + 1)\n",
        "def f(x):\n    return x + 1\n",
        'def f(x):\n    "adds"\n    return (x + 1)\n',
        "def f(x):\n    pass\nreturn (x + 1)\n",
    ],
)
def test_everything_else_is_seen(other: str) -> None:
    """Names, parentheses, docstrings, and what belongs to what."""
    assert key(other) != key(CODE)


def test_depth_counts_and_not_its_width() -> None:
    """What is in a block and what is behind it are two programs."""
    inside, behind = "if a:\n  b()\n  c()\n", "if a:\n  b()\nc()\n"
    assert key(inside) != key(behind)


@pytest.mark.parametrize(
    "text", ["x = '''", "def f(:\n  )", "    a\n  b\n", "ls  -l", "x = 1\n" + "#" * MOST_TOKENISED]
)
def test_what_is_no_python_is_compared_without_its_white_space(text: str) -> None:
    """Also programs that are too long to be cut into tokens."""
    assert key(f"\n{text}  \n\n") == key(text)
    assert key(text) != key(f"{text} more")


def test_other_files_are_compared_by_their_words() -> None:
    """Comments of other languages are not known."""
    assert key("ls   -l # all\n", path="a.sh") == key("ls -l  # all", path="a.sh")
    assert key("ls # a", path="a.sh") != key("ls # b", path="a.sh")


def test_the_entry_and_every_file_count() -> None:
    """The same text elsewhere is another program."""
    files = {"a.py": CODE, "b.py": "x = 1\n"}
    keys = {program_key(Candidate(files=given, entry=entry), "normalized") for given, entry in (
        (files, "a.py"), (files, "b.py"), ({"a.py": CODE}, "a.py"), ({"c.py": CODE}, "c.py"),
    )}  # fmt: skip
    assert len(keys) == 4
