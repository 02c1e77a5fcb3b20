"""`blueprint.yaml`: a blueprint as a file says it, read and checked once, and the build that makes its image.

    name: web-agent
    base: debian:12                 # an image; {blueprint: NAME}, {snapshot: NAME} or host
    packages:
      system: [curl, git]           # apt-get
      pip: requirements.lock        # lines as `requests==2.32.3 --hash=sha256:...`; on the host a list of requirements
      npm: package-lock.json        # with package.json beside it
    files:
      /etc/app.conf: {from: app.conf, mode: "0640"}
      /etc/motd: "a text\\n"
    env: {LANG: C.UTF-8}
    build:
      commands: ["make -C /src install"]
      network: [pypi, apt]
      secrets: [token]              # /run/secrets/token while the commands run, and in no layer
    user: agent
    workdir: /home/agent
    network: {allow: [pypi]}        # of its sandboxes
    gateways: {HUB: {url: "https://api.example.org", secret: HUB_TOKEN}}
    limits: {cpu: 2, memory_mb: 2048, disk_mb: 4096, pids: 512}
    daemons:
      - {name: redis, command: [redis-server], ready: [redis-cli, ping]}
    profile: machine

A recipe on an image becomes the text of a Dockerfile, so that there is one reader and one plan of builds. What is
wrong is told with the place in the file, before anything is built.
"""

from __future__ import annotations

import hashlib
import json
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

from harena.core.checked import check_absolute, encodable, quote
from harena.core.daemons import Daemon, read_daemons
from harena.core.errors import ValidationError
from harena.core.gateways import Gateway, read_gateways
from harena.core.images import parse_reference
from harena.core.models import MIB
from harena.core.network_policy import NO_NETWORK, NetworkPolicy, policy_in_words, read_policy
from harena.core.profiles import Profile, checked_profile
from harena.core.records.sandboxes import NO_LIMITS_SAID, Limits
from harena.core.snapshots import checked_snapshot

MOST_ENTRIES = 1000
"""entries of one list or mapping of a file"""
MOST_RECIPE_BYTES = 1024 * 1024
"""size of a file"""
FOR_INSTALLERS = (
    *("/etc/apt/", "/etc/ca-certificates/", "/etc/npmrc", "/etc/pip.conf", "/etc/pki/", "/etc/ssl/"),
    *("/root/.config/pip/", "/root/.netrc", "/root/.npmrc", "/root/.pip/", "/usr/local/etc/npmrc"),
    "/usr/local/share/ca-certificates/",
)
"""files below these come before packages are installed; a change of others installs nothing anew"""
BaseKind = Literal["host", "image", "blueprint", "snapshot"]

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_VERSION = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._+-]{0,63}")
_SYSTEM = re.compile(r"[a-z0-9][a-z0-9+.-]*(:[a-z0-9-]+)?(=[A-Za-z0-9.+:~-]+)?")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_MODE = re.compile(r"0?[0-7]{3,4}")
_SECRET = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
_SO_FAR = re.compile(r"\$\{PATH\}|\$PATH(?![A-Za-z0-9_])")
_FAULT = re.compile(r"Dockerfile line (?P<line>[0-9]+): (?P<word>[A-Z]+): (?P<what>.*)", re.DOTALL)
_IN_LOG = " What it said stands in the build's log."
_TOLD = 300
"""characters of what a command has said that an error shows"""
_USER = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*(:[A-Za-z0-9_][A-Za-z0-9_.-]*)?")
_CONTENTS = ".harena-blueprint"
"""folder of a build's context with the contents that a recipe itself holds"""
_LOCK = "/tmp/.harena-blueprint"
_SHELL = ("/bin/sh", "-ec")
_LIMITS = ("cpu", "memory_mb", "disk_mb", "pids")
_MOST_MB = 1 << 30
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True, kw_only=True)
class RecipeFile:
    """A file that a recipe puts into its image."""

    content: bytes | None = None
    """what it holds; None = it is copied"""
    source: str = ""
    """a path beside the recipe that is copied, a directory perhaps"""
    mode: str = ""
    """octal digits; empty = 0644, or that of what is copied"""


