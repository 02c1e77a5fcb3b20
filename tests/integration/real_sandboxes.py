"""Real sandboxes for the rows of one module: `source`, a fixture, and `verified`, a task of Harbor's in one of them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping

import pytest
import pytest_asyncio
from battery_world import Source, linux_runtime

from harena.core.models import SandboxSpec
from harena.core.results import RunResult
from harena.scoring import load_scenarios, score_scenario


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def source(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Source]:
    """One runtime for a module: the guard of trusted programs, and a verifier's files, lie at paths of a sandbox."""
    runtime = linux_runtime(tmp_path_factory.mktemp("home"))
    await runtime.start()
    yield Source(runtime)
    await runtime.close()


async def verified(source: Source, script: str, tests: Mapping[str, str], *, gold: str = "") -> RunResult:
    """What a verifier of these files says of a candidate's `solve.sh`; `gold`: that of the task."""
    known = {"gold": gold} if gold else {}
    scoring = {"type": "harbor", "tests": dict(tests), "verifier_timeout_seconds": 20, **known}
    row = {"id": "one", "candidate": {"files": {"solve.sh": script}, "entry": "solve.sh"}, "scoring": scoring}
    (scenario,) = load_scenarios([row]).scenarios
    return await score_scenario(scenario, sandboxes=source, base_spec=SandboxSpec(), timeout_seconds=30)
