"""An environment that is a sandbox: it lives for the episode, and the policy works in it with tools.

A turn that calls no tool is the policy's answer, and ends the episode. How a call is written is in
`harena.training.environments.tool_calls`. What stands before a call is for the policy itself; of several calls the
first is done, and what comes after it is not read: the policy has not seen its result. Another format is another
`parse`.

    read_file    {path}                  the file's text
    write_file   {path, content}         a file of this content, with the directories above it
    edit_file    {path, old, new}        `old`, which must be in the file exactly once, becomes `new`
    list_files   {path}                  names, one on each line; a directory's ends in /
    run          {command}               by sh, in the working directory; exit code, output and errors

A file of more than 8 MiB is neither read nor edited by a tool: `run` shows parts of it.
What a tool cannot do is told to the policy ("error: ..."); what the platform cannot do is a fault.
"""

from __future__ import annotations

import copy
import inspect
import posixpath
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Self

from harena.core.errors import SandboxCommandTimeoutError, SandboxFileError, ValidationError
from harena.core.models import ExecOutcome, ProcessResult
from harena.sdk.sandbox import Sandbox
from harena.training.data.prompts import PromptRow
from harena.training.environments.environment import Step
from harena.training.environments.tool_calls import Parsed, ToolCall, Unreadable, parse_call, words_and_calls
from harena.training.rollouts.trajectory import Candidate, StopReason

WORKING_DIRECTORY = "/workspace"
_ENVIRONMENT = {"PYTHONDONTWRITEBYTECODE": "1"}
"""Python takes a cached module for fresh by second and size: what is edited within a second would have no effect"""
_LONGEST_PATH, _LONGEST_NAME = 4095, 255
"""bytes that Linux takes"""
MOST_FILE_BYTES = 8 * 1024 * 1024
"""the largest file that a tool reads, or that is judged: a candidate's file has no more characters"""
_FILE_FAULTS = ("IO_FAILED",)
"""reasons of file errors that are the platform's"""


Parse = Callable[[str], Parsed]


class ToolError(Exception):
    """A tool cannot do what it was asked for; the message is for the policy."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Workplace:
    """What a tool works with."""

    sandbox: Sandbox
    directory: str
    command_seconds: float

    def path(self, written: Any) -> str:
        """A path as the policy writes it, made absolute. Raises ToolError."""
        if not isinstance(written, str) or not written or "\0" in written:
            raise ToolError("`path` must be the path of a file")
        path = posixpath.normpath(posixpath.join(self.directory, written))
        encoded = path.encode("utf-8", "replace")
        if len(encoded) > _LONGEST_PATH or max(map(len, encoded.split(b"/"))) > _LONGEST_NAME:
            raise ToolError("`path`: File name too long")
        return path

    async def command(self, command: str) -> ProcessResult:
        """What a shell command did; it has ended, with everything that it started, after `command_seconds`."""
        return await self.exec(["sh", "-c", command], self.command_seconds)

    async def exec(
        self,
        argv: Sequence[str],
        seconds: float,
        *,
        stdin: bytes | None = None,
        env: Mapping[str, str] | None = None,
    ) -> ProcessResult:
        """What a command did; a time-out too is something that it did. `env`: more variables."""
        asked = self.sandbox.exec(
            argv,
            cwd=self.directory,
            env=env,
            timeout_seconds=seconds,
            stdin=False if stdin is None else stdin,
            warm=False,
        )
        try:
            return await asked
        except SandboxCommandTimeoutError as error:
            if error.exec_result is None:
                raise
            return error.exec_result


Tool = Callable[..., Awaitable[str]]
"""(Workplace, **arguments) -> what the policy is told. Raises ToolError"""


async def read_file(at: Workplace, *, path: str) -> str:
    """Give a file's text to the policy."""
    return (await at.sandbox.read_file(at.path(path), max_bytes=MOST_FILE_BYTES)).decode("utf-8", "replace")


async def write_file(at: Workplace, *, path: str, content: str) -> str:
    """Write a file, in place of what it held."""
    await at.sandbox.write_file(at.path(path), _text(content, "content"))
    return "written"


async def edit_file(at: Workplace, *, path: str, old: str, new: str) -> str:
    """Replace a text that the file holds exactly once. Raises ToolError where it does not."""
    target = at.path(path)
    before = await at.sandbox.read_file(target, max_bytes=MOST_FILE_BYTES)
    written, sought = _text(new, "new"), _text(old, "old")
    found = before.count(sought) if sought else 0
    if found != 1:
        raise ToolError(f"`old` must be in {path} exactly once, and is there {found} times")
    await at.sandbox.write_file(target, before.replace(sought, written))
    return "edited"


async def list_files(at: Workplace, *, path: str = ".") -> str:
    """List the names in a directory, one on each line; directories end with a slash."""
    entries = await at.sandbox.list_files(at.path(path))
    return "\n".join(sorted(entry.name + "/" * (entry.kind == "directory") for entry in entries))


async def run(at: Workplace, *, command: str) -> str:
    """Run a shell command, and give how it ended and what it printed."""
    _text(command, "command")
    done = await at.command(command)
    how = {
        ExecOutcome.EXITED: f"exit code {done.returncode}",
        ExecOutcome.TIMEOUT: f"stopped after {at.command_seconds:g} s",
    }.get(done.outcome, f"ended: {done.outcome}")
    return "\n".join(part for part in (how, done.stdout.rstrip("\n"), done.stderr.rstrip("\n")) if part)


TOOLS: Mapping[str, Tool] = {
    "read_file": read_file,
    "write_file": write_file,
    "edit_file": edit_file,
    "list_files": list_files,
    "run": run,
}