@dataclass(frozen=True, slots=True, kw_only=True)
class BlueprintRecipe:
    """A blueprint as a file says it."""

    name: str
    version: str = ""
    """its author's own word for this state of it"""
    base_kind: BaseKind = "host"
    base: str = ""
    """the reference of an image, or the name of a blueprint or snapshot"""
    system: tuple[str, ...] = ()
    """packages of the distribution"""
    pip: tuple[str, ...] = ()
    """requirements, for the host's interpreter"""
    pip_lock: str = ""
    """a file of pinned requirements with hashes, beside the recipe"""
    npm_lock: str = ""
    """a package-lock.json beside the recipe, with its package.json"""
    files: Mapping[str, RecipeFile] = field(default_factory=dict)
    env: Mapping[str, str] = field(default_factory=dict)
    commands: tuple[str, ...] = ()
    """run by /bin/sh, one after the other, each a step: as root where `user` is said, else as the image's own user"""
    build_network: str = "none"
    """what these commands and the installation of packages may reach, in words"""
    build_secrets: tuple[str, ...] = ()
    """ids of secrets that the commands find below /run/secrets"""
    user: str = ""
    """whom programs of the sandboxes run as; empty = the image's own"""
    workdir: str = ""
    warm: tuple[str, ...] | None = None
    network: NetworkPolicy = NO_NETWORK
    gateways: tuple[Gateway, ...] = ()
    profile: Profile = "strict"
    daemons: tuple[Daemon, ...] = ()
    limits: Limits = NO_LIMITS_SAID
    """limits of its sandboxes; one that is as by default is not said"""

    @property
    def needs_build(self) -> bool:
        """It is made on an image."""
        return self.base_kind != "host"


def read_recipe(given: object) -> BlueprintRecipe:
    """The recipe that a file's content says. Raises ValidationError, which names the place."""
    asked = _mapping(given, "the file", _FIELDS)
    if "name" not in asked:
        raise ValidationError("name is missing: a blueprint has one, as `name: web-agent`")
    kind, base = _base(asked.get("base", "host"))
    packages = _mapping(asked.get("packages", {}), "packages", ("system", "pip", "npm"))
    build = _mapping(asked.get("build", {}), "build", ("commands", "network", "secrets"))
    pip = packages.get("pip", [])
    recipe = BlueprintRecipe(
        name=_fitting(asked["name"], "name", _NAME, "letters, digits, dots, dashes and underscores, 64 at most"),
        version=_fitting(_number_as_text(asked.get("version", "")), "version", _VERSION, "as 1.2", may_be_empty=True),
        base_kind=kind,
        base=base,
        system=_texts(packages.get("system", []), "packages.system", _SYSTEM, "the name of a package, as curl"),
        pip=() if isinstance(pip, str) else _texts(pip, "packages.pip"),
        pip_lock=_relative(pip, "packages.pip") if isinstance(pip, str) else "",
        npm_lock=_relative(packages["npm"], "packages.npm") if "npm" in packages else "",
        files={path: _file(path, one) for path, one in _any_mapping(asked.get("files", {}), "files").items()},
        env=_environment(asked.get("env", {})),
        commands=_texts(build.get("commands", []), "build.commands"),
        build_network=_in_words(build.get("network", "none")),
        build_secrets=_texts(build.get("secrets", []), "build.secrets", _SECRET, "an id, as token"),
        user=_fitting(asked.get("user", ""), "user", _USER, "as agent or 1000:1000", may_be_empty=True),
        workdir=_absolute(asked.get("workdir", "")),
        warm=None if asked.get("warm") is None else _texts(asked["warm"], "warm"),
        network=_read_field("network", read_policy, asked.get("network")),
        gateways=_read_field("gateways", read_gateways, asked.get("gateways")),
        profile=_read_field("profile", checked_profile, asked.get("profile", "strict")),
        daemons=_read_field("daemons", read_daemons, asked.get("daemons")),
        limits=_read_field("limits", _limits, asked.get("limits", {})),
    )
    _check_together(recipe)
    return recipe


