"""State that all routes share: the node, the owners of sandboxes, running commands, limits and metrics."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from starlette.requests import Request

from harena.core.clock import Clock
from harena.core.errors import SandboxExecutionError, SandboxUnavailableError
from harena.core.models import ExecResult
from harena.core.ports import RunningExec, WholeNode
from harena.core.workspace import WorkspaceLimits
from harena.server.answer_memory import AnswerMemory
from harena.server.command_outputs import CommandOutputs
from harena.server.connections import Connections
from harena.server.followers import Followers
from harena.server.idempotency import Idempotency, SharedCreations
from harena.server.identity import Access
from harena.server.kept_outputs import KeptOutputs
from harena.server.leases import Leases
from harena.server.loop_turns import LoopTurns
from harena.server.metrics import Metrics
from harena.server.owned import OwnedSandboxes
from harena.server.parsing_turns import ParsingTurns
from harena.server.quotas import Quotas
from harena.server.request_shares import RequestDisk, RequestMemory
from harena.server.tls import Greetings
from harena.server.write_turns import WriteTurns
from harena.store.access import AccessStore

if TYPE_CHECKING:
    from fastapi import FastAPI


class ServerState:
    """Everything that the routes of one server share. Used from one event loop."""

    def __init__(
        self,
        operations: WholeNode,
        *,
        clock: Clock,
        store: AccessStore,
        access: Access,
        open_to_loopback: bool,
        version: str,
        quotas: Quotas | None = None,
        begun: SharedCreations | None = None,
    ) -> None:
        """`quotas`: what workspaces may use; None = what a server lets all use that is told nothing. `begun`: where
        servers of the same store tell which creations they have begun; None = there is no other."""
        self.operations = operations
        self.store = store
        self.version = version
        self.clock = clock
        self.access = access
        self.quotas = quotas or Quotas(WorkspaceLimits(), None, clock)
        self.open_to_loopback = open_to_loopback
        """there are no keys: only programs of this machine may ask, and no web page that one of them shows"""
        self.sandboxes = OwnedSandboxes(operations)
        self.leases = Leases(clock)
        self.idempotency = Idempotency(clock, begun)
        self.metrics = Metrics()
        self.draining = asyncio.Event()
        """no new work is taken; what is under way is finished"""
        self.write_turns = WriteTurns()
        self.request_memory = RequestMemory()
        self.request_disk = RequestDisk()
        self.answer_memory = AnswerMemory()
        self.followers = Followers()
        self.connections = Connections(one_workspace=open_to_loopback)
        self.greetings: Greetings | None = None
        """connections on which TLS is being agreed upon; None = this server has no TLS"""
        self.parsing_turns = ParsingTurns()
        self.loop_turns = LoopTurns()
        self.kept_outputs = KeptOutputs(self.quotas, clock)
        self.command_outputs = CommandOutputs(clock)
        self._execs: dict[tuple[str, str, str], RunningExec] = {}

    def check_not_draining(self) -> None:
        """Raises SandboxUnavailableError."""
        if self.draining.is_set():
            raise SandboxUnavailableError("this server is about to stop and takes no new work", reason="DRAINING")

    def note_exec(
        self, workspace: str, sandbox_id: str, exec_id: str, running: RunningExec, argv: Sequence[str]
    ) -> None:
        """It can be fed and killed from now on."""
        self._execs[workspace, sandbox_id, exec_id] = running
        self.command_outputs.began(workspace, sandbox_id, exec_id, argv, running)
        self.metrics.exec_began(workspace)
        self.kept_outputs.add(workspace, running)

    def forget_exec(self, workspace: str, sandbox_id: str, exec_id: str, result: ExecResult | None) -> None:
        """It has ended; `result` is None where nobody waited for that."""
        self.command_outputs.ended(workspace, exec_id, result)
        self.kept_outputs.remove(workspace, self._execs.pop((workspace, sandbox_id, exec_id)))
        self.metrics.exec_ended(workspace)

    def find_exec(self, workspace: str, sandbox_id: str, exec_id: str) -> RunningExec:
        """Raises SandboxNotFoundError, SandboxExecutionError."""
        self.sandboxes.check(workspace, sandbox_id)
        running = self._execs.get((workspace, sandbox_id, exec_id))
        if running is None:
            message = f"no command {exec_id!r} runs in sandbox {sandbox_id!r}: it has ended"
            raise SandboxExecutionError(message, reason="EXEC_ENDED")
        return running


def state_of(request: Request) -> ServerState:
    """The server's state, from a request to it."""
    app: FastAPI = request.app
    return cast("ServerState", app.state.harena)
