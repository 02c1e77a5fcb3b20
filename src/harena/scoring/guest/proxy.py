"""The candidate's modules, for a trusted test suite that runs in another process than they do. Standard library only.

The suite imports `solution` and gets a stand-in. What it calls is called where the candidate really lives, on real
objects (`guest_candidate_process`), and what comes back are values, or stand-ins for what is no value
(`guest_standins`). So no code of the candidate runs beside the suite: there is no frame to dig in and no assertion to
patch, and what the suite compares is compared here. Functions of the suite that it gives away are called here, when the
candidate calls them.

What the suite does that cannot be served (`note`) is remembered: a test that fails then says nothing of the candidate.
"""

from __future__ import annotations

import ast
import builtins
import collections
import contextlib
import decimal
import functools
import importlib.abc
import importlib.machinery
import inspect
import os
import random
import subprocess
import sys
import threading
import time
import types
import weakref

from harena.scoring.guest.absent_candidate import Nobody, is_importing, nobodys_module
from harena.scoring.guest.buffers import is_of_all
from harena.scoring.guest.callback_errors import chain_of, is_carried_past_a_judgement
from harena.scoring.guest.callers import LOOKED
from harena.scoring.guest.candidate_process import (
    DESCRIBING,
    SPECIAL,
    UNCROSSED,
    fill_instance,
    made_instance,
    read_frame,
    slots_of,
    state_of_instance,
    write_frame,
)
from harena.scoring.guest.caught_assertions import Caught
from harena.scoring.guest.driver import UncarriedError, decode, encode
from harena.scoring.guest.exception_transfer import (
    GROUPS,
    arguments_of,
    fields_of,
    is_library_class,
    names_of,
    names_traces,
    remade,
    trace_elsewhere,
)
from harena.scoring.guest.executed_assertions import DeepTrees
from harena.scoring.guest.functions import (
    Attributes,
    WithheldDefault,
    alias,
    alias_of,
    describe,
    fill_attributes,
    kind_of_function,
    lacks_annotations,
    lacks_part,
    literal_defaults,
    pure_functions,
    signature_of,
    streams_of,
    text_of_function,
    told_attributes,
    unserved_in,
    with_defaults,
    withheld_default,
)
from harena.scoring.guest.library_functions import FUNCTIONS, function_at, own_by_name, place_of
from harena.scoring.guest.library_questions import LibraryQuestions, is_known_here_as
from harena.scoring.guest.numbered_exceptions import KeptErrors
from harena.scoring.guest.object_graph import MOST_PARTS, MOST_SHARED, MUTABLE, Border, GraphError, plain_of
from harena.scoring.guest.object_permissions import (
    OF_TESTS,
    is_called_only,
    is_mock,
    is_outcome,
    is_own_error,
    is_withheld,
    plain_fields,
    read,
    special_method,
    special_methods,
    write,
)
from harena.scoring.guest.plain_operands import HOLDING
from harena.scoring.guest.record_classes import Records, hidden_method
from harena.scoring.guest.repeated_reads import PURE, Looks, is_tested
from harena.scoring.guest.safe_iteration import names_end
from harena.scoring.guest.standins import (
    LEFT,
    Member,
    Method,
    StandIn,
    StandInClass,
    carried,
    doubts,
    generator,
    is_kept_by_name,
    made_of_value,
    make_class,
    make_member,
    mark_kin,
    names_a_class,
    no_judge,
    origin_of,
    own_names,
    signature_here,
    without_judges,
    words,
)
from harena.scoring.guest.stated_objects import JUDGING, StatedObjects
from harena.scoring.guest.suite_waits import Waits
from harena.scoring.guest.swallowing_exits import sources, tree_of
from harena.scoring.guest.unproven_passes import Trust, named_by_suite
from harena.scoring.guest.vacuous_comparisons import watched

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
    from types import ModuleType
    from typing import Any

_NEVER_RAISED = (*OF_TESTS, "hypothesis")
_MOST_UNRELATED = 2
"""exceptions of Python's or a package's, none a base of another, that a class of the candidate's may derive from"""
_MOST_DEEP = 200
_HELD_ERRORS, _HELD_RAISED_ERRORS = 256, 8
"""exceptions of the candidate's that are held for it: those that it was asked for, and those that it raised"""
_MOST_MADE_ERRORS = 100_000
"""exceptions of the candidate's whose numbers are known, in one test"""
_CONTAINERS = ("list", "set", "dict", "deque", "bytearray")
_LARGE_ANSWER_BYTES = 64 * 1024
"""size of all answers together; with less, a question that is too large is so by the suite's doing"""
_DEEP_ANSWER_TUPLES = 10
_MOST_WRITTEN_BYTES = 4 * 1024 * 1024
"""size limit of all that the candidate writes to descriptor 1, in the whole suite"""
_NESTING = tuple(encode(kind) for kind in "tzvwE")
_MOST_OBJECTS = 2**31
_LONG_WAIT_SECONDS = 0.25
_TWO_THREADS = "two of its threads call the candidate at the same time"
_SEVERAL_COROUTINES = "it runs several coroutines at the same time"
_MOST_DEEP_LISTENING = 16
"""calls within calls, of which each waits and lets threads of the candidate's make the next"""
_TASKS_AT_ONCE = 2
_OF_ITS_TEXT = frozenset({"module", "names", "signature"})
"""what is asked of a program, and not of what it computes"""
_CALLS = frozenset({"call", "special", "make"})
"""what is asked with arguments by their names"""
_BOUND = (types.MethodType, types.BuiltinMethodType, types.MethodWrapperType)
_PLAIN_KINDS = frozenset({bool, int, float, complex, str, bytes, tuple, list, dict, set, frozenset, type(None), type})
"""an object that is of one of these has a stand-in that is"""
_monotonic = time.monotonic
_ENDS_ALL = (KeyboardInterrupt, GeneratorExit)
"""what ends a run of tests, or a generator of the suite's"""
_OWN_ERRORS = {
    cls: type(cls.__name__, (cls,), {"__module__": "builtins"}) for cls in (AssertionError, Exception, BaseException)
}
"""what the candidate calls by these names are its own: a test that catches them must not catch what the tests raise"""


class CandidateEndedError(BaseException):
    """The candidate's process has ended, or its answer is none that can be had here. No test can expect this: it is no
    Exception, and where a test catches it all the same, `Candidate.unanswered` keeps it."""


class UnservedError(TypeError):
    """The suite asks for something that cannot be had from another process."""


class _EndError(RuntimeError):
    """The candidate raised what would end a loop of the suite's as if all were well. If the candidate has asked for the
    call in which it did so, this is what it raised again as soon as it comes back there."""

    def __init__(self, raised: type[BaseException], arguments: tuple[Any, ...]) -> None:
        super().__init__(f"the candidate raised {raised.__name__}")
        self.raised = (raised, arguments)


