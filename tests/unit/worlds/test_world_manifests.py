"""What a world's manifest may say: each field is checked, and every mistake is named."""

from __future__ import annotations

from typing import Any

import pytest

from harena import WorldManifest
from harena.core.errors import ValidationError
from harena.core.worlds import SIZES

WRONG: dict[str, list[Any]] = {
    "name": ["", "-a", "a b", "a" * 129, 3, None, "é"],
    "preset": ["huge", "", 3, None, ["small"]],
    "seed": [-1, 2**31, 1.0, True, "1"],
    "num_users": [5, 10_001, 20.0, True, "20"],
    "num_hosts": [3, 2001, 10.0, False, "10"],
    "domains": [[], ["a"] * 2, ["A"], ["a."], [""], ["-a"], ["a-"], "alpha", [1], [str(n) for n in range(17)], {}],
}


@pytest.mark.parametrize(("field", "value"), [(field, value) for field, values in WRONG.items() for value in values])
def test_a_wrong_field_is_named(field: str, value: Any) -> None:
    """It and no other one."""
    given = {"name": "w", "preset": "small", field: value}
    with pytest.raises(ValidationError) as refused:
        WorldManifest.checked(given)
    _, *told = str(refused.value).split("\n  ")
    assert [line.partition(":")[0].partition("[")[0] for line in told] == [field]


def test_all_mistakes_are_listed_at_once() -> None:
    with pytest.raises(ValidationError) as refused:
        WorldManifest.checked({"name": "", "preset": "huge", "seed": -1, "domains": ["X"], "hosts": 3})
    told = str(refused.value)
    assert all(f"\n  {field}" in told for field in ("name", "preset", "seed", "domains[0]", "'hosts'"))
    assert "did you mean 'num_hosts'?" in told


def test_each_domain_needs_hosts_and_users() -> None:
    given = {"name": "w", "domains": ["a", "b", "c"], "num_hosts": 11, "num_users": 17}
    with pytest.raises(ValidationError, match="num_hosts: must be a whole number from 12") as refused:
        WorldManifest.checked(given)
    assert "num_users: must be a whole number from 18" in str(refused.value)
    assert WorldManifest.checked({**given, "num_hosts": 12, "num_users": 18}).num_hosts == 12


@pytest.mark.parametrize("preset", SIZES)
def test_a_preset_says_what_was_left_out(preset: Any) -> None:
    manifest, size = WorldManifest.checked({"name": "w", "preset": preset}), SIZES[preset]
    assert (manifest.num_hosts, manifest.num_users, len(manifest.domains)) == (size.hosts, size.users, size.domains)
    assert manifest.seed == 0
    assert WorldManifest.from_dict(manifest.to_dict()) == manifest


def test_a_record_cannot_be_made_with_mistakes() -> None:
    """Whoever makes one otherwise than by `checked` is held to the same."""
    good = WorldManifest.checked({"name": "w"}).to_dict()
    with pytest.raises(ValidationError, match="num_users"):
        WorldManifest(**{**good, "num_users": 0})
