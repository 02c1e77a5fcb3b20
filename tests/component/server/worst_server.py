"""A server in a process of its own, whose memory can be measured: prints its URL and a key of each of two workspaces,
which belong to two organisations, and ends when its standard input does. Given a folder and, where it is no file in
there, the URL of its database."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path

from server_world import world

from harena.node.node import Node
from harena.server.keys import Keys
from harena.store.workspaces import WorkspaceStore


async def main(home: Path, store: str | None) -> None:
    more = {} if store is None else {"store_place": store}
    async with world(home, keyed=True, durable_jobs=True, **more) as made:
        node = made.state.operations
        assert isinstance(node, Node)
        await node.resume_jobs()  # as `harena serve` does
        keys = made.state.access
        assert isinstance(keys, Keys)
        scopes = ["admin", "publish"]
        workspaces = WorkspaceStore(await node._parts.database())
        for name in ("hostile", "other"):
            await workspaces.set_organization(name, f"{name}-organization")
        tokens = [(await keys.create(name=name, workspace=name, scopes=scopes))[0] for name in ("hostile", "other")]
        print(json.dumps([made.url, *tokens]), flush=True)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # nobody reads the log
        ended = asyncio.get_running_loop().create_future()
        asyncio.get_running_loop().add_reader(0, lambda: ended.done() or ended.set_result(None))
        await ended


if len(sys.argv) > 2:  # what is no file has no folder beside it
    os.environ["HARENA_HOME"] = sys.argv[1]
asyncio.run(main(Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else None))
