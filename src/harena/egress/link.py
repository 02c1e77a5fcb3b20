"""The node's side of the egress process, which carries out the network policies of sandboxes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from harena.core.records.network import NetworkLog
from harena.egress.process_link import ANSWER_SECONDS, ProcessLink

if TYPE_CHECKING:
    from harena.core.network_policy import Network, NetworkPolicy


@dataclass(frozen=True, slots=True)
class _Admitted:
    workspace: str
    policy: NetworkPolicy
    listeners: tuple[int, ...]
    ports: tuple[int, ...]


class EgressLink(ProcessLink[_Admitted]):
    """Implements `Egress`. Used from one event loop."""

    MODULE = "harena.egress.process"
    SERVES = "network"

    def __init__(
        self,
        *,
        permitted: Sequence[Network] | None = None,
        times: Mapping[str, float] | None = None,
        table: Mapping[str, Sequence[Sequence[str]]] | None = None,
        answer_seconds: float = ANSWER_SECONDS,
    ) -> None:
        """`permitted`: the addresses that are not public, or this machine's own, which policies may name (None = all:
        who writes policies is who runs the node). `times`: those of `gate.Times` that are not the usual ones. `table`:
        name -> its answers, one after the other, instead of what this machine resolves, for tests. `answer_seconds`:
        for which the process may answer nothing."""
        begin: dict[str, Any] = {
            "do": "begin",
            "times": dict(times or {}),
            "table": table,
            "permitted": None if permitted is None else [*map(str, permitted)],
        }
        super().__init__(begin, answer_seconds)
        self._permitted = permitted

    async def admit(
        self, sandbox_id: str, workspace: str, policy: NetworkPolicy, listeners: Sequence[int], ports: Sequence[int]
    ) -> None:
        """Serve a sandbox's listeners, which are the link's from now on, also where this fails. Raises
        PlatformError."""
        await self._admit_all(sandbox_id, _Admitted(workspace, policy, tuple(listeners), tuple(ports)))

    def _admissions(self, sandbox_id: str, known: _Admitted) -> Iterable[tuple[dict[str, Any], tuple[int, ...]]]:
        message = {
            "do": "admit",
            "id": sandbox_id,
            "workspace": known.workspace,
            "policy": known.policy.to_json(),
            "ports": list(known.ports),
        }
        return [(message, known.listeners)]

    async def change(self, sandbox_id: str, policy: NetworkPolicy) -> None:
        """Another policy; connections that it does not allow end. Raises SandboxValidationError for an entry that
        leads nowhere here, and then leaves the policy as it was; NotFoundError, PlatformError."""
        policy.check_served(self._permitted)
        self._admitted[sandbox_id] = replace(self._find_admitted(sandbox_id), policy=policy)
        await self._ask({"do": "change", "id": sandbox_id, "policy": policy.to_json()})

    async def log(self, sandbox_id: str, *, after: int = 0, limit: int = 100) -> NetworkLog:
        """What was asked for, from the entry behind number `after` on. Raises NotFoundError, PlatformError."""
        return await self._log(NetworkLog, sandbox_id, after, limit)
