"""The `harbor` contract: a task directory's environment and its verifier, which looks at what the candidate left."""

from __future__ import annotations

import base64
import binascii
import posixpath
import re
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from harena.core.checked import check_user
from harena.core.errors import SandboxValidationError
from harena.core.profiles import Profile
from harena.core.results import Trust
from harena.scoring.contracts.parts import Contract, Files, RelativePath, Score, Seconds, Text, no_collisions


def _absolute(path: str) -> str:
    if not path.startswith("/") or "\0" in path or any(part in (".", "..") for part in path.split("/")):
        raise ValueError("must be an absolute path without '.' or '..'")
    return path


def _absolute_or_from_workdir(path: str) -> str:
    if not path.startswith("./"):
        return _absolute(path)
    _absolute(path[1:])
    return path


_OF_THE_IMAGE = (
    "/bin", "/boot", "/dev", "/lib", "/lib32", "/lib64", "/libx32", "/logs/verifier", "/nix", "/proc", "/run", "/sbin",
    "/snap", "/solution", "/sys", "/tests", "/usr", "/var/lib/dpkg", "/var/lib/apk", "/var/lib/rpm",
)  # fmt: skip
_OF_WORK = ("/dev/shm", "/usr/local/src", "/usr/share/nginx/html", "/usr/src")
"""below these no program is looked for, and images of Docker's guides have their working directory there"""
_STEERING_IN_ETC = re.compile(
    r"(?:ld\.so|profile|bash|zsh|csh|fish|environment|inputrc|python|perl|ruby|php|lua|node|npmrc|yarnrc|gitconfig"
    r"|pip\.conf|alternatives|nsswitch|pam|security|sudoers|ssl$|ssl/openssl|java|maven|gradle|xdg|gai\.conf|skel"
    r"|systemd|apk|apt|dpkg|mtab|fonts|terminfo|vim|emacs|curlrc|wgetrc|R$|R/|conda|pki|crypto|selinux|apparmor|ccache"
    r"|gdb|valgrind|locale).*"
)
"""below `/etc`: what programs read when they start"""


def is_within(path: str, folder: str) -> bool:
    """A path is a folder, or below it."""
    return path == folder or path.startswith(f"{folder.rstrip('/')}/")


def is_of_system(path: str) -> bool:
    """A path below which images have what programs are, load or read when they start; or one that holds such."""
    if any(is_within(path, other) and path != other for other in _OF_WORK):
        return False
    if any(is_within(path, other) or is_within(other, path) for other in _OF_THE_IMAGE):
        return True
    return path == "/etc" or (path.startswith("/etc/") and _STEERING_IN_ETC.match(path[5:]) is not None)


def _of_work(path: str) -> str:
    if is_of_system(posixpath.normpath(path)):
        raise ValueError("is where an image has programs, libraries or their settings: these are never a candidate's")
    return path


def _user(named: str) -> str:
    try:
        check_user(named)
    except SandboxValidationError as error:
        raise ValueError(str(error)) from None
    return named


def _base64(text: str) -> str:
    try:
        base64.b64decode(text, validate=True)
    except binascii.Error:
        raise ValueError("must be base64") from None
    return text


AbsolutePath = Annotated[str, Field(max_length=1024), AfterValidator(_absolute)]
EnvironmentPath = Annotated[str, Field(max_length=1024), AfterValidator(_absolute_or_from_workdir)]
WorkingPath = Annotated[AbsolutePath, AfterValidator(_of_work)]
User = Annotated[str, Field(min_length=1, max_length=256), AfterValidator(_user)]
Base64 = Annotated[Text, AfterValidator(_base64)]
TEST_SCRIPT = "test.sh"
SOLUTION_SCRIPT = "solve.sh"


def _solution(written: Any) -> Any:
    return {SOLUTION_SCRIPT: written} if isinstance(written, str) else written


Solution = Annotated[Files, BeforeValidator(_solution)]
"""files of a right solution, or its script (as `solve.sh`)"""


class HarborContract(Contract):
    """Run the candidate's entry, a shell script, in the task's environment; then the verifier's `test.sh`, which leaves
    a reward. Trust is `shared`: the verifier runs in a fresh sandbox with the working places of the candidate's, and
    may run what lies there. Neither has a network unless the scenario says one."""

    type: Literal["harbor"]
    workdir: AbsolutePath = "/app"
    """where the scripts run"""
    in_workdir_of_image: bool = False
    """where they run is what the image says, and `workdir` nothing"""
    user: User | None = None
    """in an image: whom the candidate runs as; None = whom the image says. Refused where a sandbox has root alone"""
    verifier_user: User | None = None
    """in an image: whom the verifier runs as; None = whom the image says"""
    profile: Profile = "strict"
    """in an image: what programs may do; `machine` is `strict` where a sandbox has one user"""
    working_places: Annotated[tuple[WorkingPath, ...], Field(strict=False, max_length=100)] = ()
    """files and folders of the candidate's that the verifier sees, beside the usual ones"""
    environment_files: Annotated[dict[EnvironmentPath, Text], Field(max_length=1000)] = {}
    """what the environment holds (path: text), before anything runs; `./FILE` is in the working directory"""
    environment_commands: Annotated[tuple[str, ...], Field(strict=False, max_length=1000)] = ()
    """shell commands that prepare it, in order; all must succeed"""
    env: dict[str, str] = {}
    """environment variables of every command; `$PATH` in a `PATH` is the image's"""
    solution_env: dict[str, str] = {}
    """further environment variables of the candidate"""
    tests: Files
    """what is put into /tests after the candidate has ended; `test.sh` among them"""
    binary_tests: Annotated[dict[RelativePath, Base64], Field(max_length=1000)] = {}
    """further files of /tests, which are no text, in base64"""
    verifier_env: dict[str, str] = {}
    """further environment variables of the verifier"""
    verifier_timeout_seconds: Seconds = 600.0
    """time of `test.sh`; `timeout_seconds` is that of the candidate"""
    keep_processes: bool = False
    """what the candidate has started in the background goes on beside the verifier, in the candidate's own sandbox, for
    tasks that ask for a server; it could write a reward, and start-up files and programs are what the candidate made
    them"""
    gold: Solution = {}
    """files of a right solution with its script `solve.sh`, or that script; run where the verifier leaves no reward,
    without a candidate either: if it is paid, the verifier writes one for what is right alone"""
    pass_mark: Score = 1.0
    """passed = the reward is at least this"""

    @model_validator(mode="after")
    def _has_script(self) -> Self:
        if TEST_SCRIPT not in self.tests:
            raise ValueError(f"`tests` must hold {TEST_SCRIPT!r}, which leaves the reward")
        no_collisions({**self.tests, **self.binary_tests})
        if self.gold and SOLUTION_SCRIPT not in self.gold:
            raise ValueError(f"`gold` must hold {SOLUTION_SCRIPT!r}, which is run")
        return self

    @property
    def trust(self) -> Trust:
        """The verifier reads, and may run, what the candidate left."""
        return Trust.SHARED

    @property
    def version(self) -> str:
        """Version of the scoring rules of `harbor`."""
        return "harbor-19"
