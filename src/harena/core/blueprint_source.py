"""Where blueprints are found, and the one way to look for one from an event loop."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Protocol

from harena.core.errors import NotFoundError
from harena.core.threads import BLUEPRINTS

if TYPE_CHECKING:
    from harena.core.records.blueprints import Blueprint


class BlueprintSource(Protocol):
    """Finds blueprints of workspaces. An implementation derives from this class."""

    def find(self, workspace: str, name_or_id: str) -> Blueprint:
        """The newest version of a name, or the one with this id; may read files. Raises NotFoundError."""
        ...

    def built_in(self, name_or_id: str) -> Blueprint | None:
        """A blueprint that is known without a look at any file; None = `find` has to look."""
        return None

    async def published(self, workspace: str, name_or_id: str) -> Blueprint | None:
        """The newest version of a name, or the one with this id, that was published to the organisation of the
        workspace; None = there is none."""
        return None


async def found_in_thread(blueprints: BlueprintSource, workspace: str, name_or_id: str) -> Blueprint:
    """A blueprint of the workspace, else one that was published to its organisation; without files that the event loop
    waits for. Raises NotFoundError."""
    if (known := blueprints.built_in(name_or_id)) is not None:
        return known
    try:
        return await BLUEPRINTS.run_for(workspace, partial(blueprints.find, workspace, name_or_id))
    except NotFoundError:
        if (published := await blueprints.published(workspace, name_or_id)) is None:
            raise
        return published
