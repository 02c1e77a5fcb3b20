"""What the runners of trusted suites (pytest's, unittest's) have in common. Standard library only, Python 3.8 and up.

A runner is started with the proof's word as the first line of standard input, and with an object of JSON: `ours`, the
trusted files, and `theirs`, the candidate's; `on_both_sides`, those of the trusted modules that the candidate has, too; `home`,
where the candidate lives; `stance` and `not_theirs`, see `guest_missing_modules`; `answers`, see `guest_absent_candidate`; `may_catch`, see
`guest_caught_assertions`; `skips`, places of skips that are the suite's own, and which of the `conditions` each has. That counts
while what it `asks` for (None: everything) is as at first, or as the suite itself has made it: one of its `own` values,
and where the candidate lives elsewhere any value of what is `free`. `stops_clocks`: see `guest_clocks`.
`searched`: folders that the suite's settings put on the path. `is_confirmed`: a pass elsewhere is judged once more,
beside the suite; `has_gold`: the contract has a gold solution. What follows are words that say what is to be run.
The candidate lives

    beside the suite      in its process, for suites that need that: nothing then keeps it from the word
    in another process    of the same sandbox, whose program is given
    elsewhere             in a sandbox of its own: questions and answers go over standard output and input
    nowhere               nobody answers: to find out what a suite does by itself

But for the first the suite sees stand-ins (`guest_proxy`), and trusted modules from texts that were read before. Where
the candidate's process is in the same sandbox, the trusted files are emptied before it starts, and the suite's own
`open` reads what they had held.
"""  # noqa: E501

from __future__ import annotations

import ast
import builtins
import importlib
import importlib.machinery
import importlib.util
import io
import json
import os
import re
import symtable
import sys

from harena.scoring.guest.absent_candidate import Nobody, is_of_candidate, nobodys_module
from harena.scoring.guest.candidate_process import write_frame
from harena.scoring.guest.caught_assertions import Caught
from harena.scoring.guest.clocks import Clocks
from harena.scoring.guest.evaluated_texts import guard
from harena.scoring.guest.hidden_sources import HiddenTexts, files_to_hide
from harena.scoring.guest.library_integrity import Tools
from harena.scoring.guest.missing_modules import AS_IT_IS, Absent
from harena.scoring.guest.module_names import imported, module_name
from harena.scoring.guest.module_precedence import LibraryFirst, TrustedFirst
from harena.scoring.guest.own_names import leave_no_names
from harena.scoring.guest.proxy import Candidate, Finder, StandInModule
from harena.scoring.guest.runner_parts import FunctionRecord
from harena.scoring.guest.safe_iteration import LOOPS
from harena.scoring.guest.same_class_comparisons import EQUALS_ALL, Kin
from harena.scoring.guest.standins import (
    StandIn,
    class_names,
    differs_by_itself,
    is_written_name,
    items_as_set,
    written_names,
)
from harena.scoring.guest.suite_equality import Believed
from harena.scoring.guest.suite_protocol import BESIDE, BY_MARK, ELSEWHERE, EQUAL, EVERY_SKIPPED, NOWHERE, TOOK
from harena.scoring.guest.suite_side_effects import SERVED, NamedFiles, ask_for_kinds, past_classes, types_of, watch
from harena.scoring.guest.swallowed_assertions import Swallowed
from harena.scoring.guest.swallowing_exits import sources
from harena.scoring.guest.unauthorized_access import AccessLog
from harena.scoring.guest.universal_equality import Uses, equals_everything
from harena.scoring.guest.vacuous_comparisons import Hollow, put_in_builtins
from harena.scoring.guest.value_identity import Identities

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

FREE_BUILTINS = frozenset({"_", "print", "input", "open", "help", "exit", "quit", "breakpoint", "__import__"})
"""builtins that programs replace, and an interactive interpreter writes; nothing is judged by them"""
_MOST_NAMES, _MOST_FUNCTIONS = 10_000, 2000
_MOST_CAUSES = 8
_getpid = os.getpid
_ENVIRONMENT = type(os.environ)
_OF_STAND_INS = re.compile(r"UnservedError\b|AttributeError: '(_StandInInit|_Function|Method|super)' object has no ")
"""how errors begin that only what stands for something of the candidate's raises, or a call past it"""
_UNTOLD = re.compile(r"\blength_hint\b|\b(?:value|exception|error|exc|err|e)\.obj\b")
"""what the texts of tests ask for by a function in C, and what an AttributeError holds: the object itself"""
_OF_HARENA = re.compile(r"\bharena\.")
_MODULES = [module for name, module in sys.modules.items() if name.startswith(f"{__name__.partition('.')[0]}.")]
"""modules of harena's in this process"""
_RUNNERS_OWN = frozenset({"PYTEST_CURRENT_TEST", "PYTEST_VERSION"})


