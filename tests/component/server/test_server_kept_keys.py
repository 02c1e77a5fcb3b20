"""What a server keeps with an idempotency key is small, whatever was created, and finds it again."""

from __future__ import annotations

import gc
import sys
from collections.abc import Mapping
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import aiohttp
import pytest
from server_world import world
from test_server_keys import key_for

from harena.core.operations import OPERATIONS
from harena.core.operations.operation import Operation
from harena.server.idempotency import Idempotency
from harena.testing import FakeClock
from harena.testing.conformance_operations import GOOD

MOST_BYTES = 4096
"""of one key, whose fingerprint, workspace and name are in it"""
WORDS = {f"word{number}": "x" * 900 for number in range(90)}
BODIES: Mapping[str, Any] = {
    "sandboxes_create": {"tags": [f"{number}" + "x" * 90 for number in range(90)], "annotations": {"a": "x" * 900}},
    "leases_open_lease": {"seconds": 60},
    "blueprints_create": {"name": "large", "env": {f"V{number}": "x" * 900 for number in range(90)}},
    "catalog_create_scenarios": {"name": "large", "scenarios": [GOOD], "metadata": WORDS},
    "catalog_create_contract": {"name": "large", "contract": GOOD["scoring"], "metadata": WORDS},
    "benchmark_job_defs_create": {"name": "large", "request": {"scenarios": [GOOD]}, "metadata": WORDS},
    "benchmark_job_defs_run": {"name": "large", "scenarios": [{**GOOD, "metadata": {"a": "x" * 50_000}}]},
    "catalog_calibrate": {"scenarios": {"ref": "given"}, "gold_runs": 2},
    "benchmark_jobs_create": {"name": "large", "scenarios": [{**GOOD, "metadata": {"a": "x" * 50_000}}]},
    "training_jobs_create": {"recipe": "sft", "config": {"a": "x" * 50_000}},
    "keys_create": {"name": "x" * 64, "scopes": ["read"]},
    "world_manifests_create": {"name": "large", "preset": "enterprise"},
    "world_jobs_create": {"world": "given", "count": 100},
}
"""by id of an operation: a request whose answer, or what is made of it, is large. A new noun is added here."""
REFUSED = {"training_jobs_create": 422, "catalog_calibrate": 501}
"""their ports keep the key (`has_key`), and here nothing can be made: of what was refused nothing is kept, either"""


def size_of(keys: Idempotency) -> int:
    """Bytes of all that is kept for keys, whatever holds it."""
    seen, waiting, size = set[int](), [keys._kept], 0
    while waiting:
        each: Any = waiting.pop()
        if id(each) not in seen and not isinstance(each, type | ModuleType | FunctionType):
            seen.add(id(each))
            size += sys.getsizeof(each)
            waiting += gc.get_referents(each)
    return size


@pytest.mark.parametrize("row", [row for row in OPERATIONS if row.creates], ids=lambda row: row.id)
async def test_a_key_keeps_no_answer(tmp_path: Path, row: Operation[..., Any]) -> None:
    """However large what was created is, some KiB stay of it, and whoever asks again gets the same answer."""
    async with world(tmp_path, clock=FakeClock(auto_jump=False), keyed=True) as made:
        headers = {"authorization": f"Bearer {await key_for(made, 'ours', 'admin')}"}
        async with aiohttp.ClientSession(made.url, headers=headers) as http:
            await http.post("/v1/scenarios", json={"name": "given", "scenarios": [GOOD]})
            await http.post("/v1/benchmark_job_defs", json={"name": "given", "request": {"name": "run"}})
            await http.post("/v1/world_manifests", json={"name": "given"})
            empty = size_of(made.state.idempotency)

            async def ask() -> tuple[int, Any]:
                path, key = row.path.format(ref="given"), {"idempotency-key": "k"}
                async with http.post(path, json=BODIES[row.id], headers=key) as answer:
                    return answer.status, await answer.json()

            status, told = await ask()
            assert row.id not in REFUSED or row.has_key
            assert status == REFUSED.get(row.id, 201), told
            assert size_of(made.state.idempotency) - empty <= MOST_BYTES
            again, same = await ask()
            assert (again, same.get("id"), same.get("ref")) == (status, told.get("id"), told.get("ref"))
            if row.noun in ("catalog", "benchmark job defs") and row.name.startswith("create"):
                assert same == told


async def test_what_was_deleted_since_is_not_found(tmp_path: Path) -> None:
    """The key still stands for it, and makes no other one."""
    async with world(tmp_path) as made, aiohttp.ClientSession(made.url) as http:
        asked = {"json": {"name": "kept", "scenarios": [GOOD]}, "headers": {"idempotency-key": "k"}}
        async with http.post("/v1/scenarios", **asked) as answer:  # type: ignore[arg-type]
            assert answer.status == 201
        async with http.delete("/v1/scenarios/kept@1") as answer:
            assert answer.status == 204
        async with http.post("/v1/scenarios", **asked) as answer:  # type: ignore[arg-type]
            assert answer.status == 404
