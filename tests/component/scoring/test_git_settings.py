"""Settings of a repository that steer git, and files that its index hides."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from harena.scoring.scorers.git_index import entries_of, has_shared_part
from harena.scoring.scorers.git_settings import seen_again, settings_of, steering, unseen_of, without

CONFIG = """\
[core]
\trepositoryformatversion = 0
\tfilemode = true
[user] name = Ann [x] # \\
[diff] external = /bin/true
\trenames = copies
[filter "lfs"]
\tclean = git-lfs clean -- %f
\trequired = true
[filter "a.b"]
\tclean = "echo \\
1; #" ; x
[diff.Word]
\ttextconv=cat
[remote "o"]
\turl = http://x
\tfetch = +refs/heads/*:refs/remotes/o/*
[core]
\tworktree = /app/w
"""
NAMES = {"diff.external", "filter.a.b.clean", "diff.word.textconv", "core.worktree"}


def git(place: Path, *words: str) -> str:
    """What git says there."""
    names = ("-c", "user.name=a", "-c", "user.email=a@b")
    return subprocess.run(["git", *names, *words], cwd=place, check=True, capture_output=True, text=True).stdout


def test_settings_that_steer_are_found() -> None:
    """Names, addresses and the standard filter of large files steer nothing."""
    assert {one.name for one in steering(CONFIG, "")} == NAMES


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("git config diff.external", NAMES - {"diff.external"}),
        ("git config filter.a.b.smudge", NAMES - {"filter.a.b.clean"}),
        ("grep -A1 '[diff' .git/config | grep textconv", NAMES - {"diff.word.textconv"}),
        ("def external(filter): diff(filter)", NAMES),
    ],
)
def test_settings_that_are_asked_for_stay(text: str, left: set[str]) -> None:
    """A task may be to make them."""
    assert {one.name for one in steering(CONFIG, text)} == left


def test_settings_with_their_value_are_the_authors() -> None:
    """Another value is not."""
    texts = "git config diff.external /bin/true\ngit config core.worktree /app/x"
    assert {one.name for one in steering(CONFIG, texts, True)} == NAMES - {"diff.external"}


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_git_reads_the_same(tmp_path: Path) -> None:
    """Before, and without what steers."""
    git(tmp_path, "init", "-q", ".")
    path = tmp_path / ".git/config"
    config = CONFIG.replace("/app/w", str(tmp_path))  # git wants a folder that is there
    for text in (config, "\ufeff" + config, config.replace("\n", "\r\n"), without(config, steering(config, ""))):
        path.write_text(text, newline="")
        listed = git(tmp_path, "config", "--file", str(path), "--name-only", "--list").splitlines()
        assert [one.name for one in settings_of(text) or ()] == [
            name if name != "diff.Word.textconv" else "diff.word.textconv" for name in listed
        ]
    assert NAMES.isdisjoint(listed)
    assert len(listed) == len(settings_of(CONFIG) or ()) - len(NAMES)


@pytest.mark.parametrize("text", ["[user\nname = a", "name = a", '[user]\nname = "a', "[user]\n= a", "[user]\n\\"])
def test_what_git_cannot_read_is_told(text: str) -> None:
    """Nobody is asked about it."""
    assert settings_of(text) is None
    assert steering(text, "")


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
@pytest.mark.parametrize("version", ["2", "4"])
def test_files_that_an_index_hides_are_seen_again(tmp_path: Path, version: str) -> None:
    """In each form of an index."""
    git(tmp_path, "init", "-q", ".")
    for name in ("a", "d e", "link"):
        (tmp_path / name).write_text(name)
    git(tmp_path, "add", ".")
    git(tmp_path, "update-index", "--index-version", version)
    path = tmp_path / ".git/index"
    assert {entry.name for entry in entries_of(path.read_bytes())} == {b"a", b"d e", b"link"}
    assert unseen_of(path.read_bytes()) == frozenset()
    git(tmp_path, "update-index", "--assume-unchanged", "a")
    git(tmp_path, "update-index", "--skip-worktree", "d e")
    assert unseen_of(path.read_bytes()) == {b"a", b"d e"}
    (tmp_path / "a").write_text("b")
    (tmp_path / "d e").write_text("b")
    assert git(tmp_path, "diff", "--name-only") == ""
    path.write_bytes(seen_again(path.read_bytes(), {b"a", b"d e"}))
    assert git(tmp_path, "diff", "--name-only").splitlines() == ["a", "d e"]
    git(tmp_path, "update-index", "--split-index")
    assert has_shared_part(path.read_bytes())
    assert unseen_of(path.read_bytes()) == {b""}


@pytest.mark.parametrize("index", [b"", b"DIRC", b"DIRC" + bytes(40), b"DIRC\0\0\0\2\0\0\0\x09" + bytes(90)])
def test_a_broken_index_hides_nothing(index: bytes) -> None:
    """git refuses it."""
    assert unseen_of(index) == frozenset()
