"""The hostile workspace's client: it lets programs loose in sandboxes, and sends what hostile behaviours send.

`python -m benchmarks.hostile_requests '{"url": ..., "key": ..., "behaviours": [...]}'` prints a line when all of them
are under way, goes on until its standard input ends, takes away what it has made, and prints how it was answered.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import sys
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

import aiohttp

from benchmarks.hostile import BY_NAME, SANDBOXES, Behaviour

AT_ONCE = 8
"""requests of one behaviour under way at one time"""
SLOW_CONNECTIONS = 200
WRONG_VALUES = 200_000
BEGIN_SECONDS = 2.0
"""from the first sandboxes and requests until the behaviour is at its worst"""
ENDLESS = {
    "id": "endless",
    "candidate": "def f(x):\n    while True:\n        pass\n",
    "scoring": {"type": "tests", "entry_point": "f", "checks": [{"args": [1], "expected": 1}]},
}
SHORT = {**ENDLESS, "id": "short", "candidate": "def f(x):\n    return x\n"}
ORDER = {"content-type": "application/json"}
_FILL = """
import os, time
for number in range(20000):
    os.close(os.open(f"/workspace/{number:05}", os.O_CREAT | os.O_WRONLY))
for number in range(200):
    if os.fork() == 0:
        break
print("filled", flush=True)
time.sleep(100000)
"""


_TAKES_ALL = """
import os, time
for _ in range(100):
    try:
        if os.fork() == 0:
            kept = os.urandom(4 << 20)
            time.sleep(100000)
    except OSError:
        break
kept = []
while len(kept) < 60:
    kept.append(os.urandom(1 << 20))
    time.sleep(0.01)
time.sleep(100000)
"""


class Client:
    """Requests with the hostile key. Any status is an answer, and a broken connection is none."""

    def __init__(self, http: aiohttp.ClientSession) -> None:
        self.http = http
        self.answered: Counter[str] = Counter()

    async def ask(self, method: str, path: str, content: Any = None, *, data: bytes | None = None) -> Any:
        """The answer's content where it is JSON and no problem, else {}."""
        body: dict[str, Any] = {"json": content} if content is not None else {"data": data} if data is not None else {}
        try:
            async with self.http.request(method, path, **body) as answer:
                text = await answer.read()
                self.answered[str(answer.status)] += 1
                is_json = answer.content_type == "application/json" and answer.status < 400
                return json.loads(text) if is_json and text else {}
        except (aiohttp.ClientError, ConnectionError, TimeoutError):
            self.answered["broken off"] += 1
            await asyncio.sleep(0.01)
            return {}

    async def sandbox(self, **spec: Any) -> str:
        """A new sandbox's id; that of none where it was refused."""
        return str((await self.ask("POST", "/v1/sandboxes", spec)).get("id", "sb-0000000000"))

    async def run(self, sandbox: str, source: str) -> None:
        """Start a program and read all that it prints, until it ends."""
        path = f"/v1/sandboxes/{sandbox}/execs"
        try:
            async with self.http.post(path, json={"argv": ["python3", "-c", source]}) as answer:
                while await answer.content.readany():
                    pass
                self.answered[str(answer.status)] += 1
        except (aiohttp.ClientError, ConnectionError):
            self.answered["broken off"] += 1

    async def program(self, behaviour: Behaviour) -> None:
        """In several sandboxes; one that is lost, or whose program ends, is followed by another one."""

        async def keep() -> None:
            while True:
                sandbox = await self.sandbox()
                await self.run(sandbox, behaviour.source())
                await self.ask("POST", f"/v1/sandboxes/{sandbox}/stop", {})

        await asyncio.gather(*(keep() for _ in range(SANDBOXES)), self._uses_held_file(behaviour))

    async def _uses_held_file(self, behaviour: Behaviour) -> None:
        """File operations where the program means them to wait."""
        while behaviour.name in ("inode-locks", "sparse-files"):
            found = (await self.ask("GET", "/v1/sandboxes?limit=100")).get("sandboxes", [])
            for sandbox in found:
                place = f"/v1/sandboxes/{sandbox['id']}/files?path=/workspace/held"
                asked = [self.ask("PUT", place, data=b"x"), self.ask("GET", place)]
                with suppress(TimeoutError):
                    await asyncio.wait_for(asyncio.gather(*asked), 2)
            await asyncio.sleep(0.05)

    async def clean(self) -> None:
        """End and delete what this workspace has."""
        while found := (await self.ask("GET", "/v1/sandboxes?limit=100")).get("sandboxes", []):
            await asyncio.gather(*(self.ask("POST", f"/v1/sandboxes/{made['id']}/stop", {}) for made in found))
        while found := (await self.ask("GET", "/v1/benchmark_jobs?limit=100")).get("benchmark_jobs", []):
            for job in found:
                await self.ask("POST", f"/v1/benchmark_jobs/{job['id']}/cancel", {})
                await self.ask("GET", f"/v1/benchmark_jobs/{job['id']}?wait_seconds=20")
                await self.ask("DELETE", f"/v1/benchmark_jobs/{job['id']}")
        for made in (await self.ask("GET", "/v1/blueprints")).get("blueprints", []):
            await self.ask("DELETE", f"/v1/blueprints/{made['id']}")


