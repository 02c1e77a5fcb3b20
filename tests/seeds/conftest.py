"""The names of other clients mean harena here, and its home is the test session's own."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator

import pytest

from harena.alias_modules import install_aliases

NAMES = ("aviato", "cwsandbox", "runloop")


@pytest.fixture(scope="module", autouse=True)
def _as_a_guide_has_it(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The names, a node with a fresh home, and python:3.11 as the image that these guides name."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HARENA_HOME", str(tmp_path_factory.mktemp("home")))
        patch.setenv("HARENA_IMAGE_ALIASES", "python:3.11=default")
        install_aliases(*NAMES, force=True)
        yield
        importlib.import_module("harena").shutdown()
        for name in NAMES:
            del sys.modules[name]