def dockerfile_of(recipe: BlueprintRecipe, base: str, *, env: Mapping[str, str] | None = None) -> str:
    """The text of the Dockerfile that makes the recipe's image. `base`: the image that it begins with; `env`: variables
    that a blueprint adds to it."""
    return "".join(f"{line}\n" for _, line in _steps(recipe, base, env or {}))


def fault_in_words(told: str, said: str, recipe: BlueprintRecipe, env: Mapping[str, str]) -> str:
    """An error of the Dockerfile that a recipe becomes, in words of the recipe. `said`: what its commands have said;
    `env`: see `dockerfile_of`."""
    found = _FAULT.fullmatch(told)
    steps = _steps(recipe, "", env)
    if found is None or not 0 < int(found["line"]) <= len(steps):
        return told
    place = steps[int(found["line"]) - 1][0]
    if found["word"] != "RUN":
        return f"{place}: {found['what']}"
    last = next((line.strip() for line in reversed(said.splitlines()) if line.strip()), "")
    words = f"{place}: {found['what'].removesuffix(_IN_LOG)}"
    if last.isprintable() and last:
        words += f" It said last: {last[-_TOLD:]}"
    if place.startswith("packages.") and recipe.build_network == "none":
        words += " (nothing can be reached: say what may be, as `network: [apt, pypi, npm]` below `build`)"
    return words


def _steps(recipe: BlueprintRecipe, base: str, env: Mapping[str, str]) -> list[tuple[str, str]]:
    """(place in the recipe, line of the Dockerfile)."""
    steps = [("base", f"FROM {base}")]
    if recipe.user:
        steps.append(("user", "USER 0:0"))
    steps += [("base", _variable(name, value)) for name, value in env.items()]
    for name, value in recipe.env.items():
        steps.append((f"env.{name}", _path(value) if name == "PATH" else _variable(name, value)))
    first = {path: file for path, file in recipe.files.items() if path.startswith(FOR_INSTALLERS)}
    steps += [(f"files.{path}", _copy(path, file)) for path, file in first.items()]
    steps += _packages(recipe)
    steps += [(f"files.{path}", _copy(path, file)) for path, file in recipe.files.items() if path not in first]
    mounts = [f"type=secret,id={name},required=true" for name in recipe.build_secrets]
    steps += [(f"build.commands[{at}]", _run(command, mounts)) for at, command in enumerate(recipe.commands)]
    if recipe.workdir:  # behind the commands: one of them may make its user, and this folder as the user's home
        if recipe.user:
            place = shlex.quote(recipe.workdir)
            own = f"chown {recipe.user} {place} || chmod 777 {place}"  # the latter where a sandbox has one user
            steps.append(("workdir", _run(f"test -e {place} || {{ mkdir -p {place}; {own}; }}")))
        steps.append(("workdir", f"WORKDIR {_literal(recipe.workdir)}"))
    if recipe.user:
        steps.append(("user", f"USER {recipe.user}"))
        if not recipe.user.replace(":", "").isdecimal():
            steps.append(("user", _run(":")))  # fails where the image does not know the name
    if recipe.version:
        steps.append(("version", f"LABEL org.opencontainers.image.version={_literal(recipe.version)}"))
    return steps