class Candidate(Border):
    """The candidate's process, as the suite's process sees it."""

    def __init__(
        self,
        caught: Caught,
        program: Sequence[str] = (),
        channel: tuple[int, int] | None = None,
        on_both_sides: Sequence[str] = (),
    ) -> None:
        """`caught` says which failed assertions the candidate may catch. `program` is started with the first thing that
        is asked; or `channel`, descriptors for questions and answers, leads to where it runs. `on_both_sides`: names of
        trusted modules that both sides have."""
        super().__init__(0)
        self._caught = caught
        self._program = program
        self._channel = channel
        self._left_to_write = 0 if channel is None else _MOST_WRITTEN_BYTES
        """what of the candidate's output may still be written to descriptor 1, which is this process's own to say its
        word on where the candidate is its child"""
        self._on_both_sides = frozenset(on_both_sides)
        self._records = Records()
        self._stated = StatedObjects(self._no_answer)
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = threading.RLock()
        self._writing = threading.Lock()
        self._waited_for: list[str] = []
        """why threads of the suite's wait now, once for each of them"""
        self.tell_wait: Callable[[str], None] = lambda what: None
        self.tell_answer: Callable[[Any, Any, Any], None] = lambda answer, positional, named: None
        self.waited = ""
        """why the candidate could not do for the test under way what it would do beside it; an excuse if that fails"""
        self.unlike = ""
        """why what the candidate answers from then on may be another thing beside the tests; an excuse if one fails"""
        self._classes: dict[int, Any] = {}
        self._stand_ins: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()
        self._values: dict[int, Any] = {}  # classes that derive from int or tuple have no weak references
        self._members: dict[int, Any] = {}
        self._functions: dict[int, tuple[Any, Any]] = {}
        self._released: list[int] = []
        self._given: dict[int, Any] = {}
        self._given_numbers: dict[Any, int] = {}
        self._told_functions: dict[int, tuple[Any, ...]] = {}
        self._lacking_annotations: set[int] = set()
        """numbers of functions of which not all annotations are told"""
        self.heard: Any = None
        """what keeps the candidate's messages, see `guest_evaluated_texts`"""
        self._raised: list[BaseException] = []
        self._met: list[Any] = []
        """objects that the suite has made, or an operator for it, in the message that came last"""
        self._seed: Any = None
        self._depth = 0
        self._serving = 0
        self._explaining = 0
        self._heard_bytes = self._heard_tuples = 0
        self._failed: list[BaseException] = []
        self._crossed: list[BaseException] = []
        """errors of the candidate's that have left a function of the suite's before it has judged"""
        self._lent: dict[tuple[str, str], Any] = {}
        """functions and classes that both sides have, and that the candidate was given, by module and name"""
        self._handed: set[tuple[str, str]] = set()
        """functions of libraries that the candidate has handed out, which are the suite's own here"""
        self._pure = pure_functions()
        self.looks = Looks()
        self._seen_states: list[Any] = []
        self._is_comparing = False
        self._receiving = 0
        self._aliases: dict[Any, Any] = {}
        self._input = builtins.input
        self.asked = 0
        """questions so far"""
        self.asking_seconds = 0.0
        """wall time that they have taken"""
        self._asking = 0
        self.has_run = False
        """a coroutine of the candidate's has been run in the test under way"""
        self._has_stood = False
        """a task of the candidate's has, as it was last seen in a wait"""
        self.partial_kinds: set[str] = set()
        """names of classes of which a stand-in is not, for code in C, what its object is where the candidate is"""
        self.notes: list[str] = []
        """what the suite did that cannot be served, in its order"""
        self.trust = Trust(words)
        self.is_confirmed = False
        """a pass that is in doubt is judged by a run in one process, too"""
        self.has_gold = False
        """a gold solution is paid like this, so that the suite needs no object which says what it does not hold"""
        self._made_errors = KeptErrors(_HELD_ERRORS, _HELD_RAISED_ERRORS)
        """exceptions that stand for the candidate's, by their numbers there"""
        self._named: dict[str, bool] = {}
        """by the names by which the suite has taken something of the modules', whether that calls itself so"""
        self._has_lost_errors = False
        """in the present test, one has crossed again that nobody here held any more"""
        self.unanswered = ""
        """what a question of the present test had instead of an answer; empty = each had one"""
        self.replaced: list[str] = []
        """what the suite has replaced for now in modules that the candidate has, too"""
        self.named_in: Callable[[bytes], str] = lambda said: ""
        """finds a file that a message names, and that is not where the candidate is"""
        self.is_changed = False
        """the suite has changed the candidate's modules, and what they do from then on may be its own doing; or all
        tests have what cannot be served"""
        self._has_begun = False
        """a test has"""
        self._follow_seeds()
        self._follow_classes()
        self.libraries = LibraryQuestions(self, _standard_name, (_Function, _Opaque, Method))
        self.pythons: dict[Any, tuple[str, str]] = {}
        """function that stands in the suite's code for one of Python's own -> module and name of that"""
        waits = Waits(self._may_listen, self._listen, self.looks.forget, self._stands, self._waits_no_more)
        self._sleep = waits.follow()
        self.pythons[self._sleep] = ("time", "sleep")

    @property
    def doubts(self) -> list[str]:
        """Why a pass may say nothing, in their order."""
        return doubts

    @property
    def believed(self) -> list[str]:
        """What a pass rests on that only the candidate's objects have said, where the tests are not."""
        return [*words, *self.trust.waiting()]

    def took(self, name: str, found: Any) -> None:
        """The suite has taken this by its name from a module of the candidate's. What a function or a class is called
        is told with it, and stays; what another object says of that is the candidate's to choose each time."""
        is_kept = type(found) is _Function or isinstance(found, StandInClass)
        self._named[name] = self._named.get(name, True) and is_kept and found.__name__ == name

    def named(self) -> list[str]:
        """The names of all that calls itself as the suite does that has taken it."""
        return sorted(name for name, is_own in self._named.items() if is_own)

    @property
    def is_serving(self) -> bool:
        """The suite does what the candidate has asked for."""
        return self._serving > 0

    @property
    def has_objects(self) -> bool:
        """The suite has met a class of the candidate's, or an object of one."""
        return bool(self._classes)

    def note(self, what: str, *, is_doubt: bool = True) -> bool:
        """The suite did something that cannot be served; whether that may be why a test fails. What it does at the
        candidate's request is no excuse, nor what explains an assertion that has failed already. Unless told otherwise,
        a test that passes all the same is in doubt, too."""
        is_excuse = not self._serving and not self._explaining
        if is_excuse:
            self.notes.append(what)
        if is_doubt:
            doubts.append(what)
        return is_excuse

    def note_lasting(self, what: str) -> None:
        """The suite did something that cannot be served, and that is so for the tests that follow, too."""
        self.note(what)
        self.is_changed = True

    def unserved_attributes(self, names: str) -> None:
        """The candidate has set what only its own side has of a function, or of a class, that the suite gave it. A test
        that passes all the same is in no doubt."""
        what = f"the candidate sets {names} of the suite's"
        if what not in self.notes:
            self.notes.append(what)
        self.is_changed = True

    @contextlib.contextmanager
    def explaining(self) -> Iterator[None]:
        """What is asked in the meantime describes a failure, and decides nothing."""
        self._explaining += 1
        try:
            yield
        finally:
            self._explaining -= 1

    def _follow_seeds(self) -> None:
        seed = random.seed

        def followed(*arguments: Any, **keywords: Any) -> None:
            seed(*arguments, **keywords)
            self._seed = tuple(arguments) or tuple(keywords.values()) or None

        random.seed = followed

    def _follow_classes(self) -> None:
        """Note each class of the suite's that would derive from one of the candidate's, and cannot."""
        build = builtins.__build_class__

        def built(body: Any, name: str, /, *bases: Any, **keywords: Any) -> Any:
            try:
                return build(body, name, *bases, **keywords)
            except Exception:  # raised again: of metaclasses, or of what the body does with what it derives from
                self._note_underivable(bases)
                raise

        builtins.__build_class__ = built

    def _note_underivable(self, bases: Any) -> None:
        theirs = [each for base in bases for each in (base, type(base)) if isinstance(each, (StandInClass, ErrorClass))]
        if theirs:
            self.note(f"it derives a class of its own from the candidate's {theirs[0].__name__}")

    def _may_listen(self) -> bool:
        """What this thread waits for may be done by threads of the candidate's, which call functions of the suite's."""
        if threading.current_thread() is not threading.main_thread() or self._receiving:
            return False
        if self._depth > _MOST_DEEP_LISTENING:
            self.waited = self.waited or "too many functions that it gives the candidate wait at the same time"
            return False
        return bool(self._given) or threading.active_count() > 1

    def _listen(self) -> None:
        """Let threads of the candidate's call functions of the suite's, where nobody else listens. They know nothing of
        an event loop of the suite's."""
        if not self._given or not self._lock.acquire(blocking=False):
            return
        events = sys.modules.get("asyncio.events")
        loop = None if events is None else events._get_running_loop()
        try:
            if events is not None:
                events._set_running_loop(None)
            self._has_stood = self.ask("turn", None) is True or self._has_stood
        finally:
            if events is not None:
                events._set_running_loop(loop)
            self._lock.release()

    def _stands(self, what: str) -> None:
        """The suite's main thread waits. Whoever waits for the suite shall know why it may never go on."""
        if self._given:
            self._waits(what)

    def stands_still(self) -> bool:
        """A task of the candidate's was waiting for the suite to ask for something."""
        had, self._has_stood = self._has_stood, False
        try:
            return bool(self.ask("turn", None)) or had
        except Exception:  # noqa: BLE001 (whatever is wrong with it: it waits for nothing)
            return False

    # Talking.

    def ask(self, verb: str, target: Any, name: str = "", positional: Any = (), keywords: Any = (), *_: Any) -> Any:
        """What the candidate's side does on request, or what was seen of it before. Raises what that raised. A thread
        that has to wait for its turn may be what the answer to another one waits for."""
        if threading.current_thread() is not threading.main_thread():
            self.waited = self.waited or "its threads call the candidate, where they are one"
        if not self._lock.acquire(timeout=_LONG_WAIT_SECONDS):
            self.waited = _TWO_THREADS
            self._waits(_TWO_THREADS)
            self._lock.acquire()
            self._waits_no_more(_TWO_THREADS)
        self._asking += 1
        began = _monotonic()
        try:
            self.trust.asked(verb, target, name, positional, keywords)
            found = self._seen_or_asked(verb, target, name, positional, keywords)
            self.trust.given(verb, target, name, found)
            if verb not in _OF_ITS_TEXT:
                given = positional if type(positional) is tuple else ()
                named = [pair[1] for pair in keywords if type(pair) is tuple] if verb in _CALLS else []
                self.tell_answer(found, given, named)
            # a truth of numpy's that an object says is judged as a truth
            return plain_of(found) if _is_told_by_object(target) and type(plain_of(found)) is bool else found
        finally:
            self._asking -= 1
            if not self._asking:
                self.asking_seconds += _monotonic() - began
            self._lock.release()

    def _seen_or_asked(self, verb: str, target: Any, name: str, positional: Any, keywords: Any) -> Any:
        with self._lock:
            key = self.looks.key(verb, target, name, positional, keywords)
            if key is None:
                self.looks.did(verb, name)
                try:
                    return self._ask(verb, target, name, positional, keywords)
                finally:
                    self.looks.did(verb, name)
            if self.looks.has_any and not self._receiving and self._shared_states() != self._seen_states:
                self.looks.forget()  # the suite has changed what the candidate looks at, too
            seen = None if is_tested(target) and name in PURE else self.looks.known(key)
            if seen is not None:
                found, raised = seen
                if self._shows_otherwise(key, seen, verb, target, name, positional) and not self.has_gold:
                    what = f"it looks again at {name or 'the names'} of a {type(target).__name__!r} object"
                    self.note(f"{what}, which has something else to show then", is_doubt=False)
                if raised is not None:
                    raise raised.with_traceback(None)
                return found
            try:
                found = self._ask(verb, target, name, positional, keywords)
            except Exception as error:  # raised again: what the candidate raised is its answer, and seen like one
                self._keep(key, None, error)
                raise
            self._keep(key, found)
            return found

    def _shows_otherwise(self, key: Any, seen: Any, verb: str, target: Any, name: str, positional: Any) -> bool:
        """What has been seen, and is shown again, is not what the object would show now."""
        if self._receiving or self._explaining or self._is_comparing or not self.looks.is_due(key):
            return False
        found, raised = seen
        with self.looks.quiet():
            try:
                again = self._ask(verb, target, name, positional, ())
            except Exception as error:  # noqa: BLE001 (what the candidate raises is what it shows)
                return type(error) is not type(raised)
        return raised is not None or not _shows_same(found, again)

    def _waits(self, what: str) -> None:
        """Whoever waits for the candidate shall know why it may never answer."""
        with self._writing:
            self._waited_for.append(what)
            self.tell_wait(what)

    def _waits_no_more(self, what: str) -> None:
        """One thread goes on; others may still wait, for the same reason or for another one."""
        with self._writing:
            if what in self._waited_for:
                self._waited_for.remove(what)
                self.tell_wait(self._waited_for[-1] if self._waited_for else "")

    def close(self, generator: Any) -> None:
        """End a generator of the candidate's, as `close()` does, or the end of a loop over it. While the candidate is
        asked something else, or this process ends, it is ended as what nobody holds any more."""
        if not self._depth and not self._receiving and not sys.is_finalizing():
            self.ask("call", generator, "close")

    def run(self, coroutine: Any) -> Any:
        """What a coroutine of the candidate's comes to. Nothing else of the suite's goes on while it runs."""
        import asyncio

        self.has_run = True
        try:
            is_alone = len(asyncio.all_tasks()) < _TASKS_AT_ONCE
            if getattr(asyncio.get_running_loop(), "_scheduled", None):
                self.waited = self.waited or "its loop has timers, which stand still while the candidate runs"
        except RuntimeError:
            is_alone = True
        if is_alone:
            return self.ask("run", coroutine)
        self.waited = _SEVERAL_COROUTINES
        self._waits(_SEVERAL_COROUTINES)
        try:
            return self.ask("run", coroutine)
        finally:
            self._waits_no_more(_SEVERAL_COROUTINES)

    def _keep(self, key: Any, found: Any, error: Exception | None = None) -> None:
        if not self.looks.has_any:
            self._seen_states = self._shared_states()
        self.looks.keep(key, found, error)

    def _shared_states(self) -> list[Any]:
        """What the objects that both sides have are now; they are a candidate's to change only while it is asked."""
        states: list[Any] = []
        self._is_comparing = True
        try:
            for number, value in list(self.shared.items()):
                kind = MUTABLE.get(type(value)) or self._kind(value)
                try:
                    states.append((number, encode((kind, self._state(str(kind), value)), most_parts=MOST_PARTS)))
                except Exception:  # noqa: BLE001 (what cannot be told is told when it is sent)
                    states.append((number, b""))
        finally:
            self._is_comparing = False
        return states

    def _ask(self, verb: str, target: Any, name: str, positional: Any, keywords: Any) -> Any:
        with self._lock:
            self.asked += 1
            if self.replaced:
                self.note(f"it replaces {self.replaced[-1]} while the candidate runs")
            self._depth += 1
            outer, outer_crossed, lent = self._failed, self._crossed, len(self._lent_views)
            failed: list[BaseException] = []
            crossed: list[BaseException] = []
            self._failed, self._crossed = failed, crossed
            try:
                if self._depth > _MOST_DEEP:
                    raise RecursionError("suite and candidate call each other too deep")
                given = self._talk(verb, target, name, positional, keywords)
            except BaseException as error:  # raised again, but for what a test has said before it
                is_own = any(error is each for each in failed)
                if not is_own and (lost := self._lost(failed)) is not None:
                    raise lost from None
                if not is_own:
                    self._no_judgement_lost(crossed, error)
                raise
            finally:
                self._depth -= 1
                self._failed, self._crossed = outer, outer_crossed
                self.end_views(lent)
                if self.looks.has_any:
                    self._seen_states = self._shared_states()
            if (lost := self._lost(failed)) is not None:
                raise lost
            self._no_judgement_lost(crossed, None)
            return given

    def _lost(self, failed: list[BaseException]) -> BaseException | None:
        """What a test has said, and the candidate has swallowed though it may not."""
        lost = [error for error in failed if not self._caught.may_be(self._caught.place(error))]
        return lost[0] if lost else None

    def _no_judgement_lost(self, crossed: list[BaseException], raised: BaseException | None) -> None:
        """Raises AssertionError if the candidate keeps an error to itself by which a function of the suite's has not
        come to its judgement. What the suite hears of, also as the cause of another error, is the suite's to handle."""
        heard = list(chain_of(raised))
        swallowed = [error for error in crossed if all(error is not each for each in heard)]
        if (error := self._lost(swallowed)) is not None:
            text = f"its own {error!r} was swallowed, by which a function of the tests has not come to its judgement"
            raise AssertionError(text) from error

    def _talk(self, *question: Any) -> Any:
        questions, answers = self._channel or self._started()
        stdin = sys.stdin
        has_input = stdin is not sys.__stdin__ and type(stdin).__name__ not in ("DontReadFromInput", "EncodedFile")
        released = self._taken_released(question[1])
        more = (has_input, builtins.input is not self._input, self._seed, released)
        self._seed = None
        said = self._packed("ask", question, more)
        while True:
            self._met.clear()
            kind, roots = self._exchanged(questions, answers, said)
            if kind == "give" and _gives_answers(*question[:3]):
                for found in self._met:
                    object.__setattr__(found, "_harena_origin", "given")
            if kind == "ask":
                said = self._served(roots)
                continue
            if kind == "give":
                return roots[0]
            if kind == "stop":
                is_generator = type(question[1]) is _Reference  # no class of the candidate's has its methods
                if (
                    question[0] == "many"
                    or (question[0], question[2]) == ("special", "__next__")
                    or (is_generator and question[0] == "call" and question[2] in ("send", "throw"))
                ):
                    raise StopIteration(roots[0])
                if names_end(sources.values()):
                    self.note("the candidate raises StopIteration, which arrives as a RuntimeError")
                raise _EndError(StopIteration, (roots[0],))
            raised = self.raised(*roots)
            if "_harena_error" in vars(raised):  # where it was raised before says nothing of this time
                raised.__traceback__ = None
                if type(vars(raised)["_harena_error"]) is int:
                    self._made_errors.raised(vars(raised)["_harena_error"])
            if isinstance(raised, (StopIteration, StopAsyncIteration)) and question[0] != "anext":
                # it would end a loop of the suite's as if all were well
                doubts.append(f"the candidate raises {type(raised).__name__}, which arrives as a RuntimeError")
                raised = _EndError(type(raised), raised.args)
            raise raised

    def _taken_released(self, target: Any) -> list[int]:
        """The numbers of stand-ins that nobody holds any more, but for what is asked right now: a generator that ends
        is closed when it is gone."""
        if self._unpacking:  # an answer that is being read may bring one of these again
            return []
        asked = target.item[1] if type(target) is _Reference and target.item[0] == "o" else None
        count = len(self._released)
        released = self._released[:count]
        del self._released[:count]  # stand-ins know this very list, and one may end meanwhile
        if asked in released:
            self._released.append(asked)
        return [number for number in released if number not in self._stand_ins and number != asked]

    def _packed(self, kind: str, roots: Any, more: Any) -> bytes:
        try:
            packed = self.pack(*roots)
            said = encode((kind, *packed, (*more, self._records.untold())), most_parts=MOST_PARTS)
            self._records.told()
        except (UncarriedError, RecursionError) as error:
            # what is too large or too deep with the candidate's own answers in it is no doing of the suite's
            doubts.append(f"it gives the candidate what cannot be sent: {error}")
            if self._heard_bytes <= _LARGE_ANSWER_BYTES and self._heard_tuples <= _DEEP_ANSWER_TUPLES:
                self.note(f"it gives the candidate what cannot be sent: {error}")
            raise UnservedError(f"what the candidate is given cannot be sent: {error}") from None
        if changed := self._records.changed():
            self.note_lasting(f"it changes its own {changed}, which the candidate has as it was")
        if named := self.named_in(said):
            self.note(f"it gives the candidate the path {named}, which is not where the candidate is", is_doubt=False)
        return said

    def _exchanged(self, questions: int, answers: int, said: bytes) -> tuple[str, list[Any]]:
        try:
            with self._writing:
                write_frame(questions, said)
            body = read_frame(answers)
            if body is None:
                raise self._no_answer("the candidate's process has ended")
            self._heard_bytes += len(body)
            if self.heard is not None:
                self.heard.keep(body)
            self._heard_tuples += sum(map(body.count, _NESTING))
            kind, items, states, dropped, (described, printed, *more) = decode(body, 0)[0]
            for description in described:
                self._learn(*description)
            self._receiving += 1
            try:
                roots = self.unpack(items, states, dropped)
                self._notes_many(states, dropped)
            finally:
                self._receiving -= 1
            if kind not in ("ask", "give", "stop", "fail"):
                raise GraphError("an unknown kind of message")
        except CandidateEndedError:
            raise
        except Exception as error:  # noqa: BLE001 (hostile bytes may raise anything: whatever it is, they are no answer)
            raise self._no_answer(f"the candidate's process does not answer: {error!r}") from None
        if type(printed) is str and printed:
            sys.stdout.write(printed)
        if more and type(more[-1]) is tuple:
            self.unserved_attributes(f"{''.join(map(str, more.pop()))[:150]} of a class")
        if more[-1:] == [LOOKED]:
            self.unlike = self.unlike or "the candidate looks at who has called it"
        if more and type(more[0]) is bytes and self._left_to_write:
            sys.stdout.flush()
            os.write(1, more[0][: self._left_to_write])
            self._left_to_write = max(0, self._left_to_write - len(more[0]))
        return kind, roots

    def end(self) -> None:
        """End the candidate's process, if it is ours, and wait for it: the time that it used counts from then on."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def _started(self) -> tuple[int, int]:
        process = self._process = subprocess.Popen(
            [sys.executable, "-c", *self._program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
        )
        assert process.stdin is not None
        assert process.stdout is not None
        self._channel = process.stdin.fileno(), process.stdout.fileno()
        return self._channel

    # Calls of the suite's functions by the candidate.

    def _served(self, roots: list[Any]) -> bytes:
        self._serving += 1
        self.looks.forget()
        printed = _printed_so_far()
        try:
            try:
                with self.trust.computing(False):
                    done = self._done(*roots)
                roots.clear()  # memory that is held by a view has no other size, also where the candidate is
                return self._packed("give", (done,), ())
            except BaseException as error:  # noqa: BLE001 (the candidate's to handle; it comes back if it does not)
                return self._told_failure(error)
        finally:
            self._serving -= 1
            if _printed_so_far() != printed:
                self.waited = self.waited or "a function that it gives the candidate prints, which that may capture"

    def _told_failure(self, error: BaseException) -> bytes:
        if is_outcome(error):
            self._failed.append(error)
        elif "_harena_error" in vars(error) and is_carried_past_a_judgement(error.__traceback__):
            self._crossed.append(error)
        self._raised.append(error)
        number = len(self._raised) - 1
        told: tuple[type, tuple[Any, ...]] = error.raised if isinstance(error, _EndError) else (type(error), error.args)
        names = [*names_of(told[0])]
        is_theirs = any(cls is told[0] for cls in self._classes.values())
        named = told[0] if is_theirs or _is_of_suite(told[0]) else _library_name(told[0]) or names[0]
        own = vars(error).get("_harena_error", -1)
        fields = self._fields_of(error) if not is_theirs and type(error) is told[0] else ()
        arguments = arguments_of(error, told[1], self.is_plain)
        try:
            return self._packed("fail", (named, arguments, str(error), number, fields, own), ())
        except UnservedError:
            return self._packed("fail", (names[0], (), "", number), ())

    def _done(self, verb: str, *parts: Any) -> Any:
        if verb == "readline":
            return sys.stdin.readline()
        if verb == "input":
            return builtins.input(*parts)
        given = self._given[parts[0]]
        if verb == "call":
            if not callable(given) or not (is_called_only(given) or "__call__" in special_methods(given, SPECIAL)
                                           or isinstance(given, type)):  # fmt: skip
                raise TypeError("an object of the suite's that cannot be called")
            positional, keywords = with_defaults(given, parts[0], parts[1], parts[2])
            return given(*positional, **keywords)
        if verb == "get":
            return read(given, parts[1])
        if verb == "set":
            write(given, *parts[1:])
            return None
        if verb == "special" and parts[1] in special_methods(given, SPECIAL):
            try:
                found = special_method(given, parts[1])(*parts[2], **dict(parts[3]))
            except RuntimeError as error:
                if str(error) == "no running event loop":
                    self.waited = "it gives the candidate a coroutine that waits"
                raise
            if hasattr(found, "_asyncio_future_blocking"):
                self.waited = "it gives the candidate a coroutine that waits"
            return found
        raise AttributeError(str(parts[1]))

    def is_plain(self, value: Any) -> bool:
        """It is of values that travel as they are, alone."""
        try:
            encode(plain_of(value))
        except UncarriedError:
            return False
        return True

    def is_of_kind(self, verb: str, value: Any, kind: Any) -> bool:
        """What a stand-in stands for is of a class that the stand-in does not derive from."""
        is_metaclass_asked = kind is type and verb == "issubclass"  # the stand-in of a metaclass is none
        if not isinstance(kind, type) or (
            kind in _PLAIN_KINDS and not isinstance(value, Member) and not is_metaclass_asked
        ):
            return False
        if isinstance(kind, StandInClass):
            return isinstance(value, StandInClass) and self.ask(verb, kind, "", value) is True
        if issubclass(kind, BaseException) and any(isinstance(each, ErrorClass) for each in (value, type(value))):
            return False  # which exceptions it derives from is told with its class, and decides what a test catches
        if _standard_name(kind) is not None:
            return self.ask(verb, kind, "", value) is True
        if type(kind) is not type and kind.__module__.partition(".")[0] not in _NEVER_RAISED:
            self.note(f"it asks its own {kind.__name__} for an object of the candidate's", is_doubt=False)
        return False

    # Exceptions.

    def _no_answer(self, what: str) -> CandidateEndedError:
        self.unanswered = self.unanswered or what
        return CandidateEndedError(what)

    def raised(self, cls: Any, arguments: Any, attributes: Any, message: Any, number: Any, own: Any = -1,
               chain: Any = (None, None, True)) -> BaseException:  # fmt: skip
        """What the candidate raised, as it is raised here."""
        if type(number) is int and 0 <= number < len(self._raised):
            known = self._raised[number]
            if any(map(_is_told, type(known).__mro__)):  # the candidate may have written on its own one meanwhile
                known.args = arguments
                _give_attributes(known, attributes)
                vars(known)["_harena_message"] = message if type(message) is str else ""
            return known
        text = message if type(message) is str else ""
        if own == -1 and cls is TypeError and text.startswith(UNCROSSED):
            self.note(f"the candidate answers {text}", is_doubt=False)
            return self._no_answer(f"the candidate answers {text}")
        if not isinstance(cls, type) or not issubclass(cls, BaseException):
            return self._no_answer(f"the candidate raised what is no exception: {text}")
        cls = self._aliases.get(cls, cls)
        if not issubclass(cls, Exception) and issubclass(cls, _ENDS_ALL):
            # it is an answer, which who catches all catches in one process, too
            self.note(f"the candidate raises {cls.__name__}, which would end the run of the tests", is_doubt=False)
            return CandidateEndedError(f"the candidate raised {cls.__name__}: {text}")
        made = self._made_before(own, cls, arguments, text, attributes)
        if made is None:
            made = _made(cls, arguments, text, attributes, is_own=is_own_error(cls))
            made.__dict__.update(_harena_error=own, _harena_class=cls)
            if type(own) is int and own > 0:
                self._keep_error(own, made)
        cause, context, is_hidden = chain
        made.__cause__ = None if cause is None else self.raised(*cause)
        # a context that its own cause is told of is told once
        made.__context__ = made.__cause__ if context is True else None if context is None else self.raised(*context)
        made.__suppress_context__ = bool(is_hidden)
        self._is_stated(made)
        return made

    def _met_error(self, error: BaseException, *, has_trace: bool) -> BaseException:
        """An exception that the candidate gives out, and has caught before if it has a traceback. Which frames these
        were nobody sees here: that may be why a test fails which has a word for tracebacks."""
        if has_trace and error.__traceback__ is None:
            error.__traceback__ = trace_elsewhere()
            if names_traces(sources.values()):
                self.note("it looks at the traceback of an exception that the candidate gives out", is_doubt=False)
        return error

    def _number_of(self, error: BaseException) -> int:
        """The number by which an exception of the suite's is itself when the candidate raises it or hands it back; -1
        for one that decides what becomes of a test or a loop."""
        is_shared = _is_builtin(type(error)) or _library_name(type(error)) is not None
        if not is_shared or isinstance(error, (AssertionError, StopIteration, StopAsyncIteration)):
            return -1
        if not isinstance(error, Exception):
            return -1
        known = next((number for number, each in enumerate(self._raised) if each is error), None)
        if known is None:
            self._raised.append(error)
            known = len(self._raised) - 1
        return known

    def _made_before(self, own: Any, cls: Any, arguments: Any, text: str, attributes: Any) -> BaseException | None:
        """The exception that stands for this one of the candidate's since the test began, as it is now."""
        known = self._made_errors.get(own) if type(own) is int else None
        is_same_class = known is not None and vars(known)["_harena_class"] is cls
        if known is None or not is_same_class:
            return None
        if any(map(_is_told, cls.__mro__)):
            known.args = arguments
            vars(known)["_harena_message"] = text
        elif known.args != arguments or str(known) != text:
            return None
        _give_attributes(known, attributes)
        return known

    def _keep_error(self, own: int, made: BaseException) -> None:
        """From now on this stands for an exception of the candidate's. What the suite wrote on one that it held no
        more, and the number by which it knew it (`id`), are not those of this one: that may be why a test fails."""
        why = ""
        if own in self._made_errors and self._made_errors.get(own) is None:
            why = "it meets an exception of the candidate's that it has held no more"
        elif len(self._made_errors) >= _MOST_MADE_ERRORS:
            self._made_errors.rest()
            why = f"it meets more than {_MOST_MADE_ERRORS} exceptions of the candidate's in one test"
        self._made_errors.keep(own, made)
        if why and not self._has_lost_errors:
            self._has_lost_errors = self.note(why, is_doubt=False)

    def begins_test(self) -> None:
        """A test begins. What others have held of the candidate's exceptions are the same ones in it."""
        self._has_begun = True
        self.waited = ""
        self.has_run = False
        self._has_lost_errors = False
        self._made_errors.rest()

    def alias(self, found: Any) -> Any:
        """A builtin exception that the candidate gives a name of its own is the candidate's, and so is what it raises
        of it: a test that expects it must not catch what the suite itself raises, in the course of its own work."""
        if type(found) is tuple:
            return tuple(map(self.alias, found))
        if not isinstance(found, type) or not issubclass(found, Exception) or not _is_builtin(found):
            return found
        if found in _OWN_ERRORS.values() or found in self._aliases.values():
            return found
        if found not in self._aliases:
            self._aliases[found] = type(found.__name__, (found,), {"__module__": "builtins"})
        return self._aliases[found]

    # Classes that the candidate tells of.

    def _learn(self, number: Any, name: Any, qualified: Any, module: Any, doc: Any, bases: Any, special: Any,
               methods: Any, kind: Any, unhashable: Any, is_abstract: Any, of_metaclass: Any) -> None:  # fmt: skip
        texts = (name, qualified, module, kind)
        if type(number) is not int or not all(type(text) is str for text in texts) or number in self._classes:
            raise GraphError("no description of a class")
        known = _known_class(module, qualified, self._on_both_sides)
        if kind == "error":
            self._classes[number] = known or self._error_class(name, qualified, module, doc, bases, special, methods)
            if known is None:
                type.__setattr__(self._classes[number], "_harena_bases", self._own_bases(bases))
                type.__setattr__(self._classes[number], "_harena_told_by", (self, _Reference(("k", number))))
            return
        found = [self._base(item) for item in bases]
        if any(item[0] == "R" for item in bases):  # what stands for it is of no class of the suite's
            self.note(f"the candidate derives {name} from a class of the tests", is_doubt=False)
        if kind == "enum" or _is_partial(module, found):
            self.partial_kinds.add(name)
        special = [each for each in special if each in (*SPECIAL, *DESCRIBING)]
        self._classes[number] = known or make_class(
            self, number, name, qualified, module, doc, found, special, [str(each) for each in methods], kind, bool(unhashable), of_metaclass  # noqa: E501
        )  # fmt: skip
        if known is None:
            type.__setattr__(self._classes[number], "_harena_bases", self._own_bases(bases))
            type.__setattr__(self._classes[number], "_harena_told_bases", tuple(found))
            if _is_of_library(module):
                type.__setattr__(self._classes[number], "_harena_is_of_library", True)
            else:
                self._receiving += 1  # an abstract class looks at the stand-in itself, and asks nobody
                try:
                    is_known_here_as(self._classes[number])
                finally:
                    self._receiving -= 1
        if is_abstract is True and isinstance(self._classes[number], StandInClass):
            self._classes[number]._harena_is_abstract = True

    def _own_bases(self, items: Any) -> tuple[Any, ...]:
        """Classes of the candidate's that one of its classes derives from, also where a stand-in cannot."""
        return tuple(base for base in map(self._base, items) if isinstance(base, StandInClass))

    def _base(self, item: Any) -> Any:
        if item[0] == "k":
            return self._classes.get(item[1])
        return self._record(*item[1:]) if item[0] == "R" else _builtin_class(item[1])

    def _error_class(
        self, name: str, qualified: str, module: str, doc: Any, bases: Any, special: Any, methods: Any
    ) -> Any:
        found = [base for base in map(self._base, bases) if isinstance(base, type) and issubclass(base, BaseException)]
        kept: list[Any] = []
        for base in found:
            roots = {root for cls in (*kept, base) for root in _builtin_roots(cls)}
            if len(_unrelated(roots)) <= _MOST_UNRELATED:
                kept.append(base)
        namespace = {"__module__": module, "__qualname__": qualified, "__doc__": doc, "__str__": _error_text}
        candidate = self

        def made_by_suite(self: Any, /, *arguments: Any, **keywords: Any) -> None:
            """The suite makes one: the candidate's class says what it is made of."""
            told = {cls: number for number, cls in candidate._classes.items()}
            number = next(told[part] for part in type(self).__mro__ if part in told)
            theirs = _Reference(("k", number))
            if _is_derived(type(self)):
                new = self.args if all(map(candidate.is_plain, self.args)) else arguments
                parts = (theirs, new, arguments)
                like = candidate.ask("make", type(self), "", parts, tuple(keywords.items()))
            else:
                like = candidate.ask("call", theirs, "", arguments, tuple(keywords.items()))
            set_before = {name: value for name, value in vars(self).items() if _is_field(name)}
            self.args = like.args
            self.__dict__.update(like.__dict__)
            made = vars(self).get("_harena_error")
            if type(made) is int and made > 0:
                candidate._made_errors.keep(made, self)  # it is this one that the suite knows
            for name, value in set_before.items():
                if name not in vars(like):
                    setattr(self, name, value)

        namespace["__init__"] = made_by_suite
        namespace.update(_methods_of_error(self, special))
        namespace.update((each, _Inherited(each)) for each in methods if _may_be_inherited(each))
        try:
            return ErrorClass(name, tuple(kept) or (Exception,), namespace)
        except TypeError:
            return ErrorClass(name, tuple(kept[:1]), namespace)

    def derive_error(self, cls: Any, keywords: dict[str, Any]) -> None:
        """The suite derives a class of exceptions from one of the candidate's, and the candidate has a class like it
        from now on: of the same name, with what the body of the class defines as far as it crosses. Where that is not
        all of it, a test that fails may fail for the rest of it."""
        name, number = cls.__name__, len(self._given)
        self._given[number] = cls
        self._given_numbers[_identity(cls)] = number
        bases = tuple(filter(_is_base_of_errors, cls.__bases__))
        data, methods, properties, is_whole = [], [], [], bases == cls.__bases__
        for each, value in list(vars(cls).items()):
            if each in _OF_CLASSES:
                continue
            is_public = each[:1] != "_"  # what the suite keeps for itself may be what it expects
            is_data = is_public and self._is_plain_data(value)
            is_whole = is_whole and is_data
            if not is_public:
                continue
            if is_data:
                data.append((each, value))
            elif type(value) is types.FunctionType:
                methods.append((each, value))
            elif type(value) is property and type(value.fget) is types.FunctionType:
                properties.append((each, value.fget))
        if not is_whole:
            self.is_changed = self.is_changed or "<locals>" not in cls.__qualname__
            theirs = next(base.__name__ for base in cls.__mro__ if _is_told(base))
            self.note(f"it derives a class of its own from the candidate's {theirs}", is_doubt=False)
        place = (number, cls.__qualname__, cls.__module__, cls.__doc__, "__str__" in vars(cls))
        parts = (place, tuple(data), tuple(methods), tuple(properties))
        self.ask("derive", bases, name, parts, tuple(keywords.items()))

    def _is_plain_data(self, value: Any) -> bool:
        """Plain data, or a container of such."""
        if type(value) in (list, set, dict):
            return all(map(self.is_plain, (*value, *(value.values() if type(value) is dict else ()))))
        return self.is_plain(value)

    # Memory that the candidate may write to.

    def pack(self, *roots: Any) -> tuple[Any, ...]:
        """Note where two things that cross show one memory: each is another one there."""
        packed = super().pack(*roots)
        self._notes_many(*packed[1:])
        owners = [id(known.owner) for known in self._views.values() if known.owner is not None]
        if owners and (len(set(owners)) < len(owners) or not self._numbers.keys().isdisjoint(owners)):
            self.note("it gives the candidate one memory twice, by a view that can be written to", is_doubt=False)
        return packed

    def _notes_many(self, states: Any, dropped: Any) -> None:
        """Note that so many objects have crossed that none of them is known again."""
        if len(dropped) > MOST_SHARED and any(state[1] == "i" for state in states):
            self.note(f"more than {MOST_SHARED} objects cross, and are not known again", is_doubt=False)

    def copies_part(self) -> None:
        """What is written to it changes no other array here."""
        self.unlike = self.unlike or "the candidate gives a part of another array, which crosses as a copy"

    def shows(self, view: memoryview) -> None:
        """Note a view that could be written to."""
        if not view.readonly and not is_of_all(view):
            self.note("it gives the candidate a view that can be written to, which crosses as bytes", is_doubt=False)

    # References.

    def refer(self, value: Any) -> tuple[Any, ...]:
        """Name a stand-in by the number of what it stands for, or say what a value of the suite's is."""
        if self._is_comparing:
            return ("", id(value))
        kind = type(value)
        if kind is _Reference:
            item: tuple[Any, ...] = value.item
            return item
        if kind is WithheldDefault:
            return ("D", value._harena_number, value._harena_name)
        if kind is _Opaque:
            item = object.__getattribute__(value, "_harena_item")
            return item
        for own_error, own in (*_OWN_ERRORS.items(), *self._aliases.items()):
            if value is own:
                return ("b", "builtins", own_error.__name__)
        if isinstance(kind, StandInClass):
            item = value._harena_item
            return ("m", self.number_of(value)) if item is None else item
        if isinstance(value, StandInClass):
            return ("k", value._harena_number)
        if kind is Method:
            # no question while a message is packed: it would tell what this one has not told yet
            return ("y", self.item(value.__self__), value.__name__)
        known = self._functions.get(id(value))
        if known is not None and known[0]() is value:
            return ("o", known[1])
        if isinstance(value, type):
            number = next((number for number, cls in self._classes.items() if cls is value), None)
            if number is not None:
                return ("k", number)
            if isinstance(value, ErrorClass):
                return ("c", self._given_numbers[_identity(value)])
            if self._records.has(value):
                return ("R", value.__module__, value.__qualname__)
        if isinstance(value, StandInModule):
            return ("M", value.__name__)
        if (told := alias_of(value)) is not None:
            return ("T", told)
        named = (self.pythons.get(value) if kind is types.FunctionType else None) or _standard_name(value)
        named = named or self._handed_name(value)
        if named is not None:
            self._lent[named] = value
            return ("b", *named)
        if isinstance(value, types.ModuleType):
            if getattr(value, "__file__", None) in sources and value.__name__ not in self._on_both_sides:
                self.note(
                    f"it gives the candidate the module {value.__name__}, which only the suite has", is_doubt=False
                )
            return ("M", value.__name__)
        if isinstance(value, BaseException):
            known_class = next((("k", n) for n, cls in self._classes.items() if cls is type(value)), None)
            own = value.__dict__.get("_harena_error", -1)
            is_suites = _is_of_suite(type(value))
            cls = type(value) if is_suites else _library_name(type(value)) or next(names_of(type(value)))
            fields = self._fields_of(value) if known_class is None else ()
            number = self._number_of(value) if own == -1 else -1
            made_of = arguments_of(value, value.args, lambda part: True)
            told = [self.item(part) for part in (cls, made_of, str(value), number, own, fields)]
            return ("E", [known_class or told[0], *told[1:]])
        return self._give(value)

    def _fields_of(self, error: BaseException) -> tuple[tuple[str, Any], ...]:
        """What an exception that the suite has made holds beside its arguments; data alone of a class of its own."""
        if _is_of_suite(type(error)):
            return plain_fields(error)
        return () if "_harena_error" in vars(error) else fields_of(error, self.is_plain)

    def _handed_name(self, value: Any) -> tuple[str, str] | None:
        """Module and path of a function that the candidate has handed out, which is its own again."""
        named = place_of(value) if self._handed and isinstance(value, FUNCTIONS) else None
        return named if named in self._handed else None

    def _give(self, value: Any) -> tuple[Any, ...]:
        cls = type(value)
        if is_withheld(value):
            self.note(f"it gives the candidate an object of {cls.__module__}.{cls.__qualname__}")
            raise UnservedError(f"an object of {cls.__qualname__} is not given to a candidate")
        known_by = _identity(value)
        number = self._given_numbers.get(known_by)
        if number is None:
            number = len(self._given)
            self._given[number] = value
            self._given_numbers[known_by] = number
        if is_own_error(value):
            bases = [self.item(base) for base in value.__bases__]
            return ("X", number, value.__name__, value.__qualname__, value.__module__, bases, plain_fields(value))
        is_function = is_called_only(value)
        if cls is types.MethodType and self._records.has(type(value.__self__)):
            self.note(f"it gives the candidate the method {value.__name__} of an object", is_doubt=False)
        if not is_function and not is_mock(value) and not hasattr(cls, "__next__"):
            self.note(f"it gives the candidate an object of {cls.__module__}.{cls.__qualname__}", is_doubt=False)
        if cls is functools.partial:  # whose operands may be what a callback expects
            self.note("it gives the candidate a functools.partial", is_doubt=False)
        name = str(getattr(value, "__name__", cls.__name__) if is_function or isinstance(value, type) else cls.__name__)
        function = self._told_function(number, value) if is_function else None
        kind = "P" if cls is functools.partial else "c"
        spec = self._spec_of(value)
        more = () if spec is None or kind == "P" else (spec,)
        return (kind, number, name, is_function, special_methods(value, SPECIAL), streams_of(value), function, *more)

    def _spec_of(self, value: Any) -> Any:
        """The class that a mock says to be of, as an item, where the candidate has it."""
        said = value.__class__ if is_mock(value) else type(value)
        if said is type(value) or not isinstance(said, type):
            return None
        is_theirs = any(said is each for each in self._classes.values())
        return self.item(said) if is_theirs or _standard_name(said) is not None else None

    def _told_function(self, number: int, value: Any) -> tuple[Any, ...]:
        """The description of a function that is given, made once: a list of functions is told in each message."""
        if number not in self._told_functions:
            self._told_functions[number] = self._description(number, value)
        if number in self._lacking_annotations:
            is_of_module = "<locals>" not in str(getattr(value, "__qualname__", ""))
            # the test that fails may be another one than has given it, as where a module's functions are decorated
            self.is_changed = self.is_changed or (is_of_module and not self._serving)
            self.note("it gives the candidate a function whose annotations cannot be told", is_doubt=False)
        return self._told_functions[number]

    def _description(self, number: int, value: Any) -> tuple[Any, ...]:
        code = getattr(value, "__code__", None)
        defaults = frozenset() if code is None else literal_defaults(value, tree_of(code.co_filename))
        names = [getattr(value, each, None) for each in ("__qualname__", "__name__", "__module__")]
        qualified = next((name for name in names[:2] if type(name) is str), "function")
        module = names[2] if type(names[2]) is str else "builtins"
        if type(value) is types.FunctionType and number not in self.attributes:
            attributes = Attributes(number, value.__dict__, is_suites=True)
            attributes.belong_to(value)
            value.__dict__ = attributes
            self.watch(attributes)
        place = (qualified, module, kind_of_function(value))
        signature = self._with_classes(value, signature_of(value, defaults))
        if lacks_annotations(signature):
            self._lacking_annotations.add(number)
        return (text_of_function(value), signature, place)

    def _with_classes(self, function: Any, told: Any) -> Any:
        """The signature with those annotations, too, that are classes of the candidate's."""
        if told is None:
            return None

        def annotation(known: Any, value: Any) -> Any:
            is_theirs = known == ("?",) and isinstance(value, (StandInClass, ErrorClass))
            return self.refer(value) if is_theirs else known

        found = inspect.signature(function)
        pairs = zip(told[0], found.parameters.values())  # noqa: B905 (no strict= before 3.10)
        parameters = tuple((*each[:3], annotation(each[3], parameter.annotation)) for each, parameter in pairs)
        return (parameters, annotation(told[1], found.return_annotation))

    def meet(self, item: tuple[Any, ...]) -> Any:
        """Find or make what an item of the candidate's stands for in the suite. Raises GraphError for what is no such
        item."""
        kind = item[0]
        if kind in ("c", "k", "o", "w", "G", "A", "B", "F", "n"):
            number = item[4] if kind == "n" else item[2] if kind == "w" else item[1]
            if type(number) is not int or not 0 <= number < _MOST_OBJECTS:
                raise GraphError("no number of an object")
        if kind == "c":
            return self._given[item[1]]
        if kind == "R":
            return self._record(*item[1:])
        if kind == "T":
            return alias(item[1])
        if kind == "D":
            return withheld_default(self._given[item[1]], item[1], item[2])
        if kind == "k":
            carried(self._classes[item[1]])
            return self._classes[item[1]]
        if kind == "s":  # of what both sides have, only what the suite has given, or what changes nothing there
            named = (item[1], item[2])
            if named in self._lent or named in self._pure:
                return self._lent[named] if named in self._lent else self._pure[named]
            return self._function_of_both(*named)
        if kind == "b":
            found = _builtin_class(item[1])
            return _OWN_ERRORS.get(found, found)
        if kind == "E":
            *told, has_trace = map(self.value, item[1])
            return self._met_error(self.raised(*told), has_trace=has_trace is True)
        if kind == "n":
            found = self._member(*item[1:])
            carried(found)
            return found
        number = item[2] if kind == "w" else item[1]
        found = self._values.get(number) if kind == "w" else self._stand_ins.get(number)
        if found is None:
            found = self._stand_in(kind, number, *item[1:])
            carried(found)
            if kind == "w":
                self._values[number] = found
                return found
            self._stand_ins[number] = found
            weakref.finalize(found, self._released.append, number)
            return found
        carried(found)
        if kind in ("o", "w") and origin_of(found) in ("made", "computed"):
            self._met.append(found)
        return found

    def living(self) -> list[Any]:
        """What stands for objects and functions of the candidate's, and is held by somebody."""
        return list(self._stand_ins.values())

    def _record(self, module: Any, name: Any) -> Any:
        """The suite's own class of records, which the candidate was told of. Raises GraphError for any other."""
        found = self._records.named(module, name)
        if found is None:
            raise GraphError("no class of records")
        return found

    def _function_of_both(self, module: Any, path: Any) -> Any:
        """A function of a library's that the candidate hands out by its name: the suite's own."""
        ours = (function for function, named in self.pythons.items() if named == (module, path))
        found = next(ours, None) or function_at(module, path)
        self._handed.add((module, path))
        return found

    def is_own(self, one: Any, other: Any) -> bool:
        """One of both is something of a library's that the candidate holds, and the other one is the suite's own: what
        the modules there and here have under one name. Where that cannot be told, it is noted."""
        for stand_in, own in ((one, other), (other, one)):
            place = self._place_of(stand_in) if _is_had_by_name(own) else None
            if place is None:
                continue
            known = own_by_name(*place)
            if known is None and getattr(own, "__name__", "") == getattr(stand_in, "__name__", ""):
                self.note(f"it compares its own {own!r} with one that the candidate holds", is_doubt=False)
            return known is own or (known is not None and isinstance(own, FUNCTIONS) and known == own)
        return False

    def own_class(self, stand_in: Any) -> Any:
        """The suite's own class that this one of the candidate's is; None where there is none."""
        place = self._place_of(stand_in)
        found = None if place is None else own_by_name(*place)
        return found if isinstance(found, type) else None

    def _place_of(self, stand_in: Any) -> tuple[str, str] | None:
        """Module and path of something that a library has and the candidate holds, ("", "") where it has no such name;
        None for anything else."""
        if type(stand_in) is _Function:
            place: tuple[str, str] | None = stand_in._harena_place
            return place
        if isinstance(stand_in, StandInClass):
            if "_harena_is_of_library" not in own_names(stand_in):
                return None
            return stand_in.__module__, stand_in.__qualname__
        if is_kept_by_name(stand_in):
            name = self.ask("get", stand_in, "__name__") if type(stand_in).__name__ == "module" else ""
            return (name, "") if type(name) is str else ("", "")
        return None

    def value(self, item: Any) -> Any:
        """Read an item, and note what a module's names brought along."""
        found = super().value(item)
        if type(item) is tuple and item[0] == "m":
            carried(found)
        return found

    def _stand_in(self, kind: str, number: int, *parts: Any) -> Any:
        if kind == "o":
            cls = self._classes[parts[1]]
            made: Any = object.__new__(cls) if isinstance(cls, StandInClass) else _Opaque()  # type: ignore[arg-type]
            object.__setattr__(made, "_harena_item", ("o", number))
            return made
        if kind == "w":
            made = made_of_value(self._classes[parts[0]], self.value(parts[2]))
            made.__dict__["_harena_item"] = ("o", number)
            return made
        reference = _Reference(("o", number))
        if kind == "G":
            made = generator(self, reference, ahead=True, has_begun=parts[3] is True)
            if parts[3] is True:
                next(made)
        elif kind == "A":
            made = _coroutine(self, reference)
        elif kind == "B":
            made = _async_generator(self, reference)
        elif kind == "F":
            function, binds, place = _function(self, reference, *parts[1:5]), *parts[5:]
            made = _Function(self, reference, function, binds, place, lacks=lacks_part(parts[4]))
        else:
            raise GraphError(f"unknown kind {kind!r}")
        if kind != "F":
            made.__name__, made.__qualname__ = parts[1], parts[2]
        self._functions[id(made)] = weakref.ref(made), number
        return made

    def _member(self, class_number: int, name: Any, inner: Any, number: int) -> Any:
        found = self._members.get(number)
        if found is None:
            cls: Any = self._classes[class_number]
            if not isinstance(cls, StandInClass):  # an enumeration of Python's, which has its members here
                return cls.__members__[name]
            found = self._members[number] = make_member(cls, ("o", number), name, self.value(inner))
        return found

    def kind_of(self, value: Any) -> str | None:
        """Tell whether an object is shared with its state, and as what kind; None = it is not."""
        kind = type(value)
        if kind is Attributes:
            return "u"
        if isinstance(kind, StandInClass):
            return "y" if kind._harena_kind in _CONTAINERS else None
        if self._records.has(kind):
            return "i"
        if kind.__module__ not in self._on_both_sides or isinstance(value, (type, types.FunctionType, BaseException)):
            return None
        return (
            "i"
            if type(kind) is type and not isinstance(value, (int, str, float, bytes, tuple, frozenset, *MUTABLE))
            else None
        )

    def state_of(self, kind: str, value: Any) -> Any:
        """Read an object's state, in the form for its kind."""
        if kind == "i":
            if self._records.has(type(value)) and (name := hidden_method(value)):
                self.note(f"it replaces {name} of an object that it gives the candidate", is_doubt=False)
            return state_of_instance(self, value)
        if kind == "u":
            return told_attributes(self, value, is_compared=self._is_comparing)
        number, base = type(value)._harena_number, type(value)._harena_kind
        if base == "bytearray":
            return [number, "a", bytes(value)]
        if base == "deque":
            return [number, "q", [*map(self.item, collections.deque.__iter__(value))], value.maxlen]
        if base == "dict":
            parts = [part for pair in dict.items(value) for part in pair]
        else:
            parts = list(list.__iter__(value) if base == "list" else set.__iter__(value))
        return [number, {"list": "l", "set": "e", "dict": "d"}[base], [self.item(part) for part in parts]]

    def make(self, kind: str, state: Any) -> Any:
        """Make an object of that kind, still without its state. Raises GraphError for a kind or number that cannot
        be."""
        if kind == "i" and (record := self._records.named(state[0], state[1])) is not None:
            return object.__new__(record)
        if kind == "i" and state[0] in self._on_both_sides and state[0] in sys.modules:
            return made_instance(state)
        if kind == "u":
            found = self.attributes[state[0]]
            if id(found) in self._numbers:
                raise GraphError("attributes that are known by another number")
            return found
        if kind != "y":
            raise GraphError("an instance of no class that both sides have")
        cls = self._classes[state[0]]
        if cls._harena_kind not in _CONTAINERS:
            raise GraphError("no container")
        made = made_of_value(cls)
        if cls._harena_kind == "deque":
            collections.deque.__init__(made, (), state[3])
        made.__dict__["_harena_item"] = None
        return made

    def fill(self, kind: str, made: Any, state: Any) -> None:
        """Give the made object its state."""
        if kind == "u":
            fill_attributes(self, made, state)
            if names := unserved_in(state):
                self.unserved_attributes(f"{names} of a function")
            return
        if kind == "i":
            fill_instance(self, made, state, self._records.named(state[0], state[1]))
            without_judges(made)
            self._is_stated(made)
            for name in (*slots_of(type(made)), *getattr(made, "__dict__", ())):
                _mark_attribute(getattr(made, name, None))
            return
        base = type(made)._harena_kind
        if base == "bytearray":
            bytearray.__setitem__(made, slice(None), state[2])
            return
        parts = list(map(self.value, state[2]))
        if base == "deque":
            collections.deque.clear(made)
            collections.deque.extend(made, parts)
        elif base == "list":
            list.clear(made)
            list.extend(made, parts)
        elif base == "set":
            set.clear(made)
            set.update(made, parts)
        else:
            dict.clear(made)
            for index in range(0, len(parts), 2):
                dict.__setitem__(made, parts[index], parts[index + 1])

    def _is_stated(self, made: Any) -> None:
        """The candidate has said what this object of a real class holds: it judges no plain value by that alone."""
        self._records.has(type(made))  # as the text of its class has it
        for part in self._stated.add(made):
            self._records.rewrites(part, JUDGING)


