"""What is wrong with a Dockerfile, told with its line and its instruction."""

from __future__ import annotations

from harena.core.errors import ValidationError

REASON = "DOCKERFILE"
_MOST_SHOWN = 80


class DockerfileError(ValidationError):
    """A Dockerfile, or what it asks for, cannot be built."""


def fault(line: int, instruction: str, why: str, what_to_do: str) -> DockerfileError:
    """The error for one instruction. `line`: the first line has number 1."""
    return DockerfileError(f"Dockerfile line {line}: {instruction}: {why}. {what_to_do}", reason=REASON)


def shown(text: str) -> str:
    """A text for people, cut where it is long."""
    return ascii(text[:_MOST_SHOWN]) + ("..." if len(text) > _MOST_SHOWN else "")
