"""Texts of contracts, and names and settings of candidates: looking through them takes time that grows with their
length. What is found is what a search for each name by itself finds."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harena.core.models import ExecOutcome
from harena.scoring import load_scenarios
from harena.scoring.contracts.contract import CommandContract
from harena.scoring.contracts.harbor import HarborContract
from harena.scoring.scorers import fingerprints as fingerprints_module
from harena.scoring.scorers import harbor
from harena.scoring.scorers.image_programs import find_programs
from harena.scoring.scorers.last_changes import without_last_changes
from harena.scoring.scorers.leftover_links import LinkState, has_led_somewhere
from harena.scoring.scorers.make_rules import working_anew
from harena.scoring.scorers.redirecting_links import Texts, led_by
from harena.scoring.scorers.shadowing import shadowing
from harena.scoring.scorers.shell_code import code_mask, simple_commands
from harena.scoring.scorers.start_up_files import guard, guarded_scripts
from harena.scoring.scorers.suite_without_candidate import _files_named
from harena.scoring.scorers.tool_settings import is_harmless, named_settings
from harena.scoring.scorers.verifier_scripts import judging_files


def many(count: int, name: str, text: str) -> dict[str, str]:
    """Files whose names and texts have their number."""
    return {name.format(number): text.format(number) for number in range(count)}


def contract(count: int) -> CommandContract:
    text = "rm a1; do " * count + "\nrm a1\n"
    return CommandContract(type="command", command=("bash", "t.sh"), files={"t.sh": text, **many(50, "a{}", "")})


def states(count: int, changed: bytes) -> dict[bytes, LinkState]:
    return {b"/app/%d" % at: LinkState(b"/app/x/a%d" % at, b"n", b"/app", changed) for at in range(count)}


WORK: Mapping[str, Callable[[int], Callable[[], object]]] = {
    "lines of spaces in a Makefile": lambda n: partial(
        working_anew, {"Makefile": (" " * 9999 + "\n") * (n // 100)}, ["make"]
    ),
    "targets of a Makefile": lambda n: partial(working_anew, {"Makefile": many_rules(n)}, ["make"]),
    "targets of one rule": lambda n: partial(
        working_anew,
        {"Makefile": " ".join(f"a{at}" for at in range(900)) + ":\n\t" + "echo b;" * (10 * n) + "\n"},
        ["make"],
    ),
    "modules": lambda n: partial(shadowing, many(n, "m{}/index.js", "require('./x')\n" * 100)),
    "imports": lambda n: partial(judging_files, many(n, "m{}.py", "import a\n" * 50), "/tests", "/app"),
    "programs": lambda n: partial(judging_files, many(n, "m{}.sh", "bash x.sh\n" * 20), "/tests", "/app"),
    "options": lambda n: partial(judging_files, {"test.sh": "sh -sh " * (20 * n)}, "/tests", "/app"),
    "changes": lambda n: partial(judging_files, many(n, "m{}.txt", "rm b\n" * 50), "/tests", "/app"),
    "here-documents in a line": lambda n: partial(code_mask, "cat <<E " * (10 * n)),
    "words of a shell": lambda n: lambda: list(simple_commands("if " * (60 * n))),
    "scripts": lambda n: partial(guarded_scripts, many(n, "m{}.sh", "PYTHONPATH=a cat m{0}.sh\n" * 20), "/tmp/g"),
    "hidden files": lambda n: partial(
        named_settings, "see .a/b .a/c1 git " * (10 * n), {f".a/c{at}" for at in range(n)}
    ),
    "steps": lambda n: partial(without_last_changes, contract(10 * n), ["a1", "a2"]),
    "templates of a scorer": lambda n: partial(
        load_scenarios, scorer("def score(run):\n    return 1.0\nX = '{" + ":" * (60 * n) + "'\n")
    ),
    "files behind links": lambda n: partial(
        led_by, {b"/b": b"/a"}, [b"/a/want%d" % at for at in range(150)], (), Texts(("a want",) * n, frozenset(), ())
    ),
    "a module behind blanks": lambda n: partial(
        guard, "/tmp/g", {}, ["x -m" + " " * (60 * n) + "!\ntry:\n import a" + "mport" * (10 * n)]
    ),
    "programs of images": lambda n: partial(find_programs, ["deno'," + " " * (60 * n)]),
    "files of nobody": lambda n: partial(_files_named, {"a.py": "1.py" + "/z" * (60 * n)}),
    "links": lambda n: partial(has_led_somewhere, states(n, b"1"), states(n, b"2"), {"a": "x y z " * (100 * n)}),
}  # fmt: skip


def scorer(source: str) -> list[dict[str, Any]]:
    return [{"id": "s", "candidate": "1", "scoring": {"type": "python", "source": source}}]


def many_rules(count: int) -> str:
    return "".join(f"a{at}: x\n\techo hi\n" for at in range(10 * count))


@pytest.mark.parametrize("kind", WORK)
def test_texts_are_looked_through_in_linear_time(kind: str) -> None:
    """Processor time, for texts and for ones four times as long; the square would take sixteen times."""
    short, long = (seconds(WORK[kind](size)) for size in (200, 800))
    assert long < 9 * short + 0.2


def seconds(work: Callable[[], object]) -> float:
    began = time.thread_time()
    work()
    return time.thread_time() - began


HARMLESS = {
    ".gitconfig": re.compile(
        r"(?:[ \t]*\[(?:user|safe|advice)\][ \t]*\n(?:[ \t]*(?:[A-Za-z]+)[ \t]*=[ \t]*[^\x00-\x1f\\\x7f]*\n|[ \t]*\n)*"
        r"|[ \t]*\[init\][ \t]*\n(?:[ \t]*defaultBranch[ \t]*=[ \t]*[\w./-]+[ \t]*\n|[ \t]*\n)*|[ \t]*\n)*"
    ),
    ".npmrc": re.compile(
        r"(?:[ \t]*(?:registry|fund|audit|update-notifier|progress|loglevel|package-lock|save-exact|engine-strict)"
        r"[ \t]*=[ \t]*[^\x00-\x1f\x7f$]*\n|[ \t]*\n)*"
    ),
}
"""the grammar of settings as one expression, which takes for ever with some texts"""
LINES = st.sampled_from(
    ["", " ", "[user]", " [core] ", "[init]", "name = a", "name = a\\", "defaultBranch = x", "bare = true", "fund=1",
     'fund=$x', '[remote "a"]', "url = b c", "[alias]", "x", "name", "\r", "=", "\t[safe]", "directory =\t",
     "audit =  "]
)  # fmt: skip


@given(st.sampled_from(sorted(HARMLESS)), st.lists(LINES, max_size=7), st.booleans())
def test_settings_are_read_as_before(path: str, lines: list[str], ends: bool) -> None:
    text = "\n".join(lines) + "\n" * ends
    assert is_harmless(path, text) == (
        HARMLESS[path].fullmatch(text if text.endswith("\n") else f"{text}\n") is not None
    )


@pytest.mark.parametrize("text", ["[user]\n\n\n" * 7000 + "!", "[user]\nname =" + " " * 60_000 + "\\"])
def test_settings_of_a_candidate_take_linear_time(text: str) -> None:
    """Twelve sections with empty lines took two seconds, and each further one twice as long."""
    assert seconds(partial(is_harmless, ".gitconfig", text)) < 2.0
    assert not is_harmless(".gitconfig", text)


PIECES = st.sampled_from(
    [".a", ".a/b", "/", ".", "a", " ", "b", "-", ")", "$", ".a b", "\n", ".git/config", "git", "config"]
)
PATHS = (".a", ".a/b", ".a/b.a", ".b", ".a b", ".a.a", ".git/config")


@given(st.lists(PIECES, max_size=16).map("".join))
def test_hidden_files_are_named_as_by_a_search_for_each(text: str) -> None:
    def is_named(path: str) -> bool:
        return re.search(rf"(?<![\w.$-]){re.escape(path)}(?![\w-]|\.\w)", text) is not None

    assert named_settings(text, PATHS) == {path for path in PATHS if is_named(path)}


def test_what_judges_is_found_by_its_name() -> None:
    """Started, imported, collected, also where a program is given it; not what a line changes."""
    tests = {
        "test.sh": "./x /tests\n"
        'bash -e "/tests/a.sh"\npython -m -q b/c.py\n. ./d.sh\nrm e.sh; sh e.sh\nsource $X/f.sh\ncat g.sh\n',
        "test_h.py": "import i.j\nfrom k import x\n",
        **dict.fromkeys(("a.sh", "c.py", "d.sh", "e.sh", "f.sh", "g.sh", "i.py", "j.py", "k.py", "x.py"), ""),
    }
    found = judging_files(tests, "/tests", "/app")
    assert found == ["test.sh", "test_h.py", "a.sh", "c.py", "d.sh", "f.sh", "i.py", "j.py", "k.py"]


async def test_what_a_candidate_left_is_read_in_no_event_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    """Names that `find` and `stat` tell, up to the limit of a command's output."""
    here, found = threading.get_ident(), []

    def noted(module: Any, name: str) -> None:
        work = getattr(module, name)

        def noting(*given: Any) -> Any:
            found.append((name, threading.get_ident() == here))
            return work(*given)

        monkeypatch.setattr(module, name, noting)

    for name in ("parsed", "parsed_left", "parsed_states", "folders_of", "_made"):
        noted(harbor, name)
    noted(fingerprints_module, "_told")
    box: Any = Box(b"".join(b"/app/%d\0/b\0" % at for at in range(2000)))
    task = HarborContract(type="harbor", tests={"test.sh": "true\n"})
    await harbor._steering(box, task, ())
    ground = harbor.Ground(())
    assert await harbor._clean(box, task, ground, keeps_links=True)
    assert await harbor._states(box, {b"a": b"b"})
    await fingerprints_module.fingerprints(box, ["a"])
    assert {name for name, _ in found} == {"parsed", "parsed_left", "parsed_states", "folders_of", "_made", "_told"}
    assert [name for name, is_here in found if is_here] == []


class Box:
    """A sandbox whose commands print the same."""

    def __init__(self, stdout: bytes) -> None:
        self.stdout, self.stderr, self.outcome, self.returncode = stdout, b"", ExecOutcome.EXITED, 0

    async def exec(self, request: object) -> Box:
        return self

    async def wait(self) -> Box:
        return self


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("run all.sh", 'bash "/tests/run all.sh"'),
        ("a+b.py", "python /tests/a+b.py"),
        ("judge.py", f"python {'-B ' * 20}/tests/judge.py"),
        ("judge.py", "python3 -u /tests/judge.py"),
    ],
)
def test_whatever_a_verifier_starts_is_watched(name: str, line: str) -> None:
    """By names of any characters, behind any number of options that a person writes."""
    tests = {"test.sh": f"#!/bin/bash\n{line}\n/app/x /tests\n", name: "x", "data.txt": "x", "other file": "x"}
    assert judging_files(tests, "/tests", "/app") == ["test.sh", name]