async def _without_end(step: Callable[[int], Awaitable[None]], at_once: int = AT_ONCE) -> None:
    """The step again and again, so many at a time; it is given a number that counts on."""
    numbers = itertools.count()

    async def one() -> None:
        while True:
            await step(next(numbers))

    await asyncio.gather(*(one() for _ in range(at_once)))


async def created_and_dropped(client: Client) -> None:
    """Create sandboxes and drop the answers; `benchmarks.hostile` says what each behaviour here is for."""

    async def step(_: int) -> None:
        made = await asyncio.gather(*(client.sandbox() for _ in range(40)))
        await asyncio.gather(*(client.ask("POST", f"/v1/sandboxes/{each}/stop", {}) for each in made))

    await _without_end(step, 2)


async def _with_browser(client: Client, command: str, at_once: int = AT_ONCE) -> None:
    """The warm module `antigravity` runs $BROWSER."""

    async def step(number: int) -> None:
        blueprint = {"name": f"hostile-{number}", "warm": ["antigravity"], "env": {"BROWSER": command}}
        made = (await client.ask("POST", "/v1/blueprints", blueprint)).get("id", "bp_0")
        with suppress(TimeoutError):
            await asyncio.wait_for(client.sandbox(blueprint=made), 5)
        await client.ask("DELETE", f"/v1/blueprints/{made}")

    await _without_end(step, at_once)


async def templates_that_hang(client: Client) -> None:
    """They burn a processor meanwhile."""
    await _with_browser(client, "sh -c 'while :; do :; done' %s")


async def warm_lists_that_die(client: Client) -> None:
    """At once, as often as they are asked for."""
    await _with_browser(client, "sh -c 'kill -9 $PPID' %s")


async def templates_sum(client: Client) -> None:
    """Import in as many at a time as a workspace may have templates; `tail` keeps all that it reads."""
    await _with_browser(client, "sh -c 'tail /dev/zero & while :; do sleep 600 & done' %s", at_once=32)


async def sandboxes_sum(client: Client) -> None:
    """Keep more of them than have room for their own limits. One that is lost is followed by another."""

    async def step(_: int) -> None:
        sandbox = await client.sandbox()
        await client.run(sandbox, _TAKES_ALL)
        await client.ask("POST", f"/v1/sandboxes/{sandbox}/stop", {})

    await _without_end(step, 100)


