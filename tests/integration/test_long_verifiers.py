"""Verifiers of megabytes: no search over their files takes long, or takes place in the event loop; and what stands at
the end of a long script is looked at."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Callable, Collection, Mapping
from functools import wraps
from types import FunctionType
from typing import Any

import pytest
import pytest_asyncio
from battery_world import PYTEST_LAYER, Source, linux_runtime

from harena.core.models import SandboxSpec
from harena.scoring import load_scenarios, score_scenario
from harena.scoring.scorers import harbor, sealed_verifier
from harena.scoring.scorers.searched_texts import MOST_OF_VERIFIER
from harena.scoring.slices import SMALL

pytestmark = pytest.mark.asyncio(loop_scope="module")

ORDINARY = "cp /tmp/a%d /app/b && python3 -m mod%d > out.txt; cat foo/bar.sh | bash\n"
FILLER = "".join(ORDINARY % (number, number) for number in range(4000))
END = """\
r=0; python3 /tests/t.py > /tmp/result.txt; grep -q PASS /tmp/result.txt && r=1
echo $r > /logs/verifier/reward.txt
"""
TESTS = {
    "data.json": f'["{"x" * 70} /data/x.json",\n' * 30_000,
    "a_test.py": "x = 1\n" * 200_000,
    "test.sh": f"cat > /dev/null <<'EOF'\n{FILLER}EOF\n{END}",
    "t.py": "print('PASS' if open('/app/out.txt').read().strip() == '42' else 'FAIL')\n",
}
BOUNDED_ITSELF = {"guarded_scripts", "may_end_without", "tracing", "written_by_python", "has_led_somewhere", "led_by"}
"""these keep a bound of their own, or give back what they read"""
NOT_SEARCHED = {"guard", "has_tests", "searched", "_said_by"}
"""these take contents to note them, or names"""


def searches(module: Any) -> dict[str, FunctionType]:
    """What a module takes from others of its room that may look through texts."""
    return {
        name: made
        for name, made in vars(module).items()
        if isinstance(made, FunctionType)
        and made.__module__.startswith("harena.scoring.scorers.")
        and not made.__code__.co_flags & 0x80
        and name not in BOUNDED_ITSELF | NOT_SEARCHED
    }


def size_of(value: Any) -> int:
    """Characters of texts in what is given."""
    if isinstance(value, str):
        return len(value)
    if isinstance(value, Mapping):
        return sum(map(size_of, value.values()))
    return sum(map(size_of, value)) if isinstance(value, Collection) and not isinstance(value, bytes) else 0


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def source(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Source]:
    """Real sandboxes, with pytest."""
    runtime = linux_runtime(tmp_path_factory.mktemp("home"))
    await runtime.start()
    yield Source(runtime, PYTEST_LAYER)
    await runtime.close()


@pytest.mark.parametrize(
    ("solve", "score"),
    [
        ("echo 42 > out.txt", 1.0),
        ("echo PASS > /tmp/result.txt; chmod 444 /tmp/result.txt", 0.0),
    ],
)
async def test_a_verifier_of_megabytes(
    source: Source, solve: str, score: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A right answer is paid, a result that is prepared is not; all searches are bounded, and none is in the loop."""
    long: list[str] = []
    in_loop: list[str] = []

    def watched(name: str, made: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(made)
        def call(*args: Any, **kwargs: Any) -> Any:
            size = sum(map(size_of, (*args, *kwargs.values())))
            if size > MOST_OF_VERIFIER + SMALL:
                long.append(name)
            if size > 16 * SMALL and threading.current_thread() is threading.main_thread():
                in_loop.append(name)
            return made(*args, **kwargs)

        return call

    for module in (harbor, sealed_verifier):
        for name, made in searches(module).items():
            monkeypatch.setattr(module, name, watched(name, made))
    contract = {"type": "harbor", "tests": TESTS}
    row = {"id": "one", "candidate": {"files": {"solve.sh": f"cd /app\n{solve}\n"}, "entry": "solve.sh"}}
    (scenario,) = load_scenarios([{**row, "scoring": contract}]).scenarios
    result = await score_scenario(scenario, sandboxes=source, base_spec=SandboxSpec(), timeout_seconds=60)
    assert result.score == score, result.detail
    assert (long, in_loop) == ([], [])
