"""A task's environment: the sandbox that it describes, and its verification at the end."""

from __future__ import annotations

import itertools
import json
import secrets
import shlex
import signal
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any, Literal, Self

from harena.core.errors import PlatformError, SandboxFileError, ValidationError
from harena.core.models import ExecOutcome, ProcessResult
from harena.scoring.formats.answers import (
    final_answer,
    json_without_reasoning_ends,
    names_reasoning,
    program_in,
    scripts_in,
)
from harena.scoring.formats.asked_names import asked_names
from harena.scoring.scorers.harbor import EnvironmentFailedError
from harena.scoring.scorers.script_verifier import Judged, JudgedPlace, LeftError, judged_place
from harena.scoring.slices import aside
from harena.sdk.portal import current_portal
from harena.training.data.prompts import PromptRow
from harena.training.environments.environment import Step, StillWaitingError
from harena.training.environments.sandbox import SandboxEnvironment, Workplace
from harena.training.environments.tasks import Task, Verification, flag_digest
from harena.training.rollouts.scored import allowed_seconds, judged, runs_programs
from harena.training.rollouts.trajectory import Candidate, Reward, StopReason

Acting = Literal["tools", "shell", "python", "text"]
_END_ROUNDS = 50
"""most rounds of killing what there is: a program that needs more starts new processes faster"""
_ENDINGS = {"shell": ".sh", "python": ".py"}
_BASH = ("sh", "-c", 'if command -v bash >/dev/null 2>&1; then exec bash "$@"; fi; exec sh "$@"', "sh")
"""what models write for a shell is for bash; `sh` where an image has none"""
_SHOWN = 4000
_LEAST_COMMAND_SECONDS, _SHARE_OF_WHAT_IS_LEFT = 0.1, 0.9
"""bounds of a command's time, so that it is stopped, and told, before the environment itself is late"""
_BUSY_SHARE = 0.5
"""share of its time for which a verification is at work that is slow, and does not wait for something"""
_MOST_FLAG_BYTES = 1024 * 1024


