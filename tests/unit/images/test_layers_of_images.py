"""What a layer's tar archive becomes on the disk, whoever has made it."""

from __future__ import annotations

import gzip
import os
import stat
import tarfile
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from layer_tars import Bytes, link, member, tar, unpacked

from harena.image_store import layer_writer, unpacker
from harena.image_store.layer_writer import OPAQUE, TooLargeError
from harena.image_store.tar_entries import BrokenLayerError, entries

GOOD = tar(member("etc"), member("etc/name", b"box\n"), link("etc/alias", "name"), member("x" * 150, b"long"))


def is_whiteout(path: Path) -> bool:
    about = path.lstat()
    return stat.S_ISCHR(about.st_mode) and about.st_rdev == 0


def is_opaque(path: Path) -> bool:
    return OPAQUE.decode() in os.listxattr(path) and os.getxattr(path, OPAQUE) == b"y"


def tree(place: Path) -> dict[str, bytes]:
    return {str(path.relative_to(place)): path.read_bytes() for path in place.rglob("*") if path.is_file()}


class TestOrdinaryEntries:
    """Files, folders, links and their modes."""

    def test_files_folders_and_links(self, tmp_path: Path) -> None:
        """Contents, modes and times are the archive's; folders that no entry names are made."""
        times = {"mtime": 1_000_000_000.5, "pax_headers": {"mtime": "1000000000.5"}}
        unpacked(
            tmp_path / "l",
            tar(
                member("./", mode=0o711),
                member("./usr/bin/tool", b"#!", mode=0o4755, **times),
                member("/tmp", mode=0o1777),
                link("usr/bin/again", "usr/bin/tool", hard=True),
                link("bin", "usr/bin"),
                member("pipe", type=tarfile.FIFOTYPE, mode=0o600),
            ),
        )
        place = tmp_path / "l"
        tool = place / "usr/bin/tool"
        assert stat.S_IMODE(place.stat().st_mode) == 0o711
        assert stat.S_IMODE((place / "usr").stat().st_mode) == 0o755
        assert stat.S_IMODE(tool.stat().st_mode) == 0o4755
        assert tool.stat().st_mtime_ns == 1_000_000_000_500_000_000
        assert stat.S_IMODE((place / "tmp").stat().st_mode) == 0o1777
        assert tool.samefile(place / "usr/bin/again")
        assert (place / "bin").readlink() == Path("usr/bin")
        assert (place / "pipe").is_fifo()

    def test_folders_that_nobody_may_write_to(self, tmp_path: Path) -> None:
        """They get their rights at the end, and their times, too."""
        unpacked(
            tmp_path / "l",
            tar(member("a", mode=0o555, mtime=5), member("a/b", mode=0o500, mtime=6), member("a/b/c", b"1", mode=0)),
        )
        assert stat.S_IMODE((tmp_path / "l/a").stat().st_mode) == 0o555
        assert (tmp_path / "l/a").stat().st_mtime == 5
        assert (tmp_path / "l/a/b").stat().st_mtime == 6
        assert stat.S_IMODE((tmp_path / "l/a/b/c").stat().st_mode) == 0

    @pytest.mark.parametrize("form", [tarfile.PAX_FORMAT, tarfile.GNU_FORMAT])
    def test_odd_names(self, tmp_path: Path, form: int) -> None:
        """Names of any bytes, and long ones, in both formats."""
        names = ["a" * 255, "b/" * 90 + "end", "sp ace\n\t", "caf\udce9", "-rf", "\u4e16"]
        content = tar(*(member(name, b"x") for name in names), link("l", "t/" * 120), form=form)
        unpacked(tmp_path / "l", content)
        found = {os.fsencode(str(path.relative_to(tmp_path / "l"))) for path in (tmp_path / "l").rglob("*")}
        assert {os.fsencode(name) for name in names} <= found
        assert os.readlink(tmp_path / "l/l") == "t/" * 120

    def test_what_comes_twice(self, tmp_path: Path) -> None:
        """The last one counts, of whatever kind it is; folders keep what is in them."""
        unpacked(
            tmp_path / "l",
            tar(
                member("f", b"old"), member("f", b"new"),
                member("d/in", b"1"), member("d", mode=0o700),
                member("t/in", b"1"), member("t", b"now a file"),
                member("u", b"1"), member("u"), member("u/in", b"2"),
                link("v", "d"), member("v"), member("v/in", b"not in d"),
            ),
        )  # fmt: skip
        assert tree(tmp_path / "l") == {
            "f": b"new", "d/in": b"1", "t": b"now a file", "u/in": b"2", "v/in": b"not in d",
        }  # fmt: skip

    @pytest.mark.root
    def test_owners(self, tmp_path: Path) -> None:
        """They are the image's where that can be."""
        if os.geteuid() != 0:
            pytest.skip("only root can give files away")
        owned = {"uid": 100, "gid": 65534}
        content = tar(
            member("d", **owned), member("d/f", b"1", mode=0o2755, **owned), member("big", b"", uid=3_000_000)
        )
        unpacked(tmp_path / "l", content, owners=True)
        for name in ("d", "d/f"):
            about = (tmp_path / "l" / name).stat()
            assert (about.st_uid, about.st_gid) == (100, 65534)
        assert stat.S_IMODE((tmp_path / "l/d/f").stat().st_mode) == 0o2755
        assert (tmp_path / "l/big").stat().st_uid == 3_000_000


