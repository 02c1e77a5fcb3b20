"""Which mechanisms of a fast start are in force: settings, and interpreters that they were tested with."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path

import pytest

from harena.core.errors import ValidationError
from harena.core.settings import SETTINGS
from harena.runtime.host.linux import LinuxRuntime
from harena.runtime.host.mechanisms import (
    MECHANISMS,
    TESTED,
    Interpreter,
    Mechanism,
    Mechanisms,
    in_force,
    is_tested,
    running,
    without,
)

PAGE = Path(__file__).parents[3] / "docs" / "explanation" / "mechanisms.md"


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=lambda mechanism: mechanism.name)
def test_its_setting_switches_it_off_and_no_other(mechanism: Mechanism) -> None:
    """Where nothing is said it is on; a word that is neither is refused, with the setting's name."""
    assert in_force({}, TESTED[0]) == in_force({mechanism.variable: "on"}, TESTED[0]) == Mechanisms()
    assert in_force({mechanism.variable: "off"}, TESTED[0]) == without(mechanism.name)
    for word in ("", "0", "no", "OFF"):
        with pytest.raises(ValidationError, match=mechanism.variable):
            in_force({mechanism.variable: word}, TESTED[0])


def test_a_runtime_takes_what_the_environment_says(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also that no sandbox is kept ready."""
    monkeypatch.setenv("HARENA_MADE_AHEAD", "off")
    assert LinuxRuntime()._pool_size == 0
    monkeypatch.setenv("HARENA_MADE_AHEAD", "maybe")
    with pytest.raises(ValidationError, match="HARENA_MADE_AHEAD='maybe'"):
        LinuxRuntime()


@pytest.mark.parametrize(
    "interpreter",
    [
        Interpreter(cache_tag="cpython-310", bytecode=3439),
        Interpreter(cache_tag="cpython-314", bytecode=3627),
        Interpreter(cache_tag="cpython-313", bytecode=3570),
        Interpreter(cache_tag="cpython-313", bytecode=3571, abi_flags="t"),
        Interpreter(cache_tag="cpython-313", bytecode=3571, abi_flags="d"),
        Interpreter(cache_tag="pypy311", bytecode=3495),
    ],
    ids=["an older series", "a newer one", "one in the making", "without the lock", "for debugging", "another make"],
)
def test_an_interpreter_that_was_not_tested_goes_the_plain_way(interpreter: Interpreter) -> None:
    """What leans on an interpreter's insides is refused, whatever settings say; the rest is in force."""
    assert not is_tested(interpreter)
    uses = asdict(in_force({each.variable: "on" for each in MECHANISMS}, interpreter))
    assert uses == {each.name: not each.leans_on_interpreter for each in MECHANISMS}
    assert not any(uses[name] for name in ("machine_code", "warm_programs", "hidden_frames"))


def test_the_tested_ones_have_everything() -> None:
    """The table is the rule; what this suite runs on is in it."""
    assert all(in_force({}, interpreter) == Mechanisms() for interpreter in TESTED)
    assert len({each.cache_tag for each in TESTED}) == len(TESTED)
    if sys.version_info[:2] in ((3, 11), (3, 12), (3, 13)) and not sys.abiflags:
        assert is_tested(running())


def test_each_is_documented() -> None:
    """By its setting, on the page that says what it earns."""
    page = PAGE.read_text(encoding="utf-8")
    assert [each.variable for each in MECHANISMS if f"`{each.variable}`" not in page] == []


def test_settings_of_mechanisms_are_declared() -> None:
    """Where all settings are, so that the reference has them."""
    declared = {setting.name for setting in SETTINGS}
    assert {mechanism.variable for mechanism in MECHANISMS} <= declared