def _packages(recipe: BlueprintRecipe) -> list[tuple[str, str]]:
    """(place in the recipe, line of the Dockerfile) of what is installed."""
    steps = []
    if recipe.system:
        install = f"apt-get install -y --no-install-recommends {' '.join(recipe.system)}"
        command = f"export DEBIAN_FRONTEND=noninteractive; apt-get update; {install}; rm -rf /var/lib/apt/lists/*"
        steps.append(("packages.system", _run(command)))
    if recipe.pip_lock:
        lock = f"{_LOCK}/requirements.lock"
        flags = "--no-cache-dir --no-compile --no-deps --only-binary :all: --require-hashes --break-system-packages"
        old = flags.removesuffix(" --break-system-packages")
        command = (
            f"{_needs('python3 -m pip --version', 'packages.pip', 'pip', 'python3-pip')}; "
            f"if python3 -m pip install --help | grep -q break-system-packages; "
            f"then python3 -m pip install {flags} -r {lock}; else python3 -m pip install {old} -r {lock}; fi"
        )
        steps.append(("packages.pip", _run(command, [f"type=bind,source={recipe.pip_lock},target={lock}"])))
    if recipe.npm_lock:
        folder, _, _ = recipe.npm_lock.rpartition("/")
        above = f"{folder}/" if folder else ""
        needs = _needs("npm --version", "packages.npm", "npm", "nodejs npm")
        lines = (
            f"COPY {json.dumps([f'{above}package.json', recipe.npm_lock, '/opt/npm/'])}",
            _run(f"{needs}; cd /opt/npm; npm ci --no-audit --no-fund; rm -rf /root/.npm"),
            'ENV NODE_PATH="/opt/npm/node_modules" PATH="/opt/npm/node_modules/.bin:$PATH"',
        )
        steps += [("packages.npm", line) for line in lines]
    return steps


def _needs(asked: str, field: str, program: str, packages: str) -> str:
    """Shell words that end a step, with what to do, where the image has not what the field needs."""
    told = f"{field}: the image has no {program}: add {packages} to packages.system, or take a base that has it"
    return f"{asked} > /dev/null 2>&1 || {{ echo '{told}' >&2; exit 1; }}"


def contents_of(recipe: BlueprintRecipe) -> dict[str, bytes]:
    """Files of the build's context that the recipe itself holds, by their paths."""
    return {_place(file.content): file.content for file in recipe.files.values() if file.content is not None}


def check_lock(text: str, where: str) -> None:
    """Raises ValidationError where a requirement of a lock has no hash, or does not name one version."""
    for line in text.replace("\\\n", " ").splitlines():
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        if line.startswith("-"):
            raise ValidationError(f"{where}: {quote(line)} is an option: a lock has requirements with hashes only")
        if "==" not in line or "--hash=sha256:" not in line:
            raise ValidationError(
                f"{where}: {quote(line)} is not pinned: write each requirement as NAME==VERSION --hash=sha256:..., as "
                "`pip-compile --generate-hashes` or `uv pip compile --generate-hashes` does"
            )


def check_npm_lock(text: str, where: str) -> None:
    """Raises ValidationError where a package of a package-lock.json has no hash."""
    try:
        packages = json.loads(text)["packages"]
        lacking = [
            place
            for place, one in packages.items()
            if place and not one.get("link") and not one.get("inBundle") and "integrity" not in one
        ]
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        raise ValidationError(f"{where} is no package-lock.json of npm 7 or later") from None
    if lacking:
        raise ValidationError(f"{where}: {quote(lacking[0])} has no integrity: have npm write the lock anew")


_FIELDS = (
    *("name", "version", "base", "packages", "files", "env", "build", "user", "workdir", "warm", "network"),
    *("gateways", "profile", "daemons", "limits"),
)


def _check_together(recipe: BlueprintRecipe) -> None:
    if recipe.needs_build:
        if recipe.pip:
            raise ValidationError(
                "packages.pip: an image takes a lock, as `pip: requirements.lock`; a list is for the base `host`"
            )
        if recipe.warm is not None:
            raise ValidationError("warm: only programs of the base `host` can be kept warm; leave it out")
        return
    for where, given in (
        ("packages.system", recipe.system),
        ("packages.npm", recipe.npm_lock),
        ("build.commands", recipe.commands),
        ("build.secrets", recipe.build_secrets),
        ("user", recipe.user),
        ("workdir", recipe.workdir),
    ):
        if given:
            raise ValidationError(
                f"{where}: the base `host` is this machine's own /usr, into which nothing is built; name an image as "
                "`base: debian:12`"
            )
    if "$" in recipe.env.get("PATH", ""):
        raise ValidationError("env.PATH: on the base `host` $PATH stands for nothing: write the folders out")
    if recipe.pip_lock:
        raise ValidationError("packages.pip: on the base `host` write a list of requirements; harena pins them by hash")
    if recipe.profile == "machine":
        raise ValidationError("profile: only an image's sandboxes can be `machine`; name one as `base: debian:12`")