class TestWhiteouts:
    """Layers say what they take away from those below."""

    def test_files_and_folders_that_are_gone(self, tmp_path: Path) -> None:
        """A whiteout is a device 0/0 of that name, an opaque folder has the attribute."""
        unpacked(
            tmp_path / "l",
            tar(
                member("etc/.wh.old", b""), member("var"), member("var/.wh..wh..opq", b""), member("var/new", b"1"),
                member("never/named/.wh..wh..opq", b""), member(".wh..wh.plnk/1.2", b""), member(".wh..wh.aufs", b""),
            ),
        )  # fmt: skip
        place = tmp_path / "l"
        assert is_whiteout(place / "etc/old")
        assert is_opaque(place / "var")
        assert is_opaque(place / "never/named")
        assert not is_opaque(place / "etc")
        assert sorted(os.listdir(place)) == ["etc", "never", "var"]

    @pytest.mark.parametrize("turned", [False, True])
    def test_a_folder_that_is_replaced(self, tmp_path: Path, turned: bool) -> None:
        """A whiteout and a folder of one name, in any order, are an opaque folder; a file hides things anyway."""
        members = [member(".wh.d", b""), member("d"), member("d/in", b"1"), member(".wh.f", b""), member("f", b"2")]
        unpacked(tmp_path / "l", tar(*(members[::-1] if turned else members)))
        assert is_opaque(tmp_path / "l/d")
        assert tree(tmp_path / "l") == {"d/in": b"1", "f": b"2"}

    def test_a_whiteout_that_an_entry_lies_below(self, tmp_path: Path) -> None:
        """That folder is a new one."""
        unpacked(tmp_path / "l", tar(member(".wh.d", b""), member("d/e/f", b"1")))
        assert is_opaque(tmp_path / "l/d")

    @pytest.mark.parametrize("name", [".wh.", ".wh..", ".wh..."])
    def test_whiteouts_of_nothing(self, tmp_path: Path, name: str) -> None:
        """They are refused: one of them would be the folder above."""
        with pytest.raises(BrokenLayerError):
            unpacked(tmp_path / "l", tar(member(f"d/{name}", b"")))


