"""The token taken out, the credential put in, and nothing of it in answers."""

from __future__ import annotations

import base64
import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harena.core.errors import ValidationError
from harena.core.gateways import Gateway
from harena.core.secrets import OpenSecret
from harena.egress.credentials import BoundGateway, put_in, without_tokens
from harena.egress.redaction import Redaction, redacted

TOKEN = "hgt_0123456789abcdefghijklmnopqrstuv"
VALUE = "s3cr3t/+=value"


def bound(value: str = VALUE, **more: Any) -> BoundGateway:
    gateway = Gateway(name="A", url="https://a.example", secret="S", **more)
    return BoundGateway.of(gateway, TOKEN, OpenSecret(name="S", value=value, hosts=("a.example:443",)))


def basic(text: str) -> str:
    return "Basic " + base64.b64encode(text.encode()).decode()


@pytest.mark.parametrize("mechanism", ["bearer", "basic", "git"])
def test_tokens_in_authorization(mechanism: str) -> None:
    """In each form that stock clients write."""
    one = bound(mechanism=mechanism)
    for value in (f"Bearer {TOKEN}", f"token {TOKEN}", basic(f"x:{TOKEN}"), basic(f"{TOKEN}:"), f"bearer  {TOKEN} "):
        tokens, left, _ = without_tokens(one, [("authorization", value), ("accept", "*/*")], "")
        assert any(map(one.is_token, tokens)), value
        assert left == [("accept", "*/*")]
    for value in (
        "",
        "Bearer",
        f"Bearer {TOKEN[:-1]}",
        f"Bearer {TOKEN}x",
        basic(f"x{TOKEN}:"),
        "Basic !!",
        "Basic /w==",
    ):
        tokens, _, _ = without_tokens(one, [("authorization", value)], "")
        assert not any(map(one.is_token, tokens)), value


@pytest.mark.parametrize(
    ("more", "header"),
    [
        ({"mechanism": "bearer"}, ("authorization", f"Bearer {VALUE}")),
        ({"mechanism": "basic", "username": "me"}, ("authorization", basic(f"me:{VALUE}"))),
        ({"mechanism": "git"}, ("authorization", basic(f"x-access-token:{VALUE}"))),
        ({"mechanism": "header", "field": "X-Key", "prefix": "Token "}, ("x-key", f"Token {VALUE}")),
        ({"mechanism": "cookie", "field": "session"}, ("cookie", f"session={VALUE}")),
    ],
)
def test_credentials_in_headers(more: dict[str, Any], header: tuple[str, str]) -> None:
    """The one that the program gave is gone, and its cookies with it."""
    one = bound(**more)
    tried = [("authorization", "Bearer x"), ("x-key", "mine"), ("cookie", "session=mine; a=b")]
    _, left, _ = without_tokens(one, tried, "q=1")
    sent, query = put_in(one, left, "q=1")
    assert sent[-1] == header
    assert [name for name, _ in sent].count(header[0]) == 1
    assert query == "q=1"


def test_a_credential_in_the_query() -> None:
    """In place of each parameter of its name, however that is written."""
    one = bound(mechanism="query", field="api_key")
    tokens, _, query = without_tokens(one, [], f"a=1&api_key={TOKEN}&API%5Fkey=2&b=3;api_key=4&c=5")
    assert any(map(one.is_token, tokens))
    assert query == "a=1&c=5"
    assert put_in(one, [], query) == ([], "a=1&c=5&api_key=s3cr3t%2F%2B%3Dvalue")
    assert put_in(one, [], "")[1] == "api_key=s3cr3t%2F%2B%3Dvalue"


def test_a_secret_goes_to_its_hosts_only() -> None:
    """And what no header can carry is refused, without showing it."""
    gateway = Gateway(name="A", url="https://evil.example", secret="S")
    with pytest.raises(ValidationError, match=r"may not be sent to evil\.example:443") as caught:
        BoundGateway.of(gateway, TOKEN, OpenSecret(name="S", value=VALUE, hosts=("a.example:443",)))
    assert VALUE not in str(caught.value)
    for value, more in (
        ("a\r\nx: y", {}),
        ("a\nb", {"mechanism": "basic"}),
        ("\u00e9", {}),
        ("a;b", {"mechanism": "cookie", "field": "c"}),
    ):
        with pytest.raises(ValidationError, match=r"cannot carry|no cookie can carry") as caught:
            bound(value, **more)
        assert value not in str(caught.value)


def test_nothing_shows_the_credential() -> None:
    """A gateway's own representation does not."""
    one = bound()
    assert VALUE not in repr(one)
    assert TOKEN not in repr(one)


