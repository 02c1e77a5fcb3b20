"""Gateways of a sandbox: what one is, read and checked once.

A gateway stands between the programs of one sandbox and one upstream. Inside, `$NAME` is a token that is good for this
gateway only, and `$NAME_URL` its address; the gateway puts the secret of the workspace in the token's place.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Literal, get_args
from urllib.parse import urlsplit

from harena.core.checked import quote
from harena.core.errors import SandboxValidationError, ValidationError
from harena.core.network_policy import read_host
from harena.core.records.record import Record
from harena.core.secrets import HTTPS_PORT, checked_name

Mechanism = Literal["bearer", "basic", "git", "header", "query", "cookie"]
MECHANISMS: tuple[Mechanism, ...] = get_args(Mechanism)
NAMED: tuple[Mechanism, ...] = ("header", "query", "cookie")
"""mechanisms that need to know a name: of the header, the parameter or the cookie"""
MOST_GATEWAYS = 8
"""gateways of one sandbox"""
MOST_RULES = 64
"""rules of one gateway"""
MOST_RULES_TEXT = 16_384
"""characters of all paths of one gateway's rules"""
MOST_PATTERN = 1000
"""characters of a rule's path"""
MOST_SEGMENTS = 64
"""parts of a path between slashes"""
GIT_USER = "x-access-token"
"""what git servers take as the user beside a token"""
MOST_METHODS = 20
"""methods of one rule"""
MOST_REQUESTS = 1_000_000
"""requests of one gateway in a minute"""
MOST_SIZE = 1 << 40
"""bytes of one request, or of its answer"""
MOST_GATEWAY_SECONDS = 3600
"""seconds for which an upstream may be silent"""
ANY_METHOD = "*"

_MIB = 1024 * 1024
_NAME = re.compile(r"[A-Z][A-Z0-9_]{0,63}")
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}")
_METHOD = re.compile(r"[A-Z]{1,20}")
_PREFIX = re.compile(r"(?:/[A-Za-z0-9._~@:+-]+)*/?")
_OWN_HEADERS = frozenset(
    {"connection", "content-length", "content-encoding", "cookie", "expect", "host", "keep-alive", "te", "trailer",
     "transfer-encoding", "upgrade"}
)  # fmt: skip
"""headers that say how a request is read, and never carry a credential"""


@dataclass(frozen=True, slots=True, kw_only=True)
class GatewayRule(Record):
    """Requests that are allowed, or denied."""

    MOST_ITEMS: ClassVar[Mapping[str, int]] = {"methods": MOST_METHODS}

    path: str
    """below the upstream's URL: `*` is any text within one part, a part `**` any number of parts"""
    methods: tuple[str, ...] = (ANY_METHOD,)
    """methods in capital letters; GET is HEAD, too, and `*` is every one"""
    deny: bool = False
    """what it names is denied, whatever allows it"""

    def __post_init__(self) -> None:
        """Raises SandboxValidationError."""
        parts = self.path.split("/") if isinstance(self.path, str) else [""]
        is_path = isinstance(self.path, str) and self.path.startswith("/") and len(self.path) <= MOST_PATTERN
        if (
            not is_path
            or not self.path.isprintable()
            or any(each in self.path for each in "\\?#%;")
            or len(parts) > MOST_SEGMENTS
            or any(part in (".", "..") or ("**" in part and part != "**") for part in parts)
            or "" in parts[1:-1]
        ):
            raise SandboxValidationError(
                f"gateways: a rule's path is written as /repos/me/** (got {quote(self.path)}): it begins with /, has "
                f"at most {MOST_PATTERN} characters and {MOST_SEGMENTS} parts, none of them empty, . or .., no ?, #, "
                "%, ; or backslash, and ** only as a whole part"
            )
        if (
            isinstance(self.methods, str)
            or not isinstance(self.methods, Sequence)
            or not 0 < len(self.methods) <= MOST_METHODS
            or not all(
                isinstance(each, str) and (each == ANY_METHOD or _METHOD.fullmatch(each)) for each in self.methods
            )
        ):
            raise SandboxValidationError(
                f"gateways: a rule's methods are a list as ['GET', 'POST'] (got {quote(self.methods)})"
            )
        if not isinstance(self.deny, bool):
            raise SandboxValidationError(f"gateways: a rule's deny is true or false (got {quote(self.deny)})")
        object.__setattr__(self, "methods", tuple(self.methods))


