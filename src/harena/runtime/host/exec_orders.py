"""The orders by which init starts the commands of one sandbox: in which environment, and as whom they run."""

from __future__ import annotations

import marshal
from collections.abc import Mapping

from harena.core.errors import SandboxValidationError
from harena.core.models import ExecRequest
from harena.runtime.guest import wire
from harena.runtime.host import image


class ExecOrders:
    """Made with its sandbox."""

    def __init__(
        self,
        environment: Mapping[str, str],
        user: str | None,
        *,
        warm: bool,
        open_files: int,
        enforcement: Mapping[str, str],
    ) -> None:
        """`environment`: the template's, which init has. `user`: as whom programs run, "" = root; None = there is
        nobody else. `open_files`: descriptors of a program, where its request says nothing."""
        self.environment = self._template_environment = environment
        self.keeps_home = True
        """HOME is what the environment says, whoever the program's user is"""
        self._user = user
        self._warm = warm
        self._open_files = open_files
        self._enforcement = enforcement

    def encode(self, number: int, request: ExecRequest, workdir: str) -> bytes:
        """What init is sent. Raises SandboxValidationError for a user that the sandbox has not."""
        wants_warm = self._warm and request.warm is not False and _is_python(request.argv[0])
        user = self._user_of(request)
        environment = {**self.environment, **request.env} if request.env else self.environment
        if user and not self.keeps_home and "HOME" not in request.env:
            environment = {name: value for name, value in environment.items() if name != "HOME"}
        if request.guarded:
            environment = {**environment, "PATH": f"{image.GUARD}/bin:{environment.get('PATH', '')}"}
            wants_warm = False
        order = wire.encode_order(
            number,
            wants_warm * wire.WARM | (request.terminal is not None) * wire.TERMINAL,
            request.argv,
            None if environment == self._template_environment else environment,
            request.cwd or workdir,
            open_files=request.open_files or self._open_files,
            cpu_seconds=max(1, int(-(-request.cpu_seconds // 1))) if request.cpu_seconds else 0,
        )
        return marshal.dumps(("a", number, user, order), 2) if user else order

    def run_as(self, user: str) -> None:
        """Have programs run as somebody else than the image says. Raises SandboxValidationError."""
        self._user = self._check_user(user) if self._user is not None or not image.is_root(user) else None

    def _user_of(self, request: ExecRequest) -> str:
        """The user that a program runs as; "" = root. Raises SandboxValidationError."""
        user = self._user if request.user is None else request.user
        return "" if user is None else self._check_user(user)

    def _check_user(self, user: str) -> str:
        if image.is_root(user):
            return ""
        if self._user is None:
            why = self._enforcement.get("users", "one id: only sandboxes of an image have several users")
            raise SandboxValidationError(
                f"user: this sandbox has no user but root ({why.removeprefix('one id: ')}); leave user out, or use "
                "a sandbox of an image on a node that runs as root or has a range of subordinate ids"
            )
        return user


def _is_python(program: str) -> bool:
    """It may be an interpreter; whether it is the warm one, and runs what a warm one can, init's child decides."""
    return program.rpartition("/")[2].startswith("python")