def _base(given: object) -> tuple[BaseKind, str]:
    if given == "host":
        return "host", ""
    if isinstance(given, str):
        given = {"image": given}
    asked = _mapping(given, "base", ("image", "blueprint", "snapshot"))
    if len(asked) != 1:
        raise ValidationError("base is one of `host`, an image, {blueprint: NAME} and {snapshot: NAME}")
    if "image" in asked:
        return "image", _read_field(
            "base", lambda word: str(parse_reference(word)), _text(asked["image"], "base.image")
        )
    if "blueprint" in asked:
        return "blueprint", _text(asked["blueprint"], "base.blueprint")
    return "snapshot", _read_field("base", checked_snapshot, _text(asked["snapshot"], "base.snapshot"))


def _file(path: str, given: object) -> RecipeFile:
    where = f"files.{path}"
    if not path.startswith("/") or path.endswith("/") or not _is_plain(path):
        raise ValidationError(f"files: {quote(path)} must be the absolute path of a file, without control characters")
    if isinstance(given, str):
        return RecipeFile(content=_text(given, where).encode())
    asked = _mapping(given, where, ("from", "content", "mode"))
    mode = _fitting(
        _text(asked.get("mode", ""), f"{where}.mode"), f"{where}.mode", _MODE, 'as "0644"', may_be_empty=True
    )
    if ("from" in asked) == ("content" in asked):
        raise ValidationError(f"{where} has either `from`, a path beside the recipe, or `content`, its text")
    if "from" in asked:
        return RecipeFile(source=_relative(asked["from"], f"{where}.from"), mode=mode)
    return RecipeFile(content=_text(asked["content"], f"{where}.content").encode(), mode=mode)


def _copy(path: str, file: RecipeFile) -> str:
    source, mode = (file.source, file.mode) if file.content is None else (_place(file.content), file.mode or "0644")
    chmod = f"--chmod={mode} " if mode else ""
    return f"COPY {chmod}{json.dumps([_escaped(source), _escaped(path)])}"


def _place(content: bytes) -> str:
    return f"{_CONTENTS}/{hashlib.sha256(content).hexdigest()[:32]}"


def _run(command: str, mounts: Sequence[str] = ()) -> str:
    words = "".join(f"--mount={mount} " for mount in mounts)
    return f"RUN {words}{json.dumps([*_SHELL, command])}"


def _variable(name: str, value: str) -> str:
    return f"ENV {name}={_literal(value)}"


def _path(value: str) -> str:
    """The line of a PATH, in which `$PATH` is what the image has so far."""
    parts = (_literal(part)[1:-1] for part in _SO_FAR.split(value))
    return f'ENV PATH="{"${PATH}".join(parts)}"'


def _literal(text: str) -> str:
    """A word of a Dockerfile that stands for this text."""
    return '"' + "".join(f"\\{letter}" if letter in '\\"$' else letter for letter in text) + '"'


def _escaped(text: str) -> str:
    """A word of a list of a Dockerfile, whose variables are none."""
    return text.replace("\\", "\\\\").replace("$", "\\$")


def _in_words(given: object) -> str:
    words = ",".join(_texts(given, "build.network")) if isinstance(given, list) else _text(given, "build.network")
    _read_field("build.network", policy_in_words, words or "none")
    return words or "none"


def _environment(given: object) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, value in _any_mapping(given, "env").items():
        if not _VARIABLE.fullmatch(name):
            raise ValidationError(f"env: {quote(name)} is no name of a variable: letters, digits and underscores")
        text = _text(value, f"env.{name}")
        if not _is_plain(text):
            raise ValidationError(f"env.{name}: put a text of several lines into a file")
        if name == "PATH" and "$" in _SO_FAR.sub("", text):
            raise ValidationError(
                "env.PATH: $PATH stands for what the image has, and no other $ for anything: write folders out"
            )
        found[name] = text
    return found


