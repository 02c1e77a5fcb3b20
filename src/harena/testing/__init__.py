"""What tests of harena, and of things built on it, use: a fake runtime, a fake clock, and the conformance suites.

`harena.testing.conformance` is not imported here, because it needs pytest.
"""

from __future__ import annotations

from harena.testing.clock import FakeClock
from harena.testing.fake_runtime import FakeRuntime, FakeSandbox

__all__ = ["FakeClock", "FakeRuntime", "FakeSandbox"]
