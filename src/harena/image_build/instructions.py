"""Instructions of a Dockerfile as typed values. Variables in them are expanded later, when their values are known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from harena.image_build.lines import HereDocument

Words = tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """What all instructions have."""

    line: int
    """number of its first line"""
    text: str
    """the instruction as it is written, for people"""


@dataclass(frozen=True, slots=True, kw_only=True)
class From(Written):
    """Begins a stage."""

    image: str
    name: str
    """in lower case; "" = none"""
    platform: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Arg(Written):
    """Variables of a build, each with its default (None = it has none)."""

    variables: tuple[tuple[str, str | None], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Env(Written):
    """Variables of the image; values with their quotes."""

    variables: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Label(Written):
    """Labels of the image; names and values with their quotes."""

    labels: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Mount:
    """One `--mount` of RUN; its values are not expanded."""

    kind: str
    """bind, cache, secret or tmpfs"""
    options: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """What RUN, CMD and ENTRYPOINT start."""

    words: Words
    """the words of the exec form; in the shell form one text"""
    is_shell: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Run(Written):
    """Runs a command, whose changes make a layer."""

    command: Command
    script: HereDocument | None
    """the whole command is this here-document"""
    mounts: tuple[Mount, ...]
    network: str
    """default or none"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Copy(Written):
    """COPY and ADD."""

    adds: bool
    """it is ADD: archives are unpacked"""
    sources: Words
    destination: str
    documents: tuple[HereDocument, ...]
    """here-documents among the sources"""
    from_: str
    """name or number of a stage, or an image; "" = the context"""
    owner: str
    mode: str
    links: bool
    keeps_parents: bool
    excludes: Words
    unpacks: bool | None
    """None = as the instruction does"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Workdir(Written):
    """Changes the working directory, which is made where it is missing."""

    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class User(Written):
    """Changes the user."""

    user: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Start(Written):
    """CMD and ENTRYPOINT."""

    is_entrypoint: bool
    command: Command


@dataclass(frozen=True, slots=True, kw_only=True)
class Expose(Written):
    """Ports that programs of the image listen at; nothing is opened."""

    ports: Words


@dataclass(frozen=True, slots=True, kw_only=True)
class Volume(Written):
    """Places that are volumes elsewhere; a sandbox has them as any other directory."""

    paths: Words


@dataclass(frozen=True, slots=True, kw_only=True)
class StopSignal(Written):
    """The signal that ends the image's program."""

    signal: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Shell(Written):
    """The program of the shell form."""

    words: Words


@dataclass(frozen=True, slots=True, kw_only=True)
class Health(Written):
    """HEALTHCHECK."""

    command: Command | None
    """None = NONE: there is no check"""
    options: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class OnBuild(Written):
    """An instruction for the images that are built from this one."""

    instruction: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Maintainer(Written):
    """An old form of a label."""

    name: str


@dataclass(frozen=True, slots=True)
class Stage:
    """FROM, and what follows it."""

    number: int
    base: From
    instructions: Sequence[Written]


@dataclass(frozen=True, slots=True)
class Dockerfile:
    """A file that was read."""

    escape: str
    arguments: Sequence[Arg]
    """ARG before the first FROM"""
    stages: Sequence[Stage]
