"""Operations on sandboxes, their commands and their files. Their endpoints are written by hand: handles, frames and
files are no records."""

from __future__ import annotations

from typing import Any

from harena.core.frames import MEDIA_TYPE as FRAMES
from harena.core.models import FileInfo
from harena.core.operations.operation import READ, WRITE, Method, Operation, Scope
from harena.core.records.gateways import GatewayLog
from harena.core.records.network import NetworkLog
from harena.core.records.sandbox_answers import CommandOutputs, DirectoryListing, ProcessListing, SandboxesPage
from harena.core.records.sandboxes import SandboxInfo, SandboxUsage

NOUN, COMMANDS, FILES = "sandboxes", "commands", "files"
OCTETS, TAR = "application/octet-stream", "application/x-tar"
_ALL = "/v1/sandboxes"
_ONE = f"{_ALL}/{{sandbox_id}}"
_EXECS = f"{_ONE}/execs"
_EXEC = f"{_EXECS}/{{exec_id}}"
_STATES = frozenset({409, 504})
"""a sandbox may have ended, and what happens inside may take too long"""
_SIZES = frozenset({413})
_ROOM = frozenset({413, 507})


def _on_one(
    noun: str,
    name: str,
    method: Method,
    path: str,
    scope: Scope,
    answer: type | str | None = None,
    body: str | None = None,
    errors: frozenset[int] = frozenset(),
) -> Operation[..., Any]:
    return Operation(noun, name, method, path, scope, None, answer, body=body, errors=_STATES | errors)


CREATE: Operation[..., Any] = Operation(
    NOUN,
    "create",
    "POST",
    _ALL,
    WRITE,
    None,
    SandboxInfo,
    body="SandboxBody",
    creates=True,
    starts_work=True,
    errors=_STATES | {404, 501},
)
LIST: Operation[..., Any] = Operation(NOUN, "list_sandboxes", "GET", _ALL, READ, None, SandboxesPage)
GET = _on_one(NOUN, "get", "GET", _ONE, READ, SandboxInfo)
WAIT = _on_one(NOUN, "wait", "GET", f"{_ONE}/wait", READ, SandboxInfo)
STOP = _on_one(NOUN, "stop", "POST", f"{_ONE}/stop", WRITE, SandboxInfo, "StopBody")
EXTEND = _on_one(NOUN, "extend", "POST", f"{_ONE}/extend", WRITE, SandboxInfo, "ExtendBody")
PROCESSES = _on_one(NOUN, "processes", "GET", f"{_ONE}/processes", READ, ProcessListing)
USAGE = _on_one(NOUN, "usage", "GET", f"{_ONE}/usage", READ, SandboxUsage)
OUTPUTS = _on_one(NOUN, "outputs", "GET", f"{_ONE}/outputs", READ, CommandOutputs)
SIGNAL = _on_one(NOUN, "signal", "POST", f"{_ONE}/processes/{{pid}}/signal", WRITE, None, "SignalBody")
NETWORK_LOG = _on_one(NOUN, "network_log", "GET", f"{_ONE}/network", READ, NetworkLog)
SET_NETWORK = _on_one(NOUN, "set_network", "PUT", f"{_ONE}/network", WRITE, None, "NetworkBody")
GATEWAY_LOG = _on_one(NOUN, "gateway_log", "GET", f"{_ONE}/gateway_log", READ, GatewayLog)
OPERATIONS = (
    CREATE, LIST, GET, WAIT, STOP, EXTEND, PROCESSES, USAGE, OUTPUTS, SIGNAL, NETWORK_LOG, SET_NETWORK, GATEWAY_LOG,
)  # fmt: skip

EXEC = _on_one(COMMANDS, "run", "POST", _EXECS, WRITE, FRAMES, "ExecBody")
WRITE_STDIN = _on_one(COMMANDS, "write_stdin", "POST", f"{_EXEC}/stdin", WRITE, None, OCTETS)
CLOSE_STDIN = _on_one(COMMANDS, "close_stdin", "POST", f"{_EXEC}/stdin/close", WRITE)
KILL = _on_one(COMMANDS, "kill", "POST", f"{_EXEC}/kill", WRITE)
RESIZE = _on_one(COMMANDS, "resize", "POST", f"{_EXEC}/resize", WRITE, None, "ResizeBody")
ON_COMMANDS = (EXEC, WRITE_STDIN, CLOSE_STDIN, KILL, RESIZE)

READ_FILE = _on_one(FILES, "read", "GET", f"{_ONE}/files", READ, OCTETS, None, _SIZES)
WRITE_FILE = _on_one(FILES, "write", "PUT", f"{_ONE}/files", WRITE, None, OCTETS, _ROOM)
APPEND = _on_one(FILES, "append", "POST", f"{_ONE}/files", WRITE, None, OCTETS, _ROOM)
REMOVE = _on_one(FILES, "remove", "DELETE", f"{_ONE}/files", WRITE, None, None, _ROOM)
STAT = _on_one(FILES, "stat", "GET", f"{_ONE}/files/stat", READ, FileInfo, None, _SIZES)
LIST_FILES = _on_one(FILES, "list_files", "GET", f"{_ONE}/files/list", READ, DirectoryListing, None, _SIZES)
MAKE_DIR = _on_one(FILES, "make_dir", "POST", f"{_ONE}/directories", WRITE, None, None, _ROOM)
EXTRACT = _on_one(FILES, "extract", "PUT", f"{_ONE}/archive", WRITE, None, OCTETS, _ROOM)
ARCHIVE = _on_one(FILES, "archive", "GET", f"{_ONE}/archive", READ, TAR, None, _SIZES)
ON_FILES = (READ_FILE, WRITE_FILE, APPEND, REMOVE, STAT, LIST_FILES, MAKE_DIR, EXTRACT, ARCHIVE)
