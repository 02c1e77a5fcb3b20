"""How much of a verifier's files is looked through."""

from __future__ import annotations

from harena.scoring.scorers.searched_texts import MOST_OF_SCRIPT, MOST_OF_TEXT, MOST_OF_VERIFIER, searched


def test_what_is_short_is_what_it_was() -> None:
    texts = {"test.sh": "x" * MOST_OF_SCRIPT, "a.json": "y" * MOST_OF_TEXT}
    assert searched(texts) is texts


def test_the_first_and_the_last_lines_of_a_long_one() -> None:
    """Whole lines, of a script fewer than of another file."""
    text = "begin\n" + "middle\n" * MOST_OF_TEXT + "end\n"
    found = searched({"test.sh": text, "a.py": text, "Makefile": text})
    for path, most in (("test.sh", MOST_OF_SCRIPT), ("a.py", MOST_OF_TEXT), ("Makefile", MOST_OF_SCRIPT)):
        lines = found[path].split("\n")
        assert most - 20 < len(found[path]) <= most
        assert (lines[0], lines[-2:], {*lines[1:-2]}) == ("begin", ["end", ""], {"middle"})


def test_one_line_that_is_too_long() -> None:
    found = searched({"test.sh": f"begin{'x' * MOST_OF_SCRIPT}end"})["test.sh"]
    assert len(found) == MOST_OF_SCRIPT
    assert found.startswith("beginx")
    assert found.endswith("xend")


def test_scripts_come_first_and_data_last() -> None:
    """All names stay, in their order."""
    long = "x\n" * MOST_OF_TEXT
    texts = {**{f"{number}.json": long for number in range(9)}, "a.py": long, "test.sh": long}
    found = searched(texts)
    assert list(found) == list(texts)
    assert sum(map(len, found.values())) <= MOST_OF_VERIFIER
    assert len(found["test.sh"]) > MOST_OF_SCRIPT - 10
    assert len(found["a.py"]) > MOST_OF_TEXT - 10
    assert found["0.json"]
    assert found["8.json"] == ""
