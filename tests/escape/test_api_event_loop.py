"""No request makes the event loop wait for a disk: every route is asked, with what it is about being there, and whoever
calls the file system or SQLite in the loop's own thread is named. One that does would slow every workspace by what one
of them has put on the disk."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import Any

import aiohttp
from api_world import ROUTES, ROWS, Caller, possessions
from test_api_attacker import BODIES, DOCUMENT, NEVER, SAME_NAMES, asked

sys.path.insert(0, str(Path(__file__).parents[1] / "component" / "server"))

from server_world import World, world

from harena.server.keys import Keys
from harena.testing.conformance_registry import tar_of

WAITING = frozenset({
    "access", "chmod", "chown", "fdatasync", "fsync", "ftruncate", "link", "listdir", "lstat", "mkdir", "open",
    "readlink", "remove", "rename", "replace", "rmdir", "scandir", "sendfile", "stat", "statvfs", "symlink", "truncate",
    "unlink", "utime",
})  # fmt: skip
"""functions of the module `posix` that a disk can hold up"""
BODIES_OF_CREATIONS: dict[str, dict[str, Any]] = {
    **SAME_NAMES,
    "/v1/sandboxes": {"blueprint": "theirs", "files": {"/workspace/x": "YQ=="}},
    "/v1/blueprints": {"name": "theirs", "files": {"/workspace/x": "YQ=="}, "warm": ["json"]},
    "/v1/scores": {"scenario": SAME_NAMES["/v1/scenarios"]["scenarios"][0], "candidate": "x", "blueprint_id": "theirs"},
}


@contextmanager
def watched(found: set[str]) -> Iterator[None]:
    """Notes who calls what of this thread: the innermost function of harena, and what it calls."""

    def profile(frame: FrameType, event: str, called: Any) -> None:
        if event != "c_call" or not _waits(called):
            return
        at: FrameType | None = frame
        while at is not None:
            module = at.f_globals.get("__name__", "")
            if module.startswith("importlib"):
                return
            if module.startswith("harena.") and not module.startswith("harena.testing"):
                found.add(f"{module}.{at.f_code.co_qualname}: {called.__name__}")
                return
            at = at.f_back

    sys.setprofile(profile)
    try:
        yield
    finally:
        sys.setprofile(None)


def _waits(called: Any) -> bool:
    module = getattr(called, "__module__", None)
    if module == "posix":
        return called.__name__ in WAITING
    if module in ("io", "_io"):
        return bool(called.__name__ == "open")
    return type(getattr(called, "__self__", None)).__module__ == "sqlite3" and called.__name__ != "close"


async def everything(made: World, caller: Caller, stack: AsyncExitStack) -> list[str]:
    """One request to every route, those that remove something last; the routes that did not answer as they should."""
    mine = await possessions(caller, stack)
    strange = []
    for method, path in sorted(ROUTES, key=lambda route: (route[0] == "DELETE", "stop" in route[1], route)):
        noun = path.split("/")[2] if path.count("/") > 1 else ""
        operation = DOCUMENT["paths"][path][method.lower()]
        is_json = "application/json" in operation.get("requestBody", {}).get("content", {})
        data = b"x" if "requestBody" in operation and not is_json else None
        if path == "/v1/objects" and method == "POST":
            data = tar_of(("rows.jsonl", ROWS))
        body = BODIES.get(path, BODIES_OF_CREATIONS.get(path, {})) if is_json else None
        with suppress(aiohttp.ClientError):
            answer = await caller.ask(method, asked(path, method, {**NEVER, **mine.get(noun, {})}), body, data=data)
            if answer.status >= 500 and answer.status != 501:
                strange.append(f"{method} {path}: {answer.status}")
    return strange


async def test_no_route_waits_for_a_disk_in_the_event_loop(tmp_path: Path) -> None:
    """Once for what is loaded and opened at first, then watched."""
    found: set[str] = set()
    async with world(tmp_path, keyed=True, durable_jobs=True) as made, AsyncExitStack() as stack:
        keys = made.state.access
        assert isinstance(keys, Keys)
        token, _ = await keys.create(name="k", workspace="team", scopes=["admin"])
        http = aiohttp.ClientSession(made.url, headers={"authorization": f"Bearer {token}"})
        caller = Caller(await stack.enter_async_context(http), (str(tmp_path),))
        assert await everything(made, caller, stack) == []
        with watched(found):
            assert await everything(made, caller, stack) == []
    assert sorted(found) == []
