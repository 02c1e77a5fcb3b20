"""What may be asked for, when a delivery is tried again, and where it may go."""

import ipaddress
import socket

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError as PydanticError

from harena.core.errors import ValidationError
from harena.jobs.models import JobWebhook
from harena.jobs.webhooks import (
    MAX_DELAY_SECONDS,
    MOST_TRIES,
    SEND_SECONDS,
    DeliveryOutcome,
    DeliveryState,
    delay_seconds,
    is_allowed,
    judged,
    literal_address,
    longest_delay_seconds,
    networks,
    receiver_of,
    remaining_seconds,
    url_mistake,
)

LUCK = st.floats(0, 1, exclude_max=True)


@given(st.integers(1, MOST_TRIES - 1), LUCK)
def test_pauses_grow_and_are_spread(tries: int, luck: float) -> None:
    """Between half of the longest pause and all of it; the longest grows up to its bound."""
    delay = delay_seconds(tries, luck)
    assert delay is not None
    assert longest_delay_seconds(tries) / 2 <= delay <= longest_delay_seconds(tries) <= MAX_DELAY_SECONDS
    assert longest_delay_seconds(tries) <= longest_delay_seconds(tries + 1)
    if luck < 0.9:
        assert delay < longest_delay_seconds(tries)


@given(st.integers(MOST_TRIES, 10**6), LUCK)
def test_nothing_is_tried_for_ever(tries: int, luck: float) -> None:
    """After so many tries it is given up."""
    assert delay_seconds(tries, luck) is None


def test_all_tries_together_take_hours() -> None:
    """A receiver that is being deployed anew, or its network, has time to come back."""
    pauses = [delay_seconds(tries, 0.5) for tries in range(1, MOST_TRIES)]
    assert pauses[:3] == [3.75, 15.0, 60.0]
    assert 3600 < sum(pause for pause in pauses if pause is not None) < 3 * 3600


@given(st.floats(-1e12, 1e12), st.integers(0, MOST_TRIES), st.floats(0, 1e6))
def test_a_clock_that_jumped_does_not_lose_a_delivery(due_in: float, tries: int, known_for: float) -> None:
    """However far ahead the store says that a try is: it comes after the longest pause at the latest."""
    longest = longest_delay_seconds(tries) + SEND_SECONDS
    assert 0 <= remaining_seconds(due_in, tries, known_for) <= max(0, longest - known_for)
    assert remaining_seconds(due_in, tries, longest) == 0
    if 0 <= due_in <= longest_delay_seconds(tries):
        assert remaining_seconds(due_in, tries, 0) == due_in


@pytest.mark.parametrize(
    ("answered", "state", "says"),
    [
        (DeliveryOutcome(status=200), "delivered", None),
        (DeliveryOutcome(status=204), "delivered", None),
        (DeliveryOutcome(status=301), "pending", "redirects are not followed"),
        (DeliveryOutcome(status=404), "pending", "answered 404"),
        (DeliveryOutcome(status=410), "failed", "wants no more"),
        (DeliveryOutcome(status=503), "pending", "answered 503"),
        (DeliveryOutcome(status=199), "pending", "answered 199"),
        (DeliveryOutcome(error="refused"), "pending", "refused"),
        (DeliveryOutcome(error="not allowed", for_good=True), "failed", "not allowed"),
    ],
)
def test_what_an_answer_means(answered: DeliveryOutcome, state: str, says: str | None) -> None:
    """Only 2xx is a delivery."""
    judgement, error = judged(answered)
    assert judgement is DeliveryState(state)
    assert error == says if says is None or error is None else says in error


@pytest.mark.parametrize(
    "url",
    ["http://127.0.0.1:80/x", "https://example.org", "https://[::1]:8/?a=b", "http://localhost/%20", "http://é.org"],
)
def test_urls_that_can_be_posted_to(url: str) -> None:
    """http and https."""
    assert url_mistake(url) is None


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("ftp://example.org/", "http or https"),
        ("example.org", "http or https"),
        ("https://", "http or https"),
        ("https:///path", "http or https"),
        ("https://me:pw@example.org/", "no password"),
        ("https://example.org/#top", "fragment"),
        ("https://example.org:99999/", "must be a URL"),
        ("https://example.org:0/", "http or https"),
        ("https://[::1/", "must be a URL"),
        ("https://example.org/a b", "spaces"),
        ("https://example.org/\n", "spaces"),
    ],
)
def test_urls_that_cannot(url: str, says: str) -> None:
    """Said before anything runs, and not shown with a password."""
    mistake = url_mistake(url)
    assert mistake is not None
    assert says in mistake
    assert "pw" not in mistake
    with pytest.raises(PydanticError):
        JobWebhook(url=url)


