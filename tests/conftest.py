"""What holds for every test: it neither sees nor changes what harena keeps for the user who runs it."""

from __future__ import annotations

import gc
import os
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# before any test module imports a part of it: pytest refuses to do so afterwards
pytest.register_assert_rewrite("harena.testing")

import hangs  # noqa: E402
import harena.training  # noqa: E402, F401 - what it sets for torch must be set before a test module loads that
from tiers import pytest_addoption, pytest_collection_modifyitems, pytest_report_header  # noqa: E402, F401 - hooks

# What tests of one room share lies in that room's folder of tests/unit or tests/component, for the tests of both.
_HERE = Path(__file__).parent
sys.path += [str(room) for folder in ("unit", "component") for room in sorted((_HERE / folder).iterdir())]

# how long an example takes says how busy the machine is, and nothing about harena
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")

_HOME = pytest.StashKey[tempfile.TemporaryDirectory[str]]()


def pytest_configure(config: pytest.Config) -> None:
    """HARENA_HOME is a directory of this session's: a database that another version has left in the user's own would
    decide whether a test passes. Set here, before a test module is loaded, for some that start nodes as they load."""
    config.pluginmanager.register(hangs)
    config.stash[_HOME] = tempfile.TemporaryDirectory(prefix="tests-")
    os.environ["HARENA_HOME"] = config.stash[_HOME].name
    # else one would be made beside that directory
    os.environ["HARENA_SECRET_KEY"] = "dGhpcyBpcyBubyBzZWNyZXQsIGl0J3MgZm9yIHRlc3Q="


def pytest_collection_finish() -> None:
    """What loading the tests has made stays until the process ends, so no collection of garbage need look at it.

    With torch and its kind loaded there are half a million such objects: each full collection, and the tests that
    look for leaks ask for one after every test, took 0.2 to 0.4 s of processor time. What tests make is still
    collected."""
    gc.collect()
    gc.freeze()


def pytest_unconfigure(config: pytest.Config) -> None:
    if (home := config.stash.get(_HOME, None)) is not None:
        home.cleanup()
