"""Tasks: an environment that a policy works in, and how it is found out whether it did what it was asked to.

A task is a directory with `task.yaml`:

    name: mend-the-tests
    version: 1.0.0
    instruction: Make the tests in {{folder}} pass.
    inputs: {folder: /workspace}             what {{...}} stands for; a row's metadata (`inputs`) comes before it
    files: environment                       a folder of text files, put into the working directory
    blueprint: python-tools                  what the sandbox is made of
    provision: {script: provision.sh, timeout: 120}
    teardown: {script: teardown.sh, timeout: 120}
    verification: {method: script, script: verify.sh, timeout: 30, expected_exit_code: 0}
    solution: solve.sh                       a shell script that does what is asked for; see `solved`

or the same as a mapping, whose `files` are {path: text} and whose scripts are given as `{source: ...}`. Inputs are also
environment variables (`folder` is INPUT_FOLDER): all, of the scripts that verify and tear down; of the policy's
commands those that the instruction, the prompt or a file names, as `{{folder}}` or INPUT_FOLDER; and of the provision
script what it names itself, too. So a row can tell its verification what the policy must not read. An instruction
reaches the policy where a prompt says `{{instruction}}`. How a task is verified:

    flag        {hash} or {expected}: what the policy says is the flag. `hash` is the sha256 of the flag, in
                hexadecimal digits, with "sha256:" before it or not
    script      {script, timeout (30), expected_exit_code (0)}: the script ends with that code. Its standard input is
                what was said last
    env_flag    {flag_path (/tmp/flag), hash or expected, timeout (10)}: the flag is in a file of the environment
    env_script  {script_path, timeout (30), expected_exit_code (0)}: as `script`; a file of the task's environment, or,
                where that has none, of the image. The text that it had before the policy acted is run
    scoring     {scoring}: a scoring contract judges what was said, in fresh sandboxes; one that runs programs judges
                the program in it
    llm_judge   {model, rubric, passing_threshold (0.5), system_prompt}: a model judges the conversation

Scripts run in the sandbox that the policy has worked in, after every process that it started was ended; with
`keep_processes: true` they go on beside `script` and `env_script`, for tasks that ask for a server. They are put there
only then, so the policy never sees them; but what it left is what they run in. It is put in order before, as for
the verifier of a Harbor task (`harena.scoring.scorers.script_verifier`). Where that is not enough, let `scoring` judge
files in fresh sandboxes.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from harena.core.errors import ValidationError
from harena.training.reading import apart

Method = Literal["flag", "script", "env_flag", "env_script", "scoring", "llm_judge"]
_ALLOWED: Mapping[str, frozenset[str]] = {
    "flag": frozenset({"hash", "flag_hash", "expected"}),
    "script": frozenset({"script", "where", "timeout", "expected_exit_code", "keep_processes"}),
    "env_flag": frozenset({"flag_path", "hash", "flag_hash", "expected", "timeout", "timeout_sec"}),
    "env_script": frozenset({"script_path", "timeout", "timeout_sec", "expected_exit_code", "keep_processes"}),
    "scoring": frozenset({"scoring"}),
    "llm_judge": frozenset({"model", "rubric", "passing_threshold", "system_prompt"}),
}
_FIELDS = frozenset(
    {"name", "version", "instruction", "inputs", "files", "blueprint", "provision", "teardown", "verification"}
    | {"solution", "description"}
)
_SHA256 = re.compile(r"(?:sha256:)?([0-9a-fA-F]{64})")
_VARIABLE = re.compile(r"\bINPUT_\w+")
_TEMPLATE = re.compile(r"\{\{\s*(\w+)\s*\}\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """How it is found out whether a task was done."""

    method: Method
    flag_hash: str = ""
    """sha256 in hexadecimal digits"""
    flag_path: str = "/tmp/flag"
    script: str | None = None
    """its text"""
    script_path: str = ""
    """path of the script in the image, where there is no text"""
    expected_exit_code: int = 0
    keep_processes: bool = False
    """what the policy has started goes on beside the script"""
    timeout_seconds: float = 30.0
    scoring: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A task, read."""

    name: str
    instruction: str
    verification: Verification
    inputs: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    """path, relative to the working directory or absolute: text"""
    blueprint: str | None = None
    provision: str | None = None
    """a script's text"""
    provision_seconds: float = 120.0
    teardown: str | None = None
    teardown_seconds: float = 120.0
    solution: str | None = None
    """a shell script's text"""

    def instructed(self, inputs: Mapping[str, str]) -> str:
        """The instruction with its variables filled in. Raises ValidationError for one that is not given."""
        given = {**self.inputs, **inputs}
        missing = sorted({name for name in _TEMPLATE.findall(self.instruction) if name not in given})
        if missing:
            raise ValidationError(f"task {self.name}: nothing is given for {', '.join(missing)} of its instruction")
        return _TEMPLATE.sub(lambda found: given[found[1]], self.instruction)

    def environment(self, inputs: Mapping[str, str]) -> dict[str, str]:
        """The environment variables of scripts that the policy never sees: all inputs."""
        return {f"INPUT_{name.upper()}": value for name, value in {**self.inputs, **inputs}.items()}

    def shown_environment(self, inputs: Mapping[str, str], *texts: str) -> dict[str, str]:
        """The environment variables of what runs where the policy is: inputs that the instruction, a file or one of
        these texts names. The others are for who verifies."""
        named = {f"INPUT_{name.upper()}" for name in _TEMPLATE.findall(self.instruction)}
        for text in (self.instruction, *self.files.values(), *texts):
            named.update(_VARIABLE.findall(text))
        return {name: value for name, value in self.environment(inputs).items() if name in named}


