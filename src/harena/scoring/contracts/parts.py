"""What all scoring contracts are made of: strict models, and the types of their fields."""

from __future__ import annotations

import contextlib
import keyword
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema

from harena.core.results import Trust
from harena.scoring.contracts.carry import carried, defines, parsed
from harena.scoring.contracts.patterns import check_pattern
from harena.scoring.contracts.scorer_trust import may_execute_text
from harena.scoring.digests import digest_of
from harena.scoring.late_models import BUILT_WITH_FIRST_VALUE
from harena.scoring.python_source import MOST_SCORER_TOKENS, SourceTooLargeError
from harena.scoring.slices import MOST_AT_ONCE, size_at_least
from harena.scoring.values import from_tagged

_Files = TypeVar("_Files", bound=Mapping[str, str])

DEFINITION = "x-definition"
"""marks a part of the JSON Schema that `schema` defines"""

MAX_TEXT = 8 * 1024 * 1024
"""characters of one source, file or input"""

MAX_SECONDS = 86_400

MOST_FILES = 1000
"""largest number of files of one candidate, problem or contract"""

MOST_PARTS = 64
"""largest number of folders of a path, and its file"""

MOST_FOLDERS = 4000
"""largest number of folders that the files of one candidate, problem or contract lie in: each is watched"""

MAX_NAME_BYTES, MAX_PATH_BYTES = 255, 1024
"""size limit of one part of a path, and of a whole path"""
_TOO_LONG = f"is too long for a file system: a name has at most {MAX_NAME_BYTES} bytes, a path {MAX_PATH_BYTES}"

MOST_PATTERNS, MOST_PATTERN_CHARACTERS = 100, 8192
"""largest number of patterns of names in one field, and size limit of all of them"""


class Strict(BaseModel):
    """Nothing is converted, nothing unknown is ignored, nothing changes afterwards."""

    model_config = ConfigDict(
        strict=True, extra="forbid", frozen=True, allow_inf_nan=False, defer_build=BUILT_WITH_FIRST_VALUE
    )


def _value(written: Any) -> Any:
    return carried(from_tagged(written))


def relative_path(path: str) -> str:
    """The path itself. Raises ValueError if no file below the working directory can have it."""
    if len(path.encode("utf-8", "surrogatepass")) > MAX_PATH_BYTES:  # before it is taken apart: it may have any length
        raise ValueError(_TOO_LONG)
    parts = path.split("/")
    if len(parts) > MOST_PARTS:
        raise ValueError(f"lies too deep: a path has at most {MOST_PARTS} parts")
    if not path or path.startswith("/") or "\0" in path or any(part in ("", ".", "..") for part in parts):
        raise ValueError("must be a relative path below the working directory, without '.', '..' or empty parts")
    if any(len(part.encode("utf-8", "surrogatepass")) > MAX_NAME_BYTES for part in parts):
        raise ValueError(_TOO_LONG)
    return path


def regular_expression(pattern: str) -> str:
    """The pattern itself. Raises ValueError where Python cannot compile it, or would take very long."""
    check_pattern(pattern)
    return pattern


def _gold(written: Any) -> Any:
    return {"solution.py": written} if isinstance(written, str) else written


def _seconds(value: float) -> float:
    if not 0 < value <= MAX_SECONDS:
        raise ValueError(f"must be more than 0 and at most {MAX_SECONDS} (a day), not {value!r}")
    return value


def program(source: str) -> str:
    """The program itself. Raises ValueError if it is not Python; it is not run. A very large one is not looked into:
    whoever runs it says what is wrong."""
    with contextlib.suppress(SourceTooLargeError):
        parsed(source)
    return source


def scorer(source: str) -> str:
    """The scorer itself. Raises ValueError if it is not Python, or defines no `score`; it is not run."""
    if not defines(parsed(source, most_tokens=MOST_SCORER_TOKENS), "score"):
        raise ValueError("defines no function `score`; it must begin with something like `def score(run):`")
    may_execute_text(source)  # which is remembered: whoever asks for the contract's trust does not wait for it
    return source


def class_name(name: str) -> str:
    """The name itself. Raises ValueError if it is not one word."""
    if not name.isidentifier() or keyword.iskeyword(name):
        raise ValueError(f"must be the name of an exception class alone, as ValueError, not {name!r}")
    return name


