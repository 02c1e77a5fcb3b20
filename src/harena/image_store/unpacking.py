"""Unpacks blobs of layers, each in a process of its own."""

from __future__ import annotations

import errno
import json
import os
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harena.core import settings
from harena.core.errors import HarenaError, HostUnsupportedError, ImagePullError
from harena.core.threads import IMAGES
from harena.image_store import programs
from harena.image_store.kept import KeptLayer
from harena.image_store.manifests import broken
from harena.image_store.store import Work

_MOST_ANSWER = 64 * 1024
_OWNERS = 65536
"""user ids that an image may use, as those who make them know"""
_PROGRAM = "import sys; sys.path.insert(0, {!r}); from harena.image_store import unpacker; unpacker.main()"


class CorruptBlobError(Exception):
    """A blob is not what its digest says."""


@dataclass(frozen=True, slots=True)
class LayerLimits:
    """What one layer may hold."""

    files: int
    bytes: int

    @classmethod
    def of_node(cls) -> LayerLimits:
        """The operator's."""
        return cls(number(settings.IMAGE_MOST_FILES), number(settings.IMAGE_MOST_BYTES))


def number(setting: settings.Setting) -> int:
    """The value of a setting that is a number. Raises HostUnsupportedError."""
    text = setting.read() or str(setting.default)
    if not text.isdecimal():
        raise HostUnsupportedError(f"{setting.name} must be a whole number (got {text!r:.40})", step="images")
    return int(text)


def keeps_owners() -> bool:
    """Files can be given to the users whom an image names."""
    if os.geteuid() != 0:
        return False
    try:
        ranges = [line.split() for line in Path("/proc/self/uid_map").read_text().splitlines()]
    except OSError:
        return False
    return any(int(first) == 0 and int(count) >= _OWNERS for first, _, count in ranges)


async def unpack(work: Work, blob: Path, digest: str, limits: LayerLimits) -> tuple[Path, KeptLayer]:
    """A folder of `work` with the layer in `root`, and what is known of it. Raises CorruptBlobError, ImagePullError,
    HostUnsupportedError."""
    made, descriptor, owners = await IMAGES.run(_prepared, work, blob)
    root = made / "root"
    question = {
        "target": str(root),
        "digest": digest,
        "most_files": limits.files,
        "most_bytes": limits.bytes,
        "keeps_owners": owners,
    }
    program = _PROGRAM.format(str(Path(__file__).parents[2]))
    try:
        finished = await programs.run(
            [sys.executable, "-I", "-S", "-c", program, json.dumps(question)],
            stdin=descriptor,
            most_output=_MOST_ANSWER,
        )
    finally:
        os.close(descriptor)
    try:
        answer: dict[str, Any] = json.loads(finished.output)
    except ValueError:
        raise ImagePullError(
            f"the process that unpacks a layer has died ({finished.status}): {finished.said[-400:]}", step="unpack"
        ) from None
    if answer["fault"]:
        raise _fault(answer, digest)
    about = KeptLayer(
        diff_id=answer["diff_id"],
        files=answer["files"],
        bytes=answer["bytes"],
        disk_bytes=answer["disk_bytes"],
        keeps_owners=owners,
        dropped=answer["dropped"],
    )
    return made, about


def _prepared(work: Work, blob: Path) -> tuple[Path, int, bool]:
    """A folder for a layer, a descriptor of its blob, and whether its files get the owners that it says."""
    made = Path(tempfile.mkdtemp(prefix="layer-", dir=work.path))
    (made / "root").mkdir(mode=0o700)
    return made, os.open(blob, os.O_RDONLY | os.O_CLOEXEC), keeps_owners()


def _fault(answer: dict[str, Any], digest: str) -> Exception:
    kind, said = answer["fault"], answer["said"]
    layer = f"layer sha256:{digest}" if digest else "the archive"
    if kind == "corrupt":
        return CorruptBlobError(said)
    if kind == "broken":
        return broken(f"{layer}: {said}")
    if kind == "large":
        return ImagePullError(
            f"{layer} is too large: {said} ({settings.IMAGE_MOST_FILES.name}, {settings.IMAGE_MOST_BYTES.name})",
            step="unpack",
            reason="IMAGE_TOO_LARGE",
        )
    if kind == "unfit":
        return _unfit(said)
    return ImagePullError(
        f"{layer} could not be unpacked: {said}", step="unpack", reason=no_room_reason(answer["errno"])
    )


def _unfit(said: str) -> HarenaError:
    if "zstd" in said:
        return HostUnsupportedError(
            f"a layer cannot be unpacked: {said}: on Debian and Ubuntu, apt-get install zstd",
            step="unpack",
            reason="IMAGE_TOOLS",
        )
    return unfit_place(said, "unpack")


def unfit_place(said: str, step: str) -> HostUnsupportedError:
    """The error of a home that no layers can be kept in."""
    return HostUnsupportedError(
        f"layers of images cannot be kept in harena's home: {said}. Set {settings.HOME.name} to a directory on ext4, "
        "xfs or btrfs",
        step=step,
    )


def no_room_reason(code: int) -> str | None:
    """The reason of an error of the system, if it says that the disk is full."""
    return "IMAGE_SPACE" if code in (errno.ENOSPC, errno.EDQUOT) else None
