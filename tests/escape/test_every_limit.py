"""Every limit that an operator sets for a workspace, and every limit of a sandbox, has an attack that meets it: over
HTTP, by a key with the scope write, or by a program inside. Others are served meanwhile."""

from __future__ import annotations

import asyncio
import base64
import importlib
import json
import random
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, fields
from io import BytesIO
from pathlib import Path

import pytest
import pytest_asyncio
from api_world import ROWS, Answer, Caller

from harena.core.models import MIB
from harena.core.records.sandboxes import Limits
from harena.core.workspace import LIMITS, WorkspaceLimits
from harena.testing.conformance_operations import GOOD
from harena.testing.conformance_registry import tar_of

sys.path.append(str(Path(__file__).parents[1] / "component" / "server"))

import aiohttp
from programs_resources import MEMORY, OTHERS
from server_world import World, world
from test_server_keys import key_for

TESTS = Path(__file__).parents[1]
HANGS = {**GOOD, "id": "hangs", "candidate": {"files": {"solution.py": "import time; time.sleep(3600)"}}}
LARGE = "x" * 900_000
"""of a body that takes more memory than it is long"""


@dataclass
class Set:
    """Limits of workspaces, as a store has them."""

    of: dict[str, dict[str, float | int]] = field(default_factory=dict)

    async def limits(self, workspace: str) -> Mapping[str, float | int]:
        """What was set."""
        return self.of.get(workspace, {})


Attack = Callable[[Caller], Awaitable[Answer]]


@dataclass(frozen=True)
class Row:
    """A limit that is met over HTTP: what is set, what the attacker does, and what the last answer is."""

    limits: Mapping[str, float | int]
    attack: Attack
    status: int
    said: str


@dataclass(frozen=True)
class ShownBy:
    """A limit that is met by what this server has not got: a test elsewhere, which names it."""

    test: str


async def many(*asked: Awaitable[Answer]) -> Answer:
    """The worst of many at one time, or of one after the other."""
    return max(await asyncio.gather(*asked), key=lambda answer: answer.status)


async def rate(caller: Caller) -> Answer:
    """More than one may ask at once."""
    return await many(*(caller.ask("GET", "/v1/sandboxes") for _ in range(20)))


async def sandboxes(caller: Caller) -> Answer:
    """More than may live at one time, all at once."""
    return await many(*(caller.ask("POST", "/v1/sandboxes", {}) for _ in range(5)))


async def jobs(caller: Caller) -> Answer:
    """Jobs that do not end."""
    return await many(
        *(caller.ask("POST", "/v1/benchmark_jobs", {"name": "job", "scenarios": [HANGS]}) for _ in range(3))
    )


async def score(caller: Caller) -> Answer:
    """A run, where there may be none."""
    return await caller.ask("POST", "/v1/scores", {"scenario": GOOD})


async def runs(caller: Caller) -> Answer:
    """One job of many."""
    asked = {"name": "job", "scenarios": [GOOD], "config": {"attempts": 50}}
    return await caller.ask("POST", "/v1/benchmark_jobs", asked)


async def large_job(caller: Caller) -> Answer:
    """Scenarios that take memory for as long as the job has not ended."""
    asked = {"name": "job", "scenarios": [{**HANGS, "metadata": {"note": LARGE}}]}
    return await caller.ask("POST", "/v1/benchmark_jobs", asked)


async def large_request(caller: Caller) -> Answer:
    """One body."""
    return await caller.ask("POST", "/v1/sandboxes", {"tags": [LARGE]})


async def large_lines(caller: Caller) -> Answer:
    """Lines of scenarios, which wait on the disk until all have come."""
    body = b'{"name": "n"}\n' + json.dumps(GOOD).encode() + b"\n" * (3 * MIB)
    return await caller.ask("POST", "/v1/benchmark_jobs", data=BytesIO(body), content_type="application/x-ndjson")


async def objects(caller: Caller) -> Answer:
    """Versions of a data set."""
    asked = [
        caller.ask(
            "POST", f"/v1/objects?kind=dataset&name=mine&version={version}", data=tar_of(("rows.jsonl", ROWS * 1000))
        )
        for version in (1, 2, 3)
    ]
    return await many(*asked)


