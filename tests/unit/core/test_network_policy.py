"""What a sandbox may reach, as it is written, and the rules that follow."""

from __future__ import annotations

import ipaddress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harena.core.errors import SandboxValidationError
from harena.core.network_policy import (
    MOST_ENTRIES,
    NO_NETWORK,
    OPEN_NETWORK,
    PRESETS,
    NetworkPolicy,
    is_special,
    read_host,
    read_policy,
)


def allowed(policy: NetworkPolicy, host: str, port: int = 443) -> bool:
    return policy.decide(read_host(host), port).allowed


def reached(policy: NetworkPolicy, address: str, port: int = 443, *, is_own: bool = False) -> bool:
    return policy.decide_address(ipaddress.ip_address(address), port, is_own=is_own).allowed


WRITTEN = [
    "none", "open", {"allow": []}, {"allow": ["pypi", "a.org:8443"], "deny": ["b.org"]},
    {"allow": ["*"], "proxy_only": True},
]  # fmt: skip


@pytest.mark.parametrize("written", WRITTEN)
def test_a_policy_is_written_as_it_was_read(written: object) -> None:
    policy = read_policy(written)
    assert policy.to_json() == written
    assert read_policy(policy) is policy


def test_none_is_no_network_and_an_empty_list_is_one_that_reaches_nothing() -> None:
    assert read_policy(None) == NO_NETWORK
    assert not NO_NETWORK.is_on
    empty = read_policy({"allow": []})
    assert empty.is_on
    assert not allowed(empty, "example.org")


WRONG = [
    5, "pypi", {"deny": ["a.org"]}, {"allow": "pypi"}, {"allow": [5]}, {"allow": [""]}, {"allow": ["a b"]},
    {"allow": ["http://a.org"]}, {"allow": ["a.org/x"]}, {"allow": ["a.org:"]}, {"allow": ["a.org:0"]},
    {"allow": ["a.org:65536"]}, {"allow": ["a.org:٤٤٣"]}, {"allow": ["*.*.org"]}, {"allow": ["a.*.org"]},
    {"allow": ["*org"]}, {"allow": ["0x7f.1"]}, {"allow": ["2130706433"]}, {"allow": ["127.1"]},
    {"allow": ["*.127.0.0.1"]}, {"allow": ["[::1"]}, {"allow": ["[::1]x"]}, {"allow": ["10.0.0.0/33"]},
    {"allow": ["-a.org"]}, {"allow": ["a..org"]}, {"allow": ["x" * 64 + ".org"]}, {"allow": [], "open": True},
    {"allow": ["a.org"] * (MOST_ENTRIES + 1)}, {"allow": [], "proxy_only": 1},
    {"allow": [f"a.org:{9000 + each}" for each in range(17)]},
]  # fmt: skip


@pytest.mark.parametrize("written", WRONG)
def test_what_is_no_policy_is_refused_with_words(written: object) -> None:
    with pytest.raises(SandboxValidationError, match="network"):
        read_policy(written)


def test_hosts_are_allowed_at_the_ports_of_the_web_or_at_those_that_are_named() -> None:
    policy = read_policy({"allow": ["a.org", "b.org:8443", "*.c.org", "D.org."]})
    assert allowed(policy, "a.org", 80)
    assert allowed(policy, "A.ORG.", 443)
    assert not allowed(policy, "a.org", 22)
    assert allowed(policy, "b.org", 8443)
    assert not allowed(policy, "b.org", 443)
    assert allowed(policy, "x.y.c.org")
    assert not allowed(policy, "c.org")
    assert not allowed(policy, "xc.org")
    assert allowed(policy, "d.org")
    assert not allowed(policy, "a.org.evil.org")
    assert policy.own_ports == (8443,)
    assert policy.listens_at == (80, 443, 8443)


def test_presets_are_the_hosts_that_installs_need() -> None:
    policy = read_policy({"allow": ["pypi", "npm", "apt"]})
    assert all(allowed(policy, host) for hosts in PRESETS.values() for host in hosts)
    assert not allowed(policy, "upload.pypi.org")
    assert not allowed(policy, "pypi")


def test_the_page_says_what_the_hosts_of_a_preset_take() -> None:
    """Each preset is in both of its tables: with its hosts, and with what these take from programs."""
    page = (Path(__file__).parents[3] / "docs/how-to/network.md").read_text()
    for name, hosts in PRESETS.items():
        assert f"| `{name}` | {', '.join(hosts)} |" in page
    _, _, taken = page.partition("| preset | what its hosts take |")
    assert all(f"\n| `{name}` | " in taken for name in PRESETS)