@dataclass(frozen=True, slots=True, kw_only=True)
class GatewayTerms(Record):
    """What one gateway leads to and lets through: all of it but its name, and without its credential."""

    MOST_ITEMS: ClassVar[Mapping[str, int]] = {"rules": MOST_RULES}

    url: str
    """the upstream's address: https, without user, query and fragment; what programs ask for comes behind it"""
    secret: str
    """name of the workspace's secret"""
    mechanism: Mechanism = "bearer"
    """where the upstream wants the credential"""
    field: str = ""
    """name of the header, the query's parameter or the cookie"""
    prefix: str = ""
    """what stands before the credential in a header, as `Token `"""
    username: str = ""
    """the user beside the credential, for `basic` and `git`"""
    rules: tuple[GatewayRule, ...] = ()
    """empty = everything is allowed; else what a rule allows and none denies"""
    requests_per_minute: int = 600
    """more are refused"""
    request_bytes: int = 256 * _MIB
    """largest body of one request"""
    answer_bytes: int = 1024 * _MIB
    """largest body of one answer"""
    timeout_seconds: float = 300.0
    """for which the upstream may be silent"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gateway(GatewayTerms):
    """One gateway, without its credential."""

    name: str
    """the environment variable that holds the token; NAME_URL holds the address"""

    def __post_init__(self) -> None:
        """Raises SandboxValidationError."""
        if not isinstance(self.name, str) or not _NAME.fullmatch(self.name):
            raise SandboxValidationError(
                f"gateways: the name {quote(self.name)} must be 1 to 64 capital letters, digits and underscores, a "
                "letter first, as GITHUB: programs find the token in $GITHUB and the address in $GITHUB_URL"
            )
        try:
            checked_name(self.secret)
            object.__setattr__(self, "url", _checked_url(self.url))
        except ValidationError as error:
            raise self._wrong("", str(error)) from None
        if self.mechanism not in MECHANISMS:
            raise self._wrong("mechanism", f"must be one of {', '.join(MECHANISMS)} (got {quote(self.mechanism)})")
        self._check_field()
        rules = self.rules
        if isinstance(rules, str | Mapping) or not isinstance(rules, Sequence) or len(rules) > MOST_RULES:
            raise self._wrong("rules", f"must be a list of at most {MOST_RULES} rules (got {quote(rules)})")
        object.__setattr__(self, "rules", tuple(map(_rule, rules)))
        if sum(len(ascii(rule.path)) for rule in self.rules) > MOST_RULES_TEXT:
            raise self._wrong("rules", f"may have {MOST_RULES_TEXT} characters in all their paths together")
        for name, least, most in (
            ("requests_per_minute", 1, MOST_REQUESTS),
            ("request_bytes", 0, MOST_SIZE),
            ("answer_bytes", 0, MOST_SIZE),
        ):
            number = getattr(self, name)
            if isinstance(number, bool) or not isinstance(number, int) or not least <= number <= most:
                raise self._wrong(name, f"must be a whole number from {least} to {most} (got {quote(number)})")
        seconds = self.timeout_seconds
        if (
            isinstance(seconds, bool)
            or not isinstance(seconds, int | float)
            or not math.isfinite(seconds)
            or not 0.01 <= seconds <= MOST_GATEWAY_SECONDS
        ):
            raise self._wrong(
                "timeout_seconds", f"must be a number from 0.01 to {MOST_GATEWAY_SECONDS} (got {quote(seconds)})"
            )

    @property
    def host(self) -> str:
        """The upstream's host in small letters; an IPv6 address in brackets."""
        host = urlsplit(self.url).hostname or ""
        return f"[{host}]" if ":" in host else host

    @property
    def port(self) -> int:
        """The upstream's port."""
        return urlsplit(self.url).port or HTTPS_PORT

    @property
    def base_path(self) -> str:
        """The path of the upstream's URL, without a slash at its end."""
        return urlsplit(self.url).path

    def _check_field(self) -> None:
        for name in ("field", "prefix", "username"):
            text = getattr(self, name)
            if not isinstance(text, str) or len(text) > 100 or not (text.isascii() and text.isprintable()):
                raise self._wrong(name, f"must be at most 100 printable ASCII characters (got {quote(text)})")
        if ":" in self.username:
            raise self._wrong("username", "must have no colon, which ends it")
        if self.mechanism in NAMED:
            if not _TOKEN.fullmatch(self.field):
                raise self._wrong("field", f"names the {self.mechanism}, as X-Api-Key (got {quote(self.field)})")
            if self.mechanism == "header" and (self.field.lower() in _OWN_HEADERS or "_" in self.field):
                raise self._wrong("field", f"{self.field} is no header that carries a credential")
        elif self.field:
            raise self._wrong("field", f"is for {', '.join(NAMED)}; {self.mechanism} has no use for it")
        if self.prefix and self.mechanism != "header":
            raise self._wrong("prefix", "is for the mechanism header")
        if self.username and self.mechanism not in ("basic", "git"):
            raise self._wrong("username", "is for the mechanisms basic and git")

    def _wrong(self, field: str, words: str) -> SandboxValidationError:
        return SandboxValidationError(f"gateways: {self.name}: {field}{' ' if field else ''}{words}")