async def stored(caller: Caller) -> Answer:
    """Scenarios, version after version."""
    answers = []
    for number in range(3):  # what is stored is packed: the same word again and again takes nothing
        scenario = {**GOOD, "metadata": {"note": random.Random(number).randbytes(20_000).hex()}}
        answers.append(await caller.ask("POST", "/v1/scenarios", {"name": "s", "scenarios": [scenario]}))
    return max(answers, key=lambda answer: answer.status)


async def blueprints(caller: Caller) -> Answer:
    """With files."""
    files = {"/workspace/f": base64.b64encode(b"x" * 100_000).decode()}
    return await many(
        *(caller.ask("POST", "/v1/blueprints", {"name": f"b{number}", "files": files}) for number in range(4))
    )


async def leases(caller: Caller) -> Answer:
    """Which nobody renews."""
    return await many(*(caller.ask("POST", "/v1/leases", {"seconds": 600}) for _ in range(4)))


async def machine(caller: Caller) -> Answer:
    """A sandbox of that profile."""
    return await caller.ask("POST", "/v1/sandboxes", {"profile": "machine"})


def greedy(name: str, most: float) -> Row:
    """A sandbox that asks for more than a ceiling, after one that asks for none where there is such a thing."""

    async def attack(caller: Caller) -> Answer:
        default = getattr(Limits(), name)
        if default is None or name in ("memory_bytes", "pids", "lifetime_seconds"):
            unlimited = await caller.ask("POST", "/v1/sandboxes", {"limits": {name: None}})
            assert unlimited.status == 201, unlimited
            assert unlimited.json()["limits"][name] == most, unlimited
        return await caller.ask("POST", "/v1/sandboxes", {"limits": {name: most * 2}})

    return Row({f"sandbox_{name}": most}, attack, 422, f"(sandbox_{name})")


ATTACKS: dict[str, Row | ShownBy] = {
    "requests_per_second": Row({"requests_per_second": 0.01, "request_burst": 3}, rate, 429, "REQUEST_RATE"),
    "request_burst": Row({"requests_per_second": 0.01, "request_burst": 1}, rate, 429, "REQUEST_RATE"),
    "request_bytes": Row({"request_bytes": 100_000}, large_request, 413, "TOO_LARGE"),
    "sandboxes": Row({"sandboxes": 2}, sandboxes, 429, "SANDBOXES"),
    "open_jobs": Row({"open_jobs": 2}, jobs, 429, "OPEN_JOBS"),
    "runs": Row({"runs": 0}, score, 429, "RUNS"),
    "open_runs": Row({"open_runs": 9}, runs, 429, "OPEN_RUNS"),
    "job_memory_bytes": Row({"job_memory_bytes": 500_000}, large_job, 429, "JOB_MEMORY"),
    "request_memory_bytes": Row({"request_memory_bytes": MIB}, large_request, 413, "request_memory_bytes"),
    "request_disk_bytes": Row({"request_disk_bytes": MIB}, large_lines, 413, "request_disk_bytes"),
    "objects": Row({"objects": 1}, objects, 429, "OBJECTS"),
    "object_bytes": Row({"object_bytes": 60_000}, objects, 429, "OBJECTS"),
    "stored_bytes": Row({"stored_bytes": 30_000}, stored, 429, "STORED_BYTES"),
    "blueprints": Row({"blueprints": 2}, blueprints, 429, "BLUEPRINTS"),
    "blueprint_bytes": Row({"blueprint_bytes": 200_000}, blueprints, 429, "BLUEPRINTS"),
    "package_bytes": ShownBy("component/runtime/test_layers.py::test_packages_beyond_a_limit_are_not_unpacked"),
    "training_bytes": ShownBy("component/server/test_server_objects.py::test_files_of_training_jobs_of_a_workspace"),
    "leases": Row({"leases": 2}, leases, 429, "LEASES"),
    "output_bytes": ShownBy("component/server/test_server_objects.py::test_outputs_of_a_workspace"),
    "sandbox_memory_bytes": greedy("memory_bytes", 64 * MIB),
    "sandbox_pids": greedy("pids", 64),
    "sandbox_cpu": greedy("cpu", 0.5),
    "sandbox_disk_bytes": greedy("disk_bytes", 64 * MIB),
    "sandbox_inodes": greedy("inodes", 1000),
    "sandbox_output_bytes": greedy("output_bytes", MIB),
    "sandbox_open_files": greedy("open_files", 64),
    "sandbox_lifetime_seconds": greedy("lifetime_seconds", 60.0),
    "machine_profile": Row({}, machine, 422, "MACHINE_PROFILE"),
}
INSIDE: dict[str, tuple[str, ...]] = {
    "memory_bytes": tuple(MEMORY),
    "pids": ("fork bomb", "fork bomb of shells", "thread bomb", "process counter"),
    "cpu": ("escape/test_resources.py::test_no_more_of_the_processors_than_the_limit",),
    "disk_bytes": ("disk", "reserved disk"),
    "inodes": ("inodes",),
    "output_bytes": ("escape/test_resources.py::test_output_flood",),
    "open_files": ("descriptors",),
    "lifetime_seconds": ("testing/conformance_operations.py::test_lifetime",),
}
"""limit of a sandbox -> programs of programs_resources.py, and tests, that take more than it allows"""