def _shows_same(found: Any, again: Any) -> bool:
    """Two answers are the same value, or such that nobody knows better: two objects of one class may be alike."""
    kind = type(found)
    if kind is not type(again):
        return False
    if kind in (tuple, list):
        return len(found) == len(again) and all(map(_shows_same, found, again))
    if kind is dict:
        return found.keys() == again.keys() and all(_shows_same(found[key], again[key]) for key in found)
    return kind not in _PLAIN_KINDS or found == again or found != found


def _printed_so_far() -> Any:
    """Where standard output stands; None where it does not tell."""
    try:
        return sys.stdout.tell()
    except (AttributeError, OSError, ValueError):
        return None


def _identity(value: Any) -> Any:
    """What an object is known by. A bound method is another object each time that it is looked up."""
    owner = getattr(value, "__self__", None) if isinstance(value, _BOUND) else None
    if owner is None or isinstance(owner, types.ModuleType):
        return id(value)
    return id(owner), id(value.__func__) if isinstance(value, types.MethodType) else value.__name__


class _Opaque(StandIn):
    """An object of a class that this process has, and the candidate's process made."""

    __slots__ = ()
    _harena_kind = ""
    _harena_methods: frozenset[str] = frozenset()


_OF_FUNCTION = frozenset({
    "__wrapped__", "__annotations__", "__code__", "__closure__", "__dict__", "__type_params__", "__isabstractmethod__",
    "__defaults__", "__kwdefaults__", "__module__",
})  # fmt: skip
"""what the candidate says of its function's own"""
_HERE = frozenset({"__name__", "__qualname__", "__doc__", "__signature__"})
"""what the function that stands for it has"""