class TaskEnvironment(SandboxEnvironment):
    """One episode of a task. Implements `Environment`.

    acting    what an action is: `tools`: a turn with a tool call, or the answer. `shell`, `python`: a program, which is
              run at once, and the episode is over. `text`: a text that is only verified
    """

    def __init__(
        self,
        task: Task,
        *,
        acting: Acting,
        seconds: float,
        reward_if_true: float = 1.0,
        reward_if_false: float = 0.0,
        is_authors: bool = False,
        **environment: Any,
    ) -> None:
        """`seconds`: wall time of the whole episode; what is left of it bounds each command. `is_authors`: who acts is
        the task's author, and is given all inputs. `environment`: see SandboxEnvironment."""
        options = {"blueprint": task.blueprint} if task.blueprint else {}
        super().__init__(files=task.files, **{**options, **environment})
        self._task = task
        self._acting = acting
        self._ends_after = seconds
        self._ends_at = 0.0
        self._rewards = (reward_if_false, reward_if_true)
        self._told: list[str] = []
        self._is_authors = is_authors
        self._inputs: dict[str, str] = {}
        self._begun = False
        self._image_script = ""
        self._place: JudgedPlace | None = None

    async def fork(self, count: int) -> list[Self]:
        """Copy the sandbox and the conversation so far into `count` environments; from then on each has its own."""
        forks = await super().fork(count)
        for one in forks:
            one._told = [*self._told]
        return forks

    def options_for(self, row: PromptRow) -> Mapping[str, Any]:
        """Inputs that the policy is told of are variables of every command."""
        inputs = inputs_of(row)
        if self._is_authors:
            return {"environment_variables": self._task.environment(inputs)}
        said = (row.prompt, json.dumps(row.messages, default=str, ensure_ascii=False))
        return {"environment_variables": self._task.shown_environment(inputs, *said)}

    async def reset(self, row: PromptRow) -> str:
        """Make the environment; a provision script that fails is a fault."""
        self._ends_at = time.monotonic() + self._ends_after
        self._inputs = inputs_of(row)
        await super().reset(row)
        self._begun = True
        if (provision := self._task.provision) is not None:
            # what it starts goes on beside the policy, which can read what that was given
            env = self._task.shown_environment(self._inputs, provision)
            done = await self._script(provision, self._task.provision_seconds, env)
            if done.returncode != 0:
                raise PlatformError(
                    f"task {self._task.name}: its provision script ended with {done.returncode}: {done.stderr[-300:]}"
                )
        how = self._task.verification
        if how.method == "env_script" and how.script is None:
            self._image_script = await self._read(how.script_path)
            if not self._image_script.strip():
                raise PlatformError(f"task {self._task.name}: there is no script {how.script_path} in its environment")
        if how.method not in ("script", "env_script"):
            return ""
        files = {self.at.path(path): text for path, text in self._task.files.items()}
        try:
            self._place = await current_portal().submit(
                _place_of, self.at, self._verifier(), files, self._task.environment(self._inputs)
            )
        except EnvironmentFailedError as error:
            raise PlatformError(f"task {self._task.name}: {error}") from None
        return ""

    async def step(self, action: str) -> Step:
        """Do what the action asks for, in the way of `acting`: call tools, run the answer, or only take it as the
        answer."""
        self._told.append(action)
        if self._acting == "tools":
            left = self._ends_at - time.monotonic()
            if left < 0:
                return Step(done=True, stop=StopReason.TURN_LIMIT)
            seconds = max(_LEAST_COMMAND_SECONDS, min(self._command_seconds, left * _SHARE_OF_WHAT_IS_LEFT))
            self._opened = replace(self.at, command_seconds=seconds)
            step = await super().step(action)
            self._told.append(step.observation)
            return step
        self._said = action
        if self._acting != "text":
            self._told.append(await self._run(action))
        return Step(done=True)

    async def outcome(self) -> Reward:
        """Whether the task was done."""
        how = self._task.verification
        if how.method in ("scoring", "llm_judge"):
            candidate = self._conversation() if how.method == "llm_judge" else await self._answered()
            seconds = allowed_seconds({"scoring": how.scoring}, how.timeout_seconds)
            verdict = await judged(candidate, {"scoring": how.scoring}, idle="pass\n", timeout_seconds=seconds)
            if verdict.value is None:
                return verdict
            return self._reward(bool(verdict.value), verdict.reason, verdict.detail)
        if how.method == "flag":
            return self._reward(flag_digest(final_answer(self._said)) == how.flag_hash)
        if not how.keep_processes:
            await self._end_processes()
        if how.method == "env_flag":
            return await self._flag()
        script = self._verifier()
        # a script that names the reasoning's own marks is about the form of the whole
        said = self._said if names_reasoning(script) else await aside(len(self._said), final_answer, self._said)
        assert self._place is not None, "`reset` looks at every environment that a script judges"
        return await self._judged(self._place, said.encode("utf-8", "replace"))

    async def _judged(self, place: JudgedPlace, stdin: bytes) -> Reward:
        """What the script says of what the policy left, where that can be put in order before."""
        how = self._task.verification
        try:
            found = await current_portal().submit(_judged_in, place, self.at, how, stdin)
        except LeftError as error:
            return self._reward(False, detail=str(error))
        if found.done.outcome is ExecOutcome.TIMEOUT:
            raise self._overdue(found.done.usage.cpu_seconds + found.done.run_delay_seconds)
        if found.doubt:
            return self._reward(False, "suspect", found.doubt)
        said = found.done.stderr[-300:].decode("utf-8", "replace")
        return self._reward(found.passed, detail="" if found.passed else f"exit code {found.done.returncode}: {said}")

    def _overdue(self, busy_seconds: float) -> PlatformError:
        """What is raised where the verification took its whole time, busy or waiting for a processor for so much of
        it."""
        limit = self._task.verification.timeout_seconds
        kind = StillWaitingError if busy_seconds < limit * _BUSY_SHARE else PlatformError
        return kind(f"the verification took longer than {limit:g} s")

    def _verifier(self) -> str:
        """The text of the script that verifies."""
        how = self._task.verification
        return self._image_script if how.script is None else how.script

    async def _answered(self) -> Candidate:
        """What a scoring contract judges: the program in the answer, where it runs one. A chat model says more."""
        candidate, scoring = await self.answer(), self._task.verification.scoring
        if not isinstance(candidate, str) or not runs_programs(scoring):
            return candidate
        return await aside(len(candidate), program_in, candidate, asked_names(scoring))

    def _conversation(self) -> str:
        """What was said; and where the environment has told something, each on a line of JSON: neither can pass for the
        other. Reasoning is left out turn by turn: no mark of it stands in the whole, at which all before it, and with
        it what was observed, would be left out there."""
        if self._acting == "text":
            return self._said
        who = itertools.cycle(("said", "observed"))
        turns = ({by: final_answer(text) if by == "said" else text} for by, text in zip(who, self._told, strict=False))
        return "\n".join(json_without_reasoning_ends(json.dumps(turn, ensure_ascii=False)) for turn in turns)

    async def close(self) -> None:
        """Tear down, where the task says how, and end the sandbox; it is ended whatever the script does."""
        try:
            if self._task.teardown is not None and self._begun:
                await self._script(
                    self._task.teardown, self._task.teardown_seconds, self._task.environment(self._inputs)
                )
        finally:
            await super().close()

    def _reward(self, passed: bool, reason: str = "", detail: str = "") -> Reward:
        return Reward(value=self._rewards[passed], reason=reason or ("passed" if passed else "failed"), detail=detail)

    async def _run(self, action: str) -> str:
        """What the program that the policy wrote says. It lies outside of the working directory, whose files may be
        counted; modules there are found all the same."""
        found = scripts_in if self._acting == "shell" else program_in
        program = await aside(len(action), found, action)
        folder = f"/tmp/{secrets.token_hex(16)}"
        path = f"{folder}/completion{_ENDINGS[self._acting]}"
        await self.at.sandbox.write_file(path, program.encode("utf-8", "replace"), mode=0o700)
        if self._acting == "python":
            argv = ["sh", "-c", 'PYTHONPATH="$PWD${PYTHONPATH:+:$PYTHONPATH}" exec python3 "$1"', "sh", path]
        else:
            argv = [*(_interpreter(program) or _BASH), path]
        done = await self.at.exec(argv, max(0.001, self._ends_at - time.monotonic()))
        await self.at.sandbox.remove(folder, recursive=True, missing_ok=True)
        return f"{done.stdout}{done.stderr}"[:_SHOWN]

    async def _script(self, text: str, seconds: float, env: Mapping[str, str]) -> ProcessResult:
        """Run a script of the task's, in a folder that nobody could have known: modules beside it would be its own."""
        folder = f"/tmp/{secrets.token_hex(16)}"
        await self.at.sandbox.write_file(f"{folder}/script", text, mode=0o700)
        argv = _interpreter(text) or ["sh"]
        done = await self.at.exec([*argv, f"{folder}/script"], seconds, stdin=b"", env=env)
        await self.at.sandbox.remove(folder, recursive=True, missing_ok=True)
        return done

    async def _flag(self) -> Reward:
        """Whether the file holds the flag; the policy may have left one of any size."""
        how = self._task.verification
        try:
            found = await self.at.sandbox.read_file(
                how.flag_path, max_bytes=_MOST_FLAG_BYTES, timeout_seconds=how.timeout_seconds
            )
        except SandboxFileError as error:
            if error.reason == "IO_FAILED":
                raise
            return self._reward(False, detail=str(error))
        return self._reward(flag_digest(found.decode("utf-8", "replace")) == how.flag_hash)

    async def _end_processes(self) -> None:
        """What the policy has started in the background could change what is verified."""
        for _ in range(_END_ROUNDS):
            left = await self.at.sandbox.processes()
            if not left:
                return
            for process in left:
                with suppress(ValidationError):  # it has ended by itself
                    await self.at.sandbox.kill(process.pid, signal.SIGKILL)
        raise PlatformError("the processes that the policy has started do not end")


