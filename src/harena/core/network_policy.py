"""What a sandbox may reach: `NetworkPolicy`, read and checked once, and the rules that follow from it.

Nothing here opens a socket or asks for a name. Who does (see `harena.egress`) asks twice: whether a host and a port
are allowed, and whether an address that the host's name has led to may be connected to.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, NamedTuple

from harena.core.checked import quote
from harena.core.errors import SandboxValidationError

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network

WEB_PORTS = (80, 443)
"""ports of an entry that names none"""
MAIL_PORT = 25
"""what "*" does not stand for: who wants to send mail names the host"""
MOST_ENTRIES = 200
MOST_OWN_PORTS = 16
"""ports beside 80 and 443 at which a sandbox has listeners"""
MOST_PAGE = 100
"""entries of one answer about what a sandbox has reached"""
MOST_NAME = 253
MOST_ENTRY = len("*.") + MOST_NAME + len(".:65535")
"""characters of an entry, before what a name in other letters than ASCII's is read as"""
MOST_OTHER_LETTERS = 2000
"""characters of all entries of a policy together that have letters beside ASCII's: what those are read as (IDNA) takes
3 µs a character"""
PRESETS: Mapping[str, tuple[str, ...]] = {
    "pypi": ("pypi.org", "files.pythonhosted.org"),
    "npm": ("registry.npmjs.org",),
    "apt": ("deb.debian.org", "security.debian.org", "archive.ubuntu.com", "security.ubuntu.com", "ports.ubuntu.com"),
}
"""name -> the hosts that installing needs, and no others of that project. Hosts that take uploads alone are not among
them, but what a preset allows is a host, not reading from it: methods and paths lie within TLS. npm's registry takes
what is published at the host that it is read from."""

