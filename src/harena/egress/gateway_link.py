"""The node's side of the gateways' process, which holds the credentials of sandboxes' gateways."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harena.core.errors import ValidationError
from harena.core.gateways import gateways_to_json
from harena.core.network_policy import NetworkPolicy
from harena.core.records.gateways import GatewayLog
from harena.core.settings import GATEWAY_CA_FILE, GATEWAY_NETWORKS
from harena.egress.credentials import BoundGateway
from harena.egress.process_link import ProcessLink

MOST_AUTHORITIES = 100 << 10
"""characters of the operator's own certificates of authorities"""


@dataclass(frozen=True, slots=True)
class ServedGateway:
    """A gateway and where it is served."""

    bound: BoundGateway = field(repr=False)
    listener: int
    """descriptor of a listening socket inside the sandbox"""
    url: str
    """its address inside"""


@dataclass(frozen=True, slots=True)
class _Admitted:
    workspace: str
    served: tuple[ServedGateway, ...]

    @property
    def listeners(self) -> tuple[int, ...]:
        return tuple(one.listener for one in self.served)


class GatewayLink(ProcessLink[_Admitted]):
    """Gateways of a node's sandboxes. Used from one event loop."""

    MODULE = "harena.egress.gateway_process"
    SERVES = "gateways"

    def __init__(
        self,
        *,
        networks: Sequence[str] = (),
        authorities: str | None = None,
        times: Mapping[str, float] | None = None,
    ) -> None:
        """`networks`: CIDRs beside the public internet that gateways may connect to. `authorities`: certificates, as
        PEM, that are believed beside the system's. `times`: those of `gateway_connection.Times` that are not the usual
        ones."""
        begin: dict[str, Any] = {
            "do": "begin",
            "networks": [*networks],
            "authorities": authorities,
            "times": dict(times or {}),
        }
        super().__init__(begin)

    @classmethod
    def of_settings(cls, environ: Mapping[str, str] | None = None) -> GatewayLink:
        """What the operator has set. Raises ValidationError."""
        networks = [each.strip() for each in (GATEWAY_NETWORKS.read(environ) or "").split(",") if each.strip()]
        try:
            NetworkPolicy(allow=tuple(networks))
        except ValidationError as error:
            raise ValidationError(f"{GATEWAY_NETWORKS.name}: {error}") from None
        file = GATEWAY_CA_FILE.read(environ)
        return cls(networks=networks, authorities=None if file is None else _read(Path(file)))

    async def serve(self, sandbox_id: str, served: Sequence[ServedGateway], workspace: str = "") -> None:
        """Serve the gateways of a sandbox of a workspace, for which names are looked up. The descriptors are its own
        from now on, also where this fails. Raises PlatformError."""
        await self._admit_all(sandbox_id, _Admitted(workspace, tuple(served)))

    async def gateway_log(self, sandbox_id: str, *, after: int = 0, limit: int = 100) -> GatewayLog:
        """What the sandbox's gateways have done. Raises NotFoundError, PlatformError."""
        return await self._log(GatewayLog, sandbox_id, after, limit)

    def _admissions(self, sandbox_id: str, known: _Admitted) -> Iterator[tuple[dict[str, Any], tuple[int, ...]]]:
        for one in known.served:
            ((name, gateway),) = gateways_to_json([one.bound.gateway]).items()
            message = {
                "do": "admit",
                "id": sandbox_id,
                "workspace": known.workspace,
                "name": name,
                "gateway": gateway,
                "token_digest": one.bound.token_digest.hex(),
                "credential": one.bound.credential,
                "url": one.url,
            }
            yield message, (one.listener,)


def _read(file: Path) -> str:
    try:
        written = file.read_text(encoding="ascii")
    except (OSError, UnicodeDecodeError) as error:
        raise ValidationError(
            f"{GATEWAY_CA_FILE.name}: {file} cannot be read as PEM ({type(error).__name__})"
        ) from None
    if len(written) > MOST_AUTHORITIES:
        raise ValidationError(f"{GATEWAY_CA_FILE.name}: {file} has more than {MOST_AUTHORITIES} characters")
    return written
