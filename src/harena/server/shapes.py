"""What requests may hold and answers do hold: strict, documented in openapi.json, checked before any work.

An unknown field, a number given as text or a missing field is one 422 that names every mistake. Numbers and texts have
the ranges that `harena.core.checked` and the sdk's checks know; those are not written down a second time here.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag

from harena.core.checked import MOST_BYTES, MOST_CORES, MOST_PIDS, MOST_SECONDS
from harena.core.daemons import MOST_DAEMONS, MOST_READY_SECONDS
from harena.core.gateways import (
    MOST_GATEWAY_SECONDS,
    MOST_GATEWAYS,
    MOST_METHODS,
    MOST_PATTERN,
    MOST_REQUESTS,
    MOST_RULES,
    MOST_SIZE,
)
from harena.core.network_policy import MOST_ENTRIES as MOST_NETWORK_ENTRIES
from harena.core.problems import PROBLEMS
from harena.core.profiles import Profile
from harena.core.records.blueprints import MOST_LOG_CHARACTERS, MOST_RECIPE_CHARACTERS
from harena.core.records.sandboxes import Limits
from harena.core.records.server import ApiKey
from harena.jobs.models import JobConfig, JobWebhook
from harena.scoring.bounds import AtMost, StrictShape
from harena.server.bounds import (
    MOST_PAGE,
    Arguments,
    Base64,
    Files,
    Mapping,
    Notes,
    Path,
    Rows,
    Text,
    Variables,
    Word,
    Words,
)

_LIMITS = Limits()


class RequestBody(StrictShape):
    """A request's body."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Answer(BaseModel):
    """An answer's body."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class LimitsShape(RequestBody):
    """What one sandbox may use; null = as much as the workspace's sandboxes may. A workspace may allow less."""

    memory_bytes: Annotated[int, Field(le=MOST_BYTES)] | None = _LIMITS.memory_bytes
    pids: Annotated[int, Field(le=MOST_PIDS)] | None = _LIMITS.pids
    cpu: Annotated[float, Field(le=MOST_CORES)] | None = _LIMITS.cpu
    disk_bytes: Annotated[int, Field(le=MOST_BYTES)] = _LIMITS.disk_bytes
    inodes: Annotated[int, Field(le=1 << 40)] = _LIMITS.inodes
    output_bytes: Annotated[int, Field(le=MOST_BYTES)] = _LIMITS.output_bytes
    open_files: Annotated[int, Field(le=1_048_576)] = _LIMITS.open_files
    lifetime_seconds: Annotated[float, Field(lt=MOST_SECONDS)] | None = _LIMITS.lifetime_seconds


class NetworkShape(RequestBody):
    """What a sandbox may reach."""

    allow: Annotated[list[Word], Field(max_length=MOST_NETWORK_ENTRIES)]
    """hosts, `*.` hosts, addresses, CIDRs, each perhaps with `:PORT`; presets (`pypi`, `npm`, `apt`); `*`"""
    deny: Annotated[list[Word], Field(max_length=MOST_NETWORK_ENTRIES)] = []
    """taken from what is allowed"""
    proxy_only: bool = False
    """no listeners on ports 80 and 443, and no DNS: only programs that use the proxy have a network"""


Network = Literal["none", "open"] | NetworkShape


class NetworkBody(RequestBody):
    """Another policy for a sandbox that has a network."""

    network: Network


class GatewayRuleShape(RequestBody):
    """Requests that a gateway allows, or denies."""

    path: Annotated[str, Field(max_length=MOST_PATTERN)]
    """`*` is any text within one part, a part `**` any number of parts"""
    methods: Annotated[list[Annotated[str, Field(max_length=20)]], Field(max_length=MOST_METHODS)] = ["*"]
    deny: bool = False


class GatewayShape(RequestBody):
    """A way to one upstream, on which a secret of the workspace takes the place of the sandbox's token."""

    url: Annotated[str, Field(max_length=1000)]
    """https, without user, query and fragment"""
    secret: Word
    """name of the secret, which must be set with this upstream's host"""
    mechanism: Literal["bearer", "basic", "git", "header", "query", "cookie"] = "bearer"
    field: Word = ""
    """name of the header, the query's parameter or the cookie"""
    prefix: Word = ""
    """what stands before the credential in a header"""
    username: Word = ""
    rules: Annotated[list[GatewayRuleShape], Field(max_length=MOST_RULES)] = []
    """empty = everything is allowed; else what one allows and none denies"""
    requests_per_minute: Annotated[int, Field(le=MOST_REQUESTS)] = 600
    request_bytes: Annotated[int, Field(le=MOST_SIZE)] = 256 * 1024 * 1024
    answer_bytes: Annotated[int, Field(le=MOST_SIZE)] = 1024 * 1024 * 1024
    timeout_seconds: Annotated[float, Field(le=MOST_GATEWAY_SECONDS)] = 300.0
    """for which the upstream may be silent"""