class Tally:
    """What became of the tests."""

    def __init__(self) -> None:
        self.planned = 0
        self.passed = 0
        self.excused: list[str] = []
        """tests and files that were skipped, or expected to fail; the host finds out whether the candidate is why"""
        self.skips: list[tuple[str, str]] = []
        """tests that were skipped, and the place of the suite's own skip by which they were, or that of a mark; empty
        for any other"""
        self.expected: list[str] = []
        """tests that have failed as a mark of theirs expects"""
        self.ran: list[str] = []
        """tests that were begun and not excused, whatever became of them"""
        self.read: list[str] = []
        """files, classes and fixtures that were not skipped as a whole"""
        self.unread: list[str] = []
        """files that failed as they were read"""
        self.has_waited: Callable[[], bool] = lambda: False
        """the test under way waited for what cannot come from another process"""
        self.is_refused: Callable[[str], bool] = lambda error: False
        """an error is that of code in C, which takes no stand-in"""
        self.is_told_otherwise: Callable[[], bool] = lambda: False
        """a stand-in has answered a library's question otherwise than what it stands for would"""
        self.failures: list[tuple[str, str, bool, bool]] = []
        """(test, error, whether nothing was asked before it, whether it did what cannot be served)"""

    def failed(self, test: str, error: str, unasked: bool, unserved: bool) -> None:
        """One that did not pass."""
        unserved = self.has_waited() or unserved or self.is_refused(error) or self.is_told_otherwise()
        self.failures.append((test, error, unasked and not error.startswith("NobodyAskedError"), unserved))

    def ended_unserved(self, first: int) -> None:
        """What a test did after it had failed (in its tear-down) says, too, that it could not be served; `first` is the
        number of failures at its start."""
        self.failures[first:] = [(*failure[:3], True) for failure in self.failures[first:]]


