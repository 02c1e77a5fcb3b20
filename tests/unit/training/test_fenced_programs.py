"""Programs of other languages than Python in what models write around them."""

from __future__ import annotations

import pytest

from harena.training.rewards.code_tests import CodeTests

JS = "console.log(1 + 1)\n"
SHELL = 'read -r a\necho "$a"\n'


def program(entry: str, answer: str) -> str:
    return CodeTests(extract="fenced", entry=entry).program(answer)


@pytest.mark.parametrize("entry", ["solution.js", "solution.mjs", "solution.cjs"])
@pytest.mark.parametrize("mark", ["js", "javascript", "JavaScript", "node", "nodejs", "mjs", "cjs", "jsx", ""])
def test_javascript_is_found_whatever_its_file_is_called(entry: str, mark: str) -> None:
    """Modules (.mjs) had no marks of their own: the whole answer was run, or what it said the program prints."""
    answer = f"<think>Two.</think>It reads:\n```\n1 2\n```\nThe program:\n```{mark}\n{JS}```\nIt prints:\n```\n2\n```\n"
    assert program(entry, answer) == JS


@pytest.mark.parametrize("entry", ["solution.sh", "solution.bash"])
@pytest.mark.parametrize("mark", ["sh", "bash", "zsh", "shell", "shellscript", "console", ""])
def test_a_script_is_found_and_no_session(entry: str, mark: str) -> None:
    """What is typed to try it, and what comes then, is no script."""
    tried = "Try it:\n```console\n$ echo 5 | bash solution.sh\n5\n```\n" if mark else "It prints:\n```\n5\n```\n"
    assert program(entry, f"The script:\n```{mark}\n{SHELL}```\n{tried}") == SHELL


@pytest.mark.parametrize(
    ("entry", "mark", "text"),
    [
        ("a.pl", "perl", "print 1;\n"),
        ("a.pl", "", "print 1;\n"),
        ("a.rb", "ruby", "puts 1\n"),
        ("a.lua", "lua", "print(1)\n"),
        ("a.php", "php", "<?php echo 1;\n"),
    ],
)
def test_numbers_are_no_program_of_any_language(entry: str, mark: str, text: str) -> None:
    assert program(entry, f"Here:\n```{mark}\n{text}```\nOutput:\n```\n1\n```\n") == text


@pytest.mark.parametrize("text", ["1\n", "$ ls\n"])
def test_where_there_is_nothing_else_the_last_block_is_taken(text: str) -> None:
    assert program("a.js", f"Here:\n```\n{text}```\n") == text
