"""What the kernel's files say about load and memory, and what follows where they are missing or say something else."""

from __future__ import annotations

from pathlib import Path

import pytest

from harena.core.pressure import available_memory_bytes, parse_stalled, runnable_tasks, stalled_seconds

PRESSURE = "some avg10=1.53 avg60=0.87 avg300=0.61 total=66560854\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=7\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "file"


def test_stalled_time_is_the_total_of_some(file: Path) -> None:
    """In seconds; None where the kernel keeps no PSI, or says something that this does not read."""
    assert parse_stalled(PRESSURE) == pytest.approx(66.560854)
    assert stalled_seconds(file) is None
    file.write_text("full total=7\n")
    assert stalled_seconds(file) is None
    file.write_text(PRESSURE)
    assert stalled_seconds(file) == pytest.approx(66.560854)


def test_runnable_tasks_leave_out_the_one_that_reads(file: Path) -> None:
    """The fourth word of /proc/loadavg."""
    assert runnable_tasks(file) is None
    file.write_text("0.20 0.18 0.12 9/313 14412\n")
    assert runnable_tasks(file) == 8
    file.write_text("0.20 0.18")
    assert runnable_tasks(file) is None


def test_memory_is_the_least_of_the_machines_and_the_containers(file: Path, tmp_path: Path) -> None:
    """A group without a limit ("max"), or that is not there, does not count."""
    most, used = tmp_path / "max", tmp_path / "current"
    groups = ((str(most), str(used)),)
    assert available_memory_bytes(file, groups) is None
    file.write_text("MemTotal: 2000 kB\nMemAvailable:    1000 kB\n")
    assert available_memory_bytes(file, groups) == 1000 * 1024
    most.write_text("max\n")
    used.write_text("5\n")
    assert available_memory_bytes(file, groups) == 1000 * 1024
    most.write_text("105\n")
    assert available_memory_bytes(file, groups) == 100