def _interpreter(program: str) -> list[str]:
    """What its first line says that it is run by; nothing where it says none, or nothing that can be read."""
    first = program.split("\n", 1)[0]
    try:
        return shlex.split(first[2:]) if first.startswith("#!") else []
    except ValueError:
        return []


async def _place_of(
    at: Workplace, script: str, files: Mapping[str, str], environment: Mapping[str, str]
) -> JudgedPlace:
    """Runs on the sdk's loop."""
    sandbox = await at.sandbox.running_port()
    return await judged_place(sandbox, script, workdir=at.directory, files=files, environment=environment)


async def _judged_in(place: JudgedPlace, at: Workplace, how: Verification, stdin: bytes) -> Judged:
    """Runs on the sdk's loop."""
    sandbox, code = await at.sandbox.running_port(), how.expected_exit_code
    return await place.judged(
        sandbox, seconds=how.timeout_seconds, stdin=stdin, code=code, keeps_processes=how.keep_processes
    )


async def solved(task: Task, row: PromptRow, *, seconds: float = 300.0) -> Reward:
    """What the task's own solution earns in a fresh environment: 1, or the verification is not right. Raises
    ValidationError for a task without one, and what the environment raises."""
    if task.solution is None:
        raise ValidationError(f"task {task.name} has no solution to be tried")
    environment = TaskEnvironment(task, acting="shell", seconds=seconds, is_authors=True)
    try:
        await environment.reset(row)
        await environment.step(task.solution)
        return await environment.outcome()
    finally:
        await environment.close()


def inputs_of(row: PromptRow) -> dict[str, str]:
    """What a row gives for a task's inputs."""
    given = row.metadata.get("env_inputs", row.metadata.get("inputs", {}))
    return {str(name): str(value) for name, value in given.items()} if isinstance(given, Mapping) else {}
