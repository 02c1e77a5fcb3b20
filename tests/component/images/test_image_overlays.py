"""Unpacked layers are lower directories that overlayfs understands."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from layer_tars import member, tar, unpacked


def test_layers_on_each_other(tmp_path: Path) -> None:
    """A whiteout hides a file, an opaque folder all that is below it, and a folder in place of a file is a new one."""
    lower = tar(
        member("etc/gone", b"1"), member("etc/kept", b"1"), member("var/old", b"1"), member("f", b"1"),
        member("d/old", b"1"),
    )  # fmt: skip
    upper = tar(
        member("etc/.wh.gone", b""), member("var/.wh..wh..opq", b""), member("var/new", b"2"), member("f/in", b"2"),
        member(".wh.d", b""), member("d/new", b"2"),
    )  # fmt: skip
    unpacked(tmp_path / "lower", lower)
    unpacked(tmp_path / "upper", upper)
    (tmp_path / "seen").mkdir()
    script = (
        f"mount -t overlay -o ro,userxattr,lowerdir={tmp_path}/upper:{tmp_path}/lower none {tmp_path}/seen || exit 77\n"
        f"cd {tmp_path}/seen && find . -type f | sort"
    )
    done = subprocess.run(
        ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", script],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode in (1, 77) and not done.stdout:
        pytest.skip(f"no overlay can be mounted in a user namespace here: {done.stderr.strip()[-200:]}")
    assert done.stdout.split() == ["./d/new", "./etc/kept", "./f/in", "./var/new"]
