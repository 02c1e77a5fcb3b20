"""Task directories as people write them: right is 1, wrong and nothing are a valid 0, with default settings."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
import pytest_asyncio
from battery_world import PYTEST_LAYER, Source, linux_runtime

from harbor_shapes import SHAPES
from harena.core.models import SandboxSpec
from harena.core.results import Validity
from harena.scoring import score_scenario
from harena.scoring.formats import import_scenarios
from harena.scoring.scenario import Candidate

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.thorough]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def source(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Source]:
    """Real sandboxes that have pytest."""
    runtime = linux_runtime(tmp_path_factory.mktemp("home"))
    await runtime.start()
    yield Source(runtime, PYTEST_LAYER)
    await runtime.close()


@pytest.mark.parametrize("name", SHAPES)
async def test_who_is_right_is_paid_and_nobody_else(source: Source, tmp_path: Path, name: str) -> None:
    shape = SHAPES[name]
    for path, content in shape.directory().items():
        (tmp_path / "task" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "task" / path).write_bytes(content)
    (oracle,) = import_scenarios(tmp_path / "task").scenarios
    oracle = replace(oracle, build=None, image=None)
    for script, score in ((None, 1.0), ("true\n", 0.0), *((wrong, 0.0) for wrong in shape.wrong)):
        candidate = Candidate(files={"solve.sh": script}, entry="solve.sh") if script is not None else oracle.candidate
        scenario = replace(oracle, candidate=candidate)
        result = await score_scenario(scenario, sandboxes=source, base_spec=SandboxSpec(), timeout_seconds=60)
        assert (script, result.score, result.validity) == (script, score, Validity.VALID), result.detail
