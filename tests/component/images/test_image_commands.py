"""`harena image`, verb by verb, as somebody types it: over an embedded node and a registry of the test."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
import tarfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from image_world import FakeRegistry, fake_registry, made, needed, packed, small
from layer_tars import member, tar

IMAGE = made(tar(member("etc/text", b"hello")), tar(member("above", b"1" * 5000)))


@pytest.fixture
def registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeRegistry]:
    """With two images, for a home of the test's own."""
    needed("skopeo")
    with fake_registry() as found:
        monkeypatch.setenv("HARENA_REGISTRIES_WITHOUT_TLS", found.host)
        monkeypatch.setenv("HARENA_HOME", str(tmp_path / "home"))
        monkeypatch.chdir(tmp_path)
        found.put("env", "1", IMAGE)
        found.put("other", "2", small("other"))
        yield found


def image(*words: str | Path, code: int = 0) -> tuple[str, str]:
    """What `harena image WORDS` writes: on standard output, on standard error."""
    argv = [sys.executable, "-m", "harena.cli.main", "image", *map(str, words)]
    ended = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert ended.returncode == code, ended.stderr
    return ended.stdout, ended.stderr


def listed() -> dict[str, str]:
    """Digests of the images, by their references."""
    out, _ = image("ls", "--format", "json")
    return {one["reference"]: one["digest"] for one in json.loads(out)}


def seen_in_a_terminal(words: Sequence[str]) -> str:
    """What `harena image WORDS` writes on a standard error that is a terminal."""
    ours, theirs = pty.openpty()
    argv = [sys.executable, "-m", "harena.cli.main", "image", *words]
    running = subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=theirs, env={**os.environ, "COLUMNS": "200"})
    os.close(theirs)
    shown = b""
    try:
        while piece := os.read(ours, 65536):
            shown += piece
    except OSError:
        pass  # a terminal that nobody has open any more
    finally:
        os.close(ours)
    assert running.wait() == 0, shown
    return shown.decode(errors="replace")


def test_pull_list_and_remove(registry: FakeRegistry, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pull tells its states on standard error, the image on standard output; what is removed is listed no more."""
    monkeypatch.setenv("COLUMNS", "200")
    one, other = f"{registry.host}/env:1", f"{registry.host}/other:2"
    out, err = image("pull", one, other)
    lines = out.splitlines()
    assert re.fullmatch(rf"{one}: 2 layers, [\d.]+ \w+, [\d.]+ \w+ unpacked, {IMAGE.digest}", lines[0]), out
    assert lines[1].startswith(f"{other}: 1 layer, ")
    assert err.splitlines()[-1] == f"{other}: done"
    assert f"{one}: resolving" in err
    assert listed() == {one: IMAGE.digest, other: small("other").digest}
    table = image("ls")[0].splitlines()
    assert any("digest" in row and "last used (UTC)" in row for row in table)
    assert re.findall(rf"{registry.host}/\S+", "\n".join(table)) == [one, other]
    assert image("rm", one)[0] == f"{one}: removed\n"
    assert [*listed()] == [other]
    assert "this workspace has no image" in image("rm", one, code=2)[1]


def test_prefetch_asks_for_what_is_not_here(registry: FakeRegistry) -> None:
    one, other = f"{registry.host}/env:1", f"{registry.host}/other:2"
    image("pull", one)
    registry.asked.clear()
    out, _ = image("prefetch", one, other)
    assert sorted(line.rpartition(": ")[0].split(": ")[0] for line in out.splitlines()) == sorted([one, other])
    assert not any("/env/" in path for path in registry.asked)


def test_a_terminal_has_bars(registry: FakeRegistry) -> None:
    """With the reference and how far it is; they are gone at the end."""
    one = f"{registry.host}/env:1"
    shown = seen_in_a_terminal(["pull", one])
    assert one in shown
    assert "\x1b[" in shown
    assert "Traceback" not in shown


@pytest.mark.slow
def test_import_export_and_gc(registry: FakeRegistry, tmp_path: Path) -> None:
    """A layout as a folder and as an archive, and a root file system; what is exported is imported again as the same
    image; files that are there are not written over."""
    folder = IMAGE.layout(tmp_path / "layout")
    assert IMAGE.digest in image("import", folder, "localhost/folder:1")[0]
    (tmp_path / "layout.tar").write_bytes(packed(folder))
    assert IMAGE.digest in image("import", "layout.tar", "localhost/archive:1")[0]
    (tmp_path / "root.tar").write_bytes(tar(member("etc/x", b"root")))
    assert "1 layer" in image("import", "root.tar", "localhost/root:1")[0]
    image("export", "localhost/folder:1", "oci.tar")
    image("export", "localhost/folder:1", "docker.tar", "--form", "docker")
    with tarfile.open("docker.tar") as archive:
        assert "manifest.json" in archive.getnames()
    image("export", "localhost/folder:1", "oci.tar", code=2)
    assert IMAGE.digest in image("import", "oci.tar", "localhost/again:1")[0]
    image("import", "docker.tar", "localhost/docker:1")
    names = ("folder", "archive", "again", "docker", "root")
    assert [*listed()] == sorted(f"localhost/{name}:1" for name in names)
    image("rm", *(f"localhost/{name}:1" for name in names))
    assert re.fullmatch(r"removed \d+ images and \d+ layers: .+\n", image("gc")[0])
    image("pull", f"{registry.host}/env:1")
    assert image("gc", "--unused-days", "0")[0].startswith("removed 1 images and 2 layers: ")
    assert listed() == {}


def test_build(registry: FakeRegistry, tmp_path: Path) -> None:
    """Steps on standard error as they are made, the image on standard output; a second build makes none."""
    context = tmp_path / "context"
    context.mkdir()
    (context / "Dockerfile").write_text("FROM scratch\nARG WORD=none\nCOPY f /f\nENV WORD=$WORD\n")
    (context / "f").write_text("file")
    out, err = image("build", context, "-t", "localhost/built:1", "--build-arg", "WORD=x")
    assert re.fullmatch(r"localhost/built:1: sha256:[0-9a-f]{64} \(0 of \d steps were here\)\n", out), out
    assert "COPY f /f" in err
    again, _ = image("build", context, "-t", "localhost/built:1", "--build-arg", "WORD=x")
    made_of, here = re.search(r"\((\d) of (\d)", again).groups()  # type: ignore[union-attr]
    assert made_of == here
    (context / "Dockerfile").write_text("FROM scratch\nCOPY missing /f\n")
    assert "missing" in image("build", context, code=2)[1]


def test_mistakes_are_one_sentence(registry: FakeRegistry) -> None:
    """With exit code 2, and no traceback."""
    for words, told in (
        (("pull", "localhost:1/env"), "cannot be reached"),
        (("pull", f"{registry.host}/nobody:1"), "nobody"),
        (("pull", "No Image"), "No Image"),
        (("export", "localhost/none:1", "none.tar"), "this workspace has no image"),
        (("import", "none.tar", "localhost/x:1"), "none.tar"),
    ):
        out, err = image(*words, code=2)
        assert out == ""
        last = err.splitlines()[-1]
        assert last.startswith("harena: "), err
        assert told in last
        assert "Traceback" not in err
    assert not Path("none.tar").exists()
