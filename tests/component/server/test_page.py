"""The files of the page: what is sent, to whom, with which policy; and how `harena ui` finds a server that runs."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
from pathlib import Path

import aiohttp
import pytest

from harena.server.addresses import announced, reachable, running_server
from harena.server.page.routes import POLICY, page_files

FILES = Path(page_files.__code__.co_filename).parent / "files"


async def test_pages_and_their_files_are_sent_with_a_policy(http: aiohttp.ClientSession) -> None:
    """Whatever a page names is there, and every answer forbids what the page does not need."""
    for page in ("ui", "docs"):
        async with http.get(f"/{page}") as answer:
            text = await answer.text()
        assert answer.status == 200
        assert answer.content_type == "text/html"
        names = re.findall(r'(?:src|href)="ui/([^"]+)"', text)
        assert len(names) > 2
        for name in names:
            async with http.get(f"/ui/{name}") as file:
                assert (file.status, file.headers["content-security-policy"]) == (200, POLICY)
                assert file.headers["x-content-type-options"] == "nosniff"
                assert file.content_type in ("text/css", "text/javascript", "image/svg+xml")


async def test_a_file_that_has_not_changed_is_not_sent_again(http: aiohttp.ClientSession) -> None:
    """Its entity tag is made of its content."""
    async with http.get("/ui/app.js") as first:
        tag = first.headers["etag"]
    async with http.get("/ui/app.js", headers={"if-none-match": tag}) as again:
        assert (again.status, await again.read()) == (304, b"")
    async with http.get("/ui/api.js", headers={"if-none-match": tag}) as other:
        assert other.status == 200


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/ui/nothing.js", 404),
        ("GET", "/ui/../serve.py", 404),
        ("GET", "/ui/%2e%2e%2froutes.py", 404),
        ("GET", "/ui/index.html", 404),
        ("GET", "/ui/a/b", 404),
        ("POST", "/ui", 405),
    ],
)
async def test_nothing_else_is_sent(http: aiohttp.ClientSession, method: str, path: str, status: int) -> None:
    """Names are looked up in memory; no path of the disk is made of them."""
    async with http.request(method, path) as answer:
        assert (answer.status, answer.content_type) == (status, "application/problem+json")
        if status == 405:
            assert "GET" in answer.headers["allow"]


async def test_a_slash_more_leads_to_the_page(http: aiohttp.ClientSession) -> None:
    """The way back is relative, whatever the request calls its host."""
    async with http.get("/ui/", allow_redirects=False) as answer:
        assert (answer.status, answer.headers["location"]) == (307, "../ui")


async def test_the_page_is_told_whether_keys_are_wanted(http: aiohttp.ClientSession) -> None:
    """To ask without one would be refused, and a browser shows that as an error."""
    async with http.get("/ui") as answer:
        assert 'name="harena-keys" content="no"' in await answer.text()
    keyed = page_files(version='"><script>', wants_keys=True)["index.html"].content.decode()
    assert 'name="harena-keys" content="yes"' in keyed
    assert 'content="&quot;&gt;&lt;script&gt;"' in keyed


def test_files_make_no_markup_of_text_and_fetch_nothing_from_elsewhere() -> None:
    """Also before a browser's policy would stop it."""
    ours = [path for path in FILES.iterdir() if path.name not in ("uplot.js", "uplot-license.txt", "icon.svg")]
    assert len(ours) > 15
    for path in ours:
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|https?://", text), (
            path.name
        )


async def test_a_server_that_runs_is_found_by_its_home(tmp_path: Path) -> None:
    """While it holds its name, of which nothing stays; servers of other homes are not taken for it."""
    home, other, url = tmp_path / "home", tmp_path / "other", "http://127.0.0.1:8642"
    assert running_server(home) is None
    with announced(home, "http://0.0.0.0:8642"), announced(home, url):  # the second one has to do without
        assert await asyncio.to_thread(running_server, home) == url
        assert await asyncio.to_thread(running_server, other) is None
    assert running_server(home) is None
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root: it becomes another user")
async def test_a_name_that_another_user_holds_is_not_believed(tmp_path: Path) -> None:
    """It would be shown the keys of whoever opens its page; one of root's is believed by everybody."""
    tmp_path.chmod(0o755)
    script = (
        "import os, sys, asyncio\nfrom pathlib import Path\nfrom harena.server.addresses import announced\n"
        "async def main():\n"
        "    with announced(Path(sys.argv[1]), 'http://127.0.0.1:8642'):\n"
        "        print('held', flush=True)\n        sys.stdin.read()\n"
        "os.setuid(65534)\nasyncio.run(main())\n"
    )
    holding = await asyncio.create_subprocess_exec(
        sys.executable, "-c", script, str(tmp_path), stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert holding.stdin is not None
    assert holding.stdout is not None
    assert await holding.stdout.readline() == b"held\n"
    held = Path("/proc/net/unix").read_text()
    assert "harena-server/" in held
    assert await asyncio.to_thread(running_server, tmp_path) is None
    holding.stdin.close()
    assert await holding.wait() == 0


def test_an_address_of_every_interface_is_reached_on_this_machine() -> None:
    """What is printed can be opened."""
    assert reachable("http://0.0.0.0:8642") == "http://127.0.0.1:8642"
    assert reachable("http://[::]:8642") == "http://[::1]:8642"
    assert reachable("http://10.0.0.1:8642") == "http://10.0.0.1:8642"