def _limits(given: object) -> Limits:
    asked = _mapping(given, "limits", _LIMITS)
    for name in ("memory_mb", "disk_mb"):
        if name in asked and (type(asked[name]) is not int or not 0 < asked[name] <= _MOST_MB):
            raise ValidationError(f"{name} must be a whole number up to {_MOST_MB} (got {quote(asked[name])})")
    sizes = {f"{name.removesuffix('mb')}bytes": asked[name] * MIB for name in ("memory_mb", "disk_mb") if name in asked}
    return Limits(**{**{name: asked[name] for name in ("cpu", "pids") if name in asked}, **sizes})


def _read_field(where: str, read: Callable[[Any], _T], given: Any) -> _T:
    """What is read, with the place in the words of an error."""
    try:
        return read(given)
    except ValidationError as error:
        said = str(error)
        raise ValidationError(said if said.startswith(where) else f"{where}: {said}") from None


def _mapping(given: object, where: str, names: Sequence[str]) -> Mapping[str, Any]:
    asked = _any_mapping(given, where)
    if unknown := [name for name in asked if name not in names]:
        raise ValidationError(f"{where}: there is no field {quote(unknown[0])}; there are {', '.join(names)}")
    return asked


def _any_mapping(given: object, where: str) -> Mapping[str, Any]:
    if not isinstance(given, Mapping) or not all(isinstance(name, str) for name in given):
        raise ValidationError(f"{where} must be a mapping of names (got {quote(given)})")
    if len(given) > MOST_ENTRIES:
        raise ValidationError(f"{where} has {len(given)} entries; {MOST_ENTRIES} are possible")
    return given


def _texts(given: object, where: str, pattern: re.Pattern[str] | None = None, what: str = "a text") -> tuple[str, ...]:
    if not isinstance(given, Sequence) or isinstance(given, str | bytes):
        raise ValidationError(f"{where} must be a list of texts (got {quote(given)})")
    if len(given) > MOST_ENTRIES:
        raise ValidationError(f"{where} has {len(given)} entries; {MOST_ENTRIES} are possible")
    found = tuple(_text(one, where) for one in given)
    for one in found:
        if not one or (pattern is not None and not pattern.fullmatch(one)):
            raise ValidationError(f"{where}: {quote(one)} is not {what}")
    return found


def _text(given: object, where: str) -> str:
    if not isinstance(given, str) or "\0" in given:
        raise ValidationError(f"{where} must be a text without NUL, perhaps in quotation marks (got {quote(given)})")
    return encodable(given, where)


def _number_as_text(given: object) -> object:
    return str(given) if isinstance(given, int | float) and not isinstance(given, bool) else given


def _fitting(given: object, where: str, pattern: re.Pattern[str], what: str, *, may_be_empty: bool = False) -> str:
    text = _text(given, where)
    if not pattern.fullmatch(text) and not (may_be_empty and not text):
        raise ValidationError(f"{where}: {quote(text)} must be {what}")
    return text


def _absolute(given: object) -> str:
    text = _text(given, "workdir")
    check_absolute(text or None, "workdir")
    if not _is_plain(text):
        raise ValidationError(f"workdir: {quote(text)} must be a path on one line")
    return text


def _relative(given: object, where: str) -> str:
    text = _text(given, where)
    parts = text.removeprefix("./").split("/")
    if not text or text.startswith("/") or not _is_plain(text) or any(part in ("", "..") for part in parts):
        raise ValidationError(f"{where}: {quote(text)} must be a path beside the recipe, without ..")
    if any(letter in text for letter in "*?[\\"):
        raise ValidationError(f"{where}: {quote(text)} must name one file or directory, without * ? [ and backslashes")
    return text.removeprefix("./")


def _is_plain(text: str) -> bool:
    return not any(letter in text for letter in "\n\r\0")