class _Function:
    """A function of the candidate's, with what it carries beside its code. It says that it is a function, for those who
    ask by `isinstance`, and binds like one."""

    __slots__ = ("__weakref__", "_harena_binds", "_harena_candidate", "_harena_function", "_harena_is_attribute",
                 "_harena_item", "_harena_lacks", "_harena_of_class", "_harena_place")  # fmt: skip

    def __init__(
        self, candidate: Candidate, reference: Any, function: Any, binds: Any, place: Any, *, lacks: bool
    ) -> None:
        """`binds`: it is a method of the objects of a class that has it, which a bound method and one of Python's own
        in C are not. `place`: see `libraries.name_of`. `lacks`: not every part of its signature is told."""
        parts = (
            ("candidate", candidate), ("function", function), ("item", reference.item), ("of_class", None),
            ("is_attribute", False), ("binds", binds), ("lacks", lacks),
            ("place", place if type(place) is tuple and [*map(type, place)] == [str, str] else None),
        )  # fmt: skip
        for name, value in parts:
            object.__setattr__(self, "_harena_" + name, value)

    def __call__(self, /, *positional: Any, **keywords: Any) -> Any:
        found = self._harena_candidate.ask("call", self, "", positional, tuple(keywords.items()))
        if self._harena_of_class is not None:
            mark_kin(found, self._harena_of_class)
        return found

    def __getattribute__(self, name: str) -> Any:
        if name[:8] == "_harena_" or name == "__weakref__":
            return object.__getattribute__(self, name)
        if name == "__class__":
            return types.FunctionType
        function, candidate = self._harena_function, self._harena_candidate
        if name == "__signature__":
            return self._harena_own_signature(function.__signature__)
        if name in _HERE:
            return getattr(function, name)
        if name == "__code__":
            try:
                return candidate.ask("get", self, name)
            except AttributeError:  # it is written in C: who looks takes this for a function, which has one
                return function.__code__
        if name in _OF_FUNCTION:
            return candidate.ask("get", self, name)
        if name[:2] == "__" or name.startswith(("_pytest", "pytest")):
            if name in ("__globals__", "__builtins__"):
                candidate.note(f"it looks at {name} of a function of the candidate's")
            try:
                return object.__getattribute__(self, name)
            except AttributeError:
                if name[:2] == "__":
                    candidate.libraries.lacks(self, name, 2)
                raise
        return no_judge(name, candidate.ask("get", self, name))

    def _harena_own_signature(self, told: Any) -> Any:
        """The signature; where it lacks a default, because the function wraps one of the suite's, that one's."""
        if any(each.default is Ellipsis for each in told.parameters.values()):
            try:
                wrapped = self._harena_candidate.ask("get", self, "__wrapped__")
            except AttributeError:
                wrapped = None
            if type(wrapped) is types.FunctionType:
                return inspect.signature(wrapped)
        if self._harena_lacks:
            name = self._harena_function.__name__
            what = f"it asks for the signature of {name}, of which not every default and annotation is told"
            self._harena_candidate.note(what, is_doubt=False)
        return told

    def __setattr__(self, name: str, value: Any) -> None:
        if name in _HERE:
            setattr(self._harena_function, name, value)
        self._harena_candidate.ask("set", self, name, value)

    def __delattr__(self, name: str) -> None:
        self._harena_candidate.ask("del", self, name)

    def __get__(self, owner: Any, cls: Any = None) -> Any:
        return self if owner is None or self._harena_binds is not True else types.MethodType(self, owner)

    def __eq__(self, other: object) -> Any:
        if self is other:
            return True
        kind = type(other)
        if self._harena_candidate.is_own(self, other):
            return True
        if kind is Method or (kind is _Function and self._harena_binds is not True):
            what = f"it compares {self.__qualname__} of the candidate's with another function"
            self._harena_candidate.note(what, is_doubt=False)
        return NotImplemented

    def __hash__(self) -> int:
        known = None if self._harena_place is None else own_by_name(*self._harena_place)
        return object.__hash__(self) if known is None else hash(known)

    def __dir__(self) -> list[str]:
        return list(self._harena_candidate.ask("names", self, ""))

    def __repr__(self) -> str:
        return f"<function {self.__qualname__} at {hex(id(self))}>"

    def __copy__(self) -> Any:
        return self

    def __deepcopy__(self, memo: Any) -> Any:
        return self

    def __reduce_ex__(self, protocol: Any) -> Any:
        self._harena_candidate.note("it pickles a function of the candidate's")
        raise TypeError("a function of the candidate's cannot be pickled here")


