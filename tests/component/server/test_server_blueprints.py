"""Contents of blueprints are read where they hold nobody up."""

from __future__ import annotations

import asyncio
import os
import threading
from pathlib import Path

from server_world import World


async def test_others_are_answered_while_contents_are_read(here: World, tmp_path: Path) -> None:
    """The contents lie in a pipe here, into which nothing is written before another request was answered."""
    client = here.client()
    made = await client.create_blueprint("env", files={"/data/a": b"12345"})
    (contents,) = (tmp_path / "blueprints").glob(f".{made.id}*")
    contents.unlink()
    os.mkfifo(contents)
    has_begun, was_answered = threading.Event(), threading.Event()

    def write() -> bool:
        with contents.open("wb") as pipe:
            has_begun.set()
            was_in_time = was_answered.wait(20)
            pipe.write(b"12345")
            return was_in_time

    writing = asyncio.ensure_future(asyncio.to_thread(write))
    reading = asyncio.ensure_future(client.get_blueprint(made.id))
    await asyncio.to_thread(has_begun.wait)
    await client.list_blueprints()
    was_answered.set()
    assert await writing
    assert {**(await reading).files} == {"/data/a": b"12345"}
    await client.close()
