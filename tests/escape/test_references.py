"""References of another workspace in bodies, over a server with real sandboxes, images and snapshots: each is told in
the words of what nobody has, and works for whoever has it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from api_world import ROWS, Answer, ApiWorld, Caller
from test_api_attacker import blurred

from harena.testing.conformance_operations import GOOD
from harena.testing.conformance_registry import tar_of

pytestmark = pytest.mark.asyncio(loop_scope="module")

IMAGE = "localhost:1/theirs"
"""of a registry that no server asks"""
NOBODYS = {
    "image": "localhost:1/nobody",
    "image and digest": f"localhost:1/nobody@sha256:{'0' * 64}",
    "digest": f"sha256:{'0' * 64}",
    "snapshot": "snapshot://snap_000000000000000000000000",
    "named snapshot": "snapshot://nobody",
    "secret": "NOBODYS",
}


@pytest.fixture(scope="module")
def apart(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ApiWorld]:
    """The server, with two workspaces."""
    home = tmp_path_factory.mktemp("references")
    process = subprocess.Popen(
        [sys.executable, str(Path(__file__).with_name("fresh_server.py")), str(home), "hostile", "other"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        url, hostile, other = json.loads(process.stdout.readline())
        yield ApiWorld(process.pid, url, (str(home),), {"hostile": hostile, "other": other})
    finally:
        process.communicate(timeout=60)


async def had_by(owner: Caller) -> dict[str, str]:
    """What a workspace has that bodies can name: kind -> the name."""
    image = await owner.ask("POST", f"/v1/images?reference={IMAGE}", data=tar_of(("rows.jsonl", ROWS)))
    assert image.status == 200, image
    digest = image.json()["digest"]
    sandbox = await owner.ask("POST", "/v1/sandboxes", {"image": IMAGE})
    if sandbox.status != 201:
        pytest.skip(f"capability:images {sandbox.text}")
    made = await owner.ask("POST", f"/v1/snapshots?sandbox={sandbox.json()['id']}&name=theirs")
    assert made.status == 200, made
    secret = {"name": "THEIRS", "value": "theirs", "hosts": ["example.com"]}
    assert (await owner.ask("POST", "/v1/secrets", secret)).status in (200, 201)
    return {
        "image": IMAGE,
        "image and digest": f"{IMAGE}@{digest}",
        "digest": digest,
        "snapshot": f"snapshot://{made.json()['id']}",
        "named snapshot": "snapshot://theirs",
        "secret": "THEIRS",
    }


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def parties(apart: ApiWorld) -> AsyncIterator[tuple[Caller, Caller, dict[str, str]]]:
    """(the owner, the attacker, what the owner has)"""
    async with AsyncExitStack() as stack:
        owner = await apart.caller(stack, "other")
        yield owner, await apart.caller(stack, "hostile", "read", "write"), await had_by(owner)


def bodies(kind: str, name: str) -> dict[str, dict[str, Any]]:
    """What of a sandbox names it."""
    if kind == "secret":
        return {"gateways": {"A": {"url": "https://example.com", "secret": name}}}
    return {"image": name}


async def ended(caller: Caller, build: Answer) -> Answer:
    """A build of an image, when it has ended, without its own name."""
    while build.status == 200 and build.json()["state"] in ("waiting", "pulling", "running"):
        build = await caller.ask("GET", f"/v1/image_builds/{build.json()['id']}?wait_seconds=10")
    return Answer(build.status, json.dumps({name: build.json().get(name) for name in ("state", "error", "reason")}))


async def uses(caller: Caller, kind: str, name: str) -> dict[str, Answer]:
    """Every body in which it can stand -> what is answered."""
    spec = bodies(kind, name)
    found = {"sandbox": await caller.ask("POST", "/v1/sandboxes", spec)}
    blueprint = await caller.ask("POST", "/v1/blueprints", {"name": "mine", **spec})
    assert blueprint.status == 201, blueprint
    own = blueprint.json()["id"]
    scenarios = {"by a blueprint": {**GOOD, "blueprint": own}}
    if kind != "secret":
        scenarios["by itself"] = {**GOOD, "image": name}
    found["sandbox of a blueprint"] = await caller.ask("POST", "/v1/sandboxes", {"blueprint": own})
    for how, scenario in scenarios.items():
        found[f"score {how}"] = await caller.ask("POST", "/v1/scores", {"scenario": scenario, "retry_attempts": 0})
        job = await caller.ask("POST", "/v1/benchmark_jobs", {"name": "mine", "scenarios": [scenario]})
        if job.status == 201:
            results = f"/v1/benchmark_jobs/{job.json()['id']}"
            while (await caller.ask("GET", f"{results}?wait_seconds=10")).json()["state"] in ("queued", "running"):
                continue
            runs = (await caller.ask("GET", f"{results}/results")).json()["runs"]
            job = Answer(201, json.dumps([{word: run[word] for word in ("score", "reason", "detail")} for run in runs]))
        found[f"job {how}"] = job
    if kind != "secret":
        for how, lines in (("from", f"FROM {name}\n"), ("copy", f"FROM scratch\nCOPY --from={name} /rows.jsonl /a\n")):
            written = json.dumps({"dockerfile": lines, "references": ["mine"]}).encode()
            sent = tar_of(("build.json", written), ("context/a", b"1"))
            found[f"build {how}"] = await ended(caller, await caller.ask("POST", "/v1/image_builds", data=sent))
    await caller.ask("DELETE", f"/v1/blueprints/{own}")
    return found


@pytest.mark.parametrize("kind", NOBODYS)
async def test_a_reference_of_another_workspace_is_one_of_nobody(
    parties: tuple[Caller, Caller, dict[str, str]], kind: str
) -> None:
    """In a sandbox, a blueprint, a scenario, a job and a build; and nothing is made of it."""
    _, attacker, theirs = parties
    named, nobodys = await uses(attacker, kind, theirs[kind]), await uses(attacker, kind, NOBODYS[kind])
    names = (theirs[kind], NOBODYS[kind], *(name.partition("://")[2] or name for name in (theirs[kind], NOBODYS[kind])))
    for what, told in named.items():
        words = [re_named(answer, names) for answer in (told, nobodys[what])]
        assert words[0] == words[1], what
        assert told.status >= 400 or '"score": 1' not in told.text, (what, told)
        if what.startswith("sandbox"):
            assert 400 <= told.status < 500, (what, told)
    listed = await attacker.ask("GET", "/v1/sandboxes?limit=100")
    assert listed.json()["sandboxes"] == []


def re_named(answer: Answer, names: tuple[str, ...]) -> tuple[int, str]:
    """An answer without the names that were asked for and ids that are drawn."""
    return answer.status, re.sub(r"(bp|req|job|build)_[0-9a-f]+", "ID", blurred(answer, *names)[1])


@pytest.mark.parametrize("kind", [kind for kind in NOBODYS if kind != "image and digest"])
async def test_whoever_has_it_may_use_it(parties: tuple[Caller, Caller, dict[str, str]], kind: str) -> None:
    """So it is the workspace that is refused, and not the reference."""
    owner, _, theirs = parties
    for what, told in (await uses(owner, kind, theirs[kind])).items():
        if what.startswith("sandbox"):
            assert told.status == 201, (what, told)