class TestHostileLayers:
    """Nothing is written but below the layer's own directory."""

    @pytest.mark.parametrize("name", ["../out", "a/../../out", "/../out", "a/.."])
    def test_names_that_climb(self, tmp_path: Path, name: str) -> None:
        """They are refused, as files and as targets of hard links."""
        with pytest.raises(BrokenLayerError, match="climbs"):
            unpacked(tmp_path / "file", tar(member(name, b"1")))
        with pytest.raises(BrokenLayerError, match="climbs"):
            unpacked(tmp_path / "link", tar(link("l", name, hard=True)))
        assert not (tmp_path / "out").exists()

    @pytest.mark.parametrize("target", ["/", "..", "../..", "/etc", "{}"])
    def test_links_that_lead_out(self, tmp_path: Path, target: str) -> None:
        """An entry behind such a link lands below the layer's root, or is refused."""
        target = target.format(tmp_path)
        with suppress(BrokenLayerError):
            unpacked(tmp_path / "l", tar(member("etc"), link("door", target), member("door/written", b"1")))
        assert [path for path in tmp_path.rglob("written") if not path.is_relative_to(tmp_path / "l")] == []
        assert not Path("/etc/written").exists()
        assert not Path("/written").exists()

    def test_a_file_in_place_of_a_link(self, tmp_path: Path) -> None:
        """It replaces the link and does not write to where that leads."""
        (tmp_path / "victim").write_text("safe")
        unpacked(tmp_path / "l", tar(link("f", str(tmp_path / "victim")), member("f", b"changed")))
        assert (tmp_path / "victim").read_text() == "safe"
        assert (tmp_path / "l/f").read_bytes() == b"changed"

    def test_a_hard_link_to_a_link(self, tmp_path: Path) -> None:
        """It is one to the link itself, not to where that leads."""
        (tmp_path / "victim").write_text("safe")
        content = tar(link("s", str(tmp_path / "victim")), link("h", "s", hard=True), member("h", b"changed"))
        unpacked(tmp_path / "l", content)
        assert (tmp_path / "victim").read_text() == "safe"

    @pytest.mark.parametrize("target", ["missing", "d", ""])
    def test_hard_links_to_what_is_no_file(self, tmp_path: Path, target: str) -> None:
        """The layer is refused."""
        with pytest.raises(BrokenLayerError, match="hard link"):
            unpacked(tmp_path / "l", tar(member("d"), link("h", target, hard=True)))

    def test_a_hard_link_that_replaces_the_folder_that_it_leads_through(self, tmp_path: Path) -> None:
        with pytest.raises(BrokenLayerError, match="no file of its layer"):
            unpacked(tmp_path / "l", tar(member("a"), member("a/b", b"1"), link("a", "a/b", hard=True)))

    def test_a_folder_behind_a_link_that_is_replaced(self, tmp_path: Path) -> None:
        """What comes below the link afterwards lies where the link leads then."""
        begin = [member("a/x"), link("b", "a/x"), member("b/f", b"1"), member("a/x", b"a file"), member("a/x")]
        unpacked(tmp_path / "l", tar(*begin, member("b/g", b"2")))
        assert tree(tmp_path / "l") == {"a/x/g": b"2"}

    def test_devices_and_privileges(self, tmp_path: Path) -> None:
        """Devices are left out, a raw whiteout too; attributes speak neither to overlayfs nor give privileges."""
        headers = {
            "SCHILY.xattr.user.kept": "1",
            "SCHILY.xattr.user.overlay.redirect": "/etc",
            "SCHILY.xattr.trusted.overlay.opaque": "y",
            "SCHILY.xattr.security.capability": "cap",
        }
        made = unpacked(
            tmp_path / "l",
            tar(
                member("null", type=tarfile.CHRTYPE, devmajor=1, devminor=3),
                member("raw", type=tarfile.CHRTYPE),
                member("disk", type=tarfile.BLKTYPE, devmajor=8),
                member("d", pax_headers=headers),
                member("f", b"1", pax_headers=headers),
            ),
        )
        assert made.dropped == {"devices": 3, "extended attributes": 6}
        assert sorted(os.listdir(tmp_path / "l")) == ["d", "f"]
        for name in ("d", "f"):
            assert os.listxattr(tmp_path / "l" / name) == ["user.kept"]

    def test_too_many_files(self, tmp_path: Path) -> None:
        """Folders that no entry names count, too."""
        with pytest.raises(TooLargeError, match="more than 5 files"):
            unpacked(tmp_path / "l", tar(*(member(f"{number}/f", b"") for number in range(3))), files=5)

    def test_too_many_bytes(self, tmp_path: Path) -> None:
        """What a header says counts before anything is written."""
        with pytest.raises(TooLargeError, match="more than 9 bytes"):
            unpacked(tmp_path / "l", tar(member("a", b"12345"), member("b", b"12345")), size=9)
        assert not (tmp_path / "l/b").exists()

    def test_depth_and_length(self, tmp_path: Path) -> None:
        """Paths that no program could open are refused."""
        with pytest.raises(BrokenLayerError, match="parts"):
            unpacked(tmp_path / "deep", tar(member("a/" * 300, b"")))
        with pytest.raises(BrokenLayerError, match="bytes"):
            unpacked(tmp_path / "long", tar(member("a/" * 30 + "b" * 4000, b"")))


