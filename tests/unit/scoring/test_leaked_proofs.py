"""Where a trusted command gives the word of its proof away."""

from __future__ import annotations

import pytest

from harena.scoring.scorers.leaked_proofs import given_words, hides_processes, words_in_sight

PRINTED = {
    "in a line": 'read w; python solution.py </dev/null >o; cmp o e && echo "harena-proof $w"',
    "in braces": "set -e; IFS= read -r word; cmp a b; printf 'harena-proof %s\\n' \"${word}\"",
    "the proof in a file": 'read w; python check.py && echo "harena-proof $w" > proof.txt',
    "others are read in a loop": (
        'read w; while read a b; do [ "$(python s.py $a </dev/null)" = $b ] || exit 1; done < c; echo harena-proof $w'
    ),
}
KEPT = {
    "printed": 'read w; python solution.py </dev/null >o; cmp o e && echo "harena-proof $w"',
    "printed by a function": 'read w; prove() { echo harena-proof "$1"; }; python solution.py && prove "$w"',
    "in a pipe": 'read w; echo "$w" | python check.py',
    "as standard input": 'read w; python check.py <<< "$w"',
    "as standard input of a pipe": "read w; python check.py < <(echo $w)",
    "by number": 'read w; python check.py 0<<<"$w" 2>&1 3<<<"$x"',
    "asked for": 'read w; [ -n "$w" ] || exit 1; case $w in *) ;; esac; python check.py && echo harena-proof ${w}',
    "the proof in a file": 'read w; python check.py && echo "harena-proof $w" > proof.txt',
    "others are read in a loop": (
        'read w; while read a b; do [ "$(python s.py $a </dev/null)" = $b ] || exit 1; done < c; echo harena-proof $w'
    ),
    "nothing is read": "python check.py",
}
GIVEN = {
    "python": ('read w; python check.py "$w" | tee log', "argument", "python", True),
    "in braces": ("read -r w\npython check.py ${w} || true", "argument", "python", True),
    "below a limit": ("read w; timeout -k 1 10 python check.py $w", "argument", "python", True),
    "in a condition": ('w=$(head -n1); if [ "$(python check.py $w)" = ok ]; then :; fi', "argument", "python", True),
    "a copy": ('read w; v="$w"; bash check.sh $v', "argument", "bash", True),
    "by a function": ('read w\nprove() {\n  python check.py "$1"\n}\nprove "$w"', "argument", "python", True),
    "node": ('read w; node check.js "$w" || true', "argument", "node", False),
    "node below a limit": ("read w; timeout 10 node check.js $w", "argument", "node", False),
    "by a path": ("read w; /usr/bin/python3 check.py $w", "argument", "/usr/bin/python3", False),
    "exported": ("read w; export w; python check.py", "environment", "", False),
    "declared": ("read w; declare -x V=$w; python check.py", "environment", "", False),
    "everything is exported": ("set -a; read w; python check.py", "environment", "", False),
    "for one program": ("read w; W=$w python check.py", "environment", "", False),
    "by env": ('read w; env W="$w" python check.py', "environment", "", False),
    "a descriptor": ('read w\nexec 3<<<"$w"\npython check.py', "descriptor", "", False),
    "a descriptor of one program": ('read w; python solution.py 4<<<"$w" </dev/null', "descriptor", "", False),
    "a descriptor of a pipe": ("read w; exec 15< <(echo $w; sleep 1); python check.py", "descriptor", "", False),
    "a file": ("read w; echo $w > word.txt; python check.py", "file", "", False),
}
READS = "import os, subprocess, sys\nword = sys.stdin.readline().strip()\n"
IN_PYTHON = {
    "printed": ("done = subprocess.run(['python', 's.py'], capture_output=True)\nprint('harena-proof', word)", None),
    "as input": ("done = subprocess.run(['python', 's.py'], input=word)\nsubprocess.run(['a', done.stdout])", None),
    "an argument": ("subprocess.run([sys.executable, 'check.py', word])", "argument"),
    "an argument of a list": ("words = ['python', word]\nsubprocess.Popen(words)", "argument"),
    "a variable": ("os.environ['WORD'] = word", "environment"),
    "variables": ("subprocess.run(['python', 'a.py'], env={**os.environ, 'W': word})", "environment"),
}


@pytest.mark.parametrize("name", KEPT)
def test_a_word_that_is_kept(name: str) -> None:
    """Nothing is told of it."""
    assert given_words(("bash", "-c", KEPT[name]), {}) == ()
    assert given_words(("bash", "check.sh"), {"check.sh": KEPT[name]}) == ()


@pytest.mark.parametrize("name", PRINTED)
def test_a_word_that_is_only_printed(name: str) -> None:
    """Nothing is hidden from a command that plainly does no more with it."""
    assert not hides_processes(("bash", "-c", PRINTED[name]), {})
    assert not hides_processes(("bash", "check.sh"), {"check.sh": PRINTED[name], "helper.sh": "exit 0\n"})


@pytest.mark.parametrize(
    "text",
    [
        'read w; python check.py "$(echo harena-proof $w)"',
        'read w; all=("$w"); python check.py "${all[@]}"',
        'read w; set -- "$w"; python check.py "$@"',
        "read w; echo $w | xargs python check.py",
        'mapfile -t lines; python check.py "${lines[0]}"',
        "python check.py",
    ],
)
def test_whatever_else_is_done_with_a_word_is_hidden(text: str) -> None:
    """Be it that no rule here finds where it goes."""
    assert hides_processes(("bash", "-c", text), {})
    assert hides_processes(("./run",), {"run": text})


@pytest.mark.parametrize("name", GIVEN)
def test_a_word_that_is_given_away(name: str) -> None:
    """The line and the way are told; only what no sandbox hides is in the candidate's sight."""
    text, way, program, is_hidden = GIVEN[name]
    (given,) = given_words(("bash", "-c", text), {})
    assert (given.way, given.program, given.is_guarded) == (way, program, is_hidden)
    assert hides_processes(("bash", "-c", text), {})
    assert words_in_sight(("bash", "-c", text), {}) == (() if is_hidden else (given,))
    (in_file,) = given_words(("bash", "check.sh"), {"check.sh": f"# checks\n{text}"})
    assert (in_file.place, in_file.line) == ("check.sh", given.line + 1)
    assert f"line {in_file.line} of check.sh" in in_file.told


@pytest.mark.parametrize("name", IN_PYTHON)
def test_a_word_that_a_python_program_gives_away(name: str) -> None:
    """By the names that hold what was read."""
    lines, way = IN_PYTHON[name]
    found = given_words(("python", "check.py"), {"check.py": READS + lines})
    assert [given.way for given in found] == ([way] if way else [])
    assert hides_processes(("python", "check.py"), {"check.py": READS + lines}) == (name != "printed")


@pytest.mark.parametrize(
    "looks", ["ps aux | grep server", "pgrep -f server", "pkill server", "ls /proc/$pid", "python -c 'import psutil'"]
)
def test_a_command_that_asks_what_runs(looks: str) -> None:
    """Nothing is hidden from it, and its passes say what the candidate could see."""
    text = f'read w; python server.py & {looks}; python check.py "$w"'
    assert not hides_processes(("bash", "-c", text), {})
    assert words_in_sight(("bash", "-c", text), {})