async def worst_bodies(client: Client) -> None:
    """Lists, mappings and texts that no bound allows."""
    routes = (
        "/v1/sandboxes",
        "/v1/benchmark_jobs",
        "/v1/blueprints",
        "/v1/scores",
        "/v1/scenarios",
        "/v1/training_jobs",
    )
    bodies = (
        b"[" + b"[]," * WRONG_VALUES + b"[]]",
        b'{"scenarios":[%s1],"tags":[1]}' % (b"1," * WRONG_VALUES),
        json.dumps({"env": dict.fromkeys(map(str, range(WRONG_VALUES // 5)), 1)}).encode(),
        b'{"name":"%s"}' % (b"x" * 10_000_000),
        b"[" * 100_000,
    )
    every = list(itertools.product(routes, bodies))

    async def step(number: int) -> None:
        path, body = every[number % len(every)]
        with suppress(aiohttp.ClientError, ConnectionError):
            async with client.http.post(path, data=body, headers=ORDER) as answer:
                await answer.read()
                client.answered[str(answer.status)] += 1

    await _without_end(step)


async def slow_readers(client: Client) -> None:
    """Connections are renewed when the server gives them up."""
    sandbox = await client.sandbox()
    await client.ask("PUT", f"/v1/sandboxes/{sandbox}/files?path=/workspace/large", data=bytes(48 << 20))
    url, key = client.http._base_url, client.http.headers["authorization"]
    assert url is not None
    head = f"host: {url.host}\r\nauthorization: {key}\r\n"
    asked = (
        f"GET /v1/sandboxes/{sandbox}/files?path=/workspace/large HTTP/1.1\r\n{head}\r\n",
        f"GET /openapi.json HTTP/1.1\r\n{head}\r\n" * 20,
        f"POST /v1/scores HTTP/1.1\r\n{head}content-type: application/json\r\ncontent-length: 1000000\r\n\r\n[",
        f"GET /v1/sandboxes HTTP/1.1\r\n{head}x: ",
    )

    async def step(number: int) -> None:
        with suppress(OSError):
            # a reader that is not read from takes 64 KiB, and no more
            _, writer = await asyncio.open_connection(url.host, url.port)
            writer.write(asked[number % len(asked)].encode())
            client.answered["asked"] += 1
            try:
                await asyncio.sleep(20)
            finally:
                writer.close()

    await _without_end(step, SLOW_CONNECTIONS)


async def events(client: Client) -> None:
    """The job ends, and is followed by another one; its events are read from the first one each time."""
    current = {"id": "nobody"}

    async def job() -> None:
        while True:
            rows = [{**SHORT, "id": f"s{number}"} for number in range(500)]
            request = {"name": "many", "scenarios": rows, "blueprint_id": "python-warm"}
            current["id"] = (await client.ask("POST", "/v1/benchmark_jobs", request)).get("id", "nobody")
            await client.ask("GET", f"/v1/benchmark_jobs/{current['id']}?wait_seconds=20")

    async def step(_: int) -> None:
        with suppress(TimeoutError):
            await asyncio.wait_for(client.ask("GET", f"/v1/benchmark_jobs/{current['id']}/events?after=0"), 2)

    await asyncio.gather(job(), _without_end(step, 20))


async def cursor_loops(client: Client) -> None:
    """Follow the cursors of each list that has pages."""
    lists = ("sandboxes", "benchmark_jobs", "scenarios", "training_jobs", "objects?kind=dataset", "calibrations")
    cursors: dict[str, str] = {}
    await asyncio.gather(*(client.sandbox() for _ in range(20)))

    async def step(number: int) -> None:
        noun = lists[number % len(lists)]
        joint = "&" if "?" in noun else "?"
        cursor = cursors.get(noun, "") if number % 3 else f"{number:x}"
        answer = await client.ask("GET", f"/v1/{noun}{joint}limit=1" + (f"&cursor={cursor}" if cursor else ""))
        cursors[noun] = str(answer.get("next_cursor") or "")

    await _without_end(step)


async def cancelled_jobs(client: Client) -> None:
    """Create jobs as fast as they are accepted, and cancel them."""

    async def step(number: int) -> None:
        rows = [{**ENDLESS, "id": f"s{each}"} for each in range(50)]
        request = {"name": f"dropped-{number}", "scenarios": rows, "blueprint_id": "python-warm"}
        job = (await client.ask("POST", "/v1/benchmark_jobs", request)).get("id", "nobody")
        await asyncio.sleep(0.2)
        await client.ask("POST", f"/v1/benchmark_jobs/{job}/cancel", {})
        await client.ask("DELETE", f"/v1/benchmark_jobs/{job}")

    await _without_end(step)


async def listings(client: Client) -> None:
    """List the files of one sandbox each time."""
    sandbox = await client.sandbox()
    filling = asyncio.ensure_future(client.run(sandbox, _FILL))
    try:

        async def step(number: int) -> None:
            place = ("files/list?path=/workspace", "processes", "archive?path=/workspace")[number % 3]
            await client.ask("GET", f"/v1/sandboxes/{sandbox}/{place}")

        await _without_end(step)
    finally:
        filling.cancel()


CLIENTS: dict[str, Callable[[Client], Awaitable[None]]] = {
    "created-and-dropped": created_and_dropped,
    "templates-that-hang": templates_that_hang,
    "warm-lists-that-die": warm_lists_that_die,
    "worst-bodies": worst_bodies,
    "slow-readers": slow_readers,
    "events": events,
    "cursor-loops": cursor_loops,
    "cancelled-jobs": cancelled_jobs,
    "listings": listings,
    "templates-sum": templates_sum,
    "sandboxes-sum": sandboxes_sum,
}
"""name of a behaviour that is no program -> what it does until it is cancelled"""


async def drive(url: str, key: str, names: list[str]) -> dict[str, int]:
    """Behave so until standard input ends. Gives the statuses of the answers and how many had each."""
    ended = asyncio.Event()
    asyncio.get_running_loop().add_reader(0, ended.set)
    timeout = aiohttp.ClientTimeout(total=None)
    connector = aiohttp.TCPConnector(limit=0)
    headers = {"authorization": f"Bearer {key}"}
    async with aiohttp.ClientSession(url, headers=headers, connector=connector, timeout=timeout) as http:
        client = Client(http)
        behaving = []
        for behaviour in (BY_NAME[name] for name in names):
            begin = CLIENTS[behaviour.name](client) if behaviour.program is None else client.program(behaviour)
            behaving.append(asyncio.ensure_future(begin))
        await asyncio.sleep(BEGIN_SECONDS)
        print("behaving", flush=True)
        ending = asyncio.ensure_future(ended.wait())
        await asyncio.wait([*behaving, ending], return_when="FIRST_COMPLETED")
        for each in behaving:
            each.cancel()
        outcomes = await asyncio.gather(*behaving, return_exceptions=True)
        for outcome in outcomes:
            if isinstance(outcome, Exception):
                raise outcome
        await client.clean()
    return dict(client.answered)


def main() -> int:
    """One order as the only argument."""
    order = json.loads(sys.argv[1])
    print(json.dumps(asyncio.run(drive(order["url"], order["key"], order["behaviours"]))))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