@given(st.lists(st.binary(max_size=6), max_size=30), st.data())
def test_a_credential_in_pieces_is_masked(pieces: list[bytes], data: st.DataObject) -> None:
    """Wherever an answer is cut; its length stays, and without a credential nothing changes."""
    forms = bound("abab").forms
    for place in range(data.draw(st.integers(0, 3))):
        pieces.insert(min(place * 3, len(pieces)), data.draw(st.sampled_from([b"abab", b"ab", b"a", b"b"])))
    whole = b"".join(pieces)
    redaction = Redaction(forms)
    passed = b"".join(map(redaction.passed, pieces)) + redaction.rest()
    assert len(passed) == len(whole)
    assert b"abab" not in passed
    if not any(form in whole for form in forms):
        assert passed == whole


def test_forms_of_a_credential() -> None:
    """As it is, in base64, in a query, in JSON, and as the header that was sent."""
    one = bound('k"e/y+1', mechanism="basic", username="me")
    echoed = [
        *("k%22e%2Fy%2B1", 'k\\"e/y+1', 'k"e/y+1', base64.b64encode(b'k"e/y+1').decode()),
        one.authorization,
    ]
    for text in echoed:
        assert 'k"e' not in redacted(text, one.forms)
        assert redacted(text, one.forms) != text
        redaction = Redaction(one.forms)
        assert b"*" in redaction.passed(text.encode()) + redaction.rest()


def spelled(character: str, how: int) -> str:
    """A character as some writer escapes it."""
    units = character.encode("utf-16-be").hex()
    json = "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))
    plain = "\\" + character if character in '"/\\' else character
    query = "".join(f"%{byte:02x}" for byte in character.encode())
    return (character, plain, json, json[:2] + json[2:].upper().replace("\\U", "\\u"), query, query.upper())[how]


JSON, QUERY = (1, 2, 3), (0, 4, 5)


@pytest.mark.parametrize("ways", [JSON, QUERY])
@given(hows=st.lists(st.integers(0, 2), min_size=9, max_size=9), cuts=st.lists(st.integers(0, 60), max_size=4))
def test_each_character_may_be_escaped_in_its_own_way(ways: tuple[int, ...], hows: list[int], cuts: list[int]) -> None:
    """Writers differ in what they escape and how; wherever the answer is cut, not a part of the credential is told."""
    value = 'k"/y+\\1\u00e9\U0001f511'
    one = bound(value, mechanism="basic", username="me")
    text = "".join(spelled(character, ways[how]) for character, how in zip(value, hows, strict=True)).encode()
    whole = b"[" + text + b"] is \\\\ it; 100% \\u00e9"
    places = sorted({0, len(whole), *(min(cut, len(whole)) for cut in cuts)})
    redaction = Redaction(one.forms)
    passed = b"".join(redaction.passed(whole[a:b]) for a, b in itertools.pairwise(places)) + redaction.rest()
    assert passed == b"[" + b"*" * len(text) + b"] is \\\\ it; 100% \\u00e9"
    assert redacted(f"a {text.decode()} b", one.forms) == "a [redacted] b"


@pytest.mark.parametrize(
    "text",
    [
        "ghp\\/ab+cd&ef",
        "ghp/ab\\u002Bcd\\u0026ef",
        "ghp%2fab%2bcd%26ef",
        "ghp%2Fab%2bcd%26ef",
        "ghp\\u00252fab%2bcd%26ef",
    ],
)
def test_forms_that_common_writers_use(text: str) -> None:
    """Those of PHP, .NET and Go, and of a query within JSON; a slash in base64, too."""
    one = bound("ghp/ab+cd&ef")
    redaction = Redaction(one.forms)
    assert redaction.passed(text.encode()) + redaction.rest() == b"*" * len(text)


def test_a_credential_in_base64_in_json() -> None:
    """Its slashes are escaped there."""
    value = "???>>>~~~"
    coded = base64.b64encode(value.encode()).decode()
    assert "/" in coded
    assert redacted(coded.replace("/", "\\/"), bound(value).forms) == "[redacted]"


def test_what_may_be_an_escape_is_held_back_no_longer_than_that() -> None:
    """A piece that ends within an escape waits for its end, and another one for nothing."""
    redaction = Redaction(bound("\u00e9aaaa", mechanism="basic", username="me").forms)
    assert [redaction.passed(piece) for piece in (b"x\\", b"u00", b"e8y", b"%", b"4", b"1z", b"\\\\")] == [
        *(b"x", b"", b"\\u00e8y", b"", b"", b"%41z", b"\\\\")
    ]
    assert redaction.rest() == b""
