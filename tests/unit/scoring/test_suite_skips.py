"""Which skips no answer of a candidate's changes: the tree of answers, and what nobody is asked as tests are read."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from harena.scoring.guest.absent_candidate import Nobody, NobodysModule
from harena.scoring.guest.missing_modules import DENYING, GRANTING
from harena.scoring.scorers.suite_apart import Report
from harena.scoring.scorers.suite_skips import MOST_RUNS, settled_skips

Suite = Callable[[Callable[[str], bool]], bool]
"""whether a suite skips its test `t`, by what it asks"""
MIXED: dict[str, Suite] = {
    "lacks or has": lambda ask: not ask("secret") or ask("SLOW"),
    "a chain": lambda ask: not ask("a") or not ask("b") or ask("c") or ask("d"),
    "one of two": lambda ask: ask("a") == ask("b"),
    "two of three": lambda ask: ask("a") + ask("b") + ask("c") != 2,
}
OWN: dict[str, Suite] = {
    "nothing is asked": lambda ask: True,
    "after a look": lambda ask: ask("a") or True,
    "after three": lambda ask: ask("a") + ask("b") + ask("c") < 9,
}


async def _settled(suite: Suite, unheard: str = "") -> tuple[frozenset[str], str, int]:
    """(may be skipped, why it is not settled, further runs)."""
    runs = 0

    def told(answers: Mapping[str, bool], default: bool) -> Report:
        asked: dict[str, bool] = {}

        def ask(question: str) -> bool:
            return asked.setdefault(question, answers.get(question, default))

        skips = suite(ask)
        names = ("t",)
        return Report(
            excused=names if skips else (),
            ran=() if skips else names,
            questions=tuple(asked.items()),
            unheard=unheard,
        )

    async def granting(answers: Mapping[str, bool]) -> Report:
        nonlocal runs
        runs += 1
        return told(answers, True)

    async def denying(answers: Mapping[str, bool]) -> Report:
        nonlocal runs
        runs += 1
        return told(answers, False)

    grounds = ((told({}, True), granting), (told({}, False), denying))
    may_skip, why = await settled_skips(frozenset({"t"}), grounds)
    return may_skip, why, runs


@pytest.mark.parametrize("name", MIXED)
async def test_a_test_that_some_answers_run_may_not_be_skipped(name: str) -> None:
    """Both first runs skip it."""
    assert all(MIXED[name](lambda _, answer=answer: answer) for answer in (True, False))  # type: ignore[misc]
    may_skip, why, runs = await _settled(MIXED[name])
    assert (may_skip, why) == (frozenset(), "")
    assert 0 < runs <= MOST_RUNS


@pytest.mark.parametrize("name", OWN)
async def test_what_all_answers_skip_may_be_skipped(name: str) -> None:
    """Every combination of answers was tried."""
    assert (await _settled(OWN[name]))[:2] == (frozenset({"t"}), "")
    assert (await _settled(OWN["nothing is asked"]))[2] == 0


async def test_what_cannot_be_told_is_not_settled() -> None:
    """The runs are bounded; and a look that has no two answers settles nothing."""
    may_skip, why, runs = await _settled(lambda ask: sum(ask(str(number)) for number in range(8)) != 4)
    assert (may_skip, runs) == ({"t"}, MOST_RUNS)
    assert "asks too much" in why
    many = await _settled(lambda ask: all(ask(str(number)) for number in range(9)) or True)
    assert "asks too much" in many[1]
    assert "its names" in (await _settled(OWN["after a look"], unheard="its names"))[1]


ASKED = [
    ("x = hasattr(module, 'f')", "module.f is there"),
    ("x = bool(module.f)", "module.f is true"),
    ("x = module.f == 3", "module.f equals 3"),
    ("x = isinstance(3, module.f)", "module.f has the instance 3"),
    ("x = hasattr(module.f, 'g')", "module.f.g is there"),
    ("try:\n    x = module.f and True\nexcept AttributeError:\n    x = False", "module.f is there"),
]


def _read(text: str, stance: str, answers: Mapping[str, bool] | None = None) -> tuple[Nobody, object]:
    """Nobody, after a suite was read that is this text, and what that has bound to `x`."""
    nobody = Nobody(["/suite/test_it.py"], stance, [text], answers)
    module = NobodysModule("module")
    vars(module)["__harena__"] = nobody
    space: dict[str, object] = {"module": module}
    exec(compile(text, "/suite/test_it.py", "exec"), space)
    return nobody, space.get("x")


@pytest.mark.parametrize("stance", [GRANTING, DENYING])
@pytest.mark.parametrize(("text", "question"), ASKED)
def test_a_question_has_the_answer_that_it_is_given(text: str, question: str, stance: str) -> None:
    """And is told, with the answer of the stance where it is given none."""
    nobody, _ = _read(text, stance)
    assert question in nobody.questions
    assert not nobody.unheard
    for answer in (True, False):
        changed, x = _read(
            text, stance, {**dict.fromkeys(nobody.questions, answer), "module.f is true": True, question: answer}
        )
        assert changed.questions[question] is answer
        assert x is answer


@pytest.mark.parametrize(("text", "is_unheard"), [
    ("x = 'f' in dir(module)", True), ("x = module.f is None", True), ("x = str(module.f)", True),
    ("x = issubclass(int, module.f)", True), ("x = module.f.__name__", False),
    ("try:\n    x = module.f()\nexcept Exception:\n    x = 0", True),
    ("x = module.f", False), ("x = {module.f: 1}", False), ("def x(): return module.f() is None", False),
])  # fmt: skip
def test_a_look_with_more_than_two_answers_is_noted(text: str, is_unheard: bool) -> None:
    """To name something, or to keep it in a set, is none; nor is to ask for the `__name__` of what is taken by it."""
    assert bool(_read(text, GRANTING)[0].unheard) is is_unheard