class Run:
    """One run of a trusted suite."""

    def __init__(self) -> None:
        self.here = os.path.realpath(os.getcwd())
        sys.path[:] = [path for path in sys.path if path and os.path.realpath(path) != self.here]
        self._word = _line(0)
        self._out = os.dup(1)
        self._process = _getpid()
        given = json.loads(sys.argv[1])
        sys.meta_path.insert(0, LibraryFirst(self.here, given["theirs"]))
        self._ours, self._home, self._stance = given["ours"], given["home"], given["stance"]
        self._names_of_theirs = frozenset(module_name(path) for path in given["theirs"] if path.endswith(".py"))
        self._answers = given["answers"]
        self._skips, self._conditions = given["skips"], given["conditions"]
        self.words = sys.argv[2:]
        """what is to be run"""
        self.trusted = [os.path.join(self.here, path) for path in self._ours]
        self._before = _contents(self.trusted)
        self.candidate: Any = None
        self.comparisons: Any = None
        self.parts: FunctionRecord | None = None
        self._clocks: Clocks | None = None
        self._stops_clocks: bool = given["stops_clocks"]
        self._is_confirmed: bool = given["is_confirmed"]
        self._has_gold: bool = given["has_gold"]
        self._notes_told: Callable[[], None] | None = None
        self._why = ""
        """what the first test that has failed did that cannot be served"""
        self.tally = Tally()
        self.tally.has_waited = self._has_waited
        self.tally.is_refused = self._is_refused
        self.tally.is_told_otherwise = self._is_told_otherwise
        self.hollow = Hollow(self.here)
        self._kin = Kin()
        self._swallowed: Swallowed | None = None
        self._taken: AccessLog | None = None
        self._hidden: HiddenTexts | None = None
        self._caught = Caught(self.here, self.trusted, given["may_catch"])
        texts = {os.path.join(self.here, path): text for path, text in _sources(self._ours).items()}
        for path, text in texts.items():
            self.hollow.read(path, text)
        self.first = TrustedFirst(self._named_modules("", *self._folders()))
        if not any(map(_OF_HARENA.search, texts.values())):
            leave_no_names(given["theirs"])
        self._surroundings = _seen_around() if self._conditions else {}
        if self._home == BESIDE:
            self._swallowed = Swallowed(self.here, self.trusted, texts, self._caught)
            self._oracles = {os.path.join(self.here, path): lines for path, lines in given["oracles"].items()}
            self._taken = AccessLog(self._caught.may_be, self._tests_of(texts), self.trusted, self._oracles)
            self._taken.watch_signals()
            self._hidden = HiddenTexts(self._hideable(texts, given["on_both_sides"]), self._taken.is_by_candidate)
            self._hidden.show_lines()
        self._tools = self._used() if self._home == BESIDE else None
        searched = [os.path.join(self.here, folder) for folder in given["searched"]]
        if (
            self._swallowed is not None
            and self._taken is not None
            and self._tools is not None
            and self._hidden is not None
        ):
            # a trusted helper beside its test comes before a file of the candidate's with its name
            own = [*(os.path.join(self.here, folder) for folder in self._folders()), self.here]
            sys.path[:0] = [*own, *searched]
            sys.meta_path.insert(0, self.first)
            is_own = self._swallowed.is_own
            self.parts = FunctionRecord(lambda path: not is_own(path), self._tools.added.is_free)
            self._taken.gets_code = self.parts.gets_code
            self.comparisons = Believed(
                self.trusted, texts, self._swallowed, self._taken, self._tools, self.hollow, self._kin, self.parts,
                self._hidden,
            )  # fmt: skip
            self.comparisons.compile_modules()
        else:
            sys.path[:0] = searched
            self._isolate(given["theirs"], given["on_both_sides"])
        self._find_absent(given["not_theirs"])
        self._uses = Uses(self.here, self.trusted) if self._home == BESIDE and given["notes_uses"] else None
        if self._home == BESIDE:
            self._builtins = dict(vars(builtins))
            if self._hidden is not None:
                self._hidden.hide()
            leave_no_names()
        if self._taken is not None:
            self._taken.listen(_sources(given["theirs"]))
            self.hollow.meets(_sources(given["theirs"]).values())

    @property
    def asked(self) -> int:
        """Questions to the candidate so far; of one that lives beside the suite nobody counts them."""
        return self.candidate.asked if self.candidate is not None else 0

    @property
    def notes(self) -> int:
        """How often the suite did something that cannot be served."""
        return len(self.candidate.notes) if self.candidate is not None else 0

    def is_unserved(self, notes: int, error: BaseException | None = None) -> bool:
        """A test that began when there were so many notes, and has failed with this error, did what cannot be
        served."""
        if self._clocks is not None:
            self._clocks.failed(error)
        if error is not None and self.notes > notes:
            self._why = self._why or self.candidate.notes[notes]
        return self.candidate is not None and (self.candidate.is_changed or self.notes > notes)

    def is_unasked(self, asked: int, error: BaseException | None) -> bool:
        """A test that began when there were so many questions has failed by itself."""
        if self.asked != asked:
            return False
        has_seen = self._has_seen()
        return self._home != NOWHERE or not is_of_candidate(error, told(error), self.trusted, has_seen=has_seen)

    def _has_seen(self) -> bool:
        """The suite has seen something of a candidate that is nobody, and may have kept it for later."""
        return self._home == NOWHERE and bool(self.candidate.has_kept)

    def unheard(self) -> str:
        """A look at nobody that has more than two answers, before the tests are run."""
        return self.candidate.unheard if self._home == NOWHERE else ""

    def is_unread(self, unheard: str) -> None:
        """A file has failed as it was read, so that nothing is skipped by what it has heard; before it, this was
        `unheard`."""
        if self._home == NOWHERE:
            self.candidate.unheard = unheard

    def has_broken(self, error: BaseException) -> None:
        """The runner itself has failed, at something of the candidate's that it took for its own."""
        if self._home in (BESIDE, NOWHERE):
            return
        self.candidate.notes.append("the runner takes something of the candidate's for a part of the suite")
        self.tally.failed("the runner", told(error), False, True)

    def in_body(self, is_in_body: bool) -> None:
        """What runs now is the body of a test, or no longer."""
        self.hollow.in_body(is_in_body)
        if is_in_body and self._swallowed is not None:
            self._swallowed.starts()
        if self.parts is not None:
            self.parts.look()
        if self._home == NOWHERE:
            self.candidate.is_kept = not is_in_body

    def is_answered_by_nobody(self, asked: int) -> bool:
        """What was done since there were so many questions depends on what somebody who is not there has said."""
        return self._home == NOWHERE and self.asked != asked

    def skip_place(self, error: BaseException | None) -> str:
        """The place of the suite's own skip that has raised this; empty for any other. The frame that the runner has
        called counts, whose part of the traceback is made as the exception leaves it."""
        seen = 0
        while error is not None and seen < _MOST_CAUSES:
            trace = error.__traceback__
            while trace is not None:
                path = trace.tb_frame.f_code.co_filename
                if path in self.trusted:
                    place = f"{os.path.relpath(path, self.here)}:{trace.tb_lineno}"
                    return place if place in self._skips and self._is_suites_own(self._skips[place]) else ""
                trace = trace.tb_next
            error, seen = error.__context__, seen + 1  # pytest raises its own where unittest has caught the first
        return ""

    def mark_of(self, error: BaseException | None) -> str:
        """The place of a skip for which no code of the suite's was run; empty for any other."""
        seen = 0
        while error is not None and seen < _MOST_CAUSES:
            trace = error.__traceback__
            while trace is not None:
                if trace.tb_frame.f_code.co_filename in self.trusted:
                    return ""
                trace = trace.tb_next
            error, seen = error.__context__, seen + 1
        return BY_MARK if error is None else ""

    def _is_suites_own(self, index: int | None) -> bool:
        """What a condition of a skip asks for is nobody's doing but the suite's."""
        if index is None:
            return True
        condition = self._conditions[index]
        before, now, own = self._surroundings, _seen_around(), condition["own"]
        asks = condition["asks"]
        free = condition["free"] if self._home != BESIDE else ()
        return all(
            now.get(name) in (before.get(name), *own.get(name, ()), *own.get("", ())) or name in free or "" in free
            for name in ((before.keys() | now.keys()) - _RUNNERS_OWN if asks is None else asks)
        )

    def began(self) -> None:
        """A test begins."""
        if self.parts is not None:
            self.parts.look()
        if self.candidate is not None and not isinstance(self.candidate, Nobody):
            self.candidate.begins_test()
        if self._clocks is not None:
            self._clocks.began()
        if self._notes_told is not None:
            self._notes_told()

    def _has_waited(self) -> bool:
        why = getattr(self.candidate, "waited", "")
        if not why and getattr(self.candidate, "has_run", False) and self.candidate.stands_still():
            why = "a task of the candidate's stands still until the suite asks for something"
        why = why or getattr(self.candidate, "unlike", "")
        if why:
            self.candidate.notes.append(why)
        return bool(why)

    def _is_refused(self, error: str) -> bool:
        """A TypeError that names a class of the candidate's of which a stand-in only looks like one, and what only a
        stand-in or a call past it raises."""
        if isinstance(self.candidate, Candidate) and (_OF_STAND_INS.match(error) or self._is_missed(error)):
            self.candidate.notes.append(f"it meets what stands for something of the candidate's: {error[:100]}")
            return True
        kinds = getattr(self.candidate, "partial_kinds", ())
        is_of_c = error.startswith("TypeError") and "operand" not in error and "not supported between" not in error
        named = set(re.findall(r"\w+", error)) if is_of_c else set()
        found = min(named.intersection(kinds), default="")
        if found:
            self.candidate.notes.append(f"it uses a {found!r} object of the candidate's where only a real one will do")
        return bool(found)

    def _is_missed(self, error: str) -> bool:
        """A module that the candidate alone has loaded is none of this process's."""
        named = re.fullmatch(r"KeyError: '([\w.]+)'", error)
        return named is not None and named[1] in self._names_of_theirs

    def _is_told_otherwise(self) -> bool:
        """What a library was told may have been told before this test, and what it made of that lasts."""
        if not isinstance(self.candidate, Candidate):
            return False
        untold = next((found[0] for text in sources.values() if (found := _UNTOLD.search(text))), "")
        what = self.candidate.libraries.otherwise() or (untold and f"it asks for {untold}, which nobody is told here")
        if what:
            self.candidate.note(what, is_doubt=False)
            self.candidate.is_changed = True
        return bool(what)

    def _tell_note(self, what: str) -> None:
        """Whoever waits for the candidate shall know, before it is asked, that the test under way cannot be served;
        unless one has failed that could be."""
        is_excuse = all(unserved for *_, unserved in self.tally.failures)
        self._say(b"harena-note " + self._word + b" " + (what.encode() if is_excuse else b""))

    def swallowed(self, test: str = "", *, has_passed: bool = False) -> str:
        """A test has ended, by its name (`T.test_a`): an assertion that has failed in it although nobody has heard
        of it, or a question to the candidate that had no answer; or it `has_passed`, and was never run. Empty if there
        is nothing of that."""
        self.hollow.ended(test)
        error = self._swallowed.ended(test, has_passed=has_passed) if self._swallowed is not None else None
        unanswered = getattr(self.candidate, "unanswered", "")
        if unanswered:
            self.candidate.unanswered = ""
        if error is not None:
            return f"{told(error)} (it has failed, and its exception was swallowed)"
        return f"{unanswered} (the test has caught what says so)" if unanswered else ""

    def collected(self) -> None:
        """Every test file has been read."""
        if self._clocks is not None:
            self._notes_told = watch(self.candidate, self._clocks, self.trusted, self._tell_note)
        elif self._home == NOWHERE:
            self.candidate.is_collected = True
        elif self.candidate is not None:
            ask_for_kinds(self.candidate, frozenset(self.trusted))
        if self.candidate is not None:
            return
        for module in list(sys.modules.values()):
            if os.path.realpath(getattr(module, "__file__", None) or "/") in self.trusted:
                for name, loop in LOOPS.items():
                    vars(module).setdefault(name, loop)

    def end(self, all_passed: bool, code: int) -> None:
        """Tell what became of the tests, give the proof if all has passed and nothing was tampered with, and end."""
        used = self._uses.ended() if self._uses is not None else None
        if swallowed := self.swallowed():
            self.tally.failed("between tests", swallowed, False, False)
            all_passed, code = False, code or 1
        if untold := self._kin.untold():
            self.tally.failed("the candidate", f"a {untold} object {EQUALS_ALL}", False, False)
            all_passed, code = False, code or 1
        takes_alone = all_passed and self._taken is not None and bool(self._taken.what)
        if self._taken is not None and self._taken.what:
            self.tally.failed("the candidate", f"takes {self._taken.what}", False, False)
            all_passed, code = False, code or 1
        self._say(b"harena-report " + self._word + b" " + json.dumps(self._report()).encode())
        unchanged = self._home != BESIDE or _contents(self.trusted) == self._left()
        replaced = ""
        if self._tools is not None:
            planted = self.first.planted(self._tools.imports)
            replaced = self.comparisons.used.replaced or self._tools.replaced() or self._builtin_replaced() or planted
        if self.parts is not None:
            self.parts.look()
            replaced = replaced or self.parts.replaced
        if replaced:
            sys.stderr.write("the candidate has replaced " + replaced + ", which the tests use\n")
            sys.stderr.flush()
            unchanged, code = False, code or 1
        if (all_passed or takes_alone) and unchanged:
            is_equal = self._home == BESIDE and equals_everything(self.here, self.trusted, used)
            passed = b"harena-proof " if all_passed else TOOK
            if all_passed or not is_equal:
                self._say((EQUAL if is_equal else passed) + self._word)
        if self.candidate is not None and self._home != NOWHERE:
            self.candidate.end()
        os._exit(code)

    def _builtin_replaced(self) -> str:
        """The name of a builtin that judges and is another than before; empty where none is."""
        now = vars(builtins)
        changed = (
            name for name, value in self._builtins.items() if name not in FREE_BUILTINS and now.get(name) is not value
        )
        return next((f"builtins.{name}" for name in changed), "")

    def _report(self) -> dict[str, Any]:
        tally, failures = self.tally, self.tally.failures
        notes = self.candidate.notes if self.candidate is not None else []
        first = failures[0] if failures else None
        broken = next((f"{test}: {error}" for test, error, unasked, _ in failures if unasked), "")
        if not broken and not failures and not tally.passed and not self._has_seen():
            broken = EVERY_SKIPPED if tally.planned else "there are no tests"
        return {
            "first": f"{first[0]}: {first[1]}"[:600] if first else "",
            "broken": broken[:600],
            "doubted": next(iter(self.candidate.doubts), "") if self.candidate is not None else "",
            "believed": next(iter(self.candidate.believed), "") if self.candidate is not None else "",
            "unserved": (self._why or notes[0]) if notes and failures and all(each[-1] for each in failures) else "",
            "timed": bool(failures) and self._clocks is not None and self._clocks.is_timed,
            "excused": tally.excused[:_MOST_NAMES],
            "skips": tally.skips[:_MOST_NAMES],
            "expected": tally.expected[:_MOST_NAMES],
            "ran": _functions(tally.ran) if self._home != NOWHERE else tally.ran[:_MOST_NAMES],
            "read": tally.read[:_MOST_NAMES] if self._home == NOWHERE else [],
            "unread": tally.unread[:_MOST_NAMES] if self._home == NOWHERE else [],
            "counts": _counts(tally),
            "questions": list(self.candidate.questions.items()) if self._home == NOWHERE else [],
            "unheard": self.unheard(),
            "sought": self._absent.is_sought,
            "named": self.candidate.named()[:_MOST_NAMES] if isinstance(self.candidate, Candidate) else [],
            "taken": self._taken.what if self._taken is not None else "",
            "caught": dict(list(self._caught.places.items())[:_MOST_NAMES]),
            "passed": tally.passed,
            "hollow": self.hollow.places(),
            "unexplained": self.hollow.unexplained(),
            "judged": self.hollow.judged(),
            "unjudged": self.hollow.unjudged()[:_MOST_NAMES],
            "silent": self.hollow.silent()[:_MOST_NAMES],
        }

    def _say(self, body: bytes) -> None:
        if _getpid() != self._process:  # a child that the candidate forked, and that came back to the runner
            return
        if self._home in (ELSEWHERE, NOWHERE):
            write_frame(self._out, body)
        else:
            rest = b"\n" + body + b"\n"
            while rest:
                rest = rest[os.write(self._out, rest) :]

    def _left(self) -> list[bytes]:
        """What the trusted files hold if nobody has written to them."""
        hidden = self._hidden
        held = zip(self.trusted, self._before)  # noqa: B905 (no strict= before 3.10)
        return self._before if hidden is None else [hidden.blanked(path, content) for path, content in held]

    def _hideable(self, texts: dict[str, str], on_both_sides: list[str]) -> dict[str, bytes]:
        """What the test files hold that the candidate has no reason to read, nor has the gold."""
        both = {os.path.join(self.here, path) for path in on_both_sides}
        of_oracles = {path: text for path, text in texts.items() if path in self._oracles}
        hidden = files_to_hide({**self._tests_of(texts), **of_oracles})
        contents = dict(zip(self.trusted, self._before))  # noqa: B905 (no strict= before 3.10)
        return {
            path: contents[path]
            for path in hidden
            if path not in both and not self._caught.allows(f"taken: the text of {os.path.basename(path)}")
        }

    def _tests_of(self, texts: dict[str, str]) -> dict[str, str]:
        """The texts of the test files, and of what pytest reads for them."""
        named = {word.partition("::")[0] for word in self.words}
        named.update(path for path in self._ours if os.path.basename(path) == "conftest.py")
        return {path: text for path, text in texts.items() if os.path.relpath(path, self.here) in named}

    def _folders(self) -> list[str]:
        """Where the trusted modules are looked for, as pytest does: beside the tests, too."""
        tests = {os.path.dirname(word.partition("::")[0]) for word in self.words if ".py" in word}
        return sorted(folder for folder in tests if folder and f"{folder}/__init__.py" not in self._ours)

    def _used(self) -> Any:
        """What the suite uses of libraries, as it is while nothing of the candidate has run."""
        tree = ast.Module(body=[], type_ignores=[])
        for text in _sources(self._ours).values():
            try:
                tree.body += ast.parse(text).body
            except SyntaxError:  # of data, or of the suite, which tells it itself
                continue
        parts = [f"{node.module}.{alias.name}" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)
                 and node.module and not node.level for alias in node.names]  # fmt: skip
        for name in [*imported(tree), *parts]:  # what is imported from a package may be a module of it
            package, _, part = name.rpartition(".")
            if self._has(name.partition(".")[0]) or hasattr(sys.modules.get(package), part):
                continue  # a module of the library by this name would stand in its place
            try:
                importlib.import_module(name)
            except Exception:  # noqa: BLE001, S112 (whatever is wrong with it, the suite's own import tells it)
                continue
        return Tools(tree)

    def _has(self, name: str) -> bool:
        """The suite or the candidate has a module of this name."""
        folders = (self.here, *(os.path.join(self.here, folder) for folder in self._folders()))
        return any(os.path.exists(os.path.join(folder, name + end)) for folder in folders for end in ("", ".py"))

    def _find_absent(self, not_theirs: list[str]) -> None:
        """From here on, hear of modules that nobody has."""
        texts = _sources(self._ours)
        self._absent = Absent(self.here, texts, not_theirs)
        if self._stance != AS_IT_IS:
            exported = _exports(texts)
            self._absent.made = lambda name: nobodys_module(name, self.candidate, exported(name))
            self._absent.is_granted = lambda top: self.candidate.decide(
                f"{top} is there", self.candidate.grants, is_sure=True
            )
        sys.meta_path.append(self._absent)

    def _isolate(self, theirs: list[str], on_both_sides: list[str]) -> None:
        """From here on, the candidate's modules are stand-ins, and trusted ones are what they are now."""
        texts = _sources(self._ours)
        sources.update((os.path.join(self.here, path), text) for path, text in texts.items())
        trusted = {name: (path, sources[path]) for name, path in self._named_modules("", *self._folders()).items()}
        shared = [
            name
            for name, (path, _) in trusted.items()
            if path in {os.path.join(self.here, each) for each in on_both_sides}
        ]
        if self._home == NOWHERE:
            self.candidate = Nobody(self.trusted, self._stance, list(texts.values()), self._answers)
            os.dup2(2, 1)
        elif self._home == ELSEWHERE:
            answers = os.dup(0)
            os.dup2(2, 1)  # what the suite prints is no question
            self.candidate = Candidate(self._caught, channel=(self._out, answers), on_both_sides=shared)
            self.candidate.is_confirmed, self.candidate.has_gold = self._is_confirmed, self._has_gold
            withheld = [path for path in self._ours if path not in on_both_sides]
            self.candidate.named_in = NamedFiles(self.here, withheld).in_message
            self._clocks = Clocks(self.candidate, frozenset(self.trusted), are_stopped=self._stops_clocks)
            self._clocks.follow()
        else:
            program = (self._home, ",".join(shared))
            self.candidate = Candidate(self._caught, program=program, on_both_sides=shared)
            self._empty_files(frozenset(os.path.join(self.here, path) for path in on_both_sides))
        if self._home != NOWHERE:
            self.candidate.libraries.follow(_MODULES)
            guard(self.candidate, {os.path.join(self.here, path): text for path, text in texts.items()})
            identities = Identities(self.candidate.note, self.candidate.is_own, self.candidate.note_lasting, SERVED,
                                    types_of(self.candidate), past_classes(self.candidate))  # fmt: skip
            self.hollow.put_more, self.hollow.heard_equal = identities.put_questions, identities.compared
            put_in_builtins(self.hollow, identities.functions())
            self.candidate.tell_answer = self.hollow.gave
        null = os.open(os.devnull, os.O_RDONLY)
        os.dup2(null, 0)
        import unittest

        judge_by_values(unittest.TestCase)
        if self._home != NOWHERE:
            judge_by_names(unittest.TestCase, self.candidate.is_own)

        def below(folder: str) -> tuple[dict[str, str], dict[str, tuple[str, str]]]:
            prefix = f"{folder}/" if folder else ""
            own = {name: (path, sources[path]) for name, path in self._named_modules(folder).items()}
            paths = {path[len(prefix) :]: path for path in theirs if path.startswith(prefix) and path.endswith(".py")}
            named = {module_name(inner): os.path.join(self.here, path) for inner, path in paths.items()}
            taken = trusted.keys() | own.keys()
            free = {name: path for name, path in named.items() if name not in taken and not _is_taken(name, self.here)}
            return free, own

        # behind that for what libraries ask for
        sys.meta_path.insert(1, Finder(self.candidate, below("")[0], trusted, _exports(texts), below))

    def _named_modules(self, *folders: str) -> dict[str, str]:
        """The names of the trusted modules where these folders are searched, the first one first, and their paths."""
        named: dict[str, str] = {}
        for folder in folders:
            prefix = f"{folder}/" if folder else ""
            for path in self._ours:
                if path.endswith(".py") and path.startswith(prefix) and os.path.isfile(path):
                    named.setdefault(module_name(path[len(prefix) :]), os.path.join(self.here, path))
        return named

    def _empty_files(self, on_both_sides: frozenset[str]) -> None:
        """The trusted files are read by the suite alone, from what they held: nobody else finds anything in them."""
        held = dict(zip(self.trusted, self._before))  # noqa: B905 (no strict= before 3.10)
        hidden = {path: content for path, content in held.items() if path not in on_both_sides and os.path.isfile(path)}
        really_open = io.open

        def opened(file: Any, mode: str = "r", buffering: int = -1, encoding: Any = None, errors: Any = None,
                   newline: Any = None, closefd: bool = True, opener: Any = None) -> Any:  # fmt: skip
            path = os.path.realpath(os.fspath(file)) if isinstance(file, (str, os.PathLike)) else ""
            if path not in hidden or set(mode) & set("wax+"):
                return really_open(file, mode, buffering, encoding, errors, newline, closefd, opener)
            held = io.BytesIO(hidden[path])
            return held if "b" in mode else io.TextIOWrapper(held, encoding, errors, newline)

        for path in hidden:
            with really_open(path, "wb"):
                pass
        builtins.open = io.open = opened


