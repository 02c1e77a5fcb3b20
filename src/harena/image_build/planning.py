"""What a Dockerfile asks for, as typed steps of stages. Nothing here reads a disk: the same text and the same base
images give the same plan."""

from __future__ import annotations

import posixpath
import re
from collections import ChainMap
from collections.abc import Callable, Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass, field, replace

from harena.core.errors import ValidationError
from harena.core.image_configs import HealthCheck, ImageConfig
from harena.core.images import DIGEST_PATTERN, parse_reference
from harena.core.snapshots import SCHEME, checked_snapshot, snapshot_in
from harena.image_build.faults import DockerfileError, fault, shown
from harena.image_build.instructions import (
    Arg,
    Command,
    Copy,
    Dockerfile,
    Env,
    Expose,
    From,
    Health,
    Label,
    Maintainer,
    Mount,
    OnBuild,
    Run,
    Shell,
    Stage,
    Start,
    StopSignal,
    User,
    Volume,
    Workdir,
    Written,
)
from harena.image_build.reading import read_triggers
from harena.image_build.words import Expanded, WordError, expanded, expanded_text

SCRATCH = "scratch"
PREDEFINED = frozenset(
    name
    for plain in ("http_proxy", "https_proxy", "ftp_proxy", "no_proxy", "all_proxy")
    for name in (plain, plain.upper())
)
"""arguments that RUN has without an ARG, if the build is given them; they do not count for the cache"""
EPOCH = "SOURCE_DATE_EPOCH"
"""the argument that says a time in seconds since 1970; what RUN writes gets no later one. RUN has it where an ARG names
it"""
_MOST_EPOCH = 1 << 33
"""the year 2242: what a layer's header holds without an extension"""
DEFAULT_SHELL = ("/bin/sh", "-c")
DEFAULT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
MOST_ENVIRONMENT = 128 * 1024
"""characters of all variables of an image"""
MOST_VARIABLES = 1000
"""variables, labels, volumes or ONBUILD of an image, or arguments of a stage; each step has all of them"""
MOST_LAYERS = 250
_MOST_WORKDIR, _MOST_WORKDIR_PARTS = 200, 16
_MOST_PORTS = 5000
_UNITS = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9, "m": 60 * 10**9, "h": 3600 * 10**9}
_SIGNAL = re.compile(r"(?:SIG)?[A-Z0-9+-]{1,20}")
_PORT = re.compile(r"([0-9]{1,5})(?:-([0-9]{1,5}))?(?:/(tcp|udp|sctp))?")


@dataclass(frozen=True, slots=True)
class ImageSource:
    """Where a stage, or `--from`, begins: another stage, an image, or nothing."""

    stage: int | None = None
    reference: str = ""
    """in full; "" = another stage or nothing"""

    @property
    def is_scratch(self) -> bool:
        """There is nothing."""
        return self.stage is None and not self.reference