class TestDamagedArchives:
    """What is no layer is told, and raises nothing else."""

    @pytest.mark.parametrize("cut", [100, 600, 1100, len(GOOD) - 9000])
    def test_archives_that_end_early(self, tmp_path: Path, cut: int) -> None:
        """The end of the stream within an entry is no end."""
        with pytest.raises(BrokenLayerError):
            unpacked(tmp_path / "l", GOOD[:cut])

    def test_sparse_files(self) -> None:
        """They are refused in both forms."""
        pax = tar(member("s", b"1", pax_headers={"GNU.sparse.major": "1", "GNU.sparse.minor": "0"}))
        for content in (pax, tar(member("s", b"1", type=b"S"), form=tarfile.GNU_FORMAT)):
            with pytest.raises(BrokenLayerError, match="sparse"):
                next(entries(Bytes(content)))

    def test_huge_headers(self) -> None:
        """An extended header is bounded before it is read."""
        with pytest.raises(BrokenLayerError, match="extended headers"):
            next(entries(Bytes(tar(member("f", b"1", pax_headers={"comment": "x" * 2_000_000})))))

    def test_sizes_below_zero(self) -> None:
        """A size in GNU's base 256 can be negative."""
        block = bytearray(tar(member("f", b"1"))[:512])
        block[124:136] = b"\xff" * 12
        block[148:156] = b"%06o\0 " % (sum(block[:148]) + 256 + sum(block[156:]))
        with pytest.raises(BrokenLayerError, match="below 0"):
            next(entries(Bytes(bytes(block) + bytes(1024))))

    @given(st.integers(0, len(GOOD) - 9000), st.integers(0, 255))
    def test_any_other_byte(self, place: int, byte: int) -> None:
        """One byte is another than it was."""
        content = bytearray(GOOD)
        content[place] = byte
        stream = Bytes(bytes(content))
        try:
            for entry in entries(stream):
                stream.take(entry.size + -entry.size % 512)
        except BrokenLayerError:
            pass

    @given(st.binary(max_size=2000))
    def test_any_bytes(self, content: bytes) -> None:
        """Nothing but the known error, whatever comes."""
        try:
            for _ in entries(Bytes(content)):
                pass
        except BrokenLayerError:
            pass


class TestCost:
    """What a small layer makes its unpacking do."""

    def test_each_file_takes_a_block_of_the_budget(self, tmp_path: Path) -> None:
        """Empty files and links, too, since a disk ends at its inodes; another name of a file takes none."""
        whole = [member("empty", b""), link("l", "empty"), member("one", b"1"), link("again", "one", hard=True)]
        made = unpacked(tmp_path / "l", tar(member("d"), member("d/f", bytes(5000)), *whole))
        assert made.disk_bytes == 4096 * (5 + 2 + 1)

    def test_files_that_replace_each_other_are_looked_for_nowhere(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(layer_writer, "_MOST_LOOKED_THROUGH", 0)
        folders = [member(f"d{number}") for number in range(100)]
        unpacked(tmp_path / "l", tar(*folders, *(member("file", b"%d" % number) for number in range(100))))
        assert (tmp_path / "l/file").read_bytes() == b"99"

    @pytest.mark.parametrize("by", [member("d0", b"x"), link("d0", "d1")])
    def test_folders_are_replaced_so_often(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, by: tuple[tarfile.TarInfo, bytes]
    ) -> None:
        monkeypatch.setattr(layer_writer, "_MOST_LOOKED_THROUGH", 5_000)
        entries_of = [member(f"d{number}") for number in range(100)]
        unpacked(tmp_path / "once", tar(*entries_of, by))
        with pytest.raises(BrokenLayerError, match="replaces too many folders"):
            unpacked(tmp_path / "often", tar(*entries_of, *[by, member("d0")] * 100))

    def test_streams_behind_each_other_are_read_in_small_pieces(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """What lies behind the end of one is copied for the next."""
        sizes: set[int] = set()
        real = os.read
        monkeypatch.setattr(os, "read", lambda descriptor, size: (sizes.add(size), real(descriptor, size))[1])
        place = tmp_path / "blob"
        place.write_bytes(gzip.compress(b"a" * 1000) + gzip.compress(b"") * 5000 + gzip.compress(b"b" * 1000))
        blob = os.open(place, os.O_RDONLY)
        try:
            pieces, _ = unpacker._open_blob(blob)
            assert b"".join(pieces) == b"a" * 1000 + b"b" * 1000
        finally:
            os.close(blob)
        assert max(sizes) <= 64 * 1024
