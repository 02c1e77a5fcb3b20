"""COPY, ADD and WORKDIR put files where Docker puts them, within the image whatever links it has."""

from __future__ import annotations

import asyncio
import gzip
import io
import os
import stat
import tarfile
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harena.core.errors import ValidationError
from harena.core.path_patterns import rules_of_file
from harena.image_build import source_trees
from harena.image_build.building import Builder
from harena.image_build.contexts import ContextTree
from harena.image_build.copying import check_sources, select, write_copy, write_folder
from harena.image_build.faults import DockerfileError
from harena.image_build.image_files import ImageFile, ImageFiles, ImagePathError
from harena.image_build.layer_tars import LayerTar, LayerTooLargeError
from harena.image_build.owners import UnknownOwnerError, owner_of
from harena.image_build.planning import CopyStep, FolderStep, InlineFile
from harena.image_build.source_trees import Budget, ImageTree, SourceTree, StoppedError, TarTree, find
from harena.image_build.work_files import WorkFiles

MIB = 1024 * 1024
STEP = CopyStep(
    line=7,
    text="COPY x y",
    sources=("x",),
    destination="/y",
    files=(),
    from_=None,
    owner="",
    mode=None,
    keeps_parents=False,
    excludes=(),
    unpacks=False,
)


def tar_of(path: Path, *members: tuple[str, bytes | str | None], mode: int = 0o644, uid: int = 1000) -> Path:
    """A tar file: bytes are a file's content, a text is where a link leads, None is a directory."""
    with tarfile.open(path, "w", format=tarfile.PAX_FORMAT) as archive:
        for name, content in members:
            member = tarfile.TarInfo(name)
            member.mode, member.uid, member.gid, member.mtime = mode, uid, uid, 1_700_000_000
            if isinstance(content, str):
                member.type, member.linkname = tarfile.SYMTYPE, content
            elif content is None:
                member.type, member.mode = tarfile.DIRTYPE, 0o750
            else:
                member.size = len(content)
            archive.addfile(member, io.BytesIO(content) if isinstance(content, bytes) else None)
    return path


@pytest.fixture
def context(tmp_path: Path) -> Callable[..., ContextTree]:
    def made(*members: tuple[str, bytes | str | None], ignore: str = "") -> ContextTree:
        file = tar_of(tmp_path / "context.tar", *((f"context/{name}", content) for name, content in members))
        return ContextTree.read(file, "the context") if not ignore else _with_rules(file, ignore)

    return made


def _with_rules(file: Path, ignore: str) -> ContextTree:
    from harena.image_build.contexts import _below

    return ContextTree.read(file, "the context", rules=_below(rules_of_file(ignore)))


@pytest.fixture
def image(tmp_path: Path) -> ImageFiles:
    """Two layers: the upper one removes, replaces and hides."""
    lower, upper = tmp_path / "lower", tmp_path / "upper"
    for path in ("etc", "opt/real", "var/hidden", "usr/bin", "gone"):
        (lower / path).mkdir(parents=True)
    (lower / "etc/passwd").write_text("root:x:0:0::/:\nweb:x:33:34::/:\n")
    (lower / "etc/group").write_text("root:x:0:\nstaff:x:50:\n")
    (lower / "bin").symlink_to("usr/bin")
    (lower / "link").symlink_to("/opt/real")
    (lower / "climbs").symlink_to("../../../../../../../../opt")
    (lower / "round").symlink_to("round")
    (lower / "host").symlink_to(tmp_path)
    (lower / "var/hidden/below").write_text("below")
    (upper / "var/hidden").mkdir(parents=True)
    os.setxattr(upper / "var/hidden", "user.overlay.opaque", b"y")
    os.mknod(upper / "gone", stat.S_IFCHR, os.makedev(0, 0))
    (lower / "tmp").mkdir()
    (lower / "tmp").chmod(0o1777)
    return ImageFiles((upper, lower), keeps_owners=os.geteuid() == 0)


def layer_of(step: CopyStep, tree: SourceTree, image: ImageFiles, work: Path) -> dict[str, tarfile.TarInfo]:
    """The entries of the layer that a step makes, by their names."""
    made = io.BytesIO()
    layer = LayerTar(made, most_bytes=MIB, most_files=100)
    write_copy(step, select(step, tree, "the context", WorkFiles(work, MIB)), image, layer)
    layer.close()
    made.seek(0)
    with tarfile.open(fileobj=made, encoding="utf-8", errors="surrogateescape") as archive:
        return {member.name: member for member in archive.getmembers()}