def judge_by_values(case: Any) -> None:
    """Assertions of unittest that ask their operands by name, and not by a special method that a stand-in answers.

    `assertAlmostEqual` subtracts: an object of the candidate's that is no number is close to none here, but for one
    that the suite has made or computed, where its difference is judged once more (`standins`). `assertSetEqual` asks
    for a `difference`, which would tell the candidate what is expected: what counts are the items."""
    almost, sets = case.assertAlmostEqual, case.assertSetEqual

    def judged(self: Any, first: Any, second: Any, *more: Any, **keywords: Any) -> None:
        if isinstance(first, StandIn) is not isinstance(second, StandIn) and not differs_by_itself(first, second):
            self.fail(f"{first!r} and {second!r} are not of a kind")
        almost(self, first, second, *more, **keywords)

    def judged_sets(self: Any, set1: Any, set2: Any, msg: Any = None) -> None:
        sets(self, items_as_set(set1), items_as_set(set2), msg)

    case.assertAlmostEqual, case.assertSetEqual = judged, judged_sets


def judge_by_names(case: Any, is_own: Callable[[Any, Any], bool]) -> None:
    """Assertions of unittest that ask whether two things are one: what the candidate holds of a library is the suite's
    own where both have it by one name."""
    same, another = case.assertIs, case.assertIsNot

    def judged(self: Any, expr1: Any, expr2: Any, msg: Any = None) -> None:
        same(self, expr1, expr1 if is_own(expr1, expr2) else expr2, msg)

    def judged_apart(self: Any, expr1: Any, expr2: Any, msg: Any = None) -> None:
        another(self, expr1, expr1 if is_own(expr1, expr2) else expr2, msg)

    case.assertIs, case.assertIsNot = judged, judged_apart


