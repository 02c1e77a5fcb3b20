"""Texts of a contract's author that are slow to look through: a search holds the interpreter, and so the server."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from harena.scoring.scorers.installed_places import installed_places
from harena.scoring.scorers.leaked_proofs import hides_processes, words_in_sight
from harena.scoring.scorers.leftover_links import names_brought
from harena.scoring.scorers.make_rules import believed_without_work, words_behind_make, working_anew
from harena.scoring.scorers.result_files import written_by_python
from harena.scoring.scorers.reward_writers import may_end_without, python_writers
from harena.scoring.scorers.sealed_verifier import looks_through_home, looks_through_scratch, named_paths
from harena.scoring.scorers.shell_code import code_mask, is_data
from harena.scoring.scorers.start_up_files import guard, guarded_scripts
from harena.scoring.scorers.verifier_changes import Change, changes_of_a_script, lists_home
from harena.scoring.scorers.verifier_data import given_files
from harena.scoring.scorers.verifier_leftovers import (
    asks_for_modes,
    built_paths,
    copied_paths,
    folders_copied_to,
    left_options,
    made_paths,
    written_paths,
)
from harena.scoring.scorers.verifier_scripts import judging_files
from harena.scoring.scorers.weak_lines import weak_lines

SECONDS = 3.0
LENGTHS = (1500, 16_000)
"""of which the first shows what grows with the third power of the length, before the second is tried"""
LOOKS: dict[str, Callable[[str], object]] = {
    "written": lambda text: written_paths({"test.sh": text}, "/app", places=("/",)),
    "copied": lambda text: copied_paths({"test.sh": text}, "/app"),
    "made": lambda text: made_paths({"test.sh": text}, "/app"),
    "built": lambda text: built_paths({"test.sh": text, "a.py": text}, "/app"),
    "modes": lambda text: asks_for_modes([text]),
    "options": lambda text: left_options({}, {"/app/tox.ini": "1 #a"}, {"test.sh": text, "a.py": text}),
    "home": lambda text: (lists_home([text]), looks_through_home([text]), looks_through_scratch([text])),
    "named": lambda text: named_paths([text]),
    "made by make": lambda text: believed_without_work({"Makefile": text}, ["a"]),
    "changes": lambda text: changes_of_a_script([Change("folder", "/a")], [text]),
    "folders": lambda text: folders_copied_to({"test.sh": text}, "/app"),
    "brought": lambda text: names_brought({"test.sh": text}, []),
    "judging": lambda text: judging_files({"test.sh": text, "a.py": text}, "/tests", "/app"),
    "rewards": lambda text: may_end_without({"test.sh": f"reward\n{text}"}),
    "writers": lambda text: python_writers({"test.sh": text, "a.py": f"reward {text}", "b.py": text}),
    "results": lambda text: written_by_python({"test.sh": text, "a.py": text}, "/app"),
    "installed": lambda text: installed_places({"test.sh": text}, "/app"),
    "given": lambda text: given_files({"test.sh": text, "a.py": text, "b/c.txt": ""}, "/tests", "/app"),
    "phony": lambda text: working_anew({"Makefile": text}, [f"make {text}"]),
    "make": words_behind_make,
    "mask": code_mask,
    "data": lambda text: is_data("x.sh", [f"cat {text}x.sh", f"{text} x.sh"]),
    "guard": lambda text: guard("/tmp/g", {}, [text]),
    "guarded": lambda text: guarded_scripts({"x.sh": f"PYTHONPATH={text}", "y.sh": f"x.sh {text} x.sh"}, "/tmp/g"),
    "hides": lambda text: hides_processes(["bash", "-c", f"read x\n{text}"], {"x.sh": text, "a.py": text}),
    "sight": lambda text: words_in_sight(["bash", "-c", f"read x\n{text}"], {"x.sh": f"read x;{text}", "a.py": text}),
    "weak": lambda text: weak_lines(["bash", "-c", text], {"x.sh": text}, {"a.py"}),
}
REPEATED = (
    ">a;", ">a ", ">a\n", ">$x;x=$x$x;", "rm ", "cd /a;", "cp * a;", " #", '" #', "sed ", "open(", "make ", "a", "a1",
    "a ", "a\n", " ", "\n", "\t", ";", "; ", '"', "'", "`", "(", "$(", "<<E ", "cat <<E >a.sh\nE\n", "sh <<E\n",
    'sh -c "', 'eval "', "b=$a;", "read x;", "do ", "if ", "{ ", "PYTHONPATH=a ", "a=b ", "export x", "x=$(cat",
    "curl -o ", "curl -o a;", "cp a b;", "git clone ", "uv venv ", "x.sh ", "\\\n", " \\\n", "a: b\n", "a:b ",
    "ls ", "ls -a", "gcc ", "gcc -o ", "/tmp", "~", "/a", "$HOME/", "environ",
    "run(", "run(a ", "a = b\nrun(a)\n", "for a in b ", ">>a", "./a ", "python ", "-C ",
    "open(a, 'w')\n", "a.write_text(", "'/a.b'", "open('/a.b', 'w')\n", "--a /b.c ", "A=/b ", "load(", "a=b\n",
    " install ", "npm install -a ", "npm i a;", " -p a", "conda", "eval $(cat ", ". /a",
    "\nif a", "\nelse", "\nfi", "fi > ", "if [ a; then echo a;", "| while", "a() ", "a a() ", "exec ", "echo >",
    "a: $(a)\n", "$(a)=", "python -", "|a", "(a) & ", "a() { a; }; ", "if ls ", "ls > /dev/null ", "ls 2>&1 ",
    "open('", "test -",
)  # fmt: skip


@pytest.mark.parametrize("repeated", REPEATED)
def test_no_text_takes_the_square_of_its_length(repeated: str) -> None:
    for length in LENGTHS:
        text = repeated * (length // len(repeated))
        for name, look in LOOKS.items():
            began = time.thread_time()
            look(text)
            took = time.thread_time() - began
            assert took < SECONDS, f"{name}: {took:.1f} s for {length} characters of {repeated!r}"


def test_many_names_are_looked_for_once_each() -> None:
    text = "".join(f">a{number};cat a{number};" for number in range(3000))
    began = time.thread_time()
    assert len(written_paths({"test.sh": text}, "/app", places=("/",))) == 100
    assert time.thread_time() - began < SECONDS


def test_names_that_are_copied_backwards_are_all_found() -> None:
    text = "read a0\n" + "".join(f"a{number}=$a{number - 1}\n" for number in range(2000, 0, -1)) + "export a2000\n"
    began = time.thread_time()
    assert [given.way for given in words_in_sight(["bash", "-c", text], {})] == ["environment"]
    assert time.thread_time() - began < SECONDS


def test_files_without_number_are_not_all_looked_for_in_each_line() -> None:
    text = "".join(f">a{number};" for number in range(800)) + "cand.py;" + "x;" * 800 + "cat a7"
    began = time.thread_time()
    told = weak_lines(["bash", "-c", text], {}, ["cand.py"])
    assert time.thread_time() - began < SECONDS
    assert len(told) == 1
    assert "makes a7 before the candidate runs" in told[0]
