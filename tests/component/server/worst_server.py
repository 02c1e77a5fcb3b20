"""A server in a process of its own, whose memory can be measured: prints its URL and a key of each of two workspaces,
and ends when its standard input does."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path

from server_world import world

from harena.node.node import Node
from harena.server.keys import Keys


async def main(home: Path) -> None:
    async with world(home, keyed=True, durable_jobs=True) as made:
        node = made.state.operations
        assert isinstance(node, Node)
        await node.resume_jobs()  # as `harena serve` does
        keys = made.state.access
        assert isinstance(keys, Keys)
        tokens = [(await keys.create(name=name, workspace=name, scopes=["admin"]))[0] for name in ("hostile", "other")]
        print(json.dumps([made.url, *tokens]), flush=True)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # nobody reads the log
        ended = asyncio.get_running_loop().create_future()
        asyncio.get_running_loop().add_reader(0, lambda: ended.done() or ended.set_result(None))
        await ended


asyncio.run(main(Path(sys.argv[1])))
