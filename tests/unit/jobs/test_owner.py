"""Whether the process that runs a job still lives."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from harena.core.leases import Owner
from harena.jobs.owner import OwnerStatus, is_alive, owner_status, this_process


def fake_proc(root: Path, *, state: str = "S", started: int = 4711) -> Path:
    """A /proc with one process, 77, whose name tries to look like more fields."""
    (root / "77").mkdir(parents=True)
    rest = " ".join(["0"] * 18)
    (root / "77/stat").write_text(f"77 (a ) Z (b) {state} {rest} {started} 0 0\n")
    (root / "sys/kernel/random").mkdir(parents=True)
    (root / "sys/kernel/random/boot_id").write_text("boot-1\n")
    return root


def test_this_process_lives() -> None:
    """The caller finds itself alive, and a twin with another start time dead."""
    me = this_process()
    assert me.pid == os.getpid()
    assert is_alive(me)
    assert not is_alive(replace(me, started="1"))
    assert not is_alive(replace(me, boot="another"))


def test_names_cannot_shift_the_fields(tmp_path: Path) -> None:
    """A command name with parentheses and spaces is read over."""
    proc = fake_proc(tmp_path)
    assert is_alive(Owner(pid=77, started="4711", boot="boot-1"), proc)
    assert not is_alive(Owner(pid=78, started="4711", boot="boot-1"), proc)


def test_a_zombie_runs_nothing(tmp_path: Path) -> None:
    """A killed process that nobody has reaped yet is gone."""
    assert not is_alive(Owner(pid=77, started="4711", boot="boot-1"), fake_proc(tmp_path, state="Z"))


@pytest.mark.parametrize(
    ("owner", "one_machine", "expected"),
    [
        (Owner(pid=77, started="4711", boot="boot-1"), True, OwnerStatus.ALIVE),
        (Owner(pid=77, started="4712", boot="boot-1"), False, OwnerStatus.GONE),
        (Owner(pid=77, started="", boot="boot-2"), False, OwnerStatus.GONE),  # has let go
        (Owner(pid=77, started="4711", boot="boot-1 pid:[1]"), True, OwnerStatus.UNKNOWN),  # in another container
        (Owner(pid=77, started="4711", boot="boot-2"), True, OwnerStatus.GONE),  # before this machine was started anew
        (Owner(pid=77, started="4711", boot="boot-2"), False, OwnerStatus.UNKNOWN),  # on another machine, perhaps
    ],
)
def test_what_can_be_said_of_an_owner(tmp_path: Path, owner: Owner, one_machine: bool, expected: OwnerStatus) -> None:
    """Only what is certain is said."""
    assert owner_status(owner, one_machine=one_machine, proc=fake_proc(tmp_path)) is expected