def test_a_path_of_an_image_leads_nowhere_else(image: ImageFiles, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("of the host")
    assert image.find("/link/new").parts == ("opt", "real", "new")
    assert image.find("/climbs/real").parts == ("opt", "real")
    assert image.find("/../../link/../x").parts == ("opt", "x")
    assert image.find("/host/secret").about is None
    assert image.find("/host/secret").parts == (*tmp_path.parts[1:], "secret")
    assert image.find("/link", follows=False).is_link
    with pytest.raises(ImagePathError, match="40 links"):
        image.find("/round")
    with pytest.raises(ImagePathError, match="no directory"):
        image.find("/etc/passwd/x")


def test_layers_are_seen_as_one(image: ImageFiles) -> None:
    assert image.find("/gone").about is None
    assert image.find("/var/hidden/below").about is None
    assert image.find("/var/hidden").is_folder
    assert [child.parts[-1] for child in image.children(image.root())] == [
        *("bin", "climbs", "etc", "host", "link", "opt", "round", "tmp", "usr", "var"),
    ]


def test_links_of_a_context_lead_nowhere_else(context: Callable[..., ContextTree], tmp_path: Path) -> None:
    tree = context(("a", b"a"), ("l", "/a"), ("up", "../../../a"), ("etc", "/etc"), ("loop", "loop"), ("d/in", "../a"))
    assert [find(tree, path) is not None for path in ("l", "up", "d/in", "etc/passwd", "loop", "d/../a", "../a")] == [
        *(True, True, True, False, False, True, True),
    ]
    (outside := tmp_path / "outside").write_text("x")
    step = replace(STEP, sources=("etc/passwd",))
    with pytest.raises(DockerfileError, match=r"line 7: COPY: 'etc/passwd' is not in the context"):
        check_sources(step, tree)
    assert outside.read_text() == "x"


@pytest.mark.parametrize(
    ("name", "content"), [("../x", b""), ("/x", b""), ("a/../../x", b""), ("a" * 300, b""), ("d/" * 300, None)]
)
def test_names_that_climb_are_refused(tmp_path: Path, name: str, content: bytes | None) -> None:
    with pytest.raises(ValidationError) as refused:
        TarTree.read(tar_of(tmp_path / "t", (name, content)), "the context")
    assert refused.value.reason == "CONTEXT"


def test_devices_and_files_below_files_are_refused(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "t", "w") as archive:
        member = tarfile.TarInfo("null")
        member.type = tarfile.CHRTYPE
        archive.addfile(member)
    with pytest.raises(ValidationError, match="neither a file"):
        TarTree.read(tmp_path / "t", "the context")
    with pytest.raises(ValidationError, match="no directory"):
        TarTree.read(tar_of(tmp_path / "t", ("a", b""), ("a/b", b"")), "the context")


@pytest.mark.parametrize(
    ("sources", "destination", "names"),
    [
        (("d/a",), "/new", ["new"]),
        (("d/a",), "/new/", ["new", "new/a"]),
        (("d/a",), "/etc", ["etc", "etc/a"]),
        (("d",), "/new", ["new", "new/a", "new/sub", "new/sub/b"]),
        (("d", "e"), "/new/", ["new", "new/a", "new/e", "new/sub", "new/sub/b"]),
        (("d/*",), "/new/", ["new", "new/a", "new/b"]),
        (("?",), "/new/", ["new", "new/a", "new/e", "new/sub", "new/sub/b"]),
        ((".",), "/w", ["w", "w/d", "w/d/a", "w/d/sub", "w/d/sub/b", "w/e", "w/l"]),
        (("l",), "/new", ["new", "new/a", "new/sub", "new/sub/b"]),
        (("d/a",), "/link/x", ["opt", "opt/real", "opt/real/x"]),
        (("d/a",), "/bin/", ["usr", "usr/bin", "usr/bin/a"]),
    ],
)
def test_files_go_where_docker_puts_them(
    context: Callable[..., ContextTree],
    image: ImageFiles,
    tmp_path: Path,
    sources: Sequence[str],
    destination: str,
    names: Sequence[str],
) -> None:
    tree = context(("d/a", b"1"), ("d/sub/b", b"2"), ("e", b"3"), ("l", "d"))
    made = layer_of(replace(STEP, sources=tuple(sources), destination=destination), tree, image, tmp_path)
    assert sorted(made) == names


def test_what_lies_above_keeps_what_the_image_says(
    context: Callable[..., ContextTree], image: ImageFiles, tmp_path: Path
) -> None:
    made = layer_of(replace(STEP, sources=("a",), destination="/tmp/new/a"), context(("a", b"1")), image, tmp_path)
    assert oct(made["tmp"].mode) == "0o1777"
    assert oct(made["tmp/new"].mode) == "0o755"
    assert (made["tmp/new/a"].uid, made["tmp/new/a"].mtime) == (0, 315_532_800)


def test_owners_modes_and_inline_files(context: Callable[..., ContextTree], image: ImageFiles, tmp_path: Path) -> None:
    step = replace(
        STEP, sources=("a",), destination="/n/", owner="web:staff", mode=0o600, files=(InlineFile("i", "text"),)
    )
    made = layer_of(step, context(("a", b"1")), image, tmp_path)
    assert {(one.uid, one.gid) for one in made.values()} == {(33, 50)}
    assert [oct(made[name].mode) for name in ("n/a", "n/i")] == ["0o600", "0o600"]
    assert owner_of("web", image) == (33, 34)
    assert owner_of("7", image) == (7, 7)
    assert owner_of("7:8", image) == (7, 8)
    for unknown in ("nobody", "web:nobody", "99999999999"):
        with pytest.raises(UnknownOwnerError):
            owner_of(unknown, image)


@pytest.mark.parametrize(
    ("sources", "destination", "why"),
    [
        (("nothing",), "/x", "'nothing' is not in the context"),
        (("*.none",), "/x/", "matches nothing"),
        (("[",), "/x/", "without ]"),
        (("d",), "/etc/passwd", "no directory of the image"),
        (("f",), "/etc/passwd/x", "no directory of the image"),
        (("f",), "/round", "40 links"),
        (("root",), "/", "of the image is no directory, and a directory comes there"),
        (("over",), "/", "is a directory of the image, and the source is none"),
    ],
)
def test_what_cannot_be_copied_is_told(
    context: Callable[..., ContextTree],
    image: ImageFiles,
    tmp_path: Path,
    sources: Sequence[str],
    destination: str,
    why: str,
) -> None:
    tree = context(("d/a", b"1"), ("f", b"2"), ("root/bin/tool", b"3"), ("over/etc", b"4"))
    with pytest.raises(DockerfileError, match=r"Dockerfile line 7: COPY: ") as refused:
        layer_of(replace(STEP, sources=tuple(sources), destination=destination), tree, image, tmp_path)
    assert why in str(refused.value)


def test_what_a_dockerignore_leaves_out_is_not_there(context: Callable[..., ContextTree]) -> None:
    tree = context(
        ("a.pyc", b""), ("d/b.pyc", b""), ("d/c", b""), (".dockerignore", b""), ignore="**/*.pyc\n.dockerignore"
    )
    assert [node.name for node in tree.children(tree.root())] == ["d"]
    assert find(tree, "d/b.pyc") is None


def test_folders_that_names_imply_are_counted(
    context: Callable[..., ContextTree], monkeypatch: pytest.MonkeyPatch
) -> None:
    """64 MiB of names are 33 million of them."""
    monkeypatch.setattr(source_trees, "MOST_FILES", 300)
    assert find(context(("a/" * 200 + "f", b"")), "a/" * 200) is not None
    with pytest.raises(ValidationError, match="more than 300 files and directories") as refused:
        context(*((f"{number}/" + "a/" * 100 + "f", b"") for number in range(3)))
    assert refused.value.reason == "CONTEXT_TOO_LARGE"


@pytest.mark.parametrize("pack", [lambda content: content, gzip.compress])
def test_archives_are_unpacked_by_add_alone(
    context: Callable[..., ContextTree], image: ImageFiles, tmp_path: Path, pack: Callable[[bytes], bytes]
) -> None:
    inner = pack(tar_of(tmp_path / "inner", ("d", None), ("d/f", b"1"), ("l", "d/f"), uid=77).read_bytes())
    tree = context(("a.tar", inner), ("z.gz", gzip.compress(b"no archive")))
    added = replace(STEP, sources=("a.tar", "z.gz"), destination="/n/", unpacks=True)
    made = layer_of(added, tree, image, tmp_path)
    assert sorted(made) == ["n", "n/d", "n/d/f", "n/l", "n/z.gz"]
    assert (made["n/d/f"].uid, made["n/l"].linkname) == (77, "d/f")
    assert sorted(layer_of(replace(added, unpacks=False), tree, image, tmp_path)) == ["n", "n/a.tar", "n/z.gz"]


def test_archives_of_add_are_bounded(context: Callable[..., ContextTree], image: ImageFiles, tmp_path: Path) -> None:
    bomb = gzip.compress(tar_of(tmp_path / "bomb", ("f", bytes(4 * MIB))).read_bytes())
    climbs = tar_of(tmp_path / "climbs", ("../f", b"1")).read_bytes()
    tree = context(("bomb", bomb), ("climbs", climbs), ("cut", bomb[:1000]))
    for name, reason in (("bomb", "IMAGE_TOO_LARGE"), ("climbs", "CONTEXT"), ("cut", "CONTEXT")):
        with pytest.raises(ValidationError) as refused:
            layer_of(replace(STEP, sources=(name,), destination="/n/", unpacks=True), tree, image, tmp_path)
        assert refused.value.reason == reason


def test_a_layer_is_bounded(context: Callable[..., ContextTree], image: ImageFiles, tmp_path: Path) -> None:
    with pytest.raises(LayerTooLargeError):
        layer_of(STEP, context(("x", bytes(2 * MIB))), image, tmp_path)
    with pytest.raises(LayerTooLargeError):
        layer_of(STEP, context(*((f"x/{number}", b"") for number in range(200))), image, tmp_path)


def test_the_digest_changes_with_what_counts(context: Callable[..., ContextTree], tmp_path: Path) -> None:
    def digest(*members: tuple[str, bytes | str | None]) -> str:
        return select(STEP, context(*members), "the context", WorkFiles(tmp_path, MIB)).digest()

    same = digest(("x/a", b"1"), ("x/l", "a"))
    assert digest(("x/a", b"1"), ("x/l", "a"), ("other", b"")) == same
    assert len({same, digest(("x/a", b"2"), ("x/l", "a")), digest(("x/b", b"1"), ("x/l", "a"))}) == 3
    assert digest(("x/a", b"1"), ("x/l", "b")) != same


def test_a_tree_of_an_image_has_its_files_alone(image: ImageFiles) -> None:
    tree = ImageTree(image)
    found = find(tree, "climbs/../etc/passwd")
    assert found is not None
    assert b"".join(tree.content(found)).startswith(b"root:")
    assert find(tree, "host/lower") is None
    assert find(tree, "var/hidden/below") is None


def test_a_working_directory_is_made_where_it_is_missing(image: ImageFiles) -> None:
    def made(path: str, owner: str = "") -> dict[str, tuple[int, int]]:
        out = io.BytesIO()
        layer = LayerTar(out, most_bytes=MIB, most_files=100)
        write_folder(FolderStep(line=1, text="WORKDIR x", path=path, owner=owner), image, layer)
        layer.close()
        out.seek(0)
        with tarfile.open(fileobj=out) as archive:
            return {member.name: (member.uid, member.gid) for member in archive.getmembers()}

    assert made("/etc") == {}
    assert made("/link/a/b", "web") == {
        "opt": (0, 0),
        "opt/real": (0, 0),
        "opt/real/a": (33, 34),
        "opt/real/a/b": (33, 34),
    }
    with pytest.raises(DockerfileError, match="no directory"):
        made("/etc/passwd")


def test_comparing_names_with_patterns_has_a_bound_for_the_whole_context(
    context: Callable[..., ContextTree], monkeypatch: pytest.MonkeyPatch
) -> None:
    from harena.image_build import source_trees

    names = [(f"d{number}/" + "ab" * 100, b"") for number in range(10)]
    context(*names, ignore="**a*c\nx")
    monkeypatch.setattr(source_trees, "_MOST_COMPARED", 100)
    with pytest.raises(ValidationError, match="takes too long") as caught:
        context(*names, ignore="**a*b\nx")
    assert caught.value.reason == "CONTEXT_TOO_LARGE"


def test_no_name_and_no_link_is_longer_than_a_kernel_opens(context: Callable[..., ContextTree]) -> None:
    for member in (("/".join(["a" * 250] * 17), b""), ("link", "a/" * 2100)):
        with pytest.raises(ValidationError):
            context(member)


def test_wildcards_walk_a_tree_without_its_links(context: Callable[..., ContextTree]) -> None:
    """Forty links to the folder that they lie in would make each star forty times as many paths."""
    tree = context(*((f"l{number}", ".") for number in range(40)), ("d/f.txt", b"f"), ("to", "d"))
    tree.budget = Budget(2_000, "it")
    with pytest.raises(DockerfileError, match="matches nothing"):
        check_sources(replace(STEP, sources=("*/*/*/*",)), tree)
    step = replace(STEP, sources=("to/*.txt", "*/f.txt", "d/../to/*"), destination="/y/")
    found = select(step, tree, "it", WorkFiles(Path(), MIB))
    assert [item.parts for item in found.items] == [("f.txt",)] * 3


def test_what_one_build_looks_for_has_a_bound_and_can_be_stopped(context: Callable[..., ContextTree]) -> None:
    links = [(f"l{number}", f"{'./' * 2000}l{number + 1}") for number in range(30)]
    tree = context(*links, *((f"d/{number}", b"") for number in range(100)), ("l30", b"end"))
    for sources in (("l0",) * 50, ("d",) * 20, ("d/*",) * 20):
        step = replace(STEP, sources=sources, destination="/y/", excludes=("**x*",))
        tree.budget = Budget(1_500, "it")
        with pytest.raises(ValidationError, match="takes too long"):
            select(step, tree, "it", WorkFiles(Path(), MIB))
        tree.budget = Budget(10**9, "it")
        tree.budget.stop = lambda: True
        with pytest.raises(StoppedError):
            select(step, tree, "it", WorkFiles(Path(), MIB))


async def test_a_build_that_is_cancelled_again_and_again_waits_for_its_thread() -> None:
    """It writes into a folder that is removed after it."""
    nothing: Any = None
    builder = Builder(nothing, nothing, "w", nothing, nothing, nothing, nothing, lambda: 1.0)
    begun, go_on = threading.Event(), threading.Event()

    def work() -> None:
        begun.set()
        go_on.wait(60)

    task = asyncio.ensure_future(builder._thread(work))
    await asyncio.to_thread(begun.wait, 60)
    for _ in range(3):
        task.cancel()
        for _ in range(3):
            await asyncio.sleep(0)
        assert not task.done()
    go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await task


@pytest.mark.parametrize(
    "source", ["/x/./{up}etc/shadow/k", "x/./a/../{up}etc/shadow/k", "x/./{up}etc/shadow", "/./x/f", "x/./f/."]
)
def test_names_that_climb_are_no_places_of_this_machine(tmp_path: Path, source: str) -> None:
    """Whether a path of the host is there, and what it is, would else be told to who builds."""
    layer = tmp_path / "layers" / "one"
    for folder in ("x/a", "etc/shadow"):
        (layer / folder).mkdir(parents=True)
    (layer / "etc/shadow/k").write_text("")
    (layer / "x/f").write_text("")
    asked: list[str] = []

    class Watched(ImageFiles):
        def child(self, folder: ImageFile, name: str) -> ImageFile:
            asked.append(name)
            return super().child(folder, name)

    files = Watched((layer,), keeps_owners=True)
    step = replace(STEP, sources=(source.format(up="../" * 12),), destination="/y/", keeps_parents=True)
    made = layer_of(step, ImageTree(files), files, tmp_path)
    assert made.keys() & {"y/etc/shadow/k", "y/k", "y/x/f", "y/f"}
    assert not {"..", ".", ""} & {*asked}
    assert not [name for name in made if ".." in name]


@pytest.mark.parametrize("name", ["..", ".", "", "../x", "/etc/passwd", "a/b", "a\0"])
def test_what_is_no_name_is_looked_up_in_no_image_and_written_to_no_layer(image: ImageFiles, name: str) -> None:
    with pytest.raises(ImagePathError, match="no name"):
        image.child(image.root(), name)
    layer = LayerTar(io.BytesIO(), most_bytes=MIB, most_files=100)
    with pytest.raises(OSError, match="no path of a layer"):
        layer.add((name,), "file", mode=0o644, owner=(0, 0), modified=0)