class _Reference:
    """An object of the candidate's, by its number."""

    def __init__(self, item: tuple[Any, ...]) -> None:
        self.item = item
        self._harena_item = item


def _is_told_by_object(target: Any) -> bool:
    return isinstance(type(target), StandInClass) or type(target) is _Opaque


def _gives_answers(verb: str, target: Any, name: str) -> bool:
    """Objects that come back for this question are answers, also where the suite has made them: not where it makes one,
    enters its context, or changes it in place."""
    if verb == "special":
        return name in ("__call__", "__getitem__")
    return verb in ("get", "run", "many", "anext") or (verb == "call" and bool(name or not isinstance(target, type)))


def _builtin_class(name: Any) -> Any:
    found = getattr(builtins, name, None) if type(name) is str else None
    if not isinstance(found, type):
        raise GraphError("no class of the builtins")
    return found


def _known_class(module: str, qualified: str, on_both_sides: Collection[str] = ()) -> Any:
    """A class of a module that the suite has loaded, if it may stand for the candidate's: an exception's, or a value's.
    It must be where the candidate says that it is defined: what a module has imported is another's, and a test module's
    own classes are none that the candidate can have."""
    found: Any = sys.modules.get(module)
    if module == "builtins":  # those are not described
        return None
    if found is None or isinstance(found, StandInModule) or not (module in on_both_sides or _is_installed(module)):
        return None
    for name in qualified.split("."):
        found = vars(found).get(name)
        if not isinstance(found, type) or isinstance(found, StandInClass):
            return None
    if (found.__module__, found.__qualname__) != (module, qualified):
        return None
    if any(cls.__module__.partition(".")[0] in _NEVER_RAISED for cls in found.__mro__):
        return None
    if issubclass(found, AssertionError):
        return None
    if (
        issubclass(found, Exception)
        or found in MUTABLE
        or (module, qualified) == ("asyncio.exceptions", "CancelledError")
    ):
        return found
    if any(hasattr(found, name) for name in ("__get__", "__set__", "__set_name__")):  # a class of the suite's asks it
        return None
    if module == "decimal" and found is not decimal.Decimal:  # objects of its other classes are no values
        return None
    return found if module in ("decimal", "fractions", "datetime", "uuid", "enum", "abc") else None


