"""What a node can do with blueprints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from harena.core.daemons import Daemon
from harena.core.gateways import Gateway
from harena.core.network_policy import NO_NETWORK, NetworkPolicy
from harena.core.parameters import Id, Limit, OptionalWord
from harena.core.profiles import Profile
from harena.core.records.blueprints import Blueprint, BlueprintsPage
from harena.core.records.sandboxes import NO_LIMITS_SAID, Limits


class BlueprintOperations(Protocol):
    """Recipes for sandboxes, of one workspace."""

    async def create_blueprint(
        self,
        name: str,
        *,
        image: str = "default",
        profile: Profile = "strict",
        packages: Sequence[str] = (),
        files: Mapping[str, bytes] | None = None,
        env: Mapping[str, str] | None = None,
        warm: Sequence[str] | None = None,
        network: NetworkPolicy = NO_NETWORK,
        gateways: Sequence[Gateway] = (),
        daemons: Sequence[Daemon] = (),
        limits: Limits = NO_LIMITS_SAID,
        recipe: str = "",
        log: str = "",
    ) -> Blueprint:
        """Resolve, download and install the packages (wheels only) and record the recipe under `name`. `recipe` and
        `log`, see `Blueprint`, are kept for people."""

    async def get_blueprint(self, name_or_id: Id) -> Blueprint:
        """The newest version of a name, or the one with this id: your workspace's, else one that was published to its
        organisation.

        Raises NotFoundError."""

    async def publish_blueprint(self, name_or_id: Id) -> Blueprint:
        """Show the newest version of a name, or the one with this id, to all workspaces of your organisation. One that
        is built in, is made of an image, or has a name that another workspace has published, is refused.

        Raises NotFoundError, ValidationError."""

    async def withdraw_blueprint(self, name_or_id: Id) -> Blueprint:
        """Show every version of a name, or the one with this id, to your own workspace alone.

        Raises NotFoundError."""

    async def delete_blueprint(self, name_or_id: Id) -> None:
        """Forget every version of a name, or the one with this id. For admins: others may be using it.

        Raises NotFoundError, ValidationError (built in)."""

    async def list_blueprints(
        self,
        *,
        name: OptionalWord = None,
        organization: bool = False,
        cursor: OptionalWord = None,
        limit: Limit = 100,
    ) -> BlueprintsPage:
        """The blueprints of your workspace, or with `organization` those that were published to its organisation; the
        newest version of each, or with `name` every version of that one; newest first, without the contents of their
        files and their environments. A page holds at most 8 MiB; `cursor` is the `next_cursor` of the page before.

        Raises ValidationError."""