@dataclass(frozen=True, slots=True)
class InlineFile:
    """A file whose content stands in the Dockerfile."""

    name: str
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One step that makes a layer, with what holds while it is made."""

    line: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MountStep:
    """A mount of RUN."""

    kind: str
    target: str
    source: str = ""
    from_: ImageSource | None = None
    """None = the context (or, for a cache, nothing)"""
    id: str = ""
    required: bool = False
    mode: int | None = None
    uid: int = 0
    gid: int = 0
    variable: str = ""
    """the secret is in this variable, too"""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStep(Step):
    """A command in a sandbox of the image so far."""

    argv: tuple[str, ...]
    script: str | None
    """content of a file, whose path stands last in `argv` then: see `SCRIPT`"""
    environment: Mapping[str, str]
    hidden: Mapping[str, str]
    """more variables, which do not count for the cache"""
    workdir: str
    user: str
    mounts: tuple[MountStep, ...]
    has_network: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class CopyStep(Step):
    """Files that come into the image."""

    sources: tuple[str, ...]
    destination: str
    """absolute; a / at its end = it is a directory"""
    files: tuple[InlineFile, ...]
    from_: ImageSource | None
    """None = the context"""
    owner: str
    mode: int | None
    keeps_parents: bool
    excludes: tuple[str, ...]
    unpacks: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderStep(Step):
    """WORKDIR: a directory that is made where it is missing."""

    path: str
    owner: str


LayerStep = RunStep | CopyStep | FolderStep


@dataclass(frozen=True, slots=True)
class StagePlan:
    """The steps of a stage, and what its image says of its programs at each."""

    steps: Sequence[tuple[LayerStep, ImageConfig]]
    config: ImageConfig
    """at its end"""


@dataclass(frozen=True, slots=True)
class BuildOptions:
    """How a Dockerfile is built: what the caller has chosen."""

    arguments: Mapping[str, str] = field(default_factory=dict)
    target: str = ""
    """name or number of a stage; "" = the last one"""
    platform: str = "linux/amd64"

    @property
    def newest_seconds(self) -> int | None:
        """The latest time that files of RUN get, in seconds since 1970; None = each keeps its own."""
        given = self.arguments.get(EPOCH)
        return None if given is None else int(given)


@dataclass(frozen=True, slots=True)
class BuildPlan:
    """Which stages are built, in their order, and where each begins."""

    dockerfile: Dockerfile
    options: BuildOptions
    globals: Mapping[str, str]
    """arguments before the first FROM, with their values"""
    bases: Mapping[int, ImageSource]
    needed: Sequence[int]
    """numbers of stages; the last one is the target"""
    taken: Expanded
    """what its words have taken so far"""

    @property
    def stage_names(self) -> Mapping[str, int]:
        """Names of stages, with their numbers."""
        return {stage.base.name: stage.number for stage in self.dockerfile.stages if stage.base.name}

    @property
    def references(self) -> frozenset[str]:
        """Images that stages begin with."""
        return frozenset(self.bases[number].reference for number in self.needed if self.bases[number].reference)


SCRIPT = "/dev/shm/.harena-build-script"


def plan_build(dockerfile: Dockerfile, options: BuildOptions) -> BuildPlan:
    """Raises DockerfileError."""
    automatic = _automatic(options.platform)
    values: dict[str, str] = {}
    known = ChainMap(values, automatic)
    taken = Expanded()
    for argument in dockerfile.arguments:
        for name, default in argument.variables:
            value = options.arguments.get(name)
            if value is None and default is not None:
                value = _expand(argument, default, known, dockerfile.escape, taken)
            if value is None:
                value = automatic.get(name)
            if value is not None:
                values[name] = value
    stages = dockerfile.stages
    names: dict[str, int] = {}
    bases: dict[int, ImageSource] = {}
    needs: dict[int, set[int]] = {}
    for stage in stages:
        base = _source(stage.base, _from_value(stage.base, known, dockerfile.escape, taken), names, stage)
        _check_platform(stage.base, options, known, dockerfile.escape, taken)
        bases[stage.number] = base
        needs[stage.number] = {base.stage} if base.stage is not None else set()
        for one in stage.instructions:
            needs[stage.number].update(_stages_of(one, names, stage))
        if stage.base.name:
            names[stage.base.name] = stage.number
    target = _target(options, names, len(stages))
    found: set[int] = set()
    waiting = [target]
    while waiting:
        number = waiting.pop()
        if number not in found:
            found.add(number)
            waiting += needs[number]
    _check_arguments(dockerfile, options)
    return BuildPlan(dockerfile, options, {**automatic, **values}, bases, sorted(found), taken)


def plan_stage(plan: BuildPlan, number: int, base: ImageConfig) -> StagePlan:
    """The steps of one stage above the image that it begins with. Raises DockerfileError."""
    stage = plan.dockerfile.stages[number]
    planner = _StagePlanner(plan, stage, replace(base, on_build=[]))
    for one in (*read_triggers(base.on_build, stage.base.line), *stage.instructions):
        planner.add(one)
    return StagePlan(planner.steps, planner.config)


def _automatic(platform: str) -> dict[str, str]:
    system, _, architecture = platform.partition("/")
    return {
        f"{whose}{name}": value
        for whose in ("BUILD", "TARGET")
        for name, value in (
            ("PLATFORM", platform),
            ("OS", system),
            ("ARCH", architecture),
            ("VARIANT", ""),
        )
    }


def _expand(one: Written, text: str, variables: Mapping[str, str], escape: str, taken: Expanded) -> str:
    try:
        return expanded(text, variables, escape, taken)
    except WordError as error:
        raise fault(one.line, _name_of(one), f"{shown(text)} cannot be read: {error}", "Correct it.") from None


def _name_of(one: Written) -> str:
    return one.text.split(maxsplit=1)[0]


def _from_value(one: From, variables: Mapping[str, str], escape: str, taken: Expanded) -> str:
    image = _expand(one, one.image, variables, escape, taken)
    if not image:
        raise fault(
            one.line, "FROM", f"{shown(one.image)} is empty", "Give the ARG a default, or the build a --build-arg."
        )
    return image


def _check_platform(
    one: From, options: BuildOptions, variables: Mapping[str, str], escape: str, taken: Expanded
) -> None:
    platform = _expand(one, one.platform, variables, escape, taken) if one.platform else ""
    if platform and not f"{platform}/".startswith(f"{options.platform}/"):
        raise fault(
            one.line, "FROM", f"it asks for {shown(platform)}, and programs of {options.platform} run here",
            "Leave --platform out.",
        )  # fmt: skip


def _source(
    one: Written, image: str, names: Mapping[str, int], stage: Stage, *, may_be_number: bool = False
) -> ImageSource:
    if image.lower() in names:
        return ImageSource(stage=names[image.lower()])
    if may_be_number and image.isdecimal():
        if int(image[:9]) >= stage.number:
            raise fault(one.line, _name_of(one), f"there is no stage {image} before this one", "Name an earlier stage.")
        return ImageSource(stage=int(image))
    if image == SCRATCH:
        return ImageSource()
    if re.fullmatch(DIGEST_PATTERN, image):
        return ImageSource(reference=image)
    try:
        if (snapshot := snapshot_in(image)) is not None:
            return ImageSource(reference=f"{SCHEME}{checked_snapshot(snapshot)}")
        return ImageSource(reference=str(parse_reference(image)))
    except ValidationError as error:
        raise fault(one.line, _name_of(one), str(error), "Correct the name.") from None


def _stages_of(one: Written, names: Mapping[str, int], stage: Stage) -> Iterator[int]:
    """Earlier stages that an instruction copies from."""
    given: list[str] = []
    if isinstance(one, Copy) and one.from_:
        given.append(one.from_)
    elif isinstance(one, Run):
        given += [mount.options["from"] for mount in one.mounts if mount.options.get("from")]
    for name in given:
        if "$" in name:
            if isinstance(one, Copy):
                yield from (number for number in range(stage.number))  # its value is known later
            continue
        if name.lower() == stage.base.name and stage.base.name:
            raise fault(one.line, _name_of(one), f"{shown(name)} is this stage itself", "Name an earlier stage.")
        found = _source(one, name, names, stage, may_be_number=True)
        if found.stage is not None:
            yield found.stage


def _target(options: BuildOptions, names: Mapping[str, int], count: int) -> int:
    if not options.target:
        return count - 1
    if options.target.lower() in names:
        return names[options.target.lower()]
    if options.target.isdecimal() and int(options.target[:9]) < count:
        return int(options.target)
    known = ", ".join(sorted(names)) or "none that has a name"
    raise DockerfileError(f"the Dockerfile has no stage {shown(options.target)}; it has {known}", reason="DOCKERFILE")


def _check_arguments(dockerfile: Dockerfile, options: BuildOptions) -> None:
    known = {name for argument in dockerfile.arguments for name, _ in argument.variables} | PREDEFINED
    for stage in dockerfile.stages:
        for one in stage.instructions:
            if isinstance(one, Arg):
                known |= {name for name, _ in one.variables}
    known |= {*_automatic("")} | {EPOCH, "BUILDKIT_INLINE_CACHE"}
    epoch = options.arguments.get(EPOCH, "0")
    if not (epoch.isascii() and epoch.isdecimal() and len(epoch) < 20 and int(epoch) < _MOST_EPOCH):
        raise DockerfileError(
            f"the argument {EPOCH} must be a whole number of seconds since 1970, below {_MOST_EPOCH}, and is "
            f"{shown(epoch)}",
            reason="DOCKERFILE",
        )
    for name in options.arguments:
        if name not in known:
            raise DockerfileError(
                f"the build has an argument {shown(name)}, and the Dockerfile has no ARG of this name",
                reason="DOCKERFILE",
            )


class _StagePlanner:
    """Goes through a stage, one instruction after the other."""

    def __init__(self, plan: BuildPlan, stage: Stage, base: ImageConfig) -> None:
        self._plan = plan
        self._stage = stage
        self._escape = plan.dockerfile.escape
        self.config = base
        self.steps: list[tuple[LayerStep, ImageConfig]] = []
        self._arguments: dict[str, str] = {}
        self._names = {name: number for name, number in plan.stage_names.items() if number < stage.number}
        self._had_command = False

    def add(self, one: Written) -> None:
        """Take one instruction."""
        handler: Callable[[_StagePlanner, Written], None] = _HANDLERS[type(one)]
        handler(self, one)

    @property
    def _variables(self) -> Mapping[str, str]:
        return ChainMap(self.config.environment, self._arguments, {"PATH": DEFAULT_PATH})

    def _text(self, one: Written, text: str) -> str:
        return _expand(one, text, self._variables, self._escape, self._plan.taken)

    def _layer(self, step: LayerStep) -> None:
        if len(self.steps) == MOST_LAYERS:
            raise fault(
                self._stage.base.line,
                "FROM",
                f"the stage has more than {MOST_LAYERS} layers",
                "Join some of its steps.",
            )
        self.steps.append((step, self.config))

    def _check_count(self, one: Written, made: Sized) -> None:
        if len(made) > MOST_VARIABLES:
            raise fault(one.line, _name_of(one), f"there are more than {MOST_VARIABLES}, all together", "Have fewer.")

    def _change(self, **changes: object) -> None:
        self.config = replace(self.config, **changes)  # type: ignore[arg-type]

    def arg(self, one: Arg) -> None:
        for name, default in one.variables:
            given = self._plan.options.arguments.get(name)
            if given is None and default is not None:
                given = self._text(one, default)
            if given is None:
                given = self._plan.globals.get(name)
            if given is not None:
                self._arguments[name] = given
        self._check_count(one, self._arguments)

    def env(self, one: Env) -> None:
        before = self._variables  # a line sees the values of the lines before it
        made = dict(self.config.environment)
        for name, value in one.variables:
            name = _expand(one, name, before, self._escape, self._plan.taken)
            if not name or "=" in name or "\0" in name:
                raise fault(one.line, "ENV", f"{shown(name)} is no name of a variable", "Write NAME=VALUE.")
            made[name] = _expand(one, value, before, self._escape, self._plan.taken)
        self._check_count(one, made)
        if sum(len(name) + len(value) + 1 for name, value in made.items()) > MOST_ENVIRONMENT:
            raise fault(one.line, "ENV", f"all variables have more than {MOST_ENVIRONMENT} characters", "Shorten them.")
        self._change(environment=made)

    def label(self, one: Label) -> None:
        made = dict(self.config.labels)
        for name, value in one.labels:
            made[self._text(one, name)] = self._text(one, value)
        self._check_count(one, made)
        if sum(len(name) + len(value) for name, value in made.items()) > MOST_ENVIRONMENT:
            raise fault(one.line, "LABEL", f"all labels have more than {MOST_ENVIRONMENT} characters", "Shorten them.")
        self._change(labels=made)

    def workdir(self, one: Workdir) -> None:
        path = posixpath.normpath(posixpath.join("/", self.config.workdir, self._text(one, one.path)))
        path = f"/{path.lstrip('/')}"
        if len(path) > _MOST_WORKDIR or path.count("/") > _MOST_WORKDIR_PARTS:
            raise fault(
                one.line, "WORKDIR", f"it has more than {_MOST_WORKDIR} characters or {_MOST_WORKDIR_PARTS} parts",
                "Use a shorter path.",
            )  # fmt: skip
        self._change(workdir=path)
        self._layer(FolderStep(line=one.line, text=one.text, path=path, owner=self.config.user))

    def user(self, one: User) -> None:
        self._change(user=self._text(one, one.user))

    def start(self, one: Start) -> None:
        words = list(self._with_shell(one.command))
        if one.is_entrypoint:
            # the command of the base image is one for its own entry point
            self._change(entrypoint=words, command=self.config.command if self._had_command else [])
        else:
            self._had_command = True
            self._change(command=words)

    def expose(self, one: Expose) -> None:
        made = dict.fromkeys(self.config.exposed)
        for word in one.ports:
            for port in self._text(one, word).split():
                found = _PORT.fullmatch(port.lower())
                first, last = (int(found[1]), int(found[2] or found[1])) if found else (0, 0)
                if not found or not 0 < first <= last < 1 << 16 or last - first > 1000:
                    raise fault(one.line, "EXPOSE", f"{shown(port)} is no port", "Write 80, 80/udp or 8000-8010.")
                made |= dict.fromkeys(f"{number}/{found[3] or 'tcp'}" for number in range(first, last + 1))
            if len(made) > _MOST_PORTS:
                raise fault(one.line, "EXPOSE", f"there are more than {_MOST_PORTS} ports, all together", "Have fewer.")
        self._change(exposed=list(made))

    def volume(self, one: Volume) -> None:
        made = dict.fromkeys([*self.config.volumes, *(self._text(one, path) for path in one.paths)])
        self._check_count(one, made)
        self._change(volumes=list(made))

    def stop_signal(self, one: StopSignal) -> None:
        signal = self._text(one, one.signal)
        if not _SIGNAL.fullmatch(signal):
            raise fault(one.line, "STOPSIGNAL", f"{shown(signal)} is no signal", "Write SIGTERM or a number.")
        self._change(stop_signal=signal)

    def shell(self, one: Shell) -> None:
        self._change(shell=list(one.words))

    def health(self, one: Health) -> None:
        if one.command is None:
            self._change(health=HealthCheck(test=["NONE"]))
            return
        kind = "CMD-SHELL" if one.command.is_shell else "CMD"
        times = {name: _nanoseconds(value) for name, value in one.options.items() if name != "retries"}
        self._change(
            health=HealthCheck(
                test=[kind, *one.command.words],
                interval=times.get("interval"),
                timeout=times.get("timeout"),
                start_period=times.get("start-period"),
                start_interval=times.get("start-interval"),
                retries=int(one.options["retries"]) if "retries" in one.options else None,
            )
        )

    def on_build(self, one: OnBuild) -> None:
        made = [*self.config.on_build, one.instruction]
        self._check_count(one, made)
        self._change(on_build=made)

    def maintainer(self, one: Maintainer) -> None:
        self._change(labels={**self.config.labels, "maintainer": one.name})

    def run(self, one: Run) -> None:
        given = self._plan.options.arguments
        environment = dict(self._variables)
        hidden = {name: given[name] for name in PREDEFINED if name in given and name not in environment}
        argv, script = self._argv(one)
        self._layer(
            RunStep(
                line=one.line,
                text=one.text,
                argv=argv,
                script=script,
                environment=environment,
                hidden=hidden,
                workdir=self.config.workdir or "/",
                user=self.config.user,
                mounts=tuple(self._mount(one, mount) for mount in one.mounts),
                has_network=one.network != "none",
            )
        )

    def _argv(self, one: Run) -> tuple[tuple[str, ...], str | None]:
        if one.script is None:
            return self._with_shell(one.command), None
        content = one.script.content
        if content.startswith("#!"):
            return (SCRIPT,), content
        return (*(self.config.shell or DEFAULT_SHELL), content), None

    def _with_shell(self, command: Command) -> tuple[str, ...]:
        return (*(self.config.shell or DEFAULT_SHELL), *command.words) if command.is_shell else command.words

    def _mount(self, one: Run, mount: Mount) -> MountStep:
        options = {name: self._text(one, value) for name, value in mount.options.items()}
        target = options.get("target", "")
        if mount.kind == "secret" and not target:
            target = "" if options.get("env") else f"/run/secrets/{options['id'].rpartition('/')[2]}"
        if target:
            target = _absolute(self.config.workdir, target)
            if target in ("/", "/dev", "/proc") or target.startswith(("/dev/", "/proc/")):
                raise fault(one.line, "RUN", f"nothing can be mounted at {shown(target)}", "Choose another target.")
        from_ = options.get("from")
        return MountStep(
            kind=mount.kind,
            target=target,
            source=options.get("source", ""),
            from_=_source(one, from_, self._names, self._stage, may_be_number=True) if from_ else None,
            id=options.get("id") or (target if mount.kind == "cache" else target.rpartition("/")[2]),
            required=bool(options.get("required")),
            mode=int(options["mode"], 8) if options.get("mode") else None,
            uid=int(options.get("uid") or 0),
            gid=int(options.get("gid") or 0),
            variable=options.get("env", ""),
        )

    def copy(self, one: Copy) -> None:
        name = _name_of(one)
        from_ = self._text(one, one.from_) if one.from_ else ""
        sources = tuple(self._text(one, source) for source in one.sources)
        for source in sources:
            if not from_ and _climbs(source):
                raise fault(
                    one.line, name, f"{shown(source)} lies outside of the context",
                    "Begin the build in a directory that holds it.",
                )  # fmt: skip
        given = self._text(one, one.destination)
        destination = _absolute(self.config.workdir, given)
        if given.endswith(("/", "/.")) or given in (".", ""):
            destination = destination.rstrip("/") + "/"
        for document in one.documents:
            if not document.name or document.name in (".", "..") or "/" in document.name or len(document.name) > 255:
                raise fault(
                    one.line, name, f"{shown(document.name)} is no name of a file",
                    "A here-document comes into the image under its name: choose another.",
                )  # fmt: skip
        files = tuple(
            self._inline(one, document.name, document.content, document.expands) for document in one.documents
        )
        if len(sources) + len(files) > 1 and not destination.endswith("/"):
            raise fault(one.line, name, "several sources need a directory", f"Write {given}/ with a / at its end.")
        mode = self._text(one, one.mode) if one.mode else ""
        if mode and not re.fullmatch(r"[0-7]{1,4}", mode):
            raise fault(one.line, name, f"--chmod={shown(mode)} is no mode", "Write octal digits, as 755.")
        self._layer(
            CopyStep(
                line=one.line,
                text=one.text,
                sources=sources,
                destination=destination,
                files=files,
                from_=_source(one, from_, self._names, self._stage, may_be_number=True) if from_ else None,
                owner=self._text(one, one.owner) if one.owner else "",
                mode=int(mode, 8) if mode else None,
                keeps_parents=one.keeps_parents,
                excludes=tuple(self._text(one, pattern) for pattern in one.excludes),
                unpacks=one.adds if one.unpacks is None else one.unpacks,
            )
        )

    def _inline(self, one: Copy, name: str, content: str, expands: bool) -> InlineFile:
        if not expands:
            return InlineFile(name, content)
        try:
            return InlineFile(name, expanded_text(content, self._variables, self._escape, self._plan.taken))
        except WordError as error:
            raise fault(one.line, _name_of(one), f"{shown(name)} cannot be read: {error}", "Quote its name.") from None


def _absolute(workdir: str, path: str) -> str:
    joined = posixpath.normpath(posixpath.join("/", workdir, path))
    return f"/{joined.lstrip('/')}"


def _climbs(source: str) -> bool:
    depth = 0
    for part in source.split("/"):
        depth += -1 if part == ".." else 0 if part in ("", ".") else 1
        if depth < 0:
            return True
    return False


def _nanoseconds(text: str) -> int:
    return int(sum(float(number) * _UNITS[unit] for number, unit in re.findall(r"([0-9.]+)(ns|us|ms|s|m|h)", text)))


_HANDLERS: Mapping[type[Written], Callable[..., None]] = {
    Arg: _StagePlanner.arg,
    Copy: _StagePlanner.copy,
    Env: _StagePlanner.env,
    Expose: _StagePlanner.expose,
    Health: _StagePlanner.health,
    Label: _StagePlanner.label,
    Maintainer: _StagePlanner.maintainer,
    OnBuild: _StagePlanner.on_build,
    Run: _StagePlanner.run,
    Shell: _StagePlanner.shell,
    Start: _StagePlanner.start,
    StopSignal: _StagePlanner.stop_signal,
    User: _StagePlanner.user,
    Volume: _StagePlanner.volume,
    Workdir: _StagePlanner.workdir,
}
