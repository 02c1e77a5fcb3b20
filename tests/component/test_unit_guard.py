"""What the guard of tests/unit refuses, and that it disturbs nothing that it sees."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest_plugins = ["pytester"]


GUARD = Path(__file__).parents[1] / "unit" / "conftest.py"
REFUSED = {
    "a process": ("import subprocess, sys", "subprocess.run([sys.executable, '-c', ''], check=True)"),
    "a process of a thread": (
        "import subprocess, sys; from concurrent.futures import ThreadPoolExecutor",
        "with ThreadPoolExecutor(2) as pool: pool.submit(subprocess.run, ['true'], check=True).result(60)",
    ),
    "a process of a loop": (
        "import asyncio",
        "async def run(): return await (await asyncio.create_subprocess_exec('true')).wait()\n"
        "    assert asyncio.run(run()) == 0",
    ),
    "a fork": ("import os", "pid = os.fork()\n    if pid == 0: os._exit(0)\n    os.waitpid(pid, 0)"),
    "a spawn": ("import os", "os.waitpid(os.posix_spawn('/bin/true', ['true'], {}), 0)"),
    "a server": ("import socket", "socket.create_server(('127.0.0.1', 0)).close()"),
    "torch": ("import sys", "sys.path.insert(0, 'hidden')\n    import torch"),
}


@pytest.fixture(autouse=True)
def _no_plugins(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that are installed take most of a session's start."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")


@pytest.mark.parametrize("name", REFUSED)
def test_a_unit_test_that_needs_more_fails(pytester: pytest.Pytester, name: str) -> None:
    """In its teardown: the test itself runs to its end, in whatever thread it does so."""
    before, body = REFUSED[name]
    (pytester.path / "hidden").mkdir()
    (pytester.path / "hidden/torch.py").write_text("")
    pytester.makeconftest(GUARD.read_text(encoding="utf-8"))
    pytester.makepyfile(f"{before}\ndef test_one():\n    {body}\ndef test_two(): pass\n")
    result = pytester.runpytest_subprocess()
    result.assert_outcomes(passed=2, errors=1)
    result.stdout.fnmatch_lines(["*this test belongs into tests/component*"])


def test_a_module_that_needs_more_is_not_loaded(pytester: pytest.Pytester) -> None:
    """Torch would be imported once, at the head of a module, and seen by no test."""
    (pytester.path / "torch.py").write_text("")
    pytester.makeconftest(GUARD.read_text(encoding="utf-8"))
    pytester.makepyfile("import torch\ndef test_one(): pass\n")
    result = pytester.runpytest_subprocess()
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*belongs into tests/component: torch was imported*"])


def test_python_alone_is_enough(pytester: pytest.Pytester) -> None:
    """Files, threads, event loops and pairs of sockets are no reason to fail."""
    pytester.makeconftest(GUARD.read_text(encoding="utf-8"))
    pytester.makepyfile("""
        import asyncio, socket, threading
        def test_one(tmp_path):
            (tmp_path / "a").write_text("b")
            thread = threading.Thread(target=lambda: asyncio.run(asyncio.sleep(0)))
            thread.start()
            thread.join()
            for end in socket.socketpair(): end.close()
    """)
    pytester.runpytest_subprocess().assert_outcomes(passed=1)


def test_what_another_folder_does_is_not_blamed_on_a_unit_test(pytester: pytest.Pytester) -> None:
    """Both in one process, the other first."""
    for name in ("a_component", "unit"):
        (pytester.path / name).mkdir()
    (pytester.path / "unit/conftest.py").write_text(GUARD.read_text(encoding="utf-8"))
    (pytester.path / "a_component/test_a.py").write_text("import os\ndef test_a(): os.system('true')\n")
    (pytester.path / "unit/test_b.py").write_text("def test_b(): pass\n")
    pytester.runpytest_subprocess("a_component", "unit").assert_outcomes(passed=2)
