"""A noun costs what docs/explanation/add-a-noun.md says: its files alone, in a copy of the package, are enough."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import harena
from harena.store.migrate import NEWEST

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs/explanation/add-a-noun.md"
PARTS = re.compile(r"^## \d+\. [^\n]*?: (?:module `(\w+)` )?in `([^`\n]+)`\n(.*?)(?=^## )", re.M | re.S)

USED = """
import asyncio
from pathlib import Path

import harena
from harena.cli.main import main
from harena.core.clock import SystemClock
from harena.core.errors import NotFoundError, ValidationError
from harena.core.idempotency import IdempotencyKey
from harena.core.operations import notes as table
from harena.sdk import transport
from server_world import fake_node, world


async def refused(asked, kind):
    try:
        await asked
    except kind as error:
        return str(error)
    raise AssertionError("it was taken")


async def used(operations):
    first, second = [await operations.create_note(text) for text in ("one", "two")]
    assert (first.text, second.text) == ("one", "two")
    page = await operations.list_notes(limit=1)
    assert page.notes == [first]
    rest = await operations.list_notes(cursor=page.next_cursor)
    assert (rest.notes, rest.next_cursor) == ([second], None)
    assert await operations.get_note(second.id) == second
    await operations.delete_note(first.id)
    await refused(operations.get_note(first.id), NotFoundError)
    await refused(operations.delete_note(first.id), NotFoundError)
    await operations.delete_note(second.id)


async def over_http():
    async with world(Path("served")) as served:
        client = served.client()
        await used(client)
        assert "text" in await refused(client.create_note("x" * 10_001), ValidationError)
        assert "text" in await refused(client.create_note(""), ValidationError)
        key = IdempotencyKey("k" * 32, table.NOUN, "")
        again = [await client.created(table.CREATE, {"text": "once"}, key) for _ in range(2)]
        assert again[0] == again[1] and len((await client.list_notes()).notes) == 1
        await client.close()


async def in_this_process():
    node = fake_node(Path("embedded"), SystemClock())
    await used(node)
    theirs = await node.in_workspace("theirs").create_note("hidden")
    await refused(node.get_note(theirs.id), NotFoundError)
    await node.close()


async def opened():
    return fake_node(Path("verbs"), SystemClock())


for place in ("served", "embedded", "verbs"):
    Path(place).mkdir()
asyncio.run(over_http())
asyncio.run(in_this_process())
transport.set_factory(opened)
made = harena.notes.create("by a verb")
assert harena.notes.list() == [made] and isinstance(made, harena.Note)
assert main(["notes", "ls"]) == 0
harena.shutdown()
"""


def written() -> dict[str, str]:
    """The files of the page: path -> text."""
    newest, following = NEWEST, f"{int(NEWEST) + 1:04}"
    files = {}
    for module, place, told in PARTS.findall(PAGE.read_text(encoding="utf-8")):
        (block,) = re.findall(r"(?:^(?:    [^\n]*)?\n)*^    [^\n]*\n", told, re.M)[:1] or [""]
        text = re.sub(r"^    ", "", block.strip("\n") + "\n", flags=re.M)
        path = f"{place}{module}.py" if module else place
        files[path.replace("NEXT", following)] = text.replace('"NEXT"', f'"{following}"').replace(
            '"NEWEST"', f'"{newest}"'
        )
    return files


def test_the_files_of_the_page_are_a_noun(tmp_path: Path) -> None:
    """Created, listed, found and deleted in this process, over HTTP, by verbs and by a command; no other file was
    touched by hand."""
    package = tmp_path / "src/harena"
    shutil.copytree(Path(str(harena.__file__)).parent, package)
    files = written()
    assert len(files) == 8
    for path, text in files.items():
        place = package / path
        place.write_text(f"{place.read_text(encoding='utf-8')}\n\n{text}" if place.exists() else text, encoding="utf-8")
    paths = [package.parent, ROOT / "tests/component/server", *(ROOT / name for name in ("tests", "tests/unit"))]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths)), "HARENA_HOME": str(tmp_path / "home")}
    environment.pop("HARENA_BASE_URL", None)
    for command in (["-B", str(ROOT / "scripts/nouns.py"), str(package)], ["-c", USED]):
        ran = subprocess.run([sys.executable, *command], cwd=tmp_path, env=environment, capture_output=True, text=True)
        assert ran.returncode == 0, ran.stderr[-3000:]
    assert "by a verb" in ran.stdout
