"""What a definition and a run of it add up to."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harena.core.errors import ValidationError
from harena.jobs.definitions import checked_fields, merged, without_secret

VALUES = st.one_of(st.none(), st.integers(), st.text(max_size=5), st.lists(st.integers(), max_size=3))
FIELDS = st.dictionaries(st.sampled_from(["scenarios", "candidates", "format", "blueprint_id", "name"]), VALUES)
CONFIG = st.dictionaries(st.sampled_from(["concurrency", "attempts", "priority"]), VALUES)


def with_config(fields: dict[str, Any], config: dict[str, Any] | None) -> dict[str, Any]:
    """Fields of a request."""
    return fields if config is None else {**fields, "config": config}


REQUESTS = st.builds(with_config, FIELDS, st.one_of(st.none(), CONFIG))


@given(REQUESTS, REQUESTS)
def test_what_is_given_wins_and_the_rest_stays(kept: dict[str, Any], overrides: dict[str, Any]) -> None:
    """Field by field, and within `config` key by key; nothing is invented and nothing changed in place."""
    before = (repr(kept), repr(overrides))
    whole = merged(kept, overrides, name="def")
    assert (repr(kept), repr(overrides)) == before
    assert set(whole) == {"name", *kept, *overrides}
    for field in set(whole) - {"config", "name"}:
        assert whole[field] == (overrides[field] if field in overrides else kept[field])
    assert whole.get("config", {}) == {**kept.get("config", {}), **overrides.get("config", {})}
    assert whole["name"] == overrides.get("name", kept.get("name", "def")) or None in (
        *(overrides.get("name", 0), kept.get("name", 0)),
    )


@given(REQUESTS, REQUESTS)
def test_merging_twice_changes_nothing(kept: dict[str, Any], overrides: dict[str, Any]) -> None:
    """A run that is asked for again is the same run."""
    once = merged(kept, overrides, name="def")
    assert merged(once, overrides, name="other") == once
    assert merged(kept, {}, name="def") == {"name": "def", **kept}


def test_what_is_no_mapping_is_left_for_the_check() -> None:
    """It is not mixed with what is kept; no config is no override."""
    kept = {"config": {"attempts": 2}}
    assert merged(kept, {"config": None}, name="d")["config"] == {"attempts": 2}
    assert merged(kept, {"config": 3}, name="d")["config"] == 3
    webhook = {"webhook": {"url": "http://a", "secret": "s"}}
    assert merged(webhook, {"webhook": {"url": "http://b"}}, name="d")["webhook"] == {"url": "http://b"}
    assert merged(webhook, {"webhook": None}, name="d")["webhook"] is None


def test_a_definition_keeps_what_was_given_and_nothing_more() -> None:
    """A default of a later version is a run's own; the order of keys says nothing."""
    given_fields = {"config": {"timeout_seconds": 5, "attempts": 2}, "blueprint_id": "env", "name": "job"}
    kept = checked_fields(given_fields)
    assert kept == {"blueprint_id": "env", "config": {"attempts": 2, "timeout_seconds": 5.0}, "name": "job"}
    assert list(kept) == sorted(kept)
    assert list(checked_fields({"config": {"attempts": 2, "timeout_seconds": 5}})["config"]) == list(kept["config"])
    assert checked_fields({}) == {}


@pytest.mark.parametrize("request_", [None, 3, "x", ["scenarios"]])
def test_what_is_no_mapping_is_no_definition(request_: object) -> None:
    """Said with its type."""
    with pytest.raises(ValidationError, match="must be a mapping of a job's fields"):
        checked_fields(request_)


def test_every_mistake_is_listed() -> None:
    """Under the heading of a definition."""
    with pytest.raises(ValidationError) as refused:
        checked_fields({"config": {"attempts": 0, "atempts": 1}, "scenarios": 3, "more": 1, "definition": "x"})
    assert str(refused.value).startswith("this definition cannot be stored:\n")
    for said in ("config.attempts", "config.atempts", "scenarios: ", "more: unknown key", "definition: unknown key"):
        assert said in str(refused.value)


def test_a_secret_is_not_shown() -> None:
    """Whether there is one is."""
    content = {"request": {"webhook": {"url": "http://x", "secret": "whsec_x"}, "name": "n"}}
    assert without_secret(content) == {"request": {"webhook": {"url": "http://x", "signed": True}, "name": "n"}}
    assert without_secret({"request": {"webhook": {"url": "http://x"}}}) == {
        "request": {"webhook": {"url": "http://x", "signed": False}}
    }
    assert without_secret({"request": {}}) == {"request": {}}
