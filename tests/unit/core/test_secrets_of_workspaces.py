"""Names, values and hosts of secrets."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harena.core.errors import ValidationError
from harena.core.secrets import (
    MOST_HOSTS,
    MOST_VALUE_BYTES,
    OpenSecret,
    checked_hosts,
    checked_name,
    checked_value,
    may_be_sent,
)


@pytest.mark.parametrize("name", ["A", "_a", "GITHUB_TOKEN", "x" * 128])
def test_names(name: str) -> None:
    """As those of environment variables."""
    assert checked_name(name) == name


@pytest.mark.parametrize("name", ["", "1A", "A-B", "A B", "A\n", "x" * 129, "\u00e9", "../A", None, 1])
def test_what_is_no_name(name: object) -> None:
    """One sentence."""
    with pytest.raises(ValidationError, match="the secret's name"):
        checked_name(name)


@given(st.text(max_size=300))
def test_a_mistake_never_shows_the_value(value: str) -> None:
    """Whatever it is."""
    planted = f"hush{value}hush"
    told = ""
    try:
        assert checked_value(planted) == planted
    except ValidationError as error:
        told = str(error)
    assert "hush" not in told
    assert "hush" not in repr(OpenSecret(name="A", value=planted, hosts=()))


@pytest.mark.parametrize(
    "value", ["", "x" * (MOST_VALUE_BYTES + 1), "\u00e9" * MOST_VALUE_BYTES, "a\0", "\udc80", b"x", None]
)
def test_what_is_no_value(value: object) -> None:
    """Bounds count bytes."""
    with pytest.raises(ValidationError, match="the secret's value"):
        checked_value(value)


def test_hosts_have_a_port() -> None:
    """443 where none is written; small letters; each once."""
    written = ["API.GitHub.com", "api.github.com:443", "*.example.com:8443", "127.0.0.1:1", "[::1]:2"]
    assert checked_hosts(written) == (
        "api.github.com:443",
        "*.example.com:8443",
        "127.0.0.1:1",
        "[::1]:2",
    )
    assert checked_hosts(["[2001:db8::1]"]) == ("[2001:db8::1]:443",)


@pytest.mark.parametrize(
    "hosts",
    [
        *([], "example.com", None, {"a": 1}, ["example.com"] * (MOST_HOSTS + 1), [1], [""]),
        *([f"{bad}"] for bad in ("https://a.b", "a.b/c", "a b", "*", "*.", "a.*", "**.a", "a..b", "-a.b", "a.b:0")),
        *(
            [f"{bad}"]
            for bad in ("a.b:65536", "a.b:", "a.b:x", "b\u00fccher.de", "a@b", "a.b:1:2", "::1", "a\n.b", ".a")
        ),
    ],
)
def test_what_is_no_host(hosts: object) -> None:
    """One sentence that says how one is written."""
    with pytest.raises(ValidationError, match="hosts"):
        checked_hosts(hosts)


def test_where_a_secret_may_be_sent() -> None:
    """To the names and ports that it has, and to no others."""
    hosts = checked_hosts(["example.com", "*.api.example.com", "other.com:8443"])
    sent = [("example.com", 443), ("a.api.example.com", 443), ("a.b.api.example.com", 443), ("other.com", 8443)]
    assert [may_be_sent(hosts, *place) for place in sent] == [True] * 4
    kept = [
        *[("example.com", 80), ("api.example.com", 443), (".api.example.com", 443), ("xapi.example.com", 443)],
        *[("example.com.evil.com", 443), ("evilexample.com", 443), ("other.com", 443), ("", 443)],
    ]
    assert [may_be_sent(hosts, *place) for place in kept] == [False] * 8