def test_every_limit_has_an_attack() -> None:
    """One that is added has none yet: give it a row."""
    assert sorted(ATTACKS) == sorted(LIMITS)
    assert sorted(INSIDE) == sorted(each.name for each in fields(Limits))


def source_of(test: str) -> str:
    """The text of a test that is named as `file::function`."""
    name, _, function = test.partition("::")
    place = TESTS / name
    if not place.exists():
        place = Path(str(importlib.import_module("harena").__file__)).parent / name
    text = place.read_text(encoding="utf-8")
    _, found, rest = text.partition(f"def {function}(")
    assert found, f"there is no test {test}"
    return rest.partition("\nasync def ")[0].partition("\n    async def test_")[0]


def test_attacks_that_lie_elsewhere_are_there() -> None:
    """And they name the limit, or set it."""
    for name, row in ATTACKS.items():
        if isinstance(row, ShownBy):
            assert name in source_of(row.test), f"{row.test} does not name {name}"
    for name, attacks in INSIDE.items():
        assert attacks
        for attack in attacks:
            if "::" in attack:
                assert name in source_of(attack), f"{attack} does not name {name}"
            else:
                assert attack in MEMORY or name in OTHERS[attack].limits, attack


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def served(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[tuple[World, Set]]:
    """A server that asks for keys, and what is set for its workspaces."""
    limits = Set()
    async with world(tmp_path_factory.mktemp("limits"), keyed=True, limits=limits) as made:
        yield made, limits


async def caller_of(made: World, stack: AsyncExitStack, workspace: str) -> Caller:
    """With a key that may write."""
    headers = {"authorization": f"Bearer {await key_for(made, workspace, 'read', 'write')}"}
    return Caller(await stack.enter_async_context(aiohttp.ClientSession(made.url, headers=headers)), ())


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("name", [name for name, row in ATTACKS.items() if isinstance(row, Row)])
async def test_the_limit_holds_and_others_are_served(served: tuple[World, Set], name: str) -> None:
    """It is refused in the words of that limit, it is not refused with the limit that all have, and another workspace
    does beside it what it likes."""
    made, limits = served
    row = ATTACKS[name]
    assert isinstance(row, Row)
    limits.of[f"hostile-{name}"] = dict(row.limits)
    async with AsyncExitStack() as stack:
        hostile, other = [await caller_of(made, stack, who) for who in (f"hostile-{name}", f"other-{name}")]
        answer = await row.attack(hostile)
        assert (answer.status, row.said in answer.text) == (row.status, True), answer
        for method, path, content, status in (
            ("POST", "/v1/sandboxes", {}, 201),
            ("GET", "/v1/sandboxes", None, 200),
            ("POST", "/v1/scenarios", {"name": "s", "scenarios": [GOOD]}, 201),
        ):
            assert (await other.ask(method, path, content)).status == status
        if row.limits and not name.startswith("sandbox_"):
            usual = await row.attack(other)
            assert row.said not in usual.text, usual
        for each in (hostile, other):
            for job in (await each.ask("GET", "/v1/benchmark_jobs?limit=100")).json().get("benchmark_jobs", ()):
                await each.ask("POST", f"/v1/benchmark_jobs/{job['id']}/cancel")


def test_no_limit_is_without_a_default_that_is_stated() -> None:
    """Each of them is a number by default, but for the runs at one time, which the node's slots bound."""
    assert [name for name in LIMITS if getattr(WorkspaceLimits(), name) is None] == ["runs"]