def _is_partial(module: str, bases: Any) -> bool:
    """A class of the standard library, or one that derives from such a class, which its stand-in does not."""
    of_library: Any = getattr(sys, "stdlib_module_names", frozenset())
    real = [base for base in bases if isinstance(base, type) and not isinstance(base, StandInClass)]
    modules = [module, *(base.__module__ for base in real if base is not object)]
    return any(each.partition(".")[0] in of_library and each not in ("typing", "abc", "builtins") for each in modules)


def _is_of_library(module: str) -> bool:
    """The suite has this module of Python's or of a package."""
    return module in sys.modules and not isinstance(sys.modules[module], StandInModule) and _is_installed(module)


def _is_had_by_name(value: Any) -> bool:
    """It is of a kind of objects that are had by a name, and this process's own."""
    if isinstance(value, (StandInClass, StandInModule)):
        return False
    return isinstance(value, (*FUNCTIONS, type, types.ModuleType)) or is_kept_by_name(value)


def _is_installed(module: str) -> bool:
    """It comes with Python or with a package of the image."""
    file = getattr(sys.modules.get(module), "__file__", None) or ""
    return module in sys.builtin_module_names or file.startswith((sys.base_prefix + "/", sys.prefix + "/"))


def _is_builtin(cls: type) -> bool:
    found: object = vars(builtins).get(cls.__name__)
    return found is cls


