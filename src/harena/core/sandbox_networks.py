"""What sandboxes of another process may reach beside the public internet, as the process that starts it tells it: a
server's workers for training jobs, and its workers on other machines, have sandboxes of their own."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping, Sequence

from harena.core import settings
from harena.core.errors import ValidationError
from harena.core.network_policy import Network

PUBLIC = "public"
"""what stands for no address beside the public internet"""


def written_networks(permitted: Sequence[Network]) -> str:
    """The form that `given_networks` reads."""
    return ",".join(map(str, permitted)) or PUBLIC


def given_networks(environ: Mapping[str, str] | None = None) -> tuple[Network, ...] | None:
    """The addresses beside the public internet that sandboxes of this process may reach where their networks name them,
    by its environment (HARENA_SANDBOX_NETWORKS); None = all. Raises ValidationError."""
    text = settings.SANDBOX_NETWORKS.read(environ)
    if text is None:
        return None
    words = [word for part in text.split(",") if (word := part.strip()) and word != PUBLIC]
    try:
        return tuple(map(ipaddress.ip_network, words))
    except ValueError as error:
        raise ValidationError(
            f"{settings.SANDBOX_NETWORKS.name}: {error}; give networks as 10.0.0.0/8, separated by commas, or {PUBLIC}"
        ) from None
