"""What a blueprint takes over of another, and what its images are called."""

from __future__ import annotations

from harena.core.blueprint_recipes import read_recipe
from harena.core.daemons import Daemon
from harena.core.network_policy import read_policy
from harena.core.records.blueprints import Blueprint
from harena.core.records.sandboxes import Limits
from harena.sdk.blueprint_builds import is_reference_of, not_taken_over, reference_of

BASE = Blueprint(
    id="bp_1",
    name="web",
    image="sha256:1",
    profile="machine",
    network=read_policy({"allow": ["pypi"]}),
    daemons=(Daemon(name="db", command=("redis-server",)),),
    limits=Limits(pids=64),
)
SMALL = {"name": "mine", "base": {"blueprint": "web"}}


def test_what_a_base_has_and_a_recipe_does_not_say_is_named() -> None:
    assert "not its profile machine; network; limits; daemons db:" in not_taken_over(read_recipe(SMALL), BASE)


def test_nothing_is_named_where_the_recipe_says_it_or_the_base_has_none() -> None:
    said = {
        "profile": "machine",
        "network": "open",
        "limits": {"cpu": 1},
        "daemons": [{"name": "other", "command": ["x"]}],
    }
    assert not_taken_over(read_recipe({**SMALL, **said}), BASE) == ""
    assert not_taken_over(read_recipe(SMALL), Blueprint(id="bp_2", name="plain", image="sha256:2")) == ""


def test_an_images_reference_names_its_blueprint() -> None:
    reference = reference_of("web-agent")
    assert reference.startswith("localhost/harena-blueprints:web-agent-")
    assert is_reference_of("web-agent", reference)
    for other in ("web", "agent", "web-agen", "web.agent"):
        assert not is_reference_of(other, reference)
