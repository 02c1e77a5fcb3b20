"""Start-up files that a candidate leaves, and texts that name them: what is read has a bound, and takes linear time."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harena.core.errors import SandboxFileError
from harena.core.models import FileInfo
from harena.scoring.scorers import start_up_files
from harena.scoring.scorers.start_up_files import MOST_KEPT_BYTES, MOST_LEFT, StartUpFiles, StartUpFilesError
from harena.scoring.scorers.start_up_names import follows_in_line, named_by, sets_git, variables_assigned

LOGIN = "bash -lc true\n"
GIB = 1 << 30


class Sparse(bytes):
    """What a file of this size would give; nobody may ask for it."""

    size: int


def sparse(size: int) -> Sparse:
    """A file that takes no room."""
    made = Sparse()
    made.size = size
    return made


class Box:
    """The files of a home folder."""

    def __init__(self, files: Mapping[str, bytes] | None = None) -> None:
        self.files = dict(files or {})
        self.asked: list[int] = []

    async def read_file(self, path: str, *, max_bytes: int) -> bytes:
        self.asked.append(max_bytes)
        content = self.files[path]
        if size_of(content) > max_bytes:
            raise SandboxFileError("too large", filepath=path, reason="TOO_LARGE")
        assert not isinstance(content, Sparse), "all of a file that takes no room was read"
        return content

    async def write_file(self, path: str, source: bytes, /) -> None:
        self.files[path] = source

    async def remove(self, path: str, *, recursive: bool = False, missing_ok: bool = False) -> None:
        del self.files[path]

    async def listed(self, folder: str) -> list[FileInfo]:
        """Entries of a folder; no folder has folders."""
        names = {path: path.removeprefix(f"{folder}/") for path in self.files if path.startswith(f"{folder}/")}
        return [entry(path, name, size_of(self.files[path])) for path, name in names.items() if "/" not in name]


def entry(path: str, name: str, size: int) -> FileInfo:
    return FileInfo(path=path, name=name, kind="file", size_bytes=size, mode=0o644, modified_at=0.0)


def size_of(content: bytes) -> int:
    return content.size if isinstance(content, Sparse) else len(content)


async def left(before: Mapping[str, bytes], after: Mapping[str, bytes], *texts: str) -> tuple[Box, set[str]]:
    """What is there after a candidate that leaves `after`."""
    box = Box(before)
    kept = await StartUpFiles.of(box, box.listed, "/root")
    box.files, box.asked = dict(after), []
    await kept.restore(box, box.listed, texts)
    return box, set(box.files)


async def test_no_start_up_file_that_a_candidate_leaves_is_read_whole() -> None:
    """Its program makes one of any size for nothing."""
    before = {"/root/.profile": b"A=1\n", "/root/.bashrc": b"x"}
    large = dict.fromkeys(("/root/.profile", "/root/.bash_login", "/root/.bashrc", "/root/.other"), sparse(GIB))
    for texts in ([LOGIN], ["true\n"]):
        box, there = await left(before, large, *texts)
        assert there == set(before)
        assert box.files == before
        assert box.asked
        assert max(box.asked) <= len(b"A=1\n") + 64 * 1024


async def test_what_was_there_is_kept_up_to_a_bound() -> None:
    """All that is not larger than that by itself; a larger hidden file of no known name stays, as large as it was."""
    half = bytes(MOST_KEPT_BYTES // 2)
    before = {"/root/.a": half, "/root/.bashrc": half}
    box, there = await left(before, {"/root/.a": bytes(1) + half[1:] + b"x", "/root/.bashrc": b""})
    assert there == set(before)
    assert box.files["/root/.a"] == box.files["/root/.bashrc"] == half
    with pytest.raises(StartUpFilesError, match=r"hidden files in /root up to \.b have more than"):
        await left({**before, "/root/.b": b"x"}, {})
    other = {"/root/.data": sparse(GIB)}
    assert (await left(other, other))[1] == {"/root/.data"}
    assert (await left(other, {"/root/.data": b"x"}))[1] == set()
    with pytest.raises(StartUpFilesError, match=r"hidden files in /root up to \.bashrc have more than"):
        await left({"/root/.bashrc": sparse(GIB)}, {})


async def test_start_up_files_without_number_are_refused() -> None:
    """Each is removed by a request of its own."""
    many = {f"/root/.a{number}": b"" for number in range(MOST_LEFT + 1)}
    with pytest.raises(StartUpFilesError, match="hidden files"):
        await left(many, {})
    with pytest.raises(StartUpFilesError, match="too many"):
        await left({}, many)
    del many["/root/.a0"]
    assert (await left({}, many))[1] == set()


@pytest.mark.parametrize("closed", ["/root", "/root/.local"])
async def test_a_folder_that_cannot_be_listed_is_not_taken_for_an_empty_one(closed: str) -> None:
    """A program opens by name what is in it; one that was so before the candidate is the environment's."""
    box = Box({"/root/.local": b""})

    async def listed(folder: str) -> list[FileInfo]:
        if folder == closed:
            raise SandboxFileError("no right", filepath=folder, reason="PERMISSION_DENIED")
        return await box.listed(folder)

    kept = await StartUpFiles.of(box, box.listed, "/root")
    with pytest.raises(StartUpFilesError, match="cannot be looked into"):
        await kept.restore(box, listed, ["true\n"])
    kept = await StartUpFiles.of(box, listed, "/root")
    await kept.restore(box, listed, ["true\n"])


@pytest.mark.parametrize(("lines", "is_kept"), [(1000, True), (1001, False)])
async def test_a_profile_has_a_bounded_number_of_new_lines(lines: int, is_kept: bool) -> None:
    """Comments and empty lines are no commands."""
    profile = b"\n# c\n" * 2000 + b"".join(b"A%d=1\n" % number for number in range(lines))
    _, there = await left({}, {"/root/.profile": profile}, LOGIN)
    assert there == ({"/root/.profile"} if is_kept else set())