def test_deny_takes_from_what_is_allowed() -> None:
    policy = read_policy({"allow": ["*", "10.0.0.0/8"], "deny": ["*.bad.org", "a.org:80", "10.9.0.0/16", "9.9.9.9"]})
    assert not allowed(policy, "x.bad.org")
    assert not policy.allows_name("x.bad.org")
    assert allowed(policy, "bad.org")
    assert not allowed(policy, "a.org", 80)
    assert allowed(policy, "a.org", 443)
    assert policy.allows_name("a.org")
    assert reached(policy, "10.1.2.3")
    assert not reached(policy, "10.9.2.3")
    assert not reached(policy, "9.9.9.9")
    assert not allowed(policy, "9.9.9.9")


CARRYING_10_9_2_3 = [
    "::ffff:10.9.2.3", "::10.9.2.3", "64:ff9b::a09:203", "64:ff9b:1::a09:203", "2002:a09:203::1",
    "2001:0:808:808::f5f6:fdfc", "2606:4700::5efe:a09:203", "2606:4700::200:5efe:a09:203",
]  # fmt: skip


@pytest.mark.parametrize("address", CARRYING_10_9_2_3)
def test_deny_holds_for_what_an_address_carries(address: str) -> None:
    everything: dict[str, list[str]] = {"allow": ["*", "0.0.0.0/0", "::/0"]}
    assert reached(read_policy(everything), address)
    for denied, port, is_denied in (
        *[("10.9.0.0/16", 443, True), ("10.9.2.3:443", 443, True), ("10.9.2.3:443", 80, False)],
        ("10.8.0.0/16", 443, False),
    ):
        policy = read_policy({**everything, "deny": [denied]})
        assert allowed(policy, f"[{address}]", port) != is_denied
        assert reached(policy, address, port) != is_denied


def test_open_is_every_public_host_but_no_mail() -> None:
    assert allowed(OPEN_NETWORK, "a.org", 8080)
    assert allowed(OPEN_NETWORK, "93.184.216.34")
    assert not allowed(OPEN_NETWORK, "a.org", 25)
    assert OPEN_NETWORK.listens_at == (80, 443)


SPECIAL = [
    "0.0.0.0", "10.0.0.1", "100.64.0.1", "100.100.100.200", "127.0.0.1", "127.255.255.254", "169.254.169.254",
    "172.16.0.1", "172.31.255.255", "192.0.0.192", "192.168.1.1", "198.18.0.1", "203.0.113.80", "224.0.0.1",
    "239.255.255.250", "255.255.255.255", "168.63.129.16", "::", "::1", "fe80::1", "fec0::1", "fc00::1",
    "fd00:ec2::254", "ff02::1", "::ffff:8.8.8.8", "::ffff:127.0.0.1", "::127.0.0.1", "64:ff9b::7f00:1",
    "64:ff9b::808:808", "64:ff9b:1::a00:1", "2002:7f00:1::", "2002:a00:1::1", "2001::1", "2001:db8::1", "100::1",
    "2606:4700::5efe:a00:1", "2606:4700::200:5efe:7f00:1",
]  # fmt: skip


@pytest.mark.parametrize("address", SPECIAL)
def test_addresses_that_are_not_public_are_reached_only_where_they_are_named(address: str) -> None:
    assert is_special(ipaddress.ip_address(address))
    assert not reached(OPEN_NETWORK, address)
    assert not reached(read_policy({"allow": ["a.org", "8.8.8.8"]}), address)


@pytest.mark.parametrize(
    ("allow", "refused"),
    [
        (["a.org", "pypi", "*", "8.8.8.8", "2606:4700::1"], None),
        (["0.0.0.0/0", "::/0", "8.0.0.0/6", "2000::/3"], None),
        (["10.1.0.0/24"], None),
        (["10.0.0.0/8"], None),
        (["a.org", "10.2.0.0/16:5000"], "10.2.0.0/16"),
        (["127.0.0.1"], "127.0.0.1/32"),
        (["169.254.169.254:80"], "169.254.169.254/32"),
        (["::1"], "::1/128"),
        (["64:ff9b::a01:1"], "64:ff9b::a01:1/128"),
        (["2002:7f00:1::/48"], "2002:7f00:1::/48"),
    ],
)
def test_entries_that_lead_nowhere_on_a_server_are_told_before_any_work(allow: list[str], refused: str | None) -> None:
    """Those without a public address and without one that its operator permits."""
    why = read_policy({"allow": allow}).why_refused([ipaddress.ip_network("10.1.0.0/16")])
    assert why is None if refused is None else why is not None and why.startswith(f"{refused} in allow"), why
    assert read_policy({"allow": allow}).why_refused(None) is None


