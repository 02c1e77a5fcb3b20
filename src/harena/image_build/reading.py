"""Reads a Dockerfile: every instruction is checked here as far as it can be before variables have values."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import NoReturn

from harena.core.json_steps import parse
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
from harena.image_build.lines import Instruction, here_document_names, read_lines

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_STAGE = re.compile(r"[a-z][a-z0-9_.-]*")
_DURATION = re.compile(r"(?:[0-9]{1,9}(?:\.[0-9]{1,9})?(?:ns|us|ms|s|m|h)){1,6}")
_FLAGS = {
    "ADD": ("chown", "chmod", "link", "keep-git-dir", "checksum", "exclude", "unpack"),
    "COPY": ("from", "chown", "chmod", "link", "parents", "exclude"),
    "FROM": ("platform",),
    "HEALTHCHECK": ("interval", "timeout", "start-period", "start-interval", "retries"),
    "RUN": ("mount", "network", "security"),
}
_SEVERAL = ("exclude", "mount")
_MOUNTS: Mapping[str, tuple[str, ...]] = {
    "bind": ("target", "source", "from", "rw"),
    "cache": ("target", "id", "ro", "sharing", "from", "source", "mode", "uid", "gid"),
    "secret": ("target", "id", "required", "mode", "uid", "gid", "env"),
    "tmpfs": ("target", "size"),
}
_OTHER_NAMES = {
    "dst": "target",
    "destination": "target",
    "src": "source",
    "readonly": "ro",
    "readwrite": "rw",
}
_TRUE, _FALSE = ("", "1", "t", "true"), ("0", "f", "false")
_NOT_IN_ONBUILD = ("FROM", "MAINTAINER", "ONBUILD")
_MOST_STAGES = 100
_MOST_MOUNTS = 100
_MOST_TEXT = 1000

Flags = Mapping[str, Sequence[str]]
_Reader = Callable[[Instruction, Flags, str, str], Written]
"""reads an instruction with its flags, what follows these, and the escape character"""


def read_dockerfile(text: str) -> Dockerfile:
    """Raises DockerfileError."""
    lines = read_lines(text)
    arguments: list[Arg] = []
    stages: list[tuple[From, list[Written]]] = []
    for one in lines.instructions:
        read = _instruction(one, lines.escape)
        if isinstance(read, From):
            if len(stages) == _MOST_STAGES:
                raise fault(one.line, "FROM", f"there are more than {_MOST_STAGES} stages", "Build in several files.")
            if read.name and any(stage.name == read.name for stage, _ in stages):
                raise fault(one.line, "FROM", f"there are two stages {read.name!r}", "Give each its own name.")
            stages.append((read, []))
        elif stages:
            stages[-1][1].append(read)
        elif isinstance(read, Arg):
            arguments.append(read)
        else:
            raise fault(one.line, one.name, "only ARG stands before the first FROM", "Begin with FROM and an image.")
    if not stages:
        raise DockerfileError("the Dockerfile has no FROM: begin it with FROM and an image", reason="DOCKERFILE")
    return Dockerfile(lines.escape, arguments, [Stage(number, *stage) for number, stage in enumerate(stages)])


def read_triggers(triggers: Sequence[str], line: int) -> Sequence[Written]:
    """Instructions that ONBUILD of a base image has left for the stage whose FROM stands at a line. Raises
    DockerfileError."""
    read: list[Written] = []
    for text in triggers:
        for one in read_lines(text).instructions:
            if one.name in _NOT_IN_ONBUILD:
                raise fault(line, "FROM", f"ONBUILD of its image has {one.name}", "Use another image.")
            read.append(_instruction(Instruction(line, one.name, one.rest, one.here_documents), "\\"))
    return read


def _instruction(one: Instruction, escape: str) -> Written:
    flags, rest = _flags(one, escape)
    if not rest and one.name not in ("CMD", "ENTRYPOINT"):
        _wrong(one, "nothing follows it", "Write what it is about behind it.")
    return _READERS[one.name](one, flags, rest, escape)


def _wrong(one: Instruction, why: str, what_to_do: str) -> NoReturn:
    raise fault(one.line, one.name, why, what_to_do)


def _text(one: Instruction) -> str:
    return f"{one.name} {one.rest}"[:_MOST_TEXT]


# -- words --


def _split(one: Instruction, text: str, escape: str) -> list[str]:
    """Words at blanks outside of quotes, with their quotes."""
    words: list[str] = []
    current: list[str] = []
    quote = ""
    place = 0
    while place < len(text):
        char = text[place]
        place += 1
        if quote:
            if char == escape and quote == '"' and place < len(text):
                current.append(char)
                char = text[place]
                place += 1
            elif char == quote:
                quote = ""
        elif char.isspace():
            if current:
                words.append("".join(current))
                current = []
            continue
        elif char in "\"'":
            quote = char
        elif char == escape and place < len(text):
            current.append(char)
            char = text[place]
            place += 1
        current.append(char)
    if quote:
        _wrong(one, f"a {quote} is never closed", "Close it, or write a backslash before it.")
    return [*words, "".join(current)] if current else words


def _flags(one: Instruction, escape: str) -> tuple[Flags, str]:
    """Words that begin with --, and what follows them."""
    known = _FLAGS.get(one.name)
    found: dict[str, list[str]] = {}
    rest = one.rest
    while known is not None and rest.startswith("--"):
        word, rest = _first_word(rest, escape)
        if word == "--":
            break
        name, equals, value = word[2:].partition("=")
        if name not in known:
            _wrong(one, f"it has no option --{shown(name)}", f"It has {', '.join(f'--{each}' for each in known)}.")
        if not equals and name not in ("link", "parents", "keep-git-dir", "unpack"):
            _wrong(one, f"--{name} has no value", f"Write --{name}=VALUE.")
        if name in found and name not in _SEVERAL:
            _wrong(one, f"--{name} stands twice", "Remove one of them.")
        found.setdefault(name, []).append(_unquoted(value))
    return found, rest


def _first_word(text: str, escape: str) -> tuple[str, str]:
    quote = ""
    place = 0
    while place < len(text):
        char = text[place]
        if quote:
            quote = "" if char == quote else quote
        elif char in "\"'":
            quote = char
        elif char == escape:
            place += 1
        elif char.isspace():
            break
        place += 1
    return text[:place], text[place:].lstrip()


def _unquoted(value: str) -> str:
    return value[1:-1] if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'" else value


def _json_words(text: str) -> tuple[str, ...] | None:
    """The words of a JSON list; None = it is none."""
    if not text.startswith("["):
        return None
    try:
        read = parse(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(read, list) or not all(isinstance(word, str) for word in read):
        return None
    return tuple(read)


def _pairs(one: Instruction, text: str, escape: str) -> tuple[tuple[str, str], ...]:
    """NAME=VALUE words, or a name and the rest of the line, as it was once written."""
    words = _split(one, text, escape)
    if "=" not in words[0]:
        name, value = _first_word(text, escape)
        if not value:
            _wrong(one, f"{shown(name)} has no value", f"Write {one.name} {name}=VALUE.")
        return ((name, value),)
    pairs = []
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or not name:
            _wrong(one, f"{shown(word)} is not NAME=VALUE", "Write quotes around values with blanks.")
        pairs.append((name, value))
    return tuple(pairs)


def _boolean(one: Instruction, name: str, value: str) -> bool:
    if value.lower() in _TRUE:
        return True
    if value.lower() in _FALSE:
        return False
    _wrong(one, f"{name} is {shown(value)}", "Write true or false.")


def _flag(flags: Flags, name: str) -> str:
    return flags[name][0] if name in flags else ""


def _on(one: Instruction, flags: Flags, name: str) -> bool:
    return name in flags and _boolean(one, f"--{name}", flags[name][0])


# -- instructions --


def _from(one: Instruction, flags: Flags, rest: str, _escape: str) -> Written:
    words = rest.split()
    if len(words) not in (1, 3) or (len(words) == 3 and words[1].upper() != "AS"):
        _wrong(one, f"{shown(rest)} is not IMAGE or IMAGE AS NAME", "Write FROM debian:12 AS build.")
    name = words[2].lower() if len(words) == 3 else ""
    if name and not _STAGE.fullmatch(name):
        _wrong(one, f"{shown(name)} is no name of a stage", "It begins with a letter; letters, digits, . _ - follow.")
    return From(line=one.line, text=_text(one), image=words[0], name=name, platform=_flag(flags, "platform"))


def _arg(one: Instruction, _given: Flags, rest: str, escape: str) -> Written:
    pairs: list[tuple[str, str | None]] = []
    for word in _split(one, rest, escape):
        name, equals, value = word.partition("=")
        if not _NAME.fullmatch(name):
            _wrong(one, f"{shown(name)} is no name of a variable", "Write ARG NAME or ARG NAME=DEFAULT.")
        pairs.append((name, value if equals else None))
    return Arg(line=one.line, text=_text(one), variables=tuple(pairs))


def _env(one: Instruction, _given: Flags, rest: str, escape: str) -> Written:
    return Env(line=one.line, text=_text(one), variables=_pairs(one, rest, escape))


def _label(one: Instruction, _given: Flags, rest: str, escape: str) -> Written:
    return Label(line=one.line, text=_text(one), labels=_pairs(one, rest, escape))


def _command(text: str) -> Command:
    words = _json_words(text)
    return Command(words=(text,) if words is None else words, is_shell=words is None)


def _run(one: Instruction, flags: Flags, rest: str, escape: str) -> Written:
    if _flag(flags, "security") not in ("", "sandbox"):
        _wrong(one, "--security=insecure is not possible here", "Leave it out: a build has no rights on the host.")
    network = _flag(flags, "network") or "default"
    if network not in ("default", "none"):
        _wrong(one, f"--network={shown(network)} is not possible here", "Write default or none.")
    if len(flags.get("mount", ())) > _MOST_MOUNTS:
        _wrong(one, f"it has more than {_MOST_MOUNTS} mounts", "Mount a directory that holds several.")
    mounts = tuple(_mount(one, text) for text in flags.get("mount", ()))
    documents = one.here_documents
    names = here_document_names(rest, escape) if documents else ()
    script = documents[0] if len(documents) == 1 and re.fullmatch(r"<<-?\S+", rest) and names else None
    command = _command(rest)
    if not command.words:
        _wrong(one, "its list is empty", "Write a program into it.")
    if documents and script is None:
        behind = "".join(f"\n{document.content}{document.name}" for document in documents)
        command = Command(words=(rest + behind + "\n",), is_shell=True)
    return Run(line=one.line, text=_text(one), command=command, script=script, mounts=mounts, network=network)


def _mount(one: Instruction, text: str) -> Mount:
    options: dict[str, str] = {}
    kind = "bind"
    for part in text.split(","):
        key, _, value = part.strip().partition("=")
        key = _OTHER_NAMES.get(key.lower(), key.lower())
        if key == "type":
            kind = value.lower()
        elif key:
            options[key] = _unquoted(value)
    if kind == "ssh":
        _wrong(one, "--mount=type=ssh is not possible here", "Give a key as a secret: --mount=type=secret,id=key.")
    if kind not in _MOUNTS:
        _wrong(one, f"there is no --mount=type={shown(kind)}", f"There are {', '.join(_MOUNTS)}.")
    for key in options:
        if key not in _MOUNTS[kind] and not (kind == "bind" and key == "ro") and not (kind == "cache" and key == "rw"):
            _wrong(one, f"--mount=type={kind} has no {shown(key)}", f"It has {', '.join(_MOUNTS[kind])}.")
    if kind == "secret" and not (options.get("id") or options.get("target")):
        _wrong(one, "--mount=type=secret names no secret", "Write id=NAME, which is given to the build.")
    if kind in ("bind", "cache", "tmpfs") and not options.get("target"):
        _wrong(one, f"--mount=type={kind} has no target", "Write target=/PATH.")
    for key in ("mode", "uid", "gid"):
        if key in options and not re.fullmatch(r"[0-7]{1,5}" if key == "mode" else r"[0-9]{1,9}", options[key]):
            _wrong(one, f"{key}={shown(options[key])} is no number", "Write digits (a mode in octal ones).")
    for key in ("ro", "rw", "required"):
        if key in options:
            options[key] = "true" if _boolean(one, key, options[key]) else ""
    return Mount(kind=kind, options=options)


def _copy(one: Instruction, flags: Flags, rest: str, escape: str) -> Written:
    words = _json_words(rest)
    if words is None:
        words = tuple(rest.split())
    if len(words) < 2:
        _wrong(one, "it needs a source and a destination", f"Write {one.name} SOURCE... DESTINATION.")
    *sources, destination = words
    names = {given for _, given in here_document_names(rest, escape)} if one.here_documents else set()
    plain = [word for word in sources if not (word.startswith("<<") and word.lstrip("<-") in names)]
    if one.name == "ADD":
        for word in plain:
            if "://" in word or word.startswith("git@"):
                _wrong(
                    one, f"{shown(word)} would be downloaded, and a build has no network of its own",
                    "Put the file into the context, or download it with RUN where the network policy allows it.",
                )  # fmt: skip
        if "checksum" in flags or "keep-git-dir" in flags:
            _wrong(one, "--checksum and --keep-git-dir are about downloads", "Leave them out.")
    mode = _flag(flags, "chmod")
    if mode and "$" not in mode and not re.fullmatch(r"[0-7]{1,4}", mode):
        _wrong(one, f"--chmod={shown(mode)} is no mode", "Write octal digits, as 755.")
    return Copy(
        line=one.line,
        text=_text(one),
        adds=one.name == "ADD",
        sources=tuple(plain),
        destination=destination,
        documents=tuple(one.here_documents),
        from_=_flag(flags, "from"),
        owner=_flag(flags, "chown"),
        mode=mode,
        links=_on(one, flags, "link"),
        keeps_parents=_on(one, flags, "parents"),
        excludes=tuple(flags.get("exclude", ())),
        unpacks=_on(one, flags, "unpack") if "unpack" in flags else None,
    )


def _workdir(one: Instruction, _given: Flags, rest: str, _escape: str) -> Written:
    return Workdir(line=one.line, text=_text(one), path=rest)


def _user(one: Instruction, _given: Flags, rest: str, _escape: str) -> Written:
    if len(rest.split()) != 1:
        _wrong(one, f"{shown(rest)} is more than one user", "Write USER NAME or USER NAME:GROUP.")
    return User(line=one.line, text=_text(one), user=rest)


def _start(one: Instruction, _given: Flags, rest: str, _escape: str) -> Written:
    command = _command(rest) if rest else Command(words=(), is_shell=False)
    return Start(line=one.line, text=_text(one), is_entrypoint=one.name == "ENTRYPOINT", command=command)


def _expose(one: Instruction, _given: Flags, rest: str, _escape: str) -> Written:
    return Expose(line=one.line, text=_text(one), ports=tuple(rest.split()))


def _volume(one: Instruction, _given: Flags, rest: str, _escape: str) -> Written:
    words = _json_words(rest)
    paths = tuple(rest.split()) if words is None else words
    if not paths or not all(path.strip() for path in paths):
        _wrong(one, "a place has no name", "Write VOLUME /PATH.")
    return Volume(line=one.line, text=_text(one), paths=paths)


def _stop_signal(one: Instruction, _given: Flags, rest: str, _escape: str) -> Written:
    return StopSignal(line=one.line, text=_text(one), signal=rest)


def _shell(one: Instruction, _given: Flags, rest: str, _escape: str) -> Written:
    words = _json_words(rest)
    if not words:
        _wrong(one, "it takes a JSON list", 'Write SHELL ["/bin/bash", "-c"].')
    return Shell(line=one.line, text=_text(one), words=words)


def _health(one: Instruction, flags: Flags, rest: str, _escape: str) -> Written:
    kind, _, behind = rest.partition(" ")
    options = {name: values[0] for name, values in flags.items()}
    for name, value in options.items():
        if name == "retries" and not re.fullmatch(r"[0-9]{1,6}", value):
            _wrong(one, f"--retries={shown(value)} is no number", "Write digits.")
        if name != "retries" and not _DURATION.fullmatch(value):
            _wrong(one, f"--{name}={shown(value)} is no time", "Write it as 30s or 1m30s.")
    if kind.upper() == "NONE" and not behind and not options:
        return Health(line=one.line, text=_text(one), command=None)
    if kind.upper() != "CMD" or not behind.strip():
        _wrong(one, f"{shown(rest)} is neither NONE nor CMD with a command", "Write HEALTHCHECK CMD COMMAND.")
    return Health(line=one.line, text=_text(one), command=_command(behind.strip()), options=options)


def _on_build(one: Instruction, _given: Flags, rest: str, escape: str) -> Written:
    inner = rest.split(maxsplit=1)
    if inner[0].upper() in _NOT_IN_ONBUILD:
        _wrong(one, f"it cannot have {shown(inner[0])}", "Write another instruction behind it.")
    if inner[0].upper() not in _READERS:
        _wrong(one, f"there is no instruction {shown(inner[0])}", f"There are {', '.join(sorted(_READERS))}.")
    _instruction(Instruction(one.line, inner[0].upper(), inner[1] if len(inner) > 1 else ""), escape)
    return OnBuild(line=one.line, text=_text(one), instruction=rest)


def _maintainer(one: Instruction, _given: Flags, rest: str, _escape: str) -> Written:
    return Maintainer(line=one.line, text=_text(one), name=rest)


_READERS: Mapping[str, _Reader] = {
    "ADD": _copy,
    "ARG": _arg,
    "CMD": _start,
    "COPY": _copy,
    "ENTRYPOINT": _start,
    "ENV": _env,
    "EXPOSE": _expose,
    "FROM": _from,
    "HEALTHCHECK": _health,
    "LABEL": _label,
    "MAINTAINER": _maintainer,
    "ONBUILD": _on_build,
    "RUN": _run,
    "SHELL": _shell,
    "STOPSIGNAL": _stop_signal,
    "USER": _user,
    "VOLUME": _volume,
    "WORKDIR": _workdir,
}