def trusted_files(files: dict[str, str]) -> dict[str, str]:
    """The files themselves. Raises ValueError if one that ends in .py is not Python."""
    for path, text in files.items():
        if path.endswith(".py"):
            try:
                parsed(text)
            except ValueError as error:
                raise ValueError(f"{path!r} {error}") from None
    return files


def folders_of(paths: Iterable[str], most: int | None = None) -> set[str]:
    """Every folder above these paths but the working directory, or the root of absolute ones; with `most`, no more than
    one beyond that many. Each is looked at once: files may lie deep, and many in one folder."""
    found: set[str] = set()
    for path in paths:
        folder = path.rpartition("/")[0]
        while folder and folder not in found:
            found.add(folder)
            if most is not None and len(found) > most:
                return found
            folder = folder.rpartition("/")[0]
    return found


def small_in_all(patterns: tuple[str, ...]) -> tuple[str, ...]:
    """The patterns themselves. Raises ValueError if they are too large together: each is compared with each name."""
    size = sum(map(len, patterns))
    if size > MOST_PATTERN_CHARACTERS:
        raise ValueError(f"have {size} characters in all, more than the {MOST_PATTERN_CHARACTERS} allowed")
    return patterns


def no_collisions(files: _Files) -> _Files:
    """The files themselves. Raises ValueError if one of them would have to be a folder for another, or if they need too
    many folders."""
    folders = folders_of(files, MOST_FOLDERS)
    if len(folders) > MOST_FOLDERS:
        raise ValueError(f"the files need more than the {MOST_FOLDERS} folders allowed")
    for path in files:
        if path in folders:
            held = next(each for each in files if each.startswith(f"{path}/"))
            raise ValueError(f"{path!r} is a file and cannot also hold {held!r}")
    return files


_SECONDS_SCHEMA = {"type": "number", "exclusiveMinimum": 0, "maximum": MAX_SECONDS}

Value = Annotated[Any, BeforeValidator(_value), WithJsonSchema({DEFINITION: "Value"})]
"""a value in the tagged notation of `values`"""
Text = Annotated[str, Field(max_length=MAX_TEXT)]
RelativePath = Annotated[str, Field(max_length=1024), AfterValidator(relative_path)]
Files = Annotated[dict[RelativePath, Text], Field(max_length=MOST_FILES), AfterValidator(no_collisions)]
Gold = Annotated[Files, BeforeValidator(_gold)]
"""files of a right solution, or its text (as `solution.py`)"""
Seconds = Annotated[float, AfterValidator(_seconds), WithJsonSchema(_SECONDS_SCHEMA)]
Weight = Annotated[float, Field(ge=0)]
Score = Annotated[float, Field(ge=0, le=1)]
Arguments = Annotated[tuple[str, ...], Field(strict=False)]
Patterns = Annotated[
    tuple[Annotated[str, Field(max_length=MAX_PATH_BYTES)], ...],
    Field(strict=False, max_length=MOST_PATTERNS),
    AfterValidator(small_in_all),
]
"""patterns of names of files, see `harena.scoring.name_patterns`"""


class Contract(Strict):
    """What all contracts share."""

    timeout_seconds: Seconds | None = None
    """time of everything that the candidate runs; None = the scenario's, else the job's"""

    @property
    def trust(self) -> Trust:
        """Whether candidate code can reach the place where the verdict is computed."""
        return Trust.SEPARATE

    @property
    def shared_because(self) -> str | None:
        """Why the trust is `shared` though the contract's type could have `separate`; None = nothing to say."""
        return None

    @property
    def version(self) -> str:
        """Changes whenever the same run could get another score."""
        raise NotImplementedError

    @cached_property
    def size(self) -> int:
        """About how many characters it has, or more than a piece of work in the event loop may have: looked at once."""
        return size_at_least(self, most=MOST_AT_ONCE)

    @cached_property
    def fingerprint(self) -> str:
        """A digest of what the contract says, for the evidence. What is as by default says nothing, so that a field
        that is added later changes no digest."""
        return digest_of(self.model_dump(exclude_defaults=True))


def weights_count(weights: list[float]) -> None:
    """Raises ValueError if nothing weighs anything."""
    if sum(weights) <= 0:
        raise ValueError("at least one weight must be more than 0")
