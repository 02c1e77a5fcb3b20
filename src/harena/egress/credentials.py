"""The token in a request, the credential in its place, and what an answer may show of the credential: nothing."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import secrets
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from urllib.parse import quote, unquote_plus

from harena.core.errors import ValidationError
from harena.core.gateways import GIT_USER, Gateway
from harena.core.secrets import OpenSecret, may_be_sent

Headers = list[tuple[str, str]]
"""names in small letters"""
MOST_CREDENTIAL = 8192
"""bytes of a secret that a gateway sends: servers take no longer headers"""
LEAST_REDACTED = 4
"""characters of a credential's form that is looked for in answers: shorter ones are everywhere"""


def new_token() -> str:
    """A token that nobody can guess."""
    return f"hgt_{secrets.token_urlsafe(32)}"


@dataclass(frozen=True)
class BoundGateway:
    """A gateway of one sandbox: with the credential, and with what tells its token from others."""

    gateway: Gateway
    token_digest: bytes = field(repr=False)
    """SHA-256 of the sandbox's token; the token itself is not kept"""
    credential: str = field(repr=False)

    @classmethod
    def of(cls, gateway: Gateway, token: str, secret: OpenSecret) -> BoundGateway:
        """Raises ValidationError where the secret may not be sent to this upstream, or cannot be."""
        if not may_be_sent(secret.hosts, gateway.host, gateway.port):
            raise ValidationError(
                f"gateways: {gateway.name}: the secret {secret.name} may not be sent to {gateway.host}:{gateway.port}, "
                f"only to {', '.join(secret.hosts)}; an admin may set it again with this host"
            )
        value = secret.value
        if len(value.encode()) > MOST_CREDENTIAL:
            raise ValidationError(
                f"gateways: {gateway.name}: the secret {secret.name} has more than {MOST_CREDENTIAL} bytes, which is "
                "more than servers take as a credential"
            )
        if not value.isprintable() or (gateway.mechanism not in ("query", "basic", "git") and not value.isascii()):
            raise ValidationError(
                f"gateways: {gateway.name}: the secret {secret.name} has characters that the mechanism "
                f"{gateway.mechanism} cannot carry: a line end, a control character, or one that is not ASCII"
            )
        if gateway.mechanism == "cookie" and any(each in value for each in ' ",;\\'):
            raise ValidationError(
                f"gateways: {gateway.name}: the secret {secret.name} has a character that no cookie can carry"
            )
        return cls(gateway, hashlib.sha256(token.encode()).digest(), value)

    def is_token(self, given: str) -> bool:
        """Whether it is this gateway's. Takes as long for every text of a length."""
        return hmac.compare_digest(hashlib.sha256(given.encode(errors="replace")).digest(), self.token_digest)

    @cached_property
    def authorization(self) -> str:
        """The value of the header that carries the credential; "" = none does."""
        gateway = self.gateway
        if gateway.mechanism == "bearer":
            return f"Bearer {self.credential}"
        if gateway.mechanism in ("basic", "git"):
            user = gateway.username or (GIT_USER if gateway.mechanism == "git" else "")
            return f"Basic {base64.b64encode(f'{user}:{self.credential}'.encode()).decode()}"
        return f"{gateway.prefix}{self.credential}" if gateway.mechanism == "header" else ""

    @cached_property
    def forms(self) -> tuple[bytes, ...]:
        """Each form in which an upstream that repeats a request would write the credential, but for escapes
        (`redaction`), the longest first."""
        value = self.credential
        written = {
            value,
            value.replace(" ", "+"),
            base64.b64encode(value.encode()).decode().rstrip("="),
            base64.urlsafe_b64encode(value.encode()).decode().rstrip("="),
        }
        if self.gateway.mechanism in ("basic", "git"):
            written.add(self.authorization.removeprefix("Basic ").rstrip("="))
        return tuple(sorted((each.encode() for each in written if len(each) >= LEAST_REDACTED), key=len, reverse=True))


def without_tokens(bound: BoundGateway, headers: Headers, query: str) -> tuple[list[str], Headers, str]:
    """(what could be the token, the headers and the query without it): from Authorization and from the place where the
    upstream wants the credential. Nothing that a program has put in these places goes on."""
    gateway = bound.gateway
    tokens: list[str] = []
    left: Headers = []
    for name, value in headers:
        if name in ("authorization", "proxy-authorization"):
            tokens += _in_authorization(value)
        elif gateway.mechanism == "header" and name == gateway.field.lower():
            tokens.append(value.removeprefix(gateway.prefix).strip())
        elif name == "cookie":
            if gateway.mechanism == "cookie":
                tokens += _in_cookie(value, gateway.field)
        else:
            left.append((name, value))
    if gateway.mechanism == "query":
        pairs = query.split("&")
        tokens += [unquote_plus(pair.partition("=")[2]) for pair in pairs if _names(pair, gateway.field)]
        # `;` separates parameters for some servers: no part of the query may give the credential's parameter anew
        query = "&".join(pair for pair in pairs if not any(_names(each, gateway.field) for each in pair.split(";")))
    return tokens, left, query


def put_in(bound: BoundGateway, headers: Headers, query: str) -> tuple[Headers, str]:
    """The headers and the query with the credential."""
    gateway = bound.gateway
    if gateway.mechanism == "query":
        pair = f"{quote(gateway.field, safe='')}={quote(bound.credential, safe='')}"
        return headers, f"{query}&{pair}" if query else pair
    if gateway.mechanism == "cookie":
        return [*headers, ("cookie", f"{gateway.field}={bound.credential}")], query
    name = gateway.field.lower() if gateway.mechanism == "header" else "authorization"
    return [*headers, (name, bound.authorization)], query


def _in_authorization(value: str) -> Iterator[str]:
    scheme, _, rest = value.strip().partition(" ")
    rest = rest.strip()
    if scheme.lower() != "basic":
        yield rest
        return
    try:
        user, _, password = base64.b64decode(rest, validate=True).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError, ValueError):
        return
    yield password
    yield user


def _in_cookie(value: str, name: str) -> Iterator[str]:
    for pair in value.split(";"):
        its_name, _, its_value = pair.strip().partition("=")
        if its_name == name:
            yield its_value.strip('"')


def _names(pair: str, field: str) -> bool:
    return unquote_plus(pair.partition("=")[0]).strip().casefold() == field.casefold()
