"""What the operator says of registries, and what skopeo says of them when it fails, as errors. Decisions only."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from harena.core import settings
from harena.core.errors import HarenaError, ImagePullError, NotFoundError, ValidationError
from harena.core.images import ImageReference

PUBLIC = (
    *("docker.io", "ghcr.io", "quay.io", "gcr.io", "registry.k8s.io", "mcr.microsoft.com", "public.ecr.aws"),
    "registry.gitlab.com",
)
_MOST_TOLD = 400
_QUOTED = re.compile(r"\\(.)")
"""a letter that skopeo's log has behind a backslash"""

_IMPORTED = "import it: harena image import FILE {asked}"


@dataclass(frozen=True, slots=True)
class Registries:
    """The operator's settings."""

    allowed: Sequence[str] | None
    """hosts; None = any"""
    without_tls: frozenset[str]
    mirrors: Mapping[str, Sequence[str]]
    """registry -> hosts of its mirrors, each perhaps with a path"""
    auth_file: str | None

    @classmethod
    def of(cls, environ: Mapping[str, str] | None, *, for_server: bool) -> Registries:
        """What the environment says. Raises ValidationError."""
        mirrors: dict[str, list[str]] = {}
        for pair in _words_of(settings.REGISTRY_MIRRORS, environ):
            registry, equals, mirror = pair.partition("=")
            if not equals or not registry or not mirror:
                raise ValidationError(f"{settings.REGISTRY_MIRRORS.name}: write {pair!r:.100} as REGISTRY=MIRROR")
            mirrors.setdefault(registry, []).append(mirror.rstrip("/"))
        allowed = settings.REGISTRIES.read(environ)
        return cls(
            allowed=_words_of(settings.REGISTRIES, environ) if allowed else PUBLIC if for_server else None,
            without_tls=frozenset(_words_of(settings.REGISTRIES_WITHOUT_TLS, environ)),
            mirrors=mirrors,
            auth_file=settings.REGISTRY_AUTH_FILE.read(environ) or None,
        )

    def check(self, reference: ImageReference) -> None:
        """Raises ValidationError for an image of a registry that may not be asked."""
        if self.allowed is not None and reference.registry not in self.allowed:
            raise ValidationError(
                f"images of {reference.registry} may not be pulled here, but only those of {', '.join(self.allowed)}; "
                f"the operator can allow others ({settings.REGISTRIES.name})"
            )

    def places(self, reference: ImageReference) -> Sequence[str]:
        """Names of the repository, in the order in which they are asked: mirrors come first."""
        mirrored = [f"{mirror}/{reference.repository}" for mirror in self.mirrors.get(reference.registry, ())]
        return [*mirrored, reference.name]

    def has_tls(self, name: str) -> bool:
        """The host of this repository has a certificate that is checked."""
        return name.partition("/")[0] not in self.without_tls


def fault(said: str, asked: str) -> HarenaError:
    """The error for what skopeo has said when it failed to get something."""
    words = last_message(said)
    for pattern, make in _FAULTS:
        if re.search(pattern, said, re.IGNORECASE):
            return make(asked, words)
    return _registry("{asked} cannot be had", "look at what the registry says")(asked, words)


def is_passing(error: HarenaError) -> bool:
    """Whether the request may succeed in a moment."""
    return error.reason == "REGISTRY" and bool(re.search(_PASSING, str(error), re.IGNORECASE))


_PASSING = (
    r"connection refused|connection reset|no route to host|i/o timeout|handshake timeout|deadline exceeded|"
    r"unexpected EOF|: EOF|temporary failure|server misbehaving|\b50[0234]\b|sends nothing"
)


def _not_found(asked: str, told: str) -> HarenaError:
    return NotFoundError(
        f"there is no image {asked} ({_IMPORTED.format(asked=asked)}): its registry says: {told}",
        reason="IMAGE_NOT_FOUND",
    )


def _access(asked: str, told: str) -> HarenaError:
    return ImagePullError(
        f"the registry of {asked} refuses the pull; the image may not exist, or needs a login (`skopeo login` on the "
        f"machine of the node, or {settings.REGISTRY_AUTH_FILE.name}). It says: {told}",
        step="pull",
        reason="REGISTRY_ACCESS",
    )


def _rate(asked: str, told: str) -> HarenaError:
    return ImagePullError(
        f"the registry of {asked} answers no more requests for now: wait, log in (which raises the limit of most "
        f"registries), or use a mirror ({settings.REGISTRY_MIRRORS.name}). It says: {told}",
        step="pull",
        reason="REGISTRY_RATE",
    )


def _space(asked: str, told: str) -> HarenaError:
    return ImagePullError(f"the disk is full while {asked} is pulled: {told}", step="pull", reason="IMAGE_SPACE")


def _corrupt(asked: str, told: str) -> HarenaError:
    return ImagePullError(
        f"the registry of {asked} has sent what its digest does not say: {told}", step="pull", reason="IMAGE_BROKEN"
    )


class _registry:  # noqa: N801 - makes errors as the functions above do
    """Makes an error about a registry that does not answer as it should."""

    def __init__(self, what: str, advice: str) -> None:
        self._what, self._advice = what, advice

    def __call__(self, asked: str, told: str) -> HarenaError:
        what = self._what.format(asked=asked)
        advice = f"{self._advice}, or {_IMPORTED.format(asked=asked)}"
        return ImagePullError(f"{what}: {advice}. It was said: {told}", step="pull", reason="REGISTRY")


_FAULTS = (
    (r"toomanyrequests|too many requests|rate limit|status(?: ?code)?:? 429", _rate),
    (r"no space left on device|disk quota exceeded", _space),
    (r"manifest unknown|name unknown|name_unknown|repository name not known|blob unknown|\b404\b", _not_found),
    (r"unauthorized|authentication required|access to the resource is denied|\b40[13]\b|forbidden", _access),
    (
        r"server gave HTTP response to HTTPS client",
        _registry(
            "the registry of {asked} speaks plain HTTP",
            f"where that is meant, name its host and port in {settings.REGISTRIES_WITHOUT_TLS.name}",
        ),
    ),
    (
        r"x509|certificate|tls:",
        _registry("the registry of {asked} shows no certificate that can be trusted", "install its authority"),
    ),
    (r"digest(?:s)? did not match|does not match|digest mismatch|invalid checksum", _corrupt),
    (
        r"no such host|connection refused|no route to host|network is unreachable|timeout|deadline exceeded",
        _registry("the registry of {asked} cannot be reached", "check its name and the network of the node"),
    ),
)


def last_message(said: str) -> str:
    """The last thing that skopeo has said, without what it says of itself."""
    lines = [line for line in said.splitlines() if line.strip()] or ["nothing"]
    match = re.search(r'msg="((?:[^"\\]|\\.)*)"', lines[-1])
    return (_QUOTED.sub(_unquoted, match.group(1)) if match else lines[-1])[-_MOST_TOLD:]


def _unquoted(letter: re.Match[str]) -> str:
    return letter[1] if letter[1] in '"\\' else " " if letter[1] in "nrt" else letter[0]


def _words_of(setting: settings.Setting, environ: Mapping[str, str] | None) -> list[str]:
    return [word.strip() for word in (setting.read(environ) or "").split(",") if word.strip()]
