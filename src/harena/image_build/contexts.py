"""What begins a build: an archive with `build.json` and the context below `context/`."""

from __future__ import annotations

import base64
import binascii
import io
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from harena.core.errors import ValidationError
from harena.core.images import parse_reference
from harena.core.json_steps import parse
from harena.core.network_policy import policy_in_words
from harena.core.path_patterns import PathPatternError, PathRules, rules_of_file
from harena.core.records.image_builds import BuildRequest
from harena.core.tar_reader import TarReader, TarStreamError
from harena.image_build.source_trees import FILE, FOLDER, IGNORE, Node, TarTree, find

REQUEST, CONTEXT = "build.json", "context"
MOST_REQUEST_BYTES = 4 * 1024 * 1024
_MOST_IGNORE_BYTES = 256 * 1024
_MOST_NETWORK = 20_000
_MOST_NAMES = 20
_MOST_SECONDS = 24 * 3600.0
_LEAST_MEMORY_MB, _MOST_MEMORY_MB = 16, 1 << 20


@dataclass(frozen=True, slots=True)
class Received:
    """What was sent, checked as far as it can be without the Dockerfile."""

    request: BuildRequest
    secrets: dict[str, bytes]
    context: ContextTree


class ContextTree(TarTree):
    """The context, which lies below a folder of the archive."""

    def root(self) -> Node:
        """The context's own directory inside the archive; an empty one where the archive has none."""
        found = self.child(super().root(), CONTEXT)
        return found if found is not None and found.kind == FOLDER else Node("", FOLDER, 0o755)


def read_archive(file: Path) -> Received:
    """Read what was sent, and wipe the request out of the file, which stays for as long as the build: it has secrets.
    Raises ValidationError, OSError. Blocking."""
    request = _request(file)
    secrets = {name: _secret(name, content) for name, content in request.secrets.items()}
    try:
        if request.ignore is not None:
            rules = rules_of_file(request.ignore)
        else:
            whole = ContextTree.read(file, "the context")
            rules = rules_of_file(_ignore_file(whole))
    except PathPatternError as error:
        raise ValidationError(f"{IGNORE}: {error}", reason="CONTEXT") from None
    context = ContextTree.read(file, "the context", rules=_below(rules) if rules.rules else None)
    return Received(request, secrets, context)


def _ignore_file(tree: ContextTree) -> str:
    found = find(tree, IGNORE)
    if found is None or found.kind != FILE:
        return ""
    if found.size > _MOST_IGNORE_BYTES:
        raise ValidationError(f"{IGNORE} has more than {_MOST_IGNORE_BYTES} bytes", reason="CONTEXT")
    return b"".join(tree.content(found)).decode(errors="replace")


class _Below(PathRules):
    """Rules for paths that stand below the context's folder."""

    def leaves_out(self, path: str, spend: Callable[[int], None] | None = None) -> bool:
        folder, _, below = path.partition("/")
        return folder == CONTEXT and bool(below) and PathRules.leaves_out(self, below, spend)


def _below(rules: PathRules) -> PathRules:
    return _Below(rules.rules)


def _request(file: Path) -> BuildRequest:
    with file.open("r+b") as stream:
        try:
            reader = TarReader(stream)
            first = next(iter(reader), None)
            if first is None or first.name != REQUEST or not first.is_file or first.size > MOST_REQUEST_BYTES:
                raise ValidationError(
                    f"the archive must begin with a file {REQUEST} of at most {MOST_REQUEST_BYTES} bytes",
                    reason="CONTEXT",
                )
            content, begin = io.BytesIO(), stream.tell()
            while piece := reader.read(1024 * 1024):
                content.write(piece)
            stream.seek(begin)
            stream.write(bytes(first.size))
        except TarStreamError as error:
            raise ValidationError(f"what was sent is no whole tar archive: {error}", reason="CONTEXT") from None
    try:
        request = BuildRequest.from_dict(parse(content.getvalue()))
    except (ValueError, RecursionError) as error:
        raise ValidationError(f"{REQUEST}: {error}", reason="CONTEXT") from None
    _check(request)
    return request


def _check(request: BuildRequest) -> None:
    fields = (request.dockerfile, request.target, request.network, *request.references)
    mappings = (request.arguments, request.secrets)
    texts = [*fields, *(word for one in mappings for pair in one.items() for word in pair)]
    if not all(isinstance(text, str) for text in texts) or not isinstance(request.ignore, str | None):
        raise ValidationError(f"{REQUEST}: a field that should be a text is none", reason="CONTEXT")
    if any("\0" in text or any("\ud800" <= char <= "\udfff" for char in text) for text in texts):
        raise ValidationError(f"{REQUEST}: a text has a NUL, or half a character", reason="CONTEXT")
    if len(request.references) > _MOST_NAMES:
        raise ValidationError(f"an image is built under {_MOST_NAMES} names at most", reason="CONTEXT")
    for reference in request.references:
        if parse_reference(reference).digest is not None:
            raise ValidationError(f"{reference!r:.200} has a digest, which the build cannot know: leave it out")
    if len(request.network) > _MOST_NETWORK:
        raise ValidationError(f"network has more than {_MOST_NETWORK} characters", reason="CONTEXT")
    policy_in_words(request.network)
    for name, value, least, most in (
        ("timeout_seconds", request.timeout_seconds, 0.0, _MOST_SECONDS),
        ("memory_mb", request.memory_mb, _LEAST_MEMORY_MB, _MOST_MEMORY_MB),
    ):
        if isinstance(value, bool) or not isinstance(value, int | float) or not least < value <= most:
            raise ValidationError(f"{name} must be a number above {least} and up to {most}", reason="CONTEXT")
    if not isinstance(request.memory_mb, int) or not isinstance(request.use_cache, bool):
        raise ValidationError(f"{REQUEST}: memory_mb is a whole number, and use_cache true or false", reason="CONTEXT")


def _secret(name: str, content: str) -> bytes:
    try:
        return base64.b64decode(content, validate=True)
    except (binascii.Error, ValueError):
        raise ValidationError(f"the secret {name!r:.100} is not in base64", reason="CONTEXT") from None
