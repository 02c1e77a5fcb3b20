"""Makes archives of layers that the store keeps as folders, each in a process of its own, for whoever exports them."""

from __future__ import annotations

import json
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

from harena.core.errors import ImagePullError, PlatformError
from harena.core.threads import IMAGES
from harena.image_store import programs
from harena.image_store.kept import KeptBlob
from harena.image_store.store import ImageStore, Work
from harena.image_store.unpacking import no_room_reason

_MOST_ANSWER = 64 * 1024
_PROGRAM = "import sys; sys.path.insert(0, {!r}); from harena.image_store import layer_headers; layer_headers.main()"


class DamagedFolderError(Exception):
    """The folder of a layer does not make the archive that the layer has; the message says why."""


def lacks_archive(layer: KeptBlob, store: ImageStore) -> bool:
    """The layer is here as a folder with headers, and not as an archive."""
    return not store.blob(layer.digest).exists() and store.layer_headers(layer.diff_id).exists()


async def rebuild(layer: KeptBlob, store: ImageStore, work: Work) -> None:
    """Make the archive of a layer that lacks it. Raises DamagedFolderError, ImagePullError, PlatformError."""
    folder = await IMAGES.run(partial(tempfile.mkdtemp, prefix="archive-", dir=work.path))
    target = Path(folder, "layer")
    question = {
        "headers": str(store.layer_headers(layer.diff_id)),
        "root": str(store.layer_root(layer.diff_id)),
        "target": str(target),
        "digest": layer.digest,
    }
    program = _PROGRAM.format(str(Path(__file__).parents[2]))
    finished = await programs.run(
        [sys.executable, "-I", "-S", "-c", program, json.dumps(question)], most_output=_MOST_ANSWER
    )
    try:
        answer: dict[str, Any] = json.loads(finished.output)
    except ValueError:
        raise PlatformError(
            f"the process that makes the archive of a layer has died ({finished.status}): {finished.said[-400:]}",
            step="export",
        ) from None
    if answer["fault"] == "broken":
        raise DamagedFolderError(f"layer sha256:{layer.diff_id} has been damaged on the disk: {answer['said']}")
    if answer["fault"]:
        raise ImagePullError(
            f"the archive of layer sha256:{layer.diff_id} could not be made: {answer['said']}",
            step="export",
            reason=no_room_reason(answer["errno"]),
        )
    await IMAGES.run(target.rename, store.blob(layer.digest))
