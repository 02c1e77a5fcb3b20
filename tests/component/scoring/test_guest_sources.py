"""How harena's own programs get into sandboxes: from what was read once, and through no word that is too long."""

from __future__ import annotations

import importlib.util
import json
import marshal
import re
import subprocess
import sys
import zlib
from binascii import a2b_base64
from pathlib import Path
from shutil import copytree, ignore_patterns

import pytest

import harena
from harena.scoring.contracts.contract import CommandContract
from harena.scoring.guest_sources import guest_argv, guest_program, modules_of
from harena.scoring.scorers.suite_apart import ELSEWHERE
from harena.scoring.scorers.trusted_suite import candidate_argv, suite_argv

MAX_ARG_STRLEN = 32 * 4096
GUEST = "harena.scoring.guest"
HELLO = b"00000001H"
"""what the driver says first"""

IN_A_COPY = """
import shutil, sys
from pathlib import Path
import harena.scoring.scorers.judgement
from harena.scoring.contracts.contract import CommandContract
from harena.scoring.scorers import driver_boot, scorer_process, start_up_files
from harena.scoring.scorers.asserts_once import asserts_argv
from harena.scoring.scorers.hidden_expectations import _unparsed
from harena.scoring.scorers.trusted_suite import candidate_argv, candidate_program, suite_argv
import ast, harena.scoring.guest as guest
(folder,) = guest.__path__
assert folder.startswith(sys.argv[1])
for file in Path(folder).glob("*.py"):
    file.unlink() if file.stem > "m" else file.write_text("this is of another version")
contract = CommandContract(type="command", unittest=["t.py"], files={"t.py": ""})
texts = [
    *suite_argv(contract, [], [], ""), *candidate_argv([], 1024), candidate_program(), scorer_process._scorer_program(),
    driver_boot.source_frame().decode(), ast.unparse(ast.parse(start_up_files.guard("/tmp", {})[1])),
    _unparsed(ast.parse("")),
    *asserts_argv(CommandContract(type="command", asserts="assert f()", calls={"f": "f"}, isolate=True), "f.py"),
]
assert not any("this is of another version" in text for text in texts)
print(len(texts) > 10)
"""


def _imported(source: str) -> set[str]:
    """The modules of the folder that one of them imports."""
    found = re.findall(rf"^ *from {GUEST}(?:\.(\w+) import|( import .*))", source, re.MULTILINE)
    return {
        name for module, names in found for name in (module, *re.findall(r"(\w+)(?: as \w+)?(?:,|$)", names)) if name
    }


def _modules() -> tuple[str, ...]:
    """Every module of the folder that may be loaded beside others, each after those that it imports."""
    (folder,) = importlib.import_module(GUEST).__path__
    names = {path.stem for path in Path(folder).glob("*.py")} - {"__init__", "sitecustomize"}
    return tuple(dict.fromkeys(each for name in sorted(names) for each in modules_of(name)))


def test_files_that_change_below_a_running_process_change_no_program(tmp_path: Path) -> None:
    """An upgrade or a switch of branches: what is sent into sandboxes is what was there when scoring was first used."""
    (package,) = harena.__path__
    copytree(package, tmp_path / "harena", ignore=ignore_patterns("__pycache__", "*.so", "static"))
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path.insert(0, sys.argv[1])\n{IN_A_COPY}", str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout, done.stderr[-2000:]) == ("True\n", "")


@pytest.mark.parametrize("kind", ["unittest", "pytest"])
def test_a_program_has_every_module_of_harenas_that_it_imports(kind: str) -> None:
    """In order, so that none looks for a file that no image has."""
    contract = CommandContract(type="command", files={"t.py": ""}, **{kind: ["t.py"]})
    for argv in (suite_argv(contract, [], [], ELSEWHERE), candidate_argv([], 1024)):
        compiled, plain = map(int, re.findall(r"unpacked\((\d+), (\d+)\)", argv[2])[0])
        words = argv[3 + compiled : 3 + compiled + plain]
        known: set[str] = set()
        for name, source in json.loads(zlib.decompress(a2b_base64("".join(words)))):
            assert _imported(source) <= known, name
            known.add(name.removeprefix(f"{GUEST}."))