class SandboxEnvironment:
    """One episode in one sandbox. Implements `Environment`; make one for each episode, by `functools.partial`, say."""

    def __init__(
        self,
        *,
        files: Mapping[str, str] | None = None,
        answer_files: Sequence[str] = (),
        tools: Mapping[str, Tool] = TOOLS,
        parse: Parse = parse_call,
        on_parse_error: Literal["tell", "end"] = "tell",
        directory: str = WORKING_DIRECTORY,
        command_seconds: float = 30.0,
        most_characters: int = 4000,
        **sandbox: Any,
    ) -> None:
        """`files` (path: text) are there at the beginning, and those of the row's metadata (`files`). `answer_files`
        are what a reward recipe judges: read at the end, the first of them is the candidate's entry; without them it
        judges what was said last. `on_parse_error`: whether a call that cannot be read is told to the policy, or ends
        the episode. An observation has `most_characters` at the most: what is too long loses its middle. `sandbox`:
        options of `harena.Sandbox`, such as blueprint and limits. Raises ValidationError."""
        if on_parse_error not in ("tell", "end") or not command_seconds > 0 or most_characters < 1:
            raise ValidationError(
                "a sandbox environment needs on_parse_error 'tell' or 'end', command_seconds > 0 and most_characters "
                f">= 1 (got {on_parse_error!r}, {command_seconds} and {most_characters})"
            )
        self._files = dict(files or {})
        self._answer_files = tuple(answer_files)
        self._tools = tools
        self._parse = parse
        self._on_parse_error = on_parse_error
        self._most = most_characters
        self._said = ""
        self._directory = directory
        self._command_seconds = command_seconds
        self._options = sandbox
        self._opened: Workplace | None = None

    @property
    def at(self) -> Workplace:
        """Where tools work, after `reset`."""
        if self._opened is None:
            raise ValidationError("this environment has not been reset: it has no sandbox")
        return self._opened

    async def reset(self, row: PromptRow) -> str:
        """Start the sandbox with its files."""
        options = {**self._options, **self.options_for(row)}
        options["environment_variables"] = {**_ENVIRONMENT, **(options.get("environment_variables") or {})}
        self._opened = Workplace(
            sandbox=Sandbox(**options), directory=self._directory, command_seconds=self._command_seconds
        )
        await self.at.sandbox.make_dir(self.at.directory, parents=True)
        for path, text in {**self._files, **self.files_for(row)}.items():
            await write_file(self.at, path=path, content=text)
        return ""

    async def step(self, action: str) -> Step:
        """Do the turn's tool call; without one the episode is over."""
        self._said, call = action, self._parse(action)
        if call is None:
            return Step(done=True)
        if isinstance(call, Unreadable):
            if self._on_parse_error == "end":
                return Step(done=True, stop=StopReason.PARSE_ERROR)
            return Step(observation=f"error: {call.why}")
        told = self._clipped(await self.call(call))
        others = len(words_and_calls(action)[1]) - 1 if self._parse is parse_call else 0
        if others > 0:  # a policy that is not told so takes them for done
            told = f"{told}\n[of this turn's {others + 1} calls the first was made: make one call in a turn]"
        return Step(observation=told)

    async def call(self, call: ToolCall) -> str:
        """What a tool says; its errors too."""
        if (tool := self._tools.get(call.name)) is None:
            return f"error: there is no tool {call.name!r}; there are {', '.join(self._tools)}"
        try:
            inspect.signature(tool).bind(self.at, **call.arguments)
        except TypeError as error:
            return f"error: {call.name}: {error}"
        try:
            return await tool(self.at, **call.arguments)
        except (ToolError, ValidationError) as error:
            return f"error: {error}"
        except SandboxFileError as error:
            if error.reason in _FILE_FAULTS:
                raise
            return f"error: {error}"

    async def answer(self) -> Candidate:
        """The answer files as they are now; those that are not there are empty. One that is too large for a candidate's
        is a fault, which follows whoever made it."""
        if not self._answer_files:
            return self._said
        return {"files": {path: await self._read(path) for path in self._answer_files}, "entry": self._answer_files[0]}

    async def close(self) -> None:
        """End the sandbox."""
        if self._opened is not None:
            await self._opened.sandbox.stop(missing_ok=True)

    async def fork(self, count: int) -> list[Self]:
        """Environments that go on from where this one is, each in a fork of its sandbox, for rollouts that branch. This
        one goes on, too; whoever has asked closes them. Its sandbox must be one of an image (`container_image`, or a
        blueprint of one); no program of it is forked."""
        forks: list[Self] = []
        for sandbox in await self.at.sandbox.fork(count):
            one = copy.copy(self)
            one._opened = replace(self.at, sandbox=sandbox)
            forks.append(one)
        return forks

    def files_for(self, row: PromptRow) -> Mapping[str, str]:
        """Files that the row brings."""
        return dict(row.metadata.get("files", {}))

    def options_for(self, row: PromptRow) -> Mapping[str, Any]:
        """Options of the sandbox that the row decides."""
        return {}

    async def _read(self, path: str) -> str:
        try:
            return await read_file(self.at, path=path)
        except SandboxFileError as error:
            if error.reason in (*_FILE_FAULTS, "TOO_LARGE"):
                raise
            return ""

    def _clipped(self, text: str) -> str:
        if len(text) <= self._most:
            return text
        left = self._most // 2
        return f"{text[:left]}\n[{len(text) - 2 * left} characters left out]\n{text[len(text) - left :]}"


def _text(written: Any, name: str) -> bytes:
    """Raises ToolError for what is no text."""
    if not isinstance(written, str):
        raise ToolError(f"`{name}` must be text")
    return written.encode("utf-8", "replace")