def read_task(folder: Path) -> Task:
    """The task of a directory. Raises ValidationError that lists every mistake."""
    told = _task_told(folder)
    return Task(**{**told, "verification": Verification(**told["verification"])})


@apart
def _task_told(folder: Path) -> dict[str, Any]:
    from harena.scoring.reading import read_document

    path = folder / "task.yaml"
    if not path.is_file():
        raise ValidationError(f"{folder} is no task: it has no task.yaml")
    content = read_document(path).content
    return asdict(task_of(content, folder=folder))


def task_of(written: Any, *, folder: Path | None = None) -> Task:
    """The task that a mapping describes; scripts and files that it names are read from `folder`. Raises ValidationError
    that lists every mistake."""
    if not isinstance(written, Mapping):
        raise ValidationError(f"a task is a mapping (got {type(written).__name__})")
    reader = _Reader(dict(written), folder)
    task = reader.task()
    if reader.mistakes:
        where = "this task" if folder is None else str(folder / "task.yaml")
        raise ValidationError("\n  ".join([f"{where} has mistakes:", *reader.mistakes]))
    return task


class _Reader:
    """Reads fields, and notes what is wrong with them."""

    def __init__(self, written: dict[str, Any], folder: Path | None) -> None:
        self.mistakes: list[str] = []
        self._written = written
        self._folder = folder

    def task(self) -> Task:
        if self._written.pop("ports", None):
            self.mistakes.append("ports: an environment of harena has none; let a script talk to what it starts itself")
        for name in sorted(set(self._written) - _FIELDS):
            self.mistakes.append(f"{name}: unknown field; a task has {', '.join(sorted(_FIELDS))}")
        provision, seconds = self._scripted("provision")
        teardown, teardown_seconds = self._scripted("teardown")
        solution = self._written.get("solution")
        files = self._files()
        return Task(
            name=self._text("name"),
            instruction=self._text("instruction"),
            verification=self._verification(files),
            inputs=self._texts(self._written.get("inputs") or {}, "inputs"),
            files=files,
            blueprint=self._text("blueprint", needed=False) or None,
            provision=provision,
            provision_seconds=seconds,
            teardown=teardown,
            teardown_seconds=teardown_seconds,
            solution=None if solution is None else self._script(solution, "solution"),
        )

    def _text(self, name: str, *, needed: bool = True) -> str:
        value = self._written.get(name, "" if not needed else None)
        if not isinstance(value, str) or (needed and not value.strip()):
            self.mistakes.append(f"{name}: must be a text" + (" that is not empty" if needed else ""))
            return ""
        return value

    def _texts(self, value: Any, name: str) -> dict[str, str]:
        if not isinstance(value, Mapping) or not all(isinstance(part, str | int | float) for part in value.values()):
            self.mistakes.append(f"{name}: must be a mapping of names to texts or numbers")
            return {}
        return {str(key): str(part) for key, part in value.items()}

    def _files(self) -> dict[str, str]:
        value = self._written.get("files") or {}
        if isinstance(value, str):
            return self._folder_files(value)
        return self._texts(value, "files")

    def _folder_files(self, name: str) -> dict[str, str]:
        folder = self._inside(name, "files")
        if folder is None:
            return {}
        if not folder.is_dir():
            self.mistakes.append(f"files: {name} is no folder of the task")
            return {}
        found = {}
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                found[str(path.relative_to(folder))] = self._read(path, "files")
        return found

    def _inside(self, name: str, of: str) -> Path | None:
        """A path of the task's folder."""
        if self._folder is None:
            self.mistakes.append(f"{of}: {name!r} names a file, and this task has no folder: give its text as source")
            return None
        path = (self._folder / name).resolve()
        if not path.is_relative_to(self._folder.resolve()):
            self.mistakes.append(f"{of}: {name} is outside of the task's folder")
            return None
        return path

    def _read(self, path: Path, of: str) -> str:
        try:
            with path.open(encoding="utf-8", newline="") as file:  # line ends may be what a task is about
                return file.read()
        except (OSError, UnicodeDecodeError) as error:
            self.mistakes.append(f"{of}: {path.name} cannot be read as text: {_why(error)}")
            return ""

    def _script(self, value: Any, of: str) -> str | None:
        if isinstance(value, Mapping) and isinstance(value.get("source"), str):
            return str(value["source"])
        if isinstance(value, str):
            path = self._inside(value, of)
            return None if path is None else self._read(path, of)
        self.mistakes.append(f"{of}: must be the name of a file, or {{source: the script's text}}")
        return None

    def _scripted(self, name: str) -> tuple[str | None, float]:
        value = self._written.get(name)
        if value is None:
            return None, 120.0
        if not isinstance(value, Mapping):
            self.mistakes.append(f"{name}: must be {{script, timeout}}")
            return None, 120.0
        written = value if "source" in value else value.get("script")
        return self._script(written, f"{name}.script"), self._seconds(value, name, 120.0)

    def _seconds(self, value: Mapping[str, Any], of: str, default: float) -> float:
        given = value.get("timeout", value.get("timeout_sec", default))
        if isinstance(given, bool) or not isinstance(given, int | float) or not 0 < given <= 86_400:
            self.mistakes.append(f"{of}.timeout: must be seconds, above 0 and at most a day")
            return default
        return float(given)

    def _verification(self, files: Mapping[str, str]) -> Verification:
        value = self._written.get("verification")
        method: Any = value.get("method") if isinstance(value, Mapping) else None
        if not isinstance(value, Mapping) or method not in _ALLOWED:
            self.mistakes.append(f"verification.method: must be one of {', '.join(_ALLOWED)}")
            return Verification(method="flag")
        for name in sorted(set(value) - _ALLOWED[method] - {"method"}):
            known = ", ".join(sorted(_ALLOWED[method]))
            self.mistakes.append(f"verification.{name}: {method} has no such field; it has {known}")
        fields: dict[str, Any] = {"method": method}
        if method in ("flag", "env_flag"):
            fields |= {"flag_hash": self._hash(value), "flag_path": value.get("flag_path", "/tmp/flag")}
        if method in ("script", "env_script"):
            fields |= dict(self._verifying_script(value, method, files))
        if method == "scoring":
            fields["scoring"] = self._scoring(value.get("scoring"))
        if method == "llm_judge":
            fields["scoring"] = self._judge(value)
        default = 10.0 if method == "env_flag" else 30.0
        return Verification(**fields, timeout_seconds=self._seconds(value, "verification", default))

    def _hash(self, value: Mapping[str, Any]) -> str:
        written, expected = value.get("hash", value.get("flag_hash")), value.get("expected")
        if isinstance(expected, str) and written is None:
            return flag_digest(expected)
        found = _SHA256.fullmatch(written) if isinstance(written, str) and expected is None else None
        if found is None:
            self.mistakes.append("verification: needs `hash` (sha256, 64 hexadecimal digits) or `expected`")
            return ""
        return found[1].lower()

    def _verifying_script(
        self, value: Mapping[str, Any], method: str, files: Mapping[str, str]
    ) -> Iterator[tuple[str, Any]]:
        code = value.get("expected_exit_code", 0)
        if isinstance(code, bool) or not isinstance(code, int) or not 0 <= code <= 255:
            self.mistakes.append("verification.expected_exit_code: must be from 0 to 255")
        yield "expected_exit_code", code
        keeps = value.get("keep_processes", False)
        if not isinstance(keeps, bool):
            self.mistakes.append("verification.keep_processes: must be true or false")
        yield "keep_processes", keeps is True
        if value.get("where", "environment") not in ("environment", "agent"):
            self.mistakes.append("verification.where: must be environment or agent (harena has one sandbox for both)")
        if method == "script":
            yield "script", self._script(value.get("script"), "verification.script")
            return
        path = value.get("script_path")
        if not isinstance(path, str) or not path:
            self.mistakes.append("verification.script_path: must be the path of a script")
        elif path in files:
            yield "script", files[path]
        else:
            yield "script_path", path

    def _scoring(self, scoring: Any) -> Mapping[str, Any]:
        if not isinstance(scoring, Mapping):
            self.mistakes.append("verification.scoring: must be a scoring contract")
            return {}
        return scoring

    def _judge(self, value: Mapping[str, Any]) -> Mapping[str, Any]:
        try:
            return judge_contract(**{name: part for name, part in value.items() if name in _ALLOWED["llm_judge"]})
        except (TypeError, ValidationError) as error:
            self.mistakes.append(f"verification: {error}")
            return {}