GatewayShapes = Annotated[dict[Word, GatewayShape], Field(max_length=MOST_GATEWAYS)]


class SandboxBody(RequestBody):
    """A sandbox to create."""

    image: Word = Field("default", min_length=1)
    blueprint: Word | None = Field(None, min_length=1)
    env: Variables = {}
    cwd: Path | None = None
    tags: Words = []
    annotations: Notes = {}
    limits: LimitsShape = LimitsShape()
    profile: Profile = "strict"
    """what programs may do inside; `machine` for a sandbox of an image"""
    files: Files = {}
    """absolute path -> content"""
    network: Network | None = None
    """null = as the blueprint says, and none without one"""
    gateways: GatewayShapes | None = None
    """environment variable of the token -> gateway; NAME_URL is the variable of the address; null = as the blueprint
    says"""
    lease_id: Word | None = None
    """the sandbox ends with this lease; null = it lives until its lifetime is over"""


class StopBody(RequestBody):
    """How to end a sandbox."""

    grace_seconds: float = Field(0.0, ge=0, le=3600)


class ExtendBody(RequestBody):
    """How long a sandbox shall live from now on, at least."""

    seconds: float = Field(gt=0, lt=MOST_SECONDS)


class ExecBody(RequestBody):
    """A command. `argv` is executed as it is, without a shell."""

    argv: Arguments = Field(min_length=1)
    env: Variables = {}
    cwd: Path | None = None
    user: Annotated[str, Field(max_length=256)] | None = None
    """a name or number, perhaps with a group behind a colon; null = as the image says"""
    timeout_seconds: Annotated[float, Field(lt=MOST_SECONDS)] | None = None
    stdin: Base64 | None = None
    stdin_stream: bool = False
    output_bytes: int | None = Field(None, ge=0, le=MOST_BYTES)
    cpu_seconds: Annotated[float, Field(lt=MOST_SECONDS)] | None = None
    terminal: Annotated[list[Annotated[int, Field(le=65535)]], Field(min_length=2, max_length=2)] | None = None
    """[columns, rows]"""
    warm: bool | None = None
    guarded: bool = False


class ResizeBody(RequestBody):
    """A terminal's new size."""

    columns: int = Field(ge=1, le=65535)
    rows: int = Field(ge=1, le=65535)


class SignalBody(RequestBody):
    """A signal, by its number."""

    signal: int = Field(ge=1, le=64)


class LeaseBody(RequestBody):
    """A lease to open."""

    seconds: float = Field(ge=1, le=24 * 3600)


class DaemonShape(RequestBody):
    """A program that runs for as long as its sandbox."""

    name: Word
    command: Arguments = Field(min_length=1)
    """executed as it is, without a shell; it may also end well and leave a process behind"""
    ready: Arguments = []
    """run again and again until it exits with 0; empty = it is ready at once"""
    ready_seconds: Annotated[float, Field(gt=0, le=MOST_READY_SECONDS)] = 60.0
    """after which it never will be"""
    user: Annotated[str, Field(max_length=256)] | None = None
    """whom both run as; null = as the image says"""


class BlueprintBody(RequestBody):
    """A blueprint to create."""

    name: Word
    image: Word = "default"
    profile: Profile = "strict"
    """what programs may do inside; `machine` for an image"""
    packages: Words = []
    files: Files = {}
    env: Variables = {}
    warm: Words | None = None
    network: Network = "none"
    """what its sandboxes may reach, where they do not say that themselves"""
    gateways: GatewayShapes = {}
    """gateways of its sandboxes, where they do not say that themselves"""
    daemons: Annotated[list[DaemonShape], Field(max_length=MOST_DAEMONS)] = []
    """programs that each sandbox starts before any other, in this order"""
    limits: LimitsShape = LimitsShape()
    """limits of its sandboxes; one that is as by default says nothing, and a sandbox that asks for another has that"""
    recipe: Annotated[str, Field(max_length=MOST_RECIPE_CHARACTERS)] = ""
    """what its file said, kept for people"""
    log: Annotated[str, Field(max_length=MOST_LOG_CHARACTERS)] = ""
    """the end of what the build of its image has said, likewise"""