_LABEL = re.compile(r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?")
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")
_SHOWN_ENTRIES = 8

_SPECIAL_4 = (
    "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
    "192.0.2.0/24", "192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24", "192.168.0.0/16", "192.175.48.0/24",
    "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
    "168.63.129.16/32",  # where one cloud answers its machines, though the address is public
)  # fmt: skip
_GLOBAL_6 = ("2000::/3",)
_SPECIAL_6 = ("2001::/23", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3fff::/20")
_CARRYING = ("64:ff9b::/96", "64:ff9b:1::/48", "::/96")
"""NAT64 and compatible ones: their last 32 bits are an IPv4 address"""
_ISATAP = (0x0000_5EFE, 0x0200_5EFE)
"""what stands before the IPv4 address in the last 64 bits of an address of that kind"""


class Verdict(NamedTuple):
    """Whether something is allowed; `reason` says why not, in a sentence."""

    allowed: bool
    reason: str = ""


_YES = Verdict(True)


class _Rule(NamedTuple):
    """One entry: of a host ("*", "*.x" or a name) or of addresses, with its ports; () = those of the web."""

    host: str = ""
    network: Network | None = None
    ports: tuple[int, ...] = ()

    def names(self, host: str | Address) -> bool:
        if isinstance(host, str):
            if self.host.startswith("*."):
                return host.endswith(self.host[1:])
            return self.host == "*" or self.host == host
        return self.host == "*" if self.network is None else _within(host, self.network)

    def allows_port(self, port: int) -> bool:
        if self.host == "*" and not self.ports:
            return port != MAIL_PORT
        return port in (self.ports or WEB_PORTS)

    def denies_port(self, port: int) -> bool:
        return not self.ports or port in self.ports


@dataclass(frozen=True, slots=True)
class NetworkPolicy:
    """What a sandbox may reach; without one it has no network. Raises SandboxValidationError.

    An entry is a host (`example.org`), all hosts below one (`*.example.org`), an address or a range of addresses
    (`192.0.2.7`, `10.1.0.0/16`, `[2001:db8::1]`), a preset (`pypi`, `npm`, `apt`), or `*` for all public hosts. Each
    may be followed by `:PORT`; without one, ports 80 and 443 are meant, and by an entry of `deny` all ports.
    """

    allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    """taken from what is allowed"""
    proxy_only: bool = False
    """no listeners on ports 80 and 443 and no answers to DNS: only programs that use a proxy have a network, and
    services inside may have these ports"""
    is_on: bool = True
    """False = no network at all"""
    _allowed: tuple[_Rule, ...] = field(init=False, repr=False, compare=False)
    _denied: tuple[_Rule, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        for name in ("allow", "deny"):
            given = getattr(self, name)
            if isinstance(given, str | bytes) or not isinstance(given, Sequence):
                raise SandboxValidationError(
                    f'network: {name} must be a list of entries, as ["pypi", "example.org:8443"] (got {quote(given)})'
                )
            if len(given) > MOST_ENTRIES:
                raise SandboxValidationError(f"network: {name} has {len(given)} entries; {MOST_ENTRIES} are possible")
            object.__setattr__(self, name, tuple(given))
        entries = (entry for entry in (*self.allow, *self.deny) if isinstance(entry, str))
        others = sum(len(entry) for entry in entries if not entry.isascii())
        if others > MOST_OTHER_LETTERS:
            raise SandboxValidationError(
                f"network: entries with other letters than ASCII's have {others} characters together, and "
                f"{MOST_OTHER_LETTERS} are possible: write their names as DNS has them (xn--...)"
            )
        if not isinstance(self.proxy_only, bool):
            raise SandboxValidationError(f"network: proxy_only must be true or false (got {quote(self.proxy_only)})")
        object.__setattr__(self, "_allowed", _rules(self.allow, "allow"))
        object.__setattr__(self, "_denied", _rules(self.deny, "deny"))
        if len(self.own_ports) > MOST_OWN_PORTS:
            raise SandboxValidationError(
                f"network: its entries name {len(self.own_ports)} ports beside 80 and 443, and {MOST_OWN_PORTS} are "
                "possible"
            )

    @property
    def own_ports(self) -> tuple[int, ...]:
        """Ports beside 80 and 443 that hosts are allowed at by name, for which a sandbox has listeners."""
        named = {port for rule in self._allowed if rule.network is None for port in rule.ports}
        return tuple(sorted(named - {*WEB_PORTS}))

    @property
    def listens_at(self) -> tuple[int, ...]:
        """Ports of all addresses of the sandbox that a listener takes; () where only the proxy has one."""
        return () if self.proxy_only or not self.is_on else (*WEB_PORTS, *self.own_ports)

    def to_json(self) -> str | dict[str, Any]:
        """The shortest form that `read_policy` reads."""
        if not self.is_on:
            return "none"
        if self.allow == ("*",) and not self.deny and not self.proxy_only:
            return "open"
        told: dict[str, Any] = {"allow": list(self.allow)}
        if self.deny:
            told["deny"] = list(self.deny)
        if self.proxy_only:
            told["proxy_only"] = True
        return told

    def allows_name(self, host: str) -> bool:
        """A host may be asked for, at one port at least."""
        return any(rule.names(host) for rule in self._allowed) and not any(
            rule.names(host) and not rule.ports for rule in self._denied
        )

    def decide(self, host: str | Address, port: int) -> Verdict:
        """Whether a host, by its name or by an address that a program has given, is allowed at a port."""
        forms = [host] if isinstance(host, str) else [host, *_embedded(host)]
        if any(rule.denies_port(port) and any(map(rule.names, forms)) for rule in self._denied):
            return Verdict(False, f"{host}:{port} is denied by this sandbox's network policy (deny)")
        if any(rule.names(host) and rule.allows_port(port) for rule in self._allowed):
            return _YES
        return Verdict(
            False,
            f"{host}:{port} is not allowed by this sandbox's network policy (it allows {self._allowed_in_words()}); "
            "whoever made the sandbox may add it to `network`, or to the running one with set_network",
        )

    def decide_address(
        self, address: Address, port: int, *, is_own: bool = False, permitted: Sequence[Network] | None = None
    ) -> Verdict:
        """Whether an address that an allowed host has led to may be connected to. `is_own`: it is one of the node's.
        `permitted`: the addresses that are not public, or the node's own, which policies may name; None = all."""
        forms = (address, *_embedded(address))
        if any(rule.denies_port(port) and any(_has(rule, each) for each in forms) for rule in self._denied):
            return Verdict(False, f"the address {address} is denied by this sandbox's network policy (deny)")
        for each in forms:
            if any(_has(rule, each) for rule in self._allowed):
                if (
                    permitted is None
                    or not (is_own or is_special(each))
                    or any(_within(each, one) for one in permitted)
                ):
                    continue
                return Verdict(
                    False,
                    f"the address {address} is not a public one, and this server connects sandboxes to none but public "
                    "ones; its operator can allow more: harena serve --network-allow ADDRESS",
                )
            if is_special(each):
                return Verdict(
                    False,
                    f"the address {address} is not a public one (loopback, link-local, private, reserved or a "
                    "metadata service); it is connected to only where the network policy names it or its CIDR",
                )
            if is_own:
                return Verdict(
                    False,
                    f"the address {address} is the node's own; it is connected to only where the network policy "
                    "names it or its CIDR",
                )
        return _YES

    def why_refused(self, permitted: Sequence[Network] | None) -> str | None:
        """Why an entry of `allow` leads nowhere on a node that connects sandboxes to public addresses and to those that
        are `permitted` (None = to all); None = each may lead somewhere."""
        if permitted is None:
            return None
        for rule in self._allowed:
            network = rule.network
            if network is None or any(_overlap(network, each) for each in permitted):
                continue
            if _is_special_whole(network):
                return (
                    f"{network} in allow has no public address, and this server connects sandboxes to none but public "
                    "ones; leave it out, or have the server's operator allow it: harena serve --network-allow ADDRESS"
                )
        return None

    def check_served(self, permitted: Sequence[Network] | None) -> None:
        """Raises SandboxValidationError where `why_refused` says why."""
        if (why := self.why_refused(permitted)) is not None:
            raise SandboxValidationError(f"network: {why}")

    def _allowed_in_words(self) -> str:
        told = ", ".join(self.allow[:_SHOWN_ENTRIES]) or "nothing"
        return told + (f" and {len(self.allow) - _SHOWN_ENTRIES} more" if len(self.allow) > _SHOWN_ENTRIES else "")


_FIELDS = frozenset({"allow", "deny", "proxy_only"})


GivenNetwork = NetworkPolicy | Mapping[str, Any] | str
"""a policy as users give it: the record, its fields, "none" or "open\""""


def read_policy(given: Any) -> NetworkPolicy:
    """The policy that `network` asks for: None, "none", "open", a policy, or a mapping of its fields. Raises
    SandboxValidationError."""
    if isinstance(given, NetworkPolicy):
        return given
    if given is None or given == "none":
        return NO_NETWORK
    if given == "open":
        return OPEN_NETWORK
    if not isinstance(given, Mapping):
        raise SandboxValidationError(
            f'network must be "none", "open" or {{"allow": [hosts, *.hosts, CIDRs, host:port, presets]}} '
            f"(got {quote(given)})"
        )
    if unknown := [name for name in given if name not in _FIELDS]:
        raise SandboxValidationError(f"network has no field {quote(unknown[0])}; it has {', '.join(sorted(_FIELDS))}")
    if "allow" not in given:
        raise SandboxValidationError('network must say what it allows, as {"allow": ["pypi"], "deny": []}')
    return NetworkPolicy(given["allow"], given.get("deny", ()), given.get("proxy_only", False))


def policy_in_words(text: str) -> NetworkPolicy:
    """The policy that a text says: "none", "open", or entries with commas between them. Raises
    SandboxValidationError."""
    entries = [entry.strip() for entry in text.split(",") if entry.strip()]
    return read_policy(text if text in ("none", "open") else {"allow": entries})


def checked_words(text: str) -> str:
    """The text, which says a policy. Raises ValueError for one that does not."""
    try:
        policy_in_words(text)
    except SandboxValidationError as error:
        raise ValueError(str(error)) from None
    return text


def read_host(text: str) -> str | Address:
    """A host as a program names it: an address in its one canonical form, or a name in lower case without the last
    dot. Raises ValueError for everything else, above all for addresses in other forms (0x7f.1, 2130706433, 127.1)."""
    if text.startswith("[") and text.endswith("]"):
        if "%" in text:
            raise ValueError("an address with a zone")
        return ipaddress.IPv6Address(text[1:-1])
    if ":" in text:
        raise ValueError("an IPv6 address without brackets")
    return read_name(text)


def read_name(text: str) -> str | Address:
    """A name or an IPv4 address, read as `read_host` does."""
    if len(text) > MOST_NAME + 1:  # what its letters are read as takes a time that grows with it
        raise ValueError("no host name")
    name = text.lower().removesuffix(".")
    if not name.isascii():
        try:
            name = name.encode("idna").decode("ascii")
        except UnicodeError:
            raise ValueError("no host name") from None
    labels = name.split(".")
    if _NUMBER.fullmatch(labels[-1]):  # every resolver would take it for an address, in whatever form
        return ipaddress.IPv4Address(name)
    if not name or len(name) > MOST_NAME or not all(_LABEL.fullmatch(label) for label in labels):
        raise ValueError("no host name")
    return name


def is_special(address: Address) -> bool:
    """It is no address of the public network: loopback, private, link-local, multicast, reserved, a form that carries
    another address, or a metadata service."""
    if isinstance(address, ipaddress.IPv4Address):
        return _is_in(address, _SPECIAL_4)
    return not _is_in(address, _GLOBAL_6) or _is_in(address, _SPECIAL_6) or _is_isatap(address)


def _is_special_whole(network: Network) -> bool:
    """No address of it is one of the public network."""
    special = _networks(_SPECIAL_4 if network.version == 4 else _SPECIAL_6)
    if network.version == 6 and not any(_overlap(network, each) for each in _networks(_GLOBAL_6)):
        return True
    return any(network.prefixlen >= each.prefixlen and _overlap(network, each) for each in special)


def _overlap(network: Network, other: Network) -> bool:
    return network.version == other.version and network.overlaps(other)


@cache
def _networks(written: tuple[str, ...]) -> tuple[Network, ...]:
    """Made when they are needed: who only starts sandboxes does not wait for them."""
    return tuple(map(ipaddress.ip_network, written))


def _is_in(address: Address, written: tuple[str, ...]) -> bool:
    return any(address in each for each in _networks(written))


def _is_isatap(address: Address) -> bool:
    return (int(address) >> 32) & 0xFFFF_FFFF in _ISATAP


def _embedded(address: Address) -> list[Address]:
    """The IPv4 addresses that an IPv6 address carries: mapped, compatible, NAT64, 6to4, Teredo, ISATAP."""
    if isinstance(address, ipaddress.IPv4Address):
        return []
    found: list[Address] = []
    if address.ipv4_mapped is not None:
        found.append(address.ipv4_mapped)
    if address.sixtofour is not None:
        found.append(address.sixtofour)
    if address.teredo is not None:
        found += address.teredo
    if _is_in(address, _CARRYING) or _is_isatap(address):
        found.append(ipaddress.IPv4Address(int(address) & 0xFFFFFFFF))
    return found


def _within(address: Address, network: Network) -> bool:
    return address.version == network.version and address in network


def _has(rule: _Rule, address: Address) -> bool:
    return rule.network is not None and _within(address, rule.network)


def _rules(entries: Sequence[Any], name: str) -> tuple[_Rule, ...]:
    rules: list[_Rule] = []
    for entry in entries:
        if not isinstance(entry, str):
            raise SandboxValidationError(f"network: an entry of {name} must be text (got {quote(entry)})")
        rules += [_rule(each, name) for each in PRESETS.get(entry, (entry,))]
    return tuple(rules)


def _rule(entry: str, name: str) -> _Rule:
    try:
        if len(entry) > MOST_ENTRY:
            raise ValueError("too long")
        place, ports = _without_port(entry)
        if place == "*":
            return _Rule("*", None, ports)
        bare = place[1:-1] if place.startswith("[") and place.endswith("]") else place
        if "/" in bare or ":" in bare:
            return _Rule("", ipaddress.ip_network(bare, strict=False), ports)
        below = place.startswith("*.")
        host = read_name(place.removeprefix("*."))
        if not isinstance(host, str):
            if below:
                raise ValueError("no host name")
            return _Rule("", ipaddress.ip_network(host), ports)
        return _Rule(f"*.{host}" if below else host, None, ports)
    except ValueError:
        raise SandboxValidationError(
            f"network: {name}: {quote(entry)} is no entry; one is a host (example.org), all hosts below one "
            "(*.example.org), an address or a CIDR (192.0.2.7, 10.1.0.0/16, [2001:db8::1]), a preset "
            f"({', '.join(PRESETS)}) or * for all public hosts, each with :PORT behind it where the ports are not 80 "
            "and 443"
        ) from None


def _without_port(entry: str) -> tuple[str, tuple[int, ...]]:
    if entry.startswith("["):
        place, bracket, rest = entry.partition("]")
        place += bracket
        if rest and not rest.startswith(":"):
            raise ValueError("no port")
        return place, _port(rest[1:]) if rest else ()
    if entry.count(":") > 1:
        return entry, ()  # an IPv6 address
    place, colon, port = entry.partition(":")
    return place, _port(port) if colon else ()


def _port(text: str) -> tuple[int, ...]:
    if not text.isascii() or not text.isdigit() or len(text) > 5 or not 0 < int(text) < 65536:
        raise ValueError("no port")
    return (int(text),)


NO_NETWORK = NetworkPolicy(is_on=False)
"""the policy of a sandbox for which nothing was said"""
OPEN_NETWORK = NetworkPolicy(allow=("*",))
"""all public hosts"""
