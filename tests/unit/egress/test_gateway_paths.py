"""Targets of requests to gateways, and the rules that let them through."""

from __future__ import annotations

import re
from urllib.parse import quote, unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harena.core.gateways import GatewayRule
from harena.egress.gateway_paths import MOST_TARGET, RefusedTargetError, allows, matches, read_target


@pytest.mark.parametrize(
    ("target", "path", "query"),
    [
        (b"/", "/", ""),
        (b"/a/b/", "/a/b/", ""),
        (b"/%61%2Db?x=%2e%2e/../", "/a-b", "x=%2e%2e/../"),
        (b"/@scope%2fname", "/@scope%2Fname", ""),
        (b"/%e2%82%ac", "/%E2%82%AC", ""),
        (b"/a;v=1/b", "/a;v=1/b", ""),
        (b"/100%25", "/100%25", ""),
    ],
)
def test_a_target_has_one_form(target: bytes, path: str, query: str) -> None:
    """What need not be encoded is not; what is encoded is so in one way."""
    read = read_target(target)
    assert (read.path, read.query) == (path, query)
    assert read_target(read.path.encode()).path == read.path


@pytest.mark.parametrize(
    "target",
    [
        *(b"http://evil.example/", b"https://evil.example/", b"//evil.example/x", b"*", b"", b"evil.example:443"),
        *(b"/..", b"/a/../b", b"/a/./b", b"/.", b"/%2e%2e/a", b"/%2E./a", b"/.%2e", b"/a/..;/b", b"/a/..;x=1/b"),
        *(b"/a//b", b"//", b"/a%2f%2fb", b"/a%2f..%2fb", b"/a%2F%2e%2e%2Fb", b"/a%2f.", b"/a;%2f../b"),
        *(b"/a\\b", b"/a%5cb", b"/a%5C..%5Cb", b"/%252e%252e/a", b"/a%252fb", b"/%25%32%65", b"/%c0%ae%c0%ae/a"),
        *(b"/a%00b", b"/a%0d%0ab", b"/a\x00", b"/a b", b"/a\tb", b"/a#b", b"/a%", b"/a%2", b"/a%zz", b"/\xe9"),
        *(b"/%ef%bc%8e%ef%bc%8e/a", b"/a%ef%bc%8fb", b"/%e2%80%a4%e2%80%a4/a", b"/a%ff", b"/<x>", b'/"'),
        *(b"/a%ef%bc%9bb", b"/" + b"a" * MOST_TARGET, b"/" + b"a/" * 65, b"/;/a", b"/;x"),
    ],
)
def test_targets_that_are_not_forwarded(target: bytes) -> None:
    """Each of these is one path for one server, and another one for the next."""
    with pytest.raises(RefusedTargetError):
        read_target(target)


@given(st.binary(max_size=40))
def test_no_form_climbs(target: bytes) -> None:
    """Whatever is let through has no dots to climb with, in any reading, and is ASCII without a space."""
    try:
        read = read_target(b"/" + target)
    except RefusedTargetError:
        return
    assert re.fullmatch(r"/[!-~]*", read.path)
    decoded = unquote(unquote(read.path)).replace("\\", "/")
    assert not {".", ".."} & {part.partition(";")[0] for part in decoded.split("/")}
    assert "//" not in decoded


PARTS = st.lists(st.text("abA.-;%/ \u00e9", min_size=1, max_size=5), min_size=1, max_size=5)


@given(PARTS)
def test_an_encoded_name_is_matched_as_it_is(parts: list[str]) -> None:
    """A rule for everything lets all through; one for another tree, nothing."""
    try:
        read = read_target(("/" + "/".join(quote(part, safe=";") for part in parts)).encode())
    except RefusedTargetError:
        return
    assert allows([GatewayRule(path="/**")], "GET", read)
    assert not allows([GatewayRule(path="/other/**")], "GET", read)
    assert not allows([GatewayRule(path="/**", deny=True)], "GET", read)


@pytest.mark.parametrize(
    ("pattern", "path", "fits"),
    [
        *[("/", "/", True), ("/", "/a", False), ("/**", "/", True), ("/**", "/a/b", True), ("/a", "/a/", True)],
        *[("/a/*", "/a/b", True), ("/a/*", "/a", False), ("/a/*", "/a/b/c", False), ("/a/**", "/a", True)],
        *[("/a/**/z", "/a/z", True), ("/a/**/z", "/a/b/z/y/z", True), ("/a/**/z", "/a/b", False)],
        *[("/**/x/**/y", "/x/x/y", True), ("/**/x/**/y", "/y/x", False), ("/*.git/**", "/r.git/info/refs", True)],
        *[("/a*b*c", "/abc", True), ("/a*b*c", "/axxbxbxc", True), ("/a*b*c", "/acb", False), ("/A", "/a", False)],
        *[("/ab*ba", "/aba", False), ("/**/b/c/**", "/b/b/c", True)],
    ],
)
def test_patterns(pattern: str, path: str, fits: bool) -> None:
    """`*` stays within a part, `**` does not."""
    GatewayRule(path=pattern)
    assert matches(pattern, read_target(path.encode()).readings[0]) is fits


@given(st.lists(st.sampled_from(["a", "b", "*", "**"]), max_size=6), st.lists(st.sampled_from("ab"), max_size=6))
def test_patterns_fit_as_an_expression_does(pattern: list[str], parts: list[str]) -> None:
    """The same answer as of a regular expression, in time that does not grow with powers."""
    written = "".join("(?:/[^/]*)*" if each == "**" else "/[^/]*" if each == "*" else f"/{each}" for each in pattern)
    path = "".join(f"/{each}" for each in parts)
    assert matches("/" + "/".join(pattern), tuple(parts)) is bool(re.fullmatch(written, path))


def test_rules() -> None:
    """What a rule allows and none denies; a denial counts for small and capital letters, and GET is HEAD, too."""
    rules = [
        GatewayRule(path="/repos/me/**", methods=("GET", "POST")),
        GatewayRule(path="/repos/me/keys/**", deny=True),
    ]
    let = [("GET", b"/repos/me/x"), ("HEAD", b"/repos/me/x"), ("POST", b"/repos/me")]
    assert [allows(rules, method, read_target(target)) for method, target in let] == [True] * 3
    not_let = [
        *[("PUT", b"/repos/me/x"), ("GET", b"/repos/you/x"), ("GET", b"/Repos/me/x"), ("GET", b"/repos/me/keys/1")],
        *[("GET", b"/repos/me/KEYS/1"), ("GET", b"/repos/me/keys"), ("GET", b"/repos/me/%6beys/1")],
        *[("GET", b"/repos/me%2fkeys/1"), ("GET", b"/repos/me/keys;v=1/1"), ("GET", b"/repos%2Fyou%2Fx")],
    ]
    assert [allows(rules, method, read_target(target)) for method, target in not_let] == [False] * 10
    assert allows([], "DELETE", read_target(b"/anything"))


def test_an_encoded_slash_is_allowed_in_both_readings_only() -> None:
    """A part that holds a slash for one server is two parts for another one."""
    one = [GatewayRule(path="/pkg/*")]
    assert not allows(one, "GET", read_target(b"/pkg/@s%2fname"))
    both = [*one, GatewayRule(path="/pkg/*/*")]
    assert allows(both, "GET", read_target(b"/pkg/@s%2fname"))
