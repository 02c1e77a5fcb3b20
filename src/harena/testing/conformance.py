"""What every runtime must do, as tests that any back-end can run. Needs pytest and pytest-asyncio.

    class TestMyRuntime(RuntimeConformance):
        @classmethod
        def make_runtime(cls) -> Runtime:
            return MyRuntime()

One runtime and one event loop serve the whole class (override the `runtime` fixture for anything else); each test gets
a fresh `sandbox`. `check_leaks` runs after each test, when the sandbox has been destroyed. Only behaviour that does not
depend on isolation is tested here, so that a fake can pass; walls have suites of their own.
"""

from __future__ import annotations

import pytest

# the suites' failures shall show their values, which pytest does only for modules that it was told of before
pytest.register_assert_rewrite(
    *(f"harena.testing.conformance_{part}" for part in ("bad_jobs", "exec", "files", "life"))
)

from harena.testing.conformance_base import ConformanceBase  # noqa: E402
from harena.testing.conformance_exec import ExecConformance  # noqa: E402
from harena.testing.conformance_files import FileConformance  # noqa: E402
from harena.testing.conformance_life import LifeConformance  # noqa: E402

__all__ = ["RuntimeConformance"]


@pytest.mark.asyncio(loop_scope="class")
class RuntimeConformance(ExecConformance, FileConformance, LifeConformance, ConformanceBase):
    """All of it: commands, files, and a sandbox's life."""
