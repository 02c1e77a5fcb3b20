"""What lies at the paths of a request for training is sent first, and the request names what became of it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

from harena.core.errors import NotFoundError, PlatformError, ValidationError
from harena.core.file_trees import files_of, pack_files, tree_of
from harena.core.ports import RegistryOperations
from harena.core.training_sources import HEADING, GivenPath, path_version, paths_of, with_versions


async def with_sent_sources(operations: RegistryOperations, request: Mapping[str, Any]) -> dict[str, Any]:
    """The request, without paths of this machine. Raises ValidationError with a line for each that cannot be sent,
    PlatformError."""
    versions: dict[str, tuple[str, str]] = {}
    mistakes = []
    for given in paths_of(request):
        try:
            versions[given.where] = await _send_tree(operations, given)
        except ValidationError as error:
            mistakes.append(f"{given.where}: {error}")
        except OSError as error:
            raise PlatformError(f"{given.path} cannot be read: {error.strerror or error}", step="send") from error
    if mistakes:
        raise ValidationError("\n  ".join([HEADING, *mistakes]))
    return with_versions(request, versions)


async def _send_tree(operations: RegistryOperations, given: GivenPath) -> tuple[str, str]:
    place = Path(given.path).expanduser().absolute()
    name, version = await asyncio.to_thread(path_version, place)
    try:
        await operations.get_object(given.kind, f"{name}@{version}")
    except NotFoundError:
        files = await asyncio.to_thread(files_of, place)
        tree = await asyncio.to_thread(tree_of, files)

        async def stream() -> AsyncIterator[bytes]:
            pieces = pack_files(files)
            while piece := await asyncio.to_thread(next, pieces, b""):
                yield piece

        try:
            await operations.push_object(given.kind, name, version, stream(), digest=tree.digest)
        except ValidationError as error:
            raise ValidationError(str(error).replace(f"{name}@{version}", given.path)) from None
    return name, version