def _builtin_roots(cls: type) -> list[type]:
    """The exceptions that it derives from and that this process knows itself: a candidate's class may call itself a
    builtin one."""
    return [part for part in cls.__mro__ if issubclass(part, BaseException) and not _is_told(part)]


def _is_told(cls: type) -> bool:
    """An exception that the candidate describes."""
    return vars(cls).get("__str__") is _error_text


def _unrelated(classes: set[type]) -> list[type]:
    return [cls for cls in classes if not any(other is not cls and issubclass(other, cls) for other in classes)]


def _error_text(self: Any) -> str:
    said = self.__dict__.get("_harena_message")
    return said if said is not None else Exception.__str__(self)


def _made(cls: Any, arguments: Any, message: str, attributes: Any = (), *, is_own: bool = False) -> BaseException:
    if any(map(_is_told, cls.__mro__)):
        # a group is made of its message and of what it holds
        made: BaseException = cls.__new__(cls, *(arguments[:2] if issubclass(cls, GROUPS) else ()))
        made.args = arguments
        _give_attributes(made, attributes)
        made.__dict__["_harena_message"] = message
        return made
    # a class may want other arguments than it keeps: what it made of them is told, too
    for make in (lambda: cls(*arguments), lambda: remade(cls, arguments, message)):
        try:
            made = make()
            _give_attributes(made, attributes)
            if str(made) == message or not message or is_own:
                return made
        except Exception:  # noqa: BLE001, S112 (it is tried in another way)
            continue
    told = {"__init__": lambda self, *_: None, "__str__": lambda self: message, "__module__": cls.__module__}
    plain: Any = type(cls.__name__, (cls,), told)
    made = plain()
    made.args = arguments
    _give_attributes(made, attributes)
    return made


def _give_attributes(made: BaseException, attributes: Any) -> None:
    for name, value in attributes:
        if type(name) is not str or (name[:2] == "__" and name != "__notes__") or name.startswith(_NO_FIELDS):
            continue
        # looked up here: a class of the candidate's would ask for it, in the middle of an answer
        kept = next((vars(part)[name] for part in type(made).__mro__ if name in vars(part)), None)
        if isinstance(kept, (types.MemberDescriptorType, types.GetSetDescriptorType)):
            try:
                BaseException.__setattr__(made, name, value)  # what Python's own exceptions hold, as `errno`
            except (AttributeError, TypeError):
                continue  # it comes of the arguments
        else:
            _mark_attribute(value)
            made.__dict__[name] = no_judge(name, value)


def _mark_attribute(value: Any) -> None:
    """Remember that this is had as an attribute of an answer, if it is a function."""
    if type(value) is _Function:
        object.__setattr__(value, "_harena_is_attribute", True)


_NO_FIELDS = ("_harena_", "_pytest")


class ErrorClass(type):
    """A class of exceptions of the candidate's, or of the suite's that derives from one. What such a class has is asked
    for, as of any of its classes."""

    def __new__(mcs, name: str, bases: Any, names: Any, /, **keywords: Any) -> Any:
        if names.get("__str__") is _error_text:
            return super().__new__(mcs, name, bases, names)
        parts = [part for base in bases for part in base.__mro__]
        is_told_here = any("__init_subclass__" in vars(part) for part in parts if part is not object)
        made = super().__new__(mcs, name, bases, names, **(keywords if is_told_here else {}))
        candidate, _ = next(vars(part)["_harena_told_by"] for part in parts if "_harena_told_by" in vars(part))
        candidate.derive_error(made, {} if is_told_here else keywords)
        number = candidate._given_numbers[_identity(made)]
        type.__setattr__(made, "_harena_told_by", (candidate, _Reference(("c", number))))
        return made

    def __init__(cls, name: str, bases: Any, names: Any, /, **keywords: Any) -> None:
        super().__init__(name, bases, names)

    def __setattr__(cls, name: str, value: Any) -> None:
        type.__setattr__(cls, name, value)
        if _is_field(name) and not name.startswith("_abc_"):
            told_by = (vars(part).get("_harena_told_by") for part in cls.__mro__)
            candidate, reference = next(filter(None, told_by))
            candidate.is_changed = True
            candidate.note(f"it replaces {cls.__name__}.{name}", is_doubt=False)
            candidate.ask("set", reference, name, value)

    def __getattr__(cls, name: str) -> Any:
        told_by = next((vars(part)["_harena_told_by"] for part in cls.__mro__ if "_harena_told_by" in vars(part)), None)
        if name == "__signature__" and told_by is not None:
            return signature_here(told_by[0], cls)
        if name[:2] == "__" or name.startswith(_NO_FIELDS) or told_by is None:
            raise AttributeError(f"type object {cls.__name__!r} has no attribute {name!r}")
        candidate, reference = told_by
        return no_judge(name, candidate.alias(candidate.ask("get", reference, name)))


class _Inherited:
    """A method of a class of exceptions of the candidate's, for `super()` in a class of the suite's that derives from
    it. Anybody else asks for it as for any attribute."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._owner: Any = None

    def __set_name__(self, owner: Any, name: str) -> None:
        self._owner = owner

    def __get__(self, error: Any, cls: Any = None) -> Any:
        if error is None:
            raise AttributeError(self._name)
        if not _is_derived(type(error)):
            return error.__getattr__(self._name)
        candidate, theirs = vars(self._owner)["_harena_told_by"]
        return no_judge(self._name, candidate.ask("super", error, self._name, (theirs,)))


def _may_be_inherited(name: Any) -> bool:
    return type(name) is str and not name.startswith(("__", *_NO_FIELDS)) and not hasattr(BaseException, name)


def _is_derived(cls: Any) -> bool:
    """A class of exceptions of the suite's that derives from one of the candidate's."""
    return isinstance(cls, ErrorClass) and not _is_told(cls)


def _is_of_suite(cls: Any) -> bool:
    """A class of exceptions of the suite's, by which the candidate knows its exceptions."""
    return is_own_error(cls) or _is_derived(cls)


def _is_base_of_errors(cls: Any) -> bool:
    """The candidate has a class for it, or can have."""
    return isinstance(cls, ErrorClass) or is_own_error(cls) or _is_builtin(cls) or _standard_name(cls) is not None


def _is_field(name: str) -> bool:
    """An attribute of exceptions that is data of their class's."""
    return name[:2] != "__" and not name.startswith(_NO_FIELDS) and name != "args"


_OF_CLASSES = frozenset({
    "__module__", "__qualname__", "__doc__", "__dict__", "__weakref__", "__annotations__", "__annotate__",
    "__annotate_func__", "__annotations_cache__", "__firstlineno__", "__static_attributes__",
})  # fmt: skip
"""what Python writes in a class"""


