"""Lines of a trusted command that its candidate can arrange an answer for are told by a calibration."""

from __future__ import annotations

import pytest

from harena.scoring import load_scenarios
from harena.scoring.calibration import Calibration
from harena.scoring.scorers.weak_lines import weak_lines

WEAK = {
    "an expectation that is made": (
        "read w\npython gold.py > want.txt\npython solution.py > got.txt\ncmp got.txt want.txt && echo harena-proof $w",
        "line 2 of check.sh makes want.txt before the candidate runs, and line 4 uses it later",
    ),
    "a size": (
        'read w\npython solution.py > out\ndiff out expected.txt > log\n[ -s log ] || echo "harena-proof $w"',
        "line 4 of check.sh asks only whether log is there, or for its size or time",
    ),
    "existence": (
        "read w\npython tool.py solution.py 2> errors\nif [ ! -e errors ]; then echo harena-proof $w; fi",
        "line 3 of check.sh asks only whether errors is there",
    ),
    "an exported word": (
        "read w\nexport w\npython solution.py && echo harena-proof $w",
        "line 2 of check.sh puts the proof word into the environment",
    ),
    "a word for node": (
        'read w\nnode check.js "$w" || true',
        "line 2 of check.sh makes the proof word an argument of node",
    ),
    "tests in the candidate's process": (
        "read w\npython -m pytest -q test_it.py </dev/null && echo harena-proof $w",
        "line 2 of check.sh runs the candidate in the process whose exit code it asks for",
    ),
    "tests behind set -e": (
        "read w; set -e; python3 -B -m unittest -q test_it\necho harena-proof $w",
        "line 1 of check.sh runs the candidate in the process whose exit code it asks for",
    ),
    "words of a test": (
        'read w\nx=$(python solution.py)\n[ $x = 7 ] || exit 1\necho "harena-proof $w"',
        "line 3 of check.sh takes what the candidate prints for words of `[ ]`",
    ),
    "words of a test, by a program": (
        "read w\nif [ $(python solution.py < in.txt) = 42 ]; then echo harena-proof $w; fi",
        "line 2 of check.sh takes what the candidate prints for words of `[ ]`",
    ),
    "words of a test, by a file": (
        "read w\npython solution.py > out.txt\ntest 42 -eq `cat out.txt` && echo harena-proof $w",
        "line 3 of check.sh takes what the candidate prints for words of `[ ]`",
    ),
    "a pattern of a comparison": (
        "read w\nx=$(python solution.py)\n[[ 7 == $x ]] && echo harena-proof $w",
        "line 3 of check.sh takes what the candidate prints for a pattern, on the right",
    ),
    "a pattern of grep": (
        'read w\nx=$(python solution.py)\necho 7 | grep -qx "$x" && echo harena-proof $w',
        "line 3 of check.sh takes what the candidate prints for a pattern of grep",
    ),
    "a pattern of grep, by a program": (
        'read w\ngrep -q "$(python solution.py)" want.txt && echo harena-proof $w',
        "line 2 of check.sh takes what the candidate prints for a pattern of grep",
    ),
    "patterns of a file": (
        "read w\npython solution.py > out.txt\ngrep -qf out.txt want.txt && echo harena-proof $w",
        "line 3 of check.sh takes the lines of out.txt, which the candidate has written, for patterns",
    ),
}
STRONG = {
    "a comparison": "read w\npython solution.py < in.txt > out.txt\ncmp out.txt expected.txt && echo harena-proof $w",
    "a comparison of what is made later": (
        "read w\npython solution.py > out\npython gold.py > want\ncmp out want && echo harena-proof $w"
    ),
    "what the candidate makes": "read w\npython solution.py\n[ -s report.txt ] && echo harena-proof $w",
    "a program that is compared": 'read w\n[ "$(python solution.py)" = 42 ] && echo harena-proof $w',
    "a variable that is compared": 'read w\nx=$(python solution.py)\n[ "$x" = 42 ] && echo harena-proof $w',
    "a number of lines": "read w\npython solution.py > o\n[ $(wc -l < o) = 3 ] && echo harena-proof $w",
    "a number of lines, behind a pipe": "read w\n[ $(python solution.py | wc -l) = 3 ] && echo harena-proof $w",
    "an exit code": "read w\npython solution.py > o\nr=$?\n[ $r = 3 ] && cmp o want && echo harena-proof $w",
    "what is expected, without quotes": 'read w\nx=$(cat want)\n[ $x = "$(python solution.py)" ] && echo $w',
    "a pattern of the authors": "read w\n[[ $(python solution.py) == 4* ]] && echo harena-proof $w",
    "quotes around a pattern": 'read w\nx=$(python solution.py)\n[[ 7 == "$x" ]] && echo harena-proof $w',
    "a pattern of grep of the authors": "read w\npython solution.py | grep -qx '4.' && echo harena-proof $w",
    "a line that is looked for": 'read w\nx=$(python solution.py)\ngrep -qFx -- "$x" want.txt && echo harena-proof $w',
    "a text of a comment": "read w\n# [ $(python solution.py) = 42 ]\npython solution.py > o\ncmp o w && echo $w",
    "tests behind the proof": "read w\npython solution.py > o\ncmp o want && echo harena-proof $w\npytest -q t.py",
    "an argument of python": 'read w\npython check.py "$w" | tee log',
}


@pytest.mark.parametrize("name", WEAK)
def test_a_weak_line_is_told(name: str) -> None:
    """With its number, in a script and in the command itself; the calibration's row has it, and it is no fault."""
    text, told = WEAK[name]
    (sentence,) = weak_lines(("bash", "check.sh"), {"check.sh": text}, ["solution.py"])
    assert sentence.startswith(told)
    (sentence,) = weak_lines(("bash", "-c", text), {}, ["solution.py"])
    assert sentence.startswith(told.replace("check.sh", "the command"))
    scoring = {"type": "command", "command": ["bash", "check.sh"], "files": {"check.sh": text}}
    planned = Calibration(load_scenarios([{"id": "a", "candidate": "print(1)\n", "scoring": scoring}]), gold_runs=2)
    runs = [
        {"scenario_id": row["id"], "score": float("/gold/" in row["id"]), "passed": "/gold/" in row["id"]}
        for row in planned.rows
    ]
    (row,) = planned.report(runs)["scenarios"]
    assert [note.startswith(told) for note in row["notes"]] == [True]
    assert row["fit"]


@pytest.mark.parametrize("name", STRONG)
def test_nothing_is_told_of_other_lines(name: str) -> None:
    """Also where the candidate's own files are asked for."""
    assert weak_lines(("bash", "-c", STRONG[name]), {}, ["solution.py"]) == []


def test_an_exit_code_of_a_script_that_loads_the_candidate_is_told() -> None:
    """A trusted file that imports a file of the candidate's; one that starts it as a program is none."""
    line = ("sh", "-c", "read w; python check.py && echo harena-proof $w")
    loads = {"check.py": "from solution import add\nassert add(1, 2) == 3\n"}
    (sentence,) = weak_lines(line, loads, ["solution.py"])
    assert sentence.startswith("line 1 of the command runs the candidate in the process whose exit code it asks for")
    starts = {"check.py": "import subprocess\nassert subprocess.check_output(['python', 'solution.py']) == b'42\\n'\n"}
    assert weak_lines(line, starts, ["solution.py"]) == []
    assert weak_lines(("python", "check.py"), loads, ["solution.py"]) == []
