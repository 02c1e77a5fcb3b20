"""`harena serve --tls-certificate --tls-key` as users have it: a real server process, and the sdk's own verbs."""

from __future__ import annotations

import signal
import ssl
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from test_server import END_SECONDS, harena_command, started

import harena
from certificates import Authority
from harena.sdk import portal


def shown_at(url: str) -> str:
    where = urlsplit(url)
    assert where.hostname is not None
    assert where.port is not None
    return ssl.get_server_certificate((where.hostname, where.port))


def test_the_sdk_over_tls(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A sandbox, a stream and a large file in both directions; then the certificate is renewed by a signal."""
    authority = Authority(tmp_path)
    pair = authority.sign("server")
    process, url = started("--tls-certificate", str(pair.certificate), "--tls-key", str(pair.key))
    try:
        assert url.startswith("https://")
        monkeypatch.setenv("HARENA_BASE_URL", url)
        monkeypatch.setenv("HARENA_CA_FILE", str(authority.file))
        given = b"0123456789abcdef" * 1_000_000
        with harena.Sandbox.run(tags=["over-tls"]) as sandbox:
            assert sandbox.exec(["python3", "-c", "print(6 * 7)"]).result().stdout == "42\n"
            sandbox.write_file("/workspace/big", given).result()
            assert sandbox.read_file("/workspace/big").result() == given
            running = sandbox.exec(["cat"], stdin=True)
            running.stdin.write("hello").result()
            running.stdin.close()
            assert "".join(running.stdout) == "hello"
        monkeypatch.delenv("HARENA_BASE_URL")
        found = harena_command("ui")
        assert (found.returncode, found.stdout) == (0, f"{url}/ui\n")
        before = shown_at(url)
        authority.sign("server")
        process.send_signal(signal.SIGHUP)
        assert process.stderr is not None
        assert any('"certificate renewed"' in line for line in process.stderr)
        assert shown_at(url) != before
    finally:
        portal.shutdown()
        process.send_signal(signal.SIGTERM)
        _, log = process.communicate(timeout=END_SECONDS)
        for kept in ("harena.db", "harena.db.lock"):  # what a server keeps on purpose
            (home / kept).unlink(missing_ok=True)
    assert process.returncode == 0, log


@pytest.mark.usefixtures("home")
def test_half_of_a_pair_is_refused(tmp_path: Path) -> None:
    """Before anything was opened."""
    pair = Authority(tmp_path).sign("server")
    ended = harena_command("serve", "--port", "0", "--tls-certificate", str(pair.certificate))
    assert (ended.returncode, "--tls-key" in ended.stderr) == (2, True)
    ended = harena_command("serve", "--tls-certificate", str(tmp_path / "none"), "--tls-key", str(pair.key))
    assert (ended.returncode, "cannot be read" in ended.stderr) == (2, True)