def _why(error: OSError | UnicodeDecodeError) -> str:
    """Without the file's place on this machine."""
    return str(error.strerror) if isinstance(error, OSError) else f"it is not UTF-8 (byte {error.start})"


def judge_contract(
    *, model: str, rubric: str, passing_threshold: float = 0.5, system_prompt: str | None = None, task: str = ""
) -> dict[str, Any]:
    """The scoring contract of a model's judgement from 0 to 1; `task`: what was asked for. Raises ValidationError."""
    if not 0 <= passing_threshold <= 1:
        raise ValidationError(f"passing_threshold must be from 0 to 1 (got {passing_threshold})")
    system = [{"role": "system", "content": "{{ item.system_prompt }}"}] if system_prompt else []
    asked = "What was asked for:\n{{ item.task }}\n\nThe answer:\n" if task else ""
    question = "{{ item.rubric }}\n\n" + asked + "{{ sample.output_text }}"
    return {
        "type": "score_model",
        "model": model,
        "messages": [
            *system,
            {"role": "user", "content": question},
        ],
        "item": {"rubric": rubric, "system_prompt": system_prompt or "", "task": task},
        "pass_mark": passing_threshold,
    }


def flag_digest(flag: str) -> str:
    """sha256 of a flag without the white space around it, in hexadecimal digits."""
    return hashlib.sha256(flag.strip().encode("utf-8", "surrogatepass")).hexdigest()