def _functions(tests: list[str]) -> list[str]:
    """The tests without their parameters, each once; none where there are too many to be compared."""
    found = {test.partition("[")[0] for test in tests}
    return sorted(found) if len(found) <= _MOST_FUNCTIONS else []


def _counts(tally: Tally) -> dict[str, int]:
    """How often each test function was there, run or excused; none where there are too many to be compared. An empty
    set of parameters is no test."""
    found: dict[str, int] = {}
    for test in (*tally.ran, *tally.excused):
        name, _, parameters = test.partition("[")
        if not parameters.startswith("NOTSET"):
            found[name] = found.get(name, 0) + 1
    return found if len(found) <= _MOST_NAMES else {}


def _is_taken(name: str, here: str = "") -> bool:
    """A module of this name is there already, and not in the folder `here`: the suite means that one."""
    top = name.partition(".")[0]
    is_there = top in sys.modules and not isinstance(sys.modules[top], StandInModule)
    if is_there or top in getattr(sys, "stdlib_module_names", sys.builtin_module_names):
        return True
    try:
        path = [place for place in sys.path if not here or not (os.path.realpath(place) + "/").startswith(here + "/")]
        spec = importlib.machinery.PathFinder.find_spec(top, path)
    except (ImportError, ValueError):
        return False
    return spec is not None