def test_a_secret_is_in_no_repr() -> None:
    """Logs show reprs."""
    secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
    assert "MfKQ" not in repr(JobWebhook(url="http://x", secret=secret))


FORBIDDEN = [
    *("127.0.0.1", "127.9.9.9", "0.0.0.0", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1"),
    *("224.0.0.1", "240.0.0.1", "255.255.255.255", "192.0.2.1", "198.18.0.1"),
    *("::", "::1", "fe80::1", "fe80::1%eth0", "fc00::1", "fd12::1", "ff02::1", "2001:db8::1"),
    # other ways to write an IPv4 address
    *("::ffff:127.0.0.1", "::ffff:10.0.0.1", "64:ff9b::7f00:1", "64:ff9b:1::7f00:1", "2002:7f00:1::", "2002:a00:1::1"),
    *("::127.0.0.1", "no address", ""),
]


@pytest.mark.parametrize(
    "address",
    [
        *FORBIDDEN,
        *("fec0::1", "feff::1", "fec0::1%eth0"),  # site local, which no table calls private
        *("2600::5efe:10.0.0.1", "2600::200:5efe:7f00:1", "64:ff9b::10.0.0.1", "2001:0:4136:e378:8000:63bf:3fff:fdd2"),
        *("192.88.99.1", "192.0.0.9", "3fff::1", "5f00::1", "4000::1", "::10.0.0.1", "2001:20::1"),
    ],
)
def test_a_server_does_not_post_into_its_own_network(address: str) -> None:
    """Whatever form the address has."""
    assert not is_allowed(address, ())


@given(st.ip_addresses(v=6))
def test_what_is_no_global_unicast_address_is_refused(address: ipaddress.IPv6Address) -> None:
    """By the standard library's own table, whatever it is made of."""
    if is_allowed(str(address), ()) and address not in ipaddress.IPv6Network("64:ff9b::/96"):
        meant = address.ipv4_mapped or address.sixtofour or address
        assert (meant.is_global, meant.is_multicast, address.is_site_local) == (True, False, False)


@pytest.mark.parametrize("address", ["8.8.8.8", "1.1.1.1", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808"])
def test_the_public_internet_is_open(address: str) -> None:
    """In either family."""
    assert is_allowed(address, ())


def test_an_operator_opens_networks() -> None:
    """Those and no others; an IPv4 network also where the address comes in an IPv6 one."""
    allowed = networks(["127.0.0.1", "10.0.0.0/8", "fd00::/8"])
    for address in ("127.0.0.1", "10.9.9.9", "::ffff:10.1.1.1", "fd00::7"):
        assert is_allowed(address, allowed)
    for address in ("127.0.0.2", "192.168.0.1", "::1", "fe80::1"):
        assert not is_allowed(address, allowed)
    with pytest.raises(ValidationError, match=r"'localhost'(.|\n)*'10.0.0.1/8'"):
        networks(["localhost", "10.0.0.1/8", "::1"])


@given(st.integers(0, 2**32 - 1))
def test_no_way_of_writing_an_address_changes_the_answer(number: int) -> None:
    """An IPv4 address and its IPv6 forms are one place."""
    plain = socket.inet_ntoa(number.to_bytes(4, "big"))
    high, low = f"{number >> 16:x}", f"{number & 0xFFFF:x}"
    for written in (f"::ffff:{plain}", f"64:ff9b::{high}:{low}", f"2002:{high}:{low}::1"):
        assert is_allowed(written, ()) == is_allowed(plain, ())


def test_addresses_in_urls() -> None:
    """Names are looked up when they are connected to."""
    assert literal_address("http://127.0.0.1:8/x") == "127.0.0.1"
    assert literal_address("https://[::1]/") == "::1"
    assert literal_address("http://localhost/") is None


def test_receivers_of_urls() -> None:
    """Host and port, whatever the path."""
    assert receiver_of("http://Example.org/a?b") == receiver_of("http://example.org:80/") == "example.org:80"
    assert receiver_of("https://[::1]/") == "::1:443"
