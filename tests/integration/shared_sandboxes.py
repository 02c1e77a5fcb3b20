"""One runtime for all rows of a module, with sandboxes in which Python starts with pytest already imported.

To judge a row takes several starts of an interpreter, and most of such a start is the import of pytest or unittest. A
module whose rows share one runtime and one event loop pays for that once, and asks nobody twice what scoring remembers
of a contract: how its gold solution is paid, and what its suite does without a candidate. Each test still judges its
own row, so what is deselected is not run.

    pytestmark = SHARED         # in the module; `shared` is then the source of its sandboxes

Rows whose programs need numpy say so (`with_numpy`): their sandboxes have it imported, too. To start an interpreter
that imports pytest and numpy takes 0.4 s of a processor, and to judge a row takes several.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from battery_world import InstalledHere, Source, scored, scored_alone

from harena.core.records.blueprints import Blueprint
from harena.core.results import RunResult
from harena.runtime.host.linux import LinuxRuntime
from harena.scoring import Scenario, StarvedError
from harena.testing import FakeRuntime

SHARED = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.usefixtures("shared")]
SUITES = Blueprint(
    id="bp_suites",
    name="suites",
    layer="pytest",
    warm=("pytest", "unittest"),
    # what the runners of trusted suites set: an interpreter that was started with other values is started anew
    env={"PYTHONDONTWRITEBYTECODE": "1", "PYTHONNOUSERSITE": "1"},
)
WITH_NUMPY = replace(
    SUITES,
    id="bp_suites_numpy",
    name="suites-numpy",
    layer="numpy",
    warm=(*SUITES.warm, "numpy", "numpy.testing"),
)

_opened: list[Source] = []
"""the source of the module whose tests run now"""


@asynccontextmanager
async def shared_source(home: Path, layer: InstalledHere) -> AsyncIterator[Source]:
    """Sandboxes of `SUITES`, which `judged` takes until this ends."""
    runtime = LinuxRuntime(home=home, layers=layer)
    await runtime.start()
    _opened.append(Source(runtime, SUITES))
    try:
        yield _opened[-1]
    finally:
        _opened.clear()
        await runtime.close()


async def judged(scenario: Scenario, *, by_this_interpreter: bool = False, with_numpy: bool = False) -> RunResult:
    """The envelope of one candidate, by the sandboxes that its module shares, perhaps `with_numpy`; in a module that
    shares none, or where it is asked for, by this environment's interpreter, which has all that is installed here. A
    starved run is made again, as a job does."""
    source = _opened[-1] if _opened and not by_this_interpreter else Source(FakeRuntime())
    if with_numpy and not source.is_fake:
        source = Source(source.runtime, WITH_NUMPY)
    try:
        return await scored(source, scenario, timeout_seconds=30)
    except StarvedError:
        return await scored_alone(source, scenario, timeout_seconds=30)