def _exports(texts: dict[str, str]) -> Callable[[str], frozenset[str]]:
    """What star imports of a module may bring: names that the trusted files use that import so, and no builtin nor what
    one of these files binds, or has of another trusted file by a star import."""
    used: dict[str, set[str]] = {}
    bound: dict[str, set[str]] = {}
    stars: dict[str, set[str]] = {}
    for path, text in texts.items():
        try:
            nodes = list(ast.walk(ast.parse(text)))
            own = set(_bound_in_module(symtable.symtable(text, path, "exec")))
        except (SyntaxError, ValueError):
            continue
        used[path], bound[path], stars[path] = set(), own.union(_bound_by_stars(nodes, texts)), set(_starred(nodes))
        for node in nodes:
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                used[path].add(node.id)
            class_names.update(_classes_of(node))
            written_names.update(filter(is_written_name, _attributes_of(node)))

    def exported(module: str) -> frozenset[str]:
        modules: set[str] = {module, ""}
        importers: set[str] = set()
        before = -1
        while before != len(importers):  # what a trusted module has imported so, another one may import of it
            before = len(importers)
            importers |= {path for path, names in stars.items() if names & modules}
            modules.update(name for path in importers for name in _names_of(path))
        wanted = {name for path in importers for name in used[path]}
        trusted: set[str] = set(importers)
        waiting = list(importers)
        while waiting:
            names = stars.get(waiting.pop(), set())
            more = {path for path in bound if path not in trusted and ("" in names or names & set(_names_of(path)))}
            trusted |= more
            waiting += more
        return frozenset(wanted.difference(vars(builtins), *(bound[path] for path in trusted)))

    return exported