def test_no_program_is_too_long_for_the_kernel() -> None:
    """As one word, all that harena has in that folder would be."""
    argv = guest_argv((*_modules(), "driver"), "main")
    assert sum(map(len, argv)) > 2 * MAX_ARG_STRLEN
    assert max(map(len, argv)) < MAX_ARG_STRLEN
    done = subprocess.run([sys.executable, *argv[1:]], input=b"", capture_output=True, check=False)
    assert (done.stdout, done.stderr) == (HELLO, b"")


@pytest.mark.parametrize("is_alike", [True, False])
def test_words_that_follow_are_the_programs_own(is_alike: bool) -> None:
    """Whether the interpreter takes the compiled modules or has to compile them. The driver takes the last word."""
    python, option, text, *words = guest_argv(("driver",), "main")
    text = text if is_alike else text.replace("MAGIC_NUMBER", "NO_SUCH_NUMBER")
    tells = (
        "import os, sys\nreally = os._exit\nos._exit = lambda code: (print(sys.argv, file=sys.stderr), really(code))\n"
    )
    done = subprocess.run(
        [sys.executable, option, tells + text, *words, "one", "1024"], input=b"", capture_output=True, check=False
    )
    assert (python, done.stdout, done.stderr) == ("python", HELLO, b"['-c', 'one']\n")


def test_a_program_is_one_text_for_a_program_that_starts_it() -> None:
    """It needs nothing but the text."""
    text = guest_program(("driver",), "main")
    done = subprocess.run([sys.executable, "-c", text], input=b"", capture_output=True, check=False)
    assert (done.stdout, done.stderr) == (HELLO, b"")


def test_a_program_that_is_sent_is_not_loaded_by_the_host() -> None:
    """Its modules would take longer to load than most candidates take to be judged."""
    script = (
        "import sys, harena.scoring.scorers.command\n"
        f"print(*(name.removeprefix('{GUEST}.') for name in sys.modules if name.startswith('{GUEST}.')))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert loaded.isdisjoint({"suite", "pytest", "unittest", "asserts", "calls", "candidate_process"}), loaded
    assert loaded <= {
        "driver",
        "first_module",
        "missing_modules",
        "module_names",
        "reported_comparisons",
        "sitecustomize",
        "suite_protocol",
    }


@pytest.mark.parametrize("last", ["driver", "candidate_process", "calls", "asserts", "pytest", "unittest"])
def test_what_was_kept_is_what_would_be_made(last: str) -> None:
    """A process that finds the compiled program of an earlier one sends what it would have compiled itself: the same
    code, whose bytes may differ by how often each object of it was met."""
    kept = guest_argv(modules_of(last), "main")
    made = (
        "from harena.scoring import guest_sources as sources\n"
        "sources.kept_code = lambda file, text, make, name: make()\n"
        f"import sys; sys.stdout.write('\\0'.join(sources.guest_argv(sources.modules_of({last!r}), 'main')))"
    )
    done = subprocess.run([sys.executable, "-c", made], capture_output=True, text=True, check=True)
    assert _carried(tuple(done.stdout.split("\0"))) == _carried(kept)


def _carried(argv: tuple[str, ...]) -> tuple[object, object]:
    """(names and code, names and sources) of the modules that a command line carries."""
    compiled, plain = map(int, re.findall(r"unpacked\((\d+), (\d+)\)", argv[2])[0])
    words = argv[3 : 3 + compiled], argv[3 + compiled : 3 + compiled + plain]
    code, sources = (zlib.decompress(a2b_base64("".join(part))) for part in words)
    assert code.startswith(importlib.util.MAGIC_NUMBER)
    return marshal.loads(code[len(importlib.util.MAGIC_NUMBER) :]), json.loads(sources)
