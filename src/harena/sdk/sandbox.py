"""`Sandbox`: one isolated, fresh place to run a program in."""

from __future__ import annotations

import builtins
import itertools
import threading
from collections.abc import Generator, Iterable, Mapping, Sequence
from datetime import datetime
from types import TracebackType
from typing import TYPE_CHECKING, Any, Unpack

from harena.core.errors import SandboxNotFoundError, SandboxTimeoutError, SandboxValidationError
from harena.core.models import ExecRequest, ProcessInfo, SandboxInfo, SandboxStatus
from harena.core.ports import SandboxHandle
from harena.sdk.defaults import SandboxDefaults, as_defaults
from harena.sdk.files import FileVerbs
from harena.sdk.life import Life
from harena.sdk.metrics import ExecStats
from harena.sdk.options import Plan, SandboxOptions, check_absolute, checked_tags, plan
from harena.sdk.portal import Portal, current_portal
from harena.sdk.process import (
    Process,
    TerminalSession,
    check_size,
    checked_command,
    checked_environment,
    checked_timeout,
)
from harena.sdk.refs import OperationRef
from harena.sdk.streams import StreamReader

if TYPE_CHECKING:
    from harena.sdk.session import Session
