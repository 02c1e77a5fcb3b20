"""A server in an interpreter of its own, as `harena serve` makes it: prints its URL and a key of each workspace that it
is told of (of `team`, where it is told of none), and when its standard input ends the modules that were loaded
meanwhile in its event loop's thread."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import threading
from contextlib import AsyncExitStack
from pathlib import Path

from harena.core.clock import SystemClock
from harena.core.workspace import WorkspaceLimits
from harena.node import open_for_server, training_room
from harena.server.keys import Keys
from harena.server.keys_at_home import access_at_home
from harena.server.listening import HttpServer
from harena.server.quotas import Quotas
from harena.server.state import ServerState
from harena.store.access import AccessStore
from harena.store.workspaces import WorkspaceStore

loaded: set[str] = set()
is_listening = False
loop_thread = threading.get_ident()


def audit(event: str, given: tuple[object, ...]) -> None:
    if is_listening and event == "import" and threading.get_ident() == loop_thread:
        loaded.add(str(given[0]))


async def main(home: Path) -> None:
    global is_listening
    clock = SystemClock()
    async with AsyncExitStack() as stack:
        store = AccessStore(database := await stack.enter_async_context(access_at_home(home)))
        keys = Keys(store, clock)
        names = sys.argv[2:] or ["team"]
        tokens = [(await keys.create(name="k", workspace=name, scopes=["admin", "publish"]))[0] for name in names]
        quotas = Quotas(WorkspaceLimits(), WorkspaceStore(database), clock)
        node = await open_for_server(limits_of=quotas.limits_of)
        stack.push_async_callback(node.close)
        state = ServerState(
            node, clock=clock, store=store, access=keys, open_to_loopback=False, version="0", quotas=quotas
        )
        server = HttpServer(state, port=0)
        await server.start()
        is_listening = True
        print(json.dumps([server.url, *tokens]), flush=True)
        ended = asyncio.get_running_loop().create_future()
        asyncio.get_running_loop().add_reader(0, lambda: ended.cancel())
        await asyncio.wait([ended])
        is_listening = False
        print(json.dumps(sorted(name for name in loaded if name in sys.modules)), flush=True)
        await server.close(drain_seconds=1)
        state.leases.cancel_timers()


training_room.WORKER = (sys.executable, "-P", "-m", "harena.testing.fake_trainer")
training_room.missing_for_training = lambda *_: None  # type: ignore[attr-defined]
sys.addaudithook(audit)
os.environ["HARENA_HOME"] = sys.argv[1]
asyncio.run(main(Path(sys.argv[1])))