def _methods_of_error(candidate: Candidate, special: Any) -> dict[str, Any]:
    """What an exception of the candidate's has beside its data: properties, methods, a representation, equality."""

    def attribute(self: Any, name: str) -> Any:
        if name[:2] == "__" or name.startswith(_NO_FIELDS):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return no_judge(name, candidate.ask("get", self, name))

    def representation(self: Any) -> str:
        said = candidate.ask("special", self, "__repr__")
        return said if type(said) is str else object.__repr__(self)

    def equal(self: Any, other: Any) -> Any:
        if self is other or not isinstance(type(other), ErrorClass):
            return True if self is other else NotImplemented
        try:
            is_indifferent = candidate.ask("probe", self, "__eq__") is not False
        except Exception:  # noqa: BLE001 (an honest comparison needs the attributes of its own class)
            is_indifferent = False
        if is_indifferent:
            return NotImplemented
        return candidate.ask("special", self, "__eq__", (other,)) is True

    def unserved(name: str) -> Any:
        def method(self: Any, *_: Any) -> Any:
            if not (candidate.has_gold and name in HOLDING):
                candidate.note(f"it uses {name} of an exception of the candidate's")
            raise TypeError(f"{name} of an exception of the candidate's is not served")

        return method

    def served(name: str) -> Any:
        if name in LEFT:
            return LEFT[name]

        def method(self: Any, /, *positional: Any, **keywords: Any) -> Any:
            return candidate.ask("special", self, name, positional, tuple(keywords.items()))

        return method

    def set_attribute(self: Any, name: str, value: Any) -> None:
        """What the suite sets is set where the candidate is, too, as soon as there is such an exception there."""
        own = vars(self).get("_harena_error")
        found = next((vars(part)[name] for part in type(self).__mro__ if name in vars(part)), None)
        if _is_field(name) and type(own) is int and own > 0 and not hasattr(type(found), "__set__"):
            candidate.ask("set", self, name, value)
        BaseException.__setattr__(self, name, value)

    others = {name for name in special if name not in ("__repr__", "__str__", "__eq__", "__ne__", "__hash__")}
    made: dict[str, Any] = {"__getattr__": attribute, "__setattr__": set_attribute, "_harena_candidate": candidate}
    made |= {name: served(name) if name in _SERVED_OF_ERROR else unserved(name) for name in others}
    if "__repr__" in special:
        made["__repr__"] = representation
    if "__eq__" in special:
        made["__eq__"], made["__hash__"] = equal, Exception.__hash__
    if "__hash__" in special:
        made["__hash__"] = lambda self: candidate.ask("special", self, "__hash__")
    return made


_SERVED_OF_ERROR = frozenset({"__enter__", "__aenter__", "__exit__", "__aexit__", "__call__", "__int__", "__float__"})
"""what an exception does that judges no plain value"""


_NAMED_BY_TYPES = {
    value: name
    for name, value in vars(types).items()
    if isinstance(value, type) and value.__module__ == "builtins" and not hasattr(builtins, value.__name__)
}
"""classes of Python's that only `types` has by a name"""


def _standard_name(value: Any) -> tuple[str, str] | None:
    """(module, qualified name) of a class or function of the standard library."""
    if isinstance(value, type) and value in _NAMED_BY_TYPES:
        return "types", _NAMED_BY_TYPES[value]
    if not isinstance(value, (type, types.BuiltinFunctionType, types.FunctionType, types.MethodDescriptorType)):
        return None
    owner = getattr(value, "__objclass__", None)
    module = getattr(owner or value, "__module__", None) or "builtins"
    qualified = getattr(value, "__qualname__", "")
    file = getattr(sys.modules.get(module), "__file__", None)
    if module not in sys.builtin_module_names and not (file or "").startswith((sys.base_prefix, sys.prefix)):
        return None
    if module.partition(".")[0] in _NEVER_RAISED or module == "__main__":
        return None
    found: Any = sys.modules.get(module)
    for name in qualified.split("."):
        found = getattr(found, name, None)
    return (module, qualified) if found is value else None


def _library_name(cls: Any) -> Any:
    """What names a class of exceptions of a library's, or the nearest one that it derives from before a builtin one;
    None where there is none."""
    for part in cls.__mro__:
        if _is_builtin(part):
            return None
        if not isinstance(part, ErrorClass) and is_library_class(part, named := _standard_name(part)):
            return _Reference(("L", *named, next(names_of(part))))  # type: ignore[misc]
    return None


def _coroutine(candidate: Candidate, reference: Any) -> Any:
    async def awaited() -> Any:
        return candidate.run(reference)

    return awaited()


async def _async_generator(candidate: Candidate, reference: Any) -> Any:
    sent: Any = None
    while True:
        try:
            item = candidate.ask("anext", reference, "", sent)
        except StopAsyncIteration:
            return
        sent = yield item


def _function(candidate: Candidate, reference: Any, name: str, qualified: str, doc: Any, signature: Any) -> Any:
    def function(*positional: Any, **keywords: Any) -> Any:
        return candidate.ask("call", reference, "", positional, tuple(keywords.items()))

    function.__name__, function.__qualname__ = name, qualified
    describe(function, doc, signature)
    return function


class StandInModule(types.ModuleType):
    """A module of the candidate's."""

    def __getattribute__(self, name: str) -> Any:
        """`__all__` is what the candidate lists, but for star imports; `__dict__` holds none of its names."""
        if name in ("__all__", "__dict__"):
            frame = sys._getframe(1)
            if frame.f_code.co_filename in sources:
                if name == "__dict__":
                    held = super().__getattribute__("__dict__")
                    held["__harena__"].note(f"it reads the names of {held['__name__']} as a dict")
                elif not is_importing(frame):
                    return self.__getattr__(name)
        return super().__getattribute__(name)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name not in ("__all__", "__version__", "__author__"):
            if (candidate := self.__dict__.get("__harena__")) is not None:
                candidate.libraries.lacks(self.__name__, name, 2)
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        found = self.__dict__["__harena__"].ask("get", self.__name__, "@" + name)
        if isinstance(found, StandInClass):
            # a class that is also in the place of a function is none that the suite names
            is_named = names_a_class(name) and "_harena_is_function" not in own_names(found)
            found._harena_is_named = is_named
            if not is_named:
                found._harena_is_function = True
        named_by_suite(found, name)
        self.__dict__["__harena__"].took(name, found)
        return self.__dict__["__harena__"].alias(found)

    def __setattr__(self, name: str, value: Any) -> None:
        if name.startswith("__") or (
            isinstance(value, types.ModuleType) and value.__name__ == f"{self.__name__}.{name}"
        ):
            super().__setattr__(name, value)
            return
        candidate = self.__dict__["__harena__"]
        candidate.is_changed = True
        candidate.note(f"it replaces {self.__name__}.{name}", is_doubt=False)
        candidate.ask("set", self.__name__, "@" + name, value)

    def __delattr__(self, name: str) -> None:
        self.__dict__["__harena__"].ask("del", self.__name__, "@" + name)

    def __dir__(self) -> list[str]:
        return [*self.__dict__["__harena_names__"]]


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Imports stand-ins for the candidate's modules, and trusted modules from texts that were read before it ran."""

    def __init__(
        self,
        candidate: Any,
        theirs: Mapping[str, str],
        trusted: Mapping[str, tuple[str, str]],
        exported: Callable[[str], frozenset[str]],
        below: Callable[[str], tuple[Mapping[str, str], Mapping[str, tuple[str, str]]]] = lambda folder: ({}, {}),
    ) -> None:
        """Module names, with the path of each candidate's, and path and text of each trusted one; what star imports of
        a module may bring; both kinds of modules that a folder has, by their names if it is searched."""
        self._candidate = candidate
        self._theirs = theirs
        self._trusted = trusted
        self._here = os.path.realpath(os.getcwd())
        self._exported = exported
        self._below = below
        self._searched: dict[str, None] = {}
        """folders of the candidate's that the suite has put on the path, the first one last"""
        self._path: list[str] = []
        self._met: dict[str, bool] = {}
        """modules of the candidate's that are in none of its files, because its own import system has them, and which
        of them are packages"""

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: Any = None) -> Any:
        """Find trusted modules, and the candidate's, which become stand-ins."""
        self._look_at_path()
        is_package = any(known.startswith(name + ".") for known in (*self._theirs, *self._trusted))
        is_package = is_package or self._theirs.get(name, "").endswith("/__init__.py")
        if name in self._trusted:
            spec = importlib.machinery.ModuleSpec(name, self, origin=self._trusted[name][0], is_package=is_package)
        elif name in self._theirs or is_package:
            spec = importlib.machinery.ModuleSpec(name, self, origin=self._theirs.get(name), is_package=is_package)
        elif self._has(name):
            spec = importlib.machinery.ModuleSpec(name, self, is_package=self._met[name])
        else:
            return None
        spec.has_location = spec.origin is not None
        return spec

    def _look_at_path(self) -> None:
        """What the suite has put on the path since may be a folder in which the candidate has modules."""
        path = [place for place in sys.path if type(place) is str]
        if path == self._path:
            return
        self._path = path
        for place in reversed(path):
            folder = os.path.relpath(os.path.realpath(place), self._here)
            if folder in self._searched or folder.partition(os.sep)[0] in ("..", "."):
                continue
            theirs, trusted = self._below(folder)
            if theirs:
                self._searched[folder] = None
                self._theirs, self._trusted = {**theirs, **self._theirs}, {**trusted, **self._trusted}

    def _has(self, name: str) -> bool:
        """The candidate's own import system has such a module in a package of its own."""
        parent = name.rpartition(".")[0]
        if isinstance(self._candidate, Nobody) or not (parent in self._theirs or parent in self._met):
            return False
        try:
            names, _, _ = self._candidate.ask("module", name, "", tuple(self._searched))
        except ImportError:
            return False
        self._met[name] = "__path__" in names
        return True

    def create_module(self, spec: Any) -> ModuleType | None:
        """Make a stand-in for a module of the candidate's; None = a trusted one is made as usual."""
        if (spec.name not in self._theirs and spec.name not in self._met) or spec.name in self._trusted:
            return None
        if isinstance(self._candidate, Nobody):
            return nobodys_module(spec.name, self._candidate, self._exported(spec.name))
        return StandInModule(spec.name)

    def get_code(self, name: str) -> Any:
        """The code of a trusted module, for who runs it as a program (`runpy`). Raises ImportError for a candidate's,
        whose code is elsewhere."""
        if name in self._trusted:
            path, text = self._trusted[name]
            return compile(text, path, "exec", dont_inherit=True)
        if isinstance(self._candidate, Nobody):
            self._candidate.ask("call", name)
        self._candidate.note(f"it runs {name} as a program in its own process", is_doubt=False)
        raise ImportError(f"the code of {name} is in another process", name=name)

    def exec_module(self, module: ModuleType) -> None:
        """Run a trusted module, or connect a stand-in with the candidate."""
        name = module.__name__
        if name in self._trusted:
            path, text = self._trusted[name]
            with DeepTrees():
                code = compile(watched(ast.parse(text, path)), path, "exec", dont_inherit=True)
            exec(code, module.__dict__)  # noqa: S102 (a trusted file)
        elif name in self._theirs or name in self._met:
            if "__harena_names__" in module.__dict__:
                self._candidate.note(f"it reloads {name}")
            module.__dict__["__harena__"] = self._candidate
            if isinstance(self._candidate, Nobody):
                return
            names, listed, doc = self._candidate.ask("module", name, "", tuple(self._searched))
            module.__dict__["__harena_names__"] = names
            public = [each for each in names if not each.startswith("_")] if listed is None else listed
            wanted = self._exported(name)
            module.__dict__["__all__"] = [each for each in public if each in wanted]
            module.__dict__["__doc__"] = doc
