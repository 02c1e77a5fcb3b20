"""Gateways as they are asked for."""

from __future__ import annotations

from typing import Any

import pytest

from harena.core.errors import SandboxValidationError
from harena.core.gateways import MOST_GATEWAYS, Gateway, GatewayRule, gateways_to_json, read_gateways

GOOD: dict[str, Any] = {"url": "https://api.github.com", "secret": "GITHUB_TOKEN"}


def test_a_gateway_has_defaults() -> None:
    """The least that can be said."""
    (made,) = read_gateways({"GITHUB": GOOD})
    assert (made.name, made.url, made.mechanism, made.rules) == ("GITHUB", "https://api.github.com", "bearer", ())
    assert (made.host, made.port, made.base_path) == ("api.github.com", 443, "")
    assert read_gateways(None) == ()


def test_what_was_read_is_written_again() -> None:
    """As JSON, and back."""
    given = {
        "NPM": {**GOOD, "rules": [{"path": "/a/**", "methods": ["GET"]}, {"path": "/b", "deny": True}]},
        "GITHUB": {**GOOD, "mechanism": "header", "field": "X-Api-Key", "prefix": "Token ", "requests_per_minute": 5},
    }
    made = read_gateways(given)
    assert [one.name for one in made] == ["GITHUB", "NPM"]
    assert made[1].rules == (GatewayRule(path="/a/**", methods=("GET",)), GatewayRule(path="/b", deny=True))
    assert read_gateways(gateways_to_json(made)) == made
    assert read_gateways({one.name: one for one in made}) == made
    assert read_gateways(made) == read_gateways(list(reversed(made))) == made
    assert read_gateways(()) == ()


def test_records_are_given_alone_and_once() -> None:
    """As a blueprint has them; nothing else is a list of gateways."""
    (made,) = read_gateways({"GITHUB": GOOD})
    with pytest.raises(SandboxValidationError, match=r"two of them would set \$GITHUB"):
        read_gateways([made, made])
    with pytest.raises(SandboxValidationError, match="gateways must be a mapping"):
        read_gateways([made, GOOD])


@pytest.mark.parametrize(
    ("url", "written", "host", "port"),
    [
        ("https://Git.Example.com:443/", "https://git.example.com", "git.example.com", 443),
        ("https://git.example.com:8443/api/v4/", "https://git.example.com:8443/api/v4", "git.example.com", 8443),
        ("https://127.0.0.1:9", "https://127.0.0.1:9", "127.0.0.1", 9),
        ("https://[::1]:9/x", "https://[::1]:9/x", "[::1]", 9),
    ],
)
def test_a_url_has_one_form(url: str, written: str, host: str, port: int) -> None:
    """Small letters, no slash at its end."""
    made = Gateway(name="A", url=url, secret="S")
    assert (made.url, made.host, made.port) == (written, host, port)


@pytest.mark.parametrize(
    "url",
    [
        *(
            "http://a.example",
            "a.example",
            "ftp://a.example",
            "https://",
            "https://u:p@a.example",
            "https://@a.example",
        ),
        *(
            "https://a.example?x",
            "https://a.example#x",
            "https://a.example/?",
            "https://a.example:0",
            "https://a:99999",
        ),
        *(
            "https://0x7f.1",
            "https://2130706433",
            "https://127.1",
            "https://[::1",
            "https://a.example/../b",
            "https://a:",
        ),
        *(
            "https://a.example/%2e",
            "https://a.example//b",
            "https://a b",
            "https://a\n",
            "https://a.example\\b",
            None,
            5,
        ),
        *("https://b\u00fccher.example", "https://[::1%25lo]", "https://" + "a" * 1000),
    ],
)
def test_what_is_no_upstream(url: Any) -> None:
    """One sentence."""
    with pytest.raises(SandboxValidationError, match="the url must be"):
        Gateway(name="A", url=url, secret="S")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"secret": "1"}, "secret's name"),
        ({"mechanism": "digest"}, "must be one of"),
        ({"mechanism": "header"}, "names the header"),
        ({"mechanism": "header", "field": "Host"}, "no header that carries"),
        ({"mechanism": "header", "field": "A b"}, "names the header"),
        ({"mechanism": "query", "field": "a&b=c d"}, "names the query"),
        ({"field": "X"}, "no use"),
        ({"prefix": "x"}, "for the mechanism header"),
        ({"username": "x"}, "for the mechanisms basic and git"),
        ({"mechanism": "basic", "username": "a:b"}, "no colon"),
        ({"mechanism": "basic", "username": "a\r\nb"}, "printable"),
        ({"rules": "x"}, "list of at most"),
        ({"rules": [{"path": "/a", "method": "GET"}]}, "a rule is a mapping"),
        ({"rules": [{"path": "a"}]}, "path is written as"),
        ({"rules": [{"path": "/a/../b"}]}, "path is written as"),
        ({"rules": [{"path": "/a**"}]}, "path is written as"),
        ({"rules": [{"path": "/a", "methods": "GET"}]}, "methods are a list"),
        ({"rules": [{"path": "/a", "methods": ["get"]}]}, "methods are a list"),
        ({"rules": [{"path": "/a", "deny": 1}]}, "true or false"),
        ({"requests_per_minute": 0}, "whole number"),
        ({"request_bytes": True}, "whole number"),
        ({"timeout_seconds": float("nan")}, "a number from"),
        ({"upstream": "x"}, "no field 'upstream'"),
    ],
)
def test_mistakes(change: dict[str, Any], words: str) -> None:
    """Each is told with its place."""
    with pytest.raises(SandboxValidationError, match=words):
        read_gateways({"GITHUB": {**GOOD, **change}})


def test_names_of_gateways() -> None:
    """They become variables, each of which is set once."""
    for name in ("github", "1A", "", "A-B", 5, "PATH\n"):
        with pytest.raises(SandboxValidationError, match="capital letters"):
            read_gateways({name: GOOD})
    with pytest.raises(SandboxValidationError, match="two of them would set \\$A_URL"):
        read_gateways({"A": GOOD, "A_URL": GOOD})
    with pytest.raises(SandboxValidationError, match="may have"):
        read_gateways({f"A{number}": GOOD for number in range(MOST_GATEWAYS + 1)})
    for wrong in ("x", [GOOD], {"A": "x"}, {"A": {"url": "https://a.example"}}):
        with pytest.raises(SandboxValidationError):
            read_gateways(wrong)