def test_a_servers_operator_says_which_addresses_of_its_network_policies_may_name() -> None:
    policy = read_policy({"allow": ["0.0.0.0/0", "::/0"]})
    permitted = [ipaddress.ip_network("10.1.0.0/16")]

    def allowed_there(address: str, *, is_own: bool = False) -> bool:
        found = policy.decide_address(ipaddress.ip_address(address), 443, is_own=is_own, permitted=permitted)
        assert found.allowed or "--network-allow" in found.reason
        return found.allowed

    assert allowed_there("10.1.2.3")
    assert allowed_there("8.8.8.8")
    for address in ("127.0.0.1", "10.2.0.1", "169.254.169.254", "::1", "::ffff:127.0.0.1", "64:ff9b::a02:1"):
        assert not allowed_there(address), address
    assert not allowed_there("8.8.8.8", is_own=True)


@pytest.mark.parametrize("address", ["8.8.8.8", "1.1.1.1", "2606:4700::1111", "172.32.0.1", "100.128.0.1"])
def test_public_addresses_are_reached_by_allowed_hosts(address: str) -> None:
    assert reached(OPEN_NETWORK, address)
    assert not reached(OPEN_NETWORK, address, is_own=True)
    assert reached(
        read_policy({"allow": ["a.org", address if "." in address else f"[{address}]"]}), address, is_own=True
    )


def test_a_named_range_of_a_form_does_not_name_what_the_form_carries() -> None:
    policy = read_policy({"allow": ["a.org", "64:ff9b::/96", "::ffff:0:0/96"]})
    assert reached(policy, "64:ff9b::808:808")
    assert not reached(policy, "64:ff9b::7f00:1")
    assert not reached(policy, "::ffff:10.0.0.1")
    assert reached(read_policy({"allow": ["64:ff9b::/96", "127.0.0.0/8"]}), "64:ff9b::7f00:1")


ODD = [
    "0x7f.1", "0x7f000001", "2130706433", "127.1", "0177.0.0.1", "127.0.0.01", "1.2.3.4.5", "::1", "[::1",
    "[fe80::1%eth0]", "", ".", "a b", "a\r\nb", "a/b", "a@b", "a:b", "[127.0.0.1]", "x.0x", "x.1",
]  # fmt: skip


@pytest.mark.parametrize("text", ODD)
def test_odd_forms_of_hosts_are_no_hosts(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - ipaddress says it in its own words
        read_host(text)


def test_names_have_one_form() -> None:
    assert read_host("EXAMPLE.org.") == "example.org"
    assert read_host("bücher.example") == "xn--bcher-kva.example"
    assert read_host("[::FFFF:127.0.0.1]") == ipaddress.ip_address("::ffff:127.0.0.1")
    assert str(read_host("8.8.8.8")) == "8.8.8.8"


@given(st.text(max_size=300))
def test_any_text_is_a_host_or_a_value_error(text: str) -> None:
    try:
        host = read_host(text)
    except ValueError:
        return
    assert isinstance(host, str) == (not hasattr(host, "version"))
    if isinstance(host, str):
        assert read_host(host) == host


def test_a_refusal_names_the_host_the_policy_and_what_to_do() -> None:
    reason = read_policy({"allow": ["pypi"]}).decide("evil.org", 443).reason
    assert all(word in reason for word in ("evil.org:443", "pypi", "set_network"))


@pytest.mark.parametrize("ignored", ["\u00ad" * 800, "\u00ad" * 300, "u\u0308" * 500])
def test_names_and_entries_are_as_long_as_names_may_be(ignored: str) -> None:
    """Letters that count for nothing would make short names of texts of any length."""
    with pytest.raises(ValueError, match="no host name"):
        read_host(f"a.{ignored}org")
    with pytest.raises(SandboxValidationError, match="is no entry"):
        read_policy({"allow": [f"a.{ignored}org"]})
    longest = ".".join(["a" * 63] * 3 + ["b" * 61])
    assert allowed(read_policy({"allow": [f"*.{longest}.:65535"]}), f"{longest}.") is False
    assert allowed(read_policy({"allow": [f"{longest}.:65535"]}), f"{longest}.", 65535)


def test_names_in_other_letters_have_a_bound_for_the_whole_policy() -> None:
    """What they are read as takes time: 400 long ones held a server's event loop for a quarter of a second."""
    some = [f"bücher{number}.example" for number in range(50)]
    assert allowed(NetworkPolicy(allow=some), "xn--bcher7-3ya.example")
    long = [".".join(["一" * 55] * 4)] * 10
    with pytest.raises(SandboxValidationError, match=r"2230 characters together, and 2000 are possible: .*xn--"):
        NetworkPolicy(allow=long[:5], deny=long[5:])