class ProblemAnswer(BaseModel):
    """RFC 9457, with a `code` from `harena.core.problems`."""

    model_config = ConfigDict(extra="allow")

    type: str
    title: str
    status: int
    detail: str
    code: str = Field(json_schema_extra={"enum": [problem.code for problem in PROBLEMS]})
    request_id: str | None = None
    reason: str | None = None


class ScenarioFile(RequestBody):
    """A scenario file's content; its name's ending says whether it is YAML, JSON or JSONL."""

    file_name: Path = Field(min_length=1)
    text: Text


def _told_apart(wanted: str) -> Discriminator:
    """A union whose members are told by their shape, so that what is wrong is told once, and of the right member."""

    def tag(given: Any) -> str | None:
        if isinstance(given, dict):
            shape = given.keys()
            file = "<file>" if shape & {"file_name", "text"} else "<mapping>"
            return "<lines>" if "lines" in shape and "lines" in wanted else file
        if isinstance(given, str) and "'oracle'" in wanted:
            return "<word>"
        return "<list>" if isinstance(given, list) else "<none>" if given is None and "null" in wanted else None

    return Discriminator(tag, custom_error_type="shape", custom_error_message=f"must be {wanted}")


def _any_of(schema: dict[str, Any]) -> None:
    """A file is a mapping, too: more than one member may fit what is documented."""
    schema["anyOf"] = schema.pop("oneOf")


class LinesBody(RequestBody):
    """Lines that follow."""

    lines: int = Field(ge=0, le=1 << 40)
    file_name: Path | None = Field(None, min_length=1)
    """null = each is a row, and they are no file"""


class LinesFile(RequestBody):
    """The file that the lines are of."""

    file_name: Path = Field(min_length=1)


class AnyJobBody(RequestBody):
    """A benchmark job to start, but for its scenarios."""

    name: Text = Field(min_length=1, max_length=200)
    format: Word | None = Field(None, min_length=1)
    """format of `scenarios`; null = recognised by its shape"""
    grader: Mapping | None = None
    """grader of rows that hold none of their own"""
    blueprint_id: Word | None = Field(None, min_length=1)
    """null = `default`, or `python-warm` for a data set of Python programs"""
    config: JobConfig = JobConfig()
    webhook: JobWebhook | None = None
    """is told of the job's end"""


class JobLinesBody(AnyJobBody):
    """The first line of a benchmark job whose scenarios are the lines that follow."""

    scenarios: LinesFile | None = None
    """null = each line is a row, and they are no file"""
    candidates: Annotated[
        Annotated[Literal["oracle", "nop"], Tag("<word>")]
        | Annotated[LinesBody, Tag("<lines>")]
        | Annotated[ScenarioFile, Tag("<file>")]
        | Annotated[Rows, Tag("<list>")]
        | Annotated[Mapping, Tag("<mapping>")]
        | Annotated[None, Tag("<none>")],
        _told_apart(
            "'oracle', 'nop', {lines, file_name}, {file_name, text}, a list of answers, a mapping of them or null"
        ),
    ] = None
    """lines that come before the scenarios; or as in a body of JSON"""


class JobBody(AnyJobBody):
    """A benchmark job to start."""

    scenarios: Annotated[
        Annotated[ScenarioFile, Tag("<file>")] | Annotated[Rows, Tag("<list>")] | Annotated[Mapping, Tag("<mapping>")],
        _told_apart("{file_name, text}, a list of scenarios or a mapping with them"),
        Field(json_schema_extra=_any_of),
    ]
    """a file, the scenarios themselves, or a whole file's content as a mapping"""
    candidates: Annotated[
        Annotated[Literal["oracle", "nop"], Tag("<word>")]
        | Annotated[ScenarioFile, Tag("<file>")]
        | Annotated[Rows, Tag("<list>")]
        | Annotated[Mapping, Tag("<mapping>")]
        | Annotated[None, Tag("<none>")],
        _told_apart("'oracle', 'nop', {file_name, text}, a list of answers, a mapping or null"),
        Field(json_schema_extra=_any_of),
    ] = None
    """the answers to a data set, likewise; or its own solutions, or answers that do nothing"""


class KeyBody(RequestBody):
    """An API key to make, for the caller's workspace."""

    name: Word
    scopes: Annotated[list[Literal["read", "write", "admin", "publish"]], AtMost(10)] = Field(min_length=1)


class KeysAnswer(Answer):
    """One page of a workspace's keys, oldest first. No `Record`: the keys of a record are its fields."""

    keys: Annotated[list[ApiKey], Field(max_length=MOST_PAGE)]
    next_cursor: str | None
    """null = this was the last page"""
