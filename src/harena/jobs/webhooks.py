"""Webhooks of benchmark jobs: the retry schedule of deliveries, and the addresses that they may go to.
No I/O, no clock.

A delivery is sent at once, and again after every failure with exponential backoff, MOST_TRIES times in all, over about
two hours. Each pause has jitter (it is drawn at random between half of its length and the whole), so that a receiver
which failed under many deliveries does not get all of them again at one moment.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from urllib.parse import urlsplit

from harena.core.errors import ValidationError

JOB_ENDED = "benchmark_job.ended"
MOST_TRIES = 8
FIRST_DELAY_SECONDS = 5.0
FACTOR = 4.0
MAX_DELAY_SECONDS = 3600.0
SEND_SECONDS = 10.0
"""how long a receiver may take to answer"""
GONE_STATUS = 410
"""HTTP status by which a receiver says that it wants no more deliveries"""

Network = ipaddress.IPv4Network | ipaddress.IPv6Network
Address = ipaddress.IPv4Address | ipaddress.IPv6Address


class DeliveryState(StrEnum):
    """Where a delivery is."""

    WAITING = "waiting"
    """for the job's end"""
    PENDING = "pending"
    """the job has ended: it is being tried"""
    DELIVERED = "delivered"
    FAILED = "failed"
    """given up"""


@dataclass(frozen=True, slots=True)
class DeliveryOutcome:
    """What came of one try."""

    status: int | None = None
    """HTTP status of the receiver's answer; None = there was none"""
    error: str | None = None
    """why there was none"""
    for_good: bool = False
    """trying again could not end otherwise"""


def url_mistake(url: str) -> str | None:
    """What is wrong with a webhook's URL; None = nothing."""
    if not url.isprintable() or " " in url:
        return "must be a URL without spaces"
    try:
        parts = urlsplit(url)
        port_is_good = parts.port is None or parts.port > 0
    except ValueError:
        return "must be a URL, as https://example.org/hooks"
    if parts.scheme not in ("http", "https") or not parts.hostname or not port_is_good:
        return "must be an http or https URL, as https://example.org/hooks"
    if parts.username is not None or parts.password is not None:
        return "must hold no user name and no password: URLs are shown"
    if parts.fragment:
        return "must have no fragment"
    return None


def judged(answered: DeliveryOutcome) -> tuple[DeliveryState, str | None]:
    """What a try means for its delivery: DELIVERED, PENDING (try again) or FAILED, and what went wrong."""
    if answered.status is None:
        return (DeliveryState.FAILED if answered.for_good else DeliveryState.PENDING), answered.error
    if 200 <= answered.status < 300:
        return DeliveryState.DELIVERED, None
    said = f"the receiver answered {answered.status}"
    if answered.status == GONE_STATUS:
        return DeliveryState.FAILED, f"{said}: it wants no more"
    if 300 <= answered.status < 400:
        said += "; redirects are not followed"
    return DeliveryState.PENDING, said


def delay_seconds(tries: int, luck: float) -> float | None:
    """The pause after the `tries`-th (1, 2, ...) failed try; None = give up. `luck` is a random number in [0, 1)."""
    if tries >= MOST_TRIES:
        return None
    return longest_delay_seconds(tries) * (0.5 + 0.5 * luck)


def longest_delay_seconds(tries: int) -> float:
    """What the pause after that many tries can be at most; none before the first."""
    return min(MAX_DELAY_SECONDS, FIRST_DELAY_SECONDS * FACTOR ** (tries - 1)) if tries > 0 else 0.0


def remaining_seconds(due_in_seconds: float, tries: int, known_for_seconds: float) -> float:
    """Seconds to wait before a delivery's next try. By the store it is due in `due_in_seconds`, which is a time of day,
    and the clock may have jumped since it was noted. `known_for_seconds` is how long this process has known of the try,
    by a monotonic clock: when it reaches the longest pause plus the time that the try before may take, the wait ends in
    any case."""
    longest = longest_delay_seconds(tries) + SEND_SECONDS
    return max(0.0, min(due_in_seconds, longest - known_for_seconds))


def networks(written: Sequence[str], who: str = "webhooks") -> tuple[Network, ...]:
    """Addresses and networks in CIDR form. Raises ValidationError that lists every mistake."""
    found, wrong = [], []
    for text in written:
        try:
            found.append(ipaddress.ip_network(text))
        except ValueError as error:
            wrong.append(f"{text!r}: {error}")
    if wrong:
        raise ValidationError(
            "\n  ".join([f"{who} can be allowed to addresses and networks, as 127.0.0.1 or 10.0.0.0/8:", *wrong])
        )
    return tuple(found)


def is_allowed(address: str, allowed: Sequence[Network]) -> bool:
    """Whether a server may post to this address: one of the public internet, or one that its operator has allowed.

    What an address stands for counts: an IPv4 address in an IPv6 one is itself.
    """
    try:
        meant = _meant(ipaddress.ip_address(address.partition("%")[0]))
    except ValueError:
        return False
    if any(meant.version == network.version and meant in network for network in allowed):
        return True
    return _is_public(meant)


_UNICAST = ipaddress.IPv6Network("2000::/3")
"""all that IANA gives out as global unicast addresses of IPv6; what lies outside, `fec0::/10` too, is for other uses"""
_NOT_PUBLIC = tuple(
    ipaddress.ip_network(written)
    for written in (
        "192.0.0.0/24",  # the IETF's own protocols
        "192.88.99.0/24",  # relays of 6to4
        "2001::/23",  # the IETF's own protocols; Teredo and benchmarks are in it
        "2002::/16",  # 6to4: what it leads to is looked at as an IPv4 address, this is the rest
        "3fff::/20",  # for documentation; the tables of earlier Pythons do not have it
    )
)
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
_ISATAP = (0x0000_5EFE, 0x0200_5EFE)
"""how the lower half of an address begins that hands over to the IPv4 address behind it"""


def _is_public(address: Address) -> bool:
    if address.version == 6 and address not in _UNICAST:
        return False
    if any(address.version == network.version and address in network for network in _NOT_PUBLIC):
        return False
    return address.is_global and not address.is_multicast and not address.is_reserved


def _meant(address: Address) -> Address:
    if isinstance(address, ipaddress.IPv4Address):
        return address
    if address in _NAT64 or (int(address) >> 32) & 0xFFFF_FFFF in _ISATAP:
        return ipaddress.IPv4Address(int(address) & 0xFFFF_FFFF)
    return address.ipv4_mapped or address.sixtofour or (address.teredo[1] if address.teredo else None) or address


def receiver_of(url: str) -> str:
    """Host and port: what several URLs may have in common."""
    parts = urlsplit(url)
    return f"{parts.hostname}:{parts.port or (443 if parts.scheme == 'https' else 80)}"


def literal_address(url: str) -> str | None:
    """The address that a URL names outright; None = a name, of which the address is known when it is connected to."""
    host = urlsplit(url).hostname or ""
    try:
        return str(ipaddress.ip_address(host))
    except ValueError:
        return None
