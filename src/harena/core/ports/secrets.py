"""What a node can do with secrets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Protocol

from harena.core.parameters import Bounds, Id, Limit, OptionalWord
from harena.core.secrets import MOST_HOST, MOST_HOSTS, MOST_NAME, MOST_VALUE_BYTES, NAME_PATTERN

if TYPE_CHECKING:
    from harena.core.records.secrets import Secret, SecretsPage


class SecretOperations(Protocol):
    """Secrets of one workspace. No operation gives a value back."""

    async def set_secret(
        self,
        name: Annotated[str, Bounds(pattern=NAME_PATTERN, max_length=MOST_NAME)],
        value: Annotated[str, Bounds(min_length=1, max_length=MOST_VALUE_BYTES, hidden=True)],
        *,
        hosts: Annotated[
            Sequence[Annotated[str, Bounds(max_length=MOST_HOST)]], Bounds(min_length=1, max_length=MOST_HOSTS)
        ],
    ) -> Secret:
        """Keep a secret, sealed, in place of the one of its name. A gateway may send it to these hosts, and to no
        others. For admins: it stands for somebody outside of the workspace.

        Raises ValidationError, and LimitExceededError with the reason SECRETS."""

    async def list_secrets(self, *, limit: Limit = 100, cursor: OptionalWord = None) -> SecretsPage:
        """Secrets of your workspace, by name, without their values."""

    async def get_secret(self, name: Id) -> Secret:
        """A secret, without its value.

        Raises NotFoundError."""

    async def delete_secret(self, name: Id) -> None:
        """Forget a secret. Sandboxes that are created from now on cannot use it. For admins.

        Raises NotFoundError."""