_FIELDS = tuple(each.name for each in fields(GatewayTerms))
_RULE_FIELDS = tuple(each.name for each in fields(GatewayRule))


GivenGateways = Mapping[str, Gateway | Mapping[str, Any]] | Sequence[Gateway]
"""gateways as users give them: records, or their fields by their names"""


def read_gateways(given: Any) -> tuple[Gateway, ...]:
    """The gateways that are asked for (see GivenGateways), by name; None is none. Raises SandboxValidationError."""
    if given is None:
        return ()
    if isinstance(given, list | tuple) and all(isinstance(one, Gateway) for one in given):
        pairs = [(one.name, one) for one in given]
    elif isinstance(given, Mapping):
        pairs = [*given.items()]
    else:
        raise SandboxValidationError(
            'gateways must be a mapping, as {"GITHUB": {"url": "https://api.github.com", "secret": "GITHUB_TOKEN"}} '
            f"(got {quote(given)})"
        )
    if len(given) > MOST_GATEWAYS:
        raise SandboxValidationError(f"gateways: a sandbox may have {MOST_GATEWAYS} of them (got {len(given)})")
    made = tuple(sorted((_gateway(name, one) for name, one in pairs), key=lambda one: one.name))
    variables = [each for one in made for each in (one.name, f"{one.name}_URL")]
    if twice := sorted({each for each in variables if variables.count(each) > 1}):
        raise SandboxValidationError(f"gateways: two of them would set ${twice[0]}; give one of them another name")
    return made


def gateways_to_json(gateways: Sequence[Gateway]) -> dict[str, Any]:
    """What `read_gateways` reads."""
    told = {}
    for one in gateways:
        terms = one.to_dict()
        terms["rules"] = terms.pop("rules")  # the last one: digests are made of this text
        told[terms.pop("name")] = terms
    return told


def _gateway(name: Any, given: Any) -> Gateway:
    if isinstance(given, Gateway) and given.name == name:
        return given
    if not isinstance(given, Mapping):
        raise SandboxValidationError(
            f"gateways: {quote(name)} must be a mapping with url and secret (got {quote(given)})"
        )
    if unknown := [each for each in given if each not in _FIELDS]:
        raise SandboxValidationError(
            f"gateways: {quote(name)} has no field {quote(unknown[0])}; there are {', '.join(_FIELDS)}"
        )
    if missing := [each for each in ("url", "secret") if each not in given]:
        raise SandboxValidationError(f"gateways: {quote(name)} needs {' and '.join(missing)}")
    return Gateway(name=name, **given)


def _rule(given: Any) -> GatewayRule:
    if isinstance(given, GatewayRule):
        return given
    if not isinstance(given, Mapping) or "path" not in given or any(each not in _RULE_FIELDS for each in given):
        raise SandboxValidationError(
            'gateways: a rule is a mapping as {"path": "/repos/me/**", "methods": ["GET"], "deny": false} '
            f"(got {quote(given)})"
        )
    return GatewayRule(**given)


def _checked_url(url: Any) -> str:
    """The URL in its one form. Raises ValidationError."""
    try:
        if not isinstance(url, str) or len(url) > 1000 or not (url.isascii() and url.isprintable()) or " " in url:
            raise ValueError
        parts = urlsplit(url)
        if parts.scheme != "https" or "@" in parts.netloc or "?" in url or "#" in url or not parts.hostname:
            raise ValueError
        host = read_host(f"[{parts.hostname}]" if "[" in parts.netloc else parts.hostname)
        port = parts.port or HTTPS_PORT
        if parts.netloc.endswith(":") or parts.port == 0 or not _PREFIX.fullmatch(parts.path):
            raise ValueError
        path = parts.path.rstrip("/")
        if any(part in (".", "..") for part in path.split("/")):
            raise ValueError
    except ValueError:
        raise ValidationError(
            f"the url must be as https://api.github.com or https://git.example.com:8443/api/v4 (got {quote(url)}): "
            "https, a name or an address in its usual form, no user, no query, no fragment, no . or .. in its path"
        ) from None
    written = f"[{host}]" if not isinstance(host, str) and host.version == 6 else str(host)
    return f"https://{written}{'' if port == HTTPS_PORT else f':{port}'}{path}"