def _names_of(path: str) -> list[str]:
    """By which the module of this path may be imported: `a/b.py` as a.b, and from within its folder as b."""
    parts = module_name(path).split(".")
    return [".".join(parts[place:]) for place in range(len(parts))]


def _starred(nodes: list[Any]) -> Iterator[str]:
    """Modules of star imports; "" for one that is told by its place in a package."""
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and any(alias.name == "*" for alias in node.names):
            yield "" if node.level else node.module or ""


def _bound_in_module(table: symtable.SymbolTable) -> Iterator[str]:
    """Names that a module's own text binds in it, also in functions that say `global`. What a function or a class binds
    for itself hides no name of the module from others."""
    is_module = table.get_type() == "module"
    for symbol in table.get_symbols():
        if (symbol.is_assigned() or symbol.is_imported()) and (is_module or symbol.is_declared_global()):
            yield symbol.get_name()
    for inner in table.get_children():
        yield from _bound_in_module(inner)


def _bound_by_stars(nodes: list[Any], texts: dict[str, str]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and not node.level and any(alias.name == "*" for alias in node.names):
            yield from _star_names(node.module or "", texts)


def _classes_of(node: Any) -> Iterator[str]:
    """Names that this part of a text uses as classes."""
    places: list[Any] = []
    if isinstance(node, ast.Call) and isinstance(node.func, (ast.Name, ast.Attribute)) and len(node.args) > 1:
        name = node.func.id if isinstance(node.func, ast.Name) else node.func.attr
        if name in ("isinstance", "issubclass", "assertIsInstance", "assertNotIsInstance"):
            places.append(node.args[1])
    elif isinstance(node, ast.ClassDef):
        places.extend(node.bases)
    for place in places:
        for part in place.elts if isinstance(place, ast.Tuple) else [place]:
            if isinstance(part, (ast.Name, ast.Attribute)):
                yield part.id if isinstance(part, ast.Name) else part.attr


def _attributes_of(node: Any) -> Iterator[str]:
    """Names of attributes that this part of a text has, also as a text (`hasattr(x, "name")`)."""
    if isinstance(node, ast.Attribute):
        yield node.attr
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value


def _star_names(module: str, texts: dict[str, str]) -> Iterator[str]:
    """What a star import of an installed module binds. A trusted module's own names are bound by its text."""
    if not module or not _is_taken(module) or module in map(module_name, texts):
        return
    try:
        found = importlib.import_module(module)
    except ImportError:
        return
    yield from getattr(found, "__all__", [name for name in vars(found) if name[:1] != "_"])


def _seen_around() -> dict[str, Any]:
    """What conditions of skips ask for, as plain values. An object of another class, which could say that it equals
    any, is None as what is not there."""
    found: dict[str, Any] = {}
    if type(os.environ) in (dict, _ENVIRONMENT):
        found.update((name, value) for name, value in os.environ.items() if type(value) is str)
    version = sys.version_info
    found["sys.version_info"] = (
        [each for each in version if type(each) in (int, str)] if isinstance(version, tuple) else []
    )
    for name, value in (("sys.platform", sys.platform), ("sys.maxsize", sys.maxsize), ("os.name", os.name)):
        found[name] = value if type(value) in (int, str) else None
    return found


def _line(descriptor: int) -> bytes:
    """One line, and not a byte more: what follows is read by others."""
    line = b""
    while not line.endswith(b"\n"):
        piece = os.read(descriptor, 1)
        if not piece:
            break
        line += piece
    return line.strip()


def _sources(paths: list[str]) -> dict[str, str]:
    found = {}
    for path in paths:
        if path.endswith(".py") and os.path.isfile(path):
            with open(path, encoding="utf-8-sig") as file:
                found[path] = file.read()
    return found


def _contents(paths: list[str]) -> list[bytes]:
    """Contents of the trusted files. A missing one has none."""
    found = []
    for path in paths:
        try:
            with open(path, "rb") as file:
                found.append(file.read())
        except OSError:
            found.append(b"")
    return found


def told(error: BaseException | None) -> str:
    """An exception in one line."""
    if error is None:
        return ""
    try:
        text = str(error)
    except Exception:  # noqa: BLE001 (one of a class that the suite made)
        text = ""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return f"{type(error).__name__}: {' '.join(lines[:3])}"[:500] if lines else type(error).__name__