async def test_a_profile_of_many_bytes_is_not_kept() -> None:
    _, there = await left({}, {"/root/.profile": b"#" * (64 * 1024 + 1)}, LOGIN)
    assert there == set()


async def test_nothing_is_looked_through_in_the_event_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    """Long texts, and many names."""
    here, found = threading.get_ident(), {}

    def noted(name: str) -> Callable[..., Any]:
        work = getattr(start_up_files, name)

        def noting(*args: Any, **more: Any) -> Any:
            found[name] = threading.get_ident() == here
            return work(*args, **more)

        return noting

    names = ("named_by", "_only_sets", "_chosen", "_by_name")
    for name in names:
        monkeypatch.setattr(start_up_files, name, noted(name))
    many = {f"/root/.a{number}": b"" for number in range(1000)}
    await left({}, {**many, "/root/.profile": b"A=1\n"}, LOGIN, "x" * 10_000)
    assert found == dict.fromkeys(names, False)


REPEATED = (
    "git config ", "git config\n", "git ", "GIT_CONFIG_GLOBAL", "/home/a", "/home/", "~/", "sh ", "sh -", "bash -l",
    ".config/", ".config", ".", "..", ".a", ".a.", "a.", ".-", '".config", "a" ', "A=", "A", "AB", "A1=", " ", "\n",
    "--global ", "git config --globals ",
)  # fmt: skip
LOOKS: Mapping[str, Callable[[str], object]] = {
    "named": lambda text: named_by([text], {".bashrc", ".a", ".config", ".a b", ".ssh/config"}),
    "assigned": lambda text: variables_assigned({"VAR" * length for length in range(1, 80)}, [text]),
}


@pytest.mark.parametrize(
    ("look", "repeated"),
    [*(("named", text) for text in REPEATED), *(("assigned", text) for text in ("A=", "A1=", "A"))],
)
def test_names_of_start_up_files_are_found_in_linear_time(look: str, repeated: str) -> None:
    """Processor time for a text, and for one that is four times as long; the square would take sixteen times."""
    texts = [repeated * (size // len(repeated)) for size in (30_000, 120_000)]
    short, long = (seconds(partial(LOOKS[look], text)) for text in texts)
    assert long < 8 * short + 0.2


def test_many_names_are_looked_for_in_linear_time() -> None:
    """A candidate's names, all at once."""
    names = {f".name{number}" for number in range(MOST_LEFT)} | {f".a b{number}" for number in range(MOST_LEFT)}
    text = "see .name7. .a b .name8-x .name9.py .name10 .a b11\n" * 2_000
    few = seconds(lambda: named_by([text], {".name7", ".a b11"}))
    began = time.thread_time()
    found = named_by([text], names).hidden
    assert time.thread_time() - began < 20 * few + 0.5
    assert {name for name in found if name.startswith(".name")} == {".name7", ".name10"}


def test_a_profile_of_many_variables_is_read_once() -> None:
    """Of a text of 1 MB, 3,000 of them took six seconds."""
    names, text = [f"VAR{number}" for number in range(1000)], "x VAR9 \n" * 25_000
    few = seconds(lambda: variables_assigned(names[:1], [text]))
    assert seconds(lambda: variables_assigned(names, [text])) < 5 * few + 0.2


def seconds(work: Callable[[], object]) -> float:
    """Processor time, the least of three."""
    took = []
    for _ in range(3):
        began = time.thread_time()
        work()
        took.append(time.thread_time() - began)
    return min(took)


PIECES = st.sampled_from(
    [".", ".a", ".bashrc", "a", " ", "-", "_", "/", "\n", "]", ")", "$", "'", "git", "config", " config", "--global",
     "git config", "GIT_CONFIG_GLOBAL", "s", "A", "AB", "=", "1", "é", ".config", ".a b", "\u0300"]
)  # fmt: skip
TEXTS = st.lists(PIECES, max_size=24).map("".join)
NAMES = (".", "..", ".a", ".a.", ".a.a", ".bashrc", ".bashrc.a", ".config", ".a b", ".é", ".a-", ".ssh/config", ".a..a")


def is_named(path: str, texts: Iterable[str]) -> bool:
    """By whole words, as it was found for each name by itself."""
    name = rf"(?<![\w.\]\)$-]){re.escape(path)}(?![\w-]|\.\w)"
    return any(re.search(name, text) is not None for text in texts)


@given(st.lists(TEXTS, max_size=3))
def test_all_names_at_once_are_those_of_each_by_itself(texts: list[str]) -> None:
    assert named_by(texts, NAMES).hidden == {path for path in NAMES if is_named(path, texts)}


@given(TEXTS)
def test_a_pair_of_words_in_a_line_is_what_one_expression_finds(text: str) -> None:
    whole = re.compile(r"\bgit\b\W+config\b[^\n]*--global\b")
    assert sets_git(text) == (whole.search(text) is not None)
    other = re.compile(r"\bgit\b[^\n]*\bconfig\b")
    found = follows_in_line(text, re.compile(r"\bgit\b"), re.compile(r"\bconfig\b"))
    assert found == (other.search(text) is not None)


@given(st.lists(TEXTS, max_size=3), st.sets(st.sampled_from(["A", "AB", "BA", "A1", "AA"]), max_size=3))
def test_variables_that_are_assigned(texts: list[str], names: Collection[str]) -> None:
    assert variables_assigned(names, texts) == any(f"{name}=" in text for name in names for text in texts)
    assert variables_assigned({"A" * 256}, [])
